/*
 * What the tests of sampling share: made-up rows, whose every measurement is computed from its
 * place; sequences with a record of what they are made of; and a slow check of both.
 */
#ifndef LEAT_TESTS_BATCH_SUPPORT_H
#define LEAT_TESTS_BATCH_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "batch/tokens/anchors.h"
#include "batch/tokens/context.h"
#include "batch/tokens/sequence.h"
#include "batch/tokens/source.h"
#include "golden_files.h"

/* Fails with the library's message. */
#define assert_fine(call)                                                                          \
    do {                                                                                           \
        leat_error fine_err_ = {0};                                                                \
        leat_error *err = &fine_err_;                                                              \
        if ((call) != LEAT_OK) fail_msg("%s: %s", #call, fine_err_.message);                       \
    } while (0)

typedef enum row_kind {
    ROWS_FIELD,  /* measurements 60 to 300 s apart, 3.5 % failed, as in the field */
    ROWS_CLOCK,  /* those of golden/latency/plan3_ref.json */
    ROWS_WILD,   /* ties, steps back, gaps of centuries, many failures */
    ROWS_FAILED, /* as ROWS_FIELD, all failed */
} row_kind;

typedef struct test_rows {
    row_kind kind;
    uint64_t seed;
    int64_t count;
    int64_t *n;
    int *version; /* 4, 6; 0: both in turn */
    char (*text)[2][48];
    leat_measurement *point;
    int64_t points_asked; /* measurements handed out */
    int64_t fail_after;   /* the reader fails from this call on; -1: never */
    int64_t calls;
} test_rows;

/* `count` rows of n measurements, of one version. */
test_rows *make_rows(row_kind kind, uint64_t seed, int64_t count, int64_t n, int version);
/* Rows with a heavy tail: about `mean` measurements, 57.7 % IPv4. */
test_rows *make_heavy_rows(uint64_t seed, int64_t count, double mean);
void free_rows(test_rows *rows);
double mean_of_rows(const test_rows *rows);

/* Measurement i of a row; the texts live until the next call with the same slot (0 .. 2^21). */
void make_point(test_rows *rows, int64_t row, int64_t i, int slot, leat_measurement *out);

/* ---- sequences ---- */

typedef struct entry { /* one measurement of a sequence */
    int64_t t, row, k, index;
    bool stamped;
} entry;

typedef struct context_fact {
    int64_t t, row, k, window, offset, stride;
    leat_time_mode mode;
    int32_t space, count, drawn, drawn_tokens, kept, tokens;
    bool is_anchor, is_block, full, cut;
} context_fact;

typedef struct maker {
    leat_sampler_options options;
    test_rows *rows;
    leat_anchors *anchors;
    leat_context *context;
    leat_row_reader reader;
    leat_sequence sequence;
    int32_t *arrays;
    entry *entries; /* of the last sequence */
    int64_t entry_count, entry_room;
    context_fact *facts;
    int64_t fact_count, fact_room;
} maker;

maker *make_maker(const leat_sampler_options *options, test_rows *rows);
void free_maker(maker *self);
/* Makes sequence `number` of all epochs, or the given source. */
void make_sequence(maker *self, int64_t number);
void make_sequence_of(maker *self, const leat_source *source);

/*
 * Checks the last sequence by definition: it decodes to the measurements that the record names, in
 * that order, and the other five arrays follow from its tokens and segments.
 */
void check_sequence(const maker *self);

/* All tokens but padding. */
int64_t used_tokens(const maker *self);

#endif
