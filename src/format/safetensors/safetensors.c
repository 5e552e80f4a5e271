/*
 * Reading safetensors headers. A header is accepted if the format's own reader accepts it: tensors
 * fill the file after the header, each beginning where the one before it ends. Memory follows the
 * number of tensors: the header is walked, and each tensor's few members are read by themselves.
 */
#include "format/safetensors/safetensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"

#define PREFIX_BYTES 8
#define METADATA_KEY "__metadata__"
/* Text of one tensor's type, shape and offsets. */
#define ENTRY_BYTES_MAX 4096
/* Text of a shape in a message. */
#define SHAPE_TEXT_BYTES 192

_Static_assert(LEAT_TENSOR_NAME_BYTES == LEAT_JSON_KEY_BYTES, "names of tensors are keys");

static const struct {
    const char *name;
    int64_t bytes;
} dtypes[LEAT_DTYPE_COUNT] = {
    [LEAT_DTYPE_BOOL] = {"BOOL", 1}, [LEAT_DTYPE_U8] = {"U8", 1},   [LEAT_DTYPE_I8] = {"I8", 1},
    [LEAT_DTYPE_I16] = {"I16", 2},   [LEAT_DTYPE_U16] = {"U16", 2}, [LEAT_DTYPE_F16] = {"F16", 2},
    [LEAT_DTYPE_BF16] = {"BF16", 2}, [LEAT_DTYPE_I32] = {"I32", 4}, [LEAT_DTYPE_U32] = {"U32", 4},
    [LEAT_DTYPE_F32] = {"F32", 4},   [LEAT_DTYPE_I64] = {"I64", 8}, [LEAT_DTYPE_U64] = {"U64", 8},
    [LEAT_DTYPE_F64] = {"F64", 8},
};

const char *leat_dtype_name(leat_dtype dtype) { return dtypes[dtype].name; }

int64_t leat_dtype_bytes(leat_dtype dtype) { return dtypes[dtype].bytes; }

bool leat_tensor_size(leat_tensor *tensor) {
    int64_t count = 1;
    for (int i = 0; i < tensor->rank; i++) {
        if (!leat_mul_size(count, tensor->shape[i], &count)) return false;
    }
    return leat_mul_size(count, leat_dtype_bytes(tensor->dtype), &tensor->size_bytes);
}

struct leat_safetensors {
    leat_tensor *tensors; /* by place */
    int64_t count, capacity;
    const leat_tensor **by_name;
    json_t *metadata;   /* an object of strings; NULL */
    char what[256];     /* the file, quoted */
    int64_t data_at;    /* where the header ends */
    int64_t data_bytes; /* from there to the file's end */
};

void leat_safetensors_destroy(leat_safetensors *tensors) {
    if (tensors == NULL) return;
    leat_free(tensors->tensors);
    leat_free(tensors->by_name);
    json_decref(tensors->metadata);
    leat_free(tensors);
}

/* ---- one tensor ----------------------------------------------------------------------------- */

static leat_code read_dtype(const json_t *entry, leat_tensor *tensor, const char *what,
                            leat_error *err) {
    const char *name = NULL;
    LEAT_TRY(leat_json_get_string(entry, "dtype", &name, what, err));
    for (int i = 0; i < LEAT_DTYPE_COUNT; i++) {
        if (strcmp(name, dtypes[i].name) != 0) continue;
        tensor->dtype = (leat_dtype)i;
        return LEAT_OK;
    }
    return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                     "%s is of type \"%.32s\"; leat reads BOOL, U8 to U64, I8 to I64, F16, BF16, "
                     "F32 and F64",
                     what, name);
}

/* A list of non-negative integers, at most `max` of them. */
static leat_code read_numbers(const json_t *entry, const char *key, int max, int64_t *numbers,
                              int *count, const char *what, leat_error *err) {
    const json_t *list = NULL;
    LEAT_TRY(leat_json_get_array(entry, key, &list, what, err));
    size_t size = json_array_size(list);
    if (size > (size_t)max) {
        return leat_fail(err, LEAT_ERR_LIMIT, "%s: \"%s\" has %zu numbers; the limit is %d", what,
                         key, size, max);
    }
    for (size_t i = 0; i < size; i++) {
        const json_t *number = json_array_get(list, i);
        if (!json_is_integer(number) || json_integer_value(number) < 0) {
            return leat_fail(err, LEAT_ERR_CORRUPT,
                             "%s: number %zu of \"%s\" is not an integer of 0 or more", what, i,
                             key);
        }
        numbers[i] = json_integer_value(number);
    }
    *count = (int)size;
    return LEAT_OK;
}

static leat_code read_place(const leat_safetensors *self, const json_t *entry, leat_tensor *tensor,
                            const char *what, leat_error *err) {
    int64_t offsets[2] = {0};
    int count = 0;
    LEAT_TRY(read_numbers(entry, "data_offsets", 2, offsets, &count, what, err));
    if (count < 2 || offsets[1] < offsets[0] || offsets[1] > self->data_bytes) {
        return leat_fail(err, LEAT_ERR_CORRUPT,
                         "%s: \"data_offsets\" are %lld and %lld; they must be ascending and "
                         "within the %lld bytes after the header",
                         what, (long long)offsets[0], (long long)offsets[1],
                         (long long)self->data_bytes);
    }
    if (offsets[1] - offsets[0] != tensor->size_bytes) {
        return leat_fail(err, LEAT_ERR_CORRUPT,
                         "%s has %lld bytes by its offsets, but %lld by type and shape", what,
                         (long long)(offsets[1] - offsets[0]), (long long)tensor->size_bytes);
    }
    tensor->offset = self->data_at + offsets[0];
    return LEAT_OK;
}

static leat_code read_tensor(const leat_safetensors *self, const char *name, const json_t *entry,
                             leat_tensor *tensor, leat_error *err) {
    char what[384];
    snprintf(what, sizeof what, "%s: tensor \"%.80s\"", self->what, name);
    *tensor = (leat_tensor){0};
    memcpy(tensor->name, name, strlen(name));
    LEAT_TRY(read_dtype(entry, tensor, what, err));
    LEAT_TRY(read_numbers(entry, "shape", LEAT_TENSOR_RANK_MAX, tensor->shape, &tensor->rank, what,
                          err));
    if (!leat_tensor_size(tensor))
        return leat_fail(err, LEAT_ERR_CORRUPT, "%s: its shape exceeds 2^63 bytes", what);
    return read_place(self, entry, tensor, what, err);
}

static leat_code add_tensor(leat_safetensors *self, const leat_json_walk *walk, leat_error *err) {
    if (self->count == LEAT_SAFETENSORS_TENSORS_MAX) {
        return leat_fail(err, LEAT_ERR_LIMIT, "%s: more than %d tensors", self->what,
                         LEAT_SAFETENSORS_TENSORS_MAX);
    }
    LEAT_TRY(LEAT_GROW(&self->tensors, &self->capacity, self->count + 1, err));
    json_t *entry = NULL;
    LEAT_TRY(leat_json_walk_value(walk, ENTRY_BYTES_MAX, &entry, err));
    leat_code code = read_tensor(self, walk->key, entry, &self->tensors[self->count], err);
    json_decref(entry);
    if (code == LEAT_OK) self->count++;
    return code;
}

/* ---- __metadata__ --------------------------------------------------------------------------- */

static leat_code add_metadata(leat_safetensors *self, const leat_json_walk *walk, leat_error *err) {
    json_t *value = NULL;
    if (walk->count > LEAT_SAFETENSORS_METADATA_MAX) {
        return leat_fail(err, LEAT_ERR_LIMIT, "%s: more than %d pairs", walk->what,
                         LEAT_SAFETENSORS_METADATA_MAX);
    }
    if (json_object_get(self->metadata, walk->key) != NULL) {
        return leat_fail(err, LEAT_ERR_CORRUPT, "%s: \"%.80s\" appears twice", walk->what,
                         walk->key);
    }
    if (walk->value.text[0] != '"') {
        return leat_fail(err, LEAT_ERR_CORRUPT, "%s: \"%.80s\" is not a string", walk->what,
                         walk->key);
    }
    LEAT_TRY(leat_json_walk_value(walk, LEAT_SAFETENSORS_HEADER_MAX, &value, err));
    if (json_object_set_new_nocheck(self->metadata, walk->key, value) == 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_MEMORY, "reading %s: out of memory", walk->what);
}

/* `text` is the header's member; null means none, as in the format's own reader. */
static leat_code read_metadata(leat_safetensors *self, leat_json_span text, leat_error *err) {
    char what[384];
    leat_json_walk walk;
    bool more = false;
    snprintf(what, sizeof what, "%s: " METADATA_KEY, self->what);
    if (self->metadata != NULL) return leat_fail(err, LEAT_ERR_CORRUPT, "%s appears twice", what);
    self->metadata = json_object();
    if (self->metadata == NULL)
        return leat_fail(err, LEAT_ERR_MEMORY, "reading %s: out of memory", what);
    if (text.size_bytes == 4 && memcmp(text.text, "null", 4) == 0) return LEAT_OK;
    LEAT_TRY(leat_json_walk_object(&walk, text, what, err));
    while (true) {
        LEAT_TRY(leat_json_walk_next(&walk, &more, err));
        if (!more) return LEAT_OK;
        LEAT_TRY(add_metadata(self, &walk, err));
    }
}

const char *leat_safetensors_metadata(const leat_safetensors *tensors, const char *key) {
    return json_string_value(json_object_get(tensors->metadata, key));
}

/* ---- all tensors ---------------------------------------------------------------------------- */

static int compare_places(const void *a, const void *b) {
    const leat_tensor *x = a, *y = b;
    if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
    if (x->size_bytes != y->size_bytes) return x->size_bytes < y->size_bytes ? -1 : 1;
    return strcmp(x->name, y->name);
}

static int compare_names(const void *a, const void *b) {
    const leat_tensor *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

/* Puts the tensors in the order of their places, which must leave no hole; and in that of names. */
static leat_code sort_tensors(leat_safetensors *self, leat_error *err) {
    int64_t end = self->data_at;
    if (self->count > 0)
        qsort(self->tensors, (size_t)self->count, sizeof *self->tensors, compare_places);
    LEAT_TRY(LEAT_NEW(&self->by_name, self->count, err));
    for (int64_t i = 0; i < self->count; i++) {
        const leat_tensor *tensor = &self->tensors[i];
        if (tensor->offset != end) {
            return leat_fail(err, LEAT_ERR_CORRUPT,
                             "%s: tensor \"%.80s\" begins at byte %lld; it must begin at %lld, "
                             "where the previous one ends",
                             self->what, tensor->name, (long long)tensor->offset, (long long)end);
        }
        end += tensor->size_bytes;
        self->by_name[i] = tensor;
    }
    if (end != self->data_at + self->data_bytes) {
        return leat_fail(err, LEAT_ERR_CORRUPT,
                         "%s: its tensors end at byte %lld, but the file has %lld; it is "
                         "truncated, or something was appended",
                         self->what, (long long)end, (long long)(self->data_at + self->data_bytes));
    }
    qsort(self->by_name, (size_t)self->count, sizeof(leat_tensor *), compare_names);
    for (int64_t i = 1; i < self->count; i++) {
        if (compare_names(&self->by_name[i - 1], &self->by_name[i]) != 0) continue;
        return leat_fail(err, LEAT_ERR_CORRUPT, "%s: tensor \"%.80s\" appears twice", self->what,
                         self->by_name[i]->name);
    }
    return LEAT_OK;
}

static leat_code read_header(leat_safetensors *self, leat_json_span text, leat_error *err) {
    leat_json_walk walk;
    bool more = false;
    LEAT_TRY(leat_json_walk_object(&walk, text, self->what, err));
    while (true) {
        LEAT_TRY(leat_json_walk_next(&walk, &more, err));
        if (!more) return sort_tensors(self, err);
        if (strcmp(walk.key, METADATA_KEY) == 0) LEAT_TRY(read_metadata(self, walk.value, err));
        else LEAT_TRY(add_tensor(self, &walk, err));
    }
}

/* The zip archive, or the pickle of protocol 2 and later, that torch.save writes. */
static bool is_pickle(const uint8_t *bytes) {
    return memcmp(bytes, "PK\3\4", 4) == 0 || (bytes[0] == 0x80 && bytes[1] >= 2 && bytes[1] < 8);
}

/* Size of the header's text, from the file's first bytes. */
static leat_code read_prefix(const void *bytes, int64_t size_bytes, int64_t file_bytes,
                             const char *path, int64_t *header_bytes, leat_error *err) {
    uint64_t size = 0;
    *header_bytes = 0;
    if (size_bytes < PREFIX_BYTES) {
        return leat_fail(err, LEAT_ERR_CORRUPT,
                         "\"%s\" is not a safetensors file: it has %lld bytes", path,
                         (long long)size_bytes);
    }
    memcpy(&size, bytes, sizeof size); /* little-endian, as the machine */
    if (size > (uint64_t)(file_bytes - PREFIX_BYTES)) {
        if (is_pickle(bytes))
            return leat_fail(err, LEAT_ERR_CORRUPT,
                             "\"%s\" was written by torch.save; such files can execute code when "
                             "they are read: write it with safetensors.torch.save_file, as "
                             "docs/detect.md shows",
                             path);
        return leat_fail(err, LEAT_ERR_CORRUPT,
                         "\"%s\" is not a safetensors file, or is truncated: a header of %llu "
                         "bytes in a file of %lld",
                         path, (unsigned long long)size, (long long)file_bytes);
    }
    if (size > (uint64_t)LEAT_SAFETENSORS_HEADER_MAX) {
        return leat_fail(err, LEAT_ERR_LIMIT, "\"%s\": a header of %llu bytes; the limit is %lld",
                         path, (unsigned long long)size, (long long)LEAT_SAFETENSORS_HEADER_MAX);
    }
    *header_bytes = (int64_t)size;
    return LEAT_OK;
}

leat_code leat_safetensors_parse(leat_safetensors **out, const void *bytes, int64_t size_bytes,
                                 int64_t file_bytes, const char *path, leat_error *err) {
    int64_t header_bytes = 0;
    leat_safetensors *self = NULL;
    LEAT_ASSERT(size_bytes >= 0 && size_bytes <= file_bytes);
    *out = NULL;
    LEAT_TRY(read_prefix(bytes, size_bytes, file_bytes, path, &header_bytes, err));
    if (header_bytes > size_bytes - PREFIX_BYTES) {
        return leat_fail(err, LEAT_ERR_INPUT, "\"%s\": %lld bytes given of a header of %lld", path,
                         (long long)size_bytes, (long long)header_bytes + PREFIX_BYTES);
    }
    LEAT_TRY(LEAT_NEW(&self, 1, err));
    snprintf(self->what, sizeof self->what, "\"%.240s\"", path);
    self->data_at = PREFIX_BYTES + header_bytes;
    self->data_bytes = file_bytes - self->data_at;
    leat_json_span text = {(const char *)bytes + PREFIX_BYTES, header_bytes};
    leat_code code = read_header(self, text, err);
    if (code == LEAT_OK) *out = self;
    else leat_safetensors_destroy(self);
    return code;
}

static leat_code read_file(leat_file *file, leat_safetensors **out, leat_error *err) {
    const char *path = leat_file_path(file);
    uint8_t prefix[PREFIX_BYTES] = {0}, *bytes = NULL;
    int64_t file_bytes = 0, header_bytes = 0;
    LEAT_TRY(leat_file_size(file, &file_bytes, err));
    int64_t begin_bytes = file_bytes < PREFIX_BYTES ? file_bytes : PREFIX_BYTES;
    LEAT_TRY(leat_file_pread(file, prefix, begin_bytes, 0, err));
    LEAT_TRY(read_prefix(prefix, begin_bytes, file_bytes, path, &header_bytes, err));
    int64_t size_bytes = PREFIX_BYTES + header_bytes;
    LEAT_TRY(LEAT_NEW(&bytes, size_bytes, err));
    leat_code code = leat_file_pread(file, bytes, size_bytes, 0, err);
    if (code == LEAT_OK)
        code = leat_safetensors_parse(out, bytes, size_bytes, file_bytes, path, err);
    leat_free(bytes);
    return code;
}

leat_code leat_safetensors_read(leat_safetensors **out, const char *path, leat_error *err) {
    leat_file *file = NULL;
    *out = NULL;
    LEAT_TRY(leat_file_open(&file, path, LEAT_FILE_READ, err));
    leat_code code = read_file(file, out, err);
    leat_file_close(file);
    return code;
}

/* ---- looking -------------------------------------------------------------------------------- */

int64_t leat_safetensors_count(const leat_safetensors *tensors) { return tensors->count; }

const leat_tensor *leat_safetensors_at(const leat_safetensors *tensors, int64_t index) {
    return &tensors->tensors[index];
}

/* "F32 [any, 35]" */
static void describe(leat_dtype dtype, int rank, const int64_t *shape,
                     char text[SHAPE_TEXT_BYTES]) {
    int at = snprintf(text, SHAPE_TEXT_BYTES, "%s [", leat_dtype_name(dtype));
    for (int i = 0; i < rank; i++) {
        const char *comma = i > 0 ? ", " : "";
        if (shape == NULL || shape[i] < 0) {
            at += snprintf(text + at, (size_t)(SHAPE_TEXT_BYTES - at), "%sany", comma);
        } else {
            at += snprintf(text + at, (size_t)(SHAPE_TEXT_BYTES - at), "%s%lld", comma,
                           (long long)shape[i]);
        }
    }
    snprintf(text + at, (size_t)(SHAPE_TEXT_BYTES - at), "]");
}

leat_code leat_safetensors_find(const leat_safetensors *tensors, const char *name, leat_dtype dtype,
                                int rank, const int64_t *shape, const leat_tensor **out,
                                leat_error *err) {
    int64_t low = 0, high = tensors->count;
    *out = NULL;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (strcmp(tensors->by_name[middle]->name, name) < 0) low = middle + 1;
        else high = middle;
    }
    if (low == tensors->count || strcmp(tensors->by_name[low]->name, name) != 0) {
        return leat_fail(err, LEAT_ERR_NOT_FOUND, "%s has no tensor \"%.80s\"", tensors->what,
                         name);
    }
    const leat_tensor *tensor = tensors->by_name[low];
    bool fits = tensor->dtype == dtype && tensor->rank == rank;
    for (int i = 0; i < rank && fits && shape != NULL; i++)
        fits = shape[i] < 0 || shape[i] == tensor->shape[i];
    if (fits) {
        *out = tensor;
        return LEAT_OK;
    }
    char there[SHAPE_TEXT_BYTES], wanted[SHAPE_TEXT_BYTES];
    describe(tensor->dtype, tensor->rank, tensor->shape, there);
    describe(dtype, rank, shape, wanted);
    return leat_fail(err, LEAT_ERR_INPUT, "%s: tensor \"%.80s\" is %s; it must be %s",
                     tensors->what, name, there, wanted);
}
