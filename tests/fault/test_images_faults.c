/*
 * Fault sweep over image data sets: the n-th allocation, file call or start of a thread fails, once
 * or from then on, until the work succeeds untouched. Writing that fails leaves no data set, and
 * can be resumed to the same bytes; reading, batches and the summary fail or are right; a
 * verification fails, or reports a problem, or is right, and want of memory is never reported as
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

#include "format/image_set_support.h"
#include "leat/load_images.h"
#include "memory_folder.h"
#include "sweep.h"

enum { IMAGES = 9, SIZE = 200 }; /* 1 MB: the buffer is written out more than once */

static char top[LEAT_PATH_BYTES - 200];
static char made[LEAT_PATH_BYTES], grown[LEAT_PATH_BYTES], state_path[LEAT_PATH_BYTES];
static char fingerprint[65], hash_text[2][65];

/* ---- writing -------------------------------------------------------------------------------- */

/* As much of a run as the faults allow; what it has done is resumed by a run without faults. */
static leat_code write_set(const void *of, leat_error *err) {
    (void)of;
    return image_set_make(grown, IMAGES, SIZE, 0, err);
}

static leat_code keep_all(leat_image_writer *writer, uint8_t *pixels, leat_error *err) {
    const leat_image_set *set = (const leat_image_set *)1;
    bool kept = true;
    for (int64_t i = 0; i < IMAGES; i++) {
        char name[64];
        const leat_image_entry entry = image_entry(i, name);
        image_pixels(i, SIZE, pixels);
        if (kept)
            LEAT_TRY(
                leat_image_writer_keep(writer, &entry, leat_image_hash(pixels, SIZE), &kept, err));
        if (!kept) LEAT_TRY(leat_image_writer_append(writer, &entry, pixels, err));
    }
    LEAT_TRY(leat_image_writer_flush(writer, err));
    leat_code code = leat_image_writer_finish(writer, 0, &set, err);
    if (code != LEAT_OK) assert_null(set);
    else assert_string_equal(set->fingerprint, fingerprint);
    return code;
}

static leat_code resume_set(const void *of, leat_error *err) {
    static uint8_t pixels[SIZE * SIZE * 3];
    leat_image_writer *writer = (leat_image_writer *)1;
    (void)of;
    leat_code code = leat_image_writer_create(&writer, grown, SIZE, true, err);
    if (code != LEAT_OK) {
        assert_null(writer);
        return code;
    }
    code = keep_all(writer, pixels, err);
    leat_image_writer_destroy(writer);
    return code;
}

/* A failed run leaves no data set; the next one makes it, from what is there. */
static void look_after_writing(leat_code code) {
    leat_image_set set;
    leat_error err = {0};
    char path[LEAT_PATH_BYTES];
    leat_code loaded = leat_image_set_load(&set, grown, NULL);
    assert_int_equal(loaded == LEAT_OK, code == LEAT_OK);
    if (loaded == LEAT_OK) leat_image_set_free(&set);
    if (resume_set(NULL, &err) != LEAT_OK) fail_msg("%s", err.message);
    expect_no_drafts(grown);
    assert_int_equal(leat_path_join(path, sizeof path, grown, LEAT_COMPLETE_NAME, NULL), LEAT_OK);
    assert_int_equal(leat_path_remove(path, NULL), LEAT_OK); /* as the next run finds it */
}

static void writing(void **state) {
    (void)state;
    sweep_faults(&(fault_sweep){"write", write_set, NULL, look_after_writing, 20});
    assert_int_equal(leat_path_remove_tree(grown, NULL), LEAT_OK);
    sweep_faults(&(fault_sweep){"resume", resume_set, NULL, look_after_writing, 20});
}

/* ---- reading -------------------------------------------------------------------------------- */

static leat_code take(leat_image_loader *loader, int as, leat_error *err) {
    leat_batch_hash *hash = NULL;
    char text[65];
    LEAT_TRY(leat_batch_hash_create(&hash, err));
    for (const leat_image_batch *batch = NULL;;) {
        batch = (const leat_image_batch *)1;
        leat_code code = leat_image_loader_next(loader, &batch, err);
        if (code != LEAT_OK) {
            assert_null(batch);
            leat_batch_hash_destroy(hash);
            return code;
        }
        if (batch == NULL) break;
        leat_batch_hash_add_images(hash, batch, NULL);
        leat_image_batch_release(batch);
    }
    leat_batch_hash_text(hash, text);
    leat_batch_hash_destroy(hash);
    if (hash_text[as][0] == 0) memcpy(hash_text[as], text, sizeof text);
    assert_string_equal(text, hash_text[as]);
    LEAT_TRY(leat_image_loader_save(loader, state_path, false, err));
    LEAT_TRY(leat_image_loader_seek(loader, 1, err));
    LEAT_TRY(leat_image_loader_load(loader, state_path, err));
    assert_int_equal(leat_image_loader_step(loader), leat_image_loader_step_count(loader));
    return LEAT_OK;
}

static leat_code load_batches(const leat_images *images, int as, leat_error *err) {
    leat_image_loader *loader = (leat_image_loader *)1;
    leat_image_loader_options options = leat_image_loader_options_default();
    options.batch = 4;
    options.epochs = 2;
    options.threads = 1 + as;
    options.prefetch = 1;
    options.as = (leat_image_values)as;
    options.window_bytes = as * (1 << 20); /* floats in the windowed order */
    leat_code code = leat_image_loader_create(&loader, images, &options, err);
    if (code != LEAT_OK) {
        assert_null(loader);
        return code;
    }
    code = take(loader, as, err);
    leat_image_loader_destroy(loader);
    return code;
}

static leat_code summarise(const leat_images *images, leat_error *err) {
    leat_images_summary *summary = (leat_images_summary *)1;
    leat_images_summary_options options = leat_images_summary_options_default();
    options.threads = 2;
    leat_code code = leat_images_summary_create(&summary, images, &options, err);
    if (code != LEAT_OK) assert_null(summary);
    else assert_int_equal(summary->read_images, IMAGES);
    if (code == LEAT_OK) assert_int_equal(summary->rejects[LEAT_IMAGE_DAMAGED].count, 1);
    if (code == LEAT_OK) leat_images_summary_destroy(summary);
    return code;
}

static leat_code read_set(const void *of, leat_error *err) {
    leat_images *images = (leat_images *)1;
    (void)of;
    leat_code code = leat_images_open(&images, made, err);
    if (code != LEAT_OK) {
        assert_null(images);
        return code;
    }
    for (int as = 0; as < 2 && code == LEAT_OK; as++) code = load_batches(images, as, err);
    if (code == LEAT_OK) code = summarise(images, err);
    leat_images_close(images);
    return code;
}

static void look_after_reading(leat_code code) {
    (void)code;
    expect_no_drafts(top);
}

static void reading(void **state) {
    (void)state;
    leat_error err = {0};
    if (read_set(NULL, &err) != LEAT_OK) fail_msg("%s", err.message);
    sweep_faults(&(fault_sweep){"read", read_set, NULL, look_after_reading, 40});
}

/* ---- verification --------------------------------------------------------------------------- */

static leat_code verify(leat_error *err) {
    leat_images_verify_report *report = (leat_images_verify_report *)1;
    leat_verify_options options = leat_verify_options_default();
    options.threads = 1;
    leat_code code = leat_images_verify(made, &options, &report, err);
    if (code != LEAT_OK) {
        assert_null(report);
        return code;
    }
    if (report->problem_count > 0) {
        if (atomic_load(&fault_counted) == FAULT_MEMORY)
            fail_msg("want of memory reported as: %s", report->findings[0].reason);
        code = LEAT_ERR_CORRUPT; /* for the sweep: it was noticed */
        (void)snprintf(err->message, sizeof err->message, "%s", report->findings[0].reason);
    } else {
        assert_int_equal(report->images, IMAGES);
        assert_int_equal(report->rejected, 1);
    }
    leat_images_verify_report_destroy(report);
    return code;
}

static void verification(void **state) {
    (void)state;
    for (int mode = 0; mode < 4; mode++) {
        bool only_memory = mode & 1;
        atomic_store(&fault_counted, only_memory ? FAULT_MEMORY : FAULT_FILES);
        for (int64_t n = 0, more = true; more; n++) {
            leat_error err = {0};
            set_fault(n, mode & 2);
            leat_code code = verify(&err);
            more = clear_fault();
            if (code != LEAT_OK) assert_true(more && err.message[0] != 0);
            if (code != LEAT_OK && only_memory) assert_int_equal(code, LEAT_ERR_MEMORY);
            if (code == LEAT_OK && only_memory) assert_true(!more);
        }
    }
    atomic_store(&fault_counted, FAULT_ALL);
}

/* ---- the program ---------------------------------------------------------------------------- */

static int setup(void **state) {
    (void)state;
    static const char log_text[] = "file,member,reason,what\na.jpg,0,damaged,bad\n";
    char path[LEAT_PATH_BYTES];
    leat_image_set set;
    snprintf(top, sizeof top, "%s/leat_images_faults_XXXXXX", memory_folder(INT64_C(16) << 20));
    if (mkdtemp(top) == NULL) return 1;
    snprintf(made, sizeof made, "%s/made", top);
    snprintf(grown, sizeof grown, "%s/grown", top);
    snprintf(state_path, sizeof state_path, "%s/state.json", top);
    if (leat_path_join(path, sizeof path, made, "rejected.csv", NULL) != LEAT_OK) return 1;
    if (image_set_make(made, IMAGES, SIZE, 1, NULL) != LEAT_OK ||
        leat_file_save(path, log_text, sizeof log_text - 1, NULL) != LEAT_OK ||
        leat_image_set_load(&set, made, NULL) != LEAT_OK)
        return 1;
    memcpy(fingerprint, set.fingerprint, sizeof fingerprint);
    leat_image_set_free(&set);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    clear_fault();
    return leat_path_remove_tree(top, NULL) == LEAT_OK ? 0 : 1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writing),
        cmocka_unit_test(reading),
        cmocka_unit_test(verification),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
