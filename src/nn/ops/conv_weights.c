/*
 * The gradient of a convolution's weights: for each tap a matrix product over narrow pixels and
 * images. The side with more channels gives the columns of the tiles; it is first transposed, once,
 * so that its channels are next to each other. The other side gives the rows, as it lies in memory.
 * The taps differ only in which wide pixel meets which narrow pixel, and nothing is copied per tap.
 */
#include "nn/ops/conv.h"

#include <string.h>

#define DEPTH 256 /* multiply-adds of a chain in one call of a tile, about */

typedef struct weights_job {
    const leat_device *device;
    const leat_conv *conv;
    int64_t images, lanes;
    int64_t rows, columns, blocks, panel, panels; /* panel: columns of a tile */
    int64_t parts;
    bool wide_rows;                      /* the wide side gives the rows */
    bool few;                            /* see run_few */
    const float *row_side, *column_side; /* activations */
    int64_t column_pixels;
    float *column_work;
    bool add;
    float *gradient; /* [tap][row][padded column] */
} weights_job;

static int64_t padded_columns(int64_t columns) {
    return columns <= LEAT_LANES ? LEAT_LANES
                                 : (columns + LEAT_TILE_COLUMNS_MAX - 1) / LEAT_TILE_COLUMNS_MAX *
                                       LEAT_TILE_COLUMNS_MAX;
}

static void set_job(weights_job *job, const leat_device *device, const leat_conv *conv,
                    int64_t images) {
    const int64_t wide_pixels = (int64_t)conv->wide_height * conv->wide_width;
    const int64_t narrow_pixels = (int64_t)conv->narrow_height * conv->narrow_width;
    *job = (weights_job){
        .device = device, .conv = conv, .images = images, .lanes = leat_lanes(images)};
    job->wide_rows = conv->wide_channels < conv->narrow_channels;
    job->rows = job->wide_rows ? conv->wide_channels : conv->narrow_channels;
    job->columns = job->wide_rows ? conv->narrow_channels : conv->wide_channels;
    job->column_pixels = job->wide_rows ? narrow_pixels : wide_pixels;
    job->blocks = leat_block_count(device, job->rows);
    job->few = job->wide_rows && conv->kernel > 1 && job->rows * conv->kernel <= LEAT_TILE_ROWS_MAX;
    const int64_t threads = device->pool == NULL ? 1 : leat_pool_threads(device->pool);
    job->parts = threads == 1 ? 1 : leat_min((int64_t)conv->kernel * conv->kernel, 4 * threads);
    const int64_t width = padded_columns(job->columns);
    job->panel = leat_min(device->kernels->tile_columns, width);
    job->panels = width / job->panel;
    /* the same rows of the gradient for every variant of the kernels */
    LEAT_ASSERT(job->panels * job->panel == width);
}

int64_t leat_conv_gradient_count(const leat_conv *conv) {
    weights_job job;
    const leat_device device = {.kernels = &leat_kernels_scalar};
    set_job(&job, &device, conv, 1);
    return job.rows * padded_columns(job.columns) * conv->kernel * conv->kernel;
}

int64_t leat_conv_work_count(const leat_device *device, const leat_conv *conv, int64_t images) {
    weights_job job;
    set_job(&job, device, conv, images);
    return job.column_pixels * job.panels * job.panel * images;
}

/* Columns of pixel `part`: [panel][image][column of the panel], padded with zeros. */
static void pack_columns(void *context, int64_t part) {
    const weights_job *job = context;
    const float *in = job->column_side + part * job->columns * job->lanes;
    float *out = job->column_work + part * job->panels * job->images * job->panel;
    for (int64_t first = 0; first < job->columns;
         first += job->panel, out += job->images * job->panel) {
        const int64_t size = leat_min(job->panel, job->columns - first);
        if (size < job->panel) memset(out, 0, sizeof *out * (size_t)(job->images * job->panel));
        job->device->kernels->transpose(size, job->images, in + first * job->lanes, job->lanes, out,
                                        job->panel);
    }
}

/* The pairs of pixels of a tap among narrow pixels begin .. end - 1; their number. */
static int find_pairs(const weights_job *job, int tap, int64_t begin, int64_t end, int64_t *a_tap,
                      int64_t *b_tap) {
    const leat_conv *conv = job->conv;
    const int ky = tap / conv->kernel, kx = tap % conv->kernel;
    const int64_t row_size = job->rows * job->lanes;
    const int64_t column_size = job->panels * job->images * job->panel;
    int found = 0;
    for (int64_t narrow = begin; narrow < end; narrow++) {
        const int64_t y = narrow / conv->narrow_width * conv->stride - conv->padding + ky;
        const int64_t x = narrow % conv->narrow_width * conv->stride - conv->padding + kx;
        if (y < 0 || x < 0 || y >= conv->wide_height || x >= conv->wide_width) continue;
        const int64_t wide = y * conv->wide_width + x;
        a_tap[found] = (job->wide_rows ? wide : narrow) * row_size;
        b_tap[found++] = (job->wide_rows ? narrow : wide) * column_size;
    }
    return found;
}

/* Whether a narrow pixel before `begin` has a pair with this tap. */
static bool has_pairs(const weights_job *job, int tap, int64_t begin) {
    const leat_conv *conv = job->conv;
    const int64_t ky = tap / conv->kernel - conv->padding, kx = tap % conv->kernel - conv->padding;
    /* the first row and column that are inside */
    const int64_t y = ky < 0 ? (conv->stride - 1 - ky) / conv->stride : 0;
    const int64_t x = kx < 0 ? (conv->stride - 1 - kx) / conv->stride : 0;
    return y * conv->stride + ky < conv->wide_height && x * conv->stride + kx < conv->wide_width &&
           y < conv->narrow_height && x < conv->narrow_width && y * conv->narrow_width + x < begin;
}

static void run_tap(const weights_job *job, int tap, int64_t begin, int64_t end, bool last) {
    const int64_t width = job->panels * job->panel;
    int64_t a_tap[LEAT_TILE_TAPS_MAX], b_tap[LEAT_TILE_TAPS_MAX];
    leat_tile tile = {.columns = (int)job->panel,
                      .depth = job->images,
                      .a_tap = a_tap,
                      .b_tap = b_tap,
                      .across = true,
                      .a_step = job->lanes,
                      .b_step = job->panel,
                      .c_step = width,
                      .add = job->add || has_pairs(job, tap, begin)};
    tile.taps = find_pairs(job, tap, begin, end, a_tap, b_tap);
    /* a chain without any pair must be written too */
    if (tile.taps == 0 && (tile.add || !last)) return;
    for (int64_t panel = 0; panel < job->panels; panel++) {
        tile.b = job->column_work + panel * job->images * job->panel;
        for (int64_t block = 0; block < job->blocks; block++) {
            const int64_t first = leat_block_first(job->rows, job->blocks, block);
            tile.rows = (int)(leat_block_first(job->rows, job->blocks, block + 1) - first);
            tile.a = job->row_side + first * job->lanes;
            tile.c = job->gradient + (tap * job->rows + first) * width + panel * job->panel;
            job->device->kernels->tile(&tile);
        }
    }
}

/* Steps over narrow pixels from outside, then taps: what the taps of a step read lies near each
 * other, and stays in the second-level cache. */
static void run_part(void *context, int64_t part) {
    const weights_job *job = context;
    const int64_t pixels = (int64_t)job->conv->narrow_height * job->conv->narrow_width;
    const int64_t taps = (int64_t)job->conv->kernel * job->conv->kernel;
    const int64_t step = leat_min((DEPTH - 1) / job->images + 1, LEAT_TILE_TAPS_MAX);
    const int first = (int)(taps * part / job->parts), last = (int)(taps * (part + 1) / job->parts);
    for (int64_t begin = 0; begin < pixels; begin += step) {
        const int64_t end = leat_min(begin + step, pixels);
        for (int tap = first; tap < last; tap++) run_tap(job, tap, begin, end, end == pixels);
    }
}

/* ---- Few channels ------------------------------------------------------------------------- */

/*
 * Up to 16 / kernel wide channels: too few rows for a tile. The wide pixels that a narrow one meets
 * for all kx lie next to each other, so their channels together are the rows: [kx][channel]. At the
 * left and right edge, where some kx are outside, only the others are.
 */
static void kx_range(const leat_conv *conv, int64_t x, int64_t *first, int64_t *last) {
    const int64_t wide = x * conv->stride - conv->padding;
    *first = wide < 0 ? leat_min(-wide, conv->kernel) : 0;
    *last = leat_min(conv->kernel, conv->wide_width - wide);
    if (*last < *first) *last = *first;
}

static int64_t wide_pixel(const leat_conv *conv, int64_t narrow, int64_t ky, int64_t kx) {
    const int64_t y = narrow / conv->narrow_width * conv->stride - conv->padding + ky;
    return y * conv->wide_width + narrow % conv->narrow_width * conv->stride - conv->padding + kx;
}

/* Narrow pixels begin .. end - 1 of a row, for which kx first .. last - 1 are inside. */
static void run_few_pixels(const weights_job *job, int64_t ky, int64_t begin, int64_t end,
                           int64_t first, int64_t last) {
    const leat_conv *conv = job->conv;
    const int64_t kernel = conv->kernel, width = job->panels * job->panel;
    const int64_t rows = (last - first) * job->rows, blocks = leat_block_count(job->device, rows);
    int64_t a_tap[LEAT_TILE_TAPS_MAX], b_tap[LEAT_TILE_TAPS_MAX];
    leat_tile tile = {.columns = (int)job->panel,
                      .taps = (int)(end - begin),
                      .depth = job->images,
                      .a_tap = a_tap,
                      .b_tap = b_tap,
                      .across = true,
                      .a_step = job->lanes,
                      .b_step = job->panel,
                      .c_step = width,
                      .add = true};
    for (int64_t pixel = begin; pixel < end; pixel++) {
        a_tap[pixel - begin] = wide_pixel(conv, pixel, ky, first) * job->rows * job->lanes;
        b_tap[pixel - begin] = pixel * width * job->images;
    }
    for (int64_t panel = 0; panel < job->panels; panel++) {
        tile.b = job->column_work + panel * job->images * job->panel;
        for (int64_t block = 0; block < blocks; block++) {
            const int64_t row = leat_block_first(rows, blocks, block);
            tile.rows = (int)(leat_block_first(rows, blocks, block + 1) - row);
            tile.a = job->row_side + row * job->lanes;
            tile.c = job->gradient + ((ky * kernel + first) * job->rows + row) * width +
                     panel * job->panel;
            job->device->kernels->tile(&tile);
        }
    }
}

static void run_few(void *context, int64_t ky) {
    const weights_job *job = context;
    const leat_conv *conv = job->conv;
    const int64_t size = conv->kernel * job->rows * job->panels * job->panel;
    const int64_t most = leat_min((DEPTH - 1) / job->images + 1, LEAT_TILE_TAPS_MAX);
    if (!job->add) memset(job->gradient + ky * size, 0, sizeof(float) * (size_t)size);
    for (int64_t y = 0; y < conv->narrow_height; y++) {
        const int64_t wide = y * conv->stride - conv->padding + ky;
        if (wide < 0 || wide >= conv->wide_height) continue;
        for (int64_t x = 0, next; x < conv->narrow_width; x = next) {
            int64_t first, last, next_first, next_last;
            kx_range(conv, x, &first, &last);
            for (next = x + 1; next < conv->narrow_width && next - x < most; next++) {
                kx_range(conv, next, &next_first, &next_last);
                if (next_first != first || next_last != last) break;
            }
            const int64_t pixel = y * conv->narrow_width;
            if (first < last) run_few_pixels(job, ky, pixel + x, pixel + next, first, last);
        }
    }
}

/* ---- The op ------------------------------------------------------------------------------- */

leat_code leat_conv_weight_gradient(const leat_device *device, const leat_conv *conv,
                                    int64_t images, const float *wide, const float *narrow,
                                    const leat_conv_gradient *gradient, leat_error *err) {
    LEAT_TRY(leat_conv_check(conv, images, err));
    weights_job job;
    set_job(&job, device, conv, images);
    const int64_t values = leat_conv_gradient_count(conv);
    const int64_t work = leat_conv_work_count(device, conv, images);
    const int64_t wide_count = leat_conv_wide_count(conv, images);
    const int64_t narrow_count = leat_conv_narrow_count(conv, images);
    LEAT_ASSERT(leat_apart(gradient->values, values, gradient->work, work));
    LEAT_ASSERT(leat_apart(wide, wide_count, gradient->work, work) &&
                leat_apart(narrow, narrow_count, gradient->work, work));
    LEAT_ASSERT(leat_apart(wide, wide_count, gradient->values, values) &&
                leat_apart(narrow, narrow_count, gradient->values, values));
    job.add = gradient->add;
    job.gradient = gradient->values;
    job.row_side = job.wide_rows ? wide : narrow;
    job.column_side = job.wide_rows ? narrow : wide;
    job.column_work = gradient->work;
    LEAT_TRY(leat_device_run(device, job.column_pixels, pack_columns, &job, err));
    if (job.few) return leat_device_run(device, conv->kernel, run_few, &job, err);
    return leat_device_run(device, job.parts, run_part, &job, err);
}

void leat_conv_unpack_gradient(const leat_conv *conv, const float *gradient, float *weights) {
    weights_job job;
    const leat_device device = {.kernels = &leat_kernels_scalar};
    set_job(&job, &device, conv, 1);
    const int64_t from = leat_conv_gradient_count(conv), to = leat_conv_weight_count(conv);
    LEAT_ASSERT(leat_apart(gradient, from, weights, to));
    const int64_t taps = (int64_t)conv->kernel * conv->kernel, wide = conv->wide_channels;
    const int64_t width = padded_columns(job.columns);
    for (int64_t row = 0; row < job.rows; row++) {
        for (int64_t column = 0; column < job.columns; column++) {
            float *out =
                weights + (job.wide_rows ? column * wide + row : row * wide + column) * taps;
            for (int64_t tap = 0; tap < taps; tap++)
                out[tap] = gradient[(tap * job.rows + row) * width + column];
        }
    }
}
