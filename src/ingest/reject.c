/*
 * Rejected rows, ordered by file and row whichever thread found them. Each worker keeps its rows in
 * one block: entries grow from the front, a table of their offsets from the back. A full block is
 * sorted and appended as a run to one temporary file; at the end the runs are merged
 * (base/merge.h).
 */
#include "ingest/reject.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/merge.h"
#include "ingest/value_text.h"

#define BLOCK_MAX (INT64_C(8) << 20)
#define WRITE_BYTES (INT64_C(16) << 10)
/* The least for the merge: a buffer to write, and those of some runs. */
#define MERGE_MIN (WRITE_BYTES + 3 * LEAT_MERGE_RECORD_BYTES_MAX)

/* The header of an entry in blocks and runs; its values follow. */
typedef struct entry_head {
    int64_t row;
    int32_t file_index, reason, size_bytes;
} entry_head;
#define HEAD_BYTES ((int64_t)sizeof(entry_head))

typedef struct worker_log {
    uint8_t *block; /* NULL before the first row */
    int64_t used, count;
    int64_t counts[LEAT_REJECT_REASONS_MAX];
    char pad[64]; /* padded: workers' counters must not share a cache line */
} worker_log;

struct leat_reject_log {
    const leat_reject_kind *kind;
    const char *const *paths;
    bool strict;
    int worker_count;
    int64_t memory_bytes, block_bytes;
    worker_log *workers;
    pthread_mutex_t lock; /* for the runs */
    leat_merge_runs runs;
};

leat_code leat_reject_log_create(leat_reject_log **out, const leat_reject_options *options,
                                 leat_error *err) {
    LEAT_ASSERT(options->kind->reason_count <= LEAT_REJECT_REASONS_MAX);
    LEAT_ASSERT(options->workers >= 1);
    *out = NULL;
    leat_reject_log *log = NULL;
    LEAT_TRY(LEAT_NEW(&log, 1, err));
    log->kind = options->kind;
    log->paths = options->paths;
    log->strict = options->strict;
    log->worker_count = options->workers;
    log->memory_bytes = options->memory_bytes;
    int64_t share = options->memory_bytes / options->workers;
    log->block_bytes = share < LEAT_REJECT_WORKER_BYTES_MIN ? LEAT_REJECT_WORKER_BYTES_MIN
                       : share > BLOCK_MAX                  ? BLOCK_MAX
                                                            : share;
    log->block_bytes &= ~INT64_C(7);
    log->runs.temp_dir = options->temp_dir;
    pthread_mutex_init(&log->lock, NULL);
    leat_code code = LEAT_NEW(&log->workers, options->workers, err);
    if (code != LEAT_OK) {
        leat_reject_log_destroy(log);
        return code;
    }
    *out = log;
    return LEAT_OK;
}

static void free_blocks(leat_reject_log *log) {
    for (int i = 0; log->workers != NULL && i < log->worker_count; i++) {
        leat_block_free(log->workers[i].block, log->block_bytes);
        log->workers[i].block = NULL;
    }
}

void leat_reject_log_destroy(leat_reject_log *log) {
    if (log == NULL) return;
    free_blocks(log);
    leat_merge_runs_close(&log->runs);
    pthread_mutex_destroy(&log->lock);
    leat_free(log->workers);
    leat_free(log);
}

/* ---- order ---- */

static entry_head head_of(const uint8_t *entry) {
    entry_head head;
    memcpy(&head, entry, sizeof head);
    return head;
}

/* By file and row, then by everything else, so that neighbours that compare equal are identical. */
static int compare_entries(const uint8_t *a, const uint8_t *b) {
    entry_head x = head_of(a), y = head_of(b);
    if (x.file_index != y.file_index) return x.file_index < y.file_index ? -1 : 1;
    if (x.row != y.row) return x.row < y.row ? -1 : 1;
    if (x.reason != y.reason) return x.reason < y.reason ? -1 : 1;
    int32_t least = x.size_bytes < y.size_bytes ? x.size_bytes : y.size_bytes;
    int order = memcmp(a + HEAD_BYTES, b + HEAD_BYTES, (size_t)least);
    if (order != 0) return order;
    return x.size_bytes < y.size_bytes ? -1 : x.size_bytes > y.size_bytes;
}

static int compare_places(const void *a, const void *b, void *block) {
    uint32_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return compare_entries((uint8_t *)block + x, (uint8_t *)block + y);
}

/* ---- writing runs ---- */

/* Reserves space after the other runs. */
static leat_code reserve_run(leat_reject_log *log, int64_t size_bytes, leat_merge_writer *out,
                             leat_error *err) {
    pthread_mutex_lock(&log->lock);
    leat_code code = leat_merge_runs_open(&log->runs, err);
    out->file = log->runs.file;
    out->offset = log->runs.file_bytes;
    if (code == LEAT_OK) code = leat_merge_runs_add(&log->runs, size_bytes, err);
    pthread_mutex_unlock(&log->lock);
    return code;
}

static uint32_t *places_of(const leat_reject_log *log, const worker_log *worker) {
    return (uint32_t *)(worker->block + log->block_bytes - WRITE_BYTES) - worker->count;
}

/* Sorts a worker's entries and writes them as a run. */
static leat_code flush_worker(leat_reject_log *log, worker_log *worker, leat_error *err) {
    if (worker->count == 0) return LEAT_OK;
    uint32_t *places = places_of(log, worker);
    qsort_r(places, (size_t)worker->count, sizeof *places, compare_places, worker->block);
    leat_merge_writer out = {.capacity = WRITE_BYTES,
                             .buffer = worker->block + log->block_bytes - WRITE_BYTES};
    LEAT_TRY(reserve_run(log, worker->used, &out, err));
    for (int64_t i = 0; i < worker->count; i++) {
        const uint8_t *entry = worker->block + places[i];
        LEAT_TRY(leat_merge_put(&out, entry, HEAD_BYTES + head_of(entry).size_bytes, err));
    }
    LEAT_TRY(leat_merge_flush(&out, err));
    LEAT_ASSERT(out.written == worker->used);
    worker->used = 0;
    worker->count = 0;
    return LEAT_OK;
}

leat_code leat_reject_log_add(leat_reject_log *log, int worker_index, const leat_reject_row *row,
                              leat_error *err) {
    LEAT_ASSERT(worker_index >= 0 && worker_index < log->worker_count);
    LEAT_ASSERT(row->reason >= 0 && row->reason < log->kind->reason_count);
    worker_log *worker = &log->workers[worker_index];
    worker->counts[row->reason]++;
    if (log->strict) {
        int shown = row->values_bytes < 200 ? (int)row->values_bytes : 200;
        return leat_fail(
            err, LEAT_ERR_INPUT,
            "\"%s\" %s %lld: %s: %.*s (run without --strict to reject such rows and continue)",
            log->paths[row->file_index], log->kind->row, (long long)row->row,
            log->kind->reasons[row->reason], shown, row->values);
    }
    if (row->values_bytes > LEAT_REJECT_VALUES_BYTES) {
        return leat_fail(err, LEAT_ERR_LIMIT,
                         "a rejected row has %lld bytes; at most %d are possible",
                         (long long)row->values_bytes, LEAT_REJECT_VALUES_BYTES);
    }
    if (worker->block == NULL) {
        LEAT_TRY(leat_block_alloc((void **)&worker->block, log->block_bytes, err));
    }
    entry_head head = {row->row, row->file_index, row->reason, (int32_t)row->values_bytes};
    int64_t size = HEAD_BYTES + row->values_bytes;
    int64_t room = log->block_bytes - WRITE_BYTES - (worker->count + 1) * (int64_t)sizeof(uint32_t);
    if (worker->used + size > room) LEAT_TRY(flush_worker(log, worker, err));
    uint8_t *entry = worker->block + worker->used;
    memcpy(entry, &head, sizeof head);
    if (row->values_bytes > 0) {
        memcpy(entry + HEAD_BYTES, row->values, (size_t)row->values_bytes);
    }
    worker->count++;
    *places_of(log, worker) = (uint32_t)worker->used;
    worker->used += size;
    return LEAT_OK;
}

void leat_reject_log_counts(const leat_reject_log *log, int64_t *counts) {
    for (int reason = 0; reason < log->kind->reason_count; reason++) {
        counts[reason] = 0;
        for (int i = 0; i < log->worker_count; i++)
            counts[reason] += log->workers[i].counts[reason];
    }
}

/* ---- the file ---- */

/* Whether the entry at the beginning of the buffer is all there. */
static bool is_complete(const leat_merge_source *from) {
    int64_t left = from->end - from->at - HEAD_BYTES;
    if (left < 0) return false;
    int32_t size_bytes = head_of(from->at).size_bytes;
    return size_bytes >= 0 && size_bytes <= left;
}

static leat_code next_entry(leat_merge_source *from, leat_error *err) {
    from->at += from->record_bytes;
    from->record_bytes = 0;
    if (!is_complete(from)) LEAT_TRY(leat_merge_fill(from, err));
    if (from->at == from->end) return LEAT_OK;
    if (!is_complete(from))
        return leat_fail(err, LEAT_ERR_CORRUPT,
                         "temporary file \"%s\" was changed while it was in use",
                         leat_file_path(from->file));
    from->record_bytes = HEAD_BYTES + head_of(from->at).size_bytes;
    return LEAT_OK;
}

static int compare_sources(const leat_merge_source *a, const leat_merge_source *b) {
    return compare_entries(a->at, b->at);
}

/* The file being written. */
typedef struct table {
    const leat_reject_log *log;
    leat_merge_writer out;
    leat_buf line;
} table;

static leat_code write_row(table *self, const uint8_t *entry, leat_error *err) {
    const leat_reject_kind *kind = self->log->kind;
    const entry_head head = head_of(entry);
    leat_buf *line = &self->line;
    line->size = 0;
    if (self->out.written == 0) LEAT_TRY(leat_buf_printf(line, err, "%s\n", kind->columns));
    const char *path = self->log->paths[head.file_index];
    LEAT_TRY(leat_csv_append(line, path, (int64_t)strlen(path), LEAT_PATH_BYTES, err));
    LEAT_TRY(
        leat_buf_printf(line, err, ",%lld,%s,", (long long)head.row, kind->reasons[head.reason]));
    LEAT_TRY(leat_buf_append(line, entry + HEAD_BYTES, head.size_bytes, err));
    LEAT_TRY(leat_buf_append(line, "\n", 1, err));
    return leat_merge_put(&self->out, line->data, line->size, err);
}

static leat_code take_entry(void *context, const leat_merge_source *from, leat_merge_writer *to,
                            leat_error *err) {
    if (to != NULL) return leat_merge_put(to, from->at, from->record_bytes, err);
    return write_row(context, from->at, err);
}

static leat_code publish(leat_reject_log *log, const char *path, uint8_t *block, int64_t size_bytes,
                         leat_error *err) {
    /* the file's first row is written after the last pass, so they can share a buffer */
    table to = {.log = log, .out = {.buffer = block, .capacity = WRITE_BYTES}};
    const leat_merge merge = {.source_bytes = sizeof(leat_merge_source),
                              .next = next_entry,
                              .compare = compare_sources,
                              .take = take_entry,
                              .context = &to,
                              .memory = block + WRITE_BYTES,
                              .memory_bytes = size_bytes - WRITE_BYTES,
                              .write_buffer = block,
                              .write_bytes = WRITE_BYTES};
    LEAT_TRY(leat_file_open_draft(&to.out.file, path, err));
    leat_code code = leat_merge_all(&merge, &log->runs, err);
    if (code == LEAT_OK) code = leat_merge_flush(&to.out, err);
    if (code == LEAT_OK) code = leat_file_publish(to.out.file, true, err);
    leat_file_close(to.out.file);
    leat_buf_free(&to.line);
    return code;
}

leat_code leat_reject_log_save(leat_reject_log *log, const char *path, leat_error *err) {
    for (int i = 0; i < log->worker_count; i++) {
        LEAT_TRY(flush_worker(log, &log->workers[i], err));
    }
    if (log->runs.count == 0) return LEAT_OK;
    free_blocks(log);
    int64_t size = log->memory_bytes < MERGE_MIN ? MERGE_MIN : log->memory_bytes;
    if (size > BLOCK_MAX) size = BLOCK_MAX;
    uint8_t *block = NULL;
    LEAT_TRY(leat_block_alloc((void **)&block, size, err));
    leat_code code = publish(log, path, block, size, err);
    leat_block_free(block, size);
    return code;
}

leat_code leat_reject_is_log(const leat_reject_kind *kind, const char *path, bool *is_log,
                             leat_error *err) {
    char text[256];
    leat_file *file = NULL;
    leat_path_facts facts;
    int64_t got = 0, size = (int64_t)strlen(kind->columns);
    LEAT_ASSERT(size + 1 < (int64_t)sizeof text);
    LEAT_TRY(leat_path_stat(path, &facts, err));
    *is_log = facts.kind == LEAT_PATH_NONE;
    if (facts.kind != LEAT_PATH_FILE) return LEAT_OK;
    LEAT_TRY(leat_file_open(&file, path, LEAT_FILE_READ, err));
    leat_code code = leat_file_read(file, text, size + 1, &got, err);
    leat_file_close(file);
    *is_log =
        got == size + 1 && memcmp(text, kind->columns, (size_t)size) == 0 && text[size] == '\n';
    return code;
}
