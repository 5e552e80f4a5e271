/* Reading CSV and NDJSON with several threads, block by block: see parallel_lines.h. */
#include <string.h>

#include "ingest/json_elements.h"
#include "ingest/parallel_lines.h"
#include "ingest/probes/source_parts.h"
#include "ingest/value_text.h"

/* A block is passed on once it holds this much; its last record may have the maximum length. */
#define BLOCK_BYTES (INT64_C(256) << 10)
#define BLOCK_ROOM (BLOCK_BYTES + LEAT_LINE_BYTES_MAX)
enum { BLOCK_LINES = 8192 };
/* A block, and a worker's other memory. */
#define WORKER_BYTES (BLOCK_ROOM + (INT64_C(2) << 20))

typedef struct text_block {
    int32_t file_index;
    leat_input_format format;
    int64_t line_count, used;
    leat_line lines[BLOCK_LINES];
    char *bytes; /* BLOCK_ROOM */
    leat_text_worker worker;
} text_block;

typedef struct text_scan {
    leat_scan *scan;
    leat_csv_map map; /* of the input being read */
    bool is_document; /* it is read by elements: */
    leat_json_elements elements;
    leat_csv_map first;   /* that of its first header */
    int64_t unpack_bytes; /* the memory that unpacking may take */
    text_block **blocks;
} text_scan;

/* ---- one worker's rows ---- */

leat_code leat_rows_flush(leat_rows *rows, leat_error *err) {
    if (rows->count == 0) return LEAT_OK;
    leat_raw_batch batch = {.file_index = rows->file_index,
                            .count = rows->count,
                            .row = rows->row,
                            .time_us = rows->time_us,
                            .src = rows->src,
                            .dst = rows->dst,
                            .ip_version = rows->ip_version,
                            .rtt = rows->rtt,
                            .twin = rows->twin,
                            .probe = rows->probe,
                            .name = rows->options->columns.probe != NULL ? rows->name : NULL};
    rows->count = 0;
    return rows->options->batch(rows->options->batch_context, rows->worker, &batch, err);
}

leat_code leat_rows_add(leat_rows *rows, const leat_source_row *row, leat_error *err) {
    int64_t i = rows->count++;
    rows->row[i] = row->row;
    rows->time_us[i] = row->time_us;
    rows->src[i] = row->src;
    rows->dst[i] = row->dst;
    rows->ip_version[i] = row->ip_version;
    rows->rtt[i] = row->rtt;
    rows->twin[i] = row->twin;
    rows->probe[i] = row->probe;
    rows->name[i] = row->name;
    return rows->count == LEAT_BATCH_ROWS ? leat_rows_flush(rows, err) : LEAT_OK;
}

float leat_text_rtt(leat_text_worker *worker, double answer) {
    const leat_source_options *options = worker->rows.options;
    leat_rtt_tally_add(&worker->rtts, options->lost, answer);
    if (leat_lost_find(options->lost, answer, false) >= 0) return NAN;
    return leat_rtt_of_number(answer, options->rtt_unit);
}

leat_code leat_text_reject(leat_text_worker *worker, int64_t row, leat_reject reason,
                           const char *line, int64_t size_bytes, leat_error *err) {
    leat_reject_log *log = worker->rows.options->rejects;
    if (log == NULL) return LEAT_OK;
    worker->reject.size = 0;
    LEAT_TRY(leat_reject_format_line(&worker->reject, line, size_bytes, err));
    leat_reject_row set_aside = {worker->rows.file_index, row, reason,
                                 (const char *)worker->reject.data, worker->reject.size};
    return leat_reject_log_add(log, worker->rows.worker, &set_aside, err);
}

/* ---- the reader ---- */

/* Opens an input and, for CSV, reads its header, after `preamble` lines of other things. */
static leat_code open_input(const leat_input *input, const leat_source_options *options,
                            int64_t unpack_bytes, leat_lines **lines, leat_csv_map *map,
                            int64_t *preamble, leat_error *err) {
    leat_notes *notes = options->notes;
    leat_lines_options reading = {.coding = input->coding,
                                  .unpack_bytes = unpack_bytes,
                                  .refused_bytes = notes != NULL ? &notes->unpack_bytes : NULL,
                                  .quotes = input->format == LEAT_INPUT_CSV};
    LEAT_TRY(leat_input_lines_open(lines, input, &reading, err));
    *preamble = 0;
    if (input->format != LEAT_INPUT_CSV) return LEAT_OK;
    leat_code code =
        leat_csv_find_header(*lines, input->path, &options->columns, map, preamble, err);
    if (code != LEAT_OK) {
        leat_lines_close(*lines);
        *lines = NULL;
    }
    return code;
}

/* What is set aside for unpacking a file whose first member required `bytes`: later ones may
 * require more, up to what xz and zstd use unless they are told otherwise. (They get more, if the
 * sources have more.) */
static int64_t unpack_share(leat_coding coding, int64_t bytes) {
    const int64_t usual = INT64_C(10) << 20;
    bool varies = coding == LEAT_CODING_XZ || coding == LEAT_CODING_ZSTD;
    return varies && bytes < usual ? usual : bytes;
}

leat_code leat_text_check(leat_input *input, const leat_source_options *options, leat_error *err) {
    leat_lines *lines = NULL;
    leat_csv_map map;
    char *text = NULL;
    int64_t size = 0, preamble = 0;
    input->unpack_bytes = 0;
    LEAT_TRY(open_input(input, options, options->memory_bytes, &lines, &map, &preamble, err));
    leat_code code = leat_lines_look(lines, 0, &text, &size, err);
    if (code == LEAT_OK)
        input->unpack_bytes = input->zip
                                  ? LEAT_INPUT_ZIP_BYTES
                                  : unpack_share(input->coding, leat_lines_unpack_bytes(lines));
    leat_lines_close(lines);
    return code;
}

static bool is_text(void *context, const leat_input *input) {
    (void)context;
    return input->format != LEAT_INPUT_PARQUET;
}

static leat_code open_next(void *context, int32_t input, leat_lines **lines, leat_error *err) {
    text_scan *text = context;
    const leat_scan *scan = text->scan;
    int64_t preamble = 0;
    LEAT_TRY(open_input(&scan->inputs->items[input], scan->options, text->unpack_bytes, lines,
                        &text->map, &preamble, err));
    const bool csv = scan->inputs->items[input].format == LEAT_INPUT_CSV;
    const bool empty = csv && text->map.field_count == 0;
    atomic_store(&scan->options->notes->files[input].empty,
                 empty || scan->inputs->items[input].facts.size_bytes == 0);
    atomic_store(&scan->options->notes->files[input].preamble, preamble);
    text->first = text->map;
    text->elements = (leat_json_elements){.time_name = scan->options->columns.event_time};
    text->is_document = false;
    if (csv) return LEAT_OK;
    leat_code code = leat_json_elements_detect(*lines, scan->options->columns.event_time,
                                               &text->is_document, err);
    if (text->is_document) atomic_store(&scan->options->notes->files[input].elements, true);
    return code;
}

/* A header within the input: its columns hold from the next line on. */
static leat_code turn_map(text_scan *text, int32_t input, const leat_line *header,
                          leat_error *err) {
    const leat_scan *scan = text->scan;
    leat_buf copy = {0}; /* quotes are removed in place */
    leat_line line = *header;
    bool marked = memcmp(line.data, "\xef\xbb\xbf", 3) == 0;
    LEAT_TRY(leat_buf_append(&copy, line.data + (marked ? 3 : 0),
                             line.size_bytes - (marked ? 3 : 0), err));
    line.data = (char *)copy.data;
    line.size_bytes = copy.size;
    leat_code code = leat_csv_read_header(&line, scan->inputs->items[input].path,
                                          &scan->options->columns, &text->map, err);
    leat_buf_free(&copy);
    if (code == LEAT_OK && memcmp(&text->map, &text->first, sizeof text->map) != 0)
        atomic_store(&scan->options->notes->files[input].turned, true);
    return code;
}

/* Copies records into the worker's block until it is full or the input ends. */
static leat_code fill_block(void *context, int worker, leat_line_block *turn, leat_error *err) {
    text_scan *text = context;
    text_block *block = text->blocks[worker];
    block->file_index = turn->input;
    block->format = text->scan->inputs->items[turn->input].format;
    block->worker.map = text->map;
    block->line_count = 0;
    block->used = 0;
    while (block->used < BLOCK_BYTES && block->line_count < BLOCK_LINES) {
        leat_line line;
        bool found = false;
        LEAT_TRY(text->is_document
                     ? leat_json_elements_next(&text->elements, turn->lines, &line, &found, err)
                     : leat_lines_next(turn->lines, &line, &found, err));
        if (!found) {
            turn->ended = true;
            break;
        }
        if (line.size_bytes == 0 && !text->is_document) continue;
        if (block->format == LEAT_INPUT_CSV &&
            leat_csv_is_header(&line, text->map.separator, &text->scan->options->columns))
            LEAT_TRY(turn_map(text, turn->input, &line, err));
        char *copy = block->bytes + block->used;
        memcpy(copy, line.data, (size_t)line.size_bytes);
        line.data = copy;
        block->used += line.size_bytes;
        block->lines[block->line_count++] = line;
    }
    turn->line_count = block->line_count;
    return LEAT_OK;
}

static leat_code parse_block(void *context, int index, leat_error *err) {
    text_scan *text = context;
    text_block *block = text->blocks[index];
    leat_text_worker *worker = &block->worker;
    leat_notes *notes = text->scan->options->notes;
    worker->rows.file_index = block->file_index;
    worker->path = text->scan->inputs->items[block->file_index].path;
    worker->records = worker->with = worker->without = worker->atlas = 0;
    worker->units = 0;
    worker->rtts = (leat_rtt_tally){0};
    worker->digits = LEAT_DIGITS_NONE;
    for (int64_t i = 0; i < block->line_count; i++) {
        LEAT_TRY(block->format == LEAT_INPUT_CSV ? leat_csv_take(worker, &block->lines[i], err)
                                                 : leat_ndjson_take(worker, &block->lines[i], err));
    }
    LEAT_TRY(leat_rows_flush(&worker->rows, err));
    worker->text_bytes = 0;
    atomic_fetch_add(&text->scan->rows, worker->records);
    atomic_fetch_add(&notes->files[block->file_index].with, worker->with);
    atomic_fetch_add(&notes->files[block->file_index].without, worker->without);
    atomic_fetch_add(&notes->atlas, worker->atlas);
    leat_notes_add_units(notes, block->file_index, worker->units);
    leat_notes_add_rtts(notes, block->file_index, &worker->rtts);
    leat_digit_notes_add(&notes->files[block->file_index].digits, &worker->digits);
    return LEAT_OK;
}

static void free_block(text_block *block) {
    if (block == NULL) return;
    leat_block_free(block->bytes, BLOCK_ROOM);
    leat_block_free(block->worker.texts, LEAT_NDJSON_TEXTS);
    leat_buf_free(&block->worker.reject);
    leat_buf_free(&block->worker.answers);
    leat_block_free(block, sizeof *block);
}

static leat_code make_block(text_block **out, const leat_source_options *options, int worker,
                            leat_error *err) {
    LEAT_TRY(leat_block_alloc((void **)out, sizeof **out, err));
    text_block *block = *out;
    block->worker.rows.options = options;
    block->worker.rows.worker = worker;
    leat_ndjson_map_make(&block->worker.json, options);
    LEAT_TRY(leat_block_alloc((void **)&block->bytes, BLOCK_ROOM, err));
    return leat_block_alloc((void **)&block->worker.texts, LEAT_NDJSON_TEXTS, err);
}

leat_code leat_text_scan(leat_scan *scan, int threads, int64_t bytes_before, leat_error *err) {
    text_scan *text = NULL;
    LEAT_TRY(LEAT_NEW(&text, 1, err));
    text->scan = scan;
    text->unpack_bytes = leat_text_unpack_bytes(threads, scan->options->memory_bytes);
    leat_code code = LEAT_NEW(&text->blocks, threads, err);
    for (int i = 0; i < threads && code == LEAT_OK; i++) {
        code = make_block(&text->blocks[i], scan->options, i, err);
    }
    if (code == LEAT_OK) {
        leat_parallel_lines turns = {.inputs = scan->inputs,
                                     .threads = threads,
                                     .bytes_before = bytes_before,
                                     .ticker = scan->options->ticker,
                                     .context = text,
                                     .wanted = is_text,
                                     .open = open_next,
                                     .fill = fill_block,
                                     .parse = parse_block};
        code = leat_parallel_lines_run(&turns, err);
    }
    for (int i = 0; i < threads && text->blocks != NULL; i++) free_block(text->blocks[i]);
    leat_free(text->blocks);
    leat_free(text);
    return code;
}

int64_t leat_text_memory(const leat_input_list *inputs, int threads) {
    int64_t unpack = 0; /* of one file at a time */
    for (int64_t i = 0; i < inputs->count; i++)
        if (inputs->items[i].unpack_bytes > unpack) unpack = inputs->items[i].unpack_bytes;
    return LEAT_LINES_MEMORY_BYTES + unpack + threads * WORKER_BYTES;
}

int64_t leat_text_unpack_bytes(int threads, int64_t memory_bytes) {
    return memory_bytes - LEAT_LINES_MEMORY_BYTES - threads * WORKER_BYTES;
}
