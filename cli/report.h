/*
 * What `leat inspect` draws: axes, plots and the page, all as text (SVG and HTML), nothing loaded
 * from anywhere. Colours come from classes that the page's style sheet defines for light and dark.
 */
#ifndef LEAT_CLI_REPORT_H
#define LEAT_CLI_REPORT_H

#include "cli.h"
#include "leat/load.h"

/* ---- Values ------------------------------------------------------------------------------- */

typedef enum leat_unit {
    LEAT_UNIT_COUNT,
    LEAT_UNIT_BYTES,
    LEAT_UNIT_DURATION_US, /* microseconds: a time span */
    LEAT_UNIT_RTT_NS,      /* nanoseconds: shown as milliseconds */
    LEAT_UNIT_DATE_US,     /* microseconds since 1970 */
    LEAT_UNIT_SHARE,       /* 0..1: shown as per cent */
} leat_unit;

/* "1,234", "1.23 KiB", "4 min 2 s", "12.3 ms", "2019-04-24 20:00:00 UTC", "3.52 %". */
const char *leat_unit_words(char text[LEAT_WORDS_BYTES], leat_unit unit, double value);
/* "2019-04-24 20:00:00.000000": for people, UTC. */
const char *leat_time_words(char text[LEAT_WORDS_BYTES], int64_t time_us);
/* "1 row", "2,345 rows". */
const char *leat_things(char text[LEAT_WORDS_BYTES], int64_t count, const char *thing);
/* a / b, 0 if b is 0. */
double leat_ratio(int64_t a, int64_t b);
/* "IPv4", "IPv6", "IPv4 and IPv6". */
const char *leat_version_words(int ip_version);
const char *leat_split_words(leat_split split);

/* Equal steps on a logarithmic axis over all values of a distribution but 0. */
#define LEAT_COLUMNS_MAX 72
typedef struct leat_columns {
    int count;
    double edge[LEAT_COLUMNS_MAX + 1]; /* edge[i] .. edge[i + 1] */
    double values[LEAT_COLUMNS_MAX];   /* how many lie there */
    double zeros;                      /* how many are 0 */
    double total;
} leat_columns;
void leat_columns_make(leat_columns *columns, const leat_dist *dist, int max_count);

/* ---- Plots -------------------------------------------------------------------------------- */

#define LEAT_PLOT_WIDTH 400
#define LEAT_PLOT_HEIGHT 256

typedef struct leat_axis {
    leat_unit unit;
    bool log;
    double low, high;
    const char *label;
} leat_axis;

typedef struct leat_plot {
    leat_textbuf *out;
    leat_axis x, y;
    double left, right, top, bottom; /* of the area where data is drawn, in pixels */
} leat_plot;

/* Opens the <svg>, draws grid, ticks and labels. `zero_slot`: room on the left for a bar of zeros.
 */
void leat_plot_begin(leat_plot *plot, const char *aria_label, bool zero_slot);
/* A bar over [x0, x1) of height y; `words` is its tooltip. */
void leat_plot_bar(leat_plot *plot, double x0, double x1, double y, const char *class_name,
                   const char *words);
/* The bar of zeros, left of the axis. */
void leat_plot_zero_bar(leat_plot *plot, double y, const char *words);
/* A line through points; steps: each y holds until the next x. */
void leat_plot_line(leat_plot *plot, const double *xs, const double *ys, int count, bool steps,
                    const char *class_name);
/* Dashed upright lines at x1 <= x2, each with a text at its top. */
void leat_plot_marks(leat_plot *plot, double x1, const char *words1, double x2, const char *words2);
void leat_plot_end(leat_plot *plot);
/* Pixel positions. */
double leat_plot_x(const leat_plot *plot, double value);
double leat_plot_y(const leat_plot *plot, double value);

/* All figures of the page. */
void leat_report_figures(leat_textbuf *out, const leat_summary *summary);

/* ---- The page ----------------------------------------------------------------------------- */

typedef struct leat_report {
    const char *name; /* of the data set, as the user gave it */
    const leat_summary *summary;
    const leat_verify_report *verify; /* NULL: not run */
} leat_report;

void leat_report_page(leat_textbuf *out, const leat_report *report);
extern const char leat_report_style[];
/* Text as HTML: the five special characters are written as entities, control characters as
 * U+FFFD, bytes that are no UTF-8 too. */
void leat_html_text(leat_textbuf *out, const char *text);

/* The other two forms. */
void leat_report_json(leat_json *json, const leat_report *report);
void leat_report_terminal(leat_cli *cli, const leat_report *report);

#endif
