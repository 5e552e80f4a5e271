/* Result codes and messages: formatting happens here and nowhere else. */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *leat_code_text(leat_code code) {
    switch (code) {
#define LEAT_CODE_CASE(name, number, text)                                                         \
    case name: return text;
        LEAT_CODES(LEAT_CODE_CASE)
#undef LEAT_CODE_CASE
    }
    return "unknown code";
}

leat_code leat_fail(leat_error *err, leat_code code, const char *format, ...) {
    if (err == NULL) return code;
    /* The arguments may point into err->message (a context put before it), so format aside. */
    char text[LEAT_MESSAGE_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    err->code = code;
    memcpy(err->message, text, sizeof text);
    return code;
}

static leat_code code_of_errno(int number) {
    switch (number) {
    case ENOMEM: return LEAT_ERR_MEMORY;
    case ENOENT: return LEAT_ERR_NOT_FOUND;
    case EEXIST: return LEAT_ERR_EXISTS;
    case ENOSPC:
    case EDQUOT: return LEAT_ERR_NO_SPACE;
    default: return LEAT_ERR_IO;
    }
}

leat_code leat_fail_errno(leat_error *err, int number, const char *format, ...) {
    leat_code code = code_of_errno(number);
    if (err == NULL) return code;
    char text[LEAT_MESSAGE_BYTES], reason[128];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const char *named = strerrordesc_np(number);
    if (named == NULL) {
        snprintf(reason, sizeof reason, "error %d", number);
        named = reason;
    }
    return leat_fail(err, code, "%s: %s", text, named);
}

leat_code leat_error_context(leat_error *err, leat_code code, const char *format, ...) {
    if (err == NULL) return code;
    char text[LEAT_MESSAGE_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return leat_fail(err, code, "%s: %s", text, err->message);
}

leat_code leat_error_copy(leat_error *to, const leat_error *from) {
    if (to != NULL && to != from) *to = *from;
    return from->code;
}

void leat_assert_fail(const char *condition, const char *file, int line) {
    /* Our own invariant is broken: going on could write wrong data. The door to stderr is the
     * command's, so the place is left where a debugger and a core file show it. */
    (void)condition;
    (void)file;
    (void)line;
    abort();
}
