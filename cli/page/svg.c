/*
 * Axes, grid and marks of a plot as SVG.
 *
 * Ticks are candidates with a rank, best first ("1 h" before "30 min"); a candidate gets its label
 * if it is not too close to an existing one. So labels never overlap, whatever the range.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "page/page.h"

#define CHAR_WIDTH 6.2 /* of a label's 11 px type, on the wide side */
#define TICKS_MAX 160
#define LABEL_BYTES 24

typedef struct tick {
    double value;
    int rank; /* 0 is best; -1: a grid line without a label */
    char label[LABEL_BYTES];
} tick;

typedef struct tick_list {
    tick items[TICKS_MAX];
    int count;
} tick_list;

static void add_tick(tick_list *list, const leat_axis *axis, double value, int rank,
                     const char *label) {
    double slack = axis->log ? axis->high * 1e-9 : (axis->high - axis->low) * 1e-9;
    if (list->count == TICKS_MAX || value < axis->low - slack || value > axis->high + slack) return;
    tick *item = &list->items[list->count++];
    item->value = value;
    item->rank = rank;
    snprintf(item->label, sizeof item->label, "%s", label);
}

/* ---- Candidates by unit ------------------------------------------------------------------- */

static void count_label(char label[LABEL_BYTES], double value) {
    static const char *const letters[] = {"", "k", "M", "G", "T", "P"};
    int power = 0;
    for (; value >= 1000 && power < 5; power++) value /= 1000;
    snprintf(label, LABEL_BYTES, "%.4g%s", value, letters[power]);
}

static void rtt_label(char label[LABEL_BYTES], double ns) {
    double ms = ns * 1e-6;
    if (ms >= 1000) snprintf(label, LABEL_BYTES, "%.4g s", ms / 1000);
    else snprintf(label, LABEL_BYTES, "%.4g ms", ms);
}

static void share_label(char label[LABEL_BYTES], double share) {
    snprintf(label, LABEL_BYTES, "%.4g %%", share * 100);
}

/* Of a linear axis, whose steps are round. */
static void duration_label(char label[LABEL_BYTES], double us) {
    char words[LEAT_WORDS_BYTES];
    if (us < 120e6) snprintf(label, LABEL_BYTES, "%.4g s", us * 1e-6);
    else
        snprintf(label, LABEL_BYTES, "%s", leat_display_words(words, LEAT_DISPLAY_DURATION_US, us));
}

static void label_of(char label[LABEL_BYTES], leat_display_unit unit, double value) {
    if (unit == LEAT_DISPLAY_RTT_NS) rtt_label(label, value);
    else if (unit == LEAT_DISPLAY_SHARE) share_label(label, value);
    else if (unit == LEAT_DISPLAY_NUMBER) snprintf(label, LABEL_BYTES, "%.4g", value);
    else if (unit == LEAT_DISPLAY_DURATION_US) duration_label(label, value);
    else count_label(label, value);
}

static void decade_ticks(tick_list *list, const leat_axis *axis) {
    char label[LABEL_BYTES];
    int first = (int)floor(log10(axis->low)) - 1, last = (int)ceil(log10(axis->high));
    /* Very long axes label every second decade, very short ones every digit. */
    int every = (last - first) / 16 + 1, rest = axis->high / axis->low < 10 ? 5 : -1;
    for (int decade = first; decade <= last; decade++) {
        for (int digit = 1; digit < 10; digit++) {
            double value = digit * pow(10, decade);
            label_of(label, axis->unit, value);
            int rank = digit == 1                 ? (decade % every != 0 ? 3 : 0)
                       : digit == 2 || digit == 5 ? 4
                                                  : rest;
            if (list->count < TICKS_MAX - 20) add_tick(list, axis, value, rank, label);
        }
    }
}

static void byte_ticks(tick_list *list, const leat_axis *axis) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    for (int power = 0; power < 60; power++) {
        char label[LABEL_BYTES];
        snprintf(label, sizeof label, "%d %s", 1 << power % 10, units[power / 10]);
        int rank = power % 10 == 0 ? 0 : power % 10 == 5 ? 1 : power % 5 == 2 ? 2 : 3;
        add_tick(list, axis, ldexp(1, power), rank, label);
        if (axis->high / axis->low > 4 || power % 10 > 8) continue;
        snprintf(label, sizeof label, "%d %s", 3 << power % 10, units[power / 10]);
        add_tick(list, axis, ldexp(3, power), 4, label);
    }
}

static void duration_ticks(tick_list *list, const leat_axis *axis) {
    static const struct {
        double seconds;
        int rank;
        const char *label;
    } rows[] = {
        {1e-6, 1, "1 us"},
        {1e-5, 3, "10 us"},
        {1e-4, 3, "0.1 ms"},
        {1e-3, 1, "1 ms"},
        {1e-2, 3, "10 ms"},
        {0.1, 2, "0.1 s"},
        {1, 0, "1 s"},
        {10, 2, "10 s"},
        {30, 4, "30 s"},
        {60, 0, "1 min"},
        {300, 3, "5 min"},
        {600, 4, "10 min"},
        {1800, 4, "30 min"},
        {3600, 0, "1 h"},
        {10800, 5, "3 h"},
        {21600, 3, "6 h"},
        {86400, 0, "1 d"},
        {3 * 86400, 5, "3 d"},
        {604800, 0, "1 w"},
        {4 * 604800.0, 3, "4 w"},
        {31557600, 1, "1 y"},
        {315576000, 2, "10 y"},
        {3155760000.0, 3, "100 y"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        add_tick(list, axis, rows[i].seconds * 1e6, rows[i].rank, rows[i].label);
    /* An axis of less than a decade may contain none of them. */
    if (list->count < 2 && axis->high / axis->low < 20) {
        double step = pow(10, floor(log10(axis->high - axis->low)));
        for (double at = ceil(axis->low / step) * step; at <= axis->high; at += step) {
            char words[LEAT_WORDS_BYTES];
            add_tick(list, axis, at, 4, leat_display_words(words, LEAT_DISPLAY_DURATION_US, at));
        }
    }
}

/* The step of a linear axis: the first of 1, 2, 5, 10, ... that is not below `rough`; of time spans
 * of minutes and more, parts of an hour, a day, ... */
static double linear_step(leat_display_unit unit, double rough) {
    static const double seconds[] = {30,   60,   120,  300,   600,   1200,
                                     1800, 3600, 7200, 10800, 21600, 43200};
    if (unit == LEAT_DISPLAY_DURATION_US && rough > 20e6)
        for (size_t i = 0; i < sizeof seconds / sizeof seconds[0]; i++)
            if (rough <= seconds[i] * 1e6) return seconds[i] * 1e6;
    double day = unit == LEAT_DISPLAY_DURATION_US && rough > 20e6 ? 86400e6 : 1;
    double power = pow(10, floor(log10(rough / day))), part = rough / day / power;
    double step = part <= 1 ? power : part <= 2 ? 2 * power : part <= 5 ? 5 * power : 10 * power;
    return step * day;
}

static void linear_ticks(tick_list *list, const leat_axis *axis, int wanted) {
    double range = axis->high - axis->low;
    if (!(range > 0)) return;
    double step = linear_step(axis->unit, range / wanted);
    if (axis->unit == LEAT_DISPLAY_COUNT && step < 1) step = 1;
    for (int i = 0; i <= 2 * wanted + 2; i++) {
        double value = (ceil(axis->low / step - 1e-9) + i) * step;
        char label[LABEL_BYTES];
        label_of(label, axis->unit, value);
        add_tick(list, axis, value, 0, label);
    }
}

static void calendar_ticks(tick_list *list, const leat_axis *axis) {
    static const int steps[] = {1, 2, 3, 6, 12, 24, 60, 120, 600, 1200, 12000};
    double months = (axis->high - axis->low) / (30.44 * 86400e6);
    int step = steps[10];
    for (int i = 10; i >= 0; i--)
        if (months / steps[i] <= 6) step = steps[i];
    int64_t year = 1970 + (int64_t)(axis->low / (365.2425 * 86400e6)) - 1;
    year -= year % (step >= 12 ? step / 12 : 1);
    for (int64_t month = 0; month < 12 * 40 && list->count < 12; month += step >= 12 ? 12 : step) {
        if (step >= 12 && (month / 12) % (step / 12) != 0) month += step - 12;
        char words[LEAT_WORDS_BYTES];
        double value =
            (double)leat_time_days(year + month / 12, (int)(month % 12) + 1, 1) * 86400e6;
        if (value > axis->high) break;
        leat_time_words(words, (int64_t)value);
        words[strlen(words) > 19 ? strlen(words) - (step >= 12 ? 22 : 19) : 0] = 0;
        add_tick(list, axis, value, 0, words);
    }
}

static void date_ticks(tick_list *list, const leat_axis *axis) {
    static const double steps[] = {1,     5,     15,    30,    60,     300,    900,    1800,   3600,
                                   10800, 21600, 43200, 86400, 172800, 345600, 604800, 1209600};
    double range = (axis->high - axis->low) * 1e-6;
    const int step_count = (int)(sizeof steps / sizeof steps[0]);
    int chosen = 0;
    while (chosen < step_count && range / steps[chosen] > 5) chosen++;
    if (chosen == step_count) {
        calendar_ticks(list, axis);
        return;
    }
    double step = steps[chosen] * 1e6;
    for (int i = 0; i < 8; i++) {
        char words[LEAT_WORDS_BYTES], label[LABEL_BYTES];
        double value = (ceil(axis->low / step) + i) * step;
        if (value > axis->high) break;
        leat_time_words(words, (int64_t)value); /* yyyy-mm-dd hh:mm:ss.ffffff */
        const char *from = strlen(words) >= 26 ? words : "0000-00-00 00:00:00.000000";
        if (step >= 86400e6) snprintf(label, sizeof label, "%.10s", from);
        else if (step < 60e6) snprintf(label, sizeof label, "%.8s", from + 11);
        else if (range > 86400) snprintf(label, sizeof label, "%.11s", from + 5);
        else snprintf(label, sizeof label, "%.5s", from + 11);
        add_tick(list, axis, value, 0, label);
    }
}

static void make_ticks(tick_list *list, const leat_axis *axis, int wanted) {
    list->count = 0;
    if (!(axis->high > axis->low)) return;
    if (axis->unit == LEAT_DISPLAY_DATE_US) date_ticks(list, axis);
    else if (!axis->log) linear_ticks(list, axis, wanted);
    else if (axis->unit == LEAT_DISPLAY_BYTES) byte_ticks(list, axis);
    else if (axis->unit == LEAT_DISPLAY_DURATION_US) duration_ticks(list, axis);
    else decade_ticks(list, axis);
}

/* ---- Drawing ------------------------------------------------------------------------------ */

static double place(const leat_axis *axis, double value) {
    if (!(axis->high > axis->low)) return 0.5;
    double share = axis->log ? log(value / axis->low) / log(axis->high / axis->low)
                             : (value - axis->low) / (axis->high - axis->low);
    return share < 0 || isnan(share) ? 0 : share > 1 ? 1 : share;
}

double leat_plot_x(const leat_plot *plot, double value) {
    return plot->left + (plot->right - plot->left) * place(&plot->x, value);
}

double leat_plot_y(const leat_plot *plot, double value) {
    return plot->bottom - (plot->bottom - plot->top) * place(&plot->y, value);
}

static void draw_x_ticks(leat_plot *plot, const tick_list *list) {
    double from[TICKS_MAX], to[TICKS_MAX];
    int placed = 0;
    for (int rank = 0; rank < 6; rank++) {
        for (int i = 0; i < list->count; i++) {
            const tick *item = &list->items[i];
            if (item->rank != rank) continue;
            double x = leat_plot_x(plot, item->value);
            double half = (double)strlen(item->label) * CHAR_WIDTH / 2;
            double at = x < half + 2 ? half + 2 : x;
            if (at > LEAT_PLOT_WIDTH - half - 2) at = LEAT_PLOT_WIDTH - half - 2;
            bool free_place = true;
            for (int k = 0; k < placed; k++)
                if (at - half < to[k] + 10 && at + half > from[k] - 10) free_place = false;
            if (!free_place) continue;
            from[placed] = at - half;
            to[placed++] = at + half;
            leat_textbuf_printf(plot->page->svg,
                                "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/><text x=\"%.1f\" "
                                "y=\"%.1f\" class=\"mid\">%s</text>\n",
                                x, plot->top, plot->bottom + 4, at, plot->bottom + 16, item->label);
        }
    }
}

static void draw_y_ticks(leat_plot *plot, const tick_list *list) {
    double placed[TICKS_MAX];
    int count = 0;
    for (int rank = 0; rank < 6; rank++) {
        for (int i = 0; i < list->count; i++) {
            const tick *item = &list->items[i];
            if (item->rank != rank) continue;
            double y = leat_plot_y(plot, item->value);
            bool free_place = true;
            for (int k = 0; k < count; k++)
                if (fabs(placed[k] - y) < 18) free_place = false;
            if (!free_place) continue;
            placed[count++] = y;
            leat_textbuf_printf(plot->page->svg,
                                "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/><text x=\"%.1f\" "
                                "y=\"%.1f\" class=\"end\">%s</text>\n",
                                plot->left, y, plot->right, plot->left - 6, y + 3.8, item->label);
        }
    }
}

/* ---- The table ---------------------------------------------------------------------------- */

static void put_columns(const leat_plot *plot) {
    leat_textbuf *csv = plot->page->csv;
    if (plot->series != NULL) leat_textbuf_put(csv, "series,");
    leat_csv_name(csv, plot->x.label, plot->x.unit, plot->points ? "," : "_from,");
    if (!plot->points) leat_csv_name(csv, plot->x.label, plot->x.unit, "_to,");
    leat_csv_name(csv, plot->y.label, plot->y.unit, "");
    if (plot->counts != NULL) {
        leat_textbuf_put(csv, ",");
        leat_csv_name(csv, plot->counts, LEAT_DISPLAY_COUNT, "");
    }
    leat_textbuf_put(csv, "\n");
}

static void put_row(const leat_plot *plot, const char *series, double x0, double x1, double y,
                    double count) {
    leat_textbuf *csv = plot->page->csv;
    if (plot->series != NULL) {
        leat_csv_text(csv, series);
        leat_textbuf_put(csv, ",");
    }
    leat_csv_value(csv, plot->x.unit, plot->points ? (x0 + x1) / 2 : x0);
    leat_textbuf_put(csv, ",");
    if (!plot->points) {
        leat_csv_value(csv, plot->x.unit, x1);
        leat_textbuf_put(csv, ",");
    }
    leat_csv_value(csv, plot->y.unit, y);
    if (plot->counts != NULL) {
        leat_textbuf_put(csv, ",");
        leat_csv_value(csv, LEAT_DISPLAY_COUNT, count);
    }
    leat_textbuf_put(csv, "\n");
}

/* ---- Marks -------------------------------------------------------------------------------- */

static void put_label(leat_plot *plot, const leat_axis *axis) {
    leat_html_text(plot->page->svg, axis->label);
    leat_textbuf_put(plot->page->svg, axis->log ? " (log scale)</text>\n" : "</text>\n");
}

void leat_plot_begin(leat_plot *plot, bool zero_slot) {
    tick_list list;
    leat_figure_draw(plot->page, LEAT_PLOT_WIDTH, LEAT_PLOT_HEIGHT);
    put_columns(plot);
    plot->top = 44;
    plot->bottom = LEAT_PLOT_HEIGHT - 40;
    plot->left = zero_slot ? 76 : 48;
    plot->right = LEAT_PLOT_WIDTH - 10;
    make_ticks(&list, &plot->x, 6);
    draw_x_ticks(plot, &list);
    if (zero_slot) plot->left = 48;
    make_ticks(&list, &plot->y, 4);
    draw_y_ticks(plot, &list);
    if (zero_slot) {
        plot->left = 76;
        leat_textbuf_printf(plot->page->svg, "<text x=\"59\" y=\"%.1f\" class=\"mid\">0</text>\n",
                            plot->bottom + 16);
    }
    leat_textbuf_printf(plot->page->svg, "<text x=\"%.1f\" y=\"%.1f\" class=\"mid axis\">",
                        (48 + plot->right) / 2, plot->bottom + 34);
    put_label(plot, &plot->x);
    leat_textbuf_put(plot->page->svg, "<text x=\"4\" y=\"11\" class=\"axis\">");
    put_label(plot, &plot->y);
}

static void put_bar(leat_plot *plot, double x0, double x1, double y, const char *class_name,
                    const char *words) {
    if (y >= plot->bottom - 0.05) return;
    if (y > plot->bottom - 0.8) y = plot->bottom - 0.8; /* small values stay visible */
    double gap = x1 - x0 > 3 ? 0.6 : 0;
    leat_textbuf_printf(plot->page->svg,
                        "<rect class=\"%s\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\">"
                        "<title>",
                        class_name, x0, y, x1 - x0 - gap, plot->bottom - y);
    leat_html_text(plot->page->svg, words);
    leat_textbuf_put(plot->page->svg, "</title></rect>\n");
}

void leat_plot_bar(leat_plot *plot, leat_plot_span x, double y, double count,
                   const char *class_name, const char *words) {
    put_row(plot, plot->series, x.from, x.until, y, count);
    put_bar(plot, leat_plot_x(plot, x.from), leat_plot_x(plot, x.until), leat_plot_y(plot, y),
            class_name, words);
}

void leat_plot_range(leat_plot *plot, leat_plot_span x, leat_plot_span y, const char *const ends[2],
                     const char *class_name, const char *words) {
    put_row(plot, ends[0], x.from, x.until, y.from, 0);
    put_row(plot, ends[1], x.from, x.until, y.until, 0);
    double left = leat_plot_x(plot, x.from);
    double low = leat_plot_y(plot, y.from), high = leat_plot_y(plot, y.until);
    if (low - high < 1) high = low - 1; /* a range of one value stays visible */
    leat_textbuf_printf(plot->page->svg,
                        "<rect class=\"%s\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" "
                        "height=\"%.1f\"><title>",
                        class_name, left, high, leat_plot_x(plot, x.until) - left, low - high);
    leat_html_text(plot->page->svg, words);
    leat_textbuf_put(plot->page->svg, "</title></rect>\n");
}

void leat_plot_zero_bar(leat_plot *plot, double y, double count, const char *words) {
    put_row(plot, plot->series, 0, 0, y, count);
    put_bar(plot, 54, 64, leat_plot_y(plot, y), "bar zero", words);
}

void leat_plot_line(leat_plot *plot, const double *xs, const double *ys, int count, bool steps,
                    const char *class_name) {
    if (count == 0) return;
    for (int i = 0; i < count; i++) {
        if (plot->points) put_row(plot, plot->series, xs[i], xs[i], ys[i], 0);
        else if (i + 1 < count && xs[i + 1] > xs[i])
            put_row(plot, plot->series, xs[i], xs[i + 1], ys[i], 0);
    }
    leat_textbuf_printf(plot->page->svg, "<path class=\"%s\" d=\"", class_name);
    for (int i = 0; i < count; i++) {
        double x = leat_plot_x(plot, xs[i]), y = leat_plot_y(plot, ys[i]);
        if (i == 0) leat_textbuf_printf(plot->page->svg, "M%.1f %.1f", x, y);
        else if (steps) leat_textbuf_printf(plot->page->svg, "H%.1fV%.1f", x, y);
        else leat_textbuf_printf(plot->page->svg, "L%.1f %.1f", x, y);
    }
    leat_textbuf_put(plot->page->svg, "\"/>\n");
}

static void put_mark(leat_plot *plot, double at, double y, bool left, const char *words) {
    leat_textbuf_printf(plot->page->svg,
                        "<path class=\"mark\" d=\"M%.1f %.1fV%.1f\"/><text x=\"%.1f\" y=\"%.1f\" "
                        "class=\"marked%s\">",
                        at, y - 8, plot->bottom, left ? at - 4 : at + 4, y, left ? " end" : "");
    leat_html_text(plot->page->svg, words);
    leat_textbuf_put(plot->page->svg, "</text>\n");
}

/*
 * Each mark has its own line of text. The texts are to the right of their marks, or to the left if
 * there is no space on the right; the mark whose text crosses the other mark takes the upper line,
 * so that no dashed line runs through a text.
 */
void leat_plot_marks(leat_plot *plot, double x1, const char *words1, double x2,
                     const char *words2) {
    const double upper = 25, lower = 37.5;
    double at1 = leat_plot_x(plot, x1), at2 = leat_plot_x(plot, x2);
    double end1 = at1 + (double)strlen(words1) * CHAR_WIDTH + 6;
    bool left2 = at2 + (double)strlen(words2) * CHAR_WIDTH + 6 > LEAT_PLOT_WIDTH;
    bool left1 = end1 > LEAT_PLOT_WIDTH || (left2 && end1 > at2);
    put_mark(plot, at1, left2 ? lower : upper, left1, words1);
    put_mark(plot, at2, left2 ? upper : lower, left2, words2);
}

void leat_plot_end(leat_plot *plot) {
    leat_textbuf_printf(plot->page->svg, "<path class=\"base\" d=\"M48 %.1fH%.1f\"/>\n",
                        plot->bottom, plot->right);
}
