/*
 * A run of machines that there are not: how long its steps take, and how much of what the machines
 * compute counts. Events on a virtual clock, in whole microseconds; the same result on every
 * machine.
 *
 * plan.c plays the machines and the coordinator, as work.c and collect.c are. What the database
 * says to them comes from books: either of plan_books.c, which has the rule of schema.sql in
 * memory, or, in tests, of the functions of schema.sql themselves on a clock that is moved. Each
 * machine has a login of its own, and is never silent for longer than a call takes.
 */
#ifndef LEAT_CROWD_PLAN_H
#define LEAT_CROWD_PLAN_H

#include "base/error.h"

enum {
    LEAT_PLAN_WORKERS_MAX = 10000,
    LEAT_PLAN_UNITS_MAX = 100000, /* as schema.sql */
    LEAT_PLAN_STEPS_MAX = 1000
};
#define LEAT_PLAN_UNIT_US_MAX (INT64_C(3600) * 1000000)
#define LEAT_PLAN_BYTES_MAX (INT64_C(1) << 29) /* of a result; and of weights */

typedef struct leat_plan_setting {
    int64_t workers, units, steps; /* steps > 1: the first one is not counted */
    uint64_t seed;                 /* of the machines' speeds, and the pauses between questions */
    int64_t unit_us;               /* of a machine of the usual speed */
    double spread;                 /* standard deviation of the logarithm of their speeds, 0 to 1 */
    int64_t payload_bytes, weights_bytes, part_bytes;
    int64_t sample_bytes;       /* that a machine fetches for a unit; 0: it has the data set */
    int64_t up_bits, down_bits; /* per second, of each machine's link; 0: no limit */
    int64_t server_bits;        /* of the server's link, each way; 0: no limit */
    int64_t read_us;            /* that the coordinator takes for each reading of a result */
    int64_t commit_us;          /* from the last result that is added to the next step's units */
    int64_t call_us;            /* a call of a machine, besides its bytes */
    /* The run's times. */
    int64_t lease_us, renew_us, silent_us, poll_us; /* poll_us: the coordinator's */
    int64_t ask_us;                                 /* leat_work_options.poll_ms */
    bool without_copies; /* of units: for tests, whose sums are then known beforehand */
} leat_plan_setting;

/* Sums over the steps after the first. */
typedef struct leat_plan_sums {
    int64_t steps, us;
    int64_t counted;   /* results */
    int64_t finished;  /* units that a machine has computed to the end */
    int64_t abandoned; /* that it has begun, and then not */
    int64_t copies;    /* claimed */
    double useful_us;  /* of machines computing results that counted */
    double spent_us;   /* of machines computing */
    double capacity;   /* units that the machines compute in this time if they do nothing else */
    int64_t up_bytes, down_bytes;
    int64_t read_us; /* of the coordinator reading results */
} leat_plan_sums;

/* ---- Books ----------------------------------------------------------------------------------- */

typedef struct leat_plan_lease {
    int64_t lease; /* 0: none */
    int64_t unit;
    bool copy;
} leat_plan_lease;

/* Calls of the database, at an instant that is never before that of another call. `over`: the
 * lease has ended. A machine passes only leases of its own. */
typedef struct leat_plan_books {
    void *of;
    leat_code (*claim)(void *of, int64_t now_us, int64_t worker, int64_t kept,
                       leat_plan_lease *lease, leat_error *err);
    /* The unit after `kept`, which is computed: or none. */
    leat_code (*claim_ahead)(void *of, int64_t now_us, int64_t worker, int64_t kept,
                             leat_plan_lease *lease, leat_error *err);
    leat_code (*renew)(void *of, int64_t now_us, int64_t worker, const leat_plan_lease *lease,
                       bool *over, leat_error *err);
    leat_code (*put)(void *of, int64_t now_us, int64_t worker, const leat_plan_lease *lease,
                     int64_t part, bool *over, leat_error *err);
    leat_code (*submit)(void *of, int64_t now_us, int64_t worker, const leat_plan_lease *lease,
                        bool *over, leat_error *err);
    leat_code (*release)(void *of, int64_t now_us, int64_t worker, const leat_plan_lease *lease,
                         leat_error *err);
    /* All units have their results: the next step is open. */
    leat_code (*commit)(void *of, int64_t now_us, leat_error *err);
} leat_plan_books;

/* Plays the run with the books given. LEAT_ERR_OPTION: a setting is out of range, or a step takes
 * more than 30 days; LEAT_ERR_MEMORY; what the books return. */
LEAT_MUST_CHECK leat_code leat_plan_play(const leat_plan_setting *setting,
                                         const leat_plan_books *books, leat_plan_sums *sums,
                                         leat_error *err);
/* The same with books in memory. */
LEAT_MUST_CHECK leat_code leat_plan_run(const leat_plan_setting *setting, leat_plan_sums *sums,
                                        leat_error *err);

/* Settings with defaults of coordinator and workers for times, and nothing else. */
leat_plan_setting leat_plan_setting_default(void);
/* LEAT_ERR_OPTION: one is out of range. */
LEAT_MUST_CHECK leat_code leat_plan_check(const leat_plan_setting *setting, leat_error *err);
/* How long a machine computes a unit. */
int64_t leat_plan_unit_us(const leat_plan_setting *setting, int64_t worker);

typedef struct leat_plan_memory leat_plan_memory;
LEAT_MUST_CHECK leat_code leat_plan_memory_create(leat_plan_memory **out,
                                                  const leat_plan_setting *setting,
                                                  leat_plan_books *books, leat_error *err);
void leat_plan_memory_destroy(leat_plan_memory *memory);

#endif
