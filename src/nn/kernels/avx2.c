/* The kernels for AVX2 and FMA; compiled with -mavx2 -mfma. */
#if defined(__x86_64__)
#define LEAT_VEC 256
#define LEAT_KERNELS leat_kernels_avx2
#define LEAT_KERNELS_NAME "avx2"
#include "table.h"
#else
typedef int leat_kernels_none; /* an empty file is not C */
#endif
