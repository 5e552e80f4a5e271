/* A part is an image. */
#include "nn/ops/mean.h"

typedef struct mean_job {
    const leat_mean *of;
    int64_t lanes;
    const float *in;
    float *rows;
} mean_job;

static void image(void *context, int64_t n) {
    const mean_job *job = context;
    const int64_t pixels = job->of->pixels, channels = job->of->channels;
    for (int64_t c = 0; c < channels; c++) {
        float sum = 0;
        for (int64_t p = 0; p < pixels; p++) sum += job->in[(p * channels + c) * job->lanes + n];
        job->rows[n * channels + c] = sum / (float)pixels;
    }
}

leat_code leat_mean_pixels(const leat_device *device, const leat_mean *of, const float *in,
                           float *rows, leat_error *err) {
    mean_job job = {of, leat_lanes(of->images), in, rows};
    LEAT_ASSERT(of->images >= 1 && of->pixels >= 1 && of->channels >= 1);
    LEAT_ASSERT(
        leat_apart(in, of->pixels * of->channels * job.lanes, rows, of->images * of->channels));
    return leat_device_run(device, of->images, image, &job, err);
}
