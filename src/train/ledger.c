/* See ledger.h. */
#include "train/ledger.h"

#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/lines.h"
#include "train/open.h"

/* How each line begins: our writer's members come in this order. */
static const char before_key[] = "{\"before\":\"", kind_key[] = "\",\"kind\":\"";
enum { BEFORE_AT = sizeof before_key - 1, KIND_AT = BEFORE_AT + 64 + sizeof kind_key - 1 };

static const char none[65] = "0000000000000000000000000000000000000000000000000000000000000000";

/* ---- read ----------------------------------------------------------------------------------- */

/* Whether a line is one of a ledger, whatever the one before it is. */
static bool is_ours(const leat_line *line) {
    uint8_t digest[32];
    char before[65];
    const char *text = line->data;
    if (line->fault != LEAT_LINE_GOOD || line->size_bytes < KIND_AT + 2) return false;
    if (memcmp(text, before_key, BEFORE_AT) != 0) return false;
    if (memcmp(text + BEFORE_AT + 64, kind_key, sizeof kind_key - 1) != 0) return false;
    memcpy(before, text + BEFORE_AT, 64);
    before[64] = 0;
    return leat_sha256_parse(before, digest) && text[line->size_bytes - 1] == '}';
}

static bool is_kind(const leat_line *line, const char *kind) {
    const int64_t length = (int64_t)strlen(kind);
    return line->size_bytes > KIND_AT + length && line->data[KIND_AT + length] == '"' &&
           memcmp(line->data + KIND_AT, kind, (size_t)length) == 0;
}

static void hash_line(const char *text, int64_t size_bytes, char out[65]) {
    uint8_t digest[32];
    leat_sha256 sha;
    leat_sha256_init(&sha);
    leat_sha256_update(&sha, text, size_bytes);
    leat_sha256_update(&sha, "\n", 1);
    leat_sha256_final(&sha, digest);
    leat_sha256_hex(digest, out);
}

static void count(leat_run_ledger *out, const leat_line *line) {
    out->lines++;
    out->steps += is_kind(line, "step");
    out->units += is_kind(line, "unit");
    out->refused += is_kind(line, "refused");
}

/* Where the last complete line ends: *end. The beginning of a line that a killed process has left,
 * or zeros where a power failure has left a page, may come after it, but no other line. */
static leat_code scan(const char *path, leat_run_ledger *out, int64_t *end, leat_error *err) {
    const leat_lines_options plain = {0};
    leat_lines *lines = NULL;
    leat_line line;
    bool found = true, torn = false;
    *out = (leat_run_ledger){0};
    *end = 0;
    memcpy(out->head, none, sizeof none);
    LEAT_TRY(leat_lines_open(&lines, path, &plain, err));
    leat_code code = LEAT_OK;
    while (code == LEAT_OK) {
        const int64_t begin = leat_lines_position(lines);
        code = leat_lines_next(lines, &line, &found, err);
        if (code != LEAT_OK || !found) break;
        const bool whole = leat_lines_position(lines) == begin + line.size_bytes + 1;
        const bool ours = whole && is_ours(&line);
        if (!ours && (!whole || memchr(line.data, 0, (size_t)line.size_bytes) != NULL)) {
            torn = true;
            continue;
        }
        if (torn || !ours || memcmp(line.data + BEFORE_AT, out->head, 64) != 0)
            code =
                leat_fail(err, LEAT_ERR_CORRUPT,
                          "\"%.300s\": line %lld does not follow from the line before it: a line "
                          "was changed, inserted or removed; move the file away to begin a new "
                          "ledger",
                          path, (long long)line.number);
        hash_line(line.data, line.size_bytes, out->head);
        count(out, &line);
        *end = leat_lines_position(lines);
    }
    leat_lines_close(lines);
    if (code != LEAT_OK) *out = (leat_run_ledger){0};
    return code;
}

leat_code leat_run_ledger_load(const leat_run *run, leat_run_ledger *out, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_path_facts facts;
    int64_t end = 0;
    *out = (leat_run_ledger){0};
    LEAT_TRY(leat_run_folder_join(&run->folder, LEAT_RUN_LEDGER, path, err));
    LEAT_TRY(leat_path_stat(path, &facts, err));
    return facts.kind == LEAT_PATH_NONE ? LEAT_OK : scan(path, out, &end, err);
}

/* ---- written -------------------------------------------------------------------------------- */

leat_code leat_ledger_open(leat_ledger *ledger, const char *path, leat_error *err) {
    leat_path_facts facts;
    leat_run_ledger found;
    *ledger = (leat_ledger){0};
    memcpy(ledger->head, none, sizeof none);
    LEAT_TRY(leat_path_stat(path, &facts, err));
    if (facts.kind == LEAT_PATH_NONE)
        return leat_file_open(&ledger->file, path, LEAT_FILE_NEW, err);
    LEAT_TRY(scan(path, &found, &ledger->size_bytes, err));
    memcpy(ledger->head, found.head, sizeof found.head);
    LEAT_TRY(leat_file_open(&ledger->file, path, LEAT_FILE_OWN, err));
    leat_code code = leat_file_truncate(ledger->file, ledger->size_bytes, err);
    if (code != LEAT_OK) leat_ledger_close(ledger);
    return code;
}

void leat_ledger_close(leat_ledger *ledger) {
    leat_file_close(ledger->file);
    leat_buf_free(&ledger->unwritten);
    *ledger = (leat_ledger){0};
}

leat_code leat_ledger_begin(const leat_ledger *ledger, const char *kind, leat_json **json,
                            leat_error *err) {
    LEAT_TRY(leat_json_create(json, true, err));
    leat_json_begin_object(*json);
    leat_json_member_string(*json, "before", ledger->head);
    leat_json_member_string(*json, "kind", kind);
    return LEAT_OK;
}

leat_code leat_ledger_end(leat_ledger *ledger, leat_json *json, leat_error *err) {
    const char *text = NULL;
    int64_t size = 0;
    leat_json_end_object(json);
    leat_code code = leat_json_finish(json, &text, &size, err);
    if (code == LEAT_OK) code = leat_buf_append(&ledger->unwritten, text, size, err);
    if (code == LEAT_OK) {
        const leat_line line = {.data = (char *)(uintptr_t)text, .size_bytes = size - 1};
        const bool readable = is_ours(&line);
        LEAT_ASSERT(readable);
        hash_line(text, size - 1, ledger->head);
    }
    leat_json_destroy(json);
    return code;
}

leat_code leat_ledger_sync(leat_ledger *ledger, leat_error *err) {
    if (ledger->unwritten.size == 0) return LEAT_OK;
    LEAT_TRY(leat_file_pwrite(ledger->file, ledger->unwritten.data, ledger->unwritten.size,
                              ledger->size_bytes, err));
    LEAT_TRY(leat_file_sync(ledger->file, err));
    ledger->size_bytes += ledger->unwritten.size;
    ledger->unwritten.size = 0;
    return LEAT_OK;
}
