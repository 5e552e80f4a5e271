/*
 * The notes of a run: see job.h. DIR/.leat/images.notes is a header and a record for each file, in
 * order:
 *
 *   header   magic, run (8 bytes each), size, background (4 each), two SHA-256 (32 each), XXH3-64
 *            of all that
 *   record   bytes of its text (2), reason (2), width, height (4 each), decoded, resized (8 each),
 *            remarks (4), text, XXH3-64 of all that and of the file's number
 *
 * Numbers are as in memory: the file is of this machine. A record is only as good as its hash, and
 * the image that it tells of only as good as its own, so that a run which was killed at any moment,
 * or whose bytes did not reach the disk, is continued from the last image that is really there.
 */
#include <string.h>

#include "ingest/images/job.h"

#define MAGIC "leatimg2"

typedef struct head {
    char magic[8];
    uint64_t run;
    leat_image_setting setting;
} head;
enum {
    HEAD_BYTES = 8 + 8 + 4 + 4 + 32 + 32,
    HASH_BYTES = 8,
    RECORD_BYTES = 2 + 2 + 4 + 4 + 8 + 8 + 4
};
_Static_assert(LEAT_IMAGE_WHAT_BYTES < UINT16_MAX, "a text's size fits");

/* ---- the setting ---------------------------------------------------------------------------- */

static void add_number(leat_sha256 *sha, int64_t number) {
    leat_sha256_update(sha, &number, sizeof number);
}

static void add_facts(leat_sha256 *sha, const leat_path_facts *facts) {
    add_number(sha, (int64_t)facts->kind);
    add_number(sha, facts->size_bytes);
    add_number(sha, facts->mtime_ns);
}

static void add_text(leat_sha256 *sha, const char *text) {
    leat_sha256_update(sha, text, (int64_t)strlen(text) + 1);
}

void leat_image_setting_of(const leat_image_list *list, int32_t size, int32_t background,
                           leat_image_setting *out) {
    leat_sha256 files, versions;
    leat_build_item item;
    *out = (leat_image_setting){.size = size, .background = background};
    leat_sha256_init(&files);
    add_facts(&files, &list->facts);
    for (int64_t i = 0; i < list->count; i++) {
        add_text(&files, leat_image_list_name(list, i));
        if (!list->is_zip) add_facts(&files, &list->facts_of[list->files[i].index]);
    }
    leat_sha256_final(&files, out->files);
    leat_sha256_init(&versions);
    add_text(&versions, leat_version());
    for (int i = 0; leat_build_info(i, &item); i++)
        if (strcmp(item.group, "library") == 0 && strncmp(item.name, "lib", 3) == 0)
            add_text(&versions, item.value);
    add_number(&versions, leat_webp_version()); /* the one found here, which decodes */
    leat_sha256_final(&versions, out->versions);
}

/* ---- writing -------------------------------------------------------------------------------- */

static leat_code add_bytes(leat_image_notes *notes, const void *bytes, int64_t size,
                           leat_error *err) {
    return leat_buf_append(&notes->buffer, bytes, size, err);
}

static leat_code notes_path(const char *dir, char path[LEAT_PATH_BYTES], leat_error *err) {
    return leat_path_join(path, LEAT_PATH_BYTES, dir, LEAT_IMAGE_NOTES_NAME, err);
}

static void pack_head(const leat_image_notes_key *key, uint8_t out[HEAD_BYTES + HASH_BYTES]) {
    const leat_image_setting *setting = key->setting;
    memcpy(out, MAGIC, 8);
    memcpy(out + 8, &key->run, 8);
    memcpy(out + 16, &setting->size, 4);
    memcpy(out + 20, &setting->background, 4);
    memcpy(out + 24, setting->files, 32);
    memcpy(out + 56, setting->versions, 32);
    uint64_t hash = leat_xxh3(out, HEAD_BYTES);
    memcpy(out + HEAD_BYTES, &hash, HASH_BYTES);
}

leat_code leat_image_notes_create(leat_image_notes *notes, const leat_image_notes_key *key,
                                  leat_error *err) {
    char path[LEAT_PATH_BYTES];
    uint8_t bytes[HEAD_BYTES + HASH_BYTES];
    *notes = (leat_image_notes){0};
    pack_head(key, bytes);
    LEAT_TRY(notes_path(key->dir, path, err));
    LEAT_TRY(leat_file_open(&notes->file, path, LEAT_FILE_CREATE, err));
    LEAT_TRY(add_bytes(notes, bytes, sizeof bytes, err));
    return leat_image_notes_flush(notes, err);
}

leat_code leat_image_notes_add(leat_image_notes *notes, const leat_image_outcome *outcome,
                               leat_error *err) {
    uint8_t record[RECORD_BYTES + LEAT_IMAGE_WHAT_BYTES + sizeof(int64_t)];
    const uint16_t text_bytes = (uint16_t)strlen(outcome->what);
    const uint16_t reason = (uint16_t)outcome->reason;
    const int64_t size = RECORD_BYTES + text_bytes;
    memcpy(record, &text_bytes, 2);
    memcpy(record + 2, &reason, 2);
    memcpy(record + 4, &outcome->width, 4);
    memcpy(record + 8, &outcome->height, 4);
    memcpy(record + 12, &outcome->decoded, 8);
    memcpy(record + 20, &outcome->resized, 8);
    memcpy(record + 28, &outcome->remarks, 4);
    memcpy(record + RECORD_BYTES, outcome->what, text_bytes);
    memcpy(record + size, &notes->count, sizeof notes->count);
    const uint64_t hash = leat_xxh3(record, size + (int64_t)sizeof notes->count);
    LEAT_TRY(add_bytes(notes, record, size, err));
    LEAT_TRY(add_bytes(notes, &hash, HASH_BYTES, err));
    notes->count++;
    return LEAT_OK;
}

leat_code leat_image_notes_flush(leat_image_notes *notes, leat_error *err) {
    LEAT_TRY(
        leat_file_pwrite(notes->file, notes->buffer.data, notes->buffer.size, notes->offset, err));
    notes->offset += notes->buffer.size;
    notes->buffer.size = 0;
    return LEAT_OK;
}

void leat_image_notes_close(leat_image_notes *notes) {
    leat_file_close(notes->file);
    leat_buf_free(&notes->buffer);
    *notes = (leat_image_notes){0};
}

/* ---- reading -------------------------------------------------------------------------------- */

/* The next record, if all of it is in the `left` bytes and its hash is right; returns its bytes, or
 * 0. */
static int64_t unpack(const uint8_t *at, int64_t left, int64_t i, leat_image_outcome *out) {
    uint8_t record[RECORD_BYTES + LEAT_IMAGE_WHAT_BYTES + sizeof(int64_t)];
    uint16_t text_bytes = 0, reason = 0;
    uint64_t hash = 0;
    *out = (leat_image_outcome){0};
    if (left < RECORD_BYTES + HASH_BYTES) return 0;
    memcpy(&text_bytes, at, 2);
    memcpy(&reason, at + 2, 2);
    const int64_t size = RECORD_BYTES + (int64_t)text_bytes;
    if (text_bytes >= LEAT_IMAGE_WHAT_BYTES || reason > LEAT_IMAGE_TEXT || left < size + HASH_BYTES)
        return 0;
    memcpy(record, at, (size_t)size);
    memcpy(record + size, &i, sizeof i);
    memcpy(&hash, at + size, HASH_BYTES);
    if (leat_xxh3(record, size + (int64_t)sizeof i) != hash) return 0;
    out->reason = (leat_image_reason)reason;
    memcpy(&out->width, at + 4, 4);
    memcpy(&out->height, at + 8, 4);
    memcpy(&out->decoded, at + 12, 8);
    memcpy(&out->resized, at + 20, 8);
    memcpy(&out->remarks, at + 28, 4);
    memcpy(out->what, at + RECORD_BYTES, text_bytes);
    return size + HASH_BYTES;
}

/* Records until one is not there, is damaged, or is not kept. */
static leat_code read_records(leat_image_notes *notes, const uint8_t *bytes, int64_t size_bytes,
                              leat_image_note_fn each, void *context, leat_error *err) {
    for (;;) {
        leat_image_outcome outcome;
        bool keep = true;
        int64_t size =
            unpack(bytes + notes->offset, size_bytes - notes->offset, notes->count, &outcome);
        if (size == 0) return LEAT_OK;
        LEAT_TRY(each(context, notes->count, &outcome, &keep, err));
        if (!keep) return LEAT_OK;
        notes->offset += size;
        notes->count++;
    }
}

static leat_code check_head(const leat_map *map, const leat_image_notes_key *key, bool *usable,
                            leat_error *err) {
    const leat_image_setting *setting = key->setting;
    uint8_t expected[HEAD_BYTES + HASH_BYTES], found[HEAD_BYTES + HASH_BYTES];
    const char *what = NULL;
    int32_t then = 0;
    uint64_t hash = 0;
    *usable = false;
    pack_head(key, expected);
    if (leat_map_size(map) < (int64_t)sizeof found) return LEAT_OK;
    memcpy(found, leat_map_data(map), sizeof found);
    memcpy(&hash, found + HEAD_BYTES, HASH_BYTES);
    if (leat_xxh3(found, HEAD_BYTES) != hash || memcmp(found, expected, 16) != 0) return LEAT_OK;
    memcpy(&then, found + 16, 4);
    if (then != setting->size)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "cannot resume: --size was %d and is now %d; use the options of the "
                         "interrupted run, or --replace",
                         then, setting->size);
    if (memcmp(found + 20, expected + 20, 4) != 0) what = "--background was another one";
    else if (memcmp(found + 24, expected + 24, 32) != 0)
        what = "the files are not those of the interrupted run, or have changed since";
    else if (memcmp(found + 56, expected + 56, 32) != 0)
        what = "the interrupted run had another version of leat or of a decoder";
    *usable = what == NULL;
    if (what == NULL) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION, "cannot resume: %s; use --replace to start over", what);
}

/* The file may end anywhere; what is read of it must not be the system's zeros. */
static leat_code read_notes(leat_image_notes *notes, const leat_map *map, leat_image_note_fn each,
                            void *context, leat_error *err) {
    notes->offset = HEAD_BYTES + HASH_BYTES;
    LEAT_TRY(read_records(notes, leat_map_data(map), leat_map_size(map), each, context, err));
    return leat_map_check(map, err);
}

leat_code leat_image_notes_open(leat_image_notes *notes, const leat_image_notes_key *key,
                                leat_image_note_fn each, void *context, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_path_facts facts;
    leat_map *map = NULL;
    bool usable = false;
    *notes = (leat_image_notes){0};
    LEAT_TRY(notes_path(key->dir, path, err));
    LEAT_TRY(leat_path_stat(path, &facts, err));
    leat_code code = LEAT_OK;
    if (facts.kind == LEAT_PATH_FILE && facts.size_bytes > 0) {
        LEAT_TRY(leat_map_open(&map, path, err));
        code = check_head(map, key, &usable, err);
        if (code == LEAT_OK && usable) code = read_notes(notes, map, each, context, err);
        leat_map_close(map);
    }
    LEAT_TRY(code);
    if (!usable) return leat_image_notes_create(notes, key, err);
    LEAT_TRY(leat_file_open(&notes->file, path, LEAT_FILE_OWN, err));
    return leat_file_truncate(notes->file, notes->offset, err);
}
