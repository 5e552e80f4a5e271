/*
 * What the ops and units of nn assert of their callers: each case breaks one precondition, whose
 * only other sign would be wrong numbers, and must end the process with its words.
 */
#include <fenv.h>
#include <stdio.h>

#include "apart.h"
#include "nn/ops/adam.h"
#include "nn/ops/attention.h"
#include "nn/ops/batchnorm.h"
#include "nn/ops/bce.h"
#include "nn/ops/conv.h"
#include "nn/ops/each.h"
#include "nn/ops/move.h"
#include "nn/ops/product.h"
#include "nn/ops/random.h"
#include "nn/ops/rms_norm.h"
#include "nn/ops/rope.h"
#include "nn/ops/schedule.h"
#include "nn/ops/swiglu.h"
#include "nn/ops/token_loss.h"
#include "nn/params.h"
#include "nn/unit/float_layout.h"
#include "nn/unit/unit.h"
#include "nn_support.h"

static const leat_device device = {.kernels = &leat_kernels_scalar};
static _Alignas(64) float at[4096]; /* all arrays lie here, overlapping in one place */

/* ---- Values alone ------------------------------------------------------------------------- */

static leat_code each_overlaps(leat_error *err) {
    return leat_map_values(&device, LEAT_FUNCTION_EXP, 32, at, at + 16, err);
}
static leat_code each_up_overlaps(leat_error *err) {
    return leat_tanh_backward(&device, 32, at, at + 100, at + 99, err);
}
static leat_code each_count(leat_error *err) {
    return leat_add_scaled(&device, -1, 2, at, at + 16, err);
}
static leat_code each_no_function(leat_error *err) {
    return leat_map_values(&device, LEAT_FUNCTIONS, 4, at, at, err);
}
static leat_code each_slope(leat_error *err) { return leat_leaky(&device, -0.1f, 4, at, at, err); }
static leat_code each_slope_backward(leat_error *err) {
    return leat_leaky_backward(&device, -0.1f, 4, at, at, at, err);
}

/* ---- Products ----------------------------------------------------------------------------- */

/* 4 x 8 by 8 x 20; c begins at 1000. */
static leat_product product(void) {
    return (leat_product){.rows = 4,
                          .columns = 20,
                          .depth = 8,
                          .a = at,
                          .a_step = 8,
                          .b = at + 100,
                          .b_step = 20,
                          .c = at + 1000,
                          .c_step = 20};
}
static leat_code product_right(leat_error *err) {
    const leat_product p = product();
    return leat_product_run(&device, &p, at + 2000, err);
}
static leat_code product_in_place(leat_error *err) {
    leat_product p = product();
    p.c = at + 31; /* the last value of a */
    return leat_product_run(&device, &p, at + 2000, err);
}
static leat_code product_work(leat_error *err) {
    const leat_product p = product();
    return leat_product_run(&device, &p, at + 1079, err);
}
static leat_code product_act(leat_error *err) {
    leat_product p = product();
    p.act = LEAT_ACT_FUNCTION;
    p.function = LEAT_FUNCTIONS;
    return leat_product_run(&device, &p, at + 2000, err);
}

/* ---- Convolutions ------------------------------------------------------------------------- */

/* 2 channels of 4 x 4 to 3 of 2 x 2: 96 weights, 512 and 192 floats of an image. */
static leat_conv conv(void) {
    leat_conv out = {.kernel = 4,
                     .stride = 2,
                     .padding = 1,
                     .wide_channels = 2,
                     .wide_height = 4,
                     .wide_width = 4,
                     .narrow_channels = 3};
    leat_error err;
    if (leat_conv_complete(&out, &err) != LEAT_OK) _exit(1);
    return out;
}
static leat_code conv_right(leat_error *err) {
    const leat_conv of = conv();
    leat_conv_pack_down(&device, &of, at, at + 96);
    return leat_conv_down(&device, &of, 1, at + 96, at + 200, at + 712, err);
}
static leat_code conv_in_place(leat_error *err) {
    const leat_conv of = conv();
    return leat_conv_down(&device, &of, 1, at, at + 200, at + 711, err);
}
static leat_code conv_not_completed(leat_error *err) {
    leat_conv of = conv();
    of.narrow_height = 3;
    return leat_conv_up(&device, &of, 1, at, at + 200, at + 1000, err);
}
static leat_code conv_pack(leat_error *err) {
    const leat_conv of = conv();
    (void)err;
    leat_conv_pack_up(&device, &of, at, at + 95);
    return LEAT_OK;
}
static leat_code conv_gradient_work(leat_error *err) {
    const leat_conv of = conv();
    const leat_conv_gradient gradient = {at, false, at + leat_conv_gradient_count(&of) - 1};
    return leat_conv_weight_gradient(&device, &of, 1, at + 3000, at + 3600, &gradient, err);
}
static leat_code conv_gradient_input(leat_error *err) {
    const leat_conv of = conv();
    const leat_conv_gradient gradient = {at, false, at + 1000};
    return leat_conv_weight_gradient(&device, &of, 1, at + 1, at + 3600, &gradient, err);
}
static leat_code conv_unpack(leat_error *err) {
    const leat_conv of = conv();
    (void)err;
    leat_conv_unpack_gradient(&of, at, at);
    return LEAT_OK;
}

/* ---- Normalisation, losses, steps --------------------------------------------------------- */

/* 3 pixels, 2 channels, 5 images: activations of 96 floats. */
static leat_batchnorm batchnorm(void) {
    return (leat_batchnorm){.pixels = 3,
                            .channels = 2,
                            .images = 5,
                            .eps = 1e-5f,
                            .slope = 0.2f,
                            .training = true,
                            .weight = at,
                            .shift = at + 2,
                            .mean = at + 4,
                            .variance = at + 6,
                            .work = at + 8};
}
static leat_code norm_right(leat_error *err) {
    const leat_batchnorm bn = batchnorm();
    return leat_batchnorm_forward(&device, &bn, at + 1000, at + 1000, err);
}
static leat_code norm_shifted(leat_error *err) {
    const leat_batchnorm bn = batchnorm();
    return leat_batchnorm_forward(&device, &bn, at + 1000, at + 1016, err);
}
static leat_code norm_moments(leat_error *err) {
    leat_batchnorm bn = batchnorm();
    bn.variance = bn.mean + 1;
    return leat_batchnorm_forward(&device, &bn, at + 1000, at + 1000, err);
}
static leat_code norm_work(leat_error *err) {
    const leat_batchnorm bn = batchnorm();
    return leat_batchnorm_forward(&device, &bn, at + 1000, at + 8, err);
}
static leat_code norm_backward_over_x(leat_error *err) {
    const leat_batchnorm bn = batchnorm();
    return leat_batchnorm_backward(&device, &bn, at + 1000, at + 2000, at + 1000, NULL, NULL, err);
}
static leat_code norm_slope(leat_error *err) {
    leat_batchnorm bn = batchnorm();
    bn.slope = -1;
    return leat_batchnorm_forward(&device, &bn, at + 1000, at + 1000, err);
}
static leat_code norm_fold(leat_error *err) {
    (void)err;
    leat_batchnorm_fold(2, 0, at, at + 2, at + 4, at + 6);
    return LEAT_OK;
}
static leat_code bce_in_place(leat_error *err) {
    double loss;
    (void)err;
    leat_bce(&device, 4, 1, at, &loss, at, at + 100);
    return LEAT_OK;
}
static leat_code bce_target(leat_error *err) {
    double loss;
    (void)err;
    leat_bce(&device, 4, 1.5f, at, &loss, at + 50, at + 100);
    return LEAT_OK;
}
static leat_code adam_moments(leat_error *err) {
    const leat_adam adam = {.rate = 1e-3, .beta1 = 0.5, .beta2 = 0.9, .eps = 1e-8};
    const leat_adam_weights of = {.count = 16,
                                  .gradient = at,
                                  .gradient_factor = 1,
                                  .weights = at + 100,
                                  .first = at + 200,
                                  .second = at + 200};
    return leat_adam_apply(&device, &adam, 1, &of, err);
}

/* ---- Moved ---------------------------------------------------------------------------------- */

static leat_code move_in_place(leat_error *err) {
    return leat_move_in(&device, 2, 3, at, at + 5, err);
}
static leat_code move_none(leat_error *err) {
    return leat_move_out(&device, 0, 3, at, at + 99, err);
}
static leat_code copy_over(leat_error *err) {
    (void)err;
    leat_copy(&device, 3, at, at + 2);
    return LEAT_OK;
}

/* ---- Random numbers, the mode for floating point, tables, memory --------------------------- */

static leat_code random_range(leat_error *err) {
    (void)err;
    leat_normal_fill(&device, 1, (INT64_C(1) << 62) - 2, 2, at);
    return LEAT_OK;
}
static leat_code rounding(leat_error *err) {
    if (fesetround(FE_DOWNWARD) != 0) _exit(1);
    return leat_add_scaled(&device, 4, 2, at, at + 16, err);
}
static leat_code long_name(leat_error *err) {
    leat_param params[1];
    int count = 0;
    const int64_t shape[] = {1};
    (void)err;
    leat_param_add(params, &count, 0, 1, 1, shape, "%0100d", 7);
    return LEAT_OK;
}
static leat_code floats_beyond(leat_error *err) {
    leat_float_layout floats = {0};
    (void)err;
    leat_float_layout_take(&floats, 20);
    leat_float_layout_place(&floats, at);
    leat_float_layout_take(&floats, 33);
    return LEAT_OK;
}
static leat_code floats_less(leat_error *err) {
    leat_float_layout floats = {0};
    (void)err;
    leat_float_layout_take(&floats, 20);
    leat_float_layout_place(&floats, at);
    leat_float_layout_take(&floats, 16);
    leat_float_layout_end(&floats);
    return LEAT_OK;
}
static leat_code floats_unaligned(leat_error *err) {
    leat_float_layout floats = {0};
    (void)err;
    leat_float_layout_take(&floats, 20);
    leat_float_layout_place(&floats, at + 1);
    return LEAT_OK;
}
static leat_code unit_sum(leat_error *err) {
    (void)err;
    leat_unit_add(4, at, at + 3);
    return LEAT_OK;
}

/* A micro-batch without a weight, and one whose gradient is the unit's. */
static leat_code make(void *context, leat_micro *micro, leat_error *err) {
    (void)err;
    micro->gradient = at;
    micro->weight = *(const double *)context;
    return LEAT_OK;
}
static leat_code run_unit(double weight, float *gradient, leat_error *err) {
    leat_engine engine;
    leat_unit_sums sums;
    uint64_t mode;
    const leat_unit_job job = {
        .micro_batches = 1, .size = 8, .end = 8, .make = make, .context = &weight};
    LEAT_TRY(leat_engine_set(&engine, "toy", "scalar", 1, err));
    LEAT_TRY(leat_engine_start(&engine, err));
    LEAT_TRY(leat_engine_enter(&engine, &mode, err));
    return leat_unit_run(&engine, &job, gradient, &sums, err);
}
static leat_code unit_weight(leat_error *err) { return run_unit(0, at + 100, err); }
static leat_code unit_gradient(leat_error *err) { return run_unit(1, at, err); }

/* ---- Rows of tokens ------------------------------------------------------------------------- */

static const int32_t ones[8] = {1, 1, 1, 1, 1, 1, 1, 1};

/* 4 rows of 2 heads of 16 columns; q begins at 0, k at 200, v at 400, m at 600, l at 700. */
static leat_attention attention(void) {
    return (leat_attention){.sequences = 1,
                            .length = 4,
                            .heads = 2,
                            .kv_heads = 1,
                            .width = 16,
                            .segment = ones,
                            .q = at,
                            .k = at + 200,
                            .v = at + 400,
                            .most = at + 600,
                            .sum = at + 700};
}
static leat_code attention_right(leat_error *err) {
    const leat_attention a = attention();
    return leat_attention_forward(&device, &a, at + 1000, err);
}
static leat_code attention_in_place(leat_error *err) {
    const leat_attention a = attention();
    return leat_attention_forward(&device, &a, at, err);
}
static leat_code attention_heads(leat_error *err) {
    leat_attention a = attention();
    a.heads = 3;
    a.kv_heads = 2;
    return leat_attention_forward(&device, &a, at + 1000, err);
}
static leat_code attention_largest(leat_error *err) {
    const leat_attention a = attention();
    return leat_attention_forward(&device, &a, at + 580, err);
}
static leat_code attention_sums(leat_error *err) {
    leat_attention a = attention();
    a.sum = (float *)a.k + 63;
    return leat_attention_forward(&device, &a, at + 1000, err);
}
/* y, its gradient, those of q, k and v, and the work space; all of them are apart. */
static leat_attention_gradient attention_gradients(void) {
    return (leat_attention_gradient){at + 1000, at + 1200, at + 1400,
                                     at + 1600, at + 1700, at + 2000};
}
static leat_code attention_gradient_right(leat_error *err) {
    const leat_attention a = attention();
    const leat_attention_gradient gradient = attention_gradients();
    return leat_attention_backward(&device, &a, &gradient, err);
}
static leat_code attention_gradient(leat_error *err) {
    const leat_attention a = attention();
    leat_attention_gradient gradient = attention_gradients();
    gradient.v = gradient.k + 10;
    return leat_attention_backward(&device, &a, &gradient, err);
}
static leat_code attention_gradient_up(leat_error *err) {
    const leat_attention a = attention();
    leat_attention_gradient gradient = attention_gradients();
    gradient.k = at + 1200 + 127; /* the last value of the gradient of y */
    return leat_attention_backward(&device, &a, &gradient, err);
}
static leat_code attention_gradient_q(leat_error *err) {
    const leat_attention a = attention();
    leat_attention_gradient gradient = attention_gradients();
    gradient.v = at + 127;
    return leat_attention_backward(&device, &a, &gradient, err);
}
static leat_code attention_gradient_work(leat_error *err) {
    const leat_attention a = attention();
    leat_attention_gradient gradient = attention_gradients();
    gradient.work = gradient.v + 63;
    return leat_attention_backward(&device, &a, &gradient, err);
}
static leat_code attention_gradient_sums(leat_error *err) {
    const leat_attention a = attention();
    leat_attention_gradient gradient = attention_gradients();
    gradient.q = at + 700 - 127;
    return leat_attention_backward(&device, &a, &gradient, err);
}
static leat_code rms_over_x(leat_error *err) {
    const leat_rms_norm of = {4, 16, 1e-6f, at};
    const leat_rms_norm_gradient gradient = {at + 300, at + 400, at + 100};
    return leat_rms_norm_backward(&device, &of, at + 100, at + 200, &gradient, err);
}
static leat_code rms_eps(leat_error *err) {
    const leat_rms_norm of = {4, 16, 0, at};
    return leat_rms_norm_forward(&device, &of, at + 100, at + 200, at + 300, err);
}
static leat_code rope_position(leat_error *err) {
    const leat_rope of = {4, 1, 16, 1, at, ones};
    return leat_rope_forward(&device, &of, at + 100, err);
}
static leat_code rope_odd(leat_error *err) {
    (void)err;
    leat_rope_fill(4, 15, 10000, at);
    return LEAT_OK;
}
static leat_code swiglu_shifted(leat_error *err) {
    return leat_swiglu_forward(&device, 20, at, at + 100, at + 101, err);
}
static leat_code loss_target(leat_error *err) {
    const leat_token_loss of = {1, 1, ones, ones, at + 100};
    double sum;
    int64_t count;
    return leat_token_loss_run(&device, &of, at, &sum, &count, err);
}
static leat_code loss_size(leat_error *err) {
    const leat_token_loss of = {INT64_C(1) << 37, 9, ones, ones, NULL};
    double sum;
    int64_t count;
    return leat_token_loss_run(&device, &of, at, &sum, &count, err);
}
static leat_code loss_in_place(leat_error *err) {
    const leat_token_loss of = {2, 1, ones, ones, at + 31};
    double sum;
    int64_t count;
    return leat_token_loss_run(&device, &of, at, &sum, &count, err);
}
static leat_code schedule_end(leat_error *err) {
    const leat_schedule of = {LEAT_SCHEDULE_COSINE, 1, 10, 2};
    (void)err;
    at[0] = (float)leat_schedule_rate(&of, 11);
    return LEAT_OK;
}

/* ---- All of them -------------------------------------------------------------------------- */

static const struct {
    const char *name;
    leat_code (*run)(leat_error *err);
    const char *words; /* of the assertion; NULL: all is well */
} cases[] = {
    {"values overlap", each_overlaps, "leat_same_or_apart(job.x"},
    {"a gradient overlaps", each_up_overlaps, "leat_same_or_apart(job.up"},
    {"a negative count", each_count, "job.count >= 0"},
    {"no such function", each_no_function, "leat_is_function"},
    {"a negative slope", each_slope, "slope >= 0"},
    {"its gradient", each_slope_backward, "slope >= 0"},
    {"rows moved in place", move_in_place, "leat_apart(job.from"},
    {"rows of no image", move_none, "job.images >= 1"},
    {"a copy over its source", copy_over, "leat_apart(in"},
    {"a product", product_right, NULL},
    {"c overlaps a", product_in_place, "leat_apart(p->a"},
    {"c overlaps the work space", product_work, "leat_apart(work"},
    {"a product's function", product_act, "leat_is_function"},
    {"a convolution", conv_right, NULL},
    {"its output overlaps its input", conv_in_place, "leat_apart(in"},
    {"sizes of nobody's", conv_not_completed, "room / conv->stride"},
    {"packed in place", conv_pack, "leat_apart(weights"},
    {"gradient and work space overlap", conv_gradient_work, "gradient->work"},
    {"gradient and input overlap", conv_gradient_input, "gradient->values"},
    {"unpacked in place", conv_unpack, "leat_apart(gradient"},
    {"a normalisation", norm_right, NULL},
    {"its output overlaps its input", norm_shifted, "leat_same_or_apart(x"},
    {"its moments overlap", norm_moments, "leat_apart(bn->mean"},
    {"its output is the work space", norm_work, "bn->work"},
    {"its gradient replaces the input", norm_backward_over_x, "leat_apart(x, all, down"},
    {"its slope is negative", norm_slope, "bn->slope >= 0"},
    {"moments of no value", norm_fold, "count >= 1"},
    {"a loss whose gradient replaces x", bce_in_place, "leat_apart(x"},
    {"a target above 1", bce_target, "target <= 1"},
    {"moments in the same place", adam_moments, "of->first"},
    {"numbers beyond the last", random_range, "NUMBERS - first"},
    {"another rounding", rounding, "leat_float_mode_is_set"},
    {"a name that is too long", long_name, "length <"},
    {"more than was counted", floats_beyond, "floats->size"},
    {"less than was counted", floats_less, "floats->used == floats->size"},
    {"a block that is not aligned", floats_unaligned, "LEAT_FLOAT_LAYOUT_ALIGNMENT"},
    {"a unit added to itself", unit_sum, "leat_apart(gradient"},
    {"a micro-batch without a weight", unit_weight, "micro->weight > 0"},
    {"attention", attention_right, NULL},
    {"its output overlaps its input", attention_in_place, "outputs_apart"},
    {"its output overlaps the maxima", attention_largest, "outputs_apart"},
    {"its sums overlap the keys", attention_sums, "outputs_apart"},
    {"heads that share no key-value head", attention_heads, "of->heads % of->kv_heads"},
    {"its gradient", attention_gradient_right, NULL},
    {"gradients of keys and values overlap", attention_gradient, "gradients_apart"},
    {"those of keys and of y overlap", attention_gradient_up, "gradients_apart"},
    {"those of values overlap the queries", attention_gradient_q, "gradients_apart"},
    {"its work space overlaps them", attention_gradient_work, "gradients_apart"},
    {"those of queries overlap the sums", attention_gradient_sums, "gradients_apart"},
    {"the gradient of a norm replaces x", rms_over_x, "leat_apart(x, all, g->down"},
    {"a norm that may divide by 0", rms_eps, "of->eps > 0"},
    {"a position beyond the table", rope_position, "of->position[row]"},
    {"heads without halves", rope_odd, "width % 2"},
    {"a gated unit's values overlap", swiglu_shifted, "leat_same_or_apart(x"},
    {"a target that is no identifier", loss_target, "want < of->ids"},
    {"more logits than an op takes", loss_size, "of->rows <= LEAT_OP_VALUES_MAX"},
    {"a loss whose terms are logits", loss_in_place, "leat_apart(of->terms"},
    {"a step after the last one", schedule_end, "step <= schedule->steps"},
    {"a micro-batch in the unit's gradient", unit_gradient, "leat_apart(micro->gradient"},
};

static void test_broken(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[600];
        const int status = run_apart(cases[i].run, text, sizeof text);
        const bool stopped = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
        const bool ended = WIFEXITED(status) && WEXITSTATUS(status) == 0;
        const char *words = cases[i].words;
        if (words == NULL ? !ended : !stopped || strstr(text, words) == NULL)
            fail_msg("%s: status %d: %s", cases[i].name, status, text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_broken)};
    return cmocka_run_group_tests_name("invariants of nn", tests, NULL, NULL);
}
