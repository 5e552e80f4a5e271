/* The order of the images in a run of batches. */
#include "batches/images.h"
#include "leat/batch.h"

int64_t images_at(const images_job *job, int64_t position) {
    leat_image_order order = {.seed = job->options.seed,
                              .count = job->facts.count,
                              .image_bytes = 3 * (int64_t)job->facts.size * job->facts.size,
                              .window_bytes = job->options.window_bytes};
    return leat_image_in_order(&order, position);
}
