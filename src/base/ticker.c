/* Progress of several threads: see ticker.h. Whoever finds the lock free and the time come reports;
 * the others only count. */
#include "base/ticker.h"

#include "base/thread.h"

#define REPORT_NS INT64_C(100000000)

void leat_ticker_create(leat_ticker *ticker, leat_progress_fn fn, void *user) {
    *ticker = (leat_ticker){.fn = fn, .user = user, .stage = "", .unit = "", .total = -1};
    pthread_mutex_init(&ticker->lock, NULL);
}

void leat_ticker_destroy(leat_ticker *ticker) { pthread_mutex_destroy(&ticker->lock); }

/* Reports now, whenever the last time was. */
static void report(leat_ticker *ticker) {
    atomic_store(&ticker->next_ns, 0);
    (void)leat_ticker_add(ticker, 0);
}

void leat_ticker_stage(leat_ticker *ticker, const char *stage, const char *unit, int64_t total) {
    if (ticker->total >= 0) report(ticker); /* how the last one ended */
    ticker->stage = stage;
    ticker->unit = unit;
    ticker->total = total;
    atomic_store(&ticker->done, 0);
    report(ticker);
}

bool leat_ticker_add(leat_ticker *ticker, int64_t more) {
    int64_t done = atomic_fetch_add(&ticker->done, more) + more;
    if (ticker->fn == NULL) return true;
    int64_t now = leat_clock_ns();
    if (now >= atomic_load(&ticker->next_ns) && pthread_mutex_trylock(&ticker->lock) == 0) {
        atomic_store(&ticker->next_ns, now + REPORT_NS);
        leat_progress progress = {
            .stage = ticker->stage, .unit = ticker->unit, .done = done, .total = ticker->total};
        if (!ticker->fn(ticker->user, &progress)) atomic_store(&ticker->stopped, true);
        pthread_mutex_unlock(&ticker->lock);
    }
    return !atomic_load(&ticker->stopped);
}

leat_code leat_ticker_check(leat_ticker *ticker, leat_error *err) {
    if (!atomic_load(&ticker->stopped)) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_CANCELLED, "stopped while %s", ticker->stage);
}
