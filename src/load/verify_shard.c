/*
 * One shard, checked three times over: its bytes as the manifest and the index know them, its
 * structure as the format demands, and its records one by one against everything that is claimed of
 * them. Each step tells what it finds and goes on as far as there is something to look at.
 */
#include <string.h>

#include "base/address.h"
#include "base/mem.h"
#include "format/probe_row.h"
#include "load/verify.h"

#define READ_BYTES (INT64_C(1) << 20) /* a multiple of LEAT_PAGE_BYTES */
#define FAILED_CHUNKS 64              /* remembered, so that one damage is told once */

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
            check->unreadable = true; /* the index as a whole is told of elsewhere */
            continue;
        }
        if (hash == leat_xxh3(bytes + at, size)) continue;
        if (check->differ++ == 0) check->first = page;
    }
}

static leat_code read_bytes(leat_verify_job *job, const leat_verify_shard *shard, leat_file *file,
                            int64_t size_bytes, uint8_t *room, leat_sha256 *sha, page_check *pages,
                            leat_error *err) {
    for (int64_t at = 0; at < size_bytes; at += READ_BYTES) {
        int64_t size = size_bytes - at < READ_BYTES ? size_bytes - at : READ_BYTES;
        LEAT_TRY(leat_file_pread(file, room, size, at, err));
        leat_sha256_update(sha, room, size);
        if (shard->index != NULL) check_pages(shard, room, size, pages);
        if (!leat_verify_tick(job, size)) break;
    }
    return LEAT_OK;
}

static void judge_bytes(leat_verify_shard *shard, int64_t size_bytes, leat_sha256 *sha,
                        const page_check *pages) {
    uint8_t digest[32];
    if (size_bytes != shard->info->file_bytes)
        LEAT_PROBLEM(&shard->findings, shard->name, -1, "has %lld bytes, the manifest says %lld",
                     (long long)size_bytes, (long long)shard->info->file_bytes);
    leat_sha256_final(sha, digest);
    if (memcmp(digest, shard->info->file_sha256, 32) != 0)
        LEAT_PROBLEM(&shard->findings, shard->name, -1,
                     "its SHA-256 is not the manifest's: the file was changed");
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
    leat_file *file = NULL;
    int64_t size_bytes = 0;
    uint8_t *room = NULL;
    leat_sha256 sha;
    page_check pages = {0};
    *there = false;
    if (leat_file_open(&file, shard->path, LEAT_FILE_READ, &cause) != LEAT_OK ||
        leat_file_size(file, &size_bytes, &cause) != LEAT_OK) {
        leat_file_close(file);
        LEAT_PROBLEM(&shard->findings, shard->name, -1, "%s", cause.message);
        return cause.code == LEAT_ERR_MEMORY ? leat_error_copy(err, &cause) : LEAT_OK;
    }
    leat_code code = LEAT_NEW(&room, READ_BYTES, err);
    if (code == LEAT_OK) {
        leat_sha256_init(&sha);
        leat_code read = read_bytes(job, shard, file, size_bytes, room, &sha, &pages, &cause);
        if (read != LEAT_OK) LEAT_PROBLEM(&shard->findings, shard->name, -1, "%s", cause.message);
        *there = read == LEAT_OK;
        shard->file_bytes = size_bytes;
        if (*there && shard->info != NULL) judge_bytes(shard, size_bytes, &sha, &pages);
    }
    leat_free(room);
    leat_file_close(file);
    return code;
}

/* ---- Records ------------------------------------------------------------------------------ */

typedef struct record_check {
    leat_verify_job *job;
    leat_verify_shard *shard;
    leat_measurements values;
    leat_probe_row_info row;
    int ip_version;    /* of the row: 4, 6, 0 both */
    int64_t dst_bytes; /* of the row's destination texts */
    leat_sha256 sha;
    int64_t first_us, last_us; /* of the shard */
    /* The row before: */
    bool any;
    int64_t src_id, n, n_dst_bytes;
    leat_probe_address src, last_dst;
    int64_t last_time_us;
    float last_rtt;
    int64_t foreign_ids, backward_rows; /* rows of others, counted */
    int64_t failed_chunk[FAILED_CHUNKS];
    int failed_chunks;
} record_check;

static void record_problem(record_check *check, int64_t record, const char *words) {
    LEAT_PROBLEM(&check->shard->findings, check->shard->name, record, "%s", words);
}

/* The total order of measurements: time, destination text, rtt as stored. */
static int compare_measurements(int64_t time_a, const leat_probe_address *dst_a, float rtt_a,
                                int64_t time_b, const leat_probe_address *dst_b, float rtt_b) {
    if (time_a != time_b) return time_a < time_b ? -1 : 1;
    int order = leat_verify_compare_text(dst_a, dst_b);
    if (order != 0) return order;
    return rtt_a < rtt_b ? -1 : rtt_a > rtt_b;
}

/* One pass over the values: order, version, bytes of the texts. */
static void look_at_values(record_check *check, int64_t record) {
    const leat_measurements *m = &check->values;
    bool ours = check->shard->rules != NULL, sources_differ = false, backward = false;
    int64_t disorder = -1;
    int versions = 0;
    check->dst_bytes = 0;
    for (int64_t i = 0; i < m->count; i++) {
        const leat_probe_address *dst = &m->addresses[m->dst[i]];
        check->dst_bytes += dst->text_bytes;
        versions |= m->ip_version[i] == 6 ? 2 : 1;
        if (i == 0) continue;
        if (leat_verify_compare_text(&m->addresses[m->src[i]], &m->addresses[m->src[0]]) != 0)
            sources_differ = true;
        if (m->time_us[i] < m->time_us[i - 1]) backward = true;
        if (disorder < 0 && compare_measurements(m->time_us[i - 1], &m->addresses[m->dst[i - 1]],
                                                 m->rtt[i - 1], m->time_us[i], dst, m->rtt[i]) > 0)
            disorder = i;
    }
    check->ip_version = versions == 1 ? 4 : versions == 2 ? 6 : 0;
    if (sources_differ) record_problem(check, record, "its measurements have different sources");
    if (backward && !ours) check->backward_rows++;
    if (disorder >= 0 && ours)
        LEAT_PROBLEM(&check->shard->findings, check->shard->name, record,
                     "measurement %lld comes before the one ahead of it in the order of "
                     "(event_time, dst_addr, rtt)",
                     (long long)disorder);
}

/* What the writer of leat would have written for these facts: its frame must be this record's. */
static leat_code check_frame(record_check *check, const leat_ar_record *record, int64_t index,
                             leat_error *err) {
    const leat_measurements *m = &check->values;
    leat_probe_plan plan;
    leat_error cause = {0};
    if (m->count == 0) return LEAT_OK;
    leat_probe_facts facts = {.src_id = check->row.src_id,
                              .n_measurements = m->count,
                              .first_us = check->row.first_us,
                              .last_us = check->row.last_us,
                              .dst_bytes = check->dst_bytes};
    const leat_probe_address *src = &m->addresses[m->src[0]];
    facts.src_size = src->text_bytes;
    memcpy(facts.src, src->text, src->text_bytes);
    leat_code code =
        leat_probe_plan_row(&facts, check->shard->rules->dictionary_src, &plan, &cause);
    if (code == LEAT_ERR_MEMORY) return leat_error_copy(err, &cause);
    bool same = code == LEAT_OK && plan.record_bytes == record->size_bytes;
    for (int i = 0; same && i < plan.piece_count; i++) {
        const leat_probe_piece *piece = &plan.pieces[i];
        const uint8_t *bytes = record->data + piece->offset_bytes;
        if (piece->column == -1)
            same = memcmp(bytes, plan.frame + piece->frame, (size_t)piece->size_bytes) == 0;
        for (int k = 0; same && k < piece->pad_bytes; k++) same = bytes[piece->size_bytes + k] == 0;
    }
    if (!same) record_problem(check, index, "the record is valid, but not as this leat writes it");
    return LEAT_OK;
}

static int64_t inner_bytes(const record_check *check, int64_t n, int64_t src_size,
                           int64_t dst_bytes) {
    return leat_probe_measurements_bytes(n, n * src_size, dst_bytes,
                                         check->shard->rules->dictionary_src);
}

/* Rows of a probe are cut exactly where the next measurement would pass the limit. */
static void check_cut(record_check *check, int64_t record, bool goes_on) {
    const leat_verify_rules *rules = check->shard->rules;
    const leat_measurements *m = &check->values;
    if (!rules->knows_rows || m->count == 0) return;
    int64_t limit = rules->max_row_bytes > 0 ? rules->max_row_bytes : LEAT_PROBE_MEASUREMENTS_MAX;
    int64_t src_size = m->addresses[m->src[0]].text_bytes;
    int64_t size = inner_bytes(check, m->count, src_size, check->dst_bytes);
    if (size > limit && m->count > 1)
        LEAT_PROBLEM(&check->shard->findings, check->shard->name, record,
                     "its measurements take %lld bytes, over the row limit of %lld",
                     (long long)size, (long long)limit);
    if (!goes_on) return;
    int64_t with_next = inner_bytes(check, check->n + 1, src_size,
                                    check->n_dst_bytes + m->addresses[m->dst[0]].text_bytes);
    if (with_next <= limit)
        record_problem(check, record,
                       "the row before was cut too early: the first measurement of "
                       "this row had room in it");
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

/* A row of ours against the row before it and against the rules of shards and splits. */
static void check_place(record_check *check, int64_t record, bool goes_on) {
    const leat_verify_shard *shard = check->shard;
    const leat_verify_rules *rules = shard->rules;
    const leat_measurements *m = &check->values;
    int64_t src_id = check->row.src_id;
    if (check->any && src_id < check->src_id)
        record_problem(check, record, "its src_id is smaller than that of the row before");
    if (goes_on && m->count > 0 &&
        compare_measurements(check->last_time_us, &check->last_dst, check->last_rtt, m->time_us[0],
                             &m->addresses[m->dst[0]], m->rtt[0]) > 0)
        record_problem(check, record,
                       "its first measurement comes before the last one of the row "
                       "before, of the same probe");
    if (goes_on && m->count > 0 &&
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
    if (record >= facts->row_count) return; /* told once, as a difference in number */
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
                     "%s is %lld, the index says %lld", fields[i].name,
                     (long long)fields[i].in_record, (long long)fields[i].in_index);
    }
}

static void remember_row(record_check *check) {
    const leat_measurements *m = &check->values;
    check->any = true;
    check->src_id = check->row.src_id;
    check->n = m->count;
    check->n_dst_bytes = check->dst_bytes;
    if (m->count == 0) return;
    check->src = m->addresses[m->src[0]];
    check->last_dst = m->addresses[m->dst[m->count - 1]];
    check->last_time_us = m->time_us[m->count - 1];
    check->last_rtt = m->rtt[m->count - 1];
}

static leat_code check_row(record_check *check, const leat_ar_record *record, int64_t index,
                           int64_t chunk_offset, leat_error *err) {
    leat_verify_shard *shard = check->shard;
    leat_probe_read_options options = leat_probe_read_options_default();
    leat_error cause = {0};
    options.verify = shard->rules != NULL;
    leat_code code = leat_probe_record_decode(record->data, record->size_bytes, &options,
                                              &check->values, &check->row, &cause);
    if (code == LEAT_ERR_MEMORY) return leat_error_copy(err, &cause);
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
                      "src_id of %lld of %lld rows is no MD5 of the source: numbered by others",
                      (long long)check->foreign_ids, (long long)shard->rows);
        if (check->backward_rows > 0)
            LEAT_NOTE(findings, shard->name, -1, "%lld of %lld rows are not in order of time",
                      (long long)check->backward_rows, (long long)shard->rows);
        return;
    }
    leat_sha256_final(&check->sha, digest);
    if (all_read && memcmp(digest, info->records_sha256, 32) != 0)
        LEAT_PROBLEM(findings, shard->name, -1,
                     "the SHA-256 of its records is not the manifest's: records were changed");
    if (shard->index != NULL) {
        const leat_index_shard *facts = leat_index_shard_get(shard->index, shard->index_shard);
        if (facts->row_count != record_count)
            LEAT_PROBLEM(findings, shard->name, -1, "has %lld records, the index says %lld",
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
        LEAT_PROBLEM(findings, shard->name, -1, "has %lld %s, the manifest says %lld",
                     (long long)totals[i].found, totals[i].name, (long long)totals[i].stated);
    }
}

static leat_code check_records(record_check *check, const leat_ar_reader *reader, leat_error *err) {
    leat_ar_record record = {0};
    leat_code code = LEAT_OK;
    int64_t count = leat_ar_reader_record_count(reader), chunk = 0;
    int64_t chunk_count = leat_ar_reader_chunk_count(reader);
    bool all_read = true;
    leat_sha256_init(&check->sha);
    for (int64_t i = 0; i < count && code == LEAT_OK; i++) {
        leat_error cause = {0};
        while (chunk + 1 < chunk_count && leat_ar_reader_chunk(reader, chunk + 1).first_record <= i)
            chunk++;
        int64_t offset = leat_ar_reader_chunk(reader, chunk).offset;
        if (leat_ar_reader_read(reader, i, &record, &cause) != LEAT_OK) {
            all_read = false;
            if (cause.code == LEAT_ERR_MEMORY) code = leat_error_copy(err, &cause);
            record_problem(check, i, cause.message);
            if (check->failed_chunks < FAILED_CHUNKS)
                check->failed_chunk[check->failed_chunks++] = offset;
            continue;
        }
        hash_record(&check->sha, &record);
        code = check_row(check, &record, i, offset, err);
        if (!leat_verify_tick(check->job, record.size_bytes)) break;
    }
    leat_ar_record_free(&record);
    if (code == LEAT_OK && !atomic_load(&check->job->stop)) judge_records(check, count, all_read);
    return code;
}

/* ---- Structure ---------------------------------------------------------------------------- */

static bool structure_finding(void *user, const leat_ar_finding *finding) {
    record_check *check = user;
    if (finding->code == LEAT_ERR_MEMORY) return true; /* no damage: the check fails with it */
    /* A chunk whose records could not be read has been told of by record. */
    for (int i = 0; i < check->failed_chunks; i++)
        if (finding->offset == check->failed_chunk[i]) return true;
    LEAT_PROBLEM(&check->shard->findings, check->shard->name, -1, "%s", finding->message);
    return !atomic_load(&check->job->stop);
}

static leat_code check_structure(record_check *check, const leat_error *open_failure,
                                 leat_error *err) {
    leat_verify_shard *shard = check->shard;
    leat_ar_check structure;
    leat_error cause = {0};
    leat_code code =
        leat_ar_verify(shard->path, NULL, structure_finding, check, &structure, &cause);
    if (code == LEAT_ERR_MEMORY) return leat_error_copy(err, &cause);
    /* Whatever went wrong is told at least once. */
    if (shard->findings.problems > 0) return LEAT_OK;
    if (open_failure->code != LEAT_OK)
        LEAT_PROBLEM(&shard->findings, shard->name, -1, "%s", open_failure->message);
    else if (code != LEAT_OK && code != LEAT_ERR_CANCELLED)
        LEAT_PROBLEM(&shard->findings, shard->name, -1, "%s", cause.message);
    return LEAT_OK;
}

/* What can be seen without reading: the file and its size. */
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
                     facts.kind == LEAT_PATH_NONE ? "is missing" : "is no file");
    else if (shard->info != NULL && facts.size_bytes != shard->info->file_bytes)
        LEAT_PROBLEM(&shard->findings, shard->name, -1, "has %lld bytes, the manifest says %lld",
                     (long long)facts.size_bytes, (long long)shard->info->file_bytes);
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
    if (!there || atomic_load(&job->stop)) return LEAT_OK;
    LEAT_TRY(LEAT_NEW(&check, 1, err));
    check->job = job;
    check->shard = shard;
    leat_code code = LEAT_OK;
    if (leat_ar_reader_open(&reader, shard->path, NULL, &open_failure) == LEAT_OK)
        code = check_records(check, reader, err);
    else if (open_failure.code == LEAT_ERR_MEMORY) code = leat_error_copy(err, &open_failure);
    if (code == LEAT_OK) code = check_structure(check, &open_failure, err);
    leat_ar_reader_close(reader);
    leat_measurements_free(&check->values);
    leat_free(check);
    return code;
}
