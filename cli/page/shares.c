/*
 * Bars that are divided into shares, one below the other, each with its name and its legend above
 * it. Kinds that have no colour of their own are striped or barred: with lines, because patterns of
 * SVG would have to be referred to.
 */
#include <stdio.h>
#include <string.h>

#include "page/page.h"

enum {
    LEFT = 4, /* pixels */
    RIGHT = LEAT_PLOT_WIDTH - 4,
    LINE = 16,
    BAR = 14,
    KEY = 10,
    CHAR_TENTHS = 66, /* of a pixel, on the wide side; bold ones: */
    BOLD_TENTHS = 76,
    NAME = 40, /* bytes of a name that are shown */
    STRIPED = 31,
    BARRED = 41
};

static int64_t width_of(const char *text, int tenths) {
    int64_t count = 0;
    for (; *text != 0; text++) count += (*text & 0xc0) != 0x80;
    return count * tenths / 10;
}

/* A name from data, cut if it is long. */
static const char *short_name(char text[NAME + 8], const char *name) {
    bool cut = strlen(name) > NAME;
    leat_text_show(text, NAME + !cut, name, (int64_t)strlen(name));
    if (cut) snprintf(text + strlen(text), 4, "\xe2\x80\xa6");
    return text;
}

static void put_text(leat_textbuf *out, int64_t x, int64_t y, const char *class_name,
                     const char *text) {
    leat_textbuf_printf(out, "<text x=\"%lld\" y=\"%lld\"%s>", (long long)x, (long long)y,
                        class_name);
    leat_html_text(out, text);
    leat_textbuf_put(out, "</text>\n");
}

typedef struct area {
    double x;
    int64_t y;
    double width;
    int height;
} area;

/* An area in the colour of a key; `words` is its tooltip, NULL: none. */
static void put_area(leat_textbuf *out, int key, const area *at, const char *words) {
    const char *end = words == NULL ? "/>\n" : "><title>";
    if (key < STRIPED) {
        leat_textbuf_printf(out,
                            "<rect class=\"share k%d\" x=\"%.1f\" y=\"%lld\" width=\"%.1f\" "
                            "height=\"%d\"%s",
                            key, at->x, (long long)at->y, at->width, at->height, end);
    } else if (key < BARRED) {
        leat_textbuf_printf(out,
                            "<path class=\"share k%d\" stroke-width=\"%d\" "
                            "stroke-dasharray=\"3 2\" d=\"M%.1f %lldh%.1f\"%s",
                            key, at->height, at->x, (long long)at->y + at->height / 2, at->width,
                            end);
    } else {
        leat_textbuf_printf(out, "<path class=\"share k%d\" stroke-width=\"2\" d=\"", key);
        for (int line = 1; line < at->height; line += 4)
            leat_textbuf_printf(out, "M%.1f %lldh%.1f", at->x, (long long)at->y + line, at->width);
        leat_textbuf_printf(out, "\"%s", end);
    }
    if (words == NULL) return;
    leat_html_text(out, words);
    leat_textbuf_put(out, key < STRIPED ? "</title></rect>\n" : "</title></path>\n");
}

static void put_row(const leat_shares *shares, const char *bar, const leat_share *item,
                    double share) {
    leat_textbuf *csv = shares->page->csv;
    leat_csv_text(csv, bar);
    leat_textbuf_put(csv, ",");
    leat_csv_text(csv, item->name);
    leat_textbuf_put(csv, ",");
    leat_csv_value(csv, LEAT_DISPLAY_SHARE, share);
    leat_textbuf_printf(csv, ",%lld\n", (long long)item->value);
}

/* The name of the bar, and in as many lines as it takes what its parts are. */
static void put_legend(leat_shares *shares, const char *bar, const leat_share *items, int count,
                       int64_t total) {
    leat_textbuf *out = shares->page->svg;
    char text[NAME + 8], words[NAME + LEAT_WORDS_BYTES + 16], value[LEAT_WORDS_BYTES];
    int64_t x = LEFT;
    put_text(out, x, shares->y + 12, " class=\"marked\"", short_name(text, bar));
    x += width_of(text, BOLD_TENTHS) + 10;
    for (int i = 0; i < count; i++) {
        if (items[i].value == 0) continue;
        snprintf(words, sizeof words, "%s %s", short_name(text, items[i].name),
                 leat_display_words(value, LEAT_DISPLAY_SHARE, leat_ratio(items[i].value, total)));
        int64_t width = KEY + 5 + width_of(words, CHAR_TENTHS);
        if (x > LEFT && x + width > RIGHT) {
            x = LEFT;
            shares->y += LINE;
        }
        put_area(out, items[i].key, &(area){(double)x, shares->y + 3, KEY, KEY}, NULL);
        put_text(out, x + KEY + 5, shares->y + 12, "", words);
        x += width + 12;
    }
    if (total == 0) put_text(out, x, shares->y + 12, "", "nothing");
    shares->y += LINE + 2;
}

void leat_shares_begin(leat_shares *shares) {
    leat_figure_draw(shares->page, LEAT_PLOT_WIDTH, 0); /* the height is known at the end */
    leat_textbuf_put(shares->page->csv, "bar,part,share,count\n");
}

void leat_shares_put(leat_shares *shares, const char *bar, const leat_share *items, int count) {
    char words[LEAT_FIGURE_WORDS], a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES];
    leat_textbuf *out = shares->page->svg;
    int64_t total = 0, before = 0;
    double end = LEFT;
    for (int i = 0; i < count; i++) total += items[i].value;
    put_legend(shares, bar, items, count, total);
    if (total == 0) /* an empty bar */
        leat_textbuf_printf(out, "<path class=\"grid\" d=\"M%d %lldH%d\"/>\n", LEFT,
                            (long long)shares->y + BAR / 2, RIGHT);
    for (int i = 0; i < count; i++) {
        double share = leat_ratio(items[i].value, total);
        put_row(shares, bar, &items[i], share);
        if (items[i].value == 0) continue;
        before += items[i].value;
        /* small parts stay visible, and the gap between parts is theirs */
        double until = LEFT + (RIGHT - LEFT) * leat_ratio(before, total);
        double width = until - end > 4 ? until - end - 1 : until - end < 1 ? 1 : until - end;
        snprintf(words, sizeof words, "%.120s: %s (%s)", items[i].name,
                 leat_display_words(a, LEAT_DISPLAY_SHARE, share),
                 leat_words_count(b, items[i].value));
        put_area(out, items[i].key, &(area){end, shares->y, width, BAR}, words);
        end = until - end < 1 ? end + 1 : until;
    }
    shares->y += BAR + 12;
}

void leat_shares_end(leat_shares *shares) { shares->page->height = (int)shares->y; }
