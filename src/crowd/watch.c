/* See watch.h: the same views as leat status, and for many readers what they have in common. */
#include "crowd/watch.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "crowd/database_parts.h"
#include "crowd/status.h"

enum { TIMEOUT_MS = 15000 };

struct leat_crowd_watch {
    leat_pg_place place;
    const leat_stop *stop;
    leat_pg *pg; /* NULL: not connected */
};

leat_code leat_crowd_watch_create(leat_crowd_watch **out, const char *url, const leat_stop *stop,
                                  leat_error *err) {
    leat_crowd_watch *watch = NULL;
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&watch, 1, err));
    watch->stop = stop;
    const leat_code code = leat_pg_place_parse(&watch->place, url, err);
    if (code == LEAT_OK) *out = watch;
    else leat_crowd_watch_destroy(watch);
    return code;
}

void leat_crowd_watch_destroy(leat_crowd_watch *watch) {
    if (watch == NULL) return;
    leat_pg_close(watch->pg);
    leat_free(watch);
}

static leat_crowd_account account_at(const leat_pg_rows *rows, int i) {
    leat_crowd_account of = {0};
    leat_database_copy(of.account, sizeof of.account, leat_pg_text(rows, i, 0));
    of.machines = leat_pg_int(rows, i, 1);
    of.active = leat_pg_int(rows, i, 2);
    of.accepted = leat_pg_int(rows, i, 3);
    of.refused = leat_pg_int(rows, i, 4);
    of.bytes = leat_pg_int(rows, i, 5);
    return of;
}

/* The first row is of all accounts together. */
static leat_code load_accounts(leat_pg *pg, leat_crowd_seen *seen, leat_error *err) {
    leat_pg_rows *rows = NULL;
    LEAT_TRY(LEAT_DATABASE_ROWS(
        pg, &rows, 7, 1,
        "select case when grouping(account) = 0 then account else '' end, count(*), "
        "count(*) filter (where status = 'active'), coalesce(sum(total_work_units), 0)::bigint, "
        "coalesce(sum(refused), 0)::bigint, coalesce(sum(bytes), 0)::bigint, "
        "count(distinct account) from leat.workers where run = $1 "
        "group by grouping sets ((), (account)) "
        "order by grouping(account) desc, 4 desc, account limit $2",
        err, LEAT_PG_I(seen->id), LEAT_PG_I(LEAT_WATCH_ACCOUNTS + 1)));
    seen->all = account_at(rows, 0);
    seen->accounts = leat_pg_int(rows, 0, 6);
    for (int i = 1; i < leat_pg_row_count(rows) && i <= LEAT_WATCH_ACCOUNTS; i++)
        seen->accounts_shown[seen->account_count++] = account_at(rows, i);
    leat_pg_rows_destroy(rows);
    return LEAT_OK;
}

/* A machine claims a unit while it still computes another: its time begins when that one ends.
 * Units that the coordinator has computed have no machine, and no time. */
static leat_code load_finished(leat_pg *pg, leat_crowd_seen *seen, leat_error *err) {
    leat_pg_rows *rows = NULL;
    LEAT_TRY(LEAT_DATABASE_ROWS(
        pg, &rows, 2, 1,
        "select percentile_cont(0.5) within group (order by extract(epoch from completed_at - "
        "begun)) filter (where completed_at > begun), count(distinct claimed_by) from (select "
        "claimed_by, completed_at, greatest(claimed_at, lag(completed_at) over (partition by "
        "claimed_by order by completed_at)) as begun from leat.work_units where run = $1 and "
        "iteration >= $2 and status = 'completed') w",
        err, LEAT_PG_I(seen->id), LEAT_PG_I(seen->run.step - 1)));
    seen->unit_seconds = leat_pg_is_null(rows, 0, 0) ? NAN : leat_pg_real(rows, 0, 0);
    seen->delivered = leat_pg_int(rows, 0, 1);
    leat_pg_rows_destroy(rows);
    return LEAT_OK;
}

/* A row is a value of a step; those of a step come one after the other. */
static leat_code load_steps(leat_pg *pg, int64_t run, int64_t after, leat_crowd_step_fn stepped,
                            void *user, leat_error *err) {
    leat_pg_rows *rows = NULL;
    LEAT_TRY(LEAT_DATABASE_ROWS(
        pg, &rows, 5, 0,
        "select v.iteration, v.position, v.value, h.seconds, coalesce(h.state_hash, '') from "
        "leat.step_values v left join (select iteration, state_hash, extract(epoch from created_at "
        "- lag(created_at) over (order by iteration)) as seconds from leat.loss_history where run "
        "= $1 and iteration >= $2 - 1 "
        "and iteration < $2 + $3) h on h.iteration = v.iteration where v.run = $1 and "
        "v.iteration >= $2 and v.iteration < $2 + $3 order by v.iteration, v.position",
        err, LEAT_PG_I(run), LEAT_PG_I(after), LEAT_PG_I(LEAT_WATCH_STEPS)));
    const int count = leat_pg_row_count(rows);
    leat_crowd_step step = {0};
    for (int i = 0; i < count; i++) {
        const int64_t number = leat_pg_int(rows, i, 0) + 1, position = leat_pg_int(rows, i, 1);
        if (number != step.step) {
            if (step.step > 0) stepped(user, &step);
            step = (leat_crowd_step){.step = number, .seconds = NAN};
            if (!leat_pg_is_null(rows, i, 3)) step.seconds = leat_pg_real(rows, i, 3);
            leat_database_copy(step.state, sizeof step.state, leat_pg_text(rows, i, 4));
        }
        if (position < 1 || position > LEAT_STEP_VALUES_MAX) continue;
        for (; step.value_count < position; step.value_count++) step.values[step.value_count] = NAN;
        if (!leat_pg_is_null(rows, i, 2)) step.values[position - 1] = leat_pg_real(rows, i, 2);
    }
    if (step.step > 0) stepped(user, &step);
    leat_pg_rows_destroy(rows);
    return LEAT_OK;
}

static void take(leat_crowd_seen *seen, const leat_crowd_status *status) {
    seen->id = status->run_id;
    seen->run = status->run;
    seen->worker_count = (int)status->worker_count;
    seen->event_count = status->event_count;
    memcpy(seen->workers, status->workers,
           (size_t)status->worker_count * sizeof status->workers[0]);
    memcpy(seen->events, status->events, (size_t)status->event_count * sizeof status->events[0]);
}

static leat_code look(leat_pg *pg, const char *run, leat_crowd_seen *seen, leat_error *err) {
    const leat_status_wanted wanted = {
        .run = run, .workers_max = LEAT_WATCH_WORKERS, .active_first = true};
    leat_crowd_status *status = NULL;
    LEAT_TRY(LEAT_NEW(&status, 1, err));
    leat_code code = leat_status_read(pg, &wanted, status, err);
    if (code == LEAT_OK) take(seen, status);
    leat_crowd_status_destroy(status);
    if (code == LEAT_OK) code = load_accounts(pg, seen, err);
    if (code == LEAT_OK) code = load_finished(pg, seen, err);
    return code;
}

static leat_code look_within(leat_crowd_watch *watch, int64_t after, leat_crowd_seen *seen,
                             leat_crowd_step_fn stepped, void *user, leat_error *err) {
    leat_crowd_seen *fresh = NULL;
    LEAT_TRY(LEAT_NEW(&fresh, 1, err));
    leat_code code =
        leat_pg_script(watch->pg, "begin isolation level repeatable read read only", err);
    if (code == LEAT_OK) code = look(watch->pg, watch->place.run, fresh, err);
    if (code == LEAT_OK) code = load_steps(watch->pg, fresh->id, after, stepped, user, err);
    if (code == LEAT_OK) code = leat_pg_script(watch->pg, "commit", err);
    if (code == LEAT_OK) *seen = *fresh;
    leat_free(fresh);
    return code;
}

leat_code leat_crowd_watch_look(leat_crowd_watch *watch, int64_t after, leat_crowd_seen *seen,
                                leat_crowd_step_fn stepped, void *user, leat_error *err) {
    leat_error why = {0};
    leat_code code = LEAT_OK;
    if (watch->pg == NULL) {
        LEAT_TRY(
            leat_pg_connect(&watch->pg, &watch->place, "leat dash", TIMEOUT_MS, watch->stop, err));
        code = leat_database_check_version(watch->pg, &why);
    }
    if (code == LEAT_OK) code = look_within(watch, after, seen, stepped, user, &why);
    if (code == LEAT_OK) return code;
    leat_pg_close(watch->pg); /* also ends the transaction */
    watch->pg = NULL;
    return leat_status_explain(&why, err);
}
