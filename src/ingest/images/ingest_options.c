/* The options of `leat ingest images` as a table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/image/image.h"
#include "ingest/images/job.h"
#include "ingest/option_rows.h"

leat_images_ingest_options leat_images_ingest_options_default(void) {
    return (leat_images_ingest_options){
        .size = 64,
        .memory_bytes = INT64_C(512) << 20,
        .threads = leat_cpu_count(),
        .background = LEAT_IMAGES_DROP_ALPHA,
        .max_rejected = 0.5,
    };
}

typedef leat_images_ingest_options images;
_Static_assert(LEAT_IMAGES_DROP_ALPHA == LEAT_IMAGE_DROP_ALPHA, "one number");

/* Enough for any number of small pictures in a folder, with one thread. */
#define LEAT_IMAGES_MEMORY_MIB_MIN 32

/* ---- the background ------------------------------------------------------------------------- */

static const struct {
    const char *word;
    int32_t value;
} colours[] = {{"drop", LEAT_IMAGES_DROP_ALPHA}, {"white", 0xffffff}, {"black", 0}};

static leat_code parse_background(const char *text, void *member, leat_error *err) {
    int32_t *background = member;
    for (size_t i = 0; i < sizeof colours / sizeof *colours; i++) {
        if (strcmp(text, colours[i].word) != 0) continue;
        *background = colours[i].value;
        return LEAT_OK;
    }
    if (text[0] == '#' && strlen(text) == 7 && strspn(text + 1, "0123456789abcdefABCDEF") == 6) {
        *background = (int32_t)strtol(text + 1, NULL, 16);
        return LEAT_OK;
    }
    return leat_fail(err, LEAT_ERR_OPTION,
                     "\"%.40s\" is not accepted; it takes drop, white, black or #rrggbb", text);
}

static leat_code check_background(const void *member, leat_error *err) {
    const int32_t background = *(const int32_t *)member;
    if (background >= LEAT_IMAGES_DROP_ALPHA && background <= 0xffffff) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION, "%d is not a colour; it must be 0 to 16777215, or -1",
                     background);
}

void leat_images_background_text(int32_t background, char text[8]) {
    text[0] = 0;
    if (background != LEAT_IMAGES_DROP_ALPHA)
        snprintf(text, 8, "#%06x", (unsigned)background & 0xffffff);
}

static void format_background(const void *member, char text[LEAT_SETTING_BYTES]) {
    const int32_t background = *(const int32_t *)member;
    for (size_t i = 0; i < sizeof colours / sizeof *colours; i++)
        if (background == colours[i].value) {
            snprintf(text, LEAT_SETTING_BYTES, "%s", colours[i].word);
            return;
        }
    leat_images_background_text(background, text);
}

static const leat_setting_type background_type = {parse_background, check_background,
                                                  format_background};

/* ---- the table ------------------------------------------------------------------------------ */

static const leat_setting rows[] = {
    {.name = "size",
     .kind = LEAT_SETTING_INT32,
     .place = offsetof(images, size),
     .min = LEAT_IMAGES_SIZE_MIN,
     .max = LEAT_IMAGES_SIZE_MAX,
     .value = "S",
     .help = "height and width of the images in the data set"},
    {.name = "background",
     .kind = LEAT_SETTING_OTHER,
     .place = offsetof(images, background),
     .type = &background_type,
     .value = "drop|white|black|#rrggbb",
     .help = "colour to blend transparent pixels with; drop keeps the colour that is stored"},
    {.name = "include",
     .kind = LEAT_SETTING_TEXT,
     .place = offsetof(images, include),
     .value = "GLOB",
     .usually = "all files",
     .help = "read only files that match the pattern: with a \"/\" their whole name, otherwise the "
             "file's own name or that of a folder"},
    {.name = "exclude",
     .kind = LEAT_SETTING_TEXT,
     .place = offsetof(images, exclude),
     .value = "GLOB",
     .usually = "no file",
     .help = "do not read files that match the pattern"},
    {.name = "max-rejected",
     .kind = LEAT_SETTING_REAL,
     .place = offsetof(images, max_rejected),
     .high = 1,
     .value = "SHARE",
     .help = "fail, without output, if a larger share of the files is rejected"},
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
