/*
 * Parses and formats Internet addresses without the C library: the ingest parses two addresses per
 * measurement, and inet_pton requires a NUL after the text, takes several times as long, and
 * differs between systems.
 */
#include "base/address.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/error.h"
#include "base/hash.h"

enum { V4_TEXT_MIN = 7, V4_TEXT_MAX = 15, V6_GROUPS = 8 };

#ifdef __SSE2__
/* The characters of a text of 7 to 15 bytes, followed by zeros, without reading past its end. */
static inline __m128i load_letters(const char *text, int64_t size_bytes) {
    uint64_t low, high = 0;
    if (size_bytes >= 8) {
        memcpy(&low, text, 8);
        memcpy(&high, text + size_bytes - 8, 8);
        high = high >> 8 * (15 - size_bytes) >> 8;
    } else {
        uint32_t first, last;
        memcpy(&first, text, 4);
        memcpy(&last, text + 3, 4);
        low = first | (uint64_t)last << 24;
    }
    return _mm_set_epi64x((int64_t)high, (int64_t)low);
}

/*
 * Reads the octet letters[begin .. end), which are known to be digits, as one word: the first
 * digits are shifted so that units, tens and hundreds are always in the same bytes, and missing
 * digits are zero. Returns a number above 255 if it is not an octet.
 */
static inline unsigned read_octet(const char *letters, unsigned begin, unsigned end) {
    static const unsigned least[4] = {0, 0, 10, 100}; /* by length: no leading zeros */
    unsigned length = end - begin;
    uint32_t word;
    memcpy(&word, letters + begin, sizeof word);
    word = (word ^ 0x30303030u) << ((32 - 8 * length) & 31);
    unsigned value = (word >> 24) + 10 * (word >> 16 & 255) + 100 * (word >> 8 & 255);
    bool wrong = (length - 1 > 2) | (value < least[length & 3]);
    return value | (unsigned)wrong << 16;
}

/* Without a branch per character: the lengths of octets cannot be predicted. */
static inline bool parse_v4(const char *text, int64_t size_bytes, uint8_t out[4]) {
    if (size_bytes < V4_TEXT_MIN || size_bytes > V4_TEXT_MAX) return false;
    char buffer[20] = {0}; /* the word of an octet may begin at byte 14 */
    __m128i letters = load_letters(text, size_bytes);
    _mm_storeu_si128((__m128i *)(void *)buffer, letters);
    __m128i values = _mm_sub_epi8(letters, _mm_set1_epi8('0'));
    __m128i is_digit = _mm_cmpeq_epi8(_mm_min_epu8(values, _mm_set1_epi8(9)), values);
    __m128i is_dot = _mm_cmpeq_epi8(letters, _mm_set1_epi8('.'));
    unsigned inside = (1u << size_bytes) - 1;
    unsigned digits = (unsigned)_mm_movemask_epi8(is_digit) & inside;
    unsigned dots = (unsigned)_mm_movemask_epi8(is_dot) & inside;
    /* where octets end: at three dots and at the end of the text */
    unsigned first = dots | 1u << size_bytes, second = first & (first - 1);
    unsigned third = second & (second - 1), fourth = third & (third - 1);
    if ((digits | dots) != inside || fourth == 0 || (fourth & (fourth - 1)) != 0) return false;
    unsigned end[4] = {(unsigned)__builtin_ctz(first), (unsigned)__builtin_ctz(second),
                       (unsigned)__builtin_ctz(third), (unsigned)__builtin_ctz(fourth)};
    unsigned a = read_octet(buffer, 0, end[0]), b = read_octet(buffer, end[0] + 1, end[1]);
    unsigned c = read_octet(buffer, end[1] + 1, end[2]), d = read_octet(buffer, end[2] + 1, end[3]);
    if ((a | b | c | d) > 255) return false;
    uint32_t word = a | b << 8 | c << 16 | d << 24;
    memcpy(out, &word, sizeof word);
    return true;
}
#else
/* Reads one octet at *at (1 to 3 digits, no leading zero, up to 255) and moves *at past it. */
static inline bool parse_octet(const char *text, int64_t size_bytes, int64_t *at, uint8_t *out) {
    int64_t i = *at;
    if (i >= size_bytes) return false;
    unsigned value = (unsigned)(uint8_t)text[i] - '0';
    if (value > 9) return false;
    i++;
    unsigned digit;
    if (i < size_bytes && (digit = (unsigned)(uint8_t)text[i] - '0') <= 9) {
        if (value == 0) return false;
        value = value * 10 + digit;
        i++;
        if (i < size_bytes && (digit = (unsigned)(uint8_t)text[i] - '0') <= 9) {
            value = value * 10 + digit;
            if (value > 255) return false;
            i++;
        }
    }
    *out = (uint8_t)value;
    *at = i;
    return true;
}

static inline bool parse_v4(const char *text, int64_t size_bytes, uint8_t out[4]) {
    if (size_bytes < V4_TEXT_MIN || size_bytes > V4_TEXT_MAX) return false;
    int64_t at = 0;
    for (int octet = 0; octet < 4; octet++) {
        if (octet > 0 && (at >= size_bytes || text[at++] != '.')) return false;
        if (!parse_octet(text, size_bytes, &at, &out[octet])) return false;
    }
    return at == size_bytes;
}
#endif

/* 1 + the value of a hexadecimal digit; 0 for other characters. */
static const uint8_t hex_table[256] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
    ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

static inline int hex_digit(char letter) { return (int)hex_table[(uint8_t)letter] - 1; }

/* Reads up to four hexadecimal digits at *at; false if there are none, or more than four. */
static inline bool parse_group(const char *text, int64_t size_bytes, int64_t *at, unsigned *out) {
    unsigned value = 0;
    int64_t i = *at;
    int digit;
    while (i < size_bytes && (digit = hex_digit(text[i])) >= 0) {
        if (i - *at == 4) return false;
        value = value << 4 | (unsigned)digit;
        i++;
    }
    if (i == *at) return false;
    *at = i;
    *out = value;
    return true;
}

/* Groups are written from the front; those after "::" are moved to the end afterwards. */
static bool parse_v6(const char *text, int64_t size_bytes, uint8_t out[16]) {
    if (size_bytes < 2 || size_bytes > LEAT_ADDRESS_TEXT_BYTES) return false;
    int count = 0, gap = -1;
    int64_t at = 0;
    if (text[0] == ':') {
        if (text[1] != ':') return false;
        gap = 0;
        at = 2;
    }
    while (at < size_bytes) {
        int64_t begin = at;
        unsigned group = 0;
        if (count >= V6_GROUPS || !parse_group(text, size_bytes, &at, &group)) return false;
        if (at < size_bytes && text[at] == '.') {
            if (count > V6_GROUPS - 2) return false;
            if (!parse_v4(text + begin, size_bytes - begin, out + count * 2)) return false;
            count += 2;
            at = size_bytes;
            break;
        }
        out[count * 2] = (uint8_t)(group >> 8);
        out[count * 2 + 1] = (uint8_t)group;
        count++;
        if (at == size_bytes) break;
        if (text[at++] != ':' || at == size_bytes) return false;
        if (text[at] == ':') {
            if (gap >= 0) return false;
            gap = count;
            at++;
        }
    }
    if (gap < 0) return count == V6_GROUPS;
    if (count >= V6_GROUPS) return false; /* "::" replaces at least one group */
    int behind = (count - gap) * 2;
    memmove(out + 16 - behind, out + gap * 2, (size_t)behind);
    memset(out + gap * 2, 0, (size_t)(16 - behind - gap * 2));
    return true;
}

int leat_address_parse(const char *text, int64_t size_bytes, uint8_t bytes[16]) {
    uint8_t found[16];
    if (parse_v4(text, size_bytes, found)) {
        if (bytes != NULL) memcpy(bytes, found, 4);
        return 4;
    }
    if (parse_v6(text, size_bytes, found)) {
        if (bytes != NULL) memcpy(bytes, found, 16);
        return 6;
    }
    return 0;
}

static int format_v4(const uint8_t bytes[4], char *text) {
    int size = 0;
    for (int octet = 0; octet < 4; octet++) {
        unsigned value = bytes[octet];
        if (octet > 0) text[size++] = '.';
        if (value >= 100) text[size++] = (char)('0' + value / 100);
        if (value >= 10) text[size++] = (char)('0' + value / 10 % 10);
        text[size++] = (char)('0' + value % 10);
    }
    return size;
}

static int format_group(unsigned value, char *text) {
    static const char digits[] = "0123456789abcdef";
    int size = 0;
    for (int shift = 12; shift >= 0; shift -= 4) {
        unsigned digit = value >> shift & 15;
        if (size > 0 || digit != 0 || shift == 0) text[size++] = digits[digit];
    }
    return size;
}

/* RFC 5952: lower case, the first longest run of two or more zero groups as "::", and the mapped
 * IPv4 addresses (::ffff:0:0/96) with their dotted quad. */
static int format_v6(const uint8_t bytes[16], char *text) {
    unsigned groups[V6_GROUPS];
    for (int i = 0; i < V6_GROUPS; i++) groups[i] = (unsigned)bytes[2 * i] << 8 | bytes[2 * i + 1];
    int run_begin = -1, run_size = 1;
    for (int i = 0; i < V6_GROUPS;) {
        int end = i;
        while (end < V6_GROUPS && groups[end] == 0) end++;
        if (end - i > run_size) {
            run_begin = i;
            run_size = end - i;
        }
        i = end + 1;
    }
    bool mapped = run_begin == 0 && run_size == 5 && groups[5] == 0xffff;
    int last = mapped ? V6_GROUPS - 2 : V6_GROUPS;
    int size = 0;
    for (int i = 0; i < last;) {
        if (i == run_begin) {
            text[size++] = ':';
            text[size++] = ':';
            i += run_size;
            continue;
        }
        if (i > 0 && i != run_begin + run_size) text[size++] = ':';
        size += format_group(groups[i], text + size);
        i++;
    }
    if (mapped) {
        text[size++] = ':';
        size += format_v4(bytes + 12, text + size);
    }
    return size;
}

int leat_address_format(int version, const uint8_t *bytes, char text[LEAT_ADDRESS_TEXT_BYTES]) {
    LEAT_ASSERT(version == 4 || version == 6);
    return version == 4 ? format_v4(bytes, text) : format_v6(bytes, text);
}

int64_t leat_address_src_id(const char *text, int64_t size_bytes) {
    uint8_t digest[16];
    leat_md5(text, size_bytes, digest);
    uint64_t id = 0;
    for (int i = 0; i < 8; i++) id = id << 8 | digest[i];
    return (int64_t)(id >> 4);
}
