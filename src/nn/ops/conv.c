/*
 * Convolutions as products: for an output pixel, a matrix of weights (output channels x summed
 * channels) times the matrix (summed channels x images) that lies at each input pixel, for all
 * taps. Pixels that have the same taps form a class: one class if we go down, stride^2 if we go up.
 *
 * Order of the loops, from outside: groups of taps whose weights fit into a part of the
 * second-level cache; pixels of the class; steps of at most DEPTH multiply-adds a chain, whose rows
 * of input fit into the first-level cache; blocks of output channels. A chain is continued from the
 * stored value.
 */
#include "nn/ops/conv.h"

#include "base/mem.h"

#define DEPTH 256                       /* multiply-adds of a chain in one call of a tile */
#define GROUP_FLOATS (INT64_C(1) << 17) /* 512 KiB of weights */

_Static_assert(LEAT_CONV_KERNEL_MAX *LEAT_CONV_KERNEL_MAX <= LEAT_TILE_TAPS_MAX,
               "all taps of a pixel fit into one tile");

/* ---- Geometry ----------------------------------------------------------------------------- */

static leat_code complete(const leat_conv *conv, const char *name, int *wide, int *narrow,
                          leat_error *err) {
    if (*wide == 0 && *narrow > 0 && *narrow <= LEAT_CONV_SIZE_MAX) {
        int64_t size = (int64_t)(*narrow - 1) * conv->stride - 2 * conv->padding + conv->kernel;
        if (size < 1 || size > LEAT_CONV_SIZE_MAX)
            return leat_fail(
                err, LEAT_ERR_OPTION,
                "transposed convolution of %s %d with kernel %d, stride %d, padding %d "
                "gives %lld; it must be 1 to %d",
                name, *narrow, conv->kernel, conv->stride, conv->padding, (long long)size,
                LEAT_CONV_SIZE_MAX);
        *wide = (int)size;
    }
    if (*wide < 1 || *wide > LEAT_CONV_SIZE_MAX)
        return leat_fail(err, LEAT_ERR_OPTION, "convolution: %s %d; it must be 1 to %d", name,
                         *wide, LEAT_CONV_SIZE_MAX);
    int64_t room = (int64_t)*wide + 2 * conv->padding - conv->kernel;
    int64_t size = room < 0 ? 0 : room / conv->stride + 1;
    if (*narrow == 0) *narrow = (int)size;
    if (size < 1 || size != *narrow)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "convolution: %s %d with kernel %d, stride %d, padding %d gives %lld, "
                         "not %d",
                         name, *wide, conv->kernel, conv->stride, conv->padding, (long long)size,
                         *narrow);
    return LEAT_OK;
}

/* One dimension of a geometry that leat_conv_complete has made. */
static void check_side(const leat_conv *conv, int wide, int narrow) {
    const int room = wide + 2 * conv->padding - conv->kernel;
    LEAT_ASSERT(conv->stride >= 1 && room >= 0 && narrow == room / conv->stride + 1);
}

leat_code leat_conv_complete(leat_conv *conv, leat_error *err) {
    const struct {
        const char *name;
        int value, least, most;
    } checks[] = {
        {"kernel", conv->kernel, 1, LEAT_CONV_KERNEL_MAX},
        {"stride", conv->stride, 1, LEAT_CONV_KERNEL_MAX},
        {"padding", conv->padding, 0, LEAT_CONV_KERNEL_MAX},
        {"number of channels", conv->wide_channels, 1, LEAT_CONV_SIZE_MAX},
        {"number of channels", conv->narrow_channels, 1, LEAT_CONV_SIZE_MAX},
    };
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        if (checks[i].value < checks[i].least || checks[i].value > checks[i].most)
            return leat_fail(err, LEAT_ERR_OPTION, "convolution: %s %d; it must be %d to %d",
                             checks[i].name, checks[i].value, checks[i].least, checks[i].most);
    }
    LEAT_TRY(complete(conv, "height", &conv->wide_height, &conv->narrow_height, err));
    LEAT_TRY(complete(conv, "width", &conv->wide_width, &conv->narrow_width, err));
    if (leat_conv_weight_count(conv) > LEAT_OP_VALUES_MAX)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "convolution: %d x %d channels with kernel %d: more "
                         "than 2^40 weights",
                         conv->narrow_channels, conv->wide_channels, conv->kernel);
    return LEAT_OK;
}

int64_t leat_conv_weight_count(const leat_conv *conv) {
    return (int64_t)conv->narrow_channels * conv->wide_channels * conv->kernel * conv->kernel;
}

/* INT64_MAX if there are more than fit, which leat_conv_check refuses. */
static int64_t count(int channels, int height, int width, int64_t images) {
    int64_t values = 0;
    if (!leat_mul_size((int64_t)channels * height, width, &values) ||
        !leat_mul_size(values, leat_lanes(images), &values))
        return INT64_MAX;
    return values;
}

int64_t leat_conv_wide_count(const leat_conv *conv, int64_t images) {
    return count(conv->wide_channels, conv->wide_height, conv->wide_width, images);
}

int64_t leat_conv_narrow_count(const leat_conv *conv, int64_t images) {
    return count(conv->narrow_channels, conv->narrow_height, conv->narrow_width, images);
}

leat_code leat_conv_check(const leat_conv *conv, int64_t images, leat_error *err) {
    if (images < 1 || images > LEAT_CONV_IMAGES_MAX)
        return leat_fail(err, LEAT_ERR_OPTION, "convolution: %lld images; they must be 1 to %d",
                         (long long)images, LEAT_CONV_IMAGES_MAX);
    if (leat_conv_wide_count(conv, images) > LEAT_OP_VALUES_MAX ||
        leat_conv_narrow_count(conv, images) > LEAT_OP_VALUES_MAX)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "convolution: %lld images of %d x %d x %d and %d x %d x %d: more than "
                         "2^40 values",
                         (long long)images, conv->wide_height, conv->wide_width,
                         conv->wide_channels, conv->narrow_height, conv->narrow_width,
                         conv->narrow_channels);
    LEAT_ASSERT(conv->kernel >= 1 && conv->kernel <= LEAT_CONV_KERNEL_MAX);
    check_side(conv, conv->wide_height, conv->narrow_height);
    check_side(conv, conv->wide_width, conv->narrow_width);
    return LEAT_OK;
}

/* ---- Packing ------------------------------------------------------------------------------ */

/* packed[tap][block of rows][depth][row of the block]; a row is an output channel. */
static void pack(const leat_device *device, const leat_conv *conv, bool up, const float *weights,
                 float *packed) {
    const int taps = conv->kernel * conv->kernel;
    const int64_t rows = up ? conv->wide_channels : conv->narrow_channels;
    const int64_t depth = up ? conv->narrow_channels : conv->wide_channels;
    const int64_t row_step = up ? taps : (int64_t)conv->wide_channels * taps;
    const int64_t depth_step = up ? (int64_t)conv->wide_channels * taps : taps;
    const int64_t blocks = leat_block_count(device, rows);
    for (int64_t block = 0; block < blocks; block++) {
        const int64_t first = leat_block_first(rows, blocks, block);
        const int64_t size = leat_block_first(rows, blocks, block + 1) - first;
        for (int64_t k = 0; k < depth; k++) {
            for (int64_t r = 0; r < size; r++) {
                const float *in = weights + (first + r) * row_step + k * depth_step;
                float *out = packed + first * depth + k * size + r;
                for (int tap = 0; tap < taps; tap++) out[tap * rows * depth] = in[tap];
            }
        }
    }
}

/*
 * Few channels leave a tile with too few chains, each of them waiting for the last multiply-add.
 * Going up, the output pixels of a row that are next to each other, `stride` of them, read the same
 * input pixels, so their channels are the rows of one tile. The number of such pixels, or 1.
 */
static int merged_pixels(const leat_device *device, const leat_conv *conv, bool up) {
    const bool fit = (int64_t)conv->stride * conv->wide_channels <= device->kernels->tile_rows;
    return up && fit && conv->kernel % conv->stride == 0 ? conv->stride : 1;
}

/* packed[ky][kx / stride][depth][kx % stride][channel] */
static void pack_merged(const leat_conv *conv, const float *weights, float *packed) {
    const int kernel = conv->kernel, stride = conv->stride;
    const int64_t depth = conv->narrow_channels, channels = conv->wide_channels;
    for (int64_t k = 0; k < depth; k++) {
        for (int64_t channel = 0; channel < channels; channel++) {
            for (int tap = 0; tap < kernel * kernel; tap++) {
                const int64_t of = tap / kernel * (kernel / stride) + tap % kernel / stride;
                const int64_t row = tap % stride * channels + channel;
                packed[(of * depth + k) * stride * channels + row] = *weights++;
            }
        }
    }
}

static void check_packed(const leat_conv *conv, const float *weights, const float *packed) {
    const int64_t count = leat_conv_weight_count(conv);
    LEAT_ASSERT(leat_apart(weights, count, packed, count));
}

void leat_conv_pack_down(const leat_device *device, const leat_conv *conv, const float *weights,
                         float *packed) {
    check_packed(conv, weights, packed);
    pack(device, conv, false, weights, packed);
}

void leat_conv_pack_up(const leat_device *device, const leat_conv *conv, const float *weights,
                       float *packed) {
    check_packed(conv, weights, packed);
    if (merged_pixels(device, conv, true) > 1) pack_merged(conv, weights, packed);
    else pack(device, conv, true, weights, packed);
}

/* ---- Down and up -------------------------------------------------------------------------- */

typedef struct conv_job {
    const leat_device *device;
    const leat_conv *conv;
    bool up;
    const float *packed, *in;
    float *out;
    int64_t lanes, rows, depth, blocks;
    int merge;           /* pixels of a tile; if above 1, x counts groups of them */
    int64_t class_parts; /* parts of each class */
} conv_job;

/* The taps of a class of output pixels: those with y = y0 + i * y_step, x likewise. */
typedef struct conv_class {
    int taps;
    int ky[LEAT_TILE_TAPS_MAX], kx[LEAT_TILE_TAPS_MAX];
    int y0, x0, y_step, x_step, height, width; /* of the class: height x width pixels */
} conv_class;

static void set_class(const conv_job *job, int64_t index, conv_class *out) {
    const leat_conv *conv = job->conv;
    const int step = job->up ? conv->stride : 1, x_classes = step / job->merge;
    const int cy = (int)(index / x_classes), cx = (int)(index % x_classes);
    const int height = job->up ? conv->wide_height : conv->narrow_height;
    const int width = job->up ? conv->wide_width : conv->narrow_width;
    /* the first pixel whose taps begin with cy, cx: (y + padding) % stride == cy */
    const int shift = job->up ? conv->padding % step : 0;
    *out = (conv_class){.y_step = step, .x_step = x_classes};
    out->y0 = (cy + step - shift) % step;
    out->height = out->y0 < height ? (height - out->y0 + step - 1) / step : 0;
    if (job->merge > 1) { /* group x: pixels x * stride - padding and those that follow */
        out->width = (width - 1 + conv->padding) / step + 1;
    } else {
        out->x0 = (cx + step - shift) % step;
        out->width = out->x0 < width ? (width - out->x0 + step - 1) / step : 0;
    }
    for (int ky = cy; ky < conv->kernel; ky += step) {
        for (int kx = cx; kx < conv->kernel; kx += step) {
            out->ky[out->taps] = ky;
            out->kx[out->taps++] = kx;
        }
    }
}

/* The input coordinate of an output coordinate and a tap, or -1 outside. */
static int coordinate(const conv_job *job, int out, int tap, int size) {
    const leat_conv *conv = job->conv;
    int in = job->up ? out + conv->padding - tap : out * conv->stride - conv->padding + tap;
    if (in < 0) return -1;
    if (job->up) in /= conv->stride; /* the class makes it a multiple */
    return in < size ? in : -1;
}

/* The same for x, which may count groups. */
static int x_coordinate(const conv_job *job, int out, int tap, int size) {
    if (job->merge == 1) return coordinate(job, out, tap, size);
    const int in = out - tap / job->conv->stride;
    return in < size ? in : -1;
}

/* Offsets of the input pixels and of the weights of taps first .. last - 1; their number. */
static int find_taps(const conv_job *job, const conv_class *class, int y, int x, int first,
                     int last, int64_t *a_tap, int64_t *b_tap) {
    const leat_conv *conv = job->conv;
    const int height = job->up ? conv->narrow_height : conv->wide_height;
    const int width = job->up ? conv->narrow_width : conv->wide_width;
    int found = 0;
    for (int i = first; i < last; i++) {
        const int iy = coordinate(job, y, class->ky[i], height);
        const int ix = x_coordinate(job, x, class->kx[i], width);
        if (iy < 0 || ix < 0) continue;
        a_tap[found] = (class->ky[i] * conv->kernel + class->kx[i]) / job->merge * job->rows *
                       job->depth * job->merge;
        b_tap[found++] = ((int64_t)iy * width + ix) * job->depth * job->lanes;
    }
    return found;
}

/* Steps first .. last - 1 of an output pixel: a step is taps_of_step taps, or a piece of one tap.
 */
typedef struct conv_steps {
    int taps_of_step;
    int64_t pieces; /* of the depth; more than 1 only if taps_of_step is 1 */
    int64_t first, last;
} conv_steps;

/* An output pixel, or a group of them. */
typedef struct conv_pixel {
    int y, x;
    int64_t first_row, rows; /* of a group: those of the pixels that exist */
    float *out;
} conv_pixel;

static void set_pixel(const conv_job *job, const conv_class *class, int64_t index,
                      conv_pixel *out) {
    const leat_conv *conv = job->conv;
    const int width = job->up ? conv->wide_width : conv->narrow_width;
    out->y = class->y0 + (int)(index / class->width) * class->y_step;
    out->x = class->x0 + (int)(index % class->width) * class->x_step;
    int column = out->x;
    if (job->merge > 1) {
        const int first = out->x * conv->stride - conv->padding;
        column = first < 0 ? 0 : first;
        const int end = first + job->merge < width ? first + job->merge : width;
        out->first_row = (column - first) * job->rows;
        out->rows = (end - column) * job->rows;
        LEAT_ASSERT(out->first_row + out->rows <= job->merge * job->rows);
    }
    out->out = job->out + ((int64_t)out->y * width + column) * job->rows * job->lanes;
}

static void run_blocks(const conv_job *job, leat_tile *tile, int64_t k0, const conv_pixel *pixel) {
    const leat_kernels *kernels = job->device->kernels;
    const int64_t wide = leat_min(kernels->tile_columns, job->lanes);
    for (int64_t column = 0; column < job->lanes; column += wide) {
        tile->columns = (int)leat_min(wide, job->lanes - column);
        tile->b = job->in + k0 * job->lanes + column;
        if (job->merge > 1) {
            tile->rows = (int)pixel->rows;
            tile->a_step = job->rows * job->merge;
            tile->a = job->packed + k0 * tile->a_step + pixel->first_row;
            tile->c = pixel->out + column;
            kernels->tile(tile);
            continue;
        }
        for (int64_t block = 0; block < job->blocks; block++) {
            const int64_t first = leat_block_first(job->rows, job->blocks, block);
            tile->rows = (int)(leat_block_first(job->rows, job->blocks, block + 1) - first);
            tile->a_step = tile->rows;
            tile->a = job->packed + first * job->depth + k0 * tile->rows;
            tile->c = pixel->out + first * job->lanes + column;
            kernels->tile(tile);
        }
    }
}

static void run_pixel(const conv_job *job, const conv_class *class, const conv_steps *steps,
                      const conv_pixel *pixel) {
    const int y = pixel->y, x = pixel->x;
    int64_t a_tap[LEAT_TILE_TAPS_MAX], b_tap[LEAT_TILE_TAPS_MAX];
    const int64_t piece = (job->depth + steps->pieces - 1) / steps->pieces;
    leat_tile tile = {.a_tap = a_tap, .b_tap = b_tap, .b_step = job->lanes, .c_step = job->lanes};
    for (int64_t step = steps->first; step < steps->last; step++) {
        const int first = (int)(step / steps->pieces) * steps->taps_of_step;
        const int last = (int)leat_min(first + steps->taps_of_step, class->taps);
        const int64_t k0 = step % steps->pieces * piece;
        tile.depth = leat_min(piece, job->depth - k0);
        tile.add = k0 > 0 || find_taps(job, class, y, x, 0, first, a_tap, b_tap) > 0;
        tile.taps = find_taps(job, class, y, x, first, last, a_tap, b_tap);
        /* the first step of a pixel writes, even if it has nothing to add */
        if (tile.taps > 0 || (step == 0)) run_blocks(job, &tile, k0, pixel);
    }
}

static void run_part(void *context, int64_t part) {
    const conv_job *job = context;
    conv_class class;
    set_class(job, part / job->class_parts, &class);
    const int64_t pixels = (int64_t) class.height * class.width, piece = part % job->class_parts;
    const int64_t begin = pixels * piece / job->class_parts;
    const int64_t end = pixels * (piece + 1) / job->class_parts;
    conv_steps steps = {.taps_of_step = (int)(DEPTH / job->depth), .pieces = 1};
    if (steps.taps_of_step < 1) steps.taps_of_step = 1;
    if (job->depth > DEPTH) steps.pieces = (job->depth + DEPTH - 1) / DEPTH;
    int64_t all = (class.taps + steps.taps_of_step - 1) / steps.taps_of_step * steps.pieces;
    if (all == 0) all = 1; /* without taps: zeros */
    const int64_t group =
        GROUP_FLOATS / (job->rows * leat_min(DEPTH, job->depth * steps.taps_of_step)) + 1;
    do {
        steps.last = leat_min(steps.first + group, all);
        for (int64_t i = begin; i < end; i++) {
            conv_pixel pixel = {0};
            set_pixel(job, &class, i, &pixel);
            if (job->merge == 1 || pixel.rows > 0) run_pixel(job, &class, &steps, &pixel);
        }
        steps.first = steps.last;
    } while (steps.first < all);
}

static leat_code run_conv(const leat_device *device, const leat_conv *conv, bool up, int64_t images,
                          const float *packed, const float *in, float *out, leat_error *err) {
    LEAT_TRY(leat_conv_check(conv, images, err));
    const int64_t wide = leat_conv_wide_count(conv, images);
    const int64_t narrow = leat_conv_narrow_count(conv, images);
    LEAT_ASSERT(leat_apart(in, up ? narrow : wide, out, up ? wide : narrow));
    const int64_t weights = leat_conv_weight_count(conv);
    LEAT_ASSERT(leat_apart(packed, weights, out, up ? wide : narrow));
    conv_job job = {
        .device = device, .conv = conv, .up = up, .packed = packed, .in = in, .out = out};
    job.lanes = leat_lanes(images);
    job.rows = up ? conv->wide_channels : conv->narrow_channels;
    job.depth = up ? conv->narrow_channels : conv->wide_channels;
    job.blocks = leat_block_count(device, job.rows);
    job.merge = merged_pixels(device, conv, up);
    LEAT_ASSERT(job.merge == 1 || job.merge * job.rows <= device->kernels->tile_rows);
    const int64_t pixels = up ? (int64_t)conv->wide_height * conv->wide_width
                              : (int64_t)conv->narrow_height * conv->narrow_width;
    const int64_t classes = up ? (int64_t)conv->stride * conv->stride / job.merge : 1;
    const int64_t threads = device->pool == NULL ? 1 : leat_pool_threads(device->pool);
    job.class_parts = leat_min(pixels / classes + 1, threads == 1 ? 1 : 4 * threads);
    return leat_device_run(device, classes * job.class_parts, run_part, &job, err);
}

leat_code leat_conv_down(const leat_device *device, const leat_conv *conv, int64_t images,
                         const float *packed_down, const float *wide, float *narrow,
                         leat_error *err) {
    return run_conv(device, conv, false, images, packed_down, wide, narrow, err);
}

leat_code leat_conv_up(const leat_device *device, const leat_conv *conv, int64_t images,
                       const float *packed_up, const float *narrow, float *wide, leat_error *err) {
    return run_conv(device, conv, true, images, packed_up, narrow, wide, err);
}
