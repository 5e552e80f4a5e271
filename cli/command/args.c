/*
 * Parses the command line by the option table of a command and reports its errors.
 *
 * `--name value`, `--name=value`, `-o value` and `-ovalue` mean the same; `--` ends the options; a
 * lone `-` is an argument. Values are parsed and checked by their settings (leat/base.h). Nothing
 * is allocated: texts stay in argv.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "command/internal.h"

/* ---- The options -------------------------------------------------------------------------- */

static bool is_listed(const leat_cli_rows *rows, const char *name, const leat_cli_option *by) {
    for (int i = 0; i < rows->count; i++) {
        const leat_cli_option *other = rows->rows[i].option;
        bool meet = other->of == by->of || other->of == LEAT_CLI_ANY || by->of == LEAT_CLI_ANY;
        if (other->model != NULL && by->model != NULL && other != by) meet = false;
        if (meet && strcmp(rows->rows[i].setting->name, name) == 0) return true;
    }
    return false;
}

/* Of an option that several models have, a shell is told once. */
static bool is_twin_of_model(const leat_cli_rows *rows, const leat_cli_row *row) {
    for (int i = 0; row->option->model != NULL && i < rows->count; i++)
        if (strcmp(rows->rows[i].setting->name, row->setting->name) == 0) return true;
    return false;
}

/* Options of several kinds of data with the same help text are shown once. */
static void join_twins(leat_cli_rows *rows, leat_cli_row *row) {
    char words[LEAT_CLI_HELP_BYTES], other_words[LEAT_CLI_HELP_BYTES];
    leat_cli_help_words(row, words);
    for (int i = 0; i < rows->count; i++) {
        leat_cli_row *other = &rows->rows[i];
        if (other->shown < 0 || strcmp(other->setting->name, row->setting->name) != 0) continue;
        leat_cli_help_words(other, other_words);
        if (strcmp(words, other_words) != 0 || row->setting->kind != other->setting->kind) continue;
        other->shown = LEAT_CLI_ANY;
        row->shown = -1;
    }
}

static void add_row(leat_cli_rows *rows, const leat_cli_option *option,
                    const leat_setting_table *table, const leat_setting *setting) {
    leat_cli_row row = {setting, table, option, (int)option->of};
    if (rows->count == LEAT_CLI_OPTIONS_MAX) leat_cli_broken("too many options");
    if (option->of != LEAT_CLI_ANY) join_twins(rows, &row);
    if (is_twin_of_model(rows, &row)) row.shown = -1;
    rows->rows[rows->count++] = row;
}

static const leat_cli_option quiet_option = {
    .own.name = "quiet",
    .own.kind = LEAT_SETTING_FLAG,
    .own.help = "do not report progress on stderr, which is otherwise a line on a terminal and one "
                "line a minute elsewhere"};

static void add_option(leat_cli_rows *rows, const leat_cli_option *o) {
    const leat_setting_table *table = o->table == NULL ? NULL : o->table();
    if (table == NULL) add_row(rows, o, NULL, &o->own);
    for (int i = 0; table != NULL && table->rows[i].name != NULL; i++) {
        const char *name = table->rows[i].name;
        if (o->own.name == NULL ? !is_listed(rows, name, o) : strcmp(o->own.name, name) == 0)
            add_row(rows, o, table, &table->rows[i]);
    }
}

static bool is_end(const leat_cli_option *o) {
    return o->own.name == NULL && o->table == NULL && o->more == NULL;
}

void leat_cli_list(const leat_cli_command *command, leat_cli_rows *out) {
    out->count = 0;
    for (const leat_cli_option *o = command->options; !is_end(o); o++) {
        if (o->more == NULL) add_option(out, o);
        for (const leat_cli_option *of = o->more; of != NULL && !is_end(of); of++)
            add_option(out, of);
    }
    if (command->shows_progress) add_row(out, &quiet_option, NULL, &quiet_option.own);
}

const char *leat_cli_help_of(const leat_cli_row *row) {
    const leat_setting *words = row->option->words;
    for (; words != NULL && words->name != NULL; words++)
        if (strcmp(words->name, row->setting->name) == 0) return words->help;
    return row->setting->help;
}

void leat_cli_help_words(const leat_cli_row *row, char text[LEAT_CLI_HELP_BYTES]) {
    char range[2 * LEAT_SETTING_BYTES], value[LEAT_SETTING_BYTES];
    const leat_setting *setting = row->setting;
    const char *preset = row->option->preset;
    if (preset == NULL)
        preset = row->table == NULL ? setting->usually
                                    : leat_setting_default(row->table, setting, value);
    leat_setting_range(setting, range, sizeof range);
    bool has_range = range[0] != 0, has_preset = preset != NULL && !row->option->required;
    int used = snprintf(text, LEAT_CLI_HELP_BYTES, "%s", leat_cli_help_of(row));
    if (used >= LEAT_CLI_HELP_BYTES || (!has_range && !has_preset)) return;
    snprintf(text + used, LEAT_CLI_HELP_BYTES - (size_t)used, " (%s%s%s%s)", range,
             has_range && has_preset ? "; " : "", has_preset ? "default: " : "",
             has_preset ? preset : "");
}

bool leat_cli_has_sizes(const leat_cli_rows *rows) {
    for (int i = 0; i < rows->count; i++)
        if (rows->rows[i].setting->kind == LEAT_SETTING_SIZE) return true;
    return false;
}

/* ---- The line ---------------------------------------------------------------------------- */

/* Reports an option as it was typed, truncated to a reasonable length. */
static int unknown_option(leat_cli *cli, const char *typed, int name_size) {
    char name[LEAT_CLI_NAME_MAX + 1];
    if (typed[1] != '-' || name_size >= LEAT_CLI_NAME_MAX)
        return leat_cli_usage(cli, "unknown option %.*s", typed[1] == '-' ? LEAT_CLI_NAME_MAX : 2,
                              typed);
    snprintf(name, sizeof name, "%.*s", name_size, typed + 2);
    leat_nearest nearest = leat_nearest_start(name);
    for (int i = 0; i < cli->options.count; i++)
        leat_nearest_add(&nearest, cli->options.rows[i].setting->name);
    leat_nearest_add(&nearest, "help");
    if (nearest.best == NULL) return leat_cli_usage(cli, "unknown option --%s", name);
    return leat_cli_usage(cli, "unknown option --%s; did you mean --%s?", name, nearest.best);
}

/* Stores a text for a row; one in a library's table is parsed to check that it is valid. */
static leat_code set_row(leat_cli *cli, int index, const char *text, leat_error *err) {
    const leat_cli_row *row = &cli->options.rows[index];
    leat_setting_memory unused;
    void *target = row->table == NULL ? (void *)&cli->values[index] : (void *)&unused;
    cli->texts[index] = text;
    cli->given[index] = true;
    return leat_setting_set(row->setting, target, text, err);
}

/* Sets all rows of a name, which belong to different kinds of data. A value is accepted if any of
 * them accepts it, because the kind of data is known only later. */
static int set_option(leat_cli *cli, int index, const char *text) {
    const char *name = cli->options.rows[index].setting->name;
    leat_error err = {0}, first = {0};
    bool accepted = false;
    if (cli->given[index]) return leat_cli_usage(cli, "--%s is given twice", name);
    for (int i = index; i < cli->options.count; i++) {
        if (strcmp(cli->options.rows[i].setting->name, name) != 0) continue;
        if (set_row(cli, i, text, &err) == LEAT_OK) accepted = true;
        else if (first.code == LEAT_OK) first = err;
    }
    return accepted ? 0 : leat_cli_usage(cli, "--%s", first.message);
}

/* The second number, if the next word is one. */
static void take_second(leat_cli *cli, int index, int count, char **argv, int *at) {
    leat_cli_value value;
    if (!cli->options.rows[index].option->may_have_second || *at + 1 >= count) return;
    if (leat_setting_set(cli->options.rows[index].setting, &value, argv[*at + 1], NULL) != LEAT_OK)
        return;
    cli->seconds[index] = value.number;
    ++*at;
}

static int find_option(const leat_cli *cli, const char *typed, int name_size) {
    for (int i = 0; i < cli->options.count; i++) {
        const char *name = cli->options.rows[i].setting->name;
        if (typed[1] != '-'
                ? cli->options.rows[i].option->letter == typed[1]
                : (int)strlen(name) == name_size && memcmp(name, typed + 2, (size_t)name_size) == 0)
            return i;
    }
    return -1;
}

/* Takes the option at argv[*at] and, if it needs one, the value after it. */
static int take_option(leat_cli *cli, int count, char **argv, int *at) {
    const char *typed = argv[*at], *value = NULL;
    bool is_long = typed[1] == '-', separate = false;
    int name_size = 0;
    if (is_long) {
        name_size = (int)strcspn(typed + 2, "=");
        if (typed[2 + name_size] == '=') value = typed + 3 + name_size;
    } else if (typed[2] != 0) value = typed + 2;
    if ((is_long && name_size == 4 && memcmp(typed + 2, "help", 4) == 0 && value == NULL) ||
        strcmp(typed, "-h") == 0) {
        cli->wants_help = true;
        return 0;
    }
    int index = find_option(cli, typed, name_size);
    if (index < 0) return unknown_option(cli, typed, name_size);
    const leat_cli_row *row = &cli->options.rows[index];
    if (value == NULL) value = row->option->bare;
    if (row->setting->kind == LEAT_SETTING_FLAG) {
        if (value != NULL) return leat_cli_usage(cli, "--%s takes no value", row->setting->name);
        value = "true";
    } else if (value == NULL) {
        if (*at + 1 >= count || strncmp(argv[*at + 1], "--", 2) == 0)
            return leat_cli_usage(cli, "--%s requires a value (%s)", row->setting->name,
                                  leat_setting_value(row->setting));
        value = argv[++*at];
        separate = true;
    }
    int status = set_option(cli, index, value);
    if (status == 0 && separate) take_second(cli, index, count, argv, at);
    return status;
}

bool leat_cli_is_secret(const char *argument) {
    /* a ticket of any version: "leat", digits, a colon */
    const size_t digits =
        strncmp(argument, "leat", 4) == 0 ? strspn(argument + 4, "0123456789") : 0;
    return (digits > 0 && argument[4 + digits] == ':') || strstr(argument, "://") != NULL;
}

/* An output without -o is what is forgotten most. */
static int too_many(leat_cli *cli, const char *argument) {
    if (leat_cli_is_secret(argument))
        return leat_cli_usage(cli,
                              "too many arguments: the last one is a URL or a ticket, which is "
                              "not shown; give it alone, without a command before it");
    for (int i = 0; i < cli->options.count; i++)
        if (strcmp(cli->options.rows[i].setting->name, "output") == 0 && !cli->given[i])
            return leat_cli_usage(cli, "\"%.200s\": too many arguments; did you mean -o %.200s?",
                                  argument, argument);
    return leat_cli_usage(cli, "\"%.200s\": too many arguments", argument);
}

static int check_counts(leat_cli *cli) {
    const leat_cli_command *command = cli->command;
    if (command->max_arguments >= 0 && cli->argument_count > command->max_arguments)
        return too_many(cli, cli->arguments[command->max_arguments]);
    for (int i = 0; i < cli->options.count; i++)
        if (cli->options.rows[i].option->is_alone && cli->given[i]) return 0;
    if (cli->argument_count < command->min_arguments)
        return leat_cli_usage(cli, "%s is missing", command->argument);
    for (int i = 0; i < cli->options.count; i++) {
        const leat_cli_row *row = &cli->options.rows[i];
        if (row->option->required && !cli->given[i])
            return leat_cli_usage(cli, "--%s %s is missing", row->setting->name,
                                  leat_setting_value(row->setting));
    }
    return 0;
}

/* A default that its own option rejects is a mistake in leat, not the user's. */
static void read_presets(leat_cli *cli) {
    leat_cli_list(cli->command, &cli->options);
    for (int i = 0; i < cli->options.count; i++) {
        const leat_cli_row *row = &cli->options.rows[i];
        cli->seconds[i] = LEAT_CLI_NONE;
        if (row->option->preset == NULL) continue;
        if (set_row(cli, i, row->option->preset, NULL) != LEAT_OK)
            leat_cli_broken(row->setting->name);
        cli->given[i] = false;
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
    cli->quiet = cli->command->shows_progress && leat_cli_flag(cli, quiet_option.own.name);
    return check_counts(cli);
}

/* ---- What commands ask ------------------------------------------------------------------- */

static int row_of(const leat_cli *cli, const char *name) {
    for (int i = 0; i < cli->options.count; i++)
        if (strcmp(cli->options.rows[i].setting->name, name) == 0) return i;
    leat_cli_broken(name);
}

/* Values of library options are in the library's struct. */
static int own_row_of(const leat_cli *cli, const char *name) {
    int row = row_of(cli, name);
    if (cli->options.rows[row].table != NULL) leat_cli_broken(name);
    return row;
}

bool leat_cli_flag(const leat_cli *cli, const char *name) { return cli->given[row_of(cli, name)]; }
bool leat_cli_given(const leat_cli *cli, const char *name) { return cli->given[row_of(cli, name)]; }
const char *leat_cli_text(const leat_cli *cli, const char *name) {
    return cli->texts[row_of(cli, name)];
}
int64_t leat_cli_int(const leat_cli *cli, const char *name) {
    return cli->values[own_row_of(cli, name)].number;
}
int64_t leat_cli_second(const leat_cli *cli, const char *name) {
    return cli->seconds[own_row_of(cli, name)];
}

int leat_cli_set(leat_cli *cli, const leat_setting_table *table, void *options) {
    for (int i = 0; i < cli->options.count; i++) {
        const leat_cli_row *row = &cli->options.rows[i];
        leat_error err = {0};
        if (row->table != table || !cli->given[i]) continue;
        if (leat_setting_set(row->setting, options, cli->texts[i], &err) != LEAT_OK)
            return leat_cli_usage(cli, "--%s", err.message);
    }
    return 0;
}

int leat_cli_refuse_others(leat_cli *cli, const char *model) {
    for (int i = 0; i < cli->options.count; i++) {
        const leat_cli_row *row = &cli->options.rows[i];
        bool placed = !cli->given[i] || row->option->model == NULL;
        for (int k = 0; k < cli->options.count && !placed; k++) {
            const leat_cli_row *other = &cli->options.rows[k];
            placed = other->option->model != NULL && strcmp(other->option->model, model) == 0 &&
                     strcmp(other->setting->name, row->setting->name) == 0;
        }
        if (!placed)
            return leat_cli_usage(cli, "--%s is an option of the model %s, not of %.40s",
                                  row->setting->name, row->option->model, model);
    }
    return 0;
}

void leat_cli_json_settings(leat_json *json, const leat_setting_table *table, const void *options) {
    for (const leat_setting *row = table->rows; row->name != NULL; row++) {
        char text[LEAT_SETTING_BYTES];
        const char *value = leat_setting_get(row, options, text);
        if (!row->neutral && value != NULL) leat_json_member_string(json, row->name, value);
    }
}

const leat_cli_row *leat_cli_misplaced(const leat_cli *cli, leat_cli_data data) {
    for (int i = 0; i < cli->options.count; i++) {
        const leat_cli_row *row = &cli->options.rows[i];
        bool placed = !cli->given[i];
        for (int k = 0; k < cli->options.count && !placed; k++) {
            const leat_cli_row *other = &cli->options.rows[k];
            placed = (other->option->of == LEAT_CLI_ANY || other->option->of == data) &&
                     strcmp(other->setting->name, row->setting->name) == 0;
        }
        if (!placed) return row;
    }
    return NULL;
}

int leat_cli_check_replace(leat_cli *cli) {
    char names[256] = "";
    int used = 0, found = 0;
    if (!leat_cli_flag(cli, "replace")) return 0;
    for (int i = 0; i < cli->options.count; i++) {
        const leat_cli_row *row = &cli->options.rows[i];
        if (row->setting->kind != LEAT_SETTING_OUTPUT || row->table != NULL) continue;
        if (cli->given[i]) return 0;
        if (used < (int)sizeof names)
            used += snprintf(names + used, sizeof names - (size_t)used, "%s--%s",
                             found++ > 0 ? ", " : "", row->setting->name);
    }
    return leat_cli_usage(cli, "--replace requires an option that names a file to write: %s",
                          names);
}

int leat_cli_argument_count(const leat_cli *cli) { return cli->argument_count; }
const char *leat_cli_argument(const leat_cli *cli, int index) {
    return index >= 0 && index < cli->argument_count ? cli->arguments[index] : NULL;
}
const char *const *leat_cli_arguments(const leat_cli *cli) { return cli->arguments; }

int leat_cli_refuse_not_png(leat_cli *cli, const char *path) {
    static const char *const others[] = {".jpg", ".jpeg", ".webp", ".gif",  ".bmp",
                                         ".tif", ".tiff", ".avif", ".heic", ".svg"};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot != NULL && i < sizeof others / sizeof *others; i++)
        if (strcasecmp(dot, others[i]) == 0)
            return leat_cli_usage(
                cli, "\"%.200s\" will be a PNG: give it a name that ends with .png", path);
    return 0;
}
