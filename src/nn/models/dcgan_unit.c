/*
 * One unit of a DCGAN. Threads take whole micro-batches, each with activations of its own, and the
 * gradients are added in the order of the micro-batches; if there is only one, the parts of each op
 * are divided instead. Weights are packed once for the unit, gradients unpacked once at its end.
 */
#include "nn/models/dcgan_unit.h"

#include <string.h>

#include "base/mem.h"
#include "nn/ops/batchnorm.h"
#include "nn/ops/bce.h"
#include "nn/ops/each.h"
#include "nn/ops/float_mode.h"

#define LAYERS LEAT_DCGAN_LAYERS
typedef struct losses {
    double images, fakes, g;
} losses;

/* ---- Memory ------------------------------------------------------------------------------- */

/* Takes floats from a block, or only counts them if there is none; 64 bytes aligned. */
typedef struct arena {
    float *base;
    int64_t used;
} arena;

static float *take(arena *arena, int64_t count) {
    float *out = arena->base == NULL ? NULL : arena->base + arena->used;
    arena->used += leat_lanes(count);
    return out;
}

static void place_layers(const leat_dcgan_layer *layers, leat_dcgan_places *places, int64_t *size) {
    for (int i = 0; i < LAYERS; i++) {
        places[i].conv = *size;
        *size += leat_conv_gradient_count(&layers[i].conv);
        places[i].norm_weight = *size;
        *size += layers[i].norm ? layers[i].channels : 0;
        places[i].norm_shift = *size;
        *size += layers[i].norm ? layers[i].channels : 0;
    }
}

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

static int64_t work_count(const leat_dcgan *self, const leat_dcgan_layer *layer) {
    const leat_batchnorm bn = {
        .pixels = layer->pixels, .channels = layer->channels, .images = self->micro_batch};
    return most(leat_conv_work_count(&self->nn, &layer->conv, self->micro_batch),
                leat_batchnorm_work_count(&bn));
}

static void lay_out_scratch(const leat_dcgan *self, arena *arena, leat_dcgan_scratch *out) {
    int64_t largest = 0, work = 0;
    out->images = take(arena, (int64_t)LEAT_DCGAN_PIXELS * LEAT_IMAGE_COLORS * self->lanes);
    out->noise = take(arena, self->model.latent * self->lanes);
    for (int i = 0; i < LAYERS; i++) {
        const leat_dcgan_layer *g = &self->model.g[i], *d = &self->model.d[i];
        const int64_t g_count = g->pixels * g->channels * self->lanes;
        const int64_t d_count = d->pixels * d->channels * self->lanes;
        out->g_out[i] = take(arena, g_count);
        out->g_raw[i] = g->norm ? take(arena, g_count) : out->g_out[i];
        out->d_out[i] = take(arena, d_count);
        out->d_raw[i] = d->norm ? take(arena, d_count) : out->d_out[i];
        largest = most(largest, most(g_count, d_count));
        work = most(work, most(work_count(self, g), work_count(self, d)));
    }
    out->up[0] = take(arena, largest);
    out->up[1] = take(arena, largest);
    out->small = take(arena, 4 * self->lanes);
    out->work = take(arena, work);
    out->gradient = take(arena, self->size);
}

static void lay_out(leat_dcgan *self, arena *arena) {
    for (int i = 0; i < LAYERS; i++) {
        const int64_t g = leat_conv_weight_count(&self->model.g[i].conv);
        const int64_t d = leat_conv_weight_count(&self->model.d[i].conv);
        self->g[i].up = take(arena, g);
        self->g[i].down = take(arena, g);
        self->d[i].down = take(arena, d);
        self->d[i].up = take(arena, d);
    }
    self->total = take(arena, self->size);
    for (int i = 0; i < self->threads; i++) {
        leat_dcgan_scratch none;
        lay_out_scratch(self, arena, self->scratch == NULL ? &none : &self->scratch[i]);
    }
}

static void set_sizes(leat_dcgan *self, const leat_dcgan_model *model, const leat_kernels *kernels,
                      int threads, int micro_batch) {
    *self = (leat_dcgan){.model = *model,
                         .nn = {.kernels = kernels},
                         .threads = threads,
                         .micro_batch = micro_batch,
                         .lanes = leat_lanes(micro_batch)};
    place_layers(model->g, self->g_place, &self->size);
    self->g_size = self->size;
    place_layers(model->d, self->d_place, &self->size);
}

/* Checks the options and gives the sizes, without memory. */
static leat_code plan(leat_dcgan *self, const leat_dcgan_options *options, arena *arena,
                      leat_error *err) {
    leat_dcgan_model model;
    const leat_kernels *kernels;
    LEAT_TRY(leat_dcgan_model_set(&model, options->width, options->latent, err));
    LEAT_TRY(leat_kernels_named(options->kernels, &kernels, err));
    if (options->micro_batch < 2 || options->micro_batch > LEAT_DCGAN_MICRO_BATCH_MAX)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "micro-batch must be between 2 and %d images, not %d",
                         LEAT_DCGAN_MICRO_BATCH_MAX, options->micro_batch);
    if (options->threads < 1 || options->threads > LEAT_THREADS_MAX)
        return leat_fail(err, LEAT_ERR_OPTION, "threads must be between 1 and %d, not %d",
                         LEAT_THREADS_MAX, options->threads);
    set_sizes(self, &model, kernels, options->threads, options->micro_batch);
    lay_out(self, arena);
    return LEAT_OK;
}

leat_code leat_dcgan_bytes(const leat_dcgan_options *options, int64_t *bytes, leat_error *err) {
    leat_dcgan self;
    arena arena = {0};
    *bytes = 0;
    LEAT_TRY(plan(&self, options, &arena, err));
    *bytes = arena.used * (int64_t)sizeof(float) + (int64_t)sizeof self +
             options->threads * (int64_t)sizeof(leat_dcgan_scratch);
    return LEAT_OK;
}

leat_code leat_dcgan_create(leat_dcgan **out, const leat_dcgan_options *options, leat_error *err) {
    leat_dcgan *self;
    arena arena = {0};
    *out = NULL;
    LEAT_TRY(leat_alloc((void **)&self, 1, sizeof *self, err));
    leat_code code = plan(self, options, &arena, err);
    if (code == LEAT_OK) code = leat_pool_create(&self->nn.pool, options->threads, err);
    if (code == LEAT_OK) code = LEAT_NEW(&self->scratch, options->threads, err);
    const int64_t bytes = arena.used * (int64_t)sizeof(float);
    if (code == LEAT_OK) code = leat_block_alloc(&self->block, bytes, err);
    if (code != LEAT_OK) {
        leat_dcgan_destroy(self);
        return code;
    }
    self->block_bytes = bytes;
    arena = (struct arena){.base = self->block};
    lay_out(self, &arena);
    const uint64_t mode = leat_float_mode_begin();
    for (int level = 0; level < 256; level++)
        self->pixel[level] = ((float)level / 255.0f - 0.5f) / 0.5f;
    leat_float_mode_end(mode);
    *out = self;
    return LEAT_OK;
}

void leat_dcgan_destroy(leat_dcgan *dcgan) {
    if (dcgan == NULL) return;
    leat_pool_destroy(dcgan->nn.pool);
    if (dcgan->block != NULL) leat_block_free(dcgan->block, dcgan->block_bytes);
    leat_free(dcgan->scratch);
    leat_free(dcgan);
}

const leat_dcgan_model *leat_dcgan_model_of(const leat_dcgan *dcgan) { return &dcgan->model; }
const leat_nn *leat_dcgan_nn(const leat_dcgan *dcgan) { return &dcgan->nn; }
void leat_dcgan_cancel(leat_dcgan *dcgan, bool cancelled) {
    atomic_store(&dcgan->cancelled, cancelled);
}

int leat_dcgan_micro_batch(const leat_dcgan *dcgan) { return dcgan->micro_batch; }

/* ---- Backward through a network ------------------------------------------------------------ */

typedef struct unit {
    leat_dcgan *dcgan;
    leat_dcgan_pass pass;
    const float *parameters;
    const uint8_t *images;
    const float *noise;
    leat_dcgan_result *result;
    losses *losses; /* [thread], of the micro-batch that it has made */
} unit;

typedef struct micro {
    leat_dcgan_micro on;
    const unit *unit;
    float *moments;
} micro;

/*
 * From the gradient of the last layer's output, in up[0], to that of the parameters, which are
 * added to if `add` (gradient NULL: not wanted), and of the input, which is left in *input
 * (NULL: not wanted).
 */
static leat_code backward(const leat_dcgan_micro *self, const leat_dcgan_layer *layers,
                          const leat_dcgan_packed *packed, const leat_dcgan_places *places,
                          const float *first_in, float *const *raw, float *const *out,
                          const float *moments, int64_t channels, bool add, float *gradient,
                          const float **input, leat_error *err) {
    const leat_dcgan *dcgan = self->dcgan;
    const leat_nn *nn = &self->nn;
    const int images = dcgan->micro_batch;
    const float *parameters = self->parameters;
    float *up = self->scratch->up[0], *down = self->scratch->up[1], *work = self->scratch->work;
    for (int i = LAYERS - 1; i >= 0; i--) {
        const leat_dcgan_layer *layer = &layers[i];
        const leat_conv *conv = &layer->conv;
        const float *in = i > 0 ? out[i - 1] : first_in;
        if (layer->norm) {
            const leat_batchnorm bn = leat_dcgan_norm(dcgan, layer, true);
            float *w = gradient == NULL ? NULL : gradient + places[i].norm_weight;
            float *shift = gradient == NULL ? NULL : gradient + places[i].norm_shift;
            LEAT_TRY(leat_batchnorm_backward(
                nn, &bn, parameters + layer->norm_weight, parameters + layer->norm_shift, raw[i],
                moments + layer->moments, moments + channels + layer->moments, up, up, w, shift,
                work, err));
        } else if (layer->slope != 1) {
            const int64_t count = layer->pixels * layer->channels * dcgan->lanes;
            LEAT_TRY(leat_leaky_backward(nn, layer->slope, count, out[i], up, up, err));
        }
        if (gradient != NULL)
            LEAT_TRY(leat_conv_weight_gradient(nn, conv, images, layer->up ? up : in,
                                               layer->up ? in : up, add, gradient + places[i].conv,
                                               work, err));
        if (i == 0 && input == NULL) return LEAT_OK;
        if (layer->up) LEAT_TRY(leat_conv_down(nn, conv, images, packed[i].down, up, down, err));
        else LEAT_TRY(leat_conv_up(nn, conv, images, packed[i].up, up, down, err));
        float *swap = up;
        up = down;
        down = swap;
    }
    *input = up;
    return LEAT_OK;
}

/* ---- One micro-batch ---------------------------------------------------------------------- */

static void load_images(const leat_dcgan *dcgan, const uint8_t *images, float *out) {
    const int64_t values = (int64_t)LEAT_DCGAN_PIXELS * LEAT_IMAGE_COLORS;
    for (int64_t i = 0; i < values; i++, out += dcgan->lanes) {
        for (int64_t n = 0; n < dcgan->lanes; n++)
            out[n] = n < dcgan->micro_batch ? dcgan->pixel[images[n * values + i]] : 0.0f;
    }
}

/* Runs D on `in`, whose moments are kept; the logits are in d_out of the last layer. */
static leat_code judge(const micro *self, const float *in, float *moments, float *logits,
                       leat_error *err) {
    const leat_dcgan *dcgan = self->on.dcgan;
    leat_dcgan_scratch *s = self->on.scratch;
    LEAT_TRY(leat_dcgan_forward(&self->on, true, dcgan->model.d, dcgan->d, in, s->d_raw, s->d_out,
                                moments, dcgan->model.d_channels, err));
    if (logits != NULL)
        memcpy(logits, s->d_out[LAYERS - 1], sizeof *logits * (size_t)dcgan->micro_batch);
    return LEAT_OK;
}

/* The loss of the logits against a target, and D's backward pass with it. */
static leat_code learn(const micro *self, const float *in, const float *moments, float target,
                       bool add, float *gradient, double *loss, const float **input,
                       leat_error *err) {
    const leat_dcgan *dcgan = self->on.dcgan;
    leat_dcgan_scratch *s = self->on.scratch;
    memset(s->up[0], 0, sizeof(float) * (size_t)dcgan->lanes);
    leat_bce(&self->on.nn, dcgan->micro_batch, target, s->d_out[LAYERS - 1], loss, s->up[0],
             s->small);
    return backward(&self->on, dcgan->model.d, dcgan->d, dcgan->d_place, in, s->d_raw, s->d_out,
                    moments, dcgan->model.d_channels, add, gradient, input, err);
}

/* Norm gradients are added to from 0; convolutions begin by themselves. */
static void clear_norms(const leat_dcgan_layer *layers, const leat_dcgan_places *places,
                        float *gradient) {
    for (int i = 0; i < LAYERS; i++) {
        if (layers[i].norm)
            memset(gradient + places[i].norm_weight, 0,
                   2 * sizeof *gradient * (size_t)layers[i].channels);
    }
}

static leat_code run_micro(const micro *self, int64_t index, losses *losses, leat_error *err) {
    const unit *unit = self->unit;
    leat_dcgan *dcgan = unit->dcgan;
    const leat_dcgan_model *model = &dcgan->model;
    leat_dcgan_scratch *s = self->on.scratch;
    const leat_dcgan_result *result = unit->result;
    const int64_t first = index * dcgan->micro_batch;
    const int64_t values = (int64_t)LEAT_DCGAN_PIXELS * LEAT_IMAGE_COLORS;
    float *of_images = self->moments + 2 * model->g_channels;
    float *of_fakes = of_images + 2 * model->d_channels;
    float *logits = result->logits_images == NULL ? NULL : result->logits_images + first;
    const float *fakes = s->g_out[LAYERS - 1], *down;
    if (atomic_load(&dcgan->cancelled))
        return leat_fail(err, LEAT_ERR_CANCELLED, "the unit was cancelled");
    clear_norms(model->g, dcgan->g_place, s->gradient);
    clear_norms(model->d, dcgan->d_place, s->gradient);
    if (unit->pass != LEAT_DCGAN_G) {
        load_images(dcgan, unit->images + first * values, s->images);
        LEAT_TRY(judge(self, s->images, of_images, logits, err));
        LEAT_TRY(
            learn(self, s->images, of_images, 1, false, s->gradient, &losses->images, NULL, err));
    }
    LEAT_TRY(leat_dcgan_forward_g(&self->on, true, unit->noise + first * model->latent,
                                  self->moments, err));
    if (result->fakes != NULL) leat_dcgan_keep_fakes(&self->on, result->fakes + first * values);
    logits = result->logits_fakes == NULL ? NULL : result->logits_fakes + first;
    LEAT_TRY(judge(self, fakes, of_fakes, logits, err));
    if (unit->pass != LEAT_DCGAN_G)
        LEAT_TRY(learn(self, fakes, of_fakes, 0, true, s->gradient, &losses->fakes, NULL, err));
    if (unit->pass == LEAT_DCGAN_D) return LEAT_OK;
    LEAT_TRY(learn(self, fakes, of_fakes, 1, false, NULL, &losses->g, &down, err));
    LEAT_TRY(leat_tanh_backward(&self->on.nn, values * dcgan->lanes, fakes, down, s->up[0], err));
    return backward(&self->on, model->g, dcgan->g, dcgan->g_place, s->noise, s->g_raw, s->g_out,
                    self->moments, model->g_channels, false, s->gradient, NULL, err);
}

/* ---- The unit ----------------------------------------------------------------------------- */

static leat_code make_micro(void *context, int worker, int64_t part, leat_error *err) {
    const unit *unit = context;
    leat_dcgan *dcgan = unit->dcgan;
    const leat_nn alone = {.kernels = dcgan->nn.kernels};
    const micro self = {.on = {dcgan, alone, &dcgan->scratch[worker], unit->parameters},
                        .unit = unit,
                        .moments =
                            unit->result->moments + part * leat_dcgan_model_moments(&dcgan->model)};
    const uint64_t mode = leat_float_mode_begin();
    leat_code code = run_micro(&self, part, &unit->losses[worker], err);
    leat_float_mode_end(mode);
    return code;
}

static leat_code add_micro(const unit *unit, const leat_nn *nn, int worker, leat_error *err) {
    leat_dcgan *dcgan = unit->dcgan;
    const float weight = (float)dcgan->micro_batch;
    const int64_t begin = unit->pass == LEAT_DCGAN_D ? dcgan->g_size : 0;
    const int64_t end = unit->pass == LEAT_DCGAN_G ? dcgan->g_size : dcgan->size;
    LEAT_TRY(leat_add_scaled(nn, end - begin, weight, dcgan->scratch[worker].gradient + begin,
                             dcgan->total + begin, err));
    const losses *losses = &unit->losses[worker];
    unit->result->weight += dcgan->micro_batch;
    unit->result->loss_d_images += losses->images * dcgan->micro_batch;
    unit->result->loss_d_fakes += losses->fakes * dcgan->micro_batch;
    unit->result->loss_g += losses->g * dcgan->micro_batch;
    return LEAT_OK;
}

static leat_code take_micro(void *context, int worker, int64_t part, leat_error *err) {
    const unit *unit = context;
    const leat_nn alone = {.kernels = unit->dcgan->nn.kernels};
    (void)part;
    const uint64_t mode = leat_float_mode_begin();
    leat_code code = add_micro(unit, &alone, worker, err);
    leat_float_mode_end(mode);
    return code;
}

static void pack_layer(void *context, int64_t part) {
    const unit *unit = context;
    leat_dcgan *dcgan = unit->dcgan;
    const bool is_g = part / 2 < LAYERS;
    const int i = (int)(part / 2 % LAYERS);
    const leat_dcgan_layer *layer = is_g ? &dcgan->model.g[i] : &dcgan->model.d[i];
    leat_dcgan_pack(dcgan, layer, is_g ? &dcgan->g[i] : &dcgan->d[i], part % 2 == 0,
                    unit->parameters);
}

static void unpack_layer(void *context, int64_t part) {
    const unit *unit = context;
    const leat_dcgan *dcgan = unit->dcgan;
    const bool is_g = part < LAYERS;
    const int i = (int)(part % LAYERS);
    const leat_dcgan_layer *layer = is_g ? &dcgan->model.g[i] : &dcgan->model.d[i];
    const leat_dcgan_places *places = is_g ? &dcgan->g_place[i] : &dcgan->d_place[i];
    float *out = unit->result->gradient;
    leat_conv_unpack_gradient(&layer->conv, dcgan->total + places->conv, out + layer->weight);
    if (!layer->norm) return;
    const size_t bytes = sizeof *out * (size_t)layer->channels;
    memcpy(out + layer->norm_weight, dcgan->total + places->norm_weight, bytes);
    memcpy(out + layer->norm_shift, dcgan->total + places->norm_shift, bytes);
}

static leat_code run_all(unit *unit, int micro_batches, leat_error *err) {
    leat_dcgan *dcgan = unit->dcgan;
    LEAT_TRY(leat_nn_run(&dcgan->nn, 4 * LAYERS, pack_layer, unit, err));
    memset(dcgan->total, 0, sizeof(float) * (size_t)dcgan->size);
    if (micro_batches > 1 && dcgan->threads > 1) {
        const leat_pool_job job = {
            .parts = micro_batches, .context = unit, .make = make_micro, .take = take_micro};
        LEAT_TRY(leat_pool_run(dcgan->nn.pool, &job, err));
    } else {
        for (int64_t i = 0; i < micro_batches; i++) {
            const micro self = {.on = {dcgan, dcgan->nn, &dcgan->scratch[0], unit->parameters},
                                .unit = unit,
                                .moments = unit->result->moments +
                                           i * leat_dcgan_model_moments(&dcgan->model)};
            LEAT_TRY(run_micro(&self, i, &unit->losses[0], err));
            LEAT_TRY(add_micro(unit, &dcgan->nn, 0, err));
        }
    }
    return leat_nn_run(&dcgan->nn, 2 * LAYERS, unpack_layer, unit, err);
}

leat_code leat_dcgan_check_pass(leat_dcgan_pass pass, leat_error *err) {
    if (pass == LEAT_DCGAN_BOTH || pass == LEAT_DCGAN_D || pass == LEAT_DCGAN_G) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION, "pass %d: there is no such pass", (int)pass);
}

leat_code leat_dcgan_enter(leat_dcgan *dcgan, uint64_t *mode, leat_error *err) {
    if (atomic_exchange(&dcgan->busy, true))
        return leat_fail(err, LEAT_ERR_BUSY,
                         "another thread is computing with this DCGAN handle; create one for each "
                         "thread that computes");
    *mode = leat_float_mode_begin();
    return LEAT_OK;
}

void leat_dcgan_leave(leat_dcgan *dcgan, uint64_t mode) {
    leat_float_mode_end(mode);
    atomic_store(&dcgan->busy, false);
}

static void clear_sums(leat_dcgan_result *result) {
    result->weight = result->loss_d_images = result->loss_d_fakes = result->loss_g = 0;
}

leat_code leat_dcgan_unit(leat_dcgan *dcgan, leat_dcgan_pass pass, int micro_batches,
                          const float *parameters, const uint8_t *images, const float *noise,
                          leat_dcgan_result *result, leat_error *err) {
    losses losses[LEAT_THREADS_MAX] = {{0}};
    unit unit = {.dcgan = dcgan,
                 .pass = pass,
                 .parameters = parameters,
                 .images = images,
                 .noise = noise,
                 .result = result,
                 .losses = losses};
    uint64_t mode = 0;
    clear_sums(result);
    LEAT_TRY(leat_dcgan_check_pass(pass, err));
    if (micro_batches < 1)
        return leat_fail(err, LEAT_ERR_OPTION, "a unit of %d micro-batches; it needs at least 1",
                         micro_batches);
    if (images == NULL && pass != LEAT_DCGAN_G)
        return leat_fail(err, LEAT_ERR_OPTION, "a unit without images can only be LEAT_DCGAN_G");
    LEAT_TRY(leat_dcgan_enter(dcgan, &mode, err));
    memset(result->moments, 0,
           sizeof(float) * (size_t)micro_batches * (size_t)leat_dcgan_model_moments(&dcgan->model));
    leat_code code = run_all(&unit, micro_batches, err);
    leat_dcgan_leave(dcgan, mode);
    if (code != LEAT_OK) clear_sums(result);
    return code;
}
