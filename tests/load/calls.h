/*
 * Counts the locks, allocations and joins of a whole program, libraries and all. For one file of a
 * program: the functions that count are defined here. COUNTS is 0 under a sanitizer that brings
 * functions of its own; nothing is counted then.
 */
#ifndef LEAT_TESTS_LOAD_CALLS_H
#define LEAT_TESTS_LOAD_CALLS_H

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define COUNTS 0
#else
#define COUNTS 1
/* These stand before libc's for the whole program; what they count is every call there is. */
static atomic_long locks, allocations, joins;

int pthread_mutex_lock(pthread_mutex_t *mutex) {
    static int (*_Atomic real)(pthread_mutex_t *);
    if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "pthread_mutex_lock");
    atomic_fetch_add(&locks, 1);
    return real(mutex);
}

int pthread_join(pthread_t thread, void **result) {
    static int (*_Atomic real)(pthread_t, void **);
    if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "pthread_join");
    atomic_fetch_add(&joins, 1);
    return real(thread, result);
}

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
void *malloc(size_t size) {
    atomic_fetch_add(&allocations, 1);
    return __libc_malloc(size);
}
void *calloc(size_t count, size_t size) {
    atomic_fetch_add(&allocations, 1);
    return __libc_calloc(count, size);
}
void *realloc(void *block, size_t size) {
    atomic_fetch_add(&allocations, 1);
    return __libc_realloc(block, size);
}
#endif

#endif
