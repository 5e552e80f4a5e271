/*
 * Labels that a file beside the logs gives them: capture_metadata.json of ORNL's ROAD data set,
 * which has, by the name of each log of its folder, the interval of an attack, in seconds since the
 * log's first frame, and the identifier and the payload of what was injected.
 */
#ifndef LEAT_INGEST_CAN_CACHE_CAPTURE_METADATA_H
#define LEAT_INGEST_CAN_CACHE_CAPTURE_METADATA_H

#include "ingest/can/cache/splits.h"

/* Such a file with entries of this kind. */
typedef struct leat_can_metadata {
    uint8_t sha256[32];
    int64_t missing; /* logs that it names and that are not there */
    char missing_name[64];
    int64_t unnamed, unnamed_file; /* inputs beside it that it does not name, and the first */
} leat_can_metadata;

/*
 * Reads those files in the folders of all inputs, one by one, and fills splits->injections, each
 * file's `metadata`, and splits->metadata, in the order of the first inputs beside them. Others of
 * that name are not read. LEAT_ERR_INPUT: one is not JSON, larger than 1 MiB, or has a value of
 * another kind.
 */
LEAT_MUST_CHECK leat_code leat_can_metadata_find(leat_can_splits *splits, leat_error *err);

#endif
