/*
 * Lock files: see lock.h. flock(2) does the locking; the difficulty is that the file is created and
 * removed. A process that opened it just before its holder removed it has locked a file without a
 * name, which excludes nobody: leat_file_lock notices that, and the lock is taken again.
 */
#include "base/lock.h"

#include <time.h>

enum { TRIES = 100, WAIT_MS = 100 };

leat_code leat_lock_try(leat_lock *lock, const char *path, leat_error *err) {
    leat_file *file = NULL;
    int64_t size_bytes = 0;
    lock->file = NULL;
    leat_code code = leat_file_open(&file, path, LEAT_FILE_NEW, err);
    bool made = code == LEAT_OK;
    if (code == LEAT_ERR_EXISTS) code = leat_file_open(&file, path, LEAT_FILE_OWN, err);
    if (code == LEAT_OK) code = leat_file_size(file, &size_bytes, err);
    if (code == LEAT_OK && size_bytes > 0)
        code = leat_fail(err, LEAT_ERR_EXISTS,
                         "\"%s\" is not a lock file of leat: it has %lld bytes; move it away", path,
                         (long long)size_bytes);
    if (code == LEAT_OK) code = leat_file_lock(file, err);
    if (code == LEAT_OK) {
        lock->file = file;
        return LEAT_OK;
    }
    /* If it has lost its name, or another process holds it by now, it must not be removed. */
    if (made && code != LEAT_ERR_BUSY && code != LEAT_ERR_NOT_FOUND) leat_path_discard(path);
    leat_file_close(file);
    return code;
}

void leat_lock_release(leat_lock *lock) {
    if (lock->file == NULL) return;
    leat_path_discard(leat_file_path(lock->file));
    leat_file_close(lock->file);
    lock->file = NULL;
}

/* With the lock: the previous holder may have finished the work. */
static leat_code look_again(leat_lock *lock, leat_lock_look look, bool *found, leat_error *err) {
    leat_code code = look.look(look.context, found, err);
    if (code != LEAT_OK || *found) leat_lock_release(lock);
    return code;
}

/* The lock, or what `look` finds; while another process holds the lock, waits if there is a ticker.
 */
static leat_code take(leat_lock *lock, const char *path, leat_lock_look look, leat_ticker *ticker,
                      bool *found, leat_error *err) {
    bool waiting = false;
    for (int gone = 0; gone < TRIES;) {
        LEAT_TRY(look.look(look.context, found, err));
        if (*found) return LEAT_OK;
        leat_error why = {0};
        leat_code code = leat_lock_try(lock, path, &why);
        if (code == LEAT_OK) return look_again(lock, look, found, err);
        if (code == LEAT_ERR_NOT_FOUND) {
            gone++;
            continue;
        }
        if (code != LEAT_ERR_BUSY || ticker == NULL) return leat_error_copy(err, &why);
        if (!waiting) leat_ticker_stage(ticker, "waiting for another process", "", -1);
        waiting = true;
        LEAT_TRY(leat_ticker_step(ticker, 0, err));
        struct timespec pause = {.tv_nsec = WAIT_MS * 1000000L};
        nanosleep(&pause, NULL);
    }
    return leat_fail(err, LEAT_ERR_BUSY,
                     "cannot take the lock \"%s\" in %d tries: its folder keeps no files, or other "
                     "processes remove them; use a folder on a disk or in memory",
                     path, TRIES);
}

leat_code leat_lock_wait(leat_lock *lock, const char *path, leat_lock_look look,
                         leat_ticker *ticker, bool *found, leat_error *err) {
    LEAT_ASSERT(ticker != NULL);
    return take(lock, path, look, ticker, found, err);
}

leat_code leat_lock_take(leat_lock *lock, const char *path, leat_lock_look look, bool *found,
                         leat_error *err) {
    return take(lock, path, look, NULL, found, err);
}
