/*
 * The windowed order in a loader: each anchor once an epoch, each block of rows read once, fillers
 * from the window, whatever memory allows; what it refuses. That the bytes are the same however
 * they are made, resumed and damaged is in test_loader_identity_windowed, _state and _damage.
 */
/* TSan: the ring's threads make batches, others read ahead. */
#include "loader_support.h"

#include "base/mem.h"
#include "load/probes/loader_plan.h"
#include "load/probes/readahead.h"

enum { MIB = 1 << 20 };

static char plain[256], packed[256];

static leat_loader_options windowed(int64_t batch) {
    leat_loader_options options = loader_options();
    options.window_bytes = MIB;
    options.batch = batch;
    return options;
}

/* ---- what an epoch holds ------------------------------------------------------------------------
 */

/* The anchors of two epochs, by position. */
static void list_anchors(const leat_loader *loader, int64_t batch, int64_t epoch,
                         int64_t *anchors) {
    for (int64_t s = 0; s < 2 * epoch; s++) {
        leat_explanation *told = NULL;
        leat_error err = {0};
        must(leat_loader_explain(loader, s / batch, s % batch, &told, &err), &err);
        assert_int_equal(told->epoch, s / epoch);
        assert_int_equal(told->position, s % epoch);
        assert_true(told->segment_count >= 1);
        anchors[s] = told->anchor;
        leat_explanation_destroy(told);
    }
}

static void every_anchor_once(void **state) {
    (void)state;
    static const int64_t batches[] = {1, 5, 12, 4096}; /* the last: more than there are anchors */
    leat_dataset *dataset = loader_open(plain);
    for (int b = 0; b < 4; b++) {
        leat_loader_options options = windowed(batches[b]);
        leat_loader *loader = loader_create(dataset, &options);
        int64_t epoch = leat_loader_epoch_sequences(loader), same = 0;
        int64_t *anchors = calloc((size_t)(2 * epoch), sizeof *anchors);
        char *seen = calloc((size_t)epoch, 1);
        assert_non_null(anchors);
        assert_non_null(seen);
        list_anchors(loader, options.batch, epoch, anchors);
        for (int64_t s = 0; s < 2 * epoch; s++) {
            if (s == epoch) memset(seen, 0, (size_t)epoch);
            assert_in_range(anchors[s], 0, epoch - 1);
            assert_int_equal(seen[anchors[s]]++, 0);
            same += s < epoch && anchors[s] == anchors[s + epoch];
        }
        assert_true(same < epoch / 10);
        free(seen);
        free(anchors);
        leat_loader_destroy(loader);
    }
    leat_dataset_close(dataset);
}

/* The end of the last epoch, whichever host makes it. */
static void end_of_epochs(void **state) {
    (void)state;
    leat_dataset *dataset = loader_open(packed);
    leat_loader_options options = windowed(12);
    options.epochs = 2;
    leat_loader *loader = loader_create(dataset, &options);
    int64_t sequences = 2 * leat_loader_epoch_sequences(loader);
    int64_t steps = leat_loader_step_count(loader);
    leat_loader_destroy(loader);
    assert_int_equal(steps, (sequences + 11) / 12);
    assert_true(sequences % 12 != 0);
    run reference = run_make(dataset, &options, 0, steps);
    for (int hosts = 1; hosts <= 4; hosts += 3) {
        int64_t made = 0;
        options.host_count = hosts;
        for (options.host_index = 0; options.host_index < hosts; options.host_index++) {
            leat_loader_counters counters;
            const leat_batch *batch = NULL;
            loader = loader_create(dataset, &options);
            for (int64_t s = 0; s < steps; s++) {
                batch = loader_next(loader);
                run_expect(&reference, batch);
                leat_batch_release(batch);
            }
            must(leat_loader_next(loader, &batch, NULL), NULL);
            assert_null(batch);
            leat_loader_get_counters(loader, &counters);
            made += counters.sequences;
            leat_loader_destroy(loader);
        }
        assert_int_equal(made, sequences);
    }
    run_free(&reference);
    leat_dataset_close(dataset);
}

/* Forwards and back, into windows and epochs, while the threads read. */
static void anywhere(void **state) {
    (void)state;
    enum { STEPS = 60 };
    leat_dataset *dataset = loader_open(packed);
    leat_loader_options options = windowed(12);
    run reference = run_make(dataset, &options, 0, STEPS);
    options.threads = 3;
    for (int64_t depth = 0; depth < 9; depth += 4) {
        options.prefetch = depth;
        leat_loader *loader = loader_create(dataset, &options);
        for (int64_t s = 7, i = 0; i < 40; s = (s * 31 + 11) % (STEPS - 3), i++) {
            leat_error err = {0};
            must(leat_loader_seek(loader, s, &err), &err);
            for (int64_t k = 0; k < i % 4; k++) {
                const leat_batch *batch = loader_next(loader);
                assert_int_equal(batch->step, s + k);
                run_expect(&reference, batch);
                leat_batch_release(batch);
            }
        }
        leat_loader_destroy(loader);
    }
    run_free(&reference);
    leat_dataset_close(dataset);
}

/* ---- read once ----------------------------------------------------------------------------------
 */

/* Bytes of the records of the training rows; the largest one. */
static int64_t record_bytes(const leat_dataset *dataset, int64_t *largest) {
    leat_dataset_facts facts;
    int64_t sum = 0;
    leat_dataset_get_facts(dataset, &facts);
    *largest = 0;
    for (int64_t row = 0; row < facts.split_rows[LEAT_SPLIT_TRAIN]; row++) {
        leat_row_facts found;
        must(leat_dataset_row(dataset, row, &found, NULL), NULL);
        sum += found.record_bytes;
        if (found.record_bytes > *largest) *largest = found.record_bytes;
    }
    return sum;
}

static int64_t epoch_payload(const leat_dataset *dataset, const leat_loader_options *options) {
    leat_loader_counters counters;
    leat_loader *loader = loader_create(dataset, options);
    int64_t steps = leat_loader_step_count(loader);
    for (int64_t s = 0; s < steps; s++) leat_batch_release(loader_next(loader));
    leat_loader_get_counters(loader, &counters);
    leat_loader_destroy(loader);
    return counters.payload_bytes;
}

/* Compressed rows are decoded once an epoch, but for the block that two lanes share at their
 * border; in the global order they are again and again, where the cache does not hold them. */
static void decoded_once(void **state) {
    (void)state;
    const char *path = packed;
    leat_dataset_options few = leat_dataset_options_default();
    leat_dataset *dataset = NULL;
    few.cache_bytes = 1000;
    must(leat_dataset_open(&dataset, &path, 1, &few, NULL), NULL);
    leat_loader_options options = windowed(3);
    int64_t largest = 0, all = record_bytes(dataset, &largest), block = 64 << 10;
    options.epochs = 1;
    if (largest > block) block = largest;
    int64_t payload = epoch_payload(dataset, &options);
    assert_true(payload >= all);
    assert_true(payload <= all + 2 * block);
    options.window_bytes = 0;
    assert_true(epoch_payload(dataset, &options) > 3 * all);
    leat_dataset_close(dataset);
}

/* ---- memory -------------------------------------------------------------------------------------
 */

static int64_t one_giant(int64_t row) { return row == 200 ? 100000 : 1000; }

/* Whether the row of the batch holds something of the giant; it must be what explain makes, which
 * reads rows one by one. */
static bool check_row(const leat_loader *loader, const leat_batch *batch) {
    leat_explanation *told = NULL;
    leat_error err = {0};
    bool found = false;
    must(leat_loader_explain(loader, batch->step, batch->rows[0], &told, &err), &err);
    assert_memory_equal(batch->inputs, told->inputs, (size_t)told->length * sizeof *told->inputs);
    for (int64_t i = 0; i < told->segment_count; i++) found |= told->segments[i].row == 200;
    leat_explanation_destroy(told);
    return found;
}

/* A row that is larger than all that is held of 600 others is read by itself, to the same bytes. */
static void larger_than_windows(void **state) {
    (void)state;
    char dir[256];
    make_options data = loader_data_options(LEAT_COMPRESSION_ZSTD);
    leat_loader_options options = windowed(4);
    leat_row_facts giant;
    int met = 0;
    data.count_of = one_giant;
    data.rows_per_shard = 200;
    loader_make("giant", &data, dir);
    leat_dataset *dataset = loader_open(dir);
    must(leat_dataset_row(dataset, 200, &giant, NULL), NULL);
    options.epochs = 1;
    options.host_count = 4;
    for (options.host_index = 0; options.host_index < 4; options.host_index++) {
        leat_loader_counters counters;
        leat_loader *loader = loader_create(dataset, &options);
        leat_loader_get_counters(loader, &counters);
        assert_in_range(counters.window_bytes, 1, giant.record_bytes - 1);
        assert_true(counters.memory_bytes > counters.window_bytes);
        int64_t steps = leat_loader_step_count(loader);
        for (int64_t s = 0; s < steps; s++) {
            const leat_batch *batch = loader_next(loader);
            if (s % 5 == 0 && s < steps - 1) met += check_row(loader, batch);
            leat_batch_release(batch);
        }
        leat_loader_destroy(loader);
    }
    assert_true(met > 0);
    leat_dataset_close(dataset);
}

/* Too little memory names what is enough. */
static void memory(void **state) {
    (void)state;
    leat_dataset *dataset = loader_open(packed);
    leat_loader_options options = windowed(12);
    leat_loader_counters counters;
    leat_loader *loader = NULL;
    leat_error err = {0};
    options.memory_bytes = MIB;
    assert_int_equal(leat_loader_create(&loader, dataset, &options, &err), LEAT_ERR_OPTION);
    assert_non_null(strstr(err.message, "windows included"));
    const char *number = strstr(err.message, "but ");
    assert_non_null(number);
    options.memory_bytes = strtoll(number + 4, NULL, 10);
    loader = loader_create(dataset, &options);
    leat_loader_get_counters(loader, &counters);
    assert_true(counters.memory_bytes <= options.memory_bytes);
    leat_batch_release(loader_next(loader));
    leat_loader_destroy(loader);
    leat_dataset_close(dataset);
}

/* Bytes of the windows that the rows of a batch are made from, where each row is at the step or
 * `ahead` steps after it. */
static int64_t in_use(const leat_loader_plan *plan, int64_t step, int64_t ahead) {
    leat_block_orders orders = {0};
    int64_t bytes = 0;
    for (int64_t row = 0; row < plan->row_count; row++) {
        leat_window window = {0};
        int64_t place = 0, at = step + (row % 2) * ahead;
        must(leat_blocks_window(plan->blocks, &orders, at * plan->options.batch + plan->rows[row],
                                &window, &place, NULL),
             NULL);
        for (int64_t i = 0; i < window.block_count; i++)
            bytes += plan->blocks->bytes[window.blocks[i]];
        leat_window_free(&window);
    }
    leat_block_orders_free(&orders);
    return bytes;
}

static int64_t train_file_bytes(const leat_dataset *dataset) {
    leat_dataset_facts facts;
    leat_dataset_get_facts(dataset, &facts);
    int64_t bytes = 0;
    for (int64_t i = 0; i < facts.shard_count; i++) {
        leat_dataset_shard shard;
        must(leat_dataset_get_shard(dataset, i, &shard, NULL), NULL);
        if (shard.first_row < facts.split_rows[LEAT_SPLIT_TRAIN]) bytes += shard.file_bytes;
    }
    return bytes;
}

/* Windows larger than the data: the memory is that of the data, and still enough. */
static void small_data(void **state) {
    (void)state;
    static const int64_t batches[] = {1, 5, 12, 600}, windows[] = {MIB, 128 * MIB};
    leat_dataset *dataset = loader_open(packed);
    int64_t largest_record = 0, records = record_bytes(dataset, &largest_record);
    const int64_t files = train_file_bytes(dataset);
    for (int c = 0; c < 8; c++) {
        leat_loader_options options = windowed(batches[c / 2]);
        leat_loader_plan *plan = NULL;
        int64_t all = 0, largest = 0, most = 0;
        options.window_bytes = windows[c % 2];
        must(leat_loader_plan_create(&plan, dataset, &options, NULL), NULL);
        for (int64_t i = 0; i < plan->blocks->count; i++) {
            int64_t bytes = plan->blocks->bytes[i];
            all += bytes;
            if (bytes > largest) largest = bytes;
        }
        int64_t span = LEAT_PREFETCH_AUTO_MAX + 1, steps = 3 * plan->epoch_sequences;
        steps = steps / options.batch + 1;
        for (int64_t s = 0; s < steps; s += 1 + steps / 200) {
            for (int64_t ahead = 0; ahead <= span; ahead += span) {
                int64_t bytes = in_use(plan, s, ahead);
                if (bytes > most) most = bytes;
            }
        }
        assert_in_range(most, 1, plan->blocks->host_bytes);
        /* windows hold records; chunks, only those who decode them */
        assert_int_equal(all, records + plan->split_rows * 8);
        assert_in_range(plan->blocks->chunk_bytes_max, 1, files);
        const int64_t decode = plan->blocks->chunk_bytes_max + 2 * plan->record_bytes_max;
        for (int fit = 1; fit < 6; fit++) {
            plan->options.threads = 4;
            plan->options.memory_bytes = 8 * fit * (decode + 1);
            const int threads = fit < 2 ? 2 : fit > 4 ? 4 : fit;
            assert_int_equal(leat_readahead_threads(plan), threads);
            assert_true(leat_readahead_thread_bytes(plan) >= threads * decode);
        }
        int64_t epochs = 2 + (span + 1) * options.batch / plan->epoch_sequences;
        assert_true(plan->blocks->host_bytes <= epochs * all + options.batch * largest);
        leat_loader_plan_destroy(plan);
    }
    leat_dataset_close(dataset);
}

static int64_t told_bytes(const leat_dataset *dataset, const leat_loader_options *options) {
    leat_loader_counters counters;
    leat_loader *loader = loader_create(dataset, options);
    leat_loader_get_counters(loader, &counters);
    leat_loader_destroy(loader);
    return counters.window_bytes;
}

/* Windows of mapped shards are pages of the split, so they take no more than these, whatever the
 * order allows; windows in memory are counted as before. */
static void mapped(void **state) {
    (void)state;
    static const int64_t batches[] = {1, 5, 12, 600}, windows[] = {MIB, 128 * MIB};
    leat_dataset *dataset = loader_open(plain);
    int64_t largest = 0, all = record_bytes(dataset, &largest), capped = 0;
    int64_t files = train_file_bytes(dataset);
    for (int c = 0; c < 8; c++) {
        leat_loader_options options = windowed(batches[c / 2]);
        leat_loader_plan *plan = NULL;
        options.window_bytes = windows[c % 2];
        must(leat_loader_plan_create(&plan, dataset, &options, NULL), NULL);
        int64_t held = 2 * plan->blocks->host_bytes, told = told_bytes(dataset, &options);
        assert_true(plan->blocks->split_bytes >= all);
        assert_true(plan->blocks->split_bytes <= files);
        assert_int_equal(told, held < plan->blocks->split_bytes ? held : plan->blocks->split_bytes);
        capped += told < held;
        leat_loader_plan_destroy(plan);
        options.io = LEAT_IO_PREAD;
        must(leat_loader_plan_create(&plan, dataset, &options, NULL), NULL);
        assert_int_equal(told_bytes(dataset, &options), 2 * plan->blocks->host_bytes);
        leat_loader_plan_destroy(plan);
    }
    assert_in_range(capped, 4, 8); /* all of 128 MiB */
    leat_dataset_close(dataset);
}

/* ---- options ------------------------------------------------------------------------------------
 */

static void expect_refused(const leat_dataset *dataset, const leat_loader_options *options,
                           const char *words) {
    leat_loader *loader = NULL;
    leat_error err = {0};
    assert_int_equal(leat_loader_create(&loader, dataset, options, &err), LEAT_ERR_OPTION);
    if (strstr(err.message, words) == NULL) fail_msg("\"%s\"", err.message);
}

static void refused(void **state) {
    (void)state;
    static const char *const bad[] = {"window",      "windowed:", "windowed:10",
                                      "windowed:2T", "",          "Global"};
    leat_dataset *dataset = loader_open(plain);
    leat_loader_options options = windowed(12);
    char text[LEAT_SETTING_BYTES];
    options.by_client = true;
    expect_refused(dataset, &options, "order windowed is not for sampling by client");
    options.by_client = false;
    options.sample.sampler = LEAT_SAMPLER_ALL;
    expect_refused(dataset, &options, "use order global");
    options = windowed(12);
    options.window_bytes = 1000;
    expect_refused(dataset, &options, "window_bytes is 1000");
    const leat_setting *order = leat_setting_find(leat_loader_options_table(), "order");
    options = windowed(12);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(leat_setting_set(order, &options, bad[i], NULL), LEAT_ERR_OPTION);
        assert_int_equal(options.window_bytes, MIB);
    }
    must(leat_setting_set(order, &options, "windowed:3G", NULL), NULL);
    assert_int_equal(options.window_bytes, INT64_C(3) << 30);
    assert_string_equal(leat_setting_get(order, &options, text), "windowed:3G");
    must(leat_setting_set(order, &options, "windowed", NULL), NULL);
    assert_int_equal(options.window_bytes, LEAT_WINDOW_BYTES_DEFAULT);
    must(leat_setting_set(order, &options, "global", NULL), NULL);
    assert_int_equal(options.window_bytes, 0);
    assert_string_equal(leat_setting_get(order, &options, text), "global");
    leat_dataset_close(dataset);
}

/* The memory that an error names is enough, though more of it means more threads that decode. */
static void named(void **state) {
    (void)state;
    static const char *const folders[] = {packed, plain};
    for (int c = 0; c < 8; c++) {
        leat_dataset *dataset = loader_open(folders[c % 2]);
        leat_loader_options options = windowed(12);
        leat_loader *loader = NULL;
        leat_error err = {0};
        options.threads = 1 + 5 * (c / 2);
        options.memory_bytes = 1;
        assert_int_equal(leat_loader_create(&loader, dataset, &options, &err), LEAT_ERR_OPTION);
        const char *but = strstr(err.message, ", but ");
        assert_non_null(but);
        options.memory_bytes = strtoll(but + 6, NULL, 10);
        leat_loader_destroy(loader_create(dataset, &options));
        leat_dataset_close(dataset);
    }
}

/* A state belongs to its order; those of the global order are as they were. */
static void states(void **state) {
    (void)state;
    leat_dataset *dataset = loader_open(plain);
    char path[300], text[LEAT_LOADER_STATE_BYTES];
    leat_loader_options options = windowed(12);
    leat_error err = {0};
    snprintf(path, sizeof path, "%s/windowed.json", loader_folder());
    leat_loader *loader = loader_create(dataset, &options);
    must(leat_loader_save(loader, path, true, &err), &err);
    leat_loader_destroy(loader);
    options.window_bytes = 0;
    loader = loader_create(dataset, &options);
    assert_int_equal(leat_loader_load(loader, path, &err), LEAT_ERR_INPUT);
    if (strstr(err.message, "order") == NULL) fail_msg("\"%s\"", err.message);
    leat_loader_state(loader, text);
    leat_loader_destroy(loader);
    options.window_bytes = 2 * MIB;
    loader = loader_create(dataset, &options);
    assert_int_equal(leat_loader_restore(loader, text, &err), LEAT_ERR_INPUT);
    assert_int_equal(leat_loader_load(loader, path, &err), LEAT_ERR_INPUT);
    leat_loader_destroy(loader);
    leat_dataset_close(dataset);
}

/* Third-party files, whose rows are read one by one: the batches of leat's own. */
static void others(void **state) {
    (void)state;
    leat_dataset_close(expect_without_index("others", windowed(12)));
}

static int setup(void **state) {
    (void)state;
    make_options data = loader_data_options(LEAT_COMPRESSION_NONE);
    loader_make("plain", &data, plain);
    data.record.compression = LEAT_COMPRESSION_ZSTD;
    loader_make("packed", &data, packed);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_anchor_once),
        cmocka_unit_test(end_of_epochs),
        cmocka_unit_test(anywhere),
        cmocka_unit_test(decoded_once),
        cmocka_unit_test(larger_than_windows),
        cmocka_unit_test(memory),
        cmocka_unit_test(small_data),
        cmocka_unit_test(mapped),
        cmocka_unit_test(named),
        cmocka_unit_test(refused),
        cmocka_unit_test(states),
        cmocka_unit_test(others),
    };
    return cmocka_run_group_tests(tests, setup, loader_teardown);
}
