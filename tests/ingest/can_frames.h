/*
 * Frames made up from a seed for the tests of the frame store, put into a store by its workers, and
 * what must come out, by a plain sort of all of them.
 */
#ifndef LEAT_TESTS_CAN_FRAMES_H
#define LEAT_TESTS_CAN_FRAMES_H

#include "ingest/can/store/store.h"

/* How times go on from line to line of a file. */
typedef enum can_order {
    CAN_ASCENDING,
    CAN_STEPPING, /* ascending, now and then a few lines back */
    CAN_LAPPING,  /* each block begins where the one before it was half over */
    CAN_DESCENDING,
    CAN_SHUFFLED,
    CAN_TIED,  /* ascending, many lines of one time, the same times in all files */
    CAN_EQUAL, /* one time */
    CAN_ODD,   /* shuffled: zeros of both signs, the largest and smallest numbers */
    CAN_ORDERS
} can_order;

typedef struct can_shape {
    uint64_t seed;
    can_order order;
    int files, buses, ids;
    int64_t lines, block_lines; /* of a file; at most so many in a block, some have none */
    bool apart;                 /* each file begins after the one before it */
} can_shape;

typedef struct can_frame {
    leat_can_line line;
    int32_t file;
    int64_t block, index;
} can_frame;

typedef struct can_frames {
    leat_can_line *lines; /* as the files have them */
    leat_can_batch *batches;
    int64_t batch_count;
    can_frame *frames; /* the same lines, and where they are from */
    int64_t count;
    int files;
} can_frames;

can_frames can_frames_make(const can_shape *shape);
void can_frames_free(can_frames *frames);

/* Gives all batches to the store, each to whichever worker is free, in threads; and finishes it. */
LEAT_MUST_CHECK leat_code can_frames_store(const can_frames *frames, leat_can_store *store,
                                           int workers, leat_error *err);

/* What these tests call an identifier. */
uint32_t can_id_number(const char text[LEAT_CAN_ID_BYTES], uint16_t bus);
/* ... for leat_can_store_order; free() it. */
uint32_t *can_id_numbers(const leat_can_store *store);

/* How captures become streams. */
typedef enum can_streams {
    CAN_SEPARATE,
    CAN_MERGED,     /* all in one */
    CAN_BUS_MERGED, /* a stream a file */
    CAN_SOME,       /* three streams, and some captures left out */
    CAN_STREAMS
} can_streams;
/* streams[c] of each capture; free() it. */
int32_t *can_streams_of(const leat_can_store *store, can_streams way, int32_t *stream_count);

/* The frames of one stream in order, `count` of them; free() it. */
can_frame *can_stream_frames(const can_frames *frames, const leat_can_store *store,
                             const int32_t *streams, int32_t stream, int64_t *count);

/* Whether rows [first, first + count) of the stream are those frames; count at most 4096. */
LEAT_MUST_CHECK leat_code can_frames_compare(const leat_can_store *store, int32_t stream,
                                             const can_frame *frames, int64_t first, int64_t count,
                                             bool *same, leat_error *err);

/* The least memory that a LEAT_ERR_LIMIT of the store names; -1: none. */
int64_t can_least_kib(const leat_error *err);

#endif
