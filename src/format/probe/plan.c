/*
 * Probe rows, writing side: where every byte of a record goes, from the counts alone.
 *
 * All rows have the same six messages (seven with a dictionary), whose metadata differ in a few
 * numbers only. So a plan copies the fixed bytes (template.h) and puts the numbers over
 * them: some 100 ns a row, no allocation, and a row of any size can be streamed column by column.
 */
#include <string.h>

#include "base/mem.h"
#include "format/probe/row.h"
#include "format/probe/template.h"

#define OUTER_BODY_FIXED 48 /* src_id, offsets of one binary value, n, span, first, last */
#define END_MARK_BYTES 8
#define INNER_PLAIN_FIXED                                                                          \
    ((int64_t)(sizeof leat_inner_schema + sizeof leat_inner_batch + END_MARK_BYTES))
#define INNER_CODED_FIXED                                                                          \
    ((int64_t)(sizeof leat_coded_schema + sizeof leat_coded_values + 8 + sizeof leat_coded_batch + \
               END_MARK_BYTES))
#define TEXT_MAX (INT64_C(1) << 40) /* far past any row: keeps sums from overflowing */

static int64_t pad8(int64_t size) { return (size + 7) & ~INT64_C(7); }

static void put32(uint8_t *at, int32_t value) { memcpy(at, &value, sizeof value); }
static void put64(uint8_t *at, int64_t value) { memcpy(at, &value, sizeof value); }

int64_t leat_probe_measurements_bytes(int64_t n, int64_t src_bytes_total, int64_t dst_bytes,
                                      bool dictionary_src) {
    if (n < 0 || n > INT32_MAX || src_bytes_total < 0 || src_bytes_total > TEXT_MAX ||
        dst_bytes < 0 || dst_bytes > TEXT_MAX)
        return INT64_MAX;
    int64_t rest = pad8(8 * n) + pad8(4 * n + 4) + pad8(dst_bytes) + pad8(n) + pad8(4 * n);
    if (!dictionary_src) return INNER_PLAIN_FIXED + rest + pad8(4 * n + 4) + pad8(src_bytes_total);
    int64_t src_bytes = n > 0 ? src_bytes_total / n : src_bytes_total;
    return INNER_CODED_FIXED + rest + pad8(n) + pad8(src_bytes);
}

/* A batch message being filled in: buffers follow each other, each padded to 8 bytes. */
typedef struct batch {
    uint8_t *message;
    int buffer_count;
    int64_t body_bytes;
} batch;

static int64_t batch_buffer(batch *to, int64_t size_bytes) {
    uint8_t *at = to->message + LEAT_TEMPLATE_BUFFERS + 16 * to->buffer_count++;
    int64_t offset = to->body_bytes;
    put64(at, offset);
    put64(at + 8, size_bytes);
    to->body_bytes += pad8(size_bytes);
    return offset;
}

static void batch_finish(const batch *from, int64_t rows, int columns) {
    uint8_t *node = from->message + LEAT_TEMPLATE_BUFFERS + 16 * from->buffer_count + 8;
    for (int i = 0; i < columns; i++) put64(node + 16 * i, rows);
    put64(from->message + LEAT_TEMPLATE_ROWS, rows);
    put64(from->message + LEAT_TEMPLATE_BODY_BYTES, from->body_bytes);
}

/* The plan while its frame grows; `at` is the next free byte of the frame. */
typedef struct builder {
    leat_probe_plan *plan;
    int32_t at;
} builder;

static uint8_t *frame_put(builder *to, const void *bytes, int size_bytes) {
    LEAT_ASSERT(to->at + size_bytes <= LEAT_PROBE_FRAME_BYTES);
    uint8_t *place = to->plan->frame + to->at;
    if (bytes) memcpy(place, bytes, (size_t)size_bytes);
    else memset(place, 0, (size_t)size_bytes);
    to->at += size_bytes;
    return place;
}

static void add_piece(leat_probe_plan *plan, int column, int64_t offset, int64_t size_bytes,
                      int32_t frame) {
    leat_probe_piece *piece = &plan->pieces[plan->piece_count++];
    piece->column = column;
    piece->offset_bytes = offset;
    piece->size_bytes = size_bytes;
    piece->pad_bytes = (int32_t)(pad8(size_bytes) - size_bytes);
    piece->frame = frame;
}

/* Outer schema, outer batch, src_id and the two offsets of the binary column. */
static void put_outer_head(builder *to, const leat_probe_facts *facts) {
    int64_t inner = to->plan->measurements_bytes;
    frame_put(to, leat_outer_schema, sizeof leat_outer_schema);
    batch outer = {frame_put(to, leat_outer_batch, sizeof leat_outer_batch), 0, 0};
    static const int8_t fixed[] = {8, -1, 4, 8, 8, 8}; /* bytes of each column; -1: binary */
    for (int i = 0; i < 6; i++) {
        batch_buffer(&outer, 0);
        if (fixed[i] < 0) batch_buffer(&outer, 8);
        batch_buffer(&outer, fixed[i] < 0 ? inner : fixed[i]);
    }
    batch_finish(&outer, 1, 6);
    put64(frame_put(to, NULL, 8), facts->src_id);
    put32(frame_put(to, NULL, 8) + 4, (int32_t)inner);
}

/* Inner schema and messages up to the first column; fills column sizes and offsets. */
static void put_inner_head(builder *to, const leat_probe_facts *facts, bool coded) {
    leat_probe_plan *plan = to->plan;
    int64_t n = facts->n_measurements, offsets = 4 * n + 4;
    const int64_t bytes[LEAT_PROBE_COLUMNS] = {
        [LEAT_PROBE_EVENT_TIME] = 8 * n,
        [LEAT_PROBE_SRC_OFFSETS] = coded ? n : offsets,
        [LEAT_PROBE_SRC_DATA] = coded                ? 0
                                : facts->own_sources ? facts->src_bytes
                                                     : n * facts->src_size,
        [LEAT_PROBE_DST_OFFSETS] = offsets,
        [LEAT_PROBE_DST_DATA] = facts->dst_bytes,
        [LEAT_PROBE_IP_VERSION] = n,
        [LEAT_PROBE_RTT] = 4 * n,
    };
    batch inner = {0};
    if (coded) {
        frame_put(to, leat_coded_schema, sizeof leat_coded_schema);
        uint8_t *values = frame_put(to, leat_coded_values, sizeof leat_coded_values);
        put64(values + LEAT_TEMPLATE_VALUES_BODY_BYTES, 8 + pad8(facts->src_size));
        put64(values + LEAT_TEMPLATE_VALUES_TEXT, facts->src_size);
        put32(frame_put(to, NULL, 8) + 4, facts->src_size);
        uint8_t *text = frame_put(to, NULL, (int)pad8(facts->src_size));
        memcpy(text, facts->src, (size_t)facts->src_size);
        inner.message = frame_put(to, leat_coded_batch, sizeof leat_coded_batch);
    } else {
        frame_put(to, leat_inner_schema, sizeof leat_inner_schema);
        inner.message = frame_put(to, leat_inner_batch, sizeof leat_inner_batch);
    }
    for (int c = 0; c < LEAT_PROBE_COLUMNS; c++) {
        bool data = c == LEAT_PROBE_SRC_DATA || c == LEAT_PROBE_DST_DATA;
        if (!data) batch_buffer(&inner, 0); /* no validity: nothing is null */
        bool absent = coded && c == LEAT_PROBE_SRC_DATA;
        plan->column_bytes[c] = bytes[c];
        plan->column_offset[c] = absent ? inner.body_bytes : batch_buffer(&inner, bytes[c]);
        plan->column_offset[c] += to->at;
    }
    batch_finish(&inner, n, 5);
}

/* Inner end mark, the facts after the measurements, outer end mark. */
static void put_tail(builder *to, const leat_probe_facts *facts) {
    static const uint8_t end_mark[END_MARK_BYTES] = {255, 255, 255, 255};
    double span = (double)(facts->last_us - facts->first_us) / 1e6;
    frame_put(to, end_mark, sizeof end_mark);
    put32(frame_put(to, NULL, 8), (int32_t)facts->n_measurements);
    memcpy(frame_put(to, NULL, 8), &span, sizeof span);
    put64(frame_put(to, NULL, 8), facts->first_us);
    put64(frame_put(to, NULL, 8), facts->last_us);
    frame_put(to, end_mark, sizeof end_mark);
}

leat_code leat_probe_plan_row(const leat_probe_facts *facts, bool dictionary_src,
                              leat_probe_plan *plan, leat_error *err) {
    plan->record_bytes = plan->measurements_bytes = 0;
    plan->piece_count = 0;
    if (facts->n_measurements < 0 || facts->src_size < 0 ||
        facts->src_size > LEAT_PROBE_SRC_BYTES || facts->src_bytes < 0 || facts->dst_bytes < 0 ||
        facts->last_us < facts->first_us || facts->first_us < 0)
        return leat_fail(err, LEAT_ERR_INPUT,
                         "planning a probe row: impossible facts: %lld measurements, source of %d "
                         "bytes, destinations of %lld bytes, times %lld to %lld us",
                         (long long)facts->n_measurements, (int)facts->src_size,
                         (long long)facts->dst_bytes, (long long)facts->first_us,
                         (long long)facts->last_us);
    LEAT_ASSERT(!facts->own_sources || !dictionary_src);
    int64_t n = facts->n_measurements, src_copies = n > 0 || !dictionary_src ? n : 1;
    int64_t bytes = INT64_MAX;
    if (n <= INT32_MAX) {
        int64_t sources = facts->own_sources ? facts->src_bytes : src_copies * facts->src_size;
        bytes = leat_probe_measurements_bytes(n, sources, facts->dst_bytes, dictionary_src);
    }
    if (bytes > LEAT_PROBE_MEASUREMENTS_MAX)
        return leat_fail(err, LEAT_ERR_LIMIT,
                         "planning a probe row: %lld measurements with %lld bytes of destinations "
                         "exceed the limit of %lld bytes per row; split the row",
                         (long long)n, (long long)facts->dst_bytes,
                         (long long)LEAT_PROBE_MEASUREMENTS_MAX);
    plan->measurements_bytes = bytes;
    builder to = {plan, 0};
    put_outer_head(&to, facts);
    put_inner_head(&to, facts, dictionary_src);
    add_piece(plan, -1, 0, to.at, 0);
    int64_t end = to.at;
    for (int c = 0; c < LEAT_PROBE_COLUMNS; c++) {
        end = plan->column_offset[c] + pad8(plan->column_bytes[c]);
        if (plan->column_bytes[c] > 0)
            add_piece(plan, c, plan->column_offset[c], plan->column_bytes[c], -1);
    }
    int32_t tail = to.at;
    put_tail(&to, facts);
    add_piece(plan, -1, end, to.at - tail, tail);
    plan->record_bytes = end + (to.at - tail);
    LEAT_ASSERT(plan->record_bytes == (int64_t)sizeof leat_outer_schema +
                                          (int64_t)sizeof leat_outer_batch + OUTER_BODY_FIXED +
                                          bytes + END_MARK_BYTES);
    return LEAT_OK;
}

void leat_probe_plan_put_frame(const leat_probe_plan *plan, uint8_t *record) {
    for (int i = 0; i < plan->piece_count; i++) {
        const leat_probe_piece *piece = &plan->pieces[i];
        uint8_t *at = record + piece->offset_bytes;
        if (piece->column < 0) memcpy(at, plan->frame + piece->frame, (size_t)piece->size_bytes);
        memset(at + piece->size_bytes, 0, (size_t)piece->pad_bytes);
    }
}
