/* ln, exp, sin and cos in arithmetic that gives the same bits on every machine. */
#ifndef LEAT_BASE_PORTABLE_MATH_H
#define LEAT_BASE_PORTABLE_MATH_H

/* ln x of a normal x > 0, and e^x for 0 <= x <= 60: relative error below 1e-14. */
double leat_ln(double x);
double leat_exp(double x);

/* sin x and cos x for 0 <= x <= 2^20: absolute error below 1e-15. */
void leat_sin_cos(double x, double *sine, double *cosine);

#endif
