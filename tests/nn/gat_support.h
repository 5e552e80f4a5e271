/* The golden file of the GAT (tests/golden/reference): its micro-batch and its weights. The file is
 * left out of the repository, because its weights alone are 0.8 MB: its tests need LEAT_SHARED. */
#ifndef TESTS_NN_GAT_SUPPORT_H
#define TESTS_NN_GAT_SUPPORT_H

#include <stdio.h>

#include "nn/models/gat/gat.h"
#include "nn_support.h"

typedef struct gat_reference {
    nn_golden *golden;
    leat_gat_shape shape;
    leat_graph_micro batch;
    float *parameters;
} gat_reference;

static inline const float *gat_tensor(nn_golden *golden, const char *group, const char *name) {
    char full[128];
    int64_t count;
    snprintf(full, sizeof full, "%s/%s", group, name);
    return nn_golden_floats(golden, full, &count);
}

/* Parameters of a group of tensors ("w", "after1") in the order of the block. */
static inline float *gat_parameters(const gat_reference *reference, const char *group) {
    const leat_gat_shape *shape = &reference->shape;
    float *out = nn_zeros(shape->size);
    for (int i = 0; i < shape->param_count; i++) {
        const leat_param *param = &shape->params[i];
        memcpy(out + param->offset, gat_tensor(reference->golden, group, param->name),
               sizeof *out * (size_t)param->count);
    }
    return out;
}

static inline int32_t *gat_int32(nn_golden *golden, const char *name, int64_t first,
                                 int64_t count) {
    const float *values = gat_tensor(golden, "input", name);
    int32_t *out = (int32_t *)nn_zeros(count);
    for (int64_t i = 0; i < count; i++) out[i] = (int32_t)values[first + i];
    return out;
}

/* first[g + 1] from first[g] on: edges of graph g have targets among its nodes. */
static inline int64_t *gat_int64(const float *values, int64_t count) {
    int64_t *out = (int64_t *)nn_zeros(2 * count);
    for (int64_t i = 0; i < count; i++) out[i] = (int64_t)values[i];
    return out;
}

static inline void gat_open(gat_reference *out, const char *path) {
    leat_graph_micro *batch = &out->batch;
    *out = (gat_reference){.golden = nn_golden_open_path(path)};
    assert_ok(leat_gat_shape_set(&out->shape, LEAT_GAT_SMALL, 51, err));
    assert_int_equal(out->shape.size, 199923);
    *batch = (leat_graph_micro){.graphs = 8, .nodes = 252, .edges = 784, .seed = 1, .epoch = 0};
    batch->x = gat_tensor(out->golden, "input", "x");
    batch->edge_attr = gat_tensor(out->golden, "input", "edge_attr");
    batch->source = gat_int32(out->golden, "edge_index", 0, 784);
    batch->target = gat_int32(out->golden, "edge_index", 784, 784);
    batch->node_id = gat_int32(out->golden, "node_id", 0, 252);
    batch->label = gat_int32(out->golden, "y", 0, 8);
    batch->node_first = gat_int64(gat_tensor(out->golden, "input", "ptr"), 9);
    int64_t *edge_first = (int64_t *)nn_zeros(18), *number = (int64_t *)nn_zeros(16);
    for (int64_t g = 0, edge = 0; g < 8; g++) {
        while (edge < 784 && batch->target[edge] < batch->node_first[g + 1]) edge++;
        edge_first[g + 1] = edge;
        number[g] = g;
    }
    assert_int_equal(edge_first[8], 784);
    batch->edge_first = edge_first;
    batch->number = number;
    out->parameters = gat_parameters(out, "w");
}

/* The gradient of each tensor whose name begins with `stem`, within 5e-5 of the largest value; that
 * of the scores' bias is 0 in theory. */
static inline void gat_check_gradient(const gat_reference *reference, const char *stem,
                                      const float *gradient) {
    for (int i = 0; i < reference->shape.param_count; i++) {
        const leat_param *param = &reference->shape.params[i];
        char name[96];
        if (strncmp(param->name, stem, strlen(stem)) != 0) continue;
        snprintf(name, sizeof name, "grad/%s", param->name);
        if (strcmp(param->name, "jk.att.bias") == 0)
            assert_float_equal(gradient[param->offset], 0, 1e-8);
        else nn_assert_golden(gradient + param->offset, reference->golden, name, 5e-5);
    }
}

#endif
