/*
 * The variants of the kernels as others see them: which there are, and how fast they are on shapes
 * of a DCGAN's layers and of plain products. suites.c tells whether they are right.
 */
#include "base/mem.h"
#include "base/thread.h"
#include "leat/nn.h"
#include "nn/float_mode.h"
#include "nn/ops/conv.h"
#include "nn/ops/product.h"

#define SECONDS_PER_SHAPE 0.15
#define IMAGES 32

bool leat_kernel_variant_at(int index, leat_kernel_variant *out) {
    const leat_kernels *kernels = leat_kernels_at(index);
    *out = (leat_kernel_variant){0};
    if (kernels == NULL) return false;
    out->name = kernels->name;
    out->lanes = kernels->width;
    out->runs = leat_kernels_supported(kernels);
    out->used = kernels == leat_kernels_find(NULL);
    return true;
}

leat_code leat_kernels_named(const char *name, const leat_kernels **out, leat_error *err) {
    *out = leat_kernels_find(name);
    if (*out == NULL)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "there are no kernels \"%s\"; `leat doctor --kernels` lists them", name);
    if (!leat_kernels_supported(*out))
        return leat_fail(err, LEAT_ERR_UNSUPPORTED, "this processor cannot run the %s kernels",
                         (*out)->name);
    return LEAT_OK;
}

/* ---- Speed -------------------------------------------------------------------------------- */

typedef enum shape_kind { PRODUCT, DOWN, UP, WEIGHTS } shape_kind;

/* Of a product: rows, columns, depth; of a convolution with kernel 4, stride 2, padding 1: narrow
 * channels, wide channels, size of the wide side. */
typedef struct shape {
    const char *name;
    shape_kind kind;
    int sizes[3];
} shape;

static const shape shapes[LEAT_KERNEL_SHAPES] = {
    {"product 1024 x 1024 x 1024", PRODUCT, {1024, 1024, 1024}},
    {"product 128 x 267 x 1000", PRODUCT, {128, 267, 1000}},
    {"convolution 3 to 64 channels, 64 x 64", DOWN, {64, 3, 64}},
    {"convolution 64 to 128 channels, 32 x 32", DOWN, {128, 64, 32}},
    {"transposed convolution 512 to 256 channels, 4 x 4", UP, {512, 256, 8}},
    {"its gradient of the weights", WEIGHTS, {512, 256, 8}},
};

typedef struct bench {
    const leat_device *device;
    const shape *shape;
    leat_product product;
    leat_conv conv;
    double flops;
    float *block;
    int64_t sizes[4]; /* floats of the two inputs, the output and the work space */
    float *at[4];
} bench;

static double seconds(void) { return 1e-9 * (double)leat_clock_ns(); }

/* Pairs of a narrow pixel and a tap, in one dimension, whose wide pixel is inside the image. */
static int64_t taps_inside(const leat_conv *conv, int64_t narrow, int64_t wide) {
    int64_t count = 0;
    for (int64_t i = 0; i < narrow; i++)
        for (int64_t k = 0; k < conv->kernel; k++) {
            const int64_t at = i * conv->stride - conv->padding + k;
            count += at >= 0 && at < wide;
        }
    return count;
}

static leat_code set_sizes(bench *self, leat_error *err) {
    const int *size = self->shape->sizes;
    if (self->shape->kind == PRODUCT) {
        self->product = (leat_product){.rows = size[0],
                                       .columns = size[1],
                                       .depth = size[2],
                                       .a_step = size[2],
                                       .b_step = size[1],
                                       .c_step = size[1]};
        self->sizes[0] = (int64_t)size[0] * size[2];
        self->sizes[1] = (int64_t)size[2] * size[1];
        self->sizes[2] = (int64_t)size[0] * size[1];
        self->sizes[3] = leat_product_work_count(self->device, &self->product);
        self->flops = 2.0 * size[0] * size[1] * size[2];
        return LEAT_OK;
    }
    self->conv = (leat_conv){.kernel = 4,
                             .stride = 2,
                             .padding = 1,
                             .narrow_channels = size[0],
                             .wide_channels = size[1],
                             .wide_height = size[2],
                             .wide_width = size[2]};
    LEAT_TRY(leat_conv_complete(&self->conv, err));
    const int64_t weights = leat_conv_weight_count(&self->conv);
    const int64_t gradient = leat_conv_gradient_count(&self->conv);
    self->sizes[0] = leat_conv_wide_count(&self->conv, IMAGES);
    self->sizes[1] = leat_conv_narrow_count(&self->conv, IMAGES);
    self->sizes[2] = weights > gradient ? weights : gradient;
    self->sizes[3] = leat_conv_work_count(self->device, &self->conv, IMAGES);
    const leat_conv *conv = &self->conv;
    const double taps = (double)taps_inside(conv, conv->narrow_height, conv->wide_height) *
                        (double)taps_inside(conv, conv->narrow_width, conv->wide_width);
    self->flops = 2.0 * size[0] * size[1] * taps * IMAGES;
    return LEAT_OK;
}

static leat_code run_once(const bench *self, leat_error *err) {
    const leat_conv *conv = &self->conv;
    float *const *at = self->at;
    leat_product product = self->product;
    switch (self->shape->kind) {
    case PRODUCT:
        product.a = at[0];
        product.b = at[1];
        product.c = at[2];
        return leat_product_run(self->device, &product, at[3], err);
    case DOWN: return leat_conv_down(self->device, conv, IMAGES, at[2], at[0], at[1], err);
    case UP: return leat_conv_up(self->device, conv, IMAGES, at[2], at[1], at[0], err);
    default:
        return leat_conv_weight_gradient(self->device, conv, IMAGES, at[0], at[1],
                                         &(leat_conv_gradient){at[2], false, at[3]}, err);
    }
}

/* The best of several runs; at least two, of which the first warms up. */
static leat_code time_shape(bench *self, double *gflops, leat_error *err) {
    double best = 0;
    const double end = seconds() + SECONDS_PER_SHAPE;
    for (int run = 0; run < 2 || seconds() < end; run++) {
        const double begin = seconds();
        LEAT_TRY(run_once(self, err));
        const double took = seconds() - begin;
        if (run > 0 && self->flops / took > best) best = self->flops / took;
    }
    *gflops = best * 1e-9;
    return LEAT_OK;
}

static leat_code measure_shape(const leat_device *device, const shape *shape, double *gflops,
                               leat_error *err) {
    bench self = {.device = device, .shape = shape};
    LEAT_TRY(set_sizes(&self, err));
    int64_t all = 0;
    for (int i = 0; i < 4; i++) {
        LEAT_ASSERT(self.sizes[i] >= 0); /* the table above has no sizes that are refused */
        all += leat_lanes(self.sizes[i]);
    }
    const int64_t bytes = all * (int64_t)sizeof(float);
    LEAT_TRY(leat_block_alloc((void **)&self.block, bytes, err));
    for (int64_t i = 0; i < all; i++) self.block[i] = (float)(i % 251) / 251.0f - 0.5f;
    float *next = self.block;
    for (int i = 0; i < 4; i++) {
        self.at[i] = next;
        next += leat_lanes(self.sizes[i]);
    }
    leat_code code = time_shape(&self, gflops, err);
    leat_block_free(self.block, bytes);
    return code;
}

double leat_kernels_peak(const leat_kernels *kernels, double least_seconds) {
    volatile float sink = 0;
    double best = 0;
    int64_t rounds = 64;
    const double end = seconds() + least_seconds;
    while (best == 0 || seconds() < end) {
        const double begin = seconds();
        sink = sink + kernels->peak(rounds);
        const double took = seconds() - begin;
        const double flops = 2.0 * (double)rounds * kernels->tile_rows * kernels->tile_columns;
        if (took < 5e-3) rounds *= 2; /* until one call takes some milliseconds */
        else if (flops / took > best) best = flops / took;
    }
    (void)sink;
    return best * 1e-9;
}

static leat_code measure_all(const leat_device *device, leat_kernel_speeds *out, leat_error *err) {
    out->peak = leat_kernels_peak(device->kernels, SECONDS_PER_SHAPE);
    for (int i = 0; i < LEAT_KERNEL_SHAPES; i++) {
        out->shapes[i].name = shapes[i].name;
        LEAT_TRY(measure_shape(device, &shapes[i], &out->shapes[i].gflops, err));
    }
    /* again, because another process may have been in the way of the first one */
    const double again = leat_kernels_peak(device->kernels, SECONDS_PER_SHAPE);
    if (again > out->peak) out->peak = again;
    /* or in the way of both: it is at least what was reached */
    for (int i = 0; i < LEAT_KERNEL_SHAPES; i++)
        if (out->shapes[i].gflops > out->peak) out->peak = out->shapes[i].gflops;
    return LEAT_OK;
}

leat_code leat_kernels_measure(const char *variant, leat_kernel_speeds *out, leat_error *err) {
    leat_device device = {0};
    *out = (leat_kernel_speeds){0};
    LEAT_TRY(leat_kernels_named(variant, &device.kernels, err));
    const uint64_t mode = leat_float_mode_begin();
    const leat_code code = measure_all(&device, out, err);
    leat_float_mode_end(mode);
    return code;
}
