/*
 * The one door to the heap. Small blocks come from malloc; blocks of megabytes from mmap, so that
 * they return to the system as soon as they are freed and a memory limit holds across phases.
 */
#include "base/mem.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/fault.h"

#define HUGE_BYTES (INT64_C(4) << 20)

/* The test build counts what is taken: see fault.h. A table that grows is there twice while it is
 * copied, which larger ones are not: they are moved. */
#ifdef LEAT_FAULTS
#include <malloc.h>
#define COPIED_BYTES_MAX (INT64_C(32) << 20)
static int64_t heap_bytes(void *block) { return (int64_t)malloc_usable_size(block); }
static void count_grown(int64_t before, int64_t after) {
    bool copied = before < COPIED_BYTES_MAX;
    leat_fault_heap(copied ? after : after - before);
    if (copied) leat_fault_heap(-before);
}
static void count_heap(int64_t bytes) { leat_fault_heap(bytes); }
static void count_block(int64_t bytes) { leat_fault_block(bytes); }
#else
static int64_t heap_bytes(const void *block) {
    (void)block;
    return 0;
}
static void count_grown(int64_t before, int64_t after) {
    (void)before;
    (void)after;
}
static void count_heap(int64_t bytes) { (void)bytes; }
static void count_block(int64_t bytes) { (void)bytes; }
#endif

bool leat_mul_size(int64_t a, int64_t b, int64_t *out) {
    if (a < 0 || b < 0 || __builtin_mul_overflow(a, b, out)) {
        *out = 0;
        return false;
    }
    return true;
}

bool leat_add_size(int64_t a, int64_t b, int64_t *out) {
    if (a < 0 || b < 0 || __builtin_add_overflow(a, b, out)) {
        *out = 0;
        return false;
    }
    return true;
}

leat_code leat_alloc(void **out, int64_t count, int64_t item_bytes, leat_error *err) {
    *out = NULL;
    int64_t size_bytes = 0;
    if (!leat_mul_size(count, item_bytes, &size_bytes)) {
        return leat_fail(err, LEAT_ERR_MEMORY, "cannot allocate %lld items of %lld bytes",
                         (long long)count, (long long)item_bytes);
    }
    void *block = LEAT_FAULT(LEAT_FAULT_ALLOC) ? NULL : calloc(1, (size_t)size_bytes + 1);
    if (block == NULL) {
        return leat_fail(err, LEAT_ERR_MEMORY, "cannot allocate %lld bytes", (long long)size_bytes);
    }
    count_heap(heap_bytes(block));
    *out = block;
    return LEAT_OK;
}

leat_code leat_grow(void **items, int64_t *capacity, int64_t need, int64_t item_bytes,
                    leat_error *err) {
    if (need <= *capacity && *items != NULL) return LEAT_OK;
    int64_t wanted = *capacity < need / 2 ? need : *capacity * 2;
    if (wanted < need) wanted = need;
    if (wanted < 16) wanted = 16;
    int64_t size_bytes = 0;
    if (!leat_mul_size(wanted, item_bytes, &size_bytes)) {
        return leat_fail(err, LEAT_ERR_MEMORY, "cannot allocate %lld items of %lld bytes",
                         (long long)wanted, (long long)item_bytes);
    }
    const int64_t before = heap_bytes(*items);
    void *block = LEAT_FAULT(LEAT_FAULT_ALLOC) ? NULL : realloc(*items, (size_t)size_bytes + 1);
    if (block == NULL) {
        return leat_fail(err, LEAT_ERR_MEMORY, "cannot allocate %lld bytes", (long long)size_bytes);
    }
    count_grown(before, heap_bytes(block));
    *items = block;
    *capacity = wanted;
    return LEAT_OK;
}

void leat_free(void *pointer) {
    count_heap(-heap_bytes(pointer));
    free(pointer);
}

leat_code leat_block_alloc(void **out, int64_t size_bytes, leat_error *err) {
    *out = NULL;
    void *block = MAP_FAILED;
    if (size_bytes > 0 && !LEAT_FAULT(LEAT_FAULT_ALLOC)) {
        block = mmap(NULL, (size_t)size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                     -1, 0);
    }
    if (block == MAP_FAILED) {
        return leat_fail(err, LEAT_ERR_MEMORY, "cannot allocate a block of %lld bytes",
                         (long long)size_bytes);
    }
    /* Tables and buffers of many megabytes are accessed everywhere: fewer, larger pages. */
    if (size_bytes >= HUGE_BYTES) (void)madvise(block, (size_t)size_bytes, MADV_HUGEPAGE);
    count_block(size_bytes);
    *out = block;
    return LEAT_OK;
}

void leat_block_free(void *block, int64_t size_bytes) {
    if (block == NULL) return;
    munmap(block, (size_t)size_bytes);
    count_block(-size_bytes);
}

leat_code leat_strdup(char **out, const char *text, leat_error *err) {
    int64_t size_bytes = (int64_t)strlen(text);
    LEAT_TRY(leat_alloc((void **)out, size_bytes + 1, 1, err));
    memcpy(*out, text, (size_t)size_bytes);
    return LEAT_OK;
}

leat_code leat_buf_reserve(leat_buf *buf, int64_t more_bytes, leat_error *err) {
    int64_t need = 0;
    if (!leat_add_size(buf->size, more_bytes, &need)) {
        return leat_fail(err, LEAT_ERR_MEMORY, "buffer of %lld bytes cannot grow by %lld",
                         (long long)buf->size, (long long)more_bytes);
    }
    return leat_grow((void **)&buf->data, &buf->capacity, need, 1, err);
}

leat_code leat_buf_append(leat_buf *buf, const void *bytes, int64_t size_bytes, leat_error *err) {
    if (size_bytes == 0) return LEAT_OK;
    LEAT_TRY(leat_buf_reserve(buf, size_bytes, err));
    memcpy(buf->data + buf->size, bytes, (size_t)size_bytes);
    buf->size += size_bytes;
    return LEAT_OK;
}

leat_code leat_buf_printf(leat_buf *buf, leat_error *err, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    LEAT_ASSERT(length >= 0);
    LEAT_TRY(leat_buf_reserve(buf, (int64_t)length + 1, err));
    va_start(args, format);
    vsnprintf((char *)buf->data + buf->size, (size_t)length + 1, format, args);
    va_end(args);
    buf->size += length;
    return LEAT_OK;
}

void leat_buf_free(leat_buf *buf) {
    leat_free(buf->data);
    *buf = (leat_buf){0};
}
