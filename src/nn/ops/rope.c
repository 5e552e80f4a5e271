/* See rope.h. */
#include "nn/ops/rope.h"

#include "base/portable_math.h"
#include "nn/float_mode.h"

enum { ROWS = 64 }; /* of a part */

void leat_rope_fill(int64_t positions, int64_t width, double base, float *table) {
    LEAT_ASSERT(positions >= 1 && positions <= LEAT_ROPE_POSITIONS_MAX);
    LEAT_ASSERT(width >= 2 && width % 2 == 0 && base >= 1 && base <= LEAT_ROPE_BASE_MAX);
    LEAT_ASSERT(leat_float_mode_is_set());
    const int64_t half = width / 2;
    const double logarithm = leat_ln(base);
    for (int64_t j = 0; j < half; j++) {
        const double speed = 1 / leat_exp(logarithm * (double)(2 * j) / (double)width);
        for (int64_t i = 0; i < positions; i++) {
            double sine, cosine;
            leat_sin_cos((double)i * speed, &sine, &cosine);
            table[i * width + j] = (float)cosine;
            table[i * width + half + j] = (float)sine;
        }
    }
}

typedef struct rope_job {
    const leat_kernels *kernels;
    leat_turn of;
    float *x;
} rope_job;

static void turn_part(void *context, int64_t part) {
    const rope_job *job = context;
    leat_turn piece = job->of;
    const int64_t first = part * ROWS;
    piece.rows = leat_min(ROWS, piece.rows - first);
    piece.position += first;
    job->kernels->turn(&piece, job->x + first * piece.step);
}

static leat_code run(const leat_device *device, const leat_rope *of, float sign, float *x,
                     leat_error *err) {
    LEAT_ASSERT(of->rows >= 0 && of->heads >= 1 && of->width >= 2 && of->width % 2 == 0);
    const int64_t step = leat_lanes(of->heads * of->width);
    LEAT_ASSERT(of->rows <= LEAT_OP_VALUES_MAX / step);
    LEAT_ASSERT(leat_apart(of->table, of->positions * of->width, x, of->rows * step));
    for (int64_t row = 0; row < of->rows; row++)
        LEAT_ASSERT(of->position[row] >= 0 && of->position[row] < of->positions);
    rope_job job = {.kernels = device->kernels,
                    .of = {of->rows, step, of->heads, of->width, of->position, of->table, sign},
                    .x = x};
    return leat_device_run(device, (of->rows + ROWS - 1) / ROWS, turn_part, &job, err);
}

leat_code leat_rope_forward(const leat_device *device, const leat_rope *of, float *x,
                            leat_error *err) {
    return run(device, of, 1, x, err);
}

leat_code leat_rope_backward(const leat_device *device, const leat_rope *of, float *x,
                             leat_error *err) {
    return run(device, of, -1, x, err);
}
