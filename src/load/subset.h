/* A sample of rows or graphs, for summaries and reports of data that is too large to read. */
#ifndef LEAT_LOAD_SUBSET_H
#define LEAT_LOAD_SUBSET_H

#include "leat/load.h"

/* Whether row `row` belongs to a sample of share read_bytes / all_bytes. A pure function. */
bool leat_subset_has(int64_t row, int64_t read_bytes, int64_t all_bytes);

#endif
