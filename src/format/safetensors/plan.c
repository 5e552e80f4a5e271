/*
 * The header of a safetensors file that is to be written. Its own size does not change the offsets
 * in it, which count from its end; so it is made in one go, and blanks fill it up to a multiple of
 * 64 bytes: what is aligned among the tensors is then aligned in a mapped file.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "format/safetensors/safetensors.h"

#define PREFIX_BYTES 8
#define HEADER_ALIGN 64

/* ---- what may be planned -------------------------------------------------------------------- */

static leat_code check_text(const char *what, const char *text, size_t max, leat_error *err) {
    size_t size = strlen(text);
    if (size > max) {
        return leat_fail(err, LEAT_ERR_OPTION,
                         "safetensors: %s \"%.80s\" has %zu bytes; the limit is %zu", what, text,
                         size, max);
    }
    if (!leat_json_is_utf8(text, (int64_t)size)) {
        return leat_fail(err, LEAT_ERR_OPTION, "safetensors: %s \"%.80s\" is not UTF-8", what,
                         text);
    }
    return LEAT_OK;
}

static int compare_texts(const void *a, const void *b) {
    const char *const *x = a, *const *y = b;
    return strcmp(*x, *y);
}

/* No text may come twice; sorts them. */
static leat_code check_twice(const char *what, const char **texts, int64_t count, leat_error *err) {
    if (count > 0) qsort(texts, (size_t)count, sizeof *texts, compare_texts);
    for (int64_t i = 1; i < count; i++) {
        if (strcmp(texts[i - 1], texts[i]) == 0) {
            return leat_fail(err, LEAT_ERR_OPTION, "safetensors: %s \"%.80s\" is given twice", what,
                             texts[i]);
        }
    }
    return LEAT_OK;
}

static leat_code check_names(const leat_tensor *tensors, int64_t count, leat_error *err) {
    const char **names = NULL;
    LEAT_TRY(LEAT_NEW(&names, count, err));
    leat_code code = LEAT_OK;
    for (int64_t i = 0; i < count && code == LEAT_OK; i++) {
        names[i] = tensors[i].name;
        code = check_text("tensor", names[i], LEAT_TENSOR_NAME_BYTES - 1, err);
        if (code == LEAT_OK && strcmp(names[i], "__metadata__") == 0)
            code = leat_fail(err, LEAT_ERR_OPTION,
                             "safetensors: a tensor may not be \"__metadata__\"");
    }
    if (code == LEAT_OK) code = check_twice("tensor", names, count, err);
    leat_free(names);
    return code;
}

static leat_code check_metadata(const char *const *metadata, int64_t count, leat_error *err) {
    const char **keys = NULL;
    LEAT_TRY(LEAT_NEW(&keys, count, err));
    leat_code code = LEAT_OK;
    for (int64_t i = 0; i < count && code == LEAT_OK; i++) {
        keys[i] = metadata[2 * i];
        code = check_text("metadata", keys[i], LEAT_JSON_KEY_BYTES - 1, err);
        if (code == LEAT_OK)
            code = check_text("metadata", metadata[2 * i + 1], (size_t)LEAT_SAFETENSORS_HEADER_MAX,
                              err);
    }
    if (code == LEAT_OK) code = check_twice("metadata", keys, count, err);
    leat_free(keys);
    return code;
}

/* ---- places --------------------------------------------------------------------------------- */

/* Offsets count from the first tensor on. */
static leat_code place_tensors(leat_tensor *tensors, int64_t count, int64_t *data_bytes,
                               leat_error *err) {
    int64_t end = 0;
    for (int64_t i = 0; i < count; i++) {
        leat_tensor *tensor = &tensors[i];
        LEAT_ASSERT(tensor->rank >= 0 && tensor->rank <= LEAT_TENSOR_RANK_MAX);
        tensor->offset = end;
        if (!leat_tensor_size(tensor) || !leat_add_size(end, tensor->size_bytes, &end)) {
            return leat_fail(err, LEAT_ERR_LIMIT,
                             "safetensors: tensor \"%.80s\" exceeds 2^63 bytes", tensor->name);
        }
        int64_t item_bytes = leat_dtype_bytes(tensor->dtype);
        if (tensor->offset % item_bytes != 0) {
            return leat_fail(err, LEAT_ERR_OPTION,
                             "safetensors: tensor \"%.80s\" (%s) begins at byte %lld, which is not "
                             "a multiple of %lld; put wide types first",
                             tensor->name, leat_dtype_name(tensor->dtype),
                             (long long)tensor->offset, (long long)item_bytes);
        }
    }
    *data_bytes = end;
    return LEAT_OK;
}

/* ---- the header ----------------------------------------------------------------------------- */

static void put_tensor(leat_json *json, const leat_tensor *tensor) {
    leat_json_key(json, tensor->name);
    leat_json_begin_object(json);
    leat_json_member_string(json, "dtype", leat_dtype_name(tensor->dtype));
    leat_json_key(json, "shape");
    leat_json_begin_array(json);
    for (int i = 0; i < tensor->rank; i++) leat_json_int(json, tensor->shape[i]);
    leat_json_end_array(json);
    leat_json_key(json, "data_offsets");
    leat_json_begin_array(json);
    leat_json_int(json, tensor->offset);
    leat_json_int(json, tensor->offset + tensor->size_bytes);
    leat_json_end_array(json);
    leat_json_end_object(json);
}

static void put_header(leat_json *json, const leat_tensor *tensors, int64_t count,
                       const char *const *metadata, int64_t metadata_count) {
    leat_json_begin_object(json);
    if (metadata_count > 0) {
        leat_json_key(json, "__metadata__");
        leat_json_begin_object(json);
        for (int64_t i = 0; i < metadata_count; i++)
            leat_json_member_string(json, metadata[2 * i], metadata[2 * i + 1]);
        leat_json_end_object(json);
    }
    for (int64_t i = 0; i < count; i++) put_tensor(json, &tensors[i]);
    leat_json_end_object(json);
}

/* Size, text and blanks. */
static leat_code frame_header(const char *text, int64_t text_bytes, leat_buf *header,
                              leat_error *err) {
    int64_t size = (PREFIX_BYTES + text_bytes + HEADER_ALIGN - 1) / HEADER_ALIGN * HEADER_ALIGN;
    uint64_t stated = (uint64_t)(size - PREFIX_BYTES); /* little-endian, as the machine */
    if (size - PREFIX_BYTES > LEAT_SAFETENSORS_HEADER_MAX) {
        return leat_fail(err, LEAT_ERR_LIMIT,
                         "safetensors: a header of %lld bytes; the limit is %lld; use fewer "
                         "tensors or less metadata",
                         (long long)text_bytes, (long long)LEAT_SAFETENSORS_HEADER_MAX);
    }
    LEAT_TRY(leat_buf_reserve(header, size, err));
    memcpy(header->data, &stated, PREFIX_BYTES);
    memcpy(header->data + PREFIX_BYTES, text, (size_t)text_bytes);
    memset(header->data + PREFIX_BYTES + text_bytes, ' ',
           (size_t)(size - PREFIX_BYTES - text_bytes));
    header->size = size;
    return LEAT_OK;
}

static leat_code make_header(leat_tensor *tensors, int64_t count, const char *const *metadata,
                             int64_t metadata_count, leat_buf *header, leat_error *err) {
    leat_json *json = NULL;
    const char *text = NULL;
    int64_t text_bytes = 0;
    LEAT_TRY(leat_json_create(&json, true, err));
    put_header(json, tensors, count, metadata, metadata_count);
    leat_code code = leat_json_finish(json, &text, &text_bytes, err);
    if (code == LEAT_OK) code = frame_header(text, text_bytes - 1, header, err); /* no newline */
    leat_json_destroy(json);
    return code;
}

static leat_code plan(leat_tensor *tensors, int64_t count, const char *const *metadata,
                      int64_t metadata_count, leat_buf *header, int64_t *file_bytes,
                      leat_error *err) {
    if (count > LEAT_SAFETENSORS_TENSORS_MAX || metadata_count > LEAT_SAFETENSORS_METADATA_MAX) {
        return leat_fail(
            err, LEAT_ERR_LIMIT,
            "safetensors: %lld tensors and %lld texts of metadata; the limit is %d each",
            (long long)count, (long long)metadata_count, LEAT_SAFETENSORS_TENSORS_MAX);
    }
    LEAT_TRY(check_names(tensors, count, err));
    LEAT_TRY(check_metadata(metadata, metadata_count, err));
    int64_t data_bytes = 0;
    LEAT_TRY(place_tensors(tensors, count, &data_bytes, err));
    LEAT_TRY(make_header(tensors, count, metadata, metadata_count, header, err));
    if (!leat_add_size(header->size, data_bytes, file_bytes))
        return leat_fail(err, LEAT_ERR_LIMIT, "safetensors: the file exceeds 2^63 bytes");
    for (int64_t i = 0; i < count; i++) tensors[i].offset += header->size;
    return LEAT_OK;
}

leat_code leat_safetensors_plan(leat_tensor *tensors, int64_t count, const char *const *metadata,
                                int64_t metadata_count, leat_buf *header, int64_t *file_bytes,
                                leat_error *err) {
    *header = (leat_buf){0};
    *file_bytes = 0;
    leat_code code = plan(tensors, count, metadata, metadata_count, header, file_bytes, err);
    if (code == LEAT_OK) return LEAT_OK;
    leat_buf_free(header);
    *file_bytes = 0;
    for (int64_t i = 0; i < count; i++) tensors[i].offset = tensors[i].size_bytes = 0;
    return code;
}
