/* Damaged Arrow streams, for two programs: the gate's ASan has time for one of them. */
#ifndef LEAT_TESTS_FORMAT_ARROW_DAMAGE_H
#define LEAT_TESTS_FORMAT_ARROW_DAMAGE_H

#include <stdbool.h>

/* Reads golden streams, in a row and as tables by themselves, with a bit of a byte flipped: of the
 * i-th byte the bits (i + k) mod 8, k from `first` to before `end`. `cuts`: and rows of every
 * shorter size. */
void arrow_damage(bool cuts, int first, int end);

#endif
