/*
 * How the cells of a csv are written, where no name says it: whether a DLC counts bits, whether
 * bytes in columns of their own are decimal, whether times are seconds. The first lines decide.
 */
#include "ingest/can/read/csv_header.h"

/* A DLC above 8, which few logs have in bytes. */
static bool has_long_dlc(const leat_can_header *head, const leat_can_layout *layout) {
    int column = leat_can_find_column(layout, LEAT_CAN_COLUMN_DLC);
    for (int i = head->named ? 1 : 0; i < head->line_count; i++) {
        leat_text cells[LEAT_CAN_COLUMNS_MAX];
        int count = leat_can_line_cells(head, i, cells);
        if (column >= count) continue;
        leat_text whole = {cells[column].data, 0};
        while (whole.size_bytes < cells[column].size_bytes && whole.data[whole.size_bytes] != '.')
            whole.size_bytes++;
        int dlc = 0;
        if (read_count(whole, 8 * LEAT_CAN_FD_BYTES, &dlc) && dlc > LEAT_CAN_BYTES) return true;
    }
    return false;
}

/* DAGA counts the bits of a payload. Bytes in columns have no length to compare with, so there one
 * invalid cell could make bits of bytes: they need a DLC that is too large for bytes. */
static void guess_dlc(const leat_can_header *head, leat_can_layout *layout) {
    if (layout->dlc_unit != LEAT_CAN_UNIT_NONE ||
        leat_can_find_column(layout, LEAT_CAN_COLUMN_DLC) < 0)
        return;
    layout->dlc_unit = LEAT_CAN_UNIT_BYTES;
    if (leat_can_find_column(layout, LEAT_CAN_COLUMN_BYTE) >= 0 && !has_long_dlc(head, layout))
        return;
    int bytes = leat_can_count_frames(head, layout);
    layout->dlc_unit = LEAT_CAN_UNIT_BITS;
    if (leat_can_count_frames(head, layout) <= bytes) layout->dlc_unit = LEAT_CAN_UNIT_BYTES;
}

/* What the cells of some columns look like. */
typedef struct digits {
    bool letters; /* A to F */
    bool long_;   /* more than two digits */
    bool padded;  /* two digits that begin with 0 */
    int pairs;    /* of two digits that do not */
} digits;

static void look_at(leat_text cell, digits *seen) {
    for (int i = 0; i < cell.size_bytes; i++) {
        char letter = (char)(cell.data[i] | 0x20);
        seen->letters = seen->letters || (letter >= 'a' && letter <= 'f');
    }
    seen->long_ = seen->long_ || (cell.size_bytes == 3 && digit_of(cell.data[0]) > 0);
    if (cell.size_bytes != 2) return;
    if (cell.data[0] == '0') seen->padded = true;
    else seen->pairs++;
}

static void look_at_column(const leat_can_header *head, const leat_can_layout *layout, int kind,
                           digits *seen) {
    for (int i = head->named ? 1 : 0; i < head->line_count; i++) {
        leat_text cells[LEAT_CAN_COLUMNS_MAX];
        int count = leat_can_line_cells(head, i, cells);
        for (int k = 0; k < count && k < layout->column_count; k++) {
            bool word =
                is_word_of_any_case(cells[k], "nan") || is_word_of_any_case(cells[k], "none");
            if (layout->column[k] != kind || word) continue;
            look_at(without_zeros(cells[k]), seen);
            bool wide = false, hex = false;
            leat_can_id_digits(cells[k], &wide, &hex);
            seen->letters = seen->letters || (kind == LEAT_CAN_COLUMN_ID && hex);
        }
    }
}

/* Bytes in columns of their own are decimal if one has three digits, or if many have two and none
 * is padded or has a letter. CICIoV2024, whose files are of one notation each, then has decimal
 * identifiers too; its bytes are decimal unless something says otherwise, because a file of small
 * bytes would have other identifiers than its neighbours. */
static void guess_bytes(const leat_can_header *head, leat_can_layout *layout) {
    enum { PAIRS_ENOUGH = 16 };
    digits bytes = {0}, ids = {0};
    if (layout->data_unit != LEAT_CAN_UNIT_NONE ||
        leat_can_find_column(layout, LEAT_CAN_COLUMN_BYTE) < 0)
        return;
    look_at_column(head, layout, LEAT_CAN_COLUMN_BYTE, &bytes);
    look_at_column(head, layout, LEAT_CAN_COLUMN_ID, &ids);
    bool known =
        layout->id_unit == LEAT_CAN_UNIT_NONE && leat_can_is_ciciov(head, true) && !ids.letters;
    bool decimal = !bytes.letters &&
                   (bytes.long_ || (!bytes.padded && (known || bytes.pairs >= PAIRS_ENOUGH)));
    layout->data_unit = decimal ? LEAT_CAN_UNIT_DEC : LEAT_CAN_UNIT_HEX;
    if (!known && !bytes.letters && !bytes.long_ && !bytes.padded)
        layout->doubts |= LEAT_CAN_DOUBT_BYTES;
    if (!decimal || ids.letters || layout->id_unit != LEAT_CAN_UNIT_NONE) return;
    if (leat_can_is_ciciov(head, false)) layout->id_unit = LEAT_CAN_UNIT_DEC;
    else layout->id_named_decimal = true;
}

static bool is_whole(leat_text time) {
    const char *at = time.data, *end = at + time.size_bytes;
    while (at < end && *at >= '0' && *at <= '9') at++;
    if (at < end && *at == '.') at++;
    while (at < end && *at == '0') at++;
    return time.size_bytes > 0 && at == end;
}

/* Times whose unit neither the header nor --column gives are seconds, except GVRET's. Whole numbers
 * are doubtful if they change from most frames to the next: a bus has more than one a second. */
static void guess_time(const leat_can_header *head, leat_can_layout *layout) {
    enum { FRAMES_ENOUGH = 8 };
    int column = leat_can_find_column(layout, LEAT_CAN_COLUMN_TIME), frames = 0, steps = 0;
    double last = 0;
    if (layout->time_unit != LEAT_CAN_UNIT_NONE || column < 0) return;
    for (int i = head->named ? 1 : 0; i < head->line_count; i++) {
        leat_text cells[LEAT_CAN_COLUMNS_MAX];
        double time = 0;
        int count = leat_can_line_cells(head, i, cells);
        if (column >= count || !read_time(cells[column], 0, &time)) continue;
        if (!is_whole(cells[column])) return;
        steps += frames > 0 && time != last;
        last = time;
        frames++;
    }
    if (leat_can_has_gvret_columns(head)) layout->time_unit = LEAT_CAN_UNIT_US;
    else if (frames >= FRAMES_ENOUGH && 2 * steps >= frames) layout->doubts |= LEAT_CAN_DOUBT_TIME;
}

/* Names of buses in the first lines; none if all are numbers, which stay what they are. */
static void note_buses(const leat_can_header *head, leat_can_layout *layout) {
    int column = leat_can_find_column(layout, LEAT_CAN_COLUMN_BUS), number = 0;
    bool named = false;
    layout->buses.count = 0;
    for (int i = head->named ? 1 : 0; column >= 0 && i < head->line_count; i++) {
        leat_text cells[LEAT_CAN_COLUMNS_MAX];
        int count = leat_can_line_cells(head, i, cells);
        if (column >= count) continue;
        leat_text cell = without_zeros(cells[column]);
        bool is_number = read_count(cell, UINT16_MAX, &number);
        named = named || (!is_number && cell.size_bytes > 0);
        leat_can_note_bus(&layout->buses, cell);
    }
    if (!named) layout->buses.count = 0;
}

void leat_can_note_units(const leat_can_header *head, leat_can_layout *layout) {
    note_buses(head, layout);
    guess_time(head, layout);
    guess_bytes(head, layout);
    guess_dlc(head, layout);
}

bool leat_can_may_be_decimal(const leat_can_header *head, int id) {
    leat_text first = {NULL, 0};
    bool differ = false;
    if (!leat_can_may_be_decimal_name(head->cells[id]) || leat_can_has_gvret_columns(head))
        return false;
    for (int i = 1; i < head->line_count; i++) {
        leat_text cells[LEAT_CAN_COLUMNS_MAX];
        int count = leat_can_line_cells(head, i, cells);
        if (id >= count) continue;
        if (first.data == NULL) first = cells[id];
        differ = differ || first.size_bytes != cells[id].size_bytes ||
                 memcmp(first.data, cells[id].data, (size_t)first.size_bytes) != 0;
    }
    return differ;
}
