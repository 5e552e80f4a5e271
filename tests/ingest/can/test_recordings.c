/*
 * Recordings of a file: where its clock falls back by more than a second, wherever blocks of lines
 * begin and whichever worker takes them, against a walk over all frames in the order of the file.
 */
#include "can_frames.h"
#include "core_support.h"

#include <stdlib.h>

#include "ingest/can/store/tables.h"

#define MIB (INT64_C(1) << 20)

static leat_can_store_options options_of(int workers, int files, bool split) {
    return (leat_can_store_options){.temp_dir = core_dir(),
                                    .workers = workers,
                                    .memory_bytes = 64 * MIB,
                                    .file_count = files,
                                    .split_falls = split};
}

/* What a walk finds: the recording of each frame, and the recordings. */
typedef struct walk {
    int32_t *of;
    leat_can_recording *items;
    int64_t count;
} walk;

static walk walk_frames(const can_frames *frames, bool split) {
    walk found = {.of = calloc((size_t)frames->count + 1, sizeof *found.of),
                  .items = calloc((size_t)frames->count + 1, sizeof *found.items)};
    int64_t in_file = 0;
    for (int64_t i = 0; i < frames->count; i++) {
        const can_frame *frame = &frames->frames[i], *before = frame - 1;
        bool first = i == 0 || before->file != frame->file;
        double fall = first ? 0 : before->line.time - frame->line.time;
        if (first) in_file = 0;
        if (first || (split && fall > 1)) {
            found.items[found.count] =
                (leat_can_recording){.fall_s = fall,
                                     .first_frame = in_file,
                                     .file_index = frame->file,
                                     .number = first ? 0 : found.items[found.count - 1].number + 1};
            found.count++;
        } else {
            found.items[found.count - 1].steps_back += fall > 0;
        }
        found.of[i] = (int32_t)(found.count - 1);
        in_file++;
    }
    return found;
}

static void check_recordings(const walk *want, const leat_can_store *store) {
    const leat_can_recording *found = NULL;
    assert_int_equal(leat_can_store_recordings(store, &found), want->count);
    for (int64_t i = 0; i < want->count; i++) {
        assert_true(found[i].fall_s == want->items[i].fall_s);
        assert_int_equal(found[i].first_frame, want->items[i].first_frame);
        assert_int_equal(found[i].steps_back, want->items[i].steps_back);
        assert_int_equal(found[i].file_index, want->items[i].file_index);
        assert_int_equal(found[i].number, want->items[i].number);
    }
}

static int compare_frames(const void *a, const void *b) {
    const can_frame *one = a, *other = b;
    if (one->line.time != other->line.time) return one->line.time < other->line.time ? -1 : 1;
    if (one->file != other->file) return one->file < other->file ? -1 : 1;
    if (one->block != other->block) return one->block < other->block ? -1 : 1;
    return (one->index > other->index) - (one->index < other->index);
}

static void check_stream(const leat_can_store *store, int32_t stream, const can_frame *frames,
                         int64_t count) {
    for (int64_t at = 0; at < count; at += 4096) {
        bool same = false;
        int64_t piece = count - at < 4096 ? count - at : 4096;
        assert_ok(can_frames_compare(store, stream, frames + at, at, piece, &same, err));
        assert_true(same);
    }
}

/* Every capture has the frames of its bus in its recording, and their counts. */
static void check_captures(const can_frames *frames, const walk *want,
                           const leat_can_store *store) {
    const leat_can_capture *captures = NULL;
    int64_t count = leat_can_store_captures(store, &captures), total = 0;
    can_frame *some = calloc((size_t)frames->count + 1, sizeof *some);
    for (int64_t c = 0; c < count; c++) {
        const leat_can_capture *capture = &captures[c];
        int64_t taken = 0, steps_back = 0;
        for (int64_t i = 0; i < frames->count; i++) {
            const can_frame *frame = &frames->frames[i];
            if (want->of[i] != capture->recording || frame->line.bus != capture->bus) continue;
            steps_back += taken > 0 && frame->line.time < some[taken - 1].line.time;
            some[taken++] = *frame;
        }
        assert_int_equal(capture->file_index, want->items[capture->recording].file_index);
        assert_int_equal(capture->frames, taken);
        assert_int_equal(capture->steps_back, steps_back);
        qsort(some, (size_t)taken, sizeof *some, compare_frames);
        assert_true(capture->first_s == some[0].line.time);
        assert_true(capture->last_s == some[taken - 1].line.time);
        check_stream(store, (int32_t)c, some, taken);
        total += taken;
        if (c == 0) continue;
        assert_true(
            capture[-1].recording < capture->recording ||
            (capture[-1].recording == capture->recording && capture[-1].bus < capture->bus));
    }
    assert_int_equal(total, frames->count);
    free(some);
}

static void order(leat_can_store *store, can_streams way) {
    int32_t stream_count = 0, *streams = can_streams_of(store, way, &stream_count);
    uint32_t *numbers = can_id_numbers(store);
    assert_ok(leat_can_store_order(store, streams, stream_count, numbers, 3, err));
    free(numbers);
    free(streams);
}

static void check(const can_frames *frames, int workers, bool split) {
    leat_can_store *store = NULL;
    walk want = walk_frames(frames, split);
    leat_can_store_options options = options_of(workers, frames->files, split);
    assert_ok(leat_can_store_create(&store, &options, err));
    assert_ok(can_frames_store(frames, store, workers, err));
    check_recordings(&want, store);
    order(store, CAN_SEPARATE);
    check_captures(frames, &want, store);
    order(store, CAN_MERGED); /* several segments of one block of lines in a stream */
    can_frame *all = calloc((size_t)frames->count + 1, sizeof *all);
    memcpy(all, frames->frames, (size_t)frames->count * sizeof *all);
    qsort(all, (size_t)frames->count, sizeof *all, compare_frames);
    check_stream(store, 0, all, frames->count);
    free(all);
    /* a resumed run finds the same */
    assert_ok(leat_can_store_save(store, core_path("can_state"), err));
    leat_can_store_keep(store);
    leat_can_store_destroy(store);
    assert_ok(leat_can_store_load(&store, &options, core_path("can_state"), err));
    check_recordings(&want, store);
    order(store, CAN_SEPARATE);
    check_captures(frames, &want, store);
    leat_can_store_destroy(store);
    free(want.of);
    free(want.items);
}

static void against_walk(void **state) {
    (void)state;
    static const can_shape shapes[] = {
        {.files = 1, .buses = 1, .ids = 1, .lines = 1, .block_lines = 1},
        {.files = 1, .buses = 1, .ids = 40, .lines = 1500, .block_lines = 1},
        {.files = 3, .buses = 2, .ids = 40, .lines = 600, .block_lines = 90},
        {.files = 2, .buses = 3, .ids = 60, .lines = 800, .block_lines = 700},
    };
    for (size_t c = 0; c < sizeof shapes / sizeof *shapes; c++) {
        for (int order = 0; order < CAN_ORDERS; order++) {
            can_shape shape = shapes[c];
            shape.order = order;
            shape.seed = c;
            can_frames frames = can_frames_make(&shape);
            for (int workers = 1; workers <= 8; workers += 7) {
                check(&frames, workers, true);
                check(&frames, workers, false);
            }
            can_frames_free(&frames);
        }
    }
}

/* A fall of exactly a second, in decimal times that are no exact doubles, is sorted. */
static void a_second(void **state) {
    (void)state;
    static const struct fall_case {
        double from_s, to_s;
        bool fall;
    } cases[] = {
        {8.3, 7.3, false},
        {1479121434.850208, 1479121433.850208, false},
        {1479121434.850208, 1479121433.850207, true},
        {10.0, 8.999999, true},
        {10.0, 9.5, false},
        {10.0, 12.0, false},
        {1e12, 0, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(leat_can_is_fall(true, cases[i].from_s, cases[i].to_s), cases[i].fall);
        assert_false(leat_can_is_fall(false, cases[i].from_s, cases[i].to_s));
    }
}

/* The memory that is named is enough, however many recordings there are. */
static void memory(void **state) {
    (void)state;
    const can_shape shape = {.files = 2,
                             .buses = 2,
                             .ids = 40,
                             .lines = 40000,
                             .block_lines = 4000,
                             .order = CAN_SHUFFLED};
    can_frames frames = can_frames_make(&shape);
    leat_can_store_options options = options_of(2, frames.files, true);
    int runs = 0;
    leat_code code = LEAT_ERR_LIMIT;
    for (options.memory_bytes = MIB; code == LEAT_ERR_LIMIT; runs++) {
        leat_can_store *store = NULL;
        leat_error told = {0};
        assert_true(runs < 3);
        code = leat_can_store_create(&store, &options, &told);
        if (code == LEAT_OK) code = can_frames_store(&frames, store, 2, &told);
        if (code == LEAT_OK) {
            int32_t stream_count = 0, *streams = can_streams_of(store, CAN_SEPARATE, &stream_count);
            uint32_t *numbers = can_id_numbers(store);
            code = leat_can_store_order(store, streams, stream_count, numbers, 2, &told);
            free(numbers);
            free(streams);
        }
        leat_can_store_destroy(store);
        if (code == LEAT_ERR_LIMIT) options.memory_bytes = can_least_kib(&told) << 10;
    }
    assert_int_equal(code, LEAT_OK);
    assert_true(runs >= 2);
    can_frames_free(&frames);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_walk),
        cmocka_unit_test(a_second),
        cmocka_unit_test(memory),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    core_dir_remove();
    return failed;
}
