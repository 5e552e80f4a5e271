/*
 * What the commands `leat synth KIND` share: they read the options that all kinds have, show
 * progress, and end with a summary or one JSON document. A command has a table of options, a job
 * (a struct with the members `options` and `result` of its kind), and the four functions of a kind.
 */
#ifndef LEAT_CLI_SYNTH_SYNTH_H
#define LEAT_CLI_SYNTH_SYNTH_H

#include "command/cli.h"

/* Rows of all kinds; `words` is their help. */
#define LEAT_SYNTH_OPTION_SEED(words)                                                              \
    {                                                                                              \
        .own.name = "seed", .own.kind = LEAT_SETTING_INT, .own.value = "S", .own.max = INT64_MAX,  \
        .own.help = words, .preset = "0"                                                           \
    }
#define LEAT_SYNTH_OPTION_THREADS(words)                                                           \
    {                                                                                              \
        .own.name = "threads", .own.kind = LEAT_SETTING_INT, .own.min = 1, .own.max = 256,         \
        .own.usually = "one per processor", .own.help = words                                      \
    }
#define LEAT_SYNTH_OPTION_REPLACE                                                                  \
    {                                                                                              \
        .own.name = "replace", .own.kind = LEAT_SETTING_FLAG,                                      \
        .own.help = "replace the output of an earlier run"                                         \
    }

/* Where a job has what all jobs have. */
typedef struct leat_synth_common {
    uint64_t *seed;
    int *threads;
    bool *replace;
    leat_progress_fn *progress;
    void **progress_user;
    const char *things; /* what its rate counts, and how many there are */
    const int64_t *count;
    const int64_t *bytes_written, *memory_peak_bytes;
    const double *seconds;
} leat_synth_common;

/* Of a pointer to a job; `member` of its result is what the rate counts, and its name. */
#define LEAT_SYNTH_COMMON(job, member)                                                             \
    {                                                                                              \
        .seed = &(job)->options.seed, .threads = &(job)->options.threads,                          \
        .replace = &(job)->options.replace, .progress = &(job)->options.progress,                  \
        .progress_user = &(job)->options.progress_user, .things = #member,                         \
        .count = &(job)->result.member, .bytes_written = &(job)->result.bytes_written,             \
        .memory_peak_bytes = &(job)->result.memory_peak_bytes, .seconds = &(job)->result.seconds   \
    }

typedef struct leat_synth_kind {
    /* Reads the kind's own options; returns 0, or 2 after reporting wrong usage. */
    int (*read)(leat_cli *cli, void *job);
    leat_code (*make)(const char *out, void *job, leat_error *err);
    /* The summary, except for its last line, the rate. */
    void (*tell)(leat_cli *cli, const char *out, const void *job);
    /* The members of the JSON document between "out" and "bytes_written". */
    void (*members)(leat_json *json, const void *job);
} leat_synth_kind;

/* Runs the command; returns its exit status. The job's options are the defaults. */
int leat_synth_run(leat_cli *cli, const leat_synth_kind *kind, const leat_synth_common *common,
                   void *job);

#endif
