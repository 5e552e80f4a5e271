/* Labels from capture_metadata.json: see capture_metadata.h. */
#include "ingest/can/cache/capture_metadata.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "ingest/can/read/fields.h"

#define METADATA_BYTES_MAX (INT64_C(1) << 20) /* ROAD's have some 20 KB */
#define ENTRY_BYTES_MAX (INT64_C(64) << 10)   /* of one log, which jansson parses as a tree */

/* ---- one entry ------------------------------------------------------------------------------ */

/* What is being read, for messages. */
typedef struct reading {
    const char *path, *capture;
    leat_can_splits *splits; /* whose lists get what an entry has */
} reading;

static leat_code fail_entry(const reading *at, const char *what, leat_error *err) {
    char capture[96];
    leat_text_show(capture, sizeof capture, at->capture, (int64_t)strlen(at->capture));
    return leat_fail(err, LEAT_ERR_INPUT, "\"%s\": capture \"%s\": %s", at->path, capture, what);
}

/* The beginning of a value as JSON. */
typedef struct shown {
    char text[48];
    size_t size; /* of all of it */
} shown;

static int show(const char *part, size_t size, void *context) {
    shown *out = context;
    const size_t used = out->size < sizeof out->text ? out->size : sizeof out->text;
    const size_t left = sizeof out->text - used;
    memcpy(out->text + used, part, size < left ? size : left);
    out->size += size;
    return 0;
}

/* The same of a value. */
static leat_code fail_value(const reading *at, const char *what, const json_t *value,
                            leat_error *err) {
    char all[400];
    shown it = {.size = 0};
    if (json_dump_callback(value, show, &it, JSON_COMPACT | JSON_ENCODE_ANY | JSON_ENSURE_ASCII) !=
        0)
        return fail_entry(at, what, err);
    const bool fits = it.size <= sizeof it.text;
    snprintf(all, sizeof all, "%s, not %.*s%s", what, (int)(fits ? it.size : sizeof it.text),
             it.text, fits ? "" : "...");
    return fail_entry(at, all, err);
}

/* The data set's own documentation has other names for two of the members. */
static const json_t *get(const json_t *entry, const char *name, const char *other) {
    const json_t *value = json_object_get(entry, name);
    return value != NULL ? value : json_object_get(entry, other);
}

static const json_t *get_interval(const json_t *entry) {
    return json_object_get(entry, "injection_interval");
}
static const json_t *get_id(const json_t *entry) {
    return get(entry, "injection_id", "injected_aid");
}
static const json_t *get_data(const json_t *entry) {
    return get(entry, "injection_data_str", "injection_data");
}

static bool has_injection(const json_t *entry) {
    return get_interval(entry) != NULL || get_id(entry) != NULL || get_data(entry) != NULL;
}

static bool is_entry(const json_t *entry) {
    return has_injection(entry) || json_object_get(entry, "elapsed_sec") != NULL;
}

static leat_text text_of_json(const json_t *value) {
    return (leat_text){json_string_value(value), (int32_t)json_string_length(value)};
}

/* Seconds, or a date in UTC: 2023-10-19T11:31:44.5Z. */
static bool take_end(const json_t *value, int64_t *end_us, bool *absolute) {
    double seconds = json_number_value(value);
    *end_us = 0;
    if (json_is_string(value)) {
        leat_text text = text_of_json(value);
        if (text.size_bytes < 1 || text.data[--text.size_bytes] != 'Z' ||
            !leat_can_read_date(text, &seconds) || seconds <= LEAT_CAN_INJECTION_MAX_S)
            return false;
    } else if (!json_is_number(value)) {
        return false;
    }
    if (!(seconds >= 0 && seconds <= LEAT_CAN_TIME_MAX_S)) return false;
    *end_us = llround(seconds * 1e6);
    *absolute = seconds > LEAT_CAN_INJECTION_MAX_S;
    return true;
}

/* [begin, end]; *kinds: a bit for times since the first frame, and one for those since 1970. */
static bool take_span(const json_t *value, leat_can_span *span, int *kinds) {
    bool begin = false, end = false;
    if (!json_is_array(value) || json_array_size(value) != 2 ||
        !take_end(json_array_get(value, 0), &span->begin_us, &begin) ||
        !take_end(json_array_get(value, 1), &span->end_us, &end))
        return false;
    *kinds |= 1 << begin | 1 << end;
    return span->begin_us <= span->end_us;
}

static int compare_spans(const void *a, const void *b) {
    const leat_can_span *x = a, *y = b;
    return (x->begin_us > y->begin_us) - (x->begin_us < y->begin_us);
}

/* Puts the intervals in order; those that overlap or touch become one. Their number. */
static int64_t merge_spans(leat_can_span *spans, int64_t count) {
    int64_t last = 0;
    qsort(spans, (size_t)count, sizeof *spans, compare_spans);
    for (int64_t i = 1; i < count; i++) {
        if (spans[i].begin_us > spans[last].end_us) spans[++last] = spans[i];
        else if (spans[i].end_us > spans[last].end_us) spans[last].end_us = spans[i].end_us;
    }
    return last + 1;
}

/* [begin, end] or a list of these. */
static leat_code read_spans(const json_t *value, const reading *at, leat_can_injection *injection,
                            leat_error *err) {
    leat_can_splits *to = at->splits;
    const bool several = json_is_array(json_array_get(value, 0));
    const int64_t count = several ? (int64_t)json_array_size(value) : 1;
    int kinds = 0;
    injection->span_first = to->span_count;
    LEAT_TRY(LEAT_GROW(&to->spans, &to->span_capacity, to->span_count + count, err));
    leat_can_span *spans = &to->spans[to->span_count];
    for (int64_t i = 0; i < count; i++) {
        const json_t *one = several ? json_array_get(value, (size_t)i) : value;
        if (!take_span(one, &spans[i], &kinds))
            return fail_value(at,
                              "injection_interval must be [begin, end] in seconds since the first "
                              "frame, from 0, or above 10^9 since 1970, or a list of these, or "
                              "null",
                              one, err);
    }
    if (kinds == 3)
        return fail_value(at,
                          "injection_interval must have seconds since the first frame, or times "
                          "since 1970, which are above 10^9",
                          value, err);
    injection->absolute = kinds == 2;
    injection->span_count = merge_spans(spans, count);
    to->span_count += injection->span_count;
    return LEAT_OK;
}

static int compare_ids(const void *a, const void *b) {
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* An identifier or a list of these. */
static leat_code read_ids(const json_t *value, const reading *at, leat_can_injection *injection,
                          leat_error *err) {
    leat_can_splits *to = at->splits;
    const int64_t count = json_is_array(value) ? (int64_t)json_array_size(value) : 1;
    const json_t *one = value;
    bool good = count > 0;
    injection->id_first = to->injected_count;
    LEAT_TRY(LEAT_GROW(&to->injected_ids, &to->injected_capacity, to->injected_count + count, err));
    uint32_t *ids = &to->injected_ids[to->injected_count];
    for (int64_t i = 0; i < count && good; i++) {
        bool any = false;
        if (json_is_array(value)) one = json_array_get(value, (size_t)i);
        ids[i] = 0;
        good = json_is_string(one) && leat_can_injection_id(text_of_json(one), &ids[i], &any);
        injection->any_id = injection->any_id || any;
    }
    if (!good)
        return fail_value(at,
                          "injection_id must be a text, an identifier in hexadecimal digits or "
                          "only X for any, or a list of these, or null",
                          one, err);
    qsort(ids, (size_t)count, sizeof *ids, compare_ids);
    injection->id_count = count;
    to->injected_count += count;
    return LEAT_OK;
}

static leat_code read_entry(const json_t *entry, const reading *at, leat_can_injection *injection,
                            leat_error *err) {
    const json_t *interval = get_interval(entry), *id = get_id(entry), *data = get_data(entry);
    *injection = (leat_can_injection){.kind = LEAT_CAN_INJECTION_NONE};
    if (!json_is_object(entry)) return fail_value(at, "it must be an object", entry, err);
    if (!has_injection(entry)) return LEAT_OK;
    injection->kind = LEAT_CAN_INJECTION_UNKNOWN;
    if (interval != NULL && !json_is_null(interval)) {
        injection->kind = LEAT_CAN_INJECTION_INTERVAL;
        LEAT_TRY(read_spans(interval, at, injection, err));
        if (id == NULL || data == NULL)
            return fail_entry(at,
                              "injection_interval requires injection_id and injection_data_str, "
                              "which may be null",
                              err);
    }
    injection->any_id = id == NULL || json_is_null(id);
    if (!injection->any_id) LEAT_TRY(read_ids(id, at, injection, err));
    if (data == NULL || json_is_null(data)) return LEAT_OK;
    if (json_is_string(data) && leat_can_injection_data(text_of_json(data), injection))
        return LEAT_OK;
    return fail_value(at,
                      "injection_data_str must be a text of 2 to 16 hexadecimal digits, X for any, "
                      "an even number of them, or null",
                      data, err);
}

/* ---- a folder ------------------------------------------------------------------------------- */

/* An input by its folder, and by its name without suffixes. */
typedef struct place {
    const char *path;
    size_t folder_bytes, stem_bytes; /* the folder with its slash */
    int64_t file;
} place;

static int compare_texts(const char *a, size_t a_bytes, const char *b, size_t b_bytes) {
    int order = memcmp(a, b, a_bytes < b_bytes ? a_bytes : b_bytes);
    if (order != 0 || a_bytes == b_bytes) return order;
    return a_bytes < b_bytes ? -1 : 1;
}

static int compare_folders(const place *a, const place *b) {
    return compare_texts(a->path, a->folder_bytes, b->path, b->folder_bytes);
}

static int compare_places(const void *a, const void *b) {
    const place *x = a, *y = b;
    int order = compare_folders(x, y);
    if (order == 0)
        order = compare_texts(x->path + x->folder_bytes, x->stem_bytes, y->path + y->folder_bytes,
                              y->stem_bytes);
    return order != 0 ? order : (x->file > y->file) - (x->file < y->file);
}

/* The inputs of a folder, and the text of its file. */
typedef struct folder {
    leat_can_splits *splits;
    const place *places;
    int64_t count;
    char path[LEAT_PATH_BYTES];
    leat_json_span text;
    leat_can_metadata found;
} folder;

/* The first input of the folder with this stem, or where it would be. */
static int64_t find_stem(const folder *in, const char *stem) {
    int64_t low = 0, high = in->count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        const place *at = &in->places[middle];
        if (compare_texts(at->path + at->folder_bytes, at->stem_bytes, stem, strlen(stem)) < 0)
            low = middle + 1;
        else high = middle;
    }
    return low;
}

/* A log that is there but not an input is not missing. */
static leat_code note_missing(folder *in, const char *capture, leat_error *err) {
    static const char *const suffixes[] = {".log", ".log.gz", ".csv", ".csv.gz", ".txt", NULL};
    bool is_name = capture[0] != 0 && strchr(capture, '/') == NULL;
    for (const char *const *suffix = suffixes; is_name && *suffix != NULL; suffix++) {
        char path[LEAT_PATH_BYTES];
        leat_path_facts facts;
        int size = snprintf(path, sizeof path, "%.*s%s%s", (int)in->places->folder_bytes,
                            in->places->path, capture, *suffix);
        if (size >= (int)sizeof path) break;
        LEAT_TRY(leat_path_stat(path, &facts, err));
        if (facts.kind == LEAT_PATH_FILE) return LEAT_OK;
    }
    if (in->found.missing++ == 0)
        leat_text_show(in->found.missing_name, sizeof in->found.missing_name, capture,
                       (int64_t)strlen(capture));
    return LEAT_OK;
}

/* What an entry says of the inputs with its name. */
static leat_code put_entry(folder *in, const reading *at, const leat_can_injection *injection,
                           leat_error *err) {
    const char *stem = at->capture;
    int64_t i = find_stem(in, stem), first = i;
    for (; i < in->count; i++) {
        const place *one = &in->places[i];
        if (compare_texts(one->path + one->folder_bytes, one->stem_bytes, stem, strlen(stem)) != 0)
            break;
        leat_can_injection *to = &in->splits->injections[one->file];
        const leat_can_source *file = &in->splits->files[one->file];
        if (to->kind != LEAT_CAN_INJECTION_UNSAID)
            return fail_entry(at, "it is there twice; remove one of the two", err);
        *to = *injection;
        if (to->kind == LEAT_CAN_INJECTION_NONE &&
            leat_can_name_has_attack(file->name, file->folder))
            to->kind = LEAT_CAN_INJECTION_UNKNOWN;
    }
    return i == first ? note_missing(in, stem, err) : LEAT_OK;
}

/* All entries: whether one is of this kind, or what they say. */
static leat_code walk(folder *in, bool put, bool *any, leat_error *err) {
    leat_json_walk walk;
    bool more = true;
    LEAT_TRY(leat_json_walk_object(&walk, in->text, in->path, err));
    for (;;) {
        json_t *entry = NULL;
        leat_can_injection injection;
        LEAT_TRY(leat_json_walk_next(&walk, &more, err));
        if (!more) return LEAT_OK;
        const reading at = {in->path, walk.key, in->splits};
        LEAT_TRY(leat_json_walk_value(&walk, ENTRY_BYTES_MAX, &entry, err));
        *any = *any || is_entry(entry);
        leat_code code = put ? read_entry(entry, &at, &injection, err) : LEAT_OK;
        json_decref(entry);
        if (code == LEAT_OK && put) code = put_entry(in, &at, &injection, err);
        if (code != LEAT_OK) return code;
    }
}

/* The inputs beside a file of this kind, some of which it does not name. */
static leat_code note_inputs(folder *in, leat_error *err) {
    leat_can_splits *splits = in->splits;
    in->found.unnamed_file = splits->inputs.count;
    for (int64_t i = 0; i < in->count; i++) {
        int64_t file = in->places[i].file;
        splits->files[file].metadata = (int32_t)splits->metadata_count + 1;
        if (splits->injections[file].kind != LEAT_CAN_INJECTION_UNSAID) continue;
        in->found.unnamed++;
        if (file < in->found.unnamed_file) in->found.unnamed_file = file;
    }
    LEAT_TRY(
        LEAT_GROW(&splits->metadata, &splits->metadata_capacity, splits->metadata_count + 1, err));
    splits->metadata[splits->metadata_count++] = in->found;
    return LEAT_OK;
}

static leat_code read_text(folder *in, bool *used, leat_error *err) {
    LEAT_TRY(walk(in, false, used, err));
    if (!*used) return LEAT_OK;
    if (in->splits->injections == NULL)
        LEAT_TRY(LEAT_NEW(&in->splits->injections, in->splits->inputs.count, err));
    LEAT_TRY(walk(in, true, used, err));
    return note_inputs(in, err);
}

/* What is wrong with the file is a fault of the inputs, which labels must not hide. */
static leat_code explain(leat_code code, const leat_error *why, const folder *in, leat_error *err) {
    if (code != LEAT_ERR_CORRUPT && code != LEAT_ERR_INPUT && code != LEAT_ERR_LIMIT)
        return leat_error_copy(err, why);
    const char *name = code == LEAT_ERR_CORRUPT ? "capture metadata " : "";
    return leat_fail(err, LEAT_ERR_INPUT,
                     "%s%s; the labels of the logs in \"%.*s\" depend on it: repair it, or move it "
                     "away",
                     name, why->message, (int)in->places->folder_bytes, in->places->path);
}

static leat_code read_folder(folder *in, leat_error *err) {
    leat_path_facts facts;
    leat_error why = {0};
    uint8_t *text = NULL;
    int64_t size = 0;
    bool used = false;
    int length = snprintf(in->path, sizeof in->path, "%.*s" LEAT_CAN_METADATA_FILE,
                          (int)in->places->folder_bytes, in->places->path);
    if (length >= (int)sizeof in->path) return LEAT_OK;
    LEAT_TRY(leat_path_stat(in->path, &facts, err));
    if (facts.kind != LEAT_PATH_FILE) return LEAT_OK;
    leat_code code = leat_file_load(in->path, METADATA_BYTES_MAX, &text, &size, &why);
    if (code == LEAT_OK) {
        in->text = (leat_json_span){(const char *)text, size};
        leat_sha256_of(text, size, in->found.sha256);
        code = read_text(in, &used, &why);
    }
    leat_free(text);
    if (code != LEAT_OK) return explain(code, &why, in, err);
    leat_path_list *beside = &in->splits->inputs.beside;
    for (int64_t i = 0; used && i < beside->count; i++) {
        if (strcmp(beside->paths[i], in->path) == 0) beside->paths[i][0] = 0;
    }
    return LEAT_OK;
}

/* ---- all folders ---------------------------------------------------------------------------- */

static void fill_place(const char *path, int64_t file, place *to) {
    const char *slash = strrchr(path, '/');
    size_t folder_bytes = slash != NULL ? (size_t)(slash - path) + 1 : 0;
    *to = (place){path, folder_bytes, leat_can_stem_bytes(path + folder_bytes), file};
}

/* Numbers them by the first inputs beside them, so that the order of folders decides nothing. */
static leat_code put_in_order(leat_can_splits *splits, leat_error *err) {
    int64_t count = splits->metadata_count, next = 0;
    leat_can_metadata *sorted = NULL;
    int32_t *number = NULL;
    leat_code code = LEAT_NEW(&sorted, count, err);
    if (code == LEAT_OK) code = LEAT_NEW(&number, count, err);
    for (int64_t i = 0; code == LEAT_OK && i < splits->inputs.count; i++) {
        int32_t from = splits->files[i].metadata;
        if (from == 0) continue;
        if (number[from - 1] == 0) {
            sorted[next] = splits->metadata[from - 1];
            number[from - 1] = (int32_t)++next;
        }
        splits->files[i].metadata = number[from - 1];
    }
    if (code == LEAT_OK) memcpy(splits->metadata, sorted, (size_t)count * sizeof *sorted);
    leat_free(sorted);
    leat_free(number);
    return code;
}

leat_code leat_can_metadata_find(leat_can_splits *splits, leat_error *err) {
    int64_t count = splits->inputs.count;
    place *places = NULL;
    LEAT_TRY(LEAT_NEW(&places, count, err));
    for (int64_t i = 0; i < count; i++) fill_place(splits->inputs.items[i].path, i, &places[i]);
    qsort(places, (size_t)count, sizeof *places, compare_places);
    leat_code code = LEAT_OK;
    for (int64_t first = 0, end = 0; first < count && code == LEAT_OK; first = end) {
        folder *in = NULL;
        while (end < count && compare_folders(&places[first], &places[end]) == 0) end++;
        code = LEAT_NEW(&in, 1, err);
        if (code != LEAT_OK) break;
        *in = (folder){.splits = splits, .places = places + first, .count = end - first};
        code = read_folder(in, err);
        leat_free(in);
    }
    leat_free(places);
    for (int64_t i = 0; i < count && splits->injections != NULL; i++) {
        leat_can_injection *injection = &splits->injections[i]; /* the lists do not grow any more */
        if (injection->span_count > 0) injection->spans = &splits->spans[injection->span_first];
        if (injection->id_count > 0) injection->ids = &splits->injected_ids[injection->id_first];
    }
    if (code == LEAT_OK && splits->metadata_count > 0) code = put_in_order(splits, err);
    const leat_path_list *beside = &splits->inputs.beside;
    for (int64_t i = 0; code == LEAT_OK && i < beside->count; i++) {
        if (beside->paths[i][0] != 0) leat_inputs_skip(&splits->inputs.skipped, beside->paths[i]);
    }
    return code;
}
