/* What a run in the database is called, and the settings that it has there. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "crowd/coordinator.h"
#include "crowd/local.h"
#include "train/run/folder.h"

enum { TIMEOUT_MS = 60000, PAUSE_MOST_MS = 10000 };

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

void leat_coordinator_name_values(leat_coordinator *self) {
    const leat_value *values = self->session.task->model->values;
    size_t length = 0;
    for (int i = 0; values[i].name != NULL; i++, self->value_count++) {
        const size_t left = sizeof self->value_names - length;
        LEAT_ASSERT(strlen(values[i].name) + 2 < left);
        length += (size_t)snprintf(self->value_names + length, left, i > 0 ? " %s" : "%s",
                                   values[i].name);
    }
}

/* ---- the run of this name -------------------------------------------------------------------- */

/* LEAT_OK: nothing that the database knows differs. */
static leat_code compare(const leat_coordinator *self, const leat_database_run *run,
                         leat_error *err) {
    const leat_identity *here = &self->session.identity;
    leat_identity there = *here;
    json_t *settings = NULL;
    snprintf(there.model, sizeof there.model, "%s", run->model);
    snprintf(there.model_hash, sizeof there.model_hash, "%s", run->model_hash);
    snprintf(there.data, sizeof there.data, "%s", run->data);
    snprintf(there.kernel_class, sizeof there.kernel_class, "%s", run->kernel_class);
    LEAT_TRY(
        leat_json_parse(run->settings, (int64_t)strlen(run->settings), "settings", &settings, err));
    const leat_code code = leat_identity_compare(here, &self->session.all, &there, settings, err);
    json_decref(settings);
    return code;
}

static leat_code refuse_run(const leat_coordinator *self, const leat_database_run *run,
                            leat_error *err) {
    leat_error why = {0};
    if (compare(self, run, &why) == LEAT_OK)
        snprintf(why.message, sizeof why.message,
                 "cannot resume: the initial weights (--init) are others than those the run began "
                 "with; name those, or leave out --init if there were none");
    return leat_fail(err, LEAT_ERR_OPTION,
                     "the run \"%.64s\" in the database: %.300s; to begin another run, use another "
                     "--name",
                     run->name, why.message);
}

leat_code leat_coordinator_check_run(const leat_coordinator *self, const leat_database_run *run,
                                     leat_error *err) {
    if (strcmp(run->identity, self->session.identity.run) != 0) return refuse_run(self, run, err);
    if (strcmp(run->value_names, self->value_names) == 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION,
                     "the run \"%.64s\" in the database was begun by another version of leat: its "
                     "steps have the values %.80s, and here %.80s; use that version, or as the "
                     "owner of the schema: SELECT leat.drop_run(%lld); then --resume creates it "
                     "again from its folder",
                     run->name, run->value_names, self->value_names, (long long)run->id);
}

/* ---- another version of the schema ----------------------------------------------------------- */

/* What the owner does, who continues the run of a folder. */
static void find_remedy(const leat_coordinator *self, int64_t version,
                        char words[LEAT_DATABASE_REMEDY_BYTES]) {
    char run[160], database[180], path[LEAT_PATH_BYTES];
    if (!self->options->train.resume || !leat_shell_word(run, sizeof run, self->folder))
        snprintf(run, sizeof run, "RUN");
    if (!leat_database_remedy(version, run, words) || !leat_coordinator_is_local(self)) return;
    if (leat_path_join(path, sizeof path, self->folder, LEAT_LOCAL_NAME, NULL) != LEAT_OK ||
        !leat_shell_word(database, sizeof database, path))
        snprintf(database, sizeof database, "RUN/" LEAT_LOCAL_NAME);
    snprintf(words, LEAT_DATABASE_REMEDY_BYTES,
             "nothing is lost if you run: rm -r %s; and then continue: leat coordinate %s --db "
             "local --resume --data DIR",
             database, run);
}

/* The folder of the run is lost, so the database must not be. */
static leat_code refuse_lost(const char *folder, int64_t version, leat_error *err) {
    char remedy[LEAT_DATABASE_REMEDY_BYTES];
    snprintf(remedy, sizeof remedy,
             "the folder \"%.150s\" does not have the run: use leat coordinate --resume of the "
             "version of leat that created the schema, once, to write it from the database",
             folder);
    return leat_database_refuse_version(version, remedy, err);
}

leat_code leat_coordinator_check_version(const leat_coordinator *self, leat_error *err) {
    char remedy[LEAT_DATABASE_REMEDY_BYTES];
    int64_t version = 0;
    LEAT_TRY(leat_database_find_version(self->pg, &version, err));
    LEAT_TRY(leat_database_check_finished(version, err));
    if (version == 0) return LEAT_OK;
    if (version == LEAT_CROWD_SCHEMA_VERSION) return leat_database_check_complete(self->pg, err);
    if (self->options->train.resume && !leat_run_is_at(self->folder))
        return refuse_lost(self->folder, version, err);
    find_remedy(self, version, remedy);
    return leat_database_refuse_version(version, remedy, err);
}

/* ---- a run whose folder is lost -------------------------------------------------------------- */

static leat_code read_settings(leat_pg *pg, const char *name, const char *model,
                               leat_run_options *out, leat_error *err) {
    leat_database_run run;
    leat_pg_rows *rows = NULL;
    LEAT_TRY(leat_database_find_run(pg, name, &run, &rows, err));
    leat_code code = leat_settings_read(run.settings, run.model, out, err);
    if (code == LEAT_OK && strcmp(run.model, model) != 0)
        code =
            leat_fail(err, LEAT_ERR_OPTION,
                      "the run \"%.64s\" in the database trains the model \"%s\", not \"%.40s\"; "
                      "to begin another run, use another --name",
                      name, out->task->model->name, model);
    leat_pg_rows_destroy(rows);
    return code;
}

/* Where they are looked for. */
typedef struct lost_run {
    const leat_coordinate_options *options;
    leat_pg_place place;
    leat_stop stop;
    const char *folder, *model;
    char name[LEAT_CROWD_NAME_BYTES];
} lost_run;

/* `stop` may be NULL. */
static leat_code look(const lost_run *of, const leat_stop *stop, leat_run_options *found,
                      leat_error *err) {
    leat_pg *pg = NULL;
    int64_t version = 0;
    LEAT_TRY(leat_pg_connect(&pg, &of->place, "leat coordinate", TIMEOUT_MS, stop, err));
    leat_code code = leat_database_find_version(pg, &version, err);
    if (code == LEAT_OK) code = leat_database_check_finished(version, err);
    if (code == LEAT_OK && version == LEAT_CROWD_SCHEMA_VERSION)
        code = leat_database_check_complete(pg, err);
    else if (code == LEAT_OK && version != 0) code = refuse_lost(of->folder, version, err);
    if (code == LEAT_OK) code = read_settings(pg, of->name, of->model, found, err);
    leat_pg_close(pg);
    return code;
}

/* The database may be away for now, or a dump of it is being restored: until then nobody is asked
 * whether to go on. */
static leat_code look_until(const lost_run *of, leat_run_options *found, leat_error *err) {
    const leat_coordinate_options *options = of->options;
    leat_pause pause = leat_pause_make(options->poll_ms, PAUSE_MOST_MS);
    for (bool told = false;; told = true) {
        leat_error why = {0};
        char line[sizeof why.message + 100];
        const leat_code code = look(of, told ? &of->stop : NULL, found, &why);
        if (code != LEAT_ERR_CONNECTION && code != LEAT_ERR_BUSY) return leat_error_copy(err, &why);
        snprintf(line, sizeof line, "%s; trying again until it succeeds" LEAT_PG_NEVER_CONNECTED,
                 why.message);
        if (!told && options->say != NULL) options->say(options->user, line);
        if (!leat_pause_wait(&pause, &of->stop))
            return leat_fail(err, LEAT_ERR_CANCELLED,
                             "stopped before the settings of the run were read; nothing was "
                             "written");
    }
}

static bool is_stopped(void *of) {
    const leat_coordinate_options *options = of;
    const leat_progress progress = {"reading settings", "bytes", 0, -1};
    return options->train.progress != NULL &&
           !options->train.progress(options->train.user, &progress);
}

leat_code leat_coordinate_settings(const leat_coordinate_options *options, const char *model,
                                   const char *run, leat_train_options *train, void *settings,
                                   leat_error *err) {
    leat_coordinate_options asked = *options;
    lost_run of = {.options = options, .folder = run, .model = model};
    leat_run_options found;
    const leat_task *none = NULL;
    if (model == NULL) return leat_task_find(model, &none, err);
    LEAT_TRY(leat_coordinator_name(options->name, run, of.name, err));
    if (strcmp(options->url, LEAT_LOCAL_URL) == 0) /* it lies in the folder, and is lost with it */
        return leat_fail(err, LEAT_ERR_NOT_FOUND, "a private database has no other folder's run");
    LEAT_TRY(leat_pg_place_parse(&of.place, options->url, err));
    of.stop = (leat_stop){.asked = is_stopped, .of = &asked};
    LEAT_TRY(look_until(&of, &found, err));
    *train = found.run;
    train->settings = settings;
    memcpy(settings, &found.settings, found.task->settings()->size_bytes);
    return LEAT_OK;
}
