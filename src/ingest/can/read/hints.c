/* What helps with a csv whose lines are rejected: the option that says how its values are written,
 * or that they are not read. From the first rejected line, whose reason is known. */
#include <stdio.h>
#include <string.h>

#include "ingest/can/read/pieces.h"
#include "ingest/can/read/table.h"

enum { ID_MAX = 0x1fffffff };

static int64_t count_of(leat_text text, const char *letters) {
    int64_t count = 0;
    for (int i = 0; i < text.size_bytes; i++)
        count += text.data[i] != 0 && strchr(letters, text.data[i]) != NULL;
    return count;
}

static bool is_decimal(leat_text text) {
    return text.size_bytes > 0 && count_of(text, "0123456789") == text.size_bytes;
}

/* 1600000000000: too large for seconds. */
static void hint_time(leat_text cell, const char *name, char *hint, size_t size) {
    int64_t digits = 0;
    while (digits < cell.size_bytes && cell.data[digits] >= '0' && cell.data[digits] <= '9')
        digits++;
    const char *unit = digits >= 18 ? "ns" : digits >= 15 ? "us" : "ms";
    bool number = digits == cell.size_bytes || cell.data[digits] == '.';
    if (number && digits >= 12)
        snprintf(hint, size, "if its times are not seconds, use --column time=%s:%s", name, unit);
    else if (digits > 0 && digits < cell.size_bytes && cell.data[digits] == ',')
        snprintf(hint, size, "times with a decimal comma are not read; write points");
    else if (count_of(cell, ":") > 0 || count_of(cell, "-/") > 1)
        snprintf(hint, size, "dates are not read; convert times to seconds");
}

/* 217056561, 131x, 131h, 305.0 */
static void hint_id(leat_text cell, const char *name, char *hint, size_t size) {
    int64_t value = 0;
    for (int i = 0; i < cell.size_bytes && i < 12; i++) value = 10 * value + (cell.data[i] - '0');
    if (is_decimal(cell) && value <= ID_MAX)
        snprintf(hint, size, "if its identifiers are decimal, use --column id=%s:dec", name);
    else if (!is_decimal(cell) && cell.size_bytes > 0)
        snprintf(hint, size,
                 "identifiers are hexadecimal digits, also with 0x, or with --column id=%s:dec "
                 "decimal ones; convert them",
                 name);
}

/* "202 24 37" */
static bool has_decimal_bytes(leat_text cell) {
    const char *at = cell.data, *end = at + cell.size_bytes;
    int words = 0, value = 0;
    for (leat_text word; (word = next_word(&at, end)).size_bytes > 0; words++) {
        if (word.size_bytes > 3 || !read_count(word, 255, &value)) return false;
    }
    return words > 1;
}

static void hint_payload(leat_text cell, const char *name, char *hint, size_t size) {
    if (has_decimal_bytes(cell))
        snprintf(hint, size, "if its bytes are decimal, use --column data=%s:dec", name);
    else if (cell.size_bytes >= 8 && count_of(cell, "01") == cell.size_bytes)
        snprintf(hint, size, "if its payloads are bits, use --column data=%s:bits", name);
    else if (cell.size_bytes > 1 && (cell.data[0] == 'b' || cell.data[0] == 'B') &&
             cell.data[1] == '\'')
        snprintf(hint, size, "payloads like b'...' are not read; write hexadecimal digits");
}

/* The column of this kind, and its name or number. */
static int find_column(const leat_can_layout *layout, const leat_text *names, int kind,
                       char name[48]) {
    for (int i = 0; i < layout->column_count; i++) {
        if (layout->column[i] != kind) continue;
        if (names != NULL) leat_text_show(name, 48, names[i].data, names[i].size_bytes);
        else snprintf(name, 48, "%d", i + 1);
        return i;
    }
    return -1;
}

void leat_can_hint(const leat_can_layout *layout, leat_text header, leat_text line,
                   leat_can_reject reason, char *hint, size_t hint_bytes) {
    enum { CELLS_MAX = LEAT_CAN_COLUMNS_MAX + LEAT_CAN_FD_BYTES };
    leat_text names[LEAT_CAN_COLUMNS_MAX], cells[CELLS_MAX];
    char name[48] = "";
    hint[0] = 0;
    int kind = reason == LEAT_CAN_REJECT_TIME ? LEAT_CAN_COLUMN_TIME
               : reason == LEAT_CAN_REJECT_ID ? LEAT_CAN_COLUMN_ID
                                              : LEAT_CAN_COLUMN_PAYLOAD;
    if (layout->format != LEAT_CAN_CSV || reason == LEAT_CAN_REJECT_BUS) return;
    if (reason == LEAT_CAN_REJECT_NO_LABEL) {
        snprintf(hint, hint_bytes,
                 "an empty label is not taken for benign; if it is, write 0 there");
        return;
    }
    int count = leat_can_split_cells(header.data, header.data + header.size_bytes, layout->part,
                                     names, LEAT_CAN_COLUMNS_MAX);
    bool named = layout->named && count == layout->column_count;
    int column = find_column(layout, named ? names : NULL, kind, name);
    count = leat_can_split_cells(line.data, line.data + line.size_bytes, layout->part, cells,
                                 CELLS_MAX);
    if (column < 0 || column >= count) return;
    if (kind == LEAT_CAN_COLUMN_TIME) hint_time(cells[column], name, hint, hint_bytes);
    else if (kind == LEAT_CAN_COLUMN_ID) hint_id(cells[column], name, hint, hint_bytes);
    else hint_payload(cells[column], name, hint, hint_bytes);
}

/* ---- whole files ---------------------------------------------------------------------------- */

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

/* Formats of recorders that are not text, by their first bytes, and what converts them. */
static leat_code check_binary(const char *text, int64_t size_bytes, const char *path,
                              leat_error *err) {
    static const struct {
        const char *begin;
        int size;
        const char *what, *suffix;
        bool packets;
    } known[] = {
        {"LOGG", 4, "a BLF file of Vector", "blf", false},
        {"MDF     ", 8, "an MDF file of ASAM", "mf4", false},
        {"UnFinMF ", 8, "an unfinished MDF file of ASAM", "mf4", false},
        {"SQLite format 3", 16, "an SQLite database", "db", false},
        {"\xd4\xc3\xb2\xa1", 4, "a pcap file", "pcap", true},
        {"\xa1\xb2\xc3\xd4", 4, "a pcap file", "pcap", true},
        {"\x4d\x3c\xb2\xa1", 4, "a pcap file", "pcap", true},
        {"\xa1\xb2\x3c\x4d", 4, "a pcap file", "pcap", true},
        {"\x0a\x0d\x0d\x0a", 4, "a pcapng file", "pcapng", true},
    };
    char how[224];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (size_bytes < known[i].size || memcmp(text, known[i].begin, (size_t)known[i].size) != 0)
            continue;
        if (!known[i].packets)
            snprintf(how, sizeof how, "python3 -m can.logconvert FILE.%s FILE.log (python-can)",
                     known[i].suffix);
        else
            snprintf(how, sizeof how,
                     "tshark -r FILE.%s -T fields -E separator=, -e frame.time_epoch -e can.id -e "
                     "data.data > FILE.csv, and read that with --column time=1,id=2,data=3",
                     known[i].suffix);
        return leat_fail(err, LEAT_ERR_INPUT, "\"%s\" is %s, not text; convert it: %s", path,
                         known[i].what, how);
    }
    return LEAT_OK;
}

leat_code leat_can_check_text(const char *text, int64_t size_bytes, const char *path,
                              leat_error *err) {
    static const struct {
        const char *begin, *what;
    } packed[] = {{"PK\3\4", "zip"},
                  {"\x28\xb5\x2f\xfd", "zstd"},
                  {"BZh", "bzip2"},
                  {"\xfd"
                   "7zXZ",
                   "xz"},
                  {"7z\xbc\xaf", "7z"}};
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++) {
        int64_t size = (int64_t)strlen(packed[i].begin);
        if (size_bytes > size && memcmp(text, packed[i].begin, (size_t)size) == 0)
            return leat_fail(err, LEAT_ERR_INPUT, "\"%s\" is a %s file; unpack it first", path,
                             packed[i].what);
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
    if (returns < 2) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_INPUT,
                     "\"%s\": its lines end with CR only; convert it: tr '\\r' '\\n'", path);
}

const char *leat_can_hint_line(leat_text line) {
    const char *at = line.data, *end = at + line.size_bytes;
    leat_text word = next_word(&at, end);
    if (word.size_bytes == 0) return "";
    bool separator = word.size_bytes >= 4 && memcmp(word.data, "sep=", 4) == 0;
    if (word.data[0] == '#' || separator || is_word(word, "//"))
        return "its first line is neither a header nor a frame; remove it";
    if (is_word(word, "Timestamp:") && memmem(at, (size_t)(end - at), "DLC:", 4) != NULL)
        return "hcrl-text has no labels; if the last column is one, use --column "
               "time=2,id=4,dlc=7,data=8..15,label=16";
    if (word.data[0] == '(' && memchr(at, '[', (size_t)(end - at)) != NULL)
        return "candump wrote it for the screen; record logs with candump -l or -L";
    return "";
}

void leat_can_hint_numbers(const leat_can_mapping *mapping, char *out, size_t out_bytes) {
    static const struct {
        leat_can_role role;
        const char *usual;
    } roles[] = {{LEAT_CAN_ROLE_TIME, "1"}, {LEAT_CAN_ROLE_ID, "2"}, {LEAT_CAN_ROLE_DATA, "3"}};
    size_t used = 0;
    out[0] = 0;
    for (size_t i = 0; i < sizeof roles / sizeof *roles && used < out_bytes; i++) {
        const leat_can_mapped *given = mapping != NULL ? &mapping->roles[roles[i].role] : NULL;
        bool is = given != NULL && given->name[0] != 0;
        used +=
            (size_t)snprintf(out + used, out_bytes - used, "%s%s=%.20s%s%.20s", i > 0 ? "," : "",
                             leat_can_role_names[roles[i].role], is ? given->name : roles[i].usual,
                             is && given->last[0] != 0 ? ".." : "", is ? given->last : "");
    }
}
