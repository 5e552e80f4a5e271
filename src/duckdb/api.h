/*
 * The interface to DuckDB, which reads Parquet. Its library is opened with the first Parquet file,
 * so that leat runs without it; only the functions of this table are used.
 */
#ifndef LEAT_DUCKDB_API_H
#define LEAT_DUCKDB_API_H

#include "base/error.h"

#if LEAT_HAVE_DUCKDB

#include <duckdb.h>

#define LEAT_DUCKDB_FUNCTIONS(X)                                                                   \
    X(library_version)                                                                             \
    X(create_config)                                                                               \
    X(set_config)                                                                                  \
    X(destroy_config)                                                                              \
    X(open_ext)                                                                                    \
    X(close)                                                                                       \
    X(connect)                                                                                     \
    X(disconnect)                                                                                  \
    X(free)                                                                                        \
    X(query)                                                                                       \
    X(destroy_result)                                                                              \
    X(result_error)                                                                                \
    X(result_error_type)                                                                           \
    X(fetch_chunk)                                                                                 \
    X(destroy_data_chunk)                                                                          \
    X(data_chunk_get_size)                                                                         \
    X(data_chunk_get_vector)                                                                       \
    X(vector_get_data)                                                                             \
    X(vector_get_validity)                                                                         \
    X(create_logical_type)                                                                         \
    X(destroy_logical_type)                                                                        \
    X(create_scalar_function)                                                                      \
    X(destroy_scalar_function)                                                                     \
    X(scalar_function_set_name)                                                                    \
    X(scalar_function_add_parameter)                                                               \
    X(scalar_function_set_return_type)                                                             \
    X(scalar_function_set_function)                                                                \
    X(scalar_function_set_extra_info)                                                              \
    X(scalar_function_set_volatile)                                                                \
    X(scalar_function_set_special_handling)                                                        \
    X(scalar_function_get_extra_info)                                                              \
    X(create_table_function)                                                                       \
    X(destroy_table_function)                                                                      \
    X(table_function_set_name)                                                                     \
    X(table_function_set_extra_info)                                                               \
    X(table_function_set_bind)                                                                     \
    X(table_function_set_init)                                                                     \
    X(table_function_set_function)                                                                 \
    X(register_table_function)                                                                     \
    X(bind_get_extra_info)                                                                         \
    X(bind_add_result_column)                                                                      \
    X(init_set_max_threads)                                                                        \
    X(function_get_extra_info)                                                                     \
    X(function_set_error)                                                                          \
    X(data_chunk_set_size)                                                                         \
    X(vector_assign_string_element_len)                                                            \
    X(scalar_function_set_error)                                                                   \
    X(register_scalar_function)

/* The functions, each under its name without "duckdb_". */
typedef struct leat_duckdb_api {
#define LEAT_DUCKDB_MEMBER(name) __typeof__(&duckdb_##name) name;
    LEAT_DUCKDB_FUNCTIONS(LEAT_DUCKDB_MEMBER)
#undef LEAT_DUCKDB_MEMBER
    void *library;
} leat_duckdb_api;

/*
 * Opens the library: next to leat itself, in leat/ of the folder of installed libraries, then in
 * the system's library path (duckdb/find.h). LEAT_ERR_UNSUPPORTED names these places, or
 * why a library there is not used, and the remedy.
 */
LEAT_MUST_CHECK leat_code leat_duckdb_api_open(leat_duckdb_api *api, leat_error *err);
/* The code stays in memory; opening it again is cheap. */
void leat_duckdb_api_close(leat_duckdb_api *api);

/* An in-memory database with one connection, which loads no extensions and does not spill. */
typedef struct leat_duckdb {
    leat_duckdb_api api;
    duckdb_database database;
    duckdb_connection connection;
} leat_duckdb;

/* memory_bytes 0: DuckDB's own limit. *db must be closed, even after a failure. */
LEAT_MUST_CHECK leat_code leat_duckdb_open(leat_duckdb *db, int threads, int64_t memory_bytes,
                                           leat_error *err);
void leat_duckdb_close(leat_duckdb *db);

/*
 * Runs a query; on success, the caller owns the result (api.destroy_result). A failure is
 * LEAT_ERR_LIMIT (the memory limit is too low), LEAT_ERR_IO or LEAT_ERR_CORRUPT with DuckDB's first
 * line.
 */
LEAT_MUST_CHECK leat_code leat_duckdb_query(leat_duckdb *db, const char *sql, duckdb_result *result,
                                            leat_error *err);

/* Called for each row of a result, with integers (NULL as 0) or texts by column type. */
typedef union leat_duckdb_value {
    int64_t number;
    struct {
        const char *data;
        int64_t size_bytes;
    } text;
} leat_duckdb_value;
typedef leat_code (*leat_duckdb_row_fn)(void *context, const leat_duckdb_value *values,
                                        leat_error *err);
/* Runs a query with up to 8 columns, whose types are in `kinds`: 'i' BIGINT, 't' VARCHAR. */
LEAT_MUST_CHECK leat_code leat_duckdb_rows(leat_duckdb *db, const char *sql, const char *kinds,
                                           leat_duckdb_row_fn fn, void *context, leat_error *err);

/* The bytes of a VARCHAR in a vector. */
static inline const char *leat_duckdb_text(const duckdb_string_t *text, int64_t *size_bytes) {
    *size_bytes = text->value.inlined.length;
    return text->value.inlined.length <= 12 ? text->value.inlined.inlined : text->value.pointer.ptr;
}

#endif
#endif
