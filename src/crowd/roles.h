/* What logins of a run's database may do: for invitations, for --db local, and to be printed. */
#ifndef LEAT_CROWD_ROLES_H
#define LEAT_CROWD_ROLES_H

#include "base/error.h"

/* A comment of the logins that leat_invite created: nothing else of the server is changed or
 * removed. */
#define LEAT_ROLES_MARK "volunteer, invited by leat"

/* Settings of a volunteer's login, in SQL after "alter role NAME set ". A worker sets its own;
 * these are for whoever connects with another program, and does not know of them. */
extern const char *const leat_roles_settings[];
/* The same that only a superuser may set, and the login may not change. */
extern const char *const leat_roles_superuser_settings[];

/* 32 hexadecimal digits that nobody can guess. */
#define LEAT_ROLES_PASSWORD_BYTES 33
LEAT_MUST_CHECK leat_code leat_roles_password(char password[LEAT_ROLES_PASSWORD_BYTES],
                                              leat_error *err);

#endif
