/* JSON files of one document: arrays, objects under data or results, and what is damaged in them.
 */
/* No TSan: the threads are those of test_text.c. */
#include "source_support.h"

#define T0 "1556136000000000"
#define PING(rtt)                                                                                  \
    "{\"type\":\"ping\",\"timestamp\":1556136000,\"dst_addr\":\"5.6.7.8\",\"from\":\"1.2.3.4\","   \
    "\"avg\":" rtt "}"
#define OWN(rtt)                                                                                   \
    "{\"event_time\":1556136000,\"src_addr\":\"1.2.3.4\",\"dst_addr\":\"5.6.7.8\",\"rtt\":" rtt "}"
#define ROW(number, rtt) "0 " number " " T0 " <1.2.3.4> <5.6.7.8> 0 " rtt
#define BAD(number, text) number ",malformed_line,,,,,," text

static const struct {
    const char *name, *text;
    const char *rows[6], *rejects[6];
    const char *refusal; /* instead of both */
} cases[] = {
    {"an array", "[" PING("1") "," PING("2") "]", {ROW("1", "1"), ROW("2", "2")}, {NULL}, NULL},
    {"over many lines, with a mark and CRLF",
     "\xef\xbb\xbf\r\n[\r\n  " OWN("1") " ,\r\n\t" OWN("2") "\r\n]\r\n",
     {ROW("1", "1"), ROW("2", "2")},
     {NULL},
     NULL},
    {"commas and brackets in texts",
     "[{\"a\":\"],\\\",[{\",\"event_time\":1556136000,\"src_addr\":\"1.2.3.4\",\"dst_addr\":"
     "\"5.6.7.8\",\"rtt\":1}," OWN("2") "]",
     {ROW("1", "1"), ROW("2", "2")},
     {NULL},
     NULL},
    {"under data",
     "{\"count\":2,\"next\":null,\"data\" : [" OWN("1") "," OWN("2") "],\"x\":[1,{}]}",
     {ROW("1", "1"), ROW("2", "2")},
     {NULL},
     NULL},
    {"under results, over many lines",
     "{\n \"meta\": {\"data\": [7]},\n \"results\": [\n" PING("1") ",\n" PING("2") "\n]\n}\n",
     {ROW("1", "1"), ROW("2", "2")},
     {NULL},
     NULL},
    {"both",
     "{\"data\":[" OWN("1") "],\"results\":[" OWN("2") "]}",
     {ROW("1", "1"), ROW("2", "2")},
     {NULL},
     NULL},
    {"several documents",
     "[" OWN("1") "]\n[]\n[" OWN("2") "] {\"data\":[]}{\"data\":[" OWN("3") "]}",
     {ROW("1", "1"), ROW("2", "2"), ROW("3", "3")},
     {NULL},
     NULL},
    {"empty", "[]", {NULL}, {NULL}, NULL},
    {"empty, with blanks", " [ \n ] ", {NULL}, {NULL}, NULL},
    {"no objects",
     "[1,\"x\",null,[" OWN("1") "]," OWN("5") "]",
     {ROW("5", "5")},
     {BAD("1", "1"), BAD("2", "\"\"\"x\"\"\""), BAD("3", "null"),
      BAD("4", "\"[{\"\"event_time\"\":1556136000,\"\"src_addr\"\":\"\"1.2.3.4\"\",\"\"dst_addr\"\""
               ":\"\"5.6.7.8\"\",\"\"rtt\"\":1}]\"")},
     NULL},
    {"a comma too many", "[" OWN("1") ",]", {ROW("1", "1")}, {BAD("2", "")}, NULL},
    {"garbage between elements",
     "[" OWN("1") ", x {\"a\":1}, }, " OWN("4") "]",
     {ROW("1", "1"), ROW("4", "4")},
     {BAD("2", "\"x {\"\"a\"\":1}\""), BAD("3", "}")},
     NULL},
    {"lines whose first member is an array of objects",
     "{\"data\":[" OWN(
         "9") "],\"event_time\":1556136000,\"src_addr\":\"1.2.3.4\",\"dst_addr\":"
              "\"5.6.7.8\",\"rtt\":1}\n{\"data\":[],\"type\":\"ping\",\"timestamp\":1556136000,"
              "\"dst_addr\":\"5.6.7.8\",\"from\":\"1.2.3.4\",\"avg\":2}\n",
     {ROW("1", "1"), ROW("2", "2")},
     {NULL},
     NULL},
    {"results of Atlas with arrays of their own",
     "{\"results\":[{}],\"type\":\"ping\",\"timestamp\":1556136000,\"dst_addr\":\"5.6.7.8\","
     "\"from\":\"1.2.3.4\",\"avg\":1}\n" PING("2"),
     {ROW("1", "1"), ROW("2", "2")},
     {NULL},
     NULL},
    {"an answer with a type of its own",
     "{\"type\":\"success\",\"data\":[" OWN("1") "," OWN("2") "]}",
     {ROW("1", "1"), ROW("2", "2")},
     {NULL},
     NULL},
    {"an average that is missing",
     "{\"type\":\"ping\",\"timestamp\":1556136000,\"dst_addr\":\"5.6.7.8\",\"from\":\"1.2.3.4\","
     "\"avg\":NaN,\"result\":[{\"rtt\":5},{\"rtt\":7}]}",
     {ROW("1", "6")},
     {NULL},
     NULL},
    {"a document of Elasticsearch that is there twice",
     "{\"_source\":{},\"_source\":{}}\n" OWN("2"),
     {ROW("2", "2")},
     {BAD("1", "\"{\"\"_source\"\":{},\"\"_source\"\":{}}\"")},
     NULL},
    {"an array of numbers beside that of the objects",
     "{\"data\":[1,[2],\"]}\"],\"results\":[" OWN("1") "," OWN("2") "]}",
     {ROW("1", "1"), ROW("2", "2")},
     {NULL},
     NULL},
    {"an array of numbers after that of the objects",
     "{\"results\":[" OWN("1") "], \"data\": [ [" OWN("9") "], 7 ] }{\"results\":[],\"data\":[7]}",
     {ROW("1", "1")},
     {NULL},
     NULL},
    {"a document of numbers after another",
     "[" OWN("1") "]{\"data\":[1,2]}",
     {NULL},
     {NULL},
     "there is an object without data or results that are objects"},
    {"cut in an array of numbers",
     "{\"results\":[" OWN("1") "],\"data\":[7,",
     {NULL},
     {NULL},
     "after element 1, it ends"},
    {"no comma",
     "[" OWN("1") " " OWN("2") "]",
     {NULL},
     {NULL},
     "after element 0, a comma is missing"},
    {"no comma, under data",
     "{\"data\":[" OWN("1") "," OWN("2") "\n" OWN("3") "]}",
     {NULL},
     {NULL},
     "after element 1, a comma is missing"},
    {"a measurement among documents",
     "[" OWN("1") "]{\"data\":[{}],\"event_time\":1556136000}",
     {NULL},
     {NULL},
     "an object has \"event_time\", as a measurement has"},
    {"brackets that do not match",
     "[{\"a\":1]," OWN("2") "]",
     {ROW("2", "2")},
     {BAD("1", "\"{\"\"a\"\":1]\"")},
     NULL},
    {"lines of objects with results of their own",
     "{\"event_time\":1556136000,\"results\":[{}],\"src_addr\":\"1.2.3.4\",\"dst_addr\":\"5.6.7.8\""
     ",\"rtt\":1}\n" OWN("2") "\n[" OWN("3") "]\n",
     {ROW("1", "1"), ROW("2", "2")},
     {BAD("3", "\"[{\"\"event_time\"\":1556136000,\"\"src_addr\"\":\"\"1.2.3.4\"\",\"\"dst_addr\"\""
               ":\"\"5.6.7.8\"\",\"\"rtt\"\":3}]\"")},
     NULL},
    {"numbers under data are not elements",
     "{\"data\":[1,2],\"x\":1}\n" OWN("2"),
     {ROW("2", "2")},
     {"1,not_a_ping_result,,,,,,\"{\"\"data\"\":[1,2],\"\"x\"\":1}\""},
     NULL},
    {"documents of Elasticsearch and numbers of MongoDB",
     "{\"_index\":\"x\",\"_type\":\"_doc\",\"_source\":" PING(
         "1") "}\n"
              "{\"event_time\":{\"$date\":{\"$numberLong\":\"1556136000000\"}},\"src_addr\":\"1.2."
              "3.4\","
              "\"dst_addr\":\"5.6.7.8\",\"ip_version\":{\"$numberInt\":\"0\"},\"rtt\":{\"$"
              "numberDouble\":\"2"
              "\"}}\n{\"event_time\":{\"$date\":\"2019-04-24T20:00:00Z\",\"x\":1}}\n",
     {ROW("1", "1"), ROW("2", "2")},
     {BAD("3",
          "\"{\"\"event_time\"\":{\"\"$date\"\":\"\"2019-04-24T20:00:00Z\"\",\"\"x\"\":1}}\"")},
     NULL},
#define CUT(count) "after element " count ", it ends; get the file again"
    {"a bracket", "[", {NULL}, {NULL}, CUT("0")},
    {"cut after a comma", "[" OWN("1") ",", {NULL}, {NULL}, CUT("1")},
    {"cut after an element", "[" OWN("1"), {NULL}, {NULL}, CUT("0")},
    {"cut in an element", "[" OWN("1") ",{\"event_time\":1", {NULL}, {NULL}, CUT("1")},
    {"cut in a text", "[" OWN("1") ",{\"event_time\\\"", {NULL}, {NULL}, CUT("1")},
    {"cut in an escape", "[" OWN("1") ",{\"event_time\\", {NULL}, {NULL}, CUT("1")},
    {"cut after the array", "{\"data\":[" OWN("1") "]", {NULL}, {NULL}, CUT("1")},
    {"cut in a later member", "{\"data\":[" OWN("1") "],\"x\":\"y", {NULL}, {NULL}, CUT("1")},
    {"too deep", "[[[[[" OWN("1") "]]]", {NULL}, {NULL}, CUT("0")},
    {"a bracket too many", "[" OWN("1") "]]", {NULL}, {NULL}, "after element 1, something else"},
    {"something after it", "[" OWN("1") "] x", {NULL}, {NULL}, "after element 1, something else"},
    {"an object after it",
     "[" OWN("1") "]{\"x\":1}",
     {NULL},
     {NULL},
     "after element 1, there is an object without data or results"},
};

static int64_t count_of(const char *const *texts) {
    int64_t count = 0;
    while (count < 6 && texts[count] != NULL) count++;
    return count;
}

static void test_cases(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int threads = 1; threads <= 2; threads++) {
            const char *path = threads == 1 ? source_text("case.json", cases[i].text)
                                            : source_gzip("case.json", cases[i].text,
                                                          (int64_t)strlen(cases[i].text), 3);
            source_run run;
            source_run_init(&run);
            run.options.threads = threads;
            leat_error error = {0};
            leat_code code = source_run_file(&run, path, &error);
            if (cases[i].refusal != NULL) {
                if ((code != LEAT_ERR_CORRUPT && code != LEAT_ERR_INPUT) ||
                    strstr(error.message, cases[i].refusal) == NULL ||
                    strstr(error.message, "case.json\"") == NULL)
                    fail_msg("%s: %s", cases[i].name, error.message);
            } else {
                if (code != LEAT_OK) fail_msg("%s: %s", cases[i].name, error.message);
                int64_t rows = count_of(cases[i].rows), rejects = count_of(cases[i].rejects);
                source_expect(&run, cases[i].rows, rows);
                source_expect_rejects(&run, cases[i].rejects, rejects);
                assert_int_equal(run.rows_read, rows + rejects);
            }
            source_run_free(&run);
        }
    }
}

/* The objects of a document are read as if each were a line. */
static void test_as_lines(void **state) {
    (void)state;
    enum { OBJECTS = 20000, LONG = 777, FILLER = 3 << 20 }; /* more than any buffer */
    leat_buf lines = {0}, array = {0};
    char *filler = malloc(FILLER + 1);
    memset(filler, '\\', FILLER); /* escapes everywhere, at the ends of buffers too */
    filler[FILLER] = 0;
    assert_ok(leat_buf_printf(&array, err, "{\"pages\":[[%d,\"%.*s\"]],\"results\":[", 1,
                              FILLER / 4, filler));
    for (int i = 0; i < OBJECTS; i++) {
        /* a few are longer than a block, and one is too long for a line */
        int more = i == LONG ? FILLER : i % 5000 == 1 ? 300000 : i % 90 * 2;
        for (int k = 0; k < 2; k++)
            assert_ok(leat_buf_printf(k == 0 ? &lines : &array, err,
                                      "%s{\"event_time\":%d,\"x\":\"%.*s\",\"src_addr\":\"s\","
                                      "\"dst_addr\":\"]\",\"rtt\":%d}%s",
                                      k == 1 && i > 0 ? i % 3 == 0 ? "," : "\n, " : "", i, more,
                                      filler, i % 100, k == 0 ? "\n" : ""));
    }
    assert_ok(leat_buf_printf(&array, err, "],\"more\":[\"%s\"]}", filler));
    const char *paths[] = {core_path("lines.ndjson"), core_path("array.json"),
                           core_path("array.json.gz")};
    core_save(paths[0], lines.data, lines.size);
    core_save(paths[1], array.data, array.size);
    source_gzip("array.json.gz", array.data, array.size, 3);
    source_run want;
    source_run_init(&want);
    assert_ok(source_run_file(&want, paths[0], err));
    assert_int_equal(want.count, OBJECTS - 1);
    assert_int_equal(want.rejects[LEAT_REJECT_LINE], 1);
    for (int threads = 1; threads <= 3; threads++) {
        source_run run;
        source_run_init(&run);
        run.options.threads = threads;
        assert_ok(source_run_file(&run, paths[1 + threads % 2], err));
        source_expect(&run, (const char *const *)want.rows, want.count);
        assert_int_equal(run.rejects[LEAT_REJECT_LINE], 1);
        assert_int_equal(run.rows_read, OBJECTS);
        core_image image = core_load(run.rejected);
        char shown[64];
        snprintf(shown, sizeof shown, ",%d,malformed_line,", LONG + 1);
        assert_non_null(memmem(image.data, (size_t)image.size_bytes, shown, strlen(shown)));
        free(image.data);
        source_run_free(&run);
    }
    source_run_free(&want);
    leat_buf_free(&lines);
    leat_buf_free(&array);
    free(filler);
}

/* What a file is is decided by its first MiB, also if a plain file has delivered more by then. */
static void test_late_arrays(void **state) {
    (void)state;
    static const struct {
        int64_t before;
        int64_t rows;
    } cases[] = {{LEAT_LINE_BYTES_MAX - 4096, 2},
                 {LEAT_LINE_BYTES_MAX + 4096, 0},
                 {LEAT_LINE_BYTES_MAX + (200 << 10), 0},
                 {2 * LEAT_LINE_BYTES_MAX, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_buf text = {0};
        assert_ok(leat_buf_printf(&text, err, "{\"token\":\""));
        /* letters that do not become few when they are packed */
        for (int64_t k = 0; k < cases[i].before; k++) {
            const char letter = (char)('A' + leat_random(3, 0, (uint64_t)k) % 26);
            assert_ok(leat_buf_append(&text, &letter, 1, err));
        }
        assert_ok(leat_buf_printf(&text, err, "\",\"results\":[%s,%s]}", OWN("1"), OWN("2")));
        for (int packed = 0; packed < 2; packed++) {
            const char *path = core_path("late.json");
            if (packed) source_gzip("late.json", text.data, text.size, 1);
            else core_save(path, text.data, text.size);
            source_run run;
            source_run_init(&run);
            assert_ok(source_run_file(&run, path, err));
            assert_int_equal(run.count, cases[i].rows);
            assert_int_equal(run.rejects[LEAT_REJECT_LINE], cases[i].rows > 0 ? 0 : 1);
            source_run_free(&run);
        }
        leat_buf_free(&text);
    }
}

/* Messages name the element. */
static void test_messages(void **state) {
    (void)state;
    source_run run;
    source_run_init(&run);
    assert_fails(
        source_run_file(&run, source_text("none.json", "[7,{\"event_time\":1,\"RTT\":2}]"), err),
        LEAT_ERR_INPUT, "element 2 of");
    source_run_free(&run);
    source_run_init(&run);
    run.options.columns.event_time = "timestamp";
    const char *path = source_text("renamed.json", "{\"timestamp\":1,\"src_addr\":\"s\",\"rtt\":2,"
                                                   "\"dst_addr\":\"d\",\"data\":[{}]}\n");
    static const char *const row[] = {"0 1 1000000 <s> <d> 0 2"};
    assert_ok(source_run_file(&run, path, err));
    source_expect(&run, SOURCE_ROWS(row));
    source_run_free(&run);
    /* pings of scamper: alone, and beside others */
    static const char scamper[] =
        "{\"type\":\"ping\",\"version\":\"0.4\",\"src\":\"1.2.3.4\",\"start\":"
        "{\"sec\":1,\"usec\":2},\"responses\":[],\"statistics\":{}}\n";
    char both[1024];
    source_run_init(&run);
    assert_fails(source_run_file(&run, source_text("scamper.json", scamper), err), LEAT_ERR_INPUT,
                 "1 are pings of scamper; convert them with jq -c 'select(");
    source_run_free(&run);
    snprintf(both, sizeof both, "%s" OWN("1"), scamper);
    source_run_init(&run);
    assert_fails(source_run_file(&run, source_text("scamper.json", both), err), LEAT_OK, "");
    assert_int_equal(run.rejects[LEAT_REJECT_NOT_PING], 1);
    source_run_free(&run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases), cmocka_unit_test(test_as_lines),
        cmocka_unit_test(test_late_arrays), cmocka_unit_test(test_messages)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    core_dir_remove();
    return failed;
}
