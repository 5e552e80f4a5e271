/*
 * A line of a csv with any columns: cells are split and trimmed, then each column is read in the
 * notation that the header or --column gives it. The payload's length must agree with the DLC, if
 * there is one: a payload in another notation than the expected one is then not taken for bytes.
 */
#include "base/base64.h"
#include "ingest/can/read/attack_types.h"
#include "ingest/can/read/column_option.h"
#include "ingest/can/read/csv.h"
#include "ingest/can/read/known_logs.h"
#include "ingest/can/read/labels.h"

/* A payload of words separated by blanks may add cells. */
enum { CELLS_MAX = LEAT_CAN_COLUMNS_MAX + LEAT_CAN_FD_BYTES };

int leat_can_split_cells(const char *at, const char *end, char part, leat_text *cells, int most) {
    int count = 0;
    while (at != NULL) {
        leat_text cell;
        if (part == ' ') {
            cell = next_word(&at, end);
            if (cell.size_bytes == 0) return count;
        } else if (!take_field(&at, end, part, &cell)) {
            return -1;
        }
        if (count == most) return -1;
        cells[count++] = part == ' ' ? cell : leat_text_trim(cell);
    }
    return count;
}

/* The cells of one frame by the meaning of their columns. */
typedef struct row {
    leat_text cell[LEAT_CAN_COLUMN_KINDS]; /* data NULL: no such column */
    leat_text bytes[LEAT_CAN_COLUMNS_MAX];
    int byte_count;
    struct {
        leat_text cell;
        int column;
    } labels[LEAT_CAN_LABEL_COLUMNS_MAX];
    int label_count;
    int attack_column; /* of the first label that says that the frame is an attack */
    bool cut;          /* it ends before the label */
    bool quoted;       /* the payload has quotes around it */
} row;

static void add_label(row *out, leat_text cell, int column) {
    out->labels[out->label_count].cell = cell;
    out->labels[out->label_count++].column = column;
}

/* With blanks between cells, a payload takes the cells that are too many. A label that
 * may be in the cell of a byte may be missing, with all that is behind it. */
static bool read_row(const leat_can_layout *layout, const char *at, const char *end, row *out) {
    leat_text cells[CELLS_MAX];
    int count = leat_can_split_cells(at, end, layout->part, cells, CELLS_MAX);
    int more = count - layout->column_count, next = 0;
    if (count < 0 || (more > 0 && layout->part != ' ')) return false;
    memset(out->cell, 0, sizeof out->cell);
    out->byte_count = out->label_count = 0;
    out->cut = out->quoted = false;
    for (int i = 0; i < layout->column_count; i++) {
        int column = layout->column[i];
        if (next == count) { /* short frames may end before the last bytes */
            if (layout->may_shift && column == LEAT_CAN_COLUMN_LABEL) {
                add_label(out, (leat_text){end, 0}, i);
                out->cut = true;
                continue;
            }
            if (column != LEAT_CAN_COLUMN_BYTE) return false;
            out->bytes[layout->byte[i]] = (leat_text){end, 0};
            out->byte_count++;
            continue;
        }
        leat_text cell = cells[next++];
        if (column == LEAT_CAN_COLUMN_BYTE) {
            out->bytes[layout->byte[i]] = cell;
            out->byte_count++;
            continue;
        }
        if (column == LEAT_CAN_COLUMN_PAYLOAD) out->quoted = cell.data > at && cell.data[-1] == '"';
        if (column == LEAT_CAN_COLUMN_PAYLOAD && more > 0) {
            next += more;
            cell = text_between(cell.data, cells[next - 1].data + cells[next - 1].size_bytes);
        }
        if (column == LEAT_CAN_COLUMN_LABEL) add_label(out, cell, i);
        else out->cell[column] = cell;
    }
    return next == count;
}

/* ---- payloads ---- */

/* Bytes and how many there are, before they are checked against the DLC. */
typedef struct payload {
    int16_t bytes[LEAT_CAN_FD_BYTES];
    int count;
    bool good; /* all of it was read */
} payload;

static bool add_byte(payload *out, int value) {
    if (out->count == LEAT_CAN_FD_BYTES) return false;
    out->bytes[out->count++] = (int16_t)value;
    return true;
}

/* One byte, in hex also as 0x1F, in decimal also as 31.0. */
static bool read_byte(leat_text text, leat_can_unit unit, bool strict, int16_t *byte) {
    int value = 0;
    *byte = 0;
    if (unit == LEAT_CAN_UNIT_DEC) {
        text = without_zeros(text);
        if (text.size_bytes > 3 || !read_count(text, 255, &value)) return false;
        *byte = (int16_t)value;
        return true;
    }
    if (text.size_bytes > 2 && text.data[0] == '0' && (text.data[1] | 0x20) == 'x')
        text = (leat_text){text.data + 2, text.size_bytes - 2};
    return leat_can_take_byte(text, strict, byte);
}

static inline bool is_separator(char letter) {
    return leat_is_blank(letter) || (letter != 0 && strchr("-:.,;[]", letter) != NULL);
}

/* Whether points belong to decimal numbers, as in [43.0, 160.0], because they are separated. */
static bool has_floats(leat_text data) {
    for (int i = 0; i < data.size_bytes; i++) {
        if (leat_is_blank(data.data[i]) || memchr("-:,;", data.data[i], 4) != NULL) return true;
    }
    return false;
}

/* A sign and not a separator: "[-54, 24]", as Java shows signed bytes, which are decimal whatever
 * the column's unit is. 10-20-30 has none. */
static bool has_sign(leat_text data) {
    for (int i = 0; i + 1 < data.size_bytes; i++) {
        const bool alone = i == 0 || is_separator(data.data[i - 1]);
        if (data.data[i] == '-' && alone && digit_of(data.data[i + 1]) >= 0) return true;
    }
    return false;
}

static void read_words(leat_text data, leat_can_unit unit, bool strict, payload *out) {
    const char *at = data.data, *end = at + data.size_bytes;
    if (strict && has_sign(data)) out->good = false;
    const char kept = unit == LEAT_CAN_UNIT_DEC && has_floats(data) ? '.' : 0;
    for (;;) {
        while (at < end && is_separator(*at)) at++;
        if (at == end) return;
        const char *begin = at;
        while (at < end && (!is_separator(*at) || *at == kept)) at++;
        int16_t byte = 0;
        out->good = read_byte(text_between(begin, at), unit, strict, &byte) && out->good;
        if (!add_byte(out, byte)) {
            out->good = false;
            return;
        }
    }
}

static void read_bits(leat_text data, payload *out) {
    int value = 0, bits = 0;
    for (int i = 0; i < data.size_bytes; i++) {
        char letter = data.data[i];
        if (is_separator(letter)) continue;
        out->good = out->good && (letter == '0' || letter == '1');
        value = value << 1 | (letter == '1');
        if (++bits % 8 != 0) continue;
        out->good = out->good && add_byte(out, value);
        value = 0;
    }
    out->good = out->good && bits % 8 == 0;
}

static void read_base64(leat_text data, payload *out) {
    int padding = 0, size = data.size_bytes;
    while (padding < 2 && padding < size && data.data[size - 1 - padding] == '=') padding++;
    out->good = size % 4 == 0;
    for (int i = 0; out->good && i < size; i += 4) {
        unsigned group = 0;
        int kept = i + 4 == size ? 3 - padding : 3;
        for (int k = 0; k < 4; k++) {
            int digit = k <= kept ? leat_base64_digit(data.data[i + k], LEAT_BASE64_PADDED) : 0;
            out->good = out->good && digit >= 0;
            group = group << 6 | (unsigned)(digit & 63);
        }
        for (int k = 0; k < kept; k++)
            out->good = out->good && add_byte(out, (int)(group >> (16 - 8 * k) & 255));
    }
}

/* A byte as Python shows it: a printable character, or \x1f, \t, ... */
static bool read_python_byte(const char **at, const char *end, bool quoted, payload *out) {
    static const char names[] = "tnr\\'", values[] = "\t\n\r\\'";
    const char first = *(*at)++;
    if (first == '"' && quoted && (*at == end || *(*at)++ != '"')) return false;
    if (first < ' ' || first > '~') return false;
    if (first != '\\') return add_byte(out, first);
    if (*at == end) return false;
    const char name = *(*at)++;
    const char *known = name != 0 ? strchr(names, name) : NULL;
    if (known != NULL) return add_byte(out, values[known - names]);
    if (name != 'x' || end - *at < 2) return false;
    const int value = pair_of(*at);
    *at += 2;
    return value >= 0 && add_byte(out, value);
}

/* The bytes of bytearray(b'...'), as Python shows them. In a cell with quotes, those inside are
 * doubled. Without the word, b'0a1b' may be hexadecimal digits. */
static bool read_python(leat_text data, bool quoted, payload *out) {
    static const char word[] = "bytearray(";
    const char *at = data.data, *end = at + data.size_bytes;
    const int more = (int)sizeof word - 1;
    if (data.size_bytes <= more || memcmp(at, word, (size_t)more) != 0 || *--end != ')')
        return false;
    at += more;
    if (end - at < 3 || at[0] != 'b' || (at[1] != '\'' && at[1] != '"')) return false;
    const int quotes = quoted && at[1] == '"' ? 2 : 1; /* b""..."" */
    at += 1 + quotes;
    end -= quotes;
    if (end < at || memcmp(end, at - quotes, (size_t)quotes) != 0) return false;
    while (at < end && out->good) out->good = read_python_byte(&at, end, quoted, out);
    return true;
}

/* Takes these texts off both ends, if they are there. */
static bool take_ends(leat_text *data, const char *before, const char *after) {
    const int first = (int)strlen(before), last = (int)strlen(after);
    const int size = data->size_bytes - first - last;
    if (size < 0 || memcmp(data->data, before, (size_t)first) != 0 ||
        memcmp(data->data + first + size, after, (size_t)last) != 0)
        return false;
    *data = (leat_text){data->data + first, size};
    return true;
}

/* The bytes of bytearray([1, 2]), bytes([1, 2]) and array('B', [1, 2]), which are decimal. */
static bool read_python_list(leat_text data, payload *out) {
    if (take_ends(&data, "array('B')", "") && data.size_bytes == 0) return true;
    if (!take_ends(&data, "bytearray([", "])") && !take_ends(&data, "bytes([", "])") &&
        !take_ends(&data, "array('B', [", "])"))
        return false;
    for (int i = 0; i < data.size_bytes; i++)
        out->good = out->good && data.data[i] != 0 && strchr("0123456789, ", data.data[i]) != NULL;
    read_words(data, LEAT_CAN_UNIT_DEC, true, out);
    return true;
}

static bool has_separator(leat_text data, bool strict) {
    for (int i = 0; i < data.size_bytes; i++) {
        if (strict ? is_separator(data.data[i]) : leat_is_blank(data.data[i])) return true;
    }
    return false;
}

static bool is_nothing(leat_text cell) {
    return cell.size_bytes == 0 || is_listed_word(cell, leat_can_nothing_words);
}

/* A mark of a frame: extended, remote, error. False: a word of unknown meaning. */
bool leat_can_take_mark(leat_text cell, bool *set) {
    *set = false;
    if (cell.data == NULL || is_nothing(cell)) return true;
    if (is_listed_word(cell, leat_can_zero_words) || is_listed_word(cell, leat_can_no_words))
        return true;
    *set = is_listed_word(cell, leat_can_one_words) || is_listed_word(cell, leat_can_yes_words);
    return *set;
}

/* What may follow the last byte of a frame: an empty cell, or a zero. */
static bool is_padding(leat_text cell) {
    if (is_nothing(cell)) return true;
    for (int i = 0; i < cell.size_bytes; i++) {
        bool prefix = i == 1 && (cell.data[i] | 0x20) == 'x' && cell.size_bytes > 2;
        if (cell.data[i] != '0' && !prefix) return false;
    }
    return true;
}

/* Bytes in columns of their own: the first `count`, or with -1 those before the first empty cell.
 * A byte after them is never dropped. */
static leat_can_reject read_columns(const leat_can_layout *layout, const row *in, int count,
                                    bool strict, payload *out) {
    int filled = 0;
    while (filled < in->byte_count && !is_nothing(in->bytes[filled])) filled++;
    for (int i = filled; count < 0 && i < in->byte_count; i++) {
        if (!is_nothing(in->bytes[i])) return LEAT_CAN_REJECT_LINE;
    }
    if (count > LEAT_CAN_BYTES && leat_can_fd_length(count) <= filled)
        count = leat_can_fd_length(count);
    if (count > filled) return LEAT_CAN_REJECT_LINE;
    if (count < 0) count = filled;
    for (int i = count; i < in->byte_count; i++) {
        if (!is_padding(in->bytes[i])) return LEAT_CAN_REJECT_LINE;
    }
    for (int i = 0; i < count; i++) {
        int16_t byte = 0;
        out->good = read_byte(in->bytes[i], layout->data_unit, strict, &byte) && out->good;
        if (!add_byte(out, byte)) return LEAT_CAN_REJECT_LINE;
    }
    return LEAT_CAN_TAKEN;
}

/* A payload in one cell. True: *reason is final, for a run of hex digits in line->bytes. */
static bool read_cell(const leat_can_layout *layout, const leat_can_line_options *options,
                      const row *in, leat_can_line *line, payload *out, leat_can_reject *reason) {
    leat_text data = in->cell[LEAT_CAN_COLUMN_PAYLOAD];
    if (options->strict && read_python_list(data, out)) return false;
    switch (layout->data_unit) {
    case LEAT_CAN_UNIT_DEC:
        take_ends(&data, "(", ")"); /* a tuple of Python's */
        read_words(data, LEAT_CAN_UNIT_DEC, true, out);
        return false;
    case LEAT_CAN_UNIT_BITS: read_bits(data, out); return false;
    case LEAT_CAN_UNIT_BASE64: read_base64(data, out); return false;
    default: break;
    }
    if (options->strict && read_python(data, in->quoted, out)) return false;
    if (layout->padded || has_separator(data, options->strict)) {
        read_words(data, LEAT_CAN_UNIT_HEX, options->strict, out);
        return false;
    }
    if (data.size_bytes >= 2 && data.data[0] == '0' && (data.data[1] | 0x20) == 'x')
        data = (leat_text){data.data + 2, data.size_bytes - 2};
    *reason = leat_can_take_run(data, false, options, line);
    out->count = (data.size_bytes + 1) / 2;
    return true;
}

/* The number of bytes that the DLC gives; -1: there is no such column. */
static bool read_dlc(const leat_can_layout *layout, const row *in, int *dlc) {
    leat_text cell = in->cell[LEAT_CAN_COLUMN_DLC];
    *dlc = -1;
    if (cell.data == NULL) return true;
    cell = without_zeros(cell);
    bool bits = layout->dlc_unit == LEAT_CAN_UNIT_BITS;
    if (!read_count(cell, bits ? 8 * LEAT_CAN_FD_BYTES : LEAT_CAN_FD_BYTES, dlc)) return false;
    if (!bits) return true;
    bool whole = *dlc % 8 == 0;
    *dlc /= 8;
    return whole;
}

/* Zeros after the bytes that the DLC counts; other bytes there are not dropped. */
static void drop_padding(int dlc, payload *found) {
    for (int i = dlc; i >= 0 && i < found->count; i++) {
        if (found->bytes[i] != 0) return;
    }
    if (dlc >= 0 && dlc < found->count) found->count = dlc;
}

static leat_can_reject take_payload(const leat_can_layout *layout,
                                    const leat_can_line_options *options, const row *in,
                                    leat_can_line *line) {
    payload found = {.good = true};
    leat_can_reject reason = LEAT_CAN_TAKEN;
    int dlc = -1;
    bool done = false;
    memset(line->bytes, 0, sizeof line->bytes);
    if (!read_dlc(layout, in, &dlc)) return LEAT_CAN_REJECT_LINE;
    leat_text data = in->cell[LEAT_CAN_COLUMN_PAYLOAD];
    if (data.data == NULL) {
        reason = read_columns(layout, in, dlc, options->strict, &found);
        if (reason == LEAT_CAN_REJECT_LINE) return reason;
    } else {
        done = read_cell(layout, options, in, line, &found, &reason);
        if (layout->padded) drop_padding(dlc, &found);
        if (dlc >= 0 && reason == LEAT_CAN_TAKEN && found.good && found.count != dlc &&
            found.count != leat_can_fd_length(dlc))
            return LEAT_CAN_REJECT_LINE;
    }
    if (done) return reason;
    bool loose = !options->strict && layout->data_unit != LEAT_CAN_UNIT_BASE64;
    if (!found.good && !loose) return LEAT_CAN_REJECT_PAYLOAD;
    int used = found.count < LEAT_CAN_BYTES ? found.count : LEAT_CAN_BYTES;
    memcpy(line->bytes, found.bytes, (size_t)used * sizeof *found.bytes);
    line->size_bytes = (uint8_t)found.count;
    if (found.count > LEAT_CAN_BYTES) line->marks |= LEAT_CAN_MARK_CUT;
    return found.count > LEAT_CAN_BYTES && options->fd_refuse ? LEAT_CAN_REJECT_FD : LEAT_CAN_TAKEN;
}

/* ---- the other columns ---- */

static bool take_time(const leat_can_layout *layout, leat_text cell, double *time) {
    *time = 0;
    if (layout->no_time) return true;
    int shift = layout->time_unit == LEAT_CAN_UNIT_MS   ? -3
                : layout->time_unit == LEAT_CAN_UNIT_US ? -6
                : layout->time_unit == LEAT_CAN_UNIT_NS ? -9
                                                        : 0;
    return read_time(cell, shift, time);
}

bool leat_can_find_table_time(const leat_can_layout *layout, const char *at, const char *end,
                              double *time) {
    leat_text cells[CELLS_MAX] = {{NULL, 0}}; /* those before invalid quotes are filled */
    int count = leat_can_split_cells(at, end, layout->part, cells, CELLS_MAX), column = 0, more = 0;
    while (column < layout->column_count && layout->column[column] != LEAT_CAN_COLUMN_TIME) {
        bool payload = layout->column[column++] == LEAT_CAN_COLUMN_PAYLOAD;
        if (payload && layout->part == ' ' && count > layout->column_count)
            more = count - layout->column_count;
    }
    if (column == layout->column_count || cells[column + more].data == NULL) return false;
    return take_time(layout, cells[column + more], time);
}

static bool take_id(const leat_can_layout *layout, const row *in,
                    const leat_can_line_options *options, bool extended, leat_can_line *line) {
    leat_text cell = in->cell[LEAT_CAN_COLUMN_ID];
    if (layout->id_unit != LEAT_CAN_UNIT_DEC || !options->canonical)
        return leat_can_take_table_id(cell, extended, options, line);
    uint32_t value = 0;
    const bool wide = cell.size_bytes > 1 && (cell.data[cell.size_bytes - 1] | 0x20) == 'x';
    cell.size_bytes -= wide;
    return read_decimal(without_zeros(cell), 9, LEAT_CAN_ID_29_MAX, &value) &&
           leat_can_put_id(value, extended || wide, line);
}

/* ---- labels that are shifted ---- */

bool leat_can_labels_may_shift(const leat_can_layout *layout) {
    bool dlc = false, behind = false;
    int labels = 0;
    for (int i = 0; i < layout->column_count; i++) {
        labels += layout->column[i] == LEAT_CAN_COLUMN_LABEL;
        dlc = dlc || layout->column[i] == LEAT_CAN_COLUMN_DLC;
        behind = behind || (i > 0 && layout->column[i] == LEAT_CAN_COLUMN_LABEL &&
                            layout->column[i - 1] == LEAT_CAN_COLUMN_BYTE);
    }
    return dlc && behind && labels == 1;
}

/* HCRL's rows end with the last byte of the frame and the label. In tables made of them (by pandas,
 * or by a header above them) the label of a short frame is in the cell of a byte: the DLC says in
 * which. Only a word that no byte can be counts, and only empty cells may follow. */
static void shift_label(const leat_can_layout *layout, row *in) {
    int dlc = 0;
    bool attack = false;
    leat_text *label = &in->labels[0].cell;
    if (!leat_can_label_missing(*label)) return;
    if (!read_dlc(layout, in, &dlc) || dlc < 0 || dlc >= in->byte_count) return;
    const leat_text cell = in->bytes[dlc];
    if (are_digits(cell.data, cell.size_bytes) || !leat_can_label_word(cell, &attack)) return;
    for (int i = dlc + 1; i < in->byte_count; i++) {
        if (!is_nothing(in->bytes[i])) return;
    }
    *label = cell;
    in->bytes[dlc].size_bytes = 0;
    in->cut = false;
}

/* ---- labels ---- */

/* Of an attack: by the column of --column attack, or else by its label, or the label's name. */
static uint8_t type_of(const leat_can_layout *layout, const leat_can_line_options *options,
                       const row *in) {
    leat_text named = in->cell[LEAT_CAN_COLUMN_ATTACK];
    uint8_t type = LEAT_CAN_TYPE_BY_FILE;
    if (named.data != NULL) type = leat_can_word_type(named, options->longer);
    if (type == LEAT_CAN_TYPE_BY_FILE)
        type = leat_can_word_type(in->cell[LEAT_CAN_COLUMN_LABEL], options->longer);
    return type == LEAT_CAN_TYPE_BY_FILE ? layout->label_type[in->attack_column] : type;
}

static bool is_inverted(const leat_can_layout *layout, int column) {
    return (layout->label_inverted[column / 64] >> column % 64 & 1) != 0;
}

/* A frame is an attack if one of its labels says so; else all of them have to say that it is none.
 */
static leat_can_reject take_labels(const leat_can_layout *layout,
                                   const leat_can_line_options *options, row *in,
                                   leat_can_line *line) {
    bool missing = false;
    line->attack = false;
    for (int i = 0; i < in->label_count; i++) {
        leat_text cell = in->labels[i].cell;
        bool attack = false, inverted = is_inverted(layout, in->labels[i].column);
        missing = missing || leat_can_label_missing(cell);
        if (leat_can_label_missing(cell)) continue;
        if (!(inverted ? leat_can_take_inverted : leat_can_take_label)(cell, &attack))
            return LEAT_CAN_REJECT_LABEL;
        if (!inverted) line->marks |= leat_can_label_mark(cell, attack);
        if (attack && !line->attack) {
            in->cell[LEAT_CAN_COLUMN_LABEL] = cell;
            in->attack_column = in->labels[i].column;
        }
        line->attack = line->attack || attack;
    }
    if (!missing || line->attack) return LEAT_CAN_TAKEN;
    return leat_can_take_sparse((leat_text){"", 0}, options, line) ? LEAT_CAN_TAKEN
                                                                   : LEAT_CAN_REJECT_NO_LABEL;
}

leat_can_reject leat_can_parse_table(const leat_can_layout *layout,
                                     const leat_can_line_options *options, const char *at,
                                     const char *end, leat_can_line *line) {
    row in;
    bool extended = false, remote = false, error = false;
    line->marks = 0;
    if (!read_row(layout, at, end, &in)) return LEAT_CAN_REJECT_LINE;
    if (layout->may_shift) shift_label(layout, &in);
    if (in.cut) return LEAT_CAN_REJECT_LINE;
    if (!leat_can_take_mark(in.cell[LEAT_CAN_COLUMN_EXTENDED], &extended) ||
        !leat_can_take_mark(in.cell[LEAT_CAN_COLUMN_REMOTE], &remote) ||
        !leat_can_take_mark(in.cell[LEAT_CAN_COLUMN_ERROR], &error))
        return LEAT_CAN_REJECT_LINE;
    if (!take_time(layout, in.cell[LEAT_CAN_COLUMN_TIME], &line->time)) return LEAT_CAN_REJECT_TIME;
    if (error) return LEAT_CAN_REJECT_ERROR;
    if (!take_id(layout, &in, options, extended, line)) return LEAT_CAN_REJECT_ID;
    note_padded(in.cell[LEAT_CAN_COLUMN_ID], line);
    leat_can_reject labels = take_labels(layout, options, &in, line);
    if (labels != LEAT_CAN_TAKEN) return labels;
    line->type = line->attack ? type_of(layout, options, &in) : LEAT_CAN_TYPE_BY_FILE;
    if (!leat_can_take_bus(&layout->buses, without_zeros(in.cell[LEAT_CAN_COLUMN_BUS]), &line->bus))
        return LEAT_CAN_REJECT_BUS;
    if (remote) return LEAT_CAN_REJECT_REMOTE;
    return take_payload(layout, options, &in, line);
}
