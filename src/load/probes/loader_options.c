/*
 * The loader's options: which values are accepted, which options affect the bytes of batches, what
 * they cost in memory.
 *
 * The options that decide bytes are written as one JSON object of texts, in a fixed order; its hash
 * is in every state. Threads, hosts, prefetch, input/output, memory and the handling of damage are
 * not among them, nor is the number of epochs, which only decides where steps end.
 */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "batch/order_setting.h"
#include "load/option_rows.h"
#include "load/probes/loader.h"
#include "load/state.h"

leat_loader_options leat_loader_options_default(void) {
    return (leat_loader_options){
        .sample = leat_sampler_options_default(),
        .split = LEAT_SPLIT_TRAIN,
        .batch = 8,
        .host_count = 1,
        .steps_per_round = 1,
        .threads = leat_cpu_count(),
        .prefetch = LEAT_PREFETCH_AUTO,
        .memory_bytes = INT64_C(512) << 20,
    };
}

/* ---- by name ------------------------------------------------------------------------------------
 */

#define AT(field) .place = offsetof(leat_loader_options, field)
#define CHOICE(word, field, words)                                                                 \
    .name = word, .kind = LEAT_SETTING_CHOICE, AT(field), .choices = words
#define INT(word, field, least, most)                                                              \
    .name = word, .kind = LEAT_SETTING_INT, AT(field), .min = least, .max = most

static const leat_setting rows[] = {
    {CHOICE("split", split, "train|test|all"), .help = "rows of this split"},
    {INT("batch", batch, 1, LEAT_BATCH_MAX), .help = "rows per global batch, over all hosts"},
    {.name = "client-weights",
     .kind = LEAT_SETTING_TEXT,
     AT(client_weights),
     .value = "uniform|measurements|FILE",
     .usually = "uniform",
     .help = "how often each probe is drawn with --by client; FILE is a CSV with src_id and "
             "weight"},
    {INT("clients-per-round", clients_per_round, 1, LEAT_CLIENTS_DRAWN_MAX), .choices = "none",
     .value = "N|none",
     .help = "with --by client: draw the probes of each batch from N probes, chosen anew each "
             "round"},
    {INT("steps-per-round", steps_per_round, 1, LEAT_STEPS_MAX), .help = "steps per round"},
    {INT("epochs", epochs, 0, LEAT_STEPS_MAX), .neutral = true,
     .help = "end after N epochs; 0: never"},
    {LEAT_LOADER_HOST(leat_loader_options, LEAT_BATCH_MAX)},
    {LEAT_LOADER_HOSTS(leat_loader_options, LEAT_BATCH_MAX)},
    {LEAT_LOADER_THREADS(leat_loader_options)},
    {LEAT_LOADER_MEMORY(leat_loader_options)},
    {LEAT_LOADER_PREFETCH(leat_loader_options)},
    {LEAT_ORDER_SETTING(leat_loader_options),
     .help =
         "global: contexts of a batch are from anywhere; windowed, for data larger than memory: "
         "from windows, together of about SIZE (128M), so that data is read once an epoch, in "
         "large pieces"},
    {CHOICE("io", io, "mmap|pread"), .neutral = true, .help = "how uncompressed shards are read"},
    {CHOICE("on-corrupt", on_corrupt, "fail|mask"), .neutral = true,
     .help = "on damaged data: fail, or zero the sequences that need it and list the records"},
    {.name = NULL},
};

static void set_defaults(void *options) {
    *(leat_loader_options *)options = leat_loader_options_default();
}

const leat_setting_table *leat_loader_options_table(void) {
    static const leat_setting_table table = {"a loader", rows, sizeof(leat_loader_options),
                                             set_defaults};
    return &table;
}

/* ---- what is accepted ---------------------------------------------------------------------------
 */

static leat_code check_rows(const leat_loader_options *options, leat_error *err) {
    int64_t batch = options->batch;
    if (options->rows == NULL)
        return leat_loader_check_hosts(batch, options->host_count, options->host_index, err);
    LEAT_TRY(leat_loader_check_range("number of rows", options->row_count, 1, LEAT_BATCH_MAX, err));
    for (int64_t i = 0; i < options->row_count; i++) {
        if (options->rows[i] >= 0 && options->rows[i] < batch) continue;
        return leat_fail(err, LEAT_ERR_OPTION,
                         "loader: rows: %lld is not a row of a batch of %lld: rows are 0 to %lld",
                         (long long)options->rows[i], (long long)batch, (long long)batch - 1);
    }
    return LEAT_OK;
}

static leat_code check_order_use(const leat_loader_options *options, leat_error *err) {
    if (options->window_bytes == 0) return LEAT_OK;
    if (options->by_client) {
        return leat_fail(err, LEAT_ERR_OPTION,
                         "loader: order windowed is not for sampling by client, which draws other "
                         "probes for each step, wherever they are; use order global");
    }
    if (options->sample.sampler != LEAT_SAMPLER_ALL) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION,
                     "loader: order windowed is for samplers that fill sequences from several "
                     "contexts; the sampler \"all\" gives each part of a row once, so use order "
                     "global");
}

static leat_code check_clients(const leat_loader_options *options, leat_error *err) {
    if (!options->by_client) {
        if (options->client_weights == NULL && options->clients_per_round == 0) return LEAT_OK;
        return leat_fail(err, LEAT_ERR_OPTION,
                         "loader: client weights and rounds require sampling by client");
    }
    LEAT_TRY(leat_loader_check_range("batch (by client)", options->batch, 1, LEAT_CLIENTS_DRAWN_MAX,
                                     err));
    if (options->epochs != 0) {
        return leat_fail(
            err, LEAT_ERR_OPTION,
            "loader: epochs is %lld, but sampling by client has no epochs; it never ends",
            (long long)options->epochs);
    }
    if (options->sample.sampler == LEAT_SAMPLER_ALL) {
        return leat_fail(err, LEAT_ERR_OPTION,
                         "loader: the sampler \"all\" gives every measurement once and knows no "
                         "clients");
    }
    if (options->clients_per_round == 0) return LEAT_OK;
    return leat_loader_check_range("clients_per_round", options->clients_per_round, options->batch,
                                   LEAT_CLIENTS_DRAWN_MAX, err);
}

leat_code leat_loader_options_check(const leat_loader_options *options, leat_error *err) {
    LEAT_TRY(leat_sampler_options_check(&options->sample, err));
    LEAT_TRY(leat_loader_check_seed(options->sample.seed, err));
    LEAT_TRY(leat_settings_check(leat_loader_options_table(), options, err));
    LEAT_TRY(check_rows(options, err));
    LEAT_TRY(check_order_use(options, err));
    return check_clients(options, err);
}

/* ---- what decides bytes ------------------------------------------------------------------------
 */

static void put_table(leat_json *json, const char *key, const leat_src_table *table) {
    uint8_t digest[32];
    char text[65];
    leat_src_table_hash(table, digest);
    leat_sha256_hex(digest, text);
    text[16] = 0;
    leat_json_member_string(json, key, text);
}

static void put_sample(leat_json *json, const leat_sampler_options *sample) {
    for (const leat_setting *row = leat_sampler_options_table()->rows; row->name != NULL; row++) {
        char text[LEAT_SETTING_BYTES];
        if (strcmp(row->name, "seed") == 0) continue; /* in the state itself */
        leat_json_member_string(json, row->name, leat_setting_get(row, sample, text));
    }
}

static void put_option(leat_json *json, const leat_loader_options *options, const char *name) {
    char text[LEAT_SETTING_BYTES];
    leat_json_member_string(json, name,
                            leat_settings_get(leat_loader_options_table(), options, name, text));
}

static void put_options(const leat_loader_plan *plan, leat_json *json) {
    const leat_loader_options *options = &plan->options;
    leat_json_begin_object(json);
    put_sample(json, &options->sample);
    put_option(json, options, "split");
    put_option(json, options, "batch");
    if (options->window_bytes > 0) put_option(json, options, "order");
    if (plan->dataset->addresses != NULL) put_table(json, "addresses", plan->dataset->addresses);
    if (options->by_client) {
        leat_json_member_string(json, "by", "client");
        if (plan->weights != NULL) put_table(json, "client-weights", plan->weights);
        else leat_json_member_string(json, "client-weights", plan->weights_name);
        if (options->clients_per_round > 0) {
            put_option(json, options, "clients-per-round");
            put_option(json, options, "steps-per-round");
        }
    }
    leat_json_end_object(json);
}

leat_code leat_loader_plan_describe(leat_loader_plan *plan, leat_error *err) {
    leat_json *json = NULL;
    LEAT_TRY(leat_json_create(&json, true, err));
    put_options(plan, json);
    leat_code code = leat_state_words(json, &plan->words, plan->hash, err);
    leat_json_destroy(json);
    return code;
}

/* Tables of rows that are created once all rows are known: see table_bytes. */
#define TABLE_ROW_BYTES_MAX 32
#define RECORD_BYTES_MAX (INT64_C(1) << 44)

/* ---- what it costs ------------------------------------------------------------------------------
 */

static int64_t table_bytes(const leat_loader_plan *plan) {
    int64_t rows = plan->split_rows; /* anchors: see batch/tokens/anchors.h */
    int64_t bytes = rows * (plan->sample.sampler == LEAT_SAMPLER_ALL ? 4 : 1) + rows / 64 * 12;
    bytes += plan->dataset->shard_count * (int64_t)sizeof(leat_row_range);
    if (plan->order != NULL) bytes += rows * 8;
    if (plan->clients != NULL) bytes += plan->client_count * (plan->weights_name != NULL ? 16 : 8);
    if (plan->weights != NULL) bytes += leat_src_table_bytes(plan->weights);
    if (plan->blocks != NULL) bytes += leat_blocks_table_bytes(plan->blocks);
    return bytes;
}

static bool keeps_records(const leat_loader_plan *plan) {
    const leat_dataset *dataset = plan->dataset;
    return dataset->index == NULL || dataset->facts.compressed || plan->options.io == LEAT_IO_PREAD;
}

int64_t leat_loader_plan_window_bytes(const leat_loader_plan *plan) {
    if (plan->blocks == NULL) return 0;
    int64_t bytes = leat_readahead_window_bytes(plan), split = plan->blocks->split_bytes;
    return keeps_records(plan) || bytes < split ? bytes : split;
}

/* Everything but the slots and the cache, where no record is larger than that; `decode_bytes` is
 * what decoding one takes. */
static int64_t fixed_bytes(const leat_loader_plan *plan, int64_t record_bytes,
                           int64_t decode_bytes) {
    int64_t bytes = table_bytes(plan) + plan->options.threads * leat_maker_bytes(plan);
    if (plan->blocks != NULL) bytes += leat_readahead_thread_bytes(plan);
    if (!keeps_records(plan)) return bytes;
    if (plan->blocks != NULL) bytes += leat_readahead_window_bytes(plan);
    /* a worker holds the record that it reads, besides what the cache keeps */
    return bytes + plan->options.threads * 2 * record_bytes + decode_bytes;
}

/* The limit that is enough for this much and for a cache that grows with the limit, up to a quarter
 * of it. */
static int64_t enough_bytes(const leat_loader_plan *plan, int64_t need) {
    const leat_reading *reading = &plan->dataset->reading;
    int64_t third = need / 3 + 1;
    if (!keeps_records(plan)) return need;
    return need + (reading->cache_wanted < third ? reading->cache_wanted : third);
}

/* The same of all that is needed, `cache` included as it is now, and of the threads that decode: an
 * eighth of the limit is for them, so that a higher one may mean more. */
static int64_t enough_in_all(const leat_loader_plan *plan, int64_t need, int64_t cache) {
    const int64_t threads = plan->blocks != NULL ? leat_readahead_thread_bytes(plan) : 0;
    leat_loader_plan more = *plan;
    for (int64_t all = need;;) {
        const int64_t grown = enough_bytes(plan, all - cache);
        more.options.memory_bytes = grown > all ? grown : all;
        if (plan->blocks == NULL) return more.options.memory_bytes;
        const int64_t next = need - threads + leat_readahead_thread_bytes(&more);
        if (next <= all) return more.options.memory_bytes;
        all = next;
    }
}

leat_code leat_loader_plan_check_chunks(const leat_loader_plan *plan, leat_error *err) {
    const leat_reading *reading = &plan->dataset->reading;
    int64_t slot = 0, depth = 0, need = 0;
    if (plan->dataset->index != NULL || reading->most_bytes <= leat_reading_left(reading) ||
        !leat_token_slot_bytes(plan->row_count, plan->sample.length, &slot)) {
        return LEAT_OK;
    }
    /* tables that are created later, at most */
    int64_t record = reading->most.decoded_bytes, most = reading->most_bytes;
    if (record > RECORD_BYTES_MAX) record = RECORD_BYTES_MAX; /* a footer may hold any number */
    int64_t fixed = fixed_bytes(plan, record, most);
    fixed += plan->split_rows * TABLE_ROW_BYTES_MAX;
    if (plan->weights != NULL) fixed += leat_src_table_bytes(plan->weights);
    if (!leat_ring_budget(fixed, slot, plan->options.prefetch, 0, &depth, &need)) return LEAT_OK;
    int64_t loader = (enough_bytes(plan, need) >> 20) + 1;
    int64_t chunks = leat_reading_least_mib(reading, 0);
    return leat_fail(err, LEAT_ERR_LIMIT,
                     "loader: \"%s\" and the files with it have chunks that decode to %lld bytes, "
                     "and reading one requires up to %lld MiB of memory, more than is left of the "
                     "%lld MiB of --memory; use --memory %lldM",
                     plan->dataset->shards[0].name, (long long)reading->most.decoded_bytes,
                     (long long)(reading->most_bytes >> 20) + 1,
                     (long long)(reading->memory_bytes >> 20),
                     (long long)(loader > chunks ? loader : chunks));
}

leat_code leat_loader_plan_budget(const leat_loader_plan *plan, int64_t *prefetch,
                                  int64_t *memory_bytes, leat_error *err) {
    const leat_loader_options *options = &plan->options;
    const leat_dataset *dataset = plan->dataset;
    int64_t decode = dataset->index == NULL ? dataset->reading.fit_decode_bytes : 0;
    int64_t cache = keeps_records(plan) ? leat_record_cache_bytes_max(dataset->cache) : 0;
    int64_t fixed = fixed_bytes(plan, plan->record_bytes_max, decode) + cache;
    int64_t slot = 0, depth = 0, need = 0;
    *prefetch = *memory_bytes = 0;
    if (!leat_token_slot_bytes(plan->row_count, plan->sample.length, &slot) ||
        !leat_ring_budget(fixed, slot, options->prefetch, options->memory_bytes, &depth, &need)) {
        return leat_fail(err, LEAT_ERR_OPTION,
                         "loader: a batch of %lld rows of %d tokens is too large",
                         (long long)plan->row_count, plan->sample.length);
    }
    if (need > options->memory_bytes) {
        return leat_fail(
            err, LEAT_ERR_OPTION,
            "loader: memory_bytes is %lld, but %lld are required: %lld for %lld batches "
            "of %lld rows of %d tokens, %lld for tables, threads and cache%s; allow "
            "more memory, or lower batch, prefetch or threads%s",
            (long long)options->memory_bytes, (long long)enough_in_all(plan, need, cache),
            (long long)(need - fixed), (long long)((need - fixed) / slot),
            (long long)plan->row_count, plan->sample.length, (long long)fixed,
            plan->blocks != NULL ? ", windows included" : "",
            plan->blocks != NULL ? ", or take smaller windows" : "");
    }
    /* the remainder is for decoding several at once */
    if (dataset->index == NULL)
        leat_dataset_set_gate(dataset, decode + options->memory_bytes - need);
    *prefetch = depth;
    *memory_bytes = need;
    return LEAT_OK;
}
