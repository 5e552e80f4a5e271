/*
 * The shortest payload of each identifier so far, by which a last line that was truncated within
 * its payload is recognized (context.h) in a log that cannot be read again. Bounded: of a log with
 * more identifiers, those that come later are not known.
 */
#ifndef LEAT_INGEST_CAN_READ_SHORTEST_H
#define LEAT_INGEST_CAN_READ_SHORTEST_H

#include "ingest/can/store/frame.h"

enum { LEAT_CAN_SHORTEST_SLOTS = 8192, LEAT_CAN_SHORTEST_MAX = LEAT_CAN_SHORTEST_SLOTS / 2 };

/* {0}: empty. */
typedef struct leat_can_shortest {
    struct {
        char id[LEAT_CAN_ID_BYTES]; /* all 0: the slot is free */
        uint8_t size_bytes;
    } slots[LEAT_CAN_SHORTEST_SLOTS];
    int32_t count;
} leat_can_shortest;

void leat_can_shortest_note(leat_can_shortest *table, const leat_can_line *line);
/* Whether frames of its identifier were met, and each of them has more bytes. */
bool leat_can_is_shorter(const leat_can_shortest *table, const leat_can_line *line);

#endif
