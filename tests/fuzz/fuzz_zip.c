/* Zip archives of any bytes: the directory and every member that is not large are read, through the
 * library and leat's own callbacks. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/zip/zip.h"

enum { MEMBERS_MAX = 40, BYTES_MAX = 1 << 16 };

static void read_member(leat_zip *zip, int64_t index) {
    static uint8_t out[BYTES_MAX];
    leat_zip_member member;
    leat_error err = {0};
    leat_code code = leat_zip_get(zip, index, &member, &err);
    if (code != LEAT_OK && err.message[0] == 0) abort();
    if (code != LEAT_OK || member.size_bytes > BYTES_MAX) return;
    if (member.size_bytes < 0 || strlen(member.name) > 3 * LEAT_ZIP_NAME_BYTES_MAX) abort();
    code = leat_zip_read(zip, index, out, member.size_bytes, &err);
    if (code == LEAT_OK && member.unsupported != NULL) abort();
    if (code != LEAT_OK && err.message[0] == 0) abort();
    /* what can be read completely can be read in part */
    if (code == LEAT_OK && leat_zip_peek(zip, index, out, member.size_bytes / 2, &err) != LEAT_OK)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static char path[] = "/tmp/leat-fuzz-zip-XXXXXX";
    static int made = -1;
    leat_zip *zip = NULL;
    leat_error err = {0};
    if (made < 0) made = mkstemp(path);
    if (made < 0 || ftruncate(made, 0) != 0 || pwrite(made, data, size, 0) != (ssize_t)size)
        abort();
    leat_code code = leat_zip_open(&zip, path, &err);
    if (code != LEAT_OK) {
        if (zip != NULL || err.message[0] == 0) abort();
        return 0;
    }
    int64_t count = leat_zip_count(zip);
    for (int64_t i = 0; i < count && i < MEMBERS_MAX; i++) read_member(zip, i);
    leat_zip_close(zip);
    return 0;
}
