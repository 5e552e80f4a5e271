/*
 * leat/ingest.h: ingest of raw measurements, vehicle logs and images.
 */
#ifndef LEAT_INGEST_H
#define LEAT_INGEST_H

#include "leat/base.h"
#include "leat/format.h"
#include "leat/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Files in the given folders that are not read: by name not inputs, or beginning with "_", as
 * folders may. The first of them are named. Names that begin with "." are not counted. */
#define LEAT_INGEST_SKIPPED_NAMES 8
typedef struct leat_ingest_skipped {
    int64_t count;
    int name_count;
    char name[LEAT_INGEST_SKIPPED_NAMES][256]; /* paths; the beginning of a longer one is "..." */
} leat_ingest_skipped;

/* ---- probes: Parquet, CSV or RIPE Atlas NDJSON to ArrayRecord probe rows ------------------- */

typedef enum leat_split_rule {
    LEAT_SPLIT_HASH,    /* by a keyed hash of src_id: stable when data is added */
    LEAT_SPLIT_ORDERED, /* the first floor(train_ratio * probes) in byte order of the address */
} leat_split_rule;

typedef enum leat_duplicates {
    LEAT_DUPLICATES_KEEP, /* written as they are, and counted */
    LEAT_DUPLICATES_DROP, /* only the first of equal measurements is written */
} leat_duplicates;

/* When measurements are written to temporary files. */
typedef enum leat_spill_rule {
    LEAT_SPILL_AUTO,  /* when they do not fit in memory */
    LEAT_SPILL_ALWAYS /* always, so that a killed ingest can be resumed after its scan */
} leat_spill_rule;

/* In which spelling addresses are stored. */
typedef enum leat_address_rule {
    LEAT_ADDRESS_AUTO,     /* as written; IPv4-mapped ones (::ffff:192.0.2.1) as IPv4 */
    LEAT_ADDRESS_WRITTEN,  /* as written */
    LEAT_ADDRESS_CANONICAL /* RFC 5952; IPv4-mapped ones as IPv4 */
} leat_address_rule;

/* What a number in event_time counts, and rtt. AUTO: by the number's size, see docs/ingest.md. */
typedef enum leat_time_unit {
    LEAT_TIME_UNIT_AUTO,
    LEAT_TIME_UNIT_S,
    LEAT_TIME_UNIT_MS,
    LEAT_TIME_UNIT_US,
    LEAT_TIME_UNIT_NS,
    LEAT_TIME_UNIT_EXCEL /* days since 1899-12-30, as spreadsheets count them */
} leat_time_unit;
/* AUTO: the unit that the name of the column ends with (rtt_us, latencyMs, "rtt (s)"), or
 * milliseconds. */
typedef enum leat_rtt_unit {
    LEAT_RTT_UNIT_AUTO,
    LEAT_RTT_UNIT_US,
    LEAT_RTT_UNIT_S,
    LEAT_RTT_UNIT_MS,
    LEAT_RTT_UNIT_NS
} leat_rtt_unit;

typedef struct leat_probes_ingest_options {
    int64_t memory_bytes; /* limit on the peak resident set of the process */
    int threads;          /* 1..256; the output does not depend on it */
    uint64_t seed;        /* of the train/test hash */
    double train_ratio;   /* 0..1 */
    leat_split_rule split;
    int64_t max_row_bytes;    /* of a row's serialised measurements; 0: one row per probe */
    int64_t probes_per_shard; /* decides the number of shards if `shards` is 0 */
    int64_t shards;           /* number of training shards; 0: by probes_per_shard */
    leat_ar_options record;   /* compression; group_size must be 1 */
    bool dictionary_src;      /* store the source address once per row */
    bool zero_address;        /* keep rows whose address is empty, as 0.0.0.0 or :: */
    bool strict;              /* fail on the first rejected row */
    bool per_packet;          /* Atlas NDJSON: one measurement per packet */
    bool resume, replace; /* resume an interrupted ingest, or accept a complete one; replace a data
                             set written by leat, or an interrupted ingest */
    const char *column_event_time, *column_src_addr, *column_dst_addr; /* NULL: default */
    const char *column_ip_version, *column_rtt;
    const char *temp_dir; /* for spilled data, must exist; NULL: inside the output folder */
    leat_progress_fn progress;
    void *progress_user;
    bool verify; /* hash the inputs: the hashes are recorded in run.json, and compared before
                    `resume` uses the work of an earlier run; without it, only sizes and
                    modification times are compared */
    leat_duplicates duplicates; /* measurements that equal another one in all five columns */
    leat_time_unit event_time_unit;
    leat_rtt_unit rtt_unit;
    leat_address_rule address;
    const char *probe; /* the column (or member of JSON objects) whose values are the probes:
                          src_id, split and rows go by it, and each measurement keeps its own
                          source. NULL or "address": a probe is a source address */
    leat_spill_rule spill;
    const char *lost; /* "0,9999": up to 8 values of rtt, as written in the inputs (before units),
                         that stand for a lost ping; NULL or "": none */
} leat_probes_ingest_options;

/* 512 MiB, all processors, seed 0, ratio 0.9, hash split, 8 MiB rows, 1000 probes per shard, probes
 * by address. */
LEAT_API leat_probes_ingest_options leat_probes_ingest_options_default(void);
/* The options by name, except column names: "memory", "train-ratio", "compression", ... */
LEAT_API const leat_setting_table *leat_probes_ingest_options_table(void);

#define LEAT_REJECT_REASONS_MAX 16
#define LEAT_INGEST_WARNINGS_MAX 40

typedef struct leat_probes_ingest_result {
    int64_t files;
    leat_ingest_skipped skipped;
    int64_t rows_read;    /* records in the inputs, including rejected ones */
    int64_t measurements; /* written; rows_read = measurements + rejected + dropped; with per_packet
                             an Atlas object counts once per packet */
    int64_t rejected;     /* listed in rejected.csv */
    int reject_reasons;   /* number of entries in the two arrays below */
    const char *reject_reason[LEAT_REJECT_REASONS_MAX]; /* static texts */
    int64_t reject_count[LEAT_REJECT_REASONS_MAX];
    int64_t probes[2], rows[2], shards[2]; /* train, test */
    int64_t rows_split;                    /* rows after the first of their probe */
    int64_t probes_over_limit; /* probes split at 2 GiB - 64 KiB although max_row_bytes is 0 */
    int64_t bytes_written;     /* of all shards */
    int64_t bytes_spilled;     /* 0: the measurements fit in memory */
    int64_t memory_peak_bytes; /* VmHWM at the end */
    double seconds_scan;       /* until the last input row was partitioned */
    double seconds_written;    /* until the last byte was written */
    double seconds_total;      /* until everything was synced and published */
    bool was_complete;         /* an earlier run had completed it: nothing was done (resume) */
    bool resumed;              /* the scan of an interrupted run was used */
    int64_t shards_resumed;    /* shards that an interrupted run had completed */
    char warning[1024];        /* what could not be cleaned up, and what to do; "" */
    bool verified; /* complete or resumed results were checked against the contents of the inputs;
                      otherwise against their sizes and modification times */
    /* Measurements that equal an earlier one in all five columns; with per_packet, equal answers of
     * one result are not duplicates. -1: an earlier version, which did not count them, wrote it. */
    int64_t duplicates;
    int64_t duplicates_dropped; /* of those, not written */
    char rejected_warning[768]; /* more than half of the rows were rejected: why, what to do; "" */
    int64_t mapped; /* measurements with an IPv4-mapped address that is stored as IPv4 */
    leat_split_overlap overlap; /* of what was written; not known if shards were resumed */
    /* Doubts about what the inputs mean: what was understood, and what decides it. */
    int warning_count;
    char warnings[LEAT_INGEST_WARNINGS_MAX][512];
    leat_rtt_unit rtt_unit;  /* that rtts were read in, not AUTO */
    bool rtt_unit_from_name; /* because the name of the column states it */
} leat_probes_ingest_result;

/*
 * Reads all measurements of `paths` (files, shell patterns, folders) and writes the data set
 * out_dir (docs/dataset.md). The data set appears only when complete: manifest.json is written
 * last. The shards, index and manifest are a function of the set of measurements and the options.
 * Memory stays within options->memory_bytes; if that is not possible, the call fails with
 * LEAT_ERR_LIMIT and names the minimum. A failed run leaves no files. A run leaves out_dir/.leat
 * for `resume` if it is killed or cancelled, if it fails while resuming (unless the earlier work is
 * damaged), or if the finished data set could not be moved into place.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_probes_ingest(const char *const *paths, int64_t path_count,
                                                      const char *out_dir,
                                                      const leat_probes_ingest_options *options,
                                                      leat_probes_ingest_result *result,
                                                      leat_error *err);

/* ---- vehicle logs: formats of CAN frames (docs/can-formats.md) ------------------------------ */

/*
 * The formats and their names, which --format takes. New ones go at the end: the numbers are in the
 * saved state of a scan.
 *
 *   csv          a table of any columns, by a header or by `column`
 *   hcrl         HCRL Car-Hacking: time, identifier, DLC, bytes, R or T
 *   hcrl-text    "Timestamp: ... ID: ... DLC: ..."
 *   survival     HCRL Survival: bytes may be separated by blanks, R or T may be missing
 *   gvret        SavvyCAN's CSV
 *   candump      candump -l, also with label columns at the end
 *   crysys       CrySyS, TANGOCAN: time identifier 000 DLC bytes
 *   asc          Vector's ASC
 *   trc          PEAK's trace files
 *   vehicle-spy  Vehicle Spy's csv, with its preamble
 *   openxc       OpenXC's raw CAN messages, one JSON object a line
 */
#define LEAT_CAN_FORMAT_TABLE(X)                                                                   \
    X(LEAT_CAN_CSV, "csv")                                                                         \
    X(LEAT_CAN_HCRL, "hcrl")                                                                       \
    X(LEAT_CAN_HCRL_TEXT, "hcrl-text")                                                             \
    X(LEAT_CAN_SURVIVAL, "survival")                                                               \
    X(LEAT_CAN_GVRET, "gvret")                                                                     \
    X(LEAT_CAN_CANDUMP, "candump")                                                                 \
    X(LEAT_CAN_CRYSYS, "crysys")                                                                   \
    X(LEAT_CAN_ASC, "asc")                                                                         \
    X(LEAT_CAN_TRC, "trc")                                                                         \
    X(LEAT_CAN_VEHICLE_SPY, "vehicle-spy")                                                         \
    X(LEAT_CAN_OPENXC, "openxc")                                                                   \
    X(LEAT_CAN_BUSMASTER, "busmaster")                                                             \
    X(LEAT_CAN_CL2000, "cl2000")                                                                   \
    X(LEAT_CAN_CANKING, "canking")
#define LEAT_CAN_FORMAT_ENUM(format, name) format,
typedef enum leat_can_format {
    LEAT_CAN_AUTO, /* detected from the contents */
    LEAT_CAN_FORMAT_TABLE(LEAT_CAN_FORMAT_ENUM) LEAT_CAN_FORMATS
} leat_can_format;
#undef LEAT_CAN_FORMAT_ENUM

/* The number of the rules by which logs are read: the setting `reader` of a cache. Caches of
 * development versions have smaller ones, or none. */
#define LEAT_CAN_READER 7

/* "auto" or the name in the table; "" for any other number. */
LEAT_API const char *leat_can_format_name(leat_can_format format);

/* ---- can: vehicle logs to a cache of window graphs ------------------------------------------ */

/* The data sets whose training and test folders are known, which --dataset takes; and which of
 * their lists of tests they have. */
#define LEAT_CAN_DATASET_TABLE(X)                                                                  \
    X("hcrl_ch", ch)                                                                               \
    X("hcrl_sa", sa)                                                                               \
    X("set_01", set)                                                                               \
    X("set_02", set)                                                                               \
    X("set_03", set)                                                                               \
    X("set_04", set)

typedef enum leat_can_captures { LEAT_CAPTURES_SEPARATE, LEAT_CAPTURES_MERGED } leat_can_captures;
typedef enum leat_can_clock_steps {
    LEAT_CLOCK_STEPS_SPLIT,
    LEAT_CLOCK_STEPS_SORT
} leat_can_clock_steps;
/* What the times of a log are: readings of a clock, unless more than a quarter of them are earlier
 * than the one before; the same in any order; or gaps from one frame to the next. */
typedef enum leat_can_times { LEAT_TIMES_AUTO, LEAT_TIMES_CLOCK, LEAT_TIMES_GAP } leat_can_times;
typedef enum leat_can_payload { LEAT_PAYLOAD_STRICT, LEAT_PAYLOAD_LENIENT } leat_can_payload;
typedef enum leat_can_fd { LEAT_CAN_FD_CUT, LEAT_CAN_FD_REFUSE } leat_can_fd;
typedef enum leat_can_identifiers { LEAT_IDS_CANONICAL, LEAT_IDS_WRITTEN } leat_can_identifiers;
typedef enum leat_can_val_split { LEAT_VAL_BLOCKS, LEAT_VAL_RANDOM } leat_can_val_split;
typedef enum leat_can_attack_type { LEAT_ATTACK_FRAME, LEAT_ATTACK_FILE } leat_can_attack_type;
typedef enum leat_can_attack_codes { LEAT_CODES_LONG, LEAT_CODES_SHORT } leat_can_attack_codes;
/* Logs whose lines have no label: benign if their names say so, else unlabelled; or all of them
 * one or the other. */
typedef enum leat_can_unlabelled {
    LEAT_UNLABELLED_BY_NAME,
    LEAT_UNLABELLED_BENIGN,
    LEAT_UNLABELLED_UNKNOWN,
    LEAT_UNLABELLED_BENIGN_LINES
} leat_can_unlabelled;
/* Identifiers with a number of their own: those of training, of tests as well, or of the frames of
 * training that are not labelled as attacks. */
typedef enum leat_can_vocab { LEAT_VOCAB_TRAIN, LEAT_VOCAB_ALL, LEAT_VOCAB_BENIGN } leat_can_vocab;
typedef enum leat_can_scaler {
    LEAT_SCALER_Z_BENIGN,
    LEAT_SCALER_Z_ALL,
    LEAT_SCALER_ROBUST_BENIGN,
    LEAT_SCALER_NONE
} leat_can_scaler;
typedef enum leat_can_stored { LEAT_STORE_FEATURES, LEAT_STORE_FRAMES } leat_can_stored;

/* Everything that decides the contents of a cache, under the names used in its metadata
 * (leat_can_settings_table). */
typedef struct leat_can_settings {
    leat_can_format format;
    int64_t window, stride; /* frames */
    leat_can_captures captures;
    leat_can_clock_steps clock_steps; /* what a step back of more than 1 s in a log does */
    double pause_s; /* of LEAT_CLOCK_STEPS_SPLIT: a longer time without a frame begins a new capture
                       as well; 0: none does */
    int64_t bus;    /* LEAT_BUS_SEPARATE, LEAT_BUS_MERGE, or the only bus to read */
    leat_can_payload payload;
    leat_can_fd fd;
    leat_can_identifiers identifiers;
    leat_can_val_split val_split;
    double val_fraction; /* 0 <= val_fraction < 1 */
    leat_edge_step edge_step;
    leat_self_loops self_loops;
    leat_can_attack_type attack_type;
    leat_can_attack_codes attack_codes;
    leat_can_unlabelled unlabelled;
    leat_can_vocab vocab;
    leat_can_scaler scaler;
    leat_can_stored store;
    uint64_t seed;      /* of the choice of validation windows */
    const char *column; /* "time=NAME,id=NAME:dec,...": all logs are csv with these columns; NULL:
                           formats are detected, and columns by their usual names */
    int64_t no_time;    /* frames per second of csv without a time; 0: they are refused */
    leat_can_times times;
    bool allow_overlap; /* random validation windows may share frames with training windows, which
                           is refused otherwise: where stride < window */
} leat_can_settings;

/* The settings by name, as on the command line and in the cache: "window", "val-split", ... */
LEAT_API const leat_setting_table *leat_can_settings_table(void);
/* "default", or "reference": the behaviour of graphids (docs/README.md), including its quirks. */
LEAT_API LEAT_MUST_CHECK leat_code leat_can_settings_preset(leat_can_settings *settings,
                                                            const char *name, leat_error *err);

/* A step back of a log's clock that begins a new capture. */
#define LEAT_CAN_CLOCK_STEPS_NAMED 8
typedef struct leat_can_clock_step {
    char file[256]; /* its path; the beginning of a longer one is "..." */
    int64_t
        frame; /* the first one after the step, from 1 in the file; rejected lines not counted */
    double seconds;
} leat_can_clock_step;

typedef struct leat_can_ingest_options {
    leat_can_settings settings;
    const char *dataset; /* a catalog name that selects the folders of each split; may be NULL */
    const char *const *train; /* patterns of folders or files; both empty: see docs/can.md */
    const char *const *test;
    int64_t train_count, test_count;
    int64_t memory_bytes; /* limit on the peak resident set of the process */
    int threads;          /* 1..256; the output does not depend on it */
    double max_rejected;  /* share of a file's lines, 0 to 1, that may be rejected in any case */
    bool resume;          /* continue an interrupted ingest after its scan */
    bool replace;         /* rebuild an existing cache; other files in its folder are kept */
    bool verify;          /* hash the inputs and the pages of the cache before an existing cache is
                             reused; without it, only sizes and the JSON are checked */
    const char *temp_dir; /* must exist; gets a folder for spilled frames; NULL: in cache_dir */
    /* An existing cache whose vocabulary and scaler the new one gets; NULL: its own. Settings that
     * decide identifiers and features must be the same: window, bus (merged or not), identifiers,
     * edge_step, self_loops, vocab, scaler. */
    const char *like;
    leat_progress_fn progress;
    void *progress_user;
} leat_can_ingest_options;

/* The preset "default", 512 MiB, all processors. */
LEAT_API leat_can_ingest_options leat_can_ingest_options_default(void);
/* The options by name, except `settings` (leat_can_settings_table) and patterns: "dataset",
 * "memory", "threads", ... */
LEAT_API const leat_setting_table *leat_can_ingest_options_table(void);

#define LEAT_CAN_SPLITS_MAX 256

/* A log that metadata labels by an interval. */
#define LEAT_CAN_INTERVALS_NAMED 8
typedef struct leat_can_injected_log {
    char file[256]; /* the beginning of a longer path is "..." */
    int64_t frames, attacks;
} leat_can_injected_log;

/* For a cache that was found, the fields come from its metadata: those that describe work done are
 * 0, and those that are not recorded are -1. */
typedef struct leat_can_ingest_result {
    char cache[4096]; /* the cache's folder, inside cache_dir */
    char digest[65];  /* of everything that decides its contents */
    bool found;       /* it already existed: nothing was written */
    bool resumed;     /* the scan of an interrupted run was used */
    int64_t files;
    /* Logs with frames, but without labels: those that count as benign, by their names or by the
     * setting; the others. -1 if `found`. */
    int64_t files_benign, files_unlabelled;
    /* Logs whose labels are from a capture_metadata.json beside them, and their frames that it
     * marks as attacks; -1 if `found`. The first logs with an interval, by file. */
    int64_t files_described, frames_injected;
    int64_t interval_count; /* logs with an interval */
    leat_can_injected_log interval[LEAT_CAN_INTERVALS_NAMED];
    leat_ingest_skipped skipped;
    int64_t lines_read, rejected; /* -1 if `found` */
    int64_t frames;               /* -1 if `found` and with --bus N */
    /* Distinct identifiers, and those with a number > 0; with options.like also those that only
     * that cache has. */
    int64_t captures, identifiers, vocabulary;
    char like[65]; /* the digest of options.like; "" */
    /* The outcome of each frame; the sum is `frames`. */
    int64_t frames_windowed, frames_between, frames_tail, frames_dropped;
    int64_t frames_cut;      /* CAN-FD frames of which only the first 8 bytes are kept */
    int64_t frames_left_out; /* on buses other than --bus N; -1 if `found` and with --bus N */
    /* Frames earlier than the frame before them in their capture, or, with merged buses, in their
     * log; captures are sorted by time. -1 if `found`. */
    int64_t frames_stepped_back;
    int64_t pauses; /* that begin a new capture (leat_can_settings.pause_s); -1 if `found` */
    int pause_count;
    leat_can_clock_step pause[LEAT_CAN_CLOCK_STEPS_NAMED]; /* the first ones, by file */
    int64_t clock_steps; /* steps back that begin a new capture; -1 if `found` */
    int clock_step_count;
    leat_can_clock_step clock_step[LEAT_CAN_CLOCK_STEPS_NAMED]; /* the first ones, by file */
    int64_t windows_dropped; /* windows that cross a boundary between training and validation, and
                                those next to them */
    int split_count;         /* train, val, then tests */
    char split_name[LEAT_CAN_SPLITS_MAX][128];
    int64_t split_graphs[LEAT_CAN_SPLITS_MAX];
    int64_t split_attacks[LEAT_CAN_SPLITS_MAX];    /* graphs with an attack */
    int64_t split_unlabelled[LEAT_CAN_SPLITS_MAX]; /* graphs with y = -1 */
    char scaler[32];       /* the setting, or what it became: see docs/can.md */
    bool scaler_changed;   /* no training window is benign, here or in the cache of `like` */
    char warning[4096];    /* what the user should know: a suspect cache, leftover files; "" */
    int64_t bytes_written; /* of all splits */
    int64_t bytes_spilled; /* to temporary files; includes the scan of a resumed run */
    int64_t memory_peak_bytes;
    double seconds_scan, seconds_written, seconds_total;
    bool verified; /* found or resumed results were checked against the contents of the inputs;
                      otherwise against their sizes and modification times */
} leat_can_ingest_result;

/*
 * Reads the vehicle logs of `paths` (files, shell patterns, folders) and writes the cache of their
 * window graphs: a folder in `cache_dir` whose name contains a digest of the inputs and settings,
 * and which appears only when complete. If it already exists, no log is read. Its bytes are a
 * function of the inputs and settings. LEAT_ERR_CORRUPT: the cache exists but is damaged; `replace`
 * rebuilds it. LEAT_ERR_BUSY: another process is building it. A failed run leaves no files. A run
 * leaves its scan for `resume` if it is killed or cancelled after the scan, or if it fails while
 * resuming, unless the earlier work is damaged. `resume` starts over if that work is damaged or
 * missing.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_can_ingest(const char *const *paths, int64_t path_count,
                                                   const char *cache_dir,
                                                   const leat_can_ingest_options *options,
                                                   leat_can_ingest_result *result, leat_error *err);

/* ---- frames one by one: a log that may still grow -------------------------------------------- */

/* How many of its first lines decide how a log is read: as many as an ingest asks. */
#define LEAT_CAN_SAMPLE_LINES 256

typedef struct leat_can_frames_options {
    /* How lines are read: format, column, payload, fd, identifiers, no_time, times, unlabelled and
     * attack_codes; the other settings do not matter. */
    leat_can_settings settings;
    /* 1..LEAT_CAN_SAMPLE_LINES: the first frame is returned when that many lines that are not blank
     * have arrived, or the input has ended. Fewer are enough where the format is given, but then
     * what the lines after them have, such as labels, may not be noticed. */
    int32_t sample_lines;
    /* Asked between reads, and a few times a second while nothing arrives: true stops the reader
     * with LEAT_ERR_CANCELLED, after the frames of all lines that have arrived; it may ask
     * leat_can_frames_count. NULL: it waits without end. */
    bool (*cancelled)(void *user);
    void *cancelled_user;
} leat_can_frames_options;

/* The preset "default", LEAT_CAN_SAMPLE_LINES. */
LEAT_API leat_can_frames_options leat_can_frames_options_default(void);

typedef struct leat_can_frames_counts {
    int64_t lines; /* that are neither blank nor a header: frames + rejected */
    int64_t frames, frames_cut;
    int64_t rejected;
    int reject_reasons;                                 /* entries in the two arrays below */
    const char *reject_reason[LEAT_REJECT_REASONS_MAX]; /* static texts */
    int64_t reject_count[LEAT_REJECT_REASONS_MAX];
    int64_t first_rejected; /* number of that line; 0: none */
    char first_reason[32];  /* of that line; "" */
    char first_text[64];    /* how that line begins, printable */
    leat_can_format format; /* LEAT_CAN_AUTO: not detected yet */
} leat_can_frames_counts;

/*
 * Frames of one log in its order, by the parsers of leat_can_ingest: the same frames that an ingest
 * of the complete log takes. What can only be known from all of a log is decided by the lines so
 * far: that times are gaps, by the first LEAT_CAN_SAMPLE_LINES frames; that fractions of a second
 * lack their leading zeros, by three steps back; a time of exactly 0, by the next other one within
 * 256 KiB. Frames are neither sorted nor left out by bus.
 *
 * A frame is returned as soon as its line is complete, so the log may be a pipe or a terminal.
 * Lines that are not frames are counted by reason; longer ones than 1 MiB, of which nothing is
 * kept, as malformed lines. About 2 MiB of memory, whatever the log contains. A reader is used by
 * one thread at a time.
 */
typedef struct leat_can_frame_reader leat_can_frame_reader;

/* A file, also one packed by gzip, bzip2, xz or zstd, or a named pipe. */
LEAT_API LEAT_MUST_CHECK leat_code leat_can_frames_open(leat_can_frame_reader **out,
                                                        const char *path,
                                                        const leat_can_frames_options *options,
                                                        leat_error *err);
/* An open file descriptor, such as standard input, which stays the caller's, of text that is not
 * packed; `name` is for messages. */
LEAT_API LEAT_MUST_CHECK leat_code leat_can_frames_open_fd(leat_can_frame_reader **out, int fd,
                                                           const char *name,
                                                           const leat_can_frames_options *options,
                                                           leat_error *err);
/* Text from a function: up to size_bytes at once, *got of them, at least one; 0 at the end. */
typedef struct leat_can_frames_source {
    leat_code (*read)(void *user, void *bytes, int64_t size_bytes, int64_t *got, leat_error *err);
    void *user;
} leat_can_frames_source;
LEAT_API LEAT_MUST_CHECK leat_code leat_can_frames_open_source(
    leat_can_frame_reader **out, const leat_can_frames_source *source, const char *name,
    const leat_can_frames_options *options, leat_error *err);

/*
 * The next frame; *found is false at the end. LEAT_ERR_INPUT: the text is of no known format, or
 * not of the one that is wanted; it is packed; its lines end with CR only; its times seem to be
 * gaps, or to lack zeros; or it has a second header with other columns. After a failure it fails in
 * the same way.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_can_frames_next(leat_can_frame_reader *reader,
                                                        leat_can_frame *frame, bool *found,
                                                        leat_error *err);
LEAT_API void leat_can_frames_count(const leat_can_frame_reader *reader,
                                    leat_can_frames_counts *counts);
LEAT_API void leat_can_frames_close(leat_can_frame_reader *reader);

/* ---- images: JPEG and PNG to an image data set ---------------------------------------------- */

/* Transparent pixels keep the colour that is stored. */
#define LEAT_IMAGES_DROP_ALPHA (-1)

typedef struct leat_images_ingest_options {
    int32_t size;                  /* of the images in the data set, 8..1024 pixels a side */
    int32_t background;            /* 0xrrggbb that transparent pixels are blended with;
                                      LEAT_IMAGES_DROP_ALPHA */
    const char *include, *exclude; /* shell patterns of files to read, and not to; NULL: none. One
                                      without "/" is compared with each part of a name */
    double max_rejected;           /* 0..1; a larger share of rejected files fails the run */
    int64_t memory_bytes;          /* limit on the peak resident set of the process */
    int threads;                   /* 1..256; the output does not depend on it */
    bool strict;                   /* fail on the first rejected file, by name */
    bool resume, replace;          /* as in leat_probes_ingest_options */
    leat_progress_fn progress;
    void *progress_user;
} leat_images_ingest_options;

/* 64 pixels, alpha dropped, at most half of the files rejected, 512 MiB, all processors. */
LEAT_API leat_images_ingest_options leat_images_ingest_options_default(void);
/* The options by name: "size", "memory", "threads", ... */
LEAT_API const leat_setting_table *leat_images_ingest_options_table(void);

/* Images in a folder of the input, with its folders. */
typedef struct leat_images_folder {
    char name[256]; /* escaped, and cut if it is longer; "": beside the folders */
    int64_t images;
} leat_images_folder;
#define LEAT_IMAGES_FOLDERS 32

typedef struct leat_images_ingest_result {
    int64_t files;               /* images + rejected */
    leat_ingest_skipped skipped; /* hidden names, __MACOSX, Thumbs.db and texts, not read */
    int64_t excluded;            /* by include and exclude, not read */
    int64_t images;              /* in the data set */
    int64_t rejected;            /* listed in rejected.csv */
    int64_t rejected_by[LEAT_IMAGE_REASONS];
    int64_t remarks[LEAT_IMAGE_REMARKS]; /* images with each; zeros if was_complete */
    int64_t duplicates;     /* images with the same pixels, at full size, as one before them */
    char duplicate[2][256]; /* the first pair of equal images */
    int64_t folder_count;   /* of all; the first by name are in `folders` */
    leat_images_folder folders[LEAT_IMAGES_FOLDERS];
    int64_t resumed;       /* files that an interrupted run had read; all of them if was_complete */
    bool was_complete;     /* an earlier run had completed it: nothing was done (resume) */
    int64_t bytes_read;    /* of the files that this run has read, compressed */
    int64_t pixels_read;   /* of the images that this run has decoded, at full size */
    int64_t bytes_written; /* of images.safetensors */
    int64_t memory_peak_bytes; /* VmHWM at the end */
    double seconds_total;      /* until everything was synced and published */
    char fingerprint[65];      /* SHA-256 of all pixels */
    char warning[1024];        /* what could not be cleaned up, and what to do; "" */
} leat_images_ingest_result;

/*
 * Reads the images of `path`, a folder (with its folders) or a zip archive, which is not unpacked,
 * and writes the data set out_dir (docs/images.md). Images are in the order of their names. A file
 * that is not a usable JPEG or PNG (or WebP, if leat was built with libwebp) is rejected:
 * rejected.csv has its name and the reason. The data set is a function of the names and contents of
 * the files, of `size` and `background`, and of the pixels that the libraries decode; images.json
 * has a hash of those.
 *
 * Memory stays within options->memory_bytes; if that is not possible, the call fails with
 * LEAT_ERR_LIMIT and names the minimum. LEAT_ERR_INPUT: there is no image, more files are rejected
 * than options->max_rejected, or a file changed while it was read. LEAT_ERR_UNSUPPORTED names the
 * library that is missing. A failed run leaves no files, except that a run that is killed or
 * cancelled, or that fails for an image which requires more memory or for max_rejected, leaves
 * out_dir/.leat for `resume`.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_images_ingest(const char *path, const char *out_dir,
                                                      const leat_images_ingest_options *options,
                                                      leat_images_ingest_result *result,
                                                      leat_error *err);

#ifdef __cplusplus
}
#endif
#endif
