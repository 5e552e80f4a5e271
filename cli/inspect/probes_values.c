/* The figures of values: round trips and failures, by version, split, hour and row. */
#include <math.h>
#include <stdio.h>

#include "inspect/inspect.h"

/* ---- Round trips -------------------------------------------------------------------------- */

void leat_summary_rtts(const leat_summary *s, int split, int version, leat_distribution *out) {
    *out = (leat_distribution){0};
    for (int i = 0; i <= LEAT_SPLITS; i++)
        for (int k = 0; k < 2; k++)
            if ((split < 0 || split == i) && (version < 0 || version == k))
                leat_distribution_merge(out, &s->rtt_ns_by_part[i][k]);
}

static const leat_histogram rtts_of = {.x_label = "rtt",
                                       .y_label = "share of the answers",
                                       .things = "answers",
                                       .empty = "no answers were read",
                                       .unit = LEAT_DISPLAY_RTT_NS};

static void draw_versions(leat_page *page, const leat_summary *s) {
    leat_histogram spec = rtts_of;
    leat_distribution four, six;
    leat_summary_rtts(s, -1, 0, &four);
    leat_summary_rtts(s, -1, 1, &six);
    const leat_series series[] = {{"IPv4", &four}, {"IPv6", &six}};
    spec.title = "Round trip time, IPv4 and IPv6";
    if (four.count > 0 && six.count > 0) leat_figure_series(page, &spec, series, 2);
}

static void draw_splits(leat_page *page, const leat_summary *s) {
    leat_histogram spec = rtts_of;
    leat_distribution train, test;
    leat_summary_rtts(s, LEAT_SPLIT_TRAIN, -1, &train);
    leat_summary_rtts(s, LEAT_SPLIT_TEST, -1, &test);
    const leat_series series[] = {{"train", &train}, {"test", &test}};
    spec.title = "Round trip time, train and test";
    if (train.count > 0 && test.count > 0) leat_figure_series(page, &spec, series, 2);
}

/* From the smallest p10 to the largest p90 of the hours, which must be more than a point. */
static leat_axis hours_axis(const leat_summary *s) {
    leat_axis axis = {LEAT_DISPLAY_RTT_NS, true, INFINITY, 0, "rtt"};
    for (int hour = 0; hour < 24; hour++) {
        const leat_distribution *dist = &s->rtt_ns_by_hour[hour];
        if (dist->count == 0) continue;
        axis.low = fmin(axis.low, fmax(1, leat_distribution_quantile(dist, 0.1)));
        axis.high = fmax(axis.high, leat_distribution_quantile(dist, 0.9));
    }
    axis.low /= 1.2;
    axis.high = fmax(axis.high, axis.low * 1.5) * 1.2;
    return axis;
}

static void draw_hour(leat_plot *plot, const leat_distribution *dist, int hour) {
    static const char *const ends[] = {"p10", "p90"};
    char words[LEAT_FIGURE_WORDS], a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], c[LEAT_WORDS_BYTES],
        d[LEAT_WORDS_BYTES];
    double p10 = leat_distribution_quantile(dist, 0.1), p90 = leat_distribution_quantile(dist, 0.9);
    double p50 = leat_distribution_quantile(dist, 0.5);
    snprintf(words, sizeof words, "from %02d:00: p10 %s, median %s, p90 %s of %s", hour,
             leat_display_words(a, LEAT_DISPLAY_RTT_NS, p10),
             leat_display_words(b, LEAT_DISPLAY_RTT_NS, p50),
             leat_display_words(c, LEAT_DISPLAY_RTT_NS, p90),
             leat_things(d, dist->count, "answer"));
    leat_plot_range(plot, (leat_plot_span){hour, hour + 1},
                    (leat_plot_span){fmax(p10, plot->y.low), p90}, ends, "bar range", words);
    plot->series = "median";
    leat_plot_line(plot, (const double[]){hour, hour + 1}, (const double[]){p50, p50}, 2, true,
                   "line l1");
}

static void draw_hours(leat_page *page, const leat_summary *s) {
    static const char title[] = "Round trip time by hour of the day";
    if (s->rtt_ns.count == 0) {
        leat_figure_empty(page, title, "no answers were read");
        return;
    }
    leat_plot plot = {.page = page,
                      .x = {LEAT_DISPLAY_COUNT, false, 0, 24, "hour (UTC)"},
                      .y = hours_axis(s),
                      .series = "median"};
    leat_figure_begin(page, title);
    leat_figure_item(page, "line l1", "median", NULL);
    leat_figure_item(page, "bar range", "p10 to p90", NULL);
    leat_plot_begin(&plot, false);
    for (int hour = 0; hour < 24; hour++)
        if (s->rtt_ns_by_hour[hour].count > 0) draw_hour(&plot, &s->rtt_ns_by_hour[hour], hour);
    leat_plot_end(&plot);
    leat_figure_end(page);
}

/* ---- Over time ---------------------------------------------------------------------------- */

/* The beginning of a part of the time of the data set; of LEAT_SUMMARY_COURSE: its end. */
double leat_course_begin(const leat_summary *s, int part) {
    double span = (double)s->last_us - (double)s->first_us + 1;
    return (double)s->first_us + span * part / LEAT_SUMMARY_COURSE;
}

/* A line for each run of parts that have answers: the medians of a probe. */
static void draw_course(leat_plot *plot, const leat_summary *s, int number,
                        const char *class_name) {
    double xs[LEAT_SUMMARY_COURSE + 1], ys[LEAT_SUMMARY_COURSE + 1];
    const leat_summary_course *course = &s->top_course[number];
    int count = 0;
    for (int part = 0; part <= LEAT_SUMMARY_COURSE; part++) {
        bool has = part < LEAT_SUMMARY_COURSE && course->answers[part] > 0;
        if (has) {
            xs[count] = leat_course_begin(s, part);
            ys[count++] = s->top_median_ns[number][part];
        } else if (count > 0) {
            xs[count] = leat_course_begin(s, part);
            ys[count] = ys[count - 1];
            leat_plot_line(plot, xs, ys, count + 1, true, class_name);
            count = 0;
        }
    }
}

static leat_axis course_axis(const leat_summary *s, int probes) {
    leat_axis axis = {LEAT_DISPLAY_RTT_NS, true, INFINITY, 0, "median rtt"};
    for (int i = 0; i < probes; i++) {
        for (int part = 0; part < LEAT_SUMMARY_COURSE; part++) {
            if (s->top_course[i].answers[part] == 0) continue;
            axis.low = fmin(axis.low, fmax(1, s->top_median_ns[i][part]));
            axis.high = fmax(axis.high, s->top_median_ns[i][part]);
        }
    }
    if (axis.high == 0) return axis;
    axis.low /= 1.2;
    axis.high = fmax(axis.high, axis.low * 1.5) * 1.2;
    return axis;
}

static void draw_courses(leat_page *page, const leat_summary *s) {
    static const char *const classes[LEAT_SUMMARY_COURSES] = {"line l1", "line l2", "line l3"};
    int probes = s->top_count < LEAT_SUMMARY_COURSES ? s->top_count : LEAT_SUMMARY_COURSES;
    leat_plot plot = {.page = page,
                      .x = {LEAT_DISPLAY_DATE_US, false, (double)s->first_us,
                            leat_course_begin(s, LEAT_SUMMARY_COURSE), "time (UTC)"},
                      .y = course_axis(s, probes),
                      .series = "address"};
    if (plot.y.high == 0) return; /* nothing was read, or no answers */
    leat_figure_begin(page, "Round trip time over time, largest probes");
    for (int i = 0; i < probes; i++)
        leat_figure_item(page, classes[i], s->top[i].src[0] != 0 ? s->top[i].src : "(none)", NULL);
    leat_plot_begin(&plot, false);
    for (int i = 0; i < probes; i++) {
        plot.series = s->top[i].src;
        draw_course(&plot, s, i, classes[i]);
    }
    leat_plot_end(&plot);
    leat_figure_end(page);
}

/* ---- Failures ----------------------------------------------------------------------------- */

const char *const leat_loss_words[LEAT_LOSSES] = {
    "none", "up to 1 %", "1 to 5 %", "5 to 20 %", "20 to 50 %", "over 50 %, not all", "all"};

typedef struct losses {
    const char *title, *words;
    const char *thing, *things; /* "row", "rows" */
    const char *values;         /* "share of the rows" */
    const char *empty;          /* shown if there are none */
    const int64_t *counts;
} losses;

static void draw_losses(leat_page *page, const losses *of) {
    int64_t all = 0, peak = 0;
    for (int i = 0; i < LEAT_LOSSES; i++) {
        all += of->counts[i];
        if (of->counts[i] > peak) peak = of->counts[i];
    }
    if (all == 0) {
        leat_figure_empty(page, of->title, of->empty);
        return;
    }
    leat_bars bars = {.page = page,
                      .unit = LEAT_DISPLAY_SHARE,
                      .peak = leat_ratio(peak, all),
                      .count = LEAT_LOSSES,
                      .names = "failed",
                      .values = of->values,
                      .counts = of->things};
    leat_figure_begin(page, of->title);
    leat_figure_say(page, of->words);
    leat_bars_begin(&bars);
    for (int i = 0; i < LEAT_LOSSES; i++) {
        char words[LEAT_FIGURE_WORDS], a[LEAT_WORDS_BYTES];
        snprintf(words, sizeof words, "%s", leat_things(a, of->counts[i], of->thing));
        leat_bars_put(&bars, leat_loss_words[i], leat_ratio(of->counts[i], all), of->counts[i],
                      i == LEAT_LOSS_NONE ? "bar" : "bar bad", words);
    }
    leat_bars_end(&bars);
    leat_figure_end(page);
}

static void draw_row_losses(leat_page *page, const leat_summary *s) {
    const losses rows = {.title = "Rows by share of failures",
                         .words = "share of the rows; a probe has one row or more",
                         .thing = "row",
                         .things = "rows",
                         .values = "share of the rows",
                         .empty = "no values were read",
                         .counts = s->rows_by_loss};
    draw_losses(page, &rows);
}

static void draw_destination_losses(leat_page *page, const leat_summary *s) {
    char words[LEAT_FIGURE_WORDS], empty[LEAT_FIGURE_WORDS];
    snprintf(words, sizeof words,
             "share of the destinations with %d measurements or more that were read%s",
             LEAT_SUMMARY_JUDGED, s->destinations_halved > 0 ? "; of a sample" : "");
    snprintf(empty, sizeof empty, "no destination has %d measurements", LEAT_SUMMARY_JUDGED);
    const losses destinations = {.title = "Destinations by share of failures",
                                 .words = words,
                                 .thing = "destination",
                                 .things = "destinations",
                                 .values = "share of the destinations",
                                 .empty = s->measurements_read > 0 ? empty : "no values were read",
                                 .counts = s->destinations_by_loss};
    draw_losses(page, &destinations);
}

void leat_report_values(leat_page *page, const leat_summary *s) {
    draw_versions(page, s);
    draw_splits(page, s);
    draw_hours(page, s);
    draw_courses(page, s);
    draw_row_losses(page, s);
    draw_destination_losses(page, s);
}
