/*
 * Zip archives through libzip, the only file that knows it: see zip.h. The library is opened at run
 * time, and reads the file through leat's own door, so that errors of the disk are reported as
 * such.
 */
#include "format/zip/zip.h"

#include <stdio.h>
#include <string.h>

#include "base/library.h"

/* libzip keeps about this much of each member, measured; see the test of memory. */
int64_t leat_zip_memory(int64_t members, int64_t names_bytes) {
    return (INT64_C(256) << 10) + members * 400 + names_bytes * 2;
}

#if LEAT_HAVE_ZIP

#include <zip.h>

#define FUNCTIONS(X)                                                                               \
    X(source_function_create)                                                                      \
    X(source_make_command_bitmap)                                                                  \
    X(source_seek_compute_offset)                                                                  \
    X(source_free)                                                                                 \
    X(open_from_source)                                                                            \
    X(discard)                                                                                     \
    X(get_num_entries)                                                                             \
    X(get_name)                                                                                    \
    X(stat_index)                                                                                  \
    X(file_get_external_attributes)                                                                \
    X(fopen_index)                                                                                 \
    X(fread)                                                                                       \
    X(fclose)                                                                                      \
    X(file_get_error)                                                                              \
    X(get_error)                                                                                   \
    X(error_init)                                                                                  \
    X(error_fini)                                                                                  \
    X(error_set)                                                                                   \
    X(error_strerror)                                                                              \
    X(error_code_zip)                                                                              \
    X(error_to_data)

struct leat_zip {
    void *library;
#define MEMBER(name) __typeof__(&zip_##name) name;
    FUNCTIONS(MEMBER)
#undef MEMBER
    zip_t *archive;
    leat_file *file;
    int64_t base;       /* of the archive in the file: bytes before it */
    int64_t file_bytes; /* from there on */
    int64_t count;
    zip_file_t *member; /* that is read piece by piece, and how much of it is left */
    int64_t left;
    /* of the source */
    zip_uint64_t at;
    int64_t allowed_bytes; /* that may still be read */
    zip_error_t error;
    leat_error failure; /* of the file, or of what is allowed; LEAT_OK: none */
};

/* ---- the library ---------------------------------------------------------------------------- */

static const leat_library_function functions[] = {
#define ROW(name) {"zip_" #name, offsetof(leat_zip, name), LEAT_LINKED(LEAT_LINK_ZIP, zip_##name)},
    FUNCTIONS(ROW)
#undef ROW
        {0}};

static const leat_library libzip = {.name = "libzip",
                                    .least = "1.7",
                                    .files = {"libzip.so.5", "libzip.so.4"},
                                    .use = "zip archives are read with",
                                    .package = "libzip-dev",
                                    .otherwise = ", or unpack the archive and use its folder",
                                    .functions = functions};

/* ---- the file as a source ------------------------------------------------------------------- */

static zip_int64_t source_read(leat_zip *zip, void *to, zip_uint64_t size) {
    int64_t left = zip->file_bytes - (int64_t)zip->at;
    int64_t part = (int64_t)size < left ? (int64_t)size : left;
    if (part <= 0) return 0;
    if (part > zip->allowed_bytes) {
        zip->error_set(&zip->error, ZIP_ER_READ, 0);
        (void)leat_fail(&zip->failure, LEAT_ERR_LIMIT,
                        "\"%s\": a zip archive with a large directory, as of thousands of files",
                        leat_file_path(zip->file));
        return -1;
    }
    zip->allowed_bytes -= part;
    if (leat_file_pread(zip->file, to, part, zip->base + (int64_t)zip->at, &zip->failure) !=
        LEAT_OK) {
        zip->error_set(&zip->error, ZIP_ER_READ, 0);
        return -1;
    }
    zip->at += (zip_uint64_t)part;
    return part;
}

static zip_int64_t source_seek(leat_zip *zip, void *data, zip_uint64_t size) {
    zip_int64_t to = zip->source_seek_compute_offset(zip->at, (zip_uint64_t)zip->file_bytes, data,
                                                     size, &zip->error);
    if (to < 0) return -1;
    zip->at = (zip_uint64_t)to;
    return 0;
}

static zip_int64_t source_stat(leat_zip *zip, void *data) {
    zip_stat_t *stat = data;
    memset(stat, 0, sizeof *stat);
    stat->size = (zip_uint64_t)zip->file_bytes;
    stat->valid = ZIP_STAT_SIZE;
    return sizeof *stat;
}

static zip_int64_t on_source(void *user, void *data, zip_uint64_t size, zip_source_cmd_t command) {
    leat_zip *zip = user;
    switch (command) {
    case ZIP_SOURCE_OPEN: zip->at = 0; return 0;
    case ZIP_SOURCE_READ: return source_read(zip, data, size);
    case ZIP_SOURCE_CLOSE: return 0;
    case ZIP_SOURCE_STAT: return source_stat(zip, data);
    case ZIP_SOURCE_ERROR: return zip->error_to_data(&zip->error, data, size);
    case ZIP_SOURCE_FREE: return 0;
    case ZIP_SOURCE_SEEK: return source_seek(zip, data, size);
    case ZIP_SOURCE_TELL: return (zip_int64_t)zip->at;
    case ZIP_SOURCE_SUPPORTS:
        return zip->source_make_command_bitmap(
            ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR,
            ZIP_SOURCE_FREE, ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL, ZIP_SOURCE_SUPPORTS, -1);
    default: zip->error_set(&zip->error, ZIP_ER_OPNOTSUPP, 0); return -1;
    }
}

/* ---- opening -------------------------------------------------------------------------------- */

/* LEAT_ERR_CORRUPT, unless reading the file, or memory, has failed. */
static leat_code judge(leat_zip *zip, zip_error_t *error, const char *what, leat_error *err) {
    if (zip->failure.code != LEAT_OK && zip->failure.code != LEAT_ERR_CORRUPT)
        return leat_error_copy(err, &zip->failure);
    if (zip->error_code_zip(error) == ZIP_ER_MEMORY)
        return leat_fail(err, LEAT_ERR_MEMORY, "libzip: out of memory");
    return leat_fail(err, LEAT_ERR_CORRUPT, "%s%s", what, zip->error_strerror(error));
}

static leat_code open_archive(leat_zip *zip, leat_error *err) {
    char what[LEAT_MESSAGE_BYTES];
    zip_error_t error;
    zip->error_init(&error);
    zip_source_t *source = zip->source_function_create(on_source, zip, &error);
    if (source != NULL) zip->archive = zip->open_from_source(source, ZIP_RDONLY, &error);
    leat_code code = LEAT_OK;
    snprintf(what, sizeof what,
             "\"%s\" cannot be read as a zip archive: ", leat_file_path(zip->file));
    if (zip->archive == NULL) {
        code = judge(zip, &error, what, err);
        if (source != NULL) zip->source_free(source);
    }
    zip->error_fini(&error);
    return code;
}

static int64_t little_endian(const uint8_t *at, int count) {
    int64_t value = 0;
    for (int i = count; i-- > 0;) value = value << 8 | at[i];
    return value;
}

/* The record at the end of an archive, which says where its directory is (APPNOTE.TXT, 4.3.16). */
typedef struct end_record {
    bool found;
    bool zip64;        /* its numbers may be those of the records of Zip64 */
    int64_t directory; /* where it is: in front of the record */
    int64_t before;    /* bytes before the archive: where it is, less where it should be */
    int64_t after;     /* bytes after the archive and its comment; below 0: the comment is cut */
} end_record;

static leat_code find_end(const leat_zip *zip, end_record *out, leat_error *err) {
    enum { RECORD_BYTES = 22, COMMENT_MAX = 65535, LOCATOR_BYTES = 20 };
    const int64_t most = LOCATOR_BYTES + RECORD_BYTES + COMMENT_MAX;
    const int64_t size = zip->file_bytes < most ? zip->file_bytes : most;
    uint8_t *end = NULL;
    *out = (end_record){0};
    if (size < RECORD_BYTES) return LEAT_OK;
    LEAT_TRY(LEAT_NEW(&end, size, err));
    leat_code code = leat_file_pread(zip->file, end, size, zip->base + zip->file_bytes - size, err);
    int64_t at = code == LEAT_OK ? size - RECORD_BYTES : -1;
    while (at >= 0 && memcmp(end + at, "PK\5\6", 4) != 0) at--;
    if (at >= 0) {
        out->found = true;
        out->zip64 = at >= LOCATOR_BYTES && memcmp(end + at - LOCATOR_BYTES, "PK\6\7", 4) == 0;
        out->directory = zip->file_bytes - size + at - little_endian(end + at + 12, 4);
        out->before = out->directory - little_endian(end + at + 16, 4);
        out->after = size - at - RECORD_BYTES - little_endian(end + at + 20, 2);
    }
    leat_free(end);
    return code;
}

/*
 * If a program was put before an archive without changing where its directory should be, the
 * archive is read from where it begins. (Not with the records of Zip64.) 0: there is nothing before
 * it, or no such record.
 */
static leat_code find_base(leat_zip *zip, int64_t *base, leat_error *err) {
    end_record end;
    uint8_t first[4] = {0};
    *base = 0;
    LEAT_TRY(find_end(zip, &end, err));
    if (!end.found || end.directory < 0 || end.before <= 0) return LEAT_OK;
    LEAT_TRY(leat_file_pread(zip->file, first, sizeof first, end.directory, err));
    if (memcmp(first, "PK\1\2", 4) == 0) *base = end.before;
    return LEAT_OK;
}

leat_code leat_zip_check_alone(const leat_zip *zip, bool after_program, leat_error *err) {
    end_record end;
    uint8_t first[2] = {0};
    LEAT_TRY(find_end(zip, &end, err));
    if (end.found) LEAT_TRY(leat_file_pread(zip->file, first, sizeof first, 0, err));
    const bool begins = zip->base == 0 && (end.zip64 || end.before == 0);
    const bool program = after_program && memcmp(first, "PK", sizeof first) != 0;
    if (end.found && end.after == 0 && (begins || program)) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_INPUT,
                     "\"%s\" is more than one zip archive, or has bytes before or after it, which "
                     "would not be read: take it apart, unpack it (unzip), and give the folder "
                     "with its files",
                     leat_file_path(zip->file));
}

/* Also an archive that follows a program. */
static leat_code open_anywhere(leat_zip *zip, leat_error *err) {
    leat_error why = {0};
    int64_t base = 0;
    leat_code code = open_archive(zip, &why);
    if (code != LEAT_ERR_CORRUPT) return code == LEAT_OK ? code : leat_error_copy(err, &why);
    LEAT_TRY(find_base(zip, &base, err));
    if (base == 0) return leat_error_copy(err, &why);
    zip->base = base;
    zip->file_bytes -= base;
    zip->failure = (leat_error){0};
    return open_archive(zip, err);
}

leat_code leat_zip_open(leat_zip **out, const char *path, leat_error *err) {
    return leat_zip_open_small(out, path, INT64_MAX, err);
}

leat_code leat_zip_open_small(leat_zip **out, const char *path, int64_t read_bytes,
                              leat_error *err) {
    leat_zip *zip = NULL;
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&zip, 1, err));
    zip->allowed_bytes = read_bytes;
    leat_code code = leat_library_open(&zip->library, &libzip, zip, err);
    if (code == LEAT_OK) {
        zip->error_init(&zip->error);
        code = leat_file_open(&zip->file, path, LEAT_FILE_READ, err);
    }
    if (code == LEAT_OK) code = leat_file_size(zip->file, &zip->file_bytes, err);
    if (code == LEAT_OK) code = open_anywhere(zip, err);
    zip->allowed_bytes = INT64_MAX; /* what members take is for the caller to say */
    if (code == LEAT_OK) zip->count = zip->get_num_entries(zip->archive, 0);
    if (code == LEAT_OK) *out = zip;
    else leat_zip_close(zip);
    return code;
}

void leat_zip_close(leat_zip *zip) {
    if (zip == NULL) return;
    if (zip->member != NULL) zip->fclose(zip->member);
    if (zip->archive != NULL) zip->discard(zip->archive);
    if (zip->library != NULL) zip->error_fini(&zip->error);
    leat_file_close(zip->file);
    leat_library_close(zip->library);
    leat_free(zip);
}

int64_t leat_zip_count(const leat_zip *zip) { return zip->count; }

/* ---- members -------------------------------------------------------------------------------- */

/* What a member is that Unix systems have packed: links and devices have no bytes of a picture. */
static const char *why_special(leat_zip *zip, int64_t index) {
    enum { SYSTEM_UNIX = 3, SYSTEM_MACOS = 19 };
    enum { TYPE_MASK = 0170000, TYPE_FILE = 0100000, TYPE_FOLDER = 0040000, TYPE_LINK = 0120000 };
    zip_uint8_t system = 0;
    zip_uint32_t attributes = 0;
    if (zip->file_get_external_attributes(zip->archive, (zip_uint64_t)index, 0, &system,
                                          &attributes) != 0 ||
        (system != SYSTEM_UNIX && system != SYSTEM_MACOS))
        return NULL;
    const unsigned type = attributes >> 16 & TYPE_MASK;
    if (type == TYPE_LINK) return "a zip member that is a symbolic link; links are not followed";
    return type == 0 || type == TYPE_FILE || type == TYPE_FOLDER
               ? NULL
               : "a zip member that is a device or a pipe";
}

static const char *why_not(const zip_stat_t *stat) {
    if ((stat->valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 && stat->encryption_method != ZIP_EM_NONE)
        return "an encrypted zip member";
    if (stat->comp_method == ZIP_CM_STORE || stat->comp_method == ZIP_CM_DEFLATE) return NULL;
    return "a zip member that uses a compression method other than deflate";
}

leat_code leat_zip_get(leat_zip *zip, int64_t index, leat_zip_member *out, leat_error *err) {
    const zip_uint64_t needed = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
    zip_stat_t stat;
    LEAT_ASSERT(index >= 0 && index < zip->count);
    *out = (leat_zip_member){0};
    const char *name = zip->get_name(zip->archive, (zip_uint64_t)index, ZIP_FL_ENC_GUESS);
    if (name == NULL || zip->stat_index(zip->archive, (zip_uint64_t)index, 0, &stat) != 0 ||
        (stat.valid & needed) != needed || stat.size > INT64_MAX || stat.comp_size > INT64_MAX)
        return judge(zip, zip->get_error(zip->archive), "", err);
    size_t size = strlen(name);
    *out = (leat_zip_member){
        .name = name,
        .size_bytes = (int64_t)stat.size,
        .packed_bytes = (int64_t)stat.comp_size,
        .folder = size > 0 && name[size - 1] == '/',
        .unsupported = why_not(&stat),
    };
    if (out->unsupported == NULL) out->unsupported = why_special(zip, index);
    return LEAT_OK;
}

/* Fewer than size_bytes are LEAT_ERR_CORRUPT. */
static leat_code read_some(leat_zip *zip, zip_file_t *member, uint8_t *out, int64_t size_bytes,
                           leat_error *err) {
    for (int64_t done = 0; done < size_bytes;) {
        zip_int64_t got = zip->fread(member, out + done, (zip_uint64_t)(size_bytes - done));
        if (got < 0) return judge(zip, zip->file_get_error(member), "zip member: ", err);
        if (got == 0)
            return leat_fail(err, LEAT_ERR_CORRUPT, "zip member: it has fewer than %lld bytes",
                             (long long)size_bytes);
        done += got;
    }
    return LEAT_OK;
}

/* At the end libzip compares the checksum; after the last byte there must be no other. */
static leat_code read_end(leat_zip *zip, zip_file_t *member, int64_t size_bytes, leat_error *err) {
    uint8_t more = 0;
    zip_int64_t got = zip->fread(member, &more, 1);
    if (got < 0) return judge(zip, zip->file_get_error(member), "zip member: ", err);
    if (got == 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_CORRUPT, "zip member: it has more than %lld bytes",
                     (long long)size_bytes);
}

static leat_code read_member(leat_zip *zip, int64_t index, uint8_t *out, int64_t size_bytes,
                             bool whole, leat_error *err) {
    leat_zip_member member;
    zip->failure = (leat_error){0};
    LEAT_TRY(leat_zip_get(zip, index, &member, err));
    if (member.unsupported != NULL)
        return leat_fail(err, LEAT_ERR_UNSUPPORTED, "%s", member.unsupported);
    zip_file_t *file = zip->fopen_index(zip->archive, (zip_uint64_t)index, 0);
    if (file == NULL) return judge(zip, zip->get_error(zip->archive), "zip member: ", err);
    leat_code code = read_some(zip, file, out, size_bytes, err);
    if (code == LEAT_OK && whole) code = read_end(zip, file, size_bytes, err);
    bool closed = zip->fclose(file) == 0;
    if (closed || code != LEAT_OK || !whole) return code;
    return leat_fail(err, LEAT_ERR_CORRUPT, "zip member: its end is damaged");
}

leat_code leat_zip_begin(leat_zip *zip, int64_t index, leat_error *err) {
    leat_zip_member member;
    LEAT_ASSERT(zip->member == NULL);
    zip->failure = (leat_error){0};
    LEAT_TRY(leat_zip_get(zip, index, &member, err));
    if (member.unsupported != NULL)
        return leat_fail(err, LEAT_ERR_UNSUPPORTED, "%s", member.unsupported);
    zip->member = zip->fopen_index(zip->archive, (zip_uint64_t)index, 0);
    zip->left = member.size_bytes;
    if (zip->member != NULL) return LEAT_OK;
    return judge(zip, zip->get_error(zip->archive), "zip member: ", err);
}

leat_code leat_zip_next(leat_zip *zip, void *bytes, int64_t size_bytes, int64_t *got,
                        leat_error *err) {
    *got = 0;
    zip_int64_t read = zip->fread(zip->member, bytes, (zip_uint64_t)size_bytes);
    if (read < 0) return judge(zip, zip->file_get_error(zip->member), "zip member: ", err);
    zip->left -= read;
    if (zip->left < 0 || (read == 0 && zip->left != 0))
        return leat_fail(err, LEAT_ERR_CORRUPT, "zip member: it has another size than stated");
    *got = read;
    return LEAT_OK;
}

int64_t leat_zip_position(const leat_zip *zip) { return zip->base + (int64_t)zip->at; }

leat_code leat_zip_read(leat_zip *zip, int64_t index, uint8_t *out, int64_t size_bytes,
                        leat_error *err) {
    return read_member(zip, index, out, size_bytes, true, err);
}

leat_code leat_zip_peek(leat_zip *zip, int64_t index, uint8_t *out, int64_t size_bytes,
                        leat_error *err) {
    return read_member(zip, index, out, size_bytes, false, err);
}

#else

leat_code leat_zip_open(leat_zip **out, const char *path, leat_error *err) {
    *out = NULL;
    return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                     "\"%s\": leat was built without libzip, which reads zip archives; run "
                     "scripts/install.sh and rebuild leat, or unpack the archive and use its "
                     "folder",
                     path);
}

leat_code leat_zip_open_small(leat_zip **out, const char *path, int64_t read_bytes,
                              leat_error *err) {
    (void)read_bytes;
    return leat_zip_open(out, path, err);
}

void leat_zip_close(leat_zip *zip) { (void)zip; }

int64_t leat_zip_count(const leat_zip *zip) {
    (void)zip;
    return 0;
}

leat_code leat_zip_get(leat_zip *zip, int64_t index, leat_zip_member *out, leat_error *err) {
    (void)zip, (void)index;
    *out = (leat_zip_member){0};
    return leat_fail(err, LEAT_ERR_UNSUPPORTED, "leat was built without libzip");
}

leat_code leat_zip_read(leat_zip *zip, int64_t index, uint8_t *out, int64_t size_bytes,
                        leat_error *err) {
    (void)zip, (void)index, (void)out, (void)size_bytes;
    return leat_fail(err, LEAT_ERR_UNSUPPORTED, "leat was built without libzip");
}

leat_code leat_zip_begin(leat_zip *zip, int64_t index, leat_error *err) {
    (void)zip, (void)index;
    return leat_fail(err, LEAT_ERR_UNSUPPORTED, "leat was built without libzip");
}

leat_code leat_zip_next(leat_zip *zip, void *bytes, int64_t size_bytes, int64_t *got,
                        leat_error *err) {
    (void)zip, (void)bytes, (void)size_bytes;
    *got = 0;
    return leat_fail(err, LEAT_ERR_UNSUPPORTED, "leat was built without libzip");
}

int64_t leat_zip_position(const leat_zip *zip) {
    (void)zip;
    return 0;
}

leat_code leat_zip_peek(leat_zip *zip, int64_t index, uint8_t *out, int64_t size_bytes,
                        leat_error *err) {
    return leat_zip_read(zip, index, out, size_bytes, err);
}

#endif
