/*
 * Checks Parquet files before they are read: footers missing from truncated files, columns and
 * their types, whether the counts of the footer agree, and how much memory reading takes. Only the
 * footers are read, not the data. DuckDB silently reads as many rows of a row group as its count
 * says, so a count that is too small would lose rows.
 * Files are checked in batches, which DuckDB does in parallel; the files of a batch that fails are
 * checked again one by one, to name the one at fault.
 */
#include <stdio.h>
#include <string.h>

#include "ingest/probes/parquet.h"

#if LEAT_HAVE_DUCKDB

/* Row groups whose chunks add up to more than this are examined page by page. */
#define WALK_BYTES (INT64_C(32) << 20)
/* DuckDB's form of a footer takes about ten times its bytes (measured: 9.5 to 10.5). */
enum { FOOTER_FACTOR = 12 };
/* A database and its plan; and vectors, queues and stacks of one thread. */
#define OPEN_BYTES (INT64_C(8) << 20)
#define THREAD_BYTES (INT64_C(6) << 20)
#define FOOTER_SMALL_BYTES (INT64_C(8) << 20)
/* What an ingest takes in addition to a footer that could not be read, including row groups of the
 * usual size with any compression: the default of --memory. */
#define REST_BYTES (INT64_C(512) << 20)
/* The maximum claim of one column chunk, so that sums do not overflow. */
#define CHUNK_MAX (INT64_C(1) << 42)
/* The size of a batch: at most this many files, and not many more footer bytes than this. */
enum { BATCH_FILES = 64 };
#define BATCH_FOOTERS (INT64_C(1) << 20)

#define WRITE_AGAIN "the file is damaged, or its writer has a bug; write it again"

/* One check: of a batch, or of one file. */
typedef struct look {
    leat_duckdb *db;
    const leat_source_options *options;
    leat_input *inputs[BATCH_FILES];
    int count;
    int current; /* the file of the current rows; rows come file by file */
    /* the row group of the current chunks */
    int64_t group, group_rows;
    leat_parquet_chunk chunks[LEAT_COLUMNS];
    int chunk_count;
    bool seen[LEAT_COLUMNS];             /* the columns that the row group has */
    int64_t rows_in_groups[BATCH_FILES]; /* of each file */
    leat_buf path;                       /* path of `current`, as returned by DuckDB */
    const char *pages_path;              /* a file's pages are there; NULL: in the file itself */
} look;

/* ---- rows of a file ---- */

static leat_code set_current(look *self, int index, leat_error *err) {
    self->current = index;
    self->group = -1;
    self->chunk_count = 0;
    memset(self->seen, 0, sizeof self->seen);
    self->path.size = 0;
    if (index >= self->count) return LEAT_OK;
    return leat_parquet_path(&self->path, self->inputs[index]->path, err);
}

/* Finds the file of a row: the current one or, since rows are sorted by name like the inputs, a
 * later one; an earlier one only if "./" changes the order of names. */
static leat_code find_input(look *self, const leat_duckdb_value *path, leat_error *err) {
    for (int tries = 0; tries <= self->count; tries++) {
        if (path->text.size_bytes == self->path.size &&
            memcmp(path->text.data, self->path.data, (size_t)self->path.size) == 0) {
            return LEAT_OK;
        }
        LEAT_TRY(set_current(self, (self->current + 1) % self->count, err));
    }
    return leat_fail(err, LEAT_ERR_CORRUPT, "DuckDB read a file that was not requested");
}

static leat_code add_list(leat_buf *sql, const look *self, leat_error *err) {
    LEAT_TRY(leat_buf_printf(sql, err, "(["));
    for (int i = 0; i < self->count; i++) {
        if (i > 0) LEAT_TRY(leat_buf_append(sql, ",", 1, err));
        LEAT_TRY(leat_parquet_path_literal(sql, self->inputs[i]->path, err));
    }
    return leat_buf_printf(sql, err, "])");
}

static leat_code run_look(look *self, leat_buf *sql, const char *kinds, leat_duckdb_row_fn fn,
                          leat_error *err) {
    LEAT_TRY(set_current(self, 0, err));
    return leat_duckdb_rows(self->db, (const char *)sql->data, kinds, fn, self, err);
}

/* ---- columns ---- */

/* Columns: path, a hash of the schema that does not depend on the order of its columns. */
static leat_code take_schema(void *context, const leat_duckdb_value *values, leat_error *err) {
    look *self = context;
    LEAT_TRY(find_input(self, &values[0], err));
    self->inputs[self->current]->parquet.schema = (uint64_t)values[1].number;
    return LEAT_OK;
}

static leat_code look_at_schemas(look *self, leat_error *err) {
    leat_buf sql = {0};
    leat_code code = leat_buf_printf(
        &sql, err,
        "SELECT file_name, CAST(sum(hash(name, type, type_length, repetition_type, num_children, "
        "converted_type, scale, precision, logical_type) >> 8) %% 9223372036854775807 AS BIGINT) "
        "FROM parquet_schema");
    if (code == LEAT_OK) code = add_list(&sql, self, err);
    if (code == LEAT_OK) code = leat_buf_printf(&sql, err, " GROUP BY file_name ORDER BY ALL");
    if (code == LEAT_OK) code = run_look(self, &sql, "ti", take_schema, err);
    leat_buf_free(&sql);
    return code;
}

/* Types of the columns; files with the same schema as the previous one have its types. */
static leat_code look_at_columns(look *self, const leat_parquet_facts **before, leat_error *err) {
    for (int i = 0; i < self->count; i++) {
        leat_parquet_facts *facts = &self->inputs[i]->parquet;
        if (*before != NULL && (*before)->schema == facts->schema) {
            facts->time_type = (*before)->time_type;
            facts->version_type = (*before)->version_type;
            facts->rtt_double = (*before)->rtt_double;
            facts->nulls = (*before)->nulls;
            facts->probe_type = (*before)->probe_type;
        } else {
            LEAT_TRY(leat_parquet_columns(self->db, self->inputs[i], self->options, err));
        }
        *before = facts;
    }
    return LEAT_OK;
}

/* ---- row groups ---- */

/* Memory for decoding the row group, by its pages if it is worth it. */
static leat_code measure_group(look *self, int64_t *bytes, leat_error *err) {
    leat_input *input = self->inputs[self->current];
    *bytes = 0;
    for (int i = 0; i < self->chunk_count; i++) {
        *bytes += leat_parquet_chunk_bytes(&self->chunks[i]);
    }
    if (*bytes <= WALK_BYTES || *bytes <= input->parquet.group_bytes) return LEAT_OK;
    leat_file *file = NULL;
    LEAT_TRY(leat_file_open(&file, self->pages_path != NULL ? self->pages_path : input->path,
                            LEAT_FILE_READ, err));
    leat_code code = LEAT_OK;
    *bytes = 0;
    for (int i = 0; i < self->chunk_count && code == LEAT_OK; i++) {
        int64_t chunk_bytes = 0;
        code = leat_parquet_chunk_walk(file, &self->chunks[i], &chunk_bytes, err);
        *bytes += chunk_bytes;
    }
    leat_file_close(file);
    return code;
}

static leat_code end_group(look *self, leat_error *err) {
    if (self->group < 0) return LEAT_OK;
    leat_parquet_facts *facts = &self->inputs[self->current]->parquet;
    int64_t bytes = 0;
    LEAT_TRY(measure_group(self, &bytes, err));
    if (bytes > facts->group_bytes) facts->group_bytes = bytes;
    self->rows_in_groups[self->current] += self->group_rows;
    facts->row_groups++;
    self->group = -1;
    self->chunk_count = 0;
    memset(self->seen, 0, sizeof self->seen);
    return LEAT_OK;
}

static leat_code check_chunk(const look *self, const leat_parquet_chunk *chunk, leat_error *err) {
    const leat_input *input = self->inputs[self->current];
    const int64_t sizes[] = {chunk->size_bytes, chunk->unpacked_bytes, chunk->values, chunk->offset,
                             self->group_rows};
    for (int i = 0; i < 5; i++) {
        if (sizes[i] >= 0 && sizes[i] <= CHUNK_MAX) continue;
        return leat_fail(err, LEAT_ERR_CORRUPT,
                         "\"%s\": row group %lld: invalid size %lld in its metadata", input->path,
                         (long long)self->group, (long long)sizes[i]);
    }
    int64_t end = chunk->offset + chunk->size_bytes;
    if (end <= input->facts.size_bytes) return LEAT_OK;
    return leat_fail(
        err, LEAT_ERR_CORRUPT,
        "\"%s\" is truncated: row group %lld has data up to byte %lld, but the file has %lld bytes",
        input->path, (long long)self->group, (long long)end, (long long)input->facts.size_bytes);
}

/* A column that is not nested has one value per row, including nulls. DuckDB would rename the
 * second of two columns that have the same name. */
static leat_code check_column(look *self, const leat_parquet_chunk *chunk,
                              const leat_duckdb_value *name, leat_error *err) {
    const char *path = self->inputs[self->current]->path, *names[LEAT_COLUMNS];
    int name_bytes = (int)name->text.size_bytes;
    const int count = leat_source_names(&self->options->columns, names);
    for (int k = 0; k < count; k++) {
        if ((int)strlen(names[k]) != name_bytes ||
            memcmp(names[k], name->text.data, (size_t)name_bytes) != 0)
            continue;
        if (self->seen[k]) {
            return leat_fail(err, LEAT_ERR_INPUT, "\"%s\" has two columns \"%s\"; rename one", path,
                             names[k]);
        }
        self->seen[k] = true;
    }
    if (chunk->values == self->group_rows) return LEAT_OK;
    return leat_fail(
        err, LEAT_ERR_CORRUPT,
        "\"%s\": row group %lld has %lld rows, but %lld values in column \"%.*s\"; " WRITE_AGAIN,
        path, (long long)self->group, (long long)self->group_rows, (long long)chunk->values,
        name_bytes, name->text.data);
}

enum { KIND_WANTED = 1, KIND_PACKED = 2, KIND_TEXT = 4, KIND_DELTA = 8 };

/* Columns: path, row group, its rows, offset, packed bytes, unpacked bytes, values, kind, column.
 */
static leat_code take_chunk(void *context, const leat_duckdb_value *values, leat_error *err) {
    look *self = context;
    if (self->group >= 0 &&
        (values[1].number != self->group || values[0].text.size_bytes != self->path.size ||
         memcmp(values[0].text.data, self->path.data, (size_t)self->path.size) != 0)) {
        LEAT_TRY(end_group(self, err));
    }
    LEAT_TRY(find_input(self, &values[0], err));
    self->group = values[1].number;
    self->group_rows = values[2].number;
    int64_t kind = values[7].number;
    leat_parquet_chunk chunk = {.offset = values[3].number,
                                .size_bytes = values[4].number,
                                .unpacked_bytes = values[5].number,
                                .values = values[6].number,
                                .packed = (kind & KIND_PACKED) != 0,
                                .text = (kind & KIND_TEXT) != 0,
                                .delta = (kind & KIND_DELTA) != 0};
    LEAT_TRY(check_chunk(self, &chunk, err));
    if ((kind & KIND_WANTED) == 0) return LEAT_OK;
    LEAT_TRY(check_column(self, &chunk, &values[8], err));
    LEAT_ASSERT(self->chunk_count < LEAT_COLUMNS);
    self->chunks[self->chunk_count++] = chunk;
    return LEAT_OK;
}

static leat_code look_at_groups(look *self, leat_error *err) {
    const char *names[LEAT_COLUMNS];
    leat_buf sql = {0};
    const int count = leat_source_names(&self->options->columns, names);
    leat_code code = leat_buf_printf(
        &sql, err,
        "SELECT file_name, row_group_id, row_group_num_rows, CASE WHEN dictionary_page_offset "
        "BETWEEN 4 AND data_page_offset THEN dictionary_page_offset ELSE data_page_offset END, "
        "total_compressed_size, total_uncompressed_size, num_values, CAST(CASE WHEN "
        "path_in_schema IN (");
    for (int k = 0; k < count && code == LEAT_OK; k++) {
        if (k > 0) code = leat_buf_append(&sql, ",", 1, err);
        if (code == LEAT_OK) code = leat_parquet_quote(&sql, '\'', names[k], err);
    }
    if (code == LEAT_OK && count <= LEAT_COLUMN_PROBE)
        code = leat_buf_printf(&sql, err, ",'" LEAT_PARQUET_ATLAS_COLUMN "'");
    if (code == LEAT_OK) {
        code = leat_buf_printf(
            &sql, err,
            ") THEN %d ELSE 0 END + CASE WHEN compression = 'UNCOMPRESSED' THEN 0 ELSE %d END + "
            "CASE WHEN type = 'BYTE_ARRAY' THEN %d ELSE 0 END + CASE WHEN encodings LIKE "
            "'%%DELTA%%' OR encodings LIKE '%%SPLIT%%' THEN %d ELSE 0 END AS BIGINT), "
            "path_in_schema FROM parquet_metadata",
            KIND_WANTED, KIND_PACKED, KIND_TEXT, KIND_DELTA);
    }
    if (code == LEAT_OK) code = add_list(&sql, self, err);
    if (code == LEAT_OK) {
        code = leat_buf_printf(&sql, err, " ORDER BY file_name, row_group_id");
    }
    memset(self->rows_in_groups, 0, sizeof self->rows_in_groups);
    if (code == LEAT_OK) code = run_look(self, &sql, "tiiiiiiit", take_chunk, err);
    if (code == LEAT_OK) code = end_group(self, err);
    leat_buf_free(&sql);
    return code;
}

/* ---- rows of the file ---- */

/* Columns: path, number of rows according to the footer, whether the file uses encryption. */
static leat_code take_rows(void *context, const leat_duckdb_value *values, leat_error *err) {
    look *self = context;
    LEAT_TRY(find_input(self, &values[0], err));
    leat_parquet_facts *facts = &self->inputs[self->current]->parquet;
    facts->rows = values[1].number;
    if (values[2].number != 0)
        LEAT_TRY(leat_parquet_refuse_encrypted(self->inputs[self->current], self->options, err));
    if (facts->rows == self->rows_in_groups[self->current]) return LEAT_OK;
    return leat_fail(
        err, LEAT_ERR_CORRUPT,
        "\"%s\": its footer counts %lld rows, but there are %lld in %lld row groups; " WRITE_AGAIN,
        self->inputs[self->current]->path, (long long)facts->rows,
        (long long)self->rows_in_groups[self->current], (long long)facts->row_groups);
}

static leat_code check_rows(look *self, leat_error *err) {
    leat_buf sql = {0};
    leat_code code =
        leat_buf_printf(&sql, err,
                        "SELECT file_name, num_rows, CAST(encryption_algorithm IS NOT NULL AS "
                        "BIGINT) FROM parquet_file_metadata");
    if (code == LEAT_OK) code = add_list(&sql, self, err);
    if (code == LEAT_OK) code = leat_buf_printf(&sql, err, " ORDER BY file_name");
    if (code == LEAT_OK) code = run_look(self, &sql, "tii", take_rows, err);
    leat_buf_free(&sql);
    return code;
}

/* ---- files ---- */

/* The end of the file: size of the footer, magic. A truncated file ends differently. */
static leat_code check_ends(leat_input *input, leat_file *file, leat_error *err) {
    uint8_t tail[8] = {0};
    int64_t size = 0;
    LEAT_TRY(leat_file_size(file, &size, err));
    if (size >= 12) LEAT_TRY(leat_file_pread(file, tail, 8, size - 8, err));
    if (memcmp(tail + 4, "PARE", 4) == 0) {
        return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                         "\"%s\" is an encrypted Parquet file; write it again without encryption",
                         input->path);
    }
    if (memcmp(tail + 4, "PAR1", 4) != 0) {
        return leat_fail(err, LEAT_ERR_CORRUPT,
                         "\"%s\" is not a complete Parquet file: it does not end with PAR1, so it "
                         "is truncated or still being written",
                         input->path);
    }
    int64_t footer =
        (int64_t)tail[0] | (int64_t)tail[1] << 8 | (int64_t)tail[2] << 16 | (int64_t)tail[3] << 24;
    if (footer > size - 12) {
        return leat_fail(err, LEAT_ERR_CORRUPT,
                         "\"%s\": its footer of %lld bytes is larger than the file (%lld bytes)",
                         input->path, (long long)footer, (long long)size);
    }
    input->parquet.metadata_bytes = footer;
    return LEAT_OK;
}

static leat_code check_footer(leat_input *input, const leat_source_options *options,
                              leat_error *err) {
    leat_file *file = NULL;
    input->parquet = (leat_parquet_facts){0};
    LEAT_TRY(leat_file_open(&file, input->path, LEAT_FILE_READ, err));
    leat_code code = check_ends(input, file, err);
    leat_file_close(file);
    int64_t footer = FOOTER_FACTOR * input->parquet.metadata_bytes;
    int64_t needed = OPEN_BYTES + THREAD_BYTES + footer;
    /* the memory of a small footer is part of what is measured after reading it */
    bool small = footer <= FOOTER_SMALL_BYTES || needed <= options->memory_bytes;
    if (code != LEAT_OK || options->memory_bytes <= 0 || small) return code;
    int64_t enough = ((needed + footer + REST_BYTES) >> 20) + 1;
    return leat_fail(
        err, LEAT_ERR_LIMIT,
        "\"%s\": reading its footer of %lld bytes takes %lld MiB of memory, more than is left of "
        "the %lld MiB of --memory; write it with larger row groups, or use --memory %lldM",
        input->path, (long long)input->parquet.metadata_bytes, (long long)(needed >> 20) + 1,
        (long long)(options->memory_bytes >> 20), (long long)enough);
}

static leat_code look_at(look *self, const leat_parquet_facts **before, leat_error *err) {
    LEAT_TRY(look_at_schemas(self, err));
    LEAT_TRY(look_at_columns(self, before, err));
    LEAT_TRY(look_at_groups(self, err));
    return check_rows(self, err);
}

static void forget_groups(leat_input *input) {
    input->parquet.rows = 0;
    input->parquet.row_groups = 0;
    input->parquet.group_bytes = 0;
}

/* Checks one file in a database of its own: after an internal failure (INTERNAL, FATAL) a DuckDB
 * database refuses all further queries. */
static leat_code look_alone(const look *self, leat_input *input, const leat_parquet_facts **before,
                            leat_error *err) {
    leat_duckdb db;
    LEAT_TRY(leat_duckdb_open(&db, 1, 0, err));
    look alone = {.db = &db, .options = self->options, .inputs = {input}, .count = 1};
    forget_groups(input);
    leat_code code = look_at(&alone, before, err);
    leat_buf_free(&alone.path);
    leat_duckdb_close(&db);
    return code;
}

/*
 * Checks the plain form of a file that DuckDB refuses: it converts the statistics of the times with
 * the footer, and one of them may be out of range.
 */
static leat_code look_at_plain(const look *self, leat_input *input, leat_error *err) {
    leat_parquet_plain plain;
    leat_duckdb db = {0};
    const leat_parquet_facts *before = NULL;
    forget_groups(input);
    LEAT_TRY(leat_parquet_plain_make(&plain, 0, input, self->options, false, err));
    leat_input copy = *input;
    copy.path = plain.path;
    look alone = {.db = &db,
                  .options = self->options,
                  .inputs = {&copy},
                  .count = 1,
                  .pages_path = input->path};
    leat_code code = leat_duckdb_open(&db, 1, 0, err);
    if (code == LEAT_OK) code = look_at(&alone, &before, err);
    leat_buf_free(&alone.path);
    leat_duckdb_close(&db);
    leat_parquet_plain_remove(&plain);
    if (code != LEAT_OK) return code;
    input->parquet = copy.parquet;
    input->parquet.plain = true;
    if (plain.time_ticks_per_second != 0) {
        input->parquet.time_type = leat_time_type_plain(plain.time_ticks_per_second);
    }
    return LEAT_OK;
}

/* Checks the batch; if that fails, checks each file, and blames the one that fails on its own. */
static leat_code look_at_batch(look *self, const leat_parquet_facts **before, leat_error *err) {
    leat_error error = {0};
    const leat_parquet_facts *first = *before;
    bool failed = look_at(self, before, &error) != LEAT_OK;
    int count = self->count;
    for (int i = 0; i < count && failed; i++) {
        leat_input *input = self->inputs[i];
        leat_error own = {0};
        leat_code result = look_alone(self, input, &first, &own);
        if (result != LEAT_OK) {
            bool found = own.message[0] == '"'; /* leat's own messages begin with the file */
            if (!found) LEAT_TRY(leat_parquet_refuse_encrypted(input, self->options, err));
            if (!found && result == LEAT_ERR_CORRUPT && self->options->temp_dir != NULL) {
                leat_error other = {0};
                leat_code again = look_at_plain(self, input, &other);
                if (again == LEAT_OK) continue;
                if (again == LEAT_ERR_MEMORY || again == LEAT_ERR_NO_SPACE ||
                    again == LEAT_ERR_IO) {
                    return leat_error_copy(err, &other);
                }
            }
            leat_error_copy(err, &own);
            return found ? result : leat_parquet_context(err, result, input->path);
        }
    }
    for (int i = 0; i < count; i++) self->inputs[i]->parquet.known = true;
    self->count = 0;
    return LEAT_OK;
}

static leat_code check_all(look *self, const leat_input_list *inputs, leat_error *err) {
    const leat_parquet_facts *before = NULL;
    int64_t footers = 0;
    for (int64_t i = 0; i < inputs->count; i++) {
        leat_input *input = &inputs->items[i];
        if (input->format != LEAT_INPUT_PARQUET) continue;
        LEAT_TRY(check_footer(input, self->options, err));
        footers += input->parquet.metadata_bytes;
        if (self->count == BATCH_FILES || (self->count > 0 && footers > BATCH_FOOTERS)) {
            LEAT_TRY(look_at_batch(self, &before, err));
            footers = input->parquet.metadata_bytes;
        }
        self->inputs[self->count++] = input;
    }
    return self->count > 0 ? look_at_batch(self, &before, err) : LEAT_OK;
}

leat_code leat_parquet_check(const leat_input_list *inputs, const leat_source_options *options,
                             leat_error *err) {
    bool any = false;
    for (int64_t i = 0; i < inputs->count; i++) {
        any = any || inputs->items[i].format == LEAT_INPUT_PARQUET;
    }
    if (!any) return LEAT_OK;
    leat_duckdb db;
    look self = {.db = &db, .options = options};
    leat_code code = leat_duckdb_open(&db, options->threads > 1 ? options->threads : 1, 0, err);
    if (code == LEAT_OK) code = check_all(&self, inputs, err);
    leat_buf_free(&self.path);
    leat_duckdb_close(&db);
    return code;
}

int64_t leat_parquet_memory(const leat_input_list *inputs, int threads) {
    int64_t files = 0, row_groups = 0, group_bytes = 0, footer_bytes = 0;
    for (int64_t i = 0; i < inputs->count; i++) {
        const leat_input *input = &inputs->items[i];
        if (input->format != LEAT_INPUT_PARQUET) continue;
        const leat_parquet_facts *facts = &input->parquet;
        files++;
        row_groups += facts->row_groups;
        if (facts->group_bytes > group_bytes) group_bytes = facts->group_bytes;
        if (facts->metadata_bytes > footer_bytes) footer_bytes = facts->metadata_bytes;
    }
    if (files == 0) return 0;
    /* a row group is read by one thread; the file that supplied the columns and each thread's stay
     * open */
    int64_t decoding = row_groups < threads ? row_groups : threads;
    int64_t open = files < threads + 1 ? files : threads + 1;
    return OPEN_BYTES + threads * THREAD_BYTES + decoding * group_bytes +
           open * FOOTER_FACTOR * footer_bytes;
}

#else

leat_code leat_parquet_check(const leat_input_list *inputs, const leat_source_options *options,
                             leat_error *err) {
    (void)options;
    for (int64_t i = 0; i < inputs->count; i++) {
        if (inputs->items[i].format != LEAT_INPUT_PARQUET) continue;
        return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                         "\"%s\": leat was built without DuckDB, which reads Parquet; run "
                         "scripts/install.sh and rebuild leat",
                         inputs->items[i].path);
    }
    return LEAT_OK;
}

int64_t leat_parquet_memory(const leat_input_list *inputs, int threads) {
    (void)inputs;
    (void)threads;
    return 0;
}

#endif
