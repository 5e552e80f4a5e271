/* See latent.h. */
#include "nn/ops/latent.h"

#include <string.h>

enum { ROWS = 64, PIECE = 128 };
_Static_assert(PIECE % LEAT_LANES == 0, "rows are whole pieces, or have one last one of lanes");

typedef struct latent_job {
    const leat_kernels *kernels;
    const leat_latent *of;
    int64_t step;
    const float *up;
    float *z, *d_mu, *d_logvar;
    double *divergence;
} latent_job;

static float clamped(float x) {
    return x > LEAT_LOGVAR_MAX ? LEAT_LOGVAR_MAX : x < -LEAT_LOGVAR_MAX ? -LEAT_LOGVAR_MAX : x;
}

/* Up to PIECE columns of a row, from `at`: exp(v / 2) and exp(v). */
typedef struct piece {
    int64_t count;
    float v[PIECE], deviation[PIECE], variance[PIECE];
} piece;

static void set_piece(const latent_job *job, int64_t at, int64_t count, piece *out) {
    out->count = count;
    for (int64_t c = 0; c < count; c++) {
        out->v[c] = clamped(job->of->logvar[at + c]);
        out->deviation[c] = 0.5f * out->v[c];
    }
    job->kernels->map(LEAT_FUNCTION_EXP, count, out->deviation, out->deviation);
    job->kernels->map(LEAT_FUNCTION_EXP, count, out->v, out->variance);
}

static double forward_piece(const latent_job *job, int64_t at, const piece *p, double sum) {
    for (int64_t c = 0; c < p->count; c++) {
        const float mu = job->of->mu[at + c];
        const float term = -0.5f * (((1 + p->v[c]) - mu * mu) - p->variance[c]);
        job->z[at + c] =
            job->of->noise == NULL ? mu : mu + p->deviation[c] * job->of->noise[at + c];
        sum += (double)term;
    }
    return sum;
}

static void backward_piece(const latent_job *job, int64_t at, const piece *p) {
    for (int64_t c = 0; c < p->count; c++) {
        const float up = job->up[at + c], logvar = job->of->logvar[at + c];
        const float noise = job->of->noise == NULL ? 0 : job->of->noise[at + c];
        const float down = (up * noise) * (0.5f * p->deviation[c]) +
                           (0.5f * job->of->factor) * (p->variance[c] - 1);
        job->d_mu[at + c] = up + job->of->factor * job->of->mu[at + c];
        job->d_logvar[at + c] =
            logvar >= -LEAT_LOGVAR_MAX && logvar <= LEAT_LOGVAR_MAX ? down : 0.0f;
    }
}

static void clear_rest(const latent_job *job, int64_t row, float *rows) {
    memset(rows + row * job->step + job->of->width, 0,
           sizeof *rows * (size_t)(job->step - job->of->width));
}

static void latent_part(void *context, int64_t part) {
    const latent_job *job = context;
    const int64_t end = leat_min(job->of->rows, (part + 1) * ROWS);
    for (int64_t row = part * ROWS; row < end; row++) {
        double sum = 0;
        for (int64_t c = 0; c < job->of->width; c += PIECE) {
            const int64_t at = row * job->step + c;
            piece p;
            set_piece(job, at, leat_min(PIECE, job->of->width - c), &p);
            if (job->up == NULL) sum = forward_piece(job, at, &p, sum);
            else backward_piece(job, at, &p);
        }
        if (job->up == NULL) {
            clear_rest(job, row, job->z);
            if (job->divergence != NULL) job->divergence[row] = sum;
        } else {
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

void leat_rows_out(int64_t rows, int64_t width, float most, const float *x, float *out) {
    const int64_t step = leat_lanes(width);
    for (int64_t row = 0; row < rows; row++) {
        for (int64_t c = 0; c < width; c++) {
            const float value = x[row * step + c];
            out[row * width + c] = value > most ? most : value < -most ? -most : value;
        }
    }
}

void leat_rows_gather(int64_t rows, int64_t width, const int32_t *row, const float *x, float *out) {
    const int64_t step = leat_lanes(width);
    for (int64_t i = 0; i < rows; i++)
        memcpy(out + i * step, x + row[i] * step, sizeof *x * (size_t)step);
}

void leat_rows_gather_backward(int64_t rows, int64_t width, const int32_t *row, const float *in,
                               float *x) {
    const int64_t step = leat_lanes(width);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t c = 0; c < width; c++) x[row[i] * step + c] += in[i * step + c];
}
