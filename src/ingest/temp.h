/* Where a run spills to in a --temp that it may share with others. */
#ifndef LEAT_INGEST_TEMP_H
#define LEAT_INGEST_TEMP_H

#include "base/file.h"

/* A folder of the run's own in temp_dir; `work` is a folder that is there and that nobody but this
 * run works in. The same after an interruption. Nothing is made. */
LEAT_MUST_CHECK leat_code leat_temp_path(char out[LEAT_PATH_BYTES], const char *temp_dir,
                                         const char *work, leat_error *err);

/* Whether a path, from the root, ends in a name that leat_temp_path gives. */
bool leat_temp_is_ours(const char *path);

#endif
