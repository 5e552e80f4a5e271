/* leat batches of an image data set: what its files share. */
#ifndef LEAT_CLI_BATCHES_IMAGES_H
#define LEAT_CLI_BATCHES_IMAGES_H

#include "batches/batches.h"
#include "leat/load_images.h"

typedef struct images_job {
    batches_run run; /* first, so that a pointer to one is a pointer to the other */
    leat_images *images;
    leat_images_facts facts;
    leat_image_loader_options options;
    leat_image_loader *loader;
} images_job;

/* Row `row` of the global batch of a step; LEAT_CLI_NONE: all of them. */
typedef struct images_explained {
    const images_job *job;
    int64_t step, first_row, end_row;
} images_explained;

/* ---- images_order.c ---- */
/* The image at a position of the run. */
int64_t images_at(const images_job *job, int64_t position);

/* ---- images_words.c ---- */
void images_write_summary(images_job *job);
void images_write_explanation(const images_explained *explained);

/* ---- images_json.c ---- */
int images_json_summary(images_job *job);
int images_json_explanation(const images_explained *explained);

#endif
