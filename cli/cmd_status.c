/* leat status: who works on a run, and how it goes. */
#include <math.h>
#include <string.h>

#include "crowd/crowd.h"
#include "leat/train.h"

static bool anybody_works(const leat_crowd_status *status) {
    leat_crowd_worker of;
    for (int i = 0; leat_crowd_worker_at(status, i, &of); i++)
        if (of.active) return true;
    return false;
}

/* The times of the last steps say how long the rest takes only while somebody takes steps. */
static void write_times(leat_cli *cli, const leat_crowd_status *status) {
    char words[LEAT_WORDS_BYTES];
    const leat_crowd_run *run = leat_crowd_run_of(status);
    const int64_t left = run->step < run->steps ? run->steps - run->step : 0;
    const bool open = strcmp(run->state, "open") == 0 && left > 0;
    const bool works = anybody_works(status);
    if (!isnan(run->step_seconds))
        leat_out(cli, "; %s a step", leat_words_seconds(words, run->step_seconds));
    if (open && !works) leat_out(cli, "; no machine works on it now");
    else if (open && run->coordinated && !isnan(run->step_seconds))
        leat_out(cli, ", %s left", leat_words_seconds(words, run->step_seconds * (double)left));
}

/* ---- what the last step has computed --------------------------------------------------------- */

/* The losses of a GAN, each a sum of values. The values of other runs are shown as they are. */
enum { LOSSES = 2 };
static const struct {
    const char *key, *label;
    const char *of[2];
} losses[LOSSES] = {{"loss_d", "D", {"loss_d_images", "loss_d_fakes"}},
                    {"loss_g", "G", {"loss_g"}}};

/* False: the run has none of these. */
static bool find_losses(const leat_crowd_run *run, double found[LOSSES]) {
    for (int i = 0; i < LOSSES; i++) {
        found[i] = leat_crowd_run_value(run, losses[i].of[0]);
        if (losses[i].of[1] != NULL) found[i] += leat_crowd_run_value(run, losses[i].of[1]);
        if (isnan(found[i])) return false;
    }
    return true;
}

static void write_values(leat_cli *cli, const leat_crowd_run *run) {
    double found[LOSSES];
    if (run->value_count == 0) return;
    const bool of_gan = find_losses(run, found);
    leat_out(cli, of_gan ? "losses  " : "values  ");
    for (int i = 0; i < (of_gan ? LOSSES : run->value_count); i++)
        leat_out(cli, "%s %s %.4f", i > 0 ? "," : "",
                 of_gan ? losses[i].label : run->values[i].name,
                 of_gan ? found[i] : run->values[i].value);
    leat_out(cli, "\n");
}

static void json_values(leat_json *json, const leat_crowd_run *run) {
    double found[LOSSES];
    if (run->value_count == 0) return;
    if (find_losses(run, found)) {
        for (int i = 0; i < LOSSES; i++) leat_json_member_known(json, losses[i].key, found[i]);
        return;
    }
    leat_json_key(json, "values");
    leat_json_begin_object(json);
    for (int i = 0; i < run->value_count; i++)
        leat_json_member_known(json, run->values[i].name, run->values[i].value);
    leat_json_end_object(json);
}

/* ---- for people ------------------------------------------------------------------------------ */

/* Of the open step; steps, and units, may differ. */
static void write_units(leat_cli *cli, const leat_crowd_run *run) {
    char words[LEAT_WORDS_BYTES];
    const int64_t here = run->ready + run->out + run->done;
    leat_out(cli, "units    %lld ready, %lld out, %lld done, of %lld", (long long)run->ready,
             (long long)run->out, (long long)run->done, (long long)(here > 0 ? here : run->units));
    if (run->unit_size > 0)
        leat_out(cli, " with %s each",
                 leat_things(words, run->unit_size, leat_train_sample_words(run->model, false)));
    leat_out(cli, "\n");
}

static void write_run(leat_cli *cli, const leat_crowd_status *status) {
    const leat_crowd_run *run = leat_crowd_run_of(status);
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], c[LEAT_WORDS_BYTES];
    leat_out(cli, "run      %s: %s, %s%s%s\n", run->name, run->model, run->state,
             run->reason[0] != 0 ? ": " : "", run->reason);
    leat_out(cli, "step     %s of %s", leat_words_count(a, run->step),
             leat_words_count(b, run->steps));
    write_times(cli, status);
    leat_out(cli, "\n");
    write_values(cli, run);
    write_units(cli, run);
    leat_out(cli, "bytes    %s up per unit, %s down per step; the database has %s\n",
             leat_words_bytes(a, run->payload_bytes), leat_words_bytes(b, run->weights_bytes),
             leat_words_bytes(c, run->database_bytes));
    leat_out(cli, "data     %s\n",
             run->serves_data ? "in the database, for workers without --data"
                              : "not in the database: workers need --data");
    if (run->coordinated) leat_out(cli, "held by  %s\n", run->coordinator);
    else leat_out(cli, "held by  nobody: no coordinator runs\n");
}

static void write_workers(leat_cli *cli, const leat_crowd_status *status) {
    leat_crowd_worker of;
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES];
    for (int i = 0; leat_crowd_worker_at(status, i, &of); i++) {
        if (i == 0) leat_out(cli, "\nworkers\n");
        leat_out(cli, "  %-16.16s %-12.12s %8s units, %s", of.name, of.account,
                 leat_words_count(a, of.accepted), leat_words_bytes(b, of.bytes));
        if (of.refused > 0) leat_out(cli, ", %lld refused", (long long)of.refused);
        if (of.unit >= 0) leat_out(cli, "; computes unit %lld", (long long)of.unit);
        leat_out(cli, "; last seen %s ago\n", leat_words_seconds(a, fmax(of.seen_seconds, 0)));
    }
}

static void write_events(leat_cli *cli, const leat_crowd_status *status) {
    leat_crowd_event of;
    char a[LEAT_WORDS_BYTES];
    for (int i = 0; leat_crowd_event_at(status, i, &of); i++) {
        if (i == 0) leat_out(cli, "\nfailures, refusals and slow machines, the newest first\n");
        leat_out(cli, "  %s ago, %s of %s, %s: %s\n", leat_words_seconds(a, of.seconds),
                 of.name[0] != 0 ? of.name : of.machine, of.account, of.kind, of.words);
    }
}

/* ---- as JSON --------------------------------------------------------------------------------- */

static void json_events(leat_json *json, const leat_crowd_status *status) {
    leat_crowd_event of;
    leat_json_key(json, "events");
    leat_json_begin_array(json);
    for (int i = 0; leat_crowd_event_at(status, i, &of); i++) {
        leat_json_begin_object(json);
        leat_json_member_double(json, "seconds", of.seconds);
        leat_json_member_string(json, "kind", of.kind);
        leat_json_member_string(json, "account", of.account);
        leat_json_member_string(json, "machine", of.machine);
        leat_json_member_string(json, "name", of.name);
        leat_json_member_string(json, "words", of.words);
        leat_json_end_object(json);
    }
    leat_json_end_array(json);
}

static void json_members(leat_json *json, const void *source) {
    const leat_crowd_status *status = source;
    const leat_crowd_run *run = leat_crowd_run_of(status);
    leat_crowd_worker of;
    leat_json_member_string(json, "run", run->name);
    leat_json_member_string(json, "model", run->model);
    leat_json_member_string(json, "state", run->state);
    leat_json_member_string(json, "reason", run->reason);
    leat_json_member_bool(json, "coordinated", run->coordinated);
    leat_json_member_string(json, "coordinator", run->coordinator);
    leat_json_member_int(json, "step", run->step);
    leat_json_member_int(json, "steps", run->steps);
    leat_json_member_int(json, "units", run->units);
    leat_json_member_int(json, "unit_size", run->unit_size);
    leat_json_member_int(json, "ready", run->ready);
    leat_json_member_int(json, "out", run->out);
    leat_json_member_int(json, "done", run->done);
    json_values(json, run);
    leat_json_member_known(json, "step_seconds", run->step_seconds);
    leat_json_member_int(json, "payload_bytes", run->payload_bytes);
    leat_json_member_int(json, "weights_bytes", run->weights_bytes);
    leat_json_member_int(json, "database_bytes", run->database_bytes);
    leat_json_member_bool(json, "serves_data", run->serves_data);
    leat_json_key(json, "workers");
    leat_json_begin_array(json);
    for (int i = 0; leat_crowd_worker_at(status, i, &of); i++) {
        leat_json_begin_object(json);
        leat_json_member_string(json, "name", of.name);
        leat_json_member_string(json, "account", of.account);
        leat_json_member_string(json, "machine", of.machine);
        leat_json_member_string(json, "hardware", of.hardware);
        leat_json_member_bool(json, "active", of.active);
        leat_json_member_double(json, "seen_seconds", of.seen_seconds);
        leat_json_member_int(json, "accepted", of.accepted);
        leat_json_member_int(json, "refused", of.refused);
        leat_json_member_int(json, "bytes", of.bytes);
        if (of.unit >= 0) leat_json_member_int(json, "unit", of.unit);
        leat_json_end_object(json);
    }
    leat_json_end_array(json);
    json_events(json, status);
}

static int run_status(leat_cli *cli) {
    leat_crowd_status *status = NULL;
    leat_error err = {0};
    char url[LEAT_CROWD_URL_BYTES];
    leat_crowd_forget_environment();
    int code = leat_crowd_url(cli, leat_cli_text(cli, "db"), url);
    if (code != 0) return code;
    if (leat_crowd_status_load(&status, url, &err) != LEAT_OK) return leat_cli_fail(cli, &err);
    if (leat_cli_flag(cli, "json")) {
        code = leat_out_object(cli, json_members, status);
    } else {
        write_run(cli, status);
        write_workers(cli, status);
        write_events(cli, status);
    }
    leat_crowd_status_destroy(status);
    return code;
}

static const leat_cli_option options[] = {
    {.own.name = "db",
     .own.kind = LEAT_SETTING_TEXT,
     .own.value = "URL",
     .own.help = "database of the run, as leat coordinate printed it, or - or @FILE to read the "
                 "URL; ?run=NAME chooses one of several",
     .required = true},
    LEAT_CLI_OPTION_JSON,
    {0},
};

static const leat_cli_example examples[] = {
    {"leat status --db postgresql://ann:secret@db.example.org/class", "the newest open run"},
    {.line = NULL},
};

const leat_cli_command leat_cmd_status = {
    .words = "status",
    .purpose = "show who works on a run and how it is going",
    .usage = "--db URL [options]",
    .about =
        "Reads what the database of a run says: the step, losses, units of the step, whether it "
        "keeps its data set there, who works, "
        "and the last failures, refusals, and machines whose link is too slow. Any login that may "
        "connect can ask.",
    .argument = "",
    .min_arguments = 0,
    .max_arguments = 0,
    .options = options,
    .examples = examples,
    .run = run_status,
};
