/* leat work: lends this machine to a training. */
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "crowd/crowd.h"
#include "facts.h"

typedef struct work_source {
    leat_work_result result;
    const char *machine;
} work_source;

#define AT(member) offsetof(work_source, member)
static const leat_fact facts[] = {
    {"run", LEAT_FACT_CHARS, AT(result.run), .help = "Name of the run."},
    {"machine", LEAT_FACT_TEXT, AT(machine),
     .help = "Identity of this machine, 32 hexadecimal digits."},
    {"accepted", LEAT_FACT_INT, AT(result.accepted), LEAT_FACT_COUNT,
     .help = "Units handed in. Differs between runs."},
    {"lost", LEAT_FACT_INT, AT(result.lost), LEAT_FACT_COUNT,
     .help = "Units that were not needed: another machine was faster, or the run had moved on. "
             "Differs between runs."},
    {"connections", LEAT_FACT_INT, AT(result.connections),
     .help = "Connections to the database; 1: it was never lost. Differs between runs."},
    {0},
};
#undef AT

const leat_facts leat_facts_work = {
    .schema = "work",
    .rows = facts,
    .layout = "run   {run}\nunits {accepted} handed in, {lost} not needed\n",
};

static int work(leat_cli *cli, leat_work_options *options) {
    work_source source = {.machine = options->machine};
    leat_error err = {0};
    options->progress = leat_cli_progress;
    options->say = leat_crowd_say;
    options->user = cli;
    const leat_code code = leat_work(options, &source.result, &err);
    leat_cli_progress_end(cli);
    if (code == LEAT_OK) return leat_facts_show(cli, &leat_facts_work, &source);
    if (code == LEAT_ERR_CANCELLED && source.result.accepted > 0)
        (void)leat_facts_show(cli, &leat_facts_work, &source);
    return leat_cli_fail(cli, &err);
}

static int run_work(leat_cli *cli) {
    char path[LEAT_CROWD_PATH_BYTES], hardware[LEAT_WORDS_BYTES], host[65] = "";
    char url[LEAT_CROWD_URL_BYTES];
    leat_work_options options = leat_work_options_default();
    leat_key *key = NULL;
    leat_error err = {0};
    const char *file = leat_cli_text(cli, "key");
    leat_crowd_forget_environment();
    leat_cli_cancellable(cli);
    if (file == NULL) file = leat_crowd_key_path(path);
    if (file[0] == 0) return leat_cli_usage(cli, "this user has no home folder: give --key FILE");
    int status = leat_crowd_url(cli, leat_cli_argument(cli, 0), url);
    if (status != 0) return status;
    (void)gethostname(host, sizeof host - 1);
    options.url = url;
    options.data = leat_cli_text(cli, "data");
    options.name = leat_cli_given(cli, "name") ? leat_cli_text(cli, "name") : host;
    options.hardware = leat_crowd_hardware(hardware);
    if (leat_cli_given(cli, "threads")) options.threads = (int32_t)leat_cli_int(cli, "threads");
    if (leat_cli_given(cli, "memory")) options.memory_bytes = leat_cli_int(cli, "memory");
    options.kernels = leat_cli_text(cli, "kernels");
    options.once = leat_cli_flag(cli, "once");
    if (leat_cli_given(cli, "poll-ms")) options.poll_ms = leat_cli_int(cli, "poll-ms");
    options.pause_on_battery = strcmp(leat_cli_text(cli, "on-battery"), "pause") == 0;
    if (leat_cli_given(cli, "quiet-hours") &&
        leat_quiet_hours_parse(&options.quiet, leat_cli_text(cli, "quiet-hours"), &err) != LEAT_OK)
        return leat_cli_fail(cli, &err);
    if (leat_cli_flag(cli, "nice")) (void)!nice(10);
    if (leat_key_open(&key, file, &err) != LEAT_OK) return leat_cli_fail(cli, &err);
    options.machine = leat_key_id(key);
    options.secret = leat_key_secret(key);
    status = work(cli, &options);
    leat_key_close(key);
    return status;
}

static const leat_cli_option options[] = {
    {.own.name = "data",
     .own.kind = LEAT_SETTING_PATH,
     .own.value = "DIR",
     .own.usually = "fetch the images of each unit from the database",
     .own.help = "data set of the run; its fingerprint must be the run's"},
    {.own.name = "name",
     .own.kind = LEAT_SETTING_TEXT,
     .own.value = "NAME",
     .own.usually = "the name of this machine",
     .own.help = "name in the list of workers"},
    {.own.name = "key",
     .own.kind = LEAT_SETTING_OUTPUT,
     .own.value = "FILE",
     .own.usually = "~/.local/state/leat/machine.key",
     .own.help = "identity and secret of this machine, created if it is missing; do not copy it to "
                 "another machine. If another process uses it, the next free one of NAME-2.key, "
                 "NAME-3.key, ..."},
    {.own.name = "threads",
     .own.kind = LEAT_SETTING_INT,
     .own.min = 1,
     .own.max = 256,
     .own.usually = "one per processor",
     .own.help = "number of threads"},
    {.own.name = "memory",
     .own.kind = LEAT_SETTING_SIZE,
     .own.min = 1,
     .own.max = INT64_MAX,
     .own.usually = "no limit",
     .own.help = "refuse a run that needs more memory than this, weights and results included"},
    {.own.name = "kernels",
     .own.kind = LEAT_SETTING_TEXT,
     .own.value = "scalar|avx2|avx512|neon",
     .own.usually = "the widest that this processor runs",
     .own.help = "kernels to compute with; all give the same bits"},
    {.own.name = "on-battery",
     .own.kind = LEAT_SETTING_CHOICE,
     .own.choices = "pause|work",
     .own.help = "what to do while this machine runs on battery",
     .preset = "pause"},
    {.own.name = "quiet-hours",
     .own.kind = LEAT_SETTING_TEXT,
     .own.value = "22:00-07:00",
     .own.help = "take no units between these times of the local day; several spans with commas "
                 "between them"},
    {.own.name = "nice", .own.kind = LEAT_SETTING_FLAG, .own.help = "give way to other programs"},
    {.own.name = "once", .own.kind = LEAT_SETTING_FLAG, .own.help = "end after one unit"},
    {.own.name = "poll-ms",
     .own.kind = LEAT_SETTING_INT,
     .own.min = 1,
     .own.max = 86400000,
     .own.help = "milliseconds between questions while there is nothing to do; a new step wakes it "
                 "before that",
     .preset = "5000"},
    LEAT_CLI_OPTION_JSON,
    {0},
};

static const leat_cli_example examples[] = {
    {"leat work 'postgresql://ann:secret@db.example.org/class' --data faces",
     "work on the only open run"},
    {"leat work 'postgresql://ann:secret@db.example.org/class?run=night' --data faces --nice",
     "work on one of several, behind other programs"},
    {"leat work @ticket --data faces --quiet-hours 08:00-12:00,13:00-18:00",
     "work outside the hours in which somebody else needs the machine"},
    {"leat work @ticket --data faces",
     "read the URL or ticket from the file ticket (-: from stdin)"},
    {"leat work 'postgresql://ann:secret@db.example.org/class'",
     "work without the data set, on a run of leat coordinate --serve-data"},
    {.line = NULL},
};

const leat_cli_command leat_cmd_work = {
    .words = "work",
    .purpose = "lend this machine to a training run",
    .usage = "URL|TICKET [--data DIR] [options]",
    .about =
        "Computes units of a run that leat coordinate manages, until the run is finished. The "
        "machine only makes outgoing connections to the database. It may be switched off at any "
        "moment: others compute its units, and the weights are the same.\n\n"
        "URL is postgresql://LOGIN:PASSWORD@HOST/DATABASE. A ticket, leat1:..., says the same and "
        "how the server is verified; it contains a password, so keep it to yourself.\n\n"
        "If the connection is lost, leat reconnects until it succeeds. Ctrl-C hands in the unit "
        "that is being "
        "computed, for up to a minute, and stops; a second one stops at once. Without --data, it "
        "fetches the images of its units from the database, if the run keeps them there (leat "
        "coordinate --serve-data). A machine with other data, another version of leat, or kernels "
        "that give other bits is refused.\n\n"
        "On battery, and in --quiet-hours, it takes no units. As after Ctrl-C, the unit that is "
        "being computed is handed in, for up to a minute, and is then left to others; the "
        "connection stays open. It prints why it pauses and until when, and continues by itself.",
    .argument = "URL",
    .min_arguments = 1,
    .max_arguments = 1,
    .options = options,
    .shows_progress = true,
    .examples = examples,
    .run = run_work,
};
