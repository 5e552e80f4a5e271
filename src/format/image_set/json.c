/*
 * images.json. .complete has its hash, so that a flipped bit is found; but a data set may come from
 * anywhere, so the document is bounded and checked as if there were no hash. Images are walked, one
 * at a time; everything else is small.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/image_set/image_set.h"

/* Text of what is not walked; of an image, each byte of whose name may be an escape. */
#define SMALL_BYTES_MAX (INT64_C(1) << 16)
#define ENTRY_BYTES_MAX (6 * LEAT_IMAGE_NAME_BYTES + 128)
#define WHAT_BYTES 320
/* Files in rejected.csv, of which there may be more than images. */
#define REJECTED_MAX (INT64_C(1) << 50)

const leat_documents leat_image_documents = {
    .thing = "image data set",
    .rebuild = LEAT_IMAGES_REBUILD,
    .too_large = "too many images, or names too long, for one data set",
    .count = 1,
    .names = {LEAT_IMAGES_NAME},
};

/* ---- rules ---------------------------------------------------------------------------------- */

static leat_code bad(leat_error *err, const char *problem) {
    return leat_fail(err, LEAT_ERR_INPUT, "image data set: %s", problem);
}

/* Of all but the entries, which are checked when they are added. */
static leat_code check_set(const leat_image_set *set, leat_error *err) {
    uint8_t bytes[32];
    char decoded[65];
    if (set->count < 1) return bad(err, "it has no image");
    if (set->size < LEAT_IMAGES_SIZE_MIN || set->size > LEAT_IMAGES_SIZE_MAX)
        return leat_fail(err, LEAT_ERR_INPUT, "image data set: size is %d; it must be %d to %d",
                         set->size, LEAT_IMAGES_SIZE_MIN, LEAT_IMAGES_SIZE_MAX);
    if (set->rejected < 0 || set->rejected > REJECTED_MAX)
        return bad(err, "the number of rejected files is out of range");
    if (set->file_bytes != leat_image_place(set->size, set->count))
        return leat_fail(err, LEAT_ERR_INPUT,
                         "image data set: a file of %lld bytes for %lld images of %d x %d; it must "
                         "have %lld",
                         (long long)set->file_bytes, (long long)set->count, set->size, set->size,
                         (long long)leat_image_place(set->size, set->count));
    if (!leat_sha256_parse(set->fingerprint, bytes))
        return bad(err, "the fingerprint is not 64 hexadecimal digits");
    leat_image_set_decoded_sha256(set, decoded);
    if (strcmp(decoded, set->decoded_sha256) != 0)
        return bad(err, "decoded_sha256 is not the SHA-256 of the hashes of its images");
    return LEAT_OK;
}

/* ---- written -------------------------------------------------------------------------------- */

static void put_hash(char text[17], uint64_t hash) {
    snprintf(text, 17, "%016llx", (unsigned long long)hash);
}

static void put_entry(leat_json *json, const leat_image_entry *entry) {
    char hash[17];
    put_hash(hash, entry->decoded);
    leat_json_begin_array(json);
    leat_json_on_line(json, true);
    leat_json_string(json, entry->name);
    leat_json_int(json, entry->width);
    leat_json_int(json, entry->height);
    leat_json_string(json, hash);
    leat_json_end_array(json);
    leat_json_on_line(json, false);
}

static void put_set(leat_json *json, const void *of) {
    const leat_image_set *set = of;
    char hash[17];
    put_hash(hash, set->pages_hash);
    leat_json_begin_object(json);
    leat_json_member_string(json, "format", LEAT_IMAGES_FORMAT);
    leat_json_member_int(json, "version", LEAT_IMAGES_VERSION);
    leat_json_member_int(json, "count", set->count);
    leat_json_member_int(json, "size", set->size);
    leat_json_member_string(json, "fingerprint", set->fingerprint);
    leat_json_member_string(json, "decoded_sha256", set->decoded_sha256);
    if (set->sorted_sha256[0] != 0)
        leat_json_member_string(json, "sorted_sha256", set->sorted_sha256);
    leat_json_member_int(json, "rejected", set->rejected);
    if (set->texts > 0) leat_json_member_int(json, "texts", set->texts);
    if (set->background[0] != 0) leat_json_member_string(json, "background", set->background);
    leat_json_member_int(json, "file_bytes", set->file_bytes);
    leat_json_member_string(json, "pages_xxh3", hash);
    leat_json_key(json, "images");
    leat_json_begin_array(json);
    for (int64_t i = 0; i < set->count; i++) {
        const leat_image_entry entry = leat_image_set_entry(set, i);
        put_entry(json, &entry);
    }
    leat_json_end_array(json);
    leat_json_end_object(json);
}

leat_code leat_image_set_write(const leat_image_set *set, leat_json_out_fn out, void *context,
                               leat_error *err) {
    LEAT_TRY(check_set(set, err));
    return leat_document_write(&leat_image_documents, 0, put_set, set, out, context, err);
}

/* ---- read ----------------------------------------------------------------------------------- */

static bool parse_hash(const char *text, uint64_t *hash) {
    char again[17];
    *hash = strtoull(text, NULL, 16);
    put_hash(again, *hash);
    return strcmp(text, again) == 0;
}

static bool is_colour(const char *text) {
    return text[0] == '#' && strlen(text) == 7 && strspn(text + 1, "0123456789abcdef") == 6;
}

static leat_code get_digits(const json_t *root, const char *key, char out[65], const char *what,
                            leat_error *err) {
    const char *text = NULL;
    uint8_t bytes[32];
    LEAT_TRY(leat_json_get_string(root, key, &text, what, err));
    if (!leat_sha256_parse(text, bytes))
        return leat_fail(err, LEAT_ERR_CORRUPT, "%s: member \"%s\" must be 64 hexadecimal digits",
                         what, key);
    memcpy(out, text, 65);
    return LEAT_OK;
}

static leat_code check_version(const json_t *root, const char *what, leat_error *err) {
    int64_t version = 0;
    LEAT_TRY(leat_json_expect_string(root, "format", LEAT_IMAGES_FORMAT, what, err));
    LEAT_TRY(leat_json_get_int(root, "version", 1, INT32_MAX, &version, what, err));
    if (version == LEAT_IMAGES_VERSION) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                     "%s has version %lld, but this version of leat reads %d; use a newer leat",
                     what, (long long)version, LEAT_IMAGES_VERSION);
}

/* Members that were added later, or are written only if there is something to say. */
static leat_code read_optional(leat_image_set *set, const json_t *root, const char *what,
                               leat_error *err) {
    const char *background = NULL;
    if (json_object_get(root, "sorted_sha256") != NULL)
        LEAT_TRY(get_digits(root, "sorted_sha256", set->sorted_sha256, what, err));
    if (json_object_get(root, "texts") != NULL)
        LEAT_TRY(leat_json_get_int(root, "texts", 0, REJECTED_MAX, &set->texts, what, err));
    if (json_object_get(root, "background") == NULL) return LEAT_OK;
    LEAT_TRY(leat_json_get_string(root, "background", &background, what, err));
    if (!is_colour(background))
        return leat_fail(err, LEAT_ERR_CORRUPT, "%s: member \"background\" must be #rrggbb", what);
    memcpy(set->background, background, sizeof set->background);
    return LEAT_OK;
}

static leat_code read_facts(leat_image_set *set, const json_t *root, int64_t *count,
                            const char *what, leat_error *err) {
    const char *pages = NULL;
    int64_t size = 0;
    LEAT_TRY(check_version(root, what, err));
    LEAT_TRY(leat_json_get_int(root, "count", 1, LEAT_IMAGES_COUNT_MAX, count, what, err));
    LEAT_TRY(leat_json_get_int(root, "size", LEAT_IMAGES_SIZE_MIN, LEAT_IMAGES_SIZE_MAX, &size,
                               what, err));
    set->size = (int32_t)size;
    LEAT_TRY(get_digits(root, "fingerprint", set->fingerprint, what, err));
    LEAT_TRY(get_digits(root, "decoded_sha256", set->decoded_sha256, what, err));
    LEAT_TRY(leat_json_get_int(root, "rejected", 0, REJECTED_MAX, &set->rejected, what, err));
    LEAT_TRY(read_optional(set, root, what, err));
    LEAT_TRY(leat_json_get_int(root, "file_bytes", 1, INT64_MAX, &set->file_bytes, what, err));
    LEAT_TRY(leat_json_get_string(root, "pages_xxh3", &pages, what, err));
    if (parse_hash(pages, &set->pages_hash)) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_CORRUPT, "%s: member \"pages_xxh3\" must be 16 hex digits",
                     what);
}

static bool get_side(const json_t *item, int32_t *side) {
    json_int_t value = json_integer_value(item);
    *side = (int32_t)value;
    return json_is_integer(item) && value >= 1 && value <= LEAT_IMAGE_SIDE_MAX;
}

/* ["name", width, height, "hash"] */
static leat_code add_entry(leat_image_set *set, const leat_json_walk *walk, leat_error *err) {
    json_t *item = NULL;
    leat_image_entry entry = {0};
    LEAT_TRY(leat_json_walk_value(walk, ENTRY_BYTES_MAX, &item, err));
    const char *hash = json_string_value(json_array_get(item, 3));
    entry.name = json_string_value(json_array_get(item, 0));
    bool good = json_array_size(item) == 4 && entry.name != NULL && hash != NULL &&
                get_side(json_array_get(item, 1), &entry.width) &&
                get_side(json_array_get(item, 2), &entry.height) &&
                parse_hash(hash, &entry.decoded);
    leat_code code = LEAT_OK;
    if (!good)
        code = leat_fail(err, LEAT_ERR_CORRUPT,
                         "%s: image %lld must be [name, width, height, 16 hex digits]", walk->what,
                         (long long)set->count);
    else code = leat_image_set_add(set, &entry, err);
    json_decref(item);
    if (code == LEAT_ERR_INPUT) code = leat_error_context(err, LEAT_ERR_CORRUPT, "%s", walk->what);
    return code;
}

static leat_code add_entries(leat_image_set *set, leat_json_span text, int64_t count,
                             const char *what, leat_error *err) {
    leat_json_walk walk;
    bool more = true;
    LEAT_TRY(leat_json_walk_array(&walk, text, what, err));
    while (true) {
        LEAT_TRY(leat_json_walk_next(&walk, &more, err));
        if (!more) break;
        LEAT_TRY(add_entry(set, &walk, err));
    }
    if (set->count == count) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_CORRUPT, "%s: it lists %lld images, but \"count\" is %lld", what,
                     (long long)set->count, (long long)count);
}

static leat_code parse(leat_image_set *set, leat_json_span text, const char *what,
                       leat_error *err) {
    static const char *const large[] = {"images"};
    leat_json_span entries;
    json_t *root = NULL;
    int64_t count = 0;
    LEAT_TRY(leat_json_split(text, (leat_json_large){large, 1, &entries}, SMALL_BYTES_MAX, what,
                             &root, err));
    leat_code code = read_facts(set, root, &count, what, err);
    json_decref(root);
    LEAT_TRY(code);
    if (entries.text == NULL)
        return leat_fail(err, LEAT_ERR_CORRUPT, "%s: member \"images\" is missing", what);
    LEAT_TRY(add_entries(set, entries, count, what, err));
    code = check_set(set, err);
    return code == LEAT_OK ? code : leat_error_context(err, LEAT_ERR_CORRUPT, "%s", what);
}

leat_code leat_image_set_parse(leat_image_set *set, leat_json_span text, const char *what,
                               leat_error *err) {
    *set = (leat_image_set){0};
    leat_code code = parse(set, text, what, err);
    if (code != LEAT_OK) leat_image_set_free(set);
    return code;
}

leat_code leat_image_set_load(leat_image_set *set, const char *dir, leat_error *err) {
    char sha256[1][65], path[LEAT_PATH_BYTES], what[WHAT_BYTES];
    uint8_t *text = NULL;
    int64_t size_bytes = 0;
    *set = (leat_image_set){0};
    LEAT_TRY(leat_complete_load(&leat_image_documents, dir, sha256, err));
    LEAT_TRY(leat_document_load(&leat_image_documents, 0, dir, sha256[0], &text, &size_bytes, err));
    leat_code code = leat_path_join(path, sizeof path, dir, LEAT_IMAGES_NAME, err);
    snprintf(what, sizeof what, "\"%.240s\"", path);
    if (code == LEAT_OK)
        code =
            leat_image_set_parse(set, (leat_json_span){(const char *)text, size_bytes}, what, err);
    leat_free(text);
    return code;
}
