/*
 * Fault sweep over plans of graph batches: the n-th allocation fails, once or from then on, until
 * the work succeeds untouched. A failed epoch is empty and the same objects can be tried again;
 * once an epoch was planned the next ones allocate nothing, unless a curriculum adds graphs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "batch/graphs/plan.h"
#include "points.h"

enum { COUNT = 500 };

static int32_t nodes[COUNT], edges[COUNT], attack[COUNT];

static leat_graph_batch_options options_of(int way) {
    leat_graph_batch_options options = leat_graph_batch_options_default();
    for (int g = 0; g < COUNT; g++) {
        nodes[g] = 10 + g * 7 % 40;
        edges[g] = 20 + g * 13 % 90;
        attack[g] = g % 5 == 0;
    }
    nodes[7] = 200;
    options.max_nodes = 100;
    options.pack = (leat_graph_pack)(way % 4);
    options.preset = (leat_graph_preset)(way / 4 % 2);
    options.oversize = LEAT_OVERSIZE_ALONE;
    if (way / 8 == 1) options.curriculum = LEAT_CURRICULUM_RANDOM;
    bool global = options.preset == LEAT_GRAPHS_REFERENCE || way % 2 == 0;
    options.window_bytes = global ? 0 : 1 << 20; /* half of the graphs */
    options.epochs = 2;
    return options;
}

static leat_code work(const leat_graph_batch_options *options, leat_graph_plan **plan,
                      leat_graph_epoch *epoch, leat_error *err) {
    const leat_graph_sizes sizes = {nodes, edges, COUNT};
    if (*plan == NULL) {
        LEAT_TRY(leat_graph_plan_create(plan, options, &sizes, attack, NULL, err));
    }
    return leat_graph_plan_epoch(*plan, 1, epoch, err);
}

static void failing(void **state) {
    (void)state;
    long swept = 0;
    for (int way = 0; way < 32; way++) {
        leat_graph_batch_options options = options_of(way % 16);
        bool reached = true;
        for (long n = 0; reached; n++) {
            leat_graph_plan *plan = NULL;
            leat_graph_epoch epoch = {.number = -1};
            leat_error err = {0};
            set_fault(n, way >= 16);
            leat_code code = work(&options, &plan, &epoch, &err);
            reached = clear_fault();
            assert_int_equal(code, reached ? LEAT_ERR_MEMORY : LEAT_OK);
            assert_int_equal(err.code, code);
            assert_true(code == LEAT_OK || (epoch.batch_count == 0 && epoch.graph_count == 0));
            assert_int_equal(work(&options, &plan, &epoch, NULL), LEAT_OK);
            assert_int_equal(epoch.graph_count, COUNT);
            leat_graph_epoch_free(&epoch);
            leat_graph_plan_destroy(plan);
            swept++;
        }
    }
    assert_true(swept > 32 * 8);
}

static void no_allocation(void **state) {
    (void)state;
    for (int way = 0; way < 16; way++) {
        leat_graph_batch_options options = options_of(way);
        leat_graph_plan *plan = NULL;
        leat_graph_epoch epoch = {.number = -1};
        assert_int_equal(work(&options, &plan, &epoch, NULL), LEAT_OK);
        int64_t room = epoch.first_capacity;
        set_fault(0, true);
        for (int64_t e = 2; e < 300; e++) {
            leat_code code = leat_graph_plan_epoch(plan, e, &epoch, NULL);
            if (code == LEAT_OK) continue;
            /* an epoch of more batches than any before */
            clear_fault();
            assert_int_equal(leat_graph_plan_epoch(plan, e, &epoch, NULL), LEAT_OK);
            assert_true(epoch.batch_count + 1 > room);
            room = epoch.first_capacity;
            set_fault(0, true);
        }
        clear_fault();
        leat_graph_epoch_free(&epoch);
        leat_graph_plan_destroy(plan);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failing),
        cmocka_unit_test(no_allocation),
    };
    return cmocka_run_group_tests_name("faults of graph plans", tests, NULL, NULL);
}
