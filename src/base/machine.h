/* What powers this machine. (Its other resources are in leat/base.h.) */
#ifndef LEAT_BASE_MACHINE_H
#define LEAT_BASE_MACHINE_H

#include "leat/base.h"

/* The kernel's list of power supplies. */
#define LEAT_MACHINE_POWER "/sys/class/power_supply"

/* Whether a battery of the machine is being used up; `folder` is LEAT_MACHINE_POWER. False also
 * where there is no battery, or no list: a server, a container. Batteries of a mouse or a keyboard
 * do not count. */
bool leat_machine_on_battery(const char *folder);

#endif
