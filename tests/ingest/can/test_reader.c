/* Frames one by one: those that an ingest of the same log takes, in its order, however the text
 * arrives; as soon as their lines do; and in bounded memory, whatever it is. */
/* TSan: a writer at the other end of a pipe. */
#include "source_support.h"

#include <math.h>
#include <pthread.h>
#include <unistd.h>

#include "golden_files.h"
#include "ingest/can/read/column_option.h"
#include "ingest/can/read/scan.h"
#include "text_pieces.h"

/* ---- the same log, by a scan ---- */

typedef struct scanned {
    leat_can_line *lines;
    int64_t count;
    leat_can_file file;
} scanned;

static leat_code keep(void *context, int worker, const leat_can_batch *batch, leat_error *err) {
    scanned *of = context;
    (void)worker;
    (void)err;
    const size_t size = (size_t)(of->count + batch->count) * sizeof *of->lines;
    of->lines = realloc(of->lines, size + 1);
    memcpy(of->lines + of->count, batch->lines, (size_t)batch->count * sizeof *of->lines);
    of->count += batch->count;
    return LEAT_OK;
}

/* What it refuses for its number of rejected lines is not the reader's to refuse. */
static leat_code scan(const char *path, const leat_can_settings *settings, scanned *of,
                      leat_error *err) {
    static leat_can_mapping mapping;
    leat_input_list inputs = {0};
    *of = (scanned){0};
    mapping = (leat_can_mapping){0};
    LEAT_TRY(leat_can_mapping_read(&mapping, settings, err));
    LEAT_TRY(leat_inputs_find(&path, 1, &leat_can_inputs, &inputs, err));
    const leat_can_scan_options options = {.format = settings->format,
                                           .lines = leat_can_lines_of(settings, &mapping),
                                           .max_rejected = 1,
                                           .threads = 1,
                                           .batch = keep,
                                           .batch_context = of};
    const leat_code code = leat_can_scan(&inputs, &options, &of->file, err);
    leat_input_list_free(&inputs);
    return code;
}

/* ---- text in pieces ---- */

static leat_can_frames_options options_of(const leat_can_settings *settings) {
    leat_can_frames_options options = leat_can_frames_options_default();
    options.settings = *settings;
    return options;
}

static leat_can_settings plain_settings(void) { return leat_can_frames_options_default().settings; }

/* ---- both ---- */

static void compare(const char *name, const scanned *of, leat_can_frame_reader *reader) {
    leat_can_frame frame;
    bool found = true;
    int64_t line = 0;
    for (int64_t i = 0; found; i++) {
        assert_ok(leat_can_frames_next(reader, &frame, &found, err));
        if (found != (i < of->count))
            fail_msg("%s: %lld frames, a scan has %lld", name, (long long)(i + found),
                     (long long)of->count);
        if (!found) break;
        const leat_can_line *want = &of->lines[i];
        const bool same = memcmp(&frame.time_s, &want->time, sizeof want->time) == 0 &&
                          memcmp(frame.id, want->id, sizeof want->id) == 0 &&
                          frame.id[LEAT_CAN_ID_BYTES] == 0 &&
                          memcmp(frame.bytes, want->bytes, sizeof want->bytes) == 0 &&
                          frame.bus == want->bus && frame.size_bytes == want->size_bytes &&
                          (frame.label == 1) == want->attack && frame.line > line;
        if (!same)
            fail_msg("%s: frame %lld: %.17g %s, a scan has %.17g %.16s", name, (long long)i,
                     frame.time_s, frame.id, want->time, want->id);
        line = frame.line;
    }
    leat_can_frames_counts counts;
    leat_can_frames_count(reader, &counts);
    assert_int_equal(counts.format, of->file.format);
    assert_int_equal(counts.lines, of->file.lines);
    assert_int_equal(counts.frames, of->file.frames);
    assert_int_equal(counts.frames_cut, of->file.frames_cut);
    int reasons = 0;
    int64_t rejected = 0;
    for (int i = 0; i < LEAT_CAN_REJECT_COUNT; i++) {
        if (of->file.rejected[i] == 0) continue;
        assert_string_equal(counts.reject_reason[reasons], leat_can_rejects.reasons[i]);
        assert_int_equal(counts.reject_count[reasons++], of->file.rejected[i]);
        rejected += of->file.rejected[i];
    }
    assert_int_equal(counts.reject_reasons, reasons);
    assert_int_equal(counts.rejected, rejected);
    assert_int_equal(counts.first_rejected > 0, rejected > 0);
}

/* The file, and its text in pieces of these sizes. */
static int64_t both(const char *path, const leat_can_settings *settings, int64_t piece_bytes) {
    const leat_can_frames_options options = options_of(settings);
    leat_can_frame_reader *reader = NULL;
    scanned of;
    assert_ok(scan(path, settings, &of, err));
    assert_ok(leat_can_frames_open(&reader, path, &options, err));
    compare(path, &of, reader);
    leat_can_frames_close(reader);
    if (piece_bytes > 0) {
        core_image image = core_load(path);
        for (int64_t size = 1; size <= piece_bytes; size *= 16) {
            text_pieces text = {image.data, image.size_bytes, 0, size};
            const leat_can_frames_source source = text_pieces_source(&text);
            assert_ok(leat_can_frames_open_source(&reader, &source, path, &options, err));
            compare(path, &of, reader);
            leat_can_frames_close(reader);
        }
        free(image.data);
    }
    free(of.lines);
    return of.count;
}

/* ---- logs ---- */

static void golden_logs(void **state) {
    (void)state;
    static const char *const names[] = {
        "can/fd.log",
        "can/gvret_v2.csv",
        "can/hcrl.csv",
        "can/hcrl_normal.txt",
        "can/survival_attack.txt",
        "can/survival_free.txt",
        "can_shapes/can_train_and_test.csv",
        "can_shapes/candump_labels.log",
        "can_shapes/challenge.csv",
        "can_shapes/ciciov2024.csv",
        "can_shapes/crysys.log",
        "can_shapes/daga.csv",
        "can_shapes/label_name.csv",
        "can_shapes/otids.csv",
        "can_shapes/otids_bytes.csv",
        "can_shapes/python_can.csv",
        "can_shapes/semicolons.csv",
    };
    const leat_can_settings plain = plain_settings();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[512];
        snprintf(path, sizeof path, LEAT_SOURCE_DIR "/tests/golden/%s", names[i]);
        leat_can_settings settings = plain;
        if (strstr(names[i], "ciciov2024") != NULL) settings.no_time = 1000;
        if (strstr(names[i], "otids") != NULL) settings.column = "id=IntID1:dec";
        if (strstr(names[i], "semicolons") != NULL)
            settings.column = "time=T:us,id=Message:dec,data=Payload:dec,label=Verdict";
        assert_true(both(path, &settings, 256) > 0);
    }
    leat_can_settings settings = plain;
    settings.column = "time=1,id=2,dlc=3,data=4..11,label=12";
    assert_true(both(LEAT_SOURCE_DIR "/tests/golden/can_shapes/no_header.tsv", &settings, 1) > 0);
}

static void real_logs(void **state) {
    (void)state;
    static const char *const names[] = {"data/can/candump/truck_15s.log",
                                        "data/can/gvret/kona_no_key.csv.gz",
                                        "data/can/gvret/outlander_parking_brake.csv.gz"};
    const leat_can_settings settings = plain_settings();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_true(both(golden_path(names[i]), &settings, 0) > 1000);
}

#define ROWS4(row) row row row row
static const char *const texts[] = {
    /* formats that the golden files do not have */
    "date Mon Jan 1 00:00:00 1970\nbase hex  timestamps absolute\n"
    "0.100000 1 123 Rx d 2 01 02\n0.200000 1 1234x Rx d 1 ff\n0.3 1 ErrorFrame\n",
    ";$FILEVERSION=1.1\n;$STARTTIME=0\n     1)      1841.5  Rx   0001  2  01 02\n"
    "     2)      1842.5  Rx   00000123  0\n",
    "Chn Identifier Flg   DLC  D0...1...2...3...4...5...6..D7       Time     Dir\n"
    " 0    000007E8         8  03  59  02  FF  00  00  00  00     395.000970 R\n"
    " 0    00000123   R     8                                     395.000970 R\nLogging stopped.\n",
    "# Logger type: CL2000\n# HW rev: 6.0x\n# Session No.: 35\n# Time: 19700211T081712\n"
    "# Time format: 4\n# Time separator: \"\"\n# Time separator ms: \"\"\n# Date separator: \"\"\n"
    "# Time and date separator: \"T\"\n# Bit-rate: 500000\n# Silent mode: false\n"
    "# Cyclic mode: "
    "false\nTimestamp;Type;ID;Data\n11T081712003;0;282;5000\n10T081711999;0;282;50\n",
    "***BUSMASTER Ver 3.2.2***\n***PROTOCOL CAN***\n***NOTE: PLEASE DO NOT EDIT***\n"
    "***[START LOGGING SESSION]***\n***START DATE AND TIME 1:1:1970 23:59:58:900***\n***HEX***\n"
    "***SYSTEM MODE***\n***START CHANNEL BAUD RATE***\n***CHANNEL 1 - x - 500000 bps***\n"
    "***END CHANNEL BAUD RATE***\n***<Time><Tx/Rx><Channel><CAN ID><Type><DLC><DataBytes>***\n"
    "23:59:58:9021 Rx 1 0x385 s 8 70 00 00 00 D8 7F FF 00 \n0:0:1:0000 Rx 1 0x1 s 1 01\n"
    "22:59:58:0000 Rx 1 0x1 s 1 01\n***[STOP LOGGING SESSION]***",
    "{\"bus\":1,\"id\":288,\"data\":\"0x0102\",\"timestamp\":1.5}\n"
    "{\"timestamp\":2,\"name\":\"vehicle_speed\",\"value\":45}\n",
    /* buses by name, blank lines, CRLF, a byte order mark, rejected lines, no last line end */
    "\xef\xbb\xbf\r\n\n(1.0) vcan3 123#01\r\n\n(1.1) can3 123#02\n(1.2) slcan 7FF#\nwhat\n"
    "(1.3) vcan3 123##30102\n(1.3) can3 123#R\n(1.4) can3 20000001#00\n(x) can3 123#\n"
    "(1.5) can3 123#0\n(1.6) another 12345678#0102030405060708",
    /* times of 0: of frames that were not received; of a clock that begins; and begins again */
    "(1580000000.5) can0 1#\n",
    "(1580000000.5) can0 001#\n(0.0) can0 002#\n(0.0) can0 003#\n(1580000000.6) can0 001#\n",
    "(0.0) can0 001#\n(0.0) can0 002#\n(0.5) can0 001#\n",
    "(0.0) can0 001#\n(0.0) can0 002#\n(1580000000.5) can0 001#\n(0) can0 002#\n",
    "(9.0) can0 001#\n(0.0) can0 002#\nno frame\n(0.1) can0 001#\n(0.2) can0 001#\n(0) can0 004#",
    "(-1.0) can0 001#\n(0.0) can0 002#\n(1.0) can0 003#\n(0.0) can0 002#\n",
    /* last lines that were truncated, or not */
    ROWS4("(1.0) can0 001#0102\n") "(1.1) can0 001#01",
    ROWS4("(1.0) can0 001#0102\n") "(1.1) can0 002#01",
    ROWS4("(1.0) can0 001#01\n") "(1.1) can0 001#0102\n(1.2) can0 001#01",
    ROWS4("(1.0) can0 001#0102\n") "(1.1) can0 001#01\r",
    "1.0,0x1,2,01,02,R\n1.1,0x1,2,01,02,R\n1.2,0x1,2,01,0",
    "time,id,data\n1,1,0A 0B\n2,1,0A 0B\n3,1,0A B",
    "time,id,data\n1,1,A B\n2,1,A C\n3,1,A B",
    /* nothing */
    "",
    "\n\r\n\n",
};

static void odd_logs(void **state) {
    (void)state;
    const leat_can_settings settings = plain_settings();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *path = source_text("odd.log", texts[i]);
        leat_can_frame_reader *reader = NULL;
        const leat_can_frames_options options = options_of(&settings);
        scanned of;
        leat_error want = {0}, got = {0};
        leat_can_frame frame;
        bool found = true;
        if (scan(path, &settings, &of, &want) == LEAT_OK) {
            both(path, &settings, 300);
        } else {
            assert_ok(leat_can_frames_open(&reader, path, &options, err));
            leat_code code = LEAT_OK;
            while (found && code == LEAT_OK)
                code = leat_can_frames_next(reader, &frame, &found, &got);
            assert_int_equal(code, want.code);
            assert_string_equal(got.message, want.message);
            leat_can_frames_close(reader);
        }
        free(of.lines);
    }
}

/* Gaps that are added up, with --times, and with rejected lines between them. */
static void gaps(void **state) {
    (void)state;
    leat_can_settings settings = plain_settings();
    settings.times = LEAT_TIMES_GAP;
    leat_buf text = {0};
    for (int i = 0; i < 20000; i++)
        assert_ok(leat_buf_printf(&text, err, "(%s0.%06d) can%d 123#%s\n", i % 997 == 5 ? "-" : "",
                                  (i * 7919) % 1000, i % 2,
                                  i % 13 == 5   ? "R"
                                  : i % 17 == 5 ? "0"
                                                : "01"));
    core_save(core_path("gaps.log"), text.data, text.size);
    leat_buf_free(&text);
    assert_true(both(core_path("gaps.log"), &settings, 0) > 15000);
    /* and without, they are refused, as soon as they show */
    settings.times = LEAT_TIMES_AUTO;
    const leat_can_frames_options options = options_of(&settings);
    leat_can_frame_reader *reader = NULL;
    leat_can_frame frame;
    leat_error why = {0};
    bool found = true;
    int64_t frames = 0;
    assert_ok(leat_can_frames_open(&reader, core_path("gaps.log"), &options, err));
    while (leat_can_frames_next(reader, &frame, &found, &why) == LEAT_OK && found) frames++;
    assert_int_equal(why.code, LEAT_ERR_INPUT);
    assert_non_null(strstr(why.message, "use --times gap to add them up, or --times clock"));
    assert_int_equal(frames, LEAT_CAN_SAMPLE_LINES - 1);
    assert_fails(leat_can_frames_next(reader, &frame, &found, err), LEAT_ERR_INPUT, "--times gap");
    leat_can_frames_close(reader);
}

/* Fractions of a second without leading zeros: refused with the third step that shows it, in the
 * words of a scan. */
static void unpadded(void **state) {
    (void)state;
    const leat_can_settings settings = plain_settings();
    leat_buf text = {0};
    for (int i = 0; i < 4000; i++)
        assert_ok(leat_buf_printf(&text, err, "(%d.%d) can0 123#01\n", i / 1000, i % 1000 * 1000));
    core_save(core_path("unpadded.log"), text.data, text.size);
    leat_buf_free(&text);
    const leat_can_frames_options options = options_of(&settings);
    leat_can_frame_reader *reader = NULL;
    leat_can_frame frame;
    leat_error why = {0};
    scanned of;
    bool found = true;
    int64_t frames = 0;
    assert_fails(scan(core_path("unpadded.log"), &settings, &of, err), LEAT_ERR_INPUT,
                 "without leading zeros");
    free(of.lines);
    assert_ok(leat_can_frames_open(&reader, core_path("unpadded.log"), &options, err));
    while (leat_can_frames_next(reader, &frame, &found, &why) == LEAT_OK && found) frames++;
    assert_int_equal(why.code, LEAT_ERR_INPUT);
    assert_non_null(strstr(why.message, "just under a second 3 times, first at line 11, "));
    assert_true(frames > 256 && frames < 2000);
    leat_can_frames_close(reader);
    leat_can_settings clock = settings;
    clock.times = LEAT_TIMES_CLOCK;
    assert_int_equal(both(core_path("unpadded.log"), &clock, 0), 4000);
}

/* ---- what is not a log ---- */

static void refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *want;
        leat_can_format format;
    } cases[] = {
        {"a novel\nof two lines\n", "begins with \"a\", \"novel\"", LEAT_CAN_AUTO},
        {"(1.0) can0 001#\n", "do not match format asc; the file looks like candump", LEAT_CAN_ASC},
        {"(1.0) can0 001#\r(1.1) can0 001#\r(1.2) can0 001#\r", "end with CR only", LEAT_CAN_AUTO},
        {"(1.0) can0 001#\n(1.0) can0 001#\r(1.1) can0 001#\r(1.2) can0 001#\r(1.3) can0 "
         "001#\r(1.4)\n",
         "end with CR only", LEAT_CAN_AUTO},
        {"time,id,data\n1,123,00\n2,123,00\nid,time,data\n",
         "line 4 is a header with other columns", LEAT_CAN_AUTO},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_can_settings settings = plain_settings();
        settings.format = cases[i].format;
        const leat_can_frames_options options = options_of(&settings);
        text_pieces text = {(const uint8_t *)cases[i].text, (int64_t)strlen(cases[i].text), 0, 5};
        const leat_can_frames_source source = text_pieces_source(&text);
        leat_can_frame_reader *reader = NULL;
        leat_can_frame frame;
        leat_error why = {0};
        bool found = true;
        assert_ok(leat_can_frames_open_source(&reader, &source, "the log", &options, err));
        while (leat_can_frames_next(reader, &frame, &found, &why) == LEAT_OK && found) continue;
        if (why.code != LEAT_ERR_INPUT) fail_msg("case %d: %s", (int)i, why.message);
        assert_false(found);
        if (strstr(why.message, cases[i].want) == NULL) fail_msg("%s", why.message);
        assert_non_null(strstr(why.message, "\"the log\""));
        leat_can_frames_close(reader);
    }
    leat_can_frames_options options = leat_can_frames_options_default();
    leat_can_frame_reader *reader = NULL;
    assert_fails(leat_can_frames_open(&reader, "/nowhere/at.all", &options, err),
                 LEAT_ERR_NOT_FOUND, "/nowhere/at.all");
    assert_null(reader);
    options.sample_lines = 257;
    assert_fails(leat_can_frames_open_fd(&reader, 0, "in", &options, err), LEAT_ERR_OPTION,
                 "sample_lines must be between 1 and 256, not 257");
    options.sample_lines = 1;
    assert_fails(leat_can_frames_open_fd(&reader, -1, "in", &options, err), LEAT_ERR_IO, "\"in\"");
    options.settings.format = LEAT_CAN_ASC;
    options.settings.column = "time=1";
    assert_fails(leat_can_frames_open_fd(&reader, 0, "in", &options, err), LEAT_ERR_OPTION,
                 "--column describes a csv");
    assert_null(reader);
}

/* Lines of megabytes, NULs and bytes of any kind, between frames. */
static void garbage(void **state) {
    (void)state;
    const leat_can_settings settings = plain_settings();
    const int64_t sizes[] = {LEAT_LINE_BYTES_MAX - 1, LEAT_LINE_BYTES_MAX,
                             LEAT_LINE_BYTES_MAX + 1, LEAT_LINE_BYTES_MAX + 2,
                             LEAT_LINE_BYTES_MAX + 3, 3 << 20};
    leat_buf text = {0};
    for (int i = 0; i < 12; i++) {
        assert_ok(leat_buf_printf(&text, err, "(%d.5) can0 123#%02X\n", i, i));
        assert_ok(leat_buf_reserve(&text, sizes[i % 6], err));
        memset(text.data + text.size, i == 3 ? 0 : 128 + i, (size_t)sizes[i % 6]);
        text.size += sizes[i % 6];
        assert_ok(leat_buf_append(&text, i < 6 ? "\r\n" : "\n", i < 6 ? 2 : 1, err));
    }
    core_save(core_path("garbage.log"), text.data, text.size - 1); /* the last line has no end */
    leat_buf_free(&text);
    assert_int_equal(both(core_path("garbage.log"), &settings, 0), 12);
}

/* ---- a pipe ---- */

/* Frames come out before the pipe has more, and a reader that waits can be stopped. */
static bool stop(void *user) { return *(int *)user != 0; }
static bool stop_second(void *user) { return (*(int *)user)++ > 0; }

static void write_text(int fd, const char *text) {
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static void pipes(void **state) {
    (void)state;
    int ends[2], stopped = 0;
    assert_int_equal(pipe(ends), 0);
    leat_can_frames_options options = leat_can_frames_options_default();
    options.sample_lines = 1;
    options.cancelled = stop;
    options.cancelled_user = &stopped;
    leat_can_frame_reader *reader = NULL;
    assert_ok(leat_can_frames_open_fd(&reader, ends[0], "a pipe", &options, err));
    for (int i = 0; i < 1000; i++) {
        char text[64];
        leat_can_frame frame;
        bool found = false;
        snprintf(text, sizeof text, "(%d.5) can0 123#%02X\n(%d", i, i % 256, i + 1);
        /* the beginning of the next line is there already */
        write_text(ends[1], i == 0 ? text : text + (i < 10 ? 2 : i < 100 ? 3 : 4));
        assert_ok(leat_can_frames_next(reader, &frame, &found, err));
        assert_true(found && frame.time_s == i + 0.5 && frame.bytes[0] == i % 256);
        assert_int_equal(frame.line, i + 1);
    }
    stopped = 1;
    leat_can_frame frame;
    bool found = true;
    assert_fails(leat_can_frames_next(reader, &frame, &found, err), LEAT_ERR_CANCELLED,
                 "reading \"a pipe\" was cancelled");
    assert_false(found);
    leat_can_frames_close(reader);
    write_text(ends[1], "more"); /* the descriptor is still open */
    close(ends[0]);
    close(ends[1]);
}

/* A reader that is stopped before the format is known: whole lines that have arrived are used. */
static void stopped_early(void **state) {
    (void)state;
    int ends[2], asked = 0;
    leat_can_frames_options options = leat_can_frames_options_default();
    leat_can_frame_reader *reader = NULL;
    leat_can_frame frame;
    bool found = true;
    assert_int_equal(pipe(ends), 0);
    options.cancelled = stop_second;
    options.cancelled_user = &asked;
    assert_ok(leat_can_frames_open_fd(&reader, ends[0], "a pipe", &options, err));
    /* the last times of 0 ask for the next other one, which does not come either */
    write_text(ends[1], "(1.5) can0 123#01\n(2.5) can0 123#02\n(0.0) can0 123#03\n(3.5) can0 1");
    for (int i = 0; i < 2; i++) {
        assert_ok(leat_can_frames_next(reader, &frame, &found, err));
        assert_true(found && frame.time_s == i + 1.5);
    }
    assert_fails(leat_can_frames_next(reader, &frame, &found, err), LEAT_ERR_CANCELLED, "a pipe");
    leat_can_frames_counts counts;
    leat_can_frames_count(reader, &counts);
    assert_int_equal(counts.lines, 3);
    assert_int_equal(counts.frames + counts.rejected, 3);
    leat_can_frames_close(reader);
    close(ends[0]);
    close(ends[1]);
}

/* What a pipe has is not unpacked, and named. */
static void packed_pipe(void **state) {
    (void)state;
    static const struct {
        const char *bytes, *want;
    } cases[] = {{"\x1f\x8b\x08 what", "packed by gzip; unpack it first (zcat)"},
                 {"BZh91AY&SY what", "packed by bzip2; unpack it first (bzcat)"},
                 {"\x28\xb5\x2f\xfd\n", "packed by zstd; unpack it first (zstdcat)"}};
    const leat_can_frames_options options = leat_can_frames_options_default();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int ends[2];
        leat_can_frame_reader *reader = NULL;
        leat_can_frame frame;
        bool found = true;
        assert_int_equal(pipe(ends), 0);
        write_text(ends[1], cases[i].bytes);
        close(ends[1]);
        assert_ok(leat_can_frames_open_fd(&reader, ends[0], "a pipe", &options, err));
        assert_fails(leat_can_frames_next(reader, &frame, &found, err), LEAT_ERR_INPUT,
                     cases[i].want);
        leat_can_frames_close(reader);
        close(ends[0]);
    }
}

/* A writer that stops in the middle of lines, and ends. */
static void *write_slowly(void *user) {
    const int fd = *(int *)user;
    char text[64];
    for (int i = 0; i < 300; i++) {
        const int size = snprintf(text, sizeof text, "(%d.25) can%d 123#0102\n", i, i % 3);
        for (int at = 0; at < size; at += 7) {
            const int left = size - at < 7 ? size - at : 7;
            if (write(fd, text + at, (size_t)left) != left) return NULL;
        }
    }
    (void)!write(fd, "(300.25) can0 123#01", 20);
    close(fd);
    return NULL;
}

static void slow_pipe(void **state) {
    (void)state;
    int ends[2];
    pthread_t writer;
    leat_can_frame_reader *reader = NULL;
    const leat_can_frames_options options = leat_can_frames_options_default();
    leat_can_frames_counts counts;
    leat_can_frame frame;
    bool found = true;
    int frames = 0;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(pthread_create(&writer, NULL, write_slowly, &ends[1]), 0);
    assert_ok(leat_can_frames_open_fd(&reader, ends[0], "a pipe", &options, err));
    for (;; frames++) {
        assert_ok(leat_can_frames_next(reader, &frame, &found, err));
        if (!found) break;
        assert_true(frame.time_s == frames + 0.25);
        assert_int_equal(frame.bus, frames % 3);
        assert_int_equal(frame.label, -1);
    }
    assert_int_equal(frames, 300);
    leat_can_frames_count(reader, &counts);
    assert_int_equal(counts.rejected, 1);
    assert_string_equal(counts.first_reason, "truncated_last_line");
    assert_string_equal(counts.first_text, "(300.25) can0 123#01");
    assert_int_equal(counts.first_rejected, 301);
    leat_can_frames_close(reader);
    pthread_join(writer, NULL);
    close(ends[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_logs),   cmocka_unit_test(real_logs),   cmocka_unit_test(odd_logs),
        cmocka_unit_test(gaps),          cmocka_unit_test(unpadded),    cmocka_unit_test(refused),
        cmocka_unit_test(garbage),       cmocka_unit_test(pipes),       cmocka_unit_test(slow_pipe),
        cmocka_unit_test(stopped_early), cmocka_unit_test(packed_pipe),
    };
    return cmocka_run_group_tests(tests, NULL, core_teardown);
}
