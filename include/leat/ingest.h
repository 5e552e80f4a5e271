/*
 * leat/ingest.h: raw measurements in, probe rows out; and synthetic data.
 */
#ifndef LEAT_INGEST_H
#define LEAT_INGEST_H

#include "leat/base.h"
#include "leat/format.h"
#include "leat/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- probes: Parquet, CSV or RIPE Atlas NDJSON to ArrayRecord probe rows ------------------- */

typedef enum leat_split_rule {
    LEAT_SPLIT_HASH,    /* by a keyed hash of src_id: stable when data is added */
    LEAT_SPLIT_ORDERED, /* the first floor(train_ratio * probes) in byte order of the address */
} leat_split_rule;

typedef struct leat_probes_ingest_options {
    int64_t memory_bytes; /* bound on the peak resident set of the whole process */
    int threads;          /* 1..256; the output does not depend on it */
    uint64_t seed;        /* of the hash split */
    double train_ratio;   /* 0..1 */
    leat_split_rule split;
    int64_t max_row_bytes;    /* of the serialised measurements of a row; 0: one row a probe */
    int64_t probes_per_shard; /* decides the number of shards unless `shards` is set */
    int64_t shards;           /* of the train split; 0: by probes_per_shard */
    leat_ar_options record;   /* compression; group_size must be 1 */
    bool dictionary_src;      /* store the source address once a row */
    bool zero_address;        /* keep rows whose address is empty, as 0.0.0.0 or :: */
    bool strict;              /* fail on the first row that would be set aside */
    bool per_packet;          /* Atlas NDJSON: one measurement per packet */
    bool resume, replace;     /* go on with an interrupted ingest, or find it done; replace a data
                                 set of ours, or an interrupted ingest */
    const char *column_event_time, *column_src_addr, *column_dst_addr; /* NULL: their own names */
    const char *column_ip_version, *column_rtt;
    const char *temp_dir; /* for spilled data; NULL: inside the output folder */
    leat_progress_fn progress;
    void *progress_user;
} leat_probes_ingest_options;

/* 512 MiB, all processors, seed 0, ratio 0.9, hash split, 8 MiB rows, 1000 probes a shard. */
LEAT_API leat_probes_ingest_options leat_probes_ingest_options_default(void);

#define LEAT_REJECT_REASONS_MAX 16

typedef struct leat_probes_ingest_result {
    int64_t files;
    int64_t rows_read;    /* records seen in the inputs, set aside ones included */
    int64_t measurements; /* written; rows_read = measurements + rejected; with
                             per_packet an Atlas object gives as many as it has packets */
    int64_t rejected;     /* set aside in rejected.csv */
    int reject_reasons;   /* how many of the two arrays below are filled */
    const char *reject_reason[LEAT_REJECT_REASONS_MAX]; /* static texts */
    int64_t reject_count[LEAT_REJECT_REASONS_MAX];
    int64_t probes[2], rows[2], shards[2]; /* train, test */
    int64_t rows_split;                    /* rows beyond the first of their probe */
    int64_t probes_over_limit; /* probes cut at 2 GiB - 64 KiB although max_row_bytes is 0 */
    int64_t bytes_written;     /* of all shards */
    int64_t bytes_spilled;
    int64_t memory_peak_bytes; /* VmHWM at the end */
    double seconds_scan;       /* until the last input row was partitioned */
    double seconds_written;    /* until the last byte was written */
    double seconds_total;      /* until all of it was on the disk and published */
    bool was_complete;         /* an earlier run had made all of it: nothing was done (resume) */
    bool resumed;              /* the scan of an interrupted run was used */
    int64_t shards_resumed;    /* shards that an interrupted run had finished */
} leat_probes_ingest_result;

/*
 * Reads all measurements of `paths` (files, shell patterns, folders) and writes the data set
 * out_dir (docs/dataset.md), which appears whole or not at all: manifest.json comes last. The bytes
 * of the shards, the index and the manifest depend on the set of measurements and on the options
 * alone. Memory: stays under options->memory_bytes, or fails with LEAT_ERR_LIMIT naming the least
 * that would do. Errors leave nothing behind; a run that is killed or cancelled leaves
 * out_dir/.leat for `resume`, and so does one that fails while it resumes, unless what it resumes
 * is damaged, and one whose finished data set could not be moved to its place.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_probes_ingest(const char *const *paths, int64_t path_count,
                                                      const char *out_dir,
                                                      const leat_probes_ingest_options *options,
                                                      leat_probes_ingest_result *result,
                                                      leat_error *err);

/* The DuckDB library that reads Parquet: its version as "v1.5.6" and where it was found. */
LEAT_API LEAT_MUST_CHECK leat_code leat_duckdb_probe(char *version, int64_t version_bytes,
                                                     char *path, int64_t path_bytes,
                                                     leat_error *err);

/* ---- vehicle logs: formats of CAN frames (docs/can.md) -------------------------------------- */

typedef enum leat_can_format {
    LEAT_CAN_AUTO,      /* told by content */
    LEAT_CAN_CSV,       /* columns timestamp, arbitration_id, data_field, attack */
    LEAT_CAN_HCRL,      /* HCRL Car-Hacking: time, identifier, DLC, bytes, R or T */
    LEAT_CAN_HCRL_TEXT, /* "Timestamp: ... ID: ... DLC: ..." */
    LEAT_CAN_SURVIVAL,  /* HCRL Survival: bytes also parted by blanks, maybe without R or T */
    LEAT_CAN_GVRET,     /* SavvyCAN's CSV */
    LEAT_CAN_CANDUMP,   /* candump -l */
    LEAT_CAN_FORMATS
} leat_can_format;

/* "auto", "csv", "hcrl", "hcrl-text", "survival", "gvret", "candump"; "" for what is none. */
LEAT_API const char *leat_can_format_name(leat_can_format format);
/* LEAT_ERR_OPTION lists the names. */
LEAT_API LEAT_MUST_CHECK leat_code leat_can_format_parse(const char *text, leat_can_format *format,
                                                         leat_error *err);

/* ---- can: vehicle logs to a cache of window graphs ------------------------------------------ */

typedef enum leat_can_captures { LEAT_CAPTURES_SEPARATE, LEAT_CAPTURES_MERGED } leat_can_captures;
typedef enum leat_can_payload { LEAT_PAYLOAD_STRICT, LEAT_PAYLOAD_LENIENT } leat_can_payload;
typedef enum leat_can_fd { LEAT_CAN_FD_CUT, LEAT_CAN_FD_REFUSE } leat_can_fd;
typedef enum leat_can_identifiers { LEAT_IDS_CANONICAL, LEAT_IDS_WRITTEN } leat_can_identifiers;
typedef enum leat_can_val_split { LEAT_VAL_BLOCKS, LEAT_VAL_RANDOM } leat_can_val_split;
typedef enum leat_can_attack_type { LEAT_ATTACK_FRAME, LEAT_ATTACK_FILE } leat_can_attack_type;
typedef enum leat_can_attack_codes { LEAT_CODES_LONG, LEAT_CODES_SHORT } leat_can_attack_codes;
typedef enum leat_can_vocab { LEAT_VOCAB_TRAIN, LEAT_VOCAB_ALL } leat_can_vocab;
typedef enum leat_can_scaler {
    LEAT_SCALER_Z_BENIGN,
    LEAT_SCALER_Z_ALL,
    LEAT_SCALER_ROBUST_BENIGN,
    LEAT_SCALER_NONE
} leat_can_scaler;
typedef enum leat_can_stored { LEAT_STORE_FEATURES, LEAT_STORE_FRAMES } leat_can_stored;

#define LEAT_BUS_SEPARATE (-1) /* each bus of a log is a capture of its own */
#define LEAT_BUS_MERGE (-2)    /* buses are mixed */

/* What decides the content of a cache, each by its name in it (leat_can_setting_name). */
typedef struct leat_can_settings {
    leat_can_format format;
    int64_t window, stride; /* frames */
    leat_can_captures captures;
    int64_t bus; /* LEAT_BUS_SEPARATE, LEAT_BUS_MERGE, or the only one that is taken */
    leat_can_payload payload;
    leat_can_fd fd;
    leat_can_identifiers identifiers;
    leat_can_val_split val_split;
    double val_fraction; /* 0 to below 1 */
    leat_edge_step edge_step;
    leat_self_loops self_loops;
    leat_can_attack_type attack_type;
    leat_can_attack_codes attack_codes;
    leat_can_vocab vocab;
    leat_can_scaler scaler;
    leat_can_stored store;
    uint64_t seed; /* of the choice of validation */
} leat_can_settings;

/* The names of the settings as the command line and the cache have them, "window", "val-split",
 * ...; NULL behind the last. */
LEAT_API const char *leat_can_setting_name(int index);
/* Sets one by name from a text, and writes it as such a text; LEAT_ERR_OPTION if there is no such
 * setting or the text is no value of it. */
#define LEAT_CAN_SETTING_BYTES 32
LEAT_API LEAT_MUST_CHECK leat_code leat_can_setting_set(leat_can_settings *settings,
                                                        const char *name, const char *value,
                                                        leat_error *err);
LEAT_API LEAT_MUST_CHECK leat_code leat_can_setting_get(const leat_can_settings *settings,
                                                        const char *name,
                                                        char text[LEAT_CAN_SETTING_BYTES],
                                                        leat_error *err);
/* "default", or "reference": as the reference system has them, with its surprises. */
LEAT_API LEAT_MUST_CHECK leat_code leat_can_settings_preset(leat_can_settings *settings,
                                                            const char *name, leat_error *err);

typedef struct leat_can_ingest_options {
    leat_can_settings settings;
    const char *dataset;      /* a name of the catalog, whose folders the splits are; may be NULL */
    const char *const *train; /* patterns of folders or files; together none: see docs/can.md */
    const char *const *test;
    int64_t train_count, test_count;
    int64_t memory_bytes; /* bound on the peak resident set of the whole process */
    int threads;          /* 1..256; the output does not depend on it */
    bool resume;          /* go on behind the scan of an interrupted ingest */
    bool verify;          /* hash the inputs before an existing cache is taken for theirs */
    const char *temp_dir; /* where a folder for spilled frames is made; NULL: in cache_dir */
    leat_progress_fn progress;
    void *progress_user;
} leat_can_ingest_options;

/* The preset "default", 512 MiB, all processors. */
LEAT_API leat_can_ingest_options leat_can_ingest_options_default(void);

#define LEAT_CAN_SPLITS_MAX 256

/* Of a cache that was found: what its metadata says of it; what was done to make it is 0, and
 * what is not known any more is -1. */
typedef struct leat_can_ingest_result {
    char cache[4096]; /* the folder of the cache, inside the one that was named */
    char digest[65];  /* of all that decides its content */
    bool found;       /* it was there already: nothing was made */
    bool resumed;     /* the scan of an interrupted run was used */
    int64_t files;
    int64_t lines_read, rejected;              /* -1 if `found` */
    int64_t frames;                            /* -1 if `found` and with --bus N */
    int64_t captures, identifiers, vocabulary; /* identifiers met; those that have a number > 0 */
    /* Frames by what became of them; together `frames`. */
    int64_t frames_windowed, frames_between, frames_tail, frames_dropped;
    int64_t frames_left_out; /* of other buses than --bus N; -1 if `found` and with it */
    /* Whose time is before that of the frame before it in their capture: they are sorted. -1 if
     * `found`. */
    int64_t frames_stepped_back;
    int64_t windows_dropped; /* over a cut between training and validation, and the next ones */
    int split_count;         /* train, val, then tests */
    char split_name[LEAT_CAN_SPLITS_MAX][128];
    int64_t split_graphs[LEAT_CAN_SPLITS_MAX];
    int64_t split_attacks[LEAT_CAN_SPLITS_MAX]; /* graphs with an attack; 0 if `found` */
    char warning[512];     /* what its user should know of a cache that is doubtful; "" */
    int64_t bytes_written; /* of all splits */
    int64_t bytes_spilled; /* to temporary files; of what was resumed, the scan's too */
    int64_t memory_peak_bytes;
    double seconds_scan, seconds_written, seconds_total;
} leat_can_ingest_result;

/*
 * Reads the vehicle logs of `paths` (files, shell patterns, folders) and makes the cache of their
 * window graphs, a folder in `cache_dir` whose name carries a digest of the inputs and settings; it
 * appears whole or not at all. One that is there already is found and nothing is read. The bytes
 * depend on the inputs and settings alone. Errors as leat_probes_ingest: they leave nothing behind
 * but cache_dir; a run that is killed or cancelled behind its scan leaves what `resume` goes on
 * with, and so does one that fails while it resumes, unless what it resumes is damaged: then, or if
 * there is none, it begins anew.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_can_ingest(const char *const *paths, int64_t path_count,
                                                   const char *cache_dir,
                                                   const leat_can_ingest_options *options,
                                                   leat_can_ingest_result *result, leat_error *err);

/* ---- synthetic measurements --------------------------------------------------------------- */

typedef struct leat_synth_probes_options {
    int64_t measurements; /* 1..10^10; exactly so many are written */
    int64_t probes;       /* 1..measurements, exactly so many; 0: a probe per 235 measurements */
    uint64_t seed;
    int threads;           /* writers of a folder's files; the bytes do not depend on it */
    int64_t memory_bytes;  /* bound on the resident set; fewer threads are used to keep it */
    int64_t rows_per_file; /* of a folder */
    bool replace;          /* replace what is at the output: a file, or a folder of ours */
    leat_progress_fn progress;
    void *progress_user;
} leat_synth_probes_options;

/* No measurements yet, seed 0, all processors, 512 MiB, 10,000,000 rows a file. */
LEAT_API leat_synth_probes_options leat_synth_probes_options_default(void);

typedef struct leat_synth_probes_result {
    int64_t measurements, probes, largest_probe; /* measurements of the largest probe */
    int64_t files, bytes_written;
    int64_t memory_peak_bytes;
    double seconds;
} leat_synth_probes_result;

/*
 * Writes realistic synthetic ping measurements: a heavy tail of probe sizes, 57.7 % IPv4 probes,
 * 3.5 % failures, rtt with median 50 ms and 99th percentile 343 ms, in order of time. The bytes
 * depend on measurements, probes, seed and rows_per_file alone (Parquet: and on DuckDB's version).
 * out_path: "x.parquet" or "x.csv" makes that file; any other name a folder of part-00000.parquet
 * and so on. It appears whole or not at all. LEAT_ERR_EXISTS: something is there and `replace` is
 * not set, or it is nothing that this function made.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_synth_probes(const char *out_path,
                                                     const leat_synth_probes_options *options,
                                                     leat_synth_probes_result *result,
                                                     leat_error *err);

/* ---- synthetic vehicle logs --------------------------------------------------------------- */

typedef enum leat_synth_can_attack {
    LEAT_SYNTH_CAN_DOS = 1,       /* identifier 000 floods the bus */
    LEAT_SYNTH_CAN_FUZZING = 2,   /* random identifiers and payloads */
    LEAT_SYNTH_CAN_REPLAY = 4,    /* all that was on the bus a while ago, again */
    LEAT_SYNTH_CAN_SPOOF = 8,     /* one identifier with other values, at a higher rate */
    LEAT_SYNTH_CAN_SUPPRESS = 16, /* one identifier is left out */
    LEAT_SYNTH_CAN_ALL = 31,
} leat_synth_can_attack;

/* The name of attack 1 << index in files and folders, "dos", "fuzzing", ...; NULL behind the last.
 */
LEAT_API const char *leat_synth_can_attack_name(int index);

typedef struct leat_synth_can_options {
    int64_t vehicles; /* 1..1000 */
    int64_t frames;   /* at most 10^10; exactly so many are written, over all files */
    unsigned attacks; /* leat_synth_can_attack, one or more of them */
    uint64_t seed;
    int threads;  /* writers of files; the bytes do not depend on it */
    bool replace; /* replace a folder of ours */
    leat_progress_fn progress;
    void *progress_user;
} leat_synth_can_options;

/* No frames yet, one vehicle, all attacks, seed 0, all processors. */
LEAT_API leat_synth_can_options leat_synth_can_options_default(void);

typedef struct leat_synth_can_result {
    int64_t frames, attack_frames; /* attack_frames of them are labelled 1 */
    int64_t vehicles, held_out;    /* held_out of them are in no training folder */
    int64_t files, intervals;      /* of attack */
    int64_t bytes_written, memory_peak_bytes;
    double seconds;
} leat_synth_can_result;

/*
 * Writes the logs of synthetic vehicles as the folder out_dir, in the form and layout that `leat
 * ingest can` takes (docs/can.md): train_01_attack_free, train_02_with_attacks, test_01_<attack>,
 * ... with files of four columns, and attacks.csv, which says when each attack was. The bytes
 * depend on vehicles, frames, attacks and seed alone. The folder appears whole or not at all.
 * LEAT_ERR_EXISTS: it is there and `replace` is not set, or it holds what this function did not
 * make. LEAT_ERR_OPTION: a value out of its bounds, or too few frames for a hundred in each file.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_synth_can(const char *out_dir,
                                                  const leat_synth_can_options *options,
                                                  leat_synth_can_result *result, leat_error *err);

#ifdef __cplusplus
}
#endif
#endif
