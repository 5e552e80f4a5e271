/* See sort.h, and leat_median of leat/base.h. */
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>

#include "leat/base.h"

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    if (isnan(x) || isnan(y)) return isnan(x) - isnan(y);
    if (x == y) return (signbit(y) != 0) - (signbit(x) != 0);
    return x > y ? 1 : -1;
}

void leat_sort_doubles(double *values, int64_t count) {
    if (count > 1) qsort(values, (size_t)count, sizeof *values, compare);
}

double leat_median(double *values, int64_t count) {
    leat_sort_doubles(values, count);
    while (count > 0 && isnan(values[count - 1])) count--;
    if (count == 0) return (double)NAN;
    return 0.5 * values[(count - 1) / 2] + 0.5 * values[count / 2];
}
