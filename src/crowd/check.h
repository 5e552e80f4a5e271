/* What the files of leat_crowd_check share. */
#ifndef LEAT_CROWD_CHECK_H
#define LEAT_CROWD_CHECK_H

#include <sys/socket.h>

#include "crowd/libpq.h"
#include "leat/crowd.h"

typedef struct leat_check {
    leat_pg_place place;
    leat_pg *pg;
    leat_crowd_finding_fn tell;
    void *user;
    int64_t workers; /* that there shall be; 0: those that work now */
    leat_crowd_facts *facts;
    /* names as SQL writes them: this login, the role it acts as, the database */
    char login[160], acting[160], database[160];
    bool superuser;
} leat_check;

/* For all parts (check_tell.c). Reports one finding; `todo` may be "". */
void leat_check_tell(const leat_check *self, leat_crowd_verdict verdict, const char *todo,
                     const char *format, ...) LEAT_PRINTF(4, 5);
/*
 * One statement, with one value or none (NULL), whose result has these columns and at least one
 * row. False: it has none, which was reported as a note on `what`; the connection may be broken.
 */
bool leat_check_ask(const leat_check *self, const char *what, leat_pg_rows **rows, int columns,
                    const char *sql, const leat_pg_value *value);

/* What a name leads to: nothing, or only to IPv6 addresses that this machine cannot reach
 * (check_host.c). */
typedef enum leat_check_address {
    LEAT_CHECK_NO_ADDRESS,
    LEAT_CHECK_IPV6,
    LEAT_CHECK_ADDRESS
} leat_check_address;
typedef bool leat_check_reaches_fn(const struct sockaddr *to, socklen_t size_bytes);
leat_check_address leat_check_host(const char *host, leat_check_reaches_fn *reaches);
/* Whether this machine has a route; sends nothing. */
leat_check_reaches_fn leat_check_reaches;

/* The schema and the rights of this login on it (check_schema.c): can_coordinate, can_work. */
void leat_check_schema(leat_check *self);
/* What may not be enough: space, snapshots that are held (check_server.c). */
void leat_check_server(leat_check *self);
/* How many machines there may be, and what they cost: connections, bytes, a server that never
 * sleeps; who may end a session (check_class.c). */
void leat_check_class(leat_check *self);
/* What volunteers may do that they need not, and who can invite them (check_logins.c). */
void leat_check_logins(leat_check *self);
/* How long a round trip takes, and how many bytes travel in a second (check_speed.c). */
void leat_check_speed(leat_check *self);

#endif
