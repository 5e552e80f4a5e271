/* CSV with a header, or with columns that --column names: see csv.h. The usual columns in their
 * usual form have a faster parser of their own. */
#include "ingest/can/read/attack_types.h"
#include "ingest/can/read/csv.h"
#include "ingest/can/read/formats.h"
#include "ingest/can/read/labels.h"

static bool lay_out(const leat_can_first_lines *of, const leat_can_line_options *options,
                    leat_can_layout *layout, int *first, char why[LEAT_CAN_WHY_BYTES]) {
    why[0] = 0;
    if (options->columns == NULL && leat_can_is_gvret_header(of->lines[0])) return false;
    return leat_can_read_header(of->lines, of->count, options, layout, first, why);
}

static leat_can_reject parse_plain(const leat_can_layout *layout,
                                   const leat_can_line_options *options, const char *at,
                                   const char *end, leat_can_line *line) {
    leat_text fields[LEAT_CAN_COLUMN_KINDS];
    for (int i = 0; i < layout->column_count; i++) {
        if (at == NULL || !take_field(&at, end, ',', &fields[layout->column[i]])) {
            return LEAT_CAN_REJECT_LINE;
        }
    }
    if (at != NULL) return LEAT_CAN_REJECT_LINE;
    if (!read_time(fields[LEAT_CAN_COLUMN_TIME], 0, &line->time)) return LEAT_CAN_REJECT_TIME;
    if (!leat_can_take_table_id(fields[LEAT_CAN_COLUMN_ID], false, options, line))
        return LEAT_CAN_REJECT_ID;
    note_padded(fields[LEAT_CAN_COLUMN_ID], line);
    line->bus = 0;
    line->attack = false;
    leat_text label = fields[LEAT_CAN_COLUMN_LABEL];
    bool labelled = layout->labelled && !leat_can_take_sparse(label, options, line);
    if (labelled && !leat_can_take_label(label, &line->attack)) {
        return leat_can_label_missing(label) ? LEAT_CAN_REJECT_NO_LABEL : LEAT_CAN_REJECT_LABEL;
    }
    if (labelled) line->marks |= leat_can_label_mark(label, line->attack);
    if (line->attack) line->type = leat_can_word_type(label, options->longer);
    return leat_can_take_run(fields[LEAT_CAN_COLUMN_PAYLOAD], false, options, line);
}

static leat_can_reject parse(const leat_can_layout *layout, const leat_can_line_options *options,
                             const char *at, const char *end, leat_can_line *line) {
    return (layout->table ? leat_can_parse_table : parse_plain)(layout, options, at, end, line);
}

/* The label of a csv, of several the first that is not known: columns after a payload of several
 * words are counted from the end. */
static leat_text find_label(const leat_can_layout *layout, const char *at, const char *end) {
    enum { CELLS_MAX = LEAT_CAN_COLUMNS_MAX + LEAT_CAN_FD_BYTES };
    leat_text cells[CELLS_MAX];
    char part = layout->part != 0 ? layout->part : ',';
    int count = leat_can_split_cells(at, end, part, cells, CELLS_MAX);
    int more = 0;
    leat_text first = text_between(at, end);
    bool found = false, attack = false;
    for (int i = 0; i < layout->column_count; i++) {
        if (layout->column[i] == LEAT_CAN_COLUMN_PAYLOAD && count > layout->column_count)
            more = count - layout->column_count;
        if (layout->column[i] != LEAT_CAN_COLUMN_LABEL || i + more >= count) continue;
        leat_text cell = cells[i + more];
        if (!found) first = cell;
        found = true;
        if (!leat_can_label_missing(cell) && !leat_can_take_label(cell, &attack)) return cell;
    }
    return first;
}

const leat_can_format_lines leat_can_csv = {.lay_out = lay_out,
                                            .parse = parse,
                                            .find_time = leat_can_find_table_time,
                                            .find_label = find_label};
