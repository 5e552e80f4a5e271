/* An expression that must succeed; it hands `err` on, which is told when it does not. */
#ifndef LEAT_TESTS_CHECK_H
#define LEAT_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "leat/base.h"

#define assert_ok(expression)                                                                      \
    do {                                                                                           \
        leat_error assert_err_ = {0};                                                              \
        leat_error *err = &assert_err_;                                                            \
        if ((expression) != LEAT_OK) fail_msg("%s: %s", #expression, assert_err_.message);         \
    } while (0)

#endif
