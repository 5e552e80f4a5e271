/* `leat inspect` for a CAN cache: its options, and the text for a terminal. */
#include <stdio.h>
#include <string.h>

#include "data_kinds.h"
#include "inspect/can.h"
#include "leat/ingest.h"

/* Columns of names: of splits, captures, and the folders of these. */
typedef struct columns {
    int split, file, folder;
} columns;

enum { CAPTURES_LISTED = 12 };

static columns fit_columns(const leat_can_summary *s) {
    char text[LEAT_PLAIN_BYTES];
    columns of = {24, 24, 28};
    for (int i = 0; i < s->split_count; i++)
        leat_column_fit(&of.split, leat_plain(text, s->splits[i].facts.name));
    for (int64_t i = 0; i < s->capture_count && i < CAPTURES_LISTED; i++) {
        const leat_can_capture_facts *facts = &s->captures[i].facts;
        leat_column_fit(&of.file, leat_can_capture_words(text, facts));
        leat_column_fit(&of.folder, leat_plain(text, facts->folder));
    }
    return of;
}

/* ---- splits ------------------------------------------------------------------------------ */

static void put_splits(leat_cli *cli, const leat_can_summary *s, const columns *of) {
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], c[LEAT_WORDS_BYTES], d[LEAT_WORDS_BYTES];
    char e[LEAT_WORDS_BYTES], name[LEAT_PLAIN_BYTES];
    leat_out(cli, "\n  %-*s %12s %12s %8s %12s %12s %14s %14s %10s\n", of->split, "split", "graphs",
             "with attack", "", "benign", "unlabelled", "nodes", "edges", "file");
    for (int i = 0; i < s->split_count; i++) {
        const leat_can_summary_split *split = &s->splits[i];
        leat_out(cli, "  %s %12s %12s %8s",
                 leat_column_pad(name, of->split, leat_plain(name, split->facts.name)),
                 leat_words_count(a, split->facts.graph_count),
                 leat_words_count(b, split->attack_count),
                 leat_display_words(c, LEAT_DISPLAY_SHARE,
                                    leat_ratio(split->attack_count, split->facts.graph_count)));
        leat_out(cli, " %12s %12s", leat_words_count(a, split->benign_count),
                 leat_words_count(b, split->unlabelled_count));
        leat_out(cli, " %14s %14s %10s\n", leat_words_count(c, split->facts.node_count),
                 leat_words_count(d, split->facts.edge_count),
                 leat_words_bytes(e, split->facts.file_bytes));
    }
}

static void put_nodes(leat_cli *cli, const leat_can_summary *s, const columns *of) {
    bool sparks = leat_terminal_has_sparks();
    char name[LEAT_PLAIN_BYTES];
    leat_out(cli, "\n  %-*s %8s %8s %8s %8s %8s%s\n", of->split, "nodes of a graph", "min", "mean",
             "p95", "p99", "max", sparks ? "  log scale" : "");
    for (int i = 0; i < s->split_count; i++) {
        const leat_can_summary_split *split = &s->splits[i];
        const leat_can_sizes_facts *nodes = &split->facts.nodes;
        leat_out(cli, "  %s %8lld %8.1f %8.1f %8.1f %8lld",
                 leat_column_pad(name, of->split, leat_plain(name, split->facts.name)),
                 (long long)nodes->min, nodes->mean, nodes->p95, nodes->p99, (long long)nodes->max);
        if (sparks) {
            leat_out(cli, "  ");
            leat_terminal_sparks(cli, &split->nodes);
        }
        leat_out(cli, "\n");
    }
}

static void put_attacks(leat_cli *cli, const leat_can_summary *s, const columns *of) {
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], c[LEAT_WORDS_BYTES], d[LEAT_WORDS_BYTES];
    char name[LEAT_PLAIN_BYTES];
    leat_out(cli, "\n  %-*s %-18s %12s %8s %16s\n", of->split, "attacks", "type", "graphs", "",
             "attack frames");
    for (int i = 0; i < s->split_count; i++) {
        const leat_can_summary_split *split = &s->splits[i];
        for (int k = 0; k < split->attack_types; k++) {
            const leat_can_summary_attack *attack = &split->attacks[k];
            leat_out(
                cli, "  %s %-18s %12s %8s %16s\n",
                leat_column_pad(name, of->split, k == 0 ? leat_plain(name, split->facts.name) : ""),
                leat_can_attack_words(a, attack), leat_words_count(b, attack->graphs),
                leat_display_words(c, LEAT_DISPLAY_SHARE,
                                   leat_ratio(attack->graphs, split->facts.graph_count)),
                leat_words_count(d, attack->frames));
        }
    }
}

/* ---- identifiers, captures --------------------------------------------------------------- */

static void put_unknown(leat_cli *cli, const leat_can_summary_split *split, int width) {
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], name[LEAT_PLAIN_BYTES];
    leat_out(cli, "    %s %s without a number, %s of its frames",
             leat_column_pad(name, width, leat_plain(name, split->facts.name)),
             leat_things(a, split->unknown_ids, "identifier"),
             leat_display_words(b, LEAT_DISPLAY_SHARE,
                                leat_ratio(split->unknown_frames, split->facts.frames)));
    if (split->read_nodes > 0)
        leat_out(cli, ", %s of its nodes",
                 leat_display_words(a, LEAT_DISPLAY_SHARE,
                                    leat_ratio(split->unknown_nodes, split->read_nodes)));
    leat_out(cli, ":");
    for (int i = 0; i < split->unknown_shown && i < 4; i++)
        leat_out(cli, "%s %s (%s)", i > 0 ? "," : "", leat_plain(name, split->unknown[i].text),
                 leat_words_count(a, split->unknown[i].frames));
    leat_out(cli, "%s\n", split->unknown_ids > 4 ? ", ..." : "");
}

static void put_identifiers(leat_cli *cli, const leat_can_summary *s, const leat_can_facts *facts,
                            const columns *of) {
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES];
    leat_out(cli, "\n  identifiers  %s in the vocabulary, %s without a number (node_id 0)\n",
             leat_words_count(a, facts->vocab_count),
             leat_words_count(b, facts->id_count - facts->vocab_count));
    for (int i = 0; i < s->split_count; i++)
        if (s->splits[i].unknown_ids > 0) put_unknown(cli, &s->splits[i], of->split);
}

static void put_captures(leat_cli *cli, const leat_can_summary *s, const columns *of) {
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], c[LEAT_WORDS_BYTES];
    char file[LEAT_PLAIN_BYTES], folder[LEAT_PLAIN_BYTES];
    leat_out(cli, "\n  %-*s %-*s %4s %8s %12s %10s %12s %12s %12s %10s\n", of->file, "captures",
             of->folder, "of", "bus", "vehicle", "frames", "windows", "with attack", "unlabelled",
             "time", "frames/s");
    for (int64_t i = 0; i < s->capture_count && i < CAPTURES_LISTED; i++) {
        const leat_can_summary_capture *capture = &s->captures[i];
        const leat_can_capture_facts *facts = &capture->facts;
        char bus[16] = "all", vehicle[16] = "?";
        if (facts->bus >= 0) snprintf(bus, sizeof bus, "%d", facts->bus);
        if (facts->vehicle > 0) snprintf(vehicle, sizeof vehicle, "%d", facts->vehicle);
        leat_out(cli, "  %s %s %4s %8s %12s %10s",
                 leat_column_pad(file, of->file, leat_can_capture_words(file, facts)),
                 leat_column_pad(folder, of->folder, leat_plain(folder, facts->folder)), bus,
                 vehicle, leat_words_count(a, facts->frames), leat_words_count(b, facts->windows));
        leat_out(cli, " %12s %12s %12s", leat_words_count(a, capture->attack_graphs),
                 leat_words_count(b, capture->unlabelled_graphs),
                 leat_words_seconds(c, facts->last_s - facts->first_s));
        leat_out(cli, " %10s\n", leat_can_load_words(a, leat_can_load(facts)));
    }
    if (s->capture_count > CAPTURES_LISTED)
        leat_out(cli, "  and %s more; --json lists all\n",
                 leat_words_count(a, s->capture_count - CAPTURES_LISTED));
}

static void put_left(leat_cli *cli, const leat_can_summary *s, const leat_can_facts *facts,
                     int64_t cut) {
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], c[LEAT_WORDS_BYTES], d[LEAT_WORDS_BYTES];
    int64_t frames = 0, tail = 0, between = 0, dropped = 0, rejected = 0;
    for (int i = 0; i < s->split_count; i++) {
        frames += s->splits[i].facts.frames;
        tail += s->splits[i].tail;
        between += s->splits[i].between;
        dropped += s->splits[i].dropped;
        rejected += s->splits[i].rejected;
    }
    leat_out(cli, "\n  frames       %s of %s in windows; %s between them, %s after the last",
             leat_words_count(a, frames - tail - between - dropped), leat_words_count(b, frames),
             leat_words_count(c, between), leat_words_count(d, tail));
    if (facts->windows_dropped > 0)
        leat_out(cli, ", %s in %s dropped between train and val", leat_words_count(a, dropped),
                 leat_things(b, facts->windows_dropped, "window"));
    if (cut > 0) leat_out(cli, "; %s cut to 8 bytes", leat_things(a, cut, "CAN-FD frame"));
    if (rejected > 0)
        leat_out(cli, "; %s rejected (rejected.csv)", leat_things(a, rejected, "line"));
    leat_out(cli, "\n");
}

/* ---- features ---------------------------------------------------------------------------- */

static void put_feature(leat_cli *cli, const char *name, const leat_can_feature_facts *of) {
    char share[LEAT_WORDS_BYTES];
    leat_out(cli, "  %-24s %12.5g %12.5g %12.5g %10s\n", name, of->min, of->mean, of->max,
             leat_display_words(share, LEAT_DISPLAY_SHARE, of->zeros));
}

/* The eight bytes of a payload on one line. */
static leat_can_feature_facts all_bytes(const leat_can_feature_facts *of) {
    leat_can_feature_facts all = of[0];
    for (int k = 1; k < LEAT_CAN_BYTES; k++) {
        if (of[k].min < all.min) all.min = of[k].min;
        if (of[k].max > all.max) all.max = of[k].max;
        all.mean += of[k].mean;
        all.zeros += of[k].zeros;
    }
    all.mean /= LEAT_CAN_BYTES;
    all.zeros /= LEAT_CAN_BYTES;
    return all;
}

static void put_columns(leat_cli *cli, const leat_can_feature_facts *of, int count,
                        const char *(*name_of)(int index)) {
    for (int i = 0; i < count; i++) {
        const char *name = name_of(i);
        if (strncmp(name, "byte_0", 6) != 0) {
            put_feature(cli, name, &of[i]);
            continue;
        }
        char words[64];
        leat_can_feature_facts all = all_bytes(&of[i]);
        snprintf(words, sizeof words, "byte_0-7%s", name + 6);
        put_feature(cli, words, &all);
        i += LEAT_CAN_BYTES - 1;
    }
}

static void put_features(leat_cli *cli, const leat_can_summary *s) {
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], c[LEAT_WORDS_BYTES];
    const leat_can_summary_split *train = &s->splits[0];
    if (train->read_graphs == 0) return;
    leat_out(cli, "\n  %-24s %12s %12s %12s %10s   ", "features of train", "min", "mean", "max",
             "zeros");
    if (s->read_graphs == s->graphs) leat_out(cli, "unscaled, from every graph\n");
    else
        leat_out(cli,
                 "unscaled, from a sample: %s of %s graphs, %s (--read none removes the limit)\n",
                 leat_words_count(a, s->read_graphs), leat_words_count(b, s->graphs),
                 leat_display_words(c, LEAT_DISPLAY_SHARE, leat_ratio(s->read_graphs, s->graphs)));
    put_columns(cli, s->x, LEAT_NODE_FEATURES, leat_node_feature_name);
    leat_out(cli, "  %-24s\n", "of edges");
    put_columns(cli, s->edge_attr, LEAT_EDGE_FEATURES, leat_edge_feature_name);
}

/* ---- all of it --------------------------------------------------------------------------- */

static void put_verify(leat_cli *cli, const leat_can_verify_report *verify) {
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], c[LEAT_WORDS_BYTES], d[LEAT_WORDS_BYTES];
    char inputs[LEAT_PLAIN_BYTES];
    const leat_found found = {verify->findings, verify->finding_count, verify->problem_count,
                              verify->note_count, "graph"};
    leat_out(cli, "\n  verification: %s, %s, %s, %s read and checked\n",
             leat_things(a, verify->splits, "split"), leat_things(b, verify->captures, "capture"),
             leat_things(c, verify->graphs, "graph"), leat_words_bytes(d, verify->file_bytes));
    leat_out(cli, "  inputs: %s\n", leat_can_inputs_words(inputs, verify));
    leat_found_terminal(cli, &found);
}

void leat_can_report_terminal(leat_cli *cli, const void *of) {
    const leat_can_report *report = of;
    const leat_can_summary *s = report->summary;
    char text[LEAT_PLAIN_BYTES], settings[LEAT_CAN_SETTINGS_BYTES];
    char reader[LEAT_READER_WORDS_BYTES];
    leat_can_facts facts;
    if (s != NULL) {
        leat_can_cache_get_facts(report->cache, &facts);
        leat_out_name(cli, facts.path);
        leat_out(cli, ": a CAN cache, windows of %lld frames, stride %lld, %s stored\n",
                 (long long)facts.window, (long long)facts.stride,
                 facts.frames ? "frames" : "features");
        const columns widths = fit_columns(s);
        put_splits(cli, s, &widths);
        put_nodes(cli, s, &widths);
        put_attacks(cli, s, &widths);
        put_captures(cli, s, &widths);
        put_left(cli, s, &facts, leat_can_cache_frames_cut(report->cache));
        put_identifiers(cli, s, &facts, &widths);
        leat_out(cli, "  settings     %s%s",
                 leat_can_settings_words(settings, report->cache, &facts),
                 facts.built_at[0] != 0 ? ", built " : "");
        leat_out(cli, "%s\n", leat_plain(text, facts.built_at));
        leat_out(cli, "  digest       %s\n", leat_plain(text, facts.fingerprint));
        const char *like = leat_can_cache_setting(report->cache, LEAT_CAN_LIKE_SETTING);
        if (like != NULL)
            leat_out(cli, "  like         vocabulary and scaler of the cache with the digest %s\n",
                     leat_plain(text, like));
        leat_can_identifiers_terminal(cli, s, widths.split);
        put_features(cli, s);
        if (leat_can_reader_words(reader, report->cache)[0] != 0) leat_out(cli, "\n  %s\n", reader);
        const char *warning = leat_can_cache_warning(report->cache);
        if (warning[0] != 0) leat_out(cli, "\n  warning: %s\n", warning);
    }
    if (report->verify != NULL) put_verify(cli, report->verify);
}

static leat_code verify(leat_cli *cli, leat_can_verify_report **out, leat_error *err) {
    leat_verify_options options = leat_verify_options_default();
    if (leat_cli_given(cli, "threads")) options.threads = (int)leat_cli_int(cli, "threads");
    options.progress = leat_cli_progress;
    options.progress_user = cli;
    leat_code code = leat_can_cache_verify(leat_cli_argument(cli, 0), &options, out, err);
    leat_cli_progress_end(cli);
    return code;
}

static leat_can_summary_options summary_options(leat_cli *cli) {
    leat_can_summary_options options = leat_can_summary_options_default();
    if (leat_cli_given(cli, "threads")) options.threads = (int)leat_cli_int(cli, "threads");
    options.read_bytes_max = leat_cli_int(cli, "read");
    options.progress = leat_cli_progress;
    options.progress_user = cli;
    return options;
}

/* For a page: the capture of the window that is drawn with an attack, or else of another one. */
static leat_code make_raster(leat_cli *cli, const leat_can_cache *cache, const leat_can_summary *s,
                             leat_can_raster **out, leat_error *err) {
    static const leat_can_label order[] = {LEAT_CAN_LABEL_ATTACK, LEAT_CAN_LABEL_BENIGN,
                                           LEAT_CAN_LABEL_UNLABELLED};
    const leat_page_places places = leat_page_asked(cli, "html");
    const leat_can_summary_options options = summary_options(cli);
    if (places.path == NULL && places.figures == NULL) return LEAT_OK;
    for (int i = 0; i < LEAT_CAN_LABELS; i++)
        if (s->window[order[i]].split >= 0)
            return leat_can_raster_create(out, cache, s->window[order[i]].facts.capture, &options,
                                          err);
    return LEAT_OK;
}

/* What is not made stays NULL. */
static leat_code summarise(leat_cli *cli, leat_can_cache **cache, leat_can_summary **out,
                           leat_can_raster **raster, leat_error *err) {
    const leat_can_summary_options options = summary_options(cli);
    leat_code code = leat_can_cache_open(cache, leat_cli_argument(cli, 0), err);
    if (code == LEAT_OK) code = leat_can_summary_create(out, *cache, &options, err);
    if (code == LEAT_OK) code = make_raster(cli, *cache, *out, raster, err);
    leat_cli_progress_end(cli);
    return code;
}

int leat_inspect_can(leat_cli *cli) {
    static const leat_report_forms forms = {leat_can_report_json, leat_can_report_terminal,
                                            leat_can_report_page};
    leat_can_verify_report *checked = NULL;
    leat_can_summary *summary = NULL;
    leat_can_raster *raster = NULL;
    leat_can_cache *cache = NULL;
    leat_error err = {0};
    int status = 0;
    if (leat_cli_flag(cli, "verify") && verify(cli, &checked, &err) != LEAT_OK)
        return leat_cli_fail(cli, &err);
    leat_code code = summarise(cli, &cache, &summary, &raster, &err);
    if (code != LEAT_OK && (checked == NULL || code == LEAT_ERR_CANCELLED)) {
        status = leat_cli_fail(cli, &err);
    } else {
        leat_can_report report = {leat_cli_argument(cli, 0), cache, summary, raster, checked};
        bool problems = checked != NULL && checked->problem_count > 0;
        status = leat_inspect_write(cli, &forms, &report, problems, &err);
    }
    leat_can_raster_destroy(raster);
    leat_can_summary_destroy(summary);
    leat_can_verify_report_destroy(checked);
    leat_can_cache_close(cache);
    return status;
}
