/* ln and exp in arithmetic that gives the same bits on every machine. */
#ifndef LEAT_BASE_LN_H
#define LEAT_BASE_LN_H

/* ln x of a normal x > 0, and e^x for 0 <= x <= 60: within 1e-14 of the true value, relatively. */
double leat_ln(double x);
double leat_exp(double x);

#endif
