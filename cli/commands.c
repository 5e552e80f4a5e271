/* What there is: a command, its table of facts, and a model that is trained, is a row more. By
 * themselves in this file, so that a program of the tests can be linked with other lists. */
#include "command/internal.h"
#include "facts.h"
#include "leat/nn.h"
#include "train/train.h"

const leat_cli_command *const leat_cli_commands[] = {
    &leat_cmd_ingest_probes, &leat_cmd_ingest_can,
    &leat_cmd_ingest_images, &leat_cmd_inspect,
    &leat_cmd_cat,           &leat_cmd_batches,
    &leat_cmd_synth_probes,  &leat_cmd_synth_can,
    &leat_cmd_synth_images,  &leat_cmd_train_dcgan,
    &leat_cmd_train_vgae,    &leat_cmd_train_gat,
    &leat_cmd_eval,          &leat_cmd_detect,
    &leat_cmd_sample,        &leat_cmd_export,
    &leat_cmd_import,        &leat_cmd_coordinate,
    &leat_cmd_work,          &leat_cmd_invite,
    &leat_cmd_revoke,        &leat_cmd_status,
    &leat_cmd_dash,          &leat_cmd_doctor,
    &leat_cmd_version,       NULL,
};

const leat_cli_option leat_cli_models[] = {
    {.model = "dcgan", .table = leat_dcgan_settings_table, .heading = "Options of the model dcgan"},
    {.model = "vgae", .table = leat_train_vgae_settings, .heading = "Options of the model vgae"},
    {.model = "gat", .table = leat_train_gat_settings, .heading = "Options of the model gat"},
    {0},
};

const leat_facts *const leat_facts_tables[] = {
    &leat_facts_train,      &leat_facts_estimate,
    &leat_facts_coordinate, &leat_facts_plan,
    &leat_facts_work,       &leat_facts_status,
    &leat_facts_run,        &leat_facts_sample,
    &leat_facts_eval,       NULL,
};
