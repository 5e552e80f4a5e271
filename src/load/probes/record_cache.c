/* Decoded records, found by row: see record_cache.h. A list is enough: searching 256 entries costs
 * little compared with decoding one record. */
#include "load/probes/record_cache.h"

#include <pthread.h>
#include <string.h>

#define RECORDS_MAX 256

struct leat_record_cache {
    pthread_mutex_t lock;
    leat_cached_record *records[RECORDS_MAX];
    int count;
    int64_t bytes, bytes_max;
    int64_t tick;
};

leat_code leat_record_cache_create(leat_record_cache **out, int64_t bytes_max, leat_error *err) {
    *out = NULL;
    leat_record_cache *cache = NULL;
    LEAT_TRY(LEAT_NEW(&cache, 1, err));
    pthread_mutex_init(&cache->lock, NULL);
    cache->bytes_max = bytes_max;
    *out = cache;
    return LEAT_OK;
}

void leat_record_cache_destroy(leat_record_cache *cache) {
    if (cache == NULL) return;
    for (int i = 0; i < cache->count; i++) leat_free(cache->records[i]);
    pthread_mutex_destroy(&cache->lock);
    leat_free(cache);
}

int64_t leat_record_cache_bytes_max(const leat_record_cache *cache) { return cache->bytes_max; }

/* Called with the lock held: frees the least recently used record that is not in use; false if all
 * are in use. */
static leat_cached_record *find(leat_record_cache *cache, int64_t row) {
    for (int i = 0; i < cache->count; i++) {
        if (cache->records[i]->row != row) continue;
        cache->records[i]->used = ++cache->tick;
        cache->records[i]->users++;
        return cache->records[i];
    }
    return NULL;
}

leat_cached_record *leat_record_cache_find(leat_record_cache *cache, int64_t row) {
    pthread_mutex_lock(&cache->lock);
    leat_cached_record *record = find(cache, row);
    pthread_mutex_unlock(&cache->lock);
    return record;
}

/* Under the lock: frees the record that nobody holds and that was used longest ago; false if all
 * are held. */
static bool evict(leat_record_cache *cache) {
    int oldest = -1;
    for (int i = 0; i < cache->count; i++) {
        if (cache->records[i]->users > 0) continue;
        if (oldest < 0 || cache->records[i]->used < cache->records[oldest]->used) oldest = i;
    }
    if (oldest < 0) return false;
    cache->bytes -= cache->records[oldest]->size_bytes;
    leat_free(cache->records[oldest]);
    cache->records[oldest] = cache->records[--cache->count];
    return true;
}

leat_code leat_record_cache_make(int64_t row, int64_t size_bytes, leat_cached_record **out,
                                 leat_error *err) {
    leat_cached_record *record = NULL;
    *out = NULL;
    /* the bytes follow their record directly: one allocation */
    LEAT_TRY(leat_alloc((void **)&record, (int64_t)sizeof(*record) + size_bytes, 1, err));
    *record = (leat_cached_record){
        .data = (uint8_t *)(record + 1), .size_bytes = size_bytes, .row = row, .users = 1};
    *out = record;
    return LEAT_OK;
}

leat_cached_record *leat_record_cache_offer(leat_record_cache *cache, leat_cached_record *record) {
    int64_t size_bytes = record->size_bytes;
    pthread_mutex_lock(&cache->lock);
    leat_cached_record *other = find(cache, record->row); /* another thread was faster */
    bool room = other == NULL && size_bytes <= cache->bytes_max;
    while (room && (cache->count == RECORDS_MAX || cache->bytes > cache->bytes_max - size_bytes)) {
        room = evict(cache);
    }
    if (room) {
        record->listed = true;
        record->used = ++cache->tick;
        cache->records[cache->count++] = record;
        cache->bytes += size_bytes;
    }
    pthread_mutex_unlock(&cache->lock);
    if (other == NULL) return record;
    leat_free(record);
    return other;
}

leat_code leat_record_cache_add(leat_record_cache *cache, int64_t row, const uint8_t *bytes,
                                int64_t size_bytes, leat_cached_record **out, leat_error *err) {
    LEAT_TRY(leat_record_cache_make(row, size_bytes, out, err));
    if (size_bytes > 0) memcpy((*out)->data, bytes, (size_t)size_bytes);
    *out = leat_record_cache_offer(cache, *out);
    return LEAT_OK;
}

void leat_record_cache_release(leat_record_cache *cache, leat_cached_record *record) {
    if (record == NULL) return;
    pthread_mutex_lock(&cache->lock);
    record->users--;
    bool last = !record->listed;
    pthread_mutex_unlock(&cache->lock);
    if (last) leat_free(record); /* was never in the list: used only by the caller */
}
