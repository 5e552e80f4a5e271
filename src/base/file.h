/* The one door to the file system. Offsets and sizes in bytes; paths are UTF-8 as given. */
#ifndef LEAT_BASE_FILE_H
#define LEAT_BASE_FILE_H

#include "base/error.h"

#define LEAT_PATH_BYTES 4096

/* An open file; `path` is kept for messages. */
typedef struct leat_file leat_file;

typedef enum leat_file_mode {
    LEAT_FILE_READ,   /* must exist */
    LEAT_FILE_CREATE, /* a new file, which replaces a file or link of that name, read and write; for
                         files written by leat */
    LEAT_FILE_NEW,    /* created, must not exist, read and write */
    LEAT_FILE_SECRET, /* the same, for this user alone */
    LEAT_FILE_UPDATE, /* must exist, read and write */
    LEAT_FILE_OWN,    /* must exist, be a regular file and not a link (LEAT_ERR_EXISTS), read and
                         write */
    LEAT_FILE_PLAIN,  /* must exist and be a regular file, or a link to one (LEAT_ERR_INPUT); read.
                         Opening never waits, as it would for the writer of a pipe */
} leat_file_mode;

LEAT_MUST_CHECK leat_code leat_file_open(leat_file **out, const char *path, leat_file_mode mode,
                                         leat_error *err);
/* Opens the regular file `name` of the folder `dir` to be read. LEAT_ERR_INPUT: it is something
 * else, or one of the two is a link, which may lead to any file of this user. Never waits. */
LEAT_MUST_CHECK leat_code leat_file_open_within(leat_file **out, const char *dir, const char *name,
                                                leat_error *err);
/* A descriptor that is open for reading and stays the caller's; messages call it `name`. */
LEAT_MUST_CHECK leat_code leat_file_borrow(leat_file **out, int fd, const char *name,
                                           leat_error *err);
/* Whether something can be read at once, the end included, or an error would be returned; waits at
 * most that long, or until a signal arrives. */
bool leat_file_wait(leat_file *file, int timeout_ms);
/* Closes; errors of close(2) on files that were written are reported by leat_file_sync before. */
void leat_file_close(leat_file *file);
const char *leat_file_path(const leat_file *file);
LEAT_MUST_CHECK leat_code leat_file_size(leat_file *file, int64_t *size_bytes, leat_error *err);

/* Reads exactly size_bytes at offset; a file that is too short is LEAT_ERR_CORRUPT and names the
 * byte at which it ends. */
LEAT_MUST_CHECK leat_code leat_file_pread(leat_file *file, void *bytes, int64_t size_bytes,
                                          int64_t offset, leat_error *err);
/* Reads up to size_bytes at the current position (pipes too); *got is 0 at the end. */
LEAT_MUST_CHECK leat_code leat_file_read(leat_file *file, void *bytes, int64_t size_bytes,
                                         int64_t *got, leat_error *err);
/* Writes all bytes at offset. */
LEAT_MUST_CHECK leat_code leat_file_pwrite(leat_file *file, const void *bytes, int64_t size_bytes,
                                           int64_t offset, leat_error *err);
/* Asks the kernel to start writing [offset, offset + size) to disk; does not wait. */
void leat_file_start_writeback(leat_file *file, int64_t offset, int64_t size_bytes);
/* Waits until all written bytes are on disk. */
LEAT_MUST_CHECK leat_code leat_file_sync(leat_file *file, leat_error *err);
LEAT_MUST_CHECK leat_code leat_file_truncate(leat_file *file, int64_t size_bytes, leat_error *err);

/* A file that appears complete or not at all: opens a new file next to it, under a name made by
 * leat_path_draft, for reading and writing. If it is closed before it is published, it is removed;
 * if the process is killed, it is left. A link with a target is followed; LEAT_ERR_EXISTS if the
 * path is something other than a file: a folder, a device, a pipe. leat_file_path and messages use
 * the final name. */
LEAT_MUST_CHECK leat_code leat_file_open_draft(leat_file **out, const char *path, leat_error *err);
/* Gives a draft its final name, replacing an existing file, whose permissions, owner and group are
 * kept as far as this process may. `durable`: syncs the file before and its folder after, so that
 * the file is complete even after a power failure. On failure it stays a draft, unless only the
 * folder could not be synced. */
LEAT_MUST_CHECK leat_code leat_file_publish(leat_file *file, bool durable, leat_error *err);
/* A draft of a file that a user named: without `replace` it is published only over a file with this
 * mark. LEAT_ERR_EXISTS, here or when it is published: the name belongs to another one. */
LEAT_MUST_CHECK leat_code leat_file_open_output(leat_file **out, const char *path, leat_mark mark,
                                                bool replace, leat_error *err);
/* Whether leat_file_open_output could succeed; changes nothing. */
LEAT_MUST_CHECK leat_code leat_file_can_save(const char *path, leat_mark mark, bool replace,
                                             leat_error *err);

/* A file in the folder `dir` for this process alone: it has no name, so no other process can open
 * it, and it is removed when it is closed or the process ends. Messages call it "<dir>/scratch". */
LEAT_MUST_CHECK leat_code leat_file_open_nameless(leat_file **out, const char *dir,
                                                  leat_error *err);

/* A file in memory, which ends when it is closed or the process ends; `path` opens it anew in this
 * process, for libraries that read files only. LEAT_ERR_UNSUPPORTED: /proc is not mounted. */
#define LEAT_FILE_MEMORY_BYTES 32
LEAT_MUST_CHECK leat_code leat_file_open_memory(leat_file **out, const char *name,
                                                char path[LEAT_FILE_MEMORY_BYTES], leat_error *err);

/* Maps [0, size) read-only and shared, replacing the mapping at `at` (NULL: anywhere); MAP_FAILED
 * with errno set. For leat_map_open, which keeps the process alive when a page cannot be read. */
void *leat_file_mmap(leat_file *file, void *at, int64_t size_bytes);

/* Complete small files. *out is owned by the caller (leat_free) and has a NUL after its last byte;
 * a file of more than max_bytes is LEAT_ERR_LIMIT. Never waits: of a pipe there is nothing. */
LEAT_MUST_CHECK leat_code leat_file_load(const char *path, int64_t max_bytes, uint8_t **out,
                                         int64_t *size_bytes, leat_error *err);
/* SHA-256 of all bytes of a file. */
LEAT_MUST_CHECK leat_code leat_file_sha256(const char *path, uint8_t digest[32], leat_error *err);
/* Writes a draft and publishes it durably: complete or not at all. */
LEAT_MUST_CHECK leat_code leat_file_save(const char *path, const void *bytes, int64_t size_bytes,
                                         leat_error *err);
/* The same for a file that a user named: see leat_file_open_output. */
LEAT_MUST_CHECK leat_code leat_file_save_output(const char *path, const void *bytes,
                                                int64_t size_bytes, leat_mark mark, bool replace,
                                                leat_error *err);
/* The same for secrets: a new file, and its draft, can be read by this user alone. */
LEAT_MUST_CHECK leat_code leat_file_save_private(const char *path, const void *bytes,
                                                 int64_t size_bytes, leat_error *err);

/* LEAT_ERR_OPTION if a path begins like the address of a service ("s3://"): leat has local files
 * only. Whatever opens, looks at or creates a path calls it, since such a path is also the valid
 * name of a folder "s3:". */
LEAT_MUST_CHECK leat_code leat_path_check_local(const char *path, leat_error *err);

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
    int64_t ctime_ns; /* of the last change to its bytes or to any of the four members below */
    uint64_t links;
    uint32_t mode, user, group;
} leat_path_facts;
/* A path that does not exist is not an error: kind LEAT_PATH_NONE. */
LEAT_MUST_CHECK leat_code leat_path_stat(const char *path, leat_path_facts *facts, leat_error *err);
/* Whether the path itself is a symbolic link, wherever it leads. */
LEAT_MUST_CHECK leat_code leat_path_is_link(const char *path, bool *link, leat_error *err);
/* Creates the folder and its parents; an existing one is fine. */
LEAT_MUST_CHECK leat_code leat_path_make_dir(const char *path, leat_error *err);
/* Creates one folder with these permissions, whatever the umask. LEAT_ERR_EXISTS: the name is
 * taken.
 */
LEAT_MUST_CHECK leat_code leat_path_make_new_dir(const char *path, uint32_t mode, leat_error *err);
/* Gives a file or folder, but not what is in it, another owner and group. */
LEAT_MUST_CHECK leat_code leat_path_give(const char *path, int64_t user, int64_t group,
                                         leat_error *err);
/* The folder that contains a path. */
/* The path without slashes at its end. LEAT_ERR_LIMIT: it is empty, or so long that names of files
 * below it would not fit. */
LEAT_MUST_CHECK leat_code leat_path_trim(const char *path, char out[LEAT_PATH_BYTES],
                                         leat_error *err);
LEAT_MUST_CHECK leat_code leat_path_parent(const char *path, char parent[LEAT_PATH_BYTES],
                                           leat_error *err);
/* leat_path_sync_dir of that folder. */
LEAT_MUST_CHECK leat_code leat_path_sync_parent(const char *path, leat_error *err);
/* Syncs the folder itself, so that renames in it survive a power failure. */
LEAT_MUST_CHECK leat_code leat_path_sync_dir(const char *path, leat_error *err);
/* rename(2). */
LEAT_MUST_CHECK leat_code leat_path_rename(const char *from, const char *to, leat_error *err);
/* The same if the name `to` is free; *taken: it is not, and nothing was done. In one step, unless
 * the file system has neither such a rename nor hard links. */
LEAT_MUST_CHECK leat_code leat_path_rename_new(const char *from, const char *to, bool *taken,
                                               leat_error *err);
/* Exchanges the names of two files or folders in one step; *number is the errno of a failure, or 0.
 * false: the file system cannot. */
bool leat_path_exchange(const char *one, const char *other, int *number);
/* Gives the file `from` back the name `to` that it had before an exchange; 0 or an errno. */
int leat_path_put_back(const char *from, const char *to);
/* Renames the file or folder `from` to `to`, syncs their common parent folder, and removes the file
 * or folder that had the name. At any time one of the two has it, complete. (If the file system
 * cannot exchange two folders, a kill between two renames leaves the old one as "<from>.old".) */
LEAT_MUST_CHECK leat_code leat_path_replace(const char *from, const char *to, leat_error *err);
/*
 * Moves every file of the folder `from` to the folder `to`, each in one step, replacing files of
 * the same name, the file `last` after all others; then syncs `to`. Other files in `to` stay as
 * they are. LEAT_ERR_EXISTS, before anything is moved: a name in `to` belongs to something other
 * than a regular file, or `to` is a link. If interrupted, it can be repeated.
 */
LEAT_MUST_CHECK leat_code leat_path_move_files(const char *from, const char *to, const char *last,
                                               leat_error *err);
/* The same, with another function for leat_path_rename. */
typedef leat_code leat_path_move_fn(const char *from, const char *to, leat_error *err);
LEAT_MUST_CHECK leat_code leat_path_move_files_by(leat_path_move_fn *move, const char *from,
                                                  const char *to, const char *last,
                                                  leat_error *err);
/* Renames the folder `from` to `to`, which must not exist or be an empty folder, and syncs their
 * common parent folder. */
LEAT_MUST_CHECK leat_code leat_path_move_dir(const char *from, const char *to, leat_error *err);
/* Where a file written under this name goes: the target of a link, else the path itself. */
LEAT_MUST_CHECK leat_code leat_path_target(char out[LEAT_PATH_BYTES], const char *path,
                                           leat_error *err);
/* A temporary name next to `path`: ".NAME.leat-0123456789abcdef.tmp", with a random number and at
 * most 64 bytes of the name. */
LEAT_MUST_CHECK leat_code leat_path_draft(char out[LEAT_PATH_BYTES], const char *path,
                                          leat_error *err);
/* Whether a name (not a path) may have been made by leat_path_draft. */
bool leat_path_is_draft(const char *name);
/* Removes drafts left by killed processes in a folder written by leat, in which no other process
 * works. */
LEAT_MUST_CHECK leat_code leat_path_remove_drafts(const char *dir, leat_error *err);
/* Gives `from`, which will replace the file or folder `to`, its permissions, owner and group as far
 * as this process may. */
void leat_path_keep_access(const char *from, const char *to);
/* Removes a file; a missing one is fine. */
LEAT_MUST_CHECK leat_code leat_path_remove(const char *path, leat_error *err);
/* The same if nothing can be done about a failure (cleaning up after another error). */
void leat_path_discard(const char *path);
/* Removes an empty folder; a missing one is fine, one that is not empty is an error. */
LEAT_MUST_CHECK leat_code leat_path_remove_dir(const char *path, leat_error *err);
/* Removes a folder with its contents (links are not followed); a missing one is fine. */
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
/* false: the user has no permission to list the folder. */
bool leat_path_may_list(const char *path);
/* The same for a folder that is open as `fd`, which is closed; `path` is for messages. */
LEAT_MUST_CHECK leat_code leat_path_list_open(int fd, const char *path, leat_path_list *list,
                                              leat_error *err);
/* Expands a shell pattern (sorted); no match is LEAT_ERR_NOT_FOUND. A wildcard does not match the
 * "." or "_" that a name begins with. */
LEAT_MUST_CHECK leat_code leat_path_glob(const char *pattern, leat_path_list *list,
                                         leat_error *err);
/* "<dir>/<name>" into out (size bytes); LEAT_ERR_LIMIT if it does not fit. */
LEAT_MUST_CHECK leat_code leat_path_join(char *out, int64_t size_bytes, const char *dir,
                                         const char *name, leat_error *err);
/* The absolute path of something that exists, with links resolved; "" on failure. */
LEAT_MUST_CHECK leat_code leat_path_real(const char *path, char out[LEAT_PATH_BYTES],
                                         leat_error *err);
/* The same; false on failure. */
bool leat_path_resolve(const char *path, char out[LEAT_PATH_BYTES]);

/* Who may change what is at a path; links are not followed. */
typedef struct leat_path_rights {
    bool is_link;
    int64_t owner, group; /* their numbers */
    bool group_writes, others_write;
    bool sticky; /* of a folder: others may add files to it, but replace only their own */
} leat_path_rights;
/* False if it does not exist or cannot be examined. */
bool leat_path_get_rights(const char *path, leat_path_rights *rights);
/* Whether a path ends in `suffix` and has at least one character before it. */
bool leat_path_has_suffix(const char *path, const char *suffix);
/* The same whatever the case of its letters; `suffix` is in lower case. */
bool leat_path_has_suffix_any_case(const char *path, const char *suffix);

/* Takes an exclusive lock on a file until it is closed; LEAT_ERR_BUSY if another process has it,
 * LEAT_ERR_NOT_FOUND if the file is no longer at its path: open it again. */
LEAT_MUST_CHECK leat_code leat_file_lock(leat_file *file, leat_error *err);

#endif
