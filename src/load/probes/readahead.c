/*
 * Windows read ahead: see readahead.h.
 *
 * One lock holds everything that changes when a window is admitted, read or freed, which is rare.
 * What every sequence needs, the windows of its row, is under a lock of the row, which nearly
 * always one thread uses at a time. The lock of a row is taken last.
 */
#include "load/probes/readahead.h"

#include <string.h>

#include "load/probes/loader_plan.h"

/* Of a row: the one in use, and the next. */
enum { WINDOWS = 2 };

typedef struct held {
    leat_window window;
    int64_t part;
    int64_t begin, end;   /* steps of its sequences */
    int64_t place;        /* of the sequence of the first step */
    _Atomic int64_t left; /* sequences that were not returned */
    int64_t bytes;
    bool is_next; /* its row has another one in use */
    leat_loaded *blocks;
    int64_t blocks_begun, blocks_left; /* to be read */
    _Atomic bool is_ready;
    struct held *after; /* in the list of those to be read */
} held;

typedef struct lane {
    pthread_mutex_t lock;
    held *windows[WINDOWS];
    int count;
    int64_t step;    /* where the next one to be admitted begins */
    held *candidate; /* that one, once it was looked for */
} lane;

struct leat_readahead {
    const leat_loader_plan *plan;
    const leat_blocks *blocks;
    pthread_mutex_t lock;
    pthread_cond_t work, read, idle; /* something to do; a window is ready; nothing is being read */
    leat_block_orders orders;
    lane *lanes;
    int64_t *heap; /* lanes that may admit a window, the one that needs it first on top */
    int64_t heap_count;
    held *first, *last;                 /* to be read */
    int64_t held_bytes, held_bytes_max; /* of all windows, */
    int64_t next_bytes, next_bytes_max; /* of those that are not in use */
    int64_t reading;                    /* blocks */
    bool stopped, paused;
    leat_error err; /* nothing more is admitted until the next seek */
    _Atomic int64_t wait_ns;
    leat_threads threads;
};

/* ---- the lanes that may admit a window, by the step at which they need it -----------------------
 */

static bool is_before(const leat_readahead *ahead, int64_t a, int64_t b) {
    int64_t one = ahead->lanes[a].step, two = ahead->lanes[b].step;
    return one != two ? one < two : a < b;
}

static void exchange(leat_readahead *ahead, int64_t i, int64_t k) {
    int64_t kept = ahead->heap[i];
    ahead->heap[i] = ahead->heap[k];
    ahead->heap[k] = kept;
}

static void sink(leat_readahead *ahead, int64_t i) {
    for (;;) {
        int64_t least = i;
        for (int64_t child = 2 * i + 1; child <= 2 * i + 2; child++) {
            if (child < ahead->heap_count &&
                is_before(ahead, ahead->heap[child], ahead->heap[least]))
                least = child;
        }
        if (least == i) return;
        exchange(ahead, i, least);
        i = least;
    }
}

static void push(leat_readahead *ahead, int64_t part) {
    int64_t i = ahead->heap_count++;
    ahead->heap[i] = part;
    while (i > 0 && is_before(ahead, ahead->heap[i], ahead->heap[(i - 1) / 2])) {
        exchange(ahead, i, (i - 1) / 2);
        i = (i - 1) / 2;
    }
}

static void pop(leat_readahead *ahead) {
    ahead->heap[0] = ahead->heap[--ahead->heap_count];
    sink(ahead, 0);
}

/* ---- windows ------------------------------------------------------------------------------------
 */

static void destroy_held(held *window) {
    if (window == NULL) return;
    for (int64_t i = 0; window->blocks != NULL && i < window->window.block_count; i++)
        leat_loaded_free(&window->blocks[i]);
    leat_free(window->blocks);
    leat_window_free(&window->window);
    leat_free(window);
}

static bool is_ready(const held *window) {
    return window != NULL && atomic_load_explicit(&window->is_ready, memory_order_acquire);
}

static int64_t sequence_of(const leat_readahead *ahead, int64_t part, int64_t step) {
    return step * ahead->plan->options.batch + ahead->plan->rows[part];
}

static leat_code look_up(leat_readahead *ahead, int64_t part, held *out, leat_error *err) {
    const leat_blocks *blocks = ahead->blocks;
    int64_t step = ahead->lanes[part].step;
    leat_window *window = &out->window;
    LEAT_TRY(leat_blocks_window(blocks, &ahead->orders, sequence_of(ahead, part, step), window,
                                &out->place, err));
    out->part = part;
    out->begin = step;
    out->end = step + (window->end - window->first) - out->place;
    out->left = out->end - out->begin;
    out->blocks_left = window->block_count;
    LEAT_TRY(LEAT_NEW(&out->blocks, window->block_count, err));
    for (int64_t i = 0; i < window->block_count; i++) {
        LEAT_TRY(leat_blocks_parts(blocks, ahead->plan, window->blocks[i], &out->blocks[i], err));
        out->bytes += blocks->bytes[window->blocks[i]];
    }
    return LEAT_OK;
}

/* The window that the lane needs next; NULL: it has none any more. */
static leat_code find_candidate(leat_readahead *ahead, int64_t part, held **out, leat_error *err) {
    lane *at = &ahead->lanes[part];
    *out = at->candidate;
    if (*out != NULL || sequence_of(ahead, part, at->step) >= ahead->plan->sequence_count)
        return LEAT_OK;
    LEAT_TRY(LEAT_NEW(out, 1, err));
    leat_code code = look_up(ahead, part, *out, err);
    if (code == LEAT_OK) at->candidate = *out;
    else destroy_held(*out);
    return code;
}

/* The first failure is kept, and read without the lock. */
static void fail(leat_readahead *ahead, leat_code code, const leat_error *err) {
    if (ahead->err.code == LEAT_OK) {
        ahead->err = *err;
        ahead->err.code = code;
    }
    pthread_cond_broadcast(&ahead->read);
}

/* Admits the window that is needed first, if there is memory for it; whether there is more to do.
 */
static bool admit(leat_readahead *ahead) {
    if (ahead->heap_count == 0 || ahead->err.code != LEAT_OK) return false;
    int64_t part = ahead->heap[0];
    lane *at = &ahead->lanes[part];
    held *window = NULL;
    leat_error err = {0};
    leat_code code = find_candidate(ahead, part, &window, &err);
    if (code != LEAT_OK) {
        fail(ahead, code, &err);
        return false;
    }
    if (window == NULL) {
        pop(ahead);
        return true;
    }
    window->is_next = at->count > 0;
    bool fits = ahead->held_bytes + window->bytes <= ahead->held_bytes_max;
    if (window->is_next) {
        if (!fits || ahead->next_bytes + window->bytes > ahead->next_bytes_max) return false;
        ahead->next_bytes += window->bytes;
    } else if (!fits) {
        window->bytes = 0;
        atomic_store(&window->is_ready, true);
    }
    ahead->held_bytes += window->bytes;
    at->candidate = NULL;
    at->step = window->end;
    pthread_mutex_lock(&at->lock);
    at->windows[at->count++] = window;
    pthread_mutex_unlock(&at->lock);
    if (at->count == WINDOWS) pop(ahead);
    else sink(ahead, 0);
    if (is_ready(window)) {
        pthread_cond_broadcast(&ahead->read);
        return true;
    }
    if (ahead->first == NULL) ahead->first = window;
    else ahead->last->after = window;
    ahead->last = window;
    if (window->window.block_count > 1) pthread_cond_broadcast(&ahead->work);
    return true;
}

/* ---- threads ------------------------------------------------------------------------------------
 */

/* The next block to be read, of a window that was admitted. */
static bool claim(leat_readahead *ahead, held **window, int64_t *block) {
    held *first = ahead->first;
    if (first == NULL) return false;
    *window = first;
    *block = first->blocks_begun++;
    if (first->blocks_begun == first->window.block_count) {
        ahead->first = first->after;
        if (ahead->first == NULL) ahead->last = NULL;
    }
    return true;
}

/* Without the lock while it reads. */
static void read_block(leat_readahead *ahead, held *window, int64_t block) {
    const leat_loader_options *options = &ahead->plan->options;
    leat_error err = {0};
    ahead->reading++;
    pthread_mutex_unlock(&ahead->lock);
    leat_code code = leat_loaded_read(&window->blocks[block], ahead->plan->dataset, options->io,
                                      options->on_corrupt == LEAT_CORRUPT_MASK, &err);
    pthread_mutex_lock(&ahead->lock);
    ahead->reading--;
    if (code != LEAT_OK) fail(ahead, code, &err);
    if (--window->blocks_left == 0) {
        atomic_store_explicit(&window->is_ready, true, memory_order_release);
        pthread_cond_broadcast(&ahead->read);
    }
    if (ahead->reading == 0) pthread_cond_broadcast(&ahead->idle);
}

static void *thread_main(void *context) {
    leat_readahead *ahead = context;
    pthread_mutex_lock(&ahead->lock);
    while (!ahead->stopped) {
        held *window = NULL;
        int64_t block = 0;
        if (!ahead->paused && claim(ahead, &window, &block)) read_block(ahead, window, block);
        else if (ahead->paused || !admit(ahead)) pthread_cond_wait(&ahead->work, &ahead->lock);
    }
    pthread_mutex_unlock(&ahead->lock);
    return NULL;
}

/* ---- taken and returned -------------------------------------------------------------------------
 */

/* The window of the row for a step; it stays, because the step's sequence was not returned. */
static held *find(lane *at, int64_t step) {
    held *found = NULL;
    pthread_mutex_lock(&at->lock);
    for (int i = 0; i < at->count; i++) {
        held *window = at->windows[i];
        if (step >= window->begin && step < window->end) found = window;
    }
    pthread_mutex_unlock(&at->lock);
    return found;
}

/* Waits until the window of a step is read; NULL: it cannot be, see ahead->err. */
static held *wait_for(leat_readahead *ahead, lane *at, int64_t step) {
    int64_t begun_ns = leat_clock_ns();
    held *window = NULL;
    pthread_mutex_lock(&ahead->lock);
    for (;;) {
        window = find(at, step);
        if (ahead->err.code != LEAT_OK) window = NULL;
        if (ahead->err.code != LEAT_OK || is_ready(window)) break;
        pthread_cond_wait(&ahead->read, &ahead->lock);
    }
    pthread_mutex_unlock(&ahead->lock);
    int64_t passed_ns = leat_clock_ns() - begun_ns;
    if (passed_ns > 0) atomic_fetch_add_explicit(&ahead->wait_ns, passed_ns, memory_order_relaxed);
    return window;
}

leat_code leat_readahead_take(leat_readahead *ahead, int64_t part, int64_t step, leat_taken *taken,
                              leat_error *err) {
    lane *at = &ahead->lanes[part];
    held *window = find(at, step);
    if (!is_ready(window)) window = wait_for(ahead, at, step);
    *taken = (leat_taken){0};
    if (window == NULL) return leat_error_copy(err, &ahead->err);
    taken->window = &window->window;
    taken->place = window->place + (step - window->begin);
    taken->blocks = window->blocks;
    taken->held = window;
    return LEAT_OK;
}

void leat_readahead_return(leat_readahead *ahead, int64_t part, const leat_taken *taken) {
    lane *at = &ahead->lanes[part];
    held *window = taken->held;
    int64_t left = atomic_fetch_sub(&window->left, 1) - 1;
    LEAT_ASSERT(left >= 0);
    if (left > 0) return;
    pthread_mutex_lock(&ahead->lock);
    pthread_mutex_lock(&at->lock);
    /* the sequences of the next window may have been made before the last one of this */
    int i = at->windows[0] == window ? 0 : 1;
    LEAT_ASSERT(i < at->count && at->windows[i] == window);
    at->windows[i] = at->windows[WINDOWS - 1];
    bool was_full = at->count == WINDOWS;
    at->count--;
    pthread_mutex_unlock(&at->lock);
    ahead->held_bytes -= window->bytes;
    if (window->is_next) {
        ahead->next_bytes -= window->bytes;
    } else if (at->count > 0) {
        at->windows[0]->is_next = false;
        ahead->next_bytes -= at->windows[0]->bytes;
    }
    if (was_full) push(ahead, part);
    destroy_held(window); /* before another one takes its place in memory */
    pthread_cond_signal(&ahead->work);
    pthread_mutex_unlock(&ahead->lock);
}

/* ---- all together -------------------------------------------------------------------------------
 */

static void forget(leat_readahead *ahead) {
    for (int64_t part = 0; part < ahead->plan->row_count; part++) {
        lane *at = &ahead->lanes[part];
        for (int i = 0; i < at->count; i++) destroy_held(at->windows[i]);
        destroy_held(at->candidate);
        at->candidate = NULL;
        at->count = 0;
    }
    ahead->first = ahead->last = NULL;
    ahead->held_bytes = ahead->next_bytes = 0;
    ahead->heap_count = 0;
}

void leat_readahead_seek(leat_readahead *ahead, int64_t step) {
    pthread_mutex_lock(&ahead->lock);
    ahead->paused = true;
    while (ahead->reading > 0) pthread_cond_wait(&ahead->idle, &ahead->lock);
    forget(ahead);
    ahead->err = (leat_error){0};
    for (int64_t part = 0; part < ahead->plan->row_count; part++) {
        ahead->lanes[part].step = step;
        push(ahead, part);
    }
    ahead->paused = false;
    pthread_cond_broadcast(&ahead->work);
    pthread_mutex_unlock(&ahead->lock);
}

int64_t leat_readahead_wait_ns(const leat_readahead *ahead) {
    return atomic_load_explicit(&ahead->wait_ns, memory_order_relaxed);
}

/* What a thread takes that decodes: chunks, and records one by one. */
static int64_t decode_bytes(const leat_loader_plan *plan) {
    return plan->blocks->chunk_bytes_max + 2 * plan->record_bytes_max;
}

/* Reads of 32 MiB together are enough for a disk far away; decoding is work for processors, but in
 * an eighth of the memory if that is enough for two. */
int leat_readahead_threads(const leat_loader_plan *plan) {
    if (plan->dataset->index == NULL) return 1; /* there is nothing to read */
    if (plan->dataset->facts.compressed) {
        const int64_t fit = plan->options.memory_bytes / 8 / (decode_bytes(plan) + 1);
        const int64_t wanted = plan->options.threads < fit ? plan->options.threads : fit;
        return wanted < 2 ? 2 : (int)wanted;
    }
    int64_t reads = (INT64_C(32) << 20) / plan->blocks->block_bytes;
    return (int)(reads < 4 ? 4 : reads > 32 ? 32 : reads);
}

int64_t leat_readahead_window_bytes(const leat_loader_plan *plan) {
    return 2 * plan->blocks->host_bytes;
}

int64_t leat_readahead_thread_bytes(const leat_loader_plan *plan) {
    int64_t each = INT64_C(128) << 10;
    if (plan->dataset->facts.compressed) each += decode_bytes(plan);
    return leat_readahead_threads(plan) * each + plan->row_count * (int64_t)sizeof(lane);
}

static leat_code start(leat_readahead *ahead, leat_error *err) {
    int64_t rows = ahead->plan->row_count;
    ahead->held_bytes_max = leat_readahead_window_bytes(ahead->plan);
    ahead->next_bytes_max = ahead->held_bytes_max / 2;
    LEAT_TRY(LEAT_NEW(&ahead->heap, rows, err));
    LEAT_TRY(LEAT_NEW(&ahead->lanes, rows, err));
    for (int64_t part = 0; part < rows; part++) pthread_mutex_init(&ahead->lanes[part].lock, NULL);
    for (int64_t part = 0; part < rows; part++) push(ahead, part);
    return leat_threads_start(&ahead->threads, leat_readahead_threads(ahead->plan), thread_main,
                              ahead, err);
}

leat_code leat_readahead_create(leat_readahead **out, const leat_loader_plan *plan,
                                leat_error *err) {
    leat_readahead *ahead = NULL;
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&ahead, 1, err));
    ahead->plan = plan;
    ahead->blocks = plan->blocks;
    pthread_mutex_init(&ahead->lock, NULL);
    pthread_cond_init(&ahead->work, NULL);
    pthread_cond_init(&ahead->read, NULL);
    pthread_cond_init(&ahead->idle, NULL);
    leat_code code = start(ahead, err);
    if (code != LEAT_OK) {
        leat_readahead_destroy(ahead);
        return code;
    }
    *out = ahead;
    return LEAT_OK;
}

void leat_readahead_destroy(leat_readahead *ahead) {
    if (ahead == NULL) return;
    pthread_mutex_lock(&ahead->lock);
    ahead->stopped = true;
    pthread_cond_broadcast(&ahead->work);
    pthread_mutex_unlock(&ahead->lock);
    leat_threads_join(&ahead->threads);
    if (ahead->lanes != NULL) {
        forget(ahead);
        for (int64_t part = 0; part < ahead->plan->row_count; part++)
            pthread_mutex_destroy(&ahead->lanes[part].lock);
    }
    leat_free(ahead->lanes);
    leat_free(ahead->heap);
    leat_block_orders_free(&ahead->orders);
    pthread_cond_destroy(&ahead->work);
    pthread_cond_destroy(&ahead->read);
    pthread_cond_destroy(&ahead->idle);
    pthread_mutex_destroy(&ahead->lock);
    leat_free(ahead);
}
