/* Zip archives: those of other programs are read or refused, and those that leat writes are read by
 * libzip, also where numbers need the records of Zip64. (tests/cli compares with Python's zipfile.)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rng.h"
#include "check.h"
#include "format/zip/zip.h"
#include "image_libraries.h"

#define GOLDEN LEAT_SOURCE_DIR "/tests/golden/zip/"
enum { TEXT_BYTES = 20 * 31 };

static char scratch[LEAT_PATH_BYTES];

static bool text_is_right(const uint8_t *bytes) {
    for (int i = 0; i < TEXT_BYTES; i += 31)
        if (memcmp(bytes + i, "the same text again and again, ", 31) != 0) return false;
    return true;
}

static int64_t find_member(leat_zip *zip, const char *name, leat_zip_member *member) {
    for (int64_t i = 0; i < leat_zip_count(zip); i++) {
        assert_ok(leat_zip_get(zip, i, member, err));
        if (strcmp(member->name, name) == 0) return i;
    }
    fail_msg("no member %s", name);
    return -1;
}

/* ---- reading -------------------------------------------------------------------------------- */

static void members(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int64_t size;
        bool folder;
        const char *unsupported;
    } cases[] = {
        {"folder/", 0, true, NULL},
        {"folder/stored", TEXT_BYTES, false, NULL},
        {"deflated", TEXT_BYTES, false, NULL},
        {"bzip2", TEXT_BYTES, false, "other than deflate"},
        {"lzma", TEXT_BYTES, false, "other than deflate"},
        {"empty", 0, false, NULL},
        {"../up", 2, false, NULL},
        {"/root", 4, false, NULL},
        {"caf\xc3\xa9", 5, false, NULL},
        {"secret", TEXT_BYTES, false, "encrypted"},
    };
    leat_zip *zip = NULL;
    assert_ok(leat_zip_open(&zip, GOLDEN "mixed.zip", err));
    assert_int_equal(leat_zip_count(zip), sizeof cases / sizeof *cases);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_zip_member member;
        uint8_t bytes[TEXT_BYTES + 1];
        assert_ok(leat_zip_get(zip, (int64_t)i, &member, err));
        assert_string_equal(member.name, cases[i].name);
        assert_int_equal(member.size_bytes, cases[i].size);
        assert_int_equal(member.folder, cases[i].folder);
        assert_int_equal(member.unsupported == NULL, cases[i].unsupported == NULL);
        if (cases[i].unsupported != NULL) {
            assert_non_null(strstr(member.unsupported, cases[i].unsupported));
            assert_fails(leat_zip_read(zip, (int64_t)i, bytes, member.size_bytes, err),
                         LEAT_ERR_UNSUPPORTED, cases[i].unsupported);
            continue;
        }
        assert_ok(leat_zip_read(zip, (int64_t)i, bytes, member.size_bytes, err));
        if (member.size_bytes == TEXT_BYTES) assert_true(text_is_right(bytes));
        if (cases[i].size > 10) {
            memset(bytes, 0, sizeof bytes);
            assert_ok(leat_zip_peek(zip, (int64_t)i, bytes, 10, err));
            assert_memory_equal(bytes, "the same t\0", 11);
            assert_fails(leat_zip_peek(zip, (int64_t)i, bytes, member.size_bytes + 1, err),
                         LEAT_ERR_CORRUPT, "fewer than");
        }
        if (cases[i].size > 0)
            assert_fails(leat_zip_read(zip, (int64_t)i, bytes, member.size_bytes - 1, err),
                         LEAT_ERR_CORRUPT, "more than");
    }
    leat_zip_close(zip);
    leat_zip_close(NULL);
}

/* A name may be of an old program's code page, and may appear twice. */
static void names_as_stored(void **state) {
    (void)state;
    leat_zip *zip = NULL;
    leat_zip_member member;
    uint8_t byte = 0;
    assert_ok(leat_zip_open(&zip, GOLDEN "latin.zip", err));
    assert_ok(leat_zip_get(zip, 0, &member, err));
    assert_string_equal(member.name, "caf\xc3\xa9");
    leat_zip_close(zip);
    assert_ok(leat_zip_open(&zip, GOLDEN "twice.zip", err));
    assert_int_equal(leat_zip_count(zip), 3);
    for (int i = 0; i < 3; i++) {
        assert_ok(leat_zip_get(zip, i, &member, err));
        assert_string_equal(member.name, i == 1 ? "b.png" : "a.png");
        assert_ok(leat_zip_read(zip, i, &byte, 1, err));
        assert_int_equal(byte, '1' + i);
    }
    leat_zip_close(zip);
}

static void wrong_members(void **state) {
    (void)state;
    static const char *const names[] = {"sum", "more", "fewer"};
    leat_zip *zip = NULL;
    leat_zip_member member;
    uint8_t bytes[TEXT_BYTES + 1];
    assert_ok(leat_zip_open(&zip, GOLDEN "wrong.zip", err));
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            int64_t index = find_member(zip, names[i], &member);
            assert_fails(leat_zip_read(zip, index, bytes, member.size_bytes, err), LEAT_ERR_CORRUPT,
                         "zip member: ");
        }
        /* a failure does not spoil the archive */
        int64_t index = find_member(zip, "good", &member);
        assert_ok(leat_zip_read(zip, index, bytes, member.size_bytes, err));
        assert_true(text_is_right(bytes));
    }
    leat_zip_close(zip);
}

static void save(const uint8_t *bytes, int64_t size_bytes) {
    leat_file *file = NULL;
    assert_ok(leat_file_open(&file, scratch, LEAT_FILE_CREATE, err));
    assert_ok(leat_file_pwrite(file, bytes, size_bytes, 0, err));
    leat_file_close(file);
}

/* Opens the bytes as an archive and reads what can be read; nothing may go wrong but an error. */
static leat_code read_everything(const uint8_t *bytes, int64_t size_bytes, int64_t *read) {
    static uint8_t out[1 << 16];
    leat_zip *zip = NULL;
    leat_error why = {0};
    save(bytes, size_bytes);
    *read = 0;
    leat_code code = leat_zip_open(&zip, scratch, &why);
    assert_true(code == LEAT_OK || (why.message[0] != 0 && zip == NULL));
    for (int64_t i = 0; code == LEAT_OK && i < leat_zip_count(zip); i++) {
        leat_zip_member member;
        if (leat_zip_get(zip, i, &member, NULL) != LEAT_OK || member.size_bytes > (1 << 16))
            continue;
        *read += leat_zip_read(zip, i, out, member.size_bytes, NULL) == LEAT_OK;
    }
    leat_zip_close(zip);
    return code;
}

static void damaged_archives(void **state) {
    (void)state;
    uint8_t *bytes = NULL;
    int64_t size = 0, read = 0, refused = 0;
    assert_ok(leat_file_load(GOLDEN "mixed.zip", 1 << 20, &bytes, &size, err));
    assert_int_equal(read_everything(bytes, size, &read), LEAT_OK);
    assert_int_equal(read, 7);
    for (int64_t cut = size - 1; cut > 0; cut -= cut > size - 40 ? 1 : 37)
        if (read_everything(bytes, cut, &read) != LEAT_ERR_CORRUPT) fail_msg("%d bytes", (int)cut);
    for (uint64_t draw = 0; draw < 300; draw++) {
        uint64_t bit = leat_random_below(leat_random_at(9, draw), (uint64_t)size * 8);
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        refused += read_everything(bytes, size, &read) != LEAT_OK || read < 7;
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    assert_true(refused > 100);
    leat_free(bytes);
    leat_zip *zip = NULL;
    save((const uint8_t *)"not a zip", 9);
    assert_fails(leat_zip_open(&zip, scratch, err), LEAT_ERR_CORRUPT, "cannot be read as a zip");
    assert_fails(leat_zip_open(&zip, GOLDEN "none.zip", err), LEAT_ERR_NOT_FOUND, "none.zip");
    assert_fails(leat_zip_open(&zip, "/", err), LEAT_ERR_IO, "");
}

/* ---- writing -------------------------------------------------------------------------------- */

typedef struct plan {
    int64_t offset, members;
    int64_t size_bytes; /* of member i: i modulo this */
} plan;

static uint8_t byte_of(int64_t member, int64_t at) { return (uint8_t)(member * 7 + at * 3); }

static int64_t write_archive(const plan *plan, leat_file *file) {
    static uint8_t bytes[1 << 16];
    leat_zip_writer *writer = NULL;
    assert_ok(leat_zip_writer_create(&writer, file, plan->offset, err));
    for (int64_t i = 0; i < plan->members; i++) {
        char name[32];
        int64_t size = i % plan->size_bytes;
        for (int64_t k = 0; k < size; k++) bytes[k] = byte_of(i, k);
        snprintf(name, sizeof name, "d/%06lld.jpg", (long long)i);
        assert_ok(leat_zip_writer_add(writer, name, bytes, size, err));
    }
    assert_ok(leat_zip_writer_finish(writer, err));
    int64_t size = leat_zip_writer_bytes(writer);
    leat_zip_writer_destroy(writer);
    return size;
}

static void check_member(leat_zip *zip, int64_t i, int64_t size_bytes) {
    static uint8_t bytes[1 << 16];
    char name[32];
    leat_zip_member member;
    snprintf(name, sizeof name, "d/%06lld.jpg", (long long)i);
    assert_ok(leat_zip_get(zip, i, &member, err));
    assert_string_equal(member.name, name);
    assert_int_equal(member.size_bytes, i % size_bytes);
    assert_ok(leat_zip_read(zip, i, bytes, member.size_bytes, err));
    for (int64_t k = 0; k < member.size_bytes; k++) assert_int_equal(bytes[k], byte_of(i, k));
}

/* A small one, one of more members than 16 bits count, and one beyond 4 GiB (a hole in the file).
 */
static void archives_written(void **state) {
    (void)state;
    static const plan plans[] = {
        {0, 0, 1},
        {0, 40, 40000},
        {0, 65534, 3},
        {0, 65535, 3},
        {0, 65600, 3},
        {INT64_C(5) << 30, 50, 300},
        {(INT64_C(1) << 32) - 500, 50, 300},
    };
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        leat_file *file = NULL;
        leat_zip *zip = NULL;
        int64_t file_bytes = 0;
        assert_ok(leat_file_open(&file, scratch, LEAT_FILE_CREATE, err));
        int64_t size = write_archive(&plans[i], file);
        assert_ok(leat_file_size(file, &file_bytes, err));
        assert_int_equal(size, file_bytes);
        leat_file_close(file);
        assert_ok(leat_zip_open(&zip, scratch, err));
        assert_int_equal(leat_zip_count(zip), plans[i].members);
        int64_t step = plans[i].members > 1000 ? 997 : 1;
        for (int64_t k = 0; k < plans[i].members; k += step)
            check_member(zip, k, plans[i].size_bytes);
        if (plans[i].members > 0) check_member(zip, plans[i].members - 1, plans[i].size_bytes);
        leat_zip_close(zip);
    }
}

static void members_refused(void **state) {
    (void)state;
    static char name[LEAT_ZIP_NAME_BYTES_MAX + 2];
    leat_file *file = NULL;
    leat_zip_writer *writer = NULL;
    memset(name, 'n', sizeof name - 1);
    assert_ok(leat_file_open(&file, scratch, LEAT_FILE_CREATE, err));
    assert_ok(leat_zip_writer_create(&writer, file, 0, err));
    assert_fails(leat_zip_writer_add(writer, name, "", 0, err), LEAT_ERR_LIMIT, "not 65536");
    assert_fails(leat_zip_writer_add(writer, "big", "", LEAT_ZIP_MEMBER_BYTES_MAX + 1, err),
                 LEAT_ERR_LIMIT, "not 2147483649");
    leat_zip_writer_destroy(writer);
    leat_zip_writer_destroy(NULL);
    leat_file_close(file);
}

int main(void) {
    if (image_libraries_missing()) return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members),          cmocka_unit_test(names_as_stored),
        cmocka_unit_test(wrong_members),    cmocka_unit_test(damaged_archives),
        cmocka_unit_test(archives_written), cmocka_unit_test(members_refused),
    };
    snprintf(scratch, sizeof scratch, "%s/test_zip_%d.zip", LEAT_BINARY_DIR, (int)getpid());
    int failed = cmocka_run_group_tests_name("zip archives", tests, NULL, NULL);
    leat_path_discard(scratch);
    return failed;
}
