/* Opens the file of one split: its tables are read and checked, its graphs are not. */
#include "load/can/file.h"

#include <string.h>

/* ---- the header ---------------------------------------------------------------------------------
 */

static leat_code disagree(const leat_graph_file *file, const char *what, int64_t here,
                          int64_t there, leat_error *err) {
    return leat_fail(err, LEAT_ERR_CORRUPT,
                     "\"%s\": %s: %lld and %lld contradict each other; "
                     "" LEAT_CAN_REBUILD,
                     leat_map_path(file->paged.map), what, (long long)here, (long long)there);
}

static leat_code read_header(leat_graph_file *file, leat_error *err) {
    const leat_paged *paged = &file->paged;
    const char *path = leat_map_path(paged->map);
    leat_safetensors *tensors = NULL;
    uint64_t size = 0;
    uint8_t *bytes = NULL;
    if (paged->size_bytes < 8)
        return leat_fail(err, LEAT_ERR_CORRUPT, "\"%s\" has no header; " LEAT_CAN_REBUILD, path);
    LEAT_TRY(leat_paged_read(paged, 0, 8, &size, err));
    int64_t most = paged->size_bytes - 8;
    if (size > (uint64_t)most || size > LEAT_SAFETENSORS_HEADER_MAX) {
        return leat_fail(err, LEAT_ERR_CORRUPT,
                         "\"%s\": the header claims %llu bytes; " LEAT_CAN_REBUILD, path,
                         (unsigned long long)size);
    }
    LEAT_TRY(LEAT_NEW(&bytes, (int64_t)size + 8, err));
    leat_code code = leat_paged_read(paged, 0, (int64_t)size + 8, bytes, err);
    if (code == LEAT_OK) {
        code = leat_safetensors_parse(&tensors, bytes, (int64_t)size + 8, paged->size_bytes, path,
                                      err);
    }
    if (code == LEAT_OK) code = leat_can_tensors_check(tensors, &file->shape, file->at, err);
    leat_safetensors_destroy(tensors);
    leat_free(bytes);
    return code;
}

/* ---- tables -------------------------------------------------------------------------------------
 */

static leat_code read_table(const leat_graph_file *file, leat_can_tensor tensor, int64_t count,
                            int64_t item_bytes, void *out, leat_error *err) {
    return leat_paged_read(&file->paged, file->at[tensor], count * item_bytes, out, err);
}

/* First rows ascend from 0 to the number of rows, by at most `most` a graph. */
static leat_code check_ptr(const leat_graph_file *file, const char *name, const int64_t *ptr,
                           int64_t rows, int64_t most, leat_error *err) {
    int64_t graphs = file->shape.graphs;
    if (ptr[0] != 0) return disagree(file, name, ptr[0], 0, err);
    for (int64_t g = 0; g < graphs; g++) {
        /* as unsigned, so that no difference overflows */
        uint64_t size = (uint64_t)ptr[g + 1] - (uint64_t)ptr[g];
        if (size > (uint64_t)most) return disagree(file, name, ptr[g], ptr[g + 1], err);
    }
    return ptr[graphs] == rows ? LEAT_OK : disagree(file, name, ptr[graphs], rows, err);
}

/* Other code indexes by labels, so every value must be in range. */
static leat_code check_labels(const leat_graph_file *file, leat_error *err) {
    for (int64_t g = 0; g < file->shape.graphs; g++) {
        int32_t y = file->y[g], type = file->attack_type[g];
        if (y < -1 || y > 1) return disagree(file, "y", g, y, err);
        if (type < -1 || type >= LEAT_CAN_ATTACKS_MAX || (type < 0) != (y < 0))
            return disagree(file, "attack_type", g, type, err);
    }
    return LEAT_OK;
}

static leat_code read_tables(leat_graph_file *file, leat_error *err) {
    const leat_can_shape *shape = &file->shape;
    int64_t graphs = shape->graphs;
    LEAT_TRY(LEAT_NEW(&file->node_ptr, graphs + 1, err));
    LEAT_TRY(LEAT_NEW(&file->edge_ptr, graphs + 1, err));
    LEAT_TRY(LEAT_NEW(&file->y, graphs, err));
    LEAT_TRY(LEAT_NEW(&file->attack_type, graphs, err));
    LEAT_TRY(read_table(file, LEAT_CAN_NODE_PTR, graphs + 1, 8, file->node_ptr, err));
    LEAT_TRY(read_table(file, LEAT_CAN_EDGE_PTR, graphs + 1, 8, file->edge_ptr, err));
    LEAT_TRY(read_table(file, LEAT_CAN_Y, graphs, 4, file->y, err));
    LEAT_TRY(read_table(file, LEAT_CAN_ATTACK_TYPE, graphs, 4, file->attack_type, err));
    LEAT_TRY(check_ptr(file, "node_ptr", file->node_ptr, shape->nodes, shape->window, err));
    LEAT_TRY(check_ptr(file, "edge_ptr", file->edge_ptr, shape->edges, shape->window, err));
    return check_labels(file, err);
}

/* ---- open and close -----------------------------------------------------------------------------
 */

static leat_code fill(leat_graph_file *file, const leat_graph_file_facts *facts, leat_error *err) {
    const leat_can_meta *meta = facts->meta;
    const leat_can_meta_split *split = facts->split;
    file->shape = (leat_can_shape){.graphs = split->graphs,
                                   .nodes = split->nodes,
                                   .edges = split->edges,
                                   .window = meta->window,
                                   .frames = meta->frames};
    file->options = facts->options;
    file->id_count = meta->ids.count;
    file->vocab_count = meta->ids.known;
    file->capture_count = meta->capture_count;
    LEAT_TRY(leat_strdup(&file->split, split->name, err));
    const leat_tensor_file stated = leat_can_split_file(split);
    LEAT_TRY(leat_page_hashes_load(facts->pages_path, &stated, &file->page_hashes, err));
    LEAT_TRY(leat_tensor_file_map(&file->paged, facts->path, &stated, file->page_hashes, err));
    LEAT_TRY(read_header(file, err));
    return read_tables(file, err);
}

leat_code leat_graph_file_open(leat_graph_file **out, const leat_graph_file_facts *facts,
                               leat_error *err) {
    leat_graph_file *file = NULL;
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&file, 1, err));
    leat_code code = fill(file, facts, err);
    if (code != LEAT_OK) {
        leat_graph_file_close(file);
        return code;
    }
    *out = file;
    return LEAT_OK;
}

void leat_graph_file_close(leat_graph_file *file) {
    if (file == NULL) return;
    leat_paged_free(&file->paged);
    leat_free(file->page_hashes);
    leat_free(file->node_ptr);
    leat_free(file->edge_ptr);
    leat_free(file->y);
    leat_free(file->attack_type);
    leat_free(file->split);
    leat_free(file);
}

/* ---- a graph ------------------------------------------------------------------------------------
 */

leat_code leat_graph_file_facts_of(const leat_graph_file *file, int64_t graph,
                                   leat_can_graph_facts *out, leat_error *err) {
    static const leat_can_tensor tensors[] = {LEAT_CAN_CAPTURE, LEAT_CAN_ATTACK_FIRST,
                                              LEAT_CAN_ATTACK_COUNT};
    int32_t values[3] = {0};
    int64_t window_start = 0;
    *out = (leat_can_graph_facts){0};
    if (graph < 0 || graph >= file->shape.graphs) {
        return leat_fail(err, LEAT_ERR_OPTION, "no graph %lld: split %s has %lld", (long long)graph,
                         file->split, (long long)file->shape.graphs);
    }
    for (int i = 0; i < 3; i++) {
        LEAT_TRY(
            leat_paged_read(&file->paged, file->at[tensors[i]] + graph * 4, 4, &values[i], err));
    }
    LEAT_TRY(leat_paged_read(&file->paged, file->at[LEAT_CAN_WINDOW_START] + graph * 8, 8,
                             &window_start, err));
    if (values[0] < 0 || values[0] >= file->capture_count)
        return disagree(file, "capture", graph, values[0], err);
    *out = (leat_can_graph_facts){
        .graph = graph,
        .window_start = window_start,
        .capture = values[0],
        .node_count = (int32_t)(file->node_ptr[graph + 1] - file->node_ptr[graph]),
        .edge_count = (int32_t)(file->edge_ptr[graph + 1] - file->edge_ptr[graph]),
        .y = file->y[graph],
        .attack_type = file->attack_type[graph],
        .attack_first = values[1],
        .attack_count = values[2],
    };
    return LEAT_OK;
}
