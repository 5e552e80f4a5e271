/*
 * The ground of all rooms: errors, memory, files and folders, the hashing sink, groups of threads,
 * progress, random numbers.
 */
/* TSan: progress counted by several threads. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/sink.h"
#include "base/thread.h"
#include "base/ticker.h"
#include "check.h"
#include "threads.h"

static char folder[512];

static const char *in_folder(const char *name) {
    static char texts[8][1024];
    static int next;
    char *text = texts[next++ % 8];
    snprintf(text, sizeof texts[0], "%s/%s", folder, name);
    return text;
}

/* ---- errors ---- */

/* A broken invariant ends the process, and says which one. */
static void assertions(void **state) {
    (void)state;
    char text[300] = "", expected[300];
    int out[2];
    LEAT_ASSERT(1 + 1 == 2);
    assert_int_equal(pipe(out), 0);
    int line = __LINE__ + 5; /* of the assertion */
    pid_t child = fork();
    if (child == 0) {
        signal(SIGABRT, SIG_DFL); /* cmocka's handler would print a report */
        if (dup2(out[1], STDERR_FILENO) < 0) _exit(1);
        LEAT_ASSERT(text[0] == 'a' && "a reason");
        _exit(0);
    }
    close(out[1]);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_true(read(out[0], text, sizeof text - 1) > 0);
    close(out[0]);
    snprintf(expected, sizeof expected,
             "leat: %s:%d: broken invariant: text[0] == 'a' && \"a reason\"; "
             "this is a bug in leat\n",
             __FILE__, line);
    assert_string_equal(text, expected);
}

static void codes(void **state) {
    (void)state;
#define CHECK_CODE(name, number, text)                                                             \
    assert_int_equal(name, number);                                                                \
    assert_string_equal(leat_code_text(name), text);
    LEAT_CODES(CHECK_CODE)
    assert_string_equal(leat_code_text((leat_code)999), "unknown code");
    static const struct {
        int number;
        leat_code code;
    } cases[] = {
        {ENOMEM, LEAT_ERR_MEMORY},   {ENOENT, LEAT_ERR_NOT_FOUND}, {EEXIST, LEAT_ERR_EXISTS},
        {ENOSPC, LEAT_ERR_NO_SPACE}, {EDQUOT, LEAT_ERR_NO_SPACE},  {EACCES, LEAT_ERR_IO},
        {EIO, LEAT_ERR_IO},          {98765, LEAT_ERR_IO},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_error err = {0};
        assert_int_equal(leat_fail_errno(&err, cases[i].number, "file %d", 7), cases[i].code);
        assert_int_equal(err.code, cases[i].code);
        assert_int_equal(strncmp(err.message, "file 7: ", 8), 0);
        if (i == 5) assert_string_equal(err.message, "file 7: Permission denied");
        assert_int_equal(leat_fail_errno(NULL, cases[i].number, "x"), cases[i].code);
    }
}

static void messages(void **state) {
    (void)state;
    char longest[2 * LEAT_MESSAGE_BYTES];
    leat_error err = {0}, copy = {0};
    assert_int_equal(leat_fail(&err, LEAT_ERR_INPUT, "row %d of \"%s\"", 5, "a.csv"),
                     LEAT_ERR_INPUT);
    assert_string_equal(err.message, "row 5 of \"a.csv\"");
    assert_int_equal(leat_error_context(&err, err.code, "shard %d", 3), LEAT_ERR_INPUT);
    assert_string_equal(err.message, "shard 3: row 5 of \"a.csv\"");
    /* its own message among the arguments */
    leat_fail(&err, LEAT_ERR_IO, "again: %s", err.message);
    assert_string_equal(err.message, "again: shard 3: row 5 of \"a.csv\"");
    assert_int_equal(leat_error_copy(&copy, &err), LEAT_ERR_IO);
    assert_string_equal(copy.message, err.message);
    assert_int_equal(leat_error_copy(NULL, &err), LEAT_ERR_IO);
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = 0;
    leat_fail(&err, LEAT_ERR_LIMIT, "%s", longest);
    assert_int_equal(strlen(err.message), LEAT_MESSAGE_BYTES - 1);
    leat_error_context(&err, err.code, "first");
    assert_int_equal(strncmp(err.message, "first: xxx", 10), 0);
    assert_int_equal(leat_fail(NULL, LEAT_ERR_LIMIT, "%d", 1), LEAT_ERR_LIMIT);
    assert_int_equal(leat_error_context(NULL, LEAT_ERR_BUSY, "%d", 1), LEAT_ERR_BUSY);
}

/* ---- memory ---- */

static void sizes(void **state) {
    (void)state;
    static const struct {
        int64_t a, b, product, sum;
        bool multiplies, adds;
    } cases[] = {
        {0, 0, 0, 0, true, true},
        {3, 5, 15, 8, true, true},
        {INT64_MAX, 1, INT64_MAX, 0, true, false},
        {INT64_MAX, 0, 0, INT64_MAX, true, true},
        {INT64_C(1) << 32, INT64_C(1) << 31, 0, (INT64_C(1) << 32) + (INT64_C(1) << 31), false,
         true},
        {-1, 5, 0, 0, false, false},
        {5, -1, 0, 0, false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t out = 77;
        assert_int_equal(leat_mul_size(cases[i].a, cases[i].b, &out), cases[i].multiplies);
        assert_int_equal(out, cases[i].product);
        out = 77;
        assert_int_equal(leat_add_size(cases[i].a, cases[i].b, &out), cases[i].adds);
        assert_int_equal(out, cases[i].sum);
    }
}

static void allocation(void **state) {
    (void)state;
    int32_t *items = NULL;
    assert_ok(LEAT_NEW(&items, 1000, err));
    for (int i = 0; i < 1000; i++) assert_int_equal(items[i], 0);
    leat_free(items);
    assert_ok(LEAT_NEW(&items, 0, err));
    assert_non_null(items);
    leat_free(items);
    assert_int_equal(LEAT_NEW(&items, INT64_MAX / 2, NULL), LEAT_ERR_MEMORY);
    assert_null(items);
    assert_int_equal(LEAT_NEW(&items, -1, NULL), LEAT_ERR_MEMORY);
    uint8_t *block = NULL;
    int64_t size_bytes = (5 << 20) + 17;
    assert_ok(leat_block_alloc((void **)&block, size_bytes, err));
    for (int64_t i = 0; i < size_bytes; i += 511) assert_int_equal(block[i], 0);
    block[size_bytes - 1] = 1;
    leat_block_free(block, size_bytes);
    assert_int_equal(leat_block_alloc((void **)&block, 0, NULL), LEAT_ERR_MEMORY);
    assert_int_equal(leat_block_alloc((void **)&block, INT64_MAX, NULL), LEAT_ERR_MEMORY);
    assert_null(block);
    leat_block_free(NULL, 5);
    char *text = NULL;
    assert_ok(leat_strdup(&text, "a text", err));
    assert_string_equal(text, "a text");
    leat_free(text);
}

static void growing(void **state) {
    (void)state;
    int64_t *items = NULL, capacity = 0, grown = 0;
    for (int64_t n = 1; n <= 100000; n++) {
        int64_t before = capacity;
        assert_ok(LEAT_GROW(&items, &capacity, n, err));
        assert_true(capacity >= n);
        if (capacity != before) grown++;
        if (capacity != before) assert_true(capacity >= 2 * before);
        items[n - 1] = n;
    }
    assert_true(grown < 20);
    for (int64_t n = 1; n <= 100000; n++) assert_int_equal(items[n - 1], n);
    int64_t kept = capacity, *same = items;
    assert_int_equal(LEAT_GROW(&items, &capacity, INT64_MAX, NULL), LEAT_ERR_MEMORY);
    assert_int_equal(capacity, kept);
    assert_ptr_equal(items, same);
    leat_free(items);
    leat_buf buf = {0};
    assert_ok(leat_buf_append(&buf, NULL, 0, err));
    for (int i = 0; i < 3000; i++) assert_ok(leat_buf_printf(&buf, err, "%04d;", i));
    assert_int_equal(buf.size, 15000);
    assert_memory_equal(buf.data + 14990, "2998;2999;", 10);
    assert_int_equal(leat_buf_reserve(&buf, INT64_MAX, NULL), LEAT_ERR_MEMORY);
    leat_buf_free(&buf);
    assert_null(buf.data);
    assert_true(leat_rss_bytes() > 0);
    assert_true(leat_rss_peak_bytes() >= leat_rss_bytes() / 2);
}

/* ---- files ---- */

static void open_modes(void **state) {
    (void)state;
    static const struct {
        leat_file_mode mode;
        bool there;
        leat_code code;
        int64_t left; /* bytes of the file's three */
    } cases[] = {
        {LEAT_FILE_READ, true, LEAT_OK, 3},        {LEAT_FILE_READ, false, LEAT_ERR_NOT_FOUND, 0},
        {LEAT_FILE_CREATE, true, LEAT_OK, 0},      {LEAT_FILE_CREATE, false, LEAT_OK, 0},
        {LEAT_FILE_NEW, true, LEAT_ERR_EXISTS, 0}, {LEAT_FILE_NEW, false, LEAT_OK, 0},
        {LEAT_FILE_UPDATE, true, LEAT_OK, 3},      {LEAT_FILE_UPDATE, false, LEAT_ERR_NOT_FOUND, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = in_folder("mode");
        leat_error err = {0};
        leat_file *file = NULL;
        int64_t size_bytes = -1;
        assert_ok(leat_path_remove(path, err));
        if (cases[i].there) assert_ok(leat_file_save(path, "abc", 3, err));
        assert_int_equal(leat_file_open(&file, path, cases[i].mode, &err), cases[i].code);
        assert_int_equal(file != NULL, cases[i].code == LEAT_OK);
        if (file == NULL) {
            assert_non_null(strstr(err.message, path));
            continue;
        }
        assert_string_equal(leat_file_path(file), path);
        assert_ok(leat_file_size(file, &size_bytes, err));
        assert_int_equal(size_bytes, cases[i].left);
        leat_code wrote = leat_file_pwrite(file, "x", 1, 0, NULL);
        assert_int_equal(wrote == LEAT_OK, cases[i].mode != LEAT_FILE_READ);
        leat_file_close(file);
    }
    leat_file_close(NULL);
}

static void reading(void **state) {
    (void)state;
    leat_file *file = NULL;
    char bytes[8] = {0};
    int64_t got = 0;
    leat_error err = {0};
    assert_ok(leat_file_open(&file, in_folder("read"), LEAT_FILE_CREATE, err));
    assert_ok(leat_file_pwrite(file, "0123456789", 10, 5, err));
    assert_ok(leat_file_pread(file, bytes, 8, 4, err));
    assert_memory_equal(bytes,
                        "\0"
                        "0123456",
                        8);
    assert_ok(leat_file_pread(file, bytes, 0, 100, err));
    assert_int_equal(leat_file_pread(file, bytes, 8, 10, &err), LEAT_ERR_CORRUPT);
    assert_non_null(strstr(err.message, "ends at byte 15"));
    assert_ok(leat_file_truncate(file, 7, err));
    assert_int_equal(leat_file_pread(file, bytes, 1, 7, NULL), LEAT_ERR_CORRUPT);
    assert_ok(leat_file_sync(file, err));
    leat_file_start_writeback(file, 0, 7);
    /* from the front, like a pipe */
    int64_t total = 0;
    do {
        assert_ok(leat_file_read(file, bytes, 3, &got, err));
        total += got;
    } while (got > 0);
    assert_int_equal(total, 7);
    leat_file_close(file);
}

static void whole_files(void **state) {
    (void)state;
    const char *path = in_folder("whole");
    uint8_t *bytes = NULL;
    int64_t size_bytes = 0;
    leat_error err = {0};
    static const int64_t sizes_of[] = {0, 1, 5000};
    static char text[5000];
    memset(text, 'q', sizeof text);
    for (size_t i = 0; i < 3; i++) {
        assert_ok(leat_file_save(path, text, sizes_of[i], err));
        assert_ok(leat_file_load(path, 5000, &bytes, &size_bytes, err));
        assert_int_equal(size_bytes, sizes_of[i]);
        assert_memory_equal(bytes, text, (size_t)size_bytes);
        assert_int_equal(bytes[size_bytes], 0);
        leat_free(bytes);
    }
    assert_int_equal(leat_file_load(path, 4999, &bytes, &size_bytes, &err), LEAT_ERR_LIMIT);
    assert_null(bytes);
    assert_int_equal(leat_file_load(in_folder("no"), 9, &bytes, &size_bytes, NULL),
                     LEAT_ERR_NOT_FOUND);
    /* into a folder that is none: nothing is left, the old file stays */
    assert_int_equal(leat_file_save(in_folder("no/x"), "a", 1, NULL), LEAT_ERR_NOT_FOUND);
    leat_path_list names = {0};
    assert_ok(leat_path_list_dir(folder, &names, err));
    for (int64_t i = 0; i < names.count; i++) assert_null(strstr(names.paths[i], ".tmp"));
    leat_path_list_free(&names);
}

static void locks(void **state) {
    (void)state;
    leat_file *one = NULL, *two = NULL;
    leat_error err = {0};
    assert_ok(leat_file_open(&one, in_folder("lock"), LEAT_FILE_CREATE, err));
    assert_ok(leat_file_open(&two, in_folder("lock"), LEAT_FILE_UPDATE, err));
    assert_ok(leat_file_lock(one, err));
    assert_int_equal(leat_file_lock(two, &err), LEAT_ERR_BUSY);
    assert_non_null(strstr(err.message, "in use"));
    leat_file_close(one);
    assert_ok(leat_file_lock(two, err));
    leat_file_close(two);
    /* the lock of a file that was removed, or replaced by another, keeps nobody out */
    for (int replaced = 0; replaced < 2; replaced++) {
        assert_ok(leat_file_open(&one, in_folder("lock"), LEAT_FILE_UPDATE, err));
        assert_ok(leat_path_remove(in_folder("lock"), err));
        if (replaced) {
            assert_ok(leat_file_open(&two, in_folder("lock"), LEAT_FILE_NEW, err));
            assert_int_equal(leat_file_lock(one, NULL), LEAT_ERR_NOT_FOUND);
            assert_ok(leat_file_lock(two, err));
            leat_file_close(two);
        } else {
            assert_int_equal(leat_file_lock(one, NULL), LEAT_ERR_NOT_FOUND);
            assert_ok(leat_file_save(in_folder("lock"), "", 0, err));
        }
        leat_file_close(one);
    }
}

/* ---- folders ---- */

static void folders(void **state) {
    (void)state;
    leat_path_facts facts;
    leat_error err = {0};
    const char *deep = in_folder("tree/a//b/c/");
    assert_ok(leat_path_make_dir(deep, err));
    assert_ok(leat_path_make_dir(deep, err));
    assert_ok(leat_path_stat(in_folder("tree/a/b/c"), &facts, err));
    assert_int_equal(facts.kind, LEAT_PATH_DIR);
    assert_ok(leat_file_save(in_folder("tree/a/file"), "abc", 3, err));
    assert_ok(leat_path_stat(in_folder("tree/a/file"), &facts, err));
    assert_int_equal(facts.kind, LEAT_PATH_FILE);
    assert_int_equal(facts.size_bytes, 3);
    assert_true(facts.mtime_ns > INT64_C(1000000000) * 1000000000);
    assert_true(leat_path_make_dir(in_folder("tree/a/file/x"), &err) != LEAT_OK);
    assert_true(leat_path_make_dir("", &err) != LEAT_OK);
    assert_ok(leat_path_stat(in_folder("tree/a/file/x"), &facts, err));
    assert_int_equal(facts.kind, LEAT_PATH_NONE);
    assert_ok(leat_path_rename(in_folder("tree/a/file"), in_folder("tree/a/b/c/new"), err));
    assert_int_equal(leat_path_rename(in_folder("tree/a/file"), in_folder("x"), NULL),
                     LEAT_ERR_NOT_FOUND);
    assert_ok(leat_path_sync_dir(in_folder("tree/a"), err));
    assert_int_equal(leat_path_sync_dir(in_folder("nowhere"), NULL), LEAT_ERR_NOT_FOUND);
    assert_true(leat_path_free_bytes(folder) > 0);
    assert_int_equal(leat_path_free_bytes(in_folder("nowhere")), -1);
    /* links are removed, not what they lead to */
    assert_ok(leat_file_save(in_folder("kept"), "k", 1, err));
    assert_ok(leat_path_make_dir(in_folder("kept_dir"), err));
    assert_ok(leat_file_save(in_folder("kept_dir/file"), "k", 1, err));
    assert_int_equal(symlink(in_folder("kept"), in_folder("tree/link")), 0);
    assert_int_equal(symlink(in_folder("kept_dir"), in_folder("tree/link_dir")), 0);
    assert_int_equal(symlink("nowhere", in_folder("tree/broken")), 0);
    assert_ok(leat_path_remove_tree(in_folder("tree"), err));
    assert_ok(leat_path_stat(in_folder("tree"), &facts, err));
    assert_int_equal(facts.kind, LEAT_PATH_NONE);
    assert_ok(leat_path_remove_tree(in_folder("tree"), err));
    assert_ok(leat_path_stat(in_folder("kept_dir/file"), &facts, err));
    assert_int_equal(facts.kind, LEAT_PATH_FILE);
    assert_ok(leat_path_remove(in_folder("kept"), err));
    assert_ok(leat_path_remove(in_folder("kept"), err));
}

/* What a name stands for: the first file in it if it is a folder; "" if there is none. */
static const char *content_of(const char *path) {
    static char text[256];
    leat_path_facts facts;
    uint8_t *bytes = NULL;
    int64_t size_bytes = 0;
    char file[512];
    text[0] = 0;
    assert_ok(leat_path_stat(path, &facts, err));
    if (facts.kind == LEAT_PATH_NONE) return text;
    snprintf(file, sizeof file, "%s%s", path, facts.kind == LEAT_PATH_DIR ? "/file" : "");
    assert_ok(leat_file_load(file, sizeof text - 1, &bytes, &size_bytes, err));
    memcpy(text, bytes, (size_t)size_bytes + 1);
    leat_free(bytes);
    return text;
}

static void replacing(void **state) {
    (void)state;
    for (int is_folder = 0; is_folder < 2; is_folder++) {
        for (int there = 0; there < 2; there++) {
            const char *from = in_folder("from"), *to = in_folder("to");
            char file[2][512];
            snprintf(file[0], sizeof file[0], "%s%s", from, is_folder ? "/file" : "");
            snprintf(file[1], sizeof file[1], "%s%s", to, is_folder ? "/file" : "");
            if (is_folder) assert_ok(leat_path_make_dir(from, err));
            if (is_folder && there) assert_ok(leat_path_make_dir(to, err));
            assert_ok(leat_file_save(file[0], "new", 3, err));
            if (there) assert_ok(leat_file_save(file[1], "old", 3, err));
            assert_ok(leat_path_replace(from, to, err));
            assert_string_equal(content_of(to), "new");
            assert_string_equal(content_of(from), "");
            assert_ok(leat_path_remove_tree(to, err));
        }
    }
    assert_int_equal(leat_path_replace(in_folder("nowhere"), in_folder("to"), NULL),
                     LEAT_ERR_NOT_FOUND);
}

static void folders_to_write_to(void **state) {
    (void)state;
    leat_error err = {0};
    assert_ok(leat_folder_can_write(in_folder("."), err));
    assert_int_equal(leat_folder_can_write(in_folder("none"), &err), LEAT_ERR_NOT_FOUND);
    assert_ok(leat_file_save(in_folder("plain"), "x", 1, err));
    assert_int_equal(leat_folder_can_write(in_folder("plain"), &err), LEAT_ERR_EXISTS);
    assert_non_null(strstr(err.message, "is not a folder"));
    if (geteuid() == 0) return; /* may write everywhere */
    assert_int_equal(mkdir(in_folder("closed"), 0500), 0);
    assert_int_equal(leat_folder_can_write(in_folder("closed"), &err), LEAT_ERR_IO);
    assert_non_null(strstr(err.message, "Permission denied"));
}

static void names_of_paths(void **state) {
    (void)state;
    static const char *const names[] = {"b", "a", "c.x", "aa", "B", "a.x"};
    static const char *const sorted[] = {"B", "a", "a.x", "aa", "b", "c.x"};
    leat_path_list list = {0};
    leat_error err = {0};
    char path[16];
    assert_ok(leat_path_make_dir(in_folder("names"), err));
    for (int i = 0; i < 6; i++) {
        char name[32];
        snprintf(name, sizeof name, "names/%s", names[i]);
        assert_ok(leat_file_save(in_folder(name), "", 0, err));
    }
    assert_ok(leat_path_list_dir(in_folder("names"), &list, err));
    assert_int_equal(list.count, 6);
    for (int i = 0; i < 6; i++) assert_string_equal(list.paths[i], sorted[i]);
    leat_path_list_free(&list);
    assert_ok(leat_path_glob(in_folder("names/*.x"), &list, err));
    assert_int_equal(list.count, 2);
    assert_string_equal(list.paths[1], in_folder("names/c.x"));
    leat_path_list_free(&list);
    assert_int_equal(leat_path_glob(in_folder("names/*.y"), &list, &err), LEAT_ERR_NOT_FOUND);
    assert_int_equal(leat_path_glob(in_folder("none/*.y"), &list, &err), LEAT_ERR_NOT_FOUND);
    assert_int_equal(list.count, 0);
    assert_int_equal(leat_path_list_dir(in_folder("nowhere"), &list, &err), LEAT_ERR_NOT_FOUND);
    assert_ok(leat_path_join(path, sizeof path, "1234567", "1234567", err));
    assert_string_equal(path, "1234567/1234567");
    assert_int_equal(leat_path_join(path, sizeof path, "1234567", "12345678", NULL),
                     LEAT_ERR_LIMIT);
    assert_true(leat_path_has_suffix("a.csv", ".csv"));
    assert_false(leat_path_has_suffix(".csv", ".csv"));
    assert_false(leat_path_has_suffix("a.csv.gz", ".csv"));
    assert_false(leat_path_has_suffix("v", ".csv"));
    assert_string_equal(path, "");
}

/* ---- the sink ---- */

/* Writes of any sizes give the same bytes and digests as one pass over all of them. */
static void sink(void **state) {
    (void)state;
    enum { MOST = 300000 };
    static uint8_t all[MOST];
    static const struct {
        int64_t size_bytes, buffer_bytes, writeback_bytes;
    } cases[] = {{0, 0, 0},          {1, 4096, 0},         {4096, 4096, 1},
                 {4097, 4096, 5000}, {MOST, 8192, 100000}, {MOST, 0, 0}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        int64_t size_bytes = cases[c].size_bytes;
        leat_sink_options options = {.buffer_bytes = cases[c].buffer_bytes,
                                     .want_sha256 = true,
                                     .want_page_hashes = true,
                                     .writeback_bytes = cases[c].writeback_bytes};
        leat_file *file = NULL;
        leat_sink *self = NULL;
        assert_ok(leat_file_open(&file, in_folder("sink"), LEAT_FILE_CREATE, err));
        assert_ok(leat_sink_create(&self, file, &options, err));
        for (int64_t at = 0, k = 0; at < size_bytes; k++) {
            int64_t step = 1 + (int64_t)leat_random_below(leat_random(c, 1, (uint64_t)k), 9000);
            if (step > size_bytes - at) step = size_bytes - at;
            for (int64_t i = at; i < at + step; i++) {
                all[i] = k % 4 == 3 ? 0 : (uint8_t)leat_random(c, 2, (uint64_t)i);
            }
            if (k % 4 == 3) assert_ok(leat_sink_zeros(self, step, err));
            else assert_ok(leat_sink_write(self, all + at, step, err));
            at += step;
            assert_int_equal(leat_sink_position(self), at);
        }
        assert_ok(leat_sink_finish(self, err));
        leat_sha256 sha;
        uint8_t want[32], got[32];
        leat_sha256_init(&sha);
        leat_sha256_update(&sha, all, size_bytes);
        leat_sha256_final(&sha, want);
        leat_sink_sha256(self, got);
        assert_memory_equal(got, want, 32);
        int64_t pages = 0;
        const uint64_t *hashes = leat_sink_page_hashes(self, &pages);
        assert_int_equal(pages, (size_bytes + LEAT_PAGE_BYTES - 1) / LEAT_PAGE_BYTES);
        for (int64_t p = 0; p < pages; p++) {
            int64_t at = p * LEAT_PAGE_BYTES;
            int64_t size = size_bytes - at < LEAT_PAGE_BYTES ? size_bytes - at : LEAT_PAGE_BYTES;
            assert_int_equal(hashes[p], leat_xxh3(all + at, size));
        }
        leat_sink_destroy(self);
        leat_file_close(file);
        uint8_t *bytes = NULL;
        int64_t stored = 0;
        assert_ok(leat_file_load(in_folder("sink"), MOST, &bytes, &stored, err));
        assert_int_equal(stored, size_bytes);
        assert_memory_equal(bytes, all, (size_t)stored);
        leat_free(bytes);
    }
    leat_sink_destroy(NULL);
}

/* Another digest taken beside the file's changes neither, whichever of the two is longer. */
static void sink_beside(void **state) {
    (void)state;
    static uint8_t bytes[100000];
    static const struct {
        int64_t before, beside, written;
    } cases[] = {{0, 0, 0},     {0, 100, 0},         {0, 0, 9000},        {10, 64, 64},
                 {63, 65, 300}, {5000, 100000, 700}, {5000, 700, 100000}, {1, 99999, 100000}};
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)leat_random(1, 1, i);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        for (int hashed = 0; hashed < 2; hashed++) {
            leat_sink_options options = {.buffer_bytes = 8192, .want_sha256 = hashed};
            leat_file *file = NULL;
            leat_sink *self = NULL;
            leat_sha256 sha, want;
            uint8_t got_bytes[32], want_bytes[32];
            assert_ok(leat_file_open(&file, in_folder("beside"), LEAT_FILE_CREATE, err));
            assert_ok(leat_sink_create(&self, file, &options, err));
            leat_sha256_init(&sha);
            assert_ok(leat_sink_write(self, bytes, cases[c].before, err));
            leat_sink_beside(self, &sha, bytes, cases[c].beside);
            for (int64_t at = 0; at < cases[c].written; at += 1000) {
                int64_t left = cases[c].written - at;
                assert_ok(leat_sink_write(self, bytes + at, left < 1000 ? left : 1000, err));
            }
            leat_sink_beside_end(self);
            assert_ok(leat_sink_write(self, bytes, 77, err));
            assert_ok(leat_sink_finish(self, err));
            leat_sha256_final(&sha, got_bytes);
            leat_sha256_init(&want);
            leat_sha256_update(&want, bytes, cases[c].beside);
            leat_sha256_final(&want, want_bytes);
            assert_memory_equal(got_bytes, want_bytes, 32);
            leat_sha256_init(&want);
            leat_sha256_update(&want, bytes, cases[c].before);
            leat_sha256_update(&want, bytes, cases[c].written);
            leat_sha256_update(&want, bytes, 77);
            leat_sha256_final(&want, want_bytes);
            leat_sink_sha256(self, got_bytes);
            if (hashed) assert_memory_equal(got_bytes, want_bytes, 32);
            leat_sink_destroy(self);
            leat_file_close(file);
        }
    }
}

/* ---- threads ---- */

static void processors_and_clock(void **state) {
    (void)state;
    assert_in_range(leat_cpu_count(), 1, LEAT_THREADS_MAX);
    int64_t before = leat_clock_ns();
    usleep(2000);
    assert_true(leat_clock_ns() - before >= 1900000);
}

/* ---- progress ---- */

/* What leat asks for the time is defined here: the true clock, or one that only the tests move, so
 * that nothing depends on how long they are kept waiting. */
static _Atomic int64_t test_clock_ns;   /* 0: the true one */
static leat_ticker *_Atomic other_adds; /* as another thread may, after the clock was read */

int clock_gettime(clockid_t clock, struct timespec *now) {
    int64_t ns = atomic_load(&test_clock_ns);
    if (ns == 0) return (int)syscall(SYS_clock_gettime, clock, now);
    leat_ticker *ticker = atomic_exchange(&other_adds, NULL);
    if (ticker != NULL) {
        atomic_fetch_add(&test_clock_ns, 1);
        leat_ticker_add(ticker, 1);
    }
    *now = (struct timespec){ns / 1000000000, ns % 1000000000};
    return 0;
}

static const int64_t ms = 1000000;

typedef struct listener {
    atomic_int calls, inside;
    atomic_bool overlapped;
    int stop_at;
    leat_progress last;
} listener;

static bool listen(void *user, const leat_progress *progress) {
    listener *self = user;
    if (atomic_fetch_add(&self->inside, 1) != 0) atomic_store(&self->overlapped, true);
    self->last = *progress;
    int calls = atomic_fetch_add(&self->calls, 1) + 1;
    usleep(1000);
    atomic_fetch_sub(&self->inside, 1);
    return calls != self->stop_at;
}

static void progress(void **state) {
    (void)state;
    listener self = {.stop_at = 4};
    leat_ticker ticker;
    atomic_store(&test_clock_ns, 1000 * ms);
    leat_ticker_create(&ticker, listen, &self);
    leat_ticker_stage(&ticker, "reading", "bytes", 100);
    assert_int_equal(atomic_load(&self.calls), 1); /* a stage says so at once */
    assert_string_equal(self.last.stage, "reading");
    assert_string_equal(self.last.unit, "bytes");
    assert_int_equal(self.last.done, 0);
    assert_int_equal(self.last.total, 100);
    for (int i = 0; i < 1000; i++) assert_true(leat_ticker_add(&ticker, 1));
    atomic_fetch_add(&test_clock_ns, 100 * ms - 1);
    assert_true(leat_ticker_add(&ticker, 0));
    assert_int_equal(atomic_load(&self.calls), 1); /* and then it is silent for a while */
    atomic_fetch_add(&test_clock_ns, 1);
    assert_true(leat_ticker_add(&ticker, 5));
    assert_int_equal(atomic_load(&self.calls), 2);
    assert_int_equal(self.last.done, 1005);
    assert_int_equal(self.last.total, 1005); /* the total was too low */
    assert_ok(leat_ticker_check(&ticker, err));
    leat_ticker_stage(&ticker, "writing", "rows", -1); /* how the last stage ended; and this one */
    assert_int_equal(atomic_load(&self.calls), 4);
    assert_int_equal(self.last.done, 0);
    leat_error err = {0};
    assert_int_equal(leat_ticker_check(&ticker, &err), LEAT_ERR_CANCELLED);
    assert_non_null(strstr(err.message, "writing"));
    atomic_fetch_add(&test_clock_ns, 110 * ms);
    assert_false(leat_ticker_add(&ticker, 1));
    assert_int_equal(atomic_load(&self.calls), 4); /* nobody is asked twice whether to stop */
    leat_ticker_destroy(&ticker);
    /* without a listener everything is silent */
    leat_ticker_create(&ticker, NULL, NULL);
    leat_ticker_stage(&ticker, "reading", "bytes", 100);
    assert_true(leat_ticker_add(&ticker, 1));
    assert_ok(leat_ticker_check(&ticker, err));
    assert_ok(leat_ticker_reach(&ticker, 7, err));
    assert_ok(leat_ticker_reach(&ticker, 5, err));
    assert_int_equal(atomic_load(&ticker.done), 7);
    leat_ticker_destroy(&ticker);
    leat_ticker_stage(NULL, "reading", "bytes", 100);
    assert_ok(leat_ticker_step(NULL, 1, err));
    assert_ok(leat_ticker_reach(NULL, 1, err));
}

static leat_code tick(void *context, int index, leat_error *err) {
    (void)index;
    (void)err;
    for (int i = 0; i < 250; i++) {
        atomic_fetch_add(&test_clock_ns, ms);
        (void)leat_ticker_add(context, 1);
        usleep(100);
    }
    return LEAT_OK;
}

/* 2000 ms of the test's clock: a report at the start, and at most one in each 100 ms. */
static void progress_of_threads(void **state) {
    (void)state;
    listener self = {0};
    leat_ticker ticker;
    atomic_store(&test_clock_ns, 1000 * ms);
    leat_ticker_create(&ticker, listen, &self);
    leat_ticker_stage(&ticker, "x", "y", 2000);
    assert_ok(run_threads(8, tick, &ticker, err));
    assert_false(atomic_load(&self.overlapped));
    assert_in_range(atomic_load(&self.calls), 2, 21);
    assert_int_equal(atomic_load(&ticker.done), 2000);
    /* two threads that are due at once */
    int calls = atomic_load(&self.calls);
    atomic_fetch_add(&test_clock_ns, 100 * ms);
    atomic_store(&other_adds, &ticker);
    assert_true(leat_ticker_add(&ticker, 1));
    assert_int_equal(atomic_load(&self.calls), calls + 1);
    assert_int_equal(atomic_load(&ticker.done), 2002);
    leat_ticker_destroy(&ticker);
}

/* ---- random numbers ---- */

static void random_numbers(void **state) {
    (void)state;
    /* fixed for ever: splits of data sets and plans of samplers depend on them */
    static const struct {
        uint64_t seed, stream, position, bits;
    } cases[] = {
        {0, 0, 0, UINT64_C(0xd9dfee5d0039b834)},
        {1, 0, 0, UINT64_C(0x31f5b693b9066f5a)},
        {0, 1, 0, UINT64_C(0x15f5a3a08e891d6b)},
        {0, 0, 1, UINT64_C(0xe2768f47dd402233)},
        {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_C(0x5d6fa012db0a163b)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(leat_random(cases[i].seed, cases[i].stream, cases[i].position),
                         cases[i].bits);
    }
    assert_true(leat_random_unit(0) == 0);
    assert_true(leat_random_unit(UINT64_MAX) < 1);
    assert_true(leat_random_unit(UINT64_C(1) << 63) == 0.5);
    assert_int_equal(leat_random_below(0, 10), 0);
    assert_int_equal(leat_random_below(UINT64_MAX, 10), 9);
    assert_int_equal(leat_random_below(UINT64_C(1) << 63, 10), 5);
    assert_int_equal(leat_random_below(12345, 1), 0);
}

/* Each bit of the output is fair, for counting positions, streams and seeds alike. */
static void random_bits(void **state) {
    (void)state;
    enum { DRAWS = 20000 };
    for (int way = 0; way < 3; way++) {
        int64_t ones[64] = {0}, same = 0;
        double sum = 0;
        uint64_t last = 0;
        for (uint64_t i = 0; i < DRAWS; i++) {
            uint64_t bits = way == 0   ? leat_random(9, 9, i)
                            : way == 1 ? leat_random(9, i, 9)
                                       : leat_random(i, 9, 9);
            for (int b = 0; b < 64; b++) ones[b] += bits >> b & 1;
            sum += leat_random_unit(bits);
            same += __builtin_popcountll(~(bits ^ last));
            last = bits;
        }
        double deviation = sqrt(DRAWS) / 2;
        for (int b = 0; b < 64; b++) {
            assert_true(fabs((double)ones[b] - DRAWS / 2.0) < 5.5 * deviation);
        }
        assert_true(fabs(sum / DRAWS - 0.5) < 5.5 * sqrt(1.0 / 12 / DRAWS));
        assert_true(fabs((double)same / (32.0 * DRAWS) - 1) < 0.01);
    }
}

static int true_clock(void **state) {
    (void)state;
    atomic_store(&test_clock_ns, 0);
    return 0;
}

static int setup(void **state) {
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/leat-base-XXXXXX", base != NULL ? base : "/tmp");
    return mkdtemp(folder) == NULL;
}

static int teardown(void **state) {
    (void)state;
    return leat_path_remove_tree(folder, NULL) != LEAT_OK;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(assertions),
        cmocka_unit_test(codes),
        cmocka_unit_test(messages),
        cmocka_unit_test(sizes),
        cmocka_unit_test(allocation),
        cmocka_unit_test(growing),
        cmocka_unit_test(open_modes),
        cmocka_unit_test(reading),
        cmocka_unit_test(whole_files),
        cmocka_unit_test(locks),
        cmocka_unit_test(folders),
        cmocka_unit_test(replacing),
        cmocka_unit_test(folders_to_write_to),
        cmocka_unit_test(names_of_paths),
        cmocka_unit_test(sink),
        cmocka_unit_test(sink_beside),
        cmocka_unit_test(processors_and_clock),
        cmocka_unit_test_teardown(progress, true_clock),
        cmocka_unit_test(random_numbers),
        cmocka_unit_test_teardown(progress_of_threads, true_clock),
        cmocka_unit_test(random_bits),
    };
    return cmocka_run_group_tests_name("base", tests, setup, teardown);
}
