/*
 * Numbers for identifiers: known ones in order of their names, then unknown ones in that order. The
 * numbers decide the order of a graph's nodes, and identify the identifiers of frames in a cache.
 */
#ifndef LEAT_INGEST_CAN_CACHE_VOCAB_H
#define LEAT_INGEST_CAN_CACHE_VOCAB_H

#include "ingest/can/cache/like.h"
#include "ingest/can/cache/splits.h"
#include "ingest/can/store/store.h"

/* "65535:" and the text of an identifier, and a NUL. */
enum { LEAT_CAN_ID_NAME_BYTES = LEAT_CAN_ID_BYTES + 8 };

typedef struct leat_can_names {
    char (*name)[LEAT_CAN_ID_NAME_BYTES]; /* of all identifiers, by number */
    int64_t count, known;      /* known: each identifier before this has its own embedding */
    uint32_t *number;          /* of the store's identifiers */
    int64_t trained, attacked; /* of training: in frames that are not attacks; in attacks only */
} leat_can_names;

/* Of all identifiers in the store; those of other buses than --bus are unknown. With a cache to be
 * like, the known ones are those of that cache, whether or not they are in the store.
 * LEAT_ERR_INPUT: its names lack the buses that these logs have. */
LEAT_MUST_CHECK leat_code leat_can_names_make(leat_can_names *names, const leat_can_store *store,
                                              const leat_can_splits *splits,
                                              const leat_can_settings *settings,
                                              const leat_can_like *like, leat_error *err);
/* Bytes that they take, and while they are built. */
int64_t leat_can_names_bytes(int64_t ids);
int64_t leat_can_naming_bytes(int64_t ids);
/* Appends a warning if attacks alone have more identifiers than all other frames, and all of those
 * are known: fuzzing, which sends any. */
void leat_can_names_warn(const leat_can_names *names, const leat_can_settings *settings,
                         char *warning, size_t warning_bytes);
void leat_can_names_free(leat_can_names *names);

#endif
