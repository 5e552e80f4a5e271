/*
 * Reading ahead in the windowed order, for files that are mapped: threads that fetch the window of
 * the batches in work, and the one after it, into the page cache, in large pieces. Windows are
 * fetched one after the other, and no batch of a window is made before it is there, so at most two
 * of them are wanted in memory at a time. It is a hint: a page that the system dropped again is
 * read when it is touched.
 */
#ifndef LEAT_LOAD_FETCHER_H
#define LEAT_LOAD_FETCHER_H

#include "base/error.h"

typedef struct leat_fetcher leat_fetcher;

/* What is fetched. `data` must outlive the fetcher; its functions are called by any thread. */
typedef struct leat_fetcher_work {
    const void *data;
    int64_t windows; /* of an epoch */
    int64_t epochs;  /* 0: no end */
    /* Chunks of a window, at least 1. */
    int64_t (*chunks)(const void *data, int64_t window);
    /* Fetches one of them. */
    void (*fetch)(const void *data, int64_t epoch, int64_t window, int64_t chunk);
} leat_fetcher_work;

/* What threads take besides, in bytes. */
int64_t leat_fetcher_bytes(void);
/* Begins at window 0. */
LEAT_MUST_CHECK leat_code leat_fetcher_create(leat_fetcher **out, const leat_fetcher_work *work,
                                              leat_error *err);
void leat_fetcher_destroy(leat_fetcher *fetcher);
/* Returns when the window of an epoch is fetched. Any thread. */
void leat_fetcher_need(leat_fetcher *fetcher, int64_t epoch, int64_t window);
/* Goes on with this window; not while a thread is in leat_fetcher_need. */
void leat_fetcher_seek(leat_fetcher *fetcher, int64_t epoch, int64_t window);
/* Nanoseconds that threads have waited, all together; 0 without a fetcher. */
int64_t leat_fetcher_wait_ns(const leat_fetcher *fetcher);

#endif
