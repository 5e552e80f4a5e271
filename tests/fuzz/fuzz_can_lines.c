/*
 * Lines of vehicle logs: any bytes, as every format, in runs of lines. What is taken is a frame:
 * a finite time, an identifier in its form, bytes in their range. The first byte chooses the
 * format and the columns, the second the options and how long the runs are.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/can/read/column_option.h"
#include "ingest/can/read/context.h"
#include "ingest/can/read/formats.h"

static void check_frame(const leat_can_line *line, const leat_can_line_options *options) {
    LEAT_ASSERT(isfinite(line->time));
    int size = 0;
    while (size < LEAT_CAN_ID_BYTES && line->id[size] != 0) {
        char letter = line->id[size++];
        bool digit = (letter >= '0' && letter <= '9') || (letter >= 'A' && letter <= 'F');
        LEAT_ASSERT(options->canonical ? digit : letter > ' ' && letter <= '~');
    }
    LEAT_ASSERT(options->canonical ? size == 3 || size == 8 : size > 0);
    for (int i = size; i < LEAT_CAN_ID_BYTES; i++) LEAT_ASSERT(line->id[i] == 0);
    for (int i = 0; i < LEAT_CAN_BYTES; i++) {
        LEAT_ASSERT(line->bytes[i] >= (options->strict ? 0 : -15) && line->bytes[i] <= 255);
    }
}

/* In memory of exactly its size, so that a sanitizer sees one byte too many. */
static void parse(leat_can_layout *layout, const leat_can_line_options *options, const char *text,
                  int64_t size) {
    char *exact = malloc((size_t)size);
    memcpy(exact, text, (size_t)size);
    leat_can_line line;
    leat_can_reject reason = leat_can_parse_line(layout, options, exact, size, &line);
    LEAT_ASSERT(reason >= 0 && reason <= LEAT_CAN_TAKEN);
    if (reason == LEAT_CAN_TAKEN) check_frame(&line, options);
    /* of these there is no other reading that could be taken */
    const bool only =
        leat_can_is_decimal(layout) || (layout->table && layout->data_unit == LEAT_CAN_UNIT_BASE64);
    if (reason == LEAT_CAN_REJECT_PAYLOAD) LEAT_ASSERT(options->strict || only);
    if (reason == LEAT_CAN_REJECT_FD) LEAT_ASSERT(options->fd_refuse);
    if (reason == LEAT_CAN_REJECT_NO_LABEL) LEAT_ASSERT(layout->labelled);
    leat_can_follow(layout, exact, size);
    free(exact);
}

/* The lines of a run, `begin` the first that is no header. */
static int64_t parse_run(leat_can_layout *layout, const leat_can_line_options *options,
                         const char *text, const leat_line_run *run, const char *begin) {
    const char *end = text + run->size_bytes;
    int64_t count = 0;
    for (const char *at = text; at < end; count++) {
        const char *feed = memchr(at, '\n', (size_t)(end - at)), *stop = feed != NULL ? feed : end;
        if (stop > at && at >= begin) parse(layout, options, at, stop - at);
        at = stop + 1;
    }
    return count;
}

/* The lines of a run beside each other. */
static void look_around(const leat_can_layout *layout, const leat_can_line_options *options,
                        const char *begin, const char *end) {
    const leat_can_text lines = {layout, options, begin, end};
    bool truncated = false;
    LEAT_ASSERT(leat_can_first_time(&lines) != 0 && leat_can_last_time(&lines) != 0);
    leat_code code = leat_can_is_truncated(NULL, &lines, 1, &truncated, NULL);
    LEAT_ASSERT(code == LEAT_OK);
    (void)leat_can_is_unpadded_step((leat_text){begin, (int32_t)(end - begin)}, 7.99900,
                                    (leat_text){begin, (int32_t)(end - begin)}, 7.100100);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) return 0;
    enum { FORMATS_MAX = 32 };
    leat_can_format wanted = (leat_can_format)(data[0] % FORMATS_MAX % LEAT_CAN_FORMATS);
    leat_can_line_options options = {.canonical = (data[1] & 1) == 0,
                                     .strict = (data[1] & 2) == 0,
                                     .fd_refuse = (data[1] & 4) != 0};
    static const char *const columns[] = {
        NULL,
        NULL, /* and --no-time */
        "time=1,id=2,data=3",
        "time=1,id=2:dec,bus=3,dlc=4:bits,data=5:bits,label=6",
        "id=id:dec,data=data0..data7:dec,label=flag",
        "time=time:us,id=1,data=data:base64",
    };
    size_t mapped = data[0] / FORMATS_MAX % (sizeof columns / sizeof *columns);
    leat_can_mapping mapping;
    if (columns[mapped] != NULL) {
        leat_code read = leat_can_mapping_parse(&mapping, columns[mapped], NULL);
        LEAT_ASSERT(read == LEAT_OK);
        options.columns = &mapping;
        wanted = LEAT_CAN_AUTO;
    }
    options.no_time = mapped == 1 ? 1000 : 0;
    int64_t want_bytes = (data[1] & 8) != 0 ? 40 : 1 << 18, want_lines = 1 + (data[1] >> 4) * 100;
    char *text = malloc((size_t)(want_bytes + LEAT_LINE_RUN_ROOM));
    leat_error err = {0};
    leat_lines *lines = NULL;
    leat_lines_options reading = {0};
    leat_code code =
        leat_lines_open_bytes(&lines, data + 2, (int64_t)size - 2, "text", &reading, &err);
    LEAT_ASSERT(code == LEAT_OK);
    leat_can_layout layout;
    bool told = false;
    int64_t number = 1;
    for (;;) {
        leat_line_run run;
        code = leat_lines_take(lines, text, want_bytes, want_lines, &run, &err);
        LEAT_ASSERT(code == LEAT_OK);
        if (run.line_count == 0) break;
        LEAT_ASSERT(run.number == number && run.line_count <= want_lines);
        number += run.line_count;
        int64_t skip = 0;
        if (!told) {
            const leat_can_head head = {text, run.size_bytes, "x.log", wanted};
            leat_can_detected it;
            code = leat_can_detect(&head, &options, &it, &err);
            skip = it.skip_bytes;
            LEAT_ASSERT(code == LEAT_OK || err.message[0] != 0);
            LEAT_ASSERT(skip >= 0 && skip <= run.size_bytes);
            if (code != LEAT_OK) break;
            told = it.found;
            if (!told) continue;
            layout = it.layout;
            LEAT_ASSERT(layout.format == (wanted == LEAT_CAN_AUTO ? it.looks : wanted));
        }
        leat_can_note_buses(&layout, text, run.size_bytes);
        int64_t count = parse_run(&layout, &options, text, &run, text + skip);
        LEAT_ASSERT(count == run.line_count);
        if (run.fault == LEAT_LINE_GOOD)
            look_around(&layout, &options, text + skip, text + run.size_bytes);
    }
    leat_lines_close(lines);
    free(text);
    return 0;
}
