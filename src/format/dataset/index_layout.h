/*
 * The layout of DIR/index.bin (docs/dataset.md), for its writer and its reader.
 *
 *   head | for each shard: its rows, its page hashes | shard table | tail | page table
 *
 * What comes before the page table is the body. Everything is a multiple of 8 bytes long, so all
 * fields are aligned. The page table has the hash of each 4 KiB page of the body.
 */
#ifndef LEAT_FORMAT_DATASET_INDEX_LAYOUT_H
#define LEAT_FORMAT_DATASET_INDEX_LAYOUT_H

#include <stdint.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the index is read and written in place: little-endian machines only"
#endif

#define LEAT_INDEX_VERSION 1
#define LEAT_INDEX_HEAD_MAGIC "leatidx" /* and its NUL */
#define LEAT_INDEX_TAIL_MAGIC "leatend"

typedef struct leat_index_head {
    char magic[8];
    uint32_t version, zero;
} leat_index_head;

typedef struct leat_index_shard_entry {
    int64_t row_count, page_count, file_bytes, measurement_count;
    int64_t first_us, last_us;
    uint32_t split, number;
} leat_index_shard_entry;

typedef struct leat_index_tail {
    char magic[8];
    int64_t shard_count, row_count;
    int64_t shards_offset; /* of the shard table */
} leat_index_tail;

_Static_assert(sizeof(leat_index_head) == 16, "");
_Static_assert(sizeof(leat_index_shard_entry) == 56, "");
_Static_assert(sizeof(leat_index_tail) == 32, "");

#endif
