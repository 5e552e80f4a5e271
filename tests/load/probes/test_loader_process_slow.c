/* The memory of a loader as the system counts it: what is declared is in use, and little more. */
/* Alone: measures the memory of a process. */
#include "loader_support.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = true }; /* a sanitizer takes memory of its own */
#else
enum { SANITIZED = false };
#endif

static int64_t anonymous_bytes(void) {
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long long kib = -1;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "RssAnon:", 8) == 0) kib = strtoll(line + 8, NULL, 10);
    }
    if (file != NULL) fclose(file);
    return kib * 1024;
}

static void memory(void **state) {
    (void)state;
    if (SANITIZED) skip();
    char path[256];
    make_options data = loader_data_options(LEAT_COMPRESSION_NONE);
    loader_make("plain", &data, path);
    leat_dataset *dataset = loader_open(path);
    for (int threads = 1; threads <= 8; threads *= 8) {
        leat_loader_options options = loader_large_options(threads);
        leat_loader_counters counters;
        const int64_t before = anonymous_bytes(), slot = INT64_C(64) * 4096 * 24;
        leat_loader *loader = loader_create(dataset, &options);
        for (int i = 0; i < 30; i++) leat_batch_release(loader_next(loader));
        leat_loader_get_counters(loader, &counters);
        const int64_t grown = anonymous_bytes() - before;
        assert_true(grown >= counters.prefetch * slot); /* it is in use */
        assert_true(grown <= counters.memory_bytes + (2 << 20));
        leat_loader_destroy(loader);
    }
    leat_dataset_close(dataset);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(memory)};
    return cmocka_run_group_tests_name("memory of a loader", tests, NULL, loader_teardown);
}
