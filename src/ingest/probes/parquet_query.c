/* The query that passes the rows of Parquet files to leat's function: see source_parquet.c. */
#include <stdio.h>
#include <string.h>

#include "ingest/probes/parquet.h"

#if LEAT_HAVE_DUCKDB

void leat_parquet_sink_name(const leat_parquet_facts *facts, char name[64]) {
    snprintf(name, 64, "leat_sink_%d_%d_%d_%d_%d", facts->time_type,
             leat_parquet_has_version(facts), facts->rtt_double, facts->plain, facts->probe_type);
}

typedef struct integer {
    const char *type, *low, *high;
} integer;

static const integer bigint = {"BIGINT", "-9223372036854775807", "9223372036854775807"};
static const integer whole = {"INTEGER", "-2147483648", "2147483647"};

/* A column as an integer type, clamped to its range if the column is `wide`: it can exceed that. */
static leat_code add_integer(leat_buf *sql, const char *column, bool wide, const integer *as,
                             leat_error *err) {
    LEAT_TRY(leat_buf_printf(sql, err, "CAST("));
    if (wide) {
        LEAT_TRY(leat_buf_printf(sql, err, "CASE WHEN "));
        LEAT_TRY(leat_parquet_quote(sql, '"', column, err));
        LEAT_TRY(leat_buf_printf(sql, err, " > %s THEN %s WHEN ", as->high, as->high));
        LEAT_TRY(leat_parquet_quote(sql, '"', column, err));
        LEAT_TRY(leat_buf_printf(sql, err, " < %s THEN %s ELSE ", as->low, as->low));
    }
    LEAT_TRY(leat_parquet_quote(sql, '"', column, err));
    return leat_buf_printf(sql, err, "%s AS %s)", wide ? " END" : "", as->type);
}

/* Appends a text in which each ? is the column. */
static leat_code add_expression(leat_buf *sql, const char *column, const char *text,
                                leat_error *err) {
    for (const char *end = strchr(text, '?'); end != NULL; end = strchr(text, '?')) {
        LEAT_TRY(leat_buf_append(sql, text, end - text, err));
        LEAT_TRY(leat_parquet_quote(sql, '"', column, err));
        text = end + 1;
    }
    return leat_buf_append(sql, text, (int64_t)strlen(text), err);
}

/* Real numbers as versions and names; NaN is none. */
#define REAL_VERSION                                                                               \
    "CAST(CASE WHEN ? IS NULL OR isnan(?) THEN NULL WHEN ? = trunc(?) AND abs(?) < 2147483648 "    \
    "THEN ? ELSE -1 END AS INTEGER)"
#define NUMBER                                                                                     \
    ",CAST(CASE WHEN ? >= 1 AND ? <= 2147483647 AND ? = trunc(?) THEN ? ELSE 0 END AS INTEGER)"
#define TEXT "TRY_CAST(CAST(? AS VARCHAR) AS DOUBLE)"
#define TEXT_NUMBER                                                                                \
    ",CAST(CASE WHEN " TEXT " >= 1 AND " TEXT " <= 2147483647 AND " TEXT " = trunc(" TEXT          \
    ") THEN " TEXT " ELSE 0 END AS INTEGER)"
#define REAL_NAME ",CAST(CASE WHEN isnan(?) THEN NULL ELSE ? END AS VARCHAR)"

/* The path column: a plain form counts as the file. */
static leat_code add_path(leat_buf *sql, const leat_parquet_query *query, leat_error *err) {
    if (query->plain_path == NULL) return leat_buf_printf(sql, err, LEAT_PARQUET_PATH_COLUMN);
    leat_buf path = {0};
    leat_code code = leat_parquet_path(&path, query->inputs[0]->path, err);
    if (code == LEAT_OK) code = leat_buf_append(&path, "", 1, err);
    if (code == LEAT_OK) code = leat_parquet_quote(sql, '\'', (const char *)path.data, err);
    leat_buf_free(&path);
    return code;
}

static leat_code add_from(leat_buf *sql, const leat_parquet_query *query, leat_error *err) {
    if (query->plain_path == NULL) {
        return leat_parquet_from(sql, query->inputs, query->count, err);
    }
    LEAT_TRY(leat_buf_printf(sql, err, "read_parquet("));
    LEAT_TRY(leat_parquet_path_literal(sql, query->plain_path, err));
    return leat_buf_printf(sql, err,
                           ", file_row_number=true, binary_as_string=false, "
                           "hive_partitioning=false, union_by_name=false)");
}

leat_code leat_parquet_build_query(leat_buf *sql, const leat_parquet_query *query,
                                   const leat_source_columns *columns, leat_error *err) {
    const leat_parquet_facts *facts = query->facts;
    char name[64];
    leat_parquet_sink_name(facts, name);
    const leat_time_type *time = leat_time_type_at(facts->time_type);
    sql->size = 0;
    LEAT_TRY(leat_buf_printf(sql, err, "SELECT count(%s(", name));
    if (time->integer && time->type != DUCKDB_TYPE_DOUBLE) {
        LEAT_TRY(add_integer(sql, columns->event_time, time->wide, &bigint, err));
    } else {
        LEAT_TRY(leat_parquet_quote(sql, '"', columns->event_time, err));
    }
    LEAT_TRY(leat_parquet_add_address(sql, columns->src_addr, LEAT_COLUMN_SRC, facts, err));
    LEAT_TRY(leat_parquet_add_address(sql, columns->dst_addr, LEAT_COLUMN_DST, facts, err));
    LEAT_TRY(leat_buf_printf(sql, err, ",CAST("));
    LEAT_TRY(leat_parquet_quote(sql, '"', columns->rtt, err));
    LEAT_TRY(leat_buf_printf(sql, err, " AS %s)", facts->rtt_double ? "DOUBLE" : "FLOAT"));
    LEAT_TRY(leat_buf_printf(sql, err, ",file_row_number,"));
    LEAT_TRY(add_path(sql, query, err));
    if (leat_parquet_has_version(facts)) {
        LEAT_TRY(leat_buf_append(sql, ",", 1, err));
        if (facts->version_type == LEAT_PARQUET_VERSION_REAL)
            LEAT_TRY(add_expression(sql, columns->ip_version, REAL_VERSION, err));
        else
            LEAT_TRY(add_integer(sql, columns->ip_version,
                                 facts->version_type == LEAT_PARQUET_VERSION_WIDE, &whole, err));
    }
    if (facts->probe_type == LEAT_PARQUET_PROBE_TEXT) {
        LEAT_TRY(
            leat_parquet_add_text(sql, columns->probe, facts->plain, LEAT_NAME_BYTES_MAX + 1, err));
    } else if (leat_parquet_is_named(facts)) {
        const bool real = facts->probe_type == LEAT_PARQUET_PROBE_REAL;
        LEAT_TRY(
            add_expression(sql, columns->probe, real ? REAL_NAME : ",CAST(? AS VARCHAR)", err));
    }
    if (leat_parquet_is_numbered(facts)) {
        const bool text = facts->probe_type == LEAT_PARQUET_PROBE_ATLAS_TEXT;
        LEAT_TRY(add_expression(sql, LEAT_PARQUET_ATLAS_COLUMN, text ? TEXT_NUMBER : NUMBER, err));
    }
    LEAT_TRY(leat_buf_printf(sql, err, ")) FROM "));
    return add_from(sql, query, err);
}

#endif
