/* See embedding.h. */
#include "nn/ops/embedding.h"

#include <string.h>

enum { ROWS = 256, IDS = 64 }; /* of a part */

typedef struct embedding_job {
    const leat_kernels *kernels;
    const leat_embedding *of;
    int64_t step;
    const float *x, *up;
    const uint8_t *mask;
    float *out;
    const int32_t *first, *order; /* rows of each id */
} embedding_job;

static embedding_job job_of(const leat_device *device, const leat_embedding *of) {
    LEAT_ASSERT(of->rows >= 0 && of->rows <= INT32_MAX && of->ids >= 1 && of->ids <= INT32_MAX);
    LEAT_ASSERT(of->width >= 1 && of->features >= 0);
    return (embedding_job){device->kernels, of, .step = leat_lanes(of->width + of->features)};
}

static void forward_part(void *context, int64_t part) {
    const embedding_job *job = context;
    const leat_embedding *of = job->of;
    const int64_t end = leat_min(of->rows, (part + 1) * ROWS);
    for (int64_t row = part * ROWS; row < end; row++) {
        float *out = job->out + row * job->step;
        LEAT_ASSERT(of->id[row] >= 0 && of->id[row] < of->ids);
        memset(out, 0, sizeof *out * (size_t)job->step);
        memcpy(out, of->table + of->id[row] * of->width, sizeof *out * (size_t)of->width);
        if (of->features == 0 || (job->mask != NULL && job->mask[row] != 0)) continue;
        memcpy(out + of->width, job->x + row * of->features, sizeof *out * (size_t)of->features);
    }
}

leat_code leat_embedding_forward(const leat_device *device, const leat_embedding *of,
                                 const float *x, const uint8_t *mask, float *out, leat_error *err) {
    embedding_job job = job_of(device, of);
    LEAT_ASSERT(leat_apart(x, of->rows * of->features, out, of->rows * job.step));
    job.x = x;
    job.mask = mask;
    job.out = out;
    return leat_device_run(device, (of->rows + ROWS - 1) / ROWS, forward_part, &job, err);
}

int64_t leat_embedding_work_count(int64_t rows, int64_t ids) { return ids + 1 + rows; }

static void backward_part(void *context, int64_t part) {
    const embedding_job *job = context;
    const leat_embedding *of = job->of;
    const int64_t end = leat_min(of->ids, (part + 1) * IDS);
    for (int64_t id = part * IDS; id < end; id++) {
        const int32_t first = job->first[id], count = job->first[id + 1] - first;
        const leat_edge_rows rows = {of->width, 1, job->step, job->order + first, job->up};
        if (count > 0) job->kernels->edge_sums(&rows, count, NULL, job->out + id * of->width);
    }
}

/* first[id + 1] counts, then is the place of the next row of id, and ends as that of id + 1. */
static void sort_by_id(const leat_embedding *of, int32_t *first, int32_t *order) {
    int32_t *end = first + 1, sum = 0;
    memset(first, 0, sizeof *first * (size_t)(of->ids + 1));
    for (int64_t row = 0; row < of->rows; row++) {
        LEAT_ASSERT(of->id[row] >= 0 && of->id[row] < of->ids);
        end[of->id[row]]++;
    }
    for (int64_t id = 0; id < of->ids; id++) {
        const int32_t count = end[id];
        end[id] = sum;
        sum += count;
    }
    for (int32_t row = 0; row < of->rows; row++) order[end[of->id[row]]++] = row;
}

leat_code leat_embedding_backward(const leat_device *device, const leat_embedding *of,
                                  const float *up, float *gradient, int32_t *work,
                                  leat_error *err) {
    embedding_job job = job_of(device, of);
    LEAT_ASSERT(leat_apart(up, of->rows * job.step, gradient, of->ids * of->width));
    sort_by_id(of, work, work + of->ids + 1);
    job.first = work;
    job.order = work + of->ids + 1;
    job.up = up;
    job.out = gradient;
    return leat_device_run(device, (of->ids + IDS - 1) / IDS, backward_part, &job, err);
}
