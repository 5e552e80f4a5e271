/*
 * Verification of a CAN cache: splits, captures and metadata against each other. Each window of a
 * graph is marked in a table of all windows of all captures, so that the frames of a capture can be
 * counted again.
 */
#include <string.h>

#include "load/can/verify.h"

typedef enum side { NOWHERE, TRAINING, VALIDATION } side;

typedef struct table {
    leat_can_verify *job;
    const leat_graph_file *file; /* of the current split */
    int64_t *first;              /* of each capture, where its windows begin */
    uint8_t *sides;              /* of each window */
} table;

/* ---- marking -------------------------------------------------------------------------------- */

static leat_code mark(table *all, const leat_can_meta_split *split, int64_t graph,
                      leat_error *err) {
    const leat_can_meta *meta = &all->job->meta;
    const leat_can_file_name name = leat_can_tensors_name(split);
    leat_can_graph_facts facts;
    leat_error cause = {0};
    if (leat_graph_file_facts_of(all->file, graph, &facts, &cause) != LEAT_OK)
        return leat_checks_tell(&all->job->checks.findings, name.text, graph, &cause, err);
    /* its graphs were intact when they were checked; the file may have changed since */
    if (facts.capture >= meta->capture_count || facts.window_start < 0 ||
        facts.window_start / meta->stride >= meta->captures[facts.capture].windows) {
        LEAT_PROBLEM(&all->job->checks.findings, name.text, graph, "changed while it was verified");
        return LEAT_OK;
    }
    uint8_t *at = &all->sides[all->first[facts.capture] + facts.window_start / meta->stride];
    if (*at != NOWHERE)
        LEAT_PROBLEM(&all->job->checks.findings, name.text, graph,
                     "the window at frame %lld of capture %d belongs to another graph too",
                     (long long)facts.window_start, facts.capture);
    *at = strcmp(split->name, LEAT_CAN_SPLIT_VAL) == 0 ? VALIDATION : TRAINING;
    return LEAT_OK;
}

/* ---- a split against its metadata ----------------------------------------------------------- */

static int64_t nodes_of(const void *context, int64_t i) {
    const leat_graph_file *file = context;
    return file->node_ptr[i + 1] - file->node_ptr[i];
}

static int64_t edges_of(const void *context, int64_t i) {
    const leat_graph_file *file = context;
    return file->edge_ptr[i + 1] - file->edge_ptr[i];
}

static bool sizes_are(const leat_can_sizes *a, const leat_can_sizes *b) {
    return a->min == b->min && a->max == b->max && a->mean == b->mean && a->p95 == b->p95 &&
           a->p99 == b->p99;
}

static int64_t balance_of(const leat_can_meta_split *split, const char *attack) {
    for (int i = 0; i < split->balance_count; i++)
        if (strcmp(split->balance[i].attack, attack) == 0) return split->balance[i].windows;
    return 0;
}

static void check_facts(table *all, const leat_can_meta_split *split) {
    leat_findings *findings = &all->job->checks.findings;
    const char *file = leat_can_document_name(LEAT_CAN_METADATA);
    int64_t windows[LEAT_CAN_ATTACKS_MAX + 1] = {0}; /* by type + 1 */
    leat_can_sizes nodes = leat_can_sizes_of(nodes_of, all->file, split->graphs, split->nodes);
    leat_can_sizes edges = leat_can_sizes_of(edges_of, all->file, split->graphs, split->edges);
    if (!sizes_are(&nodes, &split->node_count))
        LEAT_PROBLEM(findings, file, -1,
                     "split %s: graph_stats.node_count does not match its graphs", split->name);
    if (!sizes_are(&edges, &split->edge_count))
        LEAT_PROBLEM(findings, file, -1,
                     "split %s: graph_stats.edge_count does not match its graphs", split->name);
    const char *unknown = leat_can_attack_name_of(1, 0);
    int64_t unknown_said = balance_of(split, unknown), unknown_found = 0;
    for (int64_t g = 0; g < split->graphs; g++) {
        bool is_unknown = all->file->y[g] > 0 && all->file->attack_type[g] == 0;
        unknown_found += is_unknown;
        /* the first caches counted them as benign */
        if (!is_unknown || unknown_said == 0) windows[all->file->attack_type[g] + 1]++;
    }
    if (unknown_said != 0 && unknown_said != unknown_found)
        LEAT_PROBLEM(findings, file, -1,
                     "split %s: attack_balance has %lld windows of %s, but there are %lld",
                     split->name, (long long)unknown_said, unknown, (long long)unknown_found);
    for (int type = -1; type < LEAT_CAN_ATTACKS_MAX; type++) {
        const char *attack = leat_can_attack_name(type);
        int64_t said = attack[0] != 0 ? balance_of(split, attack) : 0;
        if (windows[type + 1] != said)
            LEAT_PROBLEM(findings, file, -1,
                         "split %s: attack_balance has %lld windows of %s, but there are %lld",
                         split->name, (long long)said, attack, (long long)windows[type + 1]);
    }
}

static leat_code mark_split(table *all, const leat_can_meta_split *split, leat_error *err) {
    LEAT_TRY(leat_can_cache_file(all->job->cache, split->name, &all->file, err));
    for (int64_t g = 0; g < split->graphs; g++) LEAT_TRY(mark(all, split, g, err));
    check_facts(all, split);
    return LEAT_OK;
}

/* ---- a capture against its windows ---------------------------------------------------------- */

/* What happened to a capture's frames, computed from its windows. */
typedef struct course {
    int64_t covered, kept; /* frames in any window; in one with a graph */
    int64_t end;           /* frame after the last window */
    int64_t shared;        /* first frame of both training and validation; -1: none */
} course;

static course course_of(const table *all, int64_t number) {
    const leat_can_meta *meta = &all->job->meta;
    const uint8_t *sides = all->sides + all->first[number];
    course at = {.shared = -1};
    int64_t kept_end = 0, before = NOWHERE;
    for (int64_t i = 0; i < meta->captures[number].windows; i++) {
        int64_t begin = i * meta->stride, end = begin + meta->window;
        at.covered += end - (begin > at.end ? begin : at.end);
        at.end = end;
        if (sides[i] == NOWHERE) continue;
        if (sides[i] != before && before != NOWHERE && begin < kept_end && at.shared < 0)
            at.shared = begin;
        at.kept += end - (begin > kept_end ? begin : kept_end);
        kept_end = end;
        before = sides[i];
    }
    return at;
}

static void expect(table *all, int64_t number, const char *what, int64_t said, int64_t counted) {
    if (said == counted) return;
    LEAT_PROBLEM(&all->job->checks.findings, leat_can_document_name(LEAT_CAN_METADATA), -1,
                 "capture %lld (\"%.100s\"): %s is %lld, but %lld by its windows",
                 (long long)number, all->job->meta.captures[number].file, what, (long long)said,
                 (long long)counted);
}

static void check_capture(table *all, int64_t number) {
    const leat_can_meta *meta = &all->job->meta;
    const leat_can_meta_capture *capture = &meta->captures[number];
    const char *cuts = leat_can_meta_get(meta, "val-split");
    course at = course_of(all, number);
    int64_t frames = 0;
    expect(all, number, "tail", capture->tail, capture->frames - at.end);
    expect(all, number, "between", capture->between, at.end - at.covered);
    expect(all, number, "dropped", capture->dropped, at.covered - at.kept);
    for (int64_t i = 0; i < capture->interval_count; i++) frames += capture->intervals[i].frames;
    expect(all, number, "frames of its identifiers", frames, capture->frames);
    if (at.shared >= 0 && (cuts == NULL || strcmp(cuts, "blocks") == 0))
        LEAT_PROBLEM(&all->job->checks.findings, leat_can_document_name(LEAT_CAN_METADATA), -1,
                     "capture %lld (\"%.100s\"): frame %lld is in train and in val",
                     (long long)number, capture->file, (long long)at.shared);
}

/* ---- all of them ---------------------------------------------------------------------------- */

static void check_samples(table *all, const leat_can_meta_split *split) {
    const leat_can_meta *meta = &all->job->meta;
    int64_t frames = 0;
    if (strcmp(split->name, LEAT_CAN_SPLIT_VAL) == 0) return;
    for (int64_t i = 0; i < meta->capture_count; i++)
        if (strcmp(meta->captures[i].split, split->name) == 0) frames += meta->captures[i].frames;
    if (frames != split->raw_samples)
        LEAT_PROBLEM(&all->job->checks.findings, leat_can_document_name(LEAT_CAN_METADATA), -1,
                     "split %s: num_raw_samples is %lld, but its captures have %lld frames",
                     split->name, (long long)split->raw_samples, (long long)frames);
}

/* Counts the windows of all captures; the metadata must agree before the table is allocated. A
 * window without a graph was dropped. */
static leat_code count_windows(table *all, int64_t *count, leat_error *err) {
    const leat_can_meta *meta = &all->job->meta;
    const char *file = leat_can_document_name(LEAT_CAN_METADATA);
    LEAT_TRY(LEAT_NEW(&all->first, meta->capture_count, err));
    for (int64_t i = 0; i < meta->capture_count; i++) {
        const leat_can_meta_capture *capture = &meta->captures[i];
        int64_t room = capture->frames - meta->window;
        expect(all, i, "windows", capture->windows, room < 0 ? 0 : room / meta->stride + 1);
        all->first[i] = *count;
        if (!leat_add_size(*count, capture->windows, count)) {
            LEAT_PROBLEM(&all->job->checks.findings, file, -1,
                         "the captures have 2^63 or more windows");
            return LEAT_OK;
        }
    }
    int64_t dropped = *count;
    for (int i = 0; i < meta->split_count; i++) {
        check_samples(all, &meta->splits[i]);
        dropped -= meta->splits[i].graphs;
    }
    if (dropped != meta->windows_dropped)
        LEAT_PROBLEM(&all->job->checks.findings, file, -1,
                     "num_dropped_windows is %lld, but there are %lld",
                     (long long)meta->windows_dropped, (long long)dropped);
    return LEAT_OK;
}

static leat_code check(table *all, leat_error *err) {
    leat_can_verify *job = all->job;
    int64_t count = 0, before = job->checks.findings.problems;
    LEAT_TRY(count_windows(all, &count, err));
    if (job->checks.findings.problems > before) return LEAT_OK;
    LEAT_TRY(LEAT_NEW(&all->sides, count, err));
    for (int i = 0; i < job->meta.split_count; i++)
        LEAT_TRY(mark_split(all, &job->meta.splits[i], err));
    if (job->checks.findings.problems > before) return LEAT_OK;
    for (int64_t i = 0; i < job->meta.capture_count; i++) check_capture(all, i);
    return LEAT_OK;
}

leat_code leat_can_verify_windows(leat_can_verify *job, leat_error *err) {
    table all = {.job = job};
    leat_code code = check(&all, err);
    leat_free(all.first);
    leat_free(all.sides);
    return code;
}
