/* What the files of this folder share; commands see only cli.h. */
#ifndef LEAT_CLI_COMMAND_INTERNAL_H
#define LEAT_CLI_COMMAND_INTERNAL_H

#include <stdatomic.h>

#include "command/cli.h"

#define LEAT_CLI_OPTIONS_MAX 96
#define LEAT_CLI_NAME_MAX 64 /* the longest option or command name that is compared */

/* An option as seen by the command line: rows of a library's table are expanded. */
typedef struct leat_cli_row {
    const leat_setting *setting;
    const leat_setting_table *table; /* NULL: of the command itself */
    const leat_cli_option *option;
    int shown; /* leat_cli_data of its heading in help; -1: its duplicate is shown */
} leat_cli_row;

typedef struct leat_cli_rows {
    leat_cli_row rows[LEAT_CLI_OPTIONS_MAX];
    int count;
} leat_cli_rows;

/* The value of an option of the command itself, by its kind. */
typedef union leat_cli_value {
    bool flag;
    int choice;
    int64_t number;
    double real;
    const char *text;
} leat_cli_value;

struct leat_cli {
    const leat_cli_command *command;
    const char *const *arguments; /* within argv, which the parser reorders */
    int argument_count;
    bool wants_help;

    leat_cli_rows options;
    /* By row. */
    bool given[LEAT_CLI_OPTIONS_MAX];
    const char *texts[LEAT_CLI_OPTIONS_MAX];
    leat_cli_value values[LEAT_CLI_OPTIONS_MAX];
    int64_t seconds[LEAT_CLI_OPTIONS_MAX];

    int out_errno;     /* the first failure of stdout; 0: none */
    bool out_terminal; /* stdout is a terminal */

    bool progress_possible; /* stderr is a terminal whose lines can be cleared */
    bool progress_shown;
    bool quiet;      /* no progress */
    char detail[48]; /* shown after the stage; "": nothing */
    char stage[64];
    int64_t stage_start_ns, stage_start_done, next_ns;

    bool cancellable;
    atomic_int signal_number; /* the signal that requested a stop; 0: none */
};

extern const leat_cli_command *const leat_cli_commands[]; /* ends with NULL */

/* This program (cli/main.c, cli/worker/main.c), and the command that it is without a word. */
typedef struct leat_cli_program {
    const char *name;
    const leat_cli_command *itself; /* NULL: none */
} leat_cli_program;
extern const leat_cli_program leat_cli_this;

/* How a command is called, and what --help is of without one (NULL): "leat ingest probes", "leat".
 * Returns text. */
#define LEAT_CLI_CALLED_BYTES 80
const char *leat_cli_called(const leat_cli_command *command, char text[LEAT_CLI_CALLED_BYTES]);

/* Parses argv (after the command's words) by the command's table, reordering it so that arguments
 * are adjacent. Returns 0, or 2 after reporting an error. */
int leat_cli_parse(leat_cli *cli, int count, char **argv);
/* A ticket, or a URL that may have a password: not for a screen that others see, or a log. */
bool leat_cli_is_secret(const char *argument);

/* All options of a command except --help. */
void leat_cli_list(const leat_cli_command *command, leat_cli_rows *out);
/* An option that was given but is not for this kind of data; NULL: none. */
const leat_cli_row *leat_cli_misplaced(const leat_cli *cli, leat_cli_data data);

/* Every command has it. */
extern const leat_cli_row leat_cli_help_row;
/* --help of a command, of all commands, or of those whose words begin with `first_word`. */
void leat_cli_help_command(leat_cli *cli, const leat_cli_command *command);
void leat_cli_help_all(leat_cli *cli, const char *first_word);
/* The manual page of a command (NULL: of leat) as roff. */
void leat_cli_man(leat_cli *cli, const leat_cli_command *command);
/* The script that completes words in a shell: bash, zsh, fish; false: another one. */
bool leat_cli_completion(leat_cli *cli, const char *shell);
/* The help of an option with its range and default. */
#define LEAT_CLI_HELP_BYTES 800
const char *leat_cli_help_of(const leat_cli_row *row);
void leat_cli_help_words(const leat_cli_row *row, char text[LEAT_CLI_HELP_BYTES]);
/* Of the options for a kind of data (data_kinds.c): "Options for CAN caches". */
extern const char *const leat_cli_headings[LEAT_CLI_DATA_KINDS];
/* The heading of the options for a kind of data; NULL: the command has none. */
const char *leat_cli_heading(const leat_cli_rows *rows, leat_cli_data data);
/* Whether there are options of kind SIZE, and the note to print once below them. */
bool leat_cli_has_sizes(const leat_cli_rows *rows);
#define LEAT_CLI_SIZE_NOTE                                                                         \
    "SIZE is a number of bytes; the suffix K, M, G or T multiplies by KiB, MiB, GiB or TiB "       \
    "(512M)."

/* Reports a broken invariant of leat's own tables and ends the program. */
void leat_cli_broken(const char *what) __attribute__((noreturn));

/* Open and close the output: stdout's buffer, SIGPIPE, a terminal for progress. Finish reports a
 * failed stdout and returns the exit status to use. */
void leat_out_start(leat_cli *cli);
int leat_out_finish(leat_cli *cli, int status);
/* Writes to stderr, unescaped. */
void leat_out_terminal(const char *bytes, int size_bytes);
/* Columns of the terminal on stderr; 80 if unknown. */
int leat_out_columns(void);
/* Resident set of the process in bytes; -1 if unknown. */
int64_t leat_out_rss_bytes(void);

#endif
