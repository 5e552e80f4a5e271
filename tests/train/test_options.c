/*
 * The options of a run: those of every run and those of its model as one list of names, their order
 * in files and in the run's hash, and what is read back.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "train/run/folder.h"
#include "train_support.h"

/* ---- The list ------------------------------------------------------------------------------- */

static char *names_of(const leat_run_options *options) {
    leat_buf text = {0};
    leat_run_option option;
    for (int i = 0; leat_run_option_at(options, i, &option); i++)
        assert_ok(leat_buf_printf(&text, err, "%s ", option.row->name));
    assert_ok(leat_buf_append(&text, "", 1, err));
    return (char *)text.data;
}

static leat_run_options taken; /* not copied: it points to itself */

static const leat_run_options *take(const leat_train_options *options) {
    assert_ok(leat_run_options_take(&taken, "dcgan", options, err));
    return &taken;
}

/* The text of a run's hash and its files have this order: a change would be another run. */
static void the_order_is_that_of_the_first_runs(void **state) {
    const leat_train_options options = leat_train_options_default();
    (void)state;
    char *names = names_of(take(&options));
    assert_string_equal(names,
                        "steps epochs width latent schedule units unit-size micro-batch codec-up "
                        "codec-down learning-rate beta1 beta2 seed checkpoint-every "
                        "checkpoint-minutes keep sample-every patience threads memory kernels "
                        "init export ");
    free(names);
}

static const leat_setting_table *colour_table(void) {
    static const leat_setting rows[] = {{.name = "colour", .kind = LEAT_SETTING_INT, .max = 9},
                                        {.name = "depth", .kind = LEAT_SETTING_INT, .max = 9},
                                        {.name = NULL}};
    static const leat_setting_table table = {"a model", rows, 8, NULL};
    return &table;
}

static void without_an_order_a_models_settings_come_first(void **state) {
    static const char *const order[] = {"seed", "depth", NULL};
    leat_task task = {.settings = colour_table};
    leat_run_options options = {.task = &task};
    (void)state;
    char *names = names_of(&options);
    assert_true(strncmp(names, "colour depth steps epochs units ", 32) == 0);
    assert_non_null(strstr(names, " export "));
    free(names);
    task.order = order;
    names = names_of(&options);
    assert_true(strncmp(names, "seed depth colour steps epochs ", 31) == 0);
    assert_null(strstr(names + 5, "seed"));
    free(names);
}

/* ---- A run's hash --------------------------------------------------------------------------- */

static const char *hash_of(const leat_train_options *options) {
    static leat_identity identity;
    identity = (leat_identity){.model = "dcgan", .samples = 7};
    assert_ok(leat_identity_hash(&identity, take(options), err));
    return identity.run;
}

static void no_settings_are_the_defaults(void **state) {
    leat_train_options options = leat_train_options_default();
    leat_dcgan_settings own = leat_dcgan_settings_default();
    char without[65], changed[65];
    (void)state;
    assert_null(options.settings);
    snprintf(without, sizeof without, "%s", hash_of(&options));
    options.settings = &own;
    assert_string_equal(hash_of(&options), without);
    own.latent = 99;
    snprintf(changed, sizeof changed, "%s", hash_of(&options));
    assert_string_not_equal(changed, without);
    own.latent = 100;
    assert_string_equal(hash_of(&options), without);
    assert_int_equal(((const leat_dcgan_settings *)taken.run.settings)->latent, 100);
    own.latent = 3; /* of the caller: what was taken is a copy */
    assert_int_equal(((const leat_dcgan_settings *)taken.run.settings)->latent, 100);
    own.latent = 5000;
    assert_fails(leat_run_options_check(take(&options), err), LEAT_ERR_OPTION, "latent: \"5000\"");
    assert_fails(leat_run_options_take(&taken, "gpt", &options, err), LEAT_ERR_OPTION,
                 "there is no model \"gpt\"; there is dcgan");
}

/* ---- Settings as a text --------------------------------------------------------------------- */

static void settings_are_read_as_they_are_written(void **state) {
    leat_train_options options = train_small();
    leat_run_options back;
    leat_buf text = {0}, again = {0};
    (void)state;
    options.steps = 9;
    options.seed = UINT64_MAX;
    assert_ok(leat_settings_write(take(&options), &text, err));
    assert_non_null(strstr((const char *)text.data, "\"latent\":\"3\",\"schedule\":\"simul"));
    assert_ok(leat_settings_read((const char *)text.data, "dcgan", &back, err));
    assert_ptr_equal(back.run.settings, &back.settings);
    assert_int_equal(((const leat_dcgan_settings *)back.run.settings)->latent, 3);
    assert_int_equal(back.run.steps, 9);
    assert_ok(leat_settings_write(&back, &again, err));
    assert_string_equal((const char *)again.data, (const char *)text.data);
    leat_buf_free(&text);
    leat_buf_free(&again);
}

static void other_settings_are_refused(void **state) {
    static const struct {
        const char *text, *model;
        leat_code code;
        const char *says;
    } cases[] = {
        {"{\"width\": \"3\", \"colour\": \"1\"}", "dcgan", LEAT_ERR_CORRUPT, "setting \"colour\""},
        {"{\"threads\": \"3\"}", "dcgan", LEAT_ERR_CORRUPT, "setting \"threads\""},
        {"{\"width\": 3}", "dcgan", LEAT_ERR_CORRUPT, "setting \"width\""},
        {"{\"width\": \"0\"}", "dcgan", LEAT_ERR_OPTION, "width: \"0\""},
        {"[]", "dcgan", LEAT_ERR_CORRUPT, "not a JSON object"},
        {"{}", "gpt", LEAT_ERR_OPTION, "there is no model \"gpt\""},
    };
    leat_run_options back;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_fails(leat_settings_read(cases[i].text, cases[i].model, &back, err), cases[i].code,
                     cases[i].says);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_order_is_that_of_the_first_runs),
        cmocka_unit_test(without_an_order_a_models_settings_come_first),
        cmocka_unit_test(no_settings_are_the_defaults),
        cmocka_unit_test(settings_are_read_as_they_are_written),
        cmocka_unit_test(other_settings_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, train_teardown);
}
