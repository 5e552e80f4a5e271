/* --help of one command or of all, generated from the commands' tables. */
#include <stdio.h>
#include <string.h>

#include "command/internal.h"

#define HELP_COLUMNS 80
#define OPTION_COLUMN 30 /* where the help text of an option begins */

static const leat_cli_option help_option = {
    .own.name = "help", .own.kind = LEAT_SETTING_FLAG, .own.help = "show this text", .letter = 'h'};
const leat_cli_row leat_cli_help_row = {&help_option.own, NULL, &help_option, LEAT_CLI_ANY};

/* Writes the words of `text` up to an empty line or the end, in lines of at most HELP_COLUMNS; the
 * first word is at `column` (already written up to there), later lines start at `indent`. Returns
 * where it stopped. */
static const char *write_wrapped(leat_cli *cli, const char *text, int indent, int column) {
    bool first = true;
    while (*text != 0 && strncmp(text, "\n\n", 2) != 0) {
        text += strspn(text, " ");
        if (strncmp(text, "\n\n", 2) == 0) break;
        text += *text == '\n';
        int size = (int)strcspn(text, " \n");
        if (size == 0) continue;
        if (!first && column + 1 + size > HELP_COLUMNS) {
            leat_out(cli, "\n%*s", indent, "");
            column = indent;
            first = true;
        }
        leat_out(cli, "%s%.*s", first ? "" : " ", size, text);
        column += size + !first;
        first = false;
        text += size;
    }
    leat_out(cli, "\n");
    return text;
}

static void write_paragraphs(leat_cli *cli, const char *text) {
    while (*text != 0) {
        text = write_wrapped(cli, text, 0, 0);
        text += strspn(text, "\n");
        leat_out(cli, "\n");
    }
}

/* Writes choices after a name, in lines that end after a bar; returns the column. */
static int write_value(leat_cli *cli, const char *value, bool bare, int column) {
    enum { INDENT = 8 };
    leat_out(cli, bare ? "[=" : " ");
    column += bare ? 2 : 1;
    while (*value != 0) {
        int size = (int)strcspn(value, "|");
        size += value[size] == '|';
        if (column + size > HELP_COLUMNS && column > INDENT) {
            leat_out(cli, "\n%*s", INDENT, "");
            column = INDENT;
        }
        leat_out(cli, "%.*s", size, value);
        column += size;
        value += size;
    }
    if (bare) leat_out(cli, "]");
    return column + bare;
}

static void write_option(leat_cli *cli, const leat_cli_row *row) {
    const char *name = row->setting->name, *value = leat_setting_value(row->setting);
    char head[96], words[LEAT_CLI_HELP_BYTES];
    int size = row->option->letter != 0
                   ? snprintf(head, sizeof head, "  -%c, --%s", row->option->letter, name)
                   : snprintf(head, sizeof head, "      --%s", name);
    leat_cli_help_words(row, words);
    leat_out(cli, "%s", head);
    if (value != NULL) size = write_value(cli, value, row->option->bare != NULL, size);
    if (size + 2 > OPTION_COLUMN) {
        leat_out(cli, "\n");
        size = 0;
    }
    leat_out(cli, "%*s", OPTION_COLUMN - size, "");
    write_wrapped(cli, words, OPTION_COLUMN, OPTION_COLUMN);
}

const char *leat_cli_heading(const leat_cli_rows *rows, leat_cli_data data) {
    if (data == LEAT_CLI_ANY) return "Options"; /* at least --help */
    for (int i = 0; i < rows->count; i++)
        if (rows->rows[i].shown == (int)data) return leat_cli_headings[data];
    return NULL;
}

static void write_options(leat_cli *cli, const leat_cli_rows *rows, leat_cli_data data) {
    const char *heading = leat_cli_heading(rows, data);
    if (heading == NULL) return;
    leat_out(cli, "%s%s:\n", data == LEAT_CLI_ANY ? "" : "\n", heading);
    for (int i = 0; i < rows->count; i++)
        if (rows->rows[i].shown == (int)data && rows->rows[i].option->heading == NULL)
            write_option(cli, &rows->rows[i]);
    if (data == LEAT_CLI_ANY) write_option(cli, &leat_cli_help_row);
}

static void write_groups(leat_cli *cli, const leat_cli_rows *rows) {
    for (int i = 0; i < rows->count; i++) {
        const leat_cli_option *option = rows->rows[i].option;
        if (option->heading == NULL) continue;
        if (i == 0 || rows->rows[i - 1].option != option) leat_out(cli, "\n%s:\n", option->heading);
        write_option(cli, &rows->rows[i]);
    }
}

/* Examples are lines of leat; in a program with another name, its own ones. */
static void write_example(leat_cli *cli, const leat_cli_command *command, const char *called,
                          const leat_cli_example *example) {
    const char *line = example->line;
    const size_t size = strlen(command->words);
    if (strncmp(line, "leat ", 5) == 0 && strncmp(line + 5, command->words, size) == 0)
        leat_out(cli, "  %s%s\n%*s", called, line + 5 + size, 6, "");
    else leat_out(cli, "  %s\n%*s", line, 6, "");
    write_wrapped(cli, example->says, 6, 6);
}

void leat_cli_help_command(leat_cli *cli, const leat_cli_command *command) {
    char called[LEAT_CLI_CALLED_BYTES];
    leat_cli_called(command, called);
    leat_out(cli, "%s: %s\n\nUsage: %s %s\n\n", called, command->purpose, called, command->usage);
    write_paragraphs(cli, command->about);
    leat_cli_rows rows;
    leat_cli_list(command, &rows);
    for (int data = LEAT_CLI_ANY; data < LEAT_CLI_DATA_KINDS; data++)
        write_options(cli, &rows, data);
    write_groups(cli, &rows);
    if (leat_cli_has_sizes(&rows)) leat_out(cli, "\n%s\n", LEAT_CLI_SIZE_NOTE);
    leat_out(cli, "\nExamples:\n");
    for (const leat_cli_example *row = command->examples; row->line != NULL; row++)
        write_example(cli, command, called, row);
    leat_out(cli, "\nExit status: 0 success, 1 failure, 2 wrong usage.\n");
}

static bool begins_with_word(const char *words, const char *first_word) {
    size_t size = strlen(first_word);
    return strncmp(words, first_word, size) == 0 && (words[size] == ' ' || words[size] == 0);
}

void leat_cli_help_all(leat_cli *cli, const char *first_word) {
    if (first_word == NULL)
        leat_out(cli, "leat: raw telemetry in, trained models out\n\n"
                      "Usage: leat COMMAND ...\n\nCommands:\n");
    else leat_out(cli, "Usage: leat %s ...\n\nCommands:\n", first_word);
    for (int i = 0; leat_cli_commands[i] != NULL; i++)
        if (first_word == NULL || begins_with_word(leat_cli_commands[i]->words, first_word))
            leat_out(cli, "  %-16s %s\n", leat_cli_commands[i]->words,
                     leat_cli_commands[i]->purpose);
    if (first_word == NULL)
        leat_out(cli, "\nleat COMMAND --help describes a command in full, with examples.\nleat "
                      "--version prints the version.\n");
}
