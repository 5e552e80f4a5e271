/*
 * The scan of an ingest: checks the inputs, divides the memory, passes batches from the sources to
 * the workers, and determines the number of shards from the census. See job.h.
 */
#include <malloc.h>
#include <stdio.h>
#include <time.h>

#include "base/pool.h"
#include "ingest/probes/identity.h"
#include "ingest/probes/job.h"

typedef struct scan {
    leat_job *job;
    leat_scan_memory memory;
    leat_partition partition;
    leat_notes *notes;
    leat_lost lost;
    int64_t resident_bytes;    /* before the scan */
    atomic_llong common_bytes; /* of the workers' pools */
    bool keeps;                /* what the pools hold stays in memory for the write */
} scan;

static leat_source_options source_options(scan *self, leat_reject_log *rejects) {
    const leat_probes_ingest_options *o = self->job->options;
    return (leat_source_options){
        .columns = {o->column_event_time != NULL ? o->column_event_time : "event_time",
                    o->column_src_addr != NULL ? o->column_src_addr : "src_addr",
                    o->column_dst_addr != NULL ? o->column_dst_addr : "dst_addr",
                    o->column_ip_version != NULL ? o->column_ip_version : "ip_version",
                    o->column_rtt != NULL ? o->column_rtt : "rtt", leat_probes_column(o)},
        .mapped = {o->column_event_time != NULL, o->column_src_addr != NULL,
                   o->column_dst_addr != NULL, o->column_ip_version != NULL, o->column_rtt != NULL},
        .time_unit = o->event_time_unit,
        .rtt_unit = leat_rtt_unit_of(o),
        .lost = &self->lost,
        .notes = self->notes,
        .per_packet = o->per_packet,
        .threads = self->memory.threads,
        .memory_bytes = self->memory.source_bytes,
        .temp_dir = self->job->folder.workdir.temp,
        .rejects = rejects,
        .batch = leat_partition_batch,
        .batch_context = &self->partition,
    };
}

/* Beyond any machine. */
#define ENOUGH_MIB_MAX (INT64_C(1) << 40)
/* The next process may itself take a little more. */
#define RESIDENT_MORE_MIB 2

static leat_scan_sizes scan_sizes(const leat_probes_ingest_options *o, const int64_t *least) {
    return (leat_scan_sizes){least, o->train_ratio, o->split == LEAT_SPLIT_HASH};
}

/* Plans both parts of a run under a limit: the scan, and the write of an empty data set. */
static leat_code plan_both(const leat_probes_ingest_options *o, int64_t limit, int64_t resident,
                           const int64_t *least, leat_scan_memory *memory, leat_error *err) {
    leat_write_memory write;
    const leat_memory_limits limits = {limit, resident, o->threads};
    const leat_scan_sizes sizes = scan_sizes(o, least);
    LEAT_TRY(leat_memory_plan_scan(&limits, &sizes, memory, err));
    leat_write_sizes none = {.row_limit_bytes = leat_job_row_limit(o)};
    return leat_memory_plan_write(&limits, &none, &o->record, &write, err);
}

/* A limit too low for one part may be too low for the other as well: the message names one that is
 * enough for both. */
static leat_code too_little(const leat_probes_ingest_options *o, int64_t resident,
                            const int64_t *least, leat_error *err) {
    const int64_t mib = INT64_C(1) << 20;
    leat_scan_memory memory;
    int64_t enough = o->memory_bytes / mib + 1;
    while (enough < ENOUGH_MIB_MAX &&
           plan_both(o, enough * mib, resident, least, &memory, NULL) != LEAT_OK) {
        enough += 1 + enough / 256;
    }
    enough += RESIDENT_MORE_MIB;
    leat_error own = {0};
    const leat_memory_limits limits = {o->memory_bytes, resident, o->threads};
    const leat_scan_sizes sizes = scan_sizes(o, least);
    bool reads = leat_memory_plan_scan(&limits, &sizes, &memory, &own) == LEAT_OK;
    return leat_fail(
        err, LEAT_ERR_LIMIT,
        "the memory limit of %lld MiB is too low %s at least %lld MiB; use --memory %lldM",
        (long long)(o->memory_bytes / mib),
        reads ? "to write these rows, which requires" : "for these inputs, which require",
        (long long)enough, (long long)enough);
}

/* What the sources take at least, by the number of threads. They may read with fewer threads than
 * there are workers; one worker with their minimum is the last resort before an error. */
static void find_least(const leat_job *job, int64_t least[LEAT_THREADS_MAX + 1]) {
    for (int t = 1; t <= job->options->threads; t++)
        least[t] = leat_sources_memory_full(&job->inputs, t);
    least[1] = leat_sources_memory_min(&job->inputs, 1);
}

static leat_code plan_memory(scan *self, leat_error *err) {
    const leat_probes_ingest_options *o = self->job->options;
    int64_t least[LEAT_THREADS_MAX + 1] = {0};
    find_least(self->job, least);
    self->resident_bytes = leat_rss_bytes();
    /* A limit too low to write even an empty data set is rejected before the data are read. */
    leat_code code = plan_both(o, o->memory_bytes, self->resident_bytes, least, &self->memory, err);
    return code == LEAT_ERR_LIMIT ? too_little(o, self->resident_bytes, least, err) : code;
}

/* A part of a compressed file requires more memory than its beginning did, and than there is: names
 * a limit that is enough. */
static leat_code too_little_to_unpack(const scan *self, leat_error *err) {
    const leat_probes_ingest_options *o = self->job->options;
    const leat_input_list *inputs = &self->job->inputs;
    const int64_t mib = INT64_C(1) << 20, needed = self->notes->unpack_bytes;
    const leat_error why = err != NULL ? *err : (leat_error){0};
    int64_t least[LEAT_THREADS_MAX + 1] = {0}, enough = o->memory_bytes / mib;
    leat_scan_memory memory;
    bool fits = false;
    find_least(self->job, least);
    while (enough < ENOUGH_MIB_MAX && !fits) {
        enough += 1 + enough / 256;
        fits = plan_both(o, enough * mib, self->resident_bytes, least, &memory, NULL) == LEAT_OK &&
               leat_sources_unpack_bytes(inputs, memory.threads, memory.source_bytes) >= needed;
    }
    return leat_fail(err, LEAT_ERR_LIMIT, "%s (--memory %lldM is enough)", why.message,
                     (long long)(enough + RESIDENT_MORE_MIB));
}

static leat_code open_worker(scan *self, int index, leat_error *err) {
    leat_job *job = self->job;
    leat_partition_worker *worker = &self->partition.workers[index];
    char path[LEAT_PATH_BYTES];
    worker->aside_file = -1;
    leat_intern_create(&worker->table, self->memory.table_bytes);
    LEAT_TRY(leat_census_log_open(&worker->log, job->folder.workdir.temp, err));
    /* Workers rarely get equal shares of the measurements: half of a pool is there for all. */
    LEAT_TRY(leat_spill_pool_create(&worker->pool, self->memory.pool_bytes / 2, &self->common_bytes,
                                    err));
    atomic_fetch_add(&self->common_bytes, self->memory.pool_bytes / 2);
    for (int g = 0; g < job->buckets.group_count; g++) {
        LEAT_TRY(leat_job_spill_path(job, index, g, path, err));
        LEAT_TRY(leat_spill_create(&worker->spills[g], path, job->folder.workdir.run,
                                   leat_buckets_in_group(&job->buckets, g), &worker->pool, err));
    }
    return LEAT_OK;
}

static void close_workers(scan *self) {
    for (int i = 0; self->partition.workers != NULL && i < self->memory.threads; i++) {
        leat_partition_worker *worker = &self->partition.workers[i];
        leat_intern_destroy(&worker->table);
        leat_census_log_close(&worker->log);
        leat_census_log_close(&worker->pairs);
        for (int g = 0; g < LEAT_GROUPS_MAX; g++) leat_spill_close(&worker->spills[g]);
        leat_spill_pool_destroy(&worker->pool);
        leat_buf_free(&worker->text);
    }
    leat_free(self->partition.workers);
    self->partition.workers = NULL;
    leat_identity_set_free(&self->partition.identities);
}

/* Memory left for worker `index` of the scan. */
static leat_code flush_worker(void *context, int thread, int64_t index, leat_error *err) {
    scan *self = context;
    (void)thread;
    leat_partition_worker *worker = &self->partition.workers[index];
    leat_intern_destroy(&worker->table);
    for (int g = 0; g < self->job->buckets.group_count; g++) {
        leat_spill_finish(&worker->spills[g]);
        if (!self->keeps) LEAT_TRY(leat_spill_write(&worker->spills[g], worker->pool.encoder, err));
    }
    if (worker->pairs.file != NULL) LEAT_TRY(leat_census_log_flush(&worker->pairs, err));
    return leat_census_log_flush(&worker->log, err);
}

/* The number of shards, and an upper bound for the fullest. Sources of the ordered split were
 * counted before they had a split: any range of them is an upper bound for both. */
static leat_code count_shards(const scan *self, const leat_census *census, leat_error *err) {
    const leat_probes_ingest_options *o = self->job->options;
    leat_job_state *state = &self->job->state;
    for (int s = 0; s < LEAT_SPLITS; s++) {
        state->shards[s] = o->shards > 0
                               ? leat_layout_fixed_shard_count(o->shards, o->train_ratio, s)
                               : leat_layout_shard_count(state->probes[s], o->probes_per_shard);
        if (state->shards[s] > LEAT_SHARDS_MAX) {
            return leat_fail(
                err, LEAT_ERR_LIMIT,
                "%lld %s shards exceed the maximum of %d; use a larger --probes-per-shard",
                (long long)state->shards[s], leat_split_name(s), LEAT_SHARDS_MAX);
        }
        leat_split counted = o->split == LEAT_SPLIT_ORDERED ? LEAT_SPLIT_TRAIN : (leat_split)s;
        state->shard_probes[s] = leat_census_fullest(census, counted, state->shards[s]);
    }
    return LEAT_OK;
}

/* Finds the boundary of the ordered split, and with it the number of probes in each split. */
static leat_code rank_sources(scan *self, const leat_census_logs *logs, leat_error *err) {
    leat_job *job = self->job;
    leat_job_state *state = &job->state;
    int64_t all = state->probes[LEAT_SPLIT_TRAIN];
    int64_t train = leat_layout_ordered_count(job->options->train_ratio, all);
    LEAT_TRY(leat_census_rank(logs, train, job->folder.workdir.temp, &state->bound, err));
    state->probes[LEAT_SPLIT_TRAIN] = train;
    state->probes[LEAT_SPLIT_TEST] = all - train;
    return LEAT_OK;
}

/* Counts the probes and, from that, the shards. */
static leat_code take_census(scan *self, leat_error *err) {
    leat_job_state *state = &self->job->state;
    const leat_probes_ingest_options *o = self->job->options;
    leat_census_log logs[LEAT_THREADS_MAX];
    leat_census census;
    for (int i = 0; i < self->memory.threads; i++) logs[i] = self->partition.workers[i].log;
    const leat_census_logs all = {logs, self->memory.threads, o->memory_bytes / 8};
    LEAT_TRY(leat_census_count(&all, &census, err));
    memcpy(state->probes, census.probes, sizeof state->probes);
    state->bound.size_bytes = -1;
    leat_code code = LEAT_OK;
    if (o->split == LEAT_SPLIT_ORDERED) code = rank_sources(self, &all, err);
    if (code == LEAT_OK) code = count_shards(self, &census, err);
    leat_census_free(&census);
    return code;
}

static leat_code run_sources(scan *self, leat_reject_log *rejects, leat_error *err) {
    leat_job *job = self->job;
    self->partition.rejects = rejects;
    leat_source_options options = source_options(self, rejects);
    options.ticker = &self->job->ticker;
    leat_code code = leat_sources_scan(&job->inputs, &options, &job->state.rows_read, err);
    if (code != LEAT_OK) code = leat_inputs_blame(&job->inputs, code, err);
    if (code == LEAT_ERR_LIMIT && self->notes->unpack_bytes > 0)
        return too_little_to_unpack(self, err);
    LEAT_TRY(code);
    LEAT_TRY(leat_inputs_unchanged(&job->inputs, err)); /* before --resume can trust the scan */
    leat_reject_log_counts(rejects, job->state.rejected);
    char path[LEAT_PATH_BYTES];
    LEAT_TRY(leat_path_join(path, sizeof path, job->folder.stage, LEAT_REJECTED_NAME, err));
    /* A run that was killed before its scan was complete may have left one. */
    LEAT_TRY(leat_path_remove(path, err));
    return leat_reject_log_save(rejects, path, err);
}

/* Probes that would be one if their addresses were spelled alike. */
static leat_code count_spellings(const scan *self, leat_error *err) {
    leat_census_log logs[LEAT_THREADS_MAX];
    leat_census_spellings found;
    for (int i = 0; i < self->memory.threads; i++) logs[i] = self->partition.workers[i].log;
    const leat_census_logs all = {logs, self->memory.threads, self->job->options->memory_bytes / 8};
    LEAT_TRY(leat_census_spell(&all, &found, err));
    if (found.addresses > 0)
        leat_warnings_add(&self->job->state.warnings,
                          "%s%lld source addresses are written in several ways and became %lld "
                          "probes; --address canonical makes them one each",
                          found.complete ? "" : "at least ", (long long)found.addresses,
                          (long long)found.probes);
    return LEAT_OK;
}

/* Probes of RIPE Atlas whose numbers and addresses do not correspond. */
static leat_code count_identities(scan *self, leat_error *err) {
    leat_job_state *state = &self->job->state;
    leat_census_log logs[LEAT_THREADS_MAX];
    leat_identities found;
    bool ordered = self->job->options->split == LEAT_SPLIT_ORDERED;
    const int level = self->partition.identities.level;
    leat_identity_set_free(&self->partition.identities); /* before there is another table */
    for (int i = 0; i < self->memory.threads; i++) logs[i] = self->partition.workers[i].pairs;
    const leat_census_logs all = {logs, self->memory.threads, self->job->options->memory_bytes / 8};
    LEAT_TRY(leat_identity_count(&all, level, ordered ? &state->bound : NULL, &self->job->ticker,
                                 &found, err));
    if (level > 0 && found.probes == 0) {
        leat_warnings_add(&state->warnings,
                          "a probe is one source address, but the results of RIPE Atlas are of "
                          "more than %lld pairs of a probe (prb_id) and an address, too many to "
                          "compare them",
                          (long long)self->partition.identities.most);
        return LEAT_OK;
    }
    if (found.probes == found.addresses && found.shared == 0 && found.merged == 0) return LEAT_OK;
    char both[120] = "", merged[160] = "", sample[120] = "";
    if (level > 0)
        snprintf(sample, sizeof sample,
                 " more than %lld pairs of a probe and an address; those of a sample are of",
                 (long long)self->partition.identities.most);
    if (found.shared > 0)
        snprintf(both, sizeof both,
                 ": of %lld probe%s in test, %lld %s also in train with another address",
                 (long long)found.test, found.test == 1 ? "" : "s", (long long)found.shared,
                 found.shared == 1 ? "is" : "are");
    if (found.merged > 0)
        snprintf(merged, sizeof merged,
                 "; %lld private address%s from src_addr, because \"from\" is empty, and may be "
                 "several probes%s",
                 (long long)found.merged, found.merged == 1 ? " is" : "es are",
                 found.merged == 1 ? "" : " each");
    leat_warnings_add(&state->warnings,
                      "a probe is one source address, but the results of RIPE Atlas are of%s %lld "
                      "probe%s (prb_id) with %lld address%s%s%s; --probe prb_id makes each prb_id "
                      "one probe",
                      sample, (long long)found.probes, found.probes == 1 ? "" : "s",
                      (long long)found.addresses, found.addresses == 1 ? "" : "es", both, merged);
    return LEAT_OK;
}

/* What was noticed, in words: the state and run.json keep the texts for later runs. */
static void warn(scan *self) {
    leat_source_options options = source_options(self, NULL);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    self->job->state.mapped = atomic_load(&self->notes->mapped);
    leat_notes_warn(self->notes, &self->job->inputs, &options, (int64_t)now.tv_sec * 1000000,
                    &self->job->state.warnings);
    leat_notes_warn_infinite(self->notes, self->job->state.rejected[LEAT_REJECT_RTT],
                             &self->job->state.warnings);
}

/* With few probes, none may fall to one of the splits; a trainer cannot use a data set whose train
 * is empty. */
static void warn_empty(scan *self) {
    leat_job_state *state = &self->job->state;
    const int64_t test = state->probes[LEAT_SPLIT_TEST];
    if (self->job->options->train_ratio > 0 && state->probes[LEAT_SPLIT_TRAIN] == 0)
        leat_warnings_add(&state->warnings,
                          "split train is empty: %s; --train-ratio 1 puts all probes into train",
                          test == 1 ? "the only probe fell to test" : "all probes fell to test");
}

static leat_code scan_all(scan *self, leat_error *err) {
    leat_job *job = self->job;
    leat_job_state *state = &job->state;
    const char *rtt = job->options->column_rtt;
    LEAT_TRY(LEAT_NEW(&self->partition.workers, self->memory.threads, err));
    for (int i = 0; i < self->memory.threads; i++) LEAT_TRY(open_worker(self, i, err));
    leat_reject_log *rejects = NULL;
    const leat_reject_options options = {.kind = &leat_probe_rejects,
                                         .paths = job->input_paths,
                                         .strict = job->options->strict,
                                         .workers = self->memory.threads,
                                         .memory_bytes = self->memory.reject_bytes,
                                         .temp_dir = job->folder.workdir.temp};
    LEAT_TRY(leat_reject_log_create(&rejects, &options, err));
    leat_code code = run_sources(self, rejects, err);
    leat_reject_log_destroy(rejects);
    if (code != LEAT_OK) return code;
    /* All of it or nothing: what is partly in memory could not be resumed either. */
    self->keeps = job->options->spill == LEAT_SPILL_AUTO;
    for (int i = 0; i < self->memory.threads; i++)
        self->keeps = self->keeps && !leat_spill_pool_has_written(&self->partition.workers[i].pool);
    leat_pool_job flush = {.parts = self->memory.threads,
                           .threads = self->memory.threads,
                           .context = self,
                           .make = flush_worker};
    LEAT_TRY(leat_pool_once(&flush, err));
    state->workers = self->memory.threads;
    state->bucket_bits = self->memory.bucket_bits;
    for (int i = 0; i < state->workers; i++) {
        const leat_partition_worker *worker = &self->partition.workers[i];
        state->measurements += worker->measurements;
        state->late_ms += worker->late_ms;
        state->late_far += worker->late_far;
        for (int g = 0; g < job->buckets.group_count; g++) {
            state->bytes_spilled += worker->spills[g].file_bytes;
        }
    }
    state->uneven = atomic_load(&self->notes->uneven);
    state->untimed = atomic_load(&self->notes->untimed);
    state->plain_objects = atomic_load(&self->notes->plain_objects);
    state->with_unit = atomic_load(&self->notes->with_unit);
    state->rtt_units = atomic_load(&self->notes->rtt_units);
    state->shaped = atomic_load(&self->notes->shaped);
    leat_notes_shape(self->notes, &job->inputs, rtt != NULL ? rtt : "rtt", state->shape);
    LEAT_TRY(leat_job_check_not_empty(job, err));
    LEAT_TRY(take_census(self, err));
    warn(self);
    warn_empty(self);
    if (leat_probes_column(job->options) != NULL) return LEAT_OK;
    if (job->options->address != LEAT_ADDRESS_CANONICAL) LEAT_TRY(count_spellings(self, err));
    return count_identities(self, err);
}

static leat_code scan_noted(leat_job *job, leat_notes *notes, leat_error *err) {
    const leat_probes_ingest_options *o = job->options;
    scan self = {.job = job, .notes = notes};
    self.memory.threads = o->threads;
    self.memory.source_bytes = o->memory_bytes; /* until it is divided */
    LEAT_TRY(leat_lost_read(o->lost, &self.lost, err));
    leat_source_options options = source_options(&self, NULL);
    leat_code code = leat_sources_check(&job->inputs, &options, err);
    if (code != LEAT_OK) return leat_inputs_blame(&job->inputs, code, err);
    LEAT_TRY(plan_memory(&self, err));
    bool separate = o->split == LEAT_SPLIT_HASH;
    job->buckets =
        leat_buckets_plan(self.memory.bucket_bits, o->train_ratio, separate, self.memory.threads);
    self.partition = (leat_partition){
        .buckets = job->buckets,
        .seed = o->seed,
        .train_ratio = o->train_ratio,
        .separate_splits = separate,
        .zero_address = o->zero_address,
        .named = leat_probes_column(o) != NULL,
        .address = o->address,
        .notes = notes,
        .temp_dir = job->folder.workdir.temp,
        .identities = {.lock = PTHREAD_MUTEX_INITIALIZER,
                       .most = leat_identity_most(o->memory_bytes)},
        .worker_count = self.memory.threads,
    };
    int64_t bytes = 0;
    for (int64_t i = 0; i < job->inputs.count; i++) {
        bytes += job->inputs.items[i].facts.size_bytes;
    }
    leat_ticker_stage(&job->ticker, "reading", "bytes", bytes);
    code = scan_all(&self, err);
    if (code == LEAT_OK) code = leat_job_spills_new(job, err);
    if (code == LEAT_OK && self.keeps) code = LEAT_NEW(&job->pools, job->state.workers, err);
    for (int i = 0; i < job->state.workers && code == LEAT_OK; i++) {
        leat_spill_pool *pool = &self.partition.workers[i].pool;
        job->texts[i] = pool->texts;
        pool->texts = NULL;
        if (self.keeps) {
            job->pools[i] = *pool;
            *pool = (leat_spill_pool){0};
        }
        for (int g = 0; g < job->buckets.group_count; g++) {
            *leat_job_spill(job, i, g) = self.partition.workers[i].spills[g];
            self.partition.workers[i].spills[g] = (leat_spill){0};
        }
    }
    close_workers(&self);
    malloc_trim(0); /* the limit counts what the process holds, not what it could return */
    if (code == LEAT_OK) job->state.scanned = true;
    return code;
}

leat_code leat_job_scan(leat_job *job, leat_error *err) {
    leat_notes *notes = NULL;
    LEAT_TRY(leat_notes_create(&notes, job->inputs.count, err));
    leat_code code = scan_noted(job, notes, err);
    leat_notes_destroy(notes);
    return code;
}
