/* Figures: what a plot is framed by, and plots that more than one page has. */
#include <math.h>
#include <stdio.h>

#include "page.h"

void leat_figure_begin(leat_textbuf *out, const char *title, const char *caption) {
    leat_textbuf_printf(out, "<figure>\n<figcaption><h3>%s</h3><p>", title);
    leat_textbuf_put(out, caption); /* own words, with entities where needed */
    leat_textbuf_put(out, "</p></figcaption>\n");
}

void leat_figure_end(leat_textbuf *out) { leat_textbuf_put(out, "</figure>\n"); }

void leat_figure_empty(leat_textbuf *out, const char *title, const char *why) {
    leat_figure_begin(out, title, "&nbsp;");
    leat_textbuf_printf(out, "<p class=\"none\">%s</p>\n", why);
    leat_figure_end(out);
}

void leat_figure_quantiles(char caption[LEAT_FIGURE_WORDS], const leat_dist *dist, leat_unit unit) {
    char p50[LEAT_WORDS_BYTES], p99[LEAT_WORDS_BYTES], max[LEAT_WORDS_BYTES];
    leat_unit_words(p50, unit, leat_dist_quantile(dist, 0.5));
    leat_unit_words(p99, unit, leat_dist_quantile(dist, 0.99));
    leat_unit_words(max, unit, (double)dist->max);
    snprintf(caption, LEAT_FIGURE_WORDS, "median <b>%s</b>, p99 <b>%s</b>, max <b>%s</b>", p50, p99,
             max);
}

double leat_axis_end(double value) {
    if (!(value > 0)) return 1;
    double unit = pow(10, floor(log10(value)));
    static const double steps[] = {1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        if (value <= steps[i] * unit * 1.0000001) return steps[i] * unit;
    return 10 * unit;
}

/* ---- Histograms --------------------------------------------------------------------------- */

void leat_figure_histogram(leat_textbuf *out, const leat_histogram *spec, const leat_dist *dist) {
    char caption[LEAT_FIGURE_WORDS], words[LEAT_FIGURE_WORDS], a[LEAT_WORDS_BYTES],
        b[LEAT_WORDS_BYTES];
    leat_columns columns;
    leat_columns_make(&columns, dist, LEAT_COLUMNS_MAX);
    if (columns.count == 0) {
        leat_figure_empty(out, spec->title, dist->count == 0 ? spec->empty : "all values are 0");
        return;
    }
    double peak = columns.zeros;
    for (int i = 0; i < columns.count; i++)
        if (columns.values[i] > peak) peak = columns.values[i];
    leat_plot plot = {
        .out = out,
        .x = {spec->unit, true, columns.edge[0], columns.edge[columns.count], spec->x_label},
        .y = {LEAT_UNIT_SHARE, false, 0, leat_axis_end(peak / columns.total), spec->y_label}};
    bool zeros = spec->zeros && columns.zeros > 0;
    leat_figure_quantiles(caption, dist, spec->unit);
    leat_figure_begin(out, spec->title, caption);
    snprintf(words, sizeof words, "%s: a histogram", spec->title);
    leat_plot_begin(&plot, words, zeros);
    for (int i = 0; i < columns.count; i++) {
        char share[LEAT_WORDS_BYTES], count[LEAT_WORDS_BYTES];
        if (columns.values[i] <= 0) continue;
        snprintf(words, sizeof words, "%s to %s: %s of the %s (%s)",
                 leat_unit_words(a, spec->unit, columns.edge[i]),
                 leat_unit_words(b, spec->unit, columns.edge[i + 1]),
                 leat_unit_words(share, LEAT_UNIT_SHARE, columns.values[i] / columns.total),
                 spec->things, leat_unit_words(count, LEAT_UNIT_COUNT, columns.values[i]));
        leat_plot_bar(&plot, columns.edge[i], columns.edge[i + 1],
                      columns.values[i] / columns.total, "bar", words);
    }
    if (zeros) {
        snprintf(words, sizeof words, "0: %s of the %s",
                 leat_unit_words(a, LEAT_UNIT_SHARE, columns.zeros / columns.total), spec->things);
        leat_plot_zero_bar(&plot, columns.zeros / columns.total, words);
    }
    double p50 = leat_dist_quantile(dist, 0.5), p99 = leat_dist_quantile(dist, 0.99);
    char words99[LEAT_FIGURE_WORDS];
    snprintf(words, sizeof words, "p50 %s", leat_unit_words(a, spec->unit, p50));
    snprintf(words99, sizeof words99, "p99 %s", leat_unit_words(b, spec->unit, p99));
    if (p50 > 0) leat_plot_marks(&plot, p50, words, p99, words99);
    leat_plot_end(&plot);
    leat_figure_end(out);
}
