/* Layouts of JSON: see layout.h. Only the beginning of a file is looked at, without a parser: keys
 * of the first object, and the letters that their values begin with. */
#include "ingest/probes/layout.h"

#include <stdio.h>
#include <string.h>

#include "ingest/advice.h"

/* What the first value of a file is like. */
typedef struct beginning {
    bool array_of_arrays, object, lines; /* lines: it goes on after its first one */
    bool columns, names, rows, times; /* members: columns; meta; data, of arrays; time, an object */
    int objects, lists, others;       /* members by their values: objects; arrays of objects */
} beginning;

static const char *after_blanks(const char *at, const char *end) {
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')) at++;
    return at;
}

/* The end of the text, array or object that begins at `at`; of another value, the comma or bracket
 * after it. `end` if it is not there. */
static const char *after_value(const char *at, const char *end) {
    int64_t depth = 0;
    bool quoted = false;
    for (; at < end; at++) {
        if (quoted && *at == '\\') at++;
        else if (*at == '"') quoted = !quoted;
        else if (quoted) continue;
        else if (*at == '{' || *at == '[') depth++;
        else if (depth == 0 && (*at == ',' || *at == '}' || *at == ']')) return at;
        else if ((*at == '}' || *at == ']') && --depth == 0) return at + 1;
    }
    return end;
}

static bool is_key(const char *key, const char *end, const char *name) {
    const size_t size = strlen(name);
    return end - key == (ptrdiff_t)size + 2 && key[0] == '"' && memcmp(key + 1, name, size) == 0;
}

static void note_member(beginning *seen, const char *key, const char *key_end, const char *value,
                        const char *end, const char *time) {
    const char *inside = value < end ? after_blanks(value + 1, end) : end;
    const bool list = value < end && *value == '[' && inside < end;
    const bool object = value < end && *value == '{';
    seen->columns = seen->columns || (list && is_key(key, key_end, "columns") && *inside == '"');
    seen->names = seen->names || (list && is_key(key, key_end, "meta") && *inside == '{');
    seen->rows = seen->rows || (list && is_key(key, key_end, "data") && *inside == '[');
    seen->times = seen->times || (object && is_key(key, key_end, time));
    if (object) seen->objects++;
    else if (list && *inside == '{') seen->lists++;
    else seen->others++;
}

static void look(beginning *seen, const char *text, int64_t size_bytes, const char *time) {
    const char *end = text + size_bytes, *at = after_blanks(text, end);
    *seen = (beginning){0};
    if (at == end) return;
    if (*at == '[') {
        at = after_blanks(at + 1, end);
        seen->array_of_arrays = at < end && *at == '[';
        return;
    }
    seen->object = *at == '{';
    const char *stop = seen->object ? after_value(at, end) : end;
    const char *feed = memchr(at, '\n', (size_t)(stop - at));
    seen->lines = feed != NULL && after_blanks(feed, stop) < stop;
    for (at++; seen->object && at < end;) {
        at = after_blanks(at, end);
        const char *key = at;
        if (at == end || *at != '"') return;
        for (at++; at < end && *at != '"'; at++) at += *at == '\\';
        const char *key_end = at + 1;
        at = after_blanks(key_end, end);
        if (at >= end || *at != ':') return;
        at = after_blanks(at + 1, end);
        note_member(seen, key, key_end, at, end, time);
        at = after_blanks(after_value(at, end), end);
        if (at == end || *at != ',') return;
        at++;
    }
}

typedef struct layout {
    const char *words, *filter;
} layout;

static layout judge(const beginning *seen) {
    if (seen->array_of_arrays) return (layout){"its rows are in arrays of an array", ".[][]"};
    if (!seen->object) return (layout){NULL, NULL};
    if (seen->columns && seen->rows)
        return (layout){"its rows are under data, and their names under columns",
                        ".columns as $c|.data[]|[$c,.]|transpose|map({(.[0]):.[1]})|add"};
    if (seen->names && seen->rows)
        return (layout){"its rows are under data, and their names under meta",
                        "(.meta|map(.name)) as $c|.data[]|[$c,.]|transpose|map({(.[0]):.[1]})|add"};
    if (seen->times)
        return (layout){"its values are listed by columns",
                        ". as $d|[.[]][0]|keys_unsorted[] as $k|$d|map_values(.[$k])"};
    if (seen->objects > 0 && seen->lists + seen->others == 0)
        return (layout){"its rows are members of an object", ".[]"};
    if (seen->lists > 0 && seen->objects + seen->others == 0)
        return (layout){"its rows are in arrays by member", ".[][]"};
    if (seen->lines) return (layout){"its objects span lines", "."};
    return (layout){NULL, NULL};
}

void leat_layout_remedy(const leat_input *input, const char *time, char out[LEAT_LAYOUT_BYTES]) {
    const leat_lines_options reading = {.coding = input->coding};
    leat_lines *lines = NULL;
    char *text = NULL, path[160] = "";
    int64_t size = 0, before = -1;
    beginning seen;
    out[0] = 0;
    if (leat_input_lines_open(&lines, input, &reading, NULL) != LEAT_OK) return;
    while (size > before && size < LEAT_LINE_BYTES_MAX) {
        before = size;
        if (leat_lines_look(lines, before, &text, &size, NULL) != LEAT_OK) size = before;
    }
    look(&seen, text != NULL ? text : "", size > 0 ? size : 0, time);
    leat_lines_close(lines);
    const layout found = judge(&seen);
    if (found.words == NULL) return;
    const bool plain = input->coding == LEAT_CODING_NONE && !input->zip &&
                       leat_shell_word(path, sizeof path, input->path);
    snprintf(out, LEAT_LAYOUT_BYTES, "%s; write one a line: jq -c '%s' %s > %s", found.words,
             found.filter, plain ? path : "FILE", plain ? "rows.ndjson" : "NEW");
}
