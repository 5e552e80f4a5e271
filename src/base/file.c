/*
 * The one door to the file system. Every call names the file in its error, retries what a signal
 * interrupted, and never returns a half read or half written piece as success.
 */
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/hash.h"
#include "base/mem.h"

struct leat_file {
    int fd;
    char *path;
    char *target; /* the name that a draft is to have; NULL: no draft */
};

/* One call moves at most this much, so that a signal or a full disk is seen in time. */
#define IO_STEP_BYTES (INT64_C(1) << 30)

/* The errno of an injected fault, as the test asked for it. */
static int fault_errno(leat_fault_kind kind) { return kind == LEAT_FAULT_WRITE ? ENOSPC : EIO; }

leat_code leat_file_open(leat_file **out, const char *path, leat_file_mode mode, leat_error *err) {
    static const int flags_of[] = {
        [LEAT_FILE_READ] = O_RDONLY,
        [LEAT_FILE_CREATE] = O_RDWR | O_CREAT | O_TRUNC,
        [LEAT_FILE_NEW] = O_RDWR | O_CREAT | O_EXCL,
        [LEAT_FILE_UPDATE] = O_RDWR,
    };
    *out = NULL;
    leat_file *file = NULL;
    LEAT_TRY(LEAT_NEW(&file, 1, err));
    file->fd = -1;
    leat_code code = leat_strdup(&file->path, path, err);
    if (code == LEAT_OK) {
        int number = 0;
        if (LEAT_FAULT(LEAT_FAULT_OPEN)) {
            number = EIO;
        } else {
            do {
                file->fd = open(path, flags_of[mode] | O_CLOEXEC, 0666);
            } while (file->fd < 0 && errno == EINTR);
            number = file->fd < 0 ? errno : 0;
        }
        if (number != 0) {
            code = leat_fail_errno(err, number, "cannot %s \"%s\"",
                                   mode == LEAT_FILE_READ ? "open" : "create", path);
        }
    }
    if (code != LEAT_OK) {
        leat_file_close(file);
        return code;
    }
    *out = file;
    return LEAT_OK;
}

void leat_file_close(leat_file *file) {
    if (file == NULL) return;
    if (file->target != NULL) (void)unlink(file->path);
    if (file->fd >= 0) close(file->fd);
    leat_free(file->path);
    leat_free(file->target);
    leat_free(file);
}

const char *leat_file_path(const leat_file *file) { return file->path; }

leat_code leat_file_size(leat_file *file, int64_t *size_bytes, leat_error *err) {
    *size_bytes = 0;
    struct stat facts;
    if (fstat(file->fd, &facts) != 0) {
        return leat_fail_errno(err, errno, "cannot look at \"%s\"", file->path);
    }
    *size_bytes = facts.st_size;
    return LEAT_OK;
}

leat_code leat_file_pread(leat_file *file, void *bytes, int64_t size_bytes, int64_t offset,
                          leat_error *err) {
    uint8_t *at = bytes;
    int64_t done = 0;
    while (done < size_bytes) {
        int64_t step = size_bytes - done < IO_STEP_BYTES ? size_bytes - done : IO_STEP_BYTES;
        ssize_t got = -1;
        if (LEAT_FAULT(LEAT_FAULT_READ)) {
            errno = fault_errno(LEAT_FAULT_READ);
        } else {
            got = pread(file->fd, at + done, (size_t)step, offset + done);
        }
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            return leat_fail_errno(err, errno, "cannot read %lld bytes at byte %lld of \"%s\"",
                                   (long long)size_bytes, (long long)offset, file->path);
        }
        if (got == 0) {
            return leat_fail(
                err, LEAT_ERR_CORRUPT, "\"%s\" ends at byte %lld, expected %lld bytes at byte %lld",
                file->path, (long long)(offset + done), (long long)size_bytes, (long long)offset);
        }
        done += got;
    }
    return LEAT_OK;
}

leat_code leat_file_read(leat_file *file, void *bytes, int64_t size_bytes, int64_t *got,
                         leat_error *err) {
    *got = 0;
    for (;;) {
        int64_t step = size_bytes < IO_STEP_BYTES ? size_bytes : IO_STEP_BYTES;
        ssize_t count = -1;
        if (LEAT_FAULT(LEAT_FAULT_READ)) {
            errno = fault_errno(LEAT_FAULT_READ);
        } else {
            count = read(file->fd, bytes, (size_t)step);
        }
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return leat_fail_errno(err, errno, "cannot read \"%s\"", file->path);
        *got = count;
        return LEAT_OK;
    }
}

leat_code leat_file_pwrite(leat_file *file, const void *bytes, int64_t size_bytes, int64_t offset,
                           leat_error *err) {
    const uint8_t *at = bytes;
    int64_t done = 0;
    while (done < size_bytes) {
        int64_t step = size_bytes - done < IO_STEP_BYTES ? size_bytes - done : IO_STEP_BYTES;
        ssize_t count = -1;
        if (LEAT_FAULT(LEAT_FAULT_WRITE)) {
            errno = fault_errno(LEAT_FAULT_WRITE);
        } else {
            count = pwrite(file->fd, at + done, (size_t)step, offset + done);
        }
        if (count < 0 && errno == EINTR) continue;
        if (count == 0) errno = EIO;
        if (count <= 0) {
            return leat_fail_errno(err, errno, "cannot write %lld bytes at byte %lld of \"%s\"",
                                   (long long)size_bytes, (long long)offset, file->path);
        }
        done += count;
    }
    return LEAT_OK;
}

void leat_file_start_writeback(leat_file *file, int64_t offset, int64_t size_bytes) {
    (void)sync_file_range(file->fd, offset, size_bytes, SYNC_FILE_RANGE_WRITE);
}

leat_code leat_file_sync(leat_file *file, leat_error *err) {
    int number = 0;
    if (LEAT_FAULT(LEAT_FAULT_SYNC)) {
        number = fault_errno(LEAT_FAULT_SYNC);
    } else {
        int result = 0;
        do {
            result = fsync(file->fd);
        } while (result != 0 && errno == EINTR);
        number = result != 0 ? errno : 0;
    }
    if (number == 0) return LEAT_OK;
    return leat_fail_errno(err, number, "cannot sync \"%s\" to disk", file->path);
}

leat_code leat_file_truncate(leat_file *file, int64_t size_bytes, leat_error *err) {
    if (LEAT_FAULT(LEAT_FAULT_WRITE)) errno = EIO;
    else if (ftruncate(file->fd, size_bytes) == 0) return LEAT_OK;
    return leat_fail_errno(err, errno, "cannot cut \"%s\" to %lld bytes", file->path,
                           (long long)size_bytes);
}

void leat_file_punch(leat_file *file, int64_t offset, int64_t size_bytes) {
    (void)fallocate(file->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, size_bytes);
}

void leat_file_will_need(leat_file *file, int64_t offset, int64_t size_bytes) {
    (void)posix_fadvise(file->fd, offset, size_bytes, POSIX_FADV_WILLNEED);
}

void *leat_file_mmap(leat_file *file, void *at, int64_t size_bytes) {
    int flags = MAP_SHARED | (at == NULL ? 0 : MAP_FIXED);
    return mmap(at, (size_t)size_bytes, PROT_READ, flags, file->fd, 0);
}

leat_code leat_file_lock(leat_file *file, leat_error *err) {
    if (LEAT_FAULT(LEAT_FAULT_OPEN)) {
        return leat_fail_errno(err, EIO, "cannot lock \"%s\"", file->path);
    }
    if (flock(file->fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK) {
            return leat_fail(err, LEAT_ERR_BUSY, "\"%s\" is in use by another process", file->path);
        }
        return leat_fail_errno(err, errno, "cannot lock \"%s\"", file->path);
    }
    /* Who held it before may have removed the file meanwhile: its lock keeps nobody out. */
    struct stat ours, there;
    bool same = fstat(file->fd, &ours) == 0 && stat(file->path, &there) == 0 &&
                ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
    if (same) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_NOT_FOUND, "cannot lock \"%s\": it was removed", file->path);
}

/* ---- whole files ---- */

leat_code leat_file_load(const char *path, int64_t max_bytes, uint8_t **out, int64_t *size_bytes,
                         leat_error *err) {
    *out = NULL;
    *size_bytes = 0;
    leat_file *file = NULL;
    LEAT_TRY(leat_file_open(&file, path, LEAT_FILE_READ, err));
    int64_t size = 0;
    uint8_t *bytes = NULL;
    leat_code code = leat_file_size(file, &size, err);
    if (code == LEAT_OK && size > max_bytes) {
        code = leat_fail(err, LEAT_ERR_LIMIT, "\"%s\" has %lld bytes, at most %lld are read", path,
                         (long long)size, (long long)max_bytes);
    }
    if (code == LEAT_OK) code = leat_alloc((void **)&bytes, size + 1, 1, err);
    if (code == LEAT_OK) code = leat_file_pread(file, bytes, size, 0, err);
    leat_file_close(file);
    if (code != LEAT_OK) {
        leat_free(bytes);
        return code;
    }
    *out = bytes;
    *size_bytes = size;
    return LEAT_OK;
}

leat_code leat_file_sha256(const char *path, uint8_t digest[32], leat_error *err) {
    uint8_t piece[16384];
    int64_t got = 0;
    leat_file *file = NULL;
    leat_sha256 sha;
    memset(digest, 0, 32);
    leat_sha256_init(&sha);
    LEAT_TRY(leat_file_open(&file, path, LEAT_FILE_READ, err));
    leat_code code = leat_file_read(file, piece, (int64_t)sizeof piece, &got, err);
    while (code == LEAT_OK && got > 0) {
        leat_sha256_update(&sha, piece, got);
        code = leat_file_read(file, piece, (int64_t)sizeof piece, &got, err);
    }
    leat_file_close(file);
    if (code == LEAT_OK) leat_sha256_final(&sha, digest);
    return code;
}

/* Syncs the folder that `path` is in. */
static leat_code sync_parent(const char *path, leat_error *err) {
    char parent[LEAT_PATH_BYTES] = ".";
    const char *slash = strrchr(path, '/');
    size_t length = slash == path ? 1 : slash == NULL ? 0 : (size_t)(slash - path);
    if (length >= sizeof parent) {
        return leat_fail(err, LEAT_ERR_LIMIT, "path \"%.64s...\" is too long", path);
    }
    if (length > 0) {
        memcpy(parent, path, length);
        parent[length] = 0;
    }
    return leat_path_sync_dir(parent, err);
}

/* Where a draft of this name goes in the end: a link is followed, and what is no file stays. */
static leat_code find_target(const char **path, char room[LEAT_PATH_BYTES], leat_error *err) {
    leat_path_facts facts;
    struct stat found;
    LEAT_TRY(leat_path_stat(*path, &facts, err));
    if (facts.kind == LEAT_PATH_DIR || facts.kind == LEAT_PATH_OTHER) {
        return leat_fail(err, LEAT_ERR_EXISTS, "\"%s\" is %s: name a file to write", *path,
                         facts.kind == LEAT_PATH_DIR ? "a folder" : "no regular file");
    }
    if (facts.kind == LEAT_PATH_NONE || lstat(*path, &found) != 0 || !S_ISLNK(found.st_mode))
        return LEAT_OK;
    if (realpath(*path, room) == NULL)
        return leat_fail_errno(err, errno, "cannot follow the link \"%s\"", *path);
    *path = room;
    return LEAT_OK;
}

leat_code leat_file_open_draft(leat_file **out, const char *path, leat_error *err) {
    char temporary[LEAT_PATH_BYTES], room[LEAT_PATH_BYTES], *target = NULL;
    *out = NULL;
    LEAT_TRY(find_target(&path, room, err));
    if (snprintf(temporary, sizeof temporary, "%s.tmp", path) >= (int)sizeof temporary) {
        return leat_fail(err, LEAT_ERR_LIMIT, "path \"%.64s...\" is too long", path);
    }
    LEAT_TRY(leat_strdup(&target, path, err));
    leat_code code = leat_file_open(out, temporary, LEAT_FILE_CREATE, err);
    if (code == LEAT_OK) (*out)->target = target;
    else leat_free(target);
    return code;
}

leat_code leat_file_publish(leat_file *file, bool durable, leat_error *err) {
    LEAT_ASSERT(file->target != NULL);
    if (durable) LEAT_TRY(leat_file_sync(file, err));
    LEAT_TRY(leat_path_rename(file->path, file->target, err));
    leat_free(file->path);
    file->path = file->target;
    file->target = NULL;
    return durable ? sync_parent(file->path, err) : LEAT_OK;
}

leat_code leat_file_save(const char *path, const void *bytes, int64_t size_bytes, leat_error *err) {
    leat_file *file = NULL;
    LEAT_TRY(leat_file_open_draft(&file, path, err));
    leat_code code = leat_file_pwrite(file, bytes, size_bytes, 0, err);
    if (code == LEAT_OK) code = leat_file_publish(file, true, err);
    leat_file_close(file);
    return code;
}

/* ---- paths ---- */

leat_code leat_path_stat(const char *path, leat_path_facts *facts, leat_error *err) {
    *facts = (leat_path_facts){0};
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
    return LEAT_OK;
}

leat_code leat_path_make_dir(const char *path, leat_error *err) {
    char part[LEAT_PATH_BYTES];
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof part) {
        return leat_fail(err, LEAT_ERR_OPTION, "folder name of %zu bytes", length);
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

leat_code leat_path_sync_dir(const char *path, leat_error *err) {
    int fd = -1, number = 0;
    if (LEAT_FAULT(LEAT_FAULT_SYNC)) {
        number = EIO;
    } else {
        fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0 || fsync(fd) != 0) number = errno;
        if (fd >= 0) close(fd);
    }
    /* Some network file systems have no fsync of folders; their renames are durable as they are. */
    if (number == 0 || number == EINVAL) return LEAT_OK;
    return leat_fail_errno(err, number, "cannot sync folder \"%s\" to disk", path);
}

leat_code leat_path_rename(const char *from, const char *to, leat_error *err) {
    if (LEAT_FAULT(LEAT_FAULT_RENAME)) errno = EIO;
    else if (rename(from, to) == 0) return LEAT_OK;
    return leat_fail_errno(err, errno, "cannot rename \"%s\" to \"%s\"", from, to);
}

/* Two folders exchange their names in one step; false where the file system cannot, as which a
 * fault counts here. */
static bool exchange(const char *one, const char *other, int *number) {
    *number = 0;
    if (LEAT_FAULT(LEAT_FAULT_RENAME)) *number = EINVAL;
    else if (renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE) != 0) *number = errno;
    return *number != EINVAL && *number != ENOSYS;
}

/* A folder takes the name of one that is not empty; the old one gets a name of its own. */
static leat_code replace_folder(const char *from, const char *to, char old[LEAT_PATH_BYTES],
                                leat_error *err) {
    int number = 0;
    if (exchange(from, to, &number)) {
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
    LEAT_TRY(sync_parent(to, err));
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

/* Folders are nested at most this deep where we remove them; ours are two deep. */
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
        return leat_fail(err, LEAT_ERR_EXISTS, "\"%s\" is no folder", path);
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
    return leat_fail_errno(err, errno, "cannot find out where \"%s\" is", path);
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

leat_code leat_path_list_dir(const char *path, leat_path_list *list, leat_error *err) {
    DIR *dir = NULL;
    if (LEAT_FAULT(LEAT_FAULT_PATH)) errno = EIO;
    else dir = opendir(path);
    if (dir == NULL) return leat_fail_errno(err, errno, "cannot list folder \"%s\"", path);
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

/* A folder that is not there has no matches; one that cannot be read may have. */
static int is_unreadable(const char *path, int number) {
    (void)path;
    return number != ENOENT && number != ENOTDIR;
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
        code = leat_path_list_add(list, found.gl_pathv[i], err);
    }
    globfree(&found);
    if (code != LEAT_OK) leat_path_list_free(list);
    leat_path_list_sort(list);
    return code;
}

/* ---- this process ---- */

static int64_t status_bytes(const char *name) {
    leat_file *file = NULL;
    char text[4096];
    int64_t got = 0;
    if (leat_file_open(&file, "/proc/self/status", LEAT_FILE_READ, NULL) != LEAT_OK) return -1;
    leat_code code = leat_file_read(file, text, (int64_t)sizeof text - 1, &got, NULL);
    leat_file_close(file);
    if (code != LEAT_OK) return -1;
    text[got] = 0;
    const char *line = strstr(text, name);
    return line == NULL ? -1 : (int64_t)strtoll(line + strlen(name), NULL, 10) * 1024;
}

int64_t leat_rss_bytes(void) { return status_bytes("VmRSS:"); }
int64_t leat_rss_peak_bytes(void) { return status_bytes("VmHWM:"); }
