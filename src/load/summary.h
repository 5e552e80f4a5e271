/* Parts of a summary that its tests look at. */
#ifndef LEAT_LOAD_SUMMARY_H
#define LEAT_LOAD_SUMMARY_H

#include "leat/load.h"

/* Whether row `row` belongs to a sample of share read_bytes / all_bytes. A pure function. */
bool leat_summary_selects(int64_t row, int64_t read_bytes, int64_t all_bytes);

#endif
