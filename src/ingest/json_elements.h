/*
 * JSON files that are one document: an array of objects, or an object that has such an array as its
 * member `data` or `results`, as web interfaces answer; an array that begins with something else is
 * skipped, as all other members are. The array is read element by element, so its size does not
 * matter; documents may follow one another, as files that were joined have them.
 *
 * An element is what lies between two commas of the array; whether it is an object is for others to
 * find out. So what is wrong inside one element costs that element, while an array without an end,
 * or something else after it, is an error that names the file.
 */
#ifndef LEAT_INGEST_JSON_ELEMENTS_H
#define LEAT_INGEST_JSON_ELEMENTS_H

#include "base/lines.h"

/* Where a file is. All zero but time_name: at its beginning. */
typedef struct leat_json_elements {
    /* The member that measurements have: an object around an array must not have it, or it would be
     * a measurement that is skipped. */
    const char *time_name;
    int64_t number; /* of the last element, from 1 */
    int place;      /* elements_place */
    bool wrapped;   /* the array is a member of an object */
    bool held;      /* that object has had an array */
    /* of the piece of text that is being read: */
    int64_t scanned, depth;
    bool quoted, skipping, closed; /* closed: after an object or array */
    bool joined;                   /* another one follows without a comma */
    /* Bytes of the last element, with what follows it, which are kept until the next call; -1: the
     * rest of one that was too long comes first. */
    int64_t done;
} leat_json_elements;

/*
 * Whether the text is such a document, and not lines of objects. An object with a member
 * `time_name`, or with the `type` of a result of RIPE Atlas, is a measurement, whatever else it
 * has. Reads ahead as far as it needs to, judges by LEAT_LINE_BYTES_MAX bytes at most, and leaves
 * the text where it was.
 */
LEAT_MUST_CHECK leat_code leat_json_elements_detect(leat_lines *lines, const char *time_name,
                                                    bool *elements, leat_error *err);

/* The next element as a line, without blanks around it: its number is that of the element, and it
 * is valid until the next call. One that is longer than LEAT_LINE_BYTES_MAX has its fault, and only
 * its beginning. LEAT_ERR_CORRUPT: the document is damaged or truncated. */
LEAT_MUST_CHECK leat_code leat_json_elements_next(leat_json_elements *elements, leat_lines *lines,
                                                  leat_line *line, bool *found, leat_error *err);

#endif
