/* Threads of a test that run one function at the same time, and the error of the lowest of them. */
#ifndef LEAT_TESTS_THREADS_H
#define LEAT_TESTS_THREADS_H

#include "base/thread.h"

enum { TEST_THREADS_MAX = 64 };

typedef leat_code (*test_thread_fn)(void *context, int index, leat_error *err);

typedef struct test_thread {
    test_thread_fn fn;
    void *context;
    int index;
    pthread_t handle;
    leat_code code;
    leat_error err;
} test_thread;

static void *test_thread_main(void *argument) {
    test_thread *self = argument;
    self->code = self->fn(self->context, self->index, &self->err);
    return NULL;
}

/* fn(context, index) for index 0 .. count - 1, in a thread each. */
static inline leat_code run_threads(int count, test_thread_fn fn, void *context, leat_error *err) {
    test_thread threads[TEST_THREADS_MAX] = {{0}};
    leat_code code = LEAT_OK;
    LEAT_ASSERT(count <= TEST_THREADS_MAX);
    for (int i = 0; i < count; i++) {
        threads[i] = (test_thread){.fn = fn, .context = context, .index = i};
        int failed = pthread_create(&threads[i].handle, NULL, test_thread_main, &threads[i]);
        LEAT_ASSERT(failed == 0);
    }
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i].handle, NULL);
        if (code == LEAT_OK && threads[i].code != LEAT_OK) {
            code = threads[i].code;
            leat_error_copy(err, &threads[i].err);
        }
    }
    return code;
}

#endif
