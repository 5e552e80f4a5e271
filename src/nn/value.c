/* Lists of values by name: see leat/nn.h. */
#include <math.h>
#include <string.h>

#include "leat/nn.h"

int leat_value_count(const leat_value *list) {
    int count = 0;
    while (list != NULL && list[count].name != NULL) count++;
    return count;
}

double leat_value_get(const leat_value *list, const double *numbers, const char *name) {
    for (int i = 0; list != NULL && list[i].name != NULL; i++)
        if (strcmp(list[i].name, name) == 0) return numbers[i];
    return NAN;
}

bool leat_value_is_better(const leat_value *value, double a, double b) {
    return (value->better < 0 && a < b) || (value->better > 0 && a > b);
}
