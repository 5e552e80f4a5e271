/*
 * The rule by which the database gives units, in memory. Each function names the one of schema.sql
 * and schema_limits.sql that it mirrors, for machines with a login each that fail at nothing.
 */
#include <string.h>

#include "base/mem.h"
#include "crowd/plan.h"

/* Without a finished unit, a unit takes so long (leat.median_ms). */
#define UNKNOWN_US (INT64_C(300) * 1000000)
#define ACTIVE_US (INT64_C(120) * 1000000) /* leat.claim_ahead */
/* UNIT_LEASES: live ones of a unit at most; there are more than two only where parts take longer
 * than a lease lasts. */
enum { NOBODY = -1, UNIT_LEASES = 4 };

/* A machine has two at most. Ended ones have the number 0. */
typedef struct lease {
    int64_t number, unit, granted, renewed;
    bool copy;
} lease;

typedef enum unit_state { READY, OUT, DONE } unit_state;
typedef struct unit {
    unit_state state;
    int32_t place;               /* in `out`, where it is OUT */
    int32_t leases[UNIT_LEASES]; /* live ones by their place in `leases`; NOBODY */
} unit;

struct leat_plan_memory {
    const leat_plan_setting *setting;
    lease *leases; /* 2 a worker */
    unit *units;
    int32_t *out; /* units that are */
    int32_t out_count;
    int64_t ready, first_ready; /* how many units are; no one before this one is */
    int64_t *seen;              /* each worker, when */
    int64_t next_number, done;
    int64_t *times; /* of the results of the step, in order */
    int64_t time_count;
    int64_t median_before; /* of the step before; 0: there is none */
};

/* ---- Leases ---------------------------------------------------------------------------------- */

/* leat.holds: an instant in the future, at most `length` away. */
static bool holds(int64_t until, int64_t length, int64_t now) {
    return until > now && until <= now + length;
}

/* leat.is_held; a lease lasts from its last sign of life on (claim, renew, put). */
static bool is_held(const leat_plan_memory *of, const lease *l, int64_t now) {
    return holds(l->renewed + of->setting->lease_us, of->setting->lease_us, now);
}

static lease *find(leat_plan_memory *of, int64_t worker, int64_t number) {
    for (int i = 0; i < 2; i++)
        if (number != 0 && of->leases[2 * worker + i].number == number)
            return &of->leases[2 * worker + i];
    return NULL;
}

/* How many live leases the unit has; *free: a place for another one, NOBODY: there is none. */
static int count_leases(const unit *u, int *free) {
    int count = 0;
    *free = NOBODY;
    for (int i = 0; i < UNIT_LEASES; i++) {
        count += u->leases[i] != NOBODY;
        if (u->leases[i] == NOBODY) *free = i;
    }
    return count;
}

static bool is_leased(const unit *u) {
    int free = 0;
    return count_leases(u, &free) > 0;
}

static void take_out(leat_plan_memory *of, unit *u) {
    of->out[u->place] = of->out[--of->out_count];
    of->units[of->out[u->place]].place = u->place;
}

static void set_state(leat_plan_memory *of, int64_t number, unit_state state) {
    unit *u = &of->units[number];
    if (u->state == OUT) take_out(of, u);
    of->ready += (state == READY) - (u->state == READY);
    u->state = state;
    if (state == OUT) {
        u->place = of->out_count;
        of->out[of->out_count++] = (int32_t)number;
    }
    if (state == READY && number < of->first_ready) of->first_ready = number;
}

static void end(leat_plan_memory *of, lease *l) {
    const int32_t place = (int32_t)(l - of->leases);
    unit *u = &of->units[l->unit];
    for (int i = 0; i < UNIT_LEASES; i++)
        if (u->leases[i] == place) u->leases[i] = NOBODY;
    l->number = 0;
}

/* leat.put_back */
static void put_back(leat_plan_memory *of, lease *l) {
    const int64_t number = l->unit;
    end(of, l);
    if (of->units[number].state == OUT && !is_leased(&of->units[number]))
        set_state(of, number, READY);
}

/* Ends all leases of a unit. */
static void supersede(leat_plan_memory *of, unit *u) {
    for (int i = 0; i < UNIT_LEASES; i++)
        if (u->leases[i] != NOBODY) end(of, &of->leases[u->leases[i]]);
}

/* ---- Times ----------------------------------------------------------------------------------- */

static int64_t middle(const int64_t *times, int64_t count) {
    return (times[(count - 1) / 2] + times[count / 2]) / 2;
}

/* leat.median_ms: of the step, or of the one before it. */
static int64_t median(const leat_plan_memory *of) {
    if (of->time_count > 0) return middle(of->times, of->time_count);
    return of->median_before > 0 ? of->median_before : UNKNOWN_US;
}

static void add_time(leat_plan_memory *of, int64_t us) {
    int64_t low = 0, high = of->time_count;
    while (low < high) {
        const int64_t mid = (low + high) / 2;
        if (of->times[mid] < us) low = mid + 1;
        else high = mid;
    }
    memmove(&of->times[low + 1], &of->times[low],
            (size_t)(of->time_count - low) * sizeof *of->times);
    of->times[low] = us;
    of->time_count++;
}

/* leat.end_overdue: a lease that is renewed for ever, where others work. */
static bool end_overdue(leat_plan_memory *of, lease *l, int64_t now) {
    const int64_t most = 20 * median(of), least = of->setting->lease_us;
    if (now - l->granted <= (most > least ? most : least) || of->setting->workers < 2) return false;
    put_back(of, l);
    return true;
}

/* ---- Choosing -------------------------------------------------------------------------------- */

/* What leat.choose looks at of a unit that is out. */
typedef struct held {
    int64_t since, renewed;
    int live, accounts;
    bool copied, mine;
} held;

static held look(const leat_plan_memory *of, const unit *u, int64_t worker, int64_t now) {
    held out = {.since = INT64_MAX, .renewed = INT64_MIN};
    for (int i = 0; i < UNIT_LEASES; i++) {
        if (u->leases[i] == NOBODY) continue;
        const lease *l = &of->leases[u->leases[i]];
        const bool counts = is_held(of, l, now);
        out.live++;
        if (l->granted < out.since) out.since = l->granted;
        if (l->renewed > out.renewed) out.renewed = l->renewed;
        out.copied |= counts && l->copy;
        out.accounts += counts;
        out.mine |= u->leases[i] / 2 == worker;
    }
    return out;
}

/* leat.choose, second: the first unit whose leases have all ended. */
static int64_t choose_ended(leat_plan_memory *of, int64_t now) {
    int64_t best = NOBODY;
    for (int32_t i = 0; i < of->out_count; i++)
        if (look(of, &of->units[of->out[i]], 0, now).accounts == 0 &&
            (best == NOBODY || of->out[i] < best))
            best = of->out[i];
    if (best != NOBODY) supersede(of, &of->units[best]);
    return best;
}

/* One copy; but a login that has the copies of its own units does not keep others waiting. */
static bool may_copy(const leat_plan_memory *of, const held *unit_held, int64_t now) {
    const int64_t silent = of->setting->silent_us, usual = median(of);
    if (unit_held->mine || unit_held->live == UNIT_LEASES) return false;
    return !unit_held->copied || (unit_held->accounts == 1 &&
                                  unit_held->since + 2 * (usual > silent ? usual : silent) < now);
}

/* leat.choose, third: the unit to copy, silent ones first, then the one that is out longest. */
static int64_t choose_copy(const leat_plan_memory *of, int64_t worker, int64_t now) {
    int64_t best = NOBODY, best_since = 0;
    bool best_silent = false;
    if (of->setting->without_copies) return NOBODY;
    for (int32_t i = 0; i < of->out_count; i++) {
        const int64_t number = of->out[i];
        const held unit_held = look(of, &of->units[number], worker, now);
        const int64_t silent_us = of->setting->silent_us;
        const bool silent = !holds(unit_held.renewed + silent_us, silent_us, now);
        const bool late = unit_held.since + median(of) < now;
        if (!may_copy(of, &unit_held, now) || !(silent || late)) continue;
        const bool before = silent != best_silent           ? silent
                            : unit_held.since != best_since ? unit_held.since < best_since
                                                            : number < best;
        if (best != NOBODY && !before) continue;
        best = number;
        best_since = unit_held.since;
        best_silent = silent;
    }
    return best;
}

static int64_t choose_ready(leat_plan_memory *of) {
    while (of->first_ready < of->setting->units && of->units[of->first_ready].state != READY)
        of->first_ready++;
    return of->first_ready < of->setting->units ? of->first_ready : NOBODY;
}

/* ---- Books ----------------------------------------------------------------------------------- */

/* leat.claim */
static leat_code claim(void *memory, int64_t now, int64_t worker, int64_t kept,
                       leat_plan_lease *out, leat_error *err) {
    leat_plan_memory *of = memory;
    lease *l = NULL;
    bool copy = false;
    (void)err;
    *out = (leat_plan_lease){0};
    of->seen[worker] = now;
    for (int i = 0; i < 2; i++) {
        lease *each = &of->leases[2 * worker + i];
        if (each->number != 0 && each->number != kept) put_back(of, each);
        if (each->number == 0) l = each;
    }
    LEAT_ASSERT(l != NULL);
    int64_t chosen = choose_ready(of);
    if (chosen == NOBODY) chosen = choose_ended(of, now);
    if (chosen == NOBODY) {
        chosen = choose_copy(of, worker, now);
        copy = true;
    }
    if (chosen == NOBODY) return LEAT_OK;
    unit *u = &of->units[chosen];
    *l = (lease){++of->next_number, chosen, now, now, copy};
    int at = NOBODY;
    (void)count_leases(u, &at);
    LEAT_ASSERT(at != NOBODY);
    u->leases[at] = (int32_t)(l - of->leases);
    if (u->state != OUT) set_state(of, chosen, OUT);
    *out = (leat_plan_lease){l->number, chosen, copy};
    return LEAT_OK;
}

/* leat.claim_ahead: where every machine that was seen lately can still have a unit. */
static leat_code claim_ahead(void *memory, int64_t now, int64_t worker, int64_t kept,
                             leat_plan_lease *out, leat_error *err) {
    const leat_plan_memory *of = memory;
    int64_t active = 0;
    *out = (leat_plan_lease){0};
    for (int64_t i = 0; i < of->setting->workers; i++)
        active += holds(of->seen[i] + ACTIVE_US, ACTIVE_US, now);
    if (of->ready == 0 || of->ready < active) return LEAT_OK;
    return claim(memory, now, worker, kept, out, err);
}

static bool extend(leat_plan_memory *of, int64_t now, int64_t worker,
                   const leat_plan_lease *given) {
    lease *l = find(of, worker, given->lease);
    if (l == NULL || end_overdue(of, l, now)) return false;
    l->renewed = now;
    return true;
}

/* leat.renew */
static leat_code renew(void *memory, int64_t now, int64_t worker, const leat_plan_lease *given,
                       bool *over, leat_error *err) {
    leat_plan_memory *of = memory;
    (void)err;
    of->seen[worker] = now;
    *over = !extend(of, now, worker, given);
    return LEAT_OK;
}

/* leat.put */
static leat_code put(void *memory, int64_t now, int64_t worker, const leat_plan_lease *given,
                     int64_t part, bool *over, leat_error *err) {
    (void)part;
    (void)err;
    *over = !extend(memory, now, worker, given);
    return LEAT_OK;
}

/* leat.submit */
static leat_code submit(void *memory, int64_t now, int64_t worker, const leat_plan_lease *given,
                        bool *over, leat_error *err) {
    leat_plan_memory *of = memory;
    lease *l = find(of, worker, given->lease);
    (void)err;
    *over = l == NULL;
    if (*over) return LEAT_OK;
    unit *u = &of->units[l->unit];
    LEAT_ASSERT(u->state == OUT);
    of->seen[worker] = now;
    add_time(of, now - l->granted);
    supersede(of, u);
    set_state(of, given->unit, DONE);
    of->done++;
    return LEAT_OK;
}

/* leat.release */
static leat_code release(void *memory, int64_t now, int64_t worker, const leat_plan_lease *given,
                         leat_error *err) {
    leat_plan_memory *of = memory;
    lease *l = find(of, worker, given->lease);
    (void)now;
    (void)err;
    if (l != NULL) put_back(of, l);
    return LEAT_OK;
}

static void open_step(leat_plan_memory *of) {
    for (int64_t k = 0; k < of->setting->units; k++) {
        const bool leased = is_leased(&of->units[k]);
        LEAT_ASSERT(!leased);
        of->units[k].state = READY;
    }
    of->first_ready = of->done = of->time_count = 0;
    of->ready = of->setting->units;
}

/* leat.commit_step: no lease is live, because each unit has its result. */
static leat_code commit(void *memory, int64_t now, leat_error *err) {
    leat_plan_memory *of = memory;
    (void)now;
    (void)err;
    LEAT_ASSERT(of->done == of->setting->units && of->out_count == 0);
    of->median_before = median(of);
    open_step(of);
    return LEAT_OK;
}

leat_code leat_plan_memory_create(leat_plan_memory **out, const leat_plan_setting *setting,
                                  leat_plan_books *books, leat_error *err) {
    *out = NULL;
    *books = (leat_plan_books){0};
    leat_plan_memory *of = NULL;
    LEAT_TRY(leat_plan_check(setting, err));
    LEAT_TRY(LEAT_NEW(&of, 1, err));
    leat_code code = LEAT_NEW(&of->leases, 2 * setting->workers, err);
    if (code == LEAT_OK) code = LEAT_NEW(&of->units, setting->units, err);
    if (code == LEAT_OK) code = LEAT_NEW(&of->out, setting->units, err);
    if (code == LEAT_OK) code = LEAT_NEW(&of->times, setting->units, err);
    if (code == LEAT_OK) code = LEAT_NEW(&of->seen, setting->workers, err);
    if (code != LEAT_OK) {
        leat_plan_memory_destroy(of);
        return code;
    }
    of->setting = setting;
    *books = (leat_plan_books){of, claim, claim_ahead, renew, put, submit, release, commit};
    for (int64_t i = 0; i < setting->workers; i++) of->seen[i] = -ACTIVE_US;
    for (int64_t k = 0; k < setting->units; k++)
        for (int i = 0; i < UNIT_LEASES; i++) of->units[k].leases[i] = NOBODY;
    open_step(of);
    *out = of;
    return LEAT_OK;
}

void leat_plan_memory_destroy(leat_plan_memory *memory) {
    if (memory == NULL) return;
    leat_free(memory->leases);
    leat_free(memory->units);
    leat_free(memory->out);
    leat_free(memory->times);
    leat_free(memory->seen);
    leat_free(memory);
}
