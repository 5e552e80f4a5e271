/*
 * Parts of shards, and the index made of them.
 *
 * Shards are written in any order, by several threads, in runs that may be killed; the index must
 * list them in order. So each shard leaves a part, in a file with hashes of its own, and the index
 * is one pass over the parts, front to back, with one part in memory.
 */
#include <stdio.h>
#include <string.h>

#include "format/dataset/index.h"
#include "format/dataset/index_layout.h"

/* ---- a part in memory -------------------------------------------------------------------------
 */

/* What is wrong with a row, or NULL. */
static const char *row_problem(const leat_index_row *row) {
    if (row->src_id < 0 || row->src_id >= LEAT_SRC_ID_END) return "src_id out of range";
    if (row->first_us < 0 || row->first_us > row->last_us) return "first time after last time";
    if (row->chunk_offset < 0) return "chunk offset out of range";
    if (row->record_bytes <= 0) return "empty record";
    if (row->n_measurements < 1 || row->n_measurements > INT32_MAX) {
        return "number of measurements out of range";
    }
    if (row->ip_version != 0 && row->ip_version != 4 && row->ip_version != 6) {
        return "no such IP version";
    }
    if (row->zero[0] != 0 || row->zero[1] != 0 || row->zero[2] != 0) return "unused bytes are set";
    return NULL;
}

const char *leat_index_row_problem(const leat_index_row *row, int64_t file_bytes) {
    if (row->chunk_offset >= file_bytes) return "chunk offset past the end of the shard";
    return row_problem(row);
}

leat_code leat_shard_part_add_row(leat_shard_part *part, const leat_index_row *row,
                                  leat_error *err) {
    leat_shard_info *info = &part->info;
    const char *problem = row_problem(row);
    if (problem != NULL) {
        return leat_fail(err, LEAT_ERR_INPUT, "index: row %lld of a shard: %s",
                         (long long)info->row_count, problem);
    }
    LEAT_TRY(LEAT_GROW(&part->rows, &part->row_capacity, info->row_count + 1, err));
    if (info->row_count == 0 || row->first_us < info->first_us) info->first_us = row->first_us;
    if (info->row_count == 0 || row->last_us > info->last_us) info->last_us = row->last_us;
    info->measurement_count += row->n_measurements;
    part->rows[info->row_count++] = *row;
    return LEAT_OK;
}

leat_code leat_shard_part_set_pages(leat_shard_part *part, const uint64_t *hashes,
                                    int64_t page_count, leat_error *err) {
    uint64_t *copy = NULL;
    LEAT_TRY(LEAT_NEW(&copy, page_count, err));
    if (page_count > 0) memcpy(copy, hashes, (size_t)page_count * sizeof(*copy));
    leat_free(part->page_hashes);
    part->page_hashes = copy;
    part->page_count = page_count;
    return LEAT_OK;
}

void leat_shard_part_free(leat_shard_part *part) {
    leat_free(part->rows);
    leat_free(part->page_hashes);
    *part = (leat_shard_part){0};
}

/* Whether rows, totals and pages of a part agree; `who` opens the message. */
static leat_code check_part(const leat_shard_part *part, const char *who, leat_error *err) {
    const leat_shard_info *info = &part->info;
    const char *problem = NULL;
    int64_t pages = (info->file_bytes + LEAT_PAGE_BYTES - 1) / LEAT_PAGE_BYTES;
    int64_t first_us = 0, last_us = 0, measurements = 0;
    if (info->file_bytes <= 0) problem = "the file is empty";
    else if (part->page_count != 0 && part->page_count != pages) problem = "page hashes missing";
    for (int64_t i = 0; i < info->row_count && problem == NULL; i++) {
        const leat_index_row *row = &part->rows[i];
        problem = leat_index_row_problem(row, info->file_bytes);
        if (i == 0 || row->first_us < first_us) first_us = row->first_us;
        if (i == 0 || row->last_us > last_us) last_us = row->last_us;
        measurements += row->n_measurements;
    }
    if (problem == NULL && (measurements != info->measurement_count || first_us != info->first_us ||
                            last_us != info->last_us)) {
        problem = "the totals do not match the rows";
    }
    if (problem == NULL) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_CORRUPT, "%s: %s shard %d: %s", who,
                     leat_split_name(info->split), (int)info->number, problem);
}

/* ---- a part in a file -------------------------------------------------------------------------
 */

#define PART_MAGIC "leatprt"
#define PART_VERSION 2
#define PART_ITEMS_MAX (INT64_C(1) << 40)

typedef struct part_head {
    char magic[8];
    uint32_t version, split;
    int64_t number, row_count, measurement_count, file_bytes, first_us, last_us, page_count;
    int64_t duplicates;
    uint8_t file_sha256[32], records_sha256[32];
    uint64_t rows_hash, pages_hash;
    uint64_t head_hash; /* of all bytes before it, xor the number of the run */
} part_head;
_Static_assert(sizeof(part_head) == 168 && offsetof(part_head, head_hash) == 160, "");

static void fill_head(const leat_shard_part *part, uint64_t run, part_head *head) {
    const leat_shard_info *info = &part->info;
    memset(head, 0, sizeof(*head));
    memcpy(head->magic, PART_MAGIC, sizeof(head->magic));
    head->version = PART_VERSION;
    head->split = (uint32_t)info->split;
    head->number = info->number;
    head->row_count = info->row_count;
    head->measurement_count = info->measurement_count;
    head->file_bytes = info->file_bytes;
    head->first_us = info->first_us;
    head->last_us = info->last_us;
    head->page_count = part->page_count;
    head->duplicates = part->duplicates;
    memcpy(head->file_sha256, info->file_sha256, 32);
    memcpy(head->records_sha256, info->records_sha256, 32);
    head->rows_hash = leat_xxh3(part->rows, info->row_count * (int64_t)sizeof(*part->rows));
    head->pages_hash = leat_xxh3(part->page_hashes, part->page_count * 8);
    head->head_hash = leat_xxh3(head, offsetof(part_head, head_hash)) ^ run;
}

static leat_code write_part(const leat_shard_part *part, uint64_t run, leat_file *file,
                            leat_error *err) {
    part_head head;
    int64_t rows_bytes = part->info.row_count * (int64_t)sizeof(*part->rows);
    fill_head(part, run, &head);
    int64_t at = sizeof(head);
    LEAT_TRY(leat_file_pwrite(file, &head, at, 0, err));
    LEAT_TRY(leat_file_pwrite(file, part->rows, rows_bytes, at, err));
    at += rows_bytes;
    return leat_file_pwrite(file, part->page_hashes, part->page_count * 8, at, err);
}

leat_code leat_shard_part_save(const leat_shard_part *part, uint64_t run, const char *path,
                               leat_error *err) {
    leat_file *file = NULL;
    LEAT_TRY(check_part(part, path, err));
    LEAT_TRY(leat_file_open_draft(&file, path, err));
    leat_code code = write_part(part, run, file, err);
    /* Not durable: after a power failure, a part's hashes show whether it is complete. */
    if (code == LEAT_OK) code = leat_file_publish(file, false, err);
    leat_file_close(file);
    return code;
}

static leat_code check_head(const part_head *head, uint64_t run, int64_t size_bytes,
                            const char *path, leat_error *err) {
    bool good = memcmp(head->magic, PART_MAGIC, sizeof(head->magic)) == 0 &&
                head->version == PART_VERSION &&
                head->head_hash == (leat_xxh3(head, offsetof(part_head, head_hash)) ^ run) &&
                head->split < LEAT_SPLITS && head->number >= 0 && head->number < LEAT_SHARDS_MAX &&
                head->row_count >= 0 && head->row_count < PART_ITEMS_MAX && head->page_count >= 0 &&
                head->page_count < PART_ITEMS_MAX && head->duplicates >= 0;
    int64_t rows_bytes = good ? head->row_count * (int64_t)sizeof(leat_index_row) : 0;
    if (good && size_bytes == (int64_t)sizeof(*head) + rows_bytes + head->page_count * 8) {
        return LEAT_OK;
    }
    return leat_fail(err, LEAT_ERR_CORRUPT,
                     "\"%s\" is not a complete index part of this run; write the shard again",
                     path);
}

static leat_code read_part(leat_file *file, uint64_t run, leat_shard_part *part, leat_error *err) {
    part_head head;
    int64_t size_bytes = 0;
    const char *path = leat_file_path(file);
    LEAT_TRY(leat_file_size(file, &size_bytes, err));
    LEAT_TRY(leat_file_pread(file, &head, sizeof(head), 0, err));
    LEAT_TRY(check_head(&head, run, size_bytes, path, err));
    int64_t rows_bytes = head.row_count * (int64_t)sizeof(leat_index_row);
    LEAT_TRY(LEAT_NEW(&part->rows, head.row_count, err));
    LEAT_TRY(LEAT_NEW(&part->page_hashes, head.page_count, err));
    LEAT_TRY(leat_file_pread(file, part->rows, rows_bytes, sizeof(head), err));
    LEAT_TRY(leat_file_pread(file, part->page_hashes, head.page_count * 8,
                             (int64_t)sizeof(head) + rows_bytes, err));
    if (leat_xxh3(part->rows, rows_bytes) != head.rows_hash ||
        leat_xxh3(part->page_hashes, head.page_count * 8) != head.pages_hash) {
        return leat_fail(err, LEAT_ERR_CORRUPT,
                         "\"%s\": hash mismatch: the file is incomplete; write the shard again",
                         path);
    }
    part->row_capacity = head.row_count;
    part->page_count = head.page_count;
    part->duplicates = head.duplicates;
    part->info = (leat_shard_info){.split = (leat_split)head.split,
                                   .number = (int32_t)head.number,
                                   .row_count = head.row_count,
                                   .measurement_count = head.measurement_count,
                                   .file_bytes = head.file_bytes,
                                   .first_us = head.first_us,
                                   .last_us = head.last_us};
    memcpy(part->info.file_sha256, head.file_sha256, 32);
    memcpy(part->info.records_sha256, head.records_sha256, 32);
    return check_part(part, path, err);
}

leat_code leat_shard_part_load(const char *path, uint64_t run, leat_shard_part *part,
                               leat_error *err) {
    leat_file *file = NULL;
    *part = (leat_shard_part){0};
    LEAT_TRY(leat_file_open(&file, path, LEAT_FILE_READ, err));
    leat_code code = read_part(file, run, part, err);
    leat_file_close(file);
    if (code != LEAT_OK) leat_shard_part_free(part);
    return code;
}

/* ---- the index --------------------------------------------------------------------------------
 */

typedef struct builder {
    leat_sink *sink;
    leat_index_shard_entry *entries;
    int64_t shard_count, row_count;
} builder;

static leat_code add_part(builder *build, int64_t k, const leat_shard_part *part, leat_error *err) {
    const leat_shard_info *info = &part->info;
    LEAT_TRY(check_part(part, "index", err));
    bool next = info->split == LEAT_SPLIT_TRAIN && info->number == 0;
    if (k > 0) {
        const leat_index_shard_entry *last = &build->entries[k - 1];
        next = (uint32_t)info->split == last->split && info->number == (int32_t)last->number + 1;
        next = next || (last->split == LEAT_SPLIT_TRAIN && info->split == LEAT_SPLIT_TEST &&
                        info->number == 0);
    } else {
        next = next || (info->split == LEAT_SPLIT_TEST && info->number == 0);
    }
    if (!next) {
        return leat_fail(err, LEAT_ERR_INPUT, "index: part %lld is %s shard %d: out of order",
                         (long long)k, leat_split_name(info->split), (int)info->number);
    }
    build->entries[k] = (leat_index_shard_entry){
        .row_count = info->row_count,
        .page_count = part->page_count,
        .file_bytes = info->file_bytes,
        .measurement_count = info->measurement_count,
        .first_us = info->first_us,
        .last_us = info->last_us,
        .split = (uint32_t)info->split,
        .number = (uint32_t)info->number,
    };
    build->row_count += info->row_count;
    LEAT_TRY(leat_sink_write(build->sink, part->rows,
                             info->row_count * (int64_t)sizeof(*part->rows), err));
    return leat_sink_write(build->sink, part->page_hashes, part->page_count * 8, err);
}

static leat_code write_body(builder *build, leat_part_fn load, void *context, leat_error *err) {
    leat_index_head head = {LEAT_INDEX_HEAD_MAGIC, LEAT_INDEX_VERSION, 0};
    LEAT_TRY(leat_sink_write(build->sink, &head, sizeof(head), err));
    for (int64_t k = 0; k < build->shard_count; k++) {
        leat_shard_part part = {0};
        leat_code code = load(context, k, &part, err);
        if (code == LEAT_OK) code = add_part(build, k, &part, err);
        leat_shard_part_free(&part);
        if (code != LEAT_OK) return code;
    }
    leat_index_tail tail = {LEAT_INDEX_TAIL_MAGIC, build->shard_count, build->row_count,
                            leat_sink_position(build->sink)};
    LEAT_TRY(leat_sink_write(build->sink, build->entries,
                             build->shard_count * (int64_t)sizeof(*build->entries), err));
    LEAT_TRY(leat_sink_write(build->sink, &tail, sizeof(tail), err));
    return leat_sink_finish(build->sink, err);
}

static leat_code write_index(leat_file *file, builder *build, leat_part_fn load, void *context,
                             leat_index_facts *facts, leat_error *err) {
    leat_sink_options options = {.want_page_hashes = true};
    LEAT_TRY(leat_sink_create(&build->sink, file, &options, err));
    LEAT_TRY(LEAT_NEW(&build->entries, build->shard_count, err));
    LEAT_TRY(write_body(build, load, context, err));
    int64_t page_count = 0, body_bytes = leat_sink_position(build->sink);
    const uint64_t *hashes = leat_sink_page_hashes(build->sink, &page_count);
    leat_sha256_of(hashes, page_count * 8, facts->table_sha256);
    facts->file_bytes = body_bytes + page_count * 8;
    facts->row_count = build->row_count;
    return leat_file_pwrite(file, hashes, page_count * 8, body_bytes, err);
}

leat_code leat_index_build(const char *path, int64_t shard_count, leat_part_fn load, void *context,
                           leat_index_facts *facts, leat_error *err) {
    builder build = {.shard_count = shard_count};
    leat_file *file = NULL;
    *facts = (leat_index_facts){0};
    LEAT_TRY(leat_file_open_draft(&file, path, err));
    leat_code code = write_index(file, &build, load, context, facts, err);
    if (code == LEAT_OK) code = leat_file_publish(file, true, err);
    leat_sink_destroy(build.sink);
    leat_free(build.entries);
    leat_file_close(file);
    if (code != LEAT_OK) *facts = (leat_index_facts){0};
    return code;
}
