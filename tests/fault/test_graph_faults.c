/*
 * Fault sweep over the workspace of room graph: the n-th allocation fails, once or from then on.
 * Each time it says so and leaves nothing behind (a sanitizer looks). Making graphs allocates
 * nothing: there the first call would fail.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "leat/graph.h"
#include "points.h"

enum { WINDOW = 300 };

static void creating(void **state) {
    (void)state;
    long swept = 0;
    for (int stays = 0; stays < 2; stays++) {
        bool reached = true;
        for (long n = 0; reached; n++) {
            leat_graph_workspace *workspace = NULL;
            leat_error err = {0};
            set_fault(n, stays == 1);
            leat_code code = leat_graph_workspace_create(&workspace, WINDOW, &err);
            reached = clear_fault();
            assert_int_equal(code, reached ? LEAT_ERR_MEMORY : LEAT_OK);
            assert_int_equal(err.code, code);
            assert_int_equal(workspace == NULL, reached);
            leat_graph_workspace_destroy(workspace);
            swept++;
        }
    }
    assert_true(swept >= 2 * 3);
}

static void no_allocation(void **state) {
    (void)state;
    static double time[WINDOW];
    static uint32_t id[WINDOW];
    static int16_t bytes[WINDOW][LEAT_CAN_BYTES];
    leat_graph_workspace *workspace = NULL;
    leat_graph graph;
    assert_int_equal(leat_graph_workspace_create(&workspace, WINDOW, NULL), LEAT_OK);
    for (int i = 0; i < WINDOW; i++) {
        time[i] = i;
        id[i] = (uint32_t)(i * i) % 211;
        bytes[i][i % LEAT_CAN_BYTES] = (int16_t)(i % 256);
    }
    set_fault(0, true);
    for (int64_t count = LEAT_WINDOW_MIN; count <= WINDOW; count++) {
        leat_can_frames frames = {time, id, bytes, count};
        leat_graph_make(workspace, &(leat_graph_options){0}, &frames, &graph);
        assert_int_equal(leat_graph_node_count(workspace, id, count), graph.node_count);
    }
    assert_false(clear_fault());
    leat_graph_workspace_destroy(workspace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(creating),
        cmocka_unit_test(no_allocation),
    };
    return cmocka_run_group_tests_name("faults of graphs", tests, NULL, NULL);
}
