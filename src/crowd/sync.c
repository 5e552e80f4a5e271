/*
 * After a start, a lost connection or a lost server: which step is next? The state in memory is
 * that of RUN's last checkpoint, or later; the database has an open step, and at most two states.
 *
 *     database behind    the commit did not happen, and is tried again; or RUN wins over a backup
 *                        that was restored, or a standby that was not up to date
 *     the same step      go on; results whose parts a crash has taken are put back
 *     database ahead     another coordinator was here: its newest state is read
 *
 * Any of these gives the same weights, because a step is a function of the state before it.
 */
#include <string.h>

#include "crowd/coordinator.h"

static int64_t step_of(const leat_coordinator *self) {
    return leat_trainer_state(self->session.trainer)->step;
}

/* Opens the step of the state in memory: its weights, then the step. */
static leat_code open_here(leat_coordinator *self, leat_error *err) {
    leat_database_opening of = {.step = step_of(self), .weights = self->weights_hash};
    of.slot = self->at.weights[0] == 0 ? 0 : 1 - self->at.weights_slot;
    LEAT_TRY(leat_coordinator_units(self, of.step, &of.units, err));
    LEAT_TRY(leat_coordinator_encode(self, err));
    LEAT_TRY(leat_coordinator_write(self, LEAT_DATABASE_WEIGHTS, of.slot, self->weights,
                                    self->sizes.weights, err));
    LEAT_TRY(leat_database_open_step(self->pg, &self->hold, &of, err));
    return leat_database_look(self->pg, self->run, &self->at, err);
}

/* Reads the state that the database has, which is later than the one in memory. If it is not all
 * there, as in a database that was restored from a dump without it, RUN's is what is left. */
static leat_code take_state(leat_coordinator *self, leat_error *err) {
    leat_error why = {0};
    const leat_database_into into = {self->state, self->sizes.state, self->part_bytes};
    const leat_code code = leat_database_read(self->pg, self->run, LEAT_DATABASE_STATE,
                                              self->at.state_slot, &into, &why);
    const bool missing = code == LEAT_ERR_NOT_FOUND || code == LEAT_ERR_CORRUPT;
    if (missing && leat_coordinator_is_new(self))
        return leat_fail(
            err, LEAT_ERR_INPUT,
            "the state of step %lld is not in the database (%.200s), and \"%.200s\" is "
            "a new folder: bring back the folder of the run, or a backup of the "
            "database with the tables leat.state_*",
            (long long)self->at.state_step, why.message, self->session.folder.path);
    if (missing) {
        leat_coordinator_say(self,
                             "the state of step %lld is not in the database; continues with the "
                             "folder's, at step %lld",
                             (long long)self->at.state_step, (long long)step_of(self));
        return LEAT_OK;
    }
    if (code != LEAT_OK) return leat_error_copy(err, &why);
    LEAT_TRY(leat_exchange_take_state(self->exchange, self->state, self->at.state, err));
    if (step_of(self) != self->at.state_step)
        return leat_fail(err, LEAT_ERR_CORRUPT,
                         "the database has a state of step %lld as that of step %lld",
                         (long long)step_of(self), (long long)self->at.state_step);
    leat_coordinator_say(self, "continues at step %lld, which the database has",
                         (long long)step_of(self));
    self->ledger_begun = false; /* what is between was another coordinator's */
    return leat_session_arrived(&self->session, err);
}

static leat_code same_step(leat_coordinator *self, leat_error *err) {
    bool there = false;
    int64_t units = 0;
    LEAT_TRY(leat_coordinator_units(self, step_of(self), &units, err));
    LEAT_TRY(leat_coordinator_encode(self, err));
    if (strcmp(self->at.weights, self->weights_hash) != 0) return open_here(self, err);
    if (self->at.units != units && units == 0) return open_here(self, err); /* it has ended early */
    if (self->at.units != units) {
        leat_coordinator_say(self,
                             "the database has %lld units of step %lld, which has %lld; it is "
                             "opened again",
                             (long long)self->at.units, (long long)step_of(self) + 1,
                             (long long)units);
        return open_here(self, err);
    }
    /* a database that was restored may lack what a dump has left out */
    LEAT_TRY(leat_database_has_weights(self->pg, self->run, self->at.weights_slot,
                                       self->sizes.weights, &there, err));
    return there ? LEAT_OK : open_here(self, err);
}

leat_code leat_coordinator_end_early(leat_coordinator *self, leat_error *err) {
    return self->at.units == 0 ? LEAT_OK : open_here(self, err);
}

static leat_code meet(leat_coordinator *self, leat_error *err) {
    LEAT_TRY(leat_database_look(self->pg, self->run, &self->at, err));
    if (self->at.state_step > step_of(self)) LEAT_TRY(take_state(self, err));
    if (self->at.step == step_of(self)) return same_step(self, err);
    if (self->taken.step >= 0 && self->at.step == self->taken.step &&
        step_of(self) == self->taken.step + 1) {
        leat_error why = {0};
        const leat_code code = leat_coordinator_commit(self, &why);
        if (code == LEAT_OK || !leat_database_is_elsewhere(self->pg))
            return leat_error_copy(err, &why);
        /* its units are no longer what they were: the database's history lacks the step */
    }
    if (self->at.step >= 0)
        leat_coordinator_say(self, "the database is at step %lld, the run continues at step %lld",
                             (long long)self->at.step, (long long)step_of(self));
    return open_here(self, err);
}

/* Results of the open step that a crash has taken, and tables of results that it has damaged. */
static leat_code recover(leat_coordinator *self, leat_error *err) {
    int64_t lost = 0;
    LEAT_TRY(leat_database_recover(self->pg, &self->hold, NULL, 0, &lost, err));
    if (lost > 0)
        leat_coordinator_say(self,
                             "%lld results are gone with a crash of the server, and will be "
                             "computed again",
                             (long long)lost);
    return LEAT_OK;
}

leat_code leat_coordinator_sync(leat_coordinator *self, leat_error *err) {
    LEAT_TRY(meet(self, err));
    LEAT_TRY(recover(self, err));
    LEAT_TRY(leat_database_usual(self->pg, self->run, step_of(self), &self->usual, err));
    /* also if the step was open before: a commit whose answer was lost has woken nobody */
    return leat_database_wake(self->pg, self->run, err);
}
