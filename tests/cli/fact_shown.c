/* Facts of every kind, linked with the command and shown in its place: with an argument, by that
 * layout; with two, "cards KEYS" or "cells KEYS", as on a page; else as JSON. The source is "full"
 * if FACTS says so, else everything in it is blank. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/internal.h"
#include "facts.h"

typedef struct inner {
    int64_t bytes;
} inner;

typedef struct source {
    char name[16];
    const char *note;
    bool open;
    int64_t steps, unit;
    double loss, seconds, delay_ms, share, rate;
    inner inner;
    int count; /* of items */
} source;

static const source blank = {.note = "",
                             .unit = -1,
                             .loss = NAN,
                             .seconds = NAN,
                             .delay_ms = NAN,
                             .share = NAN,
                             .rate = NAN};
static const source full = {"n\n1", "[{x}]", true,   12345,  0,      0.5,
                            61.2,   53.71,   0.0352, 1234.6, {2048}, 2};

typedef struct item {
    char word[8];
    double value;
} item;

static bool item_at(const void *of, int index, void *out) {
    static const item items[] = {{"a", 1}, {"b", NAN}};
    if (index >= ((const source *)of)->count) return false;
    memcpy(out, &items[index], sizeof items[index]);
    return true;
}

static leat_fact_value twice(const void *of) {
    return (leat_fact_value){.whole = 2 * ((const source *)of)->steps};
}

static void write_pair(leat_json *json, const void *of) {
    leat_json_begin_array(json);
    leat_json_int(json, ((const source *)of)->steps);
    leat_json_bool(json, ((const source *)of)->open);
    leat_json_end_array(json);
}

static void put_pair(leat_cli *cli, const void *of) {
    leat_out(cli, "(%lld)", (long long)((const source *)of)->steps);
}

static const leat_fact item_rows[] = {
    {"word", LEAT_FACT_CHARS, offsetof(item, word), .help = "A word."},
    {"value", LEAT_FACT_REAL, offsetof(item, value), .optional = true, .help = "A value."},
    {0},
};
static const leat_fact_list array = {.rows = item_rows,
                                     .one = "An item.",
                                     .at = item_at,
                                     .before = "<",
                                     .item = "{word:3}[={value}]",
                                     .between = ", ",
                                     .after = ">"};
static const leat_fact_list named = {.rows = item_rows, .shape = LEAT_FACT_NAMED, .at = item_at};

static const leat_fact_list members = {
    .rows = item_rows, .shape = LEAT_FACT_NAMED, .at = item_at, .item = "{word}", .between = "/"};

static const char *samples_of(const void *of, bool many) {
    (void)of;
    return many ? "graphs" : "graph";
}

static bool first_at(const void *of, int index, void *out) {
    return index == 0 && item_at(of, index, out);
}
static const leat_fact_list object = {
    .rows = item_rows, .shape = LEAT_FACT_OBJECT, .at = first_at, .item = "only {word}"};

static const leat_fact inner_rows[] = {
    {"bytes", LEAT_FACT_INT, offsetof(inner, bytes), LEAT_FACT_BYTES, .help = "Bytes."},
    {0},
};

#define AT(member) offsetof(source, member)
static const leat_fact known[] = {{"a", LEAT_FACT_INT, AT(unit), .help = NULL}, {0}};

static const leat_fact rows[] = {
    {"name", LEAT_FACT_CHARS, AT(name), .label = "a <name>", .help = "Name."},
    {"note", LEAT_FACT_TEXT, AT(note), .optional = true, .help = "Note."},
    {"open", LEAT_FACT_FLAG, AT(open), .words = "open|closed", .help = "Whether it is open."},
    {"steps", LEAT_FACT_INT, AT(steps), LEAT_FACT_COUNT, .words = "step", .label = "steps",
     .help = "Steps."},
    {"unit", LEAT_FACT_INDEX, AT(unit), .optional = true, .help = "Unit."},
    {"loss", LEAT_FACT_REAL, AT(loss), .digits = 3, .optional = true, .label = "loss",
     .help = "Loss."},
    {"seconds", LEAT_FACT_REAL, AT(seconds), LEAT_FACT_SECONDS, .optional = true, .help = "Time."},
    {"inner", LEAT_FACT_ROWS, AT(inner), .rows = inner_rows},
    {"pair", LEAT_FACT_MEMBER, .member = write_pair, .help = "Two."},
    {"shown", LEAT_FACT_MEMBER, .show = put_pair},
    {"array", LEAT_FACT_LIST, .list = &array, .help = "Items."},
    {"named", LEAT_FACT_LIST, .list = &named, .optional = true, .help = "By name."},
    {"object", LEAT_FACT_LIST, .list = &object, .optional = true, .help = "The first."},
    {"step_images", LEAT_FACT_INT, AT(steps), LEAT_FACT_COUNT, .label = "images of it",
     .noun = samples_of, .help = "Samples."},
    {"members", LEAT_FACT_NAMES, .list = &members, .rows = known},
    {"delay", LEAT_FACT_REAL, AT(delay_ms), LEAT_FACT_MS, .help = NULL},
    {"share", LEAT_FACT_REAL, AT(share), LEAT_FACT_SHARE, .help = NULL},
    {"rate", LEAT_FACT_REAL, AT(rate), LEAT_FACT_COUNT, .help = NULL},
    {"low_rate", LEAT_FACT_REAL, AT(loss), LEAT_FACT_COUNT, .help = NULL},
    {"bare", LEAT_FACT_FLAG, AT(open), .help = NULL},
    {"twice", LEAT_FACT_INT, .get = twice, .unit = LEAT_FACT_COUNT},
    {0},
};

static void write_members(leat_json *json, const void *of) { leat_facts_json(json, rows, of); }

static void show_on_page(const char *how, const char *keys, const source *of) {
    leat_textbuf *out = NULL;
    leat_error err = {0};
    const char *text = "";
    int64_t size_bytes = 0;
    if (leat_textbuf_create(&out, &err) != LEAT_OK) exit(1);
    if (strcmp(how, "cards") == 0) leat_facts_cards(out, rows, keys, of);
    else leat_facts_cells(out, rows, keys, of);
    if (leat_textbuf_finish(out, &text, &size_bytes, &err) != LEAT_OK) exit(1);
    fwrite(text, 1, (size_t)size_bytes, stdout);
    leat_textbuf_destroy(out);
}

__attribute__((constructor)) static void show(int count, char **words) {
    const char *which = getenv("FACTS");
    const source *of = which != NULL && strcmp(which, "full") == 0 ? &full : &blank;
    leat_cli cli = {0};
    if (count > 2) show_on_page(words[1], words[2], of);
    else if (count > 1) leat_facts_write(&cli, rows, words[1], of);
    else if (leat_out_object(&cli, write_members, of) != 0) exit(1);
    exit(fflush(stdout) == 0 ? 0 : 1);
}
