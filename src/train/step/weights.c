/* See weights.h. The file is made of one table of tensors, which writing and reading share. */
#include "train/step/weights.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

enum { PIECE_FLOATS = 1 << 16 };

typedef struct rows {
    int count, most;
    int parameters; /* of the count, the first ones; set if they are counted */
    leat_weight_row items[];
} rows;

/* With room for all tensors of a model, and the parameters two more times. */
static leat_code new_rows(rows **out, const leat_model *model, leat_error *err) {
    const int most = 3 * leat_model_tensor_count(model);
    const int64_t bytes = (int64_t)sizeof(rows) + most * (int64_t)sizeof(leat_weight_row);
    LEAT_TRY(leat_alloc((void **)out, 1, bytes, err));
    (*out)->most = most;
    return LEAT_OK;
}

/* The parameters, or the running statistics, in this block (NULL: places are not used). */
static void add_tensors(rows *to, const leat_model *model, bool running, const char *prefix,
                        float *block) {
    leat_model_tensor tensor;
    for (int i = 0; leat_model_tensor_at(model, i, &tensor); i++) {
        if (tensor.running != running) continue;
        LEAT_ASSERT(to->count < to->most);
        leat_weight_row *out = &to->items[to->count++];
        snprintf(out->name, sizeof out->name, "%s%s", prefix, tensor.name);
        out->rank = tensor.rank;
        memcpy(out->shape, tensor.shape, sizeof out->shape);
        out->values = block != NULL ? block + tensor.offset : NULL;
        out->count = tensor.count;
    }
}

static leat_code rows_of(rows **out, const leat_model *model, const leat_train_state *state,
                         leat_error *err) {
    LEAT_TRY(new_rows(out, model, err));
    add_tensors(*out, model, false, "", state->parameters);
    add_tensors(*out, model, true, "", state->running);
    add_tensors(*out, model, false, "adam_m/", state->first);
    add_tensors(*out, model, false, "adam_v/", state->second);
    return LEAT_OK;
}

/* ---- Written -------------------------------------------------------------------------------- */

typedef struct saving {
    leat_file *file;
    int64_t at;
    leat_sha256 sha;
    uint8_t *piece;
} saving;

static leat_code put(saving *self, const void *bytes, int64_t size_bytes, leat_error *err) {
    LEAT_TRY(leat_file_pwrite(self->file, bytes, size_bytes, self->at, err));
    leat_sha256_update(&self->sha, bytes, size_bytes);
    self->at += size_bytes;
    return LEAT_OK;
}

static leat_code put_values(saving *self, const leat_weight_row *of, leat_error *err) {
    for (int64_t first = 0; first < of->count; first += PIECE_FLOATS) {
        const int64_t left = of->count - first, some = left < PIECE_FLOATS ? left : PIECE_FLOATS;
        leat_codec_encode(LEAT_CODEC_F32, 0, of->values + first, some, self->piece);
        LEAT_TRY(put(self, self->piece, 4 * some, err));
    }
    return LEAT_OK;
}

static leat_code plan(const leat_weight_file *of, leat_buf *header, int64_t *file_bytes,
                      leat_error *err) {
    leat_tensor *tensors = NULL;
    LEAT_TRY(LEAT_NEW(&tensors, of->count, err));
    for (int i = 0; i < of->count; i++) {
        const leat_weight_row *row = &of->rows[i];
        memcpy(tensors[i].name, row->name, sizeof tensors[i].name);
        tensors[i].dtype = LEAT_DTYPE_F32;
        tensors[i].rank = row->rank;
        memcpy(tensors[i].shape, row->shape, sizeof row->shape);
    }
    leat_code code = leat_safetensors_plan(tensors, of->count, of->metadata, of->metadata_count,
                                           header, file_bytes, err);
    leat_free(tensors);
    return code;
}

leat_code leat_weights_bytes(const leat_model *model, int64_t *bytes, leat_error *err) {
    const leat_train_state state = {0}; /* places are not used */
    leat_buf header = {0};
    rows *of = NULL;
    *bytes = 0;
    leat_code code = rows_of(&of, model, &state, err);
    if (code == LEAT_OK) {
        const leat_weight_file file = {.rows = of->items, .count = of->count};
        code = plan(&file, &header, bytes, err);
    }
    leat_buf_free(&header);
    leat_free(of);
    return code;
}

static leat_code save(saving *self, const char *path, const leat_weight_file *of, leat_error *err) {
    leat_buf header = {0};
    int64_t file_bytes = 0;
    LEAT_TRY(LEAT_NEW(&self->piece, PIECE_FLOATS * 4, err));
    leat_code code = plan(of, &header, &file_bytes, err);
    if (code == LEAT_OK) code = leat_file_open_draft(&self->file, path, err);
    if (code == LEAT_OK) code = put(self, header.data, header.size, err);
    leat_buf_free(&header);
    for (int i = 0; i < of->count && code == LEAT_OK; i++)
        code = put_values(self, &of->rows[i], err);
    if (code != LEAT_OK) return code;
    LEAT_ASSERT(self->at == file_bytes); /* each tensor is where the header says */
    return leat_file_publish(self->file, true, err);
}

leat_code leat_weight_file_save(const char *path, const leat_weight_file *of, char sha256[65],
                                leat_error *err) {
    saving self = {0};
    uint8_t digest[32];
    sha256[0] = 0;
    leat_sha256_init(&self.sha);
    leat_code code = save(&self, path, of, err);
    leat_file_close(self.file);
    leat_free(self.piece);
    if (code != LEAT_OK) return code;
    leat_sha256_final(&self.sha, digest);
    leat_sha256_hex(digest, sha256);
    return LEAT_OK;
}

leat_code leat_weights_save(const char *path, const leat_model *model,
                            const leat_train_state *state, char sha256[65], leat_error *err) {
    char step[32];
    rows *of = NULL;
    sha256[0] = 0;
    snprintf(step, sizeof step, "%lld", (long long)state->step);
    const char *const metadata[] = {"format", "pt", "leat", "checkpoint", "step", step};
    LEAT_TRY(rows_of(&of, model, state, err));
    const leat_weight_file file = {of->items, of->count, metadata, 3};
    const leat_code code = leat_weight_file_save(path, &file, sha256, err);
    leat_free(of);
    return code;
}

/* ---- Read ----------------------------------------------------------------------------------- */

/* IEEE 754 binary16, of which every value is a float: sign, 5 bits of exponent, 10 of fraction. */
static void decode_halves(const uint8_t *in, int64_t count, float *out) {
    for (int64_t i = 0; i < count; i++) {
        const int bits = in[2 * i] | in[2 * i + 1] << 8;
        const int exponent = bits >> 10 & 31, fraction = bits & 1023;
        float value = exponent == 0    ? ldexpf((float)fraction, -24)
                      : exponent == 31 ? (fraction == 0 ? INFINITY : NAN)
                                       : ldexpf((float)(fraction + 1024), exponent - 25);
        out[i] = bits >> 15 != 0 ? -value : value;
    }
}

static void decode(leat_dtype dtype, const uint8_t *in, int64_t count, float *out) {
    LEAT_ASSERT(dtype == LEAT_DTYPE_F32 || dtype == LEAT_DTYPE_F16 || dtype == LEAT_DTYPE_BF16);
    if (dtype == LEAT_DTYPE_F16) decode_halves(in, count, out);
    else
        leat_codec_decode(dtype == LEAT_DTYPE_BF16 ? LEAT_CODEC_BF16 : LEAT_CODEC_F32, in, count,
                          out);
}

static leat_code get_values(leat_file *file, const leat_tensor *from, const leat_weight_row *to,
                            leat_error *err) {
    const int64_t item_bytes = leat_dtype_bytes(from->dtype);
    uint8_t *piece = NULL;
    LEAT_TRY(LEAT_NEW(&piece, PIECE_FLOATS * item_bytes, err));
    leat_code code = LEAT_OK;
    for (int64_t first = 0; first < to->count && code == LEAT_OK; first += PIECE_FLOATS) {
        const int64_t left = to->count - first, some = left < PIECE_FLOATS ? left : PIECE_FLOATS;
        code =
            leat_file_pread(file, piece, item_bytes * some, from->offset + item_bytes * first, err);
        if (code == LEAT_OK) decode(from->dtype, piece, some, to->values + first);
    }
    leat_free(piece);
    return code;
}

static leat_code check_hash(const char *path, const char sha256[65], leat_error *err) {
    uint8_t digest[32];
    char hex[65];
    LEAT_TRY(leat_file_sha256(path, digest, err));
    leat_sha256_hex(digest, hex);
    if (strcmp(hex, sha256) == 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_CORRUPT,
                     "\"%.300s\" does not have the SHA-256 in its .json file: the checkpoint is "
                     "damaged; remove it, or use another one",
                     path);
}

static leat_code load(const leat_safetensors *tensors, leat_file *file, const rows *of,
                      leat_error *err) {
    if (leat_safetensors_count(tensors) != of->count)
        return leat_fail(err, LEAT_ERR_CORRUPT, "\"%.300s\" has %lld tensors instead of %d",
                         leat_file_path(file), (long long)leat_safetensors_count(tensors),
                         of->count);
    for (int i = 0; i < of->count; i++) {
        const leat_weight_row *to = &of->items[i];
        const leat_tensor *from = NULL;
        leat_code code = leat_safetensors_find(tensors, to->name, LEAT_DTYPE_F32, to->rank,
                                               to->shape, &from, err);
        if (code == LEAT_ERR_NOT_FOUND || code == LEAT_ERR_INPUT)
            return leat_error_context(err, LEAT_ERR_CORRUPT, "checkpoint");
        LEAT_TRY(code);
        LEAT_TRY(get_values(file, from, to, err));
    }
    return LEAT_OK;
}

leat_code leat_weights_load(const char *path, const char sha256[65], const leat_model *model,
                            leat_train_state *state, leat_error *err) {
    leat_safetensors *tensors = NULL;
    leat_file *file = NULL;
    rows *of = NULL;
    LEAT_TRY(check_hash(path, sha256, err));
    LEAT_TRY(leat_safetensors_read(&tensors, path, err));
    leat_code code = leat_file_open(&file, path, LEAT_FILE_READ, err);
    if (code == LEAT_OK) code = rows_of(&of, model, state, err);
    if (code == LEAT_OK) code = load(tensors, file, of, err);
    leat_file_close(file);
    leat_safetensors_destroy(tensors);
    leat_free(of);
    return code;
}

/* ---- Third-party files ---------------------------------------------------------------------- */

/* A value that is not finite would be found in a step, or, of running statistics, never. */
static leat_code check_values(leat_file *file, const char *name, const leat_weight_row *of,
                              leat_error *err) {
    const bool variance = strstr(name, "running_var") != NULL;
    for (int64_t i = 0; i < of->count; i++) {
        const float value = of->values[i];
        if (!isfinite(value) || (variance && value < 0))
            return leat_fail(err, LEAT_ERR_INPUT, "\"%.300s\": value %lld of %.60s is %g",
                             leat_file_path(file), (long long)i, name, (double)value);
    }
    return LEAT_OK;
}

leat_code leat_weights_find(const leat_safetensors *tensors, const char *name, int rank,
                            const int64_t *shape, const leat_tensor **out, leat_error *err) {
    static const leat_dtype halves[] = {LEAT_DTYPE_F16, LEAT_DTYPE_BF16};
    leat_code code = leat_safetensors_find(tensors, name, LEAT_DTYPE_F32, rank, shape, out, err);
    for (int i = 0; i < 2 && code == LEAT_ERR_INPUT; i++)
        if (leat_safetensors_find(tensors, name, halves[i], rank, shape, out, NULL) == LEAT_OK)
            return LEAT_OK;
    return code;
}

static leat_code read_row(const leat_safetensors *tensors, leat_file *file, const char *prefix,
                          const leat_weight_row *to, bool *found, leat_error *err) {
    const size_t skip = strlen(prefix);
    const leat_tensor *from = NULL;
    leat_error why = {0};
    *found = false;
    if (strncmp(to->name, prefix, skip) != 0) return LEAT_OK;
    leat_code code = leat_weights_find(tensors, to->name + skip, to->rank, to->shape, &from, &why);
    if (code == LEAT_ERR_NOT_FOUND) return LEAT_OK;
    if (code != LEAT_OK) return leat_error_copy(err, &why);
    *found = true;
    LEAT_TRY(get_values(file, from, to, err));
    return check_values(file, from->name, to, err);
}

static leat_code read_rows(const leat_safetensors *tensors, leat_file *file, const char *prefix,
                           const rows *of, bool *found, leat_error *err) {
    for (int i = 0; i < of->count; i++) {
        bool here = false;
        LEAT_TRY(read_row(tensors, file, prefix, &of->items[i], &here, err));
        if (here && i < of->parameters) found[i] = true;
    }
    return LEAT_OK;
}

static bool is_expected(const char *name, const leat_weight_names *names, const rows *of) {
    const char *const *extras = names->extras;
    const size_t skip = strlen(names->prefix);
    for (int i = 0; i < of->count; i++) {
        const char *row = of->items[i].name;
        if (strncmp(row, names->prefix, skip) == 0 && strcmp(row + skip, name) == 0) return true;
    }
    for (int i = 0; extras[i] != NULL; i++)
        if (strncmp(name, extras[i], strlen(extras[i])) == 0) return true;
    return false;
}

/* A tensor more is a layer more: what the model computes without it is not what was trained. */
static leat_code check_extras(const leat_safetensors *tensors, const char *path,
                              const leat_weight_names *names, const rows *of, leat_error *err) {
    const int64_t count = leat_safetensors_count(tensors);
    const leat_tensor *first = NULL;
    int64_t unknown = 0;
    char others[32] = "";
    for (int64_t i = 0; i < count; i++) {
        const leat_tensor *tensor = leat_safetensors_at(tensors, i);
        if (is_expected(tensor->name, names, of)) continue;
        if (unknown++ == 0) first = tensor;
    }
    if (first == NULL) return LEAT_OK;
    if (unknown > 1) snprintf(others, sizeof others, ", and %lld more", (long long)(unknown - 1));
    return leat_fail(err, LEAT_ERR_INPUT,
                     "\"%.200s\" has the tensor \"%.80s\"%s, which this network does not have: it "
                     "was trained with other layers or settings",
                     path, first->name, others);
}

leat_code leat_weights_read(const char *path, const leat_weight_names *names,
                            const leat_model *model, leat_train_state *state, bool *found,
                            leat_error *err) {
    leat_safetensors *tensors = NULL;
    leat_file *file = NULL;
    rows *of = NULL;
    LEAT_TRY(leat_safetensors_read(&tensors, path, err));
    leat_code code = leat_file_open(&file, path, LEAT_FILE_READ, err);
    if (code == LEAT_OK) code = new_rows(&of, model, err);
    if (code == LEAT_OK) {
        add_tensors(of, model, false, "", state->parameters);
        of->parameters = of->count;
        add_tensors(of, model, true, "", state->running);
        code = read_rows(tensors, file, names->prefix, of, found, err);
        if (code == LEAT_OK && names->extras != NULL)
            code = check_extras(tensors, path, names, of, err);
    }
    leat_file_close(file);
    leat_safetensors_destroy(tensors);
    leat_free(of);
    return code;
}
