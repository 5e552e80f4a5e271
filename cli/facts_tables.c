/* The tables of facts of all commands: by themselves in this file, so that a program with few of
 * the commands is linked with their tables alone. */
#include "facts.h"

const leat_facts *const leat_facts_tables[] = {
    &leat_facts_train,  &leat_facts_estimate, &leat_facts_coordinate, &leat_facts_work,
    &leat_facts_status, &leat_facts_run,      &leat_facts_sample,     NULL,
};
