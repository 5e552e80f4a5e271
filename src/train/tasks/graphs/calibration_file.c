/* See calibration.h: kept. One table of tensors is what is written, and what is read must have. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "format/safetensors/safetensors.h"
#include "nn/models/gat/model.h"
#include "train/run/folder.h"
#include "train/tasks/graphs/calibration.h"

#define FORMAT "leat.calibration"
#define VERSION "1"
#define FILE_MOST (INT64_C(2) << 30)

enum { F = LEAT_MICRO_NODE_FEATURES, TENSORS_MOST = 13, METADATA = 7 };

void leat_calibration_name(int64_t step, char name[LEAT_CALIBRATION_NAME_BYTES]) {
    snprintf(name, LEAT_CALIBRATION_NAME_BYTES, LEAT_RUN_CALIBRATION "%09lld.safetensors",
             (long long)step);
}

/* ---- Its tensors ---------------------------------------------------------------------------- */

typedef struct row {
    const char *name;
    leat_dtype dtype;
    int64_t shape[2]; /* the second 0: of rank 1 */
    void *values;
} row;

typedef struct table {
    int count;
    row of[TENSORS_MOST];
} table;

static void add(table *to, row of) {
    LEAT_ASSERT(to->count < TENSORS_MOST);
    to->of[to->count++] = of;
}

/* Wide types first, as the format wants them. */
static table table_of(leat_calibration *of) {
    static const char *const scores[LEAT_WINDOW_SCORES] = {"val/residual", "val/reference",
                                                           "val/difficulty"};
    leat_plain_table *plain = of->residual;
    const int64_t width = of->width, numbers = LEAT_REFERENCE_NUMBERS;
    table out = {0};
    if (plain != NULL) {
        const int64_t ids = plain->ids;
        add(&out, (row){"residual/mean", LEAT_DTYPE_F64, {ids, F}, plain->mean});
        add(&out, (row){"residual/deviation", LEAT_DTYPE_F64, {ids, F}, plain->deviation});
        add(&out, (row){"residual/pooled_mean", LEAT_DTYPE_F64, {F, 0}, plain->pooled_mean});
        add(&out,
            (row){"residual/pooled_deviation", LEAT_DTYPE_F64, {F, 0}, plain->pooled_deviation});
        add(&out, (row){"latent/mean", LEAT_DTYPE_F64, {width, 0}, of->latent_mean});
        add(&out, (row){"latent/deviation", LEAT_DTYPE_F64, {width, 0}, of->latent_deviation});
        add(&out, (row){"reference/mean", LEAT_DTYPE_F64, {numbers, 0}, of->mean});
        add(&out, (row){"reference/deviation", LEAT_DTYPE_F64, {numbers, 0}, of->deviation});
        add(&out, (row){"residual/count", LEAT_DTYPE_I64, {ids, 0}, plain->count});
        for (int i = 0; i < LEAT_WINDOW_SCORES; i++)
            add(&out, (row){scores[i], LEAT_DTYPE_F64, {of->count, 0}, of->score[i]});
    } else {
        add(&out, (row){"val/probability", LEAT_DTYPE_F64, {of->count, 0}, of->score[0]});
    }
    add(&out, (row){"val/label", LEAT_DTYPE_I32, {of->count, 0}, of->label});
    return out;
}

static int64_t bytes_of(const row *of) {
    const int64_t count = of->shape[0] * (of->shape[1] == 0 ? 1 : of->shape[1]);
    return count * leat_dtype_bytes(of->dtype);
}

/* ---- Written -------------------------------------------------------------------------------- */

static leat_code plan(const table *of, const char *const metadata[2 * METADATA], leat_buf *header,
                      leat_error *err) {
    leat_tensor tensors[TENSORS_MOST] = {0};
    int64_t file_bytes = 0;
    for (int i = 0; i < of->count; i++) {
        const row *from = &of->of[i];
        snprintf(tensors[i].name, sizeof tensors[i].name, "%s", from->name);
        tensors[i].dtype = from->dtype;
        tensors[i].rank = from->shape[1] == 0 ? 1 : 2;
        memcpy(tensors[i].shape, from->shape, sizeof from->shape);
    }
    return leat_safetensors_plan(tensors, of->count, metadata, METADATA, header, &file_bytes, err);
}

/* SHA-256 of what the metadata say and of all tensors. */
static void hash(const char *const metadata[2 * METADATA], const table *of, char text[65]) {
    uint8_t digest[32];
    leat_sha256 sha;
    leat_sha256_init(&sha);
    for (int i = 0; i < 2 * METADATA; i++)
        leat_sha256_update(&sha, metadata[i], (int64_t)strlen(metadata[i]) + 1);
    for (int i = 0; i < of->count; i++)
        leat_sha256_update(&sha, of->of[i].values, bytes_of(&of->of[i]));
    leat_sha256_final(&sha, digest);
    leat_sha256_hex(digest, text);
}

/* Its texts; the last value is that of the hash, "" while it is computed. */
typedef struct texts {
    char train[24], benign[24], content[65];
    const char *of[2 * METADATA];
} texts;

static void describe(const leat_calibration *of, const table *rows, texts *out) {
    *out = (texts){0};
    snprintf(out->train, sizeof out->train, "%lld", (long long)of->train_graphs);
    snprintf(out->benign, sizeof out->benign, "%lld", (long long)of->val_benign);
    const char *const all[2 * METADATA] = {
        "format",  FORMAT,         "version",  VERSION,      "state",     of->state, "cache",
        of->cache, "train_graphs", out->train, "val_benign", out->benign, "sha256",  ""};
    char content[65];
    hash(all, rows, content);
    memcpy(out->content, content, sizeof content);
    memcpy(out->of, all, sizeof all);
    out->of[2 * METADATA - 1] = out->content;
}

leat_code leat_calibration_save(const leat_calibration *calibration, const char *path,
                                leat_error *err) {
    leat_calibration of = *calibration;
    const table rows = table_of(&of);
    leat_buf file = {0};
    texts metadata;
    describe(&of, &rows, &metadata);
    leat_code code = plan(&rows, metadata.of, &file, err);
    int64_t bytes = 0;
    for (int i = 0; i < rows.count; i++) bytes += bytes_of(&rows.of[i]);
    /* at once: a buffer that grows takes up to three times as much */
    if (code == LEAT_OK) code = leat_buf_reserve(&file, bytes, err);
    for (int i = 0; i < rows.count && code == LEAT_OK; i++)
        code = leat_buf_append(&file, rows.of[i].values, bytes_of(&rows.of[i]), err);
    if (code == LEAT_OK) code = leat_file_save(path, file.data, file.size, err);
    leat_buf_free(&file);
    return code;
}

/* ---- Read ----------------------------------------------------------------------------------- */

typedef struct reading {
    const char *path;
    uint8_t *bytes;
    int64_t size_bytes;
    leat_safetensors *tensors;
    leat_calibration *of;
} reading;

static leat_code corrupt(const reading *self, const char *what, leat_error *err) {
    return leat_fail(err, LEAT_ERR_CORRUPT, "\"%.200s\" is damaged: %s", self->path, what);
}

static const char *text_of(const reading *self, const char *key) {
    const char *text = leat_safetensors_metadata(self->tensors, key);
    return text == NULL ? "" : text;
}

static leat_code read_metadata(reading *self, const char *state, leat_error *err) {
    leat_calibration *of = self->of;
    if (strcmp(text_of(self, "format"), FORMAT) != 0)
        return corrupt(self, "it is not a calibration", err);
    if (strcmp(text_of(self, "version"), VERSION) != 0)
        return leat_fail(err, LEAT_ERR_UNSUPPORTED, "\"%.300s\" has version %.20s; this is %s",
                         self->path, text_of(self, "version"), VERSION);
    if (strcmp(text_of(self, "state"), state) != 0)
        return leat_fail(err, LEAT_ERR_NOT_FOUND,
                         "\"%.300s\" was made of other weights than those of the checkpoint",
                         self->path);
    snprintf(of->state, sizeof of->state, "%s", state);
    snprintf(of->cache, sizeof of->cache, "%s", text_of(self, "cache"));
    of->train_graphs = strtoll(text_of(self, "train_graphs"), NULL, 10);
    of->val_benign = strtoll(text_of(self, "val_benign"), NULL, 10);
    return LEAT_OK;
}

/* Memory of the sizes that file and model say. */
static leat_code make_room(reading *self, const leat_graph_scoring *scoring, leat_error *err) {
    leat_calibration *of = self->of;
    const bool gat = scoring->class == &leat_gat_class;
    const leat_tensor *label = NULL;
    LEAT_TRY(
        leat_safetensors_find(self->tensors, "val/label", LEAT_DTYPE_I32, 1, NULL, &label, err));
    of->count = label->shape[0];
    LEAT_TRY(LEAT_NEW(&of->label, of->count, err));
    for (int i = 0; i < (gat ? 1 : LEAT_WINDOW_SCORES); i++)
        LEAT_TRY(LEAT_NEW(&of->score[i], of->count, err));
    if (gat) return LEAT_OK;
    of->width = leat_graph_latent(scoring);
    LEAT_TRY(LEAT_NEW(&of->latent_mean, of->width, err));
    LEAT_TRY(LEAT_NEW(&of->latent_deviation, of->width, err));
    return leat_plain_table_create(&of->residual, leat_graph_vocabulary(scoring), F, err);
}

static leat_code read_tensors(reading *self, leat_error *err) {
    const table rows = table_of(self->of);
    texts metadata;
    for (int i = 0; i < rows.count; i++) {
        const row *to = &rows.of[i];
        const leat_tensor *from = NULL;
        LEAT_TRY(leat_safetensors_find(self->tensors, to->name, to->dtype,
                                       to->shape[1] == 0 ? 1 : 2, to->shape, &from, err));
        memcpy(to->values, self->bytes + from->offset, (size_t)bytes_of(to));
    }
    describe(self->of, &rows, &metadata);
    if (strcmp(metadata.content, text_of(self, "sha256")) == 0) return LEAT_OK;
    return corrupt(self, "its contents do not match their hash", err);
}

static leat_code read_file(reading *self, const leat_graph_scoring *scoring, const char *state,
                           leat_error *err) {
    LEAT_TRY(leat_file_load(self->path, FILE_MOST, &self->bytes, &self->size_bytes, err));
    LEAT_TRY(leat_safetensors_parse(&self->tensors, self->bytes, self->size_bytes, self->size_bytes,
                                    self->path, err));
    LEAT_TRY(LEAT_NEW(&self->of, 1, err));
    LEAT_TRY(read_metadata(self, state, err));
    LEAT_TRY(make_room(self, scoring, err));
    LEAT_TRY(read_tensors(self, err));
    if (self->of->residual == NULL) return LEAT_OK;
    return leat_plain_table_check(self->of->residual, err);
}

leat_code leat_calibration_load(leat_calibration **out, const char *path,
                                const leat_graph_scoring *scoring, const char *state,
                                leat_error *err) {
    reading self = {.path = path};
    leat_path_facts facts;
    *out = NULL;
    LEAT_TRY(leat_path_stat(path, &facts, err));
    if (facts.kind == LEAT_PATH_NONE)
        return leat_fail(err, LEAT_ERR_NOT_FOUND, "\"%.300s\" does not exist", path);
    /* to open a pipe would wait for who writes to it */
    if (facts.kind != LEAT_PATH_FILE) return corrupt(&self, "it is not a file", err);
    const leat_code code = read_file(&self, scoring, state, err);
    leat_safetensors_destroy(self.tensors);
    leat_free(self.bytes);
    if (code == LEAT_OK) *out = self.of;
    else leat_calibration_destroy(self.of);
    return code;
}
