/* leat dash: a run as a page in a browser, while it goes on. */
#include <string.h>

#include "crowd/crowd.h"
#include "leat/dash.h"
#include "page/page.h"

static void on_ready(void *user, const char *url) {
    leat_cli *cli = user;
    leat_out(cli, "%s\n", url);
    leat_out_flush(cli);
    const char *all = strstr(url, "//0.0.0.0:") != NULL ? "0.0.0.0"
                      : strstr(url, "//[::]:") != NULL  ? "[::]"
                                                        : NULL;
    if (all != NULL)
        leat_cli_note(cli,
                      "the page is at all addresses of this machine: put its name or one of them "
                      "in place of %s; Ctrl-C ends it",
                      all);
    else leat_cli_note(cli, "the page is at the address above; Ctrl-C ends it");
}

static int serve(leat_cli *cli, leat_dash_options *options) {
    leat_error err = {0};
    const leat_code code = leat_dash(options, &err);
    leat_cli_progress_end(cli);
    return code == LEAT_OK ? 0 : leat_cli_fail(cli, &err);
}

static int run_dash(leat_cli *cli) {
    char url[LEAT_CROWD_URL_BYTES];
    leat_dash_options options = leat_dash_options_default();
    const char *db = leat_cli_text(cli, "db");
    leat_crowd_forget_environment();
    leat_cli_cancellable(cli);
    if (leat_cli_argument_count(cli) > 0) options.run = leat_cli_argument(cli, 0);
    if (db == NULL && options.run == NULL)
        return leat_cli_usage(cli, "nothing to show: name the folder of a run, or its database "
                                   "with --db");
    if (db != NULL) {
        const int status = leat_crowd_url(cli, db, url);
        if (status != 0) return status;
        options.db = url;
    }
    options.listen = leat_cli_text(cli, "listen");
    options.metrics = leat_cli_flag(cli, "metrics");
    options.colours = leat_template("colours.css");
    options.progress = leat_cli_progress;
    options.ready = on_ready;
    options.say = leat_crowd_say;
    options.user = cli;
    return serve(cli, &options);
}

static const leat_cli_option options[] = {
    {.own.name = "db",
     .own.kind = LEAT_SETTING_TEXT,
     .own.value = "URL",
     .own.help = "database of the run, as leat coordinate printed it, or a ticket, or - or @FILE "
                 "to read either; ?run=NAME in the URL chooses one of several"},
    {.own.name = "listen",
     .own.kind = LEAT_SETTING_TEXT,
     .own.value = "ADDRESS:PORT",
     .own.help = "where to serve the page; beyond this machine, such as at 0.0.0.0:8501, only "
                 "with the printed address, which contains a token",
     .preset = "127.0.0.1:8501"},
    {.own.name = "metrics",
     .own.kind = LEAT_SETTING_FLAG,
     .own.help = "also serve /metrics, numbers for Prometheus"},
    {0},
};

static const leat_cli_example examples[] = {
    {"leat dash run", "the run in the folder run, at http://127.0.0.1:8501/"},
    {"leat dash --db @url.txt --listen 0.0.0.0:8501", "a run on many machines, for a class"},
    {.line = NULL},
};

const leat_cli_command leat_cmd_dash = {
    .words = "dash",
    .purpose = "show a run as a page in a browser",
    .usage = "[RUN] [--db URL] [--listen ADDRESS:PORT] [--metrics]",
    .about =
        "Serves a page that follows a run of leat train or leat coordinate: losses, samples, time "
        "left. With --db also who works, what each account and machine contributed, units, "
        "refused results and their reasons, and the size of the database; any login that may "
        "connect is enough. With both RUN and --db, curves and samples are those of the folder.\n\n"
        "The page is read-only. leat puts no passwords or addresses on it, but failure messages "
        "are shown in the words of the machine that failed. It is "
        "served over HTTP, without encryption. RUN and the database are read once a second, "
        "no matter how many browsers show the page.",
    .argument = "RUN",
    .min_arguments = 0,
    .max_arguments = 1,
    .options = options,
    .shows_progress = true,
    .examples = examples,
    .run = run_dash,
};
