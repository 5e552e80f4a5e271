/*
 * Synthetic rows as a Parquet file, written by DuckDB: a table function returns the rows from a
 * cursor, and COPY writes them. One thread per file, so that the order of rows and the bytes of the
 * file are fixed; several files are written by several threads, each with its own DuckDB.
 *
 * DuckDB passes only a handle to its callbacks, and the functions that find the source from the
 * handle are in the table that the source holds. So each call opens the table anew, which costs
 * some microseconds compared with the millisecond that its 2048 rows take.
 */
#include <stdio.h>

#include "duckdb/api.h"
#include "synth/probes/probes.h"

#if LEAT_HAVE_DUCKDB

#define CHUNK_ROWS 2048 /* a vector of DuckDB */

typedef struct synth_source {
    const leat_synth *synth;
    leat_synth_cursor cursor;
    int64_t end; /* the row after the last */
    leat_ticker *ticker;
    bool stopped;
} synth_source;

static void on_bind(duckdb_bind_info info) {
    static const struct {
        const char *name;
        duckdb_type type;
    } columns[] = {
        {"event_time", DUCKDB_TYPE_TIMESTAMP},
        {"src_addr", DUCKDB_TYPE_VARCHAR},
        {"dst_addr", DUCKDB_TYPE_VARCHAR},
        {"ip_version", DUCKDB_TYPE_TINYINT},
        {"rtt", DUCKDB_TYPE_FLOAT},
    };
    leat_duckdb_api api;
    if (leat_duckdb_api_open(&api, NULL) != LEAT_OK) return; /* DuckDB then finds no columns */
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        duckdb_logical_type type = api.create_logical_type(columns[i].type);
        api.bind_add_result_column(info, columns[i].name, type);
        api.destroy_logical_type(&type);
    }
    leat_duckdb_api_close(&api);
}

static void on_init(duckdb_init_info info) {
    leat_duckdb_api api;
    if (leat_duckdb_api_open(&api, NULL) != LEAT_OK) return; /* one thread is the default */
    api.init_set_max_threads(info, 1);
    leat_duckdb_api_close(&api);
}

static int64_t fill_chunk(const leat_duckdb_api *api, synth_source *source,
                          duckdb_data_chunk chunk) {
    duckdb_vector vectors[5];
    void *data[5];
    for (idx_t i = 0; i < 5; i++) {
        vectors[i] = api->data_chunk_get_vector(chunk, i);
        data[i] = api->vector_get_data(vectors[i]);
    }
    int64_t count = 0;
    leat_synth_row row;
    while (count < CHUNK_ROWS && source->cursor.row < source->end &&
           leat_synth_next(&source->cursor, &row)) {
        idx_t at = (idx_t)count++;
        ((int64_t *)data[0])[at] = row.time_us;
        api->vector_assign_string_element_len(vectors[1], at, row.src.text, row.src.size_bytes);
        api->vector_assign_string_element_len(vectors[2], at, row.dst->text, row.dst->size_bytes);
        ((int8_t *)data[3])[at] = (int8_t)row.ip_version;
        ((float *)data[4])[at] = row.rtt;
    }
    api->data_chunk_set_size(chunk, (idx_t)count);
    return count;
}

static void on_rows(duckdb_function_info info, duckdb_data_chunk chunk) {
    leat_duckdb_api api;
    if (leat_duckdb_api_open(&api, NULL) != LEAT_OK)
        return; /* the file is then found to be too short */
    synth_source *source = api.function_get_extra_info(info);
    int64_t count = fill_chunk(&api, source, chunk);
    if (count > 0 && !leat_ticker_add(source->ticker, count)) {
        source->stopped = true;
        api.function_set_error(info, "stopped");
    }
    leat_duckdb_api_close(&api);
}

static leat_code register_source(leat_duckdb *db, synth_source *source, leat_error *err) {
    const leat_duckdb_api *api = &db->api;
    duckdb_table_function function = api->create_table_function();
    api->table_function_set_name(function, "leat_synth");
    api->table_function_set_extra_info(function, source, NULL);
    api->table_function_set_bind(function, on_bind);
    api->table_function_set_init(function, on_init);
    api->table_function_set_function(function, on_rows);
    duckdb_state state = api->register_table_function(db->connection, function);
    api->destroy_table_function(&function);
    if (state == DuckDBSuccess) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_UNSUPPORTED, "DuckDB %s rejects a table function",
                     api->library_version());
}

/* COPY with explicit settings wherever the bytes depend on them; they are DuckDB's defaults. */
static leat_code format_copy(const char *path, leat_buf *sql, leat_error *err) {
    LEAT_TRY(leat_buf_printf(sql, err, "COPY (SELECT * FROM leat_synth()) TO '"));
    for (const char *at = path; *at != 0; at++)
        LEAT_TRY(leat_buf_append(sql, *at == '\'' ? "''" : at, *at == '\'' ? 2 : 1, err));
    LEAT_TRY(leat_buf_printf(sql, err,
                             "' (FORMAT parquet, COMPRESSION snappy, ROW_GROUP_SIZE 122880, "
                             "USE_TMP_FILE false)"));
    return leat_buf_append(sql, "", 1, err);
}

static leat_code run_query(leat_duckdb *db, const char *sql, leat_error *err) {
    duckdb_result result;
    LEAT_TRY(leat_duckdb_query(db, sql, &result, err));
    db->api.destroy_result(&result);
    return LEAT_OK;
}

static leat_code copy_rows(leat_duckdb *db, synth_source *source, const char *path,
                           leat_error *err) {
    leat_buf sql = {0};
    int64_t count = source->end - source->cursor.row;
    leat_code code = register_source(db, source, err);
    if (code == LEAT_OK) code = run_query(db, "SET preserve_insertion_order = true", err);
    if (code == LEAT_OK) code = format_copy(path, &sql, err);
    if (code == LEAT_OK) code = run_query(db, (const char *)sql.data, err);
    leat_buf_free(&sql);
    if (source->stopped)
        return leat_fail(err, LEAT_ERR_CANCELLED, "writing \"%s\": stopped as requested", path);
    if (code != LEAT_OK) return leat_error_context(err, code, "writing \"%s\"", path);
    if (source->cursor.row == source->end) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_IO, "writing \"%s\": DuckDB wrote %lld of %lld rows", path,
                     (long long)(count - (source->end - source->cursor.row)), (long long)count);
}

leat_code leat_synth_parquet(const leat_synth *synth, leat_synth_span rows, const char *path,
                             int64_t memory_bytes, leat_ticker *ticker, leat_error *err) {
    synth_source source = {.synth = synth, .end = rows.first + rows.count, .ticker = ticker};
    leat_duckdb db;
    leat_synth_seek(&source.cursor, synth, rows.first);
    leat_code code = leat_duckdb_open(&db, 1, memory_bytes, err);
    if (code == LEAT_OK) code = copy_rows(&db, &source, path, err);
    leat_duckdb_close(&db);
    return code;
}

#else

leat_code leat_synth_parquet(const leat_synth *synth, leat_synth_span rows, const char *path,
                             int64_t memory_bytes, leat_ticker *ticker, leat_error *err) {
    (void)synth, (void)rows, (void)memory_bytes, (void)ticker;
    return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                     "\"%s\": leat was built without DuckDB, which writes Parquet; use a name that "
                     "ends in .csv to write a CSV file",
                     path);
}

#endif
