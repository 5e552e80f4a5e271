/* Scans whose rows are kept, and files for them: see source_support.h. */
#include "source_support.h"

#include <math.h>
#include <sys/stat.h>
#include <zlib.h>

#include "ingest/value_text.h"

void source_run_init(source_run *run) {
    *run = (source_run){0};
    run->options = (leat_source_options){
        .columns = {"event_time", "src_addr", "dst_addr", "ip_version", "rtt", NULL},
        .threads = 1,
        .memory_bytes = INT64_C(1) << 30,
    };
    run->reject_bytes = 1 << 20;
    pthread_mutex_init(&run->lock, NULL);
}

static void put_text(char *out, size_t size, const leat_text *text) {
    size_t used = strlen(out);
    if (text->size_bytes < 0) snprintf(out + used, size - used, " -");
    else snprintf(out + used, size - used, " <%.*s>", text->size_bytes, text->data);
}

static void keep_row(source_run *run, const leat_raw_batch *batch, int64_t i) {
    char text[4096], number[LEAT_FLOAT_TEXT_BYTES];
    if (batch->time_us[i] == LEAT_TIME_MISSING) {
        snprintf(text, sizeof text, "%d %lld -", batch->file_index, (long long)batch->row[i]);
    } else {
        snprintf(text, sizeof text, "%d %lld %lld", batch->file_index, (long long)batch->row[i],
                 (long long)batch->time_us[i]);
    }
    put_text(text, sizeof text, &batch->src[i]);
    put_text(text, sizeof text, &batch->dst[i]);
    int size = leat_float_format(batch->rtt[i], number);
    size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, " %d %.*s", batch->ip_version[i], size > 0 ? size : 1,
             size > 0 ? number : "-");
    if (run->count == run->capacity) {
        run->capacity = run->capacity * 2 + 64;
        run->rows = realloc(run->rows, (size_t)run->capacity * sizeof *run->rows);
    }
    run->rows[run->count++] = strdup(text);
}

static leat_code take(void *context, int worker, const leat_raw_batch *batch, leat_error *err) {
    source_run *run = context;
    leat_code code = LEAT_OK;
    pthread_mutex_lock(&run->lock);
    if (worker < 0 || worker >= run->options.threads) run->out_of_range = true;
    run->overlap = run->overlap || run->busy[worker & 15];
    run->busy[worker & 15] = true;
    if (batch->count < 1 || batch->count > LEAT_BATCH_ROWS) run->out_of_range = true;
    for (int64_t i = 0; i < batch->count && code == LEAT_OK; i++) {
        if (++run->given == run->fail_at) code = leat_fail(err, LEAT_ERR_NO_SPACE, "no more room");
        else keep_row(run, batch, i);
    }
    pthread_mutex_unlock(&run->lock);
    /* others may come in between; the same worker must not */
    pthread_mutex_lock(&run->lock);
    run->busy[worker & 15] = false;
    pthread_mutex_unlock(&run->lock);
    return code;
}

static int compare_rows(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static leat_code run_scan(source_run *run, leat_error *err) {
    run->options.batch = take;
    run->options.batch_context = run;
    run->options.temp_dir = core_dir();
    const char **paths = calloc((size_t)run->inputs.count + 1, sizeof *paths);
    for (int64_t i = 0; i < run->inputs.count; i++) paths[i] = run->inputs.items[i].path;
    snprintf(run->rejected, sizeof run->rejected, "%s", core_path("rejected.csv"));
    remove(run->rejected);
    leat_code code = leat_reject_log_create(
        &run->options.rejects,
        &(leat_reject_options){&leat_probe_rejects, paths, run->strict, run->options.threads,
                               run->reject_bytes, core_dir()},
        err);
    if (code == LEAT_OK) code = leat_sources_check(&run->inputs, &run->options, err);
    if (code == LEAT_OK) {
        code = leat_sources_scan(&run->inputs, &run->options, &run->rows_read, err);
    }
    if (code == LEAT_OK) {
        leat_reject_log_counts(run->options.rejects, run->rejects);
        code = leat_reject_log_save(run->options.rejects, run->rejected, err);
    }
    leat_reject_log_destroy(run->options.rejects);
    free(paths);
    return code;
}

leat_code source_run_paths(source_run *run, const char *const *paths, int64_t count,
                           leat_error *err) {
    leat_code code = leat_inputs_find(paths, count, &leat_probe_inputs, &run->inputs, err);
    if (code == LEAT_OK) code = run_scan(run, err);
    if (run->count > 0) {
        qsort(run->rows, (size_t)run->count, sizeof *run->rows, compare_rows);
    }
    assert_false(run->overlap);
    assert_false(run->out_of_range);
    return code;
}

leat_code source_run_file(source_run *run, const char *path, leat_error *err) {
    return source_run_paths(run, &path, 1, err);
}

void source_run_free(source_run *run) {
    for (int64_t i = 0; i < run->count; i++) free(run->rows[i]);
    free(run->rows);
    leat_input_list_free(&run->inputs);
    pthread_mutex_destroy(&run->lock);
    *run = (source_run){0};
}

void source_expect(const source_run *run, const char *const *rows, int64_t count) {
    const char **sorted = calloc((size_t)count + 1, sizeof *sorted);
    for (int64_t i = 0; i < count; i++) sorted[i] = rows[i];
    qsort(sorted, (size_t)count, sizeof *sorted, compare_rows);
    for (int64_t i = 0; i < count && i < run->count; i++) {
        assert_string_equal(run->rows[i], sorted[i]);
    }
    assert_int_equal(run->count, count);
    free(sorted);
}

void source_expect_rejects(const source_run *run, const char *const *rows, int64_t count) {
    int64_t total = 0;
    for (int i = 0; i < LEAT_REJECT_COUNT; i++) total += run->rejects[i];
    assert_int_equal(total, count);
    struct stat facts;
    assert_int_equal(stat(run->rejected, &facts) == 0, count > 0);
    if (count == 0) return;
    core_image image = core_load(run->rejected);
    char *text = calloc(1, (size_t)image.size_bytes + 1);
    memcpy(text, image.data, (size_t)image.size_bytes);
    char *at = strchr(text, '\n');
    assert_non_null(at);
    *at++ = 0;
    assert_string_equal(text, "file,row,reason,event_time,src_addr,dst_addr,ip_version,rtt,line");
    for (int64_t i = 0; i < count; i++) {
        char *comma = strchr(at, ',');
        assert_non_null(comma);
        size_t size = strlen(rows[i]);
        if (strncmp(comma + 1, rows[i], size) != 0 || comma[1 + size] != '\n') {
            fail_msg("set aside: %.200s\n  expected: %s", comma + 1, rows[i]);
        }
        at = comma + 1 + size + 1;
    }
    assert_int_equal(*at, 0);
    free(text);
    free(image.data);
}

const char *source_text(const char *name, const char *text) {
    const char *path = core_path(name);
    core_save(path, text, (int64_t)strlen(text));
    return path;
}

const char *source_gzip(const char *name, const void *bytes, int64_t size_bytes, int members) {
    const char *path = core_path(name);
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    for (int k = 0; k < members; k++) {
        int64_t begin = size_bytes * k / members, end = size_bytes * (k + 1) / members;
        z_stream zlib = {0};
        assert_int_equal(deflateInit2(&zlib, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
        zlib.next_in = (uint8_t *)(uintptr_t)bytes + begin;
        zlib.avail_in = (unsigned)(end - begin);
        int result;
        do {
            uint8_t buffer[65536];
            zlib.next_out = buffer;
            zlib.avail_out = sizeof buffer;
            result = deflate(&zlib, Z_FINISH);
            fwrite(buffer, 1, sizeof buffer - zlib.avail_out, out);
        } while (result == Z_OK);
        assert_int_equal(result, Z_STREAM_END);
        deflateEnd(&zlib);
    }
    assert_int_equal(fclose(out), 0);
    return path;
}
