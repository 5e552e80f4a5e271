/* An image data set opened for reading, private part: what its JSON says, and its mapped pixels. */
#ifndef LEAT_LOAD_IMAGES_IMAGES_H
#define LEAT_LOAD_IMAGES_IMAGES_H

#include "format/image_set/image_set.h"
#include "leat/load_images.h"

struct leat_images {
    char path[LEAT_PATH_BYTES];
    leat_image_set set;
    uint64_t *page_hashes;
    leat_paged paged;
};

/* LEAT_ERR_NOT_FOUND unless a path is a folder with an image data set; `torn`: also accepts one
 * without .complete. */
LEAT_MUST_CHECK leat_code leat_images_check_at(const char *path, bool torn, leat_error *err);
/* LEAT_ERR_OPTION unless there is an image of this number. */
LEAT_MUST_CHECK leat_code leat_images_check_index(const leat_images *images, int64_t index,
                                                  leat_error *err);

#endif
