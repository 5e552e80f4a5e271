/* What run.json says of the ingest. */
#ifndef LEAT_LOAD_PROBES_SUMMARY_INGEST_H
#define LEAT_LOAD_PROBES_SUMMARY_INGEST_H

#include "load/probes/dataset.h"

/* The data set does not need run.json, so one that is missing or damaged is only not known. */
LEAT_MUST_CHECK leat_code leat_summary_read_ingest(const leat_dataset *dataset,
                                                   leat_summary_ingest *out, leat_error *err);

#endif
