/*
 * leat/duckdb.h: which copy of DuckDB's library is found.
 */
#ifndef LEAT_DUCKDB_H
#define LEAT_DUCKDB_H

#include "leat/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The DuckDB library that reads Parquet. */
typedef struct leat_duckdb_facts {
    char version[64];   /* "v1.5.6" */
    char path[512];     /* where it was found */
    char rejected[512]; /* why a copy found earlier in the search is not used, or "" */
} leat_duckdb_facts;
/* LEAT_ERR_UNSUPPORTED: the message names the places searched, or why a copy was not used, and the
 * remedy. */
LEAT_API LEAT_MUST_CHECK leat_code leat_duckdb_probe(leat_duckdb_facts *facts, leat_error *err);

#ifdef __cplusplus
}
#endif
#endif
