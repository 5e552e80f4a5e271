/* What powers this machine, and what its control groups allow. (Its other resources are in
 * leat/base.h.) */
#ifndef LEAT_BASE_MACHINE_H
#define LEAT_BASE_MACHINE_H

#include "leat/base.h"

/* The kernel's list of power supplies. */
#define LEAT_MACHINE_POWER "/sys/class/power_supply"

/* Whether a battery of the machine is being used up; `folder` is LEAT_MACHINE_POWER. False also
 * where there is no battery, or no list: a server, a container. Batteries of a mouse or a keyboard
 * do not count. */
bool leat_machine_on_battery(const char *folder);

/* Where the kernel shows control groups: those of version 2, and in "memory" those of version 1. */
#define LEAT_MACHINE_GROUPS "/sys/fs/cgroup"

/*
 * The bytes of memory that a process in these groups may use: the least limit of each of them and
 * of all that it is in. INT64_MAX: there is no limit, or none can be read. `groups` is the text of
 * /proc/self/cgroup, with lines "number:controllers:group"; `root` is LEAT_MACHINE_GROUPS. Source:
 * cgroups(7).
 */
int64_t leat_machine_group_bytes(const char *groups, const char *root);

#endif
