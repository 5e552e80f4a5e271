/*
 * Learning rates of the steps 1, 2, ... In double, with sines of our own, so that every machine has
 * the same.
 *
 *     constant: rate = peak
 *     cosine, of `steps` steps in all: rate = peak t / warmup up to t = warmup, then
 *         peak (0.1 + 0.45 (1 + cos(pi (t - warmup) / (steps - warmup))))
 *
 * so that the first step moves already, and the last one has a tenth of the peak.
 */
#ifndef LEAT_NN_OPS_SCHEDULE_H
#define LEAT_NN_OPS_SCHEDULE_H

#include "base/error.h"

typedef enum leat_schedule_kind { LEAT_SCHEDULE_CONSTANT, LEAT_SCHEDULE_COSINE } leat_schedule_kind;

typedef struct leat_schedule {
    leat_schedule_kind kind;
    double peak;
    int64_t steps, warmup; /* of LEAT_SCHEDULE_COSINE: 0 <= warmup < steps */
} leat_schedule;

/* Warm-up that a transformer has: a twentieth of the steps, at most 2,000. */
int64_t leat_schedule_warmup(int64_t steps);
/* The rate of step `step`, from 1 on; with LEAT_SCHEDULE_COSINE up to `steps`. */
double leat_schedule_rate(const leat_schedule *schedule, int64_t step);

#endif
