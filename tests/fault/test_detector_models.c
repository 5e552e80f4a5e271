/*
 * Faults of the detectors' models, and of the transformer: each allocation and start of a thread
 * fails in turn, nothing is left, and what is taken is what was told; once a model is made, units,
 * steps and scores allocate nothing and start no thread.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "count.h"
#include "nn/models/gat/model.h"
#include "nn/models/transformer/model.h"
#include "nn/models/vgae/model.h"
#include "points.h"

enum { GRAPHS = 3, NODES = 5, EDGES = 7, ALL = GRAPHS * NODES, LINKS = GRAPHS * EDGES, MICROS = 3 };

/* ---- A micro-batch ---- */

static float x[ALL * LEAT_MICRO_NODE_FEATURES], edge_attr[LINKS * LEAT_MICRO_EDGE_FEATURES];
static int32_t source[LINKS], target[LINKS], node_id[ALL], label[GRAPHS] = {0, 1, 0};
static int64_t node_first[GRAPHS + 1], edge_first[GRAPHS + 1], number[GRAPHS] = {3, 4, 9};
static const leat_graph_micro batch = {.graphs = GRAPHS,
                                       .nodes = ALL,
                                       .edges = LINKS,
                                       .x = x,
                                       .edge_attr = edge_attr,
                                       .source = source,
                                       .target = target,
                                       .node_id = node_id,
                                       .node_first = node_first,
                                       .edge_first = edge_first,
                                       .label = label,
                                       .number = number};

static void fill(int ids) {
    for (int g = 0; g <= GRAPHS; g++) {
        node_first[g] = (int64_t)g * NODES;
        edge_first[g] = (int64_t)g * EDGES;
    }
    for (int e = 0; e < LINKS; e++) {
        source[e] = e / EDGES * NODES + 3 * e % NODES;
        target[e] = e / EDGES * NODES + (e + 1) % NODES;
    }
    for (int i = 0; i < ALL; i++) node_id[i] = 7 * i % ids;
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) x[i] = (float)(i % 11) - 5;
    for (size_t i = 0; i < sizeof edge_attr / sizeof *edge_attr; i++)
        edge_attr[i] = (float)(i % 5) - 2;
}

static leat_code get(void *context, int64_t index, int worker, const void **out, leat_error *err) {
    (void)index;
    (void)worker;
    (void)err;
    *out = context;
    return LEAT_OK;
}

/* Two sequences of one segment, as tokens and what follows them. */
enum { LENGTH = 20, IDS = 20 };
static int32_t tokens[2 * LENGTH + 1], positions[2 * LENGTH], ones[2 * LENGTH];
static const leat_token_micro sequences = {.sequences = 2,
                                           .length = LENGTH,
                                           .inputs = tokens,
                                           .positions = positions,
                                           .segments = ones,
                                           .targets = tokens + 1,
                                           .target_segments = ones};

/* ---- The models: all, and the VGAE with few and with many identifiers ---- */

typedef struct subject {
    const leat_model_class *class;
    leat_vgae_settings vgae;
    leat_gat_settings gat;
    leat_transformer_settings transformer;
    int ids;
} subject;
enum { SUBJECTS = 4 };

static subject subject_at(int index) {
    static const leat_model_class *const classes[SUBJECTS] = {
        &leat_vgae_class, &leat_vgae_class, &leat_gat_class, &leat_transformer_class};
    subject out = {.class = classes[index],
                   .vgae = leat_vgae_settings_default(),
                   .gat = leat_gat_settings_default(),
                   .transformer = {{2, 20, 2, 1, 6, 24, IDS, LENGTH, 10000},
                                   {.kind = LEAT_SCHEDULE_CONSTANT, .peak = 1e-3},
                                   0},
                   .ids = index == 1 ? 300 : 20};
    out.vgae.vocabulary = out.gat.vocabulary = out.ids;
    out.vgae.max_nodes = out.gat.max_nodes = ALL;
    out.vgae.max_edges = out.gat.max_edges = LINKS;
    fill(out.ids);
    for (int i = 0; i < 2 * LENGTH; i++) {
        tokens[i] = 7 * i % IDS;
        positions[i] = i % LENGTH;
        ones[i] = 1;
    }
    return out;
}

static leat_model_setup setup_of(const subject *of, int threads) {
    const void *settings = &of->vgae;
    if (of->class == &leat_gat_class) settings = &of->gat;
    if (of->class == &leat_transformer_class) settings = &of->transformer;
    return (leat_model_setup){.settings = settings, .micro_batch = 2, .threads = threads};
}

static void *batch_of(const subject *of) {
    return of->class == &leat_transformer_class ? (void *)(uintptr_t)&sequences
                                                : (void *)(uintptr_t)&batch;
}

/* The calls that creating takes; each of them fails once, or from then on. */
static long sweep(const leat_model_class *class, const leat_model_setup *setup, bool stays) {
    long at = 0;
    for (bool reached = true; reached; at++) {
        void *model = &at;
        leat_error err = {0};
        set_fault(at, stays);
        const leat_code code = class->create(&model, setup, &err);
        reached = clear_fault();
        assert_int_equal(err.code, code);
        if (!reached) {
            assert_int_equal(code, LEAT_OK);
            class->destroy(model);
            continue;
        }
        assert_null(model);
        assert_int_equal(code, atomic_load(&fault_kind) == LEAT_FAULT_THREAD ? LEAT_ERR_IO
                                                                             : LEAT_ERR_MEMORY);
    }
    return at - 1;
}

static void creating(void **state) {
    (void)state;
    for (int i = 0; i < 2 * SUBJECTS; i++) {
        const subject of = subject_at(i / 2);
        const leat_model_setup setup = setup_of(&of, 1 + i % 2);
        leat_model_sizes sizes;
        assert_int_equal(of.class->sizes(&setup, &sizes, NULL), LEAT_OK);
        const long calls = sweep(of.class, &setup, false); /* and what is allocated once for good */
        assert_true(calls >= 3);
        const int64_t before = count_live();
        count_restart();
        for (int n = 0; n < 2; n++) assert_int_equal(sweep(of.class, &setup, n == 1), calls);
        assert_int_equal(count_live(), before);
        assert_in_range(count_peak() - before, sizes.bytes, sizes.bytes + 4096);
    }
}

/* ---- Units, steps, scores ---- */

static float *zeros(int64_t count) {
    float *out = calloc((size_t)count, sizeof *out);
    assert_non_null(out);
    return out;
}

static void score(const subject *of, void *model, const float *parameters) {
    static float values[ALL * 64], logits[2 * GRAPHS], probability[GRAPHS],
        blame[sizeof x / sizeof *x];
    if (of->class == &leat_gat_class) {
        const leat_gat_scores out = {logits, probability, blame};
        assert_int_equal(leat_gat_score(model, &batch, parameters, &out, NULL), LEAT_OK);
    } else if (of->class == &leat_transformer_class) {
        static float out[2 * LENGTH * IDS];
        assert_int_equal(leat_transformer_logits(model, &sequences, parameters, out, NULL),
                         LEAT_OK);
    } else {
        const leat_vgae_output out = {.mu = values};
        assert_int_equal(leat_vgae_latent(model), 64);
        assert_int_equal(leat_vgae_reconstruct(model, &batch, NULL, parameters, &out, NULL),
                         LEAT_OK);
    }
}

static void computing(void **state) {
    (void)state;
    for (int i = 0; i < 2 * SUBJECTS; i++) {
        const subject of = subject_at(i / 2);
        const leat_model_setup setup = setup_of(&of, 1 + i % 2);
        leat_model_sizes sizes;
        void *model = NULL;
        assert_int_equal(of.class->sizes(&setup, &sizes, NULL), LEAT_OK);
        assert_int_equal(of.class->create(&model, &setup, NULL), LEAT_OK);
        float *parameters = zeros(sizes.parameters), *means = zeros(2 * sizes.parameters);
        leat_unit_numbers numbers = {.gradient = zeros(sizes.parameters)};
        of.class->init(model, 1, parameters, NULL);
        set_fault(0, true); /* every call fails */
        for (int step = 0; step < 2; step++) {
            const leat_unit_batches batches = {step == 0 ? 1 : MICROS, get, batch_of(&of)};
            assert_int_equal(of.class->unit(model, 0, &batches, parameters, &numbers, NULL),
                             LEAT_OK);
            const leat_model_step update = {.step = step,
                                            .gradient = numbers.gradient,
                                            .weight = numbers.weight,
                                            .parameters = parameters,
                                            .first = means,
                                            .second = means + sizes.parameters};
            assert_int_equal(of.class->step(model, &update, NULL), LEAT_OK);
            score(&of, model, parameters);
        }
        assert_int_equal(atomic_load(&fault_seen), 0);
        clear_fault();
        free(numbers.gradient);
        free(means);
        free(parameters);
        of.class->destroy(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(creating), cmocka_unit_test(computing)};
    return cmocka_run_group_tests_name("faults of models", tests, NULL, NULL);
}
