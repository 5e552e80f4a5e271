/*
 * See gatv2.h. Parts are blocks of nodes, whose edges are next to each other in a list; where a
 * gradient is a chain over all edges, they are heads.
 */
#include "nn/ops/gatv2.h"

#include <string.h>

#include "nn/ops/linear.h"
#include "nn/ops/rows.h"

enum { NODES = 64 }; /* of a part */

typedef struct gat_job {
    const leat_kernels *kernels;
    const leat_gatv2 *layer;
    const leat_graph_edges *edges;
    const leat_gatv2_kept *kept;
    int64_t step, columns;
    bool alone;              /* no pool: one part after the other */
    float *edge;             /* [edges][step]: E, then d m */
    float *d_score;          /* [edges][heads] */
    float *d_left, *d_right; /* [nodes][step] */
    float *products;         /* work space */
    const float *up;
    float *y;
    const leat_gatv2_gradient *gradient;
} gat_job;

static leat_linear left_of(const leat_gatv2 *layer, int64_t nodes, float *work) {
    return (leat_linear){
        nodes, layer->in, layer->heads * layer->width, layer->left, layer->left_bias, false, work};
}
static leat_linear right_of(const leat_gatv2 *layer, int64_t nodes, float *work) {
    return (leat_linear){nodes,        layer->in,         layer->heads * layer->width,
                         layer->right, layer->right_bias, false,
                         work};
}
static leat_linear edge_of(const leat_gatv2 *layer, int64_t edges, float *work) {
    return (leat_linear){
        edges, LEAT_MICRO_EDGE_FEATURES, layer->heads * layer->width, layer->edge, NULL, false,
        work};
}

int64_t leat_gatv2_work_count(const leat_device *device, const leat_gatv2 *layer, int64_t nodes,
                              int64_t edges) {
    const int64_t step = leat_lanes(layer->heads * layer->width);
    const leat_linear left = left_of(layer, nodes, NULL), edge = edge_of(layer, edges, NULL);
    const int64_t a = leat_linear_work_count(device, &left);
    const int64_t b = leat_linear_work_count(device, &edge);
    if (a < 0 || b < 0) return -1;
    return (edges + 2 * nodes) * step + leat_lanes(edges * layer->heads) + (a > b ? a : b);
}

static gat_job job_of(const leat_device *device, const leat_gatv2 *layer,
                      const leat_graph_edges *edges, const leat_gatv2_kept *kept) {
    LEAT_ASSERT(layer->in >= 1 && layer->heads >= 1 && layer->width >= 1);
    LEAT_ASSERT(edges->nodes >= 1 && edges->count >= edges->nodes);
    gat_job job = {.kernels = device->kernels, .layer = layer, .edges = edges, .kept = kept};
    job.alone = device->pool == NULL;
    job.columns = layer->heads * layer->width;
    job.step = leat_lanes(job.columns);
    const int64_t all = edges->nodes * job.step;
    LEAT_ASSERT(leat_apart(kept->left, all, kept->right, all));
    job.edge = layer->work;
    job.d_left = job.edge + edges->count * job.step;
    job.d_right = job.d_left + all;
    job.d_score = job.d_right + all;
    job.products = job.d_score + leat_lanes(edges->count * layer->heads);
    return job;
}

static int64_t parts_of(const gat_job *job) { return (job->edges->nodes + NODES - 1) / NODES; }

/* The edges of a node in T. */
typedef struct span {
    int64_t first, count;
} span;
static span incoming(const gat_job *job, int64_t node) {
    const int32_t *first = job->edges->target_first + node;
    return (span){first[0], first[1] - first[0]};
}

static leat_edge_head head_of(const gat_job *job, int64_t node, int64_t first, int64_t head) {
    const int64_t at = head * job->layer->width;
    return (leat_edge_head){.width = job->layer->width,
                            .heads = job->layer->heads,
                            .step = job->step,
                            .source = job->edges->source + first,
                            .left = job->kept->left + at,
                            .right = job->kept->right + node * job->step + at,
                            .edge = job->edge + first * job->step + at,
                            .weight = job->layer->att + at,
                            .slope = LEAT_GATV2_SLOPE};
}

/* Columns of a head of rows of nodes, which edges from `first` on name by `index`. */
static leat_edge_rows rows_of(const gat_job *job, const float *rows, const int32_t *index,
                              int64_t head) {
    const int64_t width = job->layer->width;
    return (leat_edge_rows){width, job->layer->heads, job->step, index, rows + head * width};
}

/* ---- Forward -------------------------------------------------------------------------------- */

/* Scores [edges][heads] of a target become alpha. */
static void softmax(const gat_job *job, int64_t edges, float *scores) {
    const int64_t heads = job->layer->heads, count = edges * heads;
    for (int64_t h = 0; h < heads; h++) {
        float most = scores[h];
        for (int64_t k = h; k < count; k += heads) most = scores[k] > most ? scores[k] : most;
        for (int64_t k = h; k < count; k += heads) scores[k] -= most;
    }
    job->kernels->map(LEAT_FUNCTION_EXP, count, scores, scores);
    for (int64_t h = 0; h < heads; h++) {
        float sum = 0;
        for (int64_t k = h; k < count; k += heads) sum += scores[k];
        sum += 1e-16f;
        for (int64_t k = h; k < count; k += heads) scores[k] /= sum;
    }
}

static void clear_rest(const gat_job *job, float *row) {
    memset(row + job->columns, 0, sizeof *row * (size_t)(job->step - job->columns));
}

static void forward_node(const gat_job *job, int64_t node) {
    const leat_gatv2 *layer = job->layer;
    const span in = incoming(job, node);
    float *alpha = job->kept->alpha + in.first * layer->heads, *y = job->y + node * job->step;
    for (int64_t h = 0; h < layer->heads; h++) {
        const leat_edge_head head = head_of(job, node, in.first, h);
        job->kernels->edge_scores(&head, in.count, alpha + h);
    }
    softmax(job, in.count, alpha);
    memset(y, 0, sizeof *y * (size_t)job->step);
    for (int64_t h = 0; h < layer->heads; h++) {
        const leat_edge_rows rows = rows_of(job, job->kept->left, job->edges->source + in.first, h);
        job->kernels->edge_sums(&rows, in.count, alpha + h, y + h * layer->width);
    }
    clear_rest(job, job->kept->left + node * job->step);
    clear_rest(job, job->kept->right + node * job->step);
}

static void forward_part(void *context, int64_t part) {
    const gat_job *job = context;
    const int64_t first = part * NODES, end = leat_min(job->edges->nodes, first + NODES);
    const leat_finish bias = {job->layer->bias, 1};
    for (int64_t node = first; node < end; node++) forward_node(job, node);
    job->kernels->row_finish(&bias, end - first, job->columns, job->step,
                             job->y + first * job->step);
}

static leat_code make_edges(const leat_device *device, const gat_job *job, leat_error *err) {
    const leat_linear edge = edge_of(job->layer, job->edges->count, job->products);
    return leat_linear_forward(device, &edge, job->edges->features, job->edge, err);
}

leat_code leat_gatv2_forward(const leat_device *device, const leat_gatv2 *layer,
                             const leat_graph_edges *edges, const leat_gatv2_flow *flow, float *y,
                             leat_error *err) {
    const leat_gatv2_kept *kept = flow->kept;
    gat_job job = job_of(device, layer, edges, kept);
    const leat_linear left = left_of(layer, edges->nodes, job.products),
                      right = right_of(layer, edges->nodes, job.products);
    const int64_t all = edges->nodes * job.step;
    job.y = y;
    LEAT_ASSERT(leat_apart(y, all, kept->left, all) && leat_apart(y, all, kept->right, all));
    LEAT_TRY(leat_linear_forward(device, &left, flow->x, kept->left, err));
    LEAT_TRY(leat_linear_forward(device, &right, flow->x, kept->right, err));
    LEAT_TRY(make_edges(device, &job, err));
    return leat_device_run(device, parts_of(&job), forward_part, &job, err);
}

/* ---- Backward ------------------------------------------------------------------------------- */

/* d alpha [edges][heads] of a target become d score. */
static void softmax_back(const gat_job *job, span in, float *d) {
    const int64_t heads = job->layer->heads, count = in.count * heads;
    const float *alpha = job->kept->alpha + in.first * heads;
    for (int64_t h = 0; h < heads; h++) {
        float sum = 0;
        for (int64_t k = h; k < count; k += heads) sum += alpha[k] * d[k];
        for (int64_t k = h; k < count; k += heads) d[k] = alpha[k] * (d[k] - sum);
    }
}

static void score_part(void *context, int64_t part) {
    const gat_job *job = context;
    const leat_gatv2 *layer = job->layer;
    const int64_t end = leat_min(job->edges->nodes, (part + 1) * NODES);
    for (int64_t node = part * NODES; node < end; node++) {
        const span in = incoming(job, node);
        float *d = job->d_score + in.first * layer->heads;
        for (int64_t h = 0; h < layer->heads; h++) {
            const leat_edge_rows rows =
                rows_of(job, job->kept->left, job->edges->source + in.first, h);
            job->kernels->edge_dots(&rows, in.count, job->up + node * job->step + h * layer->width,
                                    d + h);
        }
        softmax_back(job, in, d);
    }
}

static void head_back(const gat_job *job, int64_t node, int64_t head) {
    const leat_gatv2 *layer = job->layer;
    const int64_t at = head * layer->width;
    const span in = incoming(job, node);
    const leat_edge_head of = head_of(job, node, in.first, head);
    job->kernels->edge_scores_back(&of, in.count, job->d_score + in.first * layer->heads + head,
                                   job->gradient->att + at, job->d_right + node * job->step + at,
                                   job->edge + in.first * job->step + at);
}

/* The chain of att is over all edges: a part is a head, or without a pool all of them, so that rows
 * of edges are read once. */
static void head_part(void *context, int64_t part) {
    const gat_job *job = context;
    const int64_t heads = job->alone ? job->layer->heads : 1, first = part * heads;
    for (int64_t node = 0; node < job->edges->nodes; node++)
        for (int64_t head = first; head < first + heads; head++) head_back(job, node, head);
}

static void left_part(void *context, int64_t part) {
    const gat_job *job = context;
    const leat_gatv2 *layer = job->layer;
    const int64_t end = leat_min(job->edges->nodes, (part + 1) * NODES);
    for (int64_t node = part * NODES; node < end; node++) {
        const int32_t *first = job->edges->source_first + node;
        for (int64_t h = 0; h < layer->heads; h++) {
            const leat_edge_rows rows = rows_of(job, job->up, job->edges->target, h);
            job->kernels->edge_sums_back(&rows, first[1] - first[0], job->edges->place + first[0],
                                         job->kept->alpha + h, job->edge + h * layer->width,
                                         job->d_left + node * job->step + h * layer->width);
        }
    }
}

leat_code leat_gatv2_backward(const leat_device *device, const leat_gatv2 *layer,
                              const leat_graph_edges *edges, const leat_gatv2_flow *flow,
                              const leat_gatv2_gradient *gradient, leat_error *err) {
    gat_job job = job_of(device, layer, edges, flow->kept);
    const leat_linear left = left_of(layer, edges->nodes, job.products),
                      right = right_of(layer, edges->nodes, job.products);
    const leat_linear edge = edge_of(layer, edges->count, job.products);
    const leat_rows rows = {edges->nodes, job.columns, job.step};
    const leat_linear_gradient of_edge = {.weight = gradient->edge};
    const leat_linear_gradient of_left = {gradient->left, gradient->left_bias, flow->down, false};
    const leat_linear_gradient of_right = {gradient->right, gradient->right_bias, flow->down, true};
    job.up = flow->up;
    job.gradient = gradient;
    LEAT_ASSERT(flow->down != flow->x && flow->down != flow->up);
    LEAT_TRY(leat_rows_sum(device, &rows, flow->up, gradient->bias, err));
    LEAT_TRY(make_edges(device, &job, err));
    LEAT_TRY(leat_device_run(device, parts_of(&job), score_part, &job, err));
    LEAT_TRY(leat_device_run(device, job.alone ? 1 : layer->heads, head_part, &job, err));
    LEAT_TRY(leat_device_run(device, parts_of(&job), left_part, &job, err));
    LEAT_TRY(leat_linear_backward(device, &edge, edges->features, job.edge, &of_edge, err));
    LEAT_TRY(leat_linear_backward(device, &left, flow->x, job.d_left, &of_left, err));
    return leat_linear_backward(device, &right, flow->x, job.d_right, &of_right, err);
}
