/*
 * Which image a position of a run is: keyed permutations, so that no list of images is kept, and
 * any position is found at once.
 */
#include "batch/images/order.h"

#include "base/error.h"
#include "base/rng.h"
#include "batch/random_streams.h"

/* Chunks are a sixty-fourth of a window: enough places of the file for a window to mix, each large
 * enough to be read in few pieces. */
#define CHUNKS_OF_WINDOW 64
#define CHUNK_BYTES_MAX (INT64_C(2) << 20)
#define COUNT_MAX INT32_MAX /* products of places and windows fit into int64_t */

/* ---- windows -------------------------------------------------------------------------------- */

leat_image_windows leat_image_windows_of(const leat_image_order *order) {
    int64_t chunk_bytes = order->window_bytes / CHUNKS_OF_WINDOW;
    if (chunk_bytes > CHUNK_BYTES_MAX) chunk_bytes = CHUNK_BYTES_MAX;
    LEAT_ASSERT(order->window_bytes > 0 && order->image_bytes > 0);
    LEAT_ASSERT(order->count > 0 && order->count <= COUNT_MAX);
    leat_image_windows windows = {.chunk_images = chunk_bytes / order->image_bytes};
    if (windows.chunk_images < 1) windows.chunk_images = 1;
    windows.chunk_count = (order->count + windows.chunk_images - 1) / windows.chunk_images;
    int64_t bytes = order->count * order->image_bytes;
    windows.count = bytes / order->window_bytes + (bytes % order->window_bytes > 0);
    if (windows.count > windows.chunk_count) windows.count = windows.chunk_count;
    return windows;
}

int64_t leat_image_windows_begin(const leat_image_windows *windows, int64_t window) {
    LEAT_ASSERT(window >= 0 && window <= windows->count);
    return windows->chunk_count * window / windows->count;
}

/* The last window that begins at this place or before. */
static int64_t window_of(const leat_image_windows *windows, int64_t place) {
    return ((place + 1) * windows->count - 1) / windows->chunk_count;
}

/* The order of an epoch's chunks. The last chunk of the file, if it has fewer images than the
 * others, stands at a random place; the others, permuted, have the rest. */
typedef struct epoch_chunks {
    leat_image_windows windows;
    int64_t number;
    uint64_t key;
    int64_t whole; /* chunks with chunk_images images */
    int64_t rest;  /* images of the last chunk, at the place `rest_place`; 0: there is none */
    int64_t rest_place;
} epoch_chunks;

static epoch_chunks chunks_of(const leat_image_order *order, int64_t epoch) {
    epoch_chunks chunks = {.windows = leat_image_windows_of(order), .number = epoch};
    chunks.key = leat_random(order->seed, LEAT_STREAM_IMAGE_CHUNK, (uint64_t)epoch);
    chunks.whole = order->count / chunks.windows.chunk_images;
    chunks.rest = order->count % chunks.windows.chunk_images;
    chunks.rest_place = chunks.windows.chunk_count;
    if (chunks.rest > 0) {
        uint64_t bits = leat_random(order->seed, LEAT_STREAM_IMAGE_REST, (uint64_t)epoch);
        chunks.rest_place = (int64_t)leat_random_below(bits, (uint64_t)chunks.windows.chunk_count);
    }
    return chunks;
}

/* Images of an epoch before a place. */
static int64_t before(const epoch_chunks *chunks, int64_t place) {
    int64_t missing = chunks->windows.chunk_images - chunks->rest;
    return place * chunks->windows.chunk_images - (place > chunks->rest_place ? missing : 0);
}

static int64_t place_of(const epoch_chunks *chunks, int64_t position) {
    int64_t after = position - before(chunks, chunks->rest_place);
    if (after < 0) return position / chunks->windows.chunk_images;
    if (after < chunks->rest) return chunks->rest_place;
    return chunks->rest_place + 1 + (after - chunks->rest) / chunks->windows.chunk_images;
}

/* The first image of the chunk at a place. */
static int64_t first_image(const epoch_chunks *chunks, int64_t place) {
    int64_t chunk = chunks->whole;
    if (place != chunks->rest_place)
        chunk = leat_permute(chunks->key, chunks->whole, place - (place > chunks->rest_place));
    return chunk * chunks->windows.chunk_images;
}

static int64_t image_in(const leat_image_order *order, const epoch_chunks *chunks,
                        int64_t position) {
    const leat_image_windows *windows = &chunks->windows;
    int64_t window = window_of(windows, place_of(chunks, position));
    int64_t begin = before(chunks, leat_image_windows_begin(windows, window));
    int64_t end = before(chunks, leat_image_windows_begin(windows, window + 1));
    uint64_t key = leat_random(order->seed, LEAT_STREAM_IMAGE_WINDOW,
                               (uint64_t)(chunks->number * windows->count + window));
    int64_t drawn = begin + leat_permute(key, end - begin, position - begin);
    int64_t place = place_of(chunks, drawn);
    return first_image(chunks, place) + drawn - before(chunks, place);
}

void leat_image_windows_chunk(const leat_image_order *order, int64_t epoch, int64_t place,
                              int64_t *first, int64_t *end) {
    epoch_chunks chunks = chunks_of(order, epoch);
    LEAT_ASSERT(place >= 0 && place < chunks.windows.chunk_count);
    *first = first_image(&chunks, place);
    *end = *first + (place == chunks.rest_place ? chunks.rest : chunks.windows.chunk_images);
}

int64_t leat_image_windows_at(const leat_image_order *order, int64_t position) {
    epoch_chunks chunks = chunks_of(order, position / order->count);
    return window_of(&chunks.windows, place_of(&chunks, position % order->count));
}

/* ---- positions ------------------------------------------------------------------------------ */

static uint64_t key_of(uint64_t seed, int64_t epoch) {
    return leat_random(seed, LEAT_STREAM_IMAGE_ORDER, (uint64_t)epoch);
}

int64_t leat_image_at(uint64_t seed, int64_t count, int64_t position) {
    leat_image_order order = {.seed = seed, .count = count};
    return leat_image_in_order(&order, position);
}

int64_t leat_image_in_order(const leat_image_order *order, int64_t position) {
    int64_t image = 0;
    leat_images_at(order, position, 1, &image);
    return image;
}

static void in_windows(const leat_image_order *order, int64_t epoch, int64_t place, int64_t n,
                       int64_t *out) {
    epoch_chunks chunks = chunks_of(order, epoch);
    for (int64_t i = 0; i < n; i++) out[i] = image_in(order, &chunks, place + i);
}

static void anywhere(const leat_image_order *order, int64_t epoch, int64_t place, int64_t n,
                     int64_t *out) {
    uint64_t key = key_of(order->seed, epoch);
    for (int64_t i = 0; i < n; i++) out[i] = leat_permute(key, order->count, place + i);
}

void leat_images_at(const leat_image_order *order, int64_t first, int64_t n, int64_t *out) {
    LEAT_ASSERT(order->count > 0 && first >= 0);
    while (n > 0) {
        int64_t place = first % order->count, some = order->count - place;
        if (some > n) some = n;
        (order->window_bytes > 0 ? in_windows : anywhere)(order, first / order->count, place, some,
                                                          out);
        first += some;
        out += some;
        n -= some;
    }
}
