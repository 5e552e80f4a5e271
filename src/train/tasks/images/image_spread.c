/* See image_spread.h. */
#include "train/tasks/images/image_spread.h"

#include <math.h>

void leat_image_spread_add(leat_image_spread *spread, const uint8_t *levels) {
    spread->count++;
    for (int i = 0; i < LEAT_IMAGE_VALUES; i++) {
        spread->sum[i] += levels[i];
        spread->squares[i] += levels[i] * levels[i];
    }
}

double leat_image_spread_get(const leat_image_spread *spread) {
    const double count = (double)spread->count;
    double all = 0;
    if (spread->count < 2) return NAN;
    for (int i = 0; i < LEAT_IMAGE_VALUES; i++) {
        const double mean = (double)spread->sum[i] / count;
        const double variance = (double)spread->squares[i] / count - mean * mean;
        if (variance > 0) all += sqrt(variance); /* below 0 by rounding only */
    }
    return all / LEAT_IMAGE_VALUES / 127.5; /* 255 levels are 2 */
}
