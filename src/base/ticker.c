/* Progress of several threads: see ticker.h. A thread that finds the lock free when a report is due
 * makes the report; the others only count. */
#include "base/ticker.h"

#include "base/thread.h"

#define REPORT_NS INT64_C(100000000)

void leat_ticker_create(leat_ticker *ticker, leat_progress_fn fn, void *user) {
    *ticker = (leat_ticker){.fn = fn, .user = user, .stage = "", .unit = "", .total = -1};
    pthread_mutex_init(&ticker->lock, NULL);
}

void leat_ticker_destroy(leat_ticker *ticker) { pthread_mutex_destroy(&ticker->lock); }

/* Under the lock. */
static void call(leat_ticker *ticker) {
    leat_progress progress = {.stage = ticker->stage,
                              .unit = ticker->unit,
                              .done = atomic_load(&ticker->done),
                              .total = ticker->total};
    /* the total may have been an estimate */
    if (progress.total >= 0 && progress.total < progress.done) progress.total = progress.done;
    if (!atomic_load(&ticker->stopped) && !ticker->fn(ticker->user, &progress))
        atomic_store(&ticker->stopped, true);
}

static void tell(leat_ticker *ticker) {
    if (ticker->fn == NULL || atomic_load(&ticker->stopped)) return;
    /* in this order: with a time read before, another thread's report would look like a clock that
     * was set back */
    int64_t next = atomic_load(&ticker->next_ns), now = leat_clock_ns();
    /* later than it is ever set: the clock was set back, and a request to stop must not wait */
    bool is_due = now >= next || next - now > REPORT_NS;
    if (!is_due || pthread_mutex_trylock(&ticker->lock) != 0) return;
    if (atomic_load(&ticker->next_ns) == next) { /* nobody has reported meanwhile */
        atomic_store(&ticker->next_ns, now + REPORT_NS);
        call(ticker);
    }
    pthread_mutex_unlock(&ticker->lock);
}

/* Reports now, regardless of the last report. */
static void report(leat_ticker *ticker) {
    atomic_store(&ticker->next_ns, 0);
    tell(ticker);
}

void leat_ticker_stage(leat_ticker *ticker, const char *stage, const char *unit, int64_t total) {
    if (ticker == NULL) return;
    if (ticker->total >= 0) report(ticker); /* the final count of the previous stage */
    ticker->stage = stage;
    ticker->unit = unit;
    ticker->total = total;
    atomic_store(&ticker->done, 0);
    report(ticker);
}

bool leat_ticker_add(leat_ticker *ticker, int64_t more) {
    if (ticker == NULL) return true;
    atomic_fetch_add(&ticker->done, more);
    tell(ticker);
    return !atomic_load(&ticker->stopped);
}

leat_code leat_ticker_step(leat_ticker *ticker, int64_t more, leat_error *err) {
    return leat_ticker_add(ticker, more) ? LEAT_OK : leat_ticker_check(ticker, err);
}

leat_code leat_ticker_reach(leat_ticker *ticker, int64_t done, leat_error *err) {
    if (ticker == NULL) return LEAT_OK;
    long long before = atomic_load(&ticker->done);
    while (before < done && !atomic_compare_exchange_weak(&ticker->done, &before, done)) {}
    return leat_ticker_step(ticker, 0, err);
}

leat_code leat_ticker_check(const leat_ticker *ticker, leat_error *err) {
    if (ticker == NULL || !atomic_load(&ticker->stopped)) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_CANCELLED, "stopped while %s", ticker->stage);
}
