/*
 * Copies rows and numbers of a graph from the file to a batch: the inner loops of graph batches.
 * Pure functions on arrays, with the same bits on every processor.
 */
#ifndef LEAT_LOAD_CAN_PUT_H
#define LEAT_LOAD_CAN_PUT_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes that will be read soon and are prefetched meanwhile; {0}: none. */
typedef struct leat_ahead {
    const uint8_t *data;
    int64_t size_bytes;
} leat_ahead;
void leat_ahead_fetch(const leat_ahead *ahead);

/* Values of center and scale after their last row. */
#define LEAT_PUT_SPARE 16

/* Rows of features, one after the other. */
typedef struct leat_put_rows {
    const float *values;
    int64_t count; /* of values */
    /* NULL: values stay unchanged; else f32(value - center) / scale. Both repeat after `period`
     * values, complete rows, and have LEAT_PUT_SPARE more after them. */
    const float *center, *scale;
    int64_t period;
    leat_ahead ahead;
    bool stream; /* past the caches, where the processor can: what is written is not read soon */
} leat_put_rows;
void leat_put_rows_to(float *out, const leat_put_rows *rows);
/* To be called after rows were streamed, before another thread reads them. */
void leat_put_settle(void);

/* Copies numbers of 0 .. limit, adding `add`; false if one is out of range. */
bool leat_put_numbers(int32_t *out, const int32_t *in, int64_t count, int32_t limit, int32_t add);

/* The same without processor-specific code, for tests. */
void leat_put_rows_portable(float *out, const leat_put_rows *rows);
bool leat_put_numbers_portable(int32_t *out, const int32_t *in, int64_t count, int32_t limit,
                               int32_t add);

#endif
