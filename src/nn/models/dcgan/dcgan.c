/* The layers and the table of parameters of a DCGAN. */
#include "nn/models/dcgan/dcgan.h"

static int64_t add_conv(leat_dcgan_shape *model, const leat_dcgan_layer *layer, const char *network,
                        int number) {
    const leat_conv *conv = &layer->conv;
    const int64_t shape[] = {conv->narrow_channels, conv->wide_channels, conv->kernel,
                             conv->kernel};
    return leat_param_add(model->params, &model->param_count, 0, 0.02, 4, shape,
                          "%s.main.%d.weight", network, number)
        ->offset;
}

static void add_norm(leat_dcgan_shape *model, leat_dcgan_layer *layer, const char *network,
                     int number, int64_t *channels) {
    const int64_t shape[] = {layer->channels};
    layer->norm = true;
    layer->norm_weight = leat_param_add(model->params, &model->param_count, 1, 0.02, 1, shape,
                                        "%s.main.%d.weight", network, number)
                             ->offset;
    layer->norm_shift = leat_param_add(model->params, &model->param_count, 0, 0, 1, shape,
                                       "%s.main.%d.bias", network, number)
                            ->offset;
    layer->moments = *channels;
    *channels += layer->channels;
}

/* A layer between `wide` channels of size x size and `narrow` channels: of half the size, or, at
 * the end without a spatial size, of one pixel. */
static leat_code set_layer(leat_dcgan_layer *layer, bool up, int narrow, int wide, int size,
                           bool end, leat_error *err) {
    *layer = (leat_dcgan_layer){.up = up, .slope = 1};
    layer->conv = (leat_conv){.kernel = 4,
                              .stride = end ? 1 : 2,
                              .padding = end ? 0 : 1,
                              .wide_channels = wide,
                              .wide_height = size,
                              .wide_width = size,
                              .narrow_channels = narrow};
    LEAT_TRY(leat_conv_complete(&layer->conv, err));
    const int side = up ? size : layer->conv.narrow_height;
    layer->channels = up ? wide : narrow;
    layer->pixels = (int64_t)side * side;
    return LEAT_OK;
}

/* The values of one image, with its unused lanes, on each side of a layer. */
static int64_t in_count(const leat_dcgan_layer *layer) {
    return layer->up ? leat_conv_narrow_count(&layer->conv, 1)
                     : leat_conv_wide_count(&layer->conv, 1);
}
static int64_t out_count(const leat_dcgan_layer *layer) {
    return layer->up ? leat_conv_wide_count(&layer->conv, 1)
                     : leat_conv_narrow_count(&layer->conv, 1);
}

/* Each layer reads what the one before has written, and what is said of its output is true. */
static void check_chain(const leat_dcgan_layer *layers, int64_t in, int64_t out) {
    int64_t next = in * LEAT_LANES;
    for (int i = 0; i < LEAT_DCGAN_LAYERS; i++) {
        const leat_dcgan_layer *layer = &layers[i];
        const int64_t reads = in_count(layer);
        LEAT_ASSERT(reads == next && layer->slope >= 0);
        next = out_count(layer);
        LEAT_ASSERT(next == layer->pixels * layer->channels * LEAT_LANES);
    }
    LEAT_ASSERT(next == out * LEAT_LANES);
}

leat_code leat_dcgan_shape_set(leat_dcgan_shape *out, int width, int latent, leat_error *err) {
    const int widths[] = {LEAT_IMAGE_COLORS, width, 2 * width, 4 * width, 8 * width};
    /* the number of a layer in the module list of GANNs-with-friends, and of its normalisation */
    static const int g_number[] = {0, 3, 6, 9, 12}, d_number[] = {0, 2, 5, 8, 11};
    *out = (leat_dcgan_shape){.width = width, .latent = latent};
    if (width < 1 || width > LEAT_DCGAN_WIDTH_MAX || latent < 1 || latent > LEAT_DCGAN_LATENT_MAX)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "DCGAN of width %d and latent size %d: they must be 1 to %d and 1 to %d",
                         width, latent, LEAT_DCGAN_WIDTH_MAX, LEAT_DCGAN_LATENT_MAX);
    for (int i = 0; i < LEAT_DCGAN_LAYERS; i++) {
        leat_dcgan_layer *layer = &out->g[i];
        const int level = LEAT_DCGAN_LAYERS - 1 - i; /* of the output */
        LEAT_TRY(set_layer(layer, true, i == 0 ? latent : widths[level + 1], widths[level],
                           LEAT_IMAGE_SIZE >> level, i == 0, err));
        layer->weight = add_conv(out, layer, "G", g_number[i]);
        if (level == 0) continue;
        add_norm(out, layer, "G", g_number[i] + 1, &out->g_channels);
        layer->slope = 0;
    }
    out->g_size = leat_params_size(out->params, out->param_count);
    for (int i = 0; i < LEAT_DCGAN_LAYERS; i++) {
        leat_dcgan_layer *layer = &out->d[i];
        const bool last = i == LEAT_DCGAN_LAYERS - 1;
        LEAT_TRY(set_layer(layer, false, last ? 1 : widths[i + 1], widths[i], LEAT_IMAGE_SIZE >> i,
                           last, err));
        layer->weight = add_conv(out, layer, "D", d_number[i]);
        if (i > 0 && !last) add_norm(out, layer, "D", d_number[i] + 1, &out->d_channels);
        if (!last) layer->slope = 0.2f;
    }
    out->size = leat_params_size(out->params, out->param_count);
    check_chain(out->g, latent, LEAT_IMAGE_VALUES);
    check_chain(out->d, LEAT_IMAGE_VALUES, 1);
    LEAT_ASSERT(out->param_count == LEAT_DCGAN_PARAMS && out->g_size < out->size);
    return LEAT_OK;
}

int64_t leat_dcgan_shape_moments(const leat_dcgan_shape *model) {
    return 2 * model->g_channels + 4 * model->d_channels;
}
