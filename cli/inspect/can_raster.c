/* Figures of `leat inspect --html` for a CAN cache: one capture over time, its
 * identifiers and its load. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "inspect/can.h"

enum { TOP = 22, ROW = 10, CELL = 8, RIGHT = LEAT_PLOT_WIDTH - 8, NAME = 10, SHADES = 5 };
#define CHAR_WIDTH 6.4 /* of a label's 11 px type, on the wide side */
#define ESTIMATED 0.02 /* by which times are scaled if much of them is not within windows */

/* Shares of a window's frames up to which a cell has each shade; the last one has no end. */
static const double shade_ends[SHADES - 1] = {0.01, 0.02, 0.05, 0.1};

typedef struct grid {
    leat_page *page;
    const leat_can_raster *raster;
    int64_t window; /* frames of one */
    int rows;       /* with the others */
    double left;    /* pixels */
} grid;

static const leat_can_raster_row *row_of(const grid *of, int row) {
    return row < of->raster->row_count ? &of->raster->rows[row] : &of->raster->others;
}

static const char *name_of(char text[LEAT_PLAIN_BYTES], const grid *of, int row) {
    char count[LEAT_WORDS_BYTES];
    const char *name = row_of(of, row)->text;
    if (row >= of->raster->row_count)
        snprintf(text, LEAT_PLAIN_BYTES, "%s others",
                 leat_words_count(count, of->raster->other_count));
    else leat_plain(text, name == NULL ? "unknown" : name);
    return text;
}

static int64_t windows_of(const leat_can_raster_column *column) {
    int64_t sum = 0;
    for (int label = 0; label < LEAT_CAN_LABELS; label++) sum += column->windows[label];
    return sum;
}

/* Where a column ends and the next one begins: in microseconds after the first frame, or in frames
 * if the capture has no times. */
static double end_of(const leat_can_raster *raster, int column) {
    const leat_can_raster_column *of = &raster->columns[column];
    return raster->scaled < 0 ? (double)of->end : of->end_s * 1e6;
}

static double begin_of(const leat_can_raster *raster, int column) {
    return column > 0 ? end_of(raster, column - 1) : 0;
}

static leat_axis axis_of(const leat_can_raster *raster) {
    bool times = raster->scaled >= 0;
    return (leat_axis){times ? LEAT_DISPLAY_DURATION_US : LEAT_DISPLAY_COUNT, false, 0,
                       end_of(raster, raster->column_count - 1),
                       times ? "time since the first frame" : "frame of the capture"};
}

static double x_of(const grid *of, double place) {
    return of->left + (RIGHT - of->left) * place / end_of(of->raster, of->raster->column_count - 1);
}

/* ---- labels ------------------------------------------------------------------------------ */

/* Above the cells: blue where windows are, grey where most are unlabelled, and above that the share
 * of those with an attack, as in the strips of all captures. */
static void put_strip(const grid *of) {
    leat_textbuf *out = of->page->svg;
    leat_textbuf_put(out, "<g shape-rendering=\"crispEdges\">\n"); /* no seams */
    for (int i = 0; i < of->raster->column_count; i++) {
        const leat_can_raster_column *column = &of->raster->columns[i];
        int64_t windows = windows_of(column), attacks = column->windows[LEAT_CAN_LABEL_ATTACK];
        double x = x_of(of, begin_of(of->raster, i)), width = x_of(of, end_of(of->raster, i)) - x;
        if (windows == 0) continue;
        bool unlabelled = 2 * column->windows[LEAT_CAN_LABEL_UNLABELLED] > windows;
        leat_textbuf_printf(
            out, "<rect class=\"bar%s\" x=\"%.2f\" y=\"13\" width=\"%.2f\" height=\"5\"/>",
            unlabelled ? " zero" : "", x, width);
        if (attacks == 0) continue;
        double high = fmax(2, 12 * leat_ratio(attacks, windows));
        leat_textbuf_printf(
            out, "<rect class=\"bar bad\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\"/>\n",
            x, 12.5 - high, width, high);
    }
    leat_textbuf_put(out, "</g>\n");
}

/* Behind neighbouring columns that have windows with an attack. */
static void put_tints(leat_textbuf *out, const leat_can_raster *raster, double top, double bottom,
                      double (*place)(const void *context, double value), const void *context) {
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], c[LEAT_WORDS_BYTES], d[LEAT_WORDS_BYTES];
    for (int i = 0, end = 0; i < raster->column_count; i = end + 1) {
        int64_t attacks = 0, windows = 0;
        for (end = i; end < raster->column_count; end++) {
            const leat_can_raster_column *column = &raster->columns[end];
            if (column->windows[LEAT_CAN_LABEL_ATTACK] == 0) break;
            attacks += column->windows[LEAT_CAN_LABEL_ATTACK];
            windows += windows_of(column);
        }
        if (end == i) continue;
        int64_t first = raster->columns[i].first, last = raster->columns[end - 1].end;
        double x = place(context, begin_of(raster, i));
        leat_textbuf_printf(
            out,
            "<rect class=\"tint\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" "
            "height=\"%.1f\"><title>frames %s to %s: %s of %s with an attack</title></rect>\n",
            x, top, place(context, end_of(raster, end - 1)) - x, bottom - top,
            leat_words_count(a, first), leat_words_count(b, last - 1), leat_words_count(c, attacks),
            leat_things(d, windows, "window"));
    }
}

/* ---- cells ------------------------------------------------------------------------------- */

/* 0: the identifier is not in the column. */
static int shade_of(const grid *of, int row, int column) {
    int64_t frames = row_of(of, row)->cell[column];
    double share = leat_ratio(frames, of->raster->columns[column].read_windows * of->window);
    int shade = 1;
    if (frames == 0) return 0;
    while (shade < SHADES && share > shade_ends[shade - 1]) shade++;
    return shade;
}

/* All cells of a shade are one path; neighbours in a row are one rectangle. */
static void put_shade(const grid *of, int shade) {
    leat_textbuf *out = of->page->svg;
    leat_textbuf_printf(out, "<path class=\"shade k1%d\" d=\"", shade);
    for (int row = 0; row < of->rows; row++) {
        for (int i = 0, end = 0; i<of->raster->column_count; i = end> i ? end : i + 1) {
            for (end = i; end < of->raster->column_count; end++)
                if (shade_of(of, row, end) != shade) break;
            if (end == i) continue;
            double x = x_of(of, begin_of(of->raster, i));
            double width = x_of(of, end_of(of->raster, end - 1)) - x;
            leat_textbuf_printf(out, "M%.2f %dh%.2fv%dh-%.2fz", x, TOP + row * ROW + 1, width, CELL,
                                width);
        }
    }
    leat_textbuf_put(out, "\"/>\n");
}

static void put_names(const grid *of) {
    leat_textbuf *out = of->page->svg;
    char name[LEAT_PLAIN_BYTES], shown[NAME + 8], a[LEAT_WORDS_BYTES];
    for (int row = 0; row < of->rows; row++) {
        name_of(name, of, row);
        bool cut = strlen(name) > NAME;
        leat_text_show(shown, NAME + !cut, name, (int64_t)strlen(name));
        leat_textbuf_printf(out, "<text x=\"%.1f\" y=\"%d\" class=\"end\">", of->left - 5,
                            TOP + row * ROW + 9);
        leat_html_text(out, shown);
        leat_textbuf_put(out, cut ? "\xe2\x80\xa6<title>" : "<title>");
        leat_html_text(out, name);
        leat_textbuf_printf(out, ": %s</title></text>\n",
                            leat_things(a, row_of(of, row)->frames, "frame"));
    }
}

static void put_axis(const grid *of, int bottom) {
    leat_textbuf *out = of->page->svg;
    const leat_axis axis = axis_of(of->raster);
    char begin[LEAT_WORDS_BYTES], end[LEAT_WORDS_BYTES];
    leat_textbuf_printf(
        out,
        "<path class=\"base\" d=\"M%.1f %d.5H%d\"/><text x=\"%.1f\" y=\"%d\">%s</text><text "
        "x=\"%.1f\" y=\"%d\" class=\"mid axis\">%s</text>",
        of->left, bottom, RIGHT, of->left, bottom + 14, leat_display_words(begin, axis.unit, 0),
        (of->left + RIGHT) / 2, bottom + 14, axis.label);
    leat_textbuf_printf(out, "<text x=\"%d\" y=\"%d\" class=\"end\">%s</text>\n", RIGHT,
                        bottom + 14, leat_display_words(end, axis.unit, axis.high));
}

static void put_table(const grid *of) {
    leat_textbuf *csv = of->page->csv;
    char name[LEAT_PLAIN_BYTES];
    const bool times = of->raster->scaled >= 0;
    leat_textbuf_printf(csv,
                        "identifier,frame_from,frame_to,%sframes_per_window,windows,windows_with_"
                        "attack,windows_unlabelled\n",
                        times ? "seconds_from,seconds_to," : "");
    for (int row = 0; row < of->rows; row++) {
        for (int i = 0; i < of->raster->column_count; i++) {
            const leat_can_raster_column *column = &of->raster->columns[i];
            int64_t frames = row_of(of, row)->cell[i];
            if (frames == 0) continue;
            leat_csv_text(csv, name_of(name, of, row));
            leat_textbuf_printf(csv, ",%lld,%lld,", (long long)column->first,
                                (long long)column->end);
            for (int end = 0; times && end < 2; end++) {
                leat_csv_value(csv, LEAT_DISPLAY_DURATION_US,
                               end == 0 ? begin_of(of->raster, i) : end_of(of->raster, i));
                leat_textbuf_put(csv, ",");
            }
            leat_csv_value(csv, LEAT_DISPLAY_NUMBER, leat_ratio(frames, column->read_windows));
            leat_textbuf_printf(csv, ",%lld,%lld,%lld\n", (long long)windows_of(column),
                                (long long)column->windows[LEAT_CAN_LABEL_ATTACK],
                                (long long)column->windows[LEAT_CAN_LABEL_UNLABELLED]);
        }
    }
}

static double place_in_grid(const void *context, double value) { return x_of(context, value); }

/* What both figures say of windows: the tint, which were counted, and how sure places are. */
static void put_legend(leat_page *page, const leat_can_raster *raster,
                       const leat_can_facts *facts) {
    char words[LEAT_FIGURE_WORDS], a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES];
    int64_t attacks = 0;
    for (int i = 0; i < raster->column_count; i++)
        attacks += raster->columns[i].windows[LEAT_CAN_LABEL_ATTACK];
    if (attacks > 0)
        leat_figure_item(page, "tint", "windows with an attack", leat_words_count(a, attacks));
    else leat_figure_say(page, "no window with an attack;");
    if (raster->read_windows < raster->windows) {
        snprintf(words, sizeof words, "from a sample: %s of %s windows;",
                 leat_words_count(a, raster->read_windows), leat_words_count(b, raster->windows));
        leat_figure_say(page, words);
    }
    if (facts->stride < facts->window)
        leat_figure_say(page, "windows overlap: each counts its frames;");
    if (raster->scaled > ESTIMATED) leat_figure_say(page, "places in time are estimated;");
}

static void draw_identifiers(leat_page *page, const leat_can_raster *raster,
                             const leat_can_facts *facts) {
    static const char *const shades[SHADES] = {"up to 1 %", "2 %", "5 %", "10 %", "more"};
    grid of = {.page = page,
               .raster = raster,
               .window = facts->window,
               .rows = raster->row_count + (raster->other_count > 0)};
    char name[LEAT_PLAIN_BYTES], key[16];
    size_t longest = 0;
    for (int row = 0; row < of.rows; row++) {
        size_t size = strlen(name_of(name, &of, row));
        if (size > longest) longest = size < NAME ? size : NAME;
    }
    of.left = 10 + (double)longest * CHAR_WIDTH;
    int bottom = TOP + of.rows * ROW + 2;
    leat_figure_begin(page, "Identifiers over time");
    put_legend(page, raster, facts);
    leat_figure_say(page, "share of a window's frames:");
    for (int i = 0; i < SHADES; i++) {
        snprintf(key, sizeof key, "shade k1%d", i + 1);
        leat_figure_item(page, key, shades[i], NULL);
    }
    leat_figure_draw(page, LEAT_PLOT_WIDTH, bottom + 20);
    put_strip(&of);
    put_tints(page->svg, raster, TOP, bottom, place_in_grid, &of);
    for (int shade = 1; shade <= SHADES; shade++) put_shade(&of, shade);
    put_names(&of);
    put_axis(&of, bottom);
    put_table(&of);
    leat_figure_end(page);
}

/* ---- load -------------------------------------------------------------------------------- */

/* Frames per second; 0: not known. */
static double load_of(const leat_can_raster_column *column) {
    double load = (double)column->steps / column->seconds;
    return column->seconds > 0 && isfinite(load) ? load : 0;
}

static double place_in_plot(const void *context, double value) {
    return leat_plot_x(context, value);
}

/* A line for each run of columns whose load is known. */
static void put_loads(leat_plot *plot, const leat_can_raster *raster) {
    double xs[LEAT_CAN_RASTER_COLUMNS + 1], ys[LEAT_CAN_RASTER_COLUMNS + 1];
    int count = 0;
    for (int i = 0; i <= raster->column_count; i++) {
        double load = i < raster->column_count ? load_of(&raster->columns[i]) : 0;
        if (load > 0) {
            xs[count] = begin_of(raster, i);
            ys[count++] = load;
        } else if (count > 0) {
            xs[count] = end_of(raster, i - 1);
            ys[count] = ys[count - 1];
            leat_plot_line(plot, xs, ys, count + 1, true, "line l1");
            count = 0;
        }
    }
}

static void draw_load(leat_page *page, const leat_can_raster *raster, const leat_can_facts *facts) {
    static const char title[] = "Bus load over time";
    char words[LEAT_WORDS_BYTES];
    double peak = 0;
    for (int i = 0; i < raster->column_count; i++) peak = fmax(peak, load_of(&raster->columns[i]));
    if (peak <= 0) {
        leat_figure_empty(page, title, "the frames of this capture have no times");
        return;
    }
    leat_plot plot = {.page = page,
                      .x = axis_of(raster),
                      .y = {peak < 10 ? LEAT_DISPLAY_NUMBER : LEAT_DISPLAY_COUNT, false, 0,
                            leat_axis_end(peak), "frames per second"}};
    leat_figure_begin(page, title);
    leat_figure_item(page, NULL, "mean of the capture",
                     leat_can_load_words(words, leat_can_load(&raster->capture)));
    leat_figure_item(page, "line l1", "highest", leat_can_load_words(words, peak));
    put_legend(page, raster, facts);
    leat_plot_begin(&plot, false);
    put_tints(page->svg, raster, plot.top, plot.bottom, place_in_plot, &plot);
    put_loads(&plot, raster);
    leat_plot_end(&plot);
    leat_figure_end(page);
}

/* ---- all of it --------------------------------------------------------------------------- */

void leat_can_report_capture(leat_page *page, const leat_can_report *report) {
    const leat_can_raster *raster = report->raster;
    leat_textbuf *out = page->out;
    leat_can_facts facts;
    char name[LEAT_PLAIN_BYTES];
    if (raster == NULL) return;
    leat_can_cache_get_facts(report->cache, &facts);
    leat_textbuf_put(out, "<h2>A capture over time</h2>\n<p class=\"note\"><span class=\"mono\">");
    leat_html_text(out, leat_can_capture_words(name, &raster->capture));
    leat_textbuf_put(out, "</span>, ");
    leat_html_text(out, raster->capture.split);
    leat_textbuf_printf(
        out,
        ": the capture of the %s above. Its windows are in %d columns, each for the same number of "
        "windows%s. The strip is as in the table of captures.</p>\n<div class=\"figures\">\n",
        report->summary->window[LEAT_CAN_LABEL_ATTACK].split >= 0 ? "window with an attack"
                                                                  : "window",
        raster->column_count,
        raster->scaled < 0 ? "" : " and as wide as the time that its frames take");
    if (raster->read_windows == 0)
        leat_figure_empty(page, "Identifiers over time", "no graph was read");
    else draw_identifiers(page, raster, &facts);
    if (raster->read_windows > 0) draw_load(page, raster, &facts);
    leat_textbuf_put(out, "</div>\n");
}
