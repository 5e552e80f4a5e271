/*
 * Runs that stop and are continued to the bytes of a run that was left alone, whatever became of
 * their notes and of their images; and what a folder must look like to be written to.
 */
/* TSan: runs cancelled while their threads work. */
#include <unistd.h>

#include "base/rng.h"
#include "format/image_set/image_set.h"
#include "image_libraries.h"
#include "ingest/image_files.h"
#include "ingest/images/job.h"
#include "ingest/ingest_support.h"

static const char *folder, *archive;
static image_digest want;

static leat_code run(const char *from, const char *out, const leat_images_ingest_options *options,
                     leat_images_ingest_result *result, leat_error *err) {
    leat_images_ingest_result ignored;
    return leat_images_ingest(from, out, options, result != NULL ? result : &ignored, err);
}

/* Parts of one image: the run can stop after each. */
static leat_images_ingest_options small_parts(void) {
    leat_images_ingest_options options = image_files_options();
    options.size = 256;
    return options;
}

static const char *joined(const char *dir, const char *name) {
    static char paths[4][LEAT_PATH_BYTES];
    static int next;
    char *path = paths[next++ % 4];
    assert_ok(leat_path_join(path, LEAT_PATH_BYTES, dir, name, err));
    return path;
}

/* ---- stopped -------------------------------------------------------------------------------- */

/* Stops once that many files are read. */
typedef struct stopper {
    int64_t after;
    const char *stage;
} stopper;

static bool stop_after(void *user, const leat_progress *progress) {
    const stopper *self = user;
    if (strcmp(progress->stage, self->stage) != 0) return true;
    if (progress->done >= self->after) return false;
    usleep(100100); /* each report takes as long as the ticker waits, so that none is missed */
    return true;
}

static void stop_at(const char *from, const char *out, leat_images_ingest_options options,
                    int64_t after, const char *stage) {
    stopper how = {after, stage};
    leat_error err_now = {0};
    options.progress = stop_after;
    options.progress_user = &how;
    assert_int_equal(run(from, out, &options, NULL, &err_now), LEAT_ERR_CANCELLED);
    assert_non_null(strstr(err_now.message, "use --resume to continue"));
    assert_int_equal(dir_count(out), 1);
    assert_true(path_exists(joined(out, ".leat")));
}

static void cancelled(void **state) {
    (void)state;
    const char *out = core_path("cancelled");
    static const struct {
        int64_t after;
        int threads;
    } cases[] = {{2, 3}, {8, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_images_ingest_options options = small_parts();
        leat_images_ingest_result result;
        const char *from = i == 0 ? folder : archive;
        assert_ok(leat_path_remove_tree(out, err));
        options.threads = cases[i].threads;
        stop_at(from, out, options, cases[i].after, "reading");
        options.resume = true;
        options.threads = 4 - cases[i].threads;
        assert_ok(run(from, out, &options, &result, err));
        assert_in_range(result.resumed, cases[i].after, cases[i].after + 3);
        assert_int_equal(result.images, IMAGE_FILES_GOOD);
        assert_int_equal(result.rejected_by[LEAT_IMAGE_NOT_AN_IMAGE], 3);
        assert_string_equal(image_set_digest(out).text, want.text);
        assert_false(has_work(out));
    }
    /* twice, the second time while it takes over what the first has done */
    leat_images_ingest_options options = small_parts();
    assert_ok(leat_path_remove_tree(out, err));
    stop_at(folder, out, options, 4, "reading");
    options.resume = true;
    stop_at(folder, out, options, 2, "resuming");
    assert_ok(run(folder, out, &options, NULL, err));
    assert_string_equal(image_set_digest(out).text, want.text);
}

/* What is remarked on and skipped is counted once, whichever of the two runs has read it. */
static void counts_resumed(void **state) {
    (void)state;
    enum { FILES = 9 };
    const char *dir = core_path("remarks"), *out = core_path("remarks_out");
    leat_images_ingest_options options = small_parts();
    leat_images_ingest_result result;
    assert_ok(leat_path_make_dir(dir, err));
    for (int i = 0; i < FILES; i++) {
        char name[32];
        leat_buf bytes = image_file_bytes(&image_files[3]);
        assert_ok(leat_buf_append(&bytes, "more", 4, err));
        snprintf(name, sizeof name, "%d.png", i);
        core_save(joined(dir, name), bytes.data, bytes.size);
        snprintf(name, sizeof name, "%d.txt", i);
        core_save(joined(dir, name), "a text", 6);
        leat_buf_free(&bytes);
    }
    stop_at(dir, out, options, 7, "reading");
    options.resume = true;
    assert_ok(run(dir, out, &options, &result, err));
    assert_in_range(result.resumed, 7, 10);
    assert_int_equal(result.files, FILES);
    assert_int_equal(result.remarks[LEAT_IMAGE_AFTER_END], FILES);
    assert_int_equal(result.skipped.count, FILES);
    assert_int_equal(result.duplicates, FILES - 1);
    /* another background is another data set */
    assert_ok(leat_path_remove_tree(out, err));
    options.resume = false;
    stop_at(dir, out, options, 7, "reading");
    options.resume = true;
    options.background = 0xffffff;
    assert_fails(run(dir, out, &options, NULL, err), LEAT_ERR_OPTION,
                 "cannot resume: --background was another one");
}

/* ---- what became of the work ---------------------------------------------------------------- */

static core_image notes_image, tensors_image;

static void stop_in_middle(const char *out) {
    assert_ok(leat_path_remove_tree(out, err));
    stop_at(folder, out, small_parts(), 7, "reading");
}

static void resume_as(const char *out, const char *what, int64_t number) {
    leat_images_ingest_options options = small_parts();
    leat_error err_now = {0};
    options.resume = true;
    if (run(folder, out, &options, NULL, &err_now) != LEAT_OK)
        fail_msg("%s %d: %s", what, (int)number, err_now.message);
    if (strcmp(image_set_digest(out).text, want.text) != 0)
        fail_msg("%s %d: another data set", what, (int)number);
}

/* The work of a stopped run, written again, so that each case need not read anything. */
static void restore(const char *out, const core_image *notes, const core_image *tensors) {
    core_save(joined(out, ".leat/images.notes"), notes->data, notes->size_bytes);
    core_save(joined(out, ".leat/out/images.safetensors"), tensors->data, tensors->size_bytes);
}

/* A copy of the folder out/.leat as stop_in_middle leaves it, under the same run number. */
static void begin_case(const char *out, const core_image *mark) {
    assert_ok(leat_path_remove_tree(out, err));
    assert_ok(leat_path_make_dir(joined(out, ".leat/out"), err));
    assert_ok(leat_path_make_dir(joined(out, ".leat/temp"), err));
    core_save(joined(out, ".leat/leat-work.json"), mark->data, mark->size_bytes);
    restore(out, &notes_image, &tensors_image);
}

static void damaged_work(void **state) {
    (void)state;
    const char *out = core_path("damaged");
    stop_in_middle(out);
    core_image mark = core_load(joined(out, ".leat/leat-work.json"));
    notes_image = core_load(joined(out, ".leat/images.notes"));
    tensors_image = core_load(joined(out, ".leat/out/images.safetensors"));
    const core_image notes = notes_image, tensors = tensors_image;
    for (int64_t cut = 0; cut < notes.size_bytes; cut += 1 + cut / 9) {
        begin_case(out, &mark);
        core_save(joined(out, ".leat/images.notes"), notes.data, cut);
        resume_as(out, "notes cut at", cut);
    }
    for (uint64_t draw = 0; draw < 40; draw++) {
        int64_t bit =
            (int64_t)leat_random_below(leat_random_at(4, draw), (uint64_t)notes.size_bytes * 8);
        begin_case(out, &mark);
        notes.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        restore(out, &notes, &tensors);
        notes.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        resume_as(out, "notes with another bit", bit);
    }
    for (uint64_t draw = 0; draw < 20; draw++) {
        int64_t at =
            (int64_t)leat_random_below(leat_random_at(5, draw), (uint64_t)tensors.size_bytes);
        begin_case(out, &mark);
        if (draw % 2 == 0) core_save(joined(out, ".leat/out/images.safetensors"), tensors.data, at);
        tensors.data[at] ^= 0x10;
        if (draw % 2 == 1) restore(out, &notes, &tensors);
        tensors.data[at] ^= 0x10;
        resume_as(out, draw % 2 == 0 ? "images cut at" : "images with another bit at", at);
    }
    free(mark.data);
    free(notes.data);
    free(tensors.data);
}

/* ---- refused -------------------------------------------------------------------------------- */

static void other_settings(void **state) {
    (void)state;
    const char *out = core_path("other"), *dir = core_path("other_in");
    leat_images_ingest_options options = small_parts();
    image_files_write(dir, false);
    stop_at(dir, out, options, 1, "reading");
    assert_fails(run(dir, out, &options, NULL, err), LEAT_ERR_EXISTS,
                 "holds an interrupted ingest");
    options.resume = true;
    options.size = 255;
    assert_fails(run(dir, out, &options, NULL, err), LEAT_ERR_OPTION,
                 "--size was 256 and is now 255");
    options.size = 256;
    assert_fails(run(folder, out, &options, NULL, err), LEAT_ERR_OPTION, "the files are not those");
    core_save(joined(dir, "zz.jpg"), "x", 1);
    assert_fails(run(dir, out, &options, NULL, err), LEAT_ERR_OPTION, "the files are not those");
    assert_ok(leat_path_remove(joined(dir, "zz.jpg"), err));
    options.strict = true;
    assert_fails(run(dir, out, &options, NULL, err), LEAT_ERR_OPTION, "the files are not those");
    options.strict = false;
    options.resume = false;
    options.replace = true;
    assert_ok(run(dir, out, &options, NULL, err));
    assert_string_equal(image_set_digest(out).text, want.text);
}

/* With --strict a run is not continued that has rejected a file, nor is such a data set the one. */
static void strict_later(void **state) {
    (void)state;
    const char *out = core_path("strict");
    leat_images_ingest_options options = small_parts();
    leat_images_ingest_result result;
    stop_at(folder, out, options, 6, "reading");
    options.resume = options.strict = true;
    assert_fails(run(folder, out, &options, NULL, err), LEAT_ERR_INPUT,
                 "--strict: the interrupted run has rejected \"a/notes.jpg\": not_an_image: text");
    options.strict = false;
    assert_ok(run(folder, out, &options, &result, err));
    assert_true(result.resumed >= 6);
    options.strict = true;
    assert_fails(run(folder, out, &options, NULL, err), LEAT_ERR_INPUT, "was made without 4 files");
}

/* --resume leaves a complete data set as it is, if it is of these files. */
static void complete_before(void **state) {
    (void)state;
    const char *out = core_path("complete");
    leat_images_ingest_options options = small_parts();
    leat_images_ingest_result result, first;
    assert_ok(run(folder, out, &options, &first, err));
    assert_fails(run(folder, out, &options, NULL, err), LEAT_ERR_EXISTS,
                 "holds a complete data set; use --replace");
    options.resume = true;
    assert_ok(run(folder, out, &options, &result, err));
    assert_true(result.was_complete);
    assert_int_equal(result.images, IMAGE_FILES_GOOD);
    assert_int_equal(result.rejected, IMAGE_FILES - IMAGE_FILES_GOOD);
    assert_string_equal(result.fingerprint, first.fingerprint);
    assert_ok(run(archive, out, &options, &result, err)); /* files of the same names */
    image_files_write(core_path("fewer"), true);
    assert_fails(run(core_path("fewer"), out, &options, NULL, err), LEAT_ERR_EXISTS,
                 "holds a complete data set");
    options.size = 64;
    assert_fails(run(folder, out, &options, NULL, err), LEAT_ERR_EXISTS, "a complete data set");
    options.size = 256;
    assert_ok(leat_path_remove(joined(out, "images.pages"), err));
    assert_fails(run(folder, out, &options, NULL, err), LEAT_ERR_CORRUPT, "images.pages");
    assert_false(has_work(out));
}

/* ---- the output folder ---------------------------------------------------------------------- */

static void replaced(void **state) {
    (void)state;
    const char *out = core_path("replaced"), *clean = core_path("replaced_in");
    leat_images_ingest_options options = small_parts();
    image_files_write(clean, true);
    assert_ok(run(folder, out, &options, NULL, err));
    core_save(joined(out, "README"), "third-party", 11);
    options.replace = true;
    assert_ok(run(clean, out, &options, NULL, err));
    assert_false(path_exists(joined(out, "rejected.csv"))); /* the new one has none */
    assert_true(path_exists(joined(out, "README")));
    assert_ok(run(folder, out, &options, NULL, err));
    assert_int_equal(dir_count(out), 6);
    assert_ok(leat_path_remove(joined(out, "README"), err));
    assert_string_equal(image_set_digest(out).text, want.text);
    core_save(joined(out, "rejected.csv"), "mine", 4);
    assert_fails(run(folder, out, &options, NULL, err), LEAT_ERR_EXISTS,
                 "\"rejected.csv\", which was not written by leat");
}

typedef struct third_party {
    const char *name, *message;
} third_party;

static void third_party_files(void **state) {
    (void)state;
    static const third_party cases[] = {
        {"x", "is not empty (\"x\") and does not hold a data set"},
        {"images.json", "is not empty (\"images.json\")"},
        {"images.safetensors", "is not empty (\"images.safetensors\")"},
        {"rejected.csv", "is not empty (\"rejected.csv\")"},
        {".complete", "holds the output of `leat ingest can`"},
        {".leat", ".leat\" is not a folder"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int how = 0; how < 3; how++) {
            const char *out = core_path("third");
            leat_images_ingest_options options = small_parts();
            leat_error err_now = {0};
            options.resume = how == 1;
            options.replace = how == 2;
            assert_ok(leat_path_remove_tree(out, err));
            assert_ok(leat_path_make_dir(out, err));
            core_save(joined(out, cases[i].name), "third-party", 11);
            leat_code code = run(folder, out, &options, NULL, &err_now);
            if (code != LEAT_ERR_EXISTS || (i < 5 && !strstr(err_now.message, cases[i].message)))
                fail_msg("%s: code %d: %s", cases[i].name, code, err_now.message);
            assert_int_equal(dir_count(out), 1);
        }
    }
    core_save(core_path("file"), "x", 1);
    leat_images_ingest_options options = small_parts();
    assert_fails(run(folder, core_path("file"), &options, NULL, err), LEAT_ERR_EXISTS,
                 "is a file, not a folder");
}

/* A third-party file that takes the place of one while a run is interrupted stops it, and stays. */
static void third_party_meanwhile(void **state) {
    (void)state;
    const char *out = core_path("meanwhile");
    leat_images_ingest_options options = small_parts();
    stop_at(folder, out, options, 0, "reading");
    core_save(joined(out, "images.json"), "third-party", 11);
    options.resume = true;
    assert_fails(run(folder, out, &options, NULL, err), LEAT_ERR_EXISTS,
                 "\"images.json\", which was not written by leat");
    assert_ok(leat_path_remove(joined(out, "images.json"), err));
    core_save(joined(out, ".leat/mine"), "third-party", 11);
    assert_fails(run(folder, out, &options, NULL, err), LEAT_ERR_EXISTS, "mine");
    assert_ok(leat_path_remove(joined(out, ".leat/mine"), err));
    assert_ok(run(folder, out, &options, NULL, err));
    assert_string_equal(image_set_digest(out).text, want.text);
}

/* Data sets and work of the other ingests are not touched. */
static void other_outputs(void **state) {
    (void)state;
    static const char *const probes[] = {"manifest.json", "index.bin", NULL};
    const char *out = core_path("probes");
    leat_images_ingest_options options = small_parts();
    assert_ok(leat_path_make_dir(out, err));
    for (int i = 0; probes[i] != NULL; i++) core_save(joined(out, probes[i]), "{}", 2);
    for (int how = 0; how < 2; how++) {
        options.resume = how == 0;
        options.replace = how == 1;
        assert_fails(run(folder, out, &options, NULL, err), LEAT_ERR_EXISTS,
                     "holds the output of `leat ingest probes`");
    }
    assert_int_equal(dir_count(out), 2);
}

/* ---- a finished data set that is not in place ----------------------------------------------- */

/* The work of a run that has finished its data set, and was killed before it moved any file. */
static void make_finished(const char *out) {
    const leat_images_ingest_options options = small_parts();
    const char *made = core_path("half_want");
    uint8_t digest[32];
    assert_ok(leat_path_remove_tree(out, err));
    assert_ok(leat_path_remove_tree(made, err));
    stop_at(folder, out, options, 0, "reading");
    assert_ok(run(folder, made, &options, NULL, err));
    assert_ok(leat_file_sha256(joined(made, ".complete"), digest, err));
    assert_ok(leat_path_remove_tree(joined(out, ".leat/out"), err));
    assert_ok(leat_path_rename(made, joined(out, ".leat/out"), err));
    core_save(joined(out, ".leat/images.move"), digest, sizeof digest);
}

/* A run that was killed while it moved its files: the next one moves the rest, whatever it was
 * asked for. */
static void half_moved(void **state) {
    (void)state;
    static const char *const order[] = {"images.json", "images.pages", "images.safetensors",
                                        "rejected.csv", ".complete"};
    const char *out = core_path("half");
    for (int moved = 0; moved <= 5; moved++) {
        for (int how = 0; how < 3; how++) {
            leat_images_ingest_options options = small_parts();
            make_finished(out);
            for (int i = 0; i < moved; i++)
                assert_ok(leat_path_rename(joined(joined(out, ".leat/out"), order[i]),
                                           joined(out, order[i]), err));
            options.resume = how == 1;
            options.replace = how == 2;
            leat_code code = run(folder, out, &options, NULL, NULL);
            /* without options the data set, which is in place now, is in the way */
            assert_int_equal(code, how == 0 ? LEAT_ERR_EXISTS : LEAT_OK);
            assert_string_equal(image_set_digest(out).text, want.text);
            assert_false(has_work(out));
        }
    }
}

/* A finished data set that lost a file is not moved, and --replace begins anew. */
static void half_lost(void **state) {
    (void)state;
    static const char *const names[] = {"images.json", "images.pages", "images.safetensors",
                                        ".complete"};
    const char *out = core_path("half");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char message[128];
        leat_images_ingest_options options = small_parts();
        make_finished(out);
        assert_ok(leat_path_remove(joined(joined(out, ".leat/out"), names[i]), err));
        options.resume = true;
        snprintf(message, sizeof message, "had written \"%s\", which is neither in", names[i]);
        assert_fails(run(folder, out, &options, NULL, err), LEAT_ERR_CORRUPT, message);
        assert_int_equal(dir_count(out), 1);
        options.resume = false;
        options.replace = true;
        assert_ok(run(folder, out, &options, NULL, err));
        assert_string_equal(image_set_digest(out).text, want.text);
    }
}

static int setup(void **state) {
    (void)state;
    core_in_memory(INT64_C(256) << 20);
    folder = core_path("folder");
    archive = core_path("archive.zip");
    image_files_write(folder, false);
    image_files_zip(archive, false);
    leat_images_ingest_options options = small_parts();
    if (run(folder, core_path("want"), &options, NULL, NULL) != LEAT_OK) return 1;
    want = image_set_digest(core_path("want"));
    return want.text[0] == 0;
}

int main(void) {
    if (image_libraries_missing()) return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cancelled),
        cmocka_unit_test(counts_resumed),
        cmocka_unit_test(damaged_work),
        cmocka_unit_test(other_settings),
        cmocka_unit_test(strict_later),
        cmocka_unit_test(complete_before),
        cmocka_unit_test(replaced),
        cmocka_unit_test(third_party_files),
        cmocka_unit_test(third_party_meanwhile),
        cmocka_unit_test(other_outputs),
        cmocka_unit_test(half_moved),
        cmocka_unit_test(half_lost),
    };
    return cmocka_run_group_tests_name("ingest of images resumed", tests, setup, core_teardown);
}
