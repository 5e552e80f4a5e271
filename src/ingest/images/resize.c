/*
 * Resizing: see resize.h. Both passes are the same loop (weigh.h), over 16 bytes side by side:
 *
 *   rows       a band of 16 rows comes in; its bytes are exchanged, so that 16 rows of a column lie
 *              side by side
 *   columns    each resized column is a weighted sum of columns
 *   strip      the resized columns of the band; exchanged back
 *   lines      resized rows of the last bands, only as many as the next result row needs
 *   out        each result row is a weighted sum of lines
 */
#include "ingest/images/resize.h"

#include "ingest/images/weigh.h"

enum {
    LANES = LEAT_WEIGH_LANES,
    /* The sum that rounds to a byte stays exact up to this many weights, see leat_weigh_fn. */
    WEIGHTS_MAX = 16448,
};

/* The weights of one result pixel. */
typedef struct span {
    int32_t first, count; /* input pixels */
    int64_t at;           /* in `weights` */
} span;

typedef struct axis_table {
    leat_resize_axis axis;
    span *spans;       /* [size] */
    uint32_t *weights; /* of all spans, an even number each */
    int64_t capacity;
    int32_t longest; /* span */
} axis_table;

struct leat_resize {
    int32_t size;
    int32_t pitch; /* bytes of a resized row, a multiple of LANES */
    bool plain;
    axis_table x, y;
    uint8_t *columns; /* [input columns, 3, LANES] */
    int64_t columns_capacity;
    uint8_t *strip; /* [pitch, LANES] */
    uint8_t *lines; /* [line_capacity, pitch] */
    int64_t lines_capacity;
    /* of the picture */
    int32_t row;         /* that comes next */
    int32_t line, count; /* input row of the first line, and how many there are */
    int32_t next;        /* result row */
    uint8_t *out;
};

/* ---- sides ---------------------------------------------------------------------------------- */

/* Half of an odd rest goes to the even side, as Python's round() does. */
static int32_t crop_offset(int32_t rest) {
    int32_t half = rest / 2;
    return rest % 2 == 1 && half % 2 == 1 ? half + 1 : half;
}

void leat_resize_axes(int32_t size, int32_t width, int32_t height, leat_resize_axis axes[2]) {
    const int64_t sides[2] = {width, height}, shorter = width < height ? width : height;
    for (int i = 0; i < 2; i++) {
        int64_t whole = sides[i] * size / shorter;
        axes[i] = (leat_resize_axis){(int32_t)sides[i], (int32_t)whole,
                                     crop_offset((int32_t)whole - size)};
    }
}

/* Weights of a pixel of the resized side, in Pillow's order of operations; returns how many. */
static int32_t weigh_pixel(const leat_resize_axis *axis, int32_t pixel, int32_t *first,
                           double *weights) {
    const double scale = (double)axis->in / axis->whole, support = scale < 1 ? 1 : scale;
    const double center = (pixel + 0.5) * scale, inverse = 1.0 / support;
    int32_t begin = (int32_t)(center - support + 0.5), end = (int32_t)(center + support + 0.5);
    if (begin < 0) begin = 0;
    if (end > axis->in) end = axis->in;
    double sum = 0;
    for (int32_t i = begin; i < end; i++) {
        double far = (i - center + 0.5) * inverse;
        if (far < 0) far = -far;
        weights[i - begin] = far < 1 ? 1 - far : 0;
        sum += weights[i - begin];
    }
    for (int32_t i = begin; sum != 0 && i < end; i++) weights[i - begin] /= sum;
    *first = begin;
    return end - begin;
}

/* At most so many weights belong to a pixel. */
static int32_t span_most(const leat_resize_axis *axis) {
    int32_t scale = (axis->in + axis->whole - 1) / axis->whole;
    return 2 * (scale < 1 ? 1 : scale) + 2;
}

static leat_code fill_axis(axis_table *table, int32_t size, bool plain, leat_error *err) {
    const int32_t most = span_most(&table->axis);
    double *weights = NULL;
    LEAT_ASSERT(most <= WEIGHTS_MAX);
    LEAT_TRY(LEAT_GROW(&table->weights, &table->capacity, (int64_t)size * most, err));
    LEAT_TRY(LEAT_NEW(&weights, most, err));
    int64_t at = 0;
    table->longest = 0;
    for (int32_t i = 0; i < size; i++) {
        span *it = &table->spans[i];
        it->at = at;
        it->count = weigh_pixel(&table->axis, table->axis.skip + i, &it->first, weights);
        for (int32_t t = 0; t < it->count; t++)
            table->weights[at++] = (uint32_t)(0.5 + weights[t] * (1 << LEAT_WEIGH_BITS));
        if (it->count % 2 == 1) table->weights[at++] = 0;
        if (it->count > table->longest) table->longest = it->count;
    }
    leat_free(weights);
#if defined(__SSE2__)
    if (!plain) leat_weigh_sse2_pack(table->weights, (int32_t)at);
#else
    (void)plain;
#endif
    return LEAT_OK;
}

/* Input pixels from the first to the end of the last span. */
static int32_t axis_begin(const axis_table *table) { return table->spans[0].first; }
static int32_t axis_end(const axis_table *table, int32_t size) {
    return table->spans[size - 1].first + table->spans[size - 1].count;
}

/* ---- life ----------------------------------------------------------------------------------- */

leat_code leat_resize_create(leat_resize **out, int32_t size, leat_error *err) {
    leat_resize *resize = NULL;
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&resize, 1, err));
    resize->size = size;
    resize->pitch = (size * 3 + LANES - 1) / LANES * LANES;
    leat_code code = LEAT_NEW(&resize->x.spans, size, err);
    if (code == LEAT_OK) code = LEAT_NEW(&resize->y.spans, size, err);
    if (code == LEAT_OK) code = LEAT_NEW(&resize->strip, (int64_t)resize->pitch * LANES, err);
    if (code == LEAT_OK) *out = resize;
    else leat_resize_destroy(resize);
    return code;
}

void leat_resize_destroy(leat_resize *resize) {
    if (resize == NULL) return;
    leat_free(resize->x.spans);
    leat_free(resize->y.spans);
    leat_free(resize->x.weights);
    leat_free(resize->y.weights);
    leat_free(resize->columns);
    leat_free(resize->strip);
    leat_free(resize->lines);
    leat_free(resize);
}

void leat_resize_use_plain(leat_resize *resize, bool plain) {
    resize->plain = plain;
    resize->x.axis.in = 0; /* the tables are made again */
}

/* Bytes of the exchanged columns, with those that a last odd weight of 0 reads. */
static int64_t columns_bytes(int32_t columns) {
    return ((int64_t)columns + 1) * 3 * LANES + LANES * LANES;
}

static int64_t lines_needed(int32_t longest) { return 2 * (int64_t)longest + 2 * LANES; }

/* At most so many input pixels are in the spans of a side. */
static int32_t columns_most(const leat_resize_axis *axis, int32_t size) {
    int64_t middle = ((int64_t)size * axis->in + axis->whole - 1) / axis->whole;
    int64_t most = middle + span_most(axis);
    return (int32_t)(most < axis->in ? most : axis->in);
}

int64_t leat_resize_memory(int32_t size, int32_t width, int32_t height) {
    leat_resize_axis axes[2];
    leat_resize_axes(size, width, height, axes);
    int64_t pitch = size * 3 + LANES, bytes = pitch * LANES + 2 * size * (int64_t)sizeof(span);
    for (int i = 0; i < 2; i++) {
        int64_t most = span_most(&axes[i]);
        bytes += size * most * (int64_t)sizeof(uint32_t) + most * (int64_t)sizeof(double);
    }
    return bytes + columns_bytes(columns_most(&axes[0], size)) +
           lines_needed(span_most(&axes[1])) * pitch;
}

leat_code leat_resize_begin(leat_resize *resize, int32_t width, int32_t height, uint8_t *out,
                            leat_error *err) {
    leat_resize_axis axes[2];
    leat_resize_axes(resize->size, width, height, axes);
    if (resize->x.axis.in != width || resize->y.axis.in != height) {
        resize->x.axis.in = 0; /* until the tables are complete */
        resize->y.axis = axes[1];
        LEAT_TRY(fill_axis(&resize->y, resize->size, resize->plain, err));
        axis_table *x = &resize->x;
        x->axis = axes[0];
        leat_code code = fill_axis(x, resize->size, resize->plain, err);
        int64_t columns = code == LEAT_OK ? axis_end(x, resize->size) - axis_begin(x) : 0;
        if (code == LEAT_OK)
            code = LEAT_GROW(&resize->columns, &resize->columns_capacity,
                             columns_bytes((int32_t)columns), err);
        if (code == LEAT_OK)
            code = LEAT_GROW(&resize->lines, &resize->lines_capacity,
                             lines_needed(resize->y.longest) * resize->pitch, err);
        if (code != LEAT_OK) x->axis.in = 0;
        LEAT_TRY(code);
        memset(resize->columns, 0, (size_t)resize->columns_capacity);
        memset(resize->lines, 0, (size_t)resize->lines_capacity);
    }
    resize->row = resize->line = resize->count = resize->next = 0;
    resize->out = out;
    return LEAT_OK;
}

/* ---- the passes ----------------------------------------------------------------------------- */

static inline void weigh(const leat_resize *resize, const uint8_t *from, int64_t stride,
                         const axis_table *table, const span *it, uint8_t out[LANES]) {
    const int32_t count = it->count + it->count % 2;
#if defined(__SSE2__)
    if (!resize->plain) {
        leat_weigh_sse2(from, stride, table->weights + it->at, count, out);
        return;
    }
#else
    (void)resize;
#endif
    leat_weigh_plain(from, stride, table->weights + it->at, count, out);
}

static void exchange_block(const uint8_t *const rows[LANES], int64_t at, uint8_t *to) {
    leat_sixteen block[LANES];
    for (int r = 0; r < LANES; r++) memcpy(&block[r], rows[r] + at, LANES);
    leat_weigh_exchange(block);
    memcpy(to, block, sizeof block);
}

/* Where the columns end within a block, nothing after them is read. */
static void exchange_edge(const uint8_t *const rows[LANES], int64_t at, int64_t bytes,
                          uint8_t *to) {
    uint8_t edge[LANES][LANES] = {{0}};
    const uint8_t *in_edge[LANES];
    for (int r = 0; r < LANES; r++) {
        memcpy(edge[r], rows[r] + at, (size_t)bytes);
        in_edge[r] = edge[r];
    }
    exchange_block(in_edge, 0, to);
}

static void exchange_rows(leat_resize *resize, const uint8_t *rgb, int32_t count) {
    int64_t at = (int64_t)axis_begin(&resize->x) * 3;
    const int64_t end = (int64_t)axis_end(&resize->x, resize->size) * 3;
    const uint8_t *rows[LANES];
    uint8_t *to = resize->columns;
    for (int r = 0; r < LANES; r++) { /* those that are missing have no effect */
        int32_t row = r < count ? r : count - 1;
        rows[r] = rgb + (int64_t)row * resize->x.axis.in * 3;
    }
    for (; at + LANES <= end; at += LANES, to += LANES * LANES) exchange_block(rows, at, to);
    if (at < end) exchange_edge(rows, at, end - at, to);
}

static void resize_columns(leat_resize *resize) {
    const int32_t begin = axis_begin(&resize->x);
    for (int32_t i = 0; i < resize->size; i++) {
        const span *it = &resize->x.spans[i];
        const uint8_t *from = resize->columns + (int64_t)(it->first - begin) * 3 * LANES;
        uint8_t *to = resize->strip + (int64_t)i * 3 * LANES;
        for (int c = 0; c < 3; c++)
            weigh(resize, from + c * LANES, 3 * LANES, &resize->x, it, to + c * LANES);
    }
}

/* Lines before the next result row's first are not needed any more. */
static void make_room(leat_resize *resize) {
    if ((resize->count + LANES) * (int64_t)resize->pitch <= resize->lines_capacity) return;
    int32_t drop = resize->y.spans[resize->next].first - resize->line;
    LEAT_ASSERT(drop > 0 && drop <= resize->count);
    memmove(resize->lines, resize->lines + (int64_t)drop * resize->pitch,
            (size_t)(resize->count - drop) * (size_t)resize->pitch);
    resize->line += drop;
    resize->count -= drop;
}

static void add_lines(leat_resize *resize, int32_t rows) {
    leat_sixteen block[LANES];
    make_room(resize);
    uint8_t *to = resize->lines + (int64_t)resize->count * resize->pitch;
    for (int32_t at = 0; at < resize->pitch; at += LANES) {
        memcpy(block, resize->strip + (int64_t)at * LANES, sizeof block);
        leat_weigh_exchange(block);
        for (int r = 0; r < LANES; r++)
            memcpy(to + (int64_t)r * resize->pitch + at, &block[r], LANES);
    }
    resize->count += rows;
}

/* All result rows whose lines are there. */
static void resize_lines(leat_resize *resize) {
    const int32_t out_bytes = resize->size * 3;
    uint8_t sums[LANES];
    while (resize->next < resize->size) {
        const span *it = &resize->y.spans[resize->next];
        if (it->first + it->count > resize->line + resize->count) return;
        const uint8_t *from = resize->lines + (int64_t)(it->first - resize->line) * resize->pitch;
        uint8_t *to = resize->out + (int64_t)resize->next * out_bytes;
        for (int32_t at = 0; at < out_bytes; at += LANES) {
            int32_t left = out_bytes - at;
            weigh(resize, from + at, resize->pitch, &resize->y, it, sums);
            memcpy(to + at, sums, (size_t)(left < LANES ? left : LANES));
        }
        resize->next++;
    }
}

void leat_resize_rows(leat_resize *resize, const uint8_t *rgb, int32_t rows) {
    LEAT_ASSERT(rows >= 1 && rows <= LANES && resize->row + rows <= resize->y.axis.in);
    const bool above = resize->row + rows <= axis_begin(&resize->y);
    resize->row += rows;
    if (above || resize->next == resize->size) return;
    if (resize->count == 0) resize->line = resize->row - rows;
    exchange_rows(resize, rgb, rows);
    resize_columns(resize);
    add_lines(resize, rows);
    resize_lines(resize);
    LEAT_ASSERT(resize->row < resize->y.axis.in || resize->next == resize->size);
}
