/* Options of the crowd: leat/crowd.h. The run's times are the same for all who work on it. */
#include <stddef.h>

#include "base/thread.h"
#include "crowd/usual.h"
#include "leat/crowd.h"
#include "train/run/train_options.h"

#define AT(field) .place = offsetof(leat_coordinate_options, field)
#define DAY_MS INT64_C(86400000)

static const leat_setting rows[] = {
    {.name = "lease-ms",
     .kind = LEAT_SETTING_INT,
     AT(lease_ms),
     .min = 100,
     .max = DAY_MS,
     .neutral = true,
     .help = "milliseconds that a unit is reserved for a machine, from its last sign of life"},
    {.name = "renew-ms",
     .kind = LEAT_SETTING_INT,
     AT(renew_ms),
     .min = 10,
     .max = DAY_MS,
     .neutral = true,
     .help = "milliseconds between two signs of life of a worker"},
    {.name = "silent-ms",
     .kind = LEAT_SETTING_INT,
     AT(silent_ms),
     .min = 50,
     .max = DAY_MS,
     .neutral = true,
     .help = "milliseconds without a sign of life after which another machine gets a copy of the "
             "unit"},
    {.name = "hold-ms",
     .kind = LEAT_SETTING_INT,
     AT(hold_ms),
     .min = 100,
     .max = DAY_MS,
     .neutral = true,
     .help = "milliseconds that the run is reserved for this coordinator, each time; another one "
             "waits that long before it takes over"},
    {.name = "poll-ms",
     .kind = LEAT_SETTING_INT,
     AT(poll_ms),
     .min = 1,
     .max = 60000,
     .neutral = true,
     .help = "milliseconds between looks at what has arrived"},
    {.name = "state-ms",
     .kind = LEAT_SETTING_INT,
     AT(state_ms),
     .max = DAY_MS,
     .neutral = true,
     .help = "minimum milliseconds between copies of the state in the database"},
    {.name = "part-bytes",
     .kind = LEAT_SETTING_SIZE,
     AT(part_bytes),
     .min = 1024,
     .max = 8 << 20,
     .neutral = true,
     .help = "size of the parts in which weights and results travel"},
    {.name = "outlier",
     .kind = LEAT_SETTING_INT,
     AT(outlier),
     .min = 2,
     .max = 1000000,
     .neutral = true,
     .help = "recompute a unit whose gradient or statistics have more than N times their usual "
             "norm"},
    {.name = "data-note",
     .kind = LEAT_SETTING_TEXT,
     AT(data_note),
     .neutral = true,
     .usually = "no note",
     .help = "what a machine without the data set is told, such as where to download it"},
    {.name = "listen",
     .kind = LEAT_SETTING_TEXT,
     AT(listen),
     .neutral = true,
     .value = "ADDRESS[:PORT]",
     .usually = "only this machine",
     .help =
         "with --db local: let volunteers connect to this address or name of this machine, over "
         "TLS; leat invite creates their logins"},
    {.name = "serve-data",
     .kind = LEAT_SETTING_FLAG,
     AT(serve_data),
     .neutral = true,
     .help = "keep the data set in the database, for machines without it; every login can read it"},
    {0},
};

static void set_train_defaults(void *options) {
    *(leat_train_options *)options = leat_coordinate_options_default().train;
}

const leat_setting_table *leat_coordinate_train_table(void) {
    static const leat_setting_table table = {.owner = "a training run",
                                             .rows = leat_train_rows,
                                             .size_bytes = sizeof(leat_train_options),
                                             .set_defaults = set_train_defaults};
    return &table;
}

static void set_defaults(void *options) {
    *(leat_coordinate_options *)options = leat_coordinate_options_default();
}

const leat_setting_table *leat_coordinate_options_table(void) {
    static const leat_setting_table table = {.owner = "a coordinator",
                                             .rows = rows,
                                             .size_bytes = sizeof(leat_coordinate_options),
                                             .set_defaults = set_defaults};
    return &table;
}

leat_coordinate_options leat_coordinate_options_default(void) {
    leat_coordinate_options options = {.who = "coordinator",
                                       .train = leat_train_options_default(),
                                       .part_bytes = INT64_C(1) << 20,
                                       .lease_ms = 300000,
                                       .renew_ms = 10000,
                                       .silent_ms = 30000,
                                       .hold_ms = 15000,
                                       .poll_ms = 500,
                                       .state_ms = 30000,
                                       .outlier = LEAT_USUAL_OUTLIER};
    options.train.units = 3;
    options.train.unit_size = 320;
    options.train.micro_batch = 32;
    options.train.codec_up = options.train.codec_down = LEAT_CODEC_BF16;
    return options;
}

leat_work_options leat_work_options_default(void) {
    return (leat_work_options){.secret = "",
                               .name = "",
                               .hardware = "",
                               .threads = leat_cpu_count(),
                               .poll_ms = 5000,
                               .pause_on_battery = true,
                               .grace_ms = 60000};
}
