/*
 * Verification of image data sets: says nothing against one that is right, names every seeded bug
 * and every damaged file, and says the same for any number of threads. And the summary: what it
 * counts, from all images or some, whatever the threads.
 */
/* TSan: a data set verified and summarised by several threads. */
#include "image_support.h"

#include <math.h>
#include <unistd.h>

#include "check.h"
#include "load/images/images.h"

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))
enum { IMAGES = 200, SIZE = 24 };

static int sets_made;

static void make_set(char dir[256]) {
    char name[32];
    snprintf(name, sizeof name, "verified-%d", sets_made++);
    images_make(name, IMAGES, SIZE, dir);
}

static void put_text(const char *dir, const char *name, const char *text) {
    char path[400];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    assert_ok(leat_file_save(path, text, (int64_t)strlen(text), err));
}

static leat_images_verify_report *verify_with(const char *dir, int threads, bool quick) {
    leat_verify_options options = leat_verify_options_default();
    leat_images_verify_report *report = NULL;
    leat_error err = {0};
    options.threads = threads;
    options.quick = quick;
    must(leat_images_verify(dir, &options, &report, &err), &err);
    return report;
}

static void expect_finding(const char *dir, bool quick, bool note, const char *file,
                           const char *words) {
    leat_images_verify_report *report = verify_with(dir, 2, quick);
    bool found = false;
    for (int64_t i = 0; i < report->finding_count; i++) {
        const leat_verify_finding *it = &report->findings[i];
        found = found || (it->note == note && strcmp(it->file, file) == 0 &&
                          strstr(it->reason, words) != NULL);
    }
    for (int64_t i = 0; !found && i < report->finding_count; i++)
        print_message("  %s: %s\n", report->findings[i].file, report->findings[i].reason);
    if (!found) fail_msg("nothing says \"%s\" of %s", words, file);
    assert_int_equal(report->problem_count > 0, !note);
    leat_images_verify_report_destroy(report);
}

/* ---- right ---------------------------------------------------------------------------------- */

static void right(void **state) {
    (void)state;
    char dir[256];
    make_set(dir);
    for (int threads = 1; threads < 5; threads++) {
        leat_images_verify_report *report = verify_with(dir, threads, false);
        assert_int_equal(report->finding_count, 0);
        assert_int_equal(report->problem_count, 0);
        assert_int_equal(report->note_count, 0);
        assert_int_equal(report->images, IMAGES);
        assert_int_equal(report->rejected, 0);
        int64_t file_bytes = leat_image_place(SIZE, IMAGES);
        assert_int_equal(report->file_bytes, file_bytes + leat_page_hashes_bytes(file_bytes));
        leat_images_verify_report_destroy(report);
    }
    leat_images_verify_report *report = verify_with(dir, 1, true);
    assert_int_equal(report->problem_count, 0);
    assert_int_equal(report->images, 0);
    leat_images_verify_report_destroy(report);
    leat_images_verify_report_destroy(NULL);
    leat_verify_options options = leat_verify_options_default();
    options.threads = 0;
    assert_fails(leat_images_verify(dir, &options, &report, err), LEAT_ERR_OPTION, "threads is 0");
    assert_null(report);
    assert_fails(leat_images_verify(loader_folder(), NULL, &report, err), LEAT_ERR_NOT_FOUND,
                 "is not an image data set");
}

/* ---- seeded bugs ---------------------------------------------------------------------------- */

static leat_code write_set(void *data, int which, leat_json_out_fn out, void *context,
                           leat_error *err) {
    (void)which;
    return leat_image_set_write(data, out, context, err);
}

/* Writes images.json and .complete again, with a change. */
static void replant(const char *dir, void (*change)(leat_image_set *set)) {
    leat_image_set set;
    assert_ok(leat_image_set_load(&set, dir, err));
    change(&set);
    leat_image_set_decoded_sha256(&set, set.decoded_sha256);
    assert_ok(leat_complete_save(&leat_image_documents, dir, write_set, &set, err));
    leat_image_set_free(&set);
}

static void other_fingerprint(leat_image_set *set) { set->fingerprint[5] ^= 1; }
static void other_rejected(leat_image_set *set) { set->rejected = 7; }
static void other_pages(leat_image_set *set) { set->pages_hash ^= 1; }
static void fewer_images(leat_image_set *set) {
    set->count--;
    set->file_bytes -= leat_image_bytes(set->size);
}
static void other_shape(leat_image_set *set) { /* as many bytes: 200 x 24^2 = 50 x 48^2 */
    set->size = 48;
    set->count = 50;
}

/* The header of another data set, with the hashes that it should have. */
static void plant_header(const char *dir) {
    char path[400], pages_path[400];
    uint8_t header[LEAT_IMAGES_HEADER_BYTES], *pages = NULL;
    int64_t size = 0;
    leat_file *file = NULL;
    leat_image_set set;
    snprintf(path, sizeof path, "%s/" LEAT_IMAGES_TENSORS_NAME, dir);
    snprintf(pages_path, sizeof pages_path, "%s/" LEAT_IMAGES_PAGES_NAME, dir);
    assert_ok(leat_image_set_header(IMAGES, SIZE, header, err));
    header[sizeof header - 1] = '\t'; /* JSON of the same meaning */
    assert_ok(leat_file_open(&file, path, LEAT_FILE_UPDATE, err));
    assert_ok(leat_file_pwrite(file, header, sizeof header, 0, err));
    leat_file_close(file);
    assert_ok(leat_file_load(pages_path, 1 << 20, &pages, &size, err));
    uint64_t hash = leat_xxh3(header, sizeof header);
    memcpy(pages, &hash, sizeof hash);
    assert_ok(leat_file_save(pages_path, pages, size, err));
    assert_ok(leat_image_set_load(&set, dir, err));
    set.pages_hash = leat_xxh3(pages, size);
    assert_ok(leat_complete_save(&leat_image_documents, dir, write_set, &set, err));
    leat_image_set_free(&set);
    leat_free(pages);
}

static void seeded(void **state) {
    (void)state;
    static const struct {
        void (*change)(leat_image_set *set);
        const char *file, *words;
        bool opens;
    } cases[] = {
        {other_fingerprint, LEAT_IMAGES_TENSORS_NAME, "the SHA-256 of its images is", true},
        {other_rejected, LEAT_REJECTED_NAME, "lists 0 files, but images.json says 7", true},
        {other_pages, LEAT_IMAGES_PAGES_NAME, "its XXH3-64 differs", false},
        {fewer_images, LEAT_IMAGES_TENSORS_NAME, "but its metadata says", false},
        {other_shape, LEAT_IMAGES_TENSORS_NAME, "not that of 50 images of 48 x 48", false},
    };
    char dir[256];
    for (int i = 0; i < COUNT(cases); i++) {
        leat_images *images = NULL;
        make_set(dir);
        replant(dir, cases[i].change);
        expect_finding(dir, false, false, cases[i].file, cases[i].words);
        assert_int_equal(leat_images_open(&images, dir, NULL) == LEAT_OK, cases[i].opens);
        leat_images_close(images);
    }
    leat_images *images = NULL;
    make_set(dir);
    plant_header(dir);
    expect_finding(dir, false, false, LEAT_IMAGES_TENSORS_NAME, "its header is not that of 200");
    assert_fails(leat_images_open(&images, dir, err), LEAT_ERR_CORRUPT, "its header is not that");
}

/* Equal contents in another form: a blank more in images.json, and the hash for it. */
static void edited(void **state) {
    (void)state;
    char dir[256], path[400], hex[65], line[128];
    uint8_t *text = NULL, digest[32];
    int64_t size = 0;
    make_set(dir);
    snprintf(path, sizeof path, "%s/" LEAT_IMAGES_NAME, dir);
    assert_ok(leat_file_load(path, 1 << 20, &text, &size, err));
    text[size] = '\n'; /* where the NUL is */
    assert_ok(leat_file_save(path, text, size + 1, err));
    leat_free(text);
    assert_ok(leat_file_sha256(path, digest, err));
    leat_sha256_hex(digest, hex);
    snprintf(line, sizeof line, "%s  %s\n", hex, LEAT_IMAGES_NAME);
    put_text(dir, LEAT_COMPLETE_NAME, line);
    expect_finding(dir, false, false, LEAT_IMAGES_NAME, "not byte for byte what leat writes");
    leat_images_close(images_open(dir));
}

/* ---- files ---------------------------------------------------------------------------------- */

static void files(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int64_t cut; /* bytes that remain; -1: removed */
        bool quick;
        const char *words;
    } cases[] = {
        {LEAT_IMAGES_TENSORS_NAME, -1, true, "is missing"},
        {LEAT_IMAGES_TENSORS_NAME, 5000, true, "it has 5000 bytes, but its metadata says"},
        {LEAT_IMAGES_PAGES_NAME, -1, true, "No such file"},
        {LEAT_IMAGES_PAGES_NAME, 80, true, "it does not have the"},
        {LEAT_IMAGES_NAME, -1, true, "is missing"},
        {LEAT_IMAGES_NAME, 1000, true, "its SHA-256 differs from the one in .complete"},
        {LEAT_COMPLETE_NAME, -1, true, ".complete is missing"},
        {LEAT_COMPLETE_NAME, 50, true, "has changed since it was written"},
    };
    for (int i = 0; i < COUNT(cases); i++) {
        char dir[256], path[400];
        make_set(dir);
        snprintf(path, sizeof path, "%s/%s", dir, cases[i].name);
        assert_int_equal(cases[i].cut < 0 ? unlink(path) : truncate(path, cases[i].cut), 0);
        expect_finding(dir, cases[i].quick, false, cases[i].name, cases[i].words);
        expect_finding(dir, false, false, cases[i].name, cases[i].words);
    }
    char dir[256];
    make_set(dir);
    loader_flip(dir, LEAT_IMAGES_TENSORS_NAME, 9000, 2);
    loader_flip(dir, LEAT_IMAGES_TENSORS_NAME, 14000, 2);
    loader_flip(dir, LEAT_IMAGES_TENSORS_NAME, 200000, 2);
    expect_finding(dir, false, false, LEAT_IMAGES_TENSORS_NAME,
                   "bytes 8192 to 16383: damaged, by the hashes of their pages");
    expect_finding(dir, false, false, LEAT_IMAGES_TENSORS_NAME, "bytes 196608 to 200703");
}

static void names(void **state) {
    (void)state;
    char dir[256];
    make_set(dir);
    put_text(dir, "README", "mine");
    expect_finding(dir, true, true, "README", "does not belong to the data set");
    put_text(dir, "more.safetensors", "x");
    expect_finding(dir, true, false, "more.safetensors", "readers that take all");
    make_set(dir);
    put_text(dir, ".leat.lock", "");
    leat_images_verify_report *report = verify_with(dir, 1, true);
    assert_int_equal(report->finding_count, 0);
    leat_images_verify_report_destroy(report);
    char work[400];
    snprintf(work, sizeof work, "%s/.leat", dir);
    assert_ok(leat_path_make_dir(work, err));
    expect_finding(dir, true, true, ".leat", "running or was interrupted");
}

/* ---- rejected.csv --------------------------------------------------------------------------- */

static const char log_text[] = "file,member,reason,what\n"
                               "a.gif,0,not_an_image,a GIF image\n"
                               "\"b, \"\"c\"\".jpg\",1,truncated,\"ends\nearly\"\n"
                               "d.jpg,2,truncated,ends early\n"
                               "e.jpg,3,truncated,ends early\n"
                               "f.jpg,4,truncated,ends early\n"
                               "g.png,5,damaged,CRC error\n";

static void six_rejected(leat_image_set *set) { set->rejected = 6; }

static void rejected(void **state) {
    (void)state;
    char dir[256];
    leat_images_summary *summary = NULL;
    make_set(dir);
    put_text(dir, LEAT_REJECTED_NAME, log_text);
    expect_finding(dir, false, false, LEAT_REJECTED_NAME, "lists 6 files, but images.json says 0");
    replant(dir, six_rejected);
    leat_images_verify_report *report = verify_with(dir, 1, false);
    assert_int_equal(report->problem_count, 0);
    assert_int_equal(report->rejected, 6);
    leat_images_verify_report_destroy(report);
    leat_images *images = images_open(dir);
    assert_ok(leat_images_summary_create(&summary, images, NULL, err));
    const leat_images_rejects *cut = &summary->rejects[LEAT_IMAGE_TRUNCATED];
    assert_int_equal(summary->rejects[LEAT_IMAGE_NOT_AN_IMAGE].count, 1);
    assert_int_equal(summary->rejects[LEAT_IMAGE_UNREADABLE].count, 0);
    assert_int_equal(cut->count, 4);
    assert_int_equal(cut->shown, 3);
    assert_string_equal(cut->file[0], "b, \"c\".jpg");
    assert_string_equal(cut->what[0], "ends\nearly");
    assert_string_equal(cut->file[2], "e.jpg");
    leat_images_summary_destroy(summary);
    leat_images_close(images);
    static const struct {
        const char *text, *words;
    } bad[] = {
        {"file,member,reason\na,0,damaged\n", "does not have the column \"what\""},
        {"", "does not have the column \"file\""},
        {"file,reason,what\na,broken,x\n", "unknown reason"},
        {"file,reason,what\na\n", "is not a record with file"},
        {"file,reason,what\n\"a,damaged,x\n", "is not a record with file"},
    };
    for (int i = 0; i < COUNT(bad); i++) {
        put_text(dir, LEAT_REJECTED_NAME, bad[i].text);
        expect_finding(dir, true, false, LEAT_REJECTED_NAME, bad[i].words);
    }
}

/* ---- summary -------------------------------------------------------------------------------- */

static leat_images_summary *summarise(const leat_images *images, int threads, int64_t read_bytes) {
    leat_images_summary_options options = leat_images_summary_options_default();
    leat_images_summary *summary = NULL;
    leat_error err = {0};
    options.threads = threads;
    options.read_bytes_max = read_bytes;
    must(leat_images_summary_create(&summary, images, &options, &err), &err);
    return summary;
}

static void expect_summary(const leat_images_summary *summary) {
    enum { BYTES = SIZE * SIZE * 3 };
    static int64_t sums[BYTES], levels[3][256], brightness[256];
    double sum[3] = {0}, squares[3] = {0}, pixels = (double)IMAGES * SIZE * SIZE;
    for (int64_t i = 0; i < IMAGES; i++) {
        uint8_t image[BYTES];
        double total = 0;
        image_pixels(i, SIZE, image);
        for (int k = 0; k < BYTES; k++) {
            sums[k] += image[k];
            levels[k % 3][image[k]]++;
            total += image[k];
            sum[k % 3] += image[k];
            squares[k % 3] += (double)image[k] * image[k];
        }
        brightness[(int)floor(total / BYTES + 0.5)]++;
    }
    assert_memory_equal(summary->levels, levels, sizeof levels);
    assert_memory_equal(summary->brightness, brightness, sizeof brightness);
    for (int k = 0; k < BYTES; k++)
        assert_int_equal(summary->mean_image[k], (int)floor((double)sums[k] / IMAGES + 0.5));
    for (int c = 0; c < 3; c++) {
        double mean = sum[c] / pixels;
        assert_true(fabs(summary->mean[c] - mean) < 1e-9);
        assert_true(fabs(summary->deviation[c] - sqrt(squares[c] / pixels - mean * mean)) < 1e-6);
        sum[c] = squares[c] = 0;
    }
    memset(sums, 0, sizeof sums);
    memset(levels, 0, sizeof levels);
    memset(brightness, 0, sizeof brightness);
}

static void summary_of_all(void **state) {
    (void)state;
    static const int threads[] = {1, 2, 3, 8};
    char dir[256];
    make_set(dir);
    leat_images *images = images_open(dir);
    for (int i = 0; i < COUNT(threads); i++) {
        leat_images_summary *summary = summarise(images, threads[i], -1);
        assert_int_equal(summary->images, IMAGES);
        assert_int_equal(summary->read_images, IMAGES);
        assert_int_equal(summary->width.count, IMAGES);
        int64_t enlarged = 0, highest = 0;
        for (int64_t k = 0; k < IMAGES; k++) {
            char name[64];
            const leat_image_entry entry = image_entry(k, name);
            enlarged += entry.width < SIZE || entry.height < SIZE;
            if (entry.height > highest) highest = entry.height;
        }
        assert_int_equal(summary->height.max, highest);
        assert_true(enlarged > 0);
        assert_int_equal(summary->enlarged, enlarged);
        expect_summary(summary);
        leat_images_summary_destroy(summary);
    }
    leat_images_summary_destroy(NULL);
    leat_images_close(images);
}

static void summary_of_some(void **state) {
    (void)state;
    static const int threads[] = {1, 2, 3, 8};
    char dir[256];
    make_set(dir);
    leat_images *images = images_open(dir);
    leat_images_summary *first = summarise(images, 1, IMAGES * SIZE * SIZE * 3 / 4);
    assert_in_range(first->read_images, IMAGES / 8, IMAGES / 2);
    for (int i = 0; i < COUNT(threads); i++) {
        leat_images_summary *again = summarise(images, threads[i], IMAGES * SIZE * SIZE * 3 / 4);
        assert_int_equal(again->read_images, first->read_images);
        assert_memory_equal(again->levels, first->levels, sizeof first->levels);
        assert_memory_equal(again->mean_image, first->mean_image, SIZE * SIZE * 3);
        leat_images_summary_destroy(again);
    }
    leat_images_summary_destroy(first);
    leat_images_summary *none = summarise(images, 2, 0);
    assert_int_equal(none->read_images, 0);
    assert_true(none->mean[0] == 0 && none->deviation[2] == 0 && none->mean_image[0] == 0);
    assert_int_equal(none->width.count, IMAGES);
    leat_images_summary_destroy(none);
    leat_images_close(images);
}

static void summary_of_damage(void **state) {
    (void)state;
    char dir[256];
    leat_images_summary *summary = NULL;
    make_set(dir);
    loader_flip(dir, LEAT_IMAGES_TENSORS_NAME, 100000, 0);
    leat_images *images = images_open(dir);
    assert_fails(leat_images_summary_create(&summary, images, NULL, err), LEAT_ERR_CORRUPT,
                 "page at byte 98304");
    assert_null(summary);
    leat_images_summary_options options = leat_images_summary_options_default();
    options.threads = 257;
    assert_fails(leat_images_summary_create(&summary, images, &options, err), LEAT_ERR_OPTION,
                 "threads is 257");
    leat_images_close(images);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right),
        cmocka_unit_test(seeded),
        cmocka_unit_test(edited),
        cmocka_unit_test(files),
        cmocka_unit_test(names),
        cmocka_unit_test(rejected),
        cmocka_unit_test(summary_of_all),
        cmocka_unit_test(summary_of_some),
        cmocka_unit_test(summary_of_damage),
    };
    return cmocka_run_group_tests(tests, NULL, loader_teardown);
}
