/*
 * leat/synth.h: synthetic data: measurements, vehicle logs and images of any size, from a seed.
 */
#ifndef LEAT_SYNTH_H
#define LEAT_SYNTH_H

#include "leat/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- synthetic measurements --------------------------------------------------------------- */

typedef struct leat_synth_probes_options {
    int64_t measurements; /* 1..10^10, the exact number to write */
    int64_t probes;       /* 1..measurements, the exact number; 0: one per 235 measurements */
    uint64_t seed;
    int threads;           /* write the files of a folder; the bytes do not depend on it */
    int64_t memory_bytes;  /* limit on the resident set; fewer threads are used to stay within it */
    int64_t rows_per_file; /* of a folder */
    bool replace;          /* replace an existing output: a file, or a folder written by leat */
    leat_progress_fn progress;
    void *progress_user;
} leat_synth_probes_options;

/* No measurements yet, seed 0, all processors, 512 MiB, 10,000,000 rows per file. */
LEAT_API leat_synth_probes_options leat_synth_probes_options_default(void);

typedef struct leat_synth_probes_result {
    int64_t measurements, probes, largest_probe; /* measurements of the largest probe */
    int64_t files, bytes_written;
    int64_t memory_peak_bytes;
    double seconds;
} leat_synth_probes_result;

/*
 * Writes realistic synthetic ping measurements in order of time: a heavy tail of probe sizes, 57.7
 * % IPv4 probes, 3.5 % failures, rtt with median 50 ms and 99th percentile 343 ms. The bytes are a
 * function of measurements, probes, seed and rows_per_file (for Parquet, also of DuckDB's version).
 * out_path: "x.parquet" or "x.csv" is written as one file; any other name as a folder of
 * part-00000.parquet and so on. The output appears only when complete. LEAT_ERR_EXISTS: it exists
 * and `replace` is not set, or it was not written by this function.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_synth_probes(const char *out_path,
                                                     const leat_synth_probes_options *options,
                                                     leat_synth_probes_result *result,
                                                     leat_error *err);

/* ---- synthetic vehicle logs --------------------------------------------------------------- */

typedef enum leat_synth_can_attack {
    LEAT_SYNTH_CAN_DOS = 1,       /* identifier 000 floods the bus */
    LEAT_SYNTH_CAN_FUZZING = 2,   /* random identifiers and payloads */
    LEAT_SYNTH_CAN_REPLAY = 4,    /* a replay of earlier traffic */
    LEAT_SYNTH_CAN_SPOOF = 8,     /* one identifier with altered values, at a higher rate */
    LEAT_SYNTH_CAN_SUPPRESS = 16, /* one identifier is missing */
    LEAT_SYNTH_CAN_ALL = 31,
} leat_synth_can_attack;

/* The name of attack 1 << index in files and folders, "dos", "fuzzing", ...; NULL after the last.
 */
LEAT_API const char *leat_synth_can_attack_name(int index);

typedef struct leat_synth_can_options {
    int64_t vehicles; /* 1..1000 */
    int64_t frames;   /* at most 10^10, the exact number over all files */
    unsigned attacks; /* one or more of leat_synth_can_attack */
    uint64_t seed;
    int threads;  /* write the files; the bytes do not depend on it */
    bool replace; /* replace a folder written by leat */
    leat_progress_fn progress;
    void *progress_user;
} leat_synth_can_options;

/* No frames yet, one vehicle, all attacks, seed 0, all processors. */
LEAT_API leat_synth_can_options leat_synth_can_options_default(void);

typedef struct leat_synth_can_result {
    int64_t frames, attack_frames; /* attack_frames of them are labelled 1 */
    int64_t vehicles, held_out;    /* held_out of them appear in no training folder */
    int64_t files, intervals;      /* attack intervals */
    int64_t bytes_written, memory_peak_bytes;
    double seconds;
} leat_synth_can_result;

/*
 * Writes the logs of synthetic vehicles to the folder out_dir, in the format and layout that `leat
 * ingest can` reads (docs/can-synth.md): train_01_attack_free, train_02_with_attacks,
 * test_01_<attack>, ... with files of four columns, and attacks.csv, which lists the time of each
 * attack. The bytes are a function of vehicles, frames, attacks and seed. The folder appears only
 * when complete.
 * LEAT_ERR_EXISTS: it exists and `replace` is not set, or it was not written by this function.
 * LEAT_ERR_OPTION: a value is out of range, or there are fewer than a hundred frames per file.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_synth_can(const char *out_dir,
                                                  const leat_synth_can_options *options,
                                                  leat_synth_can_result *result, leat_error *err);

/* ---- synthetic images --------------------------------------------------------------------- */

#define LEAT_SYNTH_IMAGES_MAX INT64_C(1000000000)

typedef struct leat_synth_images_options {
    int64_t count; /* 1..LEAT_SYNTH_IMAGES_MAX */
    uint64_t seed;
    int threads;  /* draw the images; the bytes do not depend on it */
    bool replace; /* replace an archive, or a folder written by leat */
    leat_progress_fn progress;
    void *progress_user;
} leat_synth_images_options;

/* No count yet, seed 0, all processors. */
LEAT_API leat_synth_images_options leat_synth_images_options_default(void);

typedef struct leat_synth_images_result {
    int64_t images, bytes_written, memory_peak_bytes;
    double seconds;
} leat_synth_images_result;

/*
 * Writes portraits that look like faces, JPEG files of 178 x 218 pixels named 000001.jpg and so on,
 * to the folder out_path, or into one zip archive if it ends with ".zip". Image i is a function of
 * the seed and i; the bytes also depend on the version of libjpeg-turbo. The output appears only
 * when complete. LEAT_ERR_EXISTS: it exists and `replace` is not set, or is a folder that was not
 * written by this function; LEAT_ERR_UNSUPPORTED: leat was built without libjpeg-turbo.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_synth_images(const char *out_path,
                                                     const leat_synth_images_options *options,
                                                     leat_synth_images_result *result,
                                                     leat_error *err);

#ifdef __cplusplus
}
#endif
#endif
