/* Documents and .complete, written in pieces and read whole: see complete.h. */
#include "format/complete.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"

#define COMPLETE_BYTES_MAX 4096

/* ---- a document ----------------------------------------------------------------------------- */

/* Hands pieces on but for the last byte of all, which is the writer's newline. */
typedef struct trimmed {
    leat_json_out_fn out;
    void *context;
    const leat_documents *kind;
    const char *name;
    int64_t size_bytes;
    char last;
} trimmed;

static leat_code trim(void *context, const void *bytes, int64_t size_bytes, leat_error *err) {
    trimmed *self = context;
    if (size_bytes == 0) return LEAT_OK;
    if (self->size_bytes > 0) LEAT_TRY(self->out(self->context, &self->last, 1, err));
    self->size_bytes += size_bytes;
    if (self->size_bytes > LEAT_DOCUMENT_BYTES_MAX) {
        return leat_fail(err, LEAT_ERR_LIMIT, "%s: %s exceeds %lld bytes: %s", self->kind->thing,
                         self->name, (long long)LEAT_DOCUMENT_BYTES_MAX, self->kind->too_large);
    }
    self->last = ((const char *)bytes)[size_bytes - 1];
    return self->out(self->context, bytes, size_bytes - 1, err);
}

leat_code leat_document_write(const leat_documents *kind, int which, leat_document_put_fn put,
                              const void *of, leat_json_out_fn out, void *context,
                              leat_error *err) {
    trimmed to = {.out = out, .context = context, .kind = kind, .name = kind->names[which]};
    leat_json *json = NULL;
    const char *rest = NULL;
    int64_t size_bytes = 0;
    LEAT_TRY(leat_json_create(&json, false, err));
    leat_json_stream(json, trim, &to);
    put(json, of);
    leat_code code = leat_json_finish(json, &rest, &size_bytes, err);
    leat_json_destroy(json);
    return code;
}

/* ---- saved ---------------------------------------------------------------------------------- */

/* What is saved where. */
typedef struct saved {
    const leat_documents *kind;
    const char *dir;
    leat_document_fn document;
    void *data;
} saved;

typedef struct saving {
    leat_file *file;
    int64_t at;
    leat_sha256 sha;
} saving;

static leat_code save_piece(void *context, const void *bytes, int64_t size_bytes, leat_error *err) {
    saving *self = context;
    LEAT_TRY(leat_file_pwrite(self->file, bytes, size_bytes, self->at, err));
    leat_sha256_update(&self->sha, bytes, size_bytes);
    self->at += size_bytes;
    return LEAT_OK;
}

/* Saves a document and adds its line to the text of .complete. */
static leat_code save_document(const saved *all, int which, leat_buf *complete, leat_error *err) {
    const char *name = all->kind->names[which];
    char path[LEAT_PATH_BYTES], hex[65];
    uint8_t digest[32];
    saving state = {0};
    LEAT_TRY(leat_path_join(path, sizeof path, all->dir, name, err));
    leat_sha256_init(&state.sha);
    LEAT_TRY(leat_file_open_draft(&state.file, path, err));
    leat_code code = all->document(all->data, which, save_piece, &state, err);
    if (code == LEAT_OK) code = leat_file_publish(state.file, true, err);
    leat_file_close(state.file);
    LEAT_TRY(code);
    leat_sha256_final(&state.sha, digest);
    leat_sha256_hex(digest, hex);
    return leat_buf_printf(complete, err, "%s  %s\n", hex, name);
}

static leat_code save_all(const saved *all, const char *complete_path, leat_buf *complete,
                          leat_error *err) {
    for (int i = 0; i < all->kind->count; i++) LEAT_TRY(save_document(all, i, complete, err));
    return leat_file_save(complete_path, complete->data, complete->size, err);
}

leat_code leat_complete_save(const leat_documents *kind, const char *dir, leat_document_fn document,
                             void *data, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_buf complete = {0};
    LEAT_TRY(leat_path_join(path, sizeof path, dir, LEAT_COMPLETE_NAME, err));
    LEAT_TRY(leat_path_remove(path, err)); /* of an attempt before */
    const saved all = {kind, dir, document, data};
    leat_code code = save_all(&all, path, &complete, err);
    leat_buf_free(&complete);
    if (code == LEAT_OK) return LEAT_OK;
    leat_path_discard(path);
    for (int i = 0; i < kind->count; i++) {
        if (leat_path_join(path, sizeof path, dir, kind->names[i], NULL) == LEAT_OK)
            leat_path_discard(path);
    }
    return code;
}

/* ---- loaded --------------------------------------------------------------------------------- */

leat_code leat_complete_load(const leat_documents *kind, const char *dir, char sha256[][65],
                             leat_error *err) {
    char path[LEAT_PATH_BYTES], expected[COMPLETE_BYTES_MAX];
    uint8_t *text = NULL, digest[32];
    int64_t size_bytes = 0, at = 0;
    bool good = true;
    LEAT_TRY(leat_path_join(path, sizeof path, dir, LEAT_COMPLETE_NAME, err));
    leat_code code = leat_file_load(path, COMPLETE_BYTES_MAX, &text, &size_bytes, err);
    if (code == LEAT_ERR_NOT_FOUND) {
        return leat_fail(err, code, "\"%.300s\" is not a complete %s: %s is missing", dir,
                         kind->thing, LEAT_COMPLETE_NAME);
    }
    LEAT_TRY(code);
    for (int i = 0; i < kind->count && good; i++) {
        good = size_bytes - at >= 64;
        if (!good) break;
        memcpy(sha256[i], text + at, 64);
        sha256[i][64] = 0;
        int line = snprintf(expected, sizeof expected, "%s  %s\n", sha256[i], kind->names[i]);
        good = leat_sha256_parse(sha256[i], digest) && size_bytes - at >= line &&
               memcmp(text + at, expected, (size_t)line) == 0;
        at += line;
    }
    leat_free(text);
    if (good && at == size_bytes) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_CORRUPT, "\"%.300s\" has changed since it was written; %s", path,
                     kind->rebuild);
}

leat_code leat_document_load(const leat_documents *kind, int which, const char *dir,
                             const char sha256[65], uint8_t **text, int64_t *size_bytes,
                             leat_error *err) {
    char path[LEAT_PATH_BYTES], hex[65];
    *text = NULL;
    *size_bytes = 0;
    LEAT_TRY(leat_path_join(path, sizeof path, dir, kind->names[which], err));
    leat_code code = leat_file_load(path, LEAT_DOCUMENT_BYTES_MAX, text, size_bytes, err);
    if (code == LEAT_ERR_NOT_FOUND)
        code = leat_fail(err, LEAT_ERR_CORRUPT, "\"%.240s\" is missing; %s", path, kind->rebuild);
    LEAT_TRY(code);
    leat_sha256_hex_of(*text, *size_bytes, hex);
    if (memcmp(hex, sha256, 64) == 0) return LEAT_OK;
    leat_free(*text);
    *text = NULL;
    *size_bytes = 0;
    return leat_fail(err, LEAT_ERR_CORRUPT,
                     "\"%.240s\": its SHA-256 differs from the one in .complete; %s", path,
                     kind->rebuild);
}
