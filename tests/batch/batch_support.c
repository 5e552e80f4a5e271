/* Made-up rows and recorded sequences for the tests of sampling. */
#include "batch_support.h"

#include <math.h>

#include "base/address.h"
#include "base/rng.h"

/* ---- rows ---- */

enum { SLOTS = 100000 };

static test_rows *allocate_rows(row_kind kind, uint64_t seed, int64_t count) {
    test_rows *rows = calloc(1, sizeof(*rows));
    *rows = (test_rows){.kind = kind, .seed = seed, .count = count, .fail_after = -1};
    rows->n = calloc((size_t)count + 1, sizeof(*rows->n));
    rows->version = calloc((size_t)count + 1, sizeof(*rows->version));
    rows->text = calloc(SLOTS, sizeof(*rows->text));
    rows->point = calloc(SLOTS, sizeof(*rows->point));
    return rows;
}

test_rows *make_rows(row_kind kind, uint64_t seed, int64_t count, int64_t n, int version) {
    test_rows *rows = allocate_rows(kind, seed, count);
    for (int64_t i = 0; i < count; i++) {
        rows->n[i] = n;
        rows->version[i] = version;
    }
    return rows;
}

test_rows *make_heavy_rows(uint64_t seed, int64_t count, double mean) {
    test_rows *rows = allocate_rows(ROWS_FIELD, seed, count);
    for (int64_t i = 0; i < count; i++) {
        double u = 1 - leat_random_unit(leat_random(seed, 1, (uint64_t)i));
        double n = mean / 4 * pow(u, -1 / 1.3); /* Pareto: its mean is mean / 4 * 1.3 / 0.3 */
        rows->n[i] = n < 1 ? 1 : n > 300000 ? 300000 : (int64_t)n;
        rows->version[i] = leat_random_unit(leat_random(seed, 2, (uint64_t)i)) < 0.577 ? 4 : 6;
    }
    return rows;
}

void free_rows(test_rows *rows) {
    free(rows->n);
    free(rows->version);
    free(rows->text);
    free(rows->point);
    free(rows);
}

double mean_of_rows(const test_rows *rows) {
    double sum = 0;
    for (int64_t i = 0; i < rows->count; i++) sum += (double)rows->n[i];
    return sum / (double)rows->count;
}

static int64_t time_of(const test_rows *rows, int64_t row, int64_t i, uint64_t bits) {
    const int64_t second = 1000000, begin = INT64_C(1556136000) * second;
    static const int64_t steps[] = {0, 0, 1, 999999, 1000000, 255999999, 256000000, 4000000000};
    (void)row;
    switch (rows->kind) {
    case ROWS_CLOCK: return begin + i * 240 * second;
    case ROWS_WILD: {
        int64_t at = begin + i * 7 * second;
        if (bits % 11 == 0) at += ((INT64_C(1) << 32) - 2 + (int64_t)(bits >> 8) % 4) * second;
        return at + steps[bits >> 16 & 7] * (bits >> 20 & 1 ? 1 : -1);
    }
    default: return begin + i * 180 * second + (int64_t)(bits % 120000000);
    }
}

static float rtt_of(const test_rows *rows, int64_t i, uint64_t bits) {
    static const float odd[] = {0,      1e-9f, 0.001f,  2.0475f, 2.048f, 1e6f,
                                4.4e9f, 1e30f, 3.4e38f, -1,      -0.0f,  (float)NAN};
    switch (rows->kind) {
    case ROWS_CLOCK: return i % 25 == 7 ? -1 : (float)(i % 500) / 4;
    case ROWS_WILD: return odd[bits % 12];
    case ROWS_FAILED: return -1;
    default: return bits % 1000 < 35 ? -1 : (float)(bits >> 20 & 0xfffff) / 5000;
    }
}

void make_point(test_rows *rows, int64_t row, int64_t i, int slot, leat_measurement *out) {
    uint64_t bits = leat_random(rows->seed, (uint64_t)row + 100, (uint64_t)i);
    uint64_t more = leat_random_mix(bits + 1);
    int version = rows->version[row];
    if (version == 0) version = i % 2 == 0 ? 4 : 6;
    *out = (leat_measurement){.time_us = time_of(rows, row, i, bits), .ip_version = version};
    out->rtt = rtt_of(rows, i, more);
    for (int b = 0; b < 16; b++) {
        out->src_bytes[b] = (uint8_t)(leat_random(rows->seed, 3, (uint64_t)row) >> b * 3);
        out->dst_bytes[b] = (uint8_t)(leat_random(rows->seed, 4, (uint64_t)i % 13) >> b * 3);
    }
    char(*text)[48] = rows->text[slot];
    out->src_size = leat_address_format(version, out->src_bytes, text[0]);
    out->dst_size = leat_address_format(version, out->dst_bytes, text[1]);
    out->src = text[0];
    out->dst = text[1];
}

static leat_code row_size(void *user, int64_t row, int64_t *n, int *ip_version, leat_error *err) {
    maker *self = user;
    (void)err;
    *n = self->rows->n[row];
    *ip_version = self->rows->version[row];
    return LEAT_OK;
}

static leat_code read_points(void *user, int64_t row, const int64_t *index, int32_t count,
                             leat_measurement *points, leat_error *err) {
    test_rows *rows = ((maker *)user)->rows;
    if (rows->fail_after >= 0 && rows->calls++ >= rows->fail_after) {
        if (err != NULL) *err = (leat_error){.code = LEAT_ERR_CORRUPT};
        return LEAT_ERR_CORRUPT;
    }
    assert_in_range(count, 1, SLOTS);
    for (int32_t i = 0; i < count; i++) {
        assert_true(index[i] >= 0 && index[i] < rows->n[row]);
        if (i > 0) assert_true(index[i] > index[i - 1]);
        make_point(rows, row, index[i], i, &points[i]);
    }
    rows->points_asked += count;
    return LEAT_OK;
}

/* ---- sequences ---- */

static void record(void *user, int64_t t, int64_t row, int64_t k, const leat_context *context,
                   const leat_measurement *point) {
    maker *self = user;
    (void)point;
    if (self->fact_count == self->fact_room) {
        self->fact_room = 2 * self->fact_room + 16;
        self->facts = realloc(self->facts, (size_t)self->fact_room * sizeof(*self->facts));
    }
    self->facts[self->fact_count++] = (context_fact){
        .t = t,
        .row = row,
        .k = k,
        .window = context->window,
        .offset = context->offset,
        .stride = context->stride,
        .mode = context->mode,
        .space = context->space,
        .count = context->count,
        .drawn = context->drawn,
        .drawn_tokens = context->drawn_tokens,
        .kept = context->kept,
        .tokens = context->tokens,
        .is_anchor = context->is_anchor,
        .is_block = context->is_block,
        .full = context->full,
        .cut = context->cut,
    };
    while (self->entry_count + context->kept > self->entry_room) {
        self->entry_room = 2 * self->entry_room + 64;
        self->entries = realloc(self->entries, (size_t)self->entry_room * sizeof(*self->entries));
    }
    for (int32_t i = 0; i < context->kept; i++) {
        int64_t index = context->index[context->order[i]];
        self->entries[self->entry_count++] =
            (entry){.t = t, .row = row, .k = k, .index = index, .stamped = context->stamped[i]};
    }
}

maker *make_maker(const leat_sampler_options *options, test_rows *rows) {
    maker *self = calloc(1, sizeof(*self));
    self->options = *options;
    self->rows = rows;
    assert_fine(leat_anchors_create(&self->anchors, options, rows->count, row_size, self, err));
    assert_fine(leat_context_create(&self->context, options, err));
    self->reader = (leat_row_reader){.user = self,
                                     .row_size = row_size,
                                     .points = read_points,
                                     .point = rows->point,
                                     .explain = record};
    size_t length = (size_t)options->length;
    self->arrays =
        malloc(6 * length * sizeof(int32_t)); /* a write past an end is the next's fault */
    memset(self->arrays, 0x5a, 6 * length * sizeof(int32_t));
    self->sequence = (leat_sequence){
        .inputs = self->arrays,
        .targets = self->arrays + length,
        .inputs_position = self->arrays + 2 * length,
        .targets_position = self->arrays + 3 * length,
        .inputs_segmentation = self->arrays + 4 * length,
        .targets_segmentation = self->arrays + 5 * length,
        .length = options->length,
        .boundary = options->boundary,
    };
    return self;
}

void free_maker(maker *self) {
    leat_anchors_destroy(self->anchors);
    leat_context_destroy(self->context);
    free(self->arrays);
    free(self->entries);
    free(self->facts);
    free(self);
}

void make_sequence_of(maker *self, const leat_source *source) {
    self->entry_count = self->fact_count = 0;
    assert_fine(leat_sequence_make(&self->sequence, source, self->anchors, self->context,
                                   &self->reader, err));
}

void make_sequence(maker *self, int64_t number) {
    leat_source source =
        leat_source_of_epoch(self->options.seed, leat_anchors_count(self->anchors), number);
    make_sequence_of(self, &source);
}

int64_t used_tokens(const maker *self) {
    int64_t used = 0;
    for (int32_t i = 0; i < self->options.length; i++) {
        used += self->sequence.inputs_segmentation[i] != 0;
    }
    return used;
}

/* ---- the slow check ---- */

/* The rule of docs/tokens.md, as it is written there. */
static int rtt_code_by_rule(float rtt) {
    double us = (double)rtt * 1000;
    int exponent = 0;
    if (us < 1) us = 1;
    while (us >= 2048 && exponent < 31) {
        us /= 2;
        exponent++;
    }
    int mantissa = us >= 2047 ? 2047 : (int)us;
    return exponent << 11 | mantissa;
}

static void check_time(const leat_decoded *got, const leat_measurement *want, bool first,
                       int64_t clock_us) {
    int64_t delta = want->time_us < clock_us ? 0 : (want->time_us - clock_us) / 1000000;
    if (first || delta > INT64_C(4294967295)) {
        assert_int_equal(got->time_token, LEAT_TOKEN_TIMESTAMP_ABS);
        assert_int_equal(got->time_value, want->time_us / 1000000);
    } else {
        assert_int_equal(got->time_token,
                         delta < 256 ? LEAT_TOKEN_TIMESTAMP_DELTA1 : LEAT_TOKEN_TIMESTAMP_DELTA4);
        assert_int_equal(got->time_value, delta);
    }
}

static void check_fields(const leat_decoded *got, const leat_measurement *want) {
    int version = want->ip_version;
    size_t bytes = version == 4 ? 4 : 16;
    bool failed = !(want->rtt >= 0);
    if (got->src_version != 0) {
        assert_int_equal(got->src_version, version);
        assert_memory_equal(got->src_bytes, want->src_bytes, bytes);
    }
    if (got->dst_version != 0) {
        assert_int_equal(got->dst_version, version);
        assert_memory_equal(got->dst_bytes, want->dst_bytes, bytes);
    }
    if (got->has_result) {
        assert_int_equal(got->failed, failed);
        int code = failed ? 0 : rtt_code_by_rule(want->rtt);
        if (!failed) assert_int_equal(got->rtt_us, (int64_t)(code & 2047) << (code >> 11));
    }
}

static void check_measurements(const maker *self) {
    const leat_sequence *it = &self->sequence;
    leat_decoded *got = calloc((size_t)self->options.length, sizeof(*got));
    int32_t count = 0;
    assert_fine(leat_tokens_decode(it->inputs, it->inputs_segmentation, it->length, got, it->length,
                                   &count, err));
    assert_int_equal(count, self->entry_count);
    int64_t clock_us = 0, t = -1;
    int32_t segment = 0;
    bool first = true;
    for (int32_t i = 0; i < count; i++) {
        const entry *e = &self->entries[i];
        leat_measurement want;
        make_point(self->rows, e->row, e->index, 0, &want);
        if (e->t != t) {
            first = true;
            segment++;
        }
        t = e->t;
        assert_int_equal(got[i].segment, segment);
        check_fields(&got[i], &want);
        /* one that lost nothing but its stamp at the end looks whole */
        bool cut = it->cut && i == count - 1;
        if (!cut) assert_int_equal(got[i].time_token != 0, e->stamped);
        if (!cut || got[i].field_count == 4) assert_false(got[i].cut);
        if (got[i].time_token != 0) {
            assert_true(e->stamped);
            check_time(&got[i], &want, first, clock_us);
        }
        if (e->stamped) {
            first = false;
            clock_us = want.time_us;
        }
    }
    free(got);
}

static void check_arrays(const maker *self) {
    const leat_sequence *it = &self->sequence;
    int32_t position = 0;
    for (int32_t i = 0; i < it->length; i++) {
        int32_t segment = it->inputs_segmentation[i];
        int32_t after = i + 1 < it->length ? it->inputs_segmentation[i + 1] : 0;
        bool begins = i == 0 || segment != it->inputs_segmentation[i - 1];
        position = begins ? 0 : position + 1;
        assert_int_equal(it->inputs_position[i], segment == 0 ? 0 : position);
        assert_int_equal(it->targets_position[i], it->inputs_position[i]);
        bool has_target = after != 0 && (after == segment || it->boundary == LEAT_BOUNDARY_CROSS);
        assert_int_equal(it->targets[i], has_target ? it->inputs[i + 1] : 0);
        assert_int_equal(it->targets_segmentation[i], has_target ? after : 0);
        if (segment == 0) assert_int_equal(it->inputs[i], 0);
    }
}

void check_sequence(const maker *self) {
    int64_t kept = 0, drawn = 0, tokens = 0;
    for (int64_t i = 0; i < self->fact_count; i++) {
        kept += self->facts[i].kept;
        drawn += self->facts[i].drawn;
        tokens += self->facts[i].tokens;
        assert_int_equal(self->facts[i].is_anchor, i == 0);
        if (self->facts[i].cut) {
            assert_int_equal(i, self->fact_count - 1);
            assert_true(i > 0); /* never an anchor */
        }
    }
    assert_int_equal(self->sequence.kept, kept);
    assert_int_equal(self->sequence.drawn, drawn);
    assert_int_equal(self->sequence.used, tokens);
    assert_int_equal(used_tokens(self), tokens);
    check_measurements(self);
    check_arrays(self);
}
