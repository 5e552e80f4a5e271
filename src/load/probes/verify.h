/*
 * Verification, private part: what its files share.
 *
 *   verify.c         options, threads over shards, findings put in order
 *   verify_shard.c   one shard: bytes, structure, every record against index and rules
 *   verify_folder.c  what concerns the folder: manifest, rules, unexpected files, disjoint splits
 */
#ifndef LEAT_LOAD_PROBES_VERIFY_H
#define LEAT_LOAD_PROBES_VERIFY_H

#include "base/ticker.h"

#include "format/dataset/index.h"
#include "format/dataset/manifest.h"
#include "leat/load.h"
#include "load/findings.h"
#include "load/probes/reading.h"

/* The rules stated by the manifest's options; a data set written by leat follows them exactly. */
typedef struct leat_verify_rules {
    bool knows_split, ordered; /* by address order; else by the hash of src_id */
    uint64_t seed;
    double train_ratio;
    bool knows_rows;
    int64_t max_row_bytes; /* 0: one row a probe, up to the format's limit */
    bool dictionary_src;
    bool named; /* src_id is of the probe's name, and its measurements may have several sources */
    int64_t shard_count[LEAT_SPLITS];
    int64_t probes_per_shard, shards; /* 0: not stated */
} leat_verify_rules;

/* A shard, and what was found of it. */
typedef struct leat_verify_shard {
    char *path; /* owned */
    char *name; /* owned: as findings call it */
    leat_split split;
    int64_t number;                 /* in its split; only of data sets written by leat */
    const leat_shard_info *info;    /* NULL: a third-party file */
    const leat_verify_rules *rules; /* NULL: a third-party file */
    const leat_index *index;        /* NULL: missing or unreadable */
    int64_t index_shard;

    leat_reading_chunk largest; /* of a third-party file: its most expensive chunk */

    leat_findings findings;
    int64_t rows, measurements, file_bytes;
    int64_t *probes; /* src_id of each probe, as they come; the part's own */
    int64_t probe_count, probe_capacity;
    /* Least and greatest address text, for the ordered split; "" is an address too. */
    bool any_address;
    leat_probe_address least, greatest;
} leat_verify_shard;

typedef struct leat_verify_job {
    leat_verify_options options;
    leat_findings findings; /* of all, in order */
    leat_verify_shard *shards;
    int64_t shard_count, shard_capacity;
    leat_manifest manifest;
    leat_verify_rules rules;
    leat_index *index;
    bool ours;
    leat_findings folder; /* concerns the entire data set; comes last */
    int64_t bytes_total;
    leat_reading reading; /* of third-party files */
    leat_ticker ticker;
} leat_verify_job;

/* Checks one shard; problems go to shard->findings. Fails when it cannot look (memory) only. */
LEAT_MUST_CHECK leat_code leat_verify_one_shard(leat_verify_job *job, leat_verify_shard *shard,
                                                leat_error *err);

/* Finds the shards of `paths`, reads manifest and index, lists unexpected files. */
LEAT_MUST_CHECK leat_code leat_verify_find(leat_verify_job *job, const char *const *paths,
                                           int64_t path_count, leat_error *err);
/* After all shards: the number of shards, the split, both disjoint. */
LEAT_MUST_CHECK leat_code leat_verify_whole(leat_verify_job *job, leat_error *err);

/* -1, 0, 1: byte order of address texts, a prefix first. */
int leat_verify_compare_text(const leat_probe_address *a, const leat_probe_address *b);

#endif
