/*
 * Runs that are killed, or stopped with their measurements in memory, and then continued to the
 * bytes of a run that was left alone; and what is written to temporary files.
 */
/* TSan: runs stopped while their threads work. */
#include "ingest_support.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* A run that stopped after its scan. */
static void stop_in_write(const char *out) {
    leat_probes_ingest_options options = ingest_options();
    leat_probes_ingest_result result;
    for (int at = 1;; at++) {
        ingest_stopper how = {.at = at};
        assert_ok(leat_path_remove_tree(out, err));
        options.progress = ingest_stop_at;
        options.progress_user = &how;
        assert_int_equal(resume_run(out, &options, &result, NULL), LEAT_ERR_CANCELLED);
        if (strcmp(how.stage, "writing") == 0) return;
    }
}

/* What fits in memory is not spilled unless that is asked for; a run that is stopped spills it, so
 * that it can be resumed, with another rule too. */
static void in_memory(void **state) {
    (void)state;
    const char *out = core_path("in_memory");
    for (int spill = LEAT_SPILL_AUTO; spill <= LEAT_SPILL_ALWAYS; spill++) {
        for (int threads = 1; threads <= 8; threads = threads * 2 + threads % 2) {
            leat_probes_ingest_options options = ingest_options();
            leat_probes_ingest_result result;
            assert_ok(leat_path_remove_tree(out, err));
            options.spill = spill;
            options.threads = threads;
            assert_ok(resume_run(out, &options, &result, err));
            assert_int_equal(result.bytes_spilled > 0, spill == LEAT_SPILL_ALWAYS);
            assert_same_dataset(out, resume_want);
        }
    }
    leat_probes_ingest_options options = ingest_options();
    leat_probes_ingest_result result;
    stop_in_write(out);
    assert_true(path_exists(core_path("in_memory/.leat/state.json")));
    options.resume = true;
    options.spill = LEAT_SPILL_ALWAYS;
    assert_ok(resume_run(out, &options, &result, err));
    assert_true(result.resumed);
    assert_true(result.bytes_spilled > 0);
    assert_same_dataset(out, resume_want);
}

/* A run that an older version has begun is not misread. */
static void older_state(void **state) {
    (void)state;
    const char *out = core_path("older_state"), *file = core_path("older_state/.leat/state.json");
    leat_probes_ingest_options options = ingest_options();
    leat_probes_ingest_result result;
    stop_in_write(out);
    core_image image = core_load(file);
    char *at = memmem(image.data, (size_t)image.size_bytes, "\"version\": 7", 12);
    assert_non_null(at);
    at[11] = '6';
    core_save(file, image.data, image.size_bytes);
    free(image.data);
    options.resume = true;
    assert_fails(resume_run(out, &options, &result, err), LEAT_ERR_UNSUPPORTED, "--replace");
    options.resume = false;
    options.replace = true;
    assert_ok(resume_run(out, &options, &result, err));
    assert_same_dataset(out, resume_want);
}

/* ---- killed ---- */

/* At a report, so that the kill surely comes before the end (tests/fault/test_ingest_killed.c has
 * each call into the file system). */
static void killed_at_a_report(void **state) {
    (void)state;
    const char *out = core_path("killed_there");
    for (int k = 0; k < 6; k++) {
        int at = 1 + k % 3 * 2;
        leat_probes_ingest_options options = ingest_options();
        leat_probes_ingest_result result;
        options.spill = k < 3 ? LEAT_SPILL_AUTO : LEAT_SPILL_ALWAYS;
        assert_ok(leat_path_remove_tree(out, err));
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            ingest_stopper how = {.at = at, .kills = true};
            options.progress = ingest_stop_at;
            options.progress_user = &how;
            (void)resume_run(out, &options, &result, NULL);
            _exit(1);
        }
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        options.resume = true;
        assert_ok(resume_run(out, &options, &result, err));
        if (k < 3) assert_false(result.resumed); /* it was in memory */
        assert_same_dataset(out, resume_want);
        assert_int_equal(dir_count(out), dir_count(core_path("want")));
    }
}

/* Warnings that name files and texts of any bytes: the next process reads them as they were. */
static void killed_with_warnings(void **state) {
    (void)state;
    static const char odd[] = "event_time,src_addr,dst_addr,rtt\n1,192.0.2.1,192.0.2.9,p\xe9rdu\n"
                              "2,192.0.2.1,192.0.2.9,p\xe9rdu\n3,192.0.2.1,192.0.2.9,5\n";
    const char *out = core_path("killed_odd"), *paths[4], *const *csv = csv_paths("resume", 3);
    for (int i = 0; i < 3; i++) paths[i] = csv[i];
    paths[3] = core_path("odd\xe9\x1b.csv");
    core_save(paths[3], odd, sizeof odd - 1);
    leat_probes_ingest_result result = {0};
    for (int at = 1; at <= 12 && !result.resumed; at++) {
        leat_probes_ingest_options options = ingest_options();
        options.spill = LEAT_SPILL_ALWAYS;
        assert_ok(leat_path_remove_tree(out, err));
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            ingest_stopper how = {.at = at, .kills = true};
            options.progress = ingest_stop_at;
            options.progress_user = &how;
            _exit(leat_probes_ingest(paths, 4, out, &options, &result, NULL) == LEAT_OK ? 0 : 1);
        }
        assert_int_equal(waitpid(child, NULL, 0), child);
        options.resume = true;
        assert_ok(leat_probes_ingest(paths, 4, out, &options, &result, err));
    }
    assert_true(result.resumed);
    int named = 0;
    for (int i = 0; i < result.warning_count; i++)
        named += strstr(result.warnings[i], "odd\\xe9\\x1b.csv\": all times are") != NULL ||
                 strstr(result.warnings[i], "2 rows have the text \"p\\xe9rdu\"") != NULL;
    assert_int_equal(named, 2);
}

/* At moments of a clock: how many runs come to their end before depends on the machine. */
static void killed(void **state) {
    (void)state;
    const char *out = core_path("killed"), *temp = core_path("killed_temp");
    core_rng rng = {.seed = 4};
    int finished = 0;
    leat_probes_ingest_options whole = ingest_options();
    leat_probes_ingest_result timed;
    assert_ok(resume_run(out, &whole, &timed, err));
    int64_t lasts_us = (int64_t)(timed.seconds_total * 1e6) + 1000;
    for (int i = 0; i < 12; i++) {
        leat_probes_ingest_options options = ingest_options();
        leat_probes_ingest_result result;
        assert_ok(leat_path_remove_tree(out, err));
        if (i % 3 == 0) options.temp_dir = core_made(temp);
        options.spill = i % 2 == 0 ? LEAT_SPILL_AUTO : LEAT_SPILL_ALWAYS;
        for (int attempt = 0; attempt < 3; attempt++) {
            pid_t child = fork();
            assert_true(child >= 0);
            if (child == 0) {
                options.resume = true;
                _exit(resume_run(out, &options, &result, NULL) == LEAT_OK ? 0 : 1);
            }
            usleep((useconds_t)core_below(&rng, lasts_us >> core_below(&rng, 3)));
            assert_int_equal(kill(child, SIGKILL), 0);
            int status = 0;
            assert_int_equal(waitpid(child, &status, 0), child);
            if (WIFSIGNALED(status)) continue;
            assert_int_equal(status, 0);
            finished++;
            break;
        }
        options.resume = true;
        leat_error err = {0};
        leat_code code = resume_run(out, &options, &result, &err);
        if (code != LEAT_OK && strstr(err.message, "complete data set") == NULL) {
            fail_msg("%s", err.message);
        }
        assert_same_dataset(out, resume_want);
        if (i % 3 == 0) assert_true(dir_count(temp) <= 0);
    }
    print_message("# %d of 12 runs came to their end before they were killed\n", finished);
}

int main(void) {
    core_in_memory(INT64_C(128) << 20);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_memory),
        cmocka_unit_test(older_state),
        cmocka_unit_test(killed_at_a_report),
        cmocka_unit_test(killed_with_warnings),
        cmocka_unit_test(killed),
    };
    return cmocka_run_group_tests_name("ingest spilled", tests, resume_setup, core_teardown);
}
