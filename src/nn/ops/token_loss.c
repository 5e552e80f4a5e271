/* See token_loss.h. */
#include "nn/ops/token_loss.h"

#include <string.h>

enum { ROWS = 32 }; /* of a part */

typedef struct loss_job {
    const leat_kernels *kernels;
    const leat_token_loss *of;
    float factor;
    bool gradient;
    float *logits;
} loss_job;

static void make_row(const loss_job *job, int64_t row) {
    const leat_token_loss *of = job->of;
    const int64_t step = leat_lanes(of->ids);
    float *x = job->logits + row * step, most, logarithm;
    of->terms[row] = 0;
    if (of->counted[row] == 0) {
        if (job->gradient) memset(x, 0, sizeof *x * (size_t)step);
        return;
    }
    const int32_t want = of->want[row];
    LEAT_ASSERT(want >= 0 && want < of->ids);
    const float right = x[want], sum = job->kernels->row_exp(of->ids, x, &most);
    job->kernels->map(LEAT_FUNCTION_LOG, 1, &sum, &logarithm);
    of->terms[row] = logarithm - (right - most);
    if (!job->gradient) return;
    const float wanted = (x[want] / sum - 1) * job->factor;
    job->kernels->row_scale(of->ids, sum, job->factor, x);
    x[want] = wanted;
    memset(x + of->ids, 0, sizeof *x * (size_t)(step - of->ids));
}

static void loss_part(void *context, int64_t part) {
    const loss_job *job = context;
    const int64_t end = leat_min(job->of->rows, (part + 1) * ROWS);
    for (int64_t row = part * ROWS; row < end; row++) make_row(job, row);
}

static leat_code run(const leat_device *device, loss_job job, double *sum, int64_t *count,
                     leat_error *err) {
    const leat_token_loss *of = job.of;
    *sum = 0;
    *count = 0;
    LEAT_ASSERT(of->rows >= 0 && of->ids >= 1 && of->ids <= LEAT_OP_VALUES_MAX);
    const int64_t step = leat_lanes(of->ids);
    LEAT_ASSERT(of->rows <= LEAT_OP_VALUES_MAX / step);
    const int64_t all = of->rows * step;
    LEAT_ASSERT(leat_apart(of->terms, of->rows, job.logits, all));
    for (int64_t row = 0; row < of->rows; row++) *count += of->counted[row] != 0;
    job.kernels = device->kernels;
    job.factor = *count == 0 ? 0 : 1 / (float)*count;
    LEAT_TRY(leat_device_run(device, (of->rows + ROWS - 1) / ROWS, loss_part, &job, err));
    for (int64_t row = 0; row < of->rows; row++) *sum += (double)of->terms[row];
    return LEAT_OK;
}

leat_code leat_token_loss_run(const leat_device *device, const leat_token_loss *of, float *logits,
                              double *sum, int64_t *count, leat_error *err) {
    return run(device, (loss_job){.of = of, .gradient = true, .logits = logits}, sum, count, err);
}

leat_code leat_token_loss_terms(const leat_device *device, const leat_token_loss *of, float *logits,
                                double *sum, int64_t *count, leat_error *err) {
    return run(device, (loss_job){.of = of, .logits = logits}, sum, count, err);
}
