/*
 * Text of any size in memory, for callers outside the library that have no heap of their own: pages
 * and reports are built here and then saved in one piece. The first failure is kept, so that a page
 * of a thousand calls needs one check, at its end.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/base64.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"

struct leat_textbuf {
    leat_buf buf;
    leat_error err; /* the first failure */
};

leat_code leat_textbuf_create(leat_textbuf **out, leat_error *err) {
    *out = NULL;
    return LEAT_NEW(out, 1, err);
}

void leat_textbuf_destroy(leat_textbuf *text) {
    if (text == NULL) return;
    leat_buf_free(&text->buf);
    leat_free(text);
}

void leat_textbuf_clear(leat_textbuf *text) { text->buf.size = 0; }

void leat_textbuf_append(leat_textbuf *text, const char *bytes, int64_t size_bytes) {
    if (text->err.code != LEAT_OK) return;
    /* An error ignored here is reported by leat_textbuf_finish. */
    if (leat_buf_append(&text->buf, bytes, size_bytes, &text->err) != LEAT_OK) return;
}

void leat_textbuf_put(leat_textbuf *text, const char *words) {
    leat_textbuf_append(text, words, (int64_t)strlen(words));
}

void leat_textbuf_printf(leat_textbuf *text, const char *format, ...) {
    if (text->err.code != LEAT_OK) return;
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (size < 0) {
        leat_fail(&text->err, LEAT_ERR_OPTION, "cannot format \"%.200s\"", format);
        return;
    }
    if (leat_buf_reserve(&text->buf, (int64_t)size + 1, &text->err) != LEAT_OK) return;
    va_start(arguments, format);
    vsnprintf((char *)text->buf.data + text->buf.size, (size_t)size + 1, format, arguments);
    va_end(arguments);
    text->buf.size += size;
}

void leat_textbuf_base64(leat_textbuf *text, const void *bytes, int64_t size_bytes) {
    leat_buf *to = &text->buf;
    if (text->err.code != LEAT_OK) return;
    if (leat_buf_reserve(to, LEAT_BASE64_BYTES(size_bytes), &text->err) != LEAT_OK) return;
    to->size +=
        leat_base64_encode((char *)to->data + to->size, bytes, size_bytes, LEAT_BASE64_PADDED);
}

leat_code leat_textbuf_finish(leat_textbuf *text, const char **words, int64_t *size_bytes,
                              leat_error *err) {
    *words = NULL;
    *size_bytes = 0;
    if (text->err.code == LEAT_OK && leat_buf_reserve(&text->buf, 1, &text->err) == LEAT_OK)
        text->buf.data[text->buf.size] = 0;
    if (text->err.code != LEAT_OK) return leat_error_copy(err, &text->err);
    *words = (const char *)text->buf.data;
    *size_bytes = text->buf.size;
    return LEAT_OK;
}

void leat_text_sha256(const char *text, int64_t size_bytes, char hex[65]) {
    leat_sha256_hex_of(text, size_bytes, hex);
}

leat_code leat_text_save(const char *path, const char *text, int64_t size_bytes, leat_mark mark,
                         bool replace, leat_error *err) {
    return leat_file_save_output(path, text, size_bytes, mark, replace, err);
}

leat_code leat_text_can_save(const char *path, leat_mark mark, bool replace, leat_error *err) {
    return leat_file_can_save(path, mark, replace, err);
}
