/* What a cache records about itself: the metadata of a finished plan. */
#ifndef LEAT_INGEST_CAN_CACHE_DESCRIBE_H
#define LEAT_INGEST_CAN_CACHE_DESCRIBE_H

#include "ingest/can/cache/plan.h"
#include "ingest/can/cache/vocab.h"

typedef struct leat_can_description {
    const leat_can_ingest_options *options;
    const leat_can_splits *splits;
    const leat_can_file *files;
    const leat_can_plan *plan;
    const leat_can_names *names;
    const leat_can_like *like;
    const char *digest;
    const int64_t *file_bytes; /* of each part */
    const uint64_t *pages_hash;
} leat_can_description;

/* Fills *meta, which must be freed on failure as well. */
LEAT_MUST_CHECK leat_code leat_can_describe(const leat_can_description *of, leat_can_meta *meta,
                                            leat_error *err);

#endif
