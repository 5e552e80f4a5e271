/* For tests that read or write pictures: a build of leat without one of the libraries for them has
 * nothing to test. `int main(void) { if (image_libraries_missing()) return 77; ...` */
#ifndef LEAT_TESTS_IMAGE_LIBRARIES_H
#define LEAT_TESTS_IMAGE_LIBRARIES_H

#include <stdbool.h>
#include <stdio.h>

static inline bool image_libraries_missing(void) {
    const bool missing = !LEAT_HAVE_JPEG || !LEAT_HAVE_PNG || !LEAT_HAVE_ZIP;
    if (missing) printf("skipped: leat was built without libjpeg-turbo, libpng or libzip\n");
    return missing;
}

#endif
