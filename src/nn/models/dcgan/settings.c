/* What a run that trains a DCGAN has beyond the options of every run: leat/nn.h. */
#include <stddef.h>

#include "nn/models/dcgan/dcgan.h"

#define AT(field) .place = offsetof(leat_dcgan_settings, field)

static const leat_setting rows[] = {
    {.name = "width",
     .kind = LEAT_SETTING_INT32,
     AT(width),
     .min = 1,
     .max = LEAT_DCGAN_WIDTH_MAX,
     .value = "W",
     .help = "channels of the layer at 32 x 32; deeper layers have 2, 4 and 8 times as many"},
    {.name = "latent",
     .kind = LEAT_SETTING_INT32,
     AT(latent),
     .min = 1,
     .max = LEAT_DCGAN_LATENT_MAX,
     .value = "Z",
     .help = "size of a latent vector"},
    {.name = "schedule",
     .kind = LEAT_SETTING_CHOICE,
     AT(schedule),
     .choices = "simultaneous|alternating",
     .help = "simultaneous: both networks step at the same weights, as in distributed training; "
             "alternating: D steps first, G against the new D"},
    {.name = "learning-rate",
     .kind = LEAT_SETTING_REAL,
     AT(learning_rate),
     .high = 1,
     .low_open = true,
     .help = "step size of Adam, for both networks"},
    {.name = "beta1",
     .kind = LEAT_SETTING_REAL,
     AT(beta1),
     .high = 1,
     .high_open = true,
     .help = "decay rate of Adam's first moment"},
    {.name = "beta2",
     .kind = LEAT_SETTING_REAL,
     AT(beta2),
     .high = 1,
     .high_open = true,
     .help = "decay rate of Adam's second moment"},
    {.name = NULL},
};

leat_dcgan_settings leat_dcgan_settings_default(void) {
    return (leat_dcgan_settings){
        .width = 64, .latent = 100, .learning_rate = 2e-4, .beta1 = 0.5, .beta2 = 0.999};
}

static void set_defaults(void *settings) {
    *(leat_dcgan_settings *)settings = leat_dcgan_settings_default();
}

const leat_setting_table *leat_dcgan_settings_table(void) {
    static const leat_setting_table table = {.owner = "a DCGAN",
                                             .rows = rows,
                                             .size_bytes = sizeof(leat_dcgan_settings),
                                             .set_defaults = set_defaults};
    return &table;
}
