/* Pictures on a page: PNG as text in the page itself (RFC 4648, RFC 2397), so that nothing is
 * loaded. */
#include "page/page.h"

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void leat_html_base64(leat_textbuf *out, const uint8_t *bytes, int64_t size_bytes) {
    for (int64_t i = 0; i < size_bytes; i += 3) {
        int64_t left = size_bytes - i;
        uint32_t word = (uint32_t)bytes[i] << 16;
        if (left > 1) word |= (uint32_t)bytes[i + 1] << 8;
        if (left > 2) word |= bytes[i + 2];
        char four[4];
        for (int k = 0; k < 4; k++) four[k] = letters[word >> (18 - 6 * k) & 63];
        if (left < 3) four[3] = '=';
        if (left < 2) four[2] = '=';
        leat_textbuf_append(out, four, 4);
    }
}

void leat_page_png(leat_textbuf *out, const leat_png *png, int32_t width, int32_t height,
                   const char *class_name, const char *alt) {
    int64_t size_bytes = 0;
    const uint8_t *bytes = leat_png_bytes(png, &size_bytes);
    leat_textbuf_printf(out, "<img class=\"%s\" width=\"%d\" height=\"%d\" alt=\"", class_name,
                        width, height);
    leat_html_text(out, alt);
    leat_textbuf_put(out, "\" src=\"data:image/png;base64,");
    leat_html_base64(out, bytes, size_bytes);
    leat_textbuf_put(out, "\">\n");
}
