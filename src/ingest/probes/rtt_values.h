/*
 * Round-trip times as their inputs write them: which values are lost pings (--lost), which repeat
 * as no measurement would, and which unit the name of a column states.
 */
#ifndef LEAT_INGEST_PROBES_RTT_VALUES_H
#define LEAT_INGEST_PROBES_RTT_VALUES_H

#include <math.h>

#include "ingest/source.h"

/* ---- --lost ---- */

/* Values that stand for a lost ping, in the input's unit, ascending. */
enum { LEAT_LOST_MAX = 8, LEAT_LOST_TEXT_BYTES = 256 };
typedef struct leat_lost {
    int count;
    double value[LEAT_LOST_MAX];
} leat_lost;

/* Reads "0,9999"; NULL or "": none. LEAT_ERR_OPTION names the option. */
LEAT_MUST_CHECK leat_code leat_lost_read(const char *text, leat_lost *lost, leat_error *err);
/* The same values in the same text, whatever their order and spelling were. */
void leat_lost_write(const leat_lost *lost, char text[LEAT_LOST_TEXT_BYTES]);
/* Adds a value, unless it is there or the list is full. */
void leat_lost_add(leat_lost *lost, double value);
/* The number of a value in the list, -1: it is not there. `single`: the input has 32 bits. */
static inline int leat_lost_find(const leat_lost *lost, double value, bool single) {
    for (int i = 0; lost != NULL && i < lost->count; i++)
        if (lost->value[i] == value || (single && (double)(float)lost->value[i] == value)) return i;
    return -1;
}

/* ---- values that repeat ---- */

/* Values that programs write for a lost ping, ascending; the others are the greatest of a file. */
enum { LEAT_RTT_MARKS = 6 };
#define LEAT_RTT_MARK_LEAST 9999 /* of those that are not 0 */

typedef struct leat_rtt_top {
    double value;
    int64_t count; /* 0: there is none */
} leat_rtt_top;

/* Of the rtts of a file, or a part of it: sums and maxima, which add up to the same in any order.
 */
typedef struct leat_rtt_tally {
    int64_t rows, empty;          /* with an rtt that can be read; of those without a value */
    int64_t lost[LEAT_LOST_MAX];  /* of those that are one of --lost */
    int64_t mark[LEAT_RTT_MARKS]; /* each of the marks */
    leat_rtt_top top[2];          /* the greatest value, and the one below it */
    bool single;                  /* the input has 32 bits */
    bool fraction;                /* a value is not a whole number */
} leat_rtt_tally;

void leat_rtt_tally_top(leat_rtt_tally *tally, double value, int64_t count);
void leat_rtt_tally_mark(leat_rtt_tally *tally, double value);
void leat_rtt_tally_merge(leat_rtt_tally *to, const leat_rtt_tally *from);

/* Counts a value as written; NaN: there is none. */
static inline void leat_rtt_tally_add(leat_rtt_tally *tally, const leat_lost *lost, double value) {
    tally->rows++;
    if (isnan(value)) {
        tally->empty++;
        return;
    }
    const int which = leat_lost_find(lost, value, tally->single);
    if (which >= 0) {
        tally->lost[which]++;
        return;
    }
    if (!tally->fraction) tally->fraction = value != floor(value);
    if (value == 0 || value >= LEAT_RTT_MARK_LEAST) leat_rtt_tally_mark(tally, value);
    if (value > tally->top[1].value || tally->top[1].count == 0 || value == tally->top[0].value)
        leat_rtt_tally_top(tally, value, 1);
    else if (value == tally->top[1].value) tally->top[1].count++;
}

/* Adds the values of the tally that repeat as no measurement would, in more than 1 % of the rows,
 * and says how often; "" if there are none. */
enum { LEAT_RTT_REPEATS_BYTES = 320 };
void leat_rtt_tally_repeats(const leat_rtt_tally *tally, leat_lost *found,
                            char text[LEAT_RTT_REPEATS_BYTES]);

/* ---- the unit of a name ---- */

/* The unit that the name of a column ends with, as rtt_us, latencyMs or "rtt (seconds)" do;
 * LEAT_RTT_UNIT_AUTO: none. */
leat_rtt_unit leat_rtt_unit_of_name(const char *name);
/* The unit to read by: as stated, by the name, or milliseconds. */
leat_rtt_unit leat_rtt_unit_of(const leat_probes_ingest_options *options);

#endif
