/* The kernels in plain C: the specification of all others. */
#define LEAT_VEC 1
#define LEAT_KERNELS leat_kernels_scalar
#define LEAT_KERNELS_NAME "scalar"
#include "table.h"
