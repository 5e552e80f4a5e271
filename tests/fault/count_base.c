/* The hooks of base: what base takes is counted. A program whose malloc counts has its own. */
#define LEAT_FAULTS 1
#include "base/fault.h"
#include "count.h"

void leat_fault_heap(int64_t bytes) { count_add(bytes); }
void leat_fault_block(int64_t bytes) { count_add(bytes); }
int64_t leat_fault_resident(bool peak) { return peak ? count_peak() : count_live(); }
