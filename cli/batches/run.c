/*
 * leat batches: runs the steps of any loader in order: waits that a signal can end, hashes and
 * text, and the state at the end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batches/batches.h"
#include "data_kinds.h"
#include "page/page.h"

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

/* ---- --steps ------------------------------------------------------------------------------ */

/* Digits, or nothing, which leaves *value unchanged. */
static bool take_number(const char **at, int64_t *value) {
    char *end = NULL;
    if (**at < '0' || **at > '9') return true;
    *value = strtoll(*at, &end, 10);
    *at = end;
    return *value < INT64_MAX;
}

int batches_split_steps(leat_cli *cli, int64_t *first, int64_t *end) {
    const char *text = leat_cli_text(cli, "steps"), *at = text;
    if (text == NULL) return 0;
    if (take_number(&at, first) && *at++ == ':' && take_number(&at, end) && *at == 0) {
        if (text[0] == ':' || *end < 0 || *first <= *end) return 0;
        return leat_cli_usage(cli, "--steps: \"%.100s\" ends before it starts", text);
    }
    return leat_cli_usage(cli,
                          "--steps: \"%.100s\" is not accepted; it takes FIRST:END, END excluded "
                          "(5:6 is step 5)",
                          text);
}

int batches_asked_steps(batches_run *run, bool epochs) {
    int64_t resumed = run->first;
    run->end = -1;
    int status = batches_split_steps(run->cli, &run->first, &run->end);
    if (status != 0) return status;
    if (run->first != resumed && leat_cli_given(run->cli, "resume"))
        return leat_cli_usage(run->cli,
                              "--steps starts at %lld, but the state of --resume is at %lld; omit "
                              "the first step (:END)",
                              (long long)run->first, (long long)resumed);
    if (run->end >= 0 && run->end <= resumed && leat_cli_given(run->cli, "resume"))
        return leat_cli_usage(run->cli,
                              "--steps ends at %lld, but the state of --resume is already at step "
                              "%lld, so no step is left to build; give a later end",
                              (long long)run->end, (long long)resumed);
    if (run->end < 0 && !run->times && !epochs)
        return leat_cli_usage(run->cli,
                              "--steps: \"%.100s\" has no end, and without --epochs the loader "
                              "never ends; give an end or --epochs",
                              leat_cli_text(run->cli, "steps"));
    return 0;
}

int batches_read_steps(batches_run *run, int64_t first, int64_t count) {
    run->first = first;
    run->end = count;
    if (leat_cli_given(run->cli, "steps")) {
        int status = batches_asked_steps(run, count >= 0);
        if (status != 0) return status;
    } else if (run->words && !run->hashes && !run->times) run->end = run->first + 1;
    else if (count < 0 && !run->times) run->end = run->first + BATCHES_STEPS;
    if (count >= 0 && (run->end > count || run->end < 0)) run->end = count;
    run->ends = run->end >= 0;
    return 0;
}

/* ---- One batch after the other ------------------------------------------------------------ */

/* Text about a batch goes into `text` first, which --json keeps and other formats flush. */
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
    else if (code == LEAT_OK) leat_out_lines(run->cli, text, size_bytes);
    run->text = NULL;
    leat_textbuf_destroy(lines);
    return code;
}

/* Whether to build the next step. */
static bool continues(batches_run *run) {
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
    for (run->done = run->first; code == LEAT_OK && continues(run); run->done++) {
        bool more = true;
        /* a wait may be long, and a signal must still end it */
        while (!run->kind->wait(run, 200)) {
            if (continues(run)) continue;
            run->ended_ns = leat_cli_clock_ns();
            return LEAT_OK;
        }
        code = take_batch(run, &more, err);
        if (code != LEAT_OK || !more) break;
    }
    run->ended_ns = leat_cli_clock_ns();
    return code;
}

void batches_json_steps(leat_json *json, const batches_run *run) {
    leat_json_key(json, "steps");
    leat_json_begin_array(json);
    leat_json_int(json, run->first);
    leat_json_int(json, run->done);
    leat_json_end_array(json);
}

void batches_json_result(leat_json *json, const batches_run *run, const char *text,
                         int64_t text_bytes) {
    char hash[65];
    if (run->hashes) {
        leat_batch_hash_text(run->hash, hash);
        leat_json_member_string(json, "hash", hash);
    }
    if (text == NULL) return;
    leat_json_key(json, "text");
    leat_json_text(json, text, text_bytes);
}

static double per_second(const batches_made *made, double seconds) {
    return seconds > 0 ? (double)made->count / seconds : 0;
}

/* Of a thread that does not wait for data. */
static double per_thread_second(const batches_made *made) {
    return per_second(made, (double)(made->work_ns - made->read_wait_ns) * 1e-9);
}

static double seconds_of(const batches_run *run) {
    return (double)(run->ended_ns - run->begun_ns) * 1e-9;
}

void batches_json_time(leat_json *json, const batches_run *run, const batches_made *made) {
    char rate[64], one[64];
    if (!run->times) return;
    snprintf(rate, sizeof rate, "%s_per_second", made->things);
    snprintf(one, sizeof one, "%s_per_thread_second", made->things);
    leat_json_key(json, "time");
    leat_json_begin_object(json);
    leat_json_member_double(json, "seconds", seconds_of(run));
    leat_json_member_double(json, rate, per_second(made, seconds_of(run)));
    leat_json_member_double(json, one, per_thread_second(made));
    leat_json_member_double(json, "stall_seconds", (double)made->stall_ns * 1e-9);
    leat_json_member_double(json, "read_wait_seconds", (double)made->read_wait_ns * 1e-9);
    leat_json_end_object(json);
}

void batches_write_time(const batches_run *run, const batches_made *made) {
    char time[LEAT_WORDS_BYTES], rate[LEAT_WORDS_BYTES], one[LEAT_WORDS_BYTES];
    leat_out(run->cli, "time       %s, %s %s/s, %s %s/s per busy thread\n",
             leat_words_seconds(time, seconds_of(run)),
             leat_words_rate(rate, per_second(made, seconds_of(run))), made->things,
             leat_words_rate(one, per_thread_second(made)), made->things);
    leat_out(run->cli,
             "waiting    %.1f %% of the time for the next batch: this command does nothing else\n",
             100 * leat_ratio(made->stall_ns, run->ended_ns - run->begun_ns));
}

void batches_write_reading(const batches_run *run, const batches_made *made) {
    leat_out(run->cli, "reading    threads waited for data %.1f %% of their time\n",
             100 * leat_ratio(made->read_wait_ns, made->work_ns));
}

void batches_note_memory(leat_cli *cli, const char *data, int64_t size_bytes) {
    char size[LEAT_WORDS_BYTES], memory[LEAT_WORDS_BYTES];
    int64_t memory_bytes = 0;
    if (!leat_data_exceeds_memory(size_bytes, &memory_bytes)) return;
    leat_cli_note(
        cli,
        "the %s (%s) is larger than the memory of this machine (%s), so batches in random "
        "order wait for the disk; use --order windowed, which reads the %s once per "
        "epoch, in large pieces",
        data, leat_words_bytes(size, size_bytes), leat_words_bytes(memory, memory_bytes), data);
}

/* ---- What comes out ----------------------------------------------------------------------- */

static int write_results(batches_run *run) {
    char hash[65];
    if (run->json) return run->kind->json_summary(run);
    leat_cli_progress_end(run->cli);
    if (run->hashes && !run->lines) {
        /* it is the same for all data, so it must not pass for the hash of a step */
        if (run->done == run->first)
            leat_cli_note(run->cli, "the hash is that of no batches, because none was built");
        leat_batch_hash_text(run->hash, hash);
        leat_out(run->cli, "%s", hash);
        if (run->label != NULL) {
            leat_out(run->cli, "  ");
            leat_out_name(run->cli, run->label);
        }
        leat_out(run->cli, "\n");
    }
    if (run->times || (!run->hashes && !run->words)) run->kind->write_summary(run);
    return run->kind->note(run);
}

/* A hash of fewer steps than requested must not pass for the hash of all of them. */
static int write_stopped(batches_run *run, const char *state) {
    char asked[64] = "";
    if (run->end >= 0 && !run->relative)
        snprintf(asked, sizeof asked, " of %lld:%lld", (long long)run->first, (long long)run->end);
    char made[64];
    if (run->relative)
        snprintf(made, sizeof made, "after %lld steps", (long long)(run->done - run->first));
    else snprintf(made, sizeof made, "before step %lld", (long long)run->done);
    leat_cli_note(run->cli, "stopped %s%s%s%s", made, asked,
                  state == NULL ? "" : "; use --resume to continue from the state in ",
                  state == NULL ? "" : state);
    if (!run->hashes && !run->json) (void)write_results(run);
    return 1;
}

int batches_run_steps(batches_run *run) {
    leat_error err = {0};
    int status = 0;
    const char *state = leat_cli_text(run->cli, "save-state");
    if (leat_batch_hash_create(&run->hash, &err) != LEAT_OK) return leat_cli_fail(run->cli, &err);
    if (leat_textbuf_create(&run->kept, &err) != LEAT_OK) return leat_cli_fail(run->cli, &err);
    leat_code code = make_steps(run, &err);
    leat_cli_progress_end(run->cli);
    if (code != LEAT_OK) status = leat_cli_fail(run->cli, &err);
    /* the state is at the step that was not built, so that a run can resume after a failure */
    if (state != NULL && run->kind->save(run, state, &err) != LEAT_OK)
        return leat_cli_fail(run->cli, &err);
    if (status == 0) return run->stopped ? write_stopped(run, state) : write_results(run);
    (void)run->kind->note(run);
    return status;
}

void batches_write_page_names(leat_cli *cli) {
    static const char *const names[] = {"report", "figures"};
    static const char *const words[] = {"page", "figures"};
    for (int i = 0; i < 2; i++) {
        if (!leat_cli_given(cli, names[i])) continue;
        leat_out(cli, "%-10s ", words[i]);
        leat_out_name(cli, leat_cli_text(cli, names[i]));
        leat_out(cli, "\n");
    }
}
