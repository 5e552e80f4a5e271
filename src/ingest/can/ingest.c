/* `leat ingest can` as a function: checks the options, runs the steps in order, one exit path. See
 * cache/job.h. */
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/thread.h"
#include "format/dataset/manifest.h"
#include "ingest/can/cache/describe.h"
#include "ingest/can/cache/folder.h"
#include "ingest/can/cache/vocab.h"
#include "ingest/can/cache/write.h"
#include "ingest/can/read/column_option.h"
#include "ingest/can/read/rules.h"
#include "ingest/options.h"

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
#define PAGES_BYTES_MAX (INT64_C(1) << 30)

typedef struct can_job {
    const leat_can_ingest_options *options;
    leat_can_ingest_result *result;
    leat_can_splits splits;
    leat_can_folder folder;
    leat_can_store *store;
    leat_can_names names;
    leat_can_plan plan;
    leat_can_file *files; /* what the scan found in each */
    const char **paths;   /* of the files, for the reject log */
    leat_reject_log *rejects;
    leat_ticker ticker;
    int64_t begin_ns, resident;
    int scan_threads, plan_threads, write_threads, rank_threads; /* as many as memory allows */
    bool is_short;            /* of memory, not counting the store */
    leat_can_mapping mapping; /* of --column */
    bool resumable; /* the scan is saved, by this run or an earlier one: --resume can use it */
    bool kept;      /* the run has failed, and its work was left for --resume */
} can_job;

static double seconds(const can_job *job) {
    return (double)(leat_clock_ns() - job->begin_ns) * 1e-9;
}

/* ---- memory --------------------------------------------------------------------------------- */

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t slack_bytes(int64_t planned_bytes, int threads) {
    return smaller(SLACK_BYTES_MIN + threads * THREAD_BYTES + planned_bytes / 8, SLACK_BYTES_MAX);
}

/* How a limit on memory is shared out to the scan. */
typedef struct can_shares {
    int threads;
    int64_t rejects_bytes, scan_bytes; /* the second with the first */
} can_shares;

/* Half of the memory is for blocks of lines, the rest for what does not depend on threads. */
static can_shares share_scan(const can_job *job, int64_t memory_bytes) {
    int64_t own = larger(memory_bytes - job->resident, 0);
    int64_t each = leat_can_scan_memory(2) - leat_can_scan_memory(1) + WORKER_BYTES + THREAD_BYTES;
    int64_t threads = smaller(larger(own / 2 / each, 1), job->options->threads);
    can_shares shares = {.threads = (int)threads,
                         .rejects_bytes = smaller(own / 16, REJECT_BYTES_MAX)};
    shares.scan_bytes = leat_can_scan_memory(shares.threads) + shares.rejects_bytes;
    return shares;
}

/* Memory of planning and writing these logs with one thread, in two parts: what stays, and the
 * maximum of a single step. */
static int64_t plan_bytes(const can_job *job, int64_t windows, int64_t intervals, int64_t ids) {
    const leat_can_settings *settings = &job->options->settings;
    int64_t interval_bytes = intervals * (int64_t)sizeof(leat_can_interval);
    int64_t bytes = leat_can_plan_bytes(windows) + interval_bytes;
    /* memory that the heap has from finished threads may not serve later steps */
    bytes += leat_can_permutation_bytes(windows, settings);
    bytes += leat_can_pages_bytes(windows, settings->window, ids);
    return bytes + interval_bytes + leat_can_names_bytes(ids); /* the metadata's own */
}

static int64_t step_bytes(const can_job *job, int64_t ids) {
    const leat_can_settings *settings = &job->options->settings;
    int64_t window = settings->window;
    bool ranks = settings->scaler == LEAT_SCALER_ROBUST_BENIGN;
    int64_t most = larger(leat_can_planner_bytes(window, ids), leat_can_write_bytes(window));
    return larger(most, ranks ? leat_can_rank_bytes(window) : 0);
}

/* The memory, in bytes, of logs of which this much is known, from the scan to the last tensor, if
 * it is shared out as for a limit of memory_bytes. */
static int64_t required_bytes(const can_job *job, leat_can_store_facts of, int64_t memory_bytes) {
    const leat_can_ingest_options *o = job->options;
    const can_shares shares = share_scan(job, memory_bytes);
    const leat_can_store_facts *facts = &of;
    of.workers = shares.threads;
    int64_t before = shares.scan_bytes;
    int64_t names = leat_can_names_bytes(facts->ids);
    int64_t kept = leat_can_facts_kept_bytes(facts) + names;
    int64_t store = larger(leat_can_facts_least_bytes(facts, larger(names - before, 0)),
                           STORE_BYTES_MIN + shares.threads * WORKER_BYTES);
    int64_t windows = facts->frames / o->settings.stride + facts->captures;
    bool merged = o->settings.captures == LEAT_CAPTURES_MERGED;
    int64_t streams = merged ? job->splits.count : facts->captures;
    int64_t of_captures = streams * facts->ids;
    int64_t intervals = facts->frames < of_captures ? facts->frames : of_captures;
    int64_t least = larger(before + store, kept + leat_can_naming_bytes(facts->ids));
    least = larger(least, kept + plan_bytes(job, windows, intervals, facts->ids) +
                              step_bytes(job, facts->ids));
    least += smaller(least / 4, HEAP_BYTES_MAX) + slack_bytes(least, shares.threads);
    return job->resident + least + least / 16;
}

/* The smallest sufficient --memory, in MiB: with more of it, more threads read lines, which take
 * more. */
static int64_t least_mib(const can_job *job, const leat_can_store_facts *facts) {
    int64_t least = 0, required = required_bytes(job, *facts, 0);
    while (required > least) {
        least = ((required >> 20) + 1) << 20;
        required = required_bytes(job, *facts, least);
    }
    return least >> 20;
}

/* Logs that were not read: at most as many lines as their bytes allow, each with its own
 * identifier. */
static int64_t unread_mib(const can_job *job) {
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
static leat_code too_little(const can_job *job, leat_code code, leat_error *err) {
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
static leat_code store_memory(const can_job *job, const can_shares *shares, int64_t *left,
                              leat_error *err) {
    int64_t given = job->options->memory_bytes, own = larger(given - job->resident, 0);
    *left = given - job->resident - slack_bytes(own, shares->threads) - shares->scan_bytes;
    int64_t missing = STORE_BYTES_MIN + shares->threads * WORKER_BYTES - *left;
    if (missing <= 0) return LEAT_OK;
    int64_t least = ((given + 2 * missing) >> 20) + 1;
    /* usually enough for large logs */
    int64_t all = unread_mib(job), usual = leat_can_ingest_options_default().memory_bytes >> 20;
    return leat_fail(err, LEAT_ERR_LIMIT,
                     "--memory %lldM is too low for this process, which takes %lld MiB before it "
                     "reads a log; use --memory %lldM",
                     (long long)(given >> 20), (long long)(job->resident >> 20) + 1,
                     (long long)larger(least, smaller(all, usual)));
}

/* ---- scan ----------------------------------------------------------------------------------- */

/* What a scan leaves in the work folder. */
typedef struct can_saved {
    char state[LEAT_PATH_BYTES], counts[LEAT_PATH_BYTES], rejects[LEAT_PATH_BYTES];
} can_saved;

static leat_code saved_paths(const can_job *job, can_saved *saved, leat_error *err) {
    const char *work = job->folder.work;
    int64_t bytes = LEAT_PATH_BYTES;
    LEAT_TRY(leat_path_join(saved->state, bytes, work, LEAT_CAN_STATE_NAME, err));
    LEAT_TRY(leat_path_join(saved->counts, bytes, work, LEAT_CAN_COUNTS_NAME, err));
    return leat_path_join(saved->rejects, bytes, job->folder.out, LEAT_REJECTED_NAME, err);
}

/* The full disk is the one of --temp, which may not be the one of the cache. */
static leat_code name_temp(const can_job *job, leat_code code, leat_error *err) {
    if (code != LEAT_ERR_NO_SPACE) return code;
    return leat_error_context(err, code,
                              "frames are spilled to \"%s\"; free space there, or name a "
                              "folder on another disk with --temp",
                              job->folder.workdir.temp);
}

/* Lines into the store; rejected.csv in the work folder. */
static leat_code scan_lines(can_job *job, const can_saved *saved, leat_error *err) {
    const leat_can_settings *settings = &job->options->settings;
    const leat_can_scan_options options = {
        .format = settings->format,
        .lines = leat_can_lines_of(settings, job->folder.reader, &job->mapping),
        .max_rejected = job->options->max_rejected,
        .threads = job->scan_threads,
        .rejects = job->rejects,
        .batch = leat_can_store_take,
        .batch_context = job->store,
        .ticker = &job->ticker,
    };
    int64_t bytes = 0;
    for (int64_t i = 0; i < job->splits.inputs.count; i++)
        bytes += job->splits.inputs.items[i].facts.size_bytes;
    leat_ticker_stage(&job->ticker, "reading", "bytes", bytes);
    leat_code code = leat_can_scan(&job->splits.inputs, &options, job->files, err);
    if (code != LEAT_OK) code = leat_inputs_blame(&job->splits.inputs, code, err);
    if (code != LEAT_OK) return name_temp(job, code, err);
    LEAT_TRY(leat_reject_log_save(job->rejects, saved->rejects, err));
    return leat_can_store_finish(job->store, err);
}

static leat_code create_rejects(can_job *job, int64_t memory_bytes, leat_error *err) {
    int64_t count = job->splits.inputs.count;
    LEAT_TRY(LEAT_NEW(&job->paths, count, err));
    for (int64_t i = 0; i < count; i++) job->paths[i] = job->splits.inputs.items[i].path;
    return leat_reject_log_create(&job->rejects, &leat_can_rejects, job->paths, false,
                                  job->scan_threads, memory_bytes, job->folder.workdir.temp, err);
}

static leat_code load_saved(can_job *job, const leat_can_store_options *options,
                            const can_saved *saved, leat_error *err) {
    leat_path_facts facts;
    int64_t count = job->splits.inputs.count, rejected = 0;
    LEAT_TRY(leat_can_store_load(&job->store, options, saved->state, err));
    LEAT_TRY(leat_can_counts_load(job->files, count, job->store, saved->counts, err));
    for (int64_t i = 0; i < count; i++) rejected += job->files[i].lines - job->files[i].frames;
    LEAT_TRY(leat_path_stat(saved->rejects, &facts, err));
    if (facts.kind == LEAT_PATH_FILE || rejected == 0)
        return leat_can_look_again(&job->splits.inputs, &job->options->settings, job->folder.reader,
                                   job->files, err);
    return leat_fail(err, LEAT_ERR_NOT_FOUND, "\"%s\" no longer exists", saved->rejects);
}

/* The store as an interrupted run left it, and what that run found in the files. If the store is
 * missing or damaged, the run starts over. */
static leat_code resume(can_job *job, leat_can_store_options *store, const can_saved *saved,
                        leat_error *err) {
    leat_code code = load_saved(job, store, saved, err);
    job->result->resumed = job->result->verified = code == LEAT_OK;
    /* everything else in the work folder becomes the cache at the end */
    if (code == LEAT_OK) return leat_path_remove_drafts(job->folder.out, err);
    if (job->store != NULL) leat_can_store_keep(job->store);
    leat_can_store_destroy(job->store);
    job->store = NULL;
    if (code == LEAT_ERR_LIMIT) {
        return leat_fail(err, code, "--memory %lldM is too low to resume; use --memory %lldM",
                         (long long)(job->options->memory_bytes >> 20), (long long)unread_mib(job));
    }
    if (code != LEAT_ERR_NOT_FOUND && code != LEAT_ERR_CORRUPT) return code;
    job->resumable = false;
    LEAT_TRY(leat_can_folder_clear(&job->folder, &job->splits, &job->options->settings, err));
    store->temp_dir = job->folder.workdir.temp;
    store->run = job->folder.workdir.run;
    return LEAT_OK;
}

static void label_files(can_job *job) {
    leat_can_label_counts counts;
    leat_can_splits_label(&job->splits, job->files, job->options->settings.unlabelled, &counts);
    job->result->files_benign = counts.benign;
    job->result->files_unlabelled = counts.unlabelled;
}

/* Captures that are merged are sorted by time, whatever recordings they are of. */
static bool splits_falls(const leat_can_settings *settings) {
    return settings->clock_steps == LEAT_CLOCK_STEPS_SPLIT &&
           settings->captures == LEAT_CAPTURES_SEPARATE;
}

static leat_code scan(can_job *job, leat_error *err) {
    can_saved saved;
    const leat_can_ingest_options *o = job->options;
    int64_t files = job->splits.inputs.count;
    const can_shares shares = share_scan(job, o->memory_bytes);
    leat_can_store_options options = {
        .temp_dir = job->folder.workdir.temp,
        .run = job->folder.workdir.run,
        .workers = shares.threads,
        .file_count = (int32_t)files,
        .split_falls = splits_falls(&o->settings),
        .ticker = &job->ticker,
    };
    job->resumable = o->resume; /* whatever an interrupted run left, until it is checked */
    LEAT_TRY(saved_paths(job, &saved, err));
    job->scan_threads = shares.threads;
    LEAT_TRY(store_memory(job, &shares, &options.memory_bytes, err));
    LEAT_TRY(LEAT_NEW(&job->files, files, err));
    if (o->resume) LEAT_TRY(resume(job, &options, &saved, err));
    if (job->result->resumed) return LEAT_OK;
    LEAT_TRY(leat_can_store_create(&job->store, &options, err));
    LEAT_TRY(create_rejects(job, shares.rejects_bytes, err));
    LEAT_TRY(scan_lines(job, &saved, err));
    /* before --resume can trust the scan */
    LEAT_TRY(leat_inputs_unchanged(&job->splits.inputs, err));
    LEAT_TRY(leat_can_counts_save(job->files, files, saved.counts, err));
    LEAT_TRY(leat_can_store_save(job->store, saved.state, err));
    job->resumable = true;
    return LEAT_OK;
}

/* ---- streams -------------------------------------------------------------------------------- */

typedef struct can_streams {
    int32_t *of; /* the stream of each capture of the store; -1: left out */
    leat_can_stream *items;
    int32_t count;
} can_streams;

/* Whether a capture belongs to the stream of the previous one. */
static bool goes_on(const can_job *job, const leat_can_capture *before,
                    const leat_can_capture *capture) {
    const leat_can_settings *settings = &job->options->settings;
    const leat_can_source *files = job->splits.files;
    if (settings->captures == LEAT_CAPTURES_MERGED)
        return files[capture->file_index].split == files[before->file_index].split;
    return settings->bus == LEAT_BUS_MERGE && capture->recording == before->recording;
}

/* Steps back in the order of the frames that are merged: of each bus, or of the log. */
static void count_steps(can_job *job) {
    const leat_can_settings *settings = &job->options->settings;
    const leat_can_recording *recordings = NULL;
    const leat_can_capture *captures = NULL;
    leat_can_ingest_result *result = job->result;
    bool merged = settings->bus == LEAT_BUS_MERGE ||
                  (settings->bus < 0 && settings->captures == LEAT_CAPTURES_MERGED);
    int64_t count = leat_can_store_captures(job->store, &captures);
    for (int64_t i = 0; i < count && !merged; i++) {
        bool used = settings->bus < 0 || captures[i].bus == settings->bus;
        result->frames_stepped_back += used ? captures[i].steps_back : 0;
    }
    count = leat_can_store_recordings(job->store, &recordings);
    for (int64_t i = 0; i < count; i++) {
        const leat_can_recording *recording = &recordings[i];
        result->frames_stepped_back += merged ? recording->steps_back : 0;
        if (recording->number == 0) continue;
        if (result->clock_steps++ >= LEAT_CAN_CLOCK_STEPS_NAMED) continue;
        leat_can_clock_step *step = &result->clock_step[result->clock_step_count++];
        leat_inputs_name(job->splits.inputs.items[recording->file_index].path, step->file,
                         sizeof step->file);
        step->frame = recording->first_frame + 1;
        step->seconds = recording->fall_s;
    }
}

/* Captures are in the order of files, so those of one stream are neighbours. */
static leat_code make_streams(can_job *job, can_streams *streams, leat_error *err) {
    const leat_can_capture *captures = NULL, *before = NULL;
    const leat_can_recording *recordings = NULL;
    int64_t count = leat_can_store_captures(job->store, &captures);
    int64_t bus = job->options->settings.bus;
    leat_can_store_recordings(job->store, &recordings);
    count_steps(job);
    bool merged = job->options->settings.captures == LEAT_CAPTURES_MERGED;
    LEAT_TRY(LEAT_NEW(&streams->of, count, err));
    LEAT_TRY(LEAT_NEW(&streams->items, count, err));
    for (int64_t i = 0; i < count; i++) {
        const leat_can_capture *capture = &captures[i];
        streams->of[i] = -1;
        if (bus >= 0 && capture->bus != bus) {
            job->result->frames_left_out += capture->frames;
            continue;
        }
        if (before == NULL || !goes_on(job, before, capture)) {
            streams->items[streams->count++] = (leat_can_stream){
                .split = job->splits.files[capture->file_index].split,
                .file = merged ? -1 : capture->file_index,
                .recording = recordings[capture->recording].number,
                .bus = merged || bus == LEAT_BUS_MERGE ? -1 : capture->bus,
                .first_s = capture->first_s,
                .last_s = capture->last_s,
            };
        }
        leat_can_stream *stream = &streams->items[streams->count - 1];
        stream->frames += capture->frames;
        if (capture->first_s < stream->first_s) stream->first_s = capture->first_s;
        if (capture->last_s > stream->last_s) stream->last_s = capture->last_s;
        streams->of[i] = streams->count - 1;
        before = capture;
    }
    if (streams->count > 0 && streams->items[0].split == 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_INPUT, "the training logs contain no frames%s",
                     bus >= 0 ? " of the bus selected with --bus" : "");
}

/* ---- plan ----------------------------------------------------------------------------------- */

/* The number of threads that fit in `left` at `each` bytes per thread. */
static int threads_within(const can_job *job, int64_t left, int64_t each) {
    int64_t most = left / (each + THREAD_BYTES);
    return most < 1 ? 1 : most < job->options->threads ? (int)most : job->options->threads;
}

/* Memory in use until the cache is written, plus the maximum of a single step with one thread; the
 * rest is for more threads. */
static leat_code share_memory(can_job *job, const can_streams *streams, leat_error *err) {
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

/* Names stay; the memory for lines of the scan is free by now. */
static leat_code make_names(can_job *job, leat_error *err) {
    const leat_can_ingest_options *o = job->options;
    const leat_can_id *ids = NULL;
    int64_t count = leat_can_store_ids(job->store, &ids);
    malloc_trim(0);
    int64_t least = leat_rss_bytes() + leat_can_naming_bytes(count);
    int64_t more = leat_can_names_bytes(count) - share_scan(job, o->memory_bytes).scan_bytes;
    if (least > o->memory_bytes) {
        job->is_short = true;
        return leat_fail(err, LEAT_ERR_LIMIT, "%lld identifiers", (long long)count);
    }
    if (more > 0) LEAT_TRY(leat_can_store_hold(job->store, more, err));
    return leat_can_names_make(&job->names, job->store, &job->splits, &o->settings, err);
}

/* Whether the parts have the windows that were asked for. */
static leat_code check_sides(can_job *job, leat_error *err) {
    const leat_can_capture *captures = NULL;
    int64_t count = leat_can_store_captures(job->store, &captures);
    return leat_can_sides_check(&job->plan, &job->splits, captures, count, job->result->clock_steps,
                                job->result->warning, sizeof job->result->warning, err);
}

/* ---- the plan -------------------------------------------------------------------------------- */

static leat_code make_plan(can_job *job, leat_error *err) {
    const leat_can_ingest_options *o = job->options;
    can_streams streams = {0};
    leat_code code = make_streams(job, &streams, err);
    if (code == LEAT_OK) code = make_names(job, err);
    if (code == LEAT_OK)
        code = leat_can_store_order(job->store, streams.of, streams.count, job->names.number,
                                    o->threads, err);
    code = name_temp(job, code, err);
    if (code == LEAT_OK) code = share_memory(job, &streams, err);
    if (code == LEAT_OK)
        code = leat_can_plan_make(&job->plan, job->store, streams.items, streams.count,
                                  &job->splits, &o->settings, job->plan_threads, &job->ticker, err);
    if (code == LEAT_OK) code = check_sides(job, err);
    leat_free(streams.of);
    leat_free(streams.items);
    return code;
}

/* The frames read must equal those in windows, between, after, dropped and left out, or nothing is
 * published. */
static void count_frames(can_job *job) {
    leat_can_ingest_result *result = job->result;
    int64_t frames = 0, frames_in = 0;
    for (int64_t i = 0; i < job->splits.inputs.count; i++) {
        const leat_can_file *file = &job->files[i];
        frames_in += file->frames;
        result->lines_read += file->lines;
        result->rejected += file->lines - file->frames;
        result->frames_cut += file->frames_cut;
    }
    for (int32_t i = 0; i < job->plan.stream_count; i++) {
        const leat_can_stream *stream = &job->plan.streams[i];
        int64_t rest = stream->between + stream->tail + stream->dropped;
        LEAT_ASSERT(stream->between >= 0 && stream->tail >= 0 && rest <= stream->frames);
        result->frames_between += stream->between;
        result->frames_tail += stream->tail;
        result->frames_dropped += stream->dropped;
        result->frames_windowed += stream->frames - rest;
        frames += stream->frames;
    }
    LEAT_ASSERT(frames + result->frames_left_out == frames_in);
    result->frames = frames_in;
    result->windows_dropped = job->plan.windows_dropped;
}

/* ---- write ---------------------------------------------------------------------------------- */

/* What is known of the parts' files. */
typedef struct can_parts {
    int64_t file_bytes[LEAT_CAN_SPLITS_MAX];
    uint64_t pages_hash[LEAT_CAN_SPLITS_MAX];
} can_parts;

static const char *part_name(const can_job *job, int part) {
    return part == 0   ? LEAT_CAN_SPLIT_TRAIN
           : part == 1 ? LEAT_CAN_SPLIT_VAL
                       : job->splits.name[part - 1];
}

static leat_code part_path(const can_job *job, int part, const char *suffix,
                           char path[LEAT_PATH_BYTES], leat_error *err) {
    char name[LEAT_CAN_NAME_BYTES + 16];
    snprintf(name, sizeof name, "%s%s", part_name(job, part), suffix);
    return leat_path_join(path, LEAT_PATH_BYTES, job->folder.out, name, err);
}

static leat_code hash_pages(const char *path, uint64_t *hash, leat_error *err) {
    uint8_t *bytes = NULL;
    int64_t size = 0;
    LEAT_TRY(leat_file_load(path, PAGES_BYTES_MAX, &bytes, &size, err));
    *hash = leat_xxh3(bytes, size);
    leat_free(bytes);
    return LEAT_OK;
}

static leat_code write_parts(can_job *job, leat_can_write *write, can_parts *parts,
                             leat_error *err) {
    for (int part = 0; part < job->plan.part_count; part++) {
        char path[LEAT_PATH_BYTES], pages[LEAT_PATH_BYTES];
        LEAT_TRY(part_path(job, part, LEAT_CAN_TENSORS_SUFFIX, path, err));
        LEAT_TRY(part_path(job, part, LEAT_CAN_PAGES_SUFFIX, pages, err));
        LEAT_TRY(leat_can_write_part(write, part, path, pages, &parts->file_bytes[part], err));
        LEAT_TRY(hash_pages(pages, &parts->pages_hash[part], err));
        job->result->bytes_written += parts->file_bytes[part];
    }
    return LEAT_OK;
}

/* All are synced at the end: while the disk writes one part the next one is built. */
static leat_code sync_parts(can_job *job, leat_error *err) {
    static const char *const suffixes[] = {LEAT_CAN_TENSORS_SUFFIX, LEAT_CAN_PAGES_SUFFIX};
    leat_ticker_stage(&job->ticker, "waiting for the disk", "parts", job->plan.part_count);
    for (int i = 0; i < 2 * job->plan.part_count; i++) {
        char path[LEAT_PATH_BYTES];
        leat_file *file = NULL;
        LEAT_TRY(part_path(job, i / 2, suffixes[i % 2], path, err));
        LEAT_TRY(leat_file_open(&file, path, LEAT_FILE_UPDATE, err));
        leat_code code = leat_file_sync(file, err);
        leat_file_close(file);
        if (code != LEAT_OK) return code;
        LEAT_TRY(leat_ticker_step(&job->ticker, i % 2, err));
    }
    return LEAT_OK;
}

/* Graphs, and the scaler computed from them. */
static leat_code write_graphs(can_job *job, can_parts *parts, leat_can_meta *meta,
                              leat_error *err) {
    int threads = job->write_threads, rank_threads = job->rank_threads;
    leat_can_write write = {.plan = &job->plan,
                            .store = job->store,
                            .vocab_count = (uint32_t)job->names.known,
                            .threads = threads,
                            .rank_threads = rank_threads,
                            .ticker = &job->ticker};
    LEAT_TRY(leat_pool_create(&write.pool, threads > rank_threads ? threads : rank_threads, err));
    leat_code code = write_parts(job, &write, parts, err);
    if (code == LEAT_OK) job->result->seconds_written = seconds(job);
    if (code == LEAT_OK) code = leat_can_write_scaler(&write, &meta->scaler, err);
    leat_pool_destroy(write.pool);
    return code;
}

static leat_code write_cache(can_job *job, can_parts *parts, leat_can_meta *meta, leat_error *err) {
    const leat_can_description description = {
        .options = job->options,
        .splits = &job->splits,
        .files = job->files,
        .plan = &job->plan,
        .names = &job->names,
        .digest = job->folder.digest,
        .reader = job->folder.reader,
        .file_bytes = parts->file_bytes,
        .pages_hash = parts->pages_hash,
    };
    LEAT_TRY(write_graphs(job, parts, meta, err));
    LEAT_TRY(leat_can_describe(&description, meta, err));
    LEAT_TRY(leat_can_meta_save(meta, job->folder.out, err));
    return sync_parts(job, err);
}

/* ---- the complete ingest -------------------------------------------------------------------- */

static void append_warning(leat_can_ingest_result *result, const char *text) {
    size_t used = strlen(result->warning), size = sizeof result->warning;
    if (text[0] == 0) return;
    snprintf(result->warning + used, size - used, "%s%s", used > 0 ? "; " : "", text);
}

static void fill_result(can_job *job, const leat_can_meta *meta) {
    leat_can_ingest_result *result = job->result;
    snprintf(result->cache, sizeof result->cache, "%s", job->folder.cache);
    snprintf(result->digest, sizeof result->digest, "%s", meta->digest);
    result->files = job->splits.inputs.count;
    result->skipped = job->splits.inputs.skipped;
    result->captures = meta->capture_count;
    result->identifiers = meta->ids.count;
    result->vocabulary = meta->ids.known;
    const char *wanted = leat_can_meta_get(meta, "scaler");
    snprintf(result->scaler, sizeof result->scaler, "%s", meta->scaler_strategy);
    result->scaler_changed = wanted != NULL && strcmp(wanted, meta->scaler_strategy) != 0;
    result->split_count = meta->split_count;
    for (int i = 0; i < meta->split_count; i++) {
        const leat_can_meta_split *split = &meta->splits[i];
        snprintf(result->split_name[i], sizeof result->split_name[i], "%s", split->name);
        result->split_graphs[i] = split->graphs;
    }
    result->memory_peak_bytes = leat_rss_peak_bytes();
    result->seconds_total = seconds(job);
}

/* The facts of an existing cache, which does not record the lines of its logs or the frames of
 * excluded buses. */
static leat_code report_found(can_job *job, leat_error *err) {
    leat_can_meta meta;
    leat_can_ingest_result *result = job->result;
    result->found = true;
    result->verified = job->folder.hashed;
    LEAT_TRY(leat_can_meta_load(&meta, job->folder.cache, false, err));
    leat_code code = leat_can_folder_check(&job->folder, &meta, job->options, &job->ticker, err);
    if (code == LEAT_OK) {
        fill_result(job, &meta);
        code = leat_can_found_labels(&meta, result, err);
    }
    if (code != LEAT_OK) {
        leat_can_meta_free(&meta);
        return code;
    }
    leat_can_sides_warn(&meta, &job->options->settings, result->warning, sizeof result->warning);
    append_warning(result, meta.warning);
    result->frames_cut = meta.frames_cut;
    for (int64_t i = 0; i < meta.capture_count; i++) {
        const leat_can_meta_capture *capture = &meta.captures[i];
        result->frames += capture->frames;
        result->frames_between += capture->between;
        result->frames_tail += capture->tail;
        result->frames_dropped += capture->dropped;
    }
    result->frames_windowed =
        result->frames - result->frames_between - result->frames_tail - result->frames_dropped;
    result->windows_dropped = meta.windows_dropped;
    result->lines_read = result->rejected = -1;
    result->frames_stepped_back = result->clock_steps = -1;
    result->files_benign = result->files_unlabelled = -1;
    if (job->options->settings.bus >= 0) result->frames = result->frames_left_out = -1;
    leat_can_meta_free(&meta);
    return LEAT_OK;
}

static void count_labels(can_job *job) {
    for (int part = 0; part < job->plan.part_count; part++) {
        for (int64_t i = job->plan.part_begin[part]; i < job->plan.part_begin[part + 1]; i++) {
            int y = job->plan.windows[job->plan.order[i]].y;
            job->result->split_attacks[part] += y > 0;
            job->result->split_unlabelled[part] += y < 0;
        }
    }
}

static leat_code make_cache(can_job *job, leat_error *err) {
    can_parts *parts = NULL;
    leat_can_meta *meta = NULL;
    LEAT_TRY(too_little(job, scan(job, err), err));
    label_files(job);
    job->result->seconds_scan = seconds(job);
    LEAT_TRY(too_little(job, make_plan(job, err), err));
    count_frames(job);
    job->result->bytes_spilled = leat_can_store_spilled(job->store);
    leat_code code = LEAT_NEW(&parts, 1, err);
    if (code == LEAT_OK) code = LEAT_NEW(&meta, 1, err);
    if (code == LEAT_OK)
        code = leat_can_note_files(job->files, &job->splits, &job->options->settings, meta->warning,
                                   sizeof meta->warning, err);
    if (code == LEAT_OK) append_warning(job->result, meta->warning);
    leat_can_names_warn(&job->names, &job->options->settings, job->result->warning,
                        sizeof job->result->warning);
    if (code == LEAT_OK) code = write_cache(job, parts, meta, err);
    if (code == LEAT_OK) count_labels(job);
    if (code == LEAT_OK) fill_result(job, meta);
    if (meta != NULL) leat_can_meta_free(meta);
    leat_free(meta);
    leat_free(parts);
    return code;
}

/* The last point at which the caller can stop the run. */
static leat_code may_publish(can_job *job, leat_error *err) {
    leat_ticker_stage(&job->ticker, "publishing", "", -1);
    return leat_ticker_check(&job->ticker, err);
}

static leat_code run(can_job *job, const char *const *paths, int64_t path_count,
                     const char *cache_dir, leat_error *err) {
    const leat_can_ingest_options *o = job->options;
    LEAT_TRY(leat_settings_check(leat_can_settings_table(), &o->settings, err));
    LEAT_TRY(leat_can_mapping_read(&job->mapping, &o->settings, err));
    LEAT_TRY(leat_can_splits_find(paths, path_count, o, &job->splits, err));
    LEAT_TRY(leat_can_folder_open(&job->folder, cache_dir, &job->splits, o, &job->ticker, err));
    if (job->folder.found) {
        LEAT_TRY(report_found(job, err));
        leat_can_note_attacks(job->result, job->result->warning, sizeof job->result->warning);
        append_warning(job->result, job->folder.warning);
        return LEAT_OK;
    }
    leat_error failure = {0};
    leat_code code = make_cache(job, &failure);
    if (code == LEAT_OK)
        leat_can_note_attacks(job->result, job->result->warning, sizeof job->result->warning);
    if (code == LEAT_OK) code = may_publish(job, &failure);
    if (code == LEAT_OK) code = leat_can_folder_publish(&job->folder, &failure);
    bool keep = code != LEAT_OK && job->resumable && (code == LEAT_ERR_CANCELLED || o->resume);
    job->kept = keep;
    if (keep && job->store != NULL) leat_can_store_keep(job->store);
    leat_can_store_destroy(job->store);
    job->store = NULL;
    leat_can_folder_close(&job->folder, keep);
    append_warning(job->result, job->folder.warning);
    return code == LEAT_OK ? LEAT_OK : leat_error_copy(err, &failure);
}

/* A user who stops a run wants to know whether it can be continued. */
static leat_code explain(const can_job *job, const leat_error *why, leat_error *err) {
    if (why->code != LEAT_ERR_CANCELLED) return leat_error_copy(err, why);
    return leat_fail(err, why->code, "%s; %s", why->message,
                     job->kept ? "use --resume to continue after the scan"
                               : "there is no complete scan that --resume could continue "
                                 "after; run the same command again");
}

leat_code leat_can_ingest(const char *const *paths, int64_t path_count, const char *cache_dir,
                          const leat_can_ingest_options *options, leat_can_ingest_result *result,
                          leat_error *err) {
    *result = (leat_can_ingest_result){0};
    LEAT_TRY(leat_settings_check(leat_can_ingest_options_table(), options, err));
    LEAT_TRY(leat_ingest_check_flags(options->resume, options->replace, err));
    can_job *job = NULL;
    LEAT_TRY(LEAT_NEW(&job, 1, err));
    job->options = options;
    job->result = result;
    job->begin_ns = leat_clock_ns();
    job->resident = leat_rss_bytes();
    leat_ticker_create(&job->ticker, options->progress, options->progress_user);
    leat_error why = {0};
    leat_code code = run(job, paths, path_count, cache_dir, &why);
    if (code != LEAT_OK) code = explain(job, &why, err);
    leat_ticker_destroy(&job->ticker);
    leat_reject_log_destroy(job->rejects);
    leat_can_plan_free(&job->plan);
    leat_can_names_free(&job->names);
    leat_can_splits_free(&job->splits);
    leat_free(job->files);
    leat_free(job->paths);
    leat_free(job);
    if (code != LEAT_OK) *result = (leat_can_ingest_result){0};
    return code;
}
