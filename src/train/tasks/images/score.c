/* See score.h. */
#include "train/tasks/images/score.h"

#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"
#include "leat/batch.h"
#include "train/tasks/images/generate.h"
#include "train/tasks/images/image_spread.h"

enum { N = LEAT_SCORE_N, AT_ONCE = 256, SWEEPS_MAX = 60, VERSION = 2 };
#define FILE_BYTES_MAX (INT64_C(1) << 20)
/* Vectors of the images that are scored, far from those of any grid. */
#define SCORE_FIRST (INT64_C(1) << 41)

/* ---- Sums ----------------------------------------------------------------------------------- */

void leat_score_add(leat_score_sums *sums, const float *features) {
    double *product = sums->product;
    sums->count++;
    for (int i = 0; i < N; i++) {
        sums->sum[i] += features[i];
        for (int j = 0; j <= i; j++) *product++ += (double)features[i] * features[j];
    }
}

void leat_score_merge(leat_score_sums *to, const leat_score_sums *from) {
    to->count += from->count;
    for (int i = 0; i < N; i++) to->sum[i] += from->sum[i];
    for (int i = 0; i < LEAT_SCORE_PRODUCTS; i++) to->product[i] += from->product[i];
}

/* ---- Matrices, N x N, symmetric ------------------------------------------------------------- */

typedef double matrix[N][N];

static void covariance(const leat_score_sums *sums, double mean[N], matrix out) {
    const double *product = sums->product, count = (double)sums->count;
    LEAT_ASSERT(sums->count >= 2); /* one image has no covariance */
    for (int i = 0; i < N; i++) {
        mean[i] = sums->sum[i] / count;
        for (int j = 0; j <= i; j++)
            out[i][j] = out[j][i] = (*product++ - mean[i] * sums->sum[j]) / (count - 1);
    }
}

/* Turns rows and columns p and q of `a` so that a[p][q] becomes 0, and columns of `vectors`. */
static void rotate(matrix a, matrix vectors, int p, int q) {
    const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
    const double size = fabs(theta), root = sqrt(theta * theta + 1);
    const double t = (theta < 0 ? -1 : 1) / (size + root), c = 1 / sqrt(t * t + 1), s = t * c;
    for (int k = 0; k < N; k++) {
        const double x = a[k][p], y = a[k][q];
        a[k][p] = c * x - s * y;
        a[k][q] = s * x + c * y;
    }
    for (int k = 0; k < N; k++) {
        const double x = a[p][k], y = a[q][k];
        a[p][k] = c * x - s * y;
        a[q][k] = s * x + c * y;
    }
    for (int k = 0; k < N; k++) {
        const double x = vectors[k][p], y = vectors[k][q];
        vectors[k][p] = c * x - s * y;
        vectors[k][q] = s * x + c * y;
    }
}

/* Eigenvalues on the diagonal of `a`, eigenvectors in columns: Jacobi's method, cyclic by rows
 * (Golub and Van Loan, Matrix Computations, 8.5). */
static void diagonalise(matrix a, matrix vectors) {
    memset(vectors, 0, sizeof(matrix));
    for (int i = 0; i < N; i++) vectors[i][i] = 1;
    for (int sweep = 0; sweep < SWEEPS_MAX; sweep++) {
        double off = 0, all = 0;
        for (int i = 0; i < N; i++) {
            for (int j = 0; j < N; j++) all += a[i][j] * a[i][j];
            for (int j = 0; j < i; j++) off += a[i][j] * a[i][j];
        }
        if (!(off > 1e-30 * all)) return;
        for (int p = 0; p < N; p++) {
            for (int q = p + 1; q < N; q++)
                if (a[p][q] != 0) rotate(a, vectors, p, q);
        }
    }
}

static double positive_root(double value) { return value > 0 ? sqrt(value) : 0; }

static void multiply(const matrix a, const matrix b, matrix out) {
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < N; k++) sum += a[i][k] * b[k][j];
            out[i][j] = sum;
        }
    }
}

typedef struct distance_work {
    matrix a, b, root, vectors, product, inner;
    double mean_a[N], mean_b[N];
} distance_work;

/* trace((a b)^(1/2)): the sum of the roots of the eigenvalues of a^(1/2) b a^(1/2). */
static double root_trace(distance_work *work) {
    double trace = 0;
    diagonalise(work->a, work->vectors);
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < N; k++)
                sum += work->vectors[i][k] * positive_root(work->a[k][k]) * work->vectors[j][k];
            work->root[i][j] = sum;
        }
    }
    multiply(work->root, work->b, work->product);
    multiply(work->product, work->root, work->inner);
    for (int i = 0; i < N; i++) /* symmetric but for rounding */
        for (int j = 0; j < i; j++)
            work->inner[i][j] = work->inner[j][i] = (work->inner[i][j] + work->inner[j][i]) / 2;
    diagonalise(work->inner, work->vectors);
    for (int i = 0; i < N; i++) trace += positive_root(work->inner[i][i]);
    return trace;
}

static double distance(distance_work *work, const leat_score_sums *a, const leat_score_sums *b) {
    double result = 0;
    covariance(a, work->mean_a, work->a);
    covariance(b, work->mean_b, work->b);
    for (int i = 0; i < N; i++) {
        const double by = work->mean_a[i] - work->mean_b[i];
        result += by * by + work->a[i][i] + work->b[i][i];
    }
    if (!isfinite(result)) return NAN;
    result -= 2 * root_trace(work);
    return result > 0 ? result : 0; /* below 0 by rounding only */
}

leat_code leat_score_distance(const leat_score_sums *a, const leat_score_sums *b, double *out,
                              leat_error *err) {
    distance_work *work = NULL;
    *out = NAN;
    if (a->count < 2 || b->count < 2) return LEAT_OK;
    LEAT_TRY(LEAT_NEW(&work, 1, err));
    *out = distance(work, a, b);
    leat_free(work);
    return LEAT_OK;
}

/* ---- The data ------------------------------------------------------------------------------- */

typedef struct measuring {
    const leat_samples *samples;
    leat_features *features;
    uint8_t *levels;
    float *images, *out;
    leat_image_spread *spread;
    leat_score_reference *reference;
} measuring;

static leat_code measure_some(measuring *self, int64_t first, int64_t count, leat_error *err) {
    const float *table = leat_pixel_table();
    const int64_t bytes = self->samples->sample_bytes;
    for (int64_t i = 0; i < count; i++)
        LEAT_TRY(
            self->samples->read(self->samples->context, first + i, self->levels + i * bytes, err));
    for (int64_t i = 0; i < count * bytes; i++) self->images[i] = table[self->levels[i]];
    LEAT_TRY(leat_features_compute(self->features, count, self->images, self->out, err));
    for (int64_t i = 0; i < count; i++) {
        leat_score_add(&self->reference->half[(first + i) % 2], self->out + i * N);
        leat_image_spread_add(self->spread, self->levels + i * bytes);
    }
    return LEAT_OK;
}

static leat_code measure_all(measuring *self, leat_ticker *ticker, leat_error *err) {
    const int64_t all = self->samples->count;
    LEAT_TRY(LEAT_NEW(&self->levels, AT_ONCE * self->samples->sample_bytes, err));
    LEAT_TRY(LEAT_NEW(&self->images, AT_ONCE * self->samples->sample_bytes, err));
    LEAT_TRY(LEAT_NEW(&self->out, AT_ONCE * N, err));
    LEAT_TRY(LEAT_NEW(&self->spread, 1, err));
    leat_ticker_stage(ticker, "measuring images", "images", all);
    for (int64_t first = 0; first < all; first += AT_ONCE) {
        const int64_t some = all - first < AT_ONCE ? all - first : AT_ONCE;
        LEAT_TRY(measure_some(self, first, some, err));
        LEAT_TRY(leat_ticker_step(ticker, some, err));
    }
    self->reference->spread = leat_image_spread_get(self->spread);
    return LEAT_OK;
}

leat_code leat_score_measure(leat_score_reference *out, const leat_samples *samples, int threads,
                             const char *kernels, leat_ticker *ticker, leat_error *err) {
    measuring self = {.samples = samples, .reference = out};
    memset(out, 0, sizeof *out);
    LEAT_TRY(leat_features_create(&self.features, threads, kernels, err));
    leat_code code = measure_all(&self, ticker, err);
    leat_features_destroy(self.features);
    leat_free(self.levels);
    leat_free(self.images);
    leat_free(self.out);
    leat_free(self.spread);
    return code;
}

/* ---- Kept ----------------------------------------------------------------------------------- */

/* Of all numbers of a version, so that a file that was changed is not believed. */
static void hash_numbers(const leat_score_reference *reference, int64_t version, char hex[65]) {
    uint8_t digest[32];
    leat_sha256 sha;
    leat_sha256_init(&sha);
    for (int i = 0; i < 2; i++) {
        const leat_score_sums *half = &reference->half[i];
        leat_sha256_update(&sha, &half->count, sizeof half->count);
        leat_sha256_update(&sha, half->sum, sizeof half->sum);
        leat_sha256_update(&sha, half->product, sizeof half->product);
    }
    if (version > 1 && !isnan(reference->spread))
        leat_sha256_update(&sha, &reference->spread, sizeof reference->spread);
    leat_sha256_final(&sha, digest);
    leat_sha256_hex(digest, hex);
}

leat_code leat_score_save(const leat_score_reference *reference, const char *fingerprint,
                          const char *path, leat_error *err) {
    leat_json *json = NULL;
    char hash[65];
    hash_numbers(reference, VERSION, hash);
    LEAT_TRY(leat_json_create(&json, true, err));
    leat_json_begin_object(json);
    leat_json_member_string(json, "format", "leat.reference");
    leat_json_member_int(json, "version", VERSION);
    leat_json_member_string(json, "data", fingerprint);
    leat_json_member_string(json, "sha256", hash);
    leat_json_member_known(json, "spread", reference->spread);
    leat_json_key(json, "halves");
    leat_json_begin_array(json);
    for (int i = 0; i < 2; i++) {
        leat_json_begin_object(json);
        leat_json_member_int(json, "count", reference->half[i].count);
        leat_json_member_doubles(json, "sum", reference->half[i].sum, N);
        leat_json_member_doubles(json, "product", reference->half[i].product, LEAT_SCORE_PRODUCTS);
        leat_json_end_object(json);
    }
    leat_json_end_array(json);
    leat_json_end_object(json);
    return leat_json_save(json, path, err);
}

static bool get_numbers(const json_t *object, const char *key, double *values, int count) {
    const json_t *list = json_object_get(object, key);
    bool good = json_array_size(list) == (size_t)count;
    for (int i = 0; good && i < count; i++) {
        const json_t *item = json_array_get(list, (size_t)i);
        good = json_is_number(item);
        values[i] = json_number_value(item);
    }
    return good;
}

static bool parse(leat_score_reference *reference, const char *fingerprint, const json_t *root) {
    const char *data = json_string_value(json_object_get(root, "data"));
    const json_t *halves = json_object_get(root, "halves");
    const json_int_t version = json_integer_value(json_object_get(root, "version"));
    const char *hash = json_string_value(json_object_get(root, "sha256"));
    char same[65];
    bool good = data != NULL && strcmp(data, fingerprint) == 0 && version >= 1 &&
                version <= VERSION && hash != NULL;
    for (int i = 0; good && i < 2; i++) {
        const json_t *half = json_array_get(halves, (size_t)i);
        reference->half[i].count = json_integer_value(json_object_get(half, "count"));
        good = reference->half[i].count >= 0 &&
               get_numbers(half, "sum", reference->half[i].sum, N) &&
               get_numbers(half, "product", reference->half[i].product, LEAT_SCORE_PRODUCTS);
    }
    const json_t *spread = json_object_get(root, "spread");
    reference->spread = version > 1 && json_is_number(spread) ? json_number_value(spread) : NAN;
    hash_numbers(reference, version, same);
    return good && strcmp(hash, same) == 0;
}

leat_code leat_score_load(leat_score_reference *reference, const char *fingerprint,
                          const char *path, leat_error *err) {
    uint8_t *text = NULL;
    int64_t size_bytes = 0;
    json_t *root = NULL;
    memset(reference, 0, sizeof *reference);
    LEAT_TRY(leat_file_load(path, FILE_BYTES_MAX, &text, &size_bytes, err));
    leat_error why = {0};
    leat_code code = leat_json_parse((const char *)text, size_bytes, path, &root, &why);
    bool good = code == LEAT_OK && parse(reference, fingerprint, root);
    json_decref(root);
    leat_free(text);
    if (good) return LEAT_OK;
    if (code == LEAT_ERR_MEMORY) return leat_error_copy(err, &why);
    memset(reference, 0, sizeof *reference);
    return leat_fail(err, LEAT_ERR_NOT_FOUND,
                     "\"%.300s\" was computed for a different data set, or is damaged", path);
}

/* ---- A generator ---------------------------------------------------------------------------- */

typedef struct scoring {
    leat_features *features;
    leat_score_sums sums;
    float out[AT_ONCE * N];
} scoring;

static leat_code score_some(void *context, const float *images, int64_t count, leat_error *err) {
    scoring *self = context;
    for (int64_t first = 0; first < count; first += AT_ONCE) {
        const int64_t some = count - first < AT_ONCE ? count - first : AT_ONCE;
        LEAT_TRY(leat_features_compute(self->features, some, images + first * LEAT_IMAGE_VALUES,
                                       self->out, err));
        for (int64_t i = 0; i < some; i++) leat_score_add(&self->sums, self->out + i * N);
    }
    return LEAT_OK;
}

leat_code leat_score_generator(const leat_generate_from *of, leat_features *features,
                               const leat_score_reference *reference, double *score,
                               leat_error *err) {
    leat_score_sums all = reference->half[0];
    scoring *self = NULL;
    *score = NAN;
    LEAT_TRY(LEAT_NEW(&self, 1, err));
    self->features = features;
    const leat_generate_from from = {.model = of->model,
                                     .parameters = of->parameters,
                                     .statistics = of->statistics,
                                     .first = SCORE_FIRST,
                                     .count = LEAT_SAMPLE_VECTORS};
    leat_code code = leat_generate(&from, score_some, self, err);
    leat_score_merge(&all, &reference->half[1]);
    if (code == LEAT_OK) code = leat_score_distance(&self->sums, &all, score, err);
    leat_free(self);
    return code;
}
