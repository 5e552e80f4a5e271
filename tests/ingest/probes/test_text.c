/* CSV and NDJSON from end to end: values, lines set aside, threads, what stops a scan. */
/* TSan: text scanned by several threads. */
#include "source_support.h"

#define T0 "1556136000000000"

typedef struct text_case {
    const char *name, *text;
    const char *rows[10];
    const char *rejects[10];
} text_case;

static const text_case csv_cases[] = {
    {"plain",
     "event_time,src_addr,dst_addr,ip_version,rtt\n"
     "2019-04-24 20:00:00,1.2.3.4,5.6.7.8,4,12.5\n"
     "1556136000.000001,::1,::2,6,-1\n"
     "1556136000,,5.6.7.8,,\n"
     ",1.2.3.4,5.6.7.8,4,nan\n",
     {"0 2 " T0 " <1.2.3.4> <5.6.7.8> 4 12.5", "0 3 1556136000000001 <::1> <::2> 6 -1",
      "0 4 " T0 " <> <5.6.7.8> 0 -", "0 5 - <1.2.3.4> <5.6.7.8> 4 -"},
     {NULL}},
    {"order, others, no version, CRLF, no last line end",
     "rtt,x,dst_addr,src_addr,event_time\r\n1,\"a,b\",d,s,1\r\n2,,d,s,2",
     {"0 2 1000000 <s> <d> 0 1", "0 3 2000000 <s> <d> 0 2"},
     {NULL}},
    {"quotes",
     "\"event_time\",\"src_addr\",dst_addr,rtt,note\n"
     "\"1\",\"s\",\"d\",\"1.5\",\"line one\nline two\"\n"
     "2,\"a \"\"b\"\"\",d,1,\"\"\n"
     "3,\"\"\"\",d,1,\"x\"\n",
     {"0 2 1000000 <s> <d> 0 1.5", "0 4 2000000 <a \"b\"> <d> 0 1", "0 5 3000000 <\"> <d> 0 1"},
     {NULL}},
    {"blank lines, mark",
     "\xef\xbb\xbf\n\nevent_time,src_addr,dst_addr,rtt\n\n1,s,d,1\n\r\n\n2,s,d,1\n\n",
     {"0 5 1000000 <s> <d> 0 1", "0 8 2000000 <s> <d> 0 1"},
     {NULL}},
    {"set aside",
     "event_time,src_addr,dst_addr,ip_version,rtt\n"
     "1,s,d,4,1\n"
     "1,s,d,4\n"
     "1,s,d,4,1,5\n"
     "yesterday,s,d,4,1\n"
     "1,s,d,four,1\n"
     "1,s,d,4,fast\n"
     "1,\"s\"x,d,4,1\n"
     "\"1\",\"say \"\"hi\"\"\",d,4\n"
     "2,s,d,4,1\n"
     "1,\"s,d,4,1\n",
     {"0 2 1000000 <s> <d> 4 1", "0 10 2000000 <s> <d> 4 1"},
     {"3,malformed_line,,,,,,\"1,s,d,4\"", "4,malformed_line,,,,,,\"1,s,d,4,1,5\"",
      "5,malformed_line,,,,,,\"yesterday,s,d,4,1\"", "6,malformed_line,,,,,,\"1,s,d,four,1\"",
      "7,rtt_unparsable,,,,,,\"1,s,d,4,fast\"", "8,malformed_line,,,,,,\"1,\"\"s\"\"x,d,4,1\"",
      "9,malformed_line,,,,,,\"\"\"1\"\",\"\"say \"\"\"\"hi\"\"\"\"\"\",d,4\"",
      "11,malformed_line,,,,,,\"1,\"\"s,d,4,1\""}},
    {"one column a line",
     "event_time,src_addr,dst_addr,rtt\nx\n",
     {NULL},
     {"2,malformed_line,,,,,,x"}},
    {"words for a missing rtt",
     "event_time,src_addr,dst_addr,rtt\n1,s,d,NA\n2,s,d,NULL\n3,s,d,None\n4,s,d,\\N\n5,s,d,NaN\n"
     "6,s,d,\"NA\"\n7,s,d,gone\n",
     {"0 2 1000000 <s> <d> 0 -", "0 3 2000000 <s> <d> 0 -", "0 4 3000000 <s> <d> 0 -",
      "0 5 4000000 <s> <d> 0 -", "0 6 5000000 <s> <d> 0 -", "0 7 6000000 <s> <d> 0 -"},
     {"8,rtt_unparsable,,,,,,\"7,s,d,gone\""}},
    {"words for a lost ping",
     "event_time,src_addr,dst_addr,rtt\n1,s,d,-\n2,s,d,*\n3,s,d,Timeout\n4,s,d,FALSE\n5,s,d,U\n"
     "6,s,d,x\n7,s,d,lost\n",
     {"0 2 1000000 <s> <d> 0 -", "0 3 2000000 <s> <d> 0 -", "0 4 3000000 <s> <d> 0 -",
      "0 5 4000000 <s> <d> 0 -", "0 6 5000000 <s> <d> 0 -", "0 7 6000000 <s> <d> 0 -"},
     {"8,rtt_unparsable,,,,,,\"7,s,d,lost\""}},
    {"stacked files",
     "event_time,src_addr,dst_addr,rtt\n1,s,d,1\n\xef\xbb\xbf"
     "event_time,dst_addr,src_addr,rtt\n"
     "2,d,s,2\n\"rtt\",x,\"src_addr\",dst_addr,event_time\n3,\"a,b\",s,d,3\n"
     "event_time,src_addr,dst_addr,ip_version,rtt\n4,s,d,4,4\n",
     {"0 2 1000000 <s> <d> 0 1", "0 4 2000000 <s> <d> 0 2", "0 6 3000000 <s> <d> 0 3",
      "0 8 4000000 <s> <d> 4 4"},
     {NULL}},
    {"names that differ in case only",
     "RTT,event_time,SRC_ADDR,src_addr,dst_addr,rtt\n9,1,x,s,d,1\n",
     {"0 2 1000000 <s> <d> 0 1"},
     {NULL}},
    {"no rows", "event_time,src_addr,dst_addr,rtt\n", {NULL}, {NULL}},
    {"nothing", "\n\n", {NULL}, {NULL}},
};

#define PING "\"type\":\"ping\",\"timestamp\":1556136000,\"af\":4,\"dst_addr\":\"5.6.7.8\""
static const text_case json_cases[] = {
    {"atlas",
     "{" PING ",\"from\":\"1.2.3.4\",\"src_addr\":\"10.0.0.1\",\"avg\":12.25}\n"
     "{" PING ",\"from\":\"\",\"src_addr\":\"10.0.0.1\",\"avg\":3}\n"
     "{" PING ",\"src_addr\":\"10.0.0.1\",\"avg\":-1}\r\n"
     "\n"
     "{" PING ",\"from\":null,\"avg\":1}\n"
     "{" PING ",\"from\":\"1.2.3.4\",\"result\":[]}\n"
     "{" PING ",\"from\":\"1.2.3.4\",\"avg\":7,\"error\":\"no route\"}\n"
     "  {\"type\":\"ping\",\"from\":\"1.2.3.4\",\"avg\":1}",
     {"0 1 " T0 " <1.2.3.4> <5.6.7.8> 4 12.25", "0 2 " T0 " <10.0.0.1> <5.6.7.8> 4 3",
      "0 3 " T0 " <10.0.0.1> <5.6.7.8> 4 -1", "0 5 " T0 " - <5.6.7.8> 4 1",
      "0 6 " T0 " <1.2.3.4> <5.6.7.8> 4 -", "0 7 " T0 " <1.2.3.4> <5.6.7.8> 4 -",
      "0 8 - <1.2.3.4> - 0 1"},
     {NULL}},
    {"atlas, set aside",
     "{\"type\":\"traceroute\",\"from\":\"1.2.3.4\"}\n"
     "{\"from\":\"1.2.3.4\"}\n"
     "{" PING ",\"from\":\"1.2.3.4\",\"avg\":1\n"
     "[1,2]\n"
     "7\n"
     "{} x\n"
     "{\"type\":\"ping\",\"timestamp\":\"soon\"}\n"
     "{" PING ",\"from\":4}\n"
     "{" PING ",\"from\":\"1.2.3.4\",\"avg\":1e999}\n"
     "{" PING ",\"from\":\"1.2.3.4\",\"avg\":1}\n",
     {"0 10 " T0 " <1.2.3.4> <5.6.7.8> 4 1"},
     {"1,not_a_ping_result,,,,,,\"{\"\"type\"\":\"\"traceroute\"\",\"\"from\"\":\"\"1.2.3.4\"\"}\"",
      "2,not_a_ping_result,,,,,,\"{\"\"from\"\":\"\"1.2.3.4\"\"}\"",
      "3,malformed_line,,,,,,\"{\"\"type\"\":\"\"ping\"\",\"\"timestamp\"\":1556136000,\"\"af\"\":"
      "4,"
      "\"\"dst_addr\"\":\"\"5.6.7.8\"\",\"\"from\"\":\"\"1.2.3.4\"\",\"\"avg\"\":1\"",
      "4,malformed_line,,,,,,\"[1,2]\"", "5,malformed_line,,,,,,7", "6,malformed_line,,,,,,{} x",
      "7,malformed_line,,,,,,\"{\"\"type\"\":\"\"ping\"\",\"\"timestamp\"\":\"\"soon\"\"}\"",
      "8,malformed_line,,,,,,\"{\"\"type\"\":\"\"ping\"\",\"\"timestamp\"\":1556136000,\"\"af\"\":"
      "4,"
      "\"\"dst_addr\"\":\"\"5.6.7.8\"\",\"\"from\"\":4}\"",
      "9,malformed_line,,,,,,\"{\"\"type\"\":\"\"ping\"\",\"\"timestamp\"\":1556136000,\"\"af\"\":"
      "4,"
      "\"\"dst_addr\"\":\"\"5.6.7.8\"\",\"\"from\"\":\"\"1.2.3.4\"\",\"\"avg\"\":1e999}\""}},
    {"words for a missing rtt",
     "{" PING ",\"from\":\"1.2.3.4\",\"avg\":NaN}\n"
     "{\"event_time\":1,\"src_addr\":\"NaN\",\"dst_addr\":\"a\\\"NaN\",\"rtt\":NaN}\n"
     "{\"event_time\":2,\"src_addr\":\"s\",\"dst_addr\":\"d\",\"rtt\":\"NA\"}\n"
     "{\"event_time\":3,\"src_addr\":\"s\",\"dst_addr\":\"d\",\"rtt\":\"\\\\N\"}\n"
     "{\"event_time\":NaN,\"src_addr\":\"s\",\"dst_addr\":\"d\",\"rtt\":\"None\"}\n"
     "{\"event_time\":4,\"src_addr\":\"s\",\"dst_addr\":\"d\",\"rtt\":\"null\"}\n"
     "{\"event_time\":5,\"src_addr\":NaN,\"rtt\":NaNs}\n"
     "{\"event_time\":6,\"src_addr\":7,\"rtt\":NaN}\n"
     "{\"event_time\":7,\"rtt\":\"inf\"}\n",
     {"0 1 " T0 " <1.2.3.4> <5.6.7.8> 4 -", "0 2 1000000 <NaN> <a\"NaN> 0 -",
      "0 3 2000000 <s> <d> 0 -", "0 4 3000000 <s> <d> 0 -", "0 5 - <s> <d> 0 -",
      "0 6 4000000 <s> <d> 0 -"},
     {"7,malformed_line,,,,,,\"{\"\"event_time\"\":5,\"\"src_addr\"\":NaN,\"\"rtt\"\":NaNs}\"",
      "8,malformed_line,,,,,,\"{\"\"event_time\"\":6,\"\"src_addr\"\":7,\"\"rtt\"\":NaN}\"",
      "9,rtt_unparsable,,,,,,\"{\"\"event_time\"\":7,\"\"rtt\"\":\"\"inf\"\"}\""}},
    {"measurements of our own",
     "{\"event_time\":\"2019-04-24T20:00:00.000001Z\",\"src_addr\":\"1.2.3.4\",\"dst_addr\":"
     "\"5.6.7.8\",\"ip_version\":4,\"rtt\":0.1}\n"
     "{\"event_time\":1556136000.5,\"src_addr\":null,\"dst_addr\":\"d\",\"rtt\":null}\n"
     "{\"event_time\":null,\"src_addr\":\"s\",\"dst_addr\":\"d\",\"rtt\":-1,\"ip_version\":null}\n"
     "{\"event_time\":[],\"src_addr\":\"s\"}\n"
     "{\"event_time\":1,\"src_addr\":\"s\",\"rtt\":\"1\"}\n"
     "{\"event_time\":1,\"src_addr\":\"\\u0041\\n\",\"ip_version\":99999999999}\n",
     {"0 1 1556136000000001 <1.2.3.4> <5.6.7.8> 4 0.1", "0 2 1556136000500000 - <d> 0 -",
      "0 3 - <s> <d> 0 -1", "0 5 1000000 <s> - 0 1", "0 6 1000000 <A\n> - 2147483647 -"},
     {"4,malformed_line,,,,,,\"{\"\"event_time\"\":[],\"\"src_addr\"\":\"\"s\"\"}\""}},
    {"old firmware of RIPE Atlas: other names, numbers as texts",
     "{\"type\":\"ping\",\"fw\":0,\"avg\":\"58.25\",\"dup\":\"0\",\"dst_addr\":\"5.6.7.8\","
     "\"src_addr\":\"1.2.3.4\",\"timestamp\":1556136000}\n"
     "{\"type\":\"ping\",\"fw\":1,\"avg\":20.125,\"addr\":\"5.6.7.8\",\"from\":\"1.2.3.4\","
     "\"timestamp\":\"1556136000\",\"af\":\"4\"}\n"
     "{\"type\":\"ping\",\"fw\":4430,\"avg\":2,\"addr\":\"::5\",\"srcaddr\":\"::1\","
     "\"timestamp\":1556136000}\n"
     "{" PING ",\"addr\":\"9.9.9.9\",\"srcaddr\":\"8.8.8.8\",\"src_addr\":\"1.2.3.4\",\"avg\":"
     "\"-1\"}\n"
     "{\"type\":\"ping\",\"dst_addr\":\"\",\"addr\":\"5.6.7.8\",\"from\":\"1.2.3.4\",\"avg\":1,"
     "\"timestamp\":1556136000}\n"
     "{\"type\":\"ping\",\"from\":\"1.2.3.4\",\"result\":[{\"rtt\":\"1\"},{\"rtt\":2},{\"rtt\":\"*"
     "\"}]}\n"
     "{\"type\":\"ping\",\"avg\":\"1e999\"}\n"
     "{\"type\":\"ping\",\"avg\":1,\"af\":\"four\"}\n"
     "{\"type\":\"ping\",\"avg\":1,\"timestamp\":\"\"}\n",
     {"0 1 " T0 " <1.2.3.4> <5.6.7.8> 0 58.25", "0 2 " T0 " <1.2.3.4> <5.6.7.8> 4 20.125",
      "0 3 " T0 " <::1> <::5> 0 2", "0 4 " T0 " <1.2.3.4> <5.6.7.8> 4 -1",
      "0 5 " T0 " <1.2.3.4> <5.6.7.8> 0 1", "0 6 - <1.2.3.4> - 0 1.5"},
     {"7,rtt_unparsable,,,,,,\"{\"\"type\"\":\"\"ping\"\",\"\"avg\"\":\"\"1e999\"\"}\"",
      "8,malformed_line,,,,,,\"{\"\"type\"\":\"\"ping\"\",\"\"avg\"\":1,\"\"af\"\":\"\"four\"\"}\"",
      "9,malformed_line,,,,,,\"{\"\"type\"\":\"\"ping\"\",\"\"avg\"\":1,\"\"timestamp\"\":\"\"\"\"}"
      "\""}},
#define ODD "\"event_time\":1,\"src_addr\":\"s\",\"dst_addr\":\"d\",\"rtt\":"
    {"odd values of members that are not read",
     "{" ODD "1,\"hash\":111222333444555666777,\"jitter\":1e400}\n"
     "{" ODD "2,\"jitter\":-Infinity,\"note\":\"cut \\ud83d\"}\n"
     "{" ODD "3,\"note\":\"a\\u0000b\",\"tag\":1,\"tag\":2,\"type\":1,\"type\":2}\n"
     "{" PING ",\"from\":\"s\",\"avg\":4,\"size\":1e999,\"prb_id\":99999999999999999999}\n"
     "{" ODD "5,\"rtt\":5}\n"
     "{" ODD "111222333444555666777e999}\n"
     "{" ODD "Infinity}\n"
     "{" PING ",\"from\":\"s\",\"avg\":8,\"avg\":9}\n",
     {"0 1 1000000 <s> <d> 0 1", "0 2 1000000 <s> <d> 0 2", "0 3 1000000 <s> <d> 0 3",
      "0 4 " T0 " <s> <5.6.7.8> 4 4"},
#define SET_BY                                                                                     \
    "malformed_line,,,,,,\"{\"\"event_time\"\":1,\"\"src_addr\"\":\"\"s\"\",\"\"dst_addr\"\":"     \
    "\"\"d\"\",\"\"rtt\"\":"
     {"5," SET_BY "5,\"\"rtt\"\":5}\"", "6," SET_BY "111222333444555666777e999}\"",
      "7," SET_BY "Infinity}\"",
      "8,malformed_line,,,,,,\"{\"\"type\"\":\"\"ping\"\",\"\"timestamp\"\":1556136000,\"\"af\"\":"
      "4,\"\"dst_addr\"\":\"\"5.6.7.8\"\",\"\"from\"\":\"\"s\"\",\"\"avg\"\":8,\"\"avg\"\":9}\""}},
    {"nothing", "\n\n", {NULL}, {NULL}},
};

static int64_t count_texts(const char *const *texts, int64_t max) {
    int64_t count = 0;
    while (count < max && texts[count] != NULL) count++;
    return count;
}

static void run_cases(const text_case *cases, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++) {
        for (int threads = 1; threads <= 3; threads++) {
            for (int gzip = 0; gzip < 2; gzip++) {
                const text_case *one = &cases[i];
                const char *path =
                    gzip ? source_gzip(name, one->text, (int64_t)strlen(one->text), 1 + threads)
                         : source_text(name, one->text);
                source_run run;
                source_run_init(&run);
                run.options.threads = threads;
                leat_error error = {0};
                if (source_run_file(&run, path, &error) != LEAT_OK) {
                    fail_msg("%s: %s", one->name, error.message);
                }
                int64_t rows = count_texts(one->rows, 10), rejects = count_texts(one->rejects, 10);
                source_expect(&run, one->rows, rows);
                source_expect_rejects(&run, one->rejects, rejects);
                assert_int_equal(run.rows_read, rows + rejects);
                source_run_free(&run);
            }
        }
    }
}

static void test_csv(void **state) {
    (void)state;
    run_cases(csv_cases, sizeof csv_cases / sizeof *csv_cases, "case.csv");
}

static void test_ndjson(void **state) {
    (void)state;
    run_cases(json_cases, sizeof json_cases / sizeof *json_cases, "case.ndjson");
}

static void test_packets(void **state) {
    (void)state;
    const char *path = source_text(
        "packets.ndjson",
        "{" PING ",\"from\":\"s\",\"avg\":2,\"result\":[{\"rtt\":1.5},{\"x\":\"*\"},{\"rtt\":2.5,"
        "\"dup\":1},{\"error\":\"no\"},{\"rtt\":3,\"ttl\":9}]}\n"
        "{" PING ",\"from\":\"s\",\"avg\":-1,\"result\":[]}\n"
        "{" PING ",\"from\":\"s\",\"error\":\"dns\"}\n"
        "{" PING ",\"from\":\"s\",\"avg\":-1,\"result\":[{\"rtt\":null}]}\n"
        "{\"type\":\"ping\",\"result\":[{\"rtt\":1,\"dup\":1},{\"rtt\":2,\"dup\":1}]}\n"
        "{\"type\":\"ping\",\"result\":[{\"rtt\":1},7]}\n"
        "{\"type\":\"ping\",\"result\":[{\"rtt\":\"1\"}]}\n"
        "{\"type\":\"ping\",\"result\":{\"rtt\":1}}\n"
        "{\"type\":\"ping\",\"avg\":\"1\",\"result\":null}\n");
    source_run run;
    source_run_init(&run);
    run.options.per_packet = true;
    assert_ok(source_run_file(&run, path, err));
    static const char *const rows[] = {"0 1 " T0 " <s> <5.6.7.8> 4 1.5",
                                       "0 1 " T0 " <s> <5.6.7.8> 4 -",
                                       "0 1 " T0 " <s> <5.6.7.8> 4 -",
                                       "0 1 " T0 " <s> <5.6.7.8> 4 3",
                                       "0 2 " T0 " <s> <5.6.7.8> 4 -1",
                                       "0 3 " T0 " <s> <5.6.7.8> 4 -",
                                       "0 4 " T0 " <s> <5.6.7.8> 4 -",
                                       "0 7 - - - 0 1",
                                       "0 9 - - - 0 1"};
    source_expect(&run, SOURCE_ROWS(rows));
#define SET_ASIDE(row, reason, text) row "," reason ",,,,,,\"{\"\"type\"\":\"\"ping\"\"," text "}\""
    static const char *const set_aside[] = {
        SET_ASIDE("5", "only_duplicate_packets",
                  "\"\"result\"\":[{\"\"rtt\"\":1,\"\"dup\"\":1},{\"\"rtt\"\":2,\"\"dup\"\":1}]"),
        SET_ASIDE("6", "malformed_line", "\"\"result\"\":[{\"\"rtt\"\":1},7]"),
        SET_ASIDE("8", "malformed_line", "\"\"result\"\":{\"\"rtt\"\":1}"),
    };
    source_expect_rejects(&run, SOURCE_ROWS(set_aside));
    assert_int_equal(run.rows_read, 9);
    source_run_free(&run);
}

static void test_renamed(void **state) {
    (void)state;
    const char *paths[] = {
        source_text("a.csv", "ts,from,to,ms\n1,s,d,2\n"),
        source_text("b.ndjson", "{\"ts\":3,\"from\":\"s\",\"to\":\"d\",\"ms\":4}\n")};
    source_run run;
    source_run_init(&run);
    run.options.columns = (leat_source_columns){"ts", "from", "to", "version", "ms", NULL};
    assert_ok(source_run_paths(&run, paths, 2, err));
    static const char *const rows[] = {"0 2 1000000 <s> <d> 0 2", "1 1 3000000 <s> <d> 0 4"};
    source_expect(&run, SOURCE_ROWS(rows));
    source_run_free(&run);
}

static const struct {
    leat_source_columns columns;
    int mapped; /* given by its usual name */
    bool per_packet;
    const char *row, *refusal;
} atlas_cases[] = {
    {{"timestamp", "src_addr", "dst_addr", "ip_version", "rtt", NULL},
     -1,
     false,
     "0 1 " T0 " <f> <d> 4 3",
     NULL},
    {{"timestamp", "src_addr", "dst_addr", "ip_version", "min", NULL},
     -1,
     false,
     "0 1 " T0 " <f> <d> 4 2",
     NULL},
    {{"event_time", "src_addr", "dst_addr", "ip_version", "min", NULL},
     -1,
     false,
     "0 1 " T0 " <f> <d> 4 2",
     NULL},
    {{"stored_timestamp", "src_addr", "dst_addr", "msm_id", "min", NULL},
     -1,
     false,
     "0 1 9000000 <f> <d> 1 2",
     NULL},
    {{"event_time", "src_addr", "dst_addr", "ip_version", "rtt", NULL},
     1,
     false,
     "0 1 " T0 " <t> <d> 4 3",
     NULL},
    {{"event_time", "src_addr", "from", "ip_version", "rtt", NULL},
     -1,
     false,
     "0 1 " T0 " <f> <f> 4 3",
     NULL},
    {{"event_time", "src_addr", "dst_addr", "ip_version", "nonsense", NULL},
     -1,
     false,
     NULL,
     "--column rtt=nonsense: none of 1 RIPE Atlas results has the member \"nonsense\"; the "
     "first has: type, timestamp, src_addr, from"},
    {{"event_time", "src_addr", "dst_addr", "ip_version", "rtt", NULL},
     4,
     false,
     NULL,
     "--column rtt=rtt: none"},
    {{"ts", "src_addr", "dst_addr", "ip_version", "rtt", NULL},
     -1,
     false,
     NULL,
     "--column event_time=ts: none"},
    {{"event_time", "src_addr", "dst_addr", "ip_version", "avg", NULL},
     -1,
     true,
     NULL,
     "--per-packet --column rtt=avg: no packet"},
};

/* Other names take effect on results of RIPE Atlas too, or are refused. */
static void test_renamed_atlas(void **state) {
    (void)state;
#define RESULT                                                                                     \
    "\"timestamp\":1556136000,\"src_addr\":\"t\",\"from\":\"f\",\"dst_addr\":\"d\",\"af\":4"
    const char *path = source_text(
        "atlas.ndjson",
        "{\"type\":\"ping\"," RESULT ",\"msm_id\":1,\"avg\":3,\"min\":2,\"stored_timestamp\":9,"
        "\"result\":[{\"rtt\":2,\"srcaddr\":\"q\"},{\"x\":\"*\"},{\"rtt\":4}]}\n"
        "{\"type\":\"traceroute\"," RESULT ",\"prb_id\":7,\"stored_timestamp\":9,\"rtt\":1}\n"
        "{\"type\":\"sslcert\"," RESULT ",\"msm_id\":1,\"stored_timestamp\":9,\"rtt\":1}\n");
    for (size_t i = 0; i < sizeof atlas_cases / sizeof *atlas_cases; i++) {
        source_run run;
        source_run_init(&run);
        run.options.columns = atlas_cases[i].columns;
        run.options.per_packet = atlas_cases[i].per_packet;
        if (atlas_cases[i].mapped >= 0) run.options.mapped[atlas_cases[i].mapped] = true;
        if (atlas_cases[i].refusal != NULL) {
            assert_fails(source_run_file(&run, path, err), LEAT_ERR_INPUT, atlas_cases[i].refusal);
        } else {
            assert_ok(source_run_file(&run, path, err));
            source_expect(&run, &atlas_cases[i].row, 1);
            assert_int_equal(run.rejects[LEAT_REJECT_NOT_PING], 2);
        }
        source_run_free(&run);
    }
}

/* Measurements of other tools that share names with RIPE Atlas; and results that say nothing. */
static void test_not_atlas(void **state) {
    (void)state;
#define OTHER                                                                                      \
    "{\"type\":\"ping\",\"timestamp\":1556136000,\"src_addr\":\"s\",\"dst_addr\":\"d\",\"rtt\":"   \
    "12.5,"
    const char *path = source_text("other.ndjson", OTHER
                                   "\"result\":\"ok\"}\n" OTHER "\"result\":{\"ok\":1}}\n" OTHER
                                   "\"prb_id\":\"p1\",\"avg\":3}\n" OTHER
                                   "\"msm_id\":7,\"af\":4}\n" OTHER "\"result\":[\"ok\"]}\n");
    static const char *const rows[] = {"0 1 " T0 " <s> <d> 0 12.5", "0 2 " T0 " <s> <d> 0 12.5",
                                       "0 3 " T0 " <s> <d> 0 12.5", "0 4 " T0 " <s> <d> 0 12.5",
                                       "0 5 " T0 " <s> <d> 0 12.5"};
    source_run run;
    source_run_init(&run);
    run.options.columns.event_time = "timestamp";
    assert_ok(source_run_file(&run, path, err));
    source_expect(&run, SOURCE_ROWS(rows));
    source_run_free(&run);
    path = source_text("silent.ndjson", "{" PING ",\"from\":\"s\"}\n"
                                        "{" PING ",\"from\":\"s\",\"result\":\"ok\"}\n"
                                        "{" PING ",\"from\":\"s\",\"avg\":null}\n"
                                        "{" PING ",\"from\":\"s\",\"error\":\"no\"}\n");
    static const char *const failed[] = {"0 3 " T0 " <s> <5.6.7.8> 4 -",
                                         "0 4 " T0 " <s> <5.6.7.8> 4 -"};
    for (int per_packet = 0; per_packet < 2; per_packet++) {
        source_run_init(&run);
        run.options.per_packet = per_packet != 0;
        assert_ok(source_run_file(&run, path, err));
        source_expect(&run, SOURCE_ROWS(failed));
        assert_int_equal(run.rejects[LEAT_REJECT_LINE], 2);
        source_run_free(&run);
    }
}

/* A result without its average: that of its packets, without second answers to one. */
static void test_average(void **state) {
    (void)state;
    const char *path =
        source_text("average.ndjson",
                    "{" PING ",\"from\":\"s\",\"result\":[{\"rtt\":1},{\"x\":\"*\"},{\"rtt\":9,"
                    "\"dup\":1},{\"error\":\"no\"},{\"rtt\":2.5}]}\n"
                    "{" PING ",\"from\":\"s\",\"avg\":null,\"result\":[{\"rtt\":4}]}\n"
                    "{" PING ",\"from\":\"s\",\"result\":[{\"x\":\"*\"}]}\n"
                    "{" PING ",\"from\":\"s\",\"avg\":7,\"result\":[{\"rtt\":4}]}\n"
                    "{" PING ",\"from\":\"s\",\"result\":[7]}\n");
    source_run run;
    source_run_init(&run);
    assert_ok(source_run_file(&run, path, err));
    static const char *const rows[] = {
        "0 1 " T0 " <s> <5.6.7.8> 4 1.75", "0 2 " T0 " <s> <5.6.7.8> 4 4",
        "0 3 " T0 " <s> <5.6.7.8> 4 -", "0 4 " T0 " <s> <5.6.7.8> 4 7"};
    source_expect(&run, SOURCE_ROWS(rows));
    assert_int_equal(run.rejects[LEAT_REJECT_LINE], 1);
    source_run_free(&run);
}

/* The member of rtt: missing from all objects of all files it is an error, null it is there. */
static void test_member(void **state) {
    (void)state;
#define OBJECT "{\"event_time\":1,\"src_addr\":\"s\",\"dst_addr\":\"d\""
    const char *none = source_text("none.ndjson", OBJECT ",\"RTT\":1}\n" OBJECT ",\"time\":2}\n");
    const char *null = source_text("null.ndjson", OBJECT ",\"rtt\":null}\n");
    const char *atlas = source_text("atlas.ndjson", "{" PING ",\"from\":\"s\",\"avg\":1}\n");
    const char *const both[] = {none, null};
    const char *const beside[] = {none, atlas};
    source_run run;
    for (int threads = 1; threads <= 2; threads++) {
        source_run_init(&run);
        run.options.threads = threads;
        assert_fails(source_run_paths(&run, beside, 2, err), LEAT_ERR_INPUT,
                     "none of 2 JSON objects has the member \"rtt\"; line 1 of");
        source_run_free(&run);
    }
    source_run_init(&run);
    assert_fails(source_run_file(&run, none, err), LEAT_ERR_INPUT,
                 "none.ndjson\" has: event_time, src_addr, dst_addr, RTT (use --column rtt=NAME");
    source_run_free(&run);
    source_run_init(&run);
    assert_ok(source_run_paths(&run, both, 2, err));
    assert_int_equal(run.count, 3);
    source_run_free(&run);
    source_run_init(&run);
    assert_ok(source_run_file(&run, null, err));
    source_run_free(&run);
    source_run_init(&run);
    assert_ok(source_run_file(&run, atlas, err));
    source_run_free(&run);
}

/* Headers after the first: in any block of a large file; and those that cannot be used. */
static void test_stacked(void **state) {
    (void)state;
    enum { PARTS = 7, ROWS = 9000 };
    leat_buf text = {0};
    for (int k = 0; k < PARTS; k++) {
        assert_ok(leat_buf_printf(&text, err, "event_time,%s,rtt\n",
                                  k % 2 == 0 ? "src_addr,dst_addr" : "dst_addr,src_addr"));
        for (int i = 0; i < ROWS; i++)
            assert_ok(leat_buf_printf(&text, err, "%d,%s,1\n", i,
                                      k % 2 == 0 ? "source,target" : "target,source"));
    }
    core_save(core_path("stacked.csv"), text.data, text.size);
    source_gzip("stacked.csv.gz", text.data, text.size, PARTS);
    leat_buf_free(&text);
    for (int threads = 1; threads <= 3; threads++) {
        source_run run;
        source_run_init(&run);
        run.options.threads = threads;
        assert_ok(
            source_run_file(&run, core_path(threads == 2 ? "stacked.csv.gz" : "stacked.csv"), err));
        assert_int_equal(run.count, PARTS * ROWS);
        assert_int_equal(run.rows_read, PARTS * ROWS);
        for (int64_t i = 0; i < run.count; i++)
            assert_non_null(strstr(run.rows[i], "<source> <target>"));
        source_run_free(&run);
    }
    static const char *const others[] = {
        "ts,src_addr,dst_addr,rtt\n", "event_time,dst_addr,src_addr,RTT\n",
        "event_time,dst_addr,src_addr\n", "1event_time,src_addr,dst_addr,rtt\n",
        "\"event_time\";\"src_addr\",\"dst_addr\",\"RTT\",\"x\"\n"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char all[512];
        snprintf(all, sizeof all, "event_time,src_addr,dst_addr,rtt\n1,s,d,1\n%s2,d,s,1\n",
                 others[i]);
        source_run run;
        source_run_init(&run);
        assert_fails(source_run_file(&run, source_text("other.csv", all), err), LEAT_ERR_INPUT,
                     "other.csv\": line 3 is another header");
        source_run_free(&run);
    }
}

/* Long and deep lines, and long values. */
static void test_long_lines(void **state) {
    (void)state;
    leat_buf text = {0};
    char *filler = malloc(1200001);
    memset(filler, 'x', 1200000);
    filler[1200000] = 0;
    assert_ok(leat_buf_printf(&text, err,
                              "event_time,src_addr,dst_addr,rtt\n1,s,d,1\n2,%s,d,1\n"
                              "3,%.5000s,d,1\n4,s,d,1\n",
                              filler, filler));
    assert_ok(leat_buf_append(&text, "", 1, err));
    source_run run;
    source_run_init(&run);
    assert_ok(source_run_file(&run, source_text("long.csv", (char *)text.data), err));
    assert_int_equal(run.count, 3);
    assert_int_equal(run.rejects[LEAT_REJECT_LINE], 1);
    core_image image = core_load(run.rejected);
    assert_in_range(image.size_bytes, 1024, 1300); /* its beginning alone */
    free(image.data);
    source_run_free(&run);
    text.size = 0;
    memset(filler, '[', 500000);
    assert_ok(leat_buf_printf(&text, err,
                              "{\"a\":%.3000s}\n{\"a\":%.400000s}\n"
                              "{" PING ",\"from\":\"%.*s\",\"avg\":1}\n"
                              "{" PING ",\"from\":\"s\",\"avg\":1}\n",
                              filler, filler, 3000, filler + 600000));
    assert_ok(leat_buf_append(&text, "", 1, err));
    source_run_init(&run);
    assert_ok(source_run_file(&run, source_text("long.ndjson", (char *)text.data), err));
    assert_int_equal(run.count, 2);
    assert_int_equal(run.rejects[LEAT_REJECT_LINE], 2);
    source_run_free(&run);
    /* a flat line of many values would make a large tree */
    text.size = 0;
    for (int many = 0; many < 2; many++) {
        assert_ok(leat_buf_printf(&text, err, "{\"event_time\":1,\"rtt\":1,\"x\":[0"));
        for (int i = 0; i < (many ? 33000 : 32000); i++) {
            assert_ok(leat_buf_printf(&text, err, ",0"));
        }
        assert_ok(leat_buf_printf(&text, err, "]}\n"));
    }
    assert_ok(leat_buf_append(&text, "", 1, err));
    source_run_init(&run);
    assert_ok(source_run_file(&run, source_text("wide.ndjson", (char *)text.data), err));
    assert_int_equal(run.count, 1);
    assert_int_equal(run.rejects[LEAT_REJECT_LINE], 1);
    source_run_free(&run);
    free(filler);
    leat_buf_free(&text);
}

/* Many rows in many files: each once, with its line, whatever the threads; progress to the end. */
typedef struct told {
    int64_t bytes, calls, stop_at;
    bool backwards;
} told;
static bool tell(void *context, const leat_progress *progress) {
    told *self = context;
    self->backwards = self->backwards || progress->done < self->bytes;
    self->bytes = progress->done;
    return ++self->calls != self->stop_at;
}

static void test_many(void **state) {
    (void)state;
    enum { FILES = 5, ROWS = 30000 };
    const char *paths[FILES];
    char **want = malloc(FILES * ROWS * sizeof *want);
    int64_t total = 0;
    for (int f = 0; f < FILES; f++) {
        char name[32];
        leat_buf text = {0};
        bool json = f % 2 == 1;
        snprintf(name, sizeof name, "many%d.%s", f, json ? "ndjson" : "csv");
        if (!json) assert_ok(leat_buf_printf(&text, err, "event_time,src_addr,dst_addr,rtt\n"));
        for (int i = 0; i < ROWS; i++) {
            char row[128];
            snprintf(row, sizeof row, "%d %d %d000000 <10.%d.%d.1> <d> 0 %d", f, i + 2 - json,
                     i + 1, f, i % 256, i);
            want[f * ROWS + i] = strdup(row);
            assert_ok(leat_buf_printf(&text, err,
                                      json ? "{\"event_time\":%d,\"src_addr\":\"10.%d.%d.1\","
                                             "\"dst_addr\":\"d\",\"rtt\":%d}\n"
                                           : "%d,10.%d.%d.1,d,%d\n",
                                      i + 1, f, i % 256, i));
        }
        paths[f] = core_path(name);
        if (f < 2) source_gzip(name, text.data, text.size, 2);
        else core_save(paths[f], text.data, text.size);
        leat_buf_free(&text);
        leat_path_facts facts;
        assert_ok(leat_path_stat(paths[f], &facts, err));
        total += facts.size_bytes;
    }
    for (int threads = 1; threads <= 8; threads += threads < 3 ? 1 : 5) {
        source_run run;
        told told = {0};
        leat_ticker ticker;
        source_run_init(&run);
        run.options.threads = threads;
        leat_ticker_create(&ticker, tell, &told);
        run.options.ticker = &ticker;
        assert_ok(source_run_paths(&run, paths, FILES, err));
        assert_int_equal(run.rows_read, FILES * ROWS);
        source_expect(&run, (const char *const *)want, FILES * ROWS);
        assert_true(told.calls > 0 && told.bytes > 0 && told.bytes <= total && !told.backwards);
        assert_int_equal(atomic_load(&ticker.done), total);
        leat_ticker_destroy(&ticker);
        source_run_free(&run);
        told.bytes = 0;
        source_run_init(&run);
        told.calls = 0;
        told.stop_at = 1;
        run.options.threads = threads;
        leat_ticker_create(&ticker, tell, &told);
        run.options.ticker = &ticker;
        assert_fails(source_run_paths(&run, paths, FILES, err), LEAT_ERR_CANCELLED, "stopped");
        leat_ticker_destroy(&ticker);
        assert_int_equal(run.rows_read, 0);
        source_run_free(&run);
        source_run_init(&run);
        run.options.threads = threads;
        run.fail_at = 77777;
        assert_fails(source_run_paths(&run, paths, FILES, err), LEAT_ERR_NO_SPACE, "no more room");
        source_run_free(&run);
    }
    for (int i = 0; i < FILES * ROWS; i++) free(want[i]);
    free(want);
}

static void test_failures(void **state) {
    (void)state;
    static char many[8192];
    memset(many, ',', 2000);
    static const struct {
        const char *name, *text, *words;
        leat_code code;
    } cases[] = {
        {"x.csv", "a,b,c\n", "no column \"event_time\"; its columns are: a, b, c", LEAT_ERR_INPUT},
        {"x.csv", "event_time,src_addr,dst_addr\n1,2,3\n", "no column \"rtt\"", LEAT_ERR_INPUT},
        {"x.csv", "event_time,src_addr,dst_addr,RTT\n", "no column \"rtt\"", LEAT_ERR_INPUT},
        {"x.csv", "event_time,src_addr,dst_addr,rtt,rtt\n", "\"rtt\" appears twice",
         LEAT_ERR_INPUT},
        {"x.csv", "event_time,\"src\"x,rtt\n", "invalid quoting", LEAT_ERR_INPUT},
        {"x.csv", "event_time,\"src,rtt\n", "not a CSV header", LEAT_ERR_INPUT},
        {"x.csv", many, "more than 1024 columns", LEAT_ERR_LIMIT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        source_run run;
        source_run_init(&run);
        assert_fails(source_run_file(&run, source_text(cases[i].name, cases[i].text), err),
                     cases[i].code, cases[i].words);
        source_run_free(&run);
    }
    /* a gzip file that is cut: the message names it */
    char *text = malloc(900000), *at = text;
    at += sprintf(at, "event_time,src_addr,dst_addr,rtt\n");
    for (int i = 0; at - text < 890000; i++) at += sprintf(at, "%d,1.2.3.4,5.6.7.8,%d\n", i, i * i);
    core_image image = core_load(source_gzip("whole.csv.gz", text, at - text, 1));
    core_save(core_path("cut.csv.gz"), image.data, image.size_bytes / 2);
    for (int threads = 1; threads <= 2; threads++) {
        source_run run;
        source_run_init(&run);
        run.options.threads = threads;
        assert_fails(source_run_file(&run, core_path("cut.csv.gz"), err), LEAT_ERR_CORRUPT,
                     "cut.csv.gz\": damaged gzip data at byte");
        source_run_free(&run);
    }
    free(image.data);
    free(text);
    source_run run;
    source_run_init(&run);
    run.strict = true;
    assert_fails(
        source_run_file(&run, source_text("bad.csv", "event_time,src_addr,dst_addr,rtt\nx\n"), err),
        LEAT_ERR_INPUT, "bad.csv\" row 2: malformed_line: ,,,,,x");
    source_run_free(&run);
    source_run_init(&run);
    run.options.memory_bytes = 1 << 20;
    assert_fails(
        source_run_file(&run, source_text("a.csv", "event_time,src_addr,dst_addr,rtt\n"), err),
        LEAT_ERR_LIMIT, "reading text takes");
    source_run_free(&run);
}

/* Memory decides how many threads read, and the rows stay the same. */
static void test_memory(void **state) {
    (void)state;
    const char *path = source_text("m.csv", csv_cases[0].text);
    leat_input_list inputs;
    assert_ok(leat_inputs_find(&path, 1, &leat_probe_inputs, &inputs, err));
    int64_t least = leat_sources_memory_min(&inputs, 8),
            full = leat_sources_memory_full(&inputs, 8);
    assert_true(least > 0 && full > least);
    leat_input_list_free(&inputs);
    source_run run;
    source_run_init(&run);
    run.options.threads = 8;
    run.options.memory_bytes = least;
    assert_ok(source_run_file(&run, path, err));
    source_expect(&run, csv_cases[0].rows, 4);
    source_run_free(&run);
}

static void test_atlas_sample(void **state) {
    (void)state;
    const char *path = golden_left_out("data/latency/atlas_anchors.ndjson.gz");
    source_run run;
    source_run_init(&run);
    run.options.threads = 2;
    assert_ok(source_run_file(&run, path, err));
    assert_int_equal(run.rows_read, 960);
    assert_int_equal(run.count, 960);
    source_expect_rejects(&run, NULL, 0);
    int failed = 0, v4 = 0, v6 = 0;
    for (int64_t i = 0; i < run.count; i++) {
        char rtt[32];
        int version = 0;
        assert_int_equal(sscanf(run.rows[i], "%*s %*s %*s %*s %*s %d %31s", &version, rtt), 2);
        failed += rtt[0] == '-';
        v4 += version == 4;
        v6 += version == 6;
    }
    assert_int_equal(v4, 480);
    assert_int_equal(v6, 480);
    assert_int_equal(failed, 30);
    source_run_free(&run);
    source_run_init(&run);
    run.options.per_packet = true;
    assert_ok(source_run_file(&run, path, err));
    assert_int_equal(run.rows_read, 960);
    assert_int_equal(run.count, 2880);
    failed = 0;
    for (int64_t i = 0; i < run.count; i++) failed += strrchr(run.rows[i], ' ')[1] == '-';
    assert_int_equal(failed, 95);
    source_run_free(&run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_csv),           cmocka_unit_test(test_ndjson),
        cmocka_unit_test(test_packets),       cmocka_unit_test(test_renamed),
        cmocka_unit_test(test_renamed_atlas), cmocka_unit_test(test_not_atlas),
        cmocka_unit_test(test_average),       cmocka_unit_test(test_member),
        cmocka_unit_test(test_stacked),       cmocka_unit_test(test_long_lines),
        cmocka_unit_test(test_many),          cmocka_unit_test(test_failures),
        cmocka_unit_test(test_memory),        cmocka_unit_test(test_atlas_sample),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    core_dir_remove();
    return failed;
}
