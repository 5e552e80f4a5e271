/*
 * A batch of images: the layout of its arrays, and how a part of it is made for the ring. The parts
 * are stretches of the batch's rows, all of the same size, so each thread knows where its own go.
 */
#include "load/images/loader.h"

/* Parts of a step: one for each thread, up to the number of threads that a batch keeps busy. */
enum { PARTS_MAX = 16 };

typedef struct maker {
    const leat_image_loader *loader;
    uint8_t *levels; /* of an image, where batches have floats */
} maker;

static bool has_floats(const leat_image_loader *loader) {
    return loader->options.as == LEAT_IMAGE_FLOAT;
}

static int64_t image_bytes(const leat_image_loader *loader) {
    return leat_image_bytes(loader->images->set.size);
}

/* ---- the arrays ----------------------------------------------------------------------------- */

/* The most that arrays of 2^20 images of the largest size take is below 2^44. */
static int64_t pixels_bytes(const leat_image_loader *loader) {
    int64_t item = has_floats(loader) ? (int64_t)sizeof(float) : 1;
    return leat_slot_array_bytes(loader->row_count * image_bytes(loader) * item);
}

bool leat_image_slot_bytes(const leat_image_loader *loader, int64_t *size_bytes) {
    int64_t index = leat_slot_array_bytes(loader->row_count * (int64_t)sizeof(int64_t));
    return leat_add_size(pixels_bytes(loader), index, size_bytes);
}

int64_t leat_image_maker_bytes(const leat_image_loader *loader) {
    return (int64_t)sizeof(maker) + (has_floats(loader) ? image_bytes(loader) : 0);
}

static void lay_out(const void *context, leat_slot *slot) {
    const leat_image_loader *loader = context;
    leat_image_batch *batch = &((leat_image_slot *)slot)->batch;
    uint8_t *block = slot->block;
    if (has_floats(loader)) batch->f32 = (const float *)(void *)block;
    else batch->u8 = block;
    batch->index = (const int64_t *)(void *)(block + pixels_bytes(loader));
    batch->first_row = loader->first_row;
    batch->row_count = loader->row_count;
    batch->size = loader->images->set.size;
}

/* The batch is read-only to its owners; its makers are not owners yet. */
#define WRITABLE(type, array) ((type *)(uintptr_t)(array))

/* ---- a part --------------------------------------------------------------------------------- */

/* [S, S, 3] as values [3, S, S]. */
static void put_floats(const uint8_t *levels, int64_t pixels, float *out) {
    const float *table = leat_pixel_table();
    for (int64_t i = 0; i < pixels; i++) {
        out[i] = table[levels[3 * i]];
        out[pixels + i] = table[levels[3 * i + 1]];
        out[2 * pixels + i] = table[levels[3 * i + 2]];
    }
}

static leat_code put_image(const maker *self, const leat_image_batch *batch, int64_t row,
                           leat_error *err) {
    const leat_images *images = self->loader->images;
    int64_t bytes = image_bytes(self->loader), index = batch->index[row];
    if (batch->u8 != NULL)
        return leat_images_read(images, index, WRITABLE(uint8_t, batch->u8) + row * bytes, err);
    LEAT_TRY(leat_images_read(images, index, self->levels, err));
    put_floats(self->levels, bytes / 3, WRITABLE(float, batch->f32) + row * bytes);
    return LEAT_OK;
}

static leat_code make_part(void *context, leat_slot *slot, int64_t part, leat_error *err) {
    const maker *self = context;
    const leat_image_loader *loader = self->loader;
    leat_image_batch *batch = &((leat_image_slot *)slot)->batch;
    int64_t begin = loader->row_count * part / loader->parts;
    int64_t end = loader->row_count * (part + 1) / loader->parts;
    int64_t first = slot->step * loader->options.batch + loader->first_row;
    leat_images_at(&loader->order, first + begin, end - begin,
                   WRITABLE(int64_t, batch->index) + begin);
    if (loader->fetcher != NULL && end > begin) { /* and so of all windows before it */
        int64_t last = first + end - 1;
        leat_fetcher_need(loader->fetcher, last / loader->order.count,
                          leat_image_windows_at(&loader->order, last));
    }
    if (part == 0) {
        batch->step = slot->step;
        batch->first_position = first;
    }
    for (int64_t row = begin; row < end; row++) {
        leat_code code = put_image(self, batch, row, err);
        if (code != LEAT_OK)
            return leat_error_context(err, code, "step %lld, row %lld, image %lld",
                                      (long long)slot->step, (long long)(loader->first_row + row),
                                      (long long)batch->index[row]);
    }
    return LEAT_OK;
}

/* ---- for the ring --------------------------------------------------------------------------- */

static void maker_destroy(void *context) {
    maker *self = context;
    if (self == NULL) return;
    leat_free(self->levels);
    leat_free(self);
}

static leat_code maker_create(const void *context, void **out, leat_error *err) {
    const leat_image_loader *loader = context;
    maker *self = NULL;
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&self, 1, err));
    self->loader = loader;
    leat_code code =
        has_floats(loader) ? LEAT_NEW(&self->levels, image_bytes(loader), err) : LEAT_OK;
    if (code != LEAT_OK) {
        maker_destroy(self);
        return code;
    }
    *out = self;
    return LEAT_OK;
}

leat_ring_work leat_image_work(const leat_image_loader *loader) {
    leat_ring_work work = {
        .plan = loader,
        .parts = loader->parts,
        .slot_bytes = (int64_t)sizeof(leat_image_slot),
        .lay_out = lay_out,
        .maker_create = maker_create,
        .maker_destroy = maker_destroy,
        .make = make_part,
    };
    bool fits = leat_image_slot_bytes(loader, &work.block_bytes);
    LEAT_ASSERT(fits);
    return work;
}

int64_t leat_image_parts(int threads, int64_t row_count) {
    int64_t parts = threads < PARTS_MAX ? threads : PARTS_MAX;
    return parts < row_count ? parts : row_count;
}

/* ---- owners --------------------------------------------------------------------------------- */

static leat_slot *slot_of(const leat_image_batch *batch) {
    uintptr_t at = (uintptr_t)batch - offsetof(leat_image_slot, batch);
    return (leat_slot *)at;
}

void leat_image_batch_retain(const leat_image_batch *batch) {
    if (batch != NULL) leat_slot_retain(slot_of(batch));
}

void leat_image_batch_release(const leat_image_batch *batch) {
    if (batch != NULL) leat_slot_release(slot_of(batch));
}
