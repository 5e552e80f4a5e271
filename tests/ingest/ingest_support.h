/*
 * What the tests of the whole ingest share: CSV inputs, digests of data sets, the data set that a
 * brute-force model expects.
 */
#ifndef LEAT_TESTS_INGEST_SUPPORT_H
#define LEAT_TESTS_INGEST_SUPPORT_H

#include "core_support.h"
#include "leat/ingest.h"

/* How rows become files. */
typedef struct csv_cut {
    int files;
    bool shuffled; /* the rows in another order */
    int bad_every; /* a row that cannot stand after so many good ones; 0: none */
} csv_cut;
/* Writes `<folder>/<name>-<k>.csv`; returns how many bad rows there are. */
int64_t csv_write(const char *name, const core_row *rows, int64_t count, const csv_cut *cut);
/* Their paths, for leat_probes_ingest; valid until the next call. */
const char *const *csv_paths(const char *name, int files);

/* Small and fast: 2 threads, 64 MiB more than the process has, 90 probes a shard, rows of 4000
 * bytes. */
leat_probes_ingest_options ingest_options(void);
/* A limit of so many MiB beyond what the process takes; more under a sanitizer, which takes its own
 * share of everything. */
int64_t ingest_memory(int64_t mebibytes);
/* The least memory limit that the options allow, and a block of the heap that exceeds it, to be
 * freed by the caller: any ingest beside it refuses that limit. */
#define INGEST_MEMORY_MIN (INT64_C(48) << 20)
void *ingest_ballast(void);

/* SHA-256 of what depends on the measurements and options alone: names and bytes of the manifest,
 * the index and every shard, in the order of the names. Fails the test if something is missing. */
typedef struct dataset_digest {
    uint8_t bytes[32];
} dataset_digest;
dataset_digest dataset_hash(const char *dir);
/* Whether an ingest has left its work in the folder. */
bool has_work(const char *dir);
#define assert_same_dataset(dir, want)                                                             \
    do {                                                                                           \
        dataset_digest got_ = dataset_hash(dir);                                                   \
        assert_memory_equal(got_.bytes, (want).bytes, sizeof got_.bytes);                          \
        assert_false(has_work(dir));                                                               \
    } while (0)

/* Ingests, and removes the data set that was in `out` before. */
leat_code ingest_to(const char *out, const char *name, int files,
                    const leat_probes_ingest_options *options, leat_probes_ingest_result *result,
                    leat_error *err);

/* Compares a data set with the rows that went in (any order; sorted here): split, shard, cuts,
 * every value; manifest and index too. */
void dataset_check(const char *dir, core_row *rows, int64_t count,
                   const leat_probes_ingest_options *options);

/* Names in a folder, -1 if there is none. */
int64_t dir_count(const char *dir);
bool path_exists(const char *path);

/* Stops at the k-th report, or kills the process there. Each takes as long as the ticker waits, so
 * that nothing is missed. */
typedef struct ingest_stopper {
    int at, calls;
    bool kills;
    char stage[32]; /* where it stopped */
} ingest_stopper;
bool ingest_stop_at(void *user, const leat_progress *progress);

/* What the tests of runs that stop and are resumed begin with, made by resume_setup: rows of this
 * shape and 90 bad ones in three files, "resume-*.csv", and the data set "want" that they become
 * with ingest_options(). */
extern const core_shape resume_shape;
extern dataset_digest resume_want;
int resume_setup(void **state);
/* Ingests the three files; what is in `out` stays. */
leat_code resume_run(const char *out, const leat_probes_ingest_options *options,
                     leat_probes_ingest_result *result, leat_error *err);

#endif
