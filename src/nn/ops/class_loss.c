/* Two logits are one number, their difference: so both tails are computed as themselves. */
#include "nn/ops/class_loss.h"

#include <string.h>

/* A term and its gradient by d, from softplus(d), sigmoid(d) and sigmoid(-d). */
typedef struct term {
    float ce, q, p, value, slope;
} term;

static void set_term(const leat_device *device, const leat_class_loss *of, int64_t row, term *t) {
    const float twice = 2 * t->p, weight = of->weight[of->label[row]];
    float inner = t->q;
    switch (of->kind) {
    case LEAT_CLASS_LOSS_FOCAL:
        device->kernels->add_scaled(1, twice, &t->ce, &inner);
        t->slope = t->q * t->q * inner;
        t->value = t->q * t->q * t->ce;
        return;
    case LEAT_CLASS_LOSS_WEIGHTED:
        t->slope = weight * t->q;
        t->value = weight * t->ce;
        return;
    default: t->slope = t->q; t->value = t->ce;
    }
}

void leat_class_loss_run(const leat_device *device, const leat_class_loss *of, const float *logits,
                         double *loss, float *gradient) {
    const int64_t rows = of->rows;
    float *d = of->work, *q = d + rows, *p = q + rows, *ce = p + rows;
    double sum = 0, weight = 0;
    LEAT_ASSERT(rows >= 1 &&
                (of->kind != LEAT_CLASS_LOSS_WEIGHTED || (of->weight[0] > 0 && of->weight[1] > 0)));
    LEAT_ASSERT(leat_apart(of->work, 4 * rows, logits, rows * LEAT_LANES) &&
                leat_apart(of->work, 4 * rows, gradient, rows * LEAT_LANES));
    for (int64_t i = 0; i < rows; i++) {
        LEAT_ASSERT(of->label[i] == 0 || of->label[i] == 1);
        d[i] = logits[i * LEAT_LANES + 1 - of->label[i]] - logits[i * LEAT_LANES + of->label[i]];
        p[i] = -d[i];
        weight += of->kind == LEAT_CLASS_LOSS_WEIGHTED ? (double)of->weight[of->label[i]] : 1.0;
    }
    device->kernels->map(LEAT_FUNCTION_SOFTPLUS, rows, d, ce);
    device->kernels->map(LEAT_FUNCTION_SIGMOID, rows, d, q);
    device->kernels->map(LEAT_FUNCTION_SIGMOID, rows, p, p);
    memset(gradient, 0, sizeof *gradient * (size_t)(rows * LEAT_LANES));
    for (int64_t i = 0; i < rows; i++) {
        term t = {.ce = ce[i], .q = q[i], .p = p[i]};
        set_term(device, of, i, &t);
        sum += (double)t.value;
        t.slope /= (float)weight;
        gradient[i * LEAT_LANES + 1 - of->label[i]] = t.slope;
        gradient[i * LEAT_LANES + of->label[i]] = -t.slope;
    }
    *loss = sum / weight;
}

void leat_class_probability(const leat_device *device, int64_t rows, const float *logits,
                            float *out) {
    LEAT_ASSERT(rows >= 1 && leat_apart(logits, rows * LEAT_LANES, out, rows));
    for (int64_t i = 0; i < rows; i++) out[i] = logits[i * LEAT_LANES + 1] - logits[i * LEAT_LANES];
    device->kernels->map(LEAT_FUNCTION_SIGMOID, rows, out, out);
}
