/*
 * See attention.h. A part goes over the segments of its sequence. Tiles of keys are the outer loop:
 * their transposes are made once, and the output rows, in which the sums lie, are the accumulators.
 */
#include "nn/ops/attention.h"

#include <math.h>
#include <string.h>

#include "nn/ops/product.h"

enum { TILE = LEAT_ATTENTION_TILE, BLOCK = 16, WIDTH_MOST = LEAT_ATTENTION_WIDTH_MAX };
_Static_assert(TILE % BLOCK == 0 && BLOCK % LEAT_LANES == 0, "blocks are whole vectors");
_Static_assert(WIDTH_MOST % LEAT_TILE_COLUMNS_MAX == 0, "copies of rows have whole tiles");

typedef struct attention_job {
    const leat_device *device;
    const leat_attention *of;
    const leat_attention_gradient *gradient; /* NULL: forward */
    float *y;
    int64_t rows, q_step, kv_step, group; /* group: query heads of a key-value head */
    float scale;
} attention_job;

/* One segment of a sequence, with one key-value head. */
typedef struct segment_span {
    int64_t first, count; /* rows */
    int64_t kv;
} segment_span;

/* Work space of a part. */
typedef struct attention_buffers {
    float scores[TILE * TILE], ups[TILE * TILE];              /* [query][key] */
    float keys[WIDTH_MOST * TILE], values[WIDTH_MOST * TILE]; /* [column][key] */
    float copies[3][TILE * WIDTH_MOST]; /* [row][column], of heads that are not whole vectors */
} attention_buffers;
_Static_assert(sizeof(attention_buffers) < 256 * 1024, "a thread's stack");

/* ---- Products of tiles ---------------------------------------------------------------------- */

/* What pairs of queries and keys the same tile has: those of a block and the blocks before it. */
typedef enum diagonal {
    NONE,
    COLUMNS,    /* rows are queries, columns keys */
    DEPTH,      /* rows are queries, the sum goes over keys */
    DEPTH_FROM, /* rows are keys, the sum goes over queries */
} diagonal;

/* Of all of c: product of rows x depth by depth x columns. Rows of b, and those of c if it is
 * `padded`, have whole vectors. */
typedef struct tile_product {
    int64_t rows, columns, depth;
    const float *a, *b;
    int64_t a_step, b_step;
    bool across; /* a: [row][k], otherwise [k][row] */
    float *c;
    int64_t c_step;
    bool padded, add;
    diagonal cut;
} tile_product;

/* Rows first .. end - 1 of p, as many at a time as registers hold. */
static void run_rows(const leat_device *device, const tile_product *p, int64_t first, int64_t end) {
    static const int64_t none = 0;
    const int64_t panel = device->kernels->tile_columns;
    const int64_t from = p->cut == DEPTH_FROM ? first : 0;
    const int64_t to = p->cut == DEPTH ? leat_min(end, p->depth) : p->depth;
    const int64_t columns = p->cut == COLUMNS ? leat_min(end, p->columns) : p->columns;
    const int64_t blocks = leat_block_count(device, end - first);
    leat_tile tile = {.taps = 1,
                      .a_tap = &none,
                      .b_tap = &none,
                      .depth = to - from,
                      .a_step = p->a_step,
                      .b_step = p->b_step,
                      .c_step = p->c_step,
                      .add = p->add,
                      .across = p->across};
    for (int64_t column = 0; column < columns; column += panel) {
        tile.columns = (int)leat_min(panel, leat_lanes(columns - column));
        tile.b = p->b + from * p->b_step + column;
        for (int64_t block = 0; block < blocks; block++) {
            const int64_t row = first + leat_block_first(end - first, blocks, block);
            tile.rows = (int)(first + leat_block_first(end - first, blocks, block + 1) - row);
            tile.a = p->a + (p->across ? row * p->a_step + from : from * p->a_step + row);
            tile.c = p->c + row * p->c_step + column;
            if (p->padded || columns - column >= tile.columns) device->kernels->tile(&tile);
            else leat_tile_edge(device->kernels, tile, columns - column);
        }
    }
}

static void run_product(const leat_device *device, const tile_product *p) {
    if (p->cut == NONE) {
        run_rows(device, p, 0, p->rows);
        return;
    }
    for (int64_t row = 0; row < p->rows; row += BLOCK)
        run_rows(device, p, row, leat_min(row + BLOCK, p->rows));
}

/* ---- Rows of a head ------------------------------------------------------------------------- */

/* Rows of one head, where they lie or in a copy. */
typedef struct head_rows {
    const float *at;
    int64_t step;
} head_rows;

static int64_t query_head(const attention_job *job, const segment_span *span, int64_t member) {
    return span->kv * job->group + member;
}
static int64_t query_at(const attention_job *job, int64_t row, int64_t head) {
    return row * job->q_step + head * job->of->width;
}
static int64_t key_at(const attention_job *job, const segment_span *span, int64_t row) {
    return row * job->kv_step + span->kv * job->of->width;
}

/* Rows of which a tile reads whole vectors: they are copied if a head is not whole vectors, because
 * the last row of all may end before. */
static head_rows whole_rows(const attention_job *job, head_rows from, int64_t rows, float *copy) {
    const int64_t width = job->of->width, wide = leat_lanes(width);
    if (width == wide) return from;
    for (int64_t row = 0; row < rows; row++) {
        memcpy(copy + row * wide, from.at + row * from.step, sizeof *copy * (size_t)width);
        memset(copy + row * wide + width, 0, sizeof *copy * (size_t)(wide - width));
    }
    return (head_rows){copy, wide};
}

/* out[column][key]. Products read whole lanes of keys, of which those behind the last are +0. */
static void transpose_rows(const attention_job *job, head_rows from, int64_t rows, float *out) {
    const size_t behind = sizeof *out * (size_t)(leat_lanes(rows) - rows);
    for (int64_t c = 0; c < job->of->width && behind > 0; c++)
        memset(out + c * TILE + rows, 0, behind);
    job->device->kernels->transpose(rows, job->of->width, from.at, from.step, out, TILE);
}

/* Queries of one tile and keys of one, from the first row of a segment on. */
typedef struct tile_pair {
    int64_t query, rows; /* of queries */
    int64_t key, keys;
} tile_pair;

static tile_pair pair_of(const segment_span *span, int64_t key, int64_t query) {
    return (tile_pair){query, leat_min(TILE, span->count - query), key,
                       leat_min(TILE, span->count - key)};
}

/* If the tiles are the same, only pairs of a block and the blocks before it. */
static diagonal cut_of(const tile_pair *pair, diagonal cut) {
    return pair->key == pair->query ? cut : NONE;
}

/* scores = the products of rows of queries with keys, or what lies there, that were transposed. */
static void make_scores(const attention_job *job, const tile_pair *pair, head_rows queries,
                        const float *transposed, float *scores) {
    const tile_product p = {.rows = pair->rows,
                            .columns = pair->keys,
                            .depth = job->of->width,
                            .a = queries.at,
                            .a_step = queries.step,
                            .across = true,
                            .b = transposed,
                            .b_step = TILE,
                            .c = scores,
                            .c_step = TILE,
                            .padded = true,
                            .cut = cut_of(pair, COLUMNS)};
    run_product(job->device, &p);
}

/* Rows of queries at c = shares by rows of keys; from the second tile of keys on, added to them. */
static void add_to_queries(const attention_job *job, const tile_pair *pair, const float *shares,
                           head_rows keys, float *c) {
    const tile_product p = {.rows = pair->rows,
                            .columns = job->of->width,
                            .depth = pair->keys,
                            .a = shares,
                            .a_step = TILE,
                            .across = true,
                            .b = keys.at,
                            .b_step = keys.step,
                            .c = c,
                            .c_step = job->q_step,
                            .add = pair->key > 0,
                            .cut = cut_of(pair, DEPTH)};
    run_product(job->device, &p);
}

/* Rows of keys at c (+)= transposed shares by rows of queries. */
static void add_to_keys(const attention_job *job, const tile_pair *pair, const float *shares,
                        head_rows queries, bool add, float *c) {
    const tile_product p = {.rows = pair->keys,
                            .columns = job->of->width,
                            .depth = pair->rows,
                            .a = shares,
                            .a_step = TILE,
                            .b = queries.at,
                            .b_step = queries.step,
                            .c = c,
                            .c_step = job->kv_step,
                            .add = add,
                            .cut = cut_of(pair, DEPTH_FROM)};
    run_product(job->device, &p);
}

/* What the kernels between the products have of a head of a pair of tiles. */
static leat_attend attend_of(const attention_job *job, const segment_span *span,
                             const tile_pair *pair, int64_t head, attention_buffers *buffers) {
    const leat_attention *of = job->of;
    const int64_t at = (span->first + pair->query) * of->heads + head;
    return (leat_attend){.rows = (int)pair->rows,
                         .keys = pair->key == pair->query ? 1 : TILE,
                         .begin = pair->key == 0,
                         .scale = job->scale,
                         .scores = buffers->scores,
                         .heads = of->heads,
                         .most = of->most + at,
                         .sum = of->sum + at,
                         .width = of->width,
                         .step = job->q_step};
}

/* The end of sums. */
static void add_zero(int64_t rows, int64_t columns, int64_t step, float *x) {
    for (int64_t row = 0; row < rows; row++)
        for (int64_t c = 0; c < columns; c++) x[row * step + c] += 0.0f; /* -0 becomes +0 */
}
static void clear_row(float *x, int64_t columns) { memset(x, 0, sizeof *x * (size_t)columns); }

/* ---- Forward -------------------------------------------------------------------------------- */

static void forward_pair(const attention_job *job, const segment_span *span, const tile_pair *pair,
                         int64_t head, head_rows values, attention_buffers *buffers) {
    const int64_t at = query_at(job, span->first + pair->query, head);
    const head_rows queries = {job->of->q + at, job->q_step};
    leat_attend attend = attend_of(job, span, pair, head, buffers);
    attend.out = job->y + at;
    make_scores(job, pair, queries, buffers->keys, buffers->scores);
    job->device->kernels->attend(&attend);
    add_to_queries(job, pair, buffers->scores, values, attend.out);
    if (pair->key == pair->query) job->device->kernels->attend_end(&attend);
}

static void forward_segment(const attention_job *job, const segment_span *span,
                            attention_buffers *buffers) {
    for (int64_t key = 0; key < span->count; key += TILE) {
        const int64_t keys = leat_min(TILE, span->count - key);
        const int64_t at = key_at(job, span, span->first + key);
        transpose_rows(job, (head_rows){job->of->k + at, job->kv_step}, keys, buffers->keys);
        const head_rows values =
            whole_rows(job, (head_rows){job->of->v + at, job->kv_step}, keys, buffers->copies[0]);
        for (int64_t member = 0; member < job->group; member++) {
            for (int64_t query = key; query < span->count; query += TILE) {
                const tile_pair pair = pair_of(span, key, query);
                forward_pair(job, span, &pair, query_head(job, span, member), values, buffers);
            }
        }
    }
}

/* ---- Backward ------------------------------------------------------------------------------- */

/* A tile of keys: its rows, and where their gradients are. */
typedef struct key_tile {
    head_rows rows;
    float *d_keys, *d_values;
} key_tile;

static void backward_pair(const attention_job *job, const segment_span *span, const tile_pair *pair,
                          int64_t member, const key_tile *tile, attention_buffers *buffers) {
    const leat_attention *of = job->of;
    const leat_attention_gradient *g = job->gradient;
    const bool same = pair->key == pair->query, add = member > 0 || !same;
    const int64_t row = span->first + pair->query, head = query_head(job, span, member);
    const int64_t at = query_at(job, row, head);
    const head_rows queries = {of->q + at, job->q_step}, ups = {g->up + at, job->q_step};
    leat_attend attend = attend_of(job, span, pair, head, buffers);
    attend.delta = g->work + row * of->heads + head;
    make_scores(job, pair, queries, buffers->keys, buffers->scores);
    make_scores(job, pair, ups, buffers->values, buffers->ups);
    job->device->kernels->attend_back(&attend, buffers->ups);
    add_to_keys(job, pair, buffers->scores, whole_rows(job, ups, pair->rows, buffers->copies[1]),
                add, tile->d_values);
    add_to_keys(job, pair, buffers->ups, whole_rows(job, queries, pair->rows, buffers->copies[2]),
                add, tile->d_keys);
    add_to_queries(job, pair, buffers->ups, tile->rows, g->q + at);
    if (same) add_zero(pair->rows, of->width, job->q_step, g->q + at);
}

/* D of each row and head. */
static void make_deltas(const attention_job *job, const segment_span *span) {
    const leat_attention_gradient *g = job->gradient;
    for (int64_t row = span->first; row < span->first + span->count; row++) {
        for (int64_t member = 0; member < job->group; member++) {
            const int64_t head = query_head(job, span, member), at = query_at(job, row, head);
            g->work[row * job->of->heads + head] =
                job->device->kernels->row_dot(job->of->width, g->up + at, g->y + at);
        }
    }
}

static void backward_segment(const attention_job *job, const segment_span *span,
                             attention_buffers *buffers) {
    const int64_t width = job->of->width;
    make_deltas(job, span);
    for (int64_t key = 0; key < span->count; key += TILE) {
        const int64_t at = key_at(job, span, span->first + key);
        const head_rows keys = {job->of->k + at, job->kv_step};
        const head_rows values = {job->of->v + at, job->kv_step};
        const int64_t rows = leat_min(TILE, span->count - key);
        const key_tile tile = {whole_rows(job, keys, rows, buffers->copies[0]),
                               job->gradient->k + at, job->gradient->v + at};
        transpose_rows(job, keys, rows, buffers->keys);
        transpose_rows(job, values, rows, buffers->values);
        for (int64_t member = 0; member < job->group; member++) {
            for (int64_t query = key; query < span->count; query += TILE) {
                const tile_pair pair = pair_of(span, key, query);
                backward_pair(job, span, &pair, member, &tile, buffers);
            }
        }
        add_zero(rows, width, job->kv_step, tile.d_keys);
        add_zero(rows, width, job->kv_step, tile.d_values);
    }
}

/* ---- Both ----------------------------------------------------------------------------------- */

static void clear_padding(const attention_job *job, int64_t row, int64_t kv) {
    const int64_t columns = job->group * job->of->width, at = row * job->q_step + kv * columns;
    if (job->gradient == NULL) {
        clear_row(job->y + at, columns);
        return;
    }
    const segment_span span = {.kv = kv};
    clear_row(job->gradient->q + at, columns);
    clear_row(job->gradient->k + key_at(job, &span, row), job->of->width);
    clear_row(job->gradient->v + key_at(job, &span, row), job->of->width);
}

static void run_part(void *context, int64_t part) {
    const attention_job *job = context;
    const int32_t *segment = job->of->segment;
    const int64_t kv = part % job->of->kv_heads, first = part / job->of->kv_heads * job->of->length;
    const int64_t end = first + job->of->length;
    attention_buffers buffers;
    for (int64_t row = first, next; row < end; row = next) {
        next = row + 1;
        if (segment[row] == 0) {
            clear_padding(job, row, kv);
            continue;
        }
        while (next < end && segment[next] == segment[row]) next++;
        const segment_span span = {row, next - row, kv};
        if (job->gradient == NULL) forward_segment(job, &span, &buffers);
        else backward_segment(job, &span, &buffers);
    }
}

static attention_job job_of(const leat_device *device, const leat_attention *of) {
    LEAT_ASSERT(of->sequences >= 1 && of->length >= 1 && of->heads >= 1 && of->kv_heads >= 1);
    LEAT_ASSERT(of->heads % of->kv_heads == 0);
    LEAT_ASSERT(of->width >= 1 && of->width <= LEAT_ATTENTION_WIDTH_MAX);
    attention_job job = {.device = device, .of = of, .rows = of->sequences * of->length};
    job.q_step = leat_lanes(of->heads * of->width);
    job.kv_step = leat_lanes(of->kv_heads * of->width);
    job.group = of->heads / of->kv_heads;
    job.scale = (float)(1 / sqrt((double)of->width));
    LEAT_ASSERT(job.rows <= LEAT_OP_VALUES_MAX / job.q_step);
    return job;
}

/* Arrays of an op, each apart from those that are written, which come first. */
typedef struct op_array {
    const float *at;
    int64_t count;
} op_array;

static bool are_apart(int written, int count, const op_array *arrays) {
    for (int i = 0; i < written; i++)
        for (int k = i + 1; k < count; k++)
            if (!leat_apart(arrays[i].at, arrays[i].count, arrays[k].at, arrays[k].count))
                return false;
    return true;
}

leat_code leat_attention_forward(const leat_device *device, const leat_attention *of, float *y,
                                 leat_error *err) {
    attention_job job = job_of(device, of);
    const int64_t all = job.rows * job.q_step, keys = job.rows * job.kv_step;
    const int64_t heads = job.rows * of->heads;
    const op_array arrays[] = {{y, all},     {of->most, heads}, {of->sum, heads},
                               {of->q, all}, {of->k, keys},     {of->v, keys}};
    const bool outputs_apart = are_apart(3, 6, arrays);
    LEAT_ASSERT(outputs_apart);
    job.y = y;
    return leat_device_run(device, of->sequences * of->kv_heads, run_part, &job, err);
}

leat_code leat_attention_backward(const leat_device *device, const leat_attention *of,
                                  const leat_attention_gradient *gradient, leat_error *err) {
    attention_job job = job_of(device, of);
    const int64_t all = job.rows * job.q_step, keys = job.rows * job.kv_step;
    const int64_t heads = job.rows * of->heads;
    const leat_attention_gradient *g = gradient;
    const op_array gradients[] = {{g->q, all},      {g->k, keys},  {g->v, keys},  {g->work, heads},
                                  {of->q, all},     {of->k, keys}, {of->v, keys}, {of->most, heads},
                                  {of->sum, heads}, {g->y, all},   {g->up, all}};
    const bool gradients_apart = are_apart(4, 11, gradients);
    LEAT_ASSERT(gradients_apart);
    job.gradient = gradient;
    return leat_device_run(device, of->sequences * of->kv_heads, run_part, &job, err);
}
