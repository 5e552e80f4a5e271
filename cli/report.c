/*
 * The page of `leat inspect --html`: one file that stands alone, readable without scripts, on
 * paper, in light and dark. Every text that comes from data goes through leat_html_text.
 */
#include <stdio.h>
#include <string.h>

#include "report.h"

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

static void put_value(leat_textbuf *out, leat_unit unit, double value) {
    char words[LEAT_WORDS_BYTES];
    leat_textbuf_put(out, leat_unit_words(words, unit, value));
}

static void card(leat_textbuf *out, const char *name, leat_unit unit, double value) {
    leat_textbuf_printf(out, "<div class=\"card\"><span>%s</span><b>", name);
    put_value(out, unit, value);
    leat_textbuf_put(out, "</b></div>\n");
}

static void cell(leat_textbuf *out, leat_unit unit, double value) {
    leat_textbuf_put(out, "<td>");
    put_value(out, unit, value);
    leat_textbuf_put(out, "</td>");
}

static void put_header(leat_textbuf *out, const leat_report *report) {
    const leat_summary *s = report->summary;
    int64_t failures = s->failures_by_version[0] + s->failures_by_version[1];
    leat_textbuf_put(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                          "<meta name=\"viewport\" content=\"width=device-width, "
                          "initial-scale=1\">\n<title>");
    leat_html_text(out, report->name);
    leat_textbuf_put(out, " - leat inspect</title>\n<style>\n");
    leat_textbuf_put(out, leat_report_style);
    leat_textbuf_put(out, "</style>\n</head>\n<body>\n<main>\n<header>\n<h1>");
    leat_html_text(out, report->name);
    leat_textbuf_put(out, "</h1>\n<p class=\"sub\">");
    leat_textbuf_put(out, s->ours ? "Latency measurements as probe rows, a data set of leat"
                                  : "Latency measurements as probe rows, ArrayRecord files");
    if (s->all.rows > 0) {
        leat_textbuf_put(out, ", ");
        put_value(out, LEAT_UNIT_DATE_US, (double)s->first_us);
        leat_textbuf_put(out, " to ");
        put_value(out, LEAT_UNIT_DATE_US, (double)s->last_us);
        leat_textbuf_put(out, " UTC");
    }
    leat_textbuf_put(out, "</p>\n</header>\n<div class=\"cards\">\n");
    card(out, "measurements", LEAT_UNIT_COUNT, (double)s->all.measurements);
    if (s->all.probes >= 0) card(out, "probes", LEAT_UNIT_COUNT, (double)s->all.probes);
    card(out, "rows", LEAT_UNIT_COUNT, (double)s->all.rows);
    card(out, "bytes in files", LEAT_UNIT_BYTES, (double)s->all.file_bytes);
    if (s->rtt_ns.count > 0)
        card(out, "median round trip", LEAT_UNIT_RTT_NS, leat_dist_quantile(&s->rtt_ns, 0.5));
    if (s->measurements_read > 0)
        card(out, "failed", LEAT_UNIT_SHARE, leat_ratio(failures, s->measurements_read));
    leat_textbuf_put(out, "</div>\n");
}

static void put_verdict(leat_textbuf *out, const leat_verify_report *verify) {
    char words[LEAT_WORDS_BYTES];
    if (verify == NULL) return;
    leat_textbuf_printf(out, "<div class=\"panel verdict%s\">\n<p><b>",
                        verify->problem_count > 0 ? " bad" : "");
    if (verify->problem_count > 0)
        leat_textbuf_printf(out, "Verification found %s problem%s.</b> ",
                            leat_words_count(words, verify->problem_count),
                            verify->problem_count == 1 ? "" : "s");
    else leat_textbuf_put(out, "Verified: no problem found.</b> ");
    leat_textbuf_printf(out, "Read and checked: %s, ", leat_things(words, verify->shards, "shard"));
    leat_textbuf_printf(out, "%s, ", leat_things(words, verify->rows, "row"));
    leat_textbuf_printf(out, "%s, ", leat_things(words, verify->measurements, "measurement"));
    leat_textbuf_printf(out, "%s.</p>\n", leat_words_bytes(words, verify->file_bytes));
    if (verify->finding_count > 0) leat_textbuf_put(out, "<ul>\n");
    for (int64_t i = 0; i < verify->finding_count && i < 100; i++) {
        const leat_verify_finding *finding = &verify->findings[i];
        leat_textbuf_put(out, finding->note ? "<li>note: <code>" : "<li><code>");
        leat_html_text(out, finding->file);
        leat_textbuf_put(out, "</code>");
        if (finding->record >= 0)
            leat_textbuf_printf(out, ", record %lld", (long long)finding->record);
        leat_textbuf_put(out, ": ");
        leat_html_text(out, finding->reason);
        leat_textbuf_put(out, "</li>\n");
    }
    if (verify->finding_count > 0) leat_textbuf_put(out, "</ul>\n");
    int64_t more = verify->problem_count + verify->note_count -
                   (verify->finding_count < 100 ? verify->finding_count : 100);
    if (more > 0)
        leat_textbuf_printf(out,
                            "<p class=\"note\">and %s more: leat inspect --verify --json</p>\n",
                            leat_words_count(words, more));
    leat_textbuf_put(out, "</div>\n");
}

static void part_row(leat_textbuf *out, const char *name, const leat_summary_part *part,
                     const char *class_name) {
    leat_textbuf_printf(out, "<tr%s><td>%s</td>", class_name, name);
    cell(out, LEAT_UNIT_COUNT, (double)part->shards);
    if (part->probes >= 0) cell(out, LEAT_UNIT_COUNT, (double)part->probes);
    else leat_textbuf_put(out, "<td>?</td>");
    cell(out, LEAT_UNIT_COUNT, (double)part->rows);
    cell(out, LEAT_UNIT_COUNT, (double)part->measurements);
    cell(out, LEAT_UNIT_BYTES, (double)part->record_bytes);
    leat_textbuf_put(out, "</tr>\n");
}

static void put_parts(leat_textbuf *out, const leat_summary *s) {
    leat_textbuf_put(out,
                     "<div class=\"panel\"><div class=\"scroll\"><table>\n<thead><tr><th>split</th>"
                     "<th>shards</th><th>probes</th><th>rows</th><th>measurements</th>"
                     "<th>records</th></tr></thead>\n<tbody>\n");
    int used = 0;
    for (int split = 0; split <= LEAT_SPLITS; split++) {
        if (s->split[split].shards == 0) continue;
        part_row(out, leat_split_words((leat_split)split), &s->split[split], "");
        used++;
    }
    if (used != 1) part_row(out, "all", &s->all, " class=\"sum\"");
    leat_textbuf_put(out, "</tbody></table></div></div>\n");
}

typedef struct share_item {
    const char *name;
    int64_t value;
    int key; /* colour */
} share_item;

static void put_share(leat_textbuf *out, const char *title, const share_item *items, int count) {
    int64_t total = 0;
    for (int i = 0; i < count; i++) total += items[i].value;
    leat_textbuf_printf(out, "<div><p><b>%s</b> &nbsp;", title);
    for (int i = 0; i < count; i++) {
        if (items[i].value == 0) continue;
        leat_textbuf_printf(out, "<span class=\"key k%d\"></span>%s ", items[i].key, items[i].name);
        put_value(out, LEAT_UNIT_SHARE, leat_ratio(items[i].value, total));
        leat_textbuf_put(out, " &nbsp;");
    }
    if (total == 0) leat_textbuf_put(out, "nothing");
    leat_textbuf_put(out, "</p><div class=\"stack\">");
    for (int i = 0; i < count; i++)
        if (items[i].value > 0)
            leat_textbuf_printf(out, "<i class=\"k%d\" style=\"width:%.3f%%\"></i>", items[i].key,
                                100 * leat_ratio(items[i].value, total));
    leat_textbuf_put(out, "</div></div>\n");
}

static void put_shares(leat_textbuf *out, const leat_summary *s) {
    int64_t failures = s->failures_by_version[0] + s->failures_by_version[1];
    const share_item splits[] = {{"train", s->split[LEAT_SPLIT_TRAIN].measurements, 1},
                                 {"test", s->split[LEAT_SPLIT_TEST].measurements, 2},
                                 {"files", s->split[LEAT_SPLIT_NONE].measurements, 0}};
    const share_item versions[] = {{"IPv4", s->measurements_by_version[0], 1},
                                   {"IPv6", s->measurements_by_version[1], 2},
                                   {"rows with both", s->measurements_by_version[2], 0}};
    const share_item results[] = {{"answered", s->measurements_read - failures, 1},
                                  {"failed", failures, 3}};
    leat_textbuf_put(out, "<div class=\"panel shares\">\n");
    put_share(out, "Versions", versions, 3);
    put_share(out, "Results", results, 2);
    put_share(out, "Splits", splits, 3);
    leat_textbuf_put(out, "</div>\n");
}

static void put_read_note(leat_textbuf *out, const leat_summary *s) {
    char words[LEAT_WORDS_BYTES];
    leat_textbuf_put(out, "<p class=\"note\">Sizes, counts and time spans are of every row. ");
    if (s->rows_read == s->all.rows) {
        leat_textbuf_put(out, "Round trips, gaps, failures and the course over time are of every "
                              "measurement too. ");
    } else {
        leat_textbuf_put(out, "Round trips, gaps, failures and the course over time are of a "
                              "<b>sample</b>: ");
        leat_textbuf_printf(out, "%s rows with ", leat_words_count(words, s->rows_read));
        leat_textbuf_printf(out, "%s measurements, ",
                            leat_words_count(words, s->measurements_read));
        put_value(out, LEAT_UNIT_SHARE, leat_ratio(s->measurements_read, s->all.measurements));
        leat_textbuf_put(out, " of all. ");
    }
    leat_textbuf_put(out, "Quantiles are within 1.6 %. Point at a bar to see its numbers.</p>\n");
}

static void put_top(leat_textbuf *out, const leat_summary *s) {
    if (s->top_count == 0) return;
    leat_textbuf_put(out,
                     "<h2>Largest probes</h2>\n<div class=\"panel scroll\"><table>\n<thead><tr>"
                     "<th>address</th><th>src_id</th><th>split</th><th>measurements</th>"
                     "<th>share</th><th>rows</th><th>bytes</th><th>from</th><th>to</th></tr>"
                     "</thead>\n<tbody>\n");
    for (int i = 0; i < s->top_count; i++) {
        const leat_summary_probe *probe = &s->top[i];
        leat_textbuf_put(out, "<tr><td class=\"mono\">");
        leat_html_text(out, probe->src[0] != 0 ? probe->src : "(none)");
        leat_textbuf_printf(out, "</td><td class=\"mono\">%lld</td><td>%s</td>",
                            (long long)probe->src_id, leat_split_words(probe->split));
        cell(out, LEAT_UNIT_COUNT, (double)probe->measurements);
        cell(out, LEAT_UNIT_SHARE, leat_ratio(probe->measurements, s->all.measurements));
        cell(out, LEAT_UNIT_COUNT, (double)probe->rows);
        cell(out, LEAT_UNIT_BYTES, (double)probe->record_bytes);
        cell(out, LEAT_UNIT_DATE_US, (double)probe->first_us);
        cell(out, LEAT_UNIT_DATE_US, (double)probe->last_us);
        leat_textbuf_put(out, "</tr>\n");
    }
    leat_textbuf_put(out, "</tbody></table></div>\n");
}

static void put_row(leat_textbuf *out, const leat_summary *s, const leat_summary_row *row) {
    char words[LEAT_WORDS_BYTES];
    leat_textbuf_printf(out, "<li class=\"panel\"><b>Row %s</b>: probe <code>",
                        leat_words_count(words, row->row));
    leat_html_text(out, row->src[0] != 0 ? row->src : "(no address)");
    leat_textbuf_printf(out, "</code> (%s, src_id <code>%lld</code>), ",
                        leat_version_words(row->ip_version), (long long)row->src_id);
    leat_textbuf_printf(out, "%s measurement%s, ", leat_words_count(words, row->measurements),
                        row->measurements == 1 ? "" : "s");
    leat_textbuf_printf(out, "%s failed, ", leat_words_count(words, row->failures));
    leat_textbuf_printf(out, "%s, ", leat_words_bytes(words, row->record_bytes));
    put_value(out, LEAT_UNIT_DATE_US, (double)row->first_us);
    leat_textbuf_put(out, " to ");
    put_value(out, LEAT_UNIT_DATE_US, (double)row->last_us);
    leat_textbuf_put(out, "<span class=\"note\"> &nbsp;<code>");
    leat_html_text(out, s->shards[row->shard].path);
    leat_textbuf_printf(out, "</code>, record %s</span>\n<ul>\n",
                        leat_words_count(words, row->record));
    for (int i = 0; i < row->shown_count; i++) {
        const leat_summary_measurement *m = &row->shown[i];
        leat_textbuf_printf(out, "<li>%s to <code>", leat_time_words(words, m->time_us));
        leat_html_text(out, m->dst);
        leat_textbuf_put(out, "</code>: ");
        if (m->rtt < 0) leat_textbuf_put(out, "failed");
        else leat_textbuf_printf(out, "%s ms", leat_words_float(words, m->rtt));
        leat_textbuf_put(out, "</li>\n");
    }
    if (row->measurements > row->shown_count)
        leat_textbuf_printf(out, "<li>and %s more</li>\n",
                            leat_words_count(words, row->measurements - row->shown_count));
    leat_textbuf_put(out, "</ul></li>\n");
}

#define SHARDS_LISTED 500

static void put_shards(leat_textbuf *out, const leat_summary *s) {
    char words[LEAT_WORDS_BYTES];
    leat_textbuf_printf(out,
                        "<details class=\"panel\"><summary>%s</summary>\n<div "
                        "class=\"scroll\"><table>\n<thead><tr><th>file</th><th>rows</th>"
                        "<th>measurements</th><th>bytes</th><th>from</th><th>to</th></tr></thead>\n"
                        "<tbody>\n",
                        leat_things(words, s->shard_count, "shard"));
    for (int64_t k = 0; k < s->shard_count && k < SHARDS_LISTED; k++) {
        const leat_summary_shard *shard = &s->shards[k];
        leat_textbuf_put(out, "<tr><td class=\"mono\">");
        leat_html_text(out, shard->path);
        leat_textbuf_put(out, "</td>");
        cell(out, LEAT_UNIT_COUNT, (double)shard->rows);
        cell(out, LEAT_UNIT_COUNT, (double)shard->measurements);
        cell(out, LEAT_UNIT_BYTES, (double)shard->file_bytes);
        if (shard->rows > 0) {
            cell(out, LEAT_UNIT_DATE_US, (double)shard->first_us);
            cell(out, LEAT_UNIT_DATE_US, (double)shard->last_us);
        } else {
            leat_textbuf_put(out, "<td></td><td></td>");
        }
        leat_textbuf_put(out, "</tr>\n");
    }
    leat_textbuf_put(out, "</tbody></table></div>\n");
    if (s->shard_count > SHARDS_LISTED)
        leat_textbuf_printf(out,
                            "<p class=\"note\">The first %d; leat inspect --json has all.</p>\n",
                            SHARDS_LISTED);
    leat_textbuf_put(out, "</details>\n");
}

void leat_report_page(leat_textbuf *out, const leat_report *report) {
    const leat_summary *s = report->summary;
    put_header(out, report);
    put_verdict(out, report->verify);
    leat_textbuf_put(out, "<div class=\"two\">\n");
    put_parts(out, s);
    put_shares(out, s);
    leat_textbuf_put(out, "</div>\n<h2>Distributions</h2>\n");
    put_read_note(out, s);
    leat_textbuf_put(out, "<div class=\"figures\">\n");
    leat_report_figures(out, s);
    leat_textbuf_put(out, "</div>\n");
    put_top(out, s);
    if (s->row_count > 0) {
        leat_textbuf_put(out, "<h2>A few rows</h2>\n<ol class=\"rows\">\n");
        for (int64_t i = 0; i < s->row_count; i++) put_row(out, s, &s->rows[i]);
        leat_textbuf_put(out, "</ol>\n");
    }
    leat_textbuf_put(out, "<h2>Shards</h2>\n");
    put_shards(out, s);
    leat_textbuf_printf(out,
                        "<footer>leat %s. Times are UTC. Data fingerprint <code>%s</code></footer>"
                        "\n</main>\n</body>\n</html>\n",
                        leat_version(), s->fingerprint);
}
