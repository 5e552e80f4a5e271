/*
 * Numbers for identifiers: known ones in order of their names, then unknown ones in that order. The
 * numbers decide the order of a graph's nodes, and what a frame in a cache calls its identifier.
 */
#ifndef LEAT_INGEST_CAN_VOCAB_H
#define LEAT_INGEST_CAN_VOCAB_H

#include "ingest/can_job.h"

/* "65535:" and the text of an identifier, and a NUL. */
enum { LEAT_CAN_ID_NAME_BYTES = LEAT_CAN_ID_BYTES + 8 };

typedef struct leat_can_names {
    char (*name)[LEAT_CAN_ID_NAME_BYTES]; /* of all identifiers, by number */
    int64_t count, known;                 /* known: those before have an embedding of their own */
    uint32_t *number;                     /* of the store's identifiers */
} leat_can_names;

/* Of all that the store has met; those of another bus than --bus are unknown. */
LEAT_MUST_CHECK leat_code leat_can_names_make(leat_can_names *names, const leat_can_store *store,
                                              const leat_can_splits *splits,
                                              const leat_can_settings *settings, leat_error *err);
/* Bytes that they take, and while they are made. */
int64_t leat_can_names_bytes(int64_t ids);
int64_t leat_can_naming_bytes(int64_t ids);
void leat_can_names_free(leat_can_names *names);

#endif
