/* Binary cross-entropy: both tails computed as themselves, without a difference that cancels. */
#include "nn/ops/bce.h"

void leat_bce(const leat_device *device, int64_t count, float target, const float *x, double *loss,
              float *gradient, float *work) {
    LEAT_ASSERT(count >= 1 && target >= 0 && target <= 1);
    /* x is read again after the first values of the gradient are there */
    LEAT_ASSERT(leat_apart(x, count, gradient, count) && leat_apart(x, count, work, 2 * count) &&
                leat_apart(gradient, count, work, 2 * count));
    const float other = 1.0f - target;
    float *minus = work, *value = work + count;
    double sum = 0;
    for (int64_t i = 0; i < count; i++) minus[i] = -x[i];
    device->kernels->map(LEAT_FUNCTION_SIGMOID, count, x, gradient);
    device->kernels->map(LEAT_FUNCTION_SIGMOID, count, minus, value);
    for (int64_t i = 0; i < count; i++)
        gradient[i] = (other * gradient[i] - target * value[i]) / (float)count;
    device->kernels->map(LEAT_FUNCTION_SOFTPLUS, count, minus, minus);
    device->kernels->map(LEAT_FUNCTION_SOFTPLUS, count, x, value);
    for (int64_t i = 0; i < count; i++) sum += (double)(target * minus[i] + other * value[i]);
    *loss = sum / (double)count;
}
