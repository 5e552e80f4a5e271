/*
 * The commands of `leat`: what a command is, how it receives its options, how it writes.
 *
 * A command is one file, cli/cmd_<words>.c, that defines one constant `leat_cmd_<words>` of type
 * leat_cli_command, and is listed once, in cli/commands.c. Its option table drives the parser,
 * --help, the manual page and the error messages. The function receives a leat_cli with the options
 * already parsed and checked, and returns the exit status: 0 success, 1 failure, 2 wrong usage.
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
 * All output goes through cli/command/out.c (no printf elsewhere). Writes to stdout need no check
 * at each call: main reports a failure at the end, with exit status 1. A command with much output
 * must check leat_out_broken regularly and return early.
 */
#ifndef LEAT_CLI_COMMAND_CLI_H
#define LEAT_CLI_COMMAND_CLI_H

#include "leat/base.h"

/* ---- What a command is ------------------------------------------------------------------- */

#define LEAT_CLI_NONE (-1) /* no number */

/* Commands that take several kinds of data (data_kinds.h) have options for only one of them. */
typedef enum leat_cli_data {
    LEAT_CLI_ANY,
    LEAT_CLI_PROBES, /* folders and ArrayRecord files of probe rows */
    LEAT_CLI_CAN,    /* a cache of window graphs */
    LEAT_CLI_IMAGES, /* the folder of an image data set */
    LEAT_CLI_RUNS,   /* the folder of a training run */
    LEAT_CLI_DATA_KINDS
} leat_cli_data;

/* An option of the command itself (`own`, whose place is unused), or options of a library's table:
 * the one called own.name or, without a name, all that the rows above do not name; or the rows of
 * another list. */
typedef struct leat_cli_option {
    char letter; /* 'o' for -o; 0: none */
    leat_setting own;
    const leat_setting_table *(*table)(void); /* leat_cli_set puts their values into the struct */
    const char *preset;   /* of its own: the default as typed by a user; NULL: none */
    const char *bare;     /* the value without "=": any other value then requires "=" */
    bool required;        /* omitting it is wrong usage */
    bool is_alone;        /* with it, no argument and no other option is needed */
    bool may_have_second; /* INT: an integer that follows is its second value */
    leat_cli_data of;     /* wrong usage with any other data */
    const leat_setting
        *words;          /* help for rows of the table instead of theirs, by name; NULL: none */
    const char *heading; /* of a group of their own in help, below the others; NULL: none */
    const char *model;   /* whose they are: those of another may have the same names; NULL: none */
    const struct leat_cli_option *more; /* the list, whose rows have no `more` */
} leat_cli_option;

/* The options of each model that is trained, for commands that are told which (cli/commands.c). */
extern const leat_cli_option leat_cli_models[];

/* Rows of most commands. */
#define LEAT_CLI_OPTION_JSON                                                                       \
    {                                                                                              \
        .own.name = "json", .own.kind = LEAT_SETTING_FLAG,                                         \
        .own.help = "write one JSON document to stdout"                                            \
    }

/* For commands that write a file of the user's choice (LEAT_SETTING_OUTPUT): docs/outputs.md has
 * the rule. */
#define LEAT_CLI_OPTION_REPLACE                                                                    \
    {                                                                                              \
        .own.name = "replace", .own.kind = LEAT_SETTING_FLAG,                                      \
        .own.help = "overwrite an existing file even if leat did not write it"                     \
    }

typedef struct leat_cli_example {
    const char *line; /* "leat cat DIR | head" */
    const char *says; /* what it does, in a few words */
} leat_cli_example;

typedef struct leat_cli leat_cli;

typedef struct leat_cli_command {
    const char *words;    /* "ingest probes" */
    const char *purpose;  /* one line */
    const char *usage;    /* after the words: "PATH... -o DIR [options]" */
    const char *about;    /* paragraphs separated by an empty line; wrapped when shown */
    const char *argument; /* what an argument is called in messages: "PATH" */
    int min_arguments;
    int max_arguments;                /* -1: any number */
    const leat_cli_option *options;   /* ends with a row whose name is NULL */
    bool shows_progress;              /* it may take minutes: --quiet is one of its options */
    const leat_cli_example *examples; /* ends with a row whose line is NULL; at least one */
    int (*run)(leat_cli *cli);
} leat_cli_command;

extern const leat_cli_command leat_cmd_ingest_probes, leat_cmd_ingest_can, leat_cmd_ingest_images,
    leat_cmd_inspect, leat_cmd_cat, leat_cmd_synth_probes, leat_cmd_synth_can,
    leat_cmd_synth_images, leat_cmd_batches, leat_cmd_train_dcgan, leat_cmd_train_vgae,
    leat_cmd_train_gat, leat_cmd_detect, leat_cmd_sample, leat_cmd_export, leat_cmd_import,
    leat_cmd_coordinate, leat_cmd_work, leat_cmd_invite, leat_cmd_revoke, leat_cmd_status,
    leat_cmd_dash, leat_cmd_doctor, leat_cmd_eval, leat_cmd_version;

/* ---- What a command asks ----------------------------------------------------------------- */

/* Asking for a name that is not in the command's table breaks an invariant and ends the program. */
bool leat_cli_flag(const leat_cli *cli, const char *name);
/* As typed, or the option's own default; NULL if neither. */
const char *leat_cli_text(const leat_cli *cli, const char *name);
/* For the command's own options, like leat_cli_second: the value or the default; 0 if neither. */
int64_t leat_cli_int(const leat_cli *cli, const char *name);
/* The second number, if allowed; LEAT_CLI_NONE if absent. */
int64_t leat_cli_second(const leat_cli *cli, const char *name);
/* Whether the user typed it. */
bool leat_cli_given(const leat_cli *cli, const char *name);
/* Stores the options that the user typed and that are in the library's table in its struct. Returns
 * 0, or 2 after reporting an error. */
int leat_cli_set(leat_cli *cli, const leat_setting_table *table, void *options);
/* Returns 0, or 2 after reporting that an option of other models than `model` was typed. */
int leat_cli_refuse_others(leat_cli *cli, const char *model);
/* One member per option that determines bytes and is set: its name, and its value as typed by a
 * user. */
void leat_cli_json_settings(leat_json *json, const leat_setting_table *table, const void *options);

/* Returns 0, or 2 after reporting that a file that will be a PNG has the name of another image
 * format. */
int leat_cli_refuse_not_png(leat_cli *cli, const char *path);

/* Returns 0, or 2 after reporting that --replace is given without any of the command's own options
 * that name a file to write. */
int leat_cli_check_replace(leat_cli *cli);

int leat_cli_argument_count(const leat_cli *cli);
const char *leat_cli_argument(const leat_cli *cli, int index);
const char *const *leat_cli_arguments(const leat_cli *cli);

/* ---- What a command writes --------------------------------------------------------------- */

/* stdout. Unprintable bytes are escaped as by leat_text_show, except line breaks, which are assumed
 * to be leat's own: a text that may contain others must go through leat_plain or leat_out_text. At
 * most 16 KiB per call. */
void leat_out(leat_cli *cli, const char *format, ...) LEAT_PRINTF(2, 3);
/* A text from data, of any size, as part of a line. */
void leat_out_text(leat_cli *cli, const char *text, int64_t size_bytes);
/* The same for a NUL-terminated name or path. */
void leat_out_name(leat_cli *cli, const char *name);
/* Columns of the terminal that output goes to; 0: it is not a terminal. */
int leat_out_width(void);
/* Like leat_out, of any size. */
void leat_out_lines(leat_cli *cli, const char *text, int64_t size_bytes);
/* The same as a quoted JSON string. */
void leat_out_json_text(leat_cli *cli, const char *text, int64_t size_bytes);
/* Data, unchanged; on a terminal, escaped as by leat_out. */
void leat_out_bytes(leat_cli *cli, const void *bytes, int64_t size_bytes);
/* Ends the document and writes it; the caller still owns `json`. Returns 0, or 1 (already
 * reported). */
int leat_out_json(leat_cli *cli, leat_json *json);
/* Writes a separate document: one object, whose members `members` writes from `of`. Returns 0, or 1
 * (already reported). Anything that can fail must be fetched into `of` before. */
typedef void leat_out_members_fn(leat_json *json, const void *of);
int leat_out_object(leat_cli *cli, leat_out_members_fn *members, const void *of);
/* Whether stdout is a regular file: a progress line then does not mix with the output. */
bool leat_out_is_file(void);
bool leat_cli_is_folder(const char *path);
/* Whether writing to stdout has failed (reader gone, disk full): more output is useless. */
bool leat_out_broken(const leat_cli *cli);
/* What was written so far appears now, also in a pipe. */
void leat_out_flush(leat_cli *cli);

/* stderr: each writes one line "leat: ..." after clearing the progress line. Names in it may
 * contain any bytes: unprintable ones are escaped. */
void leat_cli_note(leat_cli *cli, const char *format, ...) LEAT_PRINTF(2, 3);
/* The error of a library call; returns the exit status: 1, or 2 for LEAT_ERR_OPTION. */
int leat_cli_fail(leat_cli *cli, const leat_error *err);
/* Wrong usage that the table cannot express; points to --help and returns 2. */
int leat_cli_usage(leat_cli *cli, const char *format, ...) LEAT_PRINTF(2, 3);

/*
 * A leat_progress_fn whose `user` is the leat_cli: one line on a terminal, which is drawn anew; a
 * line a minute in a pipe, a file, or where TERM is "dumb" or not set. After leat_cli_cancellable,
 * the first SIGINT or SIGTERM makes it return false, so that the library cleans up; the second ends
 * the process at once. Before, signals have their default effect: a command calls it before it
 * opens anything.
 */
bool leat_cli_progress(void *user, const leat_progress *progress);
void leat_cli_cancellable(leat_cli *cli);
/* Words for the progress line after the stage, such as a loss; truncated to 47 bytes. */
void leat_cli_progress_detail(leat_cli *cli, const char *format, ...) LEAT_PRINTF(2, 3);
/* Clears the progress line; call before a summary on stdout. */
void leat_cli_progress_end(leat_cli *cli);

/* Monotonic clock in nanoseconds. */
int64_t leat_cli_clock_ns(void);

/* Write numbers in words into `text`, and return it: "1.23 GB", "12,345,678", "3 min 20 s". */
#define LEAT_WORDS_BYTES LEAT_TIME_TEXT_BYTES
const char *leat_words_bytes(char text[LEAT_WORDS_BYTES], int64_t size_bytes); /* 1024 based */
const char *leat_words_count(char text[LEAT_WORDS_BYTES], int64_t count);
/* Three digits of a rate, without "/s": "51.9 M", "408 k", "7.25". */
const char *leat_words_rate(char text[LEAT_WORDS_BYTES], double per_second);
/* "1 row", "2,345 rows". */
const char *leat_things(char text[LEAT_WORDS_BYTES], int64_t count, const char *thing);
/* The number of the frame `count` frames after another. It wraps around where that overflows: a
 * damaged window may begin anywhere. */
int64_t leat_frame_after(int64_t frame, int64_t count);
/* A text from data as part of a line: unprintable bytes and line breaks are escaped; what does not
 * fit is truncated. */
#define LEAT_PLAIN_BYTES 512
const char *leat_plain(char text[LEAT_PLAIN_BYTES], const char *from);
/* Widens a column for a text. Widths are characters. */
void leat_column_fit(int *width, const char *text);
/* `from`, which may be `text`, with blanks behind it up to a width. */
const char *leat_column_pad(char text[LEAT_PLAIN_BYTES], int width, const char *from);
const char *leat_words_seconds(char text[LEAT_WORDS_BYTES], double seconds);
/* Microseconds since 1970 as "2025-07-01T12:00:00.000000Z". */
const char *leat_words_time(char text[LEAT_WORDS_BYTES], int64_t time_us);
/* The shortest digits that read back as the same float32. */
const char *leat_words_float(char text[LEAT_WORDS_BYTES], float value);

#endif
