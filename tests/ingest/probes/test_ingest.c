/*
 * The whole ingest on small CSV files: contents against a brute-force model, the same bytes however
 * the work is cut, what is set aside, what is refused.
 */
/* TSan: data sets by 1 to 8 threads. */
#include "ingest_support.h"

#include <unistd.h>

#include "leat/duckdb.h"
#include "leat/synth.h"

static const core_shape base = {.seed = 21,
                                .rows = 12000,
                                .sources = 400,
                                .heavy = 20,
                                .times = 3000,
                                .targets = 60,
                                .order = CORE_RANDOM};

/* ---- contents ---- */

static void against_model(void **state) {
    (void)state;
    static const struct {
        double ratio;
        leat_split_rule split;
        int64_t max_row_bytes, probes_per_shard, shards;
        bool dictionary;
        leat_compression compression;
    } cases[] = {
        {0.9, LEAT_SPLIT_HASH, 4000, 30, 0, false, LEAT_COMPRESSION_NONE},
        {0.9, LEAT_SPLIT_ORDERED, 4000, 40, 0, false, LEAT_COMPRESSION_NONE},
        {0.5, LEAT_SPLIT_ORDERED, 0, 1000, 0, true, LEAT_COMPRESSION_NONE},
        {0.37, LEAT_SPLIT_HASH, 1024, 21, 0, true, LEAT_COMPRESSION_ZSTD},
        {0, LEAT_SPLIT_HASH, 8 << 20, 100, 0, false, LEAT_COMPRESSION_NONE},
        {1, LEAT_SPLIT_HASH, 8 << 20, 100, 0, false, LEAT_COMPRESSION_SNAPPY},
        {0, LEAT_SPLIT_ORDERED, 5000, 100, 0, false, LEAT_COMPRESSION_NONE},
        {1, LEAT_SPLIT_ORDERED, 5000, 100, 0, false, LEAT_COMPRESSION_NONE},
        {0.75, LEAT_SPLIT_HASH, 100000, 0, 12, false, LEAT_COMPRESSION_BROTLI},
        {0.9, LEAT_SPLIT_HASH, 4000, 0, 1, false, LEAT_COMPRESSION_NONE},
        {0.9, LEAT_SPLIT_HASH, 4000, 0, 120, false, LEAT_COMPRESSION_NONE}, /* some are empty */
    };
    core_row *rows = core_rows(&base);
    csv_write("model", rows, base.rows, &(csv_cut){.files = 2});
    const char *out = core_path("model_out");
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        leat_probes_ingest_options options = ingest_options();
        leat_probes_ingest_result result;
        options.seed = c * 1000003;
        options.train_ratio = cases[c].ratio;
        options.split = cases[c].split;
        options.max_row_bytes = cases[c].max_row_bytes;
        options.probes_per_shard = cases[c].probes_per_shard;
        options.shards = cases[c].shards;
        options.dictionary_src = cases[c].dictionary;
        options.record.compression = cases[c].compression;
        options.memory_bytes = ingest_memory(200); /* compressors take their share */
        assert_ok(ingest_to(out, "model", 2, &options, &result, err));
        dataset_check(out, rows, base.rows, &options);
        assert_int_equal(result.measurements, base.rows);
        assert_int_equal(result.rows_read, base.rows);
        assert_int_equal(result.rejected, 0);
        assert_int_equal(result.files, 2);
        assert_int_equal(result.probes_over_limit, 0);
        assert_int_equal(dir_count(out), 5);
        int64_t probes = 0;
        for (int64_t i = 0; i < base.rows; i++) {
            probes += i == 0 || rows[i].src_id != rows[i - 1].src_id;
        }
        assert_int_equal(result.probes[0] + result.probes[1], probes);
        if (cases[c].split == LEAT_SPLIT_ORDERED) {
            assert_int_equal(result.probes[0], (int64_t)(cases[c].ratio * (double)probes));
        }
        assert_int_equal(result.rows[0] + result.rows[1], probes + result.rows_split);
        if (cases[c].max_row_bytes == 0) assert_int_equal(result.rows_split, 0);
    }
    free(rows);
}

/* So many shards that several make a unit of work: what they are made of stays until the last of
 * them is on the disk. */
static void many_shards(void **state) {
    (void)state;
    core_row *rows = core_rows(&base);
    const char *out = core_path("many_out");
    csv_write("many", rows, base.rows, &(csv_cut){.files = 2});
    for (int threads = 1; threads <= 3; threads++) {
        leat_probes_ingest_options options = ingest_options();
        leat_probes_ingest_result result;
        options.threads = threads;
        options.shards = 1100;
        options.train_ratio = 0.99;
        options.split = threads == 2 ? LEAT_SPLIT_ORDERED : LEAT_SPLIT_HASH;
        assert_ok(ingest_to(out, "many", 2, &options, &result, err));
        assert_int_equal(result.shards[0], 1100);
        dataset_check(out, rows, base.rows, &options);
    }
    free(rows);
}

/* One measurement, one probe; two probes on either side of the split. */
static void tiny(void **state) {
    (void)state;
    const char *out = core_path("tiny_out");
    for (int64_t count = 1; count <= 3; count++) {
        core_shape shape = {.seed = 9, .rows = count, .sources = 9, .times = 4, .targets = 4};
        core_row *rows = core_rows(&shape);
        csv_write("tiny", rows, count, &(csv_cut){.files = 1});
        for (int split = 0; split < 2; split++) {
            for (int threads = 1; threads <= 8; threads += 7) {
                leat_probes_ingest_options options = ingest_options();
                leat_probes_ingest_result result;
                options.split = split == 0 ? LEAT_SPLIT_HASH : LEAT_SPLIT_ORDERED;
                options.train_ratio = 0.5;
                options.threads = threads;
                assert_ok(ingest_to(out, "tiny", 1, &options, &result, err));
                dataset_check(out, rows, count, &options);
            }
        }
        free(rows);
    }
}

/* ---- the same bytes ---- */

static void same_bytes(void **state) {
    (void)state;
    static const csv_cut cuts[] = {
        {.files = 1}, {.files = 3}, {.files = 8, .shuffled = true}, {.files = 5, .bad_every = 50}};
    static const int threads[] = {1, 2, 3, 8};
    static const int64_t mebibytes[] = {40, 64, 200};
    core_row *rows = core_rows(&base);
    leat_probes_ingest_options options = ingest_options();
    leat_probes_ingest_result result;
    dataset_digest want = {{0}};
    const char *out = core_path("same_out"), *temp = core_path("same_temp");
    for (int ordered = 0; ordered < 2; ordered++) {
        options.split = ordered ? LEAT_SPLIT_ORDERED : LEAT_SPLIT_HASH;
        int runs = 0;
        for (size_t c = 0; c < sizeof cuts / sizeof *cuts; c++) {
            int64_t bad = csv_write("same", rows, base.rows, &cuts[c]);
            for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
                options.threads = threads[t];
                options.memory_bytes = ingest_memory(mebibytes[(c + t) % 3]);
                options.temp_dir = (c + t) % 2 == 0 ? NULL : core_made(temp);
                assert_ok(ingest_to(out, "same", cuts[c].files, &options, &result, err));
                assert_int_equal(result.rejected, bad);
                assert_int_equal(result.rows_read, result.measurements + bad);
                if (runs++ == 0) want = dataset_hash(out);
                assert_same_dataset(out, want);
                if (options.temp_dir != NULL) assert_int_equal(dir_count(temp), 0);
            }
        }
    }
    free(rows);
}

/* Another seed, ratio or row limit is another data set: the digest does see the bytes. */
static void other_bytes(void **state) {
    (void)state;
    core_row *rows = core_rows(&base);
    const char *out = core_path("other_out");
    csv_write("other", rows, base.rows, &(csv_cut){.files = 1});
    dataset_digest digests[4];
    for (int i = 0; i < 4; i++) {
        leat_probes_ingest_options options = ingest_options();
        leat_probes_ingest_result result;
        if (i == 1) options.seed = 1;
        if (i == 2) options.max_row_bytes += 200;
        if (i == 3) options.split = LEAT_SPLIT_ORDERED;
        assert_ok(ingest_to(out, "other", 1, &options, &result, err));
        digests[i] = dataset_hash(out);
        for (int k = 0; k < i; k++) {
            assert_memory_not_equal(digests[i].bytes, digests[k].bytes, sizeof digests[i].bytes);
        }
    }
    free(rows);
}

/* Parquet and CSV of the same synthetic measurements, where DuckDB is there to write the former. */
static void parquet_and_csv(void **state) {
    (void)state;
    leat_duckdb_facts duckdb;
    if (leat_duckdb_probe(&duckdb, NULL) != LEAT_OK) {
        print_message("skipped: no DuckDB, so no Parquet\n");
        skip();
    }
    leat_synth_probes_options synth = leat_synth_probes_options_default();
    leat_synth_probes_result made;
    leat_probes_ingest_options options = ingest_options();
    leat_probes_ingest_result result;
    dataset_digest want;
    const char *out = core_path("parquet_out");
    synth.measurements = 60000;
    synth.seed = 5;
    synth.rows_per_file = 17000;
    options.memory_bytes = ingest_memory(600);
    const char *csv = core_path("synth.csv"), *folder = core_path("synth");
    assert_ok(leat_synth_probes(csv, &synth, &made, err));
    assert_ok(leat_synth_probes(folder, &synth, &made, err));
    assert_ok(leat_probes_ingest(&csv, 1, out, &options, &result, err));
    assert_int_equal(result.measurements, synth.measurements);
    want = dataset_hash(out);
    for (int threads = 1; threads <= 8; threads++) {
        if (threads > 3 && threads < 8) continue;
        options.threads = threads;
        options.replace = true;
        assert_ok(leat_probes_ingest(&folder, 1, out, &options, &result, err));
        assert_int_equal(result.files, 4);
        assert_same_dataset(out, want);
    }
}

/* ---- set aside, refused ---- */

static void set_aside(void **state) {
    (void)state;
    core_row *rows = core_rows(&base);
    const char *out = core_path("aside_out"), *file = core_path("aside_out/rejected.csv");
    leat_probes_ingest_options options = ingest_options();
    leat_probes_ingest_result result;
    int64_t bad = csv_write("aside", rows, base.rows, &(csv_cut){.files = 4, .bad_every = 9});
    core_image first = {0};
    for (int threads = 1; threads <= 8; threads *= 2) {
        options.threads = threads;
        assert_ok(ingest_to(out, "aside", 4, &options, &result, err));
        assert_int_equal(result.rejected, bad);
        int64_t by_reason = 0;
        for (int i = 0; i < result.reject_reasons; i++) by_reason += result.reject_count[i];
        assert_int_equal(by_reason, bad);
        assert_true(result.reject_reasons >= 8);
        dataset_check(out, rows, base.rows, &options);
        core_image now = core_load(file);
        int64_t lines = 0;
        for (int64_t i = 0; i < now.size_bytes; i++) lines += now.data[i] == '\n';
        assert_int_equal(lines, bad + 1);
        if (first.data != NULL) {
            assert_int_equal(now.size_bytes, first.size_bytes);
            assert_memory_equal(now.data, first.data, (size_t)first.size_bytes);
        }
        free(first.data);
        first = now;
    }
    free(first.data);
    options.strict = true;
    assert_fails(ingest_to(out, "aside", 4, &options, &result, err), LEAT_ERR_INPUT, ".csv");
    assert_false(path_exists(out));
    assert_int_equal(result.measurements, 0);
    free(rows);
}

static void zero_address(void **state) {
    (void)state;
    static const char text[] = "event_time,src_addr,dst_addr,ip_version,rtt\n"
                               "5,,1.2.3.4,,1\n6,1.2.3.4,,4,1\n7,,::1,,1\n8,,,6,1\n9,,,,1\n"
                               "10,0.0.0.0,1.2.3.4,4,1\n11,,bad,4,1\n";
    core_row want[6] = {
        {.time_us = 5000000, .src = "0.0.0.0", .dst = "1.2.3.4", .rtt = 1},
        {.time_us = 6000000, .src = "1.2.3.4", .dst = "0.0.0.0", .rtt = 1},
        {.time_us = 7000000, .src = "::", .dst = "::1", .rtt = 1},
        {.time_us = 8000000, .src = "::", .dst = "::", .rtt = 1},
        {.time_us = 10000000, .src = "0.0.0.0", .dst = "1.2.3.4", .rtt = 1},
    };
    for (int i = 0; i < 5; i++) want[i].src_id = core_src_id(want[i].src);
    const char *out = core_path("zero_out");
    leat_probes_ingest_options options = ingest_options();
    leat_probes_ingest_result result;
    core_save(core_path("zero-0.csv"), text, sizeof text - 1);
    options.zero_address = true;
    assert_ok(ingest_to(out, "zero", 1, &options, &result, err));
    assert_int_equal(result.rejected, 2);
    dataset_check(out, want, 5, &options);
    options.zero_address = false;
    assert_ok(ingest_to(out, "zero", 1, &options, &result, err));
    assert_int_equal(result.rejected, 6);
}

static void nothing_to_write(void **state) {
    (void)state;
#define HEADER "event_time,src_addr,dst_addr,ip_version,rtt\n"
    static const struct {
        const char *text, *words;
        leat_code code;
    } cases[] = {
        {HEADER, "no rows in 1 input file", LEAT_ERR_INPUT},
        {HEADER "x\ny\n5,1.2.3.4,,4,1\n", "none of 3 rows is a measurement", LEAT_ERR_INPUT},
        {"event_time,src_addr,rtt\n", "dst_addr", LEAT_ERR_INPUT},
        {"", "", LEAT_ERR_INPUT},
    };
    const char *out = core_path("nothing_out"), *temp = core_path("nothing_temp");
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        for (int made = 0; made < 2; made++) {
            leat_probes_ingest_options options = ingest_options();
            leat_probes_ingest_result result;
            core_save(core_path("nothing-0.csv"), cases[c].text, (int64_t)strlen(cases[c].text));
            options.temp_dir = core_made(temp);
            assert_ok(leat_path_remove_tree(out, err));
            if (made) assert_ok(leat_path_make_dir(out, err));
            assert_fails(
                leat_probes_ingest(csv_paths("nothing", 1), 1, out, &options, &result, err),
                cases[c].code, cases[c].words);
            assert_int_equal(dir_count(out), made ? 0 : -1);
            assert_true(dir_count(temp) <= 0);
        }
    }
}

static void bad_options(void **state) {
    (void)state;
    static const char *const words[] = {
        "threads: \"0\" is not accepted; it takes a whole number from 1 to 256",
        "threads: \"257\"",
        "train-ratio: \"-0.1\" is not accepted; it takes a number from 0 to 1",
        "train-ratio: \"nan\"",
        "max-row-size: \"1023\" is not accepted; it takes none or a size of at least 1K",
        "max-row-size: \"-1\"",
        "shards: \"-1\" is not accepted; it takes auto or a whole number from 1 to 1000000",
        "probes-per-shard: \"0\"",
        "group size is 2",
        "exclude each other",
        "memory limit",
        "split: \"2\" is not accepted; it takes hash or ordered",
        "compression: level 99 of zstd"};
    csv_write("options", NULL, 0, &(csv_cut){.files = 1});
    const char *out = core_path("options_out");
    for (int i = 0; i < (int)(sizeof words / sizeof *words); i++) {
        leat_probes_ingest_options o = ingest_options();
        leat_probes_ingest_result result = {.files = 77};
        if (i == 0) o.threads = 0;
        if (i == 1) o.threads = 257;
        if (i == 2) o.train_ratio = -0.1;
        if (i == 3) o.train_ratio = __builtin_nan("");
        if (i == 4) o.max_row_bytes = 1023;
        if (i == 5) o.max_row_bytes = -1;
        if (i == 6) o.shards = -1;
        if (i == 7) o.probes_per_shard = 0;
        if (i == 8) o.record.group_size = 2;
        if (i == 9) o.resume = o.replace = true;
        if (i == 10) o.memory_bytes = INGEST_MEMORY_MIN;
        if (i == 11) o.split = (leat_split_rule)2;
        if (i == 12) {
            o.record.compression = LEAT_COMPRESSION_ZSTD;
            o.record.level = 99;
        }
        void *ballast = i == 10 ? ingest_ballast() : NULL;
        assert_fails(leat_probes_ingest(csv_paths("options", 1), 1, out, &o, &result, err),
                     i == 10 ? LEAT_ERR_LIMIT : LEAT_ERR_OPTION, words[i]);
        free(ballast);
        assert_int_equal(result.files, 0);
        assert_false(path_exists(out));
    }
}

int main(void) {
    core_in_memory(INT64_C(256) << 20);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_model),
        cmocka_unit_test(many_shards),
        cmocka_unit_test(tiny),
        cmocka_unit_test(same_bytes),
        cmocka_unit_test(other_bytes),
        cmocka_unit_test(parquet_and_csv),
        cmocka_unit_test(set_aside),
        cmocka_unit_test(zero_address),
        cmocka_unit_test(nothing_to_write),
        cmocka_unit_test(bad_options),
    };
    int failed = cmocka_run_group_tests_name("ingest", tests, NULL, NULL);
    core_dir_remove();
    return failed;
}
