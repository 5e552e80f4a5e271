/* JSON objects: any bytes, read by leat's scanner and by jansson. */
#include "json_reference.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    bool object = false;
    if (size > 1 << 16) return 0;
    LEAT_ASSERT(json_reference_differs((const char *)data, (int64_t)size, &object) == NULL);
    return 0;
}
