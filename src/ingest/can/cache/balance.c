/*
 * Whether training and validation have the windows that were asked for. Too few frames, a clock
 * that is wrong, or a recording that pauses would otherwise give a cache that nobody wanted.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ingest/can/cache/balance.h"

/* Fewer windows than this per block may be divided unevenly by chance. */
enum { BLOCK_WINDOWS = 5 };

/* The log with the longest time span: if a clock is wrong, it is probably this one. */
typedef struct can_span {
    const char *folder, *file;
    double first_s, last_s;
} can_span;

static void widen(can_span *widest, const char *folder, const char *file, double first_s,
                  double last_s) {
    bool first = widest->file == NULL;
    if (first || last_s - first_s > widest->last_s - widest->first_s)
        *widest = (can_span){folder, file, first_s, last_s};
}

/* What is wrong with the sides. */
typedef enum balance {
    BALANCED,
    NO_TRAINING,
    NO_VALIDATION,
    TURNED_OVER, /* the side that should be smaller has more than twice as many windows */
    UNEVEN,      /* a side has less than half or more than twice its share */
} balance;

static balance balance_of(const leat_can_sides *sides, const leat_can_settings *settings) {
    double fraction = settings->val_fraction, train = (double)sides->train;
    double val = (double)sides->val, all = train + val;
    if (settings->val_split != LEAT_VAL_BLOCKS || fraction <= 0) return BALANCED;
    if (sides->train + sides->val + sides->dropped == 0) return BALANCED;
    if (sides->train == 0) return NO_TRAINING;
    if (sides->val == 0) return NO_VALIDATION;
    double less = fraction < 0.5 ? fraction : 1 - fraction;
    double share = (fraction < 0.5 ? val : train) / all;
    if (all >= LEAT_CAN_BLOCKS && less < 0.5 && 3 * share > 2) return TURNED_OVER;
    bool enough = all >= BLOCK_WINDOWS * LEAT_CAN_BLOCKS;
    if (all >= 2 * LEAT_CAN_BLOCKS && share > 2 * less) return UNEVEN;
    return enough && (share > 2 * less || share < less / 2) ? UNEVEN : BALANCED;
}

/* "; " and a text at the end of the warning. */
static void append(char *text, int64_t size_bytes, const char *format, ...) LEAT_PRINTF(3, 4);
static void append(char *text, int64_t size_bytes, const char *format, ...) {
    size_t used = strlen(text), size = (size_t)size_bytes;
    va_list args;
    if (used > 0 && used + 2 < size) used += (size_t)snprintf(text + used, size - used, "; ");
    va_start(args, format);
    vsnprintf(text + used, size - used, format, args);
    va_end(args);
}

/* Between the folder of a log, which may have none, and its name. */
static const char *slash_after(const char *folder) { return folder[0] != 0 ? "/" : ""; }

/* What gives each side its windows. Random ones would be worse after a pause, across which a
 * training window would be, and windows that overlap would be in both sides. */
static void remedy(const leat_can_sides *sides, const leat_can_settings *settings, bool empty,
                   char *text, size_t size) {
    bool random = settings->stride >= settings->window;
    if (sides->option[0] != 0) {
        snprintf(text, size, "%s%s, which begins a new capture after it%s",
                 empty ? "remove frames with wrong timestamps from it, or use " : "use ",
                 sides->option, empty ? "" : ", or a separate log for each part");
    } else if (sides->found) {
        snprintf(text, size, "%suse --clock-steps split:SECONDS if it pauses, or else %s",
                 empty ? "remove frames with wrong timestamps from it, " : "",
                 empty ? "--val-fraction 0" : "another --seed, or a separate log for each part");
    } else if (empty) {
        snprintf(text, size, "remove frames with wrong timestamps from it, or use %s%s",
                 random ? "--val-split random or " : "", "--val-fraction 0");
    } else {
        snprintf(text, size, "use %sanother --seed, or a separate log for each part",
                 random ? "--val-split random, " : "");
    }
}

static void describe(balance what, const leat_can_sides *sides, const leat_can_settings *settings,
                     const can_span *widest, char *text, int64_t size_bytes) {
    int64_t kept = sides->train + sides->val;
    bool training = what == NO_TRAINING, empty = training || what == NO_VALIDATION;
    char todo[256], pause[96] = "";
    remedy(sides, settings, empty, todo, sizeof todo);
    if (sides->pause_s > 0)
        snprintf(pause, sizeof pause, "; the longest pause is %.3f s, after %.3f s", sides->pause_s,
                 sides->pause_at_s);
    if (empty) {
        append(text, size_bytes,
               "the %s split %s empty: time is divided into %d blocks, and all %lld windows "
               "fall into blocks of %s or cross a boundary; the longest log, \"%.80s%s%.80s\", "
               "spans %.3f to %.3f s%s; %s",
               training ? "training" : "validation", training ? "would be" : "is",
               (int)LEAT_CAN_BLOCKS, (long long)(kept + sides->dropped),
               training ? "validation" : "training", widest->folder, slash_after(widest->folder),
               widest->file, widest->first_s, widest->last_s, sides->option[0] != 0 ? pause : "",
               todo);
        return;
    }
    append(text, size_bytes,
           "validation has %lld of %lld windows although --val-fraction is %g: frames are "
           "unevenly spread over the %d equal time blocks (the longest log, "
           "\"%.80s%s%.80s\", spans %.3f to %.3f s%s); %s",
           (long long)sides->val, (long long)kept, settings->val_fraction, (int)LEAT_CAN_BLOCKS,
           widest->folder, slash_after(widest->folder), widest->file, widest->first_s,
           widest->last_s, pause, todo);
}

/* ---- of a plan ------------------------------------------------------------------------------ */

static leat_code no_windows(const leat_can_plan *plan, const leat_can_splits *splits,
                            const int64_t begins[2], leat_error *err) {
    const leat_can_stream *longest = NULL;
    int64_t captures = 0, window = plan->settings->window;
    for (int32_t i = 0; i < plan->stream_count; i++) {
        const leat_can_stream *stream = &plan->streams[i];
        if (stream->split != 0) continue;
        captures++;
        if (longest == NULL || stream->frames > longest->frames) longest = stream;
    }
    LEAT_ASSERT(longest != NULL);
    const leat_can_source *file = longest->file < 0 ? NULL : &splits->files[longest->file];
    const char *folder = file != NULL ? file->folder : "train";
    char todo[64] = "";
    if (longest->frames >= LEAT_WINDOW_MIN)
        snprintf(todo, sizeof todo, "--window %lld or less, or ", (long long)longest->frames);
    char steps[160] = "";
    if (begins[1] > 0)
        snprintf(
            steps, sizeof steps,
            ", or a larger number in --clock-steps split:%g: new captures begin at %lld pauses",
            plan->settings->pause_s, (long long)begins[1]);
    else if (begins[0] > 0)
        snprintf(steps, sizeof steps,
                 ", or --clock-steps sort: new captures begin where a clock fell back, %lld times",
                 (long long)begins[0]);
    return leat_fail(err, LEAT_ERR_INPUT,
                     "there are no training windows: a window has %lld frames, and the longest of "
                     "%lld training capture%s, \"%.80s%s%.80s\", has %lld; use %slogs with more "
                     "frames%s",
                     (long long)window, (long long)captures, captures == 1 ? "" : "s", folder,
                     slash_after(folder), file != NULL ? file->name : "",
                     (long long)longest->frames, todo, steps);
}

static leat_can_sides sides_of(const leat_can_plan *plan) {
    leat_can_sides sides = {.train = plan->part_begin[1] - plan->part_begin[0],
                            .val = plan->part_begin[2] - plan->part_begin[1],
                            .dropped = plan->windows_dropped};
    const leat_can_stream *longest = NULL;
    for (int32_t i = 0; i < plan->stream_count; i++) {
        const leat_can_stream *stream = &plan->streams[i];
        if (stream->split != 0 || stream->pause_s <= sides.pause_s) continue;
        sides.pause_s = stream->pause_s;
        sides.pause_at_s = stream->pause_at_s;
        longest = stream;
    }
    bool fills_block =
        longest != NULL && LEAT_CAN_BLOCKS * longest->pause_s >= longest->last_s - longest->first_s;
    if (fills_block && leat_can_is_long_pause(longest))
        leat_can_pause_option(plan, longest, sides.option);
    return sides;
}

static void warn_tests(const char *name, int64_t graphs, const leat_can_settings *settings,
                       char *warning, int64_t warning_bytes) {
    if (graphs > 0) return;
    append(warning, warning_bytes,
           "split %.80s is empty: no capture of it has the %lld frames of a window (--window)",
           name, (long long)settings->window);
}

leat_code leat_can_balance_check(const leat_can_plan *plan, const leat_can_splits *splits,
                                 const leat_can_recorded *recorded, char *warning,
                                 int64_t warning_bytes, leat_error *err) {
    const leat_can_settings *settings = plan->settings;
    const leat_can_sides sides = sides_of(plan);
    can_span widest = {0};
    for (int part = 2; part < plan->part_count; part++)
        warn_tests(splits->name[part - 1], plan->part_begin[part + 1] - plan->part_begin[part],
                   settings, warning, warning_bytes);
    if (sides.train + sides.val + sides.dropped == 0)
        return no_windows(plan, splits, recorded->begins, err);
    balance what = balance_of(&sides, settings);
    if (what == BALANCED) return LEAT_OK;
    for (int64_t i = 0; i < recorded->capture_count; i++) {
        const leat_can_capture *capture = &recorded->captures[i];
        const leat_can_source *file = &splits->files[capture->file_index];
        if (file->split != 0 || (settings->bus >= 0 && capture->bus != settings->bus)) continue;
        widen(&widest, file->folder, file->name, capture->first_s, capture->last_s);
    }
    /* with fewer windows than blocks, chance can leave either side empty */
    bool many = sides.train + sides.val + sides.dropped >= LEAT_CAN_BLOCKS;
    if (what != TURNED_OVER && !(what == NO_TRAINING && many)) {
        describe(what, &sides, settings, &widest, warning, warning_bytes);
        return LEAT_OK;
    }
    char text[sizeof err->message] = "";
    describe(what, &sides, settings, &widest, text, sizeof text);
    return leat_fail(err, LEAT_ERR_INPUT, "%s", text);
}

/* ---- of an existing cache ------------------------------------------------------------------- */

void leat_can_balance_warn(const leat_can_meta *meta, const leat_can_settings *settings,
                           char *warning, int64_t warning_bytes) {
    const leat_can_sides sides = {.train = meta->splits[0].graphs,
                                  .val = meta->splits[1].graphs,
                                  .dropped = meta->windows_dropped,
                                  .found = true};
    can_span widest = {0};
    for (int i = 2; i < meta->split_count; i++)
        warn_tests(meta->splits[i].name, meta->splits[i].graphs, settings, warning, warning_bytes);
    balance what = balance_of(&sides, settings);
    for (int64_t i = 0; i < meta->capture_count; i++) {
        const leat_can_meta_capture *capture = &meta->captures[i];
        if (strcmp(capture->split, LEAT_CAN_SPLIT_TRAIN) != 0) continue;
        widen(&widest, capture->folder, capture->file[0] != 0 ? capture->file : "(all of them)",
              capture->first_s, capture->last_s);
    }
    if (what == BALANCED || widest.file == NULL) return;
    describe(what, &sides, settings, &widest, warning, warning_bytes);
}
