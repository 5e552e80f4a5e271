/* The page of `leat inspect --html` for a CAN cache. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "inspect/can.h"

/* ---- head -------------------------------------------------------------------------------- */

static void put_setting(leat_textbuf *out, const leat_can_cache *cache, const char *name,
                        const char *words) {
    const char *value = leat_can_cache_setting(cache, name);
    if (value == NULL) return;
    leat_textbuf_put(out, words);
    leat_html_text(out, value);
}

static void put_header(leat_textbuf *out, const leat_can_report *report,
                       const leat_can_facts *facts) {
    const leat_can_summary *s = report->summary;
    char window[LEAT_WORDS_BYTES], stride[LEAT_WORDS_BYTES], settings[LEAT_CAN_SETTINGS_BYTES];
    int64_t graphs = 0, attacks = 0, unlabelled = 0, frames = 0, bytes = 0;
    for (int i = 0; i < s->split_count; i++) {
        graphs += s->splits[i].facts.graph_count;
        attacks += s->splits[i].attack_count;
        unlabelled += s->splits[i].unlabelled_count;
        frames += s->splits[i].facts.frames;
        bytes += s->splits[i].facts.file_bytes;
    }
    leat_page_begin(out, report->name, "leat inspect");
    leat_textbuf_printf(out,
                        "<p class=\"sub\">A CAN cache: graphs of windows of %s frames, stride %s, "
                        "%s stored; ",
                        leat_words_count(window, facts->window),
                        leat_words_count(stride, facts->stride),
                        facts->frames ? "frames" : "features");
    leat_html_text(out, leat_can_settings_words(settings, report->cache, facts));
    put_setting(out, report->cache, "val-split", ", validation split ");
    put_setting(out, report->cache, "attack-type", ", attack type by ");
    leat_textbuf_put(out, "</p>\n</header>\n<div class=\"cards\">\n");
    leat_page_card(out, "graphs", LEAT_DISPLAY_COUNT, (double)graphs);
    leat_page_card(out, "with an attack", LEAT_DISPLAY_SHARE, leat_ratio(attacks, graphs));
    if (unlabelled > 0)
        leat_page_card(out, "unlabelled", LEAT_DISPLAY_SHARE, leat_ratio(unlabelled, graphs));
    leat_page_card(out, "log frames", LEAT_DISPLAY_COUNT, (double)frames);
    leat_page_card(out, "captures", LEAT_DISPLAY_COUNT, (double)s->capture_count);
    leat_page_card(out, "vocabulary", LEAT_DISPLAY_COUNT, (double)facts->vocab_count);
    leat_page_card(out, "bytes in files", LEAT_DISPLAY_BYTES, (double)bytes);
    leat_textbuf_put(out, "</div>\n");
}

static void put_verdict(leat_textbuf *out, const leat_can_verify_report *verify) {
    char read[6 * LEAT_WORDS_BYTES], inputs[LEAT_PLAIN_BYTES];
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], c[LEAT_WORDS_BYTES];
    if (verify == NULL) return;
    const leat_found found = {verify->findings, verify->finding_count, verify->problem_count,
                              verify->note_count, "graph"};
    snprintf(read, sizeof read, "%s, %s, %s. Input files: %s",
             leat_things(a, verify->captures, "capture"), leat_things(b, verify->graphs, "graph"),
             leat_words_bytes(c, verify->file_bytes), leat_can_inputs_words(inputs, verify));
    leat_found_page(out, &found, read);
}

/* ---- splits ------------------------------------------------------------------------------ */

static void put_splits(leat_textbuf *out, const leat_can_summary *s) {
    leat_textbuf_put(out,
                     "<div class=\"panel\"><div "
                     "class=\"scroll\"><table>\n<thead><tr><th>split</th><th>graphs</th><th>with "
                     "attack</th><th>benign</th><th>unlabelled</th><th>nodes</th><th>edges</th>"
                     "<th>nodes per "
                     "graph</th><th>file</th></tr></thead>\n<tbody>\n");
    for (int i = 0; i < s->split_count; i++) {
        const leat_can_split *facts = &s->splits[i].facts;
        leat_textbuf_put(out, "<tr><td>");
        leat_html_text(out, facts->name);
        leat_textbuf_put(out, "</td>");
        leat_page_cell(out, LEAT_DISPLAY_COUNT, (double)facts->graph_count);
        leat_page_cell(out, LEAT_DISPLAY_SHARE,
                       leat_ratio(s->splits[i].attack_count, facts->graph_count));
        leat_page_cell(out, LEAT_DISPLAY_SHARE,
                       leat_ratio(s->splits[i].benign_count, facts->graph_count));
        leat_page_cell(out, LEAT_DISPLAY_SHARE,
                       leat_ratio(s->splits[i].unlabelled_count, facts->graph_count));
        leat_page_cell(out, LEAT_DISPLAY_COUNT, (double)facts->node_count);
        leat_page_cell(out, LEAT_DISPLAY_COUNT, (double)facts->edge_count);
        leat_textbuf_printf(out, "<td>%lld to %lld, mean %.1f, p95 %.0f</td>",
                            (long long)facts->nodes.min, (long long)facts->nodes.max,
                            facts->nodes.mean, facts->nodes.p95);
        leat_page_cell(out, LEAT_DISPLAY_BYTES, (double)facts->file_bytes);
        leat_textbuf_put(out, "</tr>\n");
    }
    leat_textbuf_put(out, "</tbody></table></div></div>\n");
}

/* The number of splits with their own bar or row; --json also has the others. */
enum { SPLITS_SHOWN = 40, CAPTURES_SHOWN = 200 };

/* Colours of kinds of attacks: seven, plain and in two patterns, without the first, which is that
 * of any attack; so more than there are names. */
enum { ATTACK_COLOURS = 7, ATTACK_KEYS = 3 * ATTACK_COLOURS - 1 };

static bool is_same_attack(const leat_can_summary_attack *a, const leat_can_summary_attack *b) {
    return a->type == b->type && a->unknown == b->unknown;
}

static bool has_attack(const leat_can_summary *s, const leat_can_summary_attack *attack) {
    for (int i = 0; i < s->split_count; i++)
        for (int k = 0; k < s->splits[i].attack_types; k++)
            if (is_same_attack(&s->splits[i].attacks[k], attack)) return true;
    return false;
}

/* The colour of a kind of attack is decided by the kinds that the whole cache has, so that it is
 * the same in all splits. */
static int attack_key(const leat_can_summary *s, const leat_can_summary_attack *attack) {
    int place = 0;
    if (attack->type < 0) return 0;
    if (attack->type == 0 && !attack->unknown) return 1;
    for (int type = 1; type < (attack->unknown ? LEAT_CAN_SUMMARY_ATTACKS : attack->type); type++)
        place += has_attack(s, &(leat_can_summary_attack){.type = type});
    place = place % ATTACK_KEYS + 1;
    return 21 + 10 * (place / ATTACK_COLOURS) + place % ATTACK_COLOURS;
}

static void draw_kinds(leat_page *page, const leat_can_summary *s) {
    char names[LEAT_CAN_SUMMARY_ATTACKS][LEAT_WORDS_BYTES], words[LEAT_FIGURE_WORDS];
    leat_share items[LEAT_CAN_SUMMARY_ATTACKS];
    leat_shares shares = {.page = page};
    leat_figure_begin(page, "Kinds of attacks, by split");
    if (s->split_count > SPLITS_SHOWN)
        snprintf(words, sizeof words,
                 "share of the graphs, of the first %d of %d splits; leat inspect --json has all",
                 SPLITS_SHOWN, s->split_count);
    else snprintf(words, sizeof words, "share of the graphs");
    leat_figure_say(page, words);
    leat_shares_begin(&shares);
    for (int i = 0; i < s->split_count && i < SPLITS_SHOWN; i++) {
        const leat_can_summary_split *split = &s->splits[i];
        for (int k = 0; k < split->attack_types; k++) {
            const leat_can_summary_attack *attack = &split->attacks[k];
            items[k] = (leat_share){leat_can_attack_words(names[k], attack), attack->graphs,
                                    attack_key(s, attack)};
        }
        leat_shares_put(&shares, split->facts.name, items, split->attack_types);
    }
    leat_shares_end(&shares);
    leat_figure_end(page);
}

static void draw_nodes(leat_page *page, const leat_can_summary *s) {
    static const leat_histogram spec = {"Nodes per graph: identifiers in a window",
                                        "nodes",
                                        "share of the graphs",
                                        "graphs",
                                        "no graphs",
                                        LEAT_DISPLAY_COUNT,
                                        false};
    leat_distribution tests = {0};
    for (int i = 2; i < s->split_count; i++) leat_distribution_merge(&tests, &s->splits[i].nodes);
    const leat_series series[] = {{"train", &s->splits[0].nodes},
                                  {"val", s->split_count > 1 ? &s->splits[1].nodes : &tests},
                                  {"tests", &tests}};
    leat_figure_series(page, &spec, series, 3);
}

/* Horizontal bars, because names of splits are long. */
static void draw_attacks(leat_page *page, const leat_can_summary *s) {
    static const char title[] = "Graphs with an attack, by split";
    char words[LEAT_FIGURE_WORDS], a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES];
    leat_bars bars = {.page = page,
                      .unit = LEAT_DISPLAY_SHARE,
                      .names = "split",
                      .values = "share of the graphs",
                      .counts = "graphs with an attack"};
    bars.count = s->split_count < SPLITS_SHOWN ? s->split_count : SPLITS_SHOWN;
    for (int i = 0; i < bars.count; i++)
        bars.peak =
            fmax(bars.peak, leat_ratio(s->splits[i].attack_count, s->splits[i].facts.graph_count));
    leat_figure_begin(page, title);
    leat_figure_say(page, bars.count < s->split_count ? "share of the graphs, of the first splits"
                                                      : "share of the graphs");
    leat_bars_begin(&bars);
    for (int i = 0; i < bars.count; i++) {
        const leat_can_summary_split *split = &s->splits[i];
        double share = leat_ratio(split->attack_count, split->facts.graph_count);
        snprintf(words, sizeof words, "%s of the graphs (%s)",
                 leat_display_words(a, LEAT_DISPLAY_SHARE, share),
                 leat_words_count(b, split->attack_count));
        leat_bars_put(&bars, split->facts.name, share, split->attack_count, "bar bad", words);
    }
    leat_bars_end(&bars);
    leat_figure_end(page);
}

/* ---- captures ---------------------------------------------------------------------------- */

enum { STRIP = 2 * LEAT_CAN_COURSE }; /* pixels */

/* Where a part of a capture ends, in pixels: in its time, or in its frames if it has no times. */
static double course_x(const leat_can_summary_capture *capture, int part) {
    const double whole = capture->course_end_s[LEAT_CAN_COURSE - 1];
    if (part < 0) return 0;
    return whole > 0 ? STRIP * capture->course_end_s[part] / whole
                     : STRIP * (part + 1.0) / LEAT_CAN_COURSE;
}

/* Where in a capture its windows are, grey where most are unlabelled; above them, the share of
 * those with an attack. Nothing lies on anything else, so that no colour is a mixture of two. */
static void put_course(leat_textbuf *out, const leat_can_summary_capture *capture) {
    leat_textbuf_printf(out,
                        "<svg viewBox=\"0 0 %d 14\" role=\"img\" aria-label=\"where attacks are\" "
                        "style=\"width:%dpx\" shape-rendering=\"crispEdges\">", /* no seams */
                        STRIP, STRIP);
    for (int i = 0; i < LEAT_CAN_COURSE; i++) {
        const double x = course_x(capture, i - 1), width = course_x(capture, i) - x;
        if (capture->course[i] == 0) continue;
        bool unlabelled = 2 * capture->unlabelled_course[i] > capture->course[i];
        leat_textbuf_printf(
            out, "<rect class=\"bar%s\" x=\"%.2f\" y=\"9\" width=\"%.2f\" height=\"5\"/>",
            unlabelled ? " zero" : "", x, width);
        if (capture->attack_course[i] == 0) continue;
        double high = fmax(2, 9 * leat_ratio(capture->attack_course[i], capture->course[i]));
        leat_textbuf_printf(
            out, "<rect class=\"bar bad\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\"/>",
            x, 9 - high, width, high);
    }
    leat_textbuf_put(out, "</svg>");
}

static void put_capture(leat_textbuf *out, const leat_can_summary_capture *capture) {
    const leat_can_capture_facts *facts = &capture->facts;
    char name[LEAT_PLAIN_BYTES], load[LEAT_WORDS_BYTES];
    leat_textbuf_put(out, "<tr><td class=\"mono\">");
    leat_html_text(out, leat_can_capture_words(name, facts));
    leat_textbuf_put(out, "</td><td class=\"text\">");
    leat_html_text(out, facts->split);
    if (facts->bus < 0) leat_textbuf_put(out, "</td><td>all</td>");
    else leat_textbuf_printf(out, "</td><td>%d</td>", facts->bus);
    if (facts->vehicle > 0) leat_textbuf_printf(out, "<td>%d</td>", facts->vehicle);
    else leat_textbuf_put(out, "<td>?</td>");
    leat_page_cell(out, LEAT_DISPLAY_COUNT, (double)facts->frames);
    leat_page_cell(out, LEAT_DISPLAY_COUNT, (double)capture->graphs);
    leat_page_cell(out, LEAT_DISPLAY_COUNT, (double)capture->attack_graphs);
    leat_page_cell(out, LEAT_DISPLAY_COUNT, (double)capture->unlabelled_graphs);
    leat_page_cell(out, LEAT_DISPLAY_DURATION_US, (facts->last_s - facts->first_s) * 1e6);
    leat_textbuf_printf(out, "<td>%s</td>", leat_can_load_words(load, leat_can_load(facts)));
    leat_textbuf_put(out, "<td class=\"text\">");
    put_course(out, capture);
    leat_textbuf_put(out, "</td></tr>\n");
}

static void put_captures(leat_textbuf *out, const leat_can_summary *s) {
    leat_textbuf_put(out, "<h2>Captures</h2>\n<p class=\"note\">Each strip is a capture from its "
                          "first frame to its last, over its time, or over its frames if no "
                          "times were read: blue for graphs, grey where most of them are "
                          "unlabelled; above it, in vermilion, the share of those "
                          "with an attack. A gap is a dropped window.</p>\n<div class=\"panel "
                          "scroll\"><table>\n<thead><tr><th>file</th><th "
                          "class=\"text\">split</th><th>bus</th><th>vehicle</th>"
                          "<th>frames</th><th>graphs</th><th>with attack</th>"
                          "<th>unlabelled</th><th>time</th><th>frames/s</th><th "
                          "class=\"text\">over time</th></tr></thead>\n<tbody>\n");
    for (int64_t i = 0; i < s->capture_count && i < CAPTURES_SHOWN; i++)
        put_capture(out, &s->captures[i]);
    leat_textbuf_put(out, "</tbody></table></div>\n");
    if (s->capture_count > CAPTURES_SHOWN)
        leat_textbuf_printf(out,
                            "<p class=\"note\">The first %d; leat inspect --json lists all.</p>\n",
                            CAPTURES_SHOWN);
}

/* ---- identifiers ------------------------------------------------------------------------- */

static void put_identifiers(leat_textbuf *out, const leat_can_summary *s,
                            const leat_can_facts *facts) {
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES];
    leat_textbuf_printf(out,
                        "<h2>Identifiers</h2>\n<p class=\"note\">%s in the vocabulary, %s without "
                        "a number (node_id 0).</p>\n",
                        leat_words_count(a, facts->vocab_count),
                        leat_words_count(b, facts->id_count - facts->vocab_count));
    if (facts->id_count == facts->vocab_count) return;
    leat_textbuf_put(out, "<div class=\"panel scroll\"><table>\n<thead><tr><th>split</th>"
                          "<th>unknown</th><th>of its frames</th><th>of its nodes</th>"
                          "<th class=\"text\">most frequent (frames)</th></tr></thead>\n<tbody>\n");
    for (int i = 0; i < s->split_count; i++) {
        const leat_can_summary_split *split = &s->splits[i];
        if (split->unknown_ids == 0) continue;
        leat_textbuf_put(out, "<tr><td>");
        leat_html_text(out, split->facts.name);
        leat_textbuf_put(out, "</td>");
        enum { IDS_SHOWN = 8 }; /* the JSON has more */
        leat_page_cell(out, LEAT_DISPLAY_COUNT, (double)split->unknown_ids);
        leat_page_cell(out, LEAT_DISPLAY_SHARE,
                       leat_ratio(split->unknown_frames, split->facts.frames));
        if (split->read_nodes > 0)
            leat_page_cell(out, LEAT_DISPLAY_SHARE,
                           leat_ratio(split->unknown_nodes, split->read_nodes));
        else leat_textbuf_put(out, "<td>not read</td>");
        leat_textbuf_put(out,
                         "<td class=\"text mono\" style=\"white-space:normal;min-width:240px\">");
        int shown = split->unknown_shown < IDS_SHOWN ? split->unknown_shown : IDS_SHOWN;
        for (int k = 0; k < shown; k++) {
            leat_textbuf_put(out, k > 0 ? ", " : "");
            leat_html_text(out, split->unknown[k].text);
            leat_textbuf_printf(out, " (%s)", leat_words_count(a, split->unknown[k].frames));
        }
        if (split->unknown_ids > shown)
            leat_textbuf_printf(out, " and %s more",
                                leat_words_count(a, split->unknown_ids - shown));
        leat_textbuf_put(out, "</td></tr>\n");
    }
    leat_textbuf_put(out, "</tbody></table></div>\n");
}

/* ---- features ---------------------------------------------------------------------------- */

/* What one row of the table shows of a feature: its values, and its scaler. */
typedef struct feature {
    const char *name;
    const leat_can_feature_facts *of;
    double center, scale;
} feature;

enum { RANGE = 200, TICKS_MAX = 64, HIGH = 14 }; /* pixels */
#define CHAR_WIDTH 6.2                           /* of a label's 11 px type, on the wide side */

/* The axis of all ranges: scaled values, from -reach, the farthest of all features, to reach. Steps
 * grow outwards, so that outliers do not flatten all other ranges. */
typedef struct scaled_axis {
    double reach;
    double tick[TICKS_MAX]; /* with a label */
    int tick_count;
} scaled_axis;

static double scaled_x(const scaled_axis *axis, double scaled) {
    return RANGE / 2.0 * (1 + asinh(scaled) / asinh(axis->reach));
}

/* Where a label begins that is in the middle of its tick, but within the axis. */
static double label_x(const scaled_axis *axis, double value, double *width) {
    char text[32];
    snprintf(text, sizeof text, "%g", value);
    *width = (double)strlen(text) * CHAR_WIDTH;
    double x = scaled_x(axis, value) - *width / 2;
    return x < 0 ? 0 : x + *width > RANGE ? RANGE - *width : x;
}

/* 0, 1, 10, 100, ... as far as the axis goes and labels do not touch, and the same below 0. */
static void choose_ticks(scaled_axis *axis) {
    double width, end = label_x(axis, 0, &width);
    end += width;
    axis->tick[axis->tick_count++] = 0;
    for (double value = 1; value <= axis->reach && axis->tick_count + 2 <= TICKS_MAX; value *= 10) {
        double begin = label_x(axis, value, &width);
        /* those below 0 are wider by their sign */
        if (begin - CHAR_WIDTH / 2 < end + 4) continue;
        end = begin + width + CHAR_WIDTH / 2;
        axis->tick[axis->tick_count++] = value;
        axis->tick[axis->tick_count++] = -value;
    }
}

static void put_axis(leat_textbuf *out, const scaled_axis *axis) {
    leat_textbuf_printf(out,
                        "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"scaled values\" "
                        "style=\"width:%dpx\">",
                        RANGE, HIGH, RANGE);
    for (int i = 0; i < axis->tick_count; i++) {
        double width, x = label_x(axis, axis->tick[i], &width);
        leat_textbuf_printf(out, "<text x=\"%.1f\" y=\"11\" class=\"mid\">%g</text>", x + width / 2,
                            axis->tick[i]);
    }
    leat_textbuf_put(out, "</svg>");
}

static double farthest(const leat_can_feature_facts *of, const double *center, const double *scale,
                       int count, double reach) {
    for (int i = 0; i < count; i++) {
        double low = fabs(of[i].min - center[i]) / scale[i];
        double high = fabs(of[i].max - center[i]) / scale[i];
        reach = fmax(reach, fmax(low, high));
    }
    return reach;
}

static void put_feature(leat_textbuf *out, const scaled_axis *axis, const feature *at) {
    double least = (at->of->min - at->center) / at->scale;
    double most = (at->of->max - at->center) / at->scale;
    double low = scaled_x(axis, least), high = scaled_x(axis, most);
    leat_textbuf_printf(out,
                        "<tr><td class=\"mono\">%s</td><td>%.5g</td><td>%.5g</td><td>%.5g</td>",
                        at->name, at->of->min, at->of->mean, at->of->max);
    leat_page_cell(out, LEAT_DISPLAY_SHARE, at->of->zeros);
    leat_textbuf_printf(out,
                        "<td class=\"text\"><svg viewBox=\"0 0 %d %d\" role=\"img\" "
                        "aria-label=\"range, scaled\" style=\"width:%dpx\">",
                        RANGE, HIGH, RANGE);
    for (int i = 0; i < axis->tick_count; i++)
        leat_textbuf_printf(out, "<path class=\"%s\" d=\"M%.1f 0V%d\"/>", i == 0 ? "base" : "grid",
                            scaled_x(axis, axis->tick[i]), HIGH);
    leat_textbuf_printf(out,
                        "<rect class=\"bar\" x=\"%.1f\" y=\"4\" width=\"%.1f\" height=\"6\"><title>"
                        "%.3g to %.3g, scaled</title></rect></svg></td></tr>\n",
                        low, fmax(high - low, 1), least, most);
}

static void put_features(leat_textbuf *out, const leat_can_summary *s,
                         const leat_can_cache *cache) {
    leat_can_scaler_facts scaler;
    scaled_axis axis = {.reach = 1};
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES];
    leat_can_cache_get_scaler(cache, &scaler);
    if (s->splits[0].read_graphs == 0) return;
    axis.reach = farthest(s->x, scaler.x_center, scaler.x_scale, LEAT_NODE_FEATURES, axis.reach);
    axis.reach = farthest(s->edge_attr, scaler.edge_center, scaler.edge_scale, LEAT_EDGE_FEATURES,
                          axis.reach);
    choose_ticks(&axis);
    leat_textbuf_put(out, "<h2>Features of train</h2>\n<p class=\"note\">Unscaled, ");
    if (s->read_graphs == s->graphs) leat_textbuf_put(out, "from every graph. ");
    else
        leat_textbuf_printf(out, "from a <b>sample</b>: %s of %s graphs. ",
                            leat_words_count(a, s->read_graphs), leat_words_count(b, s->graphs));
    leat_textbuf_put(out, "The bar is the range after scaling (");
    leat_html_text(out, scaler.strategy);
    leat_textbuf_put(out,
                     "), around the scaler's center, on an axis whose steps grow outwards: 1 is "
                     "a value that is the scale away.</p>\n<div class=\"panel scroll\"><table>"
                     "\n<thead><tr><th>feature</th><th>min</th><th>mean</th><th>max</th>"
                     "<th>zeros</th><th class=\"text\">range, scaled");
    put_axis(out, &axis);
    leat_textbuf_put(out, "</th></tr></thead>\n<tbody>\n");
    for (int i = 0; i < LEAT_NODE_FEATURES; i++)
        put_feature(
            out, &axis,
            &(feature){leat_node_feature_name(i), &s->x[i], scaler.x_center[i], scaler.x_scale[i]});
    leat_textbuf_put(out, "<tr class=\"sum\"><td>of edges</td><td></td><td></td><td></td><td></td>"
                          "<td></td></tr>\n");
    for (int i = 0; i < LEAT_EDGE_FEATURES; i++)
        put_feature(out, &axis,
                    &(feature){leat_edge_feature_name(i), &s->edge_attr[i], scaler.edge_center[i],
                               scaler.edge_scale[i]});
    leat_textbuf_put(out, "</tbody></table></div>\n");
}

/* ---- settings ---------------------------------------------------------------------------- */

static void put_settings(leat_textbuf *out, const leat_can_cache *cache) {
    const char *name = NULL;
    leat_textbuf_put(out, "<h2>Settings</h2>\n<p class=\"note\">The options of leat ingest can "
                          "that the cache was built with.</p>\n<div class=\"panel\">\n");
    for (int i = 0; (name = leat_can_cache_setting_name(cache, i)) != NULL; i++) {
        if (strcmp(name, LEAT_CAN_READER_SETTING) == 0 || strcmp(name, LEAT_CAN_LIKE_SETTING) == 0)
            continue;
        leat_textbuf_put(out, "<code class=\"item\">--");
        leat_html_text(out, name);
        leat_textbuf_put(out, " ");
        leat_html_text(out, leat_can_cache_setting(cache, name));
        leat_textbuf_put(out, "</code>\n");
    }
    leat_textbuf_put(out, "</div>\n");
    char reader[LEAT_READER_WORDS_BYTES];
    const char *like = leat_can_cache_setting(cache, LEAT_CAN_LIKE_SETTING);
    if (like != NULL) {
        leat_textbuf_put(out, "<p class=\"note\">Vocabulary and scaler are those of the cache with "
                              "the digest <code class=\"item\">");
        leat_html_text(out, like);
        leat_textbuf_put(out, "</code> (--like).</p>\n");
    }
    if (leat_can_reader_words(reader, cache)[0] == 0) return;
    leat_textbuf_put(out, "<p class=\"note\">The cache was ");
    leat_html_text(out, reader);
    leat_textbuf_put(out, ".</p>\n");
}

/* ---- the page ---------------------------------------------------------------------------- */

void leat_can_report_page(leat_page *page, const void *user) {
    leat_textbuf *out = page->out;
    const leat_can_report *report = user;
    const leat_can_summary *s = report->summary;
    leat_can_facts facts;
    leat_can_cache_get_facts(report->cache, &facts);
    put_header(out, report, &facts);
    put_verdict(out, report->verify);
    put_splits(out, s);
    leat_textbuf_put(out, "<h2>Graphs</h2>\n<div class=\"figures\">\n");
    draw_nodes(page, s);
    draw_attacks(page, s);
    draw_kinds(page, s);
    leat_textbuf_put(out, "</div>\n");
    leat_can_report_windows(page, report);
    leat_can_report_capture(page, report);
    put_captures(out, s);
    put_identifiers(out, s, &facts);
    leat_can_identifiers_page(out, s);
    put_features(out, s, report->cache);
    put_settings(out, report->cache);
    leat_page_end(out, "Digest of the cache", facts.fingerprint);
}
