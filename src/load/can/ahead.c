/*
 * Windows are numbered through all epochs, which have as many each. Their chunks are fetched by
 * whichever thread is free; the next window is begun when all chunks of this one are there.
 */
#include "load/can/ahead.h"

#include "base/mem.h"
#include "base/thread.h"
#include "load/can/copy.h"

/* A chunk is read in up to five pieces one after the other: enough at once for a disk far away. */
enum { THREADS = 8 };
/* Of a thread: the part of its stack that is used. */
enum { THREAD_BYTES = 16 << 10 };

struct leat_graph_ahead {
    const leat_graph_file *file;
    const leat_graph_windows *windows;
    uint64_t seed;
    int64_t end; /* windows of all epochs */
    pthread_mutex_t lock;
    pthread_cond_t work, read;
    _Atomic int64_t fetched; /* windows before this one are fetched, or were passed over */
    _Atomic int64_t wanted;  /* windows before this one are to be fetched */
    int64_t begun, left;     /* chunks of window `fetched`: begun, and not fetched yet */
    bool stopped;
    _Atomic int64_t wait_ns;
    leat_threads threads;
};

int64_t leat_graph_ahead_bytes(void) { return THREADS * THREAD_BYTES; }

static int64_t chunks_of(const leat_graph_ahead *ahead, int64_t number) {
    int64_t window = number % ahead->windows->count;
    return leat_graph_windows_begin(ahead->windows, window + 1) -
           leat_graph_windows_begin(ahead->windows, window);
}

/* Whether there is a chunk to be fetched; then it is begun. */
static bool claim(leat_graph_ahead *ahead, int64_t *number, int64_t *chunk) {
    *number = atomic_load(&ahead->fetched);
    if (*number >= atomic_load(&ahead->wanted)) return false;
    if (ahead->begun == 0) ahead->left = chunks_of(ahead, *number);
    if (ahead->begun == chunks_of(ahead, *number)) return false;
    *chunk = ahead->begun++;
    return true;
}

static void fetch(const leat_graph_ahead *ahead, int64_t number, int64_t chunk) {
    const leat_graph_windows *windows = ahead->windows;
    int64_t epoch = number / windows->count, window = number % windows->count;
    int64_t place = leat_graph_windows_begin(windows, window) + chunk;
    int64_t its = leat_graph_windows_chunk(windows, ahead->seed, epoch, place);
    leat_graph_fetch(ahead->file, windows->first[its], windows->first[its + 1]);
}

static void chunk_done(leat_graph_ahead *ahead) {
    LEAT_ASSERT(ahead->left > 0);
    if (--ahead->left > 0) return;
    ahead->begun = 0;
    atomic_fetch_add(&ahead->fetched, 1);
    pthread_cond_broadcast(&ahead->read);
    pthread_cond_broadcast(&ahead->work);
}

static void *thread_main(void *context) {
    leat_graph_ahead *ahead = context;
    pthread_mutex_lock(&ahead->lock);
    while (!ahead->stopped) {
        int64_t number = 0, chunk = 0;
        if (!claim(ahead, &number, &chunk)) {
            pthread_cond_wait(&ahead->work, &ahead->lock);
            continue;
        }
        pthread_mutex_unlock(&ahead->lock);
        fetch(ahead, number, chunk);
        pthread_mutex_lock(&ahead->lock);
        chunk_done(ahead);
    }
    pthread_mutex_unlock(&ahead->lock);
    return NULL;
}

/* ---- callers ------------------------------------------------------------------------------------
 */

static int64_t number_of(const leat_graph_ahead *ahead, int64_t epoch, int64_t window) {
    LEAT_ASSERT(window >= 0 && window < ahead->windows->count);
    return epoch * ahead->windows->count + window;
}

void leat_graph_ahead_need(leat_graph_ahead *ahead, int64_t epoch, int64_t window) {
    int64_t number = number_of(ahead, epoch, window);
    int64_t want = number + 2 < ahead->end ? number + 2 : ahead->end;
    if (atomic_load(&ahead->wanted) >= want && atomic_load(&ahead->fetched) > number) return;
    int64_t begun_ns = leat_clock_ns();
    pthread_mutex_lock(&ahead->lock);
    if (atomic_load(&ahead->wanted) < want) {
        atomic_store(&ahead->wanted, want);
        pthread_cond_broadcast(&ahead->work);
    }
    while (atomic_load(&ahead->fetched) <= number) pthread_cond_wait(&ahead->read, &ahead->lock);
    pthread_mutex_unlock(&ahead->lock);
    int64_t passed_ns = leat_clock_ns() - begun_ns;
    if (passed_ns > 0) atomic_fetch_add_explicit(&ahead->wait_ns, passed_ns, memory_order_relaxed);
}

void leat_graph_ahead_seek(leat_graph_ahead *ahead, int64_t epoch, int64_t window) {
    int64_t number = number_of(ahead, epoch, window);
    pthread_mutex_lock(&ahead->lock);
    /* a window that is being fetched is fetched to its end */
    atomic_store(&ahead->wanted, atomic_load(&ahead->fetched) + (ahead->begun > 0));
    while (ahead->begun > 0) pthread_cond_wait(&ahead->read, &ahead->lock);
    atomic_store(&ahead->fetched, number);
    atomic_store(&ahead->wanted, number);
    pthread_mutex_unlock(&ahead->lock);
}

int64_t leat_graph_ahead_wait_ns(const leat_graph_ahead *ahead) {
    return atomic_load_explicit(&ahead->wait_ns, memory_order_relaxed);
}

/* ---- create and destroy -------------------------------------------------------------------------
 */

leat_code leat_graph_ahead_create(leat_graph_ahead **out, const leat_graph_file *file,
                                  const leat_graph_plan *plan, uint64_t seed, int64_t epochs,
                                  leat_error *err) {
    leat_graph_ahead *ahead = NULL;
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&ahead, 1, err));
    ahead->file = file;
    ahead->windows = leat_graph_plan_windows(plan);
    ahead->seed = seed;
    ahead->end = epochs > 0 ? epochs * ahead->windows->count : INT64_MAX;
    pthread_mutex_init(&ahead->lock, NULL);
    pthread_cond_init(&ahead->work, NULL);
    pthread_cond_init(&ahead->read, NULL);
    leat_code code = leat_threads_start(&ahead->threads, THREADS, thread_main, ahead, err);
    if (code == LEAT_OK) *out = ahead;
    else leat_graph_ahead_destroy(ahead);
    return code;
}

void leat_graph_ahead_destroy(leat_graph_ahead *ahead) {
    if (ahead == NULL) return;
    pthread_mutex_lock(&ahead->lock);
    ahead->stopped = true;
    pthread_cond_broadcast(&ahead->work);
    pthread_mutex_unlock(&ahead->lock);
    leat_threads_join(&ahead->threads);
    pthread_mutex_destroy(&ahead->lock);
    pthread_cond_destroy(&ahead->work);
    pthread_cond_destroy(&ahead->read);
    leat_free(ahead);
}
