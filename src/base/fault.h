/*
 * Fault points: in the test build (LEAT_FAULTS) each allocation, file-system call and thread start
 * first asks a hook of the test whether it must fail; in every other build they cost nothing.
 *
 * Counted memory: the test build tells the test how many bytes are taken and given back, and takes
 * the resident set, which depends on the allocator, the libraries and the machine, to be what the
 * test has counted (tests/fault/count.h).
 */
#ifndef LEAT_BASE_FAULT_H
#define LEAT_BASE_FAULT_H

typedef enum leat_fault_kind {
    LEAT_FAULT_ALLOC,
    LEAT_FAULT_OPEN,
    LEAT_FAULT_READ,
    LEAT_FAULT_WRITE,
    LEAT_FAULT_SYNC,
    LEAT_FAULT_RENAME,
    LEAT_FAULT_PATH, /* stat, mkdir, unlink, listing */
    LEAT_FAULT_THREAD,
    LEAT_FAULT_KINDS
} leat_fault_kind;

#ifdef LEAT_FAULTS
#include <stdbool.h>
#include <stdint.h>
/* Defined by the test program; called from any thread. */
bool leat_fault_point(leat_fault_kind kind);
#define LEAT_FAULT(kind) leat_fault_point(kind)
/* Bytes more, or fewer if negative: of the heap, and of blocks directly from the system. */
void leat_fault_heap(int64_t bytes);
void leat_fault_block(int64_t bytes);
int64_t leat_fault_resident(bool peak);
#else
#define LEAT_FAULT(kind) 0
#endif

#endif
