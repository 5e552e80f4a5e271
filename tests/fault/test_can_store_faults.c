/*
 * The frame store with every allocation, every call into the file system and every start of a
 * thread failing in turn, once and for good: the right code, no file left in its folder, no memory
 * (under a sanitizer), and the same frames as soon as nothing fails.
 */
#include "ingest/can_frames.h"
#include "ingest/core_support.h"

#include "ingest/can/store/tables.h"
#include "points.h"

#define POINTS_MAX 20000

static can_frames frames;
static can_frame *want; /* of all captures merged */
static int64_t least_bytes;

/* ---- what is swept --------------------------------------------------------------------------- */

static leat_code order_and_read(leat_can_store *store, int threads, leat_error *err) {
    int32_t stream_count = 0, *streams = can_streams_of(store, CAN_MERGED, &stream_count);
    uint32_t *numbers = can_id_numbers(store);
    leat_code code = leat_can_store_order(store, streams, stream_count, numbers, threads, err);
    for (int64_t at = 0; at < frames.count && code == LEAT_OK; at += 1000) {
        int64_t piece = frames.count - at < 1000 ? frames.count - at : 1000;
        bool same = false;
        code = can_frames_compare(store, 0, want, at, piece, &same, err);
        if (code == LEAT_OK) assert_true(same);
    }
    free(streams);
    free(numbers);
    return code;
}

static leat_can_store_options options_of(int64_t memory_bytes) {
    return (leat_can_store_options){.temp_dir = core_dir(),
                                    .workers = 2,
                                    .memory_bytes = memory_bytes,
                                    .file_count = frames.files};
}

/* From the scan to the frames, the state saved between. */
static leat_code whole(int threads, leat_can_store **store, leat_error *err) {
    leat_can_store_options options = options_of(INT64_C(8) << 20);
    LEAT_TRY(leat_can_store_create(store, &options, err));
    LEAT_TRY(can_frames_store(&frames, *store, threads, err));
    LEAT_TRY(leat_can_store_save(*store, core_path("state"), err));
    return order_and_read(*store, threads, err);
}

static leat_code one_thread(leat_can_store **store, leat_error *err) {
    return whole(1, store, err);
}
static leat_code two_threads(leat_can_store **store, leat_error *err) {
    return whole(2, store, err);
}
/* Each fall of the clock begins a recording; merged again, they give the same frames. */
static leat_code recordings(leat_can_store **store, leat_error *err) {
    leat_can_store_options options = options_of(INT64_C(8) << 20);
    options.split_falls = true;
    LEAT_TRY(leat_can_store_create(store, &options, err));
    LEAT_TRY(can_frames_store(&frames, *store, 1, err));
    return leat_can_store_save(*store, core_path("state"), err);
}

/* On from a saved state, with so little memory that runs are merged in several passes. */
static leat_code goes_on(leat_can_store **store, leat_error *err) {
    leat_can_store_options options = options_of(least_bytes);
    LEAT_TRY(leat_can_store_load(store, &options, core_path("state"), err));
    leat_can_store_keep(*store);
    return order_and_read(*store, 1, err);
}

/* ---- the sweep ------------------------------------------------------------------------------- */

static int64_t files_left(void) {
    leat_path_list left = {0};
    assert_ok(leat_path_list_dir(core_dir(), &left, err));
    int64_t count = left.count;
    leat_path_list_free(&left);
    return count;
}

/* What fails for good fails in several threads, of which the first is heard. */
static bool right_code(leat_code code, bool stays) {
    if (stays) {
        return code == LEAT_ERR_MEMORY || code == LEAT_ERR_NO_SPACE || code == LEAT_ERR_IO;
    }
    switch (atomic_load(&fault_kind)) {
    case LEAT_FAULT_ALLOC: return code == LEAT_ERR_MEMORY;
    case LEAT_FAULT_WRITE: return code == LEAT_ERR_NO_SPACE;
    default: return code == LEAT_ERR_IO;
    }
}

/* What failed while it was put in order has left nothing, and may be tried again. `used`: memory of
 * a store that is not in order; -1: not the same each time. */
static void try_again(leat_can_store *store, bool stays, int64_t used) {
    leat_path_list left = {0};
    if (store == NULL || !store->finished) return;
    assert_ok(leat_path_list_dir(core_dir(), &left, err));
    for (int64_t i = 0; i < left.count && !stays; i++) {
        assert_null(strstr(left.paths[i], "order"));
        assert_null(strstr(left.paths[i], "merge"));
    }
    leat_path_list_free(&left);
    assert_ok(order_and_read(store, 1, err));
    leat_can_store_clear_order(store);
    if (used >= 0) assert_int_equal(atomic_load(&store->memory_used), used);
}

static int64_t memory_at_rest(leat_code (*work)(leat_can_store **, leat_error *)) {
    leat_can_store *store = NULL;
    assert_ok(work(&store, err));
    leat_can_store_clear_order(store);
    int64_t used = atomic_load(&store->memory_used);
    leat_can_store_destroy(store);
    return used;
}

static void sweep(const char *name, leat_code (*work)(leat_can_store **, leat_error *),
                  int64_t files, int64_t used) {
    for (int stays = 0; stays < 2; stays++) {
        long at = 0;
        for (; at < POINTS_MAX; at++) {
            leat_can_store *store = NULL;
            leat_error why = {0};
            set_fault(at, stays == 1);
            leat_code code = work(&store, &why);
            bool reached = clear_fault();
            if (code != LEAT_OK) try_again(store, stays == 1, used);
            leat_can_store_destroy(store);
            if (code == LEAT_OK && !reached) break;
            if (code == LEAT_OK || !right_code(code, stays == 1) || code != why.code) {
                fail_msg("%s, point %ld of kind %d: code %d: %s", name, at,
                         atomic_load(&fault_kind), code, why.message);
            }
            /* the state is not the store's to remove; where removing fails for good, files stay */
            if (files < 0) leat_path_discard(core_path("state"));
            if (stays == 0 && files_left() != (files < 0 ? 0 : files)) {
                fail_msg("%s, point %ld of kind %d: files left after: %s", name, at,
                         atomic_load(&fault_kind), why.message);
            }
            if (files < 0) assert_ok(leat_path_remove_tree(core_dir(), err));
            if (files < 0) assert_ok(leat_path_make_dir(core_dir(), err));
        }
        assert_in_range(at, 50, POINTS_MAX - 1);
    }
}

static void faults(void **state) {
    (void)state;
    sweep("one thread", one_thread, -1, memory_at_rest(one_thread));
    sweep("two threads", two_threads, -1, -1);
    sweep("recordings", recordings, -1, memory_at_rest(recordings));
    leat_can_store *store = NULL;
    leat_error why = {0};
    assert_ok(whole(1, &store, err));
    leat_can_store_keep(store);
    leat_can_store_destroy(store);
    store = NULL;
    least_bytes = 1024;
    while (goes_on(&store, &why) == LEAT_ERR_LIMIT) {
        least_bytes = can_least_kib(&why) << 10;
        leat_can_store_destroy(store);
        store = NULL;
    }
    assert_non_null(store);
    leat_can_store_destroy(store);
    sweep("goes on", goes_on, files_left(), memory_at_rest(goes_on));
}

static int make(void **state) {
    (void)state;
    can_shape shape = {
        .order = CAN_SHUFFLED, .files = 2, .buses = 1, .ids = 9, .lines = 600, .block_lines = 60};
    frames = can_frames_make(&shape);
    leat_can_store *store = NULL;
    int32_t none[2] = {0};
    int64_t count = 0;
    leat_can_store_options options = options_of(INT64_C(8) << 20);
    assert_ok(leat_can_store_create(&store, &options, err));
    assert_ok(can_frames_store(&frames, store, 1, err));
    want = can_stream_frames(&frames, store, none, 0, &count);
    assert_int_equal(count, frames.count);
    leat_can_store_destroy(store);
    return 0;
}

int main(void) {
    core_in_memory(INT64_C(64) << 20);
    const struct CMUnitTest tests[] = {cmocka_unit_test(faults)};
    int failed = cmocka_run_group_tests_name("can store faults", tests, make, NULL);
    free(want);
    can_frames_free(&frames);
    core_dir_remove();
    return failed;
}
