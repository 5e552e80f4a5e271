/*
 * The features of a node that depend on its frames. Bytes are whole numbers, and so are their
 * central moments times n^2, n^3 and n^4: they are computed from sums of powers without rounding,
 * in any order. Only a root and a division are rounded.
 */
#include "graph/workspace.h"

#include <math.h>
#include <string.h>

#include "base/portable_math.h"

enum { BYTES = LEAT_CAN_BYTES };

typedef __int128 wide;

/* ---- entropy ---- */

/*
 * For a payload with a byte below 0 or above 255, which no payload read from a log has. With S the
 * sum of all bytes, P and L those of c and c ln c of the bytes above 0, the formula -sum (c / S) ln
 * (c / S) is (P ln S - L) / S. An S that is not a valid weight is replaced by a tiny one.
 */
static double entropy_of_any(const int16_t *bytes) {
    double sum = 0, positive = 0, logarithms = 0;
    for (int k = 0; k < BYTES; k++) {
        sum += bytes[k];
        if (bytes[k] <= 0) continue;
        positive += bytes[k];
        logarithms += bytes[k] * leat_ln(bytes[k]);
    }
    if (sum <= 0) sum = 1e-12;
    return (positive * leat_ln(sum) - logarithms) / sum;
}

/* Of a usual payload P is S: (S ln S - L) / S, all from the table. */
static double entropy_of(const double *x_ln_x, const int16_t *bytes) {
    int any = 0, sum = 0;
    for (int k = 0; k < BYTES; k++) {
        any |= bytes[k];
        sum += bytes[k];
    }
    if (any < 0 || any > LEAT_BYTE_MAX) return entropy_of_any(bytes);
    if (sum == 0) return 0;
    const int16_t *b = bytes;
    double low = (x_ln_x[b[0]] + x_ln_x[b[1]]) + (x_ln_x[b[2]] + x_ln_x[b[3]]);
    double high = (x_ln_x[b[4]] + x_ln_x[b[5]]) + (x_ln_x[b[6]] + x_ln_x[b[7]]);
    return (x_ln_x[sum] - (low + high)) / sum;
}

/* ---- bytes ---- */

/* The frames of one node. */
typedef struct node_frames {
    const int16_t (*bytes)[BYTES]; /* of the window */
    const int32_t *frame;          /* [count] */
    int32_t count;
} node_frames;

/* n^2 m2, n^3 m3 and n^4 m4 of one byte, m being its central moments. */
typedef struct moments {
    double second, third, fourth;
} moments;

/*
 * From sums of powers of what a byte is above its least value. Doubles hold the sums exactly while
 * count * range^4 is below 2^53, and no moment can be more than (count * range)^4 / 12, which then
 * has to fit into 64 bits; what overflows on the way there cancels.
 */
#define NARROW_RANGE_MAX 1023
#define NARROW_MAX 100000
static moments moments_narrow(int64_t count, double s1, double s2, double s3, double s4) {
    uint64_t n = (uint64_t)count, a = (uint64_t)s1, b = (uint64_t)s2, c = (uint64_t)s3;
    uint64_t aa = a * a, third = n * (n * c - 3 * a * b) + 2 * a * aa;
    uint64_t fourth = n * (n * (n * (uint64_t)s4 - 4 * a * c) + 6 * aa * b) - 3 * aa * aa;
    return (moments){(double)(int64_t)(n * b - aa), (double)(int64_t)third,
                     (double)(int64_t)fourth};
}

/* The same without a limit, for any bytes and as many as a window may hold. */
static moments moments_wide(const node_frames *node, int k, int low) {
    wide n = node->count, a = 0, b = 0, c = 0, d = 0;
    for (int32_t j = 0; j < node->count; j++) {
        wide x = node->bytes[node->frame[j]][k] - low;
        a += x;
        b += x * x;
        c += x * x * x;
        d += x * x * x * x;
    }
    wide aa = a * a, third = n * (n * c - 3 * a * b) + 2 * a * aa;
    wide fourth = n * (n * (n * d - 4 * a * c) + 6 * aa * b) - 3 * aa * aa;
    return (moments){(double)(n * b - aa), (double)third, (double)fourth};
}

static double clip(double value) { return value < -10 ? -10 : value > 10 ? 10 : value; }

/* Fills mean, std and range of each byte, and the features of all bytes together. */
static void bytes_of_one(const int16_t *bytes, float *x) {
    for (int k = 0; k < BYTES; k++) x[LEAT_X_MEAN + k] = bytes[k];
    memset(x + LEAT_X_STD, 0, 2 * BYTES * sizeof(*x));
    x[LEAT_X_SKEWNESS] = x[LEAT_X_KURTOSIS] = x[LEAT_X_CHANGES] = 0;
}

static void bytes_of_many(const node_frames *node, float *x) {
    int16_t low[BYTES], high[BYTES], changes[BYTES] = {0};
    memcpy(low, node->bytes[node->frame[0]], sizeof(low));
    memcpy(high, low, sizeof(high));
    const int16_t *before = node->bytes[node->frame[0]];
    for (int32_t j = 1; j < node->count; j++) {
        const int16_t *now = node->bytes[node->frame[j]];
        for (int k = 0; k < BYTES; k++) {
            low[k] = now[k] < low[k] ? now[k] : low[k];
            high[k] = now[k] > high[k] ? now[k] : high[k];
            changes[k] = (int16_t)(changes[k] + (now[k] != before[k]));
        }
        before = now;
    }
    double s1[BYTES] = {0}, s2[BYTES] = {0}, s3[BYTES] = {0}, s4[BYTES] = {0};
    for (int32_t j = 0; j < node->count; j++) {
        const int16_t *now = node->bytes[node->frame[j]];
        for (int k = 0; k < BYTES; k++) {
            double d = now[k] - low[k], square = d * d;
            s1[k] += d;
            s2[k] += square;
            s3[k] += square * d;
            s4[k] += square * square;
        }
    }
    double n = node->count, root = sqrt(n * (n - 1)), skewness = 0, kurtosis = 0;
    int32_t changed = 0;
    for (int k = 0; k < BYTES; k++) {
        int32_t range = high[k] - low[k];
        x[LEAT_X_MEAN + k] = (float)((n * low[k] + s1[k]) / n);
        x[LEAT_X_RANGE + k] = (float)range;
        x[LEAT_X_STD + k] = 0;
        changed += changes[k];
        if (range == 0) continue;
        moments m = range <= NARROW_RANGE_MAX && node->count * range <= NARROW_MAX
                        ? moments_narrow(node->count, s1[k], s2[k], s3[k], s4[k])
                        : moments_wide(node, k, low[k]);
        double deviation = sqrt(m.second);
        x[LEAT_X_STD + k] = (float)(deviation / root);
        skewness += clip(m.third / (m.second * deviation));
        kurtosis += clip(m.fourth / (m.second * m.second) - 3);
    }
    x[LEAT_X_SKEWNESS] = (float)(skewness / BYTES);
    x[LEAT_X_KURTOSIS] = (float)(kurtosis / BYTES);
    x[LEAT_X_CHANGES] = (float)(changed / ((n - 1) * BYTES));
}

/* ---- times ---- */

/* 0 for what is not a number: times may be as far apart as doubles are. */
static float number(double value) { return value == value ? (float)value : 0; }

static void gaps(const double *time, const int32_t *frame, int32_t count, double *gap, float *x) {
    x[LEAT_X_GAP_MEAN] = x[LEAT_X_GAP_STD] = 0;
    if (count < 2) return;
    double sum = 0, squares = 0;
    for (int32_t j = 1; j < count; j++) {
        gap[j] = time[frame[j]] - time[frame[j - 1]];
        sum += gap[j];
    }
    double mean = sum / (count - 1);
    x[LEAT_X_GAP_MEAN] = number(mean);
    if (count < 3) return;
    for (int32_t j = 1; j < count; j++) squares += (gap[j] - mean) * (gap[j] - mean);
    x[LEAT_X_GAP_STD] = number(sqrt(squares / (count - 2)));
}

/* ---- all of it ---- */

void leat_features_make(leat_graph_workspace *workspace, const leat_can_frames *frames,
                        int32_t node_count) {
    int32_t half = (int32_t)(frames->count / 2);
    for (int64_t i = 0; i < frames->count; i++) {
        workspace->entropy[i] = entropy_of(workspace->x_ln_x, frames->bytes[i]);
    }
    for (int32_t v = 0; v < node_count; v++) {
        float *x = workspace->x + (int64_t)v * LEAT_NODE_FEATURES;
        const int32_t *frame = workspace->frame + workspace->first[v];
        int32_t count = workspace->first[v + 1] - workspace->first[v], early = 0;
        double entropy = 0;
        for (int32_t j = 0; j < count; j++) {
            entropy += workspace->entropy[frame[j]];
            early += frame[j] < half;
        }
        if (count == 1) bytes_of_one(frames->bytes[frame[0]], x);
        else bytes_of_many(&(node_frames){frames->bytes, frame, count}, x);
        gaps(frames->time, frame, count, workspace->gap, x);
        x[LEAT_X_COUNT] = (float)count;
        x[LEAT_X_ENTROPY] = (float)(entropy / count);
        x[LEAT_X_FIRST_HALF] = (float)((double)early / count);
    }
}
