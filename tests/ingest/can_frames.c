/* See can_frames.h. */
#include "can_frames.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "threads.h"

static int64_t below(uint64_t seed, uint64_t stream, int64_t position, int64_t bound) {
    return (int64_t)leat_random_below(leat_random(seed, stream, (uint64_t)position),
                                      (uint64_t)bound);
}

/* ---- making them ----------------------------------------------------------------------------- */

static double time_of(const can_shape *shape, int file, int64_t line, int64_t in_block) {
    static const double odd[] = {0.0,      -0.0,    1.0,      -1.0,  DBL_MAX,
                                 -DBL_MAX, DBL_MIN, -DBL_MIN, 5e-324};
    int64_t at = file * shape->lines + line;
    double start = shape->apart ? file * 2.0 * (double)shape->lines : 0.25 * file;
    switch (shape->order) {
    case CAN_ASCENDING: return start + (double)line;
    case CAN_STEPPING: return start + (double)line - (below(shape->seed, 1, at, 20) == 0 ? 3.5 : 0);
    case CAN_LAPPING: {
        int64_t block = (line - in_block) / 2;
        return start + (double)(block + in_block);
    }
    case CAN_DESCENDING: return start + (double)(shape->lines - line);
    case CAN_SHUFFLED: return start + (double)below(shape->seed, 2, at, shape->lines);
    case CAN_TIED: return (double)(line / 50) - 100;
    case CAN_EQUAL: return -7.25;
    default: return odd[below(shape->seed, 3, at, (int64_t)(sizeof odd / sizeof *odd))];
    }
}

static leat_can_line line_of(const can_shape *shape, int file, int64_t line, int64_t in_block) {
    int64_t at = file * shape->lines + line;
    leat_can_line made = {.time = time_of(shape, file, line, in_block)};
    int64_t id = below(shape->seed, 4, at, shape->ids);
    /* texts of all lengths; each file has one that no other has */
    char text[40];
    if (id == 0) snprintf(text, sizeof text, "F%d", file);
    else snprintf(text, sizeof text, "%0*llX", (int)(1 + id % 16), (long long)id);
    memcpy(made.id, text, strnlen(text, LEAT_CAN_ID_BYTES));
    made.bus = (uint16_t)(below(shape->seed, 5, at, shape->buses) * 9973);
    made.attack = below(shape->seed, 6, at, 9) == 0;
    if (made.attack) made.type = (uint8_t)below(shape->seed, 10, at, LEAT_CAN_TYPES_END);
    bool low = below(shape->seed, 7, at, 50) == 0;
    for (int k = 0; k < LEAT_CAN_BYTES; k++) {
        made.bytes[k] = (int16_t)below(shape->seed, 8, at * LEAT_CAN_BYTES + k, 256);
        if (low && k % 3 == 0) made.bytes[k] = (int16_t) - (made.bytes[k] % 16);
    }
    return made;
}

static void make_file(const can_shape *shape, int file, can_frames *all) {
    int64_t line = 0;
    for (int64_t block = 0; line < shape->lines; block++) {
        int64_t count = below(shape->seed, 9 + (uint64_t)file, block, shape->block_lines + 1);
        if (count > shape->lines - line) count = shape->lines - line;
        if (block == 0 && shape->lines >= shape->block_lines) count = shape->block_lines;
        all->batches[all->batch_count++] = (leat_can_batch){
            .file_index = file, .block = block, .count = count, .lines = all->lines + all->count};
        for (int64_t i = 0; i < count; i++, line++) {
            all->lines[all->count] = line_of(shape, file, line, i);
            all->frames[all->count] = (can_frame){
                .line = all->lines[all->count], .file = file, .block = block, .index = i};
            all->count++;
        }
    }
}

can_frames can_frames_make(const can_shape *shape) {
    size_t most = (size_t)(shape->files * shape->lines) + 1;
    can_frames all = {.lines = calloc(most, sizeof *all.lines),
                      .frames = calloc(most, sizeof *all.frames),
                      /* a fifth of the blocks may be empty */
                      .batches = calloc(2 * most + 100, sizeof *all.batches),
                      .files = shape->files};
    for (int file = 0; file < shape->files; file++) make_file(shape, file, &all);
    return all;
}

void can_frames_free(can_frames *frames) {
    free(frames->lines);
    free(frames->frames);
    free(frames->batches);
    *frames = (can_frames){0};
}

/* ---- storing them ---------------------------------------------------------------------------- */

typedef struct feeding {
    const can_frames *frames;
    leat_can_store *store;
    _Atomic int64_t next;
} feeding;

static leat_code feed(void *context, int worker, leat_error *err) {
    feeding *self = context;
    for (;;) {
        int64_t next = atomic_fetch_add(&self->next, 1);
        if (next >= self->frames->batch_count) return LEAT_OK;
        LEAT_TRY(leat_can_store_take(self->store, worker, &self->frames->batches[next], err));
    }
}

leat_code can_frames_store(const can_frames *frames, leat_can_store *store, int workers,
                           leat_error *err) {
    feeding self = {.frames = frames, .store = store};
    LEAT_TRY(run_threads(workers, feed, &self, err));
    return leat_can_store_finish(store, err);
}

uint32_t can_id_number(const char text[LEAT_CAN_ID_BYTES], uint16_t bus) {
    uint64_t words[2];
    memcpy(words, text, sizeof words);
    return (uint32_t)leat_random_mix(words[0] ^ leat_random_mix(words[1] + bus));
}

uint32_t *can_id_numbers(const leat_can_store *store) {
    const leat_can_id *ids = NULL;
    int64_t count = leat_can_store_ids(store, &ids);
    uint32_t *numbers = calloc((size_t)count + 1, sizeof *numbers);
    for (int64_t i = 0; i < count; i++) numbers[i] = can_id_number(ids[i].text, ids[i].bus);
    return numbers;
}

int32_t *can_streams_of(const leat_can_store *store, can_streams way, int32_t *stream_count) {
    const leat_can_capture *captures = NULL;
    int64_t count = leat_can_store_captures(store, &captures);
    int32_t *streams = calloc((size_t)count + 1, sizeof *streams);
    *stream_count = 0;
    for (int64_t c = 0; c < count; c++) {
        if (way == CAN_SEPARATE) streams[c] = (int32_t)c;
        if (way == CAN_BUS_MERGED) streams[c] = captures[c].file_index;
        if (way == CAN_SOME) streams[c] = (int32_t)(c * 5 % 4) - 1;
        if (streams[c] >= *stream_count) *stream_count = streams[c] + 1;
    }
    if (way == CAN_SOME) *stream_count = 4; /* the last one is empty */
    return streams;
}

/* ---- what must come out ---------------------------------------------------------------------- */

static int compare_frames(const void *a, const void *b) {
    const can_frame *one = a, *other = b;
    if (one->line.time != other->line.time) return one->line.time < other->line.time ? -1 : 1;
    if (one->file != other->file) return one->file < other->file ? -1 : 1;
    if (one->block != other->block) return one->block < other->block ? -1 : 1;
    return (one->index > other->index) - (one->index < other->index);
}

can_frame *can_stream_frames(const can_frames *frames, const leat_can_store *store,
                             const int32_t *streams, int32_t stream, int64_t *count) {
    const leat_can_capture *captures = NULL;
    int64_t capture_count = leat_can_store_captures(store, &captures);
    can_frame *found = calloc((size_t)frames->count + 1, sizeof *found);
    *count = 0;
    for (int64_t c = 0; c < capture_count; c++) {
        if (streams[c] != stream) continue;
        for (int64_t i = 0; i < frames->count; i++) {
            const can_frame *frame = &frames->frames[i];
            if (frame->file != captures[c].file_index || frame->line.bus != captures[c].bus)
                continue;
            found[(*count)++] = *frame;
        }
    }
    qsort(found, (size_t)*count, sizeof *found, compare_frames);
    return found;
}

leat_code can_frames_compare(const leat_can_store *store, int32_t stream, const can_frame *frames,
                             int64_t first, int64_t count, bool *same, leat_error *err) {
    enum { MOST = 4096 };
    static _Thread_local double time[MOST];
    static _Thread_local uint32_t id[MOST];
    static _Thread_local int16_t bytes[MOST][LEAT_CAN_BYTES];
    static _Thread_local bool attack[MOST];
    static _Thread_local uint8_t type[MOST];
    static _Thread_local int32_t file[MOST];
    leat_can_frames_out out = {time, id, bytes, attack, type, file};
    *same = true;
    LEAT_TRY(leat_can_store_read(store, stream, first, count, &out, err));
    for (int64_t i = 0; i < count; i++) {
        const can_frame *want = &frames[first + i];
        *same = *same && memcmp(&time[i], &want->line.time, sizeof *time) == 0 &&
                id[i] == can_id_number(want->line.id, want->line.bus) &&
                memcmp(bytes[i], want->line.bytes, sizeof *bytes) == 0 &&
                attack[i] == want->line.attack && type[i] == want->line.type &&
                file[i] == want->file;
    }
    return LEAT_OK;
}

int64_t can_least_kib(const leat_error *err) {
    static const char before[] = "require at least ";
    const char *words = strstr(err->message, before);
    return words == NULL ? -1 : strtoll(words + sizeof before - 1, NULL, 10);
}
