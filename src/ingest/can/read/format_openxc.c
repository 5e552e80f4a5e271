/*
 * OpenXC: traces of JSON objects, one a line. A raw CAN message is a frame; a message that the
 * vehicle interface has translated, a diagnostic one, or the metadata of the trace is not.
 *
 *   {"timestamp": 1700000000.002248, "bus": 1, "id": 642, "data": "0x50000000987fff00"}
 *   {"timestamp": 1700000000.002250, "name": "vehicle_speed", "value": 45.0}
 */
#include "base/json_scan.h"
#include "ingest/can/read/fields.h"
#include "ingest/can/read/formats.h"

/* The members that are read, by number. */
enum { TIME, BUS, IDENTIFIER, DATA, FRAME_FORMAT, NAMES };
static const char *const names[NAMES] = {"timestamp", "bus", "id", "data", "frame_format"};

static bool scan(const char *at, const char *end, leat_json_fields *fields) {
    leat_json_names wanted = {0};
    for (int i = 0; i < NAMES; i++) leat_json_names_add(&wanted, names[i]);
    return leat_json_scan(at, end - at, &wanted, fields);
}

static leat_text text_in(const leat_json_slice *value) {
    return (leat_text){value->text, value->size_bytes};
}

/* Seconds since 1970. */
static bool take_time(const leat_json_fields *fields, double *time) {
    const leat_json_slice *value = leat_json_field(fields, TIME);
    bool number = value->kind == LEAT_JSON_INTEGER || value->kind == LEAT_JSON_REAL;
    return number && read_time(text_in(value), 0, time);
}

static bool is_raw(const leat_json_fields *fields) {
    return leat_json_field(fields, DATA)->kind != LEAT_JSON_MISSING;
}

/* Other JSON is not a trace, and a trace without raw messages has no frames. */
static bool lay_out(const leat_can_first_lines *of, const leat_can_line_options *options,
                    leat_can_layout *layout, int *first, char why[LEAT_CAN_WHY_BYTES]) {
    (void)options;
    (void)layout;
    (void)first;
    (void)why;
    for (int i = 0; i < of->count; i++) {
        leat_json_fields fields;
        leat_text line = of->lines[i];
        if (scan(line.data, line.data + line.size_bytes, &fields) && is_raw(&fields) &&
            leat_json_field(&fields, IDENTIFIER)->kind == LEAT_JSON_INTEGER)
            return true;
    }
    return false;
}

static leat_can_reject parse(const leat_can_layout *layout, const leat_can_line_options *options,
                             const char *at, const char *end, leat_can_line *line) {
    (void)layout;
    leat_json_fields fields;
    int64_t id = 0, bus = 0;
    line->attack = false;
    if (!scan(at, end, &fields) || fields.repeated != 0) return LEAT_CAN_REJECT_LINE;
    if (!is_raw(&fields)) return LEAT_CAN_REJECT_EVENT;
    if (!take_time(&fields, &line->time)) return LEAT_CAN_REJECT_TIME;
    const leat_json_slice *format = leat_json_field(&fields, FRAME_FORMAT);
    bool wide = leat_json_is_text(format, "extended");
    if (!wide && format->kind != LEAT_JSON_MISSING && !leat_json_is_text(format, "standard"))
        return LEAT_CAN_REJECT_LINE;
    if (!leat_json_read_int(leat_json_field(&fields, IDENTIFIER), &id) || id < 0 ||
        id > LEAT_CAN_ID_29_MAX || !leat_can_put_id((uint32_t)id, wide, line))
        return LEAT_CAN_REJECT_ID;
    const leat_json_slice *number = leat_json_field(&fields, BUS);
    if (number->kind != LEAT_JSON_MISSING &&
        (!leat_json_read_int(number, &bus) || bus < 0 || bus > UINT16_MAX))
        return LEAT_CAN_REJECT_BUS;
    line->bus = (uint16_t)bus;
    const leat_json_slice *data = leat_json_field(&fields, DATA);
    if (data->kind != LEAT_JSON_STRING) return LEAT_CAN_REJECT_PAYLOAD;
    leat_text run = text_in(data);
    if (run.size_bytes >= 2 && run.data[0] == '0' && (run.data[1] | 0x20) == 'x')
        run = (leat_text){run.data + 2, run.size_bytes - 2};
    return leat_can_take_run(run, false, options, line);
}

static bool find_time(const leat_can_layout *layout, const char *at, const char *end,
                      double *time) {
    (void)layout;
    leat_json_fields fields;
    return scan(at, end, &fields) && take_time(&fields, time);
}

const leat_can_format_lines leat_can_openxc = {
    .lay_out = lay_out, .parse = parse, .find_time = find_time};
