/*
 * What an interrupted run leaves for --resume: DIR/.leat/state.json, written when the scan is
 * complete, and streams.bin with the sizes and texts of every spill. Both are checked: a run
 * resumes only with the same inputs and the same options.
 */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "ingest/probes/job.h"
#include "ingest/probes/spill_code.h"

#define STATE_FORMAT "leat ingest state"
#define STATE_VERSION 7
#define STATE_BYTES_MAX (INT64_C(256) << 20)

leat_code leat_job_spill_path(const leat_job *job, int worker, int group,
                              char path[LEAT_PATH_BYTES], leat_error *err) {
    char name[48];
    snprintf(name, sizeof name, "spill_%03d_%02d", worker, group);
    return leat_path_join(path, LEAT_PATH_BYTES, job->folder.workdir.temp, name, err);
}

static leat_code work_path(const leat_job *job, const char *name, char path[LEAT_PATH_BYTES],
                           leat_error *err) {
    return leat_path_join(path, LEAT_PATH_BYTES, job->folder.work, name, err);
}

static int spill_count(const leat_job *job) {
    return job->state.workers * job->buckets.group_count;
}

leat_code leat_job_spills_new(leat_job *job, leat_error *err) {
    LEAT_TRY(LEAT_NEW(&job->texts, job->state.workers, err));
    return LEAT_NEW(&job->spills, spill_count(job), err);
}

leat_spill *leat_job_spill(const leat_job *job, int worker, int group) {
    return &job->spills[worker * job->buckets.group_count + group];
}

static void free_pools(leat_job *job) {
    for (int i = 0; job->pools != NULL && i < job->state.workers; i++)
        leat_spill_pool_destroy(&job->pools[i]);
    leat_free(job->pools);
    job->pools = NULL;
}

void leat_job_spills_close(leat_job *job) {
    for (int i = 0; job->spills != NULL && i < spill_count(job); i++) {
        leat_spill_close(&job->spills[i]);
    }
    leat_free(job->spills);
    job->spills = NULL;
    free_pools(job);
    for (int i = 0; job->texts != NULL && i < job->state.workers; i++) leat_free(job->texts[i]);
    leat_free(job->texts);
    job->texts = NULL;
}

leat_code leat_job_spills_write(leat_job *job, leat_error *err) {
    if (job->pools == NULL) return LEAT_OK;
    for (int i = 0; i < spill_count(job); i++) {
        leat_spill_pool *pool = &job->pools[i / job->buckets.group_count];
        LEAT_TRY(leat_spill_write(&job->spills[i], pool->encoder, err));
        job->state.bytes_spilled += job->spills[i].file_bytes;
    }
    free_pools(job);
    return leat_job_state_save(job, err);
}

/* ---- options as text ---- */

static void option_text(const leat_manifest_option *option, char text[LEAT_MANIFEST_TEXT_BYTES]) {
    switch (option->type) {
    case LEAT_VALUE_TEXT: snprintf(text, LEAT_MANIFEST_TEXT_BYTES, "%s", option->text); break;
    case LEAT_VALUE_REAL: snprintf(text, LEAT_MANIFEST_TEXT_BYTES, "%.17g", option->real); break;
    default: snprintf(text, LEAT_MANIFEST_TEXT_BYTES, "%lld", (long long)option->integer); break;
    }
}

typedef struct column_name {
    const char *key, *name;
} column_name;

#define COLUMN_NAMES 5
/* The renamed columns decide what is read, so they belong to the run, not to the data set. */
static void column_names(const leat_job *job, column_name out[COLUMN_NAMES]) {
    const leat_probes_ingest_options *o = job->options;
    const column_name names[COLUMN_NAMES] = {
        {"column_event_time", o->column_event_time},
        {"column_src_addr", o->column_src_addr},
        {"column_dst_addr", o->column_dst_addr},
        {"column_ip_version", o->column_ip_version},
        {"column_rtt", o->column_rtt},
    };
    for (int i = 0; i < COLUMN_NAMES; i++) {
        out[i] = names[i];
        if (out[i].name == NULL) out[i].name = "";
    }
}

enum { UNIT_NAMES = 2 };
static const char *const unit_keys[UNIT_NAMES] = {"column_event_time_unit", "column_rtt_unit"};
/* The unit given for a column, or by its name; "" if none is. */
static const char *unit_name(const leat_job *job, int i) {
    static const char *const times[] = {"", "s", "ms", "us", "ns", "excel"};
    static const char *const rtts[] = {[LEAT_RTT_UNIT_AUTO] = "",
                                       [LEAT_RTT_UNIT_MS] = "",
                                       [LEAT_RTT_UNIT_US] = "us",
                                       [LEAT_RTT_UNIT_S] = "s",
                                       [LEAT_RTT_UNIT_NS] = "ns"};
    return i == 0 ? times[job->options->event_time_unit] : rtts[leat_rtt_unit_of(job->options)];
}

/* ---- saving ---- */

#define RUN_BYTES 24
/* The run number in its work folder's mark: a state belongs to one run only. */
static void run_text(const leat_job *job, char text[RUN_BYTES]) {
    snprintf(text, RUN_BYTES, "%016llx", (unsigned long long)job->folder.workdir.run);
}

static leat_code save_streams(const leat_job *job, char digest[65], leat_error *err) {
    leat_buf buf = {0};
    leat_code code = LEAT_OK;
    for (int i = 0; i < spill_count(job) && code == LEAT_OK; i++) {
        code =
            leat_buf_append(&buf, job->spills[i].streams,
                            job->spills[i].bucket_count * (int64_t)sizeof(leat_spill_stream), err);
    }
    for (int i = 0; i < job->state.workers && code == LEAT_OK; i++) {
        const leat_spill_texts *texts = job->texts[i];
        code = leat_buf_append(&buf, &texts->count, sizeof texts->count, err);
        if (code == LEAT_OK)
            code = leat_buf_append(&buf, texts->texts, texts->count * (int64_t)sizeof *texts->texts,
                                   err);
    }
    char path[LEAT_PATH_BYTES];
    if (code == LEAT_OK) code = work_path(job, LEAT_STREAMS_NAME, path, err);
    if (code == LEAT_OK) code = leat_file_save(path, buf.data, buf.size, err);
    if (code == LEAT_OK) leat_sha256_hex_of(buf.data, buf.size, digest);
    leat_buf_free(&buf);
    return code;
}

void leat_job_write_warnings(leat_json *json, const leat_job_state *state) {
    leat_json_key(json, "warnings");
    leat_json_begin_array(json);
    for (int i = 0; i < state->warnings.count; i++) leat_json_string(json, state->warnings.text[i]);
    leat_json_end_array(json);
}

void leat_job_read_warnings(const json_t *root, leat_job_state *state) {
    const json_t *list = json_object_get(root, "warnings");
    state->warnings.count = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *text = json_array_get(list, i);
        if (json_is_string(text))
            leat_warnings_add(&state->warnings, "%s", json_string_value(text));
    }
}

static void write_numbers(leat_json *json, const leat_job_state *state) {
    leat_json_member_int(json, "workers", state->workers);
    leat_json_member_int(json, "bucket_bits", state->bucket_bits);
    leat_json_member_int(json, "train_probes", state->probes[LEAT_SPLIT_TRAIN]);
    leat_json_member_int(json, "test_probes", state->probes[LEAT_SPLIT_TEST]);
    leat_json_member_int(json, "train_shards", state->shards[LEAT_SPLIT_TRAIN]);
    leat_json_member_int(json, "test_shards", state->shards[LEAT_SPLIT_TEST]);
    leat_json_member_int(json, "train_shard_probes", state->shard_probes[LEAT_SPLIT_TRAIN]);
    leat_json_member_int(json, "test_shard_probes", state->shard_probes[LEAT_SPLIT_TEST]);
    leat_json_key(json, "bound");
    if (state->bound.size_bytes < 0) leat_json_null(json);
    else leat_json_text(json, state->bound.text, state->bound.size_bytes);
    leat_json_member_int(json, "rows_read", state->rows_read);
    leat_json_member_int(json, "measurements", state->measurements);
    leat_json_member_int(json, "bytes_spilled", state->bytes_spilled);
    leat_json_key(json, "rejected");
    leat_json_begin_array(json);
    for (int i = 0; i < LEAT_REJECT_COUNT; i++) leat_json_int(json, state->rejected[i]);
    leat_json_end_array(json);
    leat_json_member_int(json, "mapped_addresses", state->mapped);
    leat_job_write_warnings(json, state);
}

/* SHA-256 of the numbers as saved: a changed number could alter how many shards there are, or what
 * they contain. */
static leat_code numbers_sha256(const leat_job_state *state, char digest[65], leat_error *err) {
    leat_json *json = NULL;
    const char *text = NULL;
    int64_t size_bytes = 0;
    LEAT_TRY(leat_json_create(&json, false, err));
    leat_json_begin_object(json);
    write_numbers(json, state);
    leat_json_end_object(json);
    leat_code code = leat_json_finish(json, &text, &size_bytes, err);
    if (code == LEAT_OK) leat_sha256_hex_of(text, size_bytes, digest);
    leat_json_destroy(json);
    return code;
}

/* `contents`: also the hashes of the inputs, which are not part of the setting. */
static void write_setting(leat_json *json, const leat_job *job, bool contents) {
    leat_json_key(json, "options");
    leat_json_begin_object(json);
    for (int64_t i = 0; i < job->manifest.option_count; i++) {
        char text[LEAT_MANIFEST_TEXT_BYTES];
        option_text(&job->manifest.options[i], text);
        leat_json_member_string(json, job->manifest.options[i].key, text);
    }
    column_name names[COLUMN_NAMES];
    column_names(job, names);
    for (int i = 0; i < COLUMN_NAMES; i++) {
        leat_json_member_string(json, names[i].key, names[i].name);
    }
    /* only those that are given: the setting is that of versions without them */
    for (int i = 0; i < UNIT_NAMES; i++) {
        const char *unit = unit_name(job, i);
        if (unit[0] != 0) leat_json_member_string(json, unit_keys[i], unit);
    }
    leat_json_end_object(json);
    leat_json_key(json, "inputs");
    leat_json_begin_array(json);
    for (int64_t i = 0; i < job->inputs.count; i++) {
        const leat_input *input = &job->inputs.items[i];
        leat_json_begin_object(json);
        leat_json_member_string(json, "path", input->path);
        leat_json_member_int(json, "bytes", input->facts.size_bytes);
        leat_json_member_int(json, "mtime_ns", input->facts.mtime_ns);
        if (contents) leat_job_write_contents(json, job, i);
        leat_json_end_object(json);
    }
    leat_json_end_array(json);
}

leat_code leat_job_setting_sha256(const leat_job *job, char digest[65], leat_error *err) {
    leat_json *json = NULL;
    const char *text = NULL;
    int64_t size_bytes = 0;
    LEAT_TRY(leat_json_create(&json, false, err));
    leat_json_begin_object(json);
    write_setting(json, job, false);
    leat_json_end_object(json);
    leat_code code = leat_json_finish(json, &text, &size_bytes, err);
    if (code == LEAT_OK) leat_sha256_hex_of(text, size_bytes, digest);
    leat_json_destroy(json);
    return code;
}

leat_code leat_job_state_save(const leat_job *job, leat_error *err) {
    char path[LEAT_PATH_BYTES], digest[65], numbers[65], run[RUN_BYTES];
    run_text(job, run);
    LEAT_TRY(save_streams(job, digest, err));
    LEAT_TRY(numbers_sha256(&job->state, numbers, err));
    LEAT_TRY(work_path(job, LEAT_STATE_NAME, path, err));
    leat_json *json = NULL;
    LEAT_TRY(leat_json_create(&json, false, err));
    leat_json_begin_object(json);
    leat_json_member_string(json, "format", STATE_FORMAT);
    leat_json_member_int(json, "version", STATE_VERSION);
    write_setting(json, job, true);
    leat_json_member_string(json, "run", run);
    write_numbers(json, &job->state);
    leat_json_member_string(json, "numbers_sha256", numbers);
    leat_json_member_string(json, "streams_sha256", digest);
    leat_json_end_object(json);
    return leat_json_save(json, path, err);
}

/* ---- loading ---- */

static leat_code compare_option(const char *key, const char *then, const char *now,
                                leat_error *err) {
    if (strcmp(then, now) == 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION,
                     "cannot resume: %s was \"%s\" and is now \"%s\"; use the options of the "
                     "interrupted run, or --replace",
                     key, then, now);
}

static leat_code check_option(const json_t *options, const char *key, const char *now,
                              leat_error *err) {
    const char *then = NULL;
    LEAT_TRY(leat_json_get_string(options, key, &then, LEAT_STATE_NAME, err));
    return compare_option(key, then, now, err);
}

static leat_code check_inputs(const leat_job *job, const json_t *inputs, leat_error *err) {
    int64_t count = (int64_t)json_array_size(inputs);
    if (count != job->inputs.count) {
        return leat_fail(
            err, LEAT_ERR_OPTION,
            "cannot resume: the interrupted run had %lld input files, this run has %lld",
            (long long)count, (long long)job->inputs.count);
    }
    for (int64_t i = 0; i < count; i++) {
        const leat_input *input = &job->inputs.items[i];
        const json_t *then = json_array_get(inputs, (size_t)i);
        const char *path = NULL;
        int64_t bytes = 0, mtime_ns = 0;
        LEAT_TRY(leat_json_get_string(then, "path", &path, LEAT_STATE_NAME, err));
        LEAT_TRY(leat_json_get_int(then, "bytes", 0, INT64_MAX, &bytes, LEAT_STATE_NAME, err));
        LEAT_TRY(leat_json_get_int(then, "mtime_ns", INT64_MIN, INT64_MAX, &mtime_ns,
                                   LEAT_STATE_NAME, err));
        /* a name that is not UTF-8 is saved in altered form: only size and time are compared */
        bool named = leat_json_is_utf8(input->path, (int64_t)strlen(input->path));
        if ((named && strcmp(path, input->path) != 0) || bytes != input->facts.size_bytes ||
            mtime_ns != input->facts.mtime_ns) {
            return leat_fail(err, LEAT_ERR_OPTION,
                             "cannot resume: input %lld was \"%s\" of %lld bytes and is now \"%s\" "
                             "of %lld bytes, or has changed since",
                             (long long)i + 1, path, (long long)bytes, input->path,
                             (long long)input->facts.size_bytes);
        }
    }
    return LEAT_OK;
}

/* The default of an option that is recorded only if it has another value; NULL: it always is. */
static const char *unrecorded_default(const char *key) {
    if (strcmp(key, "duplicates") == 0) return "keep";
    return strcmp(key, "address") == 0 ? "auto" : NULL;
}

static leat_code check_unrecorded(const leat_job *job, const json_t *options, const char *key,
                                  leat_error *err) {
    char now[LEAT_MANIFEST_TEXT_BYTES];
    const char *then = json_string_value(json_object_get(options, key));
    snprintf(now, sizeof now, "%s", unrecorded_default(key));
    for (int64_t i = 0; i < job->manifest.option_count; i++) {
        if (strcmp(job->manifest.options[i].key, key) == 0)
            option_text(&job->manifest.options[i], now);
    }
    return compare_option(key, then != NULL ? then : unrecorded_default(key), now, err);
}

static leat_code check_setting(const leat_job *job, const json_t *root, leat_error *err) {
    const json_t *options = NULL, *inputs = NULL;
    LEAT_TRY(leat_json_get_object(root, "options", &options, LEAT_STATE_NAME, err));
    for (int64_t i = 0; i < job->manifest.option_count; i++) {
        char text[LEAT_MANIFEST_TEXT_BYTES];
        const char *key = job->manifest.options[i].key;
        option_text(&job->manifest.options[i], text);
        if (unrecorded_default(key) == NULL) LEAT_TRY(check_option(options, key, text, err));
    }
    LEAT_TRY(check_unrecorded(job, options, "duplicates", err));
    LEAT_TRY(check_unrecorded(job, options, "address", err));
    column_name names[COLUMN_NAMES];
    column_names(job, names);
    for (int i = 0; i < COLUMN_NAMES; i++) {
        LEAT_TRY(check_option(options, names[i].key, names[i].name, err));
    }
    for (int i = 0; i < UNIT_NAMES; i++) {
        const char *then = json_string_value(json_object_get(options, unit_keys[i]));
        LEAT_TRY(compare_option(unit_keys[i], then != NULL ? then : "", unit_name(job, i), err));
    }
    LEAT_TRY(leat_json_get_array(root, "inputs", &inputs, LEAT_STATE_NAME, err));
    return check_inputs(job, inputs, err);
}

static leat_code read_numbers(const json_t *root, leat_job_state *state, leat_error *err) {
    const char *what = LEAT_STATE_NAME;
    int64_t workers = 0, bits = 0;
    LEAT_TRY(leat_json_get_int(root, "workers", 1, 256, &workers, what, err));
    LEAT_TRY(leat_json_get_int(root, "bucket_bits", 0, 15, &bits, what, err));
    state->workers = (int)workers;
    state->bucket_bits = (int)bits;
    const struct {
        const char *key;
        int64_t *value;
        int64_t max;
    } numbers[] = {
        {"train_probes", &state->probes[LEAT_SPLIT_TRAIN], INT64_MAX},
        {"test_probes", &state->probes[LEAT_SPLIT_TEST], INT64_MAX},
        {"train_shards", &state->shards[LEAT_SPLIT_TRAIN], LEAT_SHARDS_MAX},
        {"test_shards", &state->shards[LEAT_SPLIT_TEST], LEAT_SHARDS_MAX},
        {"train_shard_probes", &state->shard_probes[LEAT_SPLIT_TRAIN], INT64_MAX},
        {"test_shard_probes", &state->shard_probes[LEAT_SPLIT_TEST], INT64_MAX},
        {"rows_read", &state->rows_read, INT64_MAX},
        {"measurements", &state->measurements, INT64_MAX},
        {"bytes_spilled", &state->bytes_spilled, INT64_MAX},
        {"mapped_addresses", &state->mapped, INT64_MAX},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        LEAT_TRY(leat_json_get_int(root, numbers[i].key, 0, numbers[i].max, numbers[i].value, what,
                                   err));
    }
    const json_t *bound = json_object_get(root, "bound"), *rejected = NULL;
    state->bound = (leat_census_bound){.size_bytes = -1};
    if (json_is_string(bound) && json_string_length(bound) <= LEAT_ADDRESS_TEXT_BYTES) {
        state->bound.size_bytes = (int32_t)json_string_length(bound);
        memcpy(state->bound.text, json_string_value(bound), json_string_length(bound));
    }
    LEAT_TRY(leat_json_get_array(root, "rejected", &rejected, what, err));
    for (int i = 0; i < LEAT_REJECT_COUNT; i++) {
        state->rejected[i] = json_integer_value(json_array_get(rejected, (size_t)i));
    }
    leat_job_read_warnings(root, state);
    char now[65];
    const char *then = NULL;
    LEAT_TRY(numbers_sha256(state, now, err));
    LEAT_TRY(leat_json_get_string(root, "numbers_sha256", &then, what, err));
    if (strcmp(now, then) == 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_CORRUPT, "%s: its numbers are not those that were saved", what);
}

static leat_code is_gone(const char *path, leat_error *err) {
    return leat_fail(err, LEAT_ERR_NOT_FOUND,
                     "cannot resume: temporary file \"%s\" of the interrupted run is missing; put "
                     "it back, or use --replace to start over",
                     path);
}

/* Reads the texts of each worker; *ok: they are what was saved. */
static leat_code load_texts(leat_job *job, const uint8_t *at, int64_t left, bool *ok,
                            leat_error *err) {
    for (int i = 0; i < job->state.workers && *ok; i++) {
        LEAT_TRY(LEAT_NEW(&job->texts[i], 1, err));
        leat_spill_texts *texts = job->texts[i];
        *ok = left >= (int64_t)sizeof texts->count;
        if (!*ok) return LEAT_OK;
        memcpy(&texts->count, at, sizeof texts->count);
        at += sizeof texts->count;
        left -= (int64_t)sizeof texts->count;
        int64_t size = texts->count * (int64_t)sizeof *texts->texts;
        *ok = texts->count >= 0 && texts->count <= LEAT_SPILL_SHARED_MAX && size <= left;
        if (!*ok) return LEAT_OK;
        memcpy(texts->texts, at, (size_t)size);
        at += size;
        left -= size;
    }
    *ok = *ok && left == 0;
    return LEAT_OK;
}

static leat_code open_spills(leat_job *job, const char *digest, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    uint8_t *bytes = NULL;
    int64_t size_bytes = 0, each = job->buckets.count * (int64_t)sizeof(leat_spill_stream);
    LEAT_TRY(work_path(job, LEAT_STREAMS_NAME, path, err));
    leat_code code = leat_file_load(path, STATE_BYTES_MAX, &bytes, &size_bytes, err);
    if (code == LEAT_ERR_NOT_FOUND) return is_gone(path, err);
    LEAT_TRY(code);
    char found[65];
    leat_sha256_hex_of(bytes, size_bytes, found);
    code = leat_job_spills_new(job, err);
    bool same = strcmp(found, digest) == 0 && size_bytes >= each * job->state.workers;
    if (code == LEAT_OK && same)
        code = load_texts(job, bytes + each * job->state.workers,
                          size_bytes - each * job->state.workers, &same, err);
    if (code == LEAT_OK && !same)
        code = leat_fail(err, LEAT_ERR_CORRUPT, "\"%s\" is damaged", path);
    const uint8_t *streams = bytes;
    for (int i = 0; i < spill_count(job) && code == LEAT_OK; i++) {
        int group = i % job->buckets.group_count;
        int count = leat_buckets_in_group(&job->buckets, group);
        leat_spill *spill = &job->spills[i];
        code = leat_job_spill_path(job, i / job->buckets.group_count, group, path, err);
        if (code == LEAT_OK) {
            code = leat_spill_open(spill, path, job->folder.workdir.run, count,
                                   job->texts[i / job->buckets.group_count], err);
        }
        if (code == LEAT_ERR_NOT_FOUND) code = is_gone(path, err);
        if (code != LEAT_OK) break;
        memcpy(spill->streams, streams, (size_t)count * sizeof *spill->streams);
        streams += (size_t)count * sizeof *spill->streams;
    }
    leat_free(bytes);
    return code;
}

static leat_code load_parsed(leat_job *job, const json_t *root, leat_error *err) {
    int64_t version = 0;
    const char *digest = NULL, *run = NULL;
    char expected[RUN_BYTES];
    LEAT_TRY(leat_json_expect_string(root, "format", STATE_FORMAT, LEAT_STATE_NAME, err));
    LEAT_TRY(leat_json_get_int(root, "version", 1, INT32_MAX, &version, LEAT_STATE_NAME, err));
    if (version != STATE_VERSION) {
        return leat_fail(
            err, LEAT_ERR_UNSUPPORTED,
            "cannot resume: another version of leat was interrupted here (its state has version "
            "%lld, not %d); resume with that version, or use --replace to start over",
            (long long)version, STATE_VERSION);
    }
    run_text(job, expected);
    LEAT_TRY(leat_json_get_string(root, "run", &run, LEAT_STATE_NAME, err));
    if (strcmp(run, expected) != 0)
        return leat_fail(err, LEAT_ERR_CORRUPT,
                         LEAT_STATE_NAME " belongs to run %.32s, but its folder to run %s", run,
                         expected);
    LEAT_TRY(check_setting(job, root, err));
    leat_error why = {0};
    leat_code code = leat_workdir_check_temp(&job->folder.workdir, &why);
    if (code == LEAT_ERR_NOT_FOUND)
        return leat_fail(err, code,
                         "cannot resume: %s; put them back, or use --replace to start over",
                         why.message);
    if (code != LEAT_OK) return leat_error_copy(err, &why);
    LEAT_TRY(read_numbers(root, &job->state, err));
    LEAT_TRY(leat_json_get_string(root, "streams_sha256", &digest, LEAT_STATE_NAME, err));
    job->buckets = leat_buckets_plan(job->state.bucket_bits, job->options->train_ratio,
                                     job->options->split == LEAT_SPLIT_HASH, job->state.workers);
    LEAT_TRY(open_spills(job, digest, err));
    leat_job_read_contents(job, json_object_get(root, "inputs"));
    job->state.scanned = true;
    return LEAT_OK;
}

/* *root is NULL if there is no state. */
static leat_code read_state(const leat_job_folder *folder, json_t **root, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_path_facts facts;
    uint8_t *text = NULL;
    int64_t size_bytes = 0;
    *root = NULL;
    LEAT_TRY(leat_path_join(path, sizeof path, folder->work, LEAT_STATE_NAME, err));
    LEAT_TRY(leat_path_stat(path, &facts, err));
    if (facts.kind == LEAT_PATH_NONE) return LEAT_OK;
    LEAT_TRY(leat_file_load(path, STATE_BYTES_MAX, &text, &size_bytes, err));
    leat_code code = leat_json_parse((const char *)text, size_bytes, path, root, err);
    leat_free(text);
    return code;
}

leat_code leat_job_state_load(leat_job *job, leat_error *err) {
    json_t *root = NULL;
    leat_code code = read_state(&job->folder, &root, err);
    if (code == LEAT_OK && root == NULL) return LEAT_OK;
    if (code == LEAT_OK) code = load_parsed(job, root, err);
    json_decref(root);
    if (code == LEAT_ERR_CORRUPT)
        code = leat_error_context(err, code, "cannot resume; use --replace to start over");
    if (code != LEAT_OK) {
        leat_job_spills_close(job);
        job->state = (leat_job_state){0};
    }
    return code;
}
