/*
 * The spill: records of many buckets in memory, in one segment of a file and in many; records that
 * just fit; what is encoded is decoded; damage that is found.
 */
#include "core_support.h"

#include "base/hash.h"

enum { BUCKETS_MAX = 300 };
/* What was put into each bucket of the spills at work. */
static leat_buf put_bytes[BUCKETS_MAX];
static int64_t put_records[BUCKETS_MAX];

static leat_spill_pool pool; /* of the spills at work */

static void begin_spill(leat_spill *spill, const char *path, int buckets, core_place place) {
    for (int i = 0; i < BUCKETS_MAX; i++) {
        put_bytes[i].size = 0;
        put_records[i] = 0;
    }
    core_pool_create(&pool, place);
    assert_ok(leat_spill_create(spill, path, 7, buckets, &pool, err));
}

static void end_spill(leat_spill *spill) {
    leat_spill_close(spill);
    leat_spill_close(spill); /* a closed one is empty */
    leat_spill_pool_destroy(&pool);
}

/* Remembers the record that was put last. */
static void remember(const leat_spill *spill, int bucket, int64_t size) {
    const leat_spill_tail *tail = &spill->tails[bucket];
    assert_ok(leat_buf_append(&put_bytes[bucket], tail->last + tail->used - size, size, err));
}

static void put_definition(leat_spill *spill, int bucket, const char *text) {
    core_define(spill, bucket, core_src_id(text), text);
    remember(spill, bucket, LEAT_SPILL_DEFINITION_BYTES + (int64_t)strlen(text));
}

/* Any record: `kind` has what is seldom, in bits. */
static void put_measurement(leat_spill *spill, int bucket, core_rng *rng, int kind) {
    core_row row = {.time_us = 1556000000000000 + core_below(rng, 1000000000), .rtt = 0.25f};
    uint8_t *at = NULL;
    uint32_t source = (uint32_t)core_below(rng, kind & 1 ? INT32_MAX : 40), more = 0;
    if (kind & 2) row.time_us = (int64_t)((uint64_t)core_below(rng, INT64_MAX) << (kind & 1));
    if (kind & 4) row.rtt = -1;
    int targets = kind & 8 ? 100000 : 30;
    core_address((uint64_t)core_below(rng, targets), core_below(rng, 3) == 0 ? 6 : 4, row.dst);
    if (kind & 16) core_address((uint64_t)core_below(rng, targets), 4, row.own);
    int32_t size = (int32_t)strlen(row.dst), own = (int32_t)strlen(row.own);
    if (kind & 32) more = (uint32_t)core_below(rng, INT32_MAX);
    if (own > 0) more |= LEAT_SPILL_OWN_SOURCE;
    int32_t all = LEAT_SPILL_MEASUREMENT_BYTES + size;
    if (more > 0) all += LEAT_SPILL_MORE_BYTES + (own > 0 ? 1 + own : 0);
    assert_ok(leat_spill_room(spill, bucket, all, &at, err));
    memcpy(at, &row.time_us, 8);
    memcpy(at + 8, &source, 4);
    memcpy(at + LEAT_SPILL_RTT_AT, &row.rtt, 4);
    at[LEAT_SPILL_FACTS_AT] = (uint8_t)(size | (core_version(row.dst) == 6 ? LEAT_SPILL_V6 : 0) |
                                        (more > 0 ? LEAT_SPILL_MORE : 0));
    memcpy(at + LEAT_SPILL_TEXT_AT, row.dst, (size_t)size);
    if (more > 0) memcpy(at + LEAT_SPILL_TEXT_AT + size, &more, LEAT_SPILL_MORE_BYTES);
    if (own > 0) {
        at[LEAT_SPILL_TEXT_AT + size + LEAT_SPILL_MORE_BYTES] = (uint8_t)own;
        memcpy(at + all - own, row.own, (size_t)own);
    }
    assert_int_equal(leat_spill_record_bytes(at), all);
    leat_spill_count(spill, bucket);
    remember(spill, bucket, all);
    put_records[bucket]++;
}

/* Reads a stream: every byte is what was put. *blocks counts them. */
static leat_code read_stream(const leat_spill *spill, int bucket, int64_t *blocks,
                             leat_error *err) {
    leat_spill_decoder *decoder = calloc(1, sizeof *decoder);
    leat_spill_cursor cursor;
    leat_spill_cursor_begin(&cursor, spill, bucket, decoder);
    int64_t bytes = 0, records = 0;
    leat_code code = LEAT_OK;
    bool same = true;
    for (*blocks = 0;; (*blocks)++) {
        code = leat_spill_cursor_next(&cursor, err);
        if (code != LEAT_OK || cursor.size == 0) break;
        same = same && bytes + cursor.size <= put_bytes[bucket].size &&
               memcmp(put_bytes[bucket].data + bytes, cursor.block, (size_t)cursor.size) == 0;
        bytes += cursor.size;
        records += cursor.records;
    }
    free(decoder);
    if (code != LEAT_OK) {
        assert_int_equal(cursor.size, 0);
        return code;
    }
    assert_true(same);
    assert_int_equal(bytes, put_bytes[bucket].size);
    assert_int_equal(records, put_records[bucket]);
    assert_int_equal(bytes, spill->streams[bucket].bytes);
    assert_int_equal(records, spill->streams[bucket].records);
    return LEAT_OK;
}

static leat_code read_all(const leat_spill *spill, leat_error *err) {
    int64_t blocks = 0;
    for (int b = 0; b < spill->bucket_count; b++) LEAT_TRY(read_stream(spill, b, &blocks, err));
    return LEAT_OK;
}

/* Puts records of all kinds: a third of them into bucket 0; some buckets stay empty. */
static void put_any(leat_spill *spill, int64_t records, uint64_t seed) {
    core_rng rng = {.seed = seed};
    for (int64_t i = 0; i < records; i++) {
        int64_t any = core_below(&rng, spill->bucket_count);
        int bucket = (int)(core_below(&rng, 3) == 0 ? 0 : any);
        char text[46];
        if (bucket % 10 == 9) bucket = 0;
        core_address((uint64_t)i, 4 + 2 * (int)(i % 2), text);
        if (core_below(&rng, 20) == 0) put_definition(spill, bucket, text);
        int kind = core_below(&rng, 4) == 0 ? (int)core_below(&rng, 64) : 0;
        put_measurement(spill, bucket, &rng, kind);
        if (i % 5000 == 4999) leat_spill_forget(spill);
    }
}

static void streams(void **state) {
    (void)state;
    static const struct {
        int buckets;
        int64_t records;
    } cases[] = {{1, 0}, {1, 1}, {1, 1000}, {1, 40000}, {7, 5000}, {300, 60000}};
    for (size_t c = 0; c < CORE_PLACES * sizeof cases / sizeof *cases; c++) {
        core_place place = c % CORE_PLACES;
        int buckets = cases[c / CORE_PLACES].buckets;
        int64_t records = cases[c / CORE_PLACES].records;
        leat_spill spill, again;
        const char *path = core_path("spill");
        begin_spill(&spill, path, buckets, place);
        put_any(&spill, records, c);
        bool full = leat_spill_pool_has_written(&pool);
        assert_int_equal(full, place == CORE_SEGMENTS && records >= 5000);
        if (place != CORE_SEGMENTS) assert_int_equal(pool.slab_count > 0, records > 0);
        else assert_in_range(pool.slab_count, records > 0, 1);
        core_finish(&spill, &pool, place);
        assert_int_equal(spill.file_bytes > 0, place != CORE_MEMORY && records > 0);
        assert_ok(read_all(&spill, err));
        if (place == CORE_MEMORY) {
            /* written later, as an ingest that is stopped does */
            assert_ok(leat_spill_write(&spill, pool.encoder, err));
            assert_ok(read_all(&spill, err));
        }
        /* the same from a file that is opened again */
        assert_ok(leat_spill_open(&again, path, 7, buckets, spill.texts, err));
        assert_int_equal(again.file_bytes, spill.file_bytes);
        memcpy(again.streams, spill.streams, (size_t)buckets * sizeof *spill.streams);
        assert_ok(read_all(&again, err));
        leat_spill_close(&again);
        end_spill(&spill);
    }
}

/* The budget that pools share: each has its own part first; what is taken is never more. */
static void shared_budget(void **state) {
    (void)state;
    const int64_t slab = LEAT_SPILL_SLAB_BYTES_MIN;
    atomic_llong common = 3 * slab;
    leat_spill_pool pools[2];
    leat_spill spills[2];
    core_rng rng = {.seed = 4};
    for (int i = 0; i < BUCKETS_MAX; i++) put_bytes[i].size = 0;
    for (int k = 0; k < 2; k++) {
        assert_ok(leat_spill_pool_create(&pools[k], 2 * slab, &common, err));
        assert_ok(
            leat_spill_create(&spills[k], core_path(k ? "second" : "first"), 7, 1, &pools[k], err));
    }
    while (pools[0].slab_count < 4) put_measurement(&spills[0], 0, &rng, 0);
    assert_int_equal(atomic_load(&common), slab);
    while (!leat_spill_pool_has_written(&pools[1])) put_measurement(&spills[1], 0, &rng, 0);
    assert_int_equal(pools[1].slab_count, 3);
    assert_int_equal(atomic_load(&common), 0);
    while (!leat_spill_pool_has_written(&pools[0])) put_measurement(&spills[0], 0, &rng, 0);
    assert_int_equal(pools[0].slab_count, 4);
    for (int k = 0; k < 2; k++) {
        leat_spill_close(&spills[k]);
        leat_spill_pool_destroy(&pools[k]);
    }
}

/* Records that fill a chunk to its last byte, and one more. */
static void just_fitting(void **state) {
    (void)state;
    const core_row row = {.time_us = 5, .dst = "::1", .rtt = 1};
    enum { FIT = (LEAT_SPILL_CHUNK_BYTES - LEAT_SPILL_HEADER_BYTES) / 20 };
    for (int more = 0; more < 2; more++) {
        leat_spill spill;
        begin_spill(&spill, core_path("fit"), 2, CORE_MEMORY);
        for (int i = 0; i < FIT + more; i++) {
            core_measure(&spill, 1, 0, &row);
            remember(&spill, 1, 20);
            put_records[1]++;
        }
        assert_int_equal(FIT * 20, LEAT_SPILL_CHUNK_BYTES - LEAT_SPILL_HEADER_BYTES);
        leat_spill_finish(&spill);
        int64_t blocks = 0;
        assert_ok(read_stream(&spill, 1, &blocks, err));
        assert_int_equal(blocks, 1 + more);
        end_spill(&spill);
    }
}

/* ---- damage ---- */

static leat_spill_texts small_texts;

/* A spill of three buckets and two segments in `path`; its streams are copied out. */
static void make_small(const char *path, leat_spill_stream streams[3]) {
    leat_spill spill;
    begin_spill(&spill, path, 3, CORE_SEGMENTS);
    put_any(&spill, 2500, 3);
    assert_true(leat_spill_pool_has_written(&pool));
    core_finish(&spill, &pool, CORE_SEGMENTS);
    memcpy(streams, spill.streams, 3 * sizeof *streams);
    small_texts = *spill.texts;
    end_spill(&spill);
}

static leat_code read_image(const core_image *image, int64_t size_bytes,
                            const leat_spill_stream streams[3], leat_error *err) {
    const char *path = core_path("damaged");
    core_save(path, image->data, size_bytes);
    leat_spill spill;
    assert_ok(leat_spill_open(&spill, path, 7, 3, &small_texts, err));
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
    assert_true(image.size_bytes > 10000);
    for (int64_t at = 0; at < image.size_bytes; at += at < 100 ? 1 : 97) {
        image.data[at] ^= (uint8_t)(1 << at % 8);
        assert_fails(read_image(&image, image.size_bytes, streams, err), LEAT_ERR_CORRUPT,
                     "block at byte");
        image.data[at] ^= (uint8_t)(1 << at % 8);
    }
    assert_ok(read_image(&image, image.size_bytes, streams, err));
    free(image.data);
}

/* A crash leaves a file that ends early, or parts that were never written. */
static void torn(void **state) {
    (void)state;
    leat_spill_stream streams[3];
    const char *path = core_path("torn");
    make_small(path, streams);
    core_image image = core_load(path);
    int64_t first = 0; /* where the second segment begins */
    memcpy(&first, image.data + 8, 8);
    assert_in_range(first, 1000, image.size_bytes - 1000);
    const int64_t ends[] = {
        1, 8, 16, 39, 40, 41, 500, first - 1, first + 1, first + 40, image.size_bytes - 1};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        assert_fails(read_image(&image, ends[i], streams, err), LEAT_ERR_CORRUPT, "damaged");
    for (int64_t at = 0; at + 64 < image.size_bytes; at += 1024) {
        uint8_t kept[64];
        memcpy(kept, image.data + at, 64);
        memset(image.data + at, 0, 64);
        assert_fails(read_image(&image, image.size_bytes, streams, err), LEAT_ERR_CORRUPT,
                     "damaged");
        memcpy(image.data + at, kept, 64);
    }
    free(image.data);
}

/* Tables with the right hash that lead nowhere: past the end, backwards, to themselves. */
static void wild_tables(void **state) {
    (void)state;
    leat_spill_stream streams[3];
    const char *path = core_path("wild");
    make_small(path, streams);
    core_image image = core_load(path);
    const struct {
        int at;
        int64_t value;
    } cases[] = {{8, 0},          {8, 39},         {8, INT64_MAX}, {8, -1},
                 {16, 39},        {16, INT64_MIN}, {16, 45},       {32, image.size_bytes + 1},
                 {32, INT64_MAX}, {24, 41}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t kept[40];
        memcpy(kept, image.data, sizeof kept);
        memcpy(image.data + cases[i].at, &cases[i].value, 8);
        uint64_t hash = leat_xxh3(image.data + 8, 32) ^ 7;
        memcpy(image.data, &hash, 8);
        assert_fails(read_image(&image, image.size_bytes, streams, err), LEAT_ERR_CORRUPT,
                     "block at byte");
        memcpy(image.data, kept, sizeof kept);
    }
    free(image.data);
}

/* Encoded bytes that were changed: refused, or other records, but never outside of the block. */
static void wild_code(void **state) {
    (void)state;
    leat_spill_encoder *encoder = calloc(1, sizeof *encoder);
    leat_spill_decoder *decoder = calloc(1, sizeof *decoder);
    leat_spill_texts *texts = calloc(1, sizeof *texts);
    leat_spill spill;
    begin_spill(&spill, core_path("code"), 1, CORE_MEMORY);
    put_any(&spill, 600, 8);
    int64_t size = put_bytes[0].size, refused = 0;
    assert_in_range(size, 10000, LEAT_SPILL_BLOCK_BYTES);
    leat_spill_encode_begin(encoder);
    leat_spill_encode(encoder, texts, put_bytes[0].data, size);
    uint8_t *to = decoder->bytes + LEAT_SPILL_BLOCK_HEADER_BYTES;
    core_rng rng = {.seed = 9};
    for (int64_t i = 0; i < 20000; i++) {
        int64_t at = core_below(&rng, encoder->filled);
        memcpy(to, encoder->bytes, (size_t)encoder->filled);
        if (i > 0) to[at] ^= (uint8_t)(1 << core_below(&rng, 8));
        bool ok = leat_spill_decode(decoder, texts, encoder->filled, size);
        if (i == 0) assert_true(ok);
        if (i == 0) assert_memory_equal(decoder->block, put_bytes[0].data, (size_t)size);
        refused += !ok;
        assert_false(leat_spill_decode(decoder, texts, at, size)); /* the end is missing */
    }
    assert_in_range(refused, 1000, 19999);
    end_spill(&spill);
    free(encoder);
    free(decoder);
    free(texts);
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
        begin_spill(&spill, path, 2, CORE_FILE);
        put_any(&spill, 100, 1);
        core_finish(&spill, &pool, CORE_FILE);
        if (again) {
            leat_spill_close(&spill);
            assert_ok(leat_spill_open(&spill, path, 7, 2, pool.texts, err));
        }
        leat_spill_release(&spill);
        assert_ok(leat_spill_write(&spill, pool.encoder, err));
        end_spill(&spill);
        assert_ok(leat_path_stat(path, &facts, err));
        assert_int_equal(facts.size_bytes, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams),       cmocka_unit_test(just_fitting), cmocka_unit_test(flipped),
        cmocka_unit_test(shared_budget), cmocka_unit_test(torn),         cmocka_unit_test(released),
        cmocka_unit_test(wild_tables),   cmocka_unit_test(wild_code),    cmocka_unit_test(order),
    };
    int failed = cmocka_run_group_tests_name("spill", tests, NULL, NULL);
    for (int i = 0; i < BUCKETS_MAX; i++) leat_buf_free(&put_bytes[i]);
    core_dir_remove();
    return failed;
}
