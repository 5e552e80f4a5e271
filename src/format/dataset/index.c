/*
 * The index, read: mapped, its page table checked as a whole when it is opened, every other page
 * when it is first touched. The shard table is small and needed by every question, so it is checked
 * and turned into running sums at once; rows and page hashes stay where they are.
 */
#include "format/dataset/index.h"

#include <string.h>

#include "format/dataset/index_layout.h"
#include "format/paged.h"

struct leat_index {
    leat_paged paged;      /* the body */
    const uint64_t *table; /* a copy of the hashes of the body's pages, checked once */
    leat_index_shard *shards;
    int64_t *first_rows; /* of the shards once more, close together, to search in */
    int64_t shard_count, row_count;
};

static leat_code table_hash(const void *context, int64_t page, uint64_t *hash, leat_error *err) {
    (void)err;
    *hash = ((const leat_index *)context)->table[page];
    return LEAT_OK;
}

static leat_code damaged(const leat_index *index, leat_error *err, const char *what) {
    return leat_fail(err, LEAT_ERR_CORRUPT, "index \"%s\": %s; run the ingest again with --replace",
                     leat_map_path(index->paged.map), what);
}

/* Copies the page table out of the map and compares it with the manifest. */
static leat_code read_table(leat_index *index, leat_map *map, const uint8_t sha256[32],
                            int64_t *body_bytes, leat_error *err) {
    int64_t file_bytes = leat_map_size(map);
    int64_t page_bytes = LEAT_PAGE_BYTES + 8; /* each page of the body brings 8 bytes of table */
    int64_t page_count = (file_bytes + page_bytes - 1) / page_bytes;
    uint64_t *table = NULL;
    uint8_t digest[32];
    *body_bytes = file_bytes - page_count * 8;
    LEAT_TRY(LEAT_NEW(&table, page_count, err));
    index->table = table;
    memcpy(table, leat_map_data(map) + *body_bytes, (size_t)page_count * 8);
    leat_sha256_of(table, page_count * 8, digest);
    LEAT_TRY(leat_map_check(map, err));
    if (memcmp(digest, sha256, 32) == 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_CORRUPT,
                     "index \"%s\": its page table is not the one in the manifest; one of the two "
                     "is damaged or belongs to another data set",
                     leat_map_path(map));
}

/* Checks one shard's entry against what came before and appends it; NULL if it is good. */
static const char *take_shard(leat_index *index, const leat_index_shard_entry *entry,
                              int64_t *offset, int64_t end) {
    int64_t k = index->shard_count;
    leat_index_shard *shard = &index->shards[k];
    const leat_index_shard *last = k > 0 ? shard - 1 : NULL;
    bool first = entry->number == 0 && (last == NULL || last->split < (leat_split)entry->split);
    bool next = last != NULL && (leat_split)entry->split == last->split &&
                entry->number == (uint32_t)last->number + 1;
    int64_t pages =
        entry->file_bytes / LEAT_PAGE_BYTES + (entry->file_bytes % LEAT_PAGE_BYTES != 0 ? 1 : 0);
    if (entry->split >= LEAT_SPLITS || entry->number >= LEAT_SHARDS_MAX || !(first || next)) {
        return "shards are out of order";
    }
    if (entry->file_bytes <= 0 || (entry->page_count != 0 && entry->page_count != pages)) {
        return "number of pages contradicts a shard's size";
    }
    if (entry->row_count < 0 ||
        entry->row_count > (end - *offset) / (int64_t)sizeof(leat_index_row)) {
        return "rows do not fit";
    }
    *shard = (leat_index_shard){
        .split = (leat_split)entry->split,
        .number = (int32_t)entry->number,
        .first_row = index->row_count,
        .row_count = entry->row_count,
        .page_count = entry->page_count,
        .file_bytes = entry->file_bytes,
        .measurement_count = entry->measurement_count,
        .first_us = entry->first_us,
        .last_us = entry->last_us,
        .rows_offset = *offset,
        .pages_offset = *offset + entry->row_count * (int64_t)sizeof(leat_index_row),
    };
    index->first_rows[k] = index->row_count;
    if (entry->page_count > (end - shard->pages_offset) / 8) return "page hashes do not fit";
    *offset = shard->pages_offset + entry->page_count * 8;
    index->row_count += entry->row_count;
    index->shard_count++;
    return NULL;
}

static leat_code read_shards(leat_index *index, leat_error *err) {
    leat_index_head head;
    leat_index_tail tail;
    int64_t tail_offset = index->paged.size_bytes - (int64_t)sizeof(tail);
    LEAT_TRY(leat_paged_read(&index->paged, 0, sizeof(head), &head, err));
    LEAT_TRY(leat_paged_read(&index->paged, tail_offset, sizeof(tail), &tail, err));
    if (memcmp(head.magic, LEAT_INDEX_HEAD_MAGIC, 8) != 0 ||
        memcmp(tail.magic, LEAT_INDEX_TAIL_MAGIC, 8) != 0) {
        return damaged(index, err, "not an index of leat");
    }
    if (head.version != LEAT_INDEX_VERSION) {
        return leat_fail(
            err, LEAT_ERR_UNSUPPORTED,
            "index \"%s\" has version %u, but this version of leat reads %d; use a newer leat",
            leat_map_path(index->paged.map), (unsigned)head.version, LEAT_INDEX_VERSION);
    }
    if (head.zero != 0 || tail.shards_offset < (int64_t)sizeof(head) ||
        tail.shards_offset > tail_offset || tail.shard_count < 0 ||
        tail.shard_count > LEAT_SPLITS * (int64_t)LEAT_SHARDS_MAX ||
        tail.shards_offset + tail.shard_count * (int64_t)sizeof(leat_index_shard_entry) !=
            tail_offset) {
        return damaged(index, err, "its shard table is in the wrong place");
    }
    LEAT_TRY(LEAT_NEW(&index->shards, tail.shard_count, err));
    LEAT_TRY(LEAT_NEW(&index->first_rows, tail.shard_count, err));
    int64_t offset = sizeof(head);
    for (int64_t k = 0; k < tail.shard_count; k++) {
        leat_index_shard_entry entry;
        int64_t at = tail.shards_offset + k * (int64_t)sizeof(entry);
        LEAT_TRY(leat_paged_read(&index->paged, at, sizeof(entry), &entry, err));
        const char *problem = take_shard(index, &entry, &offset, tail.shards_offset);
        if (problem != NULL) return damaged(index, err, problem);
    }
    if (offset != tail.shards_offset || index->row_count != tail.row_count) {
        return damaged(index, err, "its shards do not fill it");
    }
    return LEAT_OK;
}

leat_code leat_index_is_in(const char *dir, bool *there, leat_error *err) {
    char path[LEAT_PATH_BYTES], magic[sizeof LEAT_INDEX_HEAD_MAGIC];
    leat_path_facts facts;
    leat_file *file = NULL;
    *there = false;
    LEAT_TRY(leat_path_join(path, sizeof path, dir, LEAT_INDEX_NAME, err));
    LEAT_TRY(leat_path_stat(path, &facts, err));
    if (facts.kind != LEAT_PATH_FILE || facts.size_bytes < (int64_t)sizeof magic) return LEAT_OK;
    LEAT_TRY(leat_file_open(&file, path, LEAT_FILE_READ, err));
    leat_code code = leat_file_pread(file, magic, sizeof magic, 0, err);
    leat_file_close(file);
    *there = code == LEAT_OK && memcmp(magic, LEAT_INDEX_HEAD_MAGIC, sizeof magic) == 0;
    return code;
}

leat_code leat_index_open(leat_index **out, const char *path, int64_t file_bytes,
                          const uint8_t sha256[32], leat_error *err) {
    leat_index *index = NULL;
    leat_map *map = NULL;
    int64_t body_bytes = 0;
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&index, 1, err));
    leat_code code = leat_map_open(&map, path, err);
    if (code == LEAT_OK && leat_map_size(map) != file_bytes) {
        code = leat_fail(err, LEAT_ERR_CORRUPT,
                         "index \"%s\" has %lld bytes, but the manifest says %lld; run the ingest "
                         "again with --replace",
                         path, (long long)leat_map_size(map), (long long)file_bytes);
    }
    int64_t least = sizeof(leat_index_head) + sizeof(leat_index_tail) + 8;
    if (code == LEAT_OK && file_bytes < least) {
        code = leat_fail(err, LEAT_ERR_CORRUPT, "index \"%s\" has %lld bytes, which is too short",
                         path, (long long)file_bytes);
    }
    if (code == LEAT_OK) code = read_table(index, map, sha256, &body_bytes, err);
    if (code == LEAT_OK) {
        code = leat_paged_init(&index->paged, map, body_bytes, table_hash, index, err);
        if (code == LEAT_OK) map = NULL; /* taken over */
    }
    if (code == LEAT_OK) code = read_shards(index, err);
    if (code != LEAT_OK) {
        leat_map_close(map);
        leat_index_close(index);
        return code;
    }
    *out = index;
    return LEAT_OK;
}

void leat_index_close(leat_index *index) {
    if (index == NULL) return;
    leat_paged_free(&index->paged);
    leat_free((void *)(uintptr_t)index->table);
    leat_free(index->shards);
    leat_free(index->first_rows);
    leat_free(index);
}

int64_t leat_index_shard_count(const leat_index *index) { return index->shard_count; }
int64_t leat_index_row_count(const leat_index *index) { return index->row_count; }

const leat_index_shard *leat_index_shard_get(const leat_index *index, int64_t shard) {
    LEAT_ASSERT(shard >= 0 && shard < index->shard_count);
    return &index->shards[shard];
}

int64_t leat_index_shard_of(const leat_index *index, int64_t row) {
    LEAT_ASSERT(row >= 0 && row < index->row_count);
    /* the last shard whose first row is not after it; empty shards come before the one that is
     * not, since they share its first row */
    int64_t low = 0, high = index->shard_count - 1;
    while (low < high) {
        int64_t middle = low + (high - low + 1) / 2;
        if (index->first_rows[middle] <= row) low = middle;
        else high = middle - 1;
    }
    return low;
}

leat_code leat_index_row_get(const leat_index *index, int64_t row, leat_index_row *out,
                             leat_error *err) {
    return leat_index_row_in(index, leat_index_shard_of(index, row), row, out, err);
}

static int64_t row_at(const leat_index *index, int64_t shard_number, int64_t row) {
    const leat_index_shard *shard = leat_index_shard_get(index, shard_number);
    int64_t in_shard = row - shard->first_row;
    LEAT_ASSERT(in_shard >= 0 && in_shard < shard->row_count);
    return shard->rows_offset + in_shard * (int64_t)sizeof(leat_index_row);
}

leat_code leat_index_row_in(const leat_index *index, int64_t shard_number, int64_t row,
                            leat_index_row *out, leat_error *err) {
    const leat_index_shard *shard = &index->shards[shard_number];
    int64_t at = row_at(index, shard_number, row);
    leat_code code = leat_paged_read(&index->paged, at, sizeof(*out), out, err);
    if (code != LEAT_OK) return leat_error_context(err, code, "index, row %lld", (long long)row);
    const char *problem = leat_index_row_problem(out, shard->file_bytes);
    if (problem == NULL) return LEAT_OK;
    *out = (leat_index_row){0};
    return leat_fail(err, LEAT_ERR_CORRUPT, "index \"%s\": row %lld (at byte %lld): %s",
                     leat_map_path(index->paged.map), (long long)row, (long long)at, problem);
}

leat_code leat_index_page_hash(const leat_index *index, int64_t shard, int64_t page, uint64_t *out,
                               leat_error *err) {
    const leat_index_shard *facts = leat_index_shard_get(index, shard);
    LEAT_ASSERT(page >= 0 && page < facts->page_count);
    return leat_paged_read(&index->paged, facts->pages_offset + page * 8, sizeof(*out), out, err);
}

/* The rows of a shard must make up what its entry says. */
static leat_code verify_shard(const leat_index *index, const leat_index_shard *shard,
                              leat_error *err) {
    int64_t measurements = 0, first_us = 0, last_us = 0;
    for (int64_t i = 0; i < shard->row_count; i++) {
        leat_index_row row;
        LEAT_TRY(leat_index_row_get(index, shard->first_row + i, &row, err));
        if (i == 0 || row.first_us < first_us) first_us = row.first_us;
        if (i == 0 || row.last_us > last_us) last_us = row.last_us;
        measurements += row.n_measurements;
    }
    if (measurements == shard->measurement_count && first_us == shard->first_us &&
        last_us == shard->last_us) {
        return LEAT_OK;
    }
    return leat_fail(
        err, LEAT_ERR_CORRUPT,
        "index \"%s\": the totals of %s shard %d do not match its rows; run the ingest again",
        leat_map_path(index->paged.map), leat_split_name(shard->split), (int)shard->number);
}

leat_code leat_index_verify(const leat_index *index, leat_error *err) {
    for (int64_t k = 0; k < index->shard_count; k++) {
        LEAT_TRY(verify_shard(index, &index->shards[k], err));
    }
    /* one byte of each page: pages that hold nothing but hashes are checked so */
    for (int64_t at = 0; at < index->paged.size_bytes; at += LEAT_PAGE_BYTES) {
        uint8_t byte = 0;
        LEAT_TRY(leat_paged_read(&index->paged, at, 1, &byte, err));
    }
    return LEAT_OK;
}
