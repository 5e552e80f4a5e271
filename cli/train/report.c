/* RUN/report.html: one self-contained page, updated during training. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "page/page.h"
#include "train/train.h"

enum { POINTS = LEAT_RUN_POINTS, GRIDS = 4 };

typedef struct run_report {
    leat_run_shown of;
    leat_png *grids[GRIDS];
    leat_run_kept grid[GRIDS];
    int32_t width[GRIDS], height[GRIDS];
    int grid_count;
    leat_run_contributors contributors;
    char ledger_problem[LEAT_MESSAGE_BYTES]; /* "": none */
} run_report;

/* ---- Curves ------------------------------------------------------------------------------- */

enum { LINES = 3 }; /* of a figure: lines of as many kinds are easily told apart */
static const char *const classes[LINES] = {"line l1", "line l2", "line l3"};

/* Curves over the steps, NaN where they are not known. */
typedef struct run_figure {
    const char *title, *axis, *names[LINES];
    const char *better; /* NULL: nothing to say */
    int count;          /* curves */
    int points;
    double xs[POINTS], ys[LINES][POINTS];
} run_figure;

/* Curves are points: what was measured, and when. */
static void begin_curves(leat_plot *plot, const run_figure *of) {
    if (of->better != NULL) leat_figure_say(plot->page, of->better);
    for (int i = 0; i < of->count; i++)
        leat_figure_item(plot->page, classes[i], of->names[i], NULL);
    plot->points = true;
    plot->series = of->names[0];
    leat_plot_begin(plot, false);
}

/* From the lowest value, if one is below 0, to the highest. */
static void draw_curves(leat_page *page, const leat_run_metrics *metrics, const run_figure *of,
                        const char *why_empty) {
    double high = 0, low = 0, xs[POINTS], ys[POINTS];
    if (of->points < 2) {
        leat_figure_empty(page, of->title, why_empty);
        return;
    }
    for (int k = 0; k < of->count; k++)
        for (int i = 0; i < of->points; i++) {
            high = fmax(high, of->ys[k][i]);
            low = fmin(low, of->ys[k][i]);
        }
    leat_plot plot = {.page = page,
                      .x = {LEAT_DISPLAY_COUNT, false, 0, (double)metrics->last_step, "step"},
                      .y = {LEAT_DISPLAY_NUMBER, false, low < 0 ? -leat_axis_end(-low) : 0,
                            leat_axis_end(high), of->axis}};
    leat_figure_begin(page, of->title);
    begin_curves(&plot, of);
    for (int k = 0; k < of->count; k++) {
        int known = 0;
        for (int i = 0; i < of->points; i++) {
            if (isnan(of->ys[k][i])) continue;
            xs[known] = of->xs[i];
            ys[known++] = of->ys[k][i];
        }
        plot.series = of->names[k];
        leat_plot_line(&plot, xs, ys, known, false, classes[k]);
    }
    leat_plot_end(&plot);
    leat_figure_end(page);
}

static bool is_with(const leat_value *a, const leat_value *b) {
    return a->figure != NULL && b->figure != NULL && strcmp(a->figure, b->figure) == 0;
}

/* Numbers by name over the steps: those of all steps, or what is measured after some. */
typedef struct run_series {
    const leat_value *names;
    int count; /* of points */
    const leat_run_point *points;
    const leat_run_measurement *measurements; /* if points is NULL */
    const char *why_empty;
} run_series;

static run_series values_of(const leat_run_metrics *metrics) {
    return (run_series){.names = metrics->names,
                        .count = (int)metrics->point_count,
                        .points = metrics->points,
                        .why_empty = "fewer than two steps so far"};
}

static run_series measures_of(const leat_run_metrics *metrics) {
    return (run_series){.names = metrics->measures,
                        .count = (int)metrics->measurement_count,
                        .measurements = metrics->measurements,
                        .why_empty = "measured fewer than twice so far"};
}

static double step_at(const run_series *of, int i) {
    return (double)(of->points != NULL ? of->points[i].step : of->measurements[i].step);
}

static double number_at(const run_series *of, int i, int index) {
    return of->points != NULL ? of->points[i].values[index] : of->measurements[i].values[index];
}

/* The figure that begins with the value `index`: it and the next ones of the same figure, of which
 * a lower or a higher one may be better if they are measured. Points at which none is known are
 * left out. */
static void draw_figure(leat_page *page, const leat_run_metrics *metrics, const run_series *of,
                        int index) {
    const leat_value *names = of->names;
    run_figure figure = {.title = names[index].figure, .axis = names[index].axis};
    int indices[LINES], better = of->points == NULL ? names[index].better : 0;
    for (int k = index; names[k].name != NULL && figure.count < LINES; k++) {
        if (!is_with(&names[k], &names[index])) continue;
        indices[figure.count] = k;
        if (names[k].better != better) better = 0;
        figure.names[figure.count++] = names[k].label;
    }
    figure.better = leat_train_better_words(better);
    for (int i = 0; i < of->count; i++) {
        bool known = false;
        figure.xs[figure.points] = step_at(of, i);
        for (int k = 0; k < figure.count; k++) {
            figure.ys[k][figure.points] = number_at(of, i, indices[k]);
            known = known || !isnan(figure.ys[k][figure.points]);
        }
        figure.points += known;
    }
    draw_curves(page, metrics, &figure, of->why_empty);
}

/* The figures that begin with the values number first .. end - 1; more than LINES with the title of
 * one are several figures. */
static void draw_figures(leat_page *page, const leat_run_metrics *metrics, const run_series *of,
                         int first, int end) {
    for (int i = first; i < end; i++) {
        int before = 0;
        for (int k = 0; k < i; k++) before += is_with(&of->names[k], &of->names[i]);
        if (of->names[i].figure != NULL && before % LINES == 0) draw_figure(page, metrics, of, i);
    }
}

static void draw_seconds(leat_page *page, const leat_run_metrics *metrics) {
    run_figure figure = {
        .title = "Time", .axis = "seconds", .names = {"seconds per step"}, .count = 1};
    for (int64_t i = 0; i < metrics->point_count; i++) {
        figure.xs[figure.points] = (double)metrics->points[i].step;
        figure.ys[0][figure.points++] = metrics->points[i].seconds;
    }
    draw_curves(page, metrics, &figure, "fewer than two steps so far");
}

/* Whether what decides which checkpoint is best is a distance, of which a lower one is better, with
 * a figure of its own. */
static bool is_distance(const leat_value *measures) {
    for (int i = 1; i < leat_value_count(measures); i++)
        if (is_with(&measures[i], &measures[0])) return false;
    return leat_value_count(measures) > 0 && measures[0].figure != NULL && measures[0].better < 0;
}

/* On a logarithmic axis, above the distance of one half of the data from the other. */
static void draw_distance(leat_page *page, const run_report *report) {
    double xs[POINTS], ys[POINTS];
    const leat_run_metrics *metrics = report->of.metrics;
    const leat_value *measure = &metrics->measures[0];
    const double halves = report->of.facts.reference.value;
    const int count = (int)metrics->measurement_count;
    char words[LEAT_WORDS_BYTES], label[LEAT_FIGURE_WORDS];
    double high = 0, low = isnan(halves) || !(halves > 0) ? INFINITY : halves;
    int points = 0;
    for (int i = 0; i < count; i++) {
        const double value = metrics->measurements[i].values[0];
        if (!(value > 0)) continue;
        xs[points] = (double)metrics->measurements[i].step;
        ys[points++] = value;
        high = fmax(high, value);
        low = fmin(low, value);
    }
    if (points < 2) {
        leat_figure_empty(page, measure->figure, "measured fewer than twice so far");
        return;
    }
    leat_plot plot = {.page = page,
                      .x = {LEAT_DISPLAY_COUNT, false, 0, (double)metrics->last_step, "step"},
                      .y = {LEAT_DISPLAY_NUMBER, true, low / 1.2, high * 1.2, measure->axis}};
    plot.points = true;
    plot.series = measure->label;
    leat_figure_begin(page, measure->figure);
    leat_figure_say(page, leat_train_better_words(measure->better));
    snprintf(label, sizeof label, "%s, now", measure->label);
    leat_figure_item(page, classes[0], label,
                     leat_display_words(words, LEAT_DISPLAY_NUMBER, ys[points - 1]));
    if (halves > 0)
        leat_figure_item(page, classes[2], "half of the images against the other half",
                         leat_display_words(words, LEAT_DISPLAY_NUMBER, halves));
    leat_plot_begin(&plot, false);
    leat_plot_line(&plot, xs, ys, points, false, classes[0]);
    if (halves > 0) {
        const double ends[2] = {0, (double)metrics->last_step}, both[2] = {halves, halves};
        plot.series = "halves of the images";
        leat_plot_line(&plot, ends, both, 2, false, classes[2]);
    }
    leat_plot_end(&plot);
    leat_figure_end(page);
}

/* ---- The page ----------------------------------------------------------------------------- */

static void put_cards(leat_textbuf *out, const run_report *report) {
    const leat_run_metrics *metrics = report->of.metrics;
    leat_train_sum sum;
    leat_textbuf_put(out, "<div class=\"cards\">\n");
    leat_run_shown_cards(out, &report->of, "last_step images");
    if (metrics->point_count > 0) {
        leat_run_shown_cards(out, &report->of, "step_seconds");
        const leat_run_point *last = &metrics->points[metrics->point_count - 1];
        for (int k = 0; leat_train_sum_at(metrics->names, last->values, k, &sum); k++)
            leat_page_card(out, sum.words, LEAT_DISPLAY_NUMBER, sum.value);
    }
    if (metrics->measurement_count > 0) {
        const leat_run_measurement *last = &metrics->measurements[metrics->measurement_count - 1];
        for (int k = 0; leat_train_sum_at(metrics->measures, last->values, k, &sum); k++)
            leat_page_card(out, sum.words, LEAT_DISPLAY_NUMBER, sum.value);
    }
    leat_textbuf_put(out, "</div>\n");
}

static void put_warnings(leat_textbuf *out, const run_report *report) {
    for (int kind = 0; kind < LEAT_WARNINGS_MAX; kind++) {
        char text[LEAT_WARNING_BYTES];
        if (!leat_train_warned(report->of.metrics->warnings, kind, text)) continue;
        leat_textbuf_put(out, "<div class=\"panel verdict bad\"><p>Warning: ");
        leat_html_text(out, text);
        leat_textbuf_put(out, ".</p></div>\n");
    }
}

static void put_grids(leat_textbuf *out, const run_report *report) {
    if (report->grid_count == 0) return;
    leat_textbuf_put(out, "<h2>Samples</h2>\n<div class=\"two\">\n");
    for (int i = 0; i < report->grid_count; i++) {
        leat_textbuf_printf(out, "<div class=\"panel\"><h3>step %lld</h3>\n",
                            (long long)report->grid[i].step);
        leat_page_png(out, report->grids[i], report->width[i], report->height[i], "picture",
                      "generated images");
        leat_textbuf_put(out, "</div>\n");
    }
    leat_textbuf_put(out, "</div>\n");
}

static void put_settings(leat_textbuf *out, const run_report *report) {
    leat_textbuf_put(out, "<h2>Settings</h2>\n<div class=\"panel scroll\"><table>\n");
    const char *name, *value;
    for (int i = 0; leat_run_setting_at(report->of.run, i, &name, &value); i++)
        leat_page_text_row(out, name, value);
    leat_run_shown_cards(out, &report->of, "model data kernel_class run_hash");
    leat_textbuf_put(out, "</table></div>\n");
}

static void put_checkpoints(leat_textbuf *out, const run_report *report) {
    const leat_value *measures = report->of.metrics->measures;
    const bool measured = leat_value_count(measures) > 0;
    leat_run_checkpoint of;
    leat_textbuf_put(out, "<h2>Checkpoints</h2>\n<div class=\"panel scroll\"><table>\n<tr><th>step"
                          "</th><th>");
    leat_html_text(out, measured ? measures[0].name : "score");
    leat_textbuf_put(out, "</th><th class=\"text\">hash of the state</th></tr>\n");
    for (int i = 0; leat_run_checkpoint_at(report->of.run, i, &of); i++) {
        leat_textbuf_printf(out, "<tr><td>%lld</td><td>", (long long)of.step);
        if (measured && !isnan(of.measured[0])) leat_textbuf_printf(out, "%.4g", of.measured[0]);
        if (of.best) leat_textbuf_printf(out, " (%s)", leat_train_best_word(&measures[0]));
        leat_textbuf_printf(out, "</td><td class=\"text mono wide\">%s</td></tr>\n", of.state);
    }
    leat_textbuf_put(out, "</table></div>\n");
}

/* `refused` -1: there is no such number. */
static void put_contributor(leat_textbuf *out, const char *name, int64_t units, int64_t all,
                            int64_t refused) {
    char words[LEAT_WORDS_BYTES];
    leat_textbuf_put(out, "<tr><td class=\"text\">");
    leat_html_text(out, name);
    leat_textbuf_printf(out, "</td><td>%s</td>",
                        leat_display_words(words, LEAT_DISPLAY_COUNT, (double)units));
    leat_textbuf_printf(out, "<td>%s</td>",
                        leat_display_words(words, LEAT_DISPLAY_SHARE, leat_ratio(units, all)));
    leat_textbuf_printf(
        out, "<td>%s</td></tr>\n",
        refused < 0 ? "" : leat_display_words(words, LEAT_DISPLAY_COUNT, (double)refused));
}

static void put_count(leat_textbuf *out, const char *before, int64_t count) {
    char words[LEAT_WORDS_BYTES];
    leat_textbuf_put(out, before);
    leat_textbuf_put(out, leat_display_words(words, LEAT_DISPLAY_COUNT, (double)count));
}

/* Of which steps the ledger says who computed them: shares are of these. */
static void put_known_steps(leat_textbuf *out, const run_report *report) {
    const leat_run_contributors *all = &report->contributors;
    const int64_t taken = report->of.metrics->last_step;
    const bool later = taken > all->last_step; /* than all that the ledger has */
    const int64_t steps = later ? taken : all->last_step, missing = steps - all->steps;
    const int64_t first = all->missing_first > 0 ? all->missing_first : all->last_step + 1;
    const int64_t last = later ? taken : all->missing_last;
    put_count(out, "<p>Units of ", all->steps);
    put_count(out, " of ", steps);
    leat_textbuf_put(out, steps == 1 ? " step." : " steps.");
    if (missing > 0) {
        const bool all_between = missing == last - first + 1;
        leat_textbuf_put(out, " Who computed ");
        if (!all_between) put_count(out, "", missing);
        put_count(out, missing == 1 ? "step " : all_between ? "steps " : " of the steps ", first);
        if (missing > 1) put_count(out, " to ", last);
        leat_textbuf_put(out, " is not known.");
    }
    leat_textbuf_put(out, "</p>");
}

/* Accounts are logins of a database: names that whoever invited them chose. */
static void put_contributors(leat_textbuf *out, const run_report *report) {
    const leat_run_contributors *all = &report->contributors;
    const bool begun = all->accounts > 0 || all->units > 0 || report->of.metrics->last_step > 0;
    char words[LEAT_WORDS_BYTES];
    if (!(all->ledger && begun) && report->ledger_problem[0] == 0) return;
    leat_textbuf_put(out, "<h2>Who computed it</h2>\n<div class=\"panel scroll\">");
    if (report->ledger_problem[0] != 0) {
        leat_textbuf_put(out, "<p>Not known: ");
        leat_html_text(out, report->ledger_problem);
        leat_textbuf_put(out, "</p></div>\n");
        return;
    }
    put_known_steps(out, report);
    leat_textbuf_put(out, "<table>\n<tr><th class=\"text\">account</th><th>units</th><th>share</th>"
                          "<th>refused results</th></tr>\n");
    for (int i = 0; i < all->count; i++)
        put_contributor(out, all->shown[i].account, all->shown[i].units, all->units,
                        all->shown[i].refused);
    if (all->own > 0) put_contributor(out, "(the coordinator)", all->own, all->units, -1);
    leat_textbuf_put(out, "</table>\n");
    if (all->accounts > all->count)
        leat_textbuf_printf(out, "<p>%d of %s accounts, those with most units.</p>\n", all->count,
                            leat_display_words(words, LEAT_DISPLAY_COUNT, (double)all->accounts));
    leat_textbuf_put(out, "</div>\n");
}

/* The first figure of a model's values, such as its loss, then what is measured, then the rest. */
static void put_curves(leat_page *page, const run_report *report) {
    const leat_run_metrics *metrics = report->of.metrics;
    const run_series values = values_of(metrics), measures = measures_of(metrics);
    const bool distance = is_distance(measures.names);
    draw_figures(page, metrics, &values, 0, 1);
    if (distance) draw_distance(page, report);
    draw_figures(page, metrics, &measures, distance, leat_value_count(measures.names));
    draw_figures(page, metrics, &values, 1, leat_value_count(values.names));
}

static void put_page(leat_page *page, const void *user) {
    leat_textbuf *out = page->out;
    const run_report *report = user;
    const bool many = report->contributors.ledger || report->ledger_problem[0] != 0;
    const char *command = many ? "leat coordinate" : "leat train";
    leat_page_begin(out, report->of.facts.path, command);
    leat_textbuf_printf(out,
                        "<p class=\"sub\">A run of %s. The page is updated during "
                        "training; reload it to see progress.</p>\n</header>\n",
                        command);
    put_warnings(out, report);
    put_cards(out, report);
    leat_textbuf_put(out, "<div class=\"figures\">\n");
    put_curves(page, report);
    draw_seconds(page, report->of.metrics);
    leat_textbuf_put(out, "</div>\n");
    put_grids(out, report);
    put_contributors(out, report);
    put_checkpoints(out, report);
    put_settings(out, report);
    leat_page_end(out, "", NULL);
}

/* ---- What it is made of ------------------------------------------------------------------- */

/* The first grid, the last one, and some in between; without those that cannot be read. */
static leat_code load_grids(run_report *report, leat_error *err) {
    leat_run_kept of;
    int all = 0;
    while (leat_run_kept_at(report->of.run, all, &of)) all++;
    const int shown = all < GRIDS ? all : GRIDS;
    for (int i = 0; i < shown; i++) {
        const int index = shown == 1 ? 0 : (int)((int64_t)i * (all - 1) / (shown - 1));
        const int to = report->grid_count;
        (void)leat_run_kept_at(report->of.run, index, &report->grid[to]);
        leat_code code = leat_png_load(&report->grids[to], report->grid[to].path,
                                       &report->width[to], &report->height[to], err);
        if (code == LEAT_ERR_MEMORY) return code;
        if (code == LEAT_OK) report->grid_count++;
    }
    return LEAT_OK;
}

/* A ledger that is damaged does not keep the page from being written. */
static leat_code load_contributors(run_report *report, leat_error *err) {
    const leat_code code = leat_run_contributors_load(report->of.run, &report->contributors, err);
    if (code == LEAT_OK || code == LEAT_ERR_MEMORY) return code;
    snprintf(report->ledger_problem, sizeof report->ledger_problem, "%s", err->message);
    return LEAT_OK;
}

static leat_code write_report(run_report *report, const char *path, leat_error *err) {
    char file[4200];
    leat_code code = leat_run_shown_open(&report->of, path, err);
    if (code == LEAT_OK) code = load_grids(report, err);
    if (code == LEAT_OK) code = load_contributors(report, err);
    if (code != LEAT_OK) return code;
    snprintf(file, sizeof file, "%s/report.html", path);
    const leat_page_places places = {.path = file, .replace = true};
    return leat_page_save(&places, put_page, report, err);
}

leat_code leat_train_report(const char *path, leat_error *err) {
    run_report report = {0};
    const leat_code code = write_report(&report, path, err);
    for (int i = 0; i < GRIDS; i++) leat_png_destroy(report.grids[i]);
    leat_run_shown_close(&report.of);
    return code;
}
