/*
 * NDJSON: any bytes as lines of pings or plain measurements. Every line that is not blank gives
 * rows or is set aside (per packet: a line may give several), unless the file is refused for a line
 * that has several objects. The first byte chooses the mode.
 */
#include <stdlib.h>
#include <string.h>

#include "ingest/probes/source_parts.h"

typedef struct target {
    leat_buf buf;
    int64_t rows;
} target;

static leat_code take(void *context, int worker, const leat_raw_batch *batch, leat_error *err) {
    target *self = context;
    LEAT_ASSERT(worker == 0 && batch->count >= 1 && batch->count <= LEAT_BATCH_ROWS);
    for (int64_t i = 0; i < batch->count; i++) {
        self->buf.size = 0;
        LEAT_TRY(leat_reject_format(&self->buf, batch, i, err));
    }
    self->rows += batch->count;
    return LEAT_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) return 0;
    leat_error err = {0};
    target self = {0};
    leat_lines_options options = {0};
    static const char *const paths[] = {"x.ndjson"};
    leat_source_options source = {.columns = {"t", "s", "d", "v", "r", NULL},
                                  .per_packet = (data[0] & 1) != 0,
                                  .batch = take,
                                  .batch_context = &self};
    leat_text_worker *worker = calloc(1, sizeof *worker);
    worker->rows.options = &source;
    leat_ndjson_map_make(&worker->json, &source);
    worker->texts = malloc((size_t)LEAT_NDJSON_TEXTS);
    leat_lines *lines = NULL;
    leat_code code =
        leat_lines_open_bytes(&lines, data + 1, (int64_t)size - 1, "text", &options, &err);
    if (code == LEAT_OK) {
        code = leat_reject_log_create(
            &source.rejects,
            &(leat_reject_options){&leat_probe_rejects, paths, false, 1, 1 << 24, "/nowhere"},
            &err);
    }
    LEAT_ASSERT(code == LEAT_OK);
    int64_t lines_taken = 0;
    for (;;) {
        leat_line line;
        bool found = false;
        code = leat_lines_next(lines, &line, &found, &err);
        LEAT_ASSERT(code == LEAT_OK);
        if (!found) break;
        if (line.size_bytes == 0) continue;
        code = leat_ndjson_take(worker, &line, &err);
        if (code == LEAT_ERR_INPUT) {
            LEAT_ASSERT(strstr(err.message, "several JSON objects") != NULL);
            break;
        }
        lines_taken++;
        /* the rows refer to the line, which is there until the next */
        if (code == LEAT_OK) code = leat_rows_flush(&worker->rows, &err);
        LEAT_ASSERT(code == LEAT_OK);
    }
    int64_t counts[LEAT_REJECT_COUNT], set_aside = 0;
    leat_reject_log_counts(source.rejects, counts);
    for (int i = 0; i < LEAT_REJECT_COUNT; i++) set_aside += counts[i];
    /* every line gives a measurement or is set aside; packets may make it more */
    LEAT_ASSERT(set_aside + self.rows >= lines_taken && set_aside <= lines_taken);
    if (!source.per_packet) LEAT_ASSERT(set_aside + self.rows == lines_taken);
    leat_lines_close(lines);
    leat_reject_log_destroy(source.rejects);
    leat_buf_free(&self.buf);
    leat_buf_free(&worker->reject);
    leat_buf_free(&worker->answers);
    free(worker->texts);
    free(worker);
    return 0;
}
