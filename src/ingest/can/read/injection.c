/* Injected frames: see injection.h. */
#include "ingest/can/read/injection.h"

#include "ingest/can/read/fields.h"

static bool is_any(char letter) { return (letter | 0x20) == 'x'; }

static leat_text without_prefix(leat_text text) {
    bool prefixed = text.size_bytes > 2 && text.data[0] == '0' && is_any(text.data[1]);
    return prefixed ? (leat_text){text.data + 2, text.size_bytes - 2} : text;
}

bool leat_can_injection_id(leat_text text, leat_can_injection *injection) {
    int any = 0;
    while (any < text.size_bytes && is_any(text.data[any])) any++;
    injection->any_id = any > 0 && any == text.size_bytes;
    if (injection->any_id) return true;
    text = without_prefix(text);
    if (!read_hex(text, &injection->id) || injection->id > LEAT_CAN_ID_29_MAX) return false;
    injection->wide = text.size_bytes == 8 || injection->id > LEAT_CAN_ID_11_MAX;
    return true;
}

bool leat_can_injection_data(leat_text text, leat_can_injection *injection) {
    const int size = text.size_bytes;
    if (size < 2 || size > 2 * LEAT_CAN_BYTES || size % 2 != 0) return false;
    for (int i = 0; i < size; i++) {
        int digit = digit_of(text.data[i]);
        if (digit < 0 && !is_any(text.data[i])) return false;
        injection->digits[i] = (int8_t)digit;
    }
    injection->digit_count = size;
    return true;
}

static bool has_id(const leat_can_injection *injection, const leat_can_line *line) {
    uint32_t value = 0;
    leat_text text = {line->id, (int32_t)strnlen(line->id, sizeof line->id)};
    text = without_prefix(text);
    return read_hex(text, &value) && value == injection->id &&
           (text.size_bytes == 8 || value > LEAT_CAN_ID_11_MAX) == injection->wide;
}

static bool has_data(const leat_can_injection *injection, const leat_can_line *line) {
    if (2 * line->size_bytes != injection->digit_count) return false;
    for (int i = 0; i < injection->digit_count; i++) {
        int byte = line->bytes[i / 2], digit = i % 2 == 0 ? byte >> 4 : byte & 15;
        if (injection->digits[i] >= 0 && injection->digits[i] != digit) return false;
    }
    return true;
}

bool leat_can_is_injected(const leat_can_injection *injection, double origin_s,
                          const leat_can_line *line) {
    int64_t elapsed_us = llround((line->time - origin_s) * 1e6);
    return elapsed_us >= injection->begin_us && elapsed_us <= injection->end_us &&
           (injection->any_id || has_id(injection, line)) &&
           (injection->digit_count == 0 || has_data(injection, line));
}
