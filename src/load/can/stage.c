/*
 * Copies a CAN cache to fast storage, once.
 *
 * The copy grows in "<dir>/.stage-<name>", a work folder (base/workdir.h) with a lock next to it,
 * and is renamed in one step when all of it is on the disk; over an older copy it is moved file by
 * file, .complete last, and third-party files there stay. Page hashes are compared while bytes are
 * copied, so damage is not copied along. A process that finds the lock taken waits, and then finds
 * the copy.
 */
#include <stdio.h>
#include <string.h>

#include "base/lock.h"
#include "base/mem.h"
#include "base/pool.h"
#include "base/sink.h"
#include "base/ticker.h"
#include "base/workdir.h"
#include "load/can/cache.h"

/* Bytes that a thread copies at once; the size of large pages, so that the page cache can use them.
 */
#define PIECE_BYTES (INT64_C(2) << 20)
#define COMPLETE_BYTES_MAX 4096
enum { DIGEST_LETTERS = 16 };

static const char *const work_names[] = {"out/", LEAT_CAN_CACHE_NAMES("out/"), "temp/", NULL};

typedef struct stage_job {
    const leat_can_stage_options *options;
    leat_ticker ticker;
    char from[LEAT_PATH_BYTES]; /* the cache's folder */
    char to[LEAT_PATH_BYTES];   /* the copy's, when it is complete */
    char work[LEAT_PATH_BYTES], lock_path[LEAT_PATH_BYTES];
    char out[LEAT_PATH_BYTES]; /* in `work`: the copy as it grows */
    leat_can_meta meta;
    uint8_t *complete; /* text of .complete */
    int64_t complete_bytes;
    int64_t size_bytes; /* of all files */
    leat_lock lock;
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

/* .complete is read first: at the end, the copied files are compared with it. */
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
        job->size_bytes += split->file_bytes + leat_can_split_pages_bytes(split);
    }
    return LEAT_OK;
}

/* The name of the copy: the last component of the cache's path, or by digest if that is "." or
 * "..". */
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
    LEAT_TRY(leat_path_join(job->out, sizeof job->out, job->work, "out", err));
    snprintf(hidden, sizeof hidden, ".stage-%s.lock", name);
    return leat_path_join(job->lock_path, sizeof job->lock_path, dir, hidden, err);
}

/* ---- existing copy ------------------------------------------------------------------------------
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

/* Pages are hashed when they are loaded; a truncated or outdated copy is detected here. */
static bool is_whole(const stage_job *job) {
    bool same = false;
    bool whole = complete_is_same(job, job->to) &&
                 compare_documents(job, job->to, &same, NULL) == LEAT_OK && same;
    for (int s = 0; whole && s < job->meta.split_count; s++) {
        const leat_can_meta_split *split = &job->meta.splits[s];
        whole = has_size(job->to, split->name, LEAT_CAN_TENSORS_SUFFIX, split->file_bytes) &&
                has_size(job->to, split->name, LEAT_CAN_PAGES_SUFFIX,
                         leat_can_split_pages_bytes(split));
    }
    return whole;
}

/* Whether a folder that is not complete is still a copy of this cache or of an earlier version of
 * it; or is empty. */
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

/* *found: a complete copy exists. Folders that are not a copy of this cache are not touched. */
static leat_code look_for_copy(const stage_job *job, bool *found, leat_error *err) {
    leat_path_facts from, to;
    bool older = false;
    *found = false;
    LEAT_TRY(leat_path_stat(job->from, &from, err));
    LEAT_TRY(leat_path_stat(job->to, &to, err));
    if (to.kind == LEAT_PATH_NONE) return LEAT_OK;
    /* the cache itself is in the folder that it is to be staged to */
    bool itself = from.device == to.device && from.inode == to.inode;
    *found = to.kind == LEAT_PATH_DIR && (itself || is_whole(job));
    if (*found) return LEAT_OK;
    if (to.kind == LEAT_PATH_DIR) LEAT_TRY(is_older(job, &older, err));
    if (older) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_EXISTS,
                     "cannot stage \"%s\": \"%s\" exists and is not a copy of it; move it away, or "
                     "stage to another folder",
                     job->from, job->to);
}

/* ---- the lock and the work ----------------------------------------------------------------------
 */

/* Removes what a killed run left next to a finished copy; if it stays, only space is lost. */
static void clear_leftovers(stage_job *job) {
    leat_workdir work;
    leat_path_facts lock, facts;
    if (leat_path_stat(job->lock_path, &lock, NULL) != LEAT_OK ||
        leat_path_stat(job->work, &facts, NULL) != LEAT_OK ||
        (lock.kind == LEAT_PATH_NONE && facts.kind == LEAT_PATH_NONE) ||
        leat_lock_try(&job->lock, job->lock_path, NULL) != LEAT_OK)
        return;
    leat_code code = leat_workdir_look(&work, job->work, work_names, NULL);
    if (code == LEAT_OK) code = leat_workdir_remove(&work, NULL, NULL);
    (void)code;
}

typedef struct lookout {
    stage_job *job;
    const char *dir;
} lookout;

/* For leat_lock_wait: creates the folder (a holder that failed may have removed it) and looks for
 * the copy, which another process may have made meanwhile. */
static leat_code look_out(void *context, bool *found, leat_error *err) {
    const lookout *self = context;
    LEAT_TRY(leat_path_make_dir(self->dir, err));
    return look_for_copy(self->job, found, err);
}

/* ---- copying ------------------------------------------------------------------------------------
 */

/* A file of tensors being copied. */
typedef struct stage_copy {
    stage_job *job;
    leat_file *from, *to;
    const uint64_t *hashes; /* of its pages */
    int64_t size_bytes;
    void **room; /* PIECE_BYTES for each worker */
} stage_copy;

static leat_code check_pages(const stage_copy *copy, const uint8_t *bytes, int64_t at,
                             int64_t size_bytes, leat_error *err) {
    for (int64_t done = 0; done < size_bytes; done += LEAT_PAGE_BYTES) {
        int64_t left = size_bytes - done, page = (at + done) / LEAT_PAGE_BYTES;
        int64_t step = left < LEAT_PAGE_BYTES ? left : LEAT_PAGE_BYTES;
        if (leat_xxh3(bytes + done, step) == copy->hashes[page]) continue;
        return leat_fail(
            err, LEAT_ERR_CORRUPT,
            "\"%s\": page at byte %lld: its hash differs from the stored one; run the ingest again",
            leat_file_path(copy->from), (long long)(at + done));
    }
    return LEAT_OK;
}

static leat_code copy_piece(void *context, int worker, int64_t piece, leat_error *err) {
    stage_copy *copy = context;
    uint8_t *bytes = copy->room[worker];
    int64_t at = piece * PIECE_BYTES, left = copy->size_bytes - at;
    int64_t size = left < PIECE_BYTES ? left : PIECE_BYTES;
    LEAT_TRY(leat_file_pread(copy->from, bytes, size, at, err));
    LEAT_TRY(check_pages(copy, bytes, at, size, err));
    LEAT_TRY(leat_file_pwrite(copy->to, bytes, size, at, err));
    leat_file_start_writeback(copy->to, at, size);
    return leat_ticker_step(&copy->job->ticker, size, err);
}

static leat_code copy_pieces(stage_copy *copy, leat_error *err) {
    int64_t pieces = (copy->size_bytes + PIECE_BYTES - 1) / PIECE_BYTES;
    int wanted = copy->job->options->threads, threads = wanted < pieces ? wanted : (int)pieces;
    leat_pool_job job = {.parts = pieces, .threads = threads, .context = copy, .make = copy_piece};
    leat_code code = LEAT_NEW(&copy->room, threads, err);
    for (int i = 0; i < threads && code == LEAT_OK; i++)
        code = leat_block_alloc(&copy->room[i], PIECE_BYTES, err);
    if (code == LEAT_OK) code = leat_pool_once(&job, err);
    for (int i = 0; i < threads && copy->room != NULL; i++)
        leat_block_free(copy->room[i], PIECE_BYTES);
    leat_free(copy->room);
    return code;
}

static leat_code check_size(stage_copy *copy, leat_error *err) {
    int64_t size = 0;
    LEAT_TRY(leat_file_size(copy->from, &size, err));
    if (size == copy->size_bytes) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_CORRUPT,
                     "\"%s\" has %lld bytes, but its metadata says %lld; " LEAT_CAN_REBUILD,
                     leat_file_path(copy->from), (long long)size, (long long)copy->size_bytes);
}

static leat_code copy_tensors(stage_job *job, const leat_can_meta_split *split,
                              const uint64_t *hashes, leat_error *err) {
    char from[LEAT_PATH_BYTES], to[LEAT_PATH_BYTES];
    stage_copy copy = {.job = job, .hashes = hashes, .size_bytes = split->file_bytes};
    LEAT_TRY(join(from, job->from, split->name, LEAT_CAN_TENSORS_SUFFIX, err));
    LEAT_TRY(join(to, job->out, split->name, LEAT_CAN_TENSORS_SUFFIX, err));
    leat_code code = leat_file_open(&copy.from, from, LEAT_FILE_READ, err);
    if (code == LEAT_OK) code = check_size(&copy, err);
    if (code == LEAT_OK) code = leat_file_open(&copy.to, to, LEAT_FILE_NEW, err);
    if (code == LEAT_OK) code = copy_pieces(&copy, err);
    if (code == LEAT_OK) code = leat_file_sync(copy.to, err);
    leat_file_close(copy.from);
    leat_file_close(copy.to);
    return code;
}

static leat_code write_small(const char *path, const void *bytes, int64_t size_bytes,
                             leat_error *err) {
    leat_file *file = NULL;
    LEAT_TRY(leat_file_open(&file, path, LEAT_FILE_NEW, err));
    leat_code code = leat_file_pwrite(file, bytes, size_bytes, 0, err);
    if (code == LEAT_OK) code = leat_file_sync(file, err);
    leat_file_close(file);
    return code;
}

/* A split's page hashes, then its pages. */
static leat_code copy_split(stage_job *job, const leat_can_meta_split *split, leat_error *err) {
    char from[LEAT_PATH_BYTES], to[LEAT_PATH_BYTES];
    const leat_tensor_file stated = leat_can_split_file(split);
    uint64_t *hashes = NULL;
    LEAT_TRY(join(from, job->from, split->name, LEAT_CAN_PAGES_SUFFIX, err));
    LEAT_TRY(join(to, job->out, split->name, LEAT_CAN_PAGES_SUFFIX, err));
    leat_code code = leat_page_hashes_load(from, &stated, &hashes, err);
    if (code == LEAT_OK) code = write_small(to, hashes, leat_can_split_pages_bytes(split), err);
    if (code == LEAT_OK) code = copy_tensors(job, split, hashes, err);
    leat_free(hashes);
    return code;
}

static leat_code copy_document(stage_job *job, leat_can_document which, leat_error *err) {
    char from[LEAT_PATH_BYTES], to[LEAT_PATH_BYTES];
    uint8_t *text = NULL;
    int64_t size = 0;
    LEAT_TRY(join(from, job->from, leat_can_document_name(which), "", err));
    LEAT_TRY(join(to, job->out, leat_can_document_name(which), "", err));
    LEAT_TRY(leat_file_load(from, LEAT_CAN_DOCUMENT_BYTES_MAX, &text, &size, err));
    leat_code code = write_small(to, text, size, err);
    leat_free(text);
    return code;
}

/* Checks that the copied documents are those of .complete. */
static leat_code check_documents(const stage_job *job, leat_error *err) {
    bool same = false;
    LEAT_TRY(compare_documents(job, job->out, &same, err));
    if (same) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_CORRUPT,
                     "\"%s\" changed while it was copied; run the command again", job->from);
}

static leat_code copy_all(stage_job *job, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_ticker_stage(&job->ticker, "staging", "bytes", job->size_bytes);
    for (int s = 0; s < job->meta.split_count; s++)
        LEAT_TRY(copy_split(job, &job->meta.splits[s], err));
    for (int i = 0; i < LEAT_CAN_DOCUMENTS; i++)
        LEAT_TRY(copy_document(job, (leat_can_document)i, err));
    LEAT_TRY(check_documents(job, err));
    LEAT_TRY(leat_path_join(path, sizeof path, job->out, LEAT_CAN_COMPLETE_NAME, err));
    LEAT_TRY(write_small(path, job->complete, job->complete_bytes, err));
    return leat_path_sync_dir(job->out, err);
}

/* ---- all of it ----------------------------------------------------------------------------------
 */

static leat_code check_space(const stage_job *job, const char *dir, leat_error *err) {
    int64_t free_bytes = leat_path_free_bytes(dir);
    if (free_bytes < 0 || free_bytes >= job->size_bytes) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_NO_SPACE,
                     "staging \"%s\" requires %lld bytes, but \"%s\" has %lld free; free some "
                     "space, or stage to another folder",
                     job->from, (long long)job->size_bytes, dir, (long long)free_bytes);
}

static leat_code publish(const stage_job *job, leat_error *err) {
    leat_path_facts facts;
    leat_path_list names = {0};
    LEAT_TRY(leat_path_stat(job->to, &facts, err));
    if (facts.kind == LEAT_PATH_DIR) LEAT_TRY(leat_path_list_dir(job->to, &names, err));
    bool in_place = names.count > 0;
    leat_path_list_free(&names);
    return in_place ? leat_path_move_files(job->out, job->to, LEAT_CAN_COMPLETE_NAME, err)
                    : leat_path_move_dir(job->out, job->to, err);
}

/* With the lock held: first removes what a killed run left. */
static leat_code make_copy(stage_job *job, const char *dir, leat_error *err) {
    leat_workdir work;
    LEAT_TRY(leat_workdir_look(&work, job->work, work_names, err));
    LEAT_TRY(leat_workdir_remove(&work, NULL, err));
    LEAT_TRY(check_space(job, dir, err));
    leat_code code = leat_workdir_begin(&work, NULL, "", err);
    if (code == LEAT_OK) code = leat_path_make_dir(job->out, err);
    if (code == LEAT_OK) code = copy_all(job, err);
    if (code == LEAT_OK) code = publish(job, err);
    if (leat_workdir_remove(&work, NULL, NULL) != LEAT_OK) {
        /* the next run removes what remains */
    }
    if (code != LEAT_ERR_NO_SPACE) return code;
    return leat_error_context(err, code, "staging \"%s\", which requires %lld bytes", job->from,
                              (long long)job->size_bytes);
}

/* The length of the path up to the first missing folder; more than the path's length: none is
 * missing. */
static leat_code find_missing(const char *dir, size_t *length, leat_error *err) {
    char part[LEAT_PATH_BYTES];
    size_t size = strlen(dir);
    LEAT_ASSERT(size < sizeof part); /* longer paths were built from it */
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

/* Removes the folders created for this copy, if they are empty. */
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
    lookout self = {job, dir};
    if (found) clear_leftovers(job);
    else
        code = leat_lock_wait(&job->lock, job->lock_path, (leat_lock_look){look_out, &self},
                              &job->ticker, &found, err);
    if (!found && code == LEAT_OK) code = make_copy(job, dir, err);
    else result->reused = found;
    leat_lock_release(&job->lock);
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
        return leat_fail(err, LEAT_ERR_OPTION, "threads is %d; it must be 1 to %d",
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
