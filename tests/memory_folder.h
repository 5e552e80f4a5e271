/* Where a test that writes and syncs many files puts them: in memory, where that costs nothing. */
#ifndef LEAT_TESTS_MEMORY_FOLDER_H
#define LEAT_TESTS_MEMORY_FOLDER_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"

/* TMPDIR if it is set; else /dev/shm if it has so much room, with as much again for tests that run
 * beside this one; else /tmp, and it says why. */
static inline const char *memory_folder(int64_t room_bytes) {
    static const char memory[] = "/dev/shm";
    const char *base = getenv("TMPDIR");
    if (base != NULL) return base;
    int64_t free_bytes = access(memory, W_OK | X_OK) == 0 ? leat_path_free_bytes(memory) : 0;
    if (free_bytes >= 2 * room_bytes) return memory;
    printf("# %s has %lld MiB that can be used, and %lld are wanted: files are in /tmp\n", memory,
           (long long)(free_bytes >> 20), (long long)(2 * room_bytes >> 20));
    return "/tmp";
}

#endif
