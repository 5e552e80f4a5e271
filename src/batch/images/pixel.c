/* The levels of a pixel as values of -1 .. 1, worked out by the compiler in float32. */
#include <float.h>

#include "leat/batch.h"

_Static_assert(FLT_EVAL_METHOD == 0, "each operation is rounded to float32");

#define VALUE(level) (((float)(level) / 255.0f - 0.5f) / 0.5f)
#define FOUR(level) VALUE(level), VALUE((level) + 1), VALUE((level) + 2), VALUE((level) + 3)
#define SIXTEEN(level) FOUR(level), FOUR((level) + 4), FOUR((level) + 8), FOUR((level) + 12)
#define SIXTY_FOUR(level)                                                                          \
    SIXTEEN(level), SIXTEEN((level) + 16), SIXTEEN((level) + 32), SIXTEEN((level) + 48)

const float *leat_pixel_table(void) {
    static const float table[LEAT_PIXEL_LEVELS] = {SIXTY_FOUR(0), SIXTY_FOUR(64), SIXTY_FOUR(128),
                                                   SIXTY_FOUR(192)};
    return table;
}
