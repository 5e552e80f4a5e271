/*
 * Starting other programs: what they get from this process and what they do not, who they run as,
 * what a failure says, and that they end with it. The programs are /bin/sh and its companions.
 */
/* TSan: each process has a thread that waits for it. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/process.h"
#include "check.h"

enum { LONG_MS = 60000 };

static char top[64], log_path[128];

static int setup(void **state) {
    (void)state;
    snprintf(top, sizeof top, "/tmp/leat-process-XXXXXX");
    if (mkdtemp(top) == NULL || chmod(top, 0755) != 0) return 1;
    snprintf(log_path, sizeof log_path, "%s/log", top);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    return leat_path_remove_tree(top, NULL) == LEAT_OK ? 0 : 1;
}

static leat_process_options shell(const char *const words[4]) {
    return (leat_process_options){.program = "/bin/sh", .words = words, .log = log_path};
}

/* What is in the log; valid until the next call. */
static const char *said(void) {
    static char text[8192];
    uint8_t *bytes = NULL;
    int64_t size = 0;
    assert_ok(leat_file_load(log_path, sizeof text - 1, &bytes, &size, err));
    snprintf(text, sizeof text, "%s", (const char *)bytes);
    leat_free(bytes);
    return text;
}

/* Runs a script of the shell; its status. */
static int run(const char *script) {
    const char *const words[] = {"sh", "-c", script, NULL};
    const leat_process_options options = shell(words);
    leat_process *process = NULL;
    int status = -1;
    assert_ok(leat_process_start(&process, &options, err));
    assert_true(leat_process_id(process) > 1);
    assert_true(leat_process_wait(process, LONG_MS, &status));
    assert_true(leat_process_ended(process, &status));
    leat_process_signal(process, SIGKILL); /* nothing happens */
    leat_process_close(process);
    return status;
}

static void ends(void **state) {
    struct stat facts;
    (void)state;
    assert_int_equal(run("echo one; exit 0"), 0);
    assert_int_equal(run("echo two >&2; exit 7"), 7);
    assert_int_equal(run("kill -KILL $$"), 128 + SIGKILL);
    assert_string_equal(said(), "one\ntwo\n");
    assert_int_equal(stat(log_path, &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0600);
}

/* Its words come as they are, the environment is fixed, and no file of this process is open. */
static void what_it_gets(void **state) {
    const char *const words[] = {"echo", "$HOME; `ls` *", "a\nb", NULL};
    const leat_process_options options = {.program = "/bin/echo", .words = words, .log = log_path};
    leat_process *process = NULL;
    int status = -1;
    (void)state;
    assert_ok(leat_process_start(&process, &options, err));
    assert_true(leat_process_wait(process, LONG_MS, &status));
    leat_process_close(process);
    assert_string_equal(said(), "$HOME; `ls` * a\nb\n");
    assert_int_equal(unlink(log_path), 0);
    setenv("PGPORT", "1", 1);
    assert_int_equal(run("env | grep -v -e ^PWD= -e ^_= -e ^SHLVL= -e ^OLDPWD= | sort; pwd"), 0);
    assert_string_equal(said(), "LC_ALL=C\nPATH=/usr/local/bin:/usr/bin:/bin\n/\n");
    assert_int_equal(unlink(log_path), 0);
    const int open_here = open("/dev/null", O_RDONLY); /* would stay open */
    assert_true(open_here > 2);
    char script[200];
    snprintf(script, sizeof script, "test -e /proc/$$/fd/%d && echo open; cat; echo read",
             open_here);
    assert_int_equal(run(script), 0);
    close(open_here);
    assert_string_equal(said(), "read\n");
}

/* A blocked and an ignored signal have their usual effect in it. */
static void signals(void **state) {
    sigset_t blocked, before;
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction usual;
    (void)state;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    sigaction(SIGPIPE, &ignore, &usual);
    assert_int_equal(run("kill -TERM $$; exit 1"), 128 + SIGTERM);
    assert_int_equal(run("kill -PIPE $$; exit 1"), 128 + SIGPIPE);
    sigaction(SIGPIPE, &usual, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static const char *const sleeping[] = {"sleep", "1000", NULL};
static leat_process_options sleeper(void) {
    return (leat_process_options){
        .program = "/bin/sleep", .words = sleeping, .log = log_path, .ends_with_us = SIGTERM};
}

static void *start_one(void *argument) {
    const leat_process_options options = sleeper();
    assert_ok(leat_process_start(argument, &options, err));
    return NULL;
}

/* It has a session of its own, so Ctrl-C does not reach it, and outlives the thread that starts it.
 */
static void lives(void **state) {
    leat_process *process = NULL;
    pthread_t thread;
    int status = -1;
    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, start_one, &process), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(getsid((pid_t)leat_process_id(process)), leat_process_id(process));
    assert_false(leat_process_wait(process, 20, &status));
    leat_process_signal(process, SIGINT);
    assert_true(leat_process_wait(process, LONG_MS, &status));
    assert_int_equal(status, 128 + SIGINT);
    leat_process_close(process);
    /* closing one that runs kills it */
    start_one(&process);
    const pid_t id = (pid_t)leat_process_id(process);
    leat_process_close(process);
    assert_int_equal(kill(id, 0), -1);
}

/* A process that is killed takes it along. Its log is a pipe, which ends when it ends. */
static void ends_with_us(void **state) {
    int ready[2];
    char byte = 0;
    (void)state;
    assert_int_equal(mkfifo(log_path, 0600), 0);
    const int reader = open(log_path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(reader >= 0 && pipe(ready) == 0);
    const pid_t other = fork();
    if (other == 0) {
        leat_process *process = NULL;
        start_one(&process);
        (void)!write(ready[1], "r", 1);
        for (;;) pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    kill(other, SIGKILL);
    assert_int_equal(waitpid(other, NULL, 0), other);
    assert_int_equal(fcntl(reader, F_SETFL, 0), 0);
    assert_int_equal(read(reader, &byte, 1), 0); /* waits for its end */
    close(reader);
    assert_int_equal(unlink(log_path), 0);
}

static void cannot_start(void **state) {
    char path[128];
    const char *const words[] = {"x", NULL};
    leat_process_options options = {.program = path, .words = words, .log = log_path};
    leat_process *process = NULL;
    leat_process_user user;
    (void)state;
    snprintf(path, sizeof path, "%s/missing", top);
    assert_fails(leat_process_start(&process, &options, err), LEAT_ERR_NOT_FOUND,
                 "there is no program");
    assert_null(process);
    options.program = top;
    assert_fails(leat_process_start(&process, &options, err), LEAT_ERR_NOT_FOUND,
                 "there is no program");
    options.program = path;
    assert_ok(leat_file_save(path, "#!/bin/sh\n", 10, err)); /* not executable */
    assert_fails(leat_process_start(&process, &options, err), LEAT_ERR_OPTION, "cannot execute");
    assert_ok(leat_file_save(path, "#!/missing\n", 11, err));
    assert_int_equal(chmod(path, 0755), 0);
    assert_fails(leat_process_start(&process, &options, err), LEAT_ERR_NOT_FOUND, "cannot execute");
    assert_fails(leat_process_user_named(&user, "no-such-user", err), LEAT_ERR_NOT_FOUND,
                 "no-such-user");
    options = shell((const char *const[]){"sh", "-c", "true", NULL});
    options.log = "/missing/log";
    assert_fails(leat_process_start(&process, &options, err), LEAT_ERR_NOT_FOUND, "/missing/log");
    assert_null(process);
}

static void captured(void **state) {
    const char *const words[] = {"sh", "-c", "echo 0123456789; exit $0", "0", NULL};
    const char *const fails[] = {"sh", "-c", "echo 1; exit $0", "3", NULL};
    const char *const hangs[] = {"sh", "-c", "exec sleep 1000", NULL};
    char out[32], few[5];
    (void)state;
    assert_ok(leat_process_capture("/bin/sh", words, LONG_MS, out, sizeof out, err));
    assert_string_equal(out, "0123456789\n");
    assert_ok(leat_process_capture("/bin/sh", words, LONG_MS, few, sizeof few, err));
    assert_string_equal(few, "0123");
    assert_fails(leat_process_capture("/bin/sh", fails, LONG_MS, out, sizeof out, err),
                 LEAT_ERR_INPUT, "status 3");
    assert_string_equal(out, "");
    assert_fails(leat_process_capture("/bin/sh", hangs, 50, out, sizeof out, err), LEAT_ERR_INPUT,
                 "fails");
}

static bool find_self(void *context, const leat_process_facts *facts) {
    if (facts->id == getpid()) *(leat_process_facts *)context = *facts;
    return facts->id != getpid();
}

static void others(void **state) {
    leat_process_facts facts = {0};
    char here[LEAT_PATH_BYTES], path[LEAT_PATH_BYTES];
    bool known = false;
    (void)state;
    assert_ok(leat_process_list(find_self, &facts, err));
    assert_int_equal(facts.user, geteuid());
    assert_non_null(strstr(facts.words, "test_process"));
    assert_non_null(getcwd(here, sizeof here));
    assert_true(leat_process_works_in(getpid(), here, &known) && known);
    assert_false(leat_process_works_in(getpid(), top, &known));
    assert_true(known);
    assert_true(leat_process_find("sh", path));
    assert_int_equal(access(path, X_OK), 0);
    assert_false(leat_process_find("no-such-program", path));
}

/* Folders that a user may not enter, and who a program runs as. */
static void as_another(void **state) {
    char closed[128], below[160], found[LEAT_PATH_BYTES];
    leat_process_user user;
    bool may = false;
    (void)state;
    snprintf(closed, sizeof closed, "%s/closed", top);
    snprintf(below, sizeof below, "%s/below/this", closed);
    assert_ok(leat_path_make_dir(below, err));
    if (geteuid() == 0) assert_ok(leat_process_user_named(&user, "nobody", err));
    else assert_ok(leat_process_user_numbered(&user, geteuid(), err));
    assert_ok(leat_process_may_enter(&user, below, &may, found, err));
    assert_true(may);
    assert_int_equal(chmod(closed, geteuid() == 0 ? 0700 : 0600), 0);
    assert_ok(leat_process_may_enter(&user, below, &may, found, err));
    assert_false(may);
    assert_string_equal(found, closed);
    assert_int_equal(chmod(closed, 0700), 0);
    const char *const words[] = {"sh", "-c", "id -u; id -G", NULL};
    leat_process_options options = shell(words);
    leat_process *process = NULL;
    char wanted[64];
    int status = -1;
    options.user = &user;
    assert_ok(leat_process_start(&process, &options, err));
    assert_true(leat_process_wait(process, LONG_MS, &status));
    leat_process_close(process);
    snprintf(wanted, sizeof wanted, "%lld\n%lld\n", (long long)user.user, (long long)user.group);
    if (geteuid() == 0) assert_string_equal(said(), wanted);
    else {
        user.user++;
        assert_fails(leat_process_start(&process, &options, err), LEAT_ERR_OPTION, "not permitted");
        assert_fails(leat_process_may_enter(&user, below, &may, found, err), LEAT_ERR_OPTION,
                     "not permitted");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        /* first: it forks, which TSan supports while there is one thread */
        cmocka_unit_test_setup_teardown(ends_with_us, setup, teardown),
        cmocka_unit_test_setup_teardown(ends, setup, teardown),
        cmocka_unit_test_setup_teardown(what_it_gets, setup, teardown),
        cmocka_unit_test_setup_teardown(signals, setup, teardown),
        cmocka_unit_test_setup_teardown(lives, setup, teardown),
        cmocka_unit_test_setup_teardown(cannot_start, setup, teardown),
        cmocka_unit_test_setup_teardown(captured, setup, teardown),
        cmocka_unit_test_setup_teardown(others, setup, teardown),
        cmocka_unit_test_setup_teardown(as_another, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
