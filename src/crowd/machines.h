/*
 * How many machines work with a login that leat_invite created. The server's limit is one
 * connection more than its machines: each looks for a pooler with a second one when it begins, and
 * leat status is one. So that no further machine takes that, each looks whether it is one.
 */
#ifndef LEAT_CROWD_MACHINES_H
#define LEAT_CROWD_MACHINES_H

#include "crowd/libpq.h"

/* The application_name of a machine's connection. */
#define LEAT_MACHINES_NAME "leat work"

/* LEAT_ERR_CONNECTION, because trying again may succeed: as many as the login is for have
 * connected before; *pg is then closed and NULL, so that it takes no place while it waits. Logins
 * that were created otherwise have no such number. */
LEAT_MUST_CHECK leat_code leat_machines_check(leat_pg **pg, leat_error *err);

#endif
