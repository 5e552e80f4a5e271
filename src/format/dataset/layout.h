/*
 * Which split and which shard a probe belongs to: rules that the ingest applies and that
 * `leat inspect --verify` checks again.
 */
#ifndef LEAT_FORMAT_DATASET_LAYOUT_H
#define LEAT_FORMAT_DATASET_LAYOUT_H

#include "format/output.h"
#include "leat/format.h"

/* Source ids have 60 bits. */
#define LEAT_SRC_ID_BITS 60
#define LEAT_SRC_ID_END (INT64_C(1) << LEAT_SRC_ID_BITS)

/* "train" or "test". */
const char *leat_split_name(leat_split split);

/* The hash split: train if a keyed hash of src_id is below train_ratio. */
leat_split leat_layout_hash_split(uint64_t seed, double train_ratio, int64_t src_id);
/* The ordered split: how many probes, in byte order of their address, are train. */
int64_t leat_layout_ordered_count(double train_ratio, int64_t probes);

/* S = max(1, round(probes / probes_per_shard)). */
int64_t leat_layout_shard_count(int64_t probes, int64_t probes_per_shard);
/* With --shards N: N for train, max(1, round(N (1 - r) / r)) for test (N too where r is 0). */
int64_t leat_layout_fixed_shard_count(int64_t shards, double train_ratio, leat_split split);
/* floor(src_id * S / 2^60). */
int64_t leat_layout_shard_of(int64_t src_id, int64_t shard_count);
/* The least src_id of a shard; leat_layout_shard_begin(S, S) is LEAT_SRC_ID_END. */
int64_t leat_layout_shard_begin(int64_t shard, int64_t shard_count);
#define LEAT_SHARDS_MAX 1000000

#define LEAT_SHARD_SUFFIX ".arrayrecord"
/* "train/train_shard_00003.arrayrecord" into name. */
#define LEAT_SHARD_NAME_BYTES 64
void leat_layout_shard_name(leat_split split, int64_t shard, char name[LEAT_SHARD_NAME_BYTES]);
/* The number of the shard with that name in that split; -1 if no shard of it is named so. */
int64_t leat_layout_shard_number(leat_split split, const char *name);

/* The split of a third-party file: the name of the file decides if it begins with "train" or
 * "test", else that of its folder; LEAT_SPLIT_NONE if neither does. */
leat_split leat_layout_split_of_path(const char *path);

#endif
