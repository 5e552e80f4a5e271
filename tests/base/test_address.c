/* Addresses: texts that are and are none, and agreement with inet_pton and inet_ntop. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/address.h"
#include "base/rng.h"

static const struct {
    const char *text;
    int version;
    const char *canonical; /* NULL: the text itself */
} cases[] = {
    {"0.0.0.0", 4, NULL},
    {"255.255.255.255", 4, NULL},
    {"1.2.3.4", 4, NULL},
    {"192.0.2.33", 4, NULL},
    {"256.1.1.1", 0, NULL},
    {"1.2.3.300", 0, NULL},
    {"1.2.3", 0, NULL},
    {"1.2.3.", 0, NULL},
    {"1.2.3.4.", 0, NULL},
    {"1.2.3.4.5", 0, NULL},
    {".1.2.3.4", 0, NULL},
    {"1..3.4", 0, NULL},
    {"1.2.3.4a", 0, NULL},
    {"01.2.3.4", 0, NULL},
    {"1.2.3.04", 0, NULL},
    {"1.2.3.00", 0, NULL},
    {"1.2.3.0000", 0, NULL},
    {" 1.2.3.4", 0, NULL},
    {"1.2.3.4 ", 0, NULL},
    {"1.2.3.4/8", 0, NULL},
    {"+1.2.3.4", 0, NULL},
    {"0x1.2.3.4", 0, NULL},
    {"1,2,3,4", 0, NULL},
    {"", 0, NULL},
    {"1", 0, NULL},
    {"localhost", 0, NULL},
    {"::", 6, NULL},
    {"::1", 6, NULL},
    {"1::", 6, NULL},
    {"2001:db8::1", 6, NULL},
    {"2001:DB8:0:0:8:800:200C:417A", 6, "2001:db8::8:800:200c:417a"},
    {"FF01:0:0:0:0:0:0:101", 6, "ff01::101"},
    {"0:0:0:0:0:0:0:1", 6, "::1"},
    {"0:0:0:0:0:0:0:0", 6, "::"},
    {"2001:db8:0:1:1:1:1:1", 6, NULL},
    {"2001:db8::1:1:1:1:1", 6, "2001:db8:0:1:1:1:1:1"},
    {"2001:0:0:1:0:0:0:1", 6, "2001:0:0:1::1"},
    {"2001:db8:0:0:1:0:0:1", 6, "2001:db8::1:0:0:1"},
    {"0001:0002:0003:0004:0005:0006:0007:0008", 6, "1:2:3:4:5:6:7:8"},
    {"1:2:3:4:5:6:7::", 6, "1:2:3:4:5:6:7:0"},
    {"::2:3:4:5:6:7:8", 6, "0:2:3:4:5:6:7:8"},
    {"::13.1.68.3", 6, "::d01:4403"},
    {"::FFFF:129.144.52.38", 6, "::ffff:129.144.52.38"},
    {"::ffff:0:1.2.3.4", 6, "::ffff:0:102:304"},
    {"64:ff9b::192.0.2.33", 6, "64:ff9b::c000:221"},
    {"ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255", 6, "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
    {":", 0, NULL},
    {":::", 0, NULL},
    {":1", 0, NULL},
    {"1:", 0, NULL},
    {"1::2::3", 0, NULL},
    {"1:2:3:4:5:6:7", 0, NULL},
    {"1:2:3:4:5:6:7:8:9", 0, NULL},
    {"1:2:3:4:5:6:7:8::", 0, NULL},
    {"1:2:3:4::5:6:7:8", 0, NULL},
    {"::1:2:3:4:5:6:7:8", 0, NULL},
    {"1:2:3:4:5:6:7:", 0, NULL},
    {"12345::", 0, NULL},
    {"g::", 0, NULL},
    {"fe80::1%eth0", 0, NULL},
    {"fe80::1%1", 0, NULL},
    {"[::1]", 0, NULL},
    {"::1.2.3", 0, NULL},
    {"::1.2.3.04", 0, NULL},
    {"::1.2.3.4:5", 0, NULL},
    {"1.2.3.4::", 0, NULL},
    {"1:2:3:4:5:6:7:1.2.3.4", 0, NULL},
    {"::2001:db8:1.2.3.4.5", 0, NULL},
    {" ::1", 0, NULL},
    {"::1 ", 0, NULL},
    {"2001:db8::1/64", 0, NULL},
};

static void test_cases(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        /* a copy of exactly the text's bytes, so that one read too far is seen */
        int64_t size = (int64_t)strlen(cases[i].text);
        char *copy = test_malloc((size_t)size + 1);
        memcpy(copy, cases[i].text, (size_t)size);
        copy[size] = '1'; /* no NUL behind it */
        uint8_t bytes[16];
        int version = leat_address_parse(copy, size, bytes);
        if (version != cases[i].version) fail_msg("\"%s\": version %d", cases[i].text, version);
        assert_int_equal(leat_address_parse(copy, size, NULL), version);
        test_free(copy);
        if (version == 0) continue;
        char text[LEAT_ADDRESS_TEXT_BYTES + 1];
        text[leat_address_format(version, bytes, text)] = 0;
        assert_string_equal(text, cases[i].canonical ? cases[i].canonical : cases[i].text);
    }
    assert_int_equal(leat_address_parse("1.2.3.4", 0, NULL), 0);
    assert_int_equal(leat_address_parse("1.2.3.4\0", 8, NULL), 0);
    assert_int_equal(leat_address_parse(NULL, -1, NULL), 0);
}

/* Texts made of the letters of addresses: most are none, and both readers must say so. */
static int random_text(uint64_t position, char *text) {
    static const char letters[] = "0123456789abcdefABCDEF::::....0125";
    uint64_t bits = leat_random(7, 0, position);
    int kind = (int)(bits % 4), size = 0;
    if (kind == 0) {
        size = (int)(bits >> 8 & 31);
        for (int i = 0; i < size; i++) {
            text[i] = letters[leat_random(7, 1 + (uint64_t)i, position) % (sizeof letters - 1)];
        }
        text[size] = 0;
        return size;
    }
    if (kind == 1) {
        return sprintf(text, "%d.%d.%d.%d", (int)(bits >> 8 & 511) % 300, (int)(bits >> 17 & 511),
                       (int)(bits >> 26 & 255), (int)(bits >> 34 & 255));
    }
    int groups = 1 + (int)(bits >> 8) % 9, gap = (int)(bits >> 16 & 15);
    for (int i = 0; i < groups; i++) {
        if (i > 0) text[size++] = ':';
        if (i == gap) text[size++] = ':';
        uint64_t value = leat_random(7, 100 + (uint64_t)i, position);
        size += sprintf(text + size, "%x", (unsigned)(value & 0xffff) >> (value >> 16 & 15));
    }
    if ((bits >> 24 & 7) == 0) size += sprintf(text + size, ":%d.2.3.%d", gap * 20, groups);
    text[size] = 0;
    return size;
}

/* The text as inet_pton reads it, whatever lies behind it and with nothing there; its version. */
static int check_like_inet(const char *text, int64_t size) {
    static const char behind[] = "1.7:";
    char room[64 + 32];
    uint8_t bytes[16] = {0}, other[16] = {0};
    memcpy(room, text, (size_t)size);
    room[size] = 0;
    int expected = inet_pton(AF_INET, room, other) == 1    ? 4
                   : inet_pton(AF_INET6, room, other) == 1 ? 6
                                                           : 0;
    char *exact = test_malloc((size_t)size + (size == 0)); /* a read past it is seen by ASan */
    memcpy(exact, text, (size_t)size);
    for (int k = 0; k < 5; k++) {
        if (k < 4) memset(room + size, behind[k], 32);
        int version = leat_address_parse(k < 4 ? room : exact, size, bytes);
        if (version != expected) {
            fail_msg("\"%.*s\": %d, inet_pton %d", (int)size, text, version, expected);
        }
        assert_memory_equal(bytes, other, version == 4 ? 4 : version == 6 ? 16 : 0);
    }
    test_free(exact);
    return expected;
}

static void test_like_inet(void **state) {
    (void)state;
    static const char letters[] = "09./:;-a ";
    int good = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check_like_inet(cases[i].text, (int64_t)strlen(cases[i].text));
    }
    for (uint64_t i = 0; i < 400000; i++) {
        char text[128];
        int size = random_text(i, text);
        good += check_like_inet(text, size < 64 ? size : 64) != 0;
        if (i > 4000) continue;
        /* each letter of it another one, or left out */
        for (int k = 0; k < size && k < 40; k++) {
            char other[130];
            for (int l = 0; letters[l] != 0; l++) {
                memcpy(other, text, (size_t)size);
                other[k] = letters[l];
                check_like_inet(other, size < 64 ? size : 64);
            }
            memmove(other + k, text + k + 1, (size_t)(size - k - 1));
            memcpy(other, text, (size_t)k);
            check_like_inet(other, size - 1 < 64 ? size - 1 : 64);
        }
    }
    assert_in_range(good, 50000, 399999);
    for (int value = 0; value < 4 * 1100; value++) { /* every octet, in every place */
        char text[64];
        int place = value % 4, size = 0;
        for (int k = 0; k < 4; k++)
            size += sprintf(text + size, "%s%d", k ? "." : "", k == place ? value / 4 : 10 * k);
        check_like_inet(text, size);
    }
}

static void test_format_like_inet(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 200000; i++) {
        uint8_t bytes[16], back[16];
        for (int k = 0; k < 8; k++) {
            uint64_t bits = leat_random(8, (uint64_t)k, i);
            unsigned group = bits & 1 ? 0 : (unsigned)(bits >> 1 & 0xffff) >> (bits >> 20 & 15);
            bytes[2 * k] = (uint8_t)(group >> 8);
            bytes[2 * k + 1] = (uint8_t)group;
        }
        char text[LEAT_ADDRESS_TEXT_BYTES + 1], other[64];
        int size = leat_address_format(6, bytes, text);
        text[size] = 0;
        assert_int_equal(leat_address_parse(text, size, back), 6);
        assert_memory_equal(back, bytes, 16);
        inet_ntop(AF_INET6, bytes, other, sizeof other);
        /* inet_ntop writes a quad in ::/96 too, which RFC 5952 leaves to known prefixes */
        if (strchr(other, '.') == NULL) assert_string_equal(text, other);
        size = leat_address_format(4, bytes, text);
        text[size] = 0;
        inet_ntop(AF_INET, bytes, other, sizeof other);
        assert_string_equal(text, other);
    }
}

static void test_src_id(void **state) {
    (void)state;
    /* the first 15 digits of md5("") and md5("a") */
    assert_int_equal(leat_address_src_id("", 0), INT64_C(0xd41d8cd98f00b20));
    assert_int_equal(leat_address_src_id("a", 1), INT64_C(0x0cc175b9c0f1b6a));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_like_inet),
        cmocka_unit_test(test_format_like_inet),
        cmocka_unit_test(test_src_id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
