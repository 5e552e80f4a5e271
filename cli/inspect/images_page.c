/* The page of `leat inspect --html` for an image data set. */
#include <math.h>
#include <stdio.h>

#include "inspect/images.h"

/* ---- head -------------------------------------------------------------------------------- */

static void put_header(leat_textbuf *out, const leat_images_report *report,
                       const leat_images_facts *facts) {
    const leat_images_summary *s = report->summary;
    leat_page_begin(out, report->name, "leat inspect");
    leat_textbuf_printf(out,
                        "<p class=\"sub\">An image data set: %d x %d pixels, red, green and "
                        "blue</p>\n</header>\n<div class=\"cards\">\n",
                        facts->size, facts->size);
    leat_page_card(out, "images", LEAT_DISPLAY_COUNT, (double)facts->count);
    leat_page_card(out, "rejected files", LEAT_DISPLAY_COUNT, (double)facts->rejected);
    if (facts->texts > 0)
        leat_page_card(out, "texts skipped", LEAT_DISPLAY_COUNT, (double)facts->texts);
    leat_page_card(out, "bytes in files", LEAT_DISPLAY_BYTES, (double)facts->file_bytes);
    leat_page_card(out, "enlarged", LEAT_DISPLAY_COUNT, (double)s->enlarged);
    if (s->read_images > 0)
        leat_page_card(out, "mean level", LEAT_DISPLAY_COUNT,
                       (s->mean[0] + s->mean[1] + s->mean[2]) / 3);
    leat_textbuf_put(out, "</div>\n");
}

static void put_verdict(leat_textbuf *out, const leat_images_verify_report *verify) {
    char read[4 * LEAT_WORDS_BYTES], a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], c[LEAT_WORDS_BYTES];
    if (verify == NULL) return;
    const leat_found found = {verify->findings, verify->finding_count, verify->problem_count,
                              verify->note_count, "line"};
    snprintf(read, sizeof read, "%s, %s, %s", leat_things(a, verify->images, "image"),
             leat_things(b, verify->rejected, "rejected file"),
             leat_words_bytes(c, verify->file_bytes));
    leat_found_page(out, &found, read);
}

/* ---- pictures ---------------------------------------------------------------------------- */

static void put_pictures(leat_textbuf *out, const leat_images_report *report,
                         const leat_images_facts *facts) {
    const leat_images_sheet *sheet = report->sheet;
    const leat_images_summary *s = report->summary;
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES];
    if (sheet == NULL) return;
    leat_textbuf_put(out, "<div class=\"two\">\n<div class=\"panel\"><h3>Contact sheet</h3>"
                          "<p class=\"note\">");
    if (sheet->count == facts->count) leat_textbuf_put(out, "All images");
    else
        leat_textbuf_printf(out, "%d images, evenly spaced over %s", sheet->count,
                            leat_words_count(a, facts->count));
    leat_textbuf_printf(out, ", in the order of their names%s.</p>\n",
                        sheet->cell < facts->size ? ", reduced" : "");
    leat_page_png(out, sheet->png, sheet->width, sheet->height, "picture", "contact sheet");
    leat_textbuf_put(out, "</div>\n<div class=\"panel\"><h3>Mean image</h3><p class=\"note\">");
    if (report->mean_image == NULL) {
        leat_textbuf_put(out, "No image was read (--read 0).</p></div>\n</div>\n");
        return;
    }
    leat_textbuf_printf(out, "The mean of %s of %s images, pixel by pixel.</p>\n",
                        leat_words_count(a, s->read_images), leat_words_count(b, s->images));
    leat_page_png(out, report->mean_image, facts->size, facts->size, "picture large", "mean image");
    leat_textbuf_put(out, "</div>\n</div>\n");
}

/* ---- figures ----------------------------------------------------------------------------- */

static void draw_sizes(leat_page *page, const leat_images_summary *s) {
    const leat_histogram spec = {.title = "Sizes of the originals",
                                 .x_label = "pixels",
                                 .y_label = "share of the images",
                                 .things = "images",
                                 .empty = "there are no images"};
    const leat_series series[] = {{"width", &s->width}, {"height", &s->height}};
    leat_figure_series(page, &spec, series, 2);
}

enum { BARS = 64, LEVELS_A_BAR = LEAT_PIXEL_LEVELS / BARS };

static void draw_brightness(leat_page *page, const leat_images_summary *s) {
    static const char title[] = "Brightness";
    double shares[BARS] = {0}, peak = 0, total = (double)s->read_images;
    char words[LEAT_FIGURE_WORDS], a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES];
    if (s->read_images == 0) {
        leat_figure_empty(page, title, "no image was read");
        return;
    }
    for (int i = 0; i < LEAT_PIXEL_LEVELS; i++)
        shares[i / LEVELS_A_BAR] += (double)s->brightness[i] / total;
    for (int i = 0; i < BARS; i++)
        if (shares[i] > peak) peak = shares[i];
    leat_plot plot = {
        .page = page,
        .x = {LEAT_DISPLAY_COUNT, false, 0, LEAT_PIXEL_LEVELS, "mean level of an image"},
        .y = {LEAT_DISPLAY_SHARE, false, 0, leat_axis_end(peak), "share of the images"}};
    leat_figure_begin(page, title);
    leat_figure_say(page, "from black, 0, to white, 255");
    plot.counts = "images";
    leat_plot_begin(&plot, false);
    for (int i = 0; i < BARS; i++) {
        if (shares[i] == 0) continue;
        snprintf(words, sizeof words, "levels %d to %d: %s of the images (%s)", i * LEVELS_A_BAR,
                 (i + 1) * LEVELS_A_BAR - 1, leat_display_words(a, LEAT_DISPLAY_SHARE, shares[i]),
                 leat_display_words(b, LEAT_DISPLAY_COUNT, shares[i] * total));
        leat_plot_bar(&plot, (leat_plot_span){i * LEVELS_A_BAR, (i + 1) * LEVELS_A_BAR}, shares[i],
                      round(shares[i] * total), "bar", words);
    }
    leat_plot_end(&plot);
    leat_figure_end(page);
}

static const struct {
    const char *name, *line;
} channels[3] = {{"red", "line red"}, {"green", "line green"}, {"blue", "line blue"}};

static void draw_levels(leat_page *page, const leat_images_summary *s) {
    static const char title[] = "Levels of the pixels";
    double xs[BARS + 1], ys[3][BARS + 1] = {{0}}, peak = 0;
    if (s->read_images == 0) {
        leat_figure_empty(page, title, "no image was read");
        return;
    }
    for (int c = 0; c < 3; c++) {
        double total = 0;
        for (int i = 0; i < LEAT_PIXEL_LEVELS; i++) total += (double)s->levels[c][i];
        for (int i = 0; i < LEAT_PIXEL_LEVELS; i++)
            ys[c][i / LEVELS_A_BAR] += (double)s->levels[c][i] / total;
        ys[c][BARS] = ys[c][BARS - 1];
        for (int i = 0; i < BARS; i++)
            if (ys[c][i] > peak) peak = ys[c][i];
    }
    for (int i = 0; i <= BARS; i++) xs[i] = i * LEVELS_A_BAR;
    leat_plot plot = {
        .page = page,
        .x = {LEAT_DISPLAY_COUNT, false, 0, LEAT_PIXEL_LEVELS, "level"},
        .y = {LEAT_DISPLAY_SHARE, false, 0, leat_axis_end(peak), "share of the pixels"}};
    leat_figure_begin(page, title);
    leat_figure_say(page, "mean:");
    for (int c = 0; c < 3; c++) {
        char words[LEAT_WORDS_BYTES];
        snprintf(words, sizeof words, "%.1f \xc2\xb1 %.1f", s->mean[c], s->deviation[c]);
        leat_figure_item(page, channels[c].line, channels[c].name, words);
    }
    plot.series = channels[0].name;
    leat_plot_begin(&plot, false);
    for (int c = 0; c < 3; c++) {
        plot.series = channels[c].name;
        leat_plot_line(&plot, xs, ys[c], BARS + 1, true, channels[c].line);
    }
    leat_plot_end(&plot);
    leat_figure_end(page);
}

static void put_figures(leat_page *page, const leat_images_summary *s) {
    leat_textbuf *out = page->out;
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES];
    leat_textbuf_put(out, "<h2>Pixels</h2>\n");
    if (s->read_images < s->images)
        leat_textbuf_printf(
            out,
            "<p class=\"note\">Brightness and levels are from a <b>sample</b>: %s of %s "
            "images.</p>\n",
            leat_words_count(a, s->read_images), leat_words_count(b, s->images));
    leat_textbuf_put(out, "<div class=\"figures\">\n");
    draw_sizes(page, s);
    draw_brightness(page, s);
    draw_levels(page, s);
    leat_textbuf_put(out, "</div>\n");
}

/* ---- rejected files ---------------------------------------------------------------------- */

static void put_reject(leat_textbuf *out, int reason, const leat_images_rejects *rejects) {
    leat_textbuf_printf(out, "<tr><td>%s</td>", leat_image_reason_words(reason));
    leat_page_cell(out, LEAT_DISPLAY_COUNT, (double)rejects->count);
    leat_textbuf_put(out, "<td class=\"text wide\">");
    for (int i = 0; i < rejects->shown; i++) {
        leat_textbuf_put(out, i > 0 ? "<br>" : "");
        leat_textbuf_put(out, "<span class=\"mono\">");
        leat_html_text(out, rejects->file[i]);
        leat_textbuf_put(out, "</span>: ");
        leat_html_text(out, rejects->what[i]);
    }
    leat_textbuf_put(out, rejects->count > rejects->shown ? "<br>...</td></tr>\n" : "</td></tr>\n");
}

static void put_rejects(leat_textbuf *out, const leat_images_summary *s,
                        const leat_images_facts *facts) {
    if (facts->rejected == 0) return;
    leat_textbuf_put(out,
                     "<h2>Rejected files</h2>\n<p class=\"note\">rejected.csv lists all of "
                     "them.</p>\n<div class=\"panel scroll\"><table>\n<thead><tr><th>reason"
                     "</th><th>files</th><th class=\"text\">the first of them</th></tr></thead>"
                     "\n<tbody>\n");
    for (int r = 0; r < LEAT_IMAGE_REASONS; r++)
        if (s->rejects[r].count > 0) put_reject(out, r, &s->rejects[r]);
    leat_textbuf_put(out, "</tbody></table></div>\n");
}

/* ---- the page ---------------------------------------------------------------------------- */

void leat_images_report_page(leat_page *page, const void *user) {
    leat_textbuf *out = page->out;
    const leat_images_report *report = user;
    leat_images_facts facts;
    leat_images_get_facts(report->images, &facts);
    put_header(out, report, &facts);
    put_verdict(out, report->verify);
    put_pictures(out, report, &facts);
    put_figures(page, report->summary);
    put_rejects(out, report->summary, &facts);
    leat_page_end(out, "Fingerprint of the images", facts.fingerprint);
}
