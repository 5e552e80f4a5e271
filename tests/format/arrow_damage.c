/* See arrow_damage.h. */
#include "arrow_damage.h"

#include "format/probe/read.h"
#include "probe_support.h"

#define GOLDEN "golden/latency/arrow"

static const char *const names[] = {"plain",       "dictionary_int8", "string_view_v6",
                                    "rtt_null",    "body_zstd_small", "several_batches",
                                    "extra_union", "large_string",    "body_lz4_small"};
enum { CASES = 1 << 12 };

/* Whole decoding and single reads of damaged bytes: no crash, and where both read, the same. */
static void check_row(const char *name, const uint8_t *bytes, int64_t size, leat_measurements *out,
                      probe_case *cases) {
    leat_probe_read_options options = leat_probe_read_options_default();
    uint8_t *exact = malloc((size_t)size + 1); /* + 1: malloc(0) */
    uint8_t *begin = exact + 1;                /* odd, and its end is the block's end */
    if (size > 0) memcpy(begin, bytes, (size_t)size);
    leat_view view = leat_view_of(begin, size);
    leat_code code = leat_probe_row_decode(&view, &options, out, NULL, NULL);
    if (code != LEAT_OK) {
        (void)!probe_read_singly(name, &view, &options, NULL, 0);
    } else {
        for (int64_t i = 0; i < out->count; i++) {
            leat_measurement m;
            leat_measurements_get(out, i, &m);
            cases[i] = (probe_case){m.time_us, m.src, m.dst, m.ip_version, m.rtt};
        }
        assert_int_equal(probe_read_singly(name, &view, &options, cases, out->count), LEAT_OK);
    }
    (void)!leat_probe_table_decode(begin, size, &options, out, NULL);
    free(exact);
}

static void damage(const char *name, ar_image stream, ar_image row, leat_measurements *out,
                   probe_case *cases, int k) {
    for (int64_t i = 0; i < row.size_bytes; i++) {
        const uint8_t bit = (uint8_t)(1 << (i + k) % 8);
        row.data[i] ^= bit;
        check_row(name, row.data, row.size_bytes, out, cases);
        row.data[i] ^= bit;
    }
    for (int64_t i = 0; i < stream.size_bytes; i++) {
        const uint8_t bit = (uint8_t)(1 << (i + k) % 8);
        stream.data[i] ^= bit;
        (void)!leat_probe_table_decode(stream.data, stream.size_bytes, NULL, out, NULL);
        stream.data[i] ^= bit;
    }
}

void arrow_damage(bool cuts, int first, int end) {
    const probe_wrap_facts facts = {7, 6, 1556136000000000, 1556139600000000};
    probe_case *cases = calloc(CASES, sizeof *cases);
    leat_measurements out = {0};
    for (size_t n = 0; n < sizeof names / sizeof *names - !LEAT_HAVE_LZ4; n++) {
        char path[256];
        snprintf(path, sizeof path, GOLDEN "/%s.arrows", names[n]);
        ar_image stream = ar_load(golden_path(path));
        ar_image row = probe_wrap(stream.data, stream.size_bytes, &facts);
        leat_view view = leat_view_of(row.data, row.size_bytes);
        assert_ok(leat_probe_row_decode(&view, NULL, &out, NULL, err));
        for (int64_t size = 0; cuts && size < row.size_bytes; size++)
            check_row(names[n], row.data, size, &out, cases);
        for (int k = first; k < end; k++) damage(names[n], stream, row, &out, cases, k);
        free(row.data);
        free(stream.data);
    }
    leat_measurements_free(&out);
    free(cases);
}
