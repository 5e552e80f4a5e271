/* What the user can do about a log that is refused, for the message. */
#ifndef LEAT_INGEST_CAN_READ_REMEDIES_H
#define LEAT_INGEST_CAN_READ_REMEDIES_H

#include "ingest/can/read/layout.h"

/* What helps with a line of this reason in a file with this header; "" if nothing is known to. */
void leat_can_remedy(const leat_can_layout *layout, leat_text header, leat_text line,
                     leat_can_reject reason, char *remedy, size_t remedy_bytes);
/* What a file is whose first line belongs to no format; "" if that is not known. */
const char *leat_can_remedy_first(leat_text line);
/* Columns by numbers, for a file without a header: those of --column, and others in their usual
 * order. */
void leat_can_remedy_numbers(const struct leat_can_mapping *mapping, char *out, size_t out_bytes);

#endif
