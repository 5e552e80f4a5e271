/*
 * Products by tiles. A tile reads a in blocks of rows and b in panels of columns: in place where
 * their form allows it and c has few columns, or few rows, so that packing would cost more than it
 * saves; otherwise they are packed once, so that a tile reads contiguous memory. A panel of b whose
 * last columns are not there is packed unless its rows are padded. Parts of the pool are rectangles
 * of c, which go over k in steps whose panel of b fits into the first-level cache.
 */
#include "nn/ops/product.h"

#include "base/mem.h"

#include <string.h>

#define DEPTH 256     /* of a step: a panel of b is 16 or 32 KiB */
#define PART_ROWS 120 /* of c, about; a step of their a is 120 KiB */
#define PART_COLUMNS 256
#define FEW_ROWS 256    /* of c: b stays where it is, if its rows are rows of b */
#define SOME_ROWS 1024  /* of c: likewise, unless its rows are at such a step */
#define FEW_COLUMNS 512 /* of c: a stays where it is */
#define ALIASED 1024    /* rows at multiples of this step push each other out of the first cache */

typedef struct product_job {
    const leat_device *device;
    const leat_product *p;
    int64_t blocks, panel, panels;
    int64_t block_rows, larger; /* of a block; the first ones have one more */
    int64_t row_parts, column_parts;
    int64_t packed_from; /* the first panel of b that is packed */
    bool in_place;       /* a is not packed */
    float *a, *b;        /* [block][k][row], [panel from packed_from][k][column] */
} product_job;

static int64_t ceiling(int64_t a, int64_t b) { return (a + b - 1) / b; }

static void set_job(product_job *job, const leat_device *device, const leat_product *p) {
    *job = (product_job){.device = device, .p = p};
    job->blocks = leat_block_count(device, p->rows);
    job->block_rows = job->blocks == 0 ? 0 : p->rows / job->blocks;
    job->larger = job->blocks == 0 ? 0 : p->rows % job->blocks;
    job->panel = p->columns <= LEAT_LANES ? LEAT_LANES : device->kernels->tile_columns;
    job->panels = ceiling(p->columns, job->panel);
    const int64_t rows_most = p->b_step % ALIASED != 0 ? SOME_ROWS : FEW_ROWS;
    job->packed_from = p->b_padded ? job->panels : p->columns / job->panel;
    if (p->rows > rows_most || p->b_transposed) job->packed_from = 0;
    job->in_place = p->columns <= FEW_COLUMNS && p->a_step % ALIASED != 0;
    job->row_parts = ceiling(p->rows, PART_ROWS);
    job->column_parts = ceiling(p->columns, PART_COLUMNS);
}

static bool matrix_fits(int64_t rows, int64_t columns, bool transposed, int64_t step) {
    int64_t values;
    return rows >= 0 && columns >= 0 && step >= (transposed ? rows : columns) &&
           step <= LEAT_OP_VALUES_MAX &&
           leat_mul_size(transposed ? columns : rows, step, &values) &&
           values <= LEAT_OP_VALUES_MAX;
}

static bool fits(const leat_product *p) {
    const int64_t padded = leat_lanes(p->columns);
    return matrix_fits(p->rows, p->depth, p->a_transposed, p->a_step) &&
           matrix_fits(p->depth, p->b_padded ? padded : p->columns, p->b_transposed, p->b_step) &&
           matrix_fits(p->rows, p->c_padded ? padded : p->columns, false, p->c_step);
}

int64_t leat_product_work_count(const leat_device *device, const leat_product *product) {
    product_job job;
    if (!fits(product)) return -1;
    set_job(&job, device, product);
    return (job.in_place ? 0 : product->rows * product->depth) +
           (job.panels - job.packed_from) * job.panel * product->depth;
}

/* The first row of a block, as leat_block_first. */
static int64_t first_row(const product_job *job, int64_t block) {
    return block * job->block_rows + leat_min(block, job->larger);
}

/* The columns that a tile of this panel computes: of the last one, only as many as there are,
 * rounded up. */
static int64_t width_of(const product_job *job, int64_t panel) {
    return leat_min(job->panel, leat_lanes(job->p->columns - panel * job->panel));
}

/* One of the two that are multiplied: at(i, k), or at[k][i] if it is transposed. */
typedef struct factor {
    const float *at;
    int64_t step, depth;
    bool transposed;
} factor;

/* out[k][i] = in(first + i, k) for i < size, in steps of `width`. */
static void pack(const leat_kernels *kernels, factor in, int64_t first, int64_t size, float *out,
                 int64_t width) {
    if (!in.transposed) {
        kernels->transpose(size, in.depth, in.at + first * in.step, in.step, out, width);
        return;
    }
    for (int64_t k = 0; k < in.depth; k++)
        memcpy(out + k * width, in.at + k * in.step + first, sizeof *out * (size_t)size);
}

static void pack_part(void *context, int64_t part) {
    const product_job *job = context;
    const leat_product *p = job->p;
    if (part < job->blocks) {
        if (job->in_place) return;
        const int64_t first = first_row(job, part), size = first_row(job, part + 1) - first;
        pack(job->device->kernels, (factor){p->a, p->a_step, p->depth, p->a_transposed}, first,
             size, job->a + first * p->depth, size);
        return;
    }
    const int64_t panel = part - job->blocks, first = (panel + job->packed_from) * job->panel;
    const int64_t size = leat_min(job->panel, p->columns - first);
    const int64_t width = width_of(job, panel + job->packed_from);
    float *out = job->b + panel * job->panel * p->depth;
    if (size < width) memset(out, 0, sizeof *out * (size_t)(width * p->depth));
    pack(job->device->kernels, (factor){p->b, p->b_step, p->depth, !p->b_transposed}, first, size,
         out, width);
}

void leat_tile_edge(const leat_kernels *kernels, leat_tile tile, int64_t columns) {
    float edge[LEAT_TILE_ROWS_MAX * LEAT_TILE_COLUMNS_MAX];
    float *c = tile.c;
    const int64_t c_step = tile.c_step;
    tile.c = edge;
    tile.c_step = tile.columns;
    if (tile.add) memset(edge, 0, sizeof *edge * (size_t)(tile.rows * tile.columns));
    for (int row = 0; tile.add && row < tile.rows; row++)
        memcpy(edge + row * tile.columns, c + row * c_step, sizeof *c * (size_t)columns);
    kernels->tile(&tile);
    for (int row = 0; row < tile.rows; row++)
        memcpy(c + row * c_step, edge + row * tile.columns, sizeof *c * (size_t)columns);
}

/* The rows of a tile, after its last k. */
static void finish(const product_job *job, const leat_tile *tile, int64_t column) {
    const leat_product *p = job->p;
    const leat_kernels *kernels = job->device->kernels;
    const int64_t columns = leat_min(tile->columns, p->columns - column);
    const leat_finish of = {.bias = p->bias == NULL ? NULL : p->bias + column,
                            .slope = p->act == LEAT_ACT_LEAKY ? p->slope : 1};
    if (p->bias != NULL || p->act == LEAT_ACT_LEAKY)
        kernels->row_finish(&of, tile->rows, columns, tile->c_step, tile->c);
    for (int row = 0; p->act == LEAT_ACT_FUNCTION && row < tile->rows; row++) {
        float *c = tile->c + row * tile->c_step;
        kernels->map(p->function, columns, c, c);
    }
}

/* Where a tile finds the rows of a from `first` on, at k0. */
static void set_a(const product_job *job, leat_tile *tile, int64_t first, int64_t k0) {
    const leat_product *p = job->p;
    tile->across = job->in_place && !p->a_transposed;
    tile->a_step = job->in_place ? p->a_step : tile->rows;
    if (!job->in_place) tile->a = job->a + first * p->depth + k0 * tile->rows;
    else if (p->a_transposed) tile->a = p->a + k0 * p->a_step + first;
    else tile->a = p->a + first * p->a_step + k0;
}

/* Steps of k from outside, then panels, then blocks: a panel of b stays in the first-level cache.
 */
static void run_part(void *context, int64_t part) {
    const product_job *job = context;
    const leat_product *p = job->p;
    const int64_t row_part = part / job->column_parts, column_part = part % job->column_parts;
    const int64_t block0 = leat_block_first(job->blocks, job->row_parts, row_part);
    const int64_t block1 = leat_block_first(job->blocks, job->row_parts, row_part + 1);
    const int64_t panel0 = leat_block_first(job->panels, job->column_parts, column_part);
    const int64_t panel1 = leat_block_first(job->panels, job->column_parts, column_part + 1);
    static const int64_t none = 0;
    leat_tile tile = {.taps = 1, .a_tap = &none, .b_tap = &none, .c_step = p->c_step};
    int64_t k0 = 0;
    do {
        tile.depth = leat_min(DEPTH, p->depth - k0);
        tile.add = p->add || k0 > 0;
        for (int64_t panel = panel0; panel < panel1; panel++) {
            const int64_t column = panel * job->panel;
            const bool packed = panel >= job->packed_from;
            tile.columns = (int)width_of(job, panel);
            tile.b_step = packed ? tile.columns : p->b_step;
            tile.b = packed ? job->b + (column - job->packed_from * job->panel) * p->depth
                            : p->b + column;
            tile.b += k0 * tile.b_step;
            for (int64_t block = block0; block < block1; block++) {
                const int64_t first = first_row(job, block);
                tile.rows = (int)(first_row(job, block + 1) - first);
                set_a(job, &tile, first, k0);
                tile.c = p->c + first * p->c_step + column;
                if (p->c_padded || p->columns - column >= tile.columns)
                    job->device->kernels->tile(&tile);
                else leat_tile_edge(job->device->kernels, tile, p->columns - column);
                if (k0 + DEPTH >= p->depth) finish(job, &tile, column);
            }
        }
        k0 += DEPTH;
    } while (k0 < p->depth);
}

/* From the first to the last value of a matrix. */
static int64_t extent(int64_t rows, int64_t columns, bool transposed, int64_t step) {
    if (rows == 0 || columns == 0) return 0;
    return transposed ? (columns - 1) * step + rows : (rows - 1) * step + columns;
}

/* c overlaps nothing, and the work space neither. */
static void check_overlap(const leat_device *device, const leat_product *p, const float *work) {
    const int64_t a = extent(p->rows, p->depth, p->a_transposed, p->a_step);
    const int64_t padded = leat_lanes(p->columns);
    const int64_t b =
        extent(p->depth, p->b_padded ? padded : p->columns, p->b_transposed, p->b_step);
    const int64_t c = extent(p->rows, p->c_padded ? padded : p->columns, false, p->c_step);
    LEAT_ASSERT(!p->b_padded || !p->b_transposed);
    const int64_t work_count = leat_product_work_count(device, p);
    LEAT_ASSERT(leat_apart(p->a, a, p->c, c) && leat_apart(p->b, b, p->c, c));
    LEAT_ASSERT(leat_apart(p->bias, p->columns, p->c, c));
    LEAT_ASSERT(leat_apart(work, work_count, p->c, c));
    LEAT_ASSERT(leat_apart(work, work_count, p->a, a) && leat_apart(work, work_count, p->b, b));
}

leat_code leat_product_run(const leat_device *device, const leat_product *product, float *work,
                           leat_error *err) {
    const leat_product *p = product;
    product_job job;
    if (!fits(p))
        return leat_fail(err, LEAT_ERR_OPTION,
                         "matrix product of %lld x %lld by %lld x %lld with rows at steps of %lld, "
                         "%lld and %lld: sizes must not be negative, steps not smaller than a row, "
                         "and no matrix may have more than 2^40 values",
                         (long long)p->rows, (long long)p->depth, (long long)p->depth,
                         (long long)p->columns, (long long)p->a_step, (long long)p->b_step,
                         (long long)p->c_step);
    check_overlap(device, p, work);
    LEAT_ASSERT(p->act == LEAT_ACT_NONE || (p->act == LEAT_ACT_LEAKY && p->slope >= 0) ||
                (p->act == LEAT_ACT_FUNCTION && leat_is_function(p->function)));
    set_job(&job, device, p);
    LEAT_ASSERT(job.packed_from >= 0 && job.packed_from <= job.panels);
    job.a = work;
    job.b = job.in_place ? work : work + p->rows * p->depth;
    if (p->rows == 0 || p->columns == 0) return LEAT_OK;
    LEAT_TRY(
        leat_device_run(device, job.blocks + job.panels - job.packed_from, pack_part, &job, err));
    return leat_device_run(device, job.row_parts * job.column_parts, run_part, &job, err);
}
