/* The page of `leat batches --report`. */
#include <stddef.h>
#include <stdio.h>

#include "batches/tokens_report.h"

static leat_context_stats const *parts_of(const batches_report *job, int number) {
    const leat_batch_report *report = job->report;
    return number == 0   ? &report->asked.anchors
           : number == 1 ? &report->asked.fillers
                         : &report->unpacked.anchors;
}

static const char *const part_names[] = {"anchors", "fillers", "one context per sequence"};

/* ---- What was counted --------------------------------------------------------------------- */

static void put_options(leat_textbuf *out, const batches_report *job) {
    char order[LEAT_SETTING_BYTES];
    leat_textbuf_put(out, "<p class=\"note\">Options: <code>");
    leat_page_settings(out, leat_sampler_options_table(), &job->options->sample, NULL);
    leat_textbuf_printf(out,
                        "<span class=\"item\">--batch %lld</span><span class=\"item\">--order "
                        "%s</span>%s</code> split: %s</p>\n",
                        (long long)job->report->batch, batches_order_of(job, order),
                        job->options->by_client ? "<span class=\"item\">--by client</span>" : "",
                        leat_split_words(job->options->split));
}

static void put_header(leat_textbuf *out, const batches_report *job) {
    const leat_batch_report *report = job->report;
    const leat_sequence_stats *asked = &report->asked;
    int64_t measurements = asked->anchors.measurements + asked->fillers.measurements;
    char words[LEAT_WORDS_BYTES];
    leat_page_begin(out, job->name, "leat batches");
    leat_textbuf_printf(out, "<p class=\"sub\">Training batches: %s of ",
                        leat_things(words, asked->sequences, "sequence"));
    leat_textbuf_printf(out, "%s tokens, ", leat_words_count(words, report->length));
    leat_textbuf_printf(out, "steps %s to ", leat_words_count(words, report->first_step));
    leat_textbuf_printf(out, "%s", leat_words_count(words, report->end_step - 1));
    if (report->epoch_sequences >= 0)
        leat_textbuf_printf(out, "; an epoch has %s",
                            leat_things(words, report->epoch_sequences, "sequence"));
    leat_textbuf_put(out, "</p>\n");
    put_options(out, job);
    leat_textbuf_put(out, "</header>\n<div class=\"cards\">\n");
    leat_page_card(out, "padding", LEAT_DISPLAY_SHARE,
                   batches_padding_share(job, asked->padding, asked->sequences));
    leat_page_card(
        out, "with one context per sequence", LEAT_DISPLAY_SHARE,
        batches_padding_share(job, report->unpacked.padding, report->unpacked.sequences));
    leat_page_card(out, "with 5-minute chunks", LEAT_DISPLAY_SHARE,
                   batches_padding_share(job, report->chunks.padding, report->chunks.chunks));
    leat_page_card(out, "tokens", LEAT_DISPLAY_COUNT, (double)asked->tokens);
    leat_page_card(out, "measurements", LEAT_DISPLAY_COUNT, (double)measurements);
    leat_page_card(out, "repeated in a sequence", LEAT_DISPLAY_SHARE,
                   leat_ratio(asked->repeated_in_sequence, measurements));
    leat_page_card(out, "repeated in a batch", LEAT_DISPLAY_SHARE,
                   leat_ratio(asked->repeated_in_batch, measurements));
    leat_textbuf_put(out, "</div>\n");
    if (asked->masked == 0) return;
    leat_textbuf_printf(out,
                        "<div class=\"panel verdict bad\"><p><b>%s masked for damaged data</b>, "
                        "counted as padding; leat inspect --verify lists the damage.</p></div>\n",
                        leat_things(words, asked->masked, "sequence"));
}

/* ---- Shares ------------------------------------------------------------------------------- */

/* What the figure compares with, in words. */
static void say_chunks(leat_page *page, const leat_chunk_stats *chunks) {
    char words[3 * LEAT_FIGURE_WORDS], sample[LEAT_FIGURE_WORDS] = "", a[LEAT_WORDS_BYTES],
                                       b[LEAT_WORDS_BYTES];
    if (chunks->rows_read < chunks->rows)
        snprintf(sample, sizeof sample, ", from a sample of %s of %s",
                 leat_words_count(a, chunks->rows_read), leat_things(b, chunks->rows, "row"));
    snprintf(words, sizeof words,
             "Share of the positions without a token. A chunk is what a probe measured in 5 "
             "minutes of clock time, with all timestamps; each is one sequence, and longer ones "
             "are truncated. Here: %s of %s%s.",
             leat_things(a, chunks->chunks, "chunk"),
             leat_things(b, chunks->measurements, "measurement"), sample);
    leat_figure_say(page, words);
}

static void draw_paddings(leat_page *page, const batches_report *job) {
    const leat_batch_report *report = job->report;
    const leat_chunk_stats *chunks = &report->chunks;
    const struct {
        const char *name;
        int64_t padding, sequences;
    } ways[] = {
        {report->is_filled ? "As requested: filled" : "As requested: not filled",
         report->asked.padding, report->asked.sequences},
        {"One context per sequence", report->unpacked.padding, report->unpacked.sequences},
        {"Chunks of 5 minutes", chunks->padding, chunks->chunks},
    };
    enum { WAYS = sizeof ways / sizeof ways[0] };
    leat_bars bars = {.page = page,
                      .unit = LEAT_DISPLAY_SHARE,
                      .peak = 1, /* of the positions: a bar of half the width is half of them */
                      .count = WAYS,
                      .names = "sequences",
                      .values = "padding share",
                      .counts = "padding"};
    leat_figure_begin(page, "Padding");
    say_chunks(page, chunks);
    leat_bars_begin(&bars);
    for (int i = 0; i < WAYS; i++) {
        char words[LEAT_FIGURE_WORDS], a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES];
        snprintf(words, sizeof words, "%s positions without a token, in %s",
                 leat_words_count(a, ways[i].padding),
                 leat_things(b, ways[i].sequences, "sequence"));
        leat_bars_put(&bars, ways[i].name,
                      batches_padding_share(job, ways[i].padding, ways[i].sequences),
                      ways[i].padding, i == 0 ? "bar" : "bar zero", words);
    }
    leat_bars_end(&bars);
    leat_figure_end(page);
}

static void put_modes(leat_shares *shares, const char *bar, const leat_context_stats *stats) {
    static const int keys[LEAT_TIME_MODES] = {1, 2, 0, 4};
    leat_share items[LEAT_TIME_MODES];
    for (int i = 0; i < LEAT_TIME_MODES; i++)
        items[i] = (leat_share){leat_time_mode_name(i), stats->by_mode[i], keys[i]};
    leat_shares_put(shares, bar, items, LEAT_TIME_MODES);
}

static void put_tokens(leat_shares *shares, const leat_sequence_stats *stats) {
    static const int keys[LEAT_TOKEN_FIELDS] = {0, 1, 4, 2, 3};
    leat_share items[LEAT_TOKEN_FIELDS];
    for (int i = 0; i < LEAT_TOKEN_FIELDS; i++)
        items[i] = (leat_share){batches_field_names[i], stats->tokens_by_field[i], keys[i]};
    leat_shares_put(shares, "Tokens by field", items, LEAT_TOKEN_FIELDS);
}

static void draw_modes_and_tokens(leat_page *page, const batches_report *job) {
    const leat_sequence_stats *asked = &job->report->asked;
    int64_t stamped = asked->anchors.stamped + asked->fillers.stamped;
    int64_t measurements = asked->anchors.measurements + asked->fillers.measurements;
    const leat_share stamps[] = {{"with", stamped, 1}, {"without", measurements - stamped, 0}};
    leat_shares shares = {.page = page};
    leat_figure_begin(page, "Timestamps and tokens");
    leat_figure_say(page, "share of the contexts, the measurements and the tokens");
    leat_shares_begin(&shares);
    put_modes(&shares, "Anchors by timestamps", &asked->anchors);
    if (asked->fillers.contexts > 0) put_modes(&shares, "Fillers by timestamps", &asked->fillers);
    leat_shares_put(&shares, "Measurements with a timestamp", stamps, 2);
    put_tokens(&shares, asked);
    leat_shares_end(&shares);
    leat_figure_end(page);
}

static void put_scales(leat_shares *shares, const char *bar,
                       const int64_t counts[LEAT_SPAN_SCALES]) {
    static const int keys[LEAT_SPAN_SCALES] = {0, 11, 12, 13, 14, 15};
    static const char *const names[LEAT_SPAN_SCALES] = {
        "one measurement", "under a minute", "minutes", "hours", "days", "weeks"};
    leat_share items[LEAT_SPAN_SCALES];
    for (int i = 0; i < LEAT_SPAN_SCALES; i++)
        items[i] = (leat_share){names[i], counts[i], keys[i]};
    leat_shares_put(shares, bar, items, LEAT_SPAN_SCALES);
}

static void draw_scales(leat_page *page, const batches_report *job, bool tokens) {
    const char *title = tokens ? "Tokens, by the span of their context" : "Contexts by span";
    leat_shares shares = {.page = page};
    if (job->report->asked.anchors.contexts == 0) { /* all sequences are masked */
        leat_figure_empty(page, title, "no contexts");
        return;
    }
    leat_figure_begin(page, title);
    leat_figure_say(page, tokens ? "share of the tokens" : "share of the contexts");
    leat_shares_begin(&shares);
    for (int i = 0; i < 3; i++) {
        const leat_context_stats *stats = parts_of(job, i);
        char bar[64];
        if (stats->contexts == 0 || (i == 2 && !job->report->is_filled)) continue;
        snprintf(bar, sizeof bar, "%c%s", part_names[i][0] - 'a' + 'A', part_names[i] + 1);
        put_scales(&shares, bar, tokens ? stats->tokens_by_scale : stats->by_scale);
    }
    leat_shares_end(&shares);
    leat_figure_end(page);
}

static void put_all_scales(leat_page *page, const batches_report *job) {
    leat_textbuf_put(page->out,
                     "<h2>Scales of time</h2>\n<p class=\"note\">The span of a context: from its "
                     "first measurement to its last.</p>\n<div class=\"two\">\n");
    draw_scales(page, job, false);
    draw_scales(page, job, true);
    leat_textbuf_put(page->out, "</div>\n");
}

/* ---- What filling does -------------------------------------------------------------------- */

static void put_part(leat_textbuf *out, const char *name, const leat_context_stats *stats,
                     int64_t length, bool whole) {
    char words[LEAT_WORDS_BYTES];
    double contexts = (double)stats->contexts;
    leat_textbuf_printf(out, "<tr><td>%s</td>", name);
    leat_page_cell(out, LEAT_DISPLAY_COUNT, contexts);
    leat_textbuf_printf(out, "<td>%.1f</td><td>%.1f</td>",
                        leat_ratio(stats->measurements, stats->contexts),
                        leat_ratio(stats->tokens, stats->contexts));
    leat_page_cell(out, LEAT_DISPLAY_COUNT,
                   leat_distribution_quantile(&stats->row_measurements, 0.5));
    leat_page_cell(out, LEAT_DISPLAY_COUNT,
                   leat_distribution_quantile(&stats->window_measurements, 0.5));
    leat_textbuf_printf(out, "<td>%s</td>",
                        leat_display_words(words, LEAT_DISPLAY_DURATION_US,
                                           leat_distribution_quantile(&stats->span_us, 0.5)));
    leat_page_cell(out, LEAT_DISPLAY_SHARE, leat_ratio(stats->stamped, stats->measurements));
    leat_page_cell(out, LEAT_DISPLAY_COUNT, (double)stats->cut);
    leat_page_cell(out, LEAT_DISPLAY_COUNT, (double)stats->dropped);
    if (whole)
        leat_page_cell(out, LEAT_DISPLAY_SHARE,
                       1 - leat_ratio(stats->tokens, stats->contexts * length));
    else leat_textbuf_put(out, "<td></td>");
    leat_textbuf_put(out, "</tr>\n");
}

static void put_filling(leat_textbuf *out, const batches_report *job) {
    const leat_batch_report *report = job->report;
    leat_textbuf_put(
        out,
        "<h2>What filling does</h2>\n<p class=\"note\">An anchor is the context that a sequence "
        "starts with: each context of each row is the anchor of one sequence per epoch, and is "
        "never cut. Fillers are drawn in the same way for the remaining space. For comparison: the "
        "same anchors with one context per sequence.</p>\n<div class=\"panel "
        "scroll\"><table>\n<thead><tr><th></th><th>contexts</th><th>measurements "
        "each</th><th>tokens each</th><th>median row</th><th>median window</th><th>median "
        "span</th><th>with timestamp</th><th>cut</th><th>left "
        "out</th><th>padding</th></tr></thead>\n<tbody>\n");
    put_part(out, "anchors", &report->asked.anchors, report->length, !report->is_filled);
    if (report->is_filled) {
        put_part(out, "fillers", &report->asked.fillers, report->length, false);
        put_part(out, "one context per sequence", &report->unpacked.anchors, report->length, true);
    }
    leat_textbuf_put(out, "</tbody></table>\n<p class=\"note\">Row and window are sizes in "
                          "measurements. Cut: measurements cut by the end of a sequence. Left out: "
                          "measurements that were drawn but did not fit.</p></div>\n");
}

/* ---- Figures ------------------------------------------------------------------------------ */

/* One value of the contexts of anchors, of fillers, and of unpacked sequences. */
static void put_series(leat_page *page, const batches_report *job, const leat_histogram *spec,
                       size_t offset) {
    leat_series series[LEAT_SERIES_MAX];
    int count = job->report->is_filled ? 3 : 1;
    for (int i = 0; i < count; i++) {
        const char *stats = (const char *)parts_of(job, i);
        series[i] = (leat_series){i == 2 ? "one per sequence" : part_names[i],
                                  (const leat_distribution *)(const void *)(stats + offset)};
    }
    leat_figure_series(page, spec, series, count);
}

static void put_context_figures(leat_page *page, const batches_report *job) {
    static const leat_histogram span = {.title = "Time span of a context",
                                        .x_label = "first to last measurement",
                                        .y_label = "share of the contexts",
                                        .things = "contexts",
                                        .empty = "no context has two measurements",
                                        .unit = LEAT_DISPLAY_DURATION_US},
                                window = {.title = "Window that a context is drawn from",
                                          .x_label = "measurements",
                                          .y_label = "share of the contexts",
                                          .things = "contexts",
                                          .empty = "no contexts"},
                                kept = {.title = "Measurements of a context",
                                        .x_label = "measurements",
                                        .y_label = "share of the contexts",
                                        .things = "contexts",
                                        .empty = "no contexts"},
                                row = {.title = "Row that a context is drawn from",
                                       .x_label = "measurements of the row",
                                       .y_label = "share of the contexts",
                                       .things = "contexts",
                                       .empty = "no contexts"};
    put_series(page, job, &span, offsetof(leat_context_stats, span_us));
    put_series(page, job, &window, offsetof(leat_context_stats, window_measurements));
    put_series(page, job, &kept, offsetof(leat_context_stats, context_measurements));
    put_series(page, job, &row, offsetof(leat_context_stats, row_measurements));
}

static void put_figures(leat_page *page, const batches_report *job) {
    static const leat_histogram contexts = {.title = "Contexts per row and epoch",
                                            .x_label = "contexts",
                                            .y_label = "share of the rows",
                                            .things = "rows",
                                            .empty = "no rows"},
                                segments = {.title = "Segments of a sequence",
                                            .x_label = "segments",
                                            .y_label = "share of the sequences",
                                            .things = "sequences",
                                            .empty = "no sequences"},
                                chunk = {.title = "Tokens of a 5-minute chunk",
                                         .x_label = "tokens",
                                         .y_label = "share of the chunks",
                                         .things = "chunks",
                                         .empty = "no chunks"},
                                held = {.title = "Measurements of a 5-minute chunk",
                                        .x_label = "measurements",
                                        .y_label = "share of the chunks",
                                        .things = "chunks",
                                        .empty = "no chunks"};
    leat_textbuf_put(page->out, "<h2>Sequences and contexts</h2>\n<div class=\"figures\">\n");
    batches_draw_sequences(page, job);
    put_context_figures(page, job);
    leat_figure_histogram(page, &segments, &job->report->asked.segments);
    leat_figure_histogram(page, &contexts, &job->report->row_contexts);
    leat_figure_histogram(page, &held, &job->report->chunks.chunk_measurements);
    leat_figure_histogram(page, &chunk, &job->report->chunks.chunk_tokens);
    leat_textbuf_put(page->out, "</div>\n");
}

/* ---- Tokens ------------------------------------------------------------------------------- */

static void put_token_types(leat_textbuf *out, const leat_sequence_stats *stats) {
    leat_textbuf_put(out, "<h2>Token types</h2>\n<div class=\"panel scroll\"><table>\n<thead><tr>"
                          "<th>token</th><th>count</th><th>share</th></tr></thead>\n<tbody>\n");
    for (int i = 0; i <= LEAT_TOKEN_BYTE; i++) {
        leat_textbuf_printf(out, "<tr><td class=\"mono\">%s</td>",
                            i == LEAT_TOKEN_BYTE ? "byte 0 to 255" : leat_token_name(i));
        leat_page_cell(out, LEAT_DISPLAY_COUNT, (double)stats->tokens_by_type[i]);
        leat_page_cell(out, LEAT_DISPLAY_SHARE,
                       leat_ratio(stats->tokens_by_type[i], stats->tokens));
        leat_textbuf_put(out, "</tr>\n");
    }
    leat_textbuf_put(out, "</tbody></table></div>\n");
}

void batches_report_page(leat_page *page, const void *user) {
    leat_textbuf *out = page->out;
    const batches_report *job = user;
    put_header(out, job);
    leat_textbuf_put(out, "<div class=\"two\">\n");
    draw_paddings(page, job);
    draw_modes_and_tokens(page, job);
    leat_textbuf_put(out, "</div>\n");
    put_all_scales(page, job);
    put_figures(page, job);
    put_filling(out, job);
    put_token_types(out, &job->report->asked);
    leat_page_end(out,
                  "Counts are exact, quantiles within 1.6 %. Point at a bar to see its "
                  "numbers.",
                  NULL);
}
