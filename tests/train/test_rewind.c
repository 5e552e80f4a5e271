/* Runs taken back to an earlier checkpoint: what moves where, to the same bits afterwards, what is
 * refused, and what is left of a rewind that was interrupted. */
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/lock.h"
#include "base/mem.h"
#include "quick_kernels.h"
#include "train/run/ledger.h"
#include "train/run/rewind.h"
#include "train/run/run_reader.h"
#include "train_support.h"

static leat_train_options options_of(int64_t steps) {
    leat_train_options options = train_options(steps);
    options.keep = 9;
    return options;
}

static leat_train_result rewind_to(const char *run, int64_t step, int64_t steps) {
    leat_train_options options = options_of(steps);
    options.resume = true;
    options.rewind = step;
    return train_run(run, &options);
}

static char *path_in(const char *run, const char *name) {
    static char paths[8][LEAT_PATH_BYTES];
    static int next;
    char *path = paths[next++ % 8];
    assert_ok(leat_path_join(path, LEAT_PATH_BYTES, run, name, err));
    return path;
}

static leat_path_kind kind_of(const char *run, const char *name) {
    leat_path_facts facts;
    assert_ok(leat_path_stat(path_in(run, name), &facts, err));
    return facts.kind;
}

static void expect(const char *run, const char *const *names, leat_path_kind kind) {
    for (; *names != NULL; names++)
        if (kind_of(run, *names) != kind) fail_msg("%s: kind %d", *names, kind_of(run, *names));
}

static void save(const char *run, const char *name, const char *text) {
    assert_ok(leat_file_save(path_in(run, name), text, (int64_t)strlen(text), err));
}

/* Numbers of lines of metrics, and the step of the first. */
static int lines_of(const char *path, long long *first) {
    int64_t size = 0;
    int lines = 0;
    char *text = train_read(path, &size);
    assert_non_null(text);
    *first = -1;
    (void)!sscanf(text, "{\"step\":%lld", first);
    for (int64_t i = 0; i < size; i++) lines += text[i] == '\n';
    leat_free(text);
    return lines;
}

static void verify(const char *path) {
    leat_run *run = NULL;
    assert_ok(leat_run_open(&run, path, err));
    assert_ok(leat_run_verify(run, err));
    leat_run_close(run);
}

static int64_t last_checkpoint(const char *path) {
    leat_run *run = NULL;
    leat_run_checkpoint of;
    leat_run_facts facts;
    assert_ok(leat_run_open(&run, path, err));
    leat_run_get_facts(run, &facts);
    assert_true(leat_run_checkpoint_at(run, facts.checkpoint_count - 1, &of));
    leat_run_close(run);
    return of.step;
}

/* ---- to the bit ----------------------------------------------------------------------------- */

static void later_steps_move_and_are_taken_again(void **state) {
    static const char *const moved[] = {"rewound-2/rewind.json",
                                        "rewound-2/checkpoints/step-000000004.safetensors",
                                        "rewound-2/checkpoints/step-000000004.json",
                                        "rewound-2/checkpoints/step-000000004.sha256",
                                        "rewound-2/checkpoints/step-000000006.safetensors",
                                        "rewound-2/samples/step-000000006.png",
                                        "samples/step-000000000.png",
                                        "checkpoints/step-000000002.sha256",
                                        NULL};
    static const char *const gone[] = {"checkpoints/step-000000004.safetensors",
                                       "checkpoints/step-000000004.sha256",
                                       "checkpoints/step-000000006.json",
                                       "samples/step-000000006.png",
                                       "rewound-2/samples/step-000000000.png",
                                       "rewound-2/checkpoints/step-000000002.json",
                                       ".leat.rewind",
                                       ".leat.lock",
                                       NULL};
    const char *run = train_path("moved");
    leat_train_options options = options_of(6);
    long long first = 0;
    (void)state;
    options.sample_every = 6;
    const leat_train_result whole = train_run(run, &options);
    const int lines = lines_of(path_in(run, "metrics.jsonl"), &first);
    const leat_train_result back = rewind_to(run, 2, 2);
    assert_int_equal(back.first_step, 2);
    assert_int_equal(back.last_step, 2);
    assert_non_null(strstr(back.note, "rewound to step 2; what came after it is in"));
    expect(run, moved, LEAT_PATH_FILE);
    expect(run, gone, LEAT_PATH_NONE);
    assert_int_equal(last_checkpoint(run), 2);
    verify(run);
    const int later = lines_of(path_in(run, "rewound-2/metrics.jsonl"), &first);
    assert_int_equal(first, 3);
    assert_int_equal(lines_of(path_in(run, "metrics.jsonl"), &first) + later, lines);
    assert_int_equal(first, 0);
    options.resume = true;
    const leat_train_result again = train_run(run, &options);
    assert_int_equal(again.first_step, 2);
    assert_string_equal(again.state, whole.state);
    for (int i = 0; i < leat_value_count(whole.measures); i++)
        assert_true(again.measured[i] == whole.measured[i]);
    assert_int_equal(lines_of(path_in(run, "metrics.jsonl"), &first), lines);
}

static void a_second_rewind_has_its_own_folder(void **state) {
    const char *run = train_path("second");
    leat_train_options options = options_of(6);
    (void)state;
    const leat_train_result whole = train_run(run, &options);
    assert_ok(leat_path_remove_tree(path_in(run, "samples"), err)); /* by somebody */
    for (int i = 0; i < 3; i++) assert_string_equal(rewind_to(run, 4, 6).state, whole.state);
    static const char *const there[] = {"rewound-4", "rewound-4-2", "rewound-4-3", NULL};
    expect(run, there, LEAT_PATH_DIR);
    assert_int_equal(kind_of(run, "rewound-4-4"), LEAT_PATH_NONE);
    assert_int_equal(kind_of(run, "rewound-4/checkpoints/step-000000006.json"), LEAT_PATH_FILE);
    assert_int_equal(kind_of(run, "rewound-4-3/checkpoints/step-000000006.json"), LEAT_PATH_FILE);
    /* the last checkpoint, and nothing after it */
    assert_non_null(strstr(rewind_to(run, 6, 6).note, "nothing after step 6"));
    assert_int_equal(kind_of(run, "rewound-6"), LEAT_PATH_NONE);
}

/* ---- refused -------------------------------------------------------------------------------- */

static void fails(const char *run, int64_t step, int64_t steps, leat_code code, const char *text) {
    leat_train_options options = options_of(steps);
    leat_train_result result;
    options.resume = true;
    options.rewind = step;
    assert_fails(leat_train("dcgan", train_data(TRAIN_IMAGES), run, &options, &result, err), code,
                 text);
}

static void what_cannot_be_rewound_stays(void **state) {
    const char *run = train_path("kept");
    leat_train_options options = options_of(6);
    leat_train_result result;
    leat_lock lock;
    (void)state;
    options.keep = 2;
    train_run(run, &options);
    fails(run, 2, 6, LEAT_ERR_OPTION,
          "no checkpoint of step 2; there are: 4 (2.91 epochs), 6 (4.36 epochs)");
    fails(run, 5, 6, LEAT_ERR_OPTION, "4 (2.91 epochs), 6");
    fails(run, 4, 3, LEAT_ERR_OPTION, "ends at step 3");
    fails(train_path("no run"), 4, 6, LEAT_ERR_OPTION, "does not hold a run to rewind");
    assert_int_equal(kind_of(train_path("no run"), "."), LEAT_PATH_NONE);
    options.rewind = 4;
    assert_fails(leat_train("dcgan", train_data(TRAIN_IMAGES), run, &options, &result, err),
                 LEAT_ERR_OPTION, "resumed");
    options.resume = true;
    options.export_dir = train_path("export");
    assert_ok(leat_path_make_dir(options.export_dir, err));
    save(options.export_dir, "config.json", "somebody's");
    assert_fails(leat_train("dcgan", train_data(TRAIN_IMAGES), run, &options, &result, err),
                 LEAT_ERR_EXISTS, "export");
    assert_int_equal(last_checkpoint(run), 6);
    assert_ok(leat_lock_try(&lock, path_in(run, ".leat.lock"), err));
    fails(run, 4, 6, LEAT_ERR_BUSY, "another process");
    leat_lock_release(&lock);
    /* a checkpoint that cannot be read is not one to go back to */
    leat_file *file = NULL;
    const char *weights = path_in(run, "checkpoints/step-000000004.safetensors");
    assert_ok(leat_file_open(&file, weights, LEAT_FILE_UPDATE, err));
    assert_ok(leat_file_pwrite(file, "x", 1, 9000, err));
    leat_file_close(file);
    fails(run, 4, 6, LEAT_ERR_CORRUPT, "step-000000004.safetensors");
    assert_ok(leat_path_remove(path_in(run, "checkpoints/step-000000004.json"), err));
    fails(run, 4, 6, LEAT_ERR_CORRUPT, "step-000000004.json");
    assert_int_equal(last_checkpoint(run), 6);
    assert_int_equal(kind_of(run, "rewound-4"), LEAT_PATH_NONE);
    assert_int_equal(kind_of(run, ".leat.rewind"), LEAT_PATH_NONE);
}

/* ---- interrupted ---------------------------------------------------------------------------- */

static void what_was_interrupted_is_completed(void **state) {
    const char *run = train_path("completed");
    leat_train_options options = options_of(6);
    char document[300];
    long long first = 0;
    (void)state;
    const leat_train_result whole = train_run(run, &options);
    options.resume = true;
    /* not decided: nothing has happened */
    assert_ok(leat_path_make_dir(path_in(run, ".leat.rewind"), err));
    save(run, ".leat.rewind/metrics.jsonl", "{\"step\":3}\n");
    assert_int_equal(train_run(run, &options).first_step, 6);
    assert_int_equal(kind_of(run, ".leat.rewind"), LEAT_PATH_NONE);
    assert_int_equal(kind_of(run, "rewound-2"), LEAT_PATH_NONE);
    /* another run's, or damaged */
    assert_ok(leat_path_make_dir(path_in(run, ".leat.rewind"), err));
    snprintf(document, sizeof document,
             "{\"format\":\"leat.rewind\",\"version\":1,\"run\":\"%064d\",\"step\":2}", 1);
    save(run, ".leat.rewind/rewind.json", document);
    fails(run, -1, 6, LEAT_ERR_CORRUPT, "rewind.json");
    save(run, ".leat.rewind/rewind.json", "{\"format\":");
    fails(run, -1, 6, LEAT_ERR_CORRUPT, "rewind.json");
    /* decided, with some files moved: any resume goes on from there, and so does any rewind */
    snprintf(document, sizeof document,
             "{\"format\":\"leat.rewind\",\"version\":1,\"run\":\"%s\",\"step\":2}", whole.run);
    save(run, ".leat.rewind/rewind.json", document);
    save(run, ".leat.rewind/metrics.jsonl", "{\"step\":3}\n");
    assert_ok(leat_path_make_dir(path_in(run, ".leat.rewind/checkpoints"), err));
    assert_ok(leat_path_rename(path_in(run, "checkpoints/step-000000006.sha256"),
                               path_in(run, ".leat.rewind/checkpoints/step-000000006.sha256"),
                               err));
    assert_int_equal(last_checkpoint(run), 4); /* a reader meanwhile */
    verify(run);
    fails(run, 4, 6, LEAT_ERR_OPTION, "there are: 2 (");
    assert_int_equal(last_checkpoint(run), 2);
    const leat_train_result rest = train_run(run, &options);
    assert_int_equal(rest.first_step, 2);
    assert_string_equal(rest.state, whole.state);
    static const char *const moved[] = {"rewound-2/checkpoints/step-000000004.sha256",
                                        "rewound-2/checkpoints/step-000000006.sha256",
                                        "rewound-2/checkpoints/step-000000006.safetensors", NULL};
    expect(run, moved, LEAT_PATH_FILE);
    assert_int_equal(lines_of(path_in(run, "rewound-2/metrics.jsonl"), &first), 1);
}

static void links_are_refused(void **state) {
    const char *run = train_path("linked"), *other = train_path("elsewhere");
    leat_train_options options = options_of(4);
    (void)state;
    train_run(run, &options);
    assert_ok(leat_path_make_dir(other, err));
    assert_int_equal(symlink(other, path_in(run, ".leat.rewind")), 0);
    fails(run, 2, 4, LEAT_ERR_INPUT, "is a link");
    assert_ok(leat_path_remove(path_in(run, ".leat.rewind"), err));
    assert_int_equal(symlink(other, path_in(run, "rewound-2")), 0);
    rewind_to(run, 2, 4);
    assert_int_equal(kind_of(run, "rewound-2-2/rewind.json"), LEAT_PATH_FILE);
    assert_int_equal(kind_of(other, "rewind.json"), LEAT_PATH_NONE);
}

/* ---- the ledger ----------------------------------------------------------------------------- */

static void the_ledger_takes_note(void **state) {
    const char *run = train_path("recorded");
    leat_train_options options = options_of(6);
    leat_run_ledger before, after;
    leat_ledger ledger;
    leat_json *json = NULL;
    leat_run *opened = NULL;
    int64_t size = 0;
    (void)state;
    train_run(run, &options);
    assert_ok(leat_ledger_open(&ledger, path_in(run, LEAT_RUN_LEDGER), err));
    for (int64_t step = 1; step <= 6; step++) {
        assert_ok(leat_ledger_begin(&ledger, "step", &json, err));
        leat_json_member_int(json, "step", step);
        assert_ok(leat_ledger_end(&ledger, json, err));
    }
    assert_ok(leat_ledger_sync(&ledger, err));
    leat_ledger_close(&ledger);
    assert_ok(leat_run_open(&opened, run, err));
    assert_ok(leat_run_ledger_load(opened, &before, err));
    rewind_to(run, 2, 2);
    assert_ok(leat_run_ledger_load(opened, &after, err));
    assert_int_equal(after.lines, before.lines + 1);
    assert_int_equal(before.steps, 6);
    assert_int_equal(after.steps, 2);
    char *text = train_read(path_in(run, LEAT_RUN_LEDGER), &size);
    assert_non_null(strstr(text, "\"kind\":\"rewind\",\"step\":2,\"folder\":\"rewound-2\"}\n"));
    /* a broken one stops it before anything moves */
    strstr(text, "\"step\":5")[7] = '3';
    assert_ok(leat_file_save(path_in(run, LEAT_RUN_LEDGER), text, size, err));
    options.resume = true;
    train_run(run, &options);
    fails(run, 4, 6, LEAT_ERR_CORRUPT, "does not follow");
    assert_int_equal(last_checkpoint(run), 6);
    assert_int_equal(kind_of(run, ".leat.rewind"), LEAT_PATH_NONE);
    leat_run_close(opened);
    leat_free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(later_steps_move_and_are_taken_again),
        cmocka_unit_test(a_second_rewind_has_its_own_folder),
        cmocka_unit_test(what_cannot_be_rewound_stays),
        cmocka_unit_test(what_was_interrupted_is_completed),
        cmocka_unit_test(links_are_refused),
        cmocka_unit_test(the_ledger_takes_note),
    };
    return cmocka_run_group_tests(tests, NULL, train_teardown);
}
