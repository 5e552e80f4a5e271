/*
 * The index: built of parts, read back; every single-bit flip noticed on the page that it hits, and
 * nowhere else; torn parts; a file cut while it is open.
 */
/* TSan: several threads read one index. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/rng.h"
#include "format/dataset/index.h"
#include "threads.h"

enum { SHARDS = 5 };
static char dir[] = "/tmp/leat_index_XXXXXX";
static const int shard_rows[SHARDS] = {100, 0, 150, 1, 0};
static const int shard_pages[SHARDS] = {700, 32, 0, 40, 0}; /* 0: compressed */

static leat_index_row make_row(int shard, int i) {
    uint64_t bits = leat_random(1, (uint64_t)shard, (uint64_t)i);
    leat_index_row row = {
        .src_id = (int64_t)(bits >> 4),
        .first_us = (int64_t)(bits >> 20),
        .last_us = (int64_t)(bits >> 20) + i,
        .chunk_offset = 64 + i,
        .record_bytes = 1 + (int64_t)(bits % 9000000),
        .n_measurements = 1 + (uint32_t)(bits % 1000),
        .ip_version = (uint8_t)(i % 3 == 0   ? 0
                                : i % 3 == 1 ? 4
                                             : 6),
    };
    return row;
}

static uint64_t make_hash(int shard, int page) {
    return leat_random(2, (uint64_t)shard, (uint64_t)page);
}

static leat_code make_part(void *context, int64_t k, leat_shard_part *part, leat_error *err) {
    int shard = (int)k;
    static const int train_shards = 3;
    (void)context;
    part->info.split = shard < train_shards ? LEAT_SPLIT_TRAIN : LEAT_SPLIT_TEST;
    part->info.number = shard < train_shards ? shard : shard - train_shards;
    part->info.file_bytes =
        shard_pages[shard] > 0 ? shard_pages[shard] * INT64_C(4096) - 17 : INT64_C(131072);
    memset(part->info.file_sha256, shard, 32);
    memset(part->info.records_sha256, 100 + shard, 32);
    for (int i = 0; i < shard_rows[shard]; i++) {
        leat_index_row row = make_row(shard, i);
        LEAT_TRY(leat_shard_part_add_row(part, &row, err));
    }
    uint64_t hashes[1000];
    for (int i = 0; i < shard_pages[shard]; i++) hashes[i] = make_hash(shard, i);
    return leat_shard_part_set_pages(part, hashes, shard_pages[shard], err);
}

static void build(char path[64], leat_index_facts *facts) {
    leat_error err = {0};
    snprintf(path, 64, "%s/index.bin", dir);
    leat_code code = leat_index_build(path, SHARDS, make_part, NULL, facts, &err);
    if (code != LEAT_OK) fail_msg("%s", err.message);
}

/* Reads everything; the number of rows and page hashes that were refused, -1 for a wrong value. */
static int read_all(const leat_index *index) {
    int refused = 0;
    int64_t row = 0;
    for (int s = 0; s < SHARDS; s++) {
        for (int i = 0; i < shard_rows[s]; i++, row++) {
            leat_index_row expected = make_row(s, i), got;
            leat_code code = leat_index_row_get(index, row, &got, NULL);
            if (code == LEAT_OK && memcmp(&got, &expected, sizeof(got)) != 0) return -1;
            if (code != LEAT_OK) refused++;
            if (leat_index_shard_of(index, row) != s) return -1;
        }
        for (int i = 0; i < shard_pages[s]; i++) {
            uint64_t hash = 0;
            leat_code code = leat_index_page_hash(index, s, i, &hash, NULL);
            if (code == LEAT_OK && hash != make_hash(s, i)) return -1;
            if (code != LEAT_OK) refused++;
        }
    }
    return refused;
}

static void round_trip(void **state) {
    (void)state;
    char path[64];
    leat_index_facts facts, again;
    leat_index *index = NULL;
    build(path, &facts);
    build(path, &again);
    assert_memory_equal(&facts, &again, sizeof(facts));
    assert_int_equal(facts.row_count, 251);
    assert_int_equal(leat_index_open(&index, path, facts.file_bytes, facts.table_sha256, NULL),
                     LEAT_OK);
    assert_int_equal(leat_index_row_count(index), 251);
    assert_int_equal(leat_index_shard_count(index), SHARDS);
    int64_t first = 0;
    for (int s = 0; s < SHARDS; s++) {
        const leat_index_shard *shard = leat_index_shard_get(index, s);
        leat_shard_part part = {0};
        assert_int_equal(make_part(NULL, s, &part, NULL), LEAT_OK);
        assert_int_equal(shard->split, part.info.split);
        assert_int_equal(shard->number, part.info.number);
        assert_int_equal(shard->first_row, first);
        assert_int_equal(shard->row_count, part.info.row_count);
        assert_int_equal(shard->page_count, part.page_count);
        assert_int_equal(shard->file_bytes, part.info.file_bytes);
        assert_int_equal(shard->measurement_count, part.info.measurement_count);
        assert_int_equal(shard->first_us, part.info.first_us);
        assert_int_equal(shard->last_us, part.info.last_us);
        first += shard->row_count;
        leat_shard_part_free(&part);
    }
    assert_int_equal(read_all(index), 0);
    assert_int_equal(leat_index_verify(index, NULL), LEAT_OK);
    leat_index_close(index);
    leat_index_close(NULL);
}

static void no_shards(void **state) {
    (void)state;
    char path[64];
    leat_index_facts facts;
    leat_index *index = NULL;
    snprintf(path, sizeof(path), "%s/empty.bin", dir);
    assert_int_equal(leat_index_build(path, 0, make_part, NULL, &facts, NULL), LEAT_OK);
    assert_int_equal(leat_index_open(&index, path, facts.file_bytes, facts.table_sha256, NULL),
                     LEAT_OK);
    assert_int_equal(leat_index_row_count(index), 0);
    assert_int_equal(leat_index_verify(index, NULL), LEAT_OK);
    leat_index_close(index);
}

static uint8_t *load(const char *path, int64_t *size) {
    uint8_t *bytes = NULL;
    assert_int_equal(leat_file_load(path, 1 << 24, &bytes, size, NULL), LEAT_OK);
    return bytes;
}

static void store(const char *path, const uint8_t *bytes, int64_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, (size_t)size, file), size);
    fclose(file);
}

/* Each bit of the file: opening fails, or what lies on that page and only that is refused. */
static void bit_flips(void **state) {
    (void)state;
    char path[64], flipped[64];
    leat_index_facts facts;
    int64_t size = 0, opened = 0;
    build(path, &facts);
    uint8_t *bytes = load(path, &size);
    snprintf(flipped, sizeof(flipped), "%s/flipped.bin", dir);
    store(flipped, bytes, size);
    FILE *file = fopen(flipped, "r+b");
    assert_non_null(file);
    setvbuf(file, NULL, _IONBF, 0);
    for (int64_t at = 0; at < size; at++) {
        leat_index *index = NULL;
        leat_error err = {0};
        int bit = (int)(at % 8); /* one bit of each byte; the others differ in nothing */
        fseek(file, at, SEEK_SET);
        fputc(bytes[at] ^ (1 << bit), file);
        leat_code code =
            leat_index_open(&index, flipped, facts.file_bytes, facts.table_sha256, &err);
        if (code == LEAT_OK) {
            opened++;
            if (read_all(index) < 0) fail_msg("a wrong value came out: byte %lld", (long long)at);
            code = leat_index_verify(index, &err);
        }
        if (code != LEAT_ERR_CORRUPT) fail_msg("byte %lld: code %d", (long long)at, code);
        assert_non_null(strstr(err.message, "flipped.bin"));
        leat_index_close(index);
        fseek(file, at, SEEK_SET);
        fputc(bytes[at], file);
    }
    fclose(file);
    /* pages that hold neither head nor shard table do not keep the index from opening */
    assert_true(opened > 2 * 4096);
    free(bytes);
}

/* One damaged page takes only its own rows with it. */
static void one_page(void **state) {
    (void)state;
    char path[64];
    leat_index_facts facts;
    leat_index *index = NULL;
    int64_t size = 0;
    build(path, &facts);
    uint8_t *bytes = load(path, &size);
    bytes[5000] ^= 1; /* page 1: the end of shard 0's rows and the begin of its hashes */
    store(path, bytes, size);
    assert_int_equal(leat_index_open(&index, path, facts.file_bytes, facts.table_sha256, NULL),
                     LEAT_OK);
    leat_index_row row;
    int64_t in_page_0 = (4096 - 16) / 48;
    for (int64_t i = 0; i < in_page_0; i++) {
        assert_int_equal(leat_index_row_get(index, i, &row, NULL), LEAT_OK);
    }
    leat_error err = {0};
    for (int64_t i = in_page_0; i < 100; i++) {
        assert_int_equal(leat_index_row_get(index, i, &row, &err), LEAT_ERR_CORRUPT);
        assert_int_equal(row.src_id, 0);
        assert_non_null(strstr(err.message, "page at byte 4096"));
    }
    assert_int_equal(leat_index_row_get(index, 100, &row, NULL), LEAT_OK);
    leat_index_close(index);
    free(bytes);
}

static void wrong_files(void **state) {
    (void)state;
    char path[64];
    leat_index_facts facts;
    leat_index *index = NULL;
    int64_t size = 0;
    build(path, &facts);
    uint8_t *bytes = load(path, &size);
    uint8_t other[32] = {0};
    assert_int_equal(leat_index_open(&index, path, size, other, NULL), LEAT_ERR_CORRUPT);
    assert_null(index);
    assert_int_equal(leat_index_open(&index, path, size + 1, facts.table_sha256, NULL),
                     LEAT_ERR_CORRUPT);
    for (int64_t cut = 0; cut < size; cut += cut < 64 ? 1 : 97) {
        store(path, bytes, cut);
        assert_int_equal(leat_index_open(&index, path, size, facts.table_sha256, NULL),
                         LEAT_ERR_CORRUPT);
        /* and as the manifest of such a file would say: the hash is that of nothing */
        leat_code code = leat_index_open(&index, path, cut, facts.table_sha256, NULL);
        assert_int_equal(code, LEAT_ERR_CORRUPT);
    }
    free(bytes);
}

/* ---- hostile: page table and its SHA-256 are right, the content is not --------------------------
 */

static void seal(uint8_t *bytes, int64_t size, uint8_t sha256[32]) {
    int64_t pages = (size + 4103) / 4104, body = size - pages * 8;
    for (int64_t p = 0; p < pages; p++) {
        int64_t left = body - p * 4096;
        uint64_t hash = leat_xxh3(bytes + p * 4096, left < 4096 ? left : 4096);
        memcpy(bytes + body + p * 8, &hash, 8);
    }
    leat_sha256 sha;
    leat_sha256_init(&sha);
    leat_sha256_update(&sha, bytes + body, pages * 8);
    leat_sha256_final(&sha, sha256);
}

/* Opens the index with one int64 changed and sealed again; what opens must not verify. */
static void open_changed(const char *path, const uint8_t *bytes, int64_t size, int64_t at,
                         int64_t value, leat_code want, size_t i) {
    uint8_t *copy = malloc((size_t)size), sha256[32];
    leat_index *index = NULL;
    assert_non_null(copy);
    memcpy(copy, bytes, (size_t)size);
    memcpy(copy + at, &value, 8);
    seal(copy, size, sha256);
    store(path, copy, size);
    leat_error err = {0};
    leat_code code = leat_index_open(&index, path, size, sha256, &err);
    if (code != want) fail_msg("case %zu: code %d: %s", i, code, err.message);
    if (code == LEAT_OK) assert_int_equal(leat_index_verify(index, NULL), LEAT_ERR_CORRUPT);
    leat_index_close(index);
    free(copy);
}

static void hostile(void **state) {
    (void)state;
    char path[64];
    leat_index_facts facts;
    int64_t size = 0;
    build(path, &facts);
    uint8_t *bytes = load(path, &size);
    int64_t body = size - (size + 4103) / 4104 * 8;
    int64_t tail = body - 32, table = tail - SHARDS * 56;
    const struct {
        int64_t at; /* of an int64 that is set to */
        int64_t value;
        leat_code code;
    } cases[] = {
        {0, 0, LEAT_ERR_CORRUPT},     /* magic */
        {8, 2, LEAT_ERR_UNSUPPORTED}, /* version */
        {8, 1 + (INT64_C(1) << 32), LEAT_ERR_CORRUPT},
        {tail, 0, LEAT_ERR_CORRUPT},
        {tail + 8, SHARDS + 1, LEAT_ERR_CORRUPT}, /* shards */
        {tail + 8, -1, LEAT_ERR_CORRUPT},
        {tail + 8, INT64_MAX, LEAT_ERR_CORRUPT},
        {tail + 16, 250, LEAT_ERR_CORRUPT},       /* rows */
        {tail + 24, table + 8, LEAT_ERR_CORRUPT}, /* where the table lies */
        {tail + 24, -8, LEAT_ERR_CORRUPT},
        {tail + 24, INT64_MAX, LEAT_ERR_CORRUPT},
        {table, 101, LEAT_ERR_CORRUPT}, /* rows of shard 0 */
        {table, -1, LEAT_ERR_CORRUPT},
        {table, INT64_MAX / 48 + 1, LEAT_ERR_CORRUPT},
        {table + 8, 701, LEAT_ERR_CORRUPT}, /* pages */
        {table + 8, 0, LEAT_ERR_CORRUPT},
        {table + 8, INT64_MAX, LEAT_ERR_CORRUPT},
        {table + 16, 1, LEAT_ERR_CORRUPT}, /* file bytes */
        {table + 16, INT64_MAX, LEAT_ERR_CORRUPT},
        {table + 16, -1, LEAT_ERR_CORRUPT},
        {table + 48, 2, LEAT_ERR_CORRUPT},                /* split */
        {table + 48, INT64_C(1) << 32, LEAT_ERR_CORRUPT}, /* number */
        {table + 2 * 56 + 48, 1, LEAT_ERR_CORRUPT},
        {table + 3 * 56 + 48, 0, LEAT_ERR_CORRUPT},
        /* these open, and verifying finds them */
        {table + 24, 1, LEAT_OK}, /* measurements */
        {table + 32, 1, LEAT_OK}, /* first time */
        {table + 40, 1, LEAT_OK}, /* last time */
        {16, -1, LEAT_OK},        /* src_id of row 0 */
        {16, INT64_C(1) << 60, LEAT_OK},
        {16 + 8, INT64_MAX, LEAT_OK}, /* first after last */
        {16 + 24, -1, LEAT_OK},       /* chunk offset */
        {16 + 24, 700 * 4096, LEAT_OK},
        {16 + 32, 0, LEAT_OK},                      /* record bytes */
        {16 + 40, 0, LEAT_OK},                      /* number of measurements */
        {16 + 40, 1 + (INT64_C(5) << 32), LEAT_OK}, /* version */
        {16 + 40, 1 + (INT64_C(1) << 40), LEAT_OK}, /* unused bytes */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        open_changed(path, bytes, size, cases[i].at, cases[i].value, cases[i].code, i);
    }
    free(bytes);
}

/* ---- threads and files cut while open ---- */

static leat_index *shared;
static atomic_int wrong;

static leat_code reader(void *context, int index, leat_error *err) {
    (void)err;
    if (index == 0 && context != NULL && truncate(context, 8192) != 0) return LEAT_ERR_IO;
    for (int round = 0; round < 20; round++) {
        int refused = read_all(shared);
        if (refused < 0 || (refused > 0 && context == NULL)) atomic_fetch_add(&wrong, 1);
    }
    return LEAT_OK;
}

static void threads(void **state) {
    (void)state;
    for (int cut = 0; cut < 2; cut++) {
        char path[64];
        leat_index_facts facts;
        build(path, &facts);
        assert_int_equal(leat_index_open(&shared, path, facts.file_bytes, facts.table_sha256, NULL),
                         LEAT_OK);
        assert_int_equal(run_threads(4, reader, cut ? path : NULL, NULL), LEAT_OK);
        assert_int_equal(atomic_load(&wrong), 0);
        if (cut) {
            leat_error err = {0};
            leat_index_row row;
            assert_int_equal(leat_index_row_get(shared, 0, &row, NULL), LEAT_OK);
            assert_int_equal(leat_index_row_get(shared, 250, &row, &err), LEAT_ERR_IO);
            assert_non_null(strstr(err.message, "cannot be read"));
        }
        leat_index_close(shared);
    }
}

/* ---- parts ---- */

static void parts(void **state) {
    (void)state;
    char path[64];
    leat_shard_part part = {0}, again;
    int64_t size = 0;
    snprintf(path, sizeof(path), "%s/part", dir);
    assert_int_equal(make_part(NULL, 0, &part, NULL), LEAT_OK);
    assert_int_equal(leat_shard_part_save(&part, 3, path, NULL), LEAT_OK);
    assert_int_equal(leat_shard_part_load(path, 3, &again, NULL), LEAT_OK);
    assert_memory_equal(&again.info, &part.info, sizeof(part.info));
    assert_memory_equal(again.rows, part.rows, 100 * sizeof(*part.rows));
    assert_int_equal(again.page_count, 700);
    assert_memory_equal(again.page_hashes, part.page_hashes, 700 * 8);
    leat_shard_part_free(&again);
    uint8_t *bytes = load(path, &size);
    for (int64_t at = 0; at < size; at++) {
        bytes[at] ^= (uint8_t)(1 << (at % 8));
        store(path, bytes, size);
        leat_error err = {0};
        assert_int_equal(leat_shard_part_load(path, 3, &again, &err), LEAT_ERR_CORRUPT);
        assert_non_null(strstr(err.message, path));
        assert_null(again.rows);
        bytes[at] ^= (uint8_t)(1 << (at % 8));
    }
    for (int64_t end = 0; end < size; end += end < 200 ? 1 : 61) {
        store(path, bytes, end);
        assert_int_equal(leat_shard_part_load(path, 3, &again, NULL), LEAT_ERR_CORRUPT);
    }
    free(bytes);
    /* totals that are not those of the rows are refused on both sides */
    part.info.measurement_count++;
    assert_int_equal(leat_shard_part_save(&part, 3, path, NULL), LEAT_ERR_CORRUPT);
    leat_shard_part_free(&part);
    snprintf(path, sizeof(path), "%s/none/part", dir);
    assert_int_equal(make_part(NULL, 1, &part, NULL), LEAT_OK);
    assert_int_equal(leat_shard_part_save(&part, 3, path, NULL), LEAT_ERR_NOT_FOUND);
    assert_int_equal(leat_shard_part_load(path, 3, &again, NULL), LEAT_ERR_NOT_FOUND);
    leat_shard_part_free(&part);
}

static void bad_rows(void **state) {
    (void)state;
    leat_shard_part part = {0};
    for (int i = 0; i < 9; i++) {
        leat_index_row row = make_row(0, 1);
        if (i == 0) row.src_id = -1;
        if (i == 1) row.src_id = INT64_C(1) << 60;
        if (i == 2) row.first_us = -1;
        if (i == 3) row.last_us = row.first_us - 1;
        if (i == 4) row.chunk_offset = -1;
        if (i == 5) row.record_bytes = 0;
        if (i == 6) row.n_measurements = 0;
        if (i == 7) row.ip_version = 5;
        if (i == 8) row.zero[2] = 1;
        assert_int_equal(leat_shard_part_add_row(&part, &row, NULL), LEAT_ERR_INPUT);
    }
    assert_int_equal(part.info.row_count, 0);
    leat_shard_part_free(&part);
}

/* What the callback gives must fit: order, pages; its own failure is passed on. Nothing stays. */
static int mode;
static leat_code bad_part(void *context, int64_t k, leat_shard_part *part, leat_error *err) {
    LEAT_TRY(make_part(context, k, part, err));
    if (k != 2) return LEAT_OK;
    if (mode == 0) part->info.number = 3;
    if (mode == 1) part->info.split = LEAT_SPLIT_TEST;
    if (mode == 2) part->page_count = 1;
    if (mode == 3) return leat_fail(err, LEAT_ERR_CANCELLED, "stopped");
    if (mode == 4) part->rows[5].chunk_offset = part->info.file_bytes;
    if (mode == 5) part->info.file_bytes = 0;
    return LEAT_OK;
}

static void bad_builds(void **state) {
    (void)state;
    static const leat_code codes[] = {LEAT_ERR_INPUT,     LEAT_ERR_INPUT,   LEAT_ERR_CORRUPT,
                                      LEAT_ERR_CANCELLED, LEAT_ERR_CORRUPT, LEAT_ERR_CORRUPT};
    char path[64];
    snprintf(path, sizeof(path), "%s/bad.bin", dir);
    for (mode = 0; mode < 6; mode++) {
        leat_index_facts facts;
        leat_path_list names = {0};
        assert_int_equal(leat_index_build(path, SHARDS, bad_part, NULL, &facts, NULL), codes[mode]);
        assert_int_equal(facts.file_bytes, 0);
        assert_int_equal(leat_path_list_dir(dir, &names, NULL), LEAT_OK);
        for (int64_t i = 0; i < names.count; i++) {
            assert_null(strstr(names.paths[i], "bad.bin"));
        }
        leat_path_list_free(&names);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip), cmocka_unit_test(no_shards), cmocka_unit_test(bit_flips),
        cmocka_unit_test(one_page),   cmocka_unit_test(hostile),   cmocka_unit_test(wrong_files),
        cmocka_unit_test(threads),    cmocka_unit_test(parts),     cmocka_unit_test(bad_rows),
        cmocka_unit_test(bad_builds),
    };
    if (mkdtemp(dir) == NULL) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (leat_path_remove_tree(dir, NULL) != LEAT_OK) return 1;
    return failed;
}
