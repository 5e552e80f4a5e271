/*
 * Rows out of sorted measurements: where they are cut, against a slow reference; and the streamed
 * path against the one in memory, byte for byte, with columns in memory and in files.
 */
#include "core_support.h"

#include "ingest/probes/rows.h"

/* A loaded bucket. */
typedef struct loaded {
    core_row *rows; /* sorted */
    bool named;     /* each row has its own source */
    int64_t row_count;
    core_spills spills;
    uint8_t *arena;
    leat_bucket bucket;
} loaded;

enum { ARENA_BYTES = 4 << 20 };

static loaded load(const core_shape *shape) {
    loaded self = {.rows = core_rows(shape), .row_count = shape->rows, .named = shape->own > 0};
    self.spills = core_spread(self.rows, shape->rows, 2, CORE_FILE, 0);
    qsort(self.rows, (size_t)shape->rows, sizeof *self.rows, core_row_compare);
    leat_bucket_filter filter = {.src_id_end = LEAT_SRC_ID_END};
    bool more = true;
    assert_ok(leat_block_alloc((void **)&self.arena, ARENA_BYTES, err));
    assert_ok(leat_bucket_create(&self.bucket, 2, self.arena, ARENA_BYTES, 10000, err));
    leat_bucket_begin(&self.bucket, self.spills.each, 0, &filter);
    assert_ok(leat_bucket_load(&self.bucket, &more, err));
    assert_false(more);
    return self;
}

static void unload(loaded *self) {
    leat_bucket_destroy(&self->bucket);
    leat_block_free(self->arena, ARENA_BYTES);
    core_spills_close(&self->spills);
    free(self->rows);
}

/* One shard with all of it, and what its part says. */
typedef struct written {
    core_image file;
    leat_shard_part part;
} written;

typedef struct setting {
    int64_t limit_bytes, record_bytes;
    bool dictionary, streamed;
    leat_ar_options record;
} setting;

static void stream_all(leat_row_maker *maker, const leat_bucket *bucket) {
    leat_row_stream stream;
    assert_ok(leat_row_stream_begin(&stream, maker, core_dir(), err));
    for (int64_t g = 0; g < bucket->group_count; g++) {
        const leat_bucket_group *group = &bucket->groups[g];
        for (int64_t i = 0; i < group->count; i++) {
            const uint8_t *record = leat_bucket_record(bucket, &bucket->items[group->first + i]);
            assert_ok(leat_row_stream_add(&stream, group->source, record, err));
        }
        assert_ok(leat_row_stream_flush(&stream, err));
    }
    leat_row_stream_end(&stream);
    for (int i = 0; i < LEAT_STREAM_COLUMNS; i++) {
        char name[32];
        leat_path_facts facts;
        snprintf(name, sizeof name, "row_7_column_%d", i);
        assert_ok(leat_path_stat(core_path(name), &facts, err));
        assert_int_equal(facts.kind, LEAT_PATH_NONE);
    }
}

static written write_rows(const loaded *from, const setting *how) {
    char out[512], parts[512], path[LEAT_PATH_BYTES];
    snprintf(out, sizeof out, "%s", core_path("out"));
    snprintf(parts, sizeof parts, "%s", core_path("parts"));
    assert_ok(leat_path_make_dir(core_path("out/test"), err));
    assert_ok(leat_path_make_dir(parts, err));
    leat_publisher *publisher = calloc(1, sizeof *publisher);
    assert_ok(leat_publisher_start(publisher,
                                   &(leat_publisher_options){out, parts, 7, 2, NULL, NULL}, err));
    leat_shard_writer shards = {
        .options = &how->record, .publisher = publisher, .temp_dir = core_dir()};
    leat_row_maker *maker = calloc(1, sizeof *maker);
    maker->limit_bytes = how->limit_bytes;
    maker->dictionary_src = how->dictionary;
    maker->named = from->named;
    maker->shards = &shards;
    maker->record_bytes = how->record_bytes;
    maker->record = malloc((size_t)how->record_bytes);
    assert_ok(leat_shard_writer_open(&shards, LEAT_SPLIT_TEST, 5, err));
    if (how->streamed) stream_all(maker, &from->bucket);
    for (int64_t g = 0; !how->streamed && g < from->bucket.group_count; g++) {
        assert_ok(leat_rows_write_group(maker, &from->bucket, &from->bucket.groups[g], err));
    }
    assert_ok(leat_shard_writer_finish(&shards, err));
    assert_ok(leat_publisher_finish(publisher, false, err));
    free(maker->record);
    free(maker);
    free(publisher);
    written result = {.file = core_load(core_path("out/test/test_shard_00005.arrayrecord"))};
    assert_ok(leat_shard_part_path(parts, LEAT_SPLIT_TEST, 5, path, err));
    assert_ok(leat_shard_part_load(path, 7, &result.part, err));
    assert_int_equal(result.part.info.file_bytes, result.file.size_bytes);
    assert_ok(leat_path_remove_tree(out, err));
    assert_ok(leat_path_remove_tree(parts, err));
    return result;
}

static void written_free(written *self) {
    free(self->file.data);
    leat_shard_part_free(&self->part);
}

/* The source that is written. */
static const char *source_of(const core_row *row) { return row->own[0] != 0 ? row->own : row->src; }

/* Where the greedy rule cuts: one measurement after the other, asking for the exact size. */
static int64_t reference_cuts(const loaded *from, const setting *how, int64_t *cuts) {
    int64_t count = 0, n = 0, src = 0, dst = 0;
    for (int64_t i = 0; i < from->row_count; i++) {
        const core_row *row = &from->rows[i];
        bool other = i > 0 && strcmp(row->src, row[-1].src) != 0;
        int64_t own = (int64_t)strlen(source_of(row)), more = (int64_t)strlen(row->dst);
        if (n > 0 && (other || leat_probe_measurements_bytes(n + 1, src + own, dst + more,
                                                             how->dictionary) > how->limit_bytes)) {
            cuts[count++] = n;
            n = src = dst = 0;
        }
        n++;
        src += own;
        dst += more;
    }
    if (n > 0) cuts[count++] = n;
    return count;
}

/* Facts of each row, from the reference order. */
static void check_part(const loaded *from, const written *got, const int64_t *cuts,
                       int64_t cut_count) {
    assert_int_equal(got->part.info.row_count, cut_count);
    assert_int_equal(got->part.info.measurement_count, from->row_count);
    const core_row *row = from->rows;
    for (int64_t i = 0; i < cut_count; i++) {
        const leat_index_row *index = &got->part.rows[i];
        assert_int_equal(index->n_measurements, cuts[i]);
        assert_int_equal(index->src_id, row->src_id);
        assert_int_equal(index->first_us, row->time_us);
        assert_int_equal(index->last_us, row[cuts[i] - 1].time_us);
        int version = core_version(source_of(row));
        for (int64_t k = 1; k < cuts[i]; k++)
            if (core_version(source_of(&row[k])) != version) version = 0;
        assert_int_equal(index->ip_version, version);
        row += cuts[i];
    }
}

static const core_shape shapes[] = {
    {.seed = 1, .rows = 1, .sources = 1, .times = 5, .targets = 1},
    {.seed = 2, .rows = 3000, .sources = 60, .heavy = 50, .times = 900, .targets = 30},
    {.seed = 3, .rows = 20000, .sources = 2, .heavy = 70, .times = 20000, .targets = 400},
    {.seed = 4, .rows = 3000, .sources = 20, .heavy = 50, .own = 4, .times = 900, .targets = 30},
};
#define SHAPES (sizeof shapes / sizeof *shapes)

static void cuts(void **state) {
    (void)state;
    static const int64_t limits[] = {1024, 1100, 1500, 4096, 5000, 50000, 1 << 20};
    int64_t *want = malloc(30000 * sizeof *want);
    for (size_t s = 0; s < SHAPES; s++) {
        loaded from = load(&shapes[s]);
        for (size_t l = 0; l < sizeof limits / sizeof *limits; l++) {
            for (int dictionary = 0; dictionary < (from.named ? 1 : 2); dictionary++) {
                setting how = {.limit_bytes = limits[l],
                               .record_bytes = leat_rows_record_bytes(limits[l]),
                               .dictionary = dictionary,
                               .record = leat_ar_options_default()};
                written got = write_rows(&from, &how);
                check_part(&from, &got, want, reference_cuts(&from, &how, want));
                written_free(&got);
            }
        }
        unload(&from);
    }
    free(want);
}

/* Every limit in a small range, so that each padding comes to stand at a cut. */
static void every_limit(void **state) {
    (void)state;
    int64_t *want = malloc(30000 * sizeof *want);
    core_shape shape = {.seed = 5, .rows = 400, .sources = 2, .times = 900, .targets = 30};
    loaded from = load(&shape);
    for (int64_t limit = 2900; limit < 3300; limit += 3) {
        setting how = {.limit_bytes = limit,
                       .record_bytes = leat_rows_record_bytes(limit),
                       .dictionary = limit % 2 == 0,
                       .record = leat_ar_options_default()};
        written got = write_rows(&from, &how);
        check_part(&from, &got, want, reference_cuts(&from, &how, want));
        written_free(&got);
    }
    unload(&from);
    free(want);
}

static void streamed(void **state) {
    (void)state;
    enum { SCRATCH = 65536 };
    static const struct {
        int64_t limit_bytes, room; /* of the columns together */
        leat_compression compression;
    } cases[] = {
        {1024, SCRATCH, LEAT_COMPRESSION_NONE}, /* with a dictionary, one measurement a row */
        {5000, SCRATCH, LEAT_COMPRESSION_NONE},
        {1 << 22, 4 * 4096, LEAT_COMPRESSION_NONE}, /* smaller than the row: in files */
        {1 << 22, 4 * 5003, LEAT_COMPRESSION_NONE},
        {1 << 22, 4 << 20, LEAT_COMPRESSION_NONE},
        {100000, 4 * 4096, LEAT_COMPRESSION_ZSTD},
        {1 << 22, 4 * 4096, LEAT_COMPRESSION_SNAPPY},
    };
    for (size_t s = 0; s < SHAPES; s++) {
        loaded from = load(&shapes[s]);
        for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
            for (int dictionary = 0; dictionary < (from.named ? 1 : 2); dictionary++) {
                setting how = {.limit_bytes = cases[c].limit_bytes,
                               .record_bytes = leat_rows_record_bytes(cases[c].limit_bytes),
                               .dictionary = dictionary,
                               .record = leat_ar_options_default()};
                how.record.compression = cases[c].compression;
                written whole = write_rows(&from, &how);
                how.streamed = true;
                how.record_bytes = cases[c].room + SCRATCH;
                written pieces = write_rows(&from, &how);
                assert_int_equal(pieces.part.info.row_count, whole.part.info.row_count);
                assert_memory_equal(pieces.part.info.records_sha256, whole.part.info.records_sha256,
                                    32);
                assert_int_equal(pieces.file.size_bytes, whole.file.size_bytes);
                assert_memory_equal(pieces.file.data, whole.file.data,
                                    (size_t)whole.file.size_bytes);
                for (int64_t i = 0; i < whole.part.info.row_count; i++) {
                    assert_memory_equal(&pieces.part.rows[i], &whole.part.rows[i],
                                        sizeof whole.part.rows[i]);
                }
                written_free(&whole);
                written_free(&pieces);
            }
        }
        unload(&from);
    }
}

static void no_room(void **state) {
    (void)state;
    uint8_t *record = malloc(65536 + 4 * 4096);
    leat_row_maker *maker = calloc(1, sizeof *maker);
    maker->record = record;
    leat_row_stream stream;
    maker->record_bytes = 65536 + 4 * 4096 - 1;
    assert_fails(leat_row_stream_begin(&stream, maker, core_dir(), err), LEAT_ERR_LIMIT, "memory");
    maker->record_bytes++;
    assert_ok(leat_row_stream_begin(&stream, maker, core_dir(), err));
    leat_row_stream_end(&stream);
    free(maker);
    free(record);
}

/* A decoded record has the measurements of the reference. */
static void check_decoded(const core_shape *shape) {
    loaded from = load(shape);
    for (int dictionary = 0; dictionary < (from.named ? 1 : 2); dictionary++) {
        setting how = {.limit_bytes = 3000,
                       .record_bytes = leat_rows_record_bytes(3000),
                       .dictionary = dictionary,
                       .record = leat_ar_options_default()};
        written got = write_rows(&from, &how);
        leat_ar_reader *reader = NULL;
        leat_ar_record record = {0};
        leat_measurements all = {0};
        const core_row *row = from.rows;
        assert_ok(
            leat_ar_reader_open_memory(&reader, got.file.data, got.file.size_bytes, NULL, err));
        assert_int_equal(leat_ar_reader_record_count(reader), got.part.info.row_count);
        for (int64_t i = 0; i < got.part.info.row_count; i++) {
            leat_probe_row_info info;
            assert_ok(leat_ar_reader_read(reader, i, &record, err));
            assert_int_equal(record.size_bytes, got.part.rows[i].record_bytes);
            assert_ok(
                leat_probe_record_decode(record.data, record.size_bytes, NULL, &all, &info, err));
            assert_int_equal(info.src_id, row->src_id);
            for (int64_t k = 0; k < all.count; k++, row++) {
                leat_measurement one;
                leat_measurements_get(&all, k, &one);
                assert_int_equal(one.time_us, row->time_us);
                assert_int_equal(one.src_size, strlen(source_of(row)));
                assert_memory_equal(one.src, source_of(row), strlen(source_of(row)));
                assert_int_equal(one.dst_size, strlen(row->dst));
                assert_memory_equal(one.dst, row->dst, strlen(row->dst));
                assert_int_equal(one.ip_version, core_version(source_of(row)));
                assert_true(one.rtt == row->rtt);
            }
        }
        assert_ptr_equal(row, from.rows + from.row_count);
        leat_measurements_free(&all);
        leat_ar_record_free(&record);
        leat_ar_reader_close(reader);
        written_free(&got);
    }
    unload(&from);
}

static void decoded(void **state) {
    (void)state;
    check_decoded(&shapes[1]);
    check_decoded(&shapes[3]);
}

/* Rows that store their source once: a probe of one source is written, one of two is refused. */
static void one_source(void **state) {
    (void)state;
    for (int streamed = 0; streamed < 2; streamed++) {
        for (int own = 1; own <= 2; own++) {
            core_shape shape = {
                .seed = 9, .rows = 50, .sources = 1, .own = own, .times = 50, .targets = 3};
            loaded from = load(&shape);
            const leat_bucket_group *group = &from.bucket.groups[0];
            const int64_t limit = 1 << 20;
            setting how = {.limit_bytes = limit,
                           .record_bytes = leat_rows_record_bytes(limit),
                           .dictionary = true,
                           .streamed = streamed,
                           .record = leat_ar_options_default()};
            if (own == 1) {
                written got = write_rows(&from, &how);
                assert_int_equal(got.part.info.row_count, 1);
                written_free(&got);
                unload(&from);
                continue;
            }
            leat_row_maker *maker = calloc(1, sizeof *maker);
            *maker = (leat_row_maker){.limit_bytes = limit,
                                      .dictionary_src = true,
                                      .named = true,
                                      .record_bytes = how.record_bytes,
                                      .record = malloc((size_t)how.record_bytes)};
            leat_error error = {0};
            leat_code code = LEAT_OK;
            leat_row_stream stream;
            assert_ok(leat_row_stream_begin(&stream, maker, core_dir(), err));
            for (int64_t i = 0; streamed && code == LEAT_OK && i < group->count; i++)
                code = leat_row_stream_add(
                    &stream, group->source,
                    leat_bucket_record(&from.bucket, &from.bucket.items[group->first + i]), &error);
            leat_row_stream_end(&stream);
            if (!streamed) code = leat_rows_write_group(maker, &from.bucket, group, &error);
            assert_int_equal(code, LEAT_ERR_OPTION);
            assert_non_null(strstr(error.message, "probe \"probe 0\" has measurements from"));
            free(maker->record);
            free(maker);
            unload(&from);
        }
    }
}

int main(void) {
    core_in_memory(INT64_C(64) << 20);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuts),    cmocka_unit_test(every_limit), cmocka_unit_test(streamed),
        cmocka_unit_test(no_room), cmocka_unit_test(decoded),     cmocka_unit_test(one_source),
    };
    int failed = cmocka_run_group_tests_name("rows", tests, NULL, NULL);
    core_dir_remove();
    return failed;
}
