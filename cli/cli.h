/*
 * The frame of the command `leat`: what a command is, how it gets its options, how it writes.
 *
 * A command is one file, cli/cmd_<words>.c, that defines one constant `leat_cmd_<words>` of type
 * leat_cli_command, and is listed once, in cli/main.c. Its option table drives the parser, --help,
 * the manual page and the error messages. The function gets a leat_cli with the options already
 * read and checked, and returns the exit status: 0 done, 1 failed, 2 wrong usage.
 *
 *     static int run_cat(leat_cli *cli)
 *     {
 *         leat_error err = {0};
 *         if (leat_thing(leat_cli_argument(cli, 0), leat_cli_int(cli, "threads"), &err) != LEAT_OK)
 *             return leat_cli_fail(cli, &err);
 *         leat_out(cli, "%s\n", "words on stdout");
 *         return 0;
 *     }
 *
 * All output goes through cli/out.c (no printf elsewhere). Failed writes to stdout need no check at
 * each call: main tells them at the end, as exit status 1. A command that may write much asks
 * leat_out_broken now and then and returns early.
 */
#ifndef LEAT_CLI_H
#define LEAT_CLI_H

#include "leat/base.h"

/* ---- What a command is ------------------------------------------------------------------- */

typedef enum leat_cli_kind {
    LEAT_CLI_FLAG,         /* no value: leat_cli_flag */
    LEAT_CLI_TEXT,         /* any text: leat_cli_text */
    LEAT_CLI_CHOICE,       /* one of `choices`, "a|b|c": leat_cli_text */
    LEAT_CLI_INT,          /* a whole number in [min, max]: leat_cli_int */
    LEAT_CLI_INT_PAIR,     /* two of them, as two words: leat_cli_int, leat_cli_second */
    LEAT_CLI_SIZE,         /* bytes with K, M, G, T (powers of 1024) in [min, max]: leat_cli_int */
    LEAT_CLI_SIZE_OR_NONE, /* the same, or "none", which is LEAT_CLI_NONE: leat_cli_int */
    LEAT_CLI_DOUBLE,       /* a number in [low, high]: leat_cli_double */
} leat_cli_kind;

#define LEAT_CLI_NONE (-1)

/* Commands that take several kinds of data have options that are for one of them. */
typedef enum leat_cli_data {
    LEAT_CLI_ANY,
    LEAT_CLI_PROBES, /* folders and ArrayRecord files of probe rows */
    LEAT_CLI_CAN,    /* a cache of window graphs */
    LEAT_CLI_DATA_KINDS
} leat_cli_data;

typedef struct leat_cli_option {
    const char *name; /* without the dashes: "max-row-size" */
    char letter;      /* 'o' for -o; 0: none */
    leat_cli_kind kind;
    const char *value;    /* what stands for the value in help: "SIZE"; NULL for a flag */
    const char *help;     /* a sentence, no full stop; wrapped by the frame */
    const char *preset;   /* the default as a user would type it; NULL: none (see leat_cli_given) */
    const char *choices;  /* LEAT_CLI_CHOICE only */
    const char *bare;     /* the value of the option when it stands alone: others need "=" then */
    int64_t min, max;     /* INT and SIZE; max 0: no upper bound */
    double low, high;     /* DOUBLE; both 0: any finite number */
    bool required;        /* missing is wrong usage */
    bool second_optional; /* INT_PAIR: a word that is no whole number is not its second */
    leat_cli_data of;     /* given with other data it is wrong usage */
} leat_cli_option;

/* The rows that most commands have. */
#define LEAT_CLI_OPTION_JSON                                                                       \
    { .name = "json", .kind = LEAT_CLI_FLAG, .help = "write one JSON document to stdout" }

typedef struct leat_cli_example {
    const char *line; /* "leat cat DIR | head" */
    const char *says; /* what it does, a short sentence */
} leat_cli_example;

typedef struct leat_cli leat_cli;

typedef struct leat_cli_command {
    const char *words;    /* "ingest probes" */
    const char *purpose;  /* one line */
    const char *usage;    /* after the words: "PATH... -o DIR [options]" */
    const char *about;    /* paragraphs divided by an empty line; wrapped by the frame */
    const char *argument; /* what an argument is called in messages: "PATH" */
    int min_arguments;
    int max_arguments;                /* -1: any number */
    const leat_cli_option *options;   /* ends with a row whose name is NULL */
    const leat_cli_example *examples; /* ends with a row whose line is NULL; at least one */
    int (*run)(leat_cli *cli);
} leat_cli_command;

extern const leat_cli_command leat_cmd_ingest_probes, leat_cmd_ingest_can, leat_cmd_inspect,
    leat_cmd_cat, leat_cmd_synth_probes, leat_cmd_synth_can, leat_cmd_batches, leat_cmd_doctor,
    leat_cmd_version;

/* ---- What a command asks ----------------------------------------------------------------- */

/* Asking for a name that the command's table lacks is a broken invariant and ends the program. */
bool leat_cli_flag(const leat_cli *cli, const char *name);
/* The value or the default; NULL if neither. */
const char *leat_cli_text(const leat_cli *cli, const char *name);
/* The value or the default; 0 if neither. */
int64_t leat_cli_int(const leat_cli *cli, const char *name);
/* The second number of an INT_PAIR; LEAT_CLI_NONE where it may be missing and is. */
int64_t leat_cli_second(const leat_cli *cli, const char *name);
double leat_cli_double(const leat_cli *cli, const char *name);
/* Whether the user typed it. */
bool leat_cli_given(const leat_cli *cli, const char *name);

int leat_cli_argument_count(const leat_cli *cli);
/* Which kind of data the arguments are, told by what lies there: PROBES or CAN (data.c). Returns 0,
 * or 2 after telling what is wrong: an argument that is no data by its name, an option for other
 * data, a cache that is not the only argument. */
int leat_cli_take_data(leat_cli *cli, leat_cli_data *data);
const char *leat_cli_argument(const leat_cli *cli, int index);
const char *const *leat_cli_arguments(const leat_cli *cli);

/* ---- What a command writes --------------------------------------------------------------- */

/* stdout. */
void leat_out(leat_cli *cli, const char *format, ...) LEAT_PRINTF(2, 3);
void leat_out_bytes(leat_cli *cli, const void *bytes, int64_t size_bytes);
/* Ends the document and writes it; `json` stays the caller's. Returns 0, or 1 (already told). */
int leat_out_json(leat_cli *cli, leat_json *json);
/* A document of its own: one object, whose members `members` puts from `of`. Returns 0, or 1
 * (already told). What can fail is fetched before and stands in `of`. */
typedef void leat_out_members_fn(leat_json *json, const void *of);
int leat_out_object(leat_cli *cli, leat_out_members_fn *members, const void *of);
/* Whether stdout is a regular file: then a progress line does not run through what is shown. */
bool leat_out_is_file(void);
/* Whether writing to stdout has failed (reader gone, disk full): more output is in vain. */
bool leat_out_broken(const leat_cli *cli);

/* stderr, each a line "leat: ...", after clearing the progress line. Control characters, which a
 * file's name may hold, are shown as '?'. */
void leat_cli_note(leat_cli *cli, const char *format, ...) LEAT_PRINTF(2, 3);
/* The error of a library call; returns the exit status: 1, or 2 for LEAT_ERR_OPTION. */
int leat_cli_fail(leat_cli *cli, const leat_error *err);
/* Wrong usage that the table cannot express; points to --help and returns 2. */
int leat_cli_usage(leat_cli *cli, const char *format, ...) LEAT_PRINTF(2, 3);

/*
 * A leat_progress_fn whose `user` is the leat_cli: one line on a terminal, nothing in a pipe or
 * where TERM is "dumb" or not set. From leat_cli_cancellable on, the first SIGINT or SIGTERM makes
 * it return false, so that the library cleans up; the second ends the process at once. Before that,
 * signals act as they always do.
 */
bool leat_cli_progress(void *user, const leat_progress *progress);
void leat_cli_cancellable(leat_cli *cli);
/* Takes the progress line away; before a summary on stdout. */
void leat_cli_progress_end(leat_cli *cli);

/* Monotonic clock in nanoseconds. */
int64_t leat_cli_clock_ns(void);

/* Numbers in words, into `text`, which they return: "1.23 GB", "12,345,678", "3 min 20 s". */
#define LEAT_WORDS_BYTES LEAT_TIME_TEXT_BYTES
const char *leat_words_bytes(char text[LEAT_WORDS_BYTES], int64_t size_bytes); /* 1024 based */
const char *leat_words_count(char text[LEAT_WORDS_BYTES], int64_t count);
/* "1 row", "2,345 rows". */
const char *leat_things(char text[LEAT_WORDS_BYTES], int64_t count, const char *thing);
/* Text from data: control characters would let it move the cursor; they are shown as '?'. */
#define LEAT_PLAIN_BYTES 128
const char *leat_plain(char text[LEAT_PLAIN_BYTES], const char *from);
const char *leat_words_seconds(char text[LEAT_WORDS_BYTES], double seconds);
/* Microseconds since 1970 as "2025-07-01T12:00:00.000000Z". */
const char *leat_words_time(char text[LEAT_WORDS_BYTES], int64_t time_us);
/* The shortest digits that read back as the same float32. */
const char *leat_words_float(char text[LEAT_WORDS_BYTES], float value);

#endif
