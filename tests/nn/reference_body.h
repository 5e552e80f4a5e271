/*
 * The ops as plain loops over [image][channel][y][x], in the order that the room specifies: one
 * chain of multiply-adds for each value. Included twice by reference.h: REAL is float, which is the
 * specification, or double, for finite differences.
 */

/* narrow[n][o][y][x] += wide * weights[o][c][ky][kx], taps first, then channels. */
static void NAME(down)(const leat_conv *g, int images, const REAL *w, const REAL *wide,
                       REAL *narrow) {
    const int k = g->kernel, C = g->wide_channels, H = g->wide_height, W = g->wide_width;
    const int O = g->narrow_channels, h = g->narrow_height, v = g->narrow_width;
    for (int n = 0; n < images; n++)
        for (int o = 0; o < O; o++)
            for (int y = 0; y < h; y++)
                for (int x = 0; x < v; x++) {
                    REAL sum = 0;
                    for (int tap = 0; tap < k * k; tap++) {
                        int iy = y * g->stride - g->padding + tap / k;
                        int ix = x * g->stride - g->padding + tap % k;
                        if (iy < 0 || ix < 0 || iy >= H || ix >= W) continue;
                        for (int c = 0; c < C; c++)
                            sum = FMA(w[(o * C + c) * k * k + tap],
                                      wide[((n * C + c) * H + iy) * W + ix], sum);
                    }
                    narrow[((n * O + o) * h + y) * v + x] = sum;
                }
}

static void NAME(up)(const leat_conv *g, int images, const REAL *w, const REAL *narrow,
                     REAL *wide) {
    const int k = g->kernel, C = g->wide_channels, H = g->wide_height, W = g->wide_width;
    const int O = g->narrow_channels, h = g->narrow_height, v = g->narrow_width;
    for (int n = 0; n < images; n++)
        for (int c = 0; c < C; c++)
            for (int y = 0; y < H; y++)
                for (int x = 0; x < W; x++) {
                    REAL sum = 0;
                    for (int tap = 0; tap < k * k; tap++) {
                        int iy = y + g->padding - tap / k, ix = x + g->padding - tap % k;
                        if (iy < 0 || ix < 0 || iy % g->stride != 0 || ix % g->stride != 0)
                            continue;
                        iy /= g->stride;
                        ix /= g->stride;
                        if (iy >= h || ix >= v) continue;
                        for (int o = 0; o < O; o++)
                            sum = FMA(w[(o * C + c) * k * k + tap],
                                      narrow[((n * O + o) * h + iy) * v + ix], sum);
                    }
                    wide[((n * C + c) * H + y) * W + x] = sum;
                }
}

/* gradient[o][c][tap], over narrow pixels, then images; continues from what is there. */
static void NAME(weights)(const leat_conv *g, int images, const REAL *wide, const REAL *narrow,
                          REAL *gradient) {
    const int k = g->kernel, C = g->wide_channels, H = g->wide_height, W = g->wide_width;
    const int O = g->narrow_channels, h = g->narrow_height, v = g->narrow_width;
    for (int i = 0; i < O * C * k * k; i++) {
        const int tap = i % (k * k), c = i / (k * k) % C, o = i / (k * k) / C;
        REAL sum = gradient[i];
        for (int y = 0; y < h; y++)
            for (int x = 0; x < v; x++) {
                int iy = y * g->stride - g->padding + tap / k;
                int ix = x * g->stride - g->padding + tap % k;
                if (iy < 0 || ix < 0 || iy >= H || ix >= W) continue;
                for (int n = 0; n < images; n++)
                    sum = FMA(narrow[((n * O + o) * h + y) * v + x],
                              wide[((n * C + c) * H + iy) * W + ix], sum);
            }
        gradient[i] = sum;
    }
}

/* The sum of value(i) over pixels and images of a channel, in pieces of 64 pixels and 16 lanes. */
static REAL NAME(lane_sum)(int images, int channels, int pixels, int channel, const REAL *a,
                           const REAL *b) {
    REAL all[16] = {0};
    for (int first = 0; first < pixels; first += 64) {
        REAL piece[16] = {0};
        for (int p = first; p < pixels && p < first + 64; p++)
            for (int n = 0; n < images; n++) {
                const int i = (n * channels + channel) * pixels + p;
                piece[n % 16] = b == NULL ? piece[n % 16] + a[i] : FMA(a[i], b[i], piece[n % 16]);
            }
        for (int lane = 0; lane < 16; lane++) all[lane] += piece[lane];
    }
    for (int half = 8; half > 0; half /= 2)
        for (int lane = 0; lane < half; lane++) all[lane] += all[lane + half];
    return all[0];
}

/* Batch normalisation in training, then the activation; `off` gets x - mean. */
static void NAME(norm)(int images, int channels, int pixels, REAL eps, REAL slope, const REAL *w,
                       const REAL *shift, const REAL *x, REAL *mean, REAL *variance, REAL *off,
                       REAL *y) {
    const REAL count = (REAL)images * (REAL)pixels;
    for (int c = 0; c < channels; c++) {
        mean[c] = NAME(lane_sum)(images, channels, pixels, c, x, NULL) / count;
        for (int i = 0; i < images * channels * pixels; i++)
            if (i / pixels % channels == c) off[i] = x[i] - mean[c];
        variance[c] = NAME(lane_sum)(images, channels, pixels, c, off, off) / count;
        const REAL scale = w[c] / ROOT(variance[c] + eps);
        for (int i = 0; i < images * channels * pixels; i++) {
            if (i / pixels % channels != c) continue;
            const REAL out = FMA(off[i], scale, shift[c]);
            y[i] = out > 0 || slope == 1 ? out : slope == 0 && out == out ? 0 : out * slope;
        }
    }
}

static void NAME(norm_back)(int images, int channels, int pixels, REAL eps, REAL slope,
                            const REAL *w, const REAL *shift, const REAL *off, const REAL *variance,
                            const REAL *up, REAL *g, REAL *down, REAL *dw, REAL *dshift) {
    const REAL count = (REAL)images * (REAL)pixels;
    for (int c = 0; c < channels; c++) {
        const REAL spread = variance[c] + eps, scale = w[c] / ROOT(spread);
        for (int i = 0; i < images * channels * pixels; i++) {
            if (i / pixels % channels != c) continue;
            const REAL out = FMA(off[i], scale, shift[c]);
            g[i] = out > 0 ? up[i] : slope == 0 ? 0 : up[i] * slope;
        }
        const REAL one = NAME(lane_sum)(images, channels, pixels, c, g, NULL);
        const REAL product = NAME(lane_sum)(images, channels, pixels, c, g, off);
        dw[c] = product / ROOT(spread);
        dshift[c] = one;
        for (int i = 0; i < images * channels * pixels; i++)
            if (i / pixels % channels == c)
                down[i] = scale * FMA(off[i], -(product / count / spread), g[i] - one / count);
    }
}

static REAL NAME(leaky)(REAL x, REAL slope) { return x > 0 ? x : slope * x; }
static REAL NAME(leaky_back)(REAL y, REAL slope, REAL up) { return y > 0 ? up : slope * up; }
static REAL NAME(tanh_back)(REAL y, REAL up) { return up * FMA(-y, y, 1); }

/* Binary cross-entropy of one logit, from softplus and sigmoid of x and -x. */
static REAL NAME(bce)(REAL target, REAL softplus, REAL softplus_minus) {
    return target * softplus_minus + (1 - target) * softplus;
}
static REAL NAME(bce_back)(REAL target, REAL sigmoid, REAL sigmoid_minus) {
    return (1 - target) * sigmoid - target * sigmoid_minus;
}
