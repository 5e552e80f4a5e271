/* See roles.h. */
#include "crowd/roles.h"

#include <stdio.h>

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
    uint64_t first = 0, second = 0;
    LEAT_TRY(leat_random_u64(&first, err));
    LEAT_TRY(leat_random_u64(&second, err));
    snprintf(password, LEAT_ROLES_PASSWORD_BYTES, "%016llx%016llx", (unsigned long long)first,
             (unsigned long long)second);
    return LEAT_OK;
}
