/* See leat/train_eval.h. */
#include "leat/train_eval.h"

#include "base/error.h"

leat_code leat_evaluation_create(leat_evaluation **out, const char *const *runs, int run_count,
                                 const char *cache, const leat_evaluation_options *options,
                                 leat_error *err) {
    (void)runs;
    (void)run_count;
    (void)cache;
    (void)options;
    *out = NULL;
    return leat_fail(err, LEAT_ERR_UNSUPPORTED, "nothing is evaluated yet");
}

void leat_evaluation_destroy(leat_evaluation *evaluation) { (void)evaluation; }
