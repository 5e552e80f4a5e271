/*
 * What the numbers of a DCGAN's run warn of:
 *
 * alike: the spread between samples is below LEAT_ALIKE_SHARE of the data's at
 * LEAT_ALIKE_MEASUREMENTS measurements, of which the last is not larger than the first and not
 * before step LEAT_ALIKE_STEPS.
 * won: the loss of D, on images and on fakes, is below LEAT_WON_LOSS in LEAT_WON_STEPS steps.
 */
#ifndef LEAT_TRAIN_TASKS_IMAGES_DCGAN_WARNINGS_H
#define LEAT_TRAIN_TASKS_IMAGES_DCGAN_WARNINGS_H

#include "train/run/warnings.h"

/* The words of the warnings have them as they are here. */
#define LEAT_ALIKE_SHARE 0.25
#define LEAT_ALIKE_MEASUREMENTS 3
#define LEAT_ALIKE_STEPS 300
#define LEAT_WON_LOSS 0.001
#define LEAT_WON_STEPS 200

/* In this order in leat_dcgan_warnings. */
enum { LEAT_DCGAN_WARNING_ALIKE, LEAT_DCGAN_WARNING_WON, LEAT_DCGAN_WARNINGS };
extern const leat_warning_rule leat_dcgan_warnings[];

#endif
