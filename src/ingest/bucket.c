/*
 * Loading and sorting a bucket: see bucket.h. Records stay where they were loaded; 16-byte items
 * are distributed by source (a counting sort), then each source's items are merged by time. Logs
 * come in time order, so most runs are long and a natural merge does almost nothing.
 */
#include "ingest/bucket.h"

#include <stdlib.h>

#define ITEM_BYTES ((int64_t)sizeof(leat_bucket_item))
/* Records are read some bytes beyond their end by copies of a fixed size. */
#define SLACK_BYTES 64

leat_code leat_bucket_create(leat_bucket *bucket, int stream_count, int32_t block_bytes,
                             uint8_t *arena, int64_t arena_bytes, leat_error *err) {
    *bucket = (leat_bucket){.arena = arena, .stream_count = stream_count};
    /* Items stand at the end, so it is kept aligned; places in it have 32 bits. */
    bucket->arena_bytes = (arena_bytes < UINT32_MAX ? arena_bytes : UINT32_MAX) & ~INT64_C(15);
    bucket->block_bytes = block_bytes;
    leat_code code = LEAT_NEW(&bucket->cursors, stream_count, err);
    if (code == LEAT_OK) code = LEAT_NEW(&bucket->first_source, stream_count + 1, err);
    if (code == LEAT_OK) {
        code = leat_alloc((void **)&bucket->block, stream_count, block_bytes, err);
    }
    if (code != LEAT_OK) leat_bucket_destroy(bucket);
    return code;
}

void leat_bucket_destroy(leat_bucket *bucket) {
    leat_free(bucket->cursors);
    leat_free(bucket->first_source);
    leat_free(bucket->block);
    leat_free(bucket->sources);
    leat_free(bucket->order);
    leat_free(bucket->groups);
    *bucket = (leat_bucket){0};
}

int64_t leat_bucket_arena_bytes(int64_t bytes, int64_t records) {
    return bytes + 2 * ITEM_BYTES * records + SLACK_BYTES;
}

leat_code leat_bucket_begin(leat_bucket *bucket, leat_spill *const *spills, int index,
                            const leat_bucket_filter *filter, leat_error *err) {
    bucket->filter = *filter;
    bucket->source_count = 0;
    bucket->stream = 0;
    int64_t sources = 0;
    for (int k = 0; k < bucket->stream_count; k++) {
        leat_spill_cursor_begin(&bucket->cursors[k], spills[k], index,
                                bucket->block + k * bucket->block_bytes);
        bucket->first_source[k] = (uint32_t)sources;
        sources += spills[k]->streams[index].definitions;
    }
    bucket->first_source[bucket->stream_count] = (uint32_t)sources;
    if (sources >= UINT32_MAX) {
        return leat_fail(err, LEAT_ERR_LIMIT, "bucket %d has %lld sources", index,
                         (long long)sources);
    }
    return LEAT_OK;
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

static leat_code add_source(leat_bucket *bucket, const uint8_t *record, int32_t size,
                            leat_error *err) {
    LEAT_TRY(LEAT_GROW(&bucket->sources, &bucket->source_capacity, bucket->source_count + 1, err));
    leat_bucket_source *source = &bucket->sources[bucket->source_count++];
    memcpy(&source->src_id, record, 8);
    source->size = (uint8_t)size;
    memcpy(source->text, record + LEAT_SPILL_DEFINITION_BYTES, (size_t)size);
    source->wanted = is_wanted(&bucket->filter, source);
    return LEAT_OK;
}

/* Takes one block: definitions to `sources`, wanted measurements to the bytes and, as items that
 * still stand in reverse from the end of the arena, to be moved together later. */
static leat_code take_block(leat_bucket *bucket, const leat_spill_cursor *cursor, leat_error *err) {
    const uint8_t *at = cursor->block + LEAT_SPILL_HEADER_BYTES, *end = at + cursor->size;
    uint32_t base = bucket->first_source[bucket->stream];
    leat_bucket_item *last = (leat_bucket_item *)(void *)(bucket->arena + bucket->arena_bytes);
    while (at < end) {
        uint32_t word = 0;
        if (end - at < LEAT_SPILL_DEFINITION_BYTES) break;
        memcpy(&word, at + 8, 4);
        if (word & LEAT_SPILL_DEFINITION) {
            int32_t size = (int32_t)(word & LEAT_SPILL_LENGTH);
            LEAT_TRY(add_source(bucket, at, size, err));
            at += LEAT_SPILL_DEFINITION_BYTES + size;
            continue;
        }
        int32_t size = LEAT_SPILL_MEASUREMENT_BYTES + (at[LEAT_SPILL_FACTS_AT] & LEAT_SPILL_LENGTH);
        uint32_t source = base + word;
        LEAT_ASSERT(source < bucket->source_count);
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
    LEAT_ASSERT(at == end);
    return LEAT_OK;
}

/* ---- sorting ---- */

static int compare_sources(const void *a, const void *b, void *context) {
    const leat_bucket_source *sources = context;
    const leat_bucket_source *x = &sources[*(const int64_t *)a], *y = &sources[*(const int64_t *)b];
    if (x->src_id != y->src_id) return x->src_id < y->src_id ? -1 : 1;
    return leat_text_compare(x->text, x->size, y->text, y->size);
}

/* Ranks the sources; equal definitions share a rank, two texts with one src_id are an error. */
static leat_code rank_sources(leat_bucket *bucket, leat_error *err) {
    int64_t count = bucket->source_count;
    LEAT_TRY(LEAT_GROW(&bucket->order, &bucket->order_capacity, count, err));
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
        if (same && leat_text_compare(last->text, last->size, source->text, source->size) != 0) {
            return leat_fail(
                err, LEAT_ERR_INPUT,
                "sources \"%.*s\" and \"%.*s\" have the same src_id %lld (MD5 prefix): "
                "they cannot stand in one data set",
                last->size, last->text, source->size, source->text, (long long)source->src_id);
        }
        if (!same) {
            LEAT_TRY(
                LEAT_GROW(&bucket->groups, &bucket->group_capacity, bucket->group_count + 1, err));
            bucket->groups[bucket->group_count++] = (leat_bucket_group){.source = source};
        }
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

/* The end of the ascending run that begins at `begin`; one that descends strictly is reversed. */
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

/* Sorts ascending with insertion, for what is too short to merge. */
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
 * Merges neighbouring runs, pass by pass, between `items` and `scratch` until one is left. Runs are
 * found again in each pass by looking, which costs one comparison an item.
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

leat_code leat_bucket_load(leat_bucket *bucket, bool *more, leat_error *err) {
    *more = false;
    bucket->bytes = bucket->arena;
    bucket->byte_count = 0;
    bucket->item_count = 0;
    while (bucket->stream < bucket->stream_count && !*more) {
        leat_spill_cursor *cursor = &bucket->cursors[bucket->stream];
        if (cursor->size == 0) LEAT_TRY(leat_spill_cursor_next(cursor, err));
        if (cursor->size == 0) {
            bucket->stream++;
            continue;
        }
        int64_t need = leat_bucket_arena_bytes(bucket->byte_count + cursor->size,
                                               bucket->item_count + cursor->records);
        if (need > bucket->arena_bytes) {
            LEAT_ASSERT(bucket->item_count > 0); /* an arena holds at least one block */
            *more = true;
            break;
        }
        LEAT_TRY(take_block(bucket, cursor, err));
        cursor->size = 0;
    }
    leat_bucket_item *last = (leat_bucket_item *)(void *)(bucket->arena + bucket->arena_bytes);
    bucket->scratch = last - bucket->item_count;
    bucket->items = bucket->scratch - bucket->item_count;
    return group_items(bucket, err);
}
