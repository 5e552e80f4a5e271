/*
 * Windows are checked once, when they are sorted, so that what is computed from them cannot fail
 * half-way. Order in a capture is by frames: what is said of runs and delays follows from it.
 */
#include "train/eval/windows.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"

const char *leat_eval_reason_text(leat_eval_reason reason) {
    static const char *const texts[] = {
        [LEAT_EVAL_DEFINED] = "",
        [LEAT_EVAL_NO_WINDOW] = "no window",
        [LEAT_EVAL_NO_ATTACK] = "no window with an attack",
        [LEAT_EVAL_NO_BENIGN] = "no benign window",
        [LEAT_EVAL_NO_ALARM] = "no alarm",
        [LEAT_EVAL_NO_TIME] = "no bus time",
        [LEAT_EVAL_NO_PROBABILITY] = "the score is not a probability",
        [LEAT_EVAL_NO_DETECTION] = "no attack was detected",
        [LEAT_EVAL_FEW_BLOCKS] = "too few blocks of time to resample",
        [LEAT_EVAL_NO_INJECTED] = "no detected window whose injected identifier is known",
        [LEAT_EVAL_NO_BLAME] = "the score blames no identifier",
    };
    LEAT_ASSERT((size_t)reason < sizeof texts / sizeof *texts);
    return texts[reason];
}

leat_eval_number leat_eval_defined(double value) { return (leat_eval_number){.value = value}; }

leat_eval_number leat_eval_undefined(leat_eval_reason reason) {
    return (leat_eval_number){.value = NAN, .undefined = reason};
}

leat_code leat_eval_check_scores(const double *score, const int32_t *label, int64_t count,
                                 leat_error *err) {
    if (count > LEAT_EVAL_WINDOWS_MAX)
        return leat_fail(err, LEAT_ERR_LIMIT, "%lld windows: at most %lld can be evaluated at once",
                         (long long)count, (long long)LEAT_EVAL_WINDOWS_MAX);
    for (int64_t i = 0; i < count; i++) {
        if (!isfinite(score[i]))
            return leat_fail(err, LEAT_ERR_INPUT,
                             "window %lld: score %g is not finite; the model or its input is "
                             "broken, and no number about it would mean anything",
                             (long long)i, score[i]);
        if (label[i] < -1 || label[i] > 1)
            return leat_fail(err, LEAT_ERR_INPUT,
                             "window %lld: label %d; it must be 1 (attack), 0 (benign) or -1 (not "
                             "known)",
                             (long long)i, (int)label[i]);
    }
    return LEAT_OK;
}

double leat_eval_window_seconds(const float *step, int64_t edges, int64_t columns, int64_t window,
                                int64_t stride) {
    LEAT_ASSERT(window > 2 && stride > 0);
    double sum = 0;
    for (int64_t e = 0; e < edges; e++) sum += step[e * columns];
    return sum * (double)(window < stride ? window : stride) / (double)(window - 2);
}

double leat_eval_seconds_after(const float *step, int64_t edges, int64_t columns, int64_t frame) {
    LEAT_ASSERT(edges > 0 && frame >= 0 && frame <= edges + 1);
    if (frame == edges + 1) return 0;
    const int64_t first = frame < edges ? frame : edges - 1;
    double sum = 0;
    for (int64_t e = first; e < edges; e++) sum += step[e * columns];
    return sum * (double)(edges + 1 - frame) / (double)(edges - first);
}

/* ---- sorted ------------------------------------------------------------------------------- */

typedef struct row {
    double score, seconds, injected_seconds;
    int64_t start, index;
    int32_t label, attack, vehicle, capture, attack_first;
} row;

struct leat_eval_sorted {
    leat_eval_windows windows; /* points to the columns below */
    int64_t unlabelled;
    double *score, *seconds, *injected_seconds;
    int64_t *start;
    int32_t *whole; /* label, attack, vehicle, capture, attack_first: a block each */
};

int64_t leat_eval_sorted_bytes(int64_t count) {
    int64_t bytes = 0;
    const int64_t each =
        3 * (int64_t)sizeof(double) + (int64_t)sizeof(int64_t) + 5 * (int64_t)sizeof(int32_t);
    if (!leat_mul_size(count, each, &bytes)) return INT64_MAX;
    return bytes + (int64_t)sizeof(leat_eval_sorted);
}

void leat_eval_sorted_destroy(leat_eval_sorted *sorted) {
    if (sorted == NULL) return;
    leat_free(sorted->score);
    leat_free(sorted->seconds);
    leat_free(sorted->injected_seconds);
    leat_free(sorted->start);
    leat_free(sorted->whole);
    leat_free(sorted);
}

const leat_eval_windows *leat_eval_sorted_windows(const leat_eval_sorted *sorted) {
    return &sorted->windows;
}

int64_t leat_eval_sorted_unlabelled(const leat_eval_sorted *sorted) { return sorted->unlabelled; }

static row row_of(const leat_eval_windows *windows, int64_t i) {
    return (row){.score = windows->score[i],
                 .seconds = windows->seconds[i],
                 .injected_seconds = windows->label[i] == 1 ? windows->injected_seconds[i] : 0,
                 .start = windows->start[i],
                 .index = i,
                 .label = windows->label[i],
                 .attack = windows->label[i] == 1 ? windows->attack[i] : 0,
                 .vehicle = windows->vehicle[i],
                 .capture = windows->capture[i],
                 .attack_first = windows->label[i] == 1 ? windows->attack_first[i] : -1};
}

static leat_code fill(leat_eval_sorted *sorted, const leat_eval_windows *like, const row *rows,
                      int64_t count, leat_error *err) {
    LEAT_TRY(LEAT_NEW(&sorted->score, count, err));
    LEAT_TRY(LEAT_NEW(&sorted->seconds, count, err));
    LEAT_TRY(LEAT_NEW(&sorted->injected_seconds, count, err));
    LEAT_TRY(LEAT_NEW(&sorted->start, count, err));
    LEAT_TRY(LEAT_NEW(&sorted->whole, 5 * count, err));
    int32_t *label = sorted->whole, *attack = label + count, *vehicle = attack + count;
    int32_t *capture = vehicle + count, *attack_first = capture + count;
    for (int64_t i = 0; i < count; i++) {
        sorted->score[i] = rows[i].score;
        sorted->seconds[i] = rows[i].seconds;
        sorted->injected_seconds[i] = rows[i].injected_seconds;
        sorted->start[i] = rows[i].start;
        label[i] = rows[i].label;
        attack[i] = rows[i].attack;
        vehicle[i] = rows[i].vehicle;
        capture[i] = rows[i].capture;
        attack_first[i] = rows[i].attack_first;
    }
    sorted->windows = (leat_eval_windows){.count = count,
                                          .window = like->window,
                                          .stride = like->stride,
                                          .score = sorted->score,
                                          .label = label,
                                          .attack = attack,
                                          .vehicle = vehicle,
                                          .capture = capture,
                                          .start = sorted->start,
                                          .attack_first = attack_first,
                                          .seconds = sorted->seconds,
                                          .injected_seconds = sorted->injected_seconds};
    return LEAT_OK;
}

/* Takes the rows, whether it succeeds or not. */
static leat_code create_from(leat_eval_sorted **out, const leat_eval_windows *like, row *rows,
                             int64_t count, leat_error *err) {
    leat_eval_sorted *sorted = NULL;
    leat_code code = LEAT_NEW(&sorted, 1, err);
    if (code == LEAT_OK) code = fill(sorted, like, rows, count, err);
    leat_free(rows);
    if (code != LEAT_OK) {
        leat_eval_sorted_destroy(sorted);
        return code;
    }
    sorted->unlabelled = like->count - count;
    *out = sorted;
    return LEAT_OK;
}

static int by_time(const void *a, const void *b) {
    const row *left = a, *right = b;
    if (left->capture != right->capture) return left->capture < right->capture ? -1 : 1;
    if (left->start != right->start) return left->start < right->start ? -1 : 1;
    return left->index < right->index ? -1 : left->index > right->index;
}

static leat_code check_seconds(double seconds, int64_t window, leat_error *err) {
    if (isfinite(seconds) && seconds >= 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_INPUT,
                     "window %lld: %g seconds of bus time; its frames are not in order of time, "
                     "ingest the logs again",
                     (long long)window, seconds);
}

static leat_code check_times(const leat_eval_windows *windows, leat_error *err) {
    LEAT_ASSERT(windows->window > 0 && windows->stride > 0);
    LEAT_TRY(leat_eval_check_scores(windows->score, windows->label, windows->count, err));
    for (int64_t i = 0; i < windows->count; i++) {
        LEAT_TRY(check_seconds(windows->seconds[i], i, err));
        if (windows->label[i] == 1) LEAT_TRY(check_seconds(windows->injected_seconds[i], i, err));
        if (windows->start[i] < 0 || windows->start[i] > INT64_MAX / 4)
            return leat_fail(err, LEAT_ERR_INPUT, "window %lld: start %lld is not a frame's number",
                             (long long)i, (long long)windows->start[i]);
        if (windows->label[i] == 1 &&
            (windows->attack_first[i] < 0 || windows->attack_first[i] >= windows->window))
            return leat_fail(err, LEAT_ERR_INPUT,
                             "window %lld: first injected frame %d; an attack in a window of %lld "
                             "frames begins with one of 0 to %lld",
                             (long long)i, (int)windows->attack_first[i],
                             (long long)windows->window, (long long)windows->window - 1);
    }
    return LEAT_OK;
}

static leat_code check_distinct(const row *rows, int64_t count, leat_error *err) {
    for (int64_t i = 1; i < count; i++) {
        if (rows[i].capture == rows[i - 1].capture && rows[i].start == rows[i - 1].start)
            return leat_fail(err, LEAT_ERR_INPUT,
                             "windows %lld and %lld: both begin with frame %lld of capture %d; "
                             "score each window once",
                             (long long)rows[i - 1].index, (long long)rows[i].index,
                             (long long)rows[i].start, (int)rows[i].capture);
    }
    return LEAT_OK;
}

leat_code leat_eval_sorted_create(leat_eval_sorted **out, const leat_eval_windows *windows,
                                  leat_error *err) {
    *out = NULL;
    LEAT_TRY(check_times(windows, err));
    row *rows = NULL;
    LEAT_TRY(LEAT_NEW(&rows, windows->count, err));
    int64_t count = 0;
    for (int64_t i = 0; i < windows->count; i++) {
        if (windows->label[i] >= 0) rows[count++] = row_of(windows, i);
    }
    qsort(rows, (size_t)count, sizeof *rows, by_time);
    leat_code code = check_distinct(rows, count, err);
    if (code != LEAT_OK) {
        leat_free(rows);
        return code;
    }
    return create_from(out, windows, rows, count, err);
}

static bool is_in(const leat_eval_windows *windows, int64_t i, leat_eval_kind kind,
                  int32_t number) {
    switch (kind) {
    case LEAT_EVAL_ATTACK: return windows->label[i] == 0 || windows->attack[i] == number;
    case LEAT_EVAL_VEHICLE: return windows->vehicle[i] == number;
    case LEAT_EVAL_CAPTURE: return windows->capture[i] == number;
    default: return true;
    }
}

/* The first window of a capture of this number or a higher one. */
static int64_t find_capture(const leat_eval_windows *sorted, int64_t number) {
    int64_t low = 0, high = sorted->count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (sorted->capture[middle] < number) low = middle + 1;
        else high = middle;
    }
    return low;
}

leat_code leat_eval_sorted_part(leat_eval_sorted **out, const leat_eval_windows *sorted,
                                leat_eval_kind kind, int32_t number, leat_error *err) {
    /* there may be thousands of captures, whose windows stand together */
    const bool capture = kind == LEAT_EVAL_CAPTURE;
    const int64_t first = capture ? find_capture(sorted, number) : 0;
    const int64_t end = capture ? find_capture(sorted, (int64_t)number + 1) : sorted->count;
    *out = NULL;
    row *rows = NULL;
    LEAT_TRY(LEAT_NEW(&rows, end - first, err));
    int64_t count = 0;
    for (int64_t i = first; i < end; i++) {
        if (is_in(sorted, i, kind, number)) rows[count++] = row_of(sorted, i);
    }
    LEAT_TRY(create_from(out, sorted, rows, count, err));
    (*out)->unlabelled = 0;
    return LEAT_OK;
}
