/* The lines that convert columns of Parquet files to types that are read. */
#ifndef LEAT_INGEST_PROBES_PARQUET_CONVERT_H
#define LEAT_INGEST_PROBES_PARQUET_CONVERT_H

#include "leat/base.h"

/* A column of a file. */
typedef struct leat_parquet_column {
    const char *path; /* of the file */
    const char *name;
    const char *type;     /* as DuckDB reads it */
    const char *declared; /* what the file says, where DuckDB may read another type; or "" */
    int number;           /* its LEAT_COLUMN */
    bool bytes;           /* its texts are not marked as such */
    bool beside;          /* another column has a type that DuckDB misreads, and would write so */
} leat_parquet_column;

/* Whether DuckDB reads other values than the file has: it makes DOUBLE of decimals of more than 38
 * digits, by shifting bytes, and does not know logical types without their older, converted type.
 */
bool leat_parquet_is_misread(const leat_parquet_column *column);

/* Refuses a file for the type of a column, with the line that converts it, if there is one. */
LEAT_MUST_CHECK leat_code leat_parquet_refuse_type(const leat_parquet_column *column,
                                                   const char *accepted, leat_error *err);

/* SQL over parquet_schema: the `declared` of each element, and the digits of a decimal. */
#define LEAT_PARQUET_DIGITS                                                                        \
    "CASE WHEN converted_type = 'DECIMAL' OR logical_type LIKE 'DecimalType%%' THEN "              \
    "coalesce(CAST(precision AS BIGINT), "                                                         \
    "CAST(regexp_extract(logical_type, 'precision=([0-9]+)', 1) AS BIGINT)) END"
#define LEAT_PARQUET_DECLARED                                                                      \
    "coalesce(CASE WHEN converted_type = 'DECIMAL' OR logical_type LIKE 'DecimalType%%' THEN "     \
    "'DECIMAL(' "                                                                                  \
    "|| " LEAT_PARQUET_DIGITS " || ',' || coalesce(CAST(scale AS VARCHAR), "                       \
    "regexp_extract(logical_type, 'scale=([0-9]+)', 1)) || ')' "                                   \
    "WHEN logical_type LIKE 'DateType%%' THEN 'DATE' "                                             \
    "WHEN logical_type LIKE 'IntType%%isSigned=0%%' THEN 'UNSIGNED INTEGER' END, '')"
/* Decimals of so many digits and less are read exactly. */
#define LEAT_PARQUET_DIGITS_MAX 38

#endif
