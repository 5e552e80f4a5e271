/* The identity of a machine, in a file: leat_key_open. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/random.h"
#include "leat/crowd.h"

/* Two lines: the id, which all may know, and what proves it. */
enum { DIGITS = 32, LINE = DIGITS + 1, KEYS_MAX = 256, TRIES = 100 };

struct leat_key {
    leat_file *file; /* locked */
    char path[LEAT_PATH_BYTES];
    char id[DIGITS + 1], secret[DIGITS + 1];
};

/* "machine.key", then "machine-2.key", ... */
static leat_code path_of(const char *path, int number, char out[LEAT_PATH_BYTES], leat_error *err) {
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash != NULL ? slash : path, '.');
    const int stem = (int)(dot != NULL ? dot - path : (long)strlen(path));
    const int length = number == 1 ? snprintf(out, LEAT_PATH_BYTES, "%s", path)
                                   : snprintf(out, LEAT_PATH_BYTES, "%.*s-%d%s", stem, path, number,
                                              dot != NULL ? dot : "");
    if (length < LEAT_PATH_BYTES) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION, "the path of the key is too long");
}

static bool is_id(const char *id) {
    return strspn(id, "0123456789abcdef") == DIGITS && id[DIGITS] == 0;
}

/* Reads a line of the file. */
static leat_code read_line(leat_key *key, int64_t at, char id[DIGITS + 1], leat_error *err) {
    char text[LINE + 1] = {0};
    int64_t size = 0;
    LEAT_TRY(leat_file_size(key->file, &size, err));
    if (size >= at + LINE) LEAT_TRY(leat_file_pread(key->file, text, LINE, at, err));
    if (text[DIGITS] == '\n') text[DIGITS] = 0;
    if (!is_id(text))
        return leat_fail(err, LEAT_ERR_CORRUPT,
                         "\"%.300s\" is not the key of a machine: it must have two lines of 32 "
                         "hexadecimal digits; remove it, or name another file with --key",
                         key->path);
    memcpy(id, text, DIGITS + 1);
    return LEAT_OK;
}

static leat_code write_line(leat_key *key, int64_t at, char id[DIGITS + 1], leat_error *err) {
    char text[LINE + 1];
    LEAT_TRY(leat_random_hex(id, DIGITS + 1, err));
    snprintf(text, sizeof text, "%s\n", id);
    LEAT_TRY(leat_file_pwrite(key->file, text, LINE, at, err));
    return leat_file_sync(key->file, err);
}

/* Reads what a locked file has, or writes what it lacks: all of it if it is empty, the second line
 * if it is an earlier leat's, or was being written. */
static leat_code read_key(leat_key *key, leat_error *err) {
    int64_t size = 0;
    LEAT_TRY(leat_file_size(key->file, &size, err));
    if (size == 0) LEAT_TRY(write_line(key, 0, key->id, err));
    else LEAT_TRY(read_line(key, 0, key->id, err));
    if (size < (int64_t)2 * LINE) return write_line(key, LINE, key->secret, err);
    return read_line(key, LINE, key->secret, err);
}

/* Opens the file, or creates it; LEAT_ERR_NOT_FOUND: another process was faster. */
static leat_code open_file(leat_key *key, leat_error *err) {
    leat_error why = {0};
    leat_code code = leat_file_open(&key->file, key->path, LEAT_FILE_OWN, &why);
    if (code != LEAT_ERR_NOT_FOUND) return leat_error_copy(err, &why);
    code = leat_file_open(&key->file, key->path, LEAT_FILE_SECRET, &why);
    if (code == LEAT_ERR_EXISTS) return leat_fail(err, LEAT_ERR_NOT_FOUND, "%s", why.message);
    /* on success *why still says that it was missing */
    return code == LEAT_OK ? LEAT_OK : leat_error_copy(err, &why);
}

/* Takes one file; LEAT_ERR_BUSY: another process has it. */
static leat_code take(leat_key *key, leat_error *err) {
    LEAT_TRY(open_file(key, err));
    leat_code code = leat_file_lock(key->file, err);
    if (code == LEAT_OK) code = read_key(key, err);
    if (code == LEAT_OK) return LEAT_OK;
    leat_file_close(key->file);
    key->file = NULL;
    return code;
}

/* The folder of the key. */
static leat_code make_folder(const char *path, leat_error *err) {
    char folder[LEAT_PATH_BYTES];
    const char *slash = strrchr(path, '/');
    if (slash == NULL || slash == path) return LEAT_OK;
    if (slash - path >= LEAT_PATH_BYTES)
        return leat_fail(err, LEAT_ERR_OPTION, "the path of the key is too long");
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
    return leat_path_make_dir(folder, err);
}

leat_code leat_key_open(leat_key **out, const char *path, leat_error *err) {
    leat_key *key = NULL;
    leat_error why = {0};
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&key, 1, err));
    leat_code code = make_folder(path, &why);
    for (int number = 1, tries = 0; code == LEAT_OK && number <= KEYS_MAX && tries < TRIES;) {
        code = path_of(path, number, key->path, &why);
        if (code == LEAT_OK) code = take(key, &why);
        if (code == LEAT_OK) {
            *out = key;
            return LEAT_OK;
        }
        if (code == LEAT_ERR_BUSY) number++;
        else if (code == LEAT_ERR_NOT_FOUND) tries++; /* removed meanwhile */
        else break;
        code = LEAT_OK;
    }
    leat_free(key);
    if (code == LEAT_OK)
        return leat_fail(err, LEAT_ERR_BUSY, "%d processes use keys like \"%.300s\"", KEYS_MAX,
                         path);
    return leat_error_copy(err, &why);
}

void leat_key_close(leat_key *key) {
    if (key == NULL) return;
    leat_file_close(key->file);
    leat_free(key);
}

const char *leat_key_id(const leat_key *key) { return key->id; }
const char *leat_key_secret(const leat_key *key) { return key->secret; }
const char *leat_key_path(const leat_key *key) { return key->path; }
