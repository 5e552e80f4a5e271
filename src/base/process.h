/*
 * Other programs: the only file that starts one. A program is started by its path, never through a
 * shell, with a fixed environment and without this process's files, signals and terminal: Ctrl-C
 * does not reach it.
 */
#ifndef LEAT_BASE_PROCESS_H
#define LEAT_BASE_PROCESS_H

#include "base/file.h"

/* Whom a program runs as. */
typedef struct leat_process_user {
    char name[64]; /* a number if the system knows no name */
    int64_t user, group;
} leat_process_user;
/* LEAT_ERR_NOT_FOUND: there is no such user. */
LEAT_MUST_CHECK leat_code leat_process_user_named(leat_process_user *user, const char *name,
                                                  leat_error *err);
LEAT_MUST_CHECK leat_code leat_process_user_numbered(leat_process_user *user, int64_t number,
                                                     leat_error *err);
/* The number of the user that this process acts as; 0 is root, who may start programs as others. */
int64_t leat_process_own_user(void);
/* Whether the user may enter a folder and all folders above it, by asking the system as that user;
 * otherwise `closed` is the first one that he may not. The path is absolute. */
LEAT_MUST_CHECK leat_code leat_process_may_enter(const leat_process_user *user, const char *path,
                                                 bool *may, char closed[LEAT_PATH_BYTES],
                                                 leat_error *err);

/* Where PATH has a program of this name: the path of the first one; false: nowhere. */
bool leat_process_find(const char *name, char path[LEAT_PATH_BYTES]);

typedef struct leat_process_options {
    const char *program;           /* an absolute path */
    const char *const *words;      /* its arguments; the first is its name, NULL ends them */
    const char *log;               /* receives its output, appended; created with mode 0600 */
    const leat_process_user *user; /* NULL: as this process. Only root can name another one */
    int ends_with_us;              /* signal that it gets if this process is killed; 0: none */
} leat_process_options;

typedef struct leat_process leat_process;
/* Returns once it runs. LEAT_ERR_NOT_FOUND: there is no such program; LEAT_ERR_OPTION: it cannot be
 * executed, or not as that user. */
LEAT_MUST_CHECK leat_code leat_process_start(leat_process **out,
                                             const leat_process_options *options, leat_error *err);
int64_t leat_process_id(const leat_process *process);
/* Whether it has ended; then *status is its exit status, or 128 + the signal that ended it. */
bool leat_process_ended(leat_process *process, int *status);
/* Waits at most timeout_ms for its end; false: it still runs. */
bool leat_process_wait(leat_process *process, int64_t timeout_ms, int *status);
/* Sends it a signal; nothing happens if it has ended. */
void leat_process_signal(leat_process *process, int number);
/* Kills it if it still runs. */
void leat_process_close(leat_process *process);

/* Runs a program and returns the beginning of what it writes to stdout, with a NUL at the end.
 * LEAT_ERR_INPUT: its exit status is not 0, or it has not ended after timeout_ms (it is killed). */
LEAT_MUST_CHECK leat_code leat_process_capture(const char *program, const char *const *words,
                                               int64_t timeout_ms, char *out, int64_t out_bytes,
                                               leat_error *err);

/* Processes that this one did not start. */
typedef struct leat_process_facts {
    int64_t id, user;
    char words[4096]; /* its arguments, separated by spaces; truncated */
} leat_process_facts;
/* Calls `look` for each process that can be seen, until it returns false. */
typedef bool (*leat_process_look_fn)(void *context, const leat_process_facts *facts);
LEAT_MUST_CHECK leat_code leat_process_list(leat_process_look_fn look, void *context,
                                            leat_error *err);
/* One of them; false: there is none of this number. One that has ended but that nobody has waited
 * for is still there, and has no words. */
bool leat_process_get(int64_t id, leat_process_facts *facts);
/* Whether the process works in this folder; *known is false if the system does not say. */
bool leat_process_works_in(int64_t id, const char *folder, bool *known);
void leat_process_signal_id(int64_t id, int number);

#endif
