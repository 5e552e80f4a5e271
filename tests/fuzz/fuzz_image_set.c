/*
 * images.json of an image data set. What is accepted must be written and read back as the same
 * text, and its header and places must be possible.
 */
#include <stdlib.h>
#include <string.h>

#include "format/image_set/image_set.h"

static leat_code append(void *context, const void *bytes, int64_t size_bytes, leat_error *err) {
    return leat_buf_append(context, bytes, size_bytes, err);
}

static void check(const leat_image_set *set) {
    leat_image_set again;
    leat_buf text = {0}, second = {0};
    leat_error err = {0};
    uint8_t header[LEAT_IMAGES_HEADER_BYTES];
    if (leat_image_set_write(set, append, &text, &err) != LEAT_OK) abort();
    if (leat_image_set_parse(&again, (leat_json_span){(const char *)text.data, text.size}, "it",
                             &err) != LEAT_OK)
        abort();
    if (leat_image_set_write(&again, append, &second, &err) != LEAT_OK) abort();
    if (text.size != second.size || memcmp(text.data, second.data, (size_t)text.size) != 0) abort();
    if (leat_image_set_header(set->count, set->size, header, &err) != LEAT_OK) abort();
    leat_image_set_free(&again);
    leat_buf_free(&text);
    leat_buf_free(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    leat_image_set set;
    leat_error err = {0};
    leat_json_span text = {(const char *)data, (int64_t)size};
    if (leat_image_set_parse(&set, text, "input", &err) == LEAT_OK) check(&set);
    else if (err.message[0] == 0 || set.entries != NULL) abort();
    leat_image_set_free(&set);
    return 0;
}
