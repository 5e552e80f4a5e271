/* Vehicle logs from files to frames: the same ones in the same order with any number of threads,
 * what is set aside, what is refused. */
/* TSan: logs scanned by several threads. */
#include "source_support.h"

#include <pthread.h>
#include <sys/stat.h>

#include "ingest/can/read/scan.h"

/* A scan whose frames are kept, block by block. */
typedef struct kept_block {
    int32_t file;
    int64_t number, count;
    leat_can_line *lines;
} kept_block;

typedef struct can_run {
    leat_can_scan_options options;
    leat_input_list inputs;
    leat_can_file files[16];
    pthread_mutex_t lock;
    kept_block *blocks;
    int64_t block_count, frames;
    bool busy[16];
    int64_t fail_at; /* the batch function fails at this block; -1: never */
    char rejected[4096];
} can_run;

static leat_code keep(void *context, int worker, const leat_can_batch *batch, leat_error *err) {
    can_run *run = context;
    leat_code code = LEAT_OK;
    pthread_mutex_lock(&run->lock);
    assert_in_range(worker, 0, run->options.threads - 1);
    assert_false(run->busy[worker]);
    assert_in_range(batch->count, 0, LEAT_CAN_BLOCK_LINES);
    run->busy[worker] = true;
    if (run->block_count == run->fail_at) {
        code = leat_fail(err, LEAT_ERR_NO_SPACE, "no more room");
    } else {
        size_t size = (size_t)(run->block_count + 1) * sizeof *run->blocks;
        run->blocks = realloc(run->blocks, size);
        kept_block *block = &run->blocks[run->block_count++];
        *block = (kept_block){batch->file_index, batch->block, batch->count, NULL};
        size = (size_t)batch->count * sizeof *block->lines;
        block->lines = malloc(size + 1);
        memcpy(block->lines, batch->lines, size);
        run->frames += batch->count;
    }
    pthread_mutex_unlock(&run->lock);
    pthread_mutex_lock(&run->lock);
    run->busy[worker] = false;
    pthread_mutex_unlock(&run->lock);
    return code;
}

static int compare_blocks(const void *a, const void *b) {
    const kept_block *x = a, *y = b;
    if (x->file != y->file) return x->file < y->file ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void run_init(can_run *run, int threads) {
    *run = (can_run){.fail_at = -1};
    run->options = (leat_can_scan_options){
        .lines = {.canonical = true, .strict = true}, .threads = threads, .batch = keep};
    pthread_mutex_init(&run->lock, NULL);
}

static leat_code run_paths(can_run *run, const char *const *paths, int64_t count, leat_error *err) {
    run->options.batch_context = run;
    LEAT_TRY(leat_inputs_find(paths, count, &leat_can_inputs, &run->inputs, err));
    assert_in_range(run->inputs.count, 1, 16);
    const char *names[16];
    for (int64_t i = 0; i < run->inputs.count; i++) names[i] = run->inputs.items[i].path;
    snprintf(run->rejected, sizeof run->rejected, "%s", core_path("rejected.csv"));
    remove(run->rejected);
    LEAT_TRY(
        leat_reject_log_create(&run->options.rejects,
                               &(leat_reject_options){&leat_can_rejects, names, false,
                                                      run->options.threads, 1 << 20, core_dir()},
                               err));
    leat_code code = leat_can_scan(&run->inputs, &run->options, run->files, err);
    if (code == LEAT_OK) code = leat_reject_log_save(run->options.rejects, run->rejected, err);
    int64_t counts[LEAT_CAN_REJECT_COUNT];
    leat_reject_log_counts(run->options.rejects, counts);
    leat_reject_log_destroy(run->options.rejects);
    if (code != LEAT_OK) return code;
    if (run->block_count > 0) {
        qsort(run->blocks, (size_t)run->block_count, sizeof *run->blocks, compare_blocks);
    }
    /* every block once, from 0; and all lines accounted for */
    int64_t number = 0;
    for (int64_t i = 0; i < run->block_count; i++) {
        if (i > 0 && run->blocks[i].file != run->blocks[i - 1].file) number = 0;
        assert_int_equal(run->blocks[i].number, number++);
    }
    int64_t frames = 0;
    for (int64_t i = 0; i < run->inputs.count; i++) {
        int64_t rejected = 0;
        for (int k = 0; k < LEAT_CAN_REJECT_COUNT; k++) {
            rejected += run->files[i].rejected[k];
            counts[k] -= run->files[i].rejected[k];
        }
        assert_int_equal(run->files[i].lines, run->files[i].frames + rejected);
        frames += run->files[i].frames;
    }
    assert_int_equal(frames, run->frames);
    for (int k = 0; k < LEAT_CAN_REJECT_COUNT; k++) assert_int_equal(counts[k], 0);
    return LEAT_OK;
}

static leat_code run_file(can_run *run, const char *path, leat_error *err) {
    return run_paths(run, &path, 1, err);
}

static void run_free(can_run *run) {
    for (int64_t i = 0; i < run->block_count; i++) free(run->blocks[i].lines);
    free(run->blocks);
    leat_input_list_free(&run->inputs);
    pthread_mutex_destroy(&run->lock);
}

/* All frames in order; free() it. */
static leat_can_line *all_frames(const can_run *run) {
    leat_can_line *all = malloc((size_t)run->frames * sizeof *all + 1);
    int64_t at = 0;
    for (int64_t i = 0; i < run->block_count; i++) {
        memcpy(all + at, run->blocks[i].lines, (size_t)run->blocks[i].count * sizeof *all);
        at += run->blocks[i].count;
    }
    return all;
}

static bool same_frame(const leat_can_line *a, const leat_can_line *b) {
    return memcmp(&a->time, &b->time, sizeof a->time) == 0 &&
           memcmp(a->id, b->id, sizeof a->id) == 0 &&
           memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0 && a->bus == b->bus &&
           a->attack == b->attack;
}

/* ---- a large log, against a slow reading of it ---- */

/* Frame i of a log; every 997th line is none, in one way or another. */
static bool make_frame(uint64_t i, leat_can_line *line) {
    *line = (leat_can_line){.bus = (uint16_t)(leat_random(21, 0, i) % 2)};
    uint64_t bits = leat_random(21, 1, i), value = leat_random(21, 2, i);
    int size = (int)(bits % 9);
    for (int k = 0; k < size; k++) line->bytes[k] = (int16_t)((value >> (8 * k)) & 255);
    if (bits >> 60 == 0) snprintf(line->id, sizeof line->id, "%08X", (int)(value >> 40 | 0x1000));
    else snprintf(line->id, sizeof line->id, "%03X", (int)(value >> 53));
    line->attack = bits >> 40 & 1;
    char time[40];
    snprintf(time, sizeof time, "%u.%06u", 1580000000u + (unsigned)(i / 1000),
             (unsigned)(leat_random(21, 3, i) % 1000000));
    line->time = strtod(time, NULL);
    return i % 997 != 5;
}

enum { CSV, CANDUMP, GVRET, HCRL, KINDS };
static const char *const kind_names[KINDS] = {"csv", "candump", "gvret", "hcrl"};

static int frame_size(const leat_can_line *line) {
    int size = 8;
    while (size > 0 && line->bytes[size - 1] == 0) size--;
    return size;
}

static void put_frame(leat_buf *text, int kind, uint64_t i) {
    leat_can_line line;
    if (!make_frame(i, &line)) {
        assert_ok(leat_buf_printf(text, err, "line %d is none\n", (int)i));
        return;
    }
    int size = frame_size(&line);
    const char *ends[] = {"\n", "\r\n"};
    char data[64] = "", parted[64] = "";
    for (int k = 0; k < size; k++) {
        sprintf(data + strlen(data), i % 2 ? "%02X" : "%02x", line.bytes[k]);
        sprintf(parted + strlen(parted), ",%02X", line.bytes[k]);
    }
    double time = line.time;
    bool extended = strlen(line.id) == 8;
    leat_code code = LEAT_OK;
    leat_error *err = NULL;
    switch (kind) {
    case CSV:
        code = leat_buf_printf(text, err, "%.6f,%s,%s,%d", time, line.id, data, line.attack);
        break;
    case CANDUMP:
        code = leat_buf_printf(text, err, "(%.6f) can%d %s#%s", time, line.bus, line.id, data);
        break;
    case GVRET:
        code = leat_buf_printf(text, err, "%.0f,%08X,%s,%d,%d%s", time * 1e6,
                               (unsigned)strtoul(line.id, NULL, 16), extended ? "true" : "false",
                               line.bus, size, parted);
        break;
    default:
        code = leat_buf_printf(text, err, "%.6f,%s,%d%s,%c", time, line.id, size, parted,
                               line.attack ? 'T' : 'R');
    }
    assert_int_equal(code, LEAT_OK);
    assert_ok(leat_buf_append(text, ends[i % 3 == 0], i % 3 == 0 ? 2 : 1, err));
}

static void check_frames(const can_run *run, int kind, uint64_t count) {
    leat_can_line *all = all_frames(run);
    int64_t at = 0;
    for (uint64_t i = 0; i < count; i++) {
        leat_can_line want;
        if (!make_frame(i, &want)) continue;
        if (kind == CSV || kind == HCRL) want.bus = 0;
        else want.attack = false;
        if (!same_frame(&want, &all[at])) {
            fail_msg("%s: frame %d: %.17g %s, wanted %.17g %s", kind_names[kind], (int)i,
                     all[at].time, all[at].id, want.time, want.id);
        }
        at++;
    }
    assert_int_equal(at, run->frames);
    free(all);
}

static void test_large(void **state) {
    (void)state;
    enum { FRAMES = 60000 };
    static const char *const heads[KINDS] = {"timestamp,arbitration_id,data_field,attack\n", "",
                                             "Time Stamp,ID,Extended,Bus,LEN,D1\r\n", ""};
    for (int kind = 0; kind < KINDS; kind++) {
        leat_buf text = {0};
        assert_ok(leat_buf_printf(&text, err, "%s", heads[kind]));
        for (uint64_t i = 0; i < FRAMES; i++) put_frame(&text, kind, i);
        core_save(core_path("large.csv"), text.data, text.size - 1); /* no end of the last line */
        source_gzip("large.csv.gz", text.data, text.size, 3);
        leat_buf_free(&text);
        static const int threads[] = {1, 2, 3, 8};
        core_image rejected = {0};
        for (int k = 0; k < 8; k++) {
            can_run run;
            run_init(&run, threads[k / 2]);
            const char *path = core_path(k % 2 == 0 ? "large.csv" : "large.csv.gz");
            assert_ok(run_file(&run, path, err));
            check_frames(&run, kind, FRAMES);
            assert_true(run.block_count > 3);
            assert_string_equal(leat_can_format_name(run.files[0].format), kind_names[kind]);
            assert_int_equal(run.files[0].looks, run.files[0].format);
            assert_int_equal(run.files[0].labelled, kind == CSV || kind == HCRL);
            assert_int_equal(run.files[0].first_malformed, 6 + (kind == CSV || kind == GVRET));
            assert_int_equal(run.files[0].rejected[LEAT_CAN_REJECT_LINE], FRAMES - run.frames);
            core_image image = core_load(run.rejected);
            if (k % 2 == 0 && rejected.data != NULL) {
                assert_int_equal(image.size_bytes, rejected.size_bytes);
                assert_memory_equal(image.data, rejected.data, (size_t)image.size_bytes);
            }
            if (k == 0) rejected = image;
            else free(image.data);
            run_free(&run);
        }
        free(rejected.data);
    }
}

/* ---- what is set aside ---- */

static void expect_rejected(const can_run *run, const char *want) {
    core_image image = core_load(run->rejected);
    char *text = calloc(1, (size_t)image.size_bytes + 1), *out = text;
    /* without the folder, which is each test's own */
    for (int64_t i = 0; i < image.size_bytes;) {
        size_t folder = strlen(core_dir());
        if (image.size_bytes - i > (int64_t)folder &&
            memcmp(image.data + i, core_dir(), folder) == 0) {
            i += (int64_t)folder + 1;
        } else {
            *out++ = (char)image.data[i++];
        }
    }
    assert_string_equal(text, want);
    free(text);
    free(image.data);
}

static void test_rejected(void **state) {
    (void)state;
    static const char log[] = "\n(1.5) can1 123#01\r\n\n"
                              "(1.6) can1 123#R\n"
                              "(1.7) can1 20000001#00\n"
                              "so, what\n"
                              "(1.8) can0 123##3010203040506070809\n"
                              "(1.9) can0 123#0\n"
                              "(2.0) can0 12345678#\"\"\n"
                              "(2.1) can0 1234#\n"
                              "(x) can0 123#\n"
                              "(2.2) can0 123#02";
    source_text("b.log", log);
    source_text("a.csv", "timestamp,arb_id,payload,attack,\"no,te\"\n"
                         "1,0F5,01,0,\"a,b\"\n"
                         "2,0F5,01,0,x,y\n"
                         "3,0F5,01,perhaps,\"say \"\"no\"\"\"\n"
                         "4,0F5,0102030405060708090A,1,\n");
    const char *paths[] = {core_path("b.log"), core_path("a.csv")};
    can_run run;
    run_init(&run, 2);
    run.options.lines.fd_refuse = true;
    run.options.max_rejected = 0.5;
    assert_ok(run_paths(&run, paths, 2, err));
    expect_rejected(&run,
                    "file,line,reason,text\n"
                    "a.csv,3,malformed_line,\"2,0F5,01,0,x,y\"\n"
                    "a.csv,4,label_unparsable,\"3,0F5,01,perhaps,\"\"say \"\"\"\"no\"\"\"\"\"\"\"\n"
                    "a.csv,5,can_fd_frame,\"4,0F5,0102030405060708090A,1,\"\n"
                    "b.log,4,remote_frame,(1.6) can1 123#R\n"
                    "b.log,5,error_frame,(1.7) can1 20000001#00\n"
                    "b.log,6,malformed_line,\"so, what\"\n"
                    "b.log,7,can_fd_frame,(1.8) can0 123##3010203040506070809\n"
                    "b.log,8,payload_unparsable,(1.9) can0 123#0\n"
                    "b.log,9,payload_unparsable,\"(2.0) can0 12345678#\"\"\"\"\"\n"
                    "b.log,10,identifier_unparsable,(2.1) can0 1234#\n"
                    "b.log,11,timestamp_unparsable,(x) can0 123#\n");
    assert_int_equal(run.frames, 3);
    assert_int_equal(run.files[0].format, LEAT_CAN_CSV);
    assert_int_equal(run.files[1].format, LEAT_CAN_CANDUMP);
    assert_int_equal(run.files[1].lines, 10);
    assert_int_equal(run.files[1].first_malformed, 6);
    leat_can_line *all = all_frames(&run);
    assert_int_equal(all[1].bus, 1);
    assert_int_equal(all[2].bus, 0);
    assert_true(all[2].time == 2.2);
    free(all);
    run_free(&run);
}

/* Empty files, headers alone, blank lines, NUL bytes, lines too long, stretches without a frame. */
static void test_odd_files(void **state) {
    (void)state;
    static const char head[] = "timestamp,arbitration_id,data_field,note\n";
    static const struct {
        const char *text;
        int64_t size; /* 0: to the NUL */
        int64_t lines, frames;
        leat_can_format format;
    } cases[] = {
        {"", 0, 0, 0, LEAT_CAN_AUTO},
        {"\n\r\n\n", 0, 0, 0, LEAT_CAN_AUTO},
        {"timestamp,arbitration_id,data_field", 0, 0, 0, LEAT_CAN_CSV},
        {"\xef\xbb\xbftimestamp,arbitration_id,data_field\n1,2,00", 0, 1, 1, LEAT_CAN_CSV},
        {"timestamp,arbitration_id,data_field\n1,2,00\n1,2,\0\0\n1,2,0\0\n\0\n", 58, 4, 1,
         LEAT_CAN_CSV},
        {"(1) can0 123#\r", 0, 1, 1, LEAT_CAN_CANDUMP},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t size = cases[i].size > 0 ? cases[i].size : (int64_t)strlen(cases[i].text);
        core_save(core_path("odd.csv"), cases[i].text, size);
        can_run run;
        run_init(&run, 2);
        run.options.max_rejected = 0.75;
        assert_ok(run_file(&run, core_path("odd.csv"), err));
        assert_int_equal(run.files[0].lines, cases[i].lines);
        assert_int_equal(run.frames, cases[i].frames);
        assert_int_equal(run.files[0].format, cases[i].format);
        run_free(&run);
    }
    /* blocks without a line before the header, and without a frame behind it; lines too long */
    leat_buf text = {0};
    for (int i = 0; i < 20000; i++) assert_ok(leat_buf_append(&text, "\n", 1, err));
    assert_ok(leat_buf_append(&text, head, sizeof head - 1, err));
    for (int i = 0; i < 9000; i++) assert_ok(leat_buf_printf(&text, err, "%d,2,00,\n", i));
    for (int i = 0; i < 90; i++) {
        int64_t size = i % 30 == 7 ? LEAT_LINE_BYTES_MAX + 5 : 9000;
        assert_ok(leat_buf_reserve(&text, size, err));
        memset(text.data + text.size, 'x', (size_t)size);
        /* of what is too long the beginning alone would be a frame */
        if (size > LEAT_LINE_BYTES_MAX) memcpy(text.data + text.size, "1,2,00,", 7);
        text.size += size;
        assert_ok(leat_buf_append(&text, "\n", 1, err));
    }
    assert_ok(leat_buf_append(&text, "5,2,01,", 7, err));
    core_save(core_path("odd.csv"), text.data, text.size);
    leat_buf_free(&text);
    for (int threads = 1; threads <= 3; threads += 2) {
        can_run run;
        run_init(&run, threads);
        assert_ok(run_file(&run, core_path("odd.csv"), err));
        assert_int_equal(run.frames, 9001);
        assert_int_equal(run.files[0].lines, 9091);
        assert_int_equal(run.files[0].rejected[LEAT_CAN_REJECT_LINE], 90);
        assert_int_equal(run.files[0].first_malformed, 20000 + 1 + 9000 + 1);
        bool none = false;
        for (int64_t i = 4; i < run.block_count; i++) none = none || run.blocks[i].count == 0;
        assert_true(none);
        run_free(&run);
    }
}

/* ---- the 1 % rule ---- */

static void write_bad(int good, int bad, int apart) {
    leat_buf text = {0};
    for (int i = 0; i < good; i++) assert_ok(leat_buf_printf(&text, err, "(%d) can0 123#\n", i));
    for (int i = 0; i < bad; i++) assert_ok(leat_buf_printf(&text, err, "(%d) can0 12#\n", i));
    for (int i = 0; i < apart; i++) assert_ok(leat_buf_printf(&text, err, "(1) can0 123#R\n"));
    core_save(core_path("bad.log"), text.data, text.size);
    leat_buf_free(&text);
}

static void test_rejected_share(void **state) {
    (void)state;
    static const struct {
        int good, bad, apart;
        bool refused;
    } cases[] = {
        {99, 99, 0, false},     {98, 99, 0, true},       {50, 100, 0, true},
        {9900, 100, 0, false},  {9899, 100, 0, true},    {9799, 101, 200, false},
        {9799, 101, 199, true}, {9798, 102, 300, false}, {1, 0, 5000, false},
        {30000, 302, 0, false}, {30000, 304, 0, true},   {1, 1, 0, false},
        {1, 2, 0, true},        {0, 1, 1, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_bad(cases[i].good, cases[i].bad, cases[i].apart);
        for (int threads = 1; threads <= 3; threads += 2) {
            can_run run;
            run_init(&run, threads);
            if (cases[i].refused) {
                char words[200];
                snprintf(words, sizeof words,
                         "bad.log\": %d of its %d lines are rejected as candump: line %d "
                         "identifier_unparsable: (0) can0 12#; line %d identifier_unparsable: (1) "
                         "can0 12#",
                         cases[i].bad, cases[i].good + cases[i].bad + cases[i].apart,
                         cases[i].good + 1, cases[i].good + 2);
                leat_error why = {0};
                assert_int_equal(run_file(&run, core_path("bad.log"), &why), LEAT_ERR_INPUT);
                assert_non_null(strstr(why.message, words));
                /* no advice to lose most of a log */
                assert_int_equal(strstr(why.message, ", or allow it with --max-rejected") != NULL,
                                 cases[i].bad <= cases[i].good + cases[i].apart);
                assert_int_equal(run.files[0].lines, 0);
            } else {
                assert_ok(run_file(&run, core_path("bad.log"), err));
                assert_int_equal(run.files[0].frames, cases[i].good);
            }
            run_free(&run);
        }
    }
}

/* A format that is forced, and wrong; and what --max-rejected allows. */
static void test_max_rejected(void **state) {
    (void)state;
    /* Survival's format takes some of the first lines only */
    leat_buf text = {0};
    assert_ok(leat_buf_printf(&text, err, "1,123,1,00\n"));
    for (int i = 0; i < 300; i++) assert_ok(leat_buf_printf(&text, err, "(%d) can0 12#\n", i));
    for (int i = 0; i < 300; i++) assert_ok(leat_buf_printf(&text, err, "(%d) can0 123#\n", i));
    core_save(core_path("mixed.log"), text.data, text.size);
    can_run run;
    run_init(&run, 1);
    run.options.format = LEAT_CAN_SURVIVAL;
    assert_fails(run_file(&run, core_path("mixed.log"), err), LEAT_ERR_INPUT,
                 "600 of its 601 lines are rejected as survival: line 2 malformed_line: (0) can0 "
                 "12#; line 3 malformed_line: (1) can0 12#; line 4 malformed_line: (2) can0 12#; "
                 "they are damaged, or of a kind that is not read; repair or remove them");
    run_free(&run);
    run_init(&run, 1);
    run.options.format = LEAT_CAN_SURVIVAL;
    run.options.max_rejected = 0.998; /* 0.99834 of the lines */
    assert_fails(run_file(&run, core_path("mixed.log"), err), LEAT_ERR_INPUT, "600 of its 601");
    run_free(&run);
    run_init(&run, 1);
    run.options.format = LEAT_CAN_SURVIVAL;
    run.options.max_rejected = 0.999;
    assert_ok(run_file(&run, core_path("mixed.log"), err));
    assert_int_equal(run.frames, 1);
    run_free(&run);
    memcpy(text.data + 11, "(0) can0 123#\n", 14);
    memcpy(text.data + 25, "(0) can0 123#\n", 14);
    core_save(core_path("mixed.log"), text.data, text.size);
    leat_buf_free(&text);
    run_init(&run, 1);
    run.options.format = LEAT_CAN_SURVIVAL;
    assert_fails(run_file(&run, core_path("mixed.log"), err), LEAT_ERR_INPUT,
                 "the file looks like candump; use --format candump");
    run_free(&run);
}

/* ---- interfaces in order, whoever parses them ---- */

static void test_late_buses(void **state) {
    (void)state;
    enum { LINES = 50000 };
    static const char *const names[] = {"can3", "slcan", "can0", "vcan3", "mesh"};
    static const int numbers[] = {3, 0, 1, 2, 4};
    leat_buf text = {0};
    for (int i = 0; i < LINES; i++) {
        int limit = 1 + i / (LINES / 5);
        assert_ok(leat_buf_printf(&text, err, "(%d.5) %s 123#%02X\n", i,
                                  names[leat_random(5, 0, (uint64_t)i) % (unsigned)limit],
                                  i % 256));
    }
    core_save(core_path("late.log"), text.data, text.size);
    leat_buf_free(&text);
    for (int threads = 1; threads <= 8; threads++) {
        can_run run;
        run_init(&run, threads);
        assert_ok(run_file(&run, core_path("late.log"), err));
        assert_int_equal(run.frames, LINES);
        leat_can_line *all = all_frames(&run);
        for (int i = 0; i < LINES; i++) {
            int limit = 1 + i / (LINES / 5);
            int which = (int)(leat_random(5, 0, (uint64_t)i) % (unsigned)limit);
            assert_int_equal(all[i].bus, numbers[which]);
        }
        free(all);
        run_free(&run);
    }
}

/* ---- refusals, failures, progress ---- */

typedef struct reports {
    int64_t bytes, calls, stop_at;
    bool backwards;
} reports;
static bool count_reports(void *context, const leat_progress *progress) {
    reports *self = context;
    self->backwards = self->backwards || progress->done < self->bytes;
    self->bytes = progress->done;
    return ++self->calls != self->stop_at;
}

static void test_failures(void **state) {
    (void)state;
    source_text("x.csv", "time,id\n1,2\n");
    can_run run;
    run_init(&run, 2);
    assert_fails(
        run_file(&run, core_path("x.csv"), err), LEAT_ERR_INPUT,
        "x.csv\" begins with \"time\", \"id\": no column for data; use --column data=NAME");
    run_free(&run);
    run_init(&run, 2);
    run.options.format = LEAT_CAN_HCRL;
    write_bad(3, 0, 0);
    assert_fails(
        run_file(&run, core_path("bad.log"), err), LEAT_ERR_INPUT,
        "bad.log\": its first lines do not match format hcrl; the file looks like candump");
    run_free(&run);
    write_bad(60000, 0, 0);
    for (int64_t at = 0; at < 4; at++) {
        run_init(&run, 3);
        run.fail_at = at;
        assert_fails(run_file(&run, core_path("bad.log"), err), LEAT_ERR_NO_SPACE, "no more room");
        run_free(&run);
    }
    for (int64_t stop_at = 0; stop_at < 2; stop_at++) {
        reports told = {.stop_at = stop_at};
        leat_ticker ticker;
        leat_ticker_create(&ticker, count_reports, &told);
        run_init(&run, 3);
        run.options.ticker = &ticker;
        if (stop_at == 0) assert_ok(run_file(&run, core_path("bad.log"), err));
        else assert_fails(run_file(&run, core_path("bad.log"), err), LEAT_ERR_CANCELLED, "stopped");
        assert_true(told.calls >= 1 && told.bytes > 0 && !told.backwards);
        leat_ticker_destroy(&ticker);
        run_free(&run);
    }
    core_save(core_path("cut.log.gz"), "\x1f\x8b\x08\0\0\0\0\0\0\3", 10);
    run_init(&run, 1);
    assert_fails(run_file(&run, core_path("cut.log.gz"), err), LEAT_ERR_CORRUPT, "cut.log.gz");
    run_free(&run);
    /* without a log for what is set aside */
    write_bad(3, 2, 0);
    leat_input_list inputs;
    const char *path = core_path("bad.log");
    assert_ok(leat_inputs_find(&path, 1, &leat_can_inputs, &inputs, err));
    run_init(&run, 1);
    run.options.batch_context = &run;
    assert_ok(leat_can_scan(&inputs, &run.options, run.files, err));
    assert_int_equal(run.files[0].rejected[LEAT_CAN_REJECT_ID], 2);
    leat_input_list_free(&inputs);
    run_free(&run);
    assert_true(leat_can_scan_memory(1) > LEAT_LINES_MEMORY_BYTES + (1 << 20));
    assert_true(leat_can_scan_memory(2) < INT64_C(6) << 20);
}

/* ---- the real samples ---- */

enum { CUT_ROWS = 5000 };

static void test_samples(void **state) {
    (void)state;
    static const struct {
        const char *name;
        leat_can_format format;
        int64_t frames, attacks;
        int buses;
    } cases[] = {
        {"data/can/v40/train_01_attack_free/attack_free-v40.csv.gz", LEAT_CAN_CSV, 160014, 0, 1},
        {"data/can/v40/train_02_with_attacks/DoS-v40.csv.gz", LEAT_CAN_CSV, 165868, -1, 1},
        {"data/can/v40/train_02_with_attacks/replay-v40.csv.gz", LEAT_CAN_CSV, 160314, -1, 1},
        {"data/can/v40/test_01_DoS/DoS-v40.csv.gz", LEAT_CAN_CSV, 88296, -1, 1},
        {"data/can/v40/test_02_fuzzing/fuzzing-v40.csv.gz", LEAT_CAN_CSV, 85183, -1, 1},
        {"data/can/v40/test_03_replay/replay-v40.csv.gz", LEAT_CAN_CSV, 85289, -1, 1},
        {"data/can/gvret/kona_no_key.csv.gz", LEAT_CAN_GVRET, 14294, 0, 2},
        {"data/can/gvret/outlander_parking_brake.csv.gz", LEAT_CAN_GVRET, 17279, 0, 2},
        {"data/can/candump/truck_15s.log", LEAT_CAN_CANDUMP, 9950, 0, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = golden_path(cases[i].name);
        const bool is_cut = !golden_whole() && strstr(cases[i].name, "/v40/") != NULL;
        const int64_t frames = is_cut ? CUT_ROWS : cases[i].frames;
        can_run run;
        run_init(&run, 2);
        assert_ok(run_file(&run, path, err));
        assert_int_equal(run.files[0].format, cases[i].format);
        assert_int_equal(run.frames, frames);
        assert_int_equal(run.files[0].lines, frames);
        leat_can_line *all = all_frames(&run);
        int64_t attacks = 0;
        bool bus[65536] = {false};
        int buses = 0;
        for (int64_t k = 0; k < run.frames; k++) {
            attacks += all[k].attack;
            buses += !bus[all[k].bus];
            bus[all[k].bus] = true;
        }
        if (cases[i].attacks >= 0) assert_int_equal(attacks, cases[i].attacks);
        else assert_in_range(attacks, 1, run.frames / 2);
        assert_int_equal(buses, cases[i].buses);
        free(all);
        run_free(&run);
    }
    /* small ones of the formats that no real file is here for */
    static const struct {
        const char *name;
        leat_can_format format;
        int64_t lines, frames;
        bool labelled;
    } made[] = {
        {"hcrl.csv", LEAT_CAN_HCRL, 8, 8, true},
        {"hcrl_normal.txt", LEAT_CAN_HCRL_TEXT, 6, 4, false},
        {"survival_free.txt", LEAT_CAN_SURVIVAL, 5, 5, false},
        {"survival_attack.txt", LEAT_CAN_HCRL, 5, 5, true},
        {"gvret_v2.csv", LEAT_CAN_GVRET, 4, 4, false},
        {"fd.log", LEAT_CAN_CANDUMP, 8, 5, false},
    };
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/tests/golden/can/%s", LEAT_SOURCE_DIR, made[i].name);
        can_run run;
        run_init(&run, 1);
        assert_ok(run_file(&run, path, err));
        assert_int_equal(run.files[0].format, made[i].format);
        assert_int_equal(run.files[0].lines, made[i].lines);
        assert_int_equal(run.frames, made[i].frames);
        assert_int_equal(run.files[0].labelled, made[i].labelled);
        run_free(&run);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_large),        cmocka_unit_test(test_rejected),
        cmocka_unit_test(test_odd_files),    cmocka_unit_test(test_rejected_share),
        cmocka_unit_test(test_max_rejected), cmocka_unit_test(test_late_buses),
        cmocka_unit_test(test_failures),     cmocka_unit_test(test_samples),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    core_dir_remove();
    return failed;
}
