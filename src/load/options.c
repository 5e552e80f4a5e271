/* Checks that both loaders make besides those of their tables: see options.h. */
#include "load/options.h"

leat_code leat_loader_check_range(const char *name, int64_t value, int64_t least, int64_t most,
                                  leat_error *err) {
    if (value >= least && value <= most) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION, "loader: %s is %lld; it must be %lld to %lld", name,
                     (long long)value, (long long)least, (long long)most);
}

leat_code leat_loader_check_seed(uint64_t seed, leat_error *err) {
    if (seed <= INT64_MAX) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION, "loader: seed is %llu; it must be 0 to %lld",
                     (unsigned long long)seed, (long long)INT64_MAX);
}
