/*
 * Windows are numbered through all epochs, which have as many each. Their chunks are fetched by
 * whichever thread is free; the next window is begun when all chunks of this one are there.
 */
#include "load/fetcher.h"

#include "base/mem.h"
#include "base/thread.h"

/* Chunks of graphs are read in up to five pieces, one after the other: enough threads for a disk
 * far away. */
enum { THREADS = 8 };
/* Of a thread: the part of its stack that is used. */
enum { THREAD_BYTES = 16 << 10 };

struct leat_fetcher {
    leat_fetcher_work work;
    int64_t end; /* windows of all epochs */
    pthread_mutex_t lock;
    pthread_cond_t more, read;
    _Atomic int64_t fetched; /* windows before this one are fetched, or were skipped */
    _Atomic int64_t wanted;  /* windows before this one are to be fetched */
    int64_t begun, left;     /* chunks of window `fetched`: begun, and not fetched yet */
    bool stopped;
    _Atomic int64_t wait_ns;
    leat_threads threads;
};

int64_t leat_fetcher_bytes(void) { return THREADS * THREAD_BYTES; }

static int64_t chunks_of(const leat_fetcher *fetcher, int64_t number) {
    return fetcher->work.chunks(fetcher->work.data, number % fetcher->work.windows);
}

/* Whether there is a chunk to be fetched; then it is begun. */
static bool claim(leat_fetcher *fetcher, int64_t *number, int64_t *chunk) {
    *number = atomic_load(&fetcher->fetched);
    if (*number >= atomic_load(&fetcher->wanted)) return false;
    if (fetcher->begun == 0) fetcher->left = chunks_of(fetcher, *number);
    if (fetcher->begun == chunks_of(fetcher, *number)) return false;
    *chunk = fetcher->begun++;
    return true;
}

static void fetch(const leat_fetcher *fetcher, int64_t number, int64_t chunk) {
    const leat_fetcher_work *work = &fetcher->work;
    work->fetch(work->data, number / work->windows, number % work->windows, chunk);
}

static void chunk_done(leat_fetcher *fetcher) {
    LEAT_ASSERT(fetcher->left > 0);
    if (--fetcher->left > 0) return;
    fetcher->begun = 0;
    atomic_fetch_add(&fetcher->fetched, 1);
    pthread_cond_broadcast(&fetcher->read);
    pthread_cond_broadcast(&fetcher->more);
}

static void *thread_main(void *context) {
    leat_fetcher *fetcher = context;
    pthread_mutex_lock(&fetcher->lock);
    while (!fetcher->stopped) {
        int64_t number = 0, chunk = 0;
        if (!claim(fetcher, &number, &chunk)) {
            pthread_cond_wait(&fetcher->more, &fetcher->lock);
            continue;
        }
        pthread_mutex_unlock(&fetcher->lock);
        fetch(fetcher, number, chunk);
        pthread_mutex_lock(&fetcher->lock);
        chunk_done(fetcher);
    }
    pthread_mutex_unlock(&fetcher->lock);
    return NULL;
}

/* ---- callers -------------------------------------------------------------------------------- */

static int64_t number_of(const leat_fetcher *fetcher, int64_t epoch, int64_t window) {
    LEAT_ASSERT(window >= 0 && window < fetcher->work.windows);
    return epoch * fetcher->work.windows + window;
}

void leat_fetcher_need(leat_fetcher *fetcher, int64_t epoch, int64_t window) {
    int64_t number = number_of(fetcher, epoch, window);
    /* past the end is what completes the last batch; nothing is read ahead of that */
    int64_t want = number + 1 < fetcher->end ? number + 2 : number + 1;
    if (atomic_load(&fetcher->wanted) >= want && atomic_load(&fetcher->fetched) > number) return;
    int64_t begun_ns = leat_clock_ns();
    pthread_mutex_lock(&fetcher->lock);
    if (atomic_load(&fetcher->wanted) < want) {
        atomic_store(&fetcher->wanted, want);
        pthread_cond_broadcast(&fetcher->more);
    }
    while (atomic_load(&fetcher->fetched) <= number)
        pthread_cond_wait(&fetcher->read, &fetcher->lock);
    pthread_mutex_unlock(&fetcher->lock);
    int64_t passed_ns = leat_clock_ns() - begun_ns;
    if (passed_ns > 0)
        atomic_fetch_add_explicit(&fetcher->wait_ns, passed_ns, memory_order_relaxed);
}

void leat_fetcher_seek(leat_fetcher *fetcher, int64_t epoch, int64_t window) {
    int64_t number = number_of(fetcher, epoch, window);
    pthread_mutex_lock(&fetcher->lock);
    /* a window that is being fetched is fetched to its end */
    atomic_store(&fetcher->wanted, atomic_load(&fetcher->fetched) + (fetcher->begun > 0));
    while (fetcher->begun > 0) pthread_cond_wait(&fetcher->read, &fetcher->lock);
    atomic_store(&fetcher->fetched, number);
    atomic_store(&fetcher->wanted, number);
    pthread_mutex_unlock(&fetcher->lock);
}

int64_t leat_fetcher_wait_ns(const leat_fetcher *fetcher) {
    return fetcher == NULL ? 0 : atomic_load_explicit(&fetcher->wait_ns, memory_order_relaxed);
}

/* ---- create and destroy --------------------------------------------------------------------- */

leat_code leat_fetcher_create(leat_fetcher **out, const leat_fetcher_work *work, leat_error *err) {
    leat_fetcher *fetcher = NULL;
    *out = NULL;
    LEAT_ASSERT(work->windows >= 1);
    LEAT_TRY(LEAT_NEW(&fetcher, 1, err));
    fetcher->work = *work;
    fetcher->end = work->epochs > 0 ? work->epochs * work->windows : INT64_MAX;
    pthread_mutex_init(&fetcher->lock, NULL);
    pthread_cond_init(&fetcher->more, NULL);
    pthread_cond_init(&fetcher->read, NULL);
    leat_code code = leat_threads_start(&fetcher->threads, THREADS, thread_main, fetcher, err);
    if (code == LEAT_OK) *out = fetcher;
    else leat_fetcher_destroy(fetcher);
    return code;
}

void leat_fetcher_destroy(leat_fetcher *fetcher) {
    if (fetcher == NULL) return;
    pthread_mutex_lock(&fetcher->lock);
    fetcher->stopped = true;
    pthread_cond_broadcast(&fetcher->more);
    pthread_mutex_unlock(&fetcher->lock);
    leat_threads_join(&fetcher->threads);
    pthread_mutex_destroy(&fetcher->lock);
    pthread_cond_destroy(&fetcher->more);
    pthread_cond_destroy(&fetcher->read);
    leat_free(fetcher);
}
