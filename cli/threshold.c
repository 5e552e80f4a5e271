/* See threshold.h. */
#include "threshold.h"

int leat_threshold_refuse(leat_cli *cli, const leat_evaluation_options *options) {
    if (options->threshold == LEAT_THRESHOLD_FPR || !leat_cli_given(cli, "target-fpr")) return 0;
    return leat_cli_usage(cli, "--target-fpr is for thresholds of the rule fpr, and --threshold is "
                               "f1; omit one of the two");
}
