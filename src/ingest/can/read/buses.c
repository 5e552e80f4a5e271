/* Names of buses, numbered in the order in which they appear: see leat_can_buses. */
#include "ingest/can/read/fields.h"

/* How many digits a name ends with, up to `most`. */
static int count_digits(leat_text name, int most) {
    int digits = 0;
    while (digits < name.size_bytes && digits < most) {
        char letter = name.data[name.size_bytes - 1 - digits];
        if (letter < '0' || letter > '9') break;
        digits++;
    }
    return digits;
}

static bool is_taken(const leat_can_buses *buses, int number) {
    for (int32_t i = 0; i < buses->count; i++) {
        if (buses->names[i].number == number) return true;
    }
    return false;
}

/* The number that the last digits of a name form. */
static bool read_last(leat_text name, int *number) {
    int digits = count_digits(name, 5);
    leat_text last = {name.data + name.size_bytes - digits, digits};
    return read_count(last, UINT16_MAX, number);
}

void leat_can_note_bus(leat_can_buses *buses, leat_text name) {
    uint16_t known = 0;
    int number = 0;
    if (name.size_bytes < 1 || name.size_bytes > LEAT_CAN_BUS_NAME_MAX) return;
    if (buses->count == LEAT_CAN_BUSES_MAX || find_bus(buses, name, &known)) return;
    if (!read_last(name, &number) || is_taken(buses, number)) {
        for (number = 0; is_taken(buses, number); number++) continue;
    }
    memcpy(buses->names[buses->count].text, name.data, (size_t)name.size_bytes);
    buses->names[buses->count].size_bytes = (uint8_t)name.size_bytes;
    buses->names[buses->count++].number = (uint16_t)number;
}

bool leat_can_take_bus(const leat_can_buses *buses, leat_text cell, uint16_t *bus) {
    int number = 0;
    *bus = 0;
    if (cell.data == NULL || find_bus(buses, cell, bus)) return true;
    int digits = count_digits(cell, cell.size_bytes), letters = cell.size_bytes - digits;
    if (!read_last(cell, &number) || digits > 5) return false;
    *bus = (uint16_t)number;
    if (buses->count == 0) return letters == 0;
    leat_text first = {buses->names[0].text, buses->names[0].size_bytes};
    bool same = first.size_bytes - count_digits(first, first.size_bytes) == letters &&
                memcmp(first.data, cell.data, (size_t)letters) == 0;
    return same && (digits == 1 || cell.data[letters] != '0') && !is_taken(buses, number);
}
