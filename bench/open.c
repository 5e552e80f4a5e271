/*
 * One sample of opening a data set and finding rows in it: bench_open DIR [LOOKUPS [RECORDS
 * [SEED]]]. The process is fresh, so nothing is mapped or checked yet. The first pass over
 * LOOKUPS random rows checks the index's pages at their first access; the second pass over the same
 * rows finds them checked. Then RECORDS random rows are read completely, which opens their shards,
 * followed by the same number of others. bench/open.py compares it with array_record.
 */
#include "base/mem.h"
#include "base/rng.h"
#include "bench.h"
#include "leat/load.h"

typedef struct pick {
    int64_t *rows;
    int64_t count;
} pick;

static pick pick_rows(int64_t row_count, int64_t count, uint64_t seed, uint64_t stream) {
    pick picked = {bench_room(count * (int64_t)sizeof(int64_t)), count};
    for (int64_t i = 0; i < count; i++)
        picked.rows[i] =
            (int64_t)leat_random_below(leat_random(seed, stream, (uint64_t)i), (uint64_t)row_count);
    return picked;
}

/* Nanoseconds per row; *sum keeps the compiler from optimizing the work away. */
static double look_up(const leat_dataset *dataset, const pick *picked, int64_t *sum) {
    leat_error err = {0};
    leat_row_facts facts;
    double begin = bench_seconds();
    for (int64_t i = 0; i < picked->count; i++) {
        bench_must(leat_dataset_row(dataset, picked->rows[i], &facts, &err), &err);
        *sum += facts.record_index + facts.n_measurements;
    }
    return (bench_seconds() - begin) * 1e9 / (double)picked->count;
}

/* Microseconds of the median record. */
static double read_records(const leat_dataset *dataset, const pick *picked, int64_t *bytes) {
    leat_row *cursor = NULL;
    leat_error err = {0};
    double *samples = bench_room(picked->count * (int64_t)sizeof(double));
    bench_must(leat_row_create(&cursor, dataset, &err), &err);
    for (int64_t i = 0; i < picked->count; i++) {
        const uint8_t *record = NULL;
        int64_t size_bytes = 0;
        double begin = bench_seconds();
        bench_must(leat_dataset_row_open(dataset, picked->rows[i], cursor, &err), &err);
        bench_must(leat_dataset_row_record(cursor, &record, &size_bytes, &err), &err);
        samples[i] = (bench_seconds() - begin) * 1e6;
        *bytes += size_bytes;
    }
    double median = bench_median(samples, picked->count);
    leat_row_destroy(cursor);
    free(samples);
    return median;
}

int main(int argc, char **argv) {
    if (argc < 2 || argc > 5) bench_die("usage: bench_open DIR [LOOKUPS [RECORDS [SEED]]]");
    int64_t lookups = argc > 2 ? bench_number(argv[2], 1) : 1000000;
    int64_t records = argc > 3 ? bench_number(argv[3], 1) : 1000;
    uint64_t seed = argc > 4 ? (uint64_t)bench_number(argv[4], 0) : 0;
    const char *paths[] = {argv[1]};
    leat_dataset *dataset = NULL;
    leat_error err = {0};
    int64_t before_bytes = leat_rss_bytes();
    double begin = bench_seconds();
    bench_must(leat_dataset_open(&dataset, paths, 1, NULL, &err), &err);
    double open_ms = (bench_seconds() - begin) * 1e3;
    int64_t open_bytes = leat_rss_bytes() - before_bytes;

    leat_dataset_facts facts;
    leat_dataset_get_facts(dataset, &facts);
    if (facts.row_count == 0) bench_die("%s holds no row", argv[1]);
    pick places = pick_rows(facts.row_count, lookups, seed, 1);
    pick reads = pick_rows(facts.row_count, records, seed, 2);
    pick others = pick_rows(facts.row_count, records, seed, 3);
    int64_t sum = 0, bytes = 0;
    double first_ns = look_up(dataset, &places, &sum);
    double again_ns = look_up(dataset, &places, &sum);
    double record_first_us = read_records(dataset, &reads, &bytes);
    double record_us = read_records(dataset, &others, &bytes);
    free(places.rows);
    free(reads.rows);
    free(others.rows);
    leat_dataset_close(dataset);

    leat_json *json = bench_json_begin();
    leat_json_member_double(json, "open_ms", open_ms);
    leat_json_member_double(json, "lookup_first_ns", first_ns);
    leat_json_member_double(json, "lookup_ns", again_ns);
    leat_json_member_double(json, "record_first_us", record_first_us);
    leat_json_member_double(json, "record_us", record_us);
    leat_json_member_double(json, "record_bytes", (double)bytes / (double)(2 * records));
    leat_json_member_int(json, "open_bytes", open_bytes);
    leat_json_member_int(json, "rows", facts.row_count);
    leat_json_member_int(json, "shards", facts.shard_count);
    leat_json_member_int(json, "file_bytes", facts.file_bytes);
    leat_json_member_int(json, "sum", sum);
    bench_json_end(json);
    return 0;
}
