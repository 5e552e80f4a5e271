/* What a reader finds in the folder of a data set that is being replaced. */
#ifndef LEAT_TESTS_OPENS_H
#define LEAT_TESTS_OPENS_H

#include "leat/load.h"

/* Opens the data set in `dir`, verifies every byte and reads every row; its fingerprint goes to
 * `fingerprint`. On failure *err says why. */
leat_code dataset_opens(const char *dir, char fingerprint[65], leat_error *err);

#endif
