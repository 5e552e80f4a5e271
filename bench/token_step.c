/*
 * Steps of a transformer over tokens, in a fresh process:
 *
 *   bench_token_step [--kernels NAME] [--threads N] [--sequences N] [--segment N] [--batches N]
 *                    [--milliseconds N] SIZE...
 *
 * SIZE is tiny, small or base. A step is a unit of --batches micro-batches of --sequences
 * sequences, full of segments of --segment tokens (default: one for each sequence), and AdamW.
 * Attention is measured alone, too, in one thread. Figures are of the best within --milliseconds;
 * the share of the peak is of seconds of the processor, and the peak, too, measured before and
 * after. "bits" stands for the weights after the first step.
 *
 * Needed arithmetic: each product once forward and twice backward; of attention two products
 * forward and five backward, of the pairs of a query and a key that it reads only.
 */
#include "leat/nn.h"
#include "nn/float_mode.h"
#include "nn/models/transformer/model.h"
#include "nn/models/transformer/transformer.h"
#include "step.h"

typedef struct bench {
    const char *variant;
    int64_t threads, sequences, segment, batches;
    double seconds;
    leat_json *json;
} bench;

/* ---- Tokens ------------------------------------------------------------------------------- */

static uint64_t state = 1;
static int64_t below(int64_t bound) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((state >> 33) % (uint64_t)bound);
}

static float *numbers(int64_t count) {
    float *out = bench_room(count * (int64_t)sizeof *out);
    for (int64_t i = 0; i < count; i++) out[i] = (float)below(4001) / 2000.0f - 1.0f;
    return out;
}

/* The same tokens in every micro-batch; *pairs of a query and a key. */
static leat_token_micro make_micro(const bench *self, const leat_transformer_size *size,
                                   double *pairs) {
    const int64_t rows = self->sequences * size->length;
    const int64_t segment = self->segment == 0 ? size->length : self->segment;
    int32_t *inputs = bench_room(4 * rows), *targets = bench_room(4 * rows);
    int32_t *positions = bench_room(4 * rows), *segments = bench_room(4 * rows);
    *pairs = 0;
    for (int64_t i = 0; i < rows; i++) {
        inputs[i] = (int32_t)below(size->vocabulary);
        targets[i] = (int32_t)below(size->vocabulary);
        positions[i] = (int32_t)(i % size->length % segment);
        segments[i] = (int32_t)(i % size->length / segment) + 1;
        *pairs += positions[i] + 1;
    }
    return (leat_token_micro){.sequences = self->sequences,
                              .length = size->length,
                              .inputs = inputs,
                              .positions = positions,
                              .segments = segments,
                              .targets = targets,
                              .target_segments = segments};
}

static leat_code get_batch(void *context, int64_t index, int worker, const void **batch,
                           leat_error *err) {
    (void)index;
    (void)worker;
    (void)err;
    *batch = context;
    return LEAT_OK;
}

/* ---- Attention ---------------------------------------------------------------------------- */

static void run_attention(const leat_device *device, const leat_attention *of,
                          const leat_attention_gradient *gradient, bench_best best[2]) {
    leat_error err = {0};
    const double begin = bench_processor_seconds();
    bench_must(leat_attention_forward(device, of, (float *)(uintptr_t)gradient->y, &err), &err);
    const double middle = bench_processor_seconds();
    bench_must(leat_attention_backward(device, of, gradient, &err), &err);
    bench_keep_best(&best[0], 1, middle - begin);
    bench_keep_best(&best[1], 1, bench_processor_seconds() - middle);
}

static void measure_attention(const bench *self, const leat_transformer_size *size,
                              const leat_token_micro *batch, double pairs) {
    const int64_t rows = batch->sequences * batch->length;
    const int64_t queries = rows * leat_lanes(size->heads * size->head_width);
    const int64_t keys = rows * leat_lanes(size->kv_heads * size->head_width);
    leat_device device = {0};
    leat_error err = {0};
    bench_best best[2] = {{0}};
    bench_must(leat_kernels_named(self->variant, &device.kernels, &err), &err);
    const leat_attention of = {.sequences = batch->sequences,
                               .length = batch->length,
                               .heads = size->heads,
                               .kv_heads = size->kv_heads,
                               .width = size->head_width,
                               .segment = batch->segments,
                               .q = numbers(queries),
                               .k = numbers(keys),
                               .v = numbers(keys),
                               .most = numbers(rows * size->heads),
                               .sum = numbers(rows * size->heads)};
    const leat_attention_gradient gradient = {numbers(queries), numbers(queries),
                                              numbers(queries), numbers(keys),
                                              numbers(keys),    numbers(rows * size->heads)};
    const double product = 2e-9 * pairs * (double)(size->heads * size->head_width);
    const uint64_t mode = leat_float_mode_begin();
    const double end = bench_seconds() + self->seconds / 4;
    do run_attention(&device, &of, &gradient, best);
    while (bench_seconds() < end);
    leat_float_mode_end(mode);
    leat_json_member_double(self->json, "attention_gflops", 2 * product / best[0].processor);
    leat_json_member_double(self->json, "attention_back_gflops", 5 * product / best[1].processor);
}

/* ---- A step ------------------------------------------------------------------------------- */

typedef struct running {
    void *model;
    leat_token_micro micro;
    float *parameters, *first, *second;
    leat_unit_numbers numbers;
} running;

static void run_step(const bench *self, running *of, bench_best *best) {
    const leat_unit_batches batches = {self->batches, get_batch, &of->micro};
    const leat_model_class *class = &leat_transformer_class;
    leat_error err = {0};
    const double begin = bench_seconds(), worked = bench_processor_seconds();
    bench_must(class->unit(of->model, 0, &batches, of->parameters, &of->numbers, &err), &err);
    const leat_model_step step = {.gradient = of->numbers.gradient,
                                  .weight = of->numbers.weight,
                                  .parameters = of->parameters,
                                  .first = of->first,
                                  .second = of->second};
    bench_must(class->step(of->model, &step, &err), &err);
    bench_keep_best(best, bench_seconds() - begin, bench_processor_seconds() - worked);
}

/* In GFLOP, of a micro-batch; the embedding multiplies nothing. */
static double needed(const leat_transformer_size *size, int64_t parameters, int64_t rows,
                     double pairs) {
    const double weights = (double)(parameters - size->vocabulary * size->width);
    const double attention = 7 * pairs * (double)(size->layers * size->heads * size->head_width);
    return 2e-9 * (3 * weights * (double)rows + attention);
}

static void measure(const bench *self, const char *name) {
    leat_transformer_settings settings = {
        .schedule = {.kind = LEAT_SCHEDULE_CONSTANT, .peak = 1e-3}};
    leat_model_sizes sizes;
    leat_error err = {0};
    double pairs;
    if (!leat_transformer_size_named(name, &settings.size))
        bench_die("there is no size \"%s\": tiny, small, base", name);
    const leat_transformer_size *size = &settings.size;
    const leat_model_setup setup = {&settings, self->sequences, (int)self->threads, self->variant};
    bench_must(leat_transformer_class.sizes(&setup, &sizes, &err), &err);
    const int64_t bytes = sizes.parameters * (int64_t)sizeof(float);
    running of = {.micro = make_micro(self, size, &pairs),
                  .parameters = bench_room(bytes),
                  .first = bench_room(bytes),
                  .second = bench_room(bytes),
                  .numbers.gradient = bench_room(bytes)};
    memset(of.first, 0, (size_t)bytes);
    memset(of.second, 0, (size_t)bytes);
    bench_must(leat_transformer_class.create(&of.model, &setup, &err), &err);
    leat_transformer_class.init(of.model, 1, of.parameters, NULL);
    double peak = bench_peak(self->variant);
    bench_best none = {0}, best = {0};
    run_step(self, &of, &none); /* touches all memory */
    leat_json_key(self->json, name);
    leat_json_begin_object(self->json);
    leat_json_member_int(self->json, "bits", bench_bits(of.parameters, sizes.parameters));
    measure_attention(self, size, &of.micro, pairs);
    const double end = bench_seconds() + self->seconds;
    do run_step(self, &of, &best);
    while (bench_seconds() < end);
    const double again = bench_peak(self->variant);
    peak = again > peak ? again : peak;
    const double rows = (double)(self->sequences * size->length * self->batches);
    const double gflop = needed(size, sizes.parameters, self->sequences * size->length, pairs) *
                         (double)self->batches;
    leat_json_member_int(self->json, "parameters", sizes.parameters);
    leat_json_member_int(self->json, "model_bytes", sizes.bytes);
    leat_json_member_double(self->json, "tokens_per_s", rows / best.wall);
    leat_json_member_double(self->json, "gflop_per_step", gflop);
    leat_json_member_double(self->json, "gflops_per_thread", gflop / best.processor);
    leat_json_member_double(self->json, "peak", peak);
    leat_json_member_double(self->json, "share_of_peak", gflop / best.processor / peak);
    leat_json_end_object(self->json);
    leat_transformer_class.destroy(of.model); /* the rest goes with the process */
}

/* ---- Command line ------------------------------------------------------------------------- */

static int read_options(bench *self, int argc, char **argv) {
    int at = 1;
    for (; at + 1 < argc && strncmp(argv[at], "--", 2) == 0; at += 2) {
        const char *name = argv[at] + 2, *value = argv[at + 1];
        if (strcmp(name, "kernels") == 0) self->variant = value;
        else if (strcmp(name, "threads") == 0) self->threads = bench_number(value, 1);
        else if (strcmp(name, "sequences") == 0) self->sequences = bench_number(value, 1);
        else if (strcmp(name, "segment") == 0) self->segment = bench_number(value, 1);
        else if (strcmp(name, "batches") == 0) self->batches = bench_number(value, 1);
        else if (strcmp(name, "milliseconds") == 0)
            self->seconds = 1e-3 * (double)bench_number(value, 0);
        else bench_die("there is no option \"%s\"", argv[at]);
    }
    if (at >= argc)
        bench_die("usage: bench_token_step [--kernels NAME] [--threads N] [--sequences N] "
                  "[--segment N] [--batches N] [--milliseconds N] SIZE...");
    return at;
}

int main(int argc, char **argv) {
    bench self = {.threads = 1, .sequences = 4, .batches = 1, .seconds = 1};
    int at = read_options(&self, argc, argv);
    self.json = bench_json_begin();
    leat_json_member_int(self.json, "threads", self.threads);
    leat_json_member_int(self.json, "sequences", self.sequences);
    leat_json_member_int(self.json, "segment", self.segment);
    leat_json_member_int(self.json, "batches", self.batches);
    for (; at < argc; at++) measure(&self, argv[at]);
    bench_json_end(self.json);
    return 0;
}
