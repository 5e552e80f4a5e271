/*
 * The hook of a program that lets each allocation and each call into the file system fail in turn,
 * once or for good:
 *
 *     set_fault(at, stays);            the call number `at`, counted from 0
 *     leat_code code = work(&err);
 *     bool reached = clear_fault();    whether there were so many calls
 */
#ifndef LEAT_TESTS_FAULT_POINTS_H
#define LEAT_TESTS_FAULT_POINTS_H

#include <stdatomic.h>

#include "base/fault.h"

/* Which calls are counted. */
enum { FAULT_ALL, FAULT_MEMORY, FAULT_FILES };

static atomic_long fault_at = -1, fault_seen; /* -1: none fails */
static atomic_bool fault_stays;
static atomic_int fault_counted, fault_kind; /* the kind of the first that failed */

bool leat_fault_point(leat_fault_kind kind) {
    int counted = atomic_load(&fault_counted);
    if (counted != FAULT_ALL && (counted == FAULT_MEMORY) != (kind == LEAT_FAULT_ALLOC))
        return false;
    long seen = atomic_fetch_add(&fault_seen, 1), at = atomic_load(&fault_at);
    if (at >= 0 && seen == at) atomic_store(&fault_kind, (int)kind);
    return at >= 0 && (atomic_load(&fault_stays) ? seen >= at : seen == at);
}

static inline void set_fault(long at, bool stays) {
    atomic_store(&fault_seen, 0);
    atomic_store(&fault_stays, stays);
    atomic_store(&fault_at, at);
}

static inline bool clear_fault(void) {
    long at = atomic_load(&fault_at);
    bool reached = at >= 0 && atomic_load(&fault_seen) > at;
    set_fault(-1, false);
    return reached;
}

#endif
