/* The manifest's reader: what it accepts must be written and read back as the same bytes. */
#include <stdlib.h>
#include <string.h>

#include "format/dataset/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    leat_manifest manifest, again;
    leat_buf text = {0}, second = {0};
    leat_error err;
    if (leat_manifest_parse((const char *)data, (int64_t)size, "input", &manifest, &err) !=
        LEAT_OK) {
        return 0;
    }
    if (leat_manifest_write(&manifest, &text, &err) != LEAT_OK) abort();
    if (leat_manifest_parse((const char *)text.data, text.size, "own", &again, &err) != LEAT_OK) {
        abort();
    }
    if (leat_manifest_write(&again, &second, &err) != LEAT_OK) abort();
    if (text.size != second.size || memcmp(text.data, second.data, (size_t)text.size) != 0) abort();
    leat_manifest_free(&manifest);
    leat_manifest_free(&again);
    leat_buf_free(&text);
    leat_buf_free(&second);
    return 0;
}
