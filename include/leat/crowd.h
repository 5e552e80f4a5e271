/*
 * leat/crowd.h: a model trained on volunteers' machines, through a PostgreSQL database: its
 * coordinator, its workers, and what the database says about it. docs/crowd.md describes all of it.
 *
 * The weights after a step are those of leat_train with the same data and settings, whoever worked,
 * in which order, and whatever died. Times are those of the database's clock. Connections that are
 * lost are made again until that succeeds; LEAT_ERR_CONNECTION is returned only where that is said.
 *
 * A database is named by a URL, "postgresql://USER:PASSWORD@HOST:PORT/DATABASE?run=NAME"; user,
 * host and database must be there, `run` where several runs are open. Wherever a URL is wanted, a
 * ticket, "leat1:...", is one, too: it names the database and the run, and has the certificate that
 * the server is verified with.
 */
#ifndef LEAT_CROWD_H
#define LEAT_CROWD_H

#include "leat/base.h"
#include "leat/train.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The URL or ticket that is meant by "-" (the first line of standard input), by "@FILE" (the first
 * line of a file) or by itself, with its NUL. The arguments of a program can be read by every user
 * of its machine. LEAT_ERR_OPTION: there is no such line, or it is too long. */
#define LEAT_CROWD_URL_BYTES 8192
LEAT_API LEAT_MUST_CHECK leat_code leat_crowd_url_read(const char *typed,
                                                       char out[LEAT_CROWD_URL_BYTES],
                                                       leat_error *err);

/* A line of text on what happens, for people; called from one thread at a time. */
typedef void (*leat_say_fn)(void *user, const char *line);

/* ---- The coordinator ------------------------------------------------------------------------ */

typedef struct leat_coordinate_options {
    const char *url;       /* or "local": LEAT_LOCAL_URL */
    const char *name;      /* of the run in the database: letters, digits, "." "_" "-"; NULL: that
                            * of the folder */
    const char *who;       /* this coordinator, for those who wait for it; at most 64 characters */
    const char *data_note; /* tells a machine without the data where it is; NULL: nothing */
    leat_train_options train; /* of one pass a step, as a DCGAN's schedule simultaneous; with
                               * resume: continues what is found */
    /* The run's times, the same for all who work on it. */
    int64_t lease_ms;   /* a unit is somebody's for so long */
    int64_t renew_ms;   /* between two signs of life of a worker */
    int64_t silent_ms;  /* without one, another machine gets a copy of the unit */
    int64_t hold_ms;    /* the run is this coordinator's for so long, each time */
    int64_t poll_ms;    /* between looks at what has arrived */
    int64_t state_ms;   /* the state is written to the database at most this often */
    int64_t part_bytes; /* everything is stored in parts of this size, 1 KiB to 8 MiB */
    int64_t outlier;    /* a result whose gradient or statistics are so many times as large as usual
                         * is computed here, too; the weights do not depend on it unless somebody
                         * hands in what a unit does not give */
    const char *listen; /* with the URL "local": as in leat_local_options */
    bool serve_data;    /* the run keeps its data set in the database, for workers without it; a
                         * run that does so already continues to */
    /* Called as leat_train calls them, and `say` also between steps. */
    leat_say_fn say;
    void *user; /* of say; train.user is that of train's functions */
} leat_coordinate_options;

/* A step of 3 units of 320 images in micro-batches of 32, bf16 both ways; leases of 300 s renewed
 * each 10 s, silent after 30 s, a hold of 15 s; a look each 500 ms, the state each 30 s, 1 MiB; ten
 * times as large as usual is strange. */
LEAT_API leat_coordinate_options leat_coordinate_options_default(void);
/* "lease-ms", "renew-ms", "silent-ms", "hold-ms", "poll-ms", "state-ms", "part-bytes",
 * "outlier", "data-note", "listen", "serve-data". */
LEAT_API const leat_setting_table *leat_coordinate_options_table(void);
/* The settings of leat_train_options_table, with the defaults of a run by many machines. */
LEAT_API const leat_setting_table *leat_coordinate_train_table(void);
/* Sets *train, and `settings` of the model (as leat_train_config_load), to those of a run that the
 * database has, for a coordinator whose folder is lost; options: url, name, poll_ms, and what says
 * and asks while a database is waited for that is away or being restored. LEAT_ERR_NOT_FOUND: it
 * has no such run; LEAT_ERR_OPTION also: the run is of another model. LEAT_ERR_UNSUPPORTED: the
 * schema is another version's. LEAT_ERR_CANCELLED: while it was waited for, options->train.progress
 * returned false. */
LEAT_API LEAT_MUST_CHECK leat_code leat_coordinate_settings(const leat_coordinate_options *options,
                                                            const char *model, const char *run,
                                                            leat_train_options *train,
                                                            void *settings, leat_error *err);

typedef struct leat_coordinate_result {
    leat_train_result train;
    int64_t arrived, refused; /* units: that counted; that did not */
    int64_t own;              /* computed here, because no machine could */
    int64_t connections;
} leat_coordinate_result;

/*
 * Trains `model` on `data` in the folder `run`, by whoever works. The schema is created if it is
 * missing. Another coordinator that holds the run is waited for. Codes are those of leat_train;
 * LEAT_ERR_EXISTS also: the database has an unfinished run of this name, and resume is not set.
 * LEAT_ERR_UNSUPPORTED: the server is older than 13, or is reached through a transaction or
 * statement pooler (leat_crowd_pooler), or the schema is another version's; the message says how to
 * continue. LEAT_ERR_OPTION also: the server refuses the login.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_coordinate(const char *model, const char *data,
                                                   const char *run,
                                                   const leat_coordinate_options *options,
                                                   leat_coordinate_result *result, leat_error *err);

/* ---- A database for one run ----------------------------------------------------------------- */

/*
 * A PostgreSQL server of one's own, in a folder, for as long as the handle is open: for training
 * with the machines of a room, or to try things, without a database elsewhere. The programs of the
 * server, 13 or newer, must be installed. It listens on 127.0.0.1, and is stopped when the
 * handle is closed or this process dies. With `listen` it serves other machines, too: logins that
 * leat_invite has created, with the URL in the folder's file "invite.url", over TLS alone, by a
 * certificate of the folder's own authority. leat_coordinate does all this in RUN/database if its
 * URL is LEAT_LOCAL_URL.
 */
#define LEAT_LOCAL_URL "local"
typedef struct leat_local leat_local;

typedef struct leat_local_options {
    const char *programs;      /* folder of postgres and initdb; NULL: the newest that are found */
    const char *listen;        /* an address or a name of this machine, for other machines, with
                                * ":PORT" or without; NULL: this machine alone */
    leat_say_fn say;           /* may be NULL, like progress */
    leat_progress_fn progress; /* false: stop starting */
    void *user;                /* of both */
} leat_local_options;

/*
 * Starts the server of a folder, which is created with a database and two logins if it is missing:
 * "owner", who owns it, and "worker", who has no rights of his own. A server that a killed process
 * has left there is stopped first. As root, the server runs as the owner of its data, at first
 * "postgres", else "nobody", and that user must be able to enter the folder. If a first start
 * fails, what it has created is removed; nothing else is ever removed. `options` may be NULL.
 *
 * LEAT_ERR_UNSUPPORTED: the programs, or those of the version that created it, are not installed.
 * LEAT_ERR_BUSY: another process has it. LEAT_ERR_EXISTS: the folder holds something else.
 * LEAT_ERR_OPTION: it is closed to the user, or was created on another machine, or `listen` is not
 * an address of this one.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_local_open(leat_local **out, const char *folder,
                                                   const leat_local_options *options,
                                                   leat_error *err);
/* Starts the server again if it has ended. The URLs may change: its port may be taken by now. */
LEAT_API LEAT_MUST_CHECK leat_code leat_local_revive(leat_local *local, leat_error *err);
/* For leat_coordinate, and for leat_work without the name of a run. They contain passwords. */
LEAT_API const char *leat_local_url(const leat_local *local);
LEAT_API const char *leat_local_worker_url(const leat_local *local);
/* The number of its main process; 0: it does not run. */
LEAT_API int64_t leat_local_process(const leat_local *local);
/* Stops the server. The folder stays. */
LEAT_API void leat_local_close(leat_local *local);

/* ---- Workers -------------------------------------------------------------------------------- */

/* The identity of a machine: 32 random hexadecimal digits, which others see, and 32 that prove it,
 * in a file, which is created if it is missing and locked while it is in use. If another process
 * has it, the next free one of "NAME-2.key", "NAME-3.key", ... is taken, which leat_key_path
 * returns. */
typedef struct leat_key leat_key;
LEAT_API LEAT_MUST_CHECK leat_code leat_key_open(leat_key **out, const char *path, leat_error *err);
LEAT_API void leat_key_close(leat_key *key);
LEAT_API const char *leat_key_id(const leat_key *key);
LEAT_API const char *leat_key_secret(const leat_key *key);
LEAT_API const char *leat_key_path(const leat_key *key);

/* Spans of the local day in which a machine takes no units; in minutes since midnight, an end
 * before its begin is that of the next day. */
#define LEAT_QUIET_HOURS_MAX 16
typedef struct leat_quiet_hours {
    int32_t count;
    int32_t begin[LEAT_QUIET_HOURS_MAX], end[LEAT_QUIET_HOURS_MAX];
} leat_quiet_hours;
/* Reads "22:00-07:00", or several with commas between them. LEAT_ERR_OPTION: the text is something
 * else, a span has equal ends, or no minute is left. */
LEAT_API LEAT_MUST_CHECK leat_code leat_quiet_hours_parse(leat_quiet_hours *out, const char *text,
                                                          leat_error *err);

typedef struct leat_work_options {
    const char *url;
    const char *data;            /* data set; its fingerprint must be the run's. NULL: its images
                                  * are fetched from the database, if the run keeps them there */
    const char *machine;         /* leat_key_id */
    const char *secret;          /* leat_key_secret: whoever has another one is not this machine */
    const char *name, *hardware; /* for the list of workers */
    int32_t threads;
    int64_t memory_bytes; /* 0: no limit; otherwise a run that needs more is refused */
    const char *kernels;  /* as in leat_dcgan_options */
    bool once;            /* one unit */
    int64_t poll_ms;      /* at most, between questions while there is nothing to do; a new step
                           * wakes it before that */
    /* When it takes no units; the one that it computes is handed in, or left to others if that
     * takes longer than grace_ms. */
    bool pause_on_battery;
    leat_quiet_hours quiet;
    /* Called at least 10 times a second, with the units done, from the calling thread. False: ends
     * once the unit that is computed is handed in, or releases it if that takes longer than
     * grace_ms. */
    leat_progress_fn progress;
    int64_t grace_ms;
    leat_say_fn say;
    void *user; /* of both */
} leat_work_options;
/* All processors, a question each 5 s, a grace of 60 s; pauses on battery. */
LEAT_API leat_work_options leat_work_options_default(void);

typedef struct leat_work_result {
    int64_t accepted; /* units handed in */
    int64_t lost;     /* computed in vain: somebody was faster, or the run went elsewhere */
    int64_t connections;
    char run[65];
} leat_work_result;

/*
 * Lends this machine to a run until it is finished. LEAT_ERR_CANCELLED: stopped; its leases were
 * released as far as the database could be reached. LEAT_ERR_OPTION: this machine cannot take part:
 * no data, other data, model, kernel class or version, too little memory, or the server refuses the
 * login; the message names it. LEAT_ERR_UNSUPPORTED: a transaction or statement pooler is in
 * between, or the schema is another version's. LEAT_ERR_NOT_FOUND: the database has no such run.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_work(const leat_work_options *options,
                                             leat_work_result *result, leat_error *err);

/* ---- Letting people in, and out -------------------------------------------------------------- */

typedef struct leat_invite_options {
    const char *url;   /* of the database; its login creates roles, and owns the database or is a
                        * superuser's. Volunteers reach the server by its host and port, and verify
                        * it as this URL does: by sslmode=verify-full and a file or "system" in
                        * sslrootcert. Without TLS, only on the server's own machine. */
    const char *login; /* that is created: 1 to 63 bytes */
    const char *run;  /* that the ticket is for; NULL: that of the URL, or the one that is open when
                       * it is used */
    int64_t machines; /* that the login is for at the same time, 1 to LEAT_INVITE_MACHINES_MAX;
                       * 0: as many as before, or LEAT_INVITE_MACHINES. It gets one connection
                       * more, with which each looks around when it begins, and which one more
                       * machine may take. */
    bool new_password; /* of a login that was invited before: another ticket; the earlier one is
                        * void, and its sessions are ended. Without it, and with machines, the
                        * login keeps its ticket, and its number of machines is changed. */
} leat_invite_options;
#define LEAT_INVITE_MACHINES 4
#define LEAT_INVITE_MACHINES_MAX 64
/* machines = 0. */
LEAT_API leat_invite_options leat_invite_options_default(void);

typedef struct leat_invite_result {
    char ticket[LEAT_CROWD_URL_BYTES]; /* a secret: whoever has it works as the login; "": only the
                                        * number of machines was changed */
    char run[65];                      /* "": the one that is open */
    bool replaced;                     /* the login was there before */
    bool serves_data;                  /* a worker does not need the data set */
    bool only_here;                    /* the ticket names this machine by its loopback address */
    int64_t machines;                  /* that the login is for */
    int64_t connections;               /* that it may have */
    char untried[LEAT_MESSAGE_BYTES];  /* why the ticket does not let anybody in from here; "": it
                                        * does, which was tried */
} leat_invite_result;
/*
 * Creates a login that may connect to the database, and nothing else, with limits on connections
 * and times, and a ticket for it. The server gets a SCRAM verifier instead of the password.
 * LEAT_ERR_EXISTS: there is such a login, which leat did not create, or neither new_password nor
 * machines is set. LEAT_ERR_OPTION: this login may not create others, or the server could not be
 * verified. LEAT_ERR_NOT_FOUND: the database has no open run of this name, or with new_password
 * nobody was invited by this one. LEAT_ERR_CONNECTION.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_invite(const leat_invite_options *options,
                                               leat_invite_result *result, leat_error *err);

typedef struct leat_revoke_result {
    int64_t sessions; /* that were ended */
    int64_t leases;   /* that were ended: others compute these units */
    int64_t results;  /* of the open step, that are not counted, but computed again */
    int64_t counted;  /* of the open step, that were counted before and stay */
} leat_revoke_result;
/*
 * Removes a login that leat_invite created: it can no longer connect, its sessions end, and so does
 * its work. LEAT_ERR_NOT_FOUND: there is no such login. LEAT_ERR_OPTION: leat did not create it.
 * LEAT_ERR_BUSY: it owns something, which the message names, or a session does not end; it can no
 * longer connect, and the call may be repeated. LEAT_ERR_CONNECTION.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_revoke(const char *url, const char *login,
                                               leat_revoke_result *result, leat_error *err);

/* SQL that takes from the logins of a server what a run's volunteers do not need; for a superuser,
 * in the database of the run. */
LEAT_API const char *leat_crowd_roles_sql(void);

/* ---- How many units a run should have -------------------------------------------------------- */

#define LEAT_CROWD_PLAN_WORKERS_MAX 1000
typedef struct leat_crowd_plan_options {
    int64_t workers;          /* machines, 1 to LEAT_CROWD_PLAN_WORKERS_MAX */
    int64_t units, unit_size; /* of a step, as wanted: samples, or batches of graphs */
    int64_t multiple;         /* of which every size of a unit is one: a micro-batch, or 1 */
    double unit_seconds;      /* that a usual machine computes a unit of unit_size, 0.001 to 3600 */
    double spread;            /* standard deviation of the logarithm of the machines' speeds, 0 to
                               * 1 */
    int64_t payload_bytes, weights_bytes; /* as in leat_train_estimate, at most 512 MiB */
    int64_t sample_bytes; /* of a sample that each machine fetches; 0: it has the data set */
    int64_t data_samples; /* of the data set, counted as unit_size is; 0: not known */
    int64_t link_bits;    /* per second, up, of each machine's link; 0: no limit */
    int64_t down_bits;    /* the same down; 0: as link_bits */
    int64_t server_bits;  /* each way, of the database's link, which all machines share */
    int64_t part_bytes, lease_ms, renew_ms, silent_ms, poll_ms; /* as in leat_coordinate_options */
    leat_progress_fn progress; /* before each row, from the calling thread; may be NULL */
    void *progress_user;
} leat_crowd_plan_options;
/* A step should have at most so large a part of the data set: an epoch then has ten steps. */
#define LEAT_CROWD_PLAN_EPOCH_STEPS 10
/* One machine, 10 s a unit, links of 100 Mbit/s and 1 Gbit/s, a spread of 0.3, no bytes, a data set
 * of unknown size; the rest as leat_coordinate_options_default. */
LEAT_API leat_crowd_plan_options leat_crowd_plan_options_default(void);
/* The options that a person sets: "plan" (workers), "uplink", "downlink", "server-link",
 * "unit-seconds", "spread". */
LEAT_API const leat_setting_table *leat_crowd_plan_options_table(void);

/* A number of units of a step, and what it leads to. */
typedef struct leat_crowd_plan_row {
    int64_t units, unit_size;
    double step_seconds;
    double useful_share;  /* of the time in which machines compute: that for results that count */
    double counted_share; /* of the units that are computed to the end: those that count */
    double speed_share;   /* of what the machines compute if they do nothing else: what counts */
    double read_share;    /* of the time: that in which the coordinator reads results */
    double epoch_steps;   /* steps that have as many samples as the data set; NaN: not known */
    bool fits;            /* epoch_steps is at least LEAT_CROWD_PLAN_EPOCH_STEPS, or not known */
    int64_t up_bytes, down_bytes; /* of all machines, a step */
} leat_crowd_plan_row;

#define LEAT_CROWD_PLAN_ROWS 12
typedef struct leat_crowd_plan_table {
    leat_crowd_plan_row rows[LEAT_CROWD_PLAN_ROWS]; /* by the samples of a step, then by units */
    int count;
    /* Of the rows that fit: the fewest samples a step with a speed_share of 85 %, or the highest
     * share; where none fits, the fewest samples. */
    int best;
    bool is_enough; /* it fits, and has 85 % */
} leat_crowd_plan_table;
/*
 * Simulates steps of a run: with the units that are wanted, with the same samples in one, two, four
 * and ten units for each machine, and with so many units of the wanted size. Machines have a login
 * each; nothing is lost. The numbers are a function of the options.
 * LEAT_ERR_OPTION: one of them is out of range, or a step takes more than 30 days.
 * LEAT_ERR_CANCELLED: progress returned false.
 * Source: src/crowd/plan.h.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_crowd_plan(const leat_crowd_plan_options *options,
                                                   leat_crowd_plan_table *table, leat_error *err);

/* ---- What a database is good for ------------------------------------------------------------ */

/* What is between this machine and the server: each transaction or statement on another connection
 * of the server cannot be worked with. */
typedef enum leat_crowd_pooler {
    LEAT_CROWD_POOLER_UNKNOWN,
    LEAT_CROWD_POOLER_NONE,
    LEAT_CROWD_POOLER_SESSION,
    LEAT_CROWD_POOLER_TRANSACTION,
    LEAT_CROWD_POOLER_STATEMENT
} leat_crowd_pooler;

/* A problem prevents both coordinating and working. */
typedef enum leat_crowd_verdict {
    LEAT_CROWD_OK,
    LEAT_CROWD_NOTE,
    LEAT_CROWD_PROBLEM
} leat_crowd_verdict;
/* A finding, and what to do about it ("": nothing); called from the calling thread. */
typedef void (*leat_crowd_finding_fn)(void *user, leat_crowd_verdict verdict, const char *what,
                                      const char *todo);

/* Numbers that are not known are -1 or NaN, texts "". */
typedef struct leat_crowd_facts {
    char host[256], port[16], login[65], database[65];
    char failed[16];        /* "name", "connection", "login" or "database"; "": connected */
    int32_t server_version; /* 150018 for 15.18 */
    leat_crowd_pooler pooler;
    bool loopback;
    char tls[32];
    bool verified;           /* the server's certificate */
    bool public_may_connect; /* every login of the server, and so work on its runs */
    int64_t schema_version;  /* 0: there is no schema */
    bool can_coordinate, can_work;
    int64_t open_runs;
    int64_t database_bytes;
    int64_t free_bytes;   /* of the folder of a server that is on this machine */
    double clock_seconds; /* that the server's clock is ahead of this machine's */
    double round_trip_seconds;
    double up_bytes, down_bytes; /* per second */
    int64_t connections, connections_max;
    int64_t workers_fit;     /* besides those that are connected, and a coordinator */
    int64_t workers_missing; /* of those asked for, that have no connection left */
    bool may_end_sessions;   /* of other logins */
    int64_t step_bytes;      /* that the server sends in a step of the newest open run */
    int64_t snapshot_age;    /* transactions since the oldest snapshot that is held */
} leat_crowd_facts;

/*
 * Looks whether runs can be coordinated or worked on in a database, and reports each finding;
 * `workers`: by how many machines, 0: by those that work now.
 * Changes nothing in it; sends and receives at most 6 MB each. LEAT_OK whatever is found.
 * LEAT_ERR_OPTION: the URL is not valid. LEAT_ERR_UNSUPPORTED: built without libpq.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_crowd_check(const char *url, int64_t workers,
                                                    leat_crowd_finding_fn tell, void *user,
                                                    leat_crowd_facts *facts, leat_error *err);

/* ---- What the database says ----------------------------------------------------------------- */

typedef struct leat_crowd_worker {
    char account[65], machine[33], name[65], hardware[65];
    bool active;         /* a sign of life within two minutes */
    double seen_seconds; /* ago */
    int64_t accepted, refused, bytes;
    int64_t step, unit; /* that it computes; -1: none */
} leat_crowd_worker;

/* What a step of a model computes, by name: "loss_g". */
typedef struct leat_crowd_value {
    char name[49];
    double value;
} leat_crowd_value;

typedef struct leat_crowd_run {
    char name[65], model[65], state[17], reason[256], coordinator[65];
    bool coordinated;         /* somebody holds it */
    int64_t step, steps;      /* taken; the last one */
    int64_t units, unit_size; /* of a step, at most; samples of each, 0: they differ */
    int64_t samples;
    int64_t ready, out, done;                      /* units of the open step */
    int32_t value_count;                           /* 0: no step is taken */
    leat_crowd_value values[LEAT_STEP_VALUES_MAX]; /* of the last step, in the model's order */
    double step_seconds;                           /* of the last steps, the median; NaN: none */
    int64_t payload_bytes, weights_bytes;
    int64_t database_bytes;
    bool serves_data; /* keeps its data set in the database, for workers without it */
} leat_crowd_run;

/* A unit that a machine could not compute, a result that was refused, or a machine whose link is
 * too slow for the run. */
typedef struct leat_crowd_event {
    double seconds;                          /* ago */
    char kind[17];                           /* "failed", "refused", "slow" */
    char account[65], machine[33], name[65]; /* of the machine; "": unknown */
    char words[512];                         /* step, unit and reason; what would be fast enough */
} leat_crowd_event;

typedef struct leat_crowd_status leat_crowd_status;
/* Reads the views that every login may read. LEAT_ERR_CONNECTION: the server cannot be reached now.
 * LEAT_ERR_NOT_FOUND: there is no schema, or no run (of the name in the URL). LEAT_ERR_OPTION: the
 * URL is not valid, or the server refuses the login. LEAT_ERR_UNSUPPORTED: the schema is another
 * version's. */
LEAT_API LEAT_MUST_CHECK leat_code leat_crowd_status_load(leat_crowd_status **out, const char *url,
                                                          leat_error *err);
LEAT_API void leat_crowd_status_destroy(leat_crowd_status *status);
LEAT_API const leat_crowd_run *leat_crowd_run_of(const leat_crowd_status *status);
/* A value of the last step; NaN: it has none of this name. */
LEAT_API double leat_crowd_run_value(const leat_crowd_run *run, const char *name);
/* The workers, those with most units first; false after the last. */
LEAT_API bool leat_crowd_worker_at(const leat_crowd_status *status, int index,
                                   leat_crowd_worker *out);
/* The last LEAT_CROWD_EVENTS events, the newest first; false after the last. */
#define LEAT_CROWD_EVENTS 20
LEAT_API bool leat_crowd_event_at(const leat_crowd_status *status, int index,
                                  leat_crowd_event *out);

#ifdef __cplusplus
}
#endif

#endif
