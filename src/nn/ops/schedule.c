/* See schedule.h. */
#include "nn/ops/schedule.h"

#include "base/portable_math.h"

#define PI 0x1.921fb54442d18p+1
#define WARMUP_MOST 2000

int64_t leat_schedule_warmup(int64_t steps) {
    LEAT_ASSERT(steps >= 1);
    return steps / 20 < WARMUP_MOST ? steps / 20 : WARMUP_MOST;
}

double leat_schedule_rate(const leat_schedule *schedule, int64_t step) {
    const int64_t warmup = schedule->warmup;
    LEAT_ASSERT(step >= 1);
    if (schedule->kind == LEAT_SCHEDULE_CONSTANT) return schedule->peak;
    LEAT_ASSERT(warmup >= 0 && warmup < schedule->steps && step <= schedule->steps);
    if (step <= warmup) return schedule->peak * (double)step / (double)warmup;
    const double done = (double)(step - warmup) / (double)(schedule->steps - warmup);
    double sine, cosine;
    leat_sin_cos(PI * done, &sine, &cosine);
    return schedule->peak * (0.1 + 0.45 * (1 + cosine));
}
