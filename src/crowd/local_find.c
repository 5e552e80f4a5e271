/* Finding the programs of a PostgreSQL server: see local.h. Distributions keep them out of PATH, in
 * a folder for each major version. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crowd/local.h"

enum { VERSION_MIN = 1300, CANDIDATES_MAX = 64, ANSWER_MS = 10000 };

static const char *const usual[] = {
    "/usr/lib/postgresql/*/bin/postgres", /* Debian, Ubuntu */
    "/usr/lib/postgresql*/bin/postgres",  /* openSUSE */
    "/usr/pgsql-*/bin/postgres",          /* packages of postgresql.org for Fedora and RHEL */
    "/usr/libexec/postgresql*/postgres",  /* Alpine */
    "/usr/bin/postgres",                  /* Fedora, Arch */
    "/usr/local/pgsql/bin/postgres",      /* built from its sources */
    "/usr/local/bin/postgres",
    "/opt/postgresql/*/bin/postgres",
    NULL};

/* "postgres (PostgreSQL) 15.18 (Debian ...)" is 1518; 0: not understood. */
static int version_of(const char *text) {
    const char *at = strstr(text, "(PostgreSQL) ");
    char *end = NULL;
    if (at == NULL) return 0;
    const long major = strtol(at + strlen("(PostgreSQL) "), &end, 10);
    const long minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
    if (major < 1 || major > 999 || minor < 0 || minor > 99) return 0;
    return (int)(major * 100 + minor);
}

typedef struct search {
    int major;
    int old; /* the newest version that is too old, or another one than `major` */
    leat_local_programs best;
} search;

/* Looks at the folder of a program. */
static void look_at(search *of, const char *program) {
    char real[LEAT_PATH_BYTES], init[LEAT_PATH_BYTES], text[256];
    const char *const words[] = {"postgres", "--version", NULL};
    leat_path_facts facts;
    if (!leat_path_resolve(program, real)) return;
    char *slash = strrchr(real, '/');
    if (slash == NULL || strcmp(slash, "/postgres") != 0) return;
    *slash = 0;
    if (leat_path_join(init, sizeof init, real, "initdb", NULL) != LEAT_OK ||
        leat_path_stat(init, &facts, NULL) != LEAT_OK || facts.kind != LEAT_PATH_FILE)
        return;
    *slash = '/';
    if (leat_process_capture(real, words, ANSWER_MS, text, sizeof text, NULL) != LEAT_OK) return;
    *slash = 0;
    const int version = version_of(text);
    if (version < VERSION_MIN || (of->major != 0 && version / 100 != of->major)) {
        if (version > of->old) of->old = version;
    } else if (version > of->best.version) {
        of->best.version = version;
        snprintf(of->best.folder, sizeof of->best.folder, "%s", real);
    }
}

static leat_code look_in(search *of, const char *pattern, leat_error *err) {
    leat_path_list found = {0};
    leat_error why = {0};
    const leat_code code = leat_path_glob(pattern, &found, &why);
    if (code == LEAT_ERR_MEMORY) return leat_error_copy(err, &why);
    for (int64_t i = 0; i < found.count && i < CANDIDATES_MAX; i++) look_at(of, found.paths[i]);
    leat_path_list_free(&found);
    return LEAT_OK;
}

/* postgres itself, or pg_config, which knows where it is. */
static void look_on_path(search *of) {
    char path[LEAT_PATH_BYTES], folder[LEAT_PATH_BYTES];
    const char *const words[] = {"pg_config", "--bindir", NULL};
    if (leat_process_find("postgres", path)) look_at(of, path);
    if (!leat_process_find("pg_config", path) ||
        leat_process_capture(path, words, ANSWER_MS, folder, sizeof folder, NULL) != LEAT_OK)
        return;
    folder[strcspn(folder, "\n")] = 0;
    if (folder[0] == '/' && leat_path_join(path, sizeof path, folder, "postgres", NULL) == LEAT_OK)
        look_at(of, path);
}

leat_code leat_local_find(const char *const *patterns, bool path, int major,
                          leat_local_programs *out, leat_error *err) {
    search of = {.major = major};
    *out = (leat_local_programs){0};
    for (; *patterns != NULL; patterns++) LEAT_TRY(look_in(&of, *patterns, err));
    if (path) look_on_path(&of);
    *out = of.best;
    if (of.best.version != 0) return LEAT_OK;
    char other[48] = "";
    if (of.old != 0) snprintf(other, sizeof other, " (found: %d.%d)", of.old / 100, of.old % 100);
    if (major != 0)
        return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                         "the database is one of PostgreSQL %d, whose server programs are not "
                         "installed here%s: install them (Debian: postgresql-%d)",
                         major, other, major);
    return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                     "the programs of a PostgreSQL server, 13 or newer, are not installed here%s; "
                     "install them (Debian, Ubuntu: postgresql; Fedora: postgresql-server), or use "
                     "a database elsewhere: --db URL",
                     other);
}

leat_code leat_local_find_usual(int major, leat_local_programs *out, leat_error *err) {
    return leat_local_find(usual, true, major, out, err);
}
