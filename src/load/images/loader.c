/* The image loader's interface: create, next batch, seek. */
#include "load/images/loader.h"

#include "load/counts.h"
#include "load/option_rows.h"

void leat_image_loader_get_counters(const leat_image_loader *loader,
                                    leat_image_loader_counters *out) {
    int64_t counts[LEAT_IMAGE_COUNTS];
    leat_counts_read(loader->counts, LEAT_IMAGE_COUNTS, counts);
    *out = (leat_image_loader_counters){
        .batches = counts[LEAT_IMAGE_COUNT_BATCHES],
        .images = counts[LEAT_IMAGE_COUNT_IMAGES],
        .payload_bytes = leat_paged_checked_bytes(&loader->images->paged) - loader->payload_before,
        .stall_ns = leat_ring_stall_ns(loader->steps.ring),
        .work_ns = leat_ring_work_ns(loader->steps.ring),
        .read_wait_ns = leat_fetcher_wait_ns(loader->fetcher),
        .memory_bytes = loader->memory_bytes,
        .prefetch = loader->prefetch,
    };
}

/* ---- create and destroy --------------------------------------------------------------------- */

/* Steps up to the one that completes the epochs; more than there may be count as no end. */
static int64_t count_steps(int64_t images, int64_t batch, int64_t epochs) {
    __extension__ unsigned __int128 positions = (unsigned __int128)images * (uint64_t)epochs;
    positions = (positions + (uint64_t)batch - 1) / (uint64_t)batch;
    return positions < LEAT_STEPS_MAX ? (int64_t)positions : LEAT_STEPS_MAX;
}

/* ---- the windowed order --------------------------------------------------------------------- */

static int64_t chunks_of_window(const void *data, int64_t window) {
    leat_image_windows windows = leat_image_windows_of(&((const leat_image_loader *)data)->order);
    return leat_image_windows_begin(&windows, window + 1) -
           leat_image_windows_begin(&windows, window);
}

static void fetch_chunk(const void *data, int64_t epoch, int64_t window, int64_t chunk) {
    const leat_image_loader *loader = data;
    leat_image_windows windows = leat_image_windows_of(&loader->order);
    int32_t size = loader->images->set.size;
    int64_t first = 0, end = 0;
    leat_image_windows_chunk(&loader->order, epoch,
                             leat_image_windows_begin(&windows, window) + chunk, &first, &end);
    leat_map_fetch(loader->images->paged.map, leat_image_place(size, first),
                   leat_image_place(size, end));
}

static void on_seek(void *context, int64_t step) {
    const leat_image_loader *loader = context;
    int64_t first = step * loader->options.batch + loader->first_row;
    leat_fetcher_seek(loader->fetcher, first / loader->order.count,
                      leat_image_windows_at(&loader->order, first));
}

static leat_code read_windows_ahead(leat_image_loader *loader, leat_error *err) {
    leat_fetcher_work work = {.data = loader,
                              .windows = leat_image_windows_of(&loader->order).count,
                              .epochs = loader->options.epochs,
                              .chunks = chunks_of_window,
                              .fetch = fetch_chunk};
    LEAT_TRY(leat_fetcher_create(&loader->fetcher, &work, err));
    loader->steps.on_seek = on_seek;
    loader->steps.on_seek_context = loader;
    on_seek(loader, 0); /* the rows of this host may begin in a later window */
    return LEAT_OK;
}

static const char *const unlisted[] = {"order", NULL};

static leat_code fill(leat_image_loader *loader, const leat_images *images,
                      const leat_image_loader_options *options, leat_error *err) {
    LEAT_TRY(leat_image_loader_options_check(options, err));
    loader->images = images;
    loader->options = *options;
    loader->row_count = options->batch / options->host_count;
    loader->first_row = options->host_index * loader->row_count;
    loader->parts = leat_image_parts(options->threads, loader->row_count);
    loader->step_count =
        options->epochs == 0 ? -1 : count_steps(images->set.count, options->batch, options->epochs);
    LEAT_TRY(leat_image_loader_describe(loader, err));
    LEAT_TRY(leat_image_loader_budget(loader, err));
    loader->order = (leat_image_order){.seed = options->seed,
                                       .count = images->set.count,
                                       .image_bytes = leat_image_bytes(images->set.size),
                                       .window_bytes = options->window_bytes};
    if (options->window_bytes == 0) leat_loader_expect_all(images->paged.map);
    else LEAT_TRY(read_windows_ahead(loader, err));
    loader->payload_before = leat_paged_checked_bytes(&images->paged);
    loader->steps.end = loader->step_count < 0 ? LEAT_STEPS_MAX : loader->step_count;
    loader->steps.form = leat_stepped_form(images->set.fingerprint, loader->words, loader->hash,
                                           unlisted, options->seed);
    leat_ring_work work = leat_image_work(loader);
    return leat_ring_create(&loader->steps.ring, &work, loader->prefetch, loader->steps.end,
                            options->threads, err);
}

leat_code leat_image_loader_create(leat_image_loader **out, const leat_images *images,
                                   const leat_image_loader_options *options, leat_error *err) {
    leat_image_loader *loader = NULL;
    leat_image_loader_options defaults = leat_image_loader_options_default();
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&loader, 1, err));
    leat_code code = fill(loader, images, options == NULL ? &defaults : options, err);
    if (code != LEAT_OK) {
        leat_image_loader_destroy(loader);
        return code;
    }
    *out = loader;
    return LEAT_OK;
}

void leat_image_loader_destroy(leat_image_loader *loader) {
    if (loader == NULL) return;
    if (loader->steps.ring != NULL && leat_ring_check_process(loader->steps.ring, NULL) != LEAT_OK)
        return;
    leat_ring_destroy(loader->steps.ring); /* its workers may wait for the fetcher */
    leat_fetcher_destroy(loader->fetcher);
    leat_free(loader->words);
    leat_free(loader);
}

/* ---- batches -------------------------------------------------------------------------------- */

bool leat_image_loader_wait(leat_image_loader *loader, int64_t timeout_ms) {
    return leat_stepped_wait(&loader->steps, timeout_ms);
}

leat_code leat_image_loader_next(leat_image_loader *loader, const leat_image_batch **out,
                                 leat_error *err) {
    leat_slot *slot = NULL;
    *out = NULL;
    LEAT_TRY(leat_stepped_next(&loader->steps, &slot, err));
    if (slot == NULL) return LEAT_OK;
    const leat_image_batch *batch = &((leat_image_slot *)slot)->batch;
    leat_count_more(&loader->counts[LEAT_IMAGE_COUNT_BATCHES], 1);
    leat_count_more(&loader->counts[LEAT_IMAGE_COUNT_IMAGES], batch->row_count);
    *out = batch;
    return LEAT_OK;
}

int64_t leat_image_loader_step(const leat_image_loader *loader) {
    return leat_ring_step(loader->steps.ring);
}

int64_t leat_image_loader_step_count(const leat_image_loader *loader) { return loader->step_count; }

leat_code leat_image_loader_seek(leat_image_loader *loader, int64_t step, leat_error *err) {
    return leat_stepped_seek(&loader->steps, step, err);
}

/* ---- state ---------------------------------------------------------------------------------- */

void leat_image_loader_state(const leat_image_loader *loader, char text[LEAT_LOADER_STATE_BYTES]) {
    leat_stepped_state(&loader->steps, text);
}

leat_code leat_image_loader_save(const leat_image_loader *loader, const char *path, bool replace,
                                 leat_error *err) {
    return leat_stepped_save(&loader->steps, path, replace, err);
}

leat_code leat_image_loader_restore(leat_image_loader *loader, const char *text, leat_error *err) {
    return leat_stepped_restore(&loader->steps, text, err);
}

leat_code leat_image_loader_load(leat_image_loader *loader, const char *path, leat_error *err) {
    return leat_stepped_load(&loader->steps, path, err);
}
