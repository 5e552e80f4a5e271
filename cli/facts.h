/*
 * Facts: what a command shows, each number and text written down once.
 *
 * A fact is a row: its key, its kind, its place in a struct or the function that computes it, the
 * unit in which people read it, and what it means. The same rows are read by --json
 * (leat_facts_json), by the terminal (leat_facts_write), by pages (leat_facts_cards), and by
 * scripts/schemas.py, which writes types and descriptions into docs/schema. A new number is one
 * row, and its key where the terminal or a page shows it.
 *
 * A layout is the text for people, with keys in braces: "units {ready} ready\n". A part in square
 * brackets, which may have such parts in it, is left out if one of its own facts is blank. Widths
 * are bytes, as those of printf: "{name:8}" is at the right, "{name:-8}" at the left, and
 * "{name:.16}" is cut after 16. A list writes its items by a layout of their own. An unknown key
 * ends the program.
 */
#ifndef LEAT_CLI_FACTS_H
#define LEAT_CLI_FACTS_H

#include "command/cli.h"

typedef enum leat_fact_kind {
    LEAT_FACT_CHARS,  /* char[]: a text; blank: "" */
    LEAT_FACT_TEXT,   /* const char *; blank: "" */
    LEAT_FACT_FLAG,   /* bool; blank: false */
    LEAT_FACT_INT,    /* int64_t; blank: 0 */
    LEAT_FACT_INDEX,  /* int64_t; blank: below 0 */
    LEAT_FACT_REAL,   /* double; blank: NaN */
    LEAT_FACT_LIST,   /* blank: no items */
    LEAT_FACT_MEMBER, /* what `member` writes as JSON, and `show` for people */
    LEAT_FACT_NAMES,  /* the items of `list`, of shape NAMED, as if they were here; `rows` are of
                       * the names that layouts and the schema know */
    LEAT_FACT_ROWS,   /* the rows of the struct at `place`, as if they were here */
} leat_fact_kind;

/* A real number that is blank is "-" for people. */
typedef enum leat_fact_unit {
    LEAT_FACT_PLAIN, /* "12345"; of a real number, `digits` after the point, or %.4g */
    LEAT_FACT_COUNT, /* "12,345"; with words, "1 image", "12,345 images"; of a real number, three
                      * digits below 100 */
    LEAT_FACT_BYTES,
    LEAT_FACT_SECONDS, /* of a real number; below 0 as 0 */
    LEAT_FACT_MS,      /* of a real number of milliseconds: "53.7 ms", "1.20 s" */
    LEAT_FACT_SHARE,   /* of a real number 0 .. 1: "3.52 %" */
} leat_fact_unit;

/* The member that is of the row's kind. */
typedef struct leat_fact_value {
    const char *text;
    bool flag;
    int64_t whole;
    double real;
} leat_fact_value;

typedef struct leat_fact leat_fact;

typedef enum leat_fact_shape {
    LEAT_FACT_ARRAY,  /* of objects */
    LEAT_FACT_OBJECT, /* the only item */
    LEAT_FACT_NAMED,  /* an object: the name of a member is the first fact of an item, its value
                       * the second */
} leat_fact_shape;

#define LEAT_FACT_ITEM_BYTES 8192 /* it may have a path */
typedef union leat_fact_item {
    char bytes[LEAT_FACT_ITEM_BYTES];
    int64_t whole;
    double real;
    const void *address;
} leat_fact_item;

typedef struct leat_fact_list {
    const leat_fact *rows; /* of an item */
    leat_fact_shape shape;
    const char *one; /* of an array: what an item is, "A worker." */
    bool (*at)(const void *source, int index, void *item); /* false after the last */
    const char *before, *item, *between, *after;           /* for people; NULL: "" */
} leat_fact_list;

struct leat_fact {
    const char *key;
    leat_fact_kind kind;
    size_t place; /* in the source, if there is no `get` */
    leat_fact_unit unit;
    int digits;
    const char
        *words; /* of a flag, "if it is true|if it is false"; of a count, the thing counted */
    const char *label; /* its name on a page */
    bool optional;     /* not a member of JSON if blank */
    leat_fact_value (*get)(const void *source);
    const leat_fact_list *list;
    void (*member)(leat_json *json, const void *source);
    void (*show)(leat_cli *cli, const void *source);
    const leat_fact *rows; /* of LEAT_FACT_ROWS and LEAT_FACT_NAMES */
    /* Samples in the source's words, "graph" or "graphs": for "images" in the key of JSON and in
     * the label, and instead of the thing counted; NULL: none. Layouts have `key` itself. */
    const char *(*noun)(const void *source, bool many);
    const char *help; /* a sentence, the description in the schema; NULL: not in JSON */
};

/* A table with a schema in docs/schema. */
typedef struct leat_facts {
    const char *schema;    /* "status" */
    const leat_fact *rows; /* in the order of JSON; the last one has no key */
    const char *layout;
} leat_facts;

/* All tables with a schema; ends with NULL (commands.c). */
extern const leat_facts *const leat_facts_tables[];
extern const leat_facts leat_facts_train, leat_facts_estimate, leat_facts_coordinate,
    leat_facts_plan, leat_facts_work, leat_facts_status, leat_facts_run, leat_facts_sample,
    leat_facts_eval;

void leat_facts_json(leat_json *json, const leat_fact *rows, const void *source);
void leat_facts_write(leat_cli *cli, const leat_fact *rows, const char *layout, const void *source);
/* On a page: the facts of these keys, "steps images", numbers as cards, and texts as rows of a
 * table, each with its label. A blank one that is optional is left out. */
void leat_facts_cards(leat_textbuf *out, const leat_fact *rows, const char *keys,
                      const void *source);
/* Cells of a row of a page's table, in the words of the terminal. */
void leat_facts_cells(leat_textbuf *out, const leat_fact *rows, const char *keys,
                      const void *source);
/* The document with --json, else the layout. Returns 0, or 1 after reporting an error. */
int leat_facts_show(leat_cli *cli, const leat_facts *facts, const void *source);

#endif
