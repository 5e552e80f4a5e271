/* See plain.h. While it is built, a table's deviations are sums of squared differences. */
#include "train/eval/plain.h"

#include <math.h>

#include "base/error.h"
#include "base/mem.h"

struct leat_plain {
    int64_t ids, features, graphs, rows;
    int64_t *count; /* [ids] */
    double *mean;   /* [ids, features] */
    double *square; /* [ids, features] sum of squared differences from the mean */
};

static leat_code check_size(int64_t ids, int64_t features, leat_error *err) {
    if (ids < 1 || ids > LEAT_PLAIN_IDS_MAX || features < 1 || features > LEAT_PLAIN_FEATURES_MAX)
        return leat_fail(err, LEAT_ERR_LIMIT,
                         "table of %lld identifiers and %lld features: 1 to %lld and 1 to %d are "
                         "possible",
                         (long long)ids, (long long)features, (long long)LEAT_PLAIN_IDS_MAX,
                         LEAT_PLAIN_FEATURES_MAX);
    return LEAT_OK;
}

int64_t leat_plain_bytes(int64_t ids, int64_t features) {
    if (check_size(ids, features, NULL) != LEAT_OK) return INT64_MAX;
    const int64_t wide = (2 * ids + 2) * features * (int64_t)sizeof(double);
    return wide + ids * (int64_t)sizeof(int64_t) + (int64_t)sizeof(leat_plain_table);
}

/* ---- table -------------------------------------------------------------------------------- */

void leat_plain_table_destroy(leat_plain_table *table) {
    if (table == NULL) return;
    leat_free(table->count);
    leat_free(table->mean);
    leat_free(table->deviation);
    leat_free(table->pooled_mean);
    leat_free(table->pooled_deviation);
    leat_free(table);
}

static leat_code fill_table(leat_plain_table *table, int64_t ids, int64_t features,
                            leat_error *err) {
    table->ids = ids;
    table->features = features;
    LEAT_TRY(LEAT_NEW(&table->count, ids, err));
    LEAT_TRY(LEAT_NEW(&table->mean, ids * features, err));
    LEAT_TRY(LEAT_NEW(&table->deviation, ids * features, err));
    LEAT_TRY(LEAT_NEW(&table->pooled_mean, features, err));
    return LEAT_NEW(&table->pooled_deviation, features, err);
}

leat_code leat_plain_table_create(leat_plain_table **out, int64_t ids, int64_t features,
                                  leat_error *err) {
    *out = NULL;
    LEAT_TRY(check_size(ids, features, err));
    leat_plain_table *table = NULL;
    LEAT_TRY(LEAT_NEW(&table, 1, err));
    leat_code code = fill_table(table, ids, features, err);
    if (code == LEAT_OK) *out = table;
    else leat_plain_table_destroy(table);
    return code;
}

leat_code leat_plain_table_check(const leat_plain_table *table, leat_error *err) {
    LEAT_TRY(check_size(table->ids, table->features, err));
    for (int64_t id = 0; id < table->ids; id++) {
        if (table->count[id] < 0)
            return leat_fail(err, LEAT_ERR_CORRUPT,
                             "plain table: identifier %lld has %lld nodes; train again",
                             (long long)id, (long long)table->count[id]);
        for (int64_t f = 0; f < table->features; f++) {
            const double mean = table->mean[id * table->features + f];
            const double deviation = table->deviation[id * table->features + f];
            if (!isfinite(mean) || !isfinite(deviation) || deviation <= 0)
                return leat_fail(err, LEAT_ERR_CORRUPT,
                                 "plain table: identifier %lld, feature %lld: mean %g, deviation "
                                 "%g; both must be finite, and the deviation above 0: train again",
                                 (long long)id, (long long)f, mean, deviation);
        }
    }
    for (int64_t f = 0; f < table->features; f++) {
        if (!isfinite(table->pooled_mean[f]) || !(table->pooled_deviation[f] >= 0) ||
            !isfinite(table->pooled_deviation[f]))
            return leat_fail(err, LEAT_ERR_CORRUPT,
                             "plain table: feature %lld: mean %g, deviation %g over all "
                             "identifiers; both must be finite: train again",
                             (long long)f, table->pooled_mean[f], table->pooled_deviation[f]);
    }
    return LEAT_OK;
}

/* ---- builder ------------------------------------------------------------------------------ */

void leat_plain_destroy(leat_plain *plain) {
    if (plain == NULL) return;
    leat_free(plain->count);
    leat_free(plain->mean);
    leat_free(plain->square);
    leat_free(plain);
}

leat_code leat_plain_create(leat_plain **out, int64_t ids, int64_t features, leat_error *err) {
    *out = NULL;
    LEAT_TRY(check_size(ids, features, err));
    leat_plain *plain = NULL;
    LEAT_TRY(LEAT_NEW(&plain, 1, err));
    plain->ids = ids;
    plain->features = features;
    leat_code code = LEAT_NEW(&plain->count, ids, err);
    if (code == LEAT_OK) code = LEAT_NEW(&plain->mean, ids * features, err);
    if (code == LEAT_OK) code = LEAT_NEW(&plain->square, ids * features, err);
    if (code == LEAT_OK) *out = plain;
    else leat_plain_destroy(plain);
    return code;
}

static leat_code check_graph(const leat_plain_graph *graph, int64_t number, int64_t ids,
                             int64_t features, leat_error *err) {
    for (int64_t n = 0; n < graph->node_count; n++) {
        if (graph->node_id[n] < 0 || graph->node_id[n] >= ids)
            return leat_fail(err, LEAT_ERR_INPUT,
                             "graph %lld, node %lld: identifier number %d; the vocabulary has 0 "
                             "to %lld: use the cache that the table was made from",
                             (long long)number, (long long)n, (int)graph->node_id[n],
                             (long long)ids - 1);
        for (int64_t f = 0; f < features; f++) {
            const float x = graph->x[n * features + f];
            if (!isfinite(x))
                return leat_fail(err, LEAT_ERR_INPUT,
                                 "graph %lld, node %lld, feature %lld: %g is not finite; the cache "
                                 "is damaged, ingest the logs again",
                                 (long long)number, (long long)n, (long long)f, (double)x);
        }
    }
    return LEAT_OK;
}

leat_code leat_plain_add(leat_plain *plain, const leat_plain_graph *graph, int64_t number,
                         leat_error *err) {
    LEAT_TRY(check_graph(graph, number, plain->ids, plain->features, err));
    for (int64_t n = 0; n < graph->node_count; n++) {
        const int64_t id = graph->node_id[n];
        const float *x = graph->x + n * plain->features;
        double *mean = plain->mean + id * plain->features;
        double *square = plain->square + id * plain->features;
        const double count = (double)++plain->count[id];
        for (int64_t f = 0; f < plain->features; f++) {
            const double before = x[f] - mean[f];
            mean[f] += before / count;
            square[f] += before * (x[f] - mean[f]);
        }
    }
    plain->rows += graph->node_count;
    plain->graphs++;
    return LEAT_OK;
}

/* Mean and deviation of one feature over the nodes of all identifiers, in their order. */
static void pool(const leat_plain *plain, int64_t feature, double *mean, double *deviation) {
    double count = 0, square = 0;
    *mean = 0;
    for (int64_t id = 0; id < plain->ids; id++) {
        const double more = (double)plain->count[id];
        if (plain->count[id] == 0) continue;
        const double apart = plain->mean[id * plain->features + feature] - *mean;
        const double all = count + more;
        *mean += apart * (more / all);
        square +=
            plain->square[id * plain->features + feature] + apart * apart * (count * more / all);
        count = all;
    }
    *deviation = sqrt(square / count);
}

static double floored(double own, double pooled) {
    if (pooled == 0) return 1;
    const double least = LEAT_PLAIN_FLOOR * pooled;
    return own > least ? own : least;
}

leat_code leat_plain_finish(const leat_plain *plain, leat_plain_table **out, leat_error *err) {
    *out = NULL;
    if (plain->rows == 0)
        return leat_fail(err, LEAT_ERR_INPUT,
                         "no benign graph to take means from; ingest a log without attacks as "
                         "training data as well");
    leat_plain_table *table = NULL;
    LEAT_TRY(leat_plain_table_create(&table, plain->ids, plain->features, err));
    table->graphs = plain->graphs;
    table->rows = plain->rows;
    for (int64_t f = 0; f < plain->features; f++)
        pool(plain, f, &table->pooled_mean[f], &table->pooled_deviation[f]);
    for (int64_t id = 0; id < plain->ids; id++) {
        /* nodes of number 0 are of different identifiers, and have no row of their own */
        const bool own = id > 0 && plain->count[id] > 0;
        table->count[id] = own ? plain->count[id] : 0;
        for (int64_t f = 0; f < plain->features; f++) {
            const int64_t at = id * plain->features + f;
            const double pooled = table->pooled_deviation[f];
            const double deviation =
                own ? sqrt(plain->square[at] / (double)plain->count[id]) : pooled;
            table->mean[at] = own ? plain->mean[at] : table->pooled_mean[f];
            table->deviation[at] = floored(deviation, pooled);
        }
    }
    *out = table;
    return LEAT_OK;
}

void leat_plain_table_narrow(leat_plain_table *table) {
    for (int64_t id = 0; id < table->ids; id++) {
        if (table->count[id] > 0) continue;
        for (int64_t f = 0; f < table->features; f++)
            table->deviation[id * table->features + f] = floored(0, table->pooled_deviation[f]);
    }
}

/* ---- scores ------------------------------------------------------------------------------- */

leat_code leat_plain_score(const leat_plain_table *table, const leat_plain_window *window,
                           leat_plain_scores *out, leat_error *err) {
    *out = (leat_plain_scores){0};
    const leat_plain_graph *graph = &window->graph;
    LEAT_ASSERT(window->count_feature >= 0 && window->count_feature < table->features);
    LEAT_TRY(check_graph(graph, window->number, table->ids, table->features, err));
    if (graph->node_count < 1)
        return leat_fail(err, LEAT_ERR_INPUT,
                         "graph %lld has no node; the cache is damaged, ingest the logs again",
                         (long long)window->number);
    leat_plain_scores scores = {
        .max_abs_z = -1, .frame_count = -1, .duration = 0 - window->seconds};
    double sum = 0;
    for (int64_t n = 0; n < graph->node_count; n++) {
        const int64_t row = graph->node_id[n] * table->features;
        if (graph->node_id[n] == 0) scores.unknown_identifiers++;
        for (int64_t f = 0; f < table->features; f++) {
            const double x = graph->x[n * table->features + f];
            const double z = fabs(x - table->mean[row + f]) / table->deviation[row + f];
            sum += z;
            if (z > scores.max_abs_z) {
                scores.max_abs_z = z;
                scores.max_node = n;
                scores.max_feature = f;
            }
            if (f == window->count_feature && z > scores.frame_count) {
                scores.frame_count = z;
                scores.frame_count_node = n;
            }
        }
    }
    scores.mean_abs_z = sum / ((double)graph->node_count * (double)table->features);
    *out = scores;
    return LEAT_OK;
}

const char *leat_plain_score_name(int index) {
    static const char *const names[LEAT_PLAIN_SCORES] = {"mean_abs_z", "max_abs_z", "frame_count",
                                                         "window_duration", "unknown_identifiers"};
    LEAT_ASSERT(index >= 0 && index < LEAT_PLAIN_SCORES);
    return names[index];
}

double leat_plain_score_value(const leat_plain_scores *scores, int index) {
    const double values[LEAT_PLAIN_SCORES] = {scores->mean_abs_z, scores->max_abs_z,
                                              scores->frame_count, scores->duration,
                                              scores->unknown_identifiers};
    LEAT_ASSERT(index >= 0 && index < LEAT_PLAIN_SCORES);
    return values[index];
}
