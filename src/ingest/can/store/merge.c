/*
 * The merge of runs: see merge.h.
 *
 * A run is a block, or blocks that an earlier pass has merged. Runs are swept in the order of their
 * first rows. A run is opened, and takes a buffer, only when the sweep reaches its first row; the
 * open ones are in a heap (base/merge.h). A run without overlap is not copied: a segment refers to
 * it. So blocks in order cost nothing, blocks that overlap a little cost little, and only frames
 * that are really mixed are written again.
 *
 * If more runs are open at once than there are buffers for, they are divided into groups by the
 * order of equal times, each group is merged to one run in a temporary file, and those are swept.
 */
#include "ingest/can/store/merge.h"

#include "base/merge.h"

/* The number of rows in a buffer. */
#define BUFFER_ROWS_MIN 512
#define BUFFER_ROWS_MAX 8192
#define FAN_MIN 8
#define FAN_MAX 4096
#define OUT_ROWS 4096
/* Fewer rows do not justify a segment of their own. */
#define LONE_ROWS_MIN 128

/* Rows in order. */
typedef struct run {
    double first_s, last_s;
    uint64_t rank;         /* its place among equal times */
    int64_t offset, count; /* of its rows */
    const leat_can_spill *from;
    int32_t source; /* the file's index in segments; -1: it is temporary, so rows must be copied */
    int32_t file;   /* of all its frames; -1: each row has its own */
} run;

typedef struct end_key {
    double last_s;
    uint64_t rank;
} end_key;

/* An open run. */
typedef struct cursor {
    leat_merge_source rows; /* what is left in the buffer: never empty */
    const run *run;
} cursor;

/* The destination of rows: the end of a file. */
typedef struct sink {
    leat_file *file;
    int64_t size_bytes;  /* written */
    int64_t pending;     /* rows in the merger's `out` */
    leat_can_task *task; /* receives the segments; NULL: all rows are copied */
    int32_t source;      /* the file's index in segments */
} sink;

struct leat_can_merger {
    leat_can_store *store;
    int number;
    leat_can_merge_room room;
    run *runs;
    end_key *ends;
    cursor *cursors;
    leat_merge_source **heap; /* the open ones, then the idle ones */
    leat_can_row *slab, *out;
    sink order;
    int64_t written_bytes;
    int64_t reported; /* rows of the task reported to the store's ticker */
};

/* ---- memory ---------------------------------------------------------------------------------- */

/* Tables of a merger, except for the buffers. */
static int64_t fixed_bytes(int64_t runs) {
    return runs * (int64_t)(sizeof(run) + sizeof(end_key)) + OUT_ROWS * LEAT_CAN_ROW_BYTES +
           (int64_t)sizeof(leat_can_merger);
}

static int64_t cursor_bytes(void) {
    return (int64_t)(sizeof(cursor) + sizeof(leat_merge_source *));
}

int64_t leat_can_merge_least_bytes(int64_t runs, int64_t fan_min) {
    if (fan_min < FAN_MIN) fan_min = FAN_MIN;
    return fixed_bytes(runs) + fan_min * (cursor_bytes() + BUFFER_ROWS_MIN * LEAT_CAN_ROW_BYTES);
}

bool leat_can_merge_plan(int64_t size_bytes, int64_t runs, int64_t fan_min,
                         leat_can_merge_room *room) {
    *room = (leat_can_merge_room){.runs = runs};
    if (size_bytes < leat_can_merge_least_bytes(runs, fan_min)) return false;
    int64_t rest = size_bytes - fixed_bytes(runs), most = fan_min < FAN_MAX ? FAN_MAX : fan_min;
    room->fan = rest / (cursor_bytes() + BUFFER_ROWS_MIN * LEAT_CAN_ROW_BYTES);
    if (room->fan > most) room->fan = most;
    room->slab_rows = (rest - room->fan * cursor_bytes()) / LEAT_CAN_ROW_BYTES;
    int64_t useful = (runs < room->fan ? runs : room->fan) * BUFFER_ROWS_MAX;
    if (room->slab_rows > useful) room->slab_rows = useful;
    return true;
}

leat_code leat_can_merger_create(leat_can_merger **out, leat_can_store *store, int number,
                                 const leat_can_merge_room *room, leat_error *err) {
    leat_can_merger *self = NULL;
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&self, 1, err));
    self->store = store;
    self->number = number;
    self->room = *room;
    leat_code code = LEAT_NEW(&self->runs, room->runs, err);
    if (code == LEAT_OK) code = LEAT_NEW(&self->ends, room->runs, err);
    if (code == LEAT_OK) code = LEAT_NEW(&self->cursors, room->fan, err);
    if (code == LEAT_OK) code = LEAT_NEW(&self->heap, room->fan, err);
    if (code == LEAT_OK) code = LEAT_NEW(&self->out, OUT_ROWS, err);
    if (code == LEAT_OK) {
        code = leat_block_alloc((void **)&self->slab, room->slab_rows * LEAT_CAN_ROW_BYTES, err);
    }
    leat_can_spill *source = &store->ordered[number];
    if (code == LEAT_OK) code = leat_file_open_nameless(&source->file, store->temp_dir, err);
    if (code != LEAT_OK) {
        leat_can_merger_destroy(self);
        return code;
    }
    self->order = (sink){.file = source->file, .source = store->spill_count + number};
    *out = self;
    return LEAT_OK;
}

void leat_can_merger_destroy(leat_can_merger *self) {
    if (self == NULL) return;
    leat_free(self->runs);
    leat_free(self->ends);
    leat_free(self->cursors);
    leat_free(self->heap);
    leat_free(self->out);
    leat_block_free(self->slab, self->room.slab_rows * LEAT_CAN_ROW_BYTES);
    leat_free(self);
}

int64_t leat_can_merger_written(const leat_can_merger *self) { return self->written_bytes; }

/* ---- order ----------------------------------------------------------------------------------- */

/*
 * Frames are ordered by time, rank and place. Runs of equal rank are buses of one block of lines;
 * their places are lines. In all other runs places are never compared.
 */
static int compare_rows(const leat_can_row *a, uint64_t rank_a, const leat_can_row *b,
                        uint64_t rank_b) {
    if (a->time != b->time) return a->time < b->time ? -1 : 1;
    if (rank_a != rank_b) return rank_a < rank_b ? -1 : 1;
    return (int)(a->place & LEAT_CAN_ROW_PLACE) - (int)(b->place & LEAT_CAN_ROW_PLACE);
}

/* Certainly before all rows of a run. */
static bool row_before_run(const leat_can_row *row, uint64_t rank, const run *run) {
    return row->time < run->first_s || (row->time == run->first_s && rank < run->rank);
}

/* All of `a` is certainly before all of `b`. */
static bool run_before_run(const run *a, const run *b) {
    return a->last_s < b->first_s || (a->last_s == b->first_s && a->rank < b->rank);
}

static int compare_first(const void *a, const void *b) {
    const run *one = a, *other = b;
    if (one->first_s != other->first_s) return one->first_s < other->first_s ? -1 : 1;
    return (one->rank > other->rank) - (one->rank < other->rank);
}

static int compare_rank(const void *a, const void *b) {
    const run *one = a, *other = b;
    return (one->rank > other->rank) - (one->rank < other->rank);
}

static int compare_ends(const void *a, const void *b) {
    const end_key *one = a, *other = b;
    if (one->last_s != other->last_s) return one->last_s < other->last_s ? -1 : 1;
    return (one->rank > other->rank) - (one->rank < other->rank);
}

/* The maximum number of runs that a sweep in order of first rows has open at once. */
static int64_t most_open(const leat_can_merger *self, const run *runs, int64_t count) {
    end_key *ends = self->ends;
    for (int64_t i = 0; i < count; i++) ends[i] = (end_key){runs[i].last_s, runs[i].rank};
    leat_can_sort(ends, count, (int64_t)sizeof *ends, compare_ends);
    int64_t most = 0, ended = 0;
    for (int64_t i = 0; i < count; i++) {
        const run *next = &runs[i];
        while (ends[ended].last_s < next->first_s ||
               (ends[ended].last_s == next->first_s && ends[ended].rank < next->rank)) {
            ended++;
        }
        if (i + 1 - ended > most) most = i + 1 - ended;
    }
    return most;
}

/* ---- the sink -------------------------------------------------------------------------------- */

static leat_code flush(leat_can_merger *self, sink *to, leat_error *err) {
    int64_t size_bytes = to->pending * LEAT_CAN_ROW_BYTES;
    int64_t placed = to->task != NULL ? to->pending : 0;
    LEAT_TRY(leat_file_pwrite(to->file, self->out, size_bytes, to->size_bytes, err));
    to->size_bytes += size_bytes;
    to->pending = 0;
    self->written_bytes += size_bytes;
    self->reported += placed;
    return leat_ticker_step(self->store->ticker, placed, err);
}

/* The last segment if rows at `offset` of the file continue it; else NULL. */
static leat_can_segment *continued(const leat_can_task *task, int32_t source, int32_t file,
                                   int64_t offset) {
    if (task->segment_count == 0) return NULL;
    leat_can_segment *last = &task->segments[task->segment_count - 1];
    bool follows = last->source == source && last->file == file &&
                   last->offset + last->start * LEAT_CAN_ROW_BYTES == offset;
    return follows ? last : NULL;
}

/* False if there are more than blocks in order can produce: their rows were changed. */
static bool add_segment(leat_can_task *task, int32_t source, int32_t file, int64_t offset,
                        int64_t rows) {
    leat_can_segment *last = continued(task, source, file, offset);
    if (last == NULL) {
        if (task->segment_count == leat_can_task_segments(task->block_count)) return false;
        last = &task->segments[task->segment_count++];
        *last = (leat_can_segment){.source = source, .file = file, .offset = offset};
    }
    last->start += rows;
    return true;
}

static leat_code changed(const run *run, const char *what, leat_error *err) {
    return leat_fail(err, LEAT_ERR_CORRUPT,
                     "temporary file \"%s\" was changed while it was in use: %s",
                     leat_file_path(run->from->file), what);
}

/* Copies rows of a run. */
static leat_code put_rows(leat_can_merger *self, sink *to, const run *from,
                          const leat_can_row *rows, int64_t count, leat_error *err) {
    const uint32_t *id = from->from->id;
    if (to->task != NULL) {
        int64_t at = to->size_bytes + to->pending * LEAT_CAN_ROW_BYTES;
        if (!add_segment(to->task, to->source, -1, at, count))
            return changed(from, "its frames are not in the order that they were written in", err);
    }
    for (int64_t i = 0; i < count; i++) {
        if (to->pending == OUT_ROWS) LEAT_TRY(flush(self, to, err));
        leat_can_row row = rows[i];
        uint32_t number = row.id & LEAT_CAN_ROW_ID;
        if (number >= from->from->id_count) {
            return changed(from, "a frame has an unknown identifier", err);
        }
        if (id != NULL) row.id = id[number] | (row.id & ~LEAT_CAN_ROW_ID);
        if (from->file >= 0) row.place = (row.place & ~LEAT_CAN_ROW_PLACE) | (uint32_t)from->file;
        self->out[to->pending++] = row;
    }
    return LEAT_OK;
}

/* Adds rows of a run as a segment, if possible and worth it; otherwise copies them. */
static bool name_rows(const sink *to, const run *from, int64_t offset, int64_t count) {
    if (to->task == NULL || from->source < 0) return false;
    if (count < LONE_ROWS_MIN && count < from->count &&
        continued(to->task, from->source, from->file, offset) == NULL) {
        return false;
    }
    return add_segment(to->task, from->source, from->file, offset, count);
}

/* ---- the sweep ------------------------------------------------------------------------------- */

typedef struct sweep {
    leat_can_merger *merger;
    sink *to;
    const run *next, *end; /* runs that are not open yet */
    leat_merge_source **heap;
    int64_t open, most; /* open runs */
} sweep;

static const leat_can_row *row_of(const leat_merge_source *from) { return (const void *)from->at; }

static const run *run_of(const leat_merge_source *from) {
    return ((const cursor *)(const void *)from)->run;
}

static int64_t rows_in(int64_t size_bytes) { return size_bytes / LEAT_CAN_ROW_BYTES; }

static int compare(const leat_merge_source *a, const leat_merge_source *b) {
    return compare_rows(row_of(a), run_of(a)->rank, row_of(b), run_of(b)->rank);
}

static leat_code open_next(sweep *self, leat_error *err) {
    LEAT_TRY(leat_ticker_step(self->merger->store->ticker, 0, err));
    if (self->open == self->most) return changed(self->next, "its times have changed", err);
    leat_merge_source *from = self->heap[self->open];
    ((cursor *)(void *)from)->run = self->next;
    from->file = self->next->from->file;
    from->next = self->next->offset;
    from->left = self->next->count * LEAT_CAN_ROW_BYTES;
    LEAT_TRY(leat_merge_fill(from, err));
    self->next++;
    self->open++;
    leat_merge_up(self->heap, self->open, compare);
    return LEAT_OK;
}

/* Removes the given number of rows from the first run of the heap. */
static leat_code advance(sweep *self, int64_t rows, leat_error *err) {
    leat_merge_source *first = self->heap[0];
    first->at += rows * LEAT_CAN_ROW_BYTES;
    if (first->at == first->end) LEAT_TRY(leat_merge_fill(first, err));
    if (first->at == first->end) {
        self->open--;
        self->heap[0] = self->heap[self->open];
        self->heap[self->open] = first;
        if (self->open == 0) return LEAT_OK;
    }
    leat_merge_down(self->heap, self->open, compare);
    return LEAT_OK;
}

/* No run is open. */
static leat_code begin(sweep *self, leat_error *err) {
    const run *run = self->next;
    bool alone = run + 1 == self->end || run_before_run(run, run + 1);
    if (!alone || !name_rows(self->to, run, run->offset, run->count)) return open_next(self, err);
    self->next++;
    return LEAT_OK;
}

/* One run is open, and its next row is before those that are not. */
static leat_code go_alone(sweep *self, leat_error *err) {
    leat_merge_source *lone = self->heap[0];
    const run *from = run_of(lone);
    int64_t offset = lone->next - (lone->end - lone->at), rows = rows_in(lone->end - lone->at);
    if (self->next == self->end || run_before_run(from, self->next)) {
        if (name_rows(self->to, from, offset, rows + rows_in(lone->left))) {
            lone->left = 0;
            return advance(self, rows, err);
        }
    } else {
        int64_t low = 1; /* rows before this are certainly first; those from `rows` on are not */
        while (low < rows) {
            int64_t middle = low + (rows - low) / 2;
            if (row_before_run(row_of(lone) + middle, from->rank, self->next)) low = middle + 1;
            else rows = middle;
        }
        if (name_rows(self->to, from, offset, rows)) return advance(self, rows, err);
    }
    LEAT_TRY(put_rows(self->merger, self->to, from, row_of(lone), rows, err));
    return advance(self, rows, err);
}

/* Several are open: takes the rows of the first that come before everything else. */
static leat_code go_first(sweep *self, leat_error *err) {
    const leat_merge_source *first = self->heap[0], *second = self->heap[1];
    if (self->open > 2 && leat_merge_before(self->heap[2], second, compare)) second = self->heap[2];
    const run *from = run_of(first);
    const leat_can_row *other = row_of(second), *end = (const void *)first->end;
    const uint64_t rank = from->rank, other_rank = run_of(second)->rank;
    const leat_can_row *at = row_of(first) + 1;
    while (at < end && compare_rows(at, rank, other, other_rank) < 0 &&
           (self->next == self->end || row_before_run(at, rank, self->next))) {
        at++;
    }
    int64_t rows = at - row_of(first);
    LEAT_TRY(put_rows(self->merger, self->to, from, row_of(first), rows, err));
    return advance(self, rows, err);
}

/* Merges runs in order of their first rows, of which `most` are open at once. */
static leat_code sweep_runs(leat_can_merger *merger, const run *runs, int64_t count, int64_t most,
                            sink *to, leat_error *err) {
    sweep self = {.merger = merger,
                  .to = to,
                  .next = runs,
                  .end = runs + count,
                  .heap = merger->heap,
                  .most = most};
    int64_t buffer_rows = merger->room.slab_rows / most;
    if (buffer_rows > BUFFER_ROWS_MAX) buffer_rows = BUFFER_ROWS_MAX;
    for (int64_t i = 0; i < most; i++) {
        leat_merge_source *idle = &merger->cursors[i].rows;
        uint8_t *buffer = (uint8_t *)(merger->slab + i * buffer_rows);
        *idle = (leat_merge_source){.buffer = buffer,
                                    .buffer_bytes = buffer_rows * LEAT_CAN_ROW_BYTES,
                                    .at = buffer,
                                    .end = buffer};
        merger->heap[i] = idle;
    }
    while (self.open > 0 || self.next < self.end) {
        const leat_merge_source *first = self.heap[0];
        if (self.open == 0) {
            LEAT_TRY(begin(&self, err));
        } else if (self.next < self.end &&
                   !row_before_run(row_of(first), run_of(first)->rank, self.next)) {
            LEAT_TRY(open_next(&self, err));
        } else if (self.open == 1) {
            LEAT_TRY(go_alone(&self, err));
        } else {
            LEAT_TRY(go_first(&self, err));
        }
    }
    return flush(merger, to, err);
}

/* ---- passes ---------------------------------------------------------------------------------- */

static leat_code merge_runs(leat_can_merger *self, run *runs, int64_t count, sink *to,
                            leat_error *err);

/* The run that a group of runs is merged into. */
static run joined(const run *runs, int64_t count, uint64_t rank, const leat_can_spill *from,
                  int64_t offset) {
    run all = {.first_s = runs[0].first_s,
               .last_s = runs[0].last_s,
               .rank = rank,
               .offset = offset,
               .from = from,
               .source = -1,
               .file = -1};
    for (int64_t i = 0; i < count; i++) {
        if (runs[i].first_s < all.first_s) all.first_s = runs[i].first_s;
        if (runs[i].last_s > all.last_s) all.last_s = runs[i].last_s;
        all.count += runs[i].count;
    }
    return all;
}

/* Replaces the runs, sorted by rank, by one run per group. Groups never separate runs of equal
 * rank, since only places order those. Returns the number of *groups. */
static leat_code merge_groups(leat_can_merger *self, run *runs, int64_t count,
                              const leat_can_spill *from, int64_t *groups, leat_error *err) {
    sink to = {.file = from->file};
    int64_t size = (count + self->room.fan - 1) / self->room.fan, end = 0;
    *groups = 0;
    for (int64_t first = 0; first < count; first = end) {
        end = count - first < size ? count : first + size;
        while (end < count && runs[end].rank == runs[end - 1].rank) end++;
        run all = joined(runs + first, end - first, (uint64_t)*groups, from, to.size_bytes);
        LEAT_TRY(merge_runs(self, runs + first, end - first, &to, err));
        runs[(*groups)++] = all;
    }
    return LEAT_OK;
}

static leat_code merge_runs(leat_can_merger *self, run *runs, int64_t count, sink *to,
                            leat_error *err) {
    leat_can_sort(runs, count, (int64_t)sizeof *runs, compare_first);
    int64_t most = most_open(self, runs, count);
    if (most <= self->room.fan) return sweep_runs(self, runs, count, most, to, err);
    leat_can_spill from = {.id_count = self->store->id_count};
    int64_t groups = 0;
    LEAT_TRY(leat_file_open_nameless(&from.file, self->store->temp_dir, err));
    leat_can_sort(runs, count, (int64_t)sizeof *runs, compare_rank);
    leat_code code = merge_groups(self, runs, count, &from, &groups, err);
    if (code == LEAT_OK) {
        leat_can_sort(runs, groups, (int64_t)sizeof *runs, compare_first);
        code = sweep_runs(self, runs, groups, groups, to, err);
    }
    leat_file_close(from.file);
    return code;
}

leat_code leat_can_merger_run(leat_can_merger *self, leat_can_task *task, leat_error *err) {
    int64_t rows = 0;
    LEAT_ASSERT(task->block_count <= self->room.runs);
    for (int64_t i = 0; i < task->block_count; i++) {
        const leat_can_block *block = &self->store->blocks[task->first_block + i];
        self->runs[i] = (run){.first_s = block->first_s,
                              .last_s = block->last_s,
                              .rank = block->rank,
                              .offset = block->offset,
                              .count = block->count,
                              .from = &self->store->spills[block->spill],
                              .source = block->spill,
                              .file = leat_can_block_file(block)};
        rows += block->count;
    }
    self->order.task = task;
    self->reported = 0;
    LEAT_TRY(merge_runs(self, self->runs, task->block_count, &self->order, err));
    return leat_ticker_step(self->store->ticker, rows - self->reported, err);
}
