/*
 * Weights of detectors that leat did not train: those of graphids give the scores that graphids
 * gives, and what does not fit is refused with the tensor's name.
 */
#include <math.h>
#include <stdio.h>

#include "check.h"
#include "nn/graphs.h"
#include "nn/models/gat/gat.h"
#include "nn/models/vgae/vgae.h"
#include "train/run/run_reader.h"
#include "train/step/weights.h"
#include "train/tasks/graphs/detector_tasks.h"
#include "train/tasks/graphs/graph_score.h"
#include "train_support.h"

/* ---- Files ----------------------------------------------------------------------------------- */

enum { ROWS_MOST = 64, VALUES_MOST = 1 << 16 };

/* What a file is made of, which a test changes. */
typedef struct file {
    leat_weight_row rows[ROWS_MOST];
    int count;
} file;

static void add(file *to, const char *name, int rank, const int64_t *shape, float *values) {
    leat_weight_row *row = &to->rows[to->count++];
    assert_true(to->count <= ROWS_MOST);
    *row = (leat_weight_row){.rank = rank, .count = 1, .values = values};
    snprintf(row->name, sizeof row->name, "%s", name);
    for (int i = 0; i < rank; i++) row->count *= row->shape[i] = shape[i];
}

static leat_weight_row *find(file *of, const char *name) {
    for (int i = 0; i < of->count; i++)
        if (strcmp(of->rows[i].name, name) == 0) return &of->rows[i];
    fail_msg("no %s", name);
    return NULL;
}

/* All parameters of a small detector with 3 identifiers and the unknown one. */
static file small_file(const leat_task *task) {
    static float values[VALUES_MOST];
    leat_gat_shape gat;
    leat_vgae_shape vgae;
    const bool is_gat = task == &leat_gat_task;
    file out = {.count = 0};
    if (is_gat) assert_ok(leat_gat_shape_set(&gat, LEAT_GAT_SMALL, 4, err));
    else assert_ok(leat_vgae_shape_set(&vgae, LEAT_VGAE_SMALL, 4, err));
    const leat_param *params = is_gat ? gat.params : vgae.params;
    const int count = is_gat ? gat.param_count : vgae.param_count;
    for (int i = 0; i < VALUES_MOST; i++) values[i] = (float)(i % 7 - 3) / 64;
    for (int i = 0; i < count; i++) {
        int64_t shape[4];
        assert_true(params[i].count <= VALUES_MOST);
        for (int k = 0; k < params[i].rank; k++) shape[k] = params[i].shape[k];
        add(&out, params[i].name, params[i].rank, shape, values);
    }
    return out;
}

static const char *save(const file *of, const char *name) {
    const leat_weight_file what = {.rows = of->rows, .count = of->count};
    const char *path = train_path(name);
    char sha256[65];
    assert_ok(leat_weight_file_save(path, &what, sha256, err));
    return path;
}

/* ---- What graphids computes ------------------------------------------------------------------ */

enum { TRAINED = 14, SCORED = 23 };

/* The file that its users would save: weights after three steps, and the buffers of its class. */
static file reference_file(nn_golden *golden, const leat_task *task) {
    file out = small_file(task);
    const int64_t features = LEAT_NODE_FEATURES;
    int64_t count;
    for (int i = 0; i < out.count; i++) {
        leat_weight_row *row = &out.rows[i];
        char name[LEAT_TENSOR_NAME_BYTES + 8];
        snprintf(name, sizeof name, "after3/%s", row->name);
        row->values = nn_golden_floats(golden, name, &count);
        if (count != row->count) row->shape[0] = count / (row->count / row->shape[0]);
        row->count = count;
    }
    if (task == &leat_gat_task) return out;
    add(&out, "masker.mask_token", 1, &features,
        nn_golden_floats(golden, "w/masker.mask_token", &count));
    add(&out, "score_kl_mean", 0, NULL, nn_golden_floats(golden, "w/score_kl_mean", &count));
    return out;
}

typedef struct scores {
    float difficulty[SCORED], kl[SCORED], logits[2 * SCORED], probability[SCORED];
} scores;

static void score(leat_graph_scorer *scorer, const leat_graph_micro *graph, int at, scores *to) {
    leat_graph_scores of;
    assert_ok(leat_graph_scorer_run(scorer, graph, &of, err));
    if (of.probability != NULL) {
        memcpy(to->logits + 2 * at, of.logits, 2 * sizeof *of.logits);
        to->probability[at] = of.probability[0];
        return;
    }
    double sum = 0;
    for (int64_t i = 0; i < graph->nodes; i++) sum += of.divergence[i];
    to->kl[at] = (float)(sum / (double)(graph->nodes * of.width));
    to->difficulty[at] = (float)of.difficulty[0];
}

/* Of the graphs that `scores_ref` is of, by the weights of a run. */
static void score_all(const leat_run *run, scores *to) {
    static const int trained[TRAINED] = {0, 1, 2, 3, 4, 5, 8, 15, 35, 67, 99, 131, 163, 195};
    const leat_graph_limits most = {.graphs = 1, .nodes = 100, .edges = 100};
    leat_trainer *trainer = NULL;
    leat_graph_scorer *scorer = NULL;
    nn_golden *graphs = nn_golden_open_path(golden_path("golden/can/features_ref.safetensors"));
    nn_golden *scaled =
        nn_golden_open_path(golden_path("golden/can/features_scaled_ref.safetensors"));
    const nn_split training = nn_split_of("", graphs, scaled);
    const nn_split test = nn_split_of("test/", graphs, scaled);
    assert_ok(leat_run_load(run, -1, 1, NULL, &trainer, NULL, err));
    const leat_graph_scoring scoring = {.class = run->task->model,
                                        .settings = run->options.run.settings,
                                        .parameters = leat_trainer_state(trainer)->parameters,
                                        .wants = LEAT_GRAPH_WANT_OPEN};
    assert_ok(leat_graph_scorer_create(&scorer, &scoring, &most, err));
    for (int i = 0; i < SCORED; i++) {
        const leat_graph_micro graph = i < TRAINED ? nn_graph_of(&training, trained[i])
                                                   : nn_graph_of(&test, 3 * (i - TRAINED));
        score(scorer, &graph, i, to);
    }
    leat_graph_scorer_destroy(scorer);
    leat_trainer_destroy(trainer);
    nn_golden_close(graphs);
    nn_golden_close(scaled);
}

static void reference_weights_give_its_scores(void **state) {
    static const char *const names[] = {"golden/can/vgae_ref.safetensors",
                                        "golden/can/gat_ref.safetensors"};
    static const leat_task *const tasks[] = {&leat_vgae_task, &leat_gat_task};
    static scores found;
    (void)state;
    nn_golden *wanted = nn_golden_open_path(golden_left_out("golden/can/scores_ref.safetensors"));
    for (int i = 0; i < 2; i++) {
        nn_golden *golden = nn_golden_open_path(golden_left_out(names[i]));
        const file of = reference_file(golden, tasks[i]);
        const char *run = train_path(i == 0 ? "vgae" : "gat");
        leat_run *opened = NULL;
        char note[LEAT_IMPORT_NOTE_BYTES];
        assert_ok(leat_run_import(save(&of, "reference.safetensors"), NULL, run, note, err));
        assert_string_equal(note, "");
        assert_ok(leat_run_open(&opened, run, err));
        assert_string_equal(leat_run_setting(opened, "vocabulary"), "51");
        assert_string_equal(leat_run_setting(opened, "size"), "small");
        score_all(opened, &found);
        leat_run_close(opened);
        nn_golden_close(golden);
    }
    nn_assert_golden(found.difficulty, wanted, "vgae/curriculum_mse", 1.7e-6);
    nn_assert_golden(found.kl, wanted, "vgae/mean/kl", 2e-6);
    nn_assert_golden(found.logits, wanted, "gat/logits", 2.3e-6);
    nn_assert_golden(found.probability, wanted, "gat/prob_attack", 1e-6);
    nn_golden_close(wanted);
    nn_free_all();
}

/* ---- What does not fit ----------------------------------------------------------------------- */

static void refuse(const file *of, const char *message) {
    assert_fails(
        leat_run_import(save(of, "wrong.safetensors"), NULL, train_path("wrong"), NULL, err),
        LEAT_ERR_INPUT, message);
    assert_false(train_has(train_path(""), "wrong"));
}

static void misfits_are_named(void **state) {
    static const int64_t one = 1;
    static float nan_at_2[256], zero;
    (void)state;
    file of = small_file(&leat_vgae_task);
    find(&of, "z_mean.bias")->shape[0] = find(&of, "z_mean.bias")->count = 63;
    refuse(&of, "tensor \"z_mean.bias\" is F32 [63]; it must be F32 [64]");
    of = small_file(&leat_vgae_task);
    *find(&of, "z_mean.bias") = of.rows[--of.count];
    refuse(&of, "contains only 29 of 30 parameters; all are required, named as in a checkpoint "
                "(\"input_encoder.id_encoder.embedding.weight\"); \"z_mean.bias\" is missing");
    of = small_file(&leat_vgae_task);
    add(&of, "proj.weight", 1, &one, &zero);
    refuse(&of, "has the tensor \"proj.weight\", which this network does not have");
    add(&of, "proj.bias", 1, &one, &zero);
    refuse(&of, "has the tensor \"proj.weight\", and 1 more, which");
    of = small_file(&leat_gat_task);
    nan_at_2[2] = NAN;
    find(&of, "fc_layers.0.bias")->values = nan_at_2;
    refuse(&of, "value 2 of fc_layers.0.bias is nan");
    /* another network: heads, embedding, layers; and the tensor by which the size is known */
    of = small_file(&leat_gat_task);
    find(&of, "convs.0.att")->shape[1] = 8;
    find(&of, "convs.0.att")->shape[2] = 12;
    refuse(&of, "convs.0.att of a GAT is 1 x 8 x 12; leat has networks with 1 x 4 x 24 (small) and "
                "1 x 8 x 64 (large)");
    of = small_file(&leat_gat_task);
    find(&of, "input_encoder.id_encoder.embedding.weight")->shape[0] = 8;
    find(&of, "input_encoder.id_encoder.embedding.weight")->shape[1] = 8;
    refuse(&of, "weights of a GAT: ");
    of = small_file(&leat_gat_task);
    *find(&of, "convs.0.att") = of.rows[--of.count];
    refuse(&of, "has no tensor \"convs.0.att\"");
    of = small_file(&leat_vgae_task);
    find(&of, "input_encoder.id_encoder.embedding.weight")->shape[0] = 1;
    find(&of, "input_encoder.id_encoder.embedding.weight")->count = 32;
    refuse(&of, "has 1 rows; leat supports 2 to 16777217");
}

static void other_names_are_of_no_model(void **state) {
    (void)state;
    file of = small_file(&leat_vgae_task);
    for (int i = 0; i < of.count; i++) {
        char name[LEAT_TENSOR_NAME_BYTES];
        memcpy(name, of.rows[i].name, sizeof name);
        snprintf(of.rows[i].name, sizeof of.rows[i].name, "model.%.200s", name);
    }
    assert_fails(
        leat_run_import(save(&of, "wrong.safetensors"), NULL, train_path("wrong"), NULL, err),
        LEAT_ERR_UNSUPPORTED, "of a vgae also a file with graphids' names (\"z_mean.weight\")");
}

/* From a header alone, since the large GAT has 38 MB. */
static void sizes_are_told_by_shapes(void **state) {
    static const struct {
        const leat_task *task;
        const char *attention;
        int64_t heads, width, rows, columns;
        const char *size, *vocabulary;
    } cases[] = {
        {&leat_vgae_task, "encoder_layers.0.att", 4, 16, 52, 32, "small", "51"},
        {&leat_vgae_task, "encoder_layers.0.att", 4, 32, 2049, 32, "large", "2048"},
        {&leat_gat_task, "convs.0.att", 4, 24, 51, 16, "small", "51"},
        {&leat_gat_task, "convs.0.att", 8, 64, 1, 16, "large", "1"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_tensor tensors[2] = {
            {.name = "input_encoder.id_encoder.embedding.weight",
             .dtype = LEAT_DTYPE_BF16,
             .rank = 2,
             .shape = {cases[i].rows, cases[i].columns}},
            {.dtype = LEAT_DTYPE_BF16, .rank = 3, .shape = {1, cases[i].heads, cases[i].width}}};
        leat_run_options options;
        const leat_train_options defaults = leat_train_options_default();
        leat_safetensors *read = NULL;
        leat_buf header = {0};
        int64_t bytes = 0;
        char text[LEAT_SETTING_BYTES];
        const leat_setting_table *table = cases[i].task->settings();
        snprintf(tensors[1].name, sizeof tensors[1].name, "%s", cases[i].attention);
        assert_ok(leat_safetensors_plan(tensors, 2, NULL, 0, &header, &bytes, err));
        assert_ok(leat_safetensors_parse(&read, header.data, header.size, bytes, "file", err));
        assert_ok(leat_run_options_take(&options, cases[i].task->model->name, &defaults, err));
        assert_ok(cases[i].task->exports->guess(read, "file", true, &options.settings, err));
        assert_string_equal(
            leat_setting_get(leat_setting_find(table, "size"), &options.settings, text),
            cases[i].size);
        assert_string_equal(
            leat_setting_get(leat_setting_find(table, "vocabulary"), &options.settings, text),
            cases[i].vocabulary);
        leat_safetensors_destroy(read);
        leat_buf_free(&header);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reference_weights_give_its_scores),
        cmocka_unit_test(misfits_are_named),
        cmocka_unit_test(other_names_are_of_no_model),
        cmocka_unit_test(sizes_are_told_by_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, train_teardown);
}
