/* leat train dcgan: trains an image generator on this machine. */
#include "leat/nn.h"
#include "train/train.h"

static int run_train_dcgan(leat_cli *cli) { return leat_train_command(cli, "dcgan"); }

static const leat_cli_option options[] = {
    LEAT_TRAIN_OPTIONS(leat_dcgan_settings_table, leat_train_image_words), {0}};

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
