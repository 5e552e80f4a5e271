/*
 * leat: finds the command that the first words name, reads its options, runs it.
 *
 *     leat [--version | --help] COMMAND ...
 *     leat help [COMMAND]        the same as COMMAND --help
 */
#include <stdio.h>
#include <string.h>

#include "command/internal.h"

const leat_cli_program leat_cli_this = {.name = "leat"};

/* The number of words of the command at the start of argv, and the command; 0 if there is none. */
static int find_command(int count, char **argv, const leat_cli_command **found) {
    for (int i = 0; leat_cli_commands[i] != NULL; i++) {
        const char *words = leat_cli_commands[i]->words;
        int taken = 0;
        for (; taken < count && *words != 0; taken++) {
            size_t size = strcspn(words, " ");
            if (strlen(argv[taken]) != size || memcmp(argv[taken], words, size) != 0) break;
            words += size;
            words += strspn(words, " ");
        }
        if (*words == 0) {
            *found = leat_cli_commands[i];
            return taken;
        }
    }
    *found = NULL;
    return 0;
}

/* Whether the word is the first of a two-word command. */
static bool is_first_word(const char *word) {
    size_t size = strlen(word);
    for (int i = 0; leat_cli_commands[i] != NULL; i++) {
        const char *words = leat_cli_commands[i]->words;
        if (size > 0 && strncmp(words, word, size) == 0 && words[size] == ' ') return true;
    }
    return false;
}

/* The second word of a command whose first word is `first`, or NULL. */
static const char *second_word(const leat_cli_command *command, const char *first) {
    size_t size = strlen(first);
    bool same = strncmp(command->words, first, size) == 0 && command->words[size] == ' ';
    return same ? command->words + size + 1 : NULL;
}

/* "probes, can or images" */
static void list_seconds(const char *first, char *list, size_t list_bytes) {
    const char *last = NULL;
    size_t used = 0;
    list[0] = 0;
    for (int i = 0; leat_cli_commands[i] != NULL; i++) {
        const char *second = second_word(leat_cli_commands[i], first);
        if (second == NULL) continue;
        if (last != NULL && used < list_bytes)
            used += (size_t)snprintf(list + used, list_bytes - used, "%s%s", used > 0 ? ", " : "",
                                     last);
        last = second;
    }
    if (used < list_bytes)
        snprintf(list + used, list_bytes - used, "%s%s", used > 0 ? " or " : "", last);
}

/* A first word that exists, and a second one that does not: the first was meant. */
static int unknown_second(leat_cli *cli, const char *first, const char *second) {
    char list[LEAT_CLI_NAME_MAX + 1];
    leat_nearest nearest = leat_nearest_start(second);
    for (int i = 0; leat_cli_commands[i] != NULL; i++) {
        const char *other = second_word(leat_cli_commands[i], first);
        if (other != NULL) leat_nearest_add(&nearest, other);
    }
    if (nearest.best != NULL)
        return leat_cli_usage(cli, "unknown command \"%s %.60s\"; did you mean \"%s %s\"?", first,
                              second, first, nearest.best);
    list_seconds(first, list, sizeof list);
    leat_cli_note(cli, "unknown command \"%s %.60s\": leat %s takes %s; see leat %s --help", first,
                  second, first, list, first);
    return 2;
}

/* Adds the first words of two-word commands, and copies the one that is nearer than the others. */
static void add_first_words(leat_nearest *nearest, char first[LEAT_CLI_NAME_MAX + 1]) {
    for (int i = 0; leat_cli_commands[i] != NULL; i++) {
        char word[LEAT_CLI_NAME_MAX + 1];
        const char *words = leat_cli_commands[i]->words;
        snprintf(word, sizeof word, "%.*s", (int)strcspn(words, " "), words);
        leat_nearest_add(nearest, word);
        if (nearest->best != word) continue;
        memcpy(first, word, sizeof word);
        nearest->best = first;
    }
}

/* The user may have meant one word or two: suggests the nearer one. */
static int unknown_command(leat_cli *cli, int count, char **argv) {
    char one[LEAT_CLI_NAME_MAX + 1], two[LEAT_CLI_NAME_MAX + 1], first[LEAT_CLI_NAME_MAX + 1];
    bool has_two = count > 1 && argv[1][0] != '-';
    if (leat_cli_is_secret(argv[0]))
        return leat_cli_usage(cli, "a command comes before a URL or a ticket: leat work TICKET");
    if (has_two && is_first_word(argv[0])) return unknown_second(cli, argv[0], argv[1]);
    snprintf(one, sizeof one, "%.60s", argv[0]);
    snprintf(two, sizeof two, "%.30s %.30s", argv[0], has_two ? argv[1] : "");
    leat_nearest by_one = leat_nearest_start(one), by_two = leat_nearest_start(two);
    for (int i = 0; leat_cli_commands[i] != NULL; i++) {
        leat_nearest_add(&by_one, leat_cli_commands[i]->words);
        if (has_two) leat_nearest_add(&by_two, leat_cli_commands[i]->words);
    }
    add_first_words(&by_one, first);
    bool is_two = by_two.best != NULL &&
                  (by_one.best == NULL || by_two.best_distance <= by_one.best_distance);
    const char *best = is_two ? by_two.best : by_one.best;
    if (best == NULL) return leat_cli_usage(cli, "unknown command \"%s\"", one);
    return leat_cli_usage(cli, "unknown command \"%s\"; did you mean \"%s\"?", is_two ? two : one,
                          best);
}

static bool is_help(const char *word) {
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/* leat help [--man] [COMMAND], leat help --completion SHELL */
static int run_help(leat_cli *cli, int count, char **argv) {
    if (count > 0 && strcmp(argv[0], "--completion") == 0) {
        if (count == 2 && leat_cli_completion(cli, argv[1])) return 0;
        return leat_cli_usage(cli, "--completion requires a shell: bash, zsh or fish");
    }
    bool man = count > 0 && strcmp(argv[0], "--man") == 0;
    const leat_cli_command *command = NULL;
    count -= man;
    argv += man;
    if (count > 0 && is_help(argv[0])) count = 0;
    int taken = find_command(count, argv, &command);
    if (taken < count && !(count == 1 && is_first_word(argv[0])))
        return unknown_command(cli, count, argv);
    if (man) leat_cli_man(cli, command);
    else if (command != NULL) leat_cli_help_command(cli, command);
    else leat_cli_help_all(cli, count > 0 ? argv[0] : NULL);
    return 0;
}

static int run_command(leat_cli *cli, int count, char **argv) {
    int taken = find_command(count, argv, &cli->command);
    if (taken == 0) return unknown_command(cli, count, argv);
    int status = leat_cli_parse(cli, count - taken, argv + taken);
    if (status != 0) return status;
    if (cli->wants_help) {
        leat_cli_help_command(cli, cli->command);
        return 0;
    }
    return cli->command->run(cli);
}

static int run(leat_cli *cli, int count, char **argv) {
    if (count == 0) {
        leat_cli_usage(cli, "no command given; for example: leat ingest probes");
        return 2;
    }
    if (is_help(argv[0])) return run_help(cli, 0, argv);
    if (strcmp(argv[0], "--version") == 0) {
        leat_out(cli, "leat %s\n", leat_version());
        return 0;
    }
    if (argv[0][0] == '-')
        return leat_cli_usage(cli,
                              "unknown option %.60s before the command; only --help and --version "
                              "are accepted there",
                              argv[0]);
    if (strcmp(argv[0], "help") == 0) return run_help(cli, count - 1, argv + 1);
    if (is_first_word(argv[0]) && (count == 1 || is_help(argv[1]))) {
        if (count == 1) {
            char list[LEAT_CLI_NAME_MAX + 1];
            list_seconds(argv[0], list, sizeof list);
            leat_cli_note(cli, "leat %s requires another word: %s; see leat %s --help", argv[0],
                          list, argv[0]);
            return 2;
        }
        leat_cli_help_all(cli, argv[0]);
        return 0;
    }
    return run_command(cli, count, argv);
}

int main(int argc, char **argv) {
    leat_cli cli = {0};
    leat_out_start(&cli);
    return leat_out_finish(&cli, run(&cli, argc - 1, argv + 1));
}
