/* Splits and shard ranges as pure arithmetic on src_id: see layout.h. */
#include "format/dataset/layout.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"

/* The stream number of the split's draws; any other use of the seed has another one. */
#define SPLIT_STREAM 1

const char *leat_split_name(leat_split split) {
    return split == LEAT_SPLIT_TRAIN ? "train" : "test";
}

leat_split leat_layout_hash_split(uint64_t seed, double train_ratio, int64_t src_id) {
    uint64_t bits = leat_random(seed, SPLIT_STREAM, (uint64_t)src_id);
    return leat_random_unit(bits) < train_ratio ? LEAT_SPLIT_TRAIN : LEAT_SPLIT_TEST;
}

int64_t leat_layout_ordered_count(double train_ratio, int64_t probes) {
    int64_t count = (int64_t)(train_ratio * (double)probes);
    return count < 0 ? 0 : count > probes ? probes : count;
}

int64_t leat_layout_shard_count(int64_t probes, int64_t probes_per_shard) {
    int64_t half = probes_per_shard / 2 + probes_per_shard % 2; /* halves round up */
    int64_t whole = probes / probes_per_shard;
    int64_t count = whole + (probes % probes_per_shard >= half ? 1 : 0);
    return count < 1 ? 1 : count;
}

int64_t leat_layout_fixed_shard_count(int64_t shards, double train_ratio, leat_split split) {
    if (split == LEAT_SPLIT_TRAIN || train_ratio <= 0) return shards;
    double count = round((double)shards * (1 - train_ratio) / train_ratio);
    return count < 1 ? 1 : count > LEAT_SHARDS_MAX ? LEAT_SHARDS_MAX : (int64_t)count;
}

int64_t leat_layout_shard_of(int64_t src_id, int64_t shard_count) {
    return (int64_t)(((unsigned __int128)src_id * (uint64_t)shard_count) >> LEAT_SRC_ID_BITS);
}

int64_t leat_layout_shard_begin(int64_t shard, int64_t shard_count) {
    unsigned __int128 scaled = (unsigned __int128)shard << LEAT_SRC_ID_BITS;
    return (int64_t)((scaled + (uint64_t)shard_count - 1) / (uint64_t)shard_count);
}

void leat_layout_shard_name(leat_split split, int64_t shard, char name[LEAT_SHARD_NAME_BYTES]) {
    snprintf(name, LEAT_SHARD_NAME_BYTES, "%s/%s_shard_%05lld" LEAT_SHARD_SUFFIX,
             leat_split_name(split), leat_split_name(split), (long long)shard);
}

leat_split leat_layout_split_of_path(const char *path) {
    const char *end = path + strlen(path);
    for (int part = 0; part < 2; part++) { /* the file's name, then its folder's */
        while (end > path && end[-1] == '/') end--;
        const char *name = end;
        while (name > path && name[-1] != '/') name--;
        for (int split = 0; split < LEAT_SPLITS; split++) {
            const char *word = leat_split_name((leat_split)split);
            if (strncmp(name, word, strlen(word)) == 0) return (leat_split)split;
        }
        end = name;
    }
    return LEAT_SPLIT_NONE;
}

int64_t leat_layout_shard_number(leat_split split, const char *name) {
    char expected[LEAT_SHARD_NAME_BYTES];
    const char *digits = strstr(name, "_shard_");
    long long number = digits == NULL ? -1 : strtoll(digits + 7, NULL, 10);
    if (number < 0 || number >= LEAT_SHARDS_MAX) return -1;
    leat_layout_shard_name(split, number, expected);
    return strcmp(expected, name) == 0 ? number : -1;
}
