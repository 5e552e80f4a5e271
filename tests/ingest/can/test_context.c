/* Lines that are judged beside others: times of 0, a last line without an end, fractions without
 * leading zeros, lines before the first frame. The same with any number of threads. */
#include "source_support.h"

#include <sys/stat.h>

#include "ingest/can/read/scan.h"

typedef struct counted {
    pthread_mutex_t lock;
    int64_t zeros; /* frames with the time 0 */
} counted;

static leat_code count(void *context, int worker, const leat_can_batch *batch, leat_error *err) {
    (void)worker;
    (void)err;
    counted *of = context;
    pthread_mutex_lock(&of->lock);
    for (int64_t i = 0; i < batch->count; i++) of->zeros += batch->lines[i].time == 0;
    pthread_mutex_unlock(&of->lock);
    return LEAT_OK;
}

/* Scans a text; `found` is "frames, of them with time 0; what is rejected", or the error. */
static void scan_text(const char *text, leat_can_line_options lines, double max_rejected,
                      int threads, char found[LEAT_MESSAGE_BYTES]) {
    const char *path = source_text("x.log", text);
    leat_input_list inputs;
    leat_can_file file;
    leat_error err[1] = {0};
    counted of = {.zeros = 0};
    lines.canonical = true;
    pthread_mutex_init(&of.lock, NULL);
    const leat_can_scan_options options = {.lines = lines,
                                           .max_rejected = max_rejected,
                                           .threads = threads,
                                           .batch = count,
                                           .batch_context = &of};
    assert_ok(leat_inputs_find(&path, 1, &leat_can_inputs, &inputs, err));
    leat_code code = leat_can_scan(&inputs, &options, &file, err);
    if (code != LEAT_OK) {
        snprintf(found, LEAT_MESSAGE_BYTES, "%s", err->message);
    } else {
        size_t used = (size_t)snprintf(found, LEAT_MESSAGE_BYTES, "%lld %lld;",
                                       (long long)file.frames, (long long)of.zeros);
        for (int i = 0; i < LEAT_CAN_REJECT_COUNT; i++) {
            if (file.rejected[i] > 0)
                used += (size_t)snprintf(found + used, LEAT_MESSAGE_BYTES - used, " %lld %s",
                                         (long long)file.rejected[i], leat_can_rejects.reasons[i]);
        }
    }
    leat_input_list_free(&inputs);
    pthread_mutex_destroy(&of.lock);
}

static void expect(const char *name, const char *text, leat_can_line_options lines,
                   double max_rejected, const char *want) {
    for (int threads = 1; threads <= 3; threads += 2) {
        char found[LEAT_MESSAGE_BYTES];
        scan_text(text, lines, max_rejected, threads, found);
        if (strcmp(found, want) == 0 || strstr(found, want) != NULL) continue;
        print_error("%s, %d threads: %s\n  wanted %s\n  of %.400s\n", name, threads, found, want,
                    text);
        fail();
    }
}

/* Lines of a log, made one by one. */
typedef struct text {
    char *bytes;
    size_t size;
} text;
static void add(text *to, const char *format, ...) LEAT_PRINTF(2, 3);
static void add(text *to, const char *format, ...) {
    enum { LINE_BYTES = 200 };
    va_list args;
    va_start(args, format);
    to->bytes = realloc(to->bytes, to->size + LINE_BYTES);
    to->size += (size_t)vsnprintf(to->bytes + to->size, LINE_BYTES, format, args);
    va_end(args);
}

static const leat_can_line_options strict = {.strict = true};

/* ---- times of 0 ---- */

#define LOG(time) "(" time ") can0 123#0A0B\n"
#define ASC_HEAD "date Tue Mar 3 10:00:00 2020\nbase hex  timestamps absolute\n"
#define ASC(time) time " 1  123 Rx d 2 0A 0B\n"

static void test_zeros(void **state) {
    (void)state;
    static const struct {
        const char *name, *text, *want;
    } cases[] = {
        {"since 1970", LOG("1600000000.1") LOG("0.0") LOG("1600000000.2") LOG("1600000000.3"),
         "3 0; 1 timestamp_zero"},
        {"at its beginning", LOG("0.000000") LOG("0") LOG("1600000000.2") LOG("1600000000.3"),
         "2 0; 2 timestamp_zero"},
        {"at its end", LOG("1600000000.2") LOG("1600000000.3") LOG("0.000000"),
         "2 0; 1 timestamp_zero"},
        {"from its beginning", LOG("0.0") LOG("0.0") LOG("0.2") LOG("0.3"), "4 2;"},
        {"only zeros", LOG("0.0") LOG("0.0"), "2 2;"},
        {"late", LOG("0.0") LOG("8.0") LOG("0.0") LOG("8.1") LOG("8.05"), "4 1; 1 timestamp_zero"},
        {"begins again", LOG("7.0") LOG("9.0") LOG("0.0") LOG("0.0") LOG("0.5"), "5 2;"},
        {"a trigger", LOG("-7.0") LOG("0.0") LOG("0.5") LOG("1"), "4 1;"},
        {"before a trigger", LOG("-7.0") LOG("0.0") LOG("-6.9") LOG("1"), "3 0; 1 timestamp_zero"},
        {"asc", ASC_HEAD ASC("0.5") ASC("0.000000") ASC("0.7"), "2 0; 1 timestamp_zero"},
        {"csv", "time_ms,id,data\n5,1A,00\n0.000,1A,00\n7,1A,00\n9,1A,00\n",
         "3 0; 1 timestamp_zero"},
        {"remote frames", LOG("1600000000.1") "(0.0) can0 123#R\n" LOG("1600000000.2"),
         "2 0; 1 remote_frame"},
        {"most", LOG("0") LOG("1600000000.1") LOG("0") LOG("0"),
         "the times of 3 of its 4 lines are 0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(cases[i].name, cases[i].text, strict, 0, cases[i].want);
    expect("most are allowed", LOG("0") LOG("1600000000.1") LOG("0") LOG("0"), strict, 0.75,
           "1 0; 3 timestamp_zero");
    leat_can_line_options gaps = strict;
    gaps.times = LEAT_TIMES_GAP; /* times are added up: the first two are 0 */
    expect("gaps", LOG("0.0") LOG("0.0") LOG("0.5") LOG("0.0"), gaps, 0, "4 2;");
}

/* Blocks have 8,192 lines. */
static void test_zeros_between_blocks(void **state) {
    (void)state;
    text log = {NULL, 0};
    for (int i = 0; i < 17000; i++) {
        bool zero = (i > 8180 && i < 8200) || i == 16383;
        add(&log, "(%d.%06d) can0 123#0A\n", zero ? 0 : 50 + i / 1000, zero ? 0 : i % 1000 * 1000);
    }
    expect("blocks", log.bytes, strict, 0, "16980 0; 20 timestamp_zero");
    log.size = 0;
    for (int i = 0; i < 18000; i++) /* a clock that is set late */
        add(&log, "(%d.%06d) can0 123#0A\n", i < 8400 ? 0 : 1600000000 + i / 1000,
            i < 8400 ? 0 : i % 1000 * 1000);
    expect("late", log.bytes, strict, 0, "9600 0; 8400 timestamp_zero");
    log.size = 0;
    for (int i = 0; i < 9000; i++) add(&log, "(%d) can0 123#0A\n", i < 8400 ? 0 : 1);
    expect("whole seconds", log.bytes, strict, 0, "9000 8400;");
    free(log.bytes);
}

/* Gaps of 0, which are no times of 0, in a log that nothing says has gaps. */
static void test_zero_gaps(void **state) {
    (void)state;
    text log = {NULL, 0};
    for (int i = 0; i < 400; i++) add(&log, "(0.%03d) can0 123#0A\n", i % 3 == 0 ? 1 : 0);
    expect("gaps of whole milliseconds", log.bytes, strict, 0, "they seem to be gaps");
    free(log.bytes);
}

/* ---- the last line ---- */

#define RUN(data) "(1.5) can0 123#" data
#define CSV_HEAD "timestamp,id,data\n"
#define COLUMNS "timestamp,id,d0,d1,d2\n"

static void test_last_line(void **state) {
    (void)state;
    static const struct {
        const char *name, *text, *want;
        bool lenient;
    } cases[] = {
        {"bytes", RUN("0A0B0C0D") "\n" RUN("0A0B"), "1 0; 1 truncated_last_line", false},
        {"no bytes", RUN("0A0B0C0D") "\n" RUN(""), "1 0; 1 truncated_last_line", false},
        {"an end", RUN("0A0B0C0D") "\n" RUN("0A0B") "\n", "2 0;", false},
        {"half an end", RUN("0A0B0C0D") "\r\n" RUN("0A0B") "\r", "2 0;", false},
        {"complete", RUN("0A0B0C0D") "\n" RUN("0A0B0C0D"), "2 0;", false},
        {"another is short", RUN("0A0B0C0D") "\n" RUN("0A") "\n" RUN("0A0B"), "3 0;", false},
        {"the only one", "(1.5) can0 124#0A0B0C0D\n" RUN("0A0B"), "2 0;", false},
        {"with a direction", RUN("0A0B0C0D T\n") RUN("0A0B"), "1 0; 1 truncated_last_line", false},
        {"before a direction", RUN("0A0B0C0D T\n") RUN("0A0B T"), "2 0;", false},
        {"half a byte", RUN("0A0B\n") RUN("0A0"), "1 0; 1 payload_unparsable", false},
        {"half a byte, lenient", RUN("0A0B\n") RUN("0A0"), "1 0; 1 truncated_last_line", true},
        {"shown", "(1.5) can0 123 [2] 0A 0B\n(1.6) can0 123 [2] 0A", "1 0; 1 malformed_line",
         false},
        {"shown, half a byte", "(1.5) can0 123 [2] 0A 0B\n(1.6) can0 123 [2] 0A 0",
         "1 0; 1 truncated_last_line", false},
        {"csv", CSV_HEAD "1,1A,0A0B\n2,1A,0A", "1 0; 1 truncated_last_line", false},
        {"csv of blanks", CSV_HEAD "1,1A,0A 0B\n2,1A,0A", "1 0; 1 truncated_last_line", false},
        {"csv with a label", "timestamp,id,data,label\n1,1A,0A0B,0\n2,1A,0A,0", "2 0;", false},
        {"csv with a length", "timestamp,id,dlc,data\n1,1A,2,0A0B\n2,1A,1,0A", "2 0;", false},
        {"columns", COLUMNS "1,1A,0A,0B,0C\n2,1A,0A,0B", "1 0; 1 truncated_last_line", false},
        {"half a column", COLUMNS "1,1A,0A,0B,0C\n2,1A,0A,0B,0", "1 0; 1 truncated_last_line",
         false},
        {"columns of one digit", COLUMNS "1,1A,A,B,C\n2,1A,A,B,0", "2 0;", false},
        {"cl2000", "Timestamp;Type;ID;Data\n11T081712003;0;1a;0a0b\n11T081712004;0;1a;0a",
         "1 0; 1 truncated_last_line", false},
        {"asc, half a byte", ASC_HEAD ASC("0.5") "0.6 1  123 Rx d 2 0A 0",
         "1 0; 1 truncated_last_line", false},
        {"asc", ASC_HEAD ASC("0.5") "0.6 1  123 Rx d 2 0A 0B  Length = 2", "2 0;", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_can_line_options lines = {.strict = !cases[i].lenient};
        expect(cases[i].name, cases[i].text, lines, 0, cases[i].want);
    }
}

/* A frame that is as short may be in any block. */
static void test_last_line_of_blocks(void **state) {
    (void)state;
    for (int place = -1; place < 17000; place += 8500) {
        text log = {NULL, 0};
        for (int i = 0; i < 17000; i++)
            add(&log, "(%d.%03d) can0 123#%s\n", 5 + i / 1000, i % 1000,
                i == place ? "0A" : "0A0B");
        add(&log, "(22.5) can0 123#0A");
        expect("blocks", log.bytes, strict, 0,
               place < 0 ? "17000 0; 1 truncated_last_line" : "17001 0;");
        free(log.bytes);
    }
}

/* ---- fractions ---- */

static void test_fractions(void **state) {
    (void)state;
    static const char why[] = "its times go back by just under a second 9 times, first at line 5, "
                              "where the fraction of a second gets another digit";
    leat_can_line_options clock = strict, any = strict;
    text log = {NULL, 0}, padded = {NULL, 0}, trimmed = {NULL, 0};
    clock.times = LEAT_TIMES_CLOCK;
    any.any_order = true;
    for (int i = 1; i < 1800; i++) {
        int64_t us = i * INT64_C(2250);
        add(&log, "(%d.%d) can0 123#0A\n", (int)(us / 1000000), (int)(us % 1000000));
        add(&padded, "(%d.%06d) can0 123#0A\n", (int)(us / 1000000), (int)(us % 1000000));
        /* a fraction whose zeros at the end are left out; every 100th frame is half a second late
         */
        add(&trimmed, "(%g) can0 123#0A\n", (double)us / 1e6 - (i % 100 == 0 ? 0.5 : 0));
    }
    expect("unpadded", log.bytes, strict, 0, why);
    expect("in any order", log.bytes, any, 0, why);
    expect("of a clock", log.bytes, clock, 0, "1799 0;");
    expect("padded", padded.bytes, strict, 0, "1799 0;");
    expect("trimmed", trimmed.bytes, strict, 0, "1799 0;");
    free(log.bytes);
    free(padded.bytes);
    free(trimmed.bytes);
}

/* ---- lines before the first frame ---- */

#define BUS_HEAD                                                                                   \
    "***BUSMASTER Ver 3.2.2***\n***PROTOCOL CAN***\n***[START LOGGING SESSION]***\n"               \
    "***START DATE AND TIME 3:3:2020 1:2:0:0***\n***HEX***\n***SYSTEM MODE***\n"
#define CHN "Chn Identifier Flg   DLC  D0...1...2...3...4...5...6..D7       Time     Dir\n"
#define SPY                                                                                        \
    "Network Description,Hardware,Network,Protocol,Baud Rate\nHS CAN,neoVI,HS CAN,CAN,500000,\n"   \
    "Line,Abs Time(Sec),Rel Time (Sec),Er,Tx,Description,Network,Node,Arb ID,Remote,Xtd,B1,B2\n"
#define SPY_ROW(line) line ",2.5,0,F,F,x,HS CAN,,2CC,F,F,59,0A\n"

static void test_lines_before_frames(void **state) {
    (void)state;
    static const struct {
        const char *name, *text, *want;
    } cases[] = {
        {"busmaster", BUS_HEAD "1:2:3:4 Rx 1 1A s 1 0A\n1:2:3:0005 Rx 1 1A s 1 0A\n",
         "1 0; 1 timestamp_unparsable"},
        {"busmaster of ms", BUS_HEAD "1:2:3:004 Rx 1 1A s 1 0A\n1:2:3:005 Rx 1 1A s 1 0A\n",
         "2 0;"},
        {"busmaster, a note",
         "a note\n" BUS_HEAD "1:2:3:0005 Rx 1 1A s 1 0A\n"
         "1:2:3:0006 Rx 1 1A s 1 0A\n",
         "2 0; 1 timestamp_unparsable 6 not_a_frame"},
        {"asc", ASC_HEAD "0,1 1 1A Rx d 1 0A\n0.2 1 1A Rx d 1 0A\n", "1 0; 1 not_a_frame"},
        {"asc, sessions",
         "// of a tool\n" ASC_HEAD "no internal events logged\n"
         "Begin Triggerblock Tue Mar 3\n0.2 1 1A Rx d 1 0A\n",
         "1 0;"},
        {"canking", CHN "r 0 000001FF 1 0A 0.5 R\n 0 000001FF 1 0A 0.6 R\n", "1 0; 1 not_a_frame"},
        {"vehicle spy", SPY SPY_ROW("x1") SPY_ROW("2"), "1 0; 1 not_a_frame"},
        {"vehicle spy, rows first", SPY_ROW("1") SPY SPY_ROW("2"), "2 0; 3 not_a_frame"},
        {"candump", "(1,5) can0 123#0A\n" LOG("1.6") LOG("1.7"), "2 0; 1 timestamp_unparsable"},
        {"csv", CSV_HEAD "x,1A,00\n1,1A,00\n2,1A,00\n", "2 0; 1 timestamp_unparsable"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(cases[i].name, cases[i].text, strict, 0, cases[i].want);
    text log = {NULL, 0}; /* more than the lines that decide the format */
    add(&log, "%s",
        "***BUSMASTER Ver 3.2.2***\n***PROTOCOL CAN***\n***[START LOGGING SESSION]***\n");
    add(&log, "%s", "***START DATE AND TIME 3:3:2020 1:2:0:0***\n***HEX***\n***SYSTEM MODE***\n");
    for (int i = 0; i < 2000; i++)
        add(&log, "1:2:3:%s%d Rx 1 1A s 1 0A\n", i < 500 ? "x" : "", 1000 + i);
    expect("many", log.bytes, strict, 0,
           "500 of its 2000 lines are rejected as busmaster: line 7 timestamp_unparsable: "
           "1:2:3:x1000");
    expect("many, allowed", log.bytes, strict, 0.25, "1500 0; 500 timestamp_unparsable");
    free(log.bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zeros),
        cmocka_unit_test(test_zeros_between_blocks),
        cmocka_unit_test(test_zero_gaps),
        cmocka_unit_test(test_last_line),
        cmocka_unit_test(test_fractions),
        cmocka_unit_test(test_last_line_of_blocks),
        cmocka_unit_test(test_lines_before_frames),
    };
    return cmocka_run_group_tests_name("lines beside others", tests, NULL, core_teardown);
}
