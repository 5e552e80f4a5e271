/* See watch.h. */
#include "train/watch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* `ripe`: whether it may arise now, if it has held for long enough. */
static void observe(leat_watch *watch, leat_train_warning_kind kind, int64_t most, int64_t step,
                    bool holds, bool ripe) {
    leat_train_warning *warning = &watch->warnings[kind];
    const bool warned = warning->step > 0 && warning->over == 0;
    watch->against[kind] = holds == warned ? 0 : watch->against[kind] + 1;
    if (watch->against[kind] < most || (!warned && !ripe)) return;
    watch->against[kind] = 0;
    if (warned) warning->over = step;
    else *warning = (leat_train_warning){.step = step};
}

void leat_watch_loss(leat_watch *watch, int64_t step, double loss_d) {
    if (step < 1 || !isfinite(loss_d)) return; /* read back, an infinite one is missing */
    observe(watch, LEAT_WARNING_WON, LEAT_WARNING_WON_STEPS, step, loss_d < LEAT_WARNING_WON_LOSS,
            true);
}

/* The samples of an untrained generator are more alike than LEAT_WARNING_ALIKE_SHARE, and those of
 * a good run stay so for some hundred steps. So the first steps warn of nothing, and later a spread
 * that grows does not. */
void leat_watch_spread(leat_watch *watch, int64_t step, double spread, double spread_data) {
    enum { LAST = LEAT_WARNING_ALIKE_MEASUREMENTS - 1 };
    if (step < 1 || isnan(spread) || isnan(spread_data)) return;
    for (int i = 0; i < LAST; i++) watch->spreads[i] = watch->spreads[i + 1];
    watch->spreads[LAST] = spread;
    observe(watch, LEAT_WARNING_ALIKE, LEAT_WARNING_ALIKE_MEASUREMENTS, step,
            spread < LEAT_WARNING_ALIKE_SHARE * spread_data,
            step >= LEAT_WARNING_ALIKE_STEPS && watch->spreads[LAST] <= watch->spreads[0]);
}

void leat_watch_step(leat_watch *watch, const leat_train_step *step) {
    const double loss_d =
        leat_train_step_value(step, "loss_d_images") + leat_train_step_value(step, "loss_d_fakes");
    leat_watch_loss(watch, step->step, loss_d);
    leat_watch_spread(watch, step->step, leat_train_step_value(step, "spread"),
                      leat_train_step_value(step, "spread_data"));
}

const char *leat_train_warning_name(leat_train_warning_kind kind) {
    return kind == LEAT_WARNING_ALIKE ? "alike" : "won";
}

const char *leat_train_warning_text(leat_train_warning_kind kind, const leat_train_warning *warning,
                                    char text[LEAT_WARNING_BYTES]) {
    const long long step = (long long)warning->step;
    if (kind == LEAT_WARNING_ALIKE)
        snprintf(text, LEAT_WARNING_BYTES,
                 "the samples are becoming alike at step %lld: the spread between them was below "
                 "%g times that between the images of the data set, at %d measurements in a row",
                 step, LEAT_WARNING_ALIKE_SHARE, LEAT_WARNING_ALIKE_MEASUREMENTS);
    else
        snprintf(text, LEAT_WARNING_BYTES,
                 "the discriminator has won at step %lld; G learns nothing any more: the loss of D "
                 "was below %g for %d steps",
                 step, LEAT_WARNING_WON_LOSS, LEAT_WARNING_WON_STEPS);
    const size_t used = strlen(text);
    if (warning->over > 0)
        snprintf(text + used, LEAT_WARNING_BYTES - used, " (over since step %lld)",
                 (long long)warning->over);
    return text;
}
