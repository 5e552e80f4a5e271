/*
 * A private database server in a folder: leat_local_open (leat/crowd.h). The first start creates
 * the cluster; until local.json says that it is ready, nothing in it is of use, and it is created
 * again.
 */
#include "crowd/local.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"

#define LOCK_NAME ".leat.lock"
enum { CONNECT_MS = 60000, FOLDER_MODE = 0711, REMOVE_TRIES = 50, SECURE_TRIES = 5 };
/* PostgreSQL cuts paths at 1,024 bytes, and its files have names of their own. */
enum { FOLDER_BYTES_MAX = 900 };

/* ---- the folder -------------------------------------------------------------------------------
 */

static leat_code refuse_link(const char *path, leat_error *err) {
    bool link = false;
    LEAT_TRY(leat_path_is_link(path, &link, err));
    if (!link) return LEAT_OK;
    return leat_fail(
        err, LEAT_ERR_EXISTS,
        "\"%.400s\" is a link, and the database would be written to its target: remove "
        "it",
        path);
}

static leat_code check_kind(const leat_local *self, leat_error *err) {
    leat_path_facts facts;
    LEAT_TRY(refuse_link(self->folder, err));
    LEAT_TRY(leat_path_stat(self->folder, &facts, err));
    if (facts.kind == LEAT_PATH_NONE || facts.kind == LEAT_PATH_DIR) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_EXISTS, "\"%.400s\" is not a folder", self->folder);
}

static leat_code place(leat_local *self, const char *folder, leat_error *err) {
    char trimmed[LEAT_PATH_BYTES]; /* the folder may be that of this handle */
    LEAT_TRY(leat_path_trim(folder, trimmed, err));
    memcpy(self->folder, trimmed, sizeof trimmed);
    LEAT_TRY(leat_local_join(self, "data", self->data, err));
    LEAT_TRY(leat_local_join(self, "log", self->log, err));
    if (strchr(self->folder, '\n') == NULL && strchr(self->folder, '\r') == NULL) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION,
                     "the path of a database cannot contain line breaks, which PostgreSQL does not "
                     "support; use another folder");
}

/* Without local.json a folder is leat's only if nothing is in it. */
static leat_code refuse_third_party(const leat_local *self, leat_error *err) {
    leat_path_list names = {0};
    const char *other = NULL;
    LEAT_TRY(leat_path_list_dir(self->folder, &names, err));
    for (int64_t i = 0; i < names.count; i++)
        if (strcmp(names.paths[i], LOCK_NAME) != 0 && !leat_path_is_draft(names.paths[i]))
            other = names.paths[i];
    leat_code code = LEAT_OK;
    if (other != NULL)
        code = leat_fail(err, LEAT_ERR_EXISTS,
                         "\"%.250s\" is not a database created by leat (\"%.100s\" is in it); move "
                         "it away",
                         self->folder, other);
    leat_path_list_free(&names);
    return code;
}

/* Creates the folder if it is missing, and takes it. */
static leat_code take(leat_local *self, bool *created, leat_error *err) {
    char path[LEAT_PATH_BYTES], parent[LEAT_PATH_BYTES];
    leat_path_facts facts;
    LEAT_TRY(leat_path_stat(self->folder, &facts, err));
    *created = facts.kind == LEAT_PATH_NONE;
    if (*created) {
        LEAT_TRY(leat_path_parent(self->folder, parent, err));
        LEAT_TRY(leat_path_make_dir(parent, err));
        /* the user of the server passes through it */
        LEAT_TRY(leat_path_make_new_dir(self->folder, FOLDER_MODE, err));
    }
    /* programs of the server work in another folder than this process */
    LEAT_TRY(leat_path_real(self->folder, path, err));
    LEAT_TRY(place(self, path, err));
    LEAT_TRY(leat_local_join(self, LOCK_NAME, path, err));
    leat_code code = leat_lock_try(&self->lock, path, err);
    if (code == LEAT_ERR_BUSY)
        return leat_fail(err, code,
                         "another process has the database in \"%.300s\"; wait until it ends, or "
                         "stop it",
                         self->folder);
    if (code == LEAT_OK) code = refuse_link(self->data, err);
    if (code == LEAT_OK) code = refuse_link(self->log, err);
    return code == LEAT_OK ? leat_path_remove_drafts(self->folder, err) : code;
}

/* ---- who the server runs as, and with what ----------------------------------------------------
 */

/* PostgreSQL refuses to run as root. A cluster that exists runs as its owner. */
static leat_code choose_user(leat_local *self, leat_error *err) {
    leat_path_facts facts;
    const int64_t own = leat_process_own_user();
    LEAT_TRY(leat_path_stat(self->data, &facts, err));
    const bool exists = facts.kind == LEAT_PATH_DIR && facts.user != 0;
    self->other_user = own == 0;
    if (own != 0) {
        LEAT_TRY(leat_process_user_numbered(&self->user, own, err));
        if (!exists || facts.user == (uint64_t)own) return LEAT_OK;
        return leat_fail(err, LEAT_ERR_OPTION,
                         "\"%.250s\" belongs to user %lld, and this is user %lld: run leat as that "
                         "user, or as root",
                         self->data, (long long)facts.user, (long long)own);
    }
    if (exists) return leat_process_user_numbered(&self->user, facts.user, err);
    if (leat_process_user_named(&self->user, "postgres", NULL) == LEAT_OK) return LEAT_OK;
    return leat_process_user_named(&self->user, "nobody", err);
}

/* The nearest folder that exists, from the root and without links; *rest bytes of the path are not
 * in it. */
static leat_code find_existing(const char *folder, char real[LEAT_PATH_BYTES], size_t *rest,
                               leat_error *err) {
    char path[LEAT_PATH_BYTES], parent[LEAT_PATH_BYTES];
    leat_path_facts facts;
    snprintf(path, sizeof path, "%s", folder);
    for (;;) {
        LEAT_TRY(leat_path_stat(path, &facts, err));
        *rest = strlen(folder) > strlen(path) ? strlen(folder) - strlen(path) : 0;
        if (facts.kind != LEAT_PATH_NONE) return leat_path_real(path, real, err);
        LEAT_TRY(leat_path_parent(path, parent, err));
        memcpy(path, parent, sizeof path);
    }
}

static leat_code check_way(const leat_local *self, leat_error *err) {
    char real[LEAT_PATH_BYTES], closed[LEAT_PATH_BYTES];
    size_t rest = 0;
    bool may = false;
    LEAT_TRY(find_existing(self->folder, real, &rest, err));
    if (strlen(real) + rest > FOLDER_BYTES_MAX)
        return leat_fail(
            err, LEAT_ERR_LIMIT,
            "the path of \"%.100s...\" has %zu bytes, and that of a database %d at most; "
            "use a shorter one",
            real, strlen(real) + rest, FOLDER_BYTES_MAX);
    LEAT_TRY(leat_process_may_enter(&self->user, real, &may, closed, err));
    if (may) return LEAT_OK;
    return leat_fail(
        err, LEAT_ERR_OPTION,
        "the folder \"%.200s\" is closed to user \"%s\", as whom the database's server "
        "runs%s: put the run elsewhere, or let that user in (chmod o+x)",
        closed, self->user.name,
        self->other_user ? " because PostgreSQL refuses to run as root" : "");
}

/* The major version of a cluster that exists; 0: there is none. */
static int major_of(const leat_local *self) {
    char path[LEAT_PATH_BYTES];
    uint8_t *text = NULL;
    int64_t size = 0;
    long major = 0;
    if (self->state.ready &&
        leat_path_join(path, sizeof path, self->data, "PG_VERSION", NULL) == 0 &&
        leat_file_load(path, 64, &text, &size, NULL) == LEAT_OK)
        major = strtol((const char *)text, NULL, 10);
    leat_free(text);
    return major > 0 && major < 1000 ? (int)major : 0;
}

static leat_code choose_programs(leat_local *self, leat_error *err) {
    char pattern[LEAT_PATH_BYTES];
    const char *const patterns[] = {pattern, NULL};
    if (self->options.programs == NULL)
        return leat_local_find_usual(major_of(self), &self->programs, err);
    LEAT_TRY(leat_path_join(pattern, sizeof pattern, self->options.programs, "postgres", err));
    return leat_local_find(patterns, false, major_of(self), &self->programs, err);
}

/* What can be known before anything is written. */
static leat_code prepare(leat_local *self, leat_error *err) {
    bool found = false;
    LEAT_TRY(check_kind(self, err));
    LEAT_TRY(leat_local_load(self, &found, err));
    if (found && self->state.ready) LEAT_TRY(leat_local_check_machine(self, err));
    LEAT_TRY(leat_local_place_listen(self, err));
    LEAT_TRY(choose_user(self, err));
    LEAT_TRY(choose_programs(self, err));
    return check_way(self, err);
}

leat_code leat_local_check(const char *folder, const char *listen, leat_error *err) {
    leat_local *self = NULL;
    LEAT_TRY(LEAT_NEW(&self, 1, err));
    self->options.listen = listen;
    leat_code code = place(self, folder, err);
    if (code == LEAT_OK) code = prepare(self, err);
    leat_free(self);
    return code;
}

/* ---- the first start --------------------------------------------------------------------------
 */

static leat_code run_as_admin(const leat_local *self, const char *database,
                              const char *const *scripts, leat_error *err) {
    char url[256];
    leat_pg_place *at = NULL;
    leat_pg *pg = NULL;
    snprintf(url, sizeof url,
             "postgresql://admin:%s@127.0.0.1:%d/%s?sslmode=disable" LEAT_PG_REQUIRE_SCRAM,
             self->state.admin, (int)self->state.port, database);
    LEAT_TRY(LEAT_NEW(&at, 1, err));
    leat_code code = leat_pg_place_parse(at, url, err);
    if (code == LEAT_OK) code = leat_pg_connect(&pg, at, "leat", CONNECT_MS, NULL, err);
    for (; code == LEAT_OK && *scripts != NULL; scripts++) code = leat_pg_script(pg, *scripts, err);
    leat_pg_close(pg);
    leat_free(at);
    return code;
}

/*
 * What logins may do, at each start: a worker may have changed its own password and settings, and a
 * cluster of an earlier leat lacks the rest. What a login of a server can do without a right, and
 * leat does not need, is taken away: large objects fill the disk, and advisory locks the table that
 * all locks of the server share. The owner may end sessions that block a run; workers leave
 * connections for him.
 */
static leat_code secure_logins(leat_local *self, leat_error *err) {
    char worker[500];
    snprintf(worker, sizeof worker,
             "alter role worker reset all; alter role worker in database " LEAT_LOCAL_DATABASE
             " reset all; alter role worker password '%s' connection limit %d; alter role worker "
             "set idle_in_transaction_session_timeout = '60s'; grant connect on "
             "database " LEAT_LOCAL_DATABASE " to worker",
             self->state.worker, LEAT_LOCAL_WORKERS_MAX);
    /* whoever has its login may keep it locked with a transaction */
    const char *const scripts[] = {leat_crowd_roles_sql(),
                                   "alter role owner set temp_file_limit = -1",
                                   "set lock_timeout = '1s'; select pg_terminate_backend(pid) from "
                                   "pg_stat_activity where usename = 'worker'",
                                   worker, NULL};
    leat_error why = {0};
    leat_code code = LEAT_ERR_BUSY;
    for (int i = 0; i < SECURE_TRIES && code != LEAT_OK; i++)
        code = run_as_admin(self, LEAT_LOCAL_DATABASE, scripts, &why);
    return code == LEAT_OK ? code : leat_error_copy(err, &why);
}

/* The logins, and a database in which only its owner may create anything. */
static leat_code create_logins(leat_local *self, leat_error *err) {
    char owner[128];
    snprintf(owner, sizeof owner, "create role owner login password '%s'", self->state.owner);
    const char *const logins[] = {owner, "create role worker login",
                                  "create database " LEAT_LOCAL_DATABASE " owner owner",
                                  "revoke all on database postgres, template1 from public", NULL};
    LEAT_TRY(run_as_admin(self, "postgres", logins, err));
    return secure_logins(self, err);
}

/* Serves a cluster that was created before. */
static leat_code serve_again(leat_local *self, leat_error *err) {
    leat_error why = {0};
    LEAT_TRY(leat_local_serve(self, err));
    /* people may have changed what belongs to admin: the run needs none of it */
    if (secure_logins(self, &why) != LEAT_OK)
        leat_local_say(self, "the login for workers is left as it is: %.300s", why.message);
    return LEAT_OK;
}

/* An initdb that was killed may still end a process that writes there. */
static leat_code remove_data(const leat_local *self, leat_error *err) {
    leat_error why = {0};
    leat_code code = leat_path_remove_tree(self->data, &why);
    for (int i = 0; i < REMOVE_TRIES && code != LEAT_OK; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
        code = leat_path_remove_tree(self->data, &why);
    }
    return code == LEAT_OK ? code : leat_error_copy(err, &why);
}

static leat_code create(leat_local *self, leat_error *err) {
    const leat_local_state before = self->state;
    LEAT_TRY(remove_data(self, err));
    LEAT_TRY(leat_local_draw(self, err));
    self->state.port = before.port;
    LEAT_TRY(leat_local_save(self, err));
    LEAT_TRY(leat_local_init(self, err));
    LEAT_TRY(leat_local_serve(self, err));
    LEAT_TRY(create_logins(self, err));
    self->state.ready = true;
    return leat_local_save(self, err);
}

/* Everything in the folder was created by leat, and is of no use. */
static void undo(leat_local *self, bool created) {
    static const char *const names[] = {"local.json", "log", "log.old"};
    leat_local_unserve(self);
    leat_local_unwatch(self);
    if (remove_data(self, NULL) != LEAT_OK) return; /* local.json says that it is not ready */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[LEAT_PATH_BYTES];
        if (leat_local_join(self, names[i], path, NULL) == LEAT_OK) leat_path_discard(path);
    }
    for (const char *const *name = leat_local_listen_files; *name != NULL; name++) {
        char path[LEAT_PATH_BYTES];
        if (leat_local_join(self, *name, path, NULL) == LEAT_OK) leat_path_discard(path);
    }
    leat_lock_release(&self->lock);
    if (created && leat_path_remove_dir(self->folder, NULL) != LEAT_OK) {
        /* another process has come */
    }
}

/* ---- the handle -------------------------------------------------------------------------------
 */

static leat_code open_folder(leat_local *self, leat_error *err) {
    bool found = false, created = false;
    LEAT_TRY(prepare(self, err));
    LEAT_TRY(take(self, &created, err));
    leat_code code = leat_local_load(self, &found, err); /* as it is now that it is taken */
    if (code == LEAT_OK && !found) code = refuse_third_party(self, err);
    if (code == LEAT_OK) code = choose_user(self, err);
    if (code == LEAT_OK) code = check_way(self, err);
    if (code == LEAT_OK) code = leat_local_end_earlier(self, err);
    if (code == LEAT_OK) code = leat_local_watch(self, err);
    if (code != LEAT_OK) {
        leat_lock_release(&self->lock);
        if (created && leat_path_remove_dir(self->folder, NULL) != LEAT_OK) return code;
        return code;
    }
    if (self->other_user)
        leat_local_say(self,
                       "PostgreSQL does not run as root: the server of \"%.300s\" runs as "
                       "user \"%s\"",
                       self->folder, self->user.name);
    if (self->state.ready) return serve_again(self, err);
    code = create(self, err);
    if (code != LEAT_OK) undo(self, created);
    return code;
}

leat_code leat_local_open(leat_local **out, const char *folder, const leat_local_options *options,
                          leat_error *err) {
    leat_local *self = NULL;
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&self, 1, err));
    if (options != NULL) self->options = *options;
    leat_code code = place(self, folder, err);
    if (code == LEAT_OK) code = open_folder(self, err);
    if (code == LEAT_OK) *out = self;
    else leat_local_close(self);
    return code;
}

leat_code leat_local_revive(leat_local *local, leat_error *err) {
    int status = 0;
    if (local->server != NULL && !leat_process_ended(local->server, &status)) return LEAT_OK;
    if (local->server != NULL)
        leat_local_say(local, "the database's server has ended (status %d): it is started again",
                       status);
    leat_process_close(local->server);
    local->server = NULL;
    LEAT_TRY(leat_local_end_earlier(local, err));
    return leat_local_serve(local, err);
}

const char *leat_local_url(const leat_local *local) { return local->url; }
const char *leat_local_worker_url(const leat_local *local) { return local->worker_url; }
int64_t leat_local_process(const leat_local *local) {
    return local->server != NULL ? leat_process_id(local->server) : 0;
}

void leat_local_close(leat_local *local) {
    if (local == NULL) return;
    leat_local_unserve(local);
    leat_local_unwatch(local);
    leat_lock_release(&local->lock);
    leat_free(local);
}
