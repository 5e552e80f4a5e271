/* The options of `leat ingest images` as a table. */
#include "ingest/options.h"
#include "ingest/images/job.h"

leat_images_ingest_options leat_images_ingest_options_default(void) {
    return (leat_images_ingest_options){
        .size = 64, .memory_bytes = INT64_C(512) << 20, .threads = leat_cpu_count()};
}

typedef leat_images_ingest_options images;

/* Enough for any number of small pictures in a folder, with one thread. */
#define LEAT_IMAGES_MEMORY_MIB_MIN 32

static const leat_setting rows[] = {
    {.name = "size",
     .kind = LEAT_SETTING_INT32,
     .place = offsetof(images, size),
     .min = LEAT_IMAGES_SIZE_MIN,
     .max = LEAT_IMAGES_SIZE_MAX,
     .value = "S",
     .help = "height and width of the images in the data set"},
    {LEAT_INGEST_MEMORY(images, LEAT_IMAGES_MEMORY_MIB_MIN)},
    {LEAT_INGEST_THREADS(images)},
    {LEAT_INGEST_FLAG(images, "strict", strict), .help = "fail on the first file that is rejected"},
    {LEAT_INGEST_FLAG(images, "resume", resume),
     .help = "continue an interrupted ingest after the files that it has read; a complete one is "
             "left as it is"},
    {LEAT_INGEST_REPLACE(images)},
    {.name = NULL},
};

static void set_defaults(void *options) {
    *(images *)options = leat_images_ingest_options_default();
}

const leat_setting_table *leat_images_ingest_options_table(void) {
    static const leat_setting_table table = {"an ingest of images", rows, sizeof(images),
                                             set_defaults};
    return &table;
}

leat_code leat_images_options_check(const leat_images_ingest_options *o, leat_error *err) {
    LEAT_TRY(leat_settings_check(leat_images_ingest_options_table(), o, err));
    return leat_ingest_check_flags(o->resume, o->replace, err);
}
