/* Committing a step: weights and state first, in fenced transactions of a part each, then one short
 * transaction that makes them the next step's. Before it, the ledger says whose results they are.
 */
#include <string.h>

#include "base/thread.h"
#include "crowd/coordinator.h"

static bool state_due(const leat_coordinator *self) {
    const int64_t step = leat_trainer_state(self->session.trainer)->step;
    return step == self->session.steps ||
           leat_clock_ns() - self->state_ns >= self->options->state_ms * INT64_C(1000000);
}

leat_code leat_coordinator_take(leat_coordinator *self, const leat_step_numbers *numbers,
                                leat_error *err) {
    const int64_t done = leat_trainer_state(self->session.trainer)->step; /* steps taken */
    int64_t samples = 0;
    LEAT_ASSERT(done > 0 && done <= self->session.steps);
    LEAT_TRY(leat_feed_position(&self->session.feed, done, &samples, err));
    LEAT_TRY(leat_coordinator_encode(self, err));
    leat_trainer_hash(self->session.trainer, self->state_hash);
    self->taken = (leat_database_step){.step = done - 1, .samples = samples};
    LEAT_TRY(leat_coordinator_units(self, done - 1, &self->taken.units, err));
    LEAT_TRY(leat_coordinator_units(self, done, &self->taken.next_units, err));
    self->taken.value_count = leat_step_values(numbers, self->taken.values);
    LEAT_ASSERT(self->taken.value_count == self->value_count); /* as many as the run has names */
    self->taken.norms = leat_usual_medians(self->norms, self->taken.units);
    leat_usual_put(&self->usual, done - 1, self->taken.norms);
    memcpy(self->taken.weights, self->weights_hash, sizeof self->taken.weights);
    memcpy(self->taken.state, self->state_hash, sizeof self->taken.state);
    return leat_coordinator_record_step(self, done - 1, err);
}

leat_code leat_coordinator_commit(leat_coordinator *self, leat_error *err) {
    leat_database_step *step = &self->taken;
    const int64_t done = leat_trainer_state(self->session.trainer)->step;
    LEAT_ASSERT(done == step->step + 1); /* no state is committed as another step's */
    step->weights_slot = 1 - self->at.weights_slot;
    step->state_slot = -1;
    LEAT_TRY(leat_coordinator_write(self, LEAT_DATABASE_WEIGHTS, step->weights_slot, self->weights,
                                    self->sizes.weights, err));
    if (state_due(self)) LEAT_TRY(leat_coordinator_write_state(self, &step->state_slot, err));
    LEAT_TRY(leat_database_commit(self->pg, &self->hold, step, err));
    if (step->state_slot >= 0) self->state_ns = leat_clock_ns();
    LEAT_TRY(leat_database_wake(self->pg, self->run, err));
    LEAT_TRY(leat_database_look(self->pg, self->run, &self->at, err));
    /* what was handed in for this step; if it stays, the next but one clears it */
    return leat_coordinator_clear(self, LEAT_DATABASE_PARTS, (int)(step->step % 2), err);
}
