/* See watch.h. */
#include "train/watch.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

leat_watching leat_watch_begin(const leat_watch *watches) {
    leat_watching watching = {.watches = watches};
    for (int i = 0; watches != NULL && watches[i].name != NULL; i++) {
        LEAT_ASSERT(i < LEAT_WARNINGS_MAX && watches[i].most > 0);
        watching.warnings[i] = (leat_train_warning){
            .name = watches[i].name, .what = watches[i].what, .why = watches[i].why};
    }
    return watching;
}

static void observe(leat_train_warning *warning, int64_t *against, int64_t most, int64_t step,
                    leat_watch_look look) {
    const bool warned = warning->step > 0 && warning->over == 0;
    *against = look.holds == warned ? 0 : *against + 1;
    if (*against < most || (!warned && !look.ripe)) return;
    *against = 0;
    warning->over = warned ? step : 0;
    if (!warned) warning->step = step;
}

void leat_watch_step(leat_watching *watching, const leat_train_step *step) {
    const leat_watch *watches = watching->watches;
    for (int i = 0; watches != NULL && watches[i].name != NULL && step->step > 0; i++) {
        const leat_watch_look look = watches[i].look(step, watching->memory[i]);
        if (look.counts)
            observe(&watching->warnings[i], &watching->against[i], watches[i].most, step->step,
                    look);
    }
}

const char *leat_train_warning_text(const leat_train_warning *warning,
                                    char text[LEAT_WARNING_BYTES]) {
    snprintf(text, LEAT_WARNING_BYTES, "%s at step %lld%s", warning->what, (long long)warning->step,
             warning->why);
    const size_t used = strlen(text);
    if (warning->over > 0)
        snprintf(text + used, LEAT_WARNING_BYTES - used, " (over since step %lld)",
                 (long long)warning->over);
    return text;
}
