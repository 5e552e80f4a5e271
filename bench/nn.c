/*
 * One sample of what models compute with, in a fresh process:
 *
 *   bench_nn [--kernels NAME] [--threads N] [--milliseconds N] [--images N] [--batches N] FIGURE...
 *
 *   peak                  fused multiply-adds between registers, one thread
 *   product:ROWS:COLUMNS:DEPTH
 *   conv:NARROW:WIDE:SIZE kernel 4, stride 2, padding 1; channels of the narrow and the wide side,
 *                         height and width of the wide side; down, up and gradient of the weights
 *   unit                  a unit of the DCGAN, --batches micro-batches of --images
 *
 * GFLOP/s are nominal: 2 x weights x pixels of the narrow side x images. Weights are packed before
 * the measurement, as in a unit of several micro-batches; a product packs both factors every time.
 * A figure is the median of the runs within --milliseconds, at least one, after one that is not
 * counted. bench/nn.py runs it in turn with PyTorch, oneDNN and OpenBLAS.
 */
#include "leat/nn.h"
#include "base/mem.h"
#include "base/pool.h"
#include "bench.h"
#include "nn/ops/conv.h"
#include "nn/ops/product.h"

enum { RUNS_MAX = 1000 };

typedef struct bench {
    leat_device device;
    const char *variant;
    int threads, images, batches;
    double seconds; /* of measuring a figure */
    double peak;    /* 0: not asked for */
    leat_json *json;
} bench;

/* ---- Arrays ------------------------------------------------------------------------------- */

/* Exact in float, and the same as in rivals/nn_rivals.c, so that its loops must give equal bits. */
static float value_of(int64_t i) { return (float)((i * 7919) % 65521) / 65536.0f - 0.5f; }

static float *floats(int64_t count) {
    void *made = NULL;
    leat_error err = {0};
    bench_must(leat_block_alloc(&made, count * (int64_t)sizeof(float), &err), &err);
    float *values = made;
    for (int64_t i = 0; i < count; i++) values[i] = value_of(i);
    return values;
}

static void forget(float *values, int64_t count) {
    leat_block_free(values, count * (int64_t)sizeof *values);
}

/* ---- Figures ------------------------------------------------------------------------------ */

typedef void (*work)(void *what);

static double gflops(const bench *self, double flops, work run, void *what) {
    double took[RUNS_MAX];
    int64_t runs = 0;
    run(what);
    const double end = bench_seconds() + self->seconds;
    do {
        const double begin = bench_seconds();
        run(what);
        took[runs++] = bench_seconds() - begin;
    } while (runs < RUNS_MAX && bench_seconds() < end);
    return flops / bench_median(took, runs) * 1e-9;
}

/* At least 0.15 s however short the other measurements are, because every share depends on it. */
static double peak_of(const bench *self) {
    return leat_kernels_peak(self->device.kernels, self->seconds > 0.15 ? self->seconds : 0.15);
}

typedef struct product_task {
    const bench *bench;
    leat_product product;
    float *work;
} product_task;

static void run_product(void *what) {
    product_task *task = what;
    leat_error err = {0};
    bench_must(leat_product_run(&task->bench->device, &task->product, task->work, &err), &err);
}

static void product(const bench *self, const char *name, const int *size) {
    const int64_t rows = size[0], columns = size[1], depth = size[2];
    product_task task = {.bench = self,
                         .product = {.rows = rows,
                                     .columns = columns,
                                     .depth = depth,
                                     .a_step = depth,
                                     .b_step = columns,
                                     .c_step = columns}};
    const int64_t work_count = leat_product_work_count(&self->device, &task.product);
    if (work_count < 0) bench_die("%s: the sizes are out of range", name);
    float *a = floats(rows * depth), *b = floats(depth * columns), *c = floats(rows * columns);
    task.product.a = a;
    task.product.b = b;
    task.product.c = c;
    task.work = floats(work_count + 1);
    const double flops = 2.0 * (double)rows * (double)columns * (double)depth;
    leat_json_member_double(self->json, name, gflops(self, flops, run_product, &task));
    char key[80];
    snprintf(key, sizeof key, "%s/bits", name);
    /* bench/nn.py compares it with that of the plain loops */
    leat_json_member_int(self->json, key, bench_bits(c, rows * columns));
    forget(a, rows * depth);
    forget(b, depth * columns);
    forget(c, rows * columns);
    forget(task.work, work_count + 1);
}

typedef struct conv_task {
    const bench *bench;
    leat_conv conv;
    float *packed, *wide, *narrow, *gradient, *work;
} conv_task;

static void run_down(void *what) {
    conv_task *task = what;
    leat_error err = {0};
    bench_must(leat_conv_down(&task->bench->device, &task->conv, task->bench->images, task->packed,
                              task->wide, task->narrow, &err),
               &err);
}

static void run_up(void *what) {
    conv_task *task = what;
    leat_error err = {0};
    bench_must(leat_conv_up(&task->bench->device, &task->conv, task->bench->images, task->packed,
                            task->narrow, task->wide, &err),
               &err);
}

static void run_weights(void *what) {
    conv_task *task = what;
    const leat_conv_gradient gradient = {task->gradient, false, task->work};
    leat_error err = {0};
    bench_must(leat_conv_weight_gradient(&task->bench->device, &task->conv, task->bench->images,
                                         task->wide, task->narrow, &gradient, &err),
               &err);
}

static void conv(const bench *self, const char *name, const int *size) {
    const struct {
        const char *name;
        work run;
    } ways[] = {{"down", run_down}, {"up", run_up}, {"weights", run_weights}};
    conv_task task = {.bench = self,
                      .conv = {.kernel = 4,
                               .stride = 2,
                               .padding = 1,
                               .narrow_channels = size[0],
                               .wide_channels = size[1],
                               .wide_height = size[2],
                               .wide_width = size[2]}};
    leat_error err = {0};
    bench_must(leat_conv_complete(&task.conv, &err), &err);
    bench_must(leat_conv_check(&task.conv, self->images, &err), &err);
    const int64_t weight_count = leat_conv_weight_count(&task.conv);
    const int64_t gradient_count = leat_conv_gradient_count(&task.conv);
    const int64_t wide_count = leat_conv_wide_count(&task.conv, self->images);
    const int64_t narrow_count = leat_conv_narrow_count(&task.conv, self->images);
    const int64_t work_count = leat_conv_work_count(&self->device, &task.conv, self->images) + 1;
    const double flops = 2.0 * (double)weight_count * task.conv.narrow_height *
                         task.conv.narrow_width * self->images;
    float *weights = floats(weight_count);
    task.packed = floats(weight_count);
    task.gradient = floats(gradient_count);
    task.work = floats(work_count);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        task.wide = floats(wide_count); /* anew, because up and down write one of them */
        task.narrow = floats(narrow_count);
        if (i == 0) leat_conv_pack_down(&self->device, &task.conv, weights, task.packed);
        else leat_conv_pack_up(&self->device, &task.conv, weights, task.packed);
        char key[80];
        snprintf(key, sizeof key, "%s/%s", name, ways[i].name);
        leat_json_member_double(self->json, key, gflops(self, flops, ways[i].run, &task));
        forget(task.wide, wide_count);
        forget(task.narrow, narrow_count);
    }
    forget(weights, weight_count);
    forget(task.packed, weight_count);
    forget(task.gradient, gradient_count);
    forget(task.work, work_count);
}

/* ---- The unit ----------------------------------------------------------------------------- */

static leat_dcgan *make_dcgan(const bench *self) {
    leat_dcgan *dcgan = NULL;
    leat_error err = {0};
    leat_dcgan_options options = leat_dcgan_options_default();
    options.micro_batch = self->images;
    options.threads = self->threads;
    options.kernels = self->variant;
    bench_must(leat_dcgan_create(&dcgan, &options, &err), &err);
    int64_t bytes = 0;
    bench_must(leat_dcgan_bytes(&options, &bytes, &err), &err);
    leat_json_member_int(self->json, "model_bytes", bytes);
    return dcgan;
}

static void unit(const bench *self) {
    leat_dcgan *dcgan = make_dcgan(self);
    const int64_t images = (int64_t)self->images * self->batches;
    const int64_t size = leat_dcgan_size(dcgan), image_bytes = images * LEAT_IMAGE_VALUES;
    const int64_t noise_count = images * leat_dcgan_options_default().latent;
    const int64_t moment_count = leat_dcgan_moment_count(dcgan) * self->batches;
    float *parameters = floats(size), *noise = floats(noise_count);
    uint8_t *pictures = bench_room(image_bytes);
    for (int64_t i = 0; i < image_bytes; i++) pictures[i] = (uint8_t)(i * 7919 % 251);
    leat_dcgan_init(dcgan, 1, parameters);
    leat_dcgan_result result = {.gradient = floats(size), .moments = floats(moment_count)};
    leat_error err = {0};
    /* not counted: a micro-batch for each thread, so that its memory is there */
    const int first = self->threads < self->batches ? self->threads : self->batches;
    bench_must(
        leat_dcgan_unit(dcgan, LEAT_DCGAN_BOTH, first, parameters, pictures, noise, &result, &err),
        &err);
    const double begin = bench_seconds();
    bench_must(leat_dcgan_unit(dcgan, LEAT_DCGAN_BOTH, self->batches, parameters, pictures, noise,
                               &result, &err),
               &err);
    const double took = bench_seconds() - begin;
    leat_json_member_double(self->json, "images_per_s", (double)images / took);
    leat_json_member_double(self->json, "loss_g", result.loss_g / result.weight);
    leat_json_member_int(self->json, "peak_bytes", leat_rss_peak_bytes());
    leat_dcgan_destroy(dcgan);
    forget(parameters, size);
    forget(noise, noise_count);
    forget(result.gradient, size);
    forget(result.moments, moment_count);
    free(pictures);
}

/* ---- Command line ------------------------------------------------------------------------- */

static int small_number(const char *text, int max) {
    const int64_t value = bench_number(text, 1);
    if (value > max) bench_die("\"%s\" is larger than %d", text, max);
    return (int)value;
}

static void figure(bench *self, const char *name) {
    int size[3], end = 0;
    if (strcmp(name, "peak") == 0) {
        self->peak = peak_of(self);
    } else if (strcmp(name, "unit") == 0) {
        unit(self);
    } else if (sscanf(name, "product:%d:%d:%d%n", &size[0], &size[1], &size[2], &end) == 3 &&
               name[end] == 0) {
        product(self, name, size);
    } else if (sscanf(name, "conv:%d:%d:%d%n", &size[0], &size[1], &size[2], &end) == 3 &&
               name[end] == 0) {
        conv(self, name, size);
    } else {
        bench_die("there is no figure \"%s\"", name);
    }
}

static int read_options(bench *self, int argc, char **argv) {
    int at = 1;
    for (; at + 1 < argc && strncmp(argv[at], "--", 2) == 0; at += 2) {
        const char *name = argv[at] + 2, *value = argv[at + 1];
        if (strcmp(name, "kernels") == 0) self->variant = value;
        else if (strcmp(name, "threads") == 0) self->threads = small_number(value, 256);
        else if (strcmp(name, "images") == 0) self->images = small_number(value, 1024);
        else if (strcmp(name, "batches") == 0) self->batches = small_number(value, 1000);
        else if (strcmp(name, "milliseconds") == 0)
            self->seconds = 1e-3 * small_number(value, 60000);
        else bench_die("there is no option \"%s\"", argv[at]);
    }
    if (at >= argc)
        bench_die("usage: bench_nn [--kernels NAME] [--threads N] [--milliseconds N] [--images N] "
                  "[--batches N] FIGURE...");
    return at;
}

int main(int argc, char **argv) {
    bench self = {.threads = 1, .images = 32, .batches = 10, .seconds = 0.2};
    int at = read_options(&self, argc, argv);
    leat_error err = {0};
    bench_must(leat_kernels_named(self.variant, &self.device.kernels, &err), &err);
    if (self.threads > 1) bench_must(leat_pool_create(&self.device.pool, self.threads, &err), &err);
    self.json = bench_json_begin();
    leat_json_member_string(self.json, "kernels", self.device.kernels->name);
    leat_json_member_int(self.json, "threads", self.threads);
    for (; at < argc; at++) figure(&self, argv[at]);
    if (self.peak > 0) { /* again, because another process may have been in the way before */
        const double again = peak_of(&self);
        leat_json_member_double(self.json, "peak", again > self.peak ? again : self.peak);
    }
    bench_json_end(self.json);
    leat_pool_destroy(self.device.pool);
    return 0;
}
