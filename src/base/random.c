/* The door to the kernel's random numbers: see random.h. */
#include "base/random.h"

#include <errno.h>
#include <stdio.h>
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

leat_code leat_random_hex(char *text, int64_t text_bytes, leat_error *err) {
    leat_code code = LEAT_OK;
    LEAT_ASSERT(text_bytes >= 1);
    text[0] = 0;
    for (int64_t done = 0; done < text_bytes - 1 && code == LEAT_OK; done += 16) {
        uint64_t bits = 0;
        code = leat_random_u64(&bits, err);
        /* the last digits are left out if there is no room */
        snprintf(text + done, (size_t)(text_bytes - done), "%016llx", (unsigned long long)bits);
    }
    if (code != LEAT_OK) text[0] = 0;
    return code;
}
