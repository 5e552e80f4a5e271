/* What a run has that trains a DCGAN: its settings, their places in the run's files, and what is
 * read of the settings files of GANNs-with-friends. */
#include "leat/nn.h"
#include "train/models.h"

/* The hashes of runs are made of their settings in this order. */
static const char *const order[] = {
    "steps",       "epochs",   "width",      "latent",        "schedule", "units", "unit-size",
    "micro-batch", "codec-up", "codec-down", "learning-rate", "beta1",    "beta2", NULL};

/* Keys of the config.yaml of GANNs-with-friends: the option that each is here, or why there is
 * none. docs/dcgan.md has this table, too. */
static const leat_foreign_key foreign[] = {
    {.section = "database", .key = "host"},
    {.section = "database", .key = "port"},
    {.section = "database", .key = "database"},
    {.section = "database", .key = "user"},
    {.section = "database", .key = "password"},
    {.section = "training", .key = "latent_dim", .option = "latent"},
    {.section = "training", .key = "image_size", .only = "64"},
    {.section = "training", .key = "images_per_work_unit", .option = "unit-size"},
    {.section = "training", .key = "num_workunits_per_update", .option = "units"},
    {.section = "training", .key = "learning_rate", .option = "learning-rate"},
    {.section = "training", .key = "beta1", .option = "beta1"},
    {.section = "training", .key = "beta2", .option = "beta2"},
    {.section = "worker", .key = "name", .note = "single-machine training"},
    {.section = "worker", .key = "batch_size", .option = "micro-batch"},
    {.section = "worker", .key = "poll_interval", .note = "single-machine training"},
    {.section = "worker", .key = "heartbeat_interval", .note = "single-machine training"},
    {.section = "worker", .key = "work_unit_timeout", .option = "lease-seconds"},
    {.section = "data", .key = "dataset_path", .note = "the data set is named on the command line"},
    {.section = "data",
     .key = "num_workers_dataloader",
     .note = "images are mapped; there are no loader processes"},
    {.section = "huggingface", .key = "enabled", .note = "publish with leat export and hf upload"},
    {.section = "huggingface", .key = "repo_id", .note = "publish with leat export and hf upload"},
    {.section = "huggingface", .key = "token", .note = "use hf auth login instead"},
    {.section = "huggingface",
     .key = "push_interval",
     .note = "publish with leat export and hf upload"},
    {.section = NULL},
};

const leat_model_row leat_train_dcgan = {
    .name = "dcgan", .settings = leat_dcgan_settings_table, .order = order, .foreign = foreign};
