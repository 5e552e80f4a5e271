/*
 * The blocks of the windowed order (batch/tokens/windows.h): which rows of the split are read
 * together, and what the windows made from them take.
 *
 * Rows are put into blocks in their order, by the bytes of their records alone, so that the order
 * depends neither on compression nor on how rows are spread over shards. A row larger than a block
 * is one by itself. Block size and the number of blocks in a window follow from the bytes of the
 * split, --order windowed:SIZE and the batch size: a lane's share of SIZE is a window of at least
 * WINDOW_BLOCKS_MIN blocks, and a lane has at least LANE_BLOCKS_MIN of them, as far as blocks of
 * 64 KiB can do that.
 */
#ifndef LEAT_LOAD_PROBES_BLOCKS_H
#define LEAT_LOAD_PROBES_BLOCKS_H

#include "batch/tokens/windows.h"
#include "leat/load.h"
#include "load/probes/loaded.h"

struct leat_loader_plan;

typedef struct leat_blocks {
    leat_windows windows; /* `first`: anchors before each block */
    int64_t *first_row;   /* [count + 1] of the split */
    int64_t *first_anchor;
    int64_t *bytes;          /* [count] in memory: leat_loaded_bytes */
    int64_t chunk_bytes_max; /* besides, while a part of a block is read */
    int64_t count;
    int64_t block_bytes; /* wanted, of records */
    int64_t host_bytes;  /* that windows for all rows of the host take in memory */
    int64_t split_bytes; /* of all blocks, each page once: that mapped windows take at most; 0:
                            compressed */
} leat_blocks;

/* For a plan whose rows and anchors are known. */
LEAT_MUST_CHECK leat_code leat_blocks_create(leat_blocks **out, const struct leat_loader_plan *plan,
                                             leat_error *err);
void leat_blocks_destroy(leat_blocks *blocks);
/* Of the tables, and of the orders of two epochs. */
int64_t leat_blocks_table_bytes(const leat_blocks *blocks);
/* The rows of a block, as parts that are not read yet. */
LEAT_MUST_CHECK leat_code leat_blocks_parts(const leat_blocks *blocks,
                                            const struct leat_loader_plan *plan, int64_t block,
                                            leat_loaded *loaded, leat_error *err);

/* The orders of the two epochs that were asked for last; {0}: none. Not shared by threads. */
typedef struct leat_block_orders {
    leat_window_epoch epochs[2];
} leat_block_orders;

/* The window and place (leat_window_find) of a sequence of the run. */
LEAT_MUST_CHECK leat_code leat_blocks_window(const leat_blocks *blocks, leat_block_orders *orders,
                                             int64_t sequence, leat_window *window, int64_t *place,
                                             leat_error *err);
void leat_block_orders_free(leat_block_orders *orders);

#endif
