/* The one door to the file system. Offsets and sizes in bytes; paths are UTF-8 as given. */
#ifndef LEAT_BASE_FILE_H
#define LEAT_BASE_FILE_H

#include "base/error.h"

/* An open file; `path` is kept for messages. */
typedef struct leat_file leat_file;

typedef enum leat_file_mode {
    LEAT_FILE_READ,   /* must exist */
    LEAT_FILE_CREATE, /* made or emptied, read and write */
    LEAT_FILE_NEW,    /* made, must not exist, read and write */
    LEAT_FILE_UPDATE, /* must exist, read and write */
} leat_file_mode;

LEAT_MUST_CHECK leat_code leat_file_open(leat_file **out, const char *path, leat_file_mode mode,
                                         leat_error *err);
/* Closes; errors of close(2) on files that were written are reported by leat_file_sync before. */
void leat_file_close(leat_file *file);
const char *leat_file_path(const leat_file *file);
LEAT_MUST_CHECK leat_code leat_file_size(leat_file *file, int64_t *size_bytes, leat_error *err);

/* Reads exactly size_bytes at offset; a short file is LEAT_ERR_CORRUPT "file ends at byte N". */
LEAT_MUST_CHECK leat_code leat_file_pread(leat_file *file, void *bytes, int64_t size_bytes,
                                          int64_t offset, leat_error *err);
/* Reads up to size_bytes at the file's position (pipes too); *got 0 at the end. */
LEAT_MUST_CHECK leat_code leat_file_read(leat_file *file, void *bytes, int64_t size_bytes,
                                         int64_t *got, leat_error *err);
/* Writes all of it, at offset. */
LEAT_MUST_CHECK leat_code leat_file_pwrite(leat_file *file, const void *bytes, int64_t size_bytes,
                                           int64_t offset, leat_error *err);
/* Asks the kernel to begin writing [offset, offset + size) to the disk; does not wait. */
void leat_file_start_writeback(leat_file *file, int64_t offset, int64_t size_bytes);
/* Waits until all written bytes are on the disk. */
LEAT_MUST_CHECK leat_code leat_file_sync(leat_file *file, leat_error *err);
LEAT_MUST_CHECK leat_code leat_file_truncate(leat_file *file, int64_t size_bytes, leat_error *err);
/* Gives the blocks of [offset, offset + size) back to the file system where it can; best effort. */
void leat_file_punch(leat_file *file, int64_t offset, int64_t size_bytes);
/* Says that [offset, offset + size) will be read soon; best effort. */
void leat_file_will_need(leat_file *file, int64_t offset, int64_t size_bytes);

/* A file that appears whole or not at all: opens "<path>.tmp", made or emptied, read and write.
 * Closed before it is published, it is removed. A link is followed; LEAT_ERR_EXISTS if something
 * stands there that is no file: a folder, a device, a pipe. */
LEAT_MUST_CHECK leat_code leat_file_open_draft(leat_file **out, const char *path, leat_error *err);
/* Gives a draft its name, in place of what stood there. `durable`: syncs the file before and its
 * folder after, so that the file is whole after a power failure too. On failure it stays a draft,
 * unless the folder alone could not be synced. */
LEAT_MUST_CHECK leat_code leat_file_publish(leat_file *file, bool durable, leat_error *err);

/* Maps [0, size) for reading only, shared, in place of what is mapped at `at` (NULL: anywhere);
 * MAP_FAILED with errno set. For leat_map_open, which keeps the process alive when a page cannot be
 * read. */
void *leat_file_mmap(leat_file *file, void *at, int64_t size_bytes);

/* Whole small files. *out is owned by the caller (leat_free) and has a NUL after its last byte;
 * a file of more than max_bytes is LEAT_ERR_LIMIT. */
LEAT_MUST_CHECK leat_code leat_file_load(const char *path, int64_t max_bytes, uint8_t **out,
                                         int64_t *size_bytes, leat_error *err);
/* SHA-256 of all bytes of a file. */
LEAT_MUST_CHECK leat_code leat_file_sha256(const char *path, uint8_t digest[32], leat_error *err);
/* Writes a draft and publishes it, durable: whole or not at all. */
LEAT_MUST_CHECK leat_code leat_file_save(const char *path, const void *bytes, int64_t size_bytes,
                                         leat_error *err);

typedef enum leat_path_kind {
    LEAT_PATH_NONE,
    LEAT_PATH_FILE,
    LEAT_PATH_DIR,
    LEAT_PATH_OTHER
} leat_path_kind;
typedef struct leat_path_facts {
    leat_path_kind kind;
    int64_t size_bytes;
    int64_t mtime_ns;
    uint64_t device, inode;
} leat_path_facts;
/* A path that is not there is no error: kind LEAT_PATH_NONE. */
LEAT_MUST_CHECK leat_code leat_path_stat(const char *path, leat_path_facts *facts, leat_error *err);
/* Makes the folder and its parents; one that exists is fine. */
LEAT_MUST_CHECK leat_code leat_path_make_dir(const char *path, leat_error *err);
/* Syncs the folder itself, so that renames in it survive a power failure. */
LEAT_MUST_CHECK leat_code leat_path_sync_dir(const char *path, leat_error *err);
/* rename(2). */
LEAT_MUST_CHECK leat_code leat_path_rename(const char *from, const char *to, leat_error *err);
/* Gives the file or folder `from` the name `to`, syncs the folder that both are in, and removes the
 * file or folder that had the name. At any time one of the two has it, whole. (Where the file
 * system cannot exchange two folders, a kill between two renames leaves the old one as
 * "<from>.old".) */
LEAT_MUST_CHECK leat_code leat_path_replace(const char *from, const char *to, leat_error *err);
/* Removes a file; one that is not there is fine. */
LEAT_MUST_CHECK leat_code leat_path_remove(const char *path, leat_error *err);
/* The same where nothing can be done about a failure (cleaning up after another error). */
void leat_path_discard(const char *path);
/* Removes an empty folder; one that is not there is fine, one that is not empty is an error. */
LEAT_MUST_CHECK leat_code leat_path_remove_dir(const char *path, leat_error *err);
/* Removes a folder and all in it (links are not followed); one that is not there is fine. */
LEAT_MUST_CHECK leat_code leat_path_remove_tree(const char *path, leat_error *err);
/* Free bytes of the file system that holds path; -1 if unknown. */
int64_t leat_path_free_bytes(const char *path);

/* Names; the text buffers are NUL-terminated and owned by the list. */
typedef struct leat_path_list {
    char **paths;
    int64_t count, capacity;
} leat_path_list;
LEAT_MUST_CHECK leat_code leat_path_list_add(leat_path_list *list, const char *path,
                                             leat_error *err);
void leat_path_list_sort(leat_path_list *list); /* by bytes */
void leat_path_list_free(leat_path_list *list);
/* The names (not paths) in a folder, sorted by bytes, without "." and "..". */
LEAT_MUST_CHECK leat_code leat_path_list_dir(const char *path, leat_path_list *list,
                                             leat_error *err);
/* Expands a shell pattern (sorted); no match is LEAT_ERR_NOT_FOUND. */
LEAT_MUST_CHECK leat_code leat_path_glob(const char *pattern, leat_path_list *list,
                                         leat_error *err);
/* "<dir>/<name>" into out (size bytes); LEAT_ERR_LIMIT if it does not fit. */
LEAT_MUST_CHECK leat_code leat_path_join(char *out, int64_t size_bytes, const char *dir,
                                         const char *name, leat_error *err);
#define LEAT_PATH_BYTES 4096
/* The path from the root without links, of what is there; "" on failure. */
LEAT_MUST_CHECK leat_code leat_path_real(const char *path, char out[LEAT_PATH_BYTES],
                                         leat_error *err);
/* Whether a path ends in `suffix` and has something before it. */
bool leat_path_has_suffix(const char *path, const char *suffix);

/* Takes an exclusive lock on a file until it is closed; LEAT_ERR_BUSY if another has it,
 * LEAT_ERR_NOT_FOUND if the file is not at its path any more: open it again. */
LEAT_MUST_CHECK leat_code leat_file_lock(leat_file *file, leat_error *err);

#endif
