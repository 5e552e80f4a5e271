/*
 * Loaders whose place is the number of a step: token and image loaders. What their calls do with
 * the ring, and with a state that holds the step.
 */
#ifndef LEAT_LOAD_STEPPED_H
#define LEAT_LOAD_STEPPED_H

#include "load/ring.h"
#include "load/state.h"

typedef struct leat_stepped {
    leat_ring *ring;
    int64_t end;          /* steps are below it */
    leat_state_form form; /* filled by leat_stepped_form */
    /* Called while the ring is parked, before it continues at a step; NULL: nothing is to be done.
     */
    void (*on_seek)(void *context, int64_t step);
    void *on_seek_context;
} leat_stepped;

/* The form of its states; the texts belong to the loader. */
leat_state_form leat_stepped_form(const char *fingerprint, const char *words, const char *hash,
                                  const char *const *unlisted, uint64_t seed);

/* In a forked child every call that can fail is LEAT_ERR_OPTION, and the wait is over at once. */
bool leat_stepped_wait(const leat_stepped *steps, int64_t timeout_ms);
/* *slot is NULL after the last step. */
LEAT_MUST_CHECK leat_code leat_stepped_next(const leat_stepped *steps, leat_slot **slot,
                                            leat_error *err);
LEAT_MUST_CHECK leat_code leat_stepped_seek(const leat_stepped *steps, int64_t step,
                                            leat_error *err);
void leat_stepped_state(const leat_stepped *steps, char text[LEAT_LOADER_STATE_BYTES]);
LEAT_MUST_CHECK leat_code leat_stepped_restore(const leat_stepped *steps, const char *text,
                                               leat_error *err);
LEAT_MUST_CHECK leat_code leat_stepped_save(const leat_stepped *steps, const char *path,
                                            bool replace, leat_error *err);
LEAT_MUST_CHECK leat_code leat_stepped_load(const leat_stepped *steps, const char *path,
                                            leat_error *err);

#endif
