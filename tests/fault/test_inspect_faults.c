/*
 * Fault sweep over summary, report on batches and verification: the n-th allocation or file call
 * fails, once or from then on, until the work succeeds untouched. A summary or a report fails or is
 * right. A verification fails, or tells a problem, or is right; want of memory is never told as
 * damage.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "leat/load.h"
#include "load/make_dataset.h"
#include "load/plant.h"
#include "points.h"

static char root[] = "/tmp/leat-inspect-faults-XXXXXX";
static char ours[64], others[64];

/* ---- What is swept ------------------------------------------------------------------------ */

static int make_folders(void **state) {
    (void)state;
    if (mkdtemp(root) == NULL) return 1;
    snprintf(ours, sizeof ours, "%s/ours", root);
    snprintf(others, sizeof others, "%s/others", root);
    plant_options options = plant_options_default();
    plant(ours, &options);
    plant(others, &options);
    return make_files_of_others(others, NULL) != LEAT_OK;
}

static int remove_folders(void **state) {
    (void)state;
    return leat_path_remove_tree(root, NULL) != LEAT_OK;
}

static leat_code summarise(const char *dir, int64_t *measurements, leat_error *err) {
    leat_dataset *dataset = NULL;
    leat_summary *summary = NULL;
    leat_summary_options options = leat_summary_options_default();
    options.threads = 1;
    *measurements = -1;
    leat_code code = leat_dataset_open(&dataset, &dir, 1, NULL, err);
    if (code == LEAT_OK) code = leat_summary_create(&summary, dataset, &options, err);
    if (code == LEAT_OK) *measurements = summary->measurements_read;
    else assert_null(summary);
    leat_summary_destroy(summary);
    leat_dataset_close(dataset);
    return code;
}

static leat_code report(const char *dir, int64_t *measurements, leat_error *err) {
    leat_dataset *dataset = NULL;
    leat_batch_report *told = NULL;
    leat_loader_options options = leat_loader_options_default();
    options.threads = 1;
    *measurements = -1;
    leat_code code = leat_dataset_open(&dataset, &dir, 1, NULL, err);
    if (code == LEAT_OK) code = leat_batch_report_create(&told, dataset, &options, NULL, err);
    if (code == LEAT_OK)
        *measurements = told->chunks.measurements + told->asked.fillers.measurements +
                        told->unpacked.anchors.measurements;
    else assert_null(told);
    leat_batch_report_destroy(told);
    leat_dataset_close(dataset);
    return code;
}

static leat_code verify(const char *dir, int64_t *measurements, leat_error *err) {
    leat_verify_report *report = NULL;
    leat_verify_options options = leat_verify_options_default();
    options.threads = 1;
    *measurements = -1;
    leat_code code = leat_verify(&dir, 1, &options, &report, err);
    if (code != LEAT_OK) {
        assert_null(report);
        return code;
    }
    *measurements = report->measurements;
    if (report->problem_count > 0) {
        if (atomic_load(&fault_counted) == FAULT_MEMORY)
            fail_msg("want of memory told as: %s", report->findings[0].reason);
        code = LEAT_ERR_CORRUPT; /* for the sweep: it was noticed */
        (void)snprintf(err->message, sizeof err->message, "%s", report->findings[0].reason);
        err->code = code;
    }
    leat_verify_report_destroy(report);
    return code;
}

typedef leat_code (*swept_fn)(const char *dir, int64_t *measurements, leat_error *err);

static void sweep(swept_fn work, const char *dir) {
    int64_t right = 0, measurements = 0;
    leat_error err = {0};
    clear_fault();
    assert_int_equal(work(dir, &right, &err), LEAT_OK);
    for (int mode = 0; mode < 4; mode++) {
        bool only_memory = mode & 1;
        atomic_store(&fault_counted, only_memory ? FAULT_MEMORY : FAULT_FILES);
        /* Every call at first; then with growing steps, of which each mode has others. */
        for (int64_t n = 1, more = true; more; n += n < 60 ? 1 : n / 16 + mode) {
            memset(&err, 0, sizeof err);
            set_fault(n - 1, mode & 2);
            leat_code code = work(dir, &measurements, &err);
            more = clear_fault();
            if (code == LEAT_OK) assert_int_equal(measurements, right);
            else assert_true(more && err.message[0] != 0);
            if (code != LEAT_OK && only_memory) assert_int_equal(code, LEAT_ERR_MEMORY);
        }
    }
}

static void test_summary(void **state) {
    (void)state;
    sweep(summarise, ours);
    sweep(summarise, others);
}

static void test_report(void **state) {
    (void)state;
    sweep(report, ours);
    sweep(report, others);
}

static void test_verify(void **state) {
    (void)state;
    sweep(verify, ours);
    sweep(verify, others);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_summary),
        cmocka_unit_test(test_report),
        cmocka_unit_test(test_verify),
    };
    return cmocka_run_group_tests(tests, make_folders, remove_folders);
}
