/*
 * The ingest of images with every allocation and every call into the file system failing in turn,
 * once and for good: the right code, nothing left behind but what --resume continues, never half a
 * data set, and the same data set as soon as nothing fails. A file that cannot be read is rejected:
 * such a run succeeds and lists it.
 */
#include "ingest/core_support.h"
#include "ingest/image_files.h"
#include "ingest/ingest_support.h"

#include "image_libraries.h"
#include "points.h"

#define POINTS_MAX 20000

typedef struct setting {
    const char *name;
    bool zip, resumes, replaces, found;
    int threads;
    int step; /* every so many points; what they share with `folder` is tried there */
} setting;

static const setting settings[] = {
    {"folder", .threads = 1, .step = 1},
    {"archive", .zip = true, .threads = 1, .step = 1},
    {"resumes", .resumes = true, .threads = 1, .step = 2},
    {"replaces", .replaces = true, .threads = 3, .step = 3},
    {"found", .found = true, .threads = 1, .step = 1},
};

static leat_images_ingest_result last;

static leat_images_ingest_options options_of(const setting *how) {
    leat_images_ingest_options options = image_files_options();
    options.size = 208;
    options.threads = how->threads;
    options.resume = how->resumes || how->found;
    options.replace = how->replaces;
    return options;
}

static leat_code run(const setting *how, const leat_images_ingest_options *options,
                     leat_error *err) {
    memset(&last, 1, sizeof last);
    leat_code code = leat_images_ingest(core_path(how->zip ? "files.zip" : "files"),
                                        core_path("out"), options, &last, err);
    assert_int_equal(last.files, code == LEAT_OK ? IMAGE_FILES : 0);
    return code;
}

static bool stop_in_reading(void *user, const leat_progress *progress) {
    (void)user;
    return strcmp(progress->stage, "writing") != 0;
}

/* A run that was stopped when all files were read. */
static void make_ready(const setting *how) {
    leat_images_ingest_options options = options_of(how);
    if (how->found && image_set_digest(core_path("out")).text[0] != 0) return;
    assert_ok(leat_path_remove_tree(core_path("out"), err));
    if (how->found || how->replaces) {
        options.resume = options.replace = false;
        assert_ok(run(how, &options, err));
    }
    if (!how->resumes) return;
    options.progress = stop_in_reading;
    assert_int_equal(run(how, &options, NULL), LEAT_ERR_CANCELLED);
    assert_true(has_work(core_path("out")));
}

static leat_code expected_code(void) {
    switch (atomic_load(&fault_kind)) {
    case LEAT_FAULT_ALLOC: return LEAT_ERR_MEMORY;
    case LEAT_FAULT_WRITE: return LEAT_ERR_NO_SPACE;
    default: return LEAT_ERR_IO;
    }
}

/* A fault that came once: the code is its own, and what is left is nothing, or can be resumed. */
static void check_failed(const setting *how, leat_code code, const leat_error *err, long at) {
    const char *out = core_path("out");
    bool truncation = atomic_load(&fault_kind) == LEAT_FAULT_WRITE && code == LEAT_ERR_IO;
    if (code != expected_code() && !truncation)
        fail_msg("%s, point %ld of kind %d: code %d: %s", how->name, at, atomic_load(&fault_kind),
                 code, err->message);
    assert_int_equal(err->code, code);
    assert_true(err->message[0] != 0);
    if (how->found || how->replaces || how->resumes) return;
    int64_t names = dir_count(out);
    /* all but its name is synced, or it is complete and not in place */
    if (names > 0 && image_set_digest(out).text[0] == 0 && !has_work(out))
        fail_msg("%s, point %ld: %lld names are left after: %s", how->name, at, (long long)names,
                 err->message);
}

/* Nothing fails any more: whatever is left is continued, or goes. */
static void check_mended(const setting *how, const image_digest *want, long at) {
    leat_images_ingest_options options = options_of(how);
    leat_error err = {0};
    options.resume = false; /* a file may have been rejected that can be read now */
    options.replace = true;
    leat_code code = run(how, &options, &err);
    if (code != LEAT_OK) fail_msg("%s, after point %ld: %s", how->name, at, err.message);
    if (strcmp(image_set_digest(core_path("out")).text, want->text) != 0)
        fail_msg("%s: another data set after point %ld", how->name, at);
    if (dir_count(core_path("out")) != 5)
        fail_msg("%s, after point %ld: more than a data set is left", how->name, at);
}

/* What a run has made that came to its end although something failed. */
static void check_made(const setting *how, const image_digest *got, const image_digest *want,
                       long at) {
    int64_t unreadable = last.rejected_by[LEAT_IMAGE_UNREADABLE];
    if (unreadable > 0) {
        assert_int_equal(last.images + last.rejected, IMAGE_FILES);
        assert_true(last.rejected >= unreadable);
        assert_string_not_equal(got->text, "");
        return;
    }
    if (strcmp(got->text, want->text) != 0) fail_msg("%s, point %ld: another", how->name, at);
}

static long sweep(const setting *how, bool stays, const image_digest *want) {
    for (long at = 0; at < POINTS_MAX; at += how->step * (stays ? 5 : 1)) {
        make_ready(how);
        leat_images_ingest_options options = options_of(how);
        leat_error err = {0};
        set_fault(at, stays);
        leat_code code = run(how, &options, &err);
        bool reached = clear_fault();
        image_digest got = image_set_digest(core_path("out"));
        if (code == LEAT_OK) check_made(how, &got, want, at);
        else if (got.text[0] != 0 && strcmp(got.text, want->text) != 0)
            fail_msg("%s, point %ld: half a data set", how->name, at); /* none is read wrongly */
        if (!reached) {
            assert_int_equal(code, LEAT_OK);
            return at;
        }
        if (code != LEAT_OK && !stays) check_failed(how, code, &err, at);
        if (!how->found) check_mended(how, want, at);
    }
    fail_msg("%s: more than %d points", how->name, POINTS_MAX);
    return 0;
}

static void sweep_setting(const setting *how) {
    leat_images_ingest_options options = options_of(how);
    assert_ok(leat_path_remove_tree(core_path("out"), err));
    options.resume = options.replace = false;
    assert_ok(run(how, &options, err));
    image_digest want = image_set_digest(core_path("out"));
    long once = sweep(how, false, &want), good = sweep(how, true, &want);
    print_message("%s: %ld points\n", how->name, once);
    assert_true(once > (how->found ? 20 : 200) && good > (how->found ? 10 : 100));
}

static void from_folder(void **state) {
    (void)state;
    sweep_setting(&settings[0]);
}
static void from_archive(void **state) {
    (void)state;
    sweep_setting(&settings[1]);
}
static void resumes(void **state) {
    (void)state;
    sweep_setting(&settings[2]);
}
static void replaces(void **state) {
    (void)state;
    sweep_setting(&settings[3]);
}
static void found(void **state) {
    (void)state;
    sweep_setting(&settings[4]);
}

static int setup(void **state) {
    (void)state;
    core_in_memory(INT64_C(64) << 20);
    image_files_write(core_path("files"), false);
    image_files_zip(core_path("files.zip"), false);
    return 0;
}

int main(void) {
    if (image_libraries_missing()) return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_folder), cmocka_unit_test(from_archive), cmocka_unit_test(resumes),
        cmocka_unit_test(replaces),    cmocka_unit_test(found),
    };
    int failed =
        cmocka_run_group_tests_name("ingest of images with faults", tests, setup, core_teardown);
    clear_fault();
    return failed;
}
