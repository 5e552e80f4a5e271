/* Waiting, seeking and states of loaders by step: see stepped.h. */
#include "load/stepped.h"

#include <string.h>

leat_state_form leat_stepped_form(const char *fingerprint, const char *words, const char *hash,
                                  const char *const *unlisted, uint64_t seed) {
    return (leat_state_form){
        .fingerprint = fingerprint,
        .words = words,
        .hash = hash,
        .unlisted = unlisted,
        .seed = seed,
        .place_count = 1,
        .place_name = {"step"},
        .place_max = LEAT_STEPS_MAX,
    };
}

static bool at_end(const leat_stepped *steps) { return leat_ring_step(steps->ring) >= steps->end; }

bool leat_stepped_wait(const leat_stepped *steps, int64_t timeout_ms) {
    if (leat_ring_check_process(steps->ring, NULL) != LEAT_OK || at_end(steps)) return true;
    return leat_ring_wait(steps->ring, timeout_ms);
}

leat_code leat_stepped_next(const leat_stepped *steps, leat_slot **slot, leat_error *err) {
    *slot = NULL;
    LEAT_TRY(leat_ring_check_process(steps->ring, err));
    return at_end(steps) ? LEAT_OK : leat_ring_next(steps->ring, slot, err);
}

leat_code leat_stepped_seek(const leat_stepped *steps, int64_t step, leat_error *err) {
    LEAT_TRY(leat_ring_check_process(steps->ring, err));
    if (step < 0 || step > steps->end) {
        return leat_fail(err, LEAT_ERR_OPTION, "no step %lld: steps are 0 to %lld", (long long)step,
                         (long long)steps->end);
    }
    leat_ring_park(steps->ring);
    if (steps->on_seek != NULL) steps->on_seek(steps->on_seek_context, step);
    leat_ring_seek(steps->ring, step, steps->end);
    return LEAT_OK;
}

void leat_stepped_state(const leat_stepped *steps, char text[LEAT_LOADER_STATE_BYTES]) {
    int64_t step = leat_ring_step(steps->ring);
    leat_state_text(&steps->form, &step, text);
}

leat_code leat_stepped_save(const leat_stepped *steps, const char *path, bool replace,
                            leat_error *err) {
    int64_t step = leat_ring_step(steps->ring);
    return leat_state_save(&steps->form, &step, path, replace, err);
}

leat_code leat_stepped_restore(const leat_stepped *steps, const char *text, leat_error *err) {
    int64_t step = 0;
    LEAT_TRY(leat_ring_check_process(steps->ring, err));
    LEAT_TRY(leat_state_parse(&steps->form, text, (int64_t)strlen(text), &step, err));
    return leat_stepped_seek(steps, step, err);
}

leat_code leat_stepped_load(const leat_stepped *steps, const char *path, leat_error *err) {
    int64_t step = 0;
    LEAT_TRY(leat_ring_check_process(steps->ring, err));
    LEAT_TRY(leat_state_load(&steps->form, path, &step, err));
    return leat_stepped_seek(steps, step, err);
}
