/* `leat inspect` for an image data set: words that its forms share. */
#include "inspect/images.h"

const char *leat_image_reason_words(int reason) {
    static const char *const words[LEAT_IMAGE_REASONS] = {
        [LEAT_IMAGE_NOT_AN_IMAGE] = "not an image", [LEAT_IMAGE_DAMAGED] = "damaged",
        [LEAT_IMAGE_TRUNCATED] = "truncated",       [LEAT_IMAGE_TOO_LARGE] = "too large",
        [LEAT_IMAGE_TOO_SMALL] = "too small",       [LEAT_IMAGE_UNSUPPORTED] = "unsupported",
        [LEAT_IMAGE_UNREADABLE] = "unreadable",
    };
    return reason >= 0 && reason < LEAT_IMAGE_REASONS ? words[reason] : "";
}
