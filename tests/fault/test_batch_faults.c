/*
 * Fault sweep over everything that sampling allocates: the n-th allocation fails, once or from then
 * on, for n = 1, 2, ... until the work succeeds untouched. Each time it says so and leaves nothing
 * behind (a sanitizer looks). Making sequences allocates nothing: there the first call would fail.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "batch/tokens/clients.h"
#include "batch/tokens/context.h"
#include "points.h"

enum { LENGTH = 256, ROWS = 300 };

typedef struct made {
    leat_sampler_options options;
    leat_anchors *anchors;
    leat_context *context;
    leat_clients *clients;
} made;

static leat_code row_size(void *user, int64_t row, int64_t *n, int *ip_version, leat_error *err) {
    (void)user;
    (void)err;
    *n = 1 + row % 90;
    *ip_version = row % 2 == 0 ? 4 : 6;
    return LEAT_OK;
}

static leat_code points(void *user, int64_t row, const int64_t *index, int32_t count,
                        leat_measurement *out, leat_error *err) {
    (void)user;
    (void)err;
    for (int32_t i = 0; i < count; i++) {
        out[i] = (leat_measurement){.time_us = index[i] * 200000000,
                                    .src = "192.0.2.1",
                                    .dst = "192.0.2.2",
                                    .src_size = 9,
                                    .dst_size = 9,
                                    .ip_version = row % 2 == 0 ? 4 : 6,
                                    .rtt = 1};
    }
    return LEAT_OK;
}

static void destroy(made *self) {
    leat_anchors_destroy(self->anchors);
    leat_context_destroy(self->context);
    leat_clients_destroy(self->clients);
}

static leat_code make(made *self, leat_error *err) {
    static const double weights[] = {1, 2, 3, 4};
    LEAT_TRY(leat_anchors_create(&self->anchors, &self->options, ROWS, row_size, NULL, err));
    LEAT_TRY(leat_context_create(&self->context, &self->options, err));
    return leat_clients_create(&self->clients, 4, weights, err);
}

static made made_of(leat_sampler sampler, leat_field_order order) {
    made self = {.options = leat_sampler_options_default()};
    self.options.length = LENGTH;
    self.options.sampler = sampler;
    self.options.field_order = order;
    return self;
}

static void creating(void **state) {
    (void)state;
    long swept = 0;
    for (int way = 0; way < 6; way++) {
        bool reached = true;
        for (long n = 0; reached; n++) {
            made self = made_of((leat_sampler)(way % 3), LEAT_FIELDS_RANDOM);
            leat_error err = {0};
            set_fault(n, way >= 3);
            leat_code code = make(&self, &err);
            reached = clear_fault();
            assert_int_equal(code, reached ? LEAT_ERR_MEMORY : LEAT_OK);
            assert_int_equal(err.code, code);
            /* the handle whose making failed is NULL, as are those not yet made */
            assert_true(code == LEAT_OK || self.clients == NULL);
            destroy(&self);
            swept++;
        }
    }
    assert_true(swept > 6 * 12);
}

static void no_allocation(void **state) {
    (void)state;
    static int32_t arrays[6 * LENGTH];
    static leat_measurement point[LENGTH];
    for (int way = 0; way < 6; way++) {
        made self = made_of((leat_sampler)(way % 3), (leat_field_order)(way / 3));
        leat_row_reader reader = {.row_size = row_size, .points = points, .point = point};
        leat_sequence sequence = {.inputs = arrays,
                                  .targets = arrays + LENGTH,
                                  .inputs_position = arrays + 2 * LENGTH,
                                  .targets_position = arrays + 3 * LENGTH,
                                  .inputs_segmentation = arrays + 4 * LENGTH,
                                  .targets_segmentation = arrays + 5 * LENGTH,
                                  .length = LENGTH};
        assert_int_equal(make(&self, NULL), LEAT_OK);
        int64_t probe[3], scratch[3], all = leat_anchors_count(self.anchors);
        set_fault(0, true);
        for (int64_t s = 0; s < 500; s++) {
            leat_source source = leat_source_of_epoch(1, all, s);
            assert_int_equal(
                leat_sequence_make(&sequence, &source, self.anchors, self.context, &reader, NULL),
                LEAT_OK);
            assert_int_equal(leat_clients_batch(self.clients, 1, s,
                                                &(leat_clients_drawn){3, probe, scratch}, NULL),
                             LEAT_OK);
        }
        assert_false(clear_fault());
        destroy(&self);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(creating),
        cmocka_unit_test(no_allocation),
    };
    return cmocka_run_group_tests_name("faults of sampling", tests, NULL, NULL);
}
