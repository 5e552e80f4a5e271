/* `leat inspect` on a terminal: aligned columns, and a small histogram per line if the terminal
 * shows Unicode. */
#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <string.h>

#include "inspect/inspect.h"
#include "overlap.h"

#define SPARKS 24

/* Whether the user's locale writes UTF-8. The program itself stays in the C locale. */
bool leat_terminal_has_sparks(void) {
    locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    if (locale == (locale_t)0) return false;
    bool utf8 = strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
    freelocale(locale);
    return utf8;
}

void leat_terminal_sparks(leat_cli *cli, const leat_distribution *dist) {
    static const char *const blocks[] = {" ",      "\u2581", "\u2582", "\u2583", "\u2584",
                                         "\u2585", "\u2586", "\u2587", "\u2588"};
    leat_columns columns;
    leat_columns_make(&columns, dist, SPARKS);
    double peak = 0;
    for (int i = 0; i < columns.count; i++)
        if (columns.values[i] > peak) peak = columns.values[i];
    for (int i = 0; i < columns.count; i++) {
        double share = peak > 0 ? columns.values[i] / peak : 0;
        int level = share <= 0 ? 0 : 1 + (int)(share * 7.999);
        leat_out(cli, "%s", blocks[level > 8 ? 8 : level]);
    }
}

static void put_dist(leat_cli *cli, const char *name, leat_display_unit unit,
                     const leat_distribution *dist, bool sparks) {
    static const double shares[] = {0, 0.5, 0.9, 0.99, 1};
    char words[LEAT_WORDS_BYTES];
    leat_out(cli, "  %-24s", name);
    if (dist->count == 0) {
        leat_out(cli, " %12s\n", "-");
        return;
    }
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++)
        leat_out(cli, " %12s",
                 leat_display_words(words, unit, leat_distribution_quantile(dist, shares[i])));
    if (sparks) {
        leat_out(cli, "  ");
        leat_terminal_sparks(cli, dist);
    }
    leat_out(cli, "\n");
}

static void put_distributions(leat_cli *cli, const leat_summary *s) {
    bool sparks = leat_terminal_has_sparks();
    leat_out(cli, "\n  %-24s %12s %12s %12s %12s %12s%s\n", "", "min", "median", "p90", "p99",
             "max", sparks ? "  log scale" : "");
    put_dist(cli, "measurements per row", LEAT_DISPLAY_COUNT, &s->row_measurements, sparks);
    put_dist(cli, "measurements per probe", LEAT_DISPLAY_COUNT, &s->probe_measurements, sparks);
    put_dist(cli, "row size", LEAT_DISPLAY_BYTES, &s->record_bytes, sparks);
    put_dist(cli, "time span of a row", LEAT_DISPLAY_DURATION_US, &s->row_span_us, sparks);
    put_dist(cli, "rows per shard", LEAT_DISPLAY_COUNT, &s->shard_rows, sparks);
    put_dist(cli, "gap between measurements", LEAT_DISPLAY_DURATION_US, &s->gap_us, sparks);
    put_dist(cli, "rtt", LEAT_DISPLAY_RTT_NS, &s->rtt_ns, sparks);
}

static void put_part(leat_cli *cli, const char *name, const leat_summary_part *part) {
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], c[LEAT_WORDS_BYTES], d[LEAT_WORDS_BYTES];
    char e[LEAT_WORDS_BYTES], f[LEAT_WORDS_BYTES];
    leat_out(cli, "  %-6s %10s %14s %14s %18s %12s %12s\n", name, leat_words_count(a, part->shards),
             part->probes < 0 ? "?" : leat_words_count(b, part->probes),
             leat_words_count(c, part->rows), leat_words_count(d, part->measurements),
             leat_words_bytes(e, part->record_bytes), leat_words_bytes(f, part->file_bytes));
}

static void put_parts(leat_cli *cli, const leat_summary *s) {
    int used = 0;
    leat_out(cli, "\n  %-6s %10s %14s %14s %18s %12s %12s\n", "split", "shards", "probes", "rows",
             "measurements", "records", "files");
    for (int split = 0; split <= LEAT_SPLITS; split++) {
        if (s->split[split].shards == 0) continue;
        put_part(cli, leat_split_words((leat_split)split), &s->split[split]);
        used++;
    }
    if (used != 1) put_part(cli, "all", &s->all);
}

#define REASONS_SHOWN 4

/* What the ingest rejected; nothing if run.json is not there. */
static void put_rejected(leat_cli *cli, const leat_summary_ingest *ingest) {
    char words[LEAT_WORDS_BYTES], text[LEAT_PLAIN_BYTES];
    int64_t others = ingest->rejected;
    if (!ingest->known) return;
    leat_out(cli, "  rejected     %s of ", leat_words_count(words, ingest->rejected));
    leat_out(cli, "%s read by the ingest", leat_things(words, ingest->rows_read, "row"));
    for (int i = 0; i < ingest->reason_count && i < REASONS_SHOWN; i++) {
        leat_out(cli, "%s %s ", i == 0 ? ":" : ",",
                 leat_words_count(words, ingest->reasons[i].rows));
        leat_out(cli, "%s", leat_plain(text, ingest->reasons[i].name));
        others -= ingest->reasons[i].rows;
    }
    if (ingest->reason_count > REASONS_SHOWN)
        leat_out(cli, ", %s for other reasons", leat_words_count(words, others));
    leat_out(cli, "\n");
}

/* How many destinations there are, and how many of them never answered. */
static void put_destinations(leat_cli *cli, const leat_summary *s) {
    char words[LEAT_WORDS_BYTES];
    int64_t judged = 0, lost = s->destinations_by_loss[LEAT_LOSS_ALL];
    if (s->measurements_read == 0) return;
    for (int i = 0; i < LEAT_LOSSES; i++) judged += s->destinations_by_loss[i];
    leat_out(cli, "  destinations %s", leat_words_count(words, s->destinations));
    if (s->destinations_halved > 0)
        leat_out(cli, " (a sample, %s of all)",
                 leat_display_words(words, LEAT_DISPLAY_SHARE, ldexp(1, -s->destinations_halved)));
    leat_out(cli, ", %s with %d measurements or more", leat_words_count(words, judged),
             LEAT_SUMMARY_JUDGED);
    if (judged > 0 && lost == 0) leat_out(cli, ", each of which answered at least once");
    else if (judged > 0)
        leat_out(cli, ", of which %s never answered", leat_words_count(words, lost));
    leat_out(cli, "\n");
}

static void put_facts(leat_cli *cli, const leat_summary *s) {
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], c[LEAT_WORDS_BYTES];
    int64_t failures = s->failures_by_version[0] + s->failures_by_version[1];
    if (s->all.rows > 0) {
        leat_out(cli, "\n  time         %s to ", leat_time_words(a, s->first_us));
        leat_out(
            cli, "%s UTC (%s)\n", leat_time_words(a, s->last_us),
            leat_display_words(b, LEAT_DISPLAY_DURATION_US, (double)(s->last_us - s->first_us)));
    }
    if (s->probe[0] != 0) {
        char text[LEAT_PLAIN_BYTES];
        leat_out(cli,
                 "  probes       by \"%s\"; their addresses below are those of their first "
                 "measurements\n",
                 leat_plain(text, s->probe));
    }
    leat_out(cli, "  versions     IPv4 %s, IPv6 %s of the measurements",
             leat_display_words(a, LEAT_DISPLAY_SHARE,
                                leat_ratio(s->measurements_by_version[0], s->all.measurements)),
             leat_display_words(b, LEAT_DISPLAY_SHARE,
                                leat_ratio(s->measurements_by_version[1], s->all.measurements)));
    if (s->measurements_by_version[2] > 0)
        leat_out(
            cli, ", in rows with both %s",
            leat_display_words(a, LEAT_DISPLAY_SHARE,
                               leat_ratio(s->measurements_by_version[2], s->all.measurements)));
    leat_out(cli, "\n");
    if (s->measurements_read > 0)
        leat_out(
            cli, "  failures     %s (IPv4 %s, IPv6 %s)\n",
            leat_display_words(a, LEAT_DISPLAY_SHARE, leat_ratio(failures, s->measurements_read)),
            leat_display_words(b, LEAT_DISPLAY_SHARE,
                               leat_ratio(s->failures_by_version[0], s->values_by_version[0])),
            leat_display_words(c, LEAT_DISPLAY_SHARE,
                               leat_ratio(s->failures_by_version[1], s->values_by_version[1])));
    if (s->measurements_read > 0)
        leat_out(cli, "  duplicates   %s (equal to the measurement before of the same probe)\n",
                 leat_words_count(a, s->duplicates_read));
    put_destinations(cli, s);
    leat_overlap_write(cli, &s->ingest.overlap, "  shared       ", "               ");
    put_rejected(cli, &s->ingest);
    if (s->rows_read == s->all.rows) leat_out(cli, "  values       from every row\n");
    else if (s->rows_read == 0) leat_out(cli, "  values       not read (--read 0)\n");
    else
        leat_out(cli,
                 "  values       from a sample: %s of %s rows, %s of the measurements (--read none "
                 "removes the limit)\n",
                 leat_words_count(a, s->rows_read), leat_words_count(b, s->all.rows),
                 leat_display_words(c, LEAT_DISPLAY_SHARE,
                                    leat_ratio(s->measurements_read, s->all.measurements)));
    leat_out(cli, "  fingerprint  %s\n", s->fingerprint);
}

static void put_top(leat_cli *cli, const leat_summary *s) {
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], c[LEAT_WORDS_BYTES];
    char text[LEAT_PLAIN_BYTES];
    if (s->top_count == 0) return;
    leat_out(cli, "\n  %-40s %19s %5s %14s %7s %6s\n", "largest probes", "src_id", "split",
             "measurements", "share", "rows");
    for (int i = 0; i < s->top_count; i++) {
        const leat_summary_probe *probe = &s->top[i];
        leat_out(cli, "  %-40s %19lld %5s %14s %7s %6s\n",
                 probe->src[0] != 0 ? leat_plain(text, probe->src) : "(no address)",
                 (long long)probe->src_id, leat_split_words(probe->split),
                 leat_words_count(a, probe->measurements),
                 leat_display_words(b, LEAT_DISPLAY_SHARE,
                                    leat_ratio(probe->measurements, s->all.measurements)),
                 leat_words_count(c, probe->rows));
    }
}

#define WORST_SHOWN 5

static void put_worst(leat_cli *cli, const leat_summary *s) {
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], c[LEAT_WORDS_BYTES];
    if (s->worst_count == 0) return;
    leat_out(cli, "\n  %-40s %14s %14s %7s\n", "destinations that fail most", "measurements",
             "failures", "failed");
    for (int i = 0; i < s->worst_count && i < WORST_SHOWN; i++) {
        const leat_summary_destination *one = &s->worst[i];
        bool all = one->failures == one->measurements;
        double share = leat_ratio(one->failures, one->measurements);
        leat_out(cli, "  %-40s %14s %14s %7s\n", one->dst, leat_words_count(a, one->measurements),
                 leat_words_count(b, one->failures),
                 all ? "all" : leat_display_words(c, LEAT_DISPLAY_SHARE, share));
    }
}

static void put_row(leat_cli *cli, const leat_summary *s, const leat_summary_row *row) {
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], text[LEAT_PLAIN_BYTES];
    leat_out(cli, "\n  row %s (", leat_words_count(a, row->row));
    leat_out_name(cli, s->shards[row->shard].path);
    leat_out(cli, ", record %lld)\n", (long long)row->record);
    leat_out(cli, "  probe %s (%s, src_id %lld): %s measurement%s",
             row->src[0] != 0 ? leat_plain(text, row->src) : "(no address)",
             leat_version_words(row->ip_version), (long long)row->src_id,
             leat_words_count(a, row->measurements), row->measurements == 1 ? "" : "s");
    leat_out(cli, " from %s to %s, %s failed\n", leat_time_words(a, row->first_us),
             leat_time_words(b, row->last_us),
             row->failures == 0 ? "none" : leat_words_count(text, row->failures));
    for (int i = 0; i < row->shown_count; i++) {
        const leat_summary_measurement *m = &row->shown[i];
        leat_out(cli, "    %s -> %s %s%s\n", leat_time_words(a, m->time_us),
                 leat_plain(text, m->dst), m->rtt < 0 ? "failed" : leat_words_float(b, m->rtt),
                 m->rtt < 0 ? "" : " ms");
    }
    if (row->measurements > row->shown_count)
        leat_out(cli, "    and %s more\n",
                 leat_words_count(a, row->measurements - row->shown_count));
}

void leat_found_terminal(leat_cli *cli, const leat_found *found) {
    char words[LEAT_WORDS_BYTES];
    for (int64_t i = 0; i < found->count; i++) {
        const leat_verify_finding *finding = &found->items[i];
        leat_out(cli, "    %s ", finding->note ? "note:   " : "problem:");
        leat_out_name(cli, finding->file);
        if (finding->record >= 0)
            leat_out(cli, ", %s %lld", found->record, (long long)finding->record);
        leat_out(cli, ": ");
        leat_out_name(cli, finding->reason);
        leat_out(cli, "\n");
    }
    int64_t more = found->problems + found->notes - found->count;
    if (more > 0) leat_out(cli, "    and %s more\n", leat_words_count(words, more));
    if (found->problems == 0) leat_out(cli, "  no problem found\n");
    else leat_out(cli, "  %s found\n", leat_things(words, found->problems, "problem"));
}

static void put_verify(leat_cli *cli, const leat_verify_report *verify) {
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], c[LEAT_WORDS_BYTES], d[LEAT_WORDS_BYTES];
    const leat_found found = {verify->findings, verify->finding_count, verify->problem_count,
                              verify->note_count, "record"};
    leat_out(cli, "\n  verification: %s, %s, %s, %s read and checked\n",
             leat_things(a, verify->shards, "shard"), leat_things(b, verify->rows, "row"),
             leat_things(c, verify->measurements, "measurement"),
             leat_words_bytes(d, verify->file_bytes));
    leat_found_terminal(cli, &found);
}

void leat_report_terminal(leat_cli *cli, const void *of) {
    const leat_report *report = of;
    const leat_summary *s = report->summary;
    if (s != NULL) {
        leat_out_name(cli, report->name);
        leat_out(cli, ": %s\n",
                 s->ours ? "a data set written by "
                           "leat"
                         : "ArrayRecord files of probe rows");
        put_parts(cli, s);
        put_facts(cli, s);
        put_distributions(cli, s);
        put_top(cli, s);
        put_worst(cli, s);
        for (int64_t i = 0; i < s->row_count && !leat_out_broken(cli); i++)
            put_row(cli, s, &s->rows[i]);
    }
    if (report->verify != NULL) put_verify(cli, report->verify);
}
