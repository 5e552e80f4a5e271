/* Figures of a split: curves of the first detector and of the best plain tables, and what was
 * blamed. */
#include <math.h>
#include <stdio.h>

#include "eval/eval.h"

enum { DRAWN = 3, POINTS = LEAT_EVAL_CURVE, BARS = 12 };

/* The methods that are drawn: the first two detectors, and the best plain tables. */
typedef struct drawn {
    int method[DRAWN];
    int count;
} drawn;

static const char *const line_class[DRAWN] = {"line l1", "line l2", "line l3"};
static const char *const dot_class[DRAWN] = {"bar", "bar second", "bar third"};

static double auroc_of(const leat_evaluation_split *split, int method) {
    const leat_eval_group *all = leat_eval_all(split, method);
    return all == NULL ? (double)NAN : all->metrics[LEAT_EVAL_AUROC].value;
}

static bool is_drawn(const drawn *of, int method) {
    for (int k = 0; k < of->count; k++)
        if (of->method[k] == method) return true;
    return false;
}

static drawn choose(const leat_evaluation *of, const leat_evaluation_split *split) {
    drawn out = {.count = 0};
    for (int m = 0; m < of->run_count && out.count + 1 < DRAWN; m++)
        if (!isnan(auroc_of(split, m))) out.method[out.count++] = m;
    while (out.count < DRAWN) {
        int best = -1;
        for (int m = of->run_count; m < of->method_count; m++)
            if (!is_drawn(&out, m) && !isnan(auroc_of(split, m)) &&
                (best < 0 || auroc_of(split, m) > auroc_of(split, best)))
                best = m;
        if (best < 0) break;
        out.method[out.count++] = best;
    }
    return out;
}

/* ---- Curves ------------------------------------------------------------------------------- */

/* Where a point of a curve, or the threshold, is; NAN: nowhere. */
typedef struct place {
    double x, y;
} place;
typedef place place_of(const leat_eval_group *all, int64_t true_positives, int64_t false_positives);

static place roc_place(const leat_eval_group *all, int64_t true_positives,
                       int64_t false_positives) {
    return (place){leat_ratio(false_positives, all->windows - all->attack_windows),
                   leat_ratio(true_positives, all->attack_windows)};
}

static place pr_place(const leat_eval_group *all, int64_t true_positives, int64_t false_positives) {
    if (true_positives + false_positives == 0) return (place){(double)NAN, (double)NAN};
    return (place){leat_ratio(true_positives, all->attack_windows),
                   leat_ratio(true_positives, true_positives + false_positives)};
}

/* False alarms in an hour; none is at the left end of the axis. */
static place hour_place(const leat_eval_group *all, int64_t true_positives,
                        int64_t false_positives) {
    const double hours = all->time.benign_seconds / 3600;
    return (place){(false_positives > 0 ? (double)false_positives : 0.5) / hours,
                   leat_ratio(true_positives, all->attack_windows)};
}

static void draw_curve(leat_plot *plot, const leat_evaluation_split *split, int method,
                       place_of *at, const char *class_name) {
    const leat_evaluation_result *result = &split->results[method];
    const leat_eval_group *all = leat_eval_all(split, method);
    double xs[POINTS], ys[POINTS];
    int count = 0;
    for (int64_t i = 0; i < result->curve_count && count < POINTS; i++) {
        const leat_eval_point *point = &result->curve[i];
        const place here = at(all, point->true_positives, point->false_positives);
        if (isnan(here.x)) continue;
        xs[count] = here.x;
        ys[count++] = here.y;
    }
    leat_plot_line(plot, xs, ys, count, false, class_name);
}

/* A dot where the threshold is. */
static void draw_dot(leat_plot *plot, const leat_eval_item *item, place_of *at,
                     const char *class_name) {
    const leat_eval_counts *counts = &item->group.counts;
    const place here = at(&item->group, counts->true_positives, counts->false_positives);
    leat_textbuf *out = plot->page->svg;
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES];
    if (isnan(here.x)) return;
    leat_textbuf_printf(out, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"><title>",
                        class_name, leat_plot_x(plot, here.x), leat_plot_y(plot, here.y));
    leat_html_text(out, item->name);
    leat_textbuf_printf(
        out, " at its threshold: recall %s, %s</title></circle>\n",
        leat_display_words(a, LEAT_DISPLAY_SHARE,
                           leat_ratio(counts->true_positives, item->group.attack_windows)),
        leat_things(b, counts->false_positives, "false alarm"));
}

typedef struct curve_spec {
    const char *title;
    leat_axis x, y;
    place_of *at;
    leat_eval_metric value; /* of the legend */
    const char *dots;
} curve_spec;

static void draw_curves(leat_page *page, const leat_eval_report *report,
                        const leat_evaluation_split *split, const curve_spec *spec) {
    const drawn methods = choose(report->of, split);
    leat_plot plot = {.page = page, .x = spec->x, .y = spec->y, .points = true};
    leat_eval_item item[DRAWN];
    char value[LEAT_EVAL_CELL];
    if (methods.count == 0) {
        leat_figure_empty(page, spec->title, "windows of one class alone");
        return;
    }
    leat_figure_begin(page, spec->title);
    for (int k = 0; k < methods.count; k++) {
        leat_eval_item_make(&item[k], report, split, methods.method[k]);
        snprintf(value, sizeof value, "%.3f", item[k].group.metrics[spec->value].value);
        leat_figure_item(page, line_class[k], item[k].name, value);
    }
    leat_figure_say(page, spec->dots);
    plot.series = item[0].name;
    leat_plot_begin(&plot, false);
    for (int k = methods.count - 1; k >= 0; k--) {
        plot.series = item[k].name;
        draw_curve(&plot, split, methods.method[k], spec->at, line_class[k]);
    }
    for (int k = methods.count - 1; k >= 0; k--) draw_dot(&plot, &item[k], spec->at, dot_class[k]);
    leat_plot_end(&plot);
    leat_figure_end(page);
}

static void draw_roc(leat_page *page, const leat_eval_report *report,
                     const leat_evaluation_split *split) {
    const curve_spec spec = {.title = "ROC",
                             .x = {LEAT_DISPLAY_SHARE, false, 0, 1, "benign windows that alarm"},
                             .y = {LEAT_DISPLAY_SHARE, false, 0, 1, "attack windows that alarm"},
                             .at = roc_place,
                             .value = LEAT_EVAL_AUROC,
                             .dots = "area; dots: at the threshold"};
    draw_curves(page, report, split, &spec);
}

static void draw_pr(leat_page *page, const leat_eval_report *report,
                    const leat_evaluation_split *split) {
    const curve_spec spec = {.title = "Precision and recall",
                             .x = {LEAT_DISPLAY_SHARE, false, 0, 1, "attack windows that alarm"},
                             .y = {LEAT_DISPLAY_SHARE, false, 0, 1, "alarms that are attacks"},
                             .at = pr_place,
                             .value = LEAT_EVAL_AVERAGE_PRECISION,
                             .dots = "average precision; dots: at the threshold"};
    draw_curves(page, report, split, &spec);
}

static void draw_hours(leat_page *page, const leat_eval_report *report,
                       const leat_evaluation_split *split) {
    static const char title[] = "Recall by false alarms an hour";
    const leat_eval_group *all = leat_eval_all(split, 0);
    const double hours = all->time.benign_seconds / 3600;
    const int64_t benign = all->windows - all->attack_windows;
    if (!(hours > 0) || benign == 0) {
        leat_figure_empty(page, title,
                          benign == 0 ? "no benign window" : "the windows have no bus time");
        return;
    }
    const curve_spec spec = {.title = title,
                             .x = {LEAT_DISPLAY_COUNT, true, 0.5 / hours,
                                   fmax((double)benign, 2) / hours,
                                   "false alarms a benign hour, none at the left"},
                             .y = {LEAT_DISPLAY_SHARE, false, 0, 1, "attack windows that alarm"},
                             .at = hour_place,
                             .value = LEAT_EVAL_RECALL,
                             .dots = "recall at the threshold (dots)"};
    draw_curves(page, report, split, &spec);
}

/* ---- Blame -------------------------------------------------------------------------------- */

static void draw_blame(leat_page *page, const char *title, const char *names,
                       const leat_blame_count *counts, int64_t count) {
    char words[LEAT_FIGURE_WORDS], a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES];
    if (count == 0) {
        leat_figure_empty(page, title, "no window alarms");
        return;
    }
    const int shown = count < BARS ? (int)count : BARS;
    leat_bars bars = {.page = page,
                      .unit = LEAT_DISPLAY_COUNT,
                      .peak = (double)counts[0].windows,
                      .count = shown,
                      .names = names,
                      .values = "windows that alarm",
                      .counts = "windows with an attack"};
    leat_figure_begin(page, title);
    leat_figure_say(page, "in windows that alarm");
    snprintf(words, sizeof words, "(the first %s of %s)", leat_words_count(a, shown),
             leat_words_count(b, count));
    if (shown < count) leat_figure_say(page, words);
    leat_bars_begin(&bars);
    for (int i = 0; i < shown; i++) {
        snprintf(words, sizeof words, "%s, %s of them with an attack",
                 leat_things(a, counts[i].windows, "window"),
                 leat_words_count(b, counts[i].attack_windows));
        leat_bars_put(&bars, counts[i].text, (double)counts[i].windows, counts[i].attack_windows,
                      "bar", words);
    }
    leat_bars_end(&bars);
    leat_figure_end(page);
}

/* "The injected identifier is blamed in 90.1 % of 81 detected windows with an attack (...)." */
static void put_share(leat_textbuf *out, const leat_blame_share *share) {
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], c[LEAT_WORDS_BYTES];
    leat_textbuf_put(out, "<li>");
    leat_html_text(out, share->attack < 0 ? "all" : leat_can_attack_name_of(1, share->attack));
    if (isnan(share->share.value)) {
        leat_textbuf_printf(out, ": undefined, %s</li>\n",
                            leat_eval_reason_text(share->share.undefined));
        return;
    }
    leat_textbuf_printf(out, ": %s of %s",
                        leat_display_words(a, LEAT_DISPLAY_SHARE, share->share.value),
                        leat_things(b, share->known, "detected window"));
    if (share->detected > share->known)
        leat_textbuf_printf(out, " (in %s more it cannot be told)",
                            leat_words_count(c, share->detected - share->known));
    leat_textbuf_printf(out, ", %s to %s at 95 %%</li>\n",
                        leat_display_words(a, LEAT_DISPLAY_SHARE, share->wilson.low),
                        leat_display_words(c, LEAT_DISPLAY_SHARE, share->wilson.high));
}

static void put_blame(leat_page *page, const leat_eval_report *report,
                      const leat_evaluation_split *split) {
    leat_textbuf *out = page->out;
    const int method = 0; /* the first run */
    const leat_evaluation_result *result = &split->results[method];
    char name[LEAT_PLAIN_BYTES];
    if (split->blamed_identifiers[method] == NULL) return;
    leat_textbuf_put(out, "<h3>What ");
    leat_html_text(out, leat_eval_method_words(name, report->of, method));
    leat_textbuf_put(out, " blames</h3>\n");
    if (result->share_count > 0) {
        leat_textbuf_put(out, "<p class=\"note\">Where an attack is detected, the identifier of "
                              "its first injected frame in the window is blamed in</p>\n<ul "
                              "class=\"note\">\n");
        for (int64_t i = 0; i < result->share_count; i++) put_share(out, &result->shares[i]);
        leat_textbuf_put(out, "</ul>\n");
    }
    leat_textbuf_put(out, "<div class=\"figures\">\n");
    draw_blame(page, "Identifiers that are blamed", "identifier", result->identifiers,
               result->identifier_count);
    draw_blame(page, "Features that are blamed", "feature", result->features,
               result->feature_count);
    leat_textbuf_put(out, "</div>\n");
}

/* ---- All of it ---------------------------------------------------------------------------- */

void leat_eval_figures(leat_page *page, const leat_eval_report *report,
                       const leat_evaluation_split *split) {
    leat_textbuf_put(page->out, "<h3>Curves</h3>\n<div class=\"figures\">\n");
    draw_roc(page, report, split);
    draw_pr(page, report, split);
    draw_hours(page, report, split);
    leat_textbuf_put(page->out, "</div>\n");
    leat_eval_courses(page, report, split);
    put_blame(page, report, split);
}
