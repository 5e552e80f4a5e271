/* Shared by the files of `leat inspect` for image data sets: one report in three forms. */
#ifndef LEAT_CLI_INSPECT_IMAGES_H
#define LEAT_CLI_INSPECT_IMAGES_H

#include "inspect/inspect.h"
#include "leat/load_images.h"

typedef struct leat_images_report {
    const char *name;                        /* of the data set, as the user gave it */
    const leat_images *images;               /* NULL: it cannot be opened: there is no summary */
    const leat_images_summary *summary;      /* NULL: it failed */
    const leat_images_verify_report *verify; /* NULL: not run */
    /* With --html: pictures for the page. */
    const leat_images_sheet *sheet;
    const leat_png *mean_image; /* NULL: no image was read */
} leat_images_report;

/* `report` is a leat_images_report. */
void leat_images_report_page(leat_page *page, const void *report);
void leat_images_report_json(leat_json *json, const void *report);
void leat_images_report_terminal(leat_cli *cli, const void *report);

/* "not an image", as people read it. */
const char *leat_image_reason_words(int reason);

#endif
