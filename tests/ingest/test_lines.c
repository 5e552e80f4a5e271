/* Lines and records: where they end, which number they have, plain and gzip, whatever their size.
 */
#include "source_support.h"

#include "base/lines.h"

#define MAX LEAT_LINE_BYTES_MAX

/* Reads all of a reader as "number:text|", a fault marked with ! (too long) or ? (unclosed). */
static leat_code read_all(leat_lines *lines, char **out, leat_error *err) {
    leat_buf buf = {0};
    leat_code code = LEAT_OK;
    for (;;) {
        leat_line line;
        bool found = false;
        code = leat_lines_next(lines, &line, &found, err);
        if (code != LEAT_OK || !found) break;
        static const char *const marks[] = {"", "!", "?"};
        /* a long line is told by its size */
        bool is_long = line.size_bytes > 100;
        code = leat_buf_printf(&buf, err, "%lld:%s", (long long)line.number, marks[line.fault]);
        if (code == LEAT_OK && is_long) {
            code = leat_buf_printf(&buf, err, "[%lld]|", (long long)line.size_bytes);
        } else if (code == LEAT_OK) {
            code = leat_buf_printf(&buf, err, "%.*s|", (int)line.size_bytes, line.data);
        }
        if (code != LEAT_OK) break;
    }
    *out = strdup(buf.data != NULL ? (char *)buf.data : "");
    leat_buf_free(&buf);
    return code;
}

/* The same from runs; *borders says where each ended, as "size/lines ". */
static void read_runs(leat_lines *lines, int64_t want_bytes, int64_t want_lines, leat_buf *out,
                      leat_buf *borders) {
    char *room = malloc((size_t)(want_bytes + LEAT_LINE_RUN_ROOM));
    for (;;) {
        leat_line_run run;
        assert_ok(leat_lines_take(lines, room, want_bytes, want_lines, &run, err));
        if (run.size_bytes == 0 && run.line_count == 0) break;
        assert_in_range(run.line_count, 1, run.fault == LEAT_LINE_GOOD ? want_lines : 1);
        assert_ok(leat_buf_printf(borders, err, "%lld/%lld ", (long long)run.size_bytes,
                                  (long long)run.line_count));
        int64_t count = 0;
        for (int64_t at = 0; at < run.size_bytes || count < run.line_count; count++) {
            assert_true(at < want_bytes); /* none behind the first end from there on */
            char *end = memchr(room + at, '\n', (size_t)(run.size_bytes - at));
            int64_t stop = end != NULL ? end - room : run.size_bytes, size = stop - at;
            if (size > 0 && room[stop - 1] == '\r') size--;
            const char *mark = run.fault == LEAT_LINE_GOOD ? "" : "!";
            assert_ok(leat_buf_printf(out, err, "%lld:%s", (long long)(run.number + count), mark));
            assert_ok(size > 100 ? leat_buf_printf(out, err, "[%lld]|", (long long)size)
                                 : leat_buf_printf(out, err, "%.*s|", (int)size, room + at));
            at = stop + 1;
        }
        assert_int_equal(count, run.line_count);
    }
    assert_ok(leat_buf_append(out, "", 1, err));
    assert_ok(leat_buf_append(borders, "", 1, err));
    free(room);
}

/* Runs of every size hold the same lines, and end at the same places whatever the file is. */
static void expect_runs(const char *plain_path, const char *gzip_path, const char *want) {
    static const int64_t bytes[] = {1, 2, 3, 7, 1000, 1 << 18, MAX}, counts[] = {1, 2, 8192};
    for (int i = 0; i < 7 * 3; i++) {
        leat_buf out[2] = {{0}}, borders[2] = {{0}};
        for (int gzip = 0; gzip < 2; gzip++) {
            leat_lines *lines = NULL;
            leat_lines_options options = {.coding =
                                              gzip == 1 ? LEAT_CODING_GZIP : LEAT_CODING_NONE};
            assert_ok(leat_lines_open(&lines, gzip ? gzip_path : plain_path, &options, err));
            read_runs(lines, bytes[i / 3], counts[i % 3], &out[gzip], &borders[gzip]);
            leat_lines_close(lines);
            assert_string_equal((char *)out[gzip].data, want);
        }
        assert_string_equal((char *)borders[0].data, (char *)borders[1].data);
        for (int k = 0; k < 2; k++) {
            leat_buf_free(&out[k]);
            leat_buf_free(&borders[k]);
        }
    }
}

static void expect_file(const char *path, bool gzip, bool quotes, const char *want) {
    leat_lines *lines = NULL;
    leat_lines_options options = {.coding = gzip ? LEAT_CODING_GZIP : LEAT_CODING_NONE,
                                  .quotes = quotes};
    assert_ok(leat_lines_open(&lines, path, &options, err));
    char *got = NULL;
    assert_ok(read_all(lines, &got, err));
    assert_string_equal(got, want);
    free(got);
    /* all of the file was used, and no more comes */
    core_image image = core_load(path);
    assert_int_equal(leat_lines_position(lines), image.size_bytes);
    free(image.data);
    leat_line line;
    bool found = true;
    assert_ok(leat_lines_next(lines, &line, &found, err));
    assert_false(found);
    leat_lines_close(lines);
}

static const struct {
    const char *text, *plain, *quoted; /* quoted NULL: the same */
} cases[] = {
    {"", "", NULL},
    {"a", "1:a|", NULL},
    {"a\n", "1:a|", NULL},
    {"a\nb", "1:a|2:b|", NULL},
    {"a\r\nb\r\n", "1:a|2:b|", NULL},
    {"a\r", "1:a|", NULL},
    {"a\rb\n", "1:a\rb|", NULL},
    {"a\n\r", "1:a|2:|", NULL},
    {"\n", "1:|", NULL},
    {"\n\na\n", "1:|2:|3:a|", NULL},
    {"\r\n\r\n", "1:|2:|", NULL},
    {"\xef\xbb\xbf"
     "a,b\n",
     "1:a,b|", NULL},
    {"\xef\xbb", "1:\xef\xbb|", NULL},
    {"\xef\xbb\xbf", "", NULL},
    {"a\n\xef\xbb\xbf"
     "b",
     "1:a|2:\xef\xbb\xbf"
     "b|",
     NULL},
    {"\"a\nb\",c\nd", "1:\"a|2:b\",c|3:d|", "1:\"a\nb\",c|3:d|"},
    {"x,\"a\r\nb\r\n\"\r\ny\r\n", "1:x,\"a|2:b|3:\"|4:y|", "1:x,\"a\r\nb\r\n\"|4:y|"},
    {"\"a\"\"\nb\"\nc", "1:\"a\"\"|2:b\"|3:c|", "1:\"a\"\"\nb\"|3:c|"},
    {"\"\"\nb", "1:\"\"|2:b|", NULL},
    {"\"a,\nb\"\nc", "1:\"a,|2:b\"|3:c|", "1:\"a,\nb\"|3:c|"},
    /* a quote inside a field is no quote */
    {"a\"b\nc\"d\n", "1:a\"b|2:c\"d|", NULL},
    {"a,b\"\nc\n", "1:a,b\"|2:c|", NULL},
    {" \"a\nb\"\n", "1: \"a|2:b\"|", NULL},
    /* text behind a closing quote: the field goes on */
    {"\"a\"x\nb", "1:\"a\"x|2:b|", NULL},
    {"\"a\"x\"\nb", "1:\"a\"x\"|2:b|", NULL},
    /* never closed: the line alone, and the rest as lines */
    {"\"a\nb\nc\n", "1:\"a|2:b|3:c|", "1:?\"a|2:b|3:c|"},
    {"x\n1,\"a\n2,\"\"\n3\n", "1:x|2:1,\"a|3:2,\"\"|4:3|", "1:x|2:?1,\"a|3:2,\"\"|4:3|"},
    {"\"a", "1:\"a|", "1:?\"a|"},
    {"\"", "1:\"|", "1:?\"|"},
    {"\"a\n\"b\n\"", "1:\"a|2:\"b|3:\"|", "1:\"a\n\"b|3:?\"|"},
};

static void test_cases(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = cases[i].text;
        const char *quoted = cases[i].quoted != NULL ? cases[i].quoted : cases[i].plain;
        const char *path = source_text("case", text);
        expect_file(path, false, false, cases[i].plain);
        expect_file(path, false, true, quoted);
        for (int members = 1; members <= 3; members += 2) {
            path = source_gzip("case.gz", text, (int64_t)strlen(text), members);
            expect_file(path, true, false, cases[i].plain);
            expect_file(path, true, true, quoted);
        }
        expect_runs(core_path("case"), core_path("case.gz"), cases[i].plain);
    }
}

/* A file of pieces, each a letter so many times. */
typedef struct piece {
    const char *text;
    int64_t count;
} piece;
static char *build(const piece *pieces, int count, int64_t *size_bytes) {
    int64_t size = 0, at = 0;
    while (count > 0 && pieces[count - 1].text == NULL) count--;
    for (int i = 0; i < count; i++) size += (int64_t)strlen(pieces[i].text) * pieces[i].count;
    char *text = malloc((size_t)size + 1);
    for (int i = 0; i < count; i++) {
        for (int64_t k = 0; k < pieces[i].count; k++) {
            size_t part = strlen(pieces[i].text);
            memcpy(text + at, pieces[i].text, part);
            at += (int64_t)part;
        }
    }
    *size_bytes = size;
    return text;
}

static const struct {
    piece pieces[6];
    const char *plain, *quoted;
} long_cases[] = {
    {{{"x", MAX}, {"\ny\n", 1}}, "1:[1048576]|2:y|", NULL},
    {{{"x", MAX}, {"\r\ny\n", 1}}, "1:[1048576]|2:y|", NULL},
    {{{"x", MAX}}, "1:[1048576]|", NULL},
    {{{"x", MAX}, {"\r", 1}}, "1:[1048576]|", NULL},
    {{{"x", MAX + 1}, {"\ny\n", 1}}, "1:![1048576]|2:y|", NULL},
    {{{"x", MAX + 1}, {"\r\ny\n", 1}}, "1:![1048576]|2:y|", NULL},
    {{{"x", MAX + 1}}, "1:![1048576]|", NULL},
    {{{"x", MAX + 2}, {"\ny", 1}}, "1:![1048576]|2:y|", NULL},
    {{{"x", 5 * MAX}, {"\ny\n\n", 1}, {"z", MAX + 9}}, "1:![1048576]|2:y|3:|4:![1048576]|", NULL},
    {{{"a\n", 1}, {"x", 3 * MAX}, {"\r\nb\r\n", 1}}, "1:a|2:![1048576]|3:b|", NULL},
    /* quotes: the longest record, one more, and a quote that is closed too late */
    {{{"\"", 1}, {"x", 3}, {"\n", MAX - 5}, {"\"", 1}, {"\ny", 1}}, NULL, "1:[1048576]|1048573:y|"},
    {{{"\"x\n", 1}, {"yy\n", MAX}, {"\"\nz\n", 1}}, NULL, NULL},
    {{{"\"", 1}, {"x", 3 * MAX}, {"\nb\n", 1}}, "1:![1048576]|2:b|", NULL},
};

static void test_long(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof long_cases / sizeof *long_cases; i++) {
        int64_t size = 0;
        char *text = build(long_cases[i].pieces, 6, &size);
        const char *plain = long_cases[i].plain, *quoted = long_cases[i].quoted;
        core_save(core_path("long"), text, size);
        source_gzip("long.gz", text, size, 1);
        if (plain != NULL) {
            expect_file(core_path("long"), false, false, plain);
            expect_file(core_path("long.gz"), true, false, plain);
            expect_runs(core_path("long"), core_path("long.gz"), plain);
        }
        if (quoted == NULL) quoted = plain;
        if (quoted != NULL) {
            expect_file(core_path("long"), false, true, quoted);
            expect_file(core_path("long.gz"), true, true, quoted);
        }
        free(text);
    }
}

/* A stray quote costs its own line, and every other record is found, near and far. */
static void test_stray_quote(void **state) {
    (void)state;
    enum { LINES = 200000, STRAY = 1000 };
    char *text = calloc(LINES, 32), *at = text;
    for (int i = 1; i <= LINES; i++) {
        if (i == STRAY) at += sprintf(at, "%d,\"stray\n", i);
        else if (i == LINES - 1) at += sprintf(at, "%d,\"in two\nlines\"\n", i);
        else at += sprintf(at, "%d,plain text\n", i);
    }
    leat_lines *lines = NULL;
    leat_lines_options options = {.quotes = true};
    assert_ok(leat_lines_open_bytes(&lines, text, at - text, "text", &options, err));
    for (int i = 1; i <= LINES; i++) {
        leat_line line;
        bool found = false;
        assert_ok(leat_lines_next(lines, &line, &found, err));
        assert_true(found);
        assert_int_equal(atoi(line.data), i);
        assert_int_equal(line.number, i + (i == LINES));
        assert_int_equal(line.fault, i == STRAY ? LEAT_LINE_UNCLOSED : LEAT_LINE_GOOD);
    }
    leat_lines_close(lines);
    free(text);
}

/* Lines that each open a quote again: time must stay linear (a look of 1 MiB for each of a million
 * lines would take hours). */
static void test_hostile_quotes(void **state) {
    (void)state;
    int64_t size = 0, count = 0;
    char *text = build((piece[]){{"x\",\"\n", 1000000}}, 1, &size);
    leat_lines *lines = NULL;
    leat_lines_options options = {.quotes = true};
    assert_ok(leat_lines_open_bytes(&lines, text, size, "text", &options, err));
    for (;;) {
        leat_line line;
        bool found = false;
        assert_ok(leat_lines_next(lines, &line, &found, err));
        if (!found) break;
        assert_int_equal(line.number, ++count);
    }
    assert_int_equal(count, 1000000);
    leat_lines_close(lines);
    free(text);
}

/* Random texts of the letters that matter, against a reading of the whole text at once. */
static void model(const char *text, int64_t size, leat_buf *out) {
    int64_t at = 0, number = 1;
    bool plain = false; /* behind an unclosed quote everything is lines */
    while (at < size) {
        int64_t end = at, first = -1;
        bool quoted = false, begin = true, open = false;
        for (; end < size; end++) {
            if (text[end] == '\n') {
                if (first < 0) first = end;
                if (!open) break;
            }
            if (plain) continue;
            if (open && text[end] == '"') {
                if (end + 1 < size && text[end + 1] == '"') end++;
                else open = false;
                begin = false;
            } else if (!open && text[end] == '"' && begin) {
                open = true;
                quoted = true;
            } else if (!open) {
                begin = text[end] == ',';
            }
        }
        (void)quoted;
        const char *mark = "";
        if (open) {
            plain = true;
            mark = "?";
            end = first >= 0 ? first : size;
        }
        int64_t stop = end > at && text[end - 1] == '\r' ? end - 1 : end;
        leat_code code = leat_buf_printf(out, NULL, "%lld:%s%.*s|", (long long)number, mark,
                                         (int)(stop - at), text + at);
        assert_int_equal(code, LEAT_OK);
        for (int64_t i = at; i <= end && i < size; i++) number += text[i] == '\n';
        at = end + 1;
    }
}

static void test_random(void **state) {
    (void)state;
    static const char letters[] = "\"\"\",,\n\n\rab";
    for (uint64_t i = 0; i < 30000; i++) {
        char text[24];
        int64_t size = (int64_t)(leat_random(11, 0, i) % sizeof text);
        for (int64_t k = 0; k < size; k++) {
            text[k] = letters[leat_random(11, 1 + (uint64_t)k, i) % (sizeof letters - 1)];
        }
        leat_buf want = {0};
        model(text, size, &want);
        assert_ok(leat_buf_append(&want, "", 1, err));
        leat_lines *lines = NULL;
        leat_lines_options options = {.quotes = true};
        assert_ok(leat_lines_open_bytes(&lines, text, size, "text", &options, err));
        char *got = NULL;
        assert_ok(read_all(lines, &got, err));
        if (strcmp(got, (char *)want.data) != 0) {
            fail_msg("%.*s\ngot  %s\nwant %s", (int)size, text, got, (char *)want.data);
        }
        free(got);
        leat_buf_free(&want);
        leat_lines_close(lines);
    }
}

/* Many lines at random, long and short, in runs of any size: as one by one. */
static void test_runs(void **state) {
    (void)state;
    leat_buf text = {0};
    for (uint64_t i = 0; i < 60000; i++) {
        int size = (int)(leat_random(12, 0, i) % 90);
        if (i == 20000 || i == 20001 || i == 40000) size = (int)MAX + (int)(i % 3) - 1;
        assert_ok(leat_buf_reserve(&text, size + 2, err));
        memset(text.data + text.size, i % 27 == 26 ? '\t' : 'a' + (int)(i % 27), (size_t)size);
        text.size += size;
        assert_ok(leat_buf_append(&text, &"\r\n"[i % 2], 2 - (int64_t)(i % 2), err));
    }
    core_save(core_path("runs"), text.data, text.size);
    source_gzip("runs.gz", text.data, text.size, 5);
    leat_lines *lines = NULL;
    leat_lines_options options = {0};
    assert_ok(leat_lines_open(&lines, core_path("runs"), &options, err));
    char *want = NULL;
    assert_ok(read_all(lines, &want, err));
    leat_lines_close(lines);
    expect_runs(core_path("runs"), core_path("runs.gz"), want);
    free(want);
    leat_buf_free(&text);
}

static void test_gzip_damage(void **state) {
    (void)state;
    static char text[300000];
    for (size_t i = 0; i < sizeof text; i++) text[i] = (char)('a' + leat_random(1, 0, i) % 20);
    for (size_t i = 50; i < sizeof text; i += 51) text[i] = '\n';
    const char *path = source_gzip("whole.gz", text, sizeof text, 2);
    core_image image = core_load(path);
    static const struct {
        const char *what;
        int cut;      /* bytes cut off */
        int64_t flip; /* a byte changed, from the end if negative; 0: none */
        int added;    /* bytes behind */
        uint8_t byte; /* which */
        const char *words;
    } damages[] = {
        {"tail", 1, 0, 0, 0, "truncated"},
        {"half", 90000, 0, 0, 0, "truncated"},
        {"checksum", 0, -5, 0, 0, "incorrect data check"},
        {"length", 0, -1, 0, 0, "incorrect length check"},
        {"header", 0, 2, 0, 0, "unknown compression method"},
        {"behind", 0, 0, 3, 'x', "data after a complete member"},
        {"zeros", 0, 0, 700, 0, NULL},
        {"magic", 0, 0, 1, 0x1f, "truncated"},
    };
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        int64_t size = image.size_bytes - damages[i].cut + damages[i].added;
        uint8_t *bytes = calloc(1, (size_t)size);
        memcpy(bytes, image.data, (size_t)(image.size_bytes - damages[i].cut));
        for (int k = 0; k < damages[i].added; k++) bytes[size - 1 - k] = damages[i].byte;
        int64_t flip = damages[i].flip;
        if (flip != 0) bytes[flip < 0 ? size + flip : flip] ^= 0x41;
        core_save(core_path("bad.gz"), bytes, size);
        leat_lines *lines = NULL;
        leat_lines_options options = {.coding = LEAT_CODING_GZIP};
        assert_ok(leat_lines_open(&lines, core_path("bad.gz"), &options, err));
        char *got = NULL;
        if (damages[i].words == NULL) {
            assert_ok(read_all(lines, &got, err));
        } else {
            assert_fails(read_all(lines, &got, err), LEAT_ERR_CORRUPT, damages[i].words);
            free(got);
            assert_fails(read_all(lines, &got, err), LEAT_ERR_CORRUPT, "bad.gz\": damaged gzip");
        }
        free(got);
        leat_lines_close(lines);
        free(bytes);
    }
    free(image.data);
}

static void test_open(void **state) {
    (void)state;
    leat_lines *lines = NULL;
    leat_lines_options options = {0};
    assert_fails(leat_lines_open(&lines, core_path("none"), &options, err), LEAT_ERR_NOT_FOUND,
                 "none");
    assert_null(lines);
    leat_lines_close(NULL);
}

static void test_words(void **state) {
    static const struct {
        leat_text text;
        const char *words;
        bool is;
    } cases[] = {
        {{"rttx", 3}, "rtt", true}, {{"rttx", 4}, "rtt", false}, {{"rttx", 2}, "rtt", false},
        {{"rTt", 3}, "rtt", false}, {{"", 0}, "", true},         {{NULL, -1}, "", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(leat_text_is(cases[i].text, cases[i].words), cases[i].is);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),       cmocka_unit_test(test_long),
        cmocka_unit_test(test_stray_quote), cmocka_unit_test(test_hostile_quotes),
        cmocka_unit_test(test_random),      cmocka_unit_test(test_gzip_damage),
        cmocka_unit_test(test_open),        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_words),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    core_dir_remove();
    return failed;
}
