/*
 * From a file to S x S pixels: see job.h. What a file requires is known from its header, before
 * more than a buffer's worth of it is read: its bytes, the decoder's memory, the resizer's. A
 * thread takes that from the budget, all at once, and returns it with the memory when the picture
 * is done; small buffers stay with the thread.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "format/image/image.h"
#include "ingest/images/job.h"
#include "ingest/images/resize.h"

struct leat_picture_maker {
    leat_picture_source *source;
    uint8_t *kept; /* [LEAT_IMAGE_KEPT_FILE_BYTES] */
    leat_resize *resize;
    leat_xxh3_run *hash;
    /* of the picture being decoded */
    int64_t row_bytes;
};

/* ---- shared by threads ---------------------------------------------------------------------- */

static leat_code open_archives(leat_picture_source *source, leat_error *err) {
    LEAT_TRY(LEAT_NEW(&source->archives, source->memory->archives, err));
    source->archives[source->archive_count++] = source->list->zip;
    while (source->archive_count < source->memory->archives) {
        leat_zip *zip = NULL;
        LEAT_TRY(leat_zip_open(&zip, source->list->path, err));
        source->archives[source->archive_count++] = zip;
    }
    source->archives_free = source->archive_count;
    return LEAT_OK;
}

leat_code leat_picture_source_create(leat_picture_source *source, const leat_image_list *list,
                                     int32_t size, int32_t background,
                                     const leat_images_memory *memory, leat_error *err) {
    *source = (leat_picture_source){
        .list = list, .size = size, .background = background, .memory = memory};
    leat_budget_create(&source->budget, memory->budget_bytes);
    pthread_mutex_init(&source->lock, NULL);
    pthread_cond_init(&source->freed, NULL);
    leat_code code = list->is_zip ? open_archives(source, err) : LEAT_OK;
    if (code != LEAT_OK) leat_picture_source_destroy(source);
    return code;
}

/* The first archive is the list's. */
void leat_picture_source_destroy(leat_picture_source *source) {
    for (int i = 0; i < source->archive_count; i++)
        if (source->archives[i] != source->list->zip) leat_zip_close(source->archives[i]);
    leat_free(source->archives);
    pthread_cond_destroy(&source->freed);
    pthread_mutex_destroy(&source->lock);
    leat_budget_destroy(&source->budget);
}

static leat_zip *take_archive(leat_picture_source *source) {
    if (!source->list->is_zip) return NULL;
    pthread_mutex_lock(&source->lock);
    while (source->archives_free == 0) pthread_cond_wait(&source->freed, &source->lock);
    leat_zip *zip = source->archives[--source->archives_free];
    pthread_mutex_unlock(&source->lock);
    return zip;
}

static void return_archive(leat_picture_source *source, leat_zip *zip) {
    if (zip == NULL) return;
    pthread_mutex_lock(&source->lock);
    source->archives[source->archives_free++] = zip;
    pthread_cond_signal(&source->freed);
    pthread_mutex_unlock(&source->lock);
}

/* ---- a thread's ----------------------------------------------------------------------------- */

leat_code leat_picture_maker_create(leat_picture_maker **out, leat_picture_source *source,
                                    leat_error *err) {
    leat_picture_maker *maker = NULL;
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&maker, 1, err));
    maker->source = source;
    leat_code code = LEAT_NEW(&maker->kept, LEAT_IMAGE_KEPT_FILE_BYTES, err);
    if (code == LEAT_OK) code = leat_xxh3_create(&maker->hash, err);
    if (code == LEAT_OK) *out = maker;
    else leat_picture_maker_destroy(maker);
    return code;
}

void leat_picture_maker_destroy(leat_picture_maker *maker) {
    if (maker == NULL) return;
    leat_free(maker->kept);
    leat_resize_destroy(maker->resize);
    leat_xxh3_destroy(maker->hash);
    leat_free(maker);
}

/* ---- reading -------------------------------------------------------------------------------- */

/* What is wrong with a file goes from the message to its outcome. */
static leat_code settle(leat_code code, leat_image_reason reason, const leat_error *why,
                        leat_image_outcome *outcome, leat_error *err) {
    if (code == LEAT_OK) return LEAT_OK;
    if (reason == LEAT_IMAGE_GOOD) return leat_error_copy(err, why);
    outcome->reason = reason;
    /* a character at the end is shown complete or not at all */
    leat_text_show(outcome->what, sizeof outcome->what, why->message,
                   (int64_t)strlen(why->message));
    return LEAT_OK;
}

static leat_code read_bytes(leat_picture_maker *maker, int64_t i, uint8_t *out, int64_t size_bytes,
                            leat_image_outcome *outcome, leat_error *err) {
    leat_picture_source *source = maker->source;
    leat_error why = {0};
    leat_image_reason reason;
    leat_zip *zip = take_archive(source);
    leat_code code = leat_image_list_read(source->list, zip, i, out, size_bytes, &reason, &why);
    return_archive(source, zip);
    return settle(code, reason, &why, outcome, err);
}

static void reject(leat_image_outcome *outcome, leat_image_reason reason, const char *format,
                   int64_t number) {
    outcome->reason = reason;
    snprintf(outcome->what, sizeof outcome->what, format, (long long)number);
}

/* What can be said before a file is read. */
static void check_file(const leat_image_list *list, int64_t i, leat_image_outcome *outcome) {
    const char *name = leat_image_list_name(list, i);
    const char *bad = leat_image_list_bad_name(list, i);
    const int64_t name_bytes = (int64_t)strlen(name);
    if (name_bytes == 0 || name_bytes >= LEAT_IMAGE_NAME_BYTES)
        reject(outcome, LEAT_IMAGE_UNSUPPORTED, "the name has %lld bytes; it must have 1 to 4095",
               name_bytes);
    else if (!leat_json_is_utf8(name, name_bytes))
        reject(outcome, LEAT_IMAGE_UNSUPPORTED, "the name of %lld bytes is not UTF-8", name_bytes);
    else if (bad != NULL) reject(outcome, LEAT_IMAGE_BAD_NAME, bad, 0);
    else if (list->files[i].size_bytes > LEAT_IMAGE_FILE_BYTES_MAX)
        reject(outcome, LEAT_IMAGE_TOO_LARGE, "the file has %lld bytes; the limit is 268435456",
               list->files[i].size_bytes);
}

/* Whether a file is meant to be a text. Any other may be an image in whose place a server has sent
 * an error, or of a format that is written as text, and must not be missed. */
static bool is_named_as_text(const char *name) {
    static const char *const suffixes[] = {
        ".txt",  ".md",  ".csv", ".tsv", ".json", ".jsonl", ".xml",
        ".yaml", ".yml", ".log", ".ini", ".cfg",  ".py",    ".sh",
    };
    static const char *const names[] = {"README",  "LICENSE", "LICENCE",   "COPYING",
                                        "NOTICE",  "AUTHORS", "CHANGELOG", "CITATION",
                                        "VERSION", "MD5SUMS", "SHA256SUMS"};
    const char *slash = strrchr(name, '/'), *last = slash == NULL ? name : slash + 1;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (leat_path_has_suffix_any_case(name, suffixes[i])) return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcasecmp(last, names[i]) == 0) return true;
    return false;
}

/* Readmes, labels and lists are often among images. */
static void skip_text(const leat_picture_maker *maker, int64_t i, int64_t size_bytes,
                      leat_image_outcome *outcome) {
    const char *name = leat_image_list_name(maker->source->list, i);
    if (outcome->reason != LEAT_IMAGE_NOT_AN_IMAGE || !is_named_as_text(name) ||
        !leat_image_is_text(maker->kept, size_bytes))
        return;
    outcome->reason = LEAT_IMAGE_TEXT;
    outcome->what[0] = 0;
}

/* ---- what it requires ----------------------------------------------------------------------- */

static int64_t need_of(const leat_picture_maker *maker, const leat_image_header *header,
                       int64_t file_bytes) {
    int64_t resize = leat_resize_memory(maker->source->size, header->width, header->height);
    int64_t need = header->memory_bytes;
    if (file_bytes > LEAT_IMAGE_KEPT_FILE_BYTES) need += file_bytes;
    if (resize > LEAT_IMAGE_KEPT_RESIZE_BYTES) need += resize;
    return need;
}

/*
 * Reads the beginning of a file, or all of a small one, and its header. *need_bytes is 0 if the
 * beginning does not tell: then only the whole file does.
 */
static leat_code look(leat_picture_maker *maker, int64_t i, leat_image_header *header,
                      leat_image_outcome *outcome, int64_t *need_bytes, leat_error *err) {
    const int64_t file_bytes = maker->source->list->files[i].size_bytes;
    const bool small = file_bytes <= LEAT_IMAGE_KEPT_FILE_BYTES;
    const int64_t size_bytes = small ? file_bytes : LEAT_IMAGE_KEPT_FILE_BYTES;
    leat_error why = {0};
    leat_image_reason reason;
    *need_bytes = 0;
    check_file(maker->source->list, i, outcome);
    if (outcome->reason == LEAT_IMAGE_GOOD)
        LEAT_TRY(read_bytes(maker, i, maker->kept, size_bytes, outcome, err));
    if (outcome->reason != LEAT_IMAGE_GOOD) return LEAT_OK;
    leat_code code = leat_image_look(maker->kept, size_bytes, header, &reason, &why);
    if (code != LEAT_OK && reason == LEAT_IMAGE_TRUNCATED && !small) return LEAT_OK;
    LEAT_TRY(settle(code, reason, &why, outcome, err));
    if (code == LEAT_OK) *need_bytes = need_of(maker, header, file_bytes);
    else skip_text(maker, i, size_bytes, outcome);
    return LEAT_OK;
}

leat_code leat_picture_need(leat_picture_maker *maker, int64_t i, int64_t *need_bytes,
                            leat_error *err) {
    leat_image_outcome outcome = {.reason = LEAT_IMAGE_GOOD};
    leat_image_header header;
    LEAT_TRY(look(maker, i, &header, &outcome, need_bytes, err));
    bool unknown = outcome.reason == LEAT_IMAGE_GOOD && *need_bytes == 0;
    if (unknown) *need_bytes = maker->source->list->files[i].size_bytes;
    return LEAT_OK;
}

static leat_code refuse(const leat_picture_maker *maker, int64_t i, const leat_image_header *header,
                        int64_t need_bytes, leat_error *err) {
    const leat_picture_source *source = maker->source;
    return leat_fail(err, LEAT_ERR_LIMIT,
                     "\"%s\" of %d x %d pixels: the memory limit of %lld MiB is too low to decode "
                     "it; use --memory %lldM",
                     leat_image_list_name(source->list, i), header->width, header->height,
                     (long long)(source->memory->limit_bytes >> 20),
                     (long long)leat_images_memory_for(source->memory, need_bytes));
}

/* ---- decoding ------------------------------------------------------------------------------- */

static leat_code take_rows(void *context, const uint8_t *rgb, int32_t rows, leat_error *err) {
    leat_picture_maker *maker = context;
    (void)err;
    leat_xxh3_update(maker->hash, rgb, rows * maker->row_bytes);
    leat_resize_rows(maker->resize, rgb, rows);
    return LEAT_OK;
}

/* A picture that is made: where its parts go. */
typedef struct picture {
    int64_t i; /* of the list */
    leat_image_header header;
    uint8_t *pixels; /* resized */
    leat_image_outcome *outcome;
    int64_t *need_bytes; /* to decode it; 0: not known yet */
} picture;

static leat_code decode(leat_picture_maker *maker, picture *of, const uint8_t *bytes,
                        int64_t size_bytes, leat_error *err) {
    const int32_t size = maker->source->size;
    leat_image_header *header = &of->header;
    leat_image_outcome *outcome = of->outcome;
    leat_error why = {0};
    leat_image_reason reason;
    if (maker->resize == NULL) LEAT_TRY(leat_resize_create(&maker->resize, size, err));
    LEAT_TRY(leat_resize_begin(maker->resize, header->width, header->height, of->pixels, err));
    leat_xxh3_begin(maker->hash);
    header->background = maker->source->background;
    maker->row_bytes = (int64_t)header->width * 3;
    leat_code code = leat_image_decode(bytes, size_bytes, header, take_rows, maker, &reason, &why);
    LEAT_TRY(settle(code, reason, &why, outcome, err));
    if (code != LEAT_OK) return LEAT_OK;
    outcome->width = header->width;
    outcome->height = header->height;
    outcome->decoded = leat_xxh3_final(maker->hash);
    outcome->remarks = header->remarks;
    outcome->resized = leat_image_hash(of->pixels, size);
    return LEAT_OK;
}

/* Reads a file that does not fit into the kept buffer, and looks again: all of it may say more than
 * its beginning did. */
static leat_code read_large(leat_picture_maker *maker, picture *of, uint8_t *bytes,
                            leat_error *err) {
    const int64_t file_bytes = maker->source->list->files[of->i].size_bytes;
    leat_image_outcome *outcome = of->outcome;
    leat_error why = {0};
    leat_image_reason reason;
    LEAT_TRY(read_bytes(maker, of->i, bytes, file_bytes, outcome, err));
    if (outcome->reason != LEAT_IMAGE_GOOD) return LEAT_OK;
    leat_code code = leat_image_look(bytes, file_bytes, &of->header, &reason, &why);
    LEAT_TRY(settle(code, reason, &why, outcome, err));
    if (code == LEAT_OK) *of->need_bytes = need_of(maker, &of->header, file_bytes);
    return LEAT_OK;
}

/* With taken_bytes of the budget. *need_bytes is more if that is not enough: nothing is decoded
 * then. */
static leat_code make_large(leat_picture_maker *maker, picture *of, int64_t taken_bytes,
                            leat_error *err) {
    const int64_t file_bytes = maker->source->list->files[of->i].size_bytes;
    uint8_t *bytes = NULL;
    LEAT_TRY(leat_block_alloc((void **)&bytes, file_bytes, err));
    leat_code code = read_large(maker, of, bytes, err);
    bool good = code == LEAT_OK && of->outcome->reason == LEAT_IMAGE_GOOD;
    if (good && *of->need_bytes > maker->source->memory->budget_bytes)
        code = refuse(maker, of->i, &of->header, *of->need_bytes, err);
    else if (good && *of->need_bytes <= taken_bytes)
        code = decode(maker, of, bytes, file_bytes, err);
    leat_block_free(bytes, file_bytes);
    return code;
}

/* A resizer for a large picture, or of a size that is not known here, is not kept. */
static void drop_resize(leat_picture_maker *maker, const leat_image_outcome *outcome) {
    if (outcome->width > 0 && leat_resize_memory(maker->source->size, outcome->width,
                                                 outcome->height) <= LEAT_IMAGE_KEPT_RESIZE_BYTES)
        return;
    leat_resize_destroy(maker->resize);
    maker->resize = NULL;
}

leat_code leat_picture_make(leat_picture_maker *maker, int64_t i, uint8_t *pixels,
                            leat_image_outcome *outcome, int64_t *need_bytes, leat_error *err) {
    leat_picture_source *source = maker->source;
    const int64_t file_bytes = source->list->files[i].size_bytes;
    const int64_t all = source->memory->budget_bytes;
    picture of = {.i = i, .pixels = pixels, .outcome = outcome, .need_bytes = need_bytes};
    *outcome = (leat_image_outcome){.reason = LEAT_IMAGE_GOOD};
    LEAT_TRY(look(maker, i, &of.header, outcome, need_bytes, err));
    if (outcome->reason != LEAT_IMAGE_GOOD) return LEAT_OK;
    if (*need_bytes > all || (*need_bytes == 0 && file_bytes > all)) {
        if (*need_bytes == 0) *need_bytes = file_bytes;
        return refuse(maker, i, &of.header, *need_bytes, err);
    }
    leat_code code = LEAT_OK;
    int64_t taken = *need_bytes > 0 ? *need_bytes : all;
    leat_budget_take(&source->budget, taken);
    if (file_bytes <= LEAT_IMAGE_KEPT_FILE_BYTES) {
        code = decode(maker, &of, maker->kept, file_bytes, err);
    } else {
        code = make_large(maker, &of, taken, err);
        if (code == LEAT_OK && outcome->reason == LEAT_IMAGE_GOOD && *need_bytes > taken) {
            leat_budget_return(&source->budget, taken);
            taken = all;
            leat_budget_take(&source->budget, taken);
            code = make_large(maker, &of, taken, err);
        }
    }
    drop_resize(maker, outcome);
    leat_budget_return(&source->budget, taken);
    return code;
}
