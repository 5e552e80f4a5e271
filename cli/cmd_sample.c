/* leat sample: images from a trained generator. */
#include <stddef.h>

#include "facts.h"
#include "leat/train.h"

enum { COUNT_MAX = 4096, COLUMNS = 8 };

typedef struct sample_source {
    const char *out;
    int64_t step, count;
    double deviation;
} sample_source;

#define AT(member) offsetof(sample_source, member)
static const leat_fact facts[] = {
    {"out", LEAT_FACT_TEXT, AT(out), .help = "PNG, as given on the command line."},
    {"step", LEAT_FACT_INT, AT(step), .help = "Step of the checkpoint."},
    {"count", LEAT_FACT_INT, AT(count), .help = "Number of images."},
    {"deviation", LEAT_FACT_REAL, AT(deviation), .digits = 3,
     .help = "Standard deviation of all values of the images, on the scale -1 to 1; at least 0.02, "
             "since nothing is written otherwise."},
    {0},
};
#undef AT

const leat_facts leat_facts_sample = {
    .schema = "sample",
    .rows = facts,
    .layout = "{count} images of step {step}, deviation {deviation}: {out}\n",
};

static int write_samples(leat_cli *cli, const leat_run *run, sample_source *source) {
    leat_run_sample_options options = leat_run_sample_options_default();
    leat_error err = {0};
    options.count = source->count;
    options.replace = leat_cli_flag(cli, "replace");
    options.step = leat_cli_given(cli, "step") ? leat_cli_int(cli, "step") : -1;
    options.run_seed = !leat_cli_given(cli, "seed");
    options.seed = (uint64_t)leat_cli_int(cli, "seed");
    if (leat_cli_given(cli, "threads")) options.threads = (int32_t)leat_cli_int(cli, "threads");
    return leat_run_sample_save(run, &options, source->out, COLUMNS, &source->deviation,
                                &source->step, &err) == LEAT_OK
               ? 0
               : leat_cli_fail(cli, &err);
}

static int run_sample(leat_cli *cli) {
    sample_source source = {.out = leat_cli_text(cli, "output"),
                            .count = leat_cli_int(cli, "count")};
    const bool replace = leat_cli_flag(cli, "replace");
    leat_run *run = NULL;
    leat_error err = {0};
    if (leat_cli_refuse_not_png(cli, source.out) != 0) return 2;
    if (leat_text_can_save(source.out, LEAT_MARK_PNG, replace, &err) != LEAT_OK ||
        leat_run_open(&run, leat_cli_argument(cli, 0), &err) != LEAT_OK)
        return leat_cli_fail(cli, &err);
    int status = write_samples(cli, run, &source);
    leat_run_close(run);
    if (status != 0) return status;
    return leat_facts_show(cli, &leat_facts_sample, &source);
}

static const leat_cli_option options[] = {
    {.own.name = "output",
     .own.kind = LEAT_SETTING_OUTPUT,
     .own.value = "FILE.png",
     .own.help = "PNG to write: the images in rows of 8",
     .letter = 'o',
     .required = true},
    {.own.name = "count",
     .own.kind = LEAT_SETTING_INT,
     .own.min = 1,
     .own.max = COUNT_MAX,
     .own.help = "number of images",
     .preset = "64"},
    {.own.name = "seed",
     .own.kind = LEAT_SETTING_INT,
     .own.value = "S",
     .own.max = INT64_MAX,
     .own.usually = "the run's own, as in its samples",
     .own.help = "seed of the latent vectors"},
    {.own.name = "step",
     .own.kind = LEAT_SETTING_INT,
     .own.max = INT64_MAX,
     .own.usually = "the last",
     .own.help = "step of the checkpoint to use"},
    {.own.name = "threads",
     .own.kind = LEAT_SETTING_INT,
     .own.min = 1,
     .own.max = 256,
     .own.usually = "one per processor",
     .own.help = "number of threads; the images do not depend on it"},
    LEAT_CLI_OPTION_REPLACE,
    LEAT_CLI_OPTION_JSON,
    {0},
};

static const leat_cli_example examples[] = {
    {"leat sample run -o grid.png", "64 images from the last checkpoint"},
    {"leat sample run -o grid.png --count 16 --seed 7 --step 300",
     "16 images from the checkpoint at step 300, with another seed"},
    {.line = NULL},
};

const leat_cli_command leat_cmd_sample = {
    .words = "sample",
    .purpose = "draw images from a trained generator",
    .usage = "RUN -o FILE.png [options]",
    .about = "Writes a grid of images that the generator of a run makes. Image i is a function of "
             "the checkpoint, the seed and i.\n\n"
             "The statistics of the generator's normalisations are computed from 1,024 fixed "
             "latent vectors for the weights of the checkpoint. A grid of almost uniform images "
             "(standard deviation of the pixels below 0.02, scaled to -1 to 1) is not written.",
    .argument = "RUN",
    .min_arguments = 1,
    .max_arguments = 1,
    .options = options,
    .examples = examples,
    .run = run_sample,
};
