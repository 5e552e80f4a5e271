/*
 * What detectors make of graphs: masks that hide every node once; the same numbers however graphs
 * are put into batches, and for any number of threads; what is measured while training, against
 * another program over single graphs.
 */
/* TSan: batches on a pool. */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "load/graph_support.h"
#include "nn/models/gat/model.h"
#include "nn/models/vgae/model.h"
#include "train/eval/scores.h"
#include "train/tasks/graphs/detector_tasks.h"
#include "train/tasks/graphs/graph_masks.h"
#include "train/tasks/graphs/graph_measure.h"
#include "train/tasks/graphs/graph_micro.h"
#include "train/tasks/graphs/graph_score.h"

enum { VOCABULARY = MAKE_VOCAB + 1, F = LEAT_MICRO_NODE_FEATURES, VALS = 12, MOST = 200 };

/* ---- Masks ---------------------------------------------------------------------------------- */

static void masks_hide_every_node_once(void **state) {
    (void)state;
    uint8_t mask[300];
    for (int64_t nodes = 1; nodes <= 300; nodes++) {
        int64_t sizes[LEAT_GRAPH_MASKS] = {0};
        leat_graph_masks(nodes, mask);
        for (int64_t i = 0; i < nodes; i++) {
            assert_true(mask[i] < LEAT_GRAPH_MASKS);
            sizes[mask[i]]++;
        }
        for (int k = 0; k < LEAT_GRAPH_MASKS; k++)
            assert_int_equal(sizes[k], (nodes + LEAT_GRAPH_MASKS - 1 - k) / LEAT_GRAPH_MASKS);
    }
    /* of the format: other masks are other scores */
    static const uint8_t pinned[20] = {1, 3, 1, 4, 6, 5, 2, 2, 4, 4, 5, 0, 0, 5, 2, 3, 6, 1, 3, 0};
    leat_graph_masks(20, mask);
    assert_memory_equal(mask, pinned, sizeof pinned);
}

/* ---- A model, and what it makes of a split --------------------------------------------------- */

typedef struct detector {
    leat_graph_scoring scoring;
    leat_vgae_settings vgae;
    leat_gat_settings gat;
    float *parameters;
    int64_t size;
} detector;

static void detector_make(detector *of, const leat_model_class *class, int wants) {
    void *model = NULL;
    leat_model_sizes sizes;
    *of = (detector){.vgae = leat_vgae_settings_default(), .gat = leat_gat_settings_default()};
    of->vgae.vocabulary = of->gat.vocabulary = VOCABULARY;
    of->vgae.max_nodes = of->gat.max_nodes = 1;
    of->vgae.max_edges = of->gat.max_edges = 1;
    const void *settings = class == &leat_gat_class ? (void *)&of->gat : (void *)&of->vgae;
    const leat_model_setup setup = {.settings = settings, .micro_batch = 1, .threads = 1};
    assert_ok(class->sizes(&setup, &sizes, err));
    assert_ok(class->create(&model, &setup, err));
    of->size = sizes.parameters;
    of->parameters = malloc(sizeof(float) * (size_t)sizes.parameters);
    class->init(model, 5, of->parameters, NULL);
    class->destroy(model);
    of->scoring = (leat_graph_scoring){
        .class = class, .settings = settings, .parameters = of->parameters, .wants = wants};
}

/* Bytes of all numbers of a split, by graph. */
typedef struct taken {
    uint8_t *of[MOST];
    size_t size[MOST];
    int64_t graphs, batches, last;
} taken;

static void add(taken *to, int64_t g, const void *bytes, size_t size) {
    if (bytes == NULL) return;
    to->of[g] = realloc(to->of[g], to->size[g] + size);
    memcpy(to->of[g] + to->size[g], bytes, size);
    to->size[g] += size;
}

static leat_code take(void *context, const leat_graph_scores *scores, leat_error *err) {
    taken *to = context;
    const leat_graph_micro *batch = scores->batch;
    (void)err;
    to->batches++;
    for (int64_t g = 0; g < batch->graphs; g++) {
        const int64_t first = batch->node_first[g], number = batch->number[g];
        const size_t nodes = (size_t)(batch->node_first[g + 1] - first);
        const size_t width = (size_t)scores->width;
        assert_true(number < MOST && to->of[number] == NULL && number > to->last);
        to->last = number;
        to->graphs++;
#define ADD(array, at, count)                                                                      \
    add(to, number, (array) == NULL ? NULL : (array) + (at), (count) * sizeof *(array))
        ADD(scores->first, g, 1);
        ADD(scores->residual, first * F, nodes * F);
        ADD(scores->difficulty, g, 1);
        ADD(scores->latent, first * scores->width, nodes * width);
        ADD(scores->divergence, first, nodes);
        ADD(scores->logits, 2 * g, 2);
        ADD(scores->probability, g, 1);
        ADD(scores->blame, first * F, nodes * F);
#undef ADD
    }
    return LEAT_OK;
}

static void taken_free(taken *of) {
    for (int g = 0; g < MOST; g++) free(of->of[g]);
}

static void walk_split(const detector *of, const char *dir, const char *split, int threads,
                       taken *out) {
    leat_can_cache *cache = graphs_open(dir);
    *out = (taken){.last = -1};
    leat_graph_walk walk = {
        .cache = cache, .scoring = &of->scoring, .threads = threads, .take = take, .context = out};
    assert_ok(leat_can_cache_file(cache, split, &walk.file, err));
    assert_ok(leat_graph_walk_run(&walk, err));
    assert_int_equal(out->graphs, leat_graph_walk_count(&walk));
    leat_can_cache_close(cache);
}

/* The same from batches of one graph. */
static void score_singly(const detector *of, const char *dir, const char *split, taken *out) {
    const leat_graph_limits most = {1, 64, 64};
    leat_can_cache *cache = graphs_open(dir);
    const leat_graph_file *file = NULL;
    leat_graph_makers *makers = NULL;
    leat_graph_scorer *scorer = NULL;
    *out = (taken){.last = -1};
    assert_ok(leat_can_cache_file(cache, split, &file, err));
    assert_ok(leat_graph_makers_create(&makers, cache, file, err));
    assert_ok(leat_graph_scorer_create(&scorer, &of->scoring, &most, err));
    void *memory = malloc((size_t)leat_graph_micro_bytes(&most));
    for (int64_t g = 0; g < file->shape.graphs; g++) {
        leat_graph_micro *batch = leat_graph_micro_place(memory, &most);
        leat_graph_scores scores;
        batch->graphs = 1;
        batch->nodes = file->node_ptr[g + 1] - file->node_ptr[g];
        batch->edges = file->edge_ptr[g + 1] - file->edge_ptr[g];
        leat_graph_micro_numbers(batch)[0] = g;
        assert_ok(leat_graph_micro_make(makers, batch, err));
        assert_ok(leat_graph_scorer_run(scorer, batch, &scores, err));
        assert_ok(take(out, &scores, err));
    }
    free(memory);
    leat_graph_scorer_destroy(scorer);
    leat_graph_makers_destroy(makers);
    leat_can_cache_close(cache);
}

static void same(const taken *a, const taken *b) {
    assert_int_equal(a->graphs, b->graphs);
    for (int g = 0; g < MOST; g++) {
        assert_int_equal(a->size[g], b->size[g]);
        assert_true(a->size[g] == 0 || memcmp(a->of[g], b->of[g], a->size[g]) == 0);
    }
}

/* Nor do kernels, or whether frames are stored. */
static void batches_and_threads_change_nothing(void **state) {
    (void)state;
    char stored[256], framed[256];
    make_cache options = make_cache_default();
    options.graphs[0] = MOST; /* of several batches */
    graphs_make("many", &options, stored);
    options.frames = true;
    graphs_make("many-framed", &options, framed);
    static const leat_model_class *const classes[] = {&leat_vgae_class, &leat_gat_class};
    for (int c = 0; c < 2; c++) {
        detector of;
        taken singly, one, three;
        detector_make(&of, classes[c],
                      c == 1 ? LEAT_GRAPH_WANT_BLAME
                             : LEAT_GRAPH_WANT_FIRST | LEAT_GRAPH_WANT_RESIDUAL |
                                   LEAT_GRAPH_WANT_OPEN);
        score_singly(&of, framed, "train", &singly);
        walk_split(&of, stored, "train", 1, &one);
        of.scoring.kernels = "scalar";
        walk_split(&of, framed, "train", 3, &three);
        assert_true(one.batches > 1 && one.batches < one.graphs);
        same(&singly, &one);
        same(&singly, &three);
        taken_free(&singly);
        taken_free(&one);
        taken_free(&three);
        free(of.parameters);
    }
}

/* A residual is that of the pass in which its mask alone is hidden, by the model's own functions.
 */
static void residuals_are_those_of_their_masks(void **state) {
    (void)state;
    const leat_graph_limits most = {1, 64, 64};
    detector of;
    taken singly;
    leat_can_cache *cache = graphs_open(graphs_stored);
    const leat_graph_file *file = NULL;
    leat_graph_makers *makers = NULL;
    void *model = NULL, *memory = malloc((size_t)leat_graph_micro_bytes(&most));
    detector_make(&of, &leat_vgae_class, LEAT_GRAPH_WANT_RESIDUAL);
    score_singly(&of, graphs_stored, "val", &singly);
    of.vgae.max_nodes = of.vgae.max_edges = 64;
    const leat_model_setup setup = {.settings = &of.vgae, .micro_batch = 1, .threads = 1};
    assert_ok(leat_vgae_class.create(&model, &setup, err));
    assert_ok(leat_can_cache_file(cache, "val", &file, err));
    assert_ok(leat_graph_makers_create(&makers, cache, file, err));
    for (int64_t g = 0; g < VALS; g++) {
        leat_graph_micro *batch = leat_graph_micro_place(memory, &most);
        uint8_t mask[64], hidden[64];
        float recon[64 * F];
        const leat_vgae_output out = {.recon = recon};
        batch->graphs = 1;
        batch->nodes = file->node_ptr[g + 1] - file->node_ptr[g];
        batch->edges = file->edge_ptr[g + 1] - file->edge_ptr[g];
        leat_graph_micro_numbers(batch)[0] = g;
        assert_ok(leat_graph_micro_make(makers, batch, err));
        leat_graph_masks(batch->nodes, mask);
        for (int64_t n = 0; n < batch->nodes; n++) {
            float got[F];
            memcpy(got, singly.of[g] + (size_t)n * sizeof got, sizeof got);
            for (int64_t i = 0; i < batch->nodes; i++) hidden[i] = mask[i] == mask[n];
            assert_ok(leat_vgae_reconstruct(model, batch, hidden, of.parameters, &out, err));
            for (int f = 0; f < F; f++)
                assert_true(got[f] == batch->x[n * F + f] - recon[n * F + f]);
        }
    }
    leat_vgae_class.destroy(model);
    leat_graph_makers_destroy(makers);
    leat_can_cache_close(cache);
    taken_free(&singly);
    free(of.parameters);
    free(memory);
}

/* ---- Measured while training ----------------------------------------------------------------- */

static leat_train_step measure(const leat_task *task, const leat_measure_class *class,
                               const detector *of, const char *dir, int threads,
                               char note[LEAT_MEASURE_NOTE_BYTES]) {
    leat_train_options options = leat_train_options_default();
    leat_train_step step = {0};
    leat_feed feed;
    void *self = NULL;
    options.threads = threads;
    options.settings = of->scoring.settings;
    assert_ok(leat_feed_open(&feed, task->feed, dir, err));
    {
        const leat_measuring measuring = {.feed = &feed, .options = &options};
        assert_ok(class->create(&self, &measuring, note, err));
    }
    assert_true(class->bytes(&options, &feed) > 0);
    leat_measured_none(step.measured);
    assert_ok(class->take(self, of->parameters, &step, note, err));
    class->destroy(self);
    leat_feed_close(&feed);
    return step;
}

static int64_t measuring_bytes(const leat_task *task, const detector *of, const char *dir) {
    leat_train_options options = leat_train_options_default();
    leat_feed feed;
    options.settings = of->scoring.settings;
    assert_ok(leat_feed_open(&feed, task->feed, dir, err));
    const int64_t bytes = task->measure->bytes(&options, &feed);
    leat_feed_close(&feed);
    return bytes;
}

/* Memory is said beforehand also where validation has more graphs than a batch: 52 bytes of each in
 * the calibration of a VGAE, and 28 in its file; 12 where a GAT is measured, and 12 and 12. */
static void graphs_of_validation_are_counted(void **state) {
    (void)state;
    make_cache of_cache = make_cache_default();
    char dir[256];
    detector vgae, gat;
    of_cache.graphs[1] = VALS + 1000;
    graphs_make("many-val", &of_cache, dir);
    detector_make(&vgae, &leat_vgae_class, 0);
    detector_make(&gat, &leat_gat_class, 0);
    const int64_t of_vgae = measuring_bytes(&leat_vgae_task, &vgae, dir) -
                            measuring_bytes(&leat_vgae_task, &vgae, graphs_stored);
    const int64_t of_gat = measuring_bytes(&leat_gat_task, &gat, dir) -
                           measuring_bytes(&leat_gat_task, &gat, graphs_stored);
    const int64_t ranking = leat_eval_ranking_bytes(VALS + 1000) - leat_eval_ranking_bytes(VALS);
    assert_int_equal(of_vgae, 1000 * (24 + 52 + 28));
    assert_int_equal(of_gat, 1000 * (24 + 12 + 12 + 12) + ranking);
    free(vgae.parameters);
    free(gat.parameters);
}

/* By single graphs. */
static double vgae_expected(const detector *of, const char *dir) {
    taken singly;
    double sum = 0, first = 0;
    int64_t count = 0;
    score_singly(of, dir, "val", &singly);
    leat_can_cache *cache = graphs_open(dir);
    const leat_graph_file *file = NULL;
    assert_ok(leat_can_cache_file(cache, "val", &file, err));
    for (int64_t g = 0; g < file->shape.graphs; g++) {
        if (file->y[g] != 0) continue;
        memcpy(&first, singly.of[g], sizeof first);
        sum += first;
        count++;
    }
    leat_can_cache_close(cache);
    taken_free(&singly);
    return sum / (double)count;
}

static void val_loss_of_a_vgae(void **state) {
    (void)state;
    detector of;
    char note[LEAT_MEASURE_NOTE_BYTES] = "";
    detector_make(&of, &leat_vgae_class, LEAT_GRAPH_WANT_FIRST);
    const double expected = vgae_expected(&of, graphs_stored);
    for (int threads = 1; threads <= 3; threads += 2) {
        const leat_train_step step =
            measure(&leat_vgae_task, &leat_vgae_measure, &of, graphs_framed, threads, note);
        assert_true(step.measured[0] == expected);
        assert_true(isnan(step.measured[1]));
        assert_string_equal(note, "");
    }
    free(of.parameters);
}

/* Loss and AUROC by libm and pairs. */
static void gat_expected(const detector *of, const char *dir, double out[2]) {
    taken singly;
    double sum = 0, wins = 0, pairs = 0;
    float numbers[VALS][3]; /* logits, probability */
    score_singly(of, dir, "val", &singly);
    leat_can_cache *cache = graphs_open(dir);
    const leat_graph_file *file = NULL;
    assert_ok(leat_can_cache_file(cache, "val", &file, err));
    assert_int_equal(file->shape.graphs, VALS);
    for (int64_t g = 0; g < VALS; g++) {
        memcpy(numbers[g], singly.of[g], sizeof numbers[g]);
        const double p =
            1 / (1 + exp((double)numbers[g][1 - file->y[g]] - (double)numbers[g][file->y[g]]));
        sum += (1 - p) * (1 - p) * -log(p);
    }
    for (int64_t a = 0; a < VALS; a++) {
        for (int64_t b = 0; b < VALS; b++) {
            if (file->y[a] != 1 || file->y[b] != 0) continue;
            wins += numbers[a][2] > numbers[b][2] ? 1 : numbers[a][2] == numbers[b][2] ? 0.5 : 0;
            pairs++;
        }
    }
    out[0] = wins / pairs;
    out[1] = sum / VALS;
    leat_can_cache_close(cache);
    taken_free(&singly);
}

static void auroc_and_loss_of_a_gat(void **state) {
    (void)state;
    detector of;
    char note[LEAT_MEASURE_NOTE_BYTES] = "";
    double expected[2];
    detector_make(&of, &leat_gat_class, 0);
    gat_expected(&of, graphs_stored, expected);
    for (int threads = 1; threads <= 3; threads += 2) {
        const leat_train_step step =
            measure(&leat_gat_task, &leat_gat_measure, &of, graphs_stored, threads, note);
        assert_true(fabs(step.measured[0] - expected[0]) < 1e-12);
        assert_true(fabs(step.measured[1] - expected[1]) < 1e-12);
        assert_string_equal(note, "");
    }
    free(of.parameters);
}

static void one_class_has_no_auroc(void **state) {
    (void)state;
    detector of;
    char note[LEAT_MEASURE_NOTE_BYTES] = "", dir[256];
    make_cache options = make_cache_default();
    options.graphs[1] = 3; /* of which the fourth would be an attack */
    graphs_make("benign", &options, dir);
    detector_make(&of, &leat_gat_class, 0);
    const leat_train_step step = measure(&leat_gat_task, &leat_gat_measure, &of, dir, 1, note);
    assert_true(isnan(step.measured[0]) && step.measured[1] > 0);
    assert_non_null(strstr(note, "all labelled graphs of the split val are benign"));
    free(of.parameters);
}

static void weights_that_are_no_numbers_are_refused(void **state) {
    (void)state;
    detector of;
    taken out = {.last = -1};
    leat_can_cache *cache = graphs_open(graphs_stored);
    detector_make(&of, &leat_vgae_class, LEAT_GRAPH_WANT_RESIDUAL);
    leat_graph_walk walk = {
        .cache = cache, .scoring = &of.scoring, .threads = 3, .take = take, .context = &out};
    of.parameters[of.size / 3] = NAN;
    for (int64_t i = 0; i < of.size; i++) of.parameters[i] = NAN;
    assert_ok(leat_can_cache_file(cache, "train", &walk.file, err));
    assert_fails(leat_graph_walk_run(&walk, err), LEAT_ERR_INPUT,
                 "graph 0: what the VGAE makes of it is not finite");
    assert_int_equal(out.graphs, 0);
    leat_can_cache_close(cache);
    taken_free(&out);
    free(of.parameters);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(masks_hide_every_node_once),
        cmocka_unit_test(batches_and_threads_change_nothing),
        cmocka_unit_test(residuals_are_those_of_their_masks),
        cmocka_unit_test(graphs_of_validation_are_counted),
        cmocka_unit_test(val_loss_of_a_vgae),
        cmocka_unit_test(auroc_and_loss_of_a_gat),
        cmocka_unit_test(one_class_has_no_auroc),
        cmocka_unit_test(weights_that_are_no_numbers_are_refused),
    };
    return cmocka_run_group_tests(tests, graphs_setup, loader_teardown);
}
