/* A CAN cache opened for reading, private part: its metadata, and the splits mapped so far. */
#ifndef LEAT_LOAD_CAN_CACHE_H
#define LEAT_LOAD_CAN_CACHE_H

#include "base/thread.h"
#include "load/can/file.h"

struct leat_can_cache {
    char path[LEAT_PATH_BYTES];
    leat_can_meta meta;                /* without intervals */
    leat_can_attack_count *attacks;    /* of all splits */
    _Atomic(leat_graph_file *) *files; /* of each split: mapped at first use, under the lock */
    pthread_mutex_t lock;
    int64_t process; /* which opened it */
};

/* The folder of the cache at a path: itself, or the only one that it holds. `torn`: also accepts a
 * folder without .complete, if the path names it directly. */
LEAT_MUST_CHECK leat_code leat_can_cache_find(const char *path, bool torn,
                                              char out[LEAT_PATH_BYTES], leat_error *err);
/* LEAT_ERR_OPTION in a forked child: a thread of the parent may have been using the cache at fork.
 */
LEAT_MUST_CHECK leat_code leat_can_cache_check_process(const leat_can_cache *cache,
                                                       leat_error *err);
/* The file of a split, owned by the cache. LEAT_ERR_OPTION lists the existing splits. */
LEAT_MUST_CHECK leat_code leat_can_cache_file(const leat_can_cache *cache, const char *split,
                                              const leat_graph_file **out, leat_error *err);
/* The scaler's values. */
const leat_can_scaler_values *leat_can_cache_scaler(const leat_can_cache *cache);

#endif
