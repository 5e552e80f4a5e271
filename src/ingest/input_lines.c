/*
 * The text of an input: that of a file, or of the only file in a zip archive. Archives of several
 * files are refused: which of them belong together, only the user knows.
 */
#include <string.h>

#include "format/zip/zip.h"
#include "ingest/source.h"

/* More members than this are not looked through, nor read if their directory is larger. (At most
 * 64 KiB at the end of a file are read to find it, and again for Zip64.) */
enum { MEMBERS_MAX = 1024, DIRECTORY_BYTES_MAX = 512 << 10 };

typedef struct zipped {
    leat_zip *zip;
    const char *path;
} zipped;

static leat_code read_zipped(void *context, void *bytes, int64_t size_bytes, int64_t *got,
                             leat_error *err) {
    zipped *self = context;
    leat_error why = {0};
    leat_code code = leat_zip_next(self->zip, bytes, size_bytes, got, &why);
    if (code == LEAT_ERR_CORRUPT)
        return leat_fail(err, code, "\"%s\": damaged zip archive: %s; get the file again",
                         self->path, why.message);
    return code == LEAT_OK ? code : leat_error_copy(err, &why);
}

static int64_t position_of_zipped(const void *context) {
    return leat_zip_position(((const zipped *)context)->zip);
}

static void close_zipped(void *context) {
    zipped *self = context;
    leat_zip_close(self->zip);
    leat_free(self);
}

/* Folders, and what systems add for themselves: hidden files, and those of macOS. */
static bool is_beside(const leat_zip_member *member) {
    const char *slash = strrchr(member->name, '/');
    const char *name = slash != NULL ? slash + 1 : member->name;
    return member->folder || name[0] == '.' || strncmp(member->name, "__MACOSX/", 9) == 0;
}

static const char remedy[] =
    "one of a single file can be read: unpack it (unzip), and give the folder with its files";

static leat_code begin_only_member(const zipped *self, leat_error *err) {
    const int64_t count = leat_zip_count(self->zip);
    int64_t files = 0, index = 0;
    for (int64_t i = 0; i < count && count <= MEMBERS_MAX; i++) {
        leat_zip_member member;
        LEAT_TRY(leat_zip_get(self->zip, i, &member, err));
        if (strcmp(member.name, "[Content_Types].xml") == 0)
            return leat_fail(err, LEAT_ERR_INPUT, "\"%s\" is a spreadsheet; save it as CSV",
                             self->path);
        if (is_beside(&member)) continue;
        if (files++ == 0) index = i;
    }
    if (files != 1)
        return leat_fail(err, LEAT_ERR_INPUT, "\"%s\": a zip archive of %lld files; %s", self->path,
                         (long long)(count > MEMBERS_MAX ? count : files), remedy);
    LEAT_TRY(leat_zip_check_alone(self->zip, false, err));
    leat_error why = {0};
    leat_code code = leat_zip_begin(self->zip, index, &why);
    if (code == LEAT_OK || code == LEAT_ERR_IO || code == LEAT_ERR_MEMORY)
        return code == LEAT_OK ? code : leat_error_copy(err, &why);
    return leat_fail(err, code, "\"%s\": %s; unpack it (unzip)", self->path, why.message);
}

leat_code leat_input_lines_open(leat_lines **out, const leat_input *input,
                                const leat_lines_options *options, leat_error *err) {
    if (!input->zip) return leat_lines_open(out, input->path, options, err);
    zipped *self = NULL;
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&self, 1, err));
    self->path = input->path;
    leat_error why = {0};
    leat_code code = leat_zip_open_small(&self->zip, input->path, DIRECTORY_BYTES_MAX, &why);
    if (code == LEAT_ERR_LIMIT)
        code = leat_fail(err, LEAT_ERR_INPUT, "%s; %s", why.message, remedy);
    else if (code != LEAT_OK) code = leat_error_copy(err, &why);
    if (code == LEAT_OK) code = begin_only_member(self, err);
    if (code != LEAT_OK) {
        close_zipped(self);
        return code;
    }
    const leat_lines_source source = {self, read_zipped, position_of_zipped, close_zipped};
    return leat_lines_open_source(out, &source, input->path, options, err);
}
