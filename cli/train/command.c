/* leat train MODEL, for any model: what training will take, or the training. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "leat/load_can.h"
#include "train/train.h"

/* ---- The estimate --------------------------------------------------------------------------- */

typedef struct estimate_source {
    const char *model;
    leat_train_estimate estimate;
} estimate_source;

static const char *samples_of(const void *source, bool many) {
    return leat_train_sample_words(((const estimate_source *)source)->model, many);
}

static leat_fact_value many(const void *source) {
    return (leat_fact_value){.text = samples_of(source, true)};
}

static double all_samples(const leat_train_estimate *estimate) {
    return estimate->epochs * (double)estimate->samples;
}

/* Those of every step; below 0 if steps differ. */
static leat_fact_value each_samples(const void *source) {
    const leat_train_estimate *estimate = &((const estimate_source *)source)->estimate;
    const double alike = (double)estimate->steps * (double)estimate->step_samples;
    const bool same = fabs(all_samples(estimate) - alike) <= 1e-9 * alike;
    return (leat_fact_value){.whole = same ? estimate->step_samples : -1};
}

static leat_fact_value is_of_images(const void *source) {
    return (leat_fact_value){.flag = ((const estimate_source *)source)->estimate.sample_size > 0};
}

static leat_fact_value estimate_seconds(const void *source) {
    const leat_train_estimate *estimate = &((const estimate_source *)source)->estimate;
    if (!(estimate->samples_per_second > 0)) return (leat_fact_value){.real = NAN};
    return (leat_fact_value){.real = all_samples(estimate) / estimate->samples_per_second};
}

typedef struct part {
    char key[LEAT_WORDS_BYTES];
    leat_train_part part;
} part;

static bool part_at(const void *source, int index, void *item) {
    const leat_train_part *parts = ((const estimate_source *)source)->estimate.parts;
    part *out = item;
    if (index == LEAT_PARTS_MAX || parts[index].name == NULL) return false;
    out->part = parts[index];
    snprintf(out->key, sizeof out->key, "%s_parameters", out->part.name);
    return true;
}

static const leat_fact part_facts[] = {
    {"key", LEAT_FACT_CHARS, offsetof(part, key), .help = NULL},
    {"parameters", LEAT_FACT_INT, offsetof(part, part.parameters), LEAT_FACT_COUNT, .help = NULL},
    {"name", LEAT_FACT_TEXT, offsetof(part, part.name), .help = NULL},
    {0},
};

static const leat_fact_list parts = {.rows = part_facts,
                                     .shape = LEAT_FACT_NAMED,
                                     .at = part_at,
                                     .before = ": ",
                                     .item = "{parameters} of the {name}",
                                     .between = ", "};

#define AT(member) offsetof(estimate_source, estimate.member)
static const leat_fact known_parts[] = {
    {"generator_parameters", LEAT_FACT_INT, AT(parts[0].parameters), LEAT_FACT_COUNT,
     .help = "Those of the generator."},
    {"discriminator_parameters", LEAT_FACT_INT, AT(parts[1].parameters), LEAT_FACT_COUNT,
     .help = "Those of the discriminator."},
    {0},
};

static const leat_fact estimate_facts[] = {
    {"parameters", LEAT_FACT_INT, AT(parameters), LEAT_FACT_COUNT,
     .help = "Trainable values of both networks."},
    {"parts", LEAT_FACT_NAMES, .list = &parts, .rows = known_parts},
    {"images", LEAT_FACT_INT, AT(samples), LEAT_FACT_COUNT, .noun = samples_of,
     .help = "Images of the data set."},
    {"image_size", LEAT_FACT_INT, AT(sample_size), .help = NULL},
    {"mapped", LEAT_FACT_FLAG, .get = is_of_images, .words = "mapped images"},
    {"unsampled", LEAT_FACT_FLAG, .get = is_of_images, .words = "without samples"},
    {"steps", LEAT_FACT_INT, AT(steps), LEAT_FACT_COUNT, .help = "Steps."},
    {"step_images", LEAT_FACT_INT, AT(step_samples), LEAT_FACT_COUNT, .noun = samples_of,
     .help = "Images of a step: --units x --unit-size."},
    {"each_images", LEAT_FACT_INDEX, .get = each_samples, .unit = LEAT_FACT_COUNT,
     .noun = samples_of},
    {"epochs", LEAT_FACT_REAL, AT(epochs), .digits = 2,
     .help = "Epochs, as a number with a fraction."},
    {"memory_bytes", LEAT_FACT_INT, AT(memory_bytes), LEAT_FACT_BYTES,
     .help = "Upper bound of the memory in bytes, with the program itself, besides the mapped "
             "images: --memory of as much is enough. Depends on the number of threads."},
    {"mapped_bytes", LEAT_FACT_INT, AT(mapped_bytes), LEAT_FACT_BYTES, .help = NULL},
    {"checkpoint_bytes", LEAT_FACT_INT, AT(checkpoint_bytes), LEAT_FACT_BYTES,
     .help = "Size of a checkpoint in bytes."},
    {"payload_bytes", LEAT_FACT_INT, AT(payload_bytes), LEAT_FACT_BYTES,
     .help = "Bytes of the result of a unit, as machines send it."},
    {"weights_bytes", LEAT_FACT_INT, AT(weights_bytes), LEAT_FACT_BYTES,
     .help = "Bytes of the weights, as machines fetch them."},
    {"images_per_second", LEAT_FACT_REAL, AT(samples_per_second), .digits = 1, .noun = samples_of,
     .help = "Rate measured on this machine; 0: not measured. Differs between runs."},
    {"samples", LEAT_FACT_TEXT, .get = many},
    {"seconds", LEAT_FACT_REAL, .get = estimate_seconds, .unit = LEAT_FACT_SECONDS},
    {0},
};
#undef AT

/* Only what the model has: samples of another kind than images have no size, and are not mapped. */
const leat_facts leat_facts_estimate = {
    .schema = "train-dcgan-dry-run",
    .rows = estimate_facts,
    .layout = "model   {parameters} parameters{parts}\n"
              "data    {images}[ of {image_size} x {image_size}]\n"
              "steps   {steps}[ of {each_images}], {epochs} epochs\n"
              "memory  at most {memory_bytes}[, and the {mapped}][, and the mapped cache "
              "({mapped_bytes})]\n"
              "bytes   {checkpoint_bytes} per checkpoint; distributed: upload {payload_bytes} per "
              "unit, download {weights_bytes} per step\n"
              "[time    about {seconds} at {images_per_second} {samples}/s, measured here"
              "[, {unsampled}]\n]",
};

static int show_estimate(leat_cli *cli, const char *model, const char *data,
                         const leat_train_options *options) {
    estimate_source source = {.model = model};
    leat_error err = {0};
    if (leat_train_plan(model, data, options, true, &source.estimate, &err) != LEAT_OK)
        return leat_cli_fail(cli, &err);
    return leat_facts_show(cli, &leat_facts_estimate, &source);
}

/* ---- The result --------------------------------------------------------------------------- */

typedef struct trained {
    const char *run;
    leat_train_result result;
} trained;

static const leat_fact facts[] = {
    {"run", LEAT_FACT_TEXT, offsetof(trained, run), .help = LEAT_TRAIN_RUN_HELP},
    {"result", LEAT_FACT_ROWS, offsetof(trained, result), .rows = leat_train_result_facts},
    {0},
};

const leat_facts leat_facts_train = {
    .schema = "train-dcgan", .rows = facts, .layout = LEAT_TRAIN_RESULT_LAYOUT};

/* ---- The command -------------------------------------------------------------------------- */

static int train(leat_cli *cli, const char *model, const char *data, const char *run,
                 leat_train_options *options) {
    leat_train_view view = {.cli = cli, .run = run, .export_dir = options->export_dir};
    trained of = {.run = run};
    leat_error err = {0};
    options->progress = leat_train_view_progress;
    options->stepped = leat_train_view_stepped;
    options->user = &view;
    leat_code code = leat_train(model, data, run, options, &of.result, &err);
    leat_cli_progress_end(cli);
    if (of.result.note[0] != 0) leat_cli_note(cli, "%s", of.result.note);
    leat_train_view_end(&view, code);
    if (code != LEAT_OK) return leat_train_fail(cli, &err);
    return leat_facts_show(cli, &leat_facts_train, &of);
}

/* none, random, or a file of scores. */
static int read_curriculum(leat_cli *cli, leat_train_wanted *wanted) {
    const char *text = leat_cli_text(cli, "curriculum");
    const leat_setting_table *own = leat_train_settings_table(wanted->model);
    leat_error err = {0};
    if (text == NULL || !leat_cli_given(cli, "curriculum")) return 0;
    const bool file = strcmp(text, "none") != 0 && strcmp(text, "random") != 0;
    if (file) wanted->options->scores = text;
    if (leat_settings_set(own, &wanted->settings, "curriculum", file ? "scores" : text, &err) ==
        LEAT_OK)
        return 0;
    return leat_cli_fail(cli, &err);
}

/* Without a curriculum its options would change nothing. */
static int refuse_without_curriculum(leat_cli *cli, const leat_train_wanted *wanted) {
    static const char *const names[] = {"tiers", "curriculum-epochs", "curriculum-start",
                                        "curriculum-end"};
    char text[LEAT_SETTING_BYTES];
    const char *value = leat_settings_get(leat_train_settings_table(wanted->model),
                                          &wanted->settings, "curriculum", text);
    if (value == NULL || strcmp(value, "none") != 0) return 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (leat_cli_given(cli, names[i]))
            return leat_cli_usage(cli,
                                  "--%s is of a curriculum, and there is none: add --curriculum "
                                  "random or FILE, or omit --%s",
                                  names[i], names[i]);
    return 0;
}

void leat_train_repeat_warning(leat_cli *cli, const char *data) {
    leat_can_cache *cache = NULL;
    leat_error ignored = {0};
    if (!leat_can_cache_is_at(data) || leat_can_cache_open(&cache, data, &ignored) != LEAT_OK)
        return;
    const char *warning = leat_can_cache_warning(cache);
    if (warning[0] != 0) leat_cli_note(cli, "leat ingest can warned of this cache: %s", warning);
    leat_can_cache_close(cache);
}

static int run(leat_cli *cli, const char *model, bool of_graphs) {
    leat_train_options options = leat_train_options_default();
    leat_train_wanted wanted;
    const char *data = leat_cli_argument(cli, 0), *folder = leat_cli_text(cli, "output");
    leat_train_wanted_begin(&wanted, model, leat_train_model_options_table(model), &options);
    if (leat_cli_given(cli, "rewind")) {
        if (!leat_cli_flag(cli, "resume"))
            return leat_cli_usage(cli, "--rewind takes a run back that is resumed: add --resume");
        options.rewind = leat_cli_int(cli, "rewind");
    }
    if (!leat_cli_flag(cli, "dry-run")) leat_cli_cancellable(cli);
    int status = leat_train_wanted_read(&wanted, cli, folder);
    if (status == 0 && of_graphs) status = read_curriculum(cli, &wanted);
    if (status == 0 && of_graphs) status = refuse_without_curriculum(cli, &wanted);
    if (status == 0 && of_graphs) leat_train_repeat_warning(cli, data);
    if (status == 0 && leat_cli_flag(cli, "dry-run"))
        status = show_estimate(cli, model, data, &options);
    else if (status == 0 && folder == NULL)
        status = leat_cli_usage(cli, "-o RUN is missing: the folder of the run");
    else if (status == 0) status = train(cli, model, data, folder, &options);
    leat_train_wanted_free(&wanted);
    return status;
}

int leat_train_command(leat_cli *cli, const char *model) { return run(cli, model, false); }
int leat_train_graphs_command(leat_cli *cli, const char *model) { return run(cli, model, true); }
