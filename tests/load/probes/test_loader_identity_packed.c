/* The same for compressed shards: the batches of the plain ones. */
/* TSan: the ring's threads make batches. */
#include "loader_identity.h"

static void identity(void **state) {
    (void)state;
    leat_dataset *datasets[2];
    identity_open(datasets);
    expect_identity(datasets[0], datasets[1], 1);
    identity_close(datasets);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(identity)};
    return cmocka_run_group_tests(tests, NULL, loader_teardown);
}
