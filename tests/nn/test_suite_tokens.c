/* The suite "tokens" of the kernels, as test_suite.c: every variant that runs here, the hash, and
 * kernels that are wrong on purpose. */
#include "suite_frame.h"

/* Of every variant on every machine: a part of the kernel class of a transformer. */
#define SUITE_HASH UINT64_C(0x9a0f67a6b8a6a3d6)
static const tested_suite suite = {LEAT_SUITE_TOKENS, SUITE_HASH, leat_tokens_check};

static void every_variant(void **state) {
    (void)state;
    suite_every_variant(&suite);
}

static void known_by_name(void **state) {
    (void)state;
    suite_is_known(&suite);
}

/* Adds eps after the root. */
static void norm_apart(const leat_rms_rows *of, float *y) {
    leat_rms_rows other = *of;
    other.eps = 0;
    leat_kernels_scalar.rms_norm(&other, y);
}

/* Leaves the mean out. */
static void norm_back_straight(const leat_rms_rows *of, const float *up, float *down) {
    for (int64_t row = 0; row < of->rows; row++)
        for (int64_t c = 0; c < of->columns; c++)
            down[row * of->step + c] = of->scale[row] * (up[row * of->step + c] * of->weight[c]);
}

/* Begins at 0. */
static void norm_weight_anew(const leat_rms_rows *of, const float *up, float *of_weight) {
    for (int64_t c = 0; c < of->columns; c++) of_weight[c] = 0;
    leat_kernels_scalar.rms_norm_weight(of, up, of_weight);
}

/* Turns the other way. */
static void turn_back(const leat_turn *of, float *x) {
    leat_turn other = *of;
    other.sign = -other.sign;
    leat_kernels_scalar.turn(&other, x);
}

/* Mistakes one array for the other. */
static void swiglu_mistaken(int64_t count, const float *gate, const float *x, float *y) {
    leat_kernels_scalar.swiglu(count, x, gate, y);
}

/* Leaves out how the gate's slope changes. */
static void swiglu_back_straight(int64_t count, float *gate, float *x, const float *up) {
    float other[256];
    for (int64_t i = 0; i < count; i++) other[i] = x[i];
    leat_kernels_scalar.swiglu_back(count, gate, x, up);
    for (int64_t i = 0; i < count; i++) gate[i] = up[i] * other[i];
}

/* Lets each row see one key more. */
static void attend_ahead(const leat_attend *of) {
    leat_attend other = *of;
    other.keys++;
    leat_kernels_scalar.attend(&other);
}

/* Forgets what there was. */
static void attend_anew(const leat_attend *of) {
    leat_attend other = *of;
    other.begin = true;
    leat_kernels_scalar.attend(&other);
}

/* Leaves a sum of -0 as it is. */
static void attend_end_straight(const leat_attend *of) {
    for (int row = 0; row < of->rows; row++)
        for (int64_t c = 0; c < of->width; c++)
            of->out[row * of->step + c] /= of->sum[row * of->heads];
}

/* Leaves D out. */
static void attend_back_straight(const leat_attend *of, float *ups) {
    leat_attend other = *of;
    const float none[LEAT_ATTENTION_TILE * 8] = {0};
    other.delta = none;
    leat_kernels_scalar.attend_back(&other, ups);
}

static void wrong_kernels_are_caught(void **state) {
    (void)state;
    suite_canary wrong[] = {
        {leat_kernels_scalar, "norm of rows: "},
        {leat_kernels_scalar, "gradient of a norm: "},
        {leat_kernels_scalar, "gradient of its weight: "},
        {leat_kernels_scalar, "turned heads: "},
        {leat_kernels_scalar, "gated values: "},
        {leat_kernels_scalar, "exponentials of a tile: "},
        {leat_kernels_scalar, "their sums: "},
        {leat_kernels_scalar, "gradients of its scores: "},
        {leat_kernels_scalar, "shares of attention: "},
        {leat_kernels_scalar, "gradient of gated values: "},
    };
    wrong[0].kernels.rms_norm = norm_apart;
    wrong[1].kernels.rms_norm_back = norm_back_straight;
    wrong[2].kernels.rms_norm_weight = norm_weight_anew;
    wrong[3].kernels.turn = turn_back;
    wrong[4].kernels.swiglu = swiglu_mistaken;
    wrong[5].kernels.attend = attend_ahead;
    wrong[6].kernels.attend = attend_anew;
    wrong[7].kernels.attend_back = attend_back_straight;
    wrong[8].kernels.attend_end = attend_end_straight;
    wrong[9].kernels.swiglu_back = swiglu_back_straight;
    suite_catches(&suite, wrong, sizeof wrong / sizeof *wrong);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_variant),
        cmocka_unit_test(known_by_name),
        cmocka_unit_test(wrong_kernels_are_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
