/* See latent.h. */
#include "nn/ops/latent.h"

#include <string.h>

enum { ROWS = 64, PIECE = 128, TOGETHER = 4 };
_Static_assert(PIECE % LEAT_LANES == 0, "rows are whole pieces, or have one last one of lanes");

typedef struct latent_job {
    const leat_kernels *kernels;
    const leat_latent *of;
    int64_t step;
    const float *up;
    float *z, *d_mu, *d_logvar;
    double *divergence;
} latent_job;

/* From a place in the arrays on. */
static leat_latent_values values_at(const latent_job *job, int64_t at) {
    const leat_latent *of = job->of;
    return (leat_latent_values){LEAT_LOGVAR_MAX, of->factor, of->mu + at, of->logvar + at,
                                of->noise == NULL ? NULL : of->noise + at};
}

/* Up to TOGETHER rows, whose sums do not wait for each other. */
static void forward_rows(const latent_job *job, int64_t row, int64_t rows) {
    float terms[TOGETHER][PIECE] = {{0}};
    double sums[TOGETHER] = {0};
    for (int64_t c = 0; c < job->of->width; c += PIECE) {
        const int64_t count = leat_min(PIECE, job->of->width - c);
        for (int64_t i = 0; i < rows; i++) {
            const int64_t at = (row + i) * job->step + c;
            const leat_latent_values values = values_at(job, at);
            job->kernels->latent(&values, count, job->z + at, terms[i]);
        }
        for (int64_t k = 0; k < count; k++)
            for (int i = 0; i < TOGETHER; i++) sums[i] += (double)terms[i][k];
    }
    for (int64_t i = 0; i < rows && job->divergence != NULL; i++)
        job->divergence[row + i] = sums[i];
}

static void backward_row(const latent_job *job, int64_t row) {
    const int64_t at = row * job->step;
    const leat_latent_values values = values_at(job, at);
    job->kernels->latent_back(&values, job->of->width, job->up + at, job->d_mu + at,
                              job->d_logvar + at);
}

static void clear_rest(const latent_job *job, int64_t row, float *rows) {
    memset(rows + row * job->step + job->of->width, 0,
           sizeof *rows * (size_t)(job->step - job->of->width));
}

static void latent_part(void *context, int64_t part) {
    const latent_job *job = context;
    const int64_t first = part * ROWS, end = leat_min(job->of->rows, first + ROWS);
    if (job->up == NULL)
        for (int64_t row = first; row < end; row += TOGETHER)
            forward_rows(job, row, leat_min(TOGETHER, end - row));
    for (int64_t row = first; row < end; row++) {
        if (job->up == NULL) {
            clear_rest(job, row, job->z);
        } else {
            backward_row(job, row);
            clear_rest(job, row, job->d_mu);
            clear_rest(job, row, job->d_logvar);
        }
    }
}

static leat_code run(const leat_device *device, latent_job *job, leat_error *err) {
    LEAT_ASSERT(job->of->rows >= 0 && job->of->width >= 1);
    job->kernels = device->kernels;
    job->step = leat_lanes(job->of->width);
    return leat_device_run(device, (job->of->rows + ROWS - 1) / ROWS, latent_part, job, err);
}

leat_code leat_latent_forward(const leat_device *device, const leat_latent *of, float *z,
                              double *divergence, leat_error *err) {
    latent_job job = {.of = of, .z = z, .divergence = divergence};
    return run(device, &job, err);
}

leat_code leat_latent_backward(const leat_device *device, const leat_latent *of, const float *up,
                               float *d_mu, float *d_logvar, leat_error *err) {
    latent_job job = {.of = of, .up = up, .d_mu = d_mu, .d_logvar = d_logvar};
    LEAT_ASSERT(up != NULL && d_logvar != up && d_logvar != d_mu);
    return run(device, &job, err);
}
