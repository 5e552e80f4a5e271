/* Checks that loaders make besides those of their tables: see option_rows.h. */
#include "load/option_rows.h"

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

leat_code leat_loader_check_hosts(int64_t batch, int64_t host_count, int64_t host_index,
                                  leat_error *err) {
    LEAT_TRY(leat_loader_check_range("hosts", host_count, 1, batch, err));
    LEAT_TRY(leat_loader_check_range("host", host_index, 0, host_count - 1, err));
    if (batch % host_count == 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION,
                     "loader: %lld hosts cannot share a batch of %lld rows evenly; the batch must "
                     "be a multiple of the number of hosts",
                     (long long)host_count, (long long)batch);
}

void leat_loader_expect_all(const leat_map *map) {
    leat_machine machine;
    leat_machine_look(leat_map_path(map), &machine);
    if (leat_map_size(map) <= machine.available_bytes / 2) leat_map_expect_all(map);
}
