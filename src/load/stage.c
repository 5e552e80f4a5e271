/*
 * A CAN cache copied to fast storage, once.
 *
 * The copy grows in "<dir>/.stage-<name>", under a lock beside it, and gets its name in one step
 * when all of it is on the disk: a folder of that name is whole. Page hashes are compared while
 * bytes pass, so no damage is carried along. Who finds the lock taken waits, and then finds the
 * copy; who finds a work folder without a lock removes it, since its maker was killed.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/sink.h"
#include "base/ticker.h"
#include "load/graph_cache.h"

/* That a thread takes at once; as large as large pages are, which the copy's are in memory then. */
#define PIECE_BYTES (INT64_C(2) << 20)
#define COMPLETE_BYTES_MAX 4096
enum { LOCK_TRIES = 100, WAIT_MS = 100, DIGEST_LETTERS = 16 };

typedef struct stage_job {
    const leat_can_stage_options *options;
    leat_ticker ticker;
    char from[LEAT_PATH_BYTES]; /* the cache's folder */
    char to[LEAT_PATH_BYTES];   /* the copy's, when it is whole */
    char work[LEAT_PATH_BYTES], lock_path[LEAT_PATH_BYTES];
    leat_can_meta meta;
    uint8_t *complete; /* text of .complete */
    int64_t complete_bytes;
    int64_t size_bytes; /* of all files */
    leat_file *lock;
} stage_job;

leat_can_stage_options leat_can_stage_options_default(void) {
    return (leat_can_stage_options){.threads = leat_cpu_count()};
}

/* ---- what is to be copied -----------------------------------------------------------------------
 */

/* "train" and ".pages" in a folder. */
static leat_code join(char out[LEAT_PATH_BYTES], const char *dir, const char *name,
                      const char *suffix, leat_error *err) {
    char whole[LEAT_CAN_NAME_BYTES + sizeof LEAT_CAN_TENSORS_SUFFIX];
    snprintf(whole, sizeof whole, "%s%s", name, suffix);
    return leat_path_join(out, LEAT_PATH_BYTES, dir, whole, err);
}

static int64_t pages_bytes(const leat_can_meta_split *split) {
    return (split->file_bytes + LEAT_PAGE_BYTES - 1) / LEAT_PAGE_BYTES * (int64_t)sizeof(uint64_t);
}

static leat_code look_at(const char *dir, const char *name, const char *suffix,
                         leat_path_facts *facts, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    LEAT_TRY(join(path, dir, name, suffix, err));
    return leat_path_stat(path, facts, err);
}

static leat_code load_complete(const char *dir, uint8_t **text, int64_t *size_bytes,
                               leat_error *err) {
    char path[LEAT_PATH_BYTES];
    LEAT_TRY(leat_path_join(path, sizeof path, dir, LEAT_CAN_COMPLETE_NAME, err));
    return leat_file_load(path, COMPLETE_BYTES_MAX, text, size_bytes, err);
}

/* .complete is read first: what the copy gets is held against it at the end. */
static leat_code look_at_source(stage_job *job, const char *cache, leat_error *err) {
    LEAT_TRY(leat_can_cache_find(cache, false, job->from, err));
    LEAT_TRY(load_complete(job->from, &job->complete, &job->complete_bytes, err));
    LEAT_TRY(leat_can_meta_load(&job->meta, job->from, false, err));
    job->size_bytes = job->complete_bytes;
    for (int i = 0; i < LEAT_CAN_DOCUMENTS; i++) {
        leat_path_facts facts;
        const char *name = leat_can_document_name((leat_can_document)i);
        LEAT_TRY(look_at(job->from, name, "", &facts, err));
        job->size_bytes += facts.size_bytes;
    }
    for (int s = 0; s < job->meta.split_count; s++) {
        const leat_can_meta_split *split = &job->meta.splits[s];
        job->size_bytes += split->file_bytes + pages_bytes(split);
    }
    return LEAT_OK;
}

/* The last name of the cache's path; of "." and ".." one is made. */
static leat_code set_paths(stage_job *job, const char *dir, leat_error *err) {
    char path[LEAT_PATH_BYTES], name[LEAT_PATH_BYTES], hidden[LEAT_PATH_BYTES + 16];
    snprintf(path, sizeof path, "%s", job->from);
    for (size_t size = strlen(path); size > 0 && path[size - 1] == '/'; size--) path[size - 1] = 0;
    const char *slash = strrchr(path, '/');
    snprintf(name, sizeof name, "%s", slash == NULL ? path : slash + 1);
    if (name[0] == 0 || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        snprintf(name, sizeof name, "can-%.*s", DIGEST_LETTERS, job->meta.digest);
    LEAT_TRY(leat_path_join(job->to, sizeof job->to, dir, name, err));
    snprintf(hidden, sizeof hidden, ".stage-%s", name);
    LEAT_TRY(leat_path_join(job->work, sizeof job->work, dir, hidden, err));
    snprintf(hidden, sizeof hidden, ".stage-%s.lock", name);
    return leat_path_join(job->lock_path, sizeof job->lock_path, dir, hidden, err);
}

/* ---- what is there ------------------------------------------------------------------------------
 */

/* Whether the folder's documents are those of .complete, without parsing them. */
static leat_code compare_documents(const stage_job *job, const char *dir, bool *same,
                                   leat_error *err) {
    char text[COMPLETE_BYTES_MAX], path[LEAT_PATH_BYTES], hex[65];
    uint8_t digest[32];
    int size = 0;
    *same = false;
    for (int i = 0; i < LEAT_CAN_DOCUMENTS; i++) {
        const char *name = leat_can_document_name((leat_can_document)i);
        LEAT_TRY(leat_path_join(path, sizeof path, dir, name, err));
        LEAT_TRY(leat_file_sha256(path, digest, err));
        leat_sha256_hex(digest, hex);
        size += snprintf(text + size, sizeof text - (size_t)size, "%s  %s\n", hex, name);
    }
    *same = size == job->complete_bytes && memcmp(text, job->complete, (size_t)size) == 0;
    return LEAT_OK;
}

static bool has_size(const char *dir, const char *name, const char *suffix, int64_t size_bytes) {
    leat_path_facts facts;
    return look_at(dir, name, suffix, &facts, NULL) == LEAT_OK && facts.kind == LEAT_PATH_FILE &&
           facts.size_bytes == size_bytes;
}

static bool complete_is_same(const stage_job *job, const char *dir) {
    uint8_t *text = NULL;
    int64_t size = 0;
    if (load_complete(dir, &text, &size, NULL) != LEAT_OK) return false;
    bool same = size == job->complete_bytes && memcmp(text, job->complete, (size_t)size) == 0;
    leat_free(text);
    return same;
}

/* Pages are hashed when they are loaded; a copy that was cut, or is of another time, is seen here.
 */
static bool is_whole(const stage_job *job) {
    bool same = false;
    bool whole = complete_is_same(job, job->to) &&
                 compare_documents(job, job->to, &same, NULL) == LEAT_OK && same;
    for (int s = 0; whole && s < job->meta.split_count; s++) {
        const leat_can_meta_split *split = &job->meta.splits[s];
        whole = has_size(job->to, split->name, LEAT_CAN_TENSORS_SUFFIX, split->file_bytes) &&
                has_size(job->to, split->name, LEAT_CAN_PAGES_SUFFIX, pages_bytes(split));
    }
    return whole;
}

/* Whether a folder that is not whole is still a copy of this cache, or of what it was before; or
 * holds nothing. */
static leat_code is_older(const stage_job *job, bool *older, leat_error *err) {
    leat_path_list names = {0};
    leat_can_meta meta;
    leat_error why;
    *older = complete_is_same(job, job->to) ||
             (compare_documents(job, job->to, older, NULL) == LEAT_OK && *older);
    if (*older) return LEAT_OK;
    leat_code code = leat_can_meta_load(&meta, job->to, false, &why);
    if (code == LEAT_ERR_MEMORY || code == LEAT_ERR_IO) return leat_error_copy(err, &why);
    if (code == LEAT_OK) {
        *older = strcmp(meta.digest, job->meta.digest) == 0;
        leat_can_meta_free(&meta);
        return LEAT_OK;
    }
    LEAT_TRY(leat_path_list_dir(job->to, &names, err));
    *older = names.count == 0;
    leat_path_list_free(&names);
    return LEAT_OK;
}

/* *found: the copy is there, whole. What is no copy of this cache is not touched. */
static leat_code look_for_copy(const stage_job *job, bool *found, leat_error *err) {
    leat_path_facts from, to;
    bool older = false;
    *found = false;
    LEAT_TRY(leat_path_stat(job->from, &from, err));
    LEAT_TRY(leat_path_stat(job->to, &to, err));
    if (to.kind == LEAT_PATH_NONE) return LEAT_OK;
    /* the cache itself stands in the folder that it is to be staged to */
    bool itself = from.device == to.device && from.inode == to.inode;
    *found = to.kind == LEAT_PATH_DIR && (itself || is_whole(job));
    if (*found) return LEAT_OK;
    if (to.kind == LEAT_PATH_DIR) LEAT_TRY(is_older(job, &older, err));
    if (older) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_EXISTS,
                     "cannot stage \"%s\": \"%s\" is there and no copy of it; move it away, or "
                     "stage to another folder",
                     job->from, job->to);
}

/* ---- the lock -----------------------------------------------------------------------------------
 */

static leat_code try_lock(stage_job *job, leat_error *err) {
    leat_code code = leat_file_open(&job->lock, job->lock_path, LEAT_FILE_NEW, err);
    bool ours = code == LEAT_OK;
    if (code == LEAT_ERR_EXISTS)
        code = leat_file_open(&job->lock, job->lock_path, LEAT_FILE_UPDATE, err);
    if (code == LEAT_OK) code = leat_file_lock(job->lock, err);
    if (code == LEAT_OK) return LEAT_OK;
    if (ours && code != LEAT_ERR_BUSY) leat_path_discard(job->lock_path);
    leat_file_close(job->lock);
    job->lock = NULL;
    return code;
}

static void unlock(stage_job *job) {
    if (job->lock == NULL) return;
    leat_path_discard(job->lock_path);
    leat_file_close(job->lock);
    job->lock = NULL;
}

/* Whoever was killed after the copy had its name left the lock, and what the copy replaced. */
static void clear_leftovers(stage_job *job) {
    leat_path_facts facts;
    if (leat_path_stat(job->lock_path, &facts, NULL) != LEAT_OK || facts.kind == LEAT_PATH_NONE)
        return;
    if (try_lock(job, NULL) != LEAT_OK) return;
    if (leat_path_remove_tree(job->work, NULL) != LEAT_OK) {
        /* only space is lost */
    }
}

/* The lock, or the copy if another process has made it meanwhile. */
static leat_code lock_or_find(stage_job *job, const char *dir, bool *found, leat_error *err) {
    bool waiting = false;
    for (int gone = 0; gone < LOCK_TRIES;) {
        LEAT_TRY(leat_path_make_dir(dir, err)); /* a holder that failed may have taken it away */
        leat_error why;
        leat_code code = try_lock(job, &why);
        if (code == LEAT_OK) return look_for_copy(job, found, err);
        if (code == LEAT_ERR_NOT_FOUND) { /* its holder has just ended */
            gone++;
            continue;
        }
        if (code != LEAT_ERR_BUSY) return leat_error_copy(err, &why);
        if (!waiting) leat_ticker_stage(&job->ticker, "waiting for another process", "", -1);
        waiting = true;
        if (!leat_ticker_add(&job->ticker, 0)) return leat_ticker_check(&job->ticker, err);
        struct timespec pause = {.tv_nsec = WAIT_MS * 1000000L};
        nanosleep(&pause, NULL);
    }
    return leat_fail(err, LEAT_ERR_BUSY, "lock \"%s\" comes and goes", job->lock_path);
}

/* ---- copying ------------------------------------------------------------------------------------
 */

/* A file of tensors on its way. */
typedef struct stage_copy {
    stage_job *job;
    leat_file *from, *to;
    const uint64_t *hashes; /* of its pages */
    int64_t size_bytes;
    atomic_llong next; /* byte that the next thread begins at */
    atomic_bool stop;
} stage_copy;

static leat_code check_pages(const stage_copy *copy, const uint8_t *bytes, int64_t at,
                             int64_t size_bytes, leat_error *err) {
    for (int64_t done = 0; done < size_bytes; done += LEAT_PAGE_BYTES) {
        int64_t left = size_bytes - done, page = (at + done) / LEAT_PAGE_BYTES;
        int64_t step = left < LEAT_PAGE_BYTES ? left : LEAT_PAGE_BYTES;
        if (leat_xxh3(bytes + done, step) == copy->hashes[page]) continue;
        return leat_fail(err, LEAT_ERR_CORRUPT,
                         "\"%s\": page at byte %lld: its hash is another than was written; ingest "
                         "it again",
                         leat_file_path(copy->from), (long long)(at + done));
    }
    return LEAT_OK;
}

static leat_code copy_pieces(stage_copy *copy, uint8_t *bytes, leat_error *err) {
    for (;;) {
        int64_t at = atomic_fetch_add(&copy->next, PIECE_BYTES);
        int64_t left = copy->size_bytes - at, size = left < PIECE_BYTES ? left : PIECE_BYTES;
        if (left <= 0 || atomic_load(&copy->stop)) return LEAT_OK;
        LEAT_TRY(leat_file_pread(copy->from, bytes, size, at, err));
        LEAT_TRY(check_pages(copy, bytes, at, size, err));
        LEAT_TRY(leat_file_pwrite(copy->to, bytes, size, at, err));
        leat_file_start_writeback(copy->to, at, size);
        if (!leat_ticker_add(&copy->job->ticker, size))
            return leat_ticker_check(&copy->job->ticker, err);
    }
}

static leat_code copy_thread(void *context, int index, leat_error *err) {
    stage_copy *copy = context;
    void *bytes = NULL;
    (void)index;
    leat_code code = leat_block_alloc(&bytes, PIECE_BYTES, err);
    if (code == LEAT_OK) code = copy_pieces(copy, bytes, err);
    leat_block_free(bytes, PIECE_BYTES);
    if (code != LEAT_OK) atomic_store(&copy->stop, true);
    return code;
}

static leat_code check_size(stage_copy *copy, leat_error *err) {
    int64_t size = 0;
    LEAT_TRY(leat_file_size(copy->from, &size, err));
    if (size == copy->size_bytes) return LEAT_OK;
    return leat_fail(
        err, LEAT_ERR_CORRUPT,
        "\"%s\" has %lld bytes, its metadata says %lld; remove its folder and ingest again",
        leat_file_path(copy->from), (long long)size, (long long)copy->size_bytes);
}

static leat_code copy_tensors(stage_job *job, const leat_can_meta_split *split,
                              const uint64_t *hashes, leat_error *err) {
    char from[LEAT_PATH_BYTES], to[LEAT_PATH_BYTES];
    stage_copy copy = {.job = job, .hashes = hashes, .size_bytes = split->file_bytes};
    int64_t pieces = (split->file_bytes + PIECE_BYTES - 1) / PIECE_BYTES;
    int threads = job->options->threads < pieces ? job->options->threads : (int)pieces;
    LEAT_TRY(join(from, job->from, split->name, LEAT_CAN_TENSORS_SUFFIX, err));
    LEAT_TRY(join(to, job->work, split->name, LEAT_CAN_TENSORS_SUFFIX, err));
    leat_code code = leat_file_open(&copy.from, from, LEAT_FILE_READ, err);
    if (code == LEAT_OK) code = check_size(&copy, err);
    if (code == LEAT_OK) code = leat_file_open(&copy.to, to, LEAT_FILE_NEW, err);
    if (code == LEAT_OK && threads > 0) code = leat_threads_run(threads, copy_thread, &copy, err);
    if (code == LEAT_OK) code = leat_file_sync(copy.to, err);
    leat_file_close(copy.from);
    leat_file_close(copy.to);
    return code;
}

static leat_code write_small(const char *path, const uint8_t *bytes, int64_t size_bytes,
                             leat_error *err) {
    leat_file *file = NULL;
    LEAT_TRY(leat_file_open(&file, path, LEAT_FILE_NEW, err));
    leat_code code = leat_file_pwrite(file, bytes, size_bytes, 0, err);
    if (code == LEAT_OK) code = leat_file_sync(file, err);
    leat_file_close(file);
    return code;
}

/* A split's page hashes, then what they are of. */
static leat_code copy_split(stage_job *job, const leat_can_meta_split *split, leat_error *err) {
    char from[LEAT_PATH_BYTES], to[LEAT_PATH_BYTES];
    uint8_t *hashes = NULL;
    int64_t size = 0;
    LEAT_TRY(join(from, job->from, split->name, LEAT_CAN_PAGES_SUFFIX, err));
    LEAT_TRY(join(to, job->work, split->name, LEAT_CAN_PAGES_SUFFIX, err));
    leat_code code = leat_file_load(from, pages_bytes(split), &hashes, &size, err);
    if (code == LEAT_ERR_LIMIT ||
        (code == LEAT_OK &&
         (size != pages_bytes(split) || leat_xxh3(hashes, size) != split->pages_hash)))
        code =
            leat_fail(err, LEAT_ERR_CORRUPT,
                      "\"%s\" is not what was written; remove its folder and ingest again", from);
    if (code == LEAT_OK) code = write_small(to, hashes, size, err);
    if (code == LEAT_OK) code = copy_tensors(job, split, (const uint64_t *)(void *)hashes, err);
    leat_free(hashes);
    return code;
}

static leat_code copy_document(stage_job *job, leat_can_document which, leat_error *err) {
    char from[LEAT_PATH_BYTES], to[LEAT_PATH_BYTES];
    uint8_t *text = NULL;
    int64_t size = 0;
    LEAT_TRY(join(from, job->from, leat_can_document_name(which), "", err));
    LEAT_TRY(join(to, job->work, leat_can_document_name(which), "", err));
    LEAT_TRY(leat_file_load(from, LEAT_CAN_DOCUMENT_BYTES_MAX, &text, &size, err));
    leat_code code = write_small(to, text, size, err);
    leat_free(text);
    return code;
}

/* The documents that were copied are those of .complete. */
static leat_code check_documents(const stage_job *job, leat_error *err) {
    bool same = false;
    LEAT_TRY(compare_documents(job, job->work, &same, err));
    if (same) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_CORRUPT,
                     "\"%s\" has changed while it was copied; run this again", job->from);
}

static leat_code copy_all(stage_job *job, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_ticker_stage(&job->ticker, "staging", "bytes", job->size_bytes);
    for (int s = 0; s < job->meta.split_count; s++)
        LEAT_TRY(copy_split(job, &job->meta.splits[s], err));
    for (int i = 0; i < LEAT_CAN_DOCUMENTS; i++)
        LEAT_TRY(copy_document(job, (leat_can_document)i, err));
    LEAT_TRY(check_documents(job, err));
    LEAT_TRY(leat_path_join(path, sizeof path, job->work, LEAT_CAN_COMPLETE_NAME, err));
    LEAT_TRY(write_small(path, job->complete, job->complete_bytes, err));
    return leat_path_sync_dir(job->work, err);
}

/* ---- all of it ----------------------------------------------------------------------------------
 */

static leat_code check_space(const stage_job *job, const char *dir, leat_error *err) {
    int64_t free_bytes = leat_path_free_bytes(dir);
    if (free_bytes < 0 || free_bytes >= job->size_bytes) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_NO_SPACE,
                     "staging \"%s\" takes %lld bytes, \"%s\" has %lld free: make room, or stage "
                     "to another folder",
                     job->from, (long long)job->size_bytes, dir, (long long)free_bytes);
}

/* With the lock: what a killed run has left goes first. */
static leat_code make_copy(stage_job *job, const char *dir, leat_error *err) {
    leat_code code = leat_path_remove_tree(job->work, err);
    if (code == LEAT_OK) code = check_space(job, dir, err);
    if (code != LEAT_OK) return code;
    code = leat_path_make_dir(job->work, err);
    if (code == LEAT_OK) code = copy_all(job, err);
    if (code == LEAT_OK) code = leat_path_replace(job->work, job->to, err);
    if (code == LEAT_OK) return LEAT_OK;
    if (leat_path_remove_tree(job->work, NULL) != LEAT_OK) {
        /* what is left goes with the next run */
    }
    if (code != LEAT_ERR_NO_SPACE) return code;
    return leat_error_context(err, code, "staging \"%s\", which takes %lld bytes", job->from,
                              (long long)job->size_bytes);
}

/* How much of the path names the first folder that is not there; more than all of it: each is. */
static leat_code find_missing(const char *dir, size_t *length, leat_error *err) {
    char part[LEAT_PATH_BYTES];
    size_t size = strlen(dir);
    LEAT_ASSERT(size < sizeof part); /* paths in it were made */
    memcpy(part, dir, size + 1);
    for (*length = 1; *length <= size; ++*length) {
        leat_path_facts facts;
        if (dir[*length] != '/' && dir[*length] != 0) continue;
        part[*length] = 0;
        LEAT_TRY(leat_path_stat(part, &facts, err));
        if (facts.kind == LEAT_PATH_NONE) return LEAT_OK;
        part[*length] = dir[*length];
    }
    return LEAT_OK;
}

/* Folders that were made for this alone, as long as they hold nothing. */
static void remove_made(const char *dir, size_t first) {
    char part[LEAT_PATH_BYTES];
    memcpy(part, dir, strlen(dir) + 1);
    for (size_t size = strlen(dir); size >= first; size--) {
        if (dir[size] != '/' && dir[size] != 0) continue;
        part[size] = 0;
        if (leat_path_remove_dir(part, NULL) != LEAT_OK) return;
    }
}

static leat_code stage(stage_job *job, const char *cache, const char *dir,
                       leat_can_stage_result *result, leat_error *err) {
    size_t missing = 0;
    bool found = false;
    LEAT_TRY(look_at_source(job, cache, err));
    LEAT_TRY(set_paths(job, dir, err));
    LEAT_TRY(look_for_copy(job, &found, err));
    LEAT_TRY(find_missing(dir, &missing, err));
    leat_code code = LEAT_OK;
    if (found) clear_leftovers(job);
    else code = lock_or_find(job, dir, &found, err);
    if (!found && code == LEAT_OK) code = make_copy(job, dir, err);
    else result->reused = found;
    unlock(job);
    if (code != LEAT_OK) remove_made(dir, missing);
    result->size_bytes = job->size_bytes;
    memcpy(result->path, job->to, sizeof result->path);
    return code;
}

leat_code leat_can_cache_stage(const char *cache, const char *dir,
                               const leat_can_stage_options *options, leat_can_stage_result *result,
                               leat_error *err) {
    leat_can_stage_options defaults = leat_can_stage_options_default();
    stage_job *job = NULL;
    *result = (leat_can_stage_result){0};
    if (options == NULL) options = &defaults;
    if (options->threads < 1 || options->threads > LEAT_THREADS_MAX)
        return leat_fail(err, LEAT_ERR_OPTION, "threads %d: at least 1, at most %d",
                         options->threads, LEAT_THREADS_MAX);
    LEAT_TRY(LEAT_NEW(&job, 1, err));
    job->options = options;
    leat_ticker_create(&job->ticker, options->progress, options->progress_user);
    leat_code code = stage(job, cache, dir, result, err);
    if (code != LEAT_OK) *result = (leat_can_stage_result){0};
    leat_ticker_destroy(&job->ticker);
    leat_can_meta_free(&job->meta);
    leat_free(job->complete);
    leat_free(job);
    return code;
}
