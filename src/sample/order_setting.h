/* The option "order" of loaders, global|windowed[:SIZE], by name: an int64_t with the bytes of the
 * windows, 0 for the global order. */
#ifndef LEAT_SAMPLE_ORDER_SETTING_H
#define LEAT_SAMPLE_ORDER_SETTING_H

#include "base/error.h"
#include "leat/sample.h"

extern const leat_setting_type leat_order_setting;

#endif
