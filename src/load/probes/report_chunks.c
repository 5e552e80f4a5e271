/*
 * What chunks of 5 minutes would hold, counted without making them: the tokens of a chunk depend on
 * its measurements' versions, results and times alone. A thread takes a shard at a time, since the
 * rows of a probe, which may share a chunk, are neighbours in one shard.
 */
#include "batch/tokens/fields.h"
#include "load/probes/report.h"
#include "load/subset.h"

#define CHUNK_US (LEAT_CHUNK_SECONDS * INT64_C(1000000))

typedef struct tally {
    leat_chunk_stats *stats; /* of this thread */
    leat_row *cursor;
    int32_t length;
    leat_measurements row;
    /* the chunk at hand; no measurements: none */
    int64_t src_id, number, measurements, tokens, clock_us;
} tally;

typedef struct job {
    const leat_loader_plan *plan;
    leat_ticker *ticker;
    int64_t read_bytes, all_bytes;
    tally *tallies; /* one for each worker */
} job;

static void end_chunk(tally *to) {
    leat_chunk_stats *stats = to->stats;
    if (to->measurements == 0) return;
    stats->chunks++;
    stats->tokens += to->tokens;
    if (to->tokens < to->length) {
        stats->short_chunks++;
        stats->padding += to->length - to->tokens;
    }
    leat_distribution_add(&stats->chunk_measurements, to->measurements, 1);
    leat_distribution_add(&stats->chunk_tokens, to->tokens, 1);
    to->measurements = to->tokens = 0;
    to->clock_us = LEAT_CLOCK_UNSET;
}

/* Role, addresses and result: what a measurement takes without its timestamp. */
static int32_t bare_tokens(int ip_version, float rtt) {
    return 1 + 2 * (ip_version == 6 ? 17 : 5) + (leat_rtt_failed(rtt) ? 1 : 3);
}

static void add_measurement(tally *to, int64_t time_us, int ip_version, float rtt) {
    int32_t bare = bare_tokens(ip_version, rtt);
    if (time_us / CHUNK_US != to->number) end_chunk(to);
    if (to->tokens + bare + leat_time_tokens(time_us, to->clock_us) > LEAT_CHUNK_TOKENS_MAX)
        end_chunk(to);
    to->tokens += bare + leat_time_tokens(time_us, to->clock_us);
    to->measurements++;
    to->number = time_us / CHUNK_US;
    to->clock_us = time_us;
}

static leat_code add_row(const job *work, tally *to, int64_t row, leat_error *err) {
    leat_row *cursor = to->cursor;
    const leat_dataset *dataset = work->plan->dataset;
    LEAT_TRY(leat_dataset_row_open(dataset, row, cursor, err));
    LEAT_TRY(leat_dataset_row_decode(cursor, &to->row, err));
    if (leat_row_get_facts(cursor)->src_id != to->src_id) end_chunk(to);
    to->src_id = leat_row_get_facts(cursor)->src_id;
    for (int64_t i = 0; i < to->row.count; i++)
        add_measurement(to, to->row.time_us[i], to->row.ip_version[i], to->row.rtt[i]);
    to->stats->measurements += to->row.count;
    to->stats->rows_read++;
    return LEAT_OK;
}

static leat_code add_shard(const job *work, tally *to, int64_t shard, leat_error *err) {
    const leat_dataset_shard *facts = &work->plan->dataset->shards[shard].facts;
    leat_split split = work->plan->options.split;
    if (split != LEAT_SPLIT_NONE && facts->split != split) return LEAT_OK;
    leat_code code = LEAT_OK;
    for (int64_t i = 0; i < facts->row_count && code == LEAT_OK; i++) {
        int64_t row = facts->first_row + i;
        leat_error why = {0};
        to->stats->rows++;
        if (!leat_subset_has(row, work->read_bytes, work->all_bytes)) continue;
        code = add_row(work, to, row, &why);
        bool is_damage = code == LEAT_ERR_CORRUPT || code == LEAT_ERR_INPUT;
        if (is_damage && work->plan->options.on_corrupt == LEAT_CORRUPT_MASK) {
            to->stats->rows_damaged++;
            code = LEAT_OK;
        } else if (code != LEAT_OK) {
            code = leat_error_copy(err, &why);
        }
    }
    end_chunk(to);
    return code;
}

static leat_code count_shard(void *context, int worker, int64_t shard, leat_error *err) {
    job *work = context;
    LEAT_TRY(add_shard(work, &work->tallies[worker], shard, err));
    return leat_ticker_step(work->ticker, 1, err);
}

static void add_stats(leat_chunk_stats *to, const leat_chunk_stats *from) {
    to->rows += from->rows;
    to->rows_read += from->rows_read;
    to->rows_damaged += from->rows_damaged;
    to->measurements += from->measurements;
    to->chunks += from->chunks;
    to->tokens += from->tokens;
    to->padding += from->padding;
    to->short_chunks += from->short_chunks;
    leat_distribution_merge(&to->chunk_measurements, &from->chunk_measurements);
    leat_distribution_merge(&to->chunk_tokens, &from->chunk_tokens);
}

static leat_code make_room(job *work, int threads, leat_error *err) {
    LEAT_TRY(LEAT_NEW(&work->tallies, threads, err));
    for (int i = 0; i < threads; i++) {
        tally *to = &work->tallies[i];
        to->length = work->plan->sample.length;
        to->clock_us = LEAT_CLOCK_UNSET;
        LEAT_TRY(LEAT_NEW(&to->stats, 1, err));
        LEAT_TRY(leat_row_create(&to->cursor, work->plan->dataset, err));
        leat_row_set_io(to->cursor, work->plan->options.io,
                        work->plan->options.on_corrupt == LEAT_CORRUPT_MASK);
    }
    return LEAT_OK;
}

/* The bytes of all records of the split: what a sample is a share of. */
static leat_code sum_bytes(job *work, leat_error *err) {
    const leat_loader_plan *plan = work->plan;
    if (work->read_bytes < 0) return LEAT_OK;
    for (int64_t i = 0; i < plan->split_rows; i++) {
        leat_row_facts facts;
        LEAT_TRY(leat_dataset_row(plan->dataset, leat_loader_plan_row(plan, i), &facts, err));
        work->all_bytes += facts.record_bytes;
    }
    return LEAT_OK;
}

leat_code leat_report_chunks(const leat_loader_plan *plan, int64_t read_bytes_max,
                             leat_report_threads by, leat_chunk_stats *stats, leat_error *err) {
    job work = {.plan = plan, .ticker = by.ticker, .read_bytes = read_bytes_max};
    int threads = leat_pool_threads(by.pool);
    int64_t shards = plan->dataset->shard_count;
    if (threads > shards) threads = (int)shards;
    leat_pool_job all = {
        .parts = shards, .threads = threads, .context = &work, .make = count_shard};
    LEAT_TRY(sum_bytes(&work, err));
    leat_ticker_stage(by.ticker, "counting chunks", "shards", shards);
    leat_code code = make_room(&work, threads, err);
    if (code == LEAT_OK) code = leat_pool_run(by.pool, &all, err);
    for (int i = 0; i < threads && work.tallies != NULL; i++) {
        tally *from = &work.tallies[i];
        if (from->stats != NULL) add_stats(stats, from->stats);
        leat_row_destroy(from->cursor);
        leat_free(from->stats);
        leat_measurements_free(&from->row);
    }
    leat_free(work.tallies);
    return code;
}
