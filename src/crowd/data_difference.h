/* Why a worker's data set is not the run's: what differs, by name. */
#ifndef LEAT_CROWD_DATA_DIFFERENCE_H
#define LEAT_CROWD_DATA_DIFFERENCE_H

#include "crowd/database.h"
#include "train/step/feed.h"

/*
 * Fetches the list of the run's samples, and compares this machine's data with it; at most
 * memory_bytes (0: no limit) for the process. LEAT_ERR_NOT_FOUND: the database has no list;
 * LEAT_ERR_LIMIT: it does not fit into memory; others as the difference of a feed.
 */
LEAT_MUST_CHECK leat_code leat_data_difference(leat_pg *pg, const leat_database_run *run,
                                               const leat_feed *feed, int64_t memory_bytes,
                                               char words[LEAT_FEED_WORDS_BYTES], leat_error *err);

#endif
