/* The spill: chains of blocks over many buckets, records that just fit, damage that is found. */
#include "core_support.h"

#include "base/hash.h"

/* What was put into each bucket of the spill at work. */
enum { BUCKETS_MAX = 300 };
static int64_t put_bytes[BUCKETS_MAX], put_records[BUCKETS_MAX];

static void begin_spill(leat_spill *spill, const char *path, int buckets, int32_t block_bytes) {
    memset(put_bytes, 0, sizeof put_bytes);
    memset(put_records, 0, sizeof put_records);
    assert_ok(leat_spill_create(spill, path, 7, buckets, block_bytes, err));
}

/* Appends `size` bytes that are a function of (bucket, place) as a record. */
static void put(leat_spill *spill, int bucket, int32_t size) {
    uint8_t *at = NULL;
    int64_t begin = put_bytes[bucket];
    assert_ok(leat_spill_room(spill, bucket, size, &at, err));
    for (int32_t i = 0; i < size; i++) {
        at[i] = (uint8_t)leat_random(9, (uint64_t)bucket, (uint64_t)(begin + i));
    }
    leat_spill_count(spill, bucket);
    put_bytes[bucket] += size;
    put_records[bucket]++;
}

/* Reads a chain: every byte is where it belongs. *blocks counts them. */
static leat_code read_chain(const leat_spill *spill, int bucket, int64_t *blocks, leat_error *err) {
    /* exactly as large as a block, so that a sanitizer sees a read past it */
    uint8_t *block = malloc((size_t)spill->block_bytes);
    leat_spill_cursor cursor;
    leat_spill_cursor_begin(&cursor, spill, bucket, block);
    int64_t bytes = 0, records = 0;
    leat_code code = LEAT_OK;
    bool same = true;
    for (*blocks = 0;; (*blocks)++) {
        code = leat_spill_cursor_next(&cursor, err);
        if (code != LEAT_OK || cursor.size == 0) break;
        for (int32_t i = 0; i < cursor.size; i++, bytes++) {
            uint8_t want = (uint8_t)leat_random(9, (uint64_t)bucket, (uint64_t)bytes);
            same = same && block[LEAT_SPILL_HEADER_BYTES + i] == want;
        }
        records += cursor.records;
    }
    free(block);
    if (code != LEAT_OK) {
        assert_int_equal(cursor.size, 0);
        return code;
    }
    assert_true(same);
    assert_int_equal(bytes, spill->streams[bucket].bytes);
    assert_int_equal(records, spill->streams[bucket].records);
    if (spill->streams[bucket].head >= 0) {
        assert_int_equal(bytes, put_bytes[bucket]);
        assert_int_equal(records, put_records[bucket]);
    }
    return LEAT_OK;
}

static leat_code read_all(const leat_spill *spill, leat_error *err) {
    int64_t blocks = 0;
    for (int b = 0; b < spill->bucket_count; b++) LEAT_TRY(read_chain(spill, b, &blocks, err));
    return LEAT_OK;
}

static void chains(void **state) {
    (void)state;
    static const struct {
        int buckets;
        int32_t block_bytes;
        int64_t records;
    } cases[] = {{1, 4096, 0}, {1, 4096, 1}, {1, 4096, 1000}, {7, 4096, 5000}, {300, 8192, 60000}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        leat_spill spill;
        const char *path = core_path("spill");
        begin_spill(&spill, path, cases[c].buckets, cases[c].block_bytes);
        core_rng rng = {.seed = c};
        for (int64_t i = 0; i < cases[c].records; i++) {
            /* a third of the records go to bucket 0; some buckets stay empty */
            int64_t any = core_below(&rng, cases[c].buckets);
            int bucket = (int)(core_below(&rng, 3) == 0 ? 0 : any);
            if (bucket % 10 == 9) bucket = 0;
            put(&spill, bucket, (int32_t)(12 + core_below(&rng, 51)));
        }
        assert_ok(leat_spill_finish(&spill, err));
        assert_null(spill.buffers);
        assert_ok(read_all(&spill, err));
        /* the same from a file that is opened again */
        leat_spill again;
        assert_ok(leat_spill_open(&again, path, 7, cases[c].buckets, cases[c].block_bytes, err));
        assert_int_equal(again.file_bytes, spill.file_bytes);
        int64_t blocks = 0;
        assert_ok(read_chain(&again, 0, &blocks, err) == LEAT_OK && blocks == 0 ? LEAT_OK
                                                                                : LEAT_ERR_INPUT);
        memcpy(again.streams, spill.streams, (size_t)cases[c].buckets * sizeof *spill.streams);
        assert_ok(read_all(&again, err));
        leat_spill_close(&again);
        leat_spill_close(&spill);
        leat_spill_close(&spill); /* a closed one is empty */
    }
}

/* Records that fill a block to its last byte, and records that miss it by one. */
static void just_fitting(void **state) {
    (void)state;
    int32_t room = 4096 - LEAT_SPILL_HEADER_BYTES;
    static const struct {
        int32_t last; /* the second record, relative to what is left after the first */
        int64_t blocks;
    } cases[] = {{-1, 1}, {0, 1}, {1, 2}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        leat_spill spill;
        begin_spill(&spill, core_path("fit"), 2, 4096);
        put(&spill, 1, 2000);
        put(&spill, 1, room - 2000 + cases[c].last);
        assert_ok(leat_spill_finish(&spill, err));
        int64_t blocks = 0;
        assert_ok(read_chain(&spill, 1, &blocks, err));
        assert_int_equal(blocks, cases[c].blocks);
        assert_int_equal(spill.file_bytes, 4096 * cases[c].blocks);
        leat_spill_close(&spill);
    }
}

/* A spill of three buckets in `path`; its streams are copied out. */
static void make_small(const char *path, leat_spill_stream streams[3]) {
    leat_spill spill;
    begin_spill(&spill, path, 3, 4096);
    for (int i = 0; i < 600; i++) put(&spill, i % 7 == 0 ? 2 : i % 2, 20 + i % 40);
    assert_ok(leat_spill_finish(&spill, err));
    memcpy(streams, spill.streams, 3 * sizeof *streams);
    leat_spill_close(&spill);
}

static leat_code read_image(const core_image *image, int64_t size_bytes,
                            const leat_spill_stream streams[3], leat_error *err) {
    const char *path = core_path("damaged");
    core_save(path, image->data, size_bytes);
    leat_spill spill;
    assert_ok(leat_spill_open(&spill, path, 7, 3, 4096, err));
    memcpy(spill.streams, streams, 3 * sizeof *streams);
    leat_code code = read_all(&spill, err);
    leat_spill_close(&spill);
    return code;
}

static void flipped(void **state) {
    (void)state;
    leat_spill_stream streams[3];
    const char *path = core_path("flip");
    make_small(path, streams);
    core_image image = core_load(path);
    assert_true(image.size_bytes >= 5 * 4096);
    for (int64_t block = 0; block < image.size_bytes; block += 4096) {
        uint32_t used = 0;
        memcpy(&used, image.data + block + 16, 4);
        for (int64_t at = 0; at < LEAT_SPILL_HEADER_BYTES + (int64_t)used; at += at < 24 ? 1 : 97) {
            image.data[block + at] ^= (uint8_t)(1 << at % 8);
            assert_fails(read_image(&image, image.size_bytes, streams, err), LEAT_ERR_CORRUPT,
                         "block at byte");
            image.data[block + at] ^= (uint8_t)(1 << at % 8);
        }
    }
    assert_ok(read_image(&image, image.size_bytes, streams, err));
    free(image.data);
}

/* A crash leaves a file that ends early, or blocks that were never written. */
static void torn(void **state) {
    (void)state;
    leat_spill_stream streams[3];
    const char *path = core_path("torn");
    make_small(path, streams);
    core_image image = core_load(path);
    static const int64_t into[] = {-4096, -4000, -1, 0, 1, 8, 16, 20, 22, 23, 24, 25, 100};
    int64_t last = image.size_bytes - 4096;
    for (size_t i = 0; i < sizeof into / sizeof *into; i++) {
        assert_fails(read_image(&image, last + into[i], streams, err), LEAT_ERR_CORRUPT, "damaged");
    }
    for (int64_t block = 0; block < image.size_bytes; block += 4096) {
        uint8_t kept[4096];
        memcpy(kept, image.data + block, 4096);
        memset(image.data + block, 0, 4096);
        assert_fails(read_image(&image, image.size_bytes, streams, err), LEAT_ERR_CORRUPT,
                     "damaged");
        memcpy(image.data + block, kept, 4096);
    }
    free(image.data);
}

/* Chains that lead nowhere: to themselves, past the end, between blocks. */
static void wild_chains(void **state) {
    (void)state;
    leat_spill_stream streams[3];
    const char *path = core_path("wild");
    make_small(path, streams);
    core_image image = core_load(path);
    const int64_t targets[] = {streams[0].head, image.size_bytes, image.size_bytes + 4096, 100,
                               INT64_MAX - 4095};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        uint8_t kept[4096], *block = image.data + streams[0].head;
        memcpy(kept, block, 4096);
        memcpy(block + 8, &targets[i], 8);
        uint32_t used = 0;
        memcpy(&used, block + 16, 4);
        uint64_t hash = leat_xxh3(block + 8, (int64_t)used + LEAT_SPILL_HEADER_BYTES - 8);
        memcpy(block, &hash, 8);
        leat_spill spill;
        core_save(core_path("damaged"), image.data, image.size_bytes);
        assert_ok(leat_spill_open(&spill, core_path("damaged"), 7, 3, 4096, err));
        memcpy(spill.streams, streams, sizeof streams);
        uint8_t *room = malloc(4096);
        leat_spill_cursor cursor;
        leat_spill_cursor_begin(&cursor, &spill, 0, room);
        leat_code code = LEAT_OK;
        int64_t blocks = 0;
        for (; code == LEAT_OK && blocks < 1000; blocks++) {
            code = leat_spill_cursor_next(&cursor, NULL);
            if (cursor.size == 0) break;
        }
        assert_int_equal(code, LEAT_ERR_CORRUPT);
        assert_true(blocks <= image.size_bytes / 4096 + 1);
        free(room);
        leat_spill_close(&spill);
        memcpy(block, kept, 4096);
    }
    free(image.data);
}

/* The order of records: time, text, rtt; a shorter text that begins a longer one comes first. */
static void order(void **state) {
    (void)state;
    static const core_row rows[] = {
        {.time_us = -5, .dst = "9.9.9.9", .rtt = 3},  {.time_us = 1, .dst = "1.1.1.1", .rtt = -1},
        {.time_us = 1, .dst = "1.1.1.1", .rtt = 0},   {.time_us = 1, .dst = "1.1.1.1", .rtt = 2.5f},
        {.time_us = 1, .dst = "1.1.1.10", .rtt = -1}, {.time_us = 1, .dst = "1.1.1.2", .rtt = -1},
        {.time_us = 256, .dst = "1.1.1.1", .rtt = 0},
    };
    enum { COUNT = sizeof rows / sizeof *rows };
    uint8_t records[COUNT][128];
    for (int i = 0; i < COUNT; i++) {
        uint8_t *at = records[i];
        memset(at, 0xee, sizeof records[i]);
        memcpy(at, &rows[i].time_us, 8);
        memcpy(at + LEAT_SPILL_RTT_AT, &rows[i].rtt, 4);
        at[LEAT_SPILL_FACTS_AT] = (uint8_t)strlen(rows[i].dst);
        memcpy(at + LEAT_SPILL_TEXT_AT, rows[i].dst, strlen(rows[i].dst));
    }
    for (int i = 0; i < COUNT; i++) {
        for (int j = 0; j < COUNT; j++) {
            int got = leat_spill_compare(records[i], records[j]);
            assert_int_equal((got > 0) - (got < 0), (i > j) - (i < j));
        }
    }
}

/* A spill that was opened again gives its room back like the one that was written. */
static void released(void **state) {
    (void)state;
    for (int again = 0; again < 2; again++) {
        leat_spill spill;
        const char *path = core_path("released");
        leat_path_facts facts;
        begin_spill(&spill, path, 2, 4096);
        put(&spill, 1, 100);
        assert_ok(leat_spill_finish(&spill, err));
        if (again) {
            leat_spill_close(&spill);
            assert_ok(leat_spill_open(&spill, path, 7, 2, 4096, err));
        }
        leat_spill_release(&spill);
        leat_spill_close(&spill);
        assert_ok(leat_path_stat(path, &facts, err));
        assert_int_equal(facts.size_bytes, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains),   cmocka_unit_test(just_fitting), cmocka_unit_test(flipped),
        cmocka_unit_test(released), cmocka_unit_test(torn),         cmocka_unit_test(wild_chains),
        cmocka_unit_test(order),
    };
    int failed = cmocka_run_group_tests_name("spill", tests, NULL, NULL);
    core_dir_remove();
    return failed;
}
