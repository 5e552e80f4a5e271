/* Pictures on a page: PNG as text in the page itself (RFC 2397), so that nothing is loaded. */
#include "page/page.h"

void leat_page_png(leat_textbuf *out, const leat_png *png, int32_t width, int32_t height,
                   const char *class_name, const char *alt) {
    int64_t size_bytes = 0;
    const uint8_t *bytes = leat_png_bytes(png, &size_bytes);
    leat_textbuf_printf(out, "<img class=\"%s\" width=\"%d\" height=\"%d\" alt=\"", class_name,
                        width, height);
    leat_html_text(out, alt);
    leat_textbuf_put(out, "\" src=\"data:image/png;base64,");
    leat_textbuf_base64(out, bytes, size_bytes);
    leat_textbuf_put(out, "\">\n");
}
