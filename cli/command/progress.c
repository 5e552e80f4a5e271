/*
 * The progress line, and requests to stop.
 *
 * Signals are blocked in every thread and awaited by a dedicated thread, so that nothing runs
 * inside a signal handler: the first one sets a number that the progress callback checks, then the
 * waiting thread unblocks the signals for itself, and the next one ends the process by its default
 * action.
 */
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "command/internal.h"

/* How often the line is drawn on a terminal, and added to anything else. */
#define DRAWN_EVERY_NS INT64_C(200000000)
#define LOGGED_EVERY_NS INT64_C(60000000000)

int64_t leat_cli_clock_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void stop_signals(sigset_t *set) {
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGHUP);
}

static void *wait_for_signal(void *argument) {
    leat_cli *cli = argument;
    sigset_t set;
    int number = 0;
    stop_signals(&set);
    if (sigwait(&set, &number) != 0) return NULL;
    atomic_store(&cli->signal_number, number);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    for (;;) pause();
}

void leat_cli_cancellable(leat_cli *cli) {
    sigset_t set, before;
    pthread_t thread;
    if (cli->cancellable) return; /* a second thread would consume the second signal */
    cli->cancellable = true;
    stop_signals(&set);
    if (pthread_sigmask(SIG_BLOCK, &set, &before) != 0) return;
    if (pthread_create(&thread, NULL, wait_for_signal, cli) != 0) {
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        return;
    }
    pthread_detach(thread);
}

static void begin_stage(leat_cli *cli, const leat_progress *progress, int64_t now_ns) {
    snprintf(cli->stage, sizeof cli->stage, "%s", progress->stage);
    cli->stage_start_ns = now_ns;
    cli->stage_start_done = progress->done;
}

static bool is_bytes(const leat_progress *progress) { return strcmp(progress->unit, "bytes") == 0; }

static const char *amount(char words[LEAT_WORDS_BYTES], const leat_progress *progress,
                          int64_t value) {
    return is_bytes(progress) ? leat_words_bytes(words, value) : leat_words_count(words, value);
}

static int add_rate(const leat_cli *cli, const leat_progress *progress, int64_t now_ns, char *line,
                    int room) {
    char words[LEAT_WORDS_BYTES];
    double seconds = (double)(now_ns - cli->stage_start_ns) * 1e-9;
    double rate = (double)(progress->done - cli->stage_start_done) / seconds;
    if (seconds < 0.5 || rate <= 0) return 0;
    int size = snprintf(line, (size_t)room, ", %s/s", amount(words, progress, (int64_t)rate));
    if (progress->total > progress->done && size < room)
        size +=
            snprintf(line + size, (size_t)(room - size), ", %s left",
                     leat_words_seconds(words, (double)(progress->total - progress->done) / rate));
    return size;
}

/* The line and what goes before it; returns its size. At most 400 bytes. */
#define LINE_BYTES 512
static int compose(const leat_cli *cli, const leat_progress *progress, int64_t now_ns,
                   const char *before, char line[LINE_BYTES]) {
    char words[LEAT_WORDS_BYTES], stage[LEAT_PLAIN_BYTES];
    int size = snprintf(line, 200, "%s%.60s: %s", before, leat_plain(stage, progress->stage),
                        amount(words, progress, progress->done));
    if (progress->total >= 0)
        size += snprintf(line + size, 60, " of %s", amount(words, progress, progress->total));
    if (!is_bytes(progress)) size += snprintf(line + size, 32, " %.24s", progress->unit);
    if (cli->detail[0] != 0) size += snprintf(line + size, 60, ", %s", cli->detail);
    size += add_rate(cli, progress, now_ns, line + size, 100);
    int64_t rss = leat_out_rss_bytes();
    if (rss >= 0) size += snprintf(line + size, 60, ", memory %s", leat_words_bytes(words, rss));
    return size;
}

/* In place of the line before. */
static void draw(leat_cli *cli, const leat_progress *progress, int64_t now_ns) {
    char line[LINE_BYTES];
    int limit = leat_out_columns();
    if (limit > 400) limit = 400;
    int size = compose(cli, progress, now_ns, "\r", line);
    if (size > limit)
        size = limit; /* the carriage return takes no column, the last one stays free */
    memcpy(line + size, "\033[K", 3);
    leat_out_terminal(line, size + 3);
    cli->progress_shown = true;
}

/* As a line of its own, in a pipe or file. */
static void add_line(leat_cli *cli, const leat_progress *progress, int64_t now_ns) {
    char line[LINE_BYTES];
    int size = compose(cli, progress, now_ns, "leat: ", line);
    line[size++] = '\n';
    leat_out_terminal(line, size);
}

static void report(leat_cli *cli, const leat_progress *progress) {
    const int64_t now_ns = leat_cli_clock_ns();
    const bool drawn = cli->progress_possible;
    if (strncmp(cli->stage, progress->stage, sizeof cli->stage - 1) != 0 ||
        progress->done < cli->stage_start_done)
        begin_stage(cli, progress, now_ns);
    if (cli->next_ns == 0 && !drawn) cli->next_ns = now_ns + LOGGED_EVERY_NS;
    if (now_ns < cli->next_ns) return;
    if (drawn) draw(cli, progress, now_ns);
    else add_line(cli, progress, now_ns);
    cli->next_ns = now_ns + (drawn ? DRAWN_EVERY_NS : LOGGED_EVERY_NS);
}

void leat_cli_progress_detail(leat_cli *cli, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(cli->detail, sizeof cli->detail, format, args);
    va_end(args);
}

bool leat_cli_progress(void *user, const leat_progress *progress) {
    leat_cli *cli = user;
    if (!cli->quiet) report(cli, progress);
    return atomic_load(&cli->signal_number) == 0;
}
