/* What large inputs take, as the system counts it; by counted bytes in fault/test_memory.c. */
/* Alone: measures the memory of a process. */
#include "ar_support.h"
#include "base/mem.h"
#include "format/safetensors/safetensors.h"
#include "large_support.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { KEPT = 1 }; /* a sanitizer keeps what is freed */
#else
enum { KEPT = 0 };
#endif

/* The peak from here on; where the system does not allow that, since the program began. */
static int64_t peak_anew(void) {
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (file != NULL) {
        (void)fputs("5", file);
        (void)fclose(file);
    }
    return leat_rss_peak_bytes();
}

static void headers(void **state) {
    (void)state;
    const int64_t max = LEAT_SAFETENSORS_HEADER_MAX, before = peak_anew();
    large_headers_refused();
    const int64_t more = leat_rss_peak_bytes() - before;
    if (!KEPT && more > 4 * max)
        fail_msg("%lld bytes for headers of %lld", (long long)more, (long long)max);
}

static void documents(void **state) {
    (void)state;
    leat_can_meta meta, again;
    int64_t written = 0;
    large_meta_fill(&meta);
    int64_t before = peak_anew();
    assert_ok(leat_can_document_write(&meta, LEAT_CAN_METADATA, large_count, &written, err));
    int64_t taken = leat_rss_peak_bytes() - before;
    if (!KEPT && taken > INT64_C(1) << 20)
        fail_msg("%lld bytes to write %lld", (long long)taken, (long long)written);
    assert_ok(leat_can_meta_save(&meta, ar_dir(), err));
    before = peak_anew();
    assert_ok(leat_can_meta_load(&again, ar_dir(), true, err));
    taken = leat_rss_peak_bytes() - before;
    if (!KEPT && taken > 3 * written)
        fail_msg("%lld bytes to read %lld", (long long)taken, (long long)written);
    leat_can_meta_free(&meta);
    leat_can_meta_free(&again);
}

static int teardown(void **state) {
    (void)state;
    ar_dir_remove();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(documents), cmocka_unit_test(headers)};
    return cmocka_run_group_tests_name("large inputs", tests, NULL, teardown);
}
