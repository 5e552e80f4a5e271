/* Expressions that must succeed, or fail in one way; they take `err`, whose message is printed. */
#ifndef LEAT_TESTS_CHECK_H
#define LEAT_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "leat/base.h"

#define assert_ok(expression)                                                                      \
    do {                                                                                           \
        leat_error assert_err_ = {0};                                                              \
        leat_error *err = &assert_err_;                                                            \
        if ((expression) != LEAT_OK) fail_msg("%s: %s", #expression, assert_err_.message);         \
    } while (0)

/* Fails with this code and a message that holds `words`; LEAT_OK and "": succeeds. */
#define assert_fails(expression, expected_code, words)                                             \
    do {                                                                                           \
        leat_error assert_err_ = {0};                                                              \
        leat_error *err = &assert_err_;                                                            \
        leat_code assert_code_ = (expression);                                                     \
        if (assert_code_ != (expected_code) || strstr(assert_err_.message, (words)) == NULL) {     \
            fail_msg("%s: code %d: %s", #expression, (int)assert_code_, assert_err_.message);      \
        }                                                                                          \
    } while (0)

#endif
