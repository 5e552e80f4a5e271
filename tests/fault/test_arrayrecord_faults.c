/*
 * ArrayRecord with every allocation and every call into the file system failing in turn, once and
 * for good: an error each time, no wrong record, nothing half-written left, and success as soon as
 * nothing fails.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "format/arrayrecord/internal.h"
#include "memory_folder.h"
#include "points.h"

#define POINTS_MAX 2000
#define RECORD_BYTES 70000
#define RECORDS 5

static uint8_t record_bytes[RECORD_BYTES + RECORDS];

static leat_code produce(void *context, leat_ar_put_fn put, void *put_context, leat_error *err) {
    (void)context;
    return put(put_context, record_bytes, RECORD_BYTES, err);
}

static leat_code write_file(const char *path, const leat_ar_options *options, leat_error *err) {
    leat_ar_writer *writer = NULL;
    LEAT_TRY(leat_ar_writer_create(&writer, path, options, true, err));
    leat_code code = LEAT_OK;
    for (int i = 0; i < RECORDS && code == LEAT_OK; i++) {
        code = leat_ar_writer_append(writer, record_bytes + i, RECORD_BYTES, err);
    }
    if (code == LEAT_OK) code = leat_ar_writer_finish(writer, err);
    leat_ar_writer_destroy(writer);
    return code;
}

/* One streamed record to a sink: the compressed one goes through a temporary file. */
static leat_code stream_file(const char *folder, const char *path, const leat_ar_options *options,
                             leat_error *err) {
    leat_file *file = NULL;
    leat_sink *sink = NULL;
    leat_ar_sink_writer *writer = NULL;
    leat_sink_options sink_options = {.buffer_bytes = 4096};
    leat_ar_options alone = *options;
    alone.group_size = 1;
    LEAT_TRY(leat_file_open(&file, path, LEAT_FILE_CREATE, err));
    leat_code code = leat_sink_create(&sink, file, &sink_options, err);
    if (code == LEAT_OK) code = leat_ar_sink_writer_create(&writer, sink, &alone, err);
    if (code == LEAT_OK) {
        const leat_ar_stream record = {RECORD_BYTES, produce, NULL};
        code = leat_ar_sink_writer_append_stream(writer, &record, folder, NULL, err);
    }
    if (code == LEAT_OK) code = leat_ar_sink_writer_finish(writer, err);
    if (code == LEAT_OK) code = leat_sink_finish(sink, err);
    leat_ar_sink_writer_destroy(writer);
    leat_sink_destroy(sink);
    leat_file_close(file);
    return code;
}

static leat_code read_file(const char *path, leat_error *err) {
    leat_ar_reader *reader = NULL;
    leat_ar_record record = {0};
    leat_code code = leat_ar_reader_open(&reader, path, NULL, err);
    assert_int_equal(code == LEAT_OK, reader != NULL);
    if (code != LEAT_OK) return code;
    int64_t count = leat_ar_reader_record_count(reader);
    for (int64_t i = 0; i < count && code == LEAT_OK; i++) {
        code = leat_ar_reader_read(reader, i, &record, err);
        assert_int_equal(code == LEAT_OK, record.data != NULL);
        if (code != LEAT_OK) break;
        assert_int_equal(record.size_bytes, RECORD_BYTES);
        assert_memory_equal(record.data, record_bytes + i, RECORD_BYTES);
    }
    leat_ar_record_free(&record);
    leat_ar_reader_close(reader);
    if (code != LEAT_OK) return code;
    leat_ar_check check;
    code = leat_ar_verify(path, NULL, NULL, NULL, &check, err);
    /* what this machine could not do is no finding about the file */
    assert_int_equal(check.findings, 0);
    return code;
}

static int64_t count_files(const char *folder) {
    leat_path_list names = {0};
    assert_int_equal(leat_path_list_dir(folder, &names, NULL), LEAT_OK);
    int64_t count = names.count;
    leat_path_list_free(&names);
    return count;
}

typedef struct job {
    const char *folder, *path;
    const leat_ar_options *options;
    int kind; /* 0 write, 1 stream, 2 read */
} job;

static leat_code run(const job *j, leat_error *err) {
    if (j->kind == 0) return write_file(j->path, j->options, err);
    if (j->kind == 1) return stream_file(j->folder, j->path, j->options, err);
    return read_file(j->path, err);
}

static void sweep(const job *j) {
    for (int stays = 0; stays < 2; stays++) {
        long at = 0;
        for (; at < POINTS_MAX; at++) {
            leat_error err = {0};
            if (j->kind != 2) assert_int_equal(leat_path_remove(j->path, NULL), LEAT_OK);
            set_fault(at, stays == 1);
            leat_code code = run(j, &err);
            bool reached = clear_fault();
            if (!reached) {
                assert_int_equal(code, LEAT_OK);
                break;
            }
            assert_int_not_equal(code, LEAT_OK);
            assert_int_equal(code, err.code);
            assert_true(code == LEAT_ERR_MEMORY || code == LEAT_ERR_IO ||
                        code == LEAT_ERR_NO_SPACE);
            /* where removing fails for good, what was begun stays */
            if (stays == 0) assert_true(count_files(j->folder) <= 1);
            assert_int_equal(leat_path_remove_tree(j->folder, NULL), LEAT_OK);
            assert_int_equal(leat_path_make_dir(j->folder, NULL), LEAT_OK);
            if (j->kind == 2) assert_int_equal(write_file(j->path, j->options, NULL), LEAT_OK);
        }
        assert_true(at > 5 && at < POINTS_MAX);
    }
}

static void test_faults(void **state) {
    (void)state;
    static const char *const compressions[] = {"none", "zstd", "brotli:1", "snappy"};
    char folder[512], path[600];
    snprintf(folder, sizeof folder, "%s/leat-fault-XXXXXX", memory_folder(INT64_C(16) << 20));
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/file", folder);
    for (int i = 0; i < (int)sizeof record_bytes; i++)
        record_bytes[i] = (uint8_t)((uint32_t)i * (uint32_t)i / 7);
    for (size_t c = 0; c < 4; c++) {
        leat_ar_options options = leat_ar_options_default();
        assert_int_equal(leat_ar_options_parse(compressions[c], &options, NULL), LEAT_OK);
        options.group_size = 2;
        set_fault(-1, false);
        if (write_file(path, &options, NULL) == LEAT_ERR_UNSUPPORTED) continue;
        for (int kind = 0; kind < 3; kind++) {
            if (kind == 2) assert_int_equal(write_file(path, &options, NULL), LEAT_OK);
            sweep(&(job){folder, path, &options, kind});
        }
    }
    assert_int_equal(leat_path_remove_tree(folder, NULL), LEAT_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_faults)};
    return cmocka_run_group_tests_name("ArrayRecord faults", tests, NULL, NULL);
}
