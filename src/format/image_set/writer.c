/*
 * Writes the files of an image data set from front to back. How many images there are is known only
 * at the end, so the first page of the tensor's file, its header, is written last; so is its hash.
 * Bytes are hashed page by page in a buffer, on the way to the disk.
 *
 * A run that continues an interrupted one takes the same way: the images that are in the file
 * already are read back into the buffer and hashed, only not written again.
 */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "format/image_set/image_set.h"

#define BUFFER_BYTES (INT64_C(256) << 10) /* of whole pages */
enum { BUFFER_PAGES = BUFFER_BYTES / LEAT_PAGE_BYTES };
_Static_assert(LEAT_IMAGES_HEADER_BYTES == LEAT_PAGE_BYTES, "the buffer begins at a page");

struct leat_image_writer {
    char dir[LEAT_PATH_BYTES];
    leat_file *file, *pages;
    leat_image_set set;
    uint8_t *buffer;
    int64_t filled;
    int64_t at;      /* of the buffer in the file */
    int64_t written; /* the file has its bytes up to here */
    leat_sha256 sha; /* of the images */
};

uint64_t leat_image_hash(const uint8_t *pixels, int32_t size) {
    return leat_xxh3(pixels, leat_image_bytes(size));
}

/* ---- created -------------------------------------------------------------------------------- */

static leat_code open_file(const char *dir, const char *name, bool resume, leat_file **out,
                           leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_path_facts facts;
    LEAT_TRY(leat_path_join(path, sizeof path, dir, name, err));
    LEAT_TRY(leat_path_stat(path, &facts, err));
    bool found = resume && facts.kind == LEAT_PATH_FILE;
    return leat_file_open(out, path, found ? LEAT_FILE_OWN : LEAT_FILE_CREATE, err);
}

/* A data set that the folder holds is none any more. */
static leat_code begin(leat_image_writer *writer, bool resume, leat_error *err) {
    char complete[LEAT_PATH_BYTES];
    LEAT_TRY(leat_path_join(complete, sizeof complete, writer->dir, LEAT_COMPLETE_NAME, err));
    LEAT_TRY(leat_path_make_dir(writer->dir, err));
    LEAT_TRY(leat_path_remove(complete, err));
    LEAT_TRY(leat_block_alloc((void **)&writer->buffer, BUFFER_BYTES, err));
    LEAT_TRY(open_file(writer->dir, LEAT_IMAGES_TENSORS_NAME, resume, &writer->file, err));
    return open_file(writer->dir, LEAT_IMAGES_PAGES_NAME, resume, &writer->pages, err);
}

leat_code leat_image_writer_create(leat_image_writer **out, const char *dir, int32_t size,
                                   bool resume, leat_error *err) {
    leat_image_writer *writer = NULL;
    size_t dir_bytes = strlen(dir);
    *out = NULL;
    if (size < LEAT_IMAGES_SIZE_MIN || size > LEAT_IMAGES_SIZE_MAX)
        return leat_fail(err, LEAT_ERR_OPTION, "image data set: size is %d; it must be %d to %d",
                         size, LEAT_IMAGES_SIZE_MIN, LEAT_IMAGES_SIZE_MAX);
    if (dir_bytes >= LEAT_PATH_BYTES)
        return leat_fail(err, LEAT_ERR_LIMIT, "path \"%.64s...\" is too long", dir);
    LEAT_TRY(LEAT_NEW(&writer, 1, err));
    memcpy(writer->dir, dir, dir_bytes + 1);
    writer->set.size = size;
    writer->at = writer->written = LEAT_IMAGES_HEADER_BYTES;
    leat_sha256_init(&writer->sha);
    leat_code code = begin(writer, resume, err);
    if (code != LEAT_OK) {
        leat_image_writer_destroy(writer);
        return code;
    }
    *out = writer;
    return LEAT_OK;
}

void leat_image_writer_destroy(leat_image_writer *writer) {
    if (writer == NULL) return;
    leat_file_close(writer->file);
    leat_file_close(writer->pages);
    leat_block_free(writer->buffer, BUFFER_BYTES);
    leat_image_set_free(&writer->set);
    leat_free(writer);
}

/* ---- images --------------------------------------------------------------------------------- */

/* Writes what the file does not have yet. */
static leat_code write_out(leat_image_writer *writer, leat_error *err) {
    int64_t end = writer->at + writer->filled, from = writer->written;
    if (end <= from) return LEAT_OK;
    LEAT_TRY(leat_file_pwrite(writer->file, writer->buffer + (from - writer->at), end - from, from,
                              err));
    leat_file_start_writeback(writer->file, from, end - from);
    writer->written = end;
    return LEAT_OK;
}

/* Hashes the pages in the buffer, the last of which may be a part of one only at the end of the
 * file, and empties it. */
static leat_code end_pages(leat_image_writer *writer, leat_error *err) {
    uint64_t hashes[BUFFER_PAGES];
    int64_t count = 0;
    LEAT_TRY(write_out(writer, err));
    for (int64_t at = 0; at < writer->filled; at += LEAT_PAGE_BYTES) {
        int64_t left = writer->filled - at;
        hashes[count++] =
            leat_xxh3(writer->buffer + at, left < LEAT_PAGE_BYTES ? left : LEAT_PAGE_BYTES);
    }
    int64_t place = writer->at / LEAT_PAGE_BYTES * (int64_t)sizeof *hashes;
    LEAT_TRY(leat_file_pwrite(writer->pages, hashes, count * (int64_t)sizeof *hashes, place, err));
    writer->at += writer->filled;
    writer->filled = 0;
    return LEAT_OK;
}

static leat_code add(leat_image_writer *writer, const leat_image_entry *entry,
                     const uint8_t *pixels, leat_error *err) {
    int64_t left = leat_image_bytes(writer->set.size);
    LEAT_TRY(leat_image_set_add(&writer->set, entry, err));
    leat_sha256_update(&writer->sha, pixels, left);
    while (left > 0) {
        int64_t room = BUFFER_BYTES - writer->filled, step = left < room ? left : room;
        memcpy(writer->buffer + writer->filled, pixels, (size_t)step);
        writer->filled += step;
        pixels += step;
        left -= step;
        if (writer->filled == BUFFER_BYTES) LEAT_TRY(end_pages(writer, err));
    }
    return LEAT_OK;
}

leat_code leat_image_writer_append(leat_image_writer *writer, const leat_image_entry *entry,
                                   const uint8_t *pixels, leat_error *err) {
    return add(writer, entry, pixels, err);
}

leat_code leat_image_writer_keep(leat_image_writer *writer, const leat_image_entry *entry,
                                 uint64_t hash, bool *kept, leat_error *err) {
    int64_t bytes = leat_image_bytes(writer->set.size), file_bytes = 0;
    int64_t place = leat_image_place(writer->set.size, writer->set.count);
    uint8_t *pixels = NULL;
    *kept = false;
    LEAT_ASSERT(writer->written == place); /* none was appended */
    LEAT_TRY(leat_file_size(writer->file, &file_bytes, err));
    if (file_bytes < place + bytes) return LEAT_OK;
    LEAT_TRY(LEAT_NEW(&pixels, bytes, err));
    leat_code code = leat_file_pread(writer->file, pixels, bytes, place, err);
    if (code == LEAT_OK && leat_xxh3(pixels, bytes) == hash) {
        writer->written = place + bytes;
        code = add(writer, entry, pixels, err);
        *kept = code == LEAT_OK;
    }
    leat_free(pixels);
    return code;
}

leat_code leat_image_writer_flush(leat_image_writer *writer, leat_error *err) {
    return write_out(writer, err);
}

/* ---- the end -------------------------------------------------------------------------------- */

static leat_code write_header(leat_image_writer *writer, leat_error *err) {
    uint8_t header[LEAT_IMAGES_HEADER_BYTES];
    LEAT_TRY(leat_image_set_header(writer->set.count, writer->set.size, header, err));
    uint64_t hash = leat_xxh3(header, sizeof header);
    LEAT_TRY(leat_file_pwrite(writer->file, header, sizeof header, 0, err));
    return leat_file_pwrite(writer->pages, &hash, sizeof hash, 0, err);
}

/* A run that was resumed may leave bytes of the earlier one after its own. */
static leat_code end_file(leat_file *file, int64_t size_bytes, leat_error *err) {
    LEAT_TRY(leat_file_truncate(file, size_bytes, err));
    return leat_file_sync(file, err);
}

/* The page hashes may be many, so they are read where they are. */
static leat_code hash_pages(leat_image_writer *writer, leat_error *err) {
    leat_map *map = NULL;
    LEAT_TRY(leat_map_open(&map, leat_file_path(writer->pages), err));
    writer->set.pages_hash = leat_xxh3(leat_map_data(map), leat_map_size(map));
    leat_code code = leat_map_check(map, err);
    leat_map_close(map);
    return code;
}

static leat_code write_document(void *data, int which, leat_json_out_fn out, void *context,
                                leat_error *err) {
    (void)which;
    return leat_image_set_write(data, out, context, err);
}

void leat_image_writer_describe(leat_image_writer *writer, int64_t texts, const char *background) {
    leat_image_set *set = &writer->set;
    set->texts = texts;
    snprintf(set->background, sizeof set->background, "%s", background);
}

leat_code leat_image_writer_finish(leat_image_writer *writer, int64_t rejected,
                                   const leat_image_set **out, leat_error *err) {
    leat_image_set *set = &writer->set;
    uint8_t digest[32];
    *out = NULL;
    if (set->count == 0) return leat_fail(err, LEAT_ERR_INPUT, "no image was found");
    LEAT_TRY(end_pages(writer, err));
    LEAT_TRY(write_header(writer, err));
    set->rejected = rejected;
    set->file_bytes = leat_image_place(set->size, set->count);
    LEAT_TRY(end_file(writer->file, set->file_bytes, err));
    LEAT_TRY(end_file(writer->pages, leat_page_hashes_bytes(set->file_bytes), err));
    LEAT_TRY(hash_pages(writer, err));
    leat_sha256_final(&writer->sha, digest);
    leat_sha256_hex(digest, set->fingerprint);
    leat_image_set_decoded_sha256(set, set->decoded_sha256);
    LEAT_TRY(leat_image_set_sorted_sha256(set, set->sorted_sha256, err));
    LEAT_TRY(leat_complete_save(&leat_image_documents, writer->dir, write_document, set, err));
    *out = set;
    return LEAT_OK;
}
