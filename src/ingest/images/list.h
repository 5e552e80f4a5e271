/*
 * The files of a folder or zip archive, by name, as `leat ingest images` reads them: which there
 * are, in which order, and how their bytes are read. Names are relative to the folder or archive,
 * their parts separated by "/" (a backslash becomes one, as programs on Windows mean it; parts that
 * are empty or "." are dropped), sorted by bytes. A folder and an archive of the same files give
 * the same names.
 */
#ifndef LEAT_INGEST_IMAGES_LIST_H
#define LEAT_INGEST_IMAGES_LIST_H

#include "base/ticker.h"
#include "format/zip/zip.h"
#include "ingest/source.h"

typedef struct leat_image_file {
    int64_t name_at;    /* in the list's names */
    int64_t path_at;    /* the same as the file system has it, where it has backslashes */
    int64_t size_bytes; /* of a member: unpacked */
    int64_t index;      /* of its member, or of its facts */
} leat_image_file;

/* The deepest nesting of folders that is read. */
#define LEAT_IMAGE_FOLDERS_DEEP 32

typedef struct leat_image_list {
    char path[LEAT_PATH_BYTES];
    bool is_zip;
    leat_path_facts facts; /* of the archive */
    leat_zip *zip;         /* open; NULL for a folder */
    leat_image_file *files;
    int64_t count, capacity;
    leat_path_facts *facts_of; /* of each file of a folder */
    int64_t facts_count, facts_capacity;
    struct {
        uint64_t device, inode;
    } inside[LEAT_IMAGE_FOLDERS_DEEP + 1]; /* the folder being read, and those that it lies in */
    leat_buf names;                        /* each with its NUL */
    leat_ingest_skipped skipped;
    int64_t excluded;                       /* by the filter */
    const struct leat_image_filter *filter; /* while files are found */
} leat_image_list;

/* Shell patterns, NULL: none. One without "/" is compared with each part of a name, its folders
 * too; one with "/" with the whole name, where "*" also matches "/". */
typedef struct leat_image_filter {
    const char *include, *exclude;
} leat_image_filter;

/*
 * Finds the files that pass the filter. Names that begin with ".", "Thumbs.db" and what is in
 * "__MACOSX" are skipped, and so are folders that hold output of leat. Links in folders are
 * followed. LEAT_ERR_INPUT: a folder contains itself through a link, or is itself the output of an
 * ingest; LEAT_ERR_NOT_FOUND: there is no such path; codes of leat_zip_open.
 */
LEAT_MUST_CHECK leat_code leat_image_list_find(leat_image_list *list, const char *path,
                                               const leat_image_filter *filter, leat_ticker *ticker,
                                               leat_error *err);
void leat_image_list_free(leat_image_list *list);

static inline const char *leat_image_list_name(const leat_image_list *list, int64_t i) {
    return (const char *)list->names.data + list->files[i].name_at;
}

/* Counts a file of this name among those that are not read. */
LEAT_MUST_CHECK leat_code leat_image_list_skip(leat_image_list *list, const char *name,
                                               leat_error *err);

/* Why the name of file i cannot be in a data set, a static text; NULL: it can. Of several files of
 * one name the first is read, by their order in the archive. */
const char *leat_image_list_bad_name(const leat_image_list *list, int64_t i);

/* Whether the files, or the archive, are as they were found. LEAT_ERR_INPUT names one that is not.
 */
LEAT_MUST_CHECK leat_code leat_image_list_unchanged(const leat_image_list *list, leat_error *err);

/*
 * Reads the first size_bytes of file i, or all of it if that is its size. `zip`: an open archive
 * for this thread alone; NULL for a folder. A file that cannot be used is LEAT_ERR_INPUT with
 * *reason and the cause in the message; other failures have no reason (LEAT_IMAGE_GOOD).
 */
LEAT_MUST_CHECK leat_code leat_image_list_read(const leat_image_list *list, leat_zip *zip,
                                               int64_t i, uint8_t *out, int64_t size_bytes,
                                               leat_image_reason *reason, leat_error *err);

#endif
