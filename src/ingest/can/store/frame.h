/*
 * A frame as a line of a log gives it, and blocks of frames: what is read, and what the store
 * takes.
 */
#ifndef LEAT_INGEST_CAN_STORE_FRAME_H
#define LEAT_INGEST_CAN_STORE_FRAME_H

#include "leat/base.h"
#include "leat/graph.h"

#define LEAT_CAN_ID_BYTES 16
#define LEAT_CAN_TIME_MAX_S 1e12 /* of a frame, in either direction: about 30,000 years */

typedef struct leat_can_line {
    double time;                   /* seconds, up to LEAT_CAN_TIME_MAX_S in either direction */
    char id[LEAT_CAN_ID_BYTES];    /* zero padded */
    int16_t bytes[LEAT_CAN_BYTES]; /* -15..255; 0 for unused bytes */
    uint16_t bus;                  /* 0 where the format has none */
    bool attack;
    uint8_t type;       /* of an attack: LEAT_CAN_TYPE_... */
    uint8_t marks;      /* LEAT_CAN_MARK_... */
    uint8_t size_bytes; /* of its payload, of which `bytes` has the first ones */
} leat_can_line;
/* What its label says of the type of an attack; LEAT_CAN_TYPE_UNKNOWN + code: that one (see
 * leat_can_attack_name). */
enum {
    LEAT_CAN_TYPE_BY_FILE = 0, /* nothing: the name of the file decides */
    LEAT_CAN_TYPE_UNKNOWN = 1, /* a word that is not known */
    LEAT_CAN_TYPES_END = 31,
};
/* What the user may want to know of a line, as bits. */
enum {
    LEAT_CAN_MARK_CUT = 1,        /* a CAN-FD frame, cut at 8 bytes */
    LEAT_CAN_MARK_BENIGN = 2,     /* its label is 0, or a word for benign frames */
    LEAT_CAN_MARK_ATTACK = 4,     /* its label is 1, or a word for attacks */
    LEAT_CAN_MARK_MORE = 8,       /* its label is above 1, which marks an attack as well */
    LEAT_CAN_MARK_NEGATIVE = 16,  /* its label is below 0, which marks a benign frame */
    LEAT_CAN_MARK_PADDED = 32,    /* its identifier begins with 0, as hexadecimal ones do */
    LEAT_CAN_MARK_SPARSE = 64,    /* it has no label, and is therefore taken for benign */
    LEAT_CAN_MARK_PREFIXED = 128, /* its identifier has 0x, $ or h, as hexadecimal ones have */
    LEAT_CAN_MARKS_END = 256,
};

/* A block of consecutive lines of one file, as frames; valid only during the call. */
typedef struct leat_can_batch {
    int32_t file_index;
    int64_t block; /* number in its file, from 0: frames are ordered by (block, i) */
    int64_t count; /* up to LEAT_CAN_BLOCK_LINES */
    const leat_can_line *lines;
} leat_can_batch;
#define LEAT_CAN_BLOCK_LINES 8192

/* Calls of one worker do not overlap, those of different workers do; every block of a file is
 * passed once, including those without frames. A failure stops the scan, which returns it. */
typedef leat_code (*leat_can_batch_fn)(void *context, int worker, const leat_can_batch *batch,
                                       leat_error *err);

#endif
