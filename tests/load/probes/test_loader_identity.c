/* The same batches for any threads, hosts, prefetch and input/output, from plain shards. */
/* TSan: the ring's threads make batches. */
#include "loader_identity.h"

static void identity(void **state) {
    (void)state;
    char plain[256];
    make_options data = loader_data_options(LEAT_COMPRESSION_NONE);
    loader_make("plain", &data, plain);
    leat_dataset *dataset = loader_open(plain);
    expect_identity(dataset, dataset, 1);
    leat_dataset_close(dataset);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(identity)};
    return cmocka_run_group_tests(tests, NULL, loader_teardown);
}
