/*
 * Arrow streams and probe rows from any bytes: as a table, as a record decoded whole, and as a
 * record opened and read a measurement at a time, in one piece and in many. Where a record can be
 * decoded whole, single reads must give the same.
 */
#include <stdlib.h>
#include <string.h>

#include "format/probe/row.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { DECODED_MAX = 1 << 22, READS_MAX = 4096 };

static const uint8_t *get_copy(void *context, int64_t offset, int64_t size_bytes, uint8_t *scratch,
                               leat_error *err) {
    (void)err;
    memcpy(scratch, (const uint8_t *)context + offset, (size_t)size_bytes);
    return scratch;
}

static void require(bool condition) {
    if (!condition) abort();
}

static void compare(const leat_measurements *all, int64_t i, const leat_measurement *have) {
    leat_measurement want;
    leat_measurements_get(all, i, &want);
    require(have->time_us == want.time_us && have->ip_version == want.ip_version);
    require(memcmp(&have->rtt, &want.rtt, sizeof want.rtt) == 0);
    require(have->src_size == want.src_size && have->dst_size == want.dst_size);
    require(memcmp(have->src, want.src, (size_t)want.src_size) == 0);
    require(memcmp(have->dst, want.dst, (size_t)want.dst_size) == 0);
    require(memcmp(have->src_bytes, want.src_bytes, 16) == 0);
    require(memcmp(have->dst_bytes, want.dst_bytes, 16) == 0);
}

/* Gathering gives what reading singly gives; trusted rows keep their first source in both. */
static void gather(leat_probe_row *row) {
    enum { COUNT = 150 };
    int64_t n = row->info.n_measurements, indices[COUNT];
    leat_measurement points[COUNT], one;
    char texts[COUNT * LEAT_PROBE_TEXTS_BYTES];
    leat_error err;
    if (n == 0) return;
    for (int64_t k = 0; k < COUNT; k++) indices[k] = n < COUNT ? k * n / COUNT : n - COUNT + k;
    leat_code code = leat_probe_row_gather(row, indices, COUNT, points, texts, &err);
    for (int64_t k = 0; k < COUNT; k++) {
        leat_code single = leat_probe_row_get(row, indices[k], &one, &err);
        if (single != LEAT_OK) require(code != LEAT_OK);
        if (single != LEAT_OK || code != LEAT_OK) continue;
        require(points[k].time_us == one.time_us && points[k].ip_version == one.ip_version);
        require(memcmp(&points[k].rtt, &one.rtt, sizeof one.rtt) == 0);
        require(points[k].dst_size == one.dst_size && points[k].src_size == one.src_size);
        require(memcmp(points[k].dst, one.dst, (size_t)one.dst_size + 1) == 0);
        require(memcmp(points[k].dst_bytes, one.dst_bytes, 16) == 0);
        require(memcmp(points[k].src_bytes, one.src_bytes, 16) == 0);
    }
}

/* all: the same record decoded whole, or NULL where that failed. */
static void read_singly(const leat_view *view, const leat_probe_read_options *options,
                        const leat_measurements *all) {
    leat_probe_row row;
    leat_error err;
    leat_code code = leat_probe_row_open(&row, view, options, &err);
    if (all) require(code == LEAT_OK && row.info.n_measurements == all->count);
    if (code != LEAT_OK) return;
    const leat_probe_row_info row_facts = row.info;
    int64_t n = row.info.n_measurements, step = n > READS_MAX ? n / READS_MAX : 1;
    for (int64_t i = 0; i < n; i += step) {
        leat_measurement measurement;
        code = leat_probe_row_get(&row, i, &measurement, &err);
        if (!all) continue;
        require(code == LEAT_OK);
        compare(all, i, &measurement);
    }
    gather(&row);
    leat_probe_row_close(&row);
    /* Where the record's own facts make it known without parsing, the same columns are found. */
    leat_probe_facts facts = {.src_id = row_facts.src_id,
                              .n_measurements = row_facts.n_measurements,
                              .first_us = row_facts.first_us,
                              .last_us = row_facts.last_us};
    if (leat_probe_row_open_known(&row, view, &facts)) gather(&row);
    leat_probe_row_close(&row);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    leat_measurements out = {0};
    leat_error err;
    leat_probe_read_options options = leat_probe_read_options_default();
    options.max_decoded_bytes = DECODED_MAX;
    /* decides by the last byte, so that mutations keep the rest of the stream's meaning */
    options.trusted = size > 0 && data[size - 1] & 1;
    options.src_addr = size > 0 && data[size - 1] & 2 ? "192.0.2.1" : NULL;
    (void)!leat_probe_table_decode(data, (int64_t)size, &options, &out, &err);
    leat_view views[2] = {leat_view_of(data, (int64_t)size),
                          {(int64_t)size, (void *)(uintptr_t)data, get_copy}};
    for (int v = 0; v < 2; v++) {
        leat_code code = leat_probe_row_decode(&views[v], &options, &out, NULL, &err);
        /* trusted reads take the source and versions as given: only safety is asked of them */
        read_singly(&views[v], &options, code == LEAT_OK && !options.trusted ? &out : NULL);
    }
    leat_measurements_free(&out);
    return 0;
}
