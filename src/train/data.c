/* See data.h. */
#include "train/data.h"

static leat_code read_image(const void *context, int64_t index, uint8_t *out, leat_error *err) {
    return leat_images_read(context, index, out, err);
}

leat_code leat_data_open(leat_data *data, const char *path, leat_error *err) {
    leat_images_facts facts;
    *data = (leat_data){0};
    LEAT_TRY(leat_images_open(&data->images, path, err));
    leat_images_get_facts(data->images, &facts);
    data->samples = (leat_samples){.count = facts.count,
                                   .fingerprint = facts.fingerprint,
                                   .sample_bytes = facts.image_bytes,
                                   .read = read_image,
                                   .context = data->images};
    return LEAT_OK;
}

void leat_data_close(leat_data *data) {
    leat_images_close(data->images);
    *data = (leat_data){0};
}
