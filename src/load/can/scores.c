/*
 * Scores of graphs, which a curriculum ranks them by: a JSON file
 *
 *     {"fingerprint": "...", "model": "...", "capture": [...], "window_start": [...], "score":
 * [...]}
 *
 * whose three lists name each graph by its window, in any order. The curriculum decides what to do
 * with graphs without a score.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "load/can/loader.h"

/* Of the file. */
#define SCORES_BYTES_MAX (INT64_C(1) << 32)
#define VALUE_BYTES_MAX 64
#define REST_BYTES_MAX (INT64_C(1) << 16)

static const char what[] = "scores";

enum { CAPTURE, WINDOW_START, SCORE, LISTS };
static const char *const lists[LISTS] = {"capture", "window_start", "score"};

/* A graph, by its window. */
typedef struct window {
    int64_t window_start;
    int32_t capture;
    uint32_t graph;
} window;

static int by_window(const void *a, const void *b) {
    const window *one = a, *two = b;
    if (one->capture != two->capture) return one->capture < two->capture ? -1 : 1;
    if (one->window_start != two->window_start)
        return one->window_start < two->window_start ? -1 : 1;
    return 0;
}

static leat_code list_windows(const leat_graph_file *file, window **out, leat_error *err) {
    int64_t graphs = file->shape.graphs;
    window *windows = NULL;
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&windows, graphs, err));
    for (int64_t g = 0; g < graphs; g++) {
        leat_can_graph_facts facts;
        leat_code code = leat_graph_file_facts_of(file, g, &facts, err);
        if (code != LEAT_OK) {
            leat_free(windows);
            return code;
        }
        windows[g] = (window){facts.window_start, facts.capture, (uint32_t)g};
    }
    qsort(windows, (size_t)graphs, sizeof *windows, by_window);
    *out = windows;
    return LEAT_OK;
}

/* Whether a value is what Python's json writes for a number that is not finite, which is not JSON.
 */
static bool is_not_finite(leat_json_span value) {
    static const char *const words[] = {"NaN", "Infinity", "-Infinity"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t size = strlen(words[i]);
        if (value.size_bytes == (int64_t)size && memcmp(value.text, words[i], size) == 0)
            return true;
    }
    return false;
}

/* The next number of the list `name`; *more is false after the last. */
static leat_code next_number(leat_json_walk *walk, const char *name, bool *more, double *number,
                             leat_error *err) {
    json_t *value = NULL;
    LEAT_TRY(leat_json_walk_next(walk, more, err));
    if (!*more) return LEAT_OK;
    if (is_not_finite(walk->value))
        return leat_fail(err, LEAT_ERR_INPUT,
                         "item %lld of the list \"%s\" is %.*s; scores must be finite numbers",
                         (long long)walk->count - 1, name, (int)walk->value.size_bytes,
                         walk->value.text);
    LEAT_TRY(leat_json_walk_value(walk, VALUE_BYTES_MAX, &value, err));
    bool is_number = json_is_number(value);
    *number = json_number_value(value);
    json_decref(value);
    if (is_number) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_INPUT, "item %lld of the list \"%s\" is not a number",
                     (long long)walk->count - 1, name);
}

static leat_code put_score(const leat_graph_file *file, const window *windows,
                           const double item[LISTS], double *scores, leat_error *err) {
    /* compared as doubles, since converting a number out of range is undefined */
    bool in_range = fabs(item[CAPTURE]) < 0x1p31 && fabs(item[WINDOW_START]) < 0x1p53;
    window key = {.window_start = in_range ? (int64_t)item[WINDOW_START] : -1,
                  .capture = in_range ? (int32_t)item[CAPTURE] : -1};
    bool whole =
        item[CAPTURE] == (double)key.capture && item[WINDOW_START] == (double)key.window_start;
    const window *found =
        bsearch(&key, windows, (size_t)file->shape.graphs, sizeof *windows, by_window);
    if (found == NULL || !whole) {
        return leat_fail(
            err, LEAT_ERR_INPUT,
            "split %s has no graph of capture %g, window %g; the scores are of other graphs",
            file->split, item[CAPTURE], item[WINDOW_START]);
    }
    if (!isnan(scores[found->graph])) {
        return leat_fail(err, LEAT_ERR_INPUT, "capture %g, window %g is listed twice",
                         item[CAPTURE], item[WINDOW_START]);
    }
    scores[found->graph] = item[SCORE];
    return LEAT_OK;
}

static leat_code read_lists(const leat_graph_file *file, const leat_json_span spans[LISTS],
                            const window *windows, double *scores, leat_error *err) {
    leat_json_walk walks[LISTS];
    for (int i = 0; i < LISTS; i++) {
        if (spans[i].text == NULL)
            return leat_fail(err, LEAT_ERR_INPUT, "the list \"%s\" is missing", lists[i]);
        LEAT_TRY(leat_json_walk_array(&walks[i], spans[i], what, err));
    }
    for (;;) {
        bool more[LISTS];
        double item[LISTS];
        for (int i = 0; i < LISTS; i++)
            LEAT_TRY(next_number(&walks[i], lists[i], &more[i], &item[i], err));
        if (more[CAPTURE] != more[SCORE] || more[WINDOW_START] != more[SCORE])
            return leat_fail(err, LEAT_ERR_INPUT, "its lists differ in length");
        if (!more[SCORE]) return LEAT_OK;
        LEAT_TRY(put_score(file, windows, item, scores, err));
    }
}

static leat_code check_fingerprint(const json_t *rest, const char *fingerprint, leat_error *err) {
    const char *theirs = NULL;
    LEAT_TRY(leat_json_get_string(rest, "fingerprint", &theirs, what, err));
    if (strcmp(theirs, fingerprint) == 0) return LEAT_OK;
    return leat_fail(
        err, LEAT_ERR_INPUT,
        "the scores are of a cache with fingerprint %.64s, but this one has %s; score it again",
        theirs, fingerprint);
}

/* Of leat eval --scores; what others write need not say it. */
static leat_code check_score(const json_t *rest, leat_error *err) {
    const char *theirs = NULL;
    if (json_object_get(rest, "score_name") == NULL) return LEAT_OK;
    LEAT_TRY(leat_json_get_string(rest, "score_name", &theirs, what, err));
    if (strcmp(theirs, "difficulty") == 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_INPUT,
                     "the scores are \"%.40s\", which do not say how hard a benign graph is; use "
                     "those of leat eval --score difficulty --scores FILE",
                     theirs);
}

static leat_code parse(const leat_graph_file *file, leat_json_span text, const char *fingerprint,
                       double *scores, leat_error *err) {
    leat_json_span spans[LISTS];
    json_t *rest = NULL;
    window *windows = NULL;
    LEAT_TRY(leat_json_split(text, (leat_json_large){lists, LISTS, spans}, REST_BYTES_MAX, what,
                             &rest, err));
    leat_code code = check_fingerprint(rest, fingerprint, err);
    if (code == LEAT_OK) code = check_score(rest, err);
    json_decref(rest);
    if (code == LEAT_OK) code = list_windows(file, &windows, err);
    if (code == LEAT_OK) code = read_lists(file, spans, windows, scores, err);
    leat_free(windows);
    return code;
}

leat_code leat_graph_scores_load(double **scores, char sha256[65], const char *path,
                                 const leat_can_cache *cache, const leat_graph_file *file,
                                 leat_error *err) {
    leat_can_facts facts;
    uint8_t *text = NULL;
    double *made = NULL;
    int64_t size_bytes = 0;
    *scores = NULL;
    leat_can_cache_get_facts(cache, &facts);
    LEAT_TRY(leat_file_load(path, SCORES_BYTES_MAX, &text, &size_bytes, err));
    leat_sha256_hex_of(text, size_bytes, sha256);
    leat_code code = LEAT_NEW(&made, file->shape.graphs, err);
    if (code == LEAT_OK) {
        for (int64_t g = 0; g < file->shape.graphs; g++) made[g] = NAN;
        leat_json_span span = {(const char *)text, size_bytes};
        code = parse(file, span, facts.fingerprint, made, err);
        if (code != LEAT_OK) {
            code = code == LEAT_ERR_CORRUPT ? LEAT_ERR_INPUT : code; /* as the JSON reader says */
            leat_error_context(err, code, "\"%s\"", path);
        }
    }
    leat_free(text);
    if (code != LEAT_OK) leat_free(made);
    else *scores = made;
    return code;
}
