/* See usual.h. */
#include "crowd/usual.h"

#include <math.h>
#include <stdlib.h>

static int by_gradient(const void *a, const void *b) {
    const double first = ((const leat_unit_norms *)a)->gradient;
    const double second = ((const leat_unit_norms *)b)->gradient;
    return (first > second) - (first < second);
}

static int by_statistics(const void *a, const void *b) {
    const double first = ((const leat_unit_norms *)a)->statistics;
    const double second = ((const leat_unit_norms *)b)->statistics;
    return (first > second) - (first < second);
}

void leat_usual_clear(leat_usual *usual) {
    for (int i = 0; i < LEAT_USUAL_STEPS; i++) usual->steps[i].step = -1;
}

void leat_usual_put(leat_usual *usual, int64_t step, leat_unit_norms norms) {
    LEAT_ASSERT(step >= 0);
    usual->steps[step % LEAT_USUAL_STEPS].step = step;
    usual->steps[step % LEAT_USUAL_STEPS].norms = norms;
}

leat_unit_norms leat_usual_medians(leat_unit_norms *norms, int64_t count) {
    leat_unit_norms out;
    LEAT_ASSERT(count > 0);
    qsort(norms, (size_t)count, sizeof *norms, by_statistics);
    out.statistics = norms[count / 2].statistics;
    qsort(norms, (size_t)count, sizeof *norms, by_gradient);
    out.gradient = norms[count / 2].gradient;
    return out;
}

bool leat_usual_limits(const leat_usual *usual, int64_t step, int64_t outlier,
                       leat_unit_norms *most) {
    leat_unit_norms known[LEAT_USUAL_STEPS];
    int count = 0;
    for (int i = 0; i < LEAT_USUAL_STEPS; i++) {
        const int64_t of = usual->steps[i].step;
        if (of >= 0 && of < step && of >= step - LEAT_USUAL_STEPS)
            known[count++] = usual->steps[i].norms;
    }
    *most = (leat_unit_norms){INFINITY, INFINITY};
    if (count == 0) return false;
    *most = leat_usual_medians(known, count);
    most->gradient *= (double)outlier;
    most->statistics *= (double)outlier;
    return true;
}
