/* All inputs, whatever their format: Parquet first, since DuckDB's memory goes back when it is
 * done; then the text files. See source.h. */
#include <malloc.h>

#include "base/thread.h"
#include "ingest/source_parts.h"

leat_code leat_scan_report(leat_scan *scan, int64_t bytes_done, leat_error *err) {
    return leat_reporter_tell(&scan->reporter, bytes_done, atomic_load(&scan->rows), err);
}

static bool has_text(const leat_input_list *inputs) {
    for (int64_t i = 0; i < inputs->count; i++) {
        if (inputs->items[i].format != LEAT_INPUT_PARQUET) return true;
    }
    return false;
}

static int64_t memory_for(const leat_input_list *inputs, int threads) {
    int64_t parquet = leat_parquet_memory(inputs, threads);
    int64_t text = has_text(inputs) ? leat_text_memory(threads) : 0;
    return parquet > text ? parquet : text;
}

int64_t leat_sources_memory_min(const leat_input_list *inputs, int threads) {
    (void)threads; /* one may read for all */
    return memory_for(inputs, 1);
}

int64_t leat_sources_memory_full(const leat_input_list *inputs, int threads) {
    return memory_for(inputs, threads);
}

leat_code leat_sources_check(const leat_input_list *inputs, const leat_source_options *options,
                             leat_error *err) {
    for (int64_t i = 0; i < inputs->count; i++) {
        if (inputs->items[i].format == LEAT_INPUT_PARQUET) continue;
        LEAT_TRY(leat_text_check(&inputs->items[i], options, err));
    }
    return leat_parquet_check(inputs, options, err);
}

static leat_code scan_text(leat_scan *scan, leat_error *err) {
    const leat_source_options *options = scan->options;
    int threads = options->threads;
    while (threads > 1 && leat_text_memory(threads) > options->memory_bytes) threads--;
    if (leat_text_memory(threads) > options->memory_bytes) {
        return leat_fail(
            err, LEAT_ERR_LIMIT, "reading text needs %lld MiB of memory, %lld MiB are left for it",
            (long long)(leat_text_memory(1) >> 20) + 1, (long long)(options->memory_bytes >> 20));
    }
    int64_t bytes_before = 0;
    for (int64_t i = 0; i < scan->inputs->count; i++) {
        const leat_input *input = &scan->inputs->items[i];
        if (input->format == LEAT_INPUT_PARQUET) bytes_before += input->facts.size_bytes;
    }
    return leat_text_scan(scan, threads, bytes_before, err);
}

leat_code leat_sources_scan(const leat_input_list *inputs, const leat_source_options *options,
                            int64_t *rows_read, leat_error *err) {
    *rows_read = 0;
    LEAT_ASSERT(options->threads >= 1 && options->threads <= LEAT_THREADS_MAX);
    leat_scan scan = {.inputs = inputs, .options = options};
    leat_reporter_init(&scan.reporter, options->progress, options->progress_context);
    leat_code code = leat_parquet_scan(&scan, err);
    /* what zlib, jansson and DuckDB gave back to the heap goes back to the system */
    malloc_trim(0);
    if (code == LEAT_OK && has_text(inputs)) {
        code = scan_text(&scan, err);
        malloc_trim(0);
    }
    leat_reporter_destroy(&scan.reporter);
    if (code == LEAT_OK) *rows_read = atomic_load(&scan.rows);
    return code;
}
