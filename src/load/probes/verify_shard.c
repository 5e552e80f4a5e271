/*
 * One shard, checked in three ways: its bytes against the manifest and the index, its structure
 * against the format, and its records one by one against everything that manifest and index state
 * about them. Each step reports its findings and continues as far as possible.
 */
#include <string.h>

#include "base/address.h"
#include "base/mem.h"
#include "format/arrayrecord/arrayrecord.h"
#include "format/probe/row.h"
#include "load/probes/verify.h"

#define READ_BYTES (INT64_C(1) << 20) /* a multiple of LEAT_PAGE_BYTES */
#define FAILED_CHUNKS 64              /* remembered, so that damage is reported once */

int leat_verify_compare_text(const leat_probe_address *a, const leat_probe_address *b) {
    int shorter = a->text_bytes < b->text_bytes ? a->text_bytes : b->text_bytes;
    int order = memcmp(a->text, b->text, (size_t)shorter);
    if (order != 0) return order < 0 ? -1 : 1;
    return a->text_bytes < b->text_bytes ? -1 : a->text_bytes > b->text_bytes;
}

/* ---- Bytes -------------------------------------------------------------------------------- */

typedef struct page_check {
    int64_t pages, differ, first;
    bool unreadable;
    leat_error err;
} page_check;

static void check_pages(const leat_verify_shard *shard, const uint8_t *bytes, int64_t size_bytes,
                        page_check *check) {
    const leat_index_shard *facts = leat_index_shard_get(shard->index, shard->index_shard);
    for (int64_t at = 0; at < size_bytes; at += LEAT_PAGE_BYTES) {
        int64_t size = size_bytes - at < LEAT_PAGE_BYTES ? size_bytes - at : LEAT_PAGE_BYTES;
        int64_t page = check->pages++;
        uint64_t hash = 0;
        if (page >= facts->page_count || check->unreadable) continue;
        if (leat_index_page_hash(shard->index, shard->index_shard, page, &hash, &check->err) !=
            LEAT_OK) {
            check->unreadable = true; /* the entire index is reported elsewhere */
            continue;
        }
        if (hash == leat_xxh3(bytes + at, size)) continue;
        if (check->differ++ == 0) check->first = page;
    }
}

/* A file that is read from its first byte to its last. */
typedef struct whole_file {
    leat_file *file;
    int64_t size_bytes;
    uint8_t *room; /* [READ_BYTES] */
    leat_sha256 sha;
    page_check pages;
} whole_file;

static leat_code read_bytes(leat_verify_job *job, const leat_verify_shard *shard, whole_file *of,
                            leat_error *err) {
    for (int64_t at = 0; at < of->size_bytes; at += READ_BYTES) {
        int64_t size = of->size_bytes - at < READ_BYTES ? of->size_bytes - at : READ_BYTES;
        LEAT_TRY(leat_file_pread(of->file, of->room, size, at, err));
        leat_sha256_update(&of->sha, of->room, size);
        if (shard->index != NULL) check_pages(shard, of->room, size, &of->pages);
        if (!leat_ticker_add(&job->ticker, size)) break;
    }
    return LEAT_OK;
}

static void judge_bytes(leat_verify_shard *shard, whole_file *of) {
    const page_check *pages = &of->pages;
    uint8_t digest[32];
    if (of->size_bytes != shard->info->file_bytes)
        LEAT_PROBLEM(&shard->findings, shard->name, -1,
                     "has %lld bytes, but the manifest says %lld", (long long)of->size_bytes,
                     (long long)shard->info->file_bytes);
    leat_sha256_final(&of->sha, digest);
    if (memcmp(digest, shard->info->file_sha256, 32) != 0)
        LEAT_PROBLEM(&shard->findings, shard->name, -1,
                     "its SHA-256 differs from the manifest's; the file was changed");
    if (pages->differ > 0)
        LEAT_PROBLEM(&shard->findings, shard->name, -1,
                     "%lld of %lld pages differ from their hash in the index, the first at byte "
                     "%lld",
                     (long long)pages->differ, (long long)pages->pages,
                     (long long)(pages->first * LEAT_PAGE_BYTES));
}

/* *there is false if the file cannot be read at all. */
static leat_code check_bytes(leat_verify_job *job, leat_verify_shard *shard, bool *there,
                             leat_error *err) {
    leat_error cause = {0};
    whole_file of = {0};
    *there = false;
    if (leat_file_open(&of.file, shard->path, LEAT_FILE_READ, &cause) != LEAT_OK ||
        leat_file_size(of.file, &of.size_bytes, &cause) != LEAT_OK) {
        leat_file_close(of.file);
        LEAT_PROBLEM(&shard->findings, shard->name, -1, "%s", cause.message);
        return cause.code == LEAT_ERR_MEMORY ? leat_error_copy(err, &cause) : LEAT_OK;
    }
    leat_code code = LEAT_NEW(&of.room, READ_BYTES, err);
    if (code == LEAT_OK) {
        leat_sha256_init(&of.sha);
        leat_code read = read_bytes(job, shard, &of, &cause);
        if (read != LEAT_OK) LEAT_PROBLEM(&shard->findings, shard->name, -1, "%s", cause.message);
        *there = read == LEAT_OK;
        shard->file_bytes = of.size_bytes;
        if (*there && shard->info != NULL) judge_bytes(shard, &of);
    }
    leat_free(of.room);
    leat_file_close(of.file);
    return code;
}

/* ---- Records ------------------------------------------------------------------------------ */

typedef struct record_check {
    leat_verify_job *job;
    leat_verify_shard *shard;
    leat_measurements values;
    leat_probe_row_info row;
    int ip_version;               /* of the row: 4, 6, 0 both */
    int64_t dst_bytes, src_bytes; /* of the row's texts */
    leat_sha256 sha;
    int64_t first_us, last_us; /* of the shard */
    /* The row before: */
    bool any;
    int64_t src_id, n, n_src_bytes, n_dst_bytes;
    leat_probe_address src, last_src, last_dst; /* of its first and its last measurement */
    int64_t last_time_us;
    float last_rtt;
    int64_t foreign_ids, backward_rows; /* third-party rows, counted */
    int64_t failed_chunk[FAILED_CHUNKS];
    int failed_chunks;
} record_check;

static void record_problem(record_check *check, int64_t record, const char *words) {
    LEAT_PROBLEM(&check->shard->findings, check->shard->name, record, "%s", words);
}

/* What measurements are sorted by. */
typedef struct sort_key {
    int64_t time_us;
    const leat_probe_address *dst, *src;
    float rtt;
} sort_key;

static sort_key key_of(const leat_measurements *m, int64_t i) {
    return (sort_key){m->time_us[i], &m->addresses[m->dst[i]], &m->addresses[m->src[i]], m->rtt[i]};
}

/* The total order of measurements: time, destination text, source text, rtt as stored. */
static int compare_measurements(sort_key a, sort_key b) {
    if (a.time_us != b.time_us) return a.time_us < b.time_us ? -1 : 1;
    int order = leat_verify_compare_text(a.dst, b.dst);
    if (order == 0) order = leat_verify_compare_text(a.src, b.src);
    if (order != 0) return order;
    return a.rtt < b.rtt ? -1 : a.rtt > b.rtt;
}

/* One pass over the values: order, version, bytes of the texts. */
static void look_at_values(record_check *check, int64_t record) {
    const leat_measurements *m = &check->values;
    const leat_verify_rules *rules = check->shard->rules;
    bool ours = rules != NULL, sources_differ = false, backward = false;
    int64_t disorder = -1;
    int versions = 0;
    check->dst_bytes = check->src_bytes = 0;
    for (int64_t i = 0; i < m->count; i++) {
        const leat_probe_address *dst = &m->addresses[m->dst[i]];
        check->dst_bytes += dst->text_bytes;
        check->src_bytes += m->addresses[m->src[i]].text_bytes;
        versions |= m->ip_version[i] == 6 ? 2 : 1;
        if (i == 0) continue;
        if (leat_verify_compare_text(&m->addresses[m->src[i]], &m->addresses[m->src[0]]) != 0)
            sources_differ = true;
        if (m->time_us[i] < m->time_us[i - 1]) backward = true;
        if (disorder < 0 && compare_measurements(key_of(m, i - 1), key_of(m, i)) > 0) disorder = i;
    }
    check->ip_version = versions == 1 ? 4 : versions == 2 ? 6 : 0;
    if (sources_differ && (!ours || !rules->named || rules->dictionary_src))
        record_problem(check, record, "its measurements have different sources");
    if (backward && !ours) check->backward_rows++;
    if (disorder >= 0 && ours)
        LEAT_PROBLEM(&check->shard->findings, check->shard->name, record,
                     "measurement %lld is out of order: measurements are sorted by (event_time, "
                     "dst_addr, %srtt)",
                     (long long)disorder, rules->named ? "src_addr, " : "");
}

/* What the writer of leat would have written for these facts: its frame must be this record's. */
static leat_code check_frame(record_check *check, const leat_ar_record *record, int64_t index,
                             leat_error *err) {
    const leat_measurements *m = &check->values;
    const leat_verify_rules *rules = check->shard->rules;
    leat_probe_plan plan;
    leat_error cause = {0};
    if (m->count == 0) return LEAT_OK;
    leat_probe_facts facts = {.src_id = check->row.src_id,
                              .n_measurements = m->count,
                              .first_us = check->row.first_us,
                              .last_us = check->row.last_us,
                              .dst_bytes = check->dst_bytes,
                              .src_bytes = check->src_bytes,
                              .own_sources = rules->named && !rules->dictionary_src};
    const leat_probe_address *src = &m->addresses[m->src[0]];
    facts.src_size = src->text_bytes;
    memcpy(facts.src, src->text, src->text_bytes);
    leat_code code = leat_probe_plan_row(&facts, rules->dictionary_src, &plan, &cause);
    if (code == LEAT_ERR_MEMORY) return leat_error_copy(err, &cause);
    bool same = code == LEAT_OK && plan.record_bytes == record->size_bytes;
    for (int i = 0; same && i < plan.piece_count; i++) {
        const leat_probe_piece *piece = &plan.pieces[i];
        const uint8_t *bytes = record->data + piece->offset_bytes;
        if (piece->column == -1)
            same = memcmp(bytes, plan.frame + piece->frame, (size_t)piece->size_bytes) == 0;
        for (int k = 0; same && k < piece->pad_bytes; k++) same = bytes[piece->size_bytes + k] == 0;
    }
    if (!same)
        record_problem(check, index,
                       "the record is valid, but not as this version of leat writes it");
    return LEAT_OK;
}

static int64_t inner_bytes(const record_check *check, int64_t n, int64_t src_bytes,
                           int64_t dst_bytes) {
    return leat_probe_measurements_bytes(n, src_bytes, dst_bytes,
                                         check->shard->rules->dictionary_src);
}

/* Rows of a probe are cut exactly where the next measurement would pass the limit. */
static void check_cut(record_check *check, int64_t record, bool goes_on) {
    const leat_verify_rules *rules = check->shard->rules;
    const leat_measurements *m = &check->values;
    if (!rules->knows_rows || m->count == 0) return;
    int64_t limit = rules->max_row_bytes > 0 ? rules->max_row_bytes : LEAT_PROBE_MEASUREMENTS_MAX;
    int64_t src_size = m->addresses[m->src[0]].text_bytes;
    int64_t size = inner_bytes(check, m->count, check->src_bytes, check->dst_bytes);
    if (size > limit && m->count > 1)
        LEAT_PROBLEM(&check->shard->findings, check->shard->name, record,
                     "its measurements take %lld bytes, more than the row limit of %lld",
                     (long long)size, (long long)limit);
    if (!goes_on) return;
    int64_t with_next = inner_bytes(check, check->n + 1, check->n_src_bytes + src_size,
                                    check->n_dst_bytes + m->addresses[m->dst[0]].text_bytes);
    if (with_next <= limit)
        record_problem(
            check, record,
            "the previous row was cut too early: the first measurement of this row fits into it");
}

static leat_code note_probe(record_check *check, const leat_probe_address *src, leat_error *err) {
    leat_verify_shard *shard = check->shard;
    LEAT_TRY(LEAT_GROW(&shard->probes, &shard->probe_capacity, shard->probe_count + 1, err));
    shard->probes[shard->probe_count++] = check->row.src_id;
    if (!shard->any_address || leat_verify_compare_text(src, &shard->least) < 0)
        shard->least = *src;
    if (!shard->any_address || leat_verify_compare_text(src, &shard->greatest) > 0)
        shard->greatest = *src;
    shard->any_address = true;
    return LEAT_OK;
}

/* A row written by leat against the row before it and against the rules of shards and splits. */
static void check_place(record_check *check, int64_t record, bool goes_on) {
    const leat_verify_shard *shard = check->shard;
    const leat_verify_rules *rules = shard->rules;
    const leat_measurements *m = &check->values;
    int64_t src_id = check->row.src_id;
    if (check->any && src_id < check->src_id)
        record_problem(check, record, "its src_id is smaller than that of the previous row");
    sort_key last = {check->last_time_us, &check->last_dst, &check->last_src, check->last_rtt};
    if (goes_on && m->count > 0 && compare_measurements(last, key_of(m, 0)) > 0)
        record_problem(check, record,
                       "its first measurement is earlier than the last one of the previous row, of "
                       "the same probe");
    if (goes_on && m->count > 0 && !rules->named &&
        leat_verify_compare_text(&check->src, &m->addresses[m->src[0]]) != 0)
        record_problem(check, record, "two addresses have the same src_id");
    int64_t place = src_id < 0 || src_id >= LEAT_SRC_ID_END
                        ? -1
                        : leat_layout_shard_of(src_id, rules->shard_count[shard->split]);
    if (place != shard->number)
        LEAT_PROBLEM(&check->shard->findings, shard->name, record,
                     "src_id %lld belongs to shard %lld of the split", (long long)src_id,
                     (long long)place);
    if (!goes_on && rules->knows_split && !rules->ordered &&
        leat_layout_hash_split(rules->seed, rules->train_ratio, src_id) != shard->split)
        LEAT_PROBLEM(&check->shard->findings, shard->name, record,
                     "probe %lld belongs to the other split by the hash rule", (long long)src_id);
}

static void check_index(record_check *check, int64_t record, int64_t chunk_offset,
                        int64_t record_bytes) {
    const leat_verify_shard *shard = check->shard;
    leat_index_row row;
    leat_error cause = {0};
    if (shard->index == NULL) return;
    const leat_index_shard *facts = leat_index_shard_get(shard->index, shard->index_shard);
    if (record >= facts->row_count) return; /* reported once, as a difference in number */
    if (leat_index_row_get(shard->index, facts->first_row + record, &row, &cause) != LEAT_OK) {
        record_problem(check, record, cause.message);
        return;
    }
    const struct {
        const char *name;
        int64_t in_index, in_record;
    } fields[] = {
        {"src_id", row.src_id, check->row.src_id},
        {"n_measurements", row.n_measurements, check->row.n_measurements},
        {"first time", row.first_us, check->row.first_us},
        {"last time", row.last_us, check->row.last_us},
        {"place", row.chunk_offset, chunk_offset},
        {"size", row.record_bytes, record_bytes},
        {"ip_version", row.ip_version, check->ip_version},
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (fields[i].in_index == fields[i].in_record) continue;
        LEAT_PROBLEM(&check->shard->findings, shard->name, record,
                     "%s is %lld, but the index says %lld", fields[i].name,
                     (long long)fields[i].in_record, (long long)fields[i].in_index);
    }
}

static void remember_row(record_check *check) {
    const leat_measurements *m = &check->values;
    check->any = true;
    check->src_id = check->row.src_id;
    check->n = m->count;
    check->n_src_bytes = check->src_bytes;
    check->n_dst_bytes = check->dst_bytes;
    if (m->count == 0) return;
    check->src = m->addresses[m->src[0]];
    check->last_src = m->addresses[m->src[m->count - 1]];
    check->last_dst = m->addresses[m->dst[m->count - 1]];
    check->last_time_us = m->time_us[m->count - 1];
    check->last_rtt = m->rtt[m->count - 1];
}

/* A third-party record that --memory does not allow for: not damage, but it cannot be checked
 * further. */
static leat_code too_large(const record_check *check, int64_t index, int64_t needed, int64_t more,
                           leat_error *err) {
    leat_reading *reading = &check->job->reading;
    return leat_fail(
        err, LEAT_ERR_LIMIT,
        "\"%s\", record %lld: reading it requires %lld MiB of memory, more than is left "
        "of the %lld MiB of --memory; use --memory %lldM",
        check->shard->name, (long long)index, (long long)(needed >> 20) + 1,
        (long long)(reading->memory_bytes >> 20), (long long)leat_reading_least_mib(reading, more));
}

static leat_code check_row(record_check *check, const leat_ar_record *record, int64_t index,
                           int64_t chunk_offset, leat_error *err) {
    leat_verify_shard *shard = check->shard;
    leat_probe_read_options options = leat_probe_read_options_default();
    leat_error cause = {0};
    int64_t needed = 0;
    options.verify = shard->rules != NULL && !shard->rules->named;
    options.needed_bytes = &needed;
    if (shard->rules == NULL) options.max_decoded_bytes = check->job->reading.table_max;
    leat_code code = leat_probe_record_decode(record->data, record->size_bytes, &options,
                                              &check->values, &check->row, &cause);
    if (code == LEAT_ERR_MEMORY) return leat_error_copy(err, &cause);
    if (code == LEAT_ERR_LIMIT && needed > 0 && shard->rules == NULL) {
        leat_reading *reading = &check->job->reading;
        return too_large(check, index, needed, leat_reading_table_bytes(reading, needed), err);
    }
    if (code != LEAT_OK) {
        record_problem(check, index, cause.message);
        return LEAT_OK;
    }
    const leat_measurements *m = &check->values;
    shard->rows++;
    shard->measurements += m->count;
    if (m->count > 0 && (shard->measurements == m->count || check->row.first_us < check->first_us))
        check->first_us = check->row.first_us;
    if (m->count > 0 && (shard->measurements == m->count || check->row.last_us > check->last_us))
        check->last_us = check->row.last_us;
    look_at_values(check, index);
    bool goes_on = check->any && check->src_id == check->row.src_id;
    static const leat_probe_address none;
    const leat_probe_address *src = m->count > 0 ? &m->addresses[m->src[0]] : &none;
    if (!goes_on) LEAT_TRY(note_probe(check, src, err));
    if (shard->rules == NULL) {
        if (m->count > 0 && leat_address_src_id(src->text, src->text_bytes) != check->row.src_id)
            check->foreign_ids++;
    } else {
        if (m->count == 0) record_problem(check, index, "has no measurements");
        check_place(check, index, goes_on);
        check_cut(check, index, goes_on);
        LEAT_TRY(check_frame(check, record, index, err));
        check_index(check, index, chunk_offset, record->size_bytes);
    }
    remember_row(check);
    return LEAT_OK;
}

/* The SHA-256 of a shard's records: each preceded by its length. */
static void hash_record(leat_sha256 *sha, const leat_ar_record *record) {
    uint8_t size[8];
    for (int i = 0; i < 8; i++) size[i] = (uint8_t)((uint64_t)record->size_bytes >> (8 * i));
    leat_sha256_update(sha, size, 8);
    leat_sha256_update(sha, record->data, record->size_bytes);
}

static void judge_records(record_check *check, int64_t record_count, bool all_read) {
    leat_verify_shard *shard = check->shard;
    leat_findings *findings = &shard->findings;
    uint8_t digest[32];
    const leat_shard_info *info = shard->info;
    if (info == NULL) {
        if (check->foreign_ids > 0)
            LEAT_NOTE(findings, shard->name, -1,
                      "src_id of %lld of %lld rows is not the MD5 of the source: assigned by a "
                      "third party",
                      (long long)check->foreign_ids, (long long)shard->rows);
        if (check->backward_rows > 0)
            LEAT_NOTE(findings, shard->name, -1, "%lld of %lld rows are not in order of time",
                      (long long)check->backward_rows, (long long)shard->rows);
        return;
    }
    leat_sha256_final(&check->sha, digest);
    if (all_read && memcmp(digest, info->records_sha256, 32) != 0)
        LEAT_PROBLEM(
            findings, shard->name, -1,
            "the SHA-256 of its records differs from the manifest's; records were changed");
    if (shard->index != NULL) {
        const leat_index_shard *facts = leat_index_shard_get(shard->index, shard->index_shard);
        if (facts->row_count != record_count)
            LEAT_PROBLEM(findings, shard->name, -1, "has %lld records, but the index says %lld",
                         (long long)record_count, (long long)facts->row_count);
    }
    const struct {
        const char *name;
        int64_t found, stated;
    } totals[] = {
        {"records", record_count, info->row_count},
        {"measurements", shard->measurements, info->measurement_count},
        {"us as first time", check->first_us, info->first_us},
        {"us as last time", check->last_us, info->last_us},
    };
    for (size_t i = 0; i < sizeof totals / sizeof totals[0]; i++) {
        if (totals[i].found == totals[i].stated || (i > 0 && !all_read)) continue;
        LEAT_PROBLEM(findings, shard->name, -1, "has %lld %s, but the manifest says %lld",
                     (long long)totals[i].found, totals[i].name, (long long)totals[i].stated);
    }
}

/* The chunk of a third-party file that is decoded, and the memory reserved for it. */
typedef struct open_chunk {
    const leat_ar_reader *reader;
    leat_ar_record *record;
    int64_t index, taken;
} open_chunk;

static void leave_chunk(record_check *check, open_chunk *open) {
    if (open->taken > 0) leat_ar_record_free(open->record);
    leat_reading_leave(&check->job->reading, open->taken);
    open->index = -1;
    open->taken = 0;
}

/* `first`: the number of its first record that is read. */
static leat_code enter_chunk(record_check *check, open_chunk *open, int64_t index, int64_t first,
                             leat_error *err) {
    const leat_ar_reader *reader = open->reader;
    if (check->shard->rules != NULL || open->index == index) return LEAT_OK;
    leave_chunk(check, open);
    leat_reading_chunk chunk = {.record_count = leat_ar_reader_chunk(reader, index).record_count};
    open->index = index;
    /* a damaged header is reported when it is read next */
    if (leat_ar_reader_measure(reader, index, &chunk.file_bytes, &chunk.decoded_bytes, NULL) !=
        LEAT_OK) {
        return LEAT_OK;
    }
    leat_code code = leat_reading_enter(&check->job->reading, &chunk, &open->taken, err);
    if (code == LEAT_OK) return LEAT_OK;
    return leat_error_context(err, code, "\"%s\", record %lld", check->shard->name,
                              (long long)first);
}

static leat_code check_records(record_check *check, const leat_ar_reader *reader, leat_error *err) {
    leat_ar_record record = {0};
    leat_code code = LEAT_OK;
    open_chunk open = {.reader = reader, .record = &record, .index = -1};
    int64_t count = leat_ar_reader_record_count(reader), chunk = 0;
    int64_t chunk_count = leat_ar_reader_chunk_count(reader);
    bool all_read = true;
    leat_sha256_init(&check->sha);
    for (int64_t i = 0; i < count && code == LEAT_OK; i++) {
        leat_error cause = {0};
        while (chunk + 1 < chunk_count && leat_ar_reader_chunk(reader, chunk + 1).first_record <= i)
            chunk++;
        int64_t offset = leat_ar_reader_chunk(reader, chunk).offset;
        code = enter_chunk(check, &open, chunk, i, err);
        if (code != LEAT_OK) break;
        leat_code read = leat_ar_reader_read(reader, i, &record, &cause);
        int64_t need = leat_ar_record_need(&record);
        if (read == LEAT_ERR_LIMIT && check->shard->rules == NULL) {
            code = too_large(check, i, need, need, err);
            break;
        }
        if (read != LEAT_OK) {
            all_read = false;
            if (cause.code == LEAT_ERR_MEMORY) code = leat_error_copy(err, &cause);
            record_problem(check, i, cause.message);
            if (check->failed_chunks < FAILED_CHUNKS)
                check->failed_chunk[check->failed_chunks++] = offset;
            continue;
        }
        hash_record(&check->sha, &record);
        code = check_row(check, &record, i, offset, err);
        if (code == LEAT_OK) code = leat_ticker_step(&check->job->ticker, record.size_bytes, err);
    }
    leave_chunk(check, &open);
    leat_ar_record_free(&record);
    if (code == LEAT_OK) judge_records(check, count, all_read);
    return code;
}

/* ---- Structure ---------------------------------------------------------------------------- */

static bool structure_finding(void *user, const leat_ar_finding *finding) {
    record_check *check = user;
    if (finding->code == LEAT_ERR_MEMORY) return true; /* no damage: the check fails with it */
    /* A chunk whose records could not be read has been reported by record. */
    for (int i = 0; i < check->failed_chunks; i++)
        if (finding->offset == check->failed_chunk[i]) return true;
    LEAT_PROBLEM(&check->shard->findings, check->shard->name, -1, "%s", finding->message);
    return leat_ticker_add(&check->job->ticker, 0);
}

static leat_code check_structure(record_check *check, const leat_error *open_failure,
                                 leat_error *err) {
    leat_verify_shard *shard = check->shard;
    leat_ar_check structure;
    leat_error cause = {0};
    int64_t taken = 0, memory_max = 0;
    if (shard->rules == NULL) {
        memory_max = leat_reading_left(&check->job->reading);
        taken = leat_reading_enter_most(&check->job->reading, &shard->largest);
    }
    leat_code code = leat_ar_verify_within(shard->path, NULL, memory_max, structure_finding, check,
                                           &structure, &cause);
    leat_reading_leave(&check->job->reading, taken);
    if (code == LEAT_ERR_MEMORY) return leat_error_copy(err, &cause);
    /* Every failure is reported at least once. */
    if (shard->findings.problems > 0) return LEAT_OK;
    if (open_failure->code != LEAT_OK)
        LEAT_PROBLEM(&shard->findings, shard->name, -1, "%s", open_failure->message);
    else if (code != LEAT_OK && code != LEAT_ERR_CANCELLED)
        LEAT_PROBLEM(&shard->findings, shard->name, -1, "%s", cause.message);
    return LEAT_OK;
}

/* Checks without reading: the file and its size. */
static void look_at_file(leat_verify_shard *shard) {
    leat_path_facts facts;
    leat_error cause = {0};
    if (leat_path_stat(shard->path, &facts, &cause) != LEAT_OK) {
        LEAT_PROBLEM(&shard->findings, shard->name, -1, "%s", cause.message);
        return;
    }
    shard->file_bytes = facts.size_bytes;
    if (facts.kind != LEAT_PATH_FILE)
        LEAT_PROBLEM(&shard->findings, shard->name, -1,
                     facts.kind == LEAT_PATH_NONE ? "is missing" : "is not a file");
    else if (shard->info != NULL && facts.size_bytes != shard->info->file_bytes)
        LEAT_PROBLEM(&shard->findings, shard->name, -1,
                     "has %lld bytes, but the manifest says %lld", (long long)facts.size_bytes,
                     (long long)shard->info->file_bytes);
}

leat_code leat_verify_one_shard(leat_verify_job *job, leat_verify_shard *shard, leat_error *err) {
    if (job->options.quick) {
        look_at_file(shard);
        return LEAT_OK;
    }
    leat_ar_reader *reader = NULL;
    record_check *check = NULL;
    leat_error open_failure = {0};
    bool there = false;
    LEAT_TRY(check_bytes(job, shard, &there, err));
    LEAT_TRY(leat_ticker_check(&job->ticker, err));
    if (!there) return LEAT_OK;
    LEAT_TRY(LEAT_NEW(&check, 1, err));
    check->job = job;
    check->shard = shard;
    leat_code code = LEAT_OK;
    int64_t need = 0;
    int64_t memory_max = shard->rules == NULL ? leat_reading_left(&job->reading) : 0;
    if (leat_ar_reader_open_within(&reader, shard->path, memory_max, &need, &open_failure) ==
        LEAT_OK)
        code = check_records(check, reader, err);
    else if (open_failure.code == LEAT_ERR_MEMORY) code = leat_error_copy(err, &open_failure);
    if (code == LEAT_OK) code = check_structure(check, &open_failure, err);
    leat_ar_reader_close(reader);
    leat_measurements_free(&check->values);
    leat_free(check);
    return code;
}
