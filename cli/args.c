/*
 * Reading the command line by a command's option table, and saying what is wrong with it.
 *
 * `--name value`, `--name=value`, `-o value` and `-ovalue` mean the same; `--` ends the options; a
 * lone `-` is an argument. Nothing is allocated: texts stay in argv.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"

/* ---- The nearest name -------------------------------------------------------------------- */

static int min_of(int a, int b) { return a < b ? a : b; }

/* The number of letters to insert, remove, replace or swap with the neighbour. */
static int edit_distance(const char *a, const char *b) {
    int rows[3][LEAT_CLI_NAME_MAX + 1];
    int a_size = (int)strnlen(a, LEAT_CLI_NAME_MAX), b_size = (int)strnlen(b, LEAT_CLI_NAME_MAX);
    for (int j = 0; j <= b_size; j++) rows[0][j] = j;
    for (int i = 1; i <= a_size; i++) {
        int *row = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
        row[0] = i;
        for (int j = 1; j <= b_size; j++) {
            int change = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = min_of(min_of(above[j], row[j - 1]) + 1, change);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = min_of(row[j], above2[j - 2] + 1);
        }
    }
    return rows[a_size % 3][b_size];
}

leat_cli_nearest leat_cli_nearest_start(const char *word) {
    /* A third of the letters may be wrong; more is no slip but another word. */
    int size = (int)strnlen(word, LEAT_CLI_NAME_MAX);
    return (leat_cli_nearest){.word = word, .best_distance = (size + 2) / 3 + 1};
}

void leat_cli_nearest_add(leat_cli_nearest *nearest, const char *name) {
    size_t size = strlen(nearest->word);
    int distance = edit_distance(nearest->word, name);
    /* "--thr" is the beginning of a name, whatever is missing */
    if (size >= 2 && strncmp(nearest->word, name, size) == 0) distance = min_of(distance, 1);
    if (distance >= nearest->best_distance) return;
    nearest->best = name;
    nearest->best_distance = distance;
}

/* ---- Values ------------------------------------------------------------------------------ */

/* ", at least 1M, at most 2G" for an option of whole numbers; empty if any will do. */
static void range_words(const leat_cli_option *option, char *text, size_t text_bytes) {
    char least[LEAT_WORDS_BYTES], most[LEAT_WORDS_BYTES];
    bool is_size = option->kind == LEAT_CLI_SIZE || option->kind == LEAT_CLI_SIZE_OR_NONE;
    snprintf(least, sizeof least, "%lld", (long long)option->min);
    snprintf(most, sizeof most, "%lld", (long long)option->max);
    if (is_size) leat_words_size(least, option->min);
    if (is_size) leat_words_size(most, option->max);
    int used = 0;
    text[0] = 0;
    if (option->min != 0 || !is_size) used = snprintf(text, text_bytes, ", at least %s", least);
    if (option->max != 0) snprintf(text + used, text_bytes - (size_t)used, ", at most %s", most);
}

void leat_cli_accepted(const leat_cli_option *option, char *text, int text_bytes) {
    char range[80];
    size_t room = (size_t)text_bytes;
    switch (option->kind) {
    case LEAT_CLI_FLAG: snprintf(text, room, "no value"); return;
    case LEAT_CLI_TEXT: snprintf(text, room, "text that is not empty"); return;
    case LEAT_CLI_CHOICE: snprintf(text, room, "one of %s", option->choices); return;
    case LEAT_CLI_INT:
        range_words(option, range, sizeof range);
        snprintf(text, room, "a whole number%s", range);
        return;
    case LEAT_CLI_INT_PAIR:
        range_words(option, range, sizeof range);
        snprintf(text, room, "two whole numbers, as two words%s", range);
        return;
    case LEAT_CLI_SIZE:
    case LEAT_CLI_SIZE_OR_NONE:
        range_words(option, range, sizeof range);
        snprintf(text, room, "a number of bytes, or of KiB, MiB, GiB, TiB as 1K, 1M, 1G, 1T%s%s",
                 range, option->kind == LEAT_CLI_SIZE_OR_NONE ? ", or none" : "");
        return;
    case LEAT_CLI_DOUBLE:
        if (option->low != 0 || option->high != 0)
            snprintf(text, room, "a number from %g to %g", option->low, option->high);
        else snprintf(text, room, "a number");
        return;
    }
}

void leat_cli_help_words(const leat_cli_option *option, char *text, int text_bytes) {
    char range[80] = "";
    bool is_size = option->kind == LEAT_CLI_SIZE || option->kind == LEAT_CLI_SIZE_OR_NONE;
    if (option->kind == LEAT_CLI_DOUBLE && (option->low != 0 || option->high != 0))
        snprintf(range, sizeof range, ", from %g to %g", option->low, option->high);
    else if (is_size || option->kind == LEAT_CLI_INT) range_words(option, range, sizeof range);
    int used = snprintf(text, (size_t)text_bytes, "%s%s", option->help, range);
    if (option->preset != NULL && used < text_bytes)
        snprintf(text + used, (size_t)(text_bytes - used), " (default: %s)", option->preset);
}

const char *leat_cli_heading(const leat_cli_command *command, leat_cli_data data) {
    static const char *const headings[] = {[LEAT_CLI_ANY] = "Options",
                                           [LEAT_CLI_PROBES] = "Options for probe rows",
                                           [LEAT_CLI_CAN] = "Options for CAN caches"};
    bool found = data == LEAT_CLI_ANY; /* --help at least */
    for (const leat_cli_option *row = command->options; row->name != NULL; row++)
        found = found || row->of == data;
    return found ? headings[data] : NULL;
}

bool leat_cli_has_sizes(const leat_cli_command *command) {
    for (const leat_cli_option *row = command->options; row->name != NULL; row++)
        if (row->kind == LEAT_CLI_SIZE || row->kind == LEAT_CLI_SIZE_OR_NONE) return true;
    return false;
}

/* A whole number in decimal, and nothing else before *end. */
static bool read_digits(const char *text, int64_t *value, const char **end) {
    char *stop = NULL;
    bool negative = text[0] == '-';
    if (text[negative] < '0' || text[negative] > '9') return false;
    errno = 0;
    long long number = strtoll(text, &stop, 10);
    if (errno != 0) return false;
    *value = number;
    *end = stop;
    return true;
}

static bool read_int(const char *text, int64_t *value) {
    const char *end = NULL;
    return read_digits(text, value, &end) && *end == 0;
}

static bool read_size(const char *text, int64_t *value) {
    static const char letters[] = "KMGT";
    const char *end = NULL;
    if (!read_digits(text, value, &end) || *value < 0) return false;
    if (*end == 0) return true;
    char upper = *end >= 'a' && *end <= 'z' ? (char)(*end - 'a' + 'A') : *end;
    const char *letter = strchr(letters, upper);
    if (letter == NULL || (end[1] != 0 && strcmp(end + 1, "iB") != 0)) return false;
    int shift = 10 * (int)(letter - letters + 1);
    if (*value > INT64_MAX >> shift) return false;
    *value <<= shift;
    return true;
}

static bool read_double(const char *text, double *value) {
    char *end = NULL;
    if (strspn(text, "0123456789+-.eE") != strlen(text)) return false; /* no hex, no "nan" */
    *value = strtod(text, &end);
    return end != text && *end == 0 && isfinite(*value);
}

static bool is_choice(const char *choices, const char *text) {
    size_t size = strlen(text);
    for (const char *at = choices; size > 0;) {
        size_t one = strcspn(at, "|");
        if (one == size && memcmp(at, text, size) == 0) return true;
        if (at[one] == 0) return false;
        at += one + 1;
    }
    return false;
}

static bool in_range(const leat_cli_option *option, int64_t value) {
    return value >= option->min && (option->max == 0 || value <= option->max);
}

/* Reads a text as the option's kind into the values of row `index`; false if it is none. */
static bool read_value(leat_cli *cli, int index, const char *text) {
    const leat_cli_option *option = &cli->command->options[index];
    int64_t *number = &cli->numbers[index];
    double *real = &cli->doubles[index];
    cli->texts[index] = text;
    switch (option->kind) {
    case LEAT_CLI_FLAG: return true;
    case LEAT_CLI_TEXT: return text[0] != 0;
    case LEAT_CLI_CHOICE: return is_choice(option->choices, text);
    case LEAT_CLI_INT:
    case LEAT_CLI_INT_PAIR: return read_int(text, number) && in_range(option, *number);
    case LEAT_CLI_SIZE_OR_NONE:
        if (strcmp(text, "none") == 0) {
            *number = LEAT_CLI_NONE;
            return true;
        }
        return read_size(text, number) && in_range(option, *number);
    case LEAT_CLI_SIZE: return read_size(text, number) && in_range(option, *number);
    case LEAT_CLI_DOUBLE:
        return read_double(text, real) && ((option->low == 0 && option->high == 0) ||
                                           (*real >= option->low && *real <= option->high));
    }
    return false;
}

/* ---- The line ---------------------------------------------------------------------------- */

/* How an option is called in messages: as it was typed, cut to a sane length. */
static int unknown_option(leat_cli *cli, const char *typed, int name_size) {
    char name[LEAT_CLI_NAME_MAX + 1];
    if (typed[1] != '-' || name_size >= LEAT_CLI_NAME_MAX)
        return leat_cli_usage(cli, "unknown option %.*s", typed[1] == '-' ? LEAT_CLI_NAME_MAX : 2,
                              typed);
    snprintf(name, sizeof name, "%.*s", name_size, typed + 2);
    leat_cli_nearest nearest = leat_cli_nearest_start(name);
    for (const leat_cli_option *row = cli->command->options; row->name != NULL; row++)
        leat_cli_nearest_add(&nearest, row->name);
    leat_cli_nearest_add(&nearest, "help");
    if (nearest.best == NULL) return leat_cli_usage(cli, "unknown option --%s", name);
    return leat_cli_usage(cli, "unknown option --%s; did you mean --%s?", name, nearest.best);
}

static int set_option(leat_cli *cli, int index, const char *value) {
    const leat_cli_option *option = &cli->command->options[index];
    char accepted[160];
    if (cli->given[index]) return leat_cli_usage(cli, "--%s is given twice", option->name);
    cli->given[index] = true;
    if (option->kind == LEAT_CLI_FLAG) return 0;
    if (read_value(cli, index, value)) return 0;
    leat_cli_accepted(option, accepted, sizeof accepted);
    return leat_cli_usage(cli, "--%s: \"%.200s\" is not accepted; it takes %s", option->name, value,
                          accepted);
}

/* The second word of an INT_PAIR, which read_value reads like the first. */
static int set_second(leat_cli *cli, int index, const char *value) {
    int64_t first = cli->numbers[index];
    cli->given[index] = false;
    int status = set_option(cli, index, value);
    cli->seconds[index] = cli->numbers[index];
    cli->numbers[index] = first;
    return status;
}

/* Takes the option at argv[*at] and, if it needs one, the value after it. */
static int take_option(leat_cli *cli, int count, char **argv, int *at) {
    const leat_cli_option *options = cli->command->options;
    const char *typed = argv[*at], *value = NULL;
    bool is_long = typed[1] == '-';
    int index = 0, name_size = 0;
    if (is_long) {
        name_size = (int)strcspn(typed + 2, "=");
        if (typed[2 + name_size] == '=') value = typed + 3 + name_size;
    } else if (typed[2] != 0) value = typed + 2;
    if ((is_long && name_size == 4 && memcmp(typed + 2, "help", 4) == 0 && value == NULL) ||
        strcmp(typed, "-h") == 0) {
        cli->wants_help = true;
        return 0;
    }
    for (; options[index].name != NULL; index++) {
        const char *name = options[index].name;
        if (is_long ? (int)strlen(name) == name_size && memcmp(name, typed + 2, strlen(name)) == 0
                    : options[index].letter == typed[1])
            break;
    }
    if (options[index].name == NULL) return unknown_option(cli, typed, name_size);
    bool is_pair = options[index].kind == LEAT_CLI_INT_PAIR;
    if (options[index].second_optional) {
        int64_t second = 0;
        is_pair = value == NULL && *at + 2 < count && read_int(argv[*at + 2], &second);
        cli->seconds[index] = LEAT_CLI_NONE;
    }
    if (value == NULL && options[index].bare != NULL) value = options[index].bare;
    if (options[index].kind == LEAT_CLI_FLAG) {
        if (value != NULL) return leat_cli_usage(cli, "--%s takes no value", options[index].name);
    } else if (value == NULL || is_pair) {
        if (value != NULL || *at + 1 + is_pair >= count || strncmp(argv[*at + 1], "--", 2) == 0)
            return leat_cli_usage(cli, "--%s needs %s (%s)", options[index].name,
                                  is_pair ? "two values" : "a value",
                                  options[index].kind == LEAT_CLI_CHOICE ? options[index].choices
                                                                         : options[index].value);
        value = argv[++*at];
    }
    int status = set_option(cli, index, value);
    return status == 0 && is_pair ? set_second(cli, index, argv[++*at]) : status;
}

static int check_counts(leat_cli *cli) {
    const leat_cli_command *command = cli->command;
    if (cli->argument_count < command->min_arguments)
        return leat_cli_usage(cli, "%s is missing", command->argument);
    if (command->max_arguments >= 0 && cli->argument_count > command->max_arguments)
        return leat_cli_usage(cli, "\"%.200s\" is one argument too many",
                              cli->arguments[command->max_arguments]);
    for (int i = 0; command->options[i].name != NULL; i++)
        if (command->options[i].required && !cli->given[i])
            return leat_cli_usage(cli, "--%s %s is missing", command->options[i].name,
                                  command->options[i].value);
    return 0;
}

/* A default that its own option does not accept would be our mistake, not the user's. */
static void read_presets(leat_cli *cli) {
    int count = 0;
    for (; cli->command->options[count].name != NULL; count++) {
        if (count >= LEAT_CLI_OPTIONS_MAX) leat_cli_broken("too many options");
        const char *preset = cli->command->options[count].preset;
        if (preset != NULL && !read_value(cli, count, preset))
            leat_cli_broken(cli->command->options[count].name);
    }
}

int leat_cli_parse(leat_cli *cli, int count, char **argv) {
    int kept = 0;
    bool options_ended = false;
    read_presets(cli);
    for (int i = 0; i < count; i++) {
        if (options_ended || argv[i][0] != '-' || argv[i][1] == 0) {
            argv[kept++] = argv[i];
        } else if (strcmp(argv[i], "--") == 0) {
            options_ended = true;
        } else {
            int status = take_option(cli, count, argv, &i);
            if (status != 0) return status;
            if (cli->wants_help) return 0;
        }
    }
    cli->arguments = (const char *const *)argv;
    cli->argument_count = kept;
    return check_counts(cli);
}

/* ---- What commands ask ------------------------------------------------------------------- */

static int row_of(const leat_cli *cli, const char *name) {
    const leat_cli_option *options = cli->command->options;
    for (int i = 0; options[i].name != NULL; i++)
        if (strcmp(options[i].name, name) == 0) return i;
    leat_cli_broken(name);
}

bool leat_cli_flag(const leat_cli *cli, const char *name) { return cli->given[row_of(cli, name)]; }
bool leat_cli_given(const leat_cli *cli, const char *name) { return cli->given[row_of(cli, name)]; }
const char *leat_cli_text(const leat_cli *cli, const char *name) {
    return cli->texts[row_of(cli, name)];
}
int64_t leat_cli_int(const leat_cli *cli, const char *name) {
    return cli->numbers[row_of(cli, name)];
}
int64_t leat_cli_second(const leat_cli *cli, const char *name) {
    return cli->seconds[row_of(cli, name)];
}
double leat_cli_double(const leat_cli *cli, const char *name) {
    return cli->doubles[row_of(cli, name)];
}
int leat_cli_argument_count(const leat_cli *cli) { return cli->argument_count; }
const char *leat_cli_argument(const leat_cli *cli, int index) {
    return index >= 0 && index < cli->argument_count ? cli->arguments[index] : NULL;
}
const char *const *leat_cli_arguments(const leat_cli *cli) { return cli->arguments; }
