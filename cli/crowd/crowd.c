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
    char *words = (char *)(uintptr_t)typed; /* in argv, which is writable */
    char *secret = strstr(words, "://");
    if (secret != NULL) secret += 3;
    else if (strncmp(words, "leat", 4) == 0) secret = strchr(words, ':'); /* a ticket */
    if (secret != NULL) memset(secret, '*', strlen(secret));
    return 0;
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

int leat_crowd_fail(leat_cli *cli, const char *typed, const leat_error *err) {
    static const char name[] = "invite.url";
    const size_t size = strlen(typed), length = strlen(name);
    leat_error longer = {.code = err->code};
    if (err->code != LEAT_ERR_CONNECTION || typed[0] != '@' || size <= length ||
        strcmp(typed + size - length, name) != 0 || strchr("@/", typed[size - length - 1]) == NULL)
        return leat_cli_fail(cli, err);
    snprintf(longer.message, sizeof longer.message,
             "%.300s; the server of a run runs only while leat coordinate does: start that "
             "with --resume, and the same --listen",
             err->message);
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
