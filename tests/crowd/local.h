/* A coordinator and workers as threads of a test, on the tests' server. */
#ifndef LEAT_TESTS_CROWD_LOCAL_H
#define LEAT_TESTS_CROWD_LOCAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "cluster.h"
#include "crowd/availability.h"

enum { LOCAL_WORKERS_MAX = 4, LOCAL_IMAGES = 20, LOCAL_STEPS = 6 };

/* A new database and a folder that is not there yet, for each test; their names. */
int local_setup(void **state);
const char *local_database(void);
const char *local_run(void);
const char *local_data(void);

/* A worker. */
typedef struct helper {
    pthread_t thread;
    const leat_host *host; /* NULL: this machine */
    leat_work_options options;
    leat_work_result result;
    atomic_bool stop, ended;
    leat_code code;
    leat_error err;
    char url[LEAT_PG_URL_BYTES], machine[33];
} helper;
void helper_start(helper *self, int number);
/* The same in two calls, with options changed in between. */
void helper_prepare(helper *self, int number);
void helper_begin(helper *self);
/* One without a data set. */
void helper_start_bare(helper *self, int number);
/* Its end, which must not be a failure. */
void helper_join(helper *self);
/* Workers that go on whatever happens to the coordinator. */
void start_all(helper *workers, int count);
void join_all(helper *workers, int count);

/* The state after so many steps of one machine. */
const char *alone(int64_t steps);
/* LOCAL_STEPS steps of 3 units, quickly; url: LEAT_PG_URL_BYTES. */
leat_coordinate_options coordinator(char *url);
/* As leat_train_options.progress, with the number of steps as its user: stops once so many are
 * done, and the database knows it; with 0, once the run is there. */
bool stop_after(void *user, const leat_progress *progress);
/* Coordinates up to a step; or serves the data set as well. */
leat_code coordinate_serving(int64_t last, bool resume, leat_coordinate_result *result,
                             leat_error *err);
leat_code coordinate(int64_t last, bool resume, leat_coordinate_result *result, leat_error *err);
/* The run is finished, with the state of one machine, and nothing is left over. */
void expect_end(const leat_coordinate_result *result);
/* The same, once these workers have ended, who did all of it over one connection each. */
void expect_undisturbed(helper *workers, int count, const leat_coordinate_result *result);

#endif
