/*
 * Checks all variants of the kernels that this processor runs:
 *
 *   tool_kernels [STEP [THREADS [HASH]]]   every STEPth of all 2^32 floats (default: 1, every one)
 *
 * First the self-tests of each variant; the hash of the first suite must be HASH, if given. Then,
 * for each function, every variant must equal the scalar one bit for bit, and that must be within 2
 * ulp of the true value; prints the largest error and its argument. Ends in "N passed, N failed".
 * Needs only libc and the kernels, so that scripts/cross-arm64.sh can build it for another
 * processor.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "nn/kernels/suite.h"
#include "ulp.h"

enum { BLOCK = 4096, THREADS_MAX = 64, VARIANTS_MAX = 4 };
#define ULP_MAX 2.0

/* What one thread has found about one function, and what it is to look at. */
typedef struct sweep {
    leat_function what;
    uint64_t step, blocks, first, stride; /* its blocks are first, first + stride, ... */
    double worst;
    uint32_t worst_at;
    int64_t different[VARIANTS_MAX];
    uint32_t different_at[VARIANTS_MAX];
} sweep;

static void look_at(sweep *s, int count, const float *in) {
    float expected[BLOCK], got[BLOCK];
    leat_kernels_scalar.map(s->what, count, in, expected);
    const leat_kernels *kernels;
    for (int v = 1; (kernels = leat_kernels_at(v)) != NULL; v++) {
        if (!leat_kernels_supported(kernels)) continue;
        kernels->map(s->what, count, in, got);
        for (int i = 0; i < count; i++) {
            if (bits_of(got[i]) != bits_of(expected[i]) && s->different[v]++ == 0)
                s->different_at[v] = bits_of(in[i]);
        }
    }
    for (int i = 0; i < count; i++) {
        const double error = ulp_error(expected[i], true_value(s->what, (double)in[i]));
        if (error > s->worst) {
            s->worst = error;
            s->worst_at = bits_of(in[i]);
        }
    }
}

static void *run_sweep(void *argument) {
    sweep *s = argument;
    float in[BLOCK];
    for (uint64_t block = s->first; block < s->blocks; block += s->stride) {
        int count = 0;
        for (; count < BLOCK; count++) {
            const uint64_t bits = (block * BLOCK + (uint64_t)count) * s->step;
            if (bits > UINT32_MAX) break;
            in[count] = float_of((uint32_t)bits);
        }
        look_at(s, count, in);
    }
    return NULL;
}

static void join(sweep *all, const sweep *part) {
    if (part->worst > all->worst) {
        all->worst = part->worst;
        all->worst_at = part->worst_at;
    }
    for (int v = 0; v < VARIANTS_MAX; v++) {
        if (all->different[v] == 0) all->different_at[v] = part->different_at[v];
        all->different[v] += part->different[v];
    }
}

/* Prints the result; whether all is well. */
static bool report(const sweep *s) {
    printf("%-8s  largest error %.4f ulp at %a (%08" PRIx32 ")\n", map_names[s->what], s->worst,
           (double)float_of(s->worst_at), s->worst_at);
    bool well = s->worst <= ULP_MAX;
    for (int v = 1; v < VARIANTS_MAX; v++) {
        if (s->different[v] == 0) continue;
        printf("  %s differs from scalar for %" PRId64 " floats, one of them %08" PRIx32 "\n",
               leat_kernels_at(v)->name, s->different[v], s->different_at[v]);
        well = false;
    }
    fflush(stdout);
    return well;
}

static bool check_function(leat_function what, uint64_t step, int threads) {
    sweep parts[THREADS_MAX];
    pthread_t ids[THREADS_MAX];
    const uint64_t floats = ((UINT64_C(1) << 32) + step - 1) / step;
    for (int t = 0; t < threads; t++) {
        parts[t] = (sweep){.what = what,
                           .step = step,
                           .blocks = (floats + BLOCK - 1) / BLOCK,
                           .first = (uint64_t)t,
                           .stride = (uint64_t)threads};
        if (t > 0 && pthread_create(&ids[t], NULL, run_sweep, &parts[t]) != 0) {
            printf("cannot start a thread\n");
            exit(1);
        }
    }
    run_sweep(&parts[0]);
    for (int t = 1; t < threads; t++) {
        pthread_join(ids[t], NULL);
        join(&parts[0], &parts[t]);
    }
    return report(&parts[0]);
}

/* Whether the variant passes its self-test; one that does not run here counts as passed. */
static bool check_variant(const leat_kernels *kernels, uint64_t expected) {
    char message[300];
    if (!leat_kernels_supported(kernels)) {
        printf("%s: built, not run\n", kernels->name);
        return true;
    }
    uint64_t hash, other;
    const bool right = leat_kernels_check(kernels, &hash, message, sizeof message) &&
                       leat_rows_check(kernels, &other, message, sizeof message) &&
                       leat_segments_check(kernels, &other, message, sizeof message) &&
                       leat_tokens_check(kernels, &other, message, sizeof message);
    const bool same = hash == expected;
    printf("%s: %s, hash %016" PRIx64 "%s%s%s\n", kernels->name, right ? "ok" : "WRONG", hash,
           same ? "" : ", not the expected one", right ? "" : ": ", message);
    return right && same;
}

int main(int count, char **arguments) {
    const uint64_t step = count > 1 ? strtoull(arguments[1], NULL, 10) : 1;
    const int threads = count > 2 ? (int)strtol(arguments[2], NULL, 10) : 1;
    if (step < 1 || step > UINT32_MAX || threads < 1 || threads > THREADS_MAX) {
        printf("usage: tool_kernels [STEP [THREADS [HASH]]]\n");
        return 2;
    }
    uint64_t hash;
    char message[300];
    (void)leat_kernels_check(&leat_kernels_scalar, &hash, message, sizeof message);
    if (count > 3) hash = strtoull(arguments[3], NULL, 16);
    int passed = 0, failed = 0;
    const leat_kernels *kernels;
    for (int v = 0; (kernels = leat_kernels_at(v)) != NULL; v++) {
        if (check_variant(kernels, hash)) passed++;
        else failed++;
    }
    printf("every float with a step of %" PRIu64 ":\n", step);
    for (int what = 0; what < LEAT_FUNCTIONS; what++) {
        if (check_function((leat_function)what, step, threads)) passed++;
        else failed++;
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
