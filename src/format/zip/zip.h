/*
 * Zip archives: their members read through libzip, and archives of stored members written by leat.
 *
 * libzip's library is opened with the first archive (zip.c), so that leat runs without it. Members
 * are read by their number in the archive's directory; nothing is ever unpacked into files, so a
 * member's name is a name and never a path.
 *
 * libzip writes an archive only when it has all members, so writing is done here (write.c): members
 * are appended to the file one by one, stored, which suits compressed pictures, and the directory
 * follows. Archives of more than 65,535 members or 4 GiB have the records of Zip64.
 */
#ifndef LEAT_FORMAT_ZIP_ZIP_H
#define LEAT_FORMAT_ZIP_ZIP_H

#include "base/file.h"
#include "base/mem.h"

/* ---- reading ------------------------------------------------------------------------------ */

/* An open archive; for one thread at a time. */
typedef struct leat_zip leat_zip;

typedef struct leat_zip_member {
    /* As stored, or, if that is neither ASCII nor UTF-8, converted from code page 437, which old
     * programs use; NUL-terminated, valid until the archive is closed. */
    const char *name;
    int64_t size_bytes;   /* unpacked, as the directory says */
    int64_t packed_bytes; /* as stored */
    bool folder;          /* its name ends with "/" */
    /* Why it cannot be read, a static text; NULL: it can. Only stored and deflated members that are
     * regular files and not encrypted are read, whatever this libzip could do: the result must not
     * depend on it. */
    const char *unsupported;
} leat_zip_member;

/* LEAT_ERR_CORRUPT: the file is not an archive, or its directory is damaged; LEAT_ERR_UNSUPPORTED:
 * libzip is not installed, or leat was built without it. Both name the file or the remedy. */
LEAT_MUST_CHECK leat_code leat_zip_open(leat_zip **out, const char *path, leat_error *err);
/* The same, but LEAT_ERR_LIMIT if finding and reading its directory takes more than read_bytes of
 * the file: libzip has then taken memory for that many only. */
LEAT_MUST_CHECK leat_code leat_zip_open_small(leat_zip **out, const char *path, int64_t read_bytes,
                                              leat_error *err);
void leat_zip_close(leat_zip *zip);
int64_t leat_zip_count(const leat_zip *zip);
/* 0 <= index < count. */
LEAT_MUST_CHECK leat_code leat_zip_get(leat_zip *zip, int64_t index, leat_zip_member *out,
                                       leat_error *err);
/*
 * Reads a member of exactly size_bytes into `out` and checks its checksum. LEAT_ERR_CORRUPT: the
 * data is damaged, or of another size; LEAT_ERR_UNSUPPORTED; LEAT_ERR_IO. Only the last two name
 * the file.
 */
LEAT_MUST_CHECK leat_code leat_zip_read(leat_zip *zip, int64_t index, uint8_t *out,
                                        int64_t size_bytes, leat_error *err);
/* Reads the first size_bytes of a longer member, whose checksum is then not checked. */
LEAT_MUST_CHECK leat_code leat_zip_peek(leat_zip *zip, int64_t index, uint8_t *out,
                                        int64_t size_bytes, leat_error *err);
/*
 * Reads a member of any size piece by piece, one member at a time: after leat_zip_begin, the next
 * bytes with each call, *got of them; 0 at the end, where the checksum has been compared. Errors as
 * above.
 */
LEAT_MUST_CHECK leat_code leat_zip_begin(leat_zip *zip, int64_t index, leat_error *err);
LEAT_MUST_CHECK leat_code leat_zip_next(leat_zip *zip, void *bytes, int64_t size_bytes,
                                        int64_t *got, leat_error *err);
/* LEAT_ERR_INPUT: the file is not this archive alone. It follows another archive or, unless
 * after_program, something else, or something follows it: what is not in its directory would not be
 * read. */
LEAT_MUST_CHECK leat_code leat_zip_check_alone(const leat_zip *zip, bool after_program,
                                               leat_error *err);
/* Where in the file the last bytes were read from. */
int64_t leat_zip_position(const leat_zip *zip);
/* Memory that an open archive of this many members takes, with names_bytes of their names. */
int64_t leat_zip_memory(int64_t members, int64_t names_bytes);

/* ---- writing ------------------------------------------------------------------------------ */

#define LEAT_ZIP_NAME_BYTES_MAX 65535
#define LEAT_ZIP_MEMBER_BYTES_MAX (INT64_C(1) << 31)

typedef struct leat_zip_writer leat_zip_writer;

/* Writes to `file`, which the caller owns, from `offset` on, where it must end; the archive begins
 * at the beginning of the file, like one that follows a program. */
LEAT_MUST_CHECK leat_code leat_zip_writer_create(leat_zip_writer **out, leat_file *file,
                                                 int64_t offset, leat_error *err);
void leat_zip_writer_destroy(leat_zip_writer *writer);
/* Names must differ. The time of every member is the beginning of 1980. LEAT_ERR_LIMIT: too long or
 * too large. */
LEAT_MUST_CHECK leat_code leat_zip_writer_add(leat_zip_writer *writer, const char *name,
                                              const void *bytes, int64_t size_bytes,
                                              leat_error *err);
/* Writes the directory; nothing may be added after. */
LEAT_MUST_CHECK leat_code leat_zip_writer_finish(leat_zip_writer *writer, leat_error *err);
/* Bytes of the file so far, with its directory once it is finished. */
int64_t leat_zip_writer_bytes(const leat_zip_writer *writer);

#endif
