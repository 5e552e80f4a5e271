/*
 * The line reader and CSV: any bytes, plain and compressed, with and without quotes. What comes out
 * is whole: lines lie in the text, numbers go up, and CSV rows come from lines. The first byte
 * chooses.
 */
#include <stdlib.h>
#include <string.h>

#include "ingest/probes/source_parts.h"

/* Looks at every byte of a row, so that a sanitizer sees one that is not there. */
static leat_code take(void *context, int worker, const leat_raw_batch *batch, leat_error *err) {
    leat_buf *buf = context;
    LEAT_ASSERT(worker == 0 && batch->count >= 1 && batch->count <= LEAT_BATCH_ROWS);
    for (int64_t i = 0; i < batch->count; i++) {
        buf->size = 0;
        LEAT_TRY(leat_reject_format(buf, batch, i, err));
    }
    return LEAT_OK;
}

static leat_code parse(leat_text_worker *worker, leat_lines *lines, bool csv, leat_error *err) {
    leat_line line;
    bool found = false;
    int64_t number = 0;
    leat_source_columns columns = worker->rows.options->columns;
    if (csv) {
        LEAT_TRY(leat_csv_find_header(lines, "x.csv", &columns, &worker->map, &number, err));
        LEAT_ASSERT(number >= 0 && number <= LEAT_CSV_PREAMBLE_MAX);
        number = 0;
    }
    for (;;) {
        LEAT_TRY(leat_lines_next(lines, &line, &found, err));
        if (!found) break;
        LEAT_ASSERT(line.number > number && line.size_bytes >= 0 &&
                    line.size_bytes <= LEAT_LINE_BYTES_MAX);
        number = line.number;
        for (int64_t i = 0; i < line.size_bytes; i++) {
            LEAT_ASSERT(csv || line.data[i] != '\n');
        }
        if (!csv || line.size_bytes == 0) continue;
        LEAT_TRY(leat_csv_take(worker, &line, err));
    }
    return leat_rows_flush(&worker->rows, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) return 0;
    bool csv = (data[0] & 1) != 0;
    leat_lines_options options = {.quotes = csv, .unpack_bytes = INT64_C(64) << 20};
    if ((data[0] & 2) != 0) {
        options.coding = leat_coding_of(data + 1, (int64_t)size - 1);
        if (options.coding == LEAT_CODING_NONE) options.coding = LEAT_CODING_GZIP;
    }
    /* CSV gets a header of its own, so that rows are reached */
    static const char header[] = "t,s,d,v,r\n";
    bool headed = csv && options.coding == LEAT_CODING_NONE && (data[0] & 4) == 0;
    size_t front = headed ? sizeof header - 1 : 0;
    uint8_t *text = malloc(front + size);
    memcpy(text, header, front);
    memcpy(text + front, data + 1, size - 1);
    leat_error err = {0};
    leat_buf buf = {0};
    leat_source_options source = {
        .columns = {"t", "s", "d", "v", "r", NULL}, .batch = take, .batch_context = &buf};
    leat_text_worker *worker = calloc(1, sizeof *worker);
    worker->rows.options = &source;
    leat_lines *lines = NULL;
    leat_code code =
        leat_lines_open_bytes(&lines, text, (int64_t)(front + size - 1), "text", &options, &err);
    LEAT_ASSERT(code == LEAT_OK);
    code = parse(worker, lines, csv, &err);
    LEAT_ASSERT(code == LEAT_OK || err.message[0] != 0);
    LEAT_ASSERT(leat_lines_position(lines) <= (int64_t)(front + size - 1));
    leat_lines_close(lines);
    leat_buf_free(&buf);
    leat_buf_free(&worker->reject);
    free(worker);
    free(text);
    return 0;
}
