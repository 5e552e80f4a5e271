/*
 * What leat eval shows, linked with the command and run in its place, of an evaluation that is made
 * up: labels, captures and frames are those of a CAN cache, scores are a hash of where a window is,
 * and higher with an attack. The functions of src/train/eval make numbers of them.
 *
 *     leat_eval_shown CACHE one|seeds|benign|unlabelled|many|foreign terminal|parts|json|page
 *
 * seeds: three runs. benign: no window has an attack. unlabelled: none has a label. many: the
 * windows of a split are those of a capture, many times. foreign: the run was trained on another
 * cache with few benign windows of validation, its score is a probability, and no plain table has a
 * higher AUROC.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/internal.h"
#include "eval/eval.h"
#include "train/eval/summary.h"
#include "train/eval/threshold.h"

enum { WINDOWS = 4096, SPLITS = 8, RUNS = 3, PLAIN = 5, METHODS = RUNS + PLAIN, MANY = 1500 };

typedef struct split {
    int64_t count;
    double score[METHODS][WINDOWS], seconds[WINDOWS], injected[WINDOWS];
    int32_t label[WINDOWS], attack[WINDOWS], vehicle[WINDOWS], capture[WINDOWS], first[WINDOWS];
    int64_t start[WINDOWS];
    const double *scores[METHODS];
    int32_t blamed[WINDOWS];
    const int32_t *blames[METHODS];
    leat_eval_point points[METHODS][LEAT_EVAL_CURVE];
    leat_evaluation_result results[METHODS];
    leat_evaluation_spread spread;
} split;

static split splits[SPLITS + 1]; /* the last one is val */
static const char *const plain_names[PLAIN] = {"mean_abs_z", "max_abs_z", "frame_count",
                                               "window_duration", "unknown_identifiers"};
static const leat_blame_count identifiers[] = {{12, "2C0", 31, 29}, {0, "unknown", 7, 7}};
static const leat_blame_count features[] = {{4, "rate_mean", 20, 18}};

static const leat_blame_share shares[] = {
    {-1, 42, 40, 36, {.value = 0.9}, {.low = 0.77, .high = 0.96}},
    {17,
     0,
     0,
     0,
     {.value = NAN, .undefined = LEAT_EVAL_NO_DETECTION},
     {.low = NAN, .high = NAN, .undefined = LEAT_EVAL_NO_DETECTION}},
};

static void check(leat_code code, const leat_error *err) {
    if (code == LEAT_OK) return;
    fprintf(stderr, "%s\n", err->message);
    exit(3);
}

static double noise(uint64_t at) {
    at = (at ^ at >> 30) * 0xbf58476d1ce4e5b9u;
    at = (at ^ at >> 27) * 0x94d049bb133111ebu;
    return (double)((at ^ at >> 31) >> 11) * 0x1p-53;
}

static void read_window(split *out, int64_t i, const leat_can_graph_facts *graph, const char *kind,
                        const leat_can_cache *cache) {
    leat_can_capture_facts capture = {0};
    leat_error err = {0};
    check(leat_can_cache_get_capture(cache, graph->capture, &capture, &err), &err);
    out->label[i] = strcmp(kind, "unlabelled") == 0 ? -1 : graph->y;
    if (strcmp(kind, "benign") == 0) out->label[i] = 0;
    out->attack[i] = graph->attack_type;
    out->vehicle[i] = capture.vehicle;
    out->capture[i] = graph->capture;
    out->start[i] = graph->window_start;
    out->first[i] = graph->attack_first < 0 ? 0 : graph->attack_first;
    out->seconds[i] = 0.05 + 0.01 * noise((uint64_t)graph->window_start);
    out->injected[i] = out->seconds[i] / 2;
    for (int m = 0; m < METHODS; m++) {
        const double strength = m < RUNS ? 1.5 - 0.3 * m : m == RUNS ? 2.5 : 0.1 * m;
        const uint64_t key = (uint64_t)graph->window_start * 977 + (uint64_t)graph->capture * 7919;
        out->score[m][i] = 2 * exp(4 * noise(key * METHODS + (uint64_t)m) + strength * graph->y);
    }
}

static void repeat(split *out) {
    const int64_t count = out->count;
    for (; out->count < MANY; out->count++) {
        const int64_t i = out->count, from = i % count;
        for (int m = 0; m < METHODS; m++) out->score[m][i] = out->score[m][from];
        out->seconds[i] = out->seconds[from];
        out->injected[i] = out->injected[from];
        out->label[i] = out->label[from];
        out->attack[i] = out->attack[from];
        out->vehicle[i] = out->vehicle[from];
        out->capture[i] = out->capture[from];
        out->first[i] = out->first[from];
        out->start[i] = out->start[from] + 1000000 * (i / count);
    }
}

static void read_split(split *out, const leat_can_cache *cache, const char *name,
                       const char *kind) {
    leat_can_reader *reader = NULL;
    leat_can_split facts;
    leat_can_graph_facts graph;
    leat_error err = {0};
    check(leat_can_cache_find_split(cache, name, &facts, &err), &err);
    check(leat_can_reader_create(&reader, cache, name, LEAT_SCALE_NONE, &err), &err);
    for (int64_t i = 0; i < facts.graph_count && i < WINDOWS; i++) {
        check(leat_can_reader_facts(reader, i, &graph, &err), &err);
        read_window(out, out->count++, &graph, strcmp(name, "val") == 0 ? "one" : kind, cache);
    }
    leat_can_reader_destroy(reader);
    if (strcmp(kind, "many") == 0 && strcmp(name, "val") != 0) repeat(out);
}

static leat_eval_windows windows_of(const split *of, const leat_can_facts *facts, int method) {
    return (leat_eval_windows){
        of->count, facts->window, facts->stride, method < 0 ? NULL : of->score[method],
        of->label, of->attack,    of->vehicle,   of->capture,
        of->start, of->first,     of->seconds,   of->injected};
}

static void evaluate(split *of, const leat_can_facts *facts, int method, int at,
                     const leat_threshold *threshold) {
    leat_eval_summary *summary = NULL;
    leat_evaluation_result *result = &of->results[at];
    leat_eval_ranking ranking;
    leat_error err = {0};
    const leat_eval_windows windows = windows_of(of, facts, method);
    leat_eval_options options = {.threshold = threshold->value,
                                 .bootstrap = {.seed = 0, .replicates = 20, .block_windows = 3}};
    if (of->label[0] < 0) return;
    check(leat_eval_summary_create(&summary, &windows, &options, &err), &err);
    check(leat_eval_ranking_init(&ranking, windows.score, windows.label, windows.count, &err),
          &err);
    result->curve_count = leat_eval_curve(&ranking, LEAT_EVAL_CURVE, of->points[at]);
    result->curve = of->points[at];
    result->summary = summary;
    if (at == 0) {
        result->identifiers = identifiers;
        result->identifier_count = 2;
        result->features = features;
        result->feature_count = 1;
        result->shares = shares;
        result->share_count = 2;
    }
    leat_eval_ranking_free(&ranking);
}

static void make_spread(split *of) {
    for (int m = 0; m < LEAT_EVAL_METRIC_COUNT; m++) {
        double sum = 0, squares = 0;
        for (int r = 0; r < RUNS; r++) sum += of->results[r].summary->groups[0].metrics[m].value;
        for (int r = 0; r < RUNS; r++)
            squares += pow(of->results[r].summary->groups[0].metrics[m].value - sum / RUNS, 2);
        of->spread.mean[m].value = sum / RUNS;
        of->spread.deviation[m].value = sqrt(squares / (RUNS - 1));
    }
}

static leat_evaluated_run run_of(const char *hash, const char *data, bool best) {
    return (leat_evaluated_run){.path = "run",
                                .model = "vgae",
                                .run = hash,
                                .data = data,
                                .step = 120,
                                .state = hash,
                                .best = best,
                                .measure = "val_loss",
                                .measured = 0.25,
                                .train_graphs = 100,
                                .val_graphs = 20};
}

static void make_foreign(leat_eval_group *group) {
    group->ece = (leat_eval_number){.value = 0.03125};
    if (group->attack_windows > 0) group->metrics[LEAT_EVAL_AUROC].value = 1;
}

static void show_page(const leat_eval_report *report) {
    leat_textbuf *text = NULL;
    const char *words = "";
    int64_t size_bytes = 0;
    leat_error err = {0};
    check(leat_page_render(&text, NULL, leat_eval_page, report, &err), &err);
    check(leat_textbuf_finish(text, &words, &size_bytes, &err), &err);
    fwrite(words, 1, (size_t)size_bytes, stdout);
    leat_textbuf_destroy(text);
}

static void write_members(leat_json *json, const void *of) {
    leat_facts_json(json, leat_facts_eval.rows, of);
}

static void show(const leat_eval_report *report, const char *form) {
    leat_cli cli = {0};
    if (strcmp(form, "page") == 0) show_page(report);
    else if (strcmp(form, "json") == 0) exit(leat_out_object(&cli, write_members, report));
    else leat_eval_terminal(&cli, report);
}

__attribute__((constructor)) static void run(int count, char **words) {
    static char hash[65];
    static leat_evaluation_method methods[METHODS];
    static leat_evaluation_split shown[SPLITS];
    static leat_evaluated_run runs[RUNS];
    leat_evaluation of = {.splits = shown, .methods = methods, .runs = runs, .note = ""};
    leat_eval_report report = {.of = &of, .intervals = true, .block_windows = 3};
    leat_can_cache *cache = NULL;
    leat_can_split split;
    leat_error err = {0};
    if (count != 4) exit(2);
    const bool foreign = strcmp(words[2], "foreign") == 0;
    memset(hash, 'a', sizeof hash - 1);
    report.parts = strcmp(words[3], "parts") == 0;
    check(leat_can_cache_open(&cache, words[1], &err), &err);
    leat_can_cache_get_facts(cache, &report.facts);
    report.cache = cache;
    of.cache = report.facts.path;
    of.fingerprint = report.facts.fingerprint;
    of.dataset = report.facts.dataset;
    of.run_count = strcmp(words[2], "seeds") == 0 ? RUNS : 1;
    if (of.run_count > 1) of.note = "the runs have 3 seeds";
    read_split(&splits[SPLITS], cache, "val", words[2]);
    for (int m = 0; m < METHODS; m++) {
        if (m >= of.run_count && m < RUNS) continue;
        leat_evaluation_method *method = &methods[of.method_count++];
        *method = (leat_evaluation_method){.name = m < RUNS ? "vgae" : plain_names[m - RUNS],
                                           .score = m < RUNS ? "residual" : "plain",
                                           .run = m < RUNS ? m : -1};
        const leat_eval_windows val = windows_of(&splits[SPLITS], &report.facts, m);
        check(leat_threshold_fit_fpr(&method->threshold, &val, "val", 0.1, &err), &err);
    }
    for (int r = 0; r < of.run_count; r++)
        runs[r] = run_of(hash, foreign ? hash : of.fingerprint, r == 0);
    if (foreign) {
        methods[0].threshold.benign = 7;
        methods[0].threshold.allowed = 0;
        methods[0].threshold.exceeding = 0;
    }
    for (int s = 0; s < report.facts.split_count && of.split_count < SPLITS; s++) {
        check(leat_can_cache_get_split(cache, s, &split, &err), &err);
        if (strncmp(split.name, "test", 4) != 0) continue;
        const int at = of.split_count++;
        read_split(&splits[at], cache, split.name, words[2]);
        for (int m = 0, place = 0; m < METHODS; m++) {
            if (m >= of.run_count && m < RUNS) continue;
            splits[at].scores[place] = splits[at].score[m];
            splits[at].blames[place] = place == 0 ? splits[at].blamed : NULL;
            evaluate(&splits[at], &report.facts, m, place, &methods[place].threshold);
            if (foreign && place == 0) make_foreign(&splits[at].results[0].summary->groups[0]);
            place++;
        }
        if (of.run_count > 1) make_spread(&splits[at]);
        shown[at] =
            (leat_evaluation_split){.name = split.name,
                                    .windows = windows_of(&splits[at], &report.facts, -1),
                                    .scores = splits[at].scores,
                                    .blamed_identifiers = splits[at].blames,
                                    .blamed_features = splits[at].blames,
                                    .unlabelled = splits[at].label[0] < 0 ? splits[at].count : 0,
                                    .results = splits[at].results,
                                    .spread = of.run_count > 1 ? &splits[at].spread : NULL};
    }
    show(&report, words[3]);
    exit(fflush(stdout) == 0 ? 0 : 1);
}
