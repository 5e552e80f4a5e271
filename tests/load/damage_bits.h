/* Damage anywhere in a data set (damage_bits.c). */
#ifndef TESTS_LOAD_DAMAGE_BITS_H
#define TESTS_LOAD_DAMAGE_BITS_H

#include "loader_support.h"

/* Flips each `stride`-th bit and cuts at each `stride`-th byte of every file of a data set that is
 * made in a folder of this name; fails the test if that goes unnoticed. */
void damage_bits(leat_compression compression, const char *folder, int64_t stride);

#endif
