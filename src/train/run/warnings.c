/* See warnings.h. */
#include "train/run/warnings.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

leat_warning_state leat_warnings_begin(const leat_warning_rule *warning_rules) {
    leat_warning_state warning_state = {.warning_rules = warning_rules};
    for (int i = 0; warning_rules != NULL && warning_rules[i].name != NULL; i++) {
        LEAT_ASSERT(i < LEAT_WARNINGS_MAX && warning_rules[i].most > 0);
        warning_state.warnings[i] = (leat_train_warning){.name = warning_rules[i].name,
                                                         .what = warning_rules[i].what,
                                                         .why = warning_rules[i].why};
    }
    return warning_state;
}

static void observe(leat_train_warning *warning, int64_t *against, int64_t most, int64_t step,
                    leat_warning_look look) {
    const bool warned = warning->step > 0 && warning->over == 0;
    *against = look.holds == warned ? 0 : *against + 1;
    if (*against < most || (!warned && !look.ripe)) return;
    *against = 0;
    warning->over = warned ? step : 0;
    if (!warned) warning->step = step;
}

void leat_warnings_step(leat_warning_state *warning_state, const leat_train_step *step) {
    const leat_warning_rule *warning_rules = warning_state->warning_rules;
    for (int i = 0; warning_rules != NULL && warning_rules[i].name != NULL && step->step > 0; i++) {
        const leat_warning_look look = warning_rules[i].look(step, warning_state->memory[i]);
        if (look.counts)
            observe(&warning_state->warnings[i], &warning_state->against[i], warning_rules[i].most,
                    step->step, look);
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
