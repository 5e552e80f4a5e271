/*
 * Sorted runs and their merge: see runs.h. The merge keeps one cursor per run in a binary heap; a
 * cursor reads ahead in large steps, all of them together in the memory that the sort used before.
 */
#include "ingest/runs.h"

#include <stdio.h>

#define WRITE_BYTES (1 << 20)
#define CURSOR_BYTES_MIN 4096
#define CURSOR_BYTES_MAX (1 << 20)
/* The longest record: a measurement or definition with its text. */
#define RECORD_BYTES_MAX (LEAT_SPILL_MEASUREMENT_BYTES + LEAT_SPILL_LENGTH + 1)

leat_code leat_runs_create(leat_runs *runs, const char *temp_dir, int worker, leat_error *err) {
    *runs = (leat_runs){0};
    char name[32];
    snprintf(name, sizeof name, "runs_%d", worker);
    LEAT_TRY(leat_path_join(runs->path, sizeof runs->path, temp_dir, name, err));
    return leat_file_open(&runs->file, runs->path, LEAT_FILE_CREATE, err);
}

void leat_runs_destroy(leat_runs *runs) {
    if (runs->file != NULL) {
        leat_file_close(runs->file);
        leat_path_discard(runs->path);
    }
    leat_free(runs->runs);
    *runs = (leat_runs){0};
}

/* ---- writing ---- */

static leat_code write_out(leat_runs *runs, leat_buf *buf, int64_t limit, leat_error *err) {
    if (buf->size < limit) return LEAT_OK;
    LEAT_TRY(leat_file_pwrite(runs->file, buf->data, buf->size, runs->file_bytes, err));
    runs->file_bytes += buf->size;
    buf->size = 0;
    return LEAT_OK;
}

static leat_code write_group(leat_runs *runs, const leat_bucket *bucket,
                             const leat_bucket_group *group, leat_buf *buf, leat_error *err) {
    uint32_t word = LEAT_SPILL_DEFINITION | group->source->size;
    LEAT_TRY(leat_buf_append(buf, &group->source->src_id, 8, err));
    LEAT_TRY(leat_buf_append(buf, &word, 4, err));
    LEAT_TRY(leat_buf_append(buf, group->source->text, group->source->size, err));
    for (int64_t i = 0; i < group->count; i++) {
        const uint8_t *record = leat_bucket_record(bucket, &bucket->items[group->first + i]);
        int64_t size =
            LEAT_SPILL_MEASUREMENT_BYTES + (record[LEAT_SPILL_FACTS_AT] & LEAT_SPILL_LENGTH);
        LEAT_TRY(leat_buf_append(buf, record, size, err));
        uint32_t none = 0; /* the source is the definition before it */
        memcpy(buf->data + buf->size - size + 8, &none, 4);
        LEAT_TRY(write_out(runs, buf, WRITE_BYTES, err));
    }
    return LEAT_OK;
}

leat_code leat_runs_add(leat_runs *runs, const leat_bucket *bucket, leat_error *err) {
    if (bucket->item_count == 0) return LEAT_OK;
    LEAT_TRY(LEAT_GROW(&runs->runs, &runs->run_capacity, runs->run_count + 1, err));
    leat_run run = {.offset = runs->file_bytes};
    leat_buf buf = {0};
    leat_code code = leat_buf_reserve(&buf, WRITE_BYTES + 2 * RECORD_BYTES_MAX, err);
    for (int64_t g = 0; g < bucket->group_count && code == LEAT_OK; g++) {
        if (bucket->groups[g].count > 0) {
            code = write_group(runs, bucket, &bucket->groups[g], &buf, err);
        }
    }
    if (code == LEAT_OK) code = write_out(runs, &buf, 0, err);
    leat_buf_free(&buf);
    run.size_bytes = runs->file_bytes - run.offset;
    if (code == LEAT_OK) runs->runs[runs->run_count++] = run;
    return code;
}

/* ---- merging ---- */

typedef struct cursor {
    int64_t next, end; /* in the file, what is not loaded yet */
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
        if (self->at == self->filled) return LEAT_OK;
        const uint8_t *at = self->buffer + self->at;
        uint32_t word = 0;
        memcpy(&word, at + 8, 4);
        if ((word & LEAT_SPILL_DEFINITION) == 0) {
            self->record = at;
            self->at +=
                LEAT_SPILL_MEASUREMENT_BYTES + (at[LEAT_SPILL_FACTS_AT] & LEAT_SPILL_LENGTH);
            LEAT_ASSERT(self->at <= self->filled);
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

/* Moves heap[at] down to its place. */
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
    while (count > 0) {
        cursor *first = heap[0];
        LEAT_TRY(fn(context, &first->source, first->record, err));
        LEAT_TRY(advance(runs, first, buffer_bytes, err));
        if (first->record == NULL) heap[0] = heap[--count];
        if (count > 0) sift(heap, count, 0);
    }
    return LEAT_OK;
}

leat_code leat_runs_merge(const leat_runs *runs, uint8_t *memory, int64_t memory_bytes,
                          leat_runs_fn fn, void *context, leat_error *err) {
    int64_t count = runs->run_count;
    if (count == 0) return LEAT_OK;
    int64_t buffer_bytes = memory_bytes / count;
    if (buffer_bytes > CURSOR_BYTES_MAX) buffer_bytes = CURSOR_BYTES_MAX;
    if (buffer_bytes < CURSOR_BYTES_MIN) {
        return leat_fail(err, LEAT_ERR_LIMIT,
                         "one source range needs %lld sorted runs at once: give more --memory",
                         (long long)count);
    }
    cursor *cursors = NULL, **heap = NULL;
    leat_code code = LEAT_NEW(&cursors, count, err);
    if (code == LEAT_OK) code = LEAT_NEW(&heap, count, err);
    for (int64_t i = 0; i < count && code == LEAT_OK; i++) {
        cursors[i].next = runs->runs[i].offset;
        cursors[i].end = runs->runs[i].offset + runs->runs[i].size_bytes;
        cursors[i].buffer = memory + i * buffer_bytes;
        heap[i] = &cursors[i];
        code = advance(runs, &cursors[i], buffer_bytes, err);
    }
    if (code == LEAT_OK) code = merge_cursors(runs, heap, count, buffer_bytes, fn, context, err);
    leat_free(cursors);
    leat_free(heap);
    return code;
}
