/* What waits ask in between: whether the caller wants an end, and which time it is. */
#ifndef LEAT_CROWD_STOP_H
#define LEAT_CROWD_STOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Two clocks that cannot be set: while the machine sleeps, one stands still. */
typedef struct leat_clocks {
    int64_t (*awake_ns)(void *of);
    int64_t (*boot_ns)(void *of);
    void *of;
} leat_clocks;

typedef struct leat_stop {
    bool (*asked)(void *of); /* NULL: never */
    void *of;
    const leat_clocks *clocks; /* NULL: those of this machine */
} leat_stop;

static inline bool leat_stop_asked(const leat_stop *stop) {
    return stop != NULL && stop->asked != NULL && stop->asked(stop->of);
}

/* Those of `stop`, which may be NULL (pause.c). */
const leat_clocks *leat_stop_clocks(const leat_stop *stop);

/* A machine has slept if the clocks have moved apart by more than this: connections may be dead,
 * and what was due is late. */
#define LEAT_SLEPT_NS INT64_C(5000000000)

/* Time that the machine has slept since it was started. */
static inline int64_t leat_asleep_ns(const leat_clocks *clocks) {
    const int64_t awake_ns = clocks->awake_ns(clocks->of); /* first: the other one is ahead */
    return clocks->boot_ns(clocks->of) - awake_ns;
}

#endif
