/* Result codes and messages: formatting happens here and nowhere else. */
#include "base/error.h"

#include <errno.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *leat_code_text(leat_code code) {
    switch (code) {
#define LEAT_CODE_CASE(name, number, text)                                                         \
    case name: return text;
        LEAT_CODES(LEAT_CODE_CASE)
#undef LEAT_CODE_CASE
    }
    return "unknown code";
}

/*
 * Names and values in a message may come from anywhere: the message is made safe to display here,
 * once for the command, for Python exceptions and for any other program that prints it. The
 * arguments may point into `out` (when context is added), so the text is formatted in a separate
 * buffer. A character that is truncated at the end is dropped.
 */
static void format_message(char *out, int64_t out_bytes, const char *format, va_list args) {
    char text[2 * LEAT_MESSAGE_BYTES];
    int size = vsnprintf(text, sizeof text, format, args);
    if (size < 0) size = 0;
    if (size >= (int)sizeof text) size = (int)sizeof text - 1;
    leat_text_show(out, out_bytes, text, size);
}

leat_code leat_fail(leat_error *err, leat_code code, const char *format, ...) {
    if (err == NULL) return code;
    va_list args;
    va_start(args, format);
    format_message(err->message, sizeof err->message, format, args);
    va_end(args);
    err->code = code;
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

/* In English whatever locale the program has set; valid until the thread's next call. */
static const char *name_of_errno(int number) {
    /* glibc and musl return the C locale as a constant: nothing is allocated */
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c_locale == (locale_t)0) return "unknown error";
    const char *named = strerror_l(number, c_locale);
    freelocale(c_locale);
    return named;
}

leat_code leat_fail_errno(leat_error *err, int number, const char *format, ...) {
    leat_code code = code_of_errno(number);
    if (err == NULL) return code;
    char text[LEAT_MESSAGE_BYTES];
    const char *named = name_of_errno(number);
    va_list args;
    va_start(args, format);
    /* a name that fills the message must leave space for the problem */
    format_message(text, (int64_t)(sizeof text - strlen(named) - 2), format, args);
    va_end(args);
    return leat_fail(err, code, "%s: %s", text, named);
}

leat_code leat_error_context(leat_error *err, leat_code code, const char *format, ...) {
    if (err == NULL) return code;
    char text[LEAT_MESSAGE_BYTES];
    va_list args;
    va_start(args, format);
    format_message(text, sizeof text, format, args);
    va_end(args);
    return leat_fail(err, code, "%s: %s", text, err->message);
}

leat_code leat_error_copy(leat_error *to, const leat_error *from) {
    if (to != NULL && to != from) *to = *from;
    return from->code;
}

void leat_assert_fail(const char *condition, const char *file, int line) {
    /* An invariant of leat itself is broken, so continuing could write wrong data. The one time
     * that the library prints: without this line nobody could report what happened. */
    dprintf(STDERR_FILENO, "leat: %s:%d: broken invariant: %s; this is a bug in leat\n", file, line,
            condition);
    abort();
}
