/* A number of bytes that threads share: each takes what a piece of work needs and waits until that
 * many are free. Work that needs more than there is waits until it is alone. */
#ifndef LEAT_BASE_BUDGET_H
#define LEAT_BASE_BUDGET_H

#include <pthread.h>

#include "base/error.h"

typedef struct leat_budget {
    pthread_mutex_t lock;
    pthread_cond_t freed;
    int64_t limit_bytes, used_bytes;
} leat_budget;

void leat_budget_create(leat_budget *budget, int64_t limit_bytes);
void leat_budget_destroy(leat_budget *budget);
void leat_budget_set_limit(leat_budget *budget, int64_t limit_bytes);
/* A thread that has taken bytes must not take more. */
void leat_budget_take(leat_budget *budget, int64_t bytes);
void leat_budget_return(leat_budget *budget, int64_t bytes);

#endif
