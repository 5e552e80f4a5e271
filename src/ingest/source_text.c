/*
 * Reading CSV and NDJSON with several threads: the workers take turns at the reader. Whose turn it
 * is copies records into a block of its own, then parses that block while the next one reads. So at
 * most one block a worker is in memory, no queue is needed, and inflating overlaps with parsing.
 */
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"
#include "ingest/source_parts.h"

/* A block is handed on when it holds so much; its last record may be as long as a record can be. */
#define BLOCK_BYTES (INT64_C(256) << 10)
#define BLOCK_ROOM (BLOCK_BYTES + LEAT_LINE_BYTES_MAX)
enum { BLOCK_LINES = 8192 };
/* The tree of one line of JSON (see VALUES_MAX in source_ndjson.c), and what else a worker takes.
 */
#define JSON_BYTES (INT64_C(14) << 20)
#define WORKER_BYTES (BLOCK_ROOM + JSON_BYTES + (INT64_C(1) << 20))

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
    pthread_mutex_t lock; /* for all below */
    int64_t next;         /* input to be opened next */
    int32_t current;      /* input that `lines` reads */
    leat_lines *lines;
    leat_csv_map map;
    int64_t bytes_before; /* of the inputs that are done */
    bool stop;
    text_block **blocks;
} text_scan;

/* ---- what one worker gives ---- */

leat_code leat_rows_flush(leat_rows *rows, leat_error *err) {
    if (rows->count == 0) return LEAT_OK;
    leat_raw_batch batch = {.file_index = rows->file_index,
                            .count = rows->count,
                            .row = rows->row,
                            .time_us = rows->time_us,
                            .src = rows->src,
                            .dst = rows->dst,
                            .ip_version = rows->ip_version,
                            .rtt = rows->rtt};
    rows->count = 0;
    return rows->options->batch(rows->options->batch_context, rows->worker, &batch, err);
}

leat_code leat_rows_add(leat_rows *rows, const leat_row *row, leat_error *err) {
    int64_t i = rows->count++;
    rows->row[i] = row->row;
    rows->time_us[i] = row->time_us;
    rows->src[i] = row->src;
    rows->dst[i] = row->dst;
    rows->ip_version[i] = row->ip_version;
    rows->rtt[i] = row->rtt;
    return rows->count == LEAT_BATCH_ROWS ? leat_rows_flush(rows, err) : LEAT_OK;
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

leat_code leat_text_first(leat_lines *lines, leat_line *line, bool *found, leat_error *err) {
    do {
        LEAT_TRY(leat_lines_next(lines, line, found, err));
    } while (*found && line->size_bytes == 0);
    return LEAT_OK;
}

/* Opens an input and, for CSV, reads its header. */
static leat_code open_input(const leat_input *input, const leat_source_options *options,
                            leat_lines **lines, leat_csv_map *map, leat_error *err) {
    leat_lines_options reading = {.gzip = input->gzip, .quotes = input->format == LEAT_INPUT_CSV};
    LEAT_TRY(leat_lines_open(lines, input->path, &reading, err));
    if (input->format != LEAT_INPUT_CSV) return LEAT_OK;
    leat_line line;
    bool found = false;
    leat_code code = leat_text_first(*lines, &line, &found, err);
    if (code == LEAT_OK && !found) {
        code =
            leat_fail(err, LEAT_ERR_INPUT, "\"%s\" is empty: CSV needs a header line", input->path);
    }
    if (code == LEAT_OK) {
        code = leat_csv_read_header(&line, input->path, &options->columns, map, err);
    }
    if (code != LEAT_OK) {
        leat_lines_close(*lines);
        *lines = NULL;
    }
    return code;
}

leat_code leat_text_check(const leat_input *input, const leat_source_options *options,
                          leat_error *err) {
    leat_lines *lines = NULL;
    leat_csv_map map;
    LEAT_TRY(open_input(input, options, &lines, &map, err));
    leat_lines_close(lines);
    return LEAT_OK;
}

/* Copies records into the block until it is full or the input ends; true if the input has ended. */
static leat_code fill_block(text_scan *text, text_block *block, bool *ended, leat_error *err) {
    block->line_count = 0;
    block->used = 0;
    *ended = false;
    while (block->used < BLOCK_BYTES && block->line_count < BLOCK_LINES) {
        leat_line line;
        bool found = false;
        LEAT_TRY(leat_lines_next(text->lines, &line, &found, err));
        if (!found) {
            *ended = true;
            return LEAT_OK;
        }
        if (line.size_bytes == 0) continue;
        char *copy = block->bytes + block->used;
        memcpy(copy, line.data, (size_t)line.size_bytes);
        line.data = copy;
        block->used += line.size_bytes;
        block->lines[block->line_count++] = line;
    }
    return LEAT_OK;
}

/* One turn at the reader; *done when there is no more. With the lock held. */
static leat_code take_turn(text_scan *text, text_block *block, bool *done, leat_error *err) {
    const leat_input_list *inputs = text->scan->inputs;
    *done = false;
    for (;;) {
        while (text->lines == NULL) {
            while (text->next < inputs->count &&
                   inputs->items[text->next].format == LEAT_INPUT_PARQUET) {
                text->next++;
            }
            if (text->stop || text->next == inputs->count) {
                *done = true;
                return LEAT_OK;
            }
            text->current = (int32_t)text->next++;
            LEAT_TRY(open_input(&inputs->items[text->current], text->scan->options, &text->lines,
                                &text->map, err));
        }
        const leat_input *input = &inputs->items[text->current];
        bool ended = false;
        LEAT_TRY(fill_block(text, block, &ended, err));
        block->file_index = text->current;
        block->format = input->format;
        block->worker.map = text->map;
        LEAT_TRY(leat_scan_report(text->scan, text->bytes_before + leat_lines_position(text->lines),
                                  err));
        if (ended) {
            leat_lines_close(text->lines);
            text->lines = NULL;
            text->bytes_before += input->facts.size_bytes;
        }
        if (block->line_count > 0) return LEAT_OK;
    }
}

static leat_code parse_block(text_block *block, leat_error *err) {
    leat_text_worker *worker = &block->worker;
    worker->rows.file_index = block->file_index;
    for (int64_t i = 0; i < block->line_count; i++) {
        LEAT_TRY(block->format == LEAT_INPUT_CSV ? leat_csv_take(worker, &block->lines[i], err)
                                                 : leat_ndjson_take(worker, &block->lines[i], err));
    }
    LEAT_TRY(leat_rows_flush(&worker->rows, err));
    worker->text_bytes = 0;
    return LEAT_OK;
}

static leat_code worker_main(void *context, int index, leat_error *err) {
    text_scan *text = context;
    text_block *block = text->blocks[index];
    leat_code code = LEAT_OK;
    for (;;) {
        bool done = false;
        pthread_mutex_lock(&text->lock);
        if (text->stop) done = true;
        else code = take_turn(text, block, &done, err);
        if (code != LEAT_OK) text->stop = true;
        pthread_mutex_unlock(&text->lock);
        if (code != LEAT_OK || done) return code;
        code = parse_block(block, err);
        if (code != LEAT_OK) {
            pthread_mutex_lock(&text->lock);
            text->stop = true;
            pthread_mutex_unlock(&text->lock);
            return code;
        }
        atomic_fetch_add(&text->scan->rows, block->line_count);
    }
}

static void free_block(text_block *block) {
    if (block == NULL) return;
    leat_block_free(block->bytes, BLOCK_ROOM);
    leat_block_free(block->worker.texts, LEAT_NDJSON_TEXTS);
    leat_buf_free(&block->worker.reject);
    leat_block_free(block, sizeof *block);
}

static leat_code make_block(text_block **out, const leat_source_options *options, int worker,
                            leat_error *err) {
    LEAT_TRY(leat_block_alloc((void **)out, sizeof **out, err));
    text_block *block = *out;
    block->worker.rows.options = options;
    block->worker.rows.worker = worker;
    LEAT_TRY(leat_block_alloc((void **)&block->bytes, BLOCK_ROOM, err));
    return leat_block_alloc((void **)&block->worker.texts, LEAT_NDJSON_TEXTS, err);
}

leat_code leat_text_scan(leat_scan *scan, int threads, int64_t bytes_before, leat_error *err) {
    text_scan *text = NULL;
    LEAT_TRY(LEAT_NEW(&text, 1, err));
    text->scan = scan;
    text->bytes_before = bytes_before;
    pthread_mutex_init(&text->lock, NULL);
    leat_code code = LEAT_NEW(&text->blocks, threads, err);
    for (int i = 0; i < threads && code == LEAT_OK; i++) {
        code = make_block(&text->blocks[i], scan->options, i, err);
    }
    if (code == LEAT_OK) code = leat_threads_run(threads, worker_main, text, err);
    for (int i = 0; i < threads && text->blocks != NULL; i++) free_block(text->blocks[i]);
    leat_lines_close(text->lines);
    pthread_mutex_destroy(&text->lock);
    leat_free(text->blocks);
    leat_free(text);
    return code;
}

int64_t leat_text_memory(int threads) { return LEAT_LINES_MEMORY_BYTES + threads * WORKER_BYTES; }
