/*
 * The folder of a run as a source of facts, also while it is trained, resumed or rewound: read
 * again when one of its files has changed. A rewind takes lines away and adds others, so all of
 * metrics.jsonl is read, and so rarely that it takes a twentieth of the time at most.
 *
 * One thread looks; any may open samples.
 */
#ifndef LEAT_DASH_RUN_SOURCE_H
#define LEAT_DASH_RUN_SOURCE_H

#include <pthread.h>

#include "base/file.h"
#include "crowd/stop.h"
#include "dash/facts.h"
#include "train/run/metrics.h"

enum { LEAT_RUN_SOURCE_FILES = 4 };

typedef struct leat_run_source {
    char path[LEAT_PATH_BYTES];
    leat_path_facts files[LEAT_RUN_SOURCE_FILES]; /* as they were when it was read */
    int64_t next_ns;                              /* it is not read again before */
    int64_t changed_ns;                           /* when metrics.jsonl was; 0: there is none */
    const leat_stop *stop;
    leat_run_metrics *metrics;
    leat_metrics_recent recent;
    int64_t *kept;
    int64_t kept_count;
    const char *problem; /* NULL: none */
    int64_t version;     /* another one each time that it was read */
    pthread_mutex_t lock;
    leat_run *run; /* changes under the lock */
} leat_run_source;

/* Reads it. LEAT_ERR_NOT_FOUND: it is not a run. *source is to be destroyed in any case. `stop`
 * outlives it, and ends long readings: LEAT_ERR_CANCELLED. */
LEAT_MUST_CHECK leat_code leat_run_source_create(leat_run_source *source, const char *path,
                                                 const leat_stop *stop, leat_error *err);
void leat_run_source_destroy(leat_run_source *source);
/* Reads what has changed. An error is what is wrong now, such as a folder that was removed; the
 * facts are then those from before, and the next look may succeed. */
LEAT_MUST_CHECK leat_code leat_run_source_look(leat_run_source *source, leat_error *err);
void leat_run_source_fill(const leat_run_source *source, leat_dash_facts *facts);
/* The last step of the folder and the hash of the state after it; false: it has none yet. */
bool leat_run_source_state(const leat_run_source *source, int64_t *step, const char **state);
/* Whether this run of a database may be that of the folder, by what both say of it. */
bool leat_run_source_may_be(const leat_run_source *source, const leat_crowd_run *run);
void leat_run_source_draw(const leat_run_source *source, leat_dash_curves *curves);
/* The samples of a step, a PNG, to be closed by the caller. LEAT_ERR_NOT_FOUND: there are none;
 * LEAT_ERR_INPUT: what has their name is a link, or not a PNG. */
LEAT_MUST_CHECK leat_code leat_run_source_open(leat_run_source *source, int64_t step,
                                               leat_file **file, int64_t *size_bytes,
                                               leat_error *err);

#endif
