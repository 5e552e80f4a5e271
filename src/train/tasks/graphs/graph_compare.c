/* Whether graphs of a cache are like those that a detector was trained on: graph_context.h. */
#include <stdio.h>
#include <string.h>

#include "leat/graph.h"
#include "load/can/cache.h"
#include "train/tasks/graphs/graph_context.h"

/* Settings that decide what a graph of given frames looks like. */
static const char *const decisive[] = {"identifiers", "payload", "edge-step", "self-loops", "bus"};

/* What makes a cache that fits; `option` is "" or ends in a space. */
#define REMEDY                                                                                     \
    "run its `leat ingest can` again with %s--like DIR/NAME-%.16s, the path of the run's cache"

/* Of buses, whether they are one sequence of frames. */
static bool is_same(const char *name, const char *there, const char *here) {
    if (strcmp(name, "bus") != 0) return strcmp(there, here) == 0;
    return (strcmp(there, "merge") == 0) == (strcmp(here, "merge") == 0);
}

static leat_code compare_settings(const leat_graph_context *context, const leat_can_cache *cache,
                                  leat_error *err) {
    char option[128];
    for (size_t i = 0; i < sizeof decisive / sizeof *decisive; i++) {
        const char *name = decisive[i];
        const char *there = leat_graph_context_setting(context, name);
        const char *here = leat_can_meta_get(&cache->meta, name);
        if (there == NULL) there = "none";
        if (here == NULL) here = "none";
        if (is_same(name, there, here)) continue;
        snprintf(option, sizeof option, "--%s %.60s ", name, there);
        return leat_fail(err, LEAT_ERR_OPTION,
                         "\"%.200s\": %s is %.60s (preset %s), but the run was trained on a cache "
                         "with %.60s (preset %s); " REMEDY,
                         cache->path, name, here, cache->meta.preset, there, context->preset,
                         option, context->cache);
    }
    return LEAT_OK;
}

static leat_code compare_window(const leat_graph_context *context, const leat_can_cache *cache,
                                leat_error *err) {
    const int64_t there = context->window, here = cache->meta.window;
    char option[64];
    if (there == here) return LEAT_OK;
    snprintf(option, sizeof option, "--window %lld ", (long long)there);
    return leat_fail(err, LEAT_ERR_OPTION,
                     "\"%.200s\": windows of %lld frames, but the run was trained on windows of "
                     "%lld; " REMEDY,
                     cache->path, (long long)here, (long long)there, option, context->cache);
}

static leat_code compare_identifiers(const leat_graph_context *context, const leat_can_cache *cache,
                                     leat_error *err) {
    const leat_can_ids *ids = &cache->meta.ids;
    const int64_t both =
        ids->known < context->identifier_count ? ids->known : context->identifier_count;
    int64_t i = 0;
    while (i < both && strcmp(ids->text[i], context->identifiers[i].text) == 0) i++;
    if (i == ids->known && i == context->identifier_count) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION,
                     "\"%.200s\": its vocabulary of %lld identifiers is not the one of %lld that "
                     "the run was trained with: number %lld is %s here, and %s there; " REMEDY,
                     cache->path, (long long)ids->known, (long long)context->identifier_count,
                     (long long)i + 1, i < ids->known ? ids->text[i] : "missing",
                     i < context->identifier_count ? context->identifiers[i].text : "missing", "",
                     context->cache);
}

typedef struct scaler_part {
    const double *there, *here;
    int count;
    const char *(*name)(int index);
    const char *what;
} scaler_part;

static leat_code compare_scaler(const leat_graph_context *context, const leat_can_cache *cache,
                                leat_error *err) {
    const leat_can_scaler_values *there = &context->scaler, *here = &cache->meta.scaler;
    const scaler_part parts[] = {
        {there->x_center, here->x_center, LEAT_CAN_X_COLUMNS, leat_node_feature_name, "center"},
        {there->x_scale, here->x_scale, LEAT_CAN_X_COLUMNS, leat_node_feature_name, "scale"},
        {there->edge_center, here->edge_center, LEAT_CAN_EDGE_COLUMNS, leat_edge_feature_name,
         "center"},
        {there->edge_scale, here->edge_scale, LEAT_CAN_EDGE_COLUMNS, leat_edge_feature_name,
         "scale"}};
    char names[2][LEAT_CAN_WORD_BYTES + 8] = {"", ""}; /* where they tell the two apart */
    if (strcmp(cache->meta.scaler_strategy, context->scaler_strategy) != 0) {
        snprintf(names[0], sizeof names[0], " (%s)", cache->meta.scaler_strategy);
        snprintf(names[1], sizeof names[1], " (%s)", context->scaler_strategy);
    }
    for (int p = 0; p < 4; p++) {
        const scaler_part *of = &parts[p];
        for (int i = 0; i < of->count; i++) {
            if (memcmp(&of->there[i], &of->here[i], sizeof *of->here) == 0) continue;
            return leat_fail(err, LEAT_ERR_OPTION,
                             "\"%.200s\": its scaler%s is not the one%s that the run was "
                             "trained with: the %s of %s is %.9g here, and %.9g there; " REMEDY,
                             cache->path, names[0], names[1], of->what, of->name(i), of->here[i],
                             of->there[i], "", context->cache);
        }
    }
    return LEAT_OK;
}

leat_code leat_graph_context_compare(const leat_graph_context *context, const leat_can_cache *cache,
                                     leat_error *err) {
    LEAT_TRY(compare_window(context, cache, err));
    LEAT_TRY(compare_settings(context, cache, err));
    LEAT_TRY(compare_identifiers(context, cache, err));
    return compare_scaler(context, cache, err);
}
