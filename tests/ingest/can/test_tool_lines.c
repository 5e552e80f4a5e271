/* Lines of vehicle logs as the programs of makers of interfaces write them. */
#include "can_line_cases.h"

/* ---- asc ---- */

#define ASC_HEADER(how)                                                                            \
    "date Mon Dec 31 04:20:30.951 pm 2018\nbase " how "\ninternal events logged\n// version 13\n"  \
    "Begin Triggerblock Mon Dec 31 04:20:30.951 pm 2018\n   0.000000 Start of measurement\n"

static const line_case asc_cases[] = {
    {"    0.25 1  385             Rx   d 8 70 00 00 00 0F 7F FF 00  Length = 239910 BitCount = 124",
     "0.25 1 385 112.0.0.0.15.127.255.0 0", NULL},
    {"0.25 2  18FEE0D8x  Tx   d 2 0A 0B", "0.25 2 18FEE0D8 10.11.0.0.0.0.0.0 0", NULL},
    {"0.25 2  7x  Tx   d 0", "0.25 2 00000007 0.0.0.0.0.0.0.0 0", NULL},
    {"0.25 2  18FEE0D8  Tx   d 1 01", "0.25 2 18FEE0D8 1.0.0.0.0.0.0.0 0", NULL},
    {"0.25 1  385  Rx   d f 01 02 03 04 05 06 07 08", "0.25 1 385 1.2.3.4.5.6.7.8 0", NULL},
    {"0.25 1  385  Rx   D 1 01", "0.25 1 385 1.0.0.0.0.0.0.0 0", NULL},
    {"0.25 1  385  Rx   R", REMOTE, NULL},
    {"0.25 1  385  Rx   r", REMOTE, NULL},
    {"0.25 1  385  Rx   r 8  Length = 0", REMOTE, NULL},
    {"0.25 1  ErrorFrame  ECC: 10100010", BROKEN, NULL},
    {"0.25 CANFD   1 Rx  ErrorFrame Not Acknowledge error", BROKEN, NULL},
    {"0.25 1  385  TxRq d 1 01", EVENT, NULL},
    {"0.25 1  Statistic: D 0 R 0 XD 0 XR 0 E 0 O 0 B 0.00%", EVENT, NULL},
    {"0.25 CAN 1 Status:chip status error passive", EVENT, NULL},
    {"0.25 Start of measurement", EVENT, NULL},
    {"0.25 log trigger event", EVENT, NULL},
    {"0.25 Li 1  12 Rx 8 01", EVENT, NULL},
    {"End TriggerBlock", EVENT, NULL},
    {"// a comment", EVENT, NULL},
    {"0.25 1  385  Rx   d 3 01 02", LINE, NULL},
    {"0.25 1  385  Rx   d 1 0G", PAYLOAD, NULL},
    {"0.25 1  385  Rx   d 16 01", LINE, NULL},
    {"0.25 1  385  Rx   x 1 01", LINE, NULL},
    {"0.25 1  EngineData  Rx   d 1 01", ID, NULL},
    {"0.25 1  20000000x  Rx   d 1 01", ID, NULL},
    {"0.x5 1  385  Rx   d 1 01", TIME, NULL},
    {"0.25 CANFD   3 Rx        4B1                                  1 0 2  2 70 01        0    0 "
     "    3000        0",
     "0.25 3 4B1 112.1.0.0.0.0.0.0 0", NULL},
    {"0.25 CANFD   3 Rx        4B1  EngineData  0 0 2  2 70 01 0 0 3000 0",
     "0.25 3 4B1 112.1.0.0.0.0.0.0 0", NULL},
    {"0.25 CANFD 3 Tx 4B1x 1 0 9 12 01 02 03 04 05 06 07 08 09 0A 0B 0C 0 0 3000 0",
     "0.25 3 000004B1 1.2.3.4.5.6.7.8 0", NULL},
    {"0.25 CANFD 3 Tx 4B1x 1 0 9 12 01 02 03 04 05 06 07 08 09 0A 0B 0C 0 0 3000 0", FD, "r"},
    {"0.25 CANFD 3 Tx 4B1 0 0 8  0 0 0 10 0", REMOTE, NULL},
    {"0.25 CANFD 3 Tx 4B1 0 0 0  0 0 0 0 0", "0.25 3 4B1 0.0.0.0.0.0.0.0 0", NULL},
    {"0.25 CANFD 3 Rx 1A0 0 0 d 15", LINE, NULL},
    {"0.25 CANFD 3 Rx 1A0 2 0 d 15", LINE, NULL},
};
static const line_case decimal_asc_cases[] = {
    {"0.25 1  901  Rx   d 8 112   0   0   0  15 127 255   0", "0.25 1 385 112.0.0.0.15.127.255.0 0",
     NULL},
    {"0.25 1  217056256x  Rx   d 1 7", "0.25 1 0CF00400 7.0.0.0.0.0.0.0 0", NULL},
    {"0.25 7  309       Rx D 2  38   9", "0.25 7 135 38.9.0.0.0.0.0.0 0", NULL},
    {"0.25 1  901  Rx   d 1 256", PAYLOAD, NULL},
    {"0.25 1  901  Rx   d 1 0A", PAYLOAD, NULL},
    {"0.25 1  901  Rx   d 2 1", LINE, NULL},
    {"0.25 1  38F  Rx   d 1 1", ID, NULL},
    {"0.25 1  536870912x  Rx   d 1 1", ID, NULL},
    {"0.25 CANFD 3 Tx 5x 1 0 9 12 1 2 3 4 5 6 7 8 9 10 11 12 0 0 3000 0",
     "0.25 3 00000005 1.2.3.4.5.6.7.8 0", NULL},
    {"0.25 CANFD 3 Tx 5x 1 0 f 1 12 0 0 3000 0", "0.25 3 00000005 12.0.0.0.0.0.0.0 0", NULL},
};

static void test_asc(void **state) {
    (void)state;
    CHECK(LEAT_CAN_ASC, ASC_HEADER("hex  timestamps absolute"), asc_cases);
    CHECK(LEAT_CAN_ASC, ASC_HEADER("dec timestamps absolute"), decimal_asc_cases);
    CHECK(LEAT_CAN_ASC, "*** a title\nBASE HEX\n0.1 1 12 Rx d 0\n", asc_cases);
    static const char *const relative[] = {"base hex timestamps relative\n0.1 1 12 Rx d 0\n",
                                           "base hex timestamps absolute\n0.1 1 12 Rx d 0\n"};
    for (int i = 0; i < 2; i++) {
        const detection it = detect(relative[i], LEAT_CAN_AUTO);
        assert_int_equal(it.layout.gaps, i == 0);
        assert_int_equal(it.skip, 29);
    }
}

/* ---- trc ---- */

#define TRC_HEADER(version, rest)                                                                  \
    ";$FILEVERSION=" version " \n;$STARTTIME=40023.5245451516 \n" rest ";   Start time: x\n"

static const line_case trc_10_cases[] = {
    {"     1)      1841      0001  8  00 01 02 03 04 05 06 07 ", "1.841 0 001 0.1.2.3.4.5.6.7 0",
     NULL},
    {"     2)      1842  18EFC034  2  0A 0B", "1.842 0 18EFC034 10.11.0.0.0.0.0.0 0", NULL},
    {"     3)      1842      0008  4  ERROR 00 19 08 08 ", BROKEN, NULL},
    {"     4)      1843  FFFFFFFF  4  00 00 00 04 -- -- -- --  BUSLIGHT ", EVENT, NULL},
    {"     5)      1844      0100  3  RTR ", REMOTE, NULL},
    {"     6)      1844      0100  3  01 02", LINE, NULL},
    {"     7)      1844      0100  2  01 02 03", LINE, NULL},
    {"     8)      18x4      0100  1  01", TIME, NULL},
    {"     9       1844      0100  1  01", LINE, NULL},
    {"     9)      1844      01G0  1  01", ID, NULL},
    {"     9)      1844  20000000  1  01", ID, NULL},
    {"     9)      1844      0100  1  0G", PAYLOAD, NULL},
    {"; a comment", EVENT, NULL},
};
static const line_case trc_11_cases[] = {
    {"     1)      1059.9  Rx         0300  7  00 00 00 00 04 00 00  ",
     "1.0599 0 300 0.0.0.0.4.0.0.0 0", NULL},
    {"     1)      1059.9  Tx     00000300  0", "1.0599 0 00000300 0.0.0.0.0.0.0.0 0", NULL},
    {"     1)      1059.9  Tx      0000300  0", "1.0599 0 00000300 0.0.0.0.0.0.0.0 0", NULL},
    {"     5)      1346.8  Warng  FFFFFFFF  4  00 00 00 04  BUSLIGHT ", EVENT, NULL},
    {"     6)      1349.2  Error      0008  4  00 19 08 08 ", BROKEN, NULL},
    {"     7)      1352.7  Rx         0100  3  RTR ", REMOTE, NULL},
    {"     7)      1352.7  Xx         0100  1  01", LINE, NULL},
    {"     7)      1352.7  Rx         0100", LINE, NULL},
    {"     7)      1352.7", LINE, NULL},
};
static const line_case trc_12_cases[] = {
    {"     3)      1298.945  2  Tx         0400  2  00 09  ", "1.298945 2 400 0.9.0.0.0.0.0.0 0",
     NULL},
    {"     5)      1346.834  1  Warng  FFFFFFFF  4  00 00 00 04  BUSLIGHT ", EVENT, NULL},
    {"     3)      1298.945  x  Tx         0400  2  00 09  ", BUS, NULL},
};
static const line_case trc_13_cases[] = {
    {"     3)      1298.945 4  Tx        0400 -  2    00 09  ", "1.298945 4 400 0.9.0.0.0.0.0.0 0",
     NULL},
    {"     6)      1349.222 1  Error     0008 -  4    00 19 08 08 ", BROKEN, NULL},
};
static const line_case trc_20_cases[] = {
    {"      1      1059.900 DT     0300 Rx 7  00 00 00 00 04 00 00  ",
     "1.0599 0 300 0.0.0.0.4.0.0.0 0", NULL},
    {"      5      1334.416 FD     0500 Tx 12 01 02 03 04 05 06 07 08 09 0A 0B 0C ",
     "1.334416 0 500 1.2.3.4.5.6.7.8 0", NULL},
    {"      5      1334.416 FD     0500 Tx 12 01 02 03 04 05 06 07 08 09 0A 0B 0C ", FD, "r"},
    {"      5      1334.416 DT     0500 Tx 12 01 02 03 04 05 06 07 08 09 0A 0B 0C ", LINE, NULL},
    {"      6      1334.522 ER          Rx    04 00 02 00 00 ", BROKEN, NULL},
    {"      7      1334.531 ST          Rx    00 00 00 08 ", EVENT, NULL},
    {"      8      1334.643 EC          Rx    02 02 ", EVENT, NULL},
    {"      9      1335.156 DT 18EFC034 Tx 1  01", "1.335156 0 18EFC034 1.0.0.0.0.0.0.0 0", NULL},
    {"     10      1336.543 RR     0100 Rx 3 ", REMOTE, NULL},
    {"     10      1336.543 ZZ     0100 Rx 1 01", LINE, NULL},
    {"     10)     1336.543 DT     0100 Rx 1 01", LINE, NULL},
    {"     10      1336.543 DT     0100 Xx 1 01", LINE, NULL},
};
static const line_case trc_21_cases[] = {
    {"      1      1059.900 DT 1      0300 Rx -  7    00 00 00 00 04 00 00  ",
     "1.0599 1 300 0.0.0.0.4.0.0.0 0", NULL},
    {"      5      1334.416 FB 2      0500 Tx -  9    01 02 03 04 05 06 07 08 09 0A 0B 0C ",
     "1.334416 2 500 1.2.3.4.5.6.7.8 0", NULL},
    {"      5      1334.416 FE 1      0500 Tx -  9    01 02 03 04 05 06 07 08 09", LINE, NULL},
    {"      5      1334.416 BI 1      0500 Tx -  1    01", FD, "r"},
    {"      6      1334.222 ER 1         - Rx -  5    04 00 02 00 00 ", BROKEN, NULL},
    {"      7      1334.224 EV 1  User-defined event for bus 1 ", EVENT, NULL},
    {"      8      1334.225 EV -  User-defined event for all busses ", EVENT, NULL},
    {"     13      1336.543 RR 1      0100 Rx -  3 ", REMOTE, NULL},
    {"     13      1336.543 DT -      0100 Rx -  1 01", BUS, NULL},
};
/* Where all identifiers of the first lines have eight digits. */
static const line_case trc_padded_cases[] = {
    {"1 1 DT 1 00000300 Rx - 1 01", "0.001 1 300 1.0.0.0.0.0.0.0 0", NULL},
    {"1 1 DT 1 00000800 Rx - 1 01", "0.001 1 00000800 1.0.0.0.0.0.0.0 0", NULL},
    {"1 1 DT 1 0300 Rx - 1 01", ID, NULL},
};

#define COLUMNS_21 ";$COLUMNS=N,O,T,B,I,d,R,L,D \n"
static void test_trc(void **state) {
    (void)state;
    CHECK(LEAT_CAN_TRC, ";#####\n;   Start time: x\n     1)      1841      0001  0\n",
          trc_10_cases);
    CHECK(LEAT_CAN_TRC, TRC_HEADER("1.0", ""), trc_10_cases);
    CHECK(LEAT_CAN_TRC, TRC_HEADER("1.1", ""), trc_11_cases);
    CHECK(LEAT_CAN_TRC, TRC_HEADER("1.2", ""), trc_12_cases);
    CHECK(LEAT_CAN_TRC, TRC_HEADER("1.3", ""), trc_13_cases);
    CHECK(LEAT_CAN_TRC, TRC_HEADER("2.0", ";$COLUMNS=N,O,T,I,d,l,D\n"), trc_20_cases);
    CHECK(LEAT_CAN_TRC, TRC_HEADER("2.1", COLUMNS_21), trc_21_cases);
    CHECK(LEAT_CAN_TRC,
          TRC_HEADER("2.1", COLUMNS_21) "1 1 DT 1 00000300 Rx - 1 01\n1 1 DT 1 18EFC034 Rx - 0\n",
          trc_padded_cases);
    CHECK(LEAT_CAN_TRC,
          TRC_HEADER("2.1", COLUMNS_21) "1 1 DT 1 00000300 Rx - 1 01\n1 1 DT 1 0300 Rx - 0\n",
          trc_21_cases);
}

static void test_trc_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *want;
    } cases[] = {
        {TRC_HEADER("3.0", "") "1 1 DT 1 0300 Rx - 1 01\n", "version 3.0 of PEAK's trace files"},
        {TRC_HEADER("2.1", "") "1 1 DT 1 0300 Rx - 1 01\n", "needs a line \";$COLUMNS=\""},
        {TRC_HEADER("2.1", ";$COLUMNS=N,O,T,B,d,R,L,D\n") "1 1 DT 1 Rx - 0\n", "needs a line"},
        {TRC_HEADER("2.1", ";$COLUMNS=N,O,T,I,d,L,l,D\n") "1 1 DT 1 Rx 0\n", "needs a line"},
        {TRC_HEADER("2.0", ";$COLUMNS=N,O,T,I,d,Z,l,D\n") "1 1 DT 1 Rx 0\n", "needs a line"},
        {"; a csv\ntime,id,data\n0.1,100,00\n", "not a vehicle log format"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_refused(cases[i].text, "x.trc", cases[i].want);
}

/* ---- vehicle-spy ---- */

#define SPY_NETWORKS                                                                               \
    "File Format,1\nSave Date,6/30/2018\nNotes,\n"                                                 \
    "Network Description,Hardware,Network,Protocol,Baud Rate\n"                                    \
    "HS CAN,x,HS CAN,CAN,500000,\nLIN 1,x,LIN 1,LIN,19200,\n\n"
#define SPY_CAN                                                                                    \
    "Line,Abs Time(Sec),Rel Time (Sec),Status,Er,Tx,Description,Network,Node,Arb ID,Remote,Xtd,"   \
    "B1,B2,B3,B4,B5,B6,B7,B8,Value,Trigger,Signals\n"
#define SPY_OTHER                                                                                  \
    "Line,Abs Time(Sec),Rel Time (Sec),Status,Er,Tx,Description,Network,Node,PT,Trgt,Src,"         \
    "B1,B2,B3,B4,B5,B6,B7,B8,Value,Trigger,Signals\n"
#define SPY_ROWS                                                                                   \
    "1,2550.25,0.000000,67371008,F,F,HS $2CC,HS CAN,,2CC,F,F,59,00,00,00,06,7F,FF,00,,,\n"         \
    "2,2550.50,0.250000,67371008,F,F,MS $2CC,MS CAN,,2CC,F,F,59,00,00,00,06,7F,FF,00,,,\n"

static const line_case spy_cases[] = {
    {"3,2550.75,0.25,67371008,F,F,x,HS CAN,,2CC,F,F,59,00,00,00,06,7F,FF,AA,,,",
     "2550.75 0 2CC 89.0.0.0.6.127.255.170 0", NULL},
    {"3,2550.75,0.25,67371008,F,F,x,MS CAN,,110,F,T,0A,0B,,,,,,,,,",
     "2550.75 1 00000110 10.11.0.0.0.0.0.0 0", NULL},
    {"3,2550.75,0.25,67371008,F,F,\"a, b\",MS CAN,,CF00400,F,T,0A,,,,,,,,,,a,b,c",
     "2550.75 1 0CF00400 10.0.0.0.0.0.0.0 0", NULL},
    {"3,2550.75,0.25,67371008,F,F,x,HS CAN,,2CC,T,F,,,,,,,,,,,", REMOTE, NULL},
    {"3,2550.75,0.25,67371008,T,F,x,HS CAN,,2CC,F,F,,,,,,,,,,,", BROKEN, NULL},
    {"3,2550.75,0.25,67371008,F,F,x,LIN 1,,2C,F,F,01,,,,,,,,,,", EVENT, NULL},
    {",,,,,", EVENT, NULL},
    {"3,2550.75,0.25,67371008,F,F,x,HS CAN,,2CC,F,F,59,,00,,,,,,,,", LINE, NULL},
    {"3,2550.75,0.25,67371008,F,F,x,HS CAN,,2CC,F,F,5G,,,,,,,,,,", PAYLOAD, NULL},
    {"3,2550.75,0.25,67371008,F,F,x,HS CAN,,Gear,F,F,50,,,,,,,,,,", ID, NULL},
    {"3,2550.75,0.25,67371008,F,F,x,HS CAN,,2CC,F,what,50,,,,,,,,,,", LINE, NULL},
    {"3,late,0.25,67371008,F,F,x,HS CAN,,2CC,F,F,50,,,,,,,,,,", TIME, NULL},
};

static const line_case spy_alone[] = {
    {"3,2550.75,0.25,0,F,F,x,HS CAN,,281,F,F,59,10,,,,,,,,,", "2550.75 0 281 89.16.0.0.0.0.0.0 0",
     NULL},
};

static void test_vehicle_spy(void **state) {
    (void)state;
    CHECK(LEAT_CAN_VEHICLE_SPY, SPY_NETWORKS SPY_CAN SPY_ROWS, spy_cases);
    CHECK(LEAT_CAN_VEHICLE_SPY, SPY_NETWORKS SPY_OTHER SPY_CAN SPY_ROWS, spy_cases);
    CHECK(LEAT_CAN_VEHICLE_SPY, SPY_NETWORKS SPY_CAN SPY_OTHER SPY_ROWS, spy_cases);
    CHECK(LEAT_CAN_VEHICLE_SPY, SPY_NETWORKS SPY_OTHER SPY_ROWS, spy_cases);
}

#define SPY_ROW(describe, id, bytes) "1,2.25,0,0,F,F," describe ",HS CAN,," id ",F,F," bytes ",,,\n"

/* Decimal numbers look like hexadecimal ones. */
static void test_vehicle_spy_decimal(void **state) {
    (void)state;
    static const char zeros[] = SPY_ROW("HS $10", "10", "0,0,0,0,0,0,0,0");
    static const char want[] = "its identifiers or bytes seem to be decimal";
    check_refused(SPY_NETWORKS SPY_CAN SPY_ROW("x", "716", "89,0,0,0,6,127,255,0"), "x", want);
    check_refused(SPY_NETWORKS SPY_CAN SPY_ROW("HS CAN $2CC", "716", "59,00,7F,,,,,"), "x", want);
    char text[4096];
    for (int rows = 1; rows <= 2; rows++) {
        snprintf(text, sizeof text, "%s%s%s", SPY_NETWORKS SPY_CAN, zeros, rows == 2 ? zeros : "");
        if (rows == 2) check_refused(text, "x", want);
        else CHECK(LEAT_CAN_VEHICLE_SPY, text, spy_alone);
    }
    /* hexadecimal without a letter */
    CHECK(LEAT_CAN_VEHICLE_SPY,
          SPY_NETWORKS SPY_CAN SPY_ROW("HS $110", "110", "59,00,11,22,33,44,55,66"), spy_alone);
    CHECK(LEAT_CAN_VEHICLE_SPY, SPY_NETWORKS SPY_CAN SPY_ROW("Node $1", "1", "10,20,30,40,,,,"),
          spy_alone);
}

/* ---- openxc ---- */

static const line_case openxc_cases[] = {
    {"{\"timestamp\": 2.25, \"bus\": 1, \"id\": 642, \"data\": \"0x50000000987fff00\"}",
     "2.25 1 282 80.0.0.0.152.127.255.0 0", NULL},
    {"{\"data\":\"0102\",\"id\":217056256,\"timestamp\":2.25}", "2.25 0 0CF00400 1.2.0.0.0.0.0.0 0",
     NULL},
    {"{\"timestamp\":2,\"bus\":2,\"id\":7,\"data\":\"0x\",\"frame_format\":\"extended\"}",
     "2 2 00000007 0.0.0.0.0.0.0.0 0", NULL},
    {"{\"timestamp\":2,\"bus\":2,\"id\":7,\"data\":\"0x\",\"frame_format\":\"odd\"}", LINE, NULL},
    {"{\"timestamp\": 2.25, \"name\": \"vehicle_speed\", \"value\": 45.0}", EVENT, NULL},
    {"{\"metadata\": {\"version\": \"v3.0\"}}", EVENT, NULL},
    {"{\"timestamp\":2,\"bus\":1,\"id\":2015,\"mode\":1,\"pid\":5,\"success\":true}", EVENT, NULL},
    {"{\"bus\":1,\"id\":642,\"data\":\"0x50\"}", TIME, NULL},
    {"{\"timestamp\":1700000000002,\"bus\":1,\"id\":642,\"data\":\"0x50\"}", TIME, NULL},
    {"{\"timestamp\":2,\"bus\":1,\"id\":\"642\",\"data\":\"0x50\"}", ID, NULL},
    {"{\"timestamp\":2,\"bus\":1,\"id\":536870912,\"data\":\"0x50\"}", ID, NULL},
    {"{\"timestamp\":2,\"bus\":-1,\"id\":642,\"data\":\"0x50\"}", BUS, NULL},
    {"{\"timestamp\":2,\"bus\":1,\"id\":642,\"data\":\"0x5\"}", PAYLOAD, NULL},
    {"{\"timestamp\":2,\"bus\":1,\"id\":642,\"data\":80}", PAYLOAD, NULL},
    {"{\"timestamp\":2,\"id\":642,\"id\":643,\"data\":\"0x50\"}", LINE, NULL},
    {"{\"timestamp\":2,\"bus\":1,\"id\":642,\"data\":\"0x50\"", LINE, NULL},
};

static void test_openxc(void **state) {
    (void)state;
    static const char translated[] = "{\"timestamp\":2,\"name\":\"vehicle_speed\",\"value\":45}\n";
    CHECK(LEAT_CAN_OPENXC,
          "{\"metadata\": {}}\n{\"timestamp\":2,\"bus\":1,\"id\":642,\"data\":\"0x50\"}\n",
          openxc_cases);
    check_refused(translated, "x", "only OpenXC traces with raw CAN messages");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_asc),
        cmocka_unit_test(test_trc),
        cmocka_unit_test(test_trc_refused),
        cmocka_unit_test(test_vehicle_spy),
        cmocka_unit_test(test_vehicle_spy_decimal),
        cmocka_unit_test(test_openxc),
    };
    return cmocka_run_group_tests_name("lines of tools", tests, NULL, NULL);
}
