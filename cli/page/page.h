/*
 * Self-contained pages: values in words, axes, plots, figures and the frame around them, all as
 * text (SVG and HTML), with nothing loaded. Colours come from classes that the page's style sheet
 * defines for light and dark.
 */
#ifndef LEAT_CLI_PAGE_PAGE_H
#define LEAT_CLI_PAGE_PAGE_H

#include "command/cli.h"
#include "leat/format.h"
#include "leat/load.h"

/* ---- Values ------------------------------------------------------------------------------- */

typedef enum leat_display_unit {
    LEAT_DISPLAY_COUNT,
    LEAT_DISPLAY_BYTES,
    LEAT_DISPLAY_DURATION_US, /* microseconds: a time span */
    LEAT_DISPLAY_RTT_NS,      /* nanoseconds: shown as milliseconds */
    LEAT_DISPLAY_DATE_US,     /* microseconds since 1970 */
    LEAT_DISPLAY_SHARE,       /* 0..1: shown as per cent */
    LEAT_DISPLAY_NUMBER,      /* any number: four digits */
} leat_display_unit;

/* "1,234", "1.23 KiB", "4 min 2 s", "12.3 ms", "2019-04-24 20:00:00 UTC", "3.52 %". */
const char *leat_display_words(char text[LEAT_WORDS_BYTES], leat_display_unit unit, double value);
/* "2019-04-24 20:00:00.000000": for people, UTC. */
const char *leat_time_words(char text[LEAT_WORDS_BYTES], int64_t time_us);
/* a / b, 0 if b is 0. */
double leat_ratio(int64_t a, int64_t b);
/* "IPv4", "IPv6", "IPv4 and IPv6". */
const char *leat_version_words(int ip_version);
const char *leat_split_words(leat_split split);

/* Equal steps on a logarithmic axis over all values of a distribution except 0. */
#define LEAT_COLUMNS_MAX 72
typedef struct leat_columns {
    int count;
    double edge[LEAT_COLUMNS_MAX + 1]; /* edge[i] .. edge[i + 1] */
    double values[LEAT_COLUMNS_MAX];   /* number of values in the column, whole */
    double zeros;                      /* how many are 0 */
    double total;
} leat_columns;
void leat_columns_make(leat_columns *columns, const leat_distribution *dist, int max_count);

/* ---- The page ----------------------------------------------------------------------------- */

#define LEAT_FIGURE_NAME 128 /* size of the name of a figure's files, without an ending */

/* A page in the making: its text, and its current figure. leat_page_render returns the first
 * failure. */
typedef struct leat_page {
    leat_textbuf *out;        /* the page so far */
    const char *section;      /* begins the names of figures; NULL: nothing does */
    leat_textbuf *svg, *csv;  /* of the figure: what it draws, its table */
    leat_textbuf *head;       /* its legend, drawn */
    leat_textbuf *file;       /* the picture that stands alone */
    leat_textbuf *names;      /* of the figures so far */
    leat_text_folder *folder; /* where figures are saved; NULL: nowhere */
    const char *title;
    char name[LEAT_FIGURE_NAME];
    int width, height;      /* of what is drawn */
    int64_t head_x, head_y; /* where the legend continues */
    bool has_words;         /* it has a legend */
    int64_t figures;
    leat_error err;
} leat_page;

/* Where a page and its figures go. */
typedef struct leat_page_places {
    const char *path;    /* NULL: nowhere */
    const char *figures; /* a folder, NULL: nowhere */
    bool replace;        /* files that leat did not write, too */
} leat_page_places;

/* ---- Plots -------------------------------------------------------------------------------- */

#define LEAT_PLOT_WIDTH 400
#define LEAT_PLOT_HEIGHT 256

typedef struct leat_axis {
    leat_display_unit unit;
    bool log;
    double low, high;
    const char *label; /* up to a comma or a bracket, also the name of its column in the table */
} leat_axis;

/*
 * Every mark is drawn and has rows in the figure's table: [series,] x, or its beginning and end, y,
 * and [count].
 */
typedef struct leat_plot {
    leat_page *page;
    leat_axis x, y;
    bool points;        /* an x of its own per row: not a range */
    const char *series; /* of the next marks; NULL at the beginning: the table has none */
    const char *counts; /* what the bars count, "rows"; NULL: nothing */
    double left, right, top, bottom; /* of the area where data is drawn, in pixels */
} leat_plot;

/* Draws grid, ticks and labels, to which logarithmic axes add "(log scale)". `zero_slot`: leave
 * space on the left for a bar of zeros. */
void leat_plot_begin(leat_plot *plot, bool zero_slot);
/* [from, until) of an axis. */
typedef struct leat_plot_span {
    double from, until;
} leat_plot_span;

/* A bar of height y; `words` is its tooltip. */
void leat_plot_bar(leat_plot *plot, leat_plot_span x, double y, double count,
                   const char *class_name, const char *words);
/* The bar of zeros, left of the axis. */
void leat_plot_zero_bar(leat_plot *plot, double y, double count, const char *words);
/* A line through points; steps: each y holds until the next x. */
void leat_plot_line(leat_plot *plot, const double *xs, const double *ys, int count, bool steps,
                    const char *class_name);
/* A bar between two heights, which are of the series `ends`. */
void leat_plot_range(leat_plot *plot, leat_plot_span x, leat_plot_span y, const char *const ends[2],
                     const char *class_name, const char *words);
/* Dashed vertical lines at x1 <= x2, each with a label at its top. */
void leat_plot_marks(leat_plot *plot, double x1, const char *words1, double x2, const char *words2);
void leat_plot_end(leat_plot *plot);
/* Pixel positions. */
double leat_plot_x(const leat_plot *plot, double value);
double leat_plot_y(const leat_plot *plot, double value);

/* Horizontal bars, each with its name on the left and its value on the right, for names that have
 * no place below an axis. */
typedef struct leat_bars {
    leat_page *page;
    leat_display_unit unit;
    double peak;        /* the highest value */
    int count;          /* bars */
    const char *names;  /* columns of the table: "split"; NULL: the caller writes it */
    const char *values; /* "share of the graphs" */
    const char *counts; /* "graphs" */
    int drawn;
} leat_bars;

void leat_bars_begin(leat_bars *bars);
/* Long names are cut; the tooltip has the complete name and `words`. */
void leat_bars_put(leat_bars *bars, const char *name, double value, int64_t count,
                   const char *class_name, const char *words);
void leat_bars_end(leat_bars *bars);

/* Bars divided into shares, one below the other, each with its legend. */
typedef struct leat_share {
    const char *name;
    int64_t value;
    int key; /* colour: class k0 to k4; k11 to k15 range from light to dark; k22 to k27, k31 to k37
                and k41 to k47 are kinds */
} leat_share;

typedef struct leat_shares {
    leat_page *page;
    int64_t y; /* where the next bar begins */
} leat_shares;

/* The table has the columns bar, part, share, count. */
void leat_shares_begin(leat_shares *shares);
void leat_shares_put(leat_shares *shares, const char *bar, const leat_share *items, int count);
void leat_shares_end(leat_shares *shares);
/* A directed graph, drawn on a circle; its table is up to the caller. Widths of edges and areas of
 * nodes grow with their numbers. */
#define LEAT_NETWORK_NODES 64
typedef struct leat_network_node {
    const char *name; /* long ones are cut; the tooltip has the complete name */
    int64_t size;
    bool hollow;
    const char *class_name; /* "", " bad", " zero" */
} leat_network_node;
typedef struct leat_network_edge {
    int source, target; /* nodes, which may be the same */
    int64_t count;
} leat_network_edge;
typedef struct leat_network {
    leat_page *page;
    const char *sizes, *counts;     /* what they count: "message", "step" */
    const leat_network_node *nodes; /* clockwise from the top */
    const leat_network_edge *edges; /* later ones are drawn above others */
    int node_count, edge_count;     /* node_count: 1 to LEAT_NETWORK_NODES */
} leat_network;
void leat_network_draw(const leat_network *network);

/* ---- Figures ------------------------------------------------------------------------------ */

#define LEAT_FIGURE_WORDS 200 /* size of a tooltip or a remark */

/* A figure: title, legend, what is drawn, and links that save it as SVG and CSV. */
void leat_figure_begin(leat_page *page, const char *title);
/* The legend: words, and items with a name, a value (NULL: none) and the class of a mark (NULL:
 * none). */
void leat_figure_say(leat_page *page, const char *words);
void leat_figure_item(leat_page *page, const char *class_name, const char *name, const char *value);
/* Ends the legend; the drawing has this size. */
void leat_figure_draw(leat_page *page, int width, int height);
void leat_figure_end(leat_page *page);
/* A figure with nothing to draw, and the reason. */
void leat_figure_empty(leat_page *page, const char *title, const char *why);
/* Items: median, p99, max. */
void leat_figure_quantiles(leat_page *page, const leat_distribution *dist, leat_display_unit unit);
/* The end of a linear axis on which `value` is the highest bar. */
double leat_axis_end(double value);

/* A cell of the table; a name of a column, from an axis' label, with the unit of its values; a
 * value: times as texts, round trips in ms, time spans in s. */
void leat_csv_text(leat_textbuf *csv, const char *text);
void leat_csv_name(leat_textbuf *csv, const char *label, leat_display_unit unit, const char *end);
void leat_csv_value(leat_textbuf *csv, leat_display_unit unit, double value);

typedef struct leat_histogram {
    const char *title, *x_label, *y_label;
    const char *things; /* "rows" */
    const char *empty;  /* shown if there is no value */
    leat_display_unit unit;
    bool zeros; /* 0 is a value with its own bar */
} leat_histogram;
/* One bar per number if the largest is small, one per value if there are few; otherwise a histogram
 * over a logarithmic axis. */
void leat_figure_histogram(leat_page *page, const leat_histogram *spec,
                           const leat_distribution *dist);

/* Several distributions over one axis, as lines; empty ones are omitted. */
#define LEAT_SERIES_MAX 3
typedef struct leat_series {
    const char *name;
    const leat_distribution *dist;
} leat_series;
void leat_figure_series(leat_page *page, const leat_histogram *spec, const leat_series *series,
                        int count);

/* ---- Pieces of the page ------------------------------------------------------------------- */

/* Text as HTML: the five special characters are written as entities, unprintable bytes as by
 * leat_text_show. */
void leat_html_text(leat_textbuf *out, const char *text);

/* Everything up to and including the page's <h1>, whose text is `name`; `command` created the
 * page. */
void leat_page_begin(leat_textbuf *out, const char *name, const char *command);
/* The footer and the end of the page: after the version these words (HTML), then a text as code
 * (NULL: none). */
void leat_page_end(leat_textbuf *out, const char *words, const char *code);
void leat_page_value(leat_textbuf *out, leat_display_unit unit, double value);
void leat_page_card(leat_textbuf *out, const char *name, leat_display_unit unit, double value);
/* A row of a table: a name, and a text in a fixed font. */
void leat_page_text_row(leat_textbuf *out, const char *name, const char *value);
void leat_page_cell(leat_textbuf *out, leat_display_unit unit, double value);
/* "--name value" of each option that determines bytes, but for those that are idle beside the
 * others (NULL: none is). */
void leat_page_settings(leat_textbuf *out, const leat_setting_table *table, const void *options,
                        bool (*idle)(const char *name, const void *options));
/* A picture of this size in pixels, within the page itself; `alt` describes it. */
void leat_page_png(leat_textbuf *out, const leat_png *png, int32_t width, int32_t height,
                   const char *class_name, const char *alt);
/* Rows of commands that write pages. */
#define LEAT_PAGE_OPTIONS                                                                          \
    {.own.name = "figures",                                                                        \
     .own.kind = LEAT_SETTING_OUTPUT,                                                              \
     .own.value = "DIR",                                                                           \
     .own.help = "write each figure of the page to DIR as SVG, and its numbers as CSV; DIR may "   \
                 "hold figures that leat wrote, and no other files"},                              \
    {                                                                                              \
        .own.name = "replace", .own.kind = LEAT_SETTING_FLAG,                                      \
        .own.help = "overwrite existing files even if leat did not write them, and let --figures " \
                    "write to a folder that holds other files"                                     \
    }
/* The file that the option `page` names, and the folder of --figures. */
leat_page_places leat_page_asked(const leat_cli *cli, const char *page);
/* Refuses one path for both: the exit status, 0 if they differ. */
int leat_page_check(leat_cli *cli, const char *page);
/* What a page shows: writes to page->out, and draws figures, between leat_page_begin and _end. */
typedef void leat_page_put(leat_page *page, const void *user);
/*
 * Renders a page: `out` is its text, which the caller destroys; NULL on failure. Figures are added
 * to `folder` (NULL: to none), which the caller publishes. Memory: the page, and a figure.
 */
LEAT_MUST_CHECK leat_code leat_page_render(leat_textbuf **out, leat_text_folder *folder,
                                           leat_page_put *put, const void *user, leat_error *err);
/* The folder that figures are added to; NULL: they are not wanted. LEAT_ERR_EXISTS: it is taken. */
LEAT_MUST_CHECK leat_code leat_page_folder(leat_text_folder **out, const leat_page_places *places,
                                           leat_error *err);
/* Saves what was rendered: the figures, then the page. */
LEAT_MUST_CHECK leat_code leat_page_write(leat_textbuf *text, leat_text_folder *folder,
                                          const leat_page_places *places, leat_error *err);
/* All three. */
LEAT_MUST_CHECK leat_code leat_page_save(const leat_page_places *places, leat_page_put *put,
                                         const void *user, leat_error *err);
/* Whether they could be saved; changes nothing. */
LEAT_MUST_CHECK leat_code leat_page_can_save(const leat_page_places *places, leat_error *err);

/* ---- The files that pages are made of ------------------------------------------------------ */

/* What is written where a file has "{{NAME}}". */
typedef struct leat_template_place {
    const char *name; /* NULL: the end of the places */
    const char *value;
    bool markup; /* HTML or SVG already; otherwise leat_html_text writes it */
} leat_template_place;

/* The text of a file of this folder: "page.html", "saved.svg". */
const char *leat_template(const char *name);
/* Writes it up to the first place that has no value and is no style sheet, and returns what follows
 * that; "": nothing. */
const char *leat_template_put(leat_textbuf *out, const char *text,
                              const leat_template_place *places);

/* ---- The same in JSON --------------------------------------------------------------------- */

/* A member: count, smallest, largest, mean, quantiles, histogram; values are multiplied. */
void leat_json_distribution(leat_json *json, const char *name, const leat_distribution *dist,
                            double scale);

#endif
