/*
 * The manual pages, as roff, generated from the same tables as --help: `leat help --man WORDS`
 * prints one. docs/man holds them for installation; a test checks that they are up to date.
 */
#include <stdio.h>
#include <string.h>

#include "command/internal.h"

/* Text with the characters that roff interprets escaped: backslashes, hyphens that are minus signs,
 * and a full stop or quote at the start of a line. */
static void write_text(leat_cli *cli, const char *text) {
    bool line_start = true;
    for (; *text != 0; text++) {
        if (line_start && (*text == '.' || *text == '\'')) leat_out(cli, "\\&");
        if (*text == '\\') leat_out(cli, "\\e");
        else if (*text == '-') leat_out(cli, "\\-");
        else leat_out_bytes(cli, text, 1);
        line_start = *text == '\n';
    }
}

static void write_paragraphs(leat_cli *cli, const char *text) {
    for (; *text != 0; text += strspn(text, "\n")) {
        const char *end = strstr(text, "\n\n");
        char part[2048];
        int size = end == NULL ? (int)strlen(text) : (int)(end - text);
        snprintf(part, sizeof part, "%.*s", size, text);
        leat_out(cli, ".PP\n");
        write_text(cli, part);
        leat_out(cli, "\n");
        text += size;
    }
}

/* "ingest probes" as "ingest-probes". */
static void dashed(const char *words, char text[LEAT_CLI_NAME_MAX]) {
    snprintf(text, LEAT_CLI_NAME_MAX, "%s", words);
    for (char *at = text; *at != 0; at++)
        if (*at == ' ') *at = '-';
}

static void write_head(leat_cli *cli, const char *name, const char *purpose, const char *words,
                       const char *usage) {
    leat_out(cli, ".TH \"%s\" 1 \"\" \"leat %s\" \"leat\"\n.SH NAME\n", name, leat_version());
    write_text(cli, name);
    leat_out(cli, " \\- ");
    write_text(cli, purpose);
    leat_out(cli, "\n.SH SYNOPSIS\n\\fBleat%s%s\\fR ", words[0] != 0 ? " " : "", words);
    write_text(cli, usage);
    leat_out(cli, "\n");
}

static void write_option(leat_cli *cli, const leat_cli_row *row) {
    const char *value = leat_setting_value(row->setting);
    bool bare = row->option->bare != NULL;
    char words[LEAT_CLI_HELP_BYTES];
    leat_out(cli, ".TP\n");
    if (row->option->letter != 0) leat_out(cli, "\\fB\\-%c\\fR, ", row->option->letter);
    leat_out(cli, "\\fB\\-\\-");
    write_text(cli, row->setting->name);
    leat_out(cli, "\\fR");
    if (value != NULL) {
        leat_out(cli, bare ? "[=\\fI" : " \\fI");
        write_text(cli, value);
        leat_out(cli, bare ? "\\fR]" : "\\fR");
    }
    leat_out(cli, "\n");
    leat_cli_help_words(row, words);
    write_text(cli, words);
    leat_out(cli, "\n");
}

static void write_options(leat_cli *cli, const leat_cli_rows *rows, leat_cli_data data) {
    const char *heading = leat_cli_heading(rows, data);
    if (heading == NULL) return;
    if (data != LEAT_CLI_ANY) leat_out(cli, ".SS \"%s\"\n", heading);
    for (int i = 0; i < rows->count; i++)
        if (rows->rows[i].shown == (int)data && rows->rows[i].option->heading == NULL)
            write_option(cli, &rows->rows[i]);
    if (data == LEAT_CLI_ANY) write_option(cli, &leat_cli_help_row);
}

static void write_groups(leat_cli *cli, const leat_cli_rows *rows) {
    for (int i = 0; i < rows->count; i++) {
        const leat_cli_option *option = rows->rows[i].option;
        if (option->heading == NULL) continue;
        if (i == 0 || rows->rows[i - 1].option != option)
            leat_out(cli, ".SS \"%s\"\n", option->heading);
        write_option(cli, &rows->rows[i]);
    }
}

static void man_of_leat(leat_cli *cli) {
    char name[LEAT_CLI_NAME_MAX];
    write_head(cli, "leat", "raw telemetry in, trained models out", "", "COMMAND ...");
    leat_out(cli, ".SH COMMANDS\n");
    for (int i = 0; leat_cli_commands[i] != NULL; i++) {
        leat_out(cli, ".TP\n\\fBleat %s\\fR\n", leat_cli_commands[i]->words);
        write_text(cli, leat_cli_commands[i]->purpose);
        dashed(leat_cli_commands[i]->words, name);
        leat_out(cli, "; see \\fBleat\\-");
        write_text(cli, name);
        leat_out(cli, "\\fR(1)\n");
    }
}

/* Commands that are used together: the pages of both refer to each other. "train" is that of each
 * model. */
static const char *const related[][2] = {
    {"ingest probes", "inspect"},
    {"ingest probes", "batches"},
    {"ingest probes", "cat"},
    {"ingest probes", "synth probes"},
    {"ingest can", "inspect"},
    {"ingest can", "batches"},
    {"ingest can", "cat"},
    {"ingest can", "synth can"},
    {"ingest images", "inspect"},
    {"ingest images", "batches"},
    {"ingest images", "cat"},
    {"ingest images", "train dcgan"},
    {"ingest can", "train vgae"},
    {"ingest can", "train gat"},
    {"train vgae", "train gat"},
    {"ingest images", "synth images"},
    {"inspect", "batches"},
    {"inspect", "cat"},
    {"inspect", "doctor"},
    {"inspect", "train"},
    {"batches", "cat"},
    {"train dcgan", "sample"},
    {"train", "export"},
    {"train", "import"},
    {"train", "coordinate"},
    {"coordinate", "work"},
    {"coordinate", "status"},
    {"coordinate", "doctor"},
    {"work", "status"},
    {"work", "doctor"},
    {"status", "doctor"},
    {"sample", "export"},
    {"sample", "import"},
    {"export", "import"},
    {"train vgae", "eval"},
    {"train gat", "eval"},
    {"ingest can", "eval"},
    {"inspect", "eval"},
    {"train vgae", "detect"},
    {"train gat", "detect"},
    {"ingest can", "detect"},
    {"eval", "detect"},
    {"train", "dash"},
    {"coordinate", "dash"},
    {"status", "dash"},
    {"coordinate", "invite"},
    {"work", "invite"},
    {"invite", "revoke"},
    {"coordinate", "revoke"},
    {"doctor", "version"},
};

static bool is_named(const char *words, const char *name) {
    static const char train[] = "train";
    if (strcmp(name, train) == 0) return strncmp(words, "train ", sizeof train) == 0;
    return strcmp(words, name) == 0;
}

static bool are_related(const char *words, const char *other) {
    for (size_t i = 0; i < sizeof related / sizeof related[0]; i++)
        for (int side = 0; side < 2; side++)
            if (is_named(words, related[i][side]) && is_named(other, related[i][1 - side]))
                return true;
    return false;
}

/* The page of leat (command is NULL) refers to all others. */
static void write_tail(leat_cli *cli, const leat_cli_command *command) {
    char name[LEAT_CLI_NAME_MAX];
    const char *between = "";
    leat_out(cli, ".SH EXIT STATUS\n0 success, 1 failure, 2 wrong usage.\n.SH SEE ALSO\n");
    if (command != NULL) {
        leat_out(cli, "\\fBleat\\fR(1)");
        between = ",\n";
    }
    for (int i = 0; leat_cli_commands[i] != NULL; i++) {
        const char *words = leat_cli_commands[i]->words;
        if (command != NULL && !are_related(command->words, words)) continue;
        dashed(words, name);
        leat_out(cli, "%s\\fBleat\\-", between);
        write_text(cli, name);
        leat_out(cli, "\\fR(1)");
        between = ",\n";
    }
    leat_out(cli, "\n");
}

void leat_cli_man(leat_cli *cli, const leat_cli_command *command) {
    char name[LEAT_CLI_NAME_MAX + 8] = "leat-";
    if (command == NULL) {
        man_of_leat(cli);
        write_tail(cli, NULL);
        return;
    }
    dashed(command->words, name + strlen(name));
    write_head(cli, name, command->purpose, command->words, command->usage);
    leat_out(cli, ".SH DESCRIPTION\n");
    write_paragraphs(cli, command->about);
    leat_out(cli, ".SH OPTIONS\n");
    leat_cli_rows rows;
    leat_cli_list(command, &rows);
    for (int data = LEAT_CLI_ANY; data < LEAT_CLI_DATA_KINDS; data++)
        write_options(cli, &rows, data);
    write_groups(cli, &rows);
    if (leat_cli_has_sizes(&rows)) leat_out(cli, ".PP\n%s\n", LEAT_CLI_SIZE_NOTE);
    leat_out(cli, ".SH EXAMPLES\n");
    for (const leat_cli_example *row = command->examples; row->line != NULL; row++) {
        leat_out(cli, ".PP\n.nf\n");
        write_text(cli, row->line);
        leat_out(cli, "\n.fi\n.RS\n");
        write_text(cli, row->says);
        leat_out(cli, "\n.RE\n");
    }
    write_tail(cli, command);
}
