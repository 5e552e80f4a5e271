/* A part is some of the values: their lanes when they come in, and when they go out a piece of each
 * image's row. */
#include "nn/ops/move.h"

#include <string.h>

#define PIECE 1024

typedef struct move_job {
    int64_t images, values, lanes;
    const float *from;
    leat_levels levels; /* instead of it */
    float *to;
} move_job;

static int64_t end_of(const move_job *job, int64_t part) {
    return leat_min((part + 1) * PIECE, job->values);
}

static void floats_in(void *context, int64_t part) {
    const move_job *job = context;
    for (int64_t i = part * PIECE; i < end_of(job, part); i++) {
        float *out = job->to + i * job->lanes;
        for (int64_t n = 0; n < job->lanes; n++)
            out[n] = n < job->images ? job->from[n * job->values + i] : 0.0f;
    }
}

static void levels_in(void *context, int64_t part) {
    const move_job *job = context;
    for (int64_t i = part * PIECE; i < end_of(job, part); i++) {
        float *out = job->to + i * job->lanes;
        for (int64_t n = 0; n < job->lanes; n++)
            out[n] =
                n < job->images ? job->levels.table[job->levels.rows[n * job->values + i]] : 0.0f;
    }
}

static void floats_out(void *context, int64_t part) {
    const move_job *job = context;
    for (int64_t n = 0; n < job->images; n++) {
        for (int64_t i = part * PIECE; i < end_of(job, part); i++)
            job->to[n * job->values + i] = job->from[i * job->lanes + n];
    }
}

static leat_code run(const leat_device *device, move_job job,
                     void (*part)(void *context, int64_t part), leat_error *err) {
    LEAT_ASSERT(job.images >= 1 && job.values >= 1);
    job.lanes = leat_lanes(job.images);
    const int64_t rows = job.images * job.values, in_lanes = job.lanes * job.values;
    const bool out = part == floats_out;
    LEAT_ASSERT(leat_apart(job.from, out ? in_lanes : rows, job.to, out ? rows : in_lanes));
    return leat_device_run(device, (job.values + PIECE - 1) / PIECE, part, &job, err);
}

leat_code leat_move_in(const leat_device *device, int64_t images, int64_t values, const float *rows,
                       float *out, leat_error *err) {
    return run(device, (move_job){.images = images, .values = values, .from = rows, .to = out},
               floats_in, err);
}

leat_code leat_move_levels_in(const leat_device *device, int64_t images, int64_t values,
                              leat_levels of, float *out, leat_error *err) {
    return run(device, (move_job){.images = images, .values = values, .levels = of, .to = out},
               levels_in, err);
}

leat_code leat_move_out(const leat_device *device, int64_t images, int64_t values, const float *in,
                        float *rows, leat_error *err) {
    return run(device, (move_job){.images = images, .values = values, .from = in, .to = rows},
               floats_out, err);
}

void leat_clear(const leat_device *device, int64_t count, float *out) {
    (void)device;
    memset(out, 0, sizeof *out * (size_t)count);
}

void leat_copy(const leat_device *device, int64_t count, const float *in, float *out) {
    (void)device;
    LEAT_ASSERT(leat_apart(in, count, out, count));
    memcpy(out, in, sizeof *out * (size_t)count);
}
