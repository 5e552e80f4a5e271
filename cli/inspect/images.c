/* `leat inspect` for an image data set: its options, and the text for a terminal. */
#include "inspect/images.h"

#include <string.h>

#include "data_kinds.h"

/* ---- text -------------------------------------------------------------------------------- */

static void put_side(leat_cli *cli, const char *name, const leat_distribution *dist) {
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], c[LEAT_WORDS_BYTES], d[LEAT_WORDS_BYTES];
    leat_out(cli, "  %-24s %8s %8s %8s %8s", name, leat_words_count(a, dist->min),
             leat_display_words(b, LEAT_DISPLAY_COUNT, leat_distribution_quantile(dist, 0.5)),
             leat_display_words(c, LEAT_DISPLAY_COUNT, leat_distribution_quantile(dist, 0.99)),
             leat_words_count(d, dist->max));
    if (leat_terminal_has_sparks()) {
        leat_out(cli, "  ");
        leat_terminal_sparks(cli, dist);
    }
    leat_out(cli, "\n");
}

static void put_originals(leat_cli *cli, const leat_images_summary *s, int32_t size) {
    char words[LEAT_WORDS_BYTES];
    leat_out(cli, "\n  %-24s %8s %8s %8s %8s%s\n", "originals, in pixels", "min", "median", "p99",
             "max", leat_terminal_has_sparks() ? "  log scale" : "");
    put_side(cli, "width", &s->width);
    put_side(cli, "height", &s->height);
    if (s->enlarged > 0)
        leat_out(cli, "  enlarged     %s with a side shorter than %d pixels\n",
                 leat_things(words, s->enlarged, "image"), size);
}

static void put_levels(leat_cli *cli, const leat_images_summary *s) {
    static const char *const channels[3] = {"red", "green", "blue"};
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], c[LEAT_WORDS_BYTES];
    if (s->read_images == 0) return;
    leat_out(cli, "\n  %-24s %8s %10s   ", "levels, 0 to 255", "mean", "deviation");
    if (s->read_images == s->images) leat_out(cli, "from every image\n");
    else
        leat_out(cli, "from a sample: %s of %s images, %s (--read none removes the limit)\n",
                 leat_words_count(a, s->read_images), leat_words_count(b, s->images),
                 leat_display_words(c, LEAT_DISPLAY_SHARE, leat_ratio(s->read_images, s->images)));
    for (int i = 0; i < 3; i++)
        leat_out(cli, "  %-24s %8.2f %10.2f\n", channels[i], s->mean[i], s->deviation[i]);
}

static void put_rejects(leat_cli *cli, const leat_images_summary *s) {
    char words[LEAT_WORDS_BYTES], text[LEAT_PLAIN_BYTES];
    bool first = true;
    for (int r = 0; r < LEAT_IMAGE_REASONS; r++) {
        const leat_images_rejects *rejects = &s->rejects[r];
        if (rejects->count == 0) continue;
        if (first)
            leat_out(cli, "\n  %-24s %8s   first files (all: rejected.csv)\n", "rejected", "files");
        first = false;
        leat_out(cli, "  %-24s %8s   ", leat_image_reason_words(r),
                 leat_words_count(words, rejects->count));
        for (int i = 0; i < rejects->shown; i++)
            leat_out(cli, "%s%s", i > 0 ? ", " : "", leat_plain(text, rejects->file[i]));
        leat_out(cli, "%s\n", rejects->count > rejects->shown ? ", ..." : "");
    }
}

static void put_verify(leat_cli *cli, const leat_images_verify_report *verify) {
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], c[LEAT_WORDS_BYTES];
    const leat_found found = {verify->findings, verify->finding_count, verify->problem_count,
                              verify->note_count, "line"};
    leat_out(cli, "\n  verification: %s, %s, %s read and checked\n",
             leat_things(a, verify->images, "image"),
             leat_things(b, verify->rejected, "rejected file"),
             leat_words_bytes(c, verify->file_bytes));
    leat_found_terminal(cli, &found);
}

static void put_facts(leat_cli *cli, const leat_images_facts *facts) {
    char words[LEAT_WORDS_BYTES];
    if (facts->texts > 0)
        leat_out(cli, "\n  skipped      %s\n", leat_things(words, facts->texts, "text"));
    if (strcmp(facts->background, "drop") != 0)
        leat_out(cli, "%s  background   %s, under transparent pixels\n",
                 facts->texts > 0 ? "" : "\n", facts->background);
    leat_out(cli, "\n  fingerprint  %s\n  decoded      %s\n", facts->fingerprint,
             facts->decoded_sha256);
    if (facts->sorted_sha256[0] != 0) leat_out(cli, "  sorted       %s\n", facts->sorted_sha256);
}

void leat_images_report_terminal(leat_cli *cli, const void *of) {
    const leat_images_report *report = of;
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES];
    leat_images_facts facts;
    if (report->summary != NULL) {
        leat_images_get_facts(report->images, &facts);
        leat_out_name(cli, facts.path);
        leat_out(cli, ": an image data set, %s of %d x %d, %s\n",
                 leat_things(a, facts.count, "image"), facts.size, facts.size,
                 leat_words_bytes(b, facts.file_bytes));
        put_originals(cli, report->summary, facts.size);
        put_levels(cli, report->summary);
        put_rejects(cli, report->summary);
        put_facts(cli, &facts);
    }
    if (report->verify != NULL) put_verify(cli, report->verify);
}

/* ---- the command ------------------------------------------------------------------------- */

static leat_code verify(leat_cli *cli, leat_images_verify_report **out, leat_error *err) {
    leat_verify_options options = leat_verify_options_default();
    if (leat_cli_given(cli, "threads")) options.threads = (int)leat_cli_int(cli, "threads");
    options.progress = leat_cli_progress;
    options.progress_user = cli;
    leat_code code = leat_images_verify(leat_cli_argument(cli, 0), &options, out, err);
    leat_cli_progress_end(cli);
    return code;
}

static leat_code summarise(leat_cli *cli, leat_images **images, leat_images_summary **out,
                           leat_error *err) {
    leat_images_summary_options options = leat_images_summary_options_default();
    if (leat_cli_given(cli, "threads")) options.threads = (int)leat_cli_int(cli, "threads");
    options.read_bytes_max = leat_cli_int(cli, "read");
    options.progress = leat_cli_progress;
    options.progress_user = cli;
    *out = NULL;
    leat_code code = leat_images_open(images, leat_cli_argument(cli, 0), err);
    if (code == LEAT_OK) code = leat_images_summary_create(out, *images, &options, err);
    leat_cli_progress_end(cli);
    return code;
}

static leat_code draw(const leat_images *images, const leat_images_summary *summary,
                      leat_images_sheet **sheet, leat_png **mean_image, leat_error *err) {
    leat_images_facts facts;
    leat_images_get_facts(images, &facts);
    leat_code code = leat_images_sheet_create(sheet, images, err);
    if (code != LEAT_OK || summary->read_images == 0) return code;
    return leat_png_encode(mean_image, summary->mean_image, facts.size, facts.size, err);
}

/* `failure`: why there is no summary, if there is none. */
static int write_report(leat_cli *cli, leat_images_report *report, leat_error *failure) {
    static const leat_report_forms forms = {leat_images_report_json, leat_images_report_terminal,
                                            leat_images_report_page};
    leat_images_sheet *sheet = NULL;
    leat_png *mean_image = NULL;
    bool problems = report->verify != NULL && report->verify->problem_count > 0;
    if (report->summary != NULL && leat_cli_given(cli, "html") &&
        draw(report->images, report->summary, &sheet, &mean_image, failure) == LEAT_OK) {
        report->sheet = sheet;
        report->mean_image = mean_image;
    }
    int status = leat_inspect_write(cli, &forms, report, problems, failure);
    leat_images_sheet_destroy(sheet);
    leat_png_destroy(mean_image);
    return status;
}

int leat_inspect_images(leat_cli *cli) {
    leat_images_verify_report *checked = NULL;
    leat_images_summary *summary = NULL;
    leat_images *images = NULL;
    leat_error err = {0};
    int status = 0;
    if (leat_cli_flag(cli, "verify") && verify(cli, &checked, &err) != LEAT_OK)
        return leat_cli_fail(cli, &err);
    leat_code code = summarise(cli, &images, &summary, &err);
    if (code != LEAT_OK && (checked == NULL || code == LEAT_ERR_CANCELLED)) {
        status = leat_cli_fail(cli, &err);
    } else {
        leat_images_report report = {
            leat_cli_argument(cli, 0), images, summary, checked, NULL, NULL};
        status = write_report(cli, &report, &err);
    }
    leat_images_summary_destroy(summary);
    leat_images_verify_report_destroy(checked);
    leat_images_close(images);
    return status;
}
