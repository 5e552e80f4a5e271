/* Facts as JSON: volunteers' words as texts on one line; what one more machine would bring. */
#include "check.h"

#include <math.h>
#include <stdlib.h>

#include "base/json.h"
#include "dash/metrics.h"

static leat_dash_facts *facts; /* too large for a stack */

static void write_facts(leat_json **json, const char **text, json_t **parsed) {
    int64_t size;
    assert_ok(leat_dash_facts_json(facts, json, text, &size, err));
    assert_ptr_equal(strchr(*text, '\n'), *text + size - 1);
    assert_ok(leat_json_parse(*text, size, "facts", parsed, err));
}

static const char *text_of(const json_t *object, const char *list, const char *key) {
    const json_t *of = json_object_get(json_object_get(object, "database"), list);
    return json_string_value(json_object_get(json_array_get(of, 0), key));
}

static void hostile_words(void **state) {
    static const char script[] = "<script>alert(1)</script>", lines[] = "a\n\ndata: {}\r\n\x1b[2J";
    leat_json *json;
    const char *text;
    json_t *parsed;
    (void)state;
    *facts = (leat_dash_facts){.has_database = true, .seen.id = 1};
    leat_crowd_seen *seen = &facts->seen;
    seen->worker_count = seen->account_count = seen->event_count = 1;
    memcpy(seen->workers[0].name, script, sizeof script);
    memcpy(seen->workers[0].hardware, lines, sizeof lines);
    memcpy(seen->accounts_shown[0].account, "\"}],\xff", 6);
    memcpy(seen->events[0].words, lines, sizeof lines);
    write_facts(&json, &text, &parsed);
    assert_string_equal(text_of(parsed, "machines", "name"), script);
    assert_string_equal(text_of(parsed, "machines", "hardware"), lines);
    assert_string_equal(text_of(parsed, "accounts", "account"), "\"}],\xef\xbf\xbd");
    assert_string_equal(text_of(parsed, "events", "words"), lines);
    json_decref(parsed);
    leat_json_destroy(json);
}

/* Numbers that are not known are left out; of many samples some, the first and the last among
 * them. */
static void unknown_and_many(void **state) {
    enum { MANY = 5000 };
    static int64_t kept[MANY];
    leat_json *json;
    const char *text;
    json_t *parsed;
    (void)state;
    for (int i = 0; i < MANY; i++) kept[i] = 10 * i;
    *facts = (leat_dash_facts){.has_folder = true,
                               .kept = kept,
                               .kept_count = MANY,
                               .best_step = -1,
                               .checkpoint_step = -1,
                               .step_seconds = NAN,
                               .samples_per_second = INFINITY,
                               .seconds_left = 12345.678};
    write_facts(&json, &text, &parsed);
    assert_null(json_object_get(parsed, "step_seconds"));
    assert_null(json_object_get(parsed, "samples_per_second"));
    assert_null(json_object_get(parsed, "steps"));
    assert_null(json_object_get(parsed, "database"));
    assert_float_equal(json_number_value(json_object_get(parsed, "seconds_left")), 12300, 0);
    const json_t *folder = json_object_get(parsed, "folder");
    const json_t *samples = json_object_get(folder, "samples");
    assert_int_equal(json_array_size(samples), LEAT_DASH_PICKED);
    assert_int_equal(json_integer_value(json_array_get(samples, 0)), 0);
    assert_int_equal(json_integer_value(json_array_get(samples, LEAT_DASH_PICKED - 1)),
                     10 * (MANY - 1));
    assert_null(json_object_get(folder, "best"));
    json_decref(parsed);
    leat_json_destroy(json);
}

static void as_metrics(void **state) {
    leat_buf out = {0};
    (void)state;
    *facts = (leat_dash_facts){.has_database = true,
                               .database_problem = "away",
                               .seen.id = 1,
                               .step = 7,
                               .step_seconds = 0.5,
                               .samples_per_second = NAN,
                               .seconds_left = NAN,
                               .number_count = 1,
                               .numbers = {{"G loss", 1.5}}};
    facts->seen.account_count = 1;
    facts->seen.accounts_shown[0].accepted = 12;
    memcpy(facts->seen.accounts_shown[0].account, "a\"}\n\\\xff", 7);
    assert_ok(leat_dash_metrics(facts, &out, err));
    assert_ok(leat_buf_append(&out, "", 1, err));
    const char *text = (const char *)out.data;
    assert_non_null(strstr(text, "# TYPE leat_step gauge\nleat_step 7\n"));
    assert_non_null(strstr(text, "\nleat_step_seconds 0.5\n"));
    assert_non_null(strstr(text, "\nleat_value{name=\"G loss\"} 1.5\n"));
    assert_non_null(strstr(text, "\nleat_source_up{source=\"database\"} 0\n"));
    assert_non_null(
        strstr(text, "\nleat_accepted_units{account=\"a\\\"}\\\\x0a\\\\\\\\xff\"} 12\n"));
    assert_null(strstr(text, "leat_steps"));
    assert_null(strstr(text, "leat_seconds_left"));
    leat_buf_free(&out);
}

static void one_more_machine(void **state) {
    static const struct {
        int64_t machines, units;
        double unit, step, then; /* NaN: not known */
        int64_t rounds, rounds_then;
    } rows[] = {
        {3, 12, 2, 10, 8, 4, 3},                            /* 4 units each, then 3 */
        {4, 12, 2, 8, 8, 3, 3},                             /* the busiest still has 3 */
        {1, 2, 5, 12, 7, 2, 1},      {5, 3, 2, 4, 4, 1, 1}, /* more machines than units */
        {1, 4, 5, 10, NAN, 0, 0},  /* units would take longer than the step does */
        {0, 12, 2, 10, NAN, 0, 0}, /* nobody has finished a unit */
        {3, 12, NAN, 10, NAN, 0, 0}, {3, 12, 2, NAN, NAN, 0, 0}, {3, 0, 2, 10, NAN, 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        /* however many are connected: those that finish nothing take no unit from others */
        *facts = (leat_dash_facts){.seen = {.all.active = rows[i].machines + 7,
                                            .delivered = rows[i].machines,
                                            .unit_seconds = rows[i].unit,
                                            .run.step_seconds = rows[i].step}};
        const leat_dash_more more = leat_dash_estimate(&facts->seen, rows[i].units);
        assert_int_equal(more.known, !isnan(rows[i].then));
        assert_int_equal(more.rounds, rows[i].rounds);
        assert_int_equal(more.rounds_then, rows[i].rounds_then);
        if (more.known) assert_float_equal(more.step_then, rows[i].then, 1e-12);
    }
}

static const leat_value names[] = {
    {.name = "a", .label = "A", .figure = "One", .axis = "x", .sum = "sum"},
    {.name = "b", .label = "B", .figure = "Two", .axis = "y"},
    {.name = "c", .label = "C", .figure = "One", .axis = "x", .sum = "sum"},
    {.name = "d", .label = "D"},
    {0},
};

static void curves_and_sums(void **state) {
    const struct {
        int64_t step;
        double values[4];
    } points[] = {{1, {1, 2, 3, 4}}, {2, {5, NAN, 7, 8}}};
    const leat_dash_figure of = {.steps = &points[0].step, .count = 2, .stride = 5};
    leat_dash_curves curves = {0};
    leat_json *json;
    const char *text;
    int64_t size;
    (void)state;
    leat_dash_add_curves(&curves, names, &of, points[0].values);
    assert_ok(leat_dash_curves_json(&curves, &json, &text, &size, err));
    assert_string_equal(
        text, "{\"figures\":[{\"title\":\"One\",\"axis\":\"x\",\"steps\":[1,2],\"lines\":["
              "{\"label\":\"A\",\"ys\":[1.0,5.0]},{\"label\":\"C\",\"ys\":[3.0,7.0]}]},"
              "{\"title\":\"Two\",\"axis\":\"y\",\"steps\":[1,2],\"lines\":["
              "{\"label\":\"B\",\"ys\":[2.0,null]}]}]}\n");
    leat_json_destroy(json);
    *facts = (leat_dash_facts){0};
    leat_dash_add_numbers(facts, names, points[0].values, NULL);
    assert_int_equal(facts->number_count, 1);
    assert_string_equal(facts->numbers[0].label, "sum");
    assert_float_equal(facts->numbers[0].value, 4, 0);
    /* a loss that is not finite is said to be so, and not left out */
    *facts = (leat_dash_facts){0};
    leat_dash_add_numbers(facts, names, (const double[]){NAN, 2, 3, 4}, NULL);
    assert_int_equal(facts->number_count, 1);
    assert_true(isnan(facts->numbers[0].value));
    /* one that is missing is not said to be anything */
    *facts = (leat_dash_facts){0};
    leat_dash_add_numbers(facts, names, (const double[]){NAN, 2, 3, 4},
                          (const bool[]){false, true, true, true});
    assert_int_equal(facts->number_count, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_words),   cmocka_unit_test(unknown_and_many),
        cmocka_unit_test(as_metrics),      cmocka_unit_test(one_more_machine),
        cmocka_unit_test(curves_and_sums),
    };
    facts = calloc(1, sizeof *facts);
    const int failed = facts == NULL ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
    free(facts);
    return failed;
}
