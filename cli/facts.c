/* Rows of facts, written as JSON and by a layout for people. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/internal.h"
#include "facts.h"
#include "page/page.h"

/* ---- What a row says of a source ------------------------------------------------------------- */

static leat_fact_value value_of(const leat_fact *row, const void *source) {
    const char *place = (const char *)source + row->place;
    leat_fact_value value = {0};
    if (row->get != NULL) return row->get(source);
    switch (row->kind) {
    case LEAT_FACT_CHARS: value.text = place; break;
    case LEAT_FACT_TEXT: memcpy(&value.text, place, sizeof value.text); break;
    case LEAT_FACT_FLAG: memcpy(&value.flag, place, sizeof value.flag); break;
    case LEAT_FACT_INT:
    case LEAT_FACT_INDEX: memcpy(&value.whole, place, sizeof value.whole); break;
    case LEAT_FACT_REAL: memcpy(&value.real, place, sizeof value.real); break;
    case LEAT_FACT_LIST:
    case LEAT_FACT_MEMBER:
    case LEAT_FACT_NAMES:
    case LEAT_FACT_ROWS: break;
    }
    return value;
}

static bool is_blank(const leat_fact *row, const void *source) {
    const leat_fact_value value = value_of(row, source);
    leat_fact_item item;
    switch (row->kind) {
    case LEAT_FACT_CHARS:
    case LEAT_FACT_TEXT: return value.text[0] == 0;
    case LEAT_FACT_FLAG: return !value.flag;
    case LEAT_FACT_INT: return value.whole == 0;
    case LEAT_FACT_INDEX: return value.whole < 0;
    case LEAT_FACT_REAL: return isnan(value.real);
    case LEAT_FACT_LIST:
    case LEAT_FACT_NAMES: return !row->list->at(source, 0, &item);
    case LEAT_FACT_MEMBER:
    case LEAT_FACT_ROWS: break;
    }
    return false;
}

/* A key or a label in the words of the source. */
static const char *in_words(char text[LEAT_PLAIN_BYTES], const leat_fact *row, const char *plain,
                            const void *source) {
    static const char images[] = "images";
    const char *at = row->noun != NULL ? strstr(plain, images) : NULL;
    if (at == NULL) return plain;
    snprintf(text, LEAT_PLAIN_BYTES, "%.*s%s%s", (int)(at - plain), plain, row->noun(source, true),
             at + sizeof images - 1);
    return text;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void write_value(leat_json *json, const leat_fact *row, const void *source);

static void json_names(leat_json *json, const leat_fact_list *list, const void *source) {
    leat_fact_item item;
    for (int i = 0; list->at(source, i, &item); i++) {
        if (list->rows[1].optional && is_blank(&list->rows[1], &item)) continue;
        leat_json_key(json, value_of(&list->rows[0], &item).text);
        write_value(json, &list->rows[1], &item);
    }
}

static void json_list(leat_json *json, const leat_fact_list *list, const void *source) {
    leat_fact_item item;
    if (list->shape == LEAT_FACT_ARRAY) leat_json_begin_array(json);
    else leat_json_begin_object(json);
    if (list->shape == LEAT_FACT_NAMED) json_names(json, list, source);
    for (int i = 0; list->shape != LEAT_FACT_NAMED && list->at(source, i, &item); i++) {
        if (list->shape == LEAT_FACT_ARRAY) leat_json_begin_object(json);
        leat_facts_json(json, list->rows, &item);
        if (list->shape == LEAT_FACT_ARRAY) leat_json_end_object(json);
    }
    if (list->shape == LEAT_FACT_ARRAY) leat_json_end_array(json);
    else leat_json_end_object(json);
}

static void write_value(leat_json *json, const leat_fact *row, const void *source) {
    const leat_fact_value value = value_of(row, source);
    switch (row->kind) {
    case LEAT_FACT_CHARS:
    case LEAT_FACT_TEXT: leat_json_string(json, value.text); break;
    case LEAT_FACT_FLAG: leat_json_bool(json, value.flag); break;
    case LEAT_FACT_INT:
    case LEAT_FACT_INDEX: leat_json_int(json, value.whole); break;
    case LEAT_FACT_REAL: leat_json_double(json, value.real); break;
    case LEAT_FACT_LIST: json_list(json, row->list, source); break;
    case LEAT_FACT_MEMBER: row->member(json, source); break;
    case LEAT_FACT_NAMES:
    case LEAT_FACT_ROWS: break;
    }
}

void leat_facts_json(leat_json *json, const leat_fact *rows, const void *source) {
    for (const leat_fact *row = rows; row->key != NULL; row++) {
        char text[LEAT_PLAIN_BYTES];
        if (row->kind == LEAT_FACT_ROWS)
            leat_facts_json(json, row->rows, (const char *)source + row->place);
        if (row->kind == LEAT_FACT_NAMES) json_names(json, row->list, source);
        if (row->kind == LEAT_FACT_ROWS || row->kind == LEAT_FACT_NAMES || row->help == NULL ||
            (row->optional && is_blank(row, source)))
            continue;
        leat_json_key(json, in_words(text, row, row->key, source));
        write_value(json, row, source);
    }
}

/* ---- For people ------------------------------------------------------------------------------ */

/* The row of a key, and the source that it is about. */
static const leat_fact *find(const leat_fact *rows, const char *key, int size,
                             const void **source) {
    for (const leat_fact *row = rows; row->key != NULL; row++) {
        const void *inner = (const char *)*source + row->place;
        const leat_fact *found = row->rows != NULL ? find(row->rows, key, size, &inner) : NULL;
        if (found != NULL) {
            *source = inner;
            return found;
        }
        if ((int)strlen(row->key) == size && memcmp(row->key, key, (size_t)size) == 0) return row;
    }
    return NULL;
}

/* One key of a layout: "{name:-8.8}". */
typedef struct named {
    const leat_fact *row;
    const void *source;
    int width, cut;  /* as of printf; a cut of -1: none */
    const char *end; /* after the brace */
} named;

static named read_key(const leat_fact *rows, const char *at, const void *source) {
    const int size = (int)strcspn(at + 1, ":}");
    named key = {.source = source, .cut = -1, .end = strchr(at, '}')};
    char *width = NULL;
    key.row = find(rows, at + 1, size, &key.source);
    if (key.row == NULL || key.end == NULL) leat_cli_broken(at);
    if (at[1 + size] == ':') key.width = (int)strtol(at + 2 + size, &width, 10);
    if (width != NULL && *width == '.') key.cut = (int)strtol(width + 1, NULL, 10);
    key.end++;
    return key;
}

static const char *words_of_flag(char text[LEAT_PLAIN_BYTES], const char *words, bool flag) {
    if (words == NULL) leat_cli_broken("a flag without words");
    const int first = (int)strcspn(words, "|");
    if (!flag) return words[first] == '|' ? words + first + 1 : "";
    snprintf(text, LEAT_PLAIN_BYTES, "%.*s", first, words);
    return text;
}

static const char *words_of_real(char text[LEAT_PLAIN_BYTES], const leat_fact *row, double value) {
    if (isnan(value)) return "-";
    if (row->unit == LEAT_FACT_SECONDS) return leat_words_seconds(text, fmax(value, 0));
    if (row->unit == LEAT_FACT_MS)
        return leat_display_words(text, LEAT_DISPLAY_DURATION_US, 1000 * value);
    if (row->unit == LEAT_FACT_SHARE) return leat_display_words(text, LEAT_DISPLAY_SHARE, value);
    if (row->unit == LEAT_FACT_COUNT && fabs(value) >= 99.95)
        return leat_display_words(text, LEAT_DISPLAY_COUNT, value);
    if (row->unit == LEAT_FACT_COUNT) {
        snprintf(text, LEAT_PLAIN_BYTES, "%.3g", value);
        return text;
    }
    if (row->digits > 0) snprintf(text, LEAT_PLAIN_BYTES, "%.*f", row->digits, value);
    else snprintf(text, LEAT_PLAIN_BYTES, "%.4g", value);
    return text;
}

static const char *words_of(char text[LEAT_PLAIN_BYTES], const leat_fact *row, const void *source) {
    const leat_fact_value value = value_of(row, source);
    switch (row->kind) {
    case LEAT_FACT_CHARS:
    case LEAT_FACT_TEXT: return value.text;
    case LEAT_FACT_FLAG: return words_of_flag(text, row->words, value.flag);
    case LEAT_FACT_REAL: return words_of_real(text, row, value.real);
    case LEAT_FACT_INT:
    case LEAT_FACT_INDEX: break;
    case LEAT_FACT_LIST:
    case LEAT_FACT_MEMBER:
    case LEAT_FACT_NAMES:
    case LEAT_FACT_ROWS: leat_cli_broken(row->key); break;
    }
    if (row->unit == LEAT_FACT_BYTES) return leat_words_bytes(text, value.whole);
    if (row->unit == LEAT_FACT_COUNT && row->noun != NULL)
        return leat_things(text, value.whole, row->noun(source, false));
    if (row->unit == LEAT_FACT_COUNT && row->words != NULL)
        return leat_things(text, value.whole, row->words);
    if (row->unit == LEAT_FACT_COUNT) return leat_words_count(text, value.whole);
    snprintf(text, LEAT_PLAIN_BYTES, "%lld", (long long)value.whole);
    return text;
}

static void write_list(leat_cli *cli, const leat_fact_list *list, const void *source) {
    leat_fact_item item;
    for (int i = 0; list->at(source, i, &item); i++) {
        const char *before = i == 0 ? list->before : list->between;
        if (before != NULL) leat_out(cli, "%s", before);
        leat_facts_write(cli, list->rows, list->item, &item);
    }
    if (list->after != NULL && list->at(source, 0, &item)) leat_out(cli, "%s", list->after);
}

static void write_fact(leat_cli *cli, const named *key) {
    char text[LEAT_PLAIN_BYTES];
    if (key->row->list != NULL) {
        write_list(cli, key->row->list, key->source);
        return;
    }
    if (key->row->show != NULL) {
        key->row->show(cli, key->source);
        return;
    }
    const char *words = words_of(text, key->row, key->source);
    if (key->width == 0 && key->cut < 0) leat_out_name(cli, words);
    else leat_out(cli, "%*.*s", key->width, key->cut, words);
}

/* The end of a part in brackets. */
static const char *end_of_part(const char *part) {
    int depth = 0;
    for (const char *at = part; *at != 0; at++) {
        depth += (*at == '[') - (*at == ']');
        if (depth == 0) return at;
    }
    leat_cli_broken(part);
}

/* Whether a part in brackets is left out: by its own facts, not by those of parts in it. */
static bool is_left_out(const leat_fact *rows, const char *part, const void *source) {
    const char *end = end_of_part(part);
    for (const char *at = part + 1; at < end;) {
        if (*at == '{') {
            const named key = read_key(rows, at, source);
            if (is_blank(key.row, key.source)) return true;
            at = key.end;
        } else {
            at = (*at == '[' ? end_of_part(at) : at) + 1;
        }
    }
    return false;
}

void leat_facts_write(leat_cli *cli, const leat_fact *rows, const char *layout,
                      const void *source) {
    for (const char *at = layout; *at != 0;) {
        const int plain = (int)strcspn(at, "{[]");
        leat_out(cli, "%.*s", plain, at);
        at += plain;
        if (*at == '{') {
            const named key = read_key(rows, at, source);
            write_fact(cli, &key);
            at = key.end;
        } else if (*at != 0) {
            at = (*at == '[' && is_left_out(rows, at, source) ? end_of_part(at) : at) + 1;
        }
    }
}

/* ---- On a page ------------------------------------------------------------------------------- */

static void put_card(leat_textbuf *out, const leat_fact *row, const void *source) {
    const leat_fact_value value = value_of(row, source);
    const leat_display_unit unit =
        row->unit == LEAT_FACT_BYTES ? LEAT_DISPLAY_BYTES : LEAT_DISPLAY_COUNT;
    char text[LEAT_PLAIN_BYTES];
    if (row->label == NULL) leat_cli_broken(row->key);
    if (row->optional && is_blank(row, source)) return;
    const char *label = in_words(text, row, row->label, source);
    switch (row->kind) {
    case LEAT_FACT_CHARS:
    case LEAT_FACT_TEXT: leat_page_text_row(out, label, value.text); break;
    case LEAT_FACT_INT:
    case LEAT_FACT_INDEX: leat_page_card(out, label, unit, (double)value.whole); break;
    case LEAT_FACT_REAL: leat_page_card(out, label, LEAT_DISPLAY_NUMBER, value.real); break;
    case LEAT_FACT_FLAG:
    case LEAT_FACT_LIST:
    case LEAT_FACT_MEMBER:
    case LEAT_FACT_NAMES:
    case LEAT_FACT_ROWS: leat_cli_broken(row->key); break;
    }
}

static void put_cell(leat_textbuf *out, const leat_fact *row, const void *source) {
    char text[LEAT_PLAIN_BYTES];
    leat_textbuf_put(out, "<td>");
    leat_html_text(out, words_of(text, row, source));
    leat_textbuf_put(out, "</td>");
}

typedef void put_fact(leat_textbuf *out, const leat_fact *row, const void *source);

static void put_each(leat_textbuf *out, const leat_fact *rows, const char *keys, const void *source,
                     put_fact *put) {
    for (const char *at = keys + strspn(keys, " "); *at != 0; at += strspn(at, " ")) {
        const int size = (int)strcspn(at, " ");
        const void *of = source;
        const leat_fact *row = find(rows, at, size, &of);
        if (row == NULL) leat_cli_broken(at);
        put(out, row, of);
        at += size;
    }
}

void leat_facts_cards(leat_textbuf *out, const leat_fact *rows, const char *keys,
                      const void *source) {
    put_each(out, rows, keys, source, put_card);
}

void leat_facts_cells(leat_textbuf *out, const leat_fact *rows, const char *keys,
                      const void *source) {
    put_each(out, rows, keys, source, put_cell);
}

/* ---- A command's output ---------------------------------------------------------------------- */

typedef struct document {
    const leat_fact *rows;
    const void *source;
} document;

static void write_members(leat_json *json, const void *of) {
    const document *self = of;
    leat_facts_json(json, self->rows, self->source);
}

int leat_facts_show(leat_cli *cli, const leat_facts *facts, const void *source) {
    const document self = {facts->rows, source};
    if (leat_cli_flag(cli, "json")) return leat_out_object(cli, write_members, &self);
    leat_facts_write(cli, facts->rows, facts->layout, source);
    return 0;
}
