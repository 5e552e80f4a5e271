/*
 * The loader's options: what is accepted, which of them decide bytes, what they cost in memory.
 *
 * The options that decide bytes are written as one JSON object of texts, in a fixed order; its
 * hash stands in every state. Threads, hosts, prefetch, input/output, memory and what is done about
 * damage are not among them, nor is the number of epochs, which only says where steps end.
 */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "load/loader.h"
#include "load/state.h"

leat_loader_options leat_loader_options_default(void) {
    return (leat_loader_options){
        .sample = leat_sample_options_default(),
        .split = LEAT_SPLIT_TRAIN,
        .batch = 8,
        .host_count = 1,
        .steps_per_round = 1,
        .threads = leat_cpu_count(),
        .prefetch = LEAT_PREFETCH_AUTO,
        .memory_bytes = INT64_C(512) << 20,
    };
}

/* ---- what is accepted ---------------------------------------------------------------------------
 */

static leat_code check_range(const char *name, int64_t value, int64_t least, int64_t most,
                             leat_error *err) {
    if (value >= least && value <= most) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION, "loader: %s is %lld, must be %lld to %lld", name,
                     (long long)value, (long long)least, (long long)most);
}

static leat_code check_rows(const leat_loader_options *options, leat_error *err) {
    int64_t batch = options->batch;
    LEAT_TRY(check_range("batch", batch, 1, LEAT_BATCH_MAX, err));
    if (options->rows == NULL) {
        LEAT_TRY(check_range("hosts", options->host_count, 1, batch, err));
        LEAT_TRY(check_range("host", options->host_index, 0, options->host_count - 1, err));
        if (batch % options->host_count == 0) return LEAT_OK;
        return leat_fail(err, LEAT_ERR_OPTION,
                         "loader: %lld hosts cannot share a batch of %lld rows evenly: the number "
                         "of hosts must divide it",
                         (long long)options->host_count, (long long)batch);
    }
    LEAT_TRY(check_range("number of rows", options->row_count, 1, LEAT_BATCH_MAX, err));
    for (int64_t i = 0; i < options->row_count; i++) {
        if (options->rows[i] >= 0 && options->rows[i] < batch) continue;
        return leat_fail(err, LEAT_ERR_OPTION,
                         "loader: rows: %lld is no row of a batch of %lld: they are 0 to %lld",
                         (long long)options->rows[i], (long long)batch, (long long)batch - 1);
    }
    return LEAT_OK;
}

static leat_code check_clients(const leat_loader_options *options, leat_error *err) {
    if (!options->by_client) {
        if (options->client_weights == NULL && options->clients_per_round == 0) return LEAT_OK;
        return leat_fail(err, LEAT_ERR_OPTION,
                         "loader: client weights and rounds are for sampling by client");
    }
    LEAT_TRY(check_range("batch (by client)", options->batch, 1, LEAT_CLIENTS_DRAWN_MAX, err));
    if (options->epochs != 0) {
        return leat_fail(err, LEAT_ERR_OPTION,
                         "loader: epochs is %lld, but by client there are none: steps have no end",
                         (long long)options->epochs);
    }
    if (options->sample.sampler == LEAT_SAMPLER_ALL) {
        return leat_fail(err, LEAT_ERR_OPTION,
                         "loader: the sampler \"all\" gives every measurement once and knows no "
                         "clients");
    }
    if (options->clients_per_round == 0) return LEAT_OK;
    LEAT_TRY(check_range("clients_per_round", options->clients_per_round, options->batch,
                         LEAT_CLIENTS_DRAWN_MAX, err));
    return check_range("steps_per_round", options->steps_per_round, 1, LEAT_STEPS_MAX, err);
}

leat_code leat_loader_options_check(const leat_loader_options *options, leat_error *err) {
    LEAT_TRY(leat_sample_options_check(&options->sample, err));
    if (options->sample.seed > INT64_MAX) {
        return leat_fail(err, LEAT_ERR_OPTION, "loader: seed is %llu, must be 0 to %lld",
                         (unsigned long long)options->sample.seed, (long long)INT64_MAX);
    }
    LEAT_TRY(check_range("split", options->split, LEAT_SPLIT_TRAIN, LEAT_SPLIT_NONE, err));
    LEAT_TRY(check_rows(options, err));
    LEAT_TRY(check_clients(options, err));
    LEAT_TRY(check_range("epochs", options->epochs, 0, LEAT_STEPS_MAX, err));
    LEAT_TRY(check_range("threads", options->threads, 1, LEAT_THREADS_MAX, err));
    if (options->prefetch != LEAT_PREFETCH_AUTO)
        LEAT_TRY(check_range("prefetch", options->prefetch, 0, LEAT_PREFETCH_MAX, err));
    LEAT_TRY(check_range("memory_bytes", options->memory_bytes, 1, INT64_MAX, err));
    LEAT_TRY(check_range("io", options->io, LEAT_IO_MMAP, LEAT_IO_PREAD, err));
    return check_range("on_corrupt", options->on_corrupt, LEAT_CORRUPT_FAIL, LEAT_CORRUPT_MASK,
                       err);
}

/* ---- what decides bytes ------------------------------------------------------------------------
 */

static void put_int(leat_json *json, const char *key, int64_t value) {
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)value);
    leat_json_member_string(json, key, text);
}

static void put_table(leat_json *json, const char *key, const leat_src_table *table) {
    uint8_t digest[32];
    char text[65];
    leat_src_table_hash(table, digest);
    leat_sha256_hex(digest, text);
    text[16] = 0;
    leat_json_member_string(json, key, text);
}

static leat_code put_sample(leat_json *json, const leat_sample_options *sample, leat_error *err) {
    const char *name = NULL;
    for (int i = 0; (name = leat_sample_option_name(i)) != NULL; i++) {
        char text[LEAT_SAMPLE_OPTION_BYTES];
        if (strcmp(name, "seed") == 0) continue; /* stands in the state itself */
        LEAT_TRY(leat_sample_option_get(sample, name, text, err));
        leat_json_member_string(json, name, text);
    }
    return LEAT_OK;
}

static leat_code put_options(const leat_plan *plan, leat_json *json, leat_error *err) {
    static const char *const splits[] = {"train", "test", "all"};
    const leat_loader_options *options = &plan->options;
    leat_json_begin_object(json);
    LEAT_TRY(put_sample(json, &options->sample, err));
    leat_json_member_string(json, "split", splits[options->split]);
    put_int(json, "batch", options->batch);
    if (plan->dataset->addresses != NULL) put_table(json, "addresses", plan->dataset->addresses);
    if (options->by_client) {
        leat_json_member_string(json, "by", "client");
        if (plan->weights != NULL) put_table(json, "client-weights", plan->weights);
        else leat_json_member_string(json, "client-weights", plan->weights_name);
        if (options->clients_per_round > 0) {
            put_int(json, "clients-per-round", options->clients_per_round);
            put_int(json, "steps-per-round", options->steps_per_round);
        }
    }
    leat_json_end_object(json);
    return LEAT_OK;
}

leat_code leat_plan_describe(leat_plan *plan, leat_error *err) {
    leat_json *json = NULL;
    LEAT_TRY(leat_json_create(&json, true, err));
    leat_code code = put_options(plan, json, err);
    if (code == LEAT_OK) code = leat_state_words(json, &plan->words, plan->hash, err);
    leat_json_destroy(json);
    return code;
}

/* ---- what it costs ------------------------------------------------------------------------------
 */

static int64_t table_bytes(const leat_plan *plan) {
    int64_t rows = plan->split_rows; /* anchors: see sample/anchors.h */
    int64_t bytes = rows * (plan->sample.sampler == LEAT_SAMPLER_ALL ? 4 : 1) + rows / 64 * 12;
    bytes += plan->dataset->shard_count * (int64_t)sizeof(leat_row_range);
    if (plan->order != NULL) bytes += rows * 8;
    if (plan->clients != NULL) bytes += plan->client_count * (plan->weights_name != NULL ? 16 : 8);
    if (plan->weights != NULL) bytes += leat_src_table_bytes(plan->weights);
    return bytes;
}

/* Everything but the slots. */
static int64_t fixed_bytes(const leat_plan *plan) {
    const leat_dataset *dataset = plan->dataset;
    bool is_cached =
        dataset->index == NULL || dataset->facts.compressed || plan->options.io == LEAT_IO_PREAD;
    int64_t bytes = table_bytes(plan) + plan->options.threads * leat_maker_bytes(plan);
    if (is_cached) {
        /* a worker holds the record that it reads, besides what the cache keeps */
        bytes += leat_record_cache_bytes_max(dataset->cache);
        bytes += plan->options.threads * 2 * plan->record_bytes_max;
    }
    return bytes;
}

leat_code leat_plan_budget(const leat_plan *plan, int64_t *prefetch, int64_t *memory_bytes,
                           leat_error *err) {
    const leat_loader_options *options = &plan->options;
    int64_t fixed = fixed_bytes(plan), slot = 0, depth = 0, need = 0;
    *prefetch = *memory_bytes = 0;
    if (!leat_token_slot_bytes(plan->row_count, plan->sample.length, &slot) ||
        !leat_ring_budget(fixed, slot, options->prefetch, options->memory_bytes, &depth, &need)) {
        return leat_fail(err, LEAT_ERR_OPTION,
                         "loader: a batch of %lld rows of %d tokens is too large",
                         (long long)plan->row_count, plan->sample.length);
    }
    if (need > options->memory_bytes) {
        return leat_fail(err, LEAT_ERR_OPTION,
                         "loader: memory_bytes is %lld, but %lld are needed: %lld for %lld batches "
                         "of %lld rows of %d tokens, %lld for tables, threads and cache; allow "
                         "more memory, or lower batch, prefetch or threads",
                         (long long)options->memory_bytes, (long long)need,
                         (long long)(need - fixed), (long long)((need - fixed) / slot),
                         (long long)plan->row_count, plan->sample.length, (long long)fixed);
    }
    *prefetch = depth;
    *memory_bytes = need;
    return LEAT_OK;
}
