/* See work.h. */
#include "load/work.h"

#include "base/workdir.h"

leat_code leat_work_is_marked(const char *dir, const char *name, bool *marked, leat_error *err) {
    char work[LEAT_PATH_BYTES], mark[LEAT_PATH_BYTES];
    leat_path_facts facts;
    *marked = false;
    LEAT_TRY(leat_path_join(work, sizeof work, dir, name, err));
    LEAT_TRY(leat_path_join(mark, sizeof mark, work, LEAT_WORKDIR_MARK, err));
    LEAT_TRY(leat_path_stat(mark, &facts, err));
    *marked = facts.kind == LEAT_PATH_FILE;
    return LEAT_OK;
}
