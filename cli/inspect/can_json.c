/* `leat inspect --json` of a CAN cache: everything that the page shows, as one document. */
#include "inspect/can.h"

static void put_sizes(leat_json *json, const char *name, const leat_can_sizes_facts *sizes) {
    leat_json_key(json, name);
    leat_json_begin_object(json);
    leat_json_member_int(json, "min", sizes->min);
    leat_json_member_double(json, "mean", sizes->mean);
    leat_json_member_double(json, "p95", sizes->p95);
    leat_json_member_double(json, "p99", sizes->p99);
    leat_json_member_int(json, "max", sizes->max);
    leat_json_end_object(json);
}

static void put_attacks(leat_json *json, const leat_can_summary_split *split) {
    char words[LEAT_WORDS_BYTES];
    leat_json_key(json, "attacks");
    leat_json_begin_array(json);
    for (int i = 0; i < split->attack_types; i++) {
        const leat_can_summary_attack *attack = &split->attacks[i];
        leat_json_begin_object(json);
        leat_json_member_int(json, "type", attack->type);
        leat_json_member_string(json, "name", leat_can_attack_words(words, attack));
        leat_json_member_int(json, "graphs", attack->graphs);
        leat_json_member_int(json, "labelled_frames", attack->frames);
        leat_json_end_object(json);
    }
    leat_json_end_array(json);
}

static void put_unknown(leat_json *json, const leat_can_summary_split *split) {
    leat_json_key(json, "unknown_identifiers");
    leat_json_begin_object(json);
    leat_json_member_int(json, "count", split->unknown_ids);
    leat_json_member_int(json, "frames", split->unknown_frames);
    leat_json_member_int(json, "nodes_read", split->read_nodes);
    leat_json_member_int(json, "nodes", split->unknown_nodes);
    leat_json_key(json, "most_frequent");
    leat_json_begin_array(json);
    for (int i = 0; i < split->unknown_shown; i++) {
        leat_json_begin_object(json);
        leat_json_member_string(json, "identifier", split->unknown[i].text);
        leat_json_member_int(json, "frames", split->unknown[i].frames);
        leat_json_end_object(json);
    }
    leat_json_end_array(json);
    leat_json_end_object(json);
}

static void put_class_weights(leat_json *json, const leat_can_cache *cache, const char *split) {
    leat_can_classes classes;
    leat_error err = {0};
    if (leat_can_cache_get_classes(cache, split, &classes, &err) != LEAT_OK) return;
    leat_json_key(json, "class_weights");
    leat_json_begin_object(json);
    leat_json_member_double(json, "benign", classes.weight[0]);
    leat_json_member_double(json, "attack", classes.weight[1]);
    leat_json_end_object(json);
}

static void put_split(leat_json *json, const leat_can_cache *cache,
                      const leat_can_summary_split *split) {
    leat_json_key(json, split->facts.name);
    leat_json_begin_object(json);
    leat_json_member_int(json, "graphs", split->facts.graph_count);
    leat_json_member_int(json, "nodes", split->facts.node_count);
    leat_json_member_int(json, "edges", split->facts.edge_count);
    leat_json_member_int(json, "file_bytes", split->facts.file_bytes);
    put_sizes(json, "nodes_per_graph", &split->facts.nodes);
    leat_json_distribution(json, "nodes_per_graph_histogram", &split->nodes, 1);
    leat_json_member_int(json, "graphs_with_attack", split->attack_count);
    leat_json_member_int(json, "graphs_benign", split->benign_count);
    leat_json_member_int(json, "graphs_unlabelled", split->unlabelled_count);
    put_class_weights(json, cache, split->facts.name);
    put_attacks(json, split);
    leat_json_member_int(json, "captures", split->captures);
    leat_json_member_int(json, "frames", split->facts.frames);
    leat_json_member_int(json, "frames_tail", split->tail);
    leat_json_member_int(json, "frames_between", split->between);
    leat_json_member_int(json, "frames_dropped", split->dropped);
    leat_json_member_int(json, "lines_rejected", split->rejected);
    put_unknown(json, split);
    leat_json_end_object(json);
}

/* The window that stands for each label; those of labels that no window has are absent. */
static void put_windows(leat_json *json, const leat_can_summary *s) {
    static const char *const names[LEAT_CAN_LABELS] = {"benign", "attack", "unlabelled"};
    leat_json_key(json, "median_windows");
    leat_json_begin_object(json);
    for (int label = 0; label < LEAT_CAN_LABELS; label++) {
        const leat_can_summary_window *window = &s->window[label];
        if (window->split < 0) continue;
        leat_json_key(json, names[label]);
        leat_json_begin_object(json);
        leat_json_member_string(json, "split", s->splits[window->split].facts.name);
        leat_json_member_int(json, "graph", window->facts.graph);
        leat_json_member_int(json, "nodes", window->facts.node_count);
        leat_json_end_object(json);
    }
    leat_json_end_object(json);
}

static void put_identifier(leat_json *json, const leat_can_summary_identifier *of) {
    int64_t windows = 0, frames = 0;
    for (int label = 0; label < LEAT_CAN_LABELS; label++) {
        windows += of->windows[label];
        frames += of->frames[label];
    }
    leat_json_begin_object(json);
    leat_json_member_int(json, "number", of->number);
    if (of->text != NULL) leat_json_member_string(json, "identifier", of->text);
    leat_json_member_int(json, "windows", windows);
    leat_json_member_int(json, "windows_with_attack", of->windows[LEAT_CAN_LABEL_ATTACK]);
    leat_json_member_int(json, "windows_unlabelled", of->windows[LEAT_CAN_LABEL_UNLABELLED]);
    leat_json_member_int(json, "frames", frames);
    leat_json_member_int(json, "frames_in_attacks", of->frames[LEAT_CAN_LABEL_ATTACK]);
    leat_json_member_bool(json, "attack_only", leat_can_is_attack_only(of));
    leat_json_end_object(json);
}

static void put_identifiers(leat_json *json, const leat_can_summary *s) {
    leat_json_key(json, "identifier_statistics");
    leat_json_begin_object(json);
    leat_json_member_int(json, "count", s->identifier_count);
    leat_json_member_int(json, "attack_only", leat_can_attack_only_count(s));
    leat_json_key(json, "most_frequent");
    leat_json_begin_array(json);
    for (int64_t i = 0; i < s->identifier_count && i < LEAT_CAN_SUMMARY_IDS; i++)
        put_identifier(json, &s->identifiers[i]);
    leat_json_end_array(json);
    leat_json_end_object(json);
}

static void put_features(leat_json *json, const char *name, const leat_can_feature_facts *of,
                         int count, const char *(*name_of)(int index)) {
    leat_json_key(json, name);
    leat_json_begin_object(json);
    for (int i = 0; i < count; i++) {
        leat_json_key(json, name_of(i));
        leat_json_begin_object(json);
        leat_json_key(json, "min"); /* float32 values, like max */
        leat_json_float(json, (float)of[i].min);
        leat_json_member_double(json, "mean", of[i].mean);
        leat_json_key(json, "max");
        leat_json_float(json, (float)of[i].max);
        leat_json_member_double(json, "zeros", of[i].zeros);
        leat_json_end_object(json);
    }
    leat_json_end_object(json);
}

static void put_values(leat_json *json, const leat_can_summary *s) {
    leat_json_key(json, "values");
    leat_json_begin_object(json);
    leat_json_member_bool(json, "of_every_graph", s->read_graphs == s->graphs);
    leat_json_member_int(json, "graphs_read", s->read_graphs);
    if (s->splits[0].read_graphs > 0) {
        put_features(json, "x", s->x, LEAT_NODE_FEATURES, leat_node_feature_name);
        put_features(json, "edge_attr", s->edge_attr, LEAT_EDGE_FEATURES, leat_edge_feature_name);
    }
    leat_json_end_object(json);
}

/* Graphs along a capture, in parts of equal numbers of frames. */
static void put_course(leat_json *json, const char *name, const int32_t course[LEAT_CAN_COURSE]) {
    leat_json_key(json, name);
    leat_json_begin_array(json);
    for (int i = 0; i < LEAT_CAN_COURSE; i++) leat_json_int(json, course[i]);
    leat_json_end_array(json);
}

static void put_capture(leat_json *json, const leat_can_summary_capture *capture) {
    const leat_can_capture_facts *facts = &capture->facts;
    leat_json_begin_object(json);
    leat_json_member_string(json, "file", facts->file);
    leat_json_member_string(json, "folder", facts->folder);
    leat_json_member_string(json, "split", facts->split);
    leat_json_member_int(json, "recording", facts->recording);
    leat_json_member_int(json, "bus", facts->bus);
    leat_json_member_int(json, "vehicle", facts->vehicle);
    leat_json_member_int(json, "frames", facts->frames);
    leat_json_member_int(json, "windows", facts->windows);
    leat_json_member_int(json, "graphs", capture->graphs);
    leat_json_member_int(json, "graphs_with_attack", capture->attack_graphs);
    leat_json_member_int(json, "graphs_unlabelled", capture->unlabelled_graphs);
    leat_json_member_int(json, "frames_tail", facts->tail);
    leat_json_member_int(json, "frames_between", facts->between);
    leat_json_member_int(json, "frames_dropped", facts->dropped);
    leat_json_member_int(json, "lines_rejected", facts->rejected);
    leat_json_member_double(json, "first_s", facts->first_s);
    leat_json_member_double(json, "last_s", facts->last_s);
    put_course(json, "course", capture->course);
    put_course(json, "course_with_attack", capture->attack_course);
    put_course(json, "course_unlabelled", capture->unlabelled_course);
    leat_json_end_object(json);
}

static void put_settings(leat_json *json, const leat_can_cache *cache) {
    const char *name = NULL;
    leat_json_key(json, "settings");
    leat_json_begin_object(json);
    for (int i = 0; (name = leat_can_cache_setting_name(cache, i)) != NULL; i++)
        leat_json_member_string(json, name, leat_can_cache_setting(cache, name));
    leat_json_end_object(json);
}

static void put_verify(leat_json *json, const leat_can_verify_report *verify) {
    const leat_found found = {verify->findings, verify->finding_count, verify->problem_count,
                              verify->note_count, "graph"};
    leat_json_key(json, "verification");
    leat_json_begin_object(json);
    leat_json_member_bool(json, "ok", verify->problem_count == 0);
    leat_json_member_int(json, "splits", verify->splits);
    leat_json_member_int(json, "captures", verify->captures);
    leat_json_member_int(json, "graphs", verify->graphs);
    leat_json_member_int(json, "nodes", verify->nodes);
    leat_json_member_int(json, "edges", verify->edges);
    leat_json_member_int(json, "file_bytes", verify->file_bytes);
    leat_json_member_int(json, "inputs_unchanged", verify->inputs_same);
    leat_json_member_int(json, "inputs_changed", verify->inputs_changed);
    leat_json_member_int(json, "inputs_missing", verify->inputs_missing);
    leat_found_json(json, &found);
    leat_json_end_object(json);
}

static void put_summary(leat_json *json, const leat_can_cache *cache, const leat_can_summary *s) {
    leat_can_facts facts;
    leat_can_cache_get_facts(cache, &facts);
    leat_json_member_string(json, "kind", "CAN cache");
    leat_json_member_string(json, "cache", facts.path);
    leat_json_member_string(json, "fingerprint", facts.fingerprint);
    leat_json_member_string(json, "dataset", facts.dataset);
    leat_json_member_string(json, "preset", facts.preset);
    leat_json_member_string(json, "built_at", facts.built_at);
    leat_json_member_int(json, "window", facts.window);
    leat_json_member_int(json, "stride", facts.stride);
    leat_json_member_string(json, "store", facts.frames ? "frames" : "features");
    put_settings(json, cache);
    leat_json_member_int(json, "windows_dropped", facts.windows_dropped);
    leat_json_member_int(json, "frames_cut", leat_can_cache_frames_cut(cache));
    const char *warning = leat_can_cache_warning(cache);
    char reader[LEAT_READER_WORDS_BYTES];
    leat_json_key(json, "warnings");
    leat_json_begin_array(json);
    if (leat_can_reader_words(reader, cache)[0] != 0) leat_json_string(json, reader);
    if (warning[0] != 0) leat_json_string(json, warning);
    leat_json_end_array(json);
    leat_json_member_int(json, "vocabulary", facts.vocab_count);
    leat_json_member_int(json, "identifiers", facts.id_count);
    leat_json_key(json, "splits");
    leat_json_begin_object(json);
    for (int i = 0; i < s->split_count; i++) put_split(json, cache, &s->splits[i]);
    leat_json_end_object(json);
    put_windows(json, s);
    put_values(json, s);
    put_identifiers(json, s);
    leat_json_key(json, "captures");
    leat_json_begin_array(json);
    for (int64_t i = 0; i < s->capture_count; i++) put_capture(json, &s->captures[i]);
    leat_json_end_array(json);
}

void leat_can_report_json(leat_json *json, const void *of) {
    const leat_can_report *report = of;
    leat_json_member_string(json, "path", report->name);
    if (report->summary != NULL) put_summary(json, report->cache, report->summary);
    if (report->verify != NULL) put_verify(json, report->verify);
}
