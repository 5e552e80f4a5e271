/* The two heads of a VGAE, see vgae.h: V logits of a node are computed for a block of nodes at a
 * time, so that memory does not grow with nodes x V; the chains of gradients continue from block to
 * block. */
#include "nn/models/vgae/vgae.h"
#include "nn/ops/each.h"
#include "nn/ops/graph_random.h"
#include "nn/ops/rows.h"
#include "nn/random_streams.h"

/* Dropout: place 0 is the encoder's. */
enum { DENSE_PLACE = 1 };

/* The nodes whose identifier is to be found: those that are hidden, or all if none is. */
static int64_t set_rows(const leat_vgae_pass *pass) {
    leat_vgae_scratch *s = pass->scratch;
    const uint8_t *hidden = pass->random.hidden;
    int64_t count = 0;
    for (int64_t i = 0; i < pass->batch->nodes; i++)
        if (hidden != NULL && hidden[i] != 0) s->rows[count++] = (int32_t)i;
    for (int64_t i = 0; count == 0 && i < pass->batch->nodes; i++) s->rows[i] = (int32_t)i;
    if (count == 0) count = pass->batch->nodes;
    for (int64_t i = 0; i < count; i++) s->want[i] = pass->batch->node_id[s->rows[i]];
    return count;
}

leat_code leat_vgae_id_head(const leat_vgae_pass *pass, double *loss, leat_error *err) {
    leat_vgae_scratch *s = pass->scratch;
    const leat_vgae_shape *shape = pass->shape;
    const int64_t values = shape->values, count = set_rows(pass);
    const leat_linear_gradient gradient = {s->gradient + shape->id.weight,
                                           s->gradient + shape->id.bias, s->d_block, false};
    double sum = 0;
    for (int64_t at = 0; at < count; at += LEAT_VGAE_BLOCK) {
        const int64_t rows = leat_min(LEAT_VGAE_BLOCK, count - at);
        const leat_linear linear =
            leat_vgae_linear(pass, &shape->id, rows, shape->vocabulary, false);
        const leat_id_loss of = {rows, shape->vocabulary, s->want + at,
                                 (float)(LEAT_VGAE_SHARE_ID / (double)count)};
        leat_rows_gather(rows, values, s->rows + at, s->z, s->block);
        LEAT_TRY(leat_linear_forward(&pass->device, &linear, s->block, s->logits, err));
        LEAT_TRY(leat_id_loss_run(&pass->device, &of, s->logits, s->sums[0], err));
        LEAT_TRY(leat_linear_backward(&pass->device, &linear, s->block, s->logits, &gradient, err));
        leat_rows_gather_backward(rows, values, s->rows + at, s->d_block, s->d_z);
        for (int64_t i = 0; i < rows; i++) sum += s->sums[0][i];
    }
    *loss = sum / (double)count;
    return LEAT_OK;
}

static leat_graph_random dropout_of(const leat_vgae_pass *pass, int layer) {
    return (leat_graph_random){.batch = pass->batch,
                               .stream = LEAT_STREAM_DROPOUT,
                               .place = DENSE_PLACE + layer,
                               .share = pass->dropout};
}

static leat_code dense_forward(const leat_vgae_pass *pass, leat_error *err) {
    leat_vgae_scratch *s = pass->scratch;
    const int64_t values = pass->shape->values;
    for (int i = 0; i < 2; i++) {
        const leat_linear linear =
            leat_vgae_linear(pass, &pass->shape->neighbour[i], pass->batch->nodes, values, true);
        const leat_graph_random dropout = dropout_of(pass, i);
        LEAT_TRY(leat_linear_forward(&pass->device, &linear, i == 0 ? s->z : s->dropped_dense[0],
                                     s->dense[i], err));
        LEAT_TRY(leat_graph_dropout(&pass->device, &dropout, values, s->dense[i],
                                    s->dropped_dense[i], err));
    }
    return LEAT_OK;
}

/* From up[1], the gradient of the second layer's output, to what is added to d_z. */
static leat_code dense_backward(const leat_vgae_pass *pass, leat_error *err) {
    leat_vgae_scratch *s = pass->scratch;
    const int64_t values = pass->shape->values, nodes = pass->batch->nodes;
    for (int i = 1; i >= 0; i--) {
        const leat_vgae_dense *of = &pass->shape->neighbour[i];
        const leat_linear linear = leat_vgae_linear(pass, of, nodes, values, true);
        const leat_linear_gradient gradient = {s->gradient + of->weight, s->gradient + of->bias,
                                               i == 0 ? s->d_z : s->up[0], i == 0};
        float *up = s->up[i];
        LEAT_TRY(leat_relu_dropout_backward(&pass->device, leat_graph_dropout_scale(pass->dropout),
                                            nodes * leat_lanes(values), s->dropped_dense[i], up,
                                            err));
        LEAT_TRY(leat_linear_backward(&pass->device, &linear, i == 0 ? s->z : s->dropped_dense[0],
                                      up, &gradient, err));
    }
    return LEAT_OK;
}

/* Sums of the terms of both kinds. */
typedef struct neighbour_sums {
    double positives, negatives;
} neighbour_sums;

/* A block of nodes: the input of the last layer, and its gradient. */
typedef struct block {
    int64_t rows;
    const float *in;
    float *up;
} block;

/* Logits of all identifiers, and the terms' from these; then the terms' gradients among 0s. */
static leat_code all_logits(const leat_vgae_pass *pass, const block *of, bool back,
                            leat_error *err) {
    leat_vgae_scratch *s = pass->scratch;
    const leat_vgae_dense *at = &pass->shape->neighbour[2];
    const leat_linear linear = leat_vgae_linear(pass, at, of->rows, pass->shape->vocabulary, false);
    const leat_linear_gradient gradient = {s->gradient + at->weight, s->gradient + at->bias, of->up,
                                           false};
    if (!back) {
        LEAT_TRY(leat_linear_forward(&pass->device, &linear, of->in, s->logits, err));
        leat_neighbour_terms_take(&s->terms, s->logits);
        return LEAT_OK;
    }
    leat_neighbour_terms_put(&s->terms, s->logits);
    return leat_linear_backward(&pass->device, &linear, of->in, s->logits, &gradient, err);
}

/* The same without the logits that have no term. */
static leat_code few_logits(const leat_vgae_pass *pass, const block *of, bool back,
                            leat_error *err) {
    leat_vgae_scratch *s = pass->scratch;
    const leat_vgae_dense *at = &pass->shape->neighbour[2];
    const leat_neighbour_logits logits = {.terms = &s->terms,
                                          .in = pass->shape->values,
                                          .x = of->in,
                                          .weight = pass->parameters + at->weight,
                                          .bias = pass->parameters + at->bias};
    const leat_neighbour_gradient gradient = {s->gradient + at->weight, s->gradient + at->bias,
                                              of->up};
    return back ? leat_neighbour_logits_backward(&pass->device, &logits, &gradient, err)
                : leat_neighbour_logits_forward(&pass->device, &logits, err);
}

static leat_code logits_block(const leat_vgae_pass *pass, int64_t at, neighbour_sums *sums,
                              leat_error *err) {
    leat_vgae_scratch *s = pass->scratch;
    const int64_t place = at * leat_lanes(pass->shape->values);
    const block of = {leat_min(LEAT_VGAE_BLOCK, pass->batch->nodes - at),
                      s->dropped_dense[1] + place, s->up[1] + place};
    const leat_neighbours *found = &s->neighbours;
    const leat_neighbour_loss loss = {
        .terms = &s->terms,
        .of_positive = (float)(LEAT_VGAE_SHARE_NEIGHBOURS / (double)found->positives),
        .of_negative = (float)(LEAT_VGAE_SHARE_NEIGHBOURS / (double)found->negatives)};
    leat_code (*const logits)(const leat_vgae_pass *, const block *, bool, leat_error *) =
        pass->shape->vocabulary > LEAT_VGAE_ALL_IDS ? few_logits : all_logits;
    leat_neighbour_terms_set(found, at, of.rows, &s->terms);
    LEAT_TRY(logits(pass, &of, false, err));
    LEAT_TRY(leat_neighbour_loss_run(&pass->device, &loss, s->sums[0], s->sums[1], err));
    for (int64_t i = 0; i < of.rows; i++) {
        sums->positives += s->sums[0][i];
        sums->negatives += s->sums[1][i];
    }
    return logits(pass, &of, true, err);
}

leat_code leat_vgae_neighbour_head(const leat_vgae_pass *pass, double *loss, leat_error *err) {
    leat_vgae_scratch *s = pass->scratch;
    neighbour_sums sums = {0};
    LEAT_ASSERT(pass->random.drawn != NULL);
    s->neighbours.ids = s->terms.ids = pass->shape->vocabulary;
    s->neighbours.draws = LEAT_VGAE_DRAWS;
    s->neighbours.drawn = pass->random.drawn;
    leat_neighbours_set(pass->batch, pass->random.hidden, &s->neighbours);
    LEAT_TRY(dense_forward(pass, err));
    for (int64_t at = 0; at < pass->batch->nodes; at += LEAT_VGAE_BLOCK)
        LEAT_TRY(logits_block(pass, at, &sums, err));
    /* nobody has a factor of an empty mean */
    *loss = 0;
    if (s->neighbours.positives > 0) *loss += sums.positives / (double)s->neighbours.positives;
    if (s->neighbours.negatives > 0) *loss += sums.negatives / (double)s->neighbours.negatives;
    return dense_backward(pass, err);
}
