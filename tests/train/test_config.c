/* Settings of a run from YAML: its own names, those of GANNs-with-friends, and what is refused.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "leat/train.h"
#include "train_support.h"

static leat_dcgan_settings settings; /* of the file that was loaded last */

static leat_code load(const char *text, leat_train_options *options, char notes[1000],
                      leat_error *err) {
    const char *path = train_path("settings.yaml");
    leat_train_config *config = NULL;
    assert_int_equal(leat_file_save(path, text, (int64_t)strlen(text), NULL), LEAT_OK);
    *options = leat_train_options_default();
    settings = leat_dcgan_settings_default();
    notes[0] = 0;
    leat_code code =
        leat_train_config_load(&config, path, "dcgan", options, &settings, notes, 1000, err);
    assert_true((config != NULL) == (code == LEAT_OK));
    leat_train_config_destroy(config);
    return code;
}

static void names_are_those_of_options(void **state) {
    leat_train_options options;
    char notes[1000];
    (void)state;
    assert_ok(load("steps: 500\nwidth: 32\nlearning-rate: 1.0e-04\nschedule: alternating\n"
                   "codec-up: int8\nseed: 18446744073709551615\nunits: 3\nmemory: 2G\n",
                   &options, notes, err));
    assert_int_equal(options.steps, 500);
    assert_int_equal(settings.width, 32);
    assert_true(settings.learning_rate == 1e-4);
    assert_int_equal(settings.schedule, LEAT_DCGAN_ALTERNATING);
    assert_int_equal(options.codec_up, LEAT_CODEC_INT8);
    assert_true(options.seed == UINT64_MAX);
    assert_int_equal(options.units, 3);
    assert_int_equal(options.memory_bytes, INT64_C(2) << 30);
    assert_int_equal(settings.latent, 100); /* the default */
    assert_ptr_equal(options.settings, &settings);
    assert_string_equal(notes, "");
}

/* The template of GANNs-with-friends, with its sections. */
static const char reference[] = "database:\n"
                                "  host: db.example.org\n"
                                "  port: 54321\n"
                                "  database: distributed_gan\n"
                                "  user: student\n"
                                "  password: \"s3cret @#/%\"\n"
                                "training:\n"
                                "  latent_dim: 64\n"
                                "  image_size: 64\n"
                                "  images_per_work_unit: 320\n"
                                "  num_workunits_per_update: 3\n"
                                "  learning_rate: 0.0002\n"
                                "  beta1: 0.4\n"
                                "  beta2: 0.99\n"
                                "worker:\n"
                                "  name:\n"
                                "  batch_size: 32\n"
                                "  poll_interval: 5\n"
                                "  heartbeat_interval: 30\n"
                                "  work_unit_timeout: 300\n"
                                "data:\n"
                                "  dataset_path: ../data/img_align_celeba.zip\n"
                                "  num_workers_dataloader: 4\n"
                                "huggingface:\n"
                                "  enabled: false\n"
                                "  repo_id: me/faces\n"
                                "  token: hf_verysecret\n"
                                "  push_interval: 5\n";

static void the_reference_is_understood(void **state) {
    leat_train_options options;
    char notes[1000];
    (void)state;
    assert_ok(load(reference, &options, notes, err));
    assert_int_equal(settings.latent, 64);
    assert_int_equal(options.unit_size, 320);
    assert_int_equal(options.units, 3);
    assert_int_equal(options.micro_batch, 32);
    assert_true(settings.learning_rate == 2e-4 && settings.beta1 == 0.4 && settings.beta2 == 0.99);
    /* what is not used is said, but no secret is repeated */
    assert_non_null(strstr(notes, "data.dataset_path is not used: "));
    assert_non_null(strstr(notes, "huggingface.token is not used: "));
    assert_non_null(strstr(notes, "worker.poll_interval is not used: "));
    assert_null(strstr(notes, "secret"));
    assert_null(strstr(notes, "s3cret"));
    assert_null(strstr(notes, "worker.name")); /* it has no value */
}

/* Secrets of a settings file are nowhere in the folder of a run. */
static void secrets_stay_out_of_the_run(void **state) {
    static const char *const files[] = {"config.yaml", "training.json", "metrics.jsonl",
                                        "checkpoints/step-000000001.json"};
    const char *run = train_path("secret");
    leat_train_options options;
    leat_train_result result;
    char notes[1000];
    (void)state;
    assert_ok(load(reference, &options, notes, err));
    settings.width = 1;
    settings.latent = 2;
    options.unit_size = 8;
    options.micro_batch = 4;
    options.steps = 1;
    options.sample_every = 0;
    assert_ok(leat_train("dcgan", train_data(7), run, &options, &result, err));
    for (int i = 0; i < 4; i++) {
        char path[LEAT_PATH_BYTES];
        int64_t size = 0;
        assert_ok(leat_path_join(path, sizeof path, run, files[i], err));
        char *text = train_read(path, &size);
        assert_non_null(text);
        assert_null(strstr(text, "secret"));
        assert_null(strstr(text, "s3cret"));
        assert_null(strstr(text, "db.example"));
        free(text);
    }
}

static void what_is_wrong_is_named(void **state) {
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"widht: 3\n", "line 1: there is no setting \"widht\"; did you mean \"width\"?"},
        {"unitsize: 4\n", "there is no setting \"unitsize\"; did you mean \"unit-size\"?"},
        {"a: 1\n", "there is no setting \"a\""},
        {"width: many\nsteps: none\n", "line 1: width"}, /* lines in their order */
        {"steps: none\nwidth: many\n", "line 1: steps"},
        {"steps: 5\nlearning_rate: 1\n", "line 2: there is no setting \"learning_rate\"; did you "
                                         "mean \"learning-rate\"?"},
        {"width: many\n", "line 1: width: \"many\" is not accepted; it takes a whole number"},
        {"width:\n", "width has no value"},
        {"beta1: 1.0\n", "from 0 to below 1"},
        {"codec-down: int8\n", "it takes f32 or bf16"},
        {"schedule: both\n", "simultaneous or alternating"},
        {"training:\n  images_per_workunit: 3\n", "did you mean \"images_per_work_unit\"?"},
        {"training:\n  image_size: 128\n", "line 2: image_size is 128"},
        {"training:\n  learning_rate: -1\n", "line 2: learning-rate"},
        {"network:\n  width: 3\n", "there is no section \"network\""},
        {"training: 3\n", "there is no setting \"training\""},
        {"width: [1]\n", "a list"},
        {"width: &a 1\n", "an anchor"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_train_options options;
        char notes[1000];
        leat_error err = {0};
        leat_code code = load(cases[i].text, &options, notes, &err);
        if ((code != LEAT_ERR_OPTION && code != LEAT_ERR_INPUT) ||
            strstr(err.message, cases[i].says) == NULL)
            fail_msg("%s: code %d: %s", cases[i].text, code, err.message);
        assert_non_null(strstr(err.message, "settings.yaml"));
        assert_int_equal(settings.width, 64); /* nothing was set */
        assert_null(options.settings);
    }
}

static void models_that_there_are_not_have_no_settings(void **state) {
    leat_train_config *config = NULL;
    leat_train_options options = leat_train_options_default();
    char notes[100];
    (void)state;
    assert_null(leat_train_settings_table("gpt"));
    assert_ptr_equal(leat_train_settings_table("dcgan"), leat_dcgan_settings_table());
    assert_fails(leat_train_config_load(&config, train_path("settings.yaml"), "gpt", &options,
                                        &settings, notes, sizeof notes, err),
                 LEAT_ERR_OPTION, "there is no model \"gpt\"; there is dcgan");
    assert_null(config);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_those_of_options),
        cmocka_unit_test(the_reference_is_understood),
        cmocka_unit_test(secrets_stay_out_of_the_run),
        cmocka_unit_test(what_is_wrong_is_named),
        cmocka_unit_test(models_that_there_are_not_have_no_settings),
    };
    return cmocka_run_group_tests(tests, NULL, train_teardown);
}
