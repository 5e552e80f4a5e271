/* The merge of sorted runs on disk: see merge.h. */
#include "base/merge.h"

#include <string.h>

/* The size of a source's buffer; and the maximum number of runs merged at once. */
#define BUFFER_BYTES_MIN LEAT_MERGE_RECORD_BYTES_MAX
#define BUFFER_BYTES_MAX (INT64_C(1) << 20)
#define FAN_MAX 4096

/* ---- runs ----------------------------------------------------------------------------------- */

leat_code leat_merge_runs_open(leat_merge_runs *runs, leat_error *err) {
    if (runs->file != NULL) return LEAT_OK;
    return leat_file_open_nameless(&runs->file, runs->temp_dir, err);
}

void leat_merge_runs_close(leat_merge_runs *runs) {
    leat_file_close(runs->file);
    leat_free(runs->items);
    *runs = (leat_merge_runs){0};
}

leat_code leat_merge_runs_add(leat_merge_runs *runs, int64_t size_bytes, leat_error *err) {
    LEAT_TRY(LEAT_GROW(&runs->items, &runs->capacity, runs->count + 1, err));
    runs->items[runs->count++] = (leat_merge_run){runs->file_bytes, size_bytes};
    runs->file_bytes += size_bytes;
    return LEAT_OK;
}

leat_code leat_merge_flush(leat_merge_writer *writer, leat_error *err) {
    LEAT_TRY(leat_file_pwrite(writer->file, writer->buffer, writer->used, writer->offset, err));
    writer->offset += writer->used;
    writer->used = 0;
    return LEAT_OK;
}

leat_code leat_merge_put(leat_merge_writer *writer, const void *bytes, int64_t size_bytes,
                         leat_error *err) {
    if (writer->used + size_bytes > writer->capacity) LEAT_TRY(leat_merge_flush(writer, err));
    writer->written += size_bytes;
    if (size_bytes > writer->capacity) {
        LEAT_TRY(leat_file_pwrite(writer->file, bytes, size_bytes, writer->offset, err));
        writer->offset += size_bytes;
        return LEAT_OK;
    }
    memcpy(writer->buffer + writer->used, bytes, (size_t)size_bytes);
    writer->used += size_bytes;
    return LEAT_OK;
}

void leat_merge_begin_run(const leat_merge_runs *runs, leat_merge_writer *writer) {
    LEAT_ASSERT(runs->file != NULL && writer->used == 0);
    writer->file = runs->file;
    writer->offset = runs->file_bytes;
    writer->written = 0;
}

leat_code leat_merge_end_run(leat_merge_runs *runs, leat_merge_writer *writer, leat_error *err) {
    LEAT_TRY(leat_merge_flush(writer, err));
    LEAT_ASSERT(writer->offset == runs->file_bytes + writer->written);
    return leat_merge_runs_add(runs, writer->written, err);
}

/* ---- sources -------------------------------------------------------------------------------- */

leat_code leat_merge_fill(leat_merge_source *source, leat_error *err) {
    const int64_t kept = source->end - source->at, space = source->buffer_bytes - kept;
    const int64_t step = space < source->left ? space : source->left;
    if (step == 0) return LEAT_OK;
    memmove(source->buffer, source->at, (size_t)kept);
    source->at = source->buffer;
    source->end = source->buffer + kept;
    LEAT_TRY(leat_file_pread(source->file, source->buffer + kept, step, source->next, err));
    source->next += step;
    source->left -= step;
    source->end += step;
    return LEAT_OK;
}

static leat_code advance(const leat_merge *self, leat_merge_source *source, leat_error *err) {
    LEAT_TRY(self->next(source, err));
    LEAT_ASSERT(source->record_bytes >= 0 && source->record_bytes <= source->end - source->at);
    LEAT_ASSERT(source->record_bytes > 0 || (source->left == 0 && source->at == source->end));
    return LEAT_OK;
}

/* Begins to read a run, and puts its source into the heap, unless the run is empty. */
static leat_code open_source(const leat_merge *self, leat_merge_source *source,
                             leat_merge_source **heap, int64_t *open, leat_error *err) {
    LEAT_TRY(advance(self, source, err));
    if (source->record_bytes == 0) return LEAT_OK;
    heap[(*open)++] = source;
    leat_merge_up(heap, *open, self->compare);
    return LEAT_OK;
}

/* ---- the merge ------------------------------------------------------------------------------ */

static leat_code take_first(const leat_merge *self, leat_merge_source **heap, int64_t *open,
                            leat_merge_writer *to, leat_error *err) {
    LEAT_TRY(self->take(self->context, heap[0], to, err));
    LEAT_TRY(advance(self, heap[0], err));
    if (heap[0]->record_bytes == 0) heap[0] = heap[--*open];
    if (*open > 0) leat_merge_down(heap, *open, self->compare);
    return LEAT_OK;
}

/* Merges the given number of runs at once. */
static leat_code merge_some(const leat_merge *self, leat_file *file, const leat_merge_run *runs,
                            int64_t count, leat_merge_writer *to, leat_error *err) {
    if (count == 0) return LEAT_OK;
    int64_t buffer_bytes = self->memory_bytes / count, open = 0;
    if (buffer_bytes > BUFFER_BYTES_MAX) buffer_bytes = BUFFER_BYTES_MAX;
    LEAT_ASSERT(buffer_bytes >= BUFFER_BYTES_MIN);
    uint8_t *sources = NULL;
    leat_merge_source **heap = NULL;
    leat_code code = leat_alloc((void **)&sources, count, self->source_bytes, err);
    if (code == LEAT_OK) code = LEAT_NEW(&heap, count, err);
    for (int64_t i = 0; i < count && code == LEAT_OK; i++) {
        leat_merge_source *source = (void *)(sources + i * self->source_bytes);
        uint8_t *buffer = self->memory + i * buffer_bytes;
        *source = (leat_merge_source){.file = file,
                                      .next = runs[i].offset,
                                      .left = runs[i].size_bytes,
                                      .buffer = buffer,
                                      .buffer_bytes = buffer_bytes,
                                      .at = buffer,
                                      .end = buffer};
        code = open_source(self, source, heap, &open, err);
    }
    while (open > 0 && code == LEAT_OK) code = take_first(self, heap, &open, to, err);
    leat_free(sources);
    leat_free(heap);
    return code;
}

/* Merges groups of `fan` runs into one each. */
static leat_code merge_pass(const leat_merge *self, const leat_merge_runs *runs, int64_t fan,
                            leat_merge_runs *fewer, leat_error *err) {
    leat_merge_writer writer = {.buffer = self->write_buffer, .capacity = self->write_bytes};
    LEAT_TRY(leat_merge_runs_open(fewer, err));
    for (int64_t first = 0; first < runs->count; first += fan) {
        const int64_t left = runs->count - first, count = left < fan ? left : fan;
        leat_merge_begin_run(fewer, &writer);
        LEAT_TRY(merge_some(self, runs->file, &runs->items[first], count, &writer, err));
        LEAT_TRY(leat_merge_end_run(fewer, &writer, err));
    }
    return LEAT_OK;
}

leat_code leat_merge_all(const leat_merge *self, leat_merge_runs *runs, leat_error *err) {
    int64_t fan = self->memory_bytes / BUFFER_BYTES_MIN;
    if (fan > FAN_MAX) fan = FAN_MAX;
    LEAT_ASSERT(fan >= 2);
    while (runs->count > fan) {
        leat_merge_runs fewer = {.temp_dir = runs->temp_dir, .passes = runs->passes + 1};
        leat_code code = merge_pass(self, runs, fan, &fewer, err);
        leat_merge_runs swap = *runs;
        if (code == LEAT_OK) *runs = fewer, fewer = swap;
        leat_merge_runs_close(&fewer);
        LEAT_TRY(code);
    }
    return merge_some(self, runs->file, runs->items, runs->count, NULL, err);
}
