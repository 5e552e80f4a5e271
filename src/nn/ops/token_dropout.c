/* See token_dropout.h. */
#include "nn/ops/token_dropout.h"

#include <string.h>

#include "base/rng.h"
#include "nn/ops/graph_random.h"
#include "nn/random_streams.h"

typedef struct dropout_job {
    const leat_kernels *kernels;
    const leat_token_dropout *of;
    leat_dropout dropout; /* without a key */
    int64_t columns, step;
    const float *x;
    float *y;
} dropout_job;

static void clear_rest(const dropout_job *job, float *row) {
    memset(row + job->columns, 0, sizeof *row * (size_t)(job->step - job->columns));
}

static void draw_part(void *context, int64_t sequence) {
    const dropout_job *job = context;
    const leat_token_micro *batch = job->of->batch;
    const uint64_t stream = LEAT_STREAM_TOKEN_DROPOUT;
    LEAT_ASSERT(batch->epoch[sequence] >= 0 && batch->number[sequence] >= 0);
    const uint64_t epoch = leat_random(batch->seed, stream, (uint64_t)batch->epoch[sequence]);
    leat_dropout dropout = job->dropout;
    dropout.key = leat_random(epoch, stream, (uint64_t)batch->number[sequence]);
    for (int64_t row = 0; row < batch->length; row++) {
        const int64_t at = (sequence * batch->length + row) * job->step;
        const int64_t element = job->of->place * LEAT_TOKEN_ELEMENTS + row * job->columns;
        job->kernels->dropout(&dropout, (uint64_t)element, job->columns, job->x + at, job->y + at);
        clear_rest(job, job->y + at);
    }
}

static void copy_part(void *context, int64_t sequence) {
    const dropout_job *job = context;
    const int64_t length = job->of->batch->length, at = sequence * length * job->step;
    if (job->x != job->y)
        memcpy(job->y + at, job->x + at, sizeof *job->y * (size_t)(length * job->step));
    for (int64_t row = 0; row < length; row++) clear_rest(job, job->y + at + row * job->step);
}

leat_code leat_token_dropout_run(const leat_device *device, const leat_token_dropout *of,
                                 int64_t columns, const float *x, float *y, leat_error *err) {
    const leat_token_micro *batch = of->batch;
    dropout_job job = {.kernels = device->kernels,
                       .of = of,
                       .dropout = leat_dropout_of(of->share),
                       .columns = columns,
                       .step = leat_lanes(columns),
                       .x = x,
                       .y = y};
    LEAT_ASSERT(of->place >= 0 && of->place < LEAT_TOKEN_PLACES && columns >= 1);
    LEAT_ASSERT(batch->sequences >= 1 && batch->length >= 1 &&
                batch->length <= LEAT_TOKEN_ELEMENTS / columns);
    LEAT_ASSERT(leat_same_or_apart(x, y, batch->sequences * batch->length * job.step));
    return leat_device_run(device, batch->sequences, of->share > 0 ? draw_part : copy_part, &job,
                           err);
}
