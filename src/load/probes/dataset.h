/*
 * A data set opened for reading, private part: its shards and where their bytes come from.
 *
 *   leat's shard, uncompressed    mapped at its first access; pages checked against the index
 *   leat's shard, compressed      read by a leat_ar_reader; records kept in the cache
 *   third-party file              the same; the facts of a row are read when it is requested
 */
#ifndef LEAT_LOAD_PROBES_DATASET_H
#define LEAT_LOAD_PROBES_DATASET_H

#include <stdatomic.h>

#include "base/thread.h"
#include "format/arrayrecord/arrayrecord.h"
#include "format/dataset/index.h"
#include "format/dataset/journal.h"
#include "format/paged.h"
#include "format/probe/row.h"
#include "leat/load.h"
#include "load/probes/reading.h"
#include "load/probes/record_cache.h"
#include "load/probes/src_table.h"

/* What the callback of a shard's page hashes needs. */
typedef struct leat_shard_pages {
    const leat_index *index;
    int64_t shard;
    _Atomic int64_t *payload_bytes; /* of the data set */
} leat_shard_pages;

typedef struct leat_shard {
    leat_dataset_shard facts; /* name included */
    char *name, *path;
    char *home; /* where it is going while its data set is published; NULL: it is there */
    leat_shard_pages pages;
    bool is_mapped;     /* an uncompressed shard written by leat */
    leat_map *unmapped; /* of no bytes: names it where its pages are read instead */
    /* Created at the first access, under the data set's lock, and kept until the end. */
    _Atomic(leat_paged *) paged;
    /* Opened when needed and closed again when too many are: guarded by the lock. */
    leat_ar_reader *reader; /* of records; of pages that are read, `file` */
    leat_file *file;
    int64_t found_bytes; /* that the open file has */
    int users;
    int64_t used;        /* tick of the last use */
    int64_t chunk_count; /* of a third-party file: it must not change between two openings */
} leat_shard;

/* A third-party row: facts once they are known. */
typedef struct leat_other_row {
    _Atomic int known;
    int8_t ip_version;
    int64_t src_id, n_measurements, first_us, last_us, record_bytes;
} leat_other_row;

struct leat_dataset {
    leat_dataset_facts facts;
    leat_manifest manifest; /* empty unless indexed */
    leat_index *index;      /* NULL unless indexed */
    char *dir;              /* of leat's data set, and its manifest's file when it was opened; */
    leat_path_facts opened; /* NULL: third-party files */
    leat_shard *shards;
    int64_t shard_count;
    leat_other_row *others; /* NULL if indexed */
    leat_record_cache *cache;
    leat_reading reading;          /* of third-party files */
    leat_src_table *addresses;     /* NULL: none were given */
    _Atomic int64_t payload_bytes; /* of shards, that were read and checked so far */
    int64_t process;               /* that opened it */
    pthread_mutex_t lock;
    int files_open;
    int64_t tick;
    bool has_fingerprint;
    char fingerprint[65];
};

/* Files that stay open at once. */
#define LEAT_FILES_OPEN_MAX 128

/* ---- dataset_open.c: leat's folders, third-party files ---- */
LEAT_MUST_CHECK leat_code leat_dataset_open_ours(leat_dataset *dataset, const char *dir,
                                                 leat_error *err);
LEAT_MUST_CHECK leat_code leat_dataset_open_others(leat_dataset *dataset, const char *const *paths,
                                                   int64_t path_count, leat_error *err);

/* Whether the folder of leat's data set holds another one by now: what contradicts the index is
 * then not damaged. False if that cannot be found out. */
bool leat_dataset_is_replaced(const leat_dataset *dataset);

/* ---- shard.c: bytes of a shard ---- */
/*
 * The mapped shard, which lives as long as the data set. A file whose size differs from the
 * manifest is refused, or, with any_size, read as far as its pages allow: those past its end are
 * damaged.
 */
LEAT_MUST_CHECK leat_code leat_shard_paged(const leat_dataset *dataset, int64_t shard,
                                           bool any_size, const leat_paged **out, leat_error *err);
/* The reader of a shard, until leat_shard_reader_release. */
LEAT_MUST_CHECK leat_code leat_shard_reader_acquire(const leat_dataset *dataset, int64_t shard,
                                                    bool any_size, const leat_ar_reader **out,
                                                    leat_error *err);
/* The same for a shard that could be mapped: its file, and how many bytes that has. */
LEAT_MUST_CHECK leat_code leat_shard_file_acquire(const leat_dataset *dataset, int64_t shard,
                                                  bool any_size, leat_file **out,
                                                  int64_t *file_bytes, leat_error *err);
void leat_shard_release(const leat_dataset *dataset, int64_t shard);
/* What a leat_paged on pages of the shard has as its hash function; the context is shard->pages. */
LEAT_MUST_CHECK leat_code leat_shard_page_hash(const void *context, int64_t page, uint64_t *hash,
                                               leat_error *err);
/* The fingerprint of third-party files. */
LEAT_MUST_CHECK leat_code leat_dataset_hash_others(const leat_dataset *dataset, uint8_t digest[32],
                                                   leat_error *err);
void leat_shard_close(leat_shard *shard);

/* ---- row.c ---- */
/* How the cursor gets at shards that can be mapped, from its next row on; any_size: see
 * leat_shard_paged. */
void leat_row_set_io(leat_row *cursor, leat_io io, bool any_size);
/* Closes the open row, if there is one; its buffer is kept for the next one. */
void leat_row_close(leat_row *cursor);

/* ---- extent.c ---- */

/* Whole pages of a shard; the last one may be shorter. */
typedef struct leat_span {
    int64_t begin, end;
} leat_span;

/* Those that hold bytes begin .. end - 1. */
leat_span leat_span_of(int64_t begin, int64_t end, int64_t file_bytes);
/* What reading them takes: the pages, and one bit for each. */
int64_t leat_span_bytes(const leat_span *at);
/* Reads the pages into `bytes`, as far as the file has them; the rest is zeros, which match no
 * hash. No page is checked yet. */
LEAT_MUST_CHECK leat_code leat_span_read(const leat_dataset *dataset, int64_t shard,
                                         const leat_span *at, bool any_size, uint8_t *bytes,
                                         leat_error *err);
/* What was read, as pages of the shard under their numbers in the file. */
leat_paged leat_span_paged(const leat_dataset *dataset, int64_t shard, const leat_span *at,
                           const uint8_t *bytes);

/* The pages of one record, read from its shard into `record`. */
typedef struct leat_extent {
    leat_paged paged;
    leat_cached_record *record; /* NULL: none */
} leat_extent;
LEAT_MUST_CHECK leat_code leat_extent_read(leat_extent *extent, const leat_dataset *dataset,
                                           const leat_row_facts *facts, int64_t row,
                                           int64_t chunk_offset, bool any_size, leat_error *err);
/* {0} accepted. */
void leat_extent_release(leat_extent *extent, const leat_dataset *dataset);

/* ---- dataset.c ---- */
/* The shard of a row. */
int64_t leat_dataset_shard_of(const leat_dataset *dataset, int64_t row);
/*
 * The record of a row that is not mapped, from the cache or the file, checked; to be given back by
 * leat_record_cache_release.
 */
LEAT_MUST_CHECK leat_code leat_dataset_record(const leat_dataset *dataset, int64_t row,
                                              bool any_size, leat_cached_record **out,
                                              leat_error *err);
/* The source of rows that have none themselves, by src_id; NULL if none was given. */
const char *leat_dataset_source(const leat_dataset *dataset, int64_t src_id);
/*
 * The number of threads that would like to read rows of third-party files at the same time, each
 * with one cursor: returns how many may; all of them in a data set written by leat. Not while any
 * thread reads.
 */
int leat_dataset_share(const leat_dataset *dataset, int threads);
/* Sets the number of bytes that decoding may take at a time, where the caller knows it better. */
void leat_dataset_set_gate(const leat_dataset *dataset, int64_t gate_bytes);
/* How measurements of a row are read; *needed gets what a failure with LEAT_ERR_LIMIT is about. */
leat_probe_read_options leat_dataset_read_options(const leat_dataset *dataset, int64_t src_id,
                                                  int64_t *needed);
/* That failure, with the --memory that is enough for `more` bytes than were planned. */
LEAT_MUST_CHECK leat_code leat_dataset_too_large(const leat_dataset *dataset, int64_t needed,
                                                 int64_t more, leat_error *err);
/* The same if the measurements required that much. */
LEAT_MUST_CHECK leat_code leat_dataset_row_too_large(const leat_dataset *dataset, int64_t needed,
                                                     leat_error *err);
/* Bytes of shards that were read and checked so far: a page of a mapped shard once. */
int64_t leat_dataset_payload_bytes(const leat_dataset *dataset);
/* leat_dataset_row, and where the chunk of the row begins in its shard (0 if not indexed). */
LEAT_MUST_CHECK leat_code leat_dataset_row_place(const leat_dataset *dataset, int64_t row,
                                                 leat_row_facts *facts, int64_t *chunk_offset,
                                                 leat_error *err);

/* ---- damage.c ---- */
/*
 * Looks for damage in the record of a row of a data set written by leat: all of its pages, or its
 * chunk. Returns the byte of the shard where the damage begins and why; -1 if there is none.
 */
int64_t leat_dataset_damaged_byte(const leat_dataset *dataset, int64_t row, leat_error *why);

#endif
