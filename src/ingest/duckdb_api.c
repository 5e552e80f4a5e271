/*
 * Opening DuckDB at run time. dlopen expands $ORIGIN to the folder of the object that calls it, so
 * that the copy installed with leat is found wherever leat was moved to.
 */
#include "ingest/duckdb_api.h"

#include <stdio.h>
#include <string.h>

#include "leat/ingest.h"

#if LEAT_HAVE_DUCKDB

#include <dlfcn.h>
#include <link.h>

static const char *const places[] = {
    "$ORIGIN/leat/libduckdb.so", "$ORIGIN/../lib/leat/libduckdb.so", LEAT_DUCKDB_BUILT_WITH,
    "libduckdb.so", /* the system's */
};
enum { PLACES = sizeof places / sizeof *places };

/* Where the library really lies. */
static const char *path_of(void *library) {
    struct link_map *map = NULL;
    return dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map != NULL ? map->l_name : "?";
}

static leat_code bind_functions(leat_duckdb_api *api, leat_error *err) {
    const char *missing = NULL;
#define BIND(name)                                                                                 \
    *(void **)&api->name = dlsym(api->library, "duckdb_" #name);                                   \
    if (api->name == NULL) missing = "duckdb_" #name;
    LEAT_DUCKDB_FUNCTIONS(BIND)
#undef BIND
    if (missing == NULL) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                     "DuckDB at \"%s\" (%s) has no function %s, it is too old or too new; run "
                     "scripts/install.sh",
                     path_of(api->library),
                     api->library_version != NULL ? api->library_version() : "unknown version",
                     missing);
}

leat_code leat_duckdb_api_open(leat_duckdb_api *api, leat_error *err) {
    *api = (leat_duckdb_api){0};
    char tried[256] = "", reason[160] = "";
    for (int i = 0; i < PLACES && api->library == NULL; i++) {
        /* Never unmapped: threads of DuckDB's allocator may outlive a database. */
        api->library = dlopen(places[i], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        if (api->library != NULL) break;
        const char *why = dlerror();
        size_t used = strlen(tried);
        snprintf(tried + used, sizeof tried - used, "%s%s", used > 0 ? ", " : "", places[i]);
        /* a library that is there but cannot be loaded says more than one that is not there */
        bool absent = why == NULL || strstr(why, "No such file") != NULL;
        if (reason[0] == 0 && !absent) snprintf(reason, sizeof reason, "; %s", why);
    }
    if (api->library == NULL) {
        return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                         "cannot load DuckDB, which reads Parquet: looked for %s%s; run "
                         "scripts/install.sh",
                         tried, reason);
    }
    leat_code code = bind_functions(api, err);
    if (code != LEAT_OK) leat_duckdb_api_close(api);
    return code;
}

void leat_duckdb_api_close(leat_duckdb_api *api) {
    if (api->library != NULL) dlclose(api->library);
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
        /* gives memory back after each task that freed so much, not only at the end */
        {"allocator_flush_threshold", "4MB"},
        {"allocator_bulk_deallocation_flush_threshold", "4MB"},
        /* would keep what was read in memory, up to the limit */
        {"enable_external_file_cache", "false"},
        {memory_bytes > 0 ? "memory_limit" : NULL, memory_text},
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        if (settings[i][0] == NULL) continue;
        if (db->api.set_config(config, settings[i][0], settings[i][1]) != DuckDBSuccess) {
            return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                             "DuckDB %s refuses the setting %s = \"%s\"; run scripts/install.sh",
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
    /* the lines behind the first one show the query */
    size_t size = why != NULL ? strcspn(why, "\n") : 0;
    leat_fail(err, code, "%.*s", size < 300 ? (int)size : 300, why != NULL ? why : "");
    db->api.destroy_result(result);
    return code;
}

static leat_code give_rows(leat_duckdb *db, duckdb_data_chunk chunk, const char *kinds,
                           leat_duckdb_row_fn fn, void *context, leat_error *err) {
    idx_t rows = db->api.data_chunk_get_size(chunk);
    int columns = (int)strlen(kinds);
    leat_duckdb_value values[8];
    LEAT_ASSERT(columns <= 8);
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

leat_code leat_duckdb_probe(char *version, int64_t version_bytes, char *path, int64_t path_bytes,
                            leat_error *err) {
    version[0] = 0;
    path[0] = 0;
    leat_duckdb_api api;
    LEAT_TRY(leat_duckdb_api_open(&api, err));
    snprintf(version, (size_t)version_bytes, "%s", api.library_version());
    snprintf(path, (size_t)path_bytes, "%s", path_of(api.library));
    leat_duckdb_api_close(&api);
    return LEAT_OK;
}

#else

leat_code leat_duckdb_probe(char *version, int64_t version_bytes, char *path, int64_t path_bytes,
                            leat_error *err) {
    (void)version_bytes;
    (void)path_bytes;
    version[0] = 0;
    path[0] = 0;
    return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                     "leat was built without DuckDB, which reads Parquet; run scripts/install.sh "
                     "and build again");
}

#endif
