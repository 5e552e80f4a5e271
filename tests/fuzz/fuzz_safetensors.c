/*
 * The reader of safetensors headers. The first byte chooses: even, the rest is a file; odd, two
 * bytes say how much data there is and the rest is the header's text. What is read must fill the
 * file, and must be planned and read back as the same tensors.
 */
#include <stdlib.h>
#include <string.h>

#include "format/safetensors/safetensors.h"

static int wide_first(const void *a, const void *b) {
    const leat_tensor *x = a, *y = b;
    int64_t bytes = leat_dtype_bytes(y->dtype) - leat_dtype_bytes(x->dtype);
    return bytes != 0 ? (bytes > 0) - (bytes < 0) : strcmp(x->name, y->name);
}

/* Tensors as they were read lie one behind the other up to the file's end, and are found. */
static void check(const leat_safetensors *read, int64_t file_bytes) {
    int64_t count = leat_safetensors_count(read), end = 0;
    for (int64_t i = 0; i < count; i++) {
        const leat_tensor *tensor = leat_safetensors_at(read, i), *found = NULL;
        if (i > 0 && tensor->offset != end) abort();
        if (tensor->offset < 10 || tensor->size_bytes < 0) abort();
        end = tensor->offset + tensor->size_bytes;
        if (leat_safetensors_find(read, tensor->name, tensor->dtype, tensor->rank, tensor->shape,
                                  &found, NULL) != LEAT_OK ||
            found != tensor) {
            abort();
        }
    }
    if (count > 0 && end != file_bytes) abort();
}

static void plan_again(const leat_safetensors *read) {
    int64_t count = leat_safetensors_count(read), file_bytes = 0;
    const char *value = leat_safetensors_metadata(read, "k");
    const char *const metadata[] = {"k", value};
    leat_tensor *tensors = malloc((size_t)(count + 1) * sizeof *tensors);
    leat_safetensors *again = NULL;
    leat_buf header = {0};
    leat_error err;
    if (tensors == NULL) abort();
    for (int64_t i = 0; i < count; i++) tensors[i] = *leat_safetensors_at(read, i);
    qsort(tensors, (size_t)count, sizeof *tensors, wide_first);
    if (leat_safetensors_plan(tensors, count, metadata, value != NULL, &header, &file_bytes,
                              &err) != LEAT_OK) {
        abort();
    }
    if (leat_safetensors_parse(&again, header.data, header.size, file_bytes, "own", &err) !=
        LEAT_OK) {
        abort();
    }
    check(again, file_bytes);
    const char *kept = leat_safetensors_metadata(again, "k");
    if (value == NULL ? kept != NULL : kept == NULL || strcmp(kept, value) != 0) abort();
    for (int64_t i = 0; i < count; i++) {
        const leat_tensor *found = NULL;
        if (leat_safetensors_find(again, tensors[i].name, tensors[i].dtype, tensors[i].rank,
                                  tensors[i].shape, &found, &err) != LEAT_OK ||
            found->offset != tensors[i].offset || found->size_bytes != tensors[i].size_bytes) {
            abort();
        }
    }
    leat_safetensors_destroy(again);
    leat_buf_free(&header);
    free(tensors);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    leat_safetensors *read = NULL;
    leat_error err = {0};
    if (size < 3) return 0;
    bool framed = data[0] % 2 == 0;
    int64_t text_bytes = (int64_t)size - (framed ? 1 : 3);
    int64_t given = text_bytes + (framed ? 0 : 8);
    int64_t file_bytes = given + (framed ? 0 : data[1] | data[2] << 8);
    uint64_t stated = (uint64_t)text_bytes;
    uint8_t *bytes = malloc((size_t)given + 1);
    if (bytes == NULL) abort();
    if (!framed) memcpy(bytes, &stated, 8);
    memcpy(bytes + given - text_bytes, data + size - text_bytes, (size_t)text_bytes);
    if (leat_safetensors_parse(&read, bytes, given, file_bytes, "input", &err) == LEAT_OK) {
        check(read, file_bytes);
        plan_again(read);
    } else if (read != NULL || err.message[0] == 0) {
        abort();
    }
    leat_safetensors_destroy(read);
    free(bytes);
    return 0;
}
