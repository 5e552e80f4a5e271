/* What portraits are painted with: see images.h. */
#include <math.h>

#include "base/rng.h"
#include "synth/images/images.h"

enum { WIDTH = LEAT_PORTRAIT_WIDTH, HEIGHT = LEAT_PORTRAIT_HEIGHT };

/* Pixels [x0, x1) x [y0, y1). */
typedef struct box {
    int x0, y0, x1, y1;
} box;

typedef struct point {
    float u, v;
} point;

static float clamp(float value, float low, float high) {
    return value < low ? low : value > high ? high : value;
}

leat_color leat_color_mix(leat_color a, leat_color b, float share_of_b) {
    return (leat_color){a.r + (b.r - a.r) * share_of_b, a.g + (b.g - a.g) * share_of_b,
                        a.b + (b.b - a.b) * share_of_b};
}

leat_color leat_color_scale(leat_color color, float factor) {
    return (leat_color){color.r * factor, color.g * factor, color.b * factor};
}

/* ---- places --------------------------------------------------------------------------------- */

/* A pixel in the head's frame. */
static inline point to_head(const leat_canvas *canvas, int x, int y) {
    float dx = (float)x - canvas->x, dy = (float)y - canvas->y;
    return (point){dx * canvas->right + dy * canvas->down, dy * canvas->right - dx * canvas->down};
}

/* The pixels within a distance of a point of the head's frame. */
static box around(const leat_canvas *canvas, float u, float v, float reach) {
    float x = canvas->x + (u * canvas->cosine - v * canvas->sine) * canvas->scale;
    float y = canvas->y + (u * canvas->sine + v * canvas->cosine) * canvas->scale;
    float r = reach * canvas->scale + 1;
    return (box){(int)clamp(x - r, 0, WIDTH), (int)clamp(y - r, 0, HEIGHT),
                 (int)clamp(x + r + 1, 0, WIDTH), (int)clamp(y + r + 1, 0, HEIGHT)};
}

static inline void blend(leat_color *pixel, leat_color color, float share) {
    if (share > 0) *pixel = leat_color_mix(*pixel, color, share);
}

/* An ellipse as its pixels need it. */
typedef struct measure {
    float x, y, across, down, least;
    float far; /* beyond this many radii there is nothing of it, squared */
} measure;

static measure measure_of(const leat_ellipse *it, float width) {
    float least = it->rx < it->ry ? it->rx : it->ry;
    float radii = 1 + (it->soft + width) / (2 * least);
    return (measure){it->x, it->y, 1 / it->rx, 1 / it->ry, least, radii * radii};
}

/* How far outside of an ellipse a point is, in pixels, about; negative inside. False: far away. */
static inline bool outside(const measure *it, point at, float *distance) {
    float a = (at.u - it->x) * it->across, b = (at.v - it->y) * it->down, radii = a * a + b * b;
    if (radii >= it->far) return false;
    *distance = (sqrtf(radii) - 1) * it->least;
    return true;
}

/* 1 well inside an edge, 0 well outside. */
static inline float cover(float distance, float soft) {
    return clamp(0.5f - distance / soft, 0, 1);
}

/* How far from its middle an ellipse reaches, with its edge. */
static float reach_of(const leat_ellipse *it) {
    float least = it->rx < it->ry ? it->rx : it->ry, most = it->rx > it->ry ? it->rx : it->ry;
    return most * (1 + it->soft / (2 * least));
}

/* Smooth numbers in 0..1 along a line. */
static float wave(uint64_t key, float at) {
    float below = floorf(at), share = at - below;
    uint64_t place = (uint64_t)(int64_t)below;
    float a = (float)(leat_random_at(key, place) >> 40) * (1.0f / (1 << 24));
    float b = (float)(leat_random_at(key, place + 1) >> 40) * (1.0f / (1 << 24));
    share = share * share * (3 - 2 * share);
    return a + (b - a) * share;
}

/* ---- shapes --------------------------------------------------------------------------------- */

void leat_canvas_gradient(leat_canvas *canvas, leat_color from, leat_color to, float across) {
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++) {
            float right = (float)x / (WIDTH - 1), down = (float)y / (HEIGHT - 1);
            canvas->pixels[y][x] = leat_color_mix(from, to, right * across + down * (1 - across));
        }
    }
}

void leat_canvas_ellipse(leat_canvas *canvas, const leat_ellipse *ellipse, leat_color color,
                         float opacity) {
    box in = around(canvas, ellipse->x, ellipse->y, reach_of(ellipse));
    const measure of = measure_of(ellipse, 0);
    float far = 0;
    for (int y = in.y0; y < in.y1; y++) {
        for (int x = in.x0; x < in.x1; x++) {
            if (!outside(&of, to_head(canvas, x, y), &far)) continue;
            blend(&canvas->pixels[y][x], color, cover(far, ellipse->soft) * opacity);
        }
    }
}

void leat_canvas_ring(leat_canvas *canvas, const leat_ellipse *ellipse, float width,
                      leat_color color, float opacity) {
    box in = around(canvas, ellipse->x, ellipse->y, reach_of(ellipse) + width);
    const measure of = measure_of(ellipse, width);
    float far = 0;
    for (int y = in.y0; y < in.y1; y++) {
        for (int x = in.x0; x < in.x1; x++) {
            if (!outside(&of, to_head(canvas, x, y), &far)) continue;
            float share = cover(fabsf(far) - width / 2, ellipse->soft);
            blend(&canvas->pixels[y][x], color, share * opacity);
        }
    }
}

/* Where the stroke's line is at u. */
static inline float line_at(const leat_stroke *it, float u) {
    float along = (u - it->x) / it->half;
    return it->y + it->bend * along * along + it->tilt * (u - it->x);
}

void leat_canvas_stroke(leat_canvas *canvas, const leat_stroke *stroke, leat_color color,
                        float opacity) {
    float reach = stroke->half + fabsf(stroke->bend) + stroke->thick + stroke->soft;
    box in = around(canvas, stroke->x, stroke->y, reach);
    for (int y = in.y0; y < in.y1; y++) {
        for (int x = in.x0; x < in.x1; x++) {
            point at = to_head(canvas, x, y);
            float along = (at.u - stroke->x) / stroke->half;
            if (along * along >= 1) continue;
            float thick = stroke->thick * (1 - along * along);
            float far = fabsf(at.v - line_at(stroke, at.u)) - thick / 2;
            float share = cover(far, stroke->soft) * clamp(thick, 0, 1);
            blend(&canvas->pixels[y][x], color, share * opacity);
        }
    }
}

void leat_canvas_hair(leat_canvas *canvas, const leat_ellipse *head, const leat_stroke *hairline,
                      leat_color color, float strands) {
    box in = around(canvas, head->x, head->y, reach_of(head));
    const measure of = measure_of(head, 0);
    float far = 0;
    for (int y = in.y0; y < in.y1; y++) {
        for (int x = in.x0; x < in.x1; x++) {
            point at = to_head(canvas, x, y);
            if (!outside(&of, at, &far)) continue;
            float share = cover(far, head->soft);
            if (hairline != NULL) share *= cover(at.v - line_at(hairline, at.u), hairline->soft);
            if (share <= 0) continue;
            float across = (at.u - head->x) * (1 + 0.004f * (at.v - head->y));
            float fine = wave(canvas->grain, across * 0.9f + at.v * 0.11f);
            float broad = wave(canvas->grain + 1, across * 0.17f + 40);
            float shine = 1 + strands * (0.7f * fine + 0.8f * broad - 0.75f);
            blend(&canvas->pixels[y][x], leat_color_scale(color, shine), share);
        }
    }
}

void leat_canvas_head(leat_canvas *canvas, const leat_ellipse *head, float chin, leat_color color,
                      const float light[3]) {
    box in = around(canvas, head->x, head->y, reach_of(head));
    for (int y = in.y0; y < in.y1; y++) {
        for (int x = in.x0; x < in.x1; x++) {
            point at = to_head(canvas, x, y);
            float b = (at.v - head->y) / head->ry, narrow = b > 0 ? 1 - chin * b * b : 1;
            if (narrow < 0.3f) narrow = 0.3f;
            float a = (at.u - head->x) / (head->rx * narrow), far = a * a + b * b;
            float share = cover((sqrtf(far) - 1) * head->rx, head->soft);
            if (share <= 0) continue;
            float front = far < 1 ? sqrtf(1 - far) : 0;
            float lit = a * light[0] + b * light[1] + front * light[2];
            float shade = 0.55f + 0.5f * (lit > 0 ? lit : 0);
            blend(&canvas->pixels[y][x], leat_color_scale(color, shade), share);
        }
    }
}

/* ---- the end -------------------------------------------------------------------------------- */

static uint8_t level(float value, float noise) {
    return (uint8_t)clamp(value + noise + 0.5f, 0, 255);
}

void leat_canvas_finish(const leat_canvas *canvas, float noise, uint8_t *rgb) {
    const leat_color *pixels = &canvas->pixels[0][0];
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        uint64_t bits = leat_random_at(canvas->grain + 2, (uint64_t)i);
        float grain = noise * ((float)(bits & 255) + (float)(bits >> 8 & 255) - 255) / 255;
        rgb[3 * i] = level(pixels[i].r, grain);
        rgb[3 * i + 1] = level(pixels[i].g, grain);
        rgb[3 * i + 2] = level(pixels[i].b, grain);
    }
}
