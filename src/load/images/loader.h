/*
 * The image loader, private part.
 *
 *   slot     one batch's arrays; a part of its step is a stretch of its rows. (slot.c)
 *   fetcher  reads windows ahead of the batches, in the windowed order. (fetcher.h)
 *   ring     threads that fill slots ahead of the caller. (ring.h)
 *   loader   both, and the caller's place, a step. (loader.c, stepped.h)
 *
 * There is no plan: which image a row holds is a function of its position. (batch/images/order.h)
 */
#ifndef LEAT_LOAD_IMAGES_LOADER_H
#define LEAT_LOAD_IMAGES_LOADER_H

#include "batch/images/order.h"
#include "load/fetcher.h"
#include "load/images/images.h"
#include "load/stepped.h"

typedef struct leat_image_slot {
    leat_slot slot;
    leat_image_batch batch;
} leat_image_slot;

typedef enum leat_image_count {
    LEAT_IMAGE_COUNT_BATCHES,
    LEAT_IMAGE_COUNT_IMAGES,
    LEAT_IMAGE_COUNTS
} leat_image_count;

struct leat_image_loader {
    const leat_images *images;
    leat_image_loader_options options;
    int64_t first_row, row_count; /* of the global batch, that are made */
    int64_t step_count;           /* -1 without end */
    int64_t parts;                /* of a step */
    leat_image_order order;
    leat_fetcher *fetcher; /* NULL in the global order */
    leat_stepped steps;
    int64_t prefetch, memory_bytes;
    _Atomic int64_t counts[LEAT_IMAGE_COUNTS]; /* of what was returned */
    int64_t payload_before;                    /* of the file, at create */
    char *words;                               /* the options that decide bytes, as JSON */
    char hash[17];
};

/* ---- slot.c ---- */

/* Bytes of the arrays of a batch; false if they overflow. */
bool leat_image_slot_bytes(const leat_image_loader *loader, int64_t *size_bytes);
/* Bytes that a thread needs besides. */
int64_t leat_image_maker_bytes(const leat_image_loader *loader);
/* Parts of a step. */
int64_t leat_image_parts(int threads, int64_t row_count);
/* The work of a loader's ring. */
leat_ring_work leat_image_work(const leat_image_loader *loader);

/* ---- loader_options.c ---- */

LEAT_MUST_CHECK leat_code leat_image_loader_options_check(const leat_image_loader_options *options,
                                                          leat_error *err);
/* Fills words and hash. */
LEAT_MUST_CHECK leat_code leat_image_loader_describe(leat_image_loader *loader, leat_error *err);
/* Fills prefetch and memory_bytes. */
LEAT_MUST_CHECK leat_code leat_image_loader_budget(leat_image_loader *loader, leat_error *err);

#endif
