/* What the tests of ArrayRecord share: records, files in memory. */
#ifndef LEAT_TESTS_AR_SUPPORT_H
#define LEAT_TESTS_AR_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "check.h"
#include "format/arrayrecord/internal.h"
#include "golden_files.h"

/* Byte i = 7 i + 3 mod 256. */
uint8_t *ar_pattern(int64_t size_bytes);
/* The same with `seed` mixed in and no short period, so that it does not compress to nothing. */
void ar_noise(uint8_t *bytes, int64_t size_bytes, uint64_t seed);

typedef struct ar_rec {
    const void *data;
    int64_t size_bytes;
} ar_rec;

/* A folder of this test program under the temporary folder; the same text each time. */
const char *ar_dir(void);
/* The path of a file in it; valid until the next but three. */
const char *ar_path(const char *name);
/* Removes the folder; for the end of main. */
void ar_dir_remove(void);

/* A whole file in memory; free(data). */
typedef struct ar_image {
    uint8_t *data;
    int64_t size_bytes;
} ar_image;
ar_image ar_load(const char *path);
void ar_save(const char *path, const uint8_t *data, int64_t size_bytes);
/* What the sink writer makes of the records. */
ar_image ar_write(const leat_ar_options *options, const ar_rec *records, int64_t count);

/* A sink on a file of its own, for tests that emit chunks themselves. */
typedef struct ar_bench {
    leat_file *file;
    leat_sink *sink;
    leat_ar_emitter emitter;
} ar_bench;
void ar_bench_open(ar_bench *bench);
/* Closes and returns the bytes. */
ar_image ar_bench_close(ar_bench *bench);

/* Checks that the image holds exactly these records, in any order of reading, and that verify finds
 * nothing. */
void ar_check_records(const ar_image *image, const ar_rec *records, int64_t count);
/* Findings of verify, and that its result agrees with their number. */
int64_t ar_findings(const ar_image *image);

#endif
