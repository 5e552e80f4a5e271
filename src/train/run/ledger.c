/* See ledger.h. */
#include "train/run/ledger.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/lines.h"
#include "train/run/run_reader.h"

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

/* What lines say is done: a unit of a step, or all of a step (unit -1). In any order, and twice
 * where a step was taken again. */
typedef struct entry {
    int64_t step, unit;
} entry;

typedef struct entries {
    entry *items;
    int64_t count, capacity;
    int64_t unreadable; /* the first line that does not say where it belongs; 0: none */
} entries;

/* Takes the member NAME with a number at *at, as our writer writes it: "name":12. */
static bool take_number(const char **at, const char *end, const char *name, int64_t *out) {
    const int64_t length = (int64_t)strlen(name);
    const char *from = *at + length;
    if (end - *at <= length || memcmp(*at, name, (size_t)length) != 0) return false;
    *out = 0;
    const char *digits = from;
    for (; from < end && *from >= '0' && *from <= '9' && from - digits < 18; from++)
        *out = 10 * *out + (*from - '0');
    *at = from;
    return from > digits;
}

/* The step of a line of this kind, and its unit unless `unit` is NULL. */
static bool take_place(const leat_line *line, const char *kind, int64_t *step, int64_t *unit) {
    const char *at = line->data + KIND_AT + strlen(kind) + 1;
    const char *end = line->data + line->size_bytes;
    return take_number(&at, end, ",\"step\":", step) &&
           (unit == NULL || take_number(&at, end, ",\"unit\":", unit));
}

/* A rewind takes back what was done of later steps. */
static void take_back(entries *done, int64_t step) {
    int64_t kept = 0;
    for (int64_t i = 0; i < done->count; i++)
        if (done->items[i].step <= step) done->items[kept++] = done->items[i];
    done->count = kept;
}

static leat_code count(leat_run_ledger *out, entries *done, const leat_line *line,
                       leat_error *err) {
    const bool unit = is_kind(line, "unit"), step = is_kind(line, "step");
    entry of = {.unit = -1};
    bool readable = true;
    out->lines++;
    out->refused += is_kind(line, "refused");
    if (is_kind(line, "rewind")) {
        readable = take_place(line, "rewind", &of.step, NULL);
        if (readable) take_back(done, of.step);
    } else if (unit || step) {
        readable = take_place(line, unit ? "unit" : "step", &of.step, unit ? &of.unit : NULL);
        LEAT_TRY(LEAT_GROW(&done->items, &done->capacity, done->count + 1, err));
        done->items[done->count++] = of;
    }
    if (!readable && done->unreadable == 0) done->unreadable = line->number;
    return LEAT_OK;
}

static int compare(const void *a, const void *b) {
    const entry *first = a, *second = b;
    if (first->step != second->step) return first->step < second->step ? -1 : 1;
    return (first->unit > second->unit) - (first->unit < second->unit);
}

/* A coordinator that dies between the lines of a step and its commit leaves them, and the next one
 * takes the step again: each unit counts once. */
static void add_up(leat_run_ledger *out, entries *done) {
    if (done->count > 1) qsort(done->items, (size_t)done->count, sizeof *done->items, compare);
    for (int64_t i = 0; i < done->count; i++) {
        const bool again = i > 0 && compare(&done->items[i - 1], &done->items[i]) == 0;
        if (done->items[i].unit < 0) out->steps += !again;
        else *(again ? &out->repeated : &out->units) += 1;
    }
    LEAT_ASSERT(out->steps + out->units + out->repeated <= out->lines);
}

/* Reads all lines: *end is where the last complete one ends. The beginning of a line that a killed
 * process has left, or zeros where a power failure has left a page, may come after it, but no other
 * line. */
static leat_code read_lines(leat_lines *lines, const char *path, leat_run_ledger *out,
                            entries *done, int64_t *end, leat_error *err) {
    leat_line line;
    bool found = true, torn = false;
    for (;;) {
        const int64_t begin = leat_lines_position(lines);
        LEAT_TRY(leat_lines_next(lines, &line, &found, err));
        if (!found) return LEAT_OK;
        const bool whole = leat_lines_position(lines) == begin + line.size_bytes + 1;
        const bool ours = whole && is_ours(&line);
        if (!ours && (!whole || memchr(line.data, 0, (size_t)line.size_bytes) != NULL)) {
            torn = true;
            continue;
        }
        if (torn || !ours || memcmp(line.data + BEFORE_AT, out->head, 64) != 0)
            return leat_fail(
                err, LEAT_ERR_CORRUPT,
                "\"%.300s\": line %lld does not follow from the line before it: a line "
                "was changed, inserted or removed; move the file away to begin a new "
                "ledger",
                path, (long long)line.number);
        hash_line(line.data, line.size_bytes, out->head);
        LEAT_TRY(count(out, done, &line, err));
        *end = leat_lines_position(lines);
    }
}

static leat_code scan(const char *path, leat_run_ledger *out, int64_t *end, leat_error *err) {
    const leat_lines_options plain = {0};
    leat_lines *lines = NULL;
    entries done = {0};
    *out = (leat_run_ledger){0};
    *end = 0;
    memcpy(out->head, none, sizeof none);
    LEAT_TRY(leat_lines_open(&lines, path, &plain, err));
    leat_code code = read_lines(lines, path, out, &done, end, err);
    leat_lines_close(lines);
    if (code == LEAT_OK && done.unreadable > 0) /* nobody changed it: it was written so */
        code = leat_fail(err, LEAT_ERR_CORRUPT,
                         "\"%.300s\": line %lld does not say of which step or unit it is; move the "
                         "file away to begin a new ledger",
                         path, (long long)done.unreadable);
    if (code == LEAT_OK) add_up(out, &done);
    else *out = (leat_run_ledger){0};
    leat_free(done.items);
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
    LEAT_ASSERT((found.lines == 0) == (ledger->size_bytes == 0)); /* what is after them is torn */
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
