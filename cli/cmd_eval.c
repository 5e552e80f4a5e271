/* leat eval: what a detector is worth, beside plain tables. */
#include "eval/eval.h"

#include "leat/train.h"
#include "threshold.h"

/* ---- Arguments ---------------------------------------------------------------------------- */

static const char *cache_of(const leat_cli *cli) {
    return leat_cli_argument(cli, leat_cli_argument_count(cli) - 1);
}

/* The cache is the last argument, and runs are what comes before. */
static int check_arguments(leat_cli *cli) {
    const int runs = leat_cli_argument_count(cli) - 1;
    for (int i = 0; i < runs; i++) {
        const char *path = leat_cli_argument(cli, i);
        if (!leat_run_is_at(path) && leat_can_cache_is_at(path))
            return leat_cli_usage(cli,
                                  "%s is a CAN cache, not a training run; name the runs first, and "
                                  "the cache last",
                                  path);
    }
    if (leat_run_is_at(cache_of(cli)))
        return leat_cli_usage(cli, "%s is a training run, not a CAN cache; name the cache last",
                              cache_of(cli));
    return 0;
}

/* With --scores there is a file of scores, and no evaluation. */
static int check_scores(leat_cli *cli) {
    static const char *const others[] = {"json",       "html",          "figures",
                                         "parts",      "threshold",     "target-fpr",
                                         "replicates", "block-windows", "bootstrap-seed"};
    if (!leat_cli_given(cli, "scores")) return 0;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (leat_cli_given(cli, others[i]))
            return leat_cli_usage(cli, "--scores writes scores instead of a table; omit --%s",
                                  others[i]);
    if (leat_cli_argument_count(cli) == 2) return 0;
    return leat_cli_usage(cli, "--scores writes the scores of one run, not of %d",
                          leat_cli_argument_count(cli) - 1);
}

static int read_options(leat_cli *cli, leat_evaluation_options *options) {
    *options = leat_evaluation_options_default();
    options->progress = leat_cli_progress;
    options->user = cli;
    options->curve_points = LEAT_EVAL_CURVE;
    const int status = leat_cli_set(cli, leat_evaluation_options_table(), options);
    return status != 0 ? status : leat_threshold_refuse(cli, options);
}

/* ---- What is written ---------------------------------------------------------------------- */

static int write_scores(leat_cli *cli, const leat_evaluation_options *options) {
    leat_scores_output out = {.path = leat_cli_text(cli, "scores"),
                              .replace = leat_cli_flag(cli, "replace")};
    leat_error err = {0};
    const leat_code code =
        leat_evaluation_save_scores(leat_cli_argument(cli, 0), cache_of(cli), options, &out, &err);
    leat_cli_progress_end(cli);
    if (code != LEAT_OK) return leat_cli_fail(cli, &err);
    if (out.note[0] != 0) leat_cli_note(cli, "%s", out.note);
    leat_out(cli, "scores of %s written to ", options->split != NULL ? options->split : "train");
    leat_out_name(cli, out.path);
    leat_out(cli, "\n");
    return 0;
}

static void write_place(leat_cli *cli, const char *what, const char *path) {
    if (path == NULL) return;
    leat_out(cli, "%s written to ", what);
    leat_out_name(cli, path);
    leat_out(cli, "\n");
}

static int write_report(leat_cli *cli, const leat_eval_report *report) {
    const leat_page_places places = leat_page_asked(cli, "html");
    leat_error err = {0};
    if ((places.path != NULL || places.figures != NULL) &&
        leat_page_save(&places, leat_eval_page, report, &err) != LEAT_OK)
        return leat_cli_fail(cli, &err);
    if (leat_cli_flag(cli, "json")) return leat_facts_show(cli, &leat_facts_eval, report);
    leat_eval_terminal(cli, report);
    write_place(cli, "page", places.path);
    write_place(cli, "figures", places.figures);
    return 0;
}

static int evaluate(leat_cli *cli, const leat_evaluation_options *options) {
    leat_eval_report report = {.intervals = options->bootstrap.replicates > 0,
                               .block_windows = options->bootstrap.block_windows,
                               .parts = leat_cli_flag(cli, "parts")};
    leat_evaluation *evaluation = NULL;
    leat_can_cache *cache = NULL;
    leat_error err = {0};
    leat_code code = leat_can_cache_open(&cache, cache_of(cli), &err);
    if (code == LEAT_OK)
        code =
            leat_evaluation_create(&evaluation, leat_cli_arguments(cli),
                                   leat_cli_argument_count(cli) - 1, cache_of(cli), options, &err);
    leat_cli_progress_end(cli);
    int status = 0;
    if (code == LEAT_OK) {
        report.of = evaluation;
        report.cache = cache;
        leat_can_cache_get_facts(cache, &report.facts);
        status = write_report(cli, &report);
    } else {
        status = leat_cli_fail(cli, &err);
    }
    leat_evaluation_destroy(evaluation);
    leat_can_cache_close(cache);
    return status;
}

static int run_eval(leat_cli *cli) {
    const leat_page_places places = leat_page_asked(cli, "html");
    leat_evaluation_options options;
    leat_error err = {0};
    leat_cli_cancellable(cli);
    int status = check_arguments(cli);
    if (status == 0) status = check_scores(cli);
    if (status == 0) status = leat_cli_check_replace(cli);
    if (status == 0) status = leat_page_check(cli, "html");
    if (status == 0) status = read_options(cli, &options);
    if (status != 0) return status;
    if (leat_cli_given(cli, "scores")) return write_scores(cli, &options);
    if (leat_page_can_save(&places, &err) != LEAT_OK) return leat_cli_fail(cli, &err);
    return evaluate(cli, &options);
}

static const leat_cli_option options[] = {
    {.table = leat_evaluation_options_table},
    {.own.name = "scores",
     .own.kind = LEAT_SETTING_OUTPUT,
     .own.value = "FILE",
     .own.help = "write the score of every window of --split (default: train) to FILE as JSON, "
                 "and no table; a FILE that exists is overwritten with --replace alone"},
    {.own.name = "parts",
     .own.kind = LEAT_SETTING_FLAG,
     .own.help = "also list attack types, vehicles and captures; --json and --html always do"},
    LEAT_CLI_OPTION_JSON,
    {.own.name = "html",
     .own.kind = LEAT_SETTING_OUTPUT,
     .own.value = "FILE",
     .own.help = "also write a page with curves, scores over time and what was blamed: one "
                 "self-contained file, without scripts or network access"},
    LEAT_PAGE_OPTIONS,
    {0},
};

static const leat_cli_example examples[] = {
    {"leat eval run cache", "a table for each test folder"},
    {"leat eval run cache --html eval.html", "the same as a page with curves"},
    {"leat eval run cache --target-fpr 0.001", "thresholds for one false alarm in 1,000 windows"},
    {"leat eval run1 run2 run3 cache --json", "mean and deviation over three seeds"},
    {"leat eval run cache --split train --score difficulty --scores scores.json",
     "scores that order a curriculum"},
    {0},
};

const leat_cli_command leat_cmd_eval = {
    .words = "eval",
    .purpose = "measure what a detector is worth, beside plain tables",
    .usage = "RUN... CACHE [options]",
    .about =
        "Scores every window of the test folders of a CAN cache with the detector of a training "
        "run, and with plain tables of the same cache that need no training: how far features are "
        "from what they were in benign training data, numbers of frames, durations, unknown "
        "identifiers. All of them are rows of one table.\n\n"
        "Thresholds and the checkpoint come from validation data; no label of a test decides "
        "anything but the numbers that are shown. False alarms are also given per hour of benign "
        "bus time, because that is what somebody must answer. A number that is undefined is a "
        "dash, "
        "with the reason below the table. Intervals are at 95 %, from resampling blocks of "
        "time.\n\n"
        "The numbers are the same on every machine and for any number of threads. What the scores "
        "of a run are calibrated with is kept in its folder.",
    .argument = "RUN or CACHE",
    .min_arguments = 2,
    .max_arguments = -1,
    .options = options,
    .shows_progress = true,
    .examples = examples,
    .run = run_eval,
};
