/*
 * Rejected rows, ordered by file and row whichever thread found them. Each worker keeps its rows in
 * one block: entries grow from the front, a table of their offsets from the back. A full block is
 * sorted and appended as a run to one temporary file; at the end the runs are merged, in several
 * passes if there are more of them than buffers fit in memory.
 */
#include "ingest/reject.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "ingest/values.h"

#define BLOCK_MAX (INT64_C(8) << 20)
#define WRITE_BYTES (INT64_C(16) << 10)
/* A cursor's buffer holds the longest entry. */
#define CURSOR_MIN (INT64_C(16) << 10)
enum { FAN_MAX = 128 };

/* The header of an entry in blocks and runs; its values follow. */
typedef struct entry_head {
    int64_t row;
    int32_t file_index, reason, size_bytes;
} entry_head;
#define HEAD_BYTES ((int64_t)sizeof(entry_head))

typedef struct run {
    int64_t offset, size_bytes;
} run;

typedef struct run_list {
    run *items;
    int64_t count, capacity;
} run_list;

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
    pthread_mutex_t lock; /* for all members below */
    char temp_path[2][LEAT_PATH_BYTES];
    leat_file *temp[2]; /* a merge pass reads one and writes the other */
    int64_t temp_bytes;
    run_list runs;
};

leat_code leat_reject_log_create(leat_reject_log **out, const leat_reject_kind *kind,
                                 const char *const *paths, bool strict, int workers,
                                 int64_t memory_bytes, const char *temp_dir, leat_error *err) {
    LEAT_ASSERT(kind->reason_count <= LEAT_REJECT_REASONS_MAX);
    *out = NULL;
    leat_reject_log *log = NULL;
    LEAT_TRY(LEAT_NEW(&log, 1, err));
    log->kind = kind;
    log->paths = paths;
    log->strict = strict;
    log->worker_count = workers;
    log->memory_bytes = memory_bytes;
    int64_t share = memory_bytes / workers;
    log->block_bytes = share < LEAT_REJECT_WORKER_BYTES_MIN ? LEAT_REJECT_WORKER_BYTES_MIN
                       : share > BLOCK_MAX                  ? BLOCK_MAX
                                                            : share;
    log->block_bytes &= ~INT64_C(7);
    pthread_mutex_init(&log->lock, NULL);
    leat_code code = LEAT_NEW(&log->workers, workers, err);
    static const char *const names[2] = {"rejected.0.tmp", "rejected.1.tmp"};
    for (int i = 0; i < 2 && code == LEAT_OK; i++) {
        code = leat_path_join(log->temp_path[i], LEAT_PATH_BYTES, temp_dir, names[i], err);
    }
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

static void close_temp(leat_reject_log *log, int which) {
    if (log->temp[which] == NULL) return;
    leat_file_close(log->temp[which]);
    log->temp[which] = NULL;
    leat_code ignored = leat_path_remove(log->temp_path[which], NULL);
    (void)ignored;
}

void leat_reject_log_destroy(leat_reject_log *log) {
    if (log == NULL) return;
    free_blocks(log);
    close_temp(log, 0);
    close_temp(log, 1);
    pthread_mutex_destroy(&log->lock);
    leat_free(log->runs.items);
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

/* Bytes to a file through a small buffer. */
typedef struct writer {
    leat_file *file;
    int64_t offset, used, capacity;
    uint8_t *buffer;
} writer;

static leat_code write_out(writer *out, leat_error *err) {
    LEAT_TRY(leat_file_pwrite(out->file, out->buffer, out->used, out->offset, err));
    out->offset += out->used;
    out->used = 0;
    return LEAT_OK;
}

static leat_code write_bytes(writer *out, const void *bytes, int64_t size_bytes, leat_error *err) {
    if (out->used + size_bytes > out->capacity) LEAT_TRY(write_out(out, err));
    if (size_bytes > out->capacity) {
        LEAT_TRY(leat_file_pwrite(out->file, bytes, size_bytes, out->offset, err));
        out->offset += size_bytes;
        return LEAT_OK;
    }
    memcpy(out->buffer + out->used, bytes, (size_t)size_bytes);
    out->used += size_bytes;
    return LEAT_OK;
}

/* Reserves space after the other runs. */
static leat_code reserve_run(leat_reject_log *log, int64_t size_bytes, leat_file **file,
                             int64_t *offset, leat_error *err) {
    pthread_mutex_lock(&log->lock);
    leat_code code = LEAT_OK;
    if (log->temp[0] == NULL) {
        code = leat_file_open(&log->temp[0], log->temp_path[0], LEAT_FILE_CREATE, err);
    }
    if (code == LEAT_OK) {
        code = LEAT_GROW(&log->runs.items, &log->runs.capacity, log->runs.count + 1, err);
    }
    if (code == LEAT_OK) {
        log->runs.items[log->runs.count++] = (run){log->temp_bytes, size_bytes};
        *file = log->temp[0];
        *offset = log->temp_bytes;
        log->temp_bytes += size_bytes;
    }
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
    writer out = {.capacity = WRITE_BYTES,
                  .buffer = worker->block + log->block_bytes - WRITE_BYTES};
    LEAT_TRY(reserve_run(log, worker->used, &out.file, &out.offset, err));
    for (int64_t i = 0; i < worker->count; i++) {
        const uint8_t *entry = worker->block + places[i];
        LEAT_TRY(write_bytes(&out, entry, HEAD_BYTES + head_of(entry).size_bytes, err));
    }
    LEAT_TRY(write_out(&out, err));
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

/* ---- merging ---- */

typedef struct cursor {
    int64_t offset, left; /* of the run, not yet in the buffer */
    uint8_t *buffer;
    int64_t at, have;
} cursor;

typedef struct merge {
    leat_file *file;
    int64_t buffer_bytes;
    cursor cursors[FAN_MAX];
    int heap[FAN_MAX]; /* min-heap of cursors by entry */
    int heap_size;
    uint8_t *block;
    int64_t block_bytes;
} merge;

static const uint8_t *current(const merge *merge, int place) {
    const cursor *from = &merge->cursors[merge->heap[place]];
    return from->buffer + from->at;
}

/* Makes the entry at `at` complete in the buffer. False at the end of the run. */
static leat_code load_entry(merge *merge, cursor *from, bool *more, leat_error *err) {
    int64_t kept = from->have - from->at;
    *more = kept > 0 || from->left > 0;
    bool whole =
        kept >= HEAD_BYTES && kept >= HEAD_BYTES + head_of(from->buffer + from->at).size_bytes;
    if (!*more || whole) return LEAT_OK;
    memmove(from->buffer, from->buffer + from->at, (size_t)kept);
    int64_t wanted = merge->buffer_bytes - kept;
    if (wanted > from->left) wanted = from->left;
    LEAT_TRY(leat_file_pread(merge->file, from->buffer + kept, wanted, from->offset, err));
    from->offset += wanted;
    from->left -= wanted;
    from->at = 0;
    from->have = kept + wanted;
    return LEAT_OK;
}

static void sift_down(merge *merge, int place) {
    for (;;) {
        int least = place;
        for (int child = 2 * place + 1; child <= 2 * place + 2; child++) {
            if (child < merge->heap_size &&
                compare_entries(current(merge, child), current(merge, least)) < 0) {
                least = child;
            }
        }
        if (least == place) return;
        int swap = merge->heap[place];
        merge->heap[place] = merge->heap[least];
        merge->heap[least] = swap;
        place = least;
    }
}

/* Begins to merge `count` runs of `file`; the buffers take `block_bytes` together. */
static leat_code merge_start(merge *merge, leat_file *file, const run *runs, int count,
                             leat_error *err) {
    merge->file = file;
    merge->buffer_bytes = merge->block_bytes / count;
    merge->heap_size = 0;
    for (int i = 0; i < count; i++) {
        cursor *from = &merge->cursors[i];
        *from = (cursor){.offset = runs[i].offset,
                         .left = runs[i].size_bytes,
                         .buffer = merge->block + i * merge->buffer_bytes};
        bool more = false;
        LEAT_TRY(load_entry(merge, from, &more, err));
        if (more) merge->heap[merge->heap_size++] = i;
    }
    for (int i = merge->heap_size / 2 - 1; i >= 0; i--) sift_down(merge, i);
    return LEAT_OK;
}

/* Advances past the least entry. */
static leat_code merge_step(merge *merge, leat_error *err) {
    cursor *from = &merge->cursors[merge->heap[0]];
    bool more = false;
    from->at += HEAD_BYTES + head_of(from->buffer + from->at).size_bytes;
    LEAT_TRY(load_entry(merge, from, &more, err));
    if (!more) merge->heap[0] = merge->heap[--merge->heap_size];
    sift_down(merge, 0);
    return LEAT_OK;
}

/* Merges groups of `fan` runs, from temp[0] to temp[1], and swaps the two. */
static leat_code merge_pass(leat_reject_log *log, merge *merge, int fan, writer *out,
                            leat_error *err) {
    LEAT_TRY(leat_file_open(&log->temp[1], log->temp_path[1], LEAT_FILE_CREATE, err));
    out->file = log->temp[1];
    out->offset = 0;
    int64_t made = 0;
    for (int64_t first = 0; first < log->runs.count; first += fan) {
        int64_t rest = log->runs.count - first, begin = out->offset + out->used;
        LEAT_TRY(merge_start(merge, log->temp[0], &log->runs.items[first],
                             (int)(rest < fan ? rest : fan), err));
        while (merge->heap_size > 0) {
            const uint8_t *entry = current(merge, 0);
            LEAT_TRY(write_bytes(out, entry, HEAD_BYTES + head_of(entry).size_bytes, err));
            LEAT_TRY(merge_step(merge, err));
        }
        log->runs.items[made++] = (run){begin, out->offset + out->used - begin};
    }
    LEAT_TRY(write_out(out, err));
    log->runs.count = made;
    close_temp(log, 0);
    /* the file owns the name */
    log->temp[0] = log->temp[1];
    log->temp[1] = NULL;
    char name[LEAT_PATH_BYTES];
    memcpy(name, log->temp_path[0], sizeof name);
    memcpy(log->temp_path[0], log->temp_path[1], sizeof name);
    memcpy(log->temp_path[1], name, sizeof name);
    return LEAT_OK;
}

/* ---- the file ---- */

static leat_code write_rows(leat_reject_log *log, merge *merge, writer *out, leat_error *err) {
    LEAT_TRY(write_bytes(out, log->kind->columns, (int64_t)strlen(log->kind->columns), err));
    LEAT_TRY(write_bytes(out, "\n", 1, err));
    leat_buf line = {0};
    leat_code code = LEAT_OK;
    while (merge->heap_size > 0 && code == LEAT_OK) {
        const uint8_t *entry = current(merge, 0);
        entry_head head = head_of(entry);
        const char *path = log->paths[head.file_index];
        line.size = 0;
        code = leat_csv_append(&line, path, (int64_t)strlen(path), LEAT_PATH_BYTES, err);
        if (code == LEAT_OK) {
            code = leat_buf_printf(&line, err, ",%lld,%s,", (long long)head.row,
                                   log->kind->reasons[head.reason]);
        }
        if (code == LEAT_OK) {
            code = leat_buf_append(&line, entry + HEAD_BYTES, head.size_bytes, err);
        }
        if (code == LEAT_OK) code = leat_buf_append(&line, "\n", 1, err);
        if (code == LEAT_OK) code = write_bytes(out, line.data, line.size, err);
        if (code == LEAT_OK) code = merge_step(merge, err);
    }
    leat_buf_free(&line);
    return code == LEAT_OK ? write_out(out, err) : code;
}

static leat_code publish(leat_reject_log *log, merge *merge, writer *out, const char *path,
                         leat_error *err) {
    LEAT_TRY(leat_file_open_draft(&out->file, path, err));
    out->offset = 0;
    leat_code code = write_rows(log, merge, out, err);
    if (code == LEAT_OK) code = leat_file_publish(out->file, true, err);
    leat_file_close(out->file);
    return code;
}

static leat_code merge_all(leat_reject_log *log, merge *merge, uint8_t *write_buffer,
                           const char *path, leat_error *err) {
    int64_t fan = merge->block_bytes / CURSOR_MIN;
    if (fan > FAN_MAX) fan = FAN_MAX;
    writer out = {.capacity = WRITE_BYTES, .buffer = write_buffer};
    while (log->runs.count > fan) LEAT_TRY(merge_pass(log, merge, (int)fan, &out, err));
    LEAT_TRY(merge_start(merge, log->temp[0], log->runs.items, (int)log->runs.count, err));
    return publish(log, merge, &out, path, err);
}

leat_code leat_reject_log_save(leat_reject_log *log, const char *path, leat_error *err) {
    for (int i = 0; i < log->worker_count; i++) {
        LEAT_TRY(flush_worker(log, &log->workers[i], err));
    }
    if (log->runs.count == 0) return LEAT_OK;
    free_blocks(log);
    merge *merge = NULL;
    LEAT_TRY(LEAT_NEW(&merge, 1, err));
    int64_t size = log->memory_bytes < 4 * CURSOR_MIN ? 4 * CURSOR_MIN : log->memory_bytes;
    if (size > BLOCK_MAX) size = BLOCK_MAX;
    uint8_t *block = NULL;
    leat_code code = leat_block_alloc((void **)&block, size, err);
    if (code == LEAT_OK) {
        merge->block = block + WRITE_BYTES;
        merge->block_bytes = size - WRITE_BYTES;
        code = merge_all(log, merge, block, path, err);
    }
    leat_block_free(block, size);
    leat_free(merge);
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
