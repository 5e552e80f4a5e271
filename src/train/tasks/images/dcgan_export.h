/* What exports of a DCGAN have: two files of weights, samples, and the classes that load them. */
#ifndef LEAT_TRAIN_TASKS_IMAGES_DCGAN_EXPORT_H
#define LEAT_TRAIN_TASKS_IMAGES_DCGAN_EXPORT_H

#include "train/run/export.h"

extern const leat_export_class leat_dcgan_exports;

#endif
