/*
 * Batches: the same bytes with and without our index and for explicit rows, of the right
 * measurements, every anchor once an epoch; what was handed out stays.
 */
/* TSan: the ring's threads make batches; others release them. */
#include "loader_support.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/address.h"

static char plain[256];

/* ---- the same bytes -----------------------------------------------------------------------------
 */

/* The same rows without our index, by another number of threads; damage in them cannot be masked.
 */
static void others(void **state) {
    (void)state;
    leat_loader *loader = NULL;
    leat_loader_options options = loader_options();
    options.threads = 3;
    leat_dataset *dataset = expect_without_index("others", options);
    options.on_corrupt = LEAT_CORRUPT_MASK;
    assert_int_equal(leat_loader_create(&loader, dataset, &options, NULL), LEAT_ERR_OPTION);
    leat_dataset_close(dataset);
}

/* Every option that decides bytes does, and every sampler gives the same with any threads. */
static void options_matter(void **state) {
    (void)state;
    static const struct {
        const char *name, *value;
    } cases[] = {{"seed", "12"},
                 {"sampler", "plan2"},
                 {"sampler", "all"},
                 {"length", "128"},
                 {"timestamp-modes", "0,0,100"},
                 {"field-order", "content"},
                 {"packing", "none"},
                 {"tail", "pad"},
                 {"boundary", "cross"}};
    leat_dataset *dataset = loader_open(plain);
    leat_loader_options options = loader_options();
    char hashes[12][65];
    for (int c = 0; c < 12; c++) {
        leat_loader_options other = options;
        leat_error err = {0};
        if (c >= 1 && c <= 9) {
            must(leat_settings_set(leat_sampler_options_table(), &other.sample, cases[c - 1].name,
                                   cases[c - 1].value, &err),
                 &err);
        }
        if (c == 10) other.split = LEAT_SPLIT_TEST;
        if (c == 11) other.batch = 6;
        for (int t = 1; t <= 3; t += 2) {
            leat_batch_hash *hash = NULL;
            char text[65];
            other.threads = t;
            leat_loader *loader = loader_create(dataset, &other);
            must(leat_batch_hash_create(&hash, &err), &err);
            for (int s = 0; s < 4; s++) {
                const leat_batch *batch = loader_next(loader);
                leat_batch_hash_add(hash, batch, NULL);
                leat_batch_release(batch);
            }
            leat_batch_hash_text(hash, text);
            if (t == 1) strcpy(hashes[c], text);
            assert_string_equal(text, hashes[c]);
            leat_batch_hash_destroy(hash);
            leat_loader_destroy(loader);
        }
        for (int b = 0; b < c; b++) {
            if (strcmp(hashes[b], hashes[c]) == 0) fail_msg("cases %d and %d are the same", b, c);
        }
    }
    leat_dataset_close(dataset);
}

static void explicit_rows(void **state) {
    (void)state;
    static const int64_t rows[] = {7, 0, 11, 3, 3}, bad[] = {2, 12}, negative[] = {-1};
    leat_dataset *dataset = loader_open(plain);
    leat_loader_options options = loader_options();
    run reference = run_make(dataset, &options, 0, 6);
    options.rows = rows;
    options.row_count = 5;
    leat_loader *loader = loader_create(dataset, &options);
    for (int s = 0; s < 6; s++) {
        const leat_batch *batch = loader_next(loader);
        assert_int_equal(batch->row_count, 5);
        assert_memory_equal(batch->rows, rows, sizeof rows);
        run_expect(&reference, batch);
        leat_batch_release(batch);
    }
    leat_loader_destroy(loader);
    options.rows = bad;
    options.row_count = 2;
    leat_error err = {0};
    assert_int_equal(leat_loader_create(&loader, dataset, &options, &err), LEAT_ERR_OPTION);
    assert_non_null(strstr(err.message, "12 is not a row of a batch of 12"));
    options.rows = negative;
    options.row_count = 1;
    assert_int_equal(leat_loader_create(&loader, dataset, &options, &err), LEAT_ERR_OPTION);
    run_free(&reference);
    leat_dataset_close(dataset);
}

/* ---- the right measurements ---------------------------------------------------------------------
 */

static void expect_measurement(const leat_decoded *got, const leat_explained_segment *segment,
                               const leat_explained_measurement *told) {
    char src[LEAT_PROBE_SRC_BYTES];
    leat_probe_address address = {0};
    made expected = make_measurement(segment->row, told->index);
    make_source(segment->row, src);
    assert_int_equal(told->time_us, expected.time_us);
    assert_int_equal(got->cut, told->cut);
    if (got->cut) return; /* whatever is left of it was compared as tokens */
    assert_int_equal(got->src_version, expected.ip_version);
    size_t bytes = expected.ip_version == 4 ? 4 : 16;
    assert_int_equal(leat_address_parse(src, (int64_t)strlen(src), address.bytes),
                     expected.ip_version);
    assert_memory_equal(got->src_bytes, address.bytes, bytes);
    assert_int_equal(leat_address_parse(expected.dst, (int64_t)strlen(expected.dst), address.bytes),
                     expected.ip_version);
    assert_memory_equal(got->dst_bytes, address.bytes, bytes);
    assert_int_equal(got->failed, expected.rtt < 0);
    if (!got->failed)
        assert_int_equal(got->rtt_us, leat_tokens_rtt_decode(leat_tokens_rtt_encode(expected.rtt)));
    assert_int_equal(got->time_token != 0, told->stamped);
}

/* What explain tells of a row is what the batch holds. */
static void expect_told(const leat_batch *batch, int64_t i, const leat_explanation *told) {
    leat_decoded decoded[64];
    int32_t count = 0;
    leat_error err = {0};
    const int32_t *inputs = batch->inputs + i * batch->length;
    const int32_t *segments = batch->inputs_segmentation + i * batch->length;
    assert_memory_equal(inputs, told->inputs, (size_t)batch->length * 4);
    assert_memory_equal(segments, told->segmentation, (size_t)batch->length * 4);
    must(leat_tokens_decode(inputs, segments, (int32_t)batch->length, decoded, 64, &count, &err),
         &err);
    assert_int_equal(count, told->measurement_count);
    for (int64_t s = 0; s < told->segment_count; s++) {
        const leat_explained_segment *segment = &told->segments[s];
        assert_int_equal(segment->record_index, segment->row % 16);
        assert_int_equal(segment->shard, segment->row / 16);
        assert_int_equal(segment->row_measurements, loader_count(segment->row));
        for (int64_t m = 0; m < segment->measurement_count; m++) {
            const leat_decoded *got = &decoded[segment->measurement_first + m];
            assert_int_equal(got->segment, s + 1);
            expect_measurement(got, segment, &told->measurements[segment->measurement_first + m]);
        }
    }
}

/* Two epochs, every row of every batch explained: each anchor comes once an epoch. */
static void anchors_once(void **state) {
    (void)state;
    leat_dataset *dataset = loader_open(plain);
    leat_loader_options options = loader_options();
    options.epochs = 2;
    options.split = LEAT_SPLIT_TEST;
    leat_loader *loader = loader_create(dataset, &options);
    int64_t anchors = leat_loader_epoch_sequences(loader), steps = leat_loader_step_count(loader);
    assert_int_equal(steps, (2 * anchors + 11) / 12);
    int *seen[2] = {calloc((size_t)anchors, sizeof(int)), calloc((size_t)anchors, sizeof(int))};
    int contexts[2][64] = {{0}};
    for (int64_t s = 0; s < steps; s++) {
        const leat_batch *batch = loader_next(loader);
        for (int64_t i = 0; i < 12; i++) {
            leat_explanation *told = NULL;
            leat_error err = {0};
            must(leat_loader_explain(loader, s, i, &told, &err), &err);
            assert_int_equal(told->sequence, s * 12 + i);
            assert_int_equal(told->past_end, s * 12 + i >= 2 * anchors);
            if (!told->past_end) {
                seen[told->epoch][told->anchor]++;
                contexts[told->epoch][told->segments[0].row]++;
                assert_int_equal(told->epoch, told->sequence / anchors);
            }
            expect_told(batch, i, told);
            leat_explanation_destroy(told);
        }
        leat_batch_release(batch);
    }
    assert_null(loader_next(loader));
    for (int64_t a = 0; a < anchors; a++) {
        assert_int_equal(seen[0][a], 1);
        assert_int_equal(seen[1][a], 1);
    }
    /* test rows are 48 to 63; the long one has 16 contexts, as has any other of that size */
    assert_int_equal(contexts[0][50], 16);
    for (int64_t row = 0; row < 64; row++) {
        assert_int_equal(contexts[0][row] > 0, row >= 48);
        assert_int_equal(contexts[0][row], contexts[1][row]);
    }
    leat_loader_counters counters;
    leat_loader_get_counters(loader, &counters);
    assert_int_equal(counters.sequences, 2 * anchors);
    assert_int_equal(counters.batches, steps);
    assert_int_equal(counters.tokens + counters.padding, 2 * anchors * 256);
    assert_int_equal(counters.padding, 0); /* filled, and the last measurement cut */
    assert_int_equal(counters.masked, 0);
    free(seen[0]);
    free(seen[1]);
    leat_loader_destroy(loader);
    leat_dataset_close(dataset);
}

/* The rows behind the last epoch are zeros. */
static void last_batch(void **state) {
    (void)state;
    leat_dataset *dataset = loader_open(plain);
    leat_loader_options options = loader_options();
    options.epochs = 1;
    leat_loader *loader = loader_create(dataset, &options);
    int64_t anchors = leat_loader_epoch_sequences(loader),
            last = leat_loader_step_count(loader) - 1;
    assert_true(anchors % 12 != 0);
    must(leat_loader_seek(loader, last, NULL), NULL);
    const leat_batch *batch = loader_next(loader);
    for (int64_t i = 0; i < 12; i++) {
        int32_t values[6 * 256], sum = 0;
        pack_row(batch, i, values);
        for (int k = 0; k < 6 * 256; k++) sum |= values[k];
        assert_int_equal(sum != 0, last * 12 + i < anchors);
    }
    leat_batch_release(batch);
    assert_null(loader_next(loader));
    assert_null(loader_next(loader));
    assert_true(leat_loader_wait(loader, 0));
    assert_int_equal(leat_loader_seek(loader, last + 2, NULL), LEAT_ERR_OPTION);
    must(leat_loader_seek(loader, last + 1, NULL), NULL);
    assert_null(loader_next(loader));
    leat_loader_destroy(loader);
    leat_dataset_close(dataset);
}

/* ---- what was handed out ------------------------------------------------------------------------
 */

enum { HELD = 9 };

static void *release_one(void *batch) {
    leat_batch_release(batch);
    return NULL;
}

static void held_batches(void **state) {
    (void)state;
    leat_dataset *dataset = loader_open(plain);
    leat_loader_options options = loader_options();
    options.prefetch = 2;
    run reference = run_make(dataset, &options, 0, 200);
    leat_loader *loader = loader_create(dataset, &options);
    const leat_batch *held[HELD];
    int64_t step = 0;
    for (int i = 0; i < HELD; i++) {
        held[i] = loader_next(loader);
        assert_int_equal((uintptr_t)held[i]->inputs % 4096, 0);
        assert_int_equal((uintptr_t)held[i]->targets_segmentation % 4096, 0);
        for (int k = 0; k < i; k++) leat_batch_release(loader_next(loader));
        step += 1 + i;
    }
    assert_int_equal(leat_loader_step(loader), step);
    for (int i = 0; i < 100; i++) leat_batch_release(loader_next(loader));
    must(leat_loader_seek(loader, 150, NULL), NULL);
    for (int i = 0; i < 20; i++) leat_batch_release(loader_next(loader));
    for (int i = 0; i < HELD; i++) run_expect(&reference, held[i]);
    leat_batch_retain(held[0]);
    leat_batch_release(held[0]);
    leat_loader_destroy(loader);
    leat_dataset_close(dataset);
    for (int i = 0; i < HELD; i++) run_expect(&reference, held[i]);
    pthread_t threads[HELD];
    for (int i = 0; i < HELD; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, release_one, (void *)(uintptr_t)held[i]),
                         0);
    }
    for (int i = 0; i < HELD; i++) pthread_join(threads[i], NULL);
    leat_batch_release(NULL);
    run_free(&reference);
}

/* Batches given back by other threads while the loader runs, and is destroyed. */
static void *hand_back(void *context) {
    _Atomic(const leat_batch *) *box = context;
    for (;;) {
        const leat_batch *batch = atomic_exchange(box, NULL);
        if (batch == (const leat_batch *)(uintptr_t)1) return NULL;
        leat_batch_release(batch);
    }
}

static void released_elsewhere(void **state) {
    (void)state;
    leat_dataset *dataset = loader_open(plain);
    leat_loader_options options = loader_options();
    run reference = run_make(dataset, &options, 0, 400);
    for (int round = 0; round < 4; round++) {
        _Atomic(const leat_batch *) box = NULL;
        pthread_t thread;
        leat_loader *loader = loader_create(dataset, &options);
        assert_int_equal(pthread_create(&thread, NULL, hand_back, &box), 0);
        for (int i = 0; i < 100; i++) {
            const leat_batch *batch = loader_next(loader);
            run_expect(&reference, batch);
            leat_batch_release(atomic_exchange(&box, batch));
        }
        leat_loader_destroy(loader);
        const leat_batch *rest = atomic_exchange(&box, (const leat_batch *)(uintptr_t)1);
        leat_batch_release(rest);
        pthread_join(thread, NULL);
    }
    run_free(&reference);
    leat_dataset_close(dataset);
}

/* ---- windows ------------------------------------------------------------------------------------
 */

/* All measurements of a segment lie in the window that is told, at its stride. A strided window
 * ends at the last measurement that was drawn. Returns whether it is strided. */
static bool expect_in_window(const leat_explanation *told, const leat_explained_segment *segment) {
    int64_t first = segment->window_first, stride = segment->window_stride, last = 0;
    int64_t end = first + segment->window_count;
    assert_true(first >= 0 && segment->window_count >= 1 && stride >= 1);
    assert_true(end <= segment->row_measurements);
    for (int64_t m = 0; m < segment->measurement_count; m++) {
        int64_t index = told->measurements[segment->measurement_first + m].index;
        assert_in_range(index, first, end - 1);
        assert_int_equal((index - first) % stride, 0);
        last = index > last ? index : last;
    }
    bool strided = stride > 1;
    if (strided) assert_true(segment->drawn > segment->measurement_count || last == end - 1);
    return strided;
}

static void in_their_windows(void **state) {
    (void)state;
    leat_dataset *dataset = loader_open(plain);
    for (int way = 0; way < 8; way++) {
        leat_loader_options options = loader_options();
        leat_error err = {0};
        int64_t strided = 0, segments = 0;
        options.sample.sampler = way % 2 ? LEAT_SAMPLER_PLAN2 : LEAT_SAMPLER_PLAN3;
        options.sample.packing = way / 2 % 2 ? LEAT_PACKING_NONE : LEAT_PACKING_FILL;
        options.window_bytes = way / 4 ? 1 << 20 : 0;
        leat_loader *loader = loader_create(dataset, &options);
        int64_t count = 2 * leat_loader_epoch_sequences(loader);
        for (int64_t s = 0; s < count; s++) {
            leat_explanation *told = NULL;
            must(leat_loader_explain(loader, s / options.batch, s % options.batch, &told, &err),
                 &err);
            for (int64_t i = 0; i < told->segment_count; i++)
                strided += expect_in_window(told, &told->segments[i]);
            segments += told->segment_count;
            leat_explanation_destroy(told);
        }
        assert_true(segments >= count);
        assert_true(way % 2 ? strided > count / 10 : strided == 0);
        leat_loader_destroy(loader);
    }
    leat_dataset_close(dataset);
}

/* ---- by client ----------------------------------------------------------------------------------
 */

static void clients(void **state) {
    (void)state;
    leat_dataset *dataset = loader_open(plain);
    leat_loader_options options = loader_options();
    options.by_client = true;
    leat_loader *loader = loader_create(dataset, &options);
    assert_int_equal(leat_loader_epoch_sequences(loader), -1);
    assert_int_equal(leat_loader_step_count(loader), -1);
    for (int64_t s = 0; s < 20; s++) {
        int64_t ids[12];
        for (int64_t i = 0; i < 12; i++) {
            leat_explanation *told = NULL;
            leat_error err = {0};
            must(leat_loader_explain(loader, s, i, &told, &err), &err);
            ids[i] = told->segments[0].src_id;
            for (int64_t k = 0; k < told->segment_count; k++)
                assert_int_equal(told->segments[k].src_id, ids[i]);
            for (int64_t k = 0; k < i; k++) assert_int_not_equal(ids[k], ids[i]);
            leat_explanation_destroy(told);
        }
    }
    leat_loader_destroy(loader);
    run reference = run_make(dataset, &options, 0, 4);
    options.threads = 5;
    options.host_count = 3;
    options.host_index = 2;
    loader = loader_create(dataset, &options);
    for (int s = 0; s < 4; s++) {
        const leat_batch *batch = loader_next(loader);
        run_expect(&reference, batch);
        leat_batch_release(batch);
    }
    leat_loader_destroy(loader);
    run_free(&reference);
    leat_error err = {0};
    options.host_index = 0;
    options.host_count = 1;
    options.batch = 49;
    assert_int_equal(leat_loader_create(&loader, dataset, &options, &err), LEAT_ERR_OPTION);
    assert_non_null(strstr(err.message, "49 are requested, but only 48"));
    leat_dataset_close(dataset);
}

/* A round's steps hold the probes of the round alone; rounds are functions of the seed. */
static void rounds(void **state) {
    (void)state;
    leat_dataset *dataset = loader_open(plain);
    leat_loader_options options = loader_options();
    options.by_client = true;
    options.client_weights = "measurements";
    options.batch = 3;
    options.clients_per_round = 5;
    options.steps_per_round = 10;
    leat_loader *loader = loader_create(dataset, &options);
    int different = 0;
    int64_t before[5] = {0};
    for (int64_t round = 0; round < 4; round++) {
        int64_t ids[5], count = 0;
        for (int64_t k = 0; k < 30; k++) {
            leat_explanation *told = NULL;
            leat_error err = {0};
            must(leat_loader_explain(loader, round * 10 + k / 3, k % 3, &told, &err), &err);
            int64_t i = 0;
            while (i < count && ids[i] != told->segments[0].src_id) i++;
            assert_true(i < 5);
            ids[i] = told->segments[0].src_id;
            if (i == count) count++;
            leat_explanation_destroy(told);
        }
        assert_int_equal(count, 5); /* ten steps of three: all of them come */
        if (memcmp(before, ids, sizeof ids) != 0) different++;
        memcpy(before, ids, sizeof ids);
    }
    assert_int_equal(different, 4);
    leat_loader_destroy(loader);
    leat_dataset_close(dataset);
}

static int setup(void **state) {
    (void)state;
    make_options data = loader_data_options(LEAT_COMPRESSION_NONE);
    loader_make("plain", &data, plain);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(others),
        cmocka_unit_test(options_matter),
        cmocka_unit_test(explicit_rows),
        cmocka_unit_test(anchors_once),
        cmocka_unit_test(last_batch),
        cmocka_unit_test(held_batches),
        cmocka_unit_test(released_elsewhere),
        cmocka_unit_test(in_their_windows),
        cmocka_unit_test(clients),
        cmocka_unit_test(rounds),
    };
    return cmocka_run_group_tests(tests, setup, loader_teardown);
}
