/*
 * The JSON documents beside the tensors of a data set, and .complete: a line a document, its
 * SHA-256 and its name as sha256sum writes them. It is written last, so a folder without it is not
 * a data set, and a document with a flipped bit is found before it is parsed.
 */
#ifndef LEAT_FORMAT_COMPLETE_H
#define LEAT_FORMAT_COMPLETE_H

#include "base/json.h"

#define LEAT_COMPLETE_NAME ".complete"
#define LEAT_DOCUMENT_BYTES_MAX (INT64_C(1) << 30)
#define LEAT_DOCUMENTS_MAX 8

/* A kind of data set. */
typedef struct leat_documents {
    const char *thing;     /* "CAN cache", for messages */
    const char *rebuild;   /* what to do about a damaged one, at the end of a message */
    const char *too_large; /* why a document exceeds the maximum: "too many ... for one cache" */
    int count;
    const char *names[LEAT_DOCUMENTS_MAX]; /* in the order of .complete */
} leat_documents;

/* Writes a document of `of` with `put` and hands it on in pieces, without the newline that a
 * leat_json ends with. LEAT_ERR_LIMIT if it exceeds LEAT_DOCUMENT_BYTES_MAX. */
typedef void (*leat_document_put_fn)(leat_json *json, const void *of);
LEAT_MUST_CHECK leat_code leat_document_write(const leat_documents *kind, int which,
                                              leat_document_put_fn put, const void *of,
                                              leat_json_out_fn out, void *context, leat_error *err);

/* Writes document `which` of `data` to `out`, as leat_document_write does. */
typedef leat_code (*leat_document_fn)(void *data, int which, leat_json_out_fn out, void *context,
                                      leat_error *err);
/* Saves all documents and, last, .complete in the folder, each complete or not at all, and synced.
 * On failure none of them is there. */
LEAT_MUST_CHECK leat_code leat_complete_save(const leat_documents *kind, const char *dir,
                                             leat_document_fn document, void *data,
                                             leat_error *err);

/* Reads the hashes in .complete. LEAT_ERR_NOT_FOUND: it is missing; LEAT_ERR_CORRUPT: it is not
 * what was written. */
LEAT_MUST_CHECK leat_code leat_complete_load(const leat_documents *kind, const char *dir,
                                             char sha256[][65], leat_error *err);
/* Reads a document that has this hash: *text (leat_free). LEAT_ERR_CORRUPT: it is missing, or
 * another. */
LEAT_MUST_CHECK leat_code leat_document_load(const leat_documents *kind, int which, const char *dir,
                                             const char sha256[65], uint8_t **text,
                                             int64_t *size_bytes, leat_error *err);

#endif
