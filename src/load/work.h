/* Work folders of ingests (base/workdir.h), as readers find them. */
#ifndef LEAT_LOAD_WORK_H
#define LEAT_LOAD_WORK_H

#include "base/file.h"

/* Whether dir/name is a folder with the mark of leat. One without it is a third party's, whatever
 * its name. */
LEAT_MUST_CHECK leat_code leat_work_is_marked(const char *dir, const char *name, bool *marked,
                                              leat_error *err);

#endif
