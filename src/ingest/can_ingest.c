/* `leat ingest can` as a function: options checked, steps in order, one way out. See can_job.h. */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/thread.h"
#include "format/manifest.h"
#include "ingest/can_describe.h"
#include "ingest/can_folder.h"
#include "ingest/can_vocab.h"
#include "ingest/can_write.h"

/* What the process takes besides the parts that are planned. */
#define SLACK_BYTES (INT64_C(16) << 20)
#define REJECT_BYTES (INT64_C(4) << 20)
#define PAGES_BYTES_MAX (INT64_C(1) << 30)
#define STATE_NAME "scan.state"
#define COUNTS_NAME "scan.json"

leat_can_ingest_options leat_can_ingest_options_default(void) {
    leat_can_ingest_options options = {
        .memory_bytes = INT64_C(512) << 20,
        .threads = leat_cpu_count(),
    };
    leat_code code = leat_can_settings_preset(&options.settings, "default", NULL);
    LEAT_ASSERT(code == LEAT_OK);
    return options;
}

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
    int64_t bytes_reported;
    leat_ticker ticker;
    int64_t begin_ns, resident;
    int plan_threads, write_threads, rank_threads; /* as many as memory is there for */
    bool resumable; /* the scan is saved, by this run or by one before: --resume has a use for it */
} can_job;

static double seconds(const can_job *job) {
    return (double)(leat_clock_ns() - job->begin_ns) * 1e-9;
}

/* ---- memory --------------------------------------------------------------------------------- */

/* What is left of --memory for the store's tables and buffers while others take `taken`. */
static leat_code store_memory(const can_job *job, int64_t taken, int64_t *left, leat_error *err) {
    const int64_t least = INT64_C(8) << 20;
    *left = job->options->memory_bytes - job->resident - SLACK_BYTES - taken;
    if (*left >= least) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_LIMIT, "--memory: %lld MiB with %d threads; %lld MiB would do",
                     (long long)(job->options->memory_bytes >> 20), job->options->threads,
                     (long long)((job->options->memory_bytes + least - *left) >> 20) + 1);
}

/* ---- scan ----------------------------------------------------------------------------------- */

/* What a scan leaves in the work folder. */
typedef struct can_saved {
    char state[LEAT_PATH_BYTES], counts[LEAT_PATH_BYTES], rejects[LEAT_PATH_BYTES];
} can_saved;

static leat_code saved_paths(const can_job *job, can_saved *saved, leat_error *err) {
    const char *work = job->folder.work;
    LEAT_TRY(leat_path_join(saved->state, sizeof saved->state, work, STATE_NAME, err));
    LEAT_TRY(leat_path_join(saved->counts, sizeof saved->counts, work, COUNTS_NAME, err));
    return leat_path_join(saved->rejects, sizeof saved->rejects, work, LEAT_REJECTED_NAME, err);
}

static bool report_scan(void *context, int64_t bytes_done, int64_t lines_done) {
    can_job *job = context;
    (void)lines_done;
    bool go_on = leat_ticker_add(&job->ticker, bytes_done - job->bytes_reported);
    job->bytes_reported = bytes_done;
    return go_on;
}

/* A full disk is where --temp points to, and need not be where the cache is. */
static leat_code name_temp(const can_job *job, leat_code code, leat_error *err) {
    if (code != LEAT_ERR_NO_SPACE) return code;
    return leat_error_context(err, code,
                              "frames are spilled to \"%s\": make room there, or name a folder on "
                              "another disk with --temp",
                              job->folder.temp);
}

/* Lines into the store; rejected.csv in the work folder. */
static leat_code scan_lines(can_job *job, const can_saved *saved, leat_error *err) {
    const leat_can_settings *settings = &job->options->settings;
    const leat_can_scan_options options = {
        .format = settings->format,
        .lines = {.canonical = settings->identifiers == LEAT_IDS_CANONICAL,
                  .strict = settings->payload == LEAT_PAYLOAD_STRICT,
                  .fd_refuse = settings->fd == LEAT_CAN_FD_REFUSE},
        .threads = job->options->threads,
        .rejects = job->rejects,
        .batch = leat_can_store_take,
        .batch_context = job->store,
        .progress = report_scan,
        .progress_context = job,
    };
    int64_t bytes = 0;
    for (int64_t i = 0; i < job->splits.inputs.count; i++)
        bytes += job->splits.inputs.items[i].facts.size_bytes;
    leat_ticker_stage(&job->ticker, "reading", "bytes", bytes);
    leat_code code = leat_can_scan(&job->splits.inputs, &options, job->files, err);
    if (code != LEAT_OK) return name_temp(job, code, err);
    LEAT_TRY(leat_reject_log_save(job->rejects, saved->rejects, err));
    return leat_can_store_finish(job->store, err);
}

static leat_code create_rejects(can_job *job, leat_error *err) {
    int64_t count = job->splits.inputs.count;
    LEAT_TRY(LEAT_NEW(&job->paths, count, err));
    for (int64_t i = 0; i < count; i++) job->paths[i] = job->splits.inputs.items[i].path;
    return leat_reject_log_create(&job->rejects, &leat_can_rejects, job->paths, false,
                                  job->options->threads, REJECT_BYTES, job->folder.temp, err);
}

static leat_code load_saved(can_job *job, const leat_can_store_options *options,
                            const can_saved *saved, leat_error *err) {
    leat_path_facts facts;
    int64_t count = job->splits.inputs.count, rejected = 0;
    LEAT_TRY(leat_can_store_load(&job->store, options, saved->state, err));
    LEAT_TRY(leat_can_counts_load(job->files, count, job->store, saved->counts, err));
    for (int64_t i = 0; i < count; i++) rejected += job->files[i].lines - job->files[i].frames;
    LEAT_TRY(leat_path_stat(saved->rejects, &facts, err));
    if (facts.kind == LEAT_PATH_FILE || rejected == 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_NOT_FOUND, "\"%s\" is gone", saved->rejects);
}

/* The store as an interrupted run has left it, and what it found in the files. Where there is none,
 * or none that is whole, the run begins anew. */
static leat_code resume(can_job *job, const leat_can_store_options *options, const can_saved *saved,
                        leat_error *err) {
    leat_code code = load_saved(job, options, saved, err);
    job->result->resumed = code == LEAT_OK;
    if (code == LEAT_OK) return LEAT_OK;
    if (job->store != NULL) leat_can_store_keep(job->store);
    leat_can_store_destroy(job->store);
    job->store = NULL;
    if (code != LEAT_ERR_NOT_FOUND && code != LEAT_ERR_CORRUPT) return code;
    job->resumable = false;
    return leat_can_folder_clear(&job->folder, err);
}

static leat_code scan(can_job *job, leat_error *err) {
    can_saved saved;
    const leat_can_ingest_options *o = job->options;
    int64_t files = job->splits.inputs.count;
    leat_can_store_options options = {
        .temp_dir = job->folder.temp,
        .workers = o->threads,
        .file_count = (int32_t)files,
        .ticker = &job->ticker,
    };
    job->resumable = o->resume; /* whatever an interrupted run has left, until it is seen */
    LEAT_TRY(saved_paths(job, &saved, err));
    LEAT_TRY(store_memory(job, leat_can_scan_memory(o->threads) + REJECT_BYTES,
                          &options.memory_bytes, err));
    LEAT_TRY(LEAT_NEW(&job->files, files, err));
    if (o->resume) LEAT_TRY(resume(job, &options, &saved, err));
    if (job->result->resumed) return LEAT_OK;
    LEAT_TRY(leat_can_store_create(&job->store, &options, err));
    LEAT_TRY(create_rejects(job, err));
    LEAT_TRY(scan_lines(job, &saved, err));
    LEAT_TRY(leat_can_inputs_unchanged(&job->splits, err)); /* before --resume can trust the scan */
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

/* Whether a capture belongs to the stream of the one before it. */
static bool goes_on(const can_job *job, const leat_can_capture *before,
                    const leat_can_capture *capture) {
    const leat_can_settings *settings = &job->options->settings;
    const leat_can_source *files = job->splits.files;
    if (settings->captures == LEAT_CAPTURES_MERGED)
        return files[capture->file_index].split == files[before->file_index].split;
    return settings->bus == LEAT_BUS_MERGE && capture->file_index == before->file_index;
}

/* Captures are in the order of files, so those of one stream are neighbours. */
static leat_code make_streams(can_job *job, can_streams *streams, leat_error *err) {
    const leat_can_capture *captures = NULL, *before = NULL;
    int64_t count = leat_can_store_captures(job->store, &captures);
    int64_t bus = job->options->settings.bus;
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
                .bus = merged || bus == LEAT_BUS_MERGE ? -1 : capture->bus,
                .first_s = capture->first_s,
                .last_s = capture->last_s,
            };
        }
        leat_can_stream *stream = &streams->items[streams->count - 1];
        stream->frames += capture->frames;
        job->result->frames_stepped_back += capture->steps_back;
        if (capture->first_s < stream->first_s) stream->first_s = capture->first_s;
        if (capture->last_s > stream->last_s) stream->last_s = capture->last_s;
        streams->of[i] = streams->count - 1;
        before = capture;
    }
    if (streams->count > 0 && streams->items[0].split == 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_INPUT, "the training logs hold no frame%s",
                     bus >= 0 ? " of the bus that --bus names" : "");
}

/* ---- plan ----------------------------------------------------------------------------------- */

/* Threads for what takes `each` for one of them, within `left`. */
static int threads_within(const can_job *job, int64_t left, int64_t each) {
    int64_t most = each > 0 ? left / each : job->options->threads;
    return most < 1 ? 1 : most < job->options->threads ? (int)most : job->options->threads;
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* What is taken until the cache is written, and on top of it the most that one step takes with one
 * thread; what more there is is for more threads. */
static leat_code share_memory(can_job *job, const can_streams *streams, leat_error *err) {
    const leat_can_settings *settings = &job->options->settings;
    int64_t windows = 0, intervals = 0, ids = job->names.count, window = settings->window;
    for (int32_t i = 0; i < streams->count; i++) {
        int64_t frames = streams->items[i].frames;
        windows += frames / settings->stride + 1;
        intervals += frames < ids ? frames : ids;
    }
    int64_t interval_bytes = intervals * (int64_t)sizeof(leat_can_interval);
    int64_t kept = leat_rss_bytes() + leat_can_plan_bytes(windows) + interval_bytes;
    /* what the heap has from threads that are done need not serve what comes behind them */
    kept += leat_can_permutation_bytes(windows, settings) + leat_can_pages_bytes(windows, window);
    kept += interval_bytes + leat_can_names_bytes(ids); /* the metadata's own */
    int64_t planner = leat_can_planner_bytes(window, ids), writer = leat_can_write_bytes(window);
    bool ranks = settings->scaler == LEAT_SCALER_ROBUST_BENIGN;
    int64_t ranker = ranks ? leat_can_rank_bytes(window) : 0;
    int64_t most = larger(larger(planner, writer), ranker);
    int64_t left = job->options->memory_bytes - kept, least = kept + most;
    job->plan_threads = threads_within(job, left, planner);
    job->write_threads = threads_within(job, left, writer);
    job->rank_threads = threads_within(job, left, ranker);
    if (most <= left) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_LIMIT,
                     "%lld windows of %lld frames and %lld identifiers take %lld MiB: give "
                     "--memory so much, or a larger --stride",
                     (long long)windows, (long long)window, (long long)ids,
                     (long long)(least >> 20) + 1);
}

/* Names stay; what was for the lines of the scan is free by now. */
static leat_code make_names(can_job *job, leat_error *err) {
    const leat_can_ingest_options *o = job->options;
    const leat_can_id *ids = NULL;
    int64_t count = leat_can_store_ids(job->store, &ids);
    int64_t least = leat_rss_bytes() + leat_can_naming_bytes(count);
    int64_t more = leat_can_names_bytes(count) - leat_can_scan_memory(o->threads) - REJECT_BYTES;
    if (least > o->memory_bytes) {
        return leat_fail(err, LEAT_ERR_LIMIT,
                         "%lld identifiers take %lld MiB: give --memory so much", (long long)count,
                         (long long)(least >> 20) + 1);
    }
    if (more > 0) LEAT_TRY(leat_can_store_hold(job->store, more, err));
    return leat_can_names_make(&job->names, job->store, &job->splits, &o->settings, err);
}

/* ---- sides of the validation split that are empty -------------------------------------------- */

/* The log whose times span most: where a clock is wrong, it is that one. */
typedef struct can_span {
    const char *folder, *file;
    double first_s, last_s;
} can_span;

static void widen(can_span *widest, const char *folder, const char *file, double first_s,
                  double last_s) {
    bool first = widest->file == NULL;
    if (first || last_s - first_s > widest->last_s - widest->first_s)
        *widest = (can_span){folder, file, first_s, last_s};
}

/* The side that blocks of time leave without a window, though there are some; NULL: none. */
static const char *empty_side(const can_job *job, int64_t train, int64_t val, int64_t dropped) {
    const leat_can_settings *settings = &job->options->settings;
    bool blocks = settings->val_split == LEAT_VAL_BLOCKS && settings->val_fraction > 0;
    if (!blocks || train + val + dropped == 0) return NULL;
    return train == 0 ? "training" : val == 0 ? "validation" : NULL;
}

static void say_empty(char *text, int64_t size_bytes, const char *side, int64_t windows,
                      const can_span *widest) {
    const char *other = strcmp(side, "training") == 0 ? "validation" : "training";
    snprintf(text, (size_t)size_bytes,
             "no window is left for %s: time is cut into %d blocks, and all %lld windows lie in "
             "blocks of %s or at a cut; the longest log, \"%.80s/%.80s\", is from %.3f to %.3f s: "
             "take frames whose clock is wrong out of it, or pass --val-split random or "
             "--val-fraction 0",
             side, (int)LEAT_CAN_BLOCKS, (long long)windows, other, widest->folder, widest->file,
             widest->first_s, widest->last_s);
}

/* Where windows are fewer than blocks, chance leaves either side empty. */
static leat_code check_sides(can_job *job, leat_error *err) {
    const leat_can_plan *plan = &job->plan;
    const leat_can_capture *captures = NULL;
    const int64_t *begin = plan->part_begin;
    int64_t train = begin[1] - begin[0], val = begin[2] - begin[1];
    int64_t windows = train + val + plan->windows_dropped, bus = job->options->settings.bus;
    const char *side = empty_side(job, train, val, plan->windows_dropped);
    can_span widest = {0};
    if (side == NULL) return LEAT_OK;
    int64_t count = leat_can_store_captures(job->store, &captures);
    for (int64_t i = 0; i < count; i++) {
        const leat_can_source *file = &job->splits.files[captures[i].file_index];
        if (file->split != 0 || (bus >= 0 && captures[i].bus != bus)) continue;
        widen(&widest, file->folder, file->name, captures[i].first_s, captures[i].last_s);
    }
    char *text = job->result->warning;
    say_empty(text, sizeof job->result->warning, side, windows, &widest);
    if (train > 0 || windows < LEAT_CAN_BLOCKS) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_INPUT, "%s", text);
}

/* Of a cache that was found, by what it says. */
static void warn_found(can_job *job, const leat_can_meta *meta) {
    int64_t train = meta->splits[0].graphs, val = meta->splits[1].graphs;
    const char *side = empty_side(job, train, val, meta->windows_dropped);
    can_span widest = {0};
    if (side == NULL) return;
    for (int64_t i = 0; i < meta->capture_count; i++) {
        const leat_can_meta_capture *capture = &meta->captures[i];
        if (strcmp(capture->split, LEAT_CAN_SPLIT_TRAIN) != 0) continue;
        widen(&widest, capture->folder, capture->file[0] != 0 ? capture->file : "(all of them)",
              capture->first_s, capture->last_s);
    }
    if (widest.file == NULL) return;
    say_empty(job->result->warning, sizeof job->result->warning, side,
              train + val + meta->windows_dropped, &widest);
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

/* Frames in = frames in windows, between, behind, dropped, left out: or nothing is published. */
static void count_frames(can_job *job) {
    leat_can_ingest_result *result = job->result;
    int64_t frames = 0, frames_in = 0;
    for (int64_t i = 0; i < job->splits.inputs.count; i++) {
        const leat_can_file *file = &job->files[i];
        frames_in += file->frames;
        result->lines_read += file->lines;
        result->rejected += file->lines - file->frames;
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
    return leat_path_join(path, LEAT_PATH_BYTES, job->folder.work, name, err);
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

/* All at the end: while the disk writes one part the next one is made. */
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
        if (!leat_ticker_add(&job->ticker, i % 2)) return leat_ticker_check(&job->ticker, err);
    }
    return LEAT_OK;
}

static leat_code write_cache(can_job *job, can_parts *parts, leat_can_meta *meta, leat_error *err) {
    leat_can_write write = {.plan = &job->plan,
                            .store = job->store,
                            .vocab_count = (uint32_t)job->names.known,
                            .threads = job->write_threads,
                            .rank_threads = job->rank_threads,
                            .ticker = &job->ticker};
    const leat_can_description description = {
        .options = job->options,
        .splits = &job->splits,
        .files = job->files,
        .plan = &job->plan,
        .names = &job->names,
        .digest = job->folder.digest,
        .file_bytes = parts->file_bytes,
        .pages_hash = parts->pages_hash,
    };
    LEAT_TRY(write_parts(job, &write, parts, err));
    job->result->seconds_written = seconds(job);
    LEAT_TRY(leat_can_write_scaler(&write, &meta->scaler, err));
    LEAT_TRY(leat_can_describe(&description, meta, err));
    LEAT_TRY(leat_can_folder_describe(&job->folder, &job->splits, &job->options->settings, err));
    LEAT_TRY(leat_can_meta_save(meta, job->folder.work, err));
    return sync_parts(job, err);
}

/* ---- all of it ------------------------------------------------------------------------------ */

static void fill_result(can_job *job, const leat_can_meta *meta) {
    leat_can_ingest_result *result = job->result;
    snprintf(result->cache, sizeof result->cache, "%s", job->folder.cache);
    snprintf(result->digest, sizeof result->digest, "%s", meta->digest);
    result->files = job->splits.inputs.count;
    result->captures = meta->capture_count;
    result->identifiers = meta->ids.count;
    result->vocabulary = meta->ids.known;
    result->split_count = meta->split_count;
    for (int i = 0; i < meta->split_count; i++) {
        const leat_can_meta_split *split = &meta->splits[i];
        snprintf(result->split_name[i], sizeof result->split_name[i], "%s", split->name);
        result->split_graphs[i] = split->graphs;
    }
    result->memory_peak_bytes = leat_rss_peak_bytes();
    result->seconds_total = seconds(job);
}

/* A cache that is there already: what it says. It has neither the lines of its logs nor the frames
 * of buses that it left out. */
static leat_code report_found(can_job *job, leat_error *err) {
    leat_can_meta meta;
    leat_can_ingest_result *result = job->result;
    result->found = true;
    LEAT_TRY(leat_can_meta_load(&meta, job->folder.cache, false, err));
    fill_result(job, &meta);
    warn_found(job, &meta);
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
    result->lines_read = result->rejected = result->frames_stepped_back = -1;
    if (job->options->settings.bus >= 0) result->frames = result->frames_left_out = -1;
    leat_can_meta_free(&meta);
    return LEAT_OK;
}

static void count_attacks(can_job *job) {
    for (int part = 0; part < job->plan.part_count; part++) {
        for (int64_t i = job->plan.part_begin[part]; i < job->plan.part_begin[part + 1]; i++) {
            bool attack = job->plan.windows[job->plan.order[i]].attack_count > 0;
            job->result->split_attacks[part] += attack;
        }
    }
}

static leat_code make_cache(can_job *job, leat_error *err) {
    can_parts *parts = NULL;
    leat_can_meta *meta = NULL;
    LEAT_TRY(scan(job, err));
    job->result->seconds_scan = seconds(job);
    LEAT_TRY(make_plan(job, err));
    count_frames(job);
    job->result->bytes_spilled = leat_can_store_spilled(job->store);
    leat_code code = LEAT_NEW(&parts, 1, err);
    if (code == LEAT_OK) code = LEAT_NEW(&meta, 1, err);
    if (code == LEAT_OK) code = write_cache(job, parts, meta, err);
    if (code == LEAT_OK) count_attacks(job);
    if (code == LEAT_OK) fill_result(job, meta);
    if (meta != NULL) leat_can_meta_free(meta);
    leat_free(meta);
    leat_free(parts);
    return code;
}

/* The last time that the caller can stop the run. */
static leat_code may_publish(can_job *job, leat_error *err) {
    leat_ticker_stage(&job->ticker, "publishing", "", -1);
    return leat_ticker_check(&job->ticker, err);
}

/* The spill and the state of the scan go, then the work folder is the cache. */
static leat_code publish(can_job *job, leat_error *err) {
    static const char *const names[] = {STATE_NAME, COUNTS_NAME};
    leat_can_store_destroy(job->store);
    job->store = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[LEAT_PATH_BYTES];
        LEAT_TRY(leat_path_join(path, sizeof path, job->folder.work, names[i], err));
        LEAT_TRY(leat_path_remove(path, err));
    }
    return leat_can_folder_publish(&job->folder, err);
}

static leat_code run(can_job *job, const char *const *paths, int64_t path_count,
                     const char *cache_dir, leat_error *err) {
    const leat_can_ingest_options *o = job->options;
    LEAT_TRY(leat_can_settings_check(&o->settings, err));
    if (o->settings.seed > INT64_MAX) {
        return leat_fail(err, LEAT_ERR_OPTION, "seed: %llu; a cache takes 0 to 2^63 - 1",
                         (unsigned long long)o->settings.seed);
    }
    LEAT_TRY(leat_can_splits_find(paths, path_count, o, &job->splits, err));
    LEAT_TRY(leat_can_folder_open(&job->folder, cache_dir, &job->splits, o, &job->ticker, err));
    if (job->folder.found) return report_found(job, err);
    leat_error failure = {0};
    leat_code code = make_cache(job, &failure);
    if (code == LEAT_OK) code = may_publish(job, &failure);
    bool keep = code != LEAT_OK && job->resumable && (code == LEAT_ERR_CANCELLED || o->resume);
    if (keep && job->store != NULL) leat_can_store_keep(job->store);
    if (code == LEAT_OK) code = publish(job, &failure);
    leat_can_store_destroy(job->store);
    job->store = NULL;
    leat_can_folder_close(&job->folder, keep);
    return code == LEAT_OK ? LEAT_OK : leat_error_copy(err, &failure);
}

leat_code leat_can_ingest(const char *const *paths, int64_t path_count, const char *cache_dir,
                          const leat_can_ingest_options *options, leat_can_ingest_result *result,
                          leat_error *err) {
    *result = (leat_can_ingest_result){0};
    if (options->threads < 1 || options->threads > LEAT_THREADS_MAX) {
        return leat_fail(err, LEAT_ERR_OPTION, "threads %d: give 1 to %d", options->threads,
                         LEAT_THREADS_MAX);
    }
    can_job *job = NULL;
    LEAT_TRY(LEAT_NEW(&job, 1, err));
    job->options = options;
    job->result = result;
    job->begin_ns = leat_clock_ns();
    job->resident = leat_rss_bytes();
    leat_ticker_create(&job->ticker, options->progress, options->progress_user);
    leat_code code = run(job, paths, path_count, cache_dir, err);
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
