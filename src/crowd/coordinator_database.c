/* Where the database of a coordinator is: at a URL, or a private one in RUN/database; and the line
 * with which a worker joins. */
#include <stdio.h>
#include <string.h>

#include "crowd/coordinator.h"
#include "crowd/local.h"

static void say(void *user, const char *line) { leat_coordinator_say(user, "%s", line); }

static bool goes_on(void *user, const leat_progress *progress) {
    (void)progress;
    return !leat_coordinator_stopped(user);
}

leat_code leat_coordinator_check_place(leat_coordinator *self, const char *run, leat_error *err) {
    char folder[LEAT_PATH_BYTES];
    leat_pg_place any; /* says whether there is libpq */
    if (!leat_coordinator_is_local(self) && self->options->listen != NULL)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "--listen needs --db local; a server elsewhere listens where its own "
                         "listen_addresses says");
    if (!leat_coordinator_is_local(self))
        return leat_pg_place_parse(&self->place, self->options->url, err);
    LEAT_TRY(leat_pg_place_parse(&any, "postgresql://a@127.0.0.1/a", err));
    LEAT_TRY(leat_path_join(folder, sizeof folder, run, LEAT_LOCAL_NAME, err));
    return leat_local_check(folder, self->options->listen, err);
}

/* How others are let in, if it listens for them. */
static void say_invite(leat_coordinator *self) {
    char path[LEAT_PATH_BYTES], file[LEAT_PATH_BYTES], word[LEAT_PATH_BYTES + 8];
    if (self->options->listen == NULL ||
        leat_path_join(path, sizeof path, self->folder, LEAT_LOCAL_NAME, NULL) != LEAT_OK ||
        leat_path_join(file, sizeof file, path, LEAT_LOCAL_INVITE, NULL) != LEAT_OK)
        return;
    if (!leat_shell_word(word, sizeof word, file)) return;
    leat_coordinator_say(self, "to invite a volunteer to %s: leat invite NAME --db @%s",
                         self->local->state.listened, word);
}

/*
 * "leat work 'postgresql://...?run=NAME' --data DIR", without --data if the run keeps its data set
 * in the database. Of a URL that was given, the login and its
 * password are the coordinator's own: workers have others.
 */
void leat_coordinator_say_line(leat_coordinator *self) {
    const char *data = self->serves ? "" : " --data DIR";
    if (self->line_said) return;
    self->line_said = true;
    if (self->local != NULL) {
        leat_coordinator_say(self, "to lend this machine: leat work '%s?run=%s'%s",
                             leat_local_worker_url(self->local), self->name, data);
        say_invite(self);
        return;
    }
    const char *shown = self->place.shown, *host = strchr(shown, '@');
    const char *query = strchr(shown, '?');
    if (host == NULL) return;
    const int end = (int)(query != NULL ? query - host : (long)strlen(host));
    char kept[LEAT_PG_URL_BYTES] = ""; /* the parameters but for `run` */
    for (const char *at = query; at != NULL && *at != 0;) {
        const int length = 1 + (int)strcspn(at + 1, "&");
        if (strncmp(at + 1, "run=", 4) != 0)
            snprintf(kept + strlen(kept), sizeof kept - strlen(kept), "&%.*s", length - 1, at + 1);
        at += length;
    }
    leat_coordinator_say(
        self, "to lend a machine: leat work 'postgresql://LOGIN:PASSWORD%.*s?run=%s%s'%s", end,
        host, self->name, kept, data);
}

leat_code leat_coordinator_open_place(leat_coordinator *self, const char *run, leat_error *err) {
    char folder[LEAT_PATH_BYTES];
    const leat_local_options options = {
        .listen = self->options->listen, .say = say, .progress = goes_on, .user = self};
    if (!leat_coordinator_is_local(self)) return LEAT_OK;
    LEAT_TRY(leat_path_join(folder, sizeof folder, run, LEAT_LOCAL_NAME, err));
    LEAT_TRY(leat_local_open(&self->local, folder, &options, err));
    return leat_pg_place_parse(&self->place, leat_local_url(self->local), err);
}

leat_code leat_coordinator_revive_place(leat_coordinator *self, leat_error *err) {
    char before[LEAT_PG_URL_BYTES];
    if (self->local == NULL) return LEAT_OK;
    snprintf(before, sizeof before, "%s", leat_local_url(self->local));
    LEAT_TRY(leat_local_revive(self->local, err));
    if (strcmp(before, leat_local_url(self->local)) == 0) return LEAT_OK;
    self->line_said = false;
    return leat_pg_place_parse(&self->place, leat_local_url(self->local), err);
}

/* Workers ask at least every 5 s. */
enum { GOODBYE_MS = 10000, GOODBYE_POLL_MS = 50 };

void leat_coordinator_say_goodbye(leat_coordinator *self) {
    int64_t sessions = 0;
    if (self->local == NULL || leat_pg_broken(self->pg)) return;
    for (int64_t ms = 0; ms < GOODBYE_MS; ms += GOODBYE_POLL_MS) {
        if (leat_database_others(self->pg, &sessions, NULL) != LEAT_OK || sessions == 0) return;
        if (!leat_pause_sleep(GOODBYE_POLL_MS, &self->stop)) return;
    }
}

void leat_coordinator_close_place(leat_coordinator *self) {
    leat_local_close(self->local);
    self->local = NULL;
}
