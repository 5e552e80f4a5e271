/*
 * Lock files: one process at a time works in a folder. The file is empty, is created when the lock
 * is taken and removed when it is released; a killed process leaves the file, but the kernel
 * releases its lock.
 */
#ifndef LEAT_BASE_LOCK_H
#define LEAT_BASE_LOCK_H

#include "base/file.h"
#include "base/ticker.h"

typedef struct leat_lock {
    leat_file *file; /* NULL: not held */
} leat_lock;

/*
 * Takes the lock `path`, whose folder must exist, without waiting. LEAT_ERR_BUSY: another process
 * holds it; LEAT_ERR_NOT_FOUND: its holder removed it, or its folder, meanwhile: try again;
 * LEAT_ERR_EXISTS: the file of that name is not a lock file.
 */
LEAT_MUST_CHECK leat_code leat_lock_try(leat_lock *lock, const char *path, leat_error *err);

/* Removes the lock file and releases the lock; fine if it is not held. */
void leat_lock_release(leat_lock *lock);

/* Creates the folder of the lock, or reports in *found that the result of the work exists already.
 */
typedef leat_code (*leat_lock_look_fn)(void *context, bool *found, leat_error *err);
typedef struct leat_lock_look {
    leat_lock_look_fn look;
    void *context;
} leat_lock_look;

/*
 * Waits for the lock. Before each try, and once with the lock, calls `look` to find out whether
 * another process has done the work meanwhile: then *found is true and the lock is not held. The
 * caller of the ticker can stop the wait (LEAT_ERR_CANCELLED).
 */
LEAT_MUST_CHECK leat_code leat_lock_wait(leat_lock *lock, const char *path, leat_lock_look look,
                                         leat_ticker *ticker, bool *found, leat_error *err);
/* The same without waiting: LEAT_ERR_BUSY if another process holds the lock. */
LEAT_MUST_CHECK leat_code leat_lock_take(leat_lock *lock, const char *path, leat_lock_look look,
                                         bool *found, leat_error *err);

#endif
