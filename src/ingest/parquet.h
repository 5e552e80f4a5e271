/* What the parts of the Parquet source share: types, queries, memory. */
#ifndef LEAT_INGEST_PARQUET_H
#define LEAT_INGEST_PARQUET_H

#include "ingest/duckdb_api.h"
#include "ingest/source_parts.h"

#if LEAT_HAVE_DUCKDB

/* How the column event_time may be typed: DuckDB's name of the type, the type a vector then has,
 * and how many ticks make a second. leat_parquet_facts.time_type is an index into the table. */
typedef struct leat_time_type {
    const char *name;
    duckdb_type type;
    int64_t ticks_per_second;
    bool wide; /* an integer of more than 64 bits, or unsigned: clamped by the query */
    bool integer;
} leat_time_type;
const leat_time_type *leat_time_type_at(int index);
/* The index of a type by name, -1 if event_time must not have it. */
int leat_time_type_find(const char *name, int64_t size_bytes);

/* leat_parquet_facts.version_type */
enum { LEAT_VERSION_ABSENT, LEAT_VERSION_NARROW, LEAT_VERSION_WIDE };

/* The column of a query that holds the path of the file, a name no data set has. */
#define LEAT_PARQUET_PATH_COLUMN "leat_input_path"

/* A path as DuckDB gives it back: one without a slash in front gets "./". */
LEAT_MUST_CHECK leat_code leat_parquet_path(leat_buf *buf, const char *path, leat_error *err);
/* A path as a literal that stands for this file alone: no pattern, no address of a network. */
LEAT_MUST_CHECK leat_code leat_parquet_path_literal(leat_buf *buf, const char *path,
                                                    leat_error *err);
/* "read_parquet([...], ...)" of a list of inputs. */
LEAT_MUST_CHECK leat_code leat_parquet_from(leat_buf *buf, const leat_input *const *inputs,
                                            int64_t count, leat_error *err);
/* A name in quotes of `mark`: " for columns, ' for texts. */
LEAT_MUST_CHECK leat_code leat_parquet_quote(leat_buf *buf, char mark, const char *text,
                                             leat_error *err);

/* Fills the types of input->parquet from one look at the file's columns. */
LEAT_MUST_CHECK leat_code leat_parquet_columns(leat_duckdb *db, leat_input *input,
                                               const leat_source_options *options, leat_error *err);

/* One column chunk of a row group. */
typedef struct leat_parquet_chunk {
    int64_t offset, size_bytes; /* of its pages in the file */
    int64_t unpacked_bytes, values;
    bool packed, text, delta;
} leat_parquet_chunk;

/* The most memory that decoding the chunk takes, by its sizes alone; and by its page headers, no
 * more than that. A chunk whose headers are not understood is taken by its sizes. */
int64_t leat_parquet_chunk_bytes(const leat_parquet_chunk *chunk);
LEAT_MUST_CHECK leat_code leat_parquet_chunk_walk(leat_file *file, const leat_parquet_chunk *chunk,
                                                  int64_t *bytes, leat_error *err);

/* What a failure of DuckDB's is about. */
LEAT_MUST_CHECK leat_code leat_parquet_context(leat_error *err, leat_code code, const char *path);

#endif
#endif
