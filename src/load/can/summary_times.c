/*
 * Where in the time of a capture its parts are. A cache keeps the time from one frame of a window
 * to the next (`iat` of the edges), but neither the times of windows nor the steps between them. So
 * the time that a part takes is that of its steps that were read, in proportion to its frames; the
 * frames of parts without such steps follow as those around them do; and the time of the capture,
 * which is known, decides what all take together.
 */
#include <math.h>

#include "load/can/summary.h"

#define IAT_MAX_S 1e6 /* all steps of a window as nanoseconds fit in 64 bits */

/* Seconds from a frame to the next; negative: not known. */
static double rate_of(const leat_part_steps *part) {
    double rate = part->seconds / (double)part->steps;
    return part->steps > 0 && isfinite(rate) && rate >= 0 ? rate : -1;
}

/* Of the nearest parts before and after one for which it is known, the mean; of none, negative. */
static double rate_around(const leat_part_steps *parts, int count, int part) {
    double before = -1, after = -1;
    for (int i = part - 1; i >= 0 && before < 0; i--) before = rate_of(&parts[i]);
    for (int i = part + 1; i < count && after < 0; i++) after = rate_of(&parts[i]);
    return before < 0 ? after : after < 0 ? before : (before + after) / 2;
}

double leat_part_ends(const leat_can_capture_facts *capture, const leat_part_steps *parts,
                      int count, double *ends) {
    const double whole = capture->last_s - capture->first_s;
    double rest = (double)capture->frames - 1, known = 0, others = 0, at = 0;
    for (int i = 0; i < count; i++) {
        double rate = rate_of(&parts[i]), around = rate < 0 ? rate_around(parts, count, i) : 0;
        ends[i] = 0;
        rest -= parts[i].frames;
        if (rate >= 0) known += rate * parts[i].frames;
        else others += around * parts[i].frames;
    }
    /* the frames after the last part */
    if (rest > 0) others += rest * rate_around(parts, count, count);
    const double all = known + others;
    if (!(whole > 0) || !isfinite(whole) || !(known > 0) || !isfinite(all)) return -1;
    /* what is known stays, if the rest fits beside it */
    const bool fits = others > 0 && whole > known;
    const double known_scale = fits ? 1 : whole / all;
    const double other_scale = fits ? (whole - known) / others : known_scale;
    for (int i = 0; i < count; i++) {
        double rate = rate_of(&parts[i]);
        at += parts[i].frames *
              (rate >= 0 ? rate * known_scale : rate_around(parts, count, i) * other_scale);
        ends[i] = fmin(at, whole);
    }
    return fabs(whole - all) / whole;
}

int leat_course_bin(const leat_can_summary_capture *capture, int64_t frame) {
    double share = (double)frame / (double)capture->facts.frames;
    return share >= 1 ? LEAT_CAN_COURSE - 1 : (int)(share * LEAT_CAN_COURSE);
}

static void add(leat_course_tally *tally, int bin, int64_t steps, int64_t ns) {
    atomic_fetch_add_explicit(&tally->steps[bin], steps, memory_order_relaxed);
    atomic_fetch_add_explicit(&tally->ns[bin], ns, memory_order_relaxed);
}

void leat_course_tally_add(leat_course_tally *tally, const leat_can_summary_capture *capture,
                           const leat_can_graph *graph) {
    const int64_t edges = graph->facts.edge_count, start = graph->facts.window_start;
    int64_t steps = 0, ns = 0;
    int bin = -1;
    if (start < 0 || start >= capture->facts.frames) return;
    for (int64_t i = 0; i < edges; i++) {
        double iat = (double)graph->edge_attr[i * LEAT_EDGE_FEATURES + LEAT_EDGE_IAT];
        int here = leat_course_bin(capture, start + i + 1);
        if (here != bin && steps > 0) {
            add(tally, bin, steps, ns);
            steps = ns = 0;
        }
        bin = here;
        steps++;
        if (iat > 0 && iat < IAT_MAX_S) ns += (int64_t)(iat * 1e9 + 0.5);
    }
    if (steps > 0) add(tally, bin, steps, ns);
}

void leat_course_tally_place(const leat_course_tally *tally, leat_can_summary_capture *capture) {
    leat_part_steps parts[LEAT_CAN_COURSE];
    for (int i = 0; i < LEAT_CAN_COURSE; i++)
        parts[i] = (leat_part_steps){(double)capture->facts.frames / LEAT_CAN_COURSE,
                                     atomic_load(&tally->steps[i]),
                                     (double)atomic_load(&tally->ns[i]) * 1e-9};
    (void)leat_part_ends(&capture->facts, parts, LEAT_CAN_COURSE, capture->course_end_s);
}
