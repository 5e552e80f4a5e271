/*
 * The end of an ingest: the parts become the index, the manifest describes the data set, and
 * run.json how it was written. See job.h.
 */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/json.h"
#include "base/thread.h"
#include "format/probe/overlap.h"
#include "ingest/probes/job.h"
#include "ingest/probes/shard.h"

static int64_t shard_total(const leat_job *job) {
    return job->state.shards[LEAT_SPLIT_TRAIN] + job->state.shards[LEAT_SPLIT_TEST];
}

/* Rows of one probe are neighbours, and a probe is in one shard. */
static void count_rows(leat_job *job, const leat_shard_part *part) {
    leat_probes_ingest_result *result = job->result;
    int split = part->info.split;
    for (int64_t i = 0; i < part->info.row_count; i++) {
        bool first = i == 0 || part->rows[i].src_id != part->rows[i - 1].src_id;
        bool second = !first && (i == 1 || part->rows[i - 2].src_id != part->rows[i].src_id);
        result->probes[split] += first;
        result->rows_split += !first;
        result->probes_over_limit += second && job->options->max_row_bytes == 0;
    }
    result->rows[split] += part->info.row_count;
    result->shards[split]++;
    result->bytes_written += part->info.file_bytes;
    result->measurements += part->info.measurement_count;
    job->state.duplicates += part->duplicates;
}

static leat_code load_part(void *context, int64_t k, leat_shard_part *part, leat_error *err) {
    leat_job *job = context;
    int64_t train = job->state.shards[LEAT_SPLIT_TRAIN];
    leat_split split = k < train ? LEAT_SPLIT_TRAIN : LEAT_SPLIT_TEST;
    char path[LEAT_PATH_BYTES];
    LEAT_TRY(leat_shard_part_path(job->output.parts, split, k < train ? k : k - train, path, err));
    LEAT_TRY(leat_shard_part_load(path, job->folder.workdir.run, part, err));
    count_rows(job, part);
    LEAT_TRY(leat_ticker_step(&job->ticker, 1, err));
    return leat_manifest_add_shard(&job->manifest, &part->info, err);
}

leat_code leat_job_count(leat_job *job, leat_error *err) {
    leat_probes_ingest_result *result = job->result;
    leat_manifest made = {0};
    LEAT_TRY(leat_manifest_load(job->folder.out, &made, err));
    for (int s = 0; s < LEAT_SPLITS; s++) {
        result->probes[s] = job->state.probes[s];
        result->rows[s] = made.split[s].row_count;
        result->shards[s] = made.split[s].shard_count;
        result->rows_split += result->rows[s] - result->probes[s];
        result->shards_resumed += result->shards[s];
    }
    result->probes_over_limit = job->state.probes_over_limit;
    result->bytes_written = made.total.file_bytes;
    result->measurements = made.total.measurement_count;
    leat_manifest_free(&made);
    return LEAT_OK;
}

static void write_inputs(leat_json *json, const leat_job *job) {
    leat_json_key(json, "inputs");
    leat_json_begin_array(json);
    for (int64_t i = 0; i < job->inputs.count; i++) {
        const leat_input *input = &job->inputs.items[i];
        char text[LEAT_TIME_TEXT_BYTES] = "";
        if (input->facts.mtime_ns >= 0) leat_time_format(input->facts.mtime_ns / 1000, text);
        leat_json_begin_object(json);
        leat_json_member_string(json, "path", input->path);
        leat_json_member_int(json, "bytes", input->facts.size_bytes);
        leat_json_member_string(json, "modified", text);
        leat_job_write_contents(json, job, i);
        leat_json_end_object(json);
    }
    leat_json_end_array(json);
}

static void write_rejected(leat_json *json, const leat_job *job) {
    leat_json_key(json, "rejected");
    leat_json_begin_object(json);
    for (int i = 0; i < LEAT_REJECT_COUNT; i++) {
        if (job->state.rejected[i] == 0) continue;
        leat_json_member_int(json, leat_reject_text((leat_reject)i), job->state.rejected[i]);
    }
    leat_json_end_object(json);
}

static void write_machine(leat_json *json, const leat_job *job) {
    struct utsname machine;
    bool known = uname(&machine) == 0;
    leat_json_key(json, "machine");
    leat_json_begin_object(json);
    leat_json_member_string(json, "system", known ? machine.sysname : "");
    leat_json_member_string(json, "release", known ? machine.release : "");
    leat_json_member_string(json, "architecture", known ? machine.machine : "");
    leat_json_member_int(json, "processors", leat_cpu_count());
    leat_json_end_object(json);
    leat_json_member_int(json, "threads", job->options->threads);
    leat_json_member_int(json, "memory_bytes", job->options->memory_bytes);
    leat_json_member_int(json, "memory_peak_bytes", leat_rss_peak_bytes());
}

/* What a later run must know to recognise that nothing is left to do. */
static void write_made(leat_json *json, const leat_job *job, const char *setting) {
    char digest[65];
    leat_sha256_hex(job->state.manifest_sha256, digest);
    leat_json_member_string(json, "manifest_sha256", digest);
    leat_json_member_string(json, "setting_sha256", setting);
    leat_json_member_int(json, "reader", LEAT_PROBES_READER);
    leat_json_member_int(json, "rows_read", job->state.rows_read);
    leat_json_member_int(json, "measurements", job->result->measurements);
    leat_json_member_int(json, "train_probes", job->state.probes[LEAT_SPLIT_TRAIN]);
    leat_json_member_int(json, "test_probes", job->state.probes[LEAT_SPLIT_TEST]);
    leat_json_member_int(json, "probes_over_limit", job->state.probes_over_limit);
    leat_json_member_int(json, "duplicates", job->state.duplicates);
    leat_json_member_int(json, "mapped_addresses", job->state.mapped);
    leat_overlap_put(json, &job->result->overlap);
    write_rejected(json, job);
    leat_job_write_warnings(json, &job->state);
}

static leat_code save_run(leat_job *job, leat_error *err) {
    char path[LEAT_PATH_BYTES], now[LEAT_TIME_TEXT_BYTES], setting[65];
    LEAT_TRY(leat_job_setting_sha256(job, setting, err));
    struct timespec clock;
    clock_gettime(CLOCK_REALTIME, &clock);
    leat_time_format((int64_t)clock.tv_sec * 1000000, now);
    leat_json *json = NULL;
    LEAT_TRY(leat_path_join(path, sizeof path, job->folder.stage, LEAT_RUN_NAME, err));
    LEAT_TRY(leat_json_create(&json, false, err));
    leat_json_begin_object(json);
    leat_json_member_string(json, "format", "leat run");
    leat_json_member_int(json, "version", 1);
    leat_json_member_string(json, "leat", leat_version());
    leat_json_member_string(json, "finished", now);
    leat_json_member_double(json, "seconds_scan", job->result->seconds_scan);
    leat_json_member_double(json, "seconds_written", job->result->seconds_written);
    leat_json_member_double(json, "seconds", leat_job_seconds(job, leat_clock_ns()));
    leat_json_member_bool(json, "resumed", job->result->resumed);
    write_machine(json, job);
    write_made(json, job, setting);
    write_inputs(json, job);
    leat_json_end_object(json);
    return leat_json_save(json, path, err);
}

static leat_code sync_splits(const leat_job *job, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    for (int split = 0; split < LEAT_SPLITS; split++) {
        LEAT_TRY(leat_path_join(path, sizeof path, job->folder.stage, leat_split_name(split), err));
        LEAT_TRY(leat_path_sync_dir(path, err));
    }
    return LEAT_OK;
}

leat_code leat_job_finish(leat_job *job, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    LEAT_TRY(leat_path_join(path, sizeof path, job->folder.stage, LEAT_INDEX_NAME, err));
    leat_index_facts facts;
    leat_manifest *manifest = &job->manifest; /* its list must not be copied */
    LEAT_TRY(LEAT_GROW(&manifest->shards, &manifest->shard_capacity, shard_total(job), err));
    leat_ticker_stage(&job->ticker, "indexing", "shards", shard_total(job));
    LEAT_TRY(leat_index_build(path, shard_total(job), load_part, job, &facts, err));
    int64_t dropped = job->options->duplicates == LEAT_DUPLICATES_DROP ? job->state.duplicates : 0;
    if (job->result->measurements + dropped != job->state.measurements) {
        return leat_fail(err, LEAT_ERR_CORRUPT,
                         "%lld measurements were partitioned but %lld written: the temporary files "
                         "were changed; run again with --replace",
                         (long long)job->state.measurements,
                         (long long)(job->result->measurements + dropped));
    }
    job->manifest.index_bytes = facts.file_bytes;
    memcpy(job->manifest.index_sha256, facts.table_sha256, sizeof facts.table_sha256);
    job->state.probes_over_limit = job->result->probes_over_limit;
    /* Computed from the text to be written, since run.json states it and is written first. */
    LEAT_TRY(leat_manifest_seal(&job->manifest, err));
    LEAT_TRY(leat_manifest_sha256(&job->manifest, job->state.manifest_sha256, err));
    LEAT_TRY(save_run(job, err));
    LEAT_TRY(sync_splits(job, err));
    return leat_manifest_save(&job->manifest, job->folder.stage, err);
}

/* ---- what already exists ---- */

static leat_code read_made(leat_job *job, const json_t *root, bool *same, leat_error *err) {
    leat_job_state *state = &job->state;
    const struct {
        const char *key;
        int64_t *value;
    } numbers[] = {
        {"rows_read", &state->rows_read},
        {"measurements", &state->measurements},
        {"train_probes", &state->probes[LEAT_SPLIT_TRAIN]},
        {"test_probes", &state->probes[LEAT_SPLIT_TEST]},
        {"probes_over_limit", &state->probes_over_limit},
    };
    char setting[65];
    const char *then = NULL;
    const json_t *rejected = NULL;
    LEAT_TRY(leat_job_setting_sha256(job, setting, err));
    LEAT_TRY(leat_json_get_string(root, "setting_sha256", &then, LEAT_RUN_NAME, err));
    *same = strcmp(setting, then) == 0;
    if (!*same) return LEAT_OK;
    const json_t *reader = json_object_get(root, "reader");
    job->reader = json_is_integer(reader) ? json_integer_value(reader) : 1;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        LEAT_TRY(leat_json_get_int(root, numbers[i].key, 0, INT64_MAX, numbers[i].value,
                                   LEAT_RUN_NAME, err));
    }
    LEAT_TRY(leat_json_get_object(root, "rejected", &rejected, LEAT_RUN_NAME, err));
    for (int i = 0; i < LEAT_REJECT_COUNT; i++) {
        state->rejected[i] =
            json_integer_value(json_object_get(rejected, leat_reject_text((leat_reject)i)));
    }
    const json_t *duplicates = json_object_get(root, "duplicates");
    state->duplicates = json_is_integer(duplicates) ? json_integer_value(duplicates) : -1;
    state->mapped = json_integer_value(json_object_get(root, "mapped_addresses"));
    leat_overlap_get(root, &job->result->overlap);
    leat_job_read_warnings(root, state);
    leat_job_read_contents(job, json_object_get(root, "inputs"));
    return LEAT_OK;
}

leat_code leat_job_is_finished(leat_job *job, bool *finished, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    uint8_t *text = NULL;
    int64_t size_bytes = 0;
    json_t *root = NULL;
    leat_error problem = {0};
    *finished = false;
    LEAT_TRY(leat_path_join(path, sizeof path, job->folder.out, LEAT_RUN_NAME, err));
    leat_code code = leat_file_load(path, LEAT_RUN_BYTES_MAX, &text, &size_bytes, &problem);
    if (code == LEAT_OK)
        code = leat_json_parse((const char *)text, size_bytes, path, &root, &problem);
    if (code == LEAT_OK) code = read_made(job, root, finished, &problem);
    json_decref(root);
    leat_free(text);
    /* Without a run.json that proves it, the existing data set cannot be attributed to this run. */
    if (code == LEAT_ERR_MEMORY || code == LEAT_ERR_IO) return leat_error_copy(err, &problem);
    if (code != LEAT_OK) *finished = false;
    return LEAT_OK;
}
