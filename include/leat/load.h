/*
 * leat/load.h: data sets opened for reading: the facts of any row, single measurements of a row
 * without touching the rest, and complete rows; and the loader, which makes training batches from
 * them. Nothing is returned unchecked.
 */
#ifndef LEAT_LOAD_H
#define LEAT_LOAD_H

#include "leat/base.h"
#include "leat/batch.h"
#include "leat/format.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A data set written by leat is a folder with manifest.json and index.bin: it opens in
 * milliseconds, and reading checks the 4 KiB pages that it touches, each once. Third-party files
 * (ArrayRecord files, or a folder of them without leat's manifest) open too: there a complete
 * record is checked when it is first touched, and the facts of a row are known only then.
 *
 * A data set may be read by several threads at once; a cursor (leat_row) belongs to one thread.
 * Files that are damaged, cannot be read or shrink while they are open give errors
 * (LEAT_ERR_CORRUPT, LEAT_ERR_IO) that name file, byte and record, and do not affect other rows.
 *
 * Files are mapped. A mapped page that cannot be read raises SIGBUS, so opening a data set installs
 * a handler of SIGBUS for the whole process, which stays: it turns such a page into LEAT_ERR_IO and
 * passes every other SIGBUS to the previous handler. A program that installs its own handler later
 * must pass on the signals that it does not recognise, and must not unload the library with
 * dlclose. See docs/library.md.
 */
typedef struct leat_dataset leat_dataset;

typedef struct leat_dataset_options {
    int64_t cache_bytes; /* bound on decoded records kept for reuse (compressed files) */
    /* CSV with the columns src_id and src_addr: the sources of rows without one, as in some
     * third-party files; NULL: such rows are rejected. */
    const char *addresses;
    /*
     * Memory limit for reading third-party files: their tables, the cache, and the chunks being
     * decoded, with what each thread of a summary or a loader keeps of them (cursors of the
     * caller's own threads are not counted). A chunk that does not fit, by its header, is
     * LEAT_ERR_LIMIT before it is read; the message names a limit that is enough for all chunks.
     * The cache takes at most a quarter. Mapped files are not counted. 512 MiB if 0.
     */
    int64_t memory_bytes;
} leat_dataset_options;

/* 64 MiB of cache, no addresses, 512 MiB of memory. */
LEAT_API leat_dataset_options leat_dataset_options_default(void);

/*
 * Opens one folder written by leat, or any number of third-party ones: ArrayRecord files, and
 * folders, which mean the *.arrayrecord in them and in their folders "train" and "test", by name.
 * Rows are numbered through all shards in this order (leat's own: train shards, then test shards).
 * NULL options: the defaults. The data set is closed by leat_dataset_close, after its cursors. A
 * forked child opens its own: another thread of the parent may have held a lock of this one.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_dataset_open(leat_dataset **out, const char *const *paths,
                                                     int64_t path_count,
                                                     const leat_dataset_options *options,
                                                     leat_error *err);
LEAT_API void leat_dataset_close(leat_dataset *dataset);

typedef struct leat_dataset_facts {
    bool indexed;    /* has leat's manifest and index */
    bool compressed; /* some shard is; false for third-party files */
    int64_t shard_count, row_count;
    int64_t measurement_count; /* -1 if not indexed */
    int64_t file_bytes;        /* of all shards */
    int64_t first_us, last_us; /* 0 if not indexed or empty */
    /* [LEAT_SPLIT_TRAIN, TEST, NONE]; the rows of a split are consecutive in a data set written by
     * leat */
    int64_t split_shards[3], split_rows[3];
    /* The column of the inputs whose values the probes are; NULL: a probe is a source address, as
     * far as is known. Lives as long as the data set. */
    const char *probe;
} leat_dataset_facts;

LEAT_API void leat_dataset_get_facts(const leat_dataset *dataset, leat_dataset_facts *facts);

/*
 * 64 hexadecimal digits and a NUL: SHA-256 over the shards' record hashes in order, so that
 * compression does not matter; for third-party files over all footers and chunk headers, which are
 * read at the first call.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_dataset_fingerprint(const leat_dataset *dataset,
                                                            char text[65], leat_error *err);

typedef struct leat_dataset_shard {
    const char *name; /* "train/train_shard_00000.arrayrecord", or the path of a third-party file;
                         lives as long as the data set */
    /* A third-party file is train or test if its name or its folder begins with that, else NONE. */
    leat_split split;
    int64_t first_row, row_count;
    int64_t measurement_count; /* -1 if not indexed */
    int64_t file_bytes;
    int64_t first_us, last_us; /* 0 if not indexed or empty */
} leat_dataset_shard;

/* 0 <= shard < shard_count, else LEAT_ERR_OPTION. */
LEAT_API LEAT_MUST_CHECK leat_code leat_dataset_get_shard(const leat_dataset *dataset,
                                                          int64_t shard, leat_dataset_shard *out,
                                                          leat_error *err);

typedef struct leat_row_facts {
    int64_t src_id;
    int64_t n_measurements;
    int64_t first_us, last_us;
    int ip_version;              /* 4, 6, or 0 if the row has both */
    int64_t shard, record_index; /* record_index in the shard, from 0 */
    int64_t record_bytes;        /* uncompressed */
} leat_row_facts;

/*
 * Facts of row 0 <= row < row_count (else LEAT_ERR_OPTION), from the index in less than a
 * microsecond; in third-party files the record is read, checked and decoded the first time.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_dataset_row(const leat_dataset *dataset, int64_t row,
                                                    leat_row_facts *facts, leat_error *err);

/* ---- cursors ------------------------------------------------------------------------------ */

/* One row at a time, opened for reading. Allocates occasionally, never per measurement. */
typedef struct leat_row leat_row;

LEAT_API LEAT_MUST_CHECK leat_code leat_row_create(leat_row **out, const leat_dataset *dataset,
                                                   leat_error *err);
LEAT_API void leat_row_destroy(leat_row *cursor);

/* Opens a row in the cursor (the previous one is closed). On failure the cursor holds no row. */
LEAT_API LEAT_MUST_CHECK leat_code leat_dataset_row_open(const leat_dataset *dataset, int64_t row,
                                                         leat_row *cursor, leat_error *err);
/* Facts of the open row; valid until the next one is opened. NULL if none is open. */
LEAT_API const leat_row_facts *leat_row_get_facts(const leat_row *cursor);

/*
 * Measurement 0 <= i < n_measurements of the open row, in time order. Touches only the pages that
 * hold its fields. The texts belong to the cursor until its next call.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_row_measurement(leat_row *cursor, int64_t i,
                                                        leat_measurement *out, leat_error *err);

/*
 * `count` measurements of the open row at once, for a program that samples them: the same values as
 * leat_row_measurement returns, but the waits for memory overlap. indices are best in ascending
 * order, so that each page is visited once; points has space for count. src and dst are NULL with
 * size 0, unless the cursor keeps texts: then they belong to it until its next call. Touches only
 * the pages that hold these values, so a damaged page elsewhere in the row is not an error
 * (LEAT_ERR_CORRUPT: a page or chunk is not what was written; LEAT_ERR_IO: it cannot be read; both
 * name shard, record and byte). On failure points is zeroed.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_row_gather(leat_row *cursor, const int64_t *indices,
                                                   int64_t count, leat_measurement *points,
                                                   leat_error *err);
/* Whether leat_row_gather returns texts too; off in a new cursor. */
LEAT_API void leat_row_keep_texts(leat_row *cursor, bool keep);

/* Decodes and checks the complete open row into the caller's arrays (leat_measurements_free at the
 * end). */
LEAT_API LEAT_MUST_CHECK leat_code leat_dataset_row_decode(leat_row *cursor, leat_measurements *out,
                                                           leat_error *err);

/* The bytes of the open row's record, uncompressed and checked; owned by the cursor until its next
 * call. */
LEAT_API LEAT_MUST_CHECK leat_code leat_dataset_row_record(leat_row *cursor, const uint8_t **bytes,
                                                           int64_t *size_bytes, leat_error *err);

/* ---- Summaries ---------------------------------------------------------------------------- */

#define LEAT_SUMMARY_TOP 10  /* largest probes that are kept */
#define LEAT_SUMMARY_SHOWN 3 /* first measurements of a row that are shown as text */
#define LEAT_SUMMARY_ROWS_MAX 1000
/* Destinations that are counted, in 16 MiB; if there are more, a sample of them is. */
#define LEAT_SUMMARY_DESTINATIONS (1 << 18)
#define LEAT_SUMMARY_JUDGED 20 /* measurements that a share of failures requires */

typedef struct leat_summary_options {
    int threads;            /* 1..256; the result does not depend on it */
    int64_t read_bytes_max; /* read rows up to about this many bytes; -1: all; 0: only facts */
    int64_t row_count;      /* rows to describe, 0..LEAT_SUMMARY_ROWS_MAX */
    leat_progress_fn progress;
    void *progress_user;
} leat_summary_options;
/* All processors, 4 GiB, 3 rows. */
LEAT_API leat_summary_options leat_summary_options_default(void);

typedef struct leat_summary_part { /* of a split, or of all */
    int64_t shards, rows, probes, measurements;
    int64_t record_bytes; /* of all records, uncompressed */
    int64_t file_bytes;
} leat_summary_part;

typedef struct leat_summary_shard {
    const char *path; /* as the data set names it */
    leat_split split;
    int64_t rows, measurements, file_bytes;
    int64_t first_us, last_us; /* 0 if it has no rows */
} leat_summary_shard;

/* How many measurements of a row or a destination failed; a bound belongs to the class below it. */
typedef enum leat_loss {
    LEAT_LOSS_NONE,
    LEAT_LOSS_1, /* up to 1 % */
    LEAT_LOSS_5,
    LEAT_LOSS_20,
    LEAT_LOSS_50,
    LEAT_LOSS_MOST, /* more, but not all */
    LEAT_LOSS_ALL,
    LEAT_LOSSES
} leat_loss;

typedef struct leat_summary_probe {
    int64_t src_id;
    char src[LEAT_PROBE_SRC_BYTES]; /* address text, NUL-terminated; "" if unknown */
    leat_split split;
    int64_t rows, measurements, record_bytes;
    int64_t first_us, last_us;
    int64_t first_row;
    int64_t measurements_read, failures; /* in the rows that were read */
} leat_summary_probe;

typedef struct leat_summary_measurement {
    int64_t time_us;
    char dst[LEAT_PROBE_SRC_BYTES];
    float rtt; /* milliseconds; -1: failed */
} leat_summary_measurement;

/* Round trips over the time of the data set, from its first measurement to its last, in equal
 * parts; of some of the largest probes. */
#define LEAT_SUMMARY_COURSE 48
#define LEAT_SUMMARY_COURSES 3

typedef struct leat_summary_course {
    int64_t answers[LEAT_SUMMARY_COURSE];
    double ms[LEAT_SUMMARY_COURSE]; /* sums of round trips */
} leat_summary_course;

typedef struct leat_summary_row {
    int64_t row;    /* of the data set */
    int64_t shard;  /* in `shards` */
    int64_t record; /* of the shard */
    int64_t src_id;
    char src[LEAT_PROBE_SRC_BYTES];
    int ip_version; /* 4, 6 or 0: both */
    int64_t measurements, failures, record_bytes;
    int64_t first_us, last_us;
    leat_summary_measurement shown[LEAT_SUMMARY_SHOWN];
    int shown_count;
    leat_summary_course course;
} leat_summary_row;

#define LEAT_SUMMARY_REASONS 32 /* that are kept */

/* What the ingest counted, as run.json has it. */
typedef struct leat_summary_ingest {
    bool known; /* run.json is there, and can be read; else all is 0 */
    int64_t rows_read, rejected;
    int64_t duplicates;         /* -1: not counted, by an earlier version */
    int64_t duplicates_dropped; /* not written */
    leat_split_overlap overlap; /* not known: of an earlier version, or a resumed ingest */
    struct {
        char name[64];
        int64_t rows;
    } reasons[LEAT_SUMMARY_REASONS]; /* of rejected rows, most rows first */
    int reason_count;
} leat_summary_ingest;

typedef struct leat_summary_destination {
    char dst[LEAT_PROBE_SRC_BYTES]; /* canonical text */
    int64_t measurements, failures;
} leat_summary_destination;

typedef struct leat_summary {
    /* From the index (or the footers and facts of third-party files): exact, for every row. */
    bool ours;            /* a folder with manifest and index */
    char fingerprint[65]; /* hexadecimal */
    char probe[256];      /* the column whose values the probes are; "": source addresses */
    leat_summary_part all, split[LEAT_SPLITS + 1]; /* by leat_split */
    int64_t rows_by_version[3];                    /* IPv4 only, IPv6 only, both */
    int64_t measurements_by_version[3];            /* of those rows */
    int64_t first_us, last_us;
    leat_distribution record_bytes, row_measurements, probe_measurements, row_span_us, shard_rows;
    leat_summary_shard *shards;
    int64_t shard_count;
    leat_summary_probe top[LEAT_SUMMARY_TOP]; /* most measurements first */
    int top_count;
    leat_summary_ingest ingest;

    /* From the rows that were read: all of them, or a sample that is a pure function of the data.
     */
    int64_t rows_read, measurements_read, bytes_read;
    int64_t values_by_version[2], failures_by_version[2]; /* IPv4, IPv6 */
    int64_t duplicates_read;  /* equal to the measurement before it of its probe, in all columns */
    leat_distribution gap_us; /* between consecutive measurements of a probe */
    leat_distribution rtt_ns; /* of those that did not fail */
    leat_distribution rtt_ns_by_part[LEAT_SPLITS + 1][2]; /* by leat_split; IPv4, IPv6 */
    leat_distribution rtt_ns_by_hour[24];                 /* of the day, UTC */
    int64_t rows_by_loss[LEAT_LOSSES];                    /* with measurements, by leat_loss */
    /* Destinations by their addresses, whatever the spelling. More than LEAT_SUMMARY_DESTINATIONS
     * are halved, by their hashes, until as many are left; the counts of those are complete. */
    int64_t destinations;
    int destinations_halved;                   /* how often; 0: all are counted */
    int64_t destinations_by_loss[LEAT_LOSSES]; /* with LEAT_SUMMARY_JUDGED measurements or more */
    leat_summary_destination worst[LEAT_SUMMARY_TOP]; /* of those, the largest shares of failures */
    int worst_count;
    leat_summary_course top_course[LEAT_SUMMARY_COURSES]; /* of the first of `top` */
    /* Their median round trips in ns; where there is no answer, 0. */
    double top_median_ns[LEAT_SUMMARY_COURSES][LEAT_SUMMARY_COURSE];
    leat_timeline timeline;
    leat_summary_row *rows; /* described, in the order of the data set */
    int64_t row_count;
} leat_summary;

/*
 * Summarises a data set. A row that cannot be read fails the call: LEAT_ERR_CORRUPT with shard and
 * record (leat_verify lists all of them). Memory: fixed (of the largest probes 4 MiB, of
 * destinations up to 24 MiB, and 256 KiB a thread), except for `shards`, the requested rows, and 16
 * bytes a row where third-party rows are not grouped by probe.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_summary_create(leat_summary **out, leat_dataset *dataset,
                                                       const leat_summary_options *options,
                                                       leat_error *err);
LEAT_API void leat_summary_destroy(leat_summary *summary);

/* ---- Verification ------------------------------------------------------------------------- */

typedef struct leat_verify_finding {
    bool note;      /* worth knowing, but not a problem */
    char file[256]; /* as the data set names it, or a path; truncated at the front if longer */
    int64_t record; /* in the file, from 0; -1: the entire file */
    char reason[LEAT_MESSAGE_BYTES];
} leat_verify_finding;

typedef struct leat_verify_options {
    int threads;          /* 1..256; each shard is read by one thread; the report does not depend on
                             it */
    int64_t finding_max;  /* findings kept as text, 1..; all are counted */
    bool quick;           /* read no shard: check only that it exists with the right size */
    int64_t memory_bytes; /* as in leat_dataset_options, for third-party files */
    leat_progress_fn progress;
    void *progress_user;
} leat_verify_options;
/* All processors, 1000 findings, 512 MiB. */
LEAT_API leat_verify_options leat_verify_options_default(void);

typedef struct leat_verify_report {
    bool ours; /* a folder with leat's manifest: everything was checked; else what applies */
    int64_t shards, rows, measurements, file_bytes; /* read and checked */
    int64_t problem_count, note_count;
    leat_verify_finding *findings; /* by shard and record; those of the entire data set come last */
    int64_t finding_count;
} leat_verify_report;

/*
 * Reads everything and checks it (docs/inspect.md lists what). Damage does not fail the call: the
 * result is LEAT_OK with problem_count > 0. Errors are what prevents the check: no such path, no
 * memory, cancelled. Memory: the largest record a thread, 24 bytes a probe.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_verify(const char *const *paths, int64_t path_count,
                                               const leat_verify_options *options,
                                               leat_verify_report **out, leat_error *err);
LEAT_API void leat_verify_report_destroy(leat_verify_report *report);

/* ---- Loader ------------------------------------------------------------------------------- */

/*
 * Makes the batches of a training run. The bytes of a batch are a pure function of the rows of the
 * data set, the sample options, split, batch size and step: never of threads, hosts, prefetch,
 * input/output, compression or what was read before. See docs/loading.md.
 *
 * Row r of step s is sequence s batch + r of the run; a host makes its rows of every step. Threads
 * of the loader fill batches ahead of the caller; leat_loader_next copies nothing.
 *
 * One thread at a time may call next, wait, seek, restore, load, destroy; the other calls may come
 * from any thread meanwhile. A loader belongs to the process that created it: in a forked child
 * every call that can fail is LEAT_ERR_OPTION, and destroy does nothing.
 */
typedef struct leat_loader leat_loader;

typedef enum leat_io {
    LEAT_IO_MMAP, /* uncompressed shards written by leat are mapped */
    LEAT_IO_PREAD /* they are read page by page; slower, for file systems that cannot map well */
} leat_io;

typedef enum leat_on_corrupt {
    LEAT_CORRUPT_FAIL, /* a step that needs damaged bytes is an error */
    /* A sequence that needs damaged bytes is all zeros, all others stay the same, and
     * leat_loader_quarantine lists the records. Requires a data set written by leat. */
    LEAT_CORRUPT_MASK
} leat_on_corrupt;

#define LEAT_PREFETCH_AUTO (-1)

typedef struct leat_loader_options {
    leat_sampler_options sample; /* sampler, length, seed, ...: leat/batch.h; seed below 2^63 */
    leat_split split;            /* LEAT_SPLIT_NONE: all rows */
    int64_t batch;               /* rows of the global batch, 1 .. 2^20 */
    /* This host makes rows [host_index batch / host_count, (host_index + 1) batch / host_count):
     * host_count divides batch. Or, with `rows`, those (0 <= row < batch, in any order). */
    int64_t host_index, host_count;
    const int64_t *rows; /* NULL: by host; copied */
    int64_t row_count;
    int64_t epochs; /* steps end after this many; the last batch is padded with zeros. 0: no end */
    /* Every row of a batch is from a different probe: see docs/loading.md. Then without epochs. */
    bool by_client;
    const char *client_weights; /* NULL or "uniform", "measurements", or the path of a CSV file with
                                   src_id and weight: other probes have weight 0 */
    int64_t clients_per_round;  /* 0: no rounds; else at least batch */
    int64_t steps_per_round;
    int threads; /* 1 .. 256 */
    /* Batches made ahead of the caller, at most 1024; 0: a batch is made when it is requested.
     * LEAT_PREFETCH_AUTO: as many as memory_bytes holds, at most 8. */
    int64_t prefetch;
    /* Bound on the loader's memory: the batches made ahead and one that the caller holds, tables,
     * threads, and the data set's cache where that is used. Mapped files and further batches that
     * the caller holds are not counted. */
    int64_t memory_bytes;
    leat_io io;
    leat_on_corrupt on_corrupt;
    /* 0: the global order, every context may be anywhere. Else the windowed order, for data larger
     * than memory: each row of the batch is made from windows of the data, which together are about
     * this large, and each block of rows is read once an epoch. 1 MiB to 1 TiB; not by client, not
     * with the sampler "all". See docs/loading.md. */
    int64_t window_bytes;
} leat_loader_options;

/* Default sample options, train, batch 8, one host, all processors, LEAT_PREFETCH_AUTO, 512 MiB. */
LEAT_API leat_loader_options leat_loader_options_default(void);
/* The options besides `sample` (leat_sampler_options_table), by_client and rows, by name: "split",
 * "batch", "epochs", "threads", ... */
LEAT_API const leat_setting_table *leat_loader_options_table(void);

/*
 * The data set must outlive the loader. NULL options: the defaults. Reads the index of the split's
 * rows; of third-party files, all records. LEAT_ERR_OPTION names the option and its value.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_loader_create(leat_loader **out,
                                                      const leat_dataset *dataset,
                                                      const leat_loader_options *options,
                                                      leat_error *err);
/* Batches that the caller holds stay valid. */
LEAT_API void leat_loader_destroy(leat_loader *loader);

/* The six arrays, [row_count][length] each, on pages of their own, to be read only. */
typedef struct leat_batch {
    int64_t step;
    int64_t row_count, length;
    const int64_t *rows; /* [row_count]: their numbers in the global batch */
    const int32_t *inputs, *targets;
    const int32_t *inputs_position, *targets_position;
    const int32_t *inputs_segmentation, *targets_segmentation;
} leat_batch;

/*
 * The next batch, owned by the caller and unchanged until leat_batch_release; *out is NULL at the
 * end of the epochs, or after 2^40 steps. A step that failed fails again at every call until
 * leat_loader_seek, with the error of its lowest row.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_loader_next(leat_loader *loader, const leat_batch **out,
                                                    leat_error *err);
/* Waits up to timeout_ms (-1: without limit) until leat_loader_next can return at once; whether it
 * can. */
LEAT_API bool leat_loader_wait(leat_loader *loader, int64_t timeout_ms);

/* Adds an owner; removes one. Any thread, also after leat_loader_destroy. NULL accepted. */
LEAT_API void leat_batch_retain(const leat_batch *batch);
LEAT_API void leat_batch_release(const leat_batch *batch);

/* The step of the next batch; the number of steps, -1 without end; sequences per epoch, -1 by
 * client. */
LEAT_API int64_t leat_loader_step(const leat_loader *loader);
LEAT_API int64_t leat_loader_step_count(const leat_loader *loader);
LEAT_API int64_t leat_loader_epoch_sequences(const leat_loader *loader);

/* The next batch will be that of `step`, 0 .. step count. Costs the same as starting at 0. */
LEAT_API LEAT_MUST_CHECK leat_code leat_loader_seek(leat_loader *loader, int64_t step,
                                                    leat_error *err);

/*
 * The state: one JSON object {"v", "data", "options", "seed", "step"}: version, data fingerprint,
 * hash of the options that decide bytes, seed, step of the next batch. It is a function of these
 * alone, so seek(step) restores it too.
 */
#define LEAT_LOADER_STATE_BYTES 257 /* at most, with the NUL */
LEAT_API void leat_loader_state(const leat_loader *loader, char text[LEAT_LOADER_STATE_BYTES]);
/* Seeks to the step of a state; LEAT_ERR_INPUT names what differs: version, data, options, seed.
 * Which option it is, only leat_loader_load can say: a state has a hash of them. */
LEAT_API LEAT_MUST_CHECK leat_code leat_loader_restore(leat_loader *loader, const char *text,
                                                       leat_error *err);
/* The state as a file, which also lists the options, so that an error names the one that differs;
 * it is written and replaced as by leat_text_save (LEAT_MARK_STATE). leat_loader_load accepts both
 * forms. */
LEAT_API LEAT_MUST_CHECK leat_code leat_loader_save(const leat_loader *loader, const char *path,
                                                    bool replace, leat_error *err);
LEAT_API LEAT_MUST_CHECK leat_code leat_loader_load(leat_loader *loader, const char *path,
                                                    leat_error *err);

typedef struct leat_loader_counters { /* of the batches returned so far, unless noted */
    int64_t batches;
    int64_t sequences;       /* without rows past the end */
    int64_t masked;          /* sequences that are zeros because of damage */
    int64_t tokens, padding; /* in `inputs`, and positions without a token */
    int64_t segments, measurements;
    int64_t dropped;       /* measurements that were drawn but did not fit (packing none) */
    int64_t payload_bytes; /* of shards, read and checked since create, each page once */
    int64_t stall_ns;      /* that the caller has waited, including the current wait */
    int64_t work_ns;       /* that all threads together have worked */
    int64_t memory_bytes;  /* that the loader needs by its own count */
    int64_t prefetch;      /* in use */
    int64_t read_wait_ns;  /* windowed order: that threads waited for windows to be read */
    int64_t window_bytes;  /* windowed order: that windows and the next ones take at most; of mapped
                              shards they are in the page cache, no more than the rows of the
                              split, and not in memory_bytes */
} leat_loader_counters;
LEAT_API void leat_loader_get_counters(const leat_loader *loader, leat_loader_counters *out);
/* Whether the order is global and the data set, of *data_bytes, larger than the *memory_bytes of
 * this machine, so that batches wait for the disk; the windowed order reads each block once. */
LEAT_API bool leat_loader_exceeds_memory(const leat_loader *loader, int64_t *data_bytes,
                                         int64_t *memory_bytes);

typedef struct leat_quarantined {
    char shard[256]; /* as the data set names it; truncated at the front if longer */
    int64_t row, record_index;
    int64_t byte; /* of the shard: the first damaged page of the record; compressed: its chunk */
    char reason[LEAT_MESSAGE_BYTES];
} leat_quarantined;

/*
 * The records because of which sequences were masked so far, by row, at most 10,000. The caller
 * frees *items with leat_quarantine_free.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_loader_quarantine(const leat_loader *loader,
                                                          leat_quarantined **items, int64_t *count,
                                                          leat_error *err);
LEAT_API void leat_quarantine_free(leat_quarantined *items);

/*
 * A hash to compare batches by. A row's line is "step row sha256" and a newline: row is its number
 * in the global batch, the SHA-256 is over its six arrays in the order of leat_batch,
 * little-endian. The hash of a run is the SHA-256 over all lines, so the lines of all hosts, sorted
 * by step and row, give the hash of a single host that makes all rows.
 */
typedef struct leat_batch_hash leat_batch_hash;
LEAT_API LEAT_MUST_CHECK leat_code leat_batch_hash_create(leat_batch_hash **out, leat_error *err);
LEAT_API void leat_batch_hash_destroy(leat_batch_hash *hash);
/* Adds the rows of a batch; appends their lines to `lines` too, unless NULL. */
LEAT_API void leat_batch_hash_add(leat_batch_hash *hash, const leat_batch *batch,
                                  leat_textbuf *lines);
/* 64 hexadecimal digits and a NUL, of what was added so far. */
LEAT_API void leat_batch_hash_text(const leat_batch_hash *hash, char text[65]);

/* ---- What a row of a batch holds ---------------------------------------------------------- */

typedef struct leat_explained_measurement {
    int64_t index; /* in its row of the data set */
    int64_t time_us;
    bool stamped; /* has a timestamp */
    bool cut;     /* the sequence ends inside it */
} leat_explained_measurement;

typedef struct leat_explained_segment {
    int64_t row, shard, record_index; /* of the data set */
    int64_t src_id, row_measurements;
    int64_t context;       /* which of the row's contexts: its window is drawn anew each time */
    const char *time_mode; /* "full", "partial", "none", "mixed" */
    int64_t window_first, window_count; /* measurements of the row that it was drawn from, */
    int64_t window_stride; /* every n-th of them; plan2: up to the last one that was drawn */
    int64_t token_first, token_count;             /* in the sequence */
    int64_t measurement_first, measurement_count; /* in `measurements` */
    int64_t drawn; /* measurements drawn: more than measurement_count if some did not fit (packing
                      none) */
} leat_explained_segment;

typedef struct leat_explanation {
    int64_t step, row;
    int64_t sequence;                 /* step batch + row */
    int64_t epoch, position;          /* position of the sequence in its epoch; -1, -1 by client */
    int64_t anchor;                   /* number of the anchor in the epoch */
    bool past_end;                    /* zeros: the epochs are over */
    bool masked;                      /* zeros: it needs damaged bytes */
    char reason[LEAT_MESSAGE_BYTES];  /* if masked */
    leat_explained_segment *segments; /* the first is the anchor's */
    int64_t segment_count;
    leat_explained_measurement *measurements; /* in the order of the tokens */
    int64_t measurement_count;
    int32_t *inputs, *segmentation; /* [length], as in the batch */
    int64_t length;
} leat_explanation;

/*
 * Says what row 0 <= row < batch of a step, of any host, holds, by making it again; any thread.
 * With LEAT_CORRUPT_FAIL a damaged row is an error.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_loader_explain(const leat_loader *loader, int64_t step,
                                                       int64_t row, leat_explanation **out,
                                                       leat_error *err);
LEAT_API void leat_explanation_destroy(leat_explanation *explanation);

/* ---- Statistics of batches ---------------------------------------------------------------- */

/* Fields by which tokens are counted: a role token and the bytes after it. */
typedef enum leat_token_field {
    LEAT_TOKEN_FIELD_START,
    LEAT_TOKEN_FIELD_SRC,
    LEAT_TOKEN_FIELD_DST,
    LEAT_TOKEN_FIELD_TIME,
    LEAT_TOKEN_FIELD_RESULT,
    LEAT_TOKEN_FIELDS
} leat_token_field;

/* How far apart in time the first and the last measurement of a context are. */
typedef enum leat_span_scale {
    LEAT_SPAN_SINGLE,  /* one measurement: there is no span */
    LEAT_SPAN_SECONDS, /* below a minute, 0 included */
    LEAT_SPAN_MINUTES, /* below an hour */
    LEAT_SPAN_HOURS,   /* below a day */
    LEAT_SPAN_DAYS,    /* below a week */
    LEAT_SPAN_WEEKS,
    LEAT_SPAN_SCALES
} leat_span_scale;
/* "single", "seconds", ...; "" for any other number. */
LEAT_API const char *leat_span_scale_name(int scale);

#define LEAT_TIME_MODES 4 /* full, partial, none, mixed */
LEAT_API const char *leat_time_mode_name(int mode);

typedef struct leat_context_stats {
    int64_t contexts, tokens;
    int64_t measurements, stamped; /* stamped: with a timestamp */
    int64_t cut;                   /* measurements that end with their sequence, incomplete */
    int64_t dropped;               /* drawn, but did not fit (packing none) */
    int64_t by_mode[LEAT_TIME_MODES], by_scale[LEAT_SPAN_SCALES]; /* contexts */
    int64_t tokens_by_scale[LEAT_SPAN_SCALES];
    leat_distribution row_measurements;     /* of the row that a context is drawn from */
    leat_distribution window_measurements;  /* of its window */
    leat_distribution context_measurements; /* in it */
    leat_distribution span_us; /* of contexts with two measurements or more: last minus first */
} leat_context_stats;

typedef struct leat_sequence_stats {
    int64_t sequences, masked; /* masked: zeros because of damage, all of it padding */
    int64_t tokens, padding;   /* together sequences x length */
    /* Measurements that are already in the same sequence; in the same batch. The same means the
     * same place in the data set: duplicates, equal measurements at two places, are not repeats. */
    int64_t repeated_in_sequence, repeated_in_batch;
    int64_t tokens_by_type[LEAT_TOKEN_BYTE + 1]; /* [LEAT_TOKEN_BYTE]: all byte tokens */
    int64_t tokens_by_field[LEAT_TOKEN_FIELDS];
    leat_distribution segments;          /* of a sequence that is not masked */
    leat_context_stats anchors, fillers; /* the first context of a sequence; the others */
} leat_sequence_stats;

/*
 * For comparison, fixed time windows on the same rows: a chunk is what a probe measured in 5
 * minutes of the clock, in time order with all timestamps, cut at 100,000 tokens; each chunk is one
 * sequence, so a short one is padded (and of a longer one a part is used).
 */
#define LEAT_CHUNK_SECONDS 300
#define LEAT_CHUNK_TOKENS_MAX 100000
typedef struct leat_chunk_stats {
    int64_t rows_read, rows; /* of the split; read_bytes_max limits those read */
    int64_t rows_damaged;    /* left out, with LEAT_CORRUPT_MASK */
    int64_t measurements, chunks, tokens;
    int64_t padding;      /* of chunks x length positions */
    int64_t short_chunks; /* that do not fill a sequence */
    leat_distribution chunk_measurements, chunk_tokens;
} leat_chunk_stats;

/* The first sequences, segment by segment. */
#define LEAT_REPORT_SEQUENCES 6  /* of the first step */
#define LEAT_REPORT_SEGMENTS 256 /* of a sequence that are kept */

typedef struct leat_report_segment {
    int64_t row, src_id; /* of the data set */
    int64_t context;     /* which of the row's contexts */
    int64_t begin, end;  /* positions in the sequence; end is excluded */
} leat_report_segment;

typedef struct leat_report_sequence {
    int64_t sequence; /* step batch + row */
    bool is_masked;   /* zeros because of damage */
    int64_t tokens;   /* before the padding */
    int64_t segment_count;
    leat_report_segment segments[LEAT_REPORT_SEGMENTS]; /* the first is the anchor's */
} leat_report_sequence;

typedef struct leat_batch_report_options {
    /* Steps first_step .. end_step - 1, all of them. end_step -1: to the end of the epochs (0
     * epochs: of one) but at most sequence_max sequences; by client always that many. */
    int64_t first_step, end_step;
    int64_t sequence_max;
    int64_t read_bytes_max; /* read rows up to about this many bytes for the chunks; -1: all */
    leat_progress_fn progress;
    void *progress_user;
} leat_batch_report_options;
/* From step 0, at most 16,384 sequences, 1 GiB. */
LEAT_API leat_batch_report_options leat_batch_report_options_default(void);

typedef struct leat_batch_report {
    int64_t first_step, end_step; /* that were counted */
    int64_t epoch_sequences;      /* -1 by client */
    int64_t length, batch;
    leat_distribution row_contexts; /* contexts per row and epoch, over all rows of the split */
    leat_sequence_stats asked;      /* the batches that the options describe */
    bool is_filled;                 /* they are filled; else `unpacked` is the same */
    leat_sequence_stats unpacked;   /* the same anchors, one context a sequence */
    leat_chunk_stats chunks;
    leat_report_sequence first[LEAT_REPORT_SEQUENCES];
    int first_count;
} leat_batch_report;

/*
 * Statistics of the batches that a loader with these options makes, computed on its threads; the
 * report does not depend on their number. With LEAT_CORRUPT_FAIL damage is an error, that of the
 * lowest step. Memory besides the report: its size and the largest record a thread, 24 bytes for
 * each measurement of a batch.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_batch_report_create(
    leat_batch_report **out, const leat_dataset *dataset, const leat_loader_options *options,
    const leat_batch_report_options *report_options, leat_error *err);
LEAT_API void leat_batch_report_destroy(leat_batch_report *report);

#ifdef __cplusplus
}
#endif
#endif
