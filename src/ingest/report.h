/* How far a job is, told to its caller some ten times a second, from any of its threads. */
#ifndef LEAT_INGEST_REPORT_H
#define LEAT_INGEST_REPORT_H

#include <pthread.h>

#include "base/error.h"

/* Bytes of input consumed and records seen; called by one thread at a time. False: stop. */
typedef bool (*leat_report_fn)(void *context, int64_t bytes_done, int64_t rows_done);

typedef struct leat_reporter {
    leat_report_fn report; /* NULL: nobody asks */
    void *context;
    pthread_mutex_t lock; /* for what is below */
    int64_t next_ns;
} leat_reporter;

void leat_reporter_init(leat_reporter *reporter, leat_report_fn report, void *context);
void leat_reporter_destroy(leat_reporter *reporter);
/* Reports if it is time to; LEAT_ERR_CANCELLED if the caller wants no more. */
LEAT_MUST_CHECK leat_code leat_reporter_tell(leat_reporter *reporter, int64_t bytes_done,
                                             int64_t rows_done, leat_error *err);

#endif
