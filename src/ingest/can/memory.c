/*
 * How --memory is shared out to the steps of an ingest, and how much would be enough.
 */
#include <malloc.h>

#include "base/error.h"
#include "base/thread.h"
#include "ingest/can/cache/write.h"
#include "ingest/can/job.h"

/* What the process takes in addition to the parts that are planned: at least, for each thread, and
 * for each eighth of a part's memory, up to a limit. */
#define SLACK_BYTES_MIN (INT64_C(1) << 20)
#define SLACK_BYTES_MAX (INT64_C(16) << 20)
#define THREAD_BYTES (INT64_C(128) << 10)
/* What the heap keeps of freed tables, at most. */
#define HEAP_BYTES_MAX (INT64_C(16) << 20)
#define REJECT_BYTES_MAX (INT64_C(4) << 20)
/* The store's tables, for any logs; and per thread of the scan, with its block of lines. */
#define STORE_BYTES_MIN (INT64_C(512) << 10)
#define WORKER_BYTES (INT64_C(704) << 10)
/* A line has at least a time, an identifier and a payload; this is the maximum number of lines per
 * block. */
enum { LINE_BYTES_MIN = 16, LINE_BLOCK = 65536 };

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t slack_bytes(int64_t planned_bytes, int threads) {
    return smaller(SLACK_BYTES_MIN + threads * THREAD_BYTES + planned_bytes / 8, SLACK_BYTES_MAX);
}

/* Half of the memory is for blocks of lines, the rest for what does not depend on threads. */
leat_can_shares leat_can_share_scan(const leat_can_job *job, int64_t memory_bytes) {
    int64_t own = larger(memory_bytes - job->resident, 0);
    int64_t each = leat_can_scan_memory(2) - leat_can_scan_memory(1) + WORKER_BYTES + THREAD_BYTES;
    int64_t threads = smaller(larger(own / 2 / each, 1), job->options->threads);
    leat_can_shares shares = {.threads = (int)threads,
                              .rejects_bytes = smaller(own / 16, REJECT_BYTES_MAX)};
    shares.scan_bytes = leat_can_scan_memory(shares.threads) + shares.rejects_bytes;
    return shares;
}

/* Memory of planning and writing these logs with one thread, in two parts: what stays, and the
 * maximum of a single step. */
static int64_t plan_bytes(const leat_can_job *job, int64_t windows, int64_t intervals,
                          int64_t ids) {
    const leat_can_settings *settings = &job->options->settings;
    int64_t interval_bytes = intervals * (int64_t)sizeof(leat_can_interval);
    int64_t bytes = leat_can_plan_bytes(windows) + interval_bytes;
    /* memory that the heap has from finished threads may not serve later steps */
    bytes += leat_can_permutation_bytes(windows, settings);
    bytes += leat_can_pages_bytes(windows, settings->window, ids);
    return bytes + interval_bytes + leat_can_names_bytes(ids); /* the metadata's own */
}

static int64_t step_bytes(const leat_can_job *job, int64_t ids) {
    const leat_can_settings *settings = &job->options->settings;
    int64_t window = settings->window;
    bool ranks = settings->scaler == LEAT_SCALER_ROBUST_BENIGN;
    int64_t most = larger(leat_can_planner_bytes(window, ids), leat_can_write_bytes(window));
    return larger(most, ranks ? leat_can_rank_bytes(window) : 0);
}

/* The memory, in bytes, of logs of which this much is known, from the scan to the last tensor, if
 * it is shared out as for a limit of memory_bytes. */
static int64_t required_bytes(const leat_can_job *job, leat_can_store_facts of,
                              int64_t memory_bytes) {
    const leat_can_ingest_options *o = job->options;
    const leat_can_shares shares = leat_can_share_scan(job, memory_bytes);
    const leat_can_store_facts *facts = &of;
    of.workers = shares.threads;
    int64_t before = shares.scan_bytes, ids = facts->ids + job->like.count;
    int64_t names = leat_can_names_bytes(ids);
    int64_t kept = leat_can_facts_kept_bytes(facts) + names;
    int64_t store = larger(leat_can_facts_least_bytes(facts, larger(names - before, 0)),
                           STORE_BYTES_MIN + shares.threads * WORKER_BYTES);
    int64_t windows = facts->frames / o->settings.stride + facts->captures;
    bool merged = o->settings.captures == LEAT_CAPTURES_MERGED;
    int64_t streams = merged ? job->splits.count : facts->captures;
    int64_t of_captures = streams * facts->ids;
    int64_t intervals = facts->frames < of_captures ? facts->frames : of_captures;
    int64_t least = larger(before + store, kept + leat_can_naming_bytes(ids));
    least = larger(least, kept + plan_bytes(job, windows, intervals, ids) + step_bytes(job, ids));
    least += smaller(least / 4, HEAP_BYTES_MAX) + slack_bytes(least, shares.threads);
    return job->resident + least + least / 16;
}

/* The smallest sufficient --memory, in MiB: with more of it, more threads read lines, which take
 * more. */
static int64_t least_mib(const leat_can_job *job, const leat_can_store_facts *facts) {
    int64_t least = 0, required = required_bytes(job, *facts, 0);
    while (required > least) {
        least = ((required >> 20) + 1) << 20;
        required = required_bytes(job, *facts, least);
    }
    return least >> 20;
}

/* Logs that were not read: at most as many lines as their bytes allow, each with its own
 * identifier. */
int64_t leat_can_unread_mib(const leat_can_job *job) {
    int64_t bytes = 0;
    for (int64_t i = 0; i < job->splits.inputs.count; i++) {
        const leat_input *input = &job->splits.inputs.items[i];
        bytes +=
            input->facts.size_bytes * (leat_path_has_suffix_any_case(input->path, ".gz") ? 20 : 1);
    }
    int64_t files = job->splits.inputs.count, lines = bytes / LINE_BYTES_MIN + files;
    const leat_can_store_facts facts = {.frames = lines,
                                        .ids = lines,
                                        .met = lines,
                                        .blocks = lines / LINE_BLOCK + 4 * files,
                                        .captures = 4 * files,
                                        .buses = 4 * files,
                                        .batch_most = LINE_BLOCK};
    return least_mib(job, &facts);
}

/* Whichever part was too large, the message names what all of it requires. */
leat_code leat_can_explain_memory(const leat_can_job *job, leat_code code, leat_error *err) {
    if (code != LEAT_ERR_LIMIT || job->store == NULL) return code;
    if (!job->is_short && !leat_can_store_is_short(job->store)) return code;
    const leat_can_store_facts facts = leat_can_store_get_facts(job->store);
    int64_t given = job->options->memory_bytes >> 20, least = least_mib(job, &facts);
    return leat_fail(err, LEAT_ERR_LIMIT,
                     "--memory %lldM is too low for %lld frames with about %lld identifiers; use "
                     "--memory %lldM",
                     (long long)given, (long long)facts.frames, (long long)facts.ids,
                     (long long)larger(least, given + 1));
}

/* What is left of --memory for the store's tables and buffers during the scan. */
leat_code leat_can_share_store(const leat_can_job *job, const leat_can_shares *shares,
                               int64_t *left, leat_error *err) {
    int64_t given = job->options->memory_bytes, own = larger(given - job->resident, 0);
    *left = given - job->resident - slack_bytes(own, shares->threads) - shares->scan_bytes;
    int64_t missing = STORE_BYTES_MIN + shares->threads * WORKER_BYTES - *left;
    if (missing <= 0) return LEAT_OK;
    int64_t least = ((given + 2 * missing) >> 20) + 1;
    /* usually enough for large logs */
    int64_t all = leat_can_unread_mib(job),
            usual = leat_can_ingest_options_default().memory_bytes >> 20;
    return leat_fail(err, LEAT_ERR_LIMIT,
                     "--memory %lldM is too low for this process, which takes %lld MiB before it "
                     "reads a log; use --memory %lldM",
                     (long long)(given >> 20), (long long)(job->resident >> 20) + 1,
                     (long long)larger(least, smaller(all, usual)));
}

/* The number of threads that fit in `left` at `each` bytes per thread. */
static int threads_within(const leat_can_job *job, int64_t left, int64_t each) {
    int64_t most = left / (each + THREAD_BYTES);
    return most < 1 ? 1 : most < job->options->threads ? (int)most : job->options->threads;
}

/* Memory in use until the cache is written, plus the maximum of a single step with one thread; the
 * rest is for more threads. */
leat_code leat_can_share_threads(leat_can_job *job, const leat_can_streams *streams,
                                 leat_error *err) {
    const leat_can_settings *settings = &job->options->settings;
    int64_t windows = 0, intervals = 0, ids = job->names.count, window = settings->window;
    for (int32_t i = 0; i < streams->count; i++) {
        int64_t frames = streams->items[i].frames;
        windows += frames / settings->stride + 1;
        intervals += frames < ids ? frames : ids;
    }
    malloc_trim(0); /* the limit counts what the process holds, not what it could return */
    int64_t kept = leat_rss_bytes() + plan_bytes(job, windows, intervals, ids);
    int64_t planner = leat_can_planner_bytes(window, ids), writer = leat_can_write_bytes(window);
    bool ranks = settings->scaler == LEAT_SCALER_ROBUST_BENIGN;
    int64_t ranker = ranks ? leat_can_rank_bytes(window) : 0;
    int64_t most = step_bytes(job, ids);
    int64_t left = job->options->memory_bytes - kept;
    job->plan_threads = threads_within(job, left, planner);
    job->write_threads = threads_within(job, left, writer);
    /* the heap may keep what the writers had */
    job->rank_threads = threads_within(job, left - job->write_threads * writer, ranker);
    if (most <= left) return LEAT_OK;
    job->is_short = true;
    return leat_fail(err, LEAT_ERR_LIMIT, "%lld windows of %lld frames and %lld identifiers",
                     (long long)windows, (long long)window, (long long)ids);
}
