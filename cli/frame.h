/* What the files of the frame share; commands see only cli.h. */
#ifndef LEAT_CLI_FRAME_H
#define LEAT_CLI_FRAME_H

#include <stdatomic.h>

#include "cli.h"

#define LEAT_CLI_OPTIONS_MAX 64
#define LEAT_CLI_NAME_MAX 64 /* the longest option or command name that is compared */

struct leat_cli {
    const leat_cli_command *command;
    const char *const *arguments; /* inside argv, which the parser reorders */
    int argument_count;
    bool wants_help;

    /* By row of the option table. */
    bool given[LEAT_CLI_OPTIONS_MAX];
    const char *texts[LEAT_CLI_OPTIONS_MAX];
    int64_t numbers[LEAT_CLI_OPTIONS_MAX], seconds[LEAT_CLI_OPTIONS_MAX];
    double doubles[LEAT_CLI_OPTIONS_MAX];

    int out_errno; /* the first failure of stdout; 0: none */

    bool progress_possible; /* stderr is a terminal whose lines can be cleared */
    bool progress_shown;
    char stage[64];
    int64_t stage_start_ns, stage_start_done, next_ns;

    bool cancellable;
    atomic_int signal_number; /* the signal that asked us to stop; 0: none */
};

extern const leat_cli_command *const leat_cli_commands[]; /* ends with NULL */

/* Reads argv (after the command's words) by the command's table, reordering it so that arguments
 * stand together. Returns 0, or 2 after telling what is wrong. */
int leat_cli_parse(leat_cli *cli, int count, char **argv);

/* The nearest of `names` to `word` if it is near enough to be meant; NULL otherwise. */
typedef struct leat_cli_nearest {
    const char *word;
    const char *best;
    int best_distance;
} leat_cli_nearest;
leat_cli_nearest leat_cli_nearest_start(const char *word);
void leat_cli_nearest_add(leat_cli_nearest *nearest, const char *name);

/* Every command has it. */
extern const leat_cli_option leat_cli_help_option;
/* --help of a command, of all commands, or of those whose words begin with `first_word`. */
void leat_cli_help_command(leat_cli *cli, const leat_cli_command *command);
void leat_cli_help_all(leat_cli *cli, const char *first_word);
/* The manual page of a command (NULL: of leat) as roff. */
void leat_cli_man(leat_cli *cli, const leat_cli_command *command);
/* "a whole number, at least 1": what an option accepts, for messages. */
void leat_cli_accepted(const leat_cli_option *option, char *text, int text_bytes);
/* The help of an option with its range and default. */
void leat_cli_help_words(const leat_cli_option *option, char *text, int text_bytes);
/* The heading of the options for a kind of data, "Options for CAN caches"; NULL: it has none. */
const char *leat_cli_heading(const leat_cli_command *command, leat_cli_data data);
/* Whether a command has options of kind SIZE, and what is then said once below them. */
bool leat_cli_has_sizes(const leat_cli_command *command);
#define LEAT_CLI_SIZE_NOTE                                                                         \
    "SIZE is a number of bytes, or of KiB, MiB, GiB or TiB with K, M, G or T after it: 512M."
/* The size as a user would type it: "512M". */
const char *leat_words_size(char text[LEAT_WORDS_BYTES], int64_t size_bytes);

/* A broken invariant of our own tables: says so and ends the program. */
void leat_cli_broken(const char *what) __attribute__((noreturn));

/* Opens and closes the output: stdout's buffer, SIGPIPE, a terminal for progress. Finish tells a
 * failed stdout and returns the exit status to use. */
void leat_out_start(leat_cli *cli);
int leat_out_finish(leat_cli *cli, int status);
/* Writes to stderr as it is. */
void leat_out_terminal(const char *bytes, int size_bytes);
/* Columns of the terminal on stderr; 80 if unknown. */
int leat_out_columns(void);
/* Resident set of the process in bytes; -1 if unknown. */
int64_t leat_out_rss_bytes(void);

#endif
