/*
 * The write of an ingest: buckets are sorted and become shards. The unit of work is a range of
 * neighbouring shards of one split: a worker reads the buckets that the range touches, so a bucket
 * is loaded by two workers only where two units meet. See job.h.
 */
#include <malloc.h>

#include "base/pool.h"
#include "format/probe/overlap.h"
#include "ingest/probes/job.h"
#include "ingest/probes/rows.h"
#include "ingest/probes/runs.h"

/* The maximum number of units per split; each costs one bucket loaded twice. */
#define UNITS_MAX 256
/* The next process may itself take a little more. */
#define RESIDENT_MORE_BYTES (INT64_C(2) << 20)
/* Measurements of a stream between two checks for cancellation. */
#define REPORT_EACH 65536

typedef struct unit {
    leat_split split;
    int64_t shard_first, shard_count;
    int group_first, group_last; /* groups of buckets that hold its sources */
    atomic_llong unpublished;    /* shards of it that are not on disk */
} unit;

typedef struct worker worker;

typedef struct write_job {
    leat_job *job;
    leat_pool *pool;
    worker *workers;
    leat_write_memory memory;
    leat_overlap overlap;
    leat_publisher publisher;
    unit *units;
    int64_t unit_count, unit_capacity;
    atomic_int group_units[LEAT_GROUPS_MAX]; /* units that still need the group */
} write_job;

struct worker {
    write_job *write;
    int64_t unit; /* active */
    leat_shard_writer shards;
    leat_row_maker rows;
    leat_bucket bucket;
    uint8_t *arena;
    leat_spill **spills;
    leat_row_stream stream;
    leat_overlap_worker overlap;
    leat_split split;    /* of the unit */
    int64_t shard;       /* open one */
    int64_t untold;      /* measurements of the stream that are not reported to the ticker yet */
    int64_t last_src_id; /* of the stream's last measurement, -1: none */
    uint8_t last[LEAT_SPILL_RECORD_MAX];
};

/* ---- units ---- */

static leat_code is_published(const leat_job *job, leat_split split, int64_t shard, bool *done,
                              leat_error *err) {
    char path[LEAT_PATH_BYTES], name[LEAT_SHARD_NAME_BYTES];
    leat_path_facts facts;
    *done = false;
    leat_layout_shard_name(split, shard, name);
    LEAT_TRY(leat_path_join(path, sizeof path, job->folder.stage, name, err));
    LEAT_TRY(leat_path_stat(path, &facts, err));
    if (facts.kind != LEAT_PATH_FILE) return LEAT_OK;
    /* Its part was saved before the shard was renamed, but not synced: a torn one means writing the
     * shard again. */
    leat_shard_part part = {0};
    LEAT_TRY(leat_shard_part_path(job->output.parts, split, shard, path, err));
    leat_code code = leat_shard_part_load(path, job->folder.workdir.run, &part, err);
    *done = code == LEAT_OK && part.info.file_bytes == facts.size_bytes;
    leat_shard_part_free(&part);
    bool torn = code == LEAT_ERR_CORRUPT || code == LEAT_ERR_NOT_FOUND;
    if (torn) return LEAT_OK;
    if (*done) code = leat_shard_part_sync(job->output.parts, split, shard, err);
    return code;
}

static void unit_range(const leat_job *job, const unit *work, int64_t *begin, int64_t *end) {
    int64_t shards = job->state.shards[work->split];
    *begin = leat_layout_shard_begin(work->shard_first, shards);
    *end = leat_layout_shard_begin(work->shard_first + work->shard_count, shards);
}

static leat_code add_unit(write_job *write, leat_split split, int64_t shard_first,
                          int64_t shard_count, leat_error *err) {
    const leat_job *job = write->job;
    if (shard_count == 0) return LEAT_OK;
    LEAT_TRY(LEAT_GROW(&write->units, &write->unit_capacity, write->unit_count + 1, err));
    unit *next = &write->units[write->unit_count++];
    *next = (unit){
        .split = split, .shard_first = shard_first, .shard_count = shard_count, .group_last = -1};
    atomic_store(&next->unpublished, shard_count);
    leat_split set = leat_job_bucket_set(job, split);
    if (job->buckets.bits[set] < 0) return LEAT_OK;
    int64_t begin = 0, end = 0;
    unit_range(job, next, &begin, &end);
    next->group_first = leat_buckets_of(&job->buckets, set, begin) >> job->buckets.group_shift;
    next->group_last = leat_buckets_of(&job->buckets, set, end - 1) >> job->buckets.group_shift;
    for (int g = next->group_first; g <= next->group_last; g++) {
        atomic_fetch_add(&write->group_units[g], 1);
    }
    return LEAT_OK;
}

/*
 * Before the disk space of a group is freed, its replacement must survive a power failure: the
 * shards (each was synced before it was renamed), their parts, and the names of both.
 */
static leat_code sync_parts(const write_job *write, const unit *work) {
    for (int64_t i = 0; i < work->shard_count; i++) {
        LEAT_TRY(leat_shard_part_sync(write->job->output.parts, work->split, work->shard_first + i,
                                      NULL));
    }
    return LEAT_OK;
}

static leat_code sync_names(const leat_job *job) {
    const leat_job_folder *folder = &job->folder;
    for (int split = 0; split < LEAT_SPLITS; split++) {
        char path[LEAT_PATH_BYTES];
        LEAT_TRY(leat_path_join(path, sizeof path, folder->stage, leat_split_name(split), NULL));
        LEAT_TRY(leat_path_sync_dir(path, NULL));
    }
    LEAT_TRY(leat_path_sync_dir(folder->stage, NULL));
    return leat_path_sync_dir(job->output.parts, NULL);
}

/* A shard is on disk: groups that no unit needs any more are freed. Where that is not safe, only
 * disk space is lost. */
static void shard_published(void *context, void *tag) {
    write_job *write = context;
    unit *work = tag;
    if (atomic_fetch_sub(&work->unpublished, 1) != 1) return;
    if (sync_parts(write, work) != LEAT_OK) return;
    for (int g = work->group_first; g <= work->group_last; g++) {
        if (atomic_fetch_sub(&write->group_units[g], 1) != 1) continue;
        if (sync_names(write->job) != LEAT_OK) return;
        for (int i = 0; i < write->job->state.workers; i++) {
            leat_spill_release(leat_job_spill(write->job, i, g));
        }
    }
}

/* Ranges of shards that do not exist yet. */
static leat_code plan_units(write_job *write, leat_error *err) {
    leat_job *job = write->job;
    for (int split = 0; split < LEAT_SPLITS; split++) {
        int64_t shards = job->state.shards[split];
        int64_t each = (shards + UNITS_MAX - 1) / UNITS_MAX;
        int64_t first = 0, count = 0;
        for (int64_t shard = 0; shard < shards; shard++) {
            bool done = false;
            if (job->folder.resuming) LEAT_TRY(is_published(job, split, shard, &done, err));
            if (done) job->result->shards_resumed++;
            if (done || count == each) {
                LEAT_TRY(add_unit(write, split, first, count, err));
                count = 0;
            }
            if (done) continue;
            if (count++ == 0) first = shard;
        }
        LEAT_TRY(add_unit(write, split, first, count, err));
    }
    return LEAT_OK;
}

/* ---- one bucket ---- */

/* Ends shards up to the one that holds src_id and opens that one. */
static leat_code switch_shard(worker *self, int64_t shard, leat_error *err) {
    while (self->shard < shard) {
        LEAT_TRY(leat_shard_writer_finish(&self->shards, err));
        self->shard++;
        LEAT_TRY(leat_shard_writer_open(&self->shards, self->split, self->shard, err));
    }
    return LEAT_OK;
}

static int64_t shard_of(const worker *self, int64_t src_id) {
    return leat_layout_shard_of(src_id, self->write->job->state.shards[self->split]);
}

static leat_code stop_requested(worker *self, int64_t more, leat_error *err) {
    write_job *write = self->write;
    LEAT_TRY(leat_ticker_step(&write->job->ticker, more, err));
    if (leat_pool_wants(write->pool, self->unit)) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_CANCELLED, "an earlier unit failed");
}

static bool drops(const worker *self) {
    return self->write->job->options->duplicates == LEAT_DUPLICATES_DROP;
}

/* Counts a measurement that is written, of the probe whose text has this hash. */
static leat_code count_overlap(worker *self, const leat_bucket_source *source, uint64_t host,
                               const uint8_t *record, leat_error *err) {
    if (self->rows.named) {
        const leat_text src = leat_rows_source(source, record);
        host = leat_overlap_host(src.data, src.size_bytes);
    }
    const uint64_t target = leat_overlap_host(record + LEAT_SPILL_TEXT_AT,
                                              record[LEAT_SPILL_FACTS_AT] & LEAT_SPILL_LENGTH);
    return leat_overlap_add(&self->overlap, self->split, host, target, err);
}

static leat_code count_group(worker *self, const leat_bucket_group *group, leat_error *err) {
    const leat_bucket_item *items = self->bucket.items + group->first;
    const uint64_t host = leat_overlap_host(group->source->text, group->source->size);
    for (int64_t i = 0; i < group->count; i++)
        LEAT_TRY(count_overlap(self, group->source, host,
                               leat_bucket_record(&self->bucket, &items[i]), err));
    return LEAT_OK;
}

static leat_code write_groups(worker *self, leat_error *err) {
    leat_bucket *bucket = &self->bucket;
    for (int64_t g = 0; g < bucket->group_count; g++) {
        leat_bucket_group *group = &bucket->groups[g];
        int64_t measurements = group->count;
        if (measurements == 0) continue;
        LEAT_TRY(switch_shard(self, shard_of(self, group->source->src_id), err));
        self->shards.part.duplicates += leat_bucket_duplicates(bucket, group, drops(self));
        LEAT_TRY(count_group(self, group, err));
        LEAT_TRY(leat_rows_write_group(&self->rows, bucket, group, err));
        LEAT_TRY(stop_requested(self, measurements, err));
    }
    return LEAT_OK;
}

/* Updates the ticker once in a while for a stream; completely at its end. */
static leat_code report_streamed(worker *self, int64_t least, leat_error *err) {
    if (self->untold < least) return LEAT_OK;
    int64_t more = self->untold;
    self->untold = 0;
    return stop_requested(self, more, err);
}

/* Whether the measurement equals the previous one of the stream, which it becomes. */
static bool is_duplicate(worker *self, const leat_bucket_source *source, const uint8_t *record) {
    bool same = self->last_src_id == source->src_id && leat_spill_compare(self->last, record) == 0;
    self->last_src_id = source->src_id;
    memcpy(self->last, record, (size_t)leat_spill_record_bytes(record));
    return same;
}

static leat_code stream_measurement(void *context, const leat_bucket_source *source,
                                    const uint8_t *record, leat_error *err) {
    worker *self = context;
    if (self->stream.count > 0 && self->stream.probe.src_id != source->src_id) {
        LEAT_TRY(leat_row_stream_flush(&self->stream, err));
    }
    if (self->stream.count == 0) {
        LEAT_TRY(switch_shard(self, shard_of(self, source->src_id), err));
    }
    bool duplicate = is_duplicate(self, source, record);
    self->shards.part.duplicates += duplicate;
    if (!duplicate || !drops(self)) {
        LEAT_TRY(count_overlap(self, source, leat_overlap_host(source->text, source->size), record,
                               err));
        LEAT_TRY(leat_row_stream_add(&self->stream, source, record, err));
    }
    self->untold++;
    return report_streamed(self, REPORT_EACH, err);
}

/* A bucket that does not fit: the loaded piece and all others become runs. */
static leat_code write_large(worker *self, leat_error *err) {
    const char *temp = self->write->job->folder.workdir.temp;
    leat_runs runs;
    self->last_src_id = -1;
    LEAT_TRY(leat_runs_create(&runs, temp, err));
    leat_code code = LEAT_OK;
    for (bool more = true; more && code == LEAT_OK;) {
        code = leat_runs_add(&runs, &self->bucket, err);
        if (code == LEAT_OK) code = stop_requested(self, 0, err);
        if (code == LEAT_OK) code = leat_bucket_load(&self->bucket, &more, err);
    }
    if (code == LEAT_OK) code = leat_runs_add(&runs, &self->bucket, err);
    if (code == LEAT_OK) {
        code = leat_row_stream_begin(&self->stream, &self->rows, temp, err);
    }
    if (code == LEAT_OK) {
        code = leat_runs_merge(&runs, self->arena, self->write->memory.arena_bytes,
                               stream_measurement, self, err);
        if (code == LEAT_OK) code = leat_row_stream_flush(&self->stream, err);
        if (code == LEAT_OK) code = report_streamed(self, 0, err);
        leat_row_stream_end(&self->stream);
    }
    leat_runs_destroy(&runs);
    return code;
}

static leat_code write_bucket(worker *self, int index, const leat_bucket_filter *filter,
                              leat_error *err) {
    const leat_job *job = self->write->job;
    int group = index >> job->buckets.group_shift;
    for (int i = 0; i < job->state.workers; i++) {
        self->spills[i] = leat_job_spill(job, i, group);
    }
    bool more = false;
    leat_bucket_begin(&self->bucket, self->spills, index - (group << job->buckets.group_shift),
                      filter);
    LEAT_TRY(leat_bucket_load(&self->bucket, &more, err));
    return more ? write_large(self, err) : write_groups(self, err);
}

static leat_code write_unit(void *context, int number, int64_t part, leat_error *err) {
    write_job *write = context;
    worker *self = &write->workers[number];
    unit *work = &write->units[part];
    const leat_job *job = write->job;
    self->unit = part;
    leat_bucket_filter filter = {
        .by_bound = job->options->split == LEAT_SPLIT_ORDERED,
        .split = work->split,
        .bound = &job->state.bound,
    };
    unit_range(job, work, &filter.src_id_begin, &filter.src_id_end);
    self->shards.tag = work;
    self->split = work->split;
    self->shard = work->shard_first;
    LEAT_TRY(leat_shard_writer_open(&self->shards, self->split, self->shard, err));
    leat_split set = leat_job_bucket_set(job, work->split);
    if (job->buckets.bits[set] >= 0) {
        int first = leat_buckets_of(&job->buckets, set, filter.src_id_begin);
        int last = leat_buckets_of(&job->buckets, set, filter.src_id_end - 1);
        for (int i = first; i <= last; i++) LEAT_TRY(write_bucket(self, i, &filter, err));
    }
    LEAT_TRY(switch_shard(self, work->shard_first + work->shard_count - 1, err));
    return leat_shard_writer_finish(&self->shards, err);
}

/* ---- workers ---- */

static leat_code open_worker(write_job *write, worker *self, leat_error *err) {
    leat_job *job = write->job;
    const leat_probes_ingest_options *o = job->options;
    self->write = write;
    self->overlap.all = &write->overlap;
    self->shards = (leat_shard_writer){.options = &o->record,
                                       .publisher = &write->publisher,
                                       .temp_dir = job->folder.workdir.temp};
    self->rows = (leat_row_maker){
        .limit_bytes = leat_job_row_limit(o),
        .dictionary_src = o->dictionary_src,
        .named = leat_probes_column(o) != NULL,
        .shards = &self->shards,
        .record_bytes = write->memory.record_bytes,
    };
    LEAT_TRY(leat_block_alloc((void **)&self->rows.record, self->rows.record_bytes, err));
    LEAT_TRY(leat_block_alloc((void **)&self->arena, write->memory.arena_bytes, err));
    LEAT_TRY(LEAT_NEW(&self->spills, job->state.workers, err));
    return leat_bucket_create(&self->bucket, job->state.workers, self->arena,
                              write->memory.arena_bytes, write->memory.sources, err);
}

static void close_worker(worker *self) {
    if (self->write == NULL) return;
    leat_shard_writer_close(&self->shards);
    leat_bucket_destroy(&self->bucket);
    leat_free(self->spills);
    leat_block_free(self->arena, self->write->memory.arena_bytes);
    leat_block_free(self->rows.record, self->rows.record_bytes);
}

static leat_code write_units(write_job *write, leat_error *err) {
    int threads = write->memory.threads;
    leat_pool_job units = {.parts = write->unit_count, .context = write, .make = write_unit};
    leat_code code = LEAT_NEW(&write->workers, threads, err);
    for (int i = 0; i < threads && code == LEAT_OK; i++)
        code = open_worker(write, &write->workers[i], err);
    if (code == LEAT_OK) code = leat_pool_create(&write->pool, threads, err);
    if (code == LEAT_OK) code = leat_pool_run(write->pool, &units, err);
    leat_pool_destroy(write->pool);
    for (int i = 0; i < threads && code == LEAT_OK; i++)
        code = leat_overlap_flush(&write->workers[i].overlap, err);
    /* shards of an interrupted run are not read again */
    if (code == LEAT_OK && write->job->result->shards_resumed == 0)
        leat_overlap_count(&write->overlap, &write->job->result->overlap);
    for (int i = 0; i < threads && write->workers != NULL; i++) close_worker(&write->workers[i]);
    leat_free(write->workers);
    return code;
}

static leat_code run_write(write_job *write, leat_error *err) {
    leat_job *job = write->job;
    const leat_probes_ingest_options *o = job->options;
    leat_write_sizes sizes;
    LEAT_TRY(leat_job_sizes(job, &sizes, err));
    leat_memory_limits limits = {o->memory_bytes, leat_rss_bytes(), o->threads};
    leat_code planned = leat_memory_plan_write(&limits, &sizes, &o->record, &write->memory, err);
    if (job->pools != NULL && (planned != LEAT_OK || write->memory.threads < o->threads)) {
        LEAT_TRY(leat_job_spills_write(job, err));
        limits.resident_bytes = leat_rss_bytes();
        planned = leat_memory_plan_write(&limits, &sizes, &o->record, &write->memory, err);
    }
    if (planned == LEAT_ERR_LIMIT) {
        /* with more memory the scan keeps more sources at once: the message names a limit that is
         * enough for a new run */
        sizes.generation = sizes.sources;
        limits.resident_bytes += RESIDENT_MORE_BYTES;
        return leat_memory_plan_write(&limits, &sizes, &o->record, &write->memory, err);
    }
    LEAT_TRY(planned);
    LEAT_TRY(plan_units(write, err));
    const leat_publisher_options publishing = {.out_dir = job->folder.stage,
                                               .parts_dir = job->output.parts,
                                               .run = job->folder.workdir.run,
                                               .queue_length = write->memory.queue_length,
                                               .on_published = shard_published,
                                               .on_published_context = write};
    LEAT_TRY(leat_publisher_start(&write->publisher, &publishing, err));
    leat_code code = write_units(write, err);
    job->result->seconds_written = leat_job_seconds(job, leat_clock_ns());
    /* If the publisher has failed, its failure is why the workers stopped. */
    leat_error publisher_err = {0};
    leat_code published = leat_publisher_finish(&write->publisher, code != LEAT_OK, &publisher_err);
    if (code == LEAT_OK && published != LEAT_OK) code = leat_error_copy(err, &publisher_err);
    return code;
}

leat_code leat_job_write(leat_job *job, leat_error *err) {
    write_job write = {.job = job};
    leat_ticker_stage(&job->ticker, "writing", "measurements", job->state.measurements);
    leat_overlap_create(&write.overlap, leat_overlap_most(job->options->memory_bytes));
    leat_code code = run_write(&write, err);
    leat_overlap_destroy(&write.overlap);
    leat_free(write.units);
    malloc_trim(0); /* as after the scan: index and manifest rely on it */
    return code;
}
