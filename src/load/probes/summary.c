/*
 * Counts and distributions of a data set.
 *
 * Two passes. The first visits the facts of all rows in order (from the index, without touching
 * rows): counts, sizes, spans, and probes, whose rows are adjacent. The second reads rows. Each
 * thread takes the next few and adds their values to its own distributions, which are added at the
 * end, so the result does not depend on which thread read which row. If there is more data than the
 * caller wants to read, the second pass reads a sample, chosen by a random number computed from the
 * row's number. Destinations are the same for many rows: threads collect some, and add them to one
 * table under a lock.
 */
#include "load/subset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/pool.h"
#include "base/ticker.h"
#include "load/probes/dataset.h"
#include "load/probes/destinations.h"
#include "load/probes/summary_ingest.h"

#define DESTINATIONS_AT_ONCE 4096 /* that a thread collects before it adds them to those of all */
#define ROWS_AT_ONCE 32 /* taken by a thread at a time; few, because a row may have many MiB */

leat_summary_options leat_summary_options_default(void) {
    int threads = leat_cpu_count();
    return (leat_summary_options){
        .threads = threads, .read_bytes_max = INT64_C(4) << 30, .row_count = 3};
}

/* A destination in the row at hand. */
typedef struct spot {
    int64_t measurements, failures;
    int ip_version;
} spot;

/* Values that one thread collected. */
typedef struct tally {
    leat_row *cursor;
    leat_distribution gap_us, rtt_ns[LEAT_SPLITS + 1][2], rtt_ns_by_hour[24];
    leat_timeline timeline;
    int64_t rows_by_loss[LEAT_LOSSES];
    int64_t top_measurements[LEAT_SUMMARY_TOP], top_failures[LEAT_SUMMARY_TOP];
    /* Whole numbers, so that sums do not depend on their order. */
    int64_t course_answers[LEAT_SUMMARY_COURSES][LEAT_SUMMARY_COURSE];
    __int128 course_ns[LEAT_SUMMARY_COURSES][LEAT_SUMMARY_COURSE];
    int64_t rows, measurements, bytes, duplicates;
    int64_t values[2], failures[2];
    leat_measurements values_of_row;
    spot *spots; /* by the addresses of the row */
    int64_t spot_capacity;
    leat_destinations destinations; /* not yet added to those of all */
} tally;

typedef struct shared {
    pthread_mutex_t lock;
    leat_destinations destinations;
    leat_distribution *course_ns; /* of each course and part: too large for one in each thread */
} shared;

typedef struct job {
    leat_dataset *dataset;
    const leat_summary_options *options;
    leat_summary *summary;
    int64_t row_count;
    bool facts_only; /* the pass that reads the facts of third-party files */
    bool any;        /* whether the sample has a row; if not, row 0 is read */
    tally *tallies;  /* one for each worker */
    shared *shared;
    leat_pool *pool;
    leat_ticker ticker;
} job;

/* ---- Reading rows, in parallel ------------------------------------------------------------ */

static int64_t rtt_in_ns(float rtt) {
    double ns = (double)rtt * 1e6;
    return ns < 9e18 ? (int64_t)(ns + 0.5) : INT64_C(9000000000000000000);
}

/* Rows written by leat are sorted by all columns, so equal measurements are neighbours. */
static bool equals_last(const leat_measurements *m, int64_t i) {
    bool both_failed = m->rtt[i] < 0 && m->rtt[i - 1] < 0;
    return m->time_us[i] == m->time_us[i - 1] && m->dst[i] == m->dst[i - 1] &&
           m->src[i] == m->src[i - 1] && m->ip_version[i] == m->ip_version[i - 1] &&
           (both_failed || m->rtt[i] == m->rtt[i - 1]);
}

static int hour_of(int64_t time_us) {
    int64_t hour = time_us / INT64_C(3600000000) - (time_us % INT64_C(3600000000) < 0);
    return (int)((hour % 24 + 24) % 24);
}

/* Returns how many failed. */
static int64_t count_values(tally *sums, leat_split split) {
    const leat_measurements *m = &sums->values_of_row;
    int64_t failures = 0;
    for (int64_t i = 0; i < m->count; i++) {
        bool failed = m->rtt[i] < 0;
        int version = m->ip_version[i] == 6;
        sums->values[version]++;
        sums->failures[version] += failed;
        failures += failed;
        if (!failed) {
            int64_t ns = rtt_in_ns(m->rtt[i]);
            leat_distribution_add(&sums->rtt_ns[split][version], ns, 1);
            leat_distribution_add(&sums->rtt_ns_by_hour[hour_of(m->time_us[i])], ns, 1);
        }
        if (i > 0) sums->duplicates += equals_last(m, i);
        if (i > 0) leat_distribution_add(&sums->gap_us, m->time_us[i] - m->time_us[i - 1], 1);
        leat_timeline_add(&sums->timeline, m->time_us[i], 1, failed);
    }
    if (m->count > 0) sums->rows_by_loss[leat_loss_of(failures, m->count)]++;
    return failures;
}

static leat_code share_destinations(const job *work, tally *sums, leat_error *err) {
    pthread_mutex_lock(&work->shared->lock);
    leat_code code = leat_destinations_merge(&work->shared->destinations, &sums->destinations, err);
    pthread_mutex_unlock(&work->shared->lock);
    leat_destinations_clear(&sums->destinations);
    return code;
}

static leat_code count_destinations(const job *work, tally *sums, leat_error *err) {
    const leat_measurements *m = &sums->values_of_row;
    LEAT_TRY(LEAT_GROW(&sums->spots, &sums->spot_capacity, m->address_count, err));
    memset(sums->spots, 0, (size_t)m->address_count * sizeof *sums->spots);
    for (int64_t i = 0; i < m->count; i++) {
        spot *here = &sums->spots[m->dst[i]];
        here->measurements++;
        here->failures += m->rtt[i] < 0;
        here->ip_version = m->ip_version[i];
    }
    for (int64_t i = 0; i < m->address_count; i++) {
        const spot *here = &sums->spots[i];
        leat_destination one = {.measurements = here->measurements, .failures = here->failures};
        if (here->measurements == 0) continue;
        leat_destination_key(&m->addresses[i], here->ip_version, one.address);
        if (sums->destinations.used == DESTINATIONS_AT_ONCE)
            LEAT_TRY(share_destinations(work, sums, err));
        LEAT_TRY(leat_destinations_add(&sums->destinations, &one, err));
    }
    return LEAT_OK;
}

/* The part of the data set's time; -1: none, in facts that do not match the values. */
static int course_part(const leat_summary *summary, int64_t time_us) {
    __int128 span = (__int128)summary->last_us - summary->first_us + 1;
    __int128 since = (__int128)time_us - summary->first_us;
    return since < 0 || since >= span ? -1 : (int)(since * LEAT_SUMMARY_COURSE / span);
}

static void count_course(const job *work, int number, tally *sums) {
    const leat_measurements *m = &sums->values_of_row;
    leat_distribution *dists = work->shared->course_ns + number * LEAT_SUMMARY_COURSE;
    pthread_mutex_lock(&work->shared->lock);
    for (int64_t i = 0; i < m->count; i++) {
        int part = m->rtt[i] < 0 ? -1 : course_part(work->summary, m->time_us[i]);
        if (part < 0) continue;
        int64_t ns = rtt_in_ns(m->rtt[i]);
        sums->course_answers[number][part]++;
        sums->course_ns[number][part] += ns;
        leat_distribution_add(&dists[part], ns, 1);
    }
    pthread_mutex_unlock(&work->shared->lock);
}

/* The largest probes are known by now. */
static void count_top(const job *work, const leat_row_facts *facts, int64_t failures, tally *sums) {
    const leat_summary *summary = work->summary;
    leat_split split = summary->shards[facts->shard].split;
    for (int i = 0; i < summary->top_count; i++) {
        if (summary->top[i].src_id != facts->src_id || summary->top[i].split != split) continue;
        sums->top_measurements[i] += sums->values_of_row.count;
        sums->top_failures[i] += failures;
        if (i < LEAT_SUMMARY_COURSES) count_course(work, i, sums);
    }
}

static bool is_same_text(const char *a, int32_t a_bytes, const char *b, int32_t b_bytes) {
    return a_bytes == b_bytes && (a_bytes == 0 || memcmp(a, b, (size_t)a_bytes) == 0);
}

/* Whether the first measurement of the next row equals the last of this one, whose cursor is no
 * longer needed. */
static leat_code count_equal_after(const job *work, int64_t row, tally *sums, leat_error *err) {
    leat_measurement last, first;
    LEAT_TRY(leat_dataset_row_open(work->dataset, row + 1, sums->cursor, err));
    LEAT_TRY(leat_row_measurement(sums->cursor, 0, &first, err));
    leat_measurements_get(&sums->values_of_row, sums->values_of_row.count - 1, &last);
    bool both_failed = first.rtt < 0 && last.rtt < 0;
    sums->duplicates += first.time_us == last.time_us && first.ip_version == last.ip_version &&
                        is_same_text(first.src, first.src_size, last.src, last.src_size) &&
                        is_same_text(first.dst, first.dst_size, last.dst, last.dst_size) &&
                        (both_failed || first.rtt == last.rtt);
    return LEAT_OK;
}

/* The next row may belong to the same probe; then what is between the two counts as well. */
static leat_code count_after(const job *work, const leat_row_facts *facts, int64_t row, tally *sums,
                             leat_error *err) {
    leat_row_facts next;
    if (row + 1 == work->row_count) return LEAT_OK;
    LEAT_TRY(leat_dataset_row(work->dataset, row + 1, &next, err));
    if (next.src_id != facts->src_id || next.n_measurements == 0 || facts->n_measurements == 0)
        return LEAT_OK;
    const leat_summary_shard *shards = work->summary->shards;
    if (shards[facts->shard].split != shards[next.shard].split) return LEAT_OK;
    if (next.first_us >= facts->last_us)
        leat_distribution_add(&sums->gap_us, next.first_us - facts->last_us, 1);
    if (next.first_us == facts->last_us) return count_equal_after(work, row, sums, err);
    return LEAT_OK;
}

static leat_code read_row(const job *work, int64_t row, tally *sums, leat_error *err) {
    leat_row_facts facts;
    if (work->facts_only) return leat_dataset_row(work->dataset, row, &facts, err);
    int64_t all = work->summary->all.record_bytes;
    bool taken = work->any ? leat_subset_has(row, work->options->read_bytes_max, all)
                           : row == 0 && work->options->read_bytes_max != 0;
    if (!taken) return LEAT_OK;
    LEAT_TRY(leat_dataset_row_open(work->dataset, row, sums->cursor, err));
    facts = *leat_row_get_facts(sums->cursor);
    LEAT_TRY(leat_dataset_row_decode(sums->cursor, &sums->values_of_row, err));
    int64_t failures = count_values(sums, work->summary->shards[facts.shard].split);
    count_top(work, &facts, failures, sums);
    LEAT_TRY(count_destinations(work, sums, err));
    sums->rows++;
    sums->measurements += sums->values_of_row.count;
    sums->bytes += facts.record_bytes;
    return count_after(work, &facts, row, sums, err);
}

static leat_code read_rows(void *context, int worker, int64_t part, leat_error *err) {
    job *work = context;
    int64_t begin = part * ROWS_AT_ONCE, left = work->row_count - begin;
    int64_t count = left < ROWS_AT_ONCE ? left : ROWS_AT_ONCE;
    for (int64_t row = begin; row < begin + count; row++)
        LEAT_TRY(read_row(work, row, &work->tallies[worker], err));
    return leat_ticker_step(&work->ticker, count, err);
}

static leat_code run_pass(job *work, bool facts_only, leat_error *err) {
    leat_pool_job rows = {.parts = (work->row_count + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE,
                          .context = work,
                          .make = read_rows};
    work->facts_only = facts_only;
    leat_ticker_stage(&work->ticker, facts_only ? "scanning rows" : "reading rows", "rows",
                      work->row_count);
    return leat_pool_run(work->pool, &rows, err);
}

static void add_parts(leat_summary *summary, const tally *from) {
    for (int split = 0; split <= LEAT_SPLITS; split++) {
        for (int version = 0; version < 2; version++) {
            const leat_distribution *dist = &from->rtt_ns[split][version];
            leat_distribution_merge(&summary->rtt_ns, dist);
            leat_distribution_merge(&summary->rtt_ns_by_part[split][version], dist);
        }
    }
    for (int hour = 0; hour < 24; hour++)
        leat_distribution_merge(&summary->rtt_ns_by_hour[hour], &from->rtt_ns_by_hour[hour]);
    for (int loss = 0; loss < LEAT_LOSSES; loss++)
        summary->rows_by_loss[loss] += from->rows_by_loss[loss];
    for (int k = 0; k < summary->top_count; k++) {
        summary->top[k].measurements_read += from->top_measurements[k];
        summary->top[k].failures += from->top_failures[k];
    }
}

static void add_courses(job *work) {
    for (int i = 0; i < LEAT_SUMMARY_COURSES; i++) {
        leat_summary_course *course = &work->summary->top_course[i];
        for (int part = 0; part < LEAT_SUMMARY_COURSE; part++) {
            __int128 ns = 0;
            for (int k = 0; k < work->options->threads; k++) {
                course->answers[part] += work->tallies[k].course_answers[i][part];
                ns += work->tallies[k].course_ns[i][part];
            }
            course->ms[part] = (double)ns * 1e-6;
            const leat_distribution *dist =
                &work->shared->course_ns[i * LEAT_SUMMARY_COURSE + part];
            if (dist->count > 0)
                work->summary->top_median_ns[i][part] = leat_distribution_quantile(dist, 0.5);
        }
    }
}

static leat_code add_tallies(job *work, leat_error *err) {
    leat_summary *summary = work->summary;
    for (int i = 0; i < work->options->threads; i++) {
        tally *from = &work->tallies[i];
        LEAT_TRY(share_destinations(work, from, err));
        leat_distribution_merge(&summary->gap_us, &from->gap_us);
        leat_timeline_merge(&summary->timeline, &from->timeline);
        add_parts(summary, from);
        summary->rows_read += from->rows;
        summary->measurements_read += from->measurements;
        summary->bytes_read += from->bytes;
        summary->duplicates_read += from->duplicates;
        for (int version = 0; version < 2; version++) {
            summary->values_by_version[version] += from->values[version];
            summary->failures_by_version[version] += from->failures[version];
        }
    }
    add_courses(work);
    leat_destinations_summarise(&work->shared->destinations, summary);
    return LEAT_OK;
}

/* ---- Facts, in order ---------------------------------------------------------------------- */

/* Larger first, then by split and number, so that the order is unique. */
static bool is_larger(const leat_summary_probe *a, const leat_summary_probe *b) {
    if (a->measurements != b->measurements) return a->measurements > b->measurements;
    if (a->split != b->split) return a->split < b->split;
    return a->src_id < b->src_id;
}

static void finish_probe(leat_summary *summary, const leat_summary_probe *probe) {
    if (probe->rows == 0) return;
    leat_distribution_add(&summary->probe_measurements, probe->measurements, 1);
    summary->split[probe->split].probes++;
    summary->all.probes++;
    int at = summary->top_count;
    if (at == LEAT_SUMMARY_TOP) {
        if (!is_larger(probe, &summary->top[at - 1])) return;
        at--;
    } else {
        summary->top_count++;
    }
    for (; at > 0 && is_larger(probe, &summary->top[at - 1]); at--)
        summary->top[at] = summary->top[at - 1];
    summary->top[at] = *probe;
}

static void add_to_probe(leat_summary *summary, leat_summary_probe *probe, leat_split split,
                         const leat_row_facts *facts, int64_t row) {
    if (probe->rows == 0 || probe->src_id != facts->src_id || probe->split != split) {
        finish_probe(summary, probe);
        memset(probe, 0, sizeof *probe);
        probe->src_id = facts->src_id;
        probe->split = split;
        probe->first_row = row;
        probe->first_us = facts->first_us;
        probe->last_us = facts->last_us;
    }
    probe->rows++;
    probe->measurements += facts->n_measurements;
    probe->record_bytes += facts->record_bytes;
    if (row < probe->first_row) probe->first_row = row;
    if (facts->first_us < probe->first_us) probe->first_us = facts->first_us;
    if (facts->last_us > probe->last_us) probe->last_us = facts->last_us;
}

static void widen(int64_t *first_us, int64_t *last_us, bool fresh, const leat_row_facts *facts) {
    if (fresh || facts->first_us < *first_us) *first_us = facts->first_us;
    if (fresh || facts->last_us > *last_us) *last_us = facts->last_us;
}

static void add_to_part(leat_summary_part *part, const leat_row_facts *facts) {
    part->rows++;
    part->measurements += facts->n_measurements;
    part->record_bytes += facts->record_bytes;
}

static void count_row(leat_summary *summary, const leat_row_facts *facts) {
    leat_summary_shard *shard = &summary->shards[facts->shard];
    int version = facts->ip_version == 4 ? 0 : facts->ip_version == 6 ? 1 : 2;
    if (facts->n_measurements > 0) {
        widen(&summary->first_us, &summary->last_us, summary->all.measurements == 0, facts);
        widen(&shard->first_us, &shard->last_us, shard->measurements == 0, facts);
    }
    add_to_part(&summary->all, facts);
    add_to_part(&summary->split[shard->split], facts);
    shard->rows++;
    shard->measurements += facts->n_measurements;
    summary->rows_by_version[version]++;
    summary->measurements_by_version[version] += facts->n_measurements;
    leat_distribution_add(&summary->record_bytes, facts->record_bytes, 1);
    leat_distribution_add(&summary->row_measurements, facts->n_measurements, 1);
    leat_distribution_add(&summary->row_span_us, facts->last_us - facts->first_us, 1);
}

/* Third-party rows may be in any order: they are grouped by sorting their numbers. */
typedef struct keyed_row {
    int64_t src_id, row;
    leat_split split;
} keyed_row;

static int compare_keyed(const void *a, const void *b) {
    const keyed_row *x = a, *y = b;
    if (x->split != y->split) return x->split < y->split ? -1 : 1;
    if (x->src_id != y->src_id) return x->src_id < y->src_id ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static leat_code group_rows(job *work, const keyed_row *keys, leat_error *err) {
    leat_summary_probe probe = {0};
    leat_row_facts facts;
    for (int64_t i = 0; i < work->row_count; i++) {
        int64_t row = keys == NULL ? i : keys[i].row;
        LEAT_TRY(leat_dataset_row(work->dataset, row, &facts, err));
        add_to_probe(work->summary, &probe, work->summary->shards[facts.shard].split, &facts, row);
    }
    finish_probe(work->summary, &probe);
    return LEAT_OK;
}

static leat_code count_facts(job *work, leat_error *err) {
    leat_summary *summary = work->summary;
    leat_row_facts facts;
    leat_code code = LEAT_OK;
    keyed_row *keys = NULL;
    if (!summary->ours) LEAT_TRY(LEAT_NEW(&keys, work->row_count, err));
    for (int64_t row = 0; row < work->row_count && code == LEAT_OK; row++) {
        code = leat_dataset_row(work->dataset, row, &facts, err);
        if (code != LEAT_OK) break;
        count_row(summary, &facts);
        if (keys != NULL)
            keys[row] = (keyed_row){facts.src_id, row, summary->shards[facts.shard].split};
    }
    if (code == LEAT_OK && keys != NULL)
        qsort(keys, (size_t)work->row_count, sizeof *keys, compare_keyed);
    if (code == LEAT_OK) code = group_rows(work, keys, err);
    leat_free(keys);
    for (int64_t k = 0; k < summary->shard_count; k++)
        leat_distribution_add(&summary->shard_rows, summary->shards[k].rows, 1);
    return code;
}

static leat_code list_shards(leat_summary *summary, const leat_dataset *dataset,
                             const leat_dataset_facts *facts, leat_error *err) {
    LEAT_TRY(LEAT_NEW(&summary->shards, facts->shard_count, err));
    for (int64_t k = 0; k < facts->shard_count; k++) {
        leat_dataset_shard from;
        leat_summary_shard *shard = &summary->shards[k];
        char *path = NULL;
        LEAT_TRY(leat_dataset_get_shard(dataset, k, &from, err));
        LEAT_TRY(leat_strdup(&path, from.name, err));
        shard->path = path;
        summary->shard_count = k + 1;
        shard->split = from.split;
        shard->file_bytes = from.file_bytes;
        summary->split[from.split].shards++;
        summary->split[from.split].file_bytes += from.file_bytes;
        summary->all.shards++;
        summary->all.file_bytes += from.file_bytes;
    }
    return LEAT_OK;
}

/* ---- Rows in words ------------------------------------------------------------------------ */

static void copy_address(char to[LEAT_PROBE_SRC_BYTES], const char *text, int64_t size_bytes) {
    if (size_bytes > LEAT_PROBE_SRC_BYTES - 1) size_bytes = LEAT_PROBE_SRC_BYTES - 1;
    if (size_bytes > 0) memcpy(to, text, (size_t)size_bytes);
    to[size_bytes > 0 ? size_bytes : 0] = 0;
}

static void add_to_course(const leat_summary *summary, int64_t time_us, float rtt,
                          leat_summary_row *out) {
    int part = course_part(summary, time_us);
    if (part < 0) return;
    out->course.answers[part]++;
    out->course.ms[part] += rtt;
}

static void describe_values(const leat_summary *summary, const leat_measurements *m,
                            leat_summary_row *out) {
    out->measurements = m->count;
    if (m->count > 0) memcpy(out->src, m->addresses[m->src[0]].text, sizeof m->addresses->text);
    for (int64_t i = 0; i < m->count; i++) {
        if (m->rtt[i] < 0) out->failures++;
        else add_to_course(summary, m->time_us[i], m->rtt[i], out);
        if (i >= LEAT_SUMMARY_SHOWN) continue;
        leat_summary_measurement *shown = &out->shown[out->shown_count++];
        shown->time_us = m->time_us[i];
        shown->rtt = m->rtt[i];
        memcpy(shown->dst, m->addresses[m->dst[i]].text, sizeof m->addresses->text);
    }
}

static leat_code describe_row(job *work, int64_t row, leat_row *cursor, leat_summary_row *out,
                              leat_error *err) {
    LEAT_TRY(leat_dataset_row_open(work->dataset, row, cursor, err));
    const leat_row_facts facts = *leat_row_get_facts(cursor);
    LEAT_TRY(leat_dataset_row_decode(cursor, &work->tallies[0].values_of_row, err));
    out->row = row;
    out->shard = facts.shard;
    out->record = facts.record_index;
    out->src_id = facts.src_id;
    out->ip_version = facts.ip_version;
    out->record_bytes = facts.record_bytes;
    out->first_us = facts.first_us;
    out->last_us = facts.last_us;
    describe_values(work->summary, &work->tallies[0].values_of_row, out);
    return LEAT_OK;
}

static leat_code name_probes(job *work, leat_row *cursor, leat_error *err) {
    leat_summary *summary = work->summary;
    leat_measurement first;
    for (int i = 0; i < summary->top_count; i++) {
        leat_summary_probe *probe = &summary->top[i];
        LEAT_TRY(leat_dataset_row_open(work->dataset, probe->first_row, cursor, err));
        if (leat_row_get_facts(cursor)->n_measurements == 0) continue;
        LEAT_TRY(leat_row_measurement(cursor, 0, &first, err));
        copy_address(probe->src, first.src, first.src_size);
    }
    return LEAT_OK;
}

/* Rows spread evenly over the data set, the first and the last among them. */
static leat_code describe(job *work, leat_error *err) {
    leat_summary *summary = work->summary;
    leat_row *cursor = NULL;
    int64_t wanted = work->options->row_count;
    if (wanted > work->row_count) wanted = work->row_count;
    LEAT_TRY(LEAT_NEW(&summary->rows, wanted, err));
    LEAT_TRY(leat_row_create(&cursor, work->dataset, err));
    leat_code code = name_probes(work, cursor, err);
    for (int64_t i = 0; i < wanted && code == LEAT_OK; i++) {
        int64_t row =
            wanted == 1 ? 0 : (int64_t)((__int128)i * (work->row_count - 1) / (wanted - 1));
        code = describe_row(work, row, cursor, &summary->rows[i], err);
        if (code == LEAT_OK) summary->row_count = i + 1;
    }
    leat_row_destroy(cursor);
    return code;
}

/* ---- All together ------------------------------------------------------------------------- */

static bool sample_has_a_row(const job *work) {
    int64_t all = work->summary->all.record_bytes;
    for (int64_t row = 0; row < work->row_count; row++)
        if (leat_subset_has(row, work->options->read_bytes_max, all)) return true;
    return false;
}

static leat_code summarise(job *work, const leat_dataset_facts *facts, leat_error *err) {
    leat_summary *summary = work->summary;
    summary->ours = facts->indexed;
    if (facts->probe != NULL) snprintf(summary->probe, sizeof summary->probe, "%s", facts->probe);
    LEAT_TRY(leat_dataset_fingerprint(work->dataset, summary->fingerprint, err));
    LEAT_TRY(list_shards(summary, work->dataset, facts, err));
    LEAT_TRY(leat_summary_read_ingest(work->dataset, &summary->ingest, err));
    if (!summary->ours) LEAT_TRY(run_pass(work, true, err));
    LEAT_TRY(count_facts(work, err));
    if (work->options->read_bytes_max != 0) {
        work->any = sample_has_a_row(work);
        LEAT_TRY(run_pass(work, false, err));
        LEAT_TRY(add_tallies(work, err));
    }
    return describe(work, err);
}

static leat_code make_workers(job *work, leat_error *err) {
    int threads = work->options->threads;
    LEAT_TRY(LEAT_NEW(&work->tallies, threads, err));
    for (int i = 0; i < threads; i++) {
        work->tallies[i].destinations.most = DESTINATIONS_AT_ONCE;
        LEAT_TRY(leat_row_create(&work->tallies[i].cursor, work->dataset, err));
    }
    return leat_pool_create(&work->pool, threads, err);
}

static void remove_workers(job *work) {
    leat_pool_destroy(work->pool);
    for (int i = 0; work->tallies != NULL && i < work->options->threads; i++) {
        leat_row_destroy(work->tallies[i].cursor);
        leat_measurements_free(&work->tallies[i].values_of_row);
        leat_free(work->tallies[i].spots);
        leat_destinations_free(&work->tallies[i].destinations);
    }
    leat_free(work->tallies);
}

leat_code leat_summary_create(leat_summary **out, leat_dataset *dataset,
                              const leat_summary_options *options, leat_error *err) {
    leat_summary_options chosen = options != NULL ? *options : leat_summary_options_default();
    leat_dataset_facts facts;
    *out = NULL;
    if (chosen.threads < 1 || chosen.threads > LEAT_THREADS_MAX)
        return leat_fail(err, LEAT_ERR_OPTION, "summary: threads is %d; it must be 1 to %d",
                         chosen.threads, LEAT_THREADS_MAX);
    if (chosen.row_count < 0 || chosen.row_count > LEAT_SUMMARY_ROWS_MAX)
        return leat_fail(err, LEAT_ERR_OPTION, "summary: row_count is %lld; it must be 0 to %d",
                         (long long)chosen.row_count, LEAT_SUMMARY_ROWS_MAX);
    leat_dataset_get_facts(dataset, &facts);
    chosen.threads = leat_dataset_share(dataset, chosen.threads);
    shared common = {.destinations.most = LEAT_SUMMARY_DESTINATIONS};
    job work = {
        .dataset = dataset, .options = &chosen, .row_count = facts.row_count, .shared = &common};
    LEAT_TRY(LEAT_NEW(&work.summary, 1, err));
    pthread_mutex_init(&common.lock, NULL);
    leat_ticker_create(&work.ticker, chosen.progress, chosen.progress_user);
    leat_code code = LEAT_NEW(&common.course_ns, LEAT_SUMMARY_COURSES * LEAT_SUMMARY_COURSE, err);
    if (code == LEAT_OK) code = make_workers(&work, err);
    if (code == LEAT_OK) code = summarise(&work, &facts, err);
    leat_ticker_destroy(&work.ticker);
    remove_workers(&work);
    leat_destinations_free(&common.destinations);
    leat_free(common.course_ns);
    pthread_mutex_destroy(&common.lock);
    if (code != LEAT_OK) {
        leat_summary_destroy(work.summary);
        return code;
    }
    *out = work.summary;
    return LEAT_OK;
}

void leat_summary_destroy(leat_summary *summary) {
    if (summary == NULL) return;
    for (int64_t k = 0; k < summary->shard_count; k++) leat_free((void *)summary->shards[k].path);
    leat_free(summary->shards);
    leat_free(summary->rows);
    leat_free(summary);
}
