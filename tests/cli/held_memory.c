/* The memory of the machine for build/tests/leat_held, where LEAT_HELD_MEMORY is a number of bytes:
 * so that small data is larger than it. */
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

int sysinfo(struct sysinfo *out) {
    const char *bytes = getenv("LEAT_HELD_MEMORY");
    if (bytes == NULL) return (int)syscall(SYS_sysinfo, out);
    memset(out, 0, sizeof *out);
    out->mem_unit = 1;
    out->totalram = strtoul(bytes, NULL, 10);
    return 0;
}
