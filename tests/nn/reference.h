/* The ops as plain loops, in float (the specification) and in double: float_down, double_down... */
#ifndef TESTS_NN_REFERENCE_H
#define TESTS_NN_REFERENCE_H

#include <math.h>

#include "nn/ops/conv.h"

#pragma GCC diagnostic ignored "-Wunused-function"

#define REAL float
#define FMA fmaf
#define ROOT sqrtf
#define NAME(name) float_##name
#include "reference_body.h"
#undef REAL
#undef FMA
#undef ROOT
#undef NAME
#define REAL double
#define FMA fma
#define ROOT sqrt
#define NAME(name) double_##name
#include "reference_body.h"
#undef REAL
#undef FMA
#undef ROOT
#undef NAME

#endif
