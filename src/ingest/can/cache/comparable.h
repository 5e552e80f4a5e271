/* Whether the identifiers of tests are those of training. */
#ifndef LEAT_INGEST_CAN_CACHE_COMPARABLE_H
#define LEAT_INGEST_CAN_CACHE_COMPARABLE_H

#include "ingest/can/cache/plan.h"
#include "ingest/can/cache/vocab.h"

/* Appends a warning for each test, and if the vocabulary is `fixed` for training, of which hardly
 * any frame and hardly any identifier is in the vocabulary: both notations, and the option that
 * makes them the same, if one does. */
void leat_can_comparable_warn(const leat_can_plan *plan, const leat_can_splits *splits,
                              const leat_can_names *names, bool fixed, char *warning,
                              size_t warning_bytes);

#endif
