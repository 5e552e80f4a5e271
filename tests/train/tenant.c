/* See tenant.h. */
#include "tenant.h"

#include <math.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "nn/unit/unit.h"

/* ---- the model ------------------------------------------------------------------------------ */

#define BATCH "rows"
enum { K = TENANT_INPUTS, SIZE = K + 1, ROWS_MAX = 8 };

typedef struct batch {
    int64_t count;
    float rows[ROWS_MAX][K + 1];
} batch;

typedef struct linear {
    leat_engine engine;
    tenant_settings settings;
    float gradient[LEAT_THREADS_MAX][SIZE]; /* of each worker's micro-batch */
} linear;

typedef struct computing {
    linear *self;
    const leat_unit_batches *batches;
    const float *parameters;
    float *statistics;
} computing;

static int passes(const void *settings) {
    (void)settings;
    return 1;
}

static leat_code sizes(const leat_model_setup *setup, leat_model_sizes *out, leat_error *err) {
    (void)setup;
    (void)err;
    *out = (leat_model_sizes){
        .parameters = SIZE, .running = 1, .statistics = 2, .bytes = sizeof(linear)};
    return LEAT_OK;
}

static void destroy(void *of) {
    linear *self = of;
    if (self == NULL) return;
    leat_engine_stop(&self->engine);
    leat_free(self);
}

static leat_code create(void **out, const leat_model_setup *setup, leat_error *err) {
    linear *self = NULL;
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&self, 1, err));
    self->settings = *(const tenant_settings *)setup->settings;
    leat_code code = leat_engine_set(&self->engine, "linear", setup->kernels, setup->threads, err);
    if (code == LEAT_OK) code = leat_engine_start(&self->engine, err);
    if (code == LEAT_OK) *out = self;
    else destroy(self);
    return code;
}

static bool tensor(const void *self, int index, leat_model_tensor *out) {
    static const leat_model_tensor all[] = {
        {.name = "weight", .rank = 2, .shape = {1, K}, .count = K},
        {.name = "bias", .rank = 1, .shape = {1}, .offset = K, .count = 1},
        {.name = "rows", .running = true, .rank = 1, .shape = {1}, .count = 1}};
    (void)self;
    if (index >= 3) return false;
    *out = all[index];
    return true;
}

static void init(const void *of, uint64_t seed, float *parameters, float *running) {
    const linear *self = of;
    for (int i = 0; i < SIZE; i++)
        parameters[i] = (float)(self->settings.scale * (i + 1 + (int)(seed % 7))) * 0.125f;
    *running = 0;
}

static leat_code make_micro(void *context, leat_micro *micro, leat_error *err) {
    const computing *of = context;
    float *gradient = of->self->gradient[micro->worker];
    const void *made = NULL;
    LEAT_TRY(of->batches->get(of->batches->context, micro->index, micro->worker, &made, err));
    const batch *rows = made;
    memset(gradient, 0, sizeof of->self->gradient[0]);
    for (int64_t r = 0; r < rows->count; r++) {
        float got = of->parameters[K];
        for (int k = 0; k < K; k++) got += of->parameters[k] * rows->rows[r][k];
        const float more = got - rows->rows[r][K];
        for (int k = 0; k < K; k++) gradient[k] += more * rows->rows[r][k];
        gradient[K] += more;
        micro->sums[0] += 0.5 * more * more;
    }
    for (int k = 0; k < SIZE; k++) gradient[k] /= (float)rows->count;
    micro->sums[0] /= (double)rows->count;
    micro->gradient = gradient;
    micro->weight = (double)rows->count;
    of->statistics[2 * micro->index] = (float)rows->count;
    of->statistics[2 * micro->index + 1] = 1;
    return LEAT_OK;
}

static leat_code unit(void *of, int pass, const leat_unit_batches *batches, const float *parameters,
                      leat_unit_numbers *out, leat_error *err) {
    linear *self = of;
    computing computing = {self, batches, parameters, out->statistics};
    const leat_unit_job job = {.micro_batches = batches->count,
                               .size = SIZE,
                               .end = SIZE,
                               .sums = 1,
                               .make = make_micro,
                               .context = &computing};
    leat_unit_sums sums;
    uint64_t mode = 0;
    (void)pass;
    LEAT_TRY(leat_engine_enter(&self->engine, &mode, err));
    const leat_code code = leat_unit_run(&self->engine, &job, out->gradient, &sums, err);
    leat_engine_leave(&self->engine, mode);
    out->sums[0] = sums.sums[0];
    out->weight = sums.weight;
    return code;
}

/* All rows that were seen; micro-batches that a unit does not have would add another number. */
static void fold(const void *self, int pass, int64_t micro_batches, const float *statistics,
                 float *running) {
    (void)self;
    (void)pass;
    for (int64_t i = 0; i < micro_batches; i++) {
        LEAT_ASSERT(statistics[2 * i + 1] == 1);
        *running += statistics[2 * i];
    }
}

static void norm(const void *self, int pass, const float *gradient, double weight, double *norms) {
    double sum = 0;
    (void)self;
    (void)pass;
    for (int i = 0; i < SIZE; i++) sum += (double)gradient[i] * gradient[i];
    norms[0] = sqrt(sum) / weight;
}

static leat_code step(void *of, const leat_model_step *at, leat_error *err) {
    const linear *self = of;
    (void)err;
    for (int i = 0; i < SIZE; i++) {
        at->first[i] = at->gradient[i] / (float)at->weight;
        at->parameters[i] -= (float)self->settings.learning_rate * at->first[i];
    }
    return LEAT_OK;
}

static void cancel(void *of, bool cancelled) {
    leat_engine_cancel(&((linear *)of)->engine, cancelled);
}

static const leat_value values[] = {{.name = "loss", .label = "loss", .better = -1},
                                    {.name = "norm", .label = "the regression"},
                                    {.name = NULL}};
static const char *const suites[] = {NULL};

#define LINEAR(of)                                                                                 \
    {                                                                                              \
        .name = of, .identity = "leat linear 1", .batch = BATCH, .values = values, .sums = 1,      \
        .norms = 1, .suites = suites, .passes = passes, .sizes = sizes, .create = create,          \
        .destroy = destroy, .tensor = tensor, .init = init, .unit = unit, .fold = fold,            \
        .norm = norm, .step = step, .cancel = cancel                                               \
    }
static const leat_model_class linear_class = LINEAR("linear");
static const leat_model_class higher_class = LINEAR("higher"), lower_class = LINEAR("lower");
static const leat_model_class neither_class = LINEAR("neither");
static const leat_model_class second_class = LINEAR("second"), aside_class = LINEAR("aside");

/* ---- the feed ------------------------------------------------------------------------------- */

typedef struct rows {
    float *rows; /* [count][K + 1] */
    char fingerprint[65];
    int64_t units, micro_batch;
    int64_t ends_at; /* position of a unit that kills the process */
} rows;

leat_train_options tenant_options(int32_t threads) {
    leat_train_options options = leat_train_options_default();
    options.units = 2;
    options.micro_batch = 3;
    options.steps = TENANT_STEPS;
    options.checkpoint_every = 2;
    options.threads = threads;
    return options;
}

void tenant_data(const char *path, int64_t count) {
    FILE *file = fopen(path, "w");
    LEAT_ASSERT(file != NULL);
    for (int64_t i = 0; i < count; i++) {
        const double x[K] = {(double)(i % 5) - 2, (double)(i % 7) / 4, (double)(i % 3)};
        fprintf(file, "%g %g %g %g\n", x[0], x[1], x[2], 2 * x[0] - x[1] + 0.5 * x[2] + 0.25);
    }
    LEAT_ASSERT(fclose(file) == 0);
}

static void close_rows(void *of) {
    rows *self = of;
    leat_free(self->rows);
    leat_free(self);
}

static leat_code read_rows(leat_feed *feed, const char *text, leat_error *err) {
    rows *self = feed->self;
    int64_t capacity = 0;
    char *end = NULL;
    for (const char *at = text; *at != 0; at = end) {
        LEAT_TRY(LEAT_GROW(&self->rows, &capacity, (feed->count + 1) * (K + 1), err));
        for (int k = 0; k <= K; k++, at = end)
            self->rows[feed->count * (K + 1) + k] = strtof(at, &end);
        feed->count++;
        while (*end == '\n') end++;
    }
    return LEAT_OK;
}

static leat_code open_rows(leat_feed *feed, const char *path, leat_error *err) {
    uint8_t *bytes = NULL, digest[32];
    int64_t size = 0;
    rows *self = NULL;
    LEAT_TRY(LEAT_NEW(&self, 1, err));
    const char *ends_at = getenv("TENANT_ENDS_AT");
    self->ends_at = ends_at != NULL ? strtoll(ends_at, NULL, 10) : INT64_MAX;
    feed->self = self;
    feed->fingerprint = self->fingerprint;
    LEAT_TRY(leat_file_sha256(path, digest, err));
    leat_sha256_hex(digest, self->fingerprint);
    LEAT_TRY(leat_file_load(path, 1 << 20, &bytes, &size, err));
    const leat_code code = read_rows(feed, (const char *)bytes, err);
    leat_free(bytes);
    return code;
}

/* Of the run's unit number i: 5, 6, 7, 5, ... rows. */
static int64_t unit_rows(int64_t i) { return 5 + i % 3; }
static int64_t rows_before(int64_t i) { return 5 * i + i / 3 * 3 + (i % 3 == 2 ? 1 : 0); }

/* Each third step has a unit less, if it has others. */
static bool is_short(int64_t step, int64_t most) { return step % 3 == 2 && most > 1; }
static int64_t units_before(int64_t step, int64_t most) {
    return step * most - (most > 1 ? step / 3 : 0);
}

static leat_code plan(leat_feed *feed, const leat_train_options *options, leat_error *err) {
    rows *self = feed->self;
    if (options->micro_batch > ROWS_MAX)
        return leat_fail(err, LEAT_ERR_OPTION, "micro-batch is above %d", ROWS_MAX);
    self->units = options->units;
    self->micro_batch = options->micro_batch;
    feed->steps_most = INT64_C(1) << 40;
    feed->units_most = options->units;
    feed->batches_most = (unit_rows(2) + options->micro_batch - 1) / options->micro_batch;
    feed->batch_bytes = sizeof(batch);
    feed->repeats = feed->count < options->micro_batch;
    return LEAT_OK;
}

static leat_code steps(const leat_feed *feed, const leat_train_options *options, int64_t *out,
                       leat_error *err) {
    (void)feed;
    (void)err;
    *out = options->steps;
    return LEAT_OK;
}

static leat_code units(const leat_feed *feed, int64_t at, int64_t *out, leat_error *err) {
    const int64_t most = ((const rows *)feed->self)->units;
    (void)err;
    *out = most - is_short(at, most);
    return LEAT_OK;
}

static leat_code place(const leat_feed *feed, int64_t at, int64_t of, leat_unit_place *out,
                       leat_error *err) {
    const rows *self = feed->self;
    const int64_t i = units_before(at, self->units) + of;
    (void)err;
    out->position = rows_before(i);
    out->epoch = out->position / feed->count;
    out->first = out->position % feed->count;
    out->count = unit_rows(i);
    out->batches = (out->count + self->micro_batch - 1) / self->micro_batch;
    return LEAT_OK;
}

static leat_code weight(const leat_feed *feed, const leat_unit_place *at, double *out,
                        leat_error *err) {
    (void)feed;
    (void)err;
    *out = (double)at->count;
    return LEAT_OK;
}

static leat_code make(const leat_feed *feed, const leat_unit_place *at, int64_t index, void *out,
                      leat_error *err) {
    const rows *self = feed->self;
    const int64_t first = index * self->micro_batch, left = at->count - first;
    batch *made = out;
    (void)err;
    if (at->position >= self->ends_at) raise(SIGKILL);
    made->count = left < self->micro_batch ? left : self->micro_batch;
    for (int64_t r = 0; r < made->count; r++) {
        const int64_t number = (at->position + first + r) % feed->count;
        memcpy(made->rows[r], self->rows + number * (K + 1), sizeof made->rows[r]);
    }
    return LEAT_OK;
}

static const leat_feed_class rows_class = {
    .one = "row",
    .many = "rows",
    .batch = BATCH,
    .open = open_rows,
    .close = close_rows,
    .plan = plan,
    .steps = steps,
    .units = units,
    .place = place,
    .weight = weight,
    .make = make,
};

/* ---- its settings, and the row -------------------------------------------------------------- */

static const leat_setting settings_rows[] = {
    {.name = "scale",
     .kind = LEAT_SETTING_INT32,
     .place = offsetof(tenant_settings, scale),
     .min = 1,
     .max = 9,
     .help = "of the first weights"},
    {.name = "learning-rate",
     .kind = LEAT_SETTING_REAL,
     .place = offsetof(tenant_settings, learning_rate),
     .high = 1,
     .low_open = true,
     .help = "step size"},
    {.name = NULL},
};

static void set_defaults(void *settings) {
    *(tenant_settings *)settings = (tenant_settings){.scale = 1, .learning_rate = 0.0625};
}

const leat_setting_table *tenant_settings_table(void) {
    static const leat_setting_table table = {.owner = "a linear regression",
                                             .rows = settings_rows,
                                             .size_bytes = sizeof(tenant_settings),
                                             .set_defaults = set_defaults};
    return &table;
}

/* No function: as exports are of a model that says no more. */
static const leat_export_file files[] = {
    {.name = TENANT_WEIGHTS, .prefix = "", .member = "weights"}, {.name = NULL}};
static const leat_export_class exports = {.files = files};

/* ---- what is measured and watched ----------------------------------------------------------- */

static const leat_value measures[] = {
    {.name = "distance", .label = "rows", .better = -1}, {.name = "rows_seen"}, {.name = NULL}};

static int64_t measure_bytes(const leat_train_options *options, const leat_feed *feed) {
    (void)feed;
    return options->sample_every > 0 ? (int64_t)sizeof(leat_measuring) : 0;
}

static leat_code begin_measuring(void **self, const leat_measuring *of,
                                 char note[LEAT_MEASURE_NOTE_BYTES], leat_error *err) {
    leat_measuring *here = NULL;
    (void)note;
    *self = NULL;
    LEAT_TRY(LEAT_NEW(&here, 1, err));
    *here = *of;
    *self = here;
    return LEAT_OK;
}

/* The line of a step, as text. */
static leat_code keep_line(const leat_measuring *of, int64_t step, const float *parameters,
                           leat_error *err) {
    char path[LEAT_PATH_BYTES], text[64 * SIZE] = "";
    LEAT_TRY(leat_run_kept_path(of->folder, TENANT_KEPT, step, path, err));
    for (int i = 0; i < SIZE; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%a\n", (double)parameters[i]);
    return leat_file_save(path, text, (int64_t)strlen(text), err);
}

/* How far the line is from the rows, on average. */
static leat_code measure_distance(void *of, const float *parameters, leat_train_step *at,
                                  char note[LEAT_MEASURE_NOTE_BYTES], leat_error *err) {
    const leat_feed *feed = ((const leat_measuring *)of)->feed;
    const float *row = ((const rows *)feed->self)->rows;
    double sum = 0;
    (void)note;
    for (int64_t r = 0; r < feed->count; r++, row += K + 1) {
        double more = parameters[K] - row[K];
        for (int k = 0; k < K; k++) more += parameters[k] * row[k];
        sum += fabs(more);
    }
    at->measured[0] = sum / (double)feed->count;
    at->measured[1] = (double)at->samples;
    return keep_line(of, at->step, parameters, err);
}

static void end_measuring(void *self) { leat_free(self); }

static const leat_measure_class measure_class = {.kept = TENANT_KEPT,
                                                 .bytes = measure_bytes,
                                                 .create = begin_measuring,
                                                 .destroy = end_measuring,
                                                 .take = measure_distance};

/* A mean of the distance over the last two measurements, so that a run that forgets it warns at
 * another step. */
static leat_warning_look is_near(const leat_train_step *at, double memory[LEAT_WARNING_MEMORY]) {
    const double distance = leat_train_step_value(at, "distance");
    if (isnan(distance)) return (leat_warning_look){.counts = false};
    const double before = memory[0];
    memory[0] = distance;
    return (leat_warning_look){
        .counts = true, .holds = 0.5 * (before + distance) < TENANT_NEAR, .ripe = before > 0};
}

static leat_warning_look is_steep(const leat_train_step *at, double memory[LEAT_WARNING_MEMORY]) {
    (void)memory;
    return (leat_warning_look){
        .counts = true, .holds = leat_train_step_value(at, "norm") > TENANT_STEEP, .ripe = true};
}

static const leat_warning_rule warning_rules[] = {
    {.name = "near", .what = "the line is near", .why = "; stop", .most = 2, .look = is_near},
    {.name = "steep", .what = "the gradient is steep", .why = "", .most = 2, .look = is_steep},
    {.name = NULL},
};

const leat_task tenant_task = {.model = &linear_class,
                               .feed = &rows_class,
                               .measures = measures,
                               .saved_measures = 2,
                               .measure = &measure_class,
                               .warning_rules = warning_rules,
                               .settings = tenant_settings_table,
                               .exports = &exports};

/* ---- the best of what is measured ----------------------------------------------------------- */

#define MEASURE(of)                                                                                \
    { .name = "fit", .label = "fit", .better = (of), .figure = "Fit", .axis = "fit" }
static const leat_value higher[] = {MEASURE(1), {.name = NULL}},
                        lower[] = {MEASURE(-1), {.name = NULL}},
                        neither[] = {MEASURE(0), {.name = NULL}};

static int64_t no_bytes(const leat_train_options *options, const leat_feed *feed) {
    (void)feed;
    (void)options;
    return 0;
}

static leat_code begin_fits(void **self, const leat_measuring *of,
                            char note[LEAT_MEASURE_NOTE_BYTES], leat_error *err) {
    static const double fits[] = TENANT_FITS;
    (void)of;
    (void)note;
    (void)err;
    *self = (void *)(uintptr_t)fits;
    return LEAT_OK;
}

static void end_fits(void *self) { (void)self; }

static leat_code take_fit(void *self, const float *parameters, leat_train_step *at,
                          char note[LEAT_MEASURE_NOTE_BYTES], leat_error *err) {
    (void)parameters;
    (void)note;
    (void)err;
    at->measured[0] = ((const double *)self)[at->step];
    return LEAT_OK;
}

static const leat_measure_class fits_class = {
    .bytes = no_bytes, .create = begin_fits, .destroy = end_fits, .take = take_fit};

#define MEASURED(of)                                                                               \
    {                                                                                              \
        .model = &of##_class, .feed = &rows_class, .settings = tenant_settings_table,              \
        .measures = (of), .saved_measures = 1, .measure = &fits_class                              \
    }
const leat_task tenant_higher_task = MEASURED(higher), tenant_lower_task = MEASURED(lower),
                tenant_neither_task = MEASURED(neither);

/* ---- two numbers ---------------------------------------------------------------------------- */

static const leat_value second[] = {MEASURE(1), {.name = "misfit", .better = -1}, {.name = NULL}},
                        aside[] = {MEASURE(-1), {.name = "rank", .better = 1}, {.name = NULL}};

/* The first does not exist, and the misfit becomes worse. */
static leat_code take_second(void *self, const float *parameters, leat_train_step *at,
                             char note[LEAT_MEASURE_NOTE_BYTES], leat_error *err) {
    const leat_code code = take_fit(self, parameters, at, note, err);
    at->measured[1] = -at->measured[0];
    at->measured[0] = NAN;
    return code;
}

/* The first, which decides, becomes better, and the rank worse. */
static leat_code take_aside(void *self, const float *parameters, leat_train_step *at,
                            char note[LEAT_MEASURE_NOTE_BYTES], leat_error *err) {
    const leat_code code = take_fit(self, parameters, at, note, err);
    at->measured[1] = at->measured[0];
    return code;
}

#define MEASURED_TWICE(of)                                                                         \
    {                                                                                              \
        .model = &of##_class, .feed = &rows_class, .settings = tenant_settings_table,              \
        .measures = (of), .saved_measures = 2, .measure = &(const leat_measure_class) {            \
            .bytes = no_bytes, .create = begin_fits, .destroy = end_fits, .take = take_##of        \
        }                                                                                          \
    }
const leat_task tenant_second_task = MEASURED_TWICE(second),
                tenant_aside_task = MEASURED_TWICE(aside);
