/* Text as HTML: what comes from data is never markup. */
#include <string.h>

#include "page/page.h"

/* Up to the next character that is special in HTML. */
static int64_t plain_size(const char *text, int64_t size_bytes) {
    int64_t i = 0;
    while (i < size_bytes && strchr("<>&\"'", text[i]) == NULL) i++;
    return i;
}

static const char *entity_of(char letter) {
    switch (letter) {
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '&': return "&amp;";
    case '"': return "&quot;";
    default: return "&#39;";
    }
}

void leat_html_text(leat_textbuf *out, const char *text) {
    int64_t size_bytes = (int64_t)strlen(text);
    while (size_bytes > 0) {
        char escape[LEAT_ESCAPE_BYTES];
        int64_t clean = leat_text_clean(text, size_bytes), plain = plain_size(text, clean);
        leat_textbuf_append(out, text, plain);
        text += plain;
        size_bytes -= plain;
        int taken = 0;
        if (plain < clean) {
            leat_textbuf_put(out, entity_of(*text));
            taken = 1;
        } else if (size_bytes > 0) {
            taken = leat_text_escape(text, size_bytes, LEAT_ESCAPE_WORDS, escape);
            leat_textbuf_put(out, escape);
        }
        text += taken;
        size_bytes -= taken;
    }
}
