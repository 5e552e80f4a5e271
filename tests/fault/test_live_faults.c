/*
 * Frames one by one, and windows of a running bus, with every allocation and every call into the
 * file system failing in turn; and with none that could fail, since no frame allocates: neither on
 * its way from a line to a window, nor to an alarm.
 */
#include "ingest/core_support.h"

#include <fcntl.h>
#include <unistd.h>

#include "count.h"
#include "leat/detect.h"
#include "leat/ingest.h"
#include "sweep.h"

enum { FRAMES = 2000 };

static void make_log(void) {
    FILE *log = fopen(core_path("bus.log"), "w");
    assert_non_null(log);
    for (int i = 0; i < FRAMES; i++)
        fprintf(log, "(%d.%03d) can%d %03X#%04X\n%s", i / 1000, i % 1000, i % 2, 0x100 + i * i % 31,
                i, i % 500 == 7 ? "what\n" : "");
    assert_int_equal(fclose(log), 0);
}

static leat_detect_context context_of(void) {
    static const char *const names[] = {"0:100", "0:101", "1:101", "1:104"};
    static const double intervals[] = {0.1, 0.1, 0.1, 0.1};
    return (leat_detect_context){.identifiers = names,
                                 .interval_s = intervals,
                                 .identifier_count = 4,
                                 .window = 50,
                                 .stride = 20,
                                 .bus = LEAT_BUS_SEPARATE,
                                 .has_bus = true,
                                 .split = true};
}

static leat_code create(leat_live **live, leat_alarms **alarms, leat_error *err) {
    const leat_detect_context context = context_of();
    const leat_live_options options = leat_live_options_default();
    LEAT_TRY(leat_live_create(live, &context, &options, err));
    return leat_alarms_create(alarms, 3, err);
}

/* All frames from `reader`; *windows. The faults begin after so many frames; -1: never. */
static leat_code follow(leat_can_frame_reader *reader, leat_live *live, leat_alarms *alarms,
                        int64_t faults_from, int64_t *windows, leat_error *err) {
    leat_can_frame frame;
    bool found = true;
    *windows = 0;
    for (int64_t i = 0;; i++) {
        leat_live_step step;
        leat_alarm_line lines[LEAT_ALARM_LINES_MAX];
        if (i == faults_from) set_fault(0, true);
        LEAT_TRY(leat_can_frames_next(reader, &frame, &found, err));
        if (!found) return LEAT_OK;
        LEAT_TRY(leat_live_add(live, &frame, &step, err));
        if (step.window == NULL) continue;
        const leat_alarm_window window = {.elapsed_s = step.window->elapsed_s,
                                          .bus = step.window->bus,
                                          .alarms = ++*windows % 3 != 0};
        (void)leat_alarms_add(alarms, &window, lines);
    }
}

static leat_code work(const void *of, leat_error *err) {
    const leat_can_frames_options options = leat_can_frames_options_default();
    leat_can_frame_reader *reader = NULL;
    leat_live *live = NULL;
    leat_alarms *alarms = NULL;
    int64_t windows = 0;
    const int fd = of == NULL ? -1 : open(core_path("bus.log"), O_RDONLY | O_CLOEXEC);
    leat_code code = of == NULL ? leat_can_frames_open(&reader, core_path("bus.log"), &options, err)
                                : leat_can_frames_open_fd(&reader, fd, "a pipe", &options, err);
    assert_int_equal(reader == NULL, code != LEAT_OK);
    if (code == LEAT_OK) code = create(&live, &alarms, err);
    if (code == LEAT_OK) code = follow(reader, live, alarms, -1, &windows, err);
    leat_alarms_destroy(alarms);
    leat_live_destroy(live);
    leat_can_frames_close(reader);
    if (of != NULL) close(fd);
    if (code == LEAT_OK) assert_int_equal(windows, 2 * ((FRAMES / 2 - 50) / 20 + 1));
    return code;
}

static void faults(void **state) {
    (void)state;
    make_log();
    sweep_faults(&(fault_sweep){.name = "a log", .work = work, .least = 20});
    sweep_faults(&(fault_sweep){.name = "a pipe", .work = work, .of = "", .least = 20});
}

/* From memory, so that reading cannot fail: after the first window of each bus nothing is left that
 * can. */
static const char *text;
static leat_code read_text(void *user, void *bytes, int64_t size_bytes, int64_t *got,
                           leat_error *err) {
    (void)user;
    (void)err;
    *got = (int64_t)strlen(text) < size_bytes ? (int64_t)strlen(text) : size_bytes;
    if (*got > 700) *got = 700;
    memcpy(bytes, text, (size_t)*got);
    text += *got;
    return LEAT_OK;
}

static void no_allocation(void **state) {
    (void)state;
    core_image image = core_load(core_path("bus.log"));
    char *copy = calloc(1, (size_t)image.size_bytes + 1);
    memcpy(copy, image.data, (size_t)image.size_bytes);
    text = copy;
    const leat_can_frames_options options = leat_can_frames_options_default();
    const leat_can_frames_source source = {read_text, NULL};
    leat_can_frame_reader *reader = NULL;
    leat_live *live = NULL;
    leat_alarms *alarms = NULL;
    int64_t windows = 0;
    assert_ok(leat_can_frames_open_source(&reader, &source, "a text", &options, err));
    const leat_detect_context context = context_of();
    const leat_live_options plain = leat_live_options_default();
    const int64_t before = count_live(), most = leat_live_bytes(&context, 2);
    assert_ok(leat_live_create(&live, &context, &plain, err));
    const int64_t created = count_live() - before;
    assert_in_range(created, 1, leat_live_bytes(&context, 0));
    assert_ok(leat_alarms_create(&alarms, 3, err));
    const int64_t alarming = count_live() - before - created;
    assert_ok(follow(reader, live, alarms, 10, &windows, err));
    assert_false(clear_fault());
    const int64_t taken = count_live() - before - alarming; /* with both buses */
    print_message("%d bytes of at most %d\n", (int)taken, (int)most);
    assert_in_range(taken, most / 2, most);
    assert_int_equal(windows, 2 * ((FRAMES / 2 - 50) / 20 + 1));
    leat_alarms_destroy(alarms);
    leat_live_destroy(live);
    leat_can_frames_close(reader);
    free(image.data);
    free(copy);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(faults), cmocka_unit_test(no_allocation)};
    return cmocka_run_group_tests(tests, NULL, core_teardown);
}
