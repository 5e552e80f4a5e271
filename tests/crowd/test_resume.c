/*
 * A coordinator that is stopped and resumed, from RUN, from the database, from either alone; with
 * another end, name or settings; and machines that may not take part.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "crowd/database.h"
#include "local.h"
#include "train/train_support.h"

/* A coordinator that is stopped after each step, and continues with the folder, the database, or
 * both. */
static void resumed(bool lose_run, bool lose_database) {
    leat_coordinate_result result;
    leat_error err = {0};
    char command[700];
    if (coordinate(0, false, &result, &err) != LEAT_ERR_CANCELLED) fail_msg("%s", err.message);
    for (int64_t step = 1; step <= LOCAL_STEPS; step++) {
        helper workers[2];
        leat_code code;
        if (lose_run) {
            snprintf(command, sizeof command, "rm -rf '%s'", local_run());
            assert_int_equal(system(command), 0);
        }
        if (lose_database) {
            leat_pg *pg = cluster_connect("owner", local_database());
            tell(pg, "drop schema leat cascade");
            leat_pg_close(pg);
            /* a worker that is there before the coordinator has nothing to work on */
        }
        if (!lose_database) start_all(workers, 2);
        if (lose_database) { /* the coordinator makes the run again; then workers find it */
            assert_int_equal(coordinate(step - 1, true, &result, &err), LEAT_ERR_CANCELLED);
            start_all(workers, 2);
        }
        code = coordinate(step == LOCAL_STEPS ? LOCAL_STEPS + 1 : step, true, &result, &err);
        if (code != (step == LOCAL_STEPS ? LEAT_OK : LEAT_ERR_CANCELLED))
            fail_msg("step %lld: %s", (long long)step, err.message);
        for (int k = 0; k < 2; k++) atomic_store(&workers[k].stop, true);
        join_all(workers, 2);
    }
    expect_end(&result);
}

static void resumed_from_both(void **state) {
    (void)state;
    resumed(false, false);
}

static void resumed_from_the_folder(void **state) {
    (void)state;
    resumed(false, true);
}

static void resumed_from_the_database(void **state) {
    (void)state;
    resumed(true, false);
}

static bool stop_when_open(void *user, const leat_progress *progress) {
    leat_pg *pg = cluster_connect("owner", local_database());
    const bool open = strcmp(ask(pg, "select state from leat.run"), "open") == 0;
    (void)user, (void)progress;
    leat_pg_close(pg);
    return !open;
}

/* A finished run goes on to a later end; parts keep the size that they had, whatever the option. */
static void longer(void **state) {
    char url[LEAT_PG_URL_BYTES];
    leat_coordinate_result result;
    leat_error err = {0};
    helper workers[2];
    (void)state;
    assert_int_equal(coordinate(0, false, &result, &err), LEAT_ERR_CANCELLED);
    start_all(workers, 2);
    if (coordinate(LOCAL_STEPS + 1, true, &result, &err) != LEAT_OK) fail_msg("%s", err.message);
    join_all(workers, 2);
    leat_coordinate_options options = coordinator(url);
    options.train.resume = true;
    options.train.steps = LOCAL_STEPS + 2;
    options.part_bytes = 4096;
    options.lease_ms = 77000;
    options.train.progress = stop_when_open;
    assert_int_equal(leat_coordinate("dcgan", local_data(), local_run(), &options, &result, &err),
                     LEAT_ERR_CANCELLED);
    start_all(workers, 2);
    options.train.progress = NULL;
    if (leat_coordinate("dcgan", local_data(), local_run(), &options, &result, &err) != LEAT_OK)
        fail_msg("%s", err.message);
    join_all(workers, 2);
    assert_string_equal(result.train.state, alone(LOCAL_STEPS + 2));
    leat_pg *pg = cluster_connect("owner", local_database());
    assert_string_equal(ask(pg, "select state from leat.run"), "finished");
    assert_string_equal(ask(pg, "select lease_ms from leat.run"), "77000");
    assert_string_equal(ask(pg, "select part_bytes from leat.run"), "1024");
    leat_pg_close(pg);
}

/* The name in the database: given, or that of the folder. */
static void names(void **state) {
    const char *const bad[] = {"", "a b", "a/b", "\xc3\xa9",
                               "12345678901234567890123456789012345678901234567890123456789012345"};
    char url[LEAT_PG_URL_BYTES];
    leat_coordinate_options options = coordinator(url);
    leat_coordinate_result result;
    leat_error err = {0};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        options.name = bad[i];
        assert_int_equal(
            leat_coordinate("dcgan", local_data(), local_run(), &options, &result, &err),
            LEAT_ERR_OPTION);
        assert_non_null(strstr(err.message, "name: "));
    }
    int64_t last = 0;
    options.name = NULL;
    options.train.progress = stop_after;
    options.train.user = &last;
    char path[512];
    snprintf(path, sizeof path, "%s//", train_path("faces of \xc3\xa9 2"));
    assert_int_equal(leat_coordinate("dcgan", local_data(), path, &options, &result, &err),
                     LEAT_ERR_CANCELLED);
    leat_pg *pg = cluster_connect("owner", local_database());
    assert_string_equal(ask(pg, "select name from leat.run"), "faces-of----2");
    leat_pg_close(pg);
    /* the settings of that run, for a coordinator that has lost its folder */
    leat_train_options train = leat_train_options_default();
    leat_dcgan_settings settings = leat_dcgan_settings_default();
    if (leat_coordinate_settings(&options, "dcgan", path, &train, &settings, &err) != LEAT_OK)
        fail_msg("%s", err.message);
    assert_ptr_equal(train.settings, &settings);
    assert_int_equal(settings.latent, train_small_settings().latent);
    assert_int_equal(train.steps, LOCAL_STEPS);
    assert_int_equal(train.codec_up, LEAT_CODEC_INT8);
    assert_int_equal(leat_coordinate_settings(&options, "gpt", path, &train, &settings, &err),
                     LEAT_ERR_OPTION);
    assert_non_null(strstr(err.message, "trains the model \"dcgan\", not \"gpt\""));
    assert_int_equal(leat_coordinate_settings(&options, NULL, path, &train, &settings, &err),
                     LEAT_ERR_OPTION);
    assert_non_null(strstr(err.message, "no model is named"));
    options.name = "none";
    assert_int_equal(leat_coordinate_settings(&options, "dcgan", path, &train, &settings, &err),
                     LEAT_ERR_NOT_FOUND);
}

/* ---- who may not take part ----------------------------------------------------------------------
 */

/* A run that could not begin leaves no folder. */
static void expect_nothing_at(const char *name) {
    leat_path_facts facts;
    assert_int_equal(leat_path_stat(train_path(name), &facts, NULL), LEAT_OK);
    assert_int_equal(facts.kind, LEAT_PATH_NONE);
}

/* A database that was restored without its state, and a folder that is older, or new. */
static void state_that_is_not_there(void **state) {
    leat_coordinate_result result;
    leat_error err = {0};
    char command[3 * LEAT_PATH_BYTES];
    helper workers[2];
    (void)state;
    assert_int_equal(coordinate(0, false, &result, &err), LEAT_ERR_CANCELLED);
    start_all(workers, 2);
    assert_int_equal(coordinate(2, true, &result, &err), LEAT_ERR_CANCELLED);
    snprintf(command, sizeof command, "cp -r '%s' '%s-2'", local_run(), local_run());
    assert_int_equal(system(command), 0);
    assert_int_equal(coordinate(4, true, &result, &err), LEAT_ERR_CANCELLED);
    leat_pg *pg = cluster_connect("owner", local_database());
    tell(pg, "delete from leat.state_1_0; delete from leat.state_1_1");
    leat_pg_close(pg);
    snprintf(command, sizeof command, "rm -rf '%s'", local_run());
    assert_int_equal(system(command), 0);
    assert_int_equal(coordinate(LOCAL_STEPS + 1, true, &result, &err), LEAT_ERR_INPUT);
    assert_non_null(strstr(err.message, "the state of step 4 is not in the database"));
    expect_nothing_at(strrchr(local_run(), '/') + 1);
    snprintf(command, sizeof command, "mv '%s-2' '%s'", local_run(), local_run());
    assert_int_equal(system(command), 0);
    if (coordinate(LOCAL_STEPS + 1, true, &result, &err) != LEAT_OK) fail_msg("%s", err.message);
    join_all(workers, 2);
    expect_end(&result);
}

/* The weights of the open step, which a dump has left out. */
static void weights_that_are_not_there(void **state) {
    leat_coordinate_result result;
    leat_error err = {0};
    helper workers[2];
    (void)state;
    assert_int_equal(coordinate(0, false, &result, &err), LEAT_ERR_CANCELLED);
    start_all(workers, 2);
    assert_int_equal(coordinate(2, true, &result, &err), LEAT_ERR_CANCELLED);
    for (int k = 0; k < 2; k++) atomic_store(&workers[k].stop, true);
    join_all(workers, 2);
    leat_pg *pg = cluster_connect("owner", local_database());
    tell(pg, "delete from leat.weights_1_0; delete from leat.weights_1_1");
    leat_pg_close(pg);
    start_all(workers, 2); /* they have none in memory */
    if (coordinate(LOCAL_STEPS + 1, true, &result, &err) != LEAT_OK) fail_msg("%s", err.message);
    join_all(workers, 2);
    expect_end(&result);
}

static void other_machines(void **state) {
    const struct {
        const char *sql, *says;
    } cases[] = {{"update leat.run set data = repeat('0', 64)", "its data set (fingerprint) is "},
                 {"update leat.run set model_hash = 'other'", "its model (hash) is "},
                 {"update leat.run set kernel_class = 'other'", "its kernel class is "},
                 {"update leat.run set leat_version = 'other'", "its version of leat is "},
                 {"update leat.run set payload_bytes = 77", "sizes are not those"}};
    leat_coordinate_result result;
    leat_error err = {0};
    (void)state;
    if (coordinate(0, false, &result, &err) != LEAT_ERR_CANCELLED) fail_msg("%s", err.message);
    leat_pg *pg = cluster_connect("owner", local_database());
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        helper worker;
        tell(pg, "create table public.keep as select * from leat.run");
        tell(pg, cases[i].sql);
        helper_start(&worker, 0);
        pthread_join(worker.thread, NULL);
        assert_int_equal(worker.code, LEAT_ERR_OPTION);
        if (strstr(worker.err.message, cases[i].says) == NULL) fail_msg("%s", worker.err.message);
        tell(pg, "update leat.run r set data = k.data, model_hash = k.model_hash, kernel_class = "
                 "k.kernel_class, leat_version = k.leat_version, payload_bytes = k.payload_bytes "
                 "from public.keep k; drop table public.keep");
    }
    leat_pg_close(pg);
    /* a coordinator with other settings */
    char url[LEAT_PG_URL_BYTES];
    leat_coordinate_options options = coordinator(url);
    options.train.resume = true;
    leat_dcgan_settings settings = train_small_settings();
    settings.learning_rate *= 2;
    options.train.settings = &settings;
    assert_int_equal(
        leat_coordinate("dcgan", local_data(), train_path("other"), &options, &result, &err),
        LEAT_ERR_OPTION);
    assert_non_null(strstr(err.message, "in the database: cannot resume: learning-rate is "));
    expect_nothing_at("other");
    settings.learning_rate /= 2;
    options.train.resume = false;
    assert_int_equal(
        leat_coordinate("dcgan", local_data(), train_path("third"), &options, &result, &err),
        LEAT_ERR_EXISTS);
    assert_non_null(strstr(err.message, "--resume"));
    expect_nothing_at("third");
    /* but what is somebody else's stays */
    char mine[LEAT_PATH_BYTES];
    leat_path_facts facts;
    snprintf(mine, sizeof mine, "%s/config.yaml", train_path("mine"));
    assert_int_equal(leat_path_make_dir(train_path("mine"), NULL), LEAT_OK);
    assert_int_equal(leat_file_save(mine, "a", 1, NULL), LEAT_OK);
    assert_int_equal(
        leat_coordinate("dcgan", local_data(), train_path("mine"), &options, &result, &err),
        LEAT_ERR_EXISTS);
    assert_int_equal(leat_path_stat(mine, &facts, NULL), LEAT_OK);
    assert_int_equal(facts.kind, LEAT_PATH_FILE);
}

/* A key that was copied: whoever has the right to it cannot be known, but they do not take each
 * other's units away for ever. */
static void copied_keys(void **state) {
    leat_coordinate_result result;
    leat_error err = {0};
    helper same[2], other;
    (void)state;
    assert_int_equal(coordinate(0, false, &result, &err), LEAT_ERR_CANCELLED);
    helper_start(&same[0], 0);
    helper_start(&same[1], 0);
    helper_start(&other, 1);
    if (coordinate(LOCAL_STEPS + 1, true, &result, &err) != LEAT_OK) fail_msg("%s", err.message);
    helper_join(&other);
    for (int k = 0; k < 2; k++) {
        pthread_join(same[k].thread, NULL);
        if (same[k].code == LEAT_OK) continue;
        assert_int_equal(same[k].code, LEAT_ERR_OPTION);
        assert_non_null(strstr(same[k].err.message, "another process works with the key"));
    }
    expect_end(&result);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(resumed_from_both, local_setup),
        cmocka_unit_test_setup(resumed_from_the_folder, local_setup),
        cmocka_unit_test_setup(resumed_from_the_database, local_setup),
        cmocka_unit_test_setup(longer, local_setup),
        cmocka_unit_test_setup(state_that_is_not_there, local_setup),
        cmocka_unit_test_setup(weights_that_are_not_there, local_setup),
        cmocka_unit_test_setup(names, local_setup),
        cmocka_unit_test_setup(other_machines, local_setup),
        cmocka_unit_test_setup(copied_keys, local_setup),
    };
    cluster_start();
    return cmocka_run_group_tests(tests, NULL, train_teardown);
}
