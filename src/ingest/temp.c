/* See temp.h. Runs may call their folders alike from where they stand: what the file system calls
 * them tells them apart. */
#include "ingest/temp.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"

#define PREFIX "leat-ingest-"

leat_code leat_temp_path(char out[LEAT_PATH_BYTES], const char *temp_dir, const char *work,
                         leat_error *err) {
    leat_path_facts facts;
    LEAT_TRY(leat_path_stat(work, &facts, err));
    const uint64_t mark[2] = {facts.device, facts.inode};
    char name[32];
    snprintf(name, sizeof name, PREFIX "%016llx",
             (unsigned long long)leat_xxh3(mark, (int64_t)sizeof mark));
    return leat_path_join(out, LEAT_PATH_BYTES, temp_dir, name, err);
}

bool leat_temp_is_ours(const char *path) {
    const char *name = strrchr(path, '/');
    if (path[0] != '/' || strncmp(name + 1, PREFIX, sizeof PREFIX - 1) != 0) return false;
    const char *mark = name + sizeof PREFIX;
    return strlen(mark) == 16 && strspn(mark, "0123456789abcdef") == 16;
}
