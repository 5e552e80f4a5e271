/*
 * rejected.csv: see job.h. Files are rejected in the order of their names, so the rows are written
 * as they come; a run that continues writes those of its notes again.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "ingest/images/job.h"
#include "ingest/value_text.h"

#define COLUMNS "file,reason,what"

leat_code leat_image_rejects_create(leat_image_rejects *rejects, const char *dir, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    const leat_sink_options options = {0};
    *rejects = (leat_image_rejects){0};
    LEAT_TRY(leat_path_join(path, sizeof path, dir, LEAT_REJECTED_NAME, err));
    LEAT_TRY(leat_file_open(&rejects->file, path, LEAT_FILE_CREATE, err));
    LEAT_TRY(leat_sink_create(&rejects->sink, rejects->file, &options, err));
    return leat_sink_write(rejects->sink, COLUMNS "\n", sizeof COLUMNS, err);
}

/* A name that is not UTF-8 is shown with escapes: the file is text. */
static leat_code add_name(leat_buf *line, const char *name, leat_error *err) {
    char shown[4 * LEAT_PATH_BYTES];
    int64_t size = (int64_t)strlen(name);
    if (leat_json_is_utf8(name, size)) return leat_csv_append(line, name, size, size, err);
    leat_text_show(shown, sizeof shown, name, size);
    return leat_csv_append(line, shown, (int64_t)strlen(shown), sizeof shown, err);
}

leat_code leat_image_rejects_add(leat_image_rejects *rejects, const char *name,
                                 const leat_image_outcome *outcome, leat_error *err) {
    const int64_t what_bytes = (int64_t)strlen(outcome->what);
    leat_buf line = {0};
    leat_code code = add_name(&line, name, err);
    if (code == LEAT_OK)
        code = leat_buf_printf(&line, err, ",%s,", leat_image_reason_name(outcome->reason));
    if (code == LEAT_OK) code = leat_csv_append(&line, outcome->what, what_bytes, what_bytes, err);
    if (code == LEAT_OK) code = leat_buf_append(&line, "\n", 1, err);
    if (code == LEAT_OK) code = leat_sink_write(rejects->sink, line.data, line.size, err);
    leat_buf_free(&line);
    LEAT_TRY(code);
    if (rejects->count == 0) {
        char shown[200];
        leat_text_show(shown, sizeof shown, name, (int64_t)strlen(name));
        snprintf(rejects->first, sizeof rejects->first, "\"%s\": %s: %.160s", shown,
                 leat_image_reason_name(outcome->reason), outcome->what);
    }
    rejects->count++;
    rejects->by[outcome->reason]++;
    return LEAT_OK;
}

leat_code leat_image_rejects_finish(leat_image_rejects *rejects, leat_error *err) {
    if (rejects->count == 0) return leat_path_remove(leat_file_path(rejects->file), err);
    LEAT_TRY(leat_sink_finish(rejects->sink, err));
    return leat_file_sync(rejects->file, err);
}

void leat_image_rejects_close(leat_image_rejects *rejects) {
    leat_sink_destroy(rejects->sink);
    leat_file_close(rejects->file);
    rejects->sink = NULL;
    rejects->file = NULL;
}

leat_code leat_image_rejects_is_log(const char *path, bool *is_log, leat_error *err) {
    static const leat_reject_kind kind = {.columns = COLUMNS};
    return leat_reject_is_log(&kind, path, is_log, err);
}
