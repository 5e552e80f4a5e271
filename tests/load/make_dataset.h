/*
 * Small data sets for tests, written with the library's own pieces; every value is a function of
 * (row, measurement), so that a test knows what must come out.
 */
#ifndef TESTS_LOAD_MAKE_DATASET_H
#define TESTS_LOAD_MAKE_DATASET_H

#include "format/dataset/index.h"
#include "format/probe/row.h"

typedef struct make_options {
    leat_ar_options record;
    bool dictionary_src;
    int shards[2]; /* train, test */
    int rows_per_shard;
    int64_t (*count_of)(int64_t row); /* measurements of a row, numbered through the data set */
    /* Changes what the index says of a row, after the record was written; NULL: nothing. */
    void (*lie)(int64_t row, leat_index_row *indexed);
} make_options;

/* Uncompressed, 3 train shards and 1 test shard of 4 rows, make_count measurements. */
make_options make_options_default(void);
int64_t make_count(int64_t row);

/* The source of a row (IPv4 for even rows, IPv6 for odd ones), and one of its measurements. */
void make_source(int64_t row, char src[LEAT_PROBE_SRC_BYTES]);
typedef struct made {
    int64_t time_us;
    char dst[LEAT_PROBE_SRC_BYTES];
    int ip_version;
    float rtt;
} made;
made make_measurement(int64_t row, int64_t i);

/* The record of a row; leat_free. */
leat_code make_record(const make_options *options, int64_t row, uint8_t **record, int64_t *bytes,
                      leat_error *err);
/* Writes a whole data set into a folder, which is made. */
leat_code make_dataset(const char *dir, const make_options *options, leat_error *err);
/* Removes what only leat writes beside the shards: they are then files of others. */
leat_code make_files_of_others(const char *dir, leat_error *err);

/* Turns one bit of a file. */
void make_flip(const char *path, int64_t byte, int bit);

#endif
