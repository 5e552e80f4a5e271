/* See desk.h. */
#include "crowd/desk.h"

#include <time.h>

#include "base/thread.h"

void leat_desk_init(leat_desk *desk, leat_code (*compute)(void *of, leat_error *err), void *of) {
    pthread_condattr_t monotonic;
    *desk = (leat_desk){.compute = compute, .of = of};
    pthread_mutex_init(&desk->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&desk->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

static void *compute_main(void *argument) {
    leat_desk *desk = argument;
    pthread_mutex_lock(&desk->lock);
    while (!desk->quit) {
        if (desk->state != LEAT_DESK_READY) {
            pthread_cond_wait(&desk->changed, &desk->lock);
            continue;
        }
        desk->state = LEAT_DESK_BUSY;
        pthread_mutex_unlock(&desk->lock);
        const leat_code code = desk->compute(desk->of, &desk->why);
        pthread_mutex_lock(&desk->lock);
        LEAT_ASSERT(desk->state == LEAT_DESK_BUSY); /* nobody took it away meanwhile */
        desk->state = code == LEAT_OK ? LEAT_DESK_DONE : LEAT_DESK_FAILED;
        pthread_cond_broadcast(&desk->changed);
    }
    pthread_mutex_unlock(&desk->lock);
    return NULL;
}

leat_code leat_desk_start(leat_desk *desk, leat_error *err) {
    LEAT_ASSERT(!desk->has_thread);
    LEAT_TRY(leat_thread_start(&desk->thread, compute_main, desk, err));
    desk->has_thread = true;
    return LEAT_OK;
}

leat_desk_state leat_desk_look(leat_desk *desk) {
    pthread_mutex_lock(&desk->lock);
    const leat_desk_state state = desk->state;
    pthread_mutex_unlock(&desk->lock);
    return state;
}

void leat_desk_put(leat_desk *desk) {
    pthread_mutex_lock(&desk->lock);
    LEAT_ASSERT(desk->has_thread && desk->state == LEAT_DESK_EMPTY);
    desk->state = LEAT_DESK_READY;
    pthread_cond_broadcast(&desk->changed);
    pthread_mutex_unlock(&desk->lock);
}

void leat_desk_clear(leat_desk *desk) {
    pthread_mutex_lock(&desk->lock);
    LEAT_ASSERT(desk->state == LEAT_DESK_DONE || desk->state == LEAT_DESK_FAILED);
    desk->state = LEAT_DESK_EMPTY;
    pthread_mutex_unlock(&desk->lock);
}

void leat_desk_wait(leat_desk *desk, leat_desk_state state, int64_t ms) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += ms % 1000 * 1000000;
    until.tv_sec += ms / 1000 + until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&desk->lock);
    if (desk->state == state) pthread_cond_timedwait(&desk->changed, &desk->lock, &until);
    pthread_mutex_unlock(&desk->lock);
}

void leat_desk_quit(leat_desk *desk) {
    pthread_mutex_lock(&desk->lock);
    desk->quit = true;
    pthread_cond_broadcast(&desk->changed);
    pthread_mutex_unlock(&desk->lock);
}

void leat_desk_close(leat_desk *desk) {
    leat_desk_quit(desk);
    if (desk->has_thread) pthread_join(desk->thread, NULL);
    pthread_cond_destroy(&desk->changed);
    pthread_mutex_destroy(&desk->lock);
}
