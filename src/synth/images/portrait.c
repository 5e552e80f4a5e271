/*
 * What a portrait shows: see images.h. Everything about a person is drawn from (seed, number)
 * first; then the picture is painted from back to front. Places are in pixels of the head's frame,
 * whose origin is the middle of the face: x to the right, y down.
 */
#include <math.h>

#include "base/rng.h"
#include "synth/images/images.h"

#define STREAM UINT64_C(0x696d616765) /* of pictures, among all that use a seed */

/* ---- drawing lots --------------------------------------------------------------------------- */

/* Each is drawn in a statement of its own, or in a declaration: the order of arguments, operands
 * and initializers is the compiler's. */

typedef struct lots {
    uint64_t key, next;
} lots;

/* low..high, evenly. */
static float between(lots *from, float low, float high) {
    float unit = (float)(leat_random_at(from->key, from->next++) >> 40) * (1.0f / (1 << 24));
    return low + (high - low) * unit;
}

/* low..high, mostly in the middle. */
static float about(lots *from, float low, float high) {
    float a = between(from, low, high), b = between(from, low, high), c = between(from, low, high);
    return (a + b + c) / 3;
}

static bool chance(lots *from, float share) { return between(from, 0, 1) < share; }

static int one_of(lots *from, int count) {
    return (int)leat_random_below(leat_random_at(from->key, from->next++), (uint64_t)count);
}

/* ---- a person ------------------------------------------------------------------------------- */

typedef struct person {
    leat_color skin, hair, iris, lips, cloth, brow;
    float light[3];
    float yaw; /* -1..1: features move to one side */
    float width, length, chin;
    float eye_y, eye_apart, eye_open, gaze, eye_tilt;
    float brow_y, brow_thick, brow_tilt;
    float nose_long, nose_wide;
    float mouth_y, mouth_wide, smile, lip_thick, open;
    float hairline, part, fringe, volume, hair_long;
    float beard, blush;
    bool bald, glasses, hat;
} person;

static leat_color draw_skin(lots *from) {
    static const leat_color tones[] = {{250, 220, 198}, {236, 196, 166}, {214, 168, 134},
                                       {178, 128, 94},  {132, 90, 64},   {92, 62, 46}};
    int tone = one_of(from, 5);
    leat_color skin = leat_color_mix(tones[tone], tones[tone + 1], between(from, 0, 1));
    skin.r += about(from, -8, 8);
    skin.b += about(from, -8, 8);
    return skin;
}

static leat_color draw_hair(lots *from) {
    static const leat_color tones[] = {{26, 21, 20},  {54, 38, 30},    {92, 62, 42},
                                       {128, 84, 50}, {196, 160, 104}, {224, 198, 150},
                                       {142, 66, 36}, {168, 164, 160}};
    static const int often[] = {0, 0, 0, 1, 1, 1, 2, 2, 3, 4, 4, 5, 6, 7};
    leat_color hair = tones[often[one_of(from, sizeof often / sizeof *often)]];
    return leat_color_scale(hair, between(from, 0.8f, 1.2f));
}

static leat_color draw_iris(lots *from) {
    static const leat_color tones[] = {{62, 40, 26}, {84, 56, 34}, {96, 112, 72}, {88, 124, 152}};
    leat_color tone = tones[one_of(from, 4)];
    return leat_color_scale(tone, between(from, 0.8f, 1.2f));
}

static leat_color draw_any(lots *from, float low, float high) {
    float r = between(from, low, high), g = between(from, low, high), b = between(from, low, high);
    return (leat_color){r, g, b};
}

static void draw_light(lots *from, float light[3]) {
    float x = between(from, -0.8f, 0.8f), y = between(from, -0.7f, 0.1f);
    float length = sqrtf(x * x + y * y + 0.7f);
    light[0] = x / length;
    light[1] = y / length;
    light[2] = sqrtf(0.7f) / length;
}

static void draw_features(lots *from, person *it) {
    it->yaw = about(from, -1, 1);
    it->width = about(from, 36, 47);
    it->length = about(from, 53, 63);
    it->chin = about(from, 0.08f, 0.4f);
    it->eye_y = about(from, -19, -12);
    it->eye_apart = about(from, 17, 22);
    it->eye_open = about(from, 2.6f, 5.6f);
    it->gaze = about(from, -2.4f, 2.4f);
    it->eye_tilt = about(from, -0.12f, 0.12f);
    it->brow_y = it->eye_y - about(from, 8.5f, 13);
    it->brow_thick = about(from, 1.6f, 5);
    it->brow_tilt = about(from, -0.16f, 0.16f);
    it->nose_long = about(from, 18, 28);
    it->nose_wide = about(from, 4, 7.5f);
    it->mouth_y = about(from, 23, 31);
    it->mouth_wide = about(from, 11, 19);
    it->smile = about(from, -5, 2.5f);
    it->lip_thick = about(from, 3, 7.5f);
    it->open = chance(from, 0.35f) ? between(from, 1, 5) : 0;
}

static void draw_person(lots *from, person *it) {
    static const leat_color red = {176, 62, 66};
    it->skin = draw_skin(from);
    it->hair = draw_hair(from);
    it->iris = draw_iris(from);
    it->brow = leat_color_scale(it->hair, 0.75f);
    it->lips = leat_color_mix(leat_color_scale(it->skin, 0.8f), red, between(from, 0.15f, 0.75f));
    it->cloth = draw_any(from, 20, 230);
    draw_light(from, it->light);
    draw_features(from, it);
    it->hairline = about(from, -46, -24);
    it->part = between(from, -24, 24);
    it->fringe = between(from, -10, 26);
    it->volume = about(from, 2, 16);
    bool is_long = chance(from, 0.5f);
    it->hair_long = is_long ? between(from, 40, 130) : 0;
    it->bald = !is_long && chance(from, 0.18f);
    it->beard = !is_long && chance(from, 0.4f) ? between(from, 0.15f, 0.85f) : 0;
    it->blush = between(from, 0, 0.3f);
    it->glasses = chance(from, 0.14f);
    it->hat = chance(from, 0.06f);
}

/* ---- from back to front --------------------------------------------------------------------- */

static void paint_background(leat_canvas *canvas, lots *from) {
    leat_color one = draw_any(from, 10, 240), two = draw_any(from, 10, 240);
    if (chance(from, 0.6f)) two = leat_color_mix(one, two, 0.35f); /* a plain wall */
    leat_canvas_gradient(canvas, one, two, between(from, 0, 1));
    for (int i = one_of(from, 6); i > 0; i--) {
        float x = between(from, -110, 110), y = between(from, -130, 120);
        float rx = between(from, 12, 70), ry = between(from, 12, 90), soft = between(from, 3, 60);
        leat_color color = draw_any(from, 10, 245);
        const leat_ellipse spot = {x, y, rx, ry, soft};
        leat_canvas_ellipse(canvas, &spot, color, between(from, 0.1f, 0.6f));
    }
}

static void paint_body(leat_canvas *canvas, const person *it, lots *from) {
    float wide = about(from, 72, 100), high = about(from, 48, 66), low = about(from, 6, 22);
    const leat_ellipse body = {it->yaw * -4, 138, wide, high, 3};
    const leat_ellipse neck = {it->yaw * -2, 66, it->width * 0.56f, 46, 4};
    const leat_ellipse opening = {it->yaw * -2, 92, it->width * 0.62f, low, 3};
    leat_canvas_ellipse(canvas, &body, it->cloth, 1);
    for (int side = -1; side <= 1; side += 2) { /* folds */
        const leat_stroke fold = {(float)side * 40, 118, 26, -10, (float)side * 0.5f, 3, 6};
        leat_canvas_stroke(canvas, &fold, leat_color_scale(it->cloth, 0.7f), 0.6f);
    }
    leat_canvas_ellipse(canvas, &opening, leat_color_scale(it->skin, 0.84f), 1);
    leat_canvas_ellipse(canvas, &neck, leat_color_scale(it->skin, 0.72f), 1);
}

static void paint_back_hair(leat_canvas *canvas, const person *it) {
    const leat_ellipse cap = {it->yaw * -3, -14, it->width + it->volume,
                              it->length - 2 + it->volume, 5};
    const leat_ellipse fall = {it->yaw * -3, it->hair_long * 0.3f,
                               it->width + it->volume * 0.8f + 4, 30 + it->hair_long * 0.62f, 6};
    leat_color dark = leat_color_scale(it->hair, 0.72f);
    if (it->bald) return;
    if (it->hair_long > 0) leat_canvas_hair(canvas, &fall, NULL, dark, 0.5f);
    leat_canvas_hair(canvas, &cap, NULL, dark, 0.5f);
}

static void paint_head(leat_canvas *canvas, const person *it) {
    const leat_ellipse face = {0, 0, it->width, it->length, 2};
    for (int side = -1; side <= 1; side += 2) {
        float shown = 1 - it->yaw * (float)side; /* the ear on the far side is hidden */
        const leat_ellipse ear = {(float)side * (it->width - 1) - it->yaw * 3, it->eye_y + 12,
                                  3.5f + 2 * shown, 10, 2.5f};
        leat_color dark = leat_color_scale(it->skin, 0.8f);
        if (shown > 0.6f) leat_canvas_ellipse(canvas, &ear, dark, 1);
    }
    leat_canvas_head(canvas, &face, it->chin, it->skin, it->light);
}

static void paint_cheeks(leat_canvas *canvas, const person *it) {
    static const leat_color red = {206, 84, 80};
    const leat_color warm = leat_color_mix(it->skin, red, 0.5f);
    for (int side = -1; side <= 1; side += 2) {
        const leat_ellipse cheek = {(float)side * it->width * 0.55f + it->yaw * 5, 13, 10, 8, 16};
        leat_canvas_ellipse(canvas, &cheek, warm, it->blush);
        const leat_stroke fold = {(float)side * it->mouth_wide * 1.15f + it->yaw * 6,
                                  it->mouth_y - 8,
                                  8,
                                  2,
                                  (float)side * 1.1f,
                                  1.6f,
                                  3.5f};
        leat_canvas_stroke(canvas, &fold, leat_color_scale(it->skin, 0.66f),
                           it->smile < -1 ? 0.4f : 0.15f);
    }
}

static void paint_beard(leat_canvas *canvas, const person *it) {
    const float x = it->yaw * 5, y = it->mouth_y;
    const leat_ellipse jaw = {it->yaw * 2, it->length * 0.56f, it->width * 0.7f, it->length * 0.38f,
                              9};
    const leat_stroke lip = {x, y - 7, it->mouth_wide + 4, 4, 0, 7, 4};
    if (it->beard <= 0) return;
    leat_canvas_ellipse(canvas, &jaw, it->brow, it->beard * 0.8f);
    leat_canvas_stroke(canvas, &lip, it->brow, it->beard);
}

static void paint_eye(leat_canvas *canvas, const person *it, float side) {
    static const leat_color black = {14, 11, 12}, white = {246, 246, 244};
    const float x = side * it->eye_apart + it->yaw * 7, y = it->eye_y;
    const float wide = 8.6f - 1.4f * it->yaw * side, open = it->eye_open;
    const leat_color dark = leat_color_scale(it->skin, 0.5f);
    const leat_ellipse socket = {x, y - 2, wide + 5, 9, 11};
    const leat_ellipse ball = {x, y, wide, open, 1.6f};
    const float radius = open < 4.3f ? open + 0.1f : 4.3f;
    const leat_ellipse iris = {x + it->gaze, y - 0.3f, 4.2f, radius, 1.3f};
    const leat_ellipse pupil = {x + it->gaze, y - 0.3f, 1.9f, radius * 0.5f, 1};
    const leat_ellipse glint = {x + it->gaze + it->light[0] * 2.5f, y - 1.7f, 1, 0.9f, 1};
    const leat_stroke lid = {
        x, y - open - 0.6f, wide + 1.8f, open * 0.9f, it->eye_tilt * side, 2.4f, 1.4f};
    const leat_stroke crease = {
        x, y - open - 3.6f, wide + 2, open * 0.8f, it->eye_tilt * side, 1.2f, 2.2f};
    const leat_stroke under = {x,   y + open + 0.4f, wide, -open * 0.8f, it->eye_tilt * side, 1,
                               1.8f};
    const leat_stroke bag = {x, y + open + 5, wide, -open * 0.5f, 0, 1.2f, 3};
    leat_canvas_ellipse(canvas, &socket, leat_color_scale(it->skin, 0.62f), 0.32f);
    leat_canvas_ellipse(canvas, &ball, leat_color_mix(white, it->skin, 0.18f), 1);
    leat_canvas_ellipse(canvas, &iris, it->iris, 1);
    leat_canvas_ring(canvas, &iris, 0.8f, leat_color_scale(it->iris, 0.5f), 0.7f);
    leat_canvas_ellipse(canvas, &pupil, black, 1);
    leat_canvas_ellipse(canvas, &glint, white, 0.9f);
    leat_canvas_stroke(canvas, &lid, leat_color_mix(black, dark, 0.25f), 1);
    leat_canvas_stroke(canvas, &crease, dark, 0.45f);
    leat_canvas_stroke(canvas, &under, dark, 0.5f);
    leat_canvas_stroke(canvas, &bag, leat_color_scale(it->skin, 0.7f), 0.25f);
}

static void paint_brow(leat_canvas *canvas, const person *it, float side) {
    const leat_stroke brow = {side * (it->eye_apart + 0.5f) + it->yaw * 7,
                              it->brow_y,
                              12.5f,
                              3.4f,
                              it->brow_tilt * side,
                              it->brow_thick,
                              2.2f};
    leat_canvas_stroke(canvas, &brow, leat_color_mix(it->brow, it->skin, 0.12f), 0.92f);
}

static void paint_nose(leat_canvas *canvas, const person *it) {
    const float x = it->yaw * 10, top = it->eye_y + 2, tip = it->eye_y + it->nose_long;
    const float away = it->light[0] > 0 ? -1 : 1;
    const leat_color dark = leat_color_scale(it->skin, 0.6f),
                     deep = leat_color_scale(it->skin, 0.32f);
    const leat_color bright = leat_color_scale(it->skin, 1.12f);
    const leat_ellipse side = {x * 0.7f + away * it->nose_wide, (top + tip) / 2, 3.2f,
                               it->nose_long * 0.48f, 7};
    const leat_ellipse ridge = {x * 0.7f - away * 0.8f, (top + tip) / 2, 2, it->nose_long * 0.45f,
                                5};
    const leat_ellipse ball = {x - away, tip - 2.5f, it->nose_wide * 0.6f, 3.4f, 5};
    const leat_stroke base = {x, tip + 3.4f, it->nose_wide + 3, -3.4f, 0, 1.8f, 2.6f};
    leat_canvas_ellipse(canvas, &side, dark, 0.36f);
    leat_canvas_ellipse(canvas, &ridge, bright, 0.4f);
    leat_canvas_ellipse(canvas, &ball, bright, 0.45f);
    leat_canvas_stroke(canvas, &base, dark, 0.65f);
    for (int k = -1; k <= 1; k += 2) {
        const leat_ellipse nostril = {x + (float)k * it->nose_wide * 0.58f, tip + 1.2f, 1.9f, 1.1f,
                                      1.6f};
        const leat_stroke wing = {
            x + (float)k * (it->nose_wide + 1), tip - 1.5f, 3, 2, (float)k * 1.3f, 1.2f, 2};
        leat_canvas_ellipse(canvas, &nostril, deep, 0.8f);
        leat_canvas_stroke(canvas, &wing, dark, 0.5f);
    }
}

static void paint_mouth(leat_canvas *canvas, const person *it) {
    static const leat_color inside = {66, 22, 24}, teeth = {240, 236, 226};
    const float x = it->yaw * 7, y = it->mouth_y, half = it->mouth_wide, bend = it->smile;
    const float thick = it->lip_thick, gap = it->open;
    const leat_stroke upper = {
        x, y - gap / 2 - thick * 0.24f, half, bend + 0.5f, 0, thick * 0.62f, 1.6f};
    const leat_stroke lower = {
        x, y + gap / 2 + thick * 0.34f, half * 0.9f, bend - 1.6f, 0, thick * 0.85f, 1.8f};
    const leat_stroke line = {x, y, half, bend, 0, 1.5f, 1.6f};
    const leat_stroke hole = {x, y, half * 0.9f, bend, 0, gap + 1, 1.6f};
    const leat_stroke row = {x, y - gap * 0.12f, half * 0.8f, bend * 0.9f, 0, gap * 0.8f, 1.4f};
    const leat_stroke shadow = {x, y + thick + gap / 2 + 4, half * 0.6f, -1.5f, 0, 3, 5};
    leat_canvas_stroke(canvas, &shadow, leat_color_scale(it->skin, 0.66f), 0.5f);
    leat_canvas_stroke(canvas, &upper, leat_color_scale(it->lips, 0.86f), 0.95f);
    leat_canvas_stroke(canvas, &lower, it->lips, 0.95f);
    if (gap > 0) {
        leat_canvas_stroke(canvas, &hole, inside, 1);
        leat_canvas_stroke(canvas, &row, teeth, 0.95f);
    } else {
        leat_canvas_stroke(canvas, &line, leat_color_mix(inside, it->lips, 0.3f), 0.9f);
    }
}

static void paint_front_hair(leat_canvas *canvas, const person *it) {
    const float v = it->volume;
    const leat_ellipse cap = {it->yaw * -2, -8, it->width + 2 + v * 0.7f, it->length - 1 + v * 0.8f,
                              3};
    const leat_stroke line = {
        it->part + it->yaw * 4, it->hairline, it->width * 1.05f, it->fringe, 0, 0, 5};
    if (it->bald) return;
    leat_canvas_hair(canvas, &cap, &line, it->hair, 0.55f);
    for (int side = -1; side <= 1 && it->hair_long > 0; side += 2) {
        const leat_ellipse lock = {(float)side * (it->width + v * 0.35f) - it->yaw * 3,
                                   it->hair_long * 0.32f - 4, 6 + v * 0.5f,
                                   26 + it->hair_long * 0.45f, 6};
        leat_canvas_hair(canvas, &lock, NULL, it->hair, 0.55f);
    }
}

static void paint_glasses(leat_canvas *canvas, const person *it, lots *from) {
    const leat_color frame = draw_any(from, 10, 90);
    const float wide = between(from, 12, 15.5f), high = between(from, 8.5f, 13);
    const leat_stroke bridge = {it->yaw * 7, it->eye_y - 1, 6, 2, 0, 1.8f, 1.2f};
    for (int side = -1; side <= 1; side += 2) {
        const float x = (float)side * it->eye_apart + it->yaw * 7;
        const leat_ellipse lens = {x, it->eye_y + 1, wide, high, 1.2f};
        const leat_ellipse shine = {x + it->light[0] * 5, it->eye_y - 3, 5, 2.5f, 5};
        const leat_color white = {255, 255, 255};
        leat_canvas_ring(canvas, &lens, 1.9f, frame, 0.95f);
        leat_canvas_ellipse(canvas, &shine, white, 0.14f);
    }
    leat_canvas_stroke(canvas, &bridge, frame, 0.95f);
}

static void paint_hat(leat_canvas *canvas, const person *it, lots *from) {
    const leat_color color = draw_any(from, 20, 220);
    const leat_ellipse crown = {it->yaw * -2, -36, it->width + 8, it->length * 0.62f, 3};
    const leat_stroke brim = {0, it->hairline + 16, it->width + 16, 0, 0, 0, 3};
    const leat_stroke edge = {it->yaw * 4, it->hairline + 15, it->width + 14, 3, 0, 8, 3};
    leat_canvas_hair(canvas, &crown, &brim, color, 0.12f);
    leat_canvas_stroke(canvas, &edge, leat_color_scale(color, 0.7f), 1);
}

/* ---- a picture ------------------------------------------------------------------------------ */

/* Where the head is: the eyes near those of aligned pictures, the head tilted a little. */
static void place_head(leat_canvas *canvas, lots *from) {
    const float half = about(from, -0.09f, 0.09f); /* tangent of half the angle */
    canvas->cosine = (1 - half * half) / (1 + half * half);
    canvas->sine = 2 * half / (1 + half * half);
    canvas->scale = about(from, 0.9f, 1.14f);
    canvas->right = canvas->cosine / canvas->scale;
    canvas->down = canvas->sine / canvas->scale;
    canvas->x = 89 + about(from, -6, 6);
    canvas->y = 128 + about(from, -6, 6);
}

void leat_portrait_draw(uint64_t seed, int64_t index, leat_canvas *canvas, uint8_t *rgb) {
    lots from = {.key = leat_random(seed, STREAM, (uint64_t)index)};
    person it;
    canvas->grain = leat_random_at(from.key, from.next++);
    draw_person(&from, &it);
    place_head(canvas, &from);
    paint_background(canvas, &from);
    paint_back_hair(canvas, &it);
    paint_body(canvas, &it, &from);
    paint_head(canvas, &it);
    paint_cheeks(canvas, &it);
    paint_beard(canvas, &it);
    for (int side = -1; side <= 1; side += 2) {
        paint_eye(canvas, &it, (float)side);
        paint_brow(canvas, &it, (float)side);
    }
    paint_nose(canvas, &it);
    paint_mouth(canvas, &it);
    paint_front_hair(canvas, &it);
    if (it.glasses) paint_glasses(canvas, &it, &from);
    if (it.hat) paint_hat(canvas, &it, &from);
    leat_canvas_finish(canvas, between(&from, 0.5f, 5), rgb);
}
