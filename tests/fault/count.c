/* Counted bytes: see count.h. */
#include "count.h"

#include <stdatomic.h>

static _Atomic int64_t live, peak;

void count_add(int64_t bytes) {
    const int64_t now = atomic_fetch_add(&live, bytes) + bytes;
    int64_t most = atomic_load(&peak);
    while (now > most && !atomic_compare_exchange_weak(&peak, &most, now)) continue;
}

int64_t count_live(void) { return atomic_load(&live); }
int64_t count_peak(void) { return atomic_load(&peak); }
void count_restart(void) { atomic_store(&peak, atomic_load(&live)); }
