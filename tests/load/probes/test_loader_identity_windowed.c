/* The same in the windowed order: plain shards, compressed ones, mapped or read. */
/* TSan: the ring's threads make batches, others read ahead. */
#include "loader_identity.h"

static void identity(void **state) {
    (void)state;
    char plain[256], packed[256];
    make_options data = loader_data_options(LEAT_COMPRESSION_NONE);
    loader_make("plain", &data, plain);
    data.record.compression = LEAT_COMPRESSION_ZSTD;
    loader_make("packed", &data, packed);
    leat_dataset *datasets[2] = {loader_open(plain), loader_open(packed)};
    expect_identity(datasets[0], datasets[0], 5);
    expect_identity(datasets[0], datasets[1], 7);
    leat_dataset_close(datasets[0]);
    leat_dataset_close(datasets[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(identity)};
    loader_window_bytes = INT64_C(1) << 20;
    return cmocka_run_group_tests(tests, NULL, loader_teardown);
}
