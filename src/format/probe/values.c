/*
 * Single values of measurements: what each stored type means, and what no measurement may be.
 * Whole decoding and reading of single measurements both go through here, so they agree.
 */
#include <string.h>

#include "base/address.h"
#include "format/probe/read.h"

leat_probe_read_options leat_probe_read_options_default(void) {
    leat_probe_read_options options = {.max_decoded_bytes = LEAT_PROBE_DECODED_MAX};
    return options;
}

static bool is_accepted(leat_probe_field field, const leat_arrow_column *column) {
    int kind = column->type.kind;
    bool is_address = field == LEAT_PROBE_FIELD_SRC || field == LEAT_PROBE_FIELD_DST;
    if (is_address && leat_arrow_is_text(column->type)) return true;
    if (column->is_coded) return false;
    /* A column of type null is one in which every value is null. */
    if (kind == LEAT_ARROW_NULL) return field != LEAT_PROBE_FIELD_TIME;
    if (field == LEAT_PROBE_FIELD_TIME) return kind == LEAT_ARROW_TIMESTAMP;
    if (field == LEAT_PROBE_FIELD_VERSION) return kind == LEAT_ARROW_INT;
    return field == LEAT_PROBE_FIELD_RTT && kind == LEAT_ARROW_FLOAT;
}

leat_code leat_probe_check_columns(const char *name, const leat_arrow_schema *schema,
                                   bool has_source, leat_error *err) {
    static const char *const wanted[LEAT_PROBE_FIELDS] = {"timestamp", "string", "string",
                                                          "integer", "floating point"};
    for (int i = 0; i < LEAT_PROBE_FIELDS; i++) {
        const leat_arrow_column *column = &schema->columns[i];
        if (column->present && !is_accepted((leat_probe_field)i, column))
            return leat_fail(err, LEAT_ERR_INPUT, "%s: column %s has type %s%s, not %s", name,
                             leat_probe_field_names[i], column->is_coded ? "dictionary of " : "",
                             leat_arrow_kind_text(column->type.kind), wanted[i]);
        if (column->present || i == LEAT_PROBE_FIELD_VERSION) continue;
        if (i != LEAT_PROBE_FIELD_SRC)
            return leat_fail(err, LEAT_ERR_INPUT, "%s: column %s is missing", name,
                             leat_probe_field_names[i]);
        if (!has_source)
            return leat_fail(err, LEAT_ERR_INPUT,
                             "%s: column src_addr is missing; give the source's address", name);
    }
    return LEAT_OK;
}

int64_t leat_probe_int(leat_arrow_type type, const uint8_t *at) {
    uint16_t two;
    uint32_t four;
    int64_t eight;
    switch (type.bytes) {
    case 1: return type.is_signed ? (int64_t)(int8_t)at[0] : at[0];
    case 2: memcpy(&two, at, sizeof two); return type.is_signed ? (int64_t)(int16_t)two : two;
    case 4: memcpy(&four, at, sizeof four); return type.is_signed ? (int64_t)(int32_t)four : four;
    default: memcpy(&eight, at, sizeof eight); return eight;
    }
}

bool leat_probe_time(leat_arrow_type type, const uint8_t *at, int64_t *time_us) {
    int64_t value;
    memcpy(&value, at, sizeof value);
    switch (type.unit) {
    case 0: return !__builtin_mul_overflow(value, INT64_C(1000000), time_us);
    case 1: return !__builtin_mul_overflow(value, INT64_C(1000), time_us);
    case 2: *time_us = value; return true;
    default: *time_us = value / 1000 - (value % 1000 < 0); return true;
    }
}

/* IEEE half precision; its values are all exact in float32. */
static float half_float(const uint8_t *at) {
    uint16_t half;
    memcpy(&half, at, sizeof half);
    uint32_t sign = (uint32_t)(half >> 15) << 31, exponent = half >> 10 & 31,
             fraction = half & 1023;
    if (exponent == 0) {
        float value = (float)fraction * 0x1p-24f;
        return sign ? -value : value;
    }
    exponent = exponent == 31 ? 255 : exponent + 112;
    uint32_t bits = sign | exponent << 23 | fraction << 13;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

float leat_probe_rtt(leat_arrow_type type, const uint8_t *at) {
    float value;
    double wide;
    if (type.bytes == 2) {
        value = half_float(at);
    } else if (type.bytes == 4) {
        memcpy(&value, at, sizeof value);
    } else {
        memcpy(&wide, at, sizeof wide);
        value = (float)wide;
    }
    return value >= 0 ? value + 0.0f : -1.0f;
}

bool leat_probe_address_read(leat_probe_address *address, const char *text, int64_t size_bytes) {
    memset(address, 0, sizeof *address);
    if (size_bytes == 0) return true;
    if (size_bytes > LEAT_ADDRESS_TEXT_BYTES) return false;
    int version = leat_address_parse(text, size_bytes, address->bytes);
    if (version == 0) return false;
    memcpy(address->text, text, (size_t)size_bytes);
    address->text_bytes = (uint8_t)size_bytes;
    address->version = (uint8_t)version;
    return true;
}

leat_code leat_probe_address_fail(const char *name, int64_t row, leat_probe_field field,
                                  const char *text, int64_t size_bytes, leat_error *err) {
    char shown[2 * LEAT_ADDRESS_TEXT_BYTES];
    int64_t taken = leat_text_show(shown, sizeof shown, text, size_bytes);
    return leat_fail(err, LEAT_ERR_INPUT, "%s: measurement %lld: %s \"%s%s\" is not an address",
                     name, (long long)row, leat_probe_field_names[field], shown,
                     taken < size_bytes ? "..." : "");
}

leat_code leat_probe_version(const char *name, int64_t row, int src, int dst, int64_t stored,
                             uint8_t *version, leat_error *err) {
    *version = 0;
    if (stored != 0 && stored != 4 && stored != 6)
        return leat_fail(err, LEAT_ERR_INPUT, "%s: measurement %lld: ip_version is %lld", name,
                         (long long)row, (long long)stored);
    int derived = src ? src : dst ? dst : (int)stored;
    if (derived == 0)
        return leat_fail(err, LEAT_ERR_INPUT,
                         "%s: measurement %lld: neither addresses nor an ip_version", name,
                         (long long)row);
    if ((dst && dst != derived) || (stored && stored != derived))
        return leat_fail(err, LEAT_ERR_INPUT,
                         "%s: measurement %lld: source IPv%d, destination IPv%d, ip_version %lld "
                         "contradict each other (0: none)",
                         name, (long long)row, src, dst, (long long)stored);
    *version = (uint8_t)derived;
    return LEAT_OK;
}

leat_code leat_probe_check_value(const char *name, int64_t row, int64_t time_us, float rtt,
                                 leat_error *err) {
    if (time_us < 0)
        return leat_fail(err, LEAT_ERR_INPUT,
                         "%s: measurement %lld: event_time %lld us is before 1970", name,
                         (long long)row, (long long)time_us);
    if (__builtin_isinf(rtt))
        return leat_fail(err, LEAT_ERR_INPUT, "%s: measurement %lld: rtt is infinite", name,
                         (long long)row);
    return LEAT_OK;
}
