/* The figures of the page: their values, axes and captions. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "inspect/inspect.h"

/* ---- How measurements spread over rows and probes ------------------------------------------ */

/* Points (value, share of the count that is at least value), for a log-log plot. */
static int ccdf_points(const leat_distribution *dist, double *xs, double *ys, int max_points) {
    int count = 0;
    double above = (double)dist->count;
    for (int bin = 0; bin < LEAT_DISTRIBUTION_BINS && count + 1 < max_points; bin++) {
        if (dist->bins[bin] == 0) continue;
        double low = (double)leat_distribution_bin_low(bin);
        xs[count] = low < (double)dist->min ? (double)dist->min : low;
        ys[count++] = above / (double)dist->count;
        above -= (double)dist->bins[bin];
    }
    /* The largest bin may hold smaller values than the largest; how many is not known. */
    if (dist->bins[leat_distribution_bin(dist->max)] == 1 && xs[count - 1] < (double)dist->max) {
        xs[count] = (double)dist->max;
        ys[count++] = 1 / (double)dist->count;
    }
    return count;
}

static void draw_measurements(leat_page *page, const leat_summary *s) {
    enum { POINTS = LEAT_DISTRIBUTION_BINS + 1 }; /* those of a bin, and the largest value */
    double xs[POINTS], ys[POINTS];
    const char *title = "Measurements per row and per probe";
    if (s->row_measurements.count == 0) {
        leat_figure_empty(page, title, "no rows");
        return;
    }
    const leat_distribution *widest = &s->row_measurements;
    if (s->probe_measurements.max > widest->max) widest = &s->probe_measurements;
    double low = (double)s->row_measurements.min, high = (double)widest->max;
    if (low < 1) low = 1;
    if (high < low * 2) high = low * 2;
    leat_plot plot = {.page = page,
                      .x = {LEAT_DISPLAY_COUNT, true, low, high, "measurements"},
                      .y = {LEAT_DISPLAY_SHARE, true, 1 / (double)s->row_measurements.count, 1,
                            "share with at least that many"}};
    if (plot.y.low > 0.1) plot.y.low = 0.1;
    leat_figure_begin(page, title);
    leat_figure_item(page, "line l1", "rows", NULL);
    leat_figure_item(page, "line l2", "probes", NULL);
    plot.points = true;
    plot.series = "rows";
    leat_plot_begin(&plot, false);
    leat_plot_line(&plot, xs, ys, ccdf_points(&s->row_measurements, xs, ys, POINTS), false,
                   "line l1");
    plot.series = "probes";
    if (s->probe_measurements.count > 0)
        leat_plot_line(&plot, xs, ys, ccdf_points(&s->probe_measurements, xs, ys, POINTS), false,
                       "line l2");
    leat_plot_end(&plot);
    leat_figure_end(page);
}

/* The share of all measurements that the `probes` largest probes hold, of 1 to all of them. The
 * probes of a bin are assumed equal. */
static double held_by(const leat_distribution *dist, double probes) {
    const int top = leat_distribution_bin(dist->max);
    double held = (double)dist->max, left = probes - 1;
    for (int bin = top; bin >= 0 && left > 0; bin--) {
        double here = (double)dist->bins[bin] - (bin == top ? 1 : 0);
        double low = (double)leat_distribution_bin_low(bin),
               high = (double)leat_distribution_bin_low(bin + 1) - 1;
        if (high > (double)dist->max) high = (double)dist->max;
        if (here > left) here = left;
        held += here * (low + high) / 2;
        left -= here;
    }
    const double share = held / (leat_distribution_mean(dist) * (double)dist->count);
    return share > 1 ? 1 : share;
}

/* Points (share of the probes, share of the measurements that they hold), largest probes first, at
 * equal distances on the logarithmic axis, from one probe to all. */
static void concentration_points(const leat_distribution *dist, double *xs, double *ys,
                                 int points) {
    const double n = (double)dist->count;
    for (int i = 0; i < points; i++) {
        const double probes = i + 1 == points ? n : pow(n, (double)i / (points - 1));
        xs[i] = probes / n;
        ys[i] = held_by(dist, probes);
    }
}

static void draw_concentration(leat_page *page, const leat_summary *s) {
    enum { POINTS = 256 };
    double xs[POINTS], ys[POINTS];
    const leat_distribution *dist = &s->probe_measurements;
    const char *title = "Share held by the largest probes";
    if (dist->count == 0) {
        leat_figure_empty(page, title, "no rows");
        return;
    }
    concentration_points(dist, xs, ys, POINTS);
    char words[LEAT_WORDS_BYTES];
    double low = 1 / (double)dist->count;
    leat_plot plot = {.page = page,
                      .x = {LEAT_DISPLAY_SHARE, true, low > 0.1 ? 0.1 : low, 1,
                            "share of the probes, largest first"},
                      .y = {LEAT_DISPLAY_SHARE, false, 0, 1, "share of the measurements"}};
    leat_figure_begin(page, title);
    if (dist->count >= 100)
        leat_figure_item(page, NULL, "the largest 1 % of the probes hold",
                         leat_display_words(words, LEAT_DISPLAY_SHARE,
                                            held_by(dist, 0.01 * (double)dist->count)));
    else
        leat_figure_item(page, NULL, "the largest probe holds",
                         leat_display_words(words, LEAT_DISPLAY_SHARE, ys[0]));
    plot.points = true;
    leat_plot_begin(&plot, false);
    leat_plot_line(&plot, xs, ys, POINTS, false, "line l1");
    leat_plot_end(&plot);
    leat_figure_end(page);
}

/* ---- Over time ---------------------------------------------------------------------------- */

static void bin_words(char words[LEAT_FIGURE_WORDS], const leat_timeline *line, int bin,
                      const char *what) {
    char from[LEAT_WORDS_BYTES];
    double begin = (double)(line->begin_us + bin * line->step_us);
    snprintf(words, LEAT_FIGURE_WORDS, "from %s: %s",
             leat_display_words(from, LEAT_DISPLAY_DATE_US, begin), what);
}

/* Bars of a few measurements mean nothing: neighbours are merged until most bars have enough. */
static void coarser(leat_timeline *line) {
    int64_t total = 0;
    for (int i = 0; i < line->bins; i++) total += line->measurements[i];
    while (line->bins > 24 && total / line->bins < 20) {
        for (int i = 0; i < line->bins; i += 2) {
            bool pair = i + 1 < line->bins;
            line->measurements[i / 2] =
                line->measurements[i] + (pair ? line->measurements[i + 1] : 0);
            line->failures[i / 2] = line->failures[i] + (pair ? line->failures[i + 1] : 0);
        }
        line->bins = (line->bins + 1) / 2;
        line->step_us *= 2;
    }
}

static leat_plot time_plot(leat_page *page, const leat_timeline *line) {
    leat_plot plot = {.page = page,
                      .x = {LEAT_DISPLAY_DATE_US, false, (double)line->begin_us,
                            (double)line->begin_us + (double)line->bins * (double)line->step_us,
                            "time (UTC)"}};
    return plot;
}

/* The step of a timeline as a unit of time: "1 h", "1 d". */
static const char *step_words(char text[LEAT_WORDS_BYTES], int64_t step_us) {
    static const struct {
        int64_t seconds;
        const char *name;
    } units[] = {{364 * 86400, "y"}, {604800, "w"}, {86400, "d"},
                 {3600, "h"},        {60, "min"},   {1, "s"}};
    int64_t seconds = step_us / 1000000;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (seconds % units[i].seconds != 0) continue;
        snprintf(text, LEAT_WORDS_BYTES, "%lld %s", (long long)(seconds / units[i].seconds),
                 units[i].name);
        break;
    }
    return text;
}

static void draw_over_time(leat_page *page, const leat_summary *s) {
    leat_timeline coarse = s->timeline, *line = &coarse;
    const char *title = "Measurements over time";
    char words[LEAT_FIGURE_WORDS], label[LEAT_FIGURE_WORDS], a[LEAT_WORDS_BYTES],
        b[LEAT_WORDS_BYTES];
    if (line->bins == 0) {
        leat_figure_empty(page, title, "no values were read");
        return;
    }
    coarser(line);
    double peak = 0;
    for (int i = 0; i < line->bins; i++)
        if ((double)line->measurements[i] > peak) peak = (double)line->measurements[i];
    leat_plot plot = time_plot(page, line);
    snprintf(label, sizeof label, "measurements per bar (%s)", step_words(a, line->step_us));
    plot.y = (leat_axis){LEAT_DISPLAY_COUNT, false, 0, leat_axis_end(peak), label};
    leat_figure_begin(page, title);
    snprintf(words, sizeof words, "%s to %s",
             leat_display_words(a, LEAT_DISPLAY_DATE_US, (double)s->first_us),
             leat_display_words(b, LEAT_DISPLAY_DATE_US, (double)s->last_us));
    leat_figure_say(page, words);
    leat_plot_begin(&plot, false);
    for (int i = 0; i < line->bins; i++) {
        char what[64];
        if (line->measurements[i] == 0) continue;
        snprintf(what, sizeof what, "%s measurements", leat_words_count(a, line->measurements[i]));
        bin_words(words, line, i, what);
        double begin = (double)(line->begin_us + i * line->step_us);
        leat_plot_bar(&plot, (leat_plot_span){begin, begin + (double)line->step_us},
                      (double)line->measurements[i], 0, "bar", words);
    }
    leat_plot_end(&plot);
    leat_figure_end(page);
}

static void draw_failures(leat_page *page, const leat_summary *s) {
    leat_timeline coarse = s->timeline, *line = &coarse;
    const char *title = "Failures over time";
    char words[LEAT_FIGURE_WORDS], all[LEAT_WORDS_BYTES];
    char four[LEAT_WORDS_BYTES], six[LEAT_WORDS_BYTES];
    if (line->bins == 0) {
        leat_figure_empty(page, title, "no values were read");
        return;
    }
    coarser(line);
    double peak = 0.01;
    for (int i = 0; i < line->bins; i++) {
        double share = leat_ratio(line->failures[i], line->measurements[i]);
        if (share > peak) peak = share;
    }
    leat_plot plot = time_plot(page, line);
    peak = leat_axis_end(peak);
    plot.y =
        (leat_axis){LEAT_DISPLAY_SHARE, false, 0, peak > 1 ? 1 : peak, "share without an answer"};
    int64_t failures = s->failures_by_version[0] + s->failures_by_version[1];
    leat_display_words(all, LEAT_DISPLAY_SHARE, leat_ratio(failures, s->measurements_read));
    leat_display_words(four, LEAT_DISPLAY_SHARE,
                       leat_ratio(s->failures_by_version[0], s->values_by_version[0]));
    leat_display_words(six, LEAT_DISPLAY_SHARE,
                       leat_ratio(s->failures_by_version[1], s->values_by_version[1]));
    leat_figure_begin(page, title);
    leat_figure_item(page, NULL, "all", all);
    leat_figure_item(page, NULL, "IPv4", s->values_by_version[0] > 0 ? four : "none");
    leat_figure_item(page, NULL, "IPv6", s->values_by_version[1] > 0 ? six : "none");
    plot.counts = "failures";
    leat_plot_begin(&plot, false);
    for (int i = 0; i < line->bins; i++) {
        char what[96], share[LEAT_WORDS_BYTES], count[LEAT_WORDS_BYTES];
        if (line->measurements[i] == 0) continue;
        double value = leat_ratio(line->failures[i], line->measurements[i]);
        snprintf(what, sizeof what, "%s failed (%s)",
                 leat_display_words(share, LEAT_DISPLAY_SHARE, value),
                 leat_words_count(count, line->failures[i]));
        bin_words(words, line, i, what);
        double begin = (double)(line->begin_us + i * line->step_us);
        leat_plot_bar(&plot, (leat_plot_span){begin, begin + (double)line->step_us}, value,
                      (double)line->failures[i], "bar bad", words);
    }
    leat_plot_end(&plot);
    leat_figure_end(page);
}

/* ---- Shards ------------------------------------------------------------------------------- */

#define SHARDS_DRAWN 256

static void draw_shards(leat_page *page, const leat_summary *s) {
    static const char *const classes[] = {"bar", "bar second", "bar"};
    char words[LEAT_FIGURE_WORDS], a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES];
    const char *title = "Measurements per shard";
    if (s->shard_count == 0) {
        leat_figure_empty(page, title, "no shards");
        return;
    }
    /* If there are too many shards, neighbours share a bar, whose height is their mean. */
    int64_t group = (s->shard_count + SHARDS_DRAWN - 1) / SHARDS_DRAWN;
    double peak = 0;
    for (int64_t k = 0; k < s->shard_count; k++)
        if ((double)s->shards[k].measurements > peak) peak = (double)s->shards[k].measurements;
    leat_plot plot = {
        .page = page,
        .x = {LEAT_DISPLAY_COUNT, false, 0, (double)s->shard_count, "shard, in order"},
        .y = {LEAT_DISPLAY_COUNT, false, 0, leat_axis_end(peak),
              group > 1 ? "measurements per shard (mean of neighbours)" : "measurements a shard"}};
    leat_figure_begin(page, title);
    for (int split = 0; split < LEAT_SPLITS; split++)
        if (s->split[0].shards + s->split[1].shards > 0)
            leat_figure_item(page, classes[split], leat_split_words((leat_split)split), NULL);
    plot.series = leat_split_words(LEAT_SPLIT_NONE);
    leat_plot_begin(&plot, false);
    for (int64_t k = 0; k < s->shard_count; k += group) {
        int64_t end = k + group < s->shard_count ? k + group : s->shard_count, sum = 0, rows = 0;
        for (int64_t i = k; i < end; i++) {
            sum += s->shards[i].measurements;
            rows += s->shards[i].rows;
        }
        const char *name = strrchr(s->shards[k].path, '/');
        snprintf(words, sizeof words, "%.80s%s: %s measurements in %s rows",
                 name != NULL ? name + 1 : s->shards[k].path, group > 1 ? " and on" : "",
                 leat_words_count(a, sum), leat_words_count(b, rows));
        plot.series = leat_split_words(s->shards[k].split);
        leat_plot_bar(&plot, (leat_plot_span){(double)k, (double)end},
                      (double)sum / (double)(end - k), 0, classes[s->shards[k].split], words);
    }
    leat_plot_end(&plot);
    leat_figure_end(page);
}

/* ---- The ingest --------------------------------------------------------------------------- */

static void draw_rejects(leat_page *page, const leat_summary_ingest *ingest) {
    char words[LEAT_FIGURE_WORDS], a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES];
    if (ingest->rejected == 0) return;
    leat_bars bars = {.page = page,
                      .unit = LEAT_DISPLAY_SHARE,
                      .peak = leat_ratio(ingest->reasons[0].rows, ingest->rejected),
                      .count = ingest->reason_count,
                      .names = "reason",
                      .values = "share of the rejected rows",
                      .counts = "rows"};
    leat_figure_begin(page, "Rejected rows by reason");
    snprintf(words, sizeof words, "share of %s rejected of %s read by the ingest",
             leat_words_count(a, ingest->rejected), leat_things(b, ingest->rows_read, "row"));
    leat_figure_say(page, words);
    leat_bars_begin(&bars);
    for (int i = 0; i < ingest->reason_count; i++) {
        snprintf(words, sizeof words, "%s", leat_things(a, ingest->reasons[i].rows, "row"));
        leat_bars_put(&bars, ingest->reasons[i].name,
                      leat_ratio(ingest->reasons[i].rows, ingest->rejected),
                      ingest->reasons[i].rows, "bar zero", words);
    }
    leat_bars_end(&bars);
    leat_figure_end(page);
}

void leat_report_figures(leat_page *page, const leat_summary *s) {
    static const leat_histogram bytes = {"Row size", "bytes of a record", "share of the rows",
                                         "rows",     "no rows",           LEAT_DISPLAY_BYTES,
                                         false};
    static const leat_histogram spans = {"Time span of a row",
                                         "first to last measurement",
                                         "share of the rows",
                                         "rows",
                                         "no rows",
                                         LEAT_DISPLAY_DURATION_US,
                                         true};
    static const leat_histogram gaps = {"Gap between measurements",
                                        "time to the probe's next measurement",
                                        "share of the gaps",
                                        "gaps",
                                        "no values were read",
                                        LEAT_DISPLAY_DURATION_US,
                                        true};
    static const leat_histogram rtts = {
        "Round trip time",   "rtt", "share of the answers", "answers", "no answers were read",
        LEAT_DISPLAY_RTT_NS, false};
    leat_figure_histogram(page, &rtts, &s->rtt_ns);
    leat_report_values(page, s);
    draw_over_time(page, s);
    draw_failures(page, s);
    draw_measurements(page, s);
    draw_concentration(page, s);
    leat_figure_histogram(page, &gaps, &s->gap_us);
    leat_figure_histogram(page, &spans, &s->row_span_us);
    leat_figure_histogram(page, &bytes, &s->record_bytes);
    draw_shards(page, s);
    draw_rejects(page, &s->ingest);
}
