/* A CAN cache opened for reading, private part: its metadata, and the splits touched so far. */
#ifndef LEAT_LOAD_GRAPH_CACHE_H
#define LEAT_LOAD_GRAPH_CACHE_H

#include "base/thread.h"
#include "load/graph_file.h"

struct leat_can_cache {
    char path[LEAT_PATH_BYTES];
    leat_can_meta meta;             /* without intervals */
    leat_can_attack_count *attacks; /* of all splits */
    _Atomic(leat_graph_file *)
        *files; /* of each split: mapped at the first touch, under the lock */
    pthread_mutex_t lock;
    int64_t process; /* that opened it */
};

/* The folder of the cache that a path names: itself, or the only one that it holds. `torn`: a
 * folder without .complete is one too, if it is named itself. */
LEAT_MUST_CHECK leat_code leat_can_cache_find(const char *path, bool torn,
                                              char out[LEAT_PATH_BYTES], leat_error *err);
/* LEAT_ERR_OPTION in a forked child: a thread may have been at the cache when it was forked. */
LEAT_MUST_CHECK leat_code leat_can_cache_check_process(const leat_can_cache *cache,
                                                       leat_error *err);
/* The file of a split; the cache's. LEAT_ERR_OPTION lists the splits that there are. */
LEAT_MUST_CHECK leat_code leat_can_cache_file(const leat_can_cache *cache, const char *split,
                                              const leat_graph_file **out, leat_error *err);
/* The scaler in numbers. */
const leat_can_scaler_values *leat_can_cache_scaler(const leat_can_cache *cache);

#endif
