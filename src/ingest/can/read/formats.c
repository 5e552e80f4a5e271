/* Lines of any format, by its row in the table; names of formats and of what is rejected. */
#include "ingest/can/read/formats.h"

#include "ingest/can/read/known_logs.h"

#define NAME(format, name) [format] = (name),
static const char *const names[LEAT_CAN_FORMATS] = {[LEAT_CAN_AUTO] = "auto",
                                                    LEAT_CAN_FORMAT_TABLE(NAME)};
#undef NAME

const char *leat_can_format_name(leat_can_format format) {
    return (unsigned)format < LEAT_CAN_FORMATS ? names[format] : "";
}

#define TEXT(name, text) [name] = (text),
static const char *const reject_texts[LEAT_CAN_REJECT_COUNT] = {LEAT_CAN_REJECTS(TEXT)};
#undef TEXT
const leat_reject_kind leat_can_rejects = {
    .columns = "file,line,reason,text",
    .row = "line",
    .reasons = reject_texts,
    .reason_count = LEAT_CAN_REJECT_COUNT,
};

leat_can_reject leat_can_parse_line(const leat_can_layout *layout,
                                    const leat_can_line_options *options, const char *text,
                                    int64_t size_bytes, leat_can_line *line) {
    line->marks = 0;
    line->type = LEAT_CAN_TYPE_BY_FILE;
    return leat_can_formats[layout->format].lines->parse(layout, options, text, text + size_bytes,
                                                         line);
}

bool leat_can_find_time(const leat_can_layout *layout, const char *text, int64_t size_bytes,
                        double *time) {
    return leat_can_formats[layout->format].lines->find_time(layout, text, text + size_bytes, time);
}

leat_text leat_can_rejected_label(const leat_can_layout *layout, const char *text,
                                  int64_t size_bytes) {
    const leat_can_format_lines *of = leat_can_formats[layout->format].lines;
    if (of->find_label == NULL) return (leat_text){text, 0};
    return of->find_label(layout, text, text + size_bytes);
}

void leat_can_note_buses(leat_can_layout *layout, const char *text, int64_t size_bytes) {
    const leat_can_format_lines *of = leat_can_formats[layout->format].lines;
    if (of != NULL && of->note_buses != NULL) of->note_buses(layout, text, text + size_bytes);
}

void leat_can_follow(leat_can_layout *layout, const char *text, int64_t size_bytes) {
    const leat_can_format_lines *of = leat_can_formats[layout->format].lines;
    if (of != NULL && of->follow != NULL) of->follow(layout, text, text + size_bytes);
}
