/*
 * Whether a pooler is between a connection and the server, and which kind. A transaction pooler
 * gives each transaction another connection of the server, a statement pooler each statement: what
 * a connection has set (time limits, keep-alives) is then lost or met by others, so both are
 * refused. A session pooler is not noticed.
 */
#ifndef LEAT_CROWD_POOLER_H
#define LEAT_CROWD_POOLER_H

#include "crowd/libpq.h"
#include "leat/crowd.h"

/* The application_name of that second connection. */
#define LEAT_POOLER_LOOKS "leat (pooler check)"

/*
 * Looks, by a second connection for the time of a few round trips. LEAT_CROWD_POOLER_UNKNOWN: there
 * was no second connection, and *why says why; LEAT_ERR_BUSY in it: the login has all that it may
 * have. LEAT_ERR_CONNECTION: the first one is broken.
 */
LEAT_MUST_CHECK leat_code leat_pooler_look(leat_pg *pg, const leat_pg_place *place,
                                           const leat_stop *stop, leat_crowd_pooler *found,
                                           leat_error *why, leat_error *err);
/* What a message says of one that is refused; NULL: it is not. */
const char *leat_pooler_reason(leat_crowd_pooler pooler);
/* The same as an error: LEAT_ERR_UNSUPPORTED. `why` has a message if it could not be found out,
 * for another reason than that the login has all its connections. */
LEAT_MUST_CHECK leat_code leat_pooler_refuse(leat_pg *pg, const leat_pg_place *place,
                                             const leat_stop *stop, leat_error *why,
                                             leat_error *err);

#endif
