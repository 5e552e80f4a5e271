/*
 * Opens a data set for reading: its facts, and those of its rows.
 *
 * In a data set written by leat, a row's facts are in the index. Third-party rows have theirs in
 * the record itself, so the complete record is read and decoded when they are first requested, and
 * they are kept.
 */
#include <string.h>
#include <unistd.h>

#include "format/output.h"
#include "format/probe/read.h"
#include "load/probes/dataset.h"

leat_dataset_options leat_dataset_options_default(void) {
    return (leat_dataset_options){.cache_bytes = INT64_C(64) << 20,
                                  .memory_bytes = INT64_C(512) << 20};
}

/* Finds the kind of data set: leat's if it is one folder with a manifest. */
static leat_code look(const char *const *paths, int64_t path_count, bool *ours, leat_error *err) {
    *ours = false;
    if (path_count < 1) return leat_fail(err, LEAT_ERR_OPTION, "no data set is given");
    for (int64_t i = 0; i < path_count; i++) {
        leat_path_facts facts;
        leat_places places;
        leat_output output;
        bool there = false, index_there = false;
        LEAT_TRY(leat_path_stat(paths[i], &facts, err));
        if (facts.kind != LEAT_PATH_DIR) continue;
        /* first, because an ingest that ends meanwhile puts it there before the manifest */
        LEAT_TRY(leat_index_is_in(paths[i], &index_there, err));
        LEAT_TRY(leat_places_look(&places, paths[i], &there, err));
        if (there && path_count > 1) {
            const char *other = paths[i == 0 ? 1 : 0];
            LEAT_TRY(leat_path_stat(other, &facts, err));
            if (facts.kind == LEAT_PATH_NONE) /* such as the value of --hash=rows */
                return leat_fail(err, LEAT_ERR_NOT_FOUND,
                                 "cannot open \"%s\": no such file or folder", other);
            return leat_fail(err, LEAT_ERR_OPTION,
                             "\"%s\" is a separate data set and cannot be combined with \"%s\"; "
                             "give only one of them, or its files",
                             paths[i], other);
        }
        if (there) {
            *ours = true;
            continue;
        }
        LEAT_TRY(leat_output_look(paths[i], &output, err));
        if (output.kind == LEAT_OUTPUT_PROBES && !output.complete) {
            return leat_fail(
                err, LEAT_ERR_INPUT,
                "\"%s\" holds an ingest that is running or was interrupted; wait until it ends, or "
                "run the same `leat ingest probes` again with --resume",
                paths[i]);
        }
        if (index_there)
            return leat_fail(
                err, LEAT_ERR_INPUT,
                "\"%s\" has an " LEAT_INDEX_NAME " of leat, but no " LEAT_MANIFEST_NAME
                ", which says what belongs to the data set: shards may be missing, too; copy the "
                "whole folder again, or give the *" LEAT_SHARD_SUFFIX " files themselves",
                paths[i]);
    }
    return LEAT_OK;
}

leat_code leat_dataset_open(leat_dataset **out, const char *const *paths, int64_t path_count,
                            const leat_dataset_options *options, leat_error *err) {
    leat_dataset_options defaults = leat_dataset_options_default();
    leat_dataset *dataset = NULL;
    bool ours = false;
    *out = NULL;
    if (options == NULL) options = &defaults;
    if (options->cache_bytes < 0 || options->memory_bytes < 0) {
        return leat_fail(err, LEAT_ERR_OPTION,
                         "opening a data set: cache_bytes is %lld and memory_bytes is %lld; "
                         "neither may be negative",
                         (long long)options->cache_bytes, (long long)options->memory_bytes);
    }
    LEAT_TRY(look(paths, path_count, &ours, err));
    LEAT_TRY(LEAT_NEW(&dataset, 1, err));
    pthread_mutex_init(&dataset->lock, NULL);
    dataset->process = getpid();
    int64_t memory = options->memory_bytes > 0 ? options->memory_bytes : defaults.memory_bytes;
    leat_reading_init(&dataset->reading, memory, options->cache_bytes);
    leat_code code =
        leat_record_cache_create(&dataset->cache, leat_reading_cache_bytes(&dataset->reading), err);
    if (code == LEAT_OK && options->addresses != NULL)
        code = leat_src_table_load(&dataset->addresses, options->addresses, "src_addr", err);
    if (code == LEAT_OK && ours) code = leat_dataset_open_ours(dataset, paths[0], err);
    if (code == LEAT_OK && !ours) code = leat_dataset_open_others(dataset, paths, path_count, err);
    if (code != LEAT_OK) {
        leat_dataset_close(dataset);
        return code;
    }
    *out = dataset;
    return LEAT_OK;
}

void leat_dataset_close(leat_dataset *dataset) {
    if (dataset == NULL) return;
    for (int64_t i = 0; i < dataset->shard_count; i++) leat_shard_close(&dataset->shards[i]);
    leat_free(dataset->shards);
    leat_free(dataset->others);
    leat_free(dataset->dir);
    leat_record_cache_destroy(dataset->cache);
    leat_src_table_destroy(dataset->addresses);
    leat_index_close(dataset->index);
    leat_manifest_free(&dataset->manifest);
    leat_reading_destroy(&dataset->reading);
    pthread_mutex_destroy(&dataset->lock);
    leat_free(dataset);
}

void leat_dataset_get_facts(const leat_dataset *dataset, leat_dataset_facts *facts) {
    *facts = dataset->facts;
}

const char *leat_dataset_source(const leat_dataset *dataset, int64_t src_id) {
    if (dataset->addresses == NULL) return NULL;
    return leat_src_table_find(dataset->addresses, src_id);
}

int64_t leat_dataset_payload_bytes(const leat_dataset *dataset) {
    return atomic_load_explicit(&dataset->payload_bytes, memory_order_relaxed);
}

leat_code leat_dataset_fingerprint(const leat_dataset *dataset, char text[65], leat_error *err) {
    leat_dataset *ours = (leat_dataset *)(uintptr_t)dataset; /* what is found once is kept */
    uint8_t digest[32];
    memset(text, 0, 65);
    pthread_mutex_lock(&ours->lock);
    bool known = ours->has_fingerprint;
    pthread_mutex_unlock(&ours->lock);
    if (!known) {
        LEAT_TRY(leat_dataset_hash_others(dataset, digest, err));
        pthread_mutex_lock(&ours->lock);
        leat_sha256_hex(digest, ours->fingerprint);
        ours->has_fingerprint = true;
        pthread_mutex_unlock(&ours->lock);
    }
    pthread_mutex_lock(&ours->lock);
    memcpy(text, ours->fingerprint, 65);
    pthread_mutex_unlock(&ours->lock);
    return LEAT_OK;
}

leat_code leat_dataset_get_shard(const leat_dataset *dataset, int64_t shard,
                                 leat_dataset_shard *out, leat_error *err) {
    *out = (leat_dataset_shard){0};
    if (shard < 0 || shard >= dataset->shard_count) {
        return leat_fail(err, LEAT_ERR_OPTION, "no shard %lld: the data set has %lld shards",
                         (long long)shard, (long long)dataset->shard_count);
    }
    *out = dataset->shards[shard].facts;
    return LEAT_OK;
}

int64_t leat_dataset_shard_of(const leat_dataset *dataset, int64_t row) {
    if (dataset->index != NULL) return leat_index_shard_of(dataset->index, row);
    /* the last shard that begins at or before the row: empty ones share their first row with the
     * next that is not */
    int64_t low = 0, high = dataset->shard_count - 1;
    while (low < high) {
        int64_t middle = low + (high - low + 1) / 2;
        if (dataset->shards[middle].facts.first_row <= row) low = middle;
        else high = middle - 1;
    }
    return low;
}

/* ---- records that are not mapped ---------------------------------------------------------------
 */

/* According to leat's index, or to the file's own index. */
static leat_code read_from(const leat_dataset *dataset, const leat_ar_reader *reader, int64_t row,
                           int64_t shard, leat_ar_record *record, leat_error *err) {
    leat_index_row indexed;
    if (dataset->index == NULL) {
        int64_t index = row - dataset->shards[shard].facts.first_row;
        return leat_ar_reader_read(reader, index, record, err);
    }
    LEAT_TRY(leat_index_row_in(dataset->index, shard, row, &indexed, err));
    return leat_ar_reader_read_at(reader, indexed.chunk_offset, record, err);
}

/* Waits until there is memory for the chunk of a third-party row; *taken is 0 for leat's own. */
static leat_code enter(const leat_dataset *dataset, const leat_ar_reader *reader, int64_t row,
                       int64_t shard, int64_t *taken, leat_error *err) {
    leat_dataset *ours = (leat_dataset *)(uintptr_t)dataset; /* to count */
    *taken = 0;
    if (dataset->index != NULL) return LEAT_OK;
    int64_t record = row - dataset->shards[shard].facts.first_row;
    int64_t index = record / leat_ar_reader_group_size(reader);
    leat_reading_chunk chunk = {.record_count = leat_ar_reader_chunk(reader, index).record_count};
    LEAT_TRY(leat_ar_reader_measure(reader, index, &chunk.file_bytes, &chunk.decoded_bytes, err));
    return leat_reading_enter(&ours->reading, &chunk, taken, err);
}

static leat_code read_record(const leat_dataset *dataset, int64_t row, int64_t shard, bool any_size,
                             leat_cached_record **out, leat_error *err) {
    leat_dataset *ours = (leat_dataset *)(uintptr_t)dataset; /* to count */
    const leat_ar_reader *reader = NULL;
    leat_ar_record record = {0};
    int64_t taken = 0;
    LEAT_TRY(leat_shard_reader_acquire(dataset, shard, any_size, &reader, err));
    leat_code code = enter(dataset, reader, row, shard, &taken, err);
    if (code == LEAT_OK) {
        code = read_from(dataset, reader, row, shard, &record, err);
        /* a decoder's window is known only once its stream is there */
        if (code == LEAT_ERR_LIMIT && dataset->index == NULL)
            code = leat_dataset_too_large(dataset, leat_ar_record_need(&record),
                                          leat_ar_record_need(&record), err);
    }
    if (code == LEAT_OK) {
        atomic_fetch_add_explicit(&ours->payload_bytes, record.size_bytes, memory_order_relaxed);
        code = leat_record_cache_add(dataset->cache, row, record.data, record.size_bytes, out, err);
    }
    leat_ar_record_free(&record);
    leat_reading_leave(&ours->reading, taken);
    leat_shard_release(dataset, shard);
    return code;
}

leat_code leat_dataset_record(const leat_dataset *dataset, int64_t row, bool any_size,
                              leat_cached_record **out, leat_error *err) {
    *out = leat_record_cache_find(dataset->cache, row);
    if (*out != NULL) return LEAT_OK;
    return read_record(dataset, row, leat_dataset_shard_of(dataset, row), any_size, out, err);
}

/* ---- memory of third-party records -------------------------------------------------------------
 */

int leat_dataset_share(const leat_dataset *dataset, int threads) {
    leat_dataset *ours = (leat_dataset *)(uintptr_t)dataset;
    return dataset->index != NULL ? threads : leat_reading_share(&ours->reading, threads);
}

void leat_dataset_set_gate(const leat_dataset *dataset, int64_t gate_bytes) {
    leat_dataset *ours = (leat_dataset *)(uintptr_t)dataset;
    leat_budget_set_limit(&ours->reading.gate, gate_bytes);
}

leat_probe_read_options leat_dataset_read_options(const leat_dataset *dataset, int64_t src_id,
                                                  int64_t *needed) {
    leat_probe_read_options options = leat_probe_read_options_default();
    options.src_addr = leat_dataset_source(dataset, src_id);
    options.needed_bytes = needed;
    if (dataset->index == NULL) options.max_decoded_bytes = dataset->reading.table_max;
    return options;
}

leat_code leat_dataset_too_large(const leat_dataset *dataset, int64_t needed, int64_t more,
                                 leat_error *err) {
    const leat_reading *reading = &dataset->reading;
    if (needed == 0 || dataset->index != NULL) return LEAT_ERR_LIMIT; /* another limit */
    return leat_fail(err, LEAT_ERR_LIMIT,
                     "reading it requires %lld MiB of memory, more than is left of the %lld MiB of "
                     "--memory; use --memory %lldM",
                     (long long)(needed >> 20) + 1, (long long)(reading->memory_bytes >> 20),
                     (long long)leat_reading_least_mib(reading, more));
}

leat_code leat_dataset_row_too_large(const leat_dataset *dataset, int64_t needed, leat_error *err) {
    return leat_dataset_too_large(dataset, needed,
                                  leat_reading_table_bytes(&dataset->reading, needed), err);
}

/* ---- facts of a row ----------------------------------------------------------------------------
 */

/* 4 or 6 if all measurements are of that version, else 0. */
static int8_t common_version(const leat_measurements *measurements) {
    if (measurements->count == 0) return 0;
    for (int64_t i = 1; i < measurements->count; i++) {
        if (measurements->ip_version[i] != measurements->ip_version[0]) return 0;
    }
    return (int8_t)measurements->ip_version[0];
}

/* The options to decode a record with: the given source, if the record may lack one. */
static leat_code read_options(const leat_dataset *dataset, const leat_cached_record *record,
                              int64_t *needed, leat_probe_read_options *options, leat_error *err) {
    leat_view view = leat_view_of(record->data, record->size_bytes);
    leat_probe_outer outer;
    leat_probe_heap heap = {.decoded_left = LEAT_PROBE_DECODED_MAX};
    *options = leat_dataset_read_options(dataset, -1, needed);
    if (dataset->addresses == NULL) return LEAT_OK;
    leat_code code = leat_probe_outer_read(&view, &heap, &outer, err);
    leat_buf_free(&heap.metadata);
    leat_buf_free(&heap.decoded);
    if (code == LEAT_OK) options->src_addr = leat_dataset_source(dataset, outer.info.src_id);
    return code;
}

/* Reads a third-party row and keeps its facts. */
static leat_code learn(const leat_dataset *dataset, int64_t row, leat_other_row *other,
                       leat_error *err) {
    leat_cached_record *record = NULL;
    leat_measurements measurements = {0};
    leat_probe_row_info info;
    leat_probe_read_options options;
    int64_t needed = 0;
    LEAT_TRY(leat_dataset_record(dataset, row, false, &record, err));
    leat_code code = read_options(dataset, record, &needed, &options, err);
    if (code == LEAT_OK) {
        code = leat_probe_record_decode(record->data, record->size_bytes, &options, &measurements,
                                        &info, err);
    }
    if (code == LEAT_ERR_LIMIT) code = leat_dataset_row_too_large(dataset, needed, err);
    if (code == LEAT_OK) {
        leat_dataset *ours = (leat_dataset *)(uintptr_t)dataset;
        pthread_mutex_lock(&ours->lock);
        /* written once: a thread that sees `known` reads without the lock */
        if (!atomic_load_explicit(&other->known, memory_order_relaxed)) {
            other->src_id = info.src_id;
            other->n_measurements = info.n_measurements;
            other->first_us = info.first_us;
            other->last_us = info.last_us;
            other->record_bytes = record->size_bytes;
            other->ip_version = common_version(&measurements);
            atomic_store_explicit(&other->known, 1, memory_order_release);
        }
        pthread_mutex_unlock(&ours->lock);
    }
    leat_measurements_free(&measurements);
    leat_record_cache_release(dataset->cache, record);
    return code;
}

static leat_code facts_of_others(const leat_dataset *dataset, int64_t row, leat_row_facts *facts,
                                 leat_error *err) {
    leat_other_row *other = &dataset->others[row];
    if (!atomic_load_explicit(&other->known, memory_order_acquire)) {
        leat_code code = learn(dataset, row, other, err);
        if (code != LEAT_OK) {
            return leat_error_context(err, code, "\"%s\", record %lld",
                                      dataset->shards[facts->shard].name,
                                      (long long)facts->record_index);
        }
    }
    facts->src_id = other->src_id;
    facts->n_measurements = other->n_measurements;
    facts->first_us = other->first_us;
    facts->last_us = other->last_us;
    facts->ip_version = other->ip_version;
    facts->record_bytes = other->record_bytes;
    return LEAT_OK;
}

leat_code leat_dataset_row(const leat_dataset *dataset, int64_t row, leat_row_facts *facts,
                           leat_error *err) {
    int64_t chunk_offset;
    return leat_dataset_row_place(dataset, row, facts, &chunk_offset, err);
}

leat_code leat_dataset_row_place(const leat_dataset *dataset, int64_t row, leat_row_facts *facts,
                                 int64_t *chunk_offset, leat_error *err) {
    *facts = (leat_row_facts){0};
    *chunk_offset = 0;
    if (row < 0 || row >= dataset->facts.row_count) {
        return leat_fail(err, LEAT_ERR_OPTION, "no row %lld: the data set has %lld rows",
                         (long long)row, (long long)dataset->facts.row_count);
    }
    leat_row_facts found = {0};
    found.shard = leat_dataset_shard_of(dataset, row);
    found.record_index = row - dataset->shards[found.shard].facts.first_row;
    if (dataset->index == NULL) {
        LEAT_TRY(facts_of_others(dataset, row, &found, err));
    } else {
        leat_index_row indexed;
        LEAT_TRY(leat_index_row_in(dataset->index, found.shard, row, &indexed, err));
        found.src_id = indexed.src_id;
        found.n_measurements = indexed.n_measurements;
        found.first_us = indexed.first_us;
        found.last_us = indexed.last_us;
        found.ip_version = indexed.ip_version;
        found.record_bytes = indexed.record_bytes;
        *chunk_offset = indexed.chunk_offset;
    }
    *facts = found;
    return LEAT_OK;
}
