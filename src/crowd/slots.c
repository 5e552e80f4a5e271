/* The slots of weights, state and parts: of two, one is in use and the other one is written. */
#include "base/thread.h"
#include "crowd/coordinator.h"

/* How long a reader of a slot is waited for: longer than the second after which the server ends an
 * autovacuum that is in the way. Whoever stays longer is a dump, which stays long: for a while
 * others are not made to wait for it. */
enum { CLEAR_WAIT_MS = 2000, CLEAR_SHORT_MS = 50 };
#define CLEAR_SHORT_NS INT64_C(30000000000)

leat_code leat_coordinator_encode(leat_coordinator *self, leat_error *err) {
    return leat_exchange_put_weights(self->exchange, self->weights, self->weights_hash, err);
}

leat_code leat_coordinator_clear(leat_coordinator *self, leat_database_kind kind, int slot,
                                 leat_error *err) {
    LEAT_ASSERT(self->hold.fence > 0 && self->hold.run == self->run);
    const bool brief = leat_clock_ns() < self->clear_briefly_until_ns;
    bool waited = false;
    LEAT_TRY(leat_database_clear(self->pg, &self->hold, kind, slot,
                                 brief ? CLEAR_SHORT_MS : CLEAR_WAIT_MS, &waited, err));
    if (waited && !brief) self->clear_briefly_until_ns = leat_clock_ns() + CLEAR_SHORT_NS;
    return LEAT_OK;
}

leat_code leat_coordinator_write(leat_coordinator *self, leat_database_kind kind, int slot,
                                 const uint8_t *bytes, int64_t size_bytes, leat_error *err) {
    /* what workers fetch, and what a resume would read, is never written over */
    LEAT_ASSERT(kind != LEAT_DATABASE_WEIGHTS || self->at.weights[0] == 0 ||
                slot != self->at.weights_slot);
    LEAT_ASSERT(kind != LEAT_DATABASE_STATE || self->at.state_step < 0 ||
                slot != self->at.state_slot);
    LEAT_TRY(leat_coordinator_clear(self, kind, slot, err));
    return leat_database_write(self->pg, &self->hold, kind, slot, bytes, size_bytes,
                               self->part_bytes, err);
}

leat_code leat_coordinator_write_state(leat_coordinator *self, int *slot, leat_error *err) {
    *slot = self->at.state_step < 0 ? 0 : 1 - self->at.state_slot;
    leat_exchange_put_state(self->exchange, self->state);
    leat_trainer_hash(self->session.trainer, self->state_hash);
    LEAT_TRY(leat_coordinator_write(self, LEAT_DATABASE_STATE, *slot, self->state,
                                    self->sizes.state, err));
    return LEAT_OK;
}
