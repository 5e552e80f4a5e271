/*
 * When a machine that is lent takes no units: while it runs on battery, and in quiet hours. What
 * it looks at besides the database comes in one struct, so that tests have machines of their own.
 */
#ifndef LEAT_CROWD_AVAILABILITY_H
#define LEAT_CROWD_AVAILABILITY_H

#include "crowd/stop.h"
#include "leat/crowd.h"

/* A machine. */
typedef struct leat_host {
    leat_clocks clocks;
    int32_t (*minute)(void *of); /* of the local day; of: clocks.of */
    const char *power;           /* folder as leat_machine_on_battery takes it */
} leat_host;
/* This one. */
leat_host leat_host_own(void);
/* As leat_work, on another machine than this. */
LEAT_MUST_CHECK leat_code leat_work_on(const leat_host *host, const leat_work_options *options,
                                       leat_work_result *result, leat_error *err);

/* How many minutes from this one on are quiet; 0: it is not. */
int leat_quiet_left(const leat_quiet_hours *quiet, int minute);

typedef enum leat_availability_state {
    LEAT_AVAILABLE,
    LEAT_UNAVAILABLE_QUIET,
    LEAT_UNAVAILABLE_BATTERY
} leat_availability_state;
typedef struct leat_availability {
    leat_availability_state state;
    int end; /* minute of the day when the quiet hours are over */
} leat_availability;
/* Looks at clock and power. True: it takes units now, or does so no longer, or for another reason;
 * `line` says which. */
#define LEAT_AVAILABILITY_LINE_BYTES 128
bool leat_availability_look(leat_availability *availability, const leat_host *host,
                            const leat_work_options *options,
                            char line[LEAT_AVAILABILITY_LINE_BYTES]);

#endif
