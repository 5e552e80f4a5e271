/* See graph_measure.h. */
#include "train/tasks/graphs/graph_measure.h"

#include <math.h>

#include "base/mem.h"

const leat_value leat_vgae_measures[] = {
    {"val_loss", "benign validation graphs", -1, "Validation", "mean squared error of hidden nodes",
     "val_loss"},
    {0},
};
const leat_value leat_gat_measures[] = {
    {"val_auroc", "AUROC", 1, "AUROC of validation graphs", "AUROC", "val_auroc"},
    {"val_loss", "validation graphs", -1, "Validation", "loss, mean over graphs", "val_loss"},
    {0},
};

static int64_t bytes(const leat_train_options *options) {
    (void)options;
    return 0;
}

static leat_code create(void **self, const leat_measuring *of, char note[LEAT_MEASURE_NOTE_BYTES],
                        leat_error *err) {
    (void)of;
    (void)note;
    int *out = NULL;
    LEAT_TRY(LEAT_NEW(&out, 1, err));
    *self = out;
    return LEAT_OK;
}

static void destroy(void *self) { leat_free(self); }

static leat_code take(void *self, const float *parameters, leat_train_step *step,
                      char note[LEAT_MEASURE_NOTE_BYTES], leat_error *err) {
    (void)self;
    (void)parameters;
    (void)step;
    (void)note;
    (void)err;
    return LEAT_OK;
}

const leat_measure_class leat_vgae_measure = {
    .bytes = bytes, .create = create, .destroy = destroy, .take = take};
const leat_measure_class leat_gat_measure = {
    .bytes = bytes, .create = create, .destroy = destroy, .take = take};
