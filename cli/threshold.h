/* What commands that judge windows by a threshold share: leat eval, leat detect. */
#ifndef LEAT_CLI_THRESHOLD_H
#define LEAT_CLI_THRESHOLD_H

#include "command/cli.h"
#include "leat/train_eval.h"

/* Returns 0, or 2 after reporting that --target-fpr was typed for a threshold of another rule. */
int leat_threshold_refuse(leat_cli *cli, const leat_evaluation_options *options);
#endif
