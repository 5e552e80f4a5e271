/*
 * leat batches: steps one after the other, whatever a loader makes them of: waiting so that a
 * signal ends it, hashes and text, the state at the end.
 */
#include <stdio.h>
#include <string.h>

#include "batches.h"

batches_run batches_run_begin(leat_cli *cli, const batches_kind *kind) {
    const char *hash = leat_cli_text(cli, "hash");
    return (batches_run){
        .kind = kind,
        .cli = cli,
        .hashes = hash != NULL,
        .lines = hash != NULL && strcmp(hash, "rows") == 0,
        .times = leat_cli_flag(cli, "time"),
        .words = leat_cli_flag(cli, "words"),
        .json = leat_cli_flag(cli, "json"),
    };
}

void batches_run_end(batches_run *run) {
    leat_batch_hash_destroy(run->hash);
    leat_textbuf_destroy(run->kept);
}

/* ---- One batch after the other ------------------------------------------------------------ */

/* What is to be written of a batch goes into `text` first, which --json keeps and others flush. */
static leat_code take_batch(batches_run *run, bool *more, leat_error *err) {
    const char *text = NULL;
    int64_t size_bytes = 0;
    leat_textbuf *lines = NULL;
    if (!run->lines && !run->words) return run->kind->take(run, more, err);
    leat_code code = leat_textbuf_create(&lines, err);
    if (code != LEAT_OK) return code;
    run->text = lines;
    code = run->kind->take(run, more, err);
    if (code == LEAT_OK) code = leat_textbuf_finish(lines, &text, &size_bytes, err);
    if (code == LEAT_OK && run->json) leat_textbuf_append(run->kept, text, size_bytes);
    else if (code == LEAT_OK) leat_out_bytes(run->cli, text, size_bytes);
    run->text = NULL;
    leat_textbuf_destroy(lines);
    return code;
}

/* Whether the next step is still wanted. */
static bool goes_on(batches_run *run) {
    leat_progress progress = {"batches", "steps", run->done - run->first,
                              run->end < 0 ? -1 : run->end - run->first};
    if (leat_out_broken(run->cli)) return false;
    bool more = run->end < 0 || run->done < run->end;
    if (!leat_cli_progress(run->cli, &progress)) {
        run->stopped = run->ends && more;
        return false;
    }
    if (run->ends) return more;
    return leat_cli_clock_ns() - run->begun_ns < BATCHES_TIME_NS;
}

static leat_code make_steps(batches_run *run, leat_error *err) {
    leat_code code = LEAT_OK;
    run->begun_ns = leat_cli_clock_ns();
    for (run->done = run->first; code == LEAT_OK && goes_on(run); run->done++) {
        bool more = true;
        /* a wait may be long, and a signal must still end it */
        while (!run->kind->wait(run, 200)) {
            if (goes_on(run)) continue;
            run->ended_ns = leat_cli_clock_ns();
            return LEAT_OK;
        }
        code = take_batch(run, &more, err);
        if (code != LEAT_OK || !more) break;
    }
    run->ended_ns = leat_cli_clock_ns();
    return code;
}

/* ---- What comes out ----------------------------------------------------------------------- */

static int write_results(batches_run *run) {
    char hash[65];
    if (run->json) return run->kind->json_summary(run);
    leat_cli_progress_end(run->cli);
    if (run->hashes && !run->lines) {
        leat_batch_hash_text(run->hash, hash);
        leat_out(run->cli, "%s\n", hash);
    }
    if (run->times || (!run->hashes && !run->words)) run->kind->write_summary(run);
    return run->kind->note(run);
}

/* A hash of fewer steps than were asked for would look like one of all of them. */
static int write_stopped(batches_run *run, const char *state) {
    char asked[64] = "";
    if (run->end >= 0 && !run->relative)
        snprintf(asked, sizeof asked, " of %lld to %lld", (long long)run->first,
                 (long long)run->end - 1);
    char made[64];
    if (run->relative)
        snprintf(made, sizeof made, "after %lld steps", (long long)(run->done - run->first));
    else snprintf(made, sizeof made, "before step %lld", (long long)run->done);
    leat_cli_note(run->cli, "stopped %s%s%s%s", made, asked,
                  state == NULL ? "" : "; --resume goes on with the state in ",
                  state == NULL ? "" : state);
    if (!run->hashes && !run->json) (void)write_results(run);
    return 1;
}

int batches_run_steps(batches_run *run) {
    leat_error err = {0};
    int status = 0;
    const char *state = leat_cli_text(run->cli, "save-state");
    if (state != NULL && leat_text_can_save(state, &err) != LEAT_OK)
        return leat_cli_fail(run->cli, &err);
    if (leat_batch_hash_create(&run->hash, &err) != LEAT_OK) return leat_cli_fail(run->cli, &err);
    if (leat_textbuf_create(&run->kept, &err) != LEAT_OK) return leat_cli_fail(run->cli, &err);
    leat_cli_cancellable(run->cli);
    leat_code code = make_steps(run, &err);
    leat_cli_progress_end(run->cli);
    if (code != LEAT_OK) status = leat_cli_fail(run->cli, &err);
    /* the state is that of the step that was not made, so that a run can go on behind a failure */
    if (state != NULL && run->kind->save(run, state, &err) != LEAT_OK)
        return leat_cli_fail(run->cli, &err);
    if (status == 0) return run->stopped ? write_stopped(run, state) : write_results(run);
    (void)run->kind->note(run);
    return status;
}

/* What makes batches or tells of a few of them is another job than a report. */
int batches_refuse_jobs(leat_cli *cli) {
    static const char *const others[] = {"hash",    "time",   "words",
                                         "explain", "resume", "save-state"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (leat_cli_given(cli, others[i]))
            return leat_cli_usage(cli, "--report and --%s are two jobs: ask for one at a time",
                                  others[i]);
    }
    return 0;
}
