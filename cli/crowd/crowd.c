/* See crowd.h. */
#include "crowd/crowd.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void leat_crowd_forget_environment(void) {
    for (bool again = true; again;) {
        again = false;
        for (char **at = environ; *at != NULL && !again; at++) {
            char name[64];
            const size_t length = strcspn(*at, "=");
            if (strncmp(*at, "PG", 2) != 0 || length >= sizeof name) continue;
            memcpy(name, *at, length);
            name[length] = 0;
            unsetenv(name);
            again = true; /* the list has moved */
        }
    }
}

int leat_crowd_url(leat_cli *cli, const char *typed, char url[LEAT_CROWD_URL_BYTES]) {
    leat_error err = {0};
    if (leat_crowd_url_read(typed, url, &err) != LEAT_OK) return leat_cli_fail(cli, &err);
    leat_crowd_hide_url(typed);
    return 0;
}

void leat_crowd_hide_url(const char *typed) {
    char *words = (char *)(uintptr_t)typed; /* in argv, which is writable */
    char *secret = strstr(words, "://");
    if (secret != NULL) secret += 3;
    else if (strncmp(words, "leat", 4) == 0) secret = strchr(words, ':'); /* a ticket */
    if (secret != NULL) memset(secret, '*', strlen(secret));
}

int leat_crowd_owner_url(leat_cli *cli, char url[LEAT_CROWD_URL_BYTES]) {
    const char *typed = leat_cli_text(cli, "db");
    leat_crowd_forget_environment();
    if (strcmp(typed, LEAT_LOCAL_URL) == 0)
        return leat_cli_usage(cli,
                              "--db local is for leat coordinate only; use the URL in the run's "
                              "folder: --db @RUN/database/invite.url");
    return leat_crowd_url(cli, typed, url);
}

/* Of a message, which has LEAT_MESSAGE_BYTES. */
enum { WORD_MOST = 120, LISTEN_BYTES = 80 };

/* The folder of the run whose private database `typed` is the file of: "@RUN/database/invite.url".
 * false: it is another file, or another kind of URL. */
static bool find_private(const char *typed, char run[LEAT_CROWD_PATH_BYTES]) {
    static const char name[] = "database/invite.url";
    const size_t size = strlen(typed), length = strlen(name);
    if (strcmp(typed, "@invite.url") == 0) {
        snprintf(run, LEAT_CROWD_PATH_BYTES, "..");
        return true;
    }
    if (typed[0] != '@' || size <= length || size - length > LEAT_CROWD_PATH_BYTES) return false;
    const size_t before = size - length - 1; /* bytes of "RUN/", which is "" in RUN itself */
    if (strcmp(typed + 1 + before, name) != 0) return false;
    if (before > 0 && typed[before] != '/') return false;
    snprintf(run, LEAT_CROWD_PATH_BYTES, "%.*s", before > 1 ? (int)before - 1 : 1,
             before > 0 ? typed + 1 : ".");
    return true;
}

/* " --listen HOST:PORT", where the URL is that of a server which other machines reach. */
static void add_listen(const char *typed, char line[LISTEN_BYTES]) {
    char url[LEAT_CROWD_URL_BYTES];
    if (leat_crowd_url_read(typed, url, NULL) != LEAT_OK) return;
    const char *host = strchr(url, '@'), *end = host != NULL ? strchr(host, '/') : NULL;
    if (end != NULL && strstr(end, "?hostaddr=") != NULL && end - host < LISTEN_BYTES - 12)
        snprintf(line, LISTEN_BYTES, " --listen %.*s", (int)(end - host - 1), host + 1);
}

int leat_crowd_fail(leat_cli *cli, const char *typed, const leat_error *err) {
    leat_error longer = {.code = err->code};
    char run[LEAT_CROWD_PATH_BYTES], word[LEAT_CROWD_PATH_BYTES], listen[LISTEN_BYTES] = "";
    if (err->code != LEAT_ERR_CONNECTION || !find_private(typed, run) ||
        !leat_shell_word(word, sizeof word, run))
        return leat_cli_fail(cli, err);
    add_listen(typed, listen);
    const char *reason = strstr(err->message, " failed: ");
    /* a path that is not there whole would be that of another folder */
    snprintf(
        longer.message, sizeof longer.message,
        "--db: %.150s; the server of a run runs only while leat coordinate does; to start it: leat "
        "coordinate %s --db local%s --resume --data DIR",
        reason != NULL ? reason + strlen(" failed: ") : err->message,
        strlen(word) <= WORD_MOST ? word : "RUN", listen);
    return leat_cli_fail(cli, &longer);
}

void leat_crowd_say(void *user, const char *line) { leat_cli_note(user, "%s", line); }

const char *leat_crowd_key_path(char path[LEAT_CROWD_PATH_BYTES]) {
    const char *home = getenv("HOME");
    path[0] = 0;
    if (home == NULL || home[0] != '/') {
        const struct passwd *user = getpwuid(geteuid());
        home = user != NULL ? user->pw_dir : NULL;
    }
    if (home != NULL && home[0] == '/' && strlen(home) < LEAT_CROWD_PATH_BYTES - 64)
        snprintf(path, LEAT_CROWD_PATH_BYTES, "%.4000s/.local/state/leat/machine.key", home);
    return path;
}

const char *leat_crowd_hardware(char text[LEAT_WORDS_BYTES]) {
    leat_machine machine;
    char memory[LEAT_WORDS_BYTES];
    leat_machine_look("/", &machine);
    snprintf(text, LEAT_WORDS_BYTES, "%d processors, %s", (int)machine.cpus,
             leat_words_bytes(memory, machine.memory_bytes));
    return text;
}
