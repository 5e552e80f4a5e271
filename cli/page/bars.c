/* Horizontal bars with names and values, as SVG. */
#include <stdio.h>
#include <string.h>

#include "page/page.h"

enum { LEFT = 158, RIGHT = 340, ROW = 20, NAME = 24 };

void leat_bars_begin(leat_bars *bars, const char *aria_label) {
    leat_textbuf_printf(bars->out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"",
                        LEAT_PLOT_WIDTH, ROW * bars->count + 4);
    leat_html_text(bars->out, aria_label);
    leat_textbuf_put(bars->out, "\">\n");
}

/* The name as far as there is space for it. */
static void put_name(leat_textbuf *out, const char *name) {
    char text[NAME + 8];
    bool cut = strlen(name) > NAME;
    leat_text_show(text, NAME + !cut, name, (int64_t)strlen(name));
    leat_html_text(out, text);
    if (cut) leat_textbuf_put(out, "\xe2\x80\xa6");
}

void leat_bars_put(leat_bars *bars, const char *name, double value, const char *class_name,
                   const char *words) {
    leat_textbuf *out = bars->out;
    char text[LEAT_WORDS_BYTES];
    double width = bars->peak > 0 ? (RIGHT - LEFT) * value / bars->peak : 0;
    int y = ROW * bars->drawn++;
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
                        LEFT + width + 5, y + 14, leat_unit_words(text, bars->unit, value));
}

void leat_bars_end(leat_bars *bars) {
    leat_textbuf_printf(bars->out, "<path class=\"base\" d=\"M%d 0V%d\"/>\n</svg>\n", LEFT,
                        ROW * bars->count + 4);
}
