/* Overlapping windows of which single ones are validation: both sides then have the same frames. */
#ifndef LEAT_INGEST_CAN_CACHE_OVERLAP_H
#define LEAT_INGEST_CAN_CACHE_OVERLAP_H

#include "ingest/can/cache/plan.h"

/* Whether the settings make such windows. */
bool leat_can_has_overlap(const leat_can_settings *settings);
/* LEAT_ERR_OPTION: they do, and do not allow it. */
LEAT_MUST_CHECK leat_code leat_can_overlap_check(const leat_can_settings *settings,
                                                 leat_error *err);
/* Appends a warning with the number of frames that both sides have, if any. */
void leat_can_overlap_warn(const leat_can_plan *plan, char *warning, size_t warning_bytes);

#endif
