/*
 * The first sequences of a report, drawn as bars over token positions with one part for each
 * segment: its body shows the probe, the strip below whether it is an anchor or a filler.
 */
#include <stdio.h>
#include <stdlib.h>

#include "batches/tokens_report.h"

enum {
    LEFT = 48, /* pixels */
    RIGHT = LEAT_PLOT_WIDTH - 10,
    TOP = 20,
    ROW = 32,
    DIGIT = 6,
    COLOURED = 6, /* probes with a colour of their own: classes p1 to p6 */
    PROBES_MAX = LEAT_REPORT_SEQUENCES * LEAT_REPORT_SEGMENTS
};

typedef struct drawn_probe {
    int64_t src_id, segments, tokens;
    int first; /* where it is met first */
} drawn_probe;

typedef struct drawing {
    leat_page *page;
    const leat_batch_report *report;
    drawn_probe probes[PROBES_MAX]; /* by their numbers */
    int count;
} drawing;

static int compare_probes(const void *a, const void *b) {
    const drawn_probe *x = a, *y = b;
    if (x->segments != y->segments) return x->segments > y->segments ? -1 : 1;
    if (x->tokens != y->tokens) return x->tokens > y->tokens ? -1 : 1;
    return x->first - y->first;
}

static int find_probe(const drawing *to, int64_t src_id) {
    int place = 0;
    while (place < to->count && to->probes[place].src_id != src_id) place++;
    return place;
}

static int64_t kept_segments(const leat_report_sequence *sequence) {
    return sequence->segment_count < LEAT_REPORT_SEGMENTS ? sequence->segment_count
                                                          : LEAT_REPORT_SEGMENTS;
}

/* Those of most segments have the lowest numbers, and the colours. */
static void number_probes(drawing *to) {
    for (int i = 0; i < to->report->first_count; i++) {
        const leat_report_sequence *sequence = &to->report->first[i];
        for (int64_t k = 0; k < kept_segments(sequence); k++) {
            const leat_report_segment *segment = &sequence->segments[k];
            int place = find_probe(to, segment->src_id);
            drawn_probe *probe = &to->probes[place];
            if (place == to->count)
                *probe = (drawn_probe){.src_id = segment->src_id, .first = to->count++};
            probe->segments++;
            probe->tokens += segment->end - segment->begin;
        }
    }
    qsort(to->probes, (size_t)to->count, sizeof to->probes[0], compare_probes);
}

static const char *class_of(int probe) {
    static const char *const classes[COLOURED + 1] = {
        "line probe p0", "line probe p1", "line probe p2", "line probe p3",
        "line probe p4", "line probe p5", "line probe p6"};
    return classes[probe < COLOURED ? probe + 1 : 0];
}

static double x_of(const drawing *to, int64_t position) {
    return LEFT + (RIGHT - LEFT) * (double)position / (double)to->report->length;
}

/* ---- Parts of a bar ----------------------------------------------------------------------- */

/* A gap tells neighbours apart where there is space for it. */
static double width_of(double from, double to) {
    return to - from > 3 ? to - from - 0.8 : to - from;
}

static void put_strip(const drawing *to, int y, int64_t begin, int64_t end, const char *class_name,
                      const char *words) {
    leat_textbuf *out = to->page->svg;
    double from = x_of(to, begin);
    leat_textbuf_printf(out,
                        "<rect class=\"%s\" x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"4\">"
                        "<title>",
                        class_name, from, y + 24, width_of(from, x_of(to, end)));
    leat_html_text(out, words);
    leat_textbuf_put(out, "</title></rect>\n");
}

static void put_body(const drawing *to, int y, int64_t begin, int64_t end, int probe,
                     const char *words) {
    leat_textbuf *out = to->page->svg;
    double from = x_of(to, begin), until = x_of(to, end);
    leat_textbuf_printf(out, "<path class=\"%s\" d=\"M%.2f %dH%.2f\"><title>", class_of(probe),
                        from, y + 17, from + width_of(from, until));
    leat_html_text(out, words);
    leat_textbuf_put(out, "</title></path>\n");
    char number[16];
    int digits = snprintf(number, sizeof number, "%d", probe + 1);
    if (probe < to->count && until - from >= digits * DIGIT + 4)
        leat_textbuf_printf(out, "<text x=\"%.1f\" y=\"%d\" class=\"mid\">%s</text>\n",
                            (from + until) / 2, y + 8, number);
}

static void put_segment(const drawing *to, int y, const leat_report_sequence *sequence,
                        int64_t number) {
    const leat_report_segment *segment = &sequence->segments[number];
    char words[LEAT_FIGURE_WORDS];
    const char *kind = number == 0 ? "anchor" : "filler";
    int probe = find_probe(to, segment->src_id);
    snprintf(
        words, sizeof words,
        "segment %lld, %s: tokens %lld to %lld, probe %d (src_id %lld), row %lld, context %lld",
        (long long)number + 1, kind, (long long)segment->begin, (long long)segment->end - 1,
        probe + 1, (long long)segment->src_id, (long long)segment->row,
        (long long)segment->context);
    put_body(to, y, segment->begin, segment->end, probe, words);
    put_strip(to, y, segment->begin, segment->end, number == 0 ? "bar" : "bar second", words);
    leat_textbuf_printf(
        to->page->csv, "%lld,%lld,%lld,%lld,%lld,%lld,%lld,%s\n", (long long)sequence->sequence,
        (long long)number + 1, (long long)segment->begin, (long long)segment->end,
        (long long)segment->src_id, (long long)segment->row, (long long)segment->context, kind);
}

/* A part of no single segment. */
static void put_rest(const drawing *to, int y, const leat_report_sequence *sequence, int64_t begin,
                     int64_t end, const char *words) {
    bool padding = begin >= sequence->tokens;
    if (begin >= end) return;
    if (!padding) put_body(to, y, begin, end, to->count + COLOURED, words);
    put_strip(to, y, begin, end, padding ? "bar zero" : "bar second", words);
    leat_textbuf_printf(to->page->csv, "%lld,,%lld,%lld,,,,%s\n", (long long)sequence->sequence,
                        (long long)begin, (long long)end, padding ? "padding" : "more");
}

static void put_sequence(const drawing *to, int y, const leat_report_sequence *sequence) {
    char words[LEAT_FIGURE_WORDS], many[LEAT_WORDS_BYTES];
    int64_t kept = kept_segments(sequence), length = to->report->length;
    leat_textbuf_printf(to->page->svg, "<text x=\"%d\" y=\"%d\" class=\"end\">%lld</text>\n",
                        LEFT - 6, y + 21, (long long)(sequence->sequence % to->report->batch));
    for (int64_t k = 0; k < kept; k++) put_segment(to, y, sequence, k);
    snprintf(words, sizeof words, "segments from %s on", leat_words_count(many, kept + 1));
    put_rest(to, y, sequence, kept > 0 ? sequence->segments[kept - 1].end : 0, sequence->tokens,
             words);
    snprintf(words, sizeof words, "%s%s of padding",
             sequence->is_masked ? "masked for damaged data: " : "",
             leat_things(many, length - sequence->tokens, "position"));
    put_rest(to, y, sequence, sequence->tokens, length, words);
}

/* ---- The figure --------------------------------------------------------------------------- */

static void put_legend(const drawing *to) {
    char words[LEAT_FIGURE_WORDS], step[LEAT_WORDS_BYTES];
    leat_page *page = to->page;
    bool padded = false, filled = false;
    for (int i = 0; i < to->report->first_count; i++) {
        padded |= to->report->first[i].tokens < to->report->length;
        filled |= to->report->first[i].segment_count > 1;
    }
    snprintf(words, sizeof words, "Step %s. Segments of one probe have one number%s",
             leat_words_count(step, to->report->first_step),
             to->count > 0 ? " and colour. Strip:" : ".");
    leat_figure_say(page, words);
    if (to->count > 0) leat_figure_item(page, "bar", "anchor", NULL);
    if (filled) leat_figure_item(page, "bar second", "filler", NULL);
    if (padded) leat_figure_item(page, "bar zero", "padding", NULL);
    for (int probe = 0; probe < to->count && probe < COLOURED; probe++) {
        snprintf(words, sizeof words, "probe %d", probe + 1);
        leat_figure_item(page, class_of(probe), words, NULL);
    }
    if (to->count > COLOURED) leat_figure_item(page, class_of(COLOURED), "other probes", NULL);
}

static void put_axis(const drawing *to, int bottom) {
    leat_textbuf *out = to->page->svg;
    leat_textbuf_put(out, "<text x=\"4\" y=\"11\" class=\"axis\">row of the batch</text>\n");
    for (int i = 0; i <= 4; i++) {
        char words[LEAT_WORDS_BYTES];
        int64_t position = to->report->length * i / 4;
        leat_textbuf_printf(out,
                            "<path class=\"grid\" d=\"M%.1f %dV%d\"/><text x=\"%.1f\" y=\"%d\" "
                            "class=\"%s\">%s</text>\n",
                            x_of(to, position), TOP, bottom + 4,
                            x_of(to, position) + (i == 4 ? 8 : 0), bottom + 16,
                            i == 4 ? "end" : "mid", leat_words_count(words, position));
    }
    leat_textbuf_printf(out,
                        "<text x=\"%d\" y=\"%d\" class=\"mid axis\">position of the token</text>\n",
                        (LEFT + RIGHT) / 2, bottom + 34);
}

void batches_draw_sequences(leat_page *page, const batches_report *job) {
    static const char title[] = "The first sequences";
    drawing to = {.page = page, .report = job->report};
    int count = job->report->first_count, bottom = TOP + count * ROW;
    if (count == 0) {
        leat_figure_empty(page, title, "no sequences");
        return;
    }
    number_probes(&to);
    leat_figure_begin(page, title);
    put_legend(&to);
    leat_figure_draw(page, LEAT_PLOT_WIDTH, bottom + 40);
    leat_textbuf_put(page->csv, "sequence,segment,begin,end,probe,row,k,kind\n");
    put_axis(&to, bottom);
    for (int i = 0; i < count; i++) put_sequence(&to, TOP + i * ROW, &job->report->first[i]);
    leat_textbuf_printf(page->svg, "<path class=\"base\" d=\"M%d %dH%d\"/>\n", LEFT, bottom, RIGHT);
    leat_figure_end(page);
}
