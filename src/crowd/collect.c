/*
 * Adding the results of a step in order, while they arrive in any. Each is read once when it
 * arrives, judged, and confirmed; if it is not the next one, it is read again when it is its turn,
 * because the database keeps it until the step is committed, and memory stays that of one result.
 */
#include <stdio.h>
#include <string.h>

#include "base/thread.h"
#include "crowd/coordinator.h"

/* While nothing arrives, one look of so many asks more than whether something has. */
enum { BATCH = 64, FULL_LOOK = 8 };

typedef struct step_in_work {
    leat_coordinator *self;
    int64_t step, units;
    int64_t next;         /* to be added */
    leat_unit_norms most; /* of a result that is not strange */
    bool knows_most;
} step_in_work;

/* The next unit, whose payload is in self->payload. */
static leat_code add_next(step_in_work *of, leat_error *err) {
    leat_coordinator *self = of->self;
    leat_unit_numbers unit;
    /* in the order of units, whoever was first; the ledger will name this result */
    LEAT_ASSERT(of->next < of->units && self->counted[of->next].unit == of->next);
    LEAT_TRY(leat_exchange_read(self->exchange, of->next, self->payload, self->sizes.payload, &unit,
                                err));
    leat_exchange_measure_unit(self->exchange, &unit, &self->norms[of->next]);
    LEAT_TRY(leat_trainer_add(self->session.trainer, of->next, &unit, err));
    of->next++;
    return LEAT_OK;
}

/* Computes a unit here: its bytes, in self->payload. */
static leat_code compute(leat_coordinator *self, int64_t unit, char hash[65], leat_error *err) {
    return leat_exchange_compute(self->exchange, unit, self->payload, hash, err);
}

/* What a result may have at most. Where the steps before say nothing, such as in the first one, a
 * unit is computed here for it: to let any number count once would make it what is usual. */
static leat_code learn_most(step_in_work *of, leat_error *err) {
    leat_coordinator *self = of->self;
    const int64_t outlier = self->options->outlier;
    leat_usual first;
    leat_unit_numbers unit;
    leat_unit_norms norms;
    char hash[65];
    if (of->knows_most) return LEAT_OK;
    if (!leat_usual_limits(&self->usual, of->step, outlier, &of->most)) {
        LEAT_TRY(compute(self, 0, hash, err));
        LEAT_TRY(
            leat_exchange_read(self->exchange, 0, self->payload, self->sizes.payload, &unit, err));
        leat_exchange_measure_unit(self->exchange, &unit, &norms);
        leat_usual_clear(&first);
        leat_usual_put(&first, 0, norms);
        (void)leat_usual_limits(&first, 1, outlier, &of->most); /* there are some now */
    }
    of->knows_most = true;
    return LEAT_OK;
}

/* What was computed here, and is in self->payload, is the result of the unit. */
static leat_code take_own(step_in_work *of, int64_t unit, const char hash[65], leat_error *err) {
    leat_coordinator *self = of->self;
    bool done = false;
    LEAT_TRY(leat_database_own_result(self->pg, &self->hold, of->step, unit, hash, &done, err));
    self->result->own += done;
    if (!done || unit != of->next) return LEAT_OK;
    self->counted[unit] = (leat_database_result){.unit = unit};
    memcpy(self->counted[unit].hash, hash, sizeof self->counted[unit].hash);
    return add_next(of, err);
}

/* Computed here because nobody else can. */
static leat_code own(step_in_work *of, int64_t unit, leat_error *err) {
    char hash[65];
    LEAT_TRY(compute(of->self, unit, hash, err));
    return take_own(of, unit, hash, err);
}

/* What the coordinator thinks of a result. */
typedef struct verdict {
    char why[256]; /* it does not count; "": it does */
    char own[65];  /* hash of the unit as computed here, now in self->payload; "": it was not */
} verdict;

/* Judges a result, whose payload is in self->payload. */
static leat_code judge(step_in_work *of, const leat_database_result *result, verdict *out,
                       leat_error *err) {
    leat_coordinator *self = of->self;
    leat_unit_numbers unit;
    leat_error said = {0};
    uint8_t digest[32];
    char hash[65], strange[LEAT_EXCHANGE_WORDS_BYTES];
    *out = (verdict){0};
    leat_payload_hash(self->payload, self->sizes.payload, digest);
    leat_sha256_hex(digest, hash);
    if (strcmp(hash, result->hash) != 0) {
        snprintf(out->why, sizeof out->why, "its bytes do not have its hash");
        return LEAT_OK;
    }
    if (leat_exchange_read(self->exchange, result->unit, self->payload, self->sizes.payload, &unit,
                           &said) != LEAT_OK) {
        snprintf(out->why, sizeof out->why, "%.250s", said.message);
        return LEAT_OK;
    }
    if (leat_exchange_is_sound(self->exchange, &unit, &of->most, strange)) return LEAT_OK;
    /* strange, but perhaps so is the unit; the same hash means that these are the same bytes */
    LEAT_TRY(compute(self, result->unit, out->own, err));
    if (strcmp(out->own, result->hash) == 0) out->own[0] = 0;
    else snprintf(out->why, sizeof out->why, "%s, and the unit gives another result", strange);
    return LEAT_OK;
}

/* A result does not count; *done: it was still there. */
static leat_code refuse(step_in_work *of, const leat_database_result *result, const verdict *found,
                        bool *done, leat_error *err) {
    leat_coordinator *self = of->self;
    const bool mismatch = found->own[0] != 0; /* it is not what its unit gives */
    leat_coordinator_say(self, "step %lld, unit %lld of %s is refused: %s", (long long)of->step + 1,
                         (long long)result->unit, result->account, found->why);
    LEAT_TRY(leat_database_refuse(self->pg, &self->hold, of->step, result, mismatch, found->why,
                                  done, err));
    self->result->refused += *done;
    if (!*done) return LEAT_OK;
    return leat_coordinator_record_refused(self, of->step, result, mismatch, found->why, err);
}

/* Reads and judges one result, and adds it, or the coordinator's own in its place, if it is next.
 */
static leat_code receive(step_in_work *of, const leat_database_result *result, leat_error *err) {
    leat_coordinator *self = of->self;
    verdict found;
    bool done = false;
    leat_error said = {0};
    const leat_database_into into = {self->payload, self->sizes.payload, self->part_bytes};
    LEAT_TRY(learn_most(of, err));
    leat_code code =
        leat_database_payload(self->pg, self->run, of->step, result->lease, &into, &said);
    if (code == LEAT_ERR_NOT_FOUND || code == LEAT_ERR_CORRUPT)
        return leat_database_refuse(self->pg, &self->hold, of->step, result, false, "", &done, err);
    if (code != LEAT_OK) return leat_error_copy(err, &said);
    LEAT_TRY(judge(of, result, &found, err));
    if (found.why[0] != 0) {
        LEAT_TRY(refuse(of, result, &found, &done, err));
        if (!done || found.own[0] == 0) return LEAT_OK;
        return take_own(of, result->unit, found.own, err);
    }
    LEAT_TRY(leat_database_confirm(self->pg, &self->hold, of->step, result, &done, err));
    self->result->arrived += done;
    if (!done || result->unit != of->next) return LEAT_OK;
    self->counted[of->next] = *result;
    return add_next(of, err);
}

leat_code leat_coordinator_doubt(leat_coordinator *self, bool *some, leat_error *err) {
    step_in_work of = {.self = self,
                       .step = leat_trainer_state(self->session.trainer)->step,
                       .units = leat_trainer_units(self->session.trainer),
                       .next = -1}; /* nothing is added here */
    *some = false;
    for (int64_t k = 0; k < of.units; k++) {
        const leat_database_result *result = &self->counted[k];
        verdict found = {"the step diverges with it, and the unit gives another result", ""};
        bool done = false;
        if (leat_coordinator_stopped(self))
            return leat_fail(err, LEAT_ERR_CANCELLED, "stopped in step %lld",
                             (long long)of.step + 1);
        if (result->lease == 0) continue;
        LEAT_TRY(compute(self, k, found.own, err));
        if (strcmp(found.own, result->hash) == 0) continue;
        *some = true;
        LEAT_TRY(refuse(&of, result, &found, &done, err));
        LEAT_TRY(take_own(&of, k, found.own, err));
    }
    return LEAT_OK;
}

/* The payload of a confirmed result, which must still be what was confirmed: *same. If it is not,
 * somebody computes the unit again. */
static leat_code read_again(step_in_work *of, const leat_database_result *result, bool *same,
                            leat_error *err) {
    leat_coordinator *self = of->self;
    leat_error why = {0};
    uint8_t digest[32];
    char found[65] = "";
    bool done = false;
    const leat_database_into into = {self->payload, self->sizes.payload, self->part_bytes};
    const leat_code code =
        leat_database_payload(self->pg, self->run, of->step, result->lease, &into, &why);
    if (code != LEAT_OK && code != LEAT_ERR_CORRUPT) return leat_error_copy(err, &why);
    if (code == LEAT_OK) {
        leat_payload_hash(self->payload, self->sizes.payload, digest);
        leat_sha256_hex(digest, found);
    }
    *same = strcmp(found, result->hash) == 0;
    if (*same) return LEAT_OK;
    leat_coordinator_say(self, "step %lld, unit %lld: the database has other bytes than before",
                         (long long)of->step + 1, (long long)of->next);
    return leat_database_refuse(self->pg, &self->hold, of->step, result, false, "", &done, err);
}

/* Adds what is confirmed and next. */
static leat_code add_confirmed(step_in_work *of, leat_error *err) {
    leat_coordinator *self = of->self;
    while (of->next < of->units) {
        bool there = false, same = true;
        leat_database_result *result = &self->counted[of->next];
        char own_hash[65];
        LEAT_TRY(
            leat_database_confirmed(self->pg, self->run, of->step, of->next, &there, result, err));
        if (!there) return LEAT_OK;
        if (result->lease == 0) {
            LEAT_TRY(compute(self, of->next, own_hash, err));
            memcpy(result->hash, own_hash, sizeof own_hash); /* the ledger names what is added */
        } else LEAT_TRY(read_again(of, result, &same, err));
        if (!same) return LEAT_OK;
        LEAT_TRY(add_next(of, err));
    }
    return LEAT_OK;
}

static leat_code compute_hopeless(step_in_work *of, int *count, leat_error *err) {
    int64_t units[BATCH];
    LEAT_TRY(leat_database_hopeless(of->self->pg, of->self->run, units, BATCH, count, err));
    for (int i = 0; i < *count; i++) {
        leat_coordinator_say(of->self,
                             "step %lld, unit %lld: no machine can compute it; computed here",
                             (long long)of->step + 1, (long long)units[i]);
        LEAT_TRY(own(of, units[i], err));
    }
    return LEAT_OK;
}

/* Says, once, that no machine is there to compute what is missing. *since_ns: from when nothing has
 * arrived, or it was last asked. */
static leat_code look_for_machines(leat_coordinator *self, int64_t *since_ns, leat_error *err) {
    const int64_t now_ns = leat_clock_ns(), silent_ms = self->options->silent_ms;
    int64_t machines = 0;
    if (self->alone || now_ns - *since_ns < silent_ms * 1000000) return LEAT_OK;
    *since_ns = now_ns;
    LEAT_TRY(leat_database_machines(self->pg, self->run, silent_ms, &machines, err));
    self->alone = machines == 0;
    if (self->alone)
        leat_coordinator_say(self, "no machine works on the run; it waits until one does");
    return LEAT_OK;
}

leat_code leat_coordinator_collect(leat_coordinator *self, leat_error *err) {
    step_in_work of = {.self = self,
                       .step = leat_trainer_state(self->session.trainer)->step,
                       .units = leat_trainer_units(self->session.trainer)};
    int quiet = 0; /* looks in a row that found nothing */
    int64_t since_ns = leat_clock_ns();
    while (of.next < of.units) {
        leat_database_result results[BATCH];
        int count = 0, hopeless = 0;
        if (leat_coordinator_stopped(self))
            return leat_fail(err, LEAT_ERR_CANCELLED, "stopped in step %lld",
                             (long long)of.step + 1);
        LEAT_TRY(leat_database_arrived(self->pg, self->run, results, BATCH, &count, err));
        for (int i = 0; i < count; i++) LEAT_TRY(receive(&of, &results[i], err));
        leat_coordinator_say_blockers(self);
        const int64_t before = of.next;
        const bool full = count > 0 || quiet % FULL_LOOK == 0;
        if (full) LEAT_TRY(add_confirmed(&of, err));
        if (count > 0 || of.next > before) {
            quiet = 0;
            since_ns = leat_clock_ns();
            self->alone = false;
            continue;
        }
        if (full) LEAT_TRY(compute_hopeless(&of, &hopeless, err));
        if (full) LEAT_TRY(look_for_machines(self, &since_ns, err));
        quiet = hopeless > 0 ? 0 : quiet + 1;
        (void)leat_pause_sleep(self->options->poll_ms, &self->stop);
    }
    return LEAT_OK;
}
