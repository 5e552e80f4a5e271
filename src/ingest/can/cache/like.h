/*
 * A cache whose vocabulary and scaler a new one takes over (--like), so that a model of the one
 * reads the other: identifiers keep their numbers, others are unknown, and features are scaled as
 * they were for the model. What decides identifiers and features has to be the same in both.
 */
#ifndef LEAT_INGEST_CAN_CACHE_LIKE_H
#define LEAT_INGEST_CAN_CACHE_LIKE_H

#include "format/can_cache/can_cache.h"
#include "leat/ingest.h"

typedef struct leat_can_like {
    char digest[65];                      /* of the cache; "": there is none */
    char (*name)[LEAT_CAN_ID_TEXT_BYTES]; /* of the identifiers that have a number, ascending */
    int64_t count;
    bool has_bus; /* names begin with the number of their bus */
    char bus[16]; /* its --bus */
    char strategy[LEAT_CAN_WORD_BYTES];
    leat_can_scaler_values scaler;
} leat_can_like;

/*
 * Reads that of options->like; without one, *like is {0}. LEAT_ERR_NOT_FOUND, LEAT_ERR_CORRUPT: it
 * is not a complete cache, or damaged. LEAT_ERR_OPTION: it has other settings of the kind above;
 * the message has the options.
 */
LEAT_MUST_CHECK leat_code leat_can_like_load(leat_can_like *like,
                                             const leat_can_ingest_options *options,
                                             leat_error *err);
/* "--bus 0": the option that a cache of one bus was made with, whose value is `bus`, or one that
 * its user knows. */
enum { LEAT_CAN_LIKE_BUS_BYTES = 64 };
void leat_can_like_advise_bus(const char *bus, char out[LEAT_CAN_LIKE_BUS_BYTES]);
/* The index of a name; -1: it is not in the vocabulary. */
int64_t leat_can_like_find(const leat_can_like *like, const char *name);
void leat_can_like_free(leat_can_like *like);

#endif
