/*
 * Why it cannot be said whether a detector blames what was injected. Blame that is counted is
 * checked in test_evaluation.c.
 */
#include "check.h"
#include "evaluation_support.h"
#include "load/graph_support.h"
#include "train_support.h"

enum { TRAIN = 20, VAL = 12, TEST = 14, WINDOW = 20 };

static char data[256];
static const char *vgae;

static int setup(void **state) {
    const make_cache options = {.graphs = {TRAIN, VAL, TEST}, .window = WINDOW, .frames = true};
    evaluation_training of = {.model = "vgae", .cache = data};
    (void)state;
    graphs_make("data", &options, data);
    vgae = evaluation_train(&of, "vgae");
    return 0;
}

static int teardown(void **state) { return loader_teardown(state) + train_teardown(state); }

/* Attacks whose first injected frame is of one of several unknown identifiers. */
static void inject_unknown(made_graphs *test) {
    for (int64_t g = 0; g < test->graphs; g++) {
        const uint32_t *ids = test->frame_id + g * WINDOW;
        int first = -1, others = 0;
        for (int f = 0; f < WINDOW; f++) {
            if (ids[f] < MAKE_VOCAB) continue;
            if (first < 0) first = f;
            others += ids[f] != ids[first];
        }
        const bool attack = others > 0;
        test->y[g] = test->attack_count[g] = attack;
        test->attack_type[g] = attack ? 2 : 0;
        test->attack_first[g] = attack ? first : -1;
    }
}

/* Each that has no share has its own reason. */
static void no_blame_has_a_reason(void **state) {
    (void)state;
    leat_evaluation_options options = evaluation_options();
    static const struct {
        leat_window_score score;
        double target_fpr;
        bool known;
        leat_eval_reason reason;
    } cases[] = {
        {LEAT_WINDOW_SCORE_RESIDUAL, 0, true, LEAT_EVAL_NO_DETECTION},
        {LEAT_WINDOW_SCORE_RESIDUAL, 0.9, false, LEAT_EVAL_NO_INJECTED},
        {LEAT_WINDOW_SCORE_RESIDUAL, 0.9, true, LEAT_EVAL_DEFINED},
        {LEAT_WINDOW_SCORE_DIFFICULTY, 0.9, true, LEAT_EVAL_NO_BLAME},
    };
    char unknown[256];
    make_cache of_cache = {.graphs = {TRAIN, VAL, TEST}, .window = WINDOW, .frames = true};
    of_cache.change_test = inject_unknown;
    graphs_make("injected", &of_cache, unknown);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_evaluation *made = NULL;
        options.score = cases[i].score;
        options.target_fpr = cases[i].target_fpr;
        assert_ok(leat_evaluation_create(&made, &vgae, 1, cases[i].known ? data : unknown, &options,
                                         err));
        const leat_evaluation_result *of = &made->splits[0].results[0];
        const int64_t alike = cases[i].reason == LEAT_EVAL_DEFINED ? 1 : of->share_count;
        for (int64_t k = 0; k < alike; k++) {
            assert_int_equal(of->shares[k].share.undefined, cases[i].reason);
            assert_int_equal(of->shares[k].wilson.undefined, cases[i].reason);
        }
        leat_evaluation_destroy(made);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_blame_has_a_reason)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
