/*
 * Machines and a coordinator on a virtual clock: see plan.h. A machine does one thing after the
 * other over its connection, and computes meanwhile, in the order of step() of work.c; it is in the
 * timetable with the instant at which something is due next. A link that several share gives each
 * part its turn, so that a part is there when both its machine's link and the shared one are done
 * with it.
 */
#include "crowd/plan.h"

#include <string.h>

#include "base/mem.h"
#include "base/portable_math.h"
#include "base/rng.h"
#include "leat/crowd.h"

#define NEVER INT64_MAX
#define SECOND INT64_C(1000000)
#define STEP_MOST_US (INT64_C(30 * 86400) * SECOND)
#define BITS_MIN INT64_C(1000)
/* SLICE_US as SLICE_MS of work.c, BATCH as in collect.c. */
enum { SLICE_US = 100000, BATCH = 64 };
enum { STREAM_SPEED = 1, STREAM_PAUSE };

typedef enum desk { EMPTY, BUSY, COMPUTED } desk;
typedef enum call { NO_CALL, FETCHES, FETCHES_SAMPLES, PUTS, CALLS } call;

typedef struct worker {
    int64_t unit_us;
    desk desk;
    int64_t began, ends; /* of what is on the desk */
    leat_plan_lease computing, next, sending;
    int64_t renewed, next_renewed, sent; /* when */
    int64_t next_step;                   /* of `next` */
    int64_t weights_step;                /* whose weights are here; -1: none */
    int64_t weights_bytes;               /* of those of next_step, that are here */
    int64_t samples_bytes;               /* of those of `next`, that are here */
    int64_t gone_step;
    int64_t next_part;
    int64_t asked, wait; /* asked NEVER: asks at once */
    uint64_t pauses;     /* drawn so far */
    call call;
    int64_t call_ends;
    bool idle, notified;
    int64_t idle_since;
    int64_t place; /* in the timetable */
} worker;

typedef enum unit_state { MISSING, ARRIVED, CONFIRMED } unit_state;

/* The coordinator of collect.c: looks, reads what has arrived, then what is next. While it SLEEPS,
 * its looks would find nothing. */
typedef enum phase { LOOKS, READS, READS_AGAIN, SLEEPS, COMMITS } phase;
typedef struct coordinator {
    phase phase;
    int64_t batch[BATCH], count, at; /* units that are read */
    int64_t next;                    /* to be added */
    int64_t before;                  /* of it, when it looked */
    int64_t slept;                   /* since when it sleeps */
} coordinator;

typedef struct play {
    const leat_plan_setting *setting;
    const leat_plan_books *books;
    worker *workers;
    coordinator coordinator;
    unit_state *units;
    int64_t arrived, first_arrived; /* units that are ARRIVED; no one before this one is */
    int64_t step, now;
    int64_t up_free, down_free; /* the server's link, each way */
    int64_t *due;               /* of each worker, then of the coordinator */
    int64_t *order;             /* a heap of them, by what is due first */
    int64_t *places;            /* of each of them in the heap */
    leat_plan_sums sums;
    int64_t since, opened; /* when the second step was opened; the one that is open */
} play;

/* ---- The timetable --------------------------------------------------------------------------- */

static bool is_before(const play *of, int64_t a, int64_t b) {
    return of->due[a] != of->due[b] ? of->due[a] < of->due[b] : a < b;
}

static void seat(play *of, int64_t who, int64_t place) {
    of->order[place] = who;
    of->places[who] = place;
}

static void set_due(play *of, int64_t who, int64_t due) {
    const int64_t count = of->setting->workers + 1;
    int64_t place = of->places[who];
    of->due[who] = due;
    while (place > 0 && is_before(of, who, of->order[(place - 1) / 2])) {
        seat(of, of->order[(place - 1) / 2], place);
        place = (place - 1) / 2;
    }
    for (;;) {
        int64_t child = 2 * place + 1;
        if (child + 1 < count && is_before(of, of->order[child + 1], of->order[child])) child++;
        if (child >= count || !is_before(of, of->order[child], who)) break;
        seat(of, of->order[child], place);
        place = child;
    }
    seat(of, who, place);
}

/* ---- Links ----------------------------------------------------------------------------------- */

static int64_t link_us(int64_t bytes, int64_t bits) {
    return bits == 0 ? 0 : (bytes * 8 * SECOND + bits - 1) / bits;
}

/* When a part that begins now has passed both links. */
static int64_t pass(play *of, int64_t bytes, int64_t own_bits, int64_t *server_free) {
    const int64_t own = of->now + link_us(bytes, own_bits);
    const int64_t begins = *server_free > of->now ? *server_free : of->now;
    *server_free = begins + link_us(bytes, of->setting->server_bits);
    return (own > *server_free ? own : *server_free) + of->setting->call_us;
}

static int64_t part_of(const play *of, int64_t whole, int64_t done) {
    const int64_t left = whole - done, part = of->setting->part_bytes;
    return left < part ? left : part;
}

/* ---- A machine ------------------------------------------------------------------------------- */

static bool counts(const play *of) { return of->step > 0; } /* not the first step */

/* rest of work.c: between half of the pause and all of it. */
static void rest(play *of, worker *w, int64_t number) {
    const int64_t half = of->setting->ask_us / 2;
    const uint64_t draw =
        leat_random(of->setting->seed, STREAM_PAUSE + 2 * (uint64_t)number, w->pauses++);
    w->wait = half + (int64_t)leat_random_below(draw, (uint64_t)half + 1);
    w->asked = of->now;
}

/* A call without bytes. */
static void called(play *of, worker *w) {
    w->call = of->setting->call_us > 0 ? CALLS : NO_CALL;
    w->call_ends = of->now + of->setting->call_us;
}

/* What is on the desk ends: computed, perhaps during a call that ended only now, or given up. */
static void leave_desk(play *of, worker *w, bool finished) {
    const int64_t ended = of->now < w->ends ? of->now : w->ends;
    if (counts(of)) of->sums.spent_us += (double)(ended - w->began);
    if (counts(of) && finished) of->sums.finished++;
    if (counts(of) && !finished) of->sums.abandoned++;
    w->ends = of->now;
}

/* `ahead`: while another one is computed. */
static leat_code claim(play *of, worker *w, int64_t number, bool ahead, leat_error *err) {
    const leat_plan_books *books = of->books;
    if (ahead)
        LEAT_TRY(books->claim_ahead(books->of, of->now, number, w->computing.lease, &w->next, err));
    else LEAT_TRY(books->claim(books->of, of->now, number, w->sending.lease, &w->next, err));
    called(of, w);
    if (w->next.lease == 0) {
        rest(of, w, number);
        return LEAT_OK;
    }
    if (counts(of)) of->sums.copies += w->next.copy;
    w->next_step = of->step;
    w->next_renewed = of->now;
    w->weights_bytes = w->samples_bytes = 0;
    return LEAT_OK;
}

/* leave_next and restart of work.c: its weights were replaced while they were fetched. */
static leat_code restart(play *of, worker *w, int64_t number, leat_error *err) {
    const leat_plan_lease lease = w->next;
    const bool newer = w->next_step != w->gone_step;
    w->gone_step = w->next_step;
    w->next.lease = 0;
    rest(of, w, number);
    if (newer) w->asked = NEVER;
    return of->books->release(of->books->of, of->now, number, &lease, err);
}

static void begin_next(play *of, worker *w) {
    LEAT_ASSERT(w->desk == EMPTY && w->computing.lease == 0);
    w->computing = w->next;
    w->next.lease = 0;
    w->renewed = w->next_renewed;
    w->asked = NEVER;
    w->desk = BUSY;
    w->began = of->now;
    w->ends = of->now + w->unit_us;
}

static void take_result(worker *w) {
    w->sending = w->computing;
    w->computing.lease = 0;
    w->sent = w->renewed;
    w->next_part = 0;
    w->asked = NEVER;
    w->desk = EMPTY;
}

static void start_fetch(play *of, worker *w) {
    w->call = FETCHES;
    w->call_ends = pass(of, part_of(of, of->setting->weights_bytes, w->weights_bytes),
                        of->setting->down_bits, &of->down_free);
}

static void start_fetch_samples(play *of, worker *w) {
    w->call = FETCHES_SAMPLES;
    w->call_ends = pass(of, part_of(of, of->setting->sample_bytes, w->samples_bytes),
                        of->setting->down_bits, &of->down_free);
}

static void end_fetch_samples(play *of, worker *w) {
    const int64_t size = part_of(of, of->setting->sample_bytes, w->samples_bytes);
    if (counts(of)) of->sums.down_bytes += size;
    w->samples_bytes += size;
}

/* A part of the weights is here, or they are replaced. */
static leat_code end_fetch(play *of, worker *w, int64_t number, leat_error *err) {
    const int64_t whole = of->setting->weights_bytes, size = part_of(of, whole, w->weights_bytes);
    if (w->next_step != of->step) return restart(of, w, number, err);
    if (counts(of)) of->sums.down_bytes += size;
    w->weights_bytes += size;
    if (w->weights_bytes == whole) w->weights_step = w->next_step;
    return LEAT_OK;
}

static int64_t sent_bytes(const play *of, const worker *w) {
    return w->next_part * of->setting->part_bytes;
}

static leat_code end_put(play *of, worker *w, int64_t number, leat_error *err) {
    bool over = false;
    if (counts(of)) of->sums.up_bytes += part_of(of, of->setting->payload_bytes, sent_bytes(of, w));
    LEAT_TRY(of->books->put(of->books->of, of->now, number, &w->sending, w->next_part, &over, err));
    w->next_part++;
    w->sent = of->now;
    if (over) w->sending.lease = 0;
    return LEAT_OK;
}

/* The coordinator finds it with its next look. */
static void wake(play *of) {
    coordinator *self = &of->coordinator;
    const int64_t poll = of->setting->poll_us;
    if (self->phase != SLEEPS) return;
    self->phase = LOOKS;
    set_due(of, of->setting->workers, self->slept + ((of->now - self->slept) / poll + 1) * poll);
}

static leat_code submit(play *of, worker *w, int64_t number, leat_error *err) {
    bool over = false;
    const int64_t unit = w->sending.unit;
    LEAT_TRY(of->books->submit(of->books->of, of->now, number, &w->sending, &over, err));
    w->sending.lease = 0;
    called(of, w);
    if (over) return LEAT_OK;
    LEAT_ASSERT(of->units[unit] == MISSING);
    of->units[unit] = ARRIVED;
    of->arrived++;
    wake(of);
    if (unit < of->first_arrived) of->first_arrived = unit;
    if (counts(of)) of->sums.useful_us += (double)w->unit_us;
    if (counts(of)) of->sums.counted++;
    return LEAT_OK;
}

/* send_part of work.c */
static leat_code send(play *of, worker *w, int64_t number, leat_error *err) {
    const int64_t done = sent_bytes(of, w);
    if (done >= of->setting->payload_bytes) return submit(of, w, number, err);
    w->call = PUTS;
    w->call_ends =
        pass(of, part_of(of, of->setting->payload_bytes, done), of->setting->up_bits, &of->up_free);
    return LEAT_OK;
}

/* Of the unit that is computed; if another machine was faster, it is given up. */
static leat_code renew(play *of, worker *w, int64_t number, leat_error *err) {
    bool over = false;
    LEAT_TRY(of->books->renew(of->books->of, of->now, number, &w->computing, &over, err));
    called(of, w);
    w->renewed = of->now;
    if (!over) return LEAT_OK;
    w->computing.lease = 0;
    if (w->desk != BUSY) return LEAT_OK;
    leave_desk(of, w, false);
    w->desk = COMPUTED;
    return LEAT_OK;
}

static leat_code renew_next(play *of, worker *w, int64_t number, leat_error *err) {
    bool over = false;
    LEAT_TRY(of->books->renew(of->books->of, of->now, number, &w->next, &over, err));
    called(of, w);
    w->next_renewed = of->now;
    if (over) w->next.lease = 0;
    return LEAT_OK;
}

static bool is_due(const play *of, const leat_plan_lease *lease, int64_t since) {
    return lease->lease != 0 && of->now - since >= of->setting->renew_us;
}

/* Whether a claim is possible: nothing is computed, or samples of the next unit could be fetched
 * meanwhile. */
static bool wants_unit(const play *of, const worker *w) {
    if (w->next.lease != 0) return false;
    return w->desk == EMPTY ||
           (of->setting->sample_bytes > 0 && w->computing.lease != 0 && w->sending.lease == 0);
}

/* Fetches what the next unit needs, a part at a time, and then begins it; false: it waits. */
static bool prepare_next(play *of, worker *w) {
    if (w->samples_bytes < of->setting->sample_bytes) start_fetch_samples(of, w);
    else if (w->desk != EMPTY) return false;
    else if (w->weights_step == w->next_step) begin_next(of, w);
    else start_fetch(of, w);
    return true;
}

/* step of work.c, once; w->idle: nothing was due. */
static leat_code act(play *of, worker *w, int64_t number, leat_error *err) {
    if (w->desk == BUSY && of->now >= w->ends) {
        leave_desk(of, w, true);
        w->desk = COMPUTED;
    }
    if (w->desk == COMPUTED && w->computing.lease == 0) { /* lost meanwhile */
        w->asked = NEVER;
        w->desk = EMPTY;
        return LEAT_OK;
    }
    if (w->desk == COMPUTED && w->sending.lease == 0) {
        take_result(w);
        return LEAT_OK;
    }
    if (w->desk != EMPTY && is_due(of, &w->computing, w->renewed)) return renew(of, w, number, err);
    if (is_due(of, &w->next, w->next_renewed)) return renew_next(of, w, number, err);
    if (is_due(of, &w->sending, w->sent)) return send(of, w, number, err);
    if (w->next.lease != 0 && prepare_next(of, w)) return LEAT_OK;
    if (wants_unit(of, w) && (w->asked == NEVER || of->now - w->asked >= w->wait))
        return claim(of, w, number, w->desk != EMPTY, err);
    if (w->sending.lease != 0) return send(of, w, number, err);
    w->idle = true;
    w->idle_since = of->now;
    return LEAT_OK;
}

static int64_t sooner(int64_t a, int64_t b) { return a < b ? a : b; }

/* When an idle machine has something to do; it hears of a new step at the end of a slice. */
static int64_t next_due(const play *of, const worker *w) {
    const int64_t slice = of->setting->ask_us < SLICE_US ? of->setting->ask_us : SLICE_US;
    int64_t due = NEVER;
    if (w->desk == BUSY) due = w->ends;
    if (w->computing.lease != 0) due = sooner(due, w->renewed + of->setting->renew_us);
    if (w->next.lease != 0) due = sooner(due, w->next_renewed + of->setting->renew_us);
    if (wants_unit(of, w)) due = sooner(due, w->asked + w->wait);
    if (w->notified)
        due = sooner(due, w->idle_since + ((of->now - w->idle_since) / slice + 1) * slice);
    return due;
}

static leat_code end_call(play *of, worker *w, int64_t number, leat_error *err) {
    const call ended = w->call;
    if (ended == NO_CALL || of->now < w->call_ends) return LEAT_OK;
    w->call = NO_CALL;
    if (ended == FETCHES_SAMPLES) end_fetch_samples(of, w);
    if (ended == FETCHES) return end_fetch(of, w, number, err);
    if (ended == PUTS) return end_put(of, w, number, err);
    return LEAT_OK;
}

/* Of a new step. */
static void hear(worker *w) {
    w->asked = NEVER;
    w->notified = false;
}

static leat_code turn(play *of, int64_t number, leat_error *err) {
    worker *w = &of->workers[number];
    LEAT_TRY(end_call(of, w, number, err));
    if (w->idle && w->notified) hear(w);
    w->idle = false;
    while (w->call == NO_CALL && !w->idle) LEAT_TRY(act(of, w, number, err));
    set_due(of, number, w->idle ? next_due(of, w) : w->call_ends);
    return LEAT_OK;
}

/* ---- The coordinator ------------------------------------------------------------------------- */

static void wait_for(play *of, int64_t us) { set_due(of, of->setting->workers, of->now + us); }

static void wait_for_result(play *of) {
    if (counts(of)) of->sums.read_us += of->setting->read_us;
    wait_for(of, of->setting->read_us);
}

/* The units that have arrived, the first BATCH by number. */
static void look(play *of) {
    coordinator *self = &of->coordinator;
    self->count = self->at = 0;
    self->before = self->next;
    for (int64_t k = of->first_arrived; self->count < of->arrived && self->count < BATCH; k++)
        if (of->units[k] == ARRIVED) self->batch[self->count++] = k;
    of->first_arrived = self->count > 0 ? self->batch[0] : of->setting->units;
}

/* Adds what was read again, if something was, and reads what is next again. */
static bool reads_again(play *of) {
    coordinator *self = &of->coordinator;
    if (self->next == of->setting->units || of->units[self->next] != CONFIRMED) return false;
    self->phase = READS_AGAIN;
    wait_for_result(of);
    return true;
}

/* leat_coordinator_collect, from one wait to the next. */
static void collect(play *of) {
    coordinator *self = &of->coordinator;
    if (self->phase == READS) {
        const int64_t unit = self->batch[self->at++];
        of->units[unit] = CONFIRMED;
        of->arrived--;
        if (unit == self->next) self->next++;
    }
    if (self->phase == READS_AGAIN) self->next++;
    if (self->phase == LOOKS) look(of);
    if (self->phase != READS_AGAIN && self->at < self->count) {
        self->phase = READS;
        wait_for_result(of);
        return;
    }
    if (reads_again(of)) return;
    if (self->next == of->setting->units) {
        self->phase = COMMITS;
        wait_for(of, of->setting->commit_us);
    } else if (self->count > 0 || self->next > self->before) {
        self->phase = LOOKS;
        wait_for(of, 0);
    } else {
        self->phase = SLEEPS;
        self->slept = of->now;
        set_due(of, of->setting->workers, NEVER);
    }
}

/* The next step is open, and machines are told. */
static leat_code commit(play *of, leat_error *err) {
    const leat_plan_setting *setting = of->setting;
    LEAT_TRY(of->books->commit(of->books->of, of->now, err));
    if (of->step == 0) of->since = of->now;
    of->opened = of->now;
    of->step++;
    of->coordinator = (coordinator){.phase = LOOKS};
    memset(of->units, 0, (size_t)setting->units * sizeof *of->units); /* MISSING */
    of->arrived = of->first_arrived = 0;
    for (int64_t i = 0; i < setting->workers; i++) {
        worker *w = &of->workers[i];
        w->notified = true;
        if (w->idle) set_due(of, i, next_due(of, w));
    }
    wait_for(of, 0);
    return LEAT_OK;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static leat_code run_steps(play *of, leat_error *err) {
    const leat_plan_setting *setting = of->setting;
    while (of->step < setting->steps) {
        const int64_t who = of->order[0];
        of->now = of->due[who];
        if (of->now - of->opened > STEP_MOST_US)
            return leat_fail(err, LEAT_ERR_OPTION,
                             "a step of this run takes more than 30 days with %lld machines: use "
                             "fewer or smaller units, smaller parts or faster links",
                             (long long)setting->workers);
        if (who < setting->workers) LEAT_TRY(turn(of, who, err));
        else if (of->coordinator.phase == COMMITS) LEAT_TRY(commit(of, err));
        else collect(of);
    }
    return LEAT_OK;
}

static leat_code prepare(play *of, leat_error *err) {
    const leat_plan_setting *setting = of->setting;
    const int64_t count = setting->workers + 1;
    LEAT_TRY(LEAT_NEW(&of->workers, setting->workers, err));
    LEAT_TRY(LEAT_NEW(&of->units, setting->units, err));
    LEAT_TRY(LEAT_NEW(&of->due, count, err));
    LEAT_TRY(LEAT_NEW(&of->order, count, err));
    LEAT_TRY(LEAT_NEW(&of->places, count, err));
    for (int64_t i = 0; i < count; i++) seat(of, i, i); /* all are due now */
    for (int64_t i = 0; i < setting->workers; i++)
        of->workers[i] = (worker){.unit_us = leat_plan_unit_us(setting, i),
                                  .weights_step = -1,
                                  .gone_step = -1,
                                  .asked = NEVER};
    return LEAT_OK;
}

leat_code leat_plan_play(const leat_plan_setting *setting, const leat_plan_books *books,
                         leat_plan_sums *sums, leat_error *err) {
    play of = {.setting = setting, .books = books};
    *sums = (leat_plan_sums){0};
    LEAT_TRY(leat_plan_check(setting, err));
    leat_code code = prepare(&of, err);
    if (code == LEAT_OK) code = run_steps(&of, err);
    if (code == LEAT_OK) {
        *sums = of.sums;
        sums->steps = setting->steps - 1;
        sums->us = of.now - of.since;
        for (int64_t i = 0; i < setting->workers; i++)
            sums->capacity += (double)sums->us / (double)of.workers[i].unit_us;
    }
    leat_free(of.workers);
    leat_free(of.units);
    leat_free(of.due);
    leat_free(of.order);
    leat_free(of.places);
    return code;
}

leat_code leat_plan_run(const leat_plan_setting *setting, leat_plan_sums *sums, leat_error *err) {
    leat_plan_memory *memory = NULL;
    leat_plan_books books;
    *sums = (leat_plan_sums){0};
    LEAT_TRY(leat_plan_memory_create(&memory, setting, &books, err));
    const leat_code code = leat_plan_play(setting, &books, sums, err);
    leat_plan_memory_destroy(memory);
    return code;
}

/* ---- Settings -------------------------------------------------------------------------------- */

leat_plan_setting leat_plan_setting_default(void) {
    const leat_coordinate_options of = leat_coordinate_options_default();
    return (leat_plan_setting){.steps = 9,
                               .part_bytes = of.part_bytes,
                               .lease_us = of.lease_ms * 1000,
                               .renew_us = of.renew_ms * 1000,
                               .silent_us = of.silent_ms * 1000,
                               .poll_us = of.poll_ms * 1000,
                               .ask_us = leat_work_options_default().poll_ms * 1000};
}

leat_code leat_plan_check(const leat_plan_setting *setting, leat_error *err) {
    const int64_t day = INT64_C(86400) * SECOND, bits = INT64_C(1) << 50;
    const struct {
        const char *name;
        int64_t value, min, max;
    } rows[] = {
        {"workers", setting->workers, 1, LEAT_PLAN_WORKERS_MAX},
        {"units", setting->units, 1, LEAT_PLAN_UNITS_MAX},
        {"steps", setting->steps, 2, LEAT_PLAN_STEPS_MAX},
        {"microseconds of a unit", setting->unit_us, 1, LEAT_PLAN_UNIT_US_MAX},
        {"bytes of a result", setting->payload_bytes, 0, LEAT_PLAN_BYTES_MAX},
        {"bytes of the weights", setting->weights_bytes, 0, LEAT_PLAN_BYTES_MAX},
        {"bytes of samples", setting->sample_bytes, 0, LEAT_PLAN_BYTES_MAX},
        {"bytes of a part", setting->part_bytes, 1024, 8 << 20},
        {"bits a second up", setting->up_bits != 0 ? setting->up_bits : bits, BITS_MIN, bits},
        {"bits a second down", setting->down_bits != 0 ? setting->down_bits : bits, BITS_MIN, bits},
        {"bits a second of the server", setting->server_bits != 0 ? setting->server_bits : bits,
         BITS_MIN, bits},
        {"microseconds of a reading", setting->read_us, 0, day},
        {"microseconds of a commit", setting->commit_us, 0, day},
        {"microseconds of a call", setting->call_us, 0, day},
        {"microseconds of a lease", setting->lease_us, 1, day},
        {"microseconds between renewals", setting->renew_us, 1, day},
        {"microseconds of silence", setting->silent_us, 1, day},
        {"microseconds between looks", setting->poll_us, 1, day},
        {"microseconds between questions", setting->ask_us, 2, day},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].value < rows[i].min || rows[i].value > rows[i].max)
            return leat_fail(err, LEAT_ERR_OPTION, "a plan cannot have %lld %s: %lld to %lld",
                             (long long)rows[i].value, rows[i].name, (long long)rows[i].min,
                             (long long)rows[i].max);
    if (!(setting->spread >= 0 && setting->spread <= 1))
        return leat_fail(err, LEAT_ERR_OPTION, "a plan cannot have a spread of %g: 0 to 1",
                         setting->spread);
    return LEAT_OK;
}

/* The sum of twelve uniform numbers is as good as normal for this: it ends at 6 deviations. */
int64_t leat_plan_unit_us(const leat_plan_setting *setting, int64_t worker) {
    double z = -6;
    for (uint64_t i = 0; i < 12; i++)
        z += leat_random_unit(leat_random(setting->seed, STREAM_SPEED + 2 * (uint64_t)worker, i));
    const double x = setting->spread * z;
    const double factor = x >= 0 ? leat_exp(x) : 1 / leat_exp(-x);
    const double us = (double)setting->unit_us * factor;
    return us < 1 ? 1 : (int64_t)(us + 0.5);
}
