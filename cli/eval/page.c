/* The page of leat eval --html: what the terminal shows, with curves and scores over time. */
#include <math.h>

#include "eval/eval.h"
#include "inspect/can.h"

enum { PARTS_SHOWN = 200 };

/* ---- Overview ----------------------------------------------------------------------------- */

static void put_note(leat_textbuf *out, const char *classes, const char *words) {
    if (words[0] == 0) return;
    leat_textbuf_printf(out, "<p class=\"%s\">", classes);
    leat_html_text(out, words);
    leat_textbuf_put(out, "</p>\n");
}

/* Otherwise a threshold would seem to keep what was asked for. */
static void put_weak(leat_textbuf *out, const leat_eval_report *report) {
    char note[LEAT_EVAL_FIT_NOTE];
    leat_eval_fit fit;
    for (int i = 0; leat_eval_fit_at(report, i, &fit); i++)
        put_note(out, "note lost", leat_eval_fit_note(note, &fit));
}

static void put_header(leat_textbuf *out, const leat_eval_report *report) {
    const leat_evaluation *of = report->of;
    char count[LEAT_WORDS_BYTES];
    leat_page_begin(out, of->cache, "leat eval");
    leat_textbuf_put(out, "<p class=\"sub\">");
    for (int i = 0; i < of->run_count; i++) {
        leat_textbuf_put(out, i > 0 ? ", " : "");
        leat_html_text(out, of->runs[i].path);
        leat_textbuf_put(out, " (");
        leat_html_text(out, of->runs[i].model);
        leat_textbuf_printf(out, ", step %s)", leat_words_count(count, of->runs[i].step));
    }
    leat_textbuf_printf(out, ": windows of %lld frames, stride %lld</p>\n</header>\n",
                        (long long)report->facts.window, (long long)report->facts.stride);
    put_note(out, "note lost", of->note);
    put_weak(out, report);
}

/* Whether a plain table is better, of each split; the bar is green only where all intervals are
 * apart. */
static void put_verdict(leat_textbuf *out, const leat_eval_report *report) {
    leat_eval_duel duel;
    int better = 0, apart = 0, all = 0;
    leat_textbuf *list = NULL;
    char line[LEAT_EVAL_VERDICT];
    const char *words = "";
    int64_t size_bytes = 0;
    if (leat_textbuf_create(&list, NULL) != LEAT_OK) return;
    for (int s = 0; s < report->of->split_count; s++) {
        const leat_evaluation_split *split = &report->of->splits[s];
        for (int i = 0; leat_eval_verdict_at(report, split, i, &duel); i++) {
            all++;
            better += leat_eval_duel_is_lost(&duel);
            apart += duel.apart;
            leat_eval_duel_words(line, split, &duel);
            leat_textbuf_put(list, "<li>");
            leat_html_text(list, line);
            leat_textbuf_put(list, "</li>\n");
        }
    }
    if (leat_textbuf_finish(list, &words, &size_bytes, NULL) != LEAT_OK) words = "";
    if (better > 0)
        leat_textbuf_printf(out,
                            "<div class=\"panel verdict bad\"><p><b>A plain table, without "
                            "training, is better</b> in %d of %d comparisons:</p><ul>\n",
                            better, all);
    else if (all > 0)
        leat_textbuf_printf(out,
                            "<div class=\"panel verdict%s\"><p>No plain table has a higher "
                            "AUROC%s.</p><ul>\n",
                            apart == all ? "" : " open",
                            apart == all ? "" : ", but not all intervals are apart");
    if (all > 0) {
        leat_textbuf_put(out, words);
        leat_textbuf_put(out, "</ul></div>\n");
    }
    leat_textbuf_destroy(list);
}

static void put_overview_cell(leat_textbuf *out, const leat_eval_item *item) {
    const double auroc = item->group.metrics[LEAT_EVAL_AUROC].value;
    if (isnan(auroc)) leat_textbuf_put(out, "<td>-</td>");
    else if (item->mark[0] != 0) leat_textbuf_printf(out, "<td><b>%.3f</b></td>", auroc);
    else leat_textbuf_printf(out, "<td>%.3f</td>", auroc);
}

static void put_overview_row(leat_textbuf *out, const leat_eval_report *report, int method) {
    leat_eval_item item;
    char name[LEAT_PLAIN_BYTES];
    leat_textbuf_put(out, "<tr><td>");
    leat_html_text(out, leat_eval_method_words(name, report->of, method));
    leat_textbuf_put(out, "</td>");
    for (int s = 0; s < report->of->split_count; s++) {
        leat_eval_item_make(&item, report, &report->of->splits[s], method);
        put_overview_cell(out, &item);
    }
    leat_textbuf_put(out, "</tr>\n");
}

/* The mean of several runs. */
static void put_overview_mean(leat_textbuf *out, const leat_eval_report *report) {
    leat_eval_item item;
    bool any = false;
    for (int s = 0; s < report->of->split_count; s++)
        any = any || report->of->splits[s].spread != NULL;
    if (!any) return;
    leat_textbuf_printf(out, "<tr><td>mean of %d runs</td>", report->of->run_count);
    for (int s = 0; s < report->of->split_count; s++) {
        if (leat_eval_item_spread(&item, report, &report->of->splits[s], false))
            put_overview_cell(out, &item);
        else leat_textbuf_put(out, "<td>-</td>");
    }
    leat_textbuf_put(out, "</tr>\n");
}

/* AUROC of every method on every split. */
static void put_overview(leat_textbuf *out, const leat_eval_report *report) {
    leat_textbuf_put(out, "<h2>AUROC by split</h2>\n<p class=\"note\">Share of pairs of an attack "
                          "and a benign window in which the attack has the higher score: 0.5 is "
                          "chance. The highest of a split is bold.</p>\n<div class=\"panel "
                          "scroll\"><table>\n<thead><tr><th></th>");
    for (int s = 0; s < report->of->split_count; s++) {
        leat_textbuf_put(out, "<th>");
        leat_html_text(out, report->of->splits[s].name);
        leat_textbuf_put(out, "</th>");
    }
    leat_textbuf_put(out, "</tr></thead>\n<tbody>\n");
    for (int m = 0; m < report->of->method_count; m++) {
        if (m == report->of->run_count) put_overview_mean(out, report);
        put_overview_row(out, report, m);
    }
    leat_textbuf_put(out, "</tbody></table></div>\n");
}

/* ---- Thresholds and runs ------------------------------------------------------------------ */

static void put_thresholds(leat_textbuf *out, const leat_eval_report *report) {
    leat_eval_item item;
    if (report->of->split_count == 0) return;
    leat_textbuf_put(out, "<h2>Thresholds</h2>\n<p class=\"note\">A window alarms if its score is "
                          "higher. No label of a test was read for a threshold, or for the choice "
                          "of a checkpoint.</p>\n<div class=\"panel scroll\"><table>\n<thead><tr>"
                          "<th></th><th>score</th><th>threshold</th><th>rule</th><th>asked for</th>"
                          "<th>fitted on</th><th>benign windows</th><th>with an attack</th>"
                          "<th>benign above it</th></tr></thead>\n<tbody>\n");
    for (int m = 0; m < report->of->method_count; m++) {
        leat_eval_item_make(&item, report, &report->of->splits[0], m);
        leat_textbuf_put(out, "<tr>");
        leat_facts_cells(
            out, leat_eval_item_facts,
            "name score threshold threshold_rule threshold_target_fpr threshold_fitted_on "
            "threshold_benign_windows threshold_attack_windows threshold_exceeding",
            &item);
        leat_textbuf_put(out, "</tr>\n");
    }
    leat_textbuf_put(out, "</tbody></table></div>\n");
}

static void put_run(leat_textbuf *out, const leat_evaluated_run *run) {
    leat_textbuf_put(out, "<tr><td class=\"mono\">");
    leat_html_text(out, run->path);
    leat_textbuf_put(out, "</td><td>");
    leat_html_text(out, run->model);
    leat_textbuf_put(out, "</td>");
    leat_page_cell(out, LEAT_DISPLAY_COUNT, (double)run->step);
    leat_textbuf_put(out, "<td class=\"text\">");
    if (run->best && run->measure != NULL) {
        leat_textbuf_put(out, "the best by ");
        leat_html_text(out, run->measure);
        leat_textbuf_printf(out, " on val (%.4g)", run->measured);
    } else {
        leat_textbuf_put(out, run->measure == NULL ? "nothing was measured"
                                                   : "not the best that was measured");
    }
    leat_textbuf_put(out, "</td><td class=\"text mono\">");
    leat_html_text(out, run->state);
    leat_textbuf_put(out, "</td></tr>\n");
}

static void put_runs(leat_textbuf *out, const leat_eval_report *report) {
    leat_textbuf_put(out, "<h2>Runs</h2>\n<div class=\"panel scroll\"><table>\n<thead><tr>"
                          "<th>run</th><th>model</th><th>step</th><th class=\"text\">"
                          "checkpoint</th><th class=\"text\">state</th></tr></thead>\n<tbody>\n");
    for (int i = 0; i < report->of->run_count; i++) put_run(out, &report->of->runs[i]);
    leat_textbuf_put(out, "</tbody></table></div>\n");
}

/* ---- A split ------------------------------------------------------------------------------ */

static void put_heads(leat_textbuf *out, const char *first) {
    leat_textbuf_printf(out,
                        "<div class=\"panel scroll\"><table>\n<thead><tr>%s"
                        "<th>AUROC</th><th>95&nbsp;%%</th><th>AP</th><th>precision</th>"
                        "<th>recall</th><th>F1</th><th>MCC</th><th>false alarms</th><th>an "
                        "hour</th><th>95&nbsp;%%</th><th>delay</th><th>episodes</th>"
                        "<th>found after</th></tr></thead>\n<tbody>\n",
                        first);
}

static const char columns[] =
    "auroc auroc_range average_precision precision recall f1 mcc realised_fpr "
    "false_alarms_per_benign_hour per_hour_range delay_ms found episode_delay_ms";

static void put_row(leat_textbuf *out, const leat_eval_item *item) {
    leat_textbuf_put(out, item->mark[0] != 0 ? "<tr class=\"sum\"><td>" : "<tr><td>");
    leat_html_text(out, item->name);
    leat_textbuf_put(out, "</td>");
    leat_facts_cells(out, leat_eval_item_facts, columns, item);
    leat_textbuf_put(out, "</tr>\n");
}

static void put_dashes(leat_textbuf *out, const leat_eval_dashes *of) {
    for (int i = 0; i < of->count; i++) {
        leat_textbuf_put(out, "<p class=\"note\">- ");
        if (of->rows[i] < of->all) {
            leat_html_text(out, of->who[i]);
            leat_textbuf_put(out, ": ");
        }
        leat_html_text(out, of->what[i]);
        leat_textbuf_put(out, "</p>\n");
    }
}

static void put_table(leat_textbuf *out, const leat_eval_report *report,
                      const leat_evaluation_split *split) {
    leat_eval_item item;
    leat_eval_dashes dashes = {.count = 0};
    put_heads(out, "<th></th>");
    for (int m = 0; m < report->of->method_count; m++) {
        leat_eval_item_make(&item, report, split, m);
        put_row(out, &item);
        leat_eval_dashes_add(&dashes, &item);
        const bool last = m + 1 == report->of->method_count || report->of->methods[m + 1].run < 0;
        for (int k = 0; report->of->methods[m].run >= 0 && last && k < 2; k++)
            if (leat_eval_item_spread(&item, report, split, k == 1)) put_row(out, &item);
    }
    leat_textbuf_put(out, "</tbody></table></div>\n");
    put_dashes(out, &dashes);
    for (int m = 0; m < report->of->method_count && report->of->methods[m].run >= 0; m++) {
        char words[LEAT_EVAL_CALIBRATION];
        leat_eval_item_make(&item, report, split, m);
        put_note(out, "note", leat_eval_calibration_words(words, &item));
    }
}

/* Of the first detector. */
static void put_parts(leat_textbuf *out, const leat_eval_report *report,
                      const leat_evaluation_split *split) {
    leat_eval_item whole, item;
    leat_eval_dashes dashes = {.count = 0};
    char words[LEAT_WORDS_BYTES];
    int64_t count = 0;
    leat_eval_item_make(&whole, report, split, 0);
    while (leat_eval_item_part(&item, &whole, count + 1)) count++;
    if (count == 0) return;
    leat_textbuf_put(out, "<details><summary>By attack, vehicle and capture, of ");
    leat_html_text(out, whole.name);
    leat_textbuf_put(out, "</summary>\n<p class=\"note\">An attack type has its own windows beside "
                          "all benign ones of the split.</p>\n");
    put_heads(out, "<th>part</th><th class=\"text\">kind</th><th>windows</th><th>with an "
                   "attack</th>");
    for (int64_t i = 0; i < count && i < PARTS_SHOWN; i++) {
        if (!leat_eval_item_part(&item, &whole, i + 1)) break;
        leat_textbuf_put(out, "<tr><td>");
        leat_html_text(out, item.name);
        leat_textbuf_printf(out, "</td><td class=\"text\">%s</td><td>%s</td>",
                            leat_eval_kind_name(item.group.kind),
                            leat_words_count(words, item.group.windows));
        leat_textbuf_printf(out, "<td>%s</td>", leat_words_count(words, item.group.attack_windows));
        leat_facts_cells(out, leat_eval_item_facts, columns, &item);
        leat_textbuf_put(out, "</tr>\n");
        leat_eval_dashes_add(&dashes, &item);
    }
    leat_textbuf_put(out, "</tbody></table></div>\n");
    if (count > PARTS_SHOWN)
        leat_textbuf_printf(
            out, "<p class=\"note\">The first %d; leat eval --json lists all.</p>\n", PARTS_SHOWN);
    put_dashes(out, &dashes);
    leat_textbuf_put(out, "</details>\n");
}

static void put_split(leat_page *page, const leat_eval_report *report,
                      const leat_evaluation_split *split) {
    leat_textbuf *out = page->out;
    leat_eval_item item;
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], c[LEAT_WORDS_BYTES];
    leat_eval_item_make(&item, report, split, 0);
    page->section = split->name;
    leat_textbuf_put(out, "<h2>");
    leat_html_text(out, split->name);
    leat_textbuf_printf(out, "</h2>\n<p class=\"note\">%s",
                        leat_things(a, item.group.windows, "window"));
    leat_textbuf_printf(out, ", %s with an attack", leat_words_count(a, item.group.attack_windows));
    if (!isnan(item.group.time.seconds))
        leat_textbuf_printf(out, "; %s of bus, %s of it in benign windows",
                            leat_words_seconds(b, item.group.time.seconds),
                            leat_words_seconds(c, item.group.time.benign_seconds));
    if (split->unlabelled > 0)
        leat_textbuf_printf(out, "; %s without a label, which count nowhere",
                            leat_words_count(a, split->unlabelled));
    leat_textbuf_put(out, ".</p>\n");
    if (leat_eval_all(split, 0) == NULL) {
        leat_textbuf_put(out, "<p class=\"note\">No window has a label: there is nothing to "
                              "compare scores with.</p>\n");
        return;
    }
    put_table(out, report, split);
    put_parts(out, report, split);
    leat_eval_figures(page, report, split);
}

/* ---- The page ----------------------------------------------------------------------------- */

void leat_eval_page(leat_page *page, const void *user) {
    const leat_eval_report *report = user;
    leat_textbuf *out = page->out;
    put_header(out, report);
    put_verdict(out, report);
    put_overview(out, report);
    for (int s = 0; s < report->of->split_count; s++)
        put_split(page, report, &report->of->splits[s]);
    put_thresholds(out, report);
    put_runs(out, report);
    leat_page_end(out,
                  "False alarms: benign windows that alarm. Delay: from the first injected frame "
                  "to the end of the first window that alarms, the median of captures. Intervals "
                  "are at 95 %. Digest of the cache",
                  report->of->fingerprint);
}
