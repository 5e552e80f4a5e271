/* Runs what an assertion may end in a process of its own. */
#ifndef TESTS_APART_H
#define TESTS_APART_H

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

/* The status that waitpid has of it, an exit status of 0 if it succeeds; and what it writes to
 * stderr. */
static inline int run_apart(leat_code (*run)(leat_error *err), char *text, size_t size_bytes) {
    int out[2], status = 0;
    size_t used = 0;
    ssize_t more;
    assert_int_equal(pipe(out), 0);
    const pid_t child = fork();
    if (child == 0) {
        leat_error of;
        signal(SIGABRT, SIG_DFL); /* cmocka's handler would print a report */
        if (dup2(out[1], STDERR_FILENO) < 0) _exit(1);
        _exit(run(&of) == LEAT_OK ? 0 : 2);
    }
    close(out[1]);
    while ((more = read(out[0], text + used, size_bytes - 1 - used)) > 0) used += (size_t)more;
    text[used] = 0;
    close(out[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

#endif
