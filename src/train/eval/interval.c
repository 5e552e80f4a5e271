/*
 * The ends of the Poisson interval are found by bisection on the tails of the distribution. A tail
 * is its first probability times a series of positive terms that fall from there, so nothing
 * cancels; that probability is in the form of Loader (Fast and Accurate Computation of Binomial
 * Probabilities, 2000), which is exact to rounding also for large counts.
 */
#include "train/eval/interval.h"

#include <math.h>

#include "base/error.h"
#include "base/portable_math.h"

static const double tail = 0.025;
static const double normal_quantile = 1.959963984540054; /* 97.5 % of a normal distribution */
static const double two_pi = 6.283185307179586;

/* ln n! minus Stirling's ln (sqrt(2 pi n) (n / e)^n), n >= 1. */
static double stirling_error(double n) {
    if (n < 16) {
        double factorial = 1;
        for (double i = 2; i <= n; i++) factorial *= i;
        return leat_ln(factorial) - 0.5 * leat_ln(two_pi * n) - n * leat_ln(n) + n;
    }
    const double square = n * n;
    return (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - 1.0 / 1680 / square) / square) / square) / n;
}

/* k ln(k / mean) + mean - k, without cancellation where the two are close. */
static double deviance(double k, double mean) {
    if (fabs(k - mean) >= 0.1 * (k + mean)) return k * leat_ln(k / mean) + mean - k;
    const double v = (k - mean) / (k + mean);
    double sum = (k - mean) * v, term = 2 * k * v;
    for (int i = 3;; i += 2) {
        term *= v * v;
        const double next = sum + term / i;
        if (next == sum) return sum;
        sum = next;
    }
}

/* e^-x, x >= 0; below e^-60, which no tail of 2.5 % has, 0. */
static double exp_of_minus(double x) { return x > 60 ? 0 : 1 / leat_exp(x); }

/* The probability of k events. */
static double probability(double k, double mean) {
    if (k == 0) return exp_of_minus(mean);
    return exp_of_minus(stirling_error(k) + deviance(k, mean)) / sqrt(two_pi * k);
}

/* Of k events or more, mean <= k. */
static double at_least(double k, double mean) {
    double sum = 1, term = 1;
    for (double i = k + 1; term > 0x1p-60 * sum; i++) {
        term *= mean / i;
        sum += term;
    }
    return probability(k, mean) * sum;
}

/* Of k events or fewer, mean >= k. */
static double at_most(double k, double mean) {
    double sum = 1, term = 1;
    for (double i = k; i > 0 && term > 0x1p-60 * sum; i--) {
        term *= i / mean;
        sum += term;
    }
    return probability(k, mean) * sum;
}

/* The mean between low and high at which the tail is 2.5 %. `upper`: of at_most, which falls. */
static double solve(double k, bool upper, double low, double high) {
    for (;;) {
        const double middle = low + 0.5 * (high - low);
        if (middle <= low || middle >= high) return low;
        if (upper ? at_most(k, middle) > tail : at_least(k, middle) < tail) low = middle;
        else high = middle;
    }
}

leat_eval_interval leat_interval_poisson(int64_t count) {
    LEAT_ASSERT(count >= 0);
    const double k = (double)count;
    double step = 4;
    while (at_most(k, k + step) > tail) step *= 2;
    return (leat_eval_interval){.low = count == 0 ? 0 : solve(k, false, 0x1p-40, k),
                                .high = solve(k, true, k, k + step)};
}

leat_eval_interval leat_interval_wilson(int64_t count, int64_t all, leat_eval_reason if_none) {
    LEAT_ASSERT(count >= 0 && count <= all);
    if (all == 0) return (leat_eval_interval){(double)NAN, (double)NAN, if_none};
    const double n = (double)all, share = (double)count / n;
    const double square = normal_quantile * normal_quantile;
    const double middle = share + square / (2 * n), whole = 1 + square / n;
    const double half = normal_quantile * sqrt(share * (1 - share) / n + square / (4 * n * n));
    /* the ends of none and of all are exact, whatever the roots round to */
    return (leat_eval_interval){.low = count == 0 ? 0 : (middle - half) / whole,
                                .high = count == all ? 1 : (middle + half) / whole};
}
