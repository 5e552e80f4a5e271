/*
 * Fault sweep over summary, raster and verification of CAN caches: the n-th allocation or file call
 * fails, once or from then on, until the work succeeds untouched. A summary fails or is right. A
 * verification fails, or tells a problem, or is right; want of memory is never told as damage.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "load/make_graphs.h"
#include "points.h"

#define SETTINGS "window 20\n"
#define CONTENT "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static char top[] = "/tmp/leat_can_inspect_faults_XXXXXX";
static char folder[2][64]; /* stored features, stored frames */

/* ---- What is swept ------------------------------------------------------------------------ */

static void set_digest(leat_can_meta *meta) {
    leat_sha256 sha;
    leat_can_digest_begin(&sha, SETTINGS);
    leat_can_digest_file(&sha, "train", "logs", "drive.csv", CONTENT);
    leat_can_digest_end(&sha, meta->digest);
}

/* Beside the cache itself, so that there is a file to look at. */
static int save_inputs(const char *dir) {
    char path[128], text[512];
    int size =
        snprintf(text, sizeof text,
                 "{\"settings\":\"window 20\\n\",\"files\":[{\"split\":\"train\",\"path\":"
                 "\"%s/logs/drive.csv\",\"size_bytes\":3,\"mtime_ns\":1,\"sha256\":\"%s\"}]}",
                 top, CONTENT);
    snprintf(path, sizeof path, "%s/inputs.json", dir);
    return leat_file_save(path, text, size, NULL) != LEAT_OK;
}

static int make_folders(void **state) {
    (void)state;
    char path[128];
    if (mkdtemp(top) == NULL) return 1;
    snprintf(path, sizeof path, "%s/logs", top);
    if (leat_path_make_dir(path, NULL) != LEAT_OK) return 1;
    snprintf(path, sizeof path, "%s/logs/drive.csv", top);
    if (leat_file_save(path, "abc", 3, NULL) != LEAT_OK) return 1;
    for (int store = 0; store < 2; store++) {
        make_cache options = {.graphs = {12, 4}, .window = 20, .whole = true};
        options.frames = store == 1;
        options.change_meta = set_digest;
        snprintf(folder[store], sizeof folder[store], "%s/%d", top, store);
        if (make_can_cache(folder[store], &options, NULL) != LEAT_OK) return 1;
        if (save_inputs(folder[store]) != 0) return 1;
    }
    return 0;
}

static int remove_folders(void **state) {
    (void)state;
    return leat_path_remove_tree(top, NULL) != LEAT_OK;
}

static leat_code summarise(const char *dir, int64_t *graphs, leat_error *err) {
    leat_can_cache *cache = NULL;
    leat_can_summary *summary = NULL;
    leat_can_summary_options options = leat_can_summary_options_default();
    options.threads = 1;
    *graphs = -1;
    leat_code code = leat_can_cache_open(&cache, dir, err);
    if (code == LEAT_OK) code = leat_can_summary_create(&summary, cache, &options, err);
    if (code == LEAT_OK) *graphs = summary->read_graphs * 1000 + summary->splits[0].unknown_frames;
    else assert_null(summary);
    leat_can_summary_destroy(summary);
    leat_can_cache_close(cache);
    return code;
}

static leat_code draw(const char *dir, int64_t *graphs, leat_error *err) {
    leat_can_cache *cache = NULL;
    leat_can_raster *raster = NULL;
    *graphs = -1;
    leat_code code = leat_can_cache_open(&cache, dir, err);
    if (code == LEAT_OK) code = leat_can_raster_create(&raster, cache, 1, NULL, err);
    if (code == LEAT_OK) *graphs = raster->read_windows * 1000 + raster->row_count;
    else assert_null(raster);
    leat_can_raster_destroy(raster);
    leat_can_cache_close(cache);
    return code;
}

static leat_code verify(const char *dir, int64_t *graphs, leat_error *err) {
    leat_can_verify_report *report = NULL;
    leat_verify_options options = leat_verify_options_default();
    options.threads = 1;
    *graphs = -1;
    leat_code code = leat_can_cache_verify(dir, &options, &report, err);
    if (code != LEAT_OK) {
        assert_null(report);
        return code;
    }
    *graphs = report->graphs;
    if (report->problem_count > 0) {
        if (atomic_load(&fault_counted) == FAULT_MEMORY)
            fail_msg("want of memory told as: %s", report->findings[0].reason);
        code = LEAT_ERR_CORRUPT; /* for the sweep: it was noticed */
        (void)snprintf(err->message, sizeof err->message, "%s", report->findings[0].reason);
        err->code = code;
    } else {
        assert_int_equal(report->note_count, report->inputs_changed);
    }
    leat_can_verify_report_destroy(report);
    return code;
}

typedef leat_code (*swept_fn)(const char *dir, int64_t *graphs, leat_error *err);

static void sweep(swept_fn work, const char *dir) {
    int64_t right = 0, graphs = 0;
    leat_error err = {0};
    clear_fault();
    assert_int_equal(work(dir, &right, &err), LEAT_OK);
    for (int mode = 0; mode < 4; mode++) {
        bool only_memory = mode & 1;
        atomic_store(&fault_counted, only_memory ? FAULT_MEMORY : FAULT_FILES);
        for (int64_t n = 0, more = true; more; n++) {
            memset(&err, 0, sizeof err);
            set_fault(n, mode & 2);
            leat_code code = work(dir, &graphs, &err);
            more = clear_fault();
            if (code == LEAT_OK) assert_int_equal(graphs, right);
            else assert_true(more && err.message[0] != 0);
            if (code != LEAT_OK && only_memory) assert_int_equal(code, LEAT_ERR_MEMORY);
            if (code == LEAT_OK && only_memory) assert_true(!more);
        }
    }
}

static void test_summary(void **state) {
    (void)state;
    for (int store = 0; store < 2; store++) sweep(summarise, folder[store]);
}

static void test_raster(void **state) {
    (void)state;
    for (int store = 0; store < 2; store++) sweep(draw, folder[store]);
}

static void test_verify(void **state) {
    (void)state;
    for (int store = 0; store < 2; store++) sweep(verify, folder[store]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_summary),
        cmocka_unit_test(test_raster),
        cmocka_unit_test(test_verify),
    };
    return cmocka_run_group_tests(tests, make_folders, remove_folders);
}
