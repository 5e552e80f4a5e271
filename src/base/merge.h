/*
 * The merge of sorted runs on disk: records in order, from more of them than fit in memory.
 *
 * A run is a piece of a file that holds records in order. A source reads one through a buffer, and
 * the sources are in a heap, with the first record of all at the top. If there are more runs than
 * buffers fit in the memory, neighbouring runs are merged into longer ones first, in passes. What a
 * record is, and which of two comes first, is up to the user.
 *
 * A user that opens and closes sources at times of its own needs only the sources and the heap.
 */
#ifndef LEAT_BASE_MERGE_H
#define LEAT_BASE_MERGE_H

#include "base/file.h"
#include "base/mem.h"

/* ---- runs ----------------------------------------------------------------------------------- */

typedef struct leat_merge_run {
    int64_t offset, size_bytes;
} leat_merge_run;

/* Runs one after the other in a temporary file without a name; {.temp_dir = dir} has none. */
typedef struct leat_merge_runs {
    const char *temp_dir; /* the caller's */
    leat_file *file;      /* NULL: not created yet */
    int64_t file_bytes;   /* of all runs */
    leat_merge_run *items;
    int64_t count, capacity;
    int passes; /* over all runs so far */
} leat_merge_runs;

/* Creates the file, unless it is there. */
LEAT_MUST_CHECK leat_code leat_merge_runs_open(leat_merge_runs *runs, leat_error *err);
/* Closes the file, which removes it. */
void leat_merge_runs_close(leat_merge_runs *runs);
/* Adds a run of this size, which begins at file_bytes; the caller writes it, before or after. */
LEAT_MUST_CHECK leat_code leat_merge_runs_add(leat_merge_runs *runs, int64_t size_bytes,
                                              leat_error *err);

/* Bytes to a file, from `offset` on, through a buffer of the caller's. */
typedef struct leat_merge_writer {
    leat_file *file;
    int64_t offset; /* of the buffer in the file */
    uint8_t *buffer;
    int64_t capacity, used;
    int64_t written; /* bytes put so far; those of a run, if it writes one */
} leat_merge_writer;

LEAT_MUST_CHECK leat_code leat_merge_put(leat_merge_writer *writer, const void *bytes,
                                         int64_t size_bytes, leat_error *err);
LEAT_MUST_CHECK leat_code leat_merge_flush(leat_merge_writer *writer, leat_error *err);
/* What is put between the two becomes a run, of an open file. */
void leat_merge_begin_run(const leat_merge_runs *runs, leat_merge_writer *writer);
LEAT_MUST_CHECK leat_code leat_merge_end_run(leat_merge_runs *runs, leat_merge_writer *writer,
                                             leat_error *err);

/* ---- sources and their heap ------------------------------------------------------------------ */

/* A run being read. */
typedef struct leat_merge_source {
    leat_file *file;
    int64_t next, left; /* what is not in the buffer yet: its offset and size */
    uint8_t *buffer;
    int64_t buffer_bytes;
    const uint8_t *at, *end; /* what is left in the buffer, from the current record on */
    int64_t record_bytes;    /* of the current record; 0: there is none */
} leat_merge_source;

/* Moves what is left to the beginning of the buffer, and fills it. LEAT_ERR_CORRUPT, with the file
 * and the byte at which it ends: the file is shorter than its runs. */
LEAT_MUST_CHECK leat_code leat_merge_fill(leat_merge_source *source, leat_error *err);

/* The order of the current records of two sources: below 0, 0 if they are equal, above 0. */
typedef int (*leat_merge_compare)(const leat_merge_source *a, const leat_merge_source *b);

#define LEAT_MERGE_INLINE static inline __attribute__((always_inline))

/* Of equal records, that of the source that comes first in its array is first. */
LEAT_MERGE_INLINE bool leat_merge_before(const leat_merge_source *a, const leat_merge_source *b,
                                         leat_merge_compare compare) {
    int order = compare(a, b);
    return order != 0 ? order < 0 : a < b;
}

/* The source at the top of a heap, which has moved on, goes down to its place. */
LEAT_MERGE_INLINE void leat_merge_down(leat_merge_source **heap, int64_t count,
                                       leat_merge_compare compare) {
    leat_merge_source *moved = heap[0];
    int64_t at = 0;
    for (int64_t child = 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && leat_merge_before(heap[child + 1], heap[child], compare)) child++;
        if (!leat_merge_before(heap[child], moved, compare)) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

/* The last source of a heap, which is new, goes up to its place. */
LEAT_MERGE_INLINE void leat_merge_up(leat_merge_source **heap, int64_t count,
                                     leat_merge_compare compare) {
    int64_t at = count - 1;
    leat_merge_source *moved = heap[at];
    for (; at > 0 && leat_merge_before(moved, heap[(at - 1) / 2], compare); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = moved;
}

/* ---- the merge of all runs ------------------------------------------------------------------- */

/* The longest record that a source can hold, whatever the number of runs. */
#define LEAT_MERGE_RECORD_BYTES_MAX (INT64_C(16) << 10)

typedef struct leat_merge {
    int64_t source_bytes; /* of a struct that begins with a leat_merge_source, zeroed before use */
    /* Makes the record after the current one, of record_bytes, the current one: calls
     * leat_merge_fill if it is not complete, and sets record_bytes; to 0 at the end of the run. */
    leat_code (*next)(leat_merge_source *source, leat_error *err);
    leat_merge_compare compare;
    /* Takes the current record of `from`, the next one in order. In a pass it is put into the run
     * that `to` writes; at last, when `to` is NULL, it is one of all records. */
    leat_code (*take)(void *context, const leat_merge_source *from, leat_merge_writer *to,
                      leat_error *err);
    void *context;
    uint8_t *memory; /* for the buffers of sources: at least two of the longest record */
    int64_t memory_bytes;
    uint8_t *write_buffer; /* for passes */
    int64_t write_bytes;
} leat_merge;

/* Takes all records of the runs in order; of equal ones, that of the run added first. A pass takes
 * twice the disk space while it lasts, and replaces the runs by fewer, longer ones. */
LEAT_MUST_CHECK leat_code leat_merge_all(const leat_merge *merge, leat_merge_runs *runs,
                                         leat_error *err);

#endif
