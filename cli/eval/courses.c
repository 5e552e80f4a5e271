/* Figures of a split: the scores of a capture over time, with the windows that have an attack
 * shaded. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "eval/eval.h"

/* As many columns as the plot has pixels: of the windows in a column the lowest and the highest
 * score are drawn, so that no alarm is lost, whatever the length of the capture. */
enum { COLUMNS = 340, FIGURES = 24 /* of a page */, CAPTURES = 6 /* of a split */, LABELS = 3 };

typedef struct column {
    double seconds;
    double low[LABELS], high[LABELS];
    int64_t windows[LABELS]; /* benign, attack, unlabelled */
    int64_t first, end;      /* frames */
} column;

typedef struct course {
    column columns[COLUMNS];
    double from[COLUMNS + 1]; /* where columns begin: microseconds, or frames */
    double low, high;         /* of all scores */
    int count;
    bool times; /* the windows have bus time */
} course;

static int label_of(int32_t label) { return label < 0 ? 2 : label > 0; }

static void add_window(column *at, const leat_eval_windows *windows, int64_t i, double score) {
    const int label = label_of(windows->label[i]);
    if (at->windows[label] == 0 || score < at->low[label]) at->low[label] = score;
    if (at->windows[label] == 0 || score > at->high[label]) at->high[label] = score;
    const bool first = at->windows[0] + at->windows[1] + at->windows[2] == 0;
    if (first || windows->start[i] < at->first) at->first = windows->start[i];
    if (first || windows->start[i] + windows->window > at->end)
        at->end = windows->start[i] + windows->window;
    at->windows[label]++;
    if (windows->seconds != NULL) at->seconds += windows->seconds[i];
}

/* Columns have the same number of frames, and are as wide as the time that their windows take. */
static bool make_course(course *out, const leat_eval_windows *windows, const double *scores,
                        int32_t capture) {
    int64_t first = INT64_MAX, last = -1;
    memset(out, 0, sizeof *out);
    for (int64_t i = 0; i < windows->count; i++) {
        if (windows->capture[i] != capture) continue;
        if (windows->start[i] < first) first = windows->start[i];
        if (windows->start[i] > last) last = windows->start[i];
    }
    if (last < 0) return false;
    const int64_t places = (last - first) / windows->stride + 1;
    out->count = places < COLUMNS ? (int)places : COLUMNS;
    out->low = (double)INFINITY;
    out->high = -(double)INFINITY;
    for (int64_t i = 0; i < windows->count; i++) {
        if (windows->capture[i] != capture) continue;
        const int64_t at = (windows->start[i] - first) / windows->stride;
        add_window(&out->columns[(int64_t)((double)at * out->count / (double)places)], windows, i,
                   scores[i]);
        out->low = fmin(out->low, scores[i]);
        out->high = fmax(out->high, scores[i]);
    }
    for (int i = 0; i < out->count; i++) out->times = out->times || out->columns[i].seconds > 0;
    for (int i = 0; i < out->count; i++)
        out->from[i + 1] =
            out->from[i] + (out->times ? out->columns[i].seconds * 1e6
                                       : (double)(out->columns[i].end - out->columns[i].first));
    return out->from[out->count] > 0;
}

/* ---- Drawing ------------------------------------------------------------------------------ */

/* Behind neighbouring columns that have windows with an attack. */
static void put_tints(leat_plot *plot, const course *of) {
    leat_textbuf *out = plot->page->svg;
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], c[LEAT_WORDS_BYTES];
    for (int i = 0, end = 0; i < of->count; i = end + 1) {
        int64_t attacks = 0;
        for (end = i; end < of->count && of->columns[end].windows[1] > 0; end++)
            attacks += of->columns[end].windows[1];
        if (end == i) continue;
        const double x = leat_plot_x(plot, of->from[i]);
        leat_textbuf_printf(out,
                            "<rect class=\"tint\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" "
                            "height=\"%.1f\"><title>frames %s to %s: %s with an attack</title>"
                            "</rect>\n",
                            x, plot->top, fmax(leat_plot_x(plot, of->from[end]) - x, 0.5),
                            plot->bottom - plot->top, leat_words_count(a, of->columns[i].first),
                            leat_words_count(b, of->columns[end - 1].end - 1),
                            leat_things(c, attacks, "window"));
    }
}

static void put_scores(leat_plot *plot, const course *of, int label) {
    static const char *const ends[LABELS][2] = {{"lowest, benign", "highest, benign"},
                                                {"lowest, attack", "highest, attack"},
                                                {"lowest, unlabelled", "highest, unlabelled"}};
    /* "point": a score alone is seen, too */
    static const char *const classes[LABELS] = {"bar point", "bar bad point", "bar zero point"};
    char words[LEAT_FIGURE_WORDS], a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES];
    for (int i = 0; i < of->count; i++) {
        const column *at = &of->columns[i];
        if (at->windows[label] == 0) continue;
        snprintf(words, sizeof words, "frames %s to %s: %.4g to %.4g",
                 leat_words_count(a, at->first), leat_words_count(b, at->end - 1), at->low[label],
                 at->high[label]);
        leat_plot_range(plot, (leat_plot_span){of->from[i], of->from[i + 1]},
                        (leat_plot_span){at->low[label], at->high[label]}, ends[label],
                        classes[label], words);
    }
}

/* Scores without an upper end, such as distances in deviations, span decades. */
static leat_axis score_axis(const course *of, double threshold, bool probability) {
    const double low = fmin(of->low, threshold), high = fmax(of->high, threshold);
    leat_axis axis = {LEAT_DISPLAY_NUMBER, false, 0, 1, "score"};
    if (probability) return axis;
    axis.log = low > 0 && high / low > 30;
    axis.low = axis.log ? low * 0.9 : fmin(low, 0);
    axis.high = axis.log ? high * 1.1 : high > 0 ? leat_axis_end(high) : 0;
    if (!(axis.high > axis.low)) axis.high = axis.low + 1;
    return axis;
}

static void put_legend(leat_page *page, const course *of, double threshold) {
    static const char *const names[LABELS] = {"benign", "with an attack", "unlabelled"};
    static const char *const classes[LABELS] = {"bar", "bar bad", "bar zero"};
    char words[LEAT_WORDS_BYTES];
    int64_t windows[LABELS] = {0}, all = 0;
    for (int i = 0; i < of->count; i++)
        for (int k = 0; k < LABELS; k++) windows[k] += of->columns[i].windows[k];
    for (int k = 0; k < LABELS; k++) {
        all += windows[k];
        if (windows[k] > 0)
            leat_figure_item(page, classes[k], names[k], leat_words_count(words, windows[k]));
    }
    leat_figure_item(page, NULL, "dashed: the threshold,",
                     leat_display_words(words, LEAT_DISPLAY_NUMBER, threshold));
    if (all > of->count) leat_figure_say(page, "a column has the lowest to the highest score");
}

static void draw_course(leat_page *page, const leat_eval_item *part, const course *of,
                        bool probability) {
    char title[LEAT_PLAIN_BYTES + 32];
    const double threshold = part->threshold.value;
    snprintf(title, sizeof title, "Scores of %s", part->name);
    leat_plot plot = {.page = page,
                      .x = {of->times ? LEAT_DISPLAY_DURATION_US : LEAT_DISPLAY_COUNT, false, 0,
                            of->from[of->count], of->times ? "bus time" : "frame"},
                      .y = score_axis(of, threshold, probability),
                      .series = "threshold"};
    const double xs[] = {0, plot.x.high}, ys[] = {threshold, threshold};
    leat_figure_begin(page, title);
    put_legend(page, of, threshold);
    leat_plot_begin(&plot, false);
    put_tints(&plot, of);
    for (int label = LABELS - 1; label >= 0; label -= 2) put_scores(&plot, of, label);
    leat_textbuf_put(page->svg, "<g opacity=\".75\">\n"); /* benign ones are seen through it */
    put_scores(&plot, of, 1);
    leat_textbuf_put(page->svg, "</g>\n");
    leat_plot_line(&plot, xs, ys, 2, false, "mark");
    leat_plot_end(&plot);
    leat_figure_end(page);
}

/* ---- All of it ---------------------------------------------------------------------------- */

static bool is_shown(const leat_eval_group *group, bool attacked) {
    return group->kind == LEAT_EVAL_CAPTURE && (!attacked || group->attack_windows > 0);
}

static int64_t count_captures(const leat_eval_summary *summary, bool attacked) {
    int64_t count = 0;
    for (int64_t i = 0; i < summary->group_count; i++)
        count += is_shown(&summary->groups[i], attacked);
    return count;
}

void leat_eval_courses(leat_page *page, const leat_eval_report *report,
                       const leat_evaluation_split *split) {
    const int method = 0; /* the first run */
    const leat_eval_summary *summary = split->results[method].summary;
    const bool attacked = count_captures(summary, true) > 0;
    const int64_t count = count_captures(summary, attacked);
    const int share = FIGURES / report->of->split_count;
    const int most = share < 1 ? 1 : share < CAPTURES ? share : CAPTURES;
    leat_eval_item whole, part;
    course of;
    int shown = 0;
    char words[LEAT_WORDS_BYTES];
    leat_eval_item_make(&whole, report, split, method);
    leat_textbuf_put(page->out, "<h3>Scores over time, of ");
    leat_html_text(page->out, whole.name);
    leat_textbuf_put(page->out, "</h3>\n");
    if (report->of->run_count > 1)
        leat_textbuf_put(page->out, "<p class=\"note\">Of the first run only.</p>\n");
    if (count > most)
        leat_textbuf_printf(page->out, "<p class=\"note\">The first %d of %s captures%s.</p>\n",
                            most, leat_words_count(words, count),
                            attacked ? " with an attack" : "");
    leat_textbuf_put(page->out, "<div class=\"figures\">\n");
    for (int64_t i = 1; i < summary->group_count && shown < most; i++) {
        if (!is_shown(&summary->groups[i], attacked) || !leat_eval_item_part(&part, &whole, i) ||
            !make_course(&of, &split->windows, split->scores[method], part.group.number))
            continue;
        draw_course(page, &part, &of, report->of->methods[method].probability);
        shown++;
    }
    leat_textbuf_put(page->out, "</div>\n");
}
