/* Lines that are not frames, and show that those after them cannot be read: a log of lines that end
 * with CR, or one that was put together of logs with different columns. */
#include "base/error.h"
#include "ingest/can/read/context.h"
#include "ingest/can/read/csv.h"
#include "ingest/value_text.h"

/* Whether the line consists of frames that end in CR: rejected as one line, it would hide how many
 * there are. */
static bool has_frames(const leat_can_text *of, leat_text text) {
    enum { ENOUGH = 4 };
    const char *at = text.data, *end = at + text.size_bytes;
    for (int frames = 0; frames < ENOUGH; frames++) {
        const char *stop = at < end ? memchr(at, '\r', (size_t)(end - at)) : NULL;
        leat_can_line line;
        if (stop == NULL ||
            leat_can_parse_line(of->layout, of->options, at, stop - at, &line) != LEAT_CAN_TAKEN)
            return false;
        at = stop + 1;
    }
    return true;
}

leat_code leat_can_check_rejected(const leat_can_text *of, leat_text text, leat_can_reject reason,
                                  const char *path, int64_t number, leat_error *err) {
    char shown[100];
    if (reason > LEAT_CAN_MALFORMED_LAST) return LEAT_OK;
    if (has_frames(of, text)) return leat_can_refuse_cr(path, err);
    if (!leat_can_is_other_header(of->layout, of->options, text)) return LEAT_OK;
    leat_text_show(shown, sizeof shown, text.data, text.size_bytes);
    return leat_fail(
        err, LEAT_ERR_INPUT,
        "\"%s\": line %lld is a header with other columns than the first one: %s; split "
        "the file there",
        path, (long long)number, shown);
}
