/* Runs of records to merge: a key, a serial number, and as many more bytes as the record says. */
#ifndef LEAT_TESTS_BASE_MERGE_RECORDS_H
#define LEAT_TESTS_BASE_MERGE_RECORDS_H

#include <string.h>

#include "base/merge.h"
#include "base/rng.h"

enum { RECORD_HEAD_BYTES = 12, RECORD_WRITE_BYTES = 1000 };

typedef struct record {
    uint32_t key, serial;
    int32_t more_bytes;
} record;
_Static_assert(sizeof(record) == RECORD_HEAD_BYTES, "records are written as they are");

/* What a test merges, and what comes out. */
typedef struct records {
    leat_merge_runs runs;
    uint8_t write_buffer[RECORD_WRITE_BYTES];
    uint32_t serial;    /* of the next record */
    uint32_t last[2];   /* key and serial number of the last one taken */
    int64_t taken, put; /* at last, and into the runs of passes */
    int64_t refuse_at;  /* this record cannot be taken; -1: all can */
} records;

static inline record record_at(const uint8_t *at) {
    record it;
    memcpy(&it, at, sizeof it);
    return it;
}

static inline bool record_is_complete(const leat_merge_source *from) {
    const int64_t left = from->end - from->at;
    return left >= RECORD_HEAD_BYTES && left >= RECORD_HEAD_BYTES + record_at(from->at).more_bytes;
}

/* A source that has what the test looks for in its own records. */
typedef struct record_source {
    leat_merge_source base;
    int64_t read; /* records so far: zero before the first */
} record_source;

static inline leat_code records_next(leat_merge_source *from, leat_error *err) {
    from->at += from->record_bytes;
    from->record_bytes = 0;
    if (!record_is_complete(from)) LEAT_TRY(leat_merge_fill(from, err));
    if (from->at == from->end) return LEAT_OK;
    if (!record_is_complete(from) || record_at(from->at).serial == UINT32_MAX)
        return leat_fail(err, LEAT_ERR_CORRUPT, "record %lld of a run is damaged",
                         (long long)((record_source *)(void *)from)->read);
    ((record_source *)(void *)from)->read++;
    from->record_bytes = RECORD_HEAD_BYTES + record_at(from->at).more_bytes;
    return LEAT_OK;
}

static inline int records_compare(const leat_merge_source *a, const leat_merge_source *b) {
    const uint32_t one = record_at(a->at).key, other = record_at(b->at).key;
    return (one > other) - (one < other);
}

/* Checks that records come in order, those of one key in the order in which they were written. */
static inline leat_code records_take(void *context, const leat_merge_source *from,
                                     leat_merge_writer *to, leat_error *err) {
    records *self = context;
    const record it = record_at(from->at);
    const int64_t more = from->record_bytes - RECORD_HEAD_BYTES;
    if (to != NULL) {
        self->put++;
        return leat_merge_put(to, from->at, from->record_bytes, err);
    }
    if (self->taken == self->refuse_at) return leat_fail(err, LEAT_ERR_INPUT, "refused");
    bool after = self->taken == 0 || it.key > self->last[0] ||
                 (it.key == self->last[0] && it.serial > self->last[1]);
    for (int64_t i = 0; i < more; i++)
        after = after && from->at[RECORD_HEAD_BYTES + i] == (uint8_t)(it.serial + i);
    if (!after || it.more_bytes != more)
        return leat_fail(err, LEAT_ERR_INPUT, "record %lld: key %u, number %u after %u, %u",
                         (long long)self->taken, it.key, it.serial, self->last[0], self->last[1]);
    self->last[0] = it.key;
    self->last[1] = it.serial;
    self->taken++;
    return LEAT_OK;
}

/* Adds a run of records whose keys are below key_count, some with many more bytes. */
static inline leat_code records_add_run(records *self, int64_t count, uint32_t key_count,
                                        int64_t more_max, leat_error *err) {
    leat_merge_writer to = {.buffer = self->write_buffer, .capacity = RECORD_WRITE_BYTES};
    uint8_t bytes[LEAT_MERGE_RECORD_BYTES_MAX];
    LEAT_TRY(leat_merge_runs_open(&self->runs, err));
    leat_merge_begin_run(&self->runs, &to);
    for (int64_t i = 0; i < count; i++) {
        const uint64_t bits = leat_random(7, 0, self->serial);
        record it = {(uint32_t)(i * key_count / count), self->serial++, 0};
        it.more_bytes = bits % 16 == 0 ? (int32_t)((bits >> 8) % (uint64_t)(more_max + 1)) : 0;
        memcpy(bytes, &it, sizeof it);
        for (int32_t k = 0; k < it.more_bytes; k++)
            bytes[RECORD_HEAD_BYTES + k] = (uint8_t)(it.serial + (uint32_t)k);
        LEAT_TRY(leat_merge_put(&to, bytes, RECORD_HEAD_BYTES + it.more_bytes, err));
    }
    return leat_merge_end_run(&self->runs, &to, err);
}

/* Merges them with `buffers` of the smallest buffers. */
static inline leat_code records_merge(records *self, int64_t buffers, leat_error *err) {
    uint8_t *memory = NULL;
    const int64_t memory_bytes = buffers * LEAT_MERGE_RECORD_BYTES_MAX;
    LEAT_TRY(leat_block_alloc((void **)&memory, memory_bytes, err));
    const leat_merge merge = {.source_bytes = sizeof(record_source),
                              .next = records_next,
                              .compare = records_compare,
                              .take = records_take,
                              .context = self,
                              .memory = memory,
                              .memory_bytes = memory_bytes,
                              .write_buffer = self->write_buffer,
                              .write_bytes = RECORD_WRITE_BYTES};
    self->taken = self->put = 0;
    leat_code code = leat_merge_all(&merge, &self->runs, err);
    leat_block_free(memory, memory_bytes);
    return code;
}

#endif
