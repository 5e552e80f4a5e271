/* The column of rtt in a chunk of rows of a Parquet file. */
#ifndef LEAT_INGEST_PROBES_PARQUET_RTTS_H
#define LEAT_INGEST_PROBES_PARQUET_RTTS_H

#include "ingest/source.h"

/* Doubles or floats, valid during the call; a bit of `valid` is 0 where there is none, NULL: all
 * are. */
typedef struct leat_parquet_rtts {
    const void *data;
    const uint64_t *valid;
    bool is_double;
} leat_parquet_rtts;

/* The first `count` of them in milliseconds; NaN: none, or a lost ping. */
void leat_parquet_rtts_take(const leat_parquet_rtts *rtts, const leat_source_options *options,
                            int64_t count, float *out);
/* Counts rows [first, first + count) as they are in the file. */
void leat_parquet_rtts_note(const leat_parquet_rtts *rtts, const leat_source_options *options,
                            int32_t file_index, int64_t first, int64_t count);

#endif
