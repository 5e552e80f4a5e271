/*
 * A desk between two threads: one puts work on it, the other one computes it. There is one unit on
 * it, and only one of them may touch that at a time, by the state:
 *
 *     EMPTY --put--> READY --> BUSY --> DONE or FAILED --clear--> EMPTY
 *
 * The computing thread changes READY and BUSY, the other one all else.
 */
#ifndef LEAT_CROWD_DESK_H
#define LEAT_CROWD_DESK_H

#include <pthread.h>

#include "base/error.h"

typedef enum leat_desk_state {
    LEAT_DESK_EMPTY,
    LEAT_DESK_READY,
    LEAT_DESK_BUSY,
    LEAT_DESK_DONE,
    LEAT_DESK_FAILED
} leat_desk_state;

typedef struct leat_desk {
    leat_code (*compute)(void *of, leat_error *err);
    void *of;
    leat_error why; /* FAILED */
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    leat_desk_state state;
    bool quit;
} leat_desk;

/* An empty one. */
void leat_desk_init(leat_desk *desk, leat_code (*compute)(void *of, leat_error *err), void *of);
/* Starts the thread that computes. */
LEAT_MUST_CHECK leat_code leat_desk_start(leat_desk *desk, leat_error *err);
leat_desk_state leat_desk_look(leat_desk *desk);
/* What lies there is to be computed; what was computed is taken away. */
void leat_desk_put(leat_desk *desk);
void leat_desk_clear(leat_desk *desk);
/* Until the state is no longer this one, or the time is over. */
void leat_desk_wait(leat_desk *desk, leat_desk_state state, int64_t ms);
/* No more work begins. The thread ends once it has computed what it has. */
void leat_desk_quit(leat_desk *desk);
void leat_desk_close(leat_desk *desk);

#endif
