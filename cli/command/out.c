/*
 * The one place where the command prints.
 *
 * stdout is fully buffered and its first failure is kept in the leat_cli, so that commands need not
 * check each write: a reader that has gone (`leat cat DIR | head`) ends the command quietly; a full
 * disk is reported and sets the exit status to 1, at the latest when the buffer is flushed at the
 * end.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/internal.h"

/* If a standard descriptor is closed, the next file that the library opens gets its number, and
 * messages would be written to a data file. Read-only placeholders keep the numbers in use. */
static void hold_standard_files(void) {
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
        int opened = open("/dev/null", O_RDONLY);
        if (opened > 2) close(opened);
    }
}

/* One call of leat_out writes at most this much; a path takes 4 KiB. */
#define LEAT_OUT_BYTES (16 << 10)

/* A message of the library and the words that a command puts around it. */
#define NOTE_BYTES (10 * LEAT_MESSAGE_BYTES) /* warnings may be long */

/* A progress line requires a terminal that can clear it: TERM is unset or "dumb" where it cannot
 * (an editor's shell). */
static bool clears_lines(void) {
    const char *kind = getenv("TERM");
    return isatty(STDERR_FILENO) == 1 && kind != NULL && kind[0] != 0 && strcmp(kind, "dumb") != 0;
}

void leat_out_start(leat_cli *cli) {
    hold_standard_files();
    signal(SIGPIPE, SIG_IGN); /* EPIPE reports the same and can be handled */
    setvbuf(stdout, NULL, _IOFBF, 64 * 1024);
    cli->progress_possible = clears_lines();
    cli->out_terminal = isatty(STDOUT_FILENO) == 1;
}

static void keep_failure(leat_cli *cli) {
    if (cli->out_errno == 0) cli->out_errno = errno != 0 ? errno : EIO;
}

void leat_out_terminal(const char *bytes, int size_bytes) {
    /* A failure here cannot be reported to anyone. */
    if (write(STDERR_FILENO, bytes, (size_t)size_bytes) < 0) return;
}

void leat_cli_progress_end(leat_cli *cli) {
    if (!cli->progress_shown) return;
    leat_out_terminal("\r\033[K", 4);
    cli->progress_shown = false;
}

int leat_out_finish(leat_cli *cli, int status) {
    leat_cli_progress_end(cli);
    errno = 0;
    bool failed = ferror(stdout) != 0;
    failed = fflush(stdout) != 0 || failed;
    failed = close(STDOUT_FILENO) != 0 || failed;
    if (failed) keep_failure(cli);
    if (cli->out_errno == 0 || cli->out_errno == EPIPE) return status;
    leat_cli_note(cli, "writing to stdout: %s", strerror(cli->out_errno));
    return status == 0 ? 1 : status;
}

static void put(leat_cli *cli, const char *bytes, int64_t size_bytes) {
    if (cli->out_errno != 0 || size_bytes <= 0) return;
    errno = 0;
    if (fwrite(bytes, 1, (size_t)size_bytes, stdout) != (size_t)size_bytes) keep_failure(cli);
}

/* Writes printable text unchanged, as well as line breaks if they are leat's own. */
static void put_shown(leat_cli *cli, const char *text, int64_t size_bytes, leat_escape style,
                      bool lines) {
    for (int64_t i = 0; i < size_bytes && cli->out_errno == 0;) {
        char escape[LEAT_ESCAPE_BYTES];
        int64_t clean = leat_text_clean(text + i, size_bytes - i);
        put(cli, text + i, clean);
        i += clean;
        if (i == size_bytes) break;
        if (lines && text[i] == '\n') {
            put(cli, "\n", 1);
            i++;
            continue;
        }
        i += leat_text_escape(text + i, size_bytes - i, style, escape);
        put(cli, escape, (int64_t)strlen(escape));
    }
}

void leat_out(leat_cli *cli, const char *format, ...) {
    char text[LEAT_OUT_BYTES];
    if (cli->out_errno != 0) return;
    va_list arguments;
    va_start(arguments, format);
    errno = 0;
    int size = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (size < 0) keep_failure(cli);
    else
        put_shown(cli, text, size < (int)sizeof text ? size : (int)sizeof text - 1,
                  LEAT_ESCAPE_WORDS, true);
}

void leat_out_text(leat_cli *cli, const char *text, int64_t size_bytes) {
    put_shown(cli, text, size_bytes, LEAT_ESCAPE_WORDS, false);
}

void leat_out_name(leat_cli *cli, const char *name) {
    leat_out_text(cli, name, (int64_t)strlen(name));
}

void leat_out_lines(leat_cli *cli, const char *text, int64_t size_bytes) {
    put_shown(cli, text, size_bytes, LEAT_ESCAPE_WORDS, true);
}

void leat_out_json_text(leat_cli *cli, const char *text, int64_t size_bytes) {
    put(cli, "\"", 1);
    int64_t done = 0;
    for (int64_t i = 0; i < size_bytes; i++) {
        if (text[i] != '"' && text[i] != '\\') continue;
        put_shown(cli, text + done, i - done, LEAT_ESCAPE_JSON, false);
        put(cli, "\\", 1);
        done = i; /* the quote is written with the next part */
    }
    put_shown(cli, text + done, size_bytes - done, LEAT_ESCAPE_JSON, false);
    put(cli, "\"", 1);
}

void leat_out_bytes(leat_cli *cli, const void *bytes, int64_t size_bytes) {
    if (cli->out_terminal) put_shown(cli, bytes, size_bytes, LEAT_ESCAPE_WORDS, true);
    else put(cli, bytes, size_bytes);
}

int leat_out_json(leat_cli *cli, leat_json *json) {
    leat_error err = {0};
    const char *text = NULL;
    int64_t size_bytes = 0;
    if (leat_json_finish(json, &text, &size_bytes, &err) != LEAT_OK)
        return leat_cli_fail(cli, &err);
    /* Only bytes within strings are escaped here, where the escape has the same meaning in JSON. */
    put_shown(cli, text, size_bytes, LEAT_ESCAPE_JSON, true);
    return 0;
}

int leat_out_object(leat_cli *cli, leat_out_members_fn *members, const void *of) {
    leat_json *json = NULL;
    leat_error err = {0};
    if (leat_json_create(&json, false, &err) != LEAT_OK) return leat_cli_fail(cli, &err);
    leat_json_begin_object(json);
    members(json, of);
    leat_json_end_object(json);
    int status = leat_out_json(cli, json);
    leat_json_destroy(json);
    return status;
}

bool leat_out_is_file(void) {
    struct stat facts;
    return fstat(STDOUT_FILENO, &facts) == 0 && S_ISREG(facts.st_mode);
}

bool leat_cli_is_folder(const char *path) {
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

bool leat_out_broken(const leat_cli *cli) { return cli->out_errno != 0; }

void leat_out_flush(leat_cli *cli) {
    errno = 0;
    if (fflush(stdout) != 0) keep_failure(cli);
}

static void write_note(leat_cli *cli, const char *format, va_list arguments, const char *more) {
    char raw[NOTE_BYTES], text[2 * NOTE_BYTES];
    leat_cli_progress_end(cli);
    if (fflush(stdout) != 0) keep_failure(cli); /* keep the order of messages */
    int formed = vsnprintf(raw, sizeof raw, format, arguments);
    if (formed >= (int)sizeof raw) formed = (int)sizeof raw - 1;
    leat_text_show(text, sizeof text, raw, formed < 0 ? 0 : formed);
    size_t size = strlen(text);
    bool asks = size > 0 && text[size - 1] == '?' && more[0] == ';';
    fprintf(stderr, "leat: %s%s%s\n", text, asks ? " S" : more, asks ? more + 3 : "");
}

void leat_cli_note(leat_cli *cli, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    write_note(cli, format, arguments, "");
    va_end(arguments);
}

const char *leat_cli_called(const leat_cli_command *command, char text[LEAT_CLI_CALLED_BYTES]) {
    const bool words = command != NULL && command != leat_cli_this.itself;
    snprintf(text, LEAT_CLI_CALLED_BYTES, "%s%s%s", leat_cli_this.name, words ? " " : "",
             words ? command->words : "");
    return text;
}

int leat_cli_usage(leat_cli *cli, const char *format, ...) {
    char called[LEAT_CLI_CALLED_BYTES], more[LEAT_CLI_CALLED_BYTES + 32];
    snprintf(more, sizeof more, "; see %s --help", leat_cli_called(cli->command, called));
    va_list arguments;
    va_start(arguments, format);
    write_note(cli, format, arguments, more);
    va_end(arguments);
    return 2;
}

int leat_cli_fail(leat_cli *cli, const leat_error *err) {
    leat_cli_note(cli, "%s", err->message[0] != 0 ? err->message : leat_code_text(err->code));
    return err->code == LEAT_ERR_OPTION ? 2 : 1;
}

int leat_out_columns(void) {
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
    return size.ws_col;
}

int leat_out_width(void) {
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

int64_t leat_out_rss_bytes(void) {
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL) return -1;
    long long total = 0, resident = -1;
    if (fscanf(file, "%lld %lld", &total, &resident) != 2) resident = -1;
    fclose(file);
    return resident < 0 ? -1 : (int64_t)resident * sysconf(_SC_PAGESIZE);
}

void leat_cli_broken(const char *what) {
    fprintf(stderr, "leat: mistake in a table of leat itself: %s\n", what);
    abort();
}
