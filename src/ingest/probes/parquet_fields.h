/* Fields of a column of Parquet that is a struct, and the SQL that makes a number of them. */
#ifndef LEAT_INGEST_PROBES_PARQUET_FIELDS_H
#define LEAT_INGEST_PROBES_PARQUET_FIELDS_H

#include "base/mem.h"

enum { LEAT_FIELD_BYTES = 40, LEAT_FIELD_NAMES_BYTES = 100, LEAT_FIELD_TYPE_BYTES = 512 };

/* Names are as SQL has them after the column's: `.avg`, `.min.ms`, `."a name"`. */
typedef struct leat_parquet_fields {
    char names[LEAT_FIELD_NAMES_BYTES]; /* that need no quotes, without the first point */
    char value[LEAT_FIELD_BYTES];       /* that has the number; "": several may */
    char unit[LEAT_FIELD_BYTES];        /* that has its unit; "": none */
} leat_parquet_fields;

/* Of a type as DuckDB writes it: STRUCT("value" DOUBLE, unit VARCHAR). False: it is another one, or
 * none of its fields is known to be of use. */
bool leat_parquet_fields_read(const char *type, leat_parquet_fields *fields);
/* What stands for the column `name`, which is quoted: its number, of milliseconds if there is a
 * unit, NULL where there is no number; an unknown unit is an error of the query. */
LEAT_MUST_CHECK leat_code leat_parquet_fields_write(leat_buf *sql,
                                                    const leat_parquet_fields *fields,
                                                    const char *name, leat_error *err);

#endif
