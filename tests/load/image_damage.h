/* Damage anywhere in an image data set (image_damage.c). */
#ifndef TESTS_LOAD_IMAGE_DAMAGE_H
#define TESTS_LOAD_IMAGE_DAMAGE_H

#include "image_support.h"

/*
 * Flips bits and cuts every file of a small data set that is made in a folder of this name; fails
 * the test unless each damage is refused by the name of a file. `all`: every bit and every byte;
 * else 1,000 flips and cuts at the places where something begins or ends, and at 1,000 others.
 */
void image_damage(const char *folder, bool all);

#endif
