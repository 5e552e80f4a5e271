/*
 * Sorting a bucket: random measurements from several streams, in memory and through runs in a tiny
 * arena, against qsort; filters; sources that cannot stand in one data set.
 */
#include "core_support.h"

#include "ingest/probes/runs.h"

static const leat_bucket_filter everything = {.src_id_end = LEAT_SRC_ID_END};

/* Where a test collects what comes out, to be compared with the sorted reference. */
typedef struct sorted {
    const core_row *want;
    int64_t want_count, got;
} sorted;

static leat_code compare_next(void *context, const leat_bucket_source *source,
                              const uint8_t *record, leat_error *err) {
    sorted *self = context;
    if (self->got >= self->want_count) return leat_fail(err, LEAT_ERR_INPUT, "too many");
    const core_row *row = &self->want[self->got++];
    int64_t time_us = 0;
    float rtt = 0;
    memcpy(&time_us, record, 8);
    memcpy(&rtt, record + LEAT_SPILL_RTT_AT, 4);
    size_t size = record[LEAT_SPILL_FACTS_AT] & LEAT_SPILL_LENGTH;
    int version = record[LEAT_SPILL_FACTS_AT] & LEAT_SPILL_V6 ? 6 : 4;
    int32_t own_size;
    const uint8_t *own = leat_spill_own_source(record, &own_size);
    bool same = source->src_id == row->src_id && source->size == strlen(row->src) &&
                memcmp(source->text, row->src, source->size) == 0 && time_us == row->time_us &&
                rtt == row->rtt && size == strlen(row->dst) &&
                memcmp(record + LEAT_SPILL_TEXT_AT, row->dst, size) == 0 &&
                own_size == (int32_t)strlen(row->own) &&
                (own == NULL || memcmp(own, row->own, (size_t)own_size) == 0) &&
                version == core_version(row->dst);
    if (same) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_INPUT, "measurement %lld differs", (long long)self->got - 1);
}

static leat_code walk_groups(const leat_bucket *bucket, sorted *out, leat_error *err) {
    for (int64_t g = 0; g < bucket->group_count; g++) {
        const leat_bucket_group *group = &bucket->groups[g];
        for (int64_t i = 0; i < group->count; i++) {
            const leat_bucket_item *item = &bucket->items[group->first + i];
            const uint8_t *record = leat_bucket_record(bucket, item);
            LEAT_TRY(compare_next(out, group->source, record, err));
        }
    }
    return LEAT_OK;
}

/* Sorts as the ingest does: in memory if it fits, else runs. *pieces: how many there were. */
static leat_code sort_bucket(const core_spills *spills, int64_t arena_bytes, int64_t sources,
                             const leat_bucket_filter *filter, sorted *out, int *pieces,
                             leat_error *err) {
    uint8_t *arena = NULL;
    leat_bucket bucket;
    leat_runs runs = {0};
    bool more = false;
    *pieces = 1;
    for (int k = 0; k < spills->count; k++) {
        const leat_spill *spill = &spills->spills[k];
        int64_t least = leat_bucket_sources_min(spill->streams[0].generation_most);
        if (least > sources) sources = least;
    }
    LEAT_TRY(leat_block_alloc((void **)&arena, arena_bytes, err));
    leat_code code = leat_bucket_create(&bucket, spills->count, arena, arena_bytes, sources, err);
    if (code == LEAT_OK) leat_bucket_begin(&bucket, spills->each, 0, filter);
    if (code == LEAT_OK) code = leat_bucket_load(&bucket, &more, err);
    if (code == LEAT_OK && !more) code = walk_groups(&bucket, out, err);
    if (code == LEAT_OK && more) {
        code = leat_runs_create(&runs, core_dir(), err);
        while (code == LEAT_OK && more) {
            code = leat_runs_add(&runs, &bucket, err);
            if (code == LEAT_OK) code = leat_bucket_load(&bucket, &more, err);
            (*pieces)++;
        }
        if (code == LEAT_OK) code = leat_runs_add(&runs, &bucket, err);
        if (code == LEAT_OK) {
            code = leat_runs_merge(&runs, arena, arena_bytes, compare_next, out, err);
        }
        leat_runs_destroy(&runs);
    }
    leat_bucket_destroy(&bucket);
    leat_block_free(arena, arena_bytes);
    return code;
}

static void against_qsort(void **state) {
    (void)state;
    static const struct {
        core_shape shape; /* order is tried in all three ways */
        int streams;
        int64_t again, arena_bytes, sources; /* 0: the least that the tables must hold */
        bool in_pieces;
    } cases[] = {
        {{.rows = 1, .sources = 1, .times = 1, .targets = 1}, 1, 0, 1 << 20, 0, false},
        {{.rows = 2, .sources = 1, .times = 1, .targets = 2}, 3, 0, 1 << 20, 900, false},
        {{.rows = 500, .sources = 4, .times = 3, .targets = 3}, 2, 0, 1 << 20, 900, false},
        {{.rows = 9000, .sources = 700, .times = 9000, .targets = 50},
         5,
         1000,
         4 << 20,
         9500,
         false},
        {{.rows = 9000, .sources = 700, .times = 9000, .targets = 50}, 5, 500, 4 << 20, 0, true},
        {{.rows = 9000, .sources = 700, .times = 9000, .targets = 50}, 1, 500, 4 << 20, 0, true},
        {{.rows = 9000, .sources = 700, .times = 9000, .targets = 50},
         5,
         1000,
         1 << 17,
         9500,
         true},
        {{.rows = 30000, .sources = 9, .heavy = 90, .times = 1000, .targets = 4},
         3,
         0,
         1 << 17,
         900,
         true},
        {{.rows = 30000, .sources = 1, .times = 30000, .targets = 4}, 1, 0, 1 << 17, 900, true},
        {{.rows = 30000, .sources = 3, .times = 5, .targets = 2}, 2, 500, 8 << 20, 900, false},
        {{.rows = 9000, .sources = 7, .own = 5, .times = 5, .targets = 2},
         2,
         500,
         8 << 20,
         900,
         false},
        {{.rows = 30000, .sources = 9, .heavy = 90, .own = 3, .times = 1000, .targets = 4},
         3,
         0,
         1 << 17,
         900,
         true},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        for (int k = 0; k < CORE_ORDERS * CORE_PLACES; k++) {
            int order = k / CORE_PLACES;
            core_shape shape = cases[c].shape;
            shape.seed = c * 10 + (uint64_t)order;
            shape.order = order;
            core_row *rows = core_rows(&shape);
            core_spills spills =
                core_spread(rows, shape.rows, cases[c].streams, k % CORE_PLACES, cases[c].again);
            qsort(rows, (size_t)shape.rows, sizeof *rows, core_row_compare);
            sorted out = {.want = rows, .want_count = shape.rows};
            int pieces = 0;
            assert_ok(sort_bucket(&spills, cases[c].arena_bytes, cases[c].sources, &everything,
                                  &out, &pieces, err));
            assert_int_equal(out.got, shape.rows);
            assert_int_equal(pieces > 1, cases[c].in_pieces);
            core_spills_close(&spills);
            free(rows);
        }
    }
}

/* What is wanted of it: a range of src_id, one side of a bound. Kept are the reference's rows. */
static void filters(void **state) {
    (void)state;
    core_shape shape = {.seed = 4, .rows = 12000, .sources = 300, .times = 500, .targets = 9};
    core_row *rows = core_rows(&shape);
    core_spills spills = core_spread(rows, shape.rows, 3, CORE_SEGMENTS, 2500);
    qsort(rows, (size_t)shape.rows, sizeof *rows, core_row_compare);
    core_row *kept = malloc((size_t)shape.rows * sizeof *kept);
    const int64_t some = rows[5000].src_id, later = rows[9000].src_id;
    leat_census_bound none = {.size_bytes = -1}, bound = {.size_bytes = 7};
    memcpy(bound.text, "2001:db", 7);
    bound.size_bytes = (int32_t)strlen(rows[6000].src);
    memcpy(bound.text, rows[6000].src, strlen(rows[6000].src));
    const leat_bucket_filter filters[] = {
        {.src_id_begin = 0, .src_id_end = 0},
        {.src_id_begin = 0, .src_id_end = some},
        {.src_id_begin = some, .src_id_end = later},
        {.src_id_begin = some, .src_id_end = some + 1},
        {.src_id_begin = later + 1, .src_id_end = LEAT_SRC_ID_END},
        {.src_id_end = LEAT_SRC_ID_END,
         .by_bound = true,
         .split = LEAT_SPLIT_TRAIN,
         .bound = &none},
        {.src_id_end = LEAT_SRC_ID_END, .by_bound = true, .split = LEAT_SPLIT_TEST, .bound = &none},
        {.src_id_end = LEAT_SRC_ID_END,
         .by_bound = true,
         .split = LEAT_SPLIT_TRAIN,
         .bound = &bound},
        {.src_id_end = LEAT_SRC_ID_END,
         .by_bound = true,
         .split = LEAT_SPLIT_TEST,
         .bound = &bound},
        {.src_id_begin = some,
         .src_id_end = later,
         .by_bound = true,
         .split = LEAT_SPLIT_TEST,
         .bound = &bound},
    };
    int64_t seen[2] = {0};
    for (size_t f = 0; f < sizeof filters / sizeof *filters; f++) {
        const leat_bucket_filter *filter = &filters[f];
        int64_t count = 0;
        for (int64_t i = 0; i < shape.rows; i++) {
            bool want =
                rows[i].src_id >= filter->src_id_begin && rows[i].src_id < filter->src_id_end;
            if (want && filter->by_bound) {
                bool train = filter->bound == &none || strcmp(rows[i].src, rows[6000].src) < 0;
                want = train == (filter->split == LEAT_SPLIT_TRAIN);
            }
            if (want) kept[count++] = rows[i];
        }
        if (filter->bound == &bound && filter->src_id_begin == 0) seen[filter->split] = count;
        for (int tiny = 0; tiny < 2; tiny++) {
            sorted out = {.want = kept, .want_count = count};
            int pieces = 0;
            assert_ok(
                sort_bucket(&spills, tiny ? 1 << 17 : 4 << 20, 5000, filter, &out, &pieces, err));
            assert_int_equal(out.got, count);
        }
    }
    assert_true(seen[0] > 0 && seen[1] > 0);
    assert_int_equal(seen[0] + seen[1], shape.rows);
    core_spills_close(&spills);
    free(kept);
    free(rows);
}

/* Two addresses whose MD5 begin alike: no such pair is known, so the definitions are forged. */
static void equal_src_ids(void **state) {
    (void)state;
    core_row row = {.time_us = 5, .dst = "9.9.9.9", .rtt = 1};
    for (int streams = 1; streams <= 2; streams++) {
        for (int tiny = 0; tiny < 2; tiny++) {
            core_spills spills = {.count = streams};
            spills.spills = calloc((size_t)streams, sizeof *spills.spills);
            spills.each = calloc((size_t)streams, sizeof *spills.each);
            spills.pools = calloc((size_t)streams, sizeof *spills.pools);
            for (int k = 0; k < streams; k++) {
                char name[32];
                snprintf(name, sizeof name, "forged_%d", k);
                core_pool_create(&spills.pools[k], CORE_MEMORY);
                assert_ok(leat_spill_create(&spills.spills[k], core_path(name), 7, 1,
                                            &spills.pools[k], err));
                spills.each[k] = &spills.spills[k];
            }
            leat_spill *last = &spills.spills[streams - 1];
            uint32_t one = core_define(&spills.spills[0], 0, 77, "1.2.3.4");
            for (int i = 0; i < (tiny ? 5000 : 5); i++) {
                core_measure(&spills.spills[0], 0, one, &row);
            }
            uint32_t other = core_define(last, 0, 77, "1.2.3.40");
            core_measure(last, 0, other, &row);
            for (int k = 0; k < streams; k++) leat_spill_finish(&spills.spills[k]);
            sorted out = {.want = NULL};
            core_row want[5];
            for (int i = 0; i < 5; i++) want[i] = row;
            out.want = want;
            int pieces = 0;
            assert_fails(sort_bucket(&spills, 1 << 17, 5000, &everything, &out, &pieces, err),
                         LEAT_ERR_INPUT, "\"1.2.3.4\" and \"1.2.3.40\" have the same src_id 77");
            assert_int_equal(pieces > 1, tiny);
            core_spills_close(&spills);
        }
    }
}

/* The same bucket object reads one bucket after the other; an empty one gives nothing. */
static void used_again(void **state) {
    (void)state;
    core_shape shape = {.seed = 8, .rows = 3000, .sources = 40, .times = 100, .targets = 9};
    core_row *rows = core_rows(&shape);
    core_spills spills = core_spread(rows, shape.rows, 2, CORE_FILE, 0);
    core_spills empty = core_spread(rows, 0, 2, CORE_FILE, 0);
    qsort(rows, (size_t)shape.rows, sizeof *rows, core_row_compare);
    uint8_t *arena = NULL;
    leat_bucket bucket;
    assert_ok(leat_block_alloc((void **)&arena, 1 << 20, err));
    assert_ok(leat_bucket_create(&bucket, 2, arena, 1 << 20, 5000, err));
    for (int i = 0; i < 6; i++) {
        bool more = true;
        sorted out = {.want = rows, .want_count = shape.rows};
        const core_spills *now = i % 3 == 0 ? &empty : &spills;
        leat_bucket_begin(&bucket, now->each, 0, &everything);
        assert_ok(leat_bucket_load(&bucket, &more, err));
        assert_false(more);
        assert_ok(walk_groups(&bucket, &out, err));
        assert_int_equal(out.got, i % 3 == 0 ? 0 : shape.rows);
    }
    leat_bucket_destroy(&bucket);
    leat_block_free(arena, 1 << 20);
    core_spills_close(&empty);
    core_spills_close(&spills);
    free(rows);
}

/* More runs than have room for a buffer at once: they are merged to fewer, pass by pass. */
static void many_runs(void **state) {
    (void)state;
    core_shape shape = {.seed = 3, .rows = 300000, .sources = 9, .times = 5000, .targets = 3};
    const int64_t arena_bytes = 1 << 17;
    core_row *rows = core_rows(&shape);
    core_spills spills = core_spread(rows, shape.rows, 1, CORE_FILE, 0);
    qsort(rows, (size_t)shape.rows, sizeof *rows, core_row_compare);
    uint8_t *arena = NULL;
    leat_bucket bucket;
    leat_runs runs;
    bool more = true;
    assert_ok(leat_block_alloc((void **)&arena, arena_bytes, err));
    assert_ok(leat_bucket_create(&bucket, 1, arena, arena_bytes, 5000, err));
    assert_ok(leat_runs_create(&runs, core_dir(), err));
    leat_bucket_begin(&bucket, spills.each, 0, &everything);
    while (more) {
        assert_ok(leat_bucket_load(&bucket, &more, err));
        assert_ok(leat_runs_add(&runs, &bucket, err));
    }
    assert_true(runs.sorted.count > 64); /* eight at a time */
    sorted out = {.want = rows, .want_count = shape.rows};
    assert_ok(leat_runs_merge(&runs, arena, arena_bytes, compare_next, &out, err));
    assert_int_equal(out.got, shape.rows);
    assert_in_range(runs.sorted.passes, 2, 9);
    assert_in_range(runs.sorted.count, 1, 8);
    leat_runs_destroy(&runs);
    leat_bucket_destroy(&bucket);
    leat_block_free(arena, arena_bytes);
    core_spills_close(&spills);
    leat_path_list left = {0};
    assert_ok(leat_path_list_dir(core_dir(), &left, err));
    for (int64_t i = 0; i < left.count; i++) assert_null(strstr(left.paths[i], "scratch"));
    leat_path_list_free(&left);
    free(rows);
}

static leat_code ignore(void *context, const leat_bucket_source *source, const uint8_t *record,
                        leat_error *err) {
    (void)context;
    (void)source;
    (void)record;
    (void)err;
    return LEAT_OK;
}

/* Runs whose bytes have changed on the disk: an error that names the way out, never an abort. */
static void damaged_runs(void **state) {
    (void)state;
    core_shape shape = {.seed = 3, .rows = 5000, .sources = 9, .times = 5000, .targets = 3};
    const int64_t arena_bytes = 1 << 17;
    core_row *rows = core_rows(&shape);
    core_spills spills = core_spread(rows, shape.rows, 1, CORE_FILE, 0);
    core_rng rng = {.seed = 11};
    uint8_t *arena = NULL;
    leat_bucket bucket;
    leat_runs runs;
    bool more = true;
    int failed = 0;
    assert_ok(leat_block_alloc((void **)&arena, arena_bytes, err));
    assert_ok(leat_bucket_create(&bucket, 1, arena, arena_bytes, 5000, err));
    assert_ok(leat_runs_create(&runs, core_dir(), err));
    leat_bucket_begin(&bucket, spills.each, 0, &everything);
    while (more) {
        assert_ok(leat_bucket_load(&bucket, &more, err));
        assert_ok(leat_runs_add(&runs, &bucket, err));
    }
    assert_in_range(runs.sorted.count, 2, 4); /* merged at once, so again and again */
    for (int i = 0; i < 400; i++) {
        int64_t at = core_below(&rng, runs.sorted.file_bytes);
        uint8_t old = 0, new = (uint8_t)core_below(&rng, 256);
        assert_ok(leat_file_pread(runs.sorted.file, &old, 1, at, err));
        assert_ok(leat_file_pwrite(runs.sorted.file, &new, 1, at, err));
        leat_error err = {0};
        leat_code code = leat_runs_merge(&runs, arena, arena_bytes, ignore, NULL, &err);
        if (code == LEAT_ERR_CORRUPT && strstr(err.message, "--replace") != NULL) failed++;
        else if (code != LEAT_OK && code != LEAT_ERR_INPUT) fail_msg("%d: %s", code, err.message);
        assert_ok(leat_file_pwrite(runs.sorted.file, &old, 1, at, err));
    }
    assert_in_range(failed, 10, 399);
    assert_ok(leat_file_truncate(runs.sorted.file, runs.sorted.file_bytes / 2, err));
    assert_fails(leat_runs_merge(&runs, arena, arena_bytes, ignore, NULL, err), LEAT_ERR_CORRUPT,
                 "scratch");
    leat_runs_destroy(&runs);
    leat_bucket_destroy(&bucket);
    leat_block_free(arena, arena_bytes);
    core_spills_close(&spills);
    free(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_qsort), cmocka_unit_test(filters),
        cmocka_unit_test(equal_src_ids), cmocka_unit_test(used_again),
        cmocka_unit_test(many_runs),     cmocka_unit_test(damaged_runs),
    };
    int failed = cmocka_run_group_tests_name("bucket", tests, NULL, NULL);
    core_dir_remove();
    return failed;
}
