/*
 * Places of DuckDB's library are relative to leat's own file, so that they move with it and contain
 * no path of the build machine. In a build folder, links lie next to the binaries.
 *
 * A library runs its code as soon as it is opened, so permissions are checked first. Whoever can
 * write to the folder that holds leat already controls the user's account, so the common parent
 * folders of leat and the library are not checked. The target of a link must pass the same checks
 * as the link, and the target is what is opened: nobody else can exchange it in between.
 */
#include "duckdb/find.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if LEAT_HAVE_DUCKDB

#define LIBRARY "libduckdb.so"

static const char *const places[] = {
    LIBRARY,                     /* next to the command or library: copied there by hand */
    "leat/" LIBRARY,             /* installed, relative to libleat.so */
    LEAT_DUCKDB_FROM_BIN LIBRARY /* installed, relative to the command: ../lib/leat/ */
};
_Static_assert(sizeof places / sizeof *places + 1 == LEAT_DUCKDB_PLACES, "and the system's");

typedef struct judge {
    const char *library; /* for messages */
    char folder[LEAT_PATH_BYTES];
    leat_path_rights self, home; /* of leat's file, and of its folder */
    leat_error *why;
} judge;

static size_t folder_length(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash == NULL ? 0 : (size_t)(slash - path);
}

/* "folder/relative" without "..": false if it is too long or leaves the root. */
static bool join(char out[LEAT_PATH_BYTES], const char *folder, const char *relative) {
    char base[LEAT_PATH_BYTES];
    if (snprintf(base, sizeof base, "%s", folder) >= (int)sizeof base) return false;
    for (; strncmp(relative, "../", 3) == 0; relative += 3) {
        if (base[0] == 0) return false;
        base[folder_length(base)] = 0;
    }
    return leat_path_join(out, LEAT_PATH_BYTES, base, relative, NULL) == LEAT_OK;
}

static bool reject(judge *of, const char *path, const char *problem, const char *remedy) {
    leat_fail(of->why, LEAT_ERR_UNSUPPORTED, "\"%.180s\" is not used: %s \"%.180s\"; %s",
              of->library, problem, path, remedy);
    return false;
}

static bool owner_trusted(judge *of, const char *path, const leat_path_rights *rights) {
    char problem[96];
    if (rights->owner == 0 || rights->owner == (int64_t)geteuid() ||
        rights->owner == of->self.owner)
        return true;
    snprintf(problem, sizeof problem, "user %lld owns", (long long)rights->owner);
    return reject(of, path, problem, "only root, you and the owner of leat are trusted (chown)");
}

static bool writers_trusted(judge *of, const char *path, const leat_path_rights *rights) {
    char problem[96];
    if (rights->others_write)
        return reject(of, path, "every user may write to", "remove that permission (chmod o-w)");
    if (!rights->group_writes || rights->group == rights->owner) return true;
    if (of->home.group_writes && rights->group == of->home.group) return true;
    snprintf(problem, sizeof problem, "group %lld may write to", (long long)rights->group);
    return reject(of, path, problem, "remove that permission (chmod g-w)");
}

/* The length of the common parent folder of both paths, without a trailing slash. */
static size_t common_length(const char *folder, const char *path) {
    size_t common = 0, i = 0;
    for (;; i++) {
        bool ends = folder[i] == 0 || folder[i] == '/';
        if (ends && (path[i] == '/' || path[i] == 0)) common = i;
        if (folder[i] != path[i] || folder[i] == 0) return common;
    }
}

/* Checks every component from the point where the path diverges from leat's own to the library. */
static bool path_trusted(judge *of, const char *path) {
    char step[LEAT_PATH_BYTES];
    leat_path_rights rights;
    size_t common = common_length(of->folder, path), inner = folder_length(path);
    for (size_t end = common;; end++) {
        if (path[end] != '/' && path[end] != 0) continue;
        snprintf(step, sizeof step, "%.*s", end > 0 ? (int)end : 1, end > 0 ? path : "/");
        if (!leat_path_get_rights(step, &rights))
            return reject(of, step, "cannot examine", "check the permissions of its folders");
        if (end == common && end != inner) {
            if (rights.others_write && !rights.sticky && !writers_trusted(of, step, &rights))
                return false;
        } else if (!owner_trusted(of, step, &rights) || !writers_trusted(of, step, &rights)) {
            return false;
        }
        if (path[end] == 0) return true;
    }
}

leat_duckdb_verdict leat_duckdb_place(int index, const char *self, char path[LEAT_PATH_BYTES],
                                      leat_error *why) {
    char target[LEAT_PATH_BYTES];
    judge of = {.library = path, .why = why};
    leat_path_rights rights;
    if (index == LEAT_DUCKDB_PLACES - 1) {
        snprintf(path, LEAT_PATH_BYTES, "%s", LIBRARY);
        return LEAT_DUCKDB_TRUSTED;
    }
    snprintf(of.folder, sizeof of.folder, "%.*s", (int)folder_length(self), self);
    if (!join(path, of.folder, places[index])) path[0] = 0;
    if (self[0] != '/' || path[0] == 0 || !leat_path_get_rights(path, &rights))
        return LEAT_DUCKDB_ABSENT;
    if (!leat_path_get_rights(self, &of.self) ||
        !leat_path_get_rights(of.folder[0] != 0 ? of.folder : "/", &of.home))
        return LEAT_DUCKDB_ABSENT;
    if (!leat_path_resolve(path, target)) {
        reject(&of, path, "nothing exists at the end of the link", "create the link again");
        return LEAT_DUCKDB_REJECTED;
    }
    if (!path_trusted(&of, path)) return LEAT_DUCKDB_REJECTED;
    if (strcmp(path, target) != 0 && !path_trusted(&of, target)) return LEAT_DUCKDB_REJECTED;
    memcpy(path, target, sizeof target);
    return LEAT_DUCKDB_TRUSTED;
}

#else

leat_duckdb_verdict leat_duckdb_place(int index, const char *self, char path[LEAT_PATH_BYTES],
                                      leat_error *why) {
    (void)index;
    (void)self;
    (void)why;
    path[0] = 0;
    return LEAT_DUCKDB_ABSENT;
}

#endif
