/* The list of what can be trained: a model more is a row more. By itself in this file, so that a
 * program of the tests can be linked with another list. */
#include "train/tasks/graphs/detector_tasks.h"
#include "train/tasks/images/dcgan_task.h"

const leat_task *const leat_tasks[] = {&leat_dcgan_task, &leat_vgae_task, &leat_gat_task, NULL};
