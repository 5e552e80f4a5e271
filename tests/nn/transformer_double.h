/* A transformer's loss in double, in plain loops: for finite differences. */
#ifndef TESTS_NN_TRANSFORMER_DOUBLE_H
#define TESTS_NN_TRANSFORMER_DOUBLE_H

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "nn/models/transformer/transformer.h"
#include "nn/random_streams.h"

enum { DOUBLE_ROWS = 32, DOUBLE_WIDTH = 64 }; /* at most, of any row but logits */

/* y = x W^T */
static void double_linear(const double *weight, int64_t in, int64_t out, const double *x,
                          double *y) {
    for (int64_t i = 0; i < out; i++) {
        y[i] = 0;
        for (int64_t k = 0; k < in; k++) y[i] += weight[i * in + k] * x[k];
    }
}

static void double_norm(const double *weight, int64_t width, const double *x, double *y) {
    double squares = 0;
    for (int64_t c = 0; c < width; c++) squares += x[c] * x[c];
    const double scale = 1 / sqrt(squares / (double)width + 1e-6);
    for (int64_t c = 0; c < width; c++) y[c] = x[c] * scale * weight[c];
}

static void double_turn(const leat_transformer_size *size, int64_t heads, int64_t position,
                        double *x) {
    const int64_t half = size->head_width / 2;
    for (int64_t i = 0; i < heads * half; i++) {
        double *low = x + i / half * size->head_width + i % half;
        const double speed = pow(size->rope_base, -2.0 * (double)(i % half) / (2.0 * (double)half));
        const double angle = (double)position * speed, a = low[0], b = low[half];
        low[0] = a * cos(angle) - b * sin(angle);
        low[half] = b * cos(angle) + a * sin(angle);
    }
}

typedef double double_rows[DOUBLE_ROWS][DOUBLE_WIDTH];

static void double_attend(const leat_transformer_size *size, const leat_token_micro *batch,
                          double_rows *qkv, double_rows y) {
    const int64_t width = size->head_width, group = size->heads / size->kv_heads;
    for (int64_t i = 0; i < batch->sequences * batch->length * size->heads; i++) {
        const int64_t row = i / size->heads, head = i % size->heads, kv = head / group * width;
        const int32_t segment = batch->segments[row];
        double sum = 0, *out = y[row] + head * width;
        memset(out, 0, sizeof *out * (size_t)width);
        for (int64_t j = row / batch->length * batch->length; j <= row && segment != 0; j++) {
            double s = 0;
            if (batch->segments[j] != segment) continue;
            for (int64_t c = 0; c < width; c++)
                s += qkv[0][row][head * width + c] * qkv[1][j][kv + c];
            const double e = exp(s / sqrt((double)width));
            sum += e;
            for (int64_t c = 0; c < width; c++) out[c] += e * qkv[2][j][kv + c];
        }
        for (int64_t c = 0; c < width && sum > 0; c++) out[c] /= sum;
    }
}

/* x += more, with dropout of the place: element by element, as token_dropout.h has it. */
static void double_add(const leat_token_micro *batch, double dropout, int64_t place, int64_t row,
                       int64_t width, const double *more, double *x) {
    const int64_t sequence = row / batch->length;
    const uint64_t stream = LEAT_STREAM_TOKEN_DROPOUT;
    const uint64_t epoch = leat_random(batch->seed, stream, (uint64_t)batch->epoch[sequence]);
    const uint64_t key = leat_random(epoch, stream, (uint64_t)batch->number[sequence]);
    const int64_t first = (place << 40) + row % batch->length * width;
    for (int64_t c = 0; c < width; c++) {
        const uint64_t drawn = leat_random_at(key, (uint64_t)(first + c)) >> 40;
        if ((double)drawn < 0x1p24 * (1 - dropout)) x[c] += more[c] / (1 - dropout);
    }
}

static void double_layer(const leat_transformer_shape *shape, int64_t layer,
                         const leat_token_micro *batch, double dropout, const double *p,
                         double_rows x) {
    const leat_transformer_size *size = &shape->size;
    const leat_transformer_layer *at = &shape->layers[layer];
    const int64_t rows = batch->sequences * batch->length, width = size->width;
    static double_rows qkv[3], y;
    double normed[DOUBLE_WIDTH], more[DOUBLE_WIDTH], gate[DOUBLE_WIDTH], up[DOUBLE_WIDTH];
    for (int64_t row = 0; row < rows; row++) {
        double_norm(p + at->norm[0], width, x[row], normed);
        double_linear(p + at->q, width, shape->attention, normed, qkv[0][row]);
        double_linear(p + at->k, width, shape->key_values, normed, qkv[1][row]);
        double_linear(p + at->v, width, shape->key_values, normed, qkv[2][row]);
        double_turn(size, size->heads, batch->positions[row], qkv[0][row]);
        double_turn(size, size->kv_heads, batch->positions[row], qkv[1][row]);
    }
    double_attend(size, batch, qkv, y);
    for (int64_t row = 0; row < rows; row++) {
        double_linear(p + at->o, shape->attention, width, y[row], more);
        double_add(batch, dropout, 2 * layer, row, width, more, x[row]);
        double_norm(p + at->norm[1], width, x[row], normed);
        double_linear(p + at->gate, width, size->mlp, normed, gate);
        double_linear(p + at->up, width, size->mlp, normed, up);
        for (int64_t c = 0; c < size->mlp; c++) up[c] *= gate[c] / (1 + exp(-gate[c]));
        double_linear(p + at->down, size->mlp, width, up, more);
        double_add(batch, dropout, 2 * layer + 1, row, width, more, x[row]);
    }
}

/* The mean over the rows that have a target. */
static double double_loss(const leat_transformer_shape *shape, const leat_token_micro *batch,
                          double dropout, const double *p) {
    const leat_transformer_size *size = &shape->size;
    const int64_t rows = batch->sequences * batch->length, width = size->width;
    static double_rows x;
    double normed[DOUBLE_WIDTH], logits[DOUBLE_WIDTH], loss = 0;
    int64_t count = 0;
    for (int64_t row = 0; row < rows; row++)
        memcpy(x[row], p + shape->embedding + batch->inputs[row] * width,
               sizeof *p * (size_t)width);
    for (int64_t layer = 0; layer < size->layers; layer++)
        double_layer(shape, layer, batch, dropout, p, x);
    for (int64_t row = 0; row < rows; row++) {
        double sum = 0;
        if (batch->target_segments[row] == 0) continue;
        double_norm(p + shape->norm, width, x[row], normed);
        double_linear(p + shape->output, width, size->vocabulary, normed, logits);
        for (int64_t c = 0; c < size->vocabulary; c++) sum += exp(logits[c]);
        loss += log(sum) - logits[batch->targets[row]];
        count++;
    }
    return loss / (double)count;
}

#endif
