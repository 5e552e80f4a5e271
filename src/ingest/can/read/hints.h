/* What the user can do about a log that is refused, for the message. */
#ifndef LEAT_INGEST_CAN_READ_HINTS_H
#define LEAT_INGEST_CAN_READ_HINTS_H

#include "ingest/can/read/layout.h"

/* What helps with a line of this reason in a file with this header, beside a given --column (or
 * NULL); "" if nothing is known to. */
void leat_can_hint(const leat_can_layout *layout, const char *given, leat_text header,
                   leat_text line, leat_can_reject reason, char *remedy, size_t remedy_bytes);
/* What a file is whose first line belongs to no format; "" if that is not known. */
const char *leat_can_hint_first(leat_text line);

/* "--column ...": what was given (or NULL), with this item ("id=CAN ID:dec") in the place of that
 * of the same role, or after the others; in quotes, if a shell needs them. If it does not fit, the
 * item alone. */
enum {
    LEAT_CAN_ADVICE_BYTES = 160, /* what an error message has room for */
    LEAT_CAN_ADVICE_MAX = 2048
};
void leat_can_advise_column(const char *given, const char *item, char *out, size_t out_bytes);
/* The columns of a format that has no header, for --column, but for that of identifiers, which is
 * the second; NULL: they are not known. */
const char *leat_can_plain_columns(leat_can_format format, bool labelled);
/* Columns by numbers, for a file without a header: those of --column, and others in their usual
 * order. */
void leat_can_hint_numbers(const struct leat_can_mapping *mapping, char *out, size_t out_bytes);

#endif
