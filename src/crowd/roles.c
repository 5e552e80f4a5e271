/* See roles.h. */
#include "crowd/roles.h"

#include "base/random.h"
#include "leat/crowd.h"

static const char hardening[] = {
#include "crowd/roles.sql.h"
    0};

const char *leat_crowd_roles_sql(void) { return hardening; }

const char *const leat_roles_settings[] = {"statement_timeout = '60s'", "lock_timeout = '30s'",
                                           "idle_in_transaction_session_timeout = '60s'",
                                           "max_parallel_workers_per_gather = 0", NULL};
const char *const leat_roles_superuser_settings[] = {"temp_file_limit = '64MB'", NULL};

leat_code leat_roles_password(char password[LEAT_ROLES_PASSWORD_BYTES], leat_error *err) {
    return leat_random_hex(password, LEAT_ROLES_PASSWORD_BYTES, err);
}
