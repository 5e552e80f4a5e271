/*
 * Synthetic portraits: pictures that look like faces, for demos and tests. A picture is a function
 * of the seed and its number. All arithmetic is +, -, *, / and square roots in single precision, in
 * a fixed order, which every machine rounds alike, so the pixels are the same everywhere.
 */
#ifndef LEAT_SYNTH_IMAGES_H
#define LEAT_SYNTH_IMAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The size of CelebA's aligned pictures, and about where its eyes and mouths are. */
enum { LEAT_PORTRAIT_WIDTH = 178, LEAT_PORTRAIT_HEIGHT = 218 };

/* Levels 0..255, not rounded. */
typedef struct leat_color {
    float r, g, b;
} leat_color;

/* A picture being painted. */
typedef struct leat_canvas {
    leat_color pixels[LEAT_PORTRAIT_HEIGHT][LEAT_PORTRAIT_WIDTH];
    /* Where shapes are placed: a frame of the head, turned and scaled. */
    float x, y;                /* of its origin, in pixels */
    float cosine, sine, scale; /* from the frame to pixels */
    float right, down;         /* back: cosine and sine, divided by the scale */
    uint64_t grain;            /* key of the noise */
} leat_canvas;

/* paint.c */

typedef struct leat_ellipse {
    float x, y, rx, ry; /* in the head's frame */
    float soft;         /* width of its edge */
} leat_ellipse;

/* Part of a parabola y + bend ((u - x) / half)^2, thickest in the middle. */
typedef struct leat_stroke {
    float x, y, half, bend, tilt; /* tilt: rise per pixel to the right */
    float thick, soft;
} leat_stroke;

leat_color leat_color_mix(leat_color a, leat_color b, float share_of_b);
leat_color leat_color_scale(leat_color color, float factor);

/* From the top left to the bottom right. */
void leat_canvas_gradient(leat_canvas *canvas, leat_color from, leat_color to, float across);
void leat_canvas_ellipse(leat_canvas *canvas, const leat_ellipse *ellipse, leat_color color,
                         float opacity);
/* Its outline, `width` wide. */
void leat_canvas_ring(leat_canvas *canvas, const leat_ellipse *ellipse, float width,
                      leat_color color, float opacity);
void leat_canvas_stroke(leat_canvas *canvas, const leat_stroke *stroke, leat_color color,
                        float opacity);
/* The inside of an ellipse above a hairline, with strands. */
void leat_canvas_hair(leat_canvas *canvas, const leat_ellipse *head, const leat_stroke *hairline,
                      leat_color color, float strands);
/* A head: an ellipse that narrows to the chin, lit from a direction. */
void leat_canvas_head(leat_canvas *canvas, const leat_ellipse *head, float chin, leat_color color,
                      const float light[3]);
/* Rounds all pixels, with some noise. */
void leat_canvas_finish(const leat_canvas *canvas, float noise, uint8_t *rgb);

/* portrait.c */

/* Picture number `index` of a seed: height * width * 3 bytes. */
void leat_portrait_draw(uint64_t seed, int64_t index, leat_canvas *canvas, uint8_t *rgb);

#endif
