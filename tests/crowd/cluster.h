/*
 * A PostgreSQL server for tests: of its own, on a free port of the loopback interface, in a folder
 * that goes with it, and ended when the program ends, however that is. PostgreSQL refuses to run as
 * root, so it then runs as "postgres" or "nobody".
 */
#ifndef LEAT_TESTS_CROWD_CLUSTER_H
#define LEAT_TESTS_CROWD_CLUSTER_H

#include "crowd/libpq.h"

/* Starts it; if there is no server to start, says so and ends the program with status 77. */
void cluster_start(void);
void cluster_stop(void);
/* Ends it at once, without a word to its clients or the disk, and starts it again. It then ends
 * with the calling thread. */
void cluster_crash(void);
/* An empty database, for a test; `login` is "owner", or a login that is created without rights. */
void cluster_database(const char *name);
void cluster_place(leat_pg_place *place, const char *login, const char *database);
leat_pg *cluster_connect(const char *login, const char *database);

/* The first value of a statement, valid until the next call; fails the test if the statement does.
 */
const char *ask(leat_pg *pg, const char *sql);
/* Fails the test if the statement does. */
void tell(leat_pg *pg, const char *sql);

#endif
