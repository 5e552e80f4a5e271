/*
 * See process.h. The kernel sends the signal `ends_with_us` when the thread that forked ends, not
 * the process. So each program has a thread, which starts it, waits for its end and lives as long.
 *
 * What goes wrong in the child before the program runs comes back through a pipe that its start
 * closes: a program that cannot be executed is an error here, not an exit status.
 */
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/close_range.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/thread.h"

enum { UNKNOWN_STATUS = 255, COMPONENTS_MAX = 254, CHILD_FAILED = 255 };

typedef enum stage { STAGE_USER, STAGE_PARENT, STAGE_EXECUTE } stage;
typedef struct failure {
    stage at;
    int number; /* errno */
} failure;

struct leat_process {
    const leat_process_options *options; /* until it runs */
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int out;      /* its output; -1 once it runs */
    pid_t parent; /* this process */
    pid_t id;
    enum { STARTING, RUNNING, FAILED, ENDED } state;
    int status;
    leat_error error;
};

/* ---- the child: calls that are safe between fork and exec in a program with threads -----------
 */

static char *const environment[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C", NULL};

static void reset_signals(void) {
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    sigset_t none;
    for (int i = 1; i < NSIG; i++) sigaction(i, &usual, NULL); /* fails for SIGKILL, SIGSTOP */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Other code in this program may have files that would stay open. */
static void close_at_start(void) {
    enum { FDS_MAX = 1024 };
    /* glibc 2.28 does not have the function */
    if (syscall(SYS_close_range, 3, ~0U, CLOSE_RANGE_CLOEXEC) == 0) return;
    for (int fd = 3; fd < FDS_MAX; fd++) fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static bool become(const leat_process_user *user) {
    if (user == NULL || (uid_t)user->user == geteuid()) return true;
    return setgroups(0, NULL) == 0 && setgid((gid_t)user->group) == 0 &&
           setuid((uid_t)user->user) == 0;
}

static _Noreturn void give_up(int report, stage at) {
    const failure what = {at, errno};
    (void)!write(report, &what, sizeof what);
    _exit(CHILD_FAILED);
}

static _Noreturn void run(const leat_process *self, int report) {
    const leat_process_options *options = self->options;
    const int in = open("/dev/null", O_RDONLY);
    reset_signals();
    (void)setsid();
    if (in < 0 || dup2(in, 0) < 0 || dup2(self->out, 1) < 0 || dup2(self->out, 2) < 0 ||
        chdir("/") != 0)
        give_up(report, STAGE_EXECUTE);
    if (!become(options->user)) give_up(report, STAGE_USER);
    /* a change of user would clear it */
    if (options->ends_with_us != 0) prctl(PR_SET_PDEATHSIG, options->ends_with_us);
    if (getppid() != self->parent) give_up(report, STAGE_PARENT); /* killed before that call */
    close_at_start();
    execve(options->program, (char *const *)(uintptr_t)options->words, environment);
    give_up(report, STAGE_EXECUTE);
}

/* ---- its thread -------------------------------------------------------------------------------
 */

static void change(leat_process *self, int state) {
    pthread_mutex_lock(&self->mutex);
    self->state = state;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->mutex);
}

static leat_code explain(const leat_process *self, const failure *what, leat_error *err) {
    const leat_process_options *options = self->options;
    if (what->at == STAGE_USER)
        return leat_fail(err, LEAT_ERR_OPTION, "cannot start \"%.300s\" as user \"%s\": %s",
                         options->program, options->user->name,
                         what->number == EPERM ? "not permitted" : "the system refuses");
    leat_error why = {0};
    const leat_code code =
        leat_fail_errno(&why, what->number, "cannot execute \"%.300s\"", options->program);
    return leat_fail(err, code == LEAT_ERR_NOT_FOUND ? code : LEAT_ERR_OPTION, "%s", why.message);
}

static leat_code fork_child(leat_process *self, leat_error *err) {
    int report[2];
    failure what = {0};
    if (pipe2(report, O_CLOEXEC) != 0) return leat_fail_errno(err, errno, "cannot open a pipe");
    const pid_t id = fork();
    if (id == 0) run(self, report[1]);
    const int number = errno;
    close(report[1]);
    ssize_t got = 0;
    if (id > 0) do
            got = read(report[0], &what, sizeof what);
        while (got < 0 && errno == EINTR);
    close(report[0]);
    if (id < 0)
        return leat_fail_errno(err, number, "cannot start \"%.300s\"", self->options->program);
    if (got == (ssize_t)sizeof what) {
        while (waitpid(id, NULL, 0) < 0 && errno == EINTR) continue;
        return explain(self, &what, err);
    }
    self->id = id;
    return LEAT_OK;
}

/* Its number stays its own until it is waited for, so a signal cannot hit another process. */
static void wait_for_end(leat_process *self) {
    siginfo_t info;
    int status = 0;
    while (waitid(P_PID, (id_t)self->id, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR) continue;
    pthread_mutex_lock(&self->mutex);
    const pid_t got = waitpid(self->id, &status, 0);
    self->status = got != self->id       ? UNKNOWN_STATUS
                   : WIFSIGNALED(status) ? 128 + WTERMSIG(status)
                                         : WEXITSTATUS(status);
    self->state = ENDED;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->mutex);
}

static void *process_main(void *argument) {
    leat_process *self = argument;
    if (fork_child(self, &self->error) != LEAT_OK) {
        change(self, FAILED);
        return NULL;
    }
    change(self, RUNNING);
    wait_for_end(self);
    return NULL;
}

/* ---- starting and ending ----------------------------------------------------------------------
 */

static leat_code check_program(const char *program, leat_error *err) {
    leat_path_facts facts;
    LEAT_TRY(leat_path_stat(program, &facts, err));
    if (program[0] == '/' && facts.kind == LEAT_PATH_FILE) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_NOT_FOUND, "there is no program \"%.300s\"", program);
}

static void destroy(leat_process *self) {
    if (self->out >= 0) close(self->out);
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->mutex);
    leat_free(self);
}

static leat_code start_thread(leat_process *self, leat_error *err) {
    LEAT_TRY(leat_thread_start(&self->thread, process_main, self, err));
    pthread_mutex_lock(&self->mutex);
    while (self->state == STARTING) pthread_cond_wait(&self->changed, &self->mutex);
    const bool failed = self->state == FAILED;
    pthread_mutex_unlock(&self->mutex);
    if (!failed) return LEAT_OK;
    pthread_join(self->thread, NULL);
    return leat_error_copy(err, &self->error);
}

/* With its output to `out`, which this takes over. */
static leat_code start(leat_process **result, const leat_process_options *options, int out,
                       leat_error *err) {
    leat_process *self = NULL;
    pthread_condattr_t monotonic;
    leat_code code = check_program(options->program, err);
    if (code == LEAT_OK) code = LEAT_NEW(&self, 1, err);
    if (code != LEAT_OK) {
        close(out);
        return code;
    }
    pthread_mutex_init(&self->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&self->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    self->options = options;
    self->out = out;
    self->parent = getpid();
    code = start_thread(self, err);
    if (code != LEAT_OK) {
        destroy(self);
        return code;
    }
    close(self->out);
    self->out = -1;
    self->options = NULL;
    *result = self;
    return LEAT_OK;
}

leat_code leat_process_start(leat_process **out, const leat_process_options *options,
                             leat_error *err) {
    *out = NULL;
    const int log =
        open(options->log, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (log < 0) return leat_fail_errno(err, errno, "cannot open \"%.400s\"", options->log);
    return start(out, options, log, err);
}

int64_t leat_process_id(const leat_process *process) { return process->id; }

bool leat_process_wait(leat_process *process, int64_t timeout_ms, int *status) {
    const int64_t until_ns = leat_clock_ns() + timeout_ms * 1000000;
    const struct timespec until = {until_ns / 1000000000, until_ns % 1000000000};
    int waited = 0;
    pthread_mutex_lock(&process->mutex);
    while (process->state != ENDED && waited != ETIMEDOUT)
        waited = pthread_cond_timedwait(&process->changed, &process->mutex, &until);
    const bool ended = process->state == ENDED;
    if (ended) *status = process->status;
    pthread_mutex_unlock(&process->mutex);
    return ended;
}

bool leat_process_ended(leat_process *process, int *status) {
    return leat_process_wait(process, 0, status);
}

void leat_process_signal(leat_process *process, int number) {
    pthread_mutex_lock(&process->mutex);
    if (process->state == RUNNING) kill(process->id, number);
    pthread_mutex_unlock(&process->mutex);
}

void leat_process_close(leat_process *process) {
    if (process == NULL) return;
    leat_process_signal(process, SIGKILL);
    pthread_join(process->thread, NULL);
    destroy(process);
}

/* Reads until the end, or until it is full; false: the time is over. */
static bool read_output(int from, char *out, int64_t out_bytes, int64_t until_ns) {
    int64_t size = 0;
    char rest[512];
    for (;;) {
        struct pollfd at = {.fd = from, .events = POLLIN};
        const int64_t left_ms = (until_ns - leat_clock_ns()) / 1000000;
        if (left_ms <= 0) return false;
        if (poll(&at, 1, (int)left_ms) <= 0) continue;
        const bool full = size + 1 == out_bytes;
        const ssize_t got = full ? read(from, rest, sizeof rest)
                                 : read(from, out + size, (size_t)(out_bytes - 1 - size));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        if (!full) size += got;
    }
    out[size] = 0;
    return true;
}

leat_code leat_process_capture(const char *program, const char *const *words, int64_t timeout_ms,
                               char *out, int64_t out_bytes, leat_error *err) {
    const leat_process_options options = {
        .program = program, .words = words, .ends_with_us = SIGKILL};
    const int64_t until_ns = leat_clock_ns() + timeout_ms * 1000000;
    leat_process *process = NULL;
    int ends[2], status = 0;
    out[0] = 0;
    if (pipe2(ends, O_CLOEXEC) != 0) return leat_fail_errno(err, errno, "cannot open a pipe");
    leat_code code = start(&process, &options, ends[1], err);
    if (code == LEAT_OK) {
        const bool good =
            read_output(ends[0], out, out_bytes, until_ns) &&
            leat_process_wait(process, (until_ns - leat_clock_ns()) / 1000000, &status) &&
            status == 0;
        if (!good)
            code = leat_fail(err, LEAT_ERR_INPUT, "\"%.300s\" fails (status %d)", program, status);
    }
    close(ends[0]);
    leat_process_close(process);
    if (code != LEAT_OK) out[0] = 0;
    return code;
}

/* ---- users ------------------------------------------------------------------------------------
 */

static void take_user(leat_process_user *user, const struct passwd *found) {
    snprintf(user->name, sizeof user->name, "%.63s", found->pw_name);
    user->user = found->pw_uid;
    user->group = found->pw_gid;
}

leat_code leat_process_user_named(leat_process_user *user, const char *name, leat_error *err) {
    struct passwd entry, *found = NULL;
    char texts[8192];
    *user = (leat_process_user){0};
    const int number = getpwnam_r(name, &entry, texts, sizeof texts, &found);
    if (found == NULL && number != 0)
        return leat_fail_errno(err, number, "cannot look up the user \"%.60s\"", name);
    if (found == NULL)
        return leat_fail(err, LEAT_ERR_NOT_FOUND, "there is no user \"%.60s\"", name);
    take_user(user, found);
    return LEAT_OK;
}

leat_code leat_process_user_numbered(leat_process_user *user, int64_t number, leat_error *err) {
    struct passwd entry, *found = NULL;
    char texts[8192];
    *user = (leat_process_user){.user = number, .group = number};
    const int failed = getpwuid_r((uid_t)number, &entry, texts, sizeof texts, &found);
    if (found == NULL && failed != 0)
        return leat_fail_errno(err, failed, "cannot look up the user %lld", (long long)number);
    if (found != NULL) take_user(user, found);
    else snprintf(user->name, sizeof user->name, "%lld", (long long)number);
    return LEAT_OK;
}

int64_t leat_process_own_user(void) { return geteuid(); }

/* The status is the number of the first folder, from the root, that is closed; 0: none. */
static _Noreturn void try_folders(const leat_process_user *user, char *path) {
    int number = 1;
    if (!become(user)) _exit(CHILD_FAILED);
    for (char *at = path + 1;; at++) {
        const char c = *at;
        if (c != '/' && c != 0) continue;
        *at = 0;
        /* with the effective user's rights, where those differ */
        if (faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) != 0)
            _exit(number < COMPONENTS_MAX ? number : COMPONENTS_MAX);
        *at = c;
        number++;
        if (c == 0) _exit(0);
    }
}

/* The first `number` components of a path. */
static void begin_of(const char *path, int number, char out[LEAT_PATH_BYTES]) {
    size_t length = 1;
    while (path[length] != 0 && (path[length] != '/' || --number > 0)) length++;
    snprintf(out, LEAT_PATH_BYTES, "%.*s", (int)length, path);
}

leat_code leat_process_may_enter(const leat_process_user *user, const char *path, bool *may,
                                 char closed[LEAT_PATH_BYTES], leat_error *err) {
    char copy[LEAT_PATH_BYTES];
    int status = 0;
    *may = false;
    closed[0] = 0;
    if (snprintf(copy, sizeof copy, "%s", path) >= LEAT_PATH_BYTES)
        return leat_fail(err, LEAT_ERR_LIMIT, "path \"%.64s...\" is too long", path);
    const pid_t id = fork();
    if (id == 0) try_folders(user, copy);
    if (id < 0) return leat_fail_errno(err, errno, "cannot start a process");
    while (waitpid(id, &status, 0) < 0 && errno == EINTR) continue;
    if (!WIFEXITED(status) || WEXITSTATUS(status) == CHILD_FAILED)
        return leat_fail(err, LEAT_ERR_OPTION, "cannot act as user \"%s\": not permitted",
                         user->name);
    *may = WEXITSTATUS(status) == 0;
    if (!*may) begin_of(path, WEXITSTATUS(status), closed);
    return LEAT_OK;
}

/* ---- programs and processes -------------------------------------------------------------------
 */

bool leat_process_find(const char *name, char path[LEAT_PATH_BYTES]) {
    const char *at = getenv("PATH");
    while (at != NULL && *at != 0) {
        const int length = (int)strcspn(at, ":");
        struct stat found;
        if (length > 0 && *at == '/' &&
            snprintf(path, LEAT_PATH_BYTES, "%.*s/%s", length, at, name) < LEAT_PATH_BYTES &&
            stat(path, &found) == 0 && S_ISREG(found.st_mode) && access(path, X_OK) == 0)
            return true;
        at += length;
        if (*at == ':') at++;
    }
    path[0] = 0;
    return false;
}

/* What /proc says; false: it has ended meanwhile, or is not to be seen. */
static bool read_facts(const char *name, leat_process_facts *facts) {
    char path[64];
    struct stat found;
    leat_file *file = NULL;
    int64_t got = 0;
    if (strspn(name, "0123456789") != strlen(name) || strlen(name) > 10) return false;
    snprintf(path, sizeof path, "/proc/%s", name);
    if (stat(path, &found) != 0) return false;
    *facts = (leat_process_facts){.id = strtoll(name, NULL, 10), .user = found.st_uid};
    snprintf(path, sizeof path, "/proc/%s/cmdline", name);
    if (leat_file_open(&file, path, LEAT_FILE_READ, NULL) != LEAT_OK) return false;
    const leat_code code =
        leat_file_read(file, facts->words, (int64_t)sizeof facts->words - 1, &got, NULL);
    leat_file_close(file);
    for (int64_t i = 0; i < got; i++)
        if (facts->words[i] == 0) facts->words[i] = ' ';
    return code == LEAT_OK;
}

bool leat_process_get(int64_t id, leat_process_facts *facts) {
    char name[32];
    snprintf(name, sizeof name, "%lld", (long long)id);
    return id > 0 && read_facts(name, facts);
}

leat_code leat_process_list(leat_process_look_fn look, void *context, leat_error *err) {
    leat_path_list names = {0};
    leat_process_facts facts;
    LEAT_TRY(leat_path_list_dir("/proc", &names, err));
    for (int64_t i = 0; i < names.count; i++)
        if (read_facts(names.paths[i], &facts) && !look(context, &facts)) break;
    leat_path_list_free(&names);
    return LEAT_OK;
}

bool leat_process_works_in(int64_t id, const char *folder, bool *known) {
    char path[64];
    struct stat its, other;
    snprintf(path, sizeof path, "/proc/%lld/cwd", (long long)id);
    *known = stat(path, &its) == 0 && stat(folder, &other) == 0;
    return *known && its.st_dev == other.st_dev && its.st_ino == other.st_ino;
}

void leat_process_signal_id(int64_t id, int number) {
    if (id > 1) kill((pid_t)id, number);
}
