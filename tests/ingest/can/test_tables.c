/* CSV of any columns: names, --column, notations, and the shapes of published data sets; and the
 * other text formats with labels at the end. Each shape is a file of a few lines. */
#include "source_support.h"

#include "ingest/can/read/column_option.h"
#include "ingest/can/read/formats.h"

/* What the lines of a file become: "time bus id bytes label" each, or why they are rejected. */
typedef struct shape {
    const char *what;
    const char *text;
    const char *column; /* --column, or NULL */
    int64_t no_time;
    bool labelled;
    const char *want; /* lines of results; or of the error */
    const char *like; /* the unused column that looks like a label; NULL: none */
} shape;

static void put_frame(leat_buf *out, const leat_can_layout *layout, const leat_can_line *line) {
    assert_ok(leat_buf_printf(out, err, "%.16g %d %.16s ", line->time, line->bus, line->id));
    for (int i = 0; i < LEAT_CAN_BYTES; i++)
        assert_ok(leat_buf_printf(out, err, "%s%d", i > 0 ? "." : "", line->bytes[i]));
    assert_ok(leat_buf_printf(out, err, "%s\n",
                              !layout->labelled ? ""
                              : line->attack    ? " 1"
                                                : " 0"));
}

/* Each line in a block of exactly its size, so that a sanitizer sees one byte too many. */
static void read_lines(leat_buf *out, const leat_can_layout *layout,
                       const leat_can_line_options *options, const char *at) {
    for (; *at != 0; at += strspn(at, "\n")) {
        size_t size = strcspn(at, "\n");
        char *exact = malloc(size);
        memcpy(exact, at, size);
        leat_can_line line;
        leat_can_reject reason = leat_can_parse_line(layout, options, exact, (int64_t)size, &line);
        free(exact);
        if (reason == LEAT_CAN_TAKEN) put_frame(out, layout, &line);
        else assert_ok(leat_buf_printf(out, err, "%s\n", leat_can_rejects.reasons[reason]));
        at += size;
    }
}

static leat_can_layout read_layout; /* of the last shape that was read */

static void check_shape(const shape *of, leat_can_format format, bool strict) {
    leat_can_mapping mapping;
    leat_can_line_options options = {.canonical = true, .strict = strict, .no_time = of->no_time};
    if (of->column != NULL) {
        assert_ok(leat_can_mapping_parse(&mapping, of->column, err));
        options.columns = &mapping;
    }
    const leat_can_head head = {of->text, (int64_t)strlen(of->text), "x.csv", LEAT_CAN_AUTO};
    leat_can_detected it;
    leat_error failure = {0};
    leat_code code = leat_can_detect(&head, &options, &it, &failure);
    if (code != LEAT_OK) {
        if (code != LEAT_ERR_INPUT || strstr(failure.message, of->want) == NULL)
            fail_msg("%s: %s", of->what, failure.message);
        return;
    }
    leat_buf out = {0};
    assert_ok(leat_buf_append(&out, "", 0, err));
    read_lines(&out, &it.layout, &options, of->text + it.skip_bytes);
    assert_ok(leat_buf_append(&out, "", 1, err));
    if (strcmp((const char *)out.data, of->want) != 0)
        fail_msg("%s:\n%s\n  wanted\n%s", of->what, (const char *)out.data, of->want);
    leat_buf_free(&out);
    assert_int_equal(it.layout.format, format);
    assert_int_equal(it.layout.labelled, of->labelled);
    char like[80] = "";
    if (of->like != NULL) snprintf(like, sizeof like, "\"%s\"", of->like);
    if (strcmp(it.layout.label_like.names, like) != 0)
        fail_msg("%s: look like labels: %s", of->what, it.layout.label_like.names);
    read_layout = it.layout;
}

static void check_shapes(const shape *shapes, size_t count, leat_can_format format) {
    for (size_t i = 0; i < count; i++) check_shape(&shapes[i], format, true);
}
#define CHECK(shapes, format) check_shapes(shapes, sizeof(shapes) / sizeof *(shapes), format)

/* ---- published data sets ---- */

static const shape published[] = {
    {"DAGA: DLC in bits",
     "timestamp,CAN_ID,DLC,PAYLOAD_HEX,PAYLOAD_BIN,ANOMALY\n"
     "0.5,0DE,16,01FF,0000000111111111,False\n"
     "0.6,0DF,64,0102030405060708,0000000100000010,True\n"
     "0.7,0DF,8,0102,0,True\n",
     NULL, 0, true, "0.5 0 0DE 1.255.0.0.0.0.0.0 0\n0.6 0 0DF 1.2.3.4.5.6.7.8 1\nmalformed_line\n",
     NULL},
    {"OTIDS, its identifiers decimal",
     "Time,IntID1,ID2,DLC,Data,Label\n"
     "0.5,704,02c0,2,14 0a,0\n"
     "0.6,1088,0440,8,ff 00 00 00 00 00 00 01,1\n",
     "id=IntID1:dec", 0, true, "0.5 0 2C0 20.10.0.0.0.0.0.0 0\n0.6 0 440 255.0.0.0.0.0.0.1 1\n",
     NULL},
    {"OTIDS, one column a byte",
     "Time,IntID1,ID2,DLC,Data0,Data1,Data2,Label\n"
     "0.5,704,02c0,2,14,0a,,0\n"
     "0.6,1088,0440,3,ff,00,01,1\n"
     "0.6,1088,0440,3,ff,00,,1\n",
     "id=IntID1:dec", 0, true,
     "0.5 0 2C0 20.10.0.0.0.0.0.0 0\n0.6 0 440 255.0.1.0.0.0.0.0 1\nmalformed_line\n", NULL},
    {"OTIDS, without the option", "Time,IntID1,ID2,DLC,Data,Label\n0.5,704,02c0,2,14 0a,0\n", NULL,
     0, true,
     "\"x.csv\" begins with \"Time\", \"IntID1\", \"ID2\": no column for id; use --column "
     "id=IntID1:dec (formats: csv, ",
     NULL},
    {"HCRL 2020 challenge",
     "Timestamp,Arbitration_ID,DLC,Data,Class,SubClass\n"
     "1597759710.5,153,8,20 A1 10 FF 00 FF 50 1F,Normal,Normal\n"
     "1597759710.75,220,8,13 24 7F 60 05 FF BF 10,Attack,Flooding\n"
     "1597759711.0,507,4,08 00 00 01,Normal,Normal\n",
     NULL, 0, true,
     "1597759710.5 0 153 32.161.16.255.0.255.80.31 0\n"
     "1597759710.75 0 220 19.36.127.96.5.255.191.16 1\n"
     "1597759711 0 507 8.0.0.1.0.0.0.0 0\n",
     NULL},
    {"python-can: base64",
     "timestamp,arbitration_id,extended,remote,error,dlc,data\n"
     "1483389946.197,0xdadada,1,0,0,6,AAAAEAQA\n"
     "1483389946.5,0x26,0,0,0,8,AQIDBAUGB/8=\n"
     "1483389946.5,0x26,1,0,0,1,/w==\n"
     "1483389946.6,0x26,0,1,0,8,\n"
     "1483389946.7,0x0,0,0,1,0,\n"
     "1483389946.8,0x7,0,0,0,0,\n"
     "1483389946.8,0x7,0,0,0,4,AAAAEAQA\n"
     "1483389946.8,0x7,0,0,0,6,AAAA.AQA\n",
     NULL, 0, false,
     "1483389946.197 0 00DADADA 0.0.0.16.4.0.0.0\n"
     "1483389946.5 0 026 1.2.3.4.5.6.7.255\n"
     "1483389946.5 0 00000026 255.0.0.0.0.0.0.0\n"
     "remote_frame\nerror_frame\n"
     "1483389946.8 0 007 0.0.0.0.0.0.0.0\n"
     "malformed_line\npayload_unparsable\n",
     NULL},
    {"can-train-and-test",
     "timestamp,arbitration_id,data_field,attack\n1580000100.5,0F5,7D87,0\n1580000101,0x26,,1\n",
     NULL, 0, true,
     "1580000100.5 0 0F5 125.135.0.0.0.0.0.0 0\n"
     "1580000101 0 026 0.0.0.0.0.0.0.0 1\n",
     NULL},
    {"CICIoV2024, decimal",
     "ID,DATA_0,DATA_1,DATA_2,DATA_3,DATA_4,DATA_5,DATA_6,DATA_7,label,category,specific_class\n"
     "65,96,0,0,0,0,0,0,0,BENIGN,BENIGN,BENIGN\n"
     "1068,132,13,160,0,0,0,0,255,ATTACK,SPOOFING,GAS\n",
     NULL, 1000, true, "0 0 041 96.0.0.0.0.0.0.0 0\n0 0 42C 132.13.160.0.0.0.0.255 1\n", NULL},
    {"CICIoV2024, hexadecimal",
     "ID,DATA_0,DATA_1,DATA_2,DATA_3,DATA_4,DATA_5,DATA_6,DATA_7,label,category,specific_class\n"
     "041,60,00,00,00,00,00,00,00,BENIGN,BENIGN,BENIGN\n"
     "42C,84,0D,A0,00,00,00,00,FF,ATTACK,SPOOFING,GAS\n",
     NULL, 1000, true, "0 0 041 96.0.0.0.0.0.0.0 0\n0 0 42C 132.13.160.0.0.0.0.255 1\n", NULL},
    {"CICIoV2024, without the option",
     "ID,DATA_0,DATA_1,DATA_2,DATA_3,DATA_4,DATA_5,DATA_6,DATA_7,label,category,specific_class\n"
     "65,96,0,0,0,0,0,0,0,BENIGN,BENIGN,BENIGN\n",
     NULL, 0, true,
     "\"x.csv\" begins with \"ID\", \"DATA_0\", \"DATA_1\": no column for time; name it with "
     "--column time=NAME, or use --no-time RATE if it has none",
     NULL},
    {"CICIoV2024, with a line that looks like another format",
     "ID,DATA_0,DATA_1,DATA_2,DATA_3,DATA_4,DATA_5,DATA_6,DATA_7,label,category,specific_class\n"
     "65,96,9,0,0,0,0,0,0,BENIGN,BENIGN,BENIGN\n65,96,8,0,0,0,0,0,0,BENIGN,BENIGN,BENIGN\n",
     NULL, 0, true, "no column for time; name it with --column time=NAME, or use --no-time", NULL},
    {"SynCAN, ROAD: decoded signals",
     "Label,Time,ID,Signal1_of_ID,Signal2_of_ID\n0,1.5,id1,0.25,0.5\n", NULL, 0, true,
     "\"x.csv\" begins with \"Label\", \"Time\", \"ID\": it contains decoded signals (column "
     "\"Signal1_of_ID\"), not payloads; use the recorded frames instead",
     NULL},
};

static void test_published(void **state) {
    (void)state;
    CHECK(published, LEAT_CAN_CSV);
}

/* ---- names, separators, notations ---- */

static const shape tables[] = {
    {"semicolons", "time;id;data;label\n1.5;0F5;01FF;T\n2;0F5;;R\n", NULL, 0, true,
     "1.5 0 0F5 1.255.0.0.0.0.0.0 1\n2 0 0F5 0.0.0.0.0.0.0.0 0\n", NULL},
    {"tabs", "time\tid\tdata\n1.5\t0F5\t01 FF\n", NULL, 0, false, "1.5 0 0F5 1.255.0.0.0.0.0.0\n",
     NULL},
    {"blanks", "time id dlc data label\n1.5  0F5 2 01 FF 1\n2 0F5 0 0\n3 0F5 1 02 0\n", NULL, 0,
     true, "1.5 0 0F5 1.255.0.0.0.0.0.0 1\nmalformed_line\n3 0 0F5 2.0.0.0.0.0.0.0 0\n", NULL},
    {"blanks around names and values",
     " timestamp , arbitration_id , data_field , attack\n 1.5 , 0F5 , 01FF , 1 \n", NULL, 0, true,
     "1.5 0 0F5 1.255.0.0.0.0.0.0 1\n", NULL},
    {"a label of another name",
     "timestamp,arbitration_id,data_field, Attack\n1.5,0F5,01FF,Attack\n", NULL, 0, true,
     "1.5 0 0F5 1.255.0.0.0.0.0.0 1\n", NULL},
    {"Flag", "timestamp,arbitration_id,data_field,Flag\n1.5,0F5,01FF,T\n2,0F5,01FF,R\n", NULL, 0,
     true, "1.5 0 0F5 1.255.0.0.0.0.0.0 1\n2 0 0F5 1.255.0.0.0.0.0.0 0\n", NULL},
    {"class", "class,timestamp,arb_id,payload\nanomaly,1.5,0F5,01FF\n", NULL, 0, true,
     "1.5 0 0F5 1.255.0.0.0.0.0.0 1\n", NULL},
    {"two labels", "timestamp,arb_id,payload,Label,attack\n1.5,0F5,01FF,0,1\n", NULL, 0, true,
     "1.5 0 0F5 1.255.0.0.0.0.0.0 1\n", "Label"},
    {"a name like a label", "timestamp,arb_id,payload,is_malicious_frame\n1.5,0F5,01FF,1\n", NULL,
     0, false, "1.5 0 0F5 1.255.0.0.0.0.0.0\n", "is_malicious_frame"},
    {"values like labels", "timestamp,arb_id,payload,kind\n1.5,0F5,01FF,T\n2,0F5,01FF,R\n", NULL, 0,
     false, "1.5 0 0F5 1.255.0.0.0.0.0.0\n2 0 0F5 1.255.0.0.0.0.0.0\n", "kind"},
    {"values not like labels", "timestamp,arb_id,payload,kind\n1.5,0F5,01FF,T\n2,0F5,01FF,9\n",
     NULL, 0, false, "1.5 0 0F5 1.255.0.0.0.0.0.0\n2 0 0F5 1.255.0.0.0.0.0.0\n", NULL},
    {"buses", "time,bus,id,data\n1.5,3,0F5,01\n2,can1,0F5,02\n3,can,0F5,03\n", NULL, 0, false,
     "1.5 3 0F5 1.0.0.0.0.0.0.0\n2 1 0F5 2.0.0.0.0.0.0.0\n3 0 0F5 3.0.0.0.0.0.0.0\n", NULL},
    {"buses of equal digits", "time,channel,id,data\n1,HS1,0F5,01\n2,MS1,0F5,02\n3,HS1,0F5,03\n",
     NULL, 0, false, "1 1 0F5 1.0.0.0.0.0.0.0\n2 0 0F5 2.0.0.0.0.0.0.0\n3 1 0F5 3.0.0.0.0.0.0.0\n",
     NULL},
    {"units in names", "Time (ms),ID,Data\n1500,0F5,01\n", NULL, 0, false,
     "1.5 0 0F5 1.0.0.0.0.0.0.0\n", NULL},
    {"quotes", "\"time\",\"id\",\"data\"\n\"1.5\",\"0F5\",\"01,FF\"\n", NULL, 0, false,
     "1.5 0 0F5 1.255.0.0.0.0.0.0\n", NULL},
    {"a DLC that disagrees",
     "time,id,dlc,data\n1,0F5,2,01FF\n2,0F5,3,01FF\n3,0F5,9,01FF\n4,0F5,x,\n", NULL, 0, false,
     "1 0 0F5 1.255.0.0.0.0.0.0\nmalformed_line\nmalformed_line\nmalformed_line\n", NULL},
    {"a DLC of CAN-FD", "time,id,dlc,data\n1,0F5,9,0102030405060708090A0B0C\n", NULL, 0, false,
     "1 0 0F5 1.2.3.4.5.6.7.8\n", NULL},
    {"separators of bytes",
     "time;id;data\n1;0F5;01-FF\n2;0F5;[0x01, 0xFF]\n3;0F5;0x01FF\n4;0F5;1G 2\n", NULL, 0, false,
     "1 0 0F5 1.255.0.0.0.0.0.0\n2 0 0F5 1.255.0.0.0.0.0.0\n3 0 0F5 1.255.0.0.0.0.0.0\n"
     "payload_unparsable\n",
     NULL},
    {"bytes without a DLC", "time,id,d1,d2,d3\n1,0F5,01,ff,\n2,0F5,,,\n3,0F5,01,,03\n4,0F5,01\n",
     NULL, 0, false,
     "1 0 0F5 1.255.0.0.0.0.0.0\n2 0 0F5 0.0.0.0.0.0.0.0\nmalformed_line\n"
     "4 0 0F5 1.0.0.0.0.0.0.0\n",
     NULL},
    {"decimal bytes by three digits", "time,id,d0,d1\n1,0F5,10,0\n2,0F5,255,9\n3,0F5,256,0\n", NULL,
     0, false, "1 0 0F5 10.0.0.0.0.0.0.0\n2 0 0F5 255.9.0.0.0.0.0.0\npayload_unparsable\n", NULL},
    {"hexadecimal bytes by a letter", "time,id,d0,d1\n1,0F5,10,0\n2,0F5,ff,9\n", NULL, 0, false,
     "1 0 0F5 16.0.0.0.0.0.0.0\n2 0 0F5 255.9.0.0.0.0.0.0\n", NULL},
    {"bytes, one of them empty: the DLC is not bits",
     "time,id,dlc,d0,d1,d2,label\n1,0F5,0,,,,0\n2,0F5,8,01,0,,0\n", NULL, 0, true,
     "1 0 0F5 0.0.0.0.0.0.0.0 0\nmalformed_line\n", NULL},
    {"bytes, a DLC in bits",
     "time,id,dlc,d0,d1,d2\n1,0F5,16,1c,2e,\n2,0F5,24,1c,2e,2b\n3,0F5,8.0,1c,0,nan\n", NULL, 0,
     false, "1 0 0F5 28.46.0.0.0.0.0.0\n2 0 0F5 28.46.43.0.0.0.0.0\n3 0 0F5 28.0.0.0.0.0.0.0\n",
     NULL},
    {"bytes after the DLC",
     "time,id,dlc,d0,d1,d2\n1,0F5,1,1c,00,0x00\n2,0F5,1,1c,2e,\n3,0F5,1,1c,,2e\n4,0F5,0,,,\n", NULL,
     0, false,
     "1 0 0F5 28.0.0.0.0.0.0.0\nmalformed_line\nmalformed_line\n4 0 0F5 0.0.0.0.0.0.0.0\n", NULL},
    {"bytes in reverse", "time,id,d2,d1,d0\n1,0F5,01,02,0f\n2,0F5,,,0f\n3,0F5,1,,\n", NULL, 0,
     false, "1 0 0F5 15.2.1.0.0.0.0.0\n2 0 0F5 15.0.0.0.0.0.0.0\nmalformed_line\n", NULL},
    {"bytes with others between", "time,D1,id,x,D3,label,D2\n1,0f,0F5,9,3,0,2\n", NULL, 0, true,
     "1 0 0F5 15.2.3.0.0.0.0.0 0\n", NULL},
    {"bytes sorted by name",
     "time,id,d0,d1,d10,d2,d3,d4,d5,d6,d7,d8,d9\n1,0F5,0,1,f,2,3,4,5,6,7,8,9\n", NULL, 0, false,
     "1 0 0F5 0.1.2.3.4.5.6.7\n", NULL},
    {"a byte that is missing", "time,id,d0,d1,d3\n1,0F5,0,1,f\n", NULL, 0, false,
     "column \"d3\" looks like a byte of the payload, but there is none for byte 2; choose the "
     "payload with --column data=FIRST..LAST",
     NULL},
    {"a byte twice", "time,id,d0,b1,byte1\n1,0F5,0,1,f\n", NULL, 0, false,
     "columns \"b1\" and \"byte1\" may both be byte 1", NULL},
    {"bytes of a payload in one column", "time,id,data,d0,d2\n1,0F5,0102,1,f\n", NULL, 0, false,
     "1 0 0F5 1.2.0.0.0.0.0.0\n", NULL},
    {"GVRET's columns, semicolons",
     "Time Stamp;ID;Extended;Dir;Bus;LEN;D1;D2\n1500000;0F5;true;Rx;2;1;0f;\n", NULL, 0, false,
     "1.5 2 000000F5 15.0.0.0.0.0.0.0\n", NULL},
    {"GVRET's columns and others",
     "n,\"Time Stamp\",ID,Extended,Bus,LEN,D1,D2,Label\n0,1500000,0F5,false,2,1,0f,,1\n", NULL, 0,
     true, "1.5 2 0F5 15.0.0.0.0.0.0.0 1\n", NULL},
    {"GVRET's columns in seconds", "Time Stamp;ID;Extended;Bus;LEN;D1\n1.5;0F5;0;2;1;0f\n", NULL, 0,
     false, "1.5 2 0F5 15.0.0.0.0.0.0.0\n", NULL},
    {"a blank in a name", "Timestamp CAN ID Data\n1.5  130  1C 2E 2B\n", NULL, 0, false,
     "its header has 4 words, \"CAN\" of unknown meaning, but a line has 5; remove blanks", NULL},
    {"a blank in a name, columns of bytes", "Timestamp CAN ID D0 D1 D2\n1.5  130  1C 2E 2B\n", NULL,
     0, false, "its header has 6 words, \"CAN\" of unknown meaning, but a line has 5", NULL},
    {"blanks, an unused column", "Timestamp port ID Data\n1.5  9 130  1C2E\n", NULL, 0, false,
     "1.5 0 130 28.46.0.0.0.0.0.0\n", NULL},
    {"blanks, an unused column and a DLC", "Timestamp port ID DLC Data\n1.5  9 130 2 1C 2E\n", NULL,
     0, false, "1.5 0 130 28.46.0.0.0.0.0.0\n", NULL},
    {"words for remote and error frames",
     "time,id,extended,remote,error,data\n1,0F5,no,f,0,01\n2,0F5,Y,N,,01\n3,0F5,0,Yes,False,\n"
     "4,0F5,0,T,n,\n5,0F5,0,0,TRUE,\n6,0F5,nan,0.0,0,01\n7,0F5,0,RTR,0,\n8,0F5,std,0,0,01\n"
     "9,0F5,0,0,2,01\n",
     NULL, 0, false,
     "1 0 0F5 1.0.0.0.0.0.0.0\n2 0 000000F5 1.0.0.0.0.0.0.0\nremote_frame\nremote_frame\n"
     "error_frame\n6 0 0F5 1.0.0.0.0.0.0.0\nmalformed_line\nmalformed_line\nmalformed_line\n",
     NULL},
    {"the usual columns, 0x", "timestamp,arbitration_id,data_field,attack\n1,0F5,0x01FF,1\n", NULL,
     0, true, "1 0 0F5 1.255.0.0.0.0.0.0 1\n", NULL},
    {"the usual columns, words", "timestamp,arbitration_id,data_field,attack\n1,0F5,01 FF,1\n",
     NULL, 0, true, "1 0 0F5 1.255.0.0.0.0.0.0 1\n", NULL},
    {"the usual columns, blanks around values",
     "timestamp,arbitration_id,data_field,attack\n1, 0F5, 01FF, 1\n", NULL, 0, true,
     "1 0 0F5 1.255.0.0.0.0.0.0 1\n", NULL},
    {"some values like labels", "timestamp,arb_id,payload,kind\n1,0F5,,DoS\n2,0F5,,Normal\n", NULL,
     0, false, "1 0 0F5 0.0.0.0.0.0.0.0\n2 0 0F5 0.0.0.0.0.0.0.0\n", "kind"},
    {"a type", "timestamp,arb_id,payload,type\n1,0F5,,DoS\n", NULL, 0, false,
     "1 0 0F5 0.0.0.0.0.0.0.0\n", "type"},
    {"marks of identifiers", "time;id;data\n1;$1A4;01\n2;1A4h;02\n3;1A4x;03\n4;1A4;04\n5;1A4y;05\n",
     NULL, 0, false,
     "1 0 1A4 1.0.0.0.0.0.0.0\n2 0 1A4 2.0.0.0.0.0.0.0\n3 0 000001A4 3.0.0.0.0.0.0.0\n"
     "4 0 1A4 4.0.0.0.0.0.0.0\nidentifier_unparsable\n",
     NULL},
    {"bytes of Python",
     "time,id,dlc,data\n1,0F5,0,bytearray(b'')\n2,0F5,3,bytearray(b'\\x00\\xffa')\n"
     "3,0F5,6,bytearray(b'\\t\\n\\r\\\\\\'*')\n4,0F5,2,\"bytearray(b',\"\"')\"\n"
     "5,0F5,2,\"bytearray(b\"\"',\"\")\"\n6,0F5,1,bytearray(b\"'\")\n"
     "7,0F5,1,bytearray(b'\\x0')\n8,0F5,1,bytearray(b'\\q')\n9,0F5,1,bytearray(b'a'\n"
     "10,0F5,1,bytearray(b'ab')\n11,0F5,2,bytearray(b'\"\"')\n12,0F5,9,bytearray(b'123456789')\n"
     "13,0F5,1,bytearray(b'a)\n14,0F5,1,\"bytearray(b'\"\"')\"\n15,0F5,1,bytearray(b'\x7f')\n"
     "16,0F5,0,bytearray(b')\n17,0F5,0,bytearray(b)\n18,0F5,2,b'0a'\n",
     NULL, 0, false,
     "1 0 0F5 0.0.0.0.0.0.0.0\n2 0 0F5 0.255.97.0.0.0.0.0\n3 0 0F5 9.10.13.92.39.42.0.0\n"
     "4 0 0F5 44.34.0.0.0.0.0.0\n5 0 0F5 39.44.0.0.0.0.0.0\n6 0 0F5 39.0.0.0.0.0.0.0\n"
     "payload_unparsable\npayload_unparsable\npayload_unparsable\nmalformed_line\n"
     "11 0 0F5 34.34.0.0.0.0.0.0\n12 0 0F5 49.50.51.52.53.54.55.56\npayload_unparsable\n"
     "14 0 0F5 34.0.0.0.0.0.0.0\npayload_unparsable\npayload_unparsable\npayload_unparsable\n"
     "payload_unparsable\n",
     NULL},
    {"lists of Python",
     "time,id,data\n1,0F5,\"bytearray([10, 2])\"\n2,0F5,\"bytes([255, 0])\"\n"
     "3,0F5,\"array('B', [1, 20])\"\n4,0F5,array('B')\n5,0F5,bytes([])\n6,0F5,bytearray([7])\n"
     "7,0F5,\"bytearray([256])\"\n8,0F5,\"bytes([-1, 2])\"\n9,0F5,\"array('H', [1, 20])\"\n"
     "10,0F5,\"bytes([1, 2]\"\n11,0F5,bytes([1F])\n12,0F5,\"(10, 2)\"\n",
     NULL, 0, false,
     "1 0 0F5 10.2.0.0.0.0.0.0\n2 0 0F5 255.0.0.0.0.0.0.0\n3 0 0F5 1.20.0.0.0.0.0.0\n"
     "4 0 0F5 0.0.0.0.0.0.0.0\n5 0 0F5 0.0.0.0.0.0.0.0\n6 0 0F5 7.0.0.0.0.0.0.0\n"
     "payload_unparsable\npayload_unparsable\npayload_unparsable\npayload_unparsable\n"
     "payload_unparsable\npayload_unparsable\n",
     NULL},
    {"bytes of Python, the usual columns",
     "timestamp,arbitration_id,data_field,attack\n1,0F5,bytearray(b'ab'),1\n", NULL, 0, true,
     "1 0 0F5 97.98.0.0.0.0.0.0 1\n", NULL},
    {"floats of pandas",
     ",time,bus,id,dlc,d0,d1,d2,label\n0,1.0,1.0,1A4,3.0,43.0,160.0,7.0,1.0\n"
     "1,2.0,0.0,1A4,1.0,255.0,,,0.0\n2,3.0,0.0,1A4,1,256.0,,,0.0\n3,4.0,0.0,1A4,1,43.5,,,0.0\n",
     NULL, 0, true,
     "1 1 1A4 43.160.7.0.0.0.0.0 1\n2 0 1A4 255.0.0.0.0.0.0.0 0\npayload_unparsable\n"
     "payload_unparsable\n",
     NULL},
    {"no header", "a,b,c\n1,2,3\n", NULL, 0, false, "not a vehicle log format", NULL},
    {"an identifier, no payload", "time,id,x\n1,2,3\n", NULL, 0, false,
     "no column for data; use --column data=NAME (formats", NULL},
};

static void test_tables(void **state) {
    (void)state;
    CHECK(tables, LEAT_CAN_CSV);
    static const shape lenient = {
        "lenient", "Time,ID,Data,Label\n1,0F5,01 Z,0\n2,0F5,1ZZ,1\n",        NULL, 0,
        true,      "1 0 0F5 1.0.0.0.0.0.0.0 0\n2 0 0F5 0.0.0.0.0.0.0.0 1\n", NULL};
    check_shape(&lenient, LEAT_CAN_CSV, false);
}

/* A name that the first 256 lines do not have: only its digits may differ. */
static void test_late_buses(void **state) {
    (void)state;
    leat_can_line_options options = {.canonical = true, .strict = true};
    leat_can_detected it;
    const char *text = "time,channel,id,data\n1,HS1,0F5,01\n2,MS1,0F5,02\n";
    const leat_can_head head = {text, (int64_t)strlen(text), "x.csv", LEAT_CAN_AUTO};
    assert_ok(leat_can_detect(&head, &options, &it, err));
    leat_buf out = {0};
    read_lines(
        &out, &it.layout, &options,
        "3,HS2,0F5,01\n4,MS2,0F5,02\n5,HS0,0F5,03\n6,MS1,0F5,04\n7,HS02,0F5,05\n8,2,0F5,06\n");
    assert_ok(leat_buf_append(&out, "", 1, err));
    assert_string_equal((const char *)out.data,
                        "3 2 0F5 1.0.0.0.0.0.0.0\nbus_unparsable\nbus_unparsable\n"
                        "6 0 0F5 4.0.0.0.0.0.0.0\nbus_unparsable\nbus_unparsable\n");
    leat_buf_free(&out);
}

/* ---- --column ---- */

static const shape mapped[] = {
    {"names and units", "T,Message,N,Bits,Verdict\n1500000,291,16,0000000111111111,1\n",
     "time=T:us,id=Message:dec,dlc=N:bits,data=Bits:bits,label=Verdict", 0, true,
     "1.5 0 123 1.255.0.0.0.0.0.0 1\n", NULL},
    {"several labels",
     "time,id,data,DoS,Fuzzy,RPM\n1,0F5,1,0,0,0\n2,0F5,1,1,0,0\n3,0F5,1,0,normal,1.0\n4,0F5,1,0,,"
     "0\n"
     "5,0F5,1,0,,1\n6,0F5,1,odd,0,1\n",
     "label=RPM+DoS+5,data=data:dec", 0, true,
     "1 0 0F5 1.0.0.0.0.0.0.0 0\n2 0 0F5 1.0.0.0.0.0.0.0 1\n3 0 0F5 1.0.0.0.0.0.0.0 1\n"
     "label_missing\n5 0 0F5 1.0.0.0.0.0.0.0 1\nlabel_unparsable\n",
     NULL},
    {"several labels, one of them of benign frames",
     "time,id,data,Normal,DoS\n1,0F5,1,1,0\n2,0F5,1,0,0\n3,0F5,1,0,1\n",
     "label=Normal+DoS,data=3:dec", 0, true,
     "1 0 0F5 1.0.0.0.0.0.0.0 0\n2 0 0F5 1.0.0.0.0.0.0.0 1\n3 0 0F5 1.0.0.0.0.0.0.0 1\n", NULL},
    {"a name with a +", "time,id,data,DoS+Fuzzy,DoS\n1,0F5,1,1,0\n2,0F5,1,0,1\n",
     "label=DoS+Fuzzy,data=3:dec", 0, true,
     "1 0 0F5 1.0.0.0.0.0.0.0 1\n2 0 0F5 1.0.0.0.0.0.0.0 0\n", NULL},
    {"no label among several", "time,id,data,DoS\n1,0F5,1,1\n", "label=DoS+Gear", 0, true,
     "there is no column \"Gear\", which --column label names", NULL},
    {"one label twice", "time,id,data,DoS\n1,0F5,1,1\n", "label=DoS+4", 0, true,
     "--column uses column 4 twice", NULL},
    {"nanoseconds, milliseconds", "t,m,d\n1500000000,123,0\n", "time=t:ns,id=m,data=d:dec", 0,
     false, "1.5 0 123 0.0.0.0.0.0.0.0\n", NULL},
    {"decimal bytes in brackets",
     "time,id,data\n1,0F5,\"[10, 2]\"\n2,0F5,\"(10, 2)\"\n3,0F5,\"(10,)\"\n4,0F5,()\n"
     "5,0F5,\"[-54, 24]\"\n6,0F5,\"[54, -24]\"\n7,0F5,-1\n8,0F5,10-20\n9,0F5,(10\n"
     "10,0F5,\"array('B', [9])\"\n",
     "data=data:dec", 0, false,
     "1 0 0F5 10.2.0.0.0.0.0.0\n2 0 0F5 10.2.0.0.0.0.0.0\n3 0 0F5 10.0.0.0.0.0.0.0\n"
     "4 0 0F5 0.0.0.0.0.0.0.0\npayload_unparsable\npayload_unparsable\npayload_unparsable\n"
     "8 0 0F5 10.20.0.0.0.0.0.0\npayload_unparsable\n10 0 0F5 9.0.0.0.0.0.0.0\n",
     NULL},
    {"signed bytes where hex ones are expected",
     "time,id,data\n1,0F5,\"[-65, 46, 96]\"\n2,0F5,\"[65, 46, -96]\"\n3,0F5,10-20-30\n"
     "4,0F5,\"[65, 46, 96]\"\n",
     NULL, 0, false,
     "payload_unparsable\npayload_unparsable\n3 0 0F5 16.32.48.0.0.0.0.0\n"
     "4 0 0F5 101.70.150.0.0.0.0.0\n",
     NULL},
    {"decimal bytes", "time,id,bytes\n1,0F5,1 255 016\n2,0F5,256\n3,0F5,FF\n4,0F5,0102\n",
     "data=bytes:dec", 0, false,
     "1 0 0F5 1.255.16.0.0.0.0.0\npayload_unparsable\npayload_unparsable\npayload_unparsable\n",
     NULL},
    {"base64", "time,id,raw\n1,0F5,AQL/\n2,0F5,AQL\n3,0F5,AQ==\n", "data=raw:base64", 0, false,
     "1 0 0F5 1.2.255.0.0.0.0.0\npayload_unparsable\n3 0 0F5 1.0.0.0.0.0.0.0\n", NULL},
    {"columns of bytes", "time,id,p,q,r\n1,0F5,10,255,0\n", "data=p..r:dec", 0, false,
     "1 0 0F5 10.255.0.0.0.0.0.0\n", NULL},
    {"numbers, no header", "1,0316,2,05,21,,R\n2,0316,3,05,ff,01,T\n",
     "time=1,id=2,dlc=3,data=4..6,label=7", 0, true,
     "1 0 316 5.33.0.0.0.0.0.0 0\n2 0 316 5.255.1.0.0.0.0.0 1\n", NULL},
    {"numbers, an unused label", "1,0316,05,R\n2,0316,06,T\n", "time=1,id=2,data=3", 0, false,
     "1 0 316 5.0.0.0.0.0.0.0\n2 0 316 6.0.0.0.0.0.0.0\n", "4"},
    {"numbers, blanks", "1 0316 2 05 21\n2 0316 3 05 ff 01\n", "time=1,id=2,dlc=3,data=4", 0, false,
     "1 0 316 5.33.0.0.0.0.0.0\n2 0 316 5.255.1.0.0.0.0.0\n", NULL},
    {"numbers, a header", "when,what,bytes\n1,0F5,01FF\n", "time=1,id=2,data=3", 0, false,
     "1 0 0F5 1.255.0.0.0.0.0.0\n", NULL},
    {"numbers, a damaged time", "1x,0316,05,R\n2,0316,06,T\n", "time=1,id=2,data=3,label=4", 0,
     true, "timestamp_unparsable\n2 0 316 6.0.0.0.0.0.0.0 1\n", NULL},
    {"numbers, a damaged time, no other number", "x,AF,FF,R\n2,0316,06,T\n",
     "time=1,id=2,data=3,label=4", 0, true, "2 0 316 6.0.0.0.0.0.0.0 1\n", NULL},
    {"numbers, a damaged identifier", "1,zzz,05\n2,0316,06\n", "time=1,id=2,data=3", 0, false,
     "identifier_unparsable\n2 0 316 6.0.0.0.0.0.0.0\n", NULL},
    {"numbers, a lost beginning", ",16,05\n2,0316,06\n", "time=1,id=2,data=3", 0, false,
     "timestamp_unparsable\n2 0 316 6.0.0.0.0.0.0.0\n", NULL},
    {"numbers, a lost end", "1\n2,0316,06\n", "time=1,id=2,data=3", 0, false,
     "malformed_line\n2 0 316 6.0.0.0.0.0.0.0\n", NULL},
    {"numbers, a lost beginning, blanks", "05\nx\n2 0316 06\n", "time=1,id=2,data=3", 0, false,
     "malformed_line\nmalformed_line\n2 0 316 6.0.0.0.0.0.0.0\n", NULL},
    {"numbers, signs", "-x,.5z,05\n-2,0316,06\n", "time=1,id=2,data=3", 0, false,
     "timestamp_unparsable\n-2 0 316 6.0.0.0.0.0.0.0\n", NULL},
    {"GVRET's columns and a label",
     "Time Stamp,ID,Extended,Dir,Bus,LEN,D1,D2,Label\n1500000,0F5,false,Rx,2,1,0f,,1\n",
     "label=Label", 0, true, "1.5 2 0F5 15.0.0.0.0.0.0.0 1\n", NULL},
    {"GVRET's columns, another unit",
     "Time Stamp,ID,Extended,Dir,Bus,LEN,D1,D2,Label\n1500,0F5,false,Rx,2,1,0f,,1\n", "time=1:ms",
     0, true, "1.5 2 0F5 15.0.0.0.0.0.0.0 1\n", NULL},
    {"numbers, blanks, a blank in a name", "Timestamp CAN ID Data\n1.5  130  1C 2E 2B\n",
     "time=1,id=2,data=3", 0, false, "\"Data\" of unknown meaning", NULL},
    {"a header, and other names found", "when,ID,DLC,Data,Label\n1,0F5,2,01FF,1\n", "time=when", 0,
     true, "1 0 0F5 1.255.0.0.0.0.0.0 1\n", NULL},
    {"decimal floats, and 29 bits",
     "time,id,data\n1,346.0,[43.0 160. 7.00]\n2,291x,\"43.0, 0.0\"\n3,346.5,1\n4,$346,1\n"
     "5,346h,1\n6,346.x,43.160\n7,536870912.0,1\n8,346,\"43.5, 1\"\n",
     "id=id:dec,data=data:dec", 0, false,
     "1 0 15A 43.160.7.0.0.0.0.0\n2 0 00000123 43.0.0.0.0.0.0.0\nidentifier_unparsable\n"
     "identifier_unparsable\nidentifier_unparsable\n6 0 0000015A 43.160.0.0.0.0.0.0\n"
     "identifier_unparsable\npayload_unparsable\n",
     NULL},
    {"a case that differs", "When,ID,Data\n1,0F5,01FF\n", "time=when", 0, false,
     "1 0 0F5 1.255.0.0.0.0.0.0\n", NULL},
    {"a label of two", "time,id,data,label,attack\n1,0F5,01FF,1,0\n", "label=label", 0, true,
     "1 0 0F5 1.255.0.0.0.0.0.0 1\n", "attack"},
    {"no times", "id,data\n0F5,01FF\n", "id=id", 100, false, "0 0 0F5 1.255.0.0.0.0.0.0\n", NULL},
    {"python-can with an option",
     "timestamp,arbitration_id,extended,remote,error,dlc,data\n1,0x26,0,0,0,3,AAAA\n", "id=2:hex",
     0, false, "1 0 026 0.0.0.0.0.0.0.0\n", NULL},
    {"no such column", "time,id,data\n1,0F5,01FF\n", "id=ID9", 0, false,
     "there is no column \"ID9\", which --column id names, among 3 columns", NULL},
    {"no such number", "time,id,data\n1,0F5,01FF\n", "time=1,id=2,data=4", 0, false,
     "there is no column \"4\"", NULL},
    {"twice", "time,id,data\n1,0F5,01FF\n", "id=id,data=id", 0, false,
     "--column uses column 2 twice", NULL},
    {"two of a name", "time,id,data,x,x\n1,0F5,01FF,1,1\n", "label=x", 0, false,
     "2 columns have the name \"x\" of --column label", NULL},
    {"bytes in reverse", "time,id,a,b\n1,0F5,01,FF\n", "data=b..a", 0, false,
     "\"b\" is after \"a\"", NULL},
    {"another format", "(1.5) can0 123#01\n", "time=t,id=i,data=d", 0, false,
     "begins with \"(1.5)\", \"can0\", \"123#01\": there is no column \"t\"", NULL},
};

static void test_mapped(void **state) {
    (void)state;
    CHECK(mapped, LEAT_CAN_CSV);
}

static void test_mapping_words(void **state) {
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"", "\"\" is not accepted; it takes WHAT=NAME"},
        {"time", "\"time\" is not accepted"},
        {"when=T",
         "\"when=T\" is not accepted; it takes WHAT=NAME, separated by commas, where WHAT "
         "is time, id, bus, dlc, data, label or attack"},
        {"time=T,", "\"\" is not accepted"},
        {"time=", "the name for time must have 1 to 63 characters"},
        {"time=:us", "the name for time must have"},
        {"data=a..", "the name for data must have"},
        {"time=T,time=U", "time is given twice"},
        {"time=T:dec",
         "--column: time does not take :dec; time takes s, ms, us, ns or gap, id hex or dec"},
        {"label=L:s", "label does not take :s"},
        {"id=a123456789b123456789c123456789d123456789e123456789f123456789abcd",
         "the name for id must have 1 to 63"},
    };
    leat_can_mapping mapping;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_fails(leat_can_mapping_parse(&mapping, cases[i].text, err), LEAT_ERR_OPTION,
                     cases[i].words);
    assert_ok(leat_can_mapping_parse(&mapping, "time=a:b,data=x..y:hex,id=0..7", err));
    assert_string_equal(mapping.roles[LEAT_CAN_ROLE_TIME].name, "a:b"); /* not a unit */
    assert_string_equal(mapping.roles[LEAT_CAN_ROLE_DATA].name, "x");
    assert_string_equal(mapping.roles[LEAT_CAN_ROLE_DATA].last, "y");
    assert_int_equal(mapping.roles[LEAT_CAN_ROLE_DATA].unit, LEAT_CAN_UNIT_HEX);
    assert_string_equal(mapping.roles[LEAT_CAN_ROLE_ID].name, "0..7");
}

/* ---- what the first lines do not decide ---- */

#define NO_BYTES(time) #time " 0 0F5 0.0.0.0.0.0.0.0\n"
#define CICIOV                                                                                     \
    "ID,DATA_0,DATA_1,DATA_2,DATA_3,DATA_4,DATA_5,DATA_6,DATA_7,label,category,specific_class\n"

static const struct {
    shape of;
    int doubts;
    bool decimal_ids; /* identifiers may be decimal, for another reason than their own digits */
} doubtful[] = {
    {{"hexadecimal bytes by a letter", "time,id,d0,d1\n1,291,10,0\n2,291,ff,9\n", NULL, 0, false,
      "1 0 291 16.0.0.0.0.0.0.0\n2 0 291 255.9.0.0.0.0.0.0\n", NULL},
     0,
     false},
    {{"decimal bytes, identifiers without a letter", "time,id,d0,d1\n1,291,10,0\n2,291,255,9\n",
      NULL, 0, false, "1 0 291 10.0.0.0.0.0.0.0\n2 0 291 255.9.0.0.0.0.0.0\n", NULL},
     0,
     true},
    {{"decimal bytes, identifiers with a letter", "time,id,d0,d1\n1,29F,10,0\n2,291,255,9\n", NULL,
      0, false, "1 0 29F 10.0.0.0.0.0.0.0\n2 0 291 255.9.0.0.0.0.0.0\n", NULL},
     0,
     false},
    {{"bytes hexadecimal or decimal", "time,id,d0,d1\n1,0F5,10,0\n2,0F5,25,9\n", NULL, 0, false,
      "1 0 0F5 16.0.0.0.0.0.0.0\n2 0 0F5 37.9.0.0.0.0.0.0\n", NULL},
     LEAT_CAN_DOUBT_BYTES,
     false},
    {{"bytes hexadecimal by --column", "time,id,d0,d1\n1,0F5,10,0\n2,0F5,25,9\n", "data=d0..d1:hex",
      0, false, "1 0 0F5 16.0.0.0.0.0.0.0\n2 0 0F5 37.9.0.0.0.0.0.0\n", NULL},
     0,
     false},
    {{"whole times that change",
      "timestamp,arb_id,payload\n0,0F5,\n1,0F5,\n1,0F5,\n2,0F5,\n3,0F5,\n3.0,0F5,\n4,0F5,\n5,0F5,"
      "\n",
      NULL, 0, false,
      NO_BYTES(0) NO_BYTES(1) NO_BYTES(1) NO_BYTES(2) NO_BYTES(3) NO_BYTES(3) NO_BYTES(4)
          NO_BYTES(5),
      NULL},
     LEAT_CAN_DOUBT_TIME,
     false},
    {{"whole times, their unit given",
      "timestamp,arb_id,payload\n0,0F5,\n1,0F5,\n1,0F5,\n2,0F5,\n3,0F5,\n3,0F5,\n4,0F5,\n5,0F5,\n",
      "time=timestamp:s", 0, false,
      NO_BYTES(0) NO_BYTES(1) NO_BYTES(1) NO_BYTES(2) NO_BYTES(3) NO_BYTES(3) NO_BYTES(4)
          NO_BYTES(5),
      NULL},
     0,
     false},
    {{"whole seconds",
      "timestamp,arb_id,payload\n0,0F5,\n0,0F5,\n1,0F5,\n1,0F5,\n1,0F5,\n1,0F5,\n2,0F5,\n2,0F5,\n",
      NULL, 0, false,
      NO_BYTES(0) NO_BYTES(0) NO_BYTES(1) NO_BYTES(1) NO_BYTES(1) NO_BYTES(1) NO_BYTES(2)
          NO_BYTES(2),
      NULL},
     0,
     false},
    {{"one time that is not whole",
      "timestamp,arb_id,payload\n0,0F5,\n1,0F5,\n2,0F5,\n3,0F5,\n4,0F5,\n5,0F5,\n6,0F5,\n7.5,0F5,"
      "\n",
      NULL, 0, false,
      NO_BYTES(0) NO_BYTES(1) NO_BYTES(2) NO_BYTES(3) NO_BYTES(4) NO_BYTES(5) NO_BYTES(6)
          NO_BYTES(7.5),
      NULL},
     0,
     false},
    {{"CICIoV2024, decimal, of small bytes",
      CICIOV "291,0,0,0,0,0,0,0,9,ATTACK,DoS,DoS\n291,0,0,0,0,0,0,0,10,ATTACK,DoS,DoS\n", NULL,
      1000, true, "0 0 123 0.0.0.0.0.0.0.9 1\n0 0 123 0.0.0.0.0.0.0.10 1\n", NULL},
     0,
     false},
    {{"CICIoV2024, hexadecimal, of small bytes",
      CICIOV "42C,0,0,0,0,0,0,0,9,ATTACK,DoS,DoS\n123,0,0,0,0,0,0,0,10,ATTACK,DoS,DoS\n", NULL,
      1000, true, "0 0 42C 0.0.0.0.0.0.0.9 1\n0 0 123 0.0.0.0.0.0.0.16 1\n", NULL},
     LEAT_CAN_DOUBT_BYTES,
     false},
};

static void test_doubts(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof doubtful / sizeof *doubtful; i++) {
        const shape *of = &doubtful[i].of;
        check_shape(of, LEAT_CAN_CSV, true);
        if (read_layout.doubts != doubtful[i].doubts ||
            read_layout.id_named_decimal != doubtful[i].decimal_ids)
            fail_msg("%s: doubts %d, decimal %d", of->what, read_layout.doubts,
                     read_layout.id_named_decimal);
    }
}

/* ---- labels at the end of a line ---- */

static const shape crysys[] = {
    {"CrySyS",
     "1606733733.5 0110 000 8 30 42 0b 9f 4a 0b 13 56\n1606733733.75 0x26 000 0\n"
     "1606733734 0110 100 8\n1606733734 0110 000 2 30\n1606733734 0110 000 2 30 42 1\n",
     NULL, 0, false,
     "1606733733.5 0 110 48.66.11.159.74.11.19.86\n1606733733.75 0 026 0.0.0.0.0.0.0.0\n"
     "malformed_line\nmalformed_line\nlabel_unparsable\n",
     NULL},
    {"CrySyS, one word, remote", "1 0110 000 2 3042\n2 0110 100 0\n3 0110 000 2 30G2\n", NULL, 0,
     false, "1 0 110 48.66.0.0.0.0.0.0\nremote_frame\npayload_unparsable\n", NULL},
    {"CrySyS, labelled",
     "1 0110 000 2 30 42 0\n2 0110 000 2 30 42 1\n3 0110 000 2 30 42 ?\n4 0110 000 2 30 42\n", NULL,
     0, true,
     "1 0 110 48.66.0.0.0.0.0.0 0\n2 0 110 48.66.0.0.0.0.0.0 1\nlabel_unparsable\n"
     "label_missing\n",
     NULL},
};

static const shape candump[] = {
    {"one label",
     "(1.5) can0 123#01 0\n(1.6) can1 123#02 1\n(1.7) can1 123#02\n(1.8) can1 123#02 x\n", NULL, 0,
     true,
     "1.5 0 123 1.0.0.0.0.0.0.0 0\n1.6 1 123 2.0.0.0.0.0.0.0 1\nlabel_missing\nlabel_unparsable\n",
     NULL},
    {"two labels",
     "(1.5) can0 123#01 0 Normal\n(1.6) can0 123#02 0 Attack\n(1.7) can0 123#02 1 Normal\n"
     "(1.8) can0 123#02 1\n(1.9) can0 123#02\n(2) can0 123#02 R\n",
     NULL, 0, true,
     "1.5 0 123 1.0.0.0.0.0.0.0 0\n1.6 0 123 2.0.0.0.0.0.0.0 1\n1.7 0 123 2.0.0.0.0.0.0.0 1\n"
     "label_missing\nlabel_missing\nlabel_missing\n",
     NULL},
    {"a direction and a label", "(1.5) can0 123#01 R 0\n(1.6) can0 123#02 T 1\n", NULL, 0, true,
     "1.5 0 123 1.0.0.0.0.0.0.0 0\n1.6 0 123 2.0.0.0.0.0.0.0 1\n", NULL},
    {"labels that most lines lack",
     "(1) can0 123#01\n(2) can0 123#01 R\n(3) can0 123#01 1\n"
     "(4) can0 123#01 R 0\n(5) can0 123#01 00\n(6) can0 123#01 ?\n(7) can0 123#0 1\n",
     NULL, 0, false,
     "1 0 123 1.0.0.0.0.0.0.0\n2 0 123 1.0.0.0.0.0.0.0\nlabel_unparsable\n"
     "label_unparsable\nmalformed_line\nmalformed_line\npayload_unparsable\n",
     NULL},
    {"a direction", "(1.5) can0 123#01 R\n(1.6) can0 123#02 T\n", NULL, 0, false,
     "1.5 0 123 1.0.0.0.0.0.0.0\n1.6 0 123 2.0.0.0.0.0.0.0\n", NULL},
};

static void test_trailing(void **state) {
    (void)state;
    CHECK(crysys, LEAT_CAN_CRYSYS);
    CHECK(candump, LEAT_CAN_CANDUMP);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published),  cmocka_unit_test(test_tables),
        cmocka_unit_test(test_mapped),     cmocka_unit_test(test_mapping_words),
        cmocka_unit_test(test_trailing),   cmocka_unit_test(test_doubts),
        cmocka_unit_test(test_late_buses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
