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
