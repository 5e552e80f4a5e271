/* Graphs of one split, one by one: copied as batches copy them, into arrays of the reader. */
#include "load/can/cache.h"
#include "load/can/copy.h"

struct leat_can_reader {
    const leat_can_cache *cache;
    const leat_graph_file *file;
    leat_graph_scale scale;
    leat_graph_copier *copier;
    float *x, *edge_attr;
    int32_t *edge_index, *node_id;
    int64_t x_capacity, edge_attr_capacity, edge_index_capacity, node_id_capacity;
};

static leat_code fill(leat_can_reader *reader, const char *split, leat_scale scale,
                      leat_error *err) {
    const leat_can_cache *cache = reader->cache;
    if (scale != LEAT_SCALE_STORED && scale != LEAT_SCALE_NONE)
        return leat_fail(err, LEAT_ERR_OPTION, "scale is %d; it must be 0 or 1", (int)scale);
    LEAT_TRY(leat_can_cache_check_process(cache, err));
    LEAT_TRY(leat_can_cache_file(cache, split, &reader->file, err));
    leat_graph_scale_make(&reader->scale, leat_can_cache_scaler(cache));
    return leat_graph_copier_create(&reader->copier, reader->file,
                                    scale == LEAT_SCALE_STORED ? &reader->scale : NULL, false, err);
}

leat_code leat_can_reader_create(leat_can_reader **out, const leat_can_cache *cache,
                                 const char *split, leat_scale scale, leat_error *err) {
    leat_can_reader *reader = NULL;
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&reader, 1, err));
    reader->cache = cache;
    leat_code code = fill(reader, split, scale, err);
    if (code != LEAT_OK) {
        leat_can_reader_destroy(reader);
        return code;
    }
    *out = reader;
    return LEAT_OK;
}

void leat_can_reader_destroy(leat_can_reader *reader) {
    if (reader == NULL) return;
    leat_graph_copier_destroy(reader->copier);
    leat_free(reader->x);
    leat_free(reader->edge_attr);
    leat_free(reader->edge_index);
    leat_free(reader->node_id);
    leat_free(reader);
}

leat_code leat_can_reader_facts(leat_can_reader *reader, int64_t graph, leat_can_graph_facts *facts,
                                leat_error *err) {
    *facts = (leat_can_graph_facts){0};
    LEAT_TRY(leat_can_cache_check_process(reader->cache, err));
    return leat_graph_file_facts_of(reader->file, graph, facts, err);
}

static leat_code make_room(leat_can_reader *reader, const leat_can_graph_facts *facts,
                           leat_error *err) {
    int64_t nodes = facts->node_count, edges = facts->edge_count;
    LEAT_TRY(LEAT_GROW(&reader->x, &reader->x_capacity, nodes * LEAT_NODE_FEATURES, err));
    LEAT_TRY(LEAT_GROW(&reader->edge_attr, &reader->edge_attr_capacity, edges * LEAT_EDGE_FEATURES,
                       err));
    LEAT_TRY(LEAT_GROW(&reader->edge_index, &reader->edge_index_capacity, edges * 2, err));
    return LEAT_GROW(&reader->node_id, &reader->node_id_capacity, nodes, err);
}

leat_code leat_can_reader_graph(leat_can_reader *reader, int64_t graph, leat_can_graph *out,
                                leat_error *err) {
    leat_can_graph_facts facts;
    *out = (leat_can_graph){0};
    LEAT_TRY(leat_can_reader_facts(reader, graph, &facts, err));
    LEAT_TRY(make_room(reader, &facts, err));
    const leat_graph_place place = {
        .x = reader->x,
        .edge_attr = reader->edge_attr,
        .node_id = reader->node_id,
        .source = reader->edge_index,
        .target = reader->edge_index + facts.edge_count,
    };
    LEAT_TRY(leat_graph_copy(reader->copier, graph, -1, &place, err));
    *out = (leat_can_graph){.facts = facts,
                            .x = reader->x,
                            .edge_attr = reader->edge_attr,
                            .edge_index = reader->edge_index,
                            .node_id = reader->node_id};
    return LEAT_OK;
}

int64_t leat_can_node_frames(const leat_can_graph *graph, int64_t node) {
    double count = (double)graph->x[node * LEAT_NODE_FEATURES + LEAT_NODE_MSG_COUNT];
    return count >= 0 && count <= LEAT_CAN_CACHE_WINDOW_MAX ? (int64_t)count : 0;
}
