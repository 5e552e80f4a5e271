/*
 * Counting and ranking of sources: see census.h. Ids go into a hash set; if it does not fit, the
 * log is read once per share of the ids (by hash), so that memory stays within the limit. The rank
 * is found by radix selection on the texts: one pass over the distinct texts per byte.
 */
#include "ingest/probes/census.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "ingest/probes/spelling.h"
#include "ingest/probes/spill.h"

#define LOG_BUFFER_BYTES 65536
#define ENTRY_HEADER_BYTES 10
#define ENTRY_MAX_BYTES (ENTRY_HEADER_BYTES + LEAT_ADDRESS_TEXT_BYTES)

/* ---- the log ---- */

leat_code leat_census_log_open(leat_census_log *log, const char *temp_dir, leat_error *err) {
    *log = (leat_census_log){0};
    LEAT_TRY(leat_buf_reserve(&log->buf, LOG_BUFFER_BYTES, err));
    leat_code code = leat_file_open_nameless(&log->file, temp_dir, err);
    if (code != LEAT_OK) leat_census_log_close(log);
    return code;
}

void leat_census_log_close(leat_census_log *log) {
    leat_file_close(log->file);
    leat_buf_free(&log->buf);
    *log = (leat_census_log){0};
}

leat_code leat_census_log_flush(leat_census_log *log, leat_error *err) {
    LEAT_TRY(leat_file_pwrite(log->file, log->buf.data, log->buf.size, log->file_bytes, err));
    log->file_bytes += log->buf.size;
    log->buf.size = 0;
    return LEAT_OK;
}

leat_code leat_census_log_add(leat_census_log *log, int64_t src_id, leat_split split,
                              const char *text, int32_t size_bytes, leat_error *err) {
    if (log->buf.size + ENTRY_MAX_BYTES > LOG_BUFFER_BYTES) {
        LEAT_TRY(leat_census_log_flush(log, err));
    }
    uint8_t *at = log->buf.data + log->buf.size;
    memcpy(at, &src_id, 8);
    at[8] = (uint8_t)split;
    at[9] = (uint8_t)size_bytes;
    memcpy(at + ENTRY_HEADER_BYTES, text, (size_t)size_bytes);
    log->buf.size += ENTRY_HEADER_BYTES + size_bytes;
    log->entries++;
    return LEAT_OK;
}

/* ---- reading entries in order ---- */

typedef leat_census_entry entry;

typedef struct entry_reader {
    leat_file *file;
    int64_t file_bytes, next; /* bytes of the file, bytes loaded */
    uint8_t *buffer;          /* LOG_BUFFER_BYTES */
    int64_t at, filled;
} entry_reader;

static leat_code entry_next(entry_reader *reader, entry *out, bool *found, leat_error *err) {
    *found = false;
    if (reader->filled - reader->at < ENTRY_MAX_BYTES && reader->next < reader->file_bytes) {
        int64_t rest = reader->filled - reader->at;
        memmove(reader->buffer, reader->buffer + reader->at, (size_t)rest);
        int64_t step = LOG_BUFFER_BYTES - rest, left = reader->file_bytes - reader->next;
        step = step < left ? step : left;
        LEAT_TRY(leat_file_pread(reader->file, reader->buffer + rest, step, reader->next, err));
        reader->next += step;
        reader->at = 0;
        reader->filled = rest + step;
    }
    int64_t left = reader->filled - reader->at;
    if (left == 0) return LEAT_OK;
    const uint8_t *bytes = reader->buffer + reader->at;
    if (left < ENTRY_HEADER_BYTES || bytes[8] >= LEAT_SPLITS ||
        bytes[9] > LEAT_ADDRESS_TEXT_BYTES || left < ENTRY_HEADER_BYTES + bytes[9])
        return leat_temp_damaged(reader->file, err);
    memcpy(&out->src_id, bytes, 8);
    out->split = bytes[8];
    out->size_bytes = bytes[9];
    out->text = (const char *)bytes + ENTRY_HEADER_BYTES;
    reader->at += ENTRY_HEADER_BYTES + out->size_bytes;
    *found = true;
    return LEAT_OK;
}

typedef leat_census_fn entry_fn;

static leat_code for_each_entry(leat_file *file, int64_t file_bytes, entry_fn fn, void *context,
                                leat_error *err) {
    entry_reader reader = {.file = file, .file_bytes = file_bytes};
    LEAT_TRY(LEAT_NEW(&reader.buffer, LOG_BUFFER_BYTES, err));
    leat_code code = LEAT_OK;
    while (code == LEAT_OK) {
        entry item;
        bool found = false;
        code = entry_next(&reader, &item, &found, err);
        if (code != LEAT_OK || !found) break;
        code = fn(context, &item, err);
    }
    leat_free(reader.buffer);
    return code;
}

leat_code leat_census_for_each(const leat_census_log *log, leat_census_fn fn, void *context,
                               leat_error *err) {
    return for_each_entry(log->file, log->file_bytes, fn, context, err);
}

/* ---- distinct ids ---- */

typedef struct id_set {
    int64_t *slots; /* -1: empty */
    int64_t slot_count;
    int64_t pass, pass_count;
    entry_fn fresh; /* called the first time each id is seen */
    void *fresh_context;
} id_set;

static leat_code id_set_add(void *context, const entry *item, leat_error *err) {
    id_set *set = context;
    uint64_t hash = leat_random(0, 0, (uint64_t)item->src_id);
    if ((int64_t)leat_random_below(hash, (uint64_t)set->pass_count) != set->pass) return LEAT_OK;
    uint64_t mask = (uint64_t)set->slot_count - 1;
    uint64_t at = hash & mask;
    while (set->slots[at] >= 0) {
        if (set->slots[at] == item->src_id) return LEAT_OK;
        at = (at + 1) & mask;
    }
    set->slots[at] = item->src_id;
    return set->fresh(set->fresh_context, item, err);
}

/* Calls `fresh` once for each distinct src_id of the logs. */
static leat_code for_each_source(const leat_census_logs *logs, entry_fn fresh, void *context,
                                 leat_error *err) {
    int64_t entries = 0;
    for (int i = 0; i < logs->count; i++) entries += logs->logs[i].entries;
    id_set set = {.slot_count = 1024, .pass_count = 1, .fresh = fresh, .fresh_context = context};
    while (set.slot_count < entries * 2 && set.slot_count * 16 <= logs->memory_bytes)
        set.slot_count *= 2;
    /* Shares are equal up to chance; an average load of one half leaves space for deviations. */
    set.pass_count = (entries * 2 + set.slot_count - 1) / set.slot_count;
    if (set.pass_count < 1) set.pass_count = 1;
    int64_t set_bytes = set.slot_count * (int64_t)sizeof *set.slots;
    LEAT_TRY(leat_block_alloc((void **)&set.slots, set_bytes, err));
    leat_code code = LEAT_OK;
    for (set.pass = 0; set.pass < set.pass_count && code == LEAT_OK; set.pass++) {
        memset(set.slots, 0xff, (size_t)set_bytes);
        for (int i = 0; i < logs->count && code == LEAT_OK; i++) {
            const leat_census_log *log = &logs->logs[i];
            code = for_each_entry(log->file, log->file_bytes, id_set_add, &set, err);
        }
    }
    leat_block_free(set.slots, set_bytes);
    return code;
}

#define RANGES (1 << LEAT_CENSUS_RANGE_BITS)
#define RANGE_SHIFT (LEAT_SRC_ID_BITS - LEAT_CENSUS_RANGE_BITS)

static leat_code count_entry(void *context, const entry *item, leat_error *err) {
    (void)err;
    leat_census *census = context;
    census->probes[item->split]++;
    census->ranges[item->split][item->src_id >> RANGE_SHIFT]++;
    return LEAT_OK;
}

leat_code leat_census_count(const leat_census_logs *logs, leat_census *census, leat_error *err) {
    *census = (leat_census){0};
    leat_code code = LEAT_OK;
    for (int s = 0; s < LEAT_SPLITS && code == LEAT_OK; s++) {
        code = LEAT_NEW(&census->ranges[s], RANGES, err);
    }
    if (code == LEAT_OK) {
        code = for_each_source(logs, count_entry, census, err);
    }
    if (code != LEAT_OK) leat_census_free(census);
    return code;
}

void leat_census_free(leat_census *census) {
    for (int s = 0; s < LEAT_SPLITS; s++) leat_free(census->ranges[s]);
    *census = (leat_census){0};
}

int64_t leat_census_fullest(const leat_census *census, leat_split split, int64_t shards) {
    int64_t most = 0;
    for (int64_t shard = 0; shard < shards; shard++) {
        int64_t first = leat_layout_shard_begin(shard, shards) >> RANGE_SHIFT;
        int64_t last = (leat_layout_shard_begin(shard + 1, shards) - 1) >> RANGE_SHIFT;
        int64_t sum = 0;
        for (int64_t i = first; i <= last; i++) sum += census->ranges[split][i];
        if (sum > most) most = sum;
    }
    return most;
}

/* ---- the text of a rank ---- */

static leat_code copy_entry(void *context, const entry *item, leat_error *err) {
    return leat_census_log_add(context, item->src_id, LEAT_SPLIT_TRAIN, item->text,
                               item->size_bytes, err);
}

typedef struct byte_counts {
    leat_census_bound prefix;
    int64_t ends;      /* texts equal to the prefix */
    int64_t next[256]; /* texts with this byte after it */
} byte_counts;

static leat_code count_next_byte(void *context, const entry *item, leat_error *err) {
    (void)err;
    byte_counts *counts = context;
    int32_t size = counts->prefix.size_bytes;
    if (item->size_bytes < size || memcmp(item->text, counts->prefix.text, (size_t)size) != 0) {
        return LEAT_OK;
    }
    if (item->size_bytes == size) counts->ends++;
    else counts->next[(uint8_t)item->text[size]]++;
    return LEAT_OK;
}

/* Extends the prefix byte by byte until it is the text with `rank` texts below it. */
static leat_code select_text(leat_census_log *distinct, int64_t rank, leat_census_bound *bound,
                             leat_error *err) {
    byte_counts counts = {0};
    for (int depth = 0; depth <= LEAT_ADDRESS_TEXT_BYTES; depth++) {
        counts.ends = 0;
        memset(counts.next, 0, sizeof counts.next);
        LEAT_TRY(
            for_each_entry(distinct->file, distinct->file_bytes, count_next_byte, &counts, err));
        if (rank < counts.ends) break;
        rank -= counts.ends;
        int byte = 0;
        while (byte < 255 && rank >= counts.next[byte]) rank -= counts.next[byte++];
        if (rank >= counts.next[byte] || depth == LEAT_ADDRESS_TEXT_BYTES)
            return leat_temp_damaged(distinct->file, err);
        counts.prefix.text[counts.prefix.size_bytes++] = (char)byte;
    }
    *bound = counts.prefix;
    return LEAT_OK;
}

leat_code leat_census_rank(const leat_census_logs *logs, int64_t rank, const char *temp_dir,
                           leat_census_bound *bound, leat_error *err) {
    *bound = (leat_census_bound){.size_bytes = -1};
    leat_census_log distinct;
    LEAT_TRY(leat_census_log_open(&distinct, temp_dir, err));
    leat_code code = for_each_source(logs, copy_entry, &distinct, err);
    if (code == LEAT_OK) code = leat_census_log_flush(&distinct, err);
    if (code == LEAT_OK && rank < distinct.entries) {
        code = select_text(&distinct, rank, bound, err);
    }
    leat_census_log_close(&distinct);
    return code;
}

/* ---- spellings ---- */

/* Addresses that have another spelling than the canonical one; most data sets have none. */
enum { SPELLED_MAX = 1 << 15 };

/* Those with the least ids are kept, which are hashes: the same ones whatever order they come in.
 */
typedef struct spelled {
    int64_t *ids; /* of the canonical spellings, up to 2 * SPELLED_MAX; sorted by keep_least */
    int64_t *members;
    int64_t count;
    bool complete; /* false: ids above the last of the SPELLED_MAX were left out */
} spelled;

/* The id that the source has in its canonical spelling, and whether that is another one. */
static int64_t canonical_id(const entry *item, bool *other) {
    leat_text text = {item->text, item->size_bytes};
    *other = false;
    if (memchr(item->text, ':', (size_t)item->size_bytes) == NULL) return item->src_id;
    leat_spelling spelling;
    leat_spelling_make(&spelling, LEAT_ADDRESS_CANONICAL, &text);
    leat_text canonical = leat_spelling_text(&spelling, &text);
    *other = canonical.size_bytes != text.size_bytes ||
             memcmp(canonical.data, text.data, (size_t)text.size_bytes) != 0;
    return *other ? leat_address_src_id(canonical.data, canonical.size_bytes) : item->src_id;
}

static int compare_ids(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void keep_least(spelled *all) {
    int64_t kept = 0;
    qsort(all->ids, (size_t)all->count, sizeof *all->ids, compare_ids);
    for (int64_t i = 0; i < all->count; i++) {
        if (kept == 0 || all->ids[i] != all->ids[kept - 1]) all->ids[kept++] = all->ids[i];
    }
    if (kept > SPELLED_MAX) all->complete = false;
    all->count = kept < SPELLED_MAX ? kept : SPELLED_MAX;
}

static leat_code collect_spelled(void *context, const entry *item, leat_error *err) {
    (void)err;
    spelled *all = context;
    bool other = false;
    int64_t id = canonical_id(item, &other);
    if (!other) return LEAT_OK;
    if (all->count == 2 * SPELLED_MAX) keep_least(all);
    all->ids[all->count++] = id;
    return LEAT_OK;
}

static leat_code count_member(void *context, const entry *item, leat_error *err) {
    (void)err;
    const spelled *all = context;
    bool other = false;
    int64_t id = canonical_id(item, &other);
    const int64_t *at = bsearch(&id, all->ids, (size_t)all->count, sizeof id, compare_ids);
    if (at != NULL) all->members[at - all->ids]++;
    return LEAT_OK;
}

static leat_code count_spelled(const leat_census_logs *logs, spelled *all, leat_error *err) {
    LEAT_TRY(LEAT_NEW(&all->ids, 2 * SPELLED_MAX, err));
    LEAT_TRY(for_each_source(logs, collect_spelled, all, err));
    if (all->count == 0) return LEAT_OK;
    keep_least(all);
    LEAT_TRY(LEAT_NEW(&all->members, all->count, err));
    return for_each_source(logs, count_member, all, err);
}

leat_code leat_census_spell(const leat_census_logs *logs, leat_census_spellings *out,
                            leat_error *err) {
    spelled all = {.complete = true};
    leat_code code = count_spelled(logs, &all, err);
    *out = (leat_census_spellings){.complete = all.complete};
    for (int64_t i = 0; i < all.count && code == LEAT_OK; i++) {
        if (all.members[i] < 2) continue;
        out->addresses++;
        out->probes += all.members[i];
    }
    leat_free(all.ids);
    leat_free(all.members);
    return code;
}
