/* The one door to the heap. Sizes are int64_t counts; every product is checked for overflow. */
#ifndef LEAT_BASE_MEM_H
#define LEAT_BASE_MEM_H

#include "base/error.h"

/* count * item_bytes bytes, zeroed, never NULL on success (a size of 0 gives a valid pointer). */
LEAT_MUST_CHECK leat_code leat_alloc(void **out, int64_t count, int64_t item_bytes,
                                     leat_error *err);
/* Typed form: LEAT_TRY(LEAT_NEW(&rows, row_count, err)). */
#define LEAT_NEW(out, count, err)                                                                  \
    leat_alloc((void **)(out), (int64_t)(count), (int64_t)sizeof(**(out)), (err))

/*
 * Grows *items (capacity *capacity items of item_bytes) to hold `need` items, at least doubling;
 * new bytes are not zeroed. *items is never NULL on success, so that adding 0 to it is defined even
 * if nothing is needed. On failure *items and *capacity are unchanged and still owned.
 */
LEAT_MUST_CHECK leat_code leat_grow(void **items, int64_t *capacity, int64_t need,
                                    int64_t item_bytes, leat_error *err);
#define LEAT_GROW(items, capacity, need, err)                                                      \
    leat_grow((void **)(items), (capacity), (int64_t)(need), (int64_t)sizeof(**(items)), (err))

void leat_free(void *pointer);

/*
 * Large blocks directly from the system (page aligned, zeroed lazily, returned at once when freed,
 * so that a memory limit holds from one phase of a job to the next). leat_block_free requires the
 * same `size_bytes`.
 */
LEAT_MUST_CHECK leat_code leat_block_alloc(void **out, int64_t size_bytes, leat_error *err);
void leat_block_free(void *block, int64_t size_bytes);

/* A NUL-terminated copy of text. */
LEAT_MUST_CHECK leat_code leat_strdup(char **out, const char *text, leat_error *err);

/* a * b and a + b of non-negative sizes; false on overflow (*out is then 0). */
bool leat_mul_size(int64_t a, int64_t b, int64_t *out);
bool leat_add_size(int64_t a, int64_t b, int64_t *out);

/* A growing byte buffer; {0} is the empty one. */
typedef struct leat_buf {
    uint8_t *data;
    int64_t size, capacity;
} leat_buf;
LEAT_MUST_CHECK leat_code leat_buf_reserve(leat_buf *buf, int64_t more_bytes, leat_error *err);
LEAT_MUST_CHECK leat_code leat_buf_append(leat_buf *buf, const void *bytes, int64_t size_bytes,
                                          leat_error *err);
/* Appends formatted text, without a NUL. */
LEAT_MUST_CHECK leat_code leat_buf_printf(leat_buf *buf, leat_error *err, const char *format, ...)
    LEAT_PRINTF(3, 4);
void leat_buf_free(leat_buf *buf);

/* Current and peak resident set of this process in bytes (/proc/self/status); -1 if unknown. In the
 * test build, the bytes that the functions above have taken and not given back: see fault.h. */
int64_t leat_rss_bytes(void);
int64_t leat_rss_peak_bytes(void);

#endif
