/* What the parts of the Parquet source share: types, queries, memory. */
#ifndef LEAT_INGEST_PROBES_PARQUET_H
#define LEAT_INGEST_PROBES_PARQUET_H

#include "duckdb/api.h"
#include "ingest/probes/source_parts.h"

#if LEAT_HAVE_DUCKDB

/* The types that column event_time may have: DuckDB's name of the type, the type of the resulting
 * vector, and the ticks per second. leat_parquet_facts.time_type is an index into the table. */
typedef struct leat_time_type {
    const char *name;
    duckdb_type type;
    int64_t ticks_per_second;
    bool wide;    /* an integer of more than 64 bits, or unsigned: clamped by the query */
    bool integer; /* a number since 1970; one of type double may have a fraction */
} leat_time_type;
const leat_time_type *leat_time_type_at(int index);
/* The index of a type by name, -1 if it is not supported for event_time. */
int leat_time_type_find(const char *name, int64_t size_bytes);
/* The index of a timestamp with so many ticks per second, read as an integer. */
int leat_time_type_plain(int64_t ticks_per_second);

/* leat_parquet_facts.version_type */
enum {
    LEAT_PARQUET_VERSION_ABSENT,
    LEAT_PARQUET_VERSION_NARROW,
    LEAT_PARQUET_VERSION_WIDE,
    LEAT_PARQUET_VERSION_REAL /* a value that is not whole contradicts every address */
};
/* leat_parquet_facts.probe_type: no names of probes; texts; what is a text in decimal digits; and
 * with a fraction, of zeros if it is whole, or NaN for no name. Where probes have no names, a
 * column may have their numbers in RIPE Atlas (leat_raw_batch.probe). */
enum {
    LEAT_PARQUET_PROBE_ABSENT,
    LEAT_PARQUET_PROBE_TEXT,
    LEAT_PARQUET_PROBE_NUMBER,
    LEAT_PARQUET_PROBE_REAL,
    LEAT_PARQUET_PROBE_ATLAS,
    LEAT_PARQUET_PROBE_ATLAS_TEXT /* as texts */
};
#define LEAT_PARQUET_ATLAS_COLUMN "prb_id"
/* Whether files have the two columns that they may lack. */
static inline bool leat_parquet_has_version(const leat_parquet_facts *facts) {
    return facts->version_type != LEAT_PARQUET_VERSION_ABSENT;
}
static inline bool leat_parquet_is_numbered(const leat_parquet_facts *facts) {
    return facts->probe_type == LEAT_PARQUET_PROBE_ATLAS ||
           facts->probe_type == LEAT_PARQUET_PROBE_ATLAS_TEXT;
}
static inline bool leat_parquet_is_named(const leat_parquet_facts *facts) {
    return facts->probe_type != LEAT_PARQUET_PROBE_ABSENT && !leat_parquet_is_numbered(facts);
}
/* How many columns a query passes on. */
static inline int leat_parquet_column_count(const leat_parquet_facts *facts) {
    return 6 + leat_parquet_has_version(facts) + (facts->probe_type != LEAT_PARQUET_PROBE_ABSENT);
}

/* The query column that holds the path of the file; a name that no input uses. */
#define LEAT_PARQUET_PATH_COLUMN "leat_input_path"

/* A path as DuckDB returns it: a path without a leading slash gets "./". */
LEAT_MUST_CHECK leat_code leat_parquet_path(leat_buf *buf, const char *path, leat_error *err);
/* A path as a literal that means this file only: not a pattern, not a network address. */
LEAT_MUST_CHECK leat_code leat_parquet_path_literal(leat_buf *buf, const char *path,
                                                    leat_error *err);
/* "read_parquet([...], ...)" of a list of inputs. */
LEAT_MUST_CHECK leat_code leat_parquet_from(leat_buf *buf, const leat_input *const *inputs,
                                            int64_t count, leat_error *err);
/* A name in quotes of `mark`: " for columns, ' for texts. */
LEAT_MUST_CHECK leat_code leat_parquet_quote(leat_buf *buf, char mark, const char *text,
                                             leat_error *err);

/*
 * A comma and a column of texts. DuckDB flattens the arguments of a function, so a text that a
 * dictionary holds once is copied for each row that has it: long ones are truncated first, to
 * `most` letters. In bytes (`plain`), at least as much is left as in letters. An address, by its
 * LEAT_COLUMN, may also be of the null type: a text without a value.
 */
LEAT_MUST_CHECK leat_code leat_parquet_add_text(leat_buf *sql, const char *column, bool plain,
                                                int most, leat_error *err);
LEAT_MUST_CHECK leat_code leat_parquet_add_address(leat_buf *sql, const char *column, int number,
                                                   const leat_parquet_facts *facts,
                                                   leat_error *err);

/* What one query reads: files with the same facts, or the plain form of one. */
typedef struct leat_parquet_query {
    const leat_parquet_facts *facts;
    const leat_input *const *inputs;
    int64_t count;
    const char *plain_path;
} leat_parquet_query;
/* The name of the function encodes its argument types, so that each variant is registered once. */
void leat_parquet_sink_name(const leat_parquet_facts *facts, char name[64]);
/* SELECT count(function(time, src, dst, rtt, row, path[, version][, probe or its number])) FROM
 * files. */
LEAT_MUST_CHECK leat_code leat_parquet_build_query(leat_buf *sql, const leat_parquet_query *query,
                                                   const leat_source_columns *columns,
                                                   leat_error *err);

/* Sets the types of input->parquet from the file's columns. */
LEAT_MUST_CHECK leat_code leat_parquet_columns(leat_duckdb *db, leat_input *input,
                                               const leat_source_options *options, leat_error *err);

/* One column chunk of a row group. */
typedef struct leat_parquet_chunk {
    int64_t offset, size_bytes; /* of its pages in the file */
    int64_t unpacked_bytes, values;
    bool packed, text, delta;
} leat_parquet_chunk;

/* The most memory that decoding the chunk takes: by its sizes only; and by its page headers, which
 * never give more. A chunk with unknown headers is estimated by its sizes. */
int64_t leat_parquet_chunk_bytes(const leat_parquet_chunk *chunk);
LEAT_MUST_CHECK leat_code leat_parquet_chunk_walk(leat_file *file, const leat_parquet_chunk *chunk,
                                                  int64_t *bytes, leat_error *err);

/*
 * Thrift's compact protocol, as far as Parquet uses it: structs whose fields have a number (as a
 * step from the previous one) and a type, and lists; no sets or maps.
 */
typedef struct leat_thrift {
    const uint8_t *bytes;
    int64_t at, size;
    bool failed;
} leat_thrift;
enum {
    LEAT_THRIFT_TRUE = 1,
    LEAT_THRIFT_FALSE,
    LEAT_THRIFT_BYTE,
    LEAT_THRIFT_I16,
    LEAT_THRIFT_I32,
    LEAT_THRIFT_I64,
    LEAT_THRIFT_DOUBLE,
    LEAT_THRIFT_TEXT,
    LEAT_THRIFT_LIST,
    LEAT_THRIFT_STRUCT = 12
};
uint64_t leat_thrift_varint(leat_thrift *in);
int64_t leat_thrift_integer(leat_thrift *in);
/* The number of the next field and its type; type 0 at the end of the struct. */
int leat_thrift_field(leat_thrift *in, int64_t *number);
/* The head of a list: how many elements follow, at most the bytes that are left, and their type. */
int64_t leat_thrift_list(leat_thrift *in, int *type);
/* A value of a type; `depth` is 0 outside of structs. */
void leat_thrift_skip(leat_thrift *in, int type, int depth);

/*
 * The plain form of a file, a temporary copy in which the times are integers and the addresses are
 * bytes: DuckDB fails on a file with a time that it cannot represent, or a text that is not UTF-8,
 * but reads any integers and bytes. Only the annotations of these columns in the footer differ.
 * `with_data` false: the copy has only the footer, all else are holes.
 */
typedef struct leat_parquet_plain {
    char path[LEAT_PATH_BYTES];    /* of the copy, "" if there is none */
    int64_t time_ticks_per_second; /* 0: the times are what they were */
} leat_parquet_plain;
#define LEAT_PARQUET_PLAIN_PREFIX "plain_"
/* `number` makes the name: a database may remember a file of the same name. LEAT_ERR_UNSUPPORTED:
 * the schema has another form than those that writers give it. */
LEAT_MUST_CHECK leat_code leat_parquet_plain_make(leat_parquet_plain *plain, int64_t number,
                                                  const leat_input *input,
                                                  const leat_source_options *options,
                                                  bool with_data, leat_error *err);
void leat_parquet_plain_remove(leat_parquet_plain *plain);

/* LEAT_ERR_UNSUPPORTED if the file uses encryption behind a plain footer: names the columns, and
 * what to do. LEAT_OK if not, or if its footer cannot be parsed. */
LEAT_MUST_CHECK leat_code leat_parquet_refuse_encrypted(const leat_input *input,
                                                        const leat_source_options *options,
                                                        leat_error *err);

/* The kind of a DuckDB failure. */
LEAT_MUST_CHECK leat_code leat_parquet_context(leat_error *err, leat_code code, const char *path);

#endif
#endif
