/*
 * What a scan notices about its inputs beside the measurements: signs that a file does not mean
 * what it was understood to mean. All counts are sums, minima and maxima over the measurements, so
 * that they are the same for any number of threads.
 */
#ifndef LEAT_INGEST_PROBES_NOTES_H
#define LEAT_INGEST_PROBES_NOTES_H

#include <pthread.h>
#include <stdatomic.h>

#include "ingest/probes/digits.h"
#include "ingest/probes/rtt_values.h"
#include "ingest/probes/shapes.h"
#include "ingest/source.h"

/* Of one file. */
typedef struct leat_file_notes {
    atomic_int_least64_t with, without; /* objects that have the member of rtt; or not */
    atomic_int_least64_t answered, fast, fastest, whole, slow; /* measurements with an rtt: all,
                                                                * and as LEAT_RTT_... say */
    atomic_int_least64_t first_us, last_us; /* of the measurements; no measurement: first > last */
    atomic_uint units;                      /* see leat_time_read */
    atomic_int_least64_t preamble;          /* lines before the header that say something else */
    atomic_bool turned;                     /* a later header has the columns in another order */
    atomic_bool elements;                   /* its rows are elements of an array, not lines */
    atomic_bool empty;                      /* there is nothing in it */
    leat_digit_notes digits;                /* that times have */
    /* lines that may be a header with names of its own, and the first of them; the first of those
     * that look like one, and the last measurement: it was read with the wrong columns if it is
     * after that */
    atomic_int_least64_t headers, header_row, table_row, last_row;
    leat_rtt_tally rtts; /* under the lock */
} leat_file_notes;

enum { LEAT_NOTES_WORDS = 32, LEAT_NOTES_WORD_BYTES = 64, LEAT_NOTES_NAMES_BYTES = 200 };
typedef struct leat_notes_word {
    char text[LEAT_NOTES_WORD_BYTES]; /* its beginning; may hold any byte */
    int32_t size_bytes;
    uint64_t hash;
    int64_t count;
} leat_notes_word;

/* The names of the members of an object that lacks one, or of a header's columns: of the first in
 * file and line. */
typedef struct leat_notes_object {
    bool known;
    int32_t file_index;
    int64_t row;
    char names[LEAT_NOTES_NAMES_BYTES];
} leat_notes_object;

/* Whether a line comes before the one that is kept, or is the first: then it is kept, without names
 * yet. */
static inline bool leat_notes_take_first(leat_notes_object *kept, int32_t file_index, int64_t row) {
    if (kept->known &&
        (kept->file_index < file_index || (kept->file_index == file_index && kept->row <= row)))
        return false;
    *kept = (leat_notes_object){.known = true, .file_index = file_index, .row = row};
    return true;
}

typedef struct leat_notes {
    leat_file_notes *files; /* of the inputs */
    int64_t file_count;
    /* RIPE Atlas results, and how many of them have each mapped column */
    atomic_int_least64_t atlas, atlas_has[5];
    atomic_int_least64_t scamper; /* pings of scamper, which are rejected */
    /* lines of CSV that are rejected for their number of fields, or for their time */
    atomic_int_least64_t uneven, untimed;
    /* objects without a time, or a type, which results of RIPE Atlas have; rtts with a unit, and
     * bits of LEAT_UNIT_OF_... for those that there are */
    atomic_int_least64_t plain_objects, with_unit;
    atomic_uint rtt_units;
    atomic_int_least64_t shaped;   /* rtts that are lists or objects */
    atomic_int_least64_t mapped;   /* measurements with an IPv4-mapped address */
    atomic_int_least64_t infinite; /* objects with Infinity as rtt: malformed_line */
    int64_t unpack_bytes; /* that a part of a compressed file requires, but were not left */
    pthread_mutex_t lock; /* for all members below */
    leat_notes_object lacking, atlas_first, table;
    leat_shape shape;
    /* In place of an rtt, and not a number in another spelling: those with the least hashes. Each
     * of them is kept from its first row on, whatever the order of rows, so its count is exact. */
    leat_notes_word words[LEAT_NOTES_WORDS];
    int word_count;
    bool more_words;
} leat_notes;

enum { LEAT_UNIT_OF_MS = 1, LEAT_UNIT_OF_US = 2, LEAT_UNIT_OF_S = 4, LEAT_UNIT_OF_NS = 8 };

LEAT_MUST_CHECK leat_code leat_notes_create(leat_notes **out, int64_t file_count, leat_error *err);
void leat_notes_destroy(leat_notes *notes);

/* What a batch of measurements adds to its file. */
typedef struct leat_batch_notes {
    int64_t answered, fast, fastest, whole, slow, first_us, last_us, mapped, last_row;
} leat_batch_notes;
#define LEAT_BATCH_NOTES_NONE ((leat_batch_notes){.first_us = INT64_MAX, .last_us = INT64_MIN})
void leat_notes_add_batch(leat_notes *notes, int32_t file_index, const leat_batch_notes *batch);
void leat_notes_add_units(leat_notes *notes, int32_t file_index, uint8_t units);
/* Rtts as written. */
void leat_notes_add_rtts(leat_notes *notes, int32_t file_index, const leat_rtt_tally *rtts);
/* A line that is not a measurement and may be a header with other names. */
void leat_notes_add_header(leat_notes *notes, int32_t file_index, int64_t row);
/* A line that looks like one, of another table. */
void leat_notes_add_table(leat_notes *notes, int32_t file_index, int64_t row,
                          const leat_text *line);
/* A line of a CSV that is malformed because of its number of fields, or else of its time. */
void leat_notes_add_malformed(leat_notes *notes, bool uneven);
/* An rtt that is a list or an object. */
void leat_notes_add_shape(leat_notes *notes, int32_t file_index, int64_t row,
                          const leat_json_slice *value);
/* What these are, and what to do, by the first of them; "": there are none. */
void leat_notes_shape(const leat_notes *notes, const leat_input_list *inputs, const char *rtt,
                      char out[LEAT_SHAPE_BYTES]);
/* A text that is not an rtt. */
void leat_notes_add_word(leat_notes *notes, const char *text, int64_t size_bytes);

/* Milliseconds. Seconds that were read as milliseconds have a median below FAST, as those of a
 * local network may have; but hardly any is then a whole one. A median below FASTEST, or above
 * SLOW, is not that of a network in any case. */
#define LEAT_RTT_FAST 0.3F
#define LEAT_RTT_FASTEST 0.05F
#define LEAT_RTT_WHOLE 1.0F
#define LEAT_RTT_SLOW 2000.0F

/* After the scan: LEAT_ERR_INPUT if no object of the inputs has the member that holds rtt, or no
 * Atlas result has that of a mapped column, if there is nothing but pings of scamper, or if there
 * are measurements after a header with other names. */
LEAT_MUST_CHECK leat_code leat_notes_check(const leat_notes *notes, const leat_input_list *inputs,
                                           const leat_source_options *options, leat_error *err);

/* Texts of at most so many warnings. */
typedef struct leat_warnings {
    int count;
    char text[LEAT_INGEST_WARNINGS_MAX][512];
} leat_warnings;
/* Adds one, unless the list is full. */
void leat_warnings_add(leat_warnings *warnings, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* What was noticed, in words. `now_us` is compared with the times. */
void leat_notes_warn(const leat_notes *notes, const leat_input_list *inputs,
                     const leat_source_options *options, int64_t now_us, leat_warnings *warnings);
/* The part of it about the values of rtt (notes_rtt.c). */
void leat_notes_warn_rtts(const leat_notes *notes, const leat_input_list *inputs,
                          const leat_source_options *options, leat_warnings *warnings);
/* Rows with an infinite rtt, of which rejected.csv has `rejected` as such. */
void leat_notes_warn_infinite(const leat_notes *notes, int64_t rejected, leat_warnings *warnings);

#endif
