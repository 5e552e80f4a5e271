/*
 * The frame of a page and its components. A page is one self-contained file, readable without
 * scripts, on paper, in light and dark. Every text that comes from data goes through
 * leat_html_text.
 */
#include <string.h>

#include "page/page.h"

/* ---- Pieces ------------------------------------------------------------------------------- */

void leat_page_value(leat_textbuf *out, leat_display_unit unit, double value) {
    char words[LEAT_WORDS_BYTES];
    leat_textbuf_put(out, leat_display_words(words, unit, value));
}

void leat_page_card(leat_textbuf *out, const char *name, leat_display_unit unit, double value) {
    leat_textbuf_printf(out, "<div class=\"card\"><span>%s</span><b>", name);
    leat_page_value(out, unit, value);
    leat_textbuf_put(out, "</b></div>\n");
}

void leat_page_text_row(leat_textbuf *out, const char *name, const char *value) {
    leat_textbuf_put(out, "<tr><td>");
    leat_html_text(out, name);
    leat_textbuf_put(out, "</td><td class=\"text mono wide\">");
    leat_html_text(out, value);
    leat_textbuf_put(out, "</td></tr>\n");
}

void leat_page_cell(leat_textbuf *out, leat_display_unit unit, double value) {
    leat_textbuf_put(out, "<td>");
    leat_page_value(out, unit, value);
    leat_textbuf_put(out, "</td>");
}

void leat_page_settings(leat_textbuf *out, const leat_setting_table *table, const void *options,
                        bool (*idle)(const char *name, const void *options)) {
    for (const leat_setting *row = table->rows; row->name != NULL; row++) {
        char text[LEAT_SETTING_BYTES];
        if (row->neutral || (idle != NULL && idle(row->name, options))) continue;
        leat_textbuf_printf(out, "<span class=\"item\">--%s ", row->name);
        leat_html_text(out, leat_setting_get(row, options, text));
        leat_textbuf_put(out, "</span>");
    }
}

/* ---- The page ----------------------------------------------------------------------------- */

/* page.html is written in three parts: up to the body, up to the end of the footer, the rest. */
static const leat_template_place no_places[] = {{0}};

void leat_page_begin(leat_textbuf *out, const char *name, const char *command) {
    const leat_template_place places[] = {{"name", name, false}, {"command", command, false}, {0}};
    (void)leat_template_put(out, leat_template("page.html"), places);
}

void leat_page_end(leat_textbuf *out, const char *words, const char *code) {
    const leat_template_place places[] = {
        {"version", leat_version(), false}, {"words", words, true}, {0}};
    const char *rest = strstr(leat_template("page.html"), "{{body}}") + strlen("{{body}}");
    rest = leat_template_put(out, rest, places);
    if (code != NULL) {
        leat_textbuf_put(out, " <code>");
        leat_html_text(out, code);
        leat_textbuf_put(out, "</code>");
    }
    (void)leat_template_put(out, rest, no_places);
}

leat_page_places leat_page_asked(const leat_cli *cli, const char *page) {
    return (leat_page_places){leat_cli_text(cli, page), leat_cli_text(cli, "figures"),
                              leat_cli_flag(cli, "replace")};
}

/* ---- Rendering ---------------------------------------------------------------------------- */

static void close_page(leat_page *page) {
    leat_textbuf *const texts[] = {page->out,  page->svg,  page->csv,
                                   page->head, page->file, page->names};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) leat_textbuf_destroy(texts[i]);
}

static leat_code open_page(leat_page *page, leat_error *err) {
    leat_textbuf **const texts[] = {&page->out,  &page->svg,  &page->csv,
                                    &page->head, &page->file, &page->names};
    leat_code code = LEAT_OK;
    for (size_t i = 0; code == LEAT_OK && i < sizeof texts / sizeof texts[0]; i++)
        code = leat_textbuf_create(texts[i], err);
    return code;
}

leat_code leat_page_render(leat_textbuf **out, leat_text_folder *folder, leat_page_put *put,
                           const void *user, leat_error *err) {
    leat_page page = {.folder = folder};
    const char *words = NULL;
    int64_t size_bytes = 0;
    *out = NULL;
    leat_code code = open_page(&page, err);
    if (code == LEAT_OK) put(&page, user);
    if (code == LEAT_OK && page.err.code != LEAT_OK) {
        code = page.err.code;
        *err = page.err;
    }
    if (code == LEAT_OK) code = leat_textbuf_finish(page.out, &words, &size_bytes, err);
    if (code == LEAT_OK) {
        *out = page.out;
        page.out = NULL;
    }
    close_page(&page);
    return code;
}

/* ---- Saving ------------------------------------------------------------------------------- */

leat_code leat_page_folder(leat_text_folder **out, const leat_page_places *places,
                           leat_error *err) {
    *out = NULL;
    return places->figures == NULL
               ? LEAT_OK
               : leat_text_folder_create(out, places->figures, places->replace, err);
}

leat_code leat_page_write(leat_textbuf *text, leat_text_folder *folder,
                          const leat_page_places *places, leat_error *err) {
    const char *words = NULL;
    int64_t size_bytes = 0;
    leat_code code = leat_textbuf_finish(text, &words, &size_bytes, err);
    if (code == LEAT_OK && folder != NULL) code = leat_text_folder_publish(folder, err);
    if (code == LEAT_OK && places->path != NULL)
        code =
            leat_text_save(places->path, words, size_bytes, LEAT_MARK_PAGE, places->replace, err);
    return code;
}

leat_code leat_page_save(const leat_page_places *places, leat_page_put *put, const void *user,
                         leat_error *err) {
    leat_text_folder *folder = NULL;
    leat_textbuf *text = NULL;
    leat_code code = leat_page_folder(&folder, places, err);
    if (code == LEAT_OK) code = leat_page_render(&text, folder, put, user, err);
    if (code == LEAT_OK) code = leat_page_write(text, folder, places, err);
    leat_textbuf_destroy(text);
    leat_text_folder_destroy(folder);
    return code;
}

/* The next letter of a path, without slashes that change nothing, nor "." as a folder. */
static char next_letter(const char **at, bool begins) {
    while ((**at == '/' && ((*at)[1] == '/' || (*at)[1] == 0) && !(begins && (*at)[1] == 0)) ||
           (**at == '.' && (*at)[1] == '/' && (begins || (*at)[-1] == '/')))
        *at += **at == '/' ? 1 : 2;
    return **at == 0 ? 0 : *(*at)++;
}

static bool is_same_path(const char *a, const char *b) {
    for (bool begins = true;; begins = false) {
        const char letter = next_letter(&a, begins);
        if (letter != next_letter(&b, begins)) return false;
        if (letter == 0) return true;
    }
}

int leat_page_check(leat_cli *cli, const char *page) {
    const leat_page_places places = leat_page_asked(cli, page);
    if (places.path == NULL || places.figures == NULL || !is_same_path(places.path, places.figures))
        return 0;
    return leat_cli_usage(cli,
                          "--%s and --figures both name \"%s\"; the figures need a folder of "
                          "their own",
                          page, places.figures);
}

leat_code leat_page_can_save(const leat_page_places *places, leat_error *err) {
    leat_text_folder *folder = NULL;
    leat_code code = LEAT_OK;
    if (places->path != NULL)
        code = leat_text_can_save(places->path, LEAT_MARK_PAGE, places->replace, err);
    if (code == LEAT_OK) code = leat_page_folder(&folder, places, err);
    leat_text_folder_destroy(folder);
    return code;
}
