/*
 * Sessions that keep a coordinator waiting for a lock. A volunteer's transaction takes as long as a
 * call; one that is left open ("begin; select leat.claim(...)") stops every step for as long as its
 * session lasts, whatever rights its login has lost meanwhile. Such a session is named, and ended
 * once it has blocked for LEAT_BLOCK_MS with the same transaction. Those of administrators, and of
 * the owner of the schema, are named only.
 */
#ifndef LEAT_CROWD_BLOCKERS_H
#define LEAT_CROWD_BLOCKERS_H

#include "crowd/database.h"

enum { LEAT_BLOCK_MS = 10000, LEAT_BLOCKERS_MOST = 16, LEAT_BLOCKER_LINE_BYTES = 320 };

typedef struct leat_blockers {
    struct {
        leat_database_blocker of;
        int64_t since_ns;
        bool judged; /* it was ended, or cannot be */
    } seen[LEAT_BLOCKERS_MOST];
    int count;                          /* that block now */
    char line[LEAT_BLOCKER_LINE_BYTES]; /* of the last look: what is to be said; "": nothing */
} leat_blockers;

/* Looks once, at time now_ns, over a connection that waits for no lock. Errors are those of the
 * connection. */
LEAT_MUST_CHECK leat_code leat_blockers_look(leat_blockers *blockers, leat_pg *pg,
                                             const leat_database_hold *hold, int64_t now_ns,
                                             leat_error *err);

#endif
