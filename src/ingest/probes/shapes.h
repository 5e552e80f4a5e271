/* Rtts of JSON that are lists or objects, and the line for jq that makes numbers of them. */
#ifndef LEAT_INGEST_PROBES_SHAPES_H
#define LEAT_INGEST_PROBES_SHAPES_H

#include "base/json_scan.h"
#include "ingest/probes/digits.h"
#include "ingest/source.h"

enum { LEAT_SHAPE_NAME_BYTES = 40, LEAT_SHAPE_NAMES_BYTES = 100, LEAT_SHAPE_BYTES = 380 };

/* Of the first such rtt in file and line. */
typedef struct leat_shape {
    bool known, list;
    bool elements; /* its row is an element of an array */
    int32_t file_index;
    int64_t row;
    /* of an object: its members, and those that have the number and its unit; "" if another one
     * may, too */
    char names[LEAT_SHAPE_NAMES_BYTES];
    char value[LEAT_SHAPE_NAME_BYTES], unit[LEAT_SHAPE_NAME_BYTES];
} leat_shape;

/* Whether a value is a list or an object. */
static inline bool leat_shape_is(const leat_json_slice *value) {
    return value->kind == LEAT_JSON_ARRAY || value->kind == LEAT_JSON_OBJECT;
}
/* Of an array or object; the place remains. */
void leat_shape_take(leat_shape *shape, const leat_json_slice *value);
/* What it is, and the line that writes numbers in its place. `rtt` is the member that has it. */
void leat_shape_remedy(const leat_shape *shape, const leat_input *input, const char *rtt,
                       char out[LEAT_SHAPE_BYTES]);

#endif
