/* leat train MODEL, for any model: what training will take, or the training. */
#include <math.h>
#include <stdio.h>

#include "train/train.h"

/* ---- The bill ----------------------------------------------------------------------------- */

typedef struct bill_source {
    const char *model;
    leat_train_bill bill;
} bill_source;

static void write_parts(leat_cli *cli, const leat_train_part *part) {
    char words[LEAT_WORDS_BYTES];
    for (int i = 0; i < LEAT_PARTS_MAX && part[i].name != NULL; i++)
        leat_out(cli, "%s %s of the %s", i > 0 ? "," : ":",
                 leat_words_count(words, part[i].parameters), part[i].name);
}

/* Only what the model has: samples of another kind than images have no size, and are not mapped. */
static void write_bill(leat_cli *cli, const bill_source *source) {
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], c[LEAT_WORDS_BYTES];
    const leat_train_bill *bill = &source->bill;
    const char *one = leat_train_sample_words(source->model, false);
    const double all = bill->epochs * (double)bill->samples; /* steps may differ */
    const double alike = (double)bill->steps * (double)bill->step_samples;
    leat_out(cli, "model   %s parameters", leat_words_count(a, bill->parameters));
    write_parts(cli, bill->parts);
    leat_out(cli, "\ndata    %s", leat_things(a, bill->samples, one));
    if (bill->sample_size > 0)
        leat_out(cli, " of %lld x %lld", (long long)bill->sample_size,
                 (long long)bill->sample_size);
    leat_out(cli, "\nsteps   %s", leat_words_count(a, bill->steps));
    if (fabs(all - alike) <= 1e-9 * alike)
        leat_out(cli, " of %s", leat_things(b, bill->step_samples, one));
    leat_out(cli, ", %.2f epochs\n", bill->epochs);
    leat_out(cli, "memory  at most %s%s\n", leat_words_bytes(a, bill->memory_bytes),
             bill->sample_size > 0 ? ", and the mapped images" : "");
    leat_out(cli,
             "bytes   %s per checkpoint; distributed: upload %s per unit, download %s per step\n",
             leat_words_bytes(a, bill->checkpoint_bytes), leat_words_bytes(b, bill->payload_bytes),
             leat_words_bytes(c, bill->weights_bytes));
    if (!(bill->samples_per_second > 0)) return;
    leat_out(cli, "time    about %s at %.1f %s/s, measured here%s\n",
             leat_words_seconds(a, all / bill->samples_per_second), bill->samples_per_second,
             leat_train_sample_words(source->model, true),
             bill->sample_size > 0 ? ", without samples" : "");
}

/* Keys name the samples as the data set does: "images", "step_images", "images_per_second". */
static void json_bill(leat_json *json, const void *of) {
    const bill_source *source = of;
    const leat_train_bill *bill = &source->bill;
    const char *many = leat_train_sample_words(source->model, true);
    char key[LEAT_WORDS_BYTES];
    leat_json_member_int(json, "parameters", bill->parameters);
    for (int i = 0; i < LEAT_PARTS_MAX && bill->parts[i].name != NULL; i++) {
        snprintf(key, sizeof key, "%s_parameters", bill->parts[i].name);
        leat_json_member_int(json, key, bill->parts[i].parameters);
    }
    leat_json_member_int(json, many, bill->samples);
    leat_json_member_int(json, "steps", bill->steps);
    snprintf(key, sizeof key, "step_%s", many);
    leat_json_member_int(json, key, bill->step_samples);
    leat_json_member_double(json, "epochs", bill->epochs);
    leat_json_member_int(json, "memory_bytes", bill->memory_bytes);
    leat_json_member_int(json, "checkpoint_bytes", bill->checkpoint_bytes);
    leat_json_member_int(json, "payload_bytes", bill->payload_bytes);
    leat_json_member_int(json, "weights_bytes", bill->weights_bytes);
    snprintf(key, sizeof key, "%s_per_second", many);
    leat_json_member_double(json, key, bill->samples_per_second);
}

static int show_bill(leat_cli *cli, const char *model, const char *data,
                     const leat_train_options *options) {
    bill_source source = {.model = model};
    leat_error err = {0};
    if (leat_train_plan(model, data, options, true, &source.bill, &err) != LEAT_OK)
        return leat_cli_fail(cli, &err);
    if (leat_cli_flag(cli, "json")) return leat_out_object(cli, json_bill, &source);
    write_bill(cli, &source);
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

static int train(leat_cli *cli, const char *model, const char *data, const char *run,
                 leat_train_options *options) {
    leat_train_view view = {.cli = cli, .run = run, .export_dir = options->export_dir};
    leat_train_result result;
    leat_error err = {0};
    options->progress = leat_train_view_progress;
    options->stepped = leat_train_view_stepped;
    options->user = &view;
    leat_code code = leat_train(model, data, run, options, &result, &err);
    leat_cli_progress_end(cli);
    if (result.note[0] != 0) leat_cli_note(cli, "%s", result.note);
    leat_train_view_end(&view, code);
    if (code != LEAT_OK) return leat_train_fail(cli, &err);
    const json_source source = {run, &result};
    if (leat_cli_flag(cli, "json")) return leat_out_object(cli, json_result, &source);
    leat_train_write_result(cli, run, &result);
    return 0;
}

int leat_train_command(leat_cli *cli, const char *model) {
    leat_train_options options = leat_train_options_default();
    leat_train_wanted wanted;
    const char *data = leat_cli_argument(cli, 0), *run = leat_cli_text(cli, "output");
    leat_train_wanted_begin(&wanted, model, leat_train_options_table(), &options);
    if (leat_cli_given(cli, "rewind")) {
        if (!leat_cli_flag(cli, "resume"))
            return leat_cli_usage(cli, "--rewind takes a run back that is resumed: add --resume");
        options.rewind = leat_cli_int(cli, "rewind");
    }
    if (!leat_cli_flag(cli, "dry-run")) leat_cli_cancellable(cli);
    int status = leat_train_wanted_read(&wanted, cli, run);
    if (status == 0 && leat_cli_flag(cli, "dry-run"))
        status = show_bill(cli, model, data, &options);
    else if (status == 0 && run == NULL)
        status = leat_cli_usage(cli, "-o RUN is missing: the folder of the run");
    else if (status == 0) status = train(cli, model, data, run, &options);
    leat_train_wanted_free(&wanted);
    return status;
}
