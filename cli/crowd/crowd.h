/* What the commands of the crowd share. */
#ifndef LEAT_CLI_CROWD_CROWD_H
#define LEAT_CLI_CROWD_CROWD_H

#include "command/cli.h"
#include "leat/crowd.h"

/*
 * Removes libpq's variables (PGHOST, PGPASSWORD, PGOPTIONS, ...) from this process: a database is
 * what its URL says, on every machine. Before any thread starts.
 */
void leat_crowd_forget_environment(void);
/*
 * The URL of a database as leat_crowd_url_read gives it. What was typed is overwritten, so that it
 * is not in the list of processes. Returns 0, or the exit status after reporting an error.
 */
int leat_crowd_url(leat_cli *cli, const char *typed, char url[LEAT_CROWD_URL_BYTES]);
/* Overwrites what was typed, and nothing else. */
void leat_crowd_hide_url(const char *typed);
/* The URL of --db for a command that lets people in or out: as leat_crowd_url. "local", which
 * coordinates, names no server here. */
int leat_crowd_owner_url(leat_cli *cli, char url[LEAT_CROWD_URL_BYTES]);
/* Reports an error of a command whose --db was `typed`; returns the exit status. The server of a
 * private database runs only while its coordinator does. */
int leat_crowd_fail(leat_cli *cli, const char *typed, const leat_error *err);
/* As a leat_say_fn whose user is the leat_cli: a line on stderr. */
void leat_crowd_say(void *user, const char *line);
/* "~/.local/state/leat/machine.key", where ~ is HOME if that is an absolute path; "" if this user
 * has no home. */
#define LEAT_CROWD_PATH_BYTES 4096
const char *leat_crowd_key_path(char path[LEAT_CROWD_PATH_BYTES]);
/* "8 x Intel Xeon ..., 23.4 GB". */
const char *leat_crowd_hardware(char text[LEAT_WORDS_BYTES]);

#endif
