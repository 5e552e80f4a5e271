/* A page as text, linked with the command and written in its place: what leat_page_render returns
 * goes to stdout; what leat_page_save writes of the same, to saved.html and the folder figures; and
 * of a page that fails, its error follows. */
#include <stdio.h>
#include <stdlib.h>

#include "page/page.h"

static void put_page(leat_page *page, const void *user) {
    const leat_error *failed = user;
    leat_page_begin(page->out, "pings & \"pongs\" {{body}}", "leat test");
    leat_textbuf_put(page->out, "</header>\n<div class=\"figures\">\n");
    leat_plot plot = {.page = page,
                      .x = {LEAT_DISPLAY_COUNT, false, 0, 10, "step"},
                      .y = {LEAT_DISPLAY_NUMBER, false, 0, 4, "loss"}};
    leat_figure_begin(page, "Losses");
    leat_figure_item(page, "line l1", "loss", "2");
    leat_plot_begin(&plot, false);
    leat_plot_line(&plot, (const double[]){0, 5, 10}, (const double[]){4, 3, 2}, 3, false,
                   "line l1");
    leat_plot_end(&plot);
    leat_figure_end(page);
    leat_textbuf_put(page->out, "</div>\n");
    leat_page_end(page->out, "Digest", "{{words}} <0>");
    page->err = *failed;
}

__attribute__((constructor)) static void render(void) {
    static const leat_page_places places = {"saved.html", "figures", false};
    const leat_error none = {0}, failed = {LEAT_ERR_IO, "the disk is on fire"};
    leat_textbuf *text = NULL, *nothing = NULL;
    const char *words = "";
    int64_t size_bytes = 0;
    leat_error err = {0};
    if (leat_page_render(&text, NULL, put_page, &none, &err) != LEAT_OK ||
        leat_textbuf_finish(text, &words, &size_bytes, &err) != LEAT_OK ||
        leat_page_save(&places, put_page, &none, &err) != LEAT_OK) {
        puts(err.message);
        exit(1);
    }
    fwrite(words, 1, (size_t)size_bytes, stdout);
    leat_textbuf_destroy(text);
    leat_code code = leat_page_render(&nothing, NULL, put_page, &failed, &err);
    if (code == LEAT_ERR_IO && nothing == NULL) puts(err.message);
    exit(fflush(stdout) == 0 ? 0 : 1);
}
