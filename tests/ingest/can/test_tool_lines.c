/* Lines of vehicle logs as the programs of makers of interfaces write them. */
#include "can_line_cases.h"

/* ---- asc ---- */

#define ASC_HEADER(how)                                                                            \
    "date Mon Dec 31 04:20:30.951 pm 2018\nbase " how "\ninternal events logged\n// version 13\n"  \
    "Begin Triggerblock Mon Dec 31 04:20:30.951 pm 2018\n   0.000000 Start of measurement\n"
#define EVENT "not_a_frame"

static const line_case asc_cases[] = {
    {"    0.25 1  385             Rx   d 8 70 00 00 00 0F 7F FF 00  Length = 239910 BitCount = 124",
     "0.25 1 385 112.0.0.0.15.127.255.0 0", NULL},
    {"0.25 2  18FEE0D8x  Tx   d 2 0A 0B", "0.25 2 18FEE0D8 10.11.0.0.0.0.0.0 0", NULL},
    {"0.25 2  7x  Tx   d 0", "0.25 2 00000007 0.0.0.0.0.0.0.0 0", NULL},
    {"0.25 2  18FEE0D8  Tx   d 1 01", "0.25 2 18FEE0D8 1.0.0.0.0.0.0.0 0", NULL},
    {"0.25 1  385  Rx   d f 01 02 03 04 05 06 07 08", "0.25 1 385 1.2.3.4.5.6.7.8 0", NULL},
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
        leat_can_layout layout;
        leat_can_format looks;
        int64_t skip = 0;
        bool found = false;
        leat_can_line_options options = options_of("");
        assert_ok(leat_can_detect(relative[i], (int64_t)strlen(relative[i]), "x", LEAT_CAN_AUTO,
                                  &options, &layout, &looks, &skip, &found, err));
        assert_int_equal(layout.gaps, i == 0);
        assert_int_equal(skip, 29);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_asc),
    };
    return cmocka_run_group_tests_name("lines of tools", tests, NULL, NULL);
}
