/* See graph_settings.h. */
#include "train/tasks/graphs/graph_settings.h"

leat_graph_settings leat_graph_settings_default(void) {
    return (leat_graph_settings){
        .batch = 32, .min_steps = 1, .tiers = 10, .curriculum_start = 1, .curriculum_end = 10};
}

leat_code leat_graph_settings_read(const leat_graph_settings *settings,
                                   leat_graph_batch_options *out, leat_error *err) {
    *out = leat_graph_batch_options_default();
    out->pack = settings->pack;
    out->batch = settings->batch;
    out->oversize = LEAT_OVERSIZE_SKIP; /* the feed refuses them, with a remedy that there is */
    out->min_steps = settings->min_steps;
    out->curriculum = settings->curriculum;
    out->tiers = settings->tiers;
    out->curriculum_start = settings->curriculum_start;
    out->curriculum_end = settings->curriculum_end;
    out->epochs = settings->curriculum_epochs;
    if (settings->pack == LEAT_PACK_FIXED && settings->oversize == LEAT_GRAPH_OVERSIZE_SKIP)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "oversize skip and pack fixed: batches of a fixed number of graphs leave "
                         "none out; use another pack, or leave out oversize");
    if (settings->curriculum == LEAT_CURRICULUM_NONE || settings->curriculum_epochs > 0)
        return leat_graph_batch_options_check(out, err);
    return leat_fail(err, LEAT_ERR_OPTION,
                     "a curriculum requires a number of epochs over which tiers are added: "
                     "set curriculum-epochs, for example --curriculum-epochs 10");
}
