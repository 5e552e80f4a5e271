/* Lines of logs of recorders, whose times may lack the date. */
#define TIME_DIGITS 12
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
    {"23:59:59:007 Rx 1 0x385 s 0", "86399.007 1 385 0.0.0.0.0.0.0.0 0", NULL}, /* ms */
    {"23:59:59:00 Rx 1 0x385 s 0", TIME, NULL},
    {"23:59:59:00000 Rx 1 0x385 s 0", TIME, NULL},
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
        const detection it = detect(gaps[i], LEAT_CAN_AUTO);
        assert_int_equal(it.layout.gaps, i == 1);
        assert_int_equal(it.skip, strlen(gaps[i]));
    }
}

/* ---- cl2000 ---- */

#define CL_PREAMBLE(time, form, rest)                                                              \
    "# Logger type: CL2000\n# HW rev: 6.0x\n# Session No.: 35\n# Time: " time                      \
    "\n# Value separator: \";\"\n# Time format: " form "\n# Time separator: \"\"\n" rest           \
    "# Cyclic mode: false\n"
#define CL_NAMES "Timestamp;Type;ID;Data\n"

/* In February 1970, which begins at 2678400. */
static const line_case cl2000_cases[] = {
    {"11T081712003;0;282;500000003b7fffaa", "3572232.003 0 282 80.0.0.0.59.127.255.170 0", NULL},
    {"11T081712003;1;cf00400;8001", "3572232.003 0 0CF00400 128.1.0.0.0.0.0.0 0", NULL},
    {"11T081712003;8;7df;02", "3572232.003 0 7DF 2.0.0.0.0.0.0.0 0", NULL},
    {"11T081712003;9;7df;", "3572232.003 0 000007DF 0.0.0.0.0.0.0.0 0", NULL},
    {"11T081712003;9;7df;", "3572232.003 0 7df 0.0.0.0.0.0.0.0 0", "w"},
    {"11T081711003;0;282;50", "3572231.003 0 282 80.0.0.0.0.0.0.0 0", NULL},
    {"10T081713000;0;282;50", "3485833 0 282 80.0.0.0.0.0.0.0 0", NULL},
    {"10T081711999;0;282;50", "5905031.999 0 282 80.0.0.0.0.0.0.0 0", NULL}, /* of March */
    {"01T000000000;0;282;50", "5097600 0 282 80.0.0.0.0.0.0.0 0", NULL},
    {"29T000000000;0;282;50", TIME, NULL}, /* February has none */
    {"28T235959999;0;282;50", "5097599.999 0 282 80.0.0.0.0.0.0.0 0", NULL},
    {"11T08:17:12.003;0;282;50", "3572232.003 0 282 80.0.0.0.0.0.0.0 0", NULL},
    {"11081712003;0;282;50", "3572232.003 0 282 80.0.0.0.0.0.0.0 0", NULL},
    {"# Logger type: CL2000", EVENT, NULL},
    {"Timestamp;Type;ID;Data", EVENT, NULL},
    {"11T081712003;0;282", LINE, NULL},
    {"11T081712003;0;282;50;1", LINE, NULL},
    {"11T081712003;2;282;50", LINE, NULL},
    {"11T081712003;;282;50", LINE, NULL},
    {"11T081712003;0;800;50", ID, NULL},
    {"11T081712003;1;20000000;50", ID, NULL},
    {"11T081712003;1;;50", ID, NULL},
    {"11T081712003;1;28x;50", ID, NULL},
    {"11T081712003;0;282;505", PAYLOAD, NULL},
    {"11T081712003;0;282;5g", PAYLOAD, NULL},
    {"11T241712003;0;282;50", TIME, NULL},
    {"11T086012003;0;282;50", TIME, NULL},
    {"11T081760003;0;282;50", TIME, NULL},
    {"00T081712003;0;282;50", TIME, NULL},
    {"32T081712003;0;282;50", TIME, NULL},
    {"11T08171203;0;282;50", TIME, NULL},
    {"0211T081712003;0;282;50", TIME, NULL},
    {"11X081712003;0;282;50", TIME, NULL},
    {"11T081712003000000000000000;0;282;50", TIME, NULL},
    {";0;282;50", TIME, NULL},
};
static const line_case cl2000_length_cases[] = {
    {"1970/02/11 08:17:12.003,0,0,282,3,500000", "3572232.003 0 282 80.0.0.0.0.0.0.0 0", NULL},
    {"1970/02/11 08:17:12.003,7,1,282,c,0102030405060708090a0b0c",
     "3572232.003 0 00000282 1.2.3.4.5.6.7.8 0", NULL},
    {"1970/02/11 08:17:12.003,7,1,282,12,0102030405060708090a0b0c",
     "3572232.003 0 00000282 1.2.3.4.5.6.7.8 0", NULL},
    {"1970/02/11 08:17:12.003,7,1,282,12,0102030405060708090a0b0c", FD, "r"},
    {"1970/02/11 08:17:12.003,0,0,282,4,500000", LINE, NULL}, /* cut */
    {"1970/02/11 08:17:12.003,0,0,282,,500000", LINE, NULL},
    {"1970/02/29 08:17:12.003,0,0,282,1,50", TIME, NULL},
    {"1970/13/11 08:17:12.003,0,0,282,1,50", TIME, NULL},
};
static const line_case cl2000_day_cases[] = {
    {"08:17:12:003;0;282;50", "3572232.003 0 282 80.0.0.0.0.0.0.0 0", NULL},
    {"07:17:12:003;0;282;50", "3568632.003 0 282 80.0.0.0.0.0.0.0 0", NULL},
    {"07:17:11:999;0;282;50", "3655031.999 0 282 80.0.0.0.0.0.0.0 0", NULL}, /* the 12th */
    {"11T08:17:12:003;0;282;50", TIME, NULL},
};
static const line_case cl2000_free_cases[] = {
    {"11T081712003;0;282;50", "893832.003 0 282 80.0.0.0.0.0.0.0 0", NULL},
    {"01T000000001;0;282;50", "0.001 0 282 80.0.0.0.0.0.0.0 0", NULL},
};

static void test_cl2000(void **state) {
    (void)state;
    CHECK(LEAT_CAN_CL2000, CL_PREAMBLE("19700211T081712", "4", "") CL_NAMES, cl2000_cases);
    CHECK(LEAT_CAN_CL2000,
          "# Logger type: CL1000\n# Time: 20200101T000000\n# Value separator: \",\"\n"
          "# Time format: 6\nTimestamp,Lost,Type,ID,Length,Data\n",
          cl2000_length_cases);
    CHECK(LEAT_CAN_CL2000, CL_PREAMBLE("19700211T081712", "3", "") CL_NAMES, cl2000_day_cases);
    CHECK(LEAT_CAN_CL2000, CL_NAMES "11T081712003;0;282;50\n", cl2000_free_cases);
    CHECK(LEAT_CAN_CL2000, CL_PREAMBLE("", "4", "") CL_NAMES, cl2000_free_cases);
}

/* Months and years that begin, and logs that were put together. */
static void test_cl2000_sequences(void **state) {
    (void)state;
    static const char *const months[] = {
        "2678399.999 0 001 0.0.0.0.0.0.0.0 0", "2678400 0 001 0.0.0.0.0.0.0.0 0",
        "2678399.998 0 001 0.0.0.0.0.0.0.0 0", "5097599 0 001 0.0.0.0.0.0.0.0 0",
        "5097600 0 001 0.0.0.0.0.0.0.0 0",     LINE,
        "5097601 0 001 0.0.0.0.0.0.0.0 0",     NULL};
    check_sequence(LEAT_CAN_AUTO,
                   CL_PREAMBLE("19700201T000000", "4", "") CL_NAMES
                   "31T235959999;0;1;\n01T000000000;0;1;\n31T235959998;0;1;\n"
                   "28T235959000;0;1;\n01T000000000;0;1;\n20T000000000;x;1;\n"
                   "01T000001000;0;1;\n",
                   months);
    static const char *const years[] = {"31535999 0 001 0.0.0.0.0.0.0.0 0",
                                        "31536000 0 001 0.0.0.0.0.0.0.0 0", TIME, NULL};
    check_sequence(LEAT_CAN_AUTO,
                   CL_PREAMBLE("19701231T000000", "5", "") CL_NAMES
                   "12-31T23:59:59.000;0;1;\n01-01T00:00:00.000;0;1;\n02-29T00:00:00.000;0;1;\n",
                   years);
    static const char *const parts[] = {"0 0 001 0.0.0.0.0.0.0.0 0",       EVENT, EVENT, EVENT,
                                        "2678401 0 001 0.0.0.0.0.0.0.0 0", EVENT, TIME,  EVENT,
                                        "2678402 0 001 0.0.0.0.0.0.0.0 0", EVENT, TIME,  NULL};
    check_sequence(LEAT_CAN_AUTO,
                   CL_PREAMBLE("19700101T000000", "4", "") CL_NAMES
                   "01T000000000;0;1;\n"
                   "# Time: 19700201T000000\n# Time format: 4\n" CL_NAMES "01T000001000;0;1;\n"
                   "# Time format: 5\n01T000002000;0;1;\n# Time format: 4\n"
                   "01T000002000;0;1;\nTimestamp;ID;Type;Data\n01T000003000;1;0;\n",
                   parts);
    /* without the month it is not known how long it is */
    static const char *const undated[] = {"2591999 0 001 0.0.0.0.0.0.0.0 0", TIME,
                                          "2592000 0 001 0.0.0.0.0.0.0.0 0", NULL};
    check_sequence(LEAT_CAN_AUTO,
                   CL_NAMES "30T235959000;0;1;\n01T000000000;0;1;\n31T000000000;0;1;\n", undated);
}

static void test_cl2000_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *want;
    } cases[] = {
        {CL_PREAMBLE("19700101T000000", "2", "") CL_NAMES "1712003;0;282;50\n",
         "needs \"# Time format:\" 3 or more"},
        {CL_PREAMBLE("19700101T000000", "7", "") CL_NAMES "1712003;0;282;50\n",
         "needs \"# Time format:\" 3 or more"},
        {CL_PREAMBLE("19700101T000000", "4", "") "Timestamp;ID;Data\n11T081712003;282;50\n",
         "needs the columns Timestamp, Type, ID and Data"},
        {CL_PREAMBLE("19700101T000000", "4", "") "11T081712003;0;282;50\n",
         "needs the columns Timestamp, Type, ID and Data"},
        {CL_PREAMBLE("19700101T000000", "4", "") "Timestamp;Type;ID;Data;Data\n",
         "needs the columns"},
        {"# a csv\ntime,id,data\n0.1,100,00\n", "neither a header nor a frame; remove it"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_refused(cases[i].text, "x.txt", cases[i].want);
    /* times that are numbers stay those of a csv */
    static const char *const plain[] = {
        CL_NAMES "1591863432.5;1;282;50\n1591863433;0;283;50\n",
        CL_NAMES "11081712003;1;282;50\n11081713003;1;282;50\n",
        CL_NAMES "081712003;1;282;50\n",
    };
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        assert_int_equal(detect(plain[i], LEAT_CAN_AUTO).looks, LEAT_CAN_CSV);
    }
}

/* ---- canking ---- */

#define KING_NAMES "Chn Identifier Flg   DLC  D0...1...2...3...4...5...6..D7       Time     Dir\n"
#define KING_HEX " 0    000007E8         8  03  59  02  FF  00  00  00  00     395.000970 R\n"
#define KING_DEC " 0         901         2    3 255                              395.000970 R\n"

static const line_case canking_cases[] = {
    {" 0    000007E8         8  03  59  02  FF  00  00  00  00     395.000970 R",
     "395.00097 0 7E8 3.89.2.255.0.0.0.0 0", NULL},
    {" 1    18FEF100 X       1  10                                 395.000970 T",
     "395.00097 1 18FEF100 16.0.0.0.0.0.0.0 0", NULL},
    {" 1    00000100 X       0                                     395.000970 T",
     "395.00097 1 00000100 0.0.0.0.0.0.0.0 0", NULL},
    {"0 100 0 1.5 r", "1.5 0 100 0.0.0.0.0.0.0.0 0", NULL},
    {" 0    00000000            ErrorFrame                          29.095270 R", BROKEN, NULL},
    {" 0    00000123   R     8                                     395.000970 R", REMOTE, NULL},
    {" 0    18FEF100 XR      0                                     395.000970 R", REMOTE, NULL},
    {"0 123 F 12 01 02 03 04 05 06 07 08 09 0A 0B 0C 1.5 R", "1.5 0 123 1.2.3.4.5.6.7.8 0", NULL},
    {"0 123 FB 9 01 02 03 04 05 06 07 08 09 0A 0B 0C 1.5 R", "1.5 0 123 1.2.3.4.5.6.7.8 0", NULL},
    {"0 123 F 1 01 1.5 R", FD, "r"},
    {"0 123 12 01 02 03 04 05 06 07 08 1.5 R", "1.5 0 123 1.2.3.4.5.6.7.8 0", NULL},
    {"Logging stopped.", EVENT, NULL},
    {"Chn Identifier Flg   DLC  D0...1...2...3...4...5...6..D7       Time     Dir", EVENT, NULL},
    {"0 123 2 01 1.5 R", LINE, NULL},
    {"0 123 1 01 02 1.5 R", LINE, NULL},
    {"0 123 Q 1 01 1.5 R", LINE, NULL},
    {"0 123 16 1.5 R", LINE, NULL},
    {"0 123 1 01 1.5 X", LINE, NULL},
    {"0 123 1 01 1.5", LINE, NULL}, /* cut */
    {"0 123 2 01 02", LINE, NULL},
    {"0", LINE, NULL},
    {"0 123 1 01 x.5 R", TIME, NULL},
    {"0 123 1 01 15 R", TIME, NULL},
    {"x1 123 1 01 1.5 R", EVENT, NULL},
    {"-1 123 1 01 1.5 R", BUS, NULL},
    {"0 800 1 01 1.5 R", ID, NULL},
    {"0 20000000 X 1 01 1.5 R", ID, NULL},
    {"0 12G X 1 01 1.5 R", ID, NULL},
    {"0 123 1 0G 1.5 R", PAYLOAD, NULL},
    {"0 123 1 1 1.5 R", PAYLOAD, NULL},
    {"0 123 1 255 1.5 R", PAYLOAD, NULL},
};
static const line_case canking_decimal_cases[] = {
    {" 0         901         3    3 255  16                          395.000970 R",
     "395.00097 0 385 3.255.16.0.0.0.0.0 0", NULL},
    {" 0   217056256 X       1   10                                  395.000970 R",
     "395.00097 0 0CF00400 10.0.0.0.0.0.0.0 0", NULL},
    {"0 901 1 256 1.5 R", PAYLOAD, NULL},
    {"0 901 1 0A 1.5 R", PAYLOAD, NULL},
    {"0 38F 1 10 1.5 R", ID, NULL},
    {"0 536870912 X 1 10 1.5 R", ID, NULL},
};

static void test_canking(void **state) {
    (void)state;
    CHECK(LEAT_CAN_CANKING, KING_NAMES KING_HEX, canking_cases);
    CHECK(LEAT_CAN_CANKING, KING_HEX, canking_cases);
    CHECK(LEAT_CAN_CANKING, KING_NAMES " 0 00000123 2 10 20 1.5 R\n", canking_cases);
    CHECK(LEAT_CAN_CANKING, KING_NAMES "Logging stopped.\n", canking_cases);
    CHECK(LEAT_CAN_CANKING, KING_NAMES KING_DEC, canking_decimal_cases);
    CHECK(LEAT_CAN_CANKING, KING_NAMES KING_DEC " 0 123 2 10 20 1.5 R\n", canking_decimal_cases);
    /* a damaged line does not make it decimal */
    CHECK(LEAT_CAN_CANKING,
          KING_NAMES " 0 00000123 1 10 1.5 R\n 0 00000123 1 20 1.6 R\n 0 00000123 1 1 1.7 R\n",
          canking_cases);
    static const char base[] = "numbers are hexadecimal or decimal, and its first lines fit both";
    check_refused(KING_NAMES "0 123 2 10 20 1.5 R\n", "x", base);
    check_refused(KING_NAMES "0 123 2 10 20 1.5 R\n0 123 2 10 2 1.5 R\n0 123 0 1.5 R\n", "x", base);
    check_refused("a text\n" KING_HEX, "x", "not a vehicle log format");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_busmaster),         cmocka_unit_test(test_busmaster_sequences),
        cmocka_unit_test(test_busmaster_refused), cmocka_unit_test(test_cl2000),
        cmocka_unit_test(test_cl2000_sequences),  cmocka_unit_test(test_cl2000_refused),
        cmocka_unit_test(test_canking),
    };
    return cmocka_run_group_tests_name("lines of recorders", tests, NULL, NULL);
}
