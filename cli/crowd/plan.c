/* leat coordinate --plan: measures a unit on this machine, simulates the run for several numbers
 * and sizes of units, and shows the table. */
#include "crowd/plan.h"

#include <stddef.h>
#include <stdio.h>

#include "facts.h"

/* From this share of it on, a link is what the steps wait for; and the coordinator, which also
 * writes, and begins when the first results are there. */
#define IS_FULL 0.8
#define READS_MOST 0.5

typedef struct plan_source {
    leat_crowd_plan_options options;
    leat_crowd_plan_table table;
    const char *many; /* what a unit has: "images" */
    bool measured;    /* the seconds of a unit */
    char uplink[LEAT_SETTING_BYTES], downlink[LEAT_SETTING_BYTES];
    char server_link[LEAT_SETTING_BYTES];
    char worth[64], limit[256];
} plan_source;

/* ---- The table ------------------------------------------------------------------------------- */

typedef struct plan_row {
    leat_crowd_plan_row of;
    int64_t samples;
    const char *mark;
} plan_row;

static bool row_at(const void *source, int index, void *item) {
    const leat_crowd_plan_table *table = &((const plan_source *)source)->table;
    plan_row *out = item;
    if (index >= table->count) return false;
    out->of = table->rows[index];
    out->samples = out->of.units * out->of.unit_size;
    out->mark = index == table->best ? "*" : " ";
    return true;
}

#define AT(member) offsetof(plan_row, member)
static const leat_fact row_facts[] = {
    {"units", LEAT_FACT_INT, AT(of.units), .help = "Units of a step (--units)."},
    {"unit_size", LEAT_FACT_INT, AT(of.unit_size),
     .help = "Images, or batches of graphs, of each unit (--unit-size)."},
    {"step_samples", LEAT_FACT_INT, AT(samples), .help = "Those of a step."},
    {"epoch_steps", LEAT_FACT_REAL, AT(of.epoch_steps), LEAT_FACT_COUNT,
     .help = "Steps that have as many as the data set."},
    {"fits", LEAT_FACT_FLAG, AT(of.fits), .help = "A step has at most a tenth of the data set."},
    {"step_seconds", LEAT_FACT_REAL, AT(of.step_seconds), .digits = 1,
     .help = "Seconds of a step."},
    {"useful_share", LEAT_FACT_REAL, AT(of.useful_share), LEAT_FACT_SHARE,
     .help = "Share of the time in which machines compute that they spend on results that count."},
    {"counted_share", LEAT_FACT_REAL, AT(of.counted_share), LEAT_FACT_SHARE,
     .help = "Share of the units that machines compute to the end whose results count."},
    {"speed_share", LEAT_FACT_REAL, AT(of.speed_share), LEAT_FACT_SHARE,
     .help = "Units that count, of those that the machines would compute in this time if they did "
             "nothing else."},
    {"read_share", LEAT_FACT_REAL, AT(of.read_share), LEAT_FACT_SHARE,
     .help = "Share of the time in which the coordinator reads results."},
    {"up_bytes", LEAT_FACT_INT, AT(of.up_bytes), LEAT_FACT_BYTES,
     .help = "Bytes that all machines send in a step."},
    {"down_bytes", LEAT_FACT_INT, AT(of.down_bytes), LEAT_FACT_BYTES,
     .help = "Bytes that they fetch."},
    {"mark", LEAT_FACT_TEXT, AT(mark), .help = NULL},
    {0},
};
#undef AT

_Static_assert(sizeof(plan_row) <= LEAT_FACT_ITEM_BYTES, "an item of a list");

static const leat_fact_list rows = {
    .rows = row_facts,
    .one = "A number of units, and what it leads to.",
    .at = row_at,
    .before = "\n   units x size  samples  steps/epoch    step s   useful   of the speed    "
              "up, all\n",
    .item = "{mark}{units:7} x {unit_size:-6}{step_samples:7} {epoch_steps:12} {step_seconds:9} "
            "{useful_share:8} {speed_share:14}  {up_bytes:9}\n",
};

/* ---- The rest -------------------------------------------------------------------------------- */

static const leat_crowd_plan_row *best_of(const void *source) {
    const leat_crowd_plan_table *table = &((const plan_source *)source)->table;
    return &table->rows[table->best];
}

static leat_fact_value best_units(const void *source) {
    return (leat_fact_value){.whole = best_of(source)->units};
}

static leat_fact_value best_size(const void *source) {
    return (leat_fact_value){.whole = best_of(source)->unit_size};
}

/* Machines of the usual speed that would do as much. */
static void write_worth(plan_source *of) {
    const double machines = best_of(of)->speed_share * (double)of->options.workers;
    if (machines < 0.01) snprintf(of->worth, sizeof of->worth, "less than 0.01 machines");
    else if (machines < 1) snprintf(of->worth, sizeof of->worth, "%.2g machines", machines);
    else snprintf(of->worth, sizeof of->worth, "%.1f machines", machines);
}

/* Of `seconds`, the share in which the link is taken by so many bytes; above 1: it takes longer. */
static double link_share(int64_t bytes, double seconds, int64_t bits) {
    return bits > 0 ? 8 * (double)bytes / (seconds * (double)bits) : 0;
}

/* What keeps the recommended row from being better, where that is not the data set. */
static const char *limit_of_machines(const plan_source *of) {
    const leat_crowd_plan_row *best = best_of(of);
    const int64_t bytes = best->up_bytes > best->down_bytes ? best->up_bytes : best->down_bytes;
    const double unit =
        of->options.unit_seconds * (double)best->unit_size / (double)of->options.unit_size;
    const double server = link_share(bytes, best->step_seconds, of->options.server_bits);
    const double own = link_share(of->options.payload_bytes, unit, of->options.link_bits);
    if (!of->table.is_enough && best->read_share >= READS_MOST && best->read_share >= server)
        return "the coordinator spends most of each step reading results: use larger units "
               "(--unit-size), --codec-up int8 or fewer machines";
    if (server >= IS_FULL && best->up_bytes >= best->down_bytes)
        return "the database's link is full of results: use larger units (--unit-size) or "
               "--codec-up int8";
    if (server >= IS_FULL)
        return "the database's link is full of what machines read: use larger units "
               "(--unit-size); instead of --serve-data, give the machines the data set";
    if (own >= 1 / IS_FULL)
        return "sending a result takes longer than computing its unit: use larger units "
               "(--unit-size) or --codec-up int8";
    if (own >= IS_FULL)
        return "sending a result takes about as long as computing its unit: use larger units "
               "(--unit-size) or --codec-up int8";
    return "";
}

static void write_limit(plan_source *of) {
    const leat_crowd_plan_table *table = &of->table;
    const long long most = of->options.data_samples / LEAT_CROWD_PLAN_EPOCH_STEPS;
    const char *machines = limit_of_machines(of);
    char *text = of->limit;
    if (!best_of(of)->fits)
        snprintf(text, sizeof of->limit,
                 "every line has more than %lld %s a step, a tenth of the data set: use more data, "
                 "fewer units (--units) or smaller ones (--unit-size)",
                 most, of->many);
    else if (machines[0] != 0) snprintf(text, sizeof of->limit, "%s", machines);
    else if (!table->is_enough && !table->rows[table->count - 1].fits)
        snprintf(
            text, sizeof of->limit,
            "no line with at most %lld %s a step, a tenth of the data, reaches 85 %%: use more "
            "data or fewer machines",
            most, of->many);
    else if (!table->is_enough)
        snprintf(text, sizeof of->limit,
                 "no line reaches 85 %% of the speed: use more units for each machine, or larger "
                 "ones; instead of --serve-data on slow links, give the machines the data set");
}

#define AT(member) offsetof(plan_source, member)
static const leat_fact facts[] = {
    {"workers", LEAT_FACT_INT, AT(options.workers), LEAT_FACT_COUNT, .words = "machine",
     .help = "Machines that are simulated."},
    {"spread", LEAT_FACT_REAL, AT(options.spread),
     .help = "Standard deviation of the logarithm of their speeds."},
    {"uplink_bits", LEAT_FACT_INT, AT(options.link_bits),
     .help = "Bits a second that the link of each machine carries up."},
    {"downlink_bits", LEAT_FACT_INT, AT(options.down_bits), .help = "The same down."},
    {"server_link_bits", LEAT_FACT_INT, AT(options.server_bits),
     .help = "The same of the link of the database, either way."},
    {"unit_size", LEAT_FACT_INT, AT(options.unit_size),
     .help = "Images, or batches of graphs, of the unit that is timed."},
    {"unit_seconds", LEAT_FACT_REAL, AT(options.unit_seconds), LEAT_FACT_SECONDS,
     .help = "Seconds that a machine of the usual speed computes it. Differs between runs where it "
             "is measured."},
    {"unit_measured", LEAT_FACT_FLAG, AT(measured),
     .words = "measured on this machine|as given with --unit-seconds",
     .help = "It was measured on this machine; false: given."},
    {"payload_bytes", LEAT_FACT_INT, AT(options.payload_bytes), LEAT_FACT_BYTES,
     .help = "Bytes of the result of a unit."},
    {"weights_bytes", LEAT_FACT_INT, AT(options.weights_bytes), LEAT_FACT_BYTES,
     .help = "Bytes of the weights, which each machine fetches once a step."},
    {"sample_bytes", LEAT_FACT_INT, AT(options.sample_bytes), LEAT_FACT_BYTES,
     .help = "Bytes of an image that each machine fetches (--serve-data); 0: it has the data set."},
    {"data_samples", LEAT_FACT_INT, AT(options.data_samples), LEAT_FACT_COUNT,
     .help = "Images, or about so many batches of graphs, of the data set."},
    {"plans", LEAT_FACT_LIST, .list = &rows, .help = "By the samples of a step."},
    {"best_units", LEAT_FACT_INT, .get = best_units,
     .help = "Of the row that is recommended: units of a step."},
    {"best_unit_size", LEAT_FACT_INT, .get = best_size, .help = "Size of its units."},
    {"enough", LEAT_FACT_FLAG, AT(table.is_enough),
     .help = "It turns 85 % of the machines' speed into progress, with the fewest samples a step; "
             "false: no row that fits does, and it is the one of them with the highest share, or, "
             "if none fits, of those with the fewest samples."},
    {"many", LEAT_FACT_TEXT, AT(many), .help = NULL},
    {"uplink", LEAT_FACT_CHARS, AT(uplink), .help = NULL},
    {"downlink", LEAT_FACT_CHARS, AT(downlink), .help = NULL},
    {"server_link", LEAT_FACT_CHARS, AT(server_link), .help = NULL},
    {"worth", LEAT_FACT_CHARS, AT(worth), .help = NULL},
    {"limit", LEAT_FACT_CHARS, AT(limit), .help = NULL},
    {0},
};
#undef AT

const leat_facts leat_facts_plan = {
    .schema = "coordinate-plan",
    .rows = facts,
    .layout = "machines  {workers}, spread {spread}; links {uplink}/s up, {downlink}/s down; "
              "the database's {server_link}/s\n"
              "unit      {unit_size} {many} in {unit_seconds}, {unit_measured}\n"
              "bytes     {payload_bytes} up per unit, {weights_bytes} down per machine and "
              "step[, {sample_bytes} per image]\n"
              "data      {data_samples} {many}, of which a step should have at most a tenth\n"
              "{plans}\n"
              "*         --units {best_units} --unit-size {best_unit_size}: as much as {worth} "
              "that never wait\n"
              "[limit     {limit}\n]",
};

/* ---- What is asked --------------------------------------------------------------------------- */

/* Sizes, and the seconds of a unit, of the run that these options describe. */
static int measure(leat_cli *cli, const char *model, const leat_coordinate_options *options,
                   plan_source *of) {
    leat_train_options train = options->train;
    leat_train_estimate estimate;
    leat_error err = {0};
    train.resume = false;
    if (train.steps == 0 && train.epochs == 0) train.steps = 1; /* the end does not matter */
    of->measured = !leat_cli_given(cli, "unit-seconds");
    if (leat_train_plan(model, leat_cli_text(cli, "data"), &train, of->measured, &estimate, &err) !=
        LEAT_OK)
        return leat_cli_fail(cli, &err);
    const bool images = estimate.sample_size > 0;
    leat_crowd_plan_options *plan = &of->options;
    plan->units = train.units;
    plan->unit_size = train.unit_size;
    plan->multiple = images ? train.micro_batch : 1;
    plan->payload_bytes = estimate.payload_bytes;
    plan->weights_bytes = estimate.weights_bytes;
    if (images && options->serve_data) /* levels of three colours */
        plan->sample_bytes = 3 * estimate.sample_size * estimate.sample_size;
    of->many = images ? "images" : "batches";
    /* of batches, by how many graphs those of the first step have */
    plan->data_samples =
        images || estimate.step_samples < 1
            ? estimate.samples
            : (int64_t)((double)estimate.samples * (double)(train.units * train.unit_size) /
                        (double)estimate.step_samples);
    if (of->measured)
        plan->unit_seconds =
            (double)estimate.step_samples / (double)train.units / estimate.samples_per_second;
    return 0;
}

int leat_coordinate_plan(leat_cli *cli, const char *model, const leat_coordinate_options *options) {
    const leat_setting_table *table = leat_crowd_plan_options_table();
    plan_source of = {.options = leat_crowd_plan_options_default()};
    leat_error err = {0};
    if (leat_cli_text(cli, "data") == NULL)
        return leat_cli_usage(cli, "--plan requires --data DIR");
    int status = leat_cli_set(cli, table, &of.options);
    if (status == 0) status = measure(cli, model, options, &of);
    if (status != 0) return status;
    of.options.part_bytes = options->part_bytes;
    of.options.lease_ms = options->lease_ms;
    of.options.renew_ms = options->renew_ms;
    of.options.silent_ms = options->silent_ms;
    of.options.poll_ms = options->poll_ms;
    if (of.options.down_bits == 0) of.options.down_bits = of.options.link_bits;
    of.options.progress = leat_cli_progress;
    of.options.progress_user = cli;
    (void)leat_settings_get(table, &of.options, "uplink", of.uplink);
    (void)leat_settings_get(table, &of.options, "downlink", of.downlink);
    (void)leat_settings_get(table, &of.options, "server-link", of.server_link);
    const leat_code code = leat_crowd_plan(&of.options, &of.table, &err);
    leat_cli_progress_end(cli);
    if (code != LEAT_OK) return leat_cli_fail(cli, &err);
    write_worth(&of);
    write_limit(&of);
    return leat_facts_show(cli, &leat_facts_plan, &of);
}
