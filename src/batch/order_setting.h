/* The option "order" of loaders, global|windowed[:SIZE], by name: an int64_t with the bytes of the
 * windows, 0 for the global order. */
#ifndef LEAT_BATCH_ORDER_SETTING_H
#define LEAT_BATCH_ORDER_SETTING_H

#include <stddef.h>

#include "base/error.h"
#include "leat/batch.h"

extern const leat_setting_type leat_order_setting;

/* All of its row in a table but the help; `options` is a struct with window_bytes. */
#define LEAT_ORDER_SETTING(options)                                                                \
    .name = "order", .kind = LEAT_SETTING_OTHER, .place = offsetof(options, window_bytes),         \
    .type = &leat_order_setting, .value = "global|windowed[:SIZE]"

#endif
