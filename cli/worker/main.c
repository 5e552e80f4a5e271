/*
 * leat-worker: the command `leat work` as a program of its own, for a machine that is lent to
 * training runs and needs nothing else of leat.
 *
 *     leat-worker URL [options]      as leat work
 *     leat-worker version [--json]   as leat version
 *     leat-worker --version | --help
 *
 * It is linked from the objects of the command leat, of which the linker takes those that these two
 * need; the lists and functions below are instead of the ones in commands.c, data_kinds.c, main.c
 * and version_duckdb.c, which lead to all the others.
 */
#include <string.h>

#include "command/internal.h"
#include "version.h"

const leat_cli_command *const leat_cli_commands[] = {&leat_cmd_work, &leat_cmd_version, NULL};
const leat_cli_option leat_cli_models[] = {{0}};

const leat_cli_program leat_cli_this = {.name = "leat-worker", .itself = &leat_cmd_work};

/* Neither command has options for a kind of data. */
const char *const leat_cli_headings[LEAT_CLI_DATA_KINDS] = {NULL};

void leat_version_more(leat_cli *cli) { (void)cli; }
void leat_version_more_json(leat_json *json) { (void)json; }

static int run(leat_cli *cli, int count, char **argv) {
    const bool is_version = count > 0 && strcmp(argv[0], "version") == 0;
    if (count > 0 && strcmp(argv[0], "--version") == 0) {
        leat_out(cli, "leat-worker %s\n", leat_version());
        return 0;
    }
    cli->command = is_version ? &leat_cmd_version : &leat_cmd_work;
    const int status = leat_cli_parse(cli, count - is_version, argv + is_version);
    if (status != 0) return status;
    if (cli->wants_help) {
        leat_cli_help_command(cli, cli->command);
        return 0;
    }
    return cli->command->run(cli);
}

int main(int argc, char **argv) {
    leat_cli cli = {0};
    leat_out_start(&cli);
    return leat_out_finish(&cli, run(&cli, argc - 1, argv + 1));
}
