/* Who has computed a run, by its ledger: units count once, whoever took them, and not after a
 * rewind. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "train/run/ledger.h"
#include "train/run/run_reader.h"
#include "train_support.h"

static leat_run run; /* of which only the folder counts */
static char path[LEAT_PATH_BYTES];

static int setup(void **state) {
    (void)state;
    snprintf(run.folder.path, sizeof run.folder.path, "%s", train_path("contributors"));
    assert_ok(leat_path_make_dir(run.folder.path, err));
    assert_ok(leat_run_folder_join(&run.folder, LEAT_RUN_LEDGER, path, err));
    leat_path_discard(path);
    return 0;
}

static void add(leat_ledger *ledger, const char *kind, int64_t step, int64_t unit,
                const char *account) {
    leat_json *json = NULL;
    assert_ok(leat_ledger_begin(ledger, kind, &json, err));
    leat_json_member_int(json, "step", step);
    if (unit >= 0) leat_json_member_int(json, "unit", unit);
    if (account != NULL) leat_json_member_string(json, "account", account);
    assert_ok(leat_ledger_end(ledger, json, err));
}

/* A coordinator that begins after a step; each letter of a word is the account of a unit of the
 * next step, '-' the coordinator itself. */
static void write_steps(int64_t after, const char *const *words, int count) {
    leat_ledger ledger;
    assert_ok(leat_ledger_open(&ledger, path, err));
    add(&ledger, "begin", after, -1, NULL);
    for (int i = 0; i < count; i++) {
        const int64_t step = after + 1 + i;
        for (int unit = 0; words[i][unit] != 0; unit++) {
            const char account[2] = {words[i][unit], 0};
            add(&ledger, "unit", step, unit, account[0] == '-' ? NULL : account);
        }
        add(&ledger, "step", step, -1, NULL);
    }
    assert_ok(leat_ledger_sync(&ledger, err));
    leat_ledger_close(&ledger);
}

static void write_line(const char *kind, int64_t step, int64_t unit, const char *account) {
    leat_ledger ledger;
    assert_ok(leat_ledger_open(&ledger, path, err));
    add(&ledger, kind, step, unit, account);
    assert_ok(leat_ledger_sync(&ledger, err));
    leat_ledger_close(&ledger);
}

/* "a 3, b 2; own 1 of 6", with "!1" after the units where a result was refused. */
static void expect(const char *words) {
    leat_run_contributors found;
    char text[256] = "";
    assert_ok(leat_run_contributors_load(&run, &found, err));
    assert_int_equal(found.count, found.accounts);
    for (int i = 0; i < found.count; i++) {
        const leat_run_contributor *of = &found.shown[i];
        const size_t size = strlen(text);
        char refused[24] = "";
        if (of->refused > 0) snprintf(refused, sizeof refused, "!%lld", (long long)of->refused);
        snprintf(text + size, sizeof text - size, "%s%s %lld%s", i == 0 ? "" : ", ", of->account,
                 (long long)of->units, refused);
    }
    snprintf(text + strlen(text), sizeof text - strlen(text), "; own %lld of %lld",
             (long long)found.own, (long long)found.units);
    assert_string_equal(text, words);
}

/* Of how many steps, which of them is the last, and which are missing before it. */
static void expect_steps(int64_t steps, int64_t last, int64_t missing_first, int64_t missing_last) {
    leat_run_contributors found;
    assert_ok(leat_run_contributors_load(&run, &found, err));
    assert_true(found.ledger);
    assert_int_equal(found.steps, steps);
    assert_int_equal(found.last_step, last);
    assert_int_equal(found.missing_first, missing_first);
    assert_int_equal(found.missing_last, missing_last);
}

#define STEPS(after, ...)                                                                          \
    write_steps((after), (const char *const[]){__VA_ARGS__},                                       \
                (int)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)))

static void each_unit_counts_once(void **state) {
    leat_run_contributors found;
    (void)state;
    expect("; own 0 of 0"); /* there is no ledger */
    assert_ok(leat_run_contributors_load(&run, &found, err));
    assert_false(found.ledger);
    STEPS(0, "aba", "ab-");
    expect("a 3, b 2; own 1 of 6");
    STEPS(1, "bbb"); /* killed before the commit of step 2 */
    expect("b 4, a 2; own 0 of 6");
    STEPS(2, "aaa", "ccc", "c-c");
    expect("a 5, c 5, b 4; own 1 of 15");
}

static void steps_that_are_taken_back(void **state) {
    (void)state;
    STEPS(0, "ab", "ab", "cc", "cc");
    expect("c 4, a 2, b 2; own 0 of 8");
    write_line("rewind", 3, -1, NULL);
    expect("a 2, b 2, c 2; own 0 of 6");
    STEPS(3, "dd");
    expect("a 2, b 2, c 2, d 2; own 0 of 8");
    STEPS(1, "-d"); /* the database was lost, and the newest checkpoint is that of step 1 */
    expect("a 1, b 1, d 1, c 0; own 1 of 4");
    write_line("undo", 0, -1, "a");
    expect("a 0, b 0, c 0, d 0; own 0 of 0");
}

/* After a rewind of the folder the run continues with the database's later state, as it may; or
 * leat train takes steps, of which the ledger has nothing. */
static void steps_that_are_not_known(void **state) {
    (void)state;
    STEPS(0, "ab", "a-", "cc", "cc", "cc");
    expect_steps(5, 5, 0, 0);
    write_line("rewind", 2, -1, NULL);
    expect_steps(2, 2, 0, 0);
    STEPS(4, "dd");
    expect("a 2, d 2, b 1, c 0; own 1 of 6");
    expect_steps(3, 5, 3, 4);
    STEPS(7, "dd", "ad");
    expect_steps(5, 9, 3, 7);
    STEPS(2, "ee"); /* from the checkpoint of step 2 */
    expect_steps(3, 3, 0, 0);
    leat_path_discard(path);
    STEPS(2, "ab"); /* begun by leat train */
    expect_steps(1, 3, 1, 2);
    leat_path_discard(path);
    STEPS(0, "");
    expect_steps(0, 0, 0, 0);
}

static void refused_results(void **state) {
    (void)state;
    STEPS(0, "aa");
    write_line("refused", 2, 0, "b");
    write_line("refused", 2, 1, "a");
    write_line("refused", 2, 1, "a");
    expect("a 2!2, b 0!1; own 0 of 2");
    write_line("rewind", 0, -1, NULL); /* what was refused stays said */
    expect("a 0!2, b 0!1; own 0 of 0");
}

static void what_cannot_be_read(void **state) {
    leat_run_contributors found;
    leat_file *file = NULL;
    char account[80];
    (void)state;
    STEPS(0, "ab");
    /* the beginning of a line that a killed process has left */
    assert_ok(leat_file_open(&file, path, LEAT_FILE_OWN, err));
    int64_t size = 0;
    assert_ok(leat_file_size(file, &size, err));
    assert_ok(leat_file_pwrite(file, "{\"before\":\"00", 13, size, err));
    leat_file_close(file);
    expect("a 1, b 1; own 0 of 2");
    memset(account, 'x', sizeof account);
    account[sizeof account - 1] = 0;
    write_line("unit", 2, 0, account);
    assert_fails(leat_run_contributors_load(&run, &found, err), LEAT_ERR_CORRUPT,
                 "line 5 has no valid step, unit or account");
    assert_int_equal(found.accounts, 0);
    assert_true(found.ledger);
    leat_path_discard(path);
    write_line("unit", 2, -1, "a");
    assert_fails(leat_run_contributors_load(&run, &found, err), LEAT_ERR_CORRUPT,
                 "line 1 has no valid step, unit or account");
    /* in the middle it is damage */
    static const char torn[] = "{\"before\":\"00\n{\"kind\":\"rewind\",\"step\":0}\n";
    leat_path_discard(path);
    assert_ok(leat_file_open(&file, path, LEAT_FILE_NEW, err));
    assert_ok(leat_file_pwrite(file, torn, sizeof torn - 1, 0, err));
    leat_file_close(file);
    assert_fails(leat_run_contributors_load(&run, &found, err), LEAT_ERR_CORRUPT,
                 "line 1 has no valid step, unit or account");
    const int64_t no_steps[] = {-1, INT64_MAX};
    for (int i = 0; i < 2; i++) {
        leat_path_discard(path);
        write_line("unit", no_steps[i], 0, "a");
        assert_fails(leat_run_contributors_load(&run, &found, err), LEAT_ERR_CORRUPT,
                     "line 1 has no valid step, unit or account");
    }
}

/* Of more accounts than are shown, those with most units. */
static void many_accounts(void **state) {
    enum { MANY = LEAT_RUN_CONTRIBUTORS_MAX + 20 };
    leat_run_contributors found;
    leat_ledger ledger;
    char name[16];
    (void)state;
    assert_ok(leat_ledger_open(&ledger, path, err));
    for (int i = 0; i < MANY; i++)
        for (int k = 0; k < (i < 20 ? 1 : 2); k++) {
            snprintf(name, sizeof name, "\"%03d", i); /* a name with an escape in JSON */
            add(&ledger, "unit", 2 * i + k + 1, 0, name);
        }
    assert_ok(leat_ledger_sync(&ledger, err));
    leat_ledger_close(&ledger);
    assert_ok(leat_run_contributors_load(&run, &found, err));
    assert_int_equal(found.accounts, MANY);
    assert_int_equal(found.count, LEAT_RUN_CONTRIBUTORS_MAX);
    assert_int_equal(found.units, 2 * MANY - 20);
    assert_string_equal(found.shown[0].account, "\"020");
    assert_int_equal(found.shown[LEAT_RUN_CONTRIBUTORS_MAX - 1].units, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(each_unit_counts_once, setup),
        cmocka_unit_test_setup(steps_that_are_taken_back, setup),
        cmocka_unit_test_setup(steps_that_are_not_known, setup),
        cmocka_unit_test_setup(refused_results, setup),
        cmocka_unit_test_setup(what_cannot_be_read, setup),
        cmocka_unit_test_setup(many_accounts, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
