/* Numbers that are not seconds since 1970: what else they may count, and the date of each. */
#ifndef LEAT_INGEST_PROBES_EPOCHS_H
#define LEAT_INGEST_PROBES_EPOCHS_H

#include "leat/base.h"

/* The candidates for the first of the numbers, which was read as seconds, with a date from 1995
 * to now; false: there is none. `column` is the name of the column. */
bool leat_epochs_list(int64_t first_us, int64_t now_us, const char *column, char *out,
                      size_t out_bytes);

#endif
