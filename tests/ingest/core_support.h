/*
 * What the tests of the ingest's core share: a folder of their own, measurements made up from a
 * seed, the reference order, spills filled by hand.
 */
#ifndef LEAT_TESTS_CORE_SUPPORT_H
#define LEAT_TESTS_CORE_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "check.h"
#include "ingest/probes/bucket.h"

/* Before all else, for programs that sync thousands of files: their folder is memory_folder's. */
void core_in_memory(int64_t room_bytes);
/* A folder of this program under TMPDIR, made at the first call; and its removal. */
const char *core_dir(void);
void core_dir_remove(void);
int core_teardown(void **state); /* the same, for a group of tests */
/* "<folder>/<name>", valid until core_dir_remove. */
const char *core_path(const char *name);
/* Makes the folder for an option that takes one that must exist; returns `path`, which may be NULL.
 */
const char *core_made(const char *path);

/* A whole file; free(data). */
typedef struct core_image {
    uint8_t *data;
    int64_t size_bytes;
} core_image;
core_image core_load(const char *path);
void core_save(const char *path, const void *data, int64_t size_bytes);

/* Random numbers of a test: the next one of stream `seed`. */
typedef struct core_rng {
    uint64_t seed, position;
} core_rng;
int64_t core_below(core_rng *rng, int64_t bound);

/* A measurement as the ingest keeps it; the texts are NUL-terminated. */
typedef struct core_row {
    int64_t src_id, time_us;
    char src[46], dst[46];
    char own[46]; /* src is a name, and this the address of the measurement's source; "": src is */
    float rtt;    /* -1: failed */
} core_row;
int core_version(const char *address);
int64_t core_src_id(const char *address);
/* The reference order: src_id, source, time, destination, own source, rtt. For qsort. */
int core_row_compare(const void *a, const void *b);

/* An address; `number` decides it, some numbers give IPv6, some texts are prefixes of others. */
void core_address(uint64_t number, int version, char text[46]);

typedef enum core_order {
    CORE_ASCENDING, /* in time */
    CORE_DESCENDING,
    CORE_RANDOM,
    CORE_ORDERS
} core_order;
typedef struct core_shape {
    uint64_t seed;
    int64_t rows, sources; /* rows go to source 0 with `heavy` percent, else to any */
    int heavy;
    int own;                /* probes have names, and so many sources each; 0: they are sources */
    int64_t times, targets; /* so many different times and destinations: few make ties */
    core_order order;
} core_shape;
/* free() it. */
core_row *core_rows(const core_shape *shape);

/* Appends to a bucket of a spill what the partition would: a definition, then measurements. */
uint32_t core_define(leat_spill *spill, int bucket, int64_t src_id, const char *text);
void core_measure(leat_spill *spill, int bucket, uint32_t source, const core_row *row);

/* Where the records of a finished spill are: in memory, in one segment of the file, or in many,
 * since the pool was full again and again. */
typedef enum core_place { CORE_MEMORY, CORE_FILE, CORE_SEGMENTS, CORE_PLACES } core_place;
/* A pool for spills of that place. */
void core_pool_create(leat_spill_pool *pool, core_place place);
/* Finishes a spill, and writes it unless its place is memory. */
void core_finish(leat_spill *spill, const leat_spill_pool *pool, core_place place);

/* Rows spread over `count` spills with one bucket each, sources defined when first seen there;
 * every `again` rows all definitions are forgotten (0: never). Finished, ready to be read. */
typedef struct core_spills {
    leat_spill *spills, **each;
    leat_spill_pool *pools;
    int count;
} core_spills;
core_spills core_spread(const core_row *rows, int64_t row_count, int count, core_place place,
                        int64_t again);
void core_spills_close(core_spills *spills);

#endif
