/*
 * Opens DuckDB at run time, from the first place that can be trusted and loaded (find.c).
 */
#include "duckdb/api.h"

#include <stdio.h>
#include <string.h>

#include "base/library.h"
#include "duckdb/find.h"
#include "leat/duckdb.h"

#if LEAT_HAVE_DUCKDB

static const leat_library_function functions[] = {
#define ROW(name) {"duckdb_" #name, offsetof(leat_duckdb_api, name), NULL},
    LEAT_DUCKDB_FUNCTIONS(ROW)
#undef ROW
        {0}};

static leat_code bind_functions(leat_duckdb_api *api, leat_error *err) {
    const char *missing = leat_library_bind(api->library, functions, api);
    if (missing == NULL) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                     "DuckDB at \"%s\" (%s): function %s is missing, so this version is too old or "
                     "too new; run scripts/install.sh",
                     leat_library_path(api->library),
                     api->library_version != NULL ? api->library_version() : "unknown version",
                     missing);
}

/* What the search for a library found, for messages. */
typedef struct search {
    char tried[512];  /* places without one, separated by commas */
    char reason[400]; /* why existing ones were not loaded */
} search;

static void note(char *text, size_t size, const char *between, const char *what) {
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", used > 0 ? between : "", what);
}

static void *open_library(search *found) {
    char self[LEAT_PATH_BYTES], path[LEAT_PATH_BYTES];
    leat_library_find_self(self);
    for (int i = 0; i < LEAT_DUCKDB_PLACES; i++) {
        leat_error why = {0};
        leat_duckdb_verdict verdict = leat_duckdb_place(i, self, path, &why);
        if (verdict == LEAT_DUCKDB_TRUSTED) {
            /* Never unmapped: threads of DuckDB's allocator may outlive a database. */
            const char *problem = NULL;
            void *library = leat_library_load(path, true, &problem);
            if (library != NULL) return library;
            /* a library that exists but cannot be loaded is a better message than a missing one */
            if (problem != NULL) note(found->reason, sizeof found->reason, "; ", problem);
        }
        if (verdict == LEAT_DUCKDB_REJECTED)
            note(found->reason, sizeof found->reason, "; ", why.message);
        if (verdict == LEAT_DUCKDB_ABSENT && path[0] != 0)
            note(found->tried, sizeof found->tried, ", ", path);
    }
    return NULL;
}

static leat_code open_and_bind(leat_duckdb_api *api, search *found, leat_error *err) {
    *api = (leat_duckdb_api){0};
    api->library = open_library(found);
    const char *what = "cannot load DuckDB, which reads Parquet";
    if (api->library == NULL && found->reason[0] != 0)
        return leat_fail(err, LEAT_ERR_UNSUPPORTED, "%s: %s", what, found->reason);
    if (api->library == NULL) {
        return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                         "%s: libduckdb.so is not in the system's library path%s%.300s; install it "
                         "there or next to leat, as scripts/install.sh and make install do",
                         what, found->tried[0] != 0 ? ", nor at " : "", found->tried);
    }
    leat_code code = bind_functions(api, err);
    if (code != LEAT_OK) leat_duckdb_api_close(api);
    return code;
}

leat_code leat_duckdb_api_open(leat_duckdb_api *api, leat_error *err) {
    search found = {0};
    return open_and_bind(api, &found, err);
}

void leat_duckdb_api_close(leat_duckdb_api *api) {
    leat_library_close(api->library);
    *api = (leat_duckdb_api){0};
}

/* ---- databases ---- */

static leat_code configure(leat_duckdb *db, duckdb_config config, int threads, int64_t memory_bytes,
                           leat_error *err) {
    char threads_text[16], memory_text[32];
    snprintf(threads_text, sizeof threads_text, "%d", threads);
    snprintf(memory_text, sizeof memory_text, "%lldKiB", (long long)(memory_bytes >> 10));
    const char *const settings[][2] = {
        {"threads", threads_text},
        {"autoload_known_extensions", "false"},
        {"autoinstall_known_extensions", "false"},
        {"temp_directory", ""},
        {"preserve_insertion_order", "false"},
        /* returns memory after each task that freed this much, not only at the end */
        {"allocator_flush_threshold", "4MB"},
        {"allocator_bulk_deallocation_flush_threshold", "4MB"},
        /* would keep everything it reads in memory, up to the limit */
        {"enable_external_file_cache", "false"},
        {memory_bytes > 0 ? "memory_limit" : NULL, memory_text},
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        if (settings[i][0] == NULL) continue;
        if (db->api.set_config(config, settings[i][0], settings[i][1]) != DuckDBSuccess) {
            return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                             "DuckDB %s rejects the setting %s = \"%s\"; run scripts/install.sh",
                             db->api.library_version(), settings[i][0], settings[i][1]);
        }
    }
    char *why = NULL;
    if (db->api.open_ext(NULL, &db->database, config, &why) != DuckDBSuccess) {
        leat_code code = leat_fail(err, LEAT_ERR_MEMORY, "cannot start DuckDB: %.200s",
                                   why != NULL ? why : "no reason given");
        db->api.free(why);
        return code;
    }
    if (db->api.connect(db->database, &db->connection) != DuckDBSuccess) {
        return leat_fail(err, LEAT_ERR_MEMORY, "cannot connect to DuckDB");
    }
    return LEAT_OK;
}

leat_code leat_duckdb_open(leat_duckdb *db, int threads, int64_t memory_bytes, leat_error *err) {
    *db = (leat_duckdb){0};
    LEAT_TRY(leat_duckdb_api_open(&db->api, err));
    duckdb_config config = NULL;
    if (db->api.create_config(&config) != DuckDBSuccess) {
        return leat_fail(err, LEAT_ERR_MEMORY, "cannot configure DuckDB");
    }
    leat_code code = configure(db, config, threads, memory_bytes, err);
    db->api.destroy_config(&config);
    return code;
}

void leat_duckdb_close(leat_duckdb *db) {
    if (db->connection != NULL) db->api.disconnect(&db->connection);
    if (db->database != NULL) db->api.close(&db->database);
    leat_duckdb_api_close(&db->api);
}

/* ---- queries ---- */

leat_code leat_duckdb_query(leat_duckdb *db, const char *sql, duckdb_result *result,
                            leat_error *err) {
    memset(result, 0, sizeof *result);
    if (db->api.query(db->connection, sql, result) == DuckDBSuccess) return LEAT_OK;
    const char *why = db->api.result_error(result);
    duckdb_error_type type = db->api.result_error_type(result);
    leat_code code = type == DUCKDB_ERROR_OUT_OF_MEMORY ? LEAT_ERR_LIMIT
                     : type == DUCKDB_ERROR_IO          ? LEAT_ERR_IO
                                                        : LEAT_ERR_CORRUPT;
    /* the lines after the first show the query */
    size_t size = why != NULL ? strcspn(why, "\n") : 0;
    leat_fail(err, code, "%.*s", size < 300 ? (int)size : 300, why != NULL ? why : "");
    db->api.destroy_result(result);
    return code;
}

static leat_code give_rows(leat_duckdb *db, duckdb_data_chunk chunk, const char *kinds,
                           leat_duckdb_row_fn fn, void *context, leat_error *err) {
    idx_t rows = db->api.data_chunk_get_size(chunk);
    int columns = (int)strlen(kinds);
    leat_duckdb_value values[9];
    LEAT_ASSERT(columns <= (int)(sizeof values / sizeof *values));
    for (idx_t row = 0; row < rows; row++) {
        for (int k = 0; k < columns; k++) {
            duckdb_vector vector = db->api.data_chunk_get_vector(chunk, (idx_t)k);
            uint64_t *valid = db->api.vector_get_validity(vector);
            const void *data = db->api.vector_get_data(vector);
            memset(&values[k], 0, sizeof values[k]);
            if (valid != NULL && (valid[row / 64] >> (row % 64) & 1) == 0) continue;
            if (kinds[k] == 'i') {
                values[k].number = ((const int64_t *)data)[row];
            } else {
                const duckdb_string_t *text = (const duckdb_string_t *)data + row;
                values[k].text.data = leat_duckdb_text(text, &values[k].text.size_bytes);
            }
        }
        LEAT_TRY(fn(context, values, err));
    }
    return LEAT_OK;
}

leat_code leat_duckdb_rows(leat_duckdb *db, const char *sql, const char *kinds,
                           leat_duckdb_row_fn fn, void *context, leat_error *err) {
    duckdb_result result;
    LEAT_TRY(leat_duckdb_query(db, sql, &result, err));
    leat_code code = LEAT_OK;
    duckdb_data_chunk chunk;
    while (code == LEAT_OK && (chunk = db->api.fetch_chunk(result)) != NULL) {
        code = give_rows(db, chunk, kinds, fn, context, err);
        db->api.destroy_data_chunk(&chunk);
    }
    db->api.destroy_result(&result);
    return code;
}

leat_code leat_duckdb_probe(leat_duckdb_facts *facts, leat_error *err) {
    *facts = (leat_duckdb_facts){0};
    leat_duckdb_api api;
    search found = {0};
    leat_code code = open_and_bind(&api, &found, err);
    if (code != LEAT_OK) return code;
    snprintf(facts->version, sizeof facts->version, "%s", api.library_version());
    snprintf(facts->path, sizeof facts->path, "%s", leat_library_path(api.library));
    snprintf(facts->rejected, sizeof facts->rejected, "%s", found.reason);
    leat_duckdb_api_close(&api);
    return LEAT_OK;
}

#else

leat_code leat_duckdb_probe(leat_duckdb_facts *facts, leat_error *err) {
    *facts = (leat_duckdb_facts){0};
    return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                     "leat was built without DuckDB, which reads Parquet; run scripts/install.sh "
                     "and rebuild leat");
}

#endif
