/*
 * Small CAN caches for tests, written with the library's own pieces; frames are a function of
 * (split, graph, frame), so that a test knows what must come out.
 */
#ifndef TESTS_LOAD_MAKE_GRAPHS_H
#define TESTS_LOAD_MAKE_GRAPHS_H

#include "format/can_cache/can_cache.h"
#include "leat/load_can.h"

enum { MAKE_IDS = 40, MAKE_VOCAB = 30 }; /* identifiers; those with a number */

/* A split in memory: the tensors of its file, and more. */
typedef struct made_graphs {
    int64_t window, graphs, nodes, edges;
    int64_t *node_ptr, *edge_ptr, *window_start;
    int32_t *capture, *y, *attack_type, *attack_first, *attack_count;
    float *x, *edge_attr;
    int32_t *edge_index, *node_id; /* edge_index: [2, edges] */
    double *frame_time;
    uint32_t *frame_id;
    int16_t (*frame_bytes)[LEAT_CAN_BYTES];
} made_graphs;

typedef struct make_cache {
    int64_t graphs[3], window; /* of train, val, and test_01; 0: there is no test */
    bool frames, own_step, no_loops;
    bool unlabelled; /* a fifth of the graphs are unlabelled */
    /* What the cache says holds, as in one that was ingested: order, windows, captures, counts. The
     * numbers of graphs are even then. */
    bool whole;
    /* Before they are written; NULL: as they are. */
    void (*change)(made_graphs *train);
    void (*change_test)(made_graphs *test);
    void (*change_meta)(leat_can_meta *meta);
    /* Instead of what make_graphs makes: both splits, with a scaler and so many identifiers, all
     * of them known. */
    const made_graphs *given;
    leat_can_scaler_values scaler;
    int64_t ids;
} make_cache;
/* 60 graphs of 20 frames, and 12 to validate. */
make_cache make_cache_default(void);

/* The graphs of a split, 0 train, 1 val, 2 test_01: windows of 2 to MAKE_IDS nodes, more and more.
 */
made_graphs make_graphs(int split, const make_cache *of_cache);
void made_graphs_free(made_graphs *made);
/* Writes a cache to a folder, which is made. */
leat_code make_can_cache(const char *dir, const make_cache *options, leat_error *err);
/* Writes the page hashes of a split's file, and gives the hash of those. */
leat_code make_pages(const char *dir, const char *split, const uint8_t *bytes, int64_t size,
                     uint64_t *hash, leat_error *err);
/* The scaler of every cache that is made. */
leat_can_scaler_values make_scaler(void);

#endif
