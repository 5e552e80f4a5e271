/* Every bit and every truncation of test_loader_damage, instead of a sample: it looks at the
 * program's name. Threads as there. */
#include "test_loader_damage.c"
