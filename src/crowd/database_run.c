/* What the coordinator calls: see database.h. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "crowd/database_parts.h"

#define HELD(hold) LEAT_PG_I((hold)->run), LEAT_PG_I((hold)->fence), LEAT_PG_I((hold)->epoch)

/* ---- runs ----------------------------------------------------------------------------------- */

leat_code leat_database_create_run(leat_pg *pg, const leat_database_run *run, int64_t *id,
                                   leat_error *err) {
    leat_pg_rows *rows = NULL;
    *id = 0;
    leat_code code = LEAT_DATABASE_VALUE(
        pg, &rows,
        "select leat.create_run($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, "
        "$16, $17, $18, $19, $20, $21, $22, $23, $24)",
        err, LEAT_PG_T(run->name), LEAT_PG_T(run->identity), LEAT_PG_T(run->settings),
        LEAT_PG_T(run->model), LEAT_PG_T(run->model_hash), LEAT_PG_T(run->data),
        LEAT_PG_T(run->data_note), LEAT_PG_I(run->samples), LEAT_PG_T(run->kernel_class),
        LEAT_PG_T(run->leat_version), LEAT_PG_I(run->units), LEAT_PG_I(run->unit_size),
        LEAT_PG_I(run->steps), LEAT_PG_I(run->payload_bytes), LEAT_PG_I(run->weights_bytes),
        LEAT_PG_I(run->state_bytes), LEAT_PG_I(run->part_bytes), LEAT_PG_I(run->memory_bytes),
        LEAT_PG_I(run->lease_ms), LEAT_PG_I(run->renew_ms), LEAT_PG_I(run->silent_ms),
        LEAT_PG_I(run->hold_ms), LEAT_PG_I(run->sample_bytes), LEAT_PG_T(run->value_names));
    if (code == LEAT_OK) *id = leat_pg_int(rows, 0, 0);
    leat_pg_rows_destroy(rows);
    if (code == LEAT_ERR_EXISTS)
        return leat_fail(err, code,
                         "the database has an unfinished run \"%s\"; continue it with --resume, or "
                         "choose another name",
                         run->name);
    return code;
}

leat_code leat_database_find_run(leat_pg *pg, const char *name, leat_database_run *run,
                                 leat_pg_rows **rows, leat_error *err) {
    *run = (leat_database_run){0};
    LEAT_TRY(LEAT_DATABASE_ROWS(
        pg, rows, 25, 0,
        "select id, name, identity, settings, model, model_hash, data, data_note, kernel_class, "
        "leat_version, state, array_to_string(value_names, ' '), samples, units, unit_size, steps, "
        "payload_bytes, weights_bytes, state_bytes, memory_bytes, part_bytes, lease_ms, renew_ms, "
        "silent_ms, hold_ms "
        "from leat.run where run.name = $1 order by state = 'finished', id desc limit 1",
        err, LEAT_PG_T(name)));
    if (leat_pg_row_count(*rows) == 0) {
        leat_pg_rows_destroy(*rows);
        *rows = NULL;
        return leat_fail(err, LEAT_ERR_NOT_FOUND, "the database has no run \"%s\"", name);
    }
    const char **const texts[] = {&run->name,      &run->identity,     &run->settings,
                                  &run->model,     &run->model_hash,   &run->data,
                                  &run->data_note, &run->kernel_class, &run->leat_version,
                                  &run->state,     &run->value_names};
    int64_t *const numbers[] = {&run->samples,     &run->units,         &run->unit_size,
                                &run->steps,       &run->payload_bytes, &run->weights_bytes,
                                &run->state_bytes, &run->memory_bytes,  &run->part_bytes,
                                &run->lease_ms,    &run->renew_ms,      &run->silent_ms,
                                &run->hold_ms};
    int column = 0;
    run->id = leat_pg_int(*rows, 0, column++);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i] = leat_pg_text(*rows, 0, column++);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = leat_pg_int(*rows, 0, column++);
    const leat_code code = leat_database_check_run(run, err);
    if (code == LEAT_OK) return LEAT_OK;
    leat_pg_rows_destroy(*rows);
    *rows = NULL;
    return code;
}

leat_code leat_database_take(leat_pg *pg, const char *name, leat_database_hold *hold,
                             leat_error *err) {
    leat_pg_rows *rows = NULL;
    LEAT_TRY(LEAT_DATABASE_ROWS(
        pg, &rows, 4, 1, "select fence, epoch, holder, left_ms from leat.hold($1, $2, $3, $4)", err,
        LEAT_PG_I(hold->run), LEAT_PG_T(name), LEAT_PG_I(hold->fence), LEAT_PG_I(hold->epoch)));
    leat_code code = LEAT_OK;
    if (leat_pg_is_null(rows, 0, 0)) {
        code =
            leat_fail(err, LEAT_ERR_BUSY,
                      "\"%.64s\" coordinates the run; its hold ends in %.1f s unless it renews it",
                      leat_pg_text(rows, 0, 2), leat_pg_real(rows, 0, 3) / 1000);
    } else {
        hold->fence = leat_pg_int(rows, 0, 0);
        hold->epoch = leat_pg_int(rows, 0, 1);
        if (hold->fence <= 0)
            code = leat_fail(err, LEAT_ERR_CORRUPT, "the database grants the run with fence %lld",
                             (long long)hold->fence);
    }
    leat_pg_rows_destroy(rows);
    return code;
}

leat_code leat_database_renew_hold(leat_pg *pg, const leat_database_hold *hold, leat_error *err) {
    return LEAT_DATABASE_CALL(pg, NULL, "select leat.renew_hold($1, $2, $3)", err, HELD(hold));
}

leat_code leat_database_give_up(leat_pg *pg, const leat_database_hold *hold, leat_error *err) {
    return LEAT_DATABASE_CALL(pg, NULL, "select leat.give_up($1, $2, $3)", err, HELD(hold));
}

leat_code leat_database_resume_run(leat_pg *pg, const leat_database_hold *hold,
                                   const leat_database_run *run, int64_t units, leat_error *err) {
    return LEAT_DATABASE_CALL(pg, NULL,
                              "select leat.resume_run($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
                              err, HELD(hold), LEAT_PG_I(run->steps), LEAT_PG_I(run->lease_ms),
                              LEAT_PG_I(run->renew_ms), LEAT_PG_I(run->silent_ms),
                              LEAT_PG_I(run->hold_ms), LEAT_PG_T(run->data_note), LEAT_PG_I(units));
}

leat_code leat_database_set_state(leat_pg *pg, const leat_database_hold *hold, const char *state,
                                  const char *reason, leat_error *err) {
    return LEAT_DATABASE_CALL(pg, NULL, "select leat.set_state($1, $2, $3, $4, $5)", err,
                              HELD(hold), LEAT_PG_T(state), LEAT_PG_T(reason));
}

/* LEAT_ERR_CORRUPT: no run stands so. */
static leat_code check_position(const leat_database_position *of, leat_error *err) {
    const bool slots = (of->weights_slot == 0 || of->weights_slot == 1) &&
                       (of->state_slot == 0 || of->state_slot == 1);
    if (slots && of->step >= -1 && of->state_step >= -1 && of->units >= 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_CORRUPT,
                     "the database describes where the run is as it cannot be: step %lld, its "
                     "weights in slot %d, the state of step %lld in slot %d",
                     (long long)of->step, of->weights_slot, (long long)of->state_step,
                     of->state_slot);
}

leat_code leat_database_look(leat_pg *pg, int64_t run, leat_database_position *position,
                             leat_error *err) {
    leat_pg_rows *rows = NULL;
    *position = (leat_database_position){.step = -1, .state_step = -1};
    LEAT_TRY(
        LEAT_DATABASE_ROWS(pg, &rows, 10, 0,
                           "select r.step, weights_slot, state_slot, state_step, weights_hash, "
                           "state_hash, state, sample_bytes, list_bytes, (select count(*) from "
                           "leat.unit u where u.run = r.id and u.step = r.step) from leat.run r "
                           "where id = $1",
                           err, LEAT_PG_I(run)));
    leat_code code = LEAT_OK;
    if (leat_pg_row_count(rows) == 0) {
        code = leat_fail(err, LEAT_ERR_NOT_FOUND, "the run is no longer in the database");
    } else {
        position->step = leat_pg_int(rows, 0, 0);
        position->weights_slot = (int)leat_pg_int(rows, 0, 1);
        position->state_slot = (int)leat_pg_int(rows, 0, 2);
        position->state_step = leat_pg_int(rows, 0, 3);
        leat_database_copy(position->weights, sizeof position->weights, leat_pg_text(rows, 0, 4));
        leat_database_copy(position->state, sizeof position->state, leat_pg_text(rows, 0, 5));
        leat_database_copy(position->run_state, sizeof position->run_state,
                           leat_pg_text(rows, 0, 6));
        position->sample_bytes = leat_pg_int(rows, 0, 7);
        position->list_bytes = leat_pg_int(rows, 0, 8);
        position->units = leat_pg_int(rows, 0, 9);
        code = check_position(position, err);
    }
    leat_pg_rows_destroy(rows);
    return code;
}

/* ---- the data set --------------------------------------------------------------------------- */

leat_code leat_database_serve_data(leat_pg *pg, const leat_database_hold *hold,
                                   int64_t sample_bytes, int64_t *count, leat_error *err) {
    leat_pg_rows *rows = NULL;
    *count = 0;
    LEAT_TRY(LEAT_DATABASE_VALUE(pg, &rows, "select leat.serve_data($1, $2, $3, $4)", err,
                                 HELD(hold), LEAT_PG_I(sample_bytes)));
    *count = leat_pg_int(rows, 0, 0);
    leat_pg_rows_destroy(rows);
    return LEAT_OK;
}

leat_code leat_database_put_data(leat_pg *pg, const leat_database_hold *hold, int64_t first,
                                 const uint8_t *bytes, int64_t size_bytes, leat_error *err) {
    return LEAT_DATABASE_CALL(pg, NULL, "select leat.put_data($1, $2, $3, $4, $5)", err, HELD(hold),
                              LEAT_PG_I(first), LEAT_PG_B(bytes, size_bytes));
}

leat_code leat_database_put_list(leat_pg *pg, const leat_database_hold *hold, int64_t part,
                                 const uint8_t *bytes, int64_t size_bytes, leat_error *err) {
    return LEAT_DATABASE_CALL(pg, NULL, "select leat.put_list($1, $2, $3, $4, $5)", err, HELD(hold),
                              LEAT_PG_I(part), LEAT_PG_B(bytes, size_bytes));
}

leat_code leat_database_keep_list(leat_pg *pg, const leat_database_hold *hold, int64_t list_bytes,
                                  leat_error *err) {
    return LEAT_DATABASE_CALL(pg, NULL, "select leat.keep_list($1, $2, $3, $4)", err, HELD(hold),
                              LEAT_PG_I(list_bytes));
}

/* ---- slots ---------------------------------------------------------------------------------- */

static const char *const kinds[] = {"weights", "state", "part"};

leat_code leat_database_clear(leat_pg *pg, const leat_database_hold *hold, leat_database_kind kind,
                              int slot, int wait_ms, bool *waited, leat_error *err) {
    leat_pg_rows *rows = NULL;
    char how[16];
    LEAT_ASSERT(slot == 0 || slot == 1);
    const leat_code code = LEAT_DATABASE_VALUE(
        pg, &rows, "select leat.clear_slot($1, $2, $3, $4, $5, $6)", err, HELD(hold),
        LEAT_PG_T(kinds[kind]), LEAT_PG_I(slot), LEAT_PG_I(wait_ms));
    LEAT_TRY(leat_database_take_text(code, rows, how, sizeof how));
    if (waited != NULL) *waited = strcmp(how, "deleted") == 0;
    return LEAT_OK;
}

leat_code leat_database_write(leat_pg *pg, const leat_database_hold *hold, leat_database_kind kind,
                              int slot, const uint8_t *bytes, int64_t size_bytes,
                              int64_t part_bytes, leat_error *err) {
    const int64_t parts = leat_database_parts(size_bytes, part_bytes);
    LEAT_ASSERT(slot == 0 || slot == 1);
    for (int64_t i = 0; i < parts; i++) {
        const int64_t first = i * part_bytes, left = size_bytes - first;
        LEAT_TRY(
            LEAT_DATABASE_CALL(pg, NULL, "select leat.put_slot($1, $2, $3, $4, $5, $6, $7)", err,
                               HELD(hold), LEAT_PG_T(kinds[kind]), LEAT_PG_I(slot), LEAT_PG_I(i),
                               LEAT_PG_B(bytes + first, left < part_bytes ? left : part_bytes)));
    }
    return LEAT_OK;
}

leat_code leat_database_read(leat_pg *pg, int64_t run, leat_database_kind kind, int slot,
                             const leat_database_into *into, leat_error *err) {
    char sql[128];
    LEAT_ASSERT(slot == 0 || slot == 1);
    snprintf(sql, sizeof sql,
             "select bytes from leat.%s_%lld_%d where $1::bigint > 0 and part = $2", kinds[kind],
             (long long)run, slot);
    return leat_database_read_parts(pg, sql, run, into, err);
}

leat_code leat_database_payload(leat_pg *pg, int64_t run, int64_t step, int64_t lease,
                                const leat_database_into *into, leat_error *err) {
    char sql[128];
    snprintf(sql, sizeof sql, "select bytes from leat.part_%lld_%d where lease = $1 and part = $2",
             (long long)run, (int)(step % 2));
    return leat_database_read_parts(pg, sql, lease, into, err);
}

leat_code leat_database_keep_state(leat_pg *pg, const leat_database_hold *hold, int64_t step,
                                   int slot, const char state[65], leat_error *err) {
    return LEAT_DATABASE_CALL(pg, NULL, "select leat.keep_state($1, $2, $3, $4, $5, $6)", err,
                              HELD(hold), LEAT_PG_I(step), LEAT_PG_I(slot), LEAT_PG_T(state));
}

/* ---- results -------------------------------------------------------------------------------- */

/* Of rows (unit, lease, account, machine, hash), at most `most`. */
static void take_results(leat_pg_rows *rows, leat_database_result *results, int most, int *count) {
    for (int i = 0; i < leat_pg_row_count(rows) && *count < most; i++) {
        leat_database_result *to = &results[(*count)++];
        to->unit = leat_pg_int(rows, i, 0);
        to->lease = leat_pg_int(rows, i, 1);
        leat_database_copy(to->account, sizeof to->account, leat_pg_text(rows, i, 2));
        leat_database_copy(to->machine, sizeof to->machine, leat_pg_text(rows, i, 3));
        leat_database_copy(to->hash, sizeof to->hash, leat_pg_text(rows, i, 4));
    }
    leat_pg_rows_destroy(rows);
}

leat_code leat_database_arrived(leat_pg *pg, int64_t run, leat_database_result *results, int most,
                                int *count, leat_error *err) {
    leat_pg_rows *rows = NULL;
    *count = 0;
    LEAT_TRY(LEAT_DATABASE_ROWS(
        pg, &rows, 5, 0,
        "select unit, lease, account, machine, hash from leat.arrived($1) limit $2", err,
        LEAT_PG_I(run), LEAT_PG_I(most)));
    take_results(rows, results, most, count);
    return LEAT_OK;
}

leat_code leat_database_confirm(leat_pg *pg, const leat_database_hold *hold, int64_t step,
                                const leat_database_result *result, bool *done, leat_error *err) {
    leat_pg_rows *rows = NULL;
    leat_code code = LEAT_DATABASE_VALUE(pg, &rows, "select leat.confirm($1, $2, $3, $4, $5, $6)",
                                         err, HELD(hold), LEAT_PG_I(step), LEAT_PG_I(result->unit),
                                         LEAT_PG_I(result->lease));
    return leat_database_take_bool(code, rows, done);
}

leat_code leat_database_refuse(leat_pg *pg, const leat_database_hold *hold, int64_t step,
                               const leat_database_result *result, bool mismatch,
                               const char *reason, bool *done, leat_error *err) {
    leat_pg_rows *rows = NULL;
    leat_code code = LEAT_DATABASE_VALUE(
        pg, &rows, "select leat.refuse($1, $2, $3, $4, $5, $6, $7, $8)", err, HELD(hold),
        LEAT_PG_I(step), LEAT_PG_I(result->unit), LEAT_PG_I(result->lease),
        LEAT_PG_T(mismatch ? "true" : "false"), LEAT_PG_T(reason));
    return leat_database_take_bool(code, rows, done);
}

leat_code leat_database_own_result(leat_pg *pg, const leat_database_hold *hold, int64_t step,
                                   int64_t unit, const char hash[65], bool *done, leat_error *err) {
    leat_pg_rows *rows = NULL;
    leat_code code =
        LEAT_DATABASE_VALUE(pg, &rows, "select leat.own_result($1, $2, $3, $4, $5, $6)", err,
                            HELD(hold), LEAT_PG_I(step), LEAT_PG_I(unit), LEAT_PG_T(hash));
    return leat_database_take_bool(code, rows, done);
}

leat_code leat_database_confirmed(leat_pg *pg, int64_t run, int64_t step, int64_t unit, bool *there,
                                  leat_database_result *result, leat_error *err) {
    leat_pg_rows *rows = NULL;
    int count = 0;
    *there = false;
    *result = (leat_database_result){0};
    LEAT_TRY(LEAT_DATABASE_ROWS(
        pg, &rows, 6, 0,
        "select u.unit, coalesce(u.lease, 0), coalesce(l.account, ''), coalesce(l.machine, ''), "
        "coalesce(u.hash, ''), u.state = 'confirmed' from leat.unit u join leat.run r on r.id = "
        "u.run and r.step = u.step left join leat.lease l on l.lease = u.lease where u.run = $1 "
        "and u.step = $2 and u.unit = $3",
        err, LEAT_PG_I(run), LEAT_PG_I(step), LEAT_PG_I(unit)));
    const bool found = leat_pg_row_count(rows) == 1 && leat_pg_int(rows, 0, 0) == unit;
    if (found) *there = leat_pg_bool(rows, 0, 5);
    if (found) take_results(rows, result, 1, &count);
    else leat_pg_rows_destroy(rows);
    if (found) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_NOT_FOUND, "step %lld is no longer open in the database",
                     (long long)step);
}

leat_code leat_database_hopeless(leat_pg *pg, int64_t run, int64_t *units, int most, int *count,
                                 leat_error *err) {
    leat_pg_rows *rows = NULL;
    *count = 0;
    LEAT_TRY(LEAT_DATABASE_ROWS(pg, &rows, 1, 0, "select * from leat.hopeless($1) limit $2", err,
                                LEAT_PG_I(run), LEAT_PG_I(most)));
    for (int i = 0; i < leat_pg_row_count(rows) && *count < most; i++)
        units[(*count)++] = leat_pg_int(rows, i, 0);
    leat_pg_rows_destroy(rows);
    return LEAT_OK;
}

leat_code leat_database_recover(leat_pg *pg, const leat_database_hold *hold, const int64_t *kept,
                                int kept_count, int64_t *lost, leat_error *err) {
    leat_buf list = {0};
    leat_pg_rows *rows = NULL;
    *lost = 0;
    leat_code code = leat_buf_printf(&list, err, "{");
    for (int i = 0; i < kept_count && code == LEAT_OK; i++)
        code = leat_buf_printf(&list, err, i > 0 ? ",%lld" : "%lld", (long long)kept[i]);
    if (code == LEAT_OK) code = leat_buf_append(&list, "}", 2, err);
    if (code == LEAT_OK)
        code = LEAT_DATABASE_VALUE(pg, &rows, "select leat.recover($1, $2, $3, $4)", err,
                                   HELD(hold), LEAT_PG_T((const char *)list.data));
    if (code == LEAT_OK) *lost = leat_pg_int(rows, 0, 0);
    leat_pg_rows_destroy(rows);
    leat_buf_free(&list);
    return code;
}

/* ---- steps ---------------------------------------------------------------------------------- */

leat_code leat_database_has_weights(leat_pg *pg, int64_t run, int slot, int64_t size_bytes,
                                    bool *there, leat_error *err) {
    leat_pg_rows *rows = NULL;
    char sql[128];
    snprintf(sql, sizeof sql,
             "select coalesce(sum(octet_length(bytes)), 0) = $1 from leat.weights_%lld_%d",
             (long long)run, slot);
    const leat_code code = LEAT_DATABASE_VALUE(pg, &rows, sql, err, LEAT_PG_I(size_bytes));
    return leat_database_take_bool(code, rows, there);
}

leat_code leat_database_open_step(leat_pg *pg, const leat_database_hold *hold,
                                  const leat_database_opening *of, leat_error *err) {
    LEAT_ASSERT(of->units >= 0);
    return LEAT_DATABASE_CALL(pg, NULL, "select leat.open_step($1, $2, $3, $4, $5, $6, $7)", err,
                              HELD(hold), LEAT_PG_I(of->step), LEAT_PG_I(of->slot),
                              LEAT_PG_T(of->weights), LEAT_PG_I(of->units));
}

leat_code leat_database_commit(leat_pg *pg, const leat_database_hold *hold,
                               const leat_database_step *step, leat_error *err) {
    const leat_pg_value none = {.kind = LEAT_PG_NULL};
    char gradient[32], statistics[32];
    LEAT_ASSERT(step->value_count >= 0 && step->value_count <= LEAT_STEP_VALUES_MAX);
    snprintf(gradient, sizeof gradient, "%.17g", step->norms.gradient);
    snprintf(statistics, sizeof statistics, "%.17g", step->norms.statistics);
    return LEAT_DATABASE_CALL(
        pg, NULL,
        "select leat.commit_step($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)", err,
        HELD(hold), LEAT_PG_I(step->step), LEAT_PG_I(step->weights_slot), LEAT_PG_T(step->weights),
        step->state_slot < 0 ? none : LEAT_PG_I(step->state_slot), LEAT_PG_T(step->state),
        LEAT_PG_I(step->samples), LEAT_PG_R(step->values, step->value_count),
        LEAT_PG_I(step->units), LEAT_PG_I(step->next_units), LEAT_PG_T(gradient),
        LEAT_PG_T(statistics));
}

leat_code leat_database_usual(leat_pg *pg, int64_t run, int64_t step, leat_usual *usual,
                              leat_error *err) {
    leat_pg_rows *rows = NULL;
    LEAT_TRY(LEAT_DATABASE_ROWS(pg, &rows, 3, 0,
                                "select step, gradient_norm, statistics_norm from leat.step where "
                                "run = $1 and step >= $2 and step < $3 and step >= 0",
                                err, LEAT_PG_I(run), LEAT_PG_I(step - LEAT_USUAL_STEPS),
                                LEAT_PG_I(step)));
    for (int i = 0; i < leat_pg_row_count(rows); i++)
        leat_usual_put(usual, leat_pg_int(rows, i, 0),
                       (leat_unit_norms){leat_pg_real(rows, i, 1), leat_pg_real(rows, i, 2)});
    leat_pg_rows_destroy(rows);
    return LEAT_OK;
}

leat_code leat_database_others(leat_pg *pg, int64_t *sessions, leat_error *err) {
    leat_pg_rows *rows = NULL;
    *sessions = 0;
    LEAT_TRY(leat_database_call(pg, &rows, (leat_pg_shape){1, 1, false},
                                "select count(*) from pg_stat_activity where datname = "
                                "current_database() and usename <> current_user",
                                NULL, 0, err));
    *sessions = leat_pg_int(rows, 0, 0);
    leat_pg_rows_destroy(rows);
    return LEAT_OK;
}

leat_code leat_database_machines(leat_pg *pg, int64_t run, int64_t silent_ms, int64_t *machines,
                                 leat_error *err) {
    leat_pg_rows *rows = NULL;
    *machines = 0;
    LEAT_TRY(LEAT_DATABASE_VALUE(
        pg, &rows,
        "select count(*) from leat.workers where run = $1 and "
        "leat.holds(last_heartbeat + $2::bigint * interval '1 millisecond', $2)",
        err, LEAT_PG_I(run), LEAT_PG_I(silent_ms)));
    *machines = leat_pg_int(rows, 0, 0);
    leat_pg_rows_destroy(rows);
    return LEAT_OK;
}
