/* An evaluation in words: a table per split, 97 columns wide unless names are long, and 78 on a
 * narrower terminal. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "eval/eval.h"

enum { NAME = 19 /* "unknown identifiers" */, PARTS_SHOWN = 24, COLUMNS = 100, WIDE = 98 };

static const char wide_layout[] =
    " {auroc:5} {auroc_range:11} {average_precision:5} {precision:5} {recall:6} {f1:5} {mcc:6} "
    "{realised_fpr:7} {false_alarms_per_benign_hour:8} {delay_ms:8}\n";
static const char narrow_layout[] =
    " {auroc:5} {average_precision:5} {precision:5} {recall:6} {f1:5} {realised_fpr:7} "
    "{false_alarms_per_benign_hour:8} {delay_ms:8}\n";

static int columns(void) {
    const int most = leat_out_width();
    return most > 0 && most < COLUMNS ? most : COLUMNS;
}

static bool is_narrow(void) { return columns() < WIDE; }

static void put_heads(leat_cli *cli, int width) {
    if (is_narrow())
        leat_out(cli, "  %-*s %5s %5s %5s %6s %5s %7s %8s %8s\n", width, "", "AUROC", "AP", "prec.",
                 "recall", "F1", "FPR", "FA/h", "delay");
    else
        leat_out(cli, "  %-*s %5s %11s %5s %5s %6s %5s %6s %7s %8s %8s\n", width, "", "AUROC",
                 "95 %", "AP", "prec.", "recall", "F1", "MCC", "FPR", "FA/h", "delay");
}

static void put_row(leat_cli *cli, const leat_eval_item *item, int width) {
    char name[LEAT_PLAIN_BYTES];
    leat_out(cli, "%-1s %s", item->mark,
             leat_column_pad(name, width, leat_plain(name, item->name)));
    leat_facts_write(cli, leat_eval_item_facts, is_narrow() ? narrow_layout : wide_layout, item);
}

/* A text in lines of a terminal, after `begin` and below its end. */
static void put_lines(leat_cli *cli, const char *begin, const char *text) {
    const int indent = (int)strlen(begin);
    const int most = columns();
    int column = indent;
    leat_out(cli, "%s", begin);
    while (*text != 0) {
        const int size = (int)strcspn(text, " ");
        if (column > indent && column + size > most) {
            leat_out(cli, "\n%*s", indent, "");
            column = indent;
        }
        leat_out(cli, "%s%.*s", column > indent ? " " : "", size, text);
        column += size + 1;
        text += size + (text[size] != 0);
    }
    leat_out(cli, "\n");
}

static void put_dashes(leat_cli *cli, const leat_eval_dashes *of) {
    char who[LEAT_PLAIN_BYTES], line[2 * LEAT_PLAIN_BYTES + 8];
    for (int i = 0; i < of->count; i++) {
        const bool all = of->rows[i] == of->all;
        snprintf(line, sizeof line, "%s%s%s", all ? "" : leat_plain(who, of->who[i]),
                 all ? "" : ": ", of->what[i]);
        put_lines(cli, "  -  ", line);
    }
}

/* ---- A split ------------------------------------------------------------------------------ */

/* What the rates of false alarms mean in numbers that can be counted. */
static void put_false_alarms(leat_cli *cli, const leat_eval_item *item) {
    const leat_eval_group *of = &item->group;
    const leat_eval_interval *range = &of->per_benign_hour_poisson;
    char name[LEAT_PLAIN_BYTES], line[2 * LEAT_PLAIN_BYTES];
    char count[LEAT_WORDS_BYTES], time[LEAT_WORDS_BYTES];
    char low[LEAT_WORDS_BYTES], high[LEAT_WORDS_BYTES];
    if (isnan(range->low)) return;
    snprintf(line, sizeof line, "%s: %s in %s of benign bus time: %s to %s an hour at 95 %%",
             leat_plain(name, item->name),
             leat_things(count, of->counts.false_positives, "false alarm"),
             leat_words_seconds(time, of->time.benign_seconds),
             leat_display_words(low, LEAT_DISPLAY_COUNT, range->low),
             leat_display_words(high, LEAT_DISPLAY_COUNT, range->high));
    put_lines(cli, "  ", line);
}

/* Of a score that is a probability, also where no bus time is known. */
static void put_calibration(leat_cli *cli, const leat_eval_item *item) {
    char line[LEAT_EVAL_CALIBRATION];
    if (leat_eval_calibration_words(line, item)[0] != 0) put_lines(cli, "  ", line);
}

/* Whether what it blames is what was injected, in windows of which that can be told. */
static void put_blame(leat_cli *cli, const leat_eval_item *item) {
    const leat_evaluation_result *result = &item->split->results[item->method];
    char name[LEAT_PLAIN_BYTES], share[LEAT_WORDS_BYTES], words[LEAT_WORDS_BYTES];
    char more[LEAT_WORDS_BYTES + 64] = "", line[2 * LEAT_PLAIN_BYTES];
    if (result->share_count == 0 || result->shares[0].detected == 0) return;
    const leat_blame_share *all = &result->shares[0];
    const int64_t rest = all->detected - all->known;
    leat_plain(name, item->name);
    if (all->known == 0) {
        snprintf(line, sizeof line,
                 "%s: whether the first injected identifier is blamed cannot be told (%s)", name,
                 leat_things(words, rest, "detected window"));
    } else {
        if (rest > 0)
            snprintf(more, sizeof more, "; in %s more it cannot be told",
                     leat_words_count(words, rest));
        snprintf(line, sizeof line, "%s: blames the first injected identifier in %s of %s%s", name,
                 leat_display_words(share, LEAT_DISPLAY_SHARE, all->share.value),
                 leat_things(words, all->known, "detected window"), more);
    }
    put_lines(cli, "  ", line);
}

/* What the delay does not show: an attack that no window finds has none. */
static void put_found(leat_cli *cli, const leat_eval_item *item) {
    if (item->group.episodes.count == 0) return;
    leat_out(cli, "  ");
    leat_out_name(cli, item->name);
    leat_facts_write(cli, leat_eval_item_facts,
                     ": {found} episodes found[, after {episode_delay_ms} (median)]\n", item);
}

static void put_split_head(leat_cli *cli, const leat_evaluation_split *split,
                           const leat_eval_item *item) {
    char count[LEAT_WORDS_BYTES];
    leat_out(cli, "\n");
    leat_out_name(cli, split->name);
    leat_facts_write(cli, leat_eval_item_facts,
                     ": {windows}, {attack_windows} with an attack[; {bus_seconds} of bus]", item);
    if (split->unlabelled > 0)
        leat_out(cli, "; %s without a label not counted",
                 leat_words_count(count, split->unlabelled));
    if (split->unknown_windows > 0)
        leat_out(cli, "; %s of unknown identifiers alone",
                 leat_words_count(count, split->unknown_windows));
    leat_out(cli, "\n");
}

static void put_table(leat_cli *cli, const leat_eval_report *report,
                      const leat_evaluation_split *split) {
    leat_eval_item item;
    leat_eval_dashes dashes = {.count = 0};
    put_heads(cli, NAME);
    for (int m = 0; m < report->of->method_count; m++) {
        leat_eval_item_make(&item, report, split, m);
        put_row(cli, &item, NAME);
        leat_eval_dashes_add(&dashes, &item);
        const bool last = m + 1 == report->of->method_count || report->of->methods[m + 1].run < 0;
        for (int k = 0; report->of->methods[m].run >= 0 && last && k < 2; k++)
            if (leat_eval_item_spread(&item, report, split, k == 1)) put_row(cli, &item, NAME);
    }
    put_dashes(cli, &dashes);
    for (int m = 0; m < report->of->method_count && report->of->methods[m].run >= 0; m++) {
        leat_eval_item_make(&item, report, split, m);
        put_false_alarms(cli, &item);
        put_calibration(cli, &item);
        put_blame(cli, &item);
        put_found(cli, &item);
    }
}

/* Of the first detector, kind by kind. */
static void put_parts(leat_cli *cli, const leat_eval_report *report,
                      const leat_evaluation_split *split) {
    leat_eval_item whole, item;
    leat_eval_dashes dashes = {.count = 0};
    int width = NAME;
    int64_t count = 0;
    char words[LEAT_WORDS_BYTES];
    leat_eval_item_make(&whole, report, split, 0);
    for (; leat_eval_item_part(&item, &whole, count + 1); count++)
        if (count < PARTS_SHOWN) leat_column_fit(&width, item.name);
    if (count == 0) return;
    leat_out(cli, "  by attack, vehicle and capture, of ");
    leat_out_name(cli, whole.name);
    leat_out(cli, ":\n");
    put_heads(cli, width);
    for (int64_t i = 0; i < count && i < PARTS_SHOWN; i++) {
        if (!leat_eval_item_part(&item, &whole, i + 1)) break;
        put_row(cli, &item, width);
        leat_eval_dashes_add(&dashes, &item);
    }
    if (count > PARTS_SHOWN)
        leat_out(cli, "  and %s more; --json lists all\n",
                 leat_words_count(words, count - PARTS_SHOWN));
    put_dashes(cli, &dashes);
}

/* ---- All of it ---------------------------------------------------------------------------- */

/* For what, and on which windows: in one line if it is the same of all rows. */
static void put_thresholds(leat_cli *cli, const leat_eval_report *report) {
    char share[LEAT_WORDS_BYTES], words[LEAT_EVAL_FIT], line[LEAT_EVAL_FIT + LEAT_PLAIN_BYTES];
    char note[LEAT_EVAL_FIT_NOTE], who[LEAT_PLAIN_BYTES];
    leat_eval_fit fit;
    for (int i = 0; leat_eval_fit_at(report, i, &fit); i++) {
        const bool all = fit.who[0] == 0;
        if (i == 0 && fit.threshold->rule == LEAT_THRESHOLD_F1)
            leat_out(cli, "thresholds for the best F1, fitted for each row%s",
                     all ? " on " : ":\n");
        else if (i == 0)
            leat_out(cli, "thresholds for %s of benign windows, fitted for each row%s",
                     leat_display_words(share, LEAT_DISPLAY_SHARE, fit.threshold->target_fpr),
                     all ? " on " : ":\n");
        leat_eval_fit_words(words, &fit);
        if (all) leat_out(cli, "%s\n", words);
        snprintf(line, sizeof line, "%s: on %s", leat_plain(who, fit.who), words);
        if (!all) put_lines(cli, "  ", line);
    }
    /* otherwise a threshold would seem to keep what was asked for */
    for (int i = 0; leat_eval_fit_at(report, i, &fit); i++)
        if (leat_eval_fit_note(note, &fit)[0] != 0) put_lines(cli, "note       ", note);
}

/* Whether a plain table is better, of each split. */
static void put_verdict(leat_cli *cli, const leat_eval_report *report) {
    leat_eval_duel duel;
    char line[LEAT_EVAL_VERDICT];
    for (int s = 0; s < report->of->split_count; s++) {
        const leat_evaluation_split *split = &report->of->splits[s];
        for (int i = 0; leat_eval_verdict_at(report, split, i, &duel); i++) {
            leat_eval_duel_words(line, split, &duel);
            put_lines(cli, "", line);
        }
    }
}

void leat_eval_terminal(leat_cli *cli, const leat_eval_report *report) {
    leat_eval_item item;
    leat_facts_write(cli, leat_facts_eval.rows, leat_facts_eval.layout, report);
    put_thresholds(cli, report);
    for (int s = 0; s < report->of->split_count; s++) {
        const leat_evaluation_split *split = &report->of->splits[s];
        leat_eval_item_make(&item, report, split, 0);
        put_split_head(cli, split, &item);
        if (leat_eval_all(split, 0) == NULL) {
            leat_out(cli, "  no window has a label: nothing to compare scores with\n");
            continue;
        }
        put_table(cli, report, split);
        if (report->parts) put_parts(cli, report, split);
    }
    leat_out(cli, "\n");
    put_lines(
        cli, "* ",
        "highest AUROC. FPR: benign windows that alarm; FA/h: false alarms in an hour of benign "
        "bus time; delay: from a capture's first injected frame to the end of the first "
        "window that alarms, median of the captures that were detected.");
    if (is_narrow()) put_lines(cli, "", "A terminal of 98 columns also shows 95 % and MCC.");
    put_verdict(cli, report);
}
