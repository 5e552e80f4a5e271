/*
 * The frame of a figure: title, legend, the drawing, and the links that save it. What is drawn is
 * written once, as SVG, and stands both in the page, which colours it, and in a file of its own,
 * with a title, the legend and colours that need no page. The same calls write the table.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "page/page.h"

/* Of the head, as in saved.svg; pixels, tenths of them. */
enum { MARGIN = 8, LINE = 16, CHAR_TENTHS = 66, KEY = 20 };

/* ---- Names -------------------------------------------------------------------------------- */

/* Letters and digits in lower case, with `between` for what lies between them. */
static void add_slug(char *name, size_t bytes, const char *text, char between) {
    size_t used = strlen(name);
    bool gap = used > 0;
    for (; *text != 0 && used + 2 < bytes; text++) {
        if (*text == '\'') continue;
        bool plain = (*text >= '0' && *text <= '9') || (*text >= 'a' && *text <= 'z') ||
                     (*text >= 'A' && *text <= 'Z');
        if (!plain) {
            gap = used > 0;
            continue;
        }
        if (gap) name[used++] = between;
        gap = false;
        name[used++] = (char)(*text >= 'A' && *text <= 'Z' ? *text - 'A' + 'a' : *text);
    }
    name[used] = 0;
}

/* Of the section and the title; a number tells equal ones apart. */
static void choose_name(leat_page *page) {
    char name[LEAT_FIGURE_NAME - 8] = "", line[LEAT_FIGURE_NAME + 2];
    const char *taken = NULL;
    int64_t size_bytes = 0;
    if (page->section != NULL) add_slug(name, sizeof name / 2, page->section, '-');
    add_slug(name, sizeof name, page->title, '-');
    for (int number = 1; number < INT32_MAX; number++) {
        if (number == 1) snprintf(page->name, sizeof page->name, "%s", name);
        else snprintf(page->name, sizeof page->name, "%s-%d", name, number);
        snprintf(line, sizeof line, "\n%s\n", page->name);
        if (leat_textbuf_finish(page->names, &taken, &size_bytes, NULL) != LEAT_OK ||
            strstr(taken, line) == NULL)
            break;
    }
    leat_textbuf_printf(page->names, "\n%s\n", page->name);
}

/* ---- The table ---------------------------------------------------------------------------- */

void leat_csv_text(leat_textbuf *csv, const char *text) {
    char plain[LEAT_PLAIN_BYTES];
    leat_text_show(plain, sizeof plain, text, (int64_t)strlen(text));
    bool quoted = strpbrk(plain, ",\"") != NULL;
    if (quoted) leat_textbuf_put(csv, "\"");
    /* as in rejected.csv: no spreadsheet may take it for a formula */
    if (plain[0] != 0 && strchr("=+-@'", plain[0]) != NULL) leat_textbuf_put(csv, "'");
    for (const char *at = plain; *at != 0; at++) {
        if (*at == '"') leat_textbuf_put(csv, "\"");
        leat_textbuf_append(csv, at, 1);
    }
    if (quoted) leat_textbuf_put(csv, "\"");
}

void leat_csv_name(leat_textbuf *csv, const char *label, leat_display_unit unit, const char *end) {
    char name[LEAT_FIGURE_NAME] = "", text[LEAT_FIGURE_WORDS];
    snprintf(text, sizeof text, "%s", label);
    text[strcspn(text, ",(")] = 0; /* without remarks */
    add_slug(name, sizeof name, text, '_');
    leat_textbuf_printf(csv, "%s%s%s", name,
                        unit == LEAT_DISPLAY_RTT_NS        ? "_ms"
                        : unit == LEAT_DISPLAY_DURATION_US ? "_s"
                                                           : "",
                        end);
}

void leat_csv_value(leat_textbuf *csv, leat_display_unit unit, double value) {
    char words[LEAT_WORDS_BYTES];
    if (unit == LEAT_DISPLAY_DATE_US) {
        leat_words_time(words, (int64_t)value);
        leat_textbuf_put(csv, words);
        return;
    }
    if (unit == LEAT_DISPLAY_RTT_NS || unit == LEAT_DISPLAY_DURATION_US)
        value *= 1e-6; /* to ms, to s */
    if (value == floor(value) && fabs(value) < 1e15) leat_textbuf_printf(csv, "%.0f", value);
    else leat_textbuf_printf(csv, "%.10g", value);
}

/* ---- The legend --------------------------------------------------------------------------- */

/* Characters, not bytes. */
static int64_t width_of(const char *text) {
    int64_t count = 0;
    for (; *text != 0; text++) count += (*text & 0xc0) != 0x80;
    return count * CHAR_TENTHS / 10;
}

/* Moves to the next line if so many pixels do not fit into this one. */
static void take_place(leat_page *page, int64_t pixels) {
    if (page->head_x > MARGIN && page->head_x + pixels > LEAT_PLOT_WIDTH - MARGIN) {
        page->head_x = MARGIN;
        page->head_y += LINE;
    }
}

static void put_head_part(leat_page *page, const char *part, bool strong) {
    leat_textbuf_printf(page->head, "<text%s x=\"%lld\" y=\"%lld\">",
                        strong ? " class=\"marked\"" : "", (long long)page->head_x,
                        (long long)page->head_y);
    leat_html_text(page->head, part);
    leat_textbuf_put(page->head, "</text>\n");
    page->head_x += width_of(part);
}

/* Words in the head of the file; those that do not fit into a line are in the next one. */
static void put_head(leat_page *page, const char *words, bool strong) {
    char line[LEAT_FIGURE_WORDS];
    take_place(page, width_of(words));
    while (page->head_x + width_of(words) > LEAT_PLOT_WIDTH - MARGIN) {
        size_t size = 0;
        for (size_t at = 0; words[at] != 0 && at + 1 < sizeof line; at++) {
            snprintf(line, at + 1, "%s", words);
            if (words[at] == ' ' && page->head_x + width_of(line) <= LEAT_PLOT_WIDTH - MARGIN)
                size = at;
        }
        if (size == 0) break; /* a word longer than a line */
        snprintf(line, size + 1, "%s", words);
        put_head_part(page, line, strong);
        words += size + 1;
        page->head_x = MARGIN;
        page->head_y += LINE;
    }
    put_head_part(page, words, strong);
}

void leat_figure_say(leat_page *page, const char *words) {
    leat_html_text(page->out, words);
    leat_textbuf_put(page->out, " ");
    put_head(page, words, false);
    page->head_x += CHAR_TENTHS / 10;
    page->has_words = true;
}

void leat_figure_item(leat_page *page, const char *class_name, const char *name,
                      const char *value) {
    leat_textbuf_put(page->out, "<span class=\"item\">");
    if (class_name != NULL) {
        leat_textbuf_printf(page->out, "<span class=\"key %s\"></span>", class_name);
        take_place(page, KEY + width_of(name));
        const char *form = strncmp(class_name, "line", 4) == 0
                               ? "<path class=\"%s\" d=\"M%lld %lldh14\"/>\n"
                               : "<path class=\"%s\" d=\"M%lld %lldm0 -5h10v10h-10z\"/>\n";
        char mark[LEAT_FIGURE_WORDS];
        snprintf(mark, sizeof mark, form, class_name, (long long)page->head_x,
                 (long long)page->head_y - 4);
        leat_textbuf_put(page->head, mark);
        page->head_x += KEY;
    }
    leat_html_text(page->out, name);
    put_head(page, name, false);
    page->head_x += CHAR_TENTHS / 10;
    if (value != NULL) {
        leat_textbuf_put(page->out, " <b>");
        leat_html_text(page->out, value);
        leat_textbuf_put(page->out, "</b>");
        put_head(page, value, true);
    }
    leat_textbuf_put(page->out, "</span> ");
    page->head_x += 12;
    page->has_words = true;
}

/* ---- The frame ---------------------------------------------------------------------------- */

void leat_figure_begin(leat_page *page, const char *title) {
    page->title = title;
    page->has_words = false;
    page->width = page->height = 0;
    page->head_x = MARGIN;
    page->head_y = 2 * LINE + 2;
    leat_textbuf_clear(page->svg);
    leat_textbuf_clear(page->csv);
    leat_textbuf_clear(page->head);
    leat_textbuf_put(page->out, "<figure>\n<figcaption><h3>");
    leat_html_text(page->out, title);
    leat_textbuf_put(page->out, "</h3><p>");
}

void leat_figure_draw(leat_page *page, int width, int height) {
    page->width = width;
    page->height = height;
    leat_textbuf_put(page->out,
                     page->has_words ? "</p></figcaption>\n" : "&nbsp;</p></figcaption>\n");
}

static const char *finished(leat_page *page, leat_textbuf *text, int64_t *size_bytes) {
    const char *words = "";
    leat_error err = {0};
    leat_code code = leat_textbuf_finish(text, &words, size_bytes, &err);
    if (code != LEAT_OK && page->err.code == LEAT_OK) page->err = err;
    return code == LEAT_OK ? words : "";
}

/* The picture that stands alone. */
static void make_file(leat_page *page, const char *head, const char *drawing) {
    char hex[65], width[16], height[16], top_text[16];
    int64_t size_bytes = 0;
    const char *table = finished(page, page->csv, &size_bytes);
    leat_text_sha256(table, size_bytes, hex);
    int top = (int)page->head_y + (page->has_words ? 6 : 6 - LINE);
    snprintf(width, sizeof width, "%d", page->width);
    snprintf(height, sizeof height, "%d", top + page->height + MARGIN / 2);
    snprintf(top_text, sizeof top_text, "%d", top);
    const leat_template_place places[] = {{"table", hex, false},      {"title", page->title, false},
                                          {"width", width, false},    {"height", height, false},
                                          {"top", top_text, false},   {"legend", head, true},
                                          {"drawing", drawing, true}, {0}};
    leat_textbuf_clear(page->file);
    (void)leat_template_put(page->file, leat_template("saved.svg"), places);
}

/* A link to the file within the page and, if they are saved, the file. */
static void put_file(leat_page *page, leat_textbuf *text, const char *type, const char *ending,
                     const char *words) {
    char name[LEAT_FIGURE_NAME + 8];
    int64_t size_bytes = 0;
    const char *bytes = finished(page, text, &size_bytes);
    snprintf(name, sizeof name, "%s.%s", page->name, ending);
    leat_textbuf_printf(page->out, "<a download=\"%s\" href=\"data:%s;base64,", name, type);
    leat_textbuf_base64(page->out, bytes, size_bytes);
    leat_textbuf_printf(page->out, "\">%s</a>", words);
    if (page->folder == NULL || page->err.code != LEAT_OK) return;
    leat_error err = {0};
    if (leat_text_folder_add(page->folder, name, bytes, size_bytes, &err) != LEAT_OK)
        page->err = err;
}

void leat_figure_end(leat_page *page) {
    int64_t size_bytes = 0;
    choose_name(page);
    const char *drawing = finished(page, page->svg, &size_bytes);
    leat_textbuf_printf(page->out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"",
                        page->width, page->height);
    leat_html_text(page->out, page->title);
    leat_textbuf_put(page->out, "\">\n");
    leat_textbuf_put(page->out, drawing);
    leat_textbuf_put(page->out, "</svg>\n<p class=\"save\">");
    make_file(page, finished(page, page->head, &size_bytes), drawing);
    put_file(page, page->file, "image/svg+xml", "svg", "SVG");
    leat_textbuf_put(page->out, " ");
    put_file(page, page->csv, "text/csv", "csv", "CSV");
    leat_textbuf_put(page->out, "</p></figure>\n");
    page->figures++;
}

void leat_figure_empty(leat_page *page, const char *title, const char *why) {
    leat_textbuf_put(page->out, "<figure>\n<figcaption><h3>");
    leat_html_text(page->out, title);
    leat_textbuf_put(page->out, "</h3><p>&nbsp;</p></figcaption>\n<p class=\"none\">");
    leat_html_text(page->out, why);
    leat_textbuf_put(page->out, "</p>\n</figure>\n");
}
