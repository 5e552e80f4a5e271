/*
 * The bytes of a shard: mapped and checked page by page, or through a reader.
 *
 * Shards are opened when they are first touched. The map of a shard is published by one atomic
 * pointer, so that finding it costs no lock. Readers, and shards whose pages are read, hold file
 * descriptors, of which a process has few: at most LEAT_FILES_OPEN_MAX stay open, and the one used
 * longest ago makes room.
 */
#include <string.h>

#include "load/probes/dataset.h"

/* Lock and lazily opened shards change in a data set that is otherwise never written. */
static leat_dataset *writable(const leat_dataset *dataset) {
    return (leat_dataset *)(uintptr_t)dataset;
}

leat_code leat_shard_page_hash(const void *context, int64_t page, uint64_t *hash, leat_error *err) {
    const leat_shard_pages *pages = context;
    atomic_fetch_add_explicit(pages->payload_bytes, LEAT_PAGE_BYTES, memory_order_relaxed);
    return leat_index_page_hash(pages->index, pages->shard, page, hash, err);
}

static leat_code size_differs(const leat_shard *shard, int64_t file_bytes, leat_error *err) {
    return leat_fail(err, LEAT_ERR_CORRUPT,
                     "shard \"%s\" has %lld bytes, but the manifest says %lld; run the ingest "
                     "again with --replace",
                     shard->path, (long long)file_bytes, (long long)shard->facts.file_bytes);
}

/* Where the shard is now: one that was being published when the data set was opened has moved. */
static const char *path_of(const leat_shard *shard) {
    leat_path_facts facts;
    if (shard->home == NULL) return shard->path;
    bool moved =
        leat_path_stat(shard->path, &facts, NULL) == LEAT_OK && facts.kind == LEAT_PATH_NONE;
    return moved ? shard->home : shard->path;
}

/* Whether a shard that was not found may be found now: it has moved since it was looked for. */
static bool has_moved(const leat_shard *shard, leat_code code) {
    return code == LEAT_ERR_NOT_FOUND && shard->home != NULL && path_of(shard) == shard->home;
}

/* Under the lock. */
static leat_code map_shard(leat_shard *shard, leat_paged **out, leat_error *err) {
    leat_paged *paged = NULL;
    leat_map *map = NULL;
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&paged, 1, err));
    leat_code code = leat_map_open_sized(&map, path_of(shard), shard->facts.file_bytes, err);
    if (has_moved(shard, code))
        code = leat_map_open_sized(&map, shard->home, shard->facts.file_bytes, err);
    if (code == LEAT_OK) {
        code = leat_paged_init(paged, map, shard->facts.file_bytes, leat_shard_page_hash,
                               &shard->pages, err);
    }
    if (code != LEAT_OK) {
        leat_map_close(map);
        leat_free(paged);
        return code;
    }
    *out = paged;
    return LEAT_OK;
}

leat_code leat_shard_paged(const leat_dataset *dataset, int64_t shard, bool any_size,
                           const leat_paged **out, leat_error *err) {
    leat_shard *at = &dataset->shards[shard];
    leat_paged *paged = atomic_load_explicit(&at->paged, memory_order_acquire);
    leat_code code = LEAT_OK;
    *out = NULL;
    if (paged == NULL) {
        leat_dataset *ours = writable(dataset);
        pthread_mutex_lock(&ours->lock);
        paged = atomic_load_explicit(&at->paged, memory_order_relaxed);
        if (paged == NULL) code = map_shard(at, &paged, err);
        if (code == LEAT_OK) atomic_store_explicit(&at->paged, paged, memory_order_release);
        pthread_mutex_unlock(&ours->lock);
        if (code != LEAT_OK) return code;
    }
    int64_t file_bytes = leat_map_file_bytes(paged->map);
    if (!any_size && file_bytes != at->facts.file_bytes) return size_differs(at, file_bytes, err);
    *out = paged;
    return LEAT_OK;
}

/* ---- files that are opened and closed -----------------------------------------------------------
 */

static void close_files(leat_shard *shard) {
    leat_ar_reader_close(shard->reader);
    leat_file_close(shard->file);
    shard->reader = NULL;
    shard->file = NULL;
}

/* Under the lock: closes the idle file that was used longest ago; if all are in use, one more
 * stays open. */
static void close_one(leat_dataset *dataset) {
    leat_shard *oldest = NULL;
    for (int64_t i = 0; i < dataset->shard_count; i++) {
        leat_shard *shard = &dataset->shards[i];
        if ((shard->reader == NULL && shard->file == NULL) || shard->users > 0) continue;
        if (oldest == NULL || shard->used < oldest->used) oldest = shard;
    }
    if (oldest == NULL) return;
    close_files(oldest);
    dataset->files_open--;
}

/* A third-party file must be the one that existed when the data set was opened. */
static leat_code check_others(const leat_shard *shard, leat_error *err) {
    int64_t file_bytes = leat_ar_reader_file_bytes(shard->reader);
    int64_t records = leat_ar_reader_record_count(shard->reader);
    if (file_bytes == shard->facts.file_bytes && records == shard->facts.row_count) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_CORRUPT,
                     "\"%s\" has %lld bytes and %lld records, but should have %lld and %lld; the "
                     "file has changed since it was opened",
                     shard->path, (long long)file_bytes, (long long)records,
                     (long long)shard->facts.file_bytes, (long long)shard->facts.row_count);
}

/* Under the lock: a shard has a reader or a file, by what it is, never both. */
static leat_code open_shard(leat_dataset *dataset, leat_shard *shard, leat_error *err) {
    leat_code code = LEAT_OK;
    if (shard->reader != NULL || shard->file != NULL) return LEAT_OK;
    if (dataset->files_open >= LEAT_FILES_OPEN_MAX) close_one(dataset);
    if (shard->is_mapped) {
        code = leat_file_open(&shard->file, path_of(shard), LEAT_FILE_READ, err);
        if (has_moved(shard, code))
            code = leat_file_open(&shard->file, shard->home, LEAT_FILE_READ, err);
        if (code == LEAT_OK) code = leat_file_size(shard->file, &shard->found_bytes, err);
    } else if (dataset->index != NULL) {
        /* leat's index has the positions of its chunks */
        code = leat_ar_reader_open_bare(&shard->reader, path_of(shard), err);
        if (has_moved(shard, code))
            code = leat_ar_reader_open_bare(&shard->reader, shard->home, err);
        if (code == LEAT_OK) shard->found_bytes = leat_ar_reader_file_bytes(shard->reader);
    } else {
        int64_t need = 0, left = leat_reading_left(&dataset->reading);
        /* its table was counted when the data set was opened */
        left += dataset->reading.table_bytes;
        code = leat_ar_reader_open_within(&shard->reader, shard->path, left, &need, err);
        if (code == LEAT_OK) code = check_others(shard, err);
        if (code == LEAT_OK) shard->found_bytes = shard->facts.file_bytes;
    }
    if (code == LEAT_OK) dataset->files_open++;
    else close_files(shard);
    return code;
}

static leat_code acquire(const leat_dataset *dataset, int64_t shard, bool any_size,
                         leat_error *err) {
    leat_dataset *ours = writable(dataset);
    leat_shard *at = &ours->shards[shard];
    pthread_mutex_lock(&ours->lock);
    leat_code code = open_shard(ours, at, err);
    if (code == LEAT_OK && !any_size && at->found_bytes != at->facts.file_bytes) {
        code = size_differs(at, at->found_bytes, err);
    }
    if (code == LEAT_OK) {
        at->users++;
        at->used = ++ours->tick;
    }
    pthread_mutex_unlock(&ours->lock);
    return code;
}

leat_code leat_shard_reader_acquire(const leat_dataset *dataset, int64_t shard, bool any_size,
                                    const leat_ar_reader **out, leat_error *err) {
    *out = NULL;
    LEAT_ASSERT(!dataset->shards[shard].is_mapped);
    LEAT_TRY(acquire(dataset, shard, any_size, err));
    *out = dataset->shards[shard].reader;
    return LEAT_OK;
}

leat_code leat_shard_file_acquire(const leat_dataset *dataset, int64_t shard, bool any_size,
                                  leat_file **out, int64_t *file_bytes, leat_error *err) {
    *out = NULL;
    *file_bytes = 0;
    LEAT_ASSERT(dataset->shards[shard].is_mapped);
    LEAT_TRY(acquire(dataset, shard, any_size, err));
    *out = dataset->shards[shard].file;
    *file_bytes = dataset->shards[shard].found_bytes;
    return LEAT_OK;
}

void leat_shard_release(const leat_dataset *dataset, int64_t shard) {
    leat_dataset *ours = writable(dataset);
    pthread_mutex_lock(&ours->lock);
    ours->shards[shard].users--;
    pthread_mutex_unlock(&ours->lock);
}

void leat_shard_close(leat_shard *shard) {
    leat_paged *paged = atomic_load(&shard->paged);
    if (paged != NULL) leat_paged_free(paged);
    leat_free(paged);
    close_files(shard);
    leat_map_close(shard->unmapped);
    leat_free(shard->name);
    leat_free(shard->path);
    leat_free(shard->home);
}

/* ---- the fingerprint of third-party files
 * --------------------------------------------------------
 */

/* The 40 bytes of a chunk's header, unchanged: they are hashed, not trusted. */
static leat_code hash_chunk_header(leat_file *file, int64_t begin, leat_sha256 *sha,
                                   leat_error *err) {
    uint8_t header[LEAT_AR_CHUNK_HEADER_BYTES];
    int64_t done = 0;
    while (done < LEAT_AR_CHUNK_HEADER_BYTES) {
        int64_t at = 0;
        int64_t size = leat_ar_fragment(begin, done, LEAT_AR_CHUNK_HEADER_BYTES - done, &at);
        LEAT_TRY(leat_file_pread(file, header + done, size, at, err));
        done += size;
    }
    leat_sha256_update(sha, header, sizeof(header));
    return LEAT_OK;
}

static leat_code hash_file(const leat_ar_reader *reader, leat_file *file, leat_sha256 *sha,
                           leat_error *err) {
    int64_t chunks = leat_ar_reader_chunk_count(reader);
    int64_t end = leat_ar_reader_file_bytes(reader);
    for (int64_t i = 0; i < chunks; i++) {
        LEAT_TRY(hash_chunk_header(file, leat_ar_reader_chunk(reader, i).offset, sha, err));
    }
    for (int64_t at = leat_ar_reader_footer_offset(reader); at < end;) {
        uint8_t piece[4096];
        int64_t size = end - at < (int64_t)sizeof(piece) ? end - at : (int64_t)sizeof(piece);
        LEAT_TRY(leat_file_pread(file, piece, size, at, err));
        leat_sha256_update(sha, piece, size);
        at += size;
    }
    return LEAT_OK;
}

leat_code leat_dataset_hash_others(const leat_dataset *dataset, uint8_t digest[32],
                                   leat_error *err) {
    leat_sha256 sha;
    leat_sha256_init(&sha);
    for (int64_t i = 0; i < dataset->shard_count; i++) {
        const leat_ar_reader *reader = NULL;
        leat_file *file = NULL;
        LEAT_TRY(leat_shard_reader_acquire(dataset, i, false, &reader, err));
        leat_code code = leat_file_open(&file, dataset->shards[i].path, LEAT_FILE_READ, err);
        if (code == LEAT_OK) code = hash_file(reader, file, &sha, err);
        leat_file_close(file);
        leat_shard_release(dataset, i);
        if (code != LEAT_OK) return code;
    }
    leat_sha256_final(&sha, digest);
    return LEAT_OK;
}
