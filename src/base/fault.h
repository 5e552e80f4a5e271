/*
 * Fault points: in the test build (LEAT_FAULTS) each allocation, file-system call and thread start
 * first asks a hook of the test whether it must fail; in every other build they cost nothing.
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
/* Defined by the test program; called from any thread. */
bool leat_fault_point(leat_fault_kind kind);
#define LEAT_FAULT(kind) leat_fault_point(kind)
#else
#define LEAT_FAULT(kind) 0
#endif

#endif
