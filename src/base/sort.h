/* Order of numbers. */
#ifndef LEAT_BASE_SORT_H
#define LEAT_BASE_SORT_H

#include <stdint.h>

/* Sorts in place, ascending, -0 before +0, so that the order does not depend on the C library's
 * sort; NaNs come after all numbers. leat_median (leat/base.h) sorts, too. */
void leat_sort_doubles(double *values, int64_t count);

#endif
