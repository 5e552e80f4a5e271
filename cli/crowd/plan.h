/* leat coordinate --plan: what a run would be like, without one. */
#ifndef LEAT_CLI_CROWD_PLAN_H
#define LEAT_CLI_CROWD_PLAN_H

#include "leat/crowd.h"
#include "train/train.h"

/* Shows what steps of a run with these options would be like; returns the exit status. Needs no
 * database. */
int leat_coordinate_plan(leat_cli *cli, const char *model, const leat_coordinate_options *options);

#endif
