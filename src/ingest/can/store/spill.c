/*
 * Spilling frames: what a worker of the scan does with a block of lines. Identifiers become
 * numbers, frames go to the rows of their bus, rows that are not in time order are sorted, and the
 * result is appended to the worker's file in one write.
 */
#include "base/hash.h"
#include "ingest/can/store/tables.h"

#define BUSES 65536
/* Rows sorted by insertion before runs are merged. */
#define INSERTION_ROWS 32

leat_code leat_can_worker_create(leat_can_worker **out, leat_can_store *store, const char *path,
                                 leat_error *err) {
    leat_can_worker *worker = NULL;
    *out = NULL;
    LEAT_TRY(LEAT_CAN_ROOM_NEW(store, &worker, 1, err));
    leat_code code = LEAT_CAN_ROOM_NEW(store, &worker->lane_of_bus, BUSES, err);
    if (code == LEAT_OK) code = leat_file_open(&worker->file, path, LEAT_FILE_CREATE, err);
    if (code != LEAT_OK) {
        leat_can_worker_destroy(store, worker);
        return code;
    }
    *out = worker;
    return LEAT_OK;
}

static void free_lines(leat_can_store *store, leat_can_worker *worker) {
    int64_t rows_bytes = worker->line_capacity * LEAT_CAN_ROW_BYTES;
    int64_t numbers_bytes = worker->line_capacity * (int64_t)sizeof *worker->numbers;
    leat_block_free(worker->rows, rows_bytes);
    leat_block_free(worker->spare, rows_bytes);
    leat_block_free(worker->numbers, numbers_bytes);
    worker->rows = worker->spare = NULL;
    worker->numbers = NULL;
    leat_can_room_give(store, 2 * rows_bytes + numbers_bytes);
    worker->line_capacity = 0;
}

void leat_can_worker_rest(leat_can_store *store, leat_can_worker *worker) {
    free_lines(store, worker);
    LEAT_CAN_ROOM_FREE(store, worker->lanes, worker->lane_capacity);
    LEAT_CAN_ROOM_FREE(store, worker->lane_of_bus, BUSES);
    worker->lanes = NULL;
    worker->lane_of_bus = NULL;
}

void leat_can_worker_destroy(leat_can_store *store, leat_can_worker *worker) {
    if (worker == NULL) return;
    leat_can_worker_rest(store, worker);
    leat_can_intern_free(store, &worker->intern);
    LEAT_CAN_ROOM_FREE(store, worker->blocks, worker->block_capacity);
    leat_file_close(worker->file);
    LEAT_CAN_ROOM_FREE(store, worker, 1);
}

static leat_code make_room(leat_can_store *store, leat_can_worker *worker, int64_t lines,
                           leat_error *err) {
    if (lines <= worker->line_capacity) return LEAT_OK;
    int64_t more = worker->line_capacity + worker->line_capacity / 8;
    if (lines < more) lines = more; /* block sizes differ a little */
    free_lines(store, worker);
    int64_t rows_bytes = lines * LEAT_CAN_ROW_BYTES;
    int64_t numbers_bytes = lines * (int64_t)sizeof *worker->numbers;
    LEAT_TRY(leat_can_room_take(store, 2 * rows_bytes + numbers_bytes, err));
    worker->line_capacity = lines;
    LEAT_TRY(leat_block_alloc((void **)&worker->rows, rows_bytes, err));
    LEAT_TRY(leat_block_alloc((void **)&worker->spare, rows_bytes, err));
    return leat_block_alloc((void **)&worker->numbers, numbers_bytes, err);
}

/* ---- identifiers, and the number of frames per bus ------------------------------------------- */

static leat_code find_lane(leat_can_store *store, leat_can_worker *worker, uint16_t bus,
                           uint16_t *lane, leat_error *err) {
    *lane = worker->lane_of_bus[bus];
    if (*lane < worker->lane_count && worker->lanes[*lane].bus == bus) return LEAT_OK;
    LEAT_TRY(LEAT_CAN_ROOM_GROW(store, &worker->lanes, &worker->lane_capacity,
                                worker->lane_count + 1, err));
    LEAT_ASSERT(worker->lane_count < BUSES);
    *lane = (uint16_t)worker->lane_count++;
    worker->lanes[*lane] = (leat_can_lane){.bus = bus};
    if (bus >= worker->census.buses) worker->census.buses = bus + 1;
    worker->lane_of_bus[bus] = *lane;
    return LEAT_OK;
}

static leat_code add_id(leat_can_store *store, leat_can_worker *worker, const leat_can_line *line,
                        uint32_t *number, leat_error *err) {
    uint16_t lane = 0;
    LEAT_TRY(find_lane(store, worker, line->bus, &lane, err));
    return leat_can_intern_add(store, worker, line, lane, number, err);
}

/* Lines of a batch without a fall of the clock between them. */
typedef struct segment {
    int32_t number;
    int64_t begin, end;     /* lines */
    int32_t latest;         /* heads the list of lanes */
    int32_t log_steps_back; /* frames earlier than the one before them */
} segment;

/* Numbers the identifiers and counts the frames of each lane, up to the next fall of the clock or
 * pause. */
static leat_code number_lines(leat_can_store *store, leat_can_worker *worker,
                              const leat_can_batch *batch, segment *part, leat_error *err) {
    leat_can_intern *intern = &worker->intern;
    double before_s = batch->lines[part->begin].time;
    for (int64_t i = part->begin; i < batch->count; i++, part->end++) {
        const leat_can_line *line = &batch->lines[i];
        if (__builtin_expect(line->time < before_s, 0)) {
            if (leat_can_is_fall(store->split_falls, before_s, line->time)) return LEAT_OK;
            part->log_steps_back++;
        } else if (__builtin_expect(leat_can_is_pause(store, before_s, line->time), 0)) {
            return LEAT_OK;
        }
        before_s = line->time;
        uint32_t number = leat_can_intern_find(intern, line->id, line->bus);
        if (__builtin_expect(number == LEAT_CAN_UNKNOWN, 0)) {
            LEAT_TRY(add_id(store, worker, line, &number, err));
        }
        worker->numbers[i] = number;
        leat_can_known *known = &intern->known[number];
        known->frames++;
        if (__builtin_expect(known->last_file[line->attack] != batch->file_index, 0)) {
            LEAT_TRY(
                leat_can_intern_meet(store, worker, number, batch->file_index, line->attack, err));
        }
        leat_can_lane *lane = &worker->lanes[known->lane];
        if (__builtin_expect(lane->count++ == 0, 0)) {
            lane->other = part->latest;
            part->latest = known->lane;
        }
    }
    return LEAT_OK;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Packs the payload; returns its signs. */
static uint32_t pack_bytes(const int16_t bytes[LEAT_CAN_BYTES], uint8_t packed[LEAT_CAN_BYTES]) {
    uint64_t words[2], byte = UINT64_C(0x00ff00ff00ff00ff);
    memcpy(words, bytes, sizeof words);
    uint32_t signs = 0;
    if (__builtin_expect(((words[0] | words[1]) & ~byte) != 0, 0)) {
        for (int k = 0; k < LEAT_CAN_BYTES; k++) {
            LEAT_ASSERT(bytes[k] >= -256 && bytes[k] < 256);
            signs |= (uint32_t)(bytes[k] < 0) << k;
        }
    }
    uint64_t both = 0;
    for (int k = 1; k >= 0; k--) {
        uint64_t word = words[k] & byte;
        word = (word | word >> 8) & UINT64_C(0x0000ffff0000ffff);
        both = both << 32 | (uint32_t)(word | word >> 16);
    }
    memcpy(packed, &both, sizeof both);
    return signs;
}

static inline uint32_t label_of(const leat_can_line *line) {
    LEAT_ASSERT(line->type < LEAT_CAN_TYPES_END);
    return line->attack ? 1 + (uint32_t)line->type : 0;
}

static void place_rows(leat_can_worker *worker, const leat_can_batch *batch, const segment *part) {
    bool finite = true;
    for (int64_t i = part->begin; i < part->end; i++) {
        const leat_can_line *line = &batch->lines[i];
        uint32_t number = worker->numbers[i];
        leat_can_lane *lane = &worker->lanes[worker->intern.known[number].lane];
        leat_can_row *row = &worker->rows[lane->next];
        row->time = line->time;
        row->id = number | label_of(line) << LEAT_CAN_ROW_LABEL_BIT;
        uint32_t signs = pack_bytes(line->bytes, row->bytes);
        row->place = (uint32_t)i | signs << LEAT_CAN_ROW_SIGN_BIT;
        if (lane->next++ == lane->first) {
            lane->begin_s = lane->end_s = line->time;
            lane->first_line = (int32_t)i;
        }
        lane->last_line = (int32_t)i;
        lane->steps_back += line->time < lane->end_s;
        lane->end_s = line->time;
        lane->attack_frames += line->attack;
        finite &= line->time - line->time == 0;
    }
    LEAT_ASSERT(finite); /* the parsers reject everything else */
}

static void sort_few(leat_can_row *rows, int64_t count) {
    for (int64_t i = 1; i < count; i++) {
        leat_can_row row = rows[i];
        int64_t at = i;
        while (at > 0 && row.time < rows[at - 1].time) {
            rows[at] = rows[at - 1];
            at--;
        }
        rows[at] = row;
    }
}

/* Merges two sorted neighbours; only rows that move are touched, so nearly sorted rows cost almost
 * nothing. */
static void merge_neighbours(leat_can_row *rows, int64_t middle, int64_t count,
                             leat_can_row *spare) {
    double least = rows[middle].time;
    if (rows[middle - 1].time <= least) return;
    int64_t low = 0, high = middle;
    while (low < high) {
        int64_t half = low + (high - low) / 2;
        if (rows[half].time <= least) low = half + 1;
        else high = half;
    }
    int64_t moved = middle - low, left = 0, right = middle, at = low;
    memcpy(spare, rows + low, (size_t)moved * sizeof *rows);
    while (left < moved && right < count) {
        rows[at++] = rows[right].time < spare[left].time ? rows[right++] : spare[left++];
    }
    memcpy(rows + at, spare + left, (size_t)(moved - left) * sizeof *rows);
}

/* By time, stable. */
static void sort_rows(leat_can_row *rows, int64_t count, leat_can_row *spare) {
    for (int64_t at = 0; at < count; at += INSERTION_ROWS) {
        sort_few(rows + at, count - at < INSERTION_ROWS ? count - at : INSERTION_ROWS);
    }
    for (int64_t width = INSERTION_ROWS; width < count; width *= 2) {
        for (int64_t at = 0; at + width < count; at += 2 * width) {
            int64_t left = count - at;
            merge_neighbours(rows + at, width, left < 2 * width ? left : 2 * width, spare);
        }
    }
}

/* Adds the rows of a lane to the table of blocks. */
static leat_code add_block(leat_can_store *store, leat_can_worker *worker, int number,
                           const leat_can_batch *batch, const segment *part,
                           const leat_can_lane *lane, leat_error *err) {
    leat_can_row *rows = worker->rows + lane->first;
    LEAT_ASSERT(lane->count > 0 && lane->next == lane->first + lane->count);
    if (lane->steps_back > 0) sort_rows(rows, lane->count, worker->spare);
    LEAT_TRY(LEAT_CAN_ROOM_GROW(store, &worker->blocks, &worker->block_capacity,
                                worker->block_count + 1, err));
    worker->blocks[worker->block_count++] = (leat_can_block){
        .first_s = rows[0].time,
        .last_s = rows[lane->count - 1].time,
        .begin_s = lane->begin_s,
        .end_s = lane->end_s,
        .rank = (uint64_t)batch->file_index << LEAT_CAN_RANK_FILE_BIT | (uint64_t)batch->block,
        .hash = leat_xxh3(rows, lane->count * LEAT_CAN_ROW_BYTES),
        .offset = worker->file_bytes + lane->first * LEAT_CAN_ROW_BYTES,
        .count = (int32_t)lane->count,
        .attack_frames = lane->attack_frames,
        .steps_back = lane->steps_back,
        .stream = -1,
        .segment = part->number,
        .first_line = lane->first_line,
        .last_line = lane->last_line,
        .log_steps_back = lane->first_line == part->begin ? part->log_steps_back : 0,
        .bus = lane->bus,
        .spill = (uint16_t)number,
    };
    return LEAT_OK;
}

static leat_code take_segment(leat_can_store *store, int number, const leat_can_batch *batch,
                              segment *part, leat_error *err) {
    leat_can_worker *worker = store->workers[number];
    LEAT_TRY(number_lines(store, worker, batch, part, err));
    int64_t next = part->begin;
    for (int32_t k = part->latest; k >= 0; k = worker->lanes[k].other) {
        worker->lanes[k].first = worker->lanes[k].next = next;
        next += worker->lanes[k].count;
    }
    LEAT_ASSERT(next == part->end && next > part->begin);
    place_rows(worker, batch, part);
    for (int32_t k = part->latest; k >= 0; k = worker->lanes[k].other) {
        leat_can_lane *lane = &worker->lanes[k];
        LEAT_TRY(add_block(store, worker, number, batch, part, lane, err));
        lane->count = 0;
        lane->attack_frames = lane->steps_back = 0;
    }
    return LEAT_OK;
}

static leat_code take(leat_can_store *store, int number, const leat_can_batch *batch,
                      leat_error *err) {
    leat_can_worker *worker = store->workers[number];
    LEAT_TRY(make_room(store, worker, batch->count, err));
    segment part = {.latest = -1};
    LEAT_TRY(take_segment(store, number, batch, &part, err));
    while (part.end < batch->count) {
        worker->census.falls++;
        part =
            (segment){.number = part.number + 1, .begin = part.end, .end = part.end, .latest = -1};
        LEAT_TRY(take_segment(store, number, batch, &part, err));
    }
    int64_t size_bytes = batch->count * LEAT_CAN_ROW_BYTES;
    LEAT_TRY(leat_file_pwrite(worker->file, worker->rows, size_bytes, worker->file_bytes, err));
    worker->file_bytes += size_bytes;
    return LEAT_OK;
}

leat_code leat_can_store_take(void *context, int number, const leat_can_batch *batch,
                              leat_error *err) {
    leat_can_store *store = context;
    LEAT_ASSERT(!store->finished && number >= 0 && number < store->spill_count);
    LEAT_ASSERT(batch->file_index >= 0 && batch->file_index < store->file_count);
    LEAT_ASSERT(batch->block >= 0 && batch->block < LEAT_CAN_BLOCKS_MAX);
    LEAT_ASSERT(batch->count >= 0 && batch->count <= LEAT_CAN_LINES_MAX);
    if (batch->count == 0) return LEAT_OK;
    leat_can_census *census = &store->workers[number]->census;
    census->frames += batch->count;
    if (batch->count > census->batch_most) census->batch_most = batch->count;
    leat_code code = LEAT_OK;
    if (!atomic_load(&store->is_short)) {
        code = take(store, number, batch, err);
        if (code != LEAT_ERR_LIMIT || !atomic_load(&store->is_short)) return code;
    }
    leat_can_census_batch(census, batch, store);
    return LEAT_OK;
}
