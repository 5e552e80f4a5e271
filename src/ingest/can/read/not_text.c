/* Files that are not logs of lines, by the beginning of their contents: what they are, and what
 * converts them. */
#include <stdio.h>

#include "base/error.h"
#include "ingest/can/read/known_logs.h"

/* How the beginning of a file shows that it is not UTF-8: as in UTF-16, every second byte is 0, or
 * it begins with the mark of UTF-16; or many bytes are 0 anywhere. */
typedef enum encoding { UTF8, UTF16, BINARY } encoding;
static encoding encoding_of(const char *text, int64_t size_bytes) {
    enum { LOOKED_AT = 64 };
    int64_t zeros[2] = {0}, size = size_bytes < LOOKED_AT ? size_bytes : LOOKED_AT;
    for (int64_t i = 0; i < size; i++) zeros[i % 2] += text[i] == 0;
    if (size < 4 || 4 * (zeros[0] + zeros[1]) < size) return UTF8;
    bool mark = memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0;
    return mark || zeros[0] == 0 || zeros[1] == 0 ? UTF16 : BINARY;
}

/* Files that are not text, by their first bytes, and what converts them. */
static leat_code check_binary(const char *text, int64_t size_bytes, const char *path,
                              leat_error *err) {
    for (const leat_can_binary_row *row = leat_can_binary_files; row->begin != NULL; row++) {
        if (size_bytes < row->size_bytes || memcmp(text, row->begin, (size_t)row->size_bytes) != 0)
            continue;
        return leat_fail(err, LEAT_ERR_INPUT, "\"%s\" is %s, not a log of lines; %s", path,
                         row->what, row->how);
    }
    return LEAT_OK;
}

/* A workbook is a zip whose first members have such names. */
static bool is_workbook(const char *text, int64_t size_bytes) {
    enum { LOOKED_AT = 512 };
    size_t size = (size_t)(size_bytes < LOOKED_AT ? size_bytes : LOOKED_AT);
    bool zip = size > 4 && memcmp(text, "PK\3\4", 4) == 0;
    return zip && (memmem(text, size, "[Content_Types].xml", 19) != NULL ||
                   memmem(text, size, "xl/", 3) != NULL);
}

leat_code leat_can_refuse_cr(const char *path, leat_error *err) {
    return leat_fail(err, LEAT_ERR_INPUT,
                     "\"%s\": its lines end with CR only; convert it: tr '\\r' '\\n'", path);
}

leat_code leat_can_check_text(const char *text, int64_t size_bytes, const char *path,
                              leat_error *err) {
    if (is_workbook(text, size_bytes))
        return leat_fail(err, LEAT_ERR_INPUT, "\"%s\" is a workbook of Excel; save it as csv",
                         path);
    for (const leat_can_packed_row *row = leat_can_packed_files; row->begin != NULL; row++) {
        int64_t size = (int64_t)strlen(row->begin);
        if (size_bytes > size && memcmp(text, row->begin, (size_t)size) == 0)
            return leat_fail(err, LEAT_ERR_INPUT, "\"%s\" is a %s file; unpack it first", path,
                             row->what);
    }
    LEAT_TRY(check_binary(text, size_bytes, path, err));
    encoding is = encoding_of(text, size_bytes);
    if (is == UTF16)
        return leat_fail(err, LEAT_ERR_INPUT,
                         "\"%s\" is UTF-16; convert it: iconv -f UTF-16 -t UTF-8", path);
    if (is == BINARY)
        return leat_fail(err, LEAT_ERR_INPUT,
                         "\"%s\" is a binary file, not a log of lines; convert it to text", path);
    const char *feed = memchr(text, '\n', (size_t)size_bytes);
    const char *end = feed != NULL ? feed : text + size_bytes;
    int returns = 0;
    for (const char *at = text; at + 1 < end; at++) returns += *at == '\r' && at[1] != '\r';
    return returns < 2 ? LEAT_OK : leat_can_refuse_cr(path, err);
}
