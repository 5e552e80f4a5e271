/*
 * The other half of the door to the file system: paths, folders and their names (base/file.c has
 * open files). Every call names the path in its error.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/random.h"

/* ---- names ---- */

leat_code leat_path_parent(const char *path, char parent[LEAT_PATH_BYTES], leat_error *err) {
    const char *slash = strrchr(path, '/');
    size_t length = slash == path ? 1 : slash == NULL ? 0 : (size_t)(slash - path);
    if (length >= LEAT_PATH_BYTES) {
        return leat_fail(err, LEAT_ERR_LIMIT, "path \"%.64s...\" is too long", path);
    }
    snprintf(parent, LEAT_PATH_BYTES, "%.*s", (int)length, path);
    if (length == 0) snprintf(parent, LEAT_PATH_BYTES, ".");
    return LEAT_OK;
}

leat_code leat_path_sync_parent(const char *path, leat_error *err) {
    char parent[LEAT_PATH_BYTES];
    LEAT_TRY(leat_path_parent(path, parent, err));
    return leat_path_sync_dir(parent, err);
}

leat_code leat_path_target(char out[LEAT_PATH_BYTES], const char *path, leat_error *err) {
    leat_path_facts facts;
    struct stat found;
    out[0] = 0;
    LEAT_TRY(leat_path_stat(path, &facts, err));
    bool is_link =
        facts.kind != LEAT_PATH_NONE && lstat(path, &found) == 0 && S_ISLNK(found.st_mode);
    if (is_link) {
        if (realpath(path, out) != NULL) return LEAT_OK;
        out[0] = 0;
        return leat_fail_errno(err, errno, "cannot follow the link \"%s\"", path);
    }
    if (snprintf(out, LEAT_PATH_BYTES, "%s", path) < LEAT_PATH_BYTES) return LEAT_OK;
    out[0] = 0;
    return leat_fail(err, LEAT_ERR_LIMIT, "path \"%.64s...\" is too long", path);
}

/* This much of a name is in the name of its draft, so that any file system accepts it. */
#define DRAFT_NAME_BYTES 64

leat_code leat_path_draft(char out[LEAT_PATH_BYTES], const char *path, leat_error *err) {
    const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;
    size_t length = strlen(name);
    uint64_t number = 0;
    out[0] = 0;
    LEAT_TRY(leat_random_u64(&number, err));
    if (length > DRAFT_NAME_BYTES) length = DRAFT_NAME_BYTES;
    while (length > 0 && ((unsigned char)name[length] & 0xc0) == 0x80)
        length--; /* no incomplete character */
    int size = snprintf(out, LEAT_PATH_BYTES, "%.*s.%.*s.leat-%016llx.tmp", (int)(name - path),
                        path, (int)length, name, (unsigned long long)number);
    if (size < LEAT_PATH_BYTES) return LEAT_OK;
    out[0] = 0;
    return leat_fail(err, LEAT_ERR_LIMIT, "path \"%.64s...\" is too long", path);
}

bool leat_path_is_draft(const char *name) {
    static const char before[] = ".leat-", after[] = ".tmp";
    const int64_t ends = (int64_t)(sizeof before + sizeof after) - 2, digits = 16;
    int64_t size = (int64_t)strlen(name), at = size - ends - digits;
    if (at < 1 || name[0] != '.' || memcmp(name + at, before, sizeof before - 1) != 0) return false;
    at += (int64_t)sizeof before - 1;
    return strspn(name + at, "0123456789abcdef") == (size_t)digits &&
           strcmp(name + at + digits, after) == 0;
}

leat_code leat_path_remove_drafts(const char *dir, leat_error *err) {
    leat_path_list names = {0};
    leat_code code = leat_path_list_dir(dir, &names, err);
    for (int64_t i = 0; i < names.count && code == LEAT_OK; i++) {
        char path[LEAT_PATH_BYTES];
        if (!leat_path_is_draft(names.paths[i])) continue;
        code = leat_path_join(path, sizeof path, dir, names.paths[i], err);
        if (code == LEAT_OK) code = leat_path_remove(path, err);
    }
    leat_path_list_free(&names);
    return code;
}

/* ---- folders ---- */

leat_code leat_path_trim(const char *path, char out[LEAT_PATH_BYTES], leat_error *err) {
    const size_t most = LEAT_PATH_BYTES - 128;
    size_t size = strlen(path);
    out[0] = 0;
    while (size > 1 && path[size - 1] == '/') size--;
    if (size == 0 || size > most)
        return leat_fail(err, LEAT_ERR_LIMIT,
                         "a path of %zu bytes (\"%.64s\"); it must have 1 to %zu", size, path,
                         most);
    memcpy(out, path, size);
    out[size] = 0;
    return LEAT_OK;
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

leat_code leat_path_check_local(const char *path, leat_error *err) {
    const char *at = path;
    while (is_letter(*at) ||
           (at > path && ((*at >= '0' && *at <= '9') || (*at != 0 && strchr("+-.", *at) != NULL))))
        at++;
    if (at == path || strncmp(at, "://", 3) != 0) return LEAT_OK;
    bool file = at - path == 4 && strncmp(path, "file", 4) == 0;
    return leat_fail(err, LEAT_ERR_OPTION,
                     "\"%.200s\" is not a path: only local files can be read and written; %s", path,
                     file ? "omit \"file://\"" : "copy them to or from the service yourself");
}

leat_code leat_path_stat(const char *path, leat_path_facts *facts, leat_error *err) {
    *facts = (leat_path_facts){0};
    LEAT_TRY(leat_path_check_local(path, err));
    struct stat found;
    int number = 0;
    if (LEAT_FAULT(LEAT_FAULT_PATH)) number = EIO;
    else if (stat(path, &found) != 0) number = errno;
    if (number == ENOENT || number == ENOTDIR) return LEAT_OK;
    if (number != 0) return leat_fail_errno(err, number, "cannot look at \"%s\"", path);
    facts->kind = S_ISREG(found.st_mode)   ? LEAT_PATH_FILE
                  : S_ISDIR(found.st_mode) ? LEAT_PATH_DIR
                                           : LEAT_PATH_OTHER;
    facts->size_bytes = found.st_size;
    facts->mtime_ns = (int64_t)found.st_mtim.tv_sec * 1000000000 + found.st_mtim.tv_nsec;
    facts->device = found.st_dev;
    facts->inode = found.st_ino;
    facts->ctime_ns = (int64_t)found.st_ctim.tv_sec * 1000000000 + found.st_ctim.tv_nsec;
    facts->links = found.st_nlink;
    facts->mode = found.st_mode;
    facts->user = found.st_uid;
    facts->group = found.st_gid;
    return LEAT_OK;
}

leat_code leat_path_is_link(const char *path, bool *link, leat_error *err) {
    struct stat found;
    int number = 0;
    *link = false;
    if (LEAT_FAULT(LEAT_FAULT_PATH)) number = EIO;
    else if (lstat(path, &found) != 0) number = errno;
    else *link = S_ISLNK(found.st_mode);
    if (number == 0 || number == ENOENT || number == ENOTDIR) return LEAT_OK;
    return leat_fail_errno(err, number, "cannot look at \"%s\"", path);
}

leat_code leat_path_make_dir(const char *path, leat_error *err) {
    char part[LEAT_PATH_BYTES];
    LEAT_TRY(leat_path_check_local(path, err));
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof part) {
        return leat_fail(err, LEAT_ERR_OPTION, "the name of a folder has %zu bytes", length);
    }
    memcpy(part, path, length + 1);
    for (size_t i = 1; i <= length; i++) {
        if (part[i] != '/' && part[i] != 0) continue;
        part[i] = 0;
        int number = 0;
        if (LEAT_FAULT(LEAT_FAULT_PATH)) number = EIO;
        else if (mkdir(part, 0777) != 0) number = errno;
        struct stat found;
        bool there = number == EEXIST && stat(part, &found) == 0 && S_ISDIR(found.st_mode);
        if (number != 0 && !there) {
            return leat_fail_errno(err, number == EEXIST ? ENOTDIR : number,
                                   "cannot make folder \"%s\"", part);
        }
        part[i] = path[i];
    }
    return LEAT_OK;
}

leat_code leat_path_make_new_dir(const char *path, uint32_t mode, leat_error *err) {
    int number = 0;
    if (LEAT_FAULT(LEAT_FAULT_PATH)) number = EIO;
    else if (mkdir(path, 0700) != 0 || chmod(path, mode) != 0) number = errno;
    if (number == 0) return LEAT_OK;
    return leat_fail_errno(err, number, "cannot make folder \"%s\"", path);
}

leat_code leat_path_give(const char *path, int64_t user, int64_t group, leat_error *err) {
    if (LEAT_FAULT(LEAT_FAULT_PATH)) errno = EIO;
    else if (lchown(path, (uid_t)user, (gid_t)group) == 0) return LEAT_OK;
    return leat_fail_errno(err, errno, "cannot give \"%s\" to user %lld", path, (long long)user);
}

leat_code leat_path_sync_dir(const char *path, leat_error *err) {
    int fd = -1, number = 0;
    if (LEAT_FAULT(LEAT_FAULT_SYNC)) {
        number = EIO;
    } else {
        fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0 || fsync(fd) != 0) number = errno;
        if (fd >= 0) close(fd);
    }
    /* Some network file systems do not support fsync of folders; their renames are durable without
     * it. */
    if (number == 0 || number == EINVAL) return LEAT_OK;
    return leat_fail_errno(err, number, "cannot sync folder \"%s\" to disk", path);
}

leat_code leat_path_rename(const char *from, const char *to, leat_error *err) {
    if (LEAT_FAULT(LEAT_FAULT_RENAME)) errno = EIO;
    else if (rename(from, to) == 0) return LEAT_OK;
    return leat_fail_errno(err, errno, "cannot rename \"%s\" to \"%s\"", from, to);
}

leat_code leat_path_rename_new(const char *from, const char *to, bool *taken, leat_error *err) {
    leat_path_facts facts;
    int number = 0;
    *taken = false;
    if (LEAT_FAULT(LEAT_FAULT_RENAME)) number = EINVAL;
    else if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) != 0) number = errno;
    if (number == EINVAL || number == ENOSYS) { /* not on this file system: by a hard link */
        number = 0;
        if (LEAT_FAULT(LEAT_FAULT_RENAME)) number = EIO;
        else if (link(from, to) != 0 || unlink(from) != 0) number = errno;
    }
    *taken = number == EEXIST;
    if (number == 0 || *taken) return LEAT_OK;
    if (number != EPERM && number != EOPNOTSUPP && number != EMLINK)
        return leat_fail_errno(err, number, "cannot rename \"%s\" to \"%s\"", from, to);
    LEAT_TRY(leat_path_stat(to, &facts, err)); /* no hard links either */
    *taken = facts.kind != LEAT_PATH_NONE;
    return *taken ? LEAT_OK : leat_path_rename(from, to, err);
}

leat_code leat_path_move_dir(const char *from, const char *to, leat_error *err) {
    LEAT_TRY(leat_path_rename(from, to, err));
    return leat_path_sync_parent(to, err);
}

/* Whether `name` may be moved to the folder `to`: the name is free there, or that of a file. */
static leat_code check_free(const char *to, const char *name, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_path_facts facts;
    bool link = false;
    LEAT_TRY(leat_path_join(path, sizeof path, to, name, err));
    LEAT_TRY(leat_path_is_link(path, &link, err));
    LEAT_TRY(leat_path_stat(path, &facts, err));
    if (!link && (facts.kind == LEAT_PATH_NONE || facts.kind == LEAT_PATH_FILE)) return LEAT_OK;
    return leat_fail(
        err, LEAT_ERR_EXISTS,
        "\"%s\" is %s, but a file is to be written there; move it away (nothing was changed)", path,
        link ? "a link" : "not a regular file");
}

static leat_code move_file(leat_path_move_fn *move, const char *from, const char *to,
                           const char *name, leat_error *err) {
    char old[LEAT_PATH_BYTES], new[LEAT_PATH_BYTES];
    LEAT_TRY(leat_path_join(old, sizeof old, from, name, err));
    LEAT_TRY(leat_path_join(new, sizeof new, to, name, err));
    return move(old, new, err);
}

leat_code leat_path_move_files(const char *from, const char *to, const char *last,
                               leat_error *err) {
    return leat_path_move_files_by(leat_path_rename, from, to, last, err);
}

leat_code leat_path_move_files_by(leat_path_move_fn *move, const char *from, const char *to,
                                  const char *last, leat_error *err) {
    leat_path_list names = {0};
    bool link = false;
    LEAT_TRY(leat_path_is_link(to, &link, err));
    if (link) return leat_fail(err, LEAT_ERR_EXISTS, "\"%s\" is a link: nothing was changed", to);
    LEAT_TRY(leat_path_list_dir(from, &names, err));
    leat_code code = LEAT_OK;
    for (int64_t i = 0; i < names.count && code == LEAT_OK; i++)
        code = check_free(to, names.paths[i], err);
    for (int pass = 0; pass < 2 && code == LEAT_OK; pass++) {
        for (int64_t i = 0; i < names.count && code == LEAT_OK; i++) {
            bool is_last = strcmp(names.paths[i], last) == 0;
            if (is_last == (pass == 1)) code = move_file(move, from, to, names.paths[i], err);
        }
        if (code == LEAT_OK) code = leat_path_sync_dir(to, err);
    }
    leat_path_list_free(&names);
    return code;
}

bool leat_path_exchange(const char *one, const char *other, int *number) {
    *number = 0;
    if (LEAT_FAULT(LEAT_FAULT_RENAME)) *number = EINVAL;
    else if (renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE) != 0) *number = errno;
    return *number != EINVAL && *number != ENOSYS;
}

int leat_path_put_back(const char *from, const char *to) {
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE) == 0) return 0;
    return rename(from, to) == 0 ? 0 : errno;
}

/* A folder replaces one that is not empty; the old one gets a temporary name. */
static leat_code replace_folder(const char *from, const char *to, char old[LEAT_PATH_BYTES],
                                leat_error *err) {
    int number = 0;
    if (leat_path_exchange(from, to, &number)) {
        snprintf(old, LEAT_PATH_BYTES, "%s", from);
        if (number == 0) return LEAT_OK;
        return leat_fail_errno(err, number, "cannot exchange \"%s\" and \"%s\"", from, to);
    }
    if (snprintf(old, LEAT_PATH_BYTES, "%s.old", from) >= LEAT_PATH_BYTES) {
        return leat_fail(err, LEAT_ERR_LIMIT, "path \"%.64s...\" is too long", from);
    }
    LEAT_TRY(leat_path_rename(to, old, err));
    leat_code code = leat_path_rename(from, to, err);
    if (code != LEAT_OK) (void)rename(old, to);
    return code;
}

leat_code leat_path_replace(const char *from, const char *to, leat_error *err) {
    char old[LEAT_PATH_BYTES] = "";
    int number = 0;
    if (LEAT_FAULT(LEAT_FAULT_RENAME)) number = EIO;
    else if (rename(from, to) != 0) number = errno;
    if (number == ENOTEMPTY || number == EEXIST) {
        LEAT_TRY(replace_folder(from, to, old, err));
    } else if (number != 0) {
        return leat_fail_errno(err, number, "cannot rename \"%s\" to \"%s\"", from, to);
    }
    LEAT_TRY(leat_path_sync_parent(to, err));
    return old[0] == 0 ? LEAT_OK : leat_path_remove_tree(old, err);
}

leat_code leat_path_remove(const char *path, leat_error *err) {
    if (LEAT_FAULT(LEAT_FAULT_PATH)) errno = EIO;
    else if (unlink(path) == 0 || errno == ENOENT) return LEAT_OK;
    return leat_fail_errno(err, errno, "cannot remove \"%s\"", path);
}

void leat_path_discard(const char *path) {
    if (leat_path_remove(path, NULL) != LEAT_OK) return;
}

leat_code leat_path_remove_dir(const char *path, leat_error *err) {
    if (LEAT_FAULT(LEAT_FAULT_PATH)) errno = EIO;
    else if (rmdir(path) == 0 || errno == ENOENT) return LEAT_OK;
    return leat_fail_errno(err, errno, "cannot remove folder \"%s\"", path);
}

/* The maximum depth of folders that are removed; leat's own are two deep. */
#define TREE_DEPTH_MAX 32

static leat_code remove_tree(const char *path, int depth, leat_error *err) {
    struct stat found;
    if (LEAT_FAULT(LEAT_FAULT_PATH)) {
        return leat_fail_errno(err, EIO, "cannot look at \"%s\"", path);
    }
    if (lstat(path, &found) != 0) {
        if (errno == ENOENT) return LEAT_OK;
        return leat_fail_errno(err, errno, "cannot look at \"%s\"", path);
    }
    if (!S_ISDIR(found.st_mode)) return leat_path_remove(path, err);
    if (depth > TREE_DEPTH_MAX) {
        return leat_fail(err, LEAT_ERR_LIMIT, "folders nested deeper than %d at \"%s\"",
                         TREE_DEPTH_MAX, path);
    }
    leat_path_list names = {0};
    leat_code code = leat_path_list_dir(path, &names, err);
    for (int64_t i = 0; i < names.count && code == LEAT_OK; i++) {
        char child[LEAT_PATH_BYTES];
        code = leat_path_join(child, sizeof child, path, names.paths[i], err);
        if (code == LEAT_OK) code = remove_tree(child, depth + 1, err);
    }
    leat_path_list_free(&names);
    if (code == LEAT_OK && rmdir(path) != 0 && errno != ENOENT) {
        code = leat_fail_errno(err, errno, "cannot remove folder \"%s\"", path);
    }
    return code;
}

leat_code leat_path_remove_tree(const char *path, leat_error *err) {
    return remove_tree(path, 0, err);
}

leat_code leat_folder_can_write(const char *path, leat_error *err) {
    leat_path_facts facts;
    LEAT_TRY(leat_path_stat(path, &facts, err));
    if (facts.kind == LEAT_PATH_NONE)
        return leat_fail(err, LEAT_ERR_NOT_FOUND, "there is no folder \"%s\"", path);
    if (facts.kind != LEAT_PATH_DIR)
        return leat_fail(err, LEAT_ERR_EXISTS, "\"%s\" is not a folder", path);
    if (access(path, W_OK | X_OK) != 0)
        return leat_fail_errno(err, errno, "cannot write to folder \"%s\"", path);
    return LEAT_OK;
}

int64_t leat_path_free_bytes(const char *path) {
    struct statvfs facts;
    if (statvfs(path, &facts) != 0) return -1;
    return (int64_t)facts.f_bavail * (int64_t)facts.f_frsize;
}

leat_code leat_path_real(const char *path, char out[LEAT_PATH_BYTES], leat_error *err) {
    _Static_assert(LEAT_PATH_BYTES >= PATH_MAX, "realpath writes so much");
    if (LEAT_FAULT(LEAT_FAULT_PATH)) errno = EIO;
    else if (realpath(path, out) != NULL) return LEAT_OK;
    out[0] = 0;
    return leat_fail_errno(err, errno, "cannot resolve the path \"%s\"", path);
}

bool leat_path_resolve(const char *path, char out[LEAT_PATH_BYTES]) {
    if (realpath(path, out) != NULL) return true;
    out[0] = 0;
    return false;
}

bool leat_path_get_rights(const char *path, leat_path_rights *rights) {
    struct stat found;
    *rights = (leat_path_rights){0};
    if (lstat(path, &found) != 0) return false;
    rights->is_link = S_ISLNK(found.st_mode);
    rights->owner = found.st_uid;
    rights->group = found.st_gid;
    /* links cannot be changed, whatever their mode says */
    rights->group_writes = !rights->is_link && (found.st_mode & S_IWGRP) != 0;
    rights->others_write = !rights->is_link && (found.st_mode & S_IWOTH) != 0;
    rights->sticky = (found.st_mode & S_ISVTX) != 0;
    return true;
}

leat_code leat_path_join(char *out, int64_t size_bytes, const char *dir, const char *name,
                         leat_error *err) {
    int length = snprintf(out, (size_t)size_bytes, "%s/%s", dir, name);
    if (length >= 0 && length < size_bytes) return LEAT_OK;
    out[0] = 0;
    return leat_fail(err, LEAT_ERR_LIMIT, "path \"%.64s.../%.64s\" is too long", dir, name);
}

bool leat_path_has_suffix(const char *path, const char *suffix) {
    size_t size = strlen(path), end = strlen(suffix);
    return size > end && strcmp(path + size - end, suffix) == 0;
}

bool leat_path_has_suffix_any_case(const char *path, const char *suffix) {
    size_t size = strlen(path), end = strlen(suffix);
    if (size <= end) return false;
    for (size_t i = 0; i < end; i++) {
        char c = path[size - end + i];
        if (c >= 'A' && c <= 'Z') c = (char)(c | 0x20);
        if (c != suffix[i]) return false;
    }
    return true;
}

/* ---- lists of paths ---- */

leat_code leat_path_list_add(leat_path_list *list, const char *path, leat_error *err) {
    LEAT_TRY(LEAT_GROW(&list->paths, &list->capacity, list->count + 1, err));
    LEAT_TRY(leat_strdup(&list->paths[list->count], path, err));
    list->count++;
    return LEAT_OK;
}

static int compare_paths(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void leat_path_list_sort(leat_path_list *list) {
    if (list->count > 1) {
        qsort(list->paths, (size_t)list->count, sizeof *list->paths, compare_paths);
    }
}

void leat_path_list_free(leat_path_list *list) {
    for (int64_t i = 0; i < list->count; i++) leat_free(list->paths[i]);
    leat_free(list->paths);
    *list = (leat_path_list){0};
}

leat_code leat_path_list_open(int fd, const char *path, leat_path_list *list, leat_error *err) {
    DIR *dir = NULL;
    if (LEAT_FAULT(LEAT_FAULT_PATH)) errno = EIO;
    else dir = fdopendir(fd);
    if (dir == NULL) {
        int number = errno;
        close(fd);
        return leat_fail_errno(err, number, "cannot list folder \"%s\"", path);
    }
    leat_code code = LEAT_OK;
    for (;;) {
        errno = 0;
        struct dirent *entry = readdir(dir);
        if (entry == NULL) {
            if (errno != 0) code = leat_fail_errno(err, errno, "cannot list folder \"%s\"", path);
            break;
        }
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        code = leat_path_list_add(list, entry->d_name, err);
        if (code != LEAT_OK) break;
    }
    closedir(dir);
    if (code != LEAT_OK) leat_path_list_free(list);
    leat_path_list_sort(list);
    return code;
}

bool leat_path_may_list(const char *path) {
    return faccessat(AT_FDCWD, path, R_OK | X_OK, AT_EACCESS) == 0 ||
           (errno != EACCES && errno != EPERM);
}

leat_code leat_path_list_dir(const char *path, leat_path_list *list, leat_error *err) {
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) return leat_path_list_open(fd, path, list, err);
    return leat_fail_errno(err, errno, "cannot list folder \"%s\"", path);
}

/* A missing folder has no matches; an unreadable one may have some. */
static int is_unreadable(const char *path, int number) {
    (void)path;
    return number != ENOENT && number != ENOTDIR;
}

/* Whether a wildcard has matched the "_" at the beginning of a name. */
static bool is_hidden_match(const char *pattern, const char *path) {
    for (;;) {
        pattern += strspn(pattern, "/");
        path += strspn(path, "/");
        if (*pattern == 0 || *path == 0) return false;
        if (*path == '_' && strchr("*?[", *pattern) != NULL) return true;
        pattern += strcspn(pattern, "/");
        path += strcspn(path, "/");
    }
}

leat_code leat_path_glob(const char *pattern, leat_path_list *list, leat_error *err) {
    glob_t found = {0};
    int result =
        LEAT_FAULT(LEAT_FAULT_PATH) ? GLOB_ABORTED : glob(pattern, 0, is_unreadable, &found);
    leat_code code = LEAT_OK;
    if (result == GLOB_NOMATCH) {
        code = leat_fail(err, LEAT_ERR_NOT_FOUND, "no file matches \"%s\"", pattern);
    } else if (result == GLOB_NOSPACE) {
        code = leat_fail(err, LEAT_ERR_MEMORY, "cannot list files that match \"%s\"", pattern);
    } else if (result != 0) {
        code = leat_fail(err, LEAT_ERR_IO, "cannot read a folder that \"%s\" names", pattern);
    }
    for (size_t i = 0; i < found.gl_pathc && code == LEAT_OK; i++) {
        if (is_hidden_match(pattern, found.gl_pathv[i])) continue;
        code = leat_path_list_add(list, found.gl_pathv[i], err);
    }
    globfree(&found);
    if (code == LEAT_OK && list->count == 0)
        code = leat_fail(err, LEAT_ERR_NOT_FOUND,
                         "no file matches \"%s\" (a wildcard does not match names that begin with "
                         "\"_\")",
                         pattern);
    if (code != LEAT_OK) leat_path_list_free(list);
    leat_path_list_sort(list);
    return code;
}
