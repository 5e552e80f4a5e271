/* What a run in the database is called, and the settings that it has there. */
#include <string.h>

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
