/*
 * The command with a second model (tests/train/tenant.h), as one that is added: a row in the list
 * of what can be trained, a command, and rows in the lists of commands and models; and with the
 * same model where a higher number of what is measured is better, or a lower one, or neither.
 */
#include "train/tenant.h"

#include "command/internal.h"
#include "leat/nn.h"
#include "train/tasks/images/dcgan_task.h"
#include "train/train.h"

/* Instead of the list in src/train/tasks/tasks.c. */
const leat_task *const leat_tasks[] = {&leat_dcgan_task,     &tenant_task,
                                       &tenant_higher_task,  &tenant_lower_task,
                                       &tenant_neither_task, NULL};

static const leat_cli_option options[] = {LEAT_TRAIN_OPTIONS(tenant_settings_table, NULL), {0}};

static const leat_cli_example examples[] = {
    {"leat train linear rows.txt -o run --steps 20", "train"},
    {.line = NULL},
};

/* The command of a model. */
#define TRAIN(of)                                                                                  \
    static int run_train_##of(leat_cli *cli) { return leat_train_command(cli, #of); }              \
    static const leat_cli_command train_##of = {                                                   \
        .words = "train " #of,                                                                     \
        .purpose = "train a linear regression on this machine",                                    \
        .usage = "DATA -o RUN [options]",                                                          \
        .about = "Trains a linear regression on rows of numbers.",                                 \
        .argument = "DATA",                                                                        \
        .min_arguments = 1,                                                                        \
        .max_arguments = 1,                                                                        \
        .options = options,                                                                        \
        .shows_progress = true,                                                                    \
        .examples = examples,                                                                      \
        .run = run_train_##of,                                                                     \
    }
TRAIN(linear);
TRAIN(higher);
TRAIN(lower);
TRAIN(neither);

/* Instead of the lists in cli/commands.c. */
const leat_cli_command *const leat_cli_commands[] = {
    &leat_cmd_inspect,
    &leat_cmd_train_dcgan,
    &train_linear,
    &train_higher,
    &train_lower,
    &train_neither,
    &leat_cmd_coordinate,
    &leat_cmd_work,
    &leat_cmd_status,
    &leat_cmd_doctor,
    NULL,
};
const leat_cli_option leat_cli_models[] = {
    {.model = "dcgan", .table = leat_dcgan_settings_table, .heading = "Options of the model dcgan"},
    {.model = "linear", .table = tenant_settings_table, .heading = "Options of the model linear"},
    {0},
};
