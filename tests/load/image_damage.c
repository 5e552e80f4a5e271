/*
 * Every bit and every truncation of a small data set, or a sample of them. Every byte of the four
 * files is covered by a hash, so none may go unnoticed, and no image may come out wrong.
 */
#include "image_damage.h"

#include <unistd.h>

#include "base/rng.h"
#include "check.h"

enum { IMAGES = 14, SIZE = 20, SAMPLE = 1000 }; /* 1,200 bytes an image, 21 KB */

typedef struct small_set {
    char dir[256];
    uint8_t pixels[IMAGES][SIZE * SIZE * 3];
} small_set;

static const char *const names[] = {LEAT_IMAGES_TENSORS_NAME, LEAT_IMAGES_PAGES_NAME,
                                    LEAT_IMAGES_NAME, LEAT_COMPLETE_NAME};
enum { FILES = sizeof names / sizeof *names };

/* All images are read: right, or refused. */
static leat_code read_all(const small_set *set, leat_error *err) {
    leat_images *images = NULL;
    uint8_t found[SIZE * SIZE * 3];
    leat_code code = leat_images_open(&images, set->dir, err);
    for (int64_t i = 0; images != NULL && i < IMAGES; i++) {
        leat_error why = {0};
        if (leat_images_read(images, i, found, &why) == LEAT_OK) {
            assert_memory_equal(found, set->pixels[i], sizeof found);
        } else if (code == LEAT_OK) {
            code = why.code;
            *err = why;
        }
    }
    leat_images_close(images);
    return code;
}

/* The damage of a file is found, and a file named: that one, or the document whose hash differs. */
static void expect_refused(const small_set *set, const char *name, const char *how, int64_t at) {
    leat_error err = {0};
    leat_code code = read_all(set, &err);
    bool named = strstr(err.message, name) != NULL ||
                 (strcmp(name, LEAT_COMPLETE_NAME) == 0 && strstr(err.message, LEAT_IMAGES_NAME));
    if (code != LEAT_ERR_CORRUPT || !named)
        fail_msg("%s %s at %lld: code %d: %s", name, how, (long long)at, code, err.message);
}

static void flip(const small_set *set, const char *name, int64_t bit) {
    loader_flip(set->dir, name, bit / 8, (int)(bit % 8));
    expect_refused(set, name, "flipped", bit);
    loader_flip(set->dir, name, bit / 8, (int)(bit % 8));
}

static void restore(const char *path, const uint8_t *bytes, int64_t size) {
    FILE *back = fopen(path, "wb");
    assert_non_null(back);
    assert_int_equal(fwrite(bytes, 1, (size_t)size, back), size);
    assert_int_equal(fclose(back), 0);
}

/* Where something begins or ends: the text of the header, pages, images; all of a small file. */
static bool is_border(int file, int64_t at) {
    if (file != 0) return true;
    int64_t in_image = (at - LEAT_IMAGES_HEADER_BYTES) % (SIZE * SIZE * 3), in_page = at % 4096;
    if (at < 256 || in_page <= 1 || in_page == 4095) return true;
    return at >= LEAT_IMAGES_HEADER_BYTES && (in_image <= 1 || in_image == SIZE * SIZE * 3 - 1);
}

/* From the last byte on, so that the file need not be written again for each. */
static void cut_file(const small_set *set, int file, bool all) {
    char path[400];
    uint8_t *bytes = NULL;
    int64_t size = 0;
    snprintf(path, sizeof path, "%s/%s", set->dir, names[file]);
    assert_ok(leat_file_load(path, 1 << 20, &bytes, &size, err));
    for (int64_t at = size - 1; at >= 0; at--) {
        uint64_t drawn = leat_random_below(leat_random(1, 2, (uint64_t)at), (uint64_t)size);
        if (!all && !is_border(file, at) && drawn >= SAMPLE) continue;
        assert_int_equal(truncate(path, at), 0);
        expect_refused(set, names[file], "cut", at);
    }
    restore(path, bytes, size);
    leat_free(bytes);
}

static void flip_files(const small_set *set, bool all) {
    int64_t ends[FILES], total = 0;
    for (int i = 0; i < FILES; i++) {
        char path[400];
        leat_path_facts facts;
        snprintf(path, sizeof path, "%s/%s", set->dir, names[i]);
        assert_ok(leat_path_stat(path, &facts, err));
        ends[i] = total += facts.size_bytes * 8;
    }
    for (int64_t n = 0; n < (all ? total : SAMPLE); n++) {
        int64_t bit =
            all ? n : (int64_t)leat_random_below(leat_random(3, 4, (uint64_t)n), (uint64_t)total);
        int file = 0;
        while (bit >= ends[file]) file++;
        flip(set, names[file], file == 0 ? bit : bit - ends[file - 1]);
    }
}

void image_damage(const char *folder, bool all) {
    static small_set set;
    leat_error err = {0};
    images_make(folder, IMAGES, SIZE, set.dir);
    for (int64_t i = 0; i < IMAGES; i++) image_pixels(i, SIZE, set.pixels[i]);
    flip_files(&set, all);
    for (int i = 0; i < FILES; i++) cut_file(&set, i, all);
    must(read_all(&set, &err), &err); /* and now as it was */
}
