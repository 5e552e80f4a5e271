/*
 * What an ingest counted: rejected rows by reason, and duplicates. Its run.json also lists the
 * inputs, of which there may be many: that list is skipped.
 */
#include "load/probes/summary_ingest.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "format/probe/overlap.h"

enum { OTHER_BYTES_MAX = 64 << 10 };

static void add_reason(leat_summary_ingest *out, const char *name, int64_t rows) {
    int at = out->reason_count;
    if (at == LEAT_SUMMARY_REASONS) {
        if (rows <= out->reasons[at - 1].rows) return;
        at--;
    } else {
        out->reason_count++;
    }
    for (; at > 0 && rows > out->reasons[at - 1].rows; at--)
        out->reasons[at] = out->reasons[at - 1];
    snprintf(out->reasons[at].name, sizeof out->reasons[at].name, "%s", name);
    out->reasons[at].rows = rows;
}

static leat_code read_reasons(const json_t *rejected, leat_summary_ingest *out, leat_error *err) {
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)rejected, name, value) {
        int64_t rows = 0;
        LEAT_TRY(leat_json_get_int(rejected, name, 0, INT64_MAX / 4, &rows, LEAT_RUN_NAME, err));
        if (out->rejected > INT64_MAX / 4 || rows == 0) continue;
        out->rejected += rows;
        add_reason(out, name, rows);
    }
    return LEAT_OK;
}

static leat_code read_members(const json_t *root, leat_summary_ingest *out, leat_error *err) {
    const json_t *rejected = NULL;
    int64_t measurements = 0;
    LEAT_TRY(
        leat_json_get_int(root, "rows_read", 0, INT64_MAX, &out->rows_read, LEAT_RUN_NAME, err));
    LEAT_TRY(
        leat_json_get_int(root, "measurements", 0, INT64_MAX, &measurements, LEAT_RUN_NAME, err));
    LEAT_TRY(leat_json_get_object(root, "rejected", &rejected, LEAT_RUN_NAME, err));
    LEAT_TRY(read_reasons(rejected, out, err));
    const json_t *duplicates = json_object_get(root, "duplicates");
    out->duplicates = json_is_integer(duplicates) ? json_integer_value(duplicates) : -1;
    leat_overlap_get(root, &out->overlap);
    /* a record is written, rejected or dropped */
    if (measurements <= out->rows_read - out->rejected)
        out->duplicates_dropped = out->rows_read - out->rejected - measurements;
    return LEAT_OK;
}

static leat_code read_run(const char *path, leat_summary_ingest *out, leat_error *err) {
    static const char *const large[] = {"inputs", "warnings"};
    leat_json_span spans[2];
    uint8_t *bytes = NULL;
    int64_t size_bytes = 0;
    json_t *root = NULL;
    LEAT_TRY(leat_file_load(path, LEAT_RUN_BYTES_MAX, &bytes, &size_bytes, err));
    leat_code code = leat_json_split((leat_json_span){(const char *)bytes, size_bytes},
                                     (leat_json_large){large, 2, spans}, OTHER_BYTES_MAX,
                                     LEAT_RUN_NAME, &root, err);
    if (code == LEAT_OK) code = read_members(root, out, err);
    json_decref(root);
    leat_free(bytes);
    return code;
}

leat_code leat_summary_read_ingest(const leat_dataset *dataset, leat_summary_ingest *out,
                                   leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_places places;
    leat_error cause = {0};
    *out = (leat_summary_ingest){0};
    if (dataset->dir == NULL) return LEAT_OK;
    leat_code code = leat_places_find(&places, dataset->dir, &cause);
    if (code == LEAT_OK) code = leat_places_path(&places, LEAT_RUN_NAME, path, &cause);
    if (code == LEAT_OK) code = read_run(path, out, &cause);
    if (code == LEAT_ERR_MEMORY) return leat_error_copy(err, &cause);
    if (code != LEAT_OK) *out = (leat_summary_ingest){0};
    else out->known = true;
    return LEAT_OK;
}
