/*
 * The manifest of a data set (DIR/manifest.json): what determined its contents, and what it holds.
 * Only options and contents, in a fixed order, so that equal data sets have byte-identical
 * manifests. How it was made (time, machine, paths) is in DIR/run.json. Format: docs/dataset.md.
 */
#ifndef LEAT_FORMAT_DATASET_MANIFEST_H
#define LEAT_FORMAT_DATASET_MANIFEST_H

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/time.h"
#include "format/dataset/layout.h"

#define LEAT_RUN_NAME "run.json"
#define LEAT_RUN_BYTES_MAX (INT64_C(256) << 20)

#define LEAT_MANIFEST_OPTIONS_MAX 64
#define LEAT_MANIFEST_KEY_BYTES 32
#define LEAT_MANIFEST_TEXT_BYTES 256

/* What one shard holds; its file is leat_layout_shard_name(split, number). Times are 0 in a shard
 * without measurements. */
typedef struct leat_shard_info {
    leat_split split;
    int32_t number; /* in its split, from 0 */
    int64_t row_count;
    int64_t measurement_count;
    int64_t file_bytes;
    int64_t first_us, last_us;
    uint8_t file_sha256[32];
    /* Of the records, uncompressed, each preceded by its length as u64 little-endian. */
    uint8_t records_sha256[32];
} leat_shard_info;

typedef enum leat_value_type {
    LEAT_VALUE_TEXT,
    LEAT_VALUE_INT,
    LEAT_VALUE_REAL,
    LEAT_VALUE_BOOL
} leat_value_type;

typedef struct leat_manifest_option {
    char key[LEAT_MANIFEST_KEY_BYTES];
    leat_value_type type;
    int64_t integer; /* INT; BOOL: 0 or 1 */
    double real;     /* REAL; INT: the same number, since a whole real reads back as INT */
    char text[LEAT_MANIFEST_TEXT_BYTES];
} leat_manifest_option;

typedef struct leat_manifest_totals {
    int64_t shard_count, row_count, measurement_count, file_bytes;
    int64_t first_us, last_us; /* 0 without measurements */
} leat_manifest_totals;

/* {0} is the empty one. Fill options and shards with the functions below and set the index's facts;
 * totals and fingerprint are made by leat_manifest_seal. */
typedef struct leat_manifest {
    leat_manifest_option *options;
    int64_t option_count, option_capacity;
    leat_shard_info *shards; /* train 0, 1, ..., then test 0, 1, ... */
    int64_t shard_count, shard_capacity;
    int64_t index_bytes;
    uint8_t index_sha256[32]; /* of the index's page table */
    leat_manifest_totals total, split[LEAT_SPLITS];
    uint8_t fingerprint[32]; /* SHA-256 over the records_sha256 of all shards in order */
} leat_manifest;

void leat_manifest_free(leat_manifest *manifest);

/* Options are written in the order of the calls. A key is 1..31 of a-z, 0-9 and _; used twice it is
 * LEAT_ERR_OPTION, as is a text of more than 255 bytes. */
LEAT_MUST_CHECK leat_code leat_manifest_add_text(leat_manifest *manifest, const char *key,
                                                 const char *text, leat_error *err);
LEAT_MUST_CHECK leat_code leat_manifest_add_int(leat_manifest *manifest, const char *key,
                                                int64_t value, leat_error *err);
LEAT_MUST_CHECK leat_code leat_manifest_add_real(leat_manifest *manifest, const char *key,
                                                 double value, leat_error *err);
LEAT_MUST_CHECK leat_code leat_manifest_add_bool(leat_manifest *manifest, const char *key,
                                                 bool value, leat_error *err);
/* NULL if there is none. */
const leat_manifest_option *leat_manifest_find(const leat_manifest *manifest, const char *key);
/* The option "probe": the column of the inputs whose values the probes are, so that the
 * measurements of a row may have different sources. NULL: a probe is a source address. */
const char *leat_manifest_probe(const leat_manifest *manifest);

/* Appends a shard; they must come in order (train 0.., test 0..), else LEAT_ERR_INPUT. */
LEAT_MUST_CHECK leat_code leat_manifest_add_shard(leat_manifest *manifest,
                                                  const leat_shard_info *info, leat_error *err);
/* Computes totals and fingerprint; to be called after the last shard. LEAT_ERR_LIMIT on overflow.
 */
LEAT_MUST_CHECK leat_code leat_manifest_seal(leat_manifest *manifest, leat_error *err);

/* The bytes of the file, appended to *text. */
LEAT_MUST_CHECK leat_code leat_manifest_write(const leat_manifest *manifest, leat_buf *text,
                                              leat_error *err);
/* SHA-256 of those bytes. */
LEAT_MUST_CHECK leat_code leat_manifest_sha256(const leat_manifest *manifest, uint8_t digest[32],
                                               leat_error *err);
/* Seals, then writes DIR/manifest.json, complete or not at all. The text of many shards is never in
 * memory at once. */
LEAT_MUST_CHECK leat_code leat_manifest_save(leat_manifest *manifest, const char *dir,
                                             leat_error *err);

/* Reads the bytes of a manifest; every field is checked against its bounds and against the others
 * (totals, fingerprint, names). `what` names the document in messages. */
LEAT_MUST_CHECK leat_code leat_manifest_parse(const char *text, int64_t size_bytes,
                                              const char *what, leat_manifest *manifest,
                                              leat_error *err);
LEAT_MUST_CHECK leat_code leat_manifest_load(const char *dir, leat_manifest *manifest,
                                             leat_error *err);

#endif
