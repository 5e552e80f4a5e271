/* The options of graph batches, by name: one table for command line, state and Python. */
#include <string.h>

#include "base/setting.h"
#include "leat/sample.h"

enum { TIERS_MAX = 250, BATCH_MAX = 1 << 24, STEPS_MAX = 1 << 30 };

#define PLACE(field) offsetof(leat_graph_batch_options, field)
#define CHOICE(name, field, choices)                                                               \
    { name, LEAT_SETTING_CHOICE, PLACE(field), choices, 0, 0 }
#define INT(name, field, min, max)                                                                 \
    { name, LEAT_SETTING_INT, PLACE(field), NULL, min, max }
#define FACTOR(name, field)                                                                        \
    { name, LEAT_SETTING_FACTOR, PLACE(field), NULL, 0, 0 }

static const leat_setting table[] = {
    CHOICE("pack", pack, "ffd|next-fit|bucket|fixed"),
    INT("batch", batch, 1, BATCH_MAX),
    INT("max-nodes", max_nodes, 0, INT32_MAX),
    INT("max-edges", max_edges, 0, INT32_MAX),
    CHOICE("oversize", oversize, "skip|alone|fail"),
    INT("min-steps", min_steps, 1, STEPS_MAX),
    {"seed", LEAT_SETTING_SEED, PLACE(seed), NULL, 0, 0},
    CHOICE("curriculum", curriculum, "none|random|scores"),
    INT("tiers", tiers, 1, TIERS_MAX),
    FACTOR("curriculum-start", curriculum_start),
    FACTOR("curriculum-end", curriculum_end),
    INT("epochs", epochs, 0, INT32_MAX),
    CHOICE("preset", preset, "default|reference"),
    {.name = NULL},
};

leat_graph_batch_options leat_graph_batch_options_default(void) {
    return (leat_graph_batch_options){
        .batch = 32,
        .max_nodes = 8192,
        .max_edges = 32768,
        .min_steps = 1,
        .tiers = 10,
        .curriculum_start = 1,
        .curriculum_end = 10,
    };
}

leat_code leat_graph_batch_options_check(const leat_graph_batch_options *options, leat_error *err) {
    LEAT_TRY(leat_settings_check(table, options, err));
    if (options->pack != LEAT_PACK_FIXED && options->max_nodes == 0 && options->max_edges == 0) {
        return leat_fail(err, LEAT_ERR_OPTION,
                         "max-nodes and max-edges are both 0, no limit; all but pack fixed need "
                         "one of them");
    }
    if (options->curriculum == LEAT_CURRICULUM_NONE) return LEAT_OK;
    if (options->epochs == 0) {
        return leat_fail(err, LEAT_ERR_OPTION,
                         "epochs: 0, without end; a curriculum needs their number, in which the "
                         "last tier is reached");
    }
    if (options->curriculum_start > options->curriculum_end) {
        return leat_fail(err, LEAT_ERR_OPTION,
                         "curriculum-start: %g is above curriculum-end, %g; tiers are added, never "
                         "taken away",
                         options->curriculum_start, options->curriculum_end);
    }
    return LEAT_OK;
}

const char *leat_graph_batch_option_name(int index) {
    int count = (int)(sizeof(table) / sizeof(*table)) - 1;
    return index >= 0 && index < count ? table[index].name : NULL;
}

static const leat_setting *find_option(const char *name, leat_error *err) {
    const leat_setting *option = leat_setting_find(table, name);
    if (option == NULL) {
        leat_fail(err, LEAT_ERR_OPTION, "graph batches have no option \"%.40s\"", name);
    }
    return option;
}

leat_code leat_graph_batch_option_set(leat_graph_batch_options *options, const char *name,
                                      const char *value, leat_error *err) {
    const leat_setting *option = find_option(name, err);
    return option == NULL ? LEAT_ERR_OPTION : leat_setting_set(option, options, value, err);
}

leat_code leat_graph_batch_option_get(const leat_graph_batch_options *options, const char *name,
                                      char text[LEAT_SAMPLE_OPTION_BYTES], leat_error *err) {
    _Static_assert(LEAT_SAMPLE_OPTION_BYTES == LEAT_SETTING_BYTES, "a text of either fits");
    text[0] = 0;
    const leat_setting *option = find_option(name, err);
    if (option == NULL) return LEAT_ERR_OPTION;
    LEAT_TRY(leat_settings_check(table, options, err));
    leat_setting_get(option, options, text);
    return LEAT_OK;
}
