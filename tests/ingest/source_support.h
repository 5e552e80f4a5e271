/* What the tests of the sources share: a scan whose rows are kept as texts, files made for it. */
#ifndef LEAT_TESTS_SOURCE_SUPPORT_H
#define LEAT_TESTS_SOURCE_SUPPORT_H

#include <pthread.h>

#include "core_support.h"
#include "golden_files.h"
#include "ingest/source.h"

/* A scan from end to end. Rows are texts "file row time_us src dst version rtt", "-" for a missing
 * value, sorted; set aside rows stand in the file `rejected`. */
typedef struct source_run {
    leat_source_options options;
    bool strict;
    int64_t reject_bytes; /* memory of the reject log */
    int64_t fail_at;      /* the batch function fails at this row; 0: never */
    leat_input_list inputs;
    pthread_mutex_t lock;
    char **rows;
    int64_t count, capacity, given;
    bool busy[16]; /* workers inside the batch function */
    bool overlap, out_of_range;
    int64_t rows_read;
    int64_t rejects[LEAT_REJECT_COUNT];
    char rejected[4096]; /* path */
} source_run;

void source_run_init(source_run *run);
leat_code source_run_paths(source_run *run, const char *const *paths, int64_t count,
                           leat_error *err);
/* One file. */
leat_code source_run_file(source_run *run, const char *path, leat_error *err);
void source_run_free(source_run *run);

/* The run's rows are exactly these, in any order. */
void source_expect(const source_run *run, const char *const *rows, int64_t count);
/* The set aside rows, "row,reason,..." as they stand behind the file's name, in order. */
void source_expect_rejects(const source_run *run, const char *const *rows, int64_t count);
#define SOURCE_ROWS(array) (array), (int64_t)(sizeof(array) / sizeof *(array))

/* Writes a text into a file of the test's folder, and as gzip in `members` members. */
const char *source_text(const char *name, const char *text);
const char *source_gzip(const char *name, const void *bytes, int64_t size_bytes, int members);

#endif
