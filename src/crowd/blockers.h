/*
 * Sessions that keep a coordinator waiting for a lock. A volunteer's transaction takes as long as a
 * call; one that is left open ("begin; select leat.claim(...)") stops every step for as long as its
 * session lasts, whatever rights its login has lost meanwhile. Such a session is named, and ended
 * once it has blocked for LEAT_BLOCK_MS with the same transaction, or once sessions of its login,
 * which may take turns and rest in between, have kept statements of the coordinator for so long in
 * all; and with it all
 * sessions of its login that could block. Before that, the login is blamed: the third time within
 * an hour it is suspended, so that what it calls locks nothing, and kept out of the database. A
 * transaction that was prepared blocks without a session, and is undone. What administrators and
 * the owner of the schema have is named only. A volunteer's session that hoards locks or keeps a
 * transaction open for too long is ended at the first look (leat.end_greedy).
 */
#ifndef LEAT_CROWD_BLOCKERS_H
#define LEAT_CROWD_BLOCKERS_H

#include "crowd/database.h"

enum { LEAT_BLOCK_MS = 10000, LEAT_BLOCKERS_MOST = 16, LEAT_BLOCKER_LINE_BYTES = 640 };
enum { LEAT_IDLE_MS = 60000 }; /* a worker's transaction has one statement, and is never idle */

/* A login of volunteers with sessions that block. */
typedef struct leat_blocking_login {
    int64_t role, blocked_ns; /* for how long, in all */
    char waits[64];           /* the coordinator's statement at the last look; "": none */
} leat_blocking_login;

typedef struct leat_blockers {
    struct {
        leat_database_blocker of;
        int64_t since_ns; /* this transaction */
        bool judged;      /* it was ended, or cannot be */
    } seen[LEAT_BLOCKERS_MOST];
    int count; /* that block now */
    leat_blocking_login logins[LEAT_BLOCKERS_MOST];
    int login_count;
    int64_t looked_ns;
    char line[LEAT_BLOCKER_LINE_BYTES]; /* of the last look: what is to be said; "": nothing */
} leat_blockers;

/* Looks once, at time now_ns, over a connection that waits for no lock. Who has no hold of the run
 * (its fence is 0) blames nobody. Errors are those of the connection. */
LEAT_MUST_CHECK leat_code leat_blockers_look(leat_blockers *blockers, leat_pg *pg,
                                             const leat_database_hold *hold, int64_t now_ns,
                                             leat_error *err);

#endif
