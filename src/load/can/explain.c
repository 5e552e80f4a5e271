/* What batches hold, found by planning again: one, with the facts of each graph; or all of an
 * epoch, as lists. */
#include "load/can/loader.h"

static leat_code list_graphs(const leat_graph_loader *loader, const leat_graph_epoch *epoch,
                             leat_graph_explanation *out, leat_error *err) {
    const uint32_t *graphs = epoch->graph + epoch->first[out->batch];
    out->batch_count = epoch->batch_count;
    out->tiers = epoch->tiers;
    out->graph_count = epoch->first[out->batch + 1] - epoch->first[out->batch];
    LEAT_TRY(LEAT_NEW(&out->graphs, out->graph_count, err));
    for (int64_t i = 0; i < out->graph_count; i++) {
        leat_can_graph_facts *facts = &out->graphs[i];
        LEAT_TRY(leat_graph_file_facts_of(loader->file, graphs[i], facts, err));
        out->node_count += facts->node_count;
        out->edge_count += facts->edge_count;
    }
    return LEAT_OK;
}

static leat_code explain(const leat_graph_loader *loader, leat_graph_explanation *out,
                         leat_error *err) {
    leat_graph_epoch epoch = {0};
    leat_code code = leat_graph_plan_again(loader, out->epoch, &epoch, err);
    if (code == LEAT_OK && (out->batch < 0 || out->batch >= epoch.batch_count)) {
        code =
            leat_fail(err, LEAT_ERR_OPTION, "explain: no batch %lld: epoch %lld has %lld batches",
                      (long long)out->batch, (long long)out->epoch, (long long)epoch.batch_count);
    }
    if (code == LEAT_OK) code = list_graphs(loader, &epoch, out, err);
    leat_graph_epoch_free(&epoch);
    return code;
}

leat_code leat_graph_loader_explain(const leat_graph_loader *loader, int64_t epoch, int64_t batch,
                                    leat_graph_explanation **out, leat_error *err) {
    leat_graph_explanation *made = NULL;
    *out = NULL;
    LEAT_TRY(leat_ring_check_process(loader->ring, err));
    LEAT_TRY(leat_graph_loader_check_epoch(loader, epoch, err));
    LEAT_TRY(LEAT_NEW(&made, 1, err));
    made->epoch = epoch;
    made->batch = batch;
    leat_code code = explain(loader, made, err);
    if (code != LEAT_OK) {
        leat_graph_explanation_destroy(made);
        return code;
    }
    *out = made;
    return LEAT_OK;
}

void leat_graph_explanation_destroy(leat_graph_explanation *explanation) {
    if (explanation == NULL) return;
    leat_free(explanation->graphs);
    leat_free(explanation);
}

/* The lists returned, and the plan that they belong to. */
typedef struct graph_lists {
    leat_graph_epoch_lists lists; /* first: callers hold a pointer to it */
    leat_graph_epoch epoch;
} graph_lists;

leat_code leat_graph_loader_list_epoch(const leat_graph_loader *loader, int64_t number,
                                       leat_graph_epoch_lists **out, leat_error *err) {
    graph_lists *made = NULL;
    *out = NULL;
    LEAT_TRY(leat_ring_check_process(loader->ring, err));
    LEAT_TRY(leat_graph_loader_check_epoch(loader, number, err));
    LEAT_TRY(LEAT_NEW(&made, 1, err));
    leat_graph_epoch *epoch = &made->epoch;
    leat_code code = leat_graph_plan_again(loader, number, epoch, err);
    if (code != LEAT_OK) {
        leat_graph_epoch_lists_destroy(&made->lists);
        return code;
    }
    made->lists = (leat_graph_epoch_lists){
        .epoch = number,
        .batch_count = epoch->batch_count,
        .graph_count = epoch->graph_count,
        .tiers = epoch->tiers,
        .max_nodes = epoch->limits.nodes,
        .max_edges = epoch->limits.edges,
        .first = epoch->first,
        .graph = epoch->graph,
        .nodes = loader->nodes,
        .edges = loader->edges,
        .y = loader->file->y,
    };
    *out = &made->lists;
    return LEAT_OK;
}

void leat_graph_epoch_lists_destroy(leat_graph_epoch_lists *lists) {
    if (lists == NULL) return;
    leat_graph_epoch_free(&((graph_lists *)lists)->epoch);
    leat_free(lists);
}
