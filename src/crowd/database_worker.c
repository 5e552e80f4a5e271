/* What workers call: see database.h. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "crowd/database_parts.h"

/* How many steps a run has. In a statement of its own: leat.register sees a run that was made, or
 * continued, after the statement that calls it began, and the rest of that statement does not. */
static leat_code find_steps(leat_pg *pg, leat_database_run *run, leat_error *err) {
    leat_pg_rows *rows = NULL;
    LEAT_TRY(LEAT_DATABASE_ROWS(pg, &rows, 1, 0,
                                "select steps from leat.training_state where run = $1", err,
                                LEAT_PG_I(run->id)));
    const bool there = leat_pg_row_count(rows) > 0;
    if (there) run->steps = leat_pg_int(rows, 0, 0);
    leat_pg_rows_destroy(rows);
    if (there) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_NOT_FOUND, "the run is no longer in the database");
}

leat_code leat_database_register(leat_pg *pg, const char *run_name,
                                 const leat_database_machine *machine, leat_database_run *run,
                                 leat_pg_rows **rows, leat_error *err) {
    leat_error why = {0};
    *run = (leat_database_run){0};
    *rows = NULL;
    LEAT_TRY(leat_database_check_version(pg, err));
    leat_code code = LEAT_DATABASE_ROWS(
        pg, rows, 20, 1,
        "select run, name, identity, settings, model, model_hash, data, data_note, kernel_class, "
        "leat_version, state, samples, payload_bytes, weights_bytes, memory_bytes, part_bytes, "
        "lease_ms, renew_ms, sample_bytes, list_bytes from leat.register($1, $2, $3, $4, $5)",
        &why, LEAT_PG_T(run_name), LEAT_PG_T(machine->id), LEAT_PG_T(machine->secret),
        LEAT_PG_T(machine->name), LEAT_PG_T(machine->hardware));
    if (code == LEAT_ERR_INPUT && strncmp(leat_pg_sqlstate(pg), "42", 2) == 0)
        return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                         "the schema \"leat\" of this database is that of another version of leat "
                         "(%.300s); this leat needs version %d",
                         why.message, LEAT_CROWD_SCHEMA_VERSION);
    if (code != LEAT_OK) return leat_error_copy(err, &why);
    const char **const texts[] = {
        &run->name, &run->identity,  &run->settings,     &run->model,        &run->model_hash,
        &run->data, &run->data_note, &run->kernel_class, &run->leat_version, &run->state};
    int64_t *const numbers[] = {&run->samples,      &run->payload_bytes, &run->weights_bytes,
                                &run->memory_bytes, &run->part_bytes,    &run->lease_ms,
                                &run->renew_ms,     &run->sample_bytes,  &run->list_bytes};
    int column = 0;
    run->id = leat_pg_int(*rows, 0, column++);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i] = leat_pg_text(*rows, 0, column++);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = leat_pg_int(*rows, 0, column++);
    code = find_steps(pg, run, err);
    if (code == LEAT_OK) code = leat_database_check_run(run, err);
    if (code == LEAT_OK) return LEAT_OK;
    leat_pg_rows_destroy(*rows);
    *rows = NULL;
    return code;
}

leat_code leat_database_rejoin(leat_pg *pg, const char *machine, const char *secret, bool *known,
                               leat_error *err) {
    leat_pg_rows *rows = NULL;
    const leat_code code = LEAT_DATABASE_VALUE(pg, &rows, "select leat.rejoin($1, $2)", err,
                                               LEAT_PG_T(machine), LEAT_PG_T(secret));
    return leat_database_take_bool(code, rows, known);
}

static const leat_pg_shape one_bytes = {.columns = 1, .least_rows = 1, .bytes = true};

#define GRANT "select lease, epoch, step, unit, kind = 'copy', weights, state, news from "

static leat_code ask_for_unit(leat_pg *pg, const char *sql, int64_t run, const char *machine,
                              int64_t kept, leat_database_lease *lease, leat_error *err) {
    leat_pg_rows *rows = NULL;
    *lease = (leat_database_lease){0};
    LEAT_TRY(LEAT_DATABASE_ROWS(pg, &rows, 8, 1, sql, err, LEAT_PG_I(run), LEAT_PG_T(machine),
                                LEAT_PG_I(kept)));
    lease->lease = leat_pg_int(rows, 0, 0);
    lease->epoch = leat_pg_int(rows, 0, 1);
    lease->step = leat_pg_int(rows, 0, 2);
    lease->unit = leat_pg_int(rows, 0, 3);
    lease->copy = leat_pg_bool(rows, 0, 4);
    leat_database_copy(lease->weights, sizeof lease->weights, leat_pg_text(rows, 0, 5));
    leat_database_copy(lease->run_state, sizeof lease->run_state, leat_pg_text(rows, 0, 6));
    leat_database_copy(lease->news, sizeof lease->news, leat_pg_text(rows, 0, 7));
    leat_pg_rows_destroy(rows);
    return LEAT_OK;
}

leat_code leat_database_claim(leat_pg *pg, int64_t run, const char *machine, int64_t kept,
                              leat_database_lease *lease, leat_error *err) {
    return ask_for_unit(pg, GRANT "leat.claim($1, $2, $3)", run, machine, kept, lease, err);
}

leat_code leat_database_claim_ahead(leat_pg *pg, int64_t run, const char *machine, int64_t kept,
                                    leat_database_lease *lease, leat_error *err) {
    return ask_for_unit(pg, GRANT "leat.claim_ahead($1, $2, $3)", run, machine, kept, lease, err);
}

leat_code leat_database_renew(leat_pg *pg, const leat_database_lease *lease,
                              char why[LEAT_CROWD_WORDS_BYTES], leat_error *err) {
    leat_pg_rows *rows = NULL;
    leat_code code = LEAT_DATABASE_VALUE(pg, &rows, "select leat.renew($1, $2)", err,
                                         LEAT_PG_I(lease->lease), LEAT_PG_I(lease->epoch));
    return leat_database_take_text(code, rows, why, LEAT_CROWD_WORDS_BYTES);
}

leat_code leat_database_release(leat_pg *pg, const leat_database_lease *lease, leat_error *err) {
    return LEAT_DATABASE_CALL(pg, NULL, "select leat.release($1, $2)", err, LEAT_PG_I(lease->lease),
                              LEAT_PG_I(lease->epoch));
}

leat_code leat_database_fail(leat_pg *pg, const leat_database_lease *lease, const char *reason,
                             leat_error *err) {
    return LEAT_DATABASE_CALL(pg, NULL, "select leat.fail($1, $2, $3)", err,
                              LEAT_PG_I(lease->lease), LEAT_PG_I(lease->epoch), LEAT_PG_T(reason));
}

leat_code leat_database_slow(leat_pg *pg, int64_t run, const char *machine, const char *words,
                             leat_error *err) {
    const leat_code code = LEAT_DATABASE_CALL(pg, NULL, "select leat.slow($1, $2, $3)", err,
                                              LEAT_PG_I(run), LEAT_PG_T(machine), LEAT_PG_T(words));
    return leat_pg_broken(pg) ? code : LEAT_OK;
}

/* Results that others have damaged are made again: it passes. */
static leat_code passes(leat_code code) { return code == LEAT_ERR_CORRUPT ? LEAT_ERR_BUSY : code; }

leat_code leat_database_put(leat_pg *pg, const leat_database_lease *lease, int64_t part,
                            const uint8_t *bytes, int64_t size_bytes,
                            char why[LEAT_CROWD_WORDS_BYTES], leat_error *err) {
    leat_pg_rows *rows = NULL;
    leat_code code = LEAT_DATABASE_VALUE(pg, &rows, "select leat.put($1, $2, $3, $4)", err,
                                         LEAT_PG_I(lease->lease), LEAT_PG_I(lease->epoch),
                                         LEAT_PG_I(part), LEAT_PG_B(bytes, size_bytes));
    return leat_database_take_text(passes(code), rows, why, LEAT_CROWD_WORDS_BYTES);
}

leat_code leat_database_submit(leat_pg *pg, const leat_database_lease *lease, const char hash[65],
                               char why[LEAT_CROWD_WORDS_BYTES], leat_error *err) {
    leat_pg_rows *rows = NULL;
    leat_code code =
        LEAT_DATABASE_VALUE(pg, &rows, "select leat.submit($1, $2, $3)", err,
                            LEAT_PG_I(lease->lease), LEAT_PG_I(lease->epoch), LEAT_PG_T(hash));
    return leat_database_take_text(passes(code), rows, why, LEAT_CROWD_WORDS_BYTES);
}

leat_code leat_database_fetch(leat_pg *pg, int64_t run, const char weights[65], int64_t part,
                              uint8_t *out, int64_t size_bytes, leat_error *err) {
    leat_pg_rows *rows = NULL;
    const leat_pg_value values[] = {LEAT_PG_I(run), LEAT_PG_T(weights), LEAT_PG_I(part)};
    int64_t got = 0;
    LEAT_TRY(
        leat_database_call(pg, &rows, one_bytes, "select leat.fetch($1, $2, $3)", values, 3, err));
    const uint8_t *bytes = leat_pg_bytes(rows, 0, &got);
    leat_code code = LEAT_OK;
    if (bytes == NULL) {
        code = leat_fail(err, LEAT_ERR_NOT_FOUND, "the weights are no longer in the database");
    } else if (got != size_bytes) {
        code = leat_fail(err, LEAT_ERR_CORRUPT,
                         "part %lld of the weights has %lld bytes instead of %lld", (long long)part,
                         (long long)got, (long long)size_bytes);
    } else {
        memcpy(out, bytes, (size_t)got);
    }
    leat_pg_rows_destroy(rows);
    return code;
}

int64_t leat_database_samples_most(int64_t part_bytes, int64_t sample_bytes) {
    return part_bytes < sample_bytes ? 1 : part_bytes / sample_bytes;
}

/* Numbers as SQL writes an array of them: "{3,5}". */
static leat_code write_numbers(leat_buf *to, const int64_t *numbers, int64_t count,
                               leat_error *err) {
    for (int64_t i = 0; i < count; i++)
        LEAT_TRY(leat_buf_printf(to, err, "%c%lld", i == 0 ? '{' : ',', (long long)numbers[i]));
    return leat_buf_append(to, count == 0 ? "{}" : "}", count == 0 ? 3 : 2, err);
}

leat_code leat_database_samples(leat_pg *pg, int64_t run, const int64_t *indices, int64_t count,
                                uint8_t *out, int64_t size_bytes, leat_error *err) {
    leat_pg_rows *rows = NULL;
    leat_buf numbers = {0};
    int64_t got = 0;
    leat_code code = write_numbers(&numbers, indices, count, err);
    if (code == LEAT_OK) {
        const leat_pg_value values[] = {LEAT_PG_I(run), LEAT_PG_T(numbers.data)};
        code =
            leat_database_call(pg, &rows, one_bytes, "select leat.samples($1, $2)", values, 2, err);
    }
    leat_buf_free(&numbers);
    LEAT_TRY(code);
    const uint8_t *bytes = leat_pg_bytes(rows, 0, &got);
    if (bytes == NULL) {
        code = leat_fail(err, LEAT_ERR_NOT_FOUND,
                         "the run's data set is not completely in the database");
    } else if (got != size_bytes) {
        code = leat_fail(err, LEAT_ERR_CORRUPT,
                         "%lld samples of the database have %lld bytes instead of %lld",
                         (long long)count, (long long)got, (long long)size_bytes);
    } else {
        memcpy(out, bytes, (size_t)got);
    }
    leat_pg_rows_destroy(rows);
    return code;
}

leat_code leat_database_list(leat_pg *pg, const leat_database_run *run, uint8_t *out,
                             leat_error *err) {
    const leat_database_into into = {out, run->list_bytes, run->part_bytes};
    return leat_database_read_parts(pg, "select leat.fetch_list($1, $2)", run->id, &into, err);
}
