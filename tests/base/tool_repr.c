/* Writes the numbers of stdin, 16 or 8 hexadecimal digits a line, as leat_double_repr and
 * leat_float_repr do, for test_repr.py. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

int main(void) {
    char line[64], text[LEAT_REPR_BYTES];
    while (fgets(line, sizeof line, stdin) != NULL) {
        uint64_t bits = 0;
        if (sscanf(line, "%" SCNx64, &bits) != 1) return 1;
        if (strcspn(line, "\n") == 16) {
            double value;
            memcpy(&value, &bits, sizeof value);
            leat_double_repr(value, text);
        } else {
            uint32_t low = (uint32_t)bits;
            float value;
            memcpy(&value, &low, sizeof value);
            leat_float_repr(value, text);
        }
        puts(text);
    }
    return 0;
}
