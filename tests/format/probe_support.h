/* What the tests of Arrow streams and probe rows share: rows made and compared, views in pieces. */
#ifndef LEAT_TESTS_PROBE_SUPPORT_H
#define LEAT_TESTS_PROBE_SUPPORT_H

#include "ar_support.h"
#include "format/probe/row.h"

/* One measurement as a test states it. */
typedef struct probe_case {
    int64_t time_us;
    const char *src, *dst;
    int ip_version;
    float rtt; /* -1: failed */
} probe_case;

/* The record that our row writer makes of the measurements (one source); free(data). */
ar_image probe_write(const probe_case *cases, int64_t count, bool dictionary_src);

/* An outer record around any bytes, with the facts as given; free(data). */
typedef struct probe_wrap_facts {
    int64_t src_id, n, first_us, last_us;
} probe_wrap_facts;
ar_image probe_wrap(const void *inner, int64_t size_bytes, const probe_wrap_facts *facts);

/*
 * A view that never hands out a pointer into the record, and counts. Bytes outside of the record
 * are a failed test.
 */
typedef struct probe_pieces {
    const uint8_t *bytes;
    int64_t size_bytes;
    int64_t calls, total_bytes;
    int64_t fail_from;                       /* calls from this one on fail; -1: none */
    int64_t watch_begin, watch_end, watched; /* calls that touch [begin, end) */
} probe_pieces;
leat_view probe_pieces_view(probe_pieces *pieces, const void *bytes, int64_t size_bytes);

/* Compare; `name` and the index stand in the message of a failure. */
void probe_check_measurement(const char *name, int64_t index, const leat_measurement *have,
                             const probe_case *want);
void probe_check_all(const char *name, const leat_measurements *have, const probe_case *want,
                     int64_t count);
/* Random sets of the row's measurements, gathered, are what reading them one by one gives. */
void probe_check_gather(const char *name, leat_probe_row *row);
/*
 * Opens the record and reads its measurements one by one, last to first, and compares with `want`
 * (NULL: not). The code of the first failure; LEAT_OK if all could be read. Gathers them too.
 */
leat_code probe_read_singly(const char *name, const leat_view *view,
                            const leat_probe_read_options *options, const probe_case *want,
                            int64_t count);

#endif
