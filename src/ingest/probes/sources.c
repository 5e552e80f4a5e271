/* All inputs, of any format: Parquet first, since DuckDB returns its memory when it is done; then
 * the text files. See source.h. */
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "base/thread.h"
#include "ingest/advice.h"
#include "ingest/probes/source_parts.h"

static bool has_text(const leat_input_list *inputs) {
    for (int64_t i = 0; i < inputs->count; i++) {
        if (inputs->items[i].format != LEAT_INPUT_PARQUET) return true;
    }
    return false;
}

static int64_t memory_for(const leat_input_list *inputs, int threads) {
    int64_t parquet = leat_parquet_memory(inputs, threads);
    int64_t text = has_text(inputs) ? leat_text_memory(inputs, threads) : 0;
    return parquet > text ? parquet : text;
}

int64_t leat_sources_memory_min(const leat_input_list *inputs, int threads) {
    (void)threads; /* one may be used for all */
    return memory_for(inputs, 1);
}

int64_t leat_sources_memory_full(const leat_input_list *inputs, int threads) {
    return memory_for(inputs, threads);
}

/* Of a folder in a message. */
enum { FOLDER_BYTES = 100 };

/* A name with a unit that does not exist is taken for a name: "" unless it may be that. */
static void doubt_unit(int column, const char *name, char *out, size_t out_bytes) {
    const char *colon = strrchr(name, ':');
    out[0] = 0;
    if (colon == NULL || (column != LEAT_COLUMN_TIME && column != LEAT_COLUMN_RTT)) return;
    snprintf(out, out_bytes, "\"%.20s\" is not a unit: %s", colon + 1,
             column == LEAT_COLUMN_TIME ? "those of event_time are s, ms, us, ns and excel"
                                        : "those of rtt are s, ms, us and ns");
}

/* All below the folder that holds those of the partitions, for DuckDB: below FOLDER if that folder
 * cannot be shown as it is. */
static void write_pattern(const char *path, char *out, size_t out_bytes) {
    char pattern[FOLDER_BYTES + 3] = "**";
    size_t size = 0;
    while (memchr(path + size, '=', strcspn(path + size, "/")) == NULL)
        size += strcspn(path + size, "/") + 1;
    if (size <= FOLDER_BYTES) snprintf(pattern, sizeof pattern, "%.*s**", (int)size, path);
    if (size > FOLDER_BYTES || strcspn(path, "*?[\\") < size ||
        !leat_advice_literal(out, out_bytes, pattern))
        snprintf(out, out_bytes, "'FOLDER/**'");
}

bool leat_source_remedy(const char *path, const char *name, char out[LEAT_SOURCE_REMEDY_BYTES]) {
    const size_t size = strlen(name);
    char pattern[2 * FOLDER_BYTES];
    snprintf(out, LEAT_SOURCE_REMEDY_BYTES,
             "use --column event_time=NAME,... if it has another name");
    for (const char *at = path; at != NULL; at = strchr(at, '/')) {
        at += *at == '/';
        const char *end = strchr(at, '/');
        if (end == NULL) return false; /* the file itself */
        if (strncmp(at, name, size) != 0 || at[size] != '=') continue;
        write_pattern(path, pattern, sizeof pattern);
        snprintf(
            out, LEAT_SOURCE_REMEDY_BYTES,
            "\"%.*s\" in its path is not read; write it into the files: duckdb -c \"COPY (FROM "
            "read_%s(%s, hive_partitioning=true)) TO 'all.parquet'\"",
            (int)(end - at < 60 ? end - at : 60), at,
            leat_path_has_suffix_any_case(path, ".parquet") ? "parquet"
            : strstr(path, ".csv") != NULL                  ? "csv"
                                                            : "json",
            pattern);
        return true;
    }
    return false;
}

/* A file whose measurements are all of one host may not name it. */
static leat_code refuse_sourceless(const char *path, const char *const *names, const char *list,
                                   leat_error *err) {
    char literal[200] = "", line[360] = "";
    const char *type = leat_path_has_suffix_any_case(path, ".parquet") ? "parquet" : "csv";
    if (strcmp(names[LEAT_COLUMN_SRC], "src_addr") == 0 &&
        leat_advice_literal(literal, sizeof literal, path))
        snprintf(line, sizeof line,
                 ": duckdb -c \"COPY (SELECT *, '192.0.2.1' AS src_addr FROM %s) TO "
                 "'with_source.%s'\"",
                 literal, type);
    return leat_fail(err, LEAT_ERR_INPUT,
                     "\"%s\" has no column \"%s\"; its columns are: %.100s (use --column "
                     "src_addr=NAME if it has another name; if all rows are of one host, add its "
                     "address%s)",
                     path, names[LEAT_COLUMN_SRC], list, line);
}

leat_code leat_source_missing(const char *path, const char *const *names, int count,
                              const bool *seen, const char *list, leat_error *err) {
    char shown[100], remedy[160] = "", unit[120] = "", path_remedy[LEAT_SOURCE_REMEDY_BYTES];
    int first = 0, missing = 0;
    for (int k = 0; k < count; k++) {
        const size_t used = strlen(remedy);
        if (seen[k] || k == LEAT_COLUMN_VERSION) continue;
        if (missing++ == 0) first = k;
        if (k == LEAT_COLUMN_PROBE)
            snprintf(remedy + used, sizeof remedy - used, "%s--probe NAME", used > 0 ? " " : "");
        else
            snprintf(remedy + used, sizeof remedy - used, "%s%s=NAME", used > 0 ? "," : "--column ",
                     leat_source_fields[k]);
    }
    leat_inputs_name(path, shown, sizeof shown);
    if (leat_source_remedy(path, names[first], path_remedy))
        return leat_fail(err, LEAT_ERR_INPUT, "\"%s\" has no column \"%s\" (%s)", shown,
                         names[first], path_remedy);
    if (!seen[LEAT_COLUMN_SRC] && missing == 1) return refuse_sourceless(path, names, list, err);
    doubt_unit(first, names[first], unit, sizeof unit);
    return leat_fail(err, LEAT_ERR_INPUT,
                     "\"%s\" has no column \"%s\"; its columns are: %s (%s%s%s)", path,
                     names[first], list, unit[0] != 0 ? unit : "use ", unit[0] != 0 ? "" : remedy,
                     unit[0] != 0  ? ""
                     : missing > 1 ? " if they have other names"
                                   : " if it has another name");
}

/* Renaming one column to the name of another would hide the other. */
static leat_code check_names(const leat_source_columns *columns, leat_error *err) {
    const char *names[LEAT_COLUMNS];
    const int count = leat_source_names(columns, names);
    for (int a = 0; a < count; a++) {
        for (int b = a + 1; b < count; b++) {
            if (strcmp(names[a], names[b]) != 0) continue;
            if (b == LEAT_COLUMN_PROBE)
                return leat_fail(err, LEAT_ERR_OPTION,
                                 "--probe %.100s: that column is read as %s; use another one, or "
                                 "--probe address",
                                 names[b], leat_source_fields[a]);
            return leat_fail(
                err, LEAT_ERR_OPTION,
                "columns %s and %s would both be read from \"%s\"; rename the other one as well",
                leat_source_fields[a], leat_source_fields[b], names[a]);
        }
    }
    return LEAT_OK;
}

leat_code leat_sources_check(const leat_input_list *inputs, const leat_source_options *options,
                             leat_error *err) {
    LEAT_TRY(check_names(&options->columns, err));
    for (int64_t i = 0; i < inputs->count; i++) {
        if (inputs->items[i].format == LEAT_INPUT_PARQUET) continue;
        LEAT_TRY(leat_text_check(&inputs->items[i], options, err));
    }
    return leat_parquet_check(inputs, options, err);
}

/* As many as read text in this memory, at least one. */
static int text_threads(const leat_input_list *inputs, int threads, int64_t memory_bytes) {
    while (threads > 1 && leat_text_memory(inputs, threads) > memory_bytes) threads--;
    return threads;
}

int64_t leat_sources_unpack_bytes(const leat_input_list *inputs, int threads,
                                  int64_t memory_bytes) {
    return leat_text_unpack_bytes(text_threads(inputs, threads, memory_bytes), memory_bytes);
}

static leat_code scan_text(leat_scan *scan, leat_error *err) {
    const leat_source_options *options = scan->options;
    const int threads = text_threads(scan->inputs, options->threads, options->memory_bytes);
    if (leat_text_memory(scan->inputs, threads) > options->memory_bytes) {
        return leat_fail(err, LEAT_ERR_LIMIT,
                         "reading text takes %lld MiB of memory, but %lld MiB are left",
                         (long long)(leat_text_memory(scan->inputs, 1) >> 20) + 1,
                         (long long)(options->memory_bytes >> 20));
    }
    int64_t bytes_before = 0;
    for (int64_t i = 0; i < scan->inputs->count; i++) {
        const leat_input *input = &scan->inputs->items[i];
        if (input->format == LEAT_INPUT_PARQUET) bytes_before += input->facts.size_bytes;
    }
    return leat_text_scan(scan, threads, bytes_before, err);
}

static leat_code scan_all(const leat_input_list *inputs, const leat_source_options *options,
                          int64_t *rows_read, leat_error *err) {
    leat_scan scan = {.inputs = inputs, .options = options};
    leat_code code = leat_parquet_scan(&scan, err);
    /* what zlib and DuckDB returned to the heap goes back to the system */
    malloc_trim(0);
    if (code == LEAT_OK && has_text(inputs)) {
        code = scan_text(&scan, err);
        malloc_trim(0);
    }
    if (code == LEAT_OK) code = leat_notes_check(options->notes, inputs, options, err);
    if (code == LEAT_OK) *rows_read = atomic_load(&scan.rows);
    return code;
}

leat_code leat_sources_scan(const leat_input_list *inputs, const leat_source_options *options,
                            int64_t *rows_read, leat_error *err) {
    *rows_read = 0;
    LEAT_ASSERT(options->threads >= 1 && options->threads <= LEAT_THREADS_MAX);
    if (options->notes != NULL) return scan_all(inputs, options, rows_read, err);
    leat_source_options own = *options;
    LEAT_TRY(leat_notes_create(&own.notes, inputs->count, err));
    leat_code code = scan_all(inputs, &own, rows_read, err);
    leat_notes_destroy(own.notes);
    return code;
}
