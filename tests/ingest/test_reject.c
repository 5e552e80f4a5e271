/* Rows set aside: the same file in the same order whatever the memory and the workers. */
/* TSan: several threads reject rows. */
#include "source_support.h"

#include <sys/stat.h>

#include "threads.h"

static const char *const paths[] = {"a.csv", "b,c.csv", "d.csv"};

/* Row `i` of the test: which file, row and reason it is, and its values, some of them long. */
static leat_reject_row make_row(int64_t i, char values[LEAT_REJECT_VALUES_BYTES + 1]) {
    uint64_t bits = leat_random(4, 0, (uint64_t)i);
    int size = sprintf(values, "value %lld", (long long)i);
    int64_t more = (bits >> 32) % 50 == 0 ? (int64_t)(bits >> 40) % 8000 : 0;
    memset(values + size, 'x', (size_t)more);
    return (leat_reject_row){.file_index = (int32_t)(bits % 3),
                             .row = (int64_t)(bits >> 8) % 5000,
                             .reason = (leat_reject)((bits >> 4) % LEAT_REJECT_COUNT),
                             .values = values,
                             .values_bytes = size + more};
}

typedef struct adding {
    leat_reject_log *log;
    int64_t rows;
    int workers;
} adding;

static leat_code add_share(void *context, int index, leat_error *err) {
    adding *self = context;
    char values[LEAT_REJECT_VALUES_BYTES + 1];
    for (int64_t i = index; i < self->rows; i += self->workers) {
        leat_reject_row row = make_row(i, values);
        LEAT_TRY(leat_reject_log_add(self->log, index, &row, err));
    }
    return LEAT_OK;
}

static core_image write_log(int64_t rows, int workers, int64_t memory_bytes) {
    adding self = {.rows = rows, .workers = workers};
    assert_ok(leat_reject_log_create(&self.log,
                                     &(leat_reject_options){&leat_probe_rejects, paths, false,
                                                            workers, memory_bytes, core_dir()},
                                     err));
    assert_ok(run_threads(workers, add_share, &self, err));
    int64_t counts[LEAT_REJECT_COUNT], total = 0;
    leat_reject_log_counts(self.log, counts);
    for (int i = 0; i < LEAT_REJECT_COUNT; i++) total += counts[i];
    assert_int_equal(total, rows);
    assert_ok(leat_reject_log_save(self.log, core_path("rejects.csv"), err));
    leat_reject_log_destroy(self.log);
    /* nothing but the file is left */
    leat_path_list names = {0};
    assert_ok(leat_path_list_dir(core_dir(), &names, err));
    for (int64_t i = 0; i < names.count; i++) assert_null(strstr(names.paths[i], ".tmp"));
    leat_path_list_free(&names);
    return core_load(core_path("rejects.csv"));
}

static void test_order(void **state) {
    (void)state;
    enum { ROWS = 20000 };
    core_image want = write_log(ROWS, 1, INT64_C(1) << 30);
    /* ordered by file and row, each with its own values */
    char *text = calloc(1, (size_t)want.size_bytes + 1), *at = text;
    memcpy(text, want.data, (size_t)want.size_bytes);
    at = strchr(at, '\n') + 1;
    static const char *const shown[] = {"a.csv,", "\"b,c.csv\",", "d.csv,"};
    int file = 0;
    int64_t last = -1, count = 0;
    while (*at != 0) {
        char *end = strchr(at, '\n');
        *end = 0; /* sanitizers' strstr measures the whole text each time */
        while (strncmp(at, shown[file], strlen(shown[file])) != 0) {
            assert_true(++file < 3);
            last = -1;
        }
        char *row = at + strlen(shown[file]);
        assert_true(atoll(row) >= last);
        last = atoll(row);
        char values[LEAT_REJECT_VALUES_BYTES + 1];
        int64_t number = atoll(strstr(row, "value ") + 6);
        leat_reject_row made = make_row(number, values);
        assert_int_equal(made.file_index, file);
        assert_int_equal(made.row, last);
        char whole[LEAT_REJECT_VALUES_BYTES + 200];
        int size = snprintf(whole, sizeof whole, "%lld,%s,%.*s", (long long)last,
                            leat_reject_text(made.reason), (int)made.values_bytes, values);
        assert_int_equal(end - row, size);
        assert_memory_equal(row, whole, (size_t)size);
        count++;
        at = end + 1;
    }
    assert_int_equal(count, ROWS);
    free(text);
    /* one merge pass, several, and workers with runs of their own */
    static const struct {
        int workers;
        int64_t memory_bytes;
    } cases[] = {{1, 1 << 20}, {1, 1}, {2, 1}, {3, 1 << 18}, {8, 1}, {8, 1 << 22}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        core_image got = write_log(ROWS, cases[i].workers, cases[i].memory_bytes);
        assert_int_equal(got.size_bytes, want.size_bytes);
        assert_memory_equal(got.data, want.data, (size_t)want.size_bytes);
        free(got.data);
    }
    free(want.data);
}

static void test_few(void **state) {
    (void)state;
    for (int64_t rows = 1; rows < 5; rows++) {
        core_image one = write_log(rows, 1, 1 << 20), two = write_log(rows, 2, 1);
        assert_int_equal(one.size_bytes, two.size_bytes);
        assert_memory_equal(one.data, two.data, (size_t)one.size_bytes);
        free(one.data);
        free(two.data);
    }
    leat_reject_log *log = NULL;
    remove(core_path("none.csv"));
    assert_ok(leat_reject_log_create(
        &log, &(leat_reject_options){&leat_probe_rejects, paths, false, 2, 1 << 20, core_dir()},
        err));
    assert_ok(leat_reject_log_save(log, core_path("none.csv"), err));
    leat_reject_log_destroy(log);
    struct stat facts;
    assert_int_not_equal(stat(core_path("none.csv"), &facts), 0);
}

static void test_strict(void **state) {
    (void)state;
    leat_reject_log *log = NULL;
    assert_ok(leat_reject_log_create(
        &log, &(leat_reject_options){&leat_probe_rejects, paths, true, 1, 1 << 20, core_dir()},
        err));
    leat_reject_row row = {1, 17, LEAT_REJECT_RTT, "a,b,c,4,inf,", 12};
    assert_fails(leat_reject_log_add(log, 0, &row, err), LEAT_ERR_INPUT,
                 "\"b,c.csv\" row 17: rtt_infinite: a,b,c,4,inf,");
    int64_t counts[LEAT_REJECT_COUNT];
    leat_reject_log_counts(log, counts);
    assert_int_equal(counts[LEAT_REJECT_RTT], 1);
    leat_reject_log_destroy(log);
}

/* Another job's reasons and columns. */
static void test_kind(void **state) {
    (void)state;
    static const char *const reasons[] = {"too_blue", "too_green"};
    static const leat_reject_kind kind = {"file,line,reason,hue", "line", reasons, 2};
    leat_reject_log *log = NULL;
    assert_ok(leat_reject_log_create(
        &log, &(leat_reject_options){&kind, paths, false, 2, 1 << 20, core_dir()}, err));
    leat_reject_row rows[] = {{1, 7, 1, "a,b", 3}, {1, 6, 0, "", 0}, {0, 9, 1, "c", 1}};
    for (int i = 0; i < 3; i++) assert_ok(leat_reject_log_add(log, i % 2, &rows[i], err));
    int64_t counts[2];
    leat_reject_log_counts(log, counts);
    assert_int_equal(counts[0], 1);
    assert_int_equal(counts[1], 2);
    assert_ok(leat_reject_log_save(log, core_path("kind.csv"), err));
    leat_reject_log_destroy(log);
    core_image got = core_load(core_path("kind.csv"));
    static const char want[] = "file,line,reason,hue\n"
                               "a.csv,9,too_green,c\n"
                               "\"b,c.csv\",6,too_blue,\n"
                               "\"b,c.csv\",7,too_green,a,b\n";
    assert_int_equal(got.size_bytes, sizeof want - 1);
    assert_memory_equal(got.data, want, sizeof want - 1);
    free(got.data);
    assert_ok(leat_reject_log_create(
        &log, &(leat_reject_options){&kind, paths, true, 1, 1 << 20, core_dir()}, err));
    assert_fails(leat_reject_log_add(log, 0, &rows[1], err), LEAT_ERR_INPUT,
                 "\"b,c.csv\" line 6: too_blue");
    leat_reject_log_destroy(log);
}

static void test_failures(void **state) {
    (void)state;
    leat_reject_log *log = NULL;
    char values[LEAT_REJECT_VALUES_BYTES + 2] = {0};
    memset(values, 'x', sizeof values - 1);
    leat_reject_row row = {0, 1, LEAT_REJECT_LINE, values, sizeof values - 1};
    assert_ok(leat_reject_log_create(
        &log, &(leat_reject_options){&leat_probe_rejects, paths, false, 1, 1 << 20, core_dir()},
        err));
    assert_fails(leat_reject_log_add(log, 0, &row, err), LEAT_ERR_LIMIT, "8193 bytes");
    row.values_bytes--;
    assert_ok(leat_reject_log_add(log, 0, &row, err));
    assert_fails(leat_reject_log_save(log, core_path("no/such/folder.csv"), err),
                 LEAT_ERR_NOT_FOUND, "no/such/folder.csv");
    leat_reject_log_destroy(log);
    assert_ok(leat_reject_log_create(
        &log, &(leat_reject_options){&leat_probe_rejects, paths, false, 1, 1, core_path("nowhere")},
        err));
    leat_code code = LEAT_OK;
    leat_error error = {0};
    for (int i = 0; i < 100 && code == LEAT_OK; i++) {
        code = leat_reject_log_add(log, 0, &row, &error);
    }
    assert_int_equal(code, LEAT_ERR_NOT_FOUND);
    leat_reject_log_destroy(log);
    leat_reject_log_destroy(NULL);
    assert_string_equal(leat_reject_text(LEAT_REJECT_LINE), "malformed_line");
    assert_string_equal(leat_reject_text((leat_reject)99), "unknown reason");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),    cmocka_unit_test(test_few),
        cmocka_unit_test(test_strict),   cmocka_unit_test(test_kind),
        cmocka_unit_test(test_failures),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    core_dir_remove();
    return failed;
}
