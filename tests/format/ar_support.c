/* See ar_support.h. */
#include "ar_support.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/rng.h"
#include "memory_folder.h"

uint8_t *ar_pattern(int64_t size_bytes) {
    uint8_t *bytes = malloc((size_t)size_bytes + 1);
    assert_non_null(bytes);
    for (int64_t i = 0; i < size_bytes; i++) bytes[i] = (uint8_t)(7 * i + 3);
    return bytes;
}

void ar_noise(uint8_t *bytes, int64_t size_bytes, uint64_t seed) {
    for (int64_t i = 0; i < size_bytes; i++) {
        bytes[i] = (uint8_t)(leat_random(seed, 1, (uint64_t)i / 3) >> 56);
    }
}

static char dir_path[256];

const char *ar_dir(void) {
    if (dir_path[0] == 0) {
        snprintf(dir_path, sizeof dir_path, "%.200s/leat-ar-XXXXXX",
                 memory_folder(INT64_C(256) << 20));
        assert_non_null(mkdtemp(dir_path));
    }
    return dir_path;
}

const char *ar_path(const char *name) {
    static char paths[4][512];
    static int turn = 0;
    turn = (turn + 1) % 4;
    snprintf(paths[turn], sizeof paths[turn], "%s/%.150s", ar_dir(), name);
    return paths[turn];
}

void ar_dir_remove(void) {
    if (dir_path[0] != 0) (void)!leat_path_remove_tree(dir_path, NULL);
    dir_path[0] = 0;
}

ar_image ar_load(const char *path) {
    ar_image image = {0};
    FILE *in = fopen(path, "rb");
    if (in == NULL) fail_msg("cannot open %s", path);
    struct stat facts;
    assert_int_equal(fstat(fileno(in), &facts), 0);
    image.size_bytes = facts.st_size;
    image.data = malloc((size_t)image.size_bytes + 1);
    assert_non_null(image.data);
    assert_int_equal(fread(image.data, 1, (size_t)image.size_bytes, in), image.size_bytes);
    fclose(in);
    return image;
}

void ar_save(const char *path, const uint8_t *data, int64_t size_bytes) {
    FILE *out = fopen(path, "wb");
    if (out == NULL) fail_msg("cannot create %s", path);
    assert_int_equal(fwrite(data, 1, (size_t)size_bytes, out), size_bytes);
    assert_int_equal(fclose(out), 0);
}

void ar_bench_open(ar_bench *bench) {
    leat_sink_options options = {.buffer_bytes = 4096};
    *bench = (ar_bench){0};
    assert_ok(leat_file_open(&bench->file, ar_path("bench"), LEAT_FILE_CREATE, err));
    assert_ok(leat_sink_create(&bench->sink, bench->file, &options, err));
    bench->emitter.sink = bench->sink;
}

ar_image ar_bench_close(ar_bench *bench) {
    assert_ok(leat_sink_finish(bench->sink, err));
    leat_sink_destroy(bench->sink);
    leat_file_close(bench->file);
    return ar_load(ar_path("bench"));
}

ar_image ar_write(const leat_ar_options *options, const ar_rec *records, int64_t count) {
    ar_bench bench;
    leat_ar_sink_writer *writer = NULL;
    ar_bench_open(&bench);
    assert_ok(leat_ar_sink_writer_create(&writer, bench.sink, options, err));
    for (int64_t i = 0; i < count; i++) {
        leat_ar_place place;
        assert_ok(leat_ar_sink_writer_append(writer, records[i].data, records[i].size_bytes, &place,
                                             err));
        assert_int_equal(place.record_index, i);
        assert_int_equal(place.index_in_chunk, i % options->group_size);
        assert_int_equal(place.size_bytes, records[i].size_bytes);
    }
    assert_ok(leat_ar_sink_writer_finish(writer, err));
    leat_ar_sink_writer_destroy(writer);
    return ar_bench_close(&bench);
}

static void check_one(const leat_ar_reader *reader, int64_t i, leat_ar_record *record,
                      const ar_rec *expected) {
    leat_error err = {0};
    if (leat_ar_reader_read(reader, i, record, &err) != LEAT_OK) fail_msg("%s", err.message);
    assert_int_equal(record->size_bytes, expected->size_bytes);
    if (expected->size_bytes > 0) {
        assert_memory_equal(record->data, expected->data, (size_t)expected->size_bytes);
    }
}

void ar_check_records(const ar_image *image, const ar_rec *records, int64_t count) {
    leat_ar_reader *reader = NULL;
    leat_ar_record record = {0};
    leat_ar_check check;
    assert_ok(leat_ar_reader_open_memory(&reader, image->data, image->size_bytes, NULL, err));
    assert_int_equal(leat_ar_reader_record_count(reader), count);
    for (int64_t i = 0; i < count; i++) check_one(reader, i, &record, &records[i]);
    for (int64_t i = 0, at = 0; i < count && i < 100; i++, at = (at + 7919) % count) {
        check_one(reader, at, &record, &records[at]);
    }
    assert_int_equal(leat_ar_reader_read(reader, count, &record, NULL), LEAT_ERR_INPUT);
    assert_null(record.data);
    leat_ar_record_free(&record);
    leat_ar_reader_close(reader);
    assert_ok(leat_ar_verify_memory(image->data, image->size_bytes, NULL, NULL, NULL, &check, err));
    assert_int_equal(check.record_count, count);
}

int64_t ar_findings(const ar_image *image) {
    leat_ar_check check;
    leat_code code =
        leat_ar_verify_memory(image->data, image->size_bytes, NULL, NULL, NULL, &check, NULL);
    assert_int_equal(code == LEAT_OK, check.findings == 0);
    return check.findings;
}
