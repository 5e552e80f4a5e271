/* The golden file of the GAT (tests/golden/reference): its micro-batch and its weights. The file is
 * left out of the repository, because its weights alone are 0.8 MB: its tests need LEAT_SHARED. */
#ifndef TESTS_NN_GAT_SUPPORT_H
#define TESTS_NN_GAT_SUPPORT_H

#include <stdio.h>

#include "graphs.h"
#include "nn/models/gat/gat.h"

typedef struct gat_reference {
    nn_golden *golden;
    leat_gat_shape shape;
    leat_graph_micro batch;
    float *parameters;
} gat_reference;

static inline const float *gat_tensor(nn_golden *golden, const char *group, const char *name) {
    char full[128];
    int64_t count;
    const size_t length = strlen(group);
    const bool joined = length == 0 || group[length - 1] == '/';
    snprintf(full, sizeof full, "%s%s%s", group, joined ? "" : "/", name);
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

static inline void gat_open(gat_reference *out, const char *path) {
    *out = (gat_reference){.golden = nn_golden_open_path(path)};
    assert_ok(leat_gat_shape_set(&out->shape, LEAT_GAT_SMALL, 51, err));
    assert_int_equal(out->shape.size, 199923);
    out->batch = nn_golden_graphs(out->golden);
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
