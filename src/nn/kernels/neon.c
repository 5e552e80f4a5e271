/* The kernels for NEON, which every arm64 processor has. */
#if defined(__aarch64__)
#define LEAT_VEC 128
#define LEAT_KERNELS leat_kernels_neon
#define LEAT_KERNELS_NAME "neon"
#include "table.h"
#else
typedef int leat_kernels_none; /* an empty file is not C */
#endif
