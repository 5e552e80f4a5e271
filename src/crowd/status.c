/* What the database says about a run, to every login: the views of the schema. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "crowd/database_parts.h"
#include "crowd/status.h"

enum { TIMEOUT_MS = 15000, WORKERS_MAX = 10000 };

static leat_code load_run(leat_pg *pg, const char *name, leat_crowd_run *run, int64_t *id,
                          leat_error *err) {
    leat_pg_rows *rows = NULL;
    LEAT_TRY(LEAT_DATABASE_ROWS(
        pg, &rows, 16, 0,
        "select run, name, model, state, reason, coordinator, coordinated, current_iteration, "
        "steps, units, unit_size, samples, payload_bytes, weights_bytes, "
        "pg_database_size(current_database()), "
        "to_regclass(format('leat.data_%s', run)) is not null "
        "from leat.training_state where $1 in ('', name) order by state = 'finished', run desc "
        "limit 1",
        err, LEAT_PG_T(name)));
    if (leat_pg_row_count(rows) == 0) {
        leat_pg_rows_destroy(rows);
        return leat_fail(err, LEAT_ERR_NOT_FOUND,
                         name[0] != 0 ? "the database has no run \"%.64s\""
                                      : "the database has no run%.0s",
                         name);
    }
    *id = leat_pg_int(rows, 0, 0);
    leat_database_copy(run->name, sizeof run->name, leat_pg_text(rows, 0, 1));
    leat_database_copy(run->model, sizeof run->model, leat_pg_text(rows, 0, 2));
    leat_database_copy(run->state, sizeof run->state, leat_pg_text(rows, 0, 3));
    leat_database_copy(run->reason, sizeof run->reason, leat_pg_text(rows, 0, 4));
    leat_database_copy(run->coordinator, sizeof run->coordinator, leat_pg_text(rows, 0, 5));
    run->coordinated = leat_pg_bool(rows, 0, 6);
    run->step = leat_pg_int(rows, 0, 7);
    run->steps = leat_pg_int(rows, 0, 8);
    run->units = leat_pg_int(rows, 0, 9);
    run->unit_size = leat_pg_int(rows, 0, 10);
    run->samples = leat_pg_int(rows, 0, 11);
    run->payload_bytes = leat_pg_int(rows, 0, 12);
    run->weights_bytes = leat_pg_int(rows, 0, 13);
    run->database_bytes = leat_pg_int(rows, 0, 14);
    run->serves_data = leat_pg_bool(rows, 0, 15);
    leat_pg_rows_destroy(rows);
    return LEAT_OK;
}

/* What the last step has computed. */
static leat_code load_values(leat_pg *pg, int64_t id, leat_crowd_run *run, leat_error *err) {
    leat_pg_rows *rows = NULL;
    LEAT_TRY(LEAT_DATABASE_ROWS(pg, &rows, 2, 0,
                                "select name, value from leat.step_values where run = $1 and "
                                "iteration = $2 order by position limit $3",
                                err, LEAT_PG_I(id), LEAT_PG_I(run->step - 1),
                                LEAT_PG_I(LEAT_STEP_VALUES_MAX)));
    for (int i = 0; i < leat_pg_row_count(rows) && i < LEAT_STEP_VALUES_MAX; i++) {
        leat_crowd_value *of = &run->values[run->value_count++];
        leat_database_copy(of->name, sizeof of->name, leat_pg_text(rows, i, 0));
        of->value = leat_pg_real(rows, i, 1);
    }
    leat_pg_rows_destroy(rows);
    return LEAT_OK;
}

static leat_code load_step(leat_pg *pg, int64_t id, leat_crowd_run *run, leat_error *err) {
    leat_pg_rows *rows = NULL;
    LEAT_TRY(LEAT_DATABASE_ROWS(
        pg, &rows, 4, 1,
        "select count(*) filter (where u.status = 'pending'), "
        "count(*) filter (where u.status = 'in_progress'), "
        "count(*) filter (where u.status = 'completed'), "
        "(select percentile_cont(0.5) within group (order by seconds) from (select extract(epoch "
        "from created_at - lag(created_at) over (order by iteration)) as seconds from "
        "leat.loss_history where run = $1 and iteration >= $2 - 21 order by iteration desc limit "
        "20) "
        "d) "
        "from leat.work_units u where u.run = $1 and u.iteration = $2",
        err, LEAT_PG_I(id), LEAT_PG_I(run->step)));
    run->ready = leat_pg_int(rows, 0, 0);
    run->out = leat_pg_int(rows, 0, 1);
    run->done = leat_pg_int(rows, 0, 2);
    run->step_seconds = leat_pg_is_null(rows, 0, 3) ? NAN : leat_pg_real(rows, 0, 3);
    leat_pg_rows_destroy(rows);
    return LEAT_OK;
}

/* The units that are out are looked up once, whatever the number of machines. */
static leat_code load_workers(leat_pg *pg, const leat_status_wanted *wanted,
                              leat_crowd_status *status, leat_error *err) {
    const int64_t step = status->run.step;
    leat_pg_rows *rows = NULL;
    LEAT_TRY(LEAT_DATABASE_ROWS(
        pg, &rows, 10, 0,
        "select w.account, w.worker_id, w.name, w.hardware, w.status = 'active', "
        "extract(epoch from leat.clock() - w.last_heartbeat), w.total_work_units, w.refused, "
        "w.bytes, u.id from leat.workers w left join (select claimed_by, min(id) as id "
        "from leat.work_units where run = $1 and iteration = $2 and status = 'in_progress' "
        "group by claimed_by) u on u.claimed_by = w.worker_id where w.run = $1 "
        "order by ($4 = 1 and w.status = 'active') desc, w.total_work_units desc, w.first_seen "
        "limit $3",
        err, LEAT_PG_I(status->run_id), LEAT_PG_I(step), LEAT_PG_I(wanted->workers_max),
        LEAT_PG_I(wanted->active_first)));
    leat_code code = LEAT_OK;
    for (int i = 0; code == LEAT_OK && i < leat_pg_row_count(rows); i++) {
        code = LEAT_GROW(&status->workers, &status->worker_capacity, status->worker_count + 1, err);
        if (code != LEAT_OK) break;
        leat_crowd_worker *of = &status->workers[status->worker_count++];
        *of = (leat_crowd_worker){0};
        leat_database_copy(of->account, sizeof of->account, leat_pg_text(rows, i, 0));
        leat_database_copy(of->machine, sizeof of->machine, leat_pg_text(rows, i, 1));
        leat_database_copy(of->name, sizeof of->name, leat_pg_text(rows, i, 2));
        leat_database_copy(of->hardware, sizeof of->hardware, leat_pg_text(rows, i, 3));
        of->active = leat_pg_bool(rows, i, 4);
        of->seen_seconds = leat_pg_real(rows, i, 5);
        of->accepted = leat_pg_int(rows, i, 6);
        of->refused = leat_pg_int(rows, i, 7);
        of->bytes = leat_pg_int(rows, i, 8);
        of->unit = leat_pg_is_null(rows, i, 9) ? -1 : leat_pg_int(rows, i, 9);
        of->step = of->unit < 0 ? -1 : step;
    }
    leat_pg_rows_destroy(rows);
    return code;
}

static leat_code load_events(leat_pg *pg, int64_t id, leat_crowd_status *status, leat_error *err) {
    leat_pg_rows *rows = NULL;
    LEAT_TRY(LEAT_DATABASE_ROWS(
        pg, &rows, 6, 0,
        "select extract(epoch from leat.clock() - at), kind, coalesce(account, ''), "
        "coalesce(worker_id, ''), coalesce(name, ''), words from leat.events where run = $1 "
        "order by id desc limit $2",
        err, LEAT_PG_I(id), LEAT_PG_I(LEAT_CROWD_EVENTS)));
    for (int i = 0; i < leat_pg_row_count(rows) && i < LEAT_CROWD_EVENTS; i++) {
        leat_crowd_event *of = &status->events[status->event_count++];
        of->seconds = leat_pg_real(rows, i, 0);
        leat_database_copy(of->kind, sizeof of->kind, leat_pg_text(rows, i, 1));
        leat_database_copy(of->account, sizeof of->account, leat_pg_text(rows, i, 2));
        leat_database_copy(of->machine, sizeof of->machine, leat_pg_text(rows, i, 3));
        leat_database_copy(of->name, sizeof of->name, leat_pg_text(rows, i, 4));
        leat_database_copy(of->words, sizeof of->words, leat_pg_text(rows, i, 5));
    }
    leat_pg_rows_destroy(rows);
    return LEAT_OK;
}

leat_code leat_status_read(leat_pg *pg, const leat_status_wanted *wanted, leat_crowd_status *status,
                           leat_error *err) {
    LEAT_TRY(load_run(pg, wanted->run, &status->run, &status->run_id, err));
    LEAT_TRY(load_values(pg, status->run_id, &status->run, err));
    LEAT_TRY(load_step(pg, status->run_id, &status->run, err));
    LEAT_TRY(load_workers(pg, wanted, status, err));
    return load_events(pg, status->run_id, status, err);
}

static leat_code load(leat_crowd_status *status, const char *url, leat_error *err) {
    leat_pg_place place;
    leat_pg *pg = NULL;
    LEAT_TRY(leat_pg_place_parse(&place, url, err));
    LEAT_TRY(leat_pg_connect(&pg, &place, "leat status", TIMEOUT_MS, NULL, err));
    const leat_status_wanted wanted = {.run = place.run, .workers_max = WORKERS_MAX};
    leat_code code = leat_database_check_version(pg, err);
    /* one snapshot of it all */
    if (code == LEAT_OK)
        code = leat_pg_script(pg, "begin isolation level repeatable read read only", err);
    if (code == LEAT_OK) code = leat_status_read(pg, &wanted, status, err);
    leat_pg_close(pg);
    return code;
}

leat_code leat_status_explain(const leat_error *why, leat_error *err) {
    if (why->code == LEAT_ERR_NOT_FOUND && strstr(why->message, "leat.training_state") != NULL)
        return leat_fail(err, why->code,
                         "the database has no schema \"leat\": no run was coordinated in it yet");
    return leat_error_copy(err, why);
}

leat_code leat_crowd_status_load(leat_crowd_status **out, const char *url, leat_error *err) {
    leat_crowd_status *status = NULL;
    leat_error why = {0};
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&status, 1, err));
    const leat_code code = load(status, url, &why);
    if (code == LEAT_OK) {
        *out = status;
        return LEAT_OK;
    }
    leat_crowd_status_destroy(status);
    return leat_status_explain(&why, err);
}

void leat_crowd_status_destroy(leat_crowd_status *status) {
    if (status == NULL) return;
    leat_free(status->workers);
    leat_free(status);
}

const leat_crowd_run *leat_crowd_run_of(const leat_crowd_status *status) { return &status->run; }

double leat_crowd_run_value(const leat_crowd_run *run, const char *name) {
    for (int i = 0; i < run->value_count; i++)
        if (strcmp(run->values[i].name, name) == 0) return run->values[i].value;
    return NAN;
}

bool leat_crowd_worker_at(const leat_crowd_status *status, int index, leat_crowd_worker *out) {
    *out = (leat_crowd_worker){0};
    if (index < 0 || index >= status->worker_count) return false;
    *out = status->workers[index];
    return true;
}

bool leat_crowd_event_at(const leat_crowd_status *status, int index, leat_crowd_event *out) {
    *out = (leat_crowd_event){0};
    if (index < 0 || index >= status->event_count) return false;
    *out = status->events[index];
    return true;
}
