/*
 * Payloads in one column that may be written in another notation than the hexadecimal one in which
 * they are read: bits, or decimal bytes. Only the first lines are looked at.
 */
#include <stdio.h>
#include <string.h>

#include "ingest/can/read/csv.h"

/* What the payloads have. */
typedef struct look {
    int payloads;  /* not empty */
    bool bits;     /* all are 0 and 1, in multiples of eight digits */
    bool long_;    /* one has more digits than eight bytes */
    int ones;      /* digits 1 */
    bool hex;      /* one has a letter, or another character than digits and separators */
    bool runs;     /* one has digits without separators */
    bool padded;   /* words: one has two digits that begin with 0 */
    int pairs;     /* words: of two digits that do not begin with 0 */
    int different; /* from the payload before */
    int full;      /* runs: pairs of digits without a 0 */
} look;

static void look_at_word(leat_text word, look *at) {
    if (word.size_bytes != 2) return;
    if (word.data[0] == '0') at->padded = true;
    else at->pairs++;
}

static void look_at_payload(leat_text cell, look *at) {
    int digits = 0, words = 0;
    const char *begin = NULL, *end = cell.data + cell.size_bytes;
    for (const char *text = cell.data; text <= end; text++) {
        bool digit = text < end && digit_of(*text) >= 0;
        if (digit) {
            if (begin == NULL) begin = text;
            at->hex = at->hex || digit_of(*text) > 9;
            at->bits = at->bits && digit_of(*text) < 2;
            at->ones += *text == '1';
            at->full += digits % 2 == 1 && *text != '0' && text[-1] != '0';
            digits++;
            continue;
        }
        if (begin != NULL) {
            words++;
            look_at_word(text_between(begin, text), at);
        }
        begin = NULL;
        bool separator = text == end || leat_is_blank(*text) || strchr("-:.,;[]", *text) != NULL;
        at->hex = at->hex || !separator;
    }
    at->payloads++;
    at->runs = at->runs || (words == 1 && digits > 2);
    at->bits = at->bits && words == 1 && digits % 8 == 0;
    at->long_ = at->long_ || digits > 2 * LEAT_CAN_BYTES;
}

static look look_at_lines(const leat_text *lines, int count, int first,
                          const leat_can_layout *layout, int column) {
    look at = {.bits = true};
    leat_text before = {NULL, 0};
    for (int i = first; i < count; i++) {
        leat_text cells[LEAT_CAN_COLUMNS_MAX], cell;
        int found = leat_can_split_cells(lines[i].data, lines[i].data + lines[i].size_bytes,
                                         layout->part, cells, LEAT_CAN_COLUMNS_MAX);
        if (found != layout->column_count) continue;
        cell = cells[column];
        if (cell.size_bytes == 0 || is_word_of_any_case(cell, "nan")) continue;
        look_at_payload(cell, &at);
        at.different +=
            before.data != NULL && (before.size_bytes != cell.size_bytes ||
                                    memcmp(before.data, cell.data, (size_t)cell.size_bytes) != 0);
        before = cell;
    }
    return at;
}

bool leat_can_doubt_payloads(const leat_text *lines, int count, const leat_text *names,
                             leat_can_layout *layout, char why[LEAT_CAN_WHY_BYTES]) {
    enum { PAYLOADS_ENOUGH = 8, PAIRS_ENOUGH = 16, FULL_ENOUGH = 256 };
    int column = -1;
    bool dlc = false;
    for (int i = 0; i < layout->column_count; i++) {
        if (layout->column[i] == LEAT_CAN_COLUMN_PAYLOAD) column = i;
        dlc = dlc || layout->column[i] == LEAT_CAN_COLUMN_DLC;
    }
    if (column < 0 || layout->data_unit != LEAT_CAN_UNIT_NONE) return true;
    look at = look_at_lines(lines, count, names != NULL ? 1 : 0, layout, column);
    if (at.hex || at.payloads < PAYLOADS_ENOUGH) return true;
    if (at.bits && at.ones > 0 && at.long_) {
        char name[48];
        if (names != NULL)
            leat_text_show(name, sizeof name, names[column].data, names[column].size_bytes);
        if (names == NULL || strpbrk(name, " \t'\"\\`$&|;<>()[]{}*?!#~:,") != NULL)
            snprintf(name, sizeof name, "%d", column + 1);
        snprintf(why, LEAT_CAN_WHY_BYTES,
                 "its payloads consist of 0 and 1 only; use --column data=%s:bits, or data=%s:hex "
                 "if they are hexadecimal",
                 name, name);
        return false;
    }
    bool differ = 4 * at.different > at.payloads;
    if (at.bits && at.ones > at.payloads && differ && !dlc) layout->doubts |= LEAT_CAN_DOUBT_BITS;
    else if (!at.runs && !at.padded && at.pairs >= PAIRS_ENOUGH)
        layout->doubts |= LEAT_CAN_DOUBT_BYTES;
    else if (at.runs && at.full >= FULL_ENOUGH && differ && !dlc)
        layout->doubts |= LEAT_CAN_DOUBT_DIGITS;
    return true;
}
