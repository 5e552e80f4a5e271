/* Pictures and other files for tests: see image_files.h. */
#include "image_files.h"

#include "base/hash.h"
#include "format/complete.h"
#include "format/image/image.h"
#include "format/picture_support.h"
#include "format/zip/zip.h"
#include "leat/format.h"

const image_file image_files[IMAGE_FILES] = {
    {"1.jpg", 40, 30, FILE_JPEG},
    {"10.jpg", 30, 40, FILE_PNG},
    {"2.JPEG", 17, 17, FILE_JPEG},
    {"a.png", 16, 16, FILE_PNG},
    {"a/deep/x.jpg", 70, 33, FILE_JPEG},
    {"a/notes.jpg", 0, 0, FILE_TEXT},
    {"a/x.png", 5, 90, FILE_PNG},
    {"b/cut.jpg", 40, 40, FILE_CUT},
    {"b/turned.jpg", 50, 20, FILE_TURNED},
    {"c d,\"e\".png", 25, 24, FILE_PNG},
    {"empty.jpg", 0, 0, FILE_TEXT},
    {"gr\xc3\xb6\xc3\x9f"
     "e.jpg",
     64, 64, FILE_JPEG},
    {"no-suffix", 8, 9, FILE_PNG},
    {"z.png", 0, 0, FILE_TEXT},
};

static bool is_picture(const image_file *file) {
    return file->kind != FILE_TEXT && file->kind != FILE_CUT;
}

/* EXIF data that says: turn it by a quarter. */
static void add_turn(leat_buf *jpeg) {
    static const uint8_t segment[] = {0xff, 0xe1, 0, 34, 'E', 'x', 'i', 'f', 0,    0, 'I', 'I',
                                      '*',  0,    8, 0,  0,   0,   1,   0,   0x12, 1, 3,   0,
                                      1,    0,    0, 0,  6,   0,   0,   0,   0,    0, 0,   0};
    leat_buf turned = {0};
    assert_ok(leat_buf_append(&turned, jpeg->data, 2, err));
    assert_ok(leat_buf_append(&turned, segment, sizeof segment, err));
    assert_ok(leat_buf_append(&turned, jpeg->data + 2, jpeg->size - 2, err));
    leat_buf_free(jpeg);
    *jpeg = turned;
}

leat_buf image_file_bytes(const image_file *file) {
    leat_buf bytes = {0};
    if (file->kind == FILE_TEXT) {
        if (strcmp(file->name, "empty.jpg") != 0)
            assert_ok(leat_buf_printf(&bytes, err, "not a picture: %s\n", file->name));
        return bytes;
    }
    uint8_t *rgb = image_draw(file->width, file->height, (uint64_t)strlen(file->name));
    if (file->kind == FILE_PNG) {
        leat_png *png = NULL;
        int64_t size = 0;
        assert_ok(leat_png_encode(&png, rgb, file->width, file->height, err));
        const uint8_t *data = leat_png_bytes(png, &size);
        assert_ok(leat_buf_append(&bytes, data, size, err));
        leat_png_destroy(png);
    } else {
        assert_ok(leat_jpeg_encode(rgb, file->width, file->height, 90, &bytes, err));
    }
    if (file->kind == FILE_TURNED) add_turn(&bytes);
    if (file->kind == FILE_CUT) bytes.size -= 100;
    free(rgb);
    return bytes;
}

static void write_file(const char *dir, const char *name, const void *bytes, int64_t size_bytes) {
    char path[LEAT_PATH_BYTES], parent[LEAT_PATH_BYTES];
    assert_ok(leat_path_join(path, sizeof path, dir, name, err));
    assert_ok(leat_path_parent(path, parent, err));
    assert_ok(leat_path_make_dir(parent, err));
    core_save(path, size_bytes == 0 ? "" : bytes, size_bytes);
}

/* Passed over: hidden, or the Mac's. */
static const char *const hidden[] = {".DS_Store", "a/.hidden.jpg", "__MACOSX/1.jpg"};

void image_files_write(const char *dir, bool clean) {
    for (int i = 0; i < IMAGE_FILES; i++) {
        if (clean && !is_picture(&image_files[i])) continue;
        leat_buf bytes = image_file_bytes(&image_files[i]);
        write_file(dir, image_files[i].name, bytes.data, bytes.size);
        leat_buf_free(&bytes);
    }
    for (size_t i = 0; !clean && i < sizeof hidden / sizeof *hidden; i++)
        write_file(dir, hidden[i], "hidden", 6);
}

void image_files_zip(const char *path, bool clean) {
    leat_file *file = NULL;
    leat_zip_writer *writer = NULL;
    assert_ok(leat_file_open(&file, path, LEAT_FILE_CREATE, err));
    assert_ok(leat_zip_writer_create(&writer, file, 0, err));
    for (int k = 0; k < IMAGE_FILES; k++) {
        const image_file *it = &image_files[k * 5 % IMAGE_FILES];
        if (clean && !is_picture(it)) continue;
        leat_buf bytes = image_file_bytes(it);
        assert_ok(leat_zip_writer_add(writer, it->name, bytes.data, bytes.size, err));
        leat_buf_free(&bytes);
    }
    assert_ok(leat_zip_writer_add(writer, "a/", "", 0, err));
    for (size_t i = 0; !clean && i < sizeof hidden / sizeof *hidden; i++)
        assert_ok(leat_zip_writer_add(writer, hidden[i], "hidden", 6, err));
    assert_ok(leat_zip_writer_finish(writer, err));
    leat_zip_writer_destroy(writer);
    leat_file_close(file);
}

leat_images_ingest_options image_files_options(void) {
    leat_images_ingest_options options = leat_images_ingest_options_default();
    options.size = 16;
    options.threads = 1;
    return options;
}

image_digest image_set_digest(const char *dir) {
    char path[LEAT_PATH_BYTES];
    leat_path_list names = {0};
    image_digest digest = {""};
    uint8_t raw[32];
    leat_path_facts facts;
    leat_sha256 sha;
    assert_ok(leat_path_join(path, sizeof path, dir, LEAT_COMPLETE_NAME, err));
    assert_ok(leat_path_stat(path, &facts, err));
    if (facts.kind != LEAT_PATH_FILE) return digest;
    leat_sha256_init(&sha);
    assert_ok(leat_path_list_dir(dir, &names, err));
    for (int64_t i = 0; i < names.count; i++) {
        if (strncmp(names.paths[i], ".leat", 5) == 0) continue;
        assert_ok(leat_path_join(path, sizeof path, dir, names.paths[i], err));
        assert_ok(leat_file_sha256(path, raw, err));
        leat_sha256_update(&sha, names.paths[i], (int64_t)strlen(names.paths[i]) + 1);
        leat_sha256_update(&sha, raw, sizeof raw);
    }
    leat_path_list_free(&names);
    leat_sha256_final(&sha, raw);
    leat_sha256_hex(raw, digest.text);
    return digest;
}
