/*
 * Loading and sorting a bucket: see bucket.h. Records stay where they were loaded; 16-byte items
 * are distributed by source (a counting sort), then each source's items are merged by time. Logs
 * come in time order, so most runs are long and a natural merge does almost nothing.
 */
#include "ingest/probes/bucket.h"

#include <stdlib.h>

#define ITEM_BYTES ((int64_t)sizeof(leat_bucket_item))
/* Copies of a fixed size read past the end of a record. */
#define SLACK_BYTES 64
/* A definition or a measurement whose text has one byte. */
#define DEFINITION_BYTES_MIN (LEAT_SPILL_DEFINITION_BYTES + 1)
#define MEASUREMENT_BYTES_MIN (LEAT_SPILL_MEASUREMENT_BYTES + 1)

int64_t leat_bucket_table_bytes(int64_t definitions) {
    return definitions *
           (int64_t)(sizeof(leat_bucket_source) + sizeof(leat_bucket_group) + sizeof(int64_t));
}

int64_t leat_bucket_sources_min(int64_t generation) {
    return generation + LEAT_SPILL_BLOCK_BYTES / DEFINITION_BYTES_MIN + 1;
}

leat_code leat_bucket_create(leat_bucket *bucket, int stream_count, uint8_t *arena,
                             int64_t arena_bytes, int64_t source_capacity, leat_error *err) {
    LEAT_ASSERT(source_capacity > 0 && source_capacity < UINT32_MAX);
    *bucket = (leat_bucket){
        .arena = arena, .stream_count = stream_count, .source_capacity = source_capacity};
    /* Items are at the end, so it must stay aligned; offsets in it have 32 bits. */
    bucket->arena_bytes = (arena_bytes < UINT32_MAX ? arena_bytes : UINT32_MAX) & ~INT64_C(15);
    leat_code code = LEAT_NEW(&bucket->decoder, 1, err);
    if (code == LEAT_OK) {
        code = leat_block_alloc((void **)&bucket->sources, leat_bucket_table_bytes(source_capacity),
                                err);
    }
    if (code != LEAT_OK) {
        leat_bucket_destroy(bucket);
        return code;
    }
    bucket->groups = (leat_bucket_group *)(void *)(bucket->sources + source_capacity);
    bucket->order = (int64_t *)(void *)(bucket->groups + source_capacity);
    return LEAT_OK;
}

void leat_bucket_destroy(leat_bucket *bucket) {
    leat_free(bucket->decoder);
    leat_block_free(bucket->sources, leat_bucket_table_bytes(bucket->source_capacity));
    *bucket = (leat_bucket){0};
}

int64_t leat_bucket_arena_bytes(int64_t bytes, int64_t records) {
    return bytes + 2 * ITEM_BYTES * records + SLACK_BYTES;
}

static void begin_stream(leat_bucket *bucket) {
    bucket->generation_first = bucket->source_count;
    if (bucket->stream == bucket->stream_count) return;
    leat_spill_cursor_begin(&bucket->cursor, bucket->spills[bucket->stream], bucket->index,
                            bucket->decoder);
}

void leat_bucket_begin(leat_bucket *bucket, leat_spill *const *spills, int index,
                       const leat_bucket_filter *filter) {
    bucket->filter = *filter;
    bucket->spills = spills;
    bucket->index = index;
    bucket->source_count = 0;
    bucket->stream = 0;
    begin_stream(bucket);
}

/* ---- loading ---- */

static bool is_wanted(const leat_bucket_filter *filter, const leat_bucket_source *source) {
    if (source->src_id < filter->src_id_begin || source->src_id >= filter->src_id_end) return false;
    if (!filter->by_bound) return true;
    const leat_census_bound *bound = filter->bound;
    bool train = bound->size_bytes < 0 ||
                 leat_text_compare(source->text, source->size, bound->text, bound->size_bytes) < 0;
    return train == (filter->split == LEAT_SPLIT_TRAIN);
}

static void add_source(leat_bucket *bucket, const uint8_t *record, uint32_t word) {
    if (word & LEAT_SPILL_FIRST) bucket->generation_first = bucket->source_count;
    int32_t size = (int32_t)(word & LEAT_SPILL_LENGTH);
    leat_bucket_source *source = &bucket->sources[bucket->source_count++];
    memcpy(&source->src_id, record, 8);
    source->size = (uint8_t)size;
    memcpy(source->text, record + LEAT_SPILL_DEFINITION_BYTES, (size_t)size);
    source->wanted = is_wanted(&bucket->filter, source);
}

/* Takes one block: definitions go to `sources`, wanted measurements to the bytes, and their items
 * to the end of the arena in reverse order, to be moved together later. */
static leat_code take_block(leat_bucket *bucket, leat_error *err) {
    const leat_spill_cursor *cursor = &bucket->cursor;
    const uint8_t *at = cursor->block, *end = at + cursor->size;
    leat_bucket_item *last = (leat_bucket_item *)(void *)(bucket->arena + bucket->arena_bytes);
    while (at < end) {
        uint32_t word = 0;
        int32_t size = 0;
        if (!leat_spill_record_fits(at, end - at, &size))
            return leat_temp_damaged(cursor->spill->file, err);
        memcpy(&word, at + 8, 4);
        if (word & LEAT_SPILL_DEFINITION) {
            if (bucket->source_count == bucket->source_capacity)
                return leat_temp_damaged(cursor->spill->file, err);
            add_source(bucket, at, word);
            at += size;
            continue;
        }
        uint32_t source = (uint32_t)bucket->generation_first + word;
        if (source >= bucket->source_count) return leat_temp_damaged(cursor->spill->file, err);
        if (bucket->sources[source].wanted) {
            leat_bucket_item *item = last - 1 - bucket->item_count++;
            memcpy(&item->time_us, at, 8);
            item->at = (uint32_t)bucket->byte_count;
            item->source = source;
            memcpy(bucket->arena + bucket->byte_count, at, (size_t)size);
            bucket->byte_count += size;
        }
        at += size;
    }
    return LEAT_OK;
}

/* ---- sorting ---- */

static int compare_sources(const void *a, const void *b, void *context) {
    const leat_bucket_source *sources = context;
    const leat_bucket_source *x = &sources[*(const int64_t *)a], *y = &sources[*(const int64_t *)b];
    if (x->src_id != y->src_id) return x->src_id < y->src_id ? -1 : 1;
    return leat_text_compare(x->text, x->size, y->text, y->size);
}

leat_code leat_bucket_check_same(const leat_bucket_source *a, const leat_bucket_source *b,
                                 leat_error *err) {
    if (leat_text_compare(a->text, a->size, b->text, b->size) == 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_INPUT,
                     "sources \"%.*s\" and \"%.*s\" have the same src_id %lld (MD5 prefix): one "
                     "data set cannot contain both",
                     a->size, a->text, b->size, b->text, (long long)b->src_id);
}

/* Ranks the sources; equal definitions share a rank, two texts with one src_id are an error. */
static leat_code rank_sources(leat_bucket *bucket, leat_error *err) {
    int64_t count = bucket->source_count;
    for (int64_t i = 0; i < count; i++) bucket->order[i] = i;
    if (count > 1) {
        qsort_r(bucket->order, (size_t)count, sizeof *bucket->order, compare_sources,
                bucket->sources);
    }
    bucket->group_count = 0;
    const leat_bucket_source *last = NULL;
    for (int64_t i = 0; i < count; i++) {
        leat_bucket_source *source = &bucket->sources[bucket->order[i]];
        bool same = last != NULL && last->src_id == source->src_id;
        if (same) LEAT_TRY(leat_bucket_check_same(last, source, err));
        else bucket->groups[bucket->group_count++] = (leat_bucket_group){.source = source};
        source->rank = (uint32_t)(bucket->group_count - 1);
        last = source;
    }
    return LEAT_OK;
}

static inline bool in_order(const leat_bucket *bucket, const leat_bucket_item *a,
                            const leat_bucket_item *b) {
    if (a->time_us != b->time_us) return a->time_us < b->time_us;
    return leat_spill_compare(leat_bucket_record(bucket, a), leat_bucket_record(bucket, b)) <= 0;
}

/* The end of the ascending run that begins at `begin`; a strictly descending run is reversed. */
static int64_t run_end(const leat_bucket *bucket, leat_bucket_item *items, int64_t begin,
                       int64_t count) {
    int64_t end = begin + 1;
    if (end == count) return end;
    if (in_order(bucket, &items[begin], &items[end])) {
        while (end < count && in_order(bucket, &items[end - 1], &items[end])) end++;
        return end;
    }
    while (end < count && !in_order(bucket, &items[end - 1], &items[end])) end++;
    for (int64_t i = begin, j = end - 1; i < j; i++, j--) {
        leat_bucket_item item = items[i];
        items[i] = items[j];
        items[j] = item;
    }
    return end;
}

static void merge(const leat_bucket *bucket, const leat_bucket_item *a, int64_t a_count,
                  const leat_bucket_item *b, int64_t b_count, leat_bucket_item *out) {
    const leat_bucket_item *a_end = a + a_count, *b_end = b + b_count;
    while (a < a_end && b < b_end) *out++ = in_order(bucket, a, b) ? *a++ : *b++;
    memcpy(out, a, (size_t)(a_end - a) * sizeof *a);
    memcpy(out + (a_end - a), b, (size_t)(b_end - b) * sizeof *b);
}

/* Insertion sort, for ranges too short to merge. */
static void insert_sort(const leat_bucket *bucket, leat_bucket_item *items, int64_t count) {
    for (int64_t i = 1; i < count; i++) {
        leat_bucket_item item = items[i];
        int64_t j = i;
        for (; j > 0 && !in_order(bucket, &items[j - 1], &item); j--) items[j] = items[j - 1];
        items[j] = item;
    }
}

#define INSERT_MAX 24

/* Runs are at least INSERT_MAX long: shorter natural ones are extended by insertion. */
static int64_t next_run(const leat_bucket *bucket, leat_bucket_item *items, int64_t begin,
                        int64_t count) {
    int64_t end = run_end(bucket, items, begin, count);
    if (end - begin >= INSERT_MAX || end == count) return end;
    end = begin + INSERT_MAX < count ? begin + INSERT_MAX : count;
    insert_sort(bucket, items + begin, end - begin);
    return end;
}

/*
 * Merges neighbouring runs, pass by pass, between `items` and `scratch` until one is left. Each
 * pass searches for the runs again, which costs one comparison per item.
 */
static void sort_items(const leat_bucket *bucket, leat_bucket_item *items,
                       leat_bucket_item *scratch, int64_t count) {
    if (count < 2 || run_end(bucket, items, 0, count) == count) return;
    if (count <= INSERT_MAX) {
        insert_sort(bucket, items, count);
        return;
    }
    for (int64_t begin = 0; begin < count;) begin = next_run(bucket, items, begin, count);
    for (bool sorted = false; !sorted;) {
        int64_t begin = 0, merged = 0;
        while (begin < count) {
            int64_t middle = run_end(bucket, items, begin, count);
            int64_t end = middle < count ? run_end(bucket, items, middle, count) : middle;
            merge(bucket, items + begin, middle - begin, items + middle, end - middle,
                  scratch + begin);
            begin = end;
            merged++;
        }
        memcpy(items, scratch, (size_t)count * sizeof *items);
        sorted = merged == 1;
    }
}

/* Distributes the loaded items by rank into `items`, leaving `scratch` as work space. */
static leat_code group_items(leat_bucket *bucket, leat_error *err) {
    LEAT_TRY(rank_sources(bucket, err));
    leat_bucket_item *loaded = bucket->scratch;
    for (int64_t i = 0; i < bucket->item_count; i++) {
        uint32_t rank = bucket->sources[loaded[i].source].rank;
        loaded[i].source = rank;
        bucket->groups[rank].count++;
    }
    int64_t first = 0;
    for (int64_t g = 0; g < bucket->group_count; g++) {
        bucket->groups[g].first = first;
        first += bucket->groups[g].count;
        bucket->order[g] = bucket->groups[g].first; /* where the next item of the group goes */
    }
    LEAT_ASSERT(first == bucket->item_count);
    /* Items were loaded from the end of the arena downwards, so the last one loaded is first. */
    for (int64_t i = bucket->item_count - 1; i >= 0; i--) {
        bucket->items[bucket->order[loaded[i].source]++] = loaded[i];
    }
    for (int64_t g = 0; g < bucket->group_count; g++) {
        const leat_bucket_group *group = &bucket->groups[g];
        sort_items(bucket, bucket->items + group->first, bucket->scratch + group->first,
                   group->count);
    }
    return LEAT_OK;
}

int64_t leat_bucket_duplicates(leat_bucket *bucket, leat_bucket_group *group, bool drop) {
    leat_bucket_item *items = bucket->items + group->first;
    int64_t kept = 0;
    for (int64_t i = 0; i < group->count; i++) {
        bool same = i > 0 && items[i].time_us == items[i - 1].time_us &&
                    leat_spill_compare(leat_bucket_record(bucket, &items[i - 1]),
                                       leat_bucket_record(bucket, &items[i])) == 0;
        if (same) continue;
        /* the item before `i` is compared next: only places before it are written */
        if (drop) items[kept] = items[i];
        kept++;
    }
    int64_t duplicates = group->count - kept;
    if (drop) group->count = kept;
    return duplicates;
}

/* Drops the sources that can no longer be referenced: all but those of the stream's generation. */
static void keep_generation(leat_bucket *bucket) {
    LEAT_ASSERT(bucket->generation_first <= bucket->source_count);
    bucket->source_count -= bucket->generation_first;
    memmove(bucket->sources, bucket->sources + bucket->generation_first,
            (size_t)bucket->source_count * sizeof *bucket->sources);
    bucket->generation_first = 0;
}

/* Whether the block fits after what is loaded, whatever it contains. */
static bool block_fits(const leat_bucket *bucket) {
    const leat_spill_cursor *cursor = &bucket->cursor;
    int64_t records = cursor->records;
    int64_t bytes =
        leat_bucket_arena_bytes(bucket->byte_count + cursor->size, bucket->item_count + records);
    int64_t definitions = (cursor->size - records * MEASUREMENT_BYTES_MIN) / DEFINITION_BYTES_MIN;
    return bytes <= bucket->arena_bytes &&
           bucket->source_count + definitions <= bucket->source_capacity;
}

leat_code leat_bucket_load(leat_bucket *bucket, bool *more, leat_error *err) {
    leat_spill_cursor *cursor = &bucket->cursor;
    *more = false;
    bucket->bytes = bucket->arena;
    bucket->byte_count = 0;
    bucket->item_count = 0;
    keep_generation(bucket);
    while (bucket->stream < bucket->stream_count) {
        if (cursor->size == 0) LEAT_TRY(leat_spill_cursor_next(cursor, err));
        if (cursor->size == 0) {
            bucket->stream++;
            begin_stream(bucket);
            continue;
        }
        *more = !block_fits(bucket) && bucket->item_count > 0;
        if (*more) break;
        if (!block_fits(bucket)) keep_generation(bucket); /* none of them was wanted */
        LEAT_ASSERT(block_fits(bucket));
        LEAT_TRY(take_block(bucket, err));
        cursor->size = 0;
    }
    leat_bucket_item *last = (leat_bucket_item *)(void *)(bucket->arena + bucket->arena_bytes);
    bucket->scratch = last - bucket->item_count;
    bucket->items = bucket->scratch - bucket->item_count;
    LEAT_ASSERT(bucket->bytes + bucket->byte_count <= (const uint8_t *)bucket->items);
    return group_items(bucket, err);
}
