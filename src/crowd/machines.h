/*
 * How many machines work with a login that leat_invite created. The server's limit is one
 * connection more than its machines: each looks for a pooler with a second one when it begins, and
 * leat status is one. So that no further machine takes that, each looks whether it is one, whenever
 * it connects: after a break all of them do, and which of them is first is not known.
 */
#ifndef LEAT_CROWD_MACHINES_H
#define LEAT_CROWD_MACHINES_H

#include "crowd/libpq.h"

/* Connects a machine, after closing its connection before; *pg is NULL if that fails.
 * LEAT_ERR_CONNECTION, because trying again may succeed: also where as many as the login is for
 * have connected before; it is then closed, so that it takes no place while it waits. Logins that
 * were created otherwise have no such number. *begun_us is 0 at first, then when the last
 * connection that was let in began, by the server's clock: that one does not count, because after a
 * failure of the network the server may take it for alive for half a minute. */
LEAT_MUST_CHECK leat_code leat_machine_connect(leat_pg **pg, int64_t *begun_us,
                                               const leat_pg_place *place, const leat_stop *stop,
                                               leat_error *err);

#endif
