/* Batch normalisation: sums in pieces, which are parts of the pool, then one pass over the values.
 */
#include "nn/ops/batchnorm.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

typedef struct norm_job {
    const leat_device *device;
    const leat_batchnorm *bn;
    int64_t lanes, pieces;
    const float *x, *up;
    float *y;
    leat_normalization norm;
    float *scale, *ones, *products; /* of a channel */
    float *first, *second;          /* [piece][channel][LEAT_LANES] */
} norm_job;

static int64_t piece_count(const leat_batchnorm *bn) {
    return (bn->pixels + LEAT_NORM_PIECE - 1) / LEAT_NORM_PIECE;
}

int64_t leat_batchnorm_work_count(const leat_batchnorm *bn) {
    return bn->channels * (3 + 2 * LEAT_LANES * piece_count(bn));
}

static leat_code set_job(norm_job *job, const leat_device *device, const leat_batchnorm *bn,
                         leat_error *err) {
    int64_t count = 0;
    if (bn->pixels < 1 || bn->channels < 1 || bn->images < 1 ||
        !leat_mul_size(bn->pixels, bn->channels, &count) || count > LEAT_OP_VALUES_MAX ||
        !leat_mul_size(count, leat_lanes(bn->images), &count) || count > LEAT_OP_VALUES_MAX)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "batch normalisation of %lld pixels, %lld channels, %lld images: each "
                         "must be at least 1, and there may be 2^40 values",
                         (long long)bn->pixels, (long long)bn->channels, (long long)bn->images);
    const int64_t work = leat_batchnorm_work_count(bn);
    LEAT_ASSERT(bn->slope >= 0 && bn->eps >= 0);
    LEAT_ASSERT(leat_apart(bn->mean, bn->channels, bn->variance, bn->channels) &&
                leat_apart(bn->mean, bn->channels, bn->work, work) &&
                leat_apart(bn->variance, bn->channels, bn->work, work) &&
                leat_apart(bn->weight, bn->channels, bn->work, work) &&
                leat_apart(bn->shift, bn->channels, bn->work, work));
    *job = (norm_job){.device = device, .bn = bn, .lanes = leat_lanes(bn->images)};
    job->pieces = piece_count(bn);
    job->scale = bn->work;
    job->ones = job->scale + bn->channels;
    job->products = job->ones + bn->channels;
    job->first = job->products + bn->channels;
    job->second = job->first + job->pieces * bn->channels * LEAT_LANES;
    LEAT_ASSERT(job->second + job->pieces * bn->channels * LEAT_LANES == bn->work + work);
    return LEAT_OK;
}

static int64_t value_total(const norm_job *job) {
    return job->bn->pixels * job->bn->channels * job->lanes;
}

/* What is written overlaps neither the work space nor what is read of each channel. */
static void check_written(const norm_job *job, const float *values) {
    const leat_batchnorm *bn = job->bn;
    const int64_t all = value_total(job), work = leat_batchnorm_work_count(bn);
    LEAT_ASSERT(leat_apart(values, all, bn->work, work));
    LEAT_ASSERT(leat_apart(values, all, bn->mean, bn->channels) &&
                leat_apart(values, all, bn->variance, bn->channels));
    LEAT_ASSERT(leat_apart(values, all, bn->weight, bn->channels) &&
                leat_apart(values, all, bn->shift, bn->channels));
}

static int64_t piece_pixels(const norm_job *job, int64_t part) {
    return leat_min(LEAT_NORM_PIECE, job->bn->pixels - part * LEAT_NORM_PIECE);
}

static int64_t piece_offset(const norm_job *job, int64_t part) {
    return part * LEAT_NORM_PIECE * job->bn->channels * job->lanes;
}

/* The lanes of a part, set to 0. */
static float *piece_lanes(const norm_job *job, float *lanes, int64_t part) {
    const int64_t count = job->bn->channels * LEAT_LANES;
    memset(lanes + part * count, 0, sizeof *lanes * (size_t)count);
    return lanes + part * count;
}

/* The sum of a channel: the lanes of the pieces in order, then halves. */
static float total(const norm_job *job, const float *lanes, int64_t channel) {
    float sum[LEAT_LANES] = {0};
    for (int64_t piece = 0; piece < job->pieces; piece++) {
        const float *of = lanes + (piece * job->bn->channels + channel) * LEAT_LANES;
        for (int lane = 0; lane < LEAT_LANES; lane++) sum[lane] += of[lane];
    }
    for (int half = LEAT_LANES / 2; half > 0; half /= 2) {
        for (int lane = 0; lane < half; lane++) sum[lane] += sum[lane + half];
    }
    return sum[0];
}

static void sum_part(void *context, int64_t part) {
    const norm_job *job = context;
    job->device->kernels->sums(piece_pixels(job, part), job->bn->channels, job->bn->images,
                               job->x + piece_offset(job, part),
                               piece_lanes(job, job->first, part));
}

static void square_part(void *context, int64_t part) {
    const norm_job *job = context;
    job->device->kernels->squares(piece_pixels(job, part), job->bn->channels, job->bn->images,
                                  job->x + piece_offset(job, part), job->norm.mean,
                                  piece_lanes(job, job->first, part));
}

static void apply_part(void *context, int64_t part) {
    const norm_job *job = context;
    const int64_t at = piece_offset(job, part);
    job->device->kernels->norm(&job->norm, piece_pixels(job, part), job->bn->channels, job->lanes,
                               job->x + at, job->y + at);
}

static float value_count(const leat_batchnorm *bn) {
    return (float)((double)bn->pixels * (double)bn->images);
}

static void set_norm(norm_job *job) {
    const leat_batchnorm *bn = job->bn;
    for (int64_t c = 0; c < bn->channels; c++)
        job->scale[c] = bn->weight[c] / sqrtf(bn->variance[c] + bn->eps);
    job->norm =
        (leat_normalization){bn->mean, job->scale, bn->shift, job->ones, job->products, bn->slope};
}

leat_code leat_batchnorm_forward(const leat_device *device, const leat_batchnorm *bn,
                                 const float *x, float *y, leat_error *err) {
    norm_job job;
    LEAT_TRY(set_job(&job, device, bn, err));
    const int64_t all = value_total(&job), work = leat_batchnorm_work_count(bn);
    LEAT_ASSERT(leat_same_or_apart(x, y, all) && leat_apart(x, all, bn->work, work));
    check_written(&job, y);
    job.x = x;
    job.y = y;
    if (bn->training) {
        LEAT_TRY(leat_device_run(device, job.pieces, sum_part, &job, err));
        for (int64_t c = 0; c < bn->channels; c++)
            bn->mean[c] = total(&job, job.first, c) / value_count(bn);
        job.norm.mean = bn->mean;
        LEAT_TRY(leat_device_run(device, job.pieces, square_part, &job, err));
        for (int64_t c = 0; c < bn->channels; c++)
            bn->variance[c] = total(&job, job.first, c) / value_count(bn);
    }
    set_norm(&job);
    return leat_device_run(device, job.pieces, apply_part, &job, err);
}

static void back_sum_part(void *context, int64_t part) {
    const norm_job *job = context;
    const int64_t at = piece_offset(job, part);
    job->device->kernels->norm_sums(
        &job->norm, piece_pixels(job, part), job->bn->channels, job->bn->images, job->x + at,
        job->up + at, piece_lanes(job, job->first, part), piece_lanes(job, job->second, part));
}

static void back_part(void *context, int64_t part) {
    const norm_job *job = context;
    const int64_t at = piece_offset(job, part);
    job->device->kernels->norm_back(&job->norm, piece_pixels(job, part), job->bn->channels,
                                    job->lanes, job->x + at, job->up + at, job->y + at);
}

leat_code leat_batchnorm_backward(const leat_device *device, const leat_batchnorm *bn,
                                  const float *x, const float *up, float *down,
                                  float *weight_gradient, float *shift_gradient, leat_error *err) {
    norm_job job;
    LEAT_TRY(set_job(&job, device, bn, err));
    const int64_t all = value_total(&job), work = leat_batchnorm_work_count(bn);
    LEAT_ASSERT(leat_same_or_apart(up, down, all) && leat_apart(x, all, down, all));
    LEAT_ASSERT(leat_apart(x, all, bn->work, work) && leat_apart(up, all, bn->work, work));
    check_written(&job, down);
    LEAT_ASSERT(leat_apart(weight_gradient, bn->channels, shift_gradient, bn->channels));
    job.x = x;
    job.up = up;
    job.y = down;
    set_norm(&job);
    LEAT_TRY(leat_device_run(device, job.pieces, back_sum_part, &job, err));
    for (int64_t c = 0; c < bn->channels; c++) {
        const float one = total(&job, job.first, c), product = total(&job, job.second, c);
        const float spread = bn->variance[c] + bn->eps;
        if (weight_gradient != NULL) weight_gradient[c] += product / sqrtf(spread);
        if (shift_gradient != NULL) shift_gradient[c] += one;
        job.ones[c] = bn->training ? one / value_count(bn) : 0.0f;
        job.products[c] = bn->training ? product / value_count(bn) / spread : 0.0f;
    }
    return leat_device_run(device, job.pieces, back_part, &job, err);
}

void leat_batchnorm_fold(int64_t channels, int64_t count, const float *mean, const float *variance,
                         float *running_mean, float *running_variance) {
    LEAT_ASSERT(channels >= 1 && count >= 1);
    LEAT_ASSERT(leat_apart(running_mean, channels, running_variance, channels) &&
                leat_apart(running_mean, channels, variance, channels));
    const float unbiased = count > 1 ? (float)((double)count / (double)(count - 1)) : 1.0f;
    for (int64_t c = 0; c < channels; c++) {
        running_mean[c] = 0.9f * running_mean[c] + 0.1f * mean[c];
        running_variance[c] = 0.9f * running_variance[c] + 0.1f * (variance[c] * unbiased);
    }
}
