/*
 * Reading Parquet. DuckDB decodes row groups on all of its threads; the query calls a scalar
 * function of leat, count(leat_sink(...)), on each of them with chunks of 2048 rows. So the rows
 * arrive in parallel as DuckDB's own vectors, and no result is ever assembled.
 *
 * Files with equal columns share a query, so that many small files are read in parallel as well.
 *
 * One time that DuckDB cannot represent, or one text that is not UTF-8, fails a query. Its files
 * are then read one by one, and the one that fails alone in its plain form (parquet.h), in which
 * the workers judge these values like those of other formats. Rows that were passed on before are
 * not passed on again: each slot remembers the ranges that went through it, usually one per row
 * group.
 */
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/probes/parquet.h"
#include "ingest/probes/parquet_rtts.h"
#include "ingest/value_text.h"

#if LEAT_HAVE_DUCKDB

/* Files of one query; DuckDB keeps few of them open. */
enum { QUERY_FILES = 256 };

/* Rows [begin, end) of a file of the query, that were passed on. */
typedef struct row_range {
    int32_t file;
    int64_t begin, end;
} row_range;

/* Buffers for chunks whose DuckDB vectors cannot be used directly. */
typedef struct slot {
    atomic_bool busy;
    int32_t last_file;      /* in the query: the file of the previous chunk */
    leat_buf passed;        /* row_range, of the query */
    uint8_t units;          /* of the chunk's times, see leat_time_read */
    leat_parquet_rtts rtts; /* the chunk's */
    int64_t row[LEAT_BATCH_ROWS], time_us[LEAT_BATCH_ROWS];
    leat_text src[LEAT_BATCH_ROWS], dst[LEAT_BATCH_ROWS];
    int32_t ip_version[LEAT_BATCH_ROWS];
    float rtt[LEAT_BATCH_ROWS];
    leat_text name[LEAT_BATCH_ROWS];
    uint32_t probe[LEAT_BATCH_ROWS];
    char pad[64]; /* padded: slots must not share a cache line */
} slot;

/* A file of the current query, by the path that DuckDB returns. */
typedef struct query_file {
    char *path;
    int64_t path_bytes;
    int32_t file_index;
    atomic_int_least64_t rows;
} query_file;

typedef struct parquet_scan {
    leat_scan *scan;
    leat_duckdb db;
    pthread_key_t key; /* 1 + the slot that a DuckDB thread used last */
    int slot_count;
    slot *slots;
    atomic_int next_slot;

    /* the current query */
    const leat_parquet_facts *facts;
    query_file *files; /* sorted by path */
    int32_t file_count;
    int64_t bytes_before; /* of the files of earlier queries */
    int64_t query_rows, query_bytes;
    atomic_int_least64_t rows;
    leat_buf passed; /* row_range, sorted: by the attempts before the current one */
    bool registered[64][64];

    pthread_mutex_t lock; /* for the error */
    atomic_bool failed;
    leat_error error;
} parquet_scan;

/* ---- from DuckDB's threads to workers ---- */

/*
 * A slot that no other thread holds. Threads prefer the slot they had, whose memory is in their
 * cache; if there are more threads than slots, a thread waits for one.
 */
static int take_slot(parquet_scan *self) {
    int hint = (int)(intptr_t)pthread_getspecific(self->key) - 1;
    if (hint < 0) {
        hint = atomic_fetch_add(&self->next_slot, 1) % self->slot_count;
        (void)pthread_setspecific(self->key, (void *)(intptr_t)(hint + 1));
    }
    for (;;) {
        for (int i = 0; i < self->slot_count; i++) {
            int slot = (hint + i) % self->slot_count;
            bool idle = false;
            if (atomic_compare_exchange_strong(&self->slots[slot].busy, &idle, true)) return slot;
        }
        sched_yield();
    }
}

static inline bool is_valid(const uint64_t *valid, int64_t i) {
    return valid == NULL || (valid[i / 64] >> (i % 64) & 1) != 0;
}

/* As the same numbers in JSON: whole ones by their size, or seconds with a fraction. */
static void take_real_times(const double *data, const uint64_t *valid, int64_t count,
                            leat_time_unit unit, slot *slot) {
    for (int64_t i = 0; i < count; i++)
        slot->time_us[i] =
            is_valid(valid, i) ? leat_time_of_real(data[i], unit, &slot->units) : LEAT_TIME_MISSING;
}

static void take_times(const parquet_scan *self, const int64_t *data, const uint64_t *valid,
                       int64_t count, slot *slot) {
    const leat_time_type *type = leat_time_type_at(self->facts->time_type);
    int64_t per_second = type->ticks_per_second, *out = slot->time_us;
    leat_time_unit unit = self->scan->options->time_unit;
    slot->units = 0;
    if (type->type == DUCKDB_TYPE_DOUBLE) {
        take_real_times((const double *)(const void *)data, valid, count, unit, slot);
        return;
    }
    if (type->integer) {
        for (int64_t i = 0; i < count; i++) {
            if (is_valid(valid, i)) out[i] = leat_time_of_integer(data[i], unit, &slot->units);
        }
    } else if (per_second == 1000000) {
        memcpy(out, data, (size_t)count * sizeof *out);
    } else {
        for (int64_t i = 0; i < count; i++) out[i] = leat_time_of_ticks(data[i], per_second);
    }
    for (int64_t i = 0; i < count; i++) {
        /* DuckDB's infinities are the ends of the 64-bit range in any unit; leat's are those of
         * microseconds */
        if (!type->integer && data[i] == INT64_MAX) out[i] = LEAT_TIME_FUTURE;
        if (!type->integer && data[i] <= -INT64_MAX) out[i] = LEAT_TIME_PAST;
        if (!is_valid(valid, i)) out[i] = LEAT_TIME_MISSING;
    }
}

static void take_texts(const duckdb_string_t *data, const uint64_t *valid, int64_t count,
                       leat_text *out) {
    for (int64_t i = 0; i < count; i++) {
        int64_t size = -1;
        const char *text = NULL;
        if (is_valid(valid, i)) text = leat_duckdb_text(&data[i], &size);
        out[i] = (leat_text){text, size > INT32_MAX ? INT32_MAX : (int32_t)size};
    }
}

static int compare_path(const char *path, int64_t path_bytes, const query_file *file) {
    int64_t least = path_bytes < file->path_bytes ? path_bytes : file->path_bytes;
    int order = memcmp(path, file->path, (size_t)least);
    if (order != 0) return order;
    return path_bytes < file->path_bytes ? -1 : path_bytes > file->path_bytes;
}

/* The file of the query with that path, or -1. */
static int32_t find_file(const parquet_scan *self, const duckdb_string_t *text, int32_t hint) {
    int64_t size = 0;
    const char *path = leat_duckdb_text(text, &size);
    if (hint < self->file_count && compare_path(path, size, &self->files[hint]) == 0) return hint;
    int32_t low = 0, high = self->file_count - 1;
    while (low <= high) {
        int32_t middle = low + (high - low) / 2;
        int order = compare_path(path, size, &self->files[middle]);
        if (order == 0) return middle;
        if (order < 0) high = middle - 1;
        else low = middle + 1;
    }
    return -1;
}

/* The vectors of a chunk, in the order of the query's arguments. */
typedef struct chunk_columns {
    const void *data[8];
    const uint64_t *valid[8];
    const int64_t *row;
    const duckdb_string_t *path;
} chunk_columns;

/* ---- rows passed on ---- */

static int compare_ranges(const void *a, const void *b) {
    const row_range *x = a, *y = b;
    if (x->file != y->file) return x->file < y->file ? -1 : 1;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

static leat_code note_range(slot *slot, int32_t file, int64_t begin, int64_t end, leat_error *err) {
    int64_t count = slot->passed.size / (int64_t)sizeof(row_range);
    row_range *last = count > 0 ? (row_range *)(void *)slot->passed.data + count - 1 : NULL;
    if (last != NULL && last->file == file && last->end == begin) {
        last->end = end;
        return LEAT_OK;
    }
    row_range range = {.file = file, .begin = begin, .end = end};
    return leat_buf_append(&slot->passed, &range, (int64_t)sizeof range, err);
}

static leat_code note_rows(slot *slot, int32_t file, int64_t first, int64_t count,
                           leat_error *err) {
    const int64_t *row = slot->row + first;
    if (row[count - 1] - row[0] == count - 1) {
        return note_range(slot, file, row[0], row[count - 1] + 1, err);
    }
    for (int64_t i = 0; i < count; i++) {
        LEAT_TRY(note_range(slot, file, row[i], row[i] + 1, err));
    }
    return LEAT_OK;
}

/* Between two attempts: what all slots have passed on. */
static leat_code collect_passed(parquet_scan *self, leat_error *err) {
    self->passed.size = 0;
    for (int i = 0; i < self->slot_count; i++) {
        const leat_buf *own = &self->slots[i].passed;
        if (own->size > 0) LEAT_TRY(leat_buf_append(&self->passed, own->data, own->size, err));
    }
    size_t count = (size_t)self->passed.size / sizeof(row_range);
    if (count > 0) qsort(self->passed.data, count, sizeof(row_range), compare_ranges);
    return LEAT_OK;
}

static void forget_passed(parquet_scan *self) {
    self->passed.size = 0;
    for (int i = 0; i < self->slot_count; i++) self->slots[i].passed.size = 0;
}

static bool was_passed(const parquet_scan *self, int32_t file, int64_t row) {
    const row_range *ranges = (const row_range *)(const void *)self->passed.data;
    int64_t low = 0, high = self->passed.size / (int64_t)sizeof *ranges;
    while (low < high) { /* the first range behind the row */
        int64_t middle = low + (high - low) / 2;
        const row_range *at = &ranges[middle];
        if (at->file > file || (at->file == file && at->begin > row)) high = middle;
        else low = middle + 1;
    }
    return low > 0 && ranges[low - 1].file == file && row < ranges[low - 1].end;
}

/* ---- chunks ---- */

static leat_code give_batch(parquet_scan *self, int worker, int32_t file, int64_t first,
                            int64_t count, leat_error *err) {
    slot *slot = &self->slots[worker];
    leat_raw_batch batch = {.file_index = self->files[file].file_index,
                            .count = count,
                            .row = slot->row + first,
                            .time_us = slot->time_us + first,
                            .src = slot->src + first,
                            .dst = slot->dst + first,
                            .ip_version = slot->ip_version + first,
                            .rtt = slot->rtt + first,
                            .name = leat_parquet_is_named(self->facts) ? slot->name + first : NULL};
    if (leat_parquet_is_numbered(self->facts)) batch.probe = slot->probe + first;
    atomic_fetch_add(&self->files[file].rows, count);
    atomic_fetch_add(&self->scan->rows, count);
    int64_t rows = atomic_fetch_add(&self->rows, count) + count;
    const leat_source_options *options = self->scan->options;
    leat_parquet_rtts_note(&slot->rtts, options, self->files[file].file_index, first, count);
    LEAT_TRY(options->batch(options->batch_context, worker, &batch, err));
    LEAT_TRY(note_rows(slot, file, first, count, err));
    leat_notes_add_units(options->notes, self->files[file].file_index, slot->units);
    double share = self->query_rows > 0 ? (double)rows / (double)self->query_rows : 1;
    int64_t bytes = self->bytes_before + (int64_t)((double)self->query_bytes * fmin(share, 1));
    return leat_ticker_reach(options->ticker, bytes, err);
}

/* A chunk comes from one file and is passed on as a whole. Should it not come from one, or were
 * some of its rows passed on before, it is passed on in pieces. */
static leat_code give_rows(parquet_scan *self, int worker, const duckdb_string_t *path,
                           int64_t count, leat_error *err) {
    slot *slot = &self->slots[worker];
    bool again = self->passed.size > 0;
    for (int64_t first = 0; first < count;) {
        int32_t file = find_file(self, &path[first], slot->last_file);
        if (file < 0) {
            return leat_fail(err, LEAT_ERR_CORRUPT, "DuckDB read a file that was not requested");
        }
        slot->last_file = file;
        bool passed = again && was_passed(self, file, slot->row[first]);
        int64_t end = first + 1;
        while (end < count && memcmp(&path[first], &path[end], sizeof path[end]) == 0 &&
               (!again || was_passed(self, file, slot->row[end]) == passed)) {
            end++;
        }
        if (!passed) LEAT_TRY(give_batch(self, worker, file, first, end - first, err));
        first = end;
    }
    return LEAT_OK;
}

/* Rows [first, first + count) of a chunk, at most a batch of them. */
static leat_code take_rows(parquet_scan *self, int worker, const chunk_columns *columns,
                           int64_t count, leat_error *err) {
    slot *slot = &self->slots[worker];
    take_times(self, columns->data[0], columns->valid[0], count, slot);
    take_texts(columns->data[1], columns->valid[1], count, slot->src);
    take_texts(columns->data[2], columns->valid[2], count, slot->dst);
    slot->rtts = (leat_parquet_rtts){columns->data[3], columns->valid[3], self->facts->rtt_double};
    leat_parquet_rtts_take(&slot->rtts, self->scan->options, count, slot->rtt);
    for (int64_t i = 0; i < count; i++) slot->row[i] = columns->row[i] + 1;
    if (leat_parquet_has_version(self->facts)) {
        const int32_t *versions = columns->data[6];
        for (int64_t i = 0; i < count; i++) {
            slot->ip_version[i] = is_valid(columns->valid[6], i) ? versions[i] : 0;
        }
    } else {
        memset(slot->ip_version, 0, sizeof slot->ip_version);
    }
    if (leat_parquet_is_named(self->facts)) {
        int last = leat_parquet_has_version(self->facts) ? 7 : 6;
        take_texts(columns->data[last], columns->valid[last], count, slot->name);
    }
    if (leat_parquet_is_numbered(self->facts)) {
        const int last = leat_parquet_column_count(self->facts) - 1;
        const int32_t *numbers = columns->data[last];
        for (int64_t i = 0; i < count; i++)
            slot->probe[i] = is_valid(columns->valid[last], i) ? (uint32_t)numbers[i] : 0;
    }
    return give_rows(self, worker, columns->path, count, err);
}

static void keep_error(parquet_scan *self, const leat_error *error) {
    pthread_mutex_lock(&self->lock);
    if (!atomic_load(&self->failed)) self->error = *error;
    atomic_store(&self->failed, true);
    pthread_mutex_unlock(&self->lock);
}

/*
 * The path from a DuckDB call to the scan: the DuckDB function that returns the data registered
 * with leat's function. DuckDB passes nothing else, and it is not linked, so the address must be
 * stored globally; it is the same for all scans of the process, since the library is never
 * unmapped.
 */
static _Atomic(__typeof__(&duckdb_scalar_function_get_extra_info)) get_extra_info;

static leat_code take_chunk(parquet_scan *self, int worker, duckdb_data_chunk chunk,
                            leat_error *err) {
    const leat_duckdb_api *api = &self->db.api;
    chunk_columns columns = {0};
    int64_t count = (int64_t)api->data_chunk_get_size(chunk);
    const int column_count = leat_parquet_column_count(self->facts);
    if (count == 0) return LEAT_OK;
    if (count > LEAT_BATCH_ROWS) {
        return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                         "DuckDB %s passes %lld rows at once, more than the supported %d; run "
                         "scripts/install.sh",
                         api->library_version(), (long long)count, LEAT_BATCH_ROWS);
    }
    for (int k = 0; k < column_count; k++) {
        duckdb_vector vector = api->data_chunk_get_vector(chunk, (idx_t)k);
        columns.data[k] = api->vector_get_data(vector);
        columns.valid[k] = api->vector_get_validity(vector);
    }
    columns.row = columns.data[4];
    columns.path = columns.data[5];
    return take_rows(self, worker, &columns, count, err);
}

/* The scalar function: arguments time, src, dst, rtt, row, path[, version][, probe]; DuckDB has
 * flattened them. Its values are only counted. */
static void sink(duckdb_function_info info, duckdb_data_chunk chunk, duckdb_vector output) {
    parquet_scan *self = atomic_load(&get_extra_info)(info);
    const leat_duckdb_api *api = &self->db.api;
    leat_error error = {0};
    bool failed = atomic_load(&self->failed);
    if (!failed) {
        int worker = take_slot(self);
        failed = take_chunk(self, worker, chunk, &error) != LEAT_OK;
        atomic_store(&self->slots[worker].busy, false);
        if (failed) keep_error(self, &error);
    }
    if (failed) {
        api->scalar_function_set_error(info, "stopped by leat");
        return;
    }
    memset(api->vector_get_data(output), 0, (size_t)api->data_chunk_get_size(chunk));
}

/* ---- queries ---- */

static leat_code register_sink(parquet_scan *self, const leat_parquet_facts *facts,
                               leat_error *err) {
    const leat_duckdb_api *api = &self->db.api;
    duckdb_type address = facts->plain ? DUCKDB_TYPE_BLOB : DUCKDB_TYPE_VARCHAR;
    duckdb_type types[8] = {
        leat_time_type_at(facts->time_type)->type,
        address,
        address,
        facts->rtt_double ? DUCKDB_TYPE_DOUBLE : DUCKDB_TYPE_FLOAT,
        DUCKDB_TYPE_BIGINT,
        DUCKDB_TYPE_VARCHAR,
    };
    int count = 6;
    if (leat_parquet_has_version(facts)) types[count++] = DUCKDB_TYPE_INTEGER;
    if (leat_parquet_is_named(facts))
        types[count++] =
            facts->probe_type == LEAT_PARQUET_PROBE_TEXT ? address : DUCKDB_TYPE_VARCHAR;
    if (leat_parquet_is_numbered(facts)) types[count++] = DUCKDB_TYPE_INTEGER;
    char name[64];
    bool *known = &self->registered[facts->time_type][facts->plain * 32 + facts->probe_type * 4 +
                                                      leat_parquet_has_version(facts) * 2 +
                                                      facts->rtt_double];
    if (*known) return LEAT_OK;
    leat_parquet_sink_name(facts, name);
    duckdb_scalar_function function = api->create_scalar_function();
    api->scalar_function_set_name(function, name);
    for (int i = 0; i <= count; i++) {
        duckdb_logical_type type =
            api->create_logical_type(i < count ? types[i] : DUCKDB_TYPE_TINYINT);
        if (i < count) api->scalar_function_add_parameter(function, type);
        else api->scalar_function_set_return_type(function, type);
        api->destroy_logical_type(&type);
    }
    api->scalar_function_set_function(function, sink);
    api->scalar_function_set_extra_info(function, self, NULL);
    api->scalar_function_set_volatile(function);         /* one call for each row */
    api->scalar_function_set_special_handling(function); /* for rows with nulls too */
    duckdb_state state = api->register_scalar_function(self->db.connection, function);
    api->destroy_scalar_function(&function);
    *known = state == DuckDBSuccess;
    if (*known) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                     "DuckDB %s does not accept the function %s; run scripts/install.sh",
                     api->library_version(), name);
}

/*
 * Waits until no DuckDB thread is in the function any more, and collects their results. A query
 * that has ended should have none; but DuckDB does not document that it waits for them when it ends
 * with an error.
 */
static void wait_for_slots(parquet_scan *self) {
    for (int i = 0; i < self->slot_count; i++) {
        while (atomic_load(&self->slots[i].busy)) sched_yield();
    }
}

static leat_code run_query(parquet_scan *self, const leat_parquet_query *query, leat_error *err) {
    leat_buf sql = {0};
    self->facts = query->facts;
    LEAT_TRY(register_sink(self, query->facts, err));
    leat_code code = leat_parquet_build_query(&sql, query, &self->scan->options->columns, err);
    if (code == LEAT_OK) {
        duckdb_result result;
        code = leat_duckdb_query(&self->db, (const char *)sql.data, &result, err);
        if (code == LEAT_OK) self->db.api.destroy_result(&result);
        wait_for_slots(self);
    }
    leat_buf_free(&sql);
    /* DuckDB wraps leat's own failures in its messages; the first failure counts */
    if (code != LEAT_OK && atomic_load(&self->failed)) code = leat_error_copy(err, &self->error);
    return code;
}

static int compare_files(const void *a, const void *b) {
    const query_file *x = a, *y = b;
    return compare_path(x->path, x->path_bytes, y);
}

static leat_code list_files(parquet_scan *self, const leat_input *const *inputs, int64_t count,
                            leat_error *err) {
    self->file_count = 0;
    self->query_rows = 0;
    self->query_bytes = 0;
    for (int64_t i = 0; i < count; i++) {
        leat_buf path = {0};
        leat_code code = leat_parquet_path(&path, inputs[i]->path, err);
        if (code != LEAT_OK) {
            leat_buf_free(&path);
            return code;
        }
        query_file *file = &self->files[self->file_count++];
        file->path = (char *)path.data;
        file->path_bytes = path.size;
        file->file_index = (int32_t)(inputs[i] - self->scan->inputs->items);
        atomic_store(&file->rows, 0);
        self->query_rows += inputs[i]->parquet.rows;
        self->query_bytes += inputs[i]->facts.size_bytes;
    }
    qsort(self->files, (size_t)self->file_count, sizeof *self->files, compare_files);
    return LEAT_OK;
}

static void forget_files(parquet_scan *self) {
    for (int32_t i = 0; i < self->file_count; i++) leat_free(self->files[i].path);
    self->file_count = 0;
    forget_passed(self);
}

/* A file that was changed since it was checked yields a different number of rows. */
static leat_code check_rows(const parquet_scan *self, leat_error *err) {
    for (int32_t i = 0; i < self->file_count; i++) {
        const leat_input *input = &self->scan->inputs->items[self->files[i].file_index];
        int64_t rows = atomic_load(&self->files[i].rows);
        if (rows == input->parquet.rows) continue;
        return leat_fail(
            err, LEAT_ERR_CORRUPT,
            "\"%s\" has %lld rows, but its metadata counts %lld; was it changed while it was read?",
            input->path, (long long)rows, (long long)input->parquet.rows);
    }
    return LEAT_OK;
}

/* ---- files that DuckDB does not read ---- */

/* Whether a failure is DuckDB's, and of the contents of a file. */
static bool may_retry(const parquet_scan *self, leat_code code) {
    return code == LEAT_ERR_CORRUPT && !atomic_load(&self->failed);
}

/* `error` is what DuckDB says about the file itself; NULL: it was found by the check. */
static leat_code scan_plain(parquet_scan *self, const leat_input *input, const leat_error *error,
                            leat_error *err) {
    leat_parquet_plain plain;
    leat_error own = {0};
    leat_parquet_facts facts = input->parquet;
    int64_t number = input - self->scan->inputs->items;
    leat_code code =
        leat_parquet_plain_make(&plain, number, input, self->scan->options, true, &own);
    bool unusual = code == LEAT_ERR_UNSUPPORTED;
    if (code == LEAT_OK) {
        facts.plain = true;
        if (plain.time_ticks_per_second != 0) {
            facts.time_type = leat_time_type_plain(plain.time_ticks_per_second);
        }
        leat_parquet_query query = {&facts, &input, 1, plain.path};
        code = collect_passed(self, &own);
        if (code == LEAT_OK) code = run_query(self, &query, &own);
        leat_parquet_plain_remove(&plain);
    }
    if (code == LEAT_OK) return LEAT_OK;
    bool damaged = unusual || may_retry(self, code);
    leat_error_copy(err, damaged && error != NULL ? error : &own);
    return damaged ? leat_parquet_context(err, err->code, input->path) : code;
}

/* Reads what is left of a file of a query that failed. */
static leat_code scan_rest(parquet_scan *self, const query_file *file, const leat_error *error,
                           leat_error *err) {
    const leat_input *input = &self->scan->inputs->items[file->file_index];
    leat_error own = *error;
    if (atomic_load(&file->rows) == input->parquet.rows) return LEAT_OK;
    if (self->file_count > 1) {
        leat_parquet_query query = {&input->parquet, &input, 1, NULL};
        LEAT_TRY(collect_passed(self, err));
        leat_code code = run_query(self, &query, &own);
        if (code == LEAT_OK) return LEAT_OK;
        if (!may_retry(self, code)) {
            leat_error_copy(err, &own);
            return atomic_load(&self->failed) ? code : leat_parquet_context(err, code, input->path);
        }
    }
    return scan_plain(self, input, &own, err);
}

static leat_code scan_again(parquet_scan *self, const leat_error *error, leat_error *err) {
    for (int32_t i = 0; i < self->file_count; i++) {
        LEAT_TRY(scan_rest(self, &self->files[i], error, err));
    }
    return LEAT_OK;
}

static leat_code scan_files(parquet_scan *self, const leat_input *const *inputs, int64_t count,
                            leat_error *err) {
    leat_error error = {0};
    leat_parquet_query query = {&inputs[0]->parquet, inputs, count, NULL};
    if (inputs[0]->parquet.plain) return scan_plain(self, inputs[0], NULL, err);
    leat_code code = run_query(self, &query, &error);
    if (code == LEAT_OK) return LEAT_OK;
    bool own = atomic_load(&self->failed);
    if (may_retry(self, code) || (count > 1 && !own && code != LEAT_ERR_LIMIT)) {
        return scan_again(self, &error, err);
    }
    leat_error_copy(err, &error);
    if (own) return code;
    if (count == 1) return leat_parquet_context(err, code, inputs[0]->path);
    return leat_error_context(err, code, "reading %lld Parquet files from \"%s\" on",
                              (long long)count, inputs[0]->path);
}

static leat_code scan_group(parquet_scan *self, const leat_input *const *inputs, int64_t count,
                            leat_error *err) {
    atomic_store(&self->rows, 0);
    leat_code code = list_files(self, inputs, count, err);
    if (code == LEAT_OK) code = scan_files(self, inputs, count, err);
    if (code == LEAT_OK) code = check_rows(self, err);
    self->bytes_before += self->query_bytes;
    forget_files(self);
    return code;
}

static bool same_query(const leat_input *a, const leat_input *b) {
    return a->parquet.schema == b->parquet.schema && !a->parquet.plain && !b->parquet.plain;
}

/* Inputs in order, as many at once as one query may read. */
static leat_code scan_groups(parquet_scan *self, leat_error *err) {
    const leat_input_list *all = self->scan->inputs;
    const leat_input *group[QUERY_FILES];
    int64_t count = 0;
    for (int64_t i = 0; i <= all->count; i++) {
        const leat_input *input = i < all->count ? &all->items[i] : NULL;
        if (input != NULL && input->format != LEAT_INPUT_PARQUET) continue;
        if (count > 0 && (input == NULL || count == QUERY_FILES || !same_query(group[0], input))) {
            LEAT_TRY(scan_group(self, group, count, err));
            count = 0;
        }
        /* a file without rows has nothing to read, and DuckDB's plan for it never calls the
         * function */
        if (input != NULL && input->parquet.rows > 0) group[count++] = input;
    }
    return LEAT_OK;
}

/* ---- the scan ---- */

static leat_code open_scan(parquet_scan *self, int threads, leat_error *err) {
    self->slot_count = threads;
    LEAT_TRY(LEAT_NEW(&self->files, QUERY_FILES, err));
    LEAT_TRY(leat_block_alloc((void **)&self->slots, threads * (int64_t)sizeof(slot), err));
    /* DuckDB counts buffers rounded up to powers of two, whose tails are never touched: its own
     * limit only guards against files with wrong sizes */
    int64_t limit = 2 * leat_parquet_memory(self->scan->inputs, threads) + (INT64_C(64) << 20);
    LEAT_TRY(leat_duckdb_open(&self->db, threads, limit, err));
    atomic_store(&get_extra_info, self->db.api.scalar_function_get_extra_info);
    return LEAT_OK;
}

static void close_scan(parquet_scan *self) {
    leat_duckdb_close(&self->db);
    for (int i = 0; self->slots != NULL && i < self->slot_count; i++) {
        leat_buf_free(&self->slots[i].passed);
    }
    leat_buf_free(&self->passed);
    leat_block_free(self->slots, self->slot_count * (int64_t)sizeof(slot));
    leat_free(self->files);
}

/* As many threads as memory allows. */
static leat_code plan_threads(const leat_scan *scan, int *threads, leat_error *err) {
    const leat_source_options *options = scan->options;
    *threads = options->threads;
    while (*threads > 1 && leat_parquet_memory(scan->inputs, *threads) > options->memory_bytes) {
        (*threads)--;
    }
    int64_t needed = leat_parquet_memory(scan->inputs, *threads);
    if (needed <= options->memory_bytes) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_LIMIT,
                     "reading these Parquet files takes %lld MiB of memory per row group, but %lld "
                     "MiB are left; write them with smaller row groups, or use a larger --memory",
                     (long long)(needed >> 20) + 1, (long long)(options->memory_bytes >> 20));
}

leat_code leat_parquet_scan(leat_scan *scan, leat_error *err) {
    bool any = false, known = true;
    for (int64_t i = 0; i < scan->inputs->count; i++) {
        if (scan->inputs->items[i].format != LEAT_INPUT_PARQUET) continue;
        any = true;
        known = known && scan->inputs->items[i].parquet.known;
    }
    if (!any) return LEAT_OK;
    if (!known) LEAT_TRY(leat_parquet_check(scan->inputs, scan->options, err));
    int threads = 1;
    LEAT_TRY(plan_threads(scan, &threads, err));
    parquet_scan *self = NULL;
    LEAT_TRY(LEAT_NEW(&self, 1, err));
    self->scan = scan;
    int number = pthread_key_create(&self->key, NULL);
    if (number != 0) {
        leat_free(self);
        return leat_fail_errno(err, number, "cannot create a thread-specific key");
    }
    pthread_mutex_init(&self->lock, NULL);
    leat_code code = open_scan(self, threads, err);
    if (code == LEAT_OK) code = scan_groups(self, err);
    close_scan(self);
    pthread_mutex_destroy(&self->lock);
    (void)pthread_key_delete(self->key);
    leat_free(self);
    return code;
}

#else

leat_code leat_parquet_scan(leat_scan *scan, leat_error *err) {
    return leat_parquet_check(scan->inputs, scan->options, err);
}

#endif
