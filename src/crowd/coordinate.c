/*
 * The coordinator of a run: it opens steps, adds the results of units in order as they arrive,
 * takes the step of the weights, and commits. It holds the run by a fence, so that of two
 * coordinators one writes. What it has in memory, in RUN and in the database may differ after any
 * crash, and sync.c says which one counts.
 */

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/thread.h"
#include "crowd/coordinator.h"
#include "crowd/pooler.h"

enum {
    TIMEOUT_MS = 60000,
    PAUSE_MOST_MS = 10000,
    TAKE_WAIT_MS = LEAT_BLOCK_MS + 5000 /* one wait for a lock: long enough to judge who has it */
};

static bool is_stopped(void *of) { return leat_coordinator_stopped(of); }

static const char *note_of(const leat_coordinator *self) {
    return self->options->data_note != NULL ? self->options->data_note : "";
}

/* ---- the run in the database ----------------------------------------------------------------- */

static leat_code create_run(leat_coordinator *self, leat_error *err) {
    const leat_session *session = &self->session;
    const leat_identity *identity = &session->identity;
    const leat_coordinate_options *options = self->options;
    const bool serves = self->serves || options->serve_data;
    leat_buf settings = {0};
    self->part_bytes = options->part_bytes;
    leat_code code = leat_settings_write(&session->all, &settings, err);
    const leat_database_run run = {.name = self->name,
                                   .identity = identity->run,
                                   .settings = (const char *)settings.data,
                                   .model = identity->model,
                                   .model_hash = identity->model_hash,
                                   .data = identity->data,
                                   .data_note = note_of(self),
                                   .kernel_class = identity->kernel_class,
                                   .leat_version = leat_version(),
                                   .value_names = self->value_names,
                                   .samples = identity->samples,
                                   .units = session->feed.units_most,
                                   .unit_size = session->feed.unit_samples,
                                   .steps = session->steps,
                                   .payload_bytes = self->sizes.payload,
                                   .weights_bytes = self->sizes.weights,
                                   .state_bytes = self->sizes.state,
                                   .part_bytes = options->part_bytes,
                                   .sample_bytes = serves ? session->feed.samples->sample_bytes : 0,
                                   .lease_ms = options->lease_ms,
                                   .renew_ms = options->renew_ms,
                                   .silent_ms = options->silent_ms,
                                   .hold_ms = options->hold_ms};
    if (code == LEAT_OK) code = leat_database_create_run(self->pg, &run, &self->run, err);
    leat_buf_free(&settings);
    return code;
}

static leat_code find_run(leat_coordinator *self, leat_error *err);

/* A try before may have made it, and its answer was lost. */
static leat_code make_run(leat_coordinator *self, leat_error *err) {
    const bool again = self->tried_to_create;
    leat_error why = {0};
    self->tried_to_create = true;
    const leat_code code = create_run(self, &why);
    if (code == LEAT_ERR_EXISTS && again) return find_run(self, err);
    return leat_error_copy(err, &why);
}

/* The run of this name, which must be the same run. */
static leat_code find_run(leat_coordinator *self, leat_error *err) {
    leat_database_run run;
    leat_pg_rows *rows = NULL;
    LEAT_TRY(leat_database_find_run(self->pg, self->name, &run, &rows, err));
    const leat_code code = leat_coordinator_check_run(self, &run, err);
    if (code == LEAT_OK) {
        self->run = run.id;
        self->part_bytes = run.part_bytes;
    }
    leat_pg_rows_destroy(rows);
    return code;
}

static leat_code open_database(leat_coordinator *self, leat_error *err) {
    leat_error why = {0};
    leat_code code = leat_database_install(self->pg, &why);
    if (code == LEAT_ERR_UNSUPPORTED) LEAT_TRY(leat_coordinator_check_version(self, err));
    if (code != LEAT_OK) return leat_error_copy(err, &why);
    if (self->run != 0) {
        code = find_run(self, &why);
        if (code != LEAT_ERR_NOT_FOUND) return leat_error_copy(err, &why);
        self->run = 0; /* the database was lost: what is here is enough */
        self->hold = (leat_database_hold){0};
        return make_run(self, err);
    }
    if (!self->options->train.resume) return make_run(self, err);
    code = find_run(self, &why);
    if (code == LEAT_ERR_NOT_FOUND) return make_run(self, err);
    return leat_error_copy(err, &why);
}

/* The thread that looks for sessions that block, and renews a hold, if there is one. */
static leat_code start_renewer(leat_coordinator *self, leat_database_hold hold, leat_error *err) {
    leat_hold_renewer_stop(&self->renewer);
    leat_coordinator_say_blockers(self);
    self->renewer.hold = hold;
    self->renewer.place = self->place;
    self->renewer.options = self->options;
    return leat_hold_renewer_start(&self->renewer, err);
}

/* Waits until the run is free, and takes it. A session that has it locked meanwhile is named, so it
 * is not waited for at once. */
static leat_code take_run(leat_coordinator *self, leat_error *err) {
    bool told = false;
    char sql[64];
    self->hold.run = self->run;
    snprintf(sql, sizeof sql, "set lock_timeout = %d", TAKE_WAIT_MS);
    LEAT_TRY(leat_pg_script(self->pg, sql, err));
    for (;;) {
        leat_error why = {0};
        const leat_code code = leat_database_take(self->pg, self->options->who, &self->hold, &why);
        leat_coordinator_say_blockers(self);
        if (code == LEAT_OK) return leat_pg_script(self->pg, LEAT_PG_SET_LOCK_TIMEOUT, err);
        if (code != LEAT_ERR_BUSY || leat_pg_broken(self->pg)) return leat_error_copy(err, &why);
        if (!told && leat_database_is_locked(self->pg))
            leat_coordinator_say(self, "another session has the run \"%s\" locked; waiting",
                                 self->name);
        else if (!told) leat_coordinator_say(self, "%s; waiting", why.message);
        told = true;
        if (!leat_pause_sleep(self->options->hold_ms / 4, &self->stop))
            return leat_fail(err, LEAT_ERR_CANCELLED, "stopped while waiting for the run");
    }
}

static leat_code check_steps(leat_coordinator *self, leat_error *err) {
    LEAT_TRY(leat_database_look(self->pg, self->run, &self->at, err));
    if (self->at.state_step <= self->session.steps) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION,
                     "the run in the database is at step %lld, after the end at step %lld that is "
                     "wanted: set steps or epochs to more",
                     (long long)self->at.state_step, (long long)self->session.steps);
}

/* What of the run may be another than when it began. */
static leat_code resume_run(leat_coordinator *self, leat_error *err) {
    const leat_coordinate_options *options = self->options;
    const leat_database_run run = {.steps = self->session.steps,
                                   .data_note = note_of(self),
                                   .lease_ms = options->lease_ms,
                                   .renew_ms = options->renew_ms,
                                   .silent_ms = options->silent_ms,
                                   .hold_ms = options->hold_ms};
    int64_t units = 0;
    LEAT_TRY(leat_coordinator_units(self, self->at.step, &units, err));
    return leat_database_resume_run(self->pg, &self->hold, &run, units, err);
}

/* Connects; the first connection looks for a pooler. */
static leat_code connect_once(leat_coordinator *self, leat_error *err) {
    leat_error unknown = {0}, why = {0};
    leat_code code =
        leat_pg_connect(&self->pg, &self->place, "leat coordinate", TIMEOUT_MS, &self->stop, &why);
    /* a login or database that was there may be so again: one that is restored, say */
    if (code == LEAT_ERR_OPTION && self->result->connections > 0) code = LEAT_ERR_CONNECTION;
    if (code != LEAT_OK) return leat_fail(err, code, "%s", why.message);
    self->result->connections++;
    if (self->pooler_known) return LEAT_OK;
    LEAT_TRY(leat_pooler_refuse(self->pg, &self->place, &self->stop, &unknown, err));
    self->pooler_known = true;
    if (unknown.message[0] != 0)
        leat_coordinator_say(self, "whether a pooler is in between is not known: %s",
                             unknown.message);
    return LEAT_OK;
}

/* Before anything is written. What cannot become right by waiting is an error. A new run waits for
 * its server, so that a URL with a wrong host leaves no folder; one that has a folder meets a
 * server that is not there, or a caller who wants an end, later. */
static leat_code look_first(leat_coordinator *self, leat_error *err) {
    if (leat_coordinator_is_local(self)) { /* not there yet, and without a pooler */
        self->pooler_known = true;
        return LEAT_OK;
    }
    for (bool told = false;; told = true) {
        leat_error why = {0};
        leat_code code = connect_once(self, &why);
        if (code == LEAT_OK) code = leat_coordinator_check_version(self, &why);
        leat_pg_close(self->pg);
        self->pg = NULL;
        if (code == LEAT_ERR_UNSUPPORTED || code == LEAT_ERR_OPTION)
            return leat_error_copy(err, &why);
        const bool waits = code == LEAT_ERR_CONNECTION || code == LEAT_ERR_BUSY;
        if (!waits || self->options->train.resume) break;
        if (!told)
            leat_coordinator_say(self, "%s; trying again until it succeeds" LEAT_PG_NEVER_CONNECTED,
                                 why.message);
        if (!leat_pause_wait(&self->pause, &self->stop))
            return leat_fail(err, LEAT_ERR_CANCELLED,
                             "stopped before the database was reached; nothing was written");
    }
    leat_pause_reset(&self->pause);
    return LEAT_OK;
}

static leat_code connect_again(leat_coordinator *self, leat_error *err) {
    leat_hold_renewer_stop(&self->renewer);
    leat_coordinator_say_blockers(self);
    leat_pg_close(self->pg);
    self->pg = NULL;
    LEAT_TRY(leat_coordinator_revive_place(self, err));
    LEAT_TRY(connect_once(self, err));
    LEAT_TRY(start_renewer(self, (leat_database_hold){0}, err));
    LEAT_TRY(open_database(self, err));
    /* now it knows the run, and can blame those that keep it from it */
    LEAT_TRY(start_renewer(self, (leat_database_hold){.run = self->run}, err));
    LEAT_TRY(take_run(self, err));
    LEAT_TRY(start_renewer(self, self->hold, err));
    LEAT_TRY(check_steps(self, err));
    LEAT_TRY(resume_run(self, err));
    LEAT_TRY(leat_coordinator_list_data(self, err));
    LEAT_TRY(leat_coordinator_serve_data(self, err));
    LEAT_TRY(leat_coordinator_sync(self, err));
    LEAT_TRY(leat_coordinator_record_begin(self, err));
    self->lost = false;
    self->opened = true;
    leat_coordinator_say(self, "the run \"%s\" is open at step %lld of %lld", self->name,
                         (long long)leat_trainer_state(self->session.trainer)->step,
                         (long long)self->session.steps);
    leat_coordinator_say_line(self);
    return LEAT_OK;
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* The step of the weights. If it diverges, it is taken again without the results of machines that
 * are not what their units give, if there are any: only what remains says that it has. */
static leat_code end_step(leat_coordinator *self, leat_step_numbers *numbers, leat_error *err) {
    leat_error why = {0};
    bool some = false;
    const leat_code code = leat_trainer_end(self->session.trainer, numbers, &why);
    if (code != LEAT_ERR_INPUT) return leat_error_copy(err, &why);
    LEAT_TRY(leat_exchange_again(self->exchange, err));
    LEAT_TRY(leat_coordinator_encode(self, err));
    /* weights that the step has already changed are nobody's to compute units from */
    if (strcmp(self->weights_hash, self->at.weights) != 0) return leat_error_copy(err, &why);
    LEAT_TRY(leat_coordinator_doubt(self, &some, err));
    if (!some) return leat_error_copy(err, &why);
    LEAT_TRY(leat_exchange_again(self->exchange, err));
    LEAT_TRY(leat_coordinator_collect(self, err));
    return leat_trainer_end(self->session.trainer, numbers, err);
}

/* One step, from its open state to its commit; what RUN keeps comes after that. */
static leat_code take_step(leat_coordinator *self, leat_error *err) {
    leat_step_numbers numbers;
    const int64_t begin_ns = leat_clock_ns();
    LEAT_TRY(leat_exchange_again(self->exchange, err)); /* a try before may have added units */
    LEAT_TRY(leat_coordinator_collect(self, err));
    LEAT_TRY(end_step(self, &numbers, err));
    LEAT_TRY(leat_coordinator_take(self, &numbers, err));
    leat_error why = {0};
    const leat_code code = leat_coordinator_commit(self, &why);
    /* the step is taken, whether or not the database knows it already: sync.c */
    LEAT_TRY(leat_session_stepped(&self->session, &numbers,
                                  (double)(leat_clock_ns() - begin_ns) * 1e-9, err));
    return code == LEAT_OK ? LEAT_OK : leat_error_copy(err, &why);
}

/* A failure after which the coordinator connects again. One that had the run open does so once a
 * step where the schema lacks something: if a dump is restored over it, it is not complete then,
 * and is waited for. */
static bool goes_away(leat_coordinator *self, leat_code code) {
    const int64_t step = leat_trainer_state(self->session.trainer)->step;
    if (code == LEAT_ERR_CONNECTION || code == LEAT_ERR_BUSY || code == LEAT_ERR_NOT_FOUND)
        return true;
    if (self->pg == NULL || !leat_database_is_lacking(self->pg)) return false;
    const bool again = step == self->lacking_step;
    self->lacking_step = step;
    return self->opened && !again;
}

/* Why it connects again: once a reason, however often it tries. */
static void say_lost(leat_coordinator *self, leat_code code, const leat_error *why) {
    if (!self->lost || code != self->lost_code)
        leat_coordinator_say(self, "%s; trying again until it succeeds%s", why->message,
                             self->result->connections == 0 ? LEAT_PG_NEVER_CONNECTED : "");
    self->lost = true;
    self->lost_code = code;
}

/* The last state is in the database before the run is finished there: a commit of it may have
 * failed. */
static leat_code keep_last_state(leat_coordinator *self, leat_error *err) {
    const int64_t step = leat_trainer_state(self->session.trainer)->step;
    int slot = 0;
    if (step != self->session.steps || self->at.state_step == step) return LEAT_OK;
    LEAT_TRY(leat_coordinator_write_state(self, &slot, err));
    return leat_database_keep_state(self->pg, &self->hold, step, slot, self->state_hash, err);
}

static leat_code finish(leat_coordinator *self, leat_error *err) {
    LEAT_TRY(keep_last_state(self, err));
    if (self->session.steps < self->session.planned) {
        LEAT_TRY(resume_run(self, err));
        LEAT_TRY(leat_coordinator_end_early(self, err));
    }
    LEAT_TRY(leat_session_finish(&self->session, err));
    LEAT_TRY(leat_database_set_state(self->pg, &self->hold, "finished", "", err));
    self->finished = true;
    (void)!leat_database_wake(self->pg, self->run, NULL); /* the run has ended, whoever hears it */
    leat_coordinator_say_goodbye(self);
    return LEAT_OK;
}

/* The caller wants an end. */
static leat_code stop(leat_coordinator *self, leat_error *err) {
    LEAT_TRY(leat_exchange_again(self->exchange, err));
    LEAT_TRY(leat_session_finish(&self->session, err));
    if (self->finished) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_CANCELLED,
                     "all steps are done and saved, but the database does not know it yet: workers "
                     "wait; use --resume to tell them");
}

/* Until the run ends, is stopped, or fails for good. */
static leat_code serve(leat_coordinator *self, leat_error *err) {
    leat_error why = {0};
    for (;;) {
        leat_code code = LEAT_OK;
        if (self->pg == NULL || leat_pg_broken(self->pg)) code = connect_again(self, &why);
        while (code == LEAT_OK && leat_session_goes_on(&self->session) &&
               !leat_coordinator_stopped(self)) {
            code = take_step(self, &why);
            if (code == LEAT_OK) leat_pause_reset(&self->pause);
        }
        if (code == LEAT_OK) code = finish(self, &why);
        if (code == LEAT_ERR_CANCELLED) return stop(self, err);
        if (!goes_away(self, code)) return leat_error_copy(err, &why);
        say_lost(self, code, &why);
        leat_pg_close(self->pg);
        self->pg = NULL;
        LEAT_TRY(leat_exchange_again(self->exchange, err));
        leat_coordinator_say_blockers(self);
        (void)leat_pause_wait(&self->pause, &self->stop);
        if (leat_coordinator_stopped(self)) return stop(self, err);
    }
}

static leat_code open_ledger(leat_coordinator *self, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    LEAT_TRY(leat_run_folder_join(&self->session.folder, LEAT_RUN_LEDGER, path, err));
    return leat_ledger_open(&self->ledger, path, err);
}

/* What a coordinator before this one has written of the steps before. */
static leat_code read_usual(leat_coordinator *self, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    LEAT_TRY(leat_run_folder_join(&self->session.folder, LEAT_RUN_LEDGER, path, err));
    return leat_coordinator_read_usual(self, path, err);
}

static leat_code prepare(leat_coordinator *self, const char *model, const char *data,
                         const char *run, leat_error *err) {
    const leat_coordinate_options *options = self->options;
    LEAT_TRY(leat_settings_check(leat_coordinate_options_table(), options, err));
    LEAT_TRY(leat_coordinator_name(options->name, run, self->name, err));
    LEAT_TRY(leat_coordinator_check_place(self, run, err));
    LEAT_TRY(leat_session_begin(&self->session, model, data, &options->train, &self->result->train,
                                err));
    leat_coordinator_name_values(self);
    LEAT_TRY(leat_exchange_check(self->session.task->model, self->session.options, err));
    if (options->serve_data) LEAT_TRY(leat_coordinator_check_serve(self, err));
    LEAT_TRY(leat_run_folder_check(run, options->train.resume, err)); /* before any waiting */
    LEAT_TRY(look_first(self, err));
    /* after it the identity is known: with --init, the run's */
    LEAT_TRY(leat_session_open(&self->session, run, err));
    LEAT_TRY(open_ledger(self, err));
    LEAT_TRY(leat_exchange_create(&self->exchange, self->session.trainer, self->session.options,
                                  self->session.identity.run, err));
    self->sizes = leat_exchange_get_sizes(self->exchange);
    LEAT_TRY(LEAT_NEW(&self->counted, self->session.feed.units_most, err));
    LEAT_TRY(LEAT_NEW(&self->norms, self->session.feed.units_most, err));
    LEAT_TRY(leat_block_alloc((void **)&self->weights, self->sizes.weights, err));
    LEAT_TRY(leat_block_alloc((void **)&self->payload, self->sizes.payload, err));
    LEAT_TRY(leat_block_alloc((void **)&self->state, self->sizes.state, err));
    LEAT_TRY(leat_session_start(&self->session, err));
    LEAT_TRY(read_usual(self, err));
    LEAT_TRY(leat_coordinator_encode(self, err));
    return leat_coordinator_open_place(self, run, err);
}

static void destroy(leat_coordinator *self) {
    leat_hold_renewer_stop(&self->renewer);
    if (self->pg != NULL && !leat_pg_broken(self->pg) && self->hold.fence != 0)
        (void)!leat_database_give_up(self->pg, &self->hold, NULL);
    leat_pg_close(self->pg);
    leat_coordinator_close_place(self);
    leat_block_free(self->weights, self->sizes.weights);
    leat_block_free(self->payload, self->sizes.payload);
    leat_block_free(self->state, self->sizes.state);
    leat_exchange_destroy(self->exchange);
    leat_free(self->counted);
    leat_free(self->norms);
    leat_ledger_close(&self->ledger);
    leat_session_close(&self->session);
}

leat_code leat_coordinate(const char *model, const char *data, const char *run,
                          const leat_coordinate_options *options, leat_coordinate_result *result,
                          leat_error *err) {
    leat_coordinator *self = NULL;
    *result = (leat_coordinate_result){0};
    LEAT_TRY(LEAT_NEW(&self, 1, err));
    self->options = options;
    self->result = result;
    self->folder = run;
    self->taken.step = self->lacking_step = -1;
    leat_usual_clear(&self->usual);
    self->stop = (leat_stop){.asked = is_stopped, .of = self};
    self->pause = leat_pause_make(options->poll_ms, PAUSE_MOST_MS);
    leat_code code = prepare(self, model, data, run, err);
    if (code == LEAT_OK) code = serve(self, err);
    /* a new folder without a step would be taken for that of a run at its beginning; one with a
     * private server holds that */
    if (code != LEAT_OK && code != LEAT_ERR_CANCELLED && leat_coordinator_is_new(self) &&
        self->local == NULL)
        leat_run_folder_clear(&self->session.folder);
    destroy(self);
    leat_free(self);
    return code;
}
