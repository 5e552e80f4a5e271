/* Which rows or graphs a summary reads where it does not read all: see subset.h. */
#include "load/subset.h"

#include "base/rng.h"

#define SAMPLE_SEED UINT64_C(0x6c656174) /* any constant: the sample must not depend on options */
#define SAMPLE_STREAM 2

bool leat_subset_has(int64_t row, int64_t read_bytes, int64_t all_bytes) {
    if (read_bytes < 0 || read_bytes >= all_bytes) return true;
    double share = (double)read_bytes / (double)all_bytes;
    return leat_random_unit(leat_random(SAMPLE_SEED, SAMPLE_STREAM, (uint64_t)row)) < share;
}
