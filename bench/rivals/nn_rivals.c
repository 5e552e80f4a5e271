/*
 * One sample of what another library computes with, in a fresh process and one thread:
 *
 *   nn_rivals MILLISECONDS IMAGES FIGURE...
 *
 * Figures are those of bench/nn.c. bench/nn.py compiles this file once for each rival:
 *   -DRIVAL_ONEDNN    oneDNN 2 (-ldnnl): matrix products, convolutions and transposed ones. Tensors
 *                     are in the formats that it chooses; no conversion is measured.
 *   -DRIVAL_OPENBLAS  OpenBLAS (-lopenblas): cblas_sgemm
 *   -DRIVAL_LOOPS     plain loops with fmaf over ascending k, as RepDL has them: -O2 calls the
 *                     function of libm, -DRIVAL_FMA has the instruction. The second factor of a
 *                     product is given transposed, which suits the loops best.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RUNS_MAX 1000

static double budget; /* seconds of measuring a figure */
static int images;

static void die(const char *what, const char *why) {
    fprintf(stderr, "nn_rivals: %s: %s\n", what, why);
    exit(2);
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/*
 * As in bench/nn.c: the median of the runs after one that is not counted; of the loops, which are
 * slow and need no warm-up, the first one counts if it takes longer than that.
 */
static double gflops(double flops, void (*run)(void *what), void *what) {
    double took[RUNS_MAX];
    int runs = 0;
    double begin = seconds();
    run(what);
#if defined(RIVAL_LOOPS)
    const double first = seconds() - begin;
    if (first > budget) return flops / first * 1e-9;
#endif
    const double end = seconds() + budget;
    do {
        begin = seconds();
        run(what);
        took[runs++] = seconds() - begin;
    } while (runs < RUNS_MAX && seconds() < end);
    qsort(took, (size_t)runs, sizeof *took, by_value);
    return flops / ((took[(runs - 1) / 2] + took[runs / 2]) / 2) * 1e-9;
}

static void print_figure(const char *name, const char *way, double value) {
    printf(", \"%s%s\": %.6g", name, way, value);
}

/* As in bench/nn.c. */
static float value_of(int64_t i) { return (float)((i * 7919) % 65521) / 65536.0f - 0.5f; }

#if !defined(RIVAL_ONEDNN)
static float *floats(int64_t count) {
    void *made = NULL;
    if (posix_memalign(&made, 64, sizeof(float) * (size_t)count) != 0)
        die("memory", "there is not enough");
    float *values = made;
    for (int64_t i = 0; i < count; i++) values[i] = value_of(i);
    return values;
}

typedef struct product_task {
    int rows, columns, depth;
    float *a, *b, *c;
} product_task;

static void run_product(void *what);

static product_task make_product(const int *size) {
    product_task task = {size[0], size[1], size[2], NULL, NULL, NULL};
    task.a = floats((int64_t)task.rows * task.depth);
    task.b = floats((int64_t)task.depth * task.columns);
    task.c = floats((int64_t)task.rows * task.columns);
    return task;
}

static void finish_product(const char *name, product_task *task) {
    const double flops = 2.0 * task->rows * task->columns * task->depth;
    print_figure(name, "", gflops(flops, run_product, task));
#if defined(RIVAL_LOOPS)
    uint64_t sum = 0; /* as in bench/nn.c */
    for (int64_t i = 0; i < (int64_t)task->rows * task->columns; i++) {
        uint32_t bits;
        memcpy(&bits, task->c + i, sizeof bits);
        sum = sum * 31 + bits;
    }
    printf(", \"%s/bits\": %lld", name, (long long)(sum >> 12));
#endif
    free(task->a);
    free(task->b);
    free(task->c);
}
#endif

/* ---- OpenBLAS ----------------------------------------------------------------------------- */

#if defined(RIVAL_OPENBLAS)
#include <cblas.h>

static void about(void) { printf("\"version\": \"%s\"", openblas_get_config()); }

static void run_product(void *what) {
    product_task *task = what;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, task->rows, task->columns, task->depth,
                1.0f, task->a, task->depth, task->b, task->columns, 0.0f, task->c, task->columns);
}

static void product(const char *name, const int *size) {
    product_task task = make_product(size);
    finish_product(name, &task);
}

static void conv(const char *name, const int *size) {
    (void)size;
    die(name, "OpenBLAS has no convolution");
}
#endif

/* ---- Plain loops -------------------------------------------------------------------------- */

#if defined(RIVAL_LOOPS)
#if defined(RIVAL_FMA) && defined(__x86_64__)
#define LOOP __attribute__((target("fma")))
#else
#define LOOP
#endif

static void about(void) { printf("\"version\": \"%s\"", __VERSION__); }

/* c = a b, b as [columns][depth] */
LOOP static void run_product(void *what) {
    product_task *task = what;
    const int depth = task->depth;
    for (int i = 0; i < task->rows; i++) {
        for (int j = 0; j < task->columns; j++) {
            const float *a = task->a + (int64_t)i * depth, *b = task->b + (int64_t)j * depth;
            float sum = 0;
            for (int k = 0; k < depth; k++) sum = fmaf(a[k], b[k], sum);
            task->c[(int64_t)i * task->columns + j] = sum;
        }
    }
}

static void product(const char *name, const int *size) {
    product_task task = make_product(size);
    for (int64_t k = 0; k < task.depth; k++)
        for (int64_t j = 0; j < task.columns; j++)
            task.b[j * task.depth + k] = value_of(k * task.columns + j);
    finish_product(name, &task);
}

typedef struct conv_task {
    int narrow, wide, size;
    float *in, *weights, *out; /* [image][channel][y][x]; [narrow][wide][ky][kx] */
} conv_task;

LOOP static float pixel(const conv_task *task, const float *in, const float *weights, int y,
                        int x) {
    float sum = 0;
    for (int c = 0; c < task->wide; c++) {
        for (int ky = 0; ky < 4; ky++) {
            const int from_y = 2 * y + ky - 1;
            if (from_y < 0 || from_y >= task->size) continue;
            for (int kx = 0; kx < 4; kx++) {
                const int from_x = 2 * x + kx - 1;
                if (from_x < 0 || from_x >= task->size) continue;
                const int64_t from = ((int64_t)c * task->size + from_y) * task->size + from_x;
                sum = fmaf(weights[(c * 4 + ky) * 4 + kx], in[from], sum);
            }
        }
    }
    return sum;
}

LOOP static void run_conv(void *what) {
    const conv_task *task = what;
    const int64_t plane = (int64_t)task->size * task->size;
    float *out = task->out;
    for (int image = 0; image < images; image++)
        for (int n = 0; n < task->narrow; n++)
            for (int y = 0; y < task->size / 2; y++)
                for (int x = 0; x < task->size / 2; x++)
                    *out++ = pixel(task, task->in + image * task->wide * plane,
                                   task->weights + (int64_t)n * task->wide * 16, y, x);
}

static void conv(const char *name, const int *size) {
    conv_task task = {size[0], size[1], size[2], NULL, NULL, NULL};
    const int64_t plane = (int64_t)task.size * task.size, weights = 16LL * task.narrow * task.wide;
    task.in = floats(images * task.wide * plane);
    task.weights = floats(weights);
    task.out = floats(images * task.narrow * plane / 4);
    const double flops = 2.0 * (double)weights * (double)(plane / 4) * images;
    print_figure(name, "/conv/forward", gflops(flops, run_conv, &task));
    free(task.in);
    free(task.weights);
    free(task.out);
}
#endif

/* ---- oneDNN ------------------------------------------------------------------------------- */

#if defined(RIVAL_ONEDNN)
#include <dnnl.h>
#if DNNL_VERSION_MAJOR != 2
#error "this file is written for oneDNN 2"
#endif

static dnnl_engine_t engine;
static dnnl_stream_t stream;

static void must(dnnl_status_t status, const char *what) {
    if (status != dnnl_success) die(what, "oneDNN refuses it");
}

static void about(void) {
    const dnnl_version_t *seen = dnnl_version();
    must(dnnl_engine_create(&engine, dnnl_cpu, 0), "engine");
    must(dnnl_stream_create(&stream, engine, dnnl_stream_default_flags), "stream");
    printf("\"version\": \"%d.%d.%d\"", seen->major, seen->minor, seen->patch);
}

typedef struct task {
    dnnl_primitive_t primitive;
    dnnl_exec_arg_t args[3];
} task;

static void run_task(void *what) {
    task *self = what;
    must(dnnl_primitive_execute(self->primitive, stream, 3, self->args), "execute");
    must(dnnl_stream_wait(stream), "wait");
}

/* A tensor in the format that the primitive chose. */
static dnnl_exec_arg_t tensor(const_dnnl_primitive_desc_t of, int arg) {
    const dnnl_memory_desc_t *desc = dnnl_primitive_desc_query_md(of, dnnl_query_exec_arg_md, arg);
    dnnl_exec_arg_t made = {.arg = arg, .memory = NULL};
    void *data = NULL;
    must(dnnl_memory_create(&made.memory, desc, engine, DNNL_MEMORY_ALLOCATE), "memory");
    must(dnnl_memory_get_data_handle(made.memory, &data), "data");
    float *values = data;
    const int64_t count = (int64_t)(dnnl_memory_desc_get_size(desc) / sizeof *values);
    for (int64_t i = 0; i < count; i++) values[i] = value_of(i);
    return made;
}

static double measure(const_dnnl_op_desc_t op, const_dnnl_primitive_desc_t hint, const int *args,
                      double flops, const char *name) {
    dnnl_primitive_desc_t desc;
    task self;
    must(dnnl_primitive_desc_create(&desc, op, NULL, engine, hint), name);
    must(dnnl_primitive_create(&self.primitive, desc), name);
    for (int i = 0; i < 3; i++) self.args[i] = tensor(desc, args[i]);
    const double speed = gflops(flops, run_task, &self);
    for (int i = 0; i < 3; i++) must(dnnl_memory_destroy(self.args[i].memory), name);
    must(dnnl_primitive_destroy(self.primitive), name);
    must(dnnl_primitive_desc_destroy(desc), name);
    return speed;
}

static dnnl_memory_desc_t plain(int count, const int *dims, dnnl_format_tag_t tag) {
    dnnl_memory_desc_t made;
    dnnl_dims_t sizes = {0};
    for (int i = 0; i < count; i++) sizes[i] = dims[i];
    must(dnnl_memory_desc_init_by_tag(&made, count, sizes, dnnl_f32, tag), "tensor");
    return made;
}

static void product(const char *name, const int *size) {
    const int args[] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST};
    const int a[] = {size[0], size[2]}, b[] = {size[2], size[1]}, c[] = {size[0], size[1]};
    const dnnl_memory_desc_t in = plain(2, a, dnnl_ab), factor = plain(2, b, dnnl_ab);
    const dnnl_memory_desc_t out = plain(2, c, dnnl_ab);
    dnnl_matmul_desc_t op;
    must(dnnl_matmul_desc_init(&op, &in, &factor, NULL, &out), name);
    print_figure(name, "", measure(&op, NULL, args, 2.0 * size[0] * size[1] * size[2], name));
}

/* Both kinds have the same three ways; oneDNN gives them different types of the same shape. */
static void conv_kind(const char *name, const int *size, int transposed) {
    const int narrow[] = {images, size[0], size[2] / 2, size[2] / 2};
    const int wide[] = {images, size[1], size[2], size[2]};
    const int weights[] = {size[transposed ? 1 : 0], size[transposed ? 0 : 1], 4, 4};
    const int ahead[] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST};
    const int data[] = {DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_DST};
    const int back[] = {DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST};
    const dnnl_memory_desc_t src = plain(4, transposed ? narrow : wide, dnnl_format_tag_any);
    const dnnl_memory_desc_t dst = plain(4, transposed ? wide : narrow, dnnl_format_tag_any);
    const dnnl_memory_desc_t wei = plain(4, weights, dnnl_format_tag_any);
    const dnnl_dims_t strides = {2, 2}, padding = {1, 1};
    const double flops = 2.0 * 16 * size[0] * size[1] * (size[2] / 2) * (size[2] / 2) * images;
    dnnl_convolution_desc_t op[3];
    if (transposed) {
        const dnnl_alg_kind_t way = dnnl_deconvolution_direct;
        must(dnnl_deconvolution_forward_desc_init(&op[0], dnnl_forward_training, way, &src, &wei,
                                                  NULL, &dst, strides, padding, padding),
             name);
        must(dnnl_deconvolution_backward_data_desc_init(&op[1], way, &src, &wei, &dst, strides,
                                                        padding, padding),
             name);
        must(dnnl_deconvolution_backward_weights_desc_init(&op[2], way, &src, &wei, NULL, &dst,
                                                           strides, padding, padding),
             name);
    } else {
        const dnnl_alg_kind_t way = dnnl_convolution_direct;
        must(dnnl_convolution_forward_desc_init(&op[0], dnnl_forward_training, way, &src, &wei,
                                                NULL, &dst, strides, padding, padding),
             name);
        must(dnnl_convolution_backward_data_desc_init(&op[1], way, &src, &wei, &dst, strides,
                                                      padding, padding),
             name);
        must(dnnl_convolution_backward_weights_desc_init(&op[2], way, &src, &wei, NULL, &dst,
                                                         strides, padding, padding),
             name);
    }
    dnnl_primitive_desc_t hint;
    must(dnnl_primitive_desc_create(&hint, &op[0], NULL, engine, NULL), name);
    print_figure(name, transposed ? "/transposed/forward" : "/conv/forward",
                 measure(&op[0], NULL, ahead, flops, name));
    print_figure(name, transposed ? "/transposed/input" : "/conv/input",
                 measure(&op[1], hint, data, flops, name));
    print_figure(name, transposed ? "/transposed/weights" : "/conv/weights",
                 measure(&op[2], hint, back, flops, name));
    must(dnnl_primitive_desc_destroy(hint), name);
}

static void conv(const char *name, const int *size) {
    conv_kind(name, size, 0);
    conv_kind(name, size, 1);
}
#endif

int main(int argc, char **argv) {
    if (argc < 4) die("usage", "nn_rivals MILLISECONDS IMAGES FIGURE...");
    budget = atof(argv[1]) * 1e-3;
    images = atoi(argv[2]);
    printf("{");
    about();
    for (int i = 3; i < argc; i++) {
        int size[3];
        if (sscanf(argv[i], "product:%d:%d:%d", &size[0], &size[1], &size[2]) == 3)
            product(argv[i], size);
        else if (sscanf(argv[i], "conv:%d:%d:%d", &size[0], &size[1], &size[2]) == 3)
            conv(argv[i], size);
        else die(argv[i], "there is no such figure");
    }
    printf("}\n");
    return 0;
}
