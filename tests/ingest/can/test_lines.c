/* Lines of vehicle logs, format by format: what a line becomes, or why it is none; and which format
 * a file has. */
#include "can_line_cases.h"

/* ---- csv ---- */

static const line_case csv_cases[] = {
    {"1.5,0F5,7D8778877F7722B3,0", "1.5 0 0F5 125.135.120.135.127.119.34.179 0", NULL},
    {"1580000100.5,0f5,ffFFaA09,1", "1.5800001e+09 0 0F5 255.255.170.9.0.0.0.0 1", NULL},
    {"-2,5,,2", "-2 0 005 0.0.0.0.0.0.0.0 1", NULL},
    {"1e3,7FF,00,-1", "1000 0 7FF 0.0.0.0.0.0.0.0 0", NULL},
    {"1,800,01,0", "1 0 00000800 1.0.0.0.0.0.0.0 0", NULL},
    {"1,00000450,01,+3", "1 0 450 1.0.0.0.0.0.0.0 1", NULL},
    {"1,1fffffff,01,0", "1 0 1FFFFFFF 1.0.0.0.0.0.0.0 0", NULL},
    {"1,0F5,01,1.0", "1 0 0F5 1.0.0.0.0.0.0.0 1", NULL},
    {"1,0F5,01,0.", "1 0 0F5 1.0.0.0.0.0.0.0 0", NULL},
    {"1,0F5,01,000", "1 0 0F5 1.0.0.0.0.0.0.0 0", NULL},
    {"1,0F5,01,18446744073709551616", "1 0 0F5 1.0.0.0.0.0.0.0 1", NULL},
    {"\"1\",\"0F5\",\"0A\",\"1\"", "1 0 0F5 10.0.0.0.0.0.0.0 1", NULL},
    /* number of fields */
    {"1,0F5,01", LINE, NULL},
    {"1,0F5,01,0,0", LINE, NULL},
    {"1,0F5,01,0,", LINE, NULL},
    {"x", LINE, NULL},
    {",,,", TIME, NULL},
    {"\"1,0F5,01,0", LINE, NULL},
    {"\"1\"2,0F5,01,0", LINE, NULL},
    {"1,\"0F5,01\",0", LINE, NULL},
    /* times */
    {"nan,0F5,01,0", TIME, NULL},
    {"inf,0F5,01,0", TIME, NULL},
    {"1e999,0F5,01,0", TIME, NULL},
    {"1e12,0F5,01,0", "1e+12 0 0F5 1.0.0.0.0.0.0.0 0", NULL},
    {"-1e12,0F5,01,0", "-1e+12 0 0F5 1.0.0.0.0.0.0.0 0", NULL},
    {"1000000000001,0F5,01,0", TIME, NULL},
    {"-1e39,0F5,01,0", TIME, NULL},
    {"1s,0F5,01,0", TIME, NULL},
    {" 1,0F5,01,0", TIME, NULL},
    {"2019-01-01 00:00:00,0F5,01,0", TIME, NULL},
    /* identifiers */
    {"1,,01,0", ID, NULL},
    {"1,0xF5,01,0", "1 0 0F5 1.0.0.0.0.0.0.0 0", NULL},
    {"1,0X26,01,0", "1 0 026 1.0.0.0.0.0.0.0 0", NULL},
    {"1,0xF5,01,0", "1 0 0xF5 1.0.0.0.0.0.0.0 0", "w"},
    {"1,0x,01,0", ID, NULL},
    {"1,0x20000000,01,0", ID, NULL},
    {"1,135h,01,0", "1 0 135 1.0.0.0.0.0.0.0 0", NULL},
    {"1,0CF00400H,01,0", "1 0 0CF00400 1.0.0.0.0.0.0.0 0", NULL},
    {"1,$1a,01,0", "1 0 01A 1.0.0.0.0.0.0.0 0", NULL},
    {"1,$18FEF100,01,0", "1 0 18FEF100 1.0.0.0.0.0.0.0 0", NULL},
    {"1,123x,01,0", "1 0 00000123 1.0.0.0.0.0.0.0 0", NULL},
    {"1,0x123X,01,0", "1 0 00000123 1.0.0.0.0.0.0.0 0", NULL},
    {"1,135h,01,0", "1 0 135h 1.0.0.0.0.0.0.0 0", "w"},
    {"1,h,01,0", ID, NULL},
    {"1,$,01,0", ID, NULL},
    {"1,x,01,0", ID, NULL},
    {"1,0X,01,0", ID, NULL},
    {"1,$135h,01,0", ID, NULL},
    {"1,0x135h,01,0", ID, NULL},
    {"1,$20000000,01,0", ID, NULL},
    {"1,123xx,01,0", ID, NULL},
    {"1,346.0,01,0", ID, NULL},
    {"1,G01,01,0", ID, NULL},
    {"1,0F5 ,01,0", ID, NULL},
    {"1,20000000,01,0", ID, NULL},
    {"1,000000450,01,0", ID, NULL},
    {"1,-5,01,0", ID, NULL},
    {"1,0f5,01,0", "1 0 0f5 1.0.0.0.0.0.0.0 0", "w"},
    {"1,00000450,01,0", "1 0 00000450 1.0.0.0.0.0.0.0 0", "w"},
    {"1,engine-id-number,01,0", "1 0 engine-id-number 1.0.0.0.0.0.0.0 0", "w"},
    {"1,engine-id-numbers,01,0", ID, "w"},
    {"1,,01,0", ID, "w"},
    {"1,a b,01,0", ID, "w"},
    {"1,\xc3\xa4,01,0", ID, "w"},
    {"1,\x7f,01,0", ID, "w"},
    /* labels */
    {"1,0F5,01,", NO_LABEL, NULL},
    {"1,0F5,01,T", "1 0 0F5 1.0.0.0.0.0.0.0 1", NULL},
    {"1,0F5,01,R", "1 0 0F5 1.0.0.0.0.0.0.0 0", NULL},
    {"1,0F5,01,Attack", "1 0 0F5 1.0.0.0.0.0.0.0 1", NULL},
    {"1,0F5,01,Normal", "1 0 0F5 1.0.0.0.0.0.0.0 0", NULL},
    {"1,0F5,01,True", "1 0 0F5 1.0.0.0.0.0.0.0 1", NULL},
    {"1,0F5,01,FALSE", "1 0 0F5 1.0.0.0.0.0.0.0 0", NULL},
    {"1,0F5,01,anomaly", "1 0 0F5 1.0.0.0.0.0.0.0 1", NULL},
    {"1,0F5,01,BENIGN", "1 0 0F5 1.0.0.0.0.0.0.0 0", NULL},
    {"1,0F5,01,perhaps", LABEL, NULL},
    {"1,0F5,01,1.5", LABEL, NULL},
    {"1,0F5,01,0x1", LABEL, NULL},
    {"1,0F5,01,-", LABEL, NULL},
    {"1,0F5,01,.0", LABEL, NULL},
    {"1,0F5,01,1 ", LABEL, NULL},
    /* payloads: strict */
    {"1,0F5,0,0", PAYLOAD, NULL},
    {"1,0F5,000,0", PAYLOAD, NULL},
    {"1,0F5,0G,0", PAYLOAD, NULL},
    {"1,0F5,00000000000000G0,0", PAYLOAD, NULL},
    {"1,0F5,0000000000000000G0,0", PAYLOAD, NULL},
    {"1,0F5,00000000000000000,0", PAYLOAD, NULL},
    {"1,0F5,+1,0", PAYLOAD, NULL},
    {"1,0F5, 1,0", PAYLOAD, NULL},
    {"1,0F5,\"0,\",0", PAYLOAD, NULL},
    {"1,0F5,01 02,0", PAYLOAD, NULL},
    {"1,0F5,@A,0", PAYLOAD, NULL},
    {"1,0F5,/0,0", PAYLOAD, NULL},
    {"1,0F5,:0,0", PAYLOAD, NULL},
    {"1,0F5,`0,0", PAYLOAD, NULL},
    {"1,0F5,g0,0", PAYLOAD, NULL},
    {"1,0F5,\x10\x11,0", PAYLOAD, NULL},
    {"1,0F5,\xb0\xc1,0", PAYLOAD, NULL},
    /* lenient: the table of docs/can.md */
    {"1,0F5,FFff,0", "1 0 0F5 255.255.0.0.0.0.0.0 0", "l"},
    {"1,0F5,,0", "1 0 0F5 0.0.0.0.0.0.0.0 0", "l"},
    {"1,0F5,01A,0", "1 0 0F5 1.10.0.0.0.0.0.0 0", "l"},
    {"1,0F5,ZZA .1+1-11_0x,0", "1 0 0F5 0.0.0.1.-1.0.0.0 0", "l"},
    {"1,0F5,-F+F--++-Z-,0", "1 0 0F5 -15.15.0.0.0.0.0.0 0", "l"},
    {"1,0F5,\"AB,4\",0", "1 0 0F5 171.0.0.0.0.0.0.0 0", "l"},
    {"1,0F5,\xc3\xa4\x31\x32\x33,0", "1 0 0F5 0.35.0.0.0.0.0.0 0", "l"},
    {"1,0F5,1\xe2\x82\xac\x32\x33,0", "1 0 0F5 0.35.0.0.0.0.0.0 0", "l"},
    {"1,0F5,00000000000000000,0", "1 0 0F5 0.0.0.0.0.0.0.0 0", "l"},
    /* CAN-FD: more than eight bytes */
    {"1,0F5,010203040506070809,0", "1 0 0F5 1.2.3.4.5.6.7.8 0", NULL},
    {"1,0F5,010203040506070809,0", "1 0 0F5 1.2.3.4.5.6.7.8 0", "l"},
    {"1,0F5,010203040506070809,0", FD, "r"},
    {"1,0F5,010203040506070809,0", FD, "lr"},
    {"1,0F5,0102030405060708,0", "1 0 0F5 1.2.3.4.5.6.7.8 0", "r"},
    /* the first thing wrong is what is said; payloads come last */
    {"x,G,Z,L", TIME, NULL},
    {"1,G,Z,L", ID, NULL},
    {"1,1,Z,L", LABEL, NULL},
};

static void test_csv(void **state) {
    (void)state;
    CHECK(LEAT_CAN_CSV, "timestamp,arbitration_id,data_field,attack\n", csv_cases);
    static const line_case others[] = {
        {"z,1,\"a,b\",0A,3,F5", "3 0 0F5 10.0.0.0.0.0.0.0 1", NULL},
        {"z,1,\"a\"\"b\",0A,3,F5", "3 0 0F5 10.0.0.0.0.0.0.0 1", NULL},
        {"z,1,a,0A,3", LINE, NULL},
    };
    CHECK(LEAT_CAN_CSV, "x,attack,y,payload,timestamp,arb_id\r\nz,1,y,0A,3,F5\r\n", others);
    static const line_case unlabelled[] = {
        {"1,0F5,0A", "1 0 0F5 10.0.0.0.0.0.0.0 0", NULL},
        {"1,0F5,0A,1", LINE, NULL},
    };
    CHECK(LEAT_CAN_CSV, "timestamp,\"arbitration_id\",data_field", unlabelled);
    char longest[300] = "1,0F5,", *end = longest + 6;
    memset(end, 'a', 140);
    leat_can_layout layout = {.format = LEAT_CAN_CSV, .column_count = 3, .column = {0, 1, 2}};
    assert_string_equal(parse(&layout, "", longest, 6 + 128),
                        "1 0 0F5 170.170.170.170.170.170.170.170 0");
    assert_string_equal(parse(&layout, "", longest, 6 + 130), PAYLOAD);
    assert_string_equal(parse(&layout, "", "1,0F5\0,01", 9), ID);
    assert_string_equal(parse(&layout, "w", "1,0F5\0,01", 9), ID);
    assert_string_equal(parse(&layout, "", "1\0,0F5,01", 9), TIME);
    assert_string_equal(parse(&layout, "", "1,0F5,0\0", 8), PAYLOAD);
}

/* ---- hcrl, survival ---- */

static const line_case hcrl_cases[] = {
    {"1478198376.389427,0316,8,05,21,68,09,21,21,00,6f,R",
     "1.47819838e+09 0 316 5.33.104.9.33.33.0.111 0", NULL},
    {"1,0002,2,00,Ff,T", "1 0 002 0.255.0.0.0.0.0.0 1", NULL},
    {"1,043f,5,01,02,03,04,05,R", "1 0 43F 1.2.3.4.5.0.0.0 0", NULL},
    {"1,0,0,R", "1 0 000 0.0.0.0.0.0.0.0 0", NULL},
    {"1,0,0,,T", "1 0 000 0.0.0.0.0.0.0.0 1", NULL},
    {"1, 0316 , 2 , 1,b ,R \t", "1 0 316 1.11.0.0.0.0.0.0 0", NULL},
    {"1,0316,1,5,R", "1 0 316 5.0.0.0.0.0.0.0 0", NULL},
    {"1,0316,2,05,R", LINE, NULL},
    {"1,0316,2,05,21,68,R", LINE, NULL},
    {"1,0316,2,05,21", LINE, NULL}, /* no flag: "21" is none */
    {"1,0316,3,05,21,R", LINE, NULL},
    {"1,0316,x,05,21,R", LINE, NULL},
    {"1,0316,,R", LINE, NULL},
    {"1,0316,1,R", LINE, NULL},
    {"1,0316,65,R", LINE, NULL},
    {"1,0316,-1,R", LINE, NULL},
    {"1,0316", LINE, NULL},
    {"1,0316,0", LINE, NULL},
    {"1,0316,2,05 21,R", LINE, NULL}, /* blanks: survival */
    {"t,0316,1,05,R", TIME, NULL},
    {"1,0x16,1,05,R", "1 0 016 5.0.0.0.0.0.0.0 0", NULL},
    {"1,0316,1,05,X", LABEL, NULL},
    {"1,0316,1,05,r", LABEL, NULL},
    {"1,0316,1,05,", NO_LABEL, NULL},
    {"1,0316,1,005,R", PAYLOAD, NULL},
    {"1,0316,1,0g,R", PAYLOAD, NULL},
    {"1,0316,1,,R", PAYLOAD, NULL},
    {"1,0316,2,05,2;R", LINE, NULL},
    {"1,0316,2,0g,,R", "1 0 316 0.0.0.0.0.0.0.0 0", "l"},
    {"1,0316,3,-1,+f,005,R", "1 0 316 -1.15.0.0.0.0.0.0 0", "l"},
    {"1,0316,9,01,02,03,04,05,06,07,08,09,R", "1 0 316 1.2.3.4.5.6.7.8 0", NULL},
    {"1,0316,9,01,02,03,04,05,06,07,08,09,0a,0b,0c,T", "1 0 316 1.2.3.4.5.6.7.8 1", NULL},
    {"1,0316,9,01,02,03,04,05,06,07,08,09,0a,0b,0c,T", FD, "r"},
    {"1,0316,9,01,02,03,04,05,06,07,08,09,0a,T", LINE, NULL},
    {"1,0316,9,01,02,03,04,05,06,07,08,zz,R", PAYLOAD, NULL},
};

static void test_hcrl(void **state) {
    (void)state;
    CHECK(LEAT_CAN_HCRL, "1,0316,8,05,21,68,09,21,21,00,6f,R\n", hcrl_cases);
    CHECK(LEAT_CAN_HCRL, "1,0316,2,05,21,R,,,,,,\n", hcrl_cases); /* and all of these */
    static const line_case padded[] = {
        {"1,0316,2,05,21,T,,,,,,", "1 0 316 5.33.0.0.0.0.0.0 1", NULL},
        {"1,0316,2,05,21,R, , ,", "1 0 316 5.33.0.0.0.0.0.0 0", NULL},
        {"1,0316,0,R,,,,,,,,", "1 0 316 0.0.0.0.0.0.0.0 0", NULL},
        {"1,0316,2,05,21,,R,,,,,,", LINE, NULL},
        {"1,0316,3,05,21,R,,,,,,", LINE, NULL},
        {"1,0316,2,05,21,,,,,,", LINE, NULL},
        {"1,0316,2,05,21,", NO_LABEL, NULL},
        {"1,0316,2,05,21,X,,,,,,", LINE, NULL},
    };
    CHECK(LEAT_CAN_HCRL, "1,0316,8,05,21,68,09,21,21,00,6f,R\n1,0316,2,05,21,R,,,,,,\n", padded);
    static const line_case unpadded[] = {{"1,0316,2,05,21,T,,,,,,", LINE, NULL}};
    CHECK(LEAT_CAN_HCRL, "1,0316,8,05,21,68,09,21,21,00,6f,R\n", unpadded);
    /* Survival reads all of these alike */
    static const line_case labelled[] = {
        {"1,0316,8,05,21,68,09,21,21,00,6f,R", "1 0 316 5.33.104.9.33.33.0.111 0", NULL},
        {"1,0316,8,05 21 68 09 21 21 00 6f,T", "1 0 316 5.33.104.9.33.33.0.111 1", NULL},
        {"1,316,3, 05  21\t6 ,R", "1 0 316 5.33.6.0.0.0.0.0 0", NULL},
        {"1,316,0,R", "1 0 316 0.0.0.0.0.0.0.0 0", NULL},
        {"1,316,2,05 21 68,R", LINE, NULL},
        {"1,316,2,05 2x,R", PAYLOAD, NULL},
        {"1,316,2,05 21", LINE, NULL},
        {"1,316,2,05 21,Q", LABEL, NULL},
    };
    CHECK(LEAT_CAN_SURVIVAL, "1,0316,2,05 21,R\n1,0316,2,05 21,R\n", labelled);
    static const line_case unlabelled[] = {
        {"1513468793.25,153,8,00 80 10 FF 00 FF 20 ce",
         "1.51346879e+09 0 153 0.128.16.255.0.255.32.206 0", NULL},
        {"1,153,8,00 80 10 ff 00 ff 20 ce ", "1 0 153 0.128.16.255.0.255.32.206 0", NULL},
        {"1,0153,8,00,80,10,ff,00,ff,20,ce", "1 0 153 0.128.16.255.0.255.32.206 0", NULL},
        {"1,153,1,0a", "1 0 153 10.0.0.0.0.0.0.0 0", NULL},
        {"1,153,0,", "1 0 153 0.0.0.0.0.0.0.0 0", NULL},
        {"1,153,0", LINE, NULL},
        {"1,153,1,", LINE, NULL},
        {"1,153,1,0a,R", LABEL, NULL}, /* a flag, where there are none */
        {"1,153,1", LINE, NULL},
    };
    CHECK(LEAT_CAN_SURVIVAL, "1,0316,2,05 21\n", unlabelled);
}

static const line_case text_cases[] = {
    {"Timestamp: 1479121434.850202        ID: 0350    000    DLC: 8    05 28 84 66 6d 00 00 a2",
     "1.47912143e+09 0 350 5.40.132.102.109.0.0.162 0", NULL},
    {"Timestamp:          0.691743        ID: 05e4    000    DLC: 3    00 02 00",
     "0.691743 0 5E4 0.2.0.0.0.0.0.0 0", NULL},
    {"  Timestamp: 1\tID: 7FF 000 DLC: 2  1   2  ", "1 0 7FF 1.2.0.0.0.0.0.0 0", NULL},
    {"Timestamp: 1 ID: 12345 010 DLC: 0", "1 0 00012345 0.0.0.0.0.0.0.0 0", NULL},
    {"Timestamp: 1 ID: 02c0 100 DLC: 0", REMOTE, NULL},
    {"Timestamp: 1479121434.8", LINE, NULL},
    {"Timestamp: 1 ID: 0350 000 DLC: 3 00 02", LINE, NULL},
    {"Timestamp: 1 ID: 0350 000 DLC: 1 00 02", LINE, NULL},
    {"Timestamp: 1 ID: 0350 000 DLC: 1", LINE, NULL},
    {"Timestamp: 1 ID: 0350 DLC: 1 00", LINE, NULL},
    {"Timestamp: 1 ID: 0350 0x0 DLC: 1 00", LINE, NULL},
    {"Timestamp 1 ID: 0350 000 DLC: 1 00", LINE, NULL},
    {"Timestamp: x ID: 0350 000 DLC: 1 00", TIME, NULL},
    {"Timestamp: 1 ID: 03z0 000 DLC: 1 00", ID, NULL},
    {"Timestamp: 1 ID: 0350 000 DLC: 1 0z", PAYLOAD, NULL},
    {"Timestamp: 1 ID: 0350 000 DLC: 2 0z 01", "1 0 350 0.1.0.0.0.0.0.0 0", "l"},
    {"Timestamp: 1 ID: 0350 000 DLC: 9 1 2 3 4 5 6 7 8 9", "1 0 350 1.2.3.4.5.6.7.8 0", NULL},
    {"Timestamp: 1 ID: 0350 000 DLC: 9 1 2 3 4 5 6 7 8 9", FD, "r"},
};

static void test_hcrl_text(void **state) {
    (void)state;
    CHECK(LEAT_CAN_HCRL_TEXT, "Timestamp: 1 ID: 0350 000 DLC: 1 00", text_cases);
}

/* ---- gvret ---- */

static const line_case gvret_cases[] = {
    {"303004300,00000450,false,0,3,00,C2,05", "303.0043 0 450 0.194.5.0.0.0.0.0 0", NULL},
    {"303004300,00000450,TRUE,1,3,00,C2,05", "303.0043 1 00000450 0.194.5.0.0.0.0.0 0", NULL},
    {"1,18F0233D,true,7,8,FF,FF,FF,FF,FF,27,FF,FF",
     "1e-06 7 18F0233D 255.255.255.255.255.39.255.255 0", NULL},
    {"1,800,false,0,0,", "1e-06 0 00000800 0.0.0.0.0.0.0.0 0", NULL},
    {"1,800,false,0,0", "1e-06 0 00000800 0.0.0.0.0.0.0.0 0", NULL},
    /* padding behind LEN bytes */
    {"1,45,false,0,2,01,02,00,00,00,00,00,00,", "1e-06 0 045 1.2.0.0.0.0.0.0 0", NULL},
    {"1,45,false,0,2,01,02,", "1e-06 0 045 1.2.0.0.0.0.0.0 0", NULL},
    {"1,45,false,0,2,01,02,,,,,,", "1e-06 0 045 1.2.0.0.0.0.0.0 0", NULL},
    {"1,45,false,0,2, 1,2,xx", "1e-06 0 045 1.2.0.0.0.0.0.0 0", NULL},
    {"1,45,false,0,2,01,02x,00", PAYLOAD, NULL},
    {"1,45,false,0,2,01", LINE, NULL},
    {"1,45,false,0,2", LINE, NULL},
    {"1,45,false,0,2,01,", PAYLOAD, NULL},
    {"1,45,false,0,x,01", LINE, NULL},
    {"1,45,maybe,0,1,01", LINE, NULL},
    {"1,45,false,0", LINE, NULL},
    {"t,45,false,0,1,01", TIME, NULL},
    {"1,zz,false,0,1,01", ID, NULL},
    {"1,20000001,true,0,1,01", ID, NULL},
    {"1,45,false,a,1,01", BUS, NULL},
    {"1,45,false,65536,1,01", BUS, NULL},
    {"1,45,false,-1,1,01", BUS, NULL},
    {"1,45,false,0,1,0z", PAYLOAD, NULL},
    {"1,45,false,0,1,0z", "1e-06 0 045 0.0.0.0.0.0.0.0 0", "l"},
    {"1,45,false,0,9,01,02,03,04,05,06,07,08,09,", "1e-06 0 045 1.2.3.4.5.6.7.8 0", NULL},
    {"1,45,false,0,9,01,02,03,04,05,06,07,08,09,", FD, "r"},
    {"1,45,false,0,9,01,02,03,04,05,06,07,08", LINE, NULL},
    {"1,0000045A,false,0,1,01", "1e-06 0 0000045A 1.0.0.0.0.0.0.0 0", "w"},
};

static void test_gvret(void **state) {
    (void)state;
    CHECK(LEAT_CAN_GVRET, "Time Stamp,ID,Extended,Bus,LEN,D1,D2,D3,D4,D5,D6,D7,D8\r\n",
          gvret_cases);
    static const line_case with_direction[] = {
        {"18970798,000005F4,false,Rx,2,3,00,09,1C,", "18.970798 2 5F4 0.9.28.0.0.0.0.0 0", NULL},
        {"18970798,000005F4,false,2,3,00,09,1C", LINE, NULL},
    };
    CHECK(LEAT_CAN_GVRET, "time stamp, id, extended, dir, bus, len, d1\n", with_direction);
}

/* ---- candump ---- */

static const line_case candump_cases[] = {
    {"(1626905042.645596) can1 0CF00400#507D8DD11200F48E",
     "1.62690504e+09 1 0CF00400 80.125.141.209.18.0.244.142 0", NULL},
    {"(1.5)   can0 0f5#", "1.5 0 0F5 0.0.0.0.0.0.0.0 0", NULL},
    {"(1.5) can0 00000123#0a0B", "1.5 0 00000123 10.11.0.0.0.0.0.0 0", NULL},
    {"(1.5) can0 00000123#0a0B", "1.5 0 00000123 10.11.0.0.0.0.0.0 0", "w"},
    {"(1.5) can0 123#01.02.03", "1.5 0 123 1.2.3.0.0.0.0.0 0", NULL},
    {"(1.5) can0 123#01.02.03.04.05.06.07.08", "1.5 0 123 1.2.3.4.5.6.7.8 0", NULL},
    {"(1.5) can0 123#01.0203", PAYLOAD, NULL},
    {"(1.5) can0 123#0102030405060708_C", "1.5 0 123 1.2.3.4.5.6.7.8 0", NULL},
    {"(1.5) can0 123#0102030405060708_8", PAYLOAD, NULL},
    {"(1.5) can0 123#01 R", "1.5 0 123 1.0.0.0.0.0.0.0 0", NULL},
    {"(1.5) can1 123#01 T ", "1.5 1 123 1.0.0.0.0.0.0.0 0", NULL},
    {"(1.5) can1 123#01 X", LINE, NULL},
    {"(1.5) can1 123#01 R R", LABEL, NULL},
    {"(1.5) can1", LINE, NULL},
    {"(1.5 can1 123#01", LINE, NULL},
    {"1.5) can1 123#01", LINE, NULL},
    {"DROPCOUNT: dropped 7 CAN frames on 'can0' socket (total drops 7)", LINE, NULL},
    {"(1.5) can1 12301", LINE, NULL},
    {"(x) can1 123#01", TIME, NULL},
    {"() can1 123#01", TIME, NULL},
    {"(1.5) can7 123#01", BUS, NULL},
    {"(1.5) can1 12#01", ID, NULL},
    {"(1.5) can1 1234#01", ID, NULL},
    {"(1.5) can1 12z#01", ID, NULL},
    {"(1.5) can1 40000000#01", ID, NULL},
    {"(1.5) can1 20000004#0001000000000000", BROKEN, NULL},
    {"(1.5) can1 3FFFFFFF#", BROKEN, NULL},
    {"(1.5) can1 123#R", REMOTE, NULL},
    {"(1.5) can1 123#r8", REMOTE, NULL},
    {"(1.5) can1 123#012", PAYLOAD, NULL},
    {"(1.5) can1 123#0z", PAYLOAD, NULL},
    {"(1.5) can1 123#0z012", "1.5 1 123 0.1.2.0.0.0.0.0 0", "l"},
    {"(1.5) can1 123##0112233", "1.5 1 123 17.34.51.0.0.0.0.0 0", NULL},
    {"(1.5) can1 12345678##1", "1.5 1 12345678 0.0.0.0.0.0.0.0 0", NULL},
    {"(1.5) can1 123##0112233", FD, "r"},
    {"(1.5) can1 123##", LINE, NULL},
    {"(1.5) can1 123##x00", LINE, NULL},
    {"(1.5) can1 123##3010203040506070809101112", "1.5 1 123 1.2.3.4.5.6.7.8 0", NULL},
    {"(1.5) can1 123#010203040506070809101112", "1.5 1 123 1.2.3.4.5.6.7.8 0", NULL},
    {"(1.5) can1 123#010203040506070809101112", FD, "r"},
};

/* What candump shows on a terminal, with times. */
static const line_case shown_cases[] = {
    {" (1.5)  can0  123   [3]  01 0A FF", "1.5 0 123 1.10.255.0.0.0.0.0 0", NULL},
    {"(1.5)  can1  00000123   [1]  01", "1.5 1 00000123 1.0.0.0.0.0.0.0 0", NULL},
    {" (1.5)  can0  123   [0] ", "1.5 0 123 0.0.0.0.0.0.0.0 0", NULL},
    {" (1.5)  can0  123   [2]  31 27   '1''", "1.5 0 123 49.39.0.0.0.0.0.0 0", NULL},
    {" (1.5)  can0  TX B E  123   [1]  01", "1.5 0 123 1.0.0.0.0.0.0.0 0", NULL},
    {" (1.5)  can0  RX - -  123   [1]  01", "1.5 0 123 1.0.0.0.0.0.0.0 0", NULL},
    {" (1.5)  can0  123  [12]  01 02 03 04 05 06 07 08 09 0A 0B 0C", "1.5 0 123 1.2.3.4.5.6.7.8 0",
     NULL},
    {" (1.5)  can0  123  [08]  01 02 03 04 05 06 07 08", FD, "r"},
    {" (1.5)  can0  123   [0]  remote request", REMOTE, NULL},
    {" (1.5)  can0  20000004   [8]  00 04 00 00 00 00 00 5F   ERRORFRAME", BROKEN, NULL},
    {"\tcontroller-problem{rx-error-passive}", LINE, NULL},
    {" (1.5)  can0  123   [3]  01 0A", LINE, NULL},
    {" (1.5)  can0  123   [1]  01 0A", LINE, NULL},
    {" (1.5)  can0  123   [1]  0G", PAYLOAD, NULL},
    {" (1.5)  can0  123   [x]  01", LINE, NULL},
    {" (1.5)  can0  123   [65]  01", LINE, NULL},
    {" (1.5)  can0  12345   [1]  01", ID, NULL},
    {" (x)  can0  123   [1]  01", TIME, NULL},
    {" (1.5)  can9  123   [1]  01", BUS, NULL},
    {" (1.5)  can0  123", LINE, NULL},
    {" (1970-01-01 00:00:01.500000)  can0  123   [1]  01", "1.5 0 123 1.0.0.0.0.0.0.0 0", NULL},
    {"(2023-10-19 11:31:44.000372) can0 123#01", "1.6977151e+09 0 123 1.0.0.0.0.0.0.0 0", NULL},
    {"(2024-02-29T23:59:60) can0 123#01", "1.7092512e+09 0 123 1.0.0.0.0.0.0.0 0", NULL},
    {"(2023-02-29 11:31:44.000372) can0 123#01", TIME, NULL},
    {"(2023-10-19 24:31:44.000372) can0 123#01", TIME, NULL},
    {"(2023-10-19 11:31:44.) can0 123#01", TIME, NULL},
    {"(2023-10-19 11:31:44.x) can0 123#01", TIME, NULL},
    {"(2023-10-19) can0 123#01", TIME, NULL},
};

static void test_candump(void **state) {
    (void)state;
    CHECK(LEAT_CAN_CANDUMP, "(1.5) can0 123#01\n(1.6) can1 123#01\n", candump_cases);
    CHECK(LEAT_CAN_CANDUMP, " (1.5)  can0  123   [0]\n (1.6)  can1  123   [1]  01\n", shown_cases);
    double time = 0; /* the nearest number to the decimal one */
    assert_true(leat_can_read_date(text_of("2023-10-19 11:31:44.000372"), &time));
    assert_true(time == 1697715104.000372);
    assert_true(leat_can_read_date(text_of("1969-12-31 23:59:59"), &time));
    assert_true(time == -1);
    assert_true(leat_can_read_date(text_of("1969-12-31 23:59:59.25"), &time));
    assert_true(time == -0.75);
    char longest[260] = "(1.5) can0 123##0";
    int size = (int)strlen(longest);
    for (int i = 0; i < 64; i++) size += sprintf(longest + size, "%s%02x", i > 0 ? "." : "", i);
    leat_can_layout layout = {.format = LEAT_CAN_CANDUMP};
    leat_can_note_buses(&layout, longest, size);
    assert_string_equal(parse(&layout, "", longest, size), "1.5 0 123 0.1.2.3.4.5.6.7 0");
    assert_string_equal(parse(&layout, "", longest, size - 1), PAYLOAD);
    size += sprintf(longest + size, ".40");
    assert_string_equal(parse(&layout, "", longest, size), PAYLOAD);
}

/* Labels behind frames: a direction is none, nor are two digits, which are the padding of CrySyS.
 */
static void test_trailing_labels(void **state) {
    (void)state;
    static const line_case labelled[] = {
        {"(1.5) can0 123#01 T 0", "1.5 0 123 1.0.0.0.0.0.0.0 0", NULL},
        {"(1.5) can0 123#01 R 1", "1.5 0 123 1.0.0.0.0.0.0.0 1", NULL},
        {"(1.5) can0 123#01 1", "1.5 0 123 1.0.0.0.0.0.0.0 1", NULL},
        {"(1.5) can0 123#01 T", NO_LABEL, NULL}, /* no attack */
        {"(1.5) can0 123#01 R", NO_LABEL, NULL},
        {"(1.5) can0 123#01", NO_LABEL, NULL},
        {"(1.5) can0 123#0z", PAYLOAD, NULL},
        {"(1.5) can0 123#01 1 1", LINE, NULL},
    };
    CHECK(LEAT_CAN_CANDUMP, "(1) can0 123#01 T\n(1) can0 123#01 R 0\n(1) can0 123#01 T 1\n",
          labelled);
    static const struct {
        const char *text;
        int labels;
    } cases[] = {
        {"1 0110 000 2 30 42 0\n2 0110 000 2 30 42 1\n", 1},
        {"1 0110 000 2 30 42 0 normal\n2 0110 000 2 30 42 1 attack\n", 2},
        {"1 0110 000 1 30 0\n2 0110 000 2 30 42 0\n3 0110 000 2 30 42\n", 1},
        {"1 0110 000 1 30 0\n3 0110 000 2 30 42\n3 0110 000 2 30 42\n", 0},
        {"3 0110 000 2 30 42\n1 0110 000 1 30 0 0\n1 0110 000 2 30 42 0\n", 0},
        {"3 0110 000 2 30 42\n1 0110 000 1 30 00\n", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const detection it = detect(cases[i].text, LEAT_CAN_CRYSYS);
        assert_int_equal(it.layout.trailing_labels, cases[i].labels);
    }
    check_refused("1 0110 000 2 30 42 00 00 00 00\n2 0110 000 2 30 42 01 00 00 00\n", "x",
                  "not a vehicle log format");
}

/* Interfaces get the number of their last digits, or else the least that is free. */
static void test_buses(void **state) {
    (void)state;
    static const struct {
        const char *names[6];
        int numbers[6];
    } cases[] = {
        {{"can1", "can0"}, {1, 0}},
        {{"can0", "vcan0", "can1", "can0"}, {0, 1, 2, 0}},
        {{"vcan0", "can0"}, {0, 1}},
        {{"any", "slcan", "can1"}, {0, 1, 2}},
        {{"can65535", "can65536", "can99999", "can123456"}, {65535, 0, 1, 23456}},
        {{"7", "abcdefghijklmn3"}, {7, 3}},
        {{"can1", "abcdefghijklmno3", "can2"}, {1, -1, 2}}, /* longer than Linux has them */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512] = "no frame\n";
        for (int k = 0; k < 6 && cases[i].names[k] != NULL; k++) {
            sprintf(text + strlen(text), "(1) %s 123#\n", cases[i].names[k]);
        }
        leat_can_layout layout = {.format = LEAT_CAN_CANDUMP};
        leat_can_note_buses(&layout, text, (int64_t)strlen(text));
        for (int k = 0; k < 6 && cases[i].names[k] != NULL; k++) {
            char line[64], want[64];
            int size = sprintf(line, "(1) %s 123#", cases[i].names[k]);
            sprintf(want, "1 %d 123 0.0.0.0.0.0.0.0 0", cases[i].numbers[k]);
            const char *wanted = cases[i].numbers[k] < 0 ? BUS : want;
            assert_string_equal(parse(&layout, "", line, size), wanted);
        }
    }
    leat_can_layout layout = {.format = LEAT_CAN_CANDUMP};
    char line[64];
    for (int i = 0; i < 70; i++) {
        int size = sprintf(line, "(1) c%d 123#", i);
        leat_can_note_buses(&layout, line, size);
        bool bad = strcmp(parse(&layout, "", line, size), BUS) == 0;
        assert_int_equal(bad, i >= LEAT_CAN_BUSES_MAX);
    }
    layout = (leat_can_layout){.format = LEAT_CAN_CSV};
    leat_can_note_buses(&layout, line, 5);
    assert_int_equal(layout.buses.count, 0);
}

/* ---- hex, every pair of bytes ---- */

static int value_of(int letter) {
    if (letter >= '0' && letter <= '9') return letter - '0';
    if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
    return letter >= 'A' && letter <= 'F' ? letter - 'A' + 10 : -1;
}

/* The many digits at once are what one by one they are, at every place, for every letter. */
static void test_every_pair(void **state) {
    (void)state;
    leat_can_layout layout = {.format = LEAT_CAN_CSV, .column_count = 3, .column = {0, 1, 2}};
    leat_can_line_options strict = options_of(""), lenient = options_of("l");
    for (int pair = 0; pair < 65536; pair++) {
        int high = value_of(pair >> 8), low = value_of(pair & 255), place = pair % 8;
        if (pair >> 8 == ',' || (pair & 255) == ',') continue;
        char text[23] = "1,2,1020304050607080";
        text[4 + 2 * place] = (char)(pair >> 8);
        text[5 + 2 * place] = (char)(pair & 255);
        if (text[4] == '"') continue;
        leat_can_line line;
        leat_can_reject reason = leat_can_parse_line(&layout, &strict, text, 20, &line);
        bool good = high >= 0 && low >= 0;
        assert_int_equal(reason, good ? LEAT_CAN_TAKEN : LEAT_CAN_REJECT_PAYLOAD);
        for (int i = 0; good && i < 8; i++) {
            assert_int_equal(line.bytes[i], i == place ? high * 16 + low : (i + 1) * 16);
        }
        if ((pair >> 8) >= 128 || (pair & 255) >= 128) continue; /* characters, not bytes */
        reason = leat_can_parse_line(&layout, &lenient, text, 20, &line);
        assert_int_equal(reason, LEAT_CAN_TAKEN);
        int sign = pair >> 8 == '+' ? 1 : pair >> 8 == '-' ? -1 : 0;
        int want = good ? high * 16 + low : sign != 0 && low >= 0 ? sign * low : 0;
        for (int i = 0; i < 8; i++) {
            assert_int_equal(line.bytes[i], i == place ? want : (i + 1) * 16);
        }
    }
}

/* ---- formats ---- */

static const struct {
    const char *text;
    leat_can_format wanted, format;
    bool labelled;
    const char *rest;  /* where the frames begin */
    const char *words; /* of the error, else NULL */
} detect_cases[] = {
    {"timestamp,arbitration_id,data_field,attack\n1,2,00,0\n", LEAT_CAN_AUTO, LEAT_CAN_CSV, true,
     "1,2,00,0\n", NULL},
    {"\n\r\npayload,arb_id,timestamp\r\n\n00,1,2", LEAT_CAN_AUTO, LEAT_CAN_CSV, false, "00,1,2",
     NULL},
    {"timestamp,arbitration_id,data_field\n", LEAT_CAN_AUTO, LEAT_CAN_CSV, false, "", NULL},
    {"1,0316,1,05,R\n1,0316,1,05,T\n", LEAT_CAN_AUTO, LEAT_CAN_HCRL, true,
     "1,0316,1,05,R\n1,0316,1,05,T\n", NULL},
    {"1,0316,1,05,R\n", LEAT_CAN_SURVIVAL, LEAT_CAN_SURVIVAL, true, "1,0316,1,05,R\n", NULL},
    {"1,0316,2,05 01,R\n", LEAT_CAN_AUTO, LEAT_CAN_SURVIVAL, true, "1,0316,2,05 01,R\n", NULL},
    {"1,0316,2,05 01\n", LEAT_CAN_AUTO, LEAT_CAN_SURVIVAL, false, "1,0316,2,05 01\n", NULL},
    {"1,0316,2,05,01\n", LEAT_CAN_AUTO, LEAT_CAN_SURVIVAL, false, "1,0316,2,05,01\n", NULL},
    {"garbage\n1,0316,1,05,R\n", LEAT_CAN_AUTO, LEAT_CAN_HCRL, true, "garbage\n1,0316,1,05,R\n",
     NULL},
    {"Timestamp: 1 ID: 2 000 DLC: 0\n", LEAT_CAN_AUTO, LEAT_CAN_HCRL_TEXT, false,
     "Timestamp: 1 ID: 2 000 DLC: 0\n", NULL},
    {"Time Stamp,ID,Extended,Bus,LEN,D1\n1,2,false,0,0\n", LEAT_CAN_AUTO, LEAT_CAN_GVRET, false,
     "1,2,false,0,0\n", NULL},
    {"TIME STAMP,ID,EXTENDED,DIR,BUS,LEN,D1\n1,2,false,Rx,0,0\n", LEAT_CAN_GVRET, LEAT_CAN_GVRET,
     false, "1,2,false,Rx,0,0\n", NULL},
    {"Time Stamp,ID,Extended,Bus,LEN,D1,D2,D3,Label\n1,2,false,0,0,,,,1\n", LEAT_CAN_AUTO, 0, false,
     NULL,
     "\"x.log\": column \"Label\" looks like a label, but gvret logs have none; read it with "
     "--column time=1:us,label=Label"},
    {"Time Stamp,ID,Extended,Dir,Bus,LEN,D1,is_attack\n1,2,false,Rx,0,0,,1\n", LEAT_CAN_GVRET, 0,
     false, NULL, "column \"is_attack\" looks like a label"},
    {"Time Stamp,ID,Extended,Dir,Bus,LEN,D1,note\n1,2,false,Rx,0,0,,1\n", LEAT_CAN_AUTO,
     LEAT_CAN_GVRET, false, "1,2,false,Rx,0,0,,1\n", NULL},
    {"(1) can0 123#\n", LEAT_CAN_AUTO, LEAT_CAN_CANDUMP, false, "(1) can0 123#\n", NULL},
    {"(1) can0 123#R", LEAT_CAN_AUTO, LEAT_CAN_CANDUMP, false, "(1) can0 123#R", NULL},
    {"what\xff is\tthis\n", LEAT_CAN_AUTO, 0, false, NULL,
     "\"x.log\" begins with \"what\\xff is\", \"this\": not a vehicle log format; for a csv, name "
     "its columns with --column time=NAME,id=NAME,data=NAME, or number them if it has no header: "
     "time=1,id=2,data=3; a file whose name begins with _ is not read (formats: csv, hcrl, "
     "hcrl-text, survival, gvret, candump, crysys, asc, trc, "
     "vehicle-spy, openxc, busmaster, cl2000, canking)"},
    {"time,id,data\n1,2,00\n", LEAT_CAN_AUTO, LEAT_CAN_CSV, false, "1,2,00\n", NULL},
    {"timestamp,arb_id,arbitration_id,payload\n1,2,2,00\n", LEAT_CAN_CSV, 0, false, NULL,
     "columns \"arb_id\" and \"arbitration_id\" may both be the identifier; choose one with "
     "--column"},
    {"timestamp,arb_id,payload,attack,attack\n1,2,00,0,0\n", LEAT_CAN_CSV, 0, false, NULL,
     "columns \"attack\" and \"attack\" may both be the label; choose one with --column "
     "label=NAME"},
    {"timestamp,arb_id,payload,\"attack\n", LEAT_CAN_CSV, 0, false, NULL,
     "column 4 of its first line has a quote that is not closed"},
    {"(1) can0 123#\n", LEAT_CAN_HCRL, 0, false, NULL,
     "do not match format hcrl; the file looks like candump (use --format candump or auto): (1) "
     "can0 123#"},
    {"1,0316,2,05 01,R\n", LEAT_CAN_CSV, 0, false, NULL, "looks like survival"},
    {"nothing\n", LEAT_CAN_GVRET, 0, false, NULL, "match neither format gvret nor any other"},
};

static void test_detect(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof detect_cases / sizeof *detect_cases; i++) {
        leat_can_detected it = {.skip_bytes = -1};
        const leat_can_head head = head_of(detect_cases[i].text, "x.log", detect_cases[i].wanted);
        leat_can_line_options options = options_of("");
        if (detect_cases[i].words != NULL) {
            assert_fails(leat_can_detect(&head, &options, &it, err), LEAT_ERR_INPUT,
                         detect_cases[i].words);
            assert_int_equal(it.skip_bytes, 0);
            continue;
        }
        assert_ok(leat_can_detect(&head, &options, &it, err));
        assert_true(it.found);
        if (it.layout.format != detect_cases[i].format)
            fail_msg("%zu: format %d", i, (int)it.layout.format);
        assert_int_equal(it.layout.labelled, detect_cases[i].labelled);
        assert_string_equal(detect_cases[i].text + it.skip_bytes, detect_cases[i].rest);
        if (detect_cases[i].wanted == LEAT_CAN_AUTO)
            assert_int_equal(it.looks, detect_cases[i].format);
    }
}

static void test_detect_nothing(void **state) {
    (void)state;
    leat_can_detected it = {.found = true};
    leat_can_line_options options = options_of("");
    leat_can_head head = head_of("\n\r\n\n", "x", LEAT_CAN_CSV);
    assert_ok(leat_can_detect(&head, &options, &it, err));
    assert_false(it.found);
    /* more columns than a log of frames has */
    char wide[1024] = "timestamp,arb_id,payload";
    for (int i = 3; i < LEAT_CAN_COLUMNS_MAX; i++) strcat(wide, ",x");
    head = head_of(wide, "x", LEAT_CAN_CSV);
    assert_ok(leat_can_detect(&head, &options, &it, err));
    strcat(wide, ",x");
    head = head_of(wide, "x", LEAT_CAN_CSV);
    assert_fails(leat_can_detect(&head, &options, &it, err), LEAT_ERR_INPUT,
                 "its first line has 129 columns, but at most 128 are read");
}

/* --format takes the names that messages have. */
static void test_names(void **state) {
    (void)state;
    static const char *const names[] = {
        "auto", "csv", "hcrl",        "hcrl-text", "survival",  "gvret",  "candump", "crysys",
        "asc",  "trc", "vehicle-spy", "openxc",    "busmaster", "cl2000", "canking"};
    const leat_setting_table *table = leat_can_settings_table();
    leat_can_settings settings = leat_can_ingest_options_default().settings;
    assert_int_equal(sizeof names / sizeof *names, LEAT_CAN_FORMATS);
    for (int i = 0; i < LEAT_CAN_FORMATS; i++) {
        assert_string_equal(leat_can_format_name((leat_can_format)i), names[i]);
        assert_ok(leat_settings_set(table, &settings, "format", names[i], err));
        assert_int_equal(settings.format, i);
    }
    assert_null(leat_can_formats[LEAT_CAN_AUTO].lines);
    for (int i = LEAT_CAN_CSV; i < LEAT_CAN_FORMATS; i++) { /* each has a row, which can read */
        assert_non_null(leat_can_formats[i].lines);
        assert_non_null(leat_can_formats[i].lines->parse);
        assert_non_null(leat_can_formats[i].lines->find_time);
    }
    assert_string_equal(leat_can_format_name((leat_can_format)99), "");
    assert_fails(
        leat_settings_set(table, &settings, "format", "blf", err), LEAT_ERR_OPTION,
        "auto, csv, hcrl, hcrl-text, survival, gvret, candump, crysys, asc, trc, vehicle-spy, "
        "openxc, busmaster, cl2000 or canking");
}

/* Times of every format against strtod, bit for bit. */
static void check_time(leat_can_reject reason, const leat_can_line *line, const char *number) {
    double want = strtod(number, NULL);
    bool taken = want <= LEAT_CAN_TIME_MAX_S;
    assert_int_equal(reason, taken ? LEAT_CAN_TAKEN : LEAT_CAN_REJECT_TIME);
    if (taken) assert_memory_equal(&line->time, &want, sizeof want);
}

static void test_times(void **state) {
    (void)state;
    leat_can_layout csv = {.format = LEAT_CAN_CSV, .column_count = 3, .column = {0, 1, 2}};
    leat_can_layout gvret = {.format = LEAT_CAN_GVRET};
    leat_can_line_options options = options_of("");
    for (uint64_t i = 0; i < 100000; i++) {
        char text[128], number[64];
        uint64_t whole = leat_random(9, 0, i) >> (leat_random(9, 1, i) % 64);
        int digits = (int)(leat_random(9, 2, i) % 10);
        int size = sprintf(number, "%llu", (unsigned long long)whole);
        if (digits > 0) {
            uint64_t part = leat_random(9, 3, i) % 1000000000;
            sprintf(number + size, ".%0*llu", digits, (unsigned long long)part);
        }
        leat_can_line line;
        size = sprintf(text, "%s,1,00", number);
        check_time(leat_can_parse_line(&csv, &options, text, size, &line), &line, number);
        size = sprintf(text, "%s,1,false,0,0", number);
        strcat(number, "e-6");
        check_time(leat_can_parse_line(&gvret, &options, text, size, &line), &line, number);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_csv),       cmocka_unit_test(test_hcrl),
        cmocka_unit_test(test_hcrl_text), cmocka_unit_test(test_gvret),
        cmocka_unit_test(test_candump),   cmocka_unit_test(test_trailing_labels),
        cmocka_unit_test(test_buses),     cmocka_unit_test(test_every_pair),
        cmocka_unit_test(test_detect),    cmocka_unit_test(test_detect_nothing),
        cmocka_unit_test(test_names),     cmocka_unit_test(test_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
