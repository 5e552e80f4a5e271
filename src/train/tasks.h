/* The rows of the list in tasks.c, each in a file of its own. */
#ifndef LEAT_TRAIN_TASKS_H
#define LEAT_TRAIN_TASKS_H

#include "train/task.h"

extern const leat_task leat_dcgan_task;

#endif
