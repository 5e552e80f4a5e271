/*
 * Images of folders and archives become a data set: each as it was decoded and resized, in the
 * order of names; the same bytes for any number of threads, limit of memory and kind of input;
 * everything else is in rejected.csv, or refused. Limits that are too low:
 * fault/test_images_limits.c.
 */
/* TSan: threads read, decode and write in turn. */
#include <sys/stat.h>
#include <unistd.h>

#include "format/image/image.h"
#include "format/image_set/image_set.h"
#include "format/picture_support.h"
#include "format/zip/zip.h"
#include "image_libraries.h"
#include "ingest/image_files.h"
#include "ingest/images/resize.h"
#include "ingest/ingest_support.h"

static const char *folder, *archive;

static leat_code run(const char *from, const char *out, const leat_images_ingest_options *options,
                     leat_images_ingest_result *result, leat_error *err) {
    leat_images_ingest_result ignored;
    return leat_images_ingest(from, out, options, result != NULL ? result : &ignored, err);
}

static char *load_text(const char *dir, const char *name) {
    char path[LEAT_PATH_BYTES];
    uint8_t *text = NULL;
    int64_t size = 0;
    assert_ok(leat_path_join(path, sizeof path, dir, name, err));
    assert_ok(leat_file_load(path, INT64_C(64) << 20, &text, &size, err));
    return (char *)text;
}

/* ---- what is in it -------------------------------------------------------------------------- */

static leat_code to_resize(void *context, const uint8_t *rgb, int32_t rows, leat_error *err) {
    (void)err;
    leat_resize_rows(context, rgb, rows);
    return LEAT_OK;
}

/* Decodes and resizes one file by itself. */
static void make_pixels(const image_file *file, int32_t size, uint8_t *pixels) {
    leat_buf bytes = image_file_bytes(file);
    leat_image_header header;
    leat_image_reason reason;
    leat_resize *resize = NULL;
    assert_ok(leat_image_look(bytes.data, bytes.size, &header, &reason, err));
    assert_ok(leat_resize_create(&resize, size, err));
    assert_ok(leat_resize_begin(resize, header.width, header.height, pixels, err));
    assert_ok(leat_image_decode(bytes.data, bytes.size, &header, to_resize, resize, &reason, err));
    leat_resize_destroy(resize);
    leat_buf_free(&bytes);
}

/* A picture's hash at full size, as images.json has it. */
static uint64_t hash_of(const image_file *file) {
    leat_buf bytes = image_file_bytes(file);
    image_pixels pixels;
    leat_image_reason reason;
    assert_ok(image_decode(bytes.data, bytes.size, &pixels, &reason, err));
    uint64_t hash = leat_xxh3(pixels.rgb, (int64_t)pixels.width * pixels.height * 3);
    leat_free(pixels.rgb);
    leat_buf_free(&bytes);
    return hash;
}

static const char rejected_text[] = "file,reason,what\n"
                                    "a/notes.jpg,not_an_image,text\n"
                                    "b/cut.jpg,truncated,the JPEG ends after %d bytes\n"
                                    "empty.jpg,not_an_image,empty\n"
                                    "z.png,not_an_image,text\n";

static void check_set(const char *dir, int32_t size) {
    leat_image_set set = {0};
    const int64_t image_bytes = leat_image_bytes(size);
    char *tensors = load_text(dir, LEAT_IMAGES_TENSORS_NAME), expected[512];
    char *rejected = load_text(dir, LEAT_REJECTED_NAME);
    uint8_t *pixels = malloc((size_t)image_bytes);
    assert_non_null(pixels);
    assert_ok(leat_image_set_load(&set, dir, err));
    assert_ok(leat_image_set_files_check(&set, dir, true, 1, NULL, err));
    assert_int_equal(set.count, IMAGE_FILES_GOOD);
    assert_int_equal(set.size, size);
    assert_int_equal(set.rejected, IMAGE_FILES - IMAGE_FILES_GOOD);
    int64_t k = 0;
    for (int i = 0; i < IMAGE_FILES; i++) {
        const image_file *file = &image_files[i];
        if (file->kind == FILE_TEXT || file->kind == FILE_CUT) continue;
        leat_image_entry entry = leat_image_set_entry(&set, k);
        bool turned = file->kind == FILE_TURNED;
        assert_string_equal(entry.name, file->name);
        assert_int_equal(entry.width, turned ? file->height : file->width);
        assert_int_equal(entry.height, turned ? file->width : file->height);
        assert_true(entry.decoded == hash_of(file));
        make_pixels(file, size, pixels);
        assert_memory_equal(tensors + leat_image_place(size, k++), pixels, (size_t)image_bytes);
    }
    leat_buf cut = image_file_bytes(&image_files[7]);
    snprintf(expected, sizeof expected, rejected_text, (int)cut.size);
    assert_string_equal(rejected, expected);
    leat_buf_free(&cut);
    leat_image_set_free(&set);
    leat_free(tensors);
    leat_free(rejected);
    free(pixels);
}

static void check_result(const leat_images_ingest_result *result, int32_t size) {
    assert_int_equal(result->files, IMAGE_FILES);
    assert_int_equal(result->images, IMAGE_FILES_GOOD);
    assert_int_equal(result->rejected, IMAGE_FILES - IMAGE_FILES_GOOD);
    assert_int_equal(result->rejected_by[LEAT_IMAGE_NOT_AN_IMAGE], 3);
    assert_int_equal(result->rejected_by[LEAT_IMAGE_TRUNCATED], 1);
    assert_int_equal(result->skipped.count, 3);
    assert_int_equal(result->bytes_written, leat_image_place(size, IMAGE_FILES_GOOD));
    assert_int_equal(strlen(result->fingerprint), 64);
    assert_true(result->bytes_read > 5000 && result->pixels_read > 5000);
    assert_false(result->was_complete);
    assert_int_equal(result->resumed, 0);
    assert_string_equal(result->warning, "");
}

static void as_decoded(void **state) {
    (void)state;
    static const int32_t sizes[] = {8, 16, 64, 300};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const char *out = core_path("decoded");
        leat_images_ingest_options options = image_files_options();
        leat_images_ingest_result result;
        options.size = sizes[i];
        options.replace = i > 0;
        assert_ok(run(folder, out, &options, &result, err));
        check_result(&result, sizes[i]);
        check_set(out, sizes[i]);
        assert_int_equal(dir_count(out), 5);
    }
}

/* Threads, memory and the kind of input change no byte. */
static void always_the_same(void **state) {
    (void)state;
    static const int threads[] = {1, 2, 3, 8};
    for (int32_t size = 8; size <= 64; size *= 8) {
        char want[65] = "";
        for (int way = 0; way < 16; way++) {
            const char *out = core_path("same");
            leat_images_ingest_options options = image_files_options();
            leat_images_ingest_result result;
            options.size = size;
            options.threads = threads[way % 4];
            options.memory_bytes = way / 4 % 2 == 0 ? ingest_memory(30) : ingest_memory(512);
            assert_ok(leat_path_remove_tree(out, err));
            assert_ok(run(way < 8 ? folder : archive, out, &options, &result, err));
            check_result(&result, size);
            image_digest got = image_set_digest(out);
            if (way == 0) memcpy(want, got.text, sizeof want);
            assert_string_equal(got.text, want);
        }
    }
}

/* ---- inputs --------------------------------------------------------------------------------- */

static void strict(void **state) {
    (void)state;
    for (int threads = 1; threads <= 8; threads *= 2) {
        leat_images_ingest_options options = image_files_options();
        options.strict = true;
        options.threads = threads;
        assert_fails(run(folder, core_path("strict"), &options, NULL, err), LEAT_ERR_INPUT,
                     "\"a/notes.jpg\": not_an_image: text (run without --strict");
        assert_false(path_exists(core_path("strict")));
    }
    leat_images_ingest_options options = image_files_options();
    options.strict = true;
    image_files_write(core_path("clean"), true);
    assert_ok(run(core_path("clean"), core_path("strict"), &options, NULL, err));
    assert_int_equal(dir_count(core_path("strict")), 4); /* no rejected.csv */
}

static void write_zip(const char *path, const char *const *names, int count) {
    leat_file *file = NULL;
    leat_zip_writer *writer = NULL;
    leat_buf bytes = image_file_bytes(&image_files[0]);
    assert_ok(leat_file_open(&file, path, LEAT_FILE_CREATE, err));
    assert_ok(leat_zip_writer_create(&writer, file, 0, err));
    for (int i = 0; i < count; i++)
        assert_ok(leat_zip_writer_add(writer, names[i], bytes.data, bytes.size, err));
    assert_ok(leat_zip_writer_finish(writer, err));
    leat_zip_writer_destroy(writer);
    leat_file_close(file);
    leat_buf_free(&bytes);
}

/* Only the members of the last archive are in the directory that is read. (A program before it:
 * tests/cli/test_ingest_images_names.py.) */
static void archives_that_are_not_alone(void **state) {
    (void)state;
    static const char *const first[] = {"x.jpg"}, *const second[] = {"y.jpg"};
    const leat_images_ingest_options options = image_files_options();
    write_zip(core_path("first.zip"), first, 1);
    write_zip(core_path("second.zip"), second, 1);
    const core_image a = core_load(core_path("first.zip")), b = core_load(core_path("second.zip"));
    const core_image text = {(uint8_t *)"a text", 6}, parts[][2] = {{a, b}, {b, a}, {a, text}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        leat_buf joined = {0};
        for (int k = 0; k < 2; k++)
            assert_ok(leat_buf_append(&joined, parts[i][k].data, parts[i][k].size_bytes, err));
        core_save(core_path("joined.zip"), joined.data, joined.size);
        leat_buf_free(&joined);
        assert_fails(run(core_path("joined.zip"), core_path("refused"), &options, NULL, err),
                     LEAT_ERR_INPUT, "joined.zip\" is more than one zip archive, or has bytes");
    }
    free(a.data);
    free(b.data);
}

static void inputs_refused(void **state) {
    (void)state;
    static const char *const twice[] = {"x.jpg", "a/y.jpg", "x.jpg"};
    const char *out = core_path("refused");
    leat_images_ingest_options options = image_files_options();
    assert_fails(run(core_path("none"), out, &options, NULL, err), LEAT_ERR_NOT_FOUND,
                 "none\" does not exist");
    assert_fails(run("", out, &options, NULL, err), LEAT_ERR_LIMIT, "of 0 bytes");
    assert_fails(run("/dev/null", out, &options, NULL, err), LEAT_ERR_INPUT, "neither a folder");
    core_save(core_path("text.zip"), "not a zip", 9);
    assert_fails(run(core_path("text.zip"), out, &options, NULL, err), LEAT_ERR_CORRUPT,
                 "text.zip\" cannot be read as a zip archive");
    write_zip(core_path("twice.zip"), twice, 3);
    options.strict = true;
    assert_fails(run(core_path("twice.zip"), out, &options, NULL, err), LEAT_ERR_INPUT,
                 "\"x.jpg\": bad_name: another file before it has the same name");
    options.strict = false;
    assert_ok(leat_path_make_dir(core_path("empty"), err));
    assert_fails(run(core_path("empty"), out, &options, NULL, err), LEAT_ERR_INPUT,
                 "contains no files to read");
    core_save(core_path("empty/.x"), "x", 1);
    assert_fails(run(core_path("empty"), out, &options, NULL, err), LEAT_ERR_INPUT,
                 "contains no files to read (1 skipped: \"");
    core_save(core_path("empty/x.txt"), "x", 1);
    core_save(core_path("empty/y"), "", 0);
    assert_fails(run(core_path("empty"), out, &options, NULL, err), LEAT_ERR_INPUT,
                 "the only file is not an image that can be used: \"y\": not_an_image: empty");
    assert_ok(leat_path_remove(core_path("empty/y"), err));
    assert_fails(run(core_path("empty"), out, &options, NULL, err), LEAT_ERR_INPUT,
                 "contains no files to read but 1 text");
    options.size = 7;
    assert_fails(run(folder, out, &options, NULL, err), LEAT_ERR_OPTION, "size");
    options.size = 16;
    options.resume = options.replace = true;
    assert_fails(run(folder, out, &options, NULL, err), LEAT_ERR_OPTION, "exclude each other");
    assert_false(path_exists(out));
}

static void loops_refused(void **state) {
    (void)state;
    leat_images_ingest_options options = image_files_options();
    assert_ok(leat_path_make_dir(core_path("loop/in"), err));
    core_save(core_path("loop/in/x.jpg"), "x", 1);
    assert_int_equal(symlink("..", core_path("loop/in/up")), 0);
    assert_fails(run(core_path("loop"), core_path("refused"), &options, NULL, err), LEAT_ERR_INPUT,
                 "contains itself");
}

/* Links to files and folders count as what they lead to; one that leads nowhere, and what is not a
 * file, is unreadable. A name that is not UTF-8 cannot be in the data set. */
static void odd_files(void **state) {
    (void)state;
    const char *dir = core_path("odd"), *out = core_path("odd_out");
    leat_images_ingest_options options = image_files_options();
    options.max_rejected = 1;
    leat_images_ingest_result result;
    leat_buf bytes = image_file_bytes(&image_files[0]);
    assert_ok(leat_path_make_dir(core_path("odd/real"), err));
    core_save(core_path("odd/real/x.jpg"), bytes.data, bytes.size);
    assert_int_equal(symlink("real/x.jpg", core_path("odd/file_link")), 0);
    assert_int_equal(symlink("real", core_path("odd/folder_link")), 0);
    assert_int_equal(symlink("nowhere", core_path("odd/lost_link")), 0);
    assert_int_equal(mkfifo(core_path("odd/pipe"), 0600), 0);
    core_save(core_path("odd/caf\xe9.jpg"), bytes.data, bytes.size);
    core_save(core_path("odd/closed.jpg"), bytes.data, bytes.size);
    assert_int_equal(chmod(core_path("odd/closed.jpg"), 0), 0);
    bool root = access(core_path("odd/closed.jpg"), R_OK) == 0; /* may read it all the same */
    assert_ok(run(dir, out, &options, &result, err));
    char *rejected = load_text(out, LEAT_REJECTED_NAME), expected[512];
    snprintf(expected, sizeof expected,
             "file,reason,what\n"
             "caf\\xe9.jpg,unsupported,the name of 8 bytes is not UTF-8\n"
             "%slost_link,unreadable,cannot be read: it is a link that leads nowhere\n"
             "pipe,unreadable,cannot be read: it is not a regular file\n",
             root ? "" : "closed.jpg,unreadable,cannot be read: Permission denied\n");
    assert_string_equal(rejected, expected);
    assert_int_equal(result.images, 3 + root);
    assert_int_equal(result.rejected_by[LEAT_IMAGE_UNREADABLE], 3 - root);
    leat_free(rejected);
    leat_buf_free(&bytes);
}

/* Output of leat among the images is passed over; as the input it is refused. */
static void outputs_as_inputs(void **state) {
    (void)state;
    const char *dir = core_path("both"), *out = core_path("both/out");
    leat_images_ingest_options options = image_files_options();
    leat_images_ingest_result result;
    image_files_write(dir, true);
    assert_ok(run(dir, out, &options, &result, err));
    image_digest want = image_set_digest(out);
    options.replace = true;
    assert_ok(run(dir, out, &options, &result, err));
    assert_int_equal(result.images, IMAGE_FILES_GOOD);
    assert_int_equal(result.skipped.count, 1);
    assert_string_equal(image_set_digest(out).text, want.text);
    assert_fails(run(out, core_path("refused"), &options, NULL, err), LEAT_ERR_INPUT,
                 "is the output of an ingest");
}

typedef struct meddler {
    const char *path;
    int calls;
} meddler;

/* Appends a byte to a file once the run reads. */
static bool change_file(void *user, const leat_progress *progress) {
    meddler *self = user;
    if (strcmp(progress->stage, "reading") != 0 || self->calls++ > 0) return true;
    leat_file *file = NULL;
    int64_t size = 0;
    assert_ok(leat_file_open(&file, self->path, LEAT_FILE_UPDATE, err));
    assert_ok(leat_file_size(file, &size, err));
    assert_ok(leat_file_pwrite(file, "x", 1, size, err));
    leat_file_close(file);
    return true;
}

static void changed_inputs(void **state) {
    (void)state;
    const char *dir = core_path("changing"), *zip = core_path("changing.zip");
    leat_images_ingest_options options = image_files_options();
    options.progress = change_file;
    for (int threads = 1; threads < 3; threads++) {
        meddler folders = {core_path("changing/z.png"), 0}, archives = {zip, 0};
        options.threads = threads;
        options.progress_user = &folders;
        image_files_write(dir, false);
        assert_fails(run(dir, core_path("changed"), &options, NULL, err), LEAT_ERR_INPUT,
                     "z.png\" changed while it was read");
        options.progress_user = &archives;
        image_files_zip(zip, false);
        assert_fails(run(zip, core_path("changed"), &options, NULL, err), LEAT_ERR_INPUT,
                     "changing.zip\" changed while it was read");
        assert_false(path_exists(core_path("changed")));
    }
}

static int setup(void **state) {
    (void)state;
    core_in_memory(INT64_C(256) << 20);
    folder = core_path("folder");
    archive = core_path("archive.zip");
    image_files_write(folder, false);
    image_files_zip(archive, false);
    return 0;
}

int main(void) {
    if (image_libraries_missing()) return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_decoded),     cmocka_unit_test(always_the_same),
        cmocka_unit_test(strict),         cmocka_unit_test(archives_that_are_not_alone),
        cmocka_unit_test(inputs_refused), cmocka_unit_test(loops_refused),
        cmocka_unit_test(odd_files),      cmocka_unit_test(outputs_as_inputs),
        cmocka_unit_test(changed_inputs),
    };
    return cmocka_run_group_tests_name("ingest of images", tests, setup, core_teardown);
}
