/*
 * What the tests of the whole of `leat ingest can` share: small logs, settings that suit them, and
 * what a folder of caches holds.
 */
#ifndef LEAT_TESTS_CAN_LOGS_H
#define LEAT_TESTS_CAN_LOGS_H

#include "leat/ingest.h"

/* Frames of all logs, and lines of them that are none. */
enum { CAN_LOGS_FRAMES = 1030, CAN_LOGS_REJECTED = 4 };

/* Writes train_a/{drive,dos}.csv and test_x/fuzzing.csv into `dir`: some attacks, times that step
 * back, some lines that are set aside, unless `clean`. */
void can_logs_write(const char *dir, bool clean);
/* Windows of 10 frames, one thread, memory enough. */
leat_can_ingest_options can_logs_options(void);
leat_code can_logs_ingest(const char *dir, const char *parent,
                          const leat_can_ingest_options *options, leat_can_ingest_result *result,
                          leat_error *err);
/* Progress that stops a run when the stage `user` begins: a scan is saved by "planning". */
bool can_logs_stop(void *user, const leat_progress *progress);

/* SHA-256 over the names and bytes of every file of the one cache in `parent`, as hexadecimal
 * digits; "" if there is none. Fails the test if there are two. */
typedef struct can_digest {
    char text[65];
} can_digest;
can_digest can_cache_digest(const char *parent);

/* The one work folder in `parent`: its path, valid until the next call; NULL if there is none. */
const char *can_work(const char *parent);

#endif
