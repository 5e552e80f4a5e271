/* See dcgan_warnings.h. */
#include "train/tasks/images/dcgan_warnings.h"

#include <math.h>

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)
#define SHARE TEXT(LEAT_ALIKE_SHARE)
#define MEASUREMENTS TEXT(LEAT_ALIKE_MEASUREMENTS)
#define LOSS TEXT(LEAT_WON_LOSS)
#define STEPS TEXT(LEAT_WON_STEPS)

_Static_assert((int)LEAT_DCGAN_WARNINGS <= LEAT_WARNINGS_MAX, "all of them have a place");
_Static_assert(LEAT_ALIKE_MEASUREMENTS <= (int)LEAT_WARNING_MEMORY, "the memory has the last ones");

/* The samples of an untrained generator are more alike than LEAT_ALIKE_SHARE, and those of a good
 * run stay so for some hundred steps. So the first steps warn of nothing, and later a spread that
 * grows does not. `memory`: the last spreads, the newest at the end. */
static leat_warning_look are_alike(const leat_train_step *step,
                                   double memory[LEAT_WARNING_MEMORY]) {
    enum { LAST = LEAT_ALIKE_MEASUREMENTS - 1 };
    const double spread = leat_train_step_value(step, "spread");
    const double data = leat_train_step_value(step, "spread_data");
    if (isnan(spread) || isnan(data)) return (leat_warning_look){.counts = false};
    for (int i = 0; i < LAST; i++) memory[i] = memory[i + 1];
    memory[LAST] = spread;
    return (leat_warning_look){.counts = true,
                               .holds = spread < LEAT_ALIKE_SHARE * data,
                               .ripe = step->step >= LEAT_ALIKE_STEPS && memory[LAST] <= memory[0]};
}

static leat_warning_look has_won(const leat_train_step *step, double memory[LEAT_WARNING_MEMORY]) {
    const double loss =
        leat_train_step_value(step, "loss_d_images") + leat_train_step_value(step, "loss_d_fakes");
    (void)memory;
    return (leat_warning_look){
        .counts = isfinite(loss), .holds = loss < LEAT_WON_LOSS, .ripe = true};
}

const leat_warning_rule leat_dcgan_warnings[] = {
    [LEAT_DCGAN_WARNING_ALIKE] =
        {.name = "alike",
         .what = "the samples are becoming alike",
         .why = ": the spread between them was below " SHARE
                " times that between the images of the data set, at " MEASUREMENTS
                " measurements in a row",
         .most = LEAT_ALIKE_MEASUREMENTS,
         .look = are_alike},
    [LEAT_DCGAN_WARNING_WON] = {.name = "won",
                                .what = "the discriminator has won",
                                .why = "; G learns nothing any more: the loss of D was below " LOSS
                                       " for " STEPS " steps",
                                .most = LEAT_WON_STEPS,
                                .look = has_won},
    [LEAT_DCGAN_WARNINGS] = {.name = NULL},
};
