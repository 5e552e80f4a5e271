/* Rows for the tests, written through the plan as the ingest does it. */
#include "probe_support.h"

#include "base/address.h"
#include "base/rng.h"
#include "format/probe/template.h"

ar_image probe_write(const probe_case *cases, int64_t count, bool dictionary_src) {
    leat_probe_facts facts = {.n_measurements = count};
    const char *src = count > 0 ? cases[0].src : "";
    facts.src_size = (int32_t)strlen(src);
    memcpy(facts.src, src, strlen(src));
    facts.src_id = leat_address_src_id(src, facts.src_size);
    if (count > 0) {
        facts.first_us = cases[0].time_us;
        facts.last_us = cases[count - 1].time_us;
    }
    for (int64_t i = 0; i < count; i++) {
        facts.dst_bytes += (int64_t)strlen(cases[i].dst);
        facts.src_bytes += (int64_t)strlen(cases[i].src);
        facts.own_sources = facts.own_sources || strcmp(cases[i].src, src) != 0;
    }
    leat_probe_plan plan;
    assert_ok(leat_probe_plan_row(&facts, dictionary_src, &plan, err));
    ar_image image = {malloc((size_t)plan.record_bytes), plan.record_bytes};
    memset(image.data, 0xAA, (size_t)image.size_bytes);
    leat_probe_plan_put_frame(&plan, image.data);
    uint8_t *column[LEAT_PROBE_COLUMNS];
    for (int c = 0; c < LEAT_PROBE_COLUMNS; c++) column[c] = image.data + plan.column_offset[c];
    int32_t src_at = 0, dst_at = 0;
    for (int64_t i = 0; i <= count; i++) {
        if (!dictionary_src) memcpy(column[LEAT_PROBE_SRC_OFFSETS] + 4 * i, &src_at, 4);
        memcpy(column[LEAT_PROBE_DST_OFFSETS] + 4 * i, &dst_at, 4);
        if (i == count) break;
        const probe_case *from = &cases[i];
        size_t dst_size = strlen(from->dst), src_size = strlen(from->src);
        memcpy(column[LEAT_PROBE_EVENT_TIME] + 8 * i, &from->time_us, 8);
        memcpy(column[LEAT_PROBE_DST_DATA] + dst_at, from->dst, dst_size);
        column[LEAT_PROBE_IP_VERSION][i] = (uint8_t)from->ip_version;
        memcpy(column[LEAT_PROBE_RTT] + 4 * i, &from->rtt, 4);
        if (dictionary_src) column[LEAT_PROBE_SRC_OFFSETS][i] = 0;
        else memcpy(column[LEAT_PROBE_SRC_DATA] + src_at, from->src, src_size);
        src_at += (int32_t)src_size;
        dst_at += (int32_t)dst_size;
    }
    return image;
}

static uint8_t *put(uint8_t *at, const void *bytes, int64_t size) {
    memcpy(at, bytes, (size_t)size);
    return at + size;
}

ar_image probe_wrap(const void *inner, int64_t size_bytes, const probe_wrap_facts *facts) {
    int64_t padded = (size_bytes + 7) & ~INT64_C(7), at = 0, body = 48 + padded;
    ar_image image = {NULL,
                      (int64_t)(sizeof leat_outer_schema + sizeof leat_outer_batch) + body + 8};
    image.data = calloc(1, (size_t)image.size_bytes);
    uint8_t *to = put(image.data, leat_outer_schema, sizeof leat_outer_schema);
    uint8_t *batch = to;
    to = put(to, leat_outer_batch, sizeof leat_outer_batch);
    memcpy(batch + LEAT_TEMPLATE_BODY_BYTES, &body, 8);
    /* buffers: validity and values of each column, of the second offsets and data */
    const int64_t sizes[] = {0, 8, 0, 8, size_bytes, 0, 4, 0, 8, 0, 8, 0, 8};
    for (int i = 0; i < 13; i++) {
        memcpy(batch + LEAT_TEMPLATE_BUFFERS + 16 * i, &at, 8);
        memcpy(batch + LEAT_TEMPLATE_BUFFERS + 16 * i + 8, &sizes[i], 8);
        at += (sizes[i] + 7) & ~INT64_C(7);
    }
    const int32_t offsets[2] = {0, (int32_t)size_bytes};
    double span = (double)(facts->last_us - facts->first_us) / 1e6;
    to = put(to, &facts->src_id, 8);
    to = put(to, offsets, 8);
    if (size_bytes > 0) memcpy(to, inner, (size_t)size_bytes);
    to = put(to + padded, &facts->n, 4) + 4;
    to = put(to, &span, 8);
    to = put(to, &facts->first_us, 8);
    to = put(to, &facts->last_us, 8);
    memset(to, 255, 4);
    return image;
}

static const uint8_t *pieces_get(void *context, int64_t offset, int64_t size_bytes,
                                 uint8_t *scratch, leat_error *err) {
    probe_pieces *pieces = context;
    if (offset < 0 || size_bytes < 0 || offset > pieces->size_bytes - size_bytes)
        fail_msg("bytes %lld, %lld of a record of %lld", (long long)offset, (long long)size_bytes,
                 (long long)pieces->size_bytes);
    if (offset < pieces->watch_end && offset + size_bytes > pieces->watch_begin) pieces->watched++;
    pieces->total_bytes += size_bytes;
    if (pieces->fail_from >= 0 && pieces->calls >= pieces->fail_from) {
        (void)leat_fail(err, LEAT_ERR_IO, "page is bad");
        return NULL;
    }
    pieces->calls++;
    memcpy(scratch, pieces->bytes + offset, (size_t)size_bytes);
    return scratch;
}

leat_view probe_pieces_view(probe_pieces *pieces, const void *bytes, int64_t size_bytes) {
    memset(pieces, 0, sizeof *pieces);
    pieces->bytes = bytes;
    pieces->size_bytes = size_bytes;
    pieces->fail_from = -1;
    leat_view view = {size_bytes, pieces, pieces_get};
    return view;
}

static void check_address(const char *name, int64_t index, const char *text, int32_t size,
                          const uint8_t bytes[16], const char *want) {
    uint8_t parsed[16] = {0};
    if (*want) leat_address_parse(want, (int64_t)strlen(want), parsed);
    if (size != (int32_t)strlen(want) || memcmp(text, want, strlen(want)) != 0 ||
        memcmp(bytes, parsed, sizeof parsed) != 0)
        fail_msg("%s, measurement %lld: address \"%.*s\", not \"%s\"", name, (long long)index,
                 (int)size, text, want);
}

void probe_check_measurement(const char *name, int64_t index, const leat_measurement *have,
                             const probe_case *want) {
    check_address(name, index, have->src, have->src_size, have->src_bytes, want->src);
    check_address(name, index, have->dst, have->dst_size, have->dst_bytes, want->dst);
    if (have->time_us != want->time_us || have->ip_version != want->ip_version ||
        memcmp(&have->rtt, &want->rtt, sizeof have->rtt) != 0)
        fail_msg("%s, measurement %lld: %lld us, IPv%d, %.9g ms, not %lld us, IPv%d, %.9g ms", name,
                 (long long)index, (long long)have->time_us, have->ip_version, have->rtt,
                 (long long)want->time_us, want->ip_version, want->rtt);
}

void probe_check_all(const char *name, const leat_measurements *have, const probe_case *want,
                     int64_t count) {
    if (have->count != count)
        fail_msg("%s: %lld measurements, not %lld", name, (long long)have->count, (long long)count);
    for (int64_t i = 0; i < count; i++) {
        leat_measurement measurement;
        leat_measurements_get(have, i, &measurement);
        probe_check_measurement(name, i, &measurement, &want[i]);
    }
}

static bool is_same(const leat_measurement *a, const leat_measurement *b, bool texts) {
    bool same = a->time_us == b->time_us && a->ip_version == b->ip_version &&
                memcmp(&a->rtt, &b->rtt, sizeof a->rtt) == 0 &&
                memcmp(a->src_bytes, b->src_bytes, 16) == 0 &&
                memcmp(a->dst_bytes, b->dst_bytes, 16) == 0;
    if (!texts) return same && !b->src && !b->dst && !b->src_size && !b->dst_size;
    return same && a->src_size == b->src_size && a->dst_size == b->dst_size &&
           memcmp(a->src, b->src, (size_t)a->src_size + 1) == 0 &&
           memcmp(a->dst, b->dst, (size_t)a->dst_size + 1) == 0;
}

void probe_check_gather(const char *name, leat_probe_row *row) {
    enum { SETS = 12, MOST = 300 };
    int64_t n = row->info.n_measurements;
    for (uint64_t set = 0; n > 0 && set < SETS; set++) {
        static int64_t indices[MOST];
        static leat_measurement points[MOST];
        static char texts[MOST * LEAT_PROBE_TEXTS_BYTES];
        bool with_texts = set % 2 == 1;
        leat_error err = {0};
        int64_t count = set == 0 ? 0 : 1 + (int64_t)leat_random_below(leat_random(9, set, 0), MOST);
        for (int64_t k = 0; k < count; k++) {
            uint64_t below = leat_random_below(leat_random(9, set, 1 + (uint64_t)k), (uint64_t)n);
            indices[k] = set < 3 && k < n ? n - count + k : (int64_t)below;
            if (indices[k] < 0) indices[k] = k;
        }
        memset(points, 0xAA, sizeof points);
        leat_code code =
            leat_probe_row_gather(row, indices, count, points, with_texts ? texts : NULL, &err);
        if (code != LEAT_OK) fail_msg("%s: gathered: %s", name, err.message);
        for (int64_t k = 0; k < count; k++) {
            leat_measurement one;
            assert_ok(leat_probe_row_get(row, indices[k], &one, err));
            if (!is_same(&one, &points[k], with_texts))
                fail_msg("%s: gathered: measurement %lld is not as read singly", name,
                         (long long)indices[k]);
        }
    }
}

/* Where reading them one by one fails, so does gathering, maybe at another measurement. */
static void check_gather_fails(const char *name, leat_probe_row *row) {
    enum { PART = 512 };
    int64_t indices[PART];
    leat_measurement points[PART];
    leat_code code = LEAT_OK;
    for (int64_t at = 0; at < row->info.n_measurements && code == LEAT_OK; at += PART) {
        int64_t left = row->info.n_measurements - at, count = left < PART ? left : PART;
        for (int64_t k = 0; k < count; k++) indices[k] = at + k;
        code = leat_probe_row_gather(row, indices, count, points, NULL, NULL);
    }
    if (code == LEAT_OK) fail_msg("%s: gathered, although not read singly", name);
}

leat_code probe_read_singly(const char *name, const leat_view *view,
                            const leat_probe_read_options *options, const probe_case *want,
                            int64_t count) {
    leat_probe_row row;
    leat_error err = {0};
    leat_code code = leat_probe_row_open(&row, view, options, &err);
    if (code != LEAT_OK) {
        assert_int_equal(err.code, code);
        return code;
    }
    int64_t n = row.info.n_measurements;
    if (want && n != count) fail_msg("%s: %lld measurements", name, (long long)n);
    for (int64_t i = n - 1; code == LEAT_OK && i >= 0; i--) {
        leat_measurement measurement;
        code = leat_probe_row_get(&row, i, &measurement, &err);
        if (code == LEAT_OK && want) probe_check_measurement(name, i, &measurement, &want[i]);
    }
    const probe_pieces *pieces = view->context;
    bool pages_fail = view->get == pieces_get && pieces->fail_from >= 0; /* by counting calls */
    if (code == LEAT_OK && !pages_fail) probe_check_gather(name, &row);
    if (code != LEAT_OK) check_gather_fails(name, &row);
    leat_probe_row_close(&row);
    return code;
}
