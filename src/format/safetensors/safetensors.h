/*
 * safetensors files: an 8 byte little-endian header size, a JSON header that names tensors with
 * type, shape and position, then their bytes without gaps. Reading trusts nothing and takes bounded
 * memory. Writing begins with a plan of all places, so that many threads can fill them in any
 * order. docs/safetensors.md says what is read and written.
 */
#ifndef LEAT_FORMAT_SAFETENSORS_SAFETENSORS_H
#define LEAT_FORMAT_SAFETENSORS_SAFETENSORS_H

#include "base/map.h"
#include "base/mem.h"

#define LEAT_TENSOR_RANK_MAX 8
#define LEAT_TENSOR_NAME_BYTES 256 /* with the NUL */
#define LEAT_SAFETENSORS_HEADER_MAX (INT64_C(16) << 20)
#define LEAT_SAFETENSORS_TENSORS_MAX 65536
/* Pairs of __metadata__; a text of it may fill the header. */
#define LEAT_SAFETENSORS_METADATA_MAX 65536

typedef enum leat_dtype {
    LEAT_DTYPE_BOOL,
    LEAT_DTYPE_U8,
    LEAT_DTYPE_I8,
    LEAT_DTYPE_I16,
    LEAT_DTYPE_U16,
    LEAT_DTYPE_F16,
    LEAT_DTYPE_BF16,
    LEAT_DTYPE_I32,
    LEAT_DTYPE_U32,
    LEAT_DTYPE_F32,
    LEAT_DTYPE_I64,
    LEAT_DTYPE_U64,
    LEAT_DTYPE_F64,
    LEAT_DTYPE_COUNT
} leat_dtype;
const char *leat_dtype_name(leat_dtype dtype); /* "F32" */
int64_t leat_dtype_bytes(leat_dtype dtype);    /* of one element */

typedef struct leat_tensor {
    char name[LEAT_TENSOR_NAME_BYTES];
    leat_dtype dtype;
    int rank;
    int64_t shape[LEAT_TENSOR_RANK_MAX];
    int64_t offset, size_bytes; /* of its bytes in the file */
} leat_tensor;
/* Sets size_bytes by type and shape; false if an extent is negative or 2^63 is passed on the way.
 */
bool leat_tensor_size(leat_tensor *tensor);

/* ---- Reading ------------------------------------------------------------------------------ */

/* The header of a file; does not change, so threads may share it. */
typedef struct leat_safetensors leat_safetensors;

/*
 * Reads a header: bytes[0, size_bytes) is the beginning of a file of file_bytes, at least the whole
 * header. `path` names the file in messages. LEAT_ERR_CORRUPT for what contradicts itself or the
 * file's size, LEAT_ERR_UNSUPPORTED for types that are none of the above, LEAT_ERR_LIMIT for what
 * passes a maximum.
 */
LEAT_MUST_CHECK leat_code leat_safetensors_parse(leat_safetensors **out, const void *bytes,
                                                 int64_t size_bytes, int64_t file_bytes,
                                                 const char *path, leat_error *err);
/* Reads the header of a file (not its tensors). */
LEAT_MUST_CHECK leat_code leat_safetensors_read(leat_safetensors **out, const char *path,
                                                leat_error *err);
void leat_safetensors_destroy(leat_safetensors *tensors);

int64_t leat_safetensors_count(const leat_safetensors *tensors);
/* 0 <= index < count, in the order of their places; empty ones first where places are equal. */
const leat_tensor *leat_safetensors_at(const leat_safetensors *tensors, int64_t index);
/*
 * The tensor of this name, which must have this type, rank and shape; an extent of -1 in `shape`
 * fits any, and `shape` may be NULL. LEAT_ERR_NOT_FOUND, or LEAT_ERR_INPUT with what is there and
 * what is expected; both name the file.
 */
LEAT_MUST_CHECK leat_code leat_safetensors_find(const leat_safetensors *tensors, const char *name,
                                                leat_dtype dtype, int rank, const int64_t *shape,
                                                const leat_tensor **out, leat_error *err);
/* A text of __metadata__, NUL-terminated; NULL if it has none of this key. */
const char *leat_safetensors_metadata(const leat_safetensors *tensors, const char *key);

/* ---- Writing ------------------------------------------------------------------------------ */

/*
 * Gives tensors (name, dtype, rank and shape set) their places, in the order given, and makes the
 * header that precedes them: *header (leat_buf_free), a multiple of 64 bytes. A file of *file_bytes
 * then holds all. `metadata` are metadata_count pairs key, value; NULL if none.
 *
 * LEAT_ERR_OPTION: a tensor's place would not be aligned to its type (put wide types first); names
 * or keys that are not UTF-8, too long, or given twice. LEAT_ERR_LIMIT: too many, or too large.
 */
LEAT_MUST_CHECK leat_code leat_safetensors_plan(leat_tensor *tensors, int64_t count,
                                                const char *const *metadata, int64_t metadata_count,
                                                leat_buf *header, int64_t *file_bytes,
                                                leat_error *err);
#endif
