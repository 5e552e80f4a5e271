/* Sorted runs of measurements, and what merges them: see runs.h and base/merge.h. */
#include "ingest/probes/runs.h"

#define WRITE_BYTES (256 << 10)
/* The longest record: a measurement or definition with its text. */
#define RECORD_BYTES_MAX (LEAT_SPILL_RECORD_MAX + 1)
_Static_assert(RECORD_BYTES_MAX <= LEAT_MERGE_RECORD_BYTES_MAX && RECORD_BYTES_MAX <= WRITE_BYTES,
               "a source and the buffer hold a record");

leat_code leat_runs_create(leat_runs *runs, const char *temp_dir, leat_error *err) {
    *runs = (leat_runs){.sorted = {.temp_dir = temp_dir}};
    leat_code code = leat_block_alloc((void **)&runs->write_buffer, WRITE_BYTES, err);
    if (code == LEAT_OK) code = leat_merge_runs_open(&runs->sorted, err);
    if (code != LEAT_OK) leat_runs_destroy(runs);
    return code;
}

void leat_runs_destroy(leat_runs *runs) {
    leat_merge_runs_close(&runs->sorted);
    leat_block_free(runs->write_buffer, WRITE_BYTES);
    *runs = (leat_runs){0};
}

/* ---- writing ---- */

static leat_code put_source(leat_merge_writer *to, const leat_bucket_source *source,
                            leat_error *err) {
    uint32_t word = LEAT_SPILL_DEFINITION | source->size;
    LEAT_TRY(leat_merge_put(to, &source->src_id, 8, err));
    LEAT_TRY(leat_merge_put(to, &word, 4, err));
    return leat_merge_put(to, source->text, source->size, err);
}

static leat_code put_record(leat_merge_writer *to, const uint8_t *record, leat_error *err) {
    int32_t size = leat_spill_record_bytes(record);
    LEAT_TRY(leat_merge_put(to, record, size, err));
    uint32_t none = 0; /* its source is the preceding definition */
    memcpy(to->buffer + to->used - size + 8, &none, 4);
    return LEAT_OK;
}

leat_code leat_runs_add(leat_runs *runs, const leat_bucket *bucket, leat_error *err) {
    leat_merge_writer to = {.buffer = runs->write_buffer, .capacity = WRITE_BYTES};
    if (bucket->item_count == 0) return LEAT_OK;
    leat_merge_begin_run(&runs->sorted, &to);
    for (int64_t g = 0; g < bucket->group_count; g++) {
        const leat_bucket_group *group = &bucket->groups[g];
        if (group->count == 0) continue;
        LEAT_TRY(put_source(&to, group->source, err));
        for (int64_t i = 0; i < group->count; i++) {
            const leat_bucket_item *item = &bucket->items[group->first + i];
            LEAT_TRY(put_record(&to, leat_bucket_record(bucket, item), err));
        }
    }
    return leat_merge_end_run(&runs->sorted, &to, err);
}

/* ---- merging ---- */

/* A run being read; its current record is a measurement. */
typedef struct cursor {
    leat_merge_source run;
    leat_bucket_source source; /* of the measurement */
} cursor;

/* Records are complete at the beginning of the buffer, unless less than the longest is left. */
static leat_code next_measurement(leat_merge_source *run, leat_error *err) {
    leat_bucket_source *source = &((cursor *)(void *)run)->source;
    run->at += run->record_bytes;
    run->record_bytes = 0;
    for (;;) {
        if (run->end - run->at < RECORD_BYTES_MAX) LEAT_TRY(leat_merge_fill(run, err));
        if (run->at == run->end) return LEAT_OK;
        int32_t size = 0;
        uint32_t word = 0;
        if (!leat_spill_record_fits(run->at, run->end - run->at, &size))
            return leat_temp_damaged(run->file, err);
        memcpy(&word, run->at + 8, 4);
        if ((word & LEAT_SPILL_DEFINITION) == 0) {
            run->record_bytes = size;
            return LEAT_OK;
        }
        source->size = (uint8_t)(word & LEAT_SPILL_LENGTH);
        memcpy(&source->src_id, run->at, 8);
        memcpy(source->text, run->at + LEAT_SPILL_DEFINITION_BYTES, source->size);
        run->at += size;
    }
}

static int compare(const leat_merge_source *a, const leat_merge_source *b) {
    const leat_bucket_source *one = &((const cursor *)(const void *)a)->source;
    const leat_bucket_source *other = &((const cursor *)(const void *)b)->source;
    if (one->src_id != other->src_id) return one->src_id < other->src_id ? -1 : 1;
    return leat_spill_compare(a->at, b->at);
}

typedef struct taking {
    leat_bucket_source last; /* src_id -1: none */
    leat_runs_fn fn;
    void *context;
} taking;

static leat_code take(void *context, const leat_merge_source *run, leat_merge_writer *to,
                      leat_error *err) {
    taking *self = context;
    const leat_bucket_source *source = &((const cursor *)(const void *)run)->source;
    bool same = source->src_id == self->last.src_id && (to == NULL || to->written > 0);
    /* Pieces of a bucket are checked separately: two sources may meet only here. */
    if (same) LEAT_TRY(leat_bucket_check_same(&self->last, source, err));
    else self->last = *source;
    if (to == NULL) return self->fn(self->context, source, run->at, err);
    if (!same) LEAT_TRY(put_source(to, source, err));
    return put_record(to, run->at, err);
}

leat_code leat_runs_merge(leat_runs *runs, uint8_t *memory, int64_t memory_bytes, leat_runs_fn fn,
                          void *context, leat_error *err) {
    taking self = {.last = {.src_id = -1}, .fn = fn, .context = context};
    const leat_merge merge = {.source_bytes = sizeof(cursor),
                              .next = next_measurement,
                              .compare = compare,
                              .take = take,
                              .context = &self,
                              .memory = memory,
                              .memory_bytes = memory_bytes,
                              .write_buffer = runs->write_buffer,
                              .write_bytes = WRITE_BYTES};
    return leat_merge_all(&merge, &runs->sorted, err);
}
