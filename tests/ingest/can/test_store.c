/*
 * The frame store against a plain sort of all frames in memory: every order of times, buses, merged
 * streams, threads and memory sizes give the same frames in the same order. Then its limits, what
 * it leaves behind, and a state that is saved, loaded and damaged.
 */
/* TSan: frames added and sorted by several threads. */
#include "can_frames.h"
#include "core_support.h"

#include "ingest/can/store/tables.h"
#include "threads.h"

#define MIB (INT64_C(1) << 20)

static leat_can_store_options options_of(int workers, int64_t memory_bytes, int files) {
    return (leat_can_store_options){.temp_dir = core_dir(),
                                    .workers = workers,
                                    .memory_bytes = memory_bytes,
                                    .file_count = files};
}

static leat_can_store *stored(const can_frames *frames, int workers, int64_t memory_bytes) {
    leat_can_store *store = NULL;
    leat_can_store_options options = options_of(workers, memory_bytes, frames->files);
    assert_ok(leat_can_store_create(&store, &options, err));
    assert_ok(can_frames_store(frames, store, workers, err));
    return store;
}

static void nothing_left(void) {
    leat_path_list left = {0};
    assert_ok(leat_path_list_dir(core_dir(), &left, err));
    for (int64_t i = 0; i < left.count; i++) assert_null(strstr(left.paths[i], "can_"));
    leat_path_list_free(&left);
}

/* ---- order ----------------------------------------------------------------------------------- */

/* Front to back in pieces, then windows here and there. */
static void check_stream(const leat_can_store *store, int32_t stream, const can_frame *frames,
                         int64_t count) {
    core_rng rng = {.seed = (uint64_t)count};
    bool same = false;
    assert_int_equal(leat_can_store_frames(store, stream), count);
    for (int64_t at = 0, piece = 0; at < count; at += piece) {
        piece = 1 + core_below(&rng, 3000);
        if (piece > count - at) piece = count - at;
        assert_ok(can_frames_compare(store, stream, frames, at, piece, &same, err));
        if (!same) fail_msg("stream %d: frames %lld..", (int)stream, (long long)at);
    }
    for (int i = 0; i < 50 && count > 0; i++) {
        int64_t first = core_below(&rng, count), most = count - first < 150 ? count - first : 150;
        int64_t piece = core_below(&rng, most + 1);
        assert_ok(can_frames_compare(store, stream, frames, first, piece, &same, err));
        assert_true(same);
    }
}

static leat_code put_in_order(leat_can_store *store, can_streams way, int threads,
                              leat_error *err) {
    int32_t stream_count = 0, *streams = can_streams_of(store, way, &stream_count);
    uint32_t *numbers = can_id_numbers(store);
    leat_code code = leat_can_store_order(store, streams, stream_count, numbers, threads, err);
    free(streams);
    free(numbers);
    return code;
}

static void check_order(const can_frames *frames, leat_can_store *store, can_streams way,
                        int threads) {
    int32_t stream_count = 0, *streams = can_streams_of(store, way, &stream_count);
    assert_ok(put_in_order(store, way, threads, err));
    for (int32_t s = 0; s < stream_count; s++) {
        int64_t count = 0;
        can_frame *want = can_stream_frames(frames, store, streams, s, &count);
        check_stream(store, s, want, count);
        free(want);
    }
    free(streams);
}

static void against_sort(void **state) {
    (void)state;
    static const can_shape shapes[] = {
        {.files = 1, .buses = 1, .ids = 1, .lines = 0, .block_lines = 10},
        {.files = 1, .buses = 1, .ids = 1, .lines = 1, .block_lines = 1},
        {.files = 1, .buses = 1, .ids = 40, .lines = 9000, .block_lines = 700},
        {.files = 3, .buses = 1, .ids = 40, .lines = 6000, .block_lines = 100},
        {.files = 2, .buses = 3, .ids = 600, .lines = 6000, .block_lines = 500},
        {.files = 4, .buses = 2, .ids = 40, .lines = 3000, .block_lines = 300, .apart = true},
    };
    static const struct {
        int workers, threads;
        int64_t memory_bytes;
    } ways[] = {{1, 1, MIB}, {2, 2, MIB}, {3, 8, 8 * MIB}, {8, 3, 64 * MIB}};
    for (size_t c = 0; c < sizeof shapes / sizeof *shapes; c++) {
        for (int order = 0; order < CAN_ORDERS; order++) {
            can_shape shape = shapes[c];
            shape.order = order;
            shape.seed = c;
            can_frames frames = can_frames_make(&shape);
            for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
                leat_can_store *store = stored(&frames, ways[w].workers, ways[w].memory_bytes);
                for (int way = 0; way < CAN_STREAMS; way++) {
                    check_order(&frames, store, way, ways[w].threads);
                }
                leat_can_store_destroy(store);
            }
            can_frames_free(&frames);
        }
    }
    nothing_left();
}

/* Sizes of all its temporary files: those of spills, and of merged rows. */
static int64_t file_bytes(const leat_can_store *store) {
    int64_t all = 0, size = 0;
    for (int i = 0; i < store->spill_count; i++, all += size)
        assert_ok(leat_file_size(store->spills[i].file, &size, err));
    for (int i = 0; i < store->ordered_count; i++, all += size)
        assert_ok(leat_file_size(store->ordered[i].file, &size, err));
    return all;
}

/* What need not be copied is not. */
static void copies(void **state) {
    (void)state;
    static const struct {
        can_shape shape;
        can_streams way;
        int64_t block_lines;
        int64_t least, most; /* frames copied */
    } cases[] = {
        {{.order = CAN_ASCENDING, .files = 3, .buses = 2}, CAN_SEPARATE, 2000, 0, 0},
        {{.order = CAN_DESCENDING, .files = 1, .buses = 1}, CAN_SEPARATE, 2000, 0, 0},
        {{.order = CAN_EQUAL, .files = 2, .buses = 1}, CAN_MERGED, 2000, 0, 0},
        {{.order = CAN_ASCENDING, .files = 3, .buses = 1, .apart = true}, CAN_MERGED, 2000, 0, 0},
        {{.order = CAN_STEPPING, .files = 1, .buses = 1}, CAN_SEPARATE, 2000, 1, 400},
        /* what lies between two mixed pieces is too little to be named */
        {{.order = CAN_STEPPING, .files = 1, .buses = 1}, CAN_SEPARATE, 100, 2000, 20000},
        {{.order = CAN_LAPPING, .files = 1, .buses = 1}, CAN_SEPARATE, 2000, 5000, 20000},
        {{.order = CAN_ASCENDING, .files = 2, .buses = 1}, CAN_MERGED, 2000, 20000, 40000},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        can_shape shape = cases[c].shape;
        shape.ids = 30;
        shape.lines = 20000;
        shape.block_lines = cases[c].block_lines;
        can_frames frames = can_frames_make(&shape);
        leat_can_store *store = stored(&frames, 2, 8 * MIB);
        check_order(&frames, store, cases[c].way, 2);
        int64_t copied = leat_can_store_spilled(store) / LEAT_CAN_ROW_BYTES - frames.count;
        assert_in_range(copied, cases[c].least, cases[c].most);
        assert_int_equal(leat_can_store_spilled(store), file_bytes(store));
        leat_can_store_destroy(store);
        can_frames_free(&frames);
    }
}

/* Blocks in order are not even read. */
static void not_read(void **state) {
    (void)state;
    can_shape shape = {.order = CAN_DESCENDING,
                       .files = 3,
                       .buses = 2,
                       .ids = 9,
                       .lines = 900,
                       .block_lines = 100};
    can_frames frames = can_frames_make(&shape);
    leat_can_store *store = stored(&frames, 1, 8 * MIB);
    core_save(core_path("can_spill_000"), "", 0);
    assert_ok(put_in_order(store, CAN_SEPARATE, 2, err));
    assert_int_equal(leat_can_store_spilled(store), frames.count * LEAT_CAN_ROW_BYTES);
    leat_can_store_destroy(store);
    can_frames_free(&frames);
}

/* Any columns, or none. */
static void columns(void **state) {
    (void)state;
    can_shape shape = {
        .order = CAN_STEPPING, .files = 2, .buses = 1, .ids = 9, .lines = 3000, .block_lines = 400};
    can_frames frames = can_frames_make(&shape);
    leat_can_store *store = stored(&frames, 2, 8 * MIB);
    check_order(&frames, store, CAN_MERGED, 2);
    double time[2][700];
    uint32_t id[2][700];
    int16_t bytes[2][700][LEAT_CAN_BYTES];
    bool attack[2][700];
    uint8_t type[2][700];
    int32_t file[2][700];
    leat_can_frames_out all = {time[0], id[0], bytes[0], attack[0], type[0], file[0]};
    assert_ok(leat_can_store_read(store, 0, 100, 700, &all, err));
    for (int columns = 0; columns < 64; columns++) {
        memset(time[1], 1, sizeof time[1]);
        leat_can_frames_out some = {.time = (columns & 1) != 0 ? time[1] : NULL,
                                    .id = (columns & 2) != 0 ? id[1] : NULL,
                                    .bytes = (columns & 4) != 0 ? bytes[1] : NULL,
                                    .attack = (columns & 8) != 0 ? attack[1] : NULL,
                                    .type = (columns & 32) != 0 ? type[1] : NULL,
                                    .file = (columns & 16) != 0 ? file[1] : NULL};
        assert_ok(leat_can_store_read(store, 0, 100, 700, &some, err));
        if (some.time != NULL) assert_memory_equal(time[0], time[1], sizeof time[0]);
        if (some.id != NULL) assert_memory_equal(id[0], id[1], sizeof id[0]);
        if (some.bytes != NULL) assert_memory_equal(bytes[0], bytes[1], sizeof bytes[0]);
        if (some.attack != NULL) assert_memory_equal(attack[0], attack[1], sizeof attack[0]);
        if (some.type != NULL) assert_memory_equal(type[0], type[1], sizeof type[0]);
        if (some.file != NULL) assert_memory_equal(file[0], file[1], sizeof file[0]);
    }
    leat_can_store_destroy(store);
    can_frames_free(&frames);
}

/* ---- captures and identifiers ---------------------------------------------------------------- */

static void check_captures(const can_frames *frames, const leat_can_store *store) {
    const leat_can_capture *captures = NULL;
    int64_t count = leat_can_store_captures(store, &captures), total = 0;
    for (int64_t c = 0; c < count; c++) {
        leat_can_capture want = {.file_index = captures[c].file_index, .bus = captures[c].bus};
        double before = 0;
        for (int64_t i = 0; i < frames->count; i++) {
            const can_frame *frame = &frames->frames[i];
            double time = frame->line.time;
            if (frame->file != want.file_index || frame->line.bus != want.bus) continue;
            if (want.frames == 0 || time < want.first_s) want.first_s = time;
            if (want.frames == 0 || time > want.last_s) want.last_s = time;
            want.steps_back += want.frames > 0 && time < before;
            want.attack_frames += frame->line.attack;
            want.frames++;
            before = time;
        }
        assert_true(want.frames > 0);
        assert_int_equal(captures[c].frames, want.frames);
        assert_int_equal(captures[c].attack_frames, want.attack_frames);
        assert_int_equal(captures[c].steps_back, want.steps_back);
        assert_true(captures[c].first_s == want.first_s && captures[c].last_s == want.last_s);
        if (c > 0) {
            const leat_can_capture *last = &captures[c - 1];
            assert_true(last->file_index < want.file_index ||
                        (last->file_index == want.file_index && last->bus < want.bus));
        }
        total += want.frames;
    }
    assert_int_equal(total, frames->count);
}

static void check_ids(const can_frames *frames, const leat_can_store *store) {
    const leat_can_id *ids = NULL;
    int64_t count = leat_can_store_ids(store, &ids), total = 0, met = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t seen = 0;
        bool *in_file = calloc((size_t)frames->files, 1);
        for (int64_t k = 0; k < frames->count; k++) {
            const leat_can_line *line = &frames->frames[k].line;
            if (line->bus != ids[i].bus || memcmp(line->id, ids[i].text, sizeof line->id) != 0) {
                continue;
            }
            seen++;
            in_file[frames->frames[k].file] = true;
        }
        assert_true(seen > 0);
        assert_int_equal(ids[i].frames, seen);
        for (int f = 0; f < frames->files; f++) {
            assert_int_equal(leat_can_store_met(store, i, f), in_file[f]);
            met += in_file[f];
        }
        free(in_file);
        if (i > 0) {
            int order = memcmp(ids[i - 1].text, ids[i].text, sizeof ids[i].text);
            assert_true(ids[i - 1].bus < ids[i].bus || (ids[i - 1].bus == ids[i].bus && order < 0));
        }
        total += seen;
    }
    assert_int_equal(total, frames->count);
    assert_in_range(met, count, count * frames->files);
}

static void tables(void **state) {
    (void)state;
    static const can_shape shapes[] = {
        {.files = 1, .buses = 1, .ids = 1, .lines = 300, .block_lines = 10},
        {.files = 9, .buses = 2, .ids = 30, .lines = 500, .block_lines = 100},
        {.files = 3, .buses = 6, .ids = 400, .lines = 2000, .block_lines = 300},
    };
    for (size_t c = 0; c < sizeof shapes / sizeof *shapes; c++) {
        for (int order = 0; order < CAN_ORDERS; order++) {
            can_shape shape = shapes[c];
            shape.order = order;
            can_frames frames = can_frames_make(&shape);
            for (int workers = 1; workers <= 8; workers += 7) {
                leat_can_store *store = stored(&frames, workers, 8 * MIB);
                check_captures(&frames, store);
                check_ids(&frames, store);
                leat_can_store_destroy(store);
            }
            can_frames_free(&frames);
        }
    }
}

/* ---- progress -------------------------------------------------------------------------------- */

typedef struct watch {
    const char *stop_at; /* stage; NULL: never */
    int64_t total;
} watch;

static bool watching(void *user, const leat_progress *progress) {
    watch *self = user;
    if (progress->total >= 0) self->total = progress->total;
    return self->stop_at == NULL || strcmp(self->stop_at, progress->stage) != 0;
}

/* Each frame of a stream is told of once, however many passes there are; whoever wants no more is
 * obeyed, and the store is as it was. */
static void check_progress(can_order order) {
    can_shape shape = {
        .order = order, .files = 2, .buses = 2, .ids = 9, .lines = 9000, .block_lines = 100};
    can_frames frames = can_frames_make(&shape);
    for (int way = 0; way < CAN_STREAMS; way++) {
        for (int threads = 1; threads <= 3; threads += 2) {
            leat_can_store *store = stored(&frames, 2, 900 << 10);
            int64_t count = 0, used = atomic_load(&store->memory_used);
            leat_ticker ticker;
            watch look = {.stop_at = "sorting"};
            leat_ticker_create(&ticker, watching, &look);
            store->ticker = &ticker;
            assert_fails(put_in_order(store, way, threads, err), LEAT_ERR_CANCELLED,
                         "stopped while sorting");
            assert_int_equal(atomic_load(&store->memory_used), used);
            leat_ticker_destroy(&ticker);
            look = (watch){0};
            leat_ticker_create(&ticker, watching, &look);
            assert_ok(put_in_order(store, way, threads, err));
            for (int32_t s = 0; s < store->stream_count; s++)
                count += leat_can_store_frames(store, s);
            assert_int_equal(look.total, count);
            assert_int_equal(atomic_load(&ticker.done), count);
            leat_ticker_destroy(&ticker);
            store->ticker = NULL;
            check_order(&frames, store, way, threads);
            leat_can_store_destroy(store);
        }
    }
    can_frames_free(&frames);
    nothing_left();
}

static void progress(void **state) {
    (void)state;
    check_progress(CAN_SHUFFLED);
    check_progress(CAN_ASCENDING);
    check_progress(CAN_STEPPING);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* A scan that was saved, to be loaded with less memory than it took. */
static const char *saved(const can_frames *frames, int workers) {
    const char *path = core_path("state");
    leat_can_store *store = stored(frames, workers, 64 * MIB);
    assert_ok(leat_can_store_save(store, path, err));
    leat_can_store_keep(store);
    leat_can_store_destroy(store);
    return path;
}

static int order_limits; /* how often putting in order was more than the limit allows */

static leat_code load_and_order(const char *path, int files, int64_t memory_bytes, can_streams way,
                                leat_can_store **store, leat_error *err) {
    leat_can_store_options options = options_of(1, memory_bytes, files);
    LEAT_TRY(leat_can_store_load(store, &options, path, err));
    leat_code code = put_in_order(*store, way, 2, err);
    if (code == LEAT_OK) return LEAT_OK;
    order_limits++;
    leat_can_store_keep(*store);
    leat_can_store_destroy(*store);
    *store = NULL;
    return code;
}

/* The least memory that an error names is enough, one KiB less is not; many passes are made. */
static void least_memory(void **state) {
    (void)state;
    static const struct {
        can_shape shape;
        can_streams way;
    } cases[] = {
        {{.order = CAN_SHUFFLED, .files = 1, .buses = 1, .lines = 30000, .block_lines = 100},
         CAN_SEPARATE},
        {{.order = CAN_SHUFFLED, .files = 2, .buses = 2, .lines = 9000, .block_lines = 100},
         CAN_MERGED},
        /* more segments than there is room for while blocks are merged */
        {{.order = CAN_DESCENDING, .files = 1, .buses = 1, .lines = 60000, .block_lines = 5},
         CAN_SEPARATE},
        {{.order = CAN_TIED, .files = 90, .buses = 1, .lines = 200, .block_lines = 20}, CAN_MERGED},
        {{.order = CAN_ODD, .files = 20, .buses = 3, .lines = 300, .block_lines = 20}, CAN_MERGED},
        /* 500 buses of a block have to be read at once */
        {{.order = CAN_EQUAL, .files = 2, .buses = 500, .lines = 4000, .block_lines = 3000},
         CAN_BUS_MERGED},
        {{.order = CAN_SHUFFLED, .files = 1, .buses = 500, .lines = 9000, .block_lines = 3000},
         CAN_MERGED},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        can_shape shape = cases[c].shape;
        shape.ids = 20;
        can_frames frames = can_frames_make(&shape);
        const char *path = saved(&frames, 3);
        leat_can_store *store = NULL;
        leat_error why = {0};
        /* upwards from what loading alone takes */
        int64_t kib = 1;
        order_limits = 0;
        while (load_and_order(path, shape.files, kib << 10, cases[c].way, &store, &why) !=
               LEAT_OK) {
            assert_int_equal(why.code, LEAT_ERR_LIMIT);
            assert_true(can_least_kib(&why) > kib);
            kib = can_least_kib(&why);
        }
        assert_true(order_limits <= 1); /* the first number that it names will do */
        assert_true(atomic_load(&store->memory_used) <= kib << 10);
        if (c == 0) assert_true(leat_can_store_spilled(store) > file_bytes(store)); /* passes */
        check_order(&frames, store, cases[c].way, 1);
        leat_can_store_keep(store);
        leat_can_store_destroy(store);
        assert_int_equal(
            load_and_order(path, shape.files, (kib - 1) << 10, cases[c].way, &store, &why),
            LEAT_ERR_LIMIT);
        assert_int_equal(can_least_kib(&why), kib);
        assert_ok(load_and_order(path, shape.files, 64 * MIB, cases[c].way, &store, err));
        leat_can_store_destroy(store);
        nothing_left();
        can_frames_free(&frames);
    }
}

/* A scan that takes too much counts the rest and says what is enough for all, and leaves nothing.
 */
static void scan_limit(void **state) {
    (void)state;
    can_shape shape = {.files = 1, .buses = 300, .ids = 5000, .lines = 50000, .block_lines = 900};
    can_frames frames = can_frames_make(&shape);
    leat_error why = {0};
    int64_t kib = 1;
    int scans = 0;
    for (;;) {
        leat_can_store *store = NULL;
        leat_can_store_options options = options_of(2, kib << 10, shape.files);
        leat_code code = leat_can_store_create(&store, &options, &why);
        if (code == LEAT_OK) {
            scans++;
            code = can_frames_store(&frames, store, 2, &why);
        }
        leat_can_store_destroy(store);
        nothing_left();
        if (code == LEAT_OK) break;
        assert_int_equal(code, LEAT_ERR_LIMIT);
        assert_true(can_least_kib(&why) > kib);
        kib = can_least_kib(&why);
    }
    assert_int_equal(scans, 2);
    can_frames_free(&frames);
}

/* ---- state ----------------------------------------------------------------------------------- */

static const can_shape state_shape = {
    .order = CAN_STEPPING, .files = 3, .buses = 2, .ids = 50, .lines = 500, .block_lines = 90};

static leat_code load(const char *path, leat_can_store **store, leat_error *err) {
    leat_can_store_options options = options_of(7, 8 * MIB, state_shape.files);
    leat_code code = leat_can_store_load(store, &options, path, err);
    assert_int_equal(code == LEAT_OK, *store != NULL);
    return code;
}

/* Whatever a store did before it was saved, a loaded one does the same. */
static void saved_and_loaded(void **state) {
    (void)state;
    can_frames frames = can_frames_make(&state_shape);
    const char *path = core_path("state");
    for (int ordered = 0; ordered < 2; ordered++) {
        for (int workers = 1; workers <= 3; workers += 2) {
            leat_can_store *store = stored(&frames, workers, 8 * MIB), *again = NULL;
            if (ordered == 1) check_order(&frames, store, CAN_MERGED, 2);
            assert_ok(leat_can_store_save(store, path, err));
            leat_can_store_keep(store);
            leat_can_store_destroy(store);
            assert_ok(load(path, &again, err));
            check_captures(&frames, again);
            check_ids(&frames, again);
            for (int way = 0; way < CAN_STREAMS; way++) check_order(&frames, again, way, 3);
            assert_ok(leat_can_store_save(again, path, err)); /* it may be killed once more */
            leat_can_store_destroy(again);
            nothing_left();
            assert_int_equal(load(path, &again, NULL), LEAT_ERR_CORRUPT);
        }
    }
    can_frames_free(&frames);
}

static void damage(void **state) {
    (void)state;
    can_frames frames = can_frames_make(&state_shape);
    const char *path = saved(&frames, 2);
    leat_can_store *store = NULL;
    assert_fails(load(core_path("no_state"), &store, err), LEAT_ERR_NOT_FOUND, "no_state");
    const char *files[] = {path, core_path("can_spill_000"), core_path("can_spill_001")};
    for (int f = 0; f < 3; f++) {
        core_image image = core_load(files[f]);
        if (image.size_bytes == 0) { /* a worker that was never free */
            free(image.data);
            continue;
        }
        int64_t step = f == 0 ? 7 : 211;
        for (int64_t at = 0; at < image.size_bytes; at += step) {
            image.data[at] ^= (uint8_t)(1 << at % 8);
            core_save(files[f], image.data, image.size_bytes);
            assert_fails(load(path, &store, err), LEAT_ERR_CORRUPT, "without --resume");
            image.data[at] ^= (uint8_t)(1 << at % 8);
        }
        for (int64_t size = 0; size < image.size_bytes; size += step * 3) {
            core_save(files[f], image.data, size);
            assert_fails(load(path, &store, err), LEAT_ERR_CORRUPT, "without --resume");
        }
        uint8_t *longer = calloc((size_t)image.size_bytes + 1, 1);
        memcpy(longer, image.data, (size_t)image.size_bytes);
        core_save(files[f], longer, image.size_bytes + 1);
        assert_fails(load(path, &store, err), LEAT_ERR_CORRUPT, "size");
        free(longer);
        if (f > 0) {
            assert_ok(leat_path_remove(files[f], err));
            assert_fails(load(path, &store, err), LEAT_ERR_CORRUPT, "is missing");
        }
        core_save(files[f], image.data, image.size_bytes);
        free(image.data);
    }
    leat_can_store_options other = options_of(1, 8 * MIB, state_shape.files + 1);
    assert_fails(leat_can_store_load(&store, &other, path, err), LEAT_ERR_CORRUPT,
                 "number of files");
    /* all that was put back is good again, and what could not be loaded was not removed */
    assert_ok(load(path, &store, err));
    check_order(&frames, store, CAN_SEPARATE, 1);
    leat_can_store_destroy(store);
    can_frames_free(&frames);
    nothing_left();
}

/* All bytes are told of while they are checked; a load that is stopped removes nothing. */
static void load_stopped(void **state) {
    (void)state;
    can_frames frames = can_frames_make(&state_shape);
    const char *path = saved(&frames, 2);
    leat_can_store *store = NULL;
    leat_ticker ticker;
    watch look = {.stop_at = "checking"};
    leat_can_store_options options = options_of(1, 8 * MIB, state_shape.files);
    options.ticker = &ticker;
    leat_ticker_create(&ticker, watching, &look);
    assert_fails(leat_can_store_load(&store, &options, path, err), LEAT_ERR_CANCELLED, "checking");
    assert_null(store);
    leat_ticker_destroy(&ticker);
    look = (watch){0};
    leat_ticker_create(&ticker, watching, &look);
    assert_ok(leat_can_store_load(&store, &options, path, err));
    assert_int_equal(look.total, frames.count * LEAT_CAN_ROW_BYTES);
    assert_int_equal(atomic_load(&ticker.done), look.total);
    leat_can_store_destroy(store);
    leat_ticker_destroy(&ticker);
    can_frames_free(&frames);
    nothing_left();
}

/* A spill that changes under a store is an error where it is read, never a wild read. */
static void changed_while_open(void **state) {
    (void)state;
    can_frames frames = can_frames_make(&state_shape);
    leat_can_store *store = stored(&frames, 1, 8 * MIB);
    check_order(&frames, store, CAN_SEPARATE, 1);
    core_image image = core_load(core_path("can_spill_000"));
    uint8_t *bad = calloc((size_t)image.size_bytes, 1);
    memset(bad, 0xff, (size_t)image.size_bytes);
    core_save(core_path("can_spill_000"), bad, image.size_bytes);
    uint32_t id[500];
    int64_t count = leat_can_store_frames(store, 0);
    assert_in_range(count, 1, 500);
    leat_can_frames_out out = {.id = id};
    assert_fails(leat_can_store_read(store, 0, 0, count, &out, err), LEAT_ERR_CORRUPT,
                 "was changed");
    leat_can_store_clear_order(store);
    int64_t used = atomic_load(&store->memory_used);
    assert_fails(put_in_order(store, CAN_MERGED, 2, err), LEAT_ERR_CORRUPT, "times have changed");
    memcpy(bad, image.data, (size_t)image.size_bytes);
    for (int64_t at = 8; at < image.size_bytes; at += LEAT_CAN_ROW_BYTES) memset(bad + at, 127, 4);
    core_save(core_path("can_spill_000"), bad, image.size_bytes);
    assert_fails(put_in_order(store, CAN_MERGED, 2, err), LEAT_ERR_CORRUPT,
                 "an unknown identifier");
    core_save(core_path("can_spill_000"), image.data, image.size_bytes / 2);
    assert_fails(put_in_order(store, CAN_MERGED, 2, err), LEAT_ERR_CORRUPT, "ends at byte");
    assert_int_equal(atomic_load(&store->memory_used), used); /* nothing of them was kept */
    core_save(core_path("can_spill_000"), image.data, image.size_bytes);
    check_order(&frames, store, CAN_MERGED, 2);
    leat_can_store_destroy(store);
    free(image.data);
    free(bad);
    can_frames_free(&frames);
    nothing_left();
}

/* ---- many readers ---------------------------------------------------------------------------- */

typedef struct readers {
    const leat_can_store *store;
    const can_frame *frames;
    int64_t count;
} readers;

static leat_code read_some(void *context, int index, leat_error *err) {
    const readers *self = context;
    core_rng rng = {.seed = (uint64_t)index};
    for (int i = 0; i < 400; i++) {
        bool same = false;
        int64_t first = core_below(&rng, self->count - 100);
        LEAT_TRY(can_frames_compare(self->store, 0, self->frames, first, 100, &same, err));
        if (!same) return leat_fail(err, LEAT_ERR_INPUT, "frame %lld", (long long)first);
    }
    return LEAT_OK;
}

static void read_by_threads(void **state) {
    (void)state;
    can_shape shape = {.order = CAN_LAPPING,
                       .files = 2,
                       .buses = 1,
                       .ids = 30,
                       .lines = 9000,
                       .block_lines = 1000};
    can_frames frames = can_frames_make(&shape);
    leat_can_store *store = stored(&frames, 3, 8 * MIB);
    int32_t stream_count = 0, *streams = can_streams_of(store, CAN_MERGED, &stream_count);
    readers self = {.store = store};
    self.frames = can_stream_frames(&frames, store, streams, 0, &self.count);
    assert_ok(put_in_order(store, CAN_MERGED, 3, err));
    assert_ok(run_threads(8, read_some, &self, err));
    leat_can_store_destroy(store);
    free(streams);
    free((void *)self.frames);
    can_frames_free(&frames);
}

int main(void) {
    core_in_memory(64 * MIB);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_sort),    cmocka_unit_test(copies),
        cmocka_unit_test(not_read),        cmocka_unit_test(columns),
        cmocka_unit_test(progress),        cmocka_unit_test(load_stopped),
        cmocka_unit_test(tables),          cmocka_unit_test(least_memory),
        cmocka_unit_test(scan_limit),      cmocka_unit_test(saved_and_loaded),
        cmocka_unit_test(damage),          cmocka_unit_test(changed_while_open),
        cmocka_unit_test(read_by_threads),
    };
    int failed = cmocka_run_group_tests_name("can store", tests, NULL, NULL);
    core_dir_remove();
    return failed;
}
