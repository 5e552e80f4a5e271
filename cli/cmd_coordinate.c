/* leat coordinate: trains a model on volunteers' machines. */
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "crowd/crowd.h"
#include "crowd/plan.h"
#include "facts.h"
#include "train/train.h"

typedef struct coordinate_source {
    const char *run;
    leat_coordinate_result result;
} coordinate_source;

#define AT(member) offsetof(coordinate_source, member)
static const leat_fact facts[] = {
    {"run", LEAT_FACT_TEXT, AT(run), .help = LEAT_TRAIN_RUN_HELP},
    {"train", LEAT_FACT_ROWS, AT(result.train), .rows = leat_train_result_facts},
    {"units_counted", LEAT_FACT_INT, AT(result.arrived), LEAT_FACT_COUNT,
     .help = "Results of machines that were counted. Differs between runs."},
    {"units_refused", LEAT_FACT_INT, AT(result.refused), LEAT_FACT_COUNT,
     .help = "Results of machines that were refused. Differs between runs."},
    {"units_computed_here", LEAT_FACT_INT, AT(result.own), LEAT_FACT_COUNT,
     .help = "Units that the coordinator computed, because no machine could. Differs between "
             "runs."},
    {"connections", LEAT_FACT_INT, AT(result.connections),
     .help = "Connections to the database; 1: it was never lost. Differs between runs."},
    {0},
};
#undef AT

const leat_facts leat_facts_coordinate = {
    .schema = "coordinate",
    .rows = facts,
    .layout = "units   {units_counted} counted, {units_refused} refused, {units_computed_here} "
              "computed here\n" LEAT_TRAIN_RESULT_LAYOUT,
};

static int coordinate(leat_cli *cli, const char *run, leat_coordinate_options *options) {
    leat_train_view view = {.cli = cli, .run = run, .export_dir = options->train.export_dir};
    coordinate_source source = {.run = run};
    leat_coordinate_result *result = &source.result;
    leat_error err = {0};
    options->train.progress = leat_train_view_progress;
    options->train.stepped = leat_train_view_stepped;
    options->train.user = &view;
    options->say = leat_crowd_say;
    options->user = cli;
    leat_code code = leat_coordinate(leat_cli_text(cli, "model"), leat_cli_text(cli, "data"), run,
                                     options, result, &err);
    leat_cli_progress_end(cli);
    if (result->train.note[0] != 0) leat_cli_note(cli, "%s", result->train.note);
    leat_train_view_end(&view, code);
    if (code != LEAT_OK) return leat_train_fail(cli, &err);
    return leat_facts_show(cli, &leat_facts_coordinate, &source);
}

/* A run whose folder is lost has its settings in the database, if that has it. */
static int settings_of_database(leat_cli *cli, const char *run, leat_coordinate_options *options,
                                leat_train_wanted *wanted) {
    leat_error err = {0};
    if (!leat_cli_flag(cli, "resume") || leat_run_is_at(run)) return 0;
    options->say = leat_crowd_say;
    options->user = options->train.user = cli;
    options->train.progress = leat_cli_progress;
    const leat_code code = leat_coordinate_settings(options, wanted->model, run, &options->train,
                                                    &wanted->settings, &err);
    leat_cli_progress_end(cli);
    if (code == LEAT_OK || code == LEAT_ERR_NOT_FOUND) return 0;
    return leat_cli_fail(cli, &err);
}

/* Options of a plan say nothing of a run. */
static int refuse_without_plan(leat_cli *cli) {
    for (const leat_setting *row = leat_crowd_plan_options_table()->rows; row->name != NULL; row++)
        if (strcmp(row->name, "plan") != 0 && leat_cli_given(cli, row->name))
            return leat_cli_usage(cli, "--%s requires --plan: add --plan WORKERS, or omit it",
                                  row->name);
    return 0;
}

/* Without a database, and without a run where --resume does not take its settings. */
static int run_plan(leat_cli *cli) {
    leat_coordinate_options options = leat_coordinate_options_default();
    leat_train_wanted wanted;
    const char *model = leat_cli_text(cli, "model"), *url = leat_cli_text(cli, "db");
    if (url != NULL) leat_crowd_hide_url(url); /* it is not used */
    leat_train_wanted_begin(&wanted, model, leat_coordinate_train_table(), &options.train);
    int status = leat_cli_set(cli, leat_coordinate_options_table(), &options);
    if (status == 0) status = leat_train_wanted_read(&wanted, cli, leat_cli_argument(cli, 0));
    if (status == 0) status = leat_coordinate_plan(cli, model, &options);
    leat_train_wanted_free(&wanted);
    return status;
}

static int run_coordinate(leat_cli *cli) {
    leat_coordinate_options options = leat_coordinate_options_default();
    leat_train_wanted wanted;
    char host[65] = "", url[LEAT_CROWD_URL_BYTES];
    if (leat_cli_flag(cli, "roles-sql")) {
        leat_out(cli, "%s", leat_crowd_roles_sql());
        return 0;
    }
    if (leat_cli_given(cli, "plan")) return run_plan(cli);
    const char *run = leat_cli_argument(cli, 0);
    leat_crowd_forget_environment();
    leat_train_wanted_begin(&wanted, leat_cli_text(cli, "model"), leat_coordinate_train_table(),
                            &options.train);
    leat_cli_cancellable(cli);
    (void)gethostname(host, sizeof host - 1);
    int status = refuse_without_plan(cli);
    if (status == 0) status = leat_crowd_url(cli, leat_cli_text(cli, "db"), url);
    options.url = url;
    options.who = host;
    if (leat_cli_given(cli, "name")) options.name = leat_cli_text(cli, "name");
    if (status == 0) status = leat_cli_set(cli, leat_coordinate_options_table(), &options);
    if (status == 0) status = settings_of_database(cli, run, &options, &wanted);
    if (status == 0) status = leat_train_wanted_read(&wanted, cli, run);
    if (status == 0) leat_train_repeat_warning(cli, leat_cli_text(cli, "data"));
    if (status == 0) status = coordinate(cli, run, &options);
    leat_train_wanted_free(&wanted);
    return status;
}

static const leat_cli_option options[] = {
    {.own.name = "db",
     .own.kind = LEAT_SETTING_TEXT,
     .own.value = "URL|local",
     .own.help = "PostgreSQL database, 13 or newer, in which this login may create a schema, or - "
                 "or @FILE to read the URL; \"local\": a private server in RUN/database",
     .required = true},
    {.own.name = "data",
     .own.kind = LEAT_SETTING_PATH,
     .own.value = "DIR",
     .own.help = "data set, the same that the workers have unless --serve-data is given",
     .required = true},
    {.own.name = "model",
     .own.kind = LEAT_SETTING_TEXT,
     .own.value = "MODEL",
     .own.help = "what to train",
     .preset = "dcgan"},
    {.own.name = "name",
     .own.kind = LEAT_SETTING_TEXT,
     .own.value = "NAME",
     .own.usually = "that of the folder",
     .own.help = "name of the run in the database"},
    {.own.name = "config",
     .own.kind = LEAT_SETTING_PATH,
     .own.value = "FILE",
     .own.help = "read settings from a YAML file; command-line options take precedence"},
    {.table = leat_coordinate_train_table},
    {.more = leat_cli_models},
    {.table = leat_coordinate_options_table},
    {.own.name = "resume",
     .own.kind = LEAT_SETTING_FLAG,
     .own.help =
         "continue a run: from its folder, from the database, or from what is left of them"},
    {.own.name = "roles-sql",
     .own.kind = LEAT_SETTING_FLAG,
     .own.help =
         "print SQL, for a server's superuser, that revokes rights that volunteers do not need, "
         "and exit (--db local does this itself)",
     .is_alone = true},
    {.own.name = "plan", .table = leat_crowd_plan_options_table, .is_alone = true},
    {.table = leat_crowd_plan_options_table},
    LEAT_TRAIN_OPTION_REPLACE,
    LEAT_CLI_OPTION_JSON,
    {0},
};

static const leat_cli_example examples[] = {
    {"leat coordinate run --db postgresql://me:secret@db.example.org/class --data faces --epochs 5",
     "train with all machines that run leat work"},
    {"leat coordinate run --db local --data faces --epochs 5",
     "the same without a database elsewhere, for workers on this machine"},
    {"leat coordinate run --db local --listen 192.168.1.5:25432 --data faces --epochs 5 "
     "--serve-data",
     "for the machines of a room, which are invited with leat invite"},
    {"leat coordinate run --db postgresql://me:secret@db.example.org/class --data faces --epochs 5 "
     "--serve-data",
     "the same for workers without the data set, who fetch it from the database"},
    {"leat coordinate --plan 12 --data faces --uplink 10Mbit",
     "which --units and --unit-size are good for twelve machines"},
    {"leat coordinate run --db postgresql://me:secret@db.example.org/class --data faces --resume",
     "continue after an interruption, on any machine"},
    {.line = NULL},
};

const leat_cli_command leat_cmd_coordinate = {
    .words = "coordinate",
    .purpose = "train a model on volunteers' machines",
    .usage = "RUN --db URL|local --data DIR [options]",
    .about =
        "Trains a model like leat train, but has the units of each step computed by other "
        "machines, which run leat work. All they share is a PostgreSQL database. The weights are "
        "those of leat train with the same data and settings, whoever works and whatever dies.\n\n"
        "RUN is the run's folder, as for leat train. Ctrl-C saves the state and stops; "
        "--resume "
        "continues. If RUN is lost, the database has a state that is at most --state-ms old; if "
        "the database is lost, RUN is enough. Of two coordinators, one waits for the other.\n\n"
        "With --db local, leat starts a PostgreSQL server of its own, which listens on 127.0.0.1, "
        "and with --listen at an address that other machines reach, and stops it at the end. Its "
        "programs must be installed. As root, the "
        "server runs as user postgres (or nobody), who must be able to enter the folder RUN and "
        "every folder above it.\n\n"
        "--units and --unit-size decide how much of what the machines compute becomes progress, "
        "and cannot be changed later. --plan WORKERS simulates steps of the run with so many "
        "machines "
        "of different speeds, needs only --data, and prints a table with a recommendation.\n\n"
        "The command that lends a machine is printed to stderr.",
    .argument = "RUN",
    .min_arguments = 1,
    .max_arguments = 1,
    .options = options,
    .shows_progress = true,
    .examples = examples,
    .run = run_coordinate,
};
