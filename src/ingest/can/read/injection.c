/* Injected frames: see injection.h. */
#include "ingest/can/read/injection.h"

#include <stdlib.h>

#include "ingest/can/read/fields.h"

static bool is_any(char letter) { return (letter | 0x20) == 'x'; }

static leat_text without_prefix(leat_text text) {
    bool prefixed = text.size_bytes > 2 && text.data[0] == '0' && is_any(text.data[1]);
    return prefixed ? (leat_text){text.data + 2, text.size_bytes - 2} : text;
}

/* Identifiers of 29 bits have a bit of their own, so that 123 is not 00000123. */
static bool read_key(leat_text text, uint32_t *key) {
    text = without_prefix(text);
    if (!read_hex(text, key) || *key > LEAT_CAN_ID_29_MAX) return false;
    if (text.size_bytes == 8 || *key > LEAT_CAN_ID_11_MAX) *key |= UINT32_C(1) << 31;
    return true;
}

bool leat_can_injection_id(leat_text text, uint32_t *key, bool *any) {
    int letters = 0;
    while (letters < text.size_bytes && is_any(text.data[letters])) letters++;
    *any = letters > 0 && letters == text.size_bytes;
    return *any || read_key(text, key);
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

static int compare_keys(const void *a, const void *b) {
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static bool has_id(const leat_can_injection *injection, const leat_can_line *line) {
    uint32_t key = 0;
    const leat_text text = {line->id, (int32_t)strnlen(line->id, sizeof line->id)};
    return read_key(text, &key) && bsearch(&key, injection->ids, (size_t)injection->id_count,
                                           sizeof key, compare_keys) != NULL;
}

static int compare_spans(const void *a, const void *b) {
    const leat_can_span *x = a, *y = b;
    return (x->begin_us > y->end_us) - (x->end_us < y->begin_us);
}

static bool has_time(const leat_can_injection *injection, double origin_s, double time_s) {
    const double since_s = injection->absolute ? time_s : time_s - origin_s;
    const leat_can_span at = {llround(since_s * 1e6), llround(since_s * 1e6)};
    return bsearch(&at, injection->spans, (size_t)injection->span_count, sizeof at,
                   compare_spans) != NULL;
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
    return has_time(injection, origin_s, line->time) &&
           (injection->any_id || has_id(injection, line)) &&
           (injection->digit_count == 0 || has_data(injection, line));
}
