/* Parquet through DuckDB: every type a column may have, files that are none, threads, memory. The
 * files are made here, by DuckDB's own writer. */
/* TSan: DuckDB's threads call the scan. */
#include "source_support.h"

#include <sys/stat.h>

#include "duckdb/api.h"
#include "ingest/probes/parquet.h"
#include "leat/duckdb.h"

#if LEAT_HAVE_DUCKDB

static leat_duckdb writer;

static void run_sql(const char *sql) {
    duckdb_result result;
    leat_error error = {0};
    if (leat_duckdb_query(&writer, sql, &result, &error) != LEAT_OK) {
        fail_msg("%s\n%s", sql, error.message);
    }
    writer.api.destroy_result(&result);
}

/* Writes the rows of a query into a file of the test's folder. */
static const char *make(const char *name, const char *query, const char *options) {
    const char *path = core_path(name);
    char sql[8192], quoted[4096];
    size_t at = 0;
    for (const char *c = path; *c != 0; c++) {
        if (*c == '\'') quoted[at++] = '\'';
        quoted[at++] = *c;
    }
    quoted[at] = 0;
    snprintf(sql, sizeof sql, "COPY (%s) TO '%s' (FORMAT PARQUET%s%s)", query, quoted,
             options[0] != 0 ? ", " : "", options);
    run_sql(sql);
    return path;
}

#define REST ", 's' AS src_addr, 'd' AS dst_addr, 4::TINYINT AS ip_version, 1.5::FLOAT AS rtt"
#define T0 "1556136000"

static const struct {
    const char *query;
    const char *rows[6]; /* values of event_time.. as in source_run, behind "0 <row>" */
} types[] = {
    /* event_time */
    {"SELECT '2019-04-24 20:00:00.123456'::TIMESTAMP AS event_time" REST,
     {T0 "123456 <s> <d> 4 1.5"}},
    {"SELECT '2019-04-24 20:00:00'::TIMESTAMP_S AS event_time" REST, {T0 "000000 <s> <d> 4 1.5"}},
    {"SELECT '2019-04-24 20:00:00.123'::TIMESTAMP_MS AS event_time" REST,
     {T0 "123000 <s> <d> 4 1.5"}},
    {"SELECT '2019-04-24 20:00:00.123456789'::TIMESTAMP_NS AS event_time" REST,
     {T0 "123456 <s> <d> 4 1.5"}},
    {"SELECT make_timestamp_ns(-1) AS event_time" REST, {"-1 <s> <d> 4 1.5"}},
    {"SELECT make_timestamptz(1556136000123456) AS event_time" REST, {T0 "123456 <s> <d> 4 1.5"}},
    {"SELECT 1556136000::BIGINT AS event_time" REST, {T0 "000000 <s> <d> 4 1.5"}},
    {"SELECT 1556136000::INTEGER AS event_time" REST, {T0 "000000 <s> <d> 4 1.5"}},
    {"SELECT 1556136000::UINTEGER AS event_time" REST, {T0 "000000 <s> <d> 4 1.5"}},
    {"SELECT 7::UTINYINT AS event_time" REST, {"7000000 <s> <d> 4 1.5"}},
    {"SELECT unnest([1556136000, 18446744073709551615]::UBIGINT[]) AS event_time" REST,
     {T0 "000000 <s> <d> 4 1.5", "9223372036854775807 <s> <d> 4 1.5"}},
    {"SELECT unnest([9223372036854775807, -9223372036854775807, -5]::BIGINT[]) AS event_time" REST,
     {"9223372036854775807 <s> <d> 4 1.5", "-9223372036854775807 <s> <d> 4 1.5",
      "-5000000 <s> <d> 4 1.5"}},
    {"SELECT unnest(['infinity', '-infinity', NULL, '1970-01-01']::TIMESTAMP[]) AS event_time" REST,
     {"9223372036854775807 <s> <d> 4 1.5", "-9223372036854775807 <s> <d> 4 1.5", "- <s> <d> 4 1.5",
      "0 <s> <d> 4 1.5"}},
    {"SELECT unnest(['infinity', '-infinity', '1970-01-01']::TIMESTAMP_NS[]) AS event_time" REST,
     {"9223372036854775807 <s> <d> 4 1.5", "-9223372036854775807 <s> <d> 4 1.5",
      "0 <s> <d> 4 1.5"}},
    {"SELECT unnest([99999999999, 1556136000123, 1556136000123456, 1556136000123456789, "
     "-1556136000123]::BIGINT[]) AS event_time" REST,
     {"99999999999000000 <s> <d> 4 1.5", T0 "123000 <s> <d> 4 1.5", T0 "123456 <s> <d> 4 1.5",
      T0 "123456 <s> <d> 4 1.5", "-" T0 "123000 <s> <d> 4 1.5"}},
    {"SELECT unnest([NULL, 5]::BIGINT[]) AS event_time" REST,
     {"- <s> <d> 4 1.5", "5000000 <s> <d> 4 1.5"}},
    {"SELECT unnest(['1556136000123', '1556136000.5', 'nan', NULL, '-1e300']::DOUBLE[]) AS "
     "event_time" REST,
     {T0 "123000 <s> <d> 4 1.5", T0 "500000 <s> <d> 4 1.5", "- <s> <d> 4 1.5", "- <s> <d> 4 1.5",
      "-9223372036854775807 <s> <d> 4 1.5"}},
    /* addresses: long ones lie outside of the vector */
    {"SELECT 1 AS event_time, unnest([NULL, '', '2001:db8::aaaa:bbbb:cccc:dddd']) AS src_addr, "
     "unnest(['1.2.3.4', NULL, 'x,\"y']) AS dst_addr, 6 AS ip_version, 2::FLOAT AS rtt",
     {"1000000 - <1.2.3.4> 6 2", "1000000 <> - 6 2",
      "1000000 <2001:db8::aaaa:bbbb:cccc:dddd> <x,\"y> 6 2"}},
    /* ip_version */
    {"SELECT 1 AS event_time, 's' AS src_addr, 'd' AS dst_addr, 1.5::FLOAT AS rtt",
     {"1000000 <s> <d> 0 1.5"}},
    {"SELECT 1 AS event_time, 's' AS src_addr, 'd' AS dst_addr, 1.5::FLOAT AS rtt, "
     "unnest([4, NULL, -1, 300]::INTEGER[]) AS ip_version",
     {"1000000 <s> <d> 4 1.5", "1000000 <s> <d> 0 1.5", "1000000 <s> <d> -1 1.5",
      "1000000 <s> <d> 300 1.5"}},
    {"SELECT 1 AS event_time, 's' AS src_addr, 'd' AS dst_addr, 1.5::FLOAT AS rtt, "
     "unnest([6, NULL, 5000000000, -5000000000]::BIGINT[]) AS ip_version",
     {"1000000 <s> <d> 6 1.5", "1000000 <s> <d> 0 1.5", "1000000 <s> <d> 2147483647 1.5",
      "1000000 <s> <d> -2147483648 1.5"}},
    {"SELECT 1 AS event_time, 's' AS src_addr, 'd' AS dst_addr, 1.5::FLOAT AS rtt, "
     "unnest([6, 18446744073709551615]::UBIGINT[]) AS ip_version",
     {"1000000 <s> <d> 6 1.5", "1000000 <s> <d> 2147483647 1.5"}},
    {"SELECT 1 AS event_time, 's' AS src_addr, 'd' AS dst_addr, 1.5::FLOAT AS rtt, "
     "unnest(['4', NULL, 'nan', '6.5', '1e300', '-7']::DOUBLE[]) AS ip_version",
     {"1000000 <s> <d> 4 1.5", "1000000 <s> <d> 0 1.5", "1000000 <s> <d> 0 1.5",
      "1000000 <s> <d> -1 1.5", "1000000 <s> <d> -1 1.5", "1000000 <s> <d> -7 1.5"}},
    /* rtt */
    {"SELECT 1 AS event_time, 's' AS src_addr, 'd' AS dst_addr, "
     "unnest(['0.1', NULL, 'nan', 'inf', '-1', '-0']::FLOAT[]) AS rtt",
     {"1000000 <s> <d> 0 0.1", "1000000 <s> <d> 0 -", "1000000 <s> <d> 0 -",
      "1000000 <s> <d> 0 inf", "1000000 <s> <d> 0 -1", "1000000 <s> <d> 0 -0"}},
    {"SELECT 1 AS event_time, 's' AS src_addr, 'd' AS dst_addr, "
     "unnest(['0.1', NULL, 'nan', '1e300', '-1']::DOUBLE[]) AS rtt",
     {"1000000 <s> <d> 0 0.1", "1000000 <s> <d> 0 -", "1000000 <s> <d> 0 -",
      "1000000 <s> <d> 0 inf", "1000000 <s> <d> 0 -1"}},
    /* other columns, any order */
    {"SELECT [1, 2] AS list, {'a': 1} AS rtt2, 1.5::FLOAT AS rtt, 'd' AS dst_addr, 's' AS "
     "src_addr, "
     "5 AS \"RTT3\", 1 AS event_time",
     {"1000000 <s> <d> 0 1.5"}},
};

/* Units that are stated; timestamps have their own. */
static void test_units(void **state) {
    (void)state;
    static const struct {
        const char *query, *row;
        leat_time_unit time;
        leat_rtt_unit rtt;
    } cases[] = {
        {"SELECT 7::BIGINT AS event_time" REST, "7000 <s> <d> 4 1500", LEAT_TIME_UNIT_MS,
         LEAT_RTT_UNIT_S},
        {"SELECT 7999::INTEGER AS event_time" REST, "7 <s> <d> 4 0.0015", LEAT_TIME_UNIT_NS,
         LEAT_RTT_UNIT_US},
        {"SELECT 25570.5::DOUBLE AS event_time" REST, "129600000000 <s> <d> 4 1.5",
         LEAT_TIME_UNIT_EXCEL, LEAT_RTT_UNIT_MS},
        {"SELECT 25570::INTEGER AS event_time" REST, "86400000000 <s> <d> 4 1.5",
         LEAT_TIME_UNIT_EXCEL, LEAT_RTT_UNIT_MS},
        {"SELECT make_timestamp(7) AS event_time, 's' AS src_addr, 'd' AS dst_addr, "
         "0.25::DOUBLE AS rtt",
         "7 <s> <d> 0 250", LEAT_TIME_UNIT_S, LEAT_RTT_UNIT_S},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[64];
        const char *row = text;
        source_run run;
        source_run_init(&run);
        run.options.time_unit = cases[i].time;
        run.options.rtt_unit = cases[i].rtt;
        snprintf(text, sizeof text, "0 1 %s", cases[i].row);
        assert_ok(source_run_file(&run, make("units.parquet", cases[i].query, ""), err));
        source_expect(&run, &row, 1);
        source_run_free(&run);
    }
}

static void test_types(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const char *path = make("types.parquet", types[i].query, "");
        for (int threads = 1 + (int)(i % 2); threads <= 2; threads += 2) {
            source_run run;
            source_run_init(&run);
            run.options.threads = threads;
            leat_error error = {0};
            if (source_run_file(&run, path, &error) != LEAT_OK) {
                fail_msg("%s: %s", types[i].query, error.message);
            }
            char texts[6][256];
            const char *rows[6];
            int64_t count = 0;
            for (; count < 6 && types[i].rows[count] != NULL; count++) {
                snprintf(texts[count], sizeof texts[count], "0 %lld %s", (long long)count + 1,
                         types[i].rows[count]);
                rows[count] = texts[count];
            }
            source_expect(&run, rows, count);
            assert_int_equal(run.rows_read, count);
            source_run_free(&run);
        }
    }
}

static void test_renamed(void **state) {
    (void)state;
    const char *path = make("renamed.parquet",
                            "SELECT 1 AS \"the \"\"time\"\"\", 's' AS \"from\", 'd' AS \"a'b\", "
                            "2::DOUBLE AS \"ms, or\", 6 AS \"select\"",
                            "");
    source_run run;
    source_run_init(&run);
    run.options.columns =
        (leat_source_columns){"the \"time\"", "from", "a'b", "select", "ms, or", NULL};
    assert_ok(source_run_file(&run, path, err));
    static const char *const rows[] = {"0 1 1000000 <s> <d> 6 2"};
    source_expect(&run, SOURCE_ROWS(rows));
    source_run_free(&run);
}

static const struct {
    const char *query, *words;
} wrong[] = {
    {"SELECT 1 AS a, 2 AS b", "has no column \"event_time\"; its columns are: a, b"},
    {"SELECT 1 AS event_time, 's' AS src_addr, 1::FLOAT AS rtt", "has no column \"dst_addr\""},
    {"SELECT 1 AS event_time, 's' AS src_addr, 'd' AS dst_addr, 1::FLOAT AS \"RTT\"",
     "has no column \"rtt\"; its columns are: event_time, src_addr, dst_addr, RTT"},
    {"SELECT '2019-04-24'::DATE AS event_time" REST,
     "column \"event_time\" is DATE, must be a timestamp, or a number since 1970; convert it: "
     "duckdb -c \"COPY (SELECT * REPLACE (event_time::TIMESTAMP AS event_time) FROM "
     "read_parquet('"},
    {"SELECT 'x' AS event_time" REST,
     "convert it (if the texts are numbers, with ::BIGINT for ::TIMESTAMPTZ): duckdb -c \"SET "
     "TimeZone='UTC'; COPY (SELECT * REPLACE (event_time::TIMESTAMPTZ AS "},
    {"SELECT 1.5::DECIMAL(9,2) AS event_time" REST,
     "since 1970; convert it if it is seconds since 1970: duckdb -c \"COPY (SELECT * REPLACE ("
     "to_timestamp(event_time) AS event_time) FROM read_parquet('"},
    {"SELECT 1.5::FLOAT AS event_time" REST,
     "column \"event_time\" is FLOAT, which holds seconds since 1970 to the nearest 128 only"},
    {"SELECT 1 AS event_time, 7 AS src_addr, 'd' AS dst_addr, 1::FLOAT AS rtt",
     "column \"src_addr\" is INTEGER, must be text"},
    {"SELECT 1 AS event_time, 's' AS src_addr, ['d'] AS dst_addr, 1::FLOAT AS rtt",
     "column \"dst_addr\" is VARCHAR[], must be text"},
    {"SELECT 1 AS event_time, 's' AS src_addr, 'd' AS dst_addr, 1 AS rtt",
     "column \"rtt\" is INTEGER, must be float or double; convert it if it is milliseconds: "
     "duckdb -c \"COPY (SELECT * REPLACE (rtt::DOUBLE AS rtt) FROM read_parquet('"},
    {"SELECT 1 AS event_time, 's' AS src_addr, 'd' AS dst_addr, '1' AS rtt",
     "column \"rtt\" is VARCHAR, must be float or double; convert it"},
    {"SELECT 1 AS event_time, 's' AS src_addr, 'd' AS dst_addr, 1::FLOAT AS rtt, '4' AS ip_version",
     "column \"ip_version\" is VARCHAR, must be a number; convert it: duckdb -c"},
    {"SELECT 5 AS file_row_number, 1 AS event_time" REST, "file_row_number"},
};

static void test_wrong(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *paths[] = {make("a.parquet", "SELECT 1 AS event_time" REST, ""),
                               make("wrong.parquet", wrong[i].query, "")};
        source_run run;
        source_run_init(&run);
        leat_error error = {0};
        leat_code code = source_run_paths(&run, paths, 2, &error);
        if (code != (i + 1 == sizeof wrong / sizeof *wrong ? LEAT_ERR_CORRUPT : LEAT_ERR_INPUT) ||
            strstr(error.message, wrong[i].words) == NULL ||
            strstr(error.message, "wrong.parquet\"") == NULL) {
            fail_msg("%s: %d: %s", wrong[i].query, code, error.message);
        }
        assert_int_equal(run.count, 0);
        source_run_free(&run);
    }
}

/* Replaces a text by another of the same length in a file: names that DuckDB does not write. */
static void patch(const char *path, const char *from, const char *to) {
    core_image image = core_load(path);
    size_t size = strlen(from);
    for (int64_t i = 0; i + (int64_t)size <= image.size_bytes; i++) {
        if (memcmp(image.data + i, from, size) == 0) memcpy(image.data + i, to, size);
    }
    core_save(path, image.data, image.size_bytes);
    free(image.data);
}

/* DuckDB renames the second of two columns that differ in case only: neither is read. */
static void test_clash(void **state) {
    (void)state;
    static const struct {
        const char *columns, *rtt, *words; /* "@" becomes a capital, "#" a small letter */
    } cases[] = {
        {"2::FLOAT AS \"@TT\", 1::FLOAT AS \"#tt\"", NULL,
         "columns \"rtt\" and \"RTT\" differ in case only"},
        {"1::FLOAT AS \"#tt\", 2::FLOAT AS \"@TT\"", NULL,
         "columns \"rtt\" and \"RTT\" differ in case only"},
        {"2::FLOAT AS \"@TT\", 1::FLOAT AS \"#tt\"", "rtt_1",
         "has no column \"rtt_1\"; its columns are: event_time, src_addr, dst_addr, RTT, rtt"},
        {"2::FLOAT AS \"@TT\", 1::FLOAT AS \"#tt\", 3::FLOAT AS rtt_1", "rtt_1",
         "columns \"RTT\" and \"rtt\" differ in case only, so \"rtt_1\" cannot"},
        {"1::FLOAT AS \"#tt\", 2::FLOAT AS \"%tt\"", NULL, "has two columns \"rtt\"; rename one"},
        {"2::FLOAT AS \"@TT\", 3::FLOAT AS \"#tt\", 1.5::FLOAT AS latency", "latency", NULL},
        {"{'rtt': 2} AS nested, 1.5::FLOAT AS rtt, {'a': {'RTT': 1}} AS deep", NULL, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char query[512];
        snprintf(query, sizeof query,
                 "SELECT 1 AS event_time, 's' AS src_addr, 'd' AS dst_addr, %s", cases[i].columns);
        const char *path = make("clash.parquet", query, "");
        patch(path, "@TT", "RTT");
        patch(path, "#tt", "rtt");
        patch(path, "%tt", "rtt");
        source_run run;
        source_run_init(&run);
        if (cases[i].rtt != NULL) run.options.columns.rtt = cases[i].rtt;
        if (cases[i].words != NULL) {
            assert_fails(source_run_file(&run, path, err), LEAT_ERR_INPUT, cases[i].words);
        } else {
            static const char *const rows[] = {"0 1 1000000 <s> <d> 0 1.5"};
            assert_ok(source_run_file(&run, path, err));
            source_expect(&run, SOURCE_ROWS(rows));
        }
        source_run_free(&run);
    }
}

/* Old writers do not mark their texts as such. */
static void test_binary(void **state) {
    (void)state;
    const char *path = make("binary.parquet",
                            "SELECT 1 AS event_time, 's'::BLOB AS src_addr, 'd' AS dst_addr, "
                            "1::FLOAT AS rtt",
                            "");
    source_run run;
    source_run_init(&run);
    assert_ok(source_run_file(&run, path, err));
    static const char *const rows[] = {"0 1 1000000 <s> <d> 0 1"};
    source_expect(&run, SOURCE_ROWS(rows));
    source_run_free(&run);
}

#define MANY                                                                                       \
    "SELECT i::BIGINT AS event_time, 's' || i AS src_addr, 'd' AS dst_addr, i::FLOAT AS rtt "

/* Each row once, with its row number, for many row groups, files, threads; some files are empty. */
static void test_many(void **state) {
    (void)state;
    enum { FILES = 300, ROWS = 100, BIG = 250000 };
    mkdir(core_path("many"), 0777);
    for (int f = 0; f < FILES; f++) {
        char name[64], query[256];
        bool empty = f % 50 == 7;
        snprintf(name, sizeof name, "many/f%03d.parquet", f);
        /* every 100th file has one more column: a query of its own */
        snprintf(query, sizeof query, MANY "%s FROM range(%d, %d) t(i)",
                 f % 100 == 99 ? ", 6 AS ip_version" : "", f * ROWS, f * ROWS + (empty ? 0 : ROWS));
        make(name, query, "ROW_GROUP_SIZE 2048");
    }
    make("many/g.parquet", MANY "FROM range(1000000, 1250000) t(i)", "ROW_GROUP_SIZE 10000");
    char **want = malloc((FILES * ROWS + BIG) * sizeof *want);
    int64_t count = 0;
    for (int f = 0; f <= FILES; f++) {
        int rows = f == FILES ? BIG : f % 50 == 7 ? 0 : ROWS;
        int64_t first = f == FILES ? 1000000 : f * ROWS;
        for (int i = 0; i < rows; i++) {
            char row[160];
            snprintf(row, sizeof row, "%d %d %lld000000 <s%lld> <d> %d %lld", f, i + 1,
                     (long long)first + i, (long long)first + i, f % 100 == 99 ? 6 : 0,
                     (long long)first + i);
            if (first + i == 0) snprintf(row, sizeof row, "0 1 0 <s0> <d> 0 0");
            /* the text of a large float has an exponent: looked at by value below */
            if (first + i >= 1000000) strrchr(row, ' ')[1] = 0;
            want[count++] = strdup(row);
        }
    }
    for (int threads = 1; threads <= 3; threads++) {
        source_run run;
        source_run_init(&run);
        run.options.threads = threads;
        assert_ok(source_run_file(&run, core_path("many"), err));
        for (int64_t i = 0; i < run.count; i++) {
            char *space = strrchr(run.rows[i], ' ');
            long long number = 0;
            assert_int_equal(sscanf(run.rows[i], "%*d %*d %lld", &number), 1);
            assert_true(strtof(space, NULL) == (float)(number / 1000000));
            if (number >= 1000000000000) space[1] = 0;
        }
        source_expect(&run, (const char *const *)want, count);
        assert_int_equal(run.rows_read, count);
        source_run_free(&run);
    }
    for (int64_t i = 0; i < count; i++) free(want[i]);
    free(want);
}

static void test_names(void **state) {
    (void)state;
    static const char *const names[] = {"it's.parquet",    "a[1].parquet",     "a1.parquet",
                                        "star*.parquet",   "q?.parquet",       "sp ace,\".parquet",
                                        "back\\s.parquet", "h\xc3\xa9.parquet"};
    enum { NAMES = sizeof names / sizeof *names };
    mkdir(core_path("names"), 0777);
    for (int i = 0; i < NAMES; i++) {
        char query[256], name[64];
        make("plain.parquet",
             (snprintf(query, sizeof query,
                       "SELECT %d AS event_time, 's' AS src_addr, 'd' AS dst_addr, "
                       "1::FLOAT AS rtt",
                       i),
              query),
             "");
        snprintf(name, sizeof name, "names/%s", names[i]);
        rename(core_path("plain.parquet"), core_path(name));
    }
    for (int threads = 1; threads <= 2; threads++) {
        source_run run;
        source_run_init(&run);
        run.options.threads = threads;
        assert_ok(source_run_file(&run, core_path("names"), err));
        assert_int_equal(run.count, NAMES);
        for (int64_t i = 0; i < run.count; i++) {
            int file = 0;
            long long time_us = 0;
            assert_int_equal(sscanf(run.rows[i], "%d %*d %lld", &file, &time_us), 2);
            assert_non_null(strstr(run.inputs.items[file].path, names[time_us / 1000000]));
        }
        source_run_free(&run);
    }
}

/* Files that were cut or changed, alone and in the middle of good ones. */
static void test_damage(void **state) {
    (void)state;
    mkdir(core_path("damage"), 0777);
    for (int f = 0; f < 9; f++) {
        char name[64];
        snprintf(name, sizeof name, "damage/f%d.parquet", f);
        make(name, MANY "FROM range(0, 30000) t(i)", "ROW_GROUP_SIZE 4096, COMPRESSION snappy");
    }
    const char *path = core_path("damage/f5.parquet");
    core_image image = core_load(path);
    int64_t size = image.size_bytes;
    static const struct {
        int64_t keep; /* bytes from the front; negative: cut off */
        int64_t at;   /* a byte changed, from the end if negative; 0: none */
        int count;    /* so many */
        const char *words;
    } cases[] = {
        {-1, 0, 0, "does not end with PAR1"},
        {8, 0, 0, "does not end with PAR1"},
        {11, 0, 0, "does not end with PAR1"},
        {-4000, 0, 0, "does not end with PAR1"},
        {0, -5, 1, "footer of"},                      /* the footer's size */
        {0, -3000, 900, "cannot be read as Parquet"}, /* the footer */
        {0, 2000, 3000, "cannot be read as Parquet"}, /* data */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int together = 0; together < 2; together++) {
            uint8_t *bytes = malloc((size_t)size);
            memcpy(bytes, image.data, (size_t)size);
            int64_t keep = cases[i].keep > 0 ? cases[i].keep : size + cases[i].keep;
            int64_t at = cases[i].at < 0 ? size + cases[i].at : cases[i].at;
            for (int k = 0; k < cases[i].count; k++) bytes[at + k] ^= 0x5a;
            core_save(path, bytes, keep);
            free(bytes);
            source_run run;
            source_run_init(&run);
            run.options.threads = 2;
            leat_error error = {0};
            leat_code code = source_run_file(&run, together ? core_path("damage") : path, &error);
            if (code == LEAT_OK || strstr(error.message, cases[i].words) == NULL ||
                strstr(error.message, "f5.parquet\"") == NULL) {
                fail_msg("case %zu: %d: %s", i, code, error.message);
            }
            source_run_free(&run);
        }
    }
    free(image.data);
}

/* ---- cells in error ---- */

/* Rows whose cells are spoiled, and how: the same number of bytes in the place of others. */
#define SPOILED_MS INT64_C(1600000000777)
#define FAR_MS (INT64_C(1) << 62)
#define CELLS(times, bad)                                                                          \
    "SELECT " times " AS event_time, CASE WHEN i IN " bad " THEN '@BAD' ELSE 's' || i % 700 END "  \
    "AS src_addr, CASE WHEN i IN (2500, 29997) THEN '@long' || repeat('x', 2000) ELSE 'd' || i "   \
    "END "                                                                                         \
    "AS dst_addr, (i % 50)::FLOAT AS rtt FROM range(0, 30000) t(i)"
#define MS(bad)                                                                                    \
    "make_timestamp((CASE WHEN i IN " bad " THEN 1600000000777 ELSE 1500000000000 + i END) * "     \
    "1000)::TIMESTAMP_MS"
#define MIDDLE(bad)                                                                                \
    "make_timestamp((CASE WHEN i IN " bad " THEN 1600000000777 ELSE 1500000000000 + i % 2 * "      \
    "200000000000 END) * 1000)::TIMESTAMP_MS"

static void spoil(const char *path, bool times, bool texts) {
    int64_t from = SPOILED_MS, to = FAR_MS;
    core_image image = core_load(path);
    for (int64_t i = 0; i + 8 <= image.size_bytes; i++) {
        uint8_t *at = image.data + i;
        if (times && memcmp(at, &from, 8) == 0) memcpy(at, &to, 8);
        if (texts && memcmp(at, "@BAD", 4) == 0) memcpy(at, "\xf0\x28\xc3@", 4);
        if (texts && memcmp(at, "@long", 5) == 0) memcpy(at, "\xfflong", 5);
    }
    core_save(path, image.data, image.size_bytes);
    free(image.data);
}

/* Replaces the first occurrence in a row, for a text of the same or a smaller size. */
static bool swap(char *row, const char *from, const char *to) {
    char *at = strstr(row, from);
    size_t size = strlen(from), other = strlen(to);
    if (at == NULL) return false;
    memmove(at + other, at + size, strlen(at + size) + 1);
    memcpy(at, to, other);
    return true;
}

/* Every row once, also those behind and beside a cell that DuckDB refuses: the rows of the file as
 * it was written, with other values in the spoiled cells. */
static void expect_spoiled(const source_run *good, const char *path, int64_t cells, bool times,
                           bool texts) {
    char **want = malloc((size_t)good->count * sizeof *want);
    int64_t spoiled = 0;
    for (int64_t i = 0; i < good->count; i++) {
        char row[4096];
        snprintf(row, sizeof row, "%s", good->rows[i]);
        if (texts) {
            spoiled += swap(row, "<@BAD>", "<\xf0\x28\xc3@>");
            spoiled += swap(row, "<@long", "<\xfflong");
        }
        if (times) spoiled += swap(row, " 1600000000777000 ", " 9223372036854775807 ");
        want[i] = strdup(row);
    }
    assert_int_equal(spoiled, cells);
    for (int threads = 1; threads <= 8; threads *= 2) {
        source_run run;
        source_run_init(&run);
        run.options.threads = threads;
        assert_ok(source_run_file(&run, path, err));
        source_expect(&run, (const char *const *)want, good->count);
        assert_int_equal(run.rows_read, good->count);
        source_run_free(&run);
    }
    for (int64_t i = 0; i < good->count; i++) free(want[i]);
    free(want);
}

static const struct {
    const char *query, *options;
    int64_t cells; /* spoiled in each file */
    bool times, texts;
} cells[] = {
    /* in the middle, in the first and last row; the statistics are out of range too */
    {CELLS(MS("(0, 5000, 29999)"), "(-1)"), "ROW_GROUP_SIZE 4096", 3, true, false},
    /* in no statistics: between the least and the greatest */
    {CELLS(MIDDLE("(5000, 5001)"), "(-1)"), "ROW_GROUP_SIZE 4096", 2, true, false},
    {CELLS("i", "(5000)"), "ROW_GROUP_SIZE 4096", 3, false, true},
    {CELLS("i", "(0, 4095, 4096, 20000, 29999)"), "ROW_GROUP_SIZE 4096", 7, false, true},
    {CELLS("i", "(7)"), "ROW_GROUP_SIZE 4096, DICTIONARY_SIZE_LIMIT 1", 3, false, true},
    {CELLS("make_timestamp(i)", "(6000)"), "ROW_GROUP_SIZE 100000", 3, false, true},
    {CELLS("make_timestamp_ns(i)", "(6000)"), "ROW_GROUP_SIZE 4096", 3, false, true},
    {CELLS("make_timestamptz(i)", "(6000)"), "ROW_GROUP_SIZE 4096", 3, false, true},
    {CELLS(MS("(5000, 9000, 29999)"), "(6000, 29999)"), "ROW_GROUP_SIZE 4096", 7, true, true},
};

static void test_cells(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        char options[256];
        snprintf(options, sizeof options, "%s, COMPRESSION uncompressed", cells[i].options);
        const char *path = make("cells.parquet", cells[i].query, options);
        source_run good;
        source_run_init(&good);
        assert_ok(source_run_file(&good, path, err));
        assert_int_equal(good.count, 30000);
        spoil(path, cells[i].times, cells[i].texts);
        expect_spoiled(&good, path, cells[i].cells, cells[i].times, cells[i].texts);
        source_run_free(&good);
    }
    leat_path_list left = {0}; /* no copy is left in the folder of temporary files */
    assert_ok(leat_path_list_dir(core_dir(), &left, err));
    for (int64_t i = 0; i < left.count; i++) assert_null(strstr(left.paths[i], "plain_"));
    leat_path_list_free(&left);
}

/* A few of many files that share a query. */
static void test_cells_of_files(void **state) {
    (void)state;
    mkdir(core_path("cells"), 0777);
    for (int f = 0; f < 5; f++) {
        char name[64];
        snprintf(name, sizeof name, "cells/f%d.parquet", f);
        make(name, f == 2 ? CELLS(MS("(-1)"), "(-1)") : CELLS(MS("(9000)"), "(9000)"),
             "ROW_GROUP_SIZE 4096, COMPRESSION uncompressed");
    }
    source_run good;
    source_run_init(&good);
    assert_ok(source_run_file(&good, core_path("cells"), err));
    assert_int_equal(good.count, 150000);
    for (int f = 0; f < 5; f++) {
        char name[64];
        snprintf(name, sizeof name, "cells/f%d.parquet", f);
        spoil(core_path(name), true, true);
    }
    /* four times and addresses, and two long addresses in each of five */
    expect_spoiled(&good, core_path("cells"), 4 * 2 + 5 * 2, true, true);
    source_run_free(&good);
}

static leat_code count_rows(void *context, int worker, const leat_raw_batch *batch,
                            leat_error *err) {
    (void)worker;
    (void)err;
    __atomic_fetch_add((int64_t *)context, batch->count, __ATOMIC_RELAXED);
    return LEAT_OK;
}

static void test_exchanged(void **state) {
    (void)state;
    const char *path = make("exchanged.parquet", MANY "FROM range(0, 30000) t(i)", "");
    leat_input_list inputs;
    source_run run;
    source_run_init(&run);
    int64_t seen = 0, rows = 0;
    run.options.batch = count_rows;
    run.options.batch_context = &seen;
    assert_ok(leat_inputs_find(&path, 1, &leat_probe_inputs, &inputs, err));
    assert_ok(leat_sources_check(&inputs, &run.options, err));
    assert_int_equal(inputs.items[0].parquet.rows, 30000);
    make("exchanged.parquet", MANY "FROM range(0, 29999) t(i)", "");
    assert_fails(leat_sources_scan(&inputs, &run.options, &rows, err), LEAT_ERR_CORRUPT,
                 "has 29999 rows, but its metadata counts 30000");
    assert_int_equal(rows, 0);
    leat_input_list_free(&inputs);
    source_run_free(&run);
}

typedef struct told {
    int64_t bytes, calls, stop_at;
} told;
static bool tell(void *context, const leat_progress *progress) {
    told *self = context;
    self->bytes = progress->done;
    return ++self->calls != self->stop_at;
}

static void test_stop(void **state) {
    (void)state;
    const char *path =
        make("stop.parquet", MANY "FROM range(0, 500000) t(i)", "ROW_GROUP_SIZE 8192");
    for (int threads = 1; threads <= 3; threads++) {
        source_run run;
        source_run_init(&run);
        run.options.threads = threads;
        run.fail_at = 100000;
        assert_fails(source_run_file(&run, path, err), LEAT_ERR_NO_SPACE, "no more room");
        assert_int_equal(run.rows_read, 0);
        /* each thread may be in a chunk, and begin another before it is told */
        assert_in_range(run.given, 100000, 400000);
        source_run_free(&run);
        source_run_init(&run);
        told told = {.stop_at = 1};
        leat_ticker ticker;
        leat_ticker_create(&ticker, tell, &told);
        run.options.threads = threads;
        run.options.ticker = &ticker;
        assert_fails(source_run_file(&run, path, err), LEAT_ERR_CANCELLED, "stopped");
        assert_true(told.bytes > 0);
        leat_ticker_destroy(&ticker);
        source_run_free(&run);
    }
}

static void test_memory(void **state) {
    (void)state;
    const char *path =
        make("memory.parquet",
             "SELECT i AS event_time, (i * 7919 % 1000003)::VARCHAR || 'abcdefgh' AS "
             "src_addr, 'd' AS dst_addr, i::FLOAT AS rtt FROM range(1500000) t(i)",
             "ROW_GROUP_SIZE 500000, COMPRESSION zstd");
    leat_input_list inputs;
    source_run run;
    source_run_init(&run);
    assert_ok(leat_inputs_find(&path, 1, &leat_probe_inputs, &inputs, err));
    assert_ok(leat_sources_check(&inputs, &run.options, err));
    assert_int_equal(inputs.items[0].parquet.rows, 1500000);
    assert_int_equal(inputs.items[0].parquet.row_groups, 3);
    assert_in_range(inputs.items[0].parquet.group_bytes, 4 << 20, 64 << 20);
    int64_t least = leat_sources_memory_min(&inputs, 3),
            full = leat_sources_memory_full(&inputs, 3);
    assert_true(full > 2 * least);
    int64_t seen = 0, rows = 0;
    run.options.batch = count_rows;
    run.options.batch_context = &seen;
    run.options.threads = 3;
    run.options.memory_bytes = least - 1;
    assert_fails(leat_sources_scan(&inputs, &run.options, &rows, err), LEAT_ERR_LIMIT,
                 "MiB of memory per row group");
    run.options.memory_bytes = least;
    assert_ok(leat_sources_scan(&inputs, &run.options, &rows, err));
    assert_int_equal(rows, 1500000);
    assert_int_equal(seen, 1500000);
    leat_input_list_free(&inputs);
    source_run_free(&run);
}

/* Page headers: what they say against what the footer says, and bytes that are none. */
static void test_pages(void **state) {
    (void)state;
    /* a page of 100 values, 50 bytes packed to 30: type 0, 50, 30, {100, ...}; then 30 bytes */
    static const uint8_t head[] = {0x15, 0x00, 0x15, 0x64, 0x15, 0x3c, 0x2c, 0x15, 0xc8,
                                   0x01, 0x15, 0x00, 0x15, 0x06, 0x15, 0x06, 0x00, 0x00};
    uint8_t file[200] = {0};
    memcpy(file + 10, head, sizeof head);
    memcpy(file + 10 + sizeof head + 30, head, sizeof head);
    core_save(core_path("pages"), file, sizeof file);
    leat_file *pages = NULL;
    assert_ok(leat_file_open(&pages, core_path("pages"), LEAT_FILE_READ, err));
    leat_parquet_chunk chunk = {.offset = 10,
                                .size_bytes = 2 * (sizeof head + 30),
                                .unpacked_bytes = 5000,
                                .values = 200,
                                .packed = true};
    int64_t bytes = 0;
    assert_ok(leat_parquet_chunk_walk(pages, &chunk, &bytes, err));
    assert_int_equal(bytes, 80);
    chunk.delta = true;
    assert_ok(leat_parquet_chunk_walk(pages, &chunk, &bytes, err));
    assert_int_equal(bytes, 80 + 8 * 100);
    /* not understood, or of another size: the sizes of the chunk */
    chunk.delta = false;
    for (int64_t offset = 0; offset < 60; offset++) {
        chunk.offset = offset == 10 ? 9 : offset;
        assert_ok(leat_parquet_chunk_walk(pages, &chunk, &bytes, err));
        assert_int_equal(bytes, leat_parquet_chunk_bytes(&chunk));
    }
    leat_file_close(pages);
    /* many random ones behind each other in one file */
    enum { BLOBS = 20000 };
    uint8_t *blobs = malloc(BLOBS * sizeof file);
    for (uint64_t i = 0; i < BLOBS; i++) {
        uint8_t *blob = blobs + i * sizeof file;
        for (size_t k = 0; k < sizeof file; k++) {
            blob[k] = (uint8_t)(leat_random(9, i, k) & (i % 3 == 0 ? 255 : 31));
        }
        if (i % 2 == 0) memcpy(blob, head, (size_t)(i % sizeof head));
    }
    core_save(core_path("pages"), blobs, (int64_t)(BLOBS * sizeof file));
    free(blobs);
    assert_ok(leat_file_open(&pages, core_path("pages"), LEAT_FILE_READ, err));
    for (int64_t i = 0; i < BLOBS; i++) {
        chunk.offset = i * (int64_t)sizeof file;
        assert_ok(leat_parquet_chunk_walk(pages, &chunk, &bytes, err));
        assert_in_range(bytes, 0, leat_parquet_chunk_bytes(&chunk));
    }
    leat_file_close(pages);
}

static void test_sample(void **state) {
    (void)state;
    const char *path = golden_left_out("data/latency/atlas_builtin_masked.parquet");
    source_run run;
    source_run_init(&run);
    run.options.threads = 2;
    assert_ok(source_run_file(&run, path, err));
    assert_int_equal(run.rows_read, 40646);
    assert_int_equal(run.count, 40646);
    int64_t failed = 0, empty = 0, v6 = 0;
    for (int64_t i = 0; i < run.count; i++) {
        failed += strcmp(strrchr(run.rows[i], ' '), " -1") == 0;
        empty += strstr(run.rows[i], "<>") != NULL || strstr(run.rows[i], " - <") != NULL;
        v6 += strstr(run.rows[i], "> 6 ") != NULL;
    }
    /* counted by DuckDB's own SQL */
    assert_int_equal(failed, 7468);
    assert_int_equal(empty, 48);
    assert_int_equal(v6, 20318);
    source_run_free(&run);
}

static void test_probe(void **state) {
    (void)state;
    leat_duckdb_facts facts;
    assert_ok(leat_duckdb_probe(&facts, err));
    assert_int_equal(facts.version[0], 'v');
    assert_non_null(strstr(facts.path, "duckdb"));
    assert_string_equal(facts.rejected, "");
}

int main(void) {
    leat_error error = {0};
    if (leat_duckdb_open(&writer, 1, 0, &error) != LEAT_OK) {
        printf("%s\n", error.message);
        leat_duckdb_close(&writer);
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),          cmocka_unit_test(test_units),
        cmocka_unit_test(test_renamed),        cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_clash),          cmocka_unit_test(test_binary),
        cmocka_unit_test(test_many),           cmocka_unit_test(test_names),
        cmocka_unit_test(test_damage),         cmocka_unit_test(test_cells),
        cmocka_unit_test(test_cells_of_files), cmocka_unit_test(test_exchanged),
        cmocka_unit_test(test_stop),           cmocka_unit_test(test_memory),
        cmocka_unit_test(test_pages),          cmocka_unit_test(test_sample),
        cmocka_unit_test(test_probe),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    leat_duckdb_close(&writer);
    core_dir_remove();
    return failed;
}

#else

int main(void) {
    printf("skipped: leat was built without DuckDB\n");
    return 77;
}

#endif
