/* Lines of logs whose times lack the date, or that have one in a header. */
#include "can_line_cases.h"

/* ---- busmaster ---- */

#define BUS_DATE "***START DATE AND TIME 1:1:1970 23:59:58:900***\n"
#define BUS_HEADER(date, base, mode)                                                               \
    "***BUSMASTER Ver 3.2.2***\n***PROTOCOL CAN***\n***NOTE: PLEASE DO NOT EDIT***\n"              \
    "***[START LOGGING SESSION]***\n" date "***" base "***\n***" mode " MODE***\n"                 \
    "***START CHANNEL BAUD RATE***\n***CHANNEL 1 - x - 500000 bps***\n"                            \
    "***END CHANNEL BAUD RATE***\n***<Time><Tx/Rx><Channel><CAN ID><Type><DLC><DataBytes>***\n"
#define BUS_ROW "0:0:0:0000 Rx 1 5 s 0\n"

static const line_case busmaster_cases[] = {
    {"23:59:58:9021 Rx 1 0x385 s 8 70 00 00 00 D8 7F FF 00 ",
     "86398.9021 1 385 112.0.0.0.216.127.255.0 0", NULL},
    {"23:59:59:0001 Tx 2 0xCF00400 x 2 0A ff", "86399.0001 2 0CF00400 10.255.0.0.0.0.0.0 0", NULL},
    {"23:59:59:0001 Tx 2 385 x 0", "86399.0001 2 00000385 0.0.0.0.0.0.0.0 0", NULL},
    {"23:59:59:0001 Tx 2 0x385 s 0 ", "86399.0001 2 0x385 0.0.0.0.0.0.0.0 0", "w"},
    {"0:0:1:0000 Rx 1 0x1 s 1 01", "86401 1 001 1.0.0.0.0.0.0.0 0", NULL},
    {"22:59:59:0000 Rx 1 0x1 s 1 01", "82799 1 001 1.0.0.0.0.0.0.0 0", NULL},
    {"22:59:58:0000 Rx 1 0x1 s 1 01", "169198 1 001 1.0.0.0.0.0.0.0 0", NULL},
    {"23:59:59:0000 Rx 1 0x385 sr 8", REMOTE, NULL},
    {"23:59:59:0000 Rx 1 0x18FEE0D8 xr 2 00 00 ", REMOTE, NULL},
    {"23:59:59:0000 Rx 1 0x0 ERR Bit error", BROKEN, NULL},
    {"23:59:59:0000 Rx 1 0x385 s-fd 12 01 02 03 04 05 06 07 08 09 0A 0B 0C ",
     "86399 1 385 1.2.3.4.5.6.7.8 0", NULL},
    {"23:59:59:0000 Rx 1 0x385 x-fd 9 01 02 03 04 05 06 07 08 09 0A 0B 0C",
     "86399 1 00000385 1.2.3.4.5.6.7.8 0", NULL},
    {"23:59:59:0000 Rx 1 0x385 s-fd 2 01 02", FD, "r"},
    {"23:59:59:0000 Rx 1 0x385 s-fd 9 01 02 03 04 05 06 07 08 09 0A", LINE, NULL},
    {"23:59:59:0000 Rx 1 0x385 s 12 01 02 03 04 05 06 07 08", "86399 1 385 1.2.3.4.5.6.7.8 0",
     NULL},
    {"***[STOP LOGGING SESSION]***", EVENT, NULL},
    {"23:59:59:0000 Rx 1 0x385 s 3 01 02", LINE, NULL},
    {"23:59:59:0000 Rx 1 0x385 s 1 01 02", LINE, NULL},
    {"23:59:59:0000 Rx 1 0x385 s 2 01 0", PAYLOAD, NULL}, /* cut */
    {"23:59:59:0000 Rx 1 0x385 s 1 4", PAYLOAD, NULL},
    {"23:59:59:0000 Rx 1 0x385 s 1 4", "86399 1 385 4.0.0.0.0.0.0.0 0", "l"},
    {"23:59:59:0000 Rx 1 0x385 s 2 01 0G", PAYLOAD, NULL},
    {"23:59:59:0000 Rx 1 0x385 s 16", LINE, NULL},
    {"23:59:59:0000 Rx 1 0x385 s", LINE, NULL},
    {"23:59:59:0000 Rx 1 0x385 z 0", LINE, NULL},
    {"23:59:59:0000 Xx 1 0x385 s 0", LINE, NULL},
    {"23:59:59:0000 Rx one 0x385 s 0", BUS, NULL},
    {"23:59:59:0000 Rx 1 0x800 s 0", ID, NULL},
    {"23:59:59:0000 Rx 1 0x20000000 x 0", ID, NULL},
    {"23:59:59:0000 Rx 1 Engine x 0", ID, NULL},
    {"23:59:59:0000 Rx 1 Engine xr 0", ID, NULL},
    {"23:59:60:0000 Rx 1 0x385 s 0", TIME, NULL},
    {"24:00:00:0000 Rx 1 0x385 s 0", TIME, NULL},
    {"23:59:59:000 Rx 1 0x385 s 0", TIME, NULL},
    {"23:59:59 Rx 1 0x385 s 0", TIME, NULL},
    {"a comment", TIME, NULL},
};
static const line_case busmaster_decimal_cases[] = {
    {"23:59:59:0000 Rx 1 901 s 3 112 0 255 ", "86399 1 385 112.0.255.0.0.0.0.0 0", NULL},
    {"23:59:59:0000 Rx 1 217056256 x 1 007", "86399 1 0CF00400 7.0.0.0.0.0.0.0 0", NULL},
    {"23:59:59:0000 Rx 1 5 s-fd 9 1 2 3 4 5 6 7 8 9 10 11 12", "86399 1 005 1.2.3.4.5.6.7.8 0",
     NULL},
    {"23:59:59:0000 Rx 1 5 s-fd 9 1 2 3 4 5 6 7 8 9 10 11 12", FD, "r"},
    {"23:59:59:0000 Rx 1 901 s 1 256", PAYLOAD, NULL},
    {"23:59:59:0000 Rx 1 901 s 1 1F", PAYLOAD, NULL},
    {"23:59:59:0000 Rx 1 901 s 1 1 2", LINE, NULL},
    {"23:59:59:0000 Rx 1 901 s 2 1", LINE, NULL},
    {"23:59:59:0000 Rx 1 0x385 s 0", ID, NULL},
    {"23:59:59:0000 Rx 1 38F s 0", ID, NULL},
};
static const line_case busmaster_absolute_cases[] = {
    {"0:0:0:0012 Rx 1 5 s 0", "0.0012 1 005 0.0.0.0.0.0.0.0 0", NULL},
    {"23:59:59:0000 Rx 1 5 s 0", "86399 1 005 0.0.0.0.0.0.0.0 0", NULL},
    {"30:00:00:0000 Rx 1 5 s 0", "108000 1 005 0.0.0.0.0.0.0.0 0", NULL},
};
static const line_case busmaster_relative_cases[] = {
    {"23:59:59:0012 Rx 1 5 s 0", "86399.0012 1 005 0.0.0.0.0.0.0.0 0", NULL},
    {"30:00:00:0000 Rx 1 5 s 0", "108000 1 005 0.0.0.0.0.0.0.0 0", NULL},
};

static void test_busmaster(void **state) {
    (void)state;
    CHECK(LEAT_CAN_BUSMASTER, BUS_HEADER(BUS_DATE, "HEX", "SYSTEM"), busmaster_cases);
    CHECK(LEAT_CAN_BUSMASTER, BUS_HEADER(BUS_DATE, "DEC", "SYSTEM"), busmaster_decimal_cases);
    CHECK(LEAT_CAN_BUSMASTER, BUS_HEADER(BUS_DATE, "HEX", "ABSOLUTE"), busmaster_absolute_cases);
    check_lines(LEAT_CAN_BUSMASTER, BUS_HEADER("", "HEX", "SYSTEM") BUS_ROW,
                busmaster_absolute_cases, 2);
    CHECK(LEAT_CAN_BUSMASTER, BUS_HEADER(BUS_DATE, "HEX", "RELATIVE"), busmaster_relative_cases);
}

/* Days that begin, clocks that are set back, and sessions one after the other. */
static void test_busmaster_sequences(void **state) {
    (void)state;
    static const char *const days[] = {"86399.9999 1 005 0.0.0.0.0.0.0.0 0",
                                       "86400 1 005 0.0.0.0.0.0.0.0 0",
                                       "86399.9998 1 005 0.0.0.0.0.0.0.0 0",
                                       "86400.5 1 005 0.0.0.0.0.0.0.0 0",
                                       "169200 1 005 0.0.0.0.0.0.0.0 0",
                                       TIME,
                                       LINE,
                                       "172800 1 005 0.0.0.0.0.0.0.0 0",
                                       EVENT,
                                       "169201 1 005 0.0.0.0.0.0.0.0 0",
                                       NULL};
    check_sequence(LEAT_CAN_AUTO,
                   BUS_HEADER(BUS_DATE, "HEX", "SYSTEM") /* ends on 1970-01-02 23:00:01 */
                   "23:59:59:9999 Rx 1 5 s 0\n0:0:0:0000 Rx 1 5 s 0\n23:59:59:9998 Rx 1 5 s 0\n"
                   "0:0:0:5000 Rx 1 5 s 0\n23:0:0:0000 Rx 1 5 s 0\n23:0:0: Rx 1 5 s 0\n"
                   "12:0:0:0000 damaged 1 5 s 0\n0:0:0:0000 Rx 1 5 s 0\n"
                   "***END DATE AND TIME 2:1:1970 23:0:2:0***\n23:0:1:0000 Rx 1 5 s 0\n",
                   days);
    static const char *const sessions[] = {"86399 1 010 16.0.0.0.0.0.0.0 0",
                                           EVENT,
                                           EVENT,
                                           EVENT,
                                           EVENT,
                                           EVENT,
                                           EVENT,
                                           "2678401 1 00A 10.0.0.0.0.0.0.0 0",
                                           EVENT,
                                           TIME,
                                           EVENT,
                                           "2678402 1 00A 11.0.0.0.0.0.0.0 0",
                                           NULL};
    check_sequence(
        LEAT_CAN_AUTO,
        BUS_HEADER(
            BUS_DATE, "HEX",
            "SYSTEM") "23:59:59:0000 Rx 1 10 s 1 10\n"
                      "***END DATE AND TIME 2:1:1970 0:0:0:0***\n***[STOP LOGGING SESSION]***\n"
                      "***[START LOGGING SESSION]***\n***START DATE AND TIME 1:2:1970 0:0:0:5***\n"
                      "***DEC***\n***SYSTEM MODE***\n0:0:1:0000 Rx 1 10 s 1 10\n"
                      "***RELATIVE MODE***\n0:0:2:0000 Rx 1 10 s 1 11\n***SYSTEM MODE***\n"
                      "0:0:2:0000 Rx 1 10 s 1 11\n",
        sessions);
    static const char *const absolute[] = {"3600 1 005 0.0.0.0.0.0.0.0 0",
                                           "86400 1 005 0.0.0.0.0.0.0.0 0",
                                           "86401 1 005 0.0.0.0.0.0.0.0 0",
                                           EVENT,
                                           EVENT,
                                           "2 1 005 0.0.0.0.0.0.0.0 0",
                                           NULL};
    check_sequence(LEAT_CAN_AUTO,
                   BUS_HEADER(BUS_DATE, "HEX",
                              "ABSOLUTE") "1:0:0:0000 Rx 1 5 s 0\n"
                                          "24:0:0:0000 Rx 1 5 s 0\n0:0:1:0000 Rx 1 5 s 0\n" BUS_DATE
                                          "***ABSOLUTE MODE***\n0:0:2:0000 Rx 1 5 s 0\n",
                   absolute);
}

static void test_busmaster_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *want;
    } cases[] = {
        {BUS_HEADER(BUS_DATE, "", "SYSTEM") BUS_ROW, "needs the lines ***HEX*** or ***DEC***"},
        {BUS_HEADER(BUS_DATE, "HEX", "") BUS_ROW, "needs the lines ***HEX*** or ***DEC***"},
        {"***BUSMASTER Ver 3.2.2***\n***PROTOCOL J1939***\n***HEX***\n***SYSTEM MODE***\n"
         "0:0:0:0000 1 0x18FEF100 65265 BROADCAST 0 255 6 Rx 8 00\n",
         "a log of BUSMASTER for another protocol than CAN"},
        {"***HEX***\n***SYSTEM MODE***\n" BUS_ROW, "not a vehicle log format"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_refused(cases[i].text, "x.log", cases[i].want);
    static const char *const gaps[] = {BUS_HEADER(BUS_DATE, "HEX", "SYSTEM"),
                                       BUS_HEADER(BUS_DATE, "HEX", "RELATIVE")};
    for (int i = 0; i < 2; i++) {
        leat_can_layout layout;
        leat_can_format looks;
        int64_t skip = 0;
        bool found = false;
        leat_can_line_options options = options_of("");
        assert_ok(leat_can_detect(gaps[i], (int64_t)strlen(gaps[i]), "x", LEAT_CAN_AUTO, &options,
                                  &layout, &looks, &skip, &found, err));
        assert_int_equal(layout.gaps, i == 1);
        assert_int_equal(skip, strlen(gaps[i]));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_busmaster),
        cmocka_unit_test(test_busmaster_sequences),
        cmocka_unit_test(test_busmaster_refused),
    };
    return cmocka_run_group_tests_name("lines of recorders", tests, NULL, NULL);
}
