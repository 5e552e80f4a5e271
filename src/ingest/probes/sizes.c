/*
 * Upper bounds for the pieces of the write: see job.h. The streams of the spills record the size of
 * each bucket, the census the number of probes in each range of src_id; from these follow bounds,
 * not averages, so that the memory plan holds for data of any shape.
 */
#include "ingest/probes/job.h"
#include "ingest/probes/rows.h"

/* What a measurement takes in a row in addition to its size in a bucket: the source's text and the
 * overhead of the columns. */
#define MORE_BYTES (4 + LEAT_ADDRESS_TEXT_BYTES)
/* Frame and chunk around a row. */
#define ROW_BYTES 4096
/* ArrayRecord's blocks: a header each, and padding to one after the last chunk. */
#define AR_BLOCK_BYTES 65536
/* Chunk's offset and size in the footer. */
#define FOOTER_ROW_BYTES 16
/* malloc copies a growing table up to this size; larger ones are moved without copying. */
#define COPIED_BYTES_MAX (INT64_C(32) << 20)
/* A shard in the manifest, the index and the list of files to remove at the end. */
#define DATASET_SHARD_BYTES ((int64_t)sizeof(leat_shard_info) + 56 + 64)

/* The contents of a bucket, all its streams together. */
typedef struct load {
    int64_t bytes, records, definitions;
} load;

static leat_code load_buckets(const leat_job *job, load **out, leat_write_sizes *sizes,
                              leat_error *err) {
    LEAT_TRY(LEAT_NEW(out, job->buckets.count, err));
    for (int i = 0; i < job->buckets.count; i++) {
        load *bucket = &(*out)[i];
        int group = i >> job->buckets.group_shift;
        for (int k = 0; k < job->state.workers; k++) {
            const leat_spill_stream *stream =
                &leat_job_spill(job, k, group)->streams[i - (group << job->buckets.group_shift)];
            bucket->bytes += stream->bytes;
            bucket->records += stream->records;
            bucket->definitions += stream->definitions;
            if (stream->generation_most > sizes->generation) {
                sizes->generation = stream->generation_most;
            }
        }
        if (bucket->definitions > sizes->sources) sizes->sources = bucket->definitions;
    }
    return LEAT_OK;
}

int64_t leat_job_row_limit(const leat_probes_ingest_options *options) {
    bool given = options->max_row_bytes > 0 && options->max_row_bytes < LEAT_PROBE_MEASUREMENTS_MAX;
    return given ? options->max_row_bytes : LEAT_PROBE_MEASUREMENTS_MAX;
}

/* The minimum number of measurements in a row that was split: the longest ones that fit. */
static int64_t cut_row_measurements(const leat_job *job) {
    int64_t limit = leat_job_row_limit(job->options), low = 1, high = limit;
    while (high - low > 1) {
        int64_t n = low + (high - low) / 2, text = n * LEAT_ADDRESS_TEXT_BYTES;
        bool fits =
            leat_probe_measurements_bytes(n, text, text, job->options->dictionary_src) <= limit;
        if (fits) low = n;
        else high = n;
    }
    return low;
}

/* Upper bounds for the rows and bytes from the given numbers of measurements and probes. */
static void count_rows(const leat_job *job, const load *held, int64_t probes, int64_t *rows,
                       int64_t *bytes) {
    *rows = probes + held->records / cut_row_measurements(job);
    if (*rows > held->records) *rows = held->records;
    *bytes = held->bytes + held->records * MORE_BYTES + *rows * ROW_BYTES;
    if (job->options->record.pad_to_block_boundary) *bytes += *rows * AR_BLOCK_BYTES;
    *bytes += *bytes / 1024 + AR_BLOCK_BYTES;
}

static int64_t grown(int64_t bytes) {
    return bytes + (bytes < COPIED_BYTES_MAX ? bytes : COPIED_BYTES_MAX);
}

/* Memory of a shard's index while it is written, and while it waits. */
static void size_shard(const leat_job *job, const load *held, int64_t probes, int64_t *open_bytes,
                       int64_t *part_bytes) {
    int64_t rows = 0, bytes = 0;
    count_rows(job, held, probes, &rows, &bytes);
    bool plain = job->options->record.compression == LEAT_COMPRESSION_NONE;
    int64_t pages = plain ? bytes / LEAT_PAGE_BYTES * 8 : 0;
    *part_bytes = grown(rows * (int64_t)sizeof(leat_index_row)) + pages;
    *open_bytes = *part_bytes + grown(rows * FOOTER_ROW_BYTES) + grown(pages);
}

static void size_shards(const leat_job *job, const load *buckets, leat_split split,
                        leat_write_sizes *sizes) {
    const leat_job_state *state = &job->state;
    leat_split set = leat_job_bucket_set(job, split);
    int64_t shards = state->shards[split];
    if (job->buckets.bits[set] < 0) return;
    for (int64_t shard = 0; shard < shards; shard++) {
        load held = {0};
        int64_t begin = leat_layout_shard_begin(shard, shards);
        int64_t end = leat_layout_shard_begin(shard + 1, shards);
        int last = leat_buckets_of(&job->buckets, set, end - 1);
        for (int i = leat_buckets_of(&job->buckets, set, begin); i <= last; i++) {
            held.bytes += buckets[i].bytes;
            held.records += buckets[i].records;
        }
        int64_t open = 0, part = 0;
        size_shard(job, &held, state->shard_probes[split], &open, &part);
        if (open > sizes->shard_bytes) sizes->shard_bytes = open;
        if (part > sizes->part_bytes) sizes->part_bytes = part;
    }
}

leat_code leat_job_sizes(const leat_job *job, leat_write_sizes *sizes, leat_error *err) {
    const leat_job_state *state = &job->state;
    *sizes = (leat_write_sizes){.row_limit_bytes = leat_job_row_limit(job->options)};
    load *buckets = NULL, all = {0};
    LEAT_TRY(load_buckets(job, &buckets, sizes, err));
    for (int i = 0; i < job->buckets.count; i++) {
        all.bytes += buckets[i].bytes;
        all.records += buckets[i].records;
    }
    int64_t shards = 0, probes = 0, rows = 0, bytes = 0;
    for (int s = 0; s < LEAT_SPLITS; s++) {
        size_shards(job, buckets, s, sizes);
        shards += state->shards[s];
        probes += state->probes[s];
    }
    leat_free(buckets);
    int64_t part = 0;
    size_shard(job, &all, probes, &sizes->shards_bytes, &part);
    /* At the end one part is in memory, and a hash for each page of the index. */
    count_rows(job, &all, probes, &rows, &bytes);
    int64_t index = rows * (int64_t)sizeof(leat_index_row) + bytes / LEAT_PAGE_BYTES * 8;
    sizes->dataset_bytes =
        sizes->part_bytes + grown(index / LEAT_PAGE_BYTES * 8) + shards * DATASET_SHARD_BYTES;
    return LEAT_OK;
}
