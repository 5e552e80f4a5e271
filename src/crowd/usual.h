/*
 * What is usual among the results of a run: the medians of the norms of results that counted in the
 * last steps. A result far above them is computed again by the coordinator, whose own decides. The
 * norms of a step are a function of the state before it, so a coordinator that is started again,
 * and reads them from the database or the ledger, decides the same.
 */
#ifndef LEAT_CROWD_USUAL_H
#define LEAT_CROWD_USUAL_H

#include "train/step/exchange.h"

enum {
    LEAT_USUAL_STEPS = 8,   /* that are remembered */
    LEAT_USUAL_OUTLIER = 10 /* times the median of them is strange, if nothing else is said */
};

typedef struct leat_usual {
    struct {
        int64_t step; /* counts from 0; -1: nothing is here */
        leat_unit_norms norms;
    } steps[LEAT_USUAL_STEPS];
} leat_usual;

/* Nothing is known. */
void leat_usual_clear(leat_usual *usual);
/* The medians of step `step`, in place of what is known of it. */
void leat_usual_put(leat_usual *usual, int64_t step, leat_unit_norms norms);
/* What results of step `step` may have at most, `outlier` times what is usual; false, and no limit
 * (infinite), if nothing is known of the steps before it. */
bool leat_usual_limits(const leat_usual *usual, int64_t step, int64_t outlier,
                       leat_unit_norms *most);
/* The upper medians of both norms: of two, one of which may be 0, the larger; sorts them.
 * count > 0. */
leat_unit_norms leat_usual_medians(leat_unit_norms *norms, int64_t count);

#endif
