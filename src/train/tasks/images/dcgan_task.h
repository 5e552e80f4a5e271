/* The row of the DCGAN in the list of train/tasks/tasks.c. */
#ifndef LEAT_TRAIN_TASKS_IMAGES_DCGAN_TASK_H
#define LEAT_TRAIN_TASKS_IMAGES_DCGAN_TASK_H

#include "train/run/task.h"

extern const leat_task leat_dcgan_task;

#endif
