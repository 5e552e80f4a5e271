/*
 * The one door to the file system. Every call names the file in its error, retries what a signal
 * interrupted, and never returns a half read or half written piece as success.
 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/own.h"

struct leat_file {
    int fd;
    char *path;  /* for messages: for a draft, its final name */
    char *draft; /* the name of a draft until it is published; NULL: not a draft */
    bool output; /* published only over a file with this mark */
    leat_mark mark;
};

/* The maximum per call, so that a signal or a full disk is noticed in time. */
#define IO_STEP_BYTES (INT64_C(1) << 30)

/* The errno of an injected fault, as requested by the test. */
static int fault_errno(leat_fault_kind kind) { return kind == LEAT_FAULT_WRITE ? ENOSPC : EIO; }

/* The end of a function that opens: *out is NULL if it failed. */
static leat_code end_open(leat_file **out, leat_code code) {
    if (code == LEAT_OK) return LEAT_OK;
    leat_file_close(*out);
    *out = NULL;
    return code;
}

/* A file that messages call `shown`, without a descriptor yet. */
static leat_code begin_file(leat_file **out, const char *shown, leat_error *err) {
    *out = NULL;
    LEAT_TRY(LEAT_NEW(out, 1, err));
    (*out)->fd = -1;
    return end_open(out, leat_strdup(&(*out)->path, shown, err));
}

/* Opens `path`, which messages call `shown`. */
static leat_code open_as(leat_file **out, const char *path, int flags, mode_t permissions,
                         const char *shown, leat_error *err) {
    int number = EIO;
    *out = NULL;
    LEAT_TRY(leat_path_check_local(path, err));
    LEAT_TRY(begin_file(out, shown, err));
    if (!LEAT_FAULT(LEAT_FAULT_OPEN)) {
        do {
            (*out)->fd = open(path, flags | O_CLOEXEC, permissions);
        } while ((*out)->fd < 0 && errno == EINTR);
        number = (*out)->fd < 0 ? errno : 0;
    }
    if (number == 0) return LEAT_OK;
    return end_open(out, leat_fail_errno(err, number, "cannot %s \"%s\"",
                                         flags & O_CREAT ? "create" : "open", shown));
}

/* Removes a file or a link of this name, so that a new file can have it. Anything else of that name
 * stays, and opening fails. */
static void free_name(const char *path) {
    struct stat found;
    if (lstat(path, &found) == 0 && (S_ISREG(found.st_mode) || S_ISLNK(found.st_mode)))
        (void)unlink(path);
}

/* What LEAT_FILE_OWN refuses; a missing file is noticed when it is opened. */
static leat_code check_own(const char *path, leat_error *err) {
    struct stat found;
    if (lstat(path, &found) != 0 || S_ISREG(found.st_mode)) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_EXISTS, "\"%s\" is %s; move it away", path,
                     S_ISLNK(found.st_mode) ? "a link" : "not a regular file");
}

/* Of what is open: it may be another one than a moment ago. */
static leat_code check_plain(const leat_file *file, leat_error *err) {
    struct stat found;
    if (fstat(file->fd, &found) == 0 && S_ISREG(found.st_mode)) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_INPUT, "\"%s\" is not a regular file; move it away", file->path);
}

leat_code leat_file_open(leat_file **out, const char *path, leat_file_mode mode, leat_error *err) {
    static const int flags_of[] = {
        [LEAT_FILE_READ] = O_RDONLY,
        [LEAT_FILE_CREATE] = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW,
        [LEAT_FILE_NEW] = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW,
        [LEAT_FILE_SECRET] = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW,
        [LEAT_FILE_UPDATE] = O_RDWR,
        [LEAT_FILE_OWN] = O_RDWR | O_NOFOLLOW,
        [LEAT_FILE_PLAIN] = O_RDONLY | O_NONBLOCK | O_NOCTTY,
    };
    *out = NULL;
    if (mode == LEAT_FILE_OWN) LEAT_TRY(check_own(path, err));
    if (mode == LEAT_FILE_CREATE) free_name(path);
    LEAT_TRY(open_as(out, path, flags_of[mode], mode == LEAT_FILE_SECRET ? 0600 : 0666, path, err));
    return mode == LEAT_FILE_PLAIN ? end_open(out, check_plain(*out, err)) : LEAT_OK;
}

/* Of a folder that is open, in which a link is not followed; -1 and errno. */
static int open_name(int dir, const char *name) {
    int fd;
    do {
        fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    } while (fd < 0 && errno == EINTR);
    return fd;
}

leat_code leat_file_open_within(leat_file **out, const char *dir, const char *name,
                                leat_error *err) {
    char path[LEAT_PATH_BYTES];
    *out = NULL;
    LEAT_TRY(leat_path_check_local(dir, err));
    LEAT_TRY(leat_path_join(path, sizeof path, dir, name, err));
    const int at = open(dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (at < 0 && (errno == ENOTDIR || errno == ELOOP))
        return leat_fail(err, LEAT_ERR_INPUT, "\"%s\" is a link, or not a folder; move it away",
                         dir);
    if (at < 0) return leat_fail_errno(err, errno, "cannot open \"%s\"", dir);
    const int fd = open_name(at, name), number = errno;
    close(at);
    if (fd < 0 && number == ELOOP)
        return leat_fail(err, LEAT_ERR_INPUT, "\"%s\" is a link; move it away", path);
    if (fd < 0) return leat_fail_errno(err, number, "cannot open \"%s\"", path);
    const leat_code code = leat_file_borrow(out, fd, path, err);
    close(fd);
    return code == LEAT_OK ? end_open(out, check_plain(*out, err)) : code;
}

leat_code leat_file_borrow(leat_file **out, int fd, const char *name, leat_error *err) {
    LEAT_TRY(begin_file(out, name, err));
    const bool fails = LEAT_FAULT(LEAT_FAULT_OPEN);
    if (fails) errno = EIO;
    else (*out)->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if ((*out)->fd >= 0) return LEAT_OK;
    return end_open(out, leat_fail_errno(err, errno, "cannot read \"%s\"", name));
}

leat_code leat_file_open_memory(leat_file **out, const char *name,
                                char path[LEAT_FILE_MEMORY_BYTES], leat_error *err) {
    struct stat found;
    path[0] = 0;
    LEAT_TRY(begin_file(out, name, err));
    const bool fails = LEAT_FAULT(LEAT_FAULT_OPEN);
    if (fails) errno = EIO;
    else (*out)->fd = memfd_create("leat", MFD_CLOEXEC);
    if ((*out)->fd < 0)
        return end_open(out, leat_fail_errno(err, errno, "cannot keep %s in memory", name));
    snprintf(path, LEAT_FILE_MEMORY_BYTES, "/proc/self/fd/%d", (*out)->fd);
    if (stat(path, &found) == 0) return LEAT_OK;
    path[0] = 0;
    return end_open(out,
                    leat_fail(err, LEAT_ERR_UNSUPPORTED,
                              "%s cannot be read as a file, because /proc is not mounted: mount it",
                              name));
}

bool leat_file_wait(leat_file *file, int timeout_ms) {
    struct pollfd at = {.fd = file->fd, .events = POLLIN};
    return poll(&at, 1, timeout_ms) > 0;
}

/* Only the file itself: its name may belong to another one (leat_own_rename). */
static void remove_draft(const leat_file *file) {
    struct stat own, there;
    if (fstat(file->fd, &own) == 0 && lstat(file->draft, &there) == 0 &&
        own.st_dev == there.st_dev && own.st_ino == there.st_ino)
        (void)unlink(file->draft);
}

void leat_file_close(leat_file *file) {
    if (file == NULL) return;
    if (file->draft != NULL) remove_draft(file);
    if (file->fd >= 0) close(file->fd);
    leat_free(file->path);
    leat_free(file->draft);
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
            return leat_fail(err, LEAT_ERR_CORRUPT,
                             "\"%s\" ends at byte %lld, but %lld bytes were expected at byte %lld",
                             file->path, (long long)(offset + done), (long long)size_bytes,
                             (long long)offset);
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
    return leat_fail_errno(err, errno, "cannot truncate \"%s\" to %lld bytes", file->path,
                           (long long)size_bytes);
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
    /* The previous holder may have removed the file meanwhile: then the lock excludes nobody. */
    struct stat ours, there;
    bool same = fstat(file->fd, &ours) == 0 && lstat(file->path, &there) == 0 &&
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
    LEAT_TRY(open_as(&file, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, path, err));
    int64_t size = 0;
    uint8_t *bytes = NULL;
    leat_code code = leat_file_size(file, &size, err);
    if (code == LEAT_OK && size > max_bytes) {
        code = leat_fail(err, LEAT_ERR_LIMIT, "\"%s\" has %lld bytes; the limit is %lld", path,
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

/* ---- drafts ---- */

/* Where a draft of this name ends up: links are followed, and anything that is not a file stays. */
static leat_code find_target(const char *path, char target[LEAT_PATH_BYTES], leat_error *err) {
    leat_path_facts facts;
    target[0] = 0;
    LEAT_TRY(leat_path_stat(path, &facts, err));
    if (facts.kind == LEAT_PATH_DIR || facts.kind == LEAT_PATH_OTHER) {
        return leat_fail(err, LEAT_ERR_EXISTS, "\"%s\" is %s; give the path of a file to write",
                         path, facts.kind == LEAT_PATH_DIR ? "a folder" : "not a regular file");
    }
    return leat_path_target(target, path, err);
}

leat_code leat_file_can_save(const char *path, leat_mark mark, bool replace, leat_error *err) {
    char target[LEAT_PATH_BYTES], parent[LEAT_PATH_BYTES];
    LEAT_TRY(find_target(path, target, err));
    if (!replace) LEAT_TRY(leat_own_check(target, mark, err));
    LEAT_TRY(leat_path_parent(target, parent, err));
    leat_code code = leat_folder_can_write(parent, err);
    return code == LEAT_OK ? LEAT_OK : leat_error_context(err, code, "cannot create \"%s\"", path);
}

/* A draft collides with another only if random numbers repeat. */
#define DRAFT_TRIES 8

static leat_code open_new_draft(leat_file **out, const char *target, mode_t mode,
                                char draft[LEAT_PATH_BYTES], leat_error *err) {
    leat_code code = LEAT_ERR_EXISTS;
    for (int i = 0; i < DRAFT_TRIES && code == LEAT_ERR_EXISTS; i++) {
        LEAT_TRY(leat_path_draft(draft, target, err));
        code = open_as(out, draft, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode, target, err);
    }
    return code;
}

leat_code leat_file_open_nameless(leat_file **out, const char *dir, leat_error *err) {
    char path[LEAT_PATH_BYTES], draft[LEAT_PATH_BYTES];
    *out = NULL;
    LEAT_TRY(leat_path_join(path, sizeof path, dir, "scratch", err));
    LEAT_TRY(open_new_draft(out, path, 0600, draft, err));
    const leat_code code = leat_path_remove(draft, err);
    if (code != LEAT_OK) leat_path_discard(draft);
    return end_open(out, code);
}

static leat_code open_draft(leat_file **out, const char *path, bool secret, leat_error *err) {
    char draft[LEAT_PATH_BYTES], target[LEAT_PATH_BYTES];
    struct stat old;
    *out = NULL;
    LEAT_TRY(find_target(path, target, err));
    /* The replacement of a file with restricted access must not be readable by others while it is
     * written. */
    mode_t mode = secret || stat(target, &old) == 0 ? 0600 : 0666;
    LEAT_TRY(open_new_draft(out, target, mode, draft, err));
    leat_code code = leat_strdup(&(*out)->draft, draft, err);
    if (code != LEAT_OK) (void)unlink(draft);
    return end_open(out, code);
}

leat_code leat_file_open_draft(leat_file **out, const char *path, leat_error *err) {
    return open_draft(out, path, false, err);
}

leat_code leat_file_open_output(leat_file **out, const char *path, leat_mark mark, bool replace,
                                leat_error *err) {
    char target[LEAT_PATH_BYTES];
    *out = NULL;
    if (!replace) {
        LEAT_TRY(find_target(path, target, err));
        LEAT_TRY(leat_own_check(target, mark, err));
    }
    LEAT_TRY(open_draft(out, path, false, err));
    (*out)->output = !replace;
    (*out)->mark = mark;
    return LEAT_OK;
}

/* The replacement of `old` gets its owner, group and permissions as far as the system permits. A
 * group other than the old one gets no more rights than everybody. */
static void keep_access(int fd, const struct stat *old) {
    struct stat own;
    mode_t mode = old->st_mode & 0777;
    if (fstat(fd, &own) != 0) return;
    bool same = own.st_uid == old->st_uid && own.st_gid == old->st_gid;
    if (!same && fchown(fd, old->st_uid, old->st_gid) != 0 && own.st_gid != old->st_gid &&
        fchown(fd, (uid_t)-1, old->st_gid) != 0)
        mode = (mode & 0707) | (mode & 0070 & ((mode & 0007) << 3));
    (void)!fchmod(fd, mode);
}

void leat_path_keep_access(const char *from, const char *to) {
    struct stat old, fresh;
    if (stat(to, &old) != 0 || (!S_ISREG(old.st_mode) && !S_ISDIR(old.st_mode))) return;
    int fd = open(from, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return;
    if (fstat(fd, &fresh) == 0 && (fresh.st_mode & S_IFMT) == (old.st_mode & S_IFMT))
        keep_access(fd, &old);
    close(fd);
}

leat_code leat_file_publish(leat_file *file, bool durable, leat_error *err) {
    struct stat old;
    LEAT_ASSERT(file->draft != NULL);
    if (stat(file->path, &old) == 0 && S_ISREG(old.st_mode)) keep_access(file->fd, &old);
    if (durable) LEAT_TRY(leat_file_sync(file, err));
    LEAT_TRY(file->output ? leat_own_rename(file->draft, file->path, file->mark, err)
                          : leat_path_rename(file->draft, file->path, err));
    if (file->output) (void)unlink(file->draft); /* what was replaced */
    leat_free(file->draft);
    file->draft = NULL;
    return durable ? leat_path_sync_parent(file->path, err) : LEAT_OK;
}

/* Writes the draft and publishes it. */
static leat_code finish_draft(leat_file *file, const void *bytes, int64_t size_bytes,
                              leat_error *err) {
    leat_code code = leat_file_pwrite(file, bytes, size_bytes, 0, err);
    if (code == LEAT_OK) code = leat_file_publish(file, true, err);
    leat_file_close(file);
    return code;
}

leat_code leat_file_save(const char *path, const void *bytes, int64_t size_bytes, leat_error *err) {
    leat_file *file = NULL;
    LEAT_TRY(open_draft(&file, path, false, err));
    return finish_draft(file, bytes, size_bytes, err);
}

leat_code leat_file_save_output(const char *path, const void *bytes, int64_t size_bytes,
                                leat_mark mark, bool replace, leat_error *err) {
    leat_file *file = NULL;
    LEAT_TRY(leat_file_open_output(&file, path, mark, replace, err));
    return finish_draft(file, bytes, size_bytes, err);
}

leat_code leat_file_save_private(const char *path, const void *bytes, int64_t size_bytes,
                                 leat_error *err) {
    leat_file *file = NULL;
    LEAT_TRY(open_draft(&file, path, true, err));
    return finish_draft(file, bytes, size_bytes, err);
}

/* ---- this process ---- */

#ifdef LEAT_FAULTS
int64_t leat_rss_bytes(void) {
    return LEAT_FAULT(LEAT_FAULT_OPEN) ? -1 : leat_fault_resident(false);
}
int64_t leat_rss_peak_bytes(void) {
    return LEAT_FAULT(LEAT_FAULT_OPEN) ? -1 : leat_fault_resident(true);
}
#else
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
#endif
