/* See data.h. */
#include "train/data.h"

#include "load/images/images.h"

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

static leat_code append(void *context, const void *bytes, int64_t size_bytes, leat_error *err) {
    return leat_buf_append(context, bytes, size_bytes, err);
}

leat_code leat_data_list(const leat_data *data, leat_buf *list, leat_error *err) {
    return leat_image_set_write(&data->images->set, append, list, err);
}

leat_code leat_data_difference(const leat_data *data, const uint8_t *list, int64_t list_bytes,
                               char words[LEAT_DATA_WORDS_BYTES], leat_error *err) {
    leat_image_set wanted;
    bool same = false;
    words[0] = 0;
    LEAT_TRY(leat_image_set_parse(&wanted, (leat_json_span){(const char *)list, list_bytes},
                                  "the list of the run's images", err));
    const leat_code code =
        leat_image_set_difference(&wanted, &data->images->set, &same, words, err);
    leat_image_set_free(&wanted);
    return code;
}
