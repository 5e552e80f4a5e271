/*
 * What leat may replace: see own.h. A free name is taken by a rename that refuses to replace, or by
 * a hard link where the file system has no such rename. A name that is taken by leat's own file is
 * exchanged with the new file, so that what comes out under the other name can be checked once
 * more: it is put back if it is not leat's.
 */
#include "base/own.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

/* ---- marks ---------------------------------------------------------------------------------- */

/* PNG's signature and the head of IHDR, whose data and CRC have 17 bytes; then the chunk tEXt. */
static const char png_begin[] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
                  png_text[] = "\0\0\0\rtEXtSoftware";
enum { PNG_TEXT_AT = 33, PNG_WORD_AT = PNG_TEXT_AT + (int)sizeof png_text };

static bool has(const uint8_t *head, int64_t size_bytes, int64_t at, const char *bytes,
                int64_t count) {
    return size_bytes >= at + count && memcmp(head + at, bytes, (size_t)count) == 0;
}

leat_mark leat_own_mark(const uint8_t *head, int64_t size_bytes) {
    static const struct {
        leat_mark mark;
        const char *begins;
    } rows[] = {{LEAT_MARK_PAGE, LEAT_MARK_PAGE_BEGINS},
                {LEAT_MARK_FIGURE, LEAT_MARK_FIGURE_BEGINS},
                {LEAT_MARK_STATE, LEAT_MARK_STATE_BEGINS},
                {LEAT_MARK_CARD, LEAT_MARK_CARD_BEGINS}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (has(head, size_bytes, 0, rows[i].begins, (int64_t)strlen(rows[i].begins)))
            return rows[i].mark;
    if (has(head, size_bytes, 0, png_begin, (int64_t)sizeof png_begin - 1) &&
        has(head, size_bytes, PNG_TEXT_AT, png_text, (int64_t)sizeof png_text) &&
        has(head, size_bytes, PNG_WORD_AT, LEAT_MARK_PNG_SOFTWARE,
            (int64_t)sizeof LEAT_MARK_PNG_SOFTWARE - 1))
        return LEAT_MARK_PNG;
    return LEAT_MARK_NONE;
}

leat_mark leat_own_mark_of_name(const char *name) {
    return leat_path_has_suffix(name, ".svg")   ? LEAT_MARK_FIGURE
           : leat_path_has_suffix(name, ".csv") ? LEAT_MARK_NUMBERS
                                                : LEAT_MARK_NONE;
}

/* ---- checks --------------------------------------------------------------------------------- */

/* The first bytes of a file; *got is 0 if there is none. */
static leat_code read_head(const char *path, uint8_t head[LEAT_OWN_HEAD_BYTES], int64_t *got,
                           leat_error *err) {
    leat_file *file = NULL;
    leat_path_facts facts;
    *got = 0;
    LEAT_TRY(leat_path_stat(path, &facts, err));
    if (facts.kind != LEAT_PATH_FILE) return LEAT_OK;
    LEAT_TRY(leat_file_open(&file, path, LEAT_FILE_READ, err));
    const leat_code code = leat_file_read(file, head, LEAT_OWN_HEAD_BYTES, got, err);
    leat_file_close(file);
    return code;
}

/* Tables of figures are small; what is larger is not one, and not read. */
#define NUMBERS_BYTES_MAX (INT64_C(64) << 20)

/* Whether the figure beside the table `name` has the hash of the file `path`. */
static leat_code is_table(const char *path, const char *name, bool *own, leat_error *err) {
    uint8_t head[LEAT_OWN_HEAD_BYTES], digest[32];
    char figure[LEAT_PATH_BYTES], hex[65];
    int64_t got = 0;
    leat_path_facts facts;
    const int64_t at = (int64_t)strlen(LEAT_MARK_FIGURE_BEGINS);
    const int size = (int)strlen(name) - 4; /* without ".csv" */
    if (!leat_path_has_suffix(name, ".csv") ||
        snprintf(figure, sizeof figure, "%.*s.svg", size, name) >= (int)sizeof figure)
        return LEAT_OK;
    LEAT_TRY(read_head(figure, head, &got, err));
    if (leat_own_mark(head, got) != LEAT_MARK_FIGURE || got < at + 64) return LEAT_OK;
    LEAT_TRY(leat_path_stat(path, &facts, err));
    if (facts.size_bytes > NUMBERS_BYTES_MAX) return LEAT_OK;
    LEAT_TRY(leat_file_sha256(path, digest, err));
    leat_sha256_hex(digest, hex);
    *own = memcmp(head + at, hex, 64) == 0;
    return LEAT_OK;
}

/* Whether the file `path`, which has or had the path `name`, is leat's, of this kind. */
static leat_code is_own(const char *path, const char *name, leat_mark mark, bool *own,
                        leat_error *err) {
    uint8_t head[LEAT_OWN_HEAD_BYTES];
    int64_t got = 0;
    *own = false;
    if (mark == LEAT_MARK_NONE) return LEAT_OK;
    if (mark == LEAT_MARK_NUMBERS) return is_table(path, name, own, err);
    LEAT_TRY(read_head(path, head, &got, err));
    *own = leat_own_mark(head, got) == mark;
    return LEAT_OK;
}

static leat_code refuse(const char *path, leat_mark mark, leat_error *err) {
    static const char *const kinds[] = {[LEAT_MARK_PAGE] = "a page",
                                        [LEAT_MARK_FIGURE] = "a figure",
                                        [LEAT_MARK_NUMBERS] = "the table of a figure",
                                        [LEAT_MARK_PNG] = "a PNG",
                                        [LEAT_MARK_STATE] = "a state",
                                        [LEAT_MARK_CARD] = "a model card"};
    if (mark == LEAT_MARK_NONE)
        return leat_fail(err, LEAT_ERR_EXISTS,
                         "\"%.300s\" already exists; use another name, or --replace to overwrite "
                         "it",
                         path);
    return leat_fail(err, LEAT_ERR_EXISTS,
                     "\"%.300s\" exists and is not recognised as %s that leat wrote; use another "
                     "name, or --replace to overwrite it",
                     path, kinds[mark]);
}

leat_code leat_own_check(const char *path, leat_mark mark, leat_error *err) {
    leat_path_facts facts;
    bool own = false;
    LEAT_TRY(leat_path_stat(path, &facts, err));
    if (facts.kind == LEAT_PATH_NONE) return LEAT_OK;
    if (facts.kind == LEAT_PATH_FILE) LEAT_TRY(is_own(path, path, mark, &own, err));
    return own ? LEAT_OK : refuse(path, mark, err);
}

/* ---- the rename ----------------------------------------------------------------------------- */

/* Whether the name that was taken may go: leat's file, or a link that leads nowhere. */
static leat_code may_go(const char *path, const char *name, leat_mark mark, bool *yes,
                        leat_error *err) {
    leat_path_facts facts;
    LEAT_TRY(leat_path_stat(path, &facts, err));
    if (facts.kind != LEAT_PATH_NONE) return is_own(path, name, mark, yes, err);
    return leat_path_is_link(path, yes, err);
}

/* Exchanges the files; if the one that had the name is not leat's, they get their names back.
 * *gone: the name was free meanwhile. */
static leat_code swap(const char *from, const char *to, leat_mark mark, bool *gone,
                      leat_error *err) {
    bool own = false;
    int number = 0;
    *gone = false;
    if (!leat_path_exchange(from, to, &number)) return leat_path_rename(from, to, err);
    *gone = number == ENOENT;
    if (*gone) return LEAT_OK;
    if (number != 0)
        return leat_fail_errno(err, number, "cannot exchange \"%s\" and \"%s\"", from, to);
    leat_code code = may_go(from, to, mark, &own, err);
    if (code == LEAT_OK && own) return LEAT_OK;
    number = leat_path_put_back(from, to);
    if (number != 0)
        return leat_fail_errno(err, number, "cannot rename \"%s\" back to \"%s\"", from, to);
    return code == LEAT_OK ? refuse(to, mark, err) : code;
}

/* Names that come and go while they are looked at. */
#define RENAME_TRIES 8

leat_code leat_own_rename(const char *from, const char *to, leat_mark mark, leat_error *err) {
    bool taken = true, gone = true;
    for (int i = 0; i < RENAME_TRIES && gone; i++) {
        LEAT_TRY(leat_path_rename_new(from, to, &taken, err));
        if (!taken) return LEAT_OK;
        LEAT_TRY(leat_own_check(to, mark, err));
        LEAT_TRY(swap(from, to, mark, &gone, err));
    }
    return gone ? leat_fail_errno(err, EBUSY, "cannot rename \"%s\" to \"%s\"", from, to) : LEAT_OK;
}
