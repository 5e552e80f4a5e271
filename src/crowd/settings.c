/* What a run in the database is called, and the settings that it has there. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "crowd/coordinator.h"
#include "train/folder.h"

enum { TIMEOUT_MS = 60000 };

/* The last part of the folder's path, with other characters as "-". */
static void name_of(const char *run, char name[LEAT_CROWD_NAME_BYTES]) {
    size_t end = strlen(run), length = 0;
    while (end > 1 && run[end - 1] == '/') end--;
    size_t begin = end;
    while (begin > 0 && run[begin - 1] != '/') begin--;
    for (size_t i = begin; i < end && length < LEAT_CROWD_NAME_BYTES - 1; i++)
        name[length++] = strchr(LEAT_CROWD_NAME_CHARACTERS, run[i]) != NULL ? run[i] : '-';
    if (length == 0) memcpy(name, "run", length = 3);
    name[length] = 0;
}

leat_code leat_coordinator_name(const char *name, const char *run, char out[LEAT_CROWD_NAME_BYTES],
                                leat_error *err) {
    name_of(run, out);
    if (name == NULL) return LEAT_OK;
    if (name[0] == 0 || strlen(name) >= LEAT_CROWD_NAME_BYTES ||
        name[strspn(name, LEAT_CROWD_NAME_CHARACTERS)] != 0)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "name: \"%.80s\" is not 1 to %d letters, digits, \".\", \"_\" or \"-\"",
                         name, LEAT_CROWD_NAME_BYTES - 1);
    memcpy(out, name, strlen(name) + 1);
    return LEAT_OK;
}

/* LEAT_OK: nothing that the database knows differs. */
static leat_code compare(const leat_coordinator *self, const leat_store_run *run, leat_error *err) {
    const leat_identity *here = &self->session.identity;
    leat_identity there = *here;
    json_t *settings = NULL;
    snprintf(there.model, sizeof there.model, "%s", run->model);
    snprintf(there.model_hash, sizeof there.model_hash, "%s", run->model_hash);
    snprintf(there.data, sizeof there.data, "%s", run->data);
    snprintf(there.kernel_class, sizeof there.kernel_class, "%s", run->kernel_class);
    LEAT_TRY(
        leat_json_parse(run->settings, (int64_t)strlen(run->settings), "settings", &settings, err));
    const leat_code code =
        leat_identity_compare(here, &self->options->train, &there, settings, err);
    json_decref(settings);
    return code;
}

leat_code leat_coordinator_refuse_run(const leat_coordinator *self, const leat_store_run *run,
                                      leat_error *err) {
    leat_error why = {0};
    if (compare(self, run, &why) == LEAT_OK)
        snprintf(why.message, sizeof why.message,
                 "cannot resume: the initial weights (--init) are others than those the run began "
                 "with");
    return leat_fail(err, LEAT_ERR_OPTION,
                     "the run \"%.64s\" in the database: %.300s; to begin another run, use another "
                     "--name",
                     run->name, why.message);
}

static leat_code read_settings(leat_pg *pg, const char *name, leat_train_options *train,
                               leat_error *err) {
    leat_store_run run;
    leat_pg_rows *rows = NULL;
    LEAT_TRY(leat_store_find_run(pg, name, &run, &rows, err));
    const leat_code code = leat_settings_read(run.settings, train, err);
    leat_pg_rows_destroy(rows);
    return code;
}

leat_code leat_coordinate_settings(const leat_coordinate_options *options, const char *run,
                                   leat_train_options *train, leat_error *err) {
    char name[LEAT_CROWD_NAME_BYTES];
    leat_pg_place place;
    leat_pg *pg = NULL;
    LEAT_TRY(leat_coordinator_name(options->name, run, name, err));
    if (strcmp(options->url, LEAT_LOCAL_URL) == 0) /* it lies in the folder, and is lost with it */
        return leat_fail(err, LEAT_ERR_NOT_FOUND, "a private database has no other folder's run");
    LEAT_TRY(leat_pg_place_parse(&place, options->url, err));
    LEAT_TRY(leat_pg_connect(&pg, &place, "leat coordinate", TIMEOUT_MS, NULL, err));
    const leat_code code = read_settings(pg, name, train, err);
    leat_pg_close(pg);
    return code;
}
