/*
 * The options of an image loader: which values are accepted, which options affect the bytes of
 * batches, what they cost in memory. Threads, hosts, prefetch and memory do not affect bytes, nor
 * does the number of epochs, which only decides where steps end.
 */
#include <string.h>

#include "batch/order_setting.h"
#include "load/images/loader.h"
#include "load/option_rows.h"

leat_image_loader_options leat_image_loader_options_default(void) {
    return (leat_image_loader_options){
        .batch = 64,
        .host_count = 1,
        .threads = leat_cpu_count(),
        .prefetch = LEAT_PREFETCH_AUTO,
        .memory_bytes = INT64_C(512) << 20,
    };
}

/* ---- by name -------------------------------------------------------------------------------- */

#define AT(field) .place = offsetof(leat_image_loader_options, field)

static const leat_setting rows[] = {
    {.name = "batch",
     .kind = LEAT_SETTING_INT,
     AT(batch),
     .min = 1,
     .max = LEAT_BATCH_MAX,
     .help = "images per global batch, over all hosts"},
    {.name = "as",
     .kind = LEAT_SETTING_CHOICE,
     AT(as),
     .choices = "u8|float",
     .help = "levels, [rows, S, S, 3], or values from -1 to 1, [rows, 3, S, S]"},
    {.name = "seed", .kind = LEAT_SETTING_SEED, AT(seed), .help = "random seed"},
    {.name = "epochs",
     .kind = LEAT_SETTING_INT,
     AT(epochs),
     .max = LEAT_STEPS_MAX,
     .neutral = true,
     .help = "end after N epochs; 0: never"},
    {LEAT_ORDER_SETTING(leat_image_loader_options),
     .help =
         "global: images of a batch are from anywhere; windowed, for data sets larger than memory: "
         "from one window of about SIZE (128M), so that the file is read once an epoch, in large "
         "pieces"},
    {LEAT_LOADER_HOST(leat_image_loader_options, LEAT_BATCH_MAX)},
    {LEAT_LOADER_HOSTS(leat_image_loader_options, LEAT_BATCH_MAX)},
    {LEAT_LOADER_THREADS(leat_image_loader_options)},
    {LEAT_LOADER_MEMORY(leat_image_loader_options)},
    {LEAT_LOADER_PREFETCH(leat_image_loader_options)},
    {.name = NULL},
};

static void set_defaults(void *options) {
    *(leat_image_loader_options *)options = leat_image_loader_options_default();
}

const leat_setting_table *leat_image_loader_options_table(void) {
    static const leat_setting_table table = {"a loader of images", rows,
                                             sizeof(leat_image_loader_options), set_defaults};
    return &table;
}

leat_code leat_image_loader_options_check(const leat_image_loader_options *options,
                                          leat_error *err) {
    LEAT_TRY(leat_settings_check(leat_image_loader_options_table(), options, err));
    LEAT_TRY(leat_loader_check_seed(options->seed, err));
    return leat_loader_check_hosts(options->batch, options->host_count, options->host_index, err);
}

/* ---- what decides bytes --------------------------------------------------------------------- */

leat_code leat_image_loader_describe(leat_image_loader *loader, leat_error *err) {
    leat_json *json = NULL;
    LEAT_TRY(leat_json_create(&json, true, err));
    leat_json_begin_object(json);
    for (const leat_setting *row = rows; row->name != NULL; row++) {
        char text[LEAT_SETTING_BYTES];
        if (row->neutral || strcmp(row->name, "seed") == 0) continue; /* in the state itself */
        if (strcmp(row->name, "order") == 0 && loader->options.window_bytes == 0)
            continue; /* as in older states */
        leat_json_member_string(json, row->name, leat_setting_get(row, &loader->options, text));
    }
    leat_json_end_object(json);
    leat_code code = leat_state_words(json, &loader->words, loader->hash, err);
    leat_json_destroy(json);
    return code;
}

/* ---- what it costs -------------------------------------------------------------------------- */

/* Of a thread besides its maker: the part of its stack that is used. */
enum { THREAD_BYTES = 128 << 10 };

leat_code leat_image_loader_budget(leat_image_loader *loader, leat_error *err) {
    const leat_image_loader_options *options = &loader->options;
    int64_t fixed = options->threads * (THREAD_BYTES + leat_image_maker_bytes(loader));
    if (options->window_bytes > 0) fixed += leat_fetcher_bytes();
    int64_t slot = 0, need = 0;
    int32_t size = loader->images->set.size;
    if (!leat_image_slot_bytes(loader, &slot) ||
        !leat_ring_budget(fixed, slot, options->prefetch, options->memory_bytes, &loader->prefetch,
                          &need))
        return leat_fail(err, LEAT_ERR_OPTION,
                         "loader: a batch of %lld images of %d x %d is too large",
                         (long long)loader->row_count, size, size);
    loader->memory_bytes = need;
    if (need <= options->memory_bytes) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION,
                     "loader: memory_bytes is %lld, but %lld are required: %lld for each batch of "
                     "%lld images of %d x %d, %lld for threads; allow more memory, or lower batch, "
                     "prefetch or threads",
                     (long long)options->memory_bytes, (long long)need, (long long)slot,
                     (long long)loader->row_count, size, size, (long long)fixed);
}
