/*
 * leat_counted, the command for tests of --memory: it counts the bytes that it and its libraries
 * have from the heap, and base's blocks, and takes that for its resident set. So memory_peak_bytes
 * is the same in every run with one thread, on every machine.
 *
 * LEAT_COUNTED_TO in the environment: a file that gets the peak when the process ends.
 */
#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fault.h"
#include "fault/count.h"

bool leat_fault_point(leat_fault_kind kind) {
    (void)kind;
    return false;
}

void leat_fault_block(int64_t bytes) { count_add(bytes); }
int64_t leat_fault_resident(bool peak) { return peak ? count_peak() : count_live(); }

#if defined(SANITIZED) || !defined(__GLIBC__)
/* The library of the sanitizer has the functions below. */
void leat_fault_heap(int64_t bytes) { count_add(bytes); }
#else
/* The functions below count already. */
void leat_fault_heap(int64_t bytes) { (void)bytes; }

/* Of glibc, for programs that have a malloc of their own. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

#define EXPORTED __attribute__((visibility("default")))
/* Up to this size a block that grows may be copied: see src/base/mem.c. */
#define COPIED_BYTES_MAX ((size_t)32 << 20)

static void *counted(void *block) {
    count_add((int64_t)malloc_usable_size(block));
    return block;
}

EXPORTED void *malloc(size_t size) { return counted(__libc_malloc(size)); }
EXPORTED void *calloc(size_t count, size_t size) { return counted(__libc_calloc(count, size)); }
EXPORTED void *memalign(size_t alignment, size_t size) {
    return counted(__libc_memalign(alignment, size));
}
EXPORTED void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

EXPORTED int posix_memalign(void **out, size_t alignment, size_t size) {
    void *block = memalign(alignment, size);
    if (block != NULL) *out = block;
    return block == NULL ? ENOMEM : 0;
}

EXPORTED void *realloc(void *block, size_t size) {
    const size_t before = malloc_usable_size(block);
    void *after = __libc_realloc(block, size);
    if (after == NULL && size > 0) return NULL; /* the block is as it was */
    if (before < COPIED_BYTES_MAX) counted(after);
    count_add(-(int64_t)before);
    if (before >= COPIED_BYTES_MAX) counted(after);
    return after;
}

EXPORTED void free(void *block) {
    count_add(-(int64_t)malloc_usable_size(block));
    __libc_free(block);
}
#endif

__attribute__((destructor)) static void tell(void) {
    const char *path = getenv("LEAT_COUNTED_TO");
    FILE *file = path == NULL ? NULL : fopen(path, "w");
    if (file == NULL) return;
    fprintf(file, "%lld\n", (long long)count_peak());
    fclose(file);
}
