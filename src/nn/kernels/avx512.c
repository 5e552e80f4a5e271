/* The kernels for AVX-512F; compiled with -mavx512f -mfma. */
#if defined(__x86_64__)
#define LEAT_VEC 512
#define LEAT_KERNELS leat_kernels_avx512
#define LEAT_KERNELS_NAME "avx512"
#include "table.h"
#else
typedef int leat_kernels_none; /* an empty file is not C */
#endif
