/* JSON whose rows are not objects one by one: which of the layouts that programs write it has, and
 * the line for jq that makes rows of it. */
#ifndef LEAT_INGEST_PROBES_LAYOUT_H
#define LEAT_INGEST_PROBES_LAYOUT_H

#include "ingest/source.h"

enum { LEAT_LAYOUT_BYTES = 360 };
/* What is said of the layout of an input, by its beginning; "" if it has none of the known ones.
 * `time` is the name of the time. */
void leat_layout_remedy(const leat_input *input, const char *time, char out[LEAT_LAYOUT_BYTES]);

#endif
