/* See blockers.h. */
#include "crowd/blockers.h"

#include <stdio.h>
#include <string.h>

/* One that blocks, and what is done about it. */
typedef struct culprit {
    const leat_database_blocker *of;
    const leat_database_hold *hold;
    bool suspended;                          /* its login, for an hour */
    char out[LEAT_DATABASE_STATEMENT_BYTES]; /* with which an administrator keeps it out; "" */
    char *line;                              /* what is said */
} culprit;

/* Blames its login before anything else is done, so that no session of it blocks once those that do
 * are ended. What cannot be noted now is not noted. */
static leat_code blame(leat_pg *pg, culprit *self, leat_error *err) {
    const leat_database_blocker *of = self->of;
    leat_error why = {0};
    char words[96];
    if (self->hold->run == 0) return LEAT_OK; /* it is not known yet */
    if (of->process != 0)
        snprintf(words, sizeof words, "session %lld blocked the run for %d s",
                 (long long)of->process, LEAT_BLOCK_MS / 1000);
    else
        snprintf(words, sizeof words, "a prepared transaction blocked the run for %d s",
                 LEAT_BLOCK_MS / 1000);
    if (leat_database_blame(pg, self->hold, of->account, words, &self->suspended, &why) != LEAT_OK)
        self->suspended = false;
    return leat_pg_broken(pg) ? leat_error_copy(err, &why) : LEAT_OK;
}

/* Lets the login in no more; what is still to be done is said. */
static leat_code keep_out(leat_pg *pg, culprit *self, leat_error *err) {
    leat_error why = {0};
    self->out[0] = 0;
    if (!self->suspended) return LEAT_OK;
    if (leat_database_keep_out(pg, self->of->account, self->out, &why) != LEAT_OK)
        snprintf(self->out, sizeof self->out, "ALTER ROLE ... NOLOGIN");
    return leat_pg_broken(pg) ? leat_error_copy(err, &why) : LEAT_OK;
}

/* What becomes of the login. */
static void add_fate(const culprit *self) {
    const size_t size = strlen(self->line);
    char *const to = self->line + size;
    const size_t room = LEAT_BLOCKER_LINE_BYTES - size;
    if (!self->suspended) return;
    if (self->out[0] == 0) snprintf(to, room, ", which gets no units for an hour and is kept out");
    else
        snprintf(to, room,
                 ", which gets no units for an hour; an administrator can keep it out: %.160s;",
                 self->out);
}

/* Ends the sessions of a volunteer that block; what came of it, in words. */
static leat_code end(leat_pg *pg, culprit *self, leat_error *err) {
    const leat_database_blocker *of = self->of;
    leat_error why = {0};
    int64_t ended = 0;
    char others[64] = "";
    const leat_code code = leat_database_end_sessions(pg, of, self->suspended, &ended, &why);
    if (leat_pg_broken(pg)) return leat_error_copy(err, &why);
    LEAT_TRY(keep_out(pg, self, err));
    if (code != LEAT_OK) /* no right to */
        snprintf(
            self->line, LEAT_BLOCKER_LINE_BYTES,
            "session %lld of login \"%.63s\" blocks the run; this login may not end it: let an "
            "administrator run SELECT pg_terminate_backend(%lld); and GRANT pg_signal_backend "
            "to this login",
            (long long)of->process, of->account, (long long)of->process);
    else if (ended > 0) {
        if (ended > 1)
            snprintf(others, sizeof others, ", with %lld more of its sessions",
                     (long long)(ended - 1));
        snprintf(self->line, LEAT_BLOCKER_LINE_BYTES,
                 "session %lld blocked the run for %d s, and was ended: login \"%.63s\"%s",
                 (long long)of->process, LEAT_BLOCK_MS / 1000, of->account, others);
    } else if (self->suspended) /* it is gone, or does something else */
        snprintf(self->line, LEAT_BLOCKER_LINE_BYTES,
                 "session %lld blocked the run for %d s: login \"%.63s\"", (long long)of->process,
                 LEAT_BLOCK_MS / 1000, of->account);
    add_fate(self);
    return LEAT_OK;
}

/* Undoes a transaction that a volunteer has prepared, where this login may; the statement, where it
 * may not. */
static leat_code undo(leat_pg *pg, culprit *self, bool may, leat_error *err) {
    leat_error why = {0};
    char line[LEAT_DATABASE_STATEMENT_BYTES];
    LEAT_TRY(leat_database_rollback_line(pg, self->of, line, err));
    if (line[0] == 0) return LEAT_OK; /* it is gone */
    const bool done = may && leat_pg_script(pg, line, &why) == LEAT_OK;
    if (leat_pg_broken(pg)) return leat_error_copy(err, &why);
    LEAT_TRY(keep_out(pg, self, err));
    if (done)
        snprintf(self->line, LEAT_BLOCKER_LINE_BYTES,
                 "a prepared transaction blocked the run for %d s, and was undone: login \"%.63s\"",
                 LEAT_BLOCK_MS / 1000, self->of->account);
    else
        snprintf(self->line, LEAT_BLOCKER_LINE_BYTES,
                 "a prepared transaction of login \"%.63s\" blocks the run; let that login or an "
                 "administrator run, in this database: %.300s;",
                 self->of->account, line);
    add_fate(self);
    return LEAT_OK;
}

static void name_it(const leat_database_blocker *of, char line[LEAT_BLOCKER_LINE_BYTES]) {
    snprintf(line, LEAT_BLOCKER_LINE_BYTES,
             "session %lld of login \"%.63s\", an administrator's or the owner's, blocks the run; "
             "end it if it is not needed: SELECT pg_terminate_backend(%lld);",
             (long long)of->process, of->account, (long long)of->process);
}

/* Does what is to be done about one that has blocked for long enough. */
static leat_code judge(leat_pg *pg, culprit *self, leat_error *err) {
    const bool prepared = self->of->process == 0;
    if (!self->of->trusted) LEAT_TRY(blame(pg, self, err));
    if (prepared) return undo(pg, self, !self->of->trusted, err);
    if (!self->of->trusted) return end(pg, self, err);
    name_it(self->of, self->line);
    return LEAT_OK;
}

/* Where it was seen before, or -1. */
static int find(const leat_blockers *self, const leat_database_blocker *of) {
    for (int i = 0; i < self->count; i++)
        if (self->seen[i].of.process == of->process &&
            strcmp(self->seen[i].of.transaction, of->transaction) == 0)
            return i;
    return -1;
}

/* Of the login of one that blocks now, or NULL. */
static leat_blocking_login *find_login(leat_blockers *self, int64_t role) {
    for (int i = 0; i < self->login_count; i++)
        if (self->logins[i].role == role) return &self->logins[i];
    return NULL;
}

/* Logins that block at this look. */
static void add_logins(leat_blockers *now) {
    for (int i = 0; i < now->count; i++) {
        const leat_database_blocker *of = &now->seen[i].of;
        if (of->trusted || find_login(now, of->role) != NULL) continue;
        leat_blocking_login *login = &now->logins[now->login_count++];
        login->role = of->role;
        memcpy(login->waits, of->waits, sizeof login->waits);
    }
}

/* How long each login has blocked: the time between two looks at which it kept one and the same
 * statement of the coordinator, because those who work are seen to block now and then, too. It is
 * forgotten at a quarter of that speed, so that short rests do not help. */
static void count_logins(const leat_blockers *before, leat_blockers *now) {
    const int64_t most_ns = LEAT_BLOCK_MS * INT64_C(500000); /* of a machine that was asleep */
    const int64_t passed_ns = now->looked_ns - before->looked_ns;
    const int64_t since_ns = passed_ns < most_ns ? passed_ns : most_ns;
    add_logins(now);
    for (int i = 0; i < before->login_count; i++) {
        leat_blocking_login of = before->logins[i];
        leat_blocking_login *is = find_login(now, of.role);
        const bool kept = is != NULL && of.waits[0] != 0 && strcmp(is->waits, of.waits) == 0;
        of.blocked_ns += kept ? since_ns : -since_ns / 4;
        if (of.blocked_ns < 0) of.blocked_ns = 0;
        of.waits[0] = 0;
        if (is != NULL) is->blocked_ns = of.blocked_ns;
        else if (of.blocked_ns > 0 && now->login_count < LEAT_BLOCKERS_MOST)
            now->logins[now->login_count++] = of;
    }
}

/* Whether it has blocked for long enough: itself, or sessions of its login, which may take turns.
 */
static bool is_due(leat_blockers *self, int i, int64_t now_ns) {
    const int64_t most_ns = LEAT_BLOCK_MS * INT64_C(1000000);
    const leat_blocking_login *login = find_login(self, self->seen[i].of.role);
    if (self->seen[i].judged) return false;
    if (now_ns - self->seen[i].since_ns >= most_ns) return true;
    return !self->seen[i].of.trusted && login != NULL && login->blocked_ns >= most_ns;
}

/* All that blocks now of the login of one is judged with it: its sessions are ended together. */
static void set_judged(leat_blockers *self, int i) {
    const leat_database_blocker *of = &self->seen[i].of;
    leat_blocking_login *login = find_login(self, of->role);
    self->seen[i].judged = true;
    if (of->trusted) return;
    if (login != NULL) login->blocked_ns = 0;
    for (int k = 0; k < self->count && of->process != 0; k++)
        if (self->seen[k].of.role == of->role && self->seen[k].of.process != 0)
            self->seen[k].judged = true;
}

/* Sessions that block nobody, and harm the server. Who hoards locks blocks everybody in the end. */
static leat_code look_for_greedy(leat_blockers *self, leat_pg *pg, const leat_database_hold *hold,
                                 leat_error *err) {
    leat_database_greedy found;
    leat_error why = {0};
    bool suspended = false;
    const leat_code code = leat_database_end_greedy(pg, LEAT_IDLE_MS, &found, &why);
    if (leat_pg_broken(pg)) return leat_error_copy(err, &why);
    if (code != LEAT_OK || found.count == 0) return LEAT_OK; /* at the next look, perhaps */
    if (self->line[0] == 0)
        snprintf(self->line, LEAT_BLOCKER_LINE_BYTES,
                 "session %lld of login \"%.63s\" was ended: %.100s", (long long)found.process,
                 found.account, found.why);
    if (!found.hoards || hold->run == 0) return LEAT_OK;
    if (leat_database_blame(pg, hold, found.account, found.why, &suspended, &why) != LEAT_OK)
        return leat_pg_broken(pg) ? leat_error_copy(err, &why) : LEAT_OK;
    char out[LEAT_DATABASE_STATEMENT_BYTES];
    if (suspended && leat_database_keep_out(pg, found.account, out, &why) != LEAT_OK)
        return leat_pg_broken(pg) ? leat_error_copy(err, &why) : LEAT_OK;
    return LEAT_OK;
}

leat_code leat_blockers_look(leat_blockers *blockers, leat_pg *pg, const leat_database_hold *hold,
                             int64_t now_ns, leat_error *err) {
    leat_database_blocker found[LEAT_BLOCKERS_MOST];
    leat_blockers now = {.looked_ns = now_ns};
    const leat_code code = leat_database_blockers(pg, found, LEAT_BLOCKERS_MOST, &now.count, err);
    for (int i = 0; i < now.count; i++) {
        const int before = find(blockers, &found[i]);
        now.seen[i].of = found[i];
        now.seen[i].since_ns = before < 0 ? now_ns : blockers->seen[before].since_ns;
        now.seen[i].judged = before >= 0 && blockers->seen[before].judged;
    }
    count_logins(blockers, &now);
    *blockers = now;
    LEAT_TRY(code);
    for (int i = 0; i < now.count && blockers->line[0] == 0; i++) { /* one line a look */
        culprit of = {.of = &found[i], .hold = hold, .line = blockers->line};
        if (!is_due(blockers, i, now_ns)) continue;
        set_judged(blockers, i);
        LEAT_TRY(judge(pg, &of, err));
    }
    return look_for_greedy(blockers, pg, hold, err);
}
