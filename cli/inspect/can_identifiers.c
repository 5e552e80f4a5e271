/* Statistics per identifier of `leat inspect` for a CAN cache: on the terminal and on the page. */

#include "inspect/can.h"

enum { TERMINAL_ROWS = 12, PAGE_ROWS = 40, NAMES = 12, PAGE_NAMES = 60 };

static int64_t sum_of(const int64_t of[LEAT_CAN_LABELS]) {
    int64_t sum = 0;
    for (int label = 0; label < LEAT_CAN_LABELS; label++) sum += of[label];
    return sum;
}

bool leat_can_is_attack_only(const leat_can_summary_identifier *of) {
    return of->number > 0 && sum_of(of->windows) == of->windows[LEAT_CAN_LABEL_ATTACK];
}

int64_t leat_can_attack_only_count(const leat_can_summary *s) {
    int64_t count = 0;
    for (int64_t i = 0; i < s->identifier_count; i++)
        count += leat_can_is_attack_only(&s->identifiers[i]);
    return count;
}

static const char *name_of(char text[LEAT_PLAIN_BYTES], const leat_can_summary_identifier *of) {
    return leat_plain(text, of->text == NULL ? "unknown" : of->text);
}

/* What a row shows. */
typedef struct shown {
    int64_t windows, frames;
    double of_windows, of_frames, attacks;
} shown;

static shown values_of(const leat_can_summary *s, const leat_can_summary_identifier *of,
                       int64_t all_frames) {
    shown row = {.windows = sum_of(of->windows), .frames = sum_of(of->frames)};
    row.of_windows = leat_ratio(row.windows, s->read_graphs);
    row.of_frames = leat_ratio(row.frames, all_frames);
    row.attacks = leat_ratio(of->windows[LEAT_CAN_LABEL_ATTACK], row.windows);
    return row;
}

static int64_t count_frames(const leat_can_summary *s) {
    int64_t sum = 0;
    for (int64_t i = 0; i < s->identifier_count; i++) sum += sum_of(s->identifiers[i].frames);
    return sum;
}

/* ---- terminal ---------------------------------------------------------------------------- */

static void put_row(leat_cli *cli, const leat_can_summary_identifier *of, const shown *row,
                    int width) {
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], c[LEAT_WORDS_BYTES], d[LEAT_WORDS_BYTES];
    char e[LEAT_WORDS_BYTES], name[LEAT_PLAIN_BYTES];
    leat_out(cli, "  %s %12s %8s %14s %8s %12s\n", leat_column_pad(name, width, name_of(name, of)),
             leat_words_count(a, row->windows),
             leat_display_words(b, LEAT_DISPLAY_SHARE, row->of_windows),
             leat_words_count(c, row->frames),
             leat_display_words(d, LEAT_DISPLAY_SHARE, row->of_frames),
             leat_display_words(e, LEAT_DISPLAY_SHARE, row->attacks));
}

static void put_attack_only(leat_cli *cli, const leat_can_summary *s) {
    char a[LEAT_WORDS_BYTES], name[LEAT_PLAIN_BYTES];
    int64_t count = leat_can_attack_only_count(s);
    int listed = 0;
    if (count == 0) return;
    leat_out(cli, "  %s only in windows with an attack:", leat_things(a, count, "identifier"));
    for (int64_t i = 0; i < s->identifier_count && listed < NAMES; i++)
        if (leat_can_is_attack_only(&s->identifiers[i]))
            leat_out(cli, "%s %s", listed++ > 0 ? "," : "", name_of(name, &s->identifiers[i]));
    leat_out(cli, "%s\n", count > listed ? ", ..." : "");
}

void leat_can_identifiers_terminal(leat_cli *cli, const leat_can_summary *s, int width) {
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], name[LEAT_PLAIN_BYTES];
    int64_t frames = count_frames(s);
    if (s->identifier_count == 0) return;
    for (int64_t i = 0; i < s->identifier_count && i < TERMINAL_ROWS; i++)
        leat_column_fit(&width, name_of(name, &s->identifiers[i]));
    leat_out(cli, "\n  %-*s %12s %8s %14s %8s %12s", width, "most frequent", "windows", "",
             "frames", "", "with attack");
    if (s->read_graphs < s->graphs)
        leat_out(cli, "   from a sample: %s of %s", leat_words_count(a, s->read_graphs),
                 leat_things(b, s->graphs, "graph"));
    leat_out(cli, "\n");
    for (int64_t i = 0; i < s->identifier_count && i < TERMINAL_ROWS; i++) {
        const shown row = values_of(s, &s->identifiers[i], frames);
        put_row(cli, &s->identifiers[i], &row, width);
    }
    if (s->identifier_count > TERMINAL_ROWS)
        leat_out(cli, "  and %s more; --json lists %s\n",
                 leat_words_count(a, s->identifier_count - TERMINAL_ROWS),
                 s->identifier_count > LEAT_CAN_SUMMARY_IDS ? "2,048" : "all");
    put_attack_only(cli, s);
}

/* ---- page -------------------------------------------------------------------------------- */

static void put_cells(leat_textbuf *out, const leat_can_summary_identifier *of, const shown *row) {
    char name[LEAT_PLAIN_BYTES];
    leat_textbuf_put(out, "<tr><td class=\"mono\">");
    leat_html_text(out, name_of(name, of));
    leat_textbuf_put(out, "</td>");
    leat_page_cell(out, LEAT_DISPLAY_COUNT, (double)row->windows);
    leat_page_cell(out, LEAT_DISPLAY_SHARE, row->of_windows);
    leat_page_cell(out, LEAT_DISPLAY_COUNT, (double)row->frames);
    leat_page_cell(out, LEAT_DISPLAY_SHARE, row->of_frames);
    leat_page_cell(out, LEAT_DISPLAY_COUNT, (double)of->windows[LEAT_CAN_LABEL_ATTACK]);
    leat_page_cell(out, LEAT_DISPLAY_SHARE, row->attacks);
    leat_textbuf_put(out, "</tr>\n");
}

static void put_names(leat_textbuf *out, const leat_can_summary *s) {
    char a[LEAT_WORDS_BYTES];
    int64_t count = leat_can_attack_only_count(s);
    int listed = 0;
    if (count == 0) {
        leat_textbuf_put(out, "<p class=\"note\">No identifier of the vocabulary is only in "
                              "windows with an attack.</p>\n");
        return;
    }
    leat_textbuf_printf(
        out, "<p class=\"note\">%s only in windows with an attack: <span class=\"mono\">",
        leat_things(a, count, "identifier"));
    for (int64_t i = 0; i < s->identifier_count && listed < PAGE_NAMES; i++) {
        if (!leat_can_is_attack_only(&s->identifiers[i])) continue;
        leat_textbuf_put(out, listed++ > 0 ? ", " : "");
        leat_html_text(out, s->identifiers[i].text);
    }
    leat_textbuf_printf(out, "</span>%s.</p>\n", count > listed ? ", ..." : "");
}

void leat_can_identifiers_page(leat_textbuf *out, const leat_can_summary *s) {
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES];
    int64_t frames = count_frames(s);
    if (s->identifier_count == 0) return;
    leat_textbuf_put(out, "<p class=\"note\">The most frequent, ");
    if (s->read_graphs == s->graphs) leat_textbuf_put(out, "from every graph");
    else
        leat_textbuf_printf(out, "from a <b>sample</b> of %s of %s graphs",
                            leat_words_count(a, s->read_graphs), leat_words_count(b, s->graphs));
    leat_textbuf_put(
        out, ", of all splits; those without a number are counted together, as unknown.</p>\n<div "
             "class=\"panel scroll\"><table>\n<thead><tr><th>identifier</th><th>windows</th><th>of "
             "all windows</th><th>frames</th><th>of all frames</th><th>windows with an "
             "attack</th><th>of its windows</th></tr></thead>\n<tbody>\n");
    for (int64_t i = 0; i < s->identifier_count && i < PAGE_ROWS; i++) {
        const shown row = values_of(s, &s->identifiers[i], frames);
        put_cells(out, &s->identifiers[i], &row);
    }
    leat_textbuf_put(out, "</tbody></table></div>\n");
    if (s->identifier_count > PAGE_ROWS)
        leat_textbuf_printf(
            out, "<p class=\"note\">The first %d of %s; leat inspect --json lists %s.</p>\n",
            PAGE_ROWS, leat_words_count(a, s->identifier_count),
            s->identifier_count > LEAT_CAN_SUMMARY_IDS ? "2,048" : "all");
    put_names(out, s);
}
