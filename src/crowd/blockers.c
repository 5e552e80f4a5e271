/* See blockers.h. */
#include "crowd/blockers.h"

#include <stdio.h>
#include <string.h>

/* Ends the session of a volunteer; what came of it, in words. */
static leat_code end(leat_pg *pg, const leat_database_hold *hold, const leat_database_blocker *of,
                     char line[LEAT_BLOCKER_LINE_BYTES], leat_error *err) {
    leat_error why = {0};
    bool done = false, suspended = false;
    char words[96];
    leat_code code = leat_database_end_session(pg, of, &done, &why);
    if (leat_pg_broken(pg)) return leat_error_copy(err, &why);
    if (code != LEAT_OK) { /* no right to */
        snprintf(
            line, LEAT_BLOCKER_LINE_BYTES,
            "session %lld of login \"%.63s\" blocks the run; this login may not end it: let an "
            "administrator run SELECT pg_terminate_backend(%lld); and GRANT pg_signal_backend "
            "to this login",
            (long long)of->process, of->account, (long long)of->process);
        return LEAT_OK;
    }
    if (!done) return LEAT_OK; /* it is gone, or does something else */
    snprintf(words, sizeof words, "session %lld blocked the run for %d s, and was ended",
             (long long)of->process, LEAT_BLOCK_MS / 1000);
    /* a lock that is still held is waited for; what is not noted now is not noted */
    if (hold->fence != 0)
        code = leat_database_blame(pg, hold, of->account, words, &suspended, &why);
    if (leat_pg_broken(pg)) return leat_error_copy(err, &why);
    snprintf(line, LEAT_BLOCKER_LINE_BYTES, "%s: login \"%.63s\"%s", words, of->account,
             code == LEAT_OK && suspended ? ", which gets no units for an hour" : "");
    return LEAT_OK;
}

static void name_it(const leat_database_blocker *of, char line[LEAT_BLOCKER_LINE_BYTES]) {
    snprintf(line, LEAT_BLOCKER_LINE_BYTES,
             "session %lld of login \"%.63s\", an administrator's or the owner's, blocks the run; "
             "end it if it is not needed: SELECT pg_terminate_backend(%lld);",
             (long long)of->process, of->account, (long long)of->process);
}

/* Where it was seen before, or -1. */
static int find(const leat_blockers *self, const leat_database_blocker *of) {
    for (int i = 0; i < self->count; i++)
        if (self->seen[i].of.process == of->process &&
            strcmp(self->seen[i].of.transaction, of->transaction) == 0)
            return i;
    return -1;
}

/* Since when sessions of its login keep the coordinator at the statement where it waits now. */
static int64_t find_login(const leat_blockers *self, const leat_database_blocker *of,
                          int64_t now_ns) {
    int64_t since_ns = now_ns;
    for (int i = 0; i < self->count && of->waits[0] != 0; i++)
        if (self->seen[i].of.role == of->role && strcmp(self->seen[i].of.waits, of->waits) == 0 &&
            self->seen[i].login_since_ns < since_ns)
            since_ns = self->seen[i].login_since_ns;
    return since_ns;
}

/* Whether it has blocked for long enough; of sessions that are trusted, each for itself. */
static bool is_due(const leat_blockers *self, int i, int64_t now_ns) {
    int64_t since_ns = self->seen[i].since_ns;
    if (!self->seen[i].of.trusted && self->seen[i].login_since_ns < since_ns)
        since_ns = self->seen[i].login_since_ns;
    return !self->seen[i].judged && now_ns - since_ns >= LEAT_BLOCK_MS * INT64_C(1000000);
}

leat_code leat_blockers_look(leat_blockers *blockers, leat_pg *pg, const leat_database_hold *hold,
                             int64_t now_ns, leat_error *err) {
    leat_database_blocker found[LEAT_BLOCKERS_MOST];
    leat_blockers now = {0};
    const leat_code code = leat_database_blockers(pg, found, LEAT_BLOCKERS_MOST, &now.count, err);
    for (int i = 0; i < now.count; i++) {
        const int before = find(blockers, &found[i]);
        now.seen[i].of = found[i];
        now.seen[i].since_ns = before < 0 ? now_ns : blockers->seen[before].since_ns;
        now.seen[i].login_since_ns = find_login(blockers, &found[i], now_ns);
        now.seen[i].judged = before >= 0 && blockers->seen[before].judged;
    }
    *blockers = now;
    LEAT_TRY(code);
    for (int i = 0; i < now.count && blockers->line[0] == 0; i++) { /* one line a look */
        if (!is_due(&now, i, now_ns)) continue;
        blockers->seen[i].judged = true;
        if (found[i].trusted) name_it(&found[i], blockers->line);
        else LEAT_TRY(end(pg, hold, &found[i], blockers->line, err));
    }
    return LEAT_OK;
}
