/* Which rules logs are read by: those of leat's first caches, or later ones. */
#ifndef LEAT_INGEST_CAN_READ_RULES_H
#define LEAT_INGEST_CAN_READ_RULES_H

#include "ingest/can/read/scan.h"

/* The number of the rules that the digest of these inputs names: the earliest that make the same
 * frames of them as the present ones. Reads little of most files; if `complete`, all of those whose
 * times may be gaps, which the first rules read as those of a clock. */
LEAT_MUST_CHECK leat_code leat_can_rules_of(const leat_input_list *inputs,
                                            const leat_can_settings *settings, bool complete,
                                            int *reader, leat_error *err);

/* Fills what a saved scan does not have of its inputs: what their layouts say, for warnings. */
LEAT_MUST_CHECK leat_code leat_can_look_again(const leat_input_list *inputs,
                                              const leat_can_settings *settings, int reader,
                                              leat_can_file *files, leat_error *err);

#endif
