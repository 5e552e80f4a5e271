/* `leat ingest can` as a function: checks the options, runs the steps in order, one exit path. See
 * job.h. */
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/thread.h"
#include "ingest/can/cache/balance.h"
#include "ingest/can/cache/capture_metadata.h"
#include "ingest/can/cache/comparable.h"
#include "ingest/can/cache/describe.h"
#include "ingest/can/cache/overlap.h"
#include "ingest/can/cache/pauses.h"
#include "ingest/can/cache/write.h"
#include "ingest/can/job.h"
#include "ingest/option_rows.h"

static void append(char *warning, size_t size, const char *text) {
    size_t used = strlen(warning);
    if (text[0] != 0) snprintf(warning + used, size - used, "%s%s", used > 0 ? "; " : "", text);
}

void leat_can_append_warning(leat_can_ingest_result *result, const char *text) {
    append(result->warning, sizeof result->warning, text);
}

#define PAGES_BYTES_MAX (INT64_C(1) << 30)

static double seconds(const leat_can_job *job) {
    return (double)(leat_clock_ns() - job->begin_ns) * 1e-9;
}

/* ---- plan ----------------------------------------------------------------------------------- */

/* Names stay; the memory for lines of the scan is free by now. */
static leat_code make_names(leat_can_job *job, leat_error *err) {
    const leat_can_ingest_options *o = job->options;
    const leat_can_id *ids = NULL;
    int64_t count = leat_can_store_ids(job->store, &ids);
    malloc_trim(0);
    int64_t all = count + job->like.count;
    int64_t least = leat_rss_bytes() + leat_can_naming_bytes(all);
    int64_t more = leat_can_names_bytes(all) - leat_can_share_scan(job, o->memory_bytes).scan_bytes;
    if (least > o->memory_bytes) {
        job->is_short = true;
        return leat_fail(err, LEAT_ERR_LIMIT, "%lld identifiers", (long long)count);
    }
    if (more > 0) LEAT_TRY(leat_can_store_hold(job->store, more, err));
    return leat_can_names_make(&job->names, job->store, &job->splits, &o->settings, &job->like,
                               err);
}

/* Whether the parts have the windows that were asked for. */
static leat_code check_balance(leat_can_job *job, leat_error *err) {
    leat_can_recorded recorded = {.begins = {job->result->clock_steps, job->result->pauses}};
    recorded.capture_count = leat_can_store_captures(job->store, &recorded.captures);
    return leat_can_balance_check(&job->plan, &job->splits, &recorded, job->result->warning,
                                  sizeof job->result->warning, err);
}

/* ---- the plan -------------------------------------------------------------------------------- */

static leat_code make_plan(leat_can_job *job, leat_error *err) {
    const leat_can_ingest_options *o = job->options;
    leat_can_streams streams = {0};
    leat_code code = leat_can_streams_make(job, &streams, err);
    if (code == LEAT_OK) code = make_names(job, err);
    if (code == LEAT_OK)
        code = leat_can_store_order(job->store, streams.of, streams.count, job->names.number,
                                    o->threads, err);
    code = leat_can_name_temp(job, code, err);
    if (code == LEAT_OK) code = leat_can_share_threads(job, &streams, err);
    const leat_can_planned of = {job->store, streams.items, streams.count, &job->splits,
                                 &o->settings};
    if (code == LEAT_OK)
        code = leat_can_plan_make(&job->plan, &of, job->plan_threads, &job->ticker, err);
    if (code == LEAT_OK) code = check_balance(job, err);
    leat_free(streams.of);
    leat_free(streams.items);
    return code;
}

/* The frames read must equal those in windows, between, after, dropped and left out, or nothing is
 * published. */
static void count_frames(leat_can_job *job) {
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

static const char *part_name(const leat_can_job *job, int part) {
    return part == 0   ? LEAT_CAN_SPLIT_TRAIN
           : part == 1 ? LEAT_CAN_SPLIT_VAL
                       : job->splits.name[part - 1];
}

static leat_code part_path(const leat_can_job *job, int part, const char *suffix,
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

static leat_code write_parts(leat_can_job *job, leat_can_write *write, can_parts *parts,
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
static leat_code sync_parts(leat_can_job *job, leat_error *err) {
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

static const char *id_name(const void *names, uint32_t number) {
    return ((const leat_can_names *)names)->name[number];
}

/* Of what the graphs show; the other warnings are in the summary by now. */
static void warn_pauses(leat_can_job *job, const leat_can_write *write, leat_can_meta *meta) {
    char text[768] = "";
    const leat_can_time_figures figures = {
        .all = &write->moments,
        .quiet = &write->quiet,
        .count = {write->decided[0], write->decided[1]},
        .id_name = id_name,
        .ids = &job->names,
    };
    leat_can_pauses_warn(&job->plan, &job->splits, &figures, text, sizeof text);
    leat_can_append_warning(job->result, text);
    append(meta->warning, sizeof meta->warning, text);
}

/* Graphs, and the scaler computed from them. */
static leat_code write_graphs(leat_can_job *job, can_parts *parts, leat_can_meta *meta,
                              leat_error *err) {
    int threads = job->write_threads, rank_threads = job->rank_threads;
    leat_can_write write = {.plan = &job->plan,
                            .store = job->store,
                            .like = &job->like,
                            .vocab_count = (uint32_t)job->names.known,
                            .threads = threads,
                            .rank_threads = rank_threads,
                            .pause_s = leat_can_pause_bound(&job->plan),
                            .ticker = &job->ticker};
    LEAT_TRY(leat_pool_create(&write.pool, threads > rank_threads ? threads : rank_threads, err));
    leat_code code = write_parts(job, &write, parts, err);
    if (code == LEAT_OK) job->result->seconds_written = seconds(job);
    if (code == LEAT_OK) code = leat_can_write_scaler(&write, &meta->scaler, err);
    if (code == LEAT_OK) warn_pauses(job, &write, meta);
    leat_pool_destroy(write.pool);
    return code;
}

/* Not a setting, but what decides the labels as one. */
static leat_code describe_metadata(const leat_can_job *job, leat_can_meta *meta, leat_error *err) {
    char text[96];
    int64_t logs = job->result->files_described, frames = job->result->frames_injected;
    if (job->splits.metadata_count == 0) return LEAT_OK;
    snprintf(text, sizeof text, "%lld log%s, %lld frame%s of attacks", (long long)logs,
             logs == 1 ? "" : "s", (long long)frames, frames == 1 ? "" : "s");
    return leat_can_meta_set(meta, "capture-metadata", text, err);
}

static leat_code write_cache(leat_can_job *job, can_parts *parts, leat_can_meta *meta,
                             leat_error *err) {
    const leat_can_description description = {
        .options = job->options,
        .splits = &job->splits,
        .files = job->files,
        .plan = &job->plan,
        .names = &job->names,
        .like = &job->like,
        .digest = job->folder.digest,
        .file_bytes = parts->file_bytes,
        .pages_hash = parts->pages_hash,
    };
    LEAT_TRY(write_graphs(job, parts, meta, err));
    LEAT_TRY(leat_can_describe(&description, meta, err));
    LEAT_TRY(describe_metadata(job, meta, err));
    LEAT_TRY(leat_can_meta_save(meta, job->folder.out, err));
    return sync_parts(job, err);
}

/* ---- the complete ingest -------------------------------------------------------------------- */

void leat_can_fill_result(leat_can_job *job, const leat_can_meta *meta) {
    leat_can_ingest_result *result = job->result;
    snprintf(result->cache, sizeof result->cache, "%s", job->folder.cache);
    snprintf(result->digest, sizeof result->digest, "%s", meta->digest);
    result->files = job->splits.inputs.count;
    result->skipped = job->splits.inputs.skipped;
    result->captures = meta->capture_count;
    result->identifiers = meta->ids.count;
    result->vocabulary = meta->ids.known;
    const char *wanted = leat_can_meta_get(meta, "scaler"), *like = leat_can_meta_get(meta, "like");
    snprintf(result->like, sizeof result->like, "%s", like != NULL ? like : "");
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

static void label_files(leat_can_job *job) {
    leat_can_label_counts counts;
    leat_can_splits_label(&job->splits, job->files, job->options->settings.unlabelled, &counts);
    job->result->files_benign = counts.benign;
    job->result->files_unlabelled = counts.unlabelled;
}

static void count_labels(leat_can_job *job) {
    for (int part = 0; part < job->plan.part_count; part++) {
        for (int64_t i = job->plan.part_begin[part]; i < job->plan.part_begin[part + 1]; i++) {
            int y = job->plan.windows[job->plan.order[i]].y;
            job->result->split_attacks[part] += y > 0;
            job->result->split_unlabelled[part] += y < 0;
        }
    }
}

static leat_code make_cache(leat_can_job *job, leat_error *err) {
    can_parts *parts = NULL;
    leat_can_meta *meta = NULL;
    LEAT_TRY(leat_can_explain_memory(job, leat_can_frames_make(job, err), err));
    LEAT_TRY(leat_can_check_ids(job, err));
    label_files(job);
    job->result->seconds_scan = seconds(job);
    LEAT_TRY(leat_can_explain_memory(job, make_plan(job, err), err));
    count_frames(job);
    job->result->bytes_spilled = leat_can_store_spilled(job->store);
    leat_code code = LEAT_NEW(&parts, 1, err);
    if (code == LEAT_OK) code = LEAT_NEW(&meta, 1, err);
    if (code == LEAT_OK)
        code = leat_can_warn_files(job->files, &job->splits, &job->options->settings, meta->warning,
                                   sizeof meta->warning, err);
    if (code == LEAT_OK)
        code = leat_can_report_injected(job, meta->warning, sizeof meta->warning, err);
    if (code == LEAT_OK) leat_can_overlap_warn(&job->plan, meta->warning, sizeof meta->warning);
    if (code == LEAT_OK)
        leat_can_comparable_warn(&job->plan, &job->splits, &job->names, job->like.digest[0] != 0,
                                 meta->warning, sizeof meta->warning);
    if (code == LEAT_OK && job->like.digest[0] == 0)
        leat_can_names_warn(&job->names, &job->options->settings, meta->warning,
                            sizeof meta->warning);
    if (code == LEAT_OK) leat_can_append_warning(job->result, meta->warning);
    if (code == LEAT_OK) code = write_cache(job, parts, meta, err);
    if (code == LEAT_OK) count_labels(job);
    if (code == LEAT_OK) leat_can_fill_result(job, meta);
    if (meta != NULL) leat_can_meta_free(meta);
    leat_free(meta);
    leat_free(parts);
    return code;
}

/* The last point at which the caller can stop the run. */
static leat_code may_publish(leat_can_job *job, leat_error *err) {
    leat_ticker_stage(&job->ticker, "publishing", "", -1);
    return leat_ticker_check(&job->ticker, err);
}

/* Of the same logs and settings, by what their inputs.json say. */
static void warn_older(leat_can_job *job) {
    char text[LEAT_PATH_BYTES + 160];
    if (job->folder.older_reader == 0) return;
    snprintf(text, sizeof text,
             "\"%s\" is a cache of the same logs, written with reading rules %lld of a development "
             "version; this is a new cache beside it",
             job->folder.older, (long long)job->folder.older_reader);
    leat_can_append_warning(job->result, text);
}

/* What it takes is there before the logs are read. */
static leat_code load_like(leat_can_job *job, leat_error *err) {
    LEAT_TRY(leat_can_like_load(&job->like, job->options, err));
    if (job->like.digest[0] == 0) return LEAT_OK;
    malloc_trim(0);
    job->resident = leat_rss_bytes();
    return LEAT_OK;
}

static leat_code run(leat_can_job *job, const char *const *paths, int64_t path_count,
                     const char *cache_dir, leat_error *err) {
    const leat_can_ingest_options *o = job->options;
    LEAT_TRY(leat_settings_check(leat_can_settings_table(), &o->settings, err));
    LEAT_TRY(leat_can_overlap_check(&o->settings, err));
    LEAT_TRY(leat_can_mapping_read(&job->mapping, &o->settings, err));
    LEAT_TRY(load_like(job, err));
    LEAT_TRY(leat_can_splits_find(paths, path_count, o, &job->splits, err));
    memcpy(job->splits.like, job->like.digest, sizeof job->splits.like);
    LEAT_TRY(leat_can_metadata_find(&job->splits, err));
    LEAT_TRY(leat_can_folder_open(&job->folder, cache_dir, &job->splits, o, &job->ticker, err));
    if (job->folder.found) {
        LEAT_TRY(leat_can_report_found(job, err));
        leat_can_warn_attacks(job->result, job->result->warning, sizeof job->result->warning);
        leat_can_append_warning(job->result, job->folder.warning);
        return LEAT_OK;
    }
    leat_error failure = {0};
    leat_code code = make_cache(job, &failure);
    if (code == LEAT_OK)
        leat_can_warn_attacks(job->result, job->result->warning, sizeof job->result->warning);
    if (code == LEAT_OK) code = may_publish(job, &failure);
    if (code == LEAT_OK) code = leat_can_folder_publish(&job->folder, &failure);
    bool keep = code != LEAT_OK && job->resumable && (code == LEAT_ERR_CANCELLED || o->resume);
    job->kept = keep;
    if (keep && job->store != NULL) leat_can_store_keep(job->store);
    leat_can_store_destroy(job->store);
    job->store = NULL;
    leat_can_folder_close(&job->folder, keep);
    leat_can_append_warning(job->result, job->folder.warning);
    if (code == LEAT_OK) warn_older(job);
    return code == LEAT_OK ? LEAT_OK : leat_error_copy(err, &failure);
}

/* A user who stops a run wants to know whether it can be continued. */
static leat_code explain(const leat_can_job *job, const leat_error *why, leat_error *err) {
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
    leat_can_job *job = NULL;
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
    leat_can_like_free(&job->like);
    leat_can_splits_free(&job->splits);
    leat_free(job->files);
    leat_free(job->paths);
    leat_free(job);
    if (code != LEAT_OK) *result = (leat_can_ingest_result){0};
    return code;
}
