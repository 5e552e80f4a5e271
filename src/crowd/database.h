/*
 * The database of a run, as calls: each is one transaction of the schema (schema.sql,
 * schema_limits.sql, schema_owner.sql), and nothing else in this room contains SQL. docs/crowd.md
 * describes tables, states and who calls what.
 *
 * Failures are those of leat_pg_call. LEAT_ERR_BUSY: another coordinator has taken over the run, or
 * the run is not where the caller takes it to be: look again. LEAT_ERR_CORRUPT: the database says
 * what cannot be; what it says is input here, and holds for whoever reads it from here.
 * Transactions that the server undoes because of a deadlock are repeated here.
 */
#ifndef LEAT_CROWD_DATABASE_H
#define LEAT_CROWD_DATABASE_H

#include "crowd/libpq.h"
#include "crowd/usual.h"
#include "leat/train.h"

#define LEAT_CROWD_SCHEMA_VERSION 7
#define LEAT_CROWD_PART_BYTES_MIN 1024
#define LEAT_CROWD_PART_BYTES_MAX (INT64_C(8) << 20)
#define LEAT_CROWD_WORDS_BYTES 512
#define LEAT_CROWD_MACHINE_BYTES 33 /* 32 hexadecimal digits */
/* Of a run. */
#define LEAT_CROWD_NAME_BYTES 65
#define LEAT_CROWD_NAME_CHARACTERS                                                                 \
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"

/* Creates the schema if it is missing. LEAT_ERR_UNSUPPORTED: it is another version's, or the server
 * is older than 13. LEAT_ERR_OPTION: this login may not create it. LEAT_ERR_BUSY: it is being
 * restored from a dump, as leat_database_check_complete. */
LEAT_MUST_CHECK leat_code leat_database_install(leat_pg *pg, leat_error *err);
/* The SQL that creates it, in parts; the last one ends with what is granted to all logins. */
#define LEAT_DATABASE_SCHEMA_PARTS 3
const char *leat_database_schema(int part);

/* The version of the schema of a database; 0: it has none; LEAT_DATABASE_UNFINISHED: the schema
 * does not say which, as while a dump is restored. */
#define LEAT_DATABASE_UNFINISHED (-1)
LEAT_MUST_CHECK leat_code leat_database_find_version(leat_pg *pg, int64_t *version,
                                                     leat_error *err);
/* What is done about another version than this leat's: for the owner of the database, with `run`
 * for the folder of a run. False: nothing, but by the leat that created it. */
#define LEAT_DATABASE_REMEDY_BYTES 400
bool leat_database_remedy(int64_t version, const char *run, char words[LEAT_DATABASE_REMEDY_BYTES]);
/* And about a schema that is not complete. */
void leat_database_replacement(const char *run, char words[LEAT_DATABASE_REMEDY_BYTES]);
/* Keys and indexes that a schema of this leat's version lacks, in words; "": it has them all. They
 * come last when a dump is restored. */
LEAT_MUST_CHECK leat_code leat_database_find_missing(leat_pg *pg,
                                                     char missing[LEAT_CROWD_WORDS_BYTES],
                                                     leat_error *err);
/* LEAT_ERR_BUSY: some are missing; the message says what to do if nobody restores a dump. */
LEAT_MUST_CHECK leat_code leat_database_check_complete(leat_pg *pg, leat_error *err);
/* The same of a version that find_version gave: LEAT_OK for all but LEAT_DATABASE_UNFINISHED. */
LEAT_MUST_CHECK leat_code leat_database_check_finished(int64_t version, leat_error *err);
/* After a failure: something of the schema is missing, or this login may not use it; so it is while
 * a dump is restored. */
bool leat_database_is_lacking(const leat_pg *pg);
/* Fails: LEAT_ERR_UNSUPPORTED, with the version, the one that is needed, and the remedy. */
LEAT_MUST_CHECK leat_code leat_database_refuse_version(int64_t version, const char *remedy,
                                                       leat_error *err);
/* Fails so, with a remedy for whoever is not the owner. LEAT_ERR_BUSY: it is not there yet, or this
 * login may not read it, as while a dump is restored. LEAT_OK: the version is this leat's, or is
 * not known to this login. LEAT_ERR_CONNECTION: the connection is broken. */
LEAT_MUST_CHECK leat_code leat_database_check_version(leat_pg *pg, leat_error *err);

/*
 * Wakes those who listen to a run, in a transaction of its own: it takes a lock of the whole
 * server. Nothing depends on it, because who listens also polls, so a server that refuses is
 * ignored. LEAT_ERR_CONNECTION: the connection is broken.
 */
LEAT_MUST_CHECK leat_code leat_database_wake(leat_pg *pg, int64_t run, leat_error *err);
LEAT_MUST_CHECK leat_code leat_database_listen(leat_pg *pg, int64_t run, leat_error *err);

/* What a run is. Texts belong to the caller of create, and to the rows of register. */
typedef struct leat_database_run {
    int64_t id;
    const char *name, *identity, *settings, *model, *model_hash, *data, *data_note, *kernel_class,
        *leat_version;
    const char *value_names; /* of what a step computes, with a blank between two */
    int64_t samples, steps;
    int64_t units, unit_size; /* of a step, at most; samples of each, 0: they differ */
    int64_t payload_bytes, weights_bytes, state_bytes, memory_bytes;
    int64_t part_bytes;   /* of everything that is stored in parts */
    int64_t sample_bytes; /* of a sample of the data set in the database; 0: it is not there */
    int64_t list_bytes;   /* of the list of its samples in the database; 0: it is not there */
    int64_t lease_ms, renew_ms, silent_ms, hold_ms;
    const char *state; /* "open", "paused", "finished" */
} leat_database_run;

/* ---- Workers ------------------------------------------------------------------------------- */

/* Who works: an id that all may know, a secret that proves it, and two texts for lists. */
typedef struct leat_database_machine {
    const char *id, *secret, *name, *hardware;
} leat_database_machine;
/* Begins to work on a run ("": the only one); ends what an earlier process of this machine had. The
 * machine works in this session alone from now on.
 * LEAT_ERR_UNSUPPORTED: the schema is another version's.
 * *rows holds the texts of *run until they are destroyed. LEAT_ERR_NOT_FOUND: no such run;
 * LEAT_ERR_OPTION: several are open. */
LEAT_MUST_CHECK leat_code leat_database_register(leat_pg *pg, const char *run_name,
                                                 const leat_database_machine *machine,
                                                 leat_database_run *run, leat_pg_rows **rows,
                                                 leat_error *err);
/* The same machine works in this session now, after a connection that was lost, and its leases go
 * on. *known: false: it must register. */
LEAT_MUST_CHECK leat_code leat_database_rejoin(leat_pg *pg, const char *machine, const char *secret,
                                               bool *known, leat_error *err);

typedef struct leat_database_lease {
    int64_t lease; /* 0: there is nothing to do */
    int64_t epoch, step, unit;
    bool copy;                         /* another machine has the unit as well */
    char weights[65];                  /* hash of those to use */
    char run_state[16];                /* "open", ... */
    char news[LEAT_CROWD_WORDS_BYTES]; /* what became of earlier results, if it was not good */
} leat_database_lease;
/* `kept`: the lease that the machine has, or 0; any other of it ends, such as one whose grant never
 * reached it. */
LEAT_MUST_CHECK leat_code leat_database_claim(leat_pg *pg, int64_t run, const char *machine,
                                              int64_t kept, leat_database_lease *lease,
                                              leat_error *err);
/* The same for a machine that computes `kept` and has nothing to send: a unit that it will compute
 * afterwards, if there are enough for all machines. */
LEAT_MUST_CHECK leat_code leat_database_claim_ahead(leat_pg *pg, int64_t run, const char *machine,
                                                    int64_t kept, leat_database_lease *lease,
                                                    leat_error *err);
/* In the following, why is "" if it was done; else the lease is over, because ... These two:
 * another process has the same key, as on machines that were copied with it; a copy of the unit was
 * there first. */
#define LEAT_DATABASE_CLONED "another process works as this machine"
#define LEAT_DATABASE_SLOWER "another machine was faster"
LEAT_MUST_CHECK leat_code leat_database_renew(leat_pg *pg, const leat_database_lease *lease,
                                              char why[LEAT_CROWD_WORDS_BYTES], leat_error *err);
LEAT_MUST_CHECK leat_code leat_database_release(leat_pg *pg, const leat_database_lease *lease,
                                                leat_error *err);
LEAT_MUST_CHECK leat_code leat_database_fail(leat_pg *pg, const leat_database_lease *lease,
                                             const char *reason, leat_error *err);
LEAT_MUST_CHECK leat_code leat_database_put(leat_pg *pg, const leat_database_lease *lease,
                                            int64_t part, const uint8_t *bytes, int64_t size_bytes,
                                            char why[LEAT_CROWD_WORDS_BYTES], leat_error *err);
LEAT_MUST_CHECK leat_code leat_database_submit(leat_pg *pg, const leat_database_lease *lease,
                                               const char hash[65],
                                               char why[LEAT_CROWD_WORDS_BYTES], leat_error *err);
/* This machine is too slow for the run: an event, in place of the one before. Kept if the server
 * takes it. */
LEAT_MUST_CHECK leat_code leat_database_slow(leat_pg *pg, int64_t run, const char *machine,
                                             const char *words, leat_error *err);
/* A part of the weights with this hash, of exactly size_bytes. LEAT_ERR_NOT_FOUND: they are not
 * here, or no longer. */
LEAT_MUST_CHECK leat_code leat_database_fetch(leat_pg *pg, int64_t run, const char weights[65],
                                              int64_t part, uint8_t *out, int64_t size_bytes,
                                              leat_error *err);
/* How many samples leat_database_samples and leat_database_put_data take at once. */
int64_t leat_database_samples_most(int64_t part_bytes, int64_t sample_bytes);
/* Samples by number, in this order, size_bytes in all. LEAT_ERR_NOT_FOUND: the database does not
 * have them all; LEAT_ERR_OPTION: they are too many, or not the run's; LEAT_ERR_CORRUPT: others
 * came. */
LEAT_MUST_CHECK leat_code leat_database_samples(leat_pg *pg, int64_t run, const int64_t *indices,
                                                int64_t count, uint8_t *out, int64_t size_bytes,
                                                leat_error *err);

/* The list of samples, run->list_bytes of it. LEAT_ERR_NOT_FOUND: it is not here; LEAT_ERR_CORRUPT:
 * it has another size. */
LEAT_MUST_CHECK leat_code leat_database_list(leat_pg *pg, const leat_database_run *run,
                                             uint8_t *out, leat_error *err);

/* ---- The coordinator ------------------------------------------------------------------------ */

/* Makes a run with its tables; leat_database_open_step opens it. LEAT_ERR_EXISTS: one of this name
 * is not finished. */
LEAT_MUST_CHECK leat_code leat_database_create_run(leat_pg *pg, const leat_database_run *run,
                                                   int64_t *id, leat_error *err);
/* The newest run of this name. LEAT_ERR_NOT_FOUND. */
LEAT_MUST_CHECK leat_code leat_database_find_run(leat_pg *pg, const char *name,
                                                 leat_database_run *run, leat_pg_rows **rows,
                                                 leat_error *err);

/* After LEAT_ERR_BUSY: whether the run is held by another coordinator; whether it is not where the
 * call took it to be. Otherwise it passes: a lock, a disk. */
bool leat_database_is_taken(const leat_pg *pg);
bool leat_database_is_locked(const leat_pg *pg); /* for longer than the session waits for a lock */
bool leat_database_is_elsewhere(const leat_pg *pg);

/* The right to write: from leat_database_hold. */
typedef struct leat_database_hold {
    int64_t run, fence, epoch;
} leat_database_hold;
/* Takes the run, or renews the hold; LEAT_ERR_BUSY names who has it and for how long. */
LEAT_MUST_CHECK leat_code leat_database_take(leat_pg *pg, const char *name,
                                             leat_database_hold *hold, leat_error *err);
/* Renews a hold that was taken; LEAT_ERR_BUSY: it has passed to another coordinator. */
LEAT_MUST_CHECK leat_code leat_database_renew_hold(leat_pg *pg, const leat_database_hold *hold,
                                                   leat_error *err);
LEAT_MUST_CHECK leat_code leat_database_give_up(leat_pg *pg, const leat_database_hold *hold,
                                                leat_error *err);
/* The run continues to run->steps, with the times and the note of *run; units: of the open step. */
LEAT_MUST_CHECK leat_code leat_database_resume_run(leat_pg *pg, const leat_database_hold *hold,
                                                   const leat_database_run *run, int64_t units,
                                                   leat_error *err);

/* The run keeps its data set in the database from now on. *count: the samples that are there, from
 * the first on. */
LEAT_MUST_CHECK leat_code leat_database_serve_data(leat_pg *pg, const leat_database_hold *hold,
                                                   int64_t sample_bytes, int64_t *count,
                                                   leat_error *err);
/* Stores samples `first` and those that follow it; there are no gaps before it. */
LEAT_MUST_CHECK leat_code leat_database_put_data(leat_pg *pg, const leat_database_hold *hold,
                                                 int64_t first, const uint8_t *bytes,
                                                 int64_t size_bytes, leat_error *err);

/* Stores a part of the list of samples, all but the last of part_bytes; the first one takes the
 * place of what is there. Once all are stored, the list is kept: at most
 * LEAT_DATABASE_LIST_BYTES_MAX.
 */
#define LEAT_DATABASE_LIST_BYTES_MAX (INT64_C(64) << 20)
LEAT_MUST_CHECK leat_code leat_database_put_list(leat_pg *pg, const leat_database_hold *hold,
                                                 int64_t part, const uint8_t *bytes,
                                                 int64_t size_bytes, leat_error *err);
LEAT_MUST_CHECK leat_code leat_database_keep_list(leat_pg *pg, const leat_database_hold *hold,
                                                  int64_t list_bytes, leat_error *err);

typedef enum leat_database_kind {
    LEAT_DATABASE_WEIGHTS,
    LEAT_DATABASE_STATE,
    LEAT_DATABASE_PARTS
} leat_database_kind;
/* Empties a slot that is not in use. A reader that keeps it longer than wait_ms is left alone:
 * *waited (may be NULL); then its space comes back later. */
LEAT_MUST_CHECK leat_code leat_database_clear(leat_pg *pg, const leat_database_hold *hold,
                                              leat_database_kind kind, int slot, int wait_ms,
                                              bool *waited, leat_error *err);
/* Stores bytes in parts, after clearing the slot. */
LEAT_MUST_CHECK leat_code leat_database_write(leat_pg *pg, const leat_database_hold *hold,
                                              leat_database_kind kind, int slot,
                                              const uint8_t *bytes, int64_t size_bytes,
                                              int64_t part_bytes, leat_error *err);
/* Where a run stands. */
typedef struct leat_database_position {
    int64_t step;  /* the open one; -1: none yet */
    int64_t units; /* of it; 0: it is the end, or none yet */
    int weights_slot, state_slot;
    int64_t state_step;          /* -1: no state is here */
    char weights[65], state[65]; /* hashes */
    char run_state[16];
    int64_t sample_bytes, list_bytes; /* as in leat_database_run */
} leat_database_position;
LEAT_MUST_CHECK leat_code leat_database_look(leat_pg *pg, int64_t run,
                                             leat_database_position *position, leat_error *err);
/* Where bytes that are stored in parts are read to. */
typedef struct leat_database_into {
    uint8_t *bytes;
    int64_t size_bytes, part_bytes;
} leat_database_into;
/* Reads what a slot holds. LEAT_ERR_CORRUPT: it has another size. */
LEAT_MUST_CHECK leat_code leat_database_read(leat_pg *pg, int64_t run, leat_database_kind kind,
                                             int slot, const leat_database_into *into,
                                             leat_error *err);
/* Whether a slot has weights of this size. */
LEAT_MUST_CHECK leat_code leat_database_has_weights(leat_pg *pg, int64_t run, int slot,
                                                    int64_t size_bytes, bool *there,
                                                    leat_error *err);
/* A step whose weights are in a slot. */
typedef struct leat_database_opening {
    int64_t step, units; /* units 0: it is after the last one */
    int slot;
    const char *weights; /* their hash */
} leat_database_opening;
/* Opens it; every lease ends. */
LEAT_MUST_CHECK leat_code leat_database_open_step(leat_pg *pg, const leat_database_hold *hold,
                                                  const leat_database_opening *of, leat_error *err);

typedef struct leat_database_result {
    int64_t unit, lease;
    char account[64], machine[LEAT_CROWD_MACHINE_BYTES], hash[65];
} leat_database_result;
/* Results of the open step that are not judged yet, at most `most`. */
LEAT_MUST_CHECK leat_code leat_database_arrived(leat_pg *pg, int64_t run,
                                                leat_database_result *results, int most, int *count,
                                                leat_error *err);
/* Reads a payload. LEAT_ERR_NOT_FOUND: parts of it are gone. */
LEAT_MUST_CHECK leat_code leat_database_payload(leat_pg *pg, int64_t run, int64_t step,
                                                int64_t lease, const leat_database_into *into,
                                                leat_error *err);
/* *done: false if the step or the result is no longer what it was. */
LEAT_MUST_CHECK leat_code leat_database_confirm(leat_pg *pg, const leat_database_hold *hold,
                                                int64_t step, const leat_database_result *result,
                                                bool *done, leat_error *err);
/* reason "": the parts are gone, and nobody is to blame. */
LEAT_MUST_CHECK leat_code leat_database_refuse(leat_pg *pg, const leat_database_hold *hold,
                                               int64_t step, const leat_database_result *result,
                                               bool mismatch, const char *reason, bool *done,
                                               leat_error *err);
LEAT_MUST_CHECK leat_code leat_database_own_result(leat_pg *pg, const leat_database_hold *hold,
                                                   int64_t step, int64_t unit, const char hash[65],
                                                   bool *done, leat_error *err);
/* Units that the coordinator has to compute itself. */
LEAT_MUST_CHECK leat_code leat_database_hopeless(leat_pg *pg, int64_t run, int64_t *units, int most,
                                                 int *count, leat_error *err);
/* Units of the open step that were counted and whose parts a crash of the server has taken, but for
 * those `kept`; *lost counts them. Tables of parts that it has damaged are created again. */
LEAT_MUST_CHECK leat_code leat_database_recover(leat_pg *pg, const leat_database_hold *hold,
                                                const int64_t *kept, int kept_count, int64_t *lost,
                                                leat_error *err);

/* Whether a unit of the open step is confirmed: *result (lease 0, account "": the coordinator's
 * own). LEAT_ERR_NOT_FOUND: the step is not the open one. */
LEAT_MUST_CHECK leat_code leat_database_confirmed(leat_pg *pg, int64_t run, int64_t step,
                                                  int64_t unit, bool *there,
                                                  leat_database_result *result, leat_error *err);

/* What a step has computed. */
typedef struct leat_database_step {
    int64_t step, samples;        /* samples used so far */
    int64_t units, next_units;    /* of it; of the next one, 0: it is the last */
    int weights_slot, state_slot; /* state_slot -1: the state was not written */
    char weights[65], state[65];  /* hashes */
    int value_count;
    double values[LEAT_STEP_VALUES_MAX]; /* of the run's names, in their order */
    leat_unit_norms norms;               /* what is usual (usual.h) */
} leat_database_step;
/* LEAT_ERR_OPTION: the run has another number of values. */
LEAT_MUST_CHECK leat_code leat_database_commit(leat_pg *pg, const leat_database_hold *hold,
                                               const leat_database_step *step, leat_error *err);
/* What was usual in the steps before `step`, as far as the database has them. */
LEAT_MUST_CHECK leat_code leat_database_usual(leat_pg *pg, int64_t run, int64_t step,
                                              leat_usual *usual, leat_error *err);
/* The state of the open step, written to a slot between commits. */
LEAT_MUST_CHECK leat_code leat_database_keep_state(leat_pg *pg, const leat_database_hold *hold,
                                                   int64_t step, int slot, const char state[65],
                                                   leat_error *err);
LEAT_MUST_CHECK leat_code leat_database_set_state(leat_pg *pg, const leat_database_hold *hold,
                                                  const char *state, const char *reason,
                                                  leat_error *err);
/* A session that a coordinator with this login waits for, and that waits for nobody itself; or a
 * transaction that was prepared, and has none. */
typedef struct leat_database_blocker {
    int64_t process; /* of the server; 0: the transaction was prepared */
    int64_t role;    /* the number of its login, which remains when that is dropped */
    char account[64], transaction[32];
    char waits[64]; /* the statement at which the coordinator itself waits; "": its renewer does */
    bool trusted;   /* an administrator's, or of a member of the owner of the schema */
} leat_database_blocker;
LEAT_MUST_CHECK leat_code leat_database_blockers(leat_pg *pg, leat_database_blocker *out, int most,
                                                 int *count, leat_error *err);
/* Ends it, if it is still in that transaction, and all sessions of its login that have locks in the
 * schema as writers have, because they would block as well; `all`: all of its sessions in this
 * database. *ended counts them. LEAT_ERR_OPTION: this login may not. */
LEAT_MUST_CHECK leat_code leat_database_end_sessions(leat_pg *pg, const leat_database_blocker *of,
                                                     bool all, int64_t *ended, leat_error *err);
/* A session that was ended, the first of those that were. */
typedef struct leat_database_greedy {
    int64_t count, process;
    char account[LEAT_PG_NAME_BYTES], why[96];
    bool hoards; /* locks; otherwise its transaction was open for too long */
} leat_database_greedy;
/* Ends sessions of volunteers with hundreds of locks, or with a transaction that is idle, after
 * idle_ms, or makes one call for a quarter of an hour: where this login may. */
LEAT_MUST_CHECK leat_code leat_database_end_greedy(leat_pg *pg, int64_t idle_ms,
                                                   leat_database_greedy *out, leat_error *err);
/* The statement that undoes a transaction that was prepared, for its owner or a superuser, outside
 * of any transaction; "": it is gone. */
#define LEAT_DATABASE_STATEMENT_BYTES 512
LEAT_MUST_CHECK leat_code leat_database_rollback_line(leat_pg *pg, const leat_database_blocker *of,
                                                      char line[LEAT_DATABASE_STATEMENT_BYTES],
                                                      leat_error *err);
/* Notes that an account has blocked the run; *suspended: the third time within an hour, after which
 * it gets no units for an hour. Waits for nothing that a volunteer can lock. A hold whose fence is
 * 0 is none: of a coordinator that waits for the run. */
LEAT_MUST_CHECK leat_code leat_database_blame(leat_pg *pg, const leat_database_hold *hold,
                                              const char *account, const char *words,
                                              bool *suspended, leat_error *err);
/* The login may connect no more. line: "", or with what an administrator does that, because this
 * login may not. */
LEAT_MUST_CHECK leat_code leat_database_keep_out(leat_pg *pg, const char *account,
                                                 char line[LEAT_DATABASE_STATEMENT_BYTES],
                                                 leat_error *err);
/* How many sessions other logins have in this database. */
LEAT_MUST_CHECK leat_code leat_database_others(leat_pg *pg, int64_t *sessions, leat_error *err);
/* How many machines of a run were heard of in the last silent_ms. */
LEAT_MUST_CHECK leat_code leat_database_machines(leat_pg *pg, int64_t run, int64_t silent_ms,
                                                 int64_t *machines, leat_error *err);

#endif
