/*
 * A context drawn from one large row, one sample per process (bench/row_access.py picks the places
 * and compares it with array_record and PyArrow):
 *
 *   bench_row_access facts DIR              the largest row
 *   bench_row_access context DIR ROW        the measurements at the places on stdin, timed from
 *                                           opening the row to the last value; every page checked.
 *                                           Then again with all pages already checked
 *   bench_row_access rows DIR COUNT         COUNT contexts of 60 measurements (all of a smaller
 *                                           row), each of a different random row, with all pages
 *                                           already checked
 *   bench_row_access plan DIR ROW           the positions of these values in the shard's file
 *   bench_row_access walk                   a plan on stdin: the same bytes of a fresh mapping,
 *                                           unchecked: the cost of the page faults alone
 *
 * The plan is computed from the format's own arithmetic and compared with the values that were
 * decoded, so that the walk always reads the same bytes as a context.
 */
#include <sys/mman.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/rng.h"
#include "bench.h"
#include "format/arrayrecord/arrayrecord.h"
#include "format/probe/row.h"
#include "load/probes/dataset.h"

#define PLACES_MAX 100000
#define PATH_TEXT 4096

typedef struct places {
    int64_t *index;
    int64_t count;
} places;

static places read_places(int64_t end) {
    places read = {bench_room(PLACES_MAX * (int64_t)sizeof(int64_t)), 0};
    long long index;
    while (read.count < PLACES_MAX && scanf("%lld", &index) == 1) {
        if (index < 0 || index >= end) bench_die("place %lld of %lld", index, (long long)end);
        read.index[read.count++] = index;
    }
    if (read.count == 0) bench_die("no places on stdin");
    return read;
}

static leat_dataset *open_dataset(const char *dir, double *seconds) {
    leat_dataset *dataset = NULL;
    leat_error err = {0};
    double begin = bench_seconds();
    bench_must(leat_dataset_open(&dataset, &dir, 1, NULL, &err), &err);
    *seconds = bench_seconds() - begin;
    return dataset;
}

static int print_facts(const char *dir) {
    double seconds;
    leat_dataset *dataset = open_dataset(dir, &seconds);
    leat_dataset_facts all;
    leat_row_facts row, largest = {0};
    leat_dataset_shard shard;
    leat_error err = {0};
    int64_t place = -1;
    leat_dataset_get_facts(dataset, &all);
    for (int64_t i = 0; i < all.row_count; i++) {
        bench_must(leat_dataset_row(dataset, i, &row, &err), &err);
        if (place >= 0 && row.record_bytes <= largest.record_bytes) continue;
        place = i;
        largest = row;
    }
    if (place < 0) bench_die("%s holds no row", dir);
    bench_must(leat_dataset_get_shard(dataset, largest.shard, &shard, &err), &err);
    leat_json *json = bench_json_begin();
    leat_json_member_int(json, "row", place);
    leat_json_member_int(json, "n_measurements", largest.n_measurements);
    leat_json_member_int(json, "record_bytes", largest.record_bytes);
    leat_json_member_int(json, "record_index", largest.record_index);
    leat_json_member_string(json, "shard", shard.name);
    bench_json_end(json);
    leat_dataset_close(dataset);
    return 0;
}

/* The sum of what was read, so that sides can be compared and no work is optimized away. */
typedef struct sums {
    int64_t time_us;
    double rtt;
    uint64_t bytes;
} sums;

static void add_up(sums *sum, const leat_measurement *points, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        sum->time_us += points[i].time_us;
        sum->rtt += (double)points[i].rtt;
        sum->bytes += points[i].src_bytes[0] + points[i].dst_bytes[0];
    }
}

/* Checks every page of a row. */
static void check_pages(const leat_dataset *dataset, int64_t row, leat_row *cursor) {
    const uint8_t *record = NULL;
    int64_t record_bytes = 0;
    leat_error err = {0};
    bench_must(leat_dataset_row_open(dataset, row, cursor, &err), &err);
    bench_must(leat_dataset_row_record(cursor, &record, &record_bytes, &err), &err);
}

/* Seconds for one context; *opened gets those for opening the row. */
static double time_context(const leat_dataset *dataset, int64_t row, leat_row *cursor,
                           const places *picked, leat_measurement *points, double *opened) {
    leat_error err = {0};
    double begin = bench_seconds();
    bench_must(leat_dataset_row_open(dataset, row, cursor, &err), &err);
    *opened = bench_seconds() - begin;
    bench_must(leat_row_gather(cursor, picked->index, picked->count, points, &err), &err);
    return bench_seconds() - begin;
}

static int draw_context(const char *dir, int64_t row) {
    enum { INNER_CACHES = 64 << 20 };
    double open_seconds, opened, opened_again;
    leat_dataset *dataset = open_dataset(dir, &open_seconds);
    leat_row_facts facts;
    leat_row *cursor = NULL;
    leat_error err = {0};
    sums sum = {0};
    bench_must(leat_dataset_row(dataset, row, &facts, &err), &err);
    places picked = read_places(facts.n_measurements);
    leat_measurement *points = bench_room(picked.count * (int64_t)sizeof *points);
    bench_must(leat_row_create(&cursor, dataset, &err), &err);
    double first = time_context(dataset, row, cursor, &picked, points, &opened);
    add_up(&sum, points, picked.count);
    check_pages(dataset, row, cursor);
    free(bench_room(INNER_CACHES)); /* writes all of it */
    double again = time_context(dataset, row, cursor, &picked, points, &opened_again);
    leat_json *json = bench_json_begin();
    leat_json_member_double(json, "context_us", first * 1e6);
    leat_json_member_double(json, "row_open_us", opened * 1e6);
    leat_json_member_double(json, "again_us", again * 1e6);
    leat_json_member_double(json, "again_open_us", opened_again * 1e6);
    leat_json_member_double(json, "dataset_open_us", open_seconds * 1e6);
    leat_json_member_int(json, "time_sum", sum.time_us);
    leat_json_member_double(json, "rtt_sum", sum.rtt);
    leat_json_member_int(json, "bytes_sum", (int64_t)sum.bytes);
    bench_json_end(json);
    free(points);
    free(picked.index);
    leat_row_destroy(cursor);
    leat_dataset_close(dataset);
    return 0;
}

/* ---- contexts of random rows -------------------------------------------------------------- */

enum { CONTEXT = 60 };

typedef struct context {
    int64_t row, count;
    int64_t index[CONTEXT];
} context;

static int by_number(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void draw(const leat_dataset *dataset, uint64_t number, context *out) {
    leat_dataset_facts all;
    leat_row_facts facts;
    leat_error err = {0};
    leat_dataset_get_facts(dataset, &all);
    out->row = (int64_t)leat_random_below(leat_random(1, 0, number), (uint64_t)all.row_count);
    bench_must(leat_dataset_row(dataset, out->row, &facts, &err), &err);
    int64_t n = facts.n_measurements;
    out->count = n < CONTEXT ? n : CONTEXT;
    for (int64_t k = 0; k < out->count; k++) {
        uint64_t bits = leat_random(2, number, (uint64_t)k);
        out->index[k] = n < CONTEXT ? k : (int64_t)leat_random_below(bits, (uint64_t)n);
    }
    qsort(out->index, (size_t)out->count, sizeof *out->index, by_number);
}

static double time_rows(const leat_dataset *dataset, leat_row *cursor, const context *contexts,
                        int64_t count, sums *sum) {
    leat_measurement points[CONTEXT];
    leat_error err = {0};
    double begin = bench_seconds();
    for (int64_t i = 0; i < count; i++) {
        const context *at = &contexts[i];
        bench_must(leat_dataset_row_open(dataset, at->row, cursor, &err), &err);
        bench_must(leat_row_gather(cursor, at->index, at->count, points, &err), &err);
        add_up(sum, points, at->count);
    }
    return bench_seconds() - begin;
}

static int draw_rows(const char *dir, int64_t count) {
    double open_seconds;
    leat_dataset *dataset = open_dataset(dir, &open_seconds);
    leat_dataset_facts all;
    leat_row *cursor = NULL;
    leat_error err = {0};
    sums sum = {0};
    int64_t measurements = 0;
    leat_dataset_get_facts(dataset, &all);
    bench_must(leat_row_create(&cursor, dataset, &err), &err);
    for (int64_t row = 0; row < all.row_count; row++) check_pages(dataset, row, cursor);
    context *contexts = bench_room(count * (int64_t)sizeof *contexts);
    for (int64_t i = 0; i < count; i++) {
        draw(dataset, (uint64_t)i, &contexts[i]);
        measurements += contexts[i].count;
    }
    double seconds = time_rows(dataset, cursor, contexts, count, &sum);
    leat_json *json = bench_json_begin();
    leat_json_member_int(json, "rows", all.row_count);
    leat_json_member_int(json, "file_bytes", all.file_bytes);
    leat_json_member_double(json, "measurements", (double)measurements / (double)count);
    leat_json_member_double(json, "plain_us", seconds * 1e6 / (double)count);
    leat_json_member_int(json, "time_sum", sum.time_us);
    bench_json_end(json);
    free(contexts);
    leat_row_destroy(cursor);
    leat_dataset_close(dataset);
    return 0;
}

/* ---- plan --------------------------------------------------------------------------------- */

typedef struct whole_file {
    uint8_t *bytes;
    int64_t size_bytes;
} whole_file;

static const uint8_t *file_bytes(void *context, int64_t offset, int64_t size_bytes,
                                 uint8_t *scratch, leat_error *err) {
    const whole_file *file = context;
    (void)scratch;
    (void)size_bytes;
    (void)err;
    return file->bytes + offset;
}

/* The chunk of a record, and where in it the record begins. */
static int64_t record_begin(whole_file *file, int64_t record, int64_t *chunk_begin) {
    leat_ar_reader *reader = NULL;
    leat_ar_chunk chunk;
    leat_error err = {0};
    int64_t first = 0, size_bytes = 0;
    leat_ar_bytes bytes = {file_bytes, file, file->size_bytes};
    bench_must(leat_ar_reader_open_memory(&reader, file->bytes, file->size_bytes, NULL, &err),
               &err);
    *chunk_begin = leat_ar_reader_chunk(reader, record).offset;
    bench_must(leat_ar_chunk_read(&bytes, *chunk_begin, file->size_bytes, &chunk, &err), &err);
    bench_must(leat_ar_chunk_record(&bytes, &chunk, 0, &first, &size_bytes, &err), &err);
    leat_ar_reader_close(reader);
    return first;
}

static leat_probe_plan plan_record(const leat_measurements *all, const leat_probe_row_info *info) {
    leat_probe_facts facts = {.src_id = info->src_id,
                              .n_measurements = all->count,
                              .first_us = all->time_us[0],
                              .last_us = all->time_us[all->count - 1]};
    const leat_probe_address *source = &all->addresses[all->src[0]];
    leat_probe_plan plan;
    leat_error err = {0};
    facts.src_size = source->text_bytes;
    memcpy(facts.src, source->text, source->text_bytes);
    for (int64_t i = 0; i < all->count; i++)
        facts.dst_bytes += all->addresses[all->dst[i]].text_bytes;
    bench_must(leat_probe_plan_row(&facts, false, &plan, &err), &err);
    return plan;
}

/* Bytes [at, at + size_bytes) of the record as ranges of the file. */
static void print_range(int64_t chunk_begin, int64_t at, int64_t size_bytes) {
    while (size_bytes > 0) {
        int64_t offset = 0, part = leat_ar_fragment(chunk_begin, at, size_bytes, &offset);
        printf("%lld %lld\n", (long long)offset, (long long)part);
        at += part;
        size_bytes -= part;
    }
}

static void print_values(const leat_measurements *all, const leat_probe_plan *plan,
                         const uint8_t *record, const places *picked, int64_t chunk_begin,
                         int64_t first) {
    const int64_t *column = plan->column_offset;
    for (int64_t k = 0; k < picked->count; k++) {
        int64_t i = picked->index[k], time_us;
        int32_t text[2];
        memcpy(&time_us, record + column[LEAT_PROBE_EVENT_TIME] + 8 * i, 8);
        memcpy(text, record + column[LEAT_PROBE_DST_OFFSETS] + 4 * i, 8);
        if (time_us != all->time_us[i] ||
            text[1] - text[0] != all->addresses[all->dst[i]].text_bytes)
            bench_die("measurement %lld does not lie where it should", (long long)i);
        print_range(chunk_begin, first + column[LEAT_PROBE_EVENT_TIME] + 8 * i, 8);
        print_range(chunk_begin, first + column[LEAT_PROBE_DST_OFFSETS] + 4 * i, 8);
        print_range(chunk_begin, first + column[LEAT_PROBE_DST_DATA] + text[0], text[1] - text[0]);
        print_range(chunk_begin, first + column[LEAT_PROBE_RTT] + 4 * i, 4);
    }
}

static int print_plan(const char *dir, int64_t row) {
    double seconds;
    leat_dataset *dataset = open_dataset(dir, &seconds);
    leat_row_facts facts;
    leat_dataset_shard shard;
    leat_row *cursor = NULL;
    leat_measurements all = {0};
    leat_probe_row_info info;
    leat_error err = {0};
    char path[PATH_TEXT];
    const uint8_t *record = NULL;
    int64_t record_bytes = 0, chunk_begin = 0;
    whole_file file = {0};
    bench_must(leat_dataset_row(dataset, row, &facts, &err), &err);
    places picked = read_places(facts.n_measurements);
    bench_must(leat_row_create(&cursor, dataset, &err), &err);
    bench_must(leat_dataset_row_open(dataset, row, cursor, &err), &err);
    bench_must(leat_dataset_row_record(cursor, &record, &record_bytes, &err), &err);
    bench_must(leat_probe_record_decode(record, record_bytes, NULL, &all, &info, &err), &err);
    bench_must(leat_dataset_get_shard(dataset, facts.shard, &shard, &err), &err);
    bench_must(leat_path_join(path, PATH_TEXT, dir, shard.name, &err), &err);
    bench_must(leat_file_load(path, INT64_C(1) << 40, &file.bytes, &file.size_bytes, &err), &err);
    int64_t first = record_begin(&file, facts.record_index, &chunk_begin);
    leat_probe_plan plan = plan_record(&all, &info);
    if (plan.record_bytes != record_bytes) bench_die("the row is not as its plan says");
    printf("%s\n", path);
    print_values(&all, &plan, record, &picked, chunk_begin, first);
    leat_free(file.bytes);
    leat_measurements_free(&all);
    free(picked.index);
    leat_row_destroy(cursor);
    leat_dataset_close(dataset);
    return 0;
}

/* ---- walk --------------------------------------------------------------------------------- */

static int walk(void) {
    char path[PATH_TEXT + 1];
    if (fgets(path, sizeof path, stdin) == NULL) bench_die("no plan on stdin");
    path[strcspn(path, "\n")] = 0;
    int64_t *offset = bench_room(PLACES_MAX * 8 * (int64_t)sizeof(int64_t));
    int64_t *size = bench_room(PLACES_MAX * 8 * (int64_t)sizeof(int64_t)), count = 0, end = 0;
    long long at, bytes;
    while (count < PLACES_MAX * 8 && scanf("%lld %lld", &at, &bytes) == 2) {
        offset[count] = at;
        size[count++] = bytes;
        if (at + bytes > end) end = at + bytes;
    }
    leat_file *file = NULL;
    leat_error err = {0};
    int64_t file_size = 0;
    bench_must(leat_file_open(&file, path, LEAT_FILE_READ, &err), &err);
    bench_must(leat_file_size(file, &file_size, &err), &err);
    if (count == 0 || end > file_size) bench_die("the plan is not of this file");
    double begin = bench_seconds();
    const uint8_t *data = leat_file_mmap(file, NULL, file_size);
    if (data == MAP_FAILED) bench_die("cannot map %s", path);
    double mapped = bench_seconds();
    uint64_t sum = 0;
    for (int64_t i = 0; i < count; i++)
        for (int64_t k = 0; k < size[i]; k++) sum += data[offset[i] + k];
    double finish = bench_seconds();
    leat_json *json = bench_json_begin();
    leat_json_member_double(json, "walk_us", (finish - mapped) * 1e6);
    leat_json_member_double(json, "map_us", (mapped - begin) * 1e6);
    leat_json_member_int(json, "ranges", count);
    leat_json_member_int(json, "sum", (int64_t)sum);
    bench_json_end(json);
    leat_file_close(file);
    free(offset);
    free(size);
    return 0;
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    if (argc == 3 && strcmp(mode, "facts") == 0) return print_facts(argv[2]);
    if (argc == 4 && strcmp(mode, "context") == 0)
        return draw_context(argv[2], bench_number(argv[3], 0));
    if (argc == 4 && strcmp(mode, "rows") == 0) return draw_rows(argv[2], bench_number(argv[3], 2));
    if (argc == 4 && strcmp(mode, "plan") == 0)
        return print_plan(argv[2], bench_number(argv[3], 0));
    if (argc == 2 && strcmp(mode, "walk") == 0) return walk();
    bench_die("usage: bench_row_access facts DIR | context DIR ROW | rows DIR COUNT | "
              "plan DIR ROW | walk");
}
