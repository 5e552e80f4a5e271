/*
 * Steps of the detectors, in a fresh process:
 *
 *   bench_detect_step [--kernels NAME] [--threads N] [--ids V] [--graphs N] [--batches N]
 *                     [--milliseconds N] [--large 1] MODEL...
 *
 * MODEL is vgae or gat. A step is a unit of --batches micro-batches of --graphs synthetic graphs
 * with 33 nodes and 98 edges, as windows of 100 frames of the V40 logs have them, and Adam. Figures
 * are of the best step within --milliseconds. The share of the peak is of seconds of the processor,
 * of all threads together, so that other processes disturb it little; the peak, too, measured
 * between registers before and after. "bits" stands for the weights after the first step.
 *
 * Needed arithmetic: each product once forward and twice backward, those of edges, whose features
 * have no gradient, once; logits of identifiers of the hidden nodes only (15 %), and of neighbours
 * only where the loss has a term. What a program computes beyond that does not count.
 */
#include "base/mem.h"
#include "leat/nn.h"
#include "nn/models/gat/gat.h"
#include "nn/models/gat/model.h"
#include "nn/models/vgae/model.h"
#include "nn/models/vgae/vgae.h"
#include "step.h"

enum { NODES = 33, EDGES = 98, LOOPS = NODES + EDGES };

typedef struct bench {
    const char *variant;
    int64_t threads, ids, graphs, batches;
    double seconds;
    bool large;
    leat_json *json;
    leat_graph_micro *micro; /* [batches] */
} bench;

/* ---- Graphs ------------------------------------------------------------------------------- */

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

static int64_t *multiples(int64_t count, int64_t of) {
    int64_t *out = bench_room(count * (int64_t)sizeof *out);
    for (int64_t i = 0; i < count; i++) out[i] = i * of;
    return out;
}

static leat_graph_micro make_micro(int64_t graphs, int64_t ids, int64_t first) {
    const int64_t nodes = graphs * NODES, edges = graphs * EDGES;
    int32_t *source = bench_room(edges * 4), *target = bench_room(edges * 4);
    int32_t *id = bench_room(nodes * 4), *label = bench_room(graphs * 4);
    int64_t *number = multiples(graphs, 1);
    for (int64_t e = 0; e < edges; e++) {
        source[e] = (int32_t)(e / EDGES * NODES + below(NODES));
        target[e] = (int32_t)(e / EDGES * NODES + below(NODES));
    }
    for (int64_t i = 0; i < nodes; i++) id[i] = (int32_t)below(ids);
    for (int64_t g = 0; g < graphs; g++) {
        label[g] = (int32_t)(g % 4 == 0);
        number[g] += first;
    }
    return (leat_graph_micro){.graphs = graphs,
                              .nodes = nodes,
                              .edges = edges,
                              .x = numbers(nodes * LEAT_MICRO_NODE_FEATURES),
                              .edge_attr = numbers(edges * LEAT_MICRO_EDGE_FEATURES),
                              .source = source,
                              .target = target,
                              .node_id = id,
                              .node_first = multiples(graphs + 1, NODES),
                              .edge_first = multiples(graphs + 1, EDGES),
                              .label = label,
                              .number = number,
                              .seed = 7};
}

static leat_code get_batch(void *context, int64_t index, int worker, const void **batch,
                           leat_error *err) {
    (void)worker;
    (void)err;
    *batch = &((const bench *)context)->micro[index];
    return LEAT_OK;
}

/* ---- Needed arithmetic, in multiply-adds of a graph --------------------------------------- */

/* Two products with the rows of nodes, one with those of edges. */
static double attention(double in, double out) {
    return 3.0 * 2 * NODES * in * out + 2.0 * LOOPS * LEAT_MICRO_EDGE_FEATURES * out;
}

/* Distinct ones among so many draws. */
static double distinct(double draws, double ids) {
    double missed = 1;
    for (int i = 0; i < (int)draws; i++) missed *= 1 - 1 / ids;
    return ids * (1 - missed);
}

static double vgae_needed(const bench *self) {
    leat_vgae_shape shape;
    leat_error err = {0};
    bench_must(leat_vgae_shape_set(&shape, self->large ? LEAT_VGAE_LARGE : LEAT_VGAE_SMALL,
                                   self->ids, &err),
               &err);
    const double w = (double)shape.values, ids = (double)self->ids;
    const double terms = distinct(LEAT_VGAE_DRAWS, ids) + 2;
    return attention(LEAT_VGAE_INPUT, w) + attention(w, LEAT_MICRO_NODE_FEATURES) +
           3.0 * NODES * w * (4 * w + (double)LEAT_VGAE_HIDDEN * ids + terms);
}

static double gat_needed(const bench *self) {
    leat_gat_shape shape;
    leat_error err = {0};
    bench_must(
        leat_gat_shape_set(&shape, self->large ? LEAT_GAT_LARGE : LEAT_GAT_SMALL, self->ids, &err),
        &err);
    const double w = (double)shape.values, hidden = (double)shape.hidden, layers = shape.layers;
    const double lstm = 2 * 4 * hidden * (layers * w + (layers - 1) * hidden);
    return attention(LEAT_GAT_INPUT, w) + (layers - 1) * attention(w, w) + 3.0 * NODES * lstm;
}

/* ---- A model ------------------------------------------------------------------------------ */

typedef struct task {
    const char *name;
    const leat_model_class *class;
    double needed; /* multiply-adds of a graph */
    leat_gat_settings gat;
    leat_vgae_settings vgae;
    const void *settings;
} task;

static void set_task(const bench *self, const char *name, task *out) {
    *out = (task){.name = name};
    if (strcmp(name, "vgae") == 0) {
        out->vgae = leat_vgae_settings_default();
        out->vgae.size = self->large ? LEAT_VGAE_LARGE : LEAT_VGAE_SMALL;
        out->vgae.vocabulary = self->ids;
        out->vgae.max_nodes = self->graphs * NODES;
        out->vgae.max_edges = self->graphs * EDGES;
        out->settings = &out->vgae;
        out->class = &leat_vgae_class;
        out->needed = vgae_needed(self);
    } else if (strcmp(name, "gat") == 0) {
        out->gat = leat_gat_settings_default();
        out->gat.size = self->large ? LEAT_GAT_LARGE : LEAT_GAT_SMALL;
        out->gat.vocabulary = self->ids;
        out->gat.max_nodes = self->graphs * NODES;
        out->gat.max_edges = self->graphs * EDGES;
        out->settings = &out->gat;
        out->class = &leat_gat_class;
        out->needed = gat_needed(self);
    } else {
        bench_die("there is no model \"%s\": vgae, gat", name);
    }
}

typedef struct running {
    void *model;
    float *parameters, *first, *second;
    leat_unit_numbers numbers;
} running;

static void run_step(const bench *self, const task *task, running *of, bench_best *best) {
    const leat_unit_batches batches = {self->batches, get_batch, (void *)self};
    leat_error err = {0};
    const double begin = bench_seconds(), worked = bench_processor_seconds();
    bench_must(task->class->unit(of->model, 0, &batches, of->parameters, &of->numbers, &err), &err);
    const leat_model_step step = {.gradient = of->numbers.gradient,
                                  .weight = of->numbers.weight,
                                  .parameters = of->parameters,
                                  .first = of->first,
                                  .second = of->second};
    bench_must(task->class->step(of->model, &step, &err), &err);
    bench_keep_best(best, bench_seconds() - begin, bench_processor_seconds() - worked);
}

static void tell(const bench *self, const task *task, const leat_model_sizes *sizes,
                 const bench_best *best, double peak) {
    const double graphs = (double)(self->graphs * self->batches);
    const double gflops = 2e-9 * task->needed * graphs / best->processor;
    leat_json_member_int(self->json, "parameters", sizes->parameters);
    leat_json_member_int(self->json, "model_bytes", sizes->bytes);
    leat_json_member_double(self->json, "graphs_per_s", graphs / best->wall);
    leat_json_member_double(self->json, "mflop_per_graph", 2e-6 * task->needed);
    leat_json_member_double(self->json, "gflops_per_thread", gflops);
    leat_json_member_double(self->json, "peak", peak);
    leat_json_member_double(self->json, "share_of_peak", gflops / peak);
    leat_json_end_object(self->json);
}

static void measure(const bench *self, const char *name) {
    task task;
    leat_model_sizes sizes;
    leat_error err = {0};
    set_task(self, name, &task);
    const leat_model_setup setup = {
        .settings = task.settings, .threads = (int)self->threads, .kernels = self->variant};
    bench_must(task.class->sizes(&setup, &sizes, &err), &err);
    const int64_t bytes = sizes.parameters * (int64_t)sizeof(float);
    running of = {.parameters = bench_room(bytes),
                  .first = bench_room(bytes),
                  .second = bench_room(bytes),
                  .numbers.gradient = bench_room(bytes)};
    memset(of.first, 0, (size_t)bytes);
    memset(of.second, 0, (size_t)bytes);
    bench_must(task.class->create(&of.model, &setup, &err), &err);
    task.class->init(of.model, 1, of.parameters, NULL);
    double peak = bench_peak(self->variant);
    bench_best none = {0}, best = {0};
    run_step(self, &task, &of, &none); /* touches all memory */
    leat_json_key(self->json, task.name);
    leat_json_begin_object(self->json);
    leat_json_member_int(self->json, "bits", bench_bits(of.parameters, sizes.parameters));
    const double end = bench_seconds() + self->seconds;
    do run_step(self, &task, &of, &best);
    while (bench_seconds() < end);
    const double again = bench_peak(self->variant);
    peak = again > peak ? again : peak;
    tell(self, &task, &sizes, &best, peak);
    task.class->destroy(of.model);
    free(of.parameters);
    free(of.first);
    free(of.second);
    free(of.numbers.gradient);
}

/* ---- Command line ------------------------------------------------------------------------- */

static int read_options(bench *self, int argc, char **argv) {
    int at = 1;
    for (; at + 1 < argc && strncmp(argv[at], "--", 2) == 0; at += 2) {
        const char *name = argv[at] + 2, *value = argv[at + 1];
        if (strcmp(name, "kernels") == 0) self->variant = value;
        else if (strcmp(name, "threads") == 0) self->threads = bench_number(value, 1);
        else if (strcmp(name, "ids") == 0) self->ids = bench_number(value, 1);
        else if (strcmp(name, "graphs") == 0) self->graphs = bench_number(value, 1);
        else if (strcmp(name, "batches") == 0) self->batches = bench_number(value, 1);
        else if (strcmp(name, "large") == 0) self->large = bench_number(value, 0) != 0;
        else if (strcmp(name, "milliseconds") == 0)
            self->seconds = 1e-3 * (double)bench_number(value, 0);
        else bench_die("there is no option \"%s\"", argv[at]);
    }
    if (at >= argc)
        bench_die("usage: bench_detect_step [--kernels NAME] [--threads N] [--ids V] [--graphs N] "
                  "[--batches N] [--milliseconds N] [--large 1] MODEL...");
    return at;
}

int main(int argc, char **argv) {
    bench self = {.threads = 1, .ids = 60, .graphs = 16, .batches = 4, .seconds = 1};
    int at = read_options(&self, argc, argv);
    self.json = bench_json_begin();
    leat_json_member_int(self.json, "threads", self.threads);
    leat_json_member_int(self.json, "ids", self.ids);
    leat_json_member_int(self.json, "graphs", self.graphs);
    leat_json_member_int(self.json, "batches", self.batches);
    self.micro = bench_room(self.batches * (int64_t)sizeof *self.micro);
    for (int64_t i = 0; i < self.batches; i++)
        self.micro[i] = make_micro(self.graphs, self.ids, i * self.graphs);
    for (; at < argc; at++) measure(&self, argv[at]);
    bench_json_end(self.json);
    return 0; /* the graphs go with the process */
}
