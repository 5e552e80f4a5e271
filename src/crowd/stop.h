/* Whether the caller wants an end: asked while something waits. */
#ifndef LEAT_CROWD_STOP_H
#define LEAT_CROWD_STOP_H

#include <stdbool.h>
#include <stddef.h>

typedef struct leat_stop {
    bool (*asked)(void *of); /* NULL: never */
    void *of;
} leat_stop;

static inline bool leat_stop_asked(const leat_stop *stop) {
    return stop != NULL && stop->asked != NULL && stop->asked(stop->of);
}

#endif
