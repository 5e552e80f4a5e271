/* See vgae_loss.h. */
#include "nn/ops/vgae_loss.h"

#include <string.h>

enum { ROWS = 32 };

static int64_t parts_of(int64_t rows) { return (rows + ROWS - 1) / ROWS; }

/* ---- Squares -------------------------------------------------------------------------------- */

typedef struct square_job {
    const leat_square_loss *of;
    float *up;
    double *sums;
} square_job;

static void square_part(void *context, int64_t part) {
    const square_job *job = context;
    const leat_square_loss *of = job->of;
    const int64_t step = leat_lanes(of->columns), end = leat_min(of->rows, (part + 1) * ROWS);
    const float twice = 2 * of->factor;
    for (int64_t row = part * ROWS; row < end; row++) {
        double sum = 0;
        float *up = job->up + row * step;
        for (int64_t c = 0; c < of->columns; c++) {
            const float d = of->got[row * step + c] - of->want[row * of->columns + c];
            sum += (double)(d * d);
            up[c] = twice * d;
        }
        memset(up + of->columns, 0, sizeof *up * (size_t)(step - of->columns));
        job->sums[row] = sum;
    }
}

leat_code leat_square_loss_run(const leat_device *device, const leat_square_loss *of, float *up,
                               double *sums, leat_error *err) {
    square_job job = {of, up, sums};
    LEAT_ASSERT(of->rows >= 0 && of->columns >= 1);
    return leat_device_run(device, parts_of(of->rows), square_part, &job, err);
}

/* ---- Identifiers ---------------------------------------------------------------------------- */

typedef struct id_job {
    const leat_kernels *kernels;
    const leat_id_loss *of;
    float *logits;
    double *terms;
} id_job;

static void id_part(void *context, int64_t part) {
    const id_job *job = context;
    const leat_id_loss *of = job->of;
    const int64_t step = leat_lanes(of->ids), end = leat_min(of->rows, (part + 1) * ROWS);
    for (int64_t row = part * ROWS; row < end; row++) {
        float *x = job->logits + row * step, most, logarithm;
        const int32_t want = of->want[row];
        LEAT_ASSERT(want >= 0 && want < of->ids);
        const float right = x[want], sum = job->kernels->row_exp(of->ids, x, &most);
        job->kernels->map(LEAT_FUNCTION_LOG, 1, &sum, &logarithm);
        job->terms[row] = (double)(logarithm - (right - most));
        const float wanted = (x[want] / sum - 1) * of->factor;
        job->kernels->row_scale(of->ids, sum, of->factor, x);
        x[want] = wanted;
        memset(x + of->ids, 0, sizeof *x * (size_t)(step - of->ids));
    }
}

leat_code leat_id_loss_run(const leat_device *device, const leat_id_loss *of, float *logits,
                           double *terms, leat_error *err) {
    id_job job = {device->kernels, of, logits, terms};
    LEAT_ASSERT(of->rows >= 0 && of->ids >= 1);
    return leat_device_run(device, parts_of(of->rows), id_part, &job, err);
}
