/* The public writer: a writer on a sink on "<path>.tmp", published whole. */
#include <stdio.h>
#include <string.h>

#include "format/ar_internal.h"

struct leat_ar_writer {
    char *path, *temporary;
    leat_file *file; /* NULL once closed */
    leat_sink *sink;
    leat_ar_sink_writer *inner;
    bool made; /* the temporary file is there */
};

static leat_code open_writer(leat_ar_writer *writer, const char *path,
                             const leat_ar_options *options, leat_error *err) {
    char temporary[LEAT_PATH_BYTES];
    leat_sink_options sink_options = {0};
    if (snprintf(temporary, sizeof temporary, "%s.tmp", path) >= (int)sizeof temporary) {
        return leat_fail(err, LEAT_ERR_LIMIT, "path \"%.64s...\" is too long", path);
    }
    LEAT_TRY(leat_strdup(&writer->path, path, err));
    LEAT_TRY(leat_strdup(&writer->temporary, temporary, err));
    LEAT_TRY(leat_file_open(&writer->file, temporary, LEAT_FILE_CREATE, err));
    writer->made = true;
    LEAT_TRY(leat_sink_create(&writer->sink, writer->file, &sink_options, err));
    return leat_ar_sink_writer_create(&writer->inner, writer->sink, options, err);
}

leat_code leat_ar_writer_create(leat_ar_writer **out, const char *path,
                                const leat_ar_options *options, leat_error *err) {
    *out = NULL;
    leat_ar_options checked;
    /* before any file is made */
    LEAT_TRY(leat_ar_options_check(options, &checked, err));
    leat_ar_writer *writer = NULL;
    LEAT_TRY(LEAT_NEW(&writer, 1, err));
    leat_code code = open_writer(writer, path, &checked, err);
    if (code != LEAT_OK) {
        leat_ar_writer_destroy(writer);
        return code;
    }
    *out = writer;
    return LEAT_OK;
}

void leat_ar_writer_destroy(leat_ar_writer *writer) {
    if (writer == NULL) return;
    leat_ar_sink_writer_destroy(writer->inner);
    leat_sink_destroy(writer->sink);
    leat_file_close(writer->file);
    if (writer->made) (void)!leat_path_remove(writer->temporary, NULL);
    leat_free(writer->path);
    leat_free(writer->temporary);
    leat_free(writer);
}

leat_code leat_ar_writer_append(leat_ar_writer *writer, const void *record, int64_t size_bytes,
                                leat_error *err) {
    if (size_bytes < 0) {
        return leat_fail(err, LEAT_ERR_INPUT, "a record of %lld bytes", (long long)size_bytes);
    }
    return leat_ar_sink_writer_append(writer->inner, record, size_bytes, NULL, err);
}

static leat_code sync_parent(const char *path, leat_error *err) {
    char parent[LEAT_PATH_BYTES] = ".";
    const char *slash = strrchr(path, '/');
    if (slash != NULL) {
        size_t length = slash == path ? 1 : (size_t)(slash - path);
        memcpy(parent, path, length);
        parent[length] = 0;
    }
    return leat_path_sync_dir(parent, err);
}

leat_code leat_ar_writer_finish(leat_ar_writer *writer, leat_error *err) {
    LEAT_TRY(leat_ar_sink_writer_finish(writer->inner, err));
    leat_code code = leat_sink_finish(writer->sink, err);
    if (code == LEAT_OK) code = leat_file_sync(writer->file, err);
    if (code == LEAT_OK) code = leat_path_rename(writer->temporary, writer->path, err);
    writer->inner->failed = code;
    LEAT_TRY(code);
    writer->made = false;
    return sync_parent(writer->path, err);
}
