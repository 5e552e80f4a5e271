/* rejected.csv of an image data set, which has no hash: read for its summary and verification. */
#ifndef LEAT_LOAD_IMAGES_REJECTED_H
#define LEAT_LOAD_IMAGES_REJECTED_H

#include "base/lines.h"
#include "load/images/images.h"

typedef struct leat_rejected_line {
    int64_t number; /* of the line where it begins, from 1 */
    leat_text file; /* the name of the file */
    int reason;     /* leat_image_reason; -1: none of them */
    leat_text what; /* the reason in words */
    bool good;      /* it has these three fields */
} leat_rejected_line;

typedef leat_code (*leat_rejected_fn)(void *context, const leat_rejected_line *line,
                                      leat_error *err);
/*
 * Calls `each` for every rejected file; *count is their number. A missing file has none. The
 * columns are found by their names: LEAT_ERR_CORRUPT if one is missing.
 */
LEAT_MUST_CHECK leat_code leat_rejected_read(const char *dir, leat_rejected_fn each, void *context,
                                             int64_t *count, leat_error *err);

#endif
