/*
 * Frames in time order. The table of blocks is sorted by stream and first time and divided into
 * tasks at times that no block crosses; threads take task after task, and the results, in the order
 * of the tasks, are the list of segments of each stream. Captures that overlap from end to end and
 * are merged to one stream are a single task, for one thread.
 */
#include "base/pool.h"
#include "ingest/can/store/merge.h"

/* A task ends at the first possible point after this many blocks. */
#define TASK_BLOCKS 64

typedef struct ordering {
    leat_can_store *store;
    leat_can_task *tasks;
    int64_t task_count;
    int64_t first_block;        /* of those in a stream */
    int64_t task_blocks;        /* of the largest task */
    int64_t siblings;           /* most blocks of equal rank in a stream */
    leat_can_segment *segments; /* space for the segments of all tasks */
    int64_t segments_bytes;
    leat_can_merge_room room;
    int64_t room_bytes; /* of each thread */
    int threads;
    leat_can_merger *mergers[LEAT_THREADS_MAX]; /* one per worker */
} ordering;

void leat_can_store_clear_order(leat_can_store *store) {
    for (int i = 0; store->spills != NULL && i < store->spill_count; i++) {
        leat_can_spill *spill = &store->spills[i];
        LEAT_CAN_ROOM_FREE(store, spill->number, spill->id_count);
        spill->number = NULL;
    }
    LEAT_CAN_ROOM_FREE(store, store->number, store->id_count);
    store->number_count = 0;
    store->number = NULL;
    for (int i = 0; i < store->ordered_count; i++) leat_file_close(store->ordered[i].file);
    LEAT_CAN_ROOM_FREE(store, store->ordered, store->ordered_count);
    store->ordered = NULL;
    store->ordered_count = 0;
    LEAT_CAN_ROOM_FREE(store, store->segments, store->segment_count);
    store->segments = NULL;
    store->segment_count = 0;
    LEAT_CAN_ROOM_FREE(store, store->streams, store->stream_count);
    store->streams = NULL;
    store->stream_count = 0;
    store->merged_bytes = 0;
}

/* ---- blocks and tasks ------------------------------------------------------------------------ */

static int compare_ranks(const void *a, const void *b) {
    const leat_can_block *one = a, *other = b;
    if (one->stream != other->stream) return one->stream < other->stream ? -1 : 1;
    return (one->rank > other->rank) - (one->rank < other->rank);
}

static int compare_first(const void *a, const void *b) {
    const leat_can_block *one = a, *other = b;
    if (one->stream != other->stream) return one->stream < other->stream ? -1 : 1;
    if (one->first_s != other->first_s) return one->first_s < other->first_s ? -1 : 1;
    return (one->rank > other->rank) - (one->rank < other->rank);
}

static int64_t capture_of(const leat_can_store *store, const leat_can_block *block) {
    int64_t low = 0, high = store->capture_count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        const leat_can_capture *capture = &store->captures[middle];
        if (capture->recording < block->recording ||
            (capture->recording == block->recording && capture->bus < block->bus)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void sort_blocks(ordering *self, const int32_t *streams, int32_t stream_count) {
    leat_can_store *store = self->store;
    leat_can_block *blocks = store->blocks;
    int64_t count = store->block_count, item_bytes = (int64_t)sizeof *blocks, equal = 0;
    for (int64_t i = 0; i < count; i++) {
        blocks[i].stream = streams[capture_of(store, &blocks[i])];
        LEAT_ASSERT(blocks[i].stream >= -1 && blocks[i].stream < stream_count);
    }
    leat_can_sort(blocks, count, item_bytes, compare_ranks);
    for (int64_t i = 0; i < count; i++) {
        bool same = i > 0 && compare_ranks(&blocks[i - 1], &blocks[i]) == 0;
        equal = same ? equal + 1 : 1;
        if (blocks[i].stream >= 0 && equal > self->siblings) self->siblings = equal;
    }
    leat_can_sort(blocks, count, item_bytes, compare_first);
    while (self->first_block < count && blocks[self->first_block].stream < 0) self->first_block++;
}

/* `last` is the block with the latest end among the stream's previous blocks; NULL: the stream
 * begins. */
static bool begins_task(const leat_can_block *block, const leat_can_block *last,
                        int64_t task_blocks) {
    if (last == NULL) return true;
    bool cut = last->last_s < block->first_s ||
               (last->last_s == block->first_s && last->rank < block->rank);
    return cut && task_blocks >= TASK_BLOCKS;
}

/* Counts the tasks; stores them if `tasks` is not NULL. */
static void make_tasks(ordering *self) {
    const leat_can_store *store = self->store;
    const leat_can_block *last = NULL;
    int64_t blocks = 0;
    self->task_count = 0;
    for (int64_t i = self->first_block; i < store->block_count; i++) {
        const leat_can_block *block = &store->blocks[i];
        if (last != NULL && last->stream != block->stream) last = NULL;
        if (begins_task(block, last, blocks)) {
            self->task_count++;
            blocks = 0;
        }
        blocks++;
        if (blocks > self->task_blocks) self->task_blocks = blocks;
        if (last == NULL || last->last_s < block->last_s ||
            (last->last_s == block->last_s && last->rank < block->rank)) {
            last = block;
        }
        if (self->tasks == NULL) continue;
        self->tasks[self->task_count - 1] = (leat_can_task){
            .first_block = i + 1 - blocks, .block_count = blocks, .stream = block->stream};
        store->streams[block->stream].frames += block->count;
    }
}

/* ---- memory and threads ---------------------------------------------------------------------- */

/*
 * As many threads as fit, each with an equal share. Nothing is taken yet, so if the limit is too
 * low, the one that is named is the minimum.
 */
static leat_code plan(ordering *self, int32_t stream_count, int threads, leat_error *err) {
    leat_can_store *store = self->store;
    int64_t blocks = store->block_count - self->first_block;
    int64_t numbers = store->id_count;
    for (int i = 0; i < store->spill_count; i++) numbers += store->spills[i].id_count;
    self->segments_bytes =
        (leat_can_task_segments(blocks) + self->task_count) * (int64_t)sizeof *self->segments;
    int64_t used = atomic_load(&store->memory_used) + self->segments_bytes +
                   numbers * (int64_t)sizeof *store->number +
                   stream_count * (int64_t)sizeof *store->streams +
                   self->task_count * (int64_t)sizeof *self->tasks;
    int64_t rest = store->memory_bytes - used, source_bytes = (int64_t)sizeof *store->ordered;
    int64_t least = leat_can_merge_least_bytes(self->task_blocks, self->siblings) + source_bytes;
    /* in the end the segments are copied, after the threads have freed their memory */
    int64_t need = self->segments_bytes > least ? self->segments_bytes : least;
    if (rest < need) return leat_can_room_fail(store, used + need, err);
    if (threads > self->task_count) threads = (int)self->task_count;
    if (threads > rest / least) threads = (int)(rest / least);
    self->threads = threads > 0 ? threads : 1;
    self->room_bytes = rest / self->threads - source_bytes;
    bool fits =
        leat_can_merge_plan(self->room_bytes, self->task_blocks, self->siblings, &self->room);
    LEAT_ASSERT(fits);
    return LEAT_OK;
}

static leat_code run_task(void *context, int worker, int64_t task, leat_error *err) {
    ordering *self = context;
    return leat_can_merger_run(self->mergers[worker], &self->tasks[task], err);
}

static leat_code run_tasks(ordering *self, leat_error *err) {
    leat_pool_job tasks = {
        .parts = self->task_count, .threads = self->threads, .context = self, .make = run_task};
    leat_code code = LEAT_OK;
    for (int i = 0; i < self->threads && code == LEAT_OK; i++)
        code = leat_can_merger_create(&self->mergers[i], self->store, i, &self->room, err);
    if (code == LEAT_OK) code = leat_pool_once(&tasks, err);
    self->store->merged_bytes = 0;
    for (int i = 0; i < self->threads; i++) {
        if (code == LEAT_OK) self->store->merged_bytes += leat_can_merger_written(self->mergers[i]);
        leat_can_merger_destroy(self->mergers[i]);
    }
    return code;
}

static leat_code merge(ordering *self, leat_error *err) {
    leat_can_store *store = self->store;
    leat_can_segment *segments = self->segments;
    for (int64_t i = 0; i < self->task_count; i++) {
        self->tasks[i].segments = segments;
        segments += leat_can_task_segments(self->tasks[i].block_count);
    }
    LEAT_TRY(LEAT_CAN_ROOM_NEW(store, &store->ordered, self->threads, err));
    store->ordered_count = self->threads;
    for (int i = 0; i < self->threads; i++) {
        store->ordered[i].number = store->number;
        store->ordered[i].id_count = store->id_count;
    }
    int64_t rooms_bytes = self->threads * self->room_bytes;
    LEAT_TRY(leat_can_room_take(store, rooms_bytes, err));
    leat_code code = run_tasks(self, err);
    leat_can_room_give(store, rooms_bytes);
    return code;
}

/* ---- streams --------------------------------------------------------------------------------- */

/* Whether a segment begins where the previous one of the stream ends. `start` counts rows. */
static bool goes_on(const leat_can_segment *before, const leat_can_segment *segment) {
    return before->source == segment->source && before->file == segment->file &&
           before->offset + before->start * LEAT_CAN_ROW_BYTES == segment->offset;
}

/* Joins the segments of the tasks at the front of the space; returns their number. */
static int64_t join_segments(ordering *self) {
    leat_can_store *store = self->store;
    int64_t count = 0;
    for (int64_t t = 0; t < self->task_count; t++) {
        const leat_can_task *task = &self->tasks[t];
        leat_can_stream_parts *stream = &store->streams[task->stream];
        LEAT_ASSERT(task->segment_count <= leat_can_task_segments(task->block_count));
        if (stream->segment_count == 0) stream->first_segment = count;
        for (int64_t i = 0; i < task->segment_count; i++) {
            leat_can_segment segment = task->segments[i];
            if (stream->segment_count > 0 && goes_on(&self->segments[count - 1], &segment)) {
                self->segments[count - 1].start += segment.start;
                continue;
            }
            self->segments[count++] = segment;
            stream->segment_count++;
        }
    }
    return count;
}

static leat_code make_streams(ordering *self, leat_error *err) {
    leat_can_store *store = self->store;
    int64_t count = join_segments(self);
    LEAT_TRY(LEAT_CAN_ROOM_NEW(store, &store->segments, count, err));
    store->segment_count = count;
    for (int32_t s = 0; s < store->stream_count; s++) {
        const leat_can_stream_parts *stream = &store->streams[s];
        int64_t start = 0;
        for (int64_t i = 0; i < stream->segment_count; i++) {
            leat_can_segment *segment = &store->segments[stream->first_segment + i];
            *segment = self->segments[stream->first_segment + i];
            int64_t rows = segment->start;
            segment->start = start;
            start += rows;
        }
        LEAT_ASSERT(start == stream->frames);
    }
    return LEAT_OK;
}

static leat_code name_ids(leat_can_store *store, const uint32_t *id_number, leat_error *err) {
    LEAT_TRY(LEAT_CAN_ROOM_NEW(store, &store->number, store->id_count, err));
    if (store->id_count > 0) {
        memcpy(store->number, id_number, (size_t)store->id_count * sizeof *id_number);
    }
    for (int64_t i = 0; i < store->id_count; i++) {
        if (id_number[i] >= store->number_count) store->number_count = (int64_t)id_number[i] + 1;
    }
    for (int i = 0; i < store->spill_count; i++) {
        leat_can_spill *spill = &store->spills[i];
        LEAT_TRY(LEAT_CAN_ROOM_NEW(store, &spill->number, spill->id_count, err));
        for (int64_t k = 0; k < spill->id_count; k++) spill->number[k] = id_number[spill->id[k]];
    }
    return LEAT_OK;
}

static void begin_stage(const leat_can_store *store) {
    int64_t frames = 0;
    for (int32_t s = 0; s < store->stream_count; s++) frames += store->streams[s].frames;
    leat_ticker_stage(store->ticker, "sorting", "frames", frames);
}

static leat_code put_in_order(ordering *self, const uint32_t *id_number, leat_error *err) {
    leat_can_store *store = self->store;
    LEAT_TRY(name_ids(store, id_number, err));
    LEAT_TRY(LEAT_CAN_ROOM_NEW(store, &self->tasks, self->task_count, err));
    make_tasks(self);
    begin_stage(store);
    LEAT_TRY(leat_can_room_take(store, self->segments_bytes, err));
    leat_code code = leat_block_alloc((void **)&self->segments, self->segments_bytes, err);
    if (code == LEAT_OK) code = merge(self, err);
    if (code == LEAT_OK) code = make_streams(self, err);
    leat_block_free(self->segments, self->segments_bytes);
    leat_can_room_give(store, self->segments_bytes);
    return code;
}

leat_code leat_can_store_order(leat_can_store *store, const int32_t *streams, int32_t stream_count,
                               const uint32_t *id_number, int threads, leat_error *err) {
    LEAT_ASSERT(store->finished && stream_count >= 0);
    LEAT_ASSERT(threads >= 1 && threads <= LEAT_THREADS_MAX);
    leat_can_store_clear_order(store);
    ordering self = {.store = store};
    sort_blocks(&self, streams, stream_count);
    make_tasks(&self);
    LEAT_TRY(plan(&self, stream_count, threads, err));
    leat_code code = LEAT_CAN_ROOM_NEW(store, &store->streams, stream_count, err);
    if (code == LEAT_OK) store->stream_count = stream_count;
    if (code == LEAT_OK && self.task_count > 0) code = put_in_order(&self, id_number, err);
    LEAT_CAN_ROOM_FREE(store, self.tasks, self.task_count);
    if (code != LEAT_OK) leat_can_store_clear_order(store);
    return code;
}

int64_t leat_can_store_numbers(const leat_can_store *store) { return store->number_count; }

int64_t leat_can_store_frames(const leat_can_store *store, int32_t stream) {
    LEAT_ASSERT(stream >= 0 && stream < store->stream_count);
    return store->streams[stream].frames;
}
