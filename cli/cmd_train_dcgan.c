/* leat train dcgan: trains an image generator on this machine. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "train/train.h"

/* ---- The bill ----------------------------------------------------------------------------- */

static void write_bill(leat_cli *cli, const leat_train_bill *bill) {
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], c[LEAT_WORDS_BYTES];
    leat_out(cli, "model   %s parameters: %s of the generator, %s of the discriminator\n",
             leat_words_count(a, bill->parameters), leat_words_count(b, bill->parts[0].parameters),
             leat_words_count(c, bill->parts[1].parameters));
    leat_out(cli, "data    %s of %lld x %lld\n", leat_things(a, bill->samples, "image"),
             (long long)bill->sample_size, (long long)bill->sample_size);
    leat_out(cli, "steps   %s of %s, %.2f epochs\n", leat_words_count(a, bill->steps),
             leat_things(b, bill->step_samples, "image"), bill->epochs);
    leat_out(cli, "memory  at most %s, and the mapped images\n",
             leat_words_bytes(a, bill->memory_bytes));
    leat_out(cli,
             "bytes   %s per checkpoint; distributed: upload %s per unit, download %s per step\n",
             leat_words_bytes(a, bill->checkpoint_bytes), leat_words_bytes(b, bill->payload_bytes),
             leat_words_bytes(c, bill->weights_bytes));
    if (!(bill->samples_per_second > 0)) return;
    const double seconds =
        (double)bill->steps * (double)bill->step_samples / bill->samples_per_second;
    leat_out(cli, "time    about %s at %.1f images/s, measured here, without samples\n",
             leat_words_seconds(a, seconds), bill->samples_per_second);
}

static void json_bill(leat_json *json, const void *of) {
    const leat_train_bill *bill = of;
    leat_json_member_int(json, "parameters", bill->parameters);
    leat_json_member_int(json, "generator_parameters", bill->parts[0].parameters);
    leat_json_member_int(json, "discriminator_parameters", bill->parts[1].parameters);
    leat_json_member_int(json, "images", bill->samples);
    leat_json_member_int(json, "steps", bill->steps);
    leat_json_member_int(json, "step_images", bill->step_samples);
    leat_json_member_double(json, "epochs", bill->epochs);
    leat_json_member_int(json, "memory_bytes", bill->memory_bytes);
    leat_json_member_int(json, "checkpoint_bytes", bill->checkpoint_bytes);
    leat_json_member_int(json, "payload_bytes", bill->payload_bytes);
    leat_json_member_int(json, "weights_bytes", bill->weights_bytes);
    leat_json_member_double(json, "images_per_second", bill->samples_per_second);
}

static int show_bill(leat_cli *cli, const char *data, const leat_train_options *options) {
    leat_train_bill bill;
    leat_error err = {0};
    if (leat_train_plan("dcgan", data, options, true, &bill, &err) != LEAT_OK)
        return leat_cli_fail(cli, &err);
    if (leat_cli_flag(cli, "json")) return leat_out_object(cli, json_bill, &bill);
    write_bill(cli, &bill);
    return 0;
}

typedef struct json_source {
    const char *run;
    const leat_train_result *result;
} json_source;

static void json_result(leat_json *json, const void *of) {
    const json_source *source = of;
    leat_train_json_result(json, source->run, source->result);
}

/* ---- The command -------------------------------------------------------------------------- */

static int train(leat_cli *cli, const char *data, const char *run, leat_train_options *options) {
    leat_train_view view = {.cli = cli, .run = run, .export_dir = options->export_dir};
    leat_train_result result;
    leat_error err = {0};
    options->progress = leat_train_view_progress;
    options->stepped = leat_train_view_stepped;
    options->user = &view;
    leat_code code = leat_train("dcgan", data, run, options, &result, &err);
    leat_cli_progress_end(cli);
    if (result.note[0] != 0) leat_cli_note(cli, "%s", result.note);
    leat_train_view_end(&view, code);
    if (code != LEAT_OK) return leat_train_fail(cli, &err);
    const json_source source = {run, &result};
    if (leat_cli_flag(cli, "json")) return leat_out_object(cli, json_result, &source);
    leat_train_write_result(cli, run, &result);
    return 0;
}

static int run_train_dcgan(leat_cli *cli) {
    leat_train_options options = leat_train_options_default();
    leat_train_wanted wanted;
    const char *data = leat_cli_argument(cli, 0), *run = leat_cli_text(cli, "output");
    leat_train_wanted_begin(&wanted, "dcgan", leat_train_options_table(), &options);
    if (leat_cli_given(cli, "rewind")) {
        if (!leat_cli_flag(cli, "resume"))
            return leat_cli_usage(cli, "--rewind takes a run back that is resumed: add --resume");
        options.rewind = leat_cli_int(cli, "rewind");
    }
    if (!leat_cli_flag(cli, "dry-run")) leat_cli_cancellable(cli);
    int status = leat_train_wanted_read(&wanted, cli, run);
    if (status == 0 && leat_cli_flag(cli, "dry-run")) status = show_bill(cli, data, &options);
    else if (status == 0 && run == NULL)
        status = leat_cli_usage(cli, "-o RUN is missing: the folder of the run");
    else if (status == 0) status = train(cli, data, run, &options);
    leat_train_wanted_free(&wanted);
    return status;
}

static const leat_cli_option options[] = {
    {.own.name = "output",
     .own.kind = LEAT_SETTING_OUTPUT,
     .own.value = "RUN",
     .own.help = "folder of the run; required without --dry-run",
     .letter = 'o'},
    {.own.name = "config",
     .own.kind = LEAT_SETTING_PATH,
     .own.value = "FILE",
     .own.help = "read settings from a YAML file, such as RUN/config.yaml; command-line options "
                 "take precedence"},
    {.table = leat_train_options_table},
    {.table = leat_dcgan_settings_table, .heading = "Options of the model"},
    {.own.name = "resume",
     .own.kind = LEAT_SETTING_FLAG,
     .own.help = "continue an interrupted run, or with more --steps a finished one, from its last "
                 "checkpoint and with its settings"},
    {.own.name = "rewind",
     .own.kind = LEAT_SETTING_INT,
     .own.max = INT64_C(1000000000000),
     .own.value = "STEP",
     .own.help = "with --resume: continue from the checkpoint of this step, and move what is later "
                 "to RUN/rewound-STEP"},
    {.own.name = "dry-run",
     .own.kind = LEAT_SETTING_FLAG,
     .own.help = "print parameters, memory, steps and the estimated time, and write nothing"},
    LEAT_TRAIN_OPTION_REPLACE,
    LEAT_CLI_OPTION_JSON,
    {0},
};

static const leat_cli_example examples[] = {
    {"leat train dcgan faces -o run --epochs 20", "train, and look at run/report.html meanwhile"},
    {"leat train dcgan faces --epochs 20 --dry-run", "estimate memory and time"},
    {"leat train dcgan faces -o run --resume", "continue a run that was interrupted"},
    {"leat train dcgan faces -o run --resume --rewind 1900",
     "go back to the checkpoint of step 1,900, and continue from there"},
    {"leat train dcgan faces -o same --config run/config.yaml",
     "repeat a run: the same weights, bit for bit"},
    {.line = NULL},
};

const leat_cli_command leat_cmd_train_dcgan = {
    .words = "train dcgan",
    .purpose = "train an image generator on this machine",
    .usage = "DATA -o RUN [options]",
    .about =
        "Trains a DCGAN on an image data set (leat ingest images, 64 x 64): an image generator "
        "and a discriminator that learns to distinguish its images from the data.\n\n"
        "The weights after a step are a function of the images, the settings and the seed: the "
        "same bits for any number of threads, on any processor, and after any interruption. A step "
        "consists of --units units; distributed training computes the same units, and so the same "
        "weights.\n\n"
        "RUN receives config.yaml, training.json, metrics.jsonl (a line per step), checkpoints/, "
        "samples/ and report.html, which is updated during training. Ctrl-C saves the state and "
        "stops; --resume continues. A warning is printed when the samples become alike or the "
        "discriminator has won. The score is a Frechet distance between features of generated "
        "images and of the data, from a fixed random network: lower is better, and it can be "
        "compared between runs on the same data.",
    .argument = "DATA",
    .min_arguments = 1,
    .max_arguments = 1,
    .options = options,
    .shows_progress = true,
    .examples = examples,
    .run = run_train_dcgan,
};
