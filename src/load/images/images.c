/* Opens an image data set: reads its JSON, maps its pixels, and returns images from checked pages.
 */
#include "load/images/images.h"

#include <string.h>

/* ---- what is at a path ---------------------------------------------------------------------- */

bool leat_images_is_at(const char *path) {
    leat_output found;
    return leat_output_look(path, &found, NULL) == LEAT_OK && found.kind == LEAT_OUTPUT_IMAGES;
}

static leat_code refuse_other(const char *path, const leat_output *found, leat_error *err) {
    if (found->kind == LEAT_OUTPUT_NONE)
        return leat_fail(err, LEAT_ERR_NOT_FOUND,
                         "\"%s\" is not an image data set; create one with `leat ingest images`",
                         path);
    return leat_fail(err, LEAT_ERR_NOT_FOUND,
                     "\"%s\" is the output of `%s`, not an image data set; open it with %s", path,
                     leat_output_command(found->kind), leat_output_opened_with(found->kind));
}

leat_code leat_images_check_at(const char *path, bool torn, leat_error *err) {
    leat_path_facts facts;
    leat_output found;
    LEAT_TRY(leat_path_stat(path, &facts, err));
    if (facts.kind != LEAT_PATH_DIR)
        return leat_fail(err, LEAT_ERR_NOT_FOUND, "\"%s\" is not a folder", path);
    LEAT_TRY(leat_output_look(path, &found, err));
    if (found.kind != LEAT_OUTPUT_IMAGES) return refuse_other(path, &found, err);
    if (found.complete) return LEAT_OK;
    LEAT_TRY(leat_output_of(path, &found, err));
    bool work = found.kind == LEAT_OUTPUT_NONE; /* known by its work folder */
    if (torn && !work) return LEAT_OK;
    if (work)
        return leat_fail(err, LEAT_ERR_NOT_FOUND,
                         "\"%s\" holds an ingest that is running or was interrupted; wait until it "
                         "ends, or run the same `leat ingest images` again with --resume",
                         path);
    return leat_fail(err, LEAT_ERR_NOT_FOUND,
                     "\"%s\" is not a complete image data set: " LEAT_COMPLETE_NAME
                     " is missing; " LEAT_IMAGES_REBUILD,
                     path);
}

/* ---- opened and closed ---------------------------------------------------------------------- */

/* Images of this number and size have exactly one valid header. */
static leat_code check_header(const leat_images *images, leat_error *err) {
    uint8_t found[LEAT_IMAGES_HEADER_BYTES], expected[LEAT_IMAGES_HEADER_BYTES];
    const leat_image_set *set = &images->set;
    LEAT_TRY(leat_paged_read(&images->paged, 0, sizeof found, found, err));
    LEAT_TRY(leat_image_set_header(set->count, set->size, expected, err));
    if (memcmp(found, expected, sizeof found) == 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_CORRUPT,
                     "\"%s\": its header is not that of %lld images of %d x %d; "
                     "" LEAT_IMAGES_REBUILD,
                     leat_map_path(images->paged.map), (long long)set->count, set->size, set->size);
}

static leat_code fill(leat_images *images, const char *path, leat_error *err) {
    char file_path[LEAT_PATH_BYTES], pages_path[LEAT_PATH_BYTES];
    size_t size = strlen(path);
    LEAT_TRY(leat_images_check_at(path, false, err));
    LEAT_TRY(leat_path_join(file_path, sizeof file_path, path, LEAT_IMAGES_TENSORS_NAME, err));
    LEAT_TRY(leat_path_join(pages_path, sizeof pages_path, path, LEAT_IMAGES_PAGES_NAME, err));
    memcpy(images->path, path, size + 1); /* it is shorter than that of its files */
    LEAT_TRY(leat_image_set_load(&images->set, path, err));
    const leat_tensor_file stated = leat_image_set_file(&images->set);
    LEAT_TRY(leat_page_hashes_load(pages_path, &stated, &images->page_hashes, err));
    LEAT_TRY(leat_tensor_file_map(&images->paged, file_path, &stated, images->page_hashes, err));
    return check_header(images, err);
}

leat_code leat_images_open(leat_images **out, const char *path, leat_error *err) {
    leat_images *images = NULL;
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&images, 1, err));
    leat_code code = fill(images, path, err);
    if (code != LEAT_OK) {
        leat_images_close(images);
        return code;
    }
    *out = images;
    return LEAT_OK;
}

void leat_images_close(leat_images *images) {
    if (images == NULL) return;
    leat_paged_free(&images->paged);
    leat_free(images->page_hashes);
    leat_image_set_free(&images->set);
    leat_free(images);
}

/* ---- what is in it -------------------------------------------------------------------------- */

void leat_images_get_facts(const leat_images *images, leat_images_facts *facts) {
    const leat_image_set *set = &images->set;
    *facts = (leat_images_facts){
        .path = images->path,
        .fingerprint = set->fingerprint,
        .decoded_sha256 = set->decoded_sha256,
        .count = set->count,
        .size = set->size,
        .image_bytes = leat_image_bytes(set->size),
        .rejected = set->rejected,
        .file_bytes = set->file_bytes,
        .sorted_sha256 = set->sorted_sha256,
        .texts = set->texts,
        .background = set->background[0] != 0 ? set->background : "drop",
    };
}

leat_code leat_images_check_index(const leat_images *images, int64_t index, leat_error *err) {
    if (index >= 0 && index < images->set.count) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION, "no image %lld: the data set has %lld", (long long)index,
                     (long long)images->set.count);
}

leat_code leat_images_get_entry(const leat_images *images, int64_t index, leat_image_facts *facts,
                                leat_error *err) {
    *facts = (leat_image_facts){0};
    LEAT_TRY(leat_images_check_index(images, index, err));
    const leat_image_entry entry = leat_image_set_entry(&images->set, index);
    *facts = (leat_image_facts){entry.name, entry.width, entry.height, entry.decoded};
    return LEAT_OK;
}

int64_t leat_images_find(const leat_images *images, const char *name) {
    int64_t low = 0, high = images->set.count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (strcmp(leat_image_set_entry(&images->set, middle).name, name) < 0) low = middle + 1;
        else high = middle;
    }
    bool found =
        low < images->set.count && strcmp(leat_image_set_entry(&images->set, low).name, name) == 0;
    return found ? low : -1;
}

leat_code leat_images_read(const leat_images *images, int64_t index, uint8_t *out,
                           leat_error *err) {
    int32_t size = images->set.size;
    leat_code code = leat_images_check_index(images, index, err);
    if (code != LEAT_OK) {
        memset(out, 0, (size_t)leat_image_bytes(size));
        return code;
    }
    return leat_paged_read(&images->paged, leat_image_place(size, index), leat_image_bytes(size),
                           out, err);
}
