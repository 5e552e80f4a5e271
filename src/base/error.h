/* Filling a leat_error: the one place where messages are formatted. */
#ifndef LEAT_BASE_ERROR_H
#define LEAT_BASE_ERROR_H

#include "leat/base.h"

/* Sets *err (NULL allowed) and returns `code`, so that callers write `return leat_fail(...)`. */
leat_code leat_fail(leat_error *err, leat_code code, const char *format, ...) LEAT_PRINTF(3, 4);

/* As leat_fail with the code and text of an errno value: "<message>: No space left on device". */
leat_code leat_fail_errno(leat_error *err, int number, const char *format, ...) LEAT_PRINTF(3, 4);

/* Puts "<context>: " before the message that *err holds; returns err's code. */
leat_code leat_error_context(leat_error *err, leat_code code, const char *format, ...)
    LEAT_PRINTF(3, 4);

/* Copies `from` to `to` (NULL allowed) and returns its code. */
leat_code leat_error_copy(leat_error *to, const leat_error *from);

#define LEAT_TRY(expression)                                                                       \
    do {                                                                                           \
        leat_code leat_try_code_ = (expression);                                                   \
        if (leat_try_code_ != LEAT_OK) return leat_try_code_;                                      \
    } while (0)

/* A broken invariant of leat itself; never for input. Enabled in release builds. */
#define LEAT_ASSERT(condition)                                                                     \
    do {                                                                                           \
        if (__builtin_expect(!(condition), 0)) leat_assert_fail(#condition, __FILE__, __LINE__);   \
    } while (0)
void leat_assert_fail(const char *condition, const char *file, int line) __attribute__((noreturn));

#endif
