/* The door to the kernel's random numbers: see random.h. */
#include "base/random.h"

#include <errno.h>
#include <sys/random.h>

#include "base/fault.h"

leat_code leat_random_u64(uint64_t *out, leat_error *err) {
    ssize_t got = -1;
    *out = 0;
    do {
        errno = EIO;
        if (!LEAT_FAULT(LEAT_FAULT_READ)) got = getrandom(out, sizeof *out, 0);
    } while (got < 0 && errno == EINTR);
    if (got == (ssize_t)sizeof *out) return LEAT_OK; /* 8 bytes are never returned in part */
    *out = 0;
    return leat_fail_errno(err, errno, "cannot get a random number from the kernel");
}
