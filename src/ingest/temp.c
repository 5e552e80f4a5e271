/* See temp.h. Runs may call their folders alike from where they stand: what the file system calls
 * them tells them apart. */
#include "ingest/temp.h"

#include <stdio.h>

#include "base/hash.h"

leat_code leat_temp_path(char out[LEAT_PATH_BYTES], const char *temp_dir, const char *work,
                         leat_error *err) {
    leat_path_facts facts;
    LEAT_TRY(leat_path_stat(work, &facts, err));
    const uint64_t mark[2] = {facts.device, facts.inode};
    char name[32];
    snprintf(name, sizeof name, "leat-ingest-%016llx",
             (unsigned long long)leat_xxh3(mark, (int64_t)sizeof mark));
    return leat_path_join(out, LEAT_PATH_BYTES, temp_dir, name, err);
}
