/*
 * Synthetic data sets on disk: one Parquet or CSV file, or a folder of Parquet files made by
 * several threads.
 */
#include <stdio.h>
#include <string.h>

#include "base/pool.h"
#include "base/sink.h"
#include "synth/output.h"
#include "synth/probes/probes.h"

#define SYNTH_MEASUREMENTS_PER_PROBE 235
#define SYNTH_FILES_MAX 100000
#define SYNTH_MEMORY_LEAST INT64_C(134217728)
#define SYNTH_MEMORY_SHARED INT64_C(50331648) /* what the process takes before the first writer */
#define SYNTH_MEMORY_WRITER INT64_C(83886080) /* a DuckDB with one row group in memory */
#define CSV_PROGRESS_ROWS 65536

typedef enum synth_kind { SYNTH_FOLDER, SYNTH_PARQUET, SYNTH_CSV } synth_kind;

typedef struct synth_job {
    const leat_synth *synth;
    const leat_synth_probes_options *options;
    synth_kind kind;
    const char *folder; /* of the parts */
    int64_t file_count, writer_bytes;
    leat_ticker ticker;
    atomic_llong bytes_written;
} synth_job;

/* ---- CSV --------------------------------------------------------------------------------- */

static int format_row(const leat_synth_row *row, char *line, size_t line_bytes) {
    char time[LEAT_TIME_TEXT_BYTES];
    leat_time_format(row->time_us, time);
    int size = snprintf(line, line_bytes, "%s,%.*s,%.*s,%d,", time, row->src.size_bytes,
                        row->src.text, row->dst->size_bytes, row->dst->text, row->ip_version);
    /* drawn as whole microseconds, so three decimals read back as the same float32 */
    const char *format = row->rtt < 0 ? "%.0f\n" : "%.3f\n";
    return size + snprintf(line + size, line_bytes - (size_t)size, format, (double)row->rtt);
}

static leat_code write_csv_rows(synth_job *job, leat_sink *sink, leat_error *err) {
    static const char head[] = "event_time,src_addr,dst_addr,ip_version,rtt\n";
    leat_synth_cursor cursor;
    leat_synth_row row;
    char line[256];
    int64_t fresh = 0;
    LEAT_TRY(leat_sink_write(sink, head, (int64_t)sizeof head - 1, err));
    leat_synth_seek(&cursor, job->synth, 0);
    while (leat_synth_next(&cursor, &row)) {
        LEAT_TRY(leat_sink_write(sink, line, format_row(&row, line, sizeof line), err));
        if (++fresh < CSV_PROGRESS_ROWS && cursor.row < job->synth->measurements) continue;
        LEAT_TRY(leat_ticker_step(&job->ticker, fresh, err));
        fresh = 0;
    }
    return leat_sink_finish(sink, err);
}

static leat_code write_csv(synth_job *job, const char *path, leat_error *err) {
    leat_sink_options options = {.writeback_bytes = 8 << 20};
    leat_file *file = NULL;
    leat_sink *sink = NULL;
    leat_code code = leat_file_open(&file, path, LEAT_FILE_NEW, err);
    if (code == LEAT_OK) code = leat_sink_create(&sink, file, &options, err);
    if (code == LEAT_OK) code = write_csv_rows(job, sink, err);
    leat_sink_destroy(sink);
    leat_file_close(file);
    return code;
}

/* ---- Files ------------------------------------------------------------------------------- */

static leat_code settle(synth_job *job, const char *path, leat_error *err) {
    int64_t size_bytes = 0;
    LEAT_TRY(leat_synth_settle(path, &size_bytes, err));
    atomic_fetch_add(&job->bytes_written, size_bytes);
    return LEAT_OK;
}

static leat_code write_parquet(synth_job *job, leat_synth_span rows, const char *path,
                               leat_error *err) {
    LEAT_TRY(leat_synth_parquet(job->synth, rows, path, job->writer_bytes, &job->ticker, err));
    return settle(job, path, err);
}

static leat_code write_part(void *context, int worker, int64_t index, leat_error *err) {
    synth_job *job = context;
    (void)worker;
    char name[32], path[LEAT_PATH_BYTES];
    int64_t rows = job->options->rows_per_file, first = index * rows;
    int64_t count =
        job->synth->measurements - first < rows ? job->synth->measurements - first : rows;
    snprintf(name, sizeof name, "part-%05lld.parquet", (long long)index);
    LEAT_TRY(leat_path_join(path, sizeof path, job->folder, name, err));
    return write_parquet(job, (leat_synth_span){first, count}, path, err);
}

static leat_code write_folder(synth_job *job, const char *path, leat_error *err) {
    int64_t room = (job->options->memory_bytes - SYNTH_MEMORY_SHARED) / SYNTH_MEMORY_WRITER;
    int64_t threads = job->options->threads < room ? job->options->threads : room;
    if (threads > job->file_count) threads = job->file_count;
    if (threads < 1) threads = 1;
    job->folder = path;
    LEAT_TRY(leat_path_make_dir(path, err));
    leat_pool_job parts = {
        .parts = job->file_count, .threads = (int)threads, .context = job, .make = write_part};
    LEAT_TRY(leat_pool_once(&parts, err));
    return leat_path_sync_dir(path, err);
}

/* ---- The output -------------------------------------------------------------------------- */

static bool is_part(const char *name) {
    return strncmp(name, "part-", 5) == 0 && leat_path_has_suffix(name, ".parquet") &&
           strchr(name, '/') == NULL;
}

static leat_code write_output(void *context, const char *temp, leat_error *err) {
    synth_job *job = context;
    switch (job->kind) {
    case SYNTH_CSV: LEAT_TRY(write_csv(job, temp, err)); return settle(job, temp, err);
    case SYNTH_PARQUET:
        return write_parquet(job, (leat_synth_span){0, job->synth->measurements}, temp, err);
    default: return write_folder(job, temp, err);
    }
}

static leat_code run_job(synth_job *job, const char *out_path, leat_error *err) {
    const leat_synth_probes_options *options = job->options;
    leat_synth_output output = {.what = "synthetic probes",
                                .path = out_path,
                                .is_folder = job->kind == SYNTH_FOLDER,
                                .replace = options->replace,
                                .is_ours = is_part,
                                .write = write_output,
                                .context = job,
                                .ticker = &job->ticker};
    leat_ticker_create(&job->ticker, options->progress, options->progress_user);
    leat_ticker_stage(&job->ticker, "writing", "rows", options->measurements);
    leat_code code = leat_synth_publish(&output, err);
    leat_ticker_destroy(&job->ticker);
    return code;
}

leat_synth_probes_options leat_synth_probes_options_default(void) {
    return (leat_synth_probes_options){
        .threads = leat_cpu_count(), .memory_bytes = 512 << 20, .rows_per_file = 10000000};
}

static leat_code check_options(const leat_synth_probes_options *options, leat_error *err) {
    if (options->threads < 1 || options->threads > LEAT_THREADS_MAX)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "synthetic probes: threads must be between 1 and %d, not %d",
                         LEAT_THREADS_MAX, options->threads);
    if (options->memory_bytes < SYNTH_MEMORY_LEAST)
        return leat_fail(
            err, LEAT_ERR_OPTION,
            "synthetic probes: the memory limit must be at least %lld bytes (128M), not %lld",
            (long long)SYNTH_MEMORY_LEAST, (long long)options->memory_bytes);
    if (options->rows_per_file < 1 ||
        (options->measurements - 1) / options->rows_per_file >= SYNTH_FILES_MAX)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "synthetic probes: %lld rows per file for %lld measurements; use at least "
                         "1, and enough for at most %d files",
                         (long long)options->rows_per_file, (long long)options->measurements,
                         SYNTH_FILES_MAX);
    return LEAT_OK;
}

/* A file name with another suffix is not meant as the name of a folder. */
static leat_code check_out_name(const char *path, leat_error *err) {
    static const char *const suffixes[] = {".gz",     ".zst", ".json", ".jsonl",
                                           ".ndjson", ".txt", ".tsv",  ".pq"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        if (!leat_path_has_suffix(path, suffixes[i])) continue;
        return leat_fail(
            err, LEAT_ERR_OPTION,
            "synthetic probes: cannot write *%s (\"%s\"); use FILE.parquet, FILE.csv or a folder",
            suffixes[i], path);
    }
    return LEAT_OK;
}

leat_code leat_synth_probes(const char *out_path, const leat_synth_probes_options *options,
                            leat_synth_probes_result *result, leat_error *err) {
    int64_t start_ns = leat_clock_ns(), probes = options->probes;
    leat_synth *synth = NULL;
    memset(result, 0, sizeof *result);
    LEAT_TRY(check_options(options, err));
    if (probes == 0) probes = options->measurements / SYNTH_MEASUREMENTS_PER_PROBE;
    if (probes == 0) probes = 1;
    LEAT_TRY(check_out_name(out_path, err));
    LEAT_TRY(leat_synth_create(&synth, options->measurements, probes, options->seed, err));
    synth_job job = {.synth = synth, .options = options, .writer_bytes = SYNTH_MEMORY_WRITER};
    job.kind = leat_path_has_suffix(out_path, ".parquet") ? SYNTH_PARQUET
               : leat_path_has_suffix(out_path, ".csv")   ? SYNTH_CSV
                                                          : SYNTH_FOLDER;
    job.file_count =
        job.kind != SYNTH_FOLDER ? 1 : (options->measurements - 1) / options->rows_per_file + 1;
    leat_code code = run_job(&job, out_path, err);
    if (code == LEAT_OK)
        *result = (leat_synth_probes_result){
            .measurements = options->measurements,
            .probes = probes,
            .largest_probe = leat_synth_largest(synth),
            .files = job.file_count,
            .bytes_written = atomic_load(&job.bytes_written),
            .memory_peak_bytes = leat_rss_peak_bytes(),
            .seconds = (double)(leat_clock_ns() - start_ns) * 1e-9,
        };
    leat_synth_destroy(synth);
    return code;
}
