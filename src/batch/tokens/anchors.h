/*
 * Anchors: all (row, context) pairs of a data set, numbered consecutively. Row r has K(n, version,
 * L) contexts; anchor number a is context k of row r. In an epoch each is at the front of exactly
 * one sequence.
 *
 * Memory: 1 byte a row (sampler `all`: 4) and 12 bytes per 64 rows. Read by any number of threads.
 */
#ifndef LEAT_BATCH_TOKENS_ANCHORS_H
#define LEAT_BATCH_TOKENS_ANCHORS_H

#include "leat/batch.h"

/* More measurements than this in a row are refused; rows store n as int32. */
#define LEAT_ROW_MEASUREMENTS_MAX INT32_MAX

/* A row of fewer measurements is not windowed but cut into blocks: floor(length / 30). */
int64_t leat_small_row(int32_t length);

/* The most that a row of n measurements takes in tokens, whatever the timestamp mode:
 * 4 + 19 n for IPv4, 4 + 43 n for IPv6 and for rows with both (version 0). */
int64_t leat_row_tokens_max(int64_t n, int ip_version);

/* K, the contexts that a row yields per epoch; 0 for a row without measurements. */
int64_t leat_contexts_of_row(const leat_sampler_options *options, int64_t n, int ip_version);

typedef struct leat_anchors leat_anchors;

/* Returns n and IP version (4, 6; 0: both) of row 0 <= row < row_count; called in this order. */
typedef leat_code (*leat_row_size_fn)(void *user, int64_t row, int64_t *n, int *ip_version,
                                      leat_error *err);

LEAT_MUST_CHECK leat_code leat_anchors_create(leat_anchors **out,
                                              const leat_sampler_options *options,
                                              int64_t row_count, leat_row_size_fn row_size,
                                              void *user, leat_error *err);
void leat_anchors_destroy(leat_anchors *anchors);

/* A: how many there are. 0 if no row has a measurement. */
int64_t leat_anchors_count(const leat_anchors *anchors);

/* Row and context of anchor 0 <= anchor < A. */
void leat_anchors_find(const leat_anchors *anchors, int64_t anchor, int64_t *row, int64_t *k);

/* The first anchor of row 0 <= row <= row_count (of row_count: A). */
int64_t leat_anchors_first(const leat_anchors *anchors, int64_t row);

#endif
