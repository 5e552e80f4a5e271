/*
 * The summary of a CAN cache, private part: what its files share.
 *
 *   summary.c           labels, sizes, captures, features, and the sequence of it all
 *   summary_windows.c   the windows that stand for their labels
 *   summary_identifiers.c   statistics per identifier
 *   summary_times.c     where in the time of a capture its parts are
 *   raster.c            a capture over time
 */
#ifndef LEAT_LOAD_CAN_SUMMARY_H
#define LEAT_LOAD_CAN_SUMMARY_H

#include <stdatomic.h>

#include "load/can/cache.h"

leat_can_label leat_can_label_of(const leat_can_graph_facts *facts);

/* How many windows of a label have each number of nodes, and the first of these. */
typedef struct leat_window_sizes {
    int64_t count[LEAT_CAN_CACHE_WINDOW_MAX + 1];
    int64_t first[LEAT_CAN_CACHE_WINDOW_MAX + 1];
    int split[LEAT_CAN_CACHE_WINDOW_MAX + 1];
} leat_window_sizes;

/* Adds a window to the sizes of its label; windows come in the order of splits and graphs. */
void leat_window_sizes_add(leat_window_sizes sizes[LEAT_CAN_LABELS], int split,
                           const leat_can_graph_facts *facts);
/* Chooses the window of each label once all are added. */
LEAT_MUST_CHECK leat_code leat_window_sizes_choose(const leat_window_sizes sizes[LEAT_CAN_LABELS],
                                                   const leat_can_cache *cache,
                                                   leat_can_summary *summary, leat_error *err);

/* Windows and frames of an identifier, by label, as a thread has counted them. */
typedef struct leat_identifier_tally {
    int64_t windows[LEAT_CAN_LABELS], frames[LEAT_CAN_LABELS];
} leat_identifier_tally;

/* Adds a graph, unscaled, to the tallies of the vocabulary and, first, of no number. */
void leat_identifier_tally_add(leat_identifier_tally *tallies, const leat_can_graph *graph);
/* Adds up the tallies of all threads, into the summary. */
LEAT_MUST_CHECK leat_code leat_identifier_tallies_rank(leat_identifier_tally *const *tallies,
                                                       int tally_count, const leat_can_cache *cache,
                                                       leat_can_summary *summary, leat_error *err);

/* A part of a capture, and of its steps from one frame to the next those that were read. */
typedef struct leat_part_steps {
    double frames;
    int64_t steps;
    double seconds; /* that these take */
} leat_part_steps;

/* When each of the parts, which follow each other from the capture's first frame on, ends: seconds
 * after that frame. Returns by what share their times had to be scaled; negative: no times are
 * known, and all ends are 0. */
double leat_part_ends(const leat_can_capture_facts *capture, const leat_part_steps *parts,
                      int count, double *ends);

/* Which part of the course of a capture a frame is in. */
int leat_course_bin(const leat_can_summary_capture *capture, int64_t frame);

/* The steps of each part of a capture's course, as all threads count them: whole numbers, so that
 * their order does not matter. */
typedef struct leat_course_tally {
    _Atomic int64_t steps[LEAT_CAN_COURSE], ns[LEAT_CAN_COURSE];
} leat_course_tally;

/* Adds a graph of the capture, unscaled. */
void leat_course_tally_add(leat_course_tally *tally, const leat_can_summary_capture *capture,
                           const leat_can_graph *graph);
/* Sets when the parts end, once all are added. */
void leat_course_tally_place(const leat_course_tally *tally, leat_can_summary_capture *capture);

#endif
