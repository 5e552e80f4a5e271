/*
 * What the C programs of bench/ share: the clock, a plain way to fail, and the one JSON document
 * that each of them prints. A program takes one sample of each of its figures per process; the
 * Python script of the same name starts it repeatedly, in turn with what it is compared with.
 */
#ifndef LEAT_BENCH_H
#define LEAT_BENCH_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "leat/base.h"

static inline double bench_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static inline void bench_die(const char *format, ...) LEAT_PRINTF(1, 2) __attribute__((noreturn));
static inline void bench_die(const char *format, ...) {
    va_list values;
    va_start(values, format);
    fputs("bench: ", stderr);
    vfprintf(stderr, format, values);
    fputc('\n', stderr);
    va_end(values);
    exit(2);
}

/* For calls that only fail if the machine or the data is not what the benchmark needs. */
static inline void bench_must(leat_code code, const leat_error *err) {
    if (code != LEAT_OK) bench_die("%s", err->message);
}

/* An integer of the command line, at least `min`. */
static inline int64_t bench_number(const char *text, int64_t min) {
    char *end = NULL;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end != 0 || value < min)
        bench_die("\"%s\" is not an integer of at least %lld", text, (long long)min);
    return value;
}

static inline void *bench_room(int64_t size_bytes) {
    void *room = malloc((size_t)size_bytes);
    if (room == NULL) bench_die("no memory for %lld bytes", (long long)size_bytes);
    memset(room, 1, (size_t)size_bytes); /* page faults now, not in a measurement */
    return room;
}

static inline leat_json *bench_json_begin(void) {
    leat_json *json = NULL;
    leat_error err = {0};
    bench_must(leat_json_create(&json, true, &err), &err);
    leat_json_begin_object(json);
    return json;
}

static inline void bench_json_end(leat_json *json) {
    const char *text = NULL;
    int64_t size_bytes = 0;
    leat_error err = {0};
    leat_json_end_object(json);
    bench_must(leat_json_finish(json, &text, &size_bytes, &err), &err);
    fputs(text, stdout);
    leat_json_destroy(json);
}

/* A number that is equal for equal bits. */
static inline int64_t bench_bits(const float *values, int64_t count) {
    uint64_t sum = 0;
    for (int64_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, values + i, sizeof bits);
        sum = sum * 31 + bits;
    }
    return (int64_t)(sum >> 12);
}

static inline int bench_by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts the samples. */
static inline double bench_median(double *samples, int64_t count) {
    qsort(samples, (size_t)count, sizeof *samples, bench_by_value);
    return (samples[(count - 1) / 2] + samples[count / 2]) / 2;
}

#endif
