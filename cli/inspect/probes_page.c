/* The page of `leat inspect --html`. */
#include <math.h>
#include <stdio.h>

#include "inspect/inspect.h"

static void put_header(leat_textbuf *out, const leat_report *report) {
    const leat_summary *s = report->summary;
    int64_t failures = s->failures_by_version[0] + s->failures_by_version[1];
    leat_page_begin(out, report->name, "leat inspect");
    leat_textbuf_put(out, "<p class=\"sub\">");
    leat_textbuf_put(out, s->ours ? "Latency measurements as probe rows, a data set written by leat"
                                  : "Latency measurements as probe rows, ArrayRecord files");
    if (s->all.rows > 0) {
        leat_textbuf_put(out, ", ");
        leat_page_value(out, LEAT_DISPLAY_DATE_US, (double)s->first_us);
        leat_textbuf_put(out, " to ");
        leat_page_value(out, LEAT_DISPLAY_DATE_US, (double)s->last_us);
        leat_textbuf_put(out, " UTC");
    }
    leat_textbuf_put(out, "</p>\n</header>\n<div class=\"cards\">\n");
    leat_page_card(out, "measurements", LEAT_DISPLAY_COUNT, (double)s->all.measurements);
    if (s->all.probes >= 0)
        leat_page_card(out, "probes", LEAT_DISPLAY_COUNT, (double)s->all.probes);
    leat_page_card(out, "rows", LEAT_DISPLAY_COUNT, (double)s->all.rows);
    leat_page_card(out, "bytes in files", LEAT_DISPLAY_BYTES, (double)s->all.file_bytes);
    if (s->rtt_ns.count > 0)
        leat_page_card(out, "median round trip", LEAT_DISPLAY_RTT_NS,
                       leat_distribution_quantile(&s->rtt_ns, 0.5));
    if (s->measurements_read > 0)
        leat_page_card(out, "failed", LEAT_DISPLAY_SHARE,
                       leat_ratio(failures, s->measurements_read));
    leat_textbuf_put(out, "</div>\n");
}

static void put_finding(leat_textbuf *out, const leat_verify_finding *finding, const char *record) {
    leat_textbuf_put(out, finding->note ? "<li>note: <code>" : "<li><code>");
    leat_html_text(out, finding->file);
    leat_textbuf_put(out, "</code>");
    if (finding->record >= 0)
        leat_textbuf_printf(out, ", %s %lld", record, (long long)finding->record);
    leat_textbuf_put(out, ": ");
    leat_html_text(out, finding->reason);
    leat_textbuf_put(out, "</li>\n");
}

#define FINDINGS_LISTED 100

void leat_found_page(leat_textbuf *out, const leat_found *found, const char *read) {
    char words[LEAT_WORDS_BYTES];
    leat_textbuf_printf(out, "<div class=\"panel verdict%s\">\n<p><b>",
                        found->problems > 0 ? " bad" : "");
    if (found->problems > 0)
        leat_textbuf_printf(out, "Verification found %s.</b> ",
                            leat_things(words, found->problems, "problem"));
    else leat_textbuf_put(out, "Verified: no problem found.</b> ");
    leat_textbuf_printf(out, "Read and checked: %s.</p>\n", read);
    int64_t listed = found->count < FINDINGS_LISTED ? found->count : FINDINGS_LISTED;
    if (listed > 0) leat_textbuf_put(out, "<ul>\n");
    for (int64_t i = 0; i < listed; i++) put_finding(out, &found->items[i], found->record);
    if (listed > 0) leat_textbuf_put(out, "</ul>\n");
    int64_t more = found->problems + found->notes - listed;
    if (more > 0)
        leat_textbuf_printf(out,
                            "<p class=\"note\">and %s more: leat inspect --verify --json</p>\n",
                            leat_words_count(words, more));
    leat_textbuf_put(out, "</div>\n");
}

static void put_verdict(leat_textbuf *out, const leat_verify_report *verify) {
    char read[4 * LEAT_WORDS_BYTES], a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES];
    char c[LEAT_WORDS_BYTES], d[LEAT_WORDS_BYTES];
    if (verify == NULL) return;
    const leat_found found = {verify->findings, verify->finding_count, verify->problem_count,
                              verify->note_count, "record"};
    snprintf(read, sizeof read, "%s, %s, %s, %s", leat_things(a, verify->shards, "shard"),
             leat_things(b, verify->rows, "row"),
             leat_things(c, verify->measurements, "measurement"),
             leat_words_bytes(d, verify->file_bytes));
    leat_found_page(out, &found, read);
}

static void part_row(leat_textbuf *out, const char *name, const leat_summary_part *part,
                     const char *class_name) {
    leat_textbuf_printf(out, "<tr%s><td>%s</td>", class_name, name);
    leat_page_cell(out, LEAT_DISPLAY_COUNT, (double)part->shards);
    if (part->probes >= 0) leat_page_cell(out, LEAT_DISPLAY_COUNT, (double)part->probes);
    else leat_textbuf_put(out, "<td>?</td>");
    leat_page_cell(out, LEAT_DISPLAY_COUNT, (double)part->rows);
    leat_page_cell(out, LEAT_DISPLAY_COUNT, (double)part->measurements);
    leat_page_cell(out, LEAT_DISPLAY_BYTES, (double)part->record_bytes);
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

static void draw_shares(leat_page *page, const leat_summary *s) {
    int64_t failures = s->failures_by_version[0] + s->failures_by_version[1];
    const leat_share splits[] = {{"train", s->split[LEAT_SPLIT_TRAIN].measurements, 1},
                                 {"test", s->split[LEAT_SPLIT_TEST].measurements, 2},
                                 {"files", s->split[LEAT_SPLIT_NONE].measurements, 0}};
    const leat_share versions[] = {{"IPv4", s->measurements_by_version[0], 1},
                                   {"IPv6", s->measurements_by_version[1], 2},
                                   {"rows with both", s->measurements_by_version[2], 0}};
    const leat_share results[] = {{"answered", s->measurements_read - failures, 1},
                                  {"failed", failures, 3}};
    leat_shares shares = {.page = page};
    leat_figure_begin(page, "Versions, results and splits");
    leat_figure_say(page, s->measurements_read < s->all.measurements
                              ? "share of the measurements; results: of those that were read"
                              : "share of the measurements");
    leat_shares_begin(&shares);
    leat_shares_put(&shares, "Versions", versions, 3);
    leat_shares_put(&shares, "Results", results, 2);
    leat_shares_put(&shares, "Splits", splits, 3);
    leat_shares_end(&shares);
    leat_figure_end(page);
}

static void put_ingest(leat_textbuf *out, const leat_summary_ingest *ingest) {
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES];
    if (!ingest->known) return;
    leat_textbuf_printf(out, "<p class=\"note\">The ingest read %s and rejected %s",
                        leat_things(a, ingest->rows_read, "row"),
                        leat_words_count(b, ingest->rejected));
    if (ingest->duplicates >= 0)
        leat_textbuf_printf(out, "; it found %s%s", leat_things(a, ingest->duplicates, "duplicate"),
                            ingest->duplicates_dropped > 0 ? ", which it dropped" : "");
    if (ingest->overlap.known && ingest->overlap.measurements > 0)
        leat_textbuf_printf(out, ". Of %2$s, %1$s are between hosts of a path in train%3$s",
                            leat_words_count(a, ingest->overlap.mirrored),
                            leat_things(b, ingest->overlap.measurements, "test measurement"),
                            ingest->overlap.pairs_halved > 0 ? ", in a sample of the pairs" : "");
    leat_textbuf_put(out, ".</p>\n");
}

static void put_read_note(leat_textbuf *out, const leat_summary *s) {
    char words[LEAT_WORDS_BYTES];
    leat_textbuf_put(out, "<p class=\"note\">Sizes, counts and time spans cover every row. ");
    if (s->rows_read == s->all.rows) {
        leat_textbuf_put(out, "Round trips, gaps, failures and change over time cover every "
                              "measurement. ");
    } else {
        leat_textbuf_put(out, "Round trips, gaps, failures and change over time come from a "
                              "<b>sample</b>: ");
        leat_textbuf_printf(out, "%s rows with ", leat_words_count(words, s->rows_read));
        leat_textbuf_printf(out, "%s measurements, ",
                            leat_words_count(words, s->measurements_read));
        leat_page_value(out, LEAT_DISPLAY_SHARE,
                        leat_ratio(s->measurements_read, s->all.measurements));
        leat_textbuf_put(out, " of all. ");
    }
    leat_textbuf_put(out, "Quantiles are within 1.6 %. Point at a bar to see its numbers.</p>\n");
}

/* What never answered is remarked: a probe may be broken, or its column misread, and a destination
 * gone. */
static void put_failed(leat_textbuf *out, int64_t failures, int64_t read) {
    if (read == 0) leat_textbuf_put(out, "<td>not read</td>");
    else if (failures == read) leat_textbuf_put(out, "<td class=\"lost\">all</td>");
    else leat_page_cell(out, LEAT_DISPLAY_SHARE, leat_ratio(failures, read));
}

static void put_top(leat_textbuf *out, const leat_summary *s) {
    if (s->top_count == 0) return;
    char shown[LEAT_WORDS_BYTES], all[LEAT_WORDS_BYTES];
    leat_textbuf_put(out, "<h2>Largest probes</h2>\n");
    if (s->top_count < s->all.probes)
        leat_textbuf_printf(out, "<p class=\"note\">%s of %s probes.</p>\n",
                            leat_words_count(shown, s->top_count),
                            leat_words_count(all, s->all.probes));
    if (s->probe[0] != 0) {
        leat_textbuf_put(out, "<p class=\"note\">Probes are told apart by <code>");
        leat_html_text(out, s->probe);
        leat_textbuf_put(out,
                         "</code>; the addresses are those of their first measurements.</p>\n");
    }
    leat_textbuf_put(
        out, "<div class=\"panel scroll\"><table>\n<thead><tr>"
             "<th>address</th><th>src_id</th><th>split</th><th>measurements</th>"
             "<th>share</th><th>failed</th><th>rows</th><th>bytes</th><th>from</th><th>to</th></tr>"
             "</thead>\n<tbody>\n");
    for (int i = 0; i < s->top_count; i++) {
        const leat_summary_probe *probe = &s->top[i];
        leat_textbuf_put(out, "<tr><td class=\"mono\">");
        leat_html_text(out, probe->src[0] != 0 ? probe->src : "(none)");
        leat_textbuf_printf(out, "</td><td class=\"mono\">%lld</td><td>%s</td>",
                            (long long)probe->src_id, leat_split_words(probe->split));
        leat_page_cell(out, LEAT_DISPLAY_COUNT, (double)probe->measurements);
        leat_page_cell(out, LEAT_DISPLAY_SHARE,
                       leat_ratio(probe->measurements, s->all.measurements));
        put_failed(out, probe->failures, probe->measurements_read);
        leat_page_cell(out, LEAT_DISPLAY_COUNT, (double)probe->rows);
        leat_page_cell(out, LEAT_DISPLAY_BYTES, (double)probe->record_bytes);
        leat_page_cell(out, LEAT_DISPLAY_DATE_US, (double)probe->first_us);
        leat_page_cell(out, LEAT_DISPLAY_DATE_US, (double)probe->last_us);
        leat_textbuf_put(out, "</tr>\n");
    }
    leat_textbuf_put(out, "</tbody></table></div>\n");
}

static void put_worst(leat_textbuf *out, const leat_summary *s) {
    int64_t judged = 0;
    char shown[LEAT_WORDS_BYTES], all[LEAT_WORDS_BYTES], met[LEAT_WORDS_BYTES];
    if (s->worst_count == 0) return;
    for (int i = 0; i < LEAT_LOSSES; i++) judged += s->destinations_by_loss[i];
    leat_textbuf_printf(out,
                        "<h2>Destinations that fail most</h2>\n<p class=\"note\">%s of %s "
                        "destinations with %d measurements or more, of %s. ",
                        leat_words_count(shown, s->worst_count), leat_words_count(all, judged),
                        LEAT_SUMMARY_JUDGED, leat_words_count(met, s->destinations));
    if (s->destinations_halved > 0) {
        leat_textbuf_put(out, "These are a <b>sample</b>, ");
        leat_page_value(out, LEAT_DISPLAY_SHARE, ldexp(1, -s->destinations_halved));
        leat_textbuf_put(out, " of all destinations, with all of their measurements that were "
                              "read. ");
    }
    leat_textbuf_put(out, "</p>\n<div class=\"panel scroll\"><table>\n<thead><tr><th>address</th>"
                          "<th>measurements</th><th>failures</th><th>failed</th></tr></thead>\n"
                          "<tbody>\n");
    for (int i = 0; i < s->worst_count; i++) {
        const leat_summary_destination *one = &s->worst[i];
        leat_textbuf_printf(out, "<tr><td class=\"mono\">%s</td>", one->dst);
        leat_page_cell(out, LEAT_DISPLAY_COUNT, (double)one->measurements);
        leat_page_cell(out, LEAT_DISPLAY_COUNT, (double)one->failures);
        put_failed(out, one->failures, one->measurements);
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
    if (row->failures == row->measurements && row->failures > 0)
        leat_textbuf_put(out, "<span class=\"lost\">all failed</span>, ");
    else leat_textbuf_printf(out, "%s failed, ", leat_words_count(words, row->failures));
    leat_textbuf_printf(out, "%s, ", leat_words_bytes(words, row->record_bytes));
    leat_page_value(out, LEAT_DISPLAY_DATE_US, (double)row->first_us);
    leat_textbuf_put(out, " to ");
    leat_page_value(out, LEAT_DISPLAY_DATE_US, (double)row->last_us);
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
        leat_page_cell(out, LEAT_DISPLAY_COUNT, (double)shard->rows);
        leat_page_cell(out, LEAT_DISPLAY_COUNT, (double)shard->measurements);
        leat_page_cell(out, LEAT_DISPLAY_BYTES, (double)shard->file_bytes);
        if (shard->rows > 0) {
            leat_page_cell(out, LEAT_DISPLAY_DATE_US, (double)shard->first_us);
            leat_page_cell(out, LEAT_DISPLAY_DATE_US, (double)shard->last_us);
        } else {
            leat_textbuf_put(out, "<td></td><td></td>");
        }
        leat_textbuf_put(out, "</tr>\n");
    }
    leat_textbuf_put(out, "</tbody></table></div>\n");
    if (s->shard_count > SHARDS_LISTED)
        leat_textbuf_printf(out,
                            "<p class=\"note\">The first %d; leat inspect --json lists all.</p>\n",
                            SHARDS_LISTED);
    leat_textbuf_put(out, "</details>\n");
}

void leat_report_page(leat_page *page, const void *user) {
    leat_textbuf *out = page->out;
    const leat_report *report = user;
    const leat_summary *s = report->summary;
    put_header(out, report);
    put_verdict(out, report->verify);
    leat_textbuf_put(out, "<div class=\"two\">\n");
    put_parts(out, s);
    draw_shares(page, s);
    leat_textbuf_put(out, "</div>\n<h2>Distributions</h2>\n");
    put_ingest(out, &s->ingest);
    put_read_note(out, s);
    leat_textbuf_put(out, "<div class=\"figures\">\n");
    leat_report_figures(page, s);
    leat_textbuf_put(out, "</div>\n");
    put_top(out, s);
    put_worst(out, s);
    if (s->row_count > 0) {
        leat_textbuf_put(out, "<h2>A few rows</h2>\n<ol class=\"rows\">\n");
        for (int64_t i = 0; i < s->row_count; i++) put_row(out, s, &s->rows[i]);
        leat_textbuf_put(out, "</ol>\n");
    }
    leat_textbuf_put(out, "<h2>Shards</h2>\n");
    put_shards(out, s);
    leat_page_end(out, "Times are UTC. Data fingerprint", s->fingerprint);
}
