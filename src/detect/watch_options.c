/* Options of a watch by name, beside those of its detector and of how lines are read. */
#include <stddef.h>

#include "leat/detect_run.h"

#define AT(member) .place = offsetof(leat_watch_options, member)
static const leat_setting rows[] = {
    /* the words in the order of LEAT_BUS_SEPARATE, LEAT_BUS_MERGE, LEAT_WATCH_BUS_OF_RUN */
    {.name = "bus",
     .kind = LEAT_SETTING_INT,
     AT(bus),
     .max = UINT16_MAX,
     .choices = "separate|merge|run",
     .word_value = LEAT_BUS_SEPARATE,
     .value = "run|separate|merge|N",
     .help = "follow each bus by itself, all of them as one, or only one; run: as the cache that "
             "the run was trained on"},
    {.name = "stride",
     .kind = LEAT_SETTING_INT,
     AT(live.stride),
     .min = 1,
     .max = 1 << 30,
     .choices = "run",
     .word_value = 0,
     .value = "run|N",
     .help = "frames from one window to the next; run: as the cache that the run was trained on"},
    {.name = "from",
     .kind = LEAT_SETTING_INT,
     AT(live.from),
     .max = INT64_MAX,
     .value = "FRAME",
     .help = "frame with which the first window begins, in each bus of the first recording"},
    {.name = NULL},
};
#undef AT

_Static_assert(LEAT_BUS_MERGE == LEAT_BUS_SEPARATE - 1 &&
                   LEAT_WATCH_BUS_OF_RUN == LEAT_BUS_MERGE - 1,
               "words of --bus");

leat_watch_options leat_watch_options_default(void) {
    return (leat_watch_options){.detector = leat_evaluation_options_default(),
                                .bus = LEAT_WATCH_BUS_OF_RUN,
                                .live = leat_live_options_default()};
}

static void set_defaults(void *options) {
    *(leat_watch_options *)options = leat_watch_options_default();
}

const leat_setting_table *leat_watch_options_table(void) {
    static const leat_setting_table table = {.owner = "a watch",
                                             .rows = rows,
                                             .size_bytes = sizeof(leat_watch_options),
                                             .set_defaults = set_defaults};
    return &table;
}
