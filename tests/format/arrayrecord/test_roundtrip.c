/*
 * What is written is read again: all compressions, group sizes, record sizes; chunks and footers
 * that end at every distance from a block boundary; records handed over in bits; records found in
 * place; several threads on one reader.
 */
/* TSan: several threads read through one reader. */
#include "ar_support.h"

#include "base/rng.h"
#include "threads.h"

static void free_image(ar_image *image) {
    free(image->data);
    *image = (ar_image){0};
}

static const char *const compressions[] = {"none",     "zstd",     "zstd:-5",  "zstd:9", "brotli:1",
                                           "brotli:6", "brotli:0", "brotli:9", "snappy"};
#define COMPRESSIONS (sizeof compressions / sizeof *compressions)

static leat_ar_options options_of(const char *compression, int32_t group_size) {
    leat_ar_options options = leat_ar_options_default();
    assert_ok(leat_ar_options_parse(compression, &options, err));
    options.group_size = group_size;
    return options;
}

/* What a mapped file would give. */
static const uint8_t *image_get(void *context, int64_t offset, int64_t size_bytes, uint8_t *scratch,
                                leat_error *err) {
    (void)scratch, (void)err;
    const ar_image *image = context;
    assert_true(offset >= 0 && size_bytes >= 0 && offset + size_bytes <= image->size_bytes);
    return image->data + offset;
}

/* Every record found in place, without decoding, where the chunks are not compressed. */
static void check_in_place(ar_image *image, const ar_rec *records, int64_t count) {
    leat_ar_reader *reader = NULL;
    leat_ar_bytes bytes = {image_get, image, image->size_bytes};
    assert_ok(leat_ar_reader_open_memory(&reader, image->data, image->size_bytes, NULL, err));
    int64_t record = 0;
    for (int64_t c = 0; c < leat_ar_reader_chunk_count(reader); c++) {
        leat_ar_chunk_facts facts = leat_ar_reader_chunk(reader, c);
        leat_ar_chunk chunk;
        assert_int_equal(facts.first_record, record);
        assert_ok(leat_ar_chunk_read(&bytes, facts.offset, leat_ar_reader_footer_offset(reader),
                                     &chunk, err));
        assert_ok(leat_ar_chunk_scan(&bytes, &chunk, NULL, NULL, err));
        assert_int_equal(chunk.decoded_bytes, facts.decoded_bytes);
        assert_int_equal(chunk.record_count, facts.record_count);
        for (int64_t j = 0; j < facts.record_count; j++, record++) {
            int64_t first = 0, size = 0;
            assert_ok(leat_ar_chunk_record(&bytes, &chunk, j, &first, &size, err));
            assert_int_equal(size, records[record].size_bytes);
            for (int64_t at = 0; at < size;) {
                int64_t offset = 0;
                int64_t run = leat_ar_fragment(chunk.begin, first + at, size - at, &offset);
                assert_memory_equal(image->data + offset,
                                    (const uint8_t *)records[record].data + at, (size_t)run);
                at += run;
            }
        }
    }
    assert_int_equal(record, count);
    leat_ar_reader_close(reader);
}

#define SHAPE_RECORDS 40
static void test_all_shapes(void **state) {
    (void)state;
    static const int32_t groups[] = {1, 2, 7, 1000};
    static const int64_t sizes[] = {0, 1, 127, 128, 300, 16383, 16384, 65466, 65467, 65512, 70000};
    uint8_t *noise = malloc(80000);
    assert_non_null(noise);
    ar_noise(noise, 80000, 1);
    for (size_t c = 0; c < COMPRESSIONS; c++) {
        for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
            bool brotli = strncmp(compressions[c], "brotli", 6) == 0;
            /* brotli is slow, and the shapes are the same for all */
            if (brotli && groups[g] != 1 && groups[g] != 7) continue;
            for (int pad = 0; pad < (brotli ? 1 : 2); pad++) {
                ar_rec records[SHAPE_RECORDS];
                for (int64_t i = 0; i < SHAPE_RECORDS; i++) {
                    uint64_t pick = leat_random(c, g, (uint64_t)i) % (sizeof sizes / sizeof *sizes);
                    records[i] = (ar_rec){noise + i, sizes[pick]};
                }
                leat_ar_options options = options_of(compressions[c], groups[g]);
                options.pad_to_block_boundary = pad == 1;
                ar_image image = ar_write(&options, records, SHAPE_RECORDS);
                ar_check_records(&image, records, SHAPE_RECORDS);
                if (options.compression == LEAT_COMPRESSION_NONE) {
                    check_in_place(&image, records, SHAPE_RECORDS);
                }
                free_image(&image);
            }
        }
    }
    free(noise);
}

/* The first record's size moves the second chunk over a block boundary, byte by byte; two small
 * records then move the chunk that follows, in every combination of the cut with its header. */
static void test_chunks_around_a_boundary(void **state) {
    (void)state;
    uint8_t *pattern = ar_pattern(70000);
    leat_ar_options options = leat_ar_options_default();
    for (int distance = -110; distance <= 50; distance++) {
        ar_rec records[4] = {
            {pattern, 65536 - 64 - 45 + distance}, {"tail", 4}, {"", 0}, {pattern, 200}};
        ar_image image = ar_write(&options, records, 4);
        ar_check_records(&image, records, 4);
        check_in_place(&image, records, 4);
        free_image(&image);
    }
    free(pattern);
}

static void test_footers_around_a_boundary(void **state) {
    (void)state;
    uint8_t *pattern = ar_pattern(70000);
    static const char *const kinds[] = {"none", "zstd"};
    for (size_t k = 0; k < 2; k++) {
        leat_ar_options options = options_of(kinds[k], 1);
        uint8_t *noise = malloc(70000);
        assert_non_null(noise);
        for (int64_t i = 0; i < 70000; i++) noise[i] = (uint8_t)leat_random(3, 4, (uint64_t)i);
        bool on_boundary = false;
        for (int64_t size = 65080; size < 65320; size++) {
            ar_rec records[1] = {{k == 0 ? pattern : noise, size}};
            ar_image image = ar_write(&options, records, 1);
            ar_check_records(&image, records, 1);
            leat_ar_reader *reader = NULL;
            assert_ok(leat_ar_reader_open_memory(&reader, image.data, image.size_bytes, NULL, err));
            on_boundary |= image.size_bytes == 131072;
            leat_ar_reader_close(reader);
            free_image(&image);
        }
        assert_true(on_boundary);
        free(noise);
    }
    free(pattern);
}

/* Encoded to fewer bytes than it has records, a chunk is filled up with zeros. */
static void test_chunk_padding(void **state) {
    (void)state;
    static const int64_t counts[] = {200000, 65430, 65473, 65472, 65496, 131000};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        int64_t count = counts[i];
        ar_rec *records = malloc((size_t)count * sizeof *records);
        assert_non_null(records);
        for (int64_t r = 0; r < count; r++) records[r] = (ar_rec){"", 0};
        leat_ar_options options = options_of("zstd", 1000000);
        ar_image image = ar_write(&options, records, count);
        ar_check_records(&image, records, count);
        leat_ar_reader *reader = NULL;
        assert_ok(leat_ar_reader_open_memory(&reader, image.data, image.size_bytes, NULL, err));
        assert_true(leat_ar_reader_footer_offset(reader) >= 64 + count);
        assert_true(leat_ar_reader_footer_offset(reader) <= 64 + count + 25);
        /* zeros that no hash covers: verify looks at them */
        image.data[64 + 1000] ^= 1;
        assert_int_equal(ar_findings(&image), 1);
        image.data[64 + 1000] ^= 1;
        leat_ar_reader_close(reader);
        free_image(&image);
        free(records);
    }
}

static void test_large_records(void **state) {
    (void)state;
    int64_t size = (9 << 20) + 5;
    uint8_t *noise = malloc((size_t)size);
    assert_non_null(noise);
    ar_noise(noise, size, 5);
    static const char *const kinds[] = {"none", "zstd", "brotli:5", "snappy"};
    for (size_t k = 0; k < 4; k++) {
        leat_ar_options options = options_of(kinds[k], 1);
        ar_rec records[3] = {{noise, size}, {"", 0}, {noise + 1, 262144 * 3}};
        ar_image image = ar_write(&options, records, 3);
        ar_check_records(&image, records, 3);
        if (k == 0) check_in_place(&image, records, 3);
        free_image(&image);
    }
    free(noise);
}

/* A footer of several blocks. */
static void test_many_chunks(void **state) {
    (void)state;
    int64_t most = 30000;
    uint8_t *pattern = ar_pattern(100);
    ar_rec *records = malloc((size_t)most * sizeof *records);
    assert_non_null(records);
    for (int64_t r = 0; r < most; r++) records[r] = (ar_rec){pattern, r % 100};
    for (size_t c = 0; c < COMPRESSIONS; c++) {
        leat_ar_options options = options_of(compressions[c], 1);
        /* brotli sets up its tables anew for each record */
        int64_t count = options.compression == LEAT_COMPRESSION_BROTLI ? 500 : most;
        ar_image image = ar_write(&options, records, count);
        ar_check_records(&image, records, count);
        free_image(&image);
    }
    free(records);
    free(pattern);
}

/* ---- records in bits ---- */

typedef struct producer {
    const uint8_t *bytes;
    int64_t size_bytes, step;
    int64_t more; /* bytes too many (or too few) */
    int calls;
    bool changes; /* other bytes the second time */
} producer;

static leat_code produce(void *context, leat_ar_put_fn put, void *put_context, leat_error *err) {
    producer *p = context;
    p->calls++;
    int64_t size = p->size_bytes + (p->more < 0 ? p->more : 0);
    for (int64_t at = 0; at < size; at += p->step) {
        int64_t step = size - at < p->step ? size - at : p->step;
        LEAT_TRY(put(put_context, p->bytes + at + (p->changes && p->calls == 2), step, err));
    }
    return p->more > 0 ? put(put_context, p->bytes, p->more, err) : LEAT_OK;
}

static ar_image write_streamed(const leat_ar_options *options, producer *producers, int count) {
    ar_bench bench;
    leat_ar_sink_writer *writer = NULL;
    ar_bench_open(&bench);
    assert_ok(leat_ar_sink_writer_create(&writer, bench.sink, options, err));
    for (int i = 0; i < count; i++) {
        leat_ar_place place;
        const leat_ar_stream record = {producers[i].size_bytes, produce, &producers[i]};
        assert_ok(leat_ar_sink_writer_append_stream(writer, &record, ar_dir(), &place, err));
        assert_int_equal(place.record_index, i);
    }
    assert_ok(leat_ar_sink_writer_finish(writer, err));
    leat_ar_sink_writer_destroy(writer);
    return ar_bench_close(&bench);
}

static void test_streamed_is_the_same(void **state) {
    (void)state;
    static const int64_t sizes[] = {0, 5, 70000, 262144, 262145, 3 * 262144, 1500000};
    static const int64_t steps[] = {1000, 262144, 300001};
    enum { COUNT = sizeof sizes / sizeof *sizes };
    uint8_t *noise = malloc(1500001);
    assert_non_null(noise);
    ar_noise(noise, 1500001, 11);
    for (size_t c = 0; c < COMPRESSIONS; c++) {
        leat_ar_options options = options_of(compressions[c], 1);
        ar_rec records[COUNT];
        for (int i = 0; i < COUNT; i++) records[i] = (ar_rec){noise, sizes[i]};
        /* the slow ones without their largest records */
        int count = options.level > 6 ? COUNT - 2 : COUNT;
        ar_image whole = ar_write(&options, records, count);
        for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
            producer producers[COUNT];
            for (int i = 0; i < COUNT; i++) {
                producers[i] = (producer){.bytes = noise, .size_bytes = sizes[i], .step = steps[s]};
            }
            ar_image streamed = write_streamed(&options, producers, count);
            assert_int_equal(streamed.size_bytes, whole.size_bytes);
            assert_memory_equal(streamed.data, whole.data, (size_t)whole.size_bytes);
            free_image(&streamed);
        }
        ar_check_records(&whole, records, count);
        free_image(&whole);
    }
    free(noise);
}

static void test_streamed_lies(void **state) {
    (void)state;
    uint8_t *noise = malloc(400000);
    assert_non_null(noise);
    ar_noise(noise, 400000, 12);
    static const char *const kinds[] = {"none", "zstd", "brotli:1", "snappy"};
    static const producer lies[] = {
        {.size_bytes = 300000, .step = 7000, .more = 1},
        {.size_bytes = 300000, .step = 7000, .more = -1},
        {.size_bytes = 300000, .step = 7000, .changes = true},
        {.size_bytes = 0, .step = 7000, .more = 1},
    };
    for (size_t k = 0; k < 4; k++) {
        for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
            /* compressed, the bytes are asked for once */
            if (k > 0 && lies[i].changes) continue;
            ar_bench bench;
            leat_ar_sink_writer *writer = NULL;
            leat_ar_options options = options_of(kinds[k], 1);
            producer p = lies[i];
            p.bytes = noise;
            ar_bench_open(&bench);
            assert_ok(leat_ar_sink_writer_create(&writer, bench.sink, &options, err));
            const leat_ar_stream record = {p.size_bytes, produce, &p};
            assert_int_equal(
                leat_ar_sink_writer_append_stream(writer, &record, ar_dir(), NULL, NULL),
                LEAT_ERR_INPUT);
            /* nothing can follow a half written record */
            assert_int_equal(leat_ar_sink_writer_append(writer, "", 0, NULL, NULL), LEAT_ERR_INPUT);
            assert_int_equal(leat_ar_sink_writer_finish(writer, NULL), LEAT_ERR_INPUT);
            leat_ar_sink_writer_destroy(writer);
            ar_image image = ar_bench_close(&bench);
            assert_true(ar_findings(&image) > 0);
            free_image(&image);
        }
    }
    leat_path_list names = {0};
    assert_ok(leat_path_list_dir(ar_dir(), &names, err));
    assert_int_equal(names.count, 1); /* only the bench: temporary files have no name */
    leat_path_list_free(&names);
    free(noise);
}

/* ---- files and threads ---- */

#define THREADS 8
typedef struct shared_read {
    const leat_ar_reader *reader;
    const uint8_t *noise;
    int64_t count, reads;
} shared_read;

static int64_t size_of(int64_t i) { return (i * 977) % 5000; }

static leat_code read_some(void *context, int index, leat_error *err) {
    const shared_read *shared = context;
    leat_ar_record record = {0};
    leat_code code = LEAT_OK;
    for (int64_t n = 0; n < shared->reads && code == LEAT_OK; n++) {
        int64_t i =
            (int64_t)(leat_random(7, (uint64_t)index, (uint64_t)n) % (uint64_t)shared->count);
        code = leat_ar_reader_read(shared->reader, i, &record, err);
        if (code == LEAT_OK && (record.size_bytes != size_of(i) ||
                                memcmp(record.data, shared->noise + i, (size_t)size_of(i)) != 0)) {
            code = leat_fail(err, LEAT_ERR_CORRUPT, "record %lld is wrong", (long long)i);
        }
    }
    leat_ar_record_free(&record);
    return code;
}

static void test_file_and_threads(void **state) {
    (void)state;
    int64_t count = 400;
    uint8_t *noise = malloc(10000);
    assert_non_null(noise);
    ar_noise(noise, 10000, 21);
    for (size_t c = 0; c < COMPRESSIONS; c++) {
        leat_ar_writer *writer = NULL;
        leat_ar_options options = options_of(compressions[c], c % 2 == 0 ? 1 : 9);
        const char *path = ar_path("threads.arrayrecord");
        assert_ok(leat_ar_writer_create(&writer, path, &options, true, err));
        for (int64_t i = 0; i < count; i++) {
            assert_ok(leat_ar_writer_append(writer, noise + i, size_of(i), err));
        }
        assert_ok(leat_ar_writer_finish(writer, err));
        leat_ar_writer_destroy(writer);
        leat_ar_reader *reader = NULL;
        assert_ok(leat_ar_reader_open(&reader, path, NULL, err));
        assert_int_equal(leat_ar_reader_group_size(reader), options.group_size);
        bool brotli = options.compression == LEAT_COMPRESSION_BROTLI;
        shared_read shared = {reader, noise, count, brotli ? 100 : 1000};
        assert_ok(run_threads(THREADS, read_some, &shared, err));
        leat_ar_reader_close(reader);
        leat_ar_check check;
        assert_ok(leat_ar_verify(path, NULL, NULL, NULL, &check, err));
        assert_int_equal(check.record_count, count);
        ar_image image = ar_load(path);
        assert_int_equal(check.file_bytes, image.size_bytes);
        free_image(&image);
    }
    free(noise);
}

static leat_path_kind kind_of(const char *path) {
    leat_path_facts facts;
    assert_ok(leat_path_stat(path, &facts, err));
    return facts.kind;
}

/* How many files in the folder of the test are drafts. */
static int drafts(void) {
    leat_path_list names = {0};
    int count = 0;
    assert_ok(leat_path_list_dir(ar_path("."), &names, err));
    for (int64_t i = 0; i < names.count; i++) count += leat_path_is_draft(names.paths[i]);
    leat_path_list_free(&names);
    return count;
}

static void test_published_whole_or_not(void **state) {
    (void)state;
    leat_ar_options options = leat_ar_options_default();
    leat_ar_writer *writer = NULL;
    char path[512];
    snprintf(path, sizeof path, "%s", ar_path("published"));
    assert_ok(leat_ar_writer_create(&writer, path, &options, false, err));
    assert_ok(leat_ar_writer_append(writer, "x", 1, err));
    assert_int_equal(drafts(), 1);
    leat_ar_writer_destroy(writer);
    assert_int_equal(drafts(), 0);
    assert_int_equal(kind_of(path), LEAT_PATH_NONE);

    assert_ok(leat_ar_writer_create(&writer, path, &options, false, err));
    assert_ok(leat_ar_writer_append(writer, "x", 1, err));
    assert_int_equal(leat_ar_writer_append(writer, "x", -1, NULL), LEAT_ERR_INPUT);
    assert_int_equal(kind_of(path), LEAT_PATH_NONE);
    assert_ok(leat_ar_writer_finish(writer, err));
    assert_int_equal(kind_of(path), LEAT_PATH_FILE);
    assert_int_equal(drafts(), 0);
    assert_int_equal(leat_ar_writer_append(writer, "x", 1, NULL), LEAT_ERR_INPUT);
    assert_int_equal(leat_ar_writer_finish(writer, NULL), LEAT_ERR_INPUT);
    leat_ar_writer_destroy(writer);
    assert_int_equal(kind_of(path), LEAT_PATH_FILE);

    leat_ar_reader *reader = NULL;
    leat_error err = {0};
    assert_int_equal(leat_ar_writer_create(&writer, path, &options, false, &err), LEAT_ERR_EXISTS);
    assert_null(writer);
    assert_ok(leat_ar_writer_create(&writer, path, &options, true, err));
    assert_ok(leat_ar_writer_finish(writer, err));
    leat_ar_writer_destroy(writer);
    assert_int_equal(leat_ar_reader_open(&reader, ar_path("published.tmp"), NULL, &err),
                     LEAT_ERR_NOT_FOUND);
    assert_null(reader);
    assert_int_equal(leat_ar_writer_create(&writer, ar_path("no/such"), &options, false, &err),
                     LEAT_ERR_NOT_FOUND);
    assert_null(writer);
    leat_ar_writer_destroy(NULL);
    leat_ar_reader_close(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_shapes),
        cmocka_unit_test(test_chunks_around_a_boundary),
        cmocka_unit_test(test_footers_around_a_boundary),
        cmocka_unit_test(test_chunk_padding),
        cmocka_unit_test(test_large_records),
        cmocka_unit_test(test_many_chunks),
        cmocka_unit_test(test_streamed_is_the_same),
        cmocka_unit_test(test_streamed_lies),
        cmocka_unit_test(test_file_and_threads),
        cmocka_unit_test(test_published_whole_or_not),
    };
    int failed = cmocka_run_group_tests_name("ArrayRecord round trips", tests, NULL, NULL);
    ar_dir_remove();
    return failed;
}
