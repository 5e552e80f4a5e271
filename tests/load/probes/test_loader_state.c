/*
 * Where a run goes on: at every step of 200, twice, by other loaders and by processes that are
 * killed; on other numbers of hosts; from the step alone. What does not fit is refused by name.
 * Reading begins at a far step as it does at the first.
 */
/* TSan: a ring is parked and moved to a saved state. */
#include "loader_support.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

enum { STEPS = 200, BATCH = 120 };

static char plain[256];

static void next_is(leat_loader *loader, const run *reference, int64_t step) {
    assert_int_equal(leat_loader_step(loader), step);
    const leat_batch *batch = loader_next(loader);
    assert_int_equal(batch->step, step);
    run_expect(reference, batch);
    leat_batch_release(batch);
}

/* ---- every step ---------------------------------------------------------------------------------
 */

static void every_step(void **state) {
    (void)state;
    leat_dataset *dataset = loader_open(plain);
    leat_loader_options options = loader_options();
    char text[LEAT_LOADER_STATE_BYTES], again[LEAT_LOADER_STATE_BYTES];
    run reference = run_make(dataset, &options, 0, STEPS + 3);
    leat_loader *first = loader_create(dataset, &options);
    for (int64_t s = 0; s < STEPS; s++) {
        leat_loader_state(first, text); /* also before the first batch */
        assert_true(strlen(text) <= 256);
        for (int twice = 0; twice < 2; twice++) {
            options.threads = 1 + (int)s % 3;
            options.prefetch = s % 4;
            leat_loader *loader = loader_create(dataset, &options);
            leat_error err = {0};
            must(leat_loader_restore(loader, text, &err), &err);
            leat_loader_state(loader, again);
            assert_string_equal(again, text);
            next_is(loader, &reference, s);
            next_is(loader, &reference, s + 1);
            leat_loader_state(loader, again); /* resumed once more from there */
            leat_loader_destroy(loader);
            loader = loader_create(dataset, &options);
            must(leat_loader_restore(loader, again, &err), &err);
            next_is(loader, &reference, s + 2);
            must(leat_loader_restore(loader, text, &err), &err); /* and back, in the same loader */
            next_is(loader, &reference, s);
            leat_loader_destroy(loader);
        }
        next_is(first, &reference, s);
    }
    leat_loader_destroy(first);
    run_free(&reference);
    leat_dataset_close(dataset);
}

/* The step alone gives what the state gives, also where the epoch ends. */
static void step_alone(void **state) {
    (void)state;
    leat_dataset *dataset = loader_open(plain);
    leat_loader_options options = loader_options();
    char text[LEAT_LOADER_STATE_BYTES], other[LEAT_LOADER_STATE_BYTES];
    leat_loader *a = loader_create(dataset, &options), *b = loader_create(dataset, &options);
    int64_t epoch = leat_loader_epoch_sequences(a) / 12;
    const int64_t steps[] = {0, 1, epoch - 1, epoch, epoch + 1, 1000000, 4000000000, 17};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        must(leat_loader_seek(a, steps[i], NULL), NULL);
        leat_loader_state(a, text);
        must(leat_loader_restore(b, text, NULL), NULL);
        leat_loader_state(b, other);
        assert_string_equal(text, other);
        run reference = run_make(dataset, &options, steps[i], 2);
        next_is(a, &reference, steps[i]);
        next_is(b, &reference, steps[i]);
        next_is(a, &reference, steps[i] + 1);
        run_free(&reference);
    }
    assert_int_equal(leat_loader_seek(a, -1, NULL), LEAT_ERR_OPTION);
    assert_int_equal(leat_loader_seek(a, INT64_MAX, NULL), LEAT_ERR_OPTION);
    leat_loader_destroy(a);
    leat_loader_destroy(b);
    leat_dataset_close(dataset);
}

/* ---- processes that are killed ------------------------------------------------------------------
 */

/* A run of its own: tells of every batch its step and whether it is the right one, then the state
 * behind it, until it is killed. Its reader stops reading and kills it at any place. */
typedef struct told {
    int64_t step;
    char state[LEAT_LOADER_STATE_BYTES];
    int32_t values[6 * 256]; /* of row 7 */
} told;

static void run_child(const char *state, int pipe_end) {
    leat_loader_options options = loader_options();
    leat_dataset *dataset = loader_open(plain);
    leat_loader *loader = loader_create(dataset, &options);
    if (state[0] != 0 && leat_loader_restore(loader, state, NULL) != LEAT_OK) _exit(2);
    for (;;) {
        told say;
        const leat_batch *batch = loader_next(loader);
        memset(&say, 0, sizeof say);
        say.step = batch->step;
        pack_row(batch, 7, say.values);
        leat_batch_release(batch);
        leat_loader_state(loader, say.state);
        if (write(pipe_end, &say, sizeof say) != sizeof say) _exit(3);
    }
}

static bool read_told(int pipe_end, told *say) {
    size_t got = 0;
    while (got < sizeof *say) {
        ssize_t more = read(pipe_end, (char *)say + got, sizeof *say - got);
        if (more <= 0) return false;
        got += (size_t)more;
    }
    return true;
}

static void killed(void **state) {
    (void)state;
    leat_dataset *dataset = loader_open(plain);
    leat_loader_options options = loader_options();
    run reference = run_make(dataset, &options, 0, STEPS);
    leat_dataset_close(dataset);
    char at[LEAT_LOADER_STATE_BYTES] = "";
    int64_t step = 0;
    for (int life = 0; step < STEPS; life++) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            close(ends[0]);
            run_child(at, ends[1]);
        }
        close(ends[1]);
        for (int i = 0; i < 1 + life * 7 % 5 && step < STEPS; i++, step++) {
            told say;
            assert_true(read_told(ends[0], &say));
            assert_int_equal(say.step, step);
            assert_memory_equal(say.values, run_row(&reference, step, 7), sizeof say.values);
            memcpy(at, say.state, sizeof at);
        }
        kill(child, SIGKILL);
        close(ends[0]);
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    }
    run_free(&reference);
}

/* ---- other hosts --------------------------------------------------------------------------------
 */

/* 8 hosts, from step 5 on 3, from step 11 on 5: each takes the state of a host of the time before.
 */
static void other_hosts(void **state) {
    (void)state;
    static const struct {
        int hosts;
        int64_t first, end;
    } times[] = {{8, 0, 5}, {3, 5, 11}, {5, 11, 15}};
    leat_dataset *dataset = loader_open(plain);
    leat_loader_options options = loader_options();
    options.batch = BATCH;
    run reference = run_make(dataset, &options, 0, 15);
    char text[LEAT_LOADER_STATE_BYTES] = "";
    for (int t = 0; t < 3; t++) {
        char after[LEAT_LOADER_STATE_BYTES];
        for (int h = 0; h < times[t].hosts; h++) {
            options.host_count = times[t].hosts;
            options.host_index = h;
            leat_loader *loader = loader_create(dataset, &options);
            leat_error err = {0};
            if (t > 0) must(leat_loader_restore(loader, text, &err), &err);
            for (int64_t s = times[t].first; s < times[t].end; s++) next_is(loader, &reference, s);
            leat_loader_state(loader, after);
            leat_loader_destroy(loader);
        }
        memcpy(text, after, sizeof text);
    }
    run_free(&reference);
    leat_dataset_close(dataset);
}

/* ---- refusals -----------------------------------------------------------------------------------
 */

static void refused(leat_loader *loader, const char *text, const char *words) {
    leat_error err = {0};
    int64_t step = leat_loader_step(loader);
    assert_int_equal(leat_loader_restore(loader, text, &err), LEAT_ERR_INPUT);
    if (strstr(err.message, words) == NULL) fail_msg("\"%s\" lacks \"%s\"", err.message, words);
    assert_int_equal(leat_loader_step(loader), step);
}

/* The text with `from` replaced. */
static const char *with(char out[400], const char *text, const char *from, const char *to) {
    const char *at = strstr(text, from);
    assert_non_null(at);
    snprintf(out, 400, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    return out;
}

static void refusals(void **state) {
    (void)state;
    leat_dataset *dataset = loader_open(plain);
    leat_loader_options options = loader_options();
    char text[LEAT_LOADER_STATE_BYTES], other[400];
    leat_loader *loader = loader_create(dataset, &options);
    leat_batch_release(loader_next(loader));
    leat_loader_state(loader, text);
    refused(loader, with(other, text, "\"v\":1", "\"v\":2"), "version");
    refused(loader, with(other, text, "\"data\":\"", "\"data\":\"f"), "cannot resume: data");
    refused(loader, with(other, text, "\"options\":\"", "\"options\":\"f"), "options");
    refused(loader, with(other, text, "\"seed\":11", "\"seed\":12"), "seed");
    refused(loader, with(other, text, "\"step\":1", "\"step\":-1"), "\"step\" is -1");
    refused(loader, with(other, text, "\"seed\":11,", ""), "\"seed\" is missing");
    refused(loader, with(other, text, "}", ""), "not valid JSON");
    refused(loader, "", "not valid JSON");
    refused(loader, "[1]", "JSON object");
    leat_loader_destroy(loader);
    leat_dataset_close(dataset);
}

/* A file names the option that differs, and every option that decides bytes is in it. */
static void files(void **state) {
    (void)state;
    static const struct {
        const char *name, *value, *words;
    } cases[] = {{"length", "128", "length was 256 when the state was saved and is 128 now"},
                 {"sampler", "plan2", "sampler was plan3"},
                 {"timestamp-modes", "50,25,25", "timestamp-modes was 40,30,30"},
                 {"field-order", "content", "field-order"},
                 {"packing", "none", "packing"},
                 {"tail", "pad", "tail"},
                 {"boundary", "cross", "boundary"},
                 {"seed", "5", "seed"}};
    leat_dataset *dataset = loader_open(plain);
    leat_loader_options options = loader_options();
    char path[300];
    leat_error err = {0};
    snprintf(path, sizeof path, "%s/state.json", loader_folder());
    leat_loader *loader = loader_create(dataset, &options);
    must(leat_loader_seek(loader, 77, NULL), NULL);
    must(leat_loader_save(loader, path, true, &err), &err);
    leat_loader_destroy(loader);
    for (size_t i = 0; i <= sizeof cases / sizeof cases[0] + 2; i++) {
        leat_loader_options changed = options;
        const char *words = NULL;
        if (i < sizeof cases / sizeof cases[0]) {
            words = cases[i].words;
            must(leat_settings_set(leat_sampler_options_table(), &changed.sample, cases[i].name,
                                   cases[i].value, &err),
                 &err);
        } else if (i == sizeof cases / sizeof cases[0]) {
            changed.batch = 24;
            words = "batch was 12 when the state was saved and is 24 now";
        } else if (i == sizeof cases / sizeof cases[0] + 1) {
            changed.split = LEAT_SPLIT_TEST;
            words = "split was train when the state was saved and is test now";
        } else {
            changed.by_client = true;
            words = "by was not there when the state was saved and is client now";
        }
        loader = loader_create(dataset, &changed);
        assert_int_equal(leat_loader_load(loader, path, &err), LEAT_ERR_INPUT);
        if (strstr(err.message, words) == NULL) fail_msg("\"%s\" lacks \"%s\"", err.message, words);
        leat_loader_destroy(loader);
    }
    /* what decides no byte may change */
    options.threads = 3;
    options.prefetch = 1;
    options.epochs = 500;
    options.on_corrupt = LEAT_CORRUPT_MASK;
    options.io = LEAT_IO_PREAD;
    loader = loader_create(dataset, &options);
    must(leat_loader_load(loader, path, &err), &err);
    assert_int_equal(leat_loader_step(loader), 77);
    assert_int_equal(leat_loader_load(loader, "/nowhere/s.json", &err), LEAT_ERR_NOT_FOUND);
    leat_loader_destroy(loader);
    leat_dataset_close(dataset);
}

/* ---- what beginning costs ----------------------------------------------------------------------
 */

static int64_t uniform_count(int64_t row) {
    (void)row;
    return 400;
}

/* Rows of one size, so that every batch costs alike: the first batch of a far step reads as many
 * pages as that of step 0, whatever lies between. */
static void far_steps(void **state) {
    (void)state;
    static const int64_t steps[] = {0, 1, 12345, 1000000, INT64_C(1) << 39};
    char dir[256];
    make_options data = loader_data_options(LEAT_COMPRESSION_NONE);
    data.count_of = uniform_count;
    loader_make("uniform", &data, dir);
    int64_t bytes[5];
    for (int i = 0; i < 5; i++) {
        leat_dataset *dataset = loader_open(dir);
        leat_loader_options options = loader_options();
        leat_loader_counters counters;
        options.prefetch = 0;
        options.batch = 2;
        leat_loader *loader = loader_create(dataset, &options);
        leat_loader_get_counters(loader, &counters);
        assert_int_equal(counters.payload_bytes, 0); /* nothing is read before a batch is wanted */
        must(leat_loader_seek(loader, steps[i], NULL), NULL);
        leat_batch_release(loader_next(loader));
        leat_loader_get_counters(loader, &counters);
        bytes[i] = counters.payload_bytes;
        assert_true(bytes[i] > 0);
        leat_loader_destroy(loader);
        leat_dataset_close(dataset);
    }
    for (int i = 1; i < 5; i++) assert_in_range(bytes[i], bytes[0] / 2, bytes[0] * 2);
}

/* Without epochs the steps end all the same, where no number made of them overflows. */
static void last_step(void **state) {
    (void)state;
    const int64_t end = INT64_C(1) << 40;
    leat_dataset *dataset = loader_open(plain);
    leat_loader_options options = loader_options();
    leat_loader *loader = loader_create(dataset, &options);
    leat_explanation *told = NULL;
    const leat_batch *batch = NULL;
    must(leat_loader_seek(loader, end - 1, NULL), NULL);
    batch = loader_next(loader);
    assert_true(batch->step == end - 1);
    leat_batch_release(batch);
    must(leat_loader_explain(loader, end - 1, 0, &told, NULL), NULL);
    leat_explanation_destroy(told);
    assert_int_equal(leat_loader_explain(loader, end, 0, &told, NULL), LEAT_ERR_OPTION);
    for (int i = 0; i < 2; i++) {
        assert_true(leat_loader_wait(loader, 0));
        must(leat_loader_next(loader, &batch, NULL), NULL);
        assert_null(batch);
        must(leat_loader_seek(loader, end, NULL), NULL);
    }
    assert_int_equal(leat_loader_seek(loader, end + 1, NULL), LEAT_ERR_OPTION);
    assert_int_equal(leat_loader_step_count(loader), -1);
    leat_loader_destroy(loader);
    leat_dataset_close(dataset);
}

static int setup(void **state) {
    (void)state;
    make_options data = loader_data_options(LEAT_COMPRESSION_NONE);
    loader_make("plain", &data, plain);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed), /* forks, so before there were threads */
        cmocka_unit_test(every_step), cmocka_unit_test(step_alone), cmocka_unit_test(other_hosts),
        cmocka_unit_test(refusals),   cmocka_unit_test(far_steps),  cmocka_unit_test(last_step),
    };
    const struct CMUnitTest global[] = {cmocka_unit_test(files)}; /* by client */
    int failed = cmocka_run_group_tests_name("global only", global, setup, loader_teardown);
    failed += cmocka_run_group_tests_name("global", tests, setup, loader_teardown);
    loader_window_bytes = INT64_C(1) << 20;
    return failed + cmocka_run_group_tests_name("windowed", tests, setup, loader_teardown);
}
