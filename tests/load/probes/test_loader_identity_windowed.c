/* The same in the windowed order: plain shards, compressed ones, mapped or read. */
/* TSan: the ring's threads make batches, others read ahead. */
#include "loader_identity.h"

static void identity(void **state) {
    (void)state;
    leat_dataset *datasets[2];
    identity_open(datasets);
    expect_identity(datasets[0], datasets[0], 5);
    expect_identity(datasets[0], datasets[1], 7);
    identity_close(datasets);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(identity)};
    loader_window_bytes = INT64_C(1) << 20;
    return cmocka_run_group_tests(tests, NULL, loader_teardown);
}
