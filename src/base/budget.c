/* Bytes shared by threads: see budget.h. */
#include "base/budget.h"

void leat_budget_create(leat_budget *budget, int64_t limit_bytes) {
    *budget = (leat_budget){.limit_bytes = limit_bytes};
    pthread_mutex_init(&budget->lock, NULL);
    pthread_cond_init(&budget->freed, NULL);
}

void leat_budget_destroy(leat_budget *budget) {
    LEAT_ASSERT(budget->used_bytes == 0);
    pthread_cond_destroy(&budget->freed);
    pthread_mutex_destroy(&budget->lock);
}

void leat_budget_set_limit(leat_budget *budget, int64_t limit_bytes) {
    pthread_mutex_lock(&budget->lock);
    budget->limit_bytes = limit_bytes;
    pthread_cond_broadcast(&budget->freed);
    pthread_mutex_unlock(&budget->lock);
}

void leat_budget_take(leat_budget *budget, int64_t bytes) {
    pthread_mutex_lock(&budget->lock);
    while (budget->used_bytes > 0 && budget->used_bytes + bytes > budget->limit_bytes)
        pthread_cond_wait(&budget->freed, &budget->lock);
    budget->used_bytes += bytes;
    pthread_mutex_unlock(&budget->lock);
}

void leat_budget_return(leat_budget *budget, int64_t bytes) {
    if (bytes == 0) return;
    pthread_mutex_lock(&budget->lock);
    budget->used_bytes -= bytes;
    pthread_cond_broadcast(&budget->freed);
    pthread_mutex_unlock(&budget->lock);
}
