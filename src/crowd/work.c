/*
 * A machine that lends itself. One thread talks to the database, one call at a time, over one
 * connection; another one computes. So a lease is renewed, and the result before is sent, while the
 * next unit is computed. A unit that is claimed is `next` until what it needs is fetched, then
 * `computing`, then `sending`; a machine has two of the three at most. Without a data set of its
 * own, it claims the next one while it computes, to fetch its samples (served_samples.h). While the
 * machine is not to be used (availability.h), it claims nothing.
 */

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/random.h"
#include "base/thread.h"
#include "crowd/availability.h"
#include "crowd/data_difference.h"
#include "crowd/desk.h"
#include "crowd/machines.h"
#include "crowd/pause.h"
#include "crowd/pooler.h"
#include "crowd/run_steps.h"
#include "crowd/served_samples.h"
#include "crowd/slow_link.h"
#include "crowd/ticket.h"
#include "train/run/estimate.h"
#include "train/run/folder.h"
#include "train/run/task.h"
#include "train/step/exchange.h"

enum {
    PAUSE_FIRST_MS = 1000,
    PAUSE_MOST_MS = 30000,
    SLICE_MS = 100,
    LEND_LOOK_MS = 1000,
    PARTS_IN_LIBPQ = 5,
    CLONED_MOST = 3
};

typedef struct worker {
    const leat_work_options *options;
    const leat_host *host;
    leat_work_result *result;
    leat_pg_place place;
    leat_pg *pg;
    int64_t begun_us;  /* of leat_machine_connect */
    bool pooler_known; /* whether one is between */
    leat_pause pause;
    leat_stop stop; /* asks the caller */
    bool stopping;  /* it said so, at stopped_ns */
    int64_t stopped_ns;
    leat_availability availability;
    int64_t looked_ns; /* whether it takes units; 0: not yet */
    int64_t paused_ns; /* since when it takes none */
    /* the run */
    int64_t run;
    char identity[65];
    leat_database_run facts; /* without texts */
    const leat_task *task;
    leat_feed feed;
    bool is_served; /* there is no data set: its samples come from the database */
    leat_served_samples served;
    leat_run_options all;
    leat_trainer *trainer;
    leat_exchange *exchange;
    leat_exchange_sizes sizes;
    /* computing; an empty desk has no lease, and one that is not empty may have lost its */
    leat_desk desk;
    leat_database_lease computing; /* lease 0: nothing */
    int64_t renewed_ns;
    uint8_t *weights;
    char weights_hash[65], hash[65]; /* weights_hash "": they are not complete */
    bool weights_new;                /* the trainer does not have them yet */
    /* fetching */
    leat_database_lease next; /* lease 0: nothing */
    int64_t next_renewed_ns;
    int64_t weights_bytes; /* of its weights that are here */
    int64_t fetch_ns;      /* when the first of them was asked for */
    int64_t gone_step;     /* whose weights were gone, the last time; -1: none */
    leat_slow_link slow_link;
    bool told_of_samples; /* that the database does not have them */
    /* sending */
    leat_database_lease sending; /* lease 0: nothing */
    uint8_t *payload, *outgoing;
    char outgoing_hash[65];
    int64_t next_part;
    int64_t sent_ns;  /* when its lease was last renewed by a part */
    int64_t asked_ns; /* when there was nothing to claim; 0: asks at once */
    int64_t wait_ns;  /* until it asks again, unless it is woken */
    bool done;        /* nothing more to do */
    int cloned;       /* units in a row that another process with this key took away */
    int64_t slower;   /* units at which another machine was faster */
    char said_why[LEAT_CROWD_WORDS_BYTES]; /* it does not work now; "": it does */
    char news[LEAT_CROWD_WORDS_BYTES];     /* as last told */
} worker;

static void say(const worker *self, const char *format, ...) LEAT_PRINTF(2, 3);
static void say(const worker *self, const char *format, ...) {
    char line[LEAT_FEED_WORDS_BYTES + LEAT_CROWD_WORDS_BYTES];
    va_list args;
    if (self->options->say == NULL) return;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    self->options->say(self->options->user, line);
}

/* Runs on while the machine sleeps: what was due meanwhile is due. */
static int64_t now_ns(const worker *self) {
    return self->host->clocks.boot_ns(self->host->clocks.of);
}

/* Whether the caller wants an end. Asked often: it is a report of progress, too. */
static bool stopped(worker *self) {
    const leat_work_options *options = self->options;
    const leat_progress progress = {"units", "units", self->result->accepted, -1};
    if (self->stopping || options->progress == NULL) return self->stopping;
    self->stopping = !options->progress(options->user, &progress);
    self->stopped_ns = now_ns(self);
    return self->stopping;
}

static bool is_stopped(void *of) { return stopped(of); }

/* ---- computing ------------------------------------------------------------------------------ */

/* In the other thread. */
static leat_code compute(void *of, leat_error *err) {
    worker *self = of;
    if (self->weights_new)
        LEAT_TRY(leat_exchange_take_weights(self->exchange, self->computing.step, self->weights,
                                            self->weights_hash, err));
    self->weights_new = false;
    leat_trainer_state(self->trainer)->step = self->computing.step;
    return leat_exchange_compute(self->exchange, self->computing.unit, self->payload, self->hash,
                                 err);
}

/* ---- beginning ------------------------------------------------------------------------------ */

/* Connects; the first connection looks for a pooler. */
static leat_code connect_once(worker *self, leat_error *err) {
    leat_error unknown = {0};
    LEAT_TRY(leat_machine_connect(&self->pg, &self->begun_us, &self->place, &self->stop, err));
    if (self->pooler_known) return LEAT_OK;
    LEAT_TRY(leat_pooler_refuse(self->pg, &self->place, &self->stop, &unknown, err));
    self->pooler_known = true;
    if (unknown.message[0] != 0)
        say(self, "whether a pooler is in between is not known: %s", unknown.message);
    return LEAT_OK;
}

static leat_code connect_again(worker *self, leat_error *err) {
    leat_error why = {0};
    for (bool told = false;; told = true) {
        const leat_code code = connect_once(self, &why);
        if (code == LEAT_OK && told) say(self, "connected again");
        if (code == LEAT_OK) break;
        /* a login or database that was there may be so again: one that is restored, say */
        const bool waits = code == LEAT_ERR_OPTION && self->result->connections > 0;
        if (code != LEAT_ERR_CONNECTION && !waits) return leat_error_copy(err, &why);
        if (!told)
            say(self, "%s; trying again until it succeeds%s", why.message,
                self->result->connections == 0 ? leat_ticket_remedy(self->options->url) : "");
        if (!leat_pause_wait(&self->pause, &self->stop))
            return leat_fail(err, LEAT_ERR_CANCELLED, "stopped");
    }
    self->result->connections++;
    return LEAT_OK;
}

/* The run has no data for a machine without it. */
static leat_code refuse_without_data(const leat_database_run *run, leat_error *err) {
    return leat_fail(err, LEAT_ERR_OPTION,
                     "the run \"%.64s\" does not keep its data set in the database; use --data DIR"
                     "%s%.300s",
                     run->name, run->data_note[0] != 0 ? ": " : "", run->data_note);
}

static leat_code open_samples(worker *self, const leat_database_run *run, leat_error *err) {
    const leat_feed_class *class = self->task->feed;
    if (self->options->data != NULL)
        return leat_feed_open(&self->feed, class, self->options->data, err);
    if (run->sample_bytes == 0) return refuse_without_data(run, err);
    self->is_served = true;
    leat_served_samples_open(&self->served, run);
    return leat_feed_open_samples(&self->feed, class, &self->served.samples, err);
}

/* Says how the data set of this machine differs from the run's, if the database can tell. */
static void say_difference(worker *self, const leat_database_run *run) {
    leat_error why = {0};
    char words[LEAT_FEED_WORDS_BYTES];
    const leat_code code =
        leat_data_difference(self->pg, run, &self->feed, self->all.run.memory_bytes, words, &why);
    if (code == LEAT_OK) say(self, "this data set is not the run's: %s", words);
    else say(self, "how this data set differs from the run's is not known: %s", why.message);
}

/* Before anything is allocated for the run. */
static leat_code check_data(worker *self, const leat_database_run *run, leat_error *err) {
    if (strcmp(self->feed.fingerprint, run->data) == 0) return LEAT_OK;
    say_difference(self, run);
    return leat_fail(err, LEAT_ERR_OPTION,
                     "this machine cannot work on \"%.64s\": its data set (fingerprint) is %.64s, "
                     "the run's is %.64s%s%.100s",
                     run->name, self->feed.fingerprint, run->data,
                     run->data_note[0] != 0 ? "; " : "", run->data_note);
}

/* What else the machine must have in common with the run. */
static leat_code check_run(worker *self, const leat_database_run *run, leat_error *err) {
    leat_identity identity = {0};
    char version[32];
    LEAT_TRY(leat_identity_make(&identity, leat_trainer_model(self->trainer), &self->feed,
                                &self->all, err));
    snprintf(version, sizeof version, "%s", leat_version());
    const struct {
        const char *what, *here, *there;
    } facts[] = {{"version of leat", version, run->leat_version},
                 {"model (hash)", identity.model_hash, run->model_hash},
                 {"kernel class", identity.kernel_class, run->kernel_class}};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        if (strcmp(facts[i].here, facts[i].there) == 0) continue;
        return leat_fail(err, LEAT_ERR_OPTION,
                         "this machine cannot work on \"%.64s\": its %s is %.64s, the run's is "
                         "%.64s%s",
                         run->name, facts[i].what, facts[i].here, facts[i].there,
                         i == 0 ? "; install that version here" : "");
    }
    if (self->sizes.payload != run->payload_bytes || self->sizes.weights != run->weights_bytes)
        return leat_fail(err, LEAT_ERR_OPTION, "the run's sizes are not those of its settings");
    return LEAT_OK;
}

/* What comes on top of the trainer: the exchange, weights, two results, samples of two units, and
 * parts in libpq, whose buffers for either direction double as they grow. */
static leat_code exchange_bytes(const worker *self, int64_t part_bytes, int64_t *bytes,
                                leat_error *err) {
    leat_exchange_sizes sizes;
    LEAT_TRY(
        leat_exchange_measure(self->task->model, &self->all.run, &self->feed, &sizes, bytes, err));
    *bytes += PARTS_IN_LIBPQ * part_bytes + sizes.weights + 2 * sizes.payload +
              (self->is_served ? leat_served_samples_bytes(&self->served, &self->feed) : 0);
    return LEAT_OK;
}

static leat_code check_model(const leat_database_run *run, leat_error *err) {
    const leat_task *task = NULL;
    leat_error why = {0};
    const leat_code code = leat_task_find(run->model, &task, &why);
    if (code == LEAT_OK) return LEAT_OK;
    return leat_fail(err, code,
                     "this machine cannot work on \"%.64s\": %.200s; install the leat that the run "
                     "is coordinated with, version %.40s",
                     run->name, why.message, run->leat_version);
}

static leat_code prepare(worker *self, const leat_database_run *run, leat_error *err) {
    LEAT_TRY(check_model(run, err));
    LEAT_TRY(leat_settings_read(run->settings, run->model, &self->all, err));
    self->all.run.threads = self->options->threads;
    self->all.run.memory_bytes = self->options->memory_bytes;
    self->all.run.kernels = self->options->kernels;
    self->task = self->all.task;
    LEAT_TRY(open_samples(self, run, err));
    LEAT_TRY(check_data(self, run, err));
    LEAT_TRY(leat_run_steps_plan(&self->feed, &self->all.run, run, err));
    int64_t more = 0;
    LEAT_TRY(exchange_bytes(self, run->part_bytes, &more, err));
    LEAT_TRY(leat_train_check_memory(self->task, &self->all.run, &self->feed, more, err));
    LEAT_TRY(
        leat_trainer_create(&self->trainer, self->task->model, &self->all.run, &self->feed, err));
    LEAT_TRY(
        leat_exchange_create(&self->exchange, self->trainer, &self->all.run, run->identity, err));
    self->sizes = leat_exchange_get_sizes(self->exchange);
    LEAT_TRY(check_run(self, run, err));
    if (self->is_served) LEAT_TRY(leat_served_samples_reserve(&self->served, &self->feed, err));
    LEAT_TRY(leat_block_alloc((void **)&self->weights, self->sizes.weights, err));
    LEAT_TRY(leat_block_alloc((void **)&self->payload, self->sizes.payload, err));
    LEAT_TRY(leat_block_alloc((void **)&self->outgoing, self->sizes.payload, err));
    return leat_desk_start(&self->desk, err);
}

/* The first answer is that there is nothing to work on, perhaps because the coordinator has not
 * come so far. */
static leat_code refuse_too_early(const worker *self, const leat_error *why, leat_error *err) {
    static const char later[] =
        "start leat work again once leat coordinate says that the run is open";
    const char *state = leat_pg_sqlstate(self->pg);
    if (strcmp(state, "P0002") == 0)
        return leat_fail(err, LEAT_ERR_NOT_FOUND, "%s; %s", why->message, later);
    if (strcmp(state, "3F000") != 0) return leat_error_copy(err, why);
    return leat_fail(err, LEAT_ERR_NOT_FOUND,
                     "the database has no schema \"leat\": no run was coordinated in it yet; %s",
                     later);
}

static void say_run(const worker *self, const leat_database_run *run) {
    const char *many = self->feed.class->many;
    char size[32] = "";
    if (self->feed.unit_samples > 0)
        snprintf(size, sizeof size, "%lld ", (long long)self->feed.unit_samples);
    say(self, "works on \"%s\": units of %s%s, %lld bytes each%s%s%s", run->name, size, many,
        (long long)self->sizes.payload, self->is_served ? "; their " : "",
        self->is_served ? many : "", self->is_served ? " come from the database" : "");
}

/* Says who it is; the first time, learns what to do. */
static leat_code register_machine(worker *self, leat_error *err) {
    leat_database_run run;
    leat_pg_rows *rows = NULL;
    const leat_work_options *options = self->options;
    const char *name = self->run != 0 ? self->result->run : self->place.run;
    leat_error why = {0};
    const leat_database_machine machine = {options->machine, options->secret, options->name,
                                           options->hardware};
    leat_code code = leat_database_register(self->pg, name, &machine, &run, &rows, &why);
    if (code == LEAT_ERR_NOT_FOUND && self->trainer == NULL)
        return refuse_too_early(self, &why, err);
    if (code != LEAT_OK) return leat_error_copy(err, &why);
    if (self->trainer != NULL && strcmp(run.identity, self->identity) != 0)
        code = leat_fail(
            err, LEAT_ERR_OPTION,
            "\"%s\" is another run now, with other settings; start again to work on it", run.name);
    else if (self->is_served && run.sample_bytes == 0) /* perhaps not yet again */
        code = leat_fail(err, LEAT_ERR_NOT_FOUND, "the run \"%s\" does not keep its data set",
                         run.name);
    else if (self->trainer != NULL) code = leat_run_steps_check(&self->feed, &run, err);
    if (self->trainer == NULL) {
        snprintf(self->identity, sizeof self->identity, "%s", run.identity);
        snprintf(self->result->run, sizeof self->result->run, "%s", run.name);
        code = prepare(self, &run, err);
        if (code == LEAT_OK) say_run(self, &run);
    }
    self->next.lease = 0; /* registering ends it */
    self->run = run.id;
    self->facts = run;
    leat_pg_rows_destroy(rows);
    return code;
}

/* ---- one call ------------------------------------------------------------------------------- */

/* The next question comes after a while, with jitter, or when a new step wakes the machine. */
static leat_code rest(worker *self, leat_error *err) {
    const int64_t half_ns = self->options->poll_ms * INT64_C(500000);
    uint64_t draw = 0;
    LEAT_TRY(leat_random_u64(&draw, err));
    self->wait_ns = half_ns + (int64_t)(draw % (uint64_t)half_ns);
    self->asked_ns = now_ns(self);
    return LEAT_OK;
}

/* Claims a unit; `ahead`: while another one is computed. */
static leat_code claim(worker *self, bool ahead, leat_error *err) {
    leat_database_lease lease;
    int64_t units = 0;
    const char *machine = self->options->machine;
    if (ahead)
        LEAT_TRY(leat_database_claim_ahead(self->pg, self->run, machine, self->computing.lease,
                                           &lease, err));
    else
        LEAT_TRY(
            leat_database_claim(self->pg, self->run, machine, self->sending.lease, &lease, err));
    if (lease.news[0] != 0 && strcmp(lease.news, self->news) != 0) say(self, "%s", lease.news);
    memcpy(self->news, lease.news, sizeof self->news); /* some are told at each question */
    if (strcmp(lease.run_state, "finished") == 0) self->done = true;
    if (lease.lease == 0) return rest(self, err);
    if (lease.step >= self->facts.steps && lease.step < LEAT_CROWD_STEPS_MAX)
        return leat_fail(err, LEAT_ERR_NOT_FOUND, "\"%s\" had %lld steps; asks how many it has now",
                         self->result->run, (long long)self->facts.steps);
    if (lease.step >= 0 && lease.step < self->facts.steps)
        LEAT_TRY(leat_feed_units(&self->feed, lease.step, &units, err));
    if (lease.unit < 0 || lease.unit >= units) /* no step has none */
        return leat_fail(err, LEAT_ERR_CORRUPT,
                         "the database gives unit %lld of step %lld, which the run does not have",
                         (long long)lease.unit, (long long)((uint64_t)lease.step + 1));
    LEAT_ASSERT(self->next.lease == 0);
    self->next = lease;
    self->next_renewed_ns = now_ns(self);
    self->weights_bytes = 0;
    if (!self->is_served) return LEAT_OK;
    return leat_served_samples_begin(&self->served, lease.step, lease.unit, err);
}

/* The next unit is left to others before it was begun. */
static leat_code leave_next(worker *self, leat_error *err) {
    const leat_database_lease lease = self->next;
    self->next.lease = 0;
    LEAT_TRY(rest(self, err));
    return leat_database_release(self->pg, &lease, err);
}

/* A part of the weights of the next unit, while nothing is computed. */
static leat_code fetch_weights(worker *self, leat_error *err) {
    const int64_t part_bytes = self->facts.part_bytes, first = self->weights_bytes;
    const int64_t left = self->sizes.weights - first, size = left < part_bytes ? left : part_bytes;
    LEAT_ASSERT(left > 0 && self->next.lease != 0);
    if (first == 0) self->fetch_ns = now_ns(self);
    self->weights_hash[0] = 0;
    LEAT_TRY(leat_database_fetch(self->pg, self->run, self->next.weights, first / part_bytes,
                                 self->weights + first, size, err));
    self->weights_bytes += size;
    if (size < left) return LEAT_OK;
    memcpy(self->weights_hash, self->next.weights, sizeof self->weights_hash);
    self->weights_new = true;
    leat_slow_link_end(&self->slow_link);
    return LEAT_OK;
}

/* The weights of the next unit were replaced while they were fetched: begins with the newest at
 * once, unless it is these that the database does not have. */
static leat_code restart(worker *self, leat_error *err) {
    char words[LEAT_SLOW_LINK_WORDS_BYTES];
    const int64_t step = self->next.step;
    const bool newer = step != self->gone_step;
    self->gone_step = step;
    if (leat_slow_link_add(&self->slow_link, step, self->fetch_ns, now_ns(self),
                           self->weights_bytes, self->sizes.weights, words)) {
        say(self, "each step replaces the weights before they are here: %s", words);
        LEAT_TRY(leat_database_slow(self->pg, self->run, self->options->machine, words, err));
    }
    LEAT_TRY(leave_next(self, err));
    if (newer) self->asked_ns = 0;
    return LEAT_OK;
}

static leat_code fetch_samples(worker *self, leat_error *err) {
    leat_error why = {0};
    const leat_code code =
        leat_served_samples_fetch(&self->served, self->pg, self->run, self->facts.part_bytes, &why);
    if (code == LEAT_ERR_NOT_FOUND && !self->told_of_samples)
        say(self, "%s; waiting for it", why.message);
    self->told_of_samples = code == LEAT_ERR_NOT_FOUND;
    return leat_error_copy(err, &why);
}

static void begin_next(worker *self) {
    LEAT_ASSERT(self->next.lease != 0 && self->computing.lease == 0);
    LEAT_ASSERT(strcmp(self->next.weights, self->weights_hash) == 0);
    if (self->is_served) leat_served_samples_turn(&self->served);
    self->computing = self->next;
    self->next.lease = 0;
    self->renewed_ns = self->next_renewed_ns;
    self->asked_ns = 0;
    leat_desk_put(&self->desk);
}

/* Fetches what the next unit needs, a call at a time, and then begins it. *waits: for the desk. */
static leat_code prepare_next(worker *self, leat_desk_state desk, bool *waits, leat_error *err) {
    leat_error why = {0};
    leat_code code = LEAT_OK;
    const bool fetches = strcmp(self->next.weights, self->weights_hash) != 0;
    *waits = false;
    if (self->is_served && !leat_served_samples_complete(&self->served))
        code = fetch_samples(self, &why);
    else if (desk != LEAT_DESK_EMPTY) *waits = true;
    else if (!fetches) begin_next(self);
    else if ((code = fetch_weights(self, &why)) == LEAT_ERR_NOT_FOUND) return restart(self, err);
    /* the coordinator still stores the data set */
    if (code == LEAT_ERR_NOT_FOUND) return leave_next(self, err);
    return leat_error_copy(err, &why);
}

/* Copies are usual, and nobody's fault: the first is named, and later ones are counted in a line at
 * 10, 100, ... of them. */
static void say_slower(worker *self, const leat_database_lease *lease) {
    int64_t line_at = 1;
    self->slower++;
    while (line_at < self->slower) line_at *= 10;
    if (self->slower == 1)
        say(self, "step %lld, unit %lld: " LEAT_DATABASE_SLOWER "; further ones are counted",
            (long long)lease->step + 1, (long long)lease->unit);
    else if (self->slower == line_at)
        say(self, LEAT_DATABASE_SLOWER " at %lld units so far", (long long)self->slower);
}

/* A lease that is over: the unit is left. */
static void lose(worker *self, leat_database_lease *lease, const char *why) {
    if (strcmp(why, LEAT_DATABASE_CLONED) == 0) self->cloned++;
    if (strcmp(why, LEAT_DATABASE_SLOWER) == 0) say_slower(self, lease);
    else
        say(self, "step %lld, unit %lld: %s", (long long)lease->step + 1, (long long)lease->unit,
            why);
    self->result->lost++;
    lease->lease = 0;
}

static leat_code send_part(worker *self, leat_error *err) {
    char why[LEAT_CROWD_WORDS_BYTES];
    const int64_t part_bytes = self->facts.part_bytes, first = self->next_part * part_bytes;
    const int64_t left = self->sizes.payload - first;
    LEAT_ASSERT(self->sending.lease != 0);
    if (left > 0) {
        LEAT_TRY(leat_database_put(self->pg, &self->sending, self->next_part,
                                   self->outgoing + first, left < part_bytes ? left : part_bytes,
                                   why, err));
        self->next_part++;
        self->sent_ns = now_ns(self);
    } else {
        LEAT_TRY(leat_database_submit(self->pg, &self->sending, self->outgoing_hash, why, err));
        if (why[0] == 0) {
            self->result->accepted++;
            self->cloned = 0;
            self->sending.lease = 0;
            self->done = self->done || self->options->once;
        }
    }
    if (why[0] != 0) lose(self, &self->sending, why);
    return LEAT_OK;
}

/* Of the unit that is computed; if somebody else has it meanwhile, it is given up. */
static leat_code renew(worker *self, leat_error *err) {
    char why[LEAT_CROWD_WORDS_BYTES];
    LEAT_TRY(leat_database_renew(self->pg, &self->computing, why, err));
    self->renewed_ns = now_ns(self);
    if (why[0] == 0) return LEAT_OK;
    lose(self, &self->computing, why);
    leat_exchange_cancel(self->exchange, true);
    return LEAT_OK;
}

/* Of the unit that is fetched. */
static leat_code renew_next(worker *self, leat_error *err) {
    char why[LEAT_CROWD_WORDS_BYTES];
    LEAT_TRY(leat_database_renew(self->pg, &self->next, why, err));
    self->next_renewed_ns = now_ns(self);
    if (why[0] != 0) lose(self, &self->next, why);
    return LEAT_OK;
}

/* Takes the result from the desk, for sending. */
static void take_result(worker *self) {
    uint8_t *swap = self->outgoing;
    self->outgoing = self->payload;
    self->payload = swap;
    memcpy(self->outgoing_hash, self->hash, sizeof self->hash);
    LEAT_ASSERT(self->sending.lease == 0); /* its result would be lost */
    self->sending = self->computing;
    self->computing.lease = 0;
    self->sent_ns = self->renewed_ns;
    self->next_part = 0;
    self->asked_ns = 0;
    leat_desk_clear(&self->desk);
}

static leat_code give_up_unit(worker *self, leat_error *err) {
    const leat_error why = self->desk.why;
    const leat_database_lease lease = self->computing;
    self->computing.lease = 0;
    leat_desk_clear(&self->desk);
    self->weights_hash[0] = 0; /* perhaps they are the reason */
    say(self, "%s", why.message);
    LEAT_TRY(rest(self, err));
    return leat_database_fail(self->pg, &lease, why.message, err);
}

/* Whether this machine is not to be used now. */
static bool pauses(const worker *self) { return self->availability.state != LEAT_AVAILABLE; }

/* Whether a unit is wanted now: nothing is computed, or samples of the next unit could be fetched
 * meanwhile; and the last question is a while ago. */
static bool wants_unit(const worker *self, leat_desk_state desk) {
    const bool ahead = desk != LEAT_DESK_EMPTY;
    if (self->done || pauses(self) || self->next.lease != 0) return false;
    if (self->options->once && (ahead || self->sending.lease != 0)) return false;
    if (ahead && (!self->is_served || self->computing.lease == 0 || self->sending.lease != 0))
        return false;
    return self->asked_ns == 0 || now_ns(self) - self->asked_ns >= self->wait_ns;
}

/* A new step, or the end of the run: it asks at once. At most once in each wait of serve, so that
 * nobody who notifies without a reason makes it ask more often. */
static leat_code hear(worker *self, leat_error *err) {
    bool any = false;
    LEAT_TRY(leat_pg_notified(self->pg, &any, err));
    if (any) self->asked_ns = 0;
    return LEAT_OK;
}

/* Whether a lease needs a sign of life. */
static bool is_due(const worker *self, const leat_database_lease *lease, int64_t renewed_ns) {
    return lease->lease != 0 &&
           now_ns(self) - renewed_ns >= self->facts.renew_ms * INT64_C(1000000);
}

/* What is due; one call of the database at most. *idle: nothing was. */
static leat_code step(worker *self, bool *idle, leat_error *err) {
    const leat_desk_state desk = leat_desk_look(&self->desk);
    *idle = false;
    LEAT_ASSERT(desk != LEAT_DESK_EMPTY || self->computing.lease == 0);
    /* two units at most: others would wait for a third */
    LEAT_ASSERT(self->next.lease == 0 || self->computing.lease == 0 || self->sending.lease == 0);
    if ((desk == LEAT_DESK_DONE || desk == LEAT_DESK_FAILED) && self->computing.lease == 0) {
        leat_exchange_cancel(self->exchange, false); /* lost meanwhile */
        self->asked_ns = 0;
        leat_desk_clear(&self->desk);
        return LEAT_OK;
    }
    if (desk == LEAT_DESK_FAILED) return give_up_unit(self, err);
    if (desk == LEAT_DESK_DONE && self->sending.lease == 0) {
        take_result(self);
        return LEAT_OK;
    }
    if (desk != LEAT_DESK_EMPTY && is_due(self, &self->computing, self->renewed_ns))
        return renew(self, err);
    if (is_due(self, &self->next, self->next_renewed_ns)) return renew_next(self, err);
    /* a part renews its lease */
    if (is_due(self, &self->sending, self->sent_ns)) return send_part(self, err);
    if (self->next.lease != 0 && (self->done || pauses(self))) return leave_next(self, err);
    if (self->next.lease != 0) {
        bool waits = false;
        LEAT_TRY(prepare_next(self, desk, &waits, err));
        if (!waits) return LEAT_OK;
    }
    if (wants_unit(self, desk)) return claim(self, desk != LEAT_DESK_EMPTY, err);
    if (self->sending.lease != 0) return send_part(self, err);
    *idle = true;
    return LEAT_OK;
}

/* ---- all of it ------------------------------------------------------------------------------ */

/* Nothing is computed, sent or wanted. */
static bool at_end(const worker *self) {
    return self->done && self->sending.lease == 0 && self->next.lease == 0 &&
           self->computing.lease == 0;
}

/* Somebody who stops a worker waits for the unit that it computes, but not for ever. */
static bool grace_is_over(const worker *self, int64_t since_ns) {
    return now_ns(self) - since_ns > self->options->grace_ms * INT64_C(1000000);
}

/* Leaves what is computed and sent to others: it would use the machine for too long. */
static leat_code give_back(worker *self, leat_error *err) {
    leat_database_lease *const leases[] = {&self->computing, &self->sending};
    for (int i = 0; i < 2; i++) {
        const leat_database_lease lease = *leases[i];
        if (lease.lease == 0) continue;
        leases[i]->lease = 0;
        self->result->lost++;
        say(self, "step %lld, unit %lld: left to others", (long long)lease.step + 1,
            (long long)lease.unit);
        if (i == 0) leat_exchange_cancel(self->exchange, true);
        LEAT_TRY(leat_database_release(self->pg, &lease, err));
    }
    return LEAT_OK;
}

/* Whether this machine is to be used: it is asked once a second. The unit that it has is handed in,
 * unless that takes too long. */
static leat_code look_at_machine(worker *self, leat_error *err) {
    const int64_t poll_ms = self->options->poll_ms;
    const int64_t every_ms = poll_ms < LEND_LOOK_MS ? poll_ms : LEND_LOOK_MS;
    char line[LEAT_AVAILABILITY_LINE_BYTES];
    if (self->looked_ns != 0 && now_ns(self) - self->looked_ns < every_ms * INT64_C(1000000))
        return LEAT_OK;
    self->looked_ns = now_ns(self);
    const bool paused = pauses(self);
    if (leat_availability_look(&self->availability, self->host, self->options, line))
        say(self, "%s", line);
    if (!paused) self->paused_ns = self->looked_ns;
    if (pauses(self) && grace_is_over(self, self->paused_ns)) return give_back(self, err);
    if (paused && !pauses(self)) self->asked_ns = 0;
    return LEAT_OK;
}

static leat_code serve(worker *self, leat_error *err) {
    const int64_t poll_ms = self->options->poll_ms < SLICE_MS ? self->options->poll_ms : SLICE_MS;
    while (!at_end(self)) {
        bool idle = false;
        if (self->cloned >= CLONED_MOST)
            return leat_fail(
                err, LEAT_ERR_OPTION,
                "another process works with the key of this machine, perhaps on a copy "
                "of it, and takes its units away; use another --key here");
        if (stopped(self)) {
            self->done = true;
            if (at_end(self) || grace_is_over(self, self->stopped_ns)) break;
        }
        LEAT_TRY(look_at_machine(self, err));
        LEAT_TRY(step(self, &idle, err));
        leat_pause_reset(&self->pause);
        self->said_why[0] = 0;
        if (!idle) continue;
        leat_desk_wait(&self->desk, leat_desk_look(&self->desk), poll_ms);
        LEAT_TRY(hear(self, err));
    }
    if (!self->stopping) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_CANCELLED, "stopped after %lld units",
                     (long long)self->result->accepted);
}

/* Leases are worth more to others. */
static void release_all(worker *self) {
    leat_database_lease *const leases[] = {&self->computing, &self->sending, &self->next};
    for (int i = 0; i < 3; i++) {
        if (self->pg == NULL || leat_pg_broken(self->pg)) return;
        if (leases[i]->lease != 0) (void)!leat_database_release(self->pg, leases[i], NULL);
    }
}

static void destroy(worker *self) {
    leat_desk_quit(&self->desk);
    if (self->exchange != NULL) leat_exchange_cancel(self->exchange, true);
    leat_desk_close(&self->desk);
    leat_pg_close(self->pg);
    leat_block_free(self->weights, self->sizes.weights);
    leat_block_free(self->payload, self->sizes.payload);
    leat_block_free(self->outgoing, self->sizes.payload);
    leat_exchange_destroy(self->exchange);
    leat_trainer_destroy(self->trainer);
    leat_feed_close(&self->feed);
    leat_served_samples_close(&self->served);
}

/* A failure after which the same machine can go on. One that has worked waits for what is missing
 * of the schema, too, or what its login may not use: a dump is restored, perhaps, which gives
 * rights at its end. */
static bool goes_away(const worker *self, leat_code code) {
    if (code == LEAT_ERR_CONNECTION || code == LEAT_ERR_BUSY) return true;
    if (self->trainer == NULL || self->pg == NULL) return false;
    return code == LEAT_ERR_NOT_FOUND || leat_database_is_lacking(self->pg);
}

/* Why it is not done now; once, however often it is tried. */
static void say_why(worker *self, const leat_error *why) {
    if (strcmp(self->said_why, why->message) == 0) return;
    snprintf(self->said_why, sizeof self->said_why, "%s", why->message);
    say(self, "%s", why->message);
}

static leat_code run_worker(worker *self, leat_error *err) {
    leat_error why = {0};
    bool registered = false;
    for (;;) {
        leat_code code = LEAT_OK;
        if (stopped(self)) return leat_fail(err, LEAT_ERR_CANCELLED, "stopped");
        if (self->pg == NULL || leat_pg_broken(self->pg)) {
            code = connect_again(self, &why);
            if (code == LEAT_OK && registered)
                code = leat_database_rejoin(self->pg, self->options->machine, self->options->secret,
                                            &registered, &why);
        }
        if (code == LEAT_OK && !registered) code = register_machine(self, &why);
        /* before it asks for a unit: what happens after the answer wakes it */
        if (code == LEAT_OK) code = leat_database_listen(self->pg, self->run, &why);
        if (code == LEAT_OK) {
            registered = true;
            self->asked_ns = 0;
            code = serve(self, &why);
        }
        if (code == LEAT_OK) return LEAT_OK;
        if (!goes_away(self, code)) return leat_error_copy(err, &why);
        registered = registered && (code == LEAT_ERR_CONNECTION || code == LEAT_ERR_BUSY);
        say_why(self, &why);
        if (!leat_pause_wait(&self->pause, &self->stop)) continue;
    }
}

leat_code leat_work_on(const leat_host *host, const leat_work_options *options,
                       leat_work_result *result, leat_error *err) {
    worker *self = NULL;
    *result = (leat_work_result){0};
    if (options->poll_ms < 1 || options->threads < 1)
        return leat_fail(err, LEAT_ERR_OPTION, "poll_ms and threads must be at least 1");
    LEAT_TRY(LEAT_NEW(&self, 1, err));
    self->options = options;
    self->host = host;
    self->result = result;
    self->gone_step = -1;
    self->stop = (leat_stop){is_stopped, self, &host->clocks};
    self->pause = leat_pause_make(
        options->poll_ms < PAUSE_FIRST_MS ? options->poll_ms : PAUSE_FIRST_MS, PAUSE_MOST_MS);
    leat_desk_init(&self->desk, compute, self);
    leat_code code = leat_pg_place_parse(&self->place, options->url, err);
    if (code == LEAT_OK && options->data != NULL) code = leat_path_check_local(options->data, err);
    if (code == LEAT_OK) code = run_worker(self, err);
    if (code != LEAT_OK) release_all(self);
    destroy(self);
    leat_free(self);
    return code;
}

leat_code leat_work(const leat_work_options *options, leat_work_result *result, leat_error *err) {
    const leat_host host = leat_host_own();
    return leat_work_on(&host, options, result, err);
}
