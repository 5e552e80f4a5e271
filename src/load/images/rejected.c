/* Reads rejected.csv, a record at a time: see rejected.h. */
#include "load/images/rejected.h"

enum { FIELDS_MAX = 16 };

typedef enum column { FILE_NAME, REASON, WHAT, COLUMNS } column;
static const char *const column_names[COLUMNS] = {"file", "reason", "what"};

/* The fields of a record; -1 if it is not one of CSV, or has more than FIELDS_MAX. */
static int split(const leat_line *line, leat_text fields[FIELDS_MAX]) {
    char *at = line->data, *end = line->data + line->size_bytes;
    int count = 0;
    if (line->fault != LEAT_LINE_GOOD) return -1;
    while (at != NULL) {
        if (count == FIELDS_MAX || !leat_line_field(&at, end, &fields[count])) return -1;
        count++;
    }
    return count;
}

/* Where the columns are. */
static leat_code read_header(leat_lines *lines, const char *path, int places[COLUMNS],
                             leat_error *err) {
    leat_text fields[FIELDS_MAX];
    leat_line line = {0};
    bool found = false;
    LEAT_TRY(leat_lines_next(lines, &line, &found, err));
    int count = found ? split(&line, fields) : 0;
    for (int c = 0; c < COLUMNS; c++) {
        places[c] = -1;
        for (int i = 0; i < count; i++)
            if (leat_text_is(fields[i], column_names[c])) places[c] = i;
        if (places[c] >= 0) continue;
        return leat_fail(
            err, LEAT_ERR_CORRUPT,
            "\"%s\": its first line does not have the column \"%s\"; " LEAT_IMAGES_REBUILD, path,
            column_names[c]);
    }
    return LEAT_OK;
}

static int reason_of(const leat_text *text) {
    for (int i = 0; i < LEAT_IMAGE_REASONS; i++)
        if (leat_text_is(*text, leat_image_reason_name(i))) return i;
    return -1;
}

static leat_rejected_line read_line(const leat_line *line, const int places[COLUMNS]) {
    leat_text fields[FIELDS_MAX];
    leat_rejected_line out = {.number = line->number, .reason = -1};
    int count = split(line, fields);
    out.good = count > places[FILE_NAME] && count > places[REASON] && count > places[WHAT];
    if (!out.good) return out;
    out.file = fields[places[FILE_NAME]];
    out.reason = reason_of(&fields[places[REASON]]);
    out.what = fields[places[WHAT]];
    return out;
}

static leat_code read_all(leat_lines *lines, const char *path, leat_rejected_fn each, void *context,
                          int64_t *count, leat_error *err) {
    int places[COLUMNS];
    LEAT_TRY(read_header(lines, path, places, err));
    for (bool found = true;;) {
        leat_line line = {0};
        LEAT_TRY(leat_lines_next(lines, &line, &found, err));
        if (!found) return LEAT_OK;
        const leat_rejected_line read = read_line(&line, places);
        (*count)++;
        LEAT_TRY(each(context, &read, err));
    }
}

leat_code leat_rejected_read(const char *dir, leat_rejected_fn each, void *context, int64_t *count,
                             leat_error *err) {
    static const leat_lines_options options = {.quotes = true};
    char path[LEAT_PATH_BYTES];
    leat_path_facts facts;
    leat_lines *lines = NULL;
    *count = 0;
    LEAT_TRY(leat_path_join(path, sizeof path, dir, LEAT_REJECTED_NAME, err));
    LEAT_TRY(leat_path_stat(path, &facts, err));
    if (facts.kind != LEAT_PATH_FILE) return LEAT_OK;
    LEAT_TRY(leat_lines_open(&lines, path, &options, err));
    leat_code code = read_all(lines, path, each, context, count, err);
    leat_lines_close(lines);
    return code;
}
