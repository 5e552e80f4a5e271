/* What the coordinator writes to the ledger of its run (train/run/ledger.h). */
#include <string.h>

#include "base/json.h"
#include "base/lines.h"
#include "crowd/coordinator.h"
#include "leat/base.h"

leat_code leat_coordinator_record_begin(leat_coordinator *self, leat_error *err) {
    const leat_identity *identity = &self->session.identity;
    leat_json *json = NULL;
    if (self->ledger_begun) return LEAT_OK;
    LEAT_TRY(leat_ledger_begin(&self->ledger, "begin", &json, err));
    leat_json_member_int(json, "step", leat_trainer_state(self->session.trainer)->step);
    leat_json_member_string(json, "run", identity->run);
    leat_json_member_string(json, "model", identity->model_hash);
    leat_json_member_string(json, "data", identity->data);
    leat_json_member_string(json, "kernel_class", identity->kernel_class);
    leat_json_member_string(json, "leat_version", leat_version());
    leat_json_member_string(json, "coordinator", self->options->who);
    LEAT_TRY(leat_ledger_end(&self->ledger, json, err));
    self->ledger_begun = true;
    return leat_ledger_sync(&self->ledger, err);
}

/* The members of a result. */
static void put_result(leat_json *json, int64_t step, const leat_database_result *result) {
    leat_json_member_int(json, "step", step + 1);
    leat_json_member_int(json, "unit", result->unit);
    if (result->account[0] != 0) {
        leat_json_member_string(json, "account", result->account);
        leat_json_member_string(json, "machine", result->machine);
    }
    leat_json_member_string(json, "hash", result->hash);
}

leat_code leat_coordinator_record_refused(leat_coordinator *self, int64_t step,
                                          const leat_database_result *result, bool mismatch,
                                          const char *why, leat_error *err) {
    leat_json *json = NULL;
    LEAT_TRY(leat_ledger_begin(&self->ledger, "refused", &json, err));
    put_result(json, step, result);
    leat_json_member_bool(json, "mismatch", mismatch);
    leat_json_member_string(json, "reason", why);
    LEAT_TRY(leat_ledger_end(&self->ledger, json, err));
    return leat_ledger_sync(&self->ledger, err);
}

leat_code leat_coordinator_record_step(leat_coordinator *self, int64_t step, leat_error *err) {
    leat_json *json = NULL;
    int64_t units = 0;
    LEAT_TRY(leat_feed_units(&self->session.feed, step, &units, err));
    for (int64_t unit = 0; unit < units; unit++) {
        LEAT_ASSERT(self->counted[unit].unit == unit && strlen(self->counted[unit].hash) == 64);
        LEAT_TRY(leat_ledger_begin(&self->ledger, "unit", &json, err));
        put_result(json, step, &self->counted[unit]);
        LEAT_TRY(leat_ledger_end(&self->ledger, json, err));
    }
    LEAT_TRY(leat_ledger_begin(&self->ledger, "step", &json, err));
    leat_json_member_int(json, "step", step + 1);
    leat_json_member_string(json, "state", self->state_hash);
    leat_json_member_double(json, "gradient_norm", self->taken.norms.gradient);
    leat_json_member_double(json, "statistics_norm", self->taken.norms.statistics);
    LEAT_TRY(leat_ledger_end(&self->ledger, json, err));
    return leat_ledger_sync(&self->ledger, err);
}

/* Of a line of the ledger that ends a step before this one; lines of older versions have no norms.
 */
static leat_code take_norms(leat_usual *usual, int64_t before, const leat_line *line,
                            leat_error *err) {
    json_t *json = NULL;
    LEAT_TRY(leat_json_parse(line->data, line->size_bytes, "a line of the ledger", &json, err));
    const json_int_t step = json_integer_value(json_object_get(json, "step"));
    const json_t *gradient = json_object_get(json, "gradient_norm");
    const json_t *statistics = json_object_get(json, "statistics_norm");
    if (step >= 1 && step <= before && json_is_number(gradient) && json_is_number(statistics))
        leat_usual_put(
            usual, step - 1,
            (leat_unit_norms){json_number_value(gradient), json_number_value(statistics)});
    json_decref(json);
    return LEAT_OK;
}

leat_code leat_coordinator_read_usual(leat_coordinator *self, const char *path, leat_error *err) {
    static const char kind[] = "\"kind\":\"step\",";
    const leat_lines_options plain = {0};
    const int64_t step = leat_trainer_state(self->session.trainer)->step;
    leat_lines *lines = NULL;
    leat_line line;
    bool found = true;
    LEAT_TRY(leat_lines_open(&lines, path, &plain, err));
    leat_code code = LEAT_OK;
    while (code == LEAT_OK && found) {
        code = leat_lines_next(lines, &line, &found, err);
        if (code != LEAT_OK || !found ||
            line.size_bytes < LEAT_LEDGER_KIND_AT + (int64_t)sizeof kind)
            continue;
        if (memcmp(line.data + LEAT_LEDGER_KIND_AT, kind, sizeof kind - 1) == 0)
            code = take_norms(&self->usual, step, &line, err);
    }
    leat_lines_close(lines);
    return code;
}
