/*
 * Times of CSV files that lost their digits: a spreadsheet shows 1700000037 as 1.7E+09, and saves
 * what it shows. Read as they are written, all measurements of a file would be of one time. Such
 * times have an exponent and few digits, and hardly differ.
 */
#ifndef LEAT_INGEST_PROBES_DIGITS_H
#define LEAT_INGEST_PROBES_DIGITS_H

#include <stdatomic.h>

#include "ingest/source.h"

/* Of the lines of a block. */
typedef struct leat_digits {
    int64_t timed, rounded;    /* with a time; with one whose last digit is worth ten seconds */
    int64_t finest_us;         /* of the rounded ones, the least worth of a last digit */
    int64_t first_us, last_us; /* of the rounded ones */
} leat_digits;
#define LEAT_DIGITS_NONE                                                                           \
    ((leat_digits){.finest_us = INT64_MAX, .first_us = INT64_MAX, .last_us = INT64_MIN})

/* For what threads note of a file: the least, or the greatest, value so far. */
static inline void leat_keep_least(atomic_int_least64_t *at, int64_t value) {
    int_least64_t old = atomic_load(at);
    while (value < old && !atomic_compare_exchange_weak(at, &old, value)) continue;
}
static inline void leat_keep_most(atomic_int_least64_t *at, int64_t value) {
    int_least64_t old = atomic_load(at);
    while (value > old && !atomic_compare_exchange_weak(at, &old, value)) continue;
}

/* The same of a file. */
typedef struct leat_digit_notes {
    atomic_int_least64_t timed, rounded, finest_us, first_us, last_us;
} leat_digit_notes;
void leat_digit_notes_init(leat_digit_notes *notes);

/* Counts the time of a line. */
void leat_digits_add(leat_digits *digits, const leat_text *time, int64_t time_us);
void leat_digit_notes_add(leat_digit_notes *notes, const leat_digits *digits);
/* LEAT_ERR_INPUT: the file at `path` has times that lost their digits. */
LEAT_MUST_CHECK leat_code leat_digit_notes_check(const leat_digit_notes *notes, const char *path,
                                                 const char *column, leat_error *err);

#endif
