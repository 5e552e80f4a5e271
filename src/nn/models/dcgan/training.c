/*
 * One unit of a DCGAN: what is done with each of its micro-batches (nn/unit/unit.h says in which
 * order, and by whom). Weights are packed once for the unit, gradients unpacked once at its end.
 */
#include "nn/models/dcgan/handle.h"

#include <string.h>

#include "base/mem.h"
#include "nn/float_mode.h"
#include "nn/ops/batchnorm.h"
#include "nn/ops/bce.h"
#include "nn/ops/each.h"
#include "nn/ops/move.h"

#define LAYERS LEAT_DCGAN_LAYERS
/* The sums of a unit. */
enum { LOSS_IMAGES, LOSS_FAKES, LOSS_G, LOSSES };
_Static_assert(LOSSES <= LEAT_UNIT_SUMS_MAX, "leat_micro has a place for each");

/* ---- Memory ------------------------------------------------------------------------------- */

static void place_layers(leat_dcgan_network *network, int64_t *size) {
    for (int i = 0; i < LAYERS; i++) {
        const leat_dcgan_layer *layer = &network->layers[i];
        leat_dcgan_places *place = &network->place[i];
        place->conv = *size;
        *size += leat_conv_gradient_count(&layer->conv);
        place->norm_weight = *size;
        *size += layer->norm ? layer->channels : 0;
        place->norm_shift = *size;
        *size += layer->norm ? layer->channels : 0;
    }
}

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

static int64_t work_count(const leat_dcgan *self, const leat_dcgan_layer *layer) {
    const leat_batchnorm bn = {
        .pixels = layer->pixels, .channels = layer->channels, .images = self->micro_batch};
    return most(leat_conv_work_count(&self->engine.device, &layer->conv, self->micro_batch),
                leat_batchnorm_work_count(&bn));
}

static void lay_out_scratch(const leat_dcgan *self, leat_float_layout *floats,
                            leat_dcgan_scratch *out) {
    int64_t largest = 0, work = 0;
    out->images = leat_float_layout_take(floats, LEAT_IMAGE_VALUES * self->lanes);
    out->noise = leat_float_layout_take(floats, self->shape.latent * self->lanes);
    for (int i = 0; i < LAYERS; i++) {
        const leat_dcgan_layer *g = &self->shape.g[i], *d = &self->shape.d[i];
        const int64_t g_count = g->pixels * g->channels * self->lanes;
        const int64_t d_count = d->pixels * d->channels * self->lanes;
        out->g.out[i] = leat_float_layout_take(floats, g_count);
        out->g.raw[i] = g->norm ? leat_float_layout_take(floats, g_count) : out->g.out[i];
        out->d.out[i] = leat_float_layout_take(floats, d_count);
        out->d.raw[i] = d->norm ? leat_float_layout_take(floats, d_count) : out->d.out[i];
        largest = most(largest, most(g_count, d_count));
        work = most(work, most(work_count(self, g), work_count(self, d)));
    }
    out->up[0] = leat_float_layout_take(floats, largest);
    out->up[1] = leat_float_layout_take(floats, largest);
    out->small = leat_float_layout_take(floats, 4 * self->lanes);
    out->work = leat_float_layout_take(floats, work);
    out->gradient = leat_float_layout_take(floats, self->gradient_size);
}

static void lay_out(leat_dcgan *self, leat_float_layout *floats) {
    for (int i = 0; i < LAYERS; i++) {
        const int64_t g = leat_conv_weight_count(&self->shape.g[i].conv);
        const int64_t d = leat_conv_weight_count(&self->shape.d[i].conv);
        self->g.packed[i].up = leat_float_layout_take(floats, g);
        self->g.packed[i].down = leat_float_layout_take(floats, g);
        self->d.packed[i].down = leat_float_layout_take(floats, d);
        self->d.packed[i].up = leat_float_layout_take(floats, d);
    }
    self->total = leat_float_layout_take(floats, self->gradient_size);
    for (int i = 0; i < self->engine.threads; i++) {
        leat_dcgan_scratch none;
        lay_out_scratch(self, floats, self->scratch == NULL ? &none : &self->scratch[i]);
    }
}

/* Checks the options and gives the sizes, without memory; *self must stay where it is. */
static leat_code plan(leat_dcgan *self, const leat_dcgan_options *options,
                      leat_float_layout *floats, leat_error *err) {
    *self = (leat_dcgan){.micro_batch = options->micro_batch,
                         .lanes = leat_lanes(options->micro_batch)};
    leat_dcgan_shape *model = &self->shape;
    LEAT_TRY(leat_dcgan_shape_set(model, options->width, options->latent, err));
    if (options->micro_batch < 2 || options->micro_batch > LEAT_DCGAN_MICRO_BATCH_MAX)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "micro-batch must be between 2 and %d images, not %d",
                         LEAT_DCGAN_MICRO_BATCH_MAX, options->micro_batch);
    LEAT_TRY(leat_engine_set(&self->engine, "DCGAN", options->kernels, options->threads, err));
    self->g = (leat_dcgan_network){.layers = model->g, .channels = model->g_channels};
    self->d = (leat_dcgan_network){.layers = model->d, .channels = model->d_channels};
    place_layers(&self->g, &self->gradient_size);
    self->g_gradient_size = self->gradient_size;
    place_layers(&self->d, &self->gradient_size);
    lay_out(self, floats);
    return LEAT_OK;
}

leat_code leat_dcgan_bytes(const leat_dcgan_options *options, int64_t *bytes, leat_error *err) {
    leat_dcgan self;
    leat_float_layout floats = {0};
    *bytes = 0;
    LEAT_TRY(plan(&self, options, &floats, err));
    *bytes = leat_float_layout_bytes(&floats) + (int64_t)sizeof self +
             options->threads * (int64_t)sizeof(leat_dcgan_scratch);
    return LEAT_OK;
}

leat_code leat_dcgan_create(leat_dcgan **out, const leat_dcgan_options *options, leat_error *err) {
    leat_dcgan *self;
    leat_float_layout floats = {0};
    *out = NULL;
    LEAT_TRY(leat_alloc((void **)&self, 1, sizeof *self, err));
    leat_code code = plan(self, options, &floats, err);
    if (code == LEAT_OK) code = leat_engine_start(&self->engine, err);
    if (code == LEAT_OK) code = LEAT_NEW(&self->scratch, options->threads, err);
    if (code == LEAT_OK) code = leat_float_layout_alloc(&floats, err);
    if (code != LEAT_OK) {
        leat_dcgan_destroy(self);
        return code;
    }
    lay_out(self, &floats);
    leat_float_layout_end(&floats);
    self->memory = floats;
    const uint64_t mode = leat_float_mode_begin();
    for (int level = 0; level < 256; level++)
        self->pixel[level] = ((float)level / 255.0f - 0.5f) / 0.5f;
    leat_float_mode_end(mode);
    *out = self;
    return LEAT_OK;
}

void leat_dcgan_destroy(leat_dcgan *dcgan) {
    if (dcgan == NULL) return;
    leat_engine_stop(&dcgan->engine);
    leat_float_layout_free(&dcgan->memory);
    leat_free(dcgan->scratch);
    leat_free(dcgan);
}

const leat_dcgan_shape *leat_dcgan_shape_of(const leat_dcgan *dcgan) { return &dcgan->shape; }
leat_engine *leat_dcgan_engine(leat_dcgan *dcgan) { return &dcgan->engine; }
const leat_device *leat_dcgan_nn(const leat_dcgan *dcgan) { return &dcgan->engine.device; }
void leat_dcgan_cancel(leat_dcgan *dcgan, bool cancelled) {
    leat_engine_cancel(&dcgan->engine, cancelled);
}

int leat_dcgan_micro_batch(const leat_dcgan *dcgan) { return dcgan->micro_batch; }

/* ---- Backward through a network ------------------------------------------------------------ */

/*
 * From the gradient of the last layer's output, in up[0], to that of the parameters, which are
 * added to if `add` (gradient NULL: not wanted), and of the input, which is left in *input
 * (NULL: not wanted).
 */
static leat_code backward(const leat_dcgan_micro *self, const leat_dcgan_network *network,
                          const leat_dcgan_flow *flow, bool add, float *gradient,
                          const float **input, leat_error *err) {
    const leat_dcgan *dcgan = self->dcgan;
    const leat_device *device = &self->device;
    const int images = dcgan->micro_batch;
    float *up = self->scratch->up[0], *down = self->scratch->up[1];
    LEAT_ASSERT(flow->training && (gradient != NULL || input != NULL));
    for (int i = LAYERS - 1; i >= 0; i--) {
        const leat_dcgan_layer *layer = &network->layers[i];
        const leat_dcgan_places *place = &network->place[i];
        const leat_conv *conv = &layer->conv;
        const float *in = i > 0 ? flow->layers->out[i - 1] : flow->in;
        if (layer->norm) {
            const leat_batchnorm bn = leat_dcgan_batchnorm(self, network, flow, i);
            float *weight = gradient == NULL ? NULL : gradient + place->norm_weight;
            float *shift = gradient == NULL ? NULL : gradient + place->norm_shift;
            LEAT_TRY(leat_batchnorm_backward(device, &bn, flow->layers->raw[i], up, up, weight,
                                             shift, err));
        } else if (layer->slope != 1) {
            const int64_t count = layer->pixels * layer->channels * dcgan->lanes;
            LEAT_TRY(leat_leaky_backward(device, layer->slope, count, flow->layers->out[i], up, up,
                                         err));
        }
        if (gradient != NULL) {
            const leat_conv_gradient of = {gradient + place->conv, add, self->scratch->work};
            LEAT_TRY(leat_conv_weight_gradient(device, conv, images, layer->up ? up : in,
                                               layer->up ? in : up, &of, err));
        }
        if (i == 0 && input == NULL) return LEAT_OK;
        const leat_dcgan_packed *packed = &network->packed[i];
        if (layer->up) LEAT_TRY(leat_conv_down(device, conv, images, packed->down, up, down, err));
        else LEAT_TRY(leat_conv_up(device, conv, images, packed->up, up, down, err));
        float *swap = up;
        up = down;
        down = swap;
    }
    *input = up;
    return LEAT_OK;
}

/* ---- One micro-batch ---------------------------------------------------------------------- */

typedef struct unit {
    leat_dcgan *dcgan;
    leat_dcgan_pass pass;
    const float *parameters;
    const leat_dcgan_source *source;
    leat_dcgan_result *result;
} unit;

/* A micro-batch of it. */
typedef struct inputs {
    const uint8_t *images;
    const float *noise;
    int64_t first; /* image in the unit */
} inputs;

/* Runs D; the logits are in d.out of the last layer, and copied to `logits` if that is not NULL. */
static leat_code judge(const leat_dcgan_micro *self, const leat_dcgan_flow *flow, float *logits,
                       leat_error *err) {
    const leat_dcgan *dcgan = self->dcgan;
    LEAT_TRY(leat_dcgan_forward(self, &dcgan->d, flow, err));
    if (logits == NULL) return LEAT_OK;
    return leat_move_out(&self->device, dcgan->micro_batch, 1, flow->layers->out[LAYERS - 1],
                         logits, err);
}

/* The loss of the logits against a target, in up[0] its gradient, from which D goes backward. */
static void compare(const leat_dcgan_micro *self, float target, double *loss) {
    const leat_dcgan *dcgan = self->dcgan;
    leat_dcgan_scratch *s = self->scratch;
    leat_clear(&self->device, dcgan->lanes, s->up[0]);
    leat_bce(&self->device, dcgan->micro_batch, target, s->d.out[LAYERS - 1], loss, s->up[0],
             s->small);
}

/* Norm gradients are added to from 0; convolutions begin by themselves. */
static void clear_norms(const leat_dcgan_micro *self, const leat_dcgan_network *network) {
    for (int i = 0; i < LAYERS; i++) {
        if (network->layers[i].norm)
            leat_clear(&self->device, 2 * network->layers[i].channels,
                       self->scratch->gradient + network->place[i].norm_weight);
    }
}

/* The logits and fakes that the caller wants of a micro-batch whose first image is `first`. */
static float *wanted(float *all, int64_t first) { return all == NULL ? NULL : all + first; }

/* D on the images: its loss and gradient. */
static leat_code learn_images(const leat_dcgan_micro *self, const unit *unit, const inputs *in,
                              float *moments, double *loss, leat_error *err) {
    leat_dcgan *dcgan = unit->dcgan;
    leat_dcgan_scratch *s = self->scratch;
    const leat_dcgan_flow flow = {s->images, &s->d, moments, true};
    const leat_levels levels = {in->images, dcgan->pixel};
    LEAT_TRY(leat_move_levels_in(&self->device, dcgan->micro_batch, LEAT_IMAGE_VALUES, levels,
                                 s->images, err));
    LEAT_TRY(judge(self, &flow, wanted(unit->result->logits_images, in->first), err));
    compare(self, 1, loss);
    return backward(self, &dcgan->d, &flow, false, s->gradient, NULL, err);
}

/* G, and D on what it makes: the gradients that the pass wants. */
static leat_code learn_fakes(const leat_dcgan_micro *self, const unit *unit, const inputs *in,
                             float *moments, double *losses, leat_error *err) {
    leat_dcgan *dcgan = unit->dcgan;
    leat_dcgan_scratch *s = self->scratch;
    float *of_fakes = moments + 2 * dcgan->g.channels + 2 * dcgan->d.channels;
    const float *fakes = s->g.out[LAYERS - 1], *down = NULL;
    const leat_dcgan_flow made = {s->noise, &s->g, moments, true};
    const leat_dcgan_flow judged = {fakes, &s->d, of_fakes, true};
    LEAT_TRY(leat_dcgan_forward_g(self, true, in->noise, moments, err));
    if (unit->result->fakes != NULL)
        LEAT_TRY(
            leat_dcgan_keep_fakes(self, unit->result->fakes + in->first * LEAT_IMAGE_VALUES, err));
    LEAT_TRY(judge(self, &judged, wanted(unit->result->logits_fakes, in->first), err));
    if (unit->pass != LEAT_DCGAN_G) {
        compare(self, 0, &losses[LOSS_FAKES]);
        LEAT_TRY(backward(self, &dcgan->d, &judged, true, s->gradient, NULL, err));
    }
    if (unit->pass == LEAT_DCGAN_D) return LEAT_OK;
    compare(self, 1, &losses[LOSS_G]);
    LEAT_TRY(backward(self, &dcgan->d, &judged, false, NULL, &down, err));
    LEAT_TRY(leat_tanh_backward(&self->device, LEAT_IMAGE_VALUES * dcgan->lanes, fakes, down,
                                s->up[0], err));
    return backward(self, &dcgan->g, &made, false, s->gradient, NULL, err);
}

static leat_code make_micro(void *context, leat_micro *micro, leat_error *err) {
    const unit *unit = context;
    leat_dcgan *dcgan = unit->dcgan;
    leat_dcgan_scratch *s = &dcgan->scratch[micro->worker];
    const leat_dcgan_micro self = {dcgan, micro->device, s, unit->parameters};
    LEAT_ASSERT(micro->worker < dcgan->engine.threads);
    const leat_dcgan_source *source = unit->source;
    inputs in = {.first = micro->index * dcgan->micro_batch};
    float *moments = unit->result->moments + micro->index * leat_dcgan_shape_moments(&dcgan->shape);
    micro->gradient = s->gradient;
    micro->weight = dcgan->micro_batch;
    LEAT_TRY(source->get(source->context, micro->index, micro->worker, &in.images, &in.noise, err));
    clear_norms(&self, &dcgan->g);
    clear_norms(&self, &dcgan->d);
    if (unit->pass != LEAT_DCGAN_G)
        LEAT_TRY(learn_images(&self, unit, &in, moments + 2 * dcgan->g.channels,
                              &micro->sums[LOSS_IMAGES], err));
    /* D's gradient of the images is there: that of the fakes is added to it */
    return learn_fakes(&self, unit, &in, moments, micro->sums, err);
}

/* ---- The unit ----------------------------------------------------------------------------- */

static void pack_layer(void *context, int64_t part) {
    const unit *unit = context;
    const leat_dcgan *dcgan = unit->dcgan;
    leat_dcgan_pack(dcgan, part / 2 < LAYERS ? &dcgan->g : &dcgan->d, (int)(part / 2 % LAYERS),
                    part % 2 == 0, unit->parameters);
}

static void unpack_layer(void *context, int64_t part) {
    const unit *unit = context;
    const leat_dcgan *dcgan = unit->dcgan;
    const leat_dcgan_network *network = part < LAYERS ? &dcgan->g : &dcgan->d;
    const leat_dcgan_layer *layer = &network->layers[part % LAYERS];
    const leat_dcgan_places *place = &network->place[part % LAYERS];
    float *out = unit->result->gradient;
    leat_conv_unpack_gradient(&layer->conv, dcgan->total + place->conv, out + layer->weight);
    if (!layer->norm) return;
    leat_copy(&dcgan->engine.device, layer->channels, dcgan->total + place->norm_weight,
              out + layer->norm_weight);
    leat_copy(&dcgan->engine.device, layer->channels, dcgan->total + place->norm_shift,
              out + layer->norm_shift);
}

static leat_code run_all(unit *unit, int64_t micro_batches, leat_error *err) {
    leat_dcgan *dcgan = unit->dcgan;
    leat_dcgan_result *result = unit->result;
    leat_unit_sums sums;
    const leat_unit_job job = {.micro_batches = micro_batches,
                               .size = dcgan->gradient_size,
                               .begin = unit->pass == LEAT_DCGAN_D ? dcgan->g_gradient_size : 0,
                               .end = unit->pass == LEAT_DCGAN_G ? dcgan->g_gradient_size
                                                                 : dcgan->gradient_size,
                               .sums = LOSSES,
                               .make = make_micro,
                               .context = unit};
    LEAT_TRY(leat_device_run(&dcgan->engine.device, 4 * LAYERS, pack_layer, unit, err));
    LEAT_TRY(leat_unit_run(&dcgan->engine, &job, dcgan->total, &sums, err));
    LEAT_TRY(leat_device_run(&dcgan->engine.device, 2 * LAYERS, unpack_layer, unit, err));
    result->weight = sums.weight;
    result->loss_d_images = sums.sums[LOSS_IMAGES];
    result->loss_d_fakes = sums.sums[LOSS_FAKES];
    result->loss_g = sums.sums[LOSS_G];
    return LEAT_OK;
}

leat_code leat_dcgan_check_pass(leat_dcgan_pass pass, leat_error *err) {
    if (pass == LEAT_DCGAN_BOTH || pass == LEAT_DCGAN_D || pass == LEAT_DCGAN_G) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION, "pass %d: there is no such pass", (int)pass);
}

static void clear_sums(leat_dcgan_result *result) {
    result->weight = result->loss_d_images = result->loss_d_fakes = result->loss_g = 0;
}

leat_code leat_dcgan_unit_of(leat_dcgan *dcgan, leat_dcgan_pass pass, int64_t micro_batches,
                             const float *parameters, const leat_dcgan_source *source,
                             leat_dcgan_result *result, leat_error *err) {
    unit unit = {
        .dcgan = dcgan, .pass = pass, .parameters = parameters, .source = source, .result = result};
    uint64_t mode = 0;
    clear_sums(result);
    LEAT_TRY(leat_dcgan_check_pass(pass, err));
    if (micro_batches < 1)
        return leat_fail(err, LEAT_ERR_OPTION, "a unit of %lld micro-batches; it needs at least 1",
                         (long long)micro_batches);
    LEAT_TRY(leat_engine_enter(&dcgan->engine, &mode, err));
    memset(result->moments, 0,
           sizeof(float) * (size_t)micro_batches * (size_t)leat_dcgan_shape_moments(&dcgan->shape));
    leat_code code = run_all(&unit, micro_batches, err);
    leat_engine_leave(&dcgan->engine, mode);
    return code;
}

/* All of a unit, in arrays of the caller's. */
typedef struct arrays {
    const leat_dcgan *dcgan;
    const uint8_t *images;
    const float *noise;
} arrays;

static leat_code get_of_arrays(void *context, int64_t index, int worker, const uint8_t **images,
                               const float **noise, leat_error *err) {
    const arrays *of = context;
    const int64_t first = index * of->dcgan->micro_batch;
    (void)worker;
    (void)err;
    *images = of->images == NULL ? NULL : of->images + first * LEAT_IMAGE_VALUES;
    *noise = of->noise + first * of->dcgan->shape.latent;
    return LEAT_OK;
}

leat_code leat_dcgan_unit(leat_dcgan *dcgan, leat_dcgan_pass pass, int micro_batches,
                          const float *parameters, const uint8_t *images, const float *noise,
                          leat_dcgan_result *result, leat_error *err) {
    arrays of = {dcgan, images, noise};
    const leat_dcgan_source source = {get_of_arrays, &of};
    if (images == NULL && micro_batches >= 1 && (pass == LEAT_DCGAN_BOTH || pass == LEAT_DCGAN_D)) {
        clear_sums(result);
        return leat_fail(err, LEAT_ERR_OPTION, "a unit without images can only be LEAT_DCGAN_G");
    }
    return leat_dcgan_unit_of(dcgan, pass, micro_batches, parameters, &source, result, err);
}
