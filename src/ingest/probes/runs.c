/*
 * Sorted runs and their merge: see runs.h. The merge keeps one cursor per run in a binary heap; a
 * cursor reads ahead in large steps, all of them together in the memory that the sort used before.
 * As many runs are merged at once as buffers fit.
 */
#include "ingest/probes/runs.h"

#define WRITE_BYTES (256 << 10)
/* The size of a cursor's buffer; and the maximum number of runs merged at once. */
#define CURSOR_BYTES_MIN (16 << 10)
#define CURSOR_BYTES_MAX (1 << 20)
#define FAN_MAX 4096
/* The longest record: a measurement or definition with its text. */
#define RECORD_BYTES_MAX (LEAT_SPILL_RECORD_MAX + 1)

leat_code leat_runs_create(leat_runs *runs, const char *temp_dir, leat_error *err) {
    *runs = (leat_runs){.temp_dir = temp_dir};
    return leat_file_open_nameless(&runs->file, temp_dir, err);
}

void leat_runs_destroy(leat_runs *runs) {
    leat_file_close(runs->file);
    leat_free(runs->runs);
    leat_buf_free(&runs->buf);
    *runs = (leat_runs){0};
}

/* ---- writing ---- */

static leat_code write_out(leat_runs *runs, int64_t limit, leat_error *err) {
    leat_buf *buf = &runs->buf;
    if (buf->size < limit) return LEAT_OK;
    LEAT_TRY(leat_file_pwrite(runs->file, buf->data, buf->size, runs->file_bytes, err));
    runs->file_bytes += buf->size;
    buf->size = 0;
    return LEAT_OK;
}

static leat_code begin_run(leat_runs *runs, leat_error *err) {
    LEAT_TRY(LEAT_GROW(&runs->runs, &runs->run_capacity, runs->run_count + 1, err));
    runs->runs[runs->run_count] = (leat_run){.offset = runs->file_bytes};
    return leat_buf_reserve(&runs->buf, WRITE_BYTES + 2 * RECORD_BYTES_MAX, err);
}

static leat_code end_run(leat_runs *runs, leat_error *err) {
    LEAT_TRY(write_out(runs, 0, err));
    leat_run *run = &runs->runs[runs->run_count++];
    run->size_bytes = runs->file_bytes - run->offset;
    return LEAT_OK;
}

static leat_code put_source(leat_runs *runs, const leat_bucket_source *source, leat_error *err) {
    uint32_t word = LEAT_SPILL_DEFINITION | source->size;
    LEAT_TRY(leat_buf_append(&runs->buf, &source->src_id, 8, err));
    LEAT_TRY(leat_buf_append(&runs->buf, &word, 4, err));
    return leat_buf_append(&runs->buf, source->text, source->size, err);
}

static leat_code put_record(leat_runs *runs, const uint8_t *record, leat_error *err) {
    int64_t size = leat_spill_record_bytes(record);
    LEAT_TRY(leat_buf_append(&runs->buf, record, size, err));
    uint32_t none = 0; /* its source is the preceding definition */
    memcpy(runs->buf.data + runs->buf.size - size + 8, &none, 4);
    return write_out(runs, WRITE_BYTES, err);
}

leat_code leat_runs_add(leat_runs *runs, const leat_bucket *bucket, leat_error *err) {
    if (bucket->item_count == 0) return LEAT_OK;
    LEAT_TRY(begin_run(runs, err));
    for (int64_t g = 0; g < bucket->group_count; g++) {
        const leat_bucket_group *group = &bucket->groups[g];
        if (group->count == 0) continue;
        LEAT_TRY(put_source(runs, group->source, err));
        for (int64_t i = 0; i < group->count; i++) {
            const leat_bucket_item *item = &bucket->items[group->first + i];
            LEAT_TRY(put_record(runs, leat_bucket_record(bucket, item), err));
        }
    }
    return end_run(runs, err);
}

/* ---- merging ---- */

typedef struct cursor {
    int64_t next, end; /* in the file, not loaded yet */
    uint8_t *buffer;
    int64_t at, filled;
    leat_bucket_source source; /* of the current measurement */
    const uint8_t *record;     /* NULL at the end */
} cursor;

static leat_code refill(const leat_runs *runs, cursor *self, int64_t buffer_bytes,
                        leat_error *err) {
    int64_t rest = self->filled - self->at, left = self->end - self->next;
    if (rest >= RECORD_BYTES_MAX || left == 0) return LEAT_OK;
    memmove(self->buffer, self->buffer + self->at, (size_t)rest);
    int64_t step = buffer_bytes - rest < left ? buffer_bytes - rest : left;
    LEAT_TRY(leat_file_pread(runs->file, self->buffer + rest, step, self->next, err));
    self->next += step;
    self->at = 0;
    self->filled = rest + step;
    return LEAT_OK;
}

static leat_code advance(const leat_runs *runs, cursor *self, int64_t buffer_bytes,
                         leat_error *err) {
    self->record = NULL;
    for (;;) {
        LEAT_TRY(refill(runs, self, buffer_bytes, err));
        int64_t left = self->filled - self->at;
        if (left == 0) return LEAT_OK;
        const uint8_t *at = self->buffer + self->at;
        int32_t size = 0;
        uint32_t word = 0;
        if (!leat_spill_record_fits(at, left, &size)) return leat_temp_damaged(runs->file, err);
        memcpy(&word, at + 8, 4);
        if ((word & LEAT_SPILL_DEFINITION) == 0) {
            self->record = at;
            self->at += size;
            return LEAT_OK;
        }
        self->source.size = (uint8_t)(word & LEAT_SPILL_LENGTH);
        memcpy(&self->source.src_id, at, 8);
        memcpy(self->source.text, at + LEAT_SPILL_DEFINITION_BYTES, self->source.size);
        self->at += LEAT_SPILL_DEFINITION_BYTES + self->source.size;
    }
}

static bool before(const cursor *a, const cursor *b) {
    if (a->source.src_id != b->source.src_id) return a->source.src_id < b->source.src_id;
    return leat_spill_compare(a->record, b->record) < 0;
}

/* Sifts heap[at] down to its place. */
static void sift(cursor **heap, int64_t count, int64_t at) {
    cursor *moved = heap[at];
    for (int64_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && before(heap[child + 1], heap[child])) child++;
        if (!before(heap[child], moved)) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

static leat_code merge_cursors(const leat_runs *runs, cursor **heap, int64_t count,
                               int64_t buffer_bytes, leat_runs_fn fn, void *context,
                               leat_error *err) {
    for (int64_t i = count / 2 - 1; i >= 0; i--) sift(heap, count, i);
    leat_bucket_source last = {.src_id = -1};
    while (count > 0) {
        cursor *first = heap[0];
        /* Pieces of a bucket are checked separately: two sources may meet only here. */
        if (first->source.src_id != last.src_id) last = first->source;
        else LEAT_TRY(leat_bucket_check_same(&last, &first->source, err));
        LEAT_TRY(fn(context, &first->source, first->record, err));
        LEAT_TRY(advance(runs, first, buffer_bytes, err));
        if (first->record == NULL) heap[0] = heap[--count];
        if (count > 0) sift(heap, count, 0);
    }
    return LEAT_OK;
}

/* Merges `count` runs from `first` on. */
static leat_code merge_some(const leat_runs *runs, int64_t first, int64_t count, uint8_t *memory,
                            int64_t memory_bytes, leat_runs_fn fn, void *context, leat_error *err) {
    if (count == 0) return LEAT_OK;
    int64_t buffer_bytes = memory_bytes / count;
    if (buffer_bytes > CURSOR_BYTES_MAX) buffer_bytes = CURSOR_BYTES_MAX;
    cursor *cursors = NULL, **heap = NULL;
    leat_code code = LEAT_NEW(&cursors, count, err);
    if (code == LEAT_OK) code = LEAT_NEW(&heap, count, err);
    for (int64_t i = 0; i < count && code == LEAT_OK; i++) {
        const leat_run *run = &runs->runs[first + i];
        cursors[i].next = run->offset;
        cursors[i].end = run->offset + run->size_bytes;
        cursors[i].buffer = memory + i * buffer_bytes;
        heap[i] = &cursors[i];
        code = advance(runs, &cursors[i], buffer_bytes, err);
    }
    if (code == LEAT_OK) code = merge_cursors(runs, heap, count, buffer_bytes, fn, context, err);
    leat_free(cursors);
    leat_free(heap);
    return code;
}

/* The state of a merge into a run. */
typedef struct longer_run {
    leat_runs *runs;
    int64_t src_id; /* of the last source written; -1: none */
} longer_run;

static leat_code put_merged(void *context, const leat_bucket_source *source, const uint8_t *record,
                            leat_error *err) {
    longer_run *self = context;
    if (self->src_id != source->src_id) LEAT_TRY(put_source(self->runs, source, err));
    self->src_id = source->src_id;
    return put_record(self->runs, record, err);
}

static leat_code merge_pass(const leat_runs *runs, leat_runs *fewer, int64_t fan, uint8_t *memory,
                            int64_t memory_bytes, leat_error *err) {
    LEAT_TRY(leat_file_open_nameless(&fewer->file, fewer->temp_dir, err));
    for (int64_t first = 0; first < runs->run_count; first += fan) {
        int64_t left = runs->run_count - first;
        longer_run run = {.runs = fewer, .src_id = -1};
        LEAT_TRY(begin_run(fewer, err));
        LEAT_TRY(merge_some(runs, first, left < fan ? left : fan, memory, memory_bytes, put_merged,
                            &run, err));
        LEAT_TRY(end_run(fewer, err));
    }
    return LEAT_OK;
}

leat_code leat_runs_merge(leat_runs *runs, uint8_t *memory, int64_t memory_bytes, leat_runs_fn fn,
                          void *context, leat_error *err) {
    int64_t fan = memory_bytes / CURSOR_BYTES_MIN;
    if (fan > FAN_MAX) fan = FAN_MAX;
    LEAT_ASSERT(fan >= 2);
    while (runs->run_count > fan) {
        leat_runs fewer = {.temp_dir = runs->temp_dir, .passes = runs->passes + 1};
        leat_code code = merge_pass(runs, &fewer, fan, memory, memory_bytes, err);
        leat_runs swap = *runs;
        if (code == LEAT_OK) *runs = fewer, fewer = swap;
        leat_runs_destroy(&fewer);
        LEAT_TRY(code);
    }
    return merge_some(runs, 0, runs->run_count, memory, memory_bytes, fn, context, err);
}
