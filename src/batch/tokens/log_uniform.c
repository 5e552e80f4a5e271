/* How many measurements a window spans: minutes are to be as likely as weeks. */
#include "batch/tokens/log_uniform.h"

#include "base/error.h"
#include "base/portable_math.h"
#include "base/rng.h"

int64_t leat_log_uniform(uint64_t bits, int64_t n) {
    LEAT_ASSERT(n >= 1 && n <= INT64_C(1) << 53);
    int64_t value = (int64_t)leat_exp(leat_random_unit(bits) * leat_ln((double)n));
    return value < 1 ? 1 : value > n ? n : value;
}
