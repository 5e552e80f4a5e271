/* What the files of the database's calls share. */
#ifndef LEAT_CROWD_DATABASE_PARTS_H
#define LEAT_CROWD_DATABASE_PARTS_H

#include "crowd/database.h"

/* leat_pg_call, repeated while the server undoes it because of a deadlock; its errors become codes:
 * LEAT_ERR_BUSY if the fence has passed to another coordinator. */
LEAT_MUST_CHECK leat_code leat_database_call(leat_pg *pg, leat_pg_rows **rows, leat_pg_shape shape,
                                             const char *sql, const leat_pg_value *values,
                                             int count, leat_error *err);

/* With parameters, and an answer of the given number of columns and at least of rows. */
#define LEAT_DATABASE_ROWS(pg, rows, columns, least_rows, sql, err, ...)                           \
    leat_database_call(                                                                            \
        (pg), (rows), (leat_pg_shape){(columns), (least_rows), false}, (sql),                      \
        (const leat_pg_value[]){__VA_ARGS__},                                                      \
        (int)(sizeof((const leat_pg_value[]){__VA_ARGS__}) / sizeof(leat_pg_value)), (err))
/* With one value for an answer. */
#define LEAT_DATABASE_VALUE(pg, rows, sql, err, ...)                                               \
    LEAT_DATABASE_ROWS(pg, rows, 1, 1, sql, err, __VA_ARGS__)
/* Without an answer that is read: `rows` is the word NULL. */
#define LEAT_DATABASE_CALL(pg, rows, sql, err, ...)                                                \
    LEAT_DATABASE_ROWS(pg, LEAT_DATABASE_ROWS_##rows, 0, 0, sql, err, __VA_ARGS__)
#define LEAT_DATABASE_ROWS_NULL ((leat_pg_rows **)0)

/* One row with one column: a boolean, or a text. The text is cut to fit. */
LEAT_MUST_CHECK leat_code leat_database_take_bool(leat_code code, leat_pg_rows *rows, bool *value);
LEAT_MUST_CHECK leat_code leat_database_take_text(leat_code code, leat_pg_rows *rows, char *out,
                                                  size_t out_bytes);
void leat_database_copy(char *out, size_t out_bytes, const char *text);

/* Reads parts 0, 1, ... of what `sql` gives with the value and the number of a part.
 * LEAT_ERR_NOT_FOUND: one is not there; LEAT_ERR_CORRUPT: it has another size. */
LEAT_MUST_CHECK leat_code leat_database_read_parts(leat_pg *pg, const char *sql, int64_t value,
                                                   const leat_database_into *into, leat_error *err);

/* LEAT_ERR_CORRUPT: a run as the database describes it has sizes or times that no run can have. */
LEAT_MUST_CHECK leat_code leat_database_check_run(const leat_database_run *run, leat_error *err);

/* Number of parts. */
static inline int64_t leat_database_parts(int64_t size_bytes, int64_t part_bytes) {
    LEAT_ASSERT(size_bytes > 0 && part_bytes > 0);
    return (size_bytes + part_bytes - 1) / part_bytes;
}

#endif
