/* Rows of groups in memory: each column is written directly to its place in the record. */
#include "ingest/probes/rows.h"

/* Bytes of a measurement that do not depend on its texts: time, two offsets, version, rtt. */
#define FIXED_BYTES 21
/* Frame bytes and padding of the serialised measurements never exceed this. */
#define FRAME_SLACK_BYTES 2048

int64_t leat_rows_record_bytes(int64_t limit_bytes) {
    return limit_bytes + LEAT_PROBE_FRAME_BYTES + FRAME_SLACK_BYTES;
}

int64_t leat_rows_record_bytes_of_arena(int64_t arena_bytes) {
    /* The worst case: the shortest destination, so the smallest record, of a source with the
     * longest text. An arena holds its record and two items. */
    int64_t row = FIXED_BYTES + LEAT_ADDRESS_TEXT_BYTES + 2;
    int64_t loaded = LEAT_SPILL_MEASUREMENT_BYTES + 2 + 2 * (int64_t)sizeof(leat_bucket_item);
    return leat_rows_record_bytes(arena_bytes / loaded * row + row);
}

static int64_t dst_size_of(const uint8_t *record) {
    return record[LEAT_SPILL_FACTS_AT] & LEAT_SPILL_LENGTH;
}

leat_code leat_rows_two_sources(const leat_bucket_source *probe, const leat_text *a,
                                const leat_text *b, leat_error *err) {
    return leat_fail(err, LEAT_ERR_OPTION,
                     "probe \"%.*s\" has measurements from \"%.*s\" and from \"%.*s\"; a row that "
                     "stores its source once (--dictionary-src) cannot have both: leave the option "
                     "out",
                     probe->size, probe->text, a->size_bytes, a->data, b->size_bytes, b->data);
}

/* Items of one row while they are counted. */
typedef struct fitting {
    int64_t count, src_bytes, dst_bytes;
    bool v4, v6;
} fitting;

/* How many of `count` items fit one row, at least one. */
static leat_code count_fitting(const leat_row_maker *maker, const leat_bucket *bucket,
                               const leat_bucket_source *source, const leat_bucket_item *items,
                               int64_t count, fitting *out, leat_error *err) {
    const leat_text first = leat_rows_source(source, leat_bucket_record(bucket, &items[0]));
    fitting fit = {0};
    while (fit.count < count) {
        const uint8_t *record = leat_bucket_record(bucket, &items[fit.count]);
        leat_text src = maker->named ? leat_rows_source(source, record) : first;
        int64_t n = fit.count + 1, dst = fit.dst_bytes + dst_size_of(record);
        int64_t all = fit.src_bytes + src.size_bytes;
        if (maker->named && maker->dictionary_src &&
            leat_text_compare(src.data, src.size_bytes, first.data, first.size_bytes) != 0)
            return leat_rows_two_sources(source, &first, &src, err);
        /* Far from the limit this bound is enough; near it the exact size is computed. */
        int64_t bound = n * FIXED_BYTES + (maker->dictionary_src ? 0 : all) + dst;
        if (bound + FRAME_SLACK_BYTES > maker->limit_bytes && n > 1 &&
            leat_probe_measurements_bytes(n, all, dst, maker->dictionary_src) > maker->limit_bytes)
            break;
        bool v6 = (record[LEAT_SPILL_FACTS_AT] & LEAT_SPILL_V6) != 0;
        fit = (fitting){n, all, dst, fit.v4 || !v6, fit.v6 || v6};
    }
    *out = fit;
    return LEAT_OK;
}

static void fill_src(const leat_row_maker *maker, const leat_probe_facts *facts) {
    const leat_probe_plan *plan = &maker->plan;
    uint8_t *offsets = maker->record + plan->column_offset[LEAT_PROBE_SRC_OFFSETS];
    if (maker->dictionary_src) {
        memset(offsets, 0, (size_t)plan->column_bytes[LEAT_PROBE_SRC_OFFSETS]);
        return;
    }
    int32_t size = facts->src_size;
    for (int64_t i = 0; i <= facts->n_measurements; i++) {
        int32_t offset = (int32_t)(i * size);
        memcpy(offsets + 4 * i, &offset, 4);
    }
    /* Repeats the text: each copy doubles what is already there. */
    uint8_t *data = maker->record + plan->column_offset[LEAT_PROBE_SRC_DATA];
    int64_t total = plan->column_bytes[LEAT_PROBE_SRC_DATA], done = size;
    memcpy(data, facts->src, (size_t)size);
    while (done < total) {
        int64_t step = done < total - done ? done : total - done;
        memcpy(data + done, data, (size_t)step);
        done += step;
    }
}

/* Copies a text of at most 45 bytes; `room` bytes may be written from `to` on. */
static inline void copy_text(uint8_t *to, const uint8_t *from, int32_t size, int64_t room) {
    if (room >= 48) {
        memcpy(to, from, 16);
        if (size > 16) memcpy(to + 16, from + 16, 32);
    } else {
        memcpy(to, from, (size_t)size);
    }
}

/* Sources and versions that may differ from measurement to measurement. */
static void fill_own(const leat_row_maker *maker, const leat_bucket *bucket,
                     const leat_bucket_source *source, const leat_bucket_item *items,
                     const leat_probe_facts *facts) {
    const leat_probe_plan *plan = &maker->plan;
    uint8_t *offsets = maker->record + plan->column_offset[LEAT_PROBE_SRC_OFFSETS];
    uint8_t *data = maker->record + plan->column_offset[LEAT_PROBE_SRC_DATA];
    uint8_t *version = maker->record + plan->column_offset[LEAT_PROBE_IP_VERSION];
    int32_t at = 0;
    for (int64_t i = 0; i < facts->n_measurements; i++) {
        const uint8_t *record = leat_bucket_record(bucket, &items[i]);
        version[i] = record[LEAT_SPILL_FACTS_AT] & LEAT_SPILL_V6 ? 6 : 4;
        if (!facts->own_sources) continue;
        leat_text src = leat_rows_source(source, record);
        memcpy(offsets + 4 * i, &at, 4);
        memcpy(data + at, src.data, (size_t)src.size_bytes);
        at += src.size_bytes;
    }
    if (facts->own_sources) memcpy(offsets + 4 * facts->n_measurements, &at, 4);
    else fill_src(maker, facts);
}

static void fill_columns(const leat_row_maker *maker, const leat_bucket *bucket,
                         const leat_bucket_source *source, const leat_bucket_item *items,
                         const leat_probe_facts *facts, int version) {
    const leat_probe_plan *plan = &maker->plan;
    uint8_t *time = maker->record + plan->column_offset[LEAT_PROBE_EVENT_TIME];
    uint8_t *offsets = maker->record + plan->column_offset[LEAT_PROBE_DST_OFFSETS];
    uint8_t *data = maker->record + plan->column_offset[LEAT_PROBE_DST_DATA];
    uint8_t *rtt = maker->record + plan->column_offset[LEAT_PROBE_RTT];
    int32_t at = 0;
    for (int64_t i = 0; i < facts->n_measurements; i++) {
        const uint8_t *record = leat_bucket_record(bucket, &items[i]);
        int32_t size = (int32_t)dst_size_of(record);
        memcpy(time + 8 * i, &items[i].time_us, 8);
        memcpy(offsets + 4 * i, &at, 4);
        copy_text(data + at, record + LEAT_SPILL_TEXT_AT, size, facts->dst_bytes - at);
        memcpy(rtt + 4 * i, record + LEAT_SPILL_RTT_AT, 4);
        at += size;
    }
    memcpy(offsets + 4 * facts->n_measurements, &at, 4);
    if (maker->named) {
        fill_own(maker, bucket, source, items, facts);
        return;
    }
    memset(maker->record + plan->column_offset[LEAT_PROBE_IP_VERSION], version,
           (size_t)facts->n_measurements);
    fill_src(maker, facts);
}

leat_code leat_rows_write_group(leat_row_maker *maker, const leat_bucket *bucket,
                                const leat_bucket_group *group, leat_error *err) {
    const leat_bucket_source *source = group->source;
    leat_probe_facts facts = {.src_id = source->src_id,
                              .own_sources = maker->named && !maker->dictionary_src};
    int64_t done = 0;
    while (done < group->count) {
        const leat_bucket_item *items = bucket->items + group->first + done;
        fitting fit = {0};
        LEAT_TRY(count_fitting(maker, bucket, source, items, group->count - done, &fit, err));
        leat_text first = leat_rows_source(source, leat_bucket_record(bucket, &items[0]));
        facts.src_size = first.size_bytes;
        memcpy(facts.src, first.data, (size_t)first.size_bytes);
        facts.n_measurements = fit.count;
        facts.src_bytes = fit.src_bytes;
        facts.dst_bytes = fit.dst_bytes;
        facts.first_us = items[0].time_us;
        facts.last_us = items[facts.n_measurements - 1].time_us;
        LEAT_TRY(leat_probe_plan_row(&facts, maker->dictionary_src, &maker->plan, err));
        LEAT_ASSERT(maker->plan.record_bytes <= maker->record_bytes);
        int version = fit.v4 && fit.v6 ? 0 : fit.v6 ? 6 : 4;
        leat_probe_plan_put_frame(&maker->plan, maker->record);
        fill_columns(maker, bucket, source, items, &facts, version);
        LEAT_TRY(leat_shard_writer_append(maker->shards, &facts, version, maker->record,
                                          maker->plan.record_bytes, err));
        done += facts.n_measurements;
    }
    return LEAT_OK;
}
