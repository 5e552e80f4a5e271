/*
 * The hot loop of the scan: see partition.h. A batch is hashed first and the slots of its probes
 * are prefetched; a known probe costs one cache line, a new one its parsing and MD5.
 */
#include "ingest/probes/partition.h"

#include <math.h>
#include <stdio.h>

#include "ingest/probes/identity.h"
#include "ingest/probes/spelling.h"
#include "ingest/value_text.h"

/* Descriptors are limited: together the workers open at most this many files for their groups. */
#define GROUP_FILES_MAX 512

leat_buckets leat_buckets_plan(int bits_max, double train_ratio, bool separate, int workers) {
    leat_buckets plan = {.bits = {bits_max, -1}};
    if (separate) {
        double share[LEAT_SPLITS] = {train_ratio, 1 - train_ratio};
        double most = fmax(share[0], share[1]);
        for (int split = 0; split < LEAT_SPLITS; split++) {
            /* A split with a fraction of the other's data gets that fraction of buckets. */
            int fewer = share[split] > 0 ? (int)floor(log2(most / share[split])) : 0;
            plan.bits[split] = share[split] <= 0 ? -1 : fewer >= bits_max ? 0 : bits_max - fewer;
        }
    }
    for (int split = 0; split < LEAT_SPLITS; split++) {
        plan.base[split] = plan.count;
        if (plan.bits[split] >= 0) plan.count += 1 << plan.bits[split];
    }
    int groups = GROUP_FILES_MAX / workers < 1 ? 1 : GROUP_FILES_MAX / workers;
    if (groups > LEAT_GROUPS_MAX) groups = LEAT_GROUPS_MAX;
    while ((plan.count - 1) >> plan.group_shift >= groups) plan.group_shift++;
    plan.group_count = ((plan.count - 1) >> plan.group_shift) + 1;
    return plan;
}

int leat_buckets_in_group(const leat_buckets *buckets, int group) {
    int first = group << buckets->group_shift, most = 1 << buckets->group_shift;
    return buckets->count - first < most ? buckets->count - first : most;
}

/* The spill that contains a bucket; *bucket becomes its number there. */
static inline leat_spill *spill_of(const leat_partition *plan, leat_partition_worker *self,
                                   int *bucket) {
    int shift = plan->buckets.group_shift;
    leat_spill *spill = &self->spills[*bucket >> shift];
    *bucket &= (1 << shift) - 1;
    return spill;
}

/* A whole number as it counts in a name. */
enum { NUMBER_BYTES = 24 };

/* One measurement while it is checked. */
typedef struct judged {
    leat_text src, dst;        /* as written */
    leat_text name;            /* of the probe; the source if probes are addresses */
    char number[NUMBER_BYTES]; /* the name may be in it */
    leat_spelling source,
        target;    /* `source` is set only if its slot is new, or probes have names */
    uint64_t hash; /* of the name */
    int version;
    bool mapped; /* one of the addresses is */
    leat_intern_slot *slot;
    float rtt;
    uint32_t twin;
} judged;

static const leat_text zero_text[2] = {{"0.0.0.0", 7}, {"::", 2}};

/* Replaces an empty address by the zero address; false if its version is unknown. */
static bool fill_zero(const leat_partition *plan, judged *row, int32_t ip_version) {
    if (row->src.size_bytes > 0 && row->dst.size_bytes > 0) return true;
    const leat_text *known = row->src.size_bytes > 0 ? &row->src : &row->dst;
    leat_spelling spelling;
    leat_spelling_make(&spelling, plan->address, known);
    int version = known->size_bytes > 0 ? spelling.version : ip_version;
    if (version != 4 && version != 6) return false;
    leat_text zero = zero_text[version == 6];
    if (row->src.size_bytes <= 0) row->src = zero;
    if (row->dst.size_bytes <= 0) row->dst = zero;
    return true;
}

/*
 * What stands for a probe's name: the name itself if it is no longer than an address, else its
 * beginning and its src_id in hexadecimal digits.
 */
static leat_text short_name(const leat_text *name, char room[LEAT_ADDRESS_TEXT_BYTES + 1]) {
    enum { DIGITS = 15, BEGINNING = LEAT_ADDRESS_TEXT_BYTES - DIGITS };
    if (name->size_bytes <= LEAT_ADDRESS_TEXT_BYTES) return *name;
    memcpy(room, name->data, BEGINNING);
    snprintf(room + BEGINNING, DIGITS + 1, "%015llx",
             (unsigned long long)leat_address_src_id(name->data, name->size_bytes));
    return (leat_text){room, LEAT_ADDRESS_TEXT_BYTES};
}

/* Whether a name is a number with an exponent as programs write it, e+05: with a sign and two
 * digits, unlike a hexadecimal name such as 12e05. */
static bool has_exponent(const leat_text *name) {
    if (name->size_bytes < 5) return false;
    const char *at = name->data + name->size_bytes;
    return (at[-3] == '+' || at[-3] == '-') && (at[-4] | 0x20) == 'e';
}

/* A name as it counts: without blanks around it, and a whole number with a fraction of zeros, as
 * programs write a column of numbers in which some are missing, or with an exponent, by its
 * digits, which may be in `room`. */
static leat_text plain_name(const leat_text *written, char room[NUMBER_BYTES]) {
    leat_text name = leat_text_trim(*written);
    int64_t number = 0;
    if (has_exponent(&name) && leat_whole_parse(name.data, name.size_bytes, &number) &&
        number > -INT64_MAX && number < INT64_MAX)
        return (leat_text){room, snprintf(room, NUMBER_BYTES, "%lld", (long long)number)};
    int32_t end = name.size_bytes, at = end > 0 && name.data[0] == '-' ? 1 : 0;
    while (end > 0 && name.data[end - 1] == '0') end--;
    if (end == name.size_bytes || end <= at + 1 || name.data[--end] != '.') return name;
    for (; at < end; at++)
        if (name.data[at] < '0' || name.data[at] > '9') return name;
    name.size_bytes = end;
    return name;
}

/* Finds the slot of the row's source, which has its version, or one for it, then of size 0. */
static int source_version(const leat_partition *plan, leat_partition_worker *self, judged *row) {
    if (row->src.size_bytes > LEAT_ADDRESS_TEXT_BYTES) return 0;
    if (!plan->named)
        row->slot = leat_intern_find(&self->table, row->hash, row->src.data, row->src.size_bytes);
    if (!plan->named && row->slot->size != 0) {
        row->mapped = row->slot->mapped;
        return row->slot->version;
    }
    leat_spelling_make(&row->source, plan->address, &row->src);
    row->mapped = row->source.mapped;
    return row->source.version;
}

static leat_reject judge(const leat_partition *plan, leat_partition_worker *self,
                         const leat_raw_batch *batch, int64_t i, judged *row) {
    int32_t said = batch->ip_version[i];
    row->twin = batch->twin != NULL ? batch->twin[i] : 0;
    row->mapped = false;
    row->src = batch->src[i];
    row->dst = batch->dst[i];
    row->hash = self->hashes[i];
    if (row->src.size_bytes <= 0 || row->dst.size_bytes <= 0) {
        bool filled = plan->zero_address && fill_zero(plan, row, said);
        if (!filled && row->src.size_bytes <= 0) return LEAT_REJECT_SRC_MISSING;
        if (!filled) return LEAT_REJECT_DST_MISSING;
        if (!plan->named) row->hash = leat_intern_hash(row->src.data, row->src.size_bytes);
    }
    row->version = source_version(plan, self, row);
    if (row->version == 0) return LEAT_REJECT_SRC_BAD;
    leat_spelling_make(&row->target, plan->address, &row->dst);
    if (row->target.version == 0) return LEAT_REJECT_DST_BAD;
    row->mapped = row->mapped || row->target.mapped;
    if (row->mapped && said == 6) said = 4; /* it is the version of the text */
    if (row->target.version != row->version || (said != 0 && said != row->version))
        return LEAT_REJECT_VERSION;
    int64_t time_us = batch->time_us[i];
    if (time_us == LEAT_TIME_MISSING) return LEAT_REJECT_TIME_MISSING;
    if (time_us < 0 || time_us >= LEAT_TIME_END_US) return LEAT_REJECT_TIME_RANGE;
    float rtt = batch->rtt[i];
    if (isinf(rtt)) return LEAT_REJECT_RTT;
    /* Negative and not-a-number mean that the measurement failed; -0 is 0. */
    row->rtt = rtt > 0 ? rtt : rtt == 0 ? 0 : -1;
    row->name = plan->named ? batch->name[i] : row->src;
    if (row->name.size_bytes > LEAT_NAME_BYTES_MAX) return LEAT_REJECT_LINE;
    if (plan->named) row->name = plain_name(&row->name, row->number);
    if (row->name.size_bytes <= 0) return LEAT_REJECT_PROBE_MISSING;
    if (!plan->named) return LEAT_REJECT_COUNT;
    char room[LEAT_ADDRESS_TEXT_BYTES + 1];
    leat_text name = short_name(&row->name, room);
    row->slot = leat_intern_find(&self->table, row->hash, name.data, name.size_bytes);
    return LEAT_REJECT_COUNT;
}

/* Fills the slot of a probe that is new in the table. */
static leat_code define_probe(const leat_partition *plan, leat_partition_worker *self, judged *row,
                              leat_error *err) {
    char room[LEAT_ADDRESS_TEXT_BYTES + 1];
    leat_text key = short_name(&row->name, room); /* an address is short */
    leat_text text = plan->named ? key : leat_spelling_text(&row->source, &row->src);
    leat_text whole = plan->named ? row->name : text;
    int64_t src_id = leat_address_src_id(whole.data, whole.size_bytes);
    leat_split split = plan->separate_splits
                           ? leat_layout_hash_split(plan->seed, plan->train_ratio, src_id)
                           : LEAT_SPLIT_TRAIN;
    int bucket = leat_buckets_of(&plan->buckets, split, src_id);
    int local = bucket;
    leat_spill *spill = spill_of(plan, self, &local);
    uint32_t number = 0;
    LEAT_TRY(leat_spill_define(spill, local, src_id, text, &number, err));
    LEAT_TRY(leat_census_log_add(&self->log, src_id, split, text.data, text.size_bytes, err));
    leat_intern_slot *slot = row->slot;
    slot->tag = (uint32_t)(row->hash >> 32);
    slot->source = number;
    slot->bucket = (uint16_t)bucket;
    slot->size = (uint8_t)key.size_bytes;
    slot->version = (uint8_t)row->version;
    slot->mapped = row->source.mapped;
    slot->probe = 0;
    memcpy(slot->text, key.data, (size_t)key.size_bytes);
    self->table.used++;
    return LEAT_OK;
}

/* Logs that the probe with this number has the source's address. */
static leat_code log_probe(leat_partition *plan, leat_partition_worker *self, const judged *row,
                           uint32_t probe, leat_error *err) {
    leat_spelling spelling;
    leat_spelling_make(&spelling, plan->address, &row->src);
    leat_text address = leat_spelling_text(&spelling, &row->src);
    bool test = plan->separate_splits && plan->buckets.bits[LEAT_SPLIT_TEST] >= 0 &&
                row->slot->bucket >= plan->buckets.base[LEAT_SPLIT_TEST];
    bool fresh = false;
    row->slot->probe = probe;
    LEAT_TRY(leat_identity_enter(&plan->identities, probe, &address, &fresh, err));
    if (!fresh) return LEAT_OK;
    if (self->pairs.file == NULL) LEAT_TRY(leat_census_log_open(&self->pairs, plan->temp_dir, err));
    return leat_identity_add(&self->pairs, probe, test ? LEAT_SPLIT_TEST : LEAT_SPLIT_TRAIN,
                             &address, err);
}

/* A short copy: addresses usually have 8 to 16 characters, and a call costs more than copying them.
 */
static inline void copy_text(uint8_t *to, const char *from, int32_t size) {
    if (size < 8 || size > 16) {
        memcpy(to, from, (size_t)size);
        return;
    }
    uint64_t first, last;
    memcpy(&first, from, 8);
    memcpy(&last, from + size - 8, 8);
    memcpy(to, &first, 8);
    memcpy(to + size - 8, &last, 8);
}

static inline void note(leat_batch_notes *noted, int64_t time_us, float rtt) {
    noted->first_us = time_us < noted->first_us ? time_us : noted->first_us;
    noted->last_us = time_us > noted->last_us ? time_us : noted->last_us;
    noted->answered += rtt >= 0;
    noted->fast += rtt >= 0 && rtt < LEAT_RTT_FAST;
    noted->fastest += rtt >= 0 && rtt < LEAT_RTT_FASTEST;
    noted->whole += rtt >= LEAT_RTT_WHOLE;
    noted->slow += rtt > LEAT_RTT_SLOW;
}

static leat_code append(const leat_partition *plan, leat_partition_worker *self, const judged *row,
                        int64_t time_us, leat_error *err) {
    int bucket = row->slot->bucket;
    leat_spill *spill = spill_of(plan, self, &bucket);
    leat_text dst = leat_spelling_text(&row->target, &row->dst);
    int32_t size = dst.size_bytes;
    uint8_t *at = NULL;
    leat_text own = {NULL, 0}; /* a name does not say what its source is */
    if (plan->named) own = leat_spelling_text(&row->source, &row->src);
    int32_t more = row->twin > 0 ? LEAT_SPILL_MORE_BYTES : 0;
    if (plan->named) more = LEAT_SPILL_MORE_BYTES + 1 + own.size_bytes;
    LEAT_TRY(leat_spill_room(spill, bucket, LEAT_SPILL_MEASUREMENT_BYTES + size + more, &at, err));
    memcpy(at, &time_us, 8);
    memcpy(at + 8, &row->slot->source, 4);
    memcpy(at + LEAT_SPILL_RTT_AT, &row->rtt, 4);
    at[LEAT_SPILL_FACTS_AT] = (uint8_t)(size | (row->version == 6 ? LEAT_SPILL_V6 : 0));
    copy_text(at + LEAT_SPILL_TEXT_AT, dst.data, size);
    if (more > 0) {
        uint32_t word = row->twin | (plan->named ? LEAT_SPILL_OWN_SOURCE : 0);
        at[LEAT_SPILL_FACTS_AT] |= LEAT_SPILL_MORE;
        at += LEAT_SPILL_TEXT_AT + size;
        memcpy(at, &word, LEAT_SPILL_MORE_BYTES);
        if (plan->named) {
            at[LEAT_SPILL_MORE_BYTES] = (uint8_t)own.size_bytes;
            memcpy(at + LEAT_SPILL_MORE_BYTES + 1, own.data, (size_t)own.size_bytes);
        }
    }
    leat_spill_count(spill, bucket);
    note(&self->noted, time_us, row->rtt);
    self->noted.mapped += row->mapped;
    self->measurements++;
    return LEAT_OK;
}

/* From 1990 to 2100. */
#define CENTURY_BEGIN_US (INT64_C(631152000) * 1000000)
#define CENTURY_END_US (INT64_C(4102444800) * 1000000)

/* What a time out of range may be: 1.6e12 as seconds is far in the future, as milliseconds 2020. */
static void count_late(leat_partition_worker *self, int64_t time_us) {
    int64_t as_ms = time_us / 1000;
    if (time_us == LEAT_TIME_FUTURE) self->late_far++;
    else if (as_ms >= CENTURY_BEGIN_US && as_ms < CENTURY_END_US) self->late_ms++;
}

/* A record of several measurements, which are rejected for the same reason, is set aside once. */
static leat_code set_aside(const leat_partition *plan, leat_partition_worker *self,
                           const leat_raw_batch *batch, int64_t i, leat_reject reason,
                           leat_error *err) {
    if (self->aside_file == batch->file_index && self->aside_row == batch->row[i]) return LEAT_OK;
    self->aside_file = batch->file_index;
    self->aside_row = batch->row[i];
    if (reason == LEAT_REJECT_TIME_RANGE) count_late(self, batch->time_us[i]);
    self->text.size = 0;
    LEAT_TRY(leat_reject_format(&self->text, batch, i, err));
    leat_reject_row row = {
        .file_index = batch->file_index,
        .row = batch->row[i],
        .reason = reason,
        .values = (const char *)self->text.data,
        .values_bytes = self->text.size,
    };
    return leat_reject_log_add(plan->rejects, (int)(self - plan->workers), &row, err);
}

/* Rows are checked a few at a time, and their places in the spill prefetched, before any is
 * written: thousands of open blocks do not fit in the cache. */
#define STEP_ROWS 32

/* Hashes the probes' names of the following rows and prefetches their slots, so that the next step
 * finds them in the cache. */
static void prefetch(leat_partition_worker *self, const leat_raw_batch *batch, int64_t first) {
    const bool named = batch->name != NULL;
    uint64_t mask = (uint64_t)self->table.slot_count - 1;
    int64_t end = first + STEP_ROWS < batch->count ? first + STEP_ROWS : batch->count;
    for (int64_t i = first; i < end; i++) {
        char room[LEAT_ADDRESS_TEXT_BYTES + 1];
        char number[NUMBER_BYTES];
        leat_text name = named ? plain_name(&batch->name[i], number) : batch->src[i];
        name = short_name(&name, room);
        if (name.size_bytes <= 0) continue;
        self->hashes[i] = leat_intern_hash(name.data, name.size_bytes);
        __builtin_prefetch(&self->table.slots[self->hashes[i] & mask], 0, 3);
    }
}

static leat_code take_rows(leat_partition *plan, leat_partition_worker *self,
                           const leat_raw_batch *batch, int64_t first, int64_t count,
                           leat_error *err) {
    judged rows[STEP_ROWS];
    leat_reject reasons[STEP_ROWS];
    for (int64_t i = 0; i < count; i++) {
        reasons[i] = judge(plan, self, batch, first + i, &rows[i]);
        if (reasons[i] != LEAT_REJECT_COUNT) {
            LEAT_TRY(set_aside(plan, self, batch, first + i, reasons[i], err));
            continue;
        }
        if (rows[i].slot->size == 0) LEAT_TRY(define_probe(plan, self, &rows[i], err));
        uint32_t probe = batch->probe != NULL && !plan->named ? batch->probe[first + i] : 0;
        if (probe != 0 && probe != rows[i].slot->probe)
            LEAT_TRY(log_probe(plan, self, &rows[i], probe, err));
        int bucket = rows[i].slot->bucket;
        const leat_spill *spill = spill_of(plan, self, &bucket);
        leat_spill_prefetch(spill, bucket);
    }
    for (int64_t i = 0; i < count; i++) {
        if (reasons[i] != LEAT_REJECT_COUNT) continue;
        LEAT_TRY(append(plan, self, &rows[i], batch->time_us[first + i], err));
        self->noted.last_row = batch->row[first + i]; /* rows of a file do not go back */
    }
    return LEAT_OK;
}

leat_code leat_partition_batch(void *context, int worker, const leat_raw_batch *batch,
                               leat_error *err) {
    leat_partition *plan = context;
    leat_partition_worker *self = &plan->workers[worker];
    LEAT_ASSERT(worker < plan->worker_count && batch->count <= LEAT_BATCH_ROWS);
    LEAT_ASSERT(plan->named == (batch->name != NULL));
    int64_t generations = self->table.generations;
    LEAT_TRY(leat_intern_make_room(&self->table, batch->count, err));
    for (int g = 0; self->table.generations > generations && g < plan->buckets.group_count; g++) {
        leat_spill_forget(&self->spills[g]);
    }
    self->noted = LEAT_BATCH_NOTES_NONE;
    prefetch(self, batch, 0);
    for (int64_t first = 0; first < batch->count; first += STEP_ROWS) {
        int64_t left = batch->count - first;
        prefetch(self, batch, first + STEP_ROWS);
        LEAT_TRY(take_rows(plan, self, batch, first, left < STEP_ROWS ? left : STEP_ROWS, err));
    }
    leat_notes_add_batch(plan->notes, batch->file_index, &self->noted);
    return LEAT_OK;
}
