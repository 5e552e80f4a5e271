/*
 * An image data set as a value, its rules, and the header of its tensor. Its JSON is in json.c, the
 * file of its tensor in writer.c.
 */
#include "format/image_set/image_set.h"

#include <string.h>

#include "format/safetensors/safetensors.h"

const char *leat_image_reason_name(int reason) {
    static const char *const names[LEAT_IMAGE_REASONS] = {
        [LEAT_IMAGE_NOT_AN_IMAGE] = "not_an_image", [LEAT_IMAGE_DAMAGED] = "damaged",
        [LEAT_IMAGE_TRUNCATED] = "truncated",       [LEAT_IMAGE_TOO_LARGE] = "too_large",
        [LEAT_IMAGE_TOO_SMALL] = "too_small",       [LEAT_IMAGE_UNSUPPORTED] = "unsupported",
        [LEAT_IMAGE_UNREADABLE] = "unreadable",     [LEAT_IMAGE_INCOMPLETE] = "incomplete",
        [LEAT_IMAGE_BAD_NAME] = "bad_name",
    };
    return reason >= 0 && reason < LEAT_IMAGE_REASONS ? names[reason] : "";
}

const char *leat_image_remark_name(int remark) {
    static const char *const names[LEAT_IMAGE_REMARKS] = {
        [LEAT_IMAGE_NO_END] = "no_end_marker",        [LEAT_IMAGE_AFTER_END] = "bytes_after_end",
        [LEAT_IMAGE_EXTRANEOUS] = "extraneous_bytes", [LEAT_IMAGE_TRANSPARENT] = "transparent",
        [LEAT_IMAGE_SEVERAL] = "several_pictures",    [LEAT_IMAGE_LOW_RANGE] = "low_range",
    };
    return remark >= 0 && remark < LEAT_IMAGE_REMARKS ? names[remark] : "";
}

void leat_image_set_free(leat_image_set *set) {
    leat_free(set->entries);
    leat_buf_free(&set->names);
    *set = (leat_image_set){0};
}

int64_t leat_image_bytes(int32_t size) { return (int64_t)size * size * 3; }

int64_t leat_image_place(int32_t size, int64_t index) {
    return LEAT_IMAGES_HEADER_BYTES + index * leat_image_bytes(size);
}

leat_tensor_file leat_image_set_file(const leat_image_set *set) {
    return (leat_tensor_file){set->file_bytes, set->pages_hash, LEAT_IMAGES_REBUILD};
}

/* ---- entries -------------------------------------------------------------------------------- */

leat_image_entry leat_image_set_entry(const leat_image_set *set, int64_t index) {
    const leat_image_kept *kept = &set->entries[index];
    return (leat_image_entry){(const char *)set->names.data + kept->name_at, kept->width,
                              kept->height, kept->decoded};
}

static leat_code check_name(const leat_image_set *set, const char *name, size_t size,
                            leat_error *err) {
    if (size == 0 || size >= LEAT_IMAGE_NAME_BYTES)
        return leat_fail(err, LEAT_ERR_INPUT,
                         "image %lld: a name of %zu bytes; it must have 1 to %d",
                         (long long)set->count, size, LEAT_IMAGE_NAME_BYTES - 1);
    if (!leat_json_is_utf8(name, (int64_t)size))
        return leat_fail(err, LEAT_ERR_INPUT, "image \"%.200s\": its name is not UTF-8", name);
    if (set->count == 0) return LEAT_OK;
    int order = strcmp(leat_image_set_entry(set, set->count - 1).name, name);
    if (order < 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_INPUT,
                     order == 0 ? "image \"%.200s\": the name is given twice"
                                : "image \"%.200s\": the name is not in the order of their bytes",
                     name);
}

leat_code leat_image_set_add(leat_image_set *set, const leat_image_entry *entry, leat_error *err) {
    size_t size = strnlen(entry->name, LEAT_IMAGE_NAME_BYTES);
    if (set->count == LEAT_IMAGES_COUNT_MAX)
        return leat_fail(err, LEAT_ERR_LIMIT, "more than %d images in one data set",
                         LEAT_IMAGES_COUNT_MAX);
    LEAT_TRY(check_name(set, entry->name, size, err));
    if (entry->width < 1 || entry->width > LEAT_IMAGE_SIDE_MAX || entry->height < 1 ||
        entry->height > LEAT_IMAGE_SIDE_MAX)
        return leat_fail(err, LEAT_ERR_INPUT,
                         "image \"%.200s\": %d x %d pixels; each side must have 1 to %d",
                         entry->name, entry->width, entry->height, LEAT_IMAGE_SIDE_MAX);
    leat_image_kept kept = {set->names.size, entry->width, entry->height, entry->decoded};
    LEAT_TRY(LEAT_GROW(&set->entries, &set->entry_capacity, set->count + 1, err));
    LEAT_TRY(leat_buf_append(&set->names, entry->name, (int64_t)size + 1, err));
    set->entries[set->count++] = kept;
    return LEAT_OK;
}

void leat_image_set_decoded_sha256(const leat_image_set *set, char digest[65]) {
    leat_sha256 sha;
    uint8_t bytes[32];
    leat_sha256_init(&sha);
    for (int64_t i = 0; i < set->count; i++) /* little-endian, as the machine */
        leat_sha256_update(&sha, &set->entries[i].decoded, sizeof set->entries[i].decoded);
    leat_sha256_final(&sha, bytes);
    leat_sha256_hex(bytes, digest);
}

/* ---- the header ----------------------------------------------------------------------------- */

leat_code leat_image_set_header(int64_t count, int32_t size,
                                uint8_t header[LEAT_IMAGES_HEADER_BYTES], leat_error *err) {
    enum { PREFIX_BYTES = 8 };
    const char *const metadata[] = {"format", LEAT_IMAGES_FORMAT};
    leat_tensor images = {
        .name = "images", .dtype = LEAT_DTYPE_U8, .rank = 4, .shape = {count, size, size, 3}};
    leat_buf text = {0};
    int64_t file_bytes = 0;
    uint64_t stated = LEAT_IMAGES_HEADER_BYTES - PREFIX_BYTES; /* little-endian, as the machine */
    memset(header, ' ', LEAT_IMAGES_HEADER_BYTES);
    LEAT_TRY(leat_safetensors_plan(&images, 1, metadata, 1, &text, &file_bytes, err));
    LEAT_ASSERT(text.size <= LEAT_IMAGES_HEADER_BYTES);
    memcpy(header, text.data, (size_t)text.size);
    memcpy(header, &stated, PREFIX_BYTES);
    leat_buf_free(&text);
    return LEAT_OK;
}

/* ---- files ---------------------------------------------------------------------------------- */

leat_code leat_image_set_files_check(const leat_image_set *set, const char *dir, bool pages,
                                     int threads, leat_ticker *ticker, leat_error *err) {
    char path[LEAT_PATH_BYTES], pages_path[LEAT_PATH_BYTES];
    const leat_tensor_file file = leat_image_set_file(set);
    LEAT_TRY(leat_path_join(path, sizeof path, dir, LEAT_IMAGES_TENSORS_NAME, err));
    LEAT_TRY(leat_path_join(pages_path, sizeof pages_path, dir, LEAT_IMAGES_PAGES_NAME, err));
    LEAT_TRY(leat_file_check_size(path, file.file_bytes, file.rebuild, err));
    LEAT_TRY(leat_file_check_size(pages_path, leat_page_hashes_bytes(file.file_bytes), file.rebuild,
                                  err));
    if (!pages) return LEAT_OK;
    leat_ticker_stage(ticker, "verifying", "bytes", file.file_bytes);
    return leat_tensor_file_check(path, pages_path, &file, threads, ticker, err);
}
