/* Horizontal bars with names and values. */
#include <string.h>

#include "page/page.h"

enum { LEFT = 158, RIGHT = 340, ROW = 20, NAME = 24 };

static void put_columns(const leat_bars *bars) {
    leat_textbuf *csv = bars->page->csv;
    leat_csv_name(csv, bars->names, LEAT_DISPLAY_COUNT, ",");
    leat_csv_name(csv, bars->values, bars->unit, ",");
    leat_csv_name(csv, bars->counts, LEAT_DISPLAY_COUNT, "\n");
}

static void put_row(const leat_bars *bars, const char *name, double value, int64_t count) {
    leat_textbuf *csv = bars->page->csv;
    leat_csv_text(csv, name);
    leat_textbuf_put(csv, ",");
    leat_csv_value(csv, bars->unit, value);
    leat_textbuf_printf(csv, ",%lld\n", (long long)count);
}

void leat_bars_begin(leat_bars *bars) {
    leat_figure_draw(bars->page, LEAT_PLOT_WIDTH, ROW * bars->count + 4);
    if (bars->names != NULL) put_columns(bars);
}

/* The name as far as there is space for it. */
static void put_name(leat_textbuf *out, const char *name) {
    char text[NAME + 8];
    bool cut = strlen(name) > NAME;
    leat_text_show(text, NAME + !cut, name, (int64_t)strlen(name));
    leat_html_text(out, text);
    if (cut) leat_textbuf_put(out, "\xe2\x80\xa6");
}

void leat_bars_put(leat_bars *bars, const char *name, double value, int64_t count,
                   const char *class_name, const char *words) {
    leat_textbuf *out = bars->page->svg;
    char text[LEAT_WORDS_BYTES];
    double width = bars->peak > 0 ? (RIGHT - LEFT) * value / bars->peak : 0;
    int y = ROW * bars->drawn++;
    if (bars->names != NULL) put_row(bars, name, value, count);
    leat_textbuf_printf(out, "<text x=\"%d\" y=\"%d\" class=\"end\">", LEFT - 6, y + 14);
    put_name(out, name);
    leat_textbuf_printf(out,
                        "</text><rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%.1f\" "
                        "height=\"%d\"><title>",
                        class_name, LEFT, y + 4, width, ROW - 7);
    leat_html_text(out, name);
    leat_textbuf_put(out, ": ");
    leat_html_text(out, words);
    leat_textbuf_printf(out,
                        "</title></rect><text x=\"%.1f\" y=\"%d\" class=\"marked\">%s</text>\n",
                        LEFT + width + 5, y + 14, leat_display_words(text, bars->unit, value));
}

void leat_bars_end(leat_bars *bars) {
    leat_textbuf_printf(bars->page->svg, "<path class=\"base\" d=\"M%d 0V%d\"/>\n", LEFT,
                        ROW * bars->count + 4);
}
