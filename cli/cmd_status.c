/* leat status: who works on a run, and how it goes. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "crowd/crowd.h"
#include "facts.h"
#include "leat/train.h"

/* What the facts are about. */
typedef struct view {
    leat_crowd_run run;
    const leat_crowd_status *status;
    char each[LEAT_WORDS_BYTES]; /* samples of each unit: "64 images"; "": units differ */
} view;

/* ---- Workers and events ---------------------------------------------------------------------- */

static bool worker_at(const void *source, int index, void *item) {
    return leat_crowd_worker_at(((const view *)source)->status, index, item);
}

#define AT(member) offsetof(leat_crowd_worker, member)
static const leat_fact worker_facts[] = {
    {"name", LEAT_FACT_CHARS, AT(name), .help = "Name of the machine, as its user calls it."},
    {"account", LEAT_FACT_CHARS, AT(account), .help = "Login."},
    {"machine", LEAT_FACT_CHARS, AT(machine),
     .help = "Identity of the machine, 32 hexadecimal digits."},
    {"hardware", LEAT_FACT_CHARS, AT(hardware),
     .help = "Processor and memory, as the machine reports them."},
    {"active", LEAT_FACT_FLAG, AT(active), .help = "It gave a sign of life within two minutes."},
    {"seen_seconds", LEAT_FACT_REAL, AT(seen_seconds), LEAT_FACT_SECONDS,
     .help = "Seconds since its last sign of life."},
    {"accepted", LEAT_FACT_INT, AT(accepted), LEAT_FACT_COUNT, .help = "Units handed in."},
    {"refused", LEAT_FACT_INT, AT(refused), .help = "Results that were refused."},
    {"bytes", LEAT_FACT_INT, AT(bytes), LEAT_FACT_BYTES, .help = "Bytes of its results."},
    {"unit", LEAT_FACT_INDEX, AT(unit), .optional = true,
     .help = "Unit that it computes; absent: none."},
    {0},
};
#undef AT

static const leat_fact_list workers = {
    .rows = worker_facts,
    .one = "A worker.",
    .at = worker_at,
    .before = "\nworkers\n",
    .item = "  {name:-16.16} {account:-12.12} {accepted:8} units, {bytes}[, {refused} refused]"
            "[; computes unit {unit}]; last seen {seen_seconds} ago\n",
};

static bool event_at(const void *source, int index, void *item) {
    return leat_crowd_event_at(((const view *)source)->status, index, item);
}

static leat_fact_value known_as(const void *source) {
    const leat_crowd_event *of = source;
    return (leat_fact_value){.text = of->name[0] != 0 ? of->name : of->machine};
}

#define AT(member) offsetof(leat_crowd_event, member)
static const leat_fact event_facts[] = {
    {"seconds", LEAT_FACT_REAL, AT(seconds), LEAT_FACT_SECONDS, .help = "Seconds ago."},
    {"kind", LEAT_FACT_CHARS, AT(kind),
     .help =
         "failed: a machine could not compute a unit; refused: a result was refused; blocked: a "
         "session blocked the run, and was ended; slow: a machine's link is too slow for the "
         "run."},
    {"account", LEAT_FACT_CHARS, AT(account), .help = "Login; empty: not known."},
    {"machine", LEAT_FACT_CHARS, AT(machine), .help = "Identity of the machine; empty: not known."},
    {"name", LEAT_FACT_CHARS, AT(name), .help = "Name of the machine; empty: not known."},
    {"words", LEAT_FACT_CHARS, AT(words),
     .help = "Step, unit and reason, or what would be fast enough."},
    {"known_as", LEAT_FACT_TEXT, .get = known_as},
    {0},
};
#undef AT

static const leat_fact_list events = {
    .rows = event_facts,
    .one = "An event.",
    .at = event_at,
    .before = "\nfailures, refusals, blockers and slow machines, the newest first\n",
    .item = "  {seconds} ago, [{known_as} of ]{account}, {kind}: {words}\n",
};

_Static_assert(sizeof(leat_crowd_worker) <= LEAT_FACT_ITEM_BYTES, "an item of a list");
_Static_assert(sizeof(leat_crowd_event) <= LEAT_FACT_ITEM_BYTES, "an item of a list");

/* ---- What the last step has computed --------------------------------------------------------- */

static double loss_of_discriminator(const leat_crowd_run *run) {
    return leat_crowd_run_value(run, "loss_d_images") + leat_crowd_run_value(run, "loss_d_fakes");
}

/* The losses of a GAN; the values of other runs are shown as they are. */
static bool is_gan(const leat_crowd_run *run) {
    return !isnan(loss_of_discriminator(run)) && !isnan(leat_crowd_run_value(run, "loss_g"));
}

static leat_fact_value loss_d(const void *source) {
    const leat_crowd_run *run = &((const view *)source)->run;
    return (leat_fact_value){.real = is_gan(run) ? loss_of_discriminator(run) : NAN};
}

static leat_fact_value loss_g(const void *source) {
    const leat_crowd_run *run = &((const view *)source)->run;
    return (leat_fact_value){.real = is_gan(run) ? leat_crowd_run_value(run, "loss_g") : NAN};
}

static bool value_at(const void *source, int index, void *item) {
    const leat_crowd_run *run = &((const view *)source)->run;
    if (is_gan(run) || index >= run->value_count) return false;
    *(leat_crowd_value *)item = run->values[index];
    return true;
}

static const leat_fact value_facts[] = {
    {"name", LEAT_FACT_CHARS, offsetof(leat_crowd_value, name), .help = "Name."},
    {"value", LEAT_FACT_REAL, offsetof(leat_crowd_value, value), .digits = 4, .optional = true,
     .help = "A value, such as a loss."},
    {0},
};

static const leat_fact_list values = {
    .rows = value_facts,
    .shape = LEAT_FACT_NAMED,
    .at = value_at,
    .before = "values   ",
    .item = "{name} {value}",
    .between = ", ",
    .after = "\n",
};

/* ---- The run --------------------------------------------------------------------------------- */

static bool anybody_works(const leat_crowd_status *status) {
    leat_crowd_worker of;
    for (int i = 0; leat_crowd_worker_at(status, i, &of); i++)
        if (of.active) return true;
    return false;
}

static bool is_open(const leat_crowd_run *run) {
    return strcmp(run->state, "open") == 0 && run->step < run->steps;
}

static leat_fact_value idle(const void *source) {
    const view *of = source;
    return (leat_fact_value){.flag = is_open(&of->run) && !anybody_works(of->status)};
}

/* The times of the last steps say how long the rest takes only while somebody takes steps. */
static leat_fact_value seconds_left(const void *source) {
    const view *of = source;
    const leat_crowd_run *run = &of->run;
    if (!is_open(run) || !run->coordinated || !anybody_works(of->status))
        return (leat_fact_value){.real = NAN};
    return (leat_fact_value){.real = run->step_seconds * (double)(run->steps - run->step)};
}

/* Units of the open step; steps may have different numbers of them. */
static leat_fact_value units_here(const void *source) {
    const leat_crowd_run *run = &((const view *)source)->run;
    const int64_t here = run->ready + run->out + run->done;
    return (leat_fact_value){.whole = here > 0 ? here : run->units};
}

static leat_fact_value holder(const void *source) {
    const leat_crowd_run *run = &((const view *)source)->run;
    return (leat_fact_value){.text = run->coordinated ? run->coordinator
                                                      : "nobody: no coordinator runs"};
}

#define AT(member) offsetof(view, run.member)
static const leat_fact facts[] = {
    {"run", LEAT_FACT_CHARS, AT(name), .help = "Name of the run."},
    {"model", LEAT_FACT_CHARS, AT(model), .help = "Model: \"dcgan\"."},
    {"state", LEAT_FACT_CHARS, AT(state), .help = "State."},
    {"reason", LEAT_FACT_CHARS, AT(reason),
     .help = "Why it is in this state; empty: no reason is given."},
    {"coordinated", LEAT_FACT_FLAG, AT(coordinated), .help = "A coordinator holds the run."},
    {"coordinator", LEAT_FACT_CHARS, AT(coordinator),
     .help = "Name of the coordinator that holds the run, or was lost; empty: it has stopped."},
    {"step", LEAT_FACT_INT, AT(step), LEAT_FACT_COUNT, .help = "Steps taken."},
    {"steps", LEAT_FACT_INT, AT(steps), LEAT_FACT_COUNT, .help = "Last step."},
    {"units", LEAT_FACT_INT, AT(units), .help = "Units of a step, at most."},
    {"unit_size", LEAT_FACT_INT, AT(unit_size),
     .help = "Images, or samples of another kind, of each unit; 0: units have different numbers "
             "of them."},
    {"ready", LEAT_FACT_INT, AT(ready), .help = "Units of the open step that nobody computes."},
    {"out", LEAT_FACT_INT, AT(out), .help = "Units of it that a machine computes."},
    {"done", LEAT_FACT_INT, AT(done), .help = "Units of it whose results have arrived."},
    {"loss_d", LEAT_FACT_REAL, .get = loss_d, .digits = 4, .optional = true,
     .help = "Loss of the discriminator in the last step; absent before the first, and for models "
             "other than a GAN."},
    {"loss_g", LEAT_FACT_REAL, .get = loss_g, .digits = 4, .optional = true,
     .help = "Loss of the generator in the last step; absent before the first, and for models "
             "other than a GAN."},
    {"values", LEAT_FACT_LIST, .list = &values, .optional = true,
     .help = "For models other than a GAN: what the last step has computed, by name; absent before "
             "the first."},
    {"step_seconds", LEAT_FACT_REAL, AT(step_seconds), LEAT_FACT_SECONDS, .optional = true,
     .help = "Seconds of a step, the median of the last ones; absent: not known."},
    {"payload_bytes", LEAT_FACT_INT, AT(payload_bytes), LEAT_FACT_BYTES,
     .help = "Bytes of the result of a unit."},
    {"weights_bytes", LEAT_FACT_INT, AT(weights_bytes), LEAT_FACT_BYTES,
     .help = "Bytes of the weights."},
    {"database_bytes", LEAT_FACT_INT, AT(database_bytes), LEAT_FACT_BYTES,
     .help = "Size of the database in bytes."},
    {"serves_data", LEAT_FACT_FLAG, AT(serves_data),
     .words = "in the database, for workers without --data"
              "|not in the database: workers need --data",
     .help = "The database has the data set, for workers without it."},
    {"workers", LEAT_FACT_LIST, .list = &workers,
     .help = "At most 10,000 workers, those with most units first."},
    {"events", LEAT_FACT_LIST, .list = &events,
     .help = "The last 20 failures, refusals and machines that are too slow, the newest first."},
    {"idle", LEAT_FACT_FLAG, .get = idle, .words = "no machine works on it now"},
    {"seconds_left", LEAT_FACT_REAL, .get = seconds_left, .unit = LEAT_FACT_SECONDS},
    {"units_here", LEAT_FACT_INT, .get = units_here},
    {"each", LEAT_FACT_CHARS, .place = offsetof(view, each)},
    {"holder", LEAT_FACT_TEXT, .get = holder},
    {0},
};
#undef AT

const leat_facts leat_facts_status = {
    .schema = "status",
    .rows = facts,
    .layout = "run      {run}: {model}, {state}[: {reason}]\n"
              "step     {step} of {steps}[; {step_seconds} a step][; {idle}]"
              "[, {seconds_left} left]\n"
              "[losses   D {loss_d}, G {loss_g}\n]{values}"
              "units    {ready} ready, {out} out, {done} done, of {units_here}[ with {each} each]\n"
              "bytes    {payload_bytes} up per unit, {weights_bytes} down per step; the database "
              "has {database_bytes}\n"
              "data     {serves_data}\n"
              "held by  {holder}\n"
              "{workers}{events}",
};

static int run_status(leat_cli *cli) {
    leat_crowd_status *status = NULL;
    leat_error err = {0};
    char url[LEAT_CROWD_URL_BYTES];
    leat_crowd_forget_environment();
    int code = leat_crowd_url(cli, leat_cli_text(cli, "db"), url);
    if (code != 0) return code;
    if (leat_crowd_status_load(&status, url, &err) != LEAT_OK)
        return leat_crowd_fail(cli, leat_cli_text(cli, "db"), &err);
    view of = {.run = *leat_crowd_run_of(status), .status = status};
    if (of.run.unit_size > 0)
        leat_things(of.each, of.run.unit_size, leat_train_sample_words(of.run.model, false));
    code = leat_facts_show(cli, &leat_facts_status, &of);
    leat_crowd_status_destroy(status);
    return code;
}

static const leat_cli_option options[] = {
    {.own.name = "db",
     .own.kind = LEAT_SETTING_TEXT,
     .own.value = "URL",
     .own.help = "database of the run, as leat coordinate printed it, or a ticket, or - or @FILE "
                 "to read either; ?run=NAME in the URL chooses one of several",
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
