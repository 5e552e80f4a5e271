/* What a program shows of itself besides its own build (cmd_version.c): the command leat, DuckDB
 * (version_duckdb.c); leat-worker, which does not have it, nothing (worker/main.c). */
#ifndef LEAT_CLI_VERSION_H
#define LEAT_CLI_VERSION_H

#include "command/cli.h"

void leat_version_more(leat_cli *cli);
void leat_version_more_json(leat_json *json);

#endif
