/* The public writer: a writer on a sink on a draft, which is published when complete. */
#include "format/arrayrecord/internal.h"

struct leat_ar_writer {
    leat_file *file; /* a draft until finished */
    leat_sink *sink;
    leat_ar_sink_writer *inner;
};

static leat_code open_writer(leat_ar_writer *writer, const char *path,
                             const leat_ar_options *options, bool replace, leat_error *err) {
    leat_sink_options sink_options = {0};
    LEAT_TRY(leat_file_open_output(&writer->file, path, LEAT_MARK_NONE, replace, err));
    LEAT_TRY(leat_sink_create(&writer->sink, writer->file, &sink_options, err));
    return leat_ar_sink_writer_create(&writer->inner, writer->sink, options, err);
}

leat_code leat_ar_writer_create(leat_ar_writer **out, const char *path,
                                const leat_ar_options *options, bool replace, leat_error *err) {
    *out = NULL;
    leat_ar_options checked;
    /* before any file is made */
    LEAT_TRY(leat_ar_options_check(options, &checked, err));
    leat_ar_writer *writer = NULL;
    LEAT_TRY(LEAT_NEW(&writer, 1, err));
    leat_code code = open_writer(writer, path, &checked, replace, err);
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
    leat_free(writer);
}

leat_code leat_ar_writer_append(leat_ar_writer *writer, const void *record, int64_t size_bytes,
                                leat_error *err) {
    if (size_bytes < 0) {
        return leat_fail(err, LEAT_ERR_INPUT, "a record of %lld bytes", (long long)size_bytes);
    }
    return leat_ar_sink_writer_append(writer->inner, record, size_bytes, NULL, err);
}

leat_code leat_ar_writer_finish(leat_ar_writer *writer, leat_error *err) {
    LEAT_TRY(leat_ar_sink_writer_finish(writer->inner, err));
    leat_code code = leat_sink_finish(writer->sink, err);
    if (code == LEAT_OK) code = leat_file_publish(writer->file, true, err);
    writer->inner->failed = code;
    return code;
}
