/*
 * A disk far away, for LD_PRELOAD: every pread takes SLOW_READ_US microseconds more. Reads of
 * several threads overlap, as they do over a network.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

typedef ssize_t (*read_at)(int file, void *bytes, size_t size, off_t offset);

static ssize_t slow(const char *name, int file, void *bytes, size_t size, off_t offset) {
    const char *text = getenv("SLOW_READ_US");
    read_at next = (read_at)dlsym(RTLD_NEXT, name);
    if (text != NULL) usleep((useconds_t)atoi(text));
    return next(file, bytes, size, offset);
}

ssize_t pread(int file, void *bytes, size_t size, off_t offset) {
    return slow("pread", file, bytes, size, offset);
}

ssize_t pread64(int file, void *bytes, size_t size, off_t offset) {
    return slow("pread64", file, bytes, size, offset);
}
