/* See graph_weights.h. */
#include "train/tasks/graphs/graph_weights.h"

#include "train/step/weights.h"

static const char table[] = "input_encoder.id_encoder.embedding.weight";

/* What a tensor has to be; -1 fits any extent. */
typedef struct wanted {
    const char *name;
    int rank;
    int64_t shape[3];
} wanted;

const char leat_graph_weights_unsaid[] =
    "weights do not say which identifier has which number, nor how features were scaled: if the "
    "cache has other numbers or another scaler than the data that they were trained on, every "
    "score is wrong, and nothing can tell (docs/detect.md)";

/* A tensor that any such file has. */
static leat_code find(const leat_graph_weights *of, const leat_safetensors *tensors,
                      const wanted *like, const leat_tensor **out, leat_error *err) {
    leat_error why = {0};
    const leat_code code =
        leat_weights_find(tensors, like->name, like->rank, like->shape, out, &why);
    if (code == LEAT_OK) return LEAT_OK;
    return leat_fail(err, code == LEAT_ERR_NOT_FOUND ? LEAT_ERR_INPUT : code,
                     "weights of a %s: %.400s", of->model, why.message);
}

static bool has(const leat_safetensors *tensors, const char *name) {
    const leat_tensor *found = NULL;
    return leat_weights_find(tensors, name, 0, NULL, &found, NULL) != LEAT_ERR_NOT_FOUND;
}

static leat_code read_size(const leat_graph_weights *of, const leat_safetensors *tensors,
                           const char *path, int *size, leat_error *err) {
    const wanted any = {of->attention, 3, {1, -1, -1}};
    const leat_tensor *found = NULL;
    LEAT_TRY(find(of, tensors, &any, &found, err));
    const int64_t heads = found->shape[1], width = found->shape[2];
    for (*size = 0; *size < 2; (*size)++)
        if (heads == of->heads[*size] && width == of->width[*size]) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_INPUT,
                     "\"%.200s\": %s of a %s is 1 x %lld x %lld; leat has networks with 1 x %lld x "
                     "%lld (small) and 1 x %lld x %lld (large)",
                     path, of->attention, of->model, (long long)heads, (long long)width,
                     (long long)of->heads[0], (long long)of->width[0], (long long)of->heads[1],
                     (long long)of->width[1]);
}

leat_code leat_graph_weights_guess(const leat_graph_weights *of, const leat_safetensors *tensors,
                                   const char *path, int *size, int64_t *vocabulary,
                                   leat_error *err) {
    const wanted like = {table, 2, {-1, of->embedding}};
    const leat_tensor *found = NULL;
    if (!has(tensors, of->attention) && !has(tensors, of->another))
        return leat_fail(err, LEAT_ERR_NOT_FOUND, "\"%.300s\" has no weights of a %s", path,
                         of->model);
    LEAT_TRY(read_size(of, tensors, path, size, err));
    LEAT_TRY(find(of, tensors, &like, &found, err));
    *vocabulary = found->shape[0] - of->rows;
    if (*vocabulary >= 1 && *vocabulary <= of->vocabulary_max) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_INPUT,
                     "\"%.200s\": %s has %lld rows; leat supports %lld to %lld", path, table,
                     (long long)found->shape[0], (long long)(1 + of->rows),
                     (long long)(of->vocabulary_max + of->rows));
}

void leat_graph_weights_settle(leat_graph_bounds *bounds) {
    enum { GRAPHS = 8, FRAMES = 100 };
    bounds->max_nodes = bounds->max_edges = (int64_t)GRAPHS * FRAMES;
}

leat_code leat_graph_weights_check(const leat_graph_bounds *bounds, const leat_feed *feed,
                                   leat_error *err) {
    const int64_t vocabulary = leat_graph_feed_vocabulary(feed);
    if (bounds->vocabulary == vocabulary) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION,
                     "the weights are for %lld identifiers, the unknown one included, and the "
                     "cache has %lld; use a cache of the logs that they were trained on "
                     "(docs/detect.md)",
                     (long long)bounds->vocabulary, (long long)vocabulary);
}
