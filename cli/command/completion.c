/*
 * Completion of words in shells, generated from the same tables as --help: `leat help --completion
 * bash` (zsh, fish) prints a script. docs/completion holds them for installation; a test checks
 * that they are up to date.
 */
#include <string.h>

#include "command/internal.h"

/* A command of two words begins with this one. */
static int first_size(const leat_cli_command *command) { return (int)strcspn(command->words, " "); }

static const char *second_word(const leat_cli_command *command) {
    const char *blank = strchr(command->words, ' ');
    return blank == NULL ? NULL : blank + 1;
}

/* Whether it is the first command with its first word. */
static bool leads(int index) {
    const leat_cli_command *command = leat_cli_commands[index];
    const size_t size = (size_t)first_size(command) + 1; /* with what ends it */
    for (int i = 0; i < index; i++)
        if (strncmp(leat_cli_commands[i]->words, command->words, size) == 0) return false;
    return true;
}

/* The first words of all commands, each after a blank. */
static void write_first_words(leat_cli *cli) {
    for (int i = 0; leat_cli_commands[i] != NULL; i++)
        if (leads(i))
            leat_out(cli, " %.*s", first_size(leat_cli_commands[i]), leat_cli_commands[i]->words);
}

/* A text inside of single quotes: `quote` is what stands for one; a backslash before `escaped`. */
static void write_quoted(leat_cli *cli, const char *text, const char *quote, const char *escaped) {
    for (; *text != 0; text++) {
        if (*text == '\'') leat_out(cli, "%s", quote);
        else if (strchr(escaped, *text) != NULL) leat_out(cli, "\\%c", *text);
        else leat_out_bytes(cli, text, 1);
    }
}

/* What may follow an option. */
typedef enum values { NOTHING, WORDS, NUMBER, ANYTHING } values;

/* Words that an option takes beside others, from what --help shows as its value:
 * global|windowed[:SIZE]. NULL: none, or the others are files, which shells know to complete. */
static const char *words_of(const leat_setting *setting) {
    const char *value = setting->value;
    bool word = false;
    if (value == NULL || strchr(value, '|') == NULL) return NULL;
    for (const char *at = value; at != NULL; at = strchr(at, '|')) {
        at += *at == '|';
        word = word || (*at >= 'a' && *at <= 'z');
        if (strncmp(at, "FILE", 4) == 0 || strncmp(at, "RUN", 3) == 0) return NULL;
    }
    return word ? value : NULL;
}

static values values_of(const leat_cli_row *row) {
    switch (row->setting->kind) {
    case LEAT_SETTING_FLAG: return NOTHING;
    case LEAT_SETTING_CHOICE: return WORDS;
    case LEAT_SETTING_INT:
    case LEAT_SETTING_INT32:
    case LEAT_SETTING_SEED:
    case LEAT_SETTING_SIZE:
    case LEAT_SETTING_REAL: return NUMBER;
    default: return words_of(row->setting) != NULL ? WORDS : ANYTHING; /* a file, mostly */
    }
}

/* The words of an option: those in small letters, without what may follow them in brackets. */
static void write_choices(leat_cli *cli, const leat_cli_row *row) {
    const leat_setting *setting = row->setting;
    const char *at = setting->kind == LEAT_SETTING_CHOICE ? setting->choices : words_of(setting);
    bool first = true;
    while (*at != 0) {
        const int size = (int)strcspn(at, "|");
        if (*at >= 'a' && *at <= 'z') {
            leat_out(cli, "%s%.*s", first ? "" : " ", (int)strcspn(at, "|["), at);
            first = false;
        }
        at += size + (at[size] == '|');
    }
}

/* Whether a split of the data follows, which is another one than that of a job. */
static bool is_split(const leat_cli_row *row) {
    return row->setting->kind == LEAT_SETTING_TEXT && strcmp(row->setting->name, "split") == 0;
}

/* ---- bash ------------------------------------------------------------------------------------ */

static void write_pattern(leat_cli *cli, const leat_cli_row *row) {
    if (row->option->letter != 0) leat_out(cli, "-%c | ", row->option->letter);
    leat_out(cli, "--%s)", row->setting->name);
}

static void bash_command(leat_cli *cli, const leat_cli_command *command) {
    leat_cli_rows rows;
    leat_cli_list(command, &rows);
    leat_out(cli, "  '%s'%s)\n    options='--help", command->words,
             second_word(command) == NULL ? "\\ *" : "");
    for (int i = 0; i < rows.count; i++)
        if (rows.rows[i].shown >= 0) leat_out(cli, " --%s", rows.rows[i].setting->name);
    leat_out(cli, "'\n    case $before in\n");
    for (int i = 0; i < rows.count; i++) {
        const leat_cli_row *row = &rows.rows[i];
        const values kind = values_of(row);
        if (kind == NOTHING || row->shown < 0) continue;
        leat_out(cli, "    ");
        write_pattern(cli, row);
        /* what may stand alone takes no word after a blank */
        if (row->option->bare != NULL) leat_out(cli, " [[ -z $equals ]] ||");
        if (is_split(row)) {
            leat_out(cli, " values=splits ;;\n");
        } else if (kind == WORDS) {
            leat_out(cli, " values='");
            write_choices(cli, row);
            leat_out(cli, "' ;;\n");
        } else {
            leat_out(cli, " values=%s ;;\n", kind == NUMBER ? "number" : "file");
        }
    }
    leat_out(cli, "    esac ;;\n");
}

/* Splits of the data that other words name: files of a CAN cache, or folders of a data set. Names
 * are a stranger's: compgen -W would run what is in them, so they are only ever quoted. leat cat
 * takes one split of a cache, and none of a data set. */
static void write_bash_splits(leat_cli *cli) {
    leat_out(cli, "_leat_splits() {\n"
                  "  local data file all=1\n"
                  "  if [[ ${COMP_WORDS[1]} == cat ]]; then all=; fi\n"
                  "  for data in \"${COMP_WORDS[@]:1}\"; do\n"
                  "    [[ -d $data ]] || continue\n"
                  "    if [[ -n $all && -f $data/manifest.json ]]; then\n"
                  "      printf '%%s\\n' train test all\n"
                  "    fi\n"
                  "    [[ -f $data/vocab.json ]] || continue\n"
                  "    for file in \"$data\"/*.safetensors; do\n"
                  "      file=${file##*/}\n"
                  "      printf '%%s\\n' \"${file%%.safetensors}\"\n"
                  "    done\n"
                  "    if [[ -n $all ]]; then printf 'all\\n'; fi\n"
                  "  done\n}\n");
}

static void write_bash(leat_cli *cli) {
    write_bash_splits(cli);
    leat_out(cli, "_leat() {\n"
                  "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
                  "  local options= values= equals= first=1 one\n"
                  "  COMPREPLY=()\n"
                  "  # \"=\" is a word of its own\n"
                  "  if [[ $before == '=' ]]; then\n"
                  "    before=${COMP_WORDS[COMP_CWORD - 2]} equals=1\n"
                  "  fi\n"
                  "  if [[ $word == '=' ]]; then word= equals=1; fi\n"
                  "  if [[ ${COMP_WORDS[1]} == help ]] && ((COMP_CWORD > 1)); then\n"
                  "    first=2\n"
                  "    compopt +o default  # a command follows, not a file\n"
                  "  fi\n"
                  "  if ((COMP_CWORD == first)); then\n"
                  "    values='");
    write_first_words(cli);
    leat_out(cli, "'\n    if ((first == 1)); then values=\"--help --version help$values\"; fi\n"
                  "    COMPREPLY=($(compgen -W \"$values\" -- \"$word\"))\n    return\n  fi\n"
                  "  case \"${COMP_WORDS[first]} ${COMP_WORDS[first + 1]}\" in\n");
    for (int i = 0; leat_cli_commands[i] != NULL; i++) bash_command(cli, leat_cli_commands[i]);
    leat_out(cli, "  esac\n"
                  "  if ((COMP_CWORD == first + 1)); then\n    case ${COMP_WORDS[first]} in\n");
    for (int i = 0; leat_cli_commands[i] != NULL; i++) {
        const leat_cli_command *command = leat_cli_commands[i];
        if (second_word(command) == NULL || !leads(i)) continue;
        leat_out(cli, "    %.*s) values='", first_size(command), command->words);
        for (int j = i; leat_cli_commands[j] != NULL; j++)
            if (strncmp(leat_cli_commands[j]->words, command->words,
                        (size_t)first_size(command) + 1) == 0)
                leat_out(cli, "%s%s", j > i ? " " : "", second_word(leat_cli_commands[j]));
        leat_out(cli, "' ;;\n");
    }
    leat_out(cli, "    esac\n  fi\n"
                  "  case $values in\n"
                  "  number) compopt +o default ;;\n"
                  "  splits)\n"
                  "    compopt +o default\n"
                  "    while IFS= read -r one; do\n"
                  "      printf -v one %%q \"$one\"\n"
                  "      if [[ $one == \"$word\"* ]]; then COMPREPLY+=(\"$one\"); fi\n"
                  "    done < <(_leat_splits) ;;\n"
                  "  file) ;;\n"
                  "  '') if [[ $word == -* ]]; then\n"
                  "    COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
                  "  fi ;;\n"
                  "  *) COMPREPLY=($(compgen -W \"$values\" -- \"$word\")) ;;\n"
                  "  esac\n}\n"
                  "complete -o default -F _leat leat\n");
}

/* ---- zsh ------------------------------------------------------------------------------------- */

static void zsh_option(leat_cli *cli, const leat_cli_row *row, const char *dashes, const char *name,
                       int name_size) {
    const values kind = values_of(row);
    leat_out(cli, " \\\n      '%s%.*s%s[", dashes, name_size, name,
             row->option->bare != NULL ? "=-" : "");
    write_quoted(cli, leat_cli_help_of(row), "'\\''", "[]\\");
    leat_out(cli, "]");
    if (kind != NOTHING)
        leat_out(cli, "%s%s:", row->option->bare != NULL ? "::" : ":", row->setting->name);
    if (is_split(row)) {
        leat_out(cli, "_leat_splits");
    } else if (kind == WORDS) {
        leat_out(cli, "(");
        write_choices(cli, row);
        leat_out(cli, ")");
    } else if (kind == ANYTHING) {
        leat_out(cli, "_files");
    }
    leat_out(cli, "'");
}

static void zsh_command(leat_cli *cli, const leat_cli_command *command) {
    leat_cli_rows rows;
    leat_cli_list(command, &rows);
    leat_out(cli, "  '%s'%s)\n", command->words, second_word(command) == NULL ? "\\ *" : "");
    leat_out(cli, "    shift %d words\n    ((CURRENT -= %d))\n    _arguments '*:file:_files'",
             second_word(command) == NULL ? 1 : 2, second_word(command) == NULL ? 1 : 2);
    for (int i = 0; i < rows.count; i++) {
        const leat_cli_row *row = &rows.rows[i];
        if (row->shown < 0) continue;
        zsh_option(cli, row, "--", row->setting->name, (int)strlen(row->setting->name));
        if (row->option->letter != 0) zsh_option(cli, row, "-", &row->option->letter, 1);
    }
    zsh_option(cli, &leat_cli_help_row, "--", "help", 4);
    leat_out(cli, " ;;\n");
}

/* As for bash. */
static void write_zsh_splits(leat_cli *cli) {
    leat_out(cli,
             "_leat_splits() {\n"
             "  local data all=all\n"
             "  local -a splits\n"
             "  if [[ $words[1] == cat ]]; then all=; fi\n"
             "  for data in ${(Q)words[2,-1]}; do\n"
             "    [[ -d $data ]] || continue\n"
             "    if [[ -n $all && -f $data/manifest.json ]]; then splits+=(train test all); fi\n"
             "    [[ -f $data/vocab.json ]] || continue\n"
             "    splits+=($data/*.safetensors(N:t:r) $all)\n"
             "  done\n"
             "  compadd -- $splits\n}\n");
}

static void write_zsh(leat_cli *cli) {
    leat_out(cli, "#compdef leat\n");
    write_zsh_splits(cli);
    leat_out(cli, "_leat() {\n"
                  "  local help=\n"
                  "  if [[ $words[2] == help ]] && ((CURRENT > 2)); then\n"
                  "    help=1\n"
                  "    shift words\n    ((CURRENT -= 1))\n"
                  "  fi\n"
                  "  if ((CURRENT == 2)); then\n    compadd --");
    write_first_words(cli);
    leat_out(cli, "\n    [[ -n $help ]] || compadd -- help\n    return\n  fi\n"
                  "  if ((CURRENT == 3)); then\n    case $words[2] in\n");
    for (int i = 0; leat_cli_commands[i] != NULL; i++)
        if (second_word(leat_cli_commands[i]) != NULL)
            leat_out(cli, "    %.*s) compadd -- %s ;|\n", first_size(leat_cli_commands[i]),
                     leat_cli_commands[i]->words, second_word(leat_cli_commands[i]));
    leat_out(cli, "    esac\n  fi\n"
                  "  [[ -z $help ]] || return 0\n"
                  "  case \"$words[2] $words[3]\" in\n");
    for (int i = 0; leat_cli_commands[i] != NULL; i++) zsh_command(cli, leat_cli_commands[i]);
    leat_out(cli, "  esac\n}\n"
                  "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n  _leat \"$@\"\n"
                  "else\n  compdef _leat leat\nfi\n");
}

/* ---- fish ------------------------------------------------------------------------------------ */

static void fish_option(leat_cli *cli, const leat_cli_command *command, const leat_cli_row *row) {
    const values kind = values_of(row);
    const bool bare = row->option->bare != NULL; /* fish then offers values after "=" only */
    leat_out(cli, "complete -c leat -n '__leat_is %s' -l %s", command->words, row->setting->name);
    if (row->option->letter != 0) leat_out(cli, " -s %c", row->option->letter);
    if (is_split(row)) {
        leat_out(cli, " -x -a '(__leat_splits)'");
    } else if (kind == WORDS) {
        leat_out(cli, bare ? " -f -a '" : " -x -a '");
        write_choices(cli, row);
        leat_out(cli, "'");
    } else if (kind != NOTHING && !bare) {
        leat_out(cli, kind == NUMBER ? " -x" : " -r");
    }
    leat_out(cli, " -d '");
    write_quoted(cli, leat_cli_help_of(row), "\\'", "\\");
    leat_out(cli, "'\n");
}

/* " -d 'PURPOSE'" and the end of the line. */
static void fish_purpose(leat_cli *cli, const leat_cli_command *command) {
    leat_out(cli, " -d '");
    write_quoted(cli, command->purpose, "\\'", "\\");
    leat_out(cli, "'\n");
}

static void fish_words(leat_cli *cli, int index) {
    const leat_cli_command *command = leat_cli_commands[index];
    const int size = first_size(command);
    const char *second = second_word(command);
    if (second != NULL) {
        if (leads(index))
            leat_out(cli, "complete -c leat -f -n __leat_next -a %.*s\n", size, command->words);
        leat_out(cli, "complete -c leat -f -n '__leat_next %.*s' -a %s", size, command->words,
                 second);
    } else {
        leat_out(cli, "complete -c leat -f -n __leat_next -a %s", command->words);
    }
    fish_purpose(cli, command);
}

/* As for bash. */
static void write_fish_splits(leat_cli *cli) {
    leat_out(cli,
             "function __leat_splits --description 'splits of the data that these words name'\n"
             "    set -l words (commandline -opc)\n"
             "    set -l all all\n"
             "    test \"$words[2]\" = cat; and set -e all[1]\n"
             "    for data in $words[2..-1]\n"
             "        test -d \"$data\"; or continue\n"
             "        set -q all[1]; and test -f \"$data/manifest.json\"; and printf '%%s\\n' "
             "train test all\n"
             "        test -f \"$data/vocab.json\"; or continue\n"
             "        for file in $data/*.safetensors\n"
             "            string replace -r '.*/(.*)\\.safetensors$' '$1' -- $file\n"
             "        end\n"
             "        set -q all[1]; and echo all\n"
             "    end\n"
             "end\n");
}

static void write_fish(leat_cli *cli) {
    write_fish_splits(cli);
    leat_out(cli, "function __leat_is --description 'whether these words follow leat'\n"
                  "    set -l words (commandline -opc)\n"
                  "    set -l last (math (count $argv) + 1)\n"
                  "    test (count $words) -ge $last\n"
                  "    and test \"$words[2..$last]\" = \"$argv\"\n"
                  "end\n"
                  "function __leat_next --description 'whether only these words follow leat, or "
                  "leat help'\n"
                  "    set -l words (commandline -opc)[2..-1]\n"
                  "    if test \"$words[1]\" = help\n"
                  "        set -e words[1]\n"
                  "    end\n"
                  "    test \"$words\" = \"$argv\"\n"
                  "end\n"
                  "complete -c leat -f -n '__leat_next; and not __leat_is help' -a help\n"
                  "complete -c leat -f -n '__leat_is help'\n");
    for (int i = 0; leat_cli_commands[i] != NULL; i++) {
        leat_cli_rows rows;
        fish_words(cli, i);
        leat_cli_list(leat_cli_commands[i], &rows);
        for (int j = 0; j < rows.count; j++)
            if (rows.rows[j].shown >= 0) fish_option(cli, leat_cli_commands[i], &rows.rows[j]);
        fish_option(cli, leat_cli_commands[i], &leat_cli_help_row);
    }
}

/* ---------------------------------------------------------------------------------------------- */

bool leat_cli_completion(leat_cli *cli, const char *shell) {
    static const struct {
        const char *shell;
        void (*write)(leat_cli *cli);
    } shells[] = {{"bash", write_bash}, {"zsh", write_zsh}, {"fish", write_fish}};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        if (strcmp(shells[i].shell, shell) != 0) continue;
        shells[i].write(cli);
        return true;
    }
    return false;
}
