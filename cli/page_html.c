/*
 * The frame of a page and the pieces that it is put together from. A page is one file that stands
 * alone, readable without scripts, on paper, in light and dark. Every text that comes from data
 * goes through leat_html_text.
 */
#include <stdio.h>
#include <string.h>

#include "page.h"

/* Bytes of the UTF-8 sequence at `text`, or 0 if it is none (or a control character). */
static int utf8_size(const unsigned char *text) {
    if (text[0] < 0x80) return text[0] >= 0x20 && text[0] != 0x7f ? 1 : 0;
    int more = text[0] >= 0xc2 && text[0] <= 0xdf   ? 1
               : text[0] >= 0xe0 && text[0] <= 0xef ? 2
               : text[0] >= 0xf0 && text[0] <= 0xf4 ? 3
                                                    : 0;
    if (more == 0) return 0;
    for (int i = 1; i <= more; i++)
        if ((text[i] & 0xc0) != 0x80) return 0;
    if (text[0] == 0xe0 && text[1] < 0xa0) return 0;
    if (text[0] == 0xed && text[1] > 0x9f) return 0;
    if (text[0] == 0xf0 && text[1] < 0x90) return 0;
    if (text[0] == 0xf4 && text[1] > 0x8f) return 0;
    if (text[0] == 0xc2 && text[1] < 0xa0) return 0; /* control characters of the upper half */
    return more + 1;
}

void leat_html_text(leat_textbuf *out, const char *text) {
    static const struct {
        char letter;
        const char *entity;
    } special[] = {{'<', "&lt;"}, {'>', "&gt;"}, {'&', "&amp;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
    while (*text != 0) {
        const char *entity = NULL;
        for (size_t i = 0; i < sizeof special / sizeof special[0]; i++)
            if (*text == special[i].letter) entity = special[i].entity;
        int size = utf8_size((const unsigned char *)text);
        if (entity != NULL) leat_textbuf_put(out, entity);
        else if (size == 0) leat_textbuf_put(out, "\xef\xbf\xbd");
        else leat_textbuf_append(out, text, size);
        text += size == 0 ? 1 : size;
    }
}

/* ---- Pieces ------------------------------------------------------------------------------- */

void leat_page_value(leat_textbuf *out, leat_unit unit, double value) {
    char words[LEAT_WORDS_BYTES];
    leat_textbuf_put(out, leat_unit_words(words, unit, value));
}

void leat_page_card(leat_textbuf *out, const char *name, leat_unit unit, double value) {
    leat_textbuf_printf(out, "<div class=\"card\"><span>%s</span><b>", name);
    leat_page_value(out, unit, value);
    leat_textbuf_put(out, "</b></div>\n");
}

void leat_page_cell(leat_textbuf *out, leat_unit unit, double value) {
    leat_textbuf_put(out, "<td>");
    leat_page_value(out, unit, value);
    leat_textbuf_put(out, "</td>");
}

void leat_page_shares(leat_textbuf *out, const char *title, const leat_share *items, int count) {
    int64_t total = 0;
    for (int i = 0; i < count; i++) total += items[i].value;
    leat_textbuf_printf(out, "<div><p><b>%s</b> &nbsp;", title);
    for (int i = 0; i < count; i++) {
        if (items[i].value == 0) continue;
        leat_textbuf_printf(out, "<span class=\"item\"><span class=\"key k%d\"></span>%s ",
                            items[i].key, items[i].name);
        leat_page_value(out, LEAT_UNIT_SHARE, leat_ratio(items[i].value, total));
        leat_textbuf_put(out, "</span> ");
    }
    if (total == 0) leat_textbuf_put(out, "nothing");
    leat_textbuf_put(out, "</p><div class=\"stack\">");
    for (int i = 0; i < count; i++)
        if (items[i].value > 0)
            leat_textbuf_printf(out, "<i class=\"k%d\" style=\"width:%.3f%%\"></i>", items[i].key,
                                100 * leat_ratio(items[i].value, total));
    leat_textbuf_put(out, "</div></div>\n");
}

/* ---- The page ----------------------------------------------------------------------------- */

void leat_page_begin(leat_textbuf *out, const char *name, const char *command) {
    leat_textbuf_put(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                          "<meta name=\"viewport\" content=\"width=device-width, "
                          "initial-scale=1\">\n<title>");
    leat_html_text(out, name);
    leat_textbuf_printf(out, " - %s</title>\n<style>\n", command);
    leat_textbuf_put(out, leat_page_style);
    leat_textbuf_put(out, "</style>\n</head>\n<body>\n<main>\n<header>\n<h1>");
    leat_html_text(out, name);
    leat_textbuf_put(out, "</h1>\n");
}

void leat_page_end(leat_textbuf *out, const char *words) {
    leat_textbuf_printf(out, "<footer>leat %s. ", leat_version());
    leat_textbuf_put(out, words);
    leat_textbuf_put(out, "</footer>\n</main>\n</body>\n</html>\n");
}

leat_code leat_page_save(const char *path, void (*put)(leat_textbuf *out, const void *user),
                         const void *user, leat_error *err) {
    leat_textbuf *text = NULL;
    const char *words = NULL;
    int64_t size_bytes = 0;
    leat_code code = leat_textbuf_create(&text, err);
    if (code != LEAT_OK) return code;
    put(text, user);
    code = leat_textbuf_finish(text, &words, &size_bytes, err);
    if (code == LEAT_OK) code = leat_text_save(path, words, size_bytes, err);
    leat_textbuf_destroy(text);
    return code;
}
