/*
 * What the sources of the frame store share: rows and blocks as stored on disk, the tables, and
 * memory accounting.
 *
 * A spill file (one per worker) is a sequence of blocks: the frames of one bus in one block of
 * lines, in time order, as rows. An order file (one per thread of leat_can_store_order) holds
 * merged rows. A stream is a list of segments of both.
 */
#ifndef LEAT_INGEST_CAN_STORE_TABLES_H
#define LEAT_INGEST_CAN_STORE_TABLES_H

#include <stdatomic.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/rng.h"
#include "ingest/can/store/store.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "rows are packed by words: little-endian machines only"
#endif

/* ---- rows ----------------------------------------------------------------------------------- */

/* A frame on disk. Payload bytes are -15..255: the low eight bits, with the signs stored
 * separately. */
typedef struct leat_can_row {
    double time;
    uint32_t id;    /* 27 bits: number of its identifier; above: 0, or of an attack 1 + its type */
    uint32_t place; /* 24 bits: line in its block, in merged rows the file; above: one sign bit per
                       byte */
    uint8_t bytes[LEAT_CAN_BYTES];
} leat_can_row;
_Static_assert(sizeof(leat_can_row) == 24, "rows lie on disk as they are");

#define LEAT_CAN_ROW_BYTES ((int64_t)sizeof(leat_can_row))
#define LEAT_CAN_ROW_ID UINT32_C(0x07ffffff)
#define LEAT_CAN_ROW_LABEL_BIT 27
_Static_assert(LEAT_CAN_IDS_MAX == INT64_C(1) << LEAT_CAN_ROW_LABEL_BIT, "numbers fit");
#define LEAT_CAN_ROW_PLACE UINT32_C(0x00ffffff)
#define LEAT_CAN_ROW_SIGN_BIT 24

/* ---- tables --------------------------------------------------------------------------------- */

/* The frames of one bus in one block of lines, up to a fall of the clock. */
typedef struct leat_can_block {
    double first_s, last_s; /* smallest and largest time */
    double begin_s, end_s;  /* of its first and last line */
    uint64_t rank;          /* its place among frames of equal time: file, then block of the file */
    uint64_t hash;          /* XXH3 of its rows */
    int64_t offset;         /* of its rows in the spill file */
    int32_t count;
    int32_t attack_frames, steps_back;
    int32_t stream;                /* of leat_can_store_order; -1: none */
    int32_t segment;               /* falls of the clock before it in its block of lines */
    int32_t first_line, last_line; /* in the block of lines */
    int32_t log_steps_back;        /* of all buses, if it has the first line of its segment */
    int32_t recording;             /* set when captures are made */
    uint16_t bus;
    uint16_t spill; /* which file */
} leat_can_block;
_Static_assert(sizeof(leat_can_block) == 96, "blocks are saved as they are");

#define LEAT_CAN_RANK_FILE_BIT 40
static inline int32_t leat_can_block_file(const leat_can_block *block) {
    return (int32_t)(block->rank >> LEAT_CAN_RANK_FILE_BIT);
}

/* A file with rows, and the numbering of the identifiers in it. */
typedef struct leat_can_spill {
    leat_file *file;
    int64_t id_count;
    uint32_t *id;       /* number in a row -> index of leat_can_store_ids; NULL: the same */
    uint32_t *number;   /* number in a row -> the number that leat_can_store_read returns */
    int64_t size_bytes; /* of a spill file's blocks */
} leat_can_spill;

/* A piece of a stream: consecutive rows. */
typedef struct leat_can_segment {
    int64_t start; /* its first row's place in the stream; while merging, its number of rows */
    int64_t offset;
    int32_t source; /* spill files, then order files */
    int32_t file;   /* of all its frames; -1: each row has its own */
} leat_can_segment;

typedef struct leat_can_stream_parts {
    int64_t first_segment, segment_count;
    int64_t frames;
} leat_can_stream_parts;

/* ---- the scan ------------------------------------------------------------------------------- */

/* An identifier as one worker knows it; its number is its index in the list. */
typedef struct leat_can_known {
    char text[LEAT_CAN_ID_BYTES];
    int64_t frames;
    int32_t last_file[2]; /* that it occurred in; -1: none. In attack frames: the second */
    uint16_t bus;
    uint16_t lane;
} leat_can_known;

/* An identifier meets the attack frames of a file, and its other frames. */
#define LEAT_CAN_MET_ATTACK UINT32_C(0x80000000)
static inline uint32_t leat_can_meeting(int32_t file_index, bool attack) {
    return (uint32_t)file_index | (attack ? LEAT_CAN_MET_ATTACK : 0);
}

/* The identifiers of a worker, and the files in which each occurred. */
typedef struct leat_can_intern {
    leat_can_known *known;
    int64_t count, capacity;
    uint32_t *slots; /* open addressing: number + 1; 0: empty */
    int64_t slot_count;
    uint64_t *met; /* the same, of (number << 32 | file, or its attack frames) + 1 */
    int64_t met_count, met_slots;
} leat_can_intern;

/* A bus known to a worker, and its frames in the current block. */
typedef struct leat_can_lane {
    int64_t count;
    int64_t first, next;   /* of the worker's rows: its first one, and where the next one goes */
    double begin_s, end_s; /* of its first and latest line */
    int32_t first_line, last_line;
    int32_t attack_frames, steps_back;
    int32_t other; /* the lane begun before it in this block; -1: none */
    uint16_t bus;
} leat_can_lane;

/* What decides how much memory the store takes, counted without storing it: see
 * census.c. */
#define LEAT_CAN_REGISTER_BITS 12
#define LEAT_CAN_REGISTERS (1 << LEAT_CAN_REGISTER_BITS)
typedef struct leat_can_census {
    uint8_t ids[LEAT_CAN_REGISTERS], met[LEAT_CAN_REGISTERS];
    int64_t frames, batch_most;
    int64_t blocks; /* that were only counted */
    int64_t falls;  /* of the clock, in blocks of lines */
    int32_t buses;  /* the largest of their numbers, plus one */
} leat_can_census;

typedef struct leat_can_worker {
    leat_can_census census;
    leat_file *file;
    int64_t file_bytes;
    leat_can_intern intern;
    leat_can_lane *lanes;
    int64_t lane_count, lane_capacity;
    uint16_t *lane_of_bus; /* valid if that lane's bus is this one: needs no clearing */
    leat_can_block *blocks;
    int64_t block_count, block_capacity;
    uint32_t *numbers; /* of the identifiers of the current block */
    leat_can_row *rows, *spare;
    int64_t line_capacity; /* of these three */
} leat_can_worker;

struct leat_can_store {
    char *temp_dir;
    uint64_t run;
    int64_t memory_bytes;
    _Atomic int64_t memory_used;
    _Atomic bool is_short;  /* memory is used up: lines are only counted from now on */
    leat_can_census census; /* of all workers, once they are gone */
    int32_t file_count;
    leat_ticker *ticker; /* NULL: none */
    bool split_falls;
    double pause_s; /* INFINITY: none is long enough */
    bool finished, keep;

    leat_can_worker **workers; /* until finished */
    leat_can_spill *spills;
    int spill_count;

    leat_can_block
        *blocks; /* by recording, bus, block; once in order by stream, first time, rank */
    int64_t block_count, block_capacity;
    leat_can_recording *recordings;
    int64_t recording_count;
    leat_can_capture *captures;
    int64_t capture_count;
    leat_can_id *ids;
    int64_t id_count;
    uint64_t *met; /* identifier << 32 | file, or the file's attack frames, ascending */
    int64_t met_count;

    uint32_t *number;     /* numbers of identifiers, while there is an order */
    int64_t number_count; /* above all of them */
    leat_can_spill *ordered;
    int ordered_count;
    leat_can_segment *segments;
    int64_t segment_count;
    leat_can_stream_parts *streams;
    int32_t stream_count;
    int64_t merged_bytes; /* written by the order */
};

/* ---- memory: every table and buffer is counted (memory.c) ---------------------------- */

/* Counts bytes about to be allocated; LEAT_ERR_LIMIT if the limit is exceeded. */
LEAT_MUST_CHECK leat_code leat_can_room_take(leat_can_store *store, int64_t size_bytes,
                                             leat_error *err);
void leat_can_room_give(leat_can_store *store, int64_t size_bytes);
/* The error for a limit that must be at least `need_bytes`. */
LEAT_MUST_CHECK leat_code leat_can_room_fail(leat_can_store *store, int64_t need_bytes,
                                             leat_error *err);

/* Zeroed items, for leat_can_room_free. */
LEAT_MUST_CHECK leat_code leat_can_room_alloc(leat_can_store *store, void **out, int64_t count,
                                              int64_t item_bytes, leat_error *err);
void leat_can_room_free(leat_can_store *store, void *items, int64_t count, int64_t item_bytes);
#define LEAT_CAN_ROOM_NEW(store, out, count, err)                                                  \
    leat_can_room_alloc((store), (void **)(out), (count), (int64_t)sizeof(**(out)), (err))
#define LEAT_CAN_ROOM_FREE(store, items, count)                                                    \
    leat_can_room_free((store), (items), (count), (int64_t)sizeof(*(items)))
/* leat_grow, counted. */
LEAT_MUST_CHECK leat_code leat_can_room_grow(leat_can_store *store, void **items, int64_t *capacity,
                                             int64_t need, int64_t item_bytes, leat_error *err);
#define LEAT_CAN_ROOM_GROW(store, items, capacity, need, err)                                      \
    leat_can_room_grow((store), (void **)(items), (capacity), (need), (int64_t)sizeof(**(items)),  \
                       (err))
/* Like qsort, but in place: no memory for any number of items, each of at most this many bytes. */
#define LEAT_CAN_SORT_BYTES_MAX 128
void leat_can_sort(void *items, int64_t count, int64_t item_bytes,
                   int (*compare)(const void *, const void *));

/* ---- the steps ------------------------------------------------------------------------------ */

/* A store with space for the given number of spill files. */
LEAT_MUST_CHECK leat_code leat_can_store_new(leat_can_store **out,
                                             const leat_can_store_options *options, int spill_count,
                                             leat_error *err);
/* "<temp_dir>/can_spill_003" */
LEAT_MUST_CHECK leat_code leat_can_store_spill_path(const leat_can_store *store, int number,
                                                    char path[LEAT_PATH_BYTES], leat_error *err);
/* Whether the clock falls so far from one frame of a file to the next that a recording begins. Half
 * a microsecond more allows for decimal times that are not exact doubles. */
static inline bool leat_can_is_fall(bool split_falls, double from_s, double to_s) {
    return split_falls && leat_can_clock_falls(from_s, to_s);
}
static inline bool leat_can_is_pause(const leat_can_store *store, double from_s, double to_s) {
    return leat_can_clock_pauses(store->pause_s, from_s, to_s);
}
/* Either of the two. */
static inline bool leat_can_is_new(const leat_can_store *store, double from_s, double to_s) {
    return leat_can_is_pause(store, from_s, to_s) ||
           leat_can_is_fall(store->split_falls, from_s, to_s);
}
/* Sorts the blocks and derives recordings and captures from them. */
LEAT_MUST_CHECK leat_code leat_can_store_make_captures(leat_can_store *store, leat_error *err);
/* Discards an order. */
void leat_can_store_clear_order(leat_can_store *store);

/* spill.c; the file is created at `path`. */
LEAT_MUST_CHECK leat_code leat_can_worker_create(leat_can_worker **out, leat_can_store *store,
                                                 const char *path, leat_error *err);
void leat_can_worker_destroy(leat_can_store *store, leat_can_worker *worker);
/* Frees what only leat_can_store_take needs. */
void leat_can_worker_rest(leat_can_store *store, leat_can_worker *worker);

/* census.c: counts an identifier, its occurrence in a file, a batch that is not stored. */
void leat_can_census_id(leat_can_census *census, uint64_t id_hash);
void leat_can_census_met(leat_can_census *census, uint64_t id_hash, uint32_t meeting);
void leat_can_census_batch(leat_can_census *census, const leat_can_batch *batch,
                           const leat_can_store *store);
void leat_can_census_add(leat_can_census *to, const leat_can_census *from);

/* ids.c. The number of an identifier that is not known yet. */
LEAT_MUST_CHECK leat_code leat_can_intern_add(leat_can_store *store, leat_can_worker *worker,
                                              const leat_can_line *line, uint16_t lane,
                                              uint32_t *number, leat_error *err);
/* Notes that it occurred in a file other than its last one, in an attack frame or another one. */
LEAT_MUST_CHECK leat_code leat_can_intern_meet(leat_can_store *store, leat_can_worker *worker,
                                               uint32_t number, int32_t file_index, bool attack,
                                               leat_error *err);
void leat_can_intern_free(leat_can_store *store, leat_can_intern *intern);
/* ids, met, and the numbers of each spill, from the workers' tables. */
LEAT_MUST_CHECK leat_code leat_can_store_make_ids(leat_can_store *store, leat_error *err);

static inline uint64_t leat_can_id_hash(const char text[LEAT_CAN_ID_BYTES], uint16_t bus) {
    uint64_t words[2];
    memcpy(words, text, sizeof words);
    return leat_random_mix(words[0] + leat_random_mix(words[1] ^ (uint64_t)bus << 48));
}

/* The number of an identifier; LEAT_CAN_UNKNOWN if it is not known. */
#define LEAT_CAN_UNKNOWN UINT32_MAX
static inline uint32_t leat_can_intern_find(const leat_can_intern *intern,
                                            const char text[LEAT_CAN_ID_BYTES], uint16_t bus) {
    if (intern->slot_count == 0) return LEAT_CAN_UNKNOWN;
    uint64_t mask = (uint64_t)intern->slot_count - 1;
    for (uint64_t at = leat_can_id_hash(text, bus) & mask;; at = (at + 1) & mask) {
        uint32_t number = intern->slots[at] - 1;
        if (number == LEAT_CAN_UNKNOWN) return number;
        const leat_can_known *known = &intern->known[number];
        if (known->bus == bus && memcmp(known->text, text, LEAT_CAN_ID_BYTES) == 0) return number;
    }
}

#endif
