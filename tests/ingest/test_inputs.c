/* Which files are read: names, patterns, folders, links, and formats told by content. */
#include "source_support.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/zip/zip.h"

static const char csv[] = "event_time,src_addr,dst_addr,rtt\n";
static const char json[] = "{\"type\":\"ping\"}\n";

static void make_tree(void) {
    static const char *const folders[] = {"in",       "in/sub",  "in/sub/deep",
                                          "in/.hide", "in/a[1]", "empty",
                                          "in/done",  "in/made", "in/made/.leat"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        mkdir(core_path(folders[i]), 0777);
    }
    static const char *const files[] = {"in/b.csv", "in/a.csv", "in/sub/deep/z.csv",
                                        "in/.hidden.csv", "in/_temporary.csv", "in/.hide/x.csv",
                                        "in/notes.txt", "in/a[1]/c.csv", "in/star*.csv",
                                        /* data sets of ours, whole and being made */
                                        "in/done/rejected.csv", "in/done/manifest.json",
                                        "in/done/index.bin", "in/made/rejected.csv"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) source_text(files[i], csv);
    source_text("in/m.ndjson", json);
    source_text("in/n.jsonl", json);
    source_text("in/o.json", json);
    source_gzip("in/p.csv.gz", csv, sizeof csv - 1, 1);
    source_gzip("in/q.json.gz", json, sizeof json - 1, 1);
    unlink(core_path("in/link.csv"));
    unlink(core_path("in/sub/other-name.csv"));
    assert_int_equal(symlink("a.csv", core_path("in/link.csv")), 0);
    assert_int_equal(link(core_path("in/b.csv"), core_path("in/sub/other-name.csv")), 0);
}

static const struct {
    const char *paths[4];
    const char *found[16]; /* all in order */
} lists[] = {
    {{"in/a.csv"}, {"in/a.csv"}},
    {{"in/notes.txt"}, {"in/notes.txt"}},
    {{"in/b.csv", "in/a.csv", "in/b.csv"}, {"in/a.csv", "in/b.csv"}},
    {{"in/link.csv"}, {"in/link.csv"}},
    {{"in/link.csv", "in/a.csv"}, {"in/a.csv"}},
    {{"in/sub"}, {"in/sub/deep/z.csv", "in/sub/other-name.csv"}},
    {{"in/sub/", "in/sub//deep"}, {"in/sub/deep/z.csv", "in/sub/other-name.csv"}},
    {{"in/?.csv"}, {"in/a.csv", "in/b.csv"}},
    {{"in/*.json", "in/[mn].*"}, {"in/m.ndjson", "in/n.jsonl", "in/o.json"}},
    {{"in/a[1]"}, {"in/a[1]/c.csv"}},
    {{"in/star*.csv"}, {"in/star*.csv"}},
    {{"in/su?"}, {"in/sub/deep/z.csv", "in/sub/other-name.csv"}},
    {{"in"},
     {"in/a.csv", "in/a[1]/c.csv", "in/b.csv", "in/m.ndjson", "in/n.jsonl", "in/o.json",
      "in/p.csv.gz", "in/q.json.gz", "in/star*.csv", "in/sub/deep/z.csv"}},
};

static void test_lists(void **state) {
    (void)state;
    make_tree();
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const char *paths[4];
        int64_t count = 0, found = 0;
        while (count < 4 && lists[i].paths[count] != NULL) {
            paths[count] = core_path(lists[i].paths[count]);
            count++;
        }
        leat_input_list inputs;
        assert_ok(leat_inputs_find(paths, count, &leat_probe_inputs, &inputs, err));
        for (; found < 16 && lists[i].found[found] != NULL; found++) {
            assert_true(found < inputs.count);
            const char *got = inputs.items[found].path + strlen(core_dir()) + 1;
            if (strcmp(got, lists[i].found[found]) != 0 && strcmp(got, "in/sub//deep/z.csv") != 0) {
                fail_msg("list %zu: %s instead of %s", i, got, lists[i].found[found]);
            }
        }
        assert_int_equal(inputs.count, found);
        leat_input_list_free(&inputs);
    }
}

static void add_files(const char *const *names) {
    for (; *names != NULL; names++) {
        size_t size = strlen(*names);
        if ((*names)[size - 1] == '/') mkdir(core_path(*names), 0777);
        else source_text(*names, strstr(*names, ".parquet") != NULL ? "PAR1...." : csv);
    }
}

static void assert_found(const leat_input_list *inputs, const char *const *found) {
    int64_t count = 0;
    for (; found[count] != NULL; count++) {
        assert_true(count < inputs->count);
        assert_string_equal(inputs->items[count].path + strlen(core_dir()) + 1, found[count]);
    }
    assert_int_equal(inputs->count, count);
}

/* Files that are no inputs are counted and the first of them named; what begins with "_" is read
 * only if it is named; suffixes count in any case. */
static void test_passed_over(void **state) {
    (void)state;
    static const char *const files[] = {"other/",
                                        "other/_temporary/",
                                        "other/_temporary/0/",
                                        "other/_temporary/0/part.csv",
                                        "other/_committed/",
                                        "other/_committed/0.json",
                                        "other/_SUCCESS",
                                        "other/_part.csv",
                                        "other/.x/",
                                        "other/.x/a.csv",
                                        "other/.part.csv.crc",
                                        "other/B.CSV",
                                        "other/C.Csv.GZ",
                                        "other/D.JSONL",
                                        "other/README.txt",
                                        "other/a.asc",
                                        "other/a.zip",
                                        "other/a.zst",
                                        "other/deep/",
                                        "other/deep/E.PARQUET",
                                        "other/deep/Readme-first.TXT",
                                        "other/readmes.txt",
                                        NULL};
    static const char *const found[] = {"other/B.CSV", "other/C.Csv.GZ", "other/D.JSONL",
                                        "other/deep/E.PARQUET", NULL};
    static const char *const skipped[] = {
        "other/README.txt", "other/_committed", "other/_part.csv", "other/_temporary",
        "other/a.asc",      "other/a.zip",      "other/a.zst",     "other/deep/Readme-first.TXT",
        "other/readmes.txt"};
    static const char *const logs[] = {"other/B.CSV", "other/C.Csv.GZ", "other/a.asc",
                                       "other/readmes.txt", NULL};
    static const char *const all[] = {"other/B.CSV", "other/_part.csv", NULL};
    add_files(files);
    source_text("other/deep/E.PARQUET", "PAR1....");
    source_gzip("other/C.Csv.GZ", csv, sizeof csv - 1, 1);
    leat_input_list inputs;
    const char *paths[2] = {core_path("other"), core_path("other/_temporary")};
    assert_ok(leat_inputs_find(paths, 1, &leat_probe_inputs, &inputs, err));
    assert_found(&inputs, found);
    assert_int_equal(inputs.skipped.count, 9);
    assert_int_equal(inputs.skipped.name_count, LEAT_INGEST_SKIPPED_NAMES);
    for (int i = 0; i < LEAT_INGEST_SKIPPED_NAMES; i++)
        assert_string_equal(inputs.skipped.name[i] + strlen(core_dir()) + 1, skipped[i]);
    leat_input_list_free(&inputs);
    /* a log may be text, but what is written about logs is not one */
    assert_ok(leat_inputs_find(paths, 1, &leat_can_inputs, &inputs, err));
    assert_found(&inputs, logs);
    leat_input_list_free(&inputs);
    /* what is named is read; a wildcard does not name it */
    static const char *const part[] = {"other/_temporary/0/part.csv", NULL};
    assert_ok(leat_inputs_find(paths + 1, 1, &leat_probe_inputs, &inputs, err));
    assert_found(&inputs, part);
    assert_int_equal(inputs.skipped.count, 0);
    leat_input_list_free(&inputs);
    paths[0] = core_path("other/[B_]*");
    paths[1] = core_path("other/_p*");
    assert_ok(leat_inputs_find(paths, 2, &leat_probe_inputs, &inputs, err));
    assert_found(&inputs, all);
    leat_input_list_free(&inputs);
    paths[0] = core_path("other/?temporary");
    assert_fails(leat_inputs_find(paths, 1, &leat_probe_inputs, &inputs, err), LEAT_ERR_NOT_FOUND,
                 "a wildcard does not match names that begin with");
    add_files((const char *const[]){"asc/", "asc/a.arxml", "asc/b.zst", NULL});
    paths[0] = core_path("asc");
    assert_fails(leat_inputs_find(paths, 1, &leat_can_inputs, &inputs, err), LEAT_ERR_NOT_FOUND,
                 "it contains 2 others");
}

/* Names of any length; what does not fit loses its beginning. */
static void test_skipped_names(void **state) {
    (void)state;
    leat_ingest_skipped skipped = {0}, more = {0};
    char path[400];
    memset(path, 'x', sizeof path - 1);
    path[sizeof path - 1] = 0;
    memcpy(path + sizeof path - 5, ".zip", 4);
    leat_inputs_skip(&skipped, path);
    assert_int_equal(strlen(skipped.name[0]), sizeof skipped.name[0] - 1);
    assert_memory_equal(skipped.name[0], "...x", 4);
    assert_string_equal(skipped.name[0] + sizeof skipped.name[0] - 5, ".zip");
    for (int i = 0; i < 11; i++) leat_inputs_skip(&more, "y");
    leat_inputs_skip_all(&skipped, &more);
    assert_int_equal(skipped.count, 12);
    assert_int_equal(skipped.name_count, LEAT_INGEST_SKIPPED_NAMES);
    assert_string_equal(skipped.name[LEAT_INGEST_SKIPPED_NAMES - 1], "y");
}

/* gunzip -k leaves both: the data would count twice. */
static void test_packed(void **state) {
    (void)state;
    static const char *const others[] = {"twice/x.csv-2", "twice/x.cs",      "twice/a.csv",
                                         "twice/z.csv",   "twice/sub/x.csv", "twice/_y.csv.gz",
                                         "twice/y.csv",   "twice/x.csv.gz"};
    mkdir(core_path("twice"), 0777);
    mkdir(core_path("twice/sub"), 0777);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) source_text(others[i], csv);
    const char *path = core_path("twice");
    leat_input_list inputs;
    assert_ok(leat_inputs_find(&path, 1, &leat_can_inputs, &inputs, err));
    leat_input_list_free(&inputs);
    source_text("twice/x.csv", csv);
    const leat_input_kind *const kinds[] = {&leat_can_inputs, &leat_probe_inputs};
    for (int i = 0; i < 2; i++) {
        assert_fails(
            leat_inputs_find(&path, 1, kinds[i], &inputs, err), LEAT_ERR_INPUT,
            "contains \"x.csv\" and \"x.csv.gz\": the second is a compressed copy of the first");
    }
}

/* Folders of vehicle logs: other suffixes, and caches made of them passed over. */
static void test_can(void **state) {
    (void)state;
    static const char *const folders[] = {"logs", "logs/sub", "logs/cache", "logs/.leat-x"};
    for (int i = 0; i < 4; i++) mkdir(core_path(folders[i]), 0777);
    static const char *const files[] = {"logs/b.log",
                                        "logs/a.csv",
                                        "logs/sub/normal.txt",
                                        "logs/x.json",
                                        "logs/y",
                                        "logs/.h.log",
                                        "logs/cache/rejected.csv",
                                        "logs/cache/cache_metadata.json",
                                        "logs/z.jsonl",
                                        "logs/_part.csv",
                                        "logs/.leat-x/a.csv"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) source_text(files[i], csv);
    source_gzip("logs/c.log.gz", csv, sizeof csv - 1, 1);
    source_gzip("logs/sub/d.txt.gz", csv, sizeof csv - 1, 1);
    static const char *const found[] = {"logs/a.csv", "logs/b.log", "logs/c.log.gz",
                                        "logs/sub/d.txt.gz", "logs/sub/normal.txt"};
    const char *path = core_path("logs");
    leat_input_list inputs;
    assert_ok(leat_inputs_find(&path, 1, &leat_can_inputs, &inputs, err));
    assert_int_equal(inputs.count, 5);
    for (int i = 0; i < 5; i++) {
        assert_string_equal(inputs.items[i].path + strlen(core_dir()) + 1, found[i]);
        assert_int_equal(inputs.items[i].coding == LEAT_CODING_GZIP,
                         strstr(found[i], ".gz") != NULL);
    }
    leat_input_list_free(&inputs);
    /* a file by its name is taken whatever that is */
    path = core_path("logs/y");
    assert_ok(leat_inputs_find(&path, 1, &leat_can_inputs, &inputs, err));
    leat_input_list_free(&inputs);
    path = core_path("logs/.leat-x/..//cache");
    assert_fails(leat_inputs_find(&path, 1, &leat_can_inputs, &inputs, err), LEAT_ERR_INPUT,
                 "holds the output of `leat ingest can`");
    path = core_path("logs/none");
    assert_ok(leat_path_make_dir(path, err));
    assert_fails(
        leat_inputs_find(&path, 1, &leat_can_inputs, &inputs, err), LEAT_ERR_NOT_FOUND,
        "does not contain any *.csv, *.log, *.txt, *.asc, *.trc (or .gz), or OpenXC *.json");
    path = source_text("parquet.log", "PAR1....");
    assert_fails(leat_inputs_find(&path, 1, &leat_can_inputs, &inputs, err), LEAT_ERR_INPUT,
                 "parquet.log\" is a Parquet file");
}

static void test_formats(void **state) {
    (void)state;
    static const struct {
        const char *name, *content;
        leat_input_format format;
    } cases[] = {
        {"x.csv", "a,b\n", LEAT_INPUT_CSV},
        {"x.txt", "a,b\n", LEAT_INPUT_CSV},
        {"x.json", "a,b\n", LEAT_INPUT_CSV},
        {"y.csv", "{\"a\":1}\n", LEAT_INPUT_NDJSON},
        {"x", "\n\n  \t{\"a\":1}\n", LEAT_INPUT_NDJSON},
        {"bom", "\xef\xbb\xbf{\"a\":1}\n", LEAT_INPUT_NDJSON},
        {"empty.csv", "", LEAT_INPUT_CSV},
        {"empty.ndjson", "", LEAT_INPUT_NDJSON},
        {"blank.json", "\n\n", LEAT_INPUT_NDJSON},
        {"tiny", "PAR", LEAT_INPUT_CSV},
        {"x.dat", "PAR1....", LEAT_INPUT_PARQUET},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int gzip = 0; gzip < 2; gzip++) {
            const char *content = cases[i].content;
            if (gzip && cases[i].format == LEAT_INPUT_PARQUET) continue;
            const char *path =
                gzip ? source_gzip(cases[i].name, content, (int64_t)strlen(content), 1)
                     : source_text(cases[i].name, content);
            leat_input_list inputs;
            assert_ok(leat_inputs_find(&path, 1, &leat_probe_inputs, &inputs, err));
            assert_int_equal(inputs.count, 1);
            assert_int_equal(inputs.items[0].format, cases[i].format);
            assert_int_equal(inputs.items[0].coding == LEAT_CODING_GZIP, gzip);
            leat_input_list_free(&inputs);
        }
    }
}

static void test_failures(void **state) {
    (void)state;
    make_tree();
    source_text("zip.csv", "PK\3\4....");
    source_text("no.parquet", "something else");
    source_text("secret", "PARE....");
    core_save(core_path("wide.csv"),
              "\xff\xfe"
              "e\0v\0e\0n\0t\0\n\0",
              14);
    core_save(core_path("program"),
              "\x7f"
              "ELF\x02\x01\x01",
              7);
    assert_ok(leat_path_make_dir(core_path("made"), err));
    source_text("made/manifest.json", "{}");
    source_text("made/index.bin", "");
    assert_ok(leat_path_make_dir(core_path("cached"), err));
    assert_ok(leat_path_make_dir(core_path("cached/a"), err));
    source_text("cached/a/cache_metadata.json", "{}");
    source_text("cached/a/.complete", "");
    source_gzip("packed.parquet.gz", "PAR1....", 8, 1);
    core_save(core_path("cut.csv.gz"), "\x1f\x8b\x08", 3);
    if (access(core_path("pipe"), F_OK) != 0) mkfifo(core_path("pipe"), 0600);
    static const struct {
        const char *path, *words;
        leat_code code;
    } cases[] = {
        {"nothing.csv", "nothing.csv\" does not exist", LEAT_ERR_NOT_FOUND},
        {"nothing*.csv", "no file matches", LEAT_ERR_NOT_FOUND},
        {"nowhere/*.csv", "no file matches", LEAT_ERR_NOT_FOUND},
        {"empty", "does not contain any *.parquet", LEAT_ERR_NOT_FOUND},
        {"made", "holds the output of `leat ingest probes`, not raw data", LEAT_ERR_INPUT},
        {"cached", "holds the output of `leat ingest can`", LEAT_ERR_INPUT},
        {"cached/a", "holds the output of `leat ingest can`", LEAT_ERR_INPUT},
        {"wide.csv", "is not UTF-8 text", LEAT_ERR_INPUT},
        {"program", "is not UTF-8 text", LEAT_ERR_INPUT},
        {"zip.csv", "zip.csv\" cannot be read as a zip archive", LEAT_ERR_CORRUPT},
        {"no.parquet", "does not begin with PAR1", LEAT_ERR_CORRUPT},
        {"secret", "encrypted", LEAT_ERR_UNSUPPORTED},
        {"packed.parquet.gz", "inside gzip", LEAT_ERR_INPUT},
        {"cut.csv.gz", "damaged gzip data", LEAT_ERR_CORRUPT},
        {"pipe", "not a regular file", LEAT_ERR_INPUT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *paths[] = {core_path("in/a.csv"), core_path(cases[i].path)};
        leat_input_list inputs;
        assert_fails(leat_inputs_find(paths, 2, &leat_probe_inputs, &inputs, err), cases[i].code,
                     cases[i].words);
        assert_null(inputs.items);
        assert_int_equal(inputs.count, 0);
    }
    leat_input_list inputs;
    assert_fails(leat_inputs_find(NULL, 0, &leat_probe_inputs, &inputs, err), LEAT_ERR_OPTION,
                 "no input");
}

/* Tables of Delta Lake and Iceberg hold dead rows: refused as a folder, a partition, files. */
static void test_tables(void **state) {
    (void)state;
    static const char *const files[] = {"delta/",
                                        "delta/_delta_log/",
                                        "delta/day=1/",
                                        "delta/day=1/a.parquet",
                                        "delta/note.csv",
                                        "warehouse/",
                                        "warehouse/ice/",
                                        "warehouse/ice/metadata/",
                                        "warehouse/ice/metadata/v1.metadata.json",
                                        "warehouse/ice/data/",
                                        "warehouse/ice/data/b.parquet",
                                        "plain/",
                                        "plain/metadata/",
                                        "plain/metadata/notes.csv",
                                        "plain/a.csv",
                                        "home/",
                                        "home/metadata/",
                                        "home/metadata/x.metadata.json",
                                        "home/metadata/version-hint.text",
                                        "home/metadata/1-2.metadata.json",
                                        "home/runs/",
                                        "home/runs/c.parquet",
                                        "uuid/",
                                        "uuid/metadata/",
                                        "uuid/metadata/00001-0f6b1c52-53ab-4d0a-9f3c-"
                                        "0123456789ab.gz.metadata.json",
                                        "uuid/data/",
                                        "uuid/data/1/",
                                        "uuid/data/1/2/",
                                        "uuid/data/1/2/3/",
                                        "uuid/data/1/2/3/d.parquet",
                                        "uuid/data/1/2/3/4/",
                                        "uuid/data/1/2/3/4/e.parquet",
                                        NULL};
    static const struct {
        const char *path, *words;
    } cases[] = {
        {"delta", "_scan('"},
        {"delta/", "is a Delta Lake table, whose files also hold deleted rows"},
        {"delta/day=1", "LOAD delta; COPY (FROM delta_scan('"},
        {"delta/day=1/a.parquet", "spark.read.format('delta').load('"},
        {"delta/day=1/*.parquet", "is a Delta Lake table"},
        {"warehouse", "is an Iceberg table"},
        {"warehouse/ice/data", "LOAD iceberg; COPY (FROM iceberg_scan('"},
        {"warehouse/ice/data/b.parquet", "is an Iceberg table"},
        {"home", "is an Iceberg table"},
        {"home/runs", NULL},
        {"home/runs/c.parquet", NULL},
        {"uuid/data/1/2/3/d.parquet", "is an Iceberg table"},
        {"uuid/data/1/2/3/4/e.parquet", NULL}, /* too far up */
        {"plain", NULL},
        {"plain/metadata", NULL},
        {"delta/note.csv", NULL},
        {"delta/../plain", NULL},
    };
    add_files(files);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_input_list inputs;
        const char *path = core_path(cases[i].path);
        if (cases[i].words == NULL) {
            assert_ok(leat_inputs_find(&path, 1, &leat_probe_inputs, &inputs, err));
            leat_input_list_free(&inputs);
        } else {
            assert_fails(leat_inputs_find(&path, 1, &leat_probe_inputs, &inputs, err),
                         LEAT_ERR_INPUT, cases[i].words);
        }
    }
}

/* Around what was given, a metadata folder that may not be listed is none of a table. */
static void test_barred(void **state) {
    (void)state;
    static const char *const files[] = {"theirs/", "theirs/metadata/", "theirs/f.parquet", NULL};
    add_files(files);
    assert_int_equal(chmod(core_dir(), 0755), 0);
    assert_int_equal(chmod(core_path("theirs/metadata"), 0), 0);
    bool root = geteuid() == 0;
    if (root) assert_int_equal(seteuid(65534), 0); /* root may list everything */
    leat_input_list inputs;
    const char *path = core_path("theirs/f.parquet");
    leat_code code = leat_inputs_find(&path, 1, &leat_probe_inputs, &inputs, NULL);
    if (root) assert_int_equal(seteuid(0), 0);
    assert_int_equal(chmod(core_path("theirs/metadata"), 0755), 0);
    assert_int_equal(code, LEAT_OK);
    leat_input_list_free(&inputs);
}

/* A compressed file of which only some of its first bytes were written. */
static void test_truncated_magic(void **state) {
    (void)state;
    static const struct {
        const char *name, *bytes;
        int known; /* this many bytes say what it is */
        const leat_input_kind *kind;
    } cases[] = {
        {"cut.csv.xz", "\xfd\x37zXZ\0\0\4\xe6\xd6", 6, &leat_probe_inputs},
        {"cut.json.bz2", "BZh91AY&SY", 10, &leat_probe_inputs},
        {"cut.ndjson.ZST", "\x28\xb5\x2f\xfd\x04\0\x41\0\0\x61", 4, &leat_probe_inputs},
        {"cut.csv.gz", "\x1f\x8b\x08\0\0\0\0\0\0\x03", 2, &leat_probe_inputs},
        {"cut.log.gz", "\x1f\x8b\x08\0\0\0\0\0\0\x03", 2, &leat_can_inputs},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int size = 1; size <= LEAT_CODING_MAGIC_BYTES; size++) {
            const char *path = core_path(cases[i].name);
            char words[64];
            leat_input_list inputs;
            leat_error error = {0};
            core_save(path, cases[i].bytes, size);
            snprintf(words, sizeof words, "is truncated: it has only the first %d bytes", size);
            leat_code code = leat_inputs_find(&path, 1, cases[i].kind, &inputs, &error);
            const bool named = strstr(error.message, words) != NULL;
            const bool cut = size < cases[i].known;
            if (named != cut || (cut && code != LEAT_ERR_CORRUPT) ||
                (cut && strstr(error.message, cases[i].name) == NULL))
                fail_msg("%s, %d bytes: code %d: %s", cases[i].name, size, (int)code,
                         error.message);
            leat_input_list_free(&inputs);
        }
    }
    /* the beginning of one is a text under another name, and other bytes are one under its name */
    leat_input_list inputs;
    const char *paths[] = {source_text("BZh.csv", "BZh9"), source_text("a.csv.bz2", "BZ,h")};
    assert_ok(leat_inputs_find(paths, 2, &leat_probe_inputs, &inputs, err));
    leat_input_list_free(&inputs);
}

/* Writes an archive of empty members; the name of member k is name(k). */
static void write_archive(const char *path, int members, const char *(*name)(int, int), int bytes) {
    leat_file *file = NULL;
    leat_zip_writer *writer = NULL;
    assert_ok(leat_file_open(&file, path, LEAT_FILE_CREATE, err));
    assert_ok(leat_zip_writer_create(&writer, file, 0, err));
    for (int k = 0; k < members; k++)
        assert_ok(leat_zip_writer_add(writer, name(k, bytes), "", 0, err));
    assert_ok(leat_zip_writer_finish(writer, err));
    leat_zip_writer_destroy(writer);
    leat_file_close(file);
}

static const char *number_name(int k, int bytes) {
    static char name[100];
    snprintf(name, sizeof name, "%0*d", bytes, k);
    return name;
}

/* As Excel writes them. */
static const char *workbook_name(int k, int bytes) {
    static const char *const names[] = {"[Content_Types].xml", "_rels/.rels", "xl/workbook.xml",
                                        "xl/worksheets/sheet1.xml"};
    (void)bytes;
    return names[k];
}

/* False: there is no libzip. */
static bool refuses_archive(const char *path, const char *words) {
    leat_input_list inputs;
    leat_error error = {0};
    leat_code code = leat_inputs_find(&path, 1, &leat_probe_inputs, &inputs, &error);
    if (code == LEAT_ERR_UNSUPPORTED) return false;
    if (code != LEAT_ERR_INPUT || strstr(error.message, words) == NULL)
        fail_msg("%s: code %d: %s", words, (int)code, error.message);
    return true;
}

static void test_workbook(void **state) {
    (void)state;
    const char *path = core_path("pings.xlsx");
    write_archive(path, 4, workbook_name, 0);
    if (!refuses_archive(path, "is a spreadsheet; save it as CSV")) skip();
}

/* An archive of many files is refused before libzip has taken memory for all of them. */
static void test_large_directory(void **state) {
    (void)state;
    static const struct {
        int files;
        int name_bytes;
        const char *words;
    } cases[] = {{2000, 20, "a zip archive of 2000 files; one of a single file can be read"},
                 {60000, 60,
                  "a zip archive with a large directory, as of thousands of files; one "
                  "of a single file can be read: unpack it (unzip)"},
                 {70000, 8, "a zip archive with a large directory"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = core_path("many.csv.zip");
        write_archive(path, cases[i].files, number_name, cases[i].name_bytes);
        if (!refuses_archive(path, cases[i].words)) skip();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),           cmocka_unit_test(test_passed_over),
        cmocka_unit_test(test_tables),          cmocka_unit_test(test_barred),
        cmocka_unit_test(test_skipped_names),   cmocka_unit_test(test_can),
        cmocka_unit_test(test_packed),          cmocka_unit_test(test_formats),
        cmocka_unit_test(test_failures),        cmocka_unit_test(test_truncated_magic),
        cmocka_unit_test(test_large_directory), cmocka_unit_test(test_workbook),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    core_dir_remove();
    return failed;
}
