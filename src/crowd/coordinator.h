/* What the files of the coordinator share. */
#ifndef LEAT_CROWD_COORDINATOR_H
#define LEAT_CROWD_COORDINATOR_H

#include <pthread.h>
#include <stdatomic.h>

#include "crowd/blockers.h"
#include "crowd/database.h"
#include "crowd/pause.h"
#include "leat/crowd.h"
#include "train/run/ledger.h"
#include "train/run/session.h"
#include "train/step/exchange.h"

/* Renews the hold over a connection of its own, whatever the coordinator computes, and ends
 * sessions that block the coordinator (hold_renewer.c). A hold of fence 0 is none: then it only
 * looks for such sessions. */
typedef struct leat_hold_renewer {
    const leat_coordinate_options *options;
    leat_pg_place place;
    leat_database_hold hold;
    pthread_t thread;
    bool running;
    atomic_bool quit;
    leat_blockers blockers; /* the thread's own */
    pthread_mutex_t lock;
    char line[LEAT_BLOCKER_LINE_BYTES]; /* under the lock: to be said */
} leat_hold_renewer;
LEAT_MUST_CHECK leat_code leat_hold_renewer_start(leat_hold_renewer *renewer, leat_error *err);
void leat_hold_renewer_stop(leat_hold_renewer *renewer);
/* What it has to say, once, or had to when it was stopped; false, and "": nothing. */
bool leat_hold_renewer_hear(leat_hold_renewer *renewer, char line[LEAT_BLOCKER_LINE_BYTES]);

#define LEAT_COORDINATOR_NAMES_BYTES (LEAT_STEP_VALUES_MAX * 49 + 1)
typedef struct leat_coordinator {
    const leat_coordinate_options *options;
    leat_coordinate_result *result;
    const char *folder; /* RUN */
    leat_session session;
    leat_exchange *exchange;
    leat_exchange_sizes sizes;
    leat_pg_place place;
    leat_local *local; /* the private server; NULL: the database is elsewhere */
    bool line_said;
    leat_pg *pg;
    bool pooler_known; /* whether one is between */
    leat_database_hold hold;
    leat_hold_renewer renewer;
    leat_pause pause;
    leat_stop stop;       /* asks the caller */
    bool stopped;         /* it said so */
    bool lost;            /* the database, and the caller knows it */
    leat_code lost_code;  /* why */
    bool opened;          /* the run was open once */
    int64_t lacking_step; /* at which the schema lacked something, the last time; -1: never */
    bool tried_to_create, finished;
    bool alone;  /* no machine works, and the caller knows it */
    bool serves; /* the run keeps its data set in the database */
    int64_t run;
    char name[LEAT_CROWD_NAME_BYTES];               /* of the run */
    char value_names[LEAT_COORDINATOR_NAMES_BYTES]; /* of what a step computes: leat_database_run */
    int value_count;
    int64_t part_bytes;        /* of the run, which may have begun with another option */
    leat_database_position at; /* of the database, as last seen or written */
    leat_database_step taken;  /* the last step taken here; its step is -1: none */
    leat_ledger ledger;
    bool ledger_begun;
    leat_database_result *counted; /* of each unit of the step: what was added */
    leat_unit_norms *norms;        /* of each of those */
    leat_usual usual;              /* in the steps before */
    uint8_t *weights;              /* encoded, of the next step */
    char weights_hash[65];
    uint8_t *payload, *state;
    char state_hash[65];
    int64_t state_ns;               /* when the state went into the database */
    int64_t clear_briefly_until_ns; /* somebody reads the slots that are to be emptied */
} leat_coordinator;

/* What the run is in the database (settings.c). Its name there: `name`, or if it is NULL, that of
 * the folder. */
LEAT_MUST_CHECK leat_code leat_coordinator_name(const char *name, const char *run,
                                                char out[LEAT_CROWD_NAME_BYTES], leat_error *err);
/* Sets self->value_names and value_count. */
void leat_coordinator_name_values(leat_coordinator *self);
/* Whether a run of this name in the database is the coordinator's. LEAT_ERR_OPTION names what
 * differs. */
LEAT_MUST_CHECK leat_code leat_coordinator_check_run(const leat_coordinator *self,
                                                     const leat_database_run *run, leat_error *err);
/* LEAT_ERR_UNSUPPORTED: the schema is another version's; what is done about it. */
LEAT_MUST_CHECK leat_code leat_coordinator_check_version(const leat_coordinator *self,
                                                         leat_error *err);

/* What all files ask of it, and tell its caller (coordinator.c): a line of text for people. */
void leat_coordinator_say(const leat_coordinator *self, const char *format, ...) LEAT_PRINTF(2, 3);
/* How many units a step of the run has; 0: there is no such step, such as the one after the last.
 */
LEAT_MUST_CHECK leat_code leat_coordinator_units(const leat_coordinator *self, int64_t step,
                                                 int64_t *units, leat_error *err);
/* Whether RUN was new, and still has nothing that would be missed. */
bool leat_coordinator_is_new(const leat_coordinator *self);
/* Whether the caller wants an end; a report of progress, too. */
bool leat_coordinator_stopped(leat_coordinator *self);

/* Whether its database is a private server's. */
bool leat_coordinator_is_local(const leat_coordinator *self);

/* Where the database is (coordinator_database.c): whether it can be used, before anything is
 * written; then opens it; starts a private server again if it has ended; stops it. */
LEAT_MUST_CHECK leat_code leat_coordinator_check_place(leat_coordinator *self, const char *run,
                                                       leat_error *err);
LEAT_MUST_CHECK leat_code leat_coordinator_open_place(leat_coordinator *self, const char *run,
                                                      leat_error *err);
LEAT_MUST_CHECK leat_code leat_coordinator_revive_place(leat_coordinator *self, leat_error *err);
void leat_coordinator_close_place(leat_coordinator *self);
/* Says what was done about sessions that blocked the run, if anything. */
void leat_coordinator_say_blockers(leat_coordinator *self);
/* At the end of the run: a private server stays until the workers have heard of it, for a while. */
void leat_coordinator_say_goodbye(leat_coordinator *self);
/* Once there is a run to join: says which command does it, again if that has changed. */
void leat_coordinator_say_line(leat_coordinator *self);

/* Before anything is written for --serve-data. LEAT_ERR_OPTION: the feed has no samples that can be
 * sent one by one. */
LEAT_MUST_CHECK leat_code leat_coordinator_check_serve(const leat_coordinator *self,
                                                       leat_error *err);
/* Stores the data set in the database, as far as it is not there, if this run keeps it there
 * (serve.c). LEAT_ERR_CANCELLED: stopped between two parts. */
LEAT_MUST_CHECK leat_code leat_coordinator_serve_data(leat_coordinator *self, leat_error *err);
/* Stores the list of the data set's samples, unless the database has it (serve.c).
 * LEAT_ERR_CANCELLED: stopped between two parts. */
LEAT_MUST_CHECK leat_code leat_coordinator_list_data(leat_coordinator *self, leat_error *err);
/*
 * Makes the database and the state in memory the same step, with its weights in the database
 * (sync.c). Of the two the later step counts, unless the database has no state from which it could
 * be reached.
 */
LEAT_MUST_CHECK leat_code leat_coordinator_sync(leat_coordinator *self, leat_error *err);
/* Once the run has ended early, and the database knows it: takes back the units of the next step,
 * which were opened before the last one was measured. */
LEAT_MUST_CHECK leat_code leat_coordinator_end_early(leat_coordinator *self, leat_error *err);

/* Of weights, state and parts, the slots that are not in use (slots.c). Encodes the weights of the
 * next step. */
LEAT_MUST_CHECK leat_code leat_coordinator_encode(leat_coordinator *self, leat_error *err);
/* Empties a slot that is not in use. */
LEAT_MUST_CHECK leat_code leat_coordinator_clear(leat_coordinator *self, leat_database_kind kind,
                                                 int slot, leat_error *err);
/* Writes bytes to a slot that is not in use, after clearing it. */
LEAT_MUST_CHECK leat_code leat_coordinator_write(leat_coordinator *self, leat_database_kind kind,
                                                 int slot, const uint8_t *bytes, int64_t size_bytes,
                                                 leat_error *err);
/* Writes the state to the slot that is not in use. */
LEAT_MUST_CHECK leat_code leat_coordinator_write_state(leat_coordinator *self, int *slot,
                                                       leat_error *err);

/* A step (collect.c, commit.c). Adds all units of the step, as they arrive. LEAT_ERR_CANCELLED:
 * stopped between two.
 */
LEAT_MUST_CHECK leat_code leat_coordinator_collect(leat_coordinator *self, leat_error *err);
/* The step has diverged: drops the results among those added that are not what their units give,
 * and computes them here, for collecting all again. *some: there were such results. */
LEAT_MUST_CHECK leat_code leat_coordinator_doubt(leat_coordinator *self, bool *some,
                                                 leat_error *err);
/* The trainer has taken a step: encodes its weights, and writes it to the ledger. */
LEAT_MUST_CHECK leat_code leat_coordinator_take(leat_coordinator *self,
                                                const leat_step_numbers *numbers, leat_error *err);
/* Commits that step, also again after a connection that was lost. */
LEAT_MUST_CHECK leat_code leat_coordinator_commit(leat_coordinator *self, leat_error *err);

/* What the ledger knows of what is usual before the trainer's step (record.c). */
LEAT_MUST_CHECK leat_code leat_coordinator_read_usual(leat_coordinator *self, const char *path,
                                                      leat_error *err);
/* The ledger (record.c): this coordinator begins; a result of the open step is refused; all units
 * of a step, self->counted, led to the trainer's state. */
LEAT_MUST_CHECK leat_code leat_coordinator_record_begin(leat_coordinator *self, leat_error *err);
LEAT_MUST_CHECK leat_code leat_coordinator_record_refused(leat_coordinator *self, int64_t step,
                                                          const leat_database_result *result,
                                                          bool mismatch, const char *why,
                                                          leat_error *err);
LEAT_MUST_CHECK leat_code leat_coordinator_record_step(leat_coordinator *self, int64_t step,
                                                       leat_error *err);

#endif
